"""Searches for where something stops holding: what they return was seen to hold, so that rounding costs no promise.

`halved` knows only whether it holds; `narrowed` and the searches for scales know by how much.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeVar, cast

T = TypeVar("T")
Real = TypeVar("Real", float, Fraction)
Scale = TypeVar("Scale", bound="float | Fraction")
Key = TypeVar("Key", bound=Hashable)
Place = TypeVar("Place", bound=Hashable)
Value = TypeVar("Value")
GOLDEN = (math.sqrt(5) - 1) / 2

#: What is judged safe is at least so far from the target, and what is not at least so far beyond, in logarithms.
LEAST = 1e-15

#: Relative width at which the search for a scale stops.
SCALE_TOLERANCE = 2.0**-36

#: What a scale loses: it falls as the scale grows, nearly a line in logarithms.
Loss = Callable[[Any], float]


def smallest_safe(
    loss: Loss, safe: Scale, target: float | Fraction, tolerance: float = SCALE_TOLERANCE, low: float = 0.0,
    first: float = 1.5,
) -> Scale:  # fmt: skip
    """Return `safe`, or a smaller scale that loses at most `target`, at most `tolerance` above one that loses more."""
    judged, goal = dict[float, float | Fraction](), float(target)

    def excess(log_scale: float) -> float:
        scale = judged[log_scale] if log_scale in judged else math.exp(log_scale)
        lost = loss(scale)
        judged[log_scale] = scale
        beyond = math.log(lost / goal) if lost > 0 else -math.inf
        return min(beyond, -LEAST) if lost <= target else max(beyond, LEAST)

    good = math.log(safe)
    # Scales below `low` are not tried, nor at first one that is more than e^first times smaller.
    lowest = math.log(low) if low else -math.inf
    judged[good] = safe
    at_good = excess(good)
    most = first if math.isfinite(at_good) else 1.5
    step = min(max(-1.05 * at_good, 0.01), most)
    while at_good < 0 and good > lowest:
        bad = max(good - step, lowest)
        at_bad = excess(bad)
        if at_bad > 0:
            return cast(Scale, judged[narrowed(excess, good, bad, at_good, at_bad, tolerance / 2)])
        is_line = math.isfinite(at_good) and at_good < at_bad
        remaining = 1.05 * at_bad / (at_good - at_bad) * (good - bad) if is_line else 2 * step
        good, at_good, step = bad, at_bad, min(max(remaining, 0.01), 8 * step)
    return cast(Scale, judged[good])


def narrowed(
    excess: Callable[[float], float], good: float, bad: float, at_good: float, at_bad: float, width: float
) -> float:
    """Return `good`, or a place below it with negative excess, at most `width` above a place without."""
    # The excess falls, is below 0 at `good` and above 0 at `bad`.
    turn, last = 0, 0.0
    while good - bad > width:
        turn += 1
        # False position; where one end stays, its excess counts less (Anderson and Björck); each eighth is the middle.
        is_line = turn % 8 and math.isfinite(at_good) and math.isfinite(at_bad)
        share = at_bad / (at_bad - at_good) if is_line else 0.5
        place = min(max(bad + (good - bad) * share, bad + width / 2), good - width / 2)
        value = excess(place)
        fall = 1 - value / last if value * last > 0 and math.isfinite(last) else 1.0
        factor = fall if fall > 0 else 0.5
        if value < 0:
            good, at_good, at_bad = place, value, at_bad * factor
        else:
            bad, at_bad, at_good = place, value, at_good * factor
        last = value
    return good


def doubled(loss: Loss, start: float, target: float | Fraction, times: int) -> float | None:
    """Return the first of start, 2 start, 4 start, ... that loses at most `target`; None after so many."""
    for _ in range(times):
        if loss(start) <= target:
            return start
        start *= 2
    return None


def smallest_scale(loss: Callable[[Fraction], float], epsilon: Fraction, high: Fraction, low: Fraction) -> Fraction:
    """Return `high`, or a smaller scale with a loss within epsilon, at most 2**-36 above one that lost more."""
    # `loss` is an upper bound, mostly about the scale's inverse; `high` needs no check, none below `low` is tried.
    return Fraction(smallest_safe(lambda scale: loss(Fraction(scale)), high, epsilon, low=float(low), first=math.inf))


class _Waiting(BaseException):
    """A search goes on when what it asks for is known."""


def side_by_side(
    searches: Mapping[Key, Callable[[Callable[[Place], Value]], T]], values: Callable[[list[Place]], Sequence[Value]]
) -> dict[Key, T]:
    """Return what searches find: those values that each of them asks for next are found together."""
    known, found = dict[Place, Value](), dict[Key, T]()

    def value(place: Place) -> Value:
        if place not in known:
            raise _Waiting(place)
        return known[place]

    while len(found) < len(searches):
        asked = dict[Place, None]()
        for key, search in searches.items():
            if key in found:
                continue
            try:
                found[key] = search(value)  # from its start, and the same way up to where it was
            except _Waiting as waiting:
                asked[waiting.args[0]] = None
        if asked:
            known.update(zip(asked, values([*asked]), strict=True))
    return found


def smallest_noise(loss: Callable[[Fraction], float], epsilon: Fraction, high: Fraction, low: Fraction) -> Fraction:
    """Return 0 if no noise suffices, else `smallest_scale`."""
    if loss(Fraction(0)) <= epsilon:
        return Fraction(0)
    return smallest_scale(loss, epsilon, high, low)


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
