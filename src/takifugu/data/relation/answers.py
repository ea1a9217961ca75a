"""One row a unit: how many units gave each combination of answers, and sums of bounded numbers; exact integers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.data.relation.counts import bits, integers, refuse
from takifugu.data.relation.roles import SOURCE, Opened
from takifugu.data.relation.roster import Roster, name_covers, texts
from takifugu.data.relation.statements import COVERS
from takifugu.data.relation.types import (
    check_types,
    code_sql,
    control_why,
    faults_of_codes,
    name_why,
    rows_sql,
    value_line,
    why_of,
)
from takifugu.data.sql.clocks import WHOLE, has_point
from takifugu.data.sql.faults import BIT, CAUSES, RowFault, no_rows, wrong_data
from takifugu.data.sql.words import double, identifier, number_of
from takifugu.data.values.bounded import Bounded
from takifugu.data.values.counts import Names
from takifugu.data.values.texts import MISSING

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


def answered(opened: Opened, roster: Roster | None = None) -> Groups:
    """Return how many units gave each combination of answers, by the public columns beside them."""
    # units of a roster without a row miss all of them
    columns = _codes(opened)
    groups = _grouped(opened, columns, [])
    check_rows(opened, roster, _why_of_codes(opened, columns, groups.codes))
    absent = 0 if roster is None else len(roster.names) - int(groups.rows.sum())
    if absent <= 0:
        return groups
    return Groups(
        np.vstack([groups.codes, np.full(len(columns), MISSING)]),
        tuple(np.append(column, [None]) for column in groups.keys),
        np.append(groups.rows, absent), np.pad(groups.sums, ((0, 1), (0, 0))),
    )  # fmt: skip


def _grouped(opened: Opened, codes: Sequence[str], sums: Sequence[str]) -> Groups:
    """Return the rows by codes and public columns, with sums of each group."""
    by = [f"{code} as c{number}" for number, code in enumerate(codes)]
    by += [f"{identifier(role)}::varchar as {identifier('key of ' + role)}" for role in opened.public]
    select = ", ".join([*by, "count(*)::bigint as n", *(f"{sum} as s{number}" for number, sum in enumerate(sums))])
    order = ", ".join(str(number + 1) for number, _ in enumerate(by)) or "1"
    table = opened.relation.columns(f"select {select} from {identifier(SOURCE)} group by all order by {order}")
    nothing = np.zeros((len(table["n"]), 0), dtype=np.int64)
    counted_codes = [integers(table[f"c{number}"], MISSING)[:, None] for number, _ in enumerate(codes)]
    counted_sums = [integers(table[f"s{number}"])[:, None] for number, _ in enumerate(sums)]
    opened.relation.check_unchanged()
    keys = tuple(texts(table["key of " + role]) for role in opened.public)
    return Groups(np.hstack([nothing, *counted_codes]), keys, integers(table["n"]), np.hstack([nothing, *counted_sums]))


def listed(opened: Opened) -> Answers:
    """Return the answers of each row, for rows that are one each; raises the errors of `answered`."""
    columns = _codes(opened)
    codes = [f"{code} as c{number}" for number, code in enumerate(columns)]
    unit = "unit::varchar" if "unit" in opened.roles else "''"
    selected = ", ".join(['"row"', f"{unit} as name", *codes])
    table = opened.relation.columns(f'select {selected} from {identifier(SOURCE)} order by "row"')
    every = np.stack([integers(table[f"c{number}"], MISSING) for number, _ in enumerate(columns)], axis=1)
    check_rows(opened, None, _why_of_codes(opened, columns, every))
    opened.relation.check_unchanged()
    return Answers(integers(table["row"]), texts(table["name"]), every)


def _codes(opened: Opened) -> list[str]:
    """Return the SQL of each value's code, of types that are checked."""
    check_types(opened)
    return [code_sql(opened, number) for number, _ in enumerate(opened.source.rules)]


def summed(opened: Opened, numbers: Sequence[Bounded], roster: Roster | None = None) -> Groups:
    """Return the rows and the sums of each group of the public columns beside the values."""
    why, sums = list[tuple[int, str]](), list[str]()
    for place, rule in enumerate(numbers):
        name, kind = identifier(f"value{place}"), opened.type(f"value{place}")
        if kind not in WHOLE | {"VARCHAR", "BOOLEAN"} and not has_point(kind):
            raise wrong_data("value", f"value holds {kind}", "sums are of numbers")
        number = number_of(name, kind)
        if kind == "VARCHAR":
            why.append((place, f"coalesce(({name} <> '' and {number} is null)::bigint, 0) * {BIT['no number']}"))
        is_finite, low, high = f"coalesce(isfinite({number}), false)", double(rule.low), double(rule.high)
        if rule.missing is None:
            is_read = f" and ({number} is not null or {name} = '' or {name} is null)" if kind == "VARCHAR" else ""
            why.append((place, f"(not {is_finite}{is_read})::bigint * {BIT['no value']}"))
        # replaced, put between its bounds, and rounded to the grid, half to even: the same integers on every machine
        value = f"case when {is_finite} then {number} else {double(rule.replacement)} end"
        times, parts = double(rule.grid.denominator), double(rule.grid.numerator)
        units = f"least(greatest({value}, {low}), {high}) * {times} / {parts}"
        sums.append(f"try_cast(sum(round_even({units}, 0)::bigint) as bigint)")
    broken = [f"bit_or({part})" for _, part in why]
    together = opened.relation.rows(f"select {', '.join(broken)} from {identifier(SOURCE)}")[0] if why else ()
    check_rows(opened, roster, [(*rule, int(bit or 0)) for rule, bit in zip(why, together, strict=True)])
    groups = _grouped(opened, [], sums)
    largest = max((abs(bound) for rule in numbers for bound in rule.range), default=0)
    if int(groups.rows.max()) * largest >= 2**62:
        fix = "declare coarser grids or narrower bounds"
        raise wrong_data("grid", "a sum of these bounds could leave 64 bits", "", fix)
    return groups


def _why_of_codes(opened: Opened, codes: Sequence[str], of_rows: IntArray) -> Iterator[OfValue]:
    """Yield the rules of each value whose code is none of a state, and which of them some row breaks."""
    otherwise = [opened.source.nulls != "refuse"] * len(codes)
    for number, (code, may_miss) in enumerate(zip(codes, opened.source.may_miss or otherwise, strict=True)):
        faults = faults_of_codes(not may_miss)
        broken = sum(BIT[cause] for some, cause in faults.items() if (of_rows[:, number] == some).any())
        yield number, why_of(f"({code})", faults), broken


def check_rows(
    opened: Opened, roster: Roster | None, of_values: Iterable[OfValue] = (), may_repeat: bool = False
) -> None:
    """Refuse rows against the rules about units (one row each, unless they `may_repeat`), and odd values."""
    public = " | ".join(f"({control_why(role)})" for role in opened.public)
    rows = rows_sql(opened, public)
    units = f"select unit, bit_or(why) as why, count(*) as n from ({rows}) group by unit"  # distinct keeps every row
    numbers = "coalesce(sum(n), 0)::bigint as n, coalesce(max(n) filter (unit <> ''), 0)::bigint as most"
    every = f"coalesce(bit_or(why | {name_why(opened)}), 0) as why, {numbers}"
    table = opened.relation.columns(f"select {every} from ({units})")
    causes = bits(table["why"])
    if not integers(table["n"])[0] and not opened.hides_rows:
        raise no_rows()
    is_once = opened.source.unit is not None and not may_repeat
    if is_once and integers(table["most"])[0] > 1:
        causes |= BIT["second answer"]
    if roster is not None:
        name_covers(opened, roster)
        strangers = f"from ({units}) r left join {COVERS} c using (unit) where c.number is null limit 1"
        causes |= BIT["stranger"] if opened.relation.rows(f"select 1 {strangers}") else 0
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
    "unknown state": ("lower(trim({1}))", ", or a CASE; or declare the value"),
    "no bin": ("", "widen the bins; the last one may end at inf"),
    "no measurement": ("CASE WHEN isfinite({0}) THEN {0} END", ", which leaves it missing"),
    "no number": ("nullif({0}, 'NA')", ", with the text that stands for a missing value; where commas are decimal, as "
                  "in 1,5, replace({0}, ',', '.') instead of nullif({0}, 'NA')"),
}  # fmt: skip


def _faults_of_values(opened: Opened, of_values: Iterable[OfValue]) -> Iterator[RowFault]:
    """Yield the fault of each cause that is about a value, with the words of its column."""
    for number, part, broken in of_values:
        for cause in CAUSES:
            if not broken & BIT[cause.name]:
                continue
            column = opened.words()[f"value{number}"]
            words = {"value": column, "text": opened.as_text(f"value{number}"), "column": opened.source.values[number]}
            try:
                refuse(opened, BIT[cause.name], None, part, words)
            except RowFault as error:
                texts = column, opened.as_text(f"value{number}")
                sql, or_else = (text.format(*texts) for text in _MENDED[cause.name])
                error.fix = (value_line(opened, f"value{number}", sql) if sql else "") + or_else
                yield error
