"""Users whose value is a combination of columns (age group and sex), and tables by their groups.

A combination is one value of a user, written "young, f": so a table of all combinations is a histogram, in which a user
who changes moves one count down and another one up. A table by groups has a cell for each group, in which its own users
count, and no others (queries.by): who is in which group is public, as the belief declares it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, chain
from typing import Any

from takifugu.core.errors import TakifuguError, did_you_mean
from takifugu.core.text.toml import toml_of
from takifugu.data import OUTSIDE, UNKNOWN, UNOBSERVED, Bins, Known, Table, tally
from takifugu.model.beliefs.user_groups import combined
from takifugu.model.queries import By, Query
from takifugu.releasing.file.keys import names_of
from takifugu.releasing.file.problems import Where, fault, stranger
from takifugu.releasing.file.reading import bins_of, state_in, wrong
from takifugu.releasing.file.records.sections import RecordItemSpec, RecordReleaseSpec, RecordSourceSpec


def faults_of(spec: RecordReleaseSpec) -> Iterator[TakifuguError]:
    """Yield the faults of combined columns and their bins."""
    columns, belief = names_of(spec.source.value), spec.belief
    if len(set(columns)) < len(columns):
        yield fault(("source", "value"), f"names a column of {list(columns)} twice", "name each once")
    for name in spec.source.bins or ():
        if len(columns) > 1 and name not in columns:
            yield stranger(("source", "bins", name), name, "column of source.value", columns)
    several = isinstance(spec.source.value, tuple)
    for number, values in enumerate(_value_lists(belief)):
        where: Where = ("belief", "values") if belief.groups is None else ("belief", "groups", number, "values")
        odd = [value for value in values if isinstance(value, tuple) != several or _width(value) != len(columns)]
        if odd and columns:
            problem = f"has {combined(odd[0])!r}, which is not one value for each column of source.value"
            examples = [f"a value of {column}" for column in columns]
            fix = f"write lists such as {examples}" if several else "write single values"
            yield fault(where, problem, fix)
        if several and len({str(combined(value)) for value in values}) < len(values):
            yield fault(where, "has two combinations that are written alike", "rename a value")


def _value_lists(belief: Any) -> list[Sequence[Any]]:
    """Return the values of each group, or of all users."""
    if belief.groups is None:
        return [belief.values or ()]
    return [group.values for group in belief.groups]


def _width(value: object) -> int:
    return len(value) if isinstance(value, tuple) else 1


def missing_faults(spec: RecordReleaseSpec) -> Iterator[TakifuguError]:
    """Yield the faults of replacements for missing values."""
    belief, columns = spec.belief, names_of(spec.source.value)
    for name, text in (belief.missing or {}).items():
        if name not in columns:
            yield stranger(("belief", "missing"), name, "column of values", columns)
            continue
        place, choices = columns.index(name), list[str]()
        for value in chain(*_value_lists(belief)):
            parts = value if isinstance(value, tuple) else (value,) * len(columns)
            if place < len(parts) and str(parts[place]) not in choices:
                choices.append(str(parts[place]))
        if text not in choices:
            problem = f"{text!r} is none of the values"
            yield fault(("belief", "missing", name), problem, f"write one of {choices}, or add it to them")


def by_faults(spec: RecordReleaseSpec) -> Iterator[TakifuguError]:
    """Yield the faults of tables by groups or columns of values."""
    for number, item in enumerate(spec.release):
        if item is None or item.by is None:
            continue
        location, (groups, columns) = ("release", number, "by"), _grouping(spec, item)
        names = [*filter(None, (spec.source.group,)), *names_of(spec.source.value)]
        unknown = next((name for name in names_of(item.by) if name not in names), None)
        if unknown is not None:
            yield fault(
                location, f"{unknown!r} is neither the groups' column nor one of value{did_you_mean(unknown, names)}",
                f"write some of {names}; what a table is by beside the public group is a part of each user's value, "
                'value = ["age", "sex"]',
            )  # fmt: skip
        elif groups and spec.belief.groups is None:
            yield fault(location, "is the column of groups, and the belief has none", "write [[belief.groups]]")
        elif columns and (columns != names_of(spec.source.value) or item.query != "histogram"):
            fix = f'write query = "histogram" and by = {list(names)}, and add up its cells: that costs nothing more'
            yield fault(location, "must name all columns of source.value in their order, or none of them", fix)


def _grouping(spec: RecordReleaseSpec, item: RecordItemSpec) -> tuple[bool, tuple[str, ...]]:
    """Return whether a table is by group, and its columns of values."""
    names = names_of(item.by)
    return spec.source.group in names, tuple(name for name in names if name != spec.source.group)


def by_group(query: Query, spec: RecordReleaseSpec, item: RecordItemSpec) -> Query:
    """Return the query of one table, by group if declared."""
    if not _grouping(spec, item)[0]:
        return query
    ends = list(accumulate((group.size for group in spec.belief.groups), initial=0))
    cells = {group.name: range(*ends[n : n + 2]) for n, group in enumerate(spec.belief.groups)}
    return By(query, cells, by=spec.source.group or "")


def spelt(belief: Any, words: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the texts of each combination, by column."""
    texts = {str(combined(value)): tuple(map(str, value)) for value in chain(*_value_lists(belief))}
    width = len(next(iter(texts.values())))
    return [texts.get(word, (word,) * width) for word in words]


def counted(
    table: Table,
    source: RecordSourceSpec,
    words: Sequence[tuple[str, ...]],
    groups: Mapping[str, Mapping[str, int]],
    replaced: Mapping[str, str],
) -> dict[tuple[int, ...], int]:
    """Return the number of rows by combination and group.

    Combinations are numbered as in `words`, others UNKNOWN. Missing values are `replaced` by column; DataError for
    others, and for numbers in no bin.
    """
    columns = names_of(source.value)
    texts_of, codings = dict[str, list[str]](), dict[str, Known]()
    for place, name in enumerate(columns):
        texts_of[name] = list(dict.fromkeys(word[place] for word in words))
        codings[name] = bins_of(source, name) or {text: code for code, text in enumerate(texts_of[name])}
    number, counts = {word: n for n, word in enumerate(words)}, dict[tuple[int, ...], int]()
    for row, rows in tally(table, {**codings, **groups}).items():
        cells = list[str]()
        for code, name in zip(row, columns, strict=False):
            coding = codings[name]
            if code == UNOBSERVED and name not in replaced:
                raise wrong("file", f"column {name!r} has missing values", fix=count_them(name))
            if code == UNOBSERVED:
                cells.append(replaced[name])
            elif isinstance(coding, Bins):
                cells.append(state_in(code, name, coding))
            elif code in (UNKNOWN, OUTSIDE):
                cells.append("")
            else:
                cells.append(texts_of[name][code])
        key = number.get(tuple(cells), UNKNOWN), *row[len(columns) :]
        counts[key] = counts.get(key, 0) + rows
    return counts


def count_them(column: str) -> str:
    """Return the remedy for missing values in a column."""
    return (
        f"write missing = {toml_of({column: 'no answer'})} under [belief], and \"no answer\" among its values, with a "
        "probability; one of the other values there would count them as that answer"
    )
