"""The scale of Laplace noise from the monotone plan, on average over where mass goes (Ding22 Theorem 2, errata N1, X7).

Let pi be the monotone plan that moves p into q. Mass that moves by d costs a factor e^{d/theta} after Laplace noise of
scale theta. If for every x' the average over the x that it came from obeys sum_x e^{|x - x'|/theta} pi(x, x') <=
e^epsilon q(x'), then p*Lap <= e^epsilon q*Lap everywhere; the sums over x' at every x give the other order. The left
sides fall when theta grows; at theta = W-infinity / epsilon both hold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from takifugu.numbers.after_noise.laplace_pair import above, below
from takifugu.numbers.atoms import Array, Floats, fractions
from takifugu.numbers.distributions.exact_ratio import exact_law
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.search import SCALE_TOLERANCE, smallest_safe
from takifugu.numbers.transport.on_the_line import monotone_plan


@dataclass(frozen=True, eq=False)
class RelaxedPair:
    """The monotone plan of two laws, prepared for many scales.

    `moves[k]` is a distance, `into[k]` and `out_of[k]` the logarithms of the shares of q's and of p's atom that move by
    it, in runs that start at `columns` and `rows`.
    """

    moves: Floats
    into: Floats
    out_of: Floats
    columns: Array
    rows: Array
    largest_log: float

    @staticmethod
    def of(p: Pmf, q: Pmf) -> RelaxedPair:
        plan = monotone_plan(exact_law(p), exact_law(q))
        masses = plan.masses.astype(object)
        rows, columns = _starts(plan.left), _starts(plan.right)
        logs = _logs(masses)
        row_logs, column_logs = _logs(np.add.reduceat(masses, rows)), _logs(np.add.reduceat(masses, columns))
        into, out_of = logs - _repeated(column_logs, columns, len(logs)), logs - _repeated(row_logs, rows, len(logs))
        moves = _distances(plan.left, plan.right)
        largest = float(np.abs(np.concatenate([logs, row_logs, column_logs])).max())
        return RelaxedPair(moves, into, out_of, columns, rows, largest)

    def loss(self, scale: float) -> float:
        """Bound the largest log of a run's mean e^{move/scale}."""
        costs = self.moves / scale
        worst = max(_log_sums(self.into + costs, self.columns), _log_sums(self.out_of + costs, self.rows))
        # Logs are off by 2**-50 of their size, quotients and sums by a rounding per term.
        return worst + 2.0**-49 * (4 * self.largest_log + float(costs.max()) + len(costs) + 8)

    def holds(self, scale: Fraction, epsilon: Fraction) -> bool:
        """Whether the conditions certainly hold at this scale."""
        return scale > 0 and self.loss(below(scale)) <= below(epsilon)

    def smallest(self, epsilon: Fraction) -> float:
        """Return the smallest scale under the conditions; 0.0 without moves.

        Rounded up by at most 2**-36 relative plus rounding. Float masses count as binary fractions.

        >>> p, q = Pmf.from_counts([1, 2, 3, 4], [2, 1, 2, 1]), Pmf.from_counts([1, 2, 3, 4], [3, 3, 2, 4])
        >>> round(RelaxedPair.of(p, q).smallest(Fraction(1)), 9)
        0.671194939
        """
        farthest = float(self.moves.max())
        if not farthest:
            return 0.0

        def judge(scale: float) -> tuple[float, bool]:
            loss = self.loss(scale)
            return loss, loss <= below(epsilon)

        return smallest_safe(judge, above(Fraction(farthest) / epsilon), float(epsilon), SCALE_TOLERANCE / 2)


def _distances(left: Array, right: Array) -> Floats:
    """Return how far mass moves, rounded up."""
    if left.dtype.kind == right.dtype.kind == "i" and max(np.abs(left).max(), np.abs(right).max()) < 2**52:
        return np.asarray(np.abs(left - right), dtype=np.float64)
    return np.array(list(map(above, np.abs(fractions(left) - fractions(right)).tolist())))


def _starts(atoms: Array) -> Array:
    """Return the starts of runs of equal atoms in a monotone plan."""
    return np.flatnonzero(np.concatenate(([True], atoms[1:] != atoms[:-1])))


def _logs(masses: Array) -> Floats:
    return np.array(list(map(math.log, masses.tolist())))


def _repeated(values: Floats, starts: Array, size: int) -> Floats:
    return np.repeat(values, np.diff(np.append(starts, size)))


def _log_sums(terms: Floats, starts: Array) -> float:
    """Return the largest log of a run's sum of exponentials."""
    tops = np.maximum.reduceat(terms, starts)
    with np.errstate(under="ignore"):
        sums = np.add.reduceat(np.exp(terms - _repeated(tops, starts, len(terms))), starts)
    return float((tops + np.log(sums)).max())
