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
    """Return sup |log (p*Lap)/(q*Lap)| to the nearest float (Theorems 4 and 5, docs/theory/one-answer.md)."""
    checked = _checked(scale)
    if checked:
        return max(Pair.of(p, q).log_ratios(checked))
    # Without noise: the largest log-ratio of the masses, infinite when the supports differ.
    if not np.array_equal(*same_type(p.values, q.values)):
        return math.inf
    return float(np.abs(log_masses(p) - log_masses(q)).max())


def laplace_log_ratio_bounds(p: Pmf, q: Pmf, scale: float) -> tuple[float, float]:
    """Enclose sup |log (p*Lap)/(q*Lap)| for a positive scale."""
    return Pair.of(p, q).bounds(_checked(scale))


def exact_laplace_scale(p: Pmf, q: Pmf, epsilon: Number) -> float:
    """Return the least Laplace scale with both log-ratios within epsilon, to 2**-36; 0.0 if none is needed."""
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
    """Return W-infinity w of p and q, and the scale w/epsilon, rounded up (Song17 Algorithm 1)."""
    budget = _budget(epsilon)
    if p.exact and q.exact:
        distance = w_infinity(p, q)
        return distance, round_up(Fraction(distance) / budget)
    # Float masses: the first distance with a loss that fits; the last needs no check (docs/decisions.md#numbers).
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
    """The monotone plan of two distributions, prepared for many scales."""

    #: `into[k]` and `out_of[k]` are the logs of the shares of q's and of p's atom that move by `moves[k]`.
    moves: Floats
    into: Floats
    out_of: Floats
    #: Where the runs of one atom of q, and of p, start.
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
        """Return the smallest scale that certainly holds, rounded up by at most 2**-36; 0.0 without moves."""
        farthest = float(self.moves.max())
        if not farthest:
            return 0.0
        return smallest_safe(self.loss, above(Fraction(farthest) / epsilon), epsilon)


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
