"""The decisions that a case is made of: drawn from a seed, replayed, and made fewer and smaller while a case fails.

A generator asks for numbers below n and takes 0 for the simplest. The list of what it got is the case: any other list
makes a case, too, so one search for shorter and smaller lists minimises everything that can be generated.
"""

import random
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


class Choices:
    """Decisions from a seed, or from a list (0 where it ends); `taken` is what was decided."""

    def __init__(self, seed: str = "", replay: Sequence[int] | None = None) -> None:
        self._random = random.Random(seed)
        self._replay = replay
        self.taken: list[int] = []

    def below(self, n: int) -> int:
        if self._replay is None:
            value = self._random.randrange(n)
        else:
            place = len(self.taken)
            value = min(self._replay[place], n - 1) if place < len(self._replay) else 0
        self.taken.append(value)
        return value

    def between(self, low: int, high: int) -> int:
        return low + self.below(high - low + 1)

    def chance(self, n: int) -> bool:
        """Return True once in n times; False is the simpler."""
        return self.below(n) == n - 1

    def pick(self, options: Sequence[T]) -> T:
        """Return one of the options; the first is the simplest."""
        return options[self.below(len(options))]

    def some(self, options: Sequence[T], least: int = 1) -> list[T]:
        """Return at least `least` of the options, in order."""
        chosen = [option for option in options if self.below(2)]
        missing = [option for option in options if option not in chosen][: max(0, least - len(chosen))]
        return [option for option in options if option in chosen or option in missing]

    def shuffled(self, options: Sequence[T]) -> list[T]:
        left, order = list(options), []
        while left:
            order.append(left.pop(self.below(len(left))))
        return order


def smaller(decisions: Sequence[int], fails: Callable[[Sequence[int]], bool], seconds: float) -> list[int]:
    """Return fewer and smaller decisions that still fail, as far as the time allows."""
    end, best = time.monotonic() + seconds, list(decisions)
    changed = True
    while changed and time.monotonic() < end:
        changed = False
        for tried in _simpler(best):
            if time.monotonic() > end:
                break
            if fails(tried):
                best, changed = tried, True
                break
    return best


def _simpler(decisions: list[int]) -> list[list[int]]:
    candidates = []
    for size in (32, 16, 8, 4, 2, 1):
        candidates += [
            decisions[:i] + decisions[i + size :] for i in range(0, len(decisions) - size + 1, max(1, size // 2))
        ]
    for i, value in enumerate(decisions):
        candidates += [
            [*decisions[:i], less, *decisions[i + 1 :]]
            for less in sorted({0, value // 2, value - 1})
            if 0 <= less < value
        ]
    return candidates
