"""The search for the smallest scale that keeps a loss, which falls as the scale grows, within epsilon."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

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
            answer, high, above, last = scale, guess, min(math.log(value) - target, -1e-15), -1
        else:
            above = above / 2 if last > 0 else above
            low, under, last = guess, max(math.log(min(value, 1e300)) - target, 1e-15), 1
    return answer
