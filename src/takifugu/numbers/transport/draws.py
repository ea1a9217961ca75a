"""Sums of independent yes-or-no draws whose probabilities lie in a box: how far mass moves, and what noise leaves.

Let F be the number of ones among independent draws with probabilities p_1, ..., p_N, and G the same with q_1, ..., q_N.
Both are known up to a cell: intervals of parameters, on which every p_j and q_j lies between two ends.

Moves. F grows stochastically with each p_j (couple the draws). So F lies between the laws at the lower and at the upper
ends, and with quantile functions W-infinity = max over u of |F^-1(u) - G^-1(u)| is at most the least w with F at the
upper ends <= G at the lower ends, shifted by w, and the same with F and G exchanged.

Losses. F grows with each p_j in likelihood-ratio order too, because the other draws' sum is log-concave, and so does
F with Laplace noise of scale b. Hence where p_j >= q_j for all j the log-ratio of the noised laws never falls, and
lies between its limits at the two ends of the line: with t = 1/b and M_p(t) = 1 - p + p e^t

    log f/g <= sum_j log M_{p_j}(t) - log M_{q_j}(t),    log g/f <= sum_j log M_{q_j}(-t) - log M_{p_j}(-t).

Otherwise go through the law with the larger of p_j and q_j in each place: log f/g is at most the sum over j of the
first term where p_j >= q_j and of log M_{p_j}(-t) - log M_{q_j}(-t) where p_j < q_j. Each term grows with |p_j - q_j|,
so on a cell its largest is at ends. Without noise (t infinite) the terms are log p_j/q_j and log (1 - p_j)/(1 - q_j).

Cells are halved, the worst first, until no cell can be worse than a point that was tried, or their number is used up;
then the worst cell's bound stands. Both bounds hold for every parameter in the cell: no grid is a proof.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

import numpy as np

from takifugu.core.arrays import FloatArray
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.extended.floats import Wide
from takifugu.numbers.extended.leave_one_out import Sums, Weights, joined

Interval = tuple[Fraction, Fraction]
Cell = tuple[Interval, ...]
Value = TypeVar("Value", int, float)

#: Most halvings of cells for one number, for moves and for losses.
MOST_MOVES, MOST_LOSSES = 400, 100
#: Up to this many draws masses are exact integers, so that ties are ties.
EXACT = 60
#: A loss within this of the largest that was tried, relatively, is good enough.
CLOSE = 1e-9
#: What rounding may add to a loss, relatively, and to each of its logarithms.
_ROUNDED, _UNIT = 2.0**-44, 2.0**-50


@dataclass(frozen=True)
class Draws:
    """`count` draws with probabilities in `left` or, otherwise, in `right`.

    Left and right are the two hypotheses. `same` says that the two are one number, wherever it lies: such draws lose
    nothing.
    """

    count: int
    left: Interval
    right: Interval
    same: bool = False

#: What is drawn when the parameters lie in a cell.
Sides = Callable[[Cell], Sequence[Draws]]


def farthest_move(sides: Sides, cell: Cell, most: int = MOST_MOVES) -> int:
    """Bound W-infinity between two sides over a cell of parameters.

    >>> half = (Fraction(2, 5), Fraction(3, 5))
    >>> farthest_move(lambda cell: [Draws(4, cell[0], cell[1])], (half, half))  # Zhang22 Example 2
    1
    """
    return _largest(lambda c: _move(sides(c)), cell, most, 0.0)


def largest_loss(sides: Sides, cell: Cell, scale: Fraction, most: int = MOST_LOSSES) -> float:
    """Bound the largest log-ratio after Laplace noise over a cell.

    >>> two, eight = Fraction(1, 5), Fraction(4, 5)
    >>> round(largest_loss(lambda cell: [Draws(3, cell[0], cell[1])], ((two, eight), (two, eight)), Fraction(0)), 6)
    4.158883
    """
    return _largest(lambda c: _loss(sides(c), scale), cell, most, CLOSE)


def _largest(bound: Callable[[Cell], Value], cell: Cell, most: int, close: float) -> Value:
    """Bound a cell, within `close` of an attained value if it can."""
    if not most:
        return bound(cell)
    tried = bound(_middle(cell))
    for ends in itertools.islice(itertools.product(*cell), 64):  # the corners, of many some
        tried = max(tried, bound(tuple((end, end) for end in ends)))
    waiting: list[tuple[Value, int, Cell]] = [(-bound(cell), 0, cell)]
    number = 0
    while -waiting[0][0] > tried * (1 + close) and number < most and waiting[0][0] != -math.inf:
        _, _, worst = heapq.heappop(waiting)
        for half in _halves(worst):
            number += 1
            tried = max(tried, bound(_middle(half)))
            heapq.heappush(waiting, (-bound(half), number, half))
    return max(tried, -waiting[0][0])


def _middle(cell: Cell) -> Cell:
    return tuple(((low + high) / 2,) * 2 for low, high in cell)


def _halves(cell: Cell) -> tuple[Cell, Cell]:
    widest = max(range(len(cell)), key=lambda place: cell[place][1] - cell[place][0])
    low, high = cell[widest]
    middle = (low + high) / 2
    before, after = cell[:widest], cell[widest + 1 :]
    return (*before, (low, middle), *after), (*before, (middle, high), *after)


def _move(draws: Sequence[Draws]) -> int:
    """Bound one cell, perhaps without draws common to both sides."""
    different = [d for d in draws if not d.same]
    least = _move_of(draws)
    if least and len(different) < len(draws):
        return min(least, _move_of(different))
    return least


def _move_of(draws: Sequence[Draws]) -> int:
    count = 0
    low_left, high_left = list[tuple[int, Fraction]](), list[tuple[int, Fraction]]()
    low_right, high_right = list[tuple[int, Fraction]](), list[tuple[int, Fraction]]()
    for d in draws:
        count += d.count
        low_left.append((d.count, d.left[0]))
        high_left.append((d.count, d.left[1]))
        low_right.append((d.count, d.right[0]))
        high_right.append((d.count, d.right[1]))
    gaps = []
    for high, low in ((high_left, low_right), (high_right, low_left)):
        if count <= EXACT:
            gaps.append(quantile_gap(number_of(high), number_of(low)))
        else:
            gaps.append(float_gap(weights_of(high), weights_of(low)))
    return max(gaps)


def number_of(draws: Sequence[tuple[int, Fraction]]) -> list[int]:
    """Return the masses of 0, ..., N ones among (count, probability) draws.

    >>> number_of([(2, Fraction(1, 2))]), number_of([(1, Fraction(1)), (1, Fraction(1, 3))])
    ([1, 2, 1], [0, 2, 1])
    """
    masses = [1]
    for count, chance in draws:
        ones, zeros = chance.numerator, chance.denominator - chance.numerator
        binomial = [math.comb(count, k) * ones**k * zeros ** (count - k) for k in range(count + 1)]
        joined_masses = [0] * (len(masses) + count)
        for place, mass in enumerate(masses):
            for k, other in enumerate(binomial):
                joined_masses[place + k] += mass * other
        masses = joined_masses
    return masses


def weights_of(draws: Sequence[tuple[int, Fraction]]) -> Weights:
    """Return the same masses as long-range floats, with all places."""
    laws = [Weights.of(Pmf([0, 1], [1 - chance, chance]), 1) for _, chance in draws]
    sums = Sums(laws, [count for count, _ in draws], joined, Weights(0, Wide.of(np.ones(1)), 0.0))
    return sums.inside(0, len(laws))


def quantile_gap(high: Sequence[int], low: Sequence[int]) -> int:
    """Return max over u of high^-1(u) - low^-1(u), at least 0.

    Equivalently, the least w such that `high` is stochastically at most `low` shifted by w.

    >>> quantile_gap([1, 4, 6, 4, 1], [16, 0, 0, 0, 0]), quantile_gap([1, 0], [0, 1])
    (4, 0)
    """
    total, other_total = sum(high), sum(low)
    gap = below = place = 0
    reached = low[0]
    for y, mass in enumerate(high):
        if mass:
            while reached * total <= below * other_total:  # the first place with more than `below` of the mass up to it
                place += 1
                reached += low[place]
            gap = max(gap, y - place)
            below += mass
    return gap


def float_gap(high: Weights, low: Weights) -> int:
    """Bound the quantile gap of rounded masses.

    A place of `low` is passed where it certainly is. A quantile is passed where P(X <= x) is certainly no more, or P(X
    > x) certainly no less, than that of the other.
    """
    (below, above, first), (reached, left, second) = _tails(high), _tails(low)
    error = 0.0
    for law, log in ((high, below), (high, above), (low, reached), (low, left)):
        largest = float(np.abs(log[np.isfinite(log)]).max(initial=0.0))
        error += 2.02 * (law.error + len(law) * _UNIT * (8 + largest))
    # below[y]: log of the mass before y; reached[x + 1]: log of the mass up to x, left[x + 1] beyond x.
    by_cdf = np.searchsorted(reached[1:], below[:-1] - error, side="right")
    by_tail = len(low) - np.searchsorted(left[1:][::-1], above[:-1] + error, side="left")
    place = np.maximum(by_cdf, by_tail)
    return max(0, int((np.arange(len(high)) + first - place - second).max()))


def _tails(law: Weights) -> tuple[FloatArray, FloatArray, int]:
    """Return the logs of mass before and after each place."""
    logs = np.full(len(law), -np.inf)
    is_possible = law.numbers.mantissas > 0
    logs[is_possible] = np.log(law.numbers.mantissas[is_possible]) + law.numbers.exponents[is_possible] * math.log(2)
    before = np.concatenate([[-np.inf], np.logaddexp.accumulate(logs)])
    after = np.concatenate([np.logaddexp.accumulate(logs[::-1])[::-1], [-np.inf]])
    total = before[-1]
    return before - total, after - total, law.start


def _loss(draws: Sequence[Draws], scale: Fraction) -> float:
    moving = [d for d in draws if d.count and not d.same]
    bound = math.fsum(d.count * _term(d.left, d.right, scale) for d in moving)
    other = math.fsum(d.count * _term(d.right, d.left, scale) for d in moving)
    return max(bound, other) * (1 + _ROUNDED)


def _term(p: Interval, q: Interval, scale: Fraction) -> float:
    """Bound one draw's addition to log f/g."""
    up = _log_moment(p[1], 1, scale) - _log_moment(q[0], 1, scale) if p[1] > q[0] else 0.0
    down = _log_moment(p[0], -1, scale) - _log_moment(q[1], -1, scale) if p[0] < q[1] else 0.0
    if not math.isfinite(up + down):
        return max(up, down)
    ends = [_log_moment(x, way, scale) for x, way in itertools.product((*p, *q), (1, -1))]
    return max(up, down) + max(abs(end) for end in ends if math.isfinite(end)) * _UNIT


def _log_moment(p: Fraction, way: int, scale: Fraction) -> float:
    """Return log(1 - p + p e^(way/scale))."""
    if not scale:
        chance = p if way > 0 else 1 - p
        return math.log(chance) if chance else -math.inf
    t = float(1 / scale)
    if t <= 1:
        return math.log1p(float(p) * math.expm1(way * t))
    if way < 0:
        return math.log(float(1 - p) + float(p) * math.exp(-t)) if p < 1 else -t
    return t + math.log(float(p) + float(1 - p) * math.exp(-t)) if p > 0 else 0.0
