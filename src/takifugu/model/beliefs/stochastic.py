"""Stochastic matrices and initial laws: reading them, and the stationary law."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from takifugu.core.arrays import BoolArray, FloatArray
from takifugu.core.errors import InputError, Step
from takifugu.core.nearest import did_you_mean
from takifugu.core.rules import list_of, no_law
from takifugu.numbers.extended.floats import Wide
from takifugu.numbers.outward_rounding import TRUSTED
from takifugu.numbers.rationals import as_fraction

Start = str | Sequence[float] | FloatArray

_ROWS = "[[0.9, 0.1], [0.4, 0.6]]"
#: Rows that miss a sum of one by no more than this are taken as rounded decimals and renormalised.
ROW_TOLERANCE = 1e-9
#: Stationary masses with a smaller binary exponent are found again with exponents of their own.
_SMALL = -900


def wide_stationary_law(matrix: FloatArray) -> Wide:
    """Return the unique stationary distribution of a matrix, by Grassmann, Taksar and Heyman's elimination."""
    closed = _closed_classes(matrix > 0)
    if len(closed) != 1:
        raise InputError(
            f"the chain has {len(closed)} closed classes of states, so its stationary distribution is not unique",
            fix='give initial=[...] or initial="any"',
        ).at("matrix")
    # nothing is subtracted, so every mass keeps its relative accuracy; beyond floats it has its own exponent
    members = closed[0]
    closed_matrix = matrix[np.ix_(members, members)]
    try:
        law = Wide.of(_eliminated(closed_matrix))
        small = bool((law.exponents < _SMALL).any()) or not law.support.all()
    except FloatingPointError:
        small = True
    if small:
        law = _eliminated_wide(closed_matrix)
    whole = Wide.zeros(len(matrix))
    whole[members] = law
    for array in (whole.mantissas, whole.exponents):
        array.setflags(write=False)
    return whole


def _eliminated(matrix: FloatArray) -> FloatArray:
    """Return pi of an irreducible matrix in floats; FloatingPointError where a rate is beyond them."""
    p, n = matrix.copy(), len(matrix)
    law = np.zeros(n)
    law[0] = 1.0
    with np.errstate(under="raise", over="raise", invalid="raise"):
        for last in range(n - 1, 0, -1):
            p[:last, last] /= p[last, :last].sum()
            p[:last, :last] += np.outer(p[:last, last], p[last, :last])
        for i in range(1, n):
            law[i] = law[:i] @ p[:i, i]
        return np.asarray(law / law.sum())


def _eliminated_wide(matrix: FloatArray) -> Wide:
    """Return pi in mantissas and exponents, rounding once per operation."""
    p, n = Wide.of(matrix), len(matrix)
    for last in range(n - 1, 0, -1):
        p[:last, last] /= p[last, :last].sum(0)
        p[:last, :last] += p[:last, last, None] * p[last, :last]
    law = Wide.of(np.eye(n)[0])
    for i in range(1, n):
        law[i] = (law[:i] * p[:i, i]).sum(0)
    return law / law.sum(0)


def law_after(law: Wide, matrix: FloatArray) -> Wide:
    """Return the law a step later, each mass k + 1 units further off."""
    following = law.floats() @ matrix
    if (following[leads(law.support, matrix > 0)] >= TRUSTED).all():  # what smaller masses add is below a unit
        return Wide.of(following)
    return (law[:, None] * Wide.of(matrix)).sum(0)


def relative_distance(law: Wide, other: Wide) -> float:
    """Return the largest relative distance of a mass from the other law's, which has all that is possible."""
    with np.errstate(over="ignore"):
        return float(np.abs((law[other.support] / other[other.support]).floats() - 1).max())


def leads(first: BoolArray, second: BoolArray) -> BoolArray:
    """Return what two steps can do, one after the other: sums of 0 and 1."""
    return np.asarray((first.astype(np.float32) @ second) > 0)


def _closed_classes(steps: BoolArray) -> list[list[int]]:
    n = len(steps)
    reach = steps | np.eye(n, dtype=bool)
    for k in range(n):
        reach |= np.outer(reach[:, k], reach[k])
    classes: dict[tuple[int, ...], list[int]] = {}
    for i in range(n):
        members = np.flatnonzero(reach[i]).tolist()
        if reach[members, i].all():
            classes[tuple(members)] = members
    return list(classes.values())


def stochastic_matrix(matrix: Sequence[Sequence[float]] | FloatArray) -> FloatArray:
    """Return a square table with rows of sum one, or raise InputError."""
    table = square_table(matrix, "the matrix", "matrix")
    for row, total in enumerate(table.sum(axis=1)):
        if abs(total - 1) > ROW_TOLERANCE:
            raise no_law(f"row {row} of the matrix", total).at("matrix", row)
    table = normalised(table)
    table.setflags(write=False)
    return table


def floats_of(numbers: object, otherwise: str, fix: str, *where: Step) -> FloatArray:
    """Return numbers as an array, or raise InputError with the words `otherwise`."""
    try:
        return np.array(numbers, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(otherwise, fix=fix).at(*where) from error


def square_table(rows: Iterable[Iterable[float]] | FloatArray, title: str, key: str) -> FloatArray:
    """Return k rows of k numbers, none of them negative, or raise InputError."""
    lists = [list_of(row, f"a row of {title}", key, _ROWS) for row in list_of(rows, title, key, _ROWS)]
    table = floats_of(lists, f"{title} is no square table of numbers", "give k rows of k numbers", key)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or table.size == 0:
        raise InputError(f"{title} has shape {table.shape}", rule="it must be square, k rows of k numbers").at(key)
    if not np.isfinite(table).all() or (table < 0).any():
        what = f"{title} has a negative, NaN or infinite probability"
        raise InputError(what, rule="every one must lie in [0, 1]").at(key)
    return table


def normalised(rows: FloatArray) -> FloatArray:
    """Return the rows (the last axis) divided by their sums."""
    sums = rows.sum(axis=-1, keepdims=True)
    # up to rounding they stay as they are, so that a belief reads back from its own text without change
    return np.where(np.abs(sums - 1) <= 2.0**-52 * rows.shape[-1], rows, rows / sums)


def checked_start(initial: Start, k: int) -> str | tuple[float, ...]:
    """Return "stationary", "any" or the first entry's probabilities of k states."""
    if isinstance(initial, str):
        if initial not in ("stationary", "any"):
            raise InputError(
                f"initial is {initial!r}",
                fix=(
                    f'write "stationary", "any" or a list of {k} '
                    f"probabilities{did_you_mean(initial, ['stationary', 'any'])}"
                ),
            ).at("initial")
        return initial
    masses = list_of(initial, "the initial distribution", "initial", "[0.2, 0.8]")
    law = np.array([float(as_fraction(mass, "an initial probability", "initial")) for mass in masses])
    if law.shape != (k,):
        raise InputError(f"initial must be {k} probabilities that sum to 1, one per state").at("initial")
    if not np.isfinite(law).all() or (law < 0).any() or abs(law.sum() - 1) > ROW_TOLERANCE:
        raise no_law("the initial distribution", law.sum()).at("initial")
    return tuple(map(float, normalised(law[None, :])[0]))
