"""Two laws after Laplace noise: their exact largest log-ratio, and the smallest scale that bounds it.

Let A(y) = sum_j p_j e^{-|y - x_j| / b}, proportional to the density of p * Lap(b), and B the same for q. Between
neighbouring atoms of the two laws A and B are combinations of e^{y/b} and e^{-y/b}, so A/B is a Moebius function of
e^{2y/b}, hence monotone; beyond the last atom it is constant. So its extremes are at atoms. On the integers discrete
Laplace noise has the same masses up to a factor, so the same numbers hold for it. The ratio falls when b grows,
because Lap(b') is Lap(b) plus independent noise for b' > b (DESIGN 5.1).

At the atoms A is a sum of positive terms, found by a forward and a backward recurrence S_i = p_i + S_{i-1} e^{-gap/b};
S_i >= p_i, so nothing that matters underflows, and a relative error bound holds (`_Pair.error`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from takifugu.errors import InputError
from takifugu.laws.atoms import Array, Atom, Floats, floats, same_type
from takifugu.laws.exact_ratio import BITS, log_masses, masses_need_noise, noised_log_ratios
from takifugu.laws.pmf import Pmf
from takifugu.laws.rationals import Number, as_epsilon, round_up
from takifugu.laws.transport import w_infinity, w_infinity_candidates

#: Half the spacing of float64 at one.
UNIT = 2.0**-53
#: Relative width at which the search for a scale stops, and slack of a scale for a law with rounded masses.
SCALE_TOLERANCE = 2.0**-36
#: Above this number of atoms a scale that float64 cannot decide is rounded up without asking for more digits.
MOST_ATOMS_WITH_DIGITS = 20_000

_SHORT = 40
_SMALL_MASS, _SMALLEST_MASS = 2.0**-500, -1900 * math.log(2)
_LIFT = 960


def laplace_log_ratio(p: Pmf, q: Pmf, scale: Number) -> float:
    """Return sup over y of |log (p*Lap)(y)/(q*Lap)(y)| for Laplace noise of density proportional to e^{-|x|/scale}.

    Scale 0 means no noise: the largest log-ratio of the masses, infinite when the supports differ. The value is the
    nearest that float64 gives; `laplace_log_ratio_bounds` encloses it. Source: DESIGN 5.1.

    Raises InputError when the scale is negative or not finite.

    >>> round(laplace_log_ratio(Pmf([0], [1]), Pmf([2], [1]), 4.0), 12)
    0.5
    """
    checked = _checked(scale)
    if checked:
        return max(_Pair.of(p, q).log_ratios(checked))
    return max(laplace_log_ratio_directed(p, q, 0), laplace_log_ratio_directed(q, p, 0))


def laplace_log_ratio_directed(p: Pmf, q: Pmf, scale: Number) -> float:
    """Return sup over y of log (p*Lap)(y)/(q*Lap)(y), one way only; scale 0 means no noise.

    >>> round(laplace_log_ratio_directed(Pmf([0], [1]), Pmf([0, 1], [0.5, 0.5]), 0), 9)
    0.693147181
    >>> laplace_log_ratio_directed(Pmf([0, 1], [0.5, 0.5]), Pmf([0], [1]), 0)
    inf
    """
    checked = _checked(scale)
    if checked:
        return _Pair.of(p, q).log_ratios(checked)[0]
    x, y = same_type(p.values, q.values)
    place = np.minimum(np.searchsorted(y, x), len(y) - 1)
    if not np.array_equal(y[place], x):
        return math.inf
    return float((log_masses(p) - log_masses(q)[place]).max())


def laplace_log_ratio_bounds(p: Pmf, q: Pmf, scale: float) -> tuple[float, float]:
    """Return numbers below and above sup |log (p*Lap)/(q*Lap)| for a positive scale, rounding errors included.

    >>> low, high = laplace_log_ratio_bounds(Pmf([0], [1]), Pmf([2], [1]), 4.0)
    >>> low <= 0.5 <= high < low + 1e-12
    True
    """
    return _Pair.of(p, q).bounds(_checked(scale))


def exact_laplace_scale(p: Pmf, q: Pmf, epsilon: Number) -> float:
    """Return the smallest scale b of Laplace noise after which no log-ratio of p and q exceeds epsilon, either way.

    Rounded up by at most 2**-36 relative (above 20,000 atoms: plus what float64 cannot decide). 0.0 when the masses
    themselves satisfy it, decided exactly. Float masses count as the binary fractions that they are.

    Raises InputError unless epsilon is finite and above zero.

    >>> from fractions import Fraction
    >>> p = Pmf([1, 2, 3, 4], [Fraction(1, 5), Fraction(9, 40), Fraction(1, 2), Fraction(3, 40)])
    >>> q = Pmf([2, 3, 4, 5], [Fraction(3, 40), Fraction(1, 2), Fraction(9, 40), Fraction(1, 5)])
    >>> round(exact_laplace_scale(p, q, 1), 9)
    1.154526559
    """
    budget = as_epsilon(epsilon)
    if not masses_need_noise(p, q, budget):
        return 0.0
    pair = _Pair.of(p, q)
    upper = _up(Fraction(w_infinity_candidates(p, q)[-1]) / budget)
    if not (p.exact and q.exact):
        slack = SCALE_TOLERANCE
        while not pair.verdict(upper, budget)[1]:
            upper, slack = upper * (1 + slack), 2 * slack
    return _smallest_scale(pair, upper, budget)


def w_infinity_verified(p: Pmf, q: Pmf, epsilon: Number) -> Atom:
    """Return W-infinity for a mechanism: the w of `wasserstein_scale`.

    >>> w_infinity_verified(Pmf([0, 1], [0.5, 0.5]), Pmf([1, 2], [0.5, 0.5]), 1)
    1
    """
    return wasserstein_scale(p, q, epsilon)[0]


def wasserstein_scale(p: Pmf, q: Pmf, epsilon: Number) -> tuple[Atom, Fraction]:
    """Return (w, scale): W-infinity of p and q and the scale w/epsilon of Laplace noise (004 Algorithm 1).

    Exact laws: w is exact and the scale is rounded up only if long. Float masses: the first of
    `w_infinity_candidates` whose largest log-ratio at the returned scale, w/epsilon rounded up by at most 2**-34,
    is at most epsilon; the last candidate needs no check (DESIGN 4, Numbers).

    Raises InputError unless epsilon is finite and above zero.

    >>> wasserstein_scale(Pmf([0], [1]), Pmf([3], [1]), 0.5)
    (3, Fraction(6, 1))
    """
    budget = as_epsilon(epsilon)
    if p.exact and q.exact:
        distance = w_infinity(p, q)
        return distance, round_up(Fraction(distance) / budget)
    candidates = w_infinity_candidates(p, q)
    pair = _Pair.of(p, q)
    for distance in candidates:
        scale = round_up(Fraction(distance) / budget * (1 + Fraction(SCALE_TOLERANCE)))
        if not distance and not masses_need_noise(p, q, budget):
            return distance, scale
        if distance and (distance == candidates[-1] or pair.verdict(_down(scale), budget)[1]):
            return distance, scale
    return candidates[-1], Fraction(0)


def _checked(scale: Number) -> float:
    value = float(scale)
    if not math.isfinite(value) or value < 0:
        raise InputError(f"scale is {scale!r}: it must be a finite number, 0 (no noise) or above")
    return value


def _up(value: Fraction) -> float:
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def _down(value: Fraction) -> float:
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, 0.0)


@dataclass(frozen=True)
class _Line:
    """One law's weights and gaps, in order, cut into blocks: column k holds atoms k*rows ... (k+1)*rows - 1."""

    weights: Floats
    gaps: Floats
    blocks: Floats
    block_gaps: Floats
    block_starts: Floats

    @staticmethod
    def of(values: Array, weights: Floats) -> _Line:
        """`gaps[i]` is the distance of atom i + 1 from atom i."""
        size = len(weights)
        gaps = floats(np.diff(values))
        if size <= _SHORT:
            empty = np.empty((0, 0))
            return _Line(weights, gaps, empty, empty, empty)
        rows = max(8, math.isqrt(size) // 2)
        columns = -(-size // rows)
        before = np.concatenate((values[:1], values[rows - 1 : size - 1 : rows]))
        starts = floats(values - np.repeat(before, rows)[:size])
        padded = [_padded(row, rows * columns) for row in (weights, np.concatenate(([0.0], gaps)), starts)]
        blocks, block_gaps, block_starts = (np.ascontiguousarray(row.reshape(columns, rows).T) for row in padded)
        return _Line(weights, gaps, blocks, block_gaps, block_starts)

    def sums(self, scale: float) -> Floats:
        """Return S_i = sum over j <= i of w_j e^{-(x_i - x_j)/scale}."""
        if not self.blocks.size:
            total, result = 0.0, []
            steps = [1.0, *np.exp(-self.gaps / scale).tolist()]
            for weight, step in zip(self.weights.tolist(), steps, strict=True):
                total = weight + step * total
                result.append(total)
            return np.array(result)
        sums, steps_in = self.blocks.copy(), np.exp(-self.block_gaps / scale)
        product = np.empty(sums.shape[1])
        for row in range(1, len(sums)):
            np.multiply(steps_in[row], sums[row - 1], out=product)
            sums[row] += product
        from_before = np.exp(-self.block_starts / scale)
        carried, total = [], 0.0
        for own, step in zip(sums[-1].tolist(), from_before[-1].tolist(), strict=True):
            carried.append(total)
            total = own + step * total
        sums += from_before * np.array(carried)
        return sums.T.ravel()[: len(self.weights)]

    @property
    def depth(self) -> int:
        """The largest number of steps between a term and a sum that holds it."""
        return sum(self.blocks.shape) or len(self.weights)


def _padded(row: Floats, size: int) -> Floats:
    return np.concatenate((row, np.zeros(size - len(row))))


@dataclass(frozen=True)
class _Side:
    """One law after noise, as needed at its own atoms and at the other law's."""

    forward: _Line
    backward: _Line
    place: Array
    from_left: Floats
    to_right: Floats

    @staticmethod
    def of(x: Array, weights: Floats, y: Array) -> _Side:
        place = np.searchsorted(x, y, "right")
        nothing = np.full(len(y), np.inf)
        from_left, to_right = nothing.copy(), nothing
        from_left[place > 0] = floats(y[place > 0] - x[place[place > 0] - 1])
        to_right[place < len(x)] = floats(x[place[place < len(x)]] - y[place < len(x)])
        return _Side(_Line.of(x, weights), _Line.of(-x[::-1], weights[::-1]), place, from_left, to_right)

    def logs(self, scale: float, own_only: bool) -> tuple[Floats, Floats]:
        """Return log A at the law's own atoms and at the other law's atoms."""
        left, right = self.forward.sums(scale), self.backward.sums(scale)[::-1]
        beyond = np.append(right[1:] * np.exp(-self.forward.gaps / scale), 0.0)
        own = np.log(left + beyond)
        if own_only:
            return own, own
        left, right = np.log(left), np.log(right)
        last = len(left) - 1
        return own, np.logaddexp(
            left[np.maximum(self.place - 1, 0)] - self.from_left / scale,
            right[np.minimum(self.place, last)] - self.to_right / scale,
        )


@dataclass(frozen=True)
class _Pair:
    """Two laws prepared for many scales."""

    p: Pmf
    q: Pmf
    left: _Side
    right: _Side
    same_atoms: bool
    smallest_log: float

    @staticmethod
    def of(p: Pmf, q: Pmf) -> _Pair:
        x, y = same_type(p.values, q.values)
        smallest = float(min(log_masses(p).min(), log_masses(q).min()))
        lift = _LIFT if smallest < math.log(_SMALL_MASS) else 0
        a, b = _weights(p, lift), _weights(q, lift)
        return _Pair(p, q, _Side.of(x, a, y), _Side.of(y, b, x), np.array_equal(x, y), smallest)

    @property
    def within_floats(self) -> bool:
        return self.smallest_log > _SMALLEST_MASS

    def log_ratios(self, scale: float) -> tuple[float, float]:
        """Return sup log A/B and sup log B/A."""
        if not self.within_floats:
            forward, backward = noised_log_ratios(self.p, self.q, scale)
            return float(forward), float(backward)
        with np.errstate(divide="ignore", over="ignore", under="ignore"):
            at_p, at_q = self.left.logs(scale, self.same_atoms)
            b_at_q, b_at_p = self.right.logs(scale, self.same_atoms)
        first, second = at_p - b_at_p, at_q - b_at_q
        return float(max(first.max(), second.max())), float(max((-first).max(), (-second).max()))

    def error(self, loss: float) -> float:
        """Return a bound on the rounding error of a log-ratio `loss`.

        Each step of a recurrence multiplies by an exponential (off by 8 UNIT, an allowance of 4 ulp, plus 2 UNIT times
        its argument), and rounds twice. Arguments beyond `reach` belong to terms that are 2**-53 of the sum or less.
        The logarithms are at most reach + loss (and 666 if masses were lifted) in size.
        """
        reach = 40.0 + math.log(len(self.p) + len(self.q)) - self.smallest_log
        lifted = 666.0 if self.smallest_log < math.log(_SMALL_MASS) else 0.0
        depth = max(side.depth for side in (self.left.forward, self.right.forward)) + 2
        return 2 * UNIT * (10 * depth + 2 * reach + 8 * (reach + loss + lifted))

    def bounds(self, scale: float) -> tuple[float, float]:
        loss = max(self.log_ratios(scale))
        if not math.isfinite(loss):
            return loss, loss
        error = self.error(loss)
        return max(0.0, loss - error), loss + error

    def verdict(self, scale: float, epsilon: Fraction) -> tuple[float, bool]:
        """Return the loss at this scale, and whether it is certainly at most epsilon."""
        low, high = self.bounds(scale)
        if high <= _down(epsilon):
            return high, True
        if low > _up(epsilon) or len(self.p) + len(self.q) > MOST_ATOMS_WITH_DIGITS:
            return low, False
        loss = max(noised_log_ratios(self.p, self.q, scale))
        excess = loss + (len(self.p) + len(self.q)) * 2.0 ** (8 - BITS)
        return float(loss), bool(excess * epsilon.denominator <= epsilon.numerator)


def _weights(law: Pmf, lift: int) -> Floats:
    """Return the probabilities times 2**lift, without losing digits of small ones."""
    if law.total is None or law.masses.dtype != object:
        return np.ldexp(law.probabilities, lift)
    return np.array([(mass << lift) / law.total for mass in law.masses.tolist()], dtype=np.float64)


def _smallest_scale(pair: _Pair, upper: float, epsilon: Fraction) -> float:
    """Return the smallest safe scale, at most SCALE_TOLERANCE relative too large; `upper` must be safe.

    False position (Illinois) on log loss against log scale, which is nearly a line; both ends stay on their sides.
    """
    target = math.log(float(epsilon))

    def excess(scale: float) -> tuple[float, bool]:
        loss, safe = pair.verdict(scale, epsilon)
        return (min(math.log(loss), 1e6) if loss > 0 else -1e6) - target, safe

    answer, high, above = upper, math.log(upper), 0.0
    step = math.log(2)
    while True:
        low = high - step
        below, safe = excess(math.exp(low))
        if not safe:
            break
        answer, high, above, step = math.exp(low), low, below, 2 * step
    width, turns, last_safe = SCALE_TOLERANCE / 2, 0, None
    while high - low > 2 * width:
        turns += 1
        guess = low + (high - low) * below / (below - above) if below > above and turns % 5 else (low + high) / 2
        guess = min(max(guess, low + width), high - width)
        value, safe = excess(math.exp(guess))
        if safe:
            answer, high, above = math.exp(guess), guess, value
            below = below / 2 if last_safe else below
        else:
            low, below = guess, value
            above = above / 2 if last_safe is False else above
        last_safe = safe
    return answer
