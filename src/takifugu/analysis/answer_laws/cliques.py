"""Laws of an answer in a clique where all sets of n ill people are equally likely: subsets counted by size and sum.

P(N = n, X_i = 1, sum of the others = j) is P(N = n) C(n - 1, j) / C(m, n), where C(n, j) is how many sets of n of
the other m - 1 people add j; with X_i = 0 it is C(n, j). Everything is exact: masses given as floats count as the
binary fractions that they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain

import numpy as np

from takifugu.analysis.answer_laws.listed import ListedFamily
from takifugu.analysis.questions.answer_law import AnswerLaw
from takifugu.analysis.questions.marginal import Marginal
from takifugu.model.beliefs.contacts import Clique
from takifugu.model.queries import Additive
from takifugu.numbers.distributions.pmf import Pmf


class CliqueLaw(AnswerLaw[Clique]):
    """The laws given each value of each secret person, in order; people whose others add the same share them."""

    def families(self) -> Iterator[ListedFamily]:
        belief, answer = self.belief, self.answer
        laws_by_rest: dict[tuple[int, tuple[int, ...]], dict[int, tuple[Pmf, ...]]] = {}
        added = np.array([answer.contribution(person)[:, 0] for person in range(belief.size)])
        extra, base = np.diff(added)[:, 0].tolist(), int(added[:, 0].sum())
        for entry in self.family.entries:
            pairs = self.family.value_pairs(belief, entry)
            if not pairs:
                continue
            other_addends = tuple(sorted(extra[:entry] + extra[entry + 1 :]))
            key = (extra[entry], other_addends)
            if key not in laws_by_rest:
                values = set(chain.from_iterable(pairs))
                laws_by_rest[key] = _laws(belief, extra[entry], other_addends, base, values)
            yield ListedFamily(entry, pairs, laws_by_rest[key])

    def work(self, laplace: bool = False) -> tuple[float, float]:
        size = self.belief.size
        different = len({self.answer.contribution(i).tobytes() for i in range(size)})
        return 1e3 * different * self.atoms() * size**2, 100.0 * self.atoms() * size

    def atoms(self) -> float:
        spread = sum(float(np.ptp(self.answer.contribution(i))) for i in range(self.belief.size))
        return min(1.0 + spread, 2.0**self.belief.size)


class CliqueMarginal(Marginal[Clique]):
    """The probability that somebody is ill: how many are, on average, of all."""

    known = True

    def of(self, entry: int) -> tuple[list[Fraction], float]:
        total = ill = Fraction(0)
        for number, mass in self.belief.number.items():
            total += Fraction(mass)
            ill += Fraction(number) * Fraction(mass) / self.belief.size
        return [total - ill, ill], 0.0


def law_of_answer(belief: Clique, answer: Additive) -> dict[int, Fraction]:
    """Return the probability of each number of an answer of one cell."""
    added = np.array([answer.contribution(person)[:, 0] for person in range(belief.size)])
    base, masses = int(added[:, 0].sum()), dict[int, Fraction]()
    sets = _subsets(tuple(np.diff(added)[:, 0].tolist()))
    for n, mass in belief.number.items():
        of_each = Fraction(mass) / math.comb(belief.size, int(n))
        for total, count in sets.get(int(n), {}).items():
            masses[base + total] = masses.get(base + total, Fraction(0)) + of_each * count
    return masses


def _laws(
    belief: Clique, weight: int, other_addends: tuple[int, ...], base: int, values: set[int]
) -> dict[int, tuple[Pmf, ...]]:
    sets = _subsets(other_addends)
    laws: dict[int, tuple[Pmf, ...]] = {}
    for value in sorted(values):
        masses: dict[int, Fraction] = {}
        for n, mass in belief.number.items():
            ill_others, mass_of_each = int(n) - value, Fraction(mass) / math.comb(belief.size, int(n))
            for total, count in sets.get(ill_others, {}).items():
                at = base + total + value * weight
                masses[at] = masses.get(at, Fraction(0)) + mass_of_each * count
        whole = sum(masses.values())
        laws[value] = (Pmf(list(masses), [p / whole for p in masses.values()]),)
    return laws


def _subsets(extra: tuple[int, ...]) -> dict[int, dict[int, int]]:
    """Count the sets of n people by total, for each n."""
    sets: dict[int, dict[int, int]] = {0: {0: 1}}
    for number, weight in enumerate(extra):
        sets[number + 1] = {}
        for n in range(number, -1, -1):
            for total, count in sets[n].items():
                sets[n + 1][total + weight] = sets[n + 1].get(total + weight, 0) + count
    return sets
