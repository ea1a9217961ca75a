"""A corpus of sparse vectors that are wrong, each with the loss that it claims and its exact law.

First the published variants of the ordinary technique, numbered as in Lyu, Su and Li 2017 ("Understanding the Sparse
Vector Technique for Differential Privacy", Figure 1), on the integers: threshold noise R and question noise N are
discrete Laplace, "above" is f + N >= t + 1 + R. Their losses are against ordinary neighbours, all counts within 1. Then
mistakes of our own with SALap, against allowed moves. Imports no takifugu.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.support.asymmetric import SAFE, Rule, geometric, laplace, noisy

ABOVE = "above"
REACH = 40
#: Published values from here on, and from minus this down, are lumped: merging outputs never raises a loss.
MOST_PUBLISHED = 2


@dataclass(frozen=True)
class Variant:
    """An ordinary sparse vector: scales as multiples of 1/epsilon, for `limit` answers of "above" (None: no end)."""

    name: str
    threshold: Callable[[int], Fraction]
    question: Callable[[int], Fraction]  # 0: no noise
    stops: bool
    publishes: bool = False  # the noisy value of what is above
    is_private: bool = False

    def law(self, counts: Sequence[int], threshold: int, limit: int, epsilon: float) -> dict[Any, float]:
        """The law of the answers, threshold noise in the outer sum; tails beyond REACH are lumped at its ends."""
        scale = self.question(limit)
        noise = laplace(math.exp(-epsilon / scale), REACH) if scale else {0: 1.0}
        law: dict[Any, float] = defaultdict(float)
        for r, chance in laplace(math.exp(-epsilon / self.threshold(limit)), REACH).items():
            for answers, mass in self._given(counts, threshold + r, limit, noise).items():
                law[answers] += chance * mass
        return dict(law)

    def _given(self, counts: Sequence[int], level: int, limit: int, noise: dict[int, float]) -> dict[Any, float]:
        law: dict[Any, float] = {(): 1.0}
        for count in counts:
            after: dict[Any, float] = defaultdict(float)
            single: dict[Any, float] = defaultdict(float)
            for n, mass in noise.items():
                z = count + n
                published = max(-MOST_PUBLISHED, min(z, MOST_PUBLISHED)) if self.publishes else ABOVE
                single[SAFE if z <= level else published] += mass
            for past, chance in law.items():
                if self.stops and sum(answer not in (SAFE, None) for answer in past) >= limit:
                    after[(*past, None)] += chance
                    continue
                for answer, mass in single.items():
                    after[(*past, answer)] += chance * mass
            law = after
        return law


HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)
ORDINARY = [
    Variant("Algorithm 1: Lyu, Su and Li 2017", lambda c: 1 / HALF, lambda c: 2 * c / HALF, True, is_private=True),
    Variant("Algorithm 3: Roth's lecture notes 2011", lambda c: 1 / HALF, lambda c: c / HALF, True, publishes=True),
    Variant("Algorithm 4: Lee and Clifton 2014", lambda c: 1 / QUARTER, lambda c: 1 / (1 - QUARTER), True),
    Variant("Algorithm 5: Stoddard, Chen and Machanavajjhala 2014", lambda c: 1 / HALF, lambda c: Fraction(0), False),
    Variant("Algorithm 6: Chen, Xiao, Zhang and Xu 2015", lambda c: 1 / HALF, lambda c: 1 / HALF, False),
    Variant("GPTT: Chen and Machanavajjhala 2015", lambda c: 1 / QUARTER, lambda c: 1 / (1 - QUARTER), False),
]

Mutant = Callable[[Sequence[int], Rule, int, Fraction, int], dict[Any, Fraction]]


def _steps(answer: Callable[[int, int, Fraction, int], dict[Any, Fraction]], stops: bool = True) -> Mutant:
    """Return the law of marks that are drawn one after the other, with `answer` (count, threshold, decay, cap)."""

    def law(counts: Sequence[int], rule: Rule, limit: int, decay: Fraction, cap: int) -> dict[Any, Fraction]:
        masses: dict[tuple[Any, ...], Fraction] = {(): Fraction(1)}
        for count in counts:
            after: dict[tuple[Any, ...], Fraction] = defaultdict(Fraction)
            for past, chance in masses.items():
                is_over = stops and _stopped(past, limit)
                marks = {None: Fraction(1)} if is_over else answer(count, rule(past), decay, cap)
                for mark, mass in marks.items():
                    after[(*past, mark)] += chance * mass
            masses = after
        return dict(masses)

    return law


def _stopped(past: tuple[Any, ...], limit: int) -> bool:
    return sum(isinstance(answer, int) for answer in past) >= limit


def _compared(law: dict[int, Fraction], threshold: int) -> dict[Any, Fraction]:
    compared: dict[Any, Fraction] = defaultdict(Fraction)
    for z, mass in law.items():
        compared[SAFE if z <= threshold else z] += mass
    return compared


def one_noise(counts: Sequence[int], rule: Rule, limit: int, decay: Fraction, cap: int) -> dict[Any, Fraction]:
    """One draw for all questions, as threshold noise alone would be: two values tell their counts' difference."""
    law: dict[Any, Fraction] = defaultdict(Fraction)
    for k, mass in geometric(decay, cap).items():
        past: tuple[Any, ...] = ()
        for count in counts:
            z = min(count + k, cap)
            past = (*past, None if _stopped(past, limit) else SAFE if z <= rule(past) else z)
        law[past] += mass
    return dict(law)


def _honest(count: int, threshold: int, decay: Fraction, cap: int) -> dict[Any, Fraction]:
    return _compared(noisy(count, decay, cap), threshold)


def _half_scale(count: int, threshold: int, decay: Fraction, cap: int) -> dict[Any, Fraction]:
    return _honest(count, threshold, decay**2, cap)


def _wrong_side(count: int, threshold: int, decay: Fraction, cap: int) -> dict[Any, Fraction]:
    return _compared({count - k: mass for k, mass in geometric(decay, cap).items()}, threshold)


def _second_draw(count: int, threshold: int, decay: Fraction, cap: int) -> dict[Any, Fraction]:
    """The comparison and the value have noise of their own: two uses of the count for the price of one."""
    safe = _honest(count, threshold, decay, cap).get(SAFE, Fraction(0))
    return {SAFE: safe, **{z: (1 - safe) * m for z, m in noisy(count, decay, cap).items()}}


def _exact_value(count: int, threshold: int, decay: Fraction, cap: int) -> dict[Any, Fraction]:
    """What is above is published as it is."""
    safe = _honest(count, threshold, decay, cap).get(SAFE, Fraction(0))
    return {SAFE: safe, count: 1 - safe}


#: Every mutant claims min(c, m) epsilon against allowed moves.
MUTANTS: dict[str, Mutant] = {
    "free values: no stop after c": _steps(_honest, stops=False),
    "half the scale": _steps(_half_scale),
    "noise on the wrong side": _steps(_wrong_side),
    "a second draw for the value": _steps(_second_draw),
    "the exact value above the threshold": _steps(_exact_value),
    "one noise for all questions": one_noise,
}
