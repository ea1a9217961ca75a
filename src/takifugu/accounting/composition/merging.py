"""A long list of charges as a short one: those that differ in their noise, or in their place, are added up.

A charge without a declared place, and one that names its reading, may be anywhere: equal ones are at their worst at the
same place, so that one of them costs as many times as much. What is at declared places is kept place by place.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from fractions import Fraction

from takifugu.accounting.composition.by_entry import ByEntry
from takifugu.accounting.composition.series import in_series
from takifugu.accounting.composition.several import adds_up, alike, kind_of, several, together
from takifugu.analysis.guarantee import Charge


def merged(charges: Sequence[Charge]) -> list[Charge]:
    """Return charges in which those that differ in their noise only are one, at the place of the first.

    None passes one with a delta, or a promise about one output's distribution, where the order counts.
    """
    stretches = in_turns(charges)
    whole = whole_readings(stretches)
    return [term for stretch in stretches for term in _merged(stretch, whole)]


def in_turns(charges: Sequence[Charge]) -> list[list[Charge]]:
    """Return charges in stretches in which the order does not count; what does not add up is one of its own."""
    stretches: list[list[Charge]] = [[]]
    for charge in charges:
        if adds_up(charge):
            stretches[-1].append(charge)
        else:
            stretches += [[charge], []]
    return stretches


def whole_readings(stretches: Sequence[Sequence[Charge]]) -> set[str]:
    """Return the readings of which all charges are in one stretch and add up: equal ones are worst at one place."""
    readings: set[str] = set()
    elsewhere: set[str] = set()
    for stretch in stretches:
        mine = {charge.reading for charge in stretch if _is_named(charge)}
        elsewhere |= mine & readings
        elsewhere |= {charge.reading for charge in stretch if not adds_up(charge)}
        readings |= mine
    return readings - elsewhere


def _is_named(charge: Charge) -> bool:
    return charge.at is None and charge.reading != ""


def _merged(charges: Sequence[Charge], whole: set[str]) -> list[Charge]:
    """Return the charges of a stretch in which the order does not count."""
    sums = [charge for charge in charges if isinstance(charge, ByEntry)]
    charges = [charge for charge in charges if not isinstance(charge, ByEntry)]
    readings: dict[str, dict[Hashable, Charge]] = {}
    terms: dict[Hashable, Charge] = {}
    for charge in charges:
        if charge.at is None:
            _add(readings.setdefault(charge.reading, {}) if charge.reading else terms, charge)
    for name, mine in readings.items():
        equal = frozenset(map(_share, mine.values())) if name in whole else name
        for charge in mine.values():
            _add(terms, charge, (equal, _share(charge)))
    return [*sums, *terms.values(), *in_series([charge for charge in charges if charge.at is not None])]


def _add(terms: dict[Hashable, Charge], charge: Charge, key: Hashable = None) -> None:
    key = key or kind_of(charge)
    terms[key] = charge if key not in terms else together(terms[key], charge)


def _share(charge: Charge) -> Hashable:
    """Return what a charge costs in one of its readings, and how."""
    one = several(charge)
    each = None if one.rates is None else one.rates.value / one.readings
    return replace(alike(charge), reading=""), Fraction(one.times, one.readings), each, one.epsilon / one.readings
