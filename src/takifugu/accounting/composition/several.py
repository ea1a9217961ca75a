"""Releases that differ in their noise only, as one charge: what a long history is, and what it costs to look at it.

Laplace noise of scale b moves the log-likelihood of an output by at most D/b, so releases of one query about the same
entries cost what one of scale 1/sum(1/b) does, in every rule. Sums do not depend on the order of the releases: they are
exact as long as the common denominator of all terms is short, and then sums of terms rounded up to multiples of 2^-60.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, fields
from fractions import Fraction

from takifugu.analysis.guarantee import Charge, Covers
from takifugu.core.sections import values_of

#: Kinds of promises that cover every change of some entries.
STEADY = (Covers.EVERYTHING, Covers.COMPONENT)
#: Terms of sums that are not exact are rounded up to multiples of 2 to minus this power.
BITS = 60
#: Sums are exact up to this common denominator of their terms.
LONGEST = 2**256
#: The definitions whose joint rules add up noise.
_OURS = ("pufferfish", "attribute")


@dataclass(frozen=True)
class Total:
    """A sum that does not depend on the order of its terms: `exact` while `denominator` is not 0, and `rounded` up.

    `denominator` is the least common one of all terms, 0 from the first one on that makes it too long; `rounded` is in
    units of 2^-60. Another term never makes the value smaller.

    >>> third = Total.of(Fraction(1, 3))
    >>> (third + third + third).value
    Fraction(1, 1)
    """

    exact: Fraction
    denominator: int
    rounded: int

    @staticmethod
    def of(term: Fraction) -> Total:
        rounded = math.ceil(term * 2**BITS)
        return Total(term, term.denominator, rounded) if term.denominator <= LONGEST else Total(Fraction(0), 0, rounded)

    def __add__(self, other: Total) -> Total:
        common = math.lcm(self.denominator, other.denominator)  # 0 where one of them is
        rounded = self.rounded + other.rounded
        if not 0 < common <= LONGEST:
            return Total(Fraction(0), 0, rounded)
        return Total(self.exact + other.exact, common, rounded)

    def often(self, times: int) -> Total:
        """Return the sum of as many equal sums."""
        return Total(self.exact * times, self.denominator, self.rounded * times)

    def share(self, times: int) -> Total:
        """Return one of so many equal sums."""
        return Total(self.exact / times, self.denominator, self.rounded // times)

    @property
    def value(self) -> Fraction:
        return self.exact if self.denominator else Fraction(self.rounded, 2**BITS)


@dataclass(frozen=True, kw_only=True)
class Several(Charge):
    """Releases of one query about the same entries, as one charge: `epsilon` and 1/`scale` are the sums of theirs.

    `times` says how many they are, and `readings` in how many readings of unknown places: in each of them it is the
    same share of all. `rates` adds up what one entry moves over the scale, `promised` the epsilons; `largest` and
    `least` are the largest epsilon and the smallest scale of one of them. `series` says where windows start that cost
    an equal share each (first, step, how many); without it all read the same entries.
    """

    times: int
    readings: int
    rates: Total | None = None
    promised: Total
    largest: Fraction
    least: Fraction | None = None
    series: tuple[tuple[int, int, int], ...] = ()

    __hash__ = Charge.__hash__


_SHARED = tuple(f.name for f in fields(Charge))


def is_one_release(charge: Charge) -> bool:
    return not isinstance(charge, Several) or charge.times == 1


def readings_of(charge: Charge) -> int:
    """Return in how many readings a charge's releases are."""
    return charge.readings if isinstance(charge, Several) else 1


def costliest(charge: Charge) -> Charge:
    """Return a charge of one release that costs alone what the costliest of a charge's releases does."""
    if not isinstance(charge, Several):
        return charge
    return Charge(**{**values_of(charge, _SHARED), "epsilon": charge.largest, "scale": charge.least})


def as_one(charge: Charge) -> Charge:
    """Return a charge of one release that costs what all releases of a charge do."""
    return Charge(**values_of(charge, _SHARED)) if isinstance(charge, Several) else charge


def several(charge: Charge) -> Several:
    """Return a charge of one release as one of several."""
    if isinstance(charge, Several):
        return charge
    rates = Total.of(entry_of(charge) / charge.scale) if charge.scale else None
    return added_up(charge, 1, 1, rates, Total.of(charge.epsilon), charge.epsilon, charge.scale)


def added_up(
    first: Charge, times: int, readings: int, rates: Total | None, promised: Total, largest: Fraction,
    least: Fraction | None,
) -> Several:  # fmt: skip
    """Return releases like `first` from the sums of their rates and epsilons."""
    scale = first.scale if rates is None else entry_of(first) / rates.value
    one = values_of(first, _SHARED)
    one |= {"epsilon": promised.value, "scale": scale}
    return Several(**one, times=times, readings=readings, rates=rates, promised=promised, largest=largest, least=least)


def entry_of(charge: Charge) -> Fraction:
    """Return what rates count: the largest change by one entry, so that 2^-60 is little for any grid."""
    return charge.entry_change or Fraction(1)


def alike(charge: Charge) -> Charge:
    """Return what a charge has in common with those of other noise that read the same query in the same way."""
    one = values_of(charge, _SHARED)
    one |= {"epsilon": Fraction(0), "release": ""}
    if charge.at is not None:
        one["reading"] = ""  # the place says which entries are the same
    if charge.scale is not None:
        one |= {"scale": Fraction(charge.scale != 0), "randomiser": {}}
    return Charge(**one)


def adds_up(charge: Charge) -> bool:
    """Whether the noise of a charge adds up with that of others, in any order."""
    return charge.definition in _OURS and charge.delta == 0 and charge.covers is not Covers.OUTPUT


def kind_of(charge: Charge) -> Hashable:
    """Return what charges have in common that add up.

    A promise that covers every change costs the larger of its epsilon and D/b: those add up that cost the same of the
    two.
    """
    one = costliest(charge)
    return alike(charge), None if one.scale is None or charge.covers not in STEADY else one.epsilon * one.scale


def together(first: Charge, other: Charge) -> Several:
    """Return releases that differ in their noise only as one charge."""
    one, two = several(first), several(other)
    rates = None if one.rates is None or two.rates is None else one.rates + two.rates
    is_one_place = one.at is not None or (one.reading != "" and one.reading == two.reading)
    readings = max(one.readings, two.readings) if is_one_place else one.readings + two.readings
    least = None if one.least is None or two.least is None else min(one.least, two.least)
    largest = max(one.largest, two.largest)
    return added_up(first, one.times + two.times, readings, rates, one.promised + two.promised, largest, least)
