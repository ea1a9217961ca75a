"""Densities of real-valued outputs in many digits, from the definition of each kind and nothing that calibration uses.

`curve(kind as plain data, sigma)` is the density of X + sigma Z for a standard normal Z. With D = sigma^2 + s^2:

* a normal X with mean m and deviation s has the normal density of variance D;
* cut to [l, h] with mass c, that density times the probability that a normal variable with mean
  (m sigma^2 + y s^2)/D and variance s^2 sigma^2/D lies in [l, h], over c (Bayes' rule);
* for the mean of n uniform numbers of step t = (high - low)/n, whose density is 1/(t (n-1)!) times the sum over k of
  (-1)^k C(n, k) ((x - low)/t - k)_+^{n-1}, each power becomes (sigma/t)^{n-1} (n-1)! I_{n-1}((y - low - k t)/sigma),
  where I_{-1} and I_0 are the normal density and distribution function and j I_j(u) = u I_{j-1}(u) + I_{j-2}(u).

Each is a sum of products of functions that rise up to a peak and fall behind it, so that its least and largest value on
a cell are enclosed by those at the ends and the peak. The mass of a cell is a difference of tails; of a cut normal
density with noise it is Gauss quadrature in parts of at most 2 sigma: its derivatives are those of a mixture of normal
densities of deviation sigma, so that twelve nodes err by less than 1e-18 a part.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from mpmath import mp, mpf

from takifugu.core.errors import Unsupported
from takifugu.core.plain import Plain

#: A function of a place, or of two.
Function = Callable[[mpf], mpf]


@dataclass(frozen=True)
class Hill:
    """A function with one peak, rising before it and falling behind."""

    at: Function
    peak: mpf

    def bounds(self, low: mpf, high: mpf) -> tuple[mpf, mpf]:
        """Return its least and its largest value from `low` to `high`."""
        ends = self.at(low), self.at(high)
        top = self.at(self.peak) if low < self.peak < high else max(ends)
        return min(ends), top


@dataclass(frozen=True)
class Curve:
    """A density: a sum of weighted products of hills.

    The mass between two places is known, too. Between the first and the last of `ends` of its cells lies all but 1e-18
    of the mass. `shape` is what two densities have in common where one is a log-concave density and the other the same
    one, moved from one `centre` to another.
    """

    parts: tuple[tuple[mpf, tuple[Hill, ...]], ...]
    mass: Callable[[mpf, mpf], mpf]
    ends: tuple[mpf, ...]
    shape: object = None
    centre: mpf | None = None

    def at(self, y: mpf) -> mpf:
        terms = []
        for weight, hills in self.parts:
            terms.append(weight * mp.fprod(hill.at(y) for hill in hills))
        return mp.fsum(terms)

    def bounds(self, low: mpf, high: mpf) -> tuple[mpf, mpf]:
        """Bound the density from `low` to `high`."""
        least, most = mp.mpf(0), mp.mpf(0)
        for weight, hills in self.parts:
            enclosed = [hill.bounds(low, high) for hill in hills]
            least += weight * mp.fprod(lower for lower, _ in enclosed)
            most += weight * mp.fprod(upper for _, upper in enclosed)
        return least, most


#: Deviations of a normal distribution beyond which it has a mass of 1e-19; cells on each side of a peak.
_REACH, _CELLS = 9, 12
#: Scales of a Laplace distribution beyond which it has a mass of 1e-19.
_LAPLACE_REACH = 42
#: Most cells of a cut density with noise.
_MOST_CELLS = 2000
#: Nodes and weights of Gauss and Legendre: exact for polynomials of degree 23.
_NODES = tuple(zip(*(column.tolist() for column in np.polynomial.legendre.leggauss(12)), strict=True))


def curve(description: Plain, sigma: mpf | float) -> Curve:
    """Return the density of X + sigma Z, X from its `description`.

    The caller sets the digits, here and in calls. Raises Unsupported for a kind that is not known here.
    """
    noise = mp.mpf(sigma)
    if description["kind"] == "blurred":  # with normal noise of its own
        return curve(description["whole"], mp.sqrt(noise**2 + description["deviation"] ** 2))
    if description["kind"] == "uniform-mean":
        return _uniform_mean(description, Repeated(noise, _repeated, _REACH * noise))
    low, high = mp.ninf, mp.inf
    while description["kind"] == "truncated":  # a range within a range
        if description["low"] is not None:
            low = max(low, mp.mpf(description["low"]))
        if description["high"] is not None:
            high = min(high, mp.mpf(description["high"]))
        description = description["whole"]
    normals = _normals(description)
    if normals is None:
        raise Unsupported(f"the audit does not know a {description['kind']} density, or one that is cut, with noise")
    if not noise and not all(s for _, _, s in normals):
        raise Unsupported("the answer follows from what is hidden, and no noise is added: it has no density")
    if not (mp.isfinite(low) or mp.isfinite(high)):
        return _bells([(w, m, _normal_bell(mp.sqrt(s**2 + noise**2))) for w, m, s in normals])
    if noise:
        return _cut_with_noise(normals, low, high, noise)
    return _cut(normals, low, high)


def with_laplace(description: Plain, scale: mpf | float) -> Curve:
    """Return the density of X plus Laplace noise of a scale.

    X is normal, a mixture of normals, or a mean of uniform numbers. Raises Unsupported for any other X.
    """
    if description["kind"] == "uniform-mean":
        noise = mp.mpf(scale)
        return _uniform_mean(description, Repeated(noise, _repeated_laplace, _LAPLACE_REACH * noise))
    if (normals := _normals(description)) is None:
        raise Unsupported(f"the audit does not know a {description['kind']} density with Laplace noise")
    return _bells([(w, m, _laplace_bell(s, mp.mpf(scale))) for w, m, s in normals])


@dataclass(frozen=True, eq=False)
class Bell:
    """A density symmetric about 0 and falling on both sides.

    Bells of equal `shape` are equal, and log-concave.
    """

    height: Function
    tail: Function
    reach: mpf
    shape: tuple[object, ...]

    def mass(self, low: mpf, high: mpf) -> mpf:
        """Return its mass between two places, from the smaller tails."""
        if low >= 0:
            return self.tail(low) - self.tail(high)
        if high <= 0:
            return self.mass(-high, -low)
        return 1 - self.tail(-low) - self.tail(high)


def _normals(description: Plain) -> list[tuple[mpf, mpf, mpf]] | None:
    """Return the weights, means and deviations of normals, if it has any."""
    if description["kind"] == "normal":
        return [(mp.mpf(1), mp.mpf(description["mean"]), mp.mpf(description["deviation"]))]
    if description["kind"] != "normal-mixture":
        return None
    rows = zip(description["weights"], description["means"], description["deviations"], strict=True)
    total = mp.fsum(map(mp.mpf, description["weights"]))
    return [(mp.mpf(w) / total, mp.mpf(m), mp.mpf(s)) for w, m, s in rows]


def _normal_bell(s: mpf) -> Bell:
    return Bell(lambda d: _density(d / s) / s, cache(lambda d: _beyond(d / s)), _REACH * s, ("normal", s))


def _laplace_bell(s: mpf, b: mpf) -> Bell:
    """Return the bell of a normal plus a Laplace number.

    The normal has deviation s, the Laplace scale b. Its height is (A + B)/(2 b), A = e^{s^2/(2 b^2) - d/b} Phi(d/s -
    s/b) and B the same with -d in place of d, and its tail 1 - Phi(d/s) + (A - B)/2.
    """

    def side(d: mpf) -> mpf:
        if not s:
            return mp.exp(-d / b) * (mp.mpf(d > 0) + mp.mpf(d == 0) / 2)
        return mp.exp(s**2 / (2 * b**2) - d / b) * _beyond(s / b - d / s)

    def tail(d: mpf) -> mpf:
        normal_tail = _beyond(d / s) if s else mp.mpf(d == 0) / 2
        return normal_tail + (side(d) - side(-d)) / 2

    reach = _REACH * s + _LAPLACE_REACH * b
    return Bell(lambda d: (side(d) + side(-d)) / (2 * b), cache(tail), reach, ("laplace", s, b))


def _bells(bells: Sequence[tuple[mpf, mpf, Bell]]) -> Curve:
    """Return the sum of weighted bells, each about a centre."""
    parts = [(w, (Hill(_moved(bell.height, centre), centre),)) for w, centre, bell in bells]

    def mass(low: mpf, high: mpf) -> mpf:
        return mp.fsum(w * bell.mass(low - centre, high - centre) for w, centre, bell in bells)

    ends: list[mpf] = []
    for _, centre, bell in bells:
        ends += [centre + bell.reach * k / _CELLS for k in range(-_CELLS, _CELLS + 1)]
    if len(bells) > 1:
        return Curve(tuple(parts), mass, tuple(ends))
    ((_, centre, bell),) = bells
    return Curve(tuple(parts), mass, tuple(ends), bell.shape, centre)


def _moved(height: Function, centre: mpf) -> Function:
    return cache(lambda y: height(abs(y - centre)))


def _cut(normals: Sequence[tuple[mpf, mpf, mpf]], low: mpf, high: mpf) -> Curve:
    """Return normal densities cut to a range, without noise."""
    total = mp.fsum(w * _normal_bell(s).mass(low - m, high - m) for w, m, s in normals)
    density = _bells([(w, m, _normal_bell(s)) for w, m, s in normals])

    def within(hill: Hill) -> Hill:
        return Hill(lambda y: hill.at(y) if low <= y <= high else mp.mpf(0), min(max(hill.peak, low), high))

    def mass(left: mpf, right: mpf) -> mpf:
        first, last = max(left, low), min(right, high)
        return density.mass(first, last) / total if first < last else mp.mpf(0)

    ends = [*(y for y in density.ends if low < y < high), *filter(mp.isfinite, (low, high))]
    parts = tuple((w / total, (within(hill),)) for w, (hill,) in density.parts)
    return Curve(parts, mass, tuple(ends))


def _cut_with_noise(normals: Sequence[tuple[mpf, mpf, mpf]], low: mpf, high: mpf, noise: mpf) -> Curve:
    """Return normal densities cut to a range, with normal noise."""
    total = mp.fsum(w * _normal_bell(s).mass(low - m, high - m) for w, m, s in normals)
    parts = [(w / total, _noisy_cut(m, s, low, high, noise)) for w, m, s in normals]
    first = max(low, min(m - _REACH * s for _, m, s in normals)) - _REACH * noise
    last = min(high, max(m + _REACH * s for _, m, s in normals)) + _REACH * noise
    count = max(_CELLS, math.ceil((last - first) / (2 * noise)))
    if count > _MOST_CELLS:
        raise Unsupported("the noise is so small beside a density that is cut that the audit would take too long")
    ends = tuple(first + (last - first) * k / count for k in range(count + 1))
    density = Curve(tuple(parts), lambda left, right: mp.mpf(0), ends)

    def mass(left: mpf, right: mpf) -> mpf:
        left, right = max(left, first), min(right, last)
        pieces = max(1, math.ceil((right - left) / (2 * noise))) if left < right else 0
        half = (right - left) / (2 * (pieces or 1))
        middles = [left + half * (2 * k + 1) for k in range(pieces)]
        nodes = itertools.product(middles, _NODES)
        return mp.fsum(half * w * density.at(middle + half * node) for middle, (node, w) in nodes)

    return Curve(density.parts, mass, ends)


def _noisy_cut(m: mpf, s: mpf, low: mpf, high: mpf, noise: mpf) -> tuple[Hill, Hill]:
    """Return the noisy normal density, and its probability to lie inside."""
    spread = mp.sqrt(s**2 + noise**2)
    width = s * noise / spread

    def chance(y: mpf) -> mpf:
        centre = (m * noise**2 + y * s**2) / spread**2
        return _between((low - centre) / width, (high - centre) / width)

    middle = (low + high) / 2  # infinite, as the range is
    return Hill(cache(lambda y: _density((y - m) / spread) / spread), m), Hill(
        cache(chance), (middle * spread**2 - m * noise**2) / s**2
    )


@dataclass(frozen=True, eq=False)
class Repeated:
    """Noise by the repeated integrals of its distribution function, in its `scale`; it is none where that is 0."""

    scale: mpf
    integral: Callable[[mpf, int], mpf]
    reach: mpf


def _uniform_mean(description: Plain, noise: Repeated) -> Curve:
    """Return the mean of uniform numbers, with noise.

    Uniform numbers and the noise are log-concave, and so is their sum.
    """
    n, low, high = description["count"], mp.mpf(description["low"]), mp.mpf(description["high"])
    step, middle = (high - low) / n, (low + high) / 2
    # The terms alternate: below the middle the largest is at most e^n (1 + scale/t)^n or so times the sum.
    digits = mp.dps + math.ceil(n * (1 + float(mp.log10(1 + noise.scale / step))))

    def alternating(distance: mpf, order: int) -> mpf:
        """Return the alternating powers below a distance."""
        with mp.workdps(digits):
            near = middle - distance
            signs = [(-1) ** k * mp.binomial(n, k) for k in range(n + 1)]
            if not noise.scale:
                powers = [max((near - low) / step - k, 0) for k in range(n + 1)]
                terms = [sign * u**order / mp.factorial(order) for sign, u in zip(signs, powers, strict=True) if u]
            else:
                places = [(near - low - k * step) / noise.scale for k in range(n + 1)]
                terms = [sign * noise.integral(u, order) for sign, u in zip(signs, places, strict=True)]
                terms = [term * (noise.scale / step) ** order for term in terms]
            return mp.fsum(terms)

    height, tail = cache(lambda d: alternating(d, n - 1) / step), cache(lambda d: alternating(d, n))
    shape = ("uniform", n, step, noise.integral, noise.scale)
    return _bells([(mp.mpf(1), middle, Bell(height, tail, (high - low) / 2 + noise.reach, shape))])


def _repeated(u: mpf, order: int) -> mpf:
    """Return I_order(u), the integral from -infinity of I_{order - 1}."""
    before, last = _density(u), mp.erfc(-u / mp.sqrt(2)) / 2
    for j in range(1, order + 1):
        before, last = last, (u * last + before) / j
    return last


def _repeated_laplace(u: mpf, order: int) -> mpf:
    """Return the repeated integral of the distribution function of Laplace noise of scale 1.

    Above 0 it is u^m/m! + u^(m - 2)/(m - 2)! + ... - (-1)^m e^(-u)/2: the one of m - 1 integrated from its value 1/2.
    """
    if u < 0:
        return mp.exp(u) / 2
    powers = [u**j / mp.factorial(j) for j in range(order, -1, -2)]
    return mp.fsum(powers) - (-1) ** order * mp.exp(-u) / 2


def _density(z: mpf) -> mpf:
    return mp.exp(-z * z / 2) / mp.sqrt(2 * mp.pi)


def _beyond(z: mpf) -> mpf:
    """Return P(Z > z)."""
    return mp.erfc(z / mp.sqrt(2)) / 2


def _between(left: mpf, right: mpf) -> mpf:
    """Return P(left < Z < right), from the smaller tails."""
    if left > 0:
        left, right = -right, -left
    return _beyond(-right) - _beyond(-left)
