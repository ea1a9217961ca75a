"""Orders between laws on the line, decided on exact masses: which comparison of two laws is the worst of many.

p <= q in *stochastic* order: no threshold is passed more often under p. p <= q in *likelihood-ratio* order: q/p never
falls; this implies the former, also given any interval. A law on a lattice is *log-concave* where its masses have no
gap and m_k^2 >= m_(k-1) m_(k+1); sums of independent log-concave numbers are, and adding one keeps the likelihood-ratio
order (docs/theory/attributes.md#orders). Float masses count as the binary fractions that they are.
"""

from __future__ import annotations

import math
from itertools import pairwise

from takifugu.core.lists import take
from takifugu.numbers.distributions.exact_ratio import exact_law
from takifugu.numbers.distributions.pmf import Pmf


def likelihood_ratio_ordered(p: Pmf, q: Pmf) -> bool:
    """Return whether q/p never falls along the line.

    >>> coin, biased = Pmf([0, 1], [0.5, 0.5]), Pmf([0, 1], [0.25, 0.75])
    >>> likelihood_ratio_ordered(coin, biased), likelihood_ratio_ordered(biased, coin)
    (True, False)
    """
    left, right = _masses(p), _masses(q)
    pairs = [(left.get(x, 0), right.get(x, 0)) for x in sorted({*left, *right})]
    # Neighbours decide: an atom of neither law is not listed, so a ratio is never 0/0 in between.
    return all(a * d >= b * c for (a, b), (c, d) in pairwise(pairs))


def stochastically_ordered(p: Pmf, q: Pmf) -> bool:
    """Return whether p's distribution function is nowhere below q's.

    >>> stochastically_ordered(Pmf([0, 3], [0.5, 0.5]), Pmf([1, 3], [0.5, 0.5]))
    True
    """
    left, right = _masses(p), _masses(q)
    total, other_total = sum(left.values()), sum(right.values())
    below = above = 0
    for x in sorted({*left, *right}):
        below, above = below + left.get(x, 0), above + right.get(x, 0)
        if below * other_total < above * total:
            return False
    return True


def log_concave(law: Pmf, step: int) -> bool:
    """Return whether a law of integers is log-concave on its lattice.

    >>> log_concave(Pmf([0, 1, 2], [0.25, 0.5, 0.25]), 1), log_concave(Pmf([0, 2], [0.5, 0.5]), 1)
    (True, False)
    """
    masses = _masses(law)
    places = sorted(masses)
    if any(b - a != step for a, b in pairwise(places)):
        return False
    row = take(masses, places)
    return all(b * b >= a * c for a, b, c in zip(row, row[1:], row[2:], strict=False))


def lattice_step(*laws: Pmf) -> int:
    """Return the laws' largest common lattice step, or 1.

    >>> lattice_step(Pmf([0, 4], [0.5, 0.5]), Pmf([1, 7], [0.5, 0.5]))
    2
    """
    step = 0
    for law in laws:
        step = math.gcd(step, *(int(b - a) for a, b in pairwise(law.values.tolist())))
    return step or 1


def _masses(law: Pmf) -> dict[int, int]:
    exact = exact_law(law)
    return {int(x): int(mass) for x, mass in zip(exact.values.tolist(), exact.masses.tolist(), strict=True)}
