"""Codes of states as integers on a grid: the coarsest that holds every number exactly, or one that was declared."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction

import numpy as np

from takifugu.errors import InputError, Unsupported
from takifugu.laws.rationals import Number, as_fraction
from takifugu.queries.additive import Additive, Entries, IntArray, State

#: Largest denominator of a grid that is found without being declared; a finer one must be asked for by name.
FINEST_IMPLIED_GRID = 10**6


def implied_grid(values: Iterable[Number]) -> Fraction:
    """Return the largest step whose multiples hold all values: the grid where none is declared.

    Raises Unsupported when its denominator would exceed 1,000,000.

    >>> implied_grid([0, 0.5, 1.25]), implied_grid([0, 50])
    (Fraction(1, 4), Fraction(50, 1))
    """
    step = common_step({as_fraction(v, "a value") for v in values})
    if step.denominator > FINEST_IMPLIED_GRID:
        raise Unsupported(
            f"the answer would need a grid of 1/{step.denominator}, finer than 1/{FINEST_IMPLIED_GRID}: "
            "declare one, for example grid='0.001'"
        )
    return step


def state_tables(
    entries: Entries, chosen: tuple[int, ...] | None, rows: Callable[[tuple[State, ...]], list[list[int]]]
) -> tuple[tuple[IntArray, ...], IntArray, IntArray | None]:
    """Return tables, weights and table numbers of a query that adds rows(alphabet)[x_i] over the chosen entries."""
    mask = chosen_mask(entries, chosen)
    tables = tuple(integer_table(rows(a)) for a in alphabets(entries))
    return tables, mask, None if entries.one_alphabet else np.arange(entries.size)


def coded(
    entries: Entries,
    label: str,
    codes: Mapping[State, Number] | None,
    chosen: tuple[int, ...] | None = None,
    weights: Sequence[Fraction] | None = None,
    grid: Fraction | None = None,
) -> Additive:
    """Return the (weighted) sum of codes over the chosen entries, each product rounded to the grid (half to even)."""
    mask = chosen_mask(entries, chosen)
    factors = [Fraction(int(m)) for m in mask] if weights is None else list(weights)
    if not entries.one_alphabet:
        return _one_table_an_entry(entries, label, codes, factors, grid)
    values = [_code(s, codes) for s in entries.alphabet(0)]
    unit, step = common_step(factors), common_step(values)
    multiple = Fraction(1) if grid is None else unit * step / grid
    if grid is None or multiple.denominator == 1:
        table = integer_table([[int(v / step * multiple)] for v in values])
        whole = {w: int(w / unit) for w in set(factors)}
        weight = integer_row([whole[w] for w in factors])
        return Additive(grid or implied_grid([unit * step]), (label,), (table,), weight)
    different = sorted({w for w in factors if w}) or [Fraction(0)]
    number = {w: i for i, w in enumerate(different)}
    tables = tuple(_rounded([w * v for v in values], grid) for w in different)
    table_of = None if len(different) == 1 else integer_row([number.get(w, 0) for w in factors])
    return Additive(grid, (label,), tables, integer_row([int(w != 0) for w in factors]), table_of)


def _one_table_an_entry(
    entries: Entries,
    label: str,
    codes: Mapping[State, Number] | None,
    factors: list[Fraction],
    grid: Fraction | None,
) -> Additive:
    products = [[w * _code(s, codes) for s in entries.alphabet(i)] if w else [] for i, w in enumerate(factors)]
    step = grid or implied_grid([p for row in products for p in row])
    unread = np.zeros((1, 1), dtype=np.int64)
    tables = tuple(_rounded(row, step) if row else unread for row in products)
    weight = integer_row([int(w != 0) for w in factors])
    return Additive(step, (label,), tables, weight, np.arange(entries.size))


def common_step(values: Iterable[Fraction]) -> Fraction:
    """Return the greatest common divisor of rationals; 1 when all are zero."""
    exact = set(values)
    denominator = math.lcm(*(v.denominator for v in exact))
    return Fraction(math.gcd(*(int(v * denominator) for v in exact)), denominator) or Fraction(1)


def alphabets(entries: Entries) -> list[tuple[State, ...]]:
    """Return the different alphabets: one where all entries share it, else one an entry."""
    return [entries.alphabet(0)] if entries.one_alphabet else [entries.alphabet(i) for i in range(entries.size)]


def chosen_mask(entries: Entries, chosen: tuple[int, ...] | None) -> IntArray:
    """Return 1 for every chosen entry (all without a choice), else 0."""
    if chosen is None:
        return np.ones(entries.size, dtype=np.int64)
    for entry in chosen:
        if not 0 <= entry < entries.size:
            raise InputError(
                f"the query reads entry {entry}, and the belief has entries 0 to {entries.size - 1}: name one of those"
            )
    mask = np.zeros(entries.size, dtype=np.int64)
    mask[list(chosen)] = 1
    return mask


def integer_row(numbers: Sequence[int]) -> IntArray:
    """Return int64 numbers; InputError where one does not fit."""
    try:
        return np.array(numbers, dtype=np.int64)
    except OverflowError as error:
        raise InputError("a weight or code exceeds 2**63 steps of the answer's grid: declare a coarser grid") from error


def integer_table(rows: Sequence[Sequence[int]]) -> IntArray:
    """Return an int64 table (values, cells); InputError where a number does not fit."""
    return integer_row([number for row in rows for number in row]).reshape(len(rows), -1)


def _rounded(values: list[Fraction], grid: Fraction) -> IntArray:
    return integer_table([[round(v / grid)] for v in values])


def _code(state: State, codes: Mapping[State, Number] | None) -> Fraction:
    if codes is not None:
        if state not in codes:
            raise InputError(f"the query gives no code for state {state!r}: add it to codes")
        return as_fraction(codes[state], f"the code of {state!r}")
    if isinstance(state, bool) or not isinstance(state, int | float | Fraction | np.integer | np.floating):
        raise InputError(
            f"state {state!r} is not a number, so it cannot be added: give codes, for example codes={{{state!r}: 1}}"
        )
    return as_fraction(state if isinstance(state, Fraction | int | float) else state.item(), f"the code of {state!r}")
