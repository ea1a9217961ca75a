"""Densities of real-valued outputs in many digits, from the definition of each kind and nothing that calibration uses.

`curve(kind as plain data, sigma)` is the density of X + sigma Z for a standard normal Z. With D = sigma^2 + s^2:

* a normal X with mean m and deviation s has the normal density of variance D;
* cut to [l, h] with mass c, that density times the probability that a normal variable with mean
  (m sigma^2 + y s^2)/D and variance s^2 sigma^2/D lies in [l, h], over c (Bayes' rule);
* for the mean of n uniform numbers of step t = (high - low)/n, whose density is 1/(t (n-1)!) times the sum over k of
  (-1)^k C(n, k) ((x - low)/t - k)_+^{n-1}, each power becomes (sigma/t)^{n-1} (n-1)! I_{n-1}((y - low - k t)/sigma),
  where I_{-1} and I_0 are the normal density and distribution function and j I_j(u) = u I_{j-1}(u) + I_{j-2}(u).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from mpmath import mp, mpf

from takifugu.core.errors import Unsupported
from takifugu.core.plain import Plain


@dataclass(frozen=True)
class Curve:
    """A density, the places where it is not smooth, a range with all but 1e-18 of the mass, and a length.

    Between kinks the density is smooth on the scale of `length`.
    """

    at: Callable[[mpf], mpf]
    kinks: tuple[mpf, ...]
    low: mpf
    high: mpf
    length: mpf


#: Deviations of a normal distribution beyond which it has a mass of 1e-19.
_REACH = 9


def curve(description: Plain, sigma: mpf | float) -> Curve:
    """Return the density of X + sigma Z, X as `description` has it; call and use it with the digits that are wanted.

    Raises Unsupported for a kind that is not known here.
    """
    noise = mp.mpf(sigma)
    if description["kind"] == "blurred":  # with normal noise of its own
        return curve(description["whole"], mp.sqrt(noise**2 + description["deviation"] ** 2))
    if description["kind"] == "uniform-mean":
        return _uniform_mean(description["count"], mp.mpf(description["low"]), mp.mpf(description["high"]), noise)
    low, high = mp.ninf, mp.inf
    while description["kind"] == "truncated":  # a range within a range
        low = low if description["low"] is None else max(low, mp.mpf(description["low"]))
        high = high if description["high"] is None else min(high, mp.mpf(description["high"]))
        description = description["whole"]
    if description["kind"] == "normal":
        return _normals([(1, description["mean"], description["deviation"])], low, high, noise)
    if description["kind"] == "normal-mixture":
        parts = list(zip(description["weights"], description["means"], description["deviations"], strict=True))
        return _normals(parts, low, high, noise)
    raise Unsupported(f"the audit does not know the density of a {description['kind']} that is cut")


def with_laplace(description: Plain, scale: mpf | float) -> Curve:
    """Return the density of X + scale L, X normal or a mixture of normals, L standard Laplace.

    For X of mean m and deviation s it is (A + B)/(2 b), A = e^{s^2/(2 b^2) - (y - m)/b} Phi((y - m)/s - s/b) and B the
    same with m - y in place of y - m. Raises Unsupported for any other X.
    """
    b = mp.mpf(scale)
    if description["kind"] == "normal":
        normals = [(mp.mpf(1), mp.mpf(description["mean"]), mp.mpf(description["deviation"]))]
    elif description["kind"] == "normal-mixture":
        rows = zip(description["weights"], description["means"], description["deviations"], strict=True)
        total = mp.fsum(description["weights"])
        normals = [(mp.mpf(w) / total, mp.mpf(m), mp.mpf(s)) for w, m, s in rows]
    else:
        raise Unsupported(f"the audit does not know a {description['kind']} density with Laplace noise")

    def side(distance: mpf, s: mpf) -> mpf:
        if not s:
            return mp.exp(-distance / b) * (mp.mpf(distance > 0) + mp.mpf(distance == 0) / 2)
        return mp.exp(s**2 / (2 * b**2) - distance / b) * mp.erfc((s / b - distance / s) / mp.sqrt(2)) / 2

    def at(y: mpf) -> mpf:
        return mp.fsum(w * (side(y - m, s) + side(m - y, s)) for w, m, s in normals) / (2 * b)

    reach = [(m, _REACH * s + 42 * b) for _, m, s in normals]
    lengths = [s for _, _, s in normals if s]
    kinks = tuple(m for _, m, s in normals if not s)
    return Curve(cache(at), kinks, min(m - r for m, r in reach), max(m + r for m, r in reach), min([b, *lengths]))


def _normals(parts: Sequence[tuple[float, float, float]], low: mpf, high: mpf, noise: mpf) -> Curve:
    total = mp.fsum(mp.mpf(weight) for weight, _, _ in parts)
    normals = [(mp.mpf(w) / total, mp.mpf(m), mp.mpf(s)) for w, m, s in parts]
    cut = mp.isfinite(low) or mp.isfinite(high)
    if not noise and not all(s for _, _, s in normals):
        raise Unsupported("the answer follows from what is hidden, and no noise is added: it has no density")
    inside = mp.fsum(w * _between((low - m) / s, (high - m) / s) for w, m, s in normals) if cut else mp.mpf(1)

    def at(y: mpf) -> mpf:
        if not noise:
            return mp.fsum(w * _density((y - m) / s) / s for w, m, s in normals) / inside if low <= y <= high else 0
        return mp.fsum(w * noisy(y, m, s) for w, m, s in normals) / inside

    def noisy(y: mpf, m: mpf, s: mpf) -> mpf:
        spread = mp.sqrt(s**2 + noise**2)
        height = _density((y - m) / spread) / spread
        if not cut:
            return height
        centre, width = (m * noise**2 + y * s**2) / spread**2, s * noise / spread
        return height * _between((low - centre) / width, (high - centre) / width)

    first = max(low, min(m - _REACH * s for _, m, s in normals)) - _REACH * noise
    last = min(high, max(m + _REACH * s for _, m, s in normals)) + _REACH * noise
    kinks = () if noise else tuple(end for end in (low, high) if mp.isfinite(end))
    spread = min(mp.sqrt(s**2 + noise**2) for _, _, s in normals)
    return Curve(cache(at), kinks, first, last, min(noise, spread) if cut and noise else spread)


def _uniform_mean(n: int, low: mpf, high: mpf, noise: mpf) -> Curve:
    step, middle = (high - low) / n, (low + high) / 2
    # The terms alternate: below the middle the largest is at most e^n (1 + sigma/t)^n or so times the sum.
    digits = mp.dps + math.ceil(n * (1 + float(mp.log10(1 + noise / step))))

    def at(y: mpf) -> mpf:
        with mp.workdps(digits):
            near = middle - abs(y - middle)  # symmetric
            if not noise:
                powers = (((near - low) / step - k) for k in range(n + 1))
                terms = [(-1) ** k * mp.binomial(n, k) * u ** (n - 1) for k, u in enumerate(powers) if u >= 0]
                return mp.fsum(terms) / (step * mp.factorial(n - 1)) if near >= low else mp.mpf(0)
            terms = [
                (-1) ** k * mp.binomial(n, k) * _repeated((near - low - k * step) / noise, n - 1) for k in range(n + 1)
            ]
            return mp.fsum(terms) * (noise / step) ** (n - 1) / step

    kinks = () if noise else tuple(low + k * step for k in range(n + 1))
    return Curve(cache(at), kinks, low - _REACH * noise, high + _REACH * noise, noise or high - low)


def _repeated(u: mpf, order: int) -> mpf:
    """Return I_order(u), the integral from -infinity of I_{order - 1}."""
    before, now = _density(u), mp.erfc(-u / mp.sqrt(2)) / 2
    for j in range(1, order + 1):
        before, now = now, (u * now + before) / j
    return now


def _density(z: mpf) -> mpf:
    return mp.exp(-z * z / 2) / mp.sqrt(2 * mp.pi)


def _between(left: mpf, right: mpf) -> mpf:
    """Return P(left < Z < right), from the smaller tails."""
    if left > 0:
        left, right = -right, -left
    return (mp.erfc(-right / mp.sqrt(2)) - mp.erfc(-left / mp.sqrt(2))) / 2
