"""First drafts of release files of records: nothing of the data but the names of its columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from takifugu.core.text.toml import toml_of
from takifugu.releasing.file.drafting import (
    EPSILON,
    Start,
    comment,
    groups_of,
    line,
    listed,
    name_line,
    relative,
    release_lines,
    written_lines,
)
from takifugu.releasing.file.guessing.columns import Column

_NEEDS = {"unit": "with units_independent: ", "group": "with groups: "}
_WHAT = {
    "unit": "whose row it is; without it there is one row", "value": "what each row contributes",
    "group": "the group of a user, if groups differ", "person": "the person of a row",
}  # fmt: skip


def draft(start: Start) -> Iterator[str]:
    """Yield the lines of a release file, valid as soon as those that say FILL IN are filled in."""
    kind, columns = start.kind, start.columns
    met = partial(_contacts, data=relative(start.data, start.output))
    beliefs: dict[str, Callable[[Sequence[Column]], Iterator[str]]]
    beliefs = {"table": _table, "network": _network, "users": _users, "contacts": met}
    source = list(_source(start, columns, start.roles))
    believed = [*_belief(kind), *beliefs[kind](columns)] if kind in beliefs else start.believed
    has_units = any(row.startswith("# unit = ") for row in source) or any(column.role == "unit" for column in columns)
    yield from source
    yield from (row for row in believed if has_units or not row.startswith("# units_independent"))
    yield from _rest(kind, columns, start.roles)


def _source(start: Start, columns: Sequence[Column], roles: Sequence[str]) -> Iterator[str]:
    by_role = {c.role: c for c in columns if c.role is not None}
    if "one" in by_role:  # the file lists pairs of people, so it is what the belief reads
        yield "[source]"
        yield name_line(start.data, start.output)
        yield line('rows = "answers"', "one row per person; who met whom is no part of it")
        yield from comment("FILL IN the private table, one row per person: it says how each of these people is.")
        yield '# file = "people.csv"'
        yield '# person = "person"'
        yield '# value = "state"'
        yield start.budget("the most epsilon that a person may ever spend")
        yield ""
        return
    yield from start.source("answers", "one row per person or case")
    free = [column for column in columns if column.role is None]
    read = [] if "value" in roles else free[:2]  # what the belief is about
    guessed = {role: column for role, column in by_role.items() if role == "group"}
    unused = [column for column in free if column not in read]
    if "group" in roles:
        unused = groups_of(unused)
    examples = guessed | dict(zip([role for role in roles if role not in by_role], unused, strict=False))
    for role in roles:
        if role in by_role and role != "group":
            yield line(f"{role} = {toml_of(by_role[role].name)}", by_role[role].guess(_WHAT[role]))
            continue
        needed = role in ("value", "person")
        if needed:
            yield from comment(f"FILL IN the column that says {_WHAT[role]}.")
        if role in examples or needed:
            name = examples[role].name if role in examples else columns[0].name
            yield line(f"# {role} = {toml_of(name)}", "" if needed else f"{_NEEDS.get(role, '')}{_WHAT[role]}")
    yield from comment(f"Its columns: {listed(columns)}.")
    yield start.budget("the most epsilon that a person may ever spend")
    yield ""


def _belief(kind: str) -> Iterator[str]:
    yield line("[belief]", "what somebody who wants to know a secret may believe about the data")
    yield f'kind = "{kind}"'


def _table(columns: Sequence[Column]) -> Iterator[str]:
    one, other = _two(columns)
    yield line('source = "assumed"', "FILL IN where the belief comes from; the certificate prints it")
    yield from comment(
        "FILL IN the columns that matter and how likely their values go together: counted in a public file of the same "
        "kind, or row by row, from literature or judgement; not from these data."
    )
    yield from counted_or_listed(one, other)
    yield from _independent(columns)


def _network(columns: Sequence[Column]) -> Iterator[str]:
    yield from comment("FILL IN the file of a Bayesian network whose variables are called as the columns are.")
    yield '# file = "network.bif"'
    yield from _independent(columns)


def counted_or_listed(one: str, other: str) -> Iterator[str]:
    """Yield the hints of a table of probabilities of two columns, or of one where both are the same."""
    names = f"[{one}, {other}]" if one != other else f"[{one}]"
    rows = '[["a", "yes"], ["a", "no"], ["b", "yes"]]' if one != other else '[["a"], ["yes"]]'
    shares = '["0.5", "0.25", "0.25"]' if one != other else '["0.75", "0.25"]'
    yield f"# columns = {names}"
    yield f"# rows = {rows}"
    yield f"# probabilities = {shares}"
    fit = f'# fit = {{ file = "public.csv", columns = {names} }}'
    yield line(fit, "instead of columns, rows and probabilities: counted in a file")


def _independent(columns: Sequence[Column]) -> Iterator[str]:
    if any(column.role == "unit" for column in columns):
        yield from comment(
            "FILL IN: does one person say nothing about the others (no families, no shared rooms)? "
            "Only then write this."
        )
        yield "# units_independent = true"
    else:
        yield line("# units_independent = true", "with unit: one person says nothing about the others")
    yield ""


def _users(columns: Sequence[Column]) -> Iterator[str]:
    value = next((column.name for column in columns if column.role == "value"), None)
    yield line('source = "assumed"', "FILL IN where the belief comes from; the certificate prints it")
    yield from comment("FILL IN how many users there are (this becomes public), what each can contribute, how likely.")
    yield "# size = 25"
    yield '# values = ["yes", "no", "no answer"]'
    yield "# probabilities = [0.1, 0.85, 0.05]"
    if value is not None:
        yield line(f"# missing = {toml_of({value: 'no answer'})}", "with values: what an empty cell counts as")
    yield from comment("Or, instead of size, values and probabilities, with group:")
    yield '# groups = [{ name = "ward 1", size = 25, values = ["yes", "no"], probabilities = [0.1, 0.9] }]'
    yield ""


def _contacts(columns: Sequence[Column], data: str) -> Iterator[str]:
    yield line('source = "assumed"', "FILL IN where the belief comes from; the certificate prints it")
    ends = [column.name for role in ("one", "other") for column in columns if column.role == role]
    if ends:
        yield from comment("FILL IN: may everybody know who met whom, from this file? Only then write this.")
    else:
        yield from comment("FILL IN a public file of who met whom, and the two columns with the names of a pair.")
    yield f"# file = {toml_of(data if ends else 'meetings.csv')}"
    for row in written_lines(columns if ends else ()):
        yield from (f"# {part.removeprefix('# ')}" for part in row.splitlines())
    yield f"# columns = {toml_of(ends or ['one', 'other'])}"
    yield line('# people = ["Ana"]', "those whom the file of meetings does not name")
    yield from comment("FILL IN the two states, well first; how likely infection is from outside, by an ill person.")
    yield '# states = ["well", "ill"]'
    yield "# outside = 0.1"
    yield "# inside = 0.3"
    yield ""


def _rest(kind: str, columns: Sequence[Column], roles: Sequence[str]) -> Iterator[str]:
    one, other = _two(columns)
    yield "[hide]"
    if "value" not in roles:
        key = "variable" if kind == "network" else "attribute"
        yield from comment(f"What stays secret: every value, or with {key} the value of one column.")
        yield f"# {key} = {one}"
    else:
        yield line('kind = "every-entry"', "the value of every single person")
    yield ""
    if kind == "users":
        what = 'how many people have each value; or "count" with states = [...]'
        yield from release_lines("published-numbers", "histogram", what)
        yield EPSILON
        return
    yield from release_lines("published-number", "count", 'or "histogram", "sum", "mean", "identity"')
    yield from comment("FILL IN the values that are counted.")
    yield '# states = ["ill"]' if kind == "contacts" else '# states = ["yes"]'
    if "value" not in roles:
        yield line(f"# variables = [{other}]", "the columns that are read; default: all")
    yield EPSILON


def _two(columns: Sequence[Column]) -> tuple[str, str]:
    """Return two columns that name nobody, as TOML writes them; one of them twice where there are no two."""
    free = [column for column in columns if column.role is None] or list(columns)
    return toml_of(free[0].name), toml_of(free[min(1, len(free) - 1)].name)
