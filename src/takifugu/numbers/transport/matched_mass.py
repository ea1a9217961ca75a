"""How much mass of one law can be moved into another within a distance, in whole numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from takifugu.core.errors import InputError
from takifugu.numbers.atoms import LARGEST_SMALL, Array, Atom, integers, to_python
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.rationals import Number, both_in_common_unit, float_above
from takifugu.numbers.search import between, halved, next_to


def unmatched_mass(p: Pmf, q: Pmf, distance: Number) -> Fraction | float:
    """Return the least mass left by moves up to `distance` (errata E11).

    The mass is the same for both laws. Exact (a Fraction) when both laws are.

    >>> unmatched_mass(Pmf.from_counts([0, 3], [1, 1]), Pmf.from_counts([0, 1, 3], [4, 3, 3]), 1)
    Fraction(1, 5)
    """
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
    """Return the largest mass movable by at most `distance`.

    Greedy from the left is optimal: the partners of an atom form an interval, and both its ends grow with the atom.
    """
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
