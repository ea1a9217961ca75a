"""First drafts of release files that hide a property of whole columns; nothing of the data but its columns' names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from takifugu.core.text.toml import toml_of
from takifugu.data.kinds import NUMBERS, WHOLE
from takifugu.releasing.file.attributes.sections import hidden_by
from takifugu.releasing.file.drafting import EPSILON, Start, comment, line, listed, not_drafted, release_lines
from takifugu.releasing.file.guessing.columns import Column
from takifugu.releasing.file.records.draft import counted_or_listed


def draft(start: Start) -> Iterator[str]:
    """Yield the lines of a release file, valid as soon as those that say FILL IN are filled in.

    Raises InputError for a belief that has none here, and that brings none.
    """
    kind, columns = start.kind, start.columns
    if kind not in DRAFTED and start.drafted is None:
        yield from not_drafted(start)
    yield from start.source("answers", "one row per record")
    budget = {"epsilon": 1.0, "delta": 1e-6} if kind == "normal" else 1.0
    yield start.budget("the most that these records may ever spend together", budget)
    yield line("# only_release = true", "nothing else is ever released about them: allows the least noise")
    yield from comment(f"Its columns: {listed(columns)}.")
    yield ""
    yield from [*_count(kind), *DRAFTED[kind](columns)] if kind in DRAFTED else start.believed
    yield from _rest(columns, kind, hidden_by(start.section))


def _count(kind: str) -> Iterator[str]:
    yield line("[belief]", "what somebody who wants to know the secret may believe about the data")
    yield f'kind = "{kind}"'
    yield from comment("FILL IN how many records there are; this number becomes public.")
    yield "# records = 500"
    yield line('source = "assumed"', "FILL IN where the belief comes from; the certificate prints it")
    yield ""


def _normal(columns: Sequence[Column]) -> Iterator[str]:
    one, other = _names(_measured(columns))
    single = one == other
    yield from comment(
        "FILL IN the columns that matter, the range of their numbers (known without the data), and the step to which "
        "numbers are rounded when they are read; then their means and covariances, from literature or judgement, or "
        "fitted to a public file of the same kind; not from these data."
    )
    yield f"# columns = [{one}]" if single else f"# columns = [{one}, {other}]"
    yield f"# ranges = {{ {one} = [0, 200] }}" if single else f"# ranges = {{ {one} = [0, 200], {other} = [0, 200] }}"
    yield '# resolution = "0.1"'
    yield "# mean = [70]" if single else "# mean = [70, 60]"
    yield "# covariance = [[100]]" if single else "# covariance = [[100, 20], [20, 81]]"
    yield line('# fit = { file = "public.csv" }', "instead of mean and covariance: estimated from a file")
    yield ""


def _records(columns: Sequence[Column]) -> Iterator[str]:
    one, other = _names(columns)
    yield from comment(
        "FILL IN the columns that matter and how likely their values go together: counted in a public file of the same "
        "kind, or row by row, from literature or judgement; not from these data. Numbers must be put into classes."
    )
    yield from counted_or_listed(one, other)
    if any(c.kind in (NUMBERS, WHOLE) for c in columns[:2]):
        place = next(n for n, c in enumerate(columns[:2]) if c.kind in (NUMBERS, WHOLE))
        values = '["yes", "no"]' if place else '["a", "b"]' if one != other else '["a", "yes"]'
        classes = f"# classes = {{ {toml_of(columns[place].name)} = {{ ends = [20], values = {values} }} }}"
        yield line(classes, "numbers below 20, and all others")
    yield ""


def _parameters(columns: Sequence[Column]) -> Iterator[str]:
    one, other = _names(columns)
    yield from comment(
        "FILL IN what the population may be like: the parameters of the columns that matter (named as the columns), "
        "how likely their values go together, and how each column is distributed for each value of its own parameter. "
        "From literature or judgement, not from these data."
    )
    yield (
        f"# prior = {{ columns = [{one}, {other}], "
        'rows = [["low", "low"], ["high", "high"]], probabilities = ["0.5", "0.5"] }'
        if one != other
        else f'# prior = {{ columns = [{one}], rows = [["low"], ["high"]], probabilities = ["0.5", "0.5"] }}'
    )
    yield line('# prior = { network = "parameters.bif" }', "instead of prior: a Bayesian network")
    given = '{ values = ["no", "yes"], given = { low = ["0.9", "0.1"], high = ["0.6", "0.4"] } }'
    yield f"# columns.{one} = {given}"
    if one != other:
        yield f"# columns.{other} = {given}"
    yield ""


def _rest(columns: Sequence[Column], kind: str, hides: Sequence[str]) -> Iterator[str]:
    one, other = _names(_measured(columns))
    first, second = _names(columns)
    yield "[hide]"
    if "property" not in hides:
        yield from comment("FILL IN the column whose parameter in the population stays secret.")
        yield f"# parameter = {{ attribute = {first} }}"
    elif kind == "normal":
        yield from comment("FILL IN what stays secret of the records at hand: which values of it are compared.")
        yield f'# property = {{ attribute = {one}, function = "mean", max_difference = 5 }}'
        yield from comment("Or, instead of property:")
        yield f'# property = {{ attribute = {one}, function = "mean", sets = [{{ below = 50 }}, {{ at_least = 50 }}] }}'
    else:
        yield from comment("FILL IN what stays secret of the records at hand: which values of it are compared.")
        yield f'# property = {{ attribute = {first}, function = "share", of = "a", max_difference = "0.1" }}'
    yield ""
    if kind == "normal":
        yield from release_lines("published-number", "mean", 'or "sum"')
        yield from comment("FILL IN the column whose mean is published.")
        yield f"# attribute = {other}"
        yield line("delta = 1e-6", "normal noise needs a delta above 0")
        yield EPSILON
        yield ""
        yield line("[expect]", "for `takifugu advise`: it changes neither the noise nor what is published")
        yield line('source = "a hunch"', "FILL IN who says so; never these data")
        yield from comment("FILL IN the least difference of the number that matters to its readers.")
        yield "# matters = 5"
    else:
        yield from release_lines("published-number", "count", 'or "count-rows", "histogram", "sum", "mean"')
        yield from comment("FILL IN the column, and the values that are counted.")
        yield f"# attribute = {second}"
        yield '# states = ["yes"]'
        yield EPSILON


def _measured(columns: Sequence[Column]) -> Sequence[Column]:
    """Return the columns of numbers that measure something, or else those of any numbers, or all."""
    numbers = [c for c in columns if c.kind in (NUMBERS, WHOLE)]
    return [c for c in numbers if not c.is_identifier] or numbers or columns


def _names(columns: Sequence[Column]) -> tuple[str, str]:
    """Return two columns as TOML writes them, one of them twice where there are no two."""
    return toml_of(columns[0].name), toml_of(columns[min(1, len(columns) - 1)].name)


DRAFTED = {"normal": _normal, "independent-records": _records, "parameters": _parameters}
