"""Run a sampler along every path of its uniform draws, with exact probabilities."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from takifugu.numbers.noise import integers


class TooRare(Exception):
    """A path of draws is rarer than the enumeration follows."""


def every_run(body: Callable[[Callable[[int], int]], object], least: Fraction) -> Iterator[tuple[object, Fraction]]:
    """Run `body` along every path of its uniform draws; yield (result, probability), None where a path is too rare."""
    pending: list[list[int]] = [[]]
    path: list[int] = []
    position, chance = 0, Fraction(1)

    def draw(bound: int) -> int:
        nonlocal position, chance
        if chance < least * bound:
            raise TooRare
        if position == len(path):
            pending.extend([*path, other] for other in range(1, bound))
            path.append(0)
        chance, position = chance / bound, position + 1
        return path[position - 1]

    while pending:
        path, position, chance = pending.pop(), 0, Fraction(1)

        try:
            yield body(draw), chance
        except TooRare:
            yield None, chance


def law_of_draws(patch: pytest.MonkeyPatch, draw_once: Callable[[], object], least: Fraction) -> dict[Any, Fraction]:
    """Return the exact law of one draw of integer samplers; None has what was too rare to follow."""

    def body(draw: Callable[[int], int]) -> object:
        def below(bound: int, size: int, _: object) -> np.ndarray:
            return np.array([draw(bound) if bound > 1 else 0 for _ in range(size)], dtype=np.uint64)

        patch.setattr(integers, "_below", below)
        patch.setattr(integers, "coin_flips", lambda n, _: np.array([draw(2) == 1 for _ in range(n)], dtype=bool))
        return draw_once()

    law: defaultdict[Any, Fraction] = defaultdict(Fraction)
    for result, chance in every_run(body, least):
        law[result] += chance
    assert sum(law.values()) == 1
    return law
