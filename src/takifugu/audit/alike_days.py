"""What a reader thinks of each step of several days, given one table by the hour of the day: exact.

Each cell is a sum over one stretch of the day, on all D days, so all cells stay open to the end: along the recording
the sums of 24 hours would be the state. The days are put side by side instead. Let b and c be the states of all days at
the first step of a stretch and behind it, Q(b_d, c_d, n) the probability that a day goes from one to the other with n
steps of the second kind, and w(n) the likelihood of the published values given n such steps on all days. Then

    T(b, c) = sum over n_1, ..., n_D of Q(b_1, c_1, n_1) ... Q(b_D, c_D, n_D) w(n_1 + ... + n_D),

and the likelihood of the table is the trace of the product of all T and of what joins the end of a day to the start of
the next: k^D numbers a side for k states, and no sums. It is linear in the Q of one day, so its derivative R is the
likelihood of all else given that day's path, and one walk along the stretch gives the posterior of its steps. All terms
are positive. Nothing of the calibration is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from takifugu.analysis.randomisers import Randomiser
from takifugu.audit.noise_masses import likelihood
from takifugu.audit.partial_sums import Chained
from takifugu.audit.step_posteriors import MOST_ADDED
from takifugu.core.arrays import BoolArray, FloatArray, IntArray
from takifugu.core.errors import Unsupported
from takifugu.model.queries import Additive

#: Most numbers of the tensor of one stretch, and of a side of its matrix.
MOST_NUMBERS, MOST_SIDE = 2e6, 300


@dataclass(frozen=True, eq=False)
class Stretch:
    """Steps of a day that add alike to cells of their own: one of two rows, by the kind of the state."""

    steps: range
    kinds: BoolArray
    rows: IntArray

    @property
    def cells(self) -> list[int]:
        return np.flatnonzero(self.rows.any(axis=0)).tolist()


@dataclass(frozen=True, eq=False)
class AlikeDays:
    """A recording of whole days of a known start, and the stretches of a day."""

    chain: Chained
    answer: Additive
    days: int
    stretches: tuple[Stretch, ...]

    @staticmethod
    def of(chain: Chained, answer: Additive) -> AlikeDays | None:
        """Return the days of a recording; None where its table is none by stretches of several alike days."""
        if len(chain.lengths) > 1 or chain.length * chain.states * answer.cells > MOST_ADDED:
            return None
        added = [answer.contribution(step) for step in range(chain.length)]
        starts = [step for step in range(chain.length) if not step or (added[step] != added[step - 1]).any()]
        again = next((step for step in starts[2:] if (added[step] == added[0]).all()), chain.length)
        days, rest = divmod(chain.length, again)
        is_alike = all((row == added[step % again]).all() for step, row in enumerate(added))
        if days < 2 or rest or not is_alike or again % chain.chain.period:
            return None
        stretches, ends = list[Stretch](), [step for step in starts if 0 < step <= again]
        for first, last in zip([0, *ends], ends, strict=False):
            rows, kinds = np.unique(added[first], axis=0, return_inverse=True)
            numbers = (chain.states**2) ** (days - 1) * (last - first + 1)
            if len(rows) > 2 or numbers > MOST_NUMBERS or chain.states**days > MOST_SIDE:
                return None
            stretches.append(Stretch(range(first, last), kinds.ravel() == 1, rows[[0, -1]]))
        cells = [cell for stretch in stretches for cell in stretch.cells]
        return AlikeDays(chain, answer, days, tuple(stretches)) if len(cells) == len(set(cells)) else None

    def after(self, noise: Randomiser, published: Sequence[Fraction]) -> FloatArray:
        """Return what the reader thinks of each step after a table in answer units, shape (steps, states)."""
        ahead = [self._ahead(stretch) for stretch in self.stretches]
        through = [np.einsum("uxn,xv->uvn", ways[-1], self.chain.step(stretch.steps[-1]))
                   for ways, stretch in zip(ahead, self.stretches, strict=True)]  # fmt: skip
        others = [self._others(stretch, ways, noise, published)
                  for stretch, ways in zip(self.stretches, through, strict=True)]  # fmt: skip
        matrices = [self._matrix(*each) for each in zip(others, through, strict=True)]
        suffixes = [self._joint()]
        for matrix in matrices[:0:-1]:
            suffixes.append(_scaled(matrix @ suffixes[-1]))
        result, prefix = np.zeros((self.days, self.stretches[-1].steps.stop, self.chain.states)), None
        for number, stretch in enumerate(self.stretches):
            behind = suffixes.pop() if prefix is None else suffixes.pop() @ prefix
            rest = self._likelihoods(_scaled(behind).T, others[number])
            result[:, stretch.steps] = self._steps(stretch, ahead[number], rest)
            prefix = matrices[number] if prefix is None else _scaled(prefix @ matrices[number])
        laws = result.reshape(self.chain.length, -1)
        totals = laws.sum(axis=1, keepdims=True)
        if not totals.all():
            raise Unsupported("the table is next to impossible under the belief", fix="attack another table")
        return np.asarray(laws / totals)

    def _ahead(self, stretch: Stretch) -> list[FloatArray]:
        """Return of each step P(X_t = x, n steps of the second kind so far | X_first = u), shape (u, x, n)."""
        states, size = self.chain.states, len(stretch.steps) + 1
        law = np.zeros((states, states, size))
        law[range(states), range(states), stretch.kinds.astype(int)] = 1.0
        laws = [law]
        for step in stretch.steps[:-1]:
            law = np.einsum("uxn,xy->uyn", law, self.chain.step(step))
            law[:, stretch.kinds] = np.roll(law[:, stretch.kinds], 1, axis=2)  # the last place is empty
            laws.append(law)
        return laws

    def _others(
        self, stretch: Stretch, through: FloatArray, noise: Randomiser, published: Sequence[Fraction]
    ) -> FloatArray:
        """Return the sum of Q(b_1, c_1, n_1) ... w(n_1 + ... + n) over all days but one, whose n it has last."""
        # The shape is (pairs of the first day, ..., n): w is taken apart day by day.
        size, low, high = len(stretch.steps), *stretch.rows
        weights = np.ones(size * self.days + 1)
        for cell in stretch.cells:
            totals = size * self.days * int(low[cell]) + np.arange(len(weights)) * int(high[cell] - low[cell])
            weights *= likelihood(noise, self.answer.grid, published[cell], totals)
        ways, result = through.reshape(-1, size + 1), weights[None]
        for _ in range(self.days - 1):
            windows = np.lib.stride_tricks.sliding_window_view(result, size + 1, axis=1)
            result = (windows @ ways.T).swapaxes(1, 2).reshape(-1, windows.shape[1])
        return _scaled(result)

    def _matrix(self, others: FloatArray, through: FloatArray) -> FloatArray:
        """Return T, the states of all days before a stretch by those behind it."""
        side = self.chain.states**self.days
        every = others @ through.reshape(-1, through.shape[2]).T
        axes = [*range(0, 2 * self.days, 2), *range(1, 2 * self.days, 2)]
        return _scaled(every.reshape([self.chain.states] * 2 * self.days).transpose(axes).reshape(side, side))

    def _joint(self) -> FloatArray:
        """Return what joins days, the states behind all days by those at their starts: each goes on where one ended."""
        states, side = self.chain.states, self.chain.states ** (self.days - 1)
        joined = np.einsum("b,rs,c->rcbs", self.chain.starts[0], np.eye(side), np.ones(states))
        return np.asarray(joined.reshape(side * states, side * states))

    def _likelihoods(self, behind: FloatArray, others: FloatArray) -> FloatArray:
        """Return R of each day: the likelihood of all else given its states before and behind, and its n."""
        states, days = self.chain.states, self.days
        pairs = [axis for day in range(days) for axis in (day, days + day)]
        every = behind.reshape([states] * 2 * days).transpose(pairs).reshape([states**2] * days)
        rests = [np.moveaxis(every, day, -1).reshape(-1, states**2).T @ others for day in range(days)]
        return np.array(rests).reshape(days, states, states, -1)

    def _steps(self, stretch: Stretch, ahead: Sequence[FloatArray], rest: FloatArray) -> FloatArray:
        """Return P(X_t = x, table) up to a factor of each day, shape (days, steps, states)."""
        result = np.zeros((self.days, len(stretch.steps), self.chain.states))
        back = np.einsum("xv,duvn->duxn", self.chain.step(stretch.steps[-1]), rest)
        for place in range(len(stretch.steps) - 1, -1, -1):
            result[:, place] = np.einsum("uxn,duxn->dx", ahead[place], back)
            if place:
                back[:, :, stretch.kinds] = np.roll(back[:, :, stretch.kinds], -1, axis=3)
                back = np.einsum("xy,duyn->duxn", self.chain.step(stretch.steps[place - 1]), back)
        return result


def _scaled(numbers: FloatArray) -> FloatArray:
    """Return numbers over their largest, if any is positive."""
    return np.asarray(numbers / (numbers.max() or 1.0))
