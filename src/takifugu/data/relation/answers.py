"""One row a unit: how many units gave each combination of answers, and sums of bounded numbers; exact integers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.core.errors import DataError
from takifugu.data.relation.counts import bits, integers, refuse
from takifugu.data.relation.faults import BIT, RowFault
from takifugu.data.relation.opening import SOURCE, Opened
from takifugu.data.relation.roster import Names, Roster, name_covers, texts
from takifugu.data.relation.statements import COVERS
from takifugu.data.relation.types import (
    MISSING,
    UNBINNED,
    UNKNOWN,
    WHOLE,
    Known,
    check_types,
    code_sql,
    control_why,
    rows_sql,
)
from takifugu.data.relation.words import identifier
from takifugu.data.values.bounded import Bounded


@dataclass(frozen=True, eq=False)
class Groups:
    """The rows with each combination of codes or texts, as columns: `keys`, how many, and sums; private."""

    codes: IntArray
    keys: tuple[Names, ...]
    rows: IntArray = field(repr=False)
    sums: IntArray = field(repr=False)


def answered(opened: Opened, known: Sequence[Known] = (), roster: Roster | None = None) -> Groups:
    """Return how many units gave each combination of answers, by the public columns beside them.

    `known` has the states, bins or classes of each value, the declared states where it is empty. Units of a roster
    without a row are missing in all. Raises InputError for a column of another type, RowFault for rows against a rule.
    """
    source = opened.source
    check_types(opened)
    columns = [code_sql(opened, f"value{n}", rule) for n, rule in enumerate(known or [None] * len(source.values))]
    refused = BIT["no value"] if source.nulls == "refuse" else 0
    why = [
        f"case {code} when {UNKNOWN} then {BIT['unknown state']} when {UNBINNED} then {BIT['no bin']} "
        f"when {MISSING} then {refused} else 0 end"
        for code in columns
    ]
    check_rows(opened, roster, why)
    names = [f"c{number}" for number in range(len(columns))]
    codes = ", ".join(f"{code} as {name}" for code, name in zip(columns, names, strict=True))
    keys = [f"{identifier(role)}::varchar as {identifier(role)}" for role in opened.public]
    select = ", ".join([codes, *keys])
    table = opened.relation.columns(
        f"select *, count(*)::bigint as n from (select {select} from {identifier(SOURCE)}) group by all order by all"
    )
    causes = np.stack([integers(table[name], MISSING) for name in names], axis=1)
    rows = integers(table["n"])
    keyed = tuple(texts(table[role]) for role in opened.public)
    if roster is not None and len(roster.names) > rows.sum():
        causes = np.vstack([causes, np.full(len(names), MISSING)])
        rows = np.append(rows, len(roster.names) - rows.sum())
        keyed = tuple(np.concatenate((column, np.array([None], dtype=object))) for column in keyed)
    opened.relation.check_unchanged()
    return Groups(causes, keyed, rows, np.zeros((len(rows), 0), dtype=np.int64))


def summed(opened: Opened, numbers: Sequence[Bounded], roster: Roster | None = None) -> Groups:
    """Return the rows and the sums of each group of the public columns beside the values.

    Each value is replaced where it is no finite number, put between its bounds and rounded to a multiple of its grid,
    half to even: integers, the same on every machine. Raises RowFault for a text that is no number, and for what its
    rule refuses; DataError for no rows and for sums that could leave 64 bits.
    """
    why, sums = list[str](), list[str]()
    for place, rule in enumerate(numbers):
        name, kind, parts_of_why = identifier(f"value{place}"), opened.type(f"value{place}"), ["0::bigint"]
        if kind not in WHOLE | {"FLOAT", "DOUBLE", "VARCHAR", "BOOLEAN"} and not kind.startswith("DECIMAL"):
            raise DataError(f"value holds {kind}", rule="sums are of numbers").at("value")
        number = f"try_cast({name} as double)" if kind == "VARCHAR" else f"{name}::double"
        if kind == "VARCHAR":
            parts_of_why.append(f"coalesce(({name} <> '' and {number} is null)::bigint, 0) * {BIT['no number']}")
        is_finite, low, high = f"coalesce(isfinite({number}), false)", _double(rule.low), _double(rule.high)
        if rule.missing is None:
            is_read = f" and ({number} is not null or {name} = '' or {name} is null)" if kind == "VARCHAR" else ""
            parts_of_why.append(f"(not {is_finite}{is_read})::bigint * {BIT['no value']}")
        if not rule.clips:
            is_out = f"{is_finite} and ({number} < {low} or {number} > {high})"
            parts_of_why.append(f"coalesce(({is_out})::bigint, 0) * {BIT['out of bounds']}")
        why.append(" + ".join(parts_of_why))
        value = f"case when {is_finite} then {number} else {_double(rule.replacement)} end"
        times, parts = _double(rule.grid.denominator), _double(rule.grid.numerator)
        units = f"least(greatest({value}, {low}), {high}) * {times} / {parts}"
        sums.append(f"try_cast(sum(round_even({units}, 0)::bigint) as bigint) as s{place}")
    check_rows(opened, roster, why)
    keys = [f"{identifier(role)}::varchar as {identifier(role)}" for role in opened.public]
    groups = ", ".join(identifier(role) for role in opened.public)
    tail = f" group by {groups} order by {groups}" if groups else ""
    select = ", ".join([*(identifier(role) for role in opened.public), "count(*)::bigint as n", *sums])
    values = [identifier(f"value{place}") for place in range(len(numbers))]
    listed = ", ".join([*keys, *values]) or "1"
    table = opened.relation.columns(f"select {select} from (select {listed} from {identifier(SOURCE)}){tail}")
    rows = integers(table["n"])
    if not rows.sum():
        raise DataError("there are no rows", rule="nothing can be released", fix="look at the file, and at where").at(
            "file"
        )
    largest = max((abs(bound) for rule in numbers for bound in rule.range), default=0)
    if int(rows.max()) * largest >= 2**62:
        raise DataError("a sum of these bounds could leave 64 bits", fix="declare coarser grids or narrower bounds").at(
            "grid"
        )
    columns = [integers(table[f"s{place}"]) for place in range(len(numbers))]
    total = np.stack(columns, axis=1) if columns else np.zeros((len(rows), 0), dtype=np.int64)
    opened.relation.check_unchanged()
    return Groups(
        np.zeros((len(rows), 0), dtype=np.int64), tuple(texts(table[role]) for role in opened.public), rows, total
    )


def check_rows(
    opened: Opened, roster: Roster | None, why_of_values: Sequence[str] = (), may_repeat: bool = False
) -> None:
    """Refuse rows against the rules about units, and values that are no answers, by the bits of each value.

    Where units `may_repeat` one may have several rows.
    """
    why = [*why_of_values, *(control_why(role) for role in opened.public)]
    bits_of_values = " | ".join(f"({part})" for part in why)
    listed = "bit_or(why) as why, count(*) as n, count(distinct unit) as units"
    table = opened.relation.columns(f"select {listed} from ({rows_sql(opened, True, bits_of_values)})")
    causes = bits(table["why"])
    if not integers(table["n"])[0]:
        raise DataError(
            "there are no rows", rule="an empty export is more often a mistake than nobody",
            fix="look at the file, and at where",
        ).at("file")  # fmt: skip
    if opened.source.unit is not None and not may_repeat and integers(table["units"])[0] < integers(table["n"])[0]:
        causes |= BIT["second answer"]
    if roster is not None:
        name_covers(opened, roster)
        stranger = (
            f"select count(*) from ({rows_sql(opened)}) r left join {COVERS} c using (unit) where c.number is null"
        )
        causes |= BIT["stranger"] if opened.relation.rows(stranger)[0][0] else 0
    try:
        refuse(opened, causes, None, bits_of_values)
    except RowFault as fault:
        fault.words = {**fault.words, **_column_of(opened, fault, why_of_values)}
        raise


def _column_of(opened: Opened, fault: RowFault, why_of_values: Sequence[str]) -> dict[str, str]:
    """Return the text of the first value that a fault is about, as `column`; nothing where it is about no value."""
    listed = ", ".join(why_of_values)
    if fault.row is None or not listed:
        return {}
    row = opened.relation.rows(f'select {listed} from {identifier(SOURCE + " rows")} where "row" = {fault.row}')[0]
    places = [place for place, bits_of in enumerate(row) if bits_of & BIT[fault.cause]]
    return {"column": opened.source.values[places[0]]} if places else {}


def _double(number: Any) -> str:
    return f"{float(number)!r}::double"
