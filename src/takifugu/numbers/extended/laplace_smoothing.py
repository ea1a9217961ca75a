"""What Laplace noise leaves of rows of weights on equally spaced places: A(y) = sum over x of w(x) e^{-d |y - x|}.

The places are cut into chunks of m. Inside a chunk the sums are one matrix product with e^{-d |i - j|}; what comes in
from the chunks before and after is e^{-d} per place times two sums of whole chunks, which obey P(c) = L(c) +
e^{-dm} P(c - 1): after k doublings P holds the last 2**k terms. Every number is a sum of positive terms, and numbers of
one chunk share a binary exponent: with m d at most 600 log 2 a term that float64 loses inside a chunk is 2**-400 of any
sum that it belongs to. log A(y) - log B(y) of two rows is largest at an atom (docs/theory/one-answer.md#one-answer-4).
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from operator import mul

import numpy as np

from takifugu.core.arrays import FloatArray, IntArray
from takifugu.numbers.extended.floats import UNIT, Blocks, ExponentArray, Wide, product, scaled

#: Places of a chunk, and the most binary orders that the noise may fall by within one.
CHUNK, _ORDERS = 64, 600
#: Digits of exponentials before they are rounded: 64 roundings in the last of them are far below float64.
_DIGITS = 60
#: Comparisons are looked at together as far as their laws have at most this many places.
_AT_ONCE = 2**17


def decayed(weights: Wide, decay: Fraction) -> Blocks:
    """Return A for every row of weights (rows, places), with a decay > 0 per place."""
    # At most `roundings` roundings per number; the chunks reach beyond the last place, where A is above zero, too.
    rows, size = weights.shape
    places = max(1, min(CHUNK, size, int(_ORDERS * math.log(2) / decay)))
    chunks = weights.blocks(places)
    tops, flat = chunks.tops, chunks.floats.reshape(-1, places)
    within, ahead = _kernel(decay, places)
    result = product(flat, within).reshape(chunks.floats.shape)
    if tops.shape[1] == 1:
        return Blocks(result, tops, size)
    into_left, into_right = (flat @ ahead[::-1]).reshape(tops.shape), (flat @ ahead).reshape(tops.shape)
    ends = Wide.of(
        np.concatenate((into_left, into_right[:, ::-1])), np.concatenate((tops, tops[:, ::-1]))
    )
    carried = _delayed(_sums(ends, places * decay), 1) * _exponential(decay)
    from_left, from_right = carried[:rows], carried[rows:, ::-1]
    exponents = np.maximum(tops, np.maximum(from_left.exponents, from_right.exponents))
    result *= scaled(np.ones_like(tops, dtype=np.float64), tops - exponents)[..., None]
    result += from_left.floats(exponents)[..., None] * ahead
    result += from_right.floats(exponents)[..., None] * ahead[::-1]
    return Blocks(result, exponents, size)


def roundings(size: int) -> float:
    """Return a bound on how often a number of `decayed` was rounded."""
    return CHUNK + 3 * math.log2(1 + size) + 12


def _sums(rows: Wide, decay: Fraction) -> Wide:
    """Return the decayed sums of rows over c' <= c."""
    reach = 1
    while reach < rows.shape[1]:
        rows += _delayed(rows, reach) * _exponential(reach * decay)
        reach *= 2
    return rows


def _delayed(rows: Wide, places: int) -> Wide:
    """Return rows moved right within their width, zeros filled in."""
    result = Wide.zeros(*rows.shape)
    result[:, places:] = rows[:, :-places]
    return result


@lru_cache(maxsize=64)
def _kernel(decay: Fraction, places: int) -> tuple[FloatArray, FloatArray]:
    """Return e^{-decay |i - j|} and e^{-decay i} of a chunk's places."""
    with localcontext(prec=_DIGITS):
        factor = _negative(decay).exp()
        powers = list(accumulate([factor] * (places - 1), mul, initial=Decimal(1)))
    rounded, at = np.array(list(map(float, powers))), np.arange(places)
    return rounded[np.abs(at[:, None] - at)], rounded


@lru_cache(maxsize=4096)
def _exponential(exponent: Fraction) -> Wide:
    """Return e**-exponent, correctly rounded for exponents below 2**50."""
    with localcontext(prec=_DIGITS):
        power, log_2 = _negative(exponent), Decimal(2).ln()
        order = int(power / log_2)
        return Wide.of(float((power - order * log_2).exp()), order)


def _negative(exponent: Fraction) -> Decimal:
    return Decimal(-exponent.numerator) / exponent.denominator


def losses_between(laws: Wide, sides: IntArray, decay: Fraction, margin: float) -> FloatArray:
    """Bound sup abs log A/B of each pair of rows, noise falling by `decay` per place; decay 0 is no noise."""
    # `margin` is how far rounded masses can move a log-ratio.
    places = laws.shape[1]
    noised, several = decayed(laws, decay) if decay else None, max(1, _AT_ONCE // places)
    losses = np.zeros(len(sides))
    for start in range(0, len(sides), several):
        first_rows, second_rows = sides[start : start + several].T
        if noised is None:
            loss, orders = _bare(laws[first_rows], laws[second_rows])
        else:
            loss, orders = _noisy(noised, first_rows, second_rows)
        rounding = 8 * UNIT * (roundings(places) + (loss + orders))
        losses[start : start + several] = loss + margin + rounding
    return losses


def _noisy(noised: Blocks, first_rows: IntArray, second_rows: IntArray) -> tuple[FloatArray, ExponentArray]:
    """Return the largest abs log A/B and order difference per pair."""
    ratio = noised.floats[first_rows] / noised.floats[second_rows]
    orders = noised.tops[first_rows] - noised.tops[second_rows]
    high = np.log(ratio.max(axis=2)) + orders * math.log(2)
    low = np.log(ratio.min(axis=2)) + orders * math.log(2)
    return np.maximum(high.max(axis=1), -low.min(axis=1)), np.abs(orders).max(axis=1)


def _bare(first: Wide, second: Wide) -> tuple[FloatArray, ExponentArray]:
    """Return the same without noise, infinite where only one has atoms."""
    is_common = first.support & second.support
    orders = np.where(is_common, first.exponents - second.exponents, 0)
    ratio = np.divide(first.mantissas, second.mantissas, out=np.ones_like(first.mantissas), where=is_common)
    loss = np.abs(np.log(ratio) + orders * math.log(2)).max(axis=1)
    differ = (first.support != second.support).any(axis=1)
    return np.where(differ, math.inf, loss), np.abs(orders).max(axis=1)
