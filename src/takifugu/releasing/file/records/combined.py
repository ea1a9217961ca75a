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
from takifugu.releasing.file.problems import fault, stranger
from takifugu.releasing.file.reading import bins_of, state_in, wrong
from takifugu.releasing.file.records.sections import RecordItemSpec, RecordReleaseSpec, RecordSourceSpec


def faults_of(spec: RecordReleaseSpec) -> Iterator[TakifuguError]:
    """Yield the faults of combined columns and their bins."""
    columns, belief = names_of(spec.source.value), spec.belief
    if len(set(columns)) < len(columns):
        yield fault(("source", "value"), f"names a column of {list(columns)} twice", "name each once")
    for name in spec.source.bins or () if len(columns) > 1 else ():
        if name not in columns:
            yield stranger(("source", "bins", name), name, "column of source.value", columns)
    places = [("values",)] if belief.groups is None else [("groups", n, "values") for n in range(len(belief.groups))]
    value_lists = [belief.values] if belief.groups is None else [group.values for group in belief.groups]
    several = isinstance(spec.source.value, tuple)
    for place, values in zip(places, value_lists, strict=True):
        odd = [v for v in values or () if len(v if isinstance(v, tuple) else (v,)) != len(columns) or (
            isinstance(v, tuple) != several)]  # fmt: skip
        if odd and columns:
            examples = [f"a value of {column}" for column in columns]
            problem = f"has {combined(odd[0])!r}, which is not one value for each column of source.value"
            fix = f"write lists such as {examples}" if several else "write single values"
            yield fault(("belief", *place), problem, fix)
        texts = [str(combined(v)) for v in values or ()]
        if len(set(texts)) < len(texts) and several:
            yield fault(("belief", *place), "has two combinations that are written alike", "rename a value")


def missing_faults(spec: RecordReleaseSpec) -> Iterator[TakifuguError]:
    """Yield the faults of replacements for missing values."""
    belief, columns = spec.belief, names_of(spec.source.value)
    value_lists = [belief.values or ()] if belief.groups is None else [group.values for group in belief.groups]
    for name, text in (belief.missing or {}).items():
        if name not in columns:
            yield stranger(("belief", "missing"), name, "column of values", columns)
            continue
        place = columns.index(name)
        parts = (value[place : place + 1] if isinstance(value, tuple) else [value] for value in chain(*value_lists))
        choices = list(dict.fromkeys(map(str, chain(*parts))))
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
    value_lists = [belief.values] if belief.groups is None else [group.values for group in belief.groups]
    texts = {str(combined(value)): tuple(map(str, value)) for values in value_lists for value in values}
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
    bins: dict[str, Bins | None] = {name: bins_of(source, name) for name in columns}
    codes = {name: {text: n for n, text in enumerate(dict.fromkeys(word[place] for word in words))}
             for place, name in enumerate(columns)}  # fmt: skip
    codings: dict[str, Known] = {name: bins[name] or codes[name] for name in columns}
    codings.update(groups)
    number, counts = {word: n for n, word in enumerate(words)}, dict[tuple[int, ...], int]()
    for row, rows in tally(table, codings).items():
        codes_here, group_codes = row[: len(columns)], row[len(columns) :]
        texts = [
            _text(code, name, bins[name], list(codes[name]), replaced.get(name))
            for code, name in zip(codes_here, columns, strict=True)
        ]
        key = number.get(tuple(texts), UNKNOWN), *group_codes
        counts[key] = counts.get(key, 0) + rows
    return counts


def count_them(column: str) -> str:
    """Return the remedy for missing values in a column."""
    return (
        f"write missing = {toml_of({column: 'no answer'})} under [belief], and \"no answer\" among its values, with a "
        "probability; one of the other values there would count them as that answer"
    )


def _text(code: int, column: str, bins: Bins | None, texts: Sequence[str], where_missing: str | None) -> str:
    if code == UNOBSERVED:
        if where_missing is None:
            raise wrong("file", f"column {column!r} has missing values", fix=count_them(column))
        return where_missing
    if bins is not None:
        return state_in(code, column, bins)
    return "" if code in (UNKNOWN, OUTSIDE) else texts[code]
