"""Densities of real-valued outputs in many digits, from the definition of each kind and nothing that calibration uses.

`curve(kind as plain data, sigma)` is the density of X + sigma Z for a standard normal Z. With D = sigma^2 + s^2:

* a normal X with mean m and deviation s has the normal density of variance D;
* cut to [l, h] with mass c, that density times the probability that a normal variable with mean
  (m sigma^2 + y s^2)/D and variance s^2 sigma^2/D lies in [l, h], over c (Bayes' rule);
* with Laplace noise of scale b, (A + B)/(2b), A the integral of e^{-(y - x)/b} over the x in [l, h] up to y: it is
  e^{s^2/(2 b^2) - (y - m)/b} times a probability of a normal variable with mean m + s^2/b, and B its mirror image;
* a line between two points is a difference of multiples of 1(x >= a) and (x - a)_+, which noise turns into the
  distribution function of the noise and its integral;
* for the mean of n uniform numbers of step t = (high - low)/n, whose density is 1/(t (n-1)!) times the sum over k of
  (-1)^k C(n, k) ((x - low)/t - k)_+^{n-1}, each power becomes (sigma/t)^{n-1} (n-1)! I_{n-1}((y - low - k t)/sigma),
  where I_{-1} and I_0 are the normal density and distribution function and j I_j(u) = u I_{j-1}(u) + I_{j-2}(u).

Each is a sum of products of functions that rise up to a peak and fall behind it, so that its least and largest value on
a cell are enclosed by those at the ends and the peak. The mass of a cell is a difference of tails; of a cut normal
density with noise it is Gauss quadrature in parts of at most 2 sigma: its derivatives are those of a mixture of normal
densities of deviation sigma, so that twelve nodes err by less than 1e-18 a part.
"""

from __future__ import annotations

import math
from functools import cache

from mpmath import mp, mpf

from takifugu.audit.cut_curves import Repeated, cut, cut_with_laplace, cut_with_noise, noisy_table
from takifugu.audit.hills import LAPLACE_REACH, REACH, Bell, Curve, bells, laplace_bell, normal_bell, standard
from takifugu.core.errors import Unsupported
from takifugu.core.plain import Plain


def curve(description: Plain, sigma: mpf | float) -> Curve:
    """Return the density of X + sigma Z, X from its `description`; the caller sets the digits, here and in calls."""
    noise = mp.mpf(sigma)
    if description["kind"] == "blurred":  # with normal noise of its own
        return curve(description["whole"], mp.sqrt(noise**2 + description["deviation"] ** 2))
    if description["kind"] == "uniform-mean":
        return _uniform_mean(description, Repeated(noise, _repeated, REACH * noise))
    whole, low, high = _within(description)
    if whole["kind"] == "tabulated" and noise:
        return noisy_table(whole, low, high, Repeated(noise, _repeated, REACH * noise))
    normals = normals_of(whole)
    if normals is None:
        raise Unsupported(f"the audit does not know a {whole['kind']} density that is cut, or is a table without noise")
    if not noise and not all(s for _, _, s in normals):
        raise Unsupported("the answer follows from what is hidden, and no noise is added: it has no density")
    if not (mp.isfinite(low) or mp.isfinite(high)):
        return bells([(w, m, normal_bell(mp.sqrt(s**2 + noise**2))) for w, m, s in normals])
    if noise:
        return cut_with_noise(normals, low, high, noise)
    return cut(normals, low, high)


def with_laplace(description: Plain, scale: mpf | float) -> Curve:
    """Return the density of X plus Laplace noise of a scale, X any but a cut mean of uniform numbers."""
    noise = mp.mpf(scale)
    repeated = Repeated(noise, _repeated_laplace, LAPLACE_REACH * noise)
    if description["kind"] == "uniform-mean":
        return _uniform_mean(description, repeated)
    whole, low, high = _within(description)
    if whole["kind"] == "tabulated":
        return noisy_table(whole, low, high, repeated)
    normals = normals_of(whole)
    if normals is None:
        raise Unsupported(f"the audit does not know a {whole['kind']} density that is cut, with Laplace noise")
    if mp.isfinite(low) or mp.isfinite(high):
        return cut_with_laplace(normals, low, high, noise)
    return bells([(w, m, laplace_bell(s, noise)) for w, m, s in normals])


def range_of(description: Plain) -> tuple[mpf, mpf]:
    """Return the ends of what a density may take, perhaps infinite."""
    whole, low, high = _within(description)
    if whole["kind"] == "uniform-mean":
        return max(low, mp.mpf(whole["low"])), min(high, mp.mpf(whole["high"]))
    if whole["kind"] == "tabulated":
        return max(low, mp.mpf(whole["points"][0])), min(high, mp.mpf(whole["points"][-1]))
    return low, high


def _within(description: Plain) -> tuple[Plain, mpf, mpf]:
    """Return what is cut, and to which range."""
    low, high = mp.ninf, mp.inf
    while description["kind"] == "truncated":  # a range within a range
        if description["low"] is not None:
            low = max(low, mp.mpf(description["low"]))
        if description["high"] is not None:
            high = min(high, mp.mpf(description["high"]))
        description = description["whole"]
    return description, low, high


def normals_of(description: Plain) -> list[tuple[mpf, mpf, mpf]] | None:
    """Return the weights, means and deviations of normals, if it has any."""
    description, _, _ = _within(description)
    if description["kind"] == "normal":
        return [(mp.mpf(1), mp.mpf(description["mean"]), mp.mpf(description["deviation"]))]
    if description["kind"] != "normal-mixture":
        return None
    rows = zip(description["weights"], description["means"], description["deviations"], strict=True)
    total = mp.fsum(map(mp.mpf, description["weights"]))
    return [(mp.mpf(w) / total, mp.mpf(m), mp.mpf(s)) for w, m, s in rows]


def _uniform_mean(description: Plain, noise: Repeated) -> Curve:
    """Return the mean of uniform numbers, with noise: log-concave, as both are."""
    n, low, high = description["count"], mp.mpf(description["low"]), mp.mpf(description["high"])
    step, middle = (high - low) / n, (low + high) / 2
    # The terms alternate: below the middle the largest is at most e^n (1 + scale/t)^n or so times the sum.
    digits = mp.dps + math.ceil(n * (1 + float(mp.log10(1 + noise.scale / step))))

    def alternating(distance: mpf, order: int) -> mpf:
        """Return the alternating powers below a distance."""
        with mp.workdps(digits):
            near, terms = middle - distance, []
            for k in range(n + 1):
                sign = (-1) ** k * mp.binomial(n, k)
                if noise.scale:
                    term = sign * noise.integral((near - low - k * step) / noise.scale, order)
                    terms.append(term * (noise.scale / step) ** order)
                    continue
                power = (near - low) / step - k
                if power > 0:
                    terms.append(sign * power**order / mp.factorial(order))
            return mp.fsum(terms)

    height, tail = cache(lambda d: alternating(d, n - 1) / step), cache(lambda d: alternating(d, n))
    shape = ("uniform", n, step, noise.integral, noise.scale)
    return bells([(mp.mpf(1), middle, Bell(height, tail, (high - low) / 2 + noise.reach, shape))])


def _repeated(u: mpf, order: int) -> mpf:
    """Return I_order(u), the integral from -infinity of I_{order - 1}."""
    before, last = standard(u), mp.erfc(-u / mp.sqrt(2)) / 2
    for j in range(1, order + 1):
        before, last = last, (u * last + before) / j
    return last


def _repeated_laplace(u: mpf, order: int) -> mpf:
    """Return the repeated integral of the distribution function of Laplace noise of scale 1."""
    if u < 0:
        return mp.exp(u) / 2
    # u^m/m! + u^(m - 2)/(m - 2)! + ... - (-1)^m e^(-u)/2: that of m - 1 integrated from its value 1/2.
    powers = [u**j / mp.factorial(j) for j in range(order, -1, -2)]
    return mp.fsum(powers) - (-1) ** order * mp.exp(-u) / 2
