"""Two laws after Laplace noise: their exact largest log-ratio, and the smallest scales, exact and relaxed.

The ratio is monotone between atoms and constant beyond them, on the integers, too, and falls when the scale grows: its
extremes are at atoms (docs/theory/one-answer.md#one-answer-4, #one-answer-5). A plan whose mean of e^(move/theta) is at
most e^epsilon at every place is enough, too (#one-answer-9).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from takifugu.core.errors import InputError
from takifugu.numbers.after_noise.laplace_pair import Pair, above, below, smallest_scale
from takifugu.numbers.atoms import Array, Atom, Floats, fractions, same_type
from takifugu.numbers.distributions.exact_ratio import exact_law, log_masses, masses_need_noise
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.rationals import Number, as_epsilon, round_up
from takifugu.numbers.search import SCALE_TOLERANCE, smallest_safe
from takifugu.numbers.transport.on_the_line import monotone_coupling, w_infinity, w_infinity_candidates

#: Below the first the scale is W-infinity/epsilon without a search; above the second budgets count as the second.
_LEAST_BUDGET, _LARGEST_BUDGET = Fraction(1, 10**12), Fraction(10**6)


def laplace_log_ratio(p: Pmf, q: Pmf, scale: Number) -> float:
    """Return sup over y of |log (p*Lap)(y)/(q*Lap)(y)|, to the nearest float.

    The Laplace noise has density proportional to e^{-|x|/scale}. Scale 0 means no noise: the largest log-ratio of the
    masses, infinite when the supports differ. `laplace_log_ratio_bounds` encloses the value
    (docs/theory/one-answer.md, Theorems 4, 5).

    Raises InputError when the scale is negative or not finite.

    >>> p, q = Pmf([0], [1]), Pmf([2], [1])
    >>> round(laplace_log_ratio(p, q, 4.0), 12), laplace_log_ratio(p, q, 0)
    (0.5, inf)
    """
    checked = _checked(scale)
    if checked:
        return max(Pair.of(p, q).log_ratios(checked))
    if not np.array_equal(*same_type(p.values, q.values)):
        return math.inf
    return float(np.abs(log_masses(p) - log_masses(q)).max())


def laplace_log_ratio_bounds(p: Pmf, q: Pmf, scale: float) -> tuple[float, float]:
    """Enclose sup |log (p*Lap)/(q*Lap)| for a positive scale.

    >>> low, high = laplace_log_ratio_bounds(Pmf([0], [1]), Pmf([2], [1]), 4.0)
    >>> low <= 0.5 <= high < low + 1e-12
    True
    """
    return Pair.of(p, q).bounds(_checked(scale))


def exact_laplace_scale(p: Pmf, q: Pmf, epsilon: Number) -> float:
    """Return the least Laplace scale with both ways' log-ratios within epsilon.

    Rounded up by at most 2**-36 relative (above 4,000 atoms: plus what float64 cannot decide; below epsilon = 1e-12:
    W-infinity/epsilon). 0.0 when the masses themselves satisfy it, decided exactly. Float masses count as the binary
    fractions that they are.

    Raises InputError unless epsilon is finite and above zero.

    >>> from fractions import Fraction
    >>> p = Pmf([1, 2, 3, 4], [Fraction(1, 5), Fraction(9, 40), Fraction(1, 2), Fraction(3, 40)])
    >>> q = Pmf([2, 3, 4, 5], [Fraction(3, 40), Fraction(1, 2), Fraction(9, 40), Fraction(1, 5)])
    >>> round(exact_laplace_scale(p, q, 1), 9)
    1.154526559
    """
    budget = _budget(epsilon)
    if not masses_need_noise(p, q, budget):
        return 0.0
    pair = Pair.of(p, q)
    upper = above(Fraction(w_infinity_candidates(p, q)[-1]) / budget)
    if budget < _LEAST_BUDGET:
        return upper
    if not (p.exact and q.exact):
        slack = SCALE_TOLERANCE
        while not pair.verdict(upper, budget, digits=False)[1]:
            upper, slack = upper * (1 + slack), 2 * slack
    return smallest_scale(pair, upper, budget)


def wasserstein_scale(p: Pmf, q: Pmf, epsilon: Number) -> tuple[Atom, Fraction]:
    """Return W-infinity w of p and q, and the scale w/epsilon.

    Source: Song17 Algorithm 1. Exact laws: w is exact and the scale is rounded up only if long. Float masses: the first
    of `w_infinity_candidates` whose largest log-ratio at the returned scale, w/epsilon rounded up by at most 2**-34, is
    at most epsilon; the last candidate needs no check (docs/decisions.md#numbers).

    Raises InputError unless epsilon is finite and above zero.

    >>> wasserstein_scale(Pmf([0], [1]), Pmf([3], [1]), 0.5)
    (3, Fraction(6, 1))
    """
    budget = _budget(epsilon)
    if p.exact and q.exact:
        distance = w_infinity(p, q)
        return distance, round_up(Fraction(distance) / budget)
    candidates = w_infinity_candidates(p, q)
    pair = Pair.of(p, q)
    for distance in candidates:
        scale = round_up(Fraction(distance) / budget * (1 + Fraction(SCALE_TOLERANCE)))
        if not distance and not masses_need_noise(p, q, budget):
            return distance, scale
        if distance and (distance == candidates[-1] or pair.verdict(below(scale), budget, digits=True)[1]):
            return distance, scale
    return candidates[-1], Fraction(0)


def _budget(epsilon: Number) -> Fraction:
    """Read epsilon, replaced by a stricter one beyond exponentials' range."""
    return min(as_epsilon(epsilon), _LARGEST_BUDGET)


def _checked(scale: Number) -> float:
    value = float(scale)
    if not math.isfinite(value) or value < 0:
        raise InputError(f"scale is {scale!r}", rule="it must be a finite number, 0 (no noise) or above").at("scale")
    return value


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
        plan = monotone_coupling(exact_law(p), exact_law(q))
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
