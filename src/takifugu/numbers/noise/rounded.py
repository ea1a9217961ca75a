"""Ideal continuous Laplace and normal noise, rounded exactly once to a grid: round((centre + Z) / grid).

|Z| / scale is the point z where the survival function V(z) = P(|Z| / scale > z) equals a uniform v. Only the leading
bits of v are ever drawn: v lies strictly between U / 2^k and (U + 1) / 2^k, and either all points between share one
multiple of the grid or more bits are drawn. Rounding is post-processing, so the continuous mechanism's promise carries
over at any real centre.

Almost every draw is decided by floating point with a proven margin. In units of the grid, counted from the multiple
nearest to the centre, the noisy value is t = f + r z or f - r z, with |f| <= 1/2 and r = scale / grid. Assumption:
numpy.log and scipy.special.ndtri return z within 2^-43 (1 + z) at the float that they are given (the tests measure less
than 2^-48). With u = 2^-53:
  * |dz| <= sqrt(pi/2) |dv| / v for both laws (Mills' ratio of the normal is largest at 0; Laplace: the constant is 1),
    so rounding U / 2^63 to a float moves z by at most 1.26 u, and z varies by at most 1.26 / U over the interval of v;
  * the conversions of r and f, the product and the sum move t by at most 4 u (1 + r z) together.
So t is known to 2^-42 (1 + r (1 + z)) + 1.26 r / U, and `_MARGIN` is four times that factor. A draw that is nearer than
the margin to a boundary between two multiples goes to exact integer enclosures of V (laws.noise_quantiles), which
assume nothing. How many bits are drawn depends on v alone, never on the margin: from the same bits both routes give
the same integers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from numbers import Rational

import numpy as np

from takifugu.core.arrays import BoolArray, FloatArray
from takifugu.core.errors import DataError, InputError
from takifugu.numbers.atoms import Array, object_array
from takifugu.numbers.noise.entropy import Entropy
from takifugu.numbers.noise.integers import Integers, narrowed, positive, total, whole_number, words
from takifugu.numbers.noise_quantiles import Enclosure, first_not_exceeded, laplace_survival, normal_survival

Center = Fraction | int | float

_MARGIN = 2.0**-40
_PREFIX_BITS = 63
_MORE_BITS = 64
_EXACT = 2.0**62  # beyond it sums might leave 64 bits


@dataclass(frozen=True)
class _Law:
    """A symmetric law of scale 1: z from v in floats, and the integer enclosure of v from z."""

    magnitude: Callable[[FloatArray], FloatArray]
    survival: Callable[[Fraction, int], Enclosure]


def rounded_laplace(
    center: Center | Sequence[Center] | Array, scale: Fraction | int, grid: Fraction | int, size: int, entropy: Entropy
) -> Integers:
    """Draw `size` independent integers round((center + Z) / grid), Z of density exp(-|z| / scale) / (2 scale)."""
    law = _Law(_laplace_magnitude, laplace_survival)
    return _rounded(center, positive("the scale", scale), positive("the grid", grid), size, entropy, law)


def rounded_normal(
    center: Center | Sequence[Center] | Array, sigma: Fraction | int, grid: Fraction | int, size: int, entropy: Entropy
) -> Integers:
    """Draw `size` independent integers round((center + Z) / grid), Z normal of deviation sigma."""
    # Not the discrete Gaussian: its delta can be twice that of the continuous one of the same sigma.
    law = _Law(_normal_magnitude, normal_survival)
    return _rounded(center, positive("sigma", sigma), positive("the grid", grid), size, entropy, law)


def _rounded(
    center: Center | Sequence[Center] | Array, scale: Fraction, grid: Fraction, size: int, entropy: Entropy, law: _Law
) -> Integers:
    wholes, offsets = split(center, grid, whole_number("the size", size, least=0))
    ratio = scale / grid
    draws = words(size, entropy)
    negative = draws >= np.uint64(1 << _PREFIX_BITS)
    prefixes = draws & np.uint64((1 << _PREFIX_BITS) - 1)
    magnitudes = law.magnitude(np.maximum(prefixes * 2.0**-_PREFIX_BITS, 2.0 ** -(_PREFIX_BITS + 1)))
    nearest, decided = _nearest(offsets.astype(np.float64), ratio, negative, prefixes, magnitudes)
    undecided = np.flatnonzero(~decided)
    few = np.zeros(size, dtype=object)
    for i in undecided.tolist():
        sign = -1 if negative[i] else 1
        guess = Fraction(float(magnitudes[i]))
        few[i] = sign * _settled(int(prefixes[i]), sign * offsets[i], ratio, guess, law.survival, entropy)
    if any(abs(few[i]) >= _EXACT for i in undecided.tolist()):  # floats decide none that is so large
        steps = object_array(list(map(int, nearest)))
        steps[undecided] = few[undecided]
        return total(wholes, steps)
    rounded = nearest.astype(np.int64)
    rounded[undecided] = few[undecided].astype(np.int64)
    return total(wholes, rounded)


def _nearest(
    offsets: FloatArray, ratio: Fraction, negative: BoolArray, prefixes: Integers, magnitudes: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Return the integer nearest to each t, and the proven ones."""
    r = float(min(ratio, Fraction(2**60)))  # from 2^39 on the margin exceeds 1/2 and decides nothing
    t = offsets + np.where(negative, -r, r) * magnitudes
    nearest = np.rint(t)
    with np.errstate(divide="ignore", invalid="ignore"):  # prefix 0 is an endless tail: an infinite margin
        margin = _MARGIN * (1 + r * (1 + magnitudes)) + 2 * r / prefixes
    return nearest, np.abs(t - nearest) < 0.5 - margin


def _settled(
    prefix: int,
    offset: Fraction,
    ratio: Fraction,
    guess: Fraction,
    survival: Callable[[Fraction, int], Enclosure],
    entropy: Entropy,
) -> int:
    """Return round(offset + ratio z), z >= 0, drawing bits as needed; v starts with the bits of `prefix`."""
    bits = _PREFIX_BITS

    def exceeds(step: int) -> bool:
        nonlocal prefix, bits
        edge = (step + Fraction(1, 2) - offset) / ratio
        while True:
            # z is beyond an edge exactly if v < V(edge); each word makes another one 2^64 times rarer.
            low, high = survival(edge, bits + _MORE_BITS)
            if (prefix + 1) << _MORE_BITS <= low:
                return True
            if prefix << _MORE_BITS >= high:
                return False
            prefix = prefix << _MORE_BITS | int(words(1, entropy)[0])
            bits += _MORE_BITS

    return first_not_exceeded(exceeds, round(offset + ratio * guess))


def split(center: Center | Sequence[Center] | Array, grid: Fraction, size: int) -> tuple[Integers, Array]:
    """Return each centre's nearest grid multiple and exact rest, in units."""
    # One centre for all draws, or one per draw; a float is the binary rational that it is.
    if not isinstance(center, (list, tuple, np.ndarray)):
        multiple, offset = _split_one(center, grid)
        return narrowed([multiple] * size), np.full(size, offset, dtype=object)
    if len(center) != size:
        raise InputError(
            f"{len(center)} centres for {size} draws", fix="give one centre, or a list of exactly one per draw"
        ).at("center")
    if isinstance(center, np.ndarray) and center.dtype.kind in "iu" and grid == 1:
        return center, np.zeros(size, dtype=object)
    pairs = [_split_one(single, grid) for single in center]
    return narrowed([multiple for multiple, _ in pairs]), object_array([offset for _, offset in pairs])


def _split_one(center: object, grid: Fraction) -> tuple[int, Fraction]:
    if isinstance(center, Rational):
        position = Fraction(int(center.numerator), int(center.denominator)) / grid
    elif isinstance(center, (float, np.floating)) and isfinite(center):
        position = Fraction(float(center)) / grid
    else:
        raise DataError(
            "a centre is not a finite number", fix="clean the data before noise is drawn (value not shown)"
        ).at("center")
    multiple = round(position)
    return multiple, position - multiple


def _laplace_magnitude(v: FloatArray) -> FloatArray:
    return np.asarray(-np.log(v))


def _normal_magnitude(v: FloatArray) -> FloatArray:
    from scipy.special import ndtri

    return np.asarray(-ndtri(v / 2))
