"""Which populations a relation lifts to, and how far two are apart (Kawamoto19 Definitions 5 and 7, Section 5.2).

The lifting of a relation Phi holds the pairs of populations with a coupling whose support lies in Phi (`is_lifted`);
its smaller form for W-infinity asks that no move of it is longer than the least largest one (`is_nearest_lifted`).
"""

from __future__ import annotations

from collections.abc import Iterable

from takifugu.numbers.transport.bottleneck import Metric
from takifugu.numbers.transport.couplings import Coupling, Population, Related, least_largest, w_infinity


def coupling(p: Population, q: Population, related: Related) -> Coupling | None:
    """Return a coupling of p and q with its support in a relation, or None where there is none (Definition 5).

    >>> from fractions import Fraction
    >>> half = {0: Fraction(1, 2), 1: Fraction(1, 2)}
    >>> coupling(half, {1: Fraction(1, 2), 2: Fraction(1, 2)}, lambda x, y: y == x + 1)
    {(0, 1): Fraction(1, 2), (1, 2): Fraction(1, 2)}
    """
    unrelated, plan = least_largest(p, q, lambda x, y: float(not related(x, y)))
    return None if unrelated else plan


def is_lifted(p: Population, q: Population, related: Related) -> bool:
    """Decide whether (p, q) is in the lifting of a relation: some coupling has its support in it (Definition 7).

    >>> from fractions import Fraction
    >>> half = {0: Fraction(1, 2), 1: Fraction(1, 2)}
    >>> is_lifted(half, {1: Fraction(1, 2), 2: Fraction(1, 2)}, lambda x, y: y == x + 1)
    True
    """
    return coupling(p, q, related) is not None


def is_nearest_lifted(p: Population, q: Population, related: Related, metric: Metric) -> bool:
    """Decide whether (p, q) is in the lifting for W-infinity: a coupling in the relation with no move above W-infinity.

    A part of the lifting (Kawamoto19 Section 5.2.2).
    """
    reach = w_infinity(p, q, metric)
    return is_lifted(p, q, lambda x, y: bool(related(x, y)) and bool(metric(x, y) <= reach))


def is_lifted_relation(pairs: Iterable[tuple[Population, Population]], related: Related) -> bool:
    """Decide whether every pair of populations is in the lifting of a relation.

    That alone adds nothing up: the two bits of errata E9a are in the lifting of "differ". What does is in
    `local.composing`.
    """
    return all(is_lifted(p, q, related) for p, q in pairs)
