"""The tupling mechanism: a value hidden among dummies, and the exact price of that (Kawamoto19 Algorithm 1, Theorem 3).

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

import numpy as np

from takifugu.core.errors import InputError
from takifugu.numbers.distributions.divergence import divergence, divergence_in_units
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.distributions.positive_part import NARROW, Enclosure, mean_positive_part
from takifugu.numbers.rationals import Number, as_fraction
from takifugu.numbers.search import between, halved, next_to

#: Tuples of different kinds of values that are summed one by one, in exact arithmetic.
MOST_TUPLES = 100_000

Law = Mapping[Hashable, Fraction]
Pairs = list[tuple[Fraction, Fraction]]


@dataclass(frozen=True)
class Tupling:
    """`dummies` values beside the one that is sent, drawn from `law` (None: uniform over the outputs).

    Raises InputError unless the number of dummies is a whole number from 0.

    >>> Tupling(1).delta([0.5, 0.5], [1, 0], 0)
    0.25
    """

    dummies: int
    law: Pmf | tuple[Fraction, ...] | None = None

    def __init__(self, dummies: int, law: Pmf | Iterable[Number] | None = None) -> None:
        if isinstance(dummies, bool) or not isinstance(dummies, int) or dummies < 0:
            raise InputError(f"the number of dummies is {dummies!r}", rule="it must be a whole number from 0").at("k")
        given = law if law is None or isinstance(law, Pmf) else tuple(as_fraction(m, "a mass", "law") for m in law)
        object.__setattr__(self, "dummies", dummies)
        object.__setattr__(self, "law", given)

    def delta(self, p: Pmf | Sequence[Number], q: Pmf | Sequence[Number], epsilon: Number) -> float:
        """Return the exact delta at epsilon of telling p from q by one tuple, in this order, rounded up.

        `p` and `q` are the laws of what the inner mechanism returns: masses over the same outputs, or Pmfs. Computed by
        enumeration where there are at most 100,000 tuples of different kinds, else the upper end of `bracket`.
        Raises InputError for laws that do not fit each other.
        """
        return self.bracket(p, q, epsilon).high

    def bracket(
        self, p: Pmf | Sequence[Number], q: Pmf | Sequence[Number], epsilon: Number, narrow: float = NARROW
    ) -> Enclosure:
        """Return both ends of an enclosure of delta(epsilon) (`distributions.positive_part`); see `delta`.

        `narrow` is a width, relative to the upper end, that is narrow enough; enumeration has none.

        >>> uniform, tilted = [1 / 50] * 50, [k / 1275 for k in range(1, 51)]
        >>> found = Tupling(20).bracket(uniform, tilted, 0.2)
        >>> found.high - found.low < 1e-5 * found.high
        True
        """
        (kinds, apart), budget = self.kinds(p, q), _budget(epsilon)
        few = math.comb(len(kinds) + self.dummies, self.dummies + 1) <= MOST_TUPLES
        if few:
            return self.by_enumeration(kinds, budget, apart)
        return self.by_transform(kinds, budget, apart, narrow)

    def kinds(self, p: object, q: object) -> tuple[list[Kind], Pairs]:
        """Return the outputs by their kind, and (p, q) of each output that no dummy ever has."""
        one, other, nu = self._aligned(p, q)
        return _kinds(one, other, nu), _never_dummies(one, other, nu)

    def by_enumeration(self, kinds: list[Kind], epsilon: Fraction, apart: Pairs) -> Enclosure:
        """Sum over multisets of kinds: pairs (sum p/nu, sum q/nu) with their probability under nu, in whole units."""
        ratio, share = (math.lcm(*(x.denominator for x in total)) for total in (
            [x for kind in kinds for x in (kind.p, kind.q)], [kind.mass for kind in kinds]
        ))  # fmt: skip
        whole = [(int(kind.p * ratio), int(kind.q * ratio), int(kind.mass * share)) for kind in kinds]
        count, sums = self.dummies + 1, {(0, 0): 1}
        for _ in range(count):
            longer: dict[tuple[int, int], int] = {}
            for (a, b), mass in sums.items():
                for p, q, mass_here in whole:
                    key = (a + p, b + q)
                    longer[key] = longer.get(key, 0) + mass * mass_here
            sums = longer
        unit = count * ratio * share**count
        alone = [(p * unit, q * unit) for p, q in apart]
        rest = math.lcm(*(x.denominator for pair in alone for x in pair))
        terms = [(a * mass * rest, b * mass * rest) for (a, b), mass in sums.items()]
        return divergence_in_units([*terms, *((int(p * rest), int(q * rest)) for p, q in alone)], unit * rest, epsilon)

    def by_transform(
        self, kinds: list[Kind], epsilon: Fraction, apart: Pairs, narrow: float = NARROW
    ) -> Enclosure:
        """Return an enclosure from one Fourier transform, at most `narrow` wide relative to its upper end if it can."""
        count = self.dummies + 1
        p, q = (np.array([float(x) for x in column]) for column in zip(*((k.p, k.q) for k in kinds), strict=True))
        masses = np.array([float(kind.mass) for kind in kinds])
        factor = math.exp(epsilon) if epsilon < 700 else math.inf
        if math.isinf(factor):
            return Enclosure(0.0, 1.0)
        enclosure = mean_positive_part(p - factor * q, masses, count, narrow)
        # Values are off by a few units of p + e^epsilon q, whose mean is 1 + e^epsilon; masses by a few relative ones.
        slack = 2.0**-50 * (1 + factor)
        rest = divergence(apart, epsilon)
        low, high = enclosure.low / count - slack, enclosure.high * (1 + count * 2.0**-48) / count + slack
        return Enclosure(max(low + rest.low, 0.0), min(high + rest.high, 1.0))

    def _aligned(self, p: object, q: object) -> tuple[Law, Law, Law]:
        one, other = _law(p, "p"), _law(q, "q")
        if isinstance(p, Pmf) != isinstance(q, Pmf) or (not isinstance(p, Pmf) and len(one) != len(other)):
            raise InputError(
                "the two laws have different outputs", fix="give masses over the same outputs, or two Pmfs"
            ).at("q")
        outputs = dict.fromkeys([*one, *other])
        if self.law is None:
            return one, other, dict.fromkeys(outputs, Fraction(1, len(outputs)))
        if not isinstance(self.law, Pmf) and (isinstance(p, Pmf) or len(self.law) != len(outputs)):
            raise InputError(
                "the law of the dummies has other outputs", fix="give it as the laws are given"
            ).at("law")
        return one, other, _law(self.law, "the law of the dummies")


@dataclass(frozen=True)
class Kind:
    """All outputs with one p/nu and one q/nu: their ratios, and their mass under nu."""

    p: Fraction
    q: Fraction
    mass: Fraction


def smallest_tupling(
    p: Pmf | Sequence[Number], q: Pmf | Sequence[Number], epsilon: Number, delta: Number, most: int = 10_000
) -> int | None:
    """Return the least number of uniform dummies that keeps (epsilon, delta) in both orders; None if `most` do not.

    delta falls with k: dropping one of k + 1 uniform dummies at random is post-processing, and of the tuple that is
    left the position of s is uniform. So a bisection finds the least. Pure epsilon never improves (delta = 0).

    Raises InputError for delta 0.
    """
    target = as_fraction(delta, "delta", "delta")
    if target <= 0:
        raise InputError(
            "delta is 0: dummies never improve a pure promise, because all of them may be the least likely value",
            fix="give a delta above 0",
        ).at("delta")

    def keeps(k: int) -> bool:
        tupling = Tupling(k)
        return max(tupling.delta(p, q, epsilon), tupling.delta(q, p, epsilon)) <= target

    low, high = -1, 1
    while not keeps(high):
        low, high = high, 2 * high
        if low >= most:
            return None
    high = halved(keeps, high, low, next_to, between)
    return high if high <= most else None


def theorem3_epsilon(dummies: int, outputs: int, beta: Number, delta: Number) -> float | None:
    """Return epsilon of Kawamoto19 Theorem 3 with eta = 0 for laws of at most `beta` per output, uniform dummies.

    alpha = beta sqrt(k log(2/delta) / 2), and epsilon = log (k + (alpha + beta) |Y|) / (k - alpha |Y|), rounded up;
    None where alpha is not below k/|Y|, and the theorem says nothing. eta > 0 is not offered: it counts outputs where
    the proof needs their mass (errata X2).

    >>> theorem3_epsilon(10, 64, Fraction(1, 64), 0.001)  # doctest: +ELLIPSIS
    1.49863...
    """
    most, target = float(as_fraction(beta, "beta", "beta")), float(as_fraction(delta, "delta", "delta"))
    if not 0 < target < 1 or not 0 < most <= 1:
        raise InputError(
            f"beta is {beta!r} and delta {delta!r}", rule="both lie above 0, beta at most 1, delta below 1"
        ).at("beta")
    alpha = most * math.sqrt(dummies * math.log(2 / target) / 2) * (1 + 2.0**-48)
    if alpha * outputs >= dummies:
        return None
    above_1 = (2 * alpha + most) * outputs / (dummies - alpha * outputs)
    return math.log1p(above_1) * (1 + 2.0**-48)


def theorem3_delta(dummies: int, outputs: int, beta: Number, epsilon: Number) -> float:
    """Return delta of Kawamoto19 Theorem 3 with eta = 0 at a given epsilon, rounded up; 1 where it says nothing."""
    most, growth = float(as_fraction(beta, "beta", "beta")), math.expm1(float(as_fraction(epsilon, "epsilon")))
    alpha = (dummies * growth - most * outputs) / (outputs * (2 + growth))
    if alpha <= 0:
        return 1.0
    return min(1.0, 2 * math.exp(-2 * alpha**2 / (dummies * most**2)) * (1 + 2.0**-40))


def _budget(epsilon: Number) -> Fraction:
    number = as_fraction(epsilon, "epsilon", "epsilon")
    if number < 0:
        raise InputError(f"epsilon is {epsilon!r}", rule="it must not be negative", fix="write for example 1.0").at(
            "epsilon"
        )
    return number


def _law(given: object, what: str) -> Law:
    law: dict[Hashable, Fraction]
    if isinstance(given, Pmf):
        law = {Fraction(value): as_fraction(mass, "a mass") for value, mass in given.items()}
    elif isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(f"{what} is {given!r}", fix="give a list of masses, or a Pmf")
    else:
        law = {place: as_fraction(mass, "a mass") for place, mass in enumerate(given)}
    total = sum(law.values(), Fraction(0))
    if not law or min(law.values()) < 0 or abs(total - 1) > Fraction(1, 10**9):
        raise InputError(f"the masses of {what} sum to {float(total):g}", rule="they are not negative and sum to 1")
    return {y: mass / total for y, mass in law.items()}


def _kinds(p: Law, q: Law, nu: Law) -> list[Kind]:
    masses: dict[tuple[Fraction, Fraction], Fraction] = {}
    for y, mass in nu.items():
        if mass:
            key = (p.get(y, Fraction(0)) / mass, q.get(y, Fraction(0)) / mass)
            masses[key] = masses.get(key, Fraction(0)) + mass
    return [Kind(a, b, mass) for (a, b), mass in masses.items()]


def _never_dummies(p: Law, q: Law, nu: Law) -> Pairs:
    """Return (p, q) of each output that no dummy ever has."""
    zero = Fraction(0)
    return [(p.get(y, zero), q.get(y, zero)) for y in dict.fromkeys([*p, *q]) if not nu.get(y, zero)]
