"""Stochastic matrices and start laws: reading them, and the stationary law."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from takifugu.errors import InputError, did_you_mean

FloatArray = npt.NDArray[np.float64]
Start = str | Sequence[float] | FloatArray

#: Rows that miss a sum of one by no more than this are taken as rounded decimals and renormalised.
ROW_TOLERANCE = 1e-9


def stationary_law(matrix: FloatArray) -> FloatArray:
    """Return the unique stationary law of a stochastic matrix; InputError where it is not unique.

    Grassmann-Taksar-Heyman elimination: no subtraction, so every mass keeps its relative accuracy.
    """
    closed = _closed_classes(matrix > 0)
    if len(closed) != 1:
        raise InputError(
            f"the chain has {len(closed)} closed classes of states, so its stationary law is not unique: "
            'give initial=[...] or initial="any"'
        )
    members = closed[0]
    p = matrix[np.ix_(members, members)].copy()
    n = len(p)
    for last in range(n - 1, 0, -1):
        p[:last, last] /= p[last, :last].sum()
        p[:last, :last] += np.outer(p[:last, last], p[last, :last])
    law = np.zeros(n)
    law[0] = 1.0
    for i in range(1, n):
        law[i] = law[:i] @ p[:i, i]
    stationary = np.zeros(len(matrix))
    stationary[members] = law / law.sum()
    stationary.setflags(write=False)
    return stationary


def _closed_classes(steps: npt.NDArray[np.bool_]) -> list[list[int]]:
    n = len(steps)
    reach = steps | np.eye(n, dtype=bool)
    for k in range(n):
        reach |= np.outer(reach[:, k], reach[k])
    classes: dict[tuple[int, ...], list[int]] = {}
    for i in range(n):
        if all(reach[j, i] for j in range(n) if reach[i, j]):
            members = [j for j in range(n) if reach[i, j]]
            classes[tuple(members)] = members
    return list(classes.values())


def stochastic_matrix(matrix: Sequence[Sequence[float]] | FloatArray) -> FloatArray:
    """Return a square table of probabilities whose rows sum to one; InputError with the fault where it is none."""
    try:
        table = np.array([[float(p) for p in row] for row in matrix], dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("the matrix is not a square table of numbers: give k rows of k probabilities") from error
    if table.ndim != 2 or table.shape[0] != table.shape[1] or table.size == 0:
        raise InputError(f"the matrix has shape {table.shape}: it must be square, k rows of k probabilities")
    if not np.isfinite(table).all() or (table < 0).any():
        raise InputError("the matrix has a negative, NaN or infinite probability: every one must lie in [0, 1]")
    sums = table.sum(axis=1)
    for row, total in enumerate(sums):
        if abs(total - 1) > ROW_TOLERANCE:
            raise InputError(
                f"row {row} of the matrix sums to {total:.12g}: it must sum to 1 (within {ROW_TOLERANCE:g})"
            )
    table = normalised(table)
    table.setflags(write=False)
    return table


def normalised(rows: FloatArray) -> FloatArray:
    """Return the rows divided by their sums; rows that sum to one up to rounding stay as they are.

    So a belief reads back from its own text without change.
    """
    sums = rows.sum(axis=1, keepdims=True)
    return np.where(np.abs(sums - 1) <= 2.0**-52 * rows.shape[1], rows, rows / sums)


def checked_start(initial: Start, k: int) -> str | tuple[float, ...]:
    """Return "stationary", "any" or a law of the first entry over k states; InputError for anything else."""
    if isinstance(initial, str):
        if initial not in ("stationary", "any"):
            raise InputError(
                f'initial is {initial!r}: write "stationary", "any" or a list of {k} probabilities'
                f"{did_you_mean(initial, ['stationary', 'any'])}"
            )
        return initial
    law = np.array([float(p) for p in initial])
    if law.shape != (k,) or not np.isfinite(law).all() or (law < 0).any() or abs(law.sum() - 1) > ROW_TOLERANCE:
        raise InputError(f"initial must be {k} probabilities that sum to 1, one a state")
    return tuple(float(p) for p in normalised(law[None, :])[0])
