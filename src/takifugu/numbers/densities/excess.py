"""The hockey-stick divergence of two densities, from above, and the least lambda at which it is small enough.

hs(lambda) = sup over sets T of p(T) - e^lambda q(T), the integral of (p - e^lambda q)_+. The line is cut into cells; on
a cell where p exceeds e^lambda q for certain the integral is a difference of masses, where it certainly does not it is
0, and a doubtful cell is charged with what it can hold at most, and cut again while that matters. A doubtful cell of
width h around a change of sign holds h^2 or so, so few cuts are enough.

D^eta(p||q) = sup over T with p(T) >= eta of log (p(T) - eta)/q(T) (Zhang22 Definition 6) is the least lambda with
hs(lambda) <= eta: both say that p(T) <= e^lambda q(T) + eta for every T.
"""

from __future__ import annotations

import math

import numpy as np

from takifugu.core.errors import InputError
from takifugu.numbers.densities import TINY, Continuous, check_density, edges_between, finite
from takifugu.numbers.densities.truncated import Truncated
from takifugu.numbers.search import smallest_safe

#: The search for signs ends when the doubtful charge is this small next to what is certain, or at this many cells.
_TARGET, _MOST_CELLS, _MOST_ROUNDS = 2.0**-32, 20_000, 60
#: A density below this stands for none.
_UNSEEN = 4 * TINY
#: A charge below this is left as it is.
_NOTHING = 1e-280
#: Beyond this e^lambda is not computed: a divergence above it counts as infinite.
LARGEST = 600.0
#: How exactly a divergence is found, absolutely.
WIDTH = 2.0**-36


def density_hockey_stick(p: Continuous, q: Continuous, epsilon: float) -> float:
    """Bound the integral of (p - e^epsilon q)_+ from above, nearly, for epsilon up to 600."""
    if finite(epsilon, "epsilon") > LARGEST:
        raise InputError(
            f"epsilon is {epsilon!r}", rule="e^epsilon leaves float64", fix="use at most 600"
        ).at("epsilon")
    factor = math.exp(epsilon) * (1 - 2.0**-50)
    if p == q:
        return max(0.0, -math.expm1(epsilon)) * (1 + 2.0**-50)
    return min(1.0, _excess(p, q, factor))


def _excess(p: Continuous, q: Continuous, factor: float) -> float:
    places = np.array(sorted({*p.edges, *q.edges}))
    places = np.unique(np.concatenate((places, np.linspace(places[0], places[-1], 129))))
    left, right = places[:-1], places[1:]
    starts, ends = [], []
    charge = certain = 0.0
    for turn in range(_MOST_ROUNDS):
        p_least, p_most = p.bounds(left, right)
        q_least, q_most = q.bounds(left, right)
        positive, negative = p_least >= factor * q_most, p_most <= factor * q_least
        starts.append(left[positive])
        ends.append(right[positive])
        certain += float(((p_least - factor * q_most) * (right - left))[positive].sum())
        doubtful = ~positive & ~negative
        charges = ((p_most - factor * np.maximum(q_least, 0.0)) * (right - left))[doubtful] * (1 + 2.0**-40)
        left, right = left[doubtful], right[doubtful]
        small = charges <= (certain * _TARGET + _NOTHING) / max(len(left), 1)
        middle = left + (right - left) / 2
        small |= (middle <= left) | (middle >= right) | (turn == _MOST_ROUNDS - 1) | (len(left) > _MOST_CELLS)
        if small.any():
            charge += float(np.minimum(charges[small], p.mass(left[small], right[small])[1]).sum())
        left, right, middle = left[~small], right[~small], middle[~small]
        if not len(left):
            break
        left, right = np.concatenate((left, middle)), np.concatenate((middle, right))
    begin, finish = np.sort(np.concatenate(starts)), np.sort(np.concatenate(ends))
    begin, finish = begin[~np.isin(begin, finish)], finish[~np.isin(finish, begin)]  # touching cells are joined
    outside = p.mass(np.array([-math.inf, places[-1]]), np.array([places[0], math.inf]))[1]
    between = p.mass(begin, finish)[1] - factor * q.mass(begin, finish)[0]
    return float(np.maximum(between, 0.0).sum() + charge + outside.sum()) * (1 + 2.0**-40)


def max_divergence(p: Continuous, q: Continuous, eta: float = 0.0) -> float:
    """Bound the eta-approximate max-divergence D^eta(p||q) from above (Zhang22 Definitions 5 and 6)."""
    # Of densities only: of discrete distributions it is infinite at every eta < 1 (errata E8b).
    spare = finite(eta, "eta")
    if not 0 <= spare < 1:
        raise InputError(f"eta is {eta!r}", rule="it must be at least 0 and below 1").at("eta")
    for density in (p, q):
        check_density(density)
    if not spare:
        return _largest_log_ratio(p, q)
    # So where p has more than eta of its mass where q has none.
    if density_hockey_stick(p, q, LARGEST) > spare:
        return math.inf
    ratio = smallest_safe(
        lambda ratio: density_hockey_stick(p, q, math.log(ratio)), math.exp(LARGEST), spare,
        low=(1 - spare) * (1 - WIDTH), first=math.inf,
    )  # fmt: skip
    return math.log(ratio)


def _largest_log_ratio(p: Continuous, q: Continuous) -> float:
    """Bound log p/q everywhere, by cells cut as needed."""
    if isinstance(p, Truncated) and p.whole == q:  # cut out of q: the ratio is one over the share that remains
        return -math.log(q.mass(*(np.array([end]) for end in p.range))[0][0]) + 2.0**-50
    low, high = p.range
    if p == q or not (math.isfinite(low) and math.isfinite(high)):
        return 0.0 if p == q else math.inf
    places = edges_between(p, q, low, high)
    left, right = places[:-1], places[1:]
    largest = 0.0
    for turn in range(_MOST_ROUNDS):
        (p_least, p_most), (q_least, q_most) = p.bounds(left, right), q.bounds(left, right)
        with np.errstate(divide="ignore", invalid="ignore"):
            most = np.where(p_most <= _UNSEEN, 0.0, np.where(q_least > 0, p_most / q_least, math.inf))
            attained = float(np.where(q_most > 0, p_least / q_most, 0.0).max(initial=0.0))
        open_ = most > attained * (1 + WIDTH)
        if turn == _MOST_ROUNDS - 1 or len(left) > _MOST_CELLS or not open_.any():
            largest = max(largest, float(most.max(initial=0.0)))
            break
        largest = max(largest, float(most[~open_].max(initial=0.0)))
        left, right = left[open_], right[open_]
        middle = left + (right - left) / 2
        left, right = np.concatenate((left, middle)), np.concatenate((middle, right))
    return math.log(largest) * (1 + 2.0**-50) + 2.0**-50 if math.isfinite(largest) else math.inf


def distance_from(p: Continuous, q: Continuous, eta: float) -> float:
    """Bound max(D^eta(p||q), D^eta(q||p)) from above (Zhang22 eq. (3))."""
    # Zhang22's lambda_eta is the largest over the secret's values: p the answer's density, q the normal one for it.
    return max(max_divergence(p, q, eta), max_divergence(q, p, eta))


def charge_at(p: Continuous, q: Continuous, closeness: float) -> float:
    """Return an eta with p(T) <= e^closeness q(T) + eta for every T, and with p and q exchanged."""
    return max(density_hockey_stick(p, q, closeness), density_hockey_stick(q, p, closeness))
