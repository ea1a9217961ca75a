"""The largest log-ratio of two densities after Laplace noise, enclosed over the whole line.

Cells and tails are bounded by combinations of e^(y/b) and e^(-y/b) through two places; cells of the largest bound are
halved (docs/theory/one-answer.md#one-answer-19). Nothing of the calibration is used, which cuts the line into 2^18
cells of masses.
"""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass
from functools import cache

from mpmath import mp, mpf

from takifugu.audit.curves import normals_of, range_of
from takifugu.audit.hills import REACH, Curve, between
from takifugu.core.plain import Plain

#: How closely the log-ratio is sought, relatively, and where it is next to nothing; most cells that are halved.
CLOSE, NOTHING, MOST_HALVED = 1e-10, 1e-6, 2000


@dataclass(frozen=True, eq=False)
class Noisy:
    """A density with Laplace noise of a scale, and X's plain data."""

    description: Plain
    curve: Curve
    scale: mpf

    def end(self, sign: int) -> mpf:
        """Return where X ends to one side, or nearly all of E[e^(sign X/b)] is passed."""
        low, high = range_of(self.description)
        end = high if sign > 0 else low
        if mp.isfinite(end):
            return end
        normals = normals_of(self.description) or ()
        return sign * max(sign * m + s**2 / self.scale + REACH * s for _, m, s in normals)

    def tail(self, place: mpf, sign: int) -> tuple[mpf, mpf]:
        """Bound the density beyond a place to one side, over e^(-|y - place|/b)."""
        least = self.curve.at(place)
        low, high = range_of(self.description)
        if (sign > 0 and high <= place) or (sign < 0 and low >= place):
            return least, least
        t, parts = sign / self.scale, normals_of(self.description) or ()
        total = mp.fsum(w * _share(low - m, high - m, s) for w, m, s in parts)
        moments = []
        for w, m, s in parts:
            tilted = m + s**2 * t
            moments.append(w * mp.exp(t * (m - place) + (s * t) ** 2 / 2) * _share(low - tilted, high - tilted, s))
        return least, max(least, mp.fsum(moments) / total / (2 * self.scale))


def _share(low: mpf, high: mpf, s: mpf) -> mpf:
    """Return the mass of a normal number about 0 between two places; the number is 0 where s is 0."""
    return between(low / s, high / s) if s else mp.mpf(low <= 0 <= high)


@dataclass(frozen=True)
class Cell:
    """A part of the line, and a bound of the ratio on it."""

    left: mpf
    right: mpf
    most: mpf

    def __lt__(self, other: Cell) -> bool:
        return bool(self.most > other.most)


def largest_log_ratio(p: Noisy, q: Noisy) -> tuple[mpf, mpf, mpf]:
    """Enclose the supremum of log p/q over the line, and return a place near it."""
    first, last = min(p.end(-1), q.end(-1)), max(p.end(1), q.end(1))
    of_p, of_q = cache(p.curve.at), cache(q.curve.at)

    def cell(left: mpf, right: mpf) -> Cell:
        growth = 2 * mp.cosh((right - left) / p.scale)
        from_left = growth * of_p(left) - of_p(2 * left - right)
        from_right = growth * of_p(right) - of_p(2 * right - left)
        ahead = max(of_p(left) / of_q(left), from_left / of_q(right))
        behind = max(of_p(right) / of_q(right), from_right / of_q(left))
        return Cell(left, right, min(ahead, behind))

    inner_ends = [y for y in (*p.curve.ends, *q.curve.ends) if first < y < last]
    ends = sorted({first, last, *inner_ends})
    cells = [cell(left, right) for left, right in itertools.pairwise(ends)]
    heapq.heapify(cells)
    reached, place = max((of_p(y) / of_q(y), y) for y in ends)
    beyond = mp.mpf(0)
    for end, sign in ((first, -1), (last, 1)):
        (p_least, p_most), (q_least, q_most) = p.tail(end, sign), q.tail(end, sign)
        beyond = max(beyond, p_most / q_least)
        reached, place = max((reached, place), (p_least / q_most, end))
    for _ in range(MOST_HALVED):
        if mp.log(cells[0].most / reached) <= CLOSE * max(mp.log(reached), NOTHING):
            break
        widest = heapq.heappop(cells)
        middle = (widest.left + widest.right) / 2
        reached, place = max((reached, place), (of_p(middle) / of_q(middle), middle))
        heapq.heappush(cells, cell(widest.left, middle))
        heapq.heappush(cells, cell(middle, widest.right))
    return mp.log(reached), mp.log(max(reached, beyond, cells[0].most)), place
