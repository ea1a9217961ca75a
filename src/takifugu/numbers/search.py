"""Searches for where something stops holding: what they return was seen to hold, so that rounding costs no promise.

`halved` knows only whether it holds; searches for scales know by how much.
"""

from __future__ import annotations

import math
import sys
from bisect import insort
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

from takifugu.numbers.rationals import float_below, short_above, short_below

T = TypeVar("T")
Real = TypeVar("Real", float, Fraction)
GOLDEN = (math.sqrt(5) - 1) / 2

#: What is judged safe is at least so far from the target, and what is not at least so far beyond, in logarithms.
LEAST = 1e-15

#: Two short scales lie at most so far apart, relatively.
SCALE_TOLERANCE = 2.0**-36

#: What a scale loses: it falls as the scale grows, nearly a line in logarithms.
Loss = Callable[[Any], float]
Losses = Callable[[list[Any]], Sequence[float]]

#: A curve goes through so many tried scales on either side.
_BESIDE = 4
#: A try within it of a scale that was tried, in logarithms, is to show that one of both ends lies next to the target.
_CLOSE = 2.0**-34


def smallest_safe(
    loss: Callable[[float], float], safe: float, target: float | Fraction, low: float = sys.float_info.min,
    first: float = 1.5,
) -> float:  # fmt: skip
    """Return the least short scale that loses at most `target`, or `safe` where none below it does."""
    return float(Search(safe, target, low, first).alone(loss))


def smallest_scale(loss: Callable[[Fraction], float], epsilon: Fraction, high: Fraction, low: Fraction) -> Fraction:
    """Return the least short scale from `low` with a loss within epsilon, or `high` where none below it has."""
    # `loss` is an upper bound, mostly about the scale's inverse; `high` needs no check.
    return Fraction(Search(high, epsilon, low).alone(lambda scale: loss(Fraction(scale))))


def smallest_noise(loss: Callable[[Fraction], float], epsilon: Fraction, high: Fraction, low: Fraction) -> Fraction:
    """Return 0 if no noise suffices, else `smallest_scale`."""
    if loss(Fraction(0)) <= epsilon:
        return Fraction(0)
    return smallest_scale(loss, epsilon, high, low)


class _Point(NamedTuple):
    """A scale that was tried, behind its logarithm, and what it loses."""

    place: float
    scale: Any
    lost: float


def side_by_side(searches: Sequence[Search], losses: Losses) -> list[Any]:
    """Return the scale that each search finds: all of them know what was tried, and ask for more at once."""
    points, found = list[_Point](), dict[int, Any]()
    running = {number: search.scales(points) for number, search in enumerate(searches)}
    asked = {number: next(search) for number, search in running.items()}
    while asked:
        scales = [*dict.fromkeys(asked.values())]  # none was tried: each lies between two that were, side by side
        for scale, lost in zip(scales, losses(scales), strict=True):
            insort(points, _Point(math.log(scale), scale, lost))
        for number in [*asked]:
            try:
                asked[number] = next(running[number])
            except StopIteration as end:
                found[number] = end.value
                del asked[number]
    return [found[number] for number in range(len(searches))]


@dataclass(frozen=True)
class Search:
    """A search for the least scale whose loss is at most `target`, by curves through the scales that were tried.

    Only short scales are tried. The next shorter one below what is found lost more, so no path to it matters.
    """

    #: A scale that is known to be safe, whatever the loss is judged to be there.
    safe: float | Fraction
    target: float | Fraction
    #: Scales below it are not tried, nor at first one that is more than e^first times smaller.
    low: float | Fraction = sys.float_info.min
    first: float = math.inf

    def alone(self, loss: Loss) -> Any:
        """Return the scale that is found by a loss of one scale at a time."""
        (scale,) = side_by_side([self], lambda scales: list(map(loss, scales)))
        return scale

    def scales(self, tried: Sequence[_Point]) -> Generator[Any, None, Any]:
        """Yield what is to be tried next, and return the least scale that holds."""
        goal, least = float_below(Fraction(self.target)), short_above(math.nextafter(float(self.low), 0.0))
        bottom, top, most, was_close = math.log(least), math.log(self.safe), math.inf, False
        yield self.safe
        while True:
            points = [point for point in tried if bottom <= point.place <= top]
            good = next((number for number, point in enumerate(points) if point.lost <= goal), len(points))
            if good == len(points):
                return self.safe
            best = points[good]
            lowest = short_above(points[good - 1].scale) if good else least
            if best.scale <= lowest:
                return best.scale
            if not good:
                place = best.place - self._step(points[:2], goal)
            else:
                bad = points[good - 1]
                nearest, place = min(-_excess(best, goal), _excess(bad, goal)), _crossing(points, good, goal)
                is_close = min(best.place - place, place - bad.place) < _CLOSE
                # a loss that jumps is no curve: where neither end came nearer to the target, the middle is tried
                if nearest > most and (was_close or not is_close):
                    place = (best.place + bad.place) / 2
                else:
                    most, was_close = nearest / 2, is_close
            yield min(max(short_above(math.exp(place)), lowest), short_below(best.scale))

    def _step(self, points: Sequence[_Point], goal: float) -> float:
        """Return how far below the least scale the target is met, where none was tried that loses more."""
        excess, *others = [_excess(point, goal) for point in points]
        if not others:
            most = self.first if math.isfinite(excess) else 1.5
            return min(max(-1.05 * excess, 0.01), most)
        gap, is_line = points[1].place - points[0].place, -math.inf < others[0] < excess
        remaining = 1.05 * excess / (others[0] - excess) * gap if is_line else 2 * gap
        return min(max(remaining, 0.01), 8 * max(gap, 0.1))


def _excess(point: _Point, goal: float) -> float:
    """Return the log of what a scale loses beyond the goal, below 0 if it holds."""
    beyond = math.log(point.lost / goal) if point.lost > 0 else -math.inf
    return min(beyond, -LEAST) if point.lost <= goal else max(beyond, LEAST)


def _crossing(points: Sequence[_Point], good: int, goal: float) -> float:
    """Return where the curve through the points around `good` and the one below it meets the goal."""
    best, bad = points[good], points[good - 1]
    for some in (points[max(good - _BESIDE, 0) : good + _BESIDE], (bad, best)):
        excesses = [_excess(point, goal) for point in some]
        falls = all(lower > upper for lower, upper in pairwise(excesses))
        if not falls or not all(map(math.isfinite, excesses)):
            continue
        # Neville's scheme for the place as a polynomial of the excess, at excess 0
        places = [point.place - best.place for point in some]
        for span in range(1, len(some)):
            for n in range(len(some) - span):
                left, right = excesses[n], excesses[n + span]
                places[n] = (left * places[n + 1] - right * places[n]) / (left - right)
        if bad.place < best.place + places[0] < best.place:
            return best.place + places[0]
    return (best.place + bad.place) / 2


def doubled(loss: Loss, start: float, target: float | Fraction, times: int) -> float | None:
    """Return the first of start, 2 start, 4 start, ... that loses at most `target`; None after so many."""
    for _ in range(times):
        if loss(start) <= target:
            return start
        start *= 2
    return None


def halved(
    holds: Callable[[T], bool], good: T, bad: T, is_close: Callable[[T, T], bool], middle: Callable[[T, T], T]
) -> T:
    """Return `good`, or a holding place close to a failing one; `is_close(good, bad)` ends the search."""
    # `holds` is true at `good`, false at `bad`, and changes once between them.
    while not is_close(good, bad):
        place = middle(good, bad)
        good, bad = (place, bad) if holds(place) else (good, place)
    return good


def next_to(left: int, right: int) -> bool:
    """Whether no integer lies between two."""
    return abs(left - right) <= 1


def are_neighbours(left: float, right: float) -> bool:
    """Return whether no float lies between two."""
    return left == right or math.nextafter(left, right) == right


def between(left: int, right: int) -> int:
    """Return the integer in the middle of two."""
    return (left + right) // 2


def mean(left: Real, right: Real) -> Real:
    """Return the middle of two numbers."""
    return (left + right) / 2


def geometric_mean(left: float, right: float) -> float:
    """Return the middle of two numbers above 0, by their logarithms."""
    return math.sqrt(left * right)


def lowest(tried: Callable[[float], T], low: float, high: float, cuts: int, key: Callable[[T], float]) -> T:
    """Return the best value tried of a function with one valley, by golden sections."""
    # Nothing is promised but that the value was tried.
    places = [high - (high - low) * GOLDEN, low + (high - low) * GOLDEN]
    values = list(map(tried, places))
    best = min(values, key=key)
    for _ in range(cuts):
        if key(values[0]) <= key(values[1]):
            high = places[1]
            places = [high - (high - low) * GOLDEN, places[0]]
            values = [tried(places[0]), values[0]]
        else:
            low = places[0]
            places = [places[1], low + (high - low) * GOLDEN]
            values = [values[1], tried(places[1])]
        best = min(best, *values, key=key)
    return best


def least_factor(fits: Callable[[Fraction], bool]) -> Fraction | None:
    """Return nearly the least factor above 1 to fit; None above 2**20."""
    low, high = Fraction(1), Fraction(2)
    while not fits(high):
        low, high = high, high * 4
        if high > 2**20:
            return None

    def middle(low: Fraction, high: Fraction) -> Fraction:
        return Fraction(math.ceil(math.sqrt(low * high) * 1000), 1000)

    return halved(fits, high, low, lambda good, bad: good <= bad * Fraction(101, 100), middle)
