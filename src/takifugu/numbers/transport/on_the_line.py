"""Moving one law on the line into another: monotone plan, largest move (W-infinity), and the mass within a distance.

F and G are the distribution functions of p and q. The monotone plan has joint distribution function min(F(x), G(y));
its segments are the intervals between neighbouring levels of F and G, and its largest move is W-infinity (Ding22 §3.1;
errata E13: other plans of least cost may move farther).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from takifugu.core.errors import InputError
from takifugu.core.rules import check_type
from takifugu.numbers.atoms import LARGEST_SMALL, Array, Atom, Floats, integers, object_array, same_type, to_python
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.rationals import Number, as_delta, both_in_common_unit, float_above
from takifugu.numbers.search import between, halved, next_to

#: Widest relative gap between two float levels that a proposal of W-infinity may ignore.
WIDE_TOLERANCE = 2.0**-30


@dataclass(frozen=True, eq=False)
class Plan:
    """A joint law with marginals p and q: mass `masses[k]` (over `total` when exact) goes from left[k] to right[k]."""

    left: Array
    right: Array
    masses: Array
    total: int | None

    @property
    def mass(self) -> Array:
        """The masses as probabilities: Fractions when exact, else float64."""
        if self.total is None:
            return self.masses
        return object_array([Fraction(mass, self.total) for mass in self.masses.tolist()])

    def items(self) -> Iterator[tuple[Atom, Atom, Fraction | float]]:
        """Yield (from, to, mass) in increasing order."""
        for x, y, mass in zip(self.left.tolist(), self.right.tolist(), self.mass.tolist(), strict=True):
            yield to_python(x), to_python(y), mass

    @property
    def largest_move(self) -> Atom:
        """Return the largest |x - y| with mass."""
        return _largest(self.left, self.right)

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """Return both laws' atoms, increasing: the tables' rows and columns."""
        return tuple(sorted(set(map(to_python, (*self.left.tolist(), *self.right.tolist())))))

    def joint_pmf_table(self) -> list[list[Fraction | float]]:
        """Return the joint probabilities by left atom (Ding22 Tables 3, 6)."""
        place = {value: place for place, value in enumerate(self.atoms)}
        table: list[list[Fraction | float]] = [[Fraction(0)] * len(place) for _ in place]
        for x, y, mass in self.items():
            table[place[x]][place[y]] += mass
        return table


def monotone_coupling(p: Pmf, q: Pmf) -> Plan:
    """Return the monotone (quantile) coupling of two distributions, whose largest move is W-infinity (Ding22 §3.1).

    It is exact if both distributions are. Float masses count as equal within `level_tolerance`, and the marginals hold
    to that relative tolerance.

    Args:
        p: The distribution to move.
        q: The distribution to reach.

    Returns:
        The plan: masses that move from values of p to values of q.

    Examples:
        >>> plan = monotone_coupling(Pmf.from_counts([0, 1], [1, 1]), Pmf.from_counts([0, 1], [1, 3]))
        >>> [(x, y, str(mass)) for x, y, mass in plan.items()]
        [(0, 0, '1/4'), (0, 1, '1/4'), (1, 1, '1/2')]
    """
    _check_laws(p, q)
    if p.exact and q.exact:
        left, right, total = exact_levels(p, q)
        i, j, _, lengths = _segments(left, right)
        if not lengths.all():
            is_long = lengths > 0
            i, j, lengths = i[is_long], j[is_long], lengths[is_long]
        return Plan(p.values[i], q.values[j], lengths, total)
    tolerance = level_tolerance(p, q)
    (_, left, _, right), (_, left_back, _, right_back) = _halves(p, q)
    i, j, lengths = _held_segments(left, right, tolerance)
    i_back, j_back, lengths_back = _held_segments(left_back, right_back, tolerance)
    middle = len(i)
    i = np.concatenate((i, len(p) - 1 - i_back[::-1]))
    j = np.concatenate((j, len(q) - 1 - j_back[::-1]))
    lengths = np.concatenate((lengths, lengths_back[::-1]))
    if i[middle - 1] == i[middle] and j[middle - 1] == j[middle]:
        lengths[middle - 1] += lengths[middle]
        i, j, lengths = np.delete(i, middle), np.delete(j, middle), np.delete(lengths, middle)
    return Plan(p.values[i], q.values[j], lengths, None)


def _check_laws(p: Pmf, q: Pmf) -> None:
    check_type(p, Pmf, "a distribution", "write Pmf(values, probabilities)", "p")
    check_type(q, Pmf, "a distribution", "write Pmf(values, probabilities)", "q")


def w_infinity(p: Pmf, q: Pmf, delta: Number = 0.0) -> Atom:
    """Return the longest move that takes p to q, but for a mass of delta.

    At delta = 0 it is W-infinity (Song17 Definition 3.1), above it partial transport (Song17 Appendix A.4, corrected in
    errata E11). Exact masses decide ties exactly. Float masses at delta = 0 count as equal within `level_tolerance`:
    that number is for display. At delta > 0 they count as the binary fractions that they are.

    Args:
        p: The distribution to move.
        q: The distribution to reach.
        delta: Mass that need not move, from 0 to below 1.

    Returns:
        The length of the move, in answer units.

    Raises:
        InputError: Unless 0 <= delta < 1.

    Examples:
        >>> flu = Pmf.from_counts([0, 1, 2, 3], [3, 1, 1, 1]), Pmf.from_counts([1, 2, 3, 4], [1, 1, 1, 1])
        >>> w_infinity(*flu), w_infinity(*flu, delta=0.25), w_infinity(*flu, delta=0.5)
        (2, 1, 0)
    """
    _check_laws(p, q)
    allowed = as_delta(delta)
    if allowed:
        return least_partial_move(p, q, allowed)
    if p.exact and q.exact:
        return _exact_w_infinity(p, q)
    return _proposed(p, q, level_tolerance(p, q))[0]


def _exact_w_infinity(p: Pmf, q: Pmf) -> Atom:
    """Return the largest move, from both ends of each atom's run."""
    left, right, _ = exact_levels(p, q)
    last = np.flatnonzero(_merge(left, right)[1]) - np.arange(len(left))
    first = np.concatenate(([0], last[:-1] + (right[last[:-1]] == left[:-1])))
    return max(_largest(p.values, q.values[first]), _largest(p.values, q.values[last]))


def w_infinity_candidates(p: Pmf, q: Pmf) -> tuple[Atom, ...]:
    """Return increasing candidates for W-infinity, the last one certainly large enough; one for exact masses."""
    if p.exact and q.exact:
        return (w_infinity(p, q),)
    # Proposals count close levels as equal, and may be too small; the safe one takes their worst order.
    fine = level_tolerance(p, q)
    safe = max(_largest_safe(*pair, fine) for pair in _halves(p, q))
    return tuple(sorted({*_proposed(p, q, WIDE_TOLERANCE, fine), safe}))


def level_tolerance(p: Pmf, q: Pmf) -> float:
    """Return the relative tolerance of float levels: 8 (n + m) 2**-53."""
    return 2.0**-50 * (len(p) + len(q))


def _segments(left: Array, right: Array) -> tuple[Array, Array, Array, Array]:
    """Return the segments between all levels: atoms of p, q, starts, lengths."""
    ends, from_left = _merge(left, right)
    starts = np.concatenate((ends[:1] * 0, ends[:-1]))
    i = np.cumsum(from_left)
    i -= from_left
    j = np.arange(len(ends)) - i
    # Levels that tie leave intervals of length zero, whose atoms mean nothing.
    return np.minimum(i, len(left) - 1), np.minimum(j, len(right) - 1), starts, ends - starts


def _merge(left: Array, right: Array) -> tuple[Array, Array]:
    """Merge two increasing rows in linear time, of ties the left first."""
    values = np.concatenate((left, right))
    order = np.argsort(values, kind="stable")
    return values[order], order < len(left)


def _largest(x: Array, y: Array) -> Atom:
    """Return max |x - y|, rounded up when the atoms are floats."""
    x, y = same_type(x, y)
    moves = abs(x - y)
    largest = moves.max()
    if x.dtype != np.float64:
        return to_python(largest)
    far = moves == largest
    high, low = np.maximum(x[far], y[far]), np.minimum(x[far], y[far])
    back = (high - low) - high
    rounded_off = (high - ((high - low) - back)) - (low + back)
    return float(np.nextafter(largest, np.inf) if (rounded_off > 0).any() else largest)


Half = tuple[Array, Floats, Array, Floats]


def _halves(p: Pmf, q: Pmf) -> tuple[Half, Half]:
    """Return both laws' levels below 1/2, and both mirrored."""
    x, y = same_type(p.values, q.values)
    a, b = p.probabilities, q.probabilities
    # Levels are compared from the nearer end of the line, so that tails of tiny mass count in full.
    return (x, a.cumsum(), y, b.cumsum()), (-x[::-1], a[::-1].cumsum(), -y[::-1], b[::-1].cumsum())


def _below_half(levels: Floats) -> int:
    """Return how many atoms start below level 1/2."""
    return min(len(levels), int(np.searchsorted(levels, 0.5, "left")) + 1)


def _held_segments(left: Floats, right: Floats, tolerance: float) -> tuple[Array, Array, Array]:
    """Return the long segments below level 1/2: both atoms and length."""
    left, right = np.minimum(left[: _below_half(left)], 0.5), np.minimum(right[: _below_half(right)], 0.5)
    i, j, starts, lengths = _segments(left, right)
    is_long = lengths > starts * tolerance
    return i[is_long], j[is_long], lengths[is_long]


def _proposed(p: Pmf, q: Pmf, *tolerances: float) -> list[Atom]:
    """Return the largest move over long segments, for each tolerance."""
    proposals = []
    for tolerance in tolerances:
        halves = ((x, y, *_held_segments(left, right, tolerance)) for x, left, y, right in _halves(p, q))
        proposals.append(max(_largest(x[i], y[j]) for x, y, i, j, _ in halves))
    return proposals


def _largest_safe(x: Array, left: Floats, y: Array, right: Floats, tolerance: float) -> Atom:
    """Return the largest move if close levels may swap."""
    left = left[: _below_half(left)]
    starts = np.concatenate(([0.0], left[:-1])) * (1 - 2 * tolerance)
    ends = np.minimum(left, 0.5) * (1 + 2 * tolerance)
    last = len(y) - 1
    nearest = np.minimum(np.searchsorted(right, starts, "right"), last)
    farthest = np.minimum(np.searchsorted(right, ends, "left"), last)
    atoms = x[: len(left)]
    return max(_largest(atoms, y[nearest]), _largest(atoms, y[farthest]))


def unmatched_mass(p: Pmf, q: Pmf, distance: Number) -> Fraction | float:
    """Return the least mass left by moves up to `distance`, a Fraction for exact masses (errata E11)."""
    problem = _integer_problem(p, q)
    lost = problem.total - _matched(problem, math.floor(Fraction(distance) / problem.unit))
    share = Fraction(lost, problem.total)
    return share if p.exact and q.exact else float(share)


@dataclass(frozen=True)
class _IntegerProblem:
    """Both laws in integers: atoms over one unit, masses over one total."""

    x: list[int]
    a: list[int]
    y: list[int]
    b: list[int]
    unit: Fraction
    total: int


def _integer_problem(p: Pmf, q: Pmf) -> _IntegerProblem:
    x, y, per_unit = both_in_common_unit(p.values.tolist(), q.values.tolist())
    if p.exact and q.exact:
        left, right, total = exact_levels(p, q)
        a, b = integers(np.diff(left, prepend=left[:1] * 0)), integers(np.diff(right, prepend=right[:1] * 0))
    else:
        a, b, _ = both_in_common_unit(p.probabilities.tolist(), q.probabilities.tolist())
        total = min(sum(a), sum(b))
    return _IntegerProblem(x, a, y, b, Fraction(1, per_unit), total)


def _matched(problem: _IntegerProblem, distance: int) -> int:
    """Return the largest mass movable by at most `distance`."""
    # Greedy from the left is optimal: the partners of an atom form an interval, and both its ends grow with the atom.
    x, y, a, b = problem.x, problem.y, list(problem.a), list(problem.b)
    i = j = matched = 0
    while i < len(x) and j < len(y):
        if abs(x[i] - y[j]) <= distance:
            moved = min(a[i], b[j])
            matched += moved
            a[i] -= moved
            b[j] -= moved
            i, j = i + (not a[i]), j + (not b[j])
        elif x[i] < y[j]:
            i += 1
        else:
            j += 1
    return matched


def least_partial_move(p: Pmf, q: Pmf, delta: Fraction) -> Atom:
    """Return the least distance with unmatched mass within delta, by bisection."""
    problem = _integer_problem(p, q)
    needed = problem.total - math.floor(delta * problem.total)
    too_short, enough = -1, max(problem.x[-1], problem.y[-1]) - min(problem.x[0], problem.y[0])
    enough = halved(lambda reach: _matched(problem, reach) >= needed, enough, too_short, next_to, between)
    distance = enough * problem.unit
    if np.float64 not in (p.values.dtype, q.values.dtype):
        return to_python(distance)
    return float_above(Fraction(distance))


def exact_levels(p: Pmf, q: Pmf) -> tuple[Array, Array, int]:
    """Return both exact distribution functions as integers over one total."""
    if p.total is None or q.total is None:
        raise InputError("exact levels need exact masses", fix="give integers or Fractions")
    total = math.lcm(p.total, q.total)
    kind: npt.DTypeLike = np.int64 if total <= LARGEST_SMALL else object
    left, right = p.masses.astype(kind).cumsum(), q.masses.astype(kind).cumsum()
    return left * (total // p.total), right * (total // q.total), total
