"""Orders between laws, and log-ratios that float64 cannot decide, on exact masses.

p <= q in *stochastic* order: no threshold is passed more often under p. p <= q in *likelihood-ratio* order: q/p never
falls; this implies the former, also given any interval. A law on a lattice is *log-concave* where its masses have no
gap and m_k^2 >= m_(k-1) m_(k+1); sums of independent log-concave numbers are, and adding one keeps the likelihood-ratio
order (docs/theory/attributes.md#orders). Float masses count as the binary fractions that they are.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from fractions import Fraction
from itertools import chain, pairwise
from operator import truediv
from typing import TYPE_CHECKING

import numpy as np

from takifugu.numbers.atoms import Floats, same_type
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.rationals import as_mpf, in_common_unit

if TYPE_CHECKING:
    from mpmath import mpf


#: Binary digits of `noised_log_ratios`; its relative error is at most (number of atoms) * 2**(8 - BITS).
BITS = 240


def log_masses(law: Pmf) -> Floats:
    """Return the probabilities' logarithms, within 2**-50 relative, however small."""
    if law.total is None:
        return np.asarray(np.log(law.masses))
    if law.masses.dtype == object:
        return np.array([log_share(mass, law.total) for mass in law.masses.tolist()], dtype=np.float64)
    shares, missing = law.masses / law.total, (law.masses - law.total) / law.total
    return np.where(shares < 0.5, np.log(shares), np.log1p(missing))


def log_share(mass: int, total: int) -> float:
    """Return log(mass / total), 0 < mass <= total of any size, within 2**-50 relative."""
    if 2 * mass >= total:
        return math.log1p((mass - total) / total)
    # A difference of two logs would be off by more: of long masses and totals both are large.
    shift = total.bit_length() - mass.bit_length()
    return math.log((mass << shift) / total) - shift * math.log(2)


def ratio_exceeds(ratio: Fraction, epsilon: Fraction) -> bool:
    """Decide ratio > e**epsilon for a rational epsilon but 0 (Lindemann)."""
    from mpmath import mp

    bits = 80
    while True:
        with mp.workprec(bits):
            goal = as_mpf(epsilon)
            gap = mp.log(as_mpf(ratio)) - goal
            if abs(gap) > mp.ldexp(1 + abs(goal), 8 - bits):
                return bool(gap > 0)
        bits *= 2


def exact_excess(p: Pmf, q: Pmf, epsilon: Fraction) -> tuple[Fraction, Fraction]:
    """Return both masses of the atoms with p > e**epsilon q."""
    left = right = Fraction(0)
    for mass, other in _exceeding(p, q, epsilon):
        left, right = left + mass, right + other
    return left, right


def masses_need_noise(p: Pmf, q: Pmf, epsilon: Fraction) -> bool:
    """Decide whether some atom's masses differ by more than e**epsilon."""
    return any(True for _ in chain(_exceeding(p, q, epsilon), _exceeding(q, p, epsilon)))


def _exceeding(p: Pmf, q: Pmf, epsilon: Fraction) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield both masses of each atom with p > e**epsilon q."""
    x, y = same_type(p.values, q.values)
    place = np.minimum(np.searchsorted(y, x), len(y) - 1)
    shared = y[place] == x
    first, second = log_masses(p), np.where(shared, log_masses(q)[place], -np.inf)
    with np.errstate(invalid="ignore"):
        excess = first - second - float(epsilon)
        doubt = 2.0**-48 * (1.0 + float(epsilon) + np.abs(first) + np.abs(second))
    masses, others = p.masses.tolist(), q.masses.tolist()
    for index in np.flatnonzero(excess > -doubt).tolist():
        mass = Fraction(masses[index]) / (p.total or 1)
        other = Fraction(others[place[index]]) / (q.total or 1) if shared[index] else Fraction(0)
        if not other or excess[index] > doubt[index] or ratio_exceeds(mass / other, epsilon):
            yield mass, other


def noised_log_ratios(p: Pmf, q: Pmf, scale: float) -> tuple[mpf, mpf]:
    """Return both directed suprema of log p*Lap / q*Lap at a positive scale, by mpmath."""
    # Every term is positive, and nothing can underflow.
    from mpmath import mp

    with mp.workprec(BITS):
        gaps, masses_of_p, masses_of_q = merged_masses(p, q)
        noised_p, noised_q = _noised(masses_of_p, gaps, scale), _noised(masses_of_q, gaps, scale)
        ratios = list(map(truediv, noised_p, noised_q))
        return mp.log(max(ratios)), -mp.log(min(ratios))


def noised_loss_within(p: Pmf, q: Pmf, scale: float, epsilon: Fraction) -> tuple[float, bool]:
    """Return the largest absolute log-ratio, and whether it certainly fits."""
    from mpmath import mp

    with mp.workprec(BITS):
        loss = max(noised_log_ratios(p, q, scale))
        margin = mp.ldexp(len(p) + len(q), 8 - BITS) * (1 + loss)
        return float(loss), bool((loss + margin) * epsilon.denominator <= epsilon.numerator)


def _noised(masses: list[Hashable], gaps: list[Fraction], scale: float) -> list[mpf]:
    """Return the sum of decayed masses at each atom."""
    forward, backward, steps = passes(masses, gaps, scale)
    return [a + step * b for a, b, step in zip(forward, [*backward[1:], 0], [*steps, 0], strict=True)]


def passes(masses: list[Hashable], gaps: list[Fraction], scale: float) -> tuple[list[mpf], list[mpf], list[mpf]]:
    """Return the sums of m_j e^{-|x_i - x_j| / scale} over j <= i and over j >= i, and the decays e^{-gap / scale}."""
    # The caller's mpmath context sets the precision; masses may be signed.
    from mpmath import mp

    decay = {gap: mp.exp(-as_mpf(gap) / mp.mpf(scale)) for gap in set(gaps)}
    steps = [decay[place] for place in gaps]
    return _one_way(masses, steps), _one_way(masses[::-1], steps[::-1])[::-1], steps


def _one_way(masses: list[mpf], steps: list[mpf]) -> list[mpf]:
    sums = [masses[0]]
    for mass, step in zip(masses[1:], steps, strict=True):
        sums.append(mass + step * sums[-1])
    return sums


def merged_masses(p: Pmf, q: Pmf) -> tuple[list[Fraction], list[mpf], list[mpf]]:
    """Return the merged atoms' gaps, and both laws' masses there."""
    from mpmath import mp

    x, y = same_type(p.values, q.values)
    left = dict(zip(x.tolist(), p.masses.tolist(), strict=True))
    right = dict(zip(y.tolist(), q.masses.tolist(), strict=True))
    atoms = sorted({*left, *right})
    gaps = [Fraction(b) - Fraction(a) for a, b in pairwise(atoms)]
    masses_of_p, masses_of_q = [], []
    for v in atoms:
        masses_of_p.append(mp.mpf(left.get(v, 0)) / (p.total or 1))
        masses_of_q.append(mp.mpf(right.get(v, 0)) / (q.total or 1))
    return gaps, masses_of_p, masses_of_q


def exact_law(law: Pmf) -> Pmf:
    """Return the distribution with integer masses."""
    if law.exact:
        return law
    return Pmf.from_counts(law.values, in_common_unit(law.masses.tolist())[0])


def likelihood_ratio_ordered(p: Pmf, q: Pmf) -> bool:
    """Return whether q/p never falls along the line."""
    left, right = _masses(p), _masses(q)
    pairs = [(left.get(x, 0), right.get(x, 0)) for x in sorted({*left, *right})]
    # Neighbours decide: an atom of neither law is not listed, so a ratio is never 0/0 in between.
    return all(a * d >= b * c for (a, b), (c, d) in pairwise(pairs))


def stochastically_ordered(p: Pmf, q: Pmf) -> bool:
    """Return whether p's distribution function is nowhere below q's."""
    left, right = _masses(p), _masses(q)
    total, other_total = sum(left.values()), sum(right.values())
    below = above = 0
    for x in sorted({*left, *right}):
        below, above = below + left.get(x, 0), above + right.get(x, 0)
        if below * other_total < above * total:
            return False
    return True


def log_concave(law: Pmf, step: int) -> bool:
    """Return whether a distribution of integers is log-concave on its lattice."""
    masses = _masses(law)
    places = sorted(masses)
    if any(b - a != step for a, b in pairwise(places)):
        return False
    row = [masses[place] for place in places]
    return all(b * b >= a * c for a, b, c in zip(row, row[1:], row[2:], strict=False))


def lattice_step(*laws: Pmf) -> int:
    """Return the distributions' largest common lattice step, or 1."""
    step = 0
    for law in laws:
        step = math.gcd(step, *(int(b - a) for a, b in pairwise(law.values.tolist())))
    return step or 1


def _masses(law: Pmf) -> dict[int, int]:
    exact = exact_law(law)
    return {int(x): int(mass) for x, mass in zip(exact.values.tolist(), exact.masses.tolist(), strict=True)}
