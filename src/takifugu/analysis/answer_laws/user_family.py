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
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from takifugu.analysis.answer_laws.dense import DenseFamily, compared
from takifugu.analysis.answer_laws.listed import ListedFamily
from takifugu.analysis.questions.answer_law import Compared, Comparisons
from takifugu.core.arrays import FloatArray
from takifugu.model.secrets.families import compared_values
from takifugu.numbers.distributions.exact_ratio import log_masses
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.extended.floats import UNIT
from takifugu.numbers.extended.leave_one_out import ROUNDED
from takifugu.numbers.rationals import float_above


@dataclass(frozen=True, eq=False)
class Contribution:
    """What one user adds to the answer: `states[i]` for its i-th value, `law` on average; all in grid units."""

    states: tuple[int, ...]
    law: Pmf

    @cached_property
    def log_law(self) -> tuple[FloatArray, FloatArray]:
        """The atoms and the logarithms of their masses, however small these are."""
        return self.law.values.astype(np.float64), log_masses(self.law)


@dataclass(frozen=True, eq=False)
class UserFamily(Comparisons):
    """The laws of the answer given each state of one user; losses and moves are known without them (see above).

    `hulls` are laws of the whole answer where `whole`, else of the user's contribution alone: enough for any noise that
    is added to the answer, and for nothing else.
    """

    entry: int
    pairs: tuple[tuple[int, int], ...]
    share: Contribution
    unknown: int | None
    full: Callable[[], DenseFamily | ListedFamily] | None
    refines: bool

    @property
    def whole(self) -> bool:
        return self.full is not None

    @cached_property
    def compared(self) -> tuple[Compared, ...]:
        """Return (a, 0, b, 0), once for every unordered pair of values."""
        return compared(self.pairs, dict.fromkeys(sum(self.pairs, ()), 1))

    @property
    def laws(self) -> DenseFamily | ListedFamily:
        """The family of the laws themselves, listed or dense."""
        return self.alone if self.full is None else self.full()

    @property
    def relative_error(self) -> float:
        return self.laws.relative_error

    @property
    def hulls(self) -> Mapping[int, tuple[Pmf, ...]]:
        return self.laws.hulls

    @cached_property
    def alone(self) -> ListedFamily:
        """The laws of the user's contribution."""
        laws = {}
        for value in compared_values(self.pairs):
            is_unknown = value == self.unknown
            laws[value] = (self.share.law if is_unknown else Pmf([self.share.states[value]], [1]),)
        rounded = 0.0 if self.share.law.exact else ROUNDED
        return ListedFamily(self.entry, self.pairs, laws, rounded)

    def reach(self, index: int) -> int:
        """Return W-infinity: how far the user's change moves the answer."""
        state, unknown = self._sides(index)
        if not unknown:
            return abs(state[0] - state[1])
        low, high = map(int, self.share.law.support_range)
        return max(high - state[0], state[0] - low)

    def smallest_scale(self, index: int, epsilon: Fraction) -> Fraction:
        """Return the least Laplace scale for epsilon, within 2**-34.

        Where the others help and their law is too much work, only the user's contribution counts.
        """
        if not self._sides(index)[1]:
            return Fraction(self.reach(index)) / epsilon
        scale = super().smallest_scale(index, epsilon)
        if self.full is None or not self.refines or not scale:
            return scale
        just_below = scale * (1 - Fraction(1, 2**34))
        if self._outside(index, just_below) > epsilon:
            return scale
        return min(scale, self.full().smallest_scale(index, epsilon))

    def loss(self, index: int, scale: Fraction) -> float:
        """Bound sup abs log A/B of a comparison; scale 0 is no noise.

        The bound is exact but for rounding, except for a value strictly inside against an unknown value, where the
        others help.
        """
        reach = self.reach(index)
        if not reach:
            return 0.0
        if not scale:
            return math.inf
        if not self._sides(index)[1]:
            return float_above(reach / scale)
        atoms, logs = self.share.log_law
        inside = -_log_sum(logs - np.abs(atoms - self._sides(index)[0][0]) / float(scale))
        rounding = 8 * UNIT * (float(reach / scale) + float(np.abs(logs).max()) + len(logs) + 8)
        return max(self._outside(index, scale), inside) + rounding

    def _outside(self, index: int, scale: Fraction) -> float:
        """Return the largest |log-ratio| beyond all atoms."""
        atoms, logs = self.share.log_law
        moved = (atoms - self._sides(index)[0][0]) / float(scale)
        return max(abs(_log_sum(logs + moved)), abs(_log_sum(logs - moved)))

    def _sides(self, index: int) -> tuple[tuple[int, ...], bool]:
        """Return the compared contributions, and whether one side is unknown."""
        a, _, b, _ = self.compared[index]
        return tuple(self.share.states[v] for v in (a, b) if v != self.unknown), self.unknown in (a, b)

def _log_sum(logs: FloatArray) -> float:
    top = float(logs.max())
    return top + math.log(float(np.exp(logs - top).sum()))
