"""Searches for where something stops holding: what they return was seen to hold, so that rounding costs no promise.

`halved` knows only whether it holds; the others know by how much, and take false position on logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar

T = TypeVar("T")
GOLDEN = (math.sqrt(5) - 1) / 2

#: Relative width at which the search for a scale stops.
SCALE_TOLERANCE = 2.0**-36


def smallest_safe(judge: Callable[[float], tuple[float, bool]], safe: float, target: float, tolerance: float) -> float:
    """Return a safe scale that is at most `tolerance` relative above one that is not.

    `judge(scale)` returns a loss that falls as the scale grows, and whether the scale is safe (loss <= target);
    `safe` must be a safe scale above zero, and some smaller one must not be. False position (Illinois) on log loss
    against log scale, which is nearly a line; both ends stay on their sides, so the answer has been judged safe.
    """

    def excess(log_scale: float) -> tuple[float, bool]:
        loss, is_safe = judge(math.exp(log_scale))
        return (min(math.log(loss), 1e6) if loss > 0 else -1e6) - math.log(target), is_safe

    answer, high, low, over, under, step = safe, math.log(safe), math.log(safe), 0.0, 0.0, math.log(2)
    while True:
        low -= step
        over, is_safe = excess(low)
        if not is_safe:
            break
        answer, high, under, step = math.exp(low), low, over, 2 * step
    width, turns, last = tolerance / 2, 0, None
    while high - low > 2 * width:
        turns += 1
        guess = low + (high - low) * over / (over - under) if over > under and turns % 5 else (low + high) / 2
        guess = min(max(guess, low + width), high - width)
        value, is_safe = excess(guess)
        if is_safe:
            answer, high, under, over = math.exp(guess), guess, value, over / 2 if last else over
        else:
            low, over, under = guess, value, under / 2 if last is False else under
        last = is_safe
    return answer


#: Relative width at which the search stops.
WIDTH = 2.0**-37


def smallest_scale(
    loss: Callable[[Fraction], float], proven: Fraction, smallest: Fraction, epsilon: Fraction
) -> Fraction:
    """Return a scale with loss <= epsilon, at most 2**-36 relative above the smallest, and at most `proven`.

    `loss` is an upper bound on the true loss at a scale, `proven` a scale above 0 that needs no check. Scales below
    `smallest` are not tried, except 0, no noise.

    >>> float(smallest_scale(lambda b: 3 / b if b else math.inf, Fraction(100), Fraction(1, 100), Fraction(2)))
    1.5000000000...
    """
    if loss(Fraction(0)) <= epsilon:
        return Fraction(0)
    answer, step = proven, 0.5
    high = math.log(proven)
    while high > math.log(smallest):
        guess = Fraction(math.exp(high - step))
        value = loss(guess)
        if value > epsilon:
            return _narrowed(loss, epsilon, high - step, value, answer)
        answer, high, step = guess, high - step, 2 * step
    return answer


def _narrowed(
    loss: Callable[[Fraction], float], epsilon: Fraction, low: float, value: float, answer: Fraction
) -> Fraction:
    """Search between a log scale that fails and a scale that holds; log loss against log scale is nearly a line."""
    high, target = math.log(answer), math.log(epsilon)
    under, above, last, turn = math.log(min(value, 1e300)) - target, -1e-3, 0, 0
    while high - low > WIDTH:
        turn += 1
        guess = low + (high - low) * (under / (under - above) if turn % 4 else 0.5)
        guess = min(max(guess, low + WIDTH / 2), high - WIDTH / 2)
        scale = Fraction(math.exp(guess))
        value = loss(scale)
        if value <= epsilon:
            under = under / 2 if last < 0 else under
            gap = math.log(value) - target if value > 0 else -1e6
            answer, high, above, last = scale, guess, min(gap, -1e-15), -1
        else:
            above = above / 2 if last > 0 else above
            low, under, last = guess, max(math.log(min(value, 1e300)) - target, 1e-15), 1
    return answer


def least_scale(loss: Callable[[Fraction], float], epsilon: Fraction, low: Fraction, high: Fraction) -> Fraction:
    """Return a scale from about `low` to `high` whose loss is at most epsilon, the least up to 1e-11 relative.

    `loss` falls, and loss(high) <= epsilon; any other scale that is returned was tried, and kept epsilon.
    False position on the logarithms, with halved weights (Illinois); the next scale is first guessed as if loss times
    scale were constant.

    >>> round(float(least_scale(lambda b: float(2 / b), Fraction(1), Fraction(1), Fraction(10))), 9)
    2.0
    """
    target = math.log(float(epsilon))

    def gap_at(power: float) -> tuple[Fraction, float]:
        scale = Fraction(math.exp(power)).limit_denominator(10**15)
        lost = loss(scale)
        return scale, (math.log(lost) if lost > 0 else -math.inf) - target

    lowest, right = math.log(float(low)), math.log(float(high))
    best, right_gap = gap_at(right)
    if right_gap > 0:
        return high
    while True:  # step down until the loss is too large
        if right <= lowest:
            return best
        left = max(lowest, right + min(1.05 * right_gap, -0.01))
        scale, left_gap = gap_at(left)
        if left_gap > 0:
            break
        right, right_gap, best = left, left_gap, scale
    side = 0
    for _ in range(60):
        width = right - left
        if width <= 1e-11:
            break
        share = right_gap / (right_gap - left_gap) if math.isfinite(right_gap) else 0.5
        middle = right - min(max(share * width, 3e-12), width * 0.999)
        scale, gap = gap_at(middle)
        if gap <= 0:
            right, right_gap, best = middle, gap, scale
            left_gap = left_gap / 2 if side == 1 else left_gap
            side = 1
        else:
            left, left_gap = middle, gap
            right_gap = right_gap / 2 if side == -1 else right_gap
            side = -1
    return best


def halved(
    holds: Callable[[Any], bool], good: T, bad: T, is_close: Callable[[T, T], bool], middle: Callable[[Any, Any], T]
) -> T:
    """Return `good`, or a place between it and `bad` where the condition was seen to hold: close to one where it fails.

    It holds at `good`, fails at `bad`, and changes once between them; `is_close(good, bad)` ends the search.

    >>> halved(lambda n: n * n >= 50, 100, 0, is_close=next_to, middle=between)
    8
    """
    while not is_close(good, bad):
        place = middle(good, bad)
        good, bad = (place, bad) if holds(place) else (good, place)
    return good


def next_to(one: int, other: int) -> bool:
    """Whether no integer lies between two."""
    return abs(one - other) <= 1


def are_neighbours(one: float, other: float) -> bool:
    """Whether no float lies between two.

    >>> are_neighbours(1.0, 1 + 2**-52), are_neighbours(1.0, 1 + 2**-51)
    (True, False)
    >>> halved(lambda x: x < 0.3, 0.0, 1.0, are_neighbours, mean)
    0.29999999999999993
    """
    return one == other or math.nextafter(one, other) == other


def between(one: int, other: int) -> int:
    """Return the integer in the middle of two."""
    return (one + other) // 2


def mean(one: Any, other: Any) -> Any:
    """Return the middle of two numbers."""
    return (one + other) / 2


def geometric_mean(one: float, other: float) -> float:
    """Return the middle of two numbers above 0, by their logarithms."""
    return math.sqrt(one * other)


def lowest(tried: Callable[[float], T], low: float, high: float, cuts: int, key: Callable[[T], float]) -> T:
    """Return the best of what a function with one valley gives between two places: golden sections.

    It is one of the values that were tried, so nothing is promised of it but that.

    >>> round(lowest(lambda x: (x - 2) ** 2, 0.0, 5.0, 20, key=float), 6)
    0.0
    """
    places = [high - (high - low) * GOLDEN, low + (high - low) * GOLDEN]
    inside = [tried(place) for place in places]
    best = min(inside, key=key)
    for _ in range(cuts):
        if key(inside[0]) <= key(inside[1]):
            high = places[1]
            places = [high - (high - low) * GOLDEN, places[0]]
            inside = [tried(places[0]), inside[0]]
        else:
            low = places[0]
            places = [places[1], low + (high - low) * GOLDEN]
            inside = [inside[1], tried(places[1])]
        best = min(best, *inside, key=key)
    return best
