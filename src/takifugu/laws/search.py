"""The smallest scale that is safe, found from the safe side."""

from __future__ import annotations

import math
from collections.abc import Callable

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
