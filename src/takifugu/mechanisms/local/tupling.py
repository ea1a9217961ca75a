"""The tupling mechanism: a value hidden among dummies, and the exact price of that (Kawamoto19 Algorithm 1).

An inner mechanism turns the input into s; k dummies are drawn from nu; the k + 1 values are published in an order that
is uniform (errata N6: the printed index range never puts s first). If s has law p under one population and q under the
other, the tuple y has probability (1/(k+1)) sum_j p(y_j) prod_{i != j} nu(y_i), and so

    delta(epsilon) = sum over y of (P(y) - e^epsilon Q(y))_+
                   = E_nu[(Z_1 + ... + Z_{k+1})_+] / (k+1) + sum over y with nu(y) = 0 of (p(y) - e^epsilon q(y))_+,

Z = (p(y) - e^epsilon q(y)) / nu(y), y drawn from nu: tuples that dummies alone could be are weighed by prod nu, and any
other holds exactly one value that no dummy has, which is s.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import NamedTuple

import numpy as np

from takifugu.core.columns import has_members
from takifugu.core.errors import InputError
from takifugu.core.plain import set_fields
from takifugu.core.rules import list_of
from takifugu.core.typed import Typed
from takifugu.numbers.distributions.divergence import divergence, divergence_in_units
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.distributions.positive_part import LARGEST_EPSILON, NARROW, Enclosure, mean_positive_part
from takifugu.numbers.rationals import Number, as_fraction, as_whole, both_in_common_unit, in_common_unit

#: Tuples of different kinds of values that are summed one by one, in exact arithmetic.
MOST_TUPLES = 100_000
#: So much likelier than a dummy an output may be for a transform, and so rare a dummy: floats hold their squares.
_LARGEST_RATIO, _LEAST_MASS = 2**200, Fraction(1, 2**500)

Law = Mapping[Hashable, Fraction]
Pairs = list[tuple[Fraction, Fraction]]


@dataclass(frozen=True)
class Tupling(Typed):
    """Hide a value among dummies (Kawamoto19 Algorithm 1).

    Args:
        dummies: How many values are sent beside the real one.
        law: Distribution of a dummy; None for uniform over the outputs.

    Raises:
        InputError: Unless the number of dummies is a whole number from 0.

    Examples:
        >>> Tupling(1).delta([0.5, 0.5], [1, 0], 0)
        0.25
    """

    dummies: int
    law: Pmf | tuple[Fraction, ...] | None = None

    def __init__(self, dummies: int, law: Pmf | Iterable[Number] | None = None) -> None:
        as_whole(dummies, "the number of dummies", "k")
        exact_law: Pmf | tuple[Fraction, ...] | None = None
        if isinstance(law, Pmf):
            exact_law = law
        elif law is not None:
            masses = list_of(law, "the distribution", "law", "[0.5, 0.5]")
            exact_law = tuple(as_fraction(mass, "a mass", "law") for mass in masses)
        set_fields(self, dummies=dummies, law=exact_law)

    def delta(self, p: Pmf | Sequence[Number], q: Pmf | Sequence[Number], epsilon: Number) -> float:
        """Return the delta of one tuple at epsilon, rounded up.

        It enumerates up to 100,000 tuples of different kinds, and takes the upper end of `bracket` beyond.

        Args:
            p: Probabilities of the values in one population; a Pmf where the dummies have a `law`.
            q: Probabilities in the other one.
            epsilon: The privacy loss.

        Returns:
            The delta.

        Raises:
            InputError: For distributions that do not fit each other.
        """
        return self.bracket(p, q, epsilon).high

    def bracket(
        self, p: Pmf | Sequence[Number], q: Pmf | Sequence[Number], epsilon: Number, narrow: float = NARROW
    ) -> Enclosure:
        """Return both ends of an enclosure of delta(epsilon); see `delta`.

        Args:
            p: Probabilities of the values in one population.
            q: Probabilities in the other one.
            epsilon: The privacy loss.
            narrow: A width, relative to the upper end, that is narrow enough; enumeration has none.

        Returns:
            The lower and the upper end.

        Examples:
            >>> uniform, tilted = [1 / 50] * 50, [k / 1275 for k in range(1, 51)]
            >>> found = Tupling(20).bracket(uniform, tilted, 0.2)
            >>> found.high - found.low < 1e-5 * found.high
            True
        """
        (kinds, never_dummies), budget = self.kinds(p, q), _budget(epsilon)
        few = math.comb(len(kinds) + self.dummies, self.dummies + 1) <= MOST_TUPLES
        if few:
            return self.by_enumeration(kinds, budget, never_dummies)
        return self.by_transform(kinds, budget, never_dummies, narrow)

    def kinds(self, p: object, q: object) -> tuple[list[Kind], Pairs]:
        """Sort outputs by kind.

        Args:
            p: Probabilities of the values in one population.
            q: Probabilities in the other one.

        Returns:
            The kinds of outputs, and the outputs that no dummy has.
        """
        p_masses, q_masses, nu = self._aligned(p, q)
        zero = Fraction(0)
        apart = [y for y in dict.fromkeys([*p_masses, *q_masses]) if not nu.get(y, zero)]
        masses: dict[tuple[Fraction, Fraction], Fraction] = {}
        for y, mass in nu.items():
            if mass:
                key = (p_masses.get(y, zero) / mass, q_masses.get(y, zero) / mass)
                masses[key] = masses.get(key, zero) + mass
        kinds = [Kind(*ratios, mass) for ratios, mass in masses.items()]
        return kinds, [(p_masses.get(y, zero), q_masses.get(y, zero)) for y in apart]

    def by_enumeration(self, kinds: list[Kind], epsilon: Fraction, never_dummies: Pairs) -> Enclosure:
        """Compute delta by a sum over multisets of kinds, in whole units.

        Args:
            kinds: The kinds of outputs.
            epsilon: The privacy loss.
            never_dummies: The outputs that no dummy has.

        Returns:
            Both ends of the enclosure.
        """
        ps, qs, masses = zip(*kinds, strict=True)
        whole_p, whole_q, ratio = both_in_common_unit(ps, qs)
        whole_masses, share = in_common_unit(masses)
        units = list(zip(whole_p, whole_q, whole_masses, strict=True))
        count, sums = self.dummies + 1, {(0, 0): 1}
        for _ in range(count):
            longer: dict[tuple[int, int], int] = {}
            for (a, b), mass in sums.items():
                for p, q, mass_here in units:
                    key = (a + p, b + q)
                    longer[key] = longer.get(key, 0) + mass * mass_here
            sums = longer
        unit = count * ratio * share**count
        apart, finer = in_common_unit(mass * unit for mass in chain.from_iterable(never_dummies))
        terms = [(a * mass * finer, b * mass * finer) for (a, b), mass in sums.items()]
        terms += zip(apart[::2], apart[1::2], strict=True)
        return divergence_in_units(terms, unit * finer, epsilon)

    def by_transform(
        self, kinds: list[Kind], epsilon: Fraction, never_dummies: Pairs, narrow: float = NARROW
    ) -> Enclosure:
        """Enclose delta by one Fourier transform; from 0 to 1 where floats hold no better.

        Args:
            kinds: The kinds of outputs.
            epsilon: The privacy loss.
            never_dummies: The outputs that no dummy has.
            narrow: A width, relative to the upper end, that is narrow enough.

        Returns:
            Both ends of the enclosure.
        """
        count = self.dummies + 1
        if epsilon >= LARGEST_EPSILON or not all(map(_is_in_floats, kinds)):
            return Enclosure(0.0, 1.0)
        p, q, masses = np.array(list(zip(*kinds, strict=True)), dtype=float)
        factor = math.exp(epsilon)
        enclosure = mean_positive_part(p - factor * q, masses, count, narrow)
        # Values are off by a few units of p + e^epsilon q, whose mean is 1 + e^epsilon; masses by a few relative ones.
        slack = 2.0**-50 * (1 + factor)
        delta_apart = divergence(never_dummies, epsilon)
        low, high = enclosure.low / count - slack, enclosure.high * (1 + count * 2.0**-48) / count + slack
        return Enclosure(max(low + delta_apart.low, 0.0), min(high + delta_apart.high, 1.0))

    def _aligned(self, p: object, q: object) -> tuple[Law, Law, Law]:
        p_masses, q_masses = _law(p, "p"), _law(q, "q")
        if isinstance(p, Pmf) != isinstance(q, Pmf) or (not isinstance(p, Pmf) and len(p_masses) != len(q_masses)):
            raise InputError(
                "the two distributions have different outputs", fix="give masses over the same outputs, or two Pmfs"
            ).at("q")
        outputs = dict.fromkeys([*p_masses, *q_masses])
        if self.law is None and isinstance(p, Pmf):
            raise InputError(
                "two Pmfs do not say over which outputs the dummies are uniform",
                rule="values without mass are left out of them",
                fix="give masses over the same outputs, or the distribution",
            ).at("law")  # fmt: skip
        if self.law is None:
            return p_masses, q_masses, dict.fromkeys(outputs, Fraction(1, len(outputs)))
        if not isinstance(self.law, Pmf) and (isinstance(p, Pmf) or len(self.law) != len(outputs)):
            raise InputError(
                "the distribution of the dummies has other outputs", fix="give it as the others are given"
            ).at("law")
        return p_masses, q_masses, _law(self.law, "the distribution of the dummies")


class Kind(NamedTuple):
    """All outputs with one p/nu and one q/nu: their ratios, and their mass under nu."""

    p: Fraction
    q: Fraction
    mass: Fraction


def _is_in_floats(kind: Kind) -> bool:
    return max(kind.p, kind.q) < _LARGEST_RATIO and kind.mass > _LEAST_MASS


def _budget(epsilon: Number) -> Fraction:
    number = as_fraction(epsilon, "epsilon", "epsilon")
    if number < 0:
        raise InputError(f"epsilon is {epsilon!r}", rule="it must not be negative", fix="write for example 1.0").at(
            "epsilon"
        )
    return number


def _law(masses_or_pmf: object, name: str) -> Law:
    law: dict[Hashable, Fraction]
    if isinstance(masses_or_pmf, Pmf):
        law = {Fraction(value): as_fraction(mass, "a mass") for value, mass in masses_or_pmf.items()}
    elif isinstance(masses_or_pmf, str) or not has_members(masses_or_pmf):
        raise InputError(f"{name} is {masses_or_pmf!r}", fix="give a list of masses, or a Pmf")
    else:
        law = {place: as_fraction(mass, "a mass") for place, mass in enumerate(masses_or_pmf)}
    total = sum(law.values(), Fraction(0))
    if not law or min(law.values()) < 0 or abs(total - 1) > Fraction(1, 10**9):
        raise InputError(f"the masses of {name} sum to {float(total):g}", rule="they are not negative and sum to 1")
    return {y: mass / total for y, mass in law.items()}
