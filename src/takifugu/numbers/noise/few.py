"""A few exact draws, by the steps of `integers` on Python's integers: for one number arrays are mostly overhead.

From the same bytes come the same values, one by one.
"""

from __future__ import annotations

from struct import unpack

from takifugu.numbers.noise.entropy import Entropy

_WORD = 1 << 64


def laplace_round(t: int, s: int, tries: int, entropy: Entropy) -> list[int]:
    """Return the accepted values of `tries` runs of `integers.discrete_laplace`."""
    magnitudes = geometric_round(t, s, tries, entropy)
    flips = int.from_bytes(entropy.bytes((len(magnitudes) + 7) // 8), "big")
    first = (len(magnitudes) + 7) // 8 * 8 - 1
    signs = [flips >> (first - place) & 1 for place in range(len(magnitudes))]
    values = []
    for magnitude, sign in zip(magnitudes, signs, strict=True):
        if magnitude or not sign:  # zero is drawn with one sign only
            values.append(-magnitude if sign else magnitude)
    return values


def geometric_round(t: int, s: int, tries: int, entropy: Entropy) -> list[int]:
    """Return at most `tries` independent geometric numbers floor((U + tV) / s)."""
    remainders = below(t, tries, entropy)
    coins = _exp_minus(remainders, t, entropy)
    remainders = [value for value, coin in zip(remainders, coins, strict=True) if coin]
    multiples = _geometric(len(remainders), entropy)
    return [(value + t * multiple) // s for value, multiple in zip(remainders, multiples, strict=True)]


def below(bound: int, size: int, entropy: Entropy) -> list[int]:
    """Return uniform integers below the bound, by rejection."""
    if bound == 1:
        return [0] * size
    if bound > _WORD:
        return [big_below(bound, entropy) for _ in range(size)]
    share = _WORD // bound
    draws = [word // share for word in _words(size, entropy)]
    rejected = [place for place, draw in enumerate(draws) if draw >= bound]
    while rejected:
        for place, word in zip(rejected, _words(len(rejected), entropy), strict=True):
            draws[place] = word // share
        rejected = [place for place in rejected if draws[place] >= bound]
    return draws


def big_below(bound: int, entropy: Entropy) -> int:
    """Return one uniform integer below a bound of any size."""
    bits = (bound - 1).bit_length()
    while True:
        draw = int.from_bytes(entropy.bytes((bits + 7) // 8), "little") & ((1 << bits) - 1)
        if draw < bound:
            return draw


def _exp_minus(numerators: list[int], denominator: int, entropy: Entropy) -> list[bool]:
    """Flip a coin per numerator a, True with probability exp(-a/denominator)."""
    coins = [False] * len(numerators)
    alive, k = list(range(len(numerators))), 1
    while alive:
        if denominator * k <= _WORD:
            draws = below(denominator * k, len(alive), entropy)
            success = [draw < numerators[place] for draw, place in zip(draws, alive, strict=True)]
        else:
            draws = below(denominator, len(alive), entropy)
            success = [draw < numerators[place] for draw, place in zip(draws, alive, strict=True)]
            seconds = iter(below(k, sum(success), entropy))
            success = [is_head and next(seconds) == 0 for is_head in success]
        if k % 2:
            for place, is_head in zip(alive, success, strict=True):
                coins[place] = not is_head
        alive = [place for place, is_head in zip(alive, success, strict=True) if is_head]
        k += 1
    return coins


def _geometric(size: int, entropy: Entropy) -> list[int]:
    """Return integers with P(V >= v) = e^-v."""
    counts = [0] * size
    alive = list(range(size))
    while alive:
        coins = _exp_minus([1] * len(alive), 1, entropy)
        alive = [place for place, coin in zip(alive, coins, strict=True) if coin]
        for place in alive:
            counts[place] += 1
    return counts


def _words(size: int, entropy: Entropy) -> tuple[int, ...]:
    return unpack(f"<{size}Q", entropy.bytes(8 * size))
