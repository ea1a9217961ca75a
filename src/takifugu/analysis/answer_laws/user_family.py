"""One of many independent users: the laws of a scalar answer given its states, and the Laplace noise that hides them.

The answer is c(X_v) + R: user v's contribution and the sum R of all others', which is independent of it. Given
X_v = a the answer is c_a + R; given that v is removed, R; given that v's value is unknown, C + R, where C has the law p
of v's contribution (Ding22 Appendix A). For Laplace noise of scale b let loss be the largest log-ratio.

*Two states with one contribution each, c apart*: loss = |c|/b exactly, whatever the others do. At most: it is so
without R, and adding R is post-processing. At least: beyond all atoms the density of R + noise is K e^{-y/b} on the
right, so there the ratio of the two shifts of it is e^{c/b} (and e^{-c/b} on the left). W-infinity is |c|: the shift is
a plan, and the means differ by c. So the smallest scale is |c|/epsilon, and no law of the others is needed (Ding22
eq. 13; x - x' = f_v(a) - f_v(b), with its sign: errata X8).

*The value a against an unknown value*: without R the log-ratios, extreme at atoms, are
    at y = c_a:             -log E e^{-|C - c_a|/b},
    beyond the last atom:   log E e^{(C - c_a)/b}  and its negative,   and the same with signs changed before the first
(|y - c_a| <= |y - c| + |c - c_a|, so the first is the largest of a over p; |y - c_a| - |y - c| grows with y > c_a and
falls with y < c_a, so p over a is largest outside). Those outside are the same with R; if c_a is the least or the
largest contribution the first is one of them. So only for a value strictly inside does R help, and there the smallest
scale is found from the law of R. W-infinity is max |C - c_a| with and without R: the distance of the highest, or of the
lowest, atoms.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import starmap

import numpy as np

from takifugu.analysis.answer_laws.dense import DenseFamily
from takifugu.analysis.answer_laws.listed import ListedFamily
from takifugu.analysis.questions.compared import (
    BoundedFamily,
    Compared,
    LawIndex,
    Loss,
    bounded,
    laws_of,
    least_scale,
    unordered,
)
from takifugu.core.arrays import FloatArray
from takifugu.model.secrets.families import compared_values
from takifugu.numbers.distributions.exact_ratio import log_masses
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.extended.floats import UNIT
from takifugu.numbers.extended.leave_one_out import ROUNDED
from takifugu.numbers.rationals import float_above

LeastScale = Callable[[Fraction], Fraction]


@dataclass(frozen=True, eq=False)
class Contribution:
    """What one user adds to the answer: `states[i]` for its i-th value, `law` on average; all in grid units."""

    states: tuple[int, ...]
    law: Pmf

    @cached_property
    def log_law(self) -> tuple[FloatArray, FloatArray]:
        """The atoms and the logarithms of their masses, however small these are."""
        return self.law.values.astype(np.float64), log_masses(self.law)


def user_family(
    user: int,
    pairs: tuple[tuple[int, int], ...],
    share: Contribution,
    unknown: int | None,
    full: Callable[[], DenseFamily | ListedFamily] | None,
    refines: bool,
) -> BoundedFamily:
    """Return the comparisons of one user's states, bounded without their laws (see above)."""
    hulls = {}
    for value in compared_values(pairs):
        hulls[value] = (share.law if value == unknown else Pmf([share.states[value]], [1]),)
    # without `full` laws of the contribution alone: enough for noise added to the answer, and nothing else
    alone = ListedFamily(user, pairs, hulls, 0.0 if share.law.exact else ROUNDED)
    laws = full or (lambda: alone)

    def compared(number: int, sides: tuple[LawIndex, LawIndex]) -> Compared:
        states = [share.states[value] for value, _ in sides if value != unknown]
        if len(states) == 2:
            reach, loss, smallest_scale = _shifted(*states)
        else:
            refined = (lambda epsilon: laws().compared[number].smallest_scale(epsilon)) if full and refines else None
            reach, loss, smallest_scale = _unknown(share, states[0], refined)
        return bounded(sides, reach, loss, lambda: laws_of(laws(), *sides), smallest_scale)

    comparisons = tuple(starmap(compared, enumerate(unordered(pairs, dict.fromkeys(hulls, 1)))))
    return BoundedFamily(user, comparisons, laws, full is not None, alone if full else None)


def _shifted(state: int, other: int) -> tuple[int, Loss, LeastScale]:
    """Return what is known of two contributions: W-infinity, the loss and the smallest scale."""
    reach = abs(state - other)

    def loss(scale: Fraction) -> float:
        if not reach:
            return 0.0
        return float_above(reach / scale) if scale else math.inf

    return reach, loss, lambda epsilon: Fraction(reach) / epsilon


def _unknown(share: Contribution, state: int, refined: LeastScale | None) -> tuple[int, Loss, LeastScale]:
    """Return the same of a contribution against an unknown one, exact but for a value strictly inside."""
    (low, high), (atoms, logs) = map(int, share.law.support_range), share.log_law
    reach = max(high - state, state - low)

    def outside(scale: Fraction) -> float:
        """Return the largest |log-ratio| beyond all atoms."""
        moved = (atoms - state) / float(scale)
        return max(abs(_log_sum(logs + moved)), abs(_log_sum(logs - moved)))

    def loss(scale: Fraction) -> float:
        if not reach:
            return 0.0
        if not scale:
            return math.inf
        inside = -_log_sum(logs - np.abs(atoms - state) / float(scale))
        rounding = 8 * UNIT * (float(reach / scale) + float(np.abs(logs).max()) + len(logs) + 8)
        return max(outside(scale), inside) + rounding

    def smallest_scale(epsilon: Fraction) -> Fraction:
        """Return the least scale, within 2**-34; only the user's contribution counts where nothing is refined."""
        scale = least_scale(loss, reach, epsilon)
        if refined is None or not scale or outside(scale * (1 - Fraction(1, 2**34))) > epsilon:
            return scale
        return min(scale, refined(epsilon))

    return reach, loss, smallest_scale


def _log_sum(logs: FloatArray) -> float:
    top = float(logs.max())
    return top + math.log(float(np.exp(logs - top).sum()))
