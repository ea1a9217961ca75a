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
from fractions import Fraction
from typing import TypeVar

import numpy as np

from takifugu.core.arrays import BoolArray, FloatArray, IntArray

#: Improvements below this (relative) are rounding.
SAME = 1e-13


def scores(change: FloatArray, influence: FloatArray, epsilon: float) -> FloatArray:
    """Return each quilt's scale; infinite for a useless one."""
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


Candidate = TypeVar("Candidate")


def settle(
    secret: BoolArray,
    trivial: Candidate,
    trivial_bound: float,
    examine: Callable[[int], tuple[Candidate, float]],
    spread: Callable[[Candidate, IntArray], FloatArray],
) -> tuple[float, list[tuple[Candidate, IntArray]]]:
    """Return the largest over secret entries of the least bound, and what gave which entries this bound, nearly."""
    # `examine(i)` is entry i's best finding, and its value; `spread` bounds the values of sorted entries by a finding.
    upper = np.where(secret, trivial_bound, -np.inf)
    source = np.zeros(len(secret), dtype=np.int32)
    settled = [trivial]
    best = -np.inf
    entries = np.flatnonzero(secret)
    entry = int(entries[np.argmin(np.abs(entries - len(secret) // 2))])
    while upper[entry] > max(best, best * (1 + SAME)):
        score, value = examine(entry)
        settled.append(score)
        best = max(best, value)
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
    return largest, [(settled[n], ties[source[ties] == n]) for n in sources]
