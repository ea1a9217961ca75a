"""Distributions of one value by population as people write them, and classes of them from a sample."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from takifugu.core.columns import value_of
from takifugu.core.errors import InputError
from takifugu.core.rules import check_any, check_as_many, check_known, check_type, list_of, pairs_of
from takifugu.model.beliefs.estimate import SLACK, checked_confidence, interval, missed, mixture_interval
from takifugu.model.beliefs.population_region import WHOLE, Block, Region, Regions, is_place, tree_of
from takifugu.model.beliefs.states import as_law, checked_alphabet
from takifugu.numbers.rationals import Number, as_fraction, as_whole, is_whole

#: Shares of one person are rounded to multiples of this.
STEP = Fraction(1, 2**40)


@dataclass(frozen=True)
class Sample:
    """How often each value occurred among `size` independent observations of one population."""

    #: Of people, whose rows share a weight of 1: multiples of `STEP`, off by half of it for each of them.
    counts: tuple[Fraction, ...]
    size: int
    of_people: bool = False

    def smoothed(self, share: Fraction) -> tuple[Fraction, ...]:
        """Return the distribution of counts + share; uniform if all are 0."""
        weights = [count + share for count in self.counts]
        total = sum(weights, Fraction(0))
        if not total:
            return (Fraction(1, len(weights)),) * len(weights)
        return tuple(weight / total for weight in weights)


def samples_of(
    rows: Iterable[tuple[str, int]], values: int, people: Iterable[Hashable] | None = None
) -> dict[str, Sample]:
    """Count rows (population, number of the value) into samples by population."""
    all_rows = pairs_of(rows, "the rows", "rows", "[('home', 0), ('out', 1)]")
    numbers = range(as_whole(values, "the number of values", "values", least=1))
    # the person of each row; by default each row is its own
    whose: Sequence[Hashable] = range(len(all_rows))
    if people is not None:
        whose = list_of(people, "the people", "people", "['Ana', 'Ben']")
    check_as_many(whose, "people", all_rows, "rows", "people")
    by_person: dict[str, dict[Hashable, Counter[int]]] = {}
    for (name, number), person in zip(all_rows, whose, strict=True):
        value = value_of(number)
        if not isinstance(name, str) or not is_whole(value) or value not in numbers:  # -1 would count as the last one
            raise InputError(
                "a row is no population with the number of a value", rule=f"values have the numbers 0 to {values - 1}",
                fix="give rows such as ('home', 0)",
            ).at("rows")  # fmt: skip
        by_person.setdefault(name, {}).setdefault(person, Counter())[value] += 1
    several = len(all_rows) > sum(map(len, by_person.values()))
    samples = {}
    for name, of in by_person.items():
        sums = [Fraction(0)] * values
        for counts in of.values():
            for value, count in counts.items():
                sums[value] += round(Fraction(count, counts.total()) / STEP) * STEP
        samples[name] = Sample(tuple(sums), len(of), several)
    return samples


def covering(samples: Mapping[str, Sample], values: Sequence[Hashable], confidence: float) -> Regions:
    """Return regions that cover all true distributions with probability >= `confidence`."""
    check_type(samples, Mapping, "a sample of each population", "write samples_of(rows, values)", "samples")
    for sample in samples.values():
        check_type(sample, Sample, "a sample", "write samples_of(rows, values)", "samples")
    check_any(samples, "there is no population", "samples")
    level, tree = checked_confidence(confidence), tree_of(values)
    if any(len(sample.counts) != len(values) for sample in samples.values()):
        raise InputError("a population has not one count for each value", fix="count all values").at("counts")
    several = [block for block in tree.all if len(block.values) < len(values)]
    miss = missed(level, len(samples) * len(several))
    regions = {name: _region(tree, sample, miss) for name, sample in samples.items()}
    sizes = {name: sample.size for name, sample in samples.items()}
    return Regions(level, tree, regions, sizes, any(sample.of_people for sample in samples.values()))


def spread(names: Sequence[str], values: Sequence[Hashable], largest_mass: Number) -> Regions:
    """Return all distributions in which no value has more than a mass (Kawamoto19 Section 6.2, eta = 0)."""
    most, count, tree = as_fraction(largest_mass, "the largest mass", "largest_mass"), len(values), tree_of(values)
    if not 0 < most <= 1 or most * count < 1:
        raise InputError(
            f"the largest mass is {largest_mass!r}", rule=f"the masses of {count} values sum to 1, and none is above 1",
            fix=f"write 1/{count} at least, and 1 at most",
        ).at("largest_mass")  # fmt: skip
    sizes = [len(block.values) for block in tree.all]
    low = tuple(math.floor(max(Fraction(0), 1 - (count - size) * most) * WHOLE) for size in sizes)
    high = tuple(math.ceil(min(Fraction(1), size * most) * WHOLE) for size in sizes)
    return Regions(1.0, tree, {name: Region(tree, low, high) for name in names}, {}, largest_mass=most)


def _region(tree: Block, sample: Sample, miss: float) -> Region:
    low, high = [], []
    for block in tree.all:
        count = sum([sample.counts[value] for value in block.values], Fraction(0))
        if len(block.values) == len(sample.counts):
            ends = (1.0, 1.0)
        elif sample.of_people:
            ends = _interval_of_people(count, sample.size, len(block.values), miss)
        else:
            ends = interval(int(count), sample.size, miss)
        low.append(int(ends[0] * WHOLE))
        high.append(min(WHOLE, math.ceil(ends[1] * WHOLE)))
    return Region(tree, tuple(low), tuple(high))


def _interval_of_people(count: Fraction, people: int, values: int, miss: float) -> tuple[float, float]:
    """Bound the mean share of people in a set; shares are numbers in [0, 1], not only 0 or 1."""
    off = float(STEP) * people * values
    low = mixture_interval(max(float(count) - off, 0.0), people, miss)[0]
    high = mixture_interval(min(float(count) + off, float(people)), people, miss)[1]
    return low * (1 - SLACK), 1 - (1 - high) * (1 - SLACK)


#: A text, a number, or a place: a pair of numbers.
Value = Hashable
Law = tuple[Fraction, ...]


def prior_of(
    declared: Mapping[Any, Number] | None, values: Sequence[Value], laws: Sequence[Sequence[Fraction]]
) -> tuple[Fraction, ...]:
    if declared is None:
        even = Fraction(1, len(laws))
        return tuple(sum(masses, Fraction(0)) * even for masses in zip(*laws, strict=True))
    weights = masses_of(declared, "the prior")
    check_known(weights, values, "no population has the value", "prior")
    return tuple(weights.get(value, Fraction(0)) for value in values)


def masses_of(law: object, title: str) -> dict[Value, Fraction]:
    if not isinstance(law, Mapping):
        raise InputError(f"{title} is {law!r}", fix="give a mapping from values to masses").at("laws")
    masses: dict[Value, Fraction] = {}
    for value, mass in law.items():
        plain: Value = value_of(value)
        if isinstance(value, tuple):
            plain = tuple(map(value_of, value))
        masses[plain] = masses.get(plain, Fraction(0)) + as_fraction(mass, "a mass", "laws")
    return as_law(masses, title, "laws")


def checked_values(values: list[Hashable]) -> tuple[Value, ...]:
    check_any(values, "the populations have no value", "values")
    if not any(isinstance(value, tuple) for value in values):
        return checked_alphabet(values, "the populations", "values")
    for value in values:
        if not is_place(value):
            raise InputError(
                f"a place is {value!r}", rule="it is a pair of numbers, for all values or none"
            ).at("values")
        if not all(map(math.isfinite, value)):
            raise InputError("a place has a coordinate that is not finite", fix="give a number").at("values")
    return tuple(values)


def check_supports(laws: Mapping[str, Law], values: Sequence[Value], supports: str) -> None:
    check_known([supports], ("refuse", "align"), "supports is", "supports")
    for name, law in laws.items():
        if sum(mass > 0 for mass in law) < 2:
            raise InputError(
                f"the population {name!r} has one value only", rule="whoever sees that value knows it",
                fix="smooth it over the declared values",
            ).at("laws")  # fmt: skip
        possible = map(any, zip(*laws.values(), strict=True))
        missing = [v for v, mass, elsewhere in zip(values, law, possible, strict=True) if elsewhere and not mass]
        if missing and supports == "refuse":
            raise InputError(
                f"the value {missing[0]!r} is impossible in the population {name!r} and possible in another one",
                rule="whoever learns that it occurred knows the population",
                fix='smooth the populations, or accept it with supports = "align"',
            ).at("supports")
