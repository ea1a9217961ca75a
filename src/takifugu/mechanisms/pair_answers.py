"""The noise of mechanisms that look at the law of the answer: its grid, also where two laws are compared directly."""

from __future__ import annotations

import math
from fractions import Fraction

from takifugu.beliefs.pair import LawPair
from takifugu.errors import Unsupported
from takifugu.laws.rationals import round_up
from takifugu.mechanisms.base import Problem
from takifugu.queries import FINEST_IMPLIED_GRID, Identity
from takifugu.randomisers import Exact, Randomiser, RoundedLaplace, laplace_or_exact

#: An undeclared grid is at most this share of the distance between the lowest and the highest atom.
FINE = Fraction(1, 10**6)


def laplace_noise(problem: Problem, scale: Fraction) -> Randomiser:
    """Return Laplace noise of a scale in the units of the answer families (grid units; answer units for two laws).

    Answers on a grid get discrete Laplace noise. Two laws whose atoms have no common grid get the continuous noise,
    rounded once to the declared grid, or else to a power of ten at most 1e-6 of the range of the laws.

    Raises Unsupported when two laws are compared and the query is not Identity().
    """
    if not problem.is_pair:
        return laplace_or_exact(round_up(scale), problem.grid, problem.cells)
    grid, common = pair_grid(problem)
    if common:
        return laplace_or_exact(round_up(scale / grid), grid, 1)
    return RoundedLaplace(round_up(scale), grid, 1, on_grid=False) if scale else Exact(grid, 1, on_grid=False)


def is_on_grid(problem: Problem) -> bool:
    """Return whether every possible answer is a multiple of the problem's grid; only two given laws may be off it."""
    return not problem.is_pair or pair_grid(problem)[1]


def pair_grid(problem: Problem) -> tuple[Fraction, bool]:
    """Return the grid of the answer when two laws are compared, and whether every atom is a multiple of it."""
    query = problem.query
    if not isinstance(query, Identity) or query.attribute is not None:
        raise Unsupported("between(p, q) compares two distributions of the published number itself: publish Identity()")
    pairs = [b for b in problem.framework.beliefs if isinstance(b, LawPair)]
    atoms = sorted({Fraction(v) for b in pairs for law in (b.left, b.right) for v in law.values.tolist()})
    if query.grid is not None:
        return query.grid, all((atom / query.grid).denominator == 1 for atom in atoms)
    denominator = math.lcm(*(atom.denominator for atom in atoms))
    if denominator <= FINEST_IMPLIED_GRID:
        return Fraction(math.gcd(*(int(atom * denominator) for atom in atoms)) or 1, denominator), True
    return _power_of_ten((atoms[-1] - atoms[0] or abs(atoms[0])) * FINE), False


def _power_of_ten(largest: Fraction) -> Fraction:
    """Return the largest power of ten that is at most `largest`."""
    exponent = math.floor(math.log10(largest))
    while Fraction(10) ** exponent > largest:
        exponent -= 1
    while Fraction(10) ** (exponent + 1) <= largest:
        exponent += 1
    return Fraction(10) ** exponent
