"""One row a unit: how many units gave each combination of answers, and sums of bounded numbers; exact integers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.core.errors import DataError
from takifugu.data.relation.counts import bits, integers, refuse
from takifugu.data.relation.faults import BIT, CAUSES, RowFault
from takifugu.data.relation.roles import SOURCE, Opened
from takifugu.data.relation.roster import Names, Roster, name_covers, texts
from takifugu.data.relation.statements import COVERS
from takifugu.data.relation.types import (
    MISSING,
    UNBINNED,
    UNKNOWN,
    WHOLE,
    Known,
    check_types,
    check_value,
    code_sql,
    control_why,
    rows_sql,
    value_line,
)
from takifugu.data.relation.words import identifier
from takifugu.data.values.bounded import Bounded

#: The number of a value, SQL of bits of its rules, and those that some row breaks.
OfValue = tuple[int, str, int]


@dataclass(frozen=True, eq=False)
class Groups:
    """The rows with each combination of codes or texts, as columns: `keys`, how many, and sums; private."""

    codes: IntArray
    keys: tuple[Names, ...]
    rows: IntArray = field(repr=False)
    sums: IntArray = field(repr=False)


@dataclass(frozen=True, eq=False)
class Answers:
    """The rows in their order, as columns: the number of each (from 1), its unit, and a code a value; private."""

    rows: IntArray
    units: Names = field(repr=False)
    codes: IntArray = field(repr=False)


def check_answers(opened: Opened, known: Sequence[Known | None]) -> None:
    """Raise InputError, with the key, for a column of another type than its states, bins or classes; reads no row."""
    check_types(opened)
    for number, rule in enumerate(known):
        check_value(opened, f"value{number}", rule)


def answered(
    opened: Opened, known: Sequence[Known] = (), roster: Roster | None = None, may_miss: Sequence[bool] = ()
) -> Groups:
    """Return how many units gave each combination of answers, by the public columns beside them.

    `known` has the states, bins or classes of each value, the declared ones where it is empty, and `may_miss` says
    which of them may be missing, whatever `nulls` says. Units of a roster without a row are missing in all. Raises
    InputError for a column of another type, RowFault for rows against a rule.
    """
    columns = _codes(opened, known)
    names = [f"c{number}" for number in range(len(columns))]
    codes = ", ".join(f"{code} as {name}" for code, name in zip(columns, names, strict=True))
    keys = [f"{identifier(role)}::varchar as {identifier(role)}" for role in opened.public]
    select = ", ".join([codes, *keys])
    table = opened.relation.columns(
        f"select *, count(*)::bigint as n from (select {select} from {identifier(SOURCE)}) group by all order by all"
    )
    causes = _stacked(table, names)
    check_rows(opened, roster, _why_of_codes(opened, columns, causes, may_miss))
    rows = integers(table["n"])
    keyed = tuple(texts(table[role]) for role in opened.public)
    if roster is not None and len(roster.names) > rows.sum():
        causes = np.vstack([causes, np.full(len(names), MISSING)])
        rows = np.append(rows, len(roster.names) - rows.sum())
        keyed = tuple(np.concatenate((column, np.array([None], dtype=object))) for column in keyed)
    opened.relation.check_unchanged()
    return Groups(causes, keyed, rows, np.zeros((len(rows), 0), dtype=np.int64))


def listed(opened: Opened, known: Sequence[Known] = ()) -> Answers:
    """Return the answers of each row, for rows that are one each; raises the errors of `answered`."""
    columns = _codes(opened, known)
    names = [f"c{number}" for number in range(len(columns))]
    codes = [f"{code} as {name}" for code, name in zip(columns, names, strict=True)]
    unit = "unit::varchar" if "unit" in opened.roles else "''"
    selected = ", ".join(['"row"', f"{unit} as name", *codes])
    table = opened.relation.columns(f'select {selected} from {identifier(SOURCE + " rows")} order by "row"')
    every = _stacked(table, names)
    check_rows(opened, None, _why_of_codes(opened, columns, every))
    opened.relation.check_unchanged()
    return Answers(integers(table["row"]), texts(table["name"]), every)


def _stacked(table: Any, names: Sequence[str]) -> IntArray:
    """Return the codes of each row, a column for each value."""
    return np.stack([integers(table[name], MISSING) for name in names], axis=1)


def _codes(opened: Opened, known: Sequence[Known]) -> list[str]:
    """Return the SQL of each value's code, of types that are checked."""
    bins = opened.source.bins_of_values
    check_answers(opened, known or bins)
    rules: Sequence[Known | None] = known or (bins if len(bins) > 1 else [None])
    return [code_sql(opened, f"value{number}", rule) for number, rule in enumerate(rules)]


def summed(opened: Opened, numbers: Sequence[Bounded], roster: Roster | None = None) -> Groups:
    """Return the rows and the sums of each group of the public columns beside the values.

    Each value is replaced where it is no finite number, put between its bounds and rounded to a multiple of its grid,
    half to even: integers, the same on every machine. Raises RowFault for a text that is no number, and for what its
    rule refuses; DataError for no rows and for sums that could leave 64 bits.
    """
    why, sums = list[tuple[int, str]](), list[str]()
    for place, rule in enumerate(numbers):
        name, kind = identifier(f"value{place}"), opened.type(f"value{place}")
        if kind not in WHOLE | {"FLOAT", "DOUBLE", "VARCHAR", "BOOLEAN"} and not kind.startswith("DECIMAL"):
            raise DataError(f"value holds {kind}", rule="sums are of numbers").at("value")
        number = f"try_cast({name} as double)" if kind == "VARCHAR" else f"{name}::double"
        if kind == "VARCHAR":
            why.append((place, f"coalesce(({name} <> '' and {number} is null)::bigint, 0) * {BIT['no number']}"))
        is_finite, low, high = f"coalesce(isfinite({number}), false)", _double(rule.low), _double(rule.high)
        if rule.missing is None:
            is_read = f" and ({number} is not null or {name} = '' or {name} is null)" if kind == "VARCHAR" else ""
            why.append((place, f"(not {is_finite}{is_read})::bigint * {BIT['no value']}"))
        if not rule.clips:
            is_out = f"{is_finite} and ({number} < {low} or {number} > {high})"
            why.append((place, f"coalesce(({is_out})::bigint, 0) * {BIT['out of bounds']}"))
        value = f"case when {is_finite} then {number} else {_double(rule.replacement)} end"
        times, parts = _double(rule.grid.denominator), _double(rule.grid.numerator)
        units = f"least(greatest({value}, {low}), {high}) * {times} / {parts}"
        sums.append(f"try_cast(sum(round_even({units}, 0)::bigint) as bigint) as s{place}")
    broken = [f"bit_or({part})" for _, part in why]
    together = opened.relation.rows(f"select {', '.join(broken)} from {identifier(SOURCE)}")[0] if why else ()
    check_rows(opened, roster, [(*rule, int(bit or 0)) for rule, bit in zip(why, together, strict=True)])
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


def _why_of_codes(
    opened: Opened, codes: Sequence[str], of_rows: IntArray, may_miss: Sequence[bool] = ()
) -> Iterator[OfValue]:
    """Yield the rules of each value whose code is none of a state, and which of them some row breaks."""
    otherwise = opened.source.nulls != "refuse"
    for number, code in enumerate(codes):
        is_refused = not (may_miss[number] if may_miss else otherwise)
        bit_of = {UNKNOWN: BIT["unknown state"], UNBINNED: BIT["no bin"], MISSING: BIT["no value"] * is_refused}
        cases = " ".join(f"when {state} then {bit}" for state, bit in bit_of.items())
        broken = sum(bit for state, bit in bit_of.items() if (of_rows[:, number] == state).any())
        yield number, f"case {code} {cases} else 0 end", broken


def check_rows(
    opened: Opened, roster: Roster | None, of_values: Iterable[OfValue] = (), may_repeat: bool = False
) -> None:
    """Refuse rows against the rules about units, and values that are no answers.

    Where units `may_repeat` one may have several rows.
    """
    public = " | ".join(f"({control_why(role)})" for role in opened.public)
    named = "nullif(unit, '')"
    listed = f"bit_or(why) as why, count(*) as n, count({named}) as named, count(distinct {named}) as units"
    table = opened.relation.columns(f"select {listed} from ({rows_sql(opened, True, public)})")
    causes = bits(table["why"])
    if not integers(table["n"])[0]:
        raise DataError(
            "there are no rows", rule="an empty export is more often a mistake than nobody",
            fix="look at the file, and at where",
        ).at("file")  # fmt: skip
    is_once = opened.source.unit is not None and not may_repeat
    if is_once and integers(table["units"])[0] < integers(table["named"])[0]:
        causes |= BIT["second answer"]
    if roster is not None:
        name_covers(opened, roster)
        stranger = (
            f"select count(*) from ({rows_sql(opened)}) r left join {COVERS} c using (unit) where c.number is null"
        )
        causes |= BIT["stranger"] if opened.relation.rows(stranger)[0][0] else 0
    faults = tuple(islice(_faults_of_values(opened, of_values), MOST_FAULTS))
    try:
        refuse(opened, causes, None, public)
    except RowFault as error:
        error.also = faults
        raise
    if faults:
        faults[0].also = faults[1:]
        raise faults[0]


#: Nobody reads more faults of values at a time.
MOST_FAULTS = 20
#: The causes that are about a value, with what computes it without them, and what else may be done.
_MENDED = {
    "no value": ("coalesce({0}, '...')", ""),
    "unknown state": ("lower(trim({0}))", ", or a CASE; or declare the value"),
    "no bin": ("CASE WHEN isfinite({0}) THEN {0} END", ", or widen the bins"),
    "no number": ("try_cast({0} AS double)", ", if such texts are missing values"),
    "out of bounds": ("", "widen the bounds"),
}  # fmt: skip


def _faults_of_values(opened: Opened, of_values: Iterable[OfValue]) -> Iterator[RowFault]:
    """Yield the fault of each cause that is about a value, with the words of its column."""
    for number, part, broken in of_values:
        for cause in CAUSES:
            if not broken & BIT[cause.name]:
                continue
            column = opened.words()[f"value{number}"]
            words = {"value": column, "column": opened.source.values[number]}
            try:
                refuse(opened, BIT[cause.name], None, part, words)
            except RowFault as error:
                sql, or_else = _MENDED[cause.name]
                error.fix = (value_line(opened, f"value{number}", sql.format(column)) if sql else "") + or_else
                yield error


def _double(number: Any) -> str:
    return f"{float(number)!r}::double"
