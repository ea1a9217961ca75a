"""Two laws after Laplace noise: their exact largest log-ratio, and the smallest scale that bounds it.

Let A(y) = sum_j p_j e^{-|y - x_j| / b}, proportional to the density of p * Lap(b), and B the same for q. Between
neighbouring atoms of the two laws A and B are combinations of e^{y/b} and e^{-y/b}, so A/B is a Moebius function of
e^{2y/b}, hence monotone; beyond the last atom it is constant. So its extremes are at atoms. On the integers discrete
Laplace noise has the same masses up to a factor, so the same numbers hold for it. The ratio falls when b grows,
because Lap(b') is Lap(b) plus independent noise for b' > b (DESIGN 5.1).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from takifugu.errors import InputError
from takifugu.laws.atoms import Array, Atom, Floats, same_type
from takifugu.laws.exact_ratio import log_masses, masses_need_noise
from takifugu.laws.laplace_pair import UNIT, Pair, above, below, smallest_scale
from takifugu.laws.pmf import SUM_TOLERANCE, Pmf
from takifugu.laws.rationals import Number, as_epsilon, round_up
from takifugu.laws.search import SCALE_TOLERANCE
from takifugu.laws.transport import w_infinity, w_infinity_candidates

#: Below the first the scale is W-infinity/epsilon without a search; above the second budgets count as the second.
_LEAST_BUDGET, _LARGEST_BUDGET = Fraction(1, 10**12), Fraction(10**6)
#: Below this a noised mass may have lost terms to underflow.
_DENSE_FLOOR = 2.0**-900
#: Bound on the error of a difference of two logarithms of float masses.
_LOG_ERROR = 2.0**-38


def laplace_log_ratio(p: Pmf, q: Pmf, scale: Number) -> float:
    """Return sup over y of |log (p*Lap)(y)/(q*Lap)(y)| for Laplace noise of density proportional to e^{-|x|/scale}.

    Scale 0 means no noise: the largest log-ratio of the masses, infinite when the supports differ. The value is the
    nearest that float64 gives; `laplace_log_ratio_bounds` encloses it. Source: DESIGN 5.1.

    Raises InputError when the scale is negative or not finite.

    >>> round(laplace_log_ratio(Pmf([0], [1]), Pmf([2], [1]), 4.0), 12)
    0.5
    """
    checked = _checked(scale)
    if checked:
        return max(Pair.of(p, q).log_ratios(checked))
    return max(laplace_log_ratio_directed(p, q, 0), laplace_log_ratio_directed(q, p, 0))


def laplace_log_ratio_directed(p: Pmf, q: Pmf, scale: Number) -> float:
    """Return sup over y of log (p*Lap)(y)/(q*Lap)(y), one way only; scale 0 means no noise.

    >>> round(laplace_log_ratio_directed(Pmf([0], [1]), Pmf([0, 1], [0.5, 0.5]), 0), 9)
    0.693147181
    >>> laplace_log_ratio_directed(Pmf([0, 1], [0.5, 0.5]), Pmf([0], [1]), 0)
    inf
    """
    checked = _checked(scale)
    if checked:
        return Pair.of(p, q).log_ratios(checked)[0]
    x, y = same_type(p.values, q.values)
    place = np.minimum(np.searchsorted(y, x), len(y) - 1)
    if not np.array_equal(y[place], x):
        return math.inf
    return float((log_masses(p) - log_masses(q)[place]).max())


def laplace_log_ratio_bounds(p: Pmf, q: Pmf, scale: float) -> tuple[float, float]:
    """Return numbers below and above sup |log (p*Lap)/(q*Lap)| for a positive scale, rounding errors included.

    >>> low, high = laplace_log_ratio_bounds(Pmf([0], [1]), Pmf([2], [1]), 4.0)
    >>> low <= 0.5 <= high < low + 1e-12
    True
    """
    return Pair.of(p, q).bounds(_checked(scale))


def exact_laplace_scale(p: Pmf, q: Pmf, epsilon: Number) -> float:
    """Return the smallest scale b of Laplace noise after which no log-ratio of p and q exceeds epsilon, either way.

    Rounded up by at most 2**-36 relative (above 4,000 atoms: plus what float64 cannot decide; below epsilon = 1e-12:
    W-infinity/epsilon). 0.0 when the masses themselves satisfy it, decided exactly. Float masses count as the binary
    fractions that they are.

    Raises InputError unless epsilon is finite and above zero.

    >>> from fractions import Fraction
    >>> p = Pmf([1, 2, 3, 4], [Fraction(1, 5), Fraction(9, 40), Fraction(1, 2), Fraction(3, 40)])
    >>> q = Pmf([2, 3, 4, 5], [Fraction(3, 40), Fraction(1, 2), Fraction(9, 40), Fraction(1, 5)])
    >>> round(exact_laplace_scale(p, q, 1), 9)
    1.154526559
    """
    budget = _budget(epsilon)
    if not masses_need_noise(p, q, budget):
        return 0.0
    pair = Pair.of(p, q)
    upper = above(Fraction(w_infinity_candidates(p, q)[-1]) / budget)
    if budget < _LEAST_BUDGET:
        return upper
    if not (p.exact and q.exact):
        slack = SCALE_TOLERANCE
        while not pair.verdict(upper, budget, digits=False)[1]:
            upper, slack = upper * (1 + slack), 2 * slack
    return smallest_scale(pair, upper, budget)


def w_infinity_verified(p: Pmf, q: Pmf, epsilon: Number) -> Atom:
    """Return W-infinity for a mechanism: the w of `wasserstein_scale`.

    >>> w_infinity_verified(Pmf([0, 1], [0.5, 0.5]), Pmf([1, 2], [0.5, 0.5]), 1)
    1
    """
    return wasserstein_scale(p, q, epsilon)[0]


def wasserstein_scale(p: Pmf, q: Pmf, epsilon: Number) -> tuple[Atom, Fraction]:
    """Return (w, scale): W-infinity of p and q and the scale w/epsilon of Laplace noise (004 Algorithm 1).

    Exact laws: w is exact and the scale is rounded up only if long. Float masses: the first of
    `w_infinity_candidates` whose largest log-ratio at the returned scale, w/epsilon rounded up by at most 2**-34,
    is at most epsilon; the last candidate needs no check (DESIGN 4, Numbers).

    Raises InputError unless epsilon is finite and above zero.

    >>> wasserstein_scale(Pmf([0], [1]), Pmf([3], [1]), 0.5)
    (3, Fraction(6, 1))
    """
    budget = _budget(epsilon)
    if p.exact and q.exact:
        distance = w_infinity(p, q)
        return distance, round_up(Fraction(distance) / budget)
    candidates = w_infinity_candidates(p, q)
    pair = Pair.of(p, q)
    for distance in candidates:
        scale = round_up(Fraction(distance) / budget * (1 + Fraction(SCALE_TOLERANCE)))
        if not distance and not masses_need_noise(p, q, budget):
            return distance, scale
        if distance and (distance == candidates[-1] or pair.verdict(below(scale), budget, digits=True)[1]):
            return distance, scale
    return candidates[-1], Fraction(0)


def _budget(epsilon: Number) -> Fraction:
    """Read epsilon; one beyond what exponentials hold is replaced by a smaller, stricter one."""
    return min(as_epsilon(epsilon), _LARGEST_BUDGET)


def _checked(scale: Number) -> float:
    value = float(scale)
    if not math.isfinite(value) or value < 0:
        raise InputError(f"scale is {scale!r}: it must be a finite number, 0 (no noise) or above")
    return value


def laplace_log_ratio_dense(left: Array, right: Array, scale: Number) -> Floats:
    """Return, for each row k, sup over y of |log (left_k * Lap)(y)/(right_k * Lap)(y)| for noise of this scale.

    `left` and `right` have shape (rows, columns); a row is a law on `columns` consecutive integers, one grid unit
    apart. Scale 0 means no noise. A row whose noised masses are too small for this arithmetic gets an upper bound.

    Raises InputError when the shapes differ, an entry is negative or not finite, a row does not sum to one, or the
    scale is negative or not finite.

    >>> laplace_log_ratio_dense(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]), 2.0)
    array([0.5])
    """
    return _dense_ratios(*_columns(left, right), _checked(scale))


def exact_laplace_scale_dense(left: Array, right: Array, epsilon: Number) -> float:
    """Return the smallest scale at which no row's log-ratio exceeds epsilon: the largest `exact_laplace_scale`.

    Rounded up by at most 2**-34 + 1e-12/epsilon relative (up to 10,000 columns). Rows that the running scale covers
    are dropped; the worst of the others is solved, then the rest is looked at again.

    Raises InputError as `laplace_log_ratio_dense`, and unless epsilon is finite and above zero.

    >>> round(exact_laplace_scale_dense(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]), 0.5), 9)
    2.0
    """
    budget = _budget(epsilon)
    p, q = _columns(left, right)
    error = _dense_error(len(p), float(budget))
    limit, slack = below(budget) - error, 2 * SCALE_TOLERANCE + 4 * error / float(budget)
    rows = np.flatnonzero(_dense_ratios(p, q, 0.0) > below(budget) - _LOG_ERROR)
    ratios = _dense_ratios(p[:, rows], q[:, rows], 1.0 / float(budget))
    scale = 0.0
    while rows.size:
        worst = int(np.argmax(ratios))
        row = rows[worst]
        found = exact_laplace_scale(Pmf.on_integers(0, p[:, row]), Pmf.on_integers(0, q[:, row]), budget)
        rows, ratios = np.delete(rows, worst), np.delete(ratios, worst)
        if found and rows.size:
            scale = max(scale, found * (1 + slack))
            ratios = _dense_ratios(p[:, rows], q[:, rows], scale * (1 - (8 * scale + 8) * UNIT))
            rows, ratios = rows[ratios > limit], ratios[ratios > limit]
        scale = max(scale, found)
    return scale


def _columns(left: Array, right: Array) -> tuple[Floats, Floats]:
    """Check rows of laws and return them as columns, each divided by its sum."""
    p, q = np.asarray(left, dtype=np.float64), np.asarray(right, dtype=np.float64)
    if p.ndim != 2 or p.shape != q.shape or not p.shape[1]:
        raise InputError(f"laws have shapes {p.shape} and {q.shape}: give two equal shapes (rows, columns)")
    for laws in (p, q):
        sums = laws.sum(axis=1)
        if not (np.isfinite(laws).all() and (laws >= 0).all() and (np.abs(sums - 1.0) <= SUM_TOLERANCE).all()):
            raise InputError("a row is no law: its entries must be finite, at least 0, and sum to 1 within 1e-9")
    p, q = (np.ascontiguousarray((laws / laws.sum(axis=1, keepdims=True)).T) for laws in (p, q))
    return p, q


def _dense_error(columns: int, loss: float) -> float:
    """Return a bound on the rounding error of a log-ratio found by `_dense_ratios` for a positive scale.

    Each of the two sums of each law rounds twice a step, and is made of three powers off by 4 UNIT or less. The factor
    e^{-1/scale} is common to both laws, so its own error (8 UNIT, an allowance of 4 ulp) is that of a scale off by
    (8 scale + 2) UNIT; the caller leaves that room.
    """
    return 2 * UNIT * (4 * (math.isqrt(columns) + 2) + 32 + 8 * loss)


def _dense_ratios(p: Floats, q: Floats, scale: float) -> Floats:
    if not scale:
        with np.errstate(divide="ignore", invalid="ignore"):
            gaps = np.abs(np.log(p) - np.log(q))
        return np.asarray(np.where(np.isnan(gaps), 0.0, gaps).max(axis=0))
    held = (p > 0) | (q > 0)
    step = math.exp(-1.0 / scale)
    a, b = (np.where(held, _dense_sums(laws, step), 1.0) for laws in (p, q))
    smallest = np.minimum(a.min(axis=0), b.min(axis=0))
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        quotients = a / b
        ratios: Floats = np.log(np.maximum(quotients.max(axis=0), 1.0 / quotients.min(axis=0)))
    for row in np.flatnonzero(smallest < _DENSE_FLOOR):
        laws = Pmf.on_integers(0, p[:, row]), Pmf.on_integers(0, q[:, row])
        ratios[row] = Pair.of(*laws).bounds(scale)[1]
    return ratios


def _dense_sums(masses: Floats, step: float) -> Floats:
    """Return sum over j of m_j step^|i - j| for every column of masses, in blocks of rows for few rounding steps."""
    size, columns = masses.shape
    height = math.isqrt(size) + 1
    blocks = -(-size // height)
    padded = np.zeros((blocks * height, columns))
    padded[:size] = masses
    terms = padded.reshape(blocks, height, columns)
    ahead, behind = terms.copy(), terms.copy()
    for row in range(1, height):
        ahead[:, row] += step * ahead[:, row - 1]
        behind[:, -1 - row] += step * behind[:, -row]
    powers = step ** np.arange(1.0, height + 1)
    from_left, from_right = np.zeros(columns), np.zeros(columns)
    for block in range(blocks):
        first, last = ahead[block], behind[blocks - 1 - block]
        first += np.multiply.outer(powers, from_left)
        last += np.multiply.outer(powers[::-1], from_right)
        from_left, from_right = first[-1], last[0]
    sums = ahead.reshape(padded.shape)
    sums[:-1] += step * behind.reshape(padded.shape)[1:]
    return sums[:size]
