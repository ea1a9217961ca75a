"""Exact laws of one-sided mechanisms, from their steps: rational masses, tails lumped at a cap. Imports no takifugu.

`decay` is a = e^-epsilon as a Fraction, so that "loss <= k epsilon" reads P <= a^-k P', which is decided exactly.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import Any

Law = Mapping[Hashable, Fraction]
Rule = Callable[[tuple[Any, ...]], int]
SAFE = "safe"


def geometric(decay: Fraction, cap: int) -> dict[int, Fraction]:
    """K with P(K >= k) = decay^k; `cap` stands for everything from there on."""
    return {**{k: (1 - decay) * decay**k for k in range(cap)}, cap: decay**cap}


def noisy(count: int, decay: Fraction, cap: int) -> dict[int, Fraction]:
    """count + K, cut off at `cap`: this is AGeo with n = cap."""
    return {count + k: mass for k, mass in geometric(decay, cap - count).items()}


def laplace(decay: Any, reach: int) -> dict[int, Any]:
    """Discrete Laplace on -reach..reach, tails lumped at the ends."""
    inside = {k: (1 - decay) / (1 + decay) * decay ** abs(k) for k in range(1 - reach, reach)}
    return {**inside, -reach: decay**reach / (1 + decay), reach: decay**reach / (1 + decay)}


def together(laws: Sequence[Mapping[Any, Any]]) -> dict[tuple[Any, ...], Any]:
    """The law of a vector of independent cells."""
    joint = {}
    for cells in product(*(law.items() for law in laws)):
        joint[tuple(y for y, _ in cells)] = math.prod(mass for _, mass in cells)
    return joint


def sparse(counts: Sequence[int], rule: Rule, limit: int | None, decay: Fraction, cap: int) -> dict[Any, Fraction]:
    """SALap, step by step: every question's noise in turn, thresholds from the answers before."""
    law: dict[tuple[Any, ...], Fraction] = {(): Fraction(1)}
    for count in counts:
        after: dict[tuple[Any, ...], Fraction] = defaultdict(Fraction)
        for past, chance in law.items():
            if limit is not None and sum(isinstance(answer, int) for answer in past) >= limit:
                after[(*past, None)] += chance
                continue
            threshold = rule(past)
            for z, mass in noisy(count, decay, cap).items():
                after[(*past, SAFE if z <= threshold else z)] += chance * mass
        law = after
    return dict(law)


def noisy_max(counts: Sequence[int], decay: Fraction, cap: int) -> dict[Any, Fraction]:
    """The first place of the largest noisy count and that count; a largest one of `cap` or more is left out."""
    law: dict[Any, Fraction] = defaultdict(Fraction)
    for values, mass in together([noisy(count, decay, cap) for count in counts]).items():
        if max(values) < cap:
            law[values.index(max(values)), max(values)] += mass
    return dict(law)


def steps(one: Law, other: Law, decay: Fraction, most: int = 60) -> float:
    """The least whole k with one <= decay^-k other everywhere; infinite where `other` lacks an output of `one`."""
    worst = 0
    for output, mass in one.items():
        if not mass:
            continue
        there = other.get(output, Fraction(0))
        if not there:
            return math.inf
        while mass > there / decay**worst:
            worst += 1
            assert worst < most
    return worst


def log_ratio(one: Mapping[Any, Any], other: Mapping[Any, Any], lost: float = 0.0) -> float:
    """The largest log one/other, at least; `lost` is mass that the enumeration may lack on either side."""
    worst = 0.0
    for output, mass in one.items():
        if mass > lost:
            there = other.get(output, 0)
            worst = max(worst, math.inf if there + lost == 0 else float(math.log((mass - lost) / (there + lost))))
    return worst


def falls(counts: Sequence[int], most: int) -> Iterator[tuple[int, ...]]:
    """Every vector that one allowed move can lead to: some counts, `most` of them at most, fall by 1."""
    positive = [place for place, count in enumerate(counts) if count]
    for size in range(1, most + 1):
        for places in combinations(positive, size):
            yield tuple(count - (place in places) for place, count in enumerate(counts))
