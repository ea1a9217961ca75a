"""Run a sampler along every path of its uniform draws, with exact probabilities."""

from collections.abc import Callable, Iterator
from fractions import Fraction


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
