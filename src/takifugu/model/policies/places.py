"""People and the places where they were: a domain whose records are sets of places, however many places there are.

How many people there are is not part of it, and never published. `most`, the largest number of these places where one
person can have been, is a *fact* (one place per hour, H hours), never a cut: cutting a record down would make "safe"
wrong, and would let counts rise along an allowed move. A window of a calendar is a domain of its own.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from math import comb
from typing import ClassVar, NoReturn

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.core.assumptions import Assumption, world
from takifugu.core.columns import value_of
from takifugu.core.errors import DataError, InputError, Unsupported
from takifugu.core.plain import Json, Plain, set_fields
from takifugu.core.rules import check_known, members_of
from takifugu.model.beliefs.domain import Domain
from takifugu.model.policies.boxes import Boxes
from takifugu.model.policies.policy import Policy
from takifugu.model.policies.predicates import AnyOf, EachOf, NoneOf, Value
from takifugu.model.policies.sensitivity import Change, Monotone, Sensitivity, of_sum
from takifugu.model.queries import AtMost, Query, Visitors
from takifugu.model.queries.answer import Answer
from takifugu.numbers.rationals import as_whole

#: Most records, sets of places, that are listed where a policy is a function of a record.
MOST_LISTED = 4096


class Set(frozenset[Value]):
    """The places of one person, equal to any frozenset of them; it reads as a person would say it."""

    def __repr__(self) -> str:
        names = " and ".join(map(repr, sorted(self, key=str)[:3]))
        if len(self) > 3:
            return f"{names} and {len(self) - 3} more"
        return names or "nowhere"


@dataclass(frozen=True)
class Listed(Domain):
    """People whose sets of places are listed one by one; `places` orders the cells of a query about all of them."""

    places: tuple[Value, ...] = ()

    def from_outside(self) -> tuple[Value, ...]:
        """Return no place: they are listed."""
        return ()


@dataclass(frozen=True, eq=False)
class VisitCounts(Answer):
    """How many people were at each of some places: an answer of one integer per place, none bounded by the domain."""

    labels: tuple[str, ...]
    places: IntArray
    most: int
    #: The grid that gives the places their names: boxes of two grids are named alike.
    boxes: Boxes | None = None

    grid = Fraction(1)

    @property
    def key(self) -> Hashable:
        """Return a key of the count, equal for equal sums."""
        return "visitors" if self.boxes is None else ("visitors", self.boxes)

    def entry_changes(self) -> NoReturn:
        """Raise Unsupported, as nothing bounds the number of people."""
        raise Unsupported("how many people there are is not declared, so nothing bounds the change of all data")

    def cell_ranges(self) -> tuple[None, ...]:
        """Return None for each cell: nothing bounds a count."""
        return (None,) * self.cells

    def evaluate(self, values: IntArray) -> tuple[int, ...]:
        """Return the counts at the query's places, from (1, places) counts."""
        return tuple(values[0, self.places].tolist())


@dataclass(frozen=True)
class Visits:
    """Hold the possible records where a record is a set of places.

    Args:
        places: The places, each once; `Visits.of` takes any iterable.
        most: The most places of one record (of each step, with `steps`); None for no bound. It is a fact about
            everybody.
        boxes: The grid whose boxes the places are, if they are.
        steps: Steps of a calendar that a record covers; None without a calendar.

    Raises:
        InputError: For no place, a repeated place, and `most` or `steps` below 1.

    Examples:
        >>> Visits.of(["bar", "shop", "gym"], most=1).describe()
        'people and where they were, of 3 places, each person at 1 of them at most'
    """

    places: tuple[Value, ...]
    most: int | None = None
    boxes: Boxes | None = None
    steps: int | None = None

    names = None  # its entries are the places of one record, which no query reads by name
    one_alphabet = True

    answers: ClassVar = {"how data are read": "model.policies.places:counts_of"}

    def __post_init__(self) -> None:
        set_fields(self, places=tuple(members_of(self.places, "the places", "places", "['bar', 'shop']")))
        texts = set(map(str, self.places))
        if not self.places or len(texts) != len(self.places):
            raise InputError(
                "the list of places is empty" if not self.places else "two places are written alike",
                rule="there is one at least, each once",
            ).at("places")
        for key, value in (("most", self.most), ("steps", self.steps)):
            if value is not None:
                as_whole(value, key, key, least=1)

    @staticmethod
    def of(places: Iterable[Value], most: int | None = None) -> Visits:
        """Return the domain of some places.

        Args:
            places: The places, each once.
            most: The most places of one record; None for no bound.

        Returns:
            The domain.
        """
        return Visits(tuple(map(value_of, members_of(places, "the places", "places", "['bar', 'shop']"))), most)

    @staticmethod
    def of_boxes(boxes: Boxes, most: int | None = None) -> Visits:
        """Return the domain of the boxes of a grid.

        Args:
            boxes: The grid.
            most: The most boxes of one record; None for no bound.

        Returns:
            The domain.
        """
        return Visits(boxes.names(), most, boxes)

    def from_outside(self) -> tuple[Value, ...]:
        """Return the boxes of a grid from its edge to its middle, or none."""
        return () if self.boxes is None else self.boxes.from_outside()

    @property
    def size(self) -> int:
        return len(self.places)

    @property
    def largest(self) -> int:
        """The largest number of places in one record."""
        if self.most is None:
            return self.size
        return min(self.most * (self.steps or 1), self.size)

    def alphabet(self, entry: int) -> tuple[Value, ...]:
        return (False, True)

    def position(self, name: Hashable) -> int:
        """Return the number of a place.

        Args:
            name: The place.

        Returns:
            Its number, from 0.

        Raises:
            InputError: For an unknown place.
        """
        check_known([name], self.numbers, "the domain has no place", "places")
        return self.numbers[name]

    @cached_property
    def numbers(self) -> dict[Value, int]:
        """The number of each place."""
        return {value: place for place, value in enumerate(self.places)}

    def resolve(self, query: Query) -> VisitCounts:
        """Return the answer to `Visitors`, or to `AtMost` of it.

        Args:
            query: The query.

        Returns:
            The answer, without data.

        Raises:
            InputError: For another query.
        """
        if isinstance(query, AtMost):
            answer = self.resolve(query.query)
            query.steps(answer)
            return answer
        if not isinstance(query, Visitors):
            raise InputError(
                f"{query.describe()} is asked of places that people visit",
                fix="publish Visitors(places), or AtMost(Visitors(places), threshold)",
            ).at("query")
        cells = query.cells(self.numbers)
        numbers = np.fromiter([self.numbers[cell] for cell in cells], dtype=np.int64, count=len(cells))
        return VisitCounts(tuple(map(str, cells)), numbers, min(self.largest, len(cells)), self.boxes)

    def moves(self, policy: Policy, answer: VisitCounts) -> Sensitivity:
        """Bound the counts' moves along one allowed move.

        A place can rise unless "not there" is a predicate of its own, and fall unless "there" is one. A move takes away
        and adds at most `most` places. For predicates of several places the bound may be larger than needed. A policy
        with a function is examined record by record, where records are few, or allows every move.

        Args:
            policy: The allowed moves.
            answer: The counts.

        Returns:
            The bound on each cell, and on all together.
        """
        policy.check_known(self.numbers)
        rises, falls = np.ones(self.size, dtype=bool), np.ones(self.size, dtype=bool)
        for rule in policy.rules:
            if isinstance(rule, EachOf) or (isinstance(rule, NoneOf) and len(rule.named) == 1):
                rises[self._chosen(rule.named)] = False
            elif isinstance(rule, AnyOf) and len(rule.named) == 1:
                falls[self._chosen(rule.named)] = False
            elif not isinstance(rule, NoneOf | AnyOf) and self._records() <= MOST_LISTED:
                records = self.as_records(1)
                labels = tuple(self.places[place] for place in answer.places.tolist())
                return of_sum(policy, records, Visitors(labels).resolve(records))
        up, down = rises[answer.places], falls[answer.places]
        total = min(min(self.largest, int(up.sum())) + min(self.largest, int(down.sum())), int((up | down).sum()))
        kinds = {}
        for rise, fall in product((False, True), repeat=2):
            kinds[rise, fall] = Change(Monotone.of(rise, fall), Fraction(int(rise or fall)))
        changes = tuple(kinds[place] for place in zip(up.tolist(), down.tolist(), strict=True))
        return Sensitivity(changes, Fraction(total), policy.is_ordinary, self._worst(policy, answer, total))

    def _worst(self, policy: Policy, answer: VisitCounts, total: int) -> tuple[int, Set, Set] | None:
        """Return a move to the total, or from the most counted places to nowhere; None where neither is allowed."""
        if not total:
            return None
        places = [self.places[place] for place in answer.places[: max(total, self.largest, 50)].tolist()]
        most, others_left = Set(places[: self.largest]), Set(places[self.largest : total])
        tries = [(most, others_left), (most, Set()), (Set(), most)]
        for place in places[:50]:
            tries += [(Set([place]), Set()), (Set(), Set([place]))]
        return next(((0, before, after) for before, after in tries if policy.allows(before, after)), None)

    def as_records(self, people: int) -> Domain:
        """Return a domain of people with listed sets of places, for audits.

        Args:
            people: Number of people.

        Returns:
            The domain.

        Raises:
            Unsupported: Beyond 4,096 sets.
        """
        if self._records() > MOST_LISTED:
            raise Unsupported(f"there are more than {MOST_LISTED:,} sets of these places to list")
        sets: list[Set] = []
        for size in range(self.largest + 1):
            sets += map(Set, combinations(self.places, size))
        return Listed((tuple(sets),), None, people, self.places)

    def counted(self, records: Iterable[Iterable[Value]]) -> IntArray:
        """Count the records with each place.

        Args:
            records: The places of each record.

        Returns:
            The counts, shape (1, places).

        Raises:
            DataError: For an unknown place and a record of too many places. It names no place and no person.
        """
        counts = np.zeros((1, self.size), dtype=np.int64)
        for record in records:
            visited = {*record}
            if not visited <= self.numbers.keys():
                raise DataError("a record names a place that the domain does not have", fix="declare all places")
            self.check_sizes([len(visited)], self.steps or 1)
            counts[0, self._chosen(tuple(visited))] += 1
        return counts

    def check_sizes(self, sizes: Iterable[int], steps: int = 1) -> None:
        """Check that no record has more than `most` places for each step.

        Args:
            sizes: The number of places of each record.
            steps: The number of steps.

        Raises:
            DataError: For too many places. It names nobody.
        """
        if self.most is not None and max(sizes, default=0) > self.most * steps:
            when = "" if self.steps is None else " for a step of the calendar"
            raise DataError(
                f"a record has more places than the {self.most} that are declared{when}",
                rule='it must be a fact that nobody has more; cutting records down could make "safe" wrong',
                fix="declare the number that is a fact, or none, with a limit",
            ).at("data")

    def assumptions(self) -> tuple[Assumption, ...]:
        """Return the facts about everybody."""
        if self.most is None:
            return ()
        when = "" if self.steps is None else " in a step of the calendar"
        words = f"No person was at more than {self.most} of the places{when}. This is a fact: no visit was cut."
        return (world(words),)

    def describe(self) -> str:
        when = f" in each of {self.steps} steps" if self.steps else ""
        most = "" if self.most is None else f", each person at {self.most} of them at most{when}"
        of = "places"
        if self.boxes is not None:
            of = f"boxes ({self.boxes.rows} rows, {self.boxes.columns} columns)"
        return f"people and where they were, of {self.size} {of}{most}"

    def to_dict(self) -> Json:
        regions: Json
        if self.boxes is None:
            regions = {"places": list(self.places)}
        else:
            regions = {"boxes": self.boxes.to_dict()}
        steps = {} if self.steps is None else {"steps": self.steps}
        return {"kind": "visits", **regions, "most": self.most, **steps}

    def _chosen(self, places: tuple[Value, ...] | None) -> slice | list[int]:
        if places is None:
            return slice(None)
        return [self.numbers[place] for place in places]

    def _records(self) -> int:
        if self.size <= 64:
            return sum(comb(self.size, count) for count in range(self.largest + 1))
        return MOST_LISTED + 1


def read(data: Plain) -> Visits:
    """Read a domain of places back from its `to_dict` form."""
    boxes = Boxes.from_dict(data["boxes"]) if "boxes" in data else None
    places = tuple(map(value_of, data["places"])) if boxes is None else boxes.names()
    return Visits(places, data["most"], boxes, data.get("steps"))


def counts_of(domain: Visits, data: object) -> IntArray:
    """Return counts from people's places, sets of places, or counts."""
    if isinstance(data, np.ndarray):
        if data.shape != (1, domain.size) or data.dtype.kind not in "iu" or (data < 0).any():
            raise DataError("the counts are not one whole number for each place, in order").at("data")
        return data.astype(np.int64)
    records = list(data.values()) if isinstance(data, Mapping) else data
    if isinstance(records, str) or not isinstance(records, Iterable):
        raise DataError("the data are no list of records", fix="give each person's places, {'Ana': ['bar']}").at("data")
    records = list(records)
    if any(isinstance(record, str) or not isinstance(record, Iterable) for record in records):
        raise DataError("a record is no set of places", fix="give each person's places, {'Ana': ['bar']}").at("data")
    return domain.counted(records)
