"""S(p, q; rho) = log sup of p.phi / q.phi over the likelihoods phi that a profile admits, never rounded down.

The cone is K(rho) = {phi >= 0: phi(u) <= e^rho(u, v) phi(v)}. For few states all its extreme rays are listed (`rays`),
for more a dual certificate bounds the supremum (`certified`). S is not expansive, S(.; rho + eta) <= S(.; rho) + eta,
so rounding errors only add (docs/theory/influence.md).
"""

from __future__ import annotations

import numpy as np

from takifugu.influence.certified import Programs
from takifugu.influence.rays import MOST_STATES, extreme_rays
from takifugu.influence.rounding import UNIT, FloatArray, closed, up

#: Beyond this many states the supremum over a cone of pairs is replaced by that over [m, e^s m], s the largest pair.
EXACT_STATES = 12
#: Ratios beyond e to this power are not computed: the largest of them bounds the supremum.
LARGEST_POWER = 300.0


def suprema(
    rows: FloatArray, ratio: FloatArray, relative_error: float = 0.0, programs: Programs | None = None
) -> FloatArray:
    """Return R[a, b] >= S(rows[a], rows[b]; ratio) for all pairs of rows, shape (m, m), of diagonal 0.

    `rows` (m, k) are probabilities, `ratio` (k, k) is rho >= 0. A relative error of the entries of `rows` is covered by
    `relative_error`. `programs` remembers which constraints were tight in the last call, where not all rays are listed.
    Source: Theorem 1 and section 3 of docs/theory/influence.md.

    >>> suprema(np.array([[0.9, 0.1], [0.4, 0.6]]), np.array([[0.0, 1.0], [1.0, 0.0]])).round(6).tolist()
    [[0.0, 0.411565], [0.549948, 0.0]]
    """
    ratio = closed(ratio)
    largest = float(ratio.max(initial=0.0))
    if largest == 0.0 or len(rows) < 2:
        return np.zeros((len(rows), len(rows)))
    states = rows.shape[1]
    if largest > LARGEST_POWER:
        bound = np.full((len(rows), len(rows)), largest)
    elif states <= MOST_STATES:
        bound = over_rays(rows, ratio)
    elif states <= EXACT_STATES or programs is not None:
        programs = programs or Programs()
        bound = programs.bound(rows, ratio)
        bound = bound if programs.is_solved else np.minimum(bound, over_levels(rows, largest))
    else:
        bound = over_levels(rows, largest)
    bound = np.minimum(bound, largest)  # phi(u) <= e^largest phi(v) for all u, v
    if relative_error:
        bound = up(bound + 2 * relative_error * (1 + relative_error))
    bound = np.maximum(bound, 0.0)
    np.fill_diagonal(bound, 0.0)
    return np.asarray(bound)


def over_rays(rows: FloatArray, ratio: FloatArray) -> FloatArray:
    """Return the largest log-ratio over the extreme rays of a closed cone."""
    return _log_ratios(rows @ extreme_rays(ratio), rows.shape[1], float(ratio.max()))


def over_levels(rows: FloatArray, largest: float) -> FloatArray:
    """Return the supremum over phi in [m, e^largest m]: phi has two values, e^largest where p/q is large (a prefix).

    Sound for every cone whose largest pair is `largest`; up to 12 times the supremum over the cone of pairs.
    """
    count, states = rows.shape
    best = np.zeros((count, count))
    low = np.exp(-largest)
    for b in range(count):
        with np.errstate(divide="ignore", invalid="ignore"):
            likelihood_ratio = np.where(rows[b] > 0, rows / rows[b], np.where(rows > 0, np.inf, -1.0))
        order = np.argsort(-likelihood_ratio, axis=1, kind="stable")
        high_p = np.cumsum(np.take_along_axis(rows, order, axis=1), axis=1)
        high_q = np.cumsum(rows[b][order], axis=1)
        low_p, low_q = _rests(rows, order), _rests(np.broadcast_to(rows[b], rows.shape), order)
        with np.errstate(divide="ignore"):
            logs = np.log(high_p + low * low_p) - np.log(high_q + low * low_q)
        best[:, b] = logs.max(axis=1)
    return _padded(best, states, largest)


def _rests(rows: FloatArray, order: np.ndarray) -> FloatArray:
    """Return what is left of each row behind each prefix of the order: sums of positive terms, no difference."""
    ordered = np.take_along_axis(np.ascontiguousarray(rows), order, axis=1)
    behind = np.cumsum(ordered[:, ::-1], axis=1)[:, ::-1]
    return np.hstack([behind[:, 1:], np.zeros((len(rows), 1))])


def _log_ratios(means: FloatArray, states: int, size: float) -> FloatArray:
    """Return the largest over the columns r of log means[a, r] / means[b, r], rounded up."""
    logs = np.log(means)
    largest = (logs[:, None, :] - logs[None, :, :]).max(axis=2)
    return _padded(largest, states, size + float(np.abs(logs).max(initial=1.0)))


def _padded(logs: FloatArray, states: int, size: float) -> FloatArray:
    """Return logs plus what rounding can hide: means of positive terms, exponentials, two logarithms."""
    return np.asarray(up(logs + (2 * states + 24 + 4 * max(size, 1.0)) * UNIT))
