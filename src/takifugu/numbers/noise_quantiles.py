"""Integer enclosures of P(|Z| > z) for standard Laplace and normal Z, and the searches that find quantiles from them.

Only integers are used, with floors below and ceilings above, so the bounds hold without any assumption about a
floating-point library. Both laws come from one kind of series with positive terms, with w = z^2 or 2z:

    exp(w/2)                     = sum_n w^n / (2 * 4 * ... * 2n)
    P(|normal| <= z)             = sqrt(2/pi) z exp(-w/2) sum_n w^n / (3 * 5 * ... * (2n+1))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from math import ceil, isqrt, log

from takifugu.core.errors import InputError
from takifugu.numbers.search import between, halved, next_to

Enclosure = tuple[int, int]
"""Integers (low, high) around a number times 2^bits."""

Survival = Callable[[Fraction, int], Enclosure]

#: Digits of a probability to stay unseen: what is below 2^-BITS counts as nothing.
BITS = 128
_GUARD_BITS = 32


def laplace_survival(z: Fraction, bits: int) -> Enclosure:
    """Enclose 2^bits P(|Z| > z) = 2^bits exp(-z), Z unit Laplace, within 2."""
    if z <= 0:
        return 1 << bits, 1 << bits
    if z >= bits:  # exp(-z) < 2^-z
        return 0, 1
    low, high = _series(2 * z, 2, bits + _GUARD_BITS)
    square = 1 << (2 * (bits + _GUARD_BITS))
    return _drop_guard(square // high, -(-square // low))


def normal_survival(z: Fraction, bits: int) -> Enclosure:
    """Enclose 2^bits P(|Z| > z) = 2^bits erfc(z / sqrt 2), Z standard normal, within 2."""
    if z <= 0:
        return 1 << bits, 1 << bits
    square = z * z
    if square >= 2 * bits:  # erfc(z / sqrt 2) <= exp(-z^2 / 2) < 2^-bits
        return 0, 1
    work = bits + _GUARD_BITS
    sum_low, sum_high = _series(square, 3, work)
    exp_low, exp_high = _series(square, 2, work)
    pi_low, pi_high = _pi(work)
    numerator, denominator = (2 * square.numerator) << (3 * work), square.denominator
    root_low = isqrt(numerator // (denominator * pi_high))
    root_high = isqrt(-(-numerator // (denominator * pi_low))) + 1
    inside_low, inside_high = root_low * sum_low // exp_high, -(-root_high * sum_high // exp_low)
    return _drop_guard(max((1 << work) - inside_high, 0), (1 << work) - inside_low)


def laplace_above(distance: Fraction) -> Fraction:
    """Return e^-distance from above."""
    return Fraction(laplace_survival(distance, BITS)[1], 1 << BITS)


def exceeds(survival: Survival, terms: Sequence[tuple[Fraction | int, Fraction]], miss: Fraction) -> bool:
    """Return whether weighted tails, (weight, z) each, sum to more than `miss`; the undecided do."""
    start = 64 + miss.denominator.bit_length()
    for bits in (start, start + 2000):
        low = high = Fraction(0)
        for weight, z in terms:
            ends = [weight * end for end in survival(z, bits)]
            low, high = low + min(ends), high + max(ends)
        if low > miss * 2**bits:
            return True
        if high <= miss * 2**bits:
            return False
    return True


def missed(level: Fraction | float) -> tuple[Fraction, float]:
    """Return 1 - level, and about the logarithm of its inverse, a place to start a search."""
    if not 0 < level < 1:
        raise InputError(
            f"level is {level!r}", rule="it must be above 0 and below 1", fix="write for example 0.95"
        ).at("level")
    miss = 1 - Fraction(level)
    return miss, log(miss.denominator) - log(miss.numerator)


def first_not_exceeded(exceeds: Callable[[int], bool], guess: int) -> int:
    """Return the smallest integer j with exceeds(j) False; `exceeds` never rises, and is True far below."""
    # A right guess costs two calls, since its neighbours are tried first.
    low, high, reach = guess - 1, guess, 1
    if exceeds(high):
        low, high = high, high + 1
        while exceeds(high):
            low, high, reach = high, high + 2 * reach, 2 * reach
    else:
        while not exceeds(low):
            low, high, reach = low - 2 * reach, low, 2 * reach
    return halved(lambda j: not exceeds(j), high, low, next_to, between)


def _series(w: Fraction, first: int, bits: int) -> Enclosure:
    """Enclose 2^bits sum_n w^n / (first (first + 2) ... (n factors))."""
    w_low, w_high = (w.numerator << bits) // w.denominator, -((-w.numerator << bits) // w.denominator)
    low = high = sum_low = sum_high = 1 << bits
    divisor, halving = first, ceil(2 * w)  # from divisor 2w on each term is at most half the one before
    while divisor < halving or high > 1:
        low = (low * w_low >> bits) // divisor
        high = -((-high * w_high >> bits) // divisor)
        sum_low, sum_high, divisor = sum_low + low, sum_high + high, divisor + 2
    return sum_low, sum_high + 1


@lru_cache(maxsize=16)
def _pi(bits: int) -> Enclosure:
    """Enclose 2^bits pi by Machin's 16 arctan(1/5) - 4 arctan(1/239)."""
    estimate, slack = 0, 0
    for weight, base in ((16, 5), (-4, 239)):
        power, odd, sign = (1 << bits) // base, 1, 1
        while power:
            estimate += weight * sign * (power // odd)
            slack += abs(weight)
            power, odd, sign = power // (base * base), odd + 2, -sign
        slack += abs(weight)  # what follows a vanished power is less than one unit
    return estimate - slack, estimate + slack


def _drop_guard(low: int, high: int) -> Enclosure:
    return low >> _GUARD_BITS, -(-high >> _GUARD_BITS)
