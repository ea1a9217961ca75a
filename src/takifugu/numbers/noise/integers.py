"""Exact sampling with integers only: uniform, Bernoulli(exp(-x)), choice by integer masses, discrete Laplace.

Every array routine works on 64-bit words while all numbers provably fit, and on object arrays of Python integers (the
same steps, any size) where they would not; nothing overflows and nothing is rounded. Algorithms 1 and 2 are those of
Canonne, Kamath and Steinke 2020, "The Discrete Gaussian for Differential Privacy".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from numbers import Integral, Rational
from typing import Any

import numpy as np
import numpy.typing as npt

from takifugu.core.arrays import BoolArray, IntArray
from takifugu.core.errors import InputError
from takifugu.numbers.atoms import object_array
from takifugu.numbers.noise.entropy import Entropy

Integers = npt.NDArray[Any]
"""An int64 array where every value fits, else an object array of Python integers."""

_WORD = 1 << 64
_SIGNED = 1 << 63
_ROUND = 1 << 16


def uniform_below(bound: int, size: int, entropy: Entropy) -> Integers:
    """Return `size` independent uniform integers below the bound, by rejection, without modulo bias."""
    bound = whole_number("the bound", bound, least=1)
    draws = _below(bound, whole_number("the size", size, least=0), entropy)
    return draws.astype(np.int64) if bound <= _SIGNED else draws.astype(object)


def bernoulli_exp(numerator: int, denominator: int, size: int, entropy: Entropy) -> BoolArray:
    """Flip `size` independent exact coins of probability exp(-numerator/denominator) (Algorithm 1)."""
    denominator = whole_number("the denominator", denominator, least=1)
    turns, part = divmod(whole_number("the numerator", numerator, least=0), denominator)
    size = whole_number("the size", size, least=0)
    alive = np.arange(size)
    while turns and alive.size:
        alive = alive[_exp_minus_one(alive.size, entropy)]
        turns -= 1
    parts = np.full(alive.size, part, dtype=np.uint64 if denominator <= _WORD else object)
    coins = np.zeros(size, dtype=np.bool_)
    coins[alive] = _exp_minus(parts, denominator, entropy)
    return coins


def choose(masses: Sequence[int] | Integers, size: int, entropy: Entropy) -> IntArray:
    """Return `size` independent indices, exactly with probabilities masses[i] / sum(masses)."""
    levels = []
    total = 0
    for mass in masses:
        total += whole_number("a mass", mass, least=0)
        levels.append(total)
    if total == 0:
        raise InputError("the masses sum to 0", rule="at least one mass must be a positive integer").at("masses")
    draws = uniform_below(total, size, entropy)
    kind = draws.dtype if total < _SIGNED else np.dtype(object)
    return np.searchsorted(np.array(levels, dtype=kind), draws, side="right")


def discrete_laplace(scale: Fraction | int, size: int, entropy: Entropy) -> Integers:
    """Draw `size` independent integers, exactly with weights exp(-|k| / scale) (Algorithm 2)."""
    t, s = positive("the scale", scale).as_integer_ratio()
    return accepted(lambda tries: _laplace_round(t, s, tries, entropy), whole_number("the size", size, least=0))


def accepted(round_of: Callable[[int], Integers], size: int) -> Integers:
    """Return the first `size` values of rounds of tries."""
    chunks: list[Integers] = [np.zeros(0, dtype=np.int64)]
    missing = size
    while missing:
        values = round_of(min(2 * missing + 8, _ROUND))[:missing]
        chunks.append(values)
        missing -= values.size
    result = np.concatenate(chunks)
    return narrowed(result.tolist()) if result.dtype == object else result


def _laplace_round(t: int, s: int, tries: int, entropy: Entropy) -> Integers:
    """Return the accepted values of `tries` runs of Algorithm 2's body."""
    magnitudes = geometric_round(t, s, tries, entropy)
    negative = coin_flips(magnitudes.size, entropy)
    signed = np.where(negative, -magnitudes, magnitudes)
    # "Minus zero" is drawn again.
    signed_values: Integers = signed[~(negative & (magnitudes == 0))]
    return signed_values


def geometric_round(t: int, s: int, tries: int, entropy: Entropy) -> Integers:
    """Return at most `tries` independent geometric numbers floor((U + tV) / s), P(X >= k) = exp(-k s / t)."""
    # U below t is kept with probability exp(-U/t) and V >= v has probability e^-v, so U + t V >= n has exp(-n/t).
    remainders = _below(t, tries, entropy)
    remainders = remainders[_exp_minus(remainders, t, entropy)]
    multiples = _geometric(remainders.size, entropy)
    values: Integers
    if max(s, t * (int(multiples.max(initial=0)) + 1)) <= _SIGNED - 1:
        values = ((remainders + np.uint64(t) * multiples) // np.uint64(s)).astype(np.int64)
    else:
        values = (remainders.astype(object) + t * multiples.astype(object)) // s
    return values


def _exp_minus(numerators: Integers, denominator: int, entropy: Entropy) -> BoolArray:
    """Flip a coin of probability exp(-a/denominator) per numerator a, 0 <= a <= denominator."""
    # The first run of Bernoulli(a / (denominator k)) successes, k = 1, 2, ..., is even so often: exp as a series.
    coins = np.zeros(numerators.size, dtype=np.bool_)
    alive = np.arange(numerators.size)
    k = 1
    while alive.size:
        if denominator * k <= _WORD:
            success = _below(denominator * k, alive.size, entropy) < numerators
        else:
            success = _below(denominator, alive.size, entropy) < numerators
            success[success] = _below(k, int(success.sum()), entropy) == 0
        coins[alive[~success]] = k % 2 == 1
        alive, numerators = alive[success], numerators[success]
        k += 1
    return coins


def _exp_minus_one(size: int, entropy: Entropy) -> BoolArray:
    return _exp_minus(np.ones(size, dtype=np.uint64), 1, entropy)


def _geometric(size: int, entropy: Entropy) -> npt.NDArray[np.uint64]:
    """Return `size` integers with P(V >= v) = e^-v."""
    counts = np.zeros(size, dtype=np.uint64)
    alive = np.arange(size)
    while alive.size:
        alive = alive[_exp_minus_one(alive.size, entropy)]
        counts[alive] += np.uint64(1)
    return counts


def _below(bound: int, size: int, entropy: Entropy) -> Integers:
    """Return uniform integers below the bound: uint64 for bounds up to 2^64, Python integers beyond."""
    if bound == 1:
        return np.zeros(size, dtype=np.uint64)
    if bound > _WORD:
        return object_array([_big_below(bound, entropy) for _ in range(size)])
    # Each value owns the same number of words; words that no value owns are drawn again.
    share, largest = np.uint64(_WORD // bound), np.uint64(bound - 1)
    draws = words(size, entropy) // share
    rejected = np.flatnonzero(draws > largest)
    while rejected.size:
        draws[rejected] = words(rejected.size, entropy) // share
        rejected = rejected[draws[rejected] > largest]
    return draws


def _big_below(bound: int, entropy: Entropy) -> int:
    """Return one uniform integer below a bound of any size."""
    bits = (bound - 1).bit_length()
    while True:
        draw = int.from_bytes(entropy.bytes((bits + 7) // 8), "little") & ((1 << bits) - 1)
        if draw < bound:
            return draw


def words(size: int, entropy: Entropy) -> npt.NDArray[np.uint64]:
    """Return `size` uniform 64-bit words (read-only)."""
    return np.frombuffer(entropy.bytes(8 * size), dtype="<u8").astype(np.uint64, copy=False)


def coin_flips(size: int, entropy: Entropy) -> BoolArray:
    """Return `size` fair coins."""
    raw = np.frombuffer(entropy.bytes((size + 7) // 8), dtype=np.uint8)
    return np.unpackbits(raw, count=size).astype(np.bool_)


def narrowed(values: list[int]) -> Integers:
    """Return Python integers as int64 if all fit, else as objects."""
    try:
        return np.array(values, dtype=np.int64)
    except OverflowError:
        return object_array(values)


def total(left: Integers, right: Integers) -> Integers:
    """Return the exact sum of two arrays of integers."""
    if left.dtype != object and right.dtype != object and _reach(left) + _reach(right) < _SIGNED:
        return left.astype(np.int64) + right.astype(np.int64)
    return narrowed([int(a) + int(b) for a, b in zip(left.tolist(), right.tolist(), strict=True)])


def _reach(values: Integers) -> int:
    """Return the largest size of a number."""
    return max(int(values.max(initial=0)), -int(values.min(initial=0)))


def positive(name: str, value: object) -> Fraction:
    """Return a public parameter as an exact positive rational, or raise InputError."""
    if not isinstance(value, Rational) or value <= 0:
        raise InputError(
            f"{name} is {value!r}",
            rule="it must be a Fraction or integer > 0",
            fix="where there is no noise, do not draw",
        )
    return Fraction(int(value.numerator), int(value.denominator))


def whole_number(name: str, value: object, least: int) -> int:
    """Return an integer from `least` up, or raise a silent InputError."""
    if not isinstance(value, Integral) or value < least:
        raise InputError(f"{name} must be an integer >= {least}")
    return int(value)


def places_of(numbers: Iterable[Fraction | int]) -> dict[Fraction, list[int]]:
    """Return the places of each number."""
    places: dict[Fraction, list[int]] = {}
    for place, number in enumerate(numbers):
        places.setdefault(Fraction(number), []).append(place)
    return places


def permute_and_flip(deficits: Sequence[Fraction | int], rate: Fraction, entropy: Entropy) -> int:
    """Choose a uniform candidate of those with heads, each a coin of probability exp(-rate * deficit)."""
    # That is the first head in a random order of the candidates (McKenna and Sheldon 2020, Algorithm 1).
    exact = positive("the rate", rate)
    if not deficits or min(deficits) != 0:
        raise InputError("no candidate is the best one", rule="the least deficit is 0").at("deficits")
    heads: list[int] = []
    for deficit, places in places_of(deficits).items():
        coins = bernoulli_exp(*(deficit * exact).as_integer_ratio(), len(places), entropy)
        heads += [candidate for candidate, coin in zip(places, coins.tolist(), strict=True) if coin]
    return heads[int(uniform_below(len(heads), 1, entropy)[0])]
