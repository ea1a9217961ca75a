"""The noise that one quilt requires when the laws of its near set are known (`quilt_local` has the proof).

It is the least scale at which their log-ratio after Laplace noise, one way, fits beside what the quilt reveals.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from takifugu.analysis.answer_laws.dense import SMALLEST_PLACES
from takifugu.numbers.after_noise.laplace_pair import Pair
from takifugu.numbers.after_noise.noised import laplace_log_ratio_directed
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.log_ratios import DEAD, FloatArray
from takifugu.numbers.search import SCALE_TOLERANCE, smallest_safe

#: What taking logarithms of float masses, and subtracting them, can change in a log-ratio of the laws themselves.
LOG_ERROR = Fraction(1, 2**38)


@dataclass(frozen=True)
class NearLaws:
    """The law of the near set's sum given a and given b, for one value x_Q of the quilt; masses right up to `error`."""

    p: Pmf
    q: Pmf
    error: float

    @property
    def margin(self) -> Fraction:
        """How far the errors of the masses can move a log-ratio."""
        return 2 * Fraction(self.error) * (1 + Fraction(self.error))

    @property
    def reach(self) -> Fraction:
        """The largest distance between an atom of one law and an atom of the other."""
        (p_least, p_most), (q_least, q_most) = self.p.support_range, self.q.support_range
        return max(Fraction(p_most) - Fraction(q_least), Fraction(q_most) - Fraction(p_least))


def quilt_scale(
    ratios: FloatArray, laws: Callable[[int], NearLaws], epsilon: Fraction, best: Fraction
) -> Fraction | None:
    """Return the scale that a quilt requires for one ordered pair, or None if it is inadmissible or not below `best`.

    `ratios[x]` is an upper bound of log P(x_Q|a)/P(x_Q|b), DEAD where x_Q is impossible given a, and `laws(x)` the near
    laws there.
    """
    alive = np.flatnonzero(ratios > DEAD / 2)
    largest = Fraction(0)
    if Fraction(float(ratios[alive].max(initial=DEAD))) > epsilon:
        return None
    for x in alive[np.argsort(-ratios[alive])]:
        near, room = laws(int(x)), epsilon - Fraction(float(ratios[x]))
        if near.reach == 0 or (room and near.reach / room <= largest):
            continue
        needed = least_scale(near, room, best, largest) if room else None
        if needed is None or needed >= best:
            return None
        largest = max(largest, needed)
    return largest if largest < best else None


def least_scale(near: NearLaws, room: Fraction, best: Fraction, largest: Fraction) -> Fraction | None:
    """Return the least scale at which log A/B of the noised near laws, given a over given b, is at most `room`."""
    budget, enough = room - near.margin, near.reach / room
    if budget <= 0:
        return enough
    pair = Pair.of(near.p, near.q)

    def loss(scale: float) -> float:
        if scale < SMALLEST_PLACES:
            return math.inf
        needed = max(pair.log_ratios(scale)[0], 0.0)
        return needed + pair.error(needed) if math.isfinite(needed) else math.inf

    if largest and loss(float(largest)) <= budget:
        return largest
    if best <= enough and loss(float(best)) > budget:
        return None
    bare = laplace_log_ratio_directed(near.p, near.q, 0)
    if math.isfinite(bare) and Fraction(bare) * (1 + LOG_ERROR) + LOG_ERROR <= budget:
        return Fraction(0)
    safe = float(enough) * (1 + 2.0**-50)
    if loss(safe) > budget:
        return enough
    # The search judges floats a little below the rational that is returned.
    needed = smallest_safe(lambda s: (loss(s), loss(s) <= budget), safe, float(budget), SCALE_TOLERANCE / 4)
    return min(Fraction(needed), enough)
