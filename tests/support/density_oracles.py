"""Continuous distributions the slow way: heights from the textbook, divergences by quadrature and by cutting into sets.

Nothing of takifugu is used but the value classes, whose numbers are read from their plain data.
"""

import itertools
import math
import warnings
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import strategies as st
from mpmath import mp
from scipy.integrate import quad
from scipy.optimize import brentq

from takifugu.numbers.densities.bates import Bates
from takifugu.numbers.densities.normal import Normal, NormalMixture
from takifugu.numbers.densities.piecewise_linear import PiecewiseLinear
from takifugu.numbers.densities.truncated import Truncated


def height(density: dict[str, Any]) -> Callable[[float], Any]:
    """Return the density, as a function to the digits of `mp.dps` at this call."""
    kind = density["kind"]
    if kind == "normal":
        return lambda x: mp.npdf(x, density["mean"], density["deviation"])
    if kind == "normal-mixture":
        total = mp.fsum(density["weights"])
        parts = list(zip(density["weights"], density["means"], density["deviations"], strict=True))
        return lambda x: mp.fsum(w * mp.npdf(x, m, s) for w, m, s in parts) / total
    if kind == "uniform-mean":
        n, low, high = density["count"], density["low"], density["high"]
        return lambda x: _irwin_hall(n, low, high, x, n - 1) * n / (mp.mpf(high) - mp.mpf(low))
    if kind == "tabulated":
        area = _trapezoids(density)
        return lambda x: _line(density, x) / area
    whole, (low, high) = height(density["whole"]), _range(density)
    share = mass(density["whole"], low, high)
    return lambda x: whole(x) / share if low <= x <= high else mp.mpf(0)


def _line(density: dict[str, Any], x: Any) -> Any:
    for (a, b), (left, right) in zip(pairwise(density["points"]), pairwise(density["heights"]), strict=True):
        if a <= x <= b:
            return left + (right - mp.mpf(left)) * (mp.mpf(x) - a) / (mp.mpf(b) - a)
    return mp.mpf(0)


def _trapezoids(density: dict[str, Any], x: Any = mp.inf) -> Any:
    """Return the integral up to x, without scaling."""
    total = mp.mpf(0)
    for (a, b), (left, right) in zip(pairwise(density["points"]), pairwise(density["heights"]), strict=True):
        if x <= a:
            break
        wide = min(mp.mpf(x), b) - a
        total += (left + (right - mp.mpf(left)) * wide / (mp.mpf(b) - a) / 2) * wide
    return total


def _irwin_hall(n: int, low: float, high: float, x: Any, order: int) -> Any:
    """Return the alternating sum of powers `order`: the density for n - 1, times its step, the distribution for n."""
    with mp.extradps(2 * n + 10):
        u = n * (mp.mpf(x) - mp.mpf(low)) / (mp.mpf(high) - mp.mpf(low))
        if u < 0 or u > n:
            return mp.mpf(u > n and order == n)
        return mp.fsum((-1) ** k * mp.binomial(n, k) * (u - k) ** order for k in range(n + 1) if u >= k) / mp.factorial(
            order
        )


def below(density: dict[str, Any], x: Any) -> Any:
    """Return P(X <= x)."""
    return distribution(density)(x)


def distribution(density: dict[str, Any]) -> Callable[[Any], Any]:
    """Return P(X <= x) as a function of x, to the digits of `mp.dps` at this call."""
    kind = density["kind"]
    if kind == "normal":
        return lambda x: mp.ncdf(x, density["mean"], density["deviation"])
    if kind == "normal-mixture":
        parts = list(zip(density["weights"], density["means"], density["deviations"], strict=True))
        total = mp.fsum(density["weights"])
        return lambda x: mp.fsum(w * mp.ncdf(x, m, s) for w, m, s in parts) / total
    if kind == "uniform-mean":
        return lambda x: _irwin_hall(density["count"], density["low"], density["high"], x, density["count"])
    if kind == "tabulated":
        area = _trapezoids(density)
        return lambda x: _trapezoids(density, x) / area
    whole, (low, high) = distribution(density["whole"]), _range(density)
    first, last = whole(low), whole(high)
    return lambda x: (whole(min(max(x, low), high)) - first) / (last - first)


def mass(density: dict[str, Any], low: Any, high: Any) -> Any:
    """Return the mass of an interval, from the distribution function."""
    whole = distribution(density)
    return whole(high) - whole(low)


def _range(density: dict[str, Any]) -> tuple[Any, Any]:
    return (-mp.inf if density["low"] is None else density["low"]), (
        mp.inf if density["high"] is None else density["high"]
    )


def _kinks(density: dict[str, Any]) -> list[float]:
    kind = density["kind"]
    if kind == "normal":
        return [density["mean"] + density["deviation"] * k for k in range(-9, 10)]
    if kind == "normal-mixture":
        parts = zip(density["means"], density["deviations"], strict=True)
        return sorted({m + s * k for m, s in parts for k in range(-9, 10)})
    if kind == "uniform-mean":
        n, low, high = density["count"], density["low"], density["high"]
        return [low + (high - low) * k / n for k in range(n)] + [high]
    if kind == "tabulated":
        return list(density["points"])
    ends = {end for end in (density["low"], density["high"]) if end is not None}
    low, high = _range(density)
    return sorted({x for x in _kinks(density["whole"]) if low < x < high} | ends)


def hockey_stick(p: Any, q: Any, epsilon: float) -> float:
    """Return the integral of (p - e^epsilon q)_+ by scipy's quadrature between changes of sign: right to 1e-9 or so."""
    one, other = height(p.to_dict()), height(q.to_dict())
    factor = math.exp(epsilon)

    def excess(x: float) -> float:
        return float(one(x)) - factor * float(other(x))

    kinks = sorted({*_kinks(p.to_dict()), *_kinks(q.to_dict())})
    total = 0.0
    for a, b in pairwise(kinks):
        inside = np.linspace(a + (b - a) * 1e-13, b - (b - a) * 1e-13, 7)
        values = [excess(x) for x in inside]
        roots = [
            brentq(excess, x, y, xtol=1e-14) for (x, v), (y, w) in pairwise(zip(inside, values, strict=True))
            if (v > 0) != (w > 0)
        ]  # fmt: skip
        for low, high in pairwise([inside[0], *roots, inside[-1]]):
            if excess((low + high) / 2) > 0:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # it cannot reach 1e-13 in every cell
                    total += quad(excess, low, high, epsabs=1e-13)[0]
    return total


def max_divergence(p: Any, q: Any, eta: float, cells: int = 3200) -> float:
    """Return sup of log (p(T) - eta)/q(T) over unions T of narrow cells (Zhang22 Definition 6): from below, to 1e-2.

    Of all sets with one mass under p, that of the cells with the largest ratios has the least mass under q.
    """
    one, other = p.to_dict(), q.to_dict()
    kinks = sorted({*_kinks(one), *_kinks(other)})
    ends = np.unique(np.concatenate([np.linspace(kinks[0], kinks[-1], cells + 1), kinks]))
    middles = (ends[1:] + ends[:-1]) / 2
    masses = []
    for density in (one, other):
        of = height(density)
        masses.append(np.array([float(of(x)) for x in middles]) * np.diff(ends))
    with np.errstate(all="ignore"):
        order = np.argsort(-np.where(masses[0] > 0, masses[0] / masses[1], 0.0))
        left, right = (np.cumsum(part[order]) for part in masses)
        ratio = np.log((left - eta) / right)
    return float(np.nanmax(np.where(left > eta, ratio, -np.inf)))


def noisy_hockey_stick(p: Any, q: Any, sigma: float, epsilon: float, cells: int = 1500) -> float:
    """Return the divergence after normal noise: both densities as many narrow point masses; right to 1e-5 or so."""
    laws = []
    for density in (p.to_dict(), q.to_dict()):
        kinks = _kinks(density)
        ends = np.unique(np.concatenate([np.linspace(kinks[0], kinks[-1], cells), kinks]))
        below_each = distribution(density)
        weights = np.diff([float(below_each(x)) for x in ends])
        laws.append(((ends[1:] + ends[:-1]) / 2, weights))
    first, last = (edge(x for places, _ in laws for x in places) for edge in (min, max))
    y = np.linspace(first - 8 * sigma, last + 8 * sigma, cells)
    one, other = (
        (weights * np.exp(-(((y[:, None] - places) / sigma) ** 2) / 2)).sum(axis=1) / (sigma * math.sqrt(2 * math.pi))
        for places, weights in laws
    )
    return float(np.maximum(one - math.exp(epsilon) * other, 0.0).sum() * (y[1] - y[0]))


def noisy_log_ratio(p: Any, q: Any, scale: float, cells: int = 2000) -> float:
    """Return the largest log-ratio after Laplace noise, either way, of both densities as narrow point masses."""
    kinks = sorted({*_kinks(p.to_dict()), *_kinks(q.to_dict())})
    ends = np.unique(np.concatenate([np.linspace(kinks[0], kinks[-1], cells), kinks]))
    middles = (ends[1:] + ends[:-1]) / 2
    noisy = []
    for density in (p.to_dict(), q.to_dict()):
        below_each = distribution(density)
        weights = np.diff([float(below_each(x)) for x in ends])
        noisy.append(np.exp(-np.abs(middles[:, None] - middles) / scale) @ weights)
    return float(np.abs(np.log(noisy[0] / noisy[1])).max())


def far_log_ratio(p: Any, q: Any, scale: float) -> float:
    """Return the largest limit of the log-ratio of two normals after Laplace noise, far out on either side."""
    square = (p["deviation"] ** 2 - q["deviation"] ** 2) / (2 * scale**2)
    return max(abs(square + sign * (p["mean"] - q["mean"]) / scale) for sign in (1, -1))


_PLACES = st.floats(-3, 3).map(lambda x: round(x, 3))
_SPREADS = st.floats(0.25, 3).map(lambda x: round(x, 3))
normals = st.builds(Normal, _PLACES, _SPREADS)


@st.composite
def _mixtures(draw: Any) -> NormalMixture:
    count = draw(st.integers(1, 3))
    weights = draw(st.lists(st.integers(1, 9), min_size=count, max_size=count))
    several = [draw(st.lists(values, min_size=count, max_size=count)) for values in (_PLACES, _SPREADS)]
    return NormalMixture([w / sum(weights) for w in weights], *several)


mixtures = _mixtures()
uniform_means = st.builds(lambda n, low, width: Bates(n, low, low + width), st.integers(1, 8), _PLACES, _SPREADS)


@st.composite
def cuts(draw: Any, wholes: Any) -> Truncated:
    whole = draw(wholes)
    low, high = whole.mean - draw(_SPREADS) * whole.deviation, whole.mean + draw(_SPREADS) * whole.deviation
    return Truncated(whole, *draw(st.sampled_from([(low, high), (low, None), (None, high)])))


@st.composite
def _tables(draw: Any) -> PiecewiseLinear:
    steps = draw(st.lists(_SPREADS, min_size=1, max_size=4))
    points = list(itertools.accumulate([draw(_PLACES), *steps]))
    heights = draw(st.lists(st.integers(0, 5), min_size=len(points), max_size=len(points)).filter(any))
    total = sum((b - a) * (u + v) / 2 for (a, b), (u, v) in zip(pairwise(points), pairwise(heights), strict=True))
    return PiecewiseLinear(points, [height / total for height in heights])


tables = _tables()
densities = st.one_of(normals, mixtures, uniform_means, cuts(st.one_of(normals, mixtures, uniform_means)))
#: Those that the audit knows without noise, and with it.
audited = st.one_of(normals, mixtures, uniform_means, cuts(st.one_of(normals, mixtures)))
#: Those whose tails or ends are cut, and curves.
cut_or_drawn = st.one_of(uniform_means, tables, cuts(st.one_of(normals, mixtures, tables, uniform_means)))


def laplace_log_ratio(p: Any, q: Any, scale: float, share: int) -> float:
    """Return the largest log p/q after Laplace noise over places scale/share apart, by Simpson's rule and recursions.

    The log-density moves by at most 1/scale a unit, so the supremum is at most 1/share above. Densities may jump at
    places, not between them.
    """
    ends = [end for law in (p, q) for end in _kinks(law.to_dict())]
    step, inside = scale / share, 1e-9
    places = np.arange(min(ends) - scale, max(ends) + scale + step, step)
    logs = []
    for law in (p, q):
        of = height(law.to_dict())
        nodes = np.array([[float(of(x)) for x in (y + inside, y + step / 2, y + step - inside)] for y in places])
        before, behind = np.zeros(len(places)), np.zeros(len(places))
        far = np.exp(-np.array([0, step / 2, step]) / scale) * step / 6 * np.array([1, 4, 1])
        forward, backward = nodes @ far[::-1], nodes @ far
        for k in range(len(places) - 1):
            before[k + 1] = before[k] * math.exp(-step / scale) + forward[k]
        for k in reversed(range(len(places) - 1)):
            behind[k] = behind[k + 1] * math.exp(-step / scale) + backward[k]
        logs.append(np.log(before + behind))
    return float((logs[0] - logs[1]).max())
