"""The mean positive part of a sum of independent copies, E[(Z_1 + ... + Z_n)_+], enclosed from both sides.

Atoms on the lattice are not split. A sum of them is then exact, and above all it is exactly 0 where it is 0: sums that
cancel have a large probability where values are few, and no finer lattice would tell them from sums near 0.

Each atom of Z is split, keeping its mean, onto its two neighbours on a lattice of step h. That makes Z larger in convex
order, hence the mean positive part of the sum larger: the upper end. With S the sum, D what splitting adds to it
(E[D | S] = 0) and S' = S + D,

    E[S'_+] - E[S_+] = E[S'_+ - S_+ - D 1(S > 0)] <= E[|D| 1(|S'| <= |D|)] <= t P(|S'| <= t) + E[|D| 1(|D| > t)],

because S'_+ - S_+ - D 1(S > 0) is 0 where S and S' have one sign and |S'| otherwise, where |S'| <= |D|. D is a sum of n
terms that, given Z, have mean 0 and lie in an interval of length h, so that it is sub-Gaussian with variance proxy
v = n h^2 / 4 (Hoeffding) and the last term is at most 2 (t + v/t) e^(-t^2/2v). That is the lower end. Where all terms
are on the lattice D is 0, so that only the rest of P(|S'| <= t) counts: a sum may well be 0, exactly.

The law of S' comes from one Fourier transform, raised to the power n. Before, Z' is tilted by e^(theta z), theta >= 0,
so that S' has mean about 0 and the transform's error is relative to what is asked for: E[S'_+] = M^n E_theta[S'_+
e^(-theta S')], M the moment-generating function. Three errors widen the enclosure: the transform's (Higham 2002,
Theorem 24.2, in the 2-norm), what wraps around the window, and the rounding of masses and values. What wraps is bounded
by Chernoff for S: |D| <= nh, so that tilted P(|S'| > r + nh) is at most e^(theta n h) times tilted P(|S| > r).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from takifugu.core.arrays import BoolArray, FloatArray, IntArray
from takifugu.core.errors import InputError
from takifugu.numbers.outward_rounding import UNIT
from takifugu.numbers.search import are_neighbours, halved, mean

#: An atom counts as on the lattice up to this share of it, and this share of the largest; what it is moved is charged.
_OF_ITSELF, _OF_LARGEST = 2.0**-44, 2.0**-50
#: So many of the heaviest atoms are tried.
_TRIED = 64


@dataclass(frozen=True, eq=False)
class Split:
    """A distribution split onto a lattice, with every atom's mean."""

    #: In steps.
    places: IntArray
    masses: FloatArray
    #: Which masses are of whole atoms.
    whole: BoolArray
    #: The mean distance by which atoms next to the lattice were moved onto it.
    moved: float


def step_of(values: FloatArray, weights: FloatArray, least: float) -> float:
    """Return a step from `least` that divides the heaviest values."""
    largest, common = float(np.abs(values).max()), 0.0
    for place in np.argsort(-weights, kind="stable")[:_TRIED].tolist():
        value = abs(float(values[place]))
        if value > _OF_LARGEST * largest:  # 0 is on every lattice
            divisor, smaller = common, value
            while smaller > _OF_ITSELF * largest:  # Euclid's greatest common divisor, about
                divisor, smaller = smaller, abs(divisor - round(divisor / smaller) * smaller)
            if divisor >= least and (times := round(value / divisor)):
                common = value / times
    if common < least:
        return least
    return common / math.floor(common / least)


def split(values: FloatArray, masses: FloatArray, step: float) -> Split:
    """Return a distribution split between neighbouring points of the lattice."""
    nearest = np.rint(values / step)
    off = np.abs(values - nearest * step)
    on = off <= _OF_ITSELF * np.abs(values) + _OF_LARGEST * np.abs(values).max()
    below = np.floor(values[~on] / step)
    share = values[~on] / step - below
    places = np.concatenate([nearest[on], below, below + 1]).astype(np.int64)
    weights = np.concatenate([masses[on], masses[~on] * (1 - share), masses[~on] * share])
    is_whole = np.concatenate([np.ones(int(on.sum()), dtype=bool), np.zeros(2 * len(below), dtype=bool)])
    return Split(places, weights, is_whole, float(off[on] @ masses[on]))


#: Points of the transform: the first try, and the most.
_FIRST, _MOST = 2**14, 2**22
#: The share of the (tilted) law that may lie outside the window.
_OUTSIDE = 1e-18
#: The relative width that ends the search.
NARROW = 1e-6
#: From here on floats round e^epsilon by 1 and more, next to the 1 that a delta is at most: it is not computed.
LARGEST_EPSILON = 35


@dataclass(frozen=True)
class Enclosure:
    """The lower and upper bound of a value."""

    low: float
    high: float


def mean_positive_part(values: FloatArray, masses: FloatArray, count: int, narrow: float = NARROW) -> Enclosure:
    """Enclose E[(Z_1 + ... + Z_count)_+] of independent copies of a distribution."""
    # `values` and `masses` have one length; the masses' sum is about 1, and is made exact.
    values, masses = _checked(values, masses, count)
    low, high = float(values.min()), float(values.max())
    mean = float(values @ masses)
    if high <= 0:
        return Enclosure(0.0, 0.0)
    if low >= 0 or low == high:
        exact, error = count * max(mean, 0.0), 4 * len(values) * UNIT * count * high
        return Enclosure(float(max(exact - error, 0.0)), float(exact + error))
    theta = _tilt(values, masses)
    reach = _reach(values, masses, count, theta)
    best, points = Enclosure(0.0, math.inf), _FIRST
    # Until `narrow` relative to the upper end, or as 2**22 points and floating point allow.
    while points <= _MOST:
        enclosure = _on_lattice(values, masses, count, theta, reach, points)
        if enclosure is not None:
            best = Enclosure(max(best.low, enclosure.low), min(best.high, enclosure.high))
            if best.high - best.low <= narrow * best.high:
                break
        points *= 4
    limit = count * float(np.maximum(values, 0.0) @ masses) * (1 + 1e-9)  # E[S_+] <= n E[Z_+]
    return Enclosure(float(best.low), float(min(best.high, limit)))


def _checked(values: FloatArray, masses: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    values, masses = np.asarray(values, dtype=float), np.asarray(masses, dtype=float)
    if values.ndim != 1 or values.shape != masses.shape or not len(values):
        raise InputError(f"there are {values.shape} values and {masses.shape} masses", fix="give one mass per value")
    if not (np.isfinite(values).all() and np.isfinite(masses).all()) or (masses < 0).any() or masses.sum() <= 0:
        raise InputError("the values must be finite, and the masses finite, not negative and not all 0")
    if count < 1:
        raise InputError(f"the sum has {count} terms", rule="it has one at least").at("count")
    positive = masses > 0
    different, place = np.unique(values[positive], return_inverse=True)
    joined = np.bincount(place, weights=masses[positive])
    return different, joined / joined.sum()


def _tilt(values: FloatArray, masses: FloatArray) -> float:
    """Return theta >= 0 with a tilted mean about 0."""
    if values @ masses >= 0:
        return 0.0
    low, high = 0.0, 1.0 / float(values.max())
    while _tilted_mean(values, masses, high) < 0:
        low, high = high, 2 * high
    return halved(lambda theta: _tilted_mean(values, masses, theta) < 0, low, high, are_neighbours, mean)


def _tilted_mean(values: FloatArray, masses: FloatArray, theta: float) -> float:
    shifted = theta * values
    weights = masses * np.exp(shifted - shifted.max())
    return float(values @ weights / weights.sum())


def _tilted(exponents: FloatArray, masses: FloatArray) -> tuple[FloatArray, float]:
    """Return masses times e^exponent over their sum, and its logarithm."""
    top = float(exponents.max())
    weights = masses * np.exp(exponents - top)
    total = float(weights.sum())
    return weights / total, math.log(total) + top


def _on_lattice(
    values: FloatArray, masses: FloatArray, count: int, theta: float, reach: float, points: int
) -> Enclosure | None:
    """Enclose by so many points, if the window is wide enough."""
    least = 2 * reach / (points - 2 * count - 4)
    if least <= 0 or not math.isfinite(least):
        return None
    step = step_of(values, masses * np.exp(theta * (values - values.max())), least)
    law = split(values, masses, step)
    # Tilted on the lattice, so that the tilt is exact for the split law whatever theta is.
    exponent = np.asarray(theta * (law.places * step), dtype=np.float64)
    weights, log_total = _tilted(exponent, law.masses)
    if abs(count * log_total) > 700:
        return None  # beyond floats, or 0 among them
    scale = math.exp(count * log_total)
    sums, error = _sums(law.places, weights, points, count)
    # S' = step * J with J taken in the window [-points/2, points/2).
    index = np.arange(points)
    index = np.where(index < points // 2, index, index - points)
    at = (step * index).astype(np.float64)
    weight = np.where(at > 0, at * np.exp(np.minimum(-theta * at, 0.0)), 0.0)
    rounding = count * UNIT * (16 + 4 * float(np.abs(exponent - exponent.max()).max())) + 64 * UNIT * len(values)
    within = float(np.maximum(sums, 0.0) @ weight)
    noise = error * float(np.linalg.norm(weight))
    if theta > 0:
        largest = min(1 / (math.e * theta), count * float(values.max()) + step)
    else:
        largest = count * values.max()
    # Values are taken as they are, but their place on the lattice is rounded: the sum is 1-Lipschitz in each.
    place = 4 * UNIT * count * float(np.abs(values) @ masses) + count * law.moved * (1 + 2.0**-40)
    wrapped = _OUTSIDE * math.exp(min(theta * count * step, 700.0))
    outside = wrapped * largest + place / scale
    high = scale * (within * (1 + rounding) + noise + outside)
    gap = 0.0
    if not law.whole.all():
        exact, of_exact = _sums(law.places[law.whole], weights[law.whole], points, count)
        doubt = error + of_exact + wrapped + rounding * float(np.linalg.norm(sums) + np.linalg.norm(exact))
        gap = _lattice_gap(sums - exact, at, theta, scale, step, count, doubt)
    low = scale * (within * (1 - rounding) - noise - outside) - gap
    return Enclosure(max(low, 0.0), high)


def _reach(values: FloatArray, masses: FloatArray, count: int, theta: float) -> float:
    """Return r with the tilted sum in [-r, r], but for a mass of _OUTSIDE (Chernoff)."""
    weights, _ = _tilted(theta * values, masses)
    spread = max(float(values.max()), -float(values.min()))
    deviation = math.sqrt(max(float(values**2 @ weights) - float(values @ weights) ** 2, 0.0) * count)
    farthest = 0.0
    for sign in (1.0, -1.0):
        least = count * spread
        # P(S > r) <= e^(n c(f) - f r) for f > 0, c(f) the log of E[e^(f Z)]; half of _OUTSIDE lies on each side.
        for factor in np.geomspace(1e-3, 1e3, 61) / max(deviation, spread * 1e-12):
            moved = sign * factor * values
            peak = float(moved.max())
            mass = float(np.exp(moved - peak) @ weights) + len(values) * 2.0**-1074  # what may have underflowed
            least = min(least, (count * (math.log(mass) + peak) - math.log(_OUTSIDE / 2)) / factor)
        farthest = max(farthest, least)
    return farthest * (1 + 1e-9)


def _sums(places: IntArray, masses: FloatArray, points: int, count: int) -> tuple[FloatArray, float]:
    """Return the sum's masses around a circle, and their error's 2-norm."""
    law = np.bincount(places % points, weights=masses, minlength=points).astype(np.float64)
    return np.fft.irfft(np.fft.rfft(law) ** count, points), _transform_error(law, points, count)


def _transform_error(law: FloatArray, points: int, count: int) -> float:
    """Bound the 2-norm of irfft(rfft(law)**count)'s error (Higham 2002, Theorem 24.2)."""
    rounding = 8 * UNIT * math.log2(points)
    norm = float(np.linalg.norm(law))
    # No entry of the spectrum exceeds 1 by more.
    grown = math.exp(min(count * rounding * math.sqrt(points) * norm, 50.0))
    return float((count * rounding * norm + 16 * count * UNIT * norm) * grown + rounding * norm)


def _lattice_gap(
    sums: FloatArray, at: FloatArray, theta: float, scale: float, step: float, count: int, error: float
) -> float:
    """Bound the addition by splitting, from the tilted law of S'."""

    def likely(t: float) -> float:
        is_inside = np.abs(at) <= t
        factors = np.exp(np.clip(-theta * at[is_inside], -700, 700))
        return scale * (float(np.maximum(sums[is_inside], 0.0) @ factors) + error * float(np.linalg.norm(factors)))

    return least_gap(likely, step, count)


def least_gap(likely: Callable[[float], float], step: float, count: int) -> float:
    """Return the least of t P(|S'| <= t) + 2(t+v/t) e^(-t^2/2v)."""
    proxy, best = count * step**2 / 4, math.inf
    for factor in (3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 12.0):
        t = factor * math.sqrt(proxy)
        best = min(best, t * likely(t) * (1 + 1e-9) + 2 * (t + proxy / t) * math.exp(-(factor**2) / 2))
    return best
