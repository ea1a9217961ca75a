"""Grouped sums of bounded numbers as exact integers: the same on every engine, whatever is missing or infinite."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import chain
from operator import and_
from typing import TYPE_CHECKING, Any

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.core.errors import DataError, InputError
from takifugu.core.names import natural
from takifugu.data.engines.table import Table
from takifugu.data.rows.layout import text_of, unit_name
from takifugu.data.values.bounded import Bounded
from takifugu.data.values.texts import no_number_at_all, not_numbers, out_of_bounds

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw


@dataclass(frozen=True, eq=False)
class Group:
    """The rows with one combination of key values: how many, and the sum of each bounded column. Private."""

    key: tuple[str | None, ...]
    rows: int = field(repr=False)
    sums: IntArray = field(repr=False)


def totals(
    table: Table, numbers: Sequence[Bounded], by: Sequence[str] = (), null_keys: str = "refuse"
) -> tuple[Group, ...]:
    """Return the row counts and sums of each group.

    Groups are by `by`, all rows without any; `null_keys` is the rule for rows without a key, as in Layout. Sums are of
    bounded columns, in units of their grids. Raises InputError for a missing column, DataError for missing keys, texts
    without numbers, values against a column's rule, and sums that could leave 64 bits.

    >>> import tempfile, pathlib
    >>> from takifugu.data import Bounded, open_frame, totals
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "ages.csv"
    >>> _ = file.write_text("town,age\\nA,30\\nA,inf\\nB,999\\n")
    >>> for group in totals(open_frame(file), [Bounded("age", 0, 120, 1, missing=40)], by=["town"]):
    ...     print(group.key, group.rows, group.sums.tolist())
    ('A',) 2 [70]
    ('B',) 1 [120]
    """
    if null_keys not in ("refuse", "drop", "keep"):
        raise InputError(f"null_keys is {null_keys!r}", fix="write 'refuse', 'drop' or 'keep'").at("null_keys")
    largest = max(map(abs, chain.from_iterable(rule.range for rule in numbers)), default=0)
    groups = []
    for key, rows, sums in _sums(table, numbers, by):
        if None in key:
            if null_keys == "refuse":
                raise DataError(
                    f"one of the columns {list(by)} has missing values", fix="fill them, or write a rule"
                ).at("null_keys")
            if null_keys == "drop":
                continue
        if rows * largest >= 2**62:
            raise DataError(
                "a sum of these bounds could leave 64 bits", fix="declare coarser grids or narrower bounds"
            ).at("grid")
        groups.append(Group(key, rows, np.array(sums, dtype=np.int64)))
    if not groups:
        raise DataError("the data has no rows", rule="nothing can be released")
    return tuple(sorted(groups, key=lambda group: tuple(map(natural, group.key))))


def rows_of(table: Table, columns: Sequence[str]) -> list[tuple[Hashable, ...]]:
    """Return some columns row by row.

    Rows of the table that hold nothing at all are left out.
    """
    from takifugu.data.engines.differences import collected

    with table.reading():
        rows = list(collected(table.pick({f"c{number}": column for number, column in enumerate(columns)})))
    if table.without_blank_rows is None or all(any(map(text_of, row)) for row in rows):
        return rows
    return rows_of(table.filled, columns)


def unit_names(values: Iterable[Hashable], column: str, table: Table) -> list[str | None]:
    """Return the texts of units' raw names; DataError for ambiguous ones."""
    from takifugu.data.engines.sanitise import key_column, kind_of

    key_column("unit", column, kind_of(table.pick({"unit": column}), "unit", column))
    return [unit_name(value, column) for value in values]


def _sums(
    table: Table, numbers: Sequence[Bounded], by: Sequence[str]
) -> Iterator[tuple[tuple[str | None, ...], int, list[int]]]:
    """Yield the key, the number of rows and the sums of each group."""
    groups, errors = _summed(table, numbers, by)
    if table.without_blank_rows is not None and any(sums["blank"] and not any(key) for key, sums in groups):
        yield from _sums(table.filled, numbers, by)
        return
    for key, sums in groups:
        for fault, error in errors.items():
            if sums[fault]:
                raise error
        yield key, int(sums["one"]), [int(sums[f"v{number}"]) for number in range(len(numbers))]


def _summed(
    table: Table, numbers: Sequence[Bounded], by: Sequence[str]
) -> tuple[list[tuple[tuple[str | None, ...], dict[str, Any]]], dict[str, DataError]]:
    """Return the key and sums of each group, and faults, the gravest first."""
    import narwhals.stable.v2 as nw

    from takifugu.data.engines import sanitise
    from takifugu.data.engines.differences import collected

    keys = {f"k{i}": column for i, column in enumerate(by)}
    rules = {f"v{i}": rule for i, rule in enumerate(numbers)}
    roles = {**keys, **{role: rule.column for role, rule in rules.items()}}
    with table.reading():
        frame = table.pick(roles)
        kinds = {role: sanitise.kind_of(frame, role, column) for role, column in roles.items()}
        columns: dict[str, nw.Expr] = {role: sanitise.key_column(role, keys[role], kinds[role]) for role in keys}
        faults = dict[str, Mapping[str, nw.Expr | None]]()
        for role, rule in rules.items():
            columns[role] = sanitise.number(role, rule.column, kinds[role], table)
            is_text = {"text": sanitise.not_a_number(role, kinds[role], table)}
            faults[role] = is_text | sanitise.refused(columns[role], rule)
        wrong, errors = _gravest_first(faults, rules)
        if not keys:
            columns["all"] = nw.lit(0)
        blank = reduce(and_, (nw.col(role).is_null() for role in rules), nw.lit(True)).cast(nw.Int64)
        # beside the columns and not instead of them: some engines select constants alone as one row
        frame = frame.with_columns(**columns, **wrong, one=nw.lit(1, nw.Int64)).with_columns(blank=blank)
        if rules:
            frame = sanitise.in_units(frame, rules)
        names, sums = list(keys) or ["all"], ("one", *rules, *wrong, "blank")
        grouped = frame.group_by(*names).agg(*map(nw.sum, sums))
        texts = (role for role in keys if sanitise.is_text(kinds[role]))
        stripped = (sanitise.text(nw.col(role), table.missing).alias(role) for role in texts)
        grouped = grouped.with_columns(stripped).group_by(*names).agg(*map(nw.sum, sums))
        groups = []
        for row in collected(grouped.select(*names, *sums)):
            groups.append((tuple(map(text_of, row[: len(keys)])), dict(zip(sums, row[len(names) :], strict=True))))
        return groups, errors


def _gravest_first(
    faults: Mapping[str, Mapping[str, nw.Expr | None]], rules: Mapping[str, Bounded]
) -> tuple[dict[str, nw.Expr], dict[str, DataError]]:
    """Return each fault by row, and its error."""
    import narwhals.stable.v2 as nw

    wrong, errors = dict[str, nw.Expr](), dict[str, DataError]()
    for fault, error_of in _FAULTS.items():
        for role, rule in rules.items():
            is_fault = faults[role].get(fault)
            if is_fault is not None:
                wrong[f"{fault}_{role}"], errors[f"{fault}_{role}"] = is_fault.cast(nw.Int64), error_of(rule)
    return wrong, errors


#: Faults of a column's values, the gravest first, each with its error.
_FAULTS: Mapping[str, Callable[[Bounded], DataError]] = {
    "text": lambda rule: not_numbers(rule.column),
    "missing": lambda rule: no_number_at_all(rule.column, rule.middle),
    "outside": lambda rule: out_of_bounds(rule.column),
}
