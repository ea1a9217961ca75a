"""Codes of states as integers on a grid: the coarsest that holds every number exactly, or one that was declared."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import chain
from typing import Protocol, runtime_checkable

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.core.entries import Entries, arranged, positions
from takifugu.core.errors import InputError, Unsupported, within
from takifugu.model.queries.answer import Additive, Chosen, State
from takifugu.numbers.rationals import Number, as_fraction, as_fractions, common_denominator
from takifugu.numbers.runs import Runs

#: The values of an alphabet and the mode of absence, "" where there is none.
Spelled = tuple[tuple[State, ...], str]

#: What each value of an alphabet adds to the cells of an answer.
Rows = Callable[[tuple[State, ...]], list[list[int]]]
#: The tables, weights and table numbers of an answer (`Additive`).
Parts = tuple[tuple[IntArray, ...], IntArray, IntArray | None]

#: Largest denominator of a grid that is found without being declared; a finer one must be declared.
FINEST_IMPLIED_GRID = 10**6


def implied_grid(values: Iterable[Number]) -> Fraction:
    """Return the default grid: the largest common divisor of the values."""
    step = common_step(as_fractions(values, "a value", "codes"))
    if step.denominator > FINEST_IMPLIED_GRID:
        raise Unsupported(
            f"the answer would need a grid of 1/{step.denominator}, finer than 1/{FINEST_IMPLIED_GRID}",
            fix="declare one, for example grid='0.001'",
        ).at("grid")
    return step


def state_tables(entries: Entries, chosen: Chosen | None, rows: Rows) -> Parts:
    """Return tables, weights and table numbers of the sum of rows(alphabet)[x_i] over the chosen entries."""
    mask, (different, table_of) = chosen_mask(entries, chosen), spelled(entries)
    tables = []
    for values, absence in different:
        table = rows(values)
        if absence:
            table.append([0] * len(table[0]) if absence == "removed" else table[0])
        tables.append(integer_table(table))
    return tuple(tables), mask, table_of


def coded(
    entries: Entries,
    label: str,
    codes: Mapping[State, Number] | None,
    read: IntArray,
    weights: Sequence[Fraction] | None = None,
    grid: Fraction | None = None,
) -> Additive:
    """Return the weighted sum of codes over the entries in `read` (1 or 0), each product rounded half to even."""
    # `weights` are in the order of the listed entries
    arranged_weights = None if weights is None else arranged(entries, weights)
    factors, factor_numbers = _factors(read, arranged_weights)
    different, kind_of = spelled(entries)
    if kind_of is not None:
        return _several_alphabets(label, codes, different, kind_of, factors, factor_numbers, grid)
    values = _codes(*different[0], codes)
    unit, step = common_step(factors), common_step(values)
    multiple = Fraction(1) if grid is None else unit * step / grid
    if grid is None or multiple.denominator == 1:
        table = _rounded(values, step / multiple)
        weights_in_steps = integer_row([int(w / unit) for w in factors])
        weights_of_entries = _taken(weights_in_steps, factor_numbers)
        return Additive(grid or implied_grid([unit * step]), (label,), (table,), weights_of_entries)
    tables = []
    for factor in factors:
        tables.append(_rounded([factor * value for value in values], grid))
    table_of = None if len(tables) == 1 else factor_numbers
    return Additive(grid, (label,), tuple(tables), _taken(_read(factors), factor_numbers), table_of)


def _taken(numbers: IntArray, places: IntArray) -> IntArray:
    runs = Runs.of(places)
    return runs.mapped(numbers[runs.values]).numbers


def _several_alphabets(
    label: str,
    codes: Mapping[State, Number] | None,
    different: list[Spelled],
    kind_of: IntArray,
    factors: list[Fraction],
    factor_numbers: IntArray,
    grid: Fraction | None,
) -> Additive:
    """Return the sum with a table per alphabet and factor read."""
    pairs, table_of = np.unique(kind_of * len(factors) + factor_numbers, return_inverse=True)
    products: list[list[Fraction]] = []
    for pair in pairs.tolist():
        values, absence = different[pair // len(factors)]
        factor = factors[pair % len(factors)]
        products.append([factor * v for v in _codes(values, absence, codes)] if factor else [])
    step = grid or implied_grid(list(chain.from_iterable(products)))
    tables = []
    for row in products:
        tables.append(_rounded(row, step) if row else np.zeros((1, 1), dtype=np.int64))  # nothing reads the latter
    return Additive(step, (label,), tuple(tables), _read(factors)[factor_numbers], table_of.ravel().astype(np.int64))


def _factors(mask: IntArray, weights: Sequence[Fraction] | None) -> tuple[list[Fraction], IntArray]:
    """Return the different factors and the number of each entry's."""
    if weights is None:
        is_whole = bool(Runs.of(mask).values.all())
        if is_whole:
            return [Fraction(1)], Runs.alike(0, len(mask)).numbers
        return [Fraction(0), Fraction(1)], mask
    different = sorted(set(weights))
    number = {value: place for place, value in enumerate(different)}
    return different, integer_row([number[place] for place in weights])


def _read(factors: Sequence[Fraction]) -> IntArray:
    return integer_row([int(w != 0) for w in factors])


class Alphabet(Protocol):
    """The values that some users can have, and their mode of absence, "" where none can be absent."""

    @property
    def values(self) -> tuple[State, ...]: ...

    @property
    def absence(self) -> str: ...


@runtime_checkable
class Users(Protocol):
    """A belief about users, some of whom may be absent: the different alphabets, and which each user has."""

    @property
    def letters(self) -> Sequence[Alphabet]: ...

    @property
    def letters_of(self) -> IntArray: ...


def spelled(entries: Entries) -> tuple[list[Spelled], IntArray | None]:
    """Return the different alphabets without absence, each with its mode of it, and each entry's index."""
    # an absent entry of mode "removed" adds nothing to an answer; one of mode "unknown" adds a value's share
    if isinstance(entries, Users):
        whose = None if len(entries.letters) == 1 else np.asarray(entries.letters_of)
        return [(letter.values, letter.absence) for letter in entries.letters], whose
    if entries.one_alphabet:
        return [(entries.alphabet(0), "")], None
    return [(entries.alphabet(i), "") for i in range(entries.size)], np.arange(entries.size)


def common_step(values: Iterable[Fraction]) -> Fraction:
    """Return the greatest common divisor of rationals; 1 when all are zero."""
    exact = set(values)
    denominator = common_denominator(exact)
    return Fraction(math.gcd(*(int(v * denominator) for v in exact)), denominator) or Fraction(1)


def states_of(entries: Entries) -> tuple[State, ...]:
    """Return the different states of all entries, as the alphabets list them."""
    return tuple(dict.fromkeys(chain.from_iterable(alphabets(entries))))


def alphabets(entries: Entries) -> list[tuple[State, ...]]:
    """Return the different alphabets, without the letter of absence."""
    return [values for values, _ in spelled(entries)[0]]


def chosen_mask(entries: Entries, chosen: Chosen | None = None, column: Hashable | None = None) -> IntArray:
    """Return 1 for each chosen entry, or for that of a column (by default all), else 0."""
    if chosen is None and column is None:
        return Runs.alike(1, entries.size).numbers
    mask = np.zeros(entries.size, dtype=np.int64)
    if chosen is not None:
        mask[list(positions(entries, chosen))] = 1
        return mask
    with within("attribute"):
        mask[entries.position(column)] = 1
    return mask


def integer_row(numbers: Sequence[int]) -> IntArray:
    """Return int64 numbers, or raise InputError where one does not fit."""
    try:
        return np.array(numbers, dtype=np.int64)
    except OverflowError as error:
        raise InputError(
            "a weight or code exceeds 2**63 steps of the answer's grid", fix="declare a coarser grid"
        ).at("grid") from error


def integer_table(rows: Sequence[Sequence[int]]) -> IntArray:
    """Return an int64 table (values, cells), or raise InputError where a number does not fit."""
    return integer_row(list(chain.from_iterable(rows))).reshape(len(rows), -1)


def _rounded(values: list[Fraction], grid: Fraction) -> IntArray:
    return integer_table([[round(v / grid)] for v in values])


def _codes(values: tuple[State, ...], absence: str, codes: Mapping[State, Number] | None) -> list[Fraction]:
    codes_of = [code_of(s, codes) for s in values]
    if not absence:
        return codes_of
    return [*codes_of, Fraction(0) if absence == "removed" else codes_of[0]]


def code_of(state: State, codes: Mapping[State, Number] | None) -> Fraction:
    """Return the number of a state: its code, or the state itself."""
    if codes is not None:
        if state not in codes:
            raise InputError(f"the query gives no code for state {state!r}", fix="add it to codes").at("codes")
        return as_fraction(codes[state], f"the code of {state!r}", "codes")
    if isinstance(state, bool) or not isinstance(state, int | float | Fraction | np.integer | np.floating):
        raise InputError(
            f"state {state!r} is not a number, so it cannot be added",
            fix=f"give codes, for example codes={{{state!r}: 1}}",
        ).at("codes")
    number = state if isinstance(state, Fraction | int | float) else state.item()
    return as_fraction(number, f"the code of {state!r}", "codes")
