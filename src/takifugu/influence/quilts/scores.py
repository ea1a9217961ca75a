"""The noise that one quilt requires, the least of an entry, and the largest over entries (Song17 Algorithms 2 and 4).

A quilt with near set N and influence e requires Laplace noise of scale D(N)/(epsilon - e). With D(N) = 0 it is private
without noise if e <= epsilon; otherwise e < epsilon is required (errata E3, E14).

Whatever quilt was found for one entry is tried on all entries, which gives each an upper bound; the entry with the
highest bound is examined next. When that entry has been examined, no other entry can require more. Entries near the
ends need no argument of their own: a quilt that sticks out there loses a node, its influence falls and its near set is
cut, so the middle's quilt settles them at once (Song17 Claim B.11).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

import numpy as np

from takifugu.core.arrays import BoolArray, FloatArray, IntArray

#: Improvements below this (relative) are rounding.
SAME = 1e-13
#: Influences that are added up at once: rows of this many numbers stay in the cache.
WORKED = 2**18


def scores(change: FloatArray, influence: FloatArray, epsilon: float) -> FloatArray:
    """Return each quilt's scale; infinite for a useless one.

    >>> scores(np.array([3.0, 0.0, 3.0]), np.array([0.5, 1.0, 1.0]), 1.0).tolist()
    [6.0, 0.0, inf]
    """
    left = epsilon - influence
    result = np.full(np.broadcast_shapes(np.shape(change), np.shape(influence)), np.inf)
    np.divide(change, left, out=result, where=left > 0)
    result[(change == 0) & (left >= 0)] = 0.0
    return result


def exact_scale(change: float, influence: float, epsilon: Fraction) -> Fraction:
    """Return one quilt's scale, without rounding."""
    if change:
        return Fraction(change) / (epsilon - Fraction(influence))
    return Fraction(0)


@dataclass(frozen=True)
class Side:
    """The choices on one side of an entry, outward.

    Choice c puts entries with change `moved[c]` into the near set and adds influence[c, p] for pair p. Along the
    choices `moved` rises and `influence` falls; the last choice has no node, and no influence.
    """

    moved: FloatArray
    influence: FloatArray

    def distance(self, choice: int) -> int | None:
        """Return the distance of a choice's node, if any."""
        return None if choice == len(self.moved) - 1 else choice + 1

    def peak(self) -> FloatArray:
        """Return the largest influence of each choice."""
        return np.asarray(self.influence.max(axis=1, initial=0.0))


@dataclass(frozen=True)
class Choice:
    """The best quilt of one entry: each side's choice, and the scale."""

    score: float
    left: int
    right: int


def best_choice(start_influence: float, left: Side, right: Side, epsilon: float) -> Choice:
    """Return the pair of choices with the least score.

    The score is (own + D_left + D_right)/(epsilon - max_p(e_left + e_right)). A local search finds a good pair. Then,
    for its score sigma, no other pair is better unless max_p [D_left + sigma e_left(p) + D_right + sigma e_right(p)] <
    sigma epsilon - own for it: choices that miss this with the best partner of each p are dropped, and what remains is
    tried out. Exact up to 1e-13 relative.
    """
    if max(start_influence, left.moved[0], right.moved[0]) <= 0:  # the farthest choices that leave the answer unmoved
        a, b = int(np.flatnonzero(left.moved == 0)[-1]), int(np.flatnonzero(right.moved == 0)[-1])
        if (left.influence[a] + right.influence[b]).max(initial=0.0) <= epsilon:
            return Choice(0.0, a, b)
    best = _local(start_influence, left, right, epsilon)
    while True:
        better = _improve(start_influence, left, right, epsilon, best)
        if better is None:
            return best
        best = _descend(start_influence, left, right, epsilon, better)


def _local(start_influence: float, left: Side, right: Side, epsilon: float) -> Choice:
    """Return a good pair: the best simple quilt, then partners in turn."""
    ends = len(left.moved) - 1, len(right.moved) - 1
    same = np.arange(min(ends))
    tried: list[tuple[IntArray, IntArray, FloatArray]] = [
        (np.arange(ends[0] + 1), np.full(ends[0] + 1, ends[1]), left.peak()),
        (np.full(ends[1] + 1, ends[0]), np.arange(ends[1] + 1), right.peak()),
        (same, same, _pairwise_peak(left.influence[same], right.influence[same])),
    ]
    candidates = []
    for a, b, influence in tried:
        if len(a):
            score = scores(start_influence + left.moved[a] + right.moved[b], influence, epsilon)
            least = int(np.argmin(score))
            candidates.append(Choice(float(score[least]), int(a[least]), int(b[least])))
    return _descend(start_influence, left, right, epsilon, min(candidates, key=lambda c: c.score))


def _descend(start_influence: float, left: Side, right: Side, epsilon: float, best: Choice) -> Choice:
    while True:
        start = best
        peak = (left.influence + right.influence[best.right]).max(axis=1, initial=0.0)
        score = scores(start_influence + left.moved + right.moved[best.right], peak, epsilon)
        least = int(np.argmin(score))
        if score[least] < best.score:
            best = Choice(float(score[least]), least, best.right)
        peak = (right.influence + left.influence[best.left]).max(axis=1, initial=0.0)
        score = scores(start_influence + right.moved + left.moved[best.left], peak, epsilon)
        least = int(np.argmin(score))
        if score[least] < best.score:
            best = Choice(float(score[least]), best.left, least)
        if best.score >= start.score * (1 - SAME):
            return best


def _improve(start_influence: float, left: Side, right: Side, epsilon: float, best: Choice) -> Choice | None:
    """Return a pair of choices scoring below `best`, if any."""
    sigma = best.score
    limit = (sigma * epsilon - start_influence) * (1 - SAME)
    rows, columns = _useful(left, right, limit, epsilon), _useful(right, left, limit, epsilon)
    if not len(rows) or not len(columns):
        return None
    alpha = left.moved[rows, None] + sigma * left.influence[rows]
    beta = right.moved[columns, None] + sigma * right.influence[columns]
    while True:
        below_limit = (alpha + beta.min(axis=0)).max(axis=1, initial=-np.inf) < limit
        rows, alpha = rows[below_limit], alpha[below_limit]
        if not len(rows):
            return None
        is_useful = (beta + alpha.min(axis=0)).max(axis=1, initial=-np.inf) < limit
        columns, beta = columns[is_useful], beta[is_useful]
        if not len(columns):
            return None
        if below_limit.all() and is_useful.all():
            break
    for a in np.argsort((alpha + beta.min(axis=0)).max(axis=1, initial=-np.inf)):
        together = (beta + alpha[a]).max(axis=1, initial=-np.inf)
        b = int(np.argmin(together))
        if together[b] < limit:
            row, column = int(rows[a]), int(columns[b])
            peak = np.array((left.influence[row] + right.influence[column]).max(initial=0.0))
            score = float(scores(start_influence + left.moved[row] + right.moved[column], peak, epsilon))
            if score < sigma * (1 - SAME):
                return Choice(score, row, column)
    return None


def _useful(side: Side, other: Side, limit: float, epsilon: float) -> IntArray:
    """Return the choices of possibly better pairs."""
    return np.flatnonzero((side.peak() < epsilon) & (side.moved + other.moved[0] < limit))


def _pairwise_peak(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return max over columns of left + right, by rows."""
    result = np.zeros(len(left))
    step = max(1, WORKED // max(1, left.shape[1]))
    for low in range(0, len(left), step):
        block = slice(low, low + step)
        result[block] = (left[block] + right[block]).max(axis=1, initial=0.0)
    return result


Candidate = TypeVar("Candidate")


@dataclass(frozen=True)
class Settled(Generic[Candidate]):
    """The largest bound, its worst entry's finding, and ties by rounding.

    `ties` are pairs (found, entries): what gave some entries a bound that is the largest up to rounding.
    """

    bound: float
    worst: Candidate
    ties: tuple[tuple[Candidate, IntArray], ...]


def settle(
    secret: BoolArray,
    trivial: Candidate,
    trivial_bound: float,
    examine: Callable[[int], tuple[Candidate, float]],
    spread: Callable[[Candidate, IntArray], FloatArray],
) -> Settled[Candidate]:
    """Return the largest over secret entries of the least bound.

    `examine(i)` returns the best finding for entry i and its value; `spread(found, entries)` returns upper bounds on
    the values of (sorted) entries that follow from it. `trivial_bound` holds for every entry.

    >>> values = np.array([1.0, 5.0, 2.0])
    >>> done = settle(values > 0, "", 9.0, lambda i: (str(i), values[i]), lambda found, entries: values[entries] + 1)
    >>> done.bound, done.worst
    (5.0, '1')
    """
    upper = np.where(secret, trivial_bound, -np.inf)
    source = np.zeros(len(secret), dtype=np.int32)
    settled = [trivial]
    worst, best = trivial, -np.inf
    entries = np.flatnonzero(secret)
    entry = int(entries[np.argmin(np.abs(entries - len(secret) // 2))])
    while upper[entry] > max(best, best * (1 + SAME)):
        score, value = examine(entry)
        settled.append(score)
        if value > best:
            worst, best = score, value
        open_ = np.flatnonzero(upper > best)
        bounds = spread(score, open_)
        lower = bounds < upper[open_]
        upper[open_[lower]] = bounds[lower]
        source[open_[lower]] = len(settled) - 1
        if value <= upper[entry]:
            upper[entry], source[entry] = value, len(settled) - 1
        entry = int(np.argmax(upper))
    largest = float(upper[entry])
    ties = np.flatnonzero(upper >= largest * (1 - 10 * SAME))
    sources = sorted(set(source[ties].tolist()))
    return Settled(largest, worst, tuple((settled[n], ties[source[ties] == n]) for n in sources))
