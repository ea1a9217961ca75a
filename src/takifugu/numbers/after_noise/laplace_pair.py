"""Two laws prepared for Laplace noise of many scales: enclosed log-ratios and the search for the smallest scale.

At the atoms A(y) = sum_j p_j e^{-|y - x_j| / b} is a sum of positive terms, found by a forward and a backward
recurrence S_i = p_i + S_{i-1} e^{-gap/b}. S_i >= p_i, so nothing that matters underflows, and a relative error bound
holds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from takifugu.core.errors import InputError
from takifugu.numbers.atoms import Array, Floats, floats, same_type
from takifugu.numbers.distributions.exact_ratio import log_masses, noised_log_ratios, noised_loss_within
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.outward_rounding import UNIT
from takifugu.numbers.rationals import float_above, float_below, short_below
from takifugu.numbers.search import smallest_safe

#: Above this number of atoms a scale that float64 cannot decide is rounded up without trying more digits.
MOST_ATOMS_WITH_DIGITS = 4_000


_SHORT = 40
# Log masses: above the first, float64 as it is; above the second, lifted by 2**960; below it, many digits.
_SMALL_LOG, _SMALLEST_LOG = -900 * math.log(2), -1900 * math.log(2)
_LIFT = 960


def above(value: Fraction) -> float:
    """Return the value as a float, rounded up; InputError beyond float64."""
    _check_size(value)
    return float_above(value)


def below(value: Fraction) -> float:
    """Return the value as a float, rounded down; InputError beyond float64."""
    _check_size(value)
    return float_below(value)


def _check_size(value: Fraction) -> None:
    try:
        float(value)
    except OverflowError:
        raise InputError("a scale or budget is beyond 1e308", fix="use values, sigma and epsilon nearer to 1") from None


@dataclass(frozen=True)
class Line:
    """One law's weights and gaps, in order, cut into blocks: column k holds atoms k*rows ... (k+1)*rows - 1."""

    weights: Floats
    gaps: Floats
    blocks: Floats
    block_gaps: Floats
    block_starts: Floats

    @staticmethod
    def of(values: Array, weights: Floats) -> Line:
        """`gaps[i]` is the distance of atom i + 1 from atom i."""
        size = len(weights)
        gaps = floats(np.diff(values))
        if size <= _SHORT:
            empty = np.empty((0, 0))
            return Line(weights, gaps, empty, empty, empty)
        rows = max(8, math.isqrt(size) // 2)
        columns = -(-size // rows)
        before = np.concatenate((values[:1], values[rows - 1 :: rows]))
        starts = floats(values - np.repeat(before, rows)[:size])
        blocks = []
        for row in (weights, np.concatenate(([0.0], gaps)), starts):
            padded = np.concatenate((row, np.zeros(rows * columns - size)))
            blocks.append(np.ascontiguousarray(padded.reshape(columns, rows).T))
        return Line(weights, gaps, *blocks)

    def sums(self, scale: float, parts: int) -> Floats:
        """Return the decayed sums S_i of w_j over j <= i."""
        if not self.blocks.size:
            total, result = 0.0, []
            steps = [1.0, *np.exp(-self.gaps / scale / parts).tolist()]
            for weight, step in zip(self.weights.tolist(), steps, strict=True):
                total = weight + (step * total if parts == 1 else step * (step * total))
                result.append(total)
            return np.array(result)
        sums, steps_in = self.blocks.copy(), np.exp(-self.block_gaps / scale / parts)
        product = np.empty(sums.shape[1])
        for row in range(1, len(sums)):
            np.multiply(steps_in[row], sums[row - 1], out=product)
            if parts == 2:
                product *= steps_in[row]
            sums[row] += product
        from_before = np.exp(-self.block_starts / scale / parts)
        carried, total = [], 0.0
        for head, step in zip(sums[-1].tolist(), from_before[-1].tolist(), strict=True):
            carried.append(total)
            total = head + (step * total if parts == 1 else step * (step * total))
        sums += from_before * np.array(carried) if parts == 1 else from_before * (from_before * np.array(carried))
        return sums.T.ravel()[: len(self.weights)]

    @property
    def depth(self) -> int:
        """Return the largest number of steps from a term to a sum."""
        return sum(self.blocks.shape) or len(self.weights)


@dataclass(frozen=True)
class Side:
    """One law after noise, at its own and the other law's atoms."""

    forward: Line
    backward: Line
    place: Array
    from_left: Floats
    to_right: Floats

    @staticmethod
    def of(x: Array, weights: Floats, y: Array) -> Side:
        place = np.searchsorted(x, y, "right")
        nothing = np.full(len(y), np.inf)
        from_left, to_right = nothing.copy(), nothing
        from_left[place > 0] = floats(y[place > 0] - x[place[place > 0] - 1])
        to_right[place < len(x)] = floats(x[place[place < len(x)]] - y[place < len(x)])
        return Side(Line.of(x, weights), Line.of(-x[::-1], weights[::-1]), place, from_left, to_right)

    def logs(self, scale: float, parts: int, between_steps_left: bool) -> tuple[Floats, Floats]:
        """Return log A at both laws' own atoms."""
        left, right = self.forward.sums(scale, parts), self.backward.sums(scale, parts)[::-1]
        beyond, steps = right[1:], np.exp(-self.forward.gaps / scale / parts)
        for _ in range(parts):
            beyond = beyond * steps
        log_sums = np.log(left + np.append(beyond, 0.0))
        if between_steps_left:
            return log_sums, log_sums
        left, right = np.log(left), np.log(right)
        last = len(left) - 1
        return log_sums, np.logaddexp(
            left[np.maximum(self.place - 1, 0)] - self.from_left / scale,
            right[np.minimum(self.place, last)] - self.to_right / scale,
        )


@dataclass(frozen=True)
class Pair:
    """Two laws prepared for many scales."""

    p: Pmf
    q: Pmf
    left: Side
    right: Side
    same_atoms: bool
    smallest_log: float

    @staticmethod
    def of(p: Pmf, q: Pmf) -> Pair:
        x, y = same_type(p.values, q.values)
        smallest = float(min(log_masses(p).min(), log_masses(q).min()))
        lift = _LIFT if smallest < _SMALL_LOG else 0
        a, b = _weights(p, lift), _weights(q, lift)
        return Pair(p, q, Side.of(x, a, y), Side.of(y, b, x), np.array_equal(x, y), smallest)

    @property
    def parts(self) -> int:
        """Return 2 for lifted masses, lest exponentials underflow early; else 1."""
        return 1 if self.smallest_log >= _SMALL_LOG else 2

    def log_ratios(self, scale: float) -> tuple[float, float]:
        """Return sup log A/B and sup log B/A."""
        if self.smallest_log < _SMALLEST_LOG:
            forward, backward = noised_log_ratios(self.p, self.q, scale)
            return float(forward), float(backward)
        with np.errstate(divide="ignore", over="ignore", under="ignore"):
            at_p, at_q = self.left.logs(scale, self.parts, self.same_atoms)
            b_at_q, b_at_p = self.right.logs(scale, self.parts, self.same_atoms)
        first, second = at_p - b_at_p, at_q - b_at_q
        return float(max(first.max(), second.max())), float(max((-first).max(), (-second).max()))

    def error(self, loss: float) -> float:
        """Return a bound on the rounding error of a log-ratio `loss`."""
        # Arguments beyond `reach` belong to terms that are 2**-53 of the sum or less.
        reach = 40.0 + math.log(len(self.p) + len(self.q)) - self.smallest_log
        # Logarithms are at most reach + loss in size, and 666 more if masses were lifted.
        lifted = 666.0 * (self.parts - 1)
        depth = max(self.left.forward.depth, self.right.forward.depth) + 2
        # A step takes an exponential (8 UNIT, for 4 ulp, and 2 UNIT times its argument) and two roundings a part.
        return 2 * UNIT * (10 * self.parts * depth + 2 * reach + 8 * (reach + loss + lifted))

    def bounds(self, scale: float) -> tuple[float, float]:
        """Return numbers below and above the largest log-ratio in absolute value."""
        loss = max(self.log_ratios(scale))
        error = self.error(loss) if math.isfinite(loss) else 0.0
        return max(0.0, loss - error), loss + error

    def verdict(self, scale: float, epsilon: Fraction, digits: bool) -> tuple[float, bool | None]:
        """Return an upper bound of the loss, and whether it fits epsilon; None where that is undecided."""
        low, high = self.bounds(scale)
        if high <= below(epsilon):
            return high, True
        if low > above(epsilon):
            return high, False
        if not digits:
            return high, None
        # With many digits only a tie stays undecided.
        loss, certain = noised_loss_within(self.p, self.q, scale, epsilon)
        return loss, True if certain else None

    def __len__(self) -> int:
        return len(self.p) + len(self.q)


def _weights(law: Pmf, lift: int) -> Floats:
    """Return the probabilities times 2**lift, without losing digits of small ones."""
    if law.total is None or law.masses.dtype != object:
        return np.ldexp(law.probabilities, lift)
    return np.array([(mass << lift) / law.total for mass in law.masses.tolist()], dtype=np.float64)


def smallest_scale(pair: Pair, safe: float, epsilon: Fraction) -> float:
    """Return the least short scale with a loss within epsilon, or `safe`, which is such a scale."""
    beyond = math.nextafter(above(epsilon), math.inf)

    def search(safe: float, digits: bool) -> float:
        def loss(scale: float) -> float:
            most, fits = pair.verdict(scale, epsilon, digits)
            return min(most, below(epsilon)) if fits else max(most, beyond)  # undecided counts as unsafe

        return smallest_safe(loss, safe, epsilon)

    # Where that leaves the answer too wide, more digits are taken.
    answer = search(safe, digits=False)
    close = pair.verdict(short_below(answer), epsilon, digits=False)[1] is False
    if close or len(pair) > MOST_ATOMS_WITH_DIGITS:
        return answer
    return search(answer, digits=True)
