"""W-infinity of two densities, from above: how far apart their quantiles lie at most.

With distribution functions F and G it is the supremum over levels u of |F^-1(u) - G^-1(u)|. The line is cut into cells.
For a level u in (F(l), F(h)] the first quantile lies in (l, h], and the second between t(l) and T(h), where G(t(l)) <=
F(l) and G(T(h)) >= F(h) for certain; so |F^-1(u) - G^-1(u)| <= max(h - t(l), T(h) - l). Cells that may exceed the
largest difference seen are halved.

Where both densities have no end, their last masses are those of the widest normal part: P(X > x) is w (1 + r(x)) times
that of the normal one, and 0 <= r(x) <= r(x_0) for x >= x_0. If the two widest deviations differ, the difference of the
quantiles has no bound. If both are d, quantiles z, z' in deviations with P(N > z') = e^L P(N > z) differ by at most
|L|/min(z, z'), because -d/dz log P(N > z) >= z: beyond x_0 the quantiles differ by the means' difference and
d max(0, L)/z_0 at most, in the direction of L.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from takifugu.core.errors import Unsupported
from takifugu.numbers.atoms import Floats
from takifugu.numbers.densities import Continuous, edges_between
from takifugu.numbers.densities.bates import Bates
from takifugu.numbers.densities.normal import Normal, NormalMixture
from takifugu.numbers.densities.truncated import Truncated
from takifugu.numbers.rationals import float_above

#: Cells are halved until the bound is this near to what is attained, relatively, or there are this many of them.
CLOSE, _MOST_CELLS, _MOST_ROUNDS = 2.0**-20, 20_000, 60
#: The analytic bound of a tail takes over at least so many deviations out, and must at most so many.
_FAR, _FARTHEST = 30.0, 37.0
_ROOM = 2.0**-12
#: Halvings of an interval for a quantile: beyond float64.
_HALVINGS = 70
_UP = 1 + 2.0**-48


@dataclass(frozen=True)
class Tail:
    """The last mass of a density towards one side: `weight` (1 + r) times a normal one's, 0 <= r <= `rest`."""

    #: Mirrored towards the lower side; it holds from `start` on, and `weight` has both ends of an enclosure.
    mean: float
    deviation: float
    weight: tuple[float, float]
    start: float
    rest: float


def farthest_move(p: Continuous, q: Continuous) -> float:
    """Bound W-infinity of two densities from above, nearly; Unsupported, with the reason, where it is infinite."""
    shift = _shift(p, q)
    if shift is not None:
        return float_above(abs(shift))
    first, last, beyond = _core(p, q)
    places = np.unique(np.concatenate((edges_between(p, q, first, last), np.linspace(first, last, 257))))
    lower, upper = _quantiles(p, q, places)
    largest = max(beyond, float(np.max(np.abs(places - _middle(lower, upper)), initial=0.0)))
    left, right, low, high, bound = places[:-1], places[1:], lower[:-1], upper[1:], beyond
    for turn in range(_MOST_ROUNDS):
        at_most = np.maximum(right - low, high - left)
        is_open = at_most > largest * (1 + CLOSE)
        middle = left + (right - left) / 2
        is_open &= (middle > left) & (middle < right)
        if turn == _MOST_ROUNDS - 1 or is_open.sum() > _MOST_CELLS:
            is_open &= False
        bound = max(bound, float(at_most[~is_open].max(initial=0.0)))
        left, right, low, high, middle = (values[is_open] for values in (left, right, low, high, middle))
        if not len(left):
            break
        lower, upper = _quantiles(p, q, middle, (low, high))
        largest = max(largest, float(np.max(np.abs(middle - _middle(lower, upper)), initial=0.0)))
        left, right = np.concatenate((left, middle)), np.concatenate((middle, right))
        low, high = np.concatenate((low, lower)), np.concatenate((upper, high))
    return bound * _UP


def _middle(lower: Floats, upper: Floats) -> Floats:
    return lower + (upper - lower) / 2


def _shift(p: Continuous, q: Continuous) -> Fraction | None:
    """Return how far q is p moved, None where it is another."""
    if p == q:
        return Fraction(0)
    if isinstance(p, Normal) and isinstance(q, Normal) and p.deviation == q.deviation:
        return Fraction(q.mean) - Fraction(p.mean)
    if isinstance(p, Bates) and isinstance(q, Bates) and p.count == q.count:
        low, high = Fraction(q.low) - Fraction(p.low), Fraction(q.high) - Fraction(p.high)
        return low if low == high else None
    is_mixed = isinstance(p, NormalMixture) and isinstance(q, NormalMixture)
    if not is_mixed or (p.weights, p.deviations) != (q.weights, q.deviations):  # type: ignore[attr-defined]
        return None
    moves = {Fraction(b) - Fraction(a) for a, b in zip(p.means, q.means, strict=True)}  # type: ignore[attr-defined]
    return moves.pop() if len(moves) == 1 else None


def _core(p: Continuous, q: Continuous) -> tuple[float, float, float]:
    """Return where p is cut into cells, and the largest move outside."""
    ends, beyond = [], 0.0
    for side, place in ((-1, 0), (1, 1)):
        tails = _tail(p, side), _tail(q, side)
        if None in tails:
            if tails != (None, None):
                raise Unsupported(_no_bound("one has an end where the other has none"))
            ends.append(p.range[place])
            continue
        end, move = _beyond(p, q, *tails, side)  # type: ignore[arg-type]
        ends.append(end)
        beyond = max(beyond, move)
    return ends[0], ends[1], beyond


def _no_bound(reason: str) -> str:
    return (
        f"the quantiles of two compared densities lie apart without bound ({reason}), so W-infinity is infinite: use "
        'mechanism="laplace-exact", or "gaussian-exact" with a delta above 0'
    )


def _beyond(p: Continuous, q: Continuous, first: Tail, other: Tail, side: int) -> tuple[float, float]:
    """Return the place where the tail begins, and the largest move from there on."""
    if first.deviation != other.deviation:
        deviations = f"their widest normal parts have the deviations {first.deviation:g} and {other.deviation:g}"
        raise Unsupported(_no_bound(deviations))
    reached = _quantiles(q, p, np.array([side * other.start]))
    start = max(first.start, *(side * float(end[0]) for end in reached))
    across = min(side * float(end[0]) for end in _quantiles(p, q, np.array([side * start])))
    farthest = max((start - first.mean) / first.deviation, (across - other.mean) / other.deviation)
    if not farthest <= _FARTHEST or across < other.start - other.deviation * _ROOM:
        raise Unsupported("nothing bounds the tails of two densities: they begin where masses are below 1e-290")
    least = min((start - first.mean) / first.deviation, (across - other.mean) / other.deviation) * (1 - 2.0**-40)
    most_log = math.log(first.weight[1] / other.weight[0]) + math.log1p(first.rest) + 2.0**-40
    least_log = math.log(first.weight[0] / other.weight[1]) - math.log1p(other.rest) - 2.0**-40
    apart, spread = first.mean - other.mean, first.deviation / least
    return side * start, max(apart + spread * max(0.0, most_log), -apart + spread * max(0.0, -least_log)) * _UP


def _tail(law: Continuous, side: int) -> Tail | None:
    """Return the last mass of a density; None where it has an end."""
    if math.isfinite(law.range[0 if side < 0 else 1]):
        return None
    whole, share = law, (1.0, 1.0)
    while isinstance(whole, Truncated):
        share = (share[0] * whole.share[0], share[1] * whole.share[1])
        whole = whole.whole
    if not isinstance(whole, Normal | NormalMixture):
        raise Unsupported(f"nothing bounds the tails of a density that is {law.describe()}")
    normals = [(weight, side * part.mean, part.deviation) for weight, part in whole.parts]
    deviation, mean = max((spread, place) for _, place, spread in normals)
    weight = math.fsum(w for w, place, spread in normals if (place, spread) == (mean, deviation))
    others = [normal for normal in normals if normal[1:] != (mean, deviation)]
    start = mean + _FAR * deviation
    for _, place, spread in others:
        if spread < deviation:  # from here on the other part falls faster
            start = max(start, (place * deviation - mean * spread) / (deviation - spread))
    rest = math.fsum(w / weight * _ratio(place, spread, mean, deviation, start) for w, place, spread in others)
    start += deviation * _ROOM  # where a rounded quantile certainly lies beyond
    return Tail(mean, deviation, (weight / share[1], weight / share[0]), start, rest * (1 + 2.0**-20))


def _ratio(place: float, spread: float, mean: float, deviation: float, x: float) -> float:
    """Return P(N' > x)/P(N > x) for two normal numbers."""
    from scipy.special import log_ndtr

    return float(np.exp(log_ndtr((place - x) / spread) - log_ndtr((mean - x) / deviation)))


def _quantiles(
    p: Continuous, q: Continuous, places: Floats, bracket: tuple[Floats, Floats] | None = None
) -> tuple[Floats, Floats]:
    """Bound the quantiles of q at the levels that p has in some places: G(lower) <= F(x) <= G(upper)."""
    # Each is seen in the smaller tail; `bracket` holds such bounds already.
    below, above = _masses(p, places)
    lowest, highest = bracket or _bracket(q, places.shape)

    def searched(side: int) -> Floats:
        good, bad = (lowest, highest) if side < 0 else (highest, lowest)
        for _ in range(_HALVINGS):
            middle = _middle(good, bad)
            if ((middle == good) | (middle == bad)).all():
                break
            less, more = _masses(q, middle)
            if side > 0:
                holds = (less[0] >= below[1]) | (more[1] <= above[0])
            else:
                holds = (less[1] <= below[0]) | (more[0] >= above[1])
            good, bad = np.where(holds, middle, good), np.where(holds, bad, middle)
        if bracket is not None or math.isfinite(q.range[0 if side < 0 else 1]):
            return good
        return np.where(good == (lowest if side < 0 else highest), side * math.inf, good)

    return searched(-1), searched(1)


def _bracket(law: Continuous, shape: tuple[int, ...]) -> tuple[Floats, Floats]:
    ends = zip(law.range, (law.edges[0], law.edges[-1]), strict=True)
    low, high = (np.full(shape, end if math.isfinite(end) else edge) for end, edge in ends)
    return low, high


def _masses(law: Continuous, places: Floats) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
    """Bound the masses below and above some places."""
    ends = np.full(places.shape, math.inf)
    return law.mass(-ends, places), law.mass(places, ends)
