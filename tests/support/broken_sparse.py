"""A corpus of sparse vectors that are wrong, each with the loss that it claims and its exact law.

The published variants of the ordinary technique, numbered as in Lyu, Su and Li 2017 ("Understanding the Sparse
Vector Technique for Differential Privacy", Figure 1), on the integers: threshold noise R and question noise N are
discrete Laplace, "above" is f + N >= t + 1 + R. Their losses are against ordinary neighbours, all counts within 1.
Imports no takifugu.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.support.asymmetric import SAFE, laplace

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
