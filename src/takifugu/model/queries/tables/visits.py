"""Counts of people by the places where they were, whether a count is at most a public threshold, and their keys."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol, runtime_checkable

from annotated_types import MinLen

from takifugu.core.entries import Entries
from takifugu.core.errors import InputError
from takifugu.core.plain import LEFT_OUT, VALUES, Plain, form, set_fields
from takifugu.core.rules import check_any, check_known, members_of, requires, wrong_type
from takifugu.core.sections import Key, Positive
from takifugu.core.sections import Number as Written
from takifugu.core.sections import State as Named
from takifugu.model.queries.additive.counts import Count
from takifugu.model.queries.answer import Additive, Answer, State
from takifugu.model.queries.coding import state_tables, states_of
from takifugu.model.queries.forms import Query, own_grid, several
from takifugu.model.queries.registry import is_registered, part_from_dict
from takifugu.model.queries.sections import Counted
from takifugu.numbers.rationals import Number, as_fraction, as_non_negative, as_whole, to_text


@runtime_checkable
class Placed(Protocol):
    """A domain that says in which order the cells of its places stand."""

    @property
    def places(self) -> Sequence[State]: ...

    def from_outside(self) -> tuple[State, ...]:
        """Return the boxes of a grid from its edge to its middle, or none."""
        ...


@dataclass(frozen=True)
class Visitors(Query, kind="visitors"):
    """Count the people at each place; each person counts once a place.

    Records are sets of places.

    Args:
        places: The cells, in order; None for all places of the domain.

    Raises:
        InputError: For no place. Calibration raises it for a place that the domain does not know.

    Examples:
        >>> Visitors(["bar", "shop"]).describe(), Visitors().describe()
        ("how many people were at each of 'bar', 'shop'", 'how many people were at each place')
    """

    places: tuple[State, ...] | None = field(default=None, metadata=VALUES)

    is_count = is_with_threshold = True

    def __init__(self, places: Iterable[State] | None = None) -> None:
        chosen_places = None
        if places is not None:
            every = [places] if isinstance(places, str) else places
            chosen_places = several(members_of(every, "the places", "places", "['bar', 'shop']"))
            check_any(chosen_places, "the query counts nowhere", "places")
        set_fields(self, places=chosen_places)

    def cells(self, places: Iterable[State]) -> tuple[State, ...]:
        """Return the counted places among all places.

        Args:
            places: All places.

        Returns:
            The cells, in order.
        """
        all_places = dict.fromkeys(places)
        check_known(self.places or (), all_places, "the domain has no place", "places")
        return self.places or tuple(all_places)

    def resolve(self, entries: Entries) -> Additive:
        """Return the counts of listed sets of places.

        Args:
            entries: The domain of records.

        Returns:
            The answer, without data.

        Raises:
            InputError: Where records are no sets.
        """
        records = states_of(entries)
        sets = [record for record in records if isinstance(record, frozenset)]
        if len(sets) < len(records):
            raise requires(self.describe(), "records that are sets of places", "Visits(places)").at("query")
        declared_places = entries.places if isinstance(entries, Placed) else ()
        places = declared_places or sorted(set().union(*sets), key=str)
        cells = self.cells(places)

        def row(record: Any) -> list[int]:
            return [int(cell in record) for cell in cells]

        tables, weights, table_of = state_tables(entries, None, lambda alphabet: list(map(row, alphabet)))
        return Additive(Fraction(1), tuple(map(str, cells)), tables, weights, table_of)

    @staticmethod
    def meaning(data: Plain, noise: Plain) -> tuple[str, ...]:
        """Explain an answer in words.

        Args:
            data: The query's `to_dict` form.
            noise: The noise's.

        Returns:
            Sentences for the certificate.
        """
        once = "each person is counted once at a place"
        if {*noise.get("moves", ())} == {"down"}:
            return once, "a number is never below the true one"
        return (once,)

    def describe(self) -> str:
        if self.places is None:
            return "how many people were at each place"
        if len(self.places) <= 4:
            names = ", ".join(map(repr, self.places))
        else:
            names = f"{len(self.places)} places"
        return f"how many people were at each of {names}"


def _read_query(data: Plain) -> Query:
    return part_from_dict(data, lambda kind: kind.is_with_threshold)


def _read_threshold(threshold: str | list[list[str]]) -> str | dict[str, str]:
    return threshold if isinstance(threshold, str) else dict(threshold)


@dataclass(frozen=True)
class AtMost(Query, kind="at-most"):
    """Say which cells of a query are at most a public threshold.

    Such a cell is called safe, and never wrongly. Any other cell gets a noisy value that is never below the true one. A
    threshold between two possible answers means the lower one.

    Args:
        query: Visitors, a count or a sum, without a grid: a true 5.4 rounded to 5 would be called safe.
        threshold: One number for all cells, or one for each by its label.
        limit: The most noisy values to publish, in the order of the cells; later ones are "not answered", which is not
            "safe". None answers all.
        alpha: Largest probability of a false alarm for each cell. Cells far enough above their threshold are then
            called dangerous, others undecided.

    Raises:
        InputError: For a query with a grid, a threshold that is negative or no number, a limit below 1, and an alpha
            outside (0, 1).

    Examples:
        >>> AtMost(Visitors(), 5, limit=20).describe()
        'at which places at most 5 people were; after 20 that are not known to be such the others are not answered'
    """

    query: Query = field(metadata=form(read=_read_query))
    threshold: Fraction | tuple[tuple[str, Fraction], ...] = field(metadata=form(read=_read_threshold))
    limit: int | None = None
    alpha: Fraction | None = field(default=None, metadata=LEFT_OUT)

    definitions = ("asymmetric",)  # elsewhere noise is on both sides, and "safe" could be wrong
    #: The rule that forbids the query under other definitions, and what to do instead.
    elsewhere = (
        "its answers err on one side, which noise on both sides cannot do",
        "hide a policy, Asymmetric(policy, domain), or publish the count itself",
    )

    def __init__(
        self, query: Query, threshold: Number | Mapping[str, Number], limit: int | None = None,
        alpha: Number | None = None,
    ) -> None:
        if not (is_registered(query) and query.is_with_threshold):
            raise wrong_type(query, "compared with a threshold", "give Visitors(), a count, a sum").at("query")
        if own_grid(query) is not None:
            raise InputError(
                "the query that is compared with a threshold has a grid",
                rule="rounding before the comparison could call a true 5.4 safe at 5", fix="leave the grid out",
            ).at("query", "grid")  # fmt: skip
        set_fields(self, query=query, threshold=_thresholds(threshold))
        if limit is not None:
            as_whole(limit, "the limit of places that are not called safe", "limit", least=1)
        chance = None if alpha is None else as_fraction(alpha, "alpha", "alpha")
        if chance is not None and not 0 < chance < 1:
            raise InputError(
                f"alpha is {alpha!r}", rule="it is the probability of a false alarm, between 0 and 1",
                fix="write for example 0.001",
            ).at("alpha")  # fmt: skip
        set_fields(self, limit=limit, alpha=chance)

    def steps(self, answer: Answer) -> tuple[int, ...]:
        """Return each cell's threshold in steps of the answer's grid, rounded down.

        Args:
            answer: The answer that is compared.

        Returns:
            One whole number for each cell.

        Raises:
            InputError: For a cell without a threshold, and a threshold of no cell.

        Examples:
            >>> from takifugu.model.beliefs.domain import Domain
            >>> from takifugu.model.queries import Count
            >>> people = Domain.of(3, ["ill", "well"])
            >>> AtMost(Count("ill"), 2.5).steps(Count("ill").resolve(people))
            (2,)
        """
        if isinstance(self.threshold, Fraction):
            steps = math.floor(self.threshold / answer.grid)
            return (steps,) * len(answer.labels)
        thresholds = dict(self.threshold)
        labels = set(answer.labels)
        odd = next((label for label in thresholds if label not in labels), None)
        lacking = next((label for label in answer.labels if label not in thresholds), None)
        if odd is not None or lacking is not None:
            if odd is None:
                message = f"has none for {lacking!r}"
            else:
                message = f"names {odd!r}, which is no cell of the query"
            raise InputError(f"the list of thresholds {message}", fix="give one for each cell").at("threshold")
        return tuple(math.floor(thresholds[label] / answer.grid) for label in answer.labels)

    def resolve(self, entries: Entries) -> Additive:
        answer = self.query.resolve(entries)
        self.steps(answer)
        return answer

    @staticmethod
    def meaning(data: Plain, noise: Plain) -> tuple[str, ...]:
        """Explain an answer in words.

        Args:
            data: The query's `to_dict` form.
            noise: The noise's.

        Returns:
            Sentences for the certificate.
        """
        is_single = isinstance(data["threshold"], str)
        if is_single:
            grid = Fraction(noise["grid"])
            most = f"at most {_written(math.floor(Fraction(data['threshold']) / grid) * grid)}"
        else:
            most = "at most its own threshold"
        sentences = (
            f'"safe" means that the true count is {most}, and that is never wrong',
            'a number stands where the noise does not let "safe" be said: it is never below the true count, which may '
            "be far below it",
            *_meaning_of_danger(data, most),
        )
        if data.get("limit") is None:
            return sentences
        return (*sentences, '"not answered" says nothing about a place, least of all "safe"')

    def describe(self) -> str:
        threshold = self.threshold
        if isinstance(threshold, Fraction):
            most = f"at most {_written(threshold)}"
        else:
            most = "at most its own threshold"
        after = f"; after {self.limit} that are not known to be such the others are not answered"
        limit_words = "" if self.limit is None else after
        if isinstance(self.query, Visitors):
            places = self.query.places
            place_words = "places" if places is None else f"of {len(places)} places"
            return f"at which {place_words} {most} people were{limit_words}"
        return f"{self.query.describe()}: whether it is {most}{limit_words}"


def _meaning_of_danger(data: Plain, most: str) -> tuple[str, ...]:
    """Say the meaning of the marks of a written query with an alpha."""
    if data.get("alpha") is None:
        return ()
    more = most.replace("at most", "more than")
    return (
        f'"dangerous" means that the true count is {more}: where it is not, this is said '
        f'with probability {to_text(Fraction(data["alpha"]))} at most; "undecided" says neither',
    )


def _written(number: Fraction) -> str:
    """Write a number exactly, with thousands apart where it is whole."""
    return f"{int(number):,}" if number.denominator == 1 else to_text(number)


def _thresholds(threshold: Number | Mapping[str, Number]) -> Fraction | tuple[tuple[str, Fraction], ...]:
    if not isinstance(threshold, Mapping):
        return _threshold(threshold)
    check_any(threshold, "there is no threshold", "threshold", fix="give one for each cell, or one number")
    return tuple((str(label), _threshold(value)) for label, value in threshold.items())


def _threshold(threshold: Number) -> Fraction:
    return as_non_negative(threshold, "the threshold", "threshold")


_Places = Annotated[
    Annotated[tuple[Named, ...], MinLen(1)] | None, Key("the places that are counted; default: all", ["bar"])
]


@dataclass(frozen=True, kw_only=True)
class VisitorsSection:
    """How many people were at each place."""

    query: Literal["visitors"]
    places: _Places = None

    blamed = "query"

    def query_about(self, belief: Entries, folder: Path) -> Visitors:
        return Visitors(self.places)


@dataclass(frozen=True, kw_only=True)
class PeopleCountSection:
    """How many people have one of some values."""

    query: Literal["count"]
    states: Counted | None = None

    blamed = "query"

    def query_about(self, belief: Entries, folder: Path) -> Count:
        return Count(self.states or ())


@dataclass(frozen=True, kw_only=True)
class SafeSection:
    """Which counts, of visitors or of people with some values, are at most a threshold."""

    query: Literal["safe"]
    at_most: Annotated[
        Written | dict[str, Written], Key('the threshold, one number or one for each place; "fewer than 3" is 2', 5)
    ]
    limit: Annotated[
        Positive | None, Key("after so many places that are not known to be safe the others are not answered", 20)
    ] = None
    alpha: Annotated[
        Written | None,
        Key('also say which are "dangerous", more than at_most: each one wrongly with this probability at most', 0.001),
    ] = None
    places: _Places = None
    first: Annotated[
        Literal["outskirts"] | None,
        Key("of a grid: which places are answered first, a limit being spent in this order", "outskirts"),
    ] = None
    states: Annotated[Counted | None, Key("with values: the values that are counted", ["ill"])] = None

    blamed = "at_most"

    def query_about(self, belief: Entries, folder: Path) -> AtMost:
        query: Query = Visitors(self._places(belief)) if self.states is None else Count(self.states)
        return AtMost(query, self.at_most, self.limit, self.alpha)

    def _places(self, belief: Entries) -> tuple[State, ...] | None:
        """Return the places in the order of the answers, None for the domain's."""
        if self.first is None:
            return self.places
        inwards = belief.from_outside() if isinstance(belief, Placed) else ()
        if not inwards:
            fix = "list the places in the order of the answers"
            raise InputError("is of the boxes of a grid, and the places are none", fix=fix).at("first")
        chosen = dict.fromkeys(inwards if self.places is None else self.places)
        return (*(place for place in inwards if place in chosen), *(place for place in chosen if place not in inwards))
