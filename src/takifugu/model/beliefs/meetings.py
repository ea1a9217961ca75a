"""People who meet, as a release file declares them: a public file of who met whom, and how a disease spreads."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, islice
from typing import Annotated, Any, Literal

from takifugu.core.errors import DataError, InputError
from takifugu.core.names import normalised
from takifugu.core.rules import list_of
from takifugu.core.sections import FilePath, Key, Number, PublicFile, State, Text
from takifugu.model.beliefs.contacts import LARGEST_CLIQUE, CliqueInfection, household_infection
from takifugu.model.beliefs.sections import Origin, Public, PublicTable
from takifugu.numbers.rationals import as_fraction, as_fractions

#: Whom each person meets.
Neighbours = Mapping[Hashable, set[Hashable]]
#: Steps of the search for cliques: beyond them an answer would take hours.
MOST_WORK = 500_000
_EDGES = "[('Ana', 'Ben'), ('Ben', 'Chi')]"


@dataclass(frozen=True, kw_only=True)
class ContactsSection(PublicFile):
    """People who meet: groups in which everybody meets everybody, and a disease that spreads inside them."""

    kind: Annotated[Literal["contacts"], Key("a contact graph, one row per person")]
    file: Annotated[FilePath, Key("a public file of who met whom, a row per pair", "meetings.csv")]
    columns: Annotated[tuple[Text, Text], Key("the two columns with the names of a pair", ["one", "other"])]
    at_least: Annotated[
        dict[str, Number] | None, Key("the least value of a column for a meeting to count", {"minutes": 5})
    ] = None
    people: Annotated[tuple[Text, ...] | None, Key("people who are not in the file of meetings")] = None
    states: Annotated[tuple[State, State], Key("well first, ill second", ["well", "ill"])]
    outside: Annotated[Number, Key("the probability of infection from outside", 0.1)]
    inside: Annotated[Number, Key("the probability that an ill person infects another of the group", 0.3)]
    source: Origin = "assumed"

    def counted(self, belief: object, source: object) -> Sequence[str]:
        return [*self.columns, *(self.at_least or {})]

    def belief(self, public: Public) -> CliqueInfection:
        """Return the belief from the public file of meetings and the model."""
        outside, at_home = map(float, as_fractions((self.outside, self.inside), "a probability"))
        household_infection(1, outside, at_home)
        met = self._meetings(public.open(self))
        file_people = set(chain.from_iterable(met))
        people = [normalised(name, f"the name {name!r} of people") for name in self.people or ()]
        if len(set(people)) != len(people):
            raise InputError("people lists somebody twice", fix="list each person once")
        repeated = sorted(set(people) & file_people)
        if repeated:
            raise InputError(
                f"people lists {repeated[0]!r}, whom the file names too", fix="list only those whom it does not name"
            )
        pairs = [pair for pair, often in met.items() if often and len({*pair}) > 1]
        try:
            cliques = cliques_of(pairs, people=[*file_people, *people])
        except InputError as error:
            error.fix = _fewer(self.columns)
            raise
        clique_of, source = {name: number for number, clique in enumerate(cliques) for name in clique}, self.source
        if apart := sum(clique_of[one] != clique_of[other] for one, other in pairs):
            source = f"{source}; {apart:,} of {len(pairs):,} pairs who met are in two cliques: nothing spreads there"
        return CliqueInfection(
            cliques, lambda size: household_infection(size, outside, at_home), self.states, source=source
        )

    def _meetings(self, table: PublicTable) -> dict[tuple[str, str], bool]:
        """Return each pair of the file, and whether it met often enough."""
        least = self.at_least or {}
        often_of: dict[tuple[str, str], bool] = {}
        rows = table.texts([*self.columns, *least])
        spellings = []
        for number, row in enumerate(rows):
            if None in row[:2]:
                raise DataError(f"a row of {self.file} lacks a name", rule="every meeting names two people")
            spellings += [(str(row[0]), number), (str(row[1]), number)]
        called = table.people(spellings, " and ".join(self.columns))
        for person, partner, *numbers in rows:
            first, second = sorted((called[str(person)], called[str(partner)]))
            sizes = zip(numbers, least.items(), strict=True)
            often = all(_size(number, column, table) >= as_fraction(low, column) for number, (column, low) in sizes)
            often_of[first, second] = often_of.get((first, second), False) or often
        return often_of


def _fewer(columns: tuple[str, str]) -> str:
    return (
        "write under [belief] at_least = { minutes = 5 }, with a column of the file that says how long or how often a "
        "pair met, so that fewer pairs count; a log with a row for each meeting becomes such a file first (in pandas, "
        f'frame.groupby({[*columns]}).size().reset_index(name="meetings"), then at_least = {{ meetings = 5 }}); or '
        "name a file with a row for each two people of the same group, if you know the groups"
    )


def _size(text: str | None, column: str, table: PublicTable) -> Fraction:
    if text is None:
        message = f"{table.source}: column {column!r} has missing values"
        raise DataError(message, fix="fill them, or leave these rows out")
    return as_fraction(table.number(text, column), f"the column {column!r} of the meetings")


def cliques_of(
    edges: Iterable[tuple[Hashable, Hashable]], people: Iterable[Hashable] = ()
) -> list[tuple[Hashable, ...]]:
    """Split people into disjoint cliques by their contacts, the largest first.

    The result does not depend on the order of the edges: of several largest cliques, the first in sorted order is
    taken.

    Args:
        edges: Pairs of people who meet.
        people: Further people, who may have no contacts.

    Returns:
        The cliques, each a sorted tuple of people.

    Raises:
        InputError: For so many contacts that the search, which can grow exponentially, would not end.

    Examples:
        >>> cliques_of([(1, 2), (2, 3), (1, 3), (3, 4)], people=[5])
        [(1, 2, 3), (4,), (5,)]
    """
    alone = list_of(people, "the people", "people", "['Ana', 'Ben']", any_order=True)
    pairs = []
    for edge in list_of(edges, "the contacts", "edges", _EDGES, any_order=True):
        pair = list_of(edge, "a contact", "edges", _EDGES, any_order=True)
        if len(pair) != 2:
            raise InputError(f"a contact is {edge!r:.40}, no pair", fix=f"give pairs, such as {_EDGES}").at("edges")
        pairs.append(pair)
    try:
        people_in_order = sorted({*alone, *chain.from_iterable(pairs)})  # type: ignore[type-var]
    except (TypeError, ValueError):
        raise InputError(
            "the people cannot be sorted", rule="cliques are found in order", fix="name all by texts, or all by numbers"
        ).at("people") from None
    near: dict[Hashable, set[Hashable]] = {person: set() for person in people_in_order}
    for a, b in pairs:
        if a != b:
            near[a].add(b)
            near[b].add(a)
    cliques = []
    work = iter(range(MOST_WORK))
    while near:
        clique = _largest_clique(near, work)
        cliques.append(clique)
        gone = set(clique)
        near = {v: neighbours - gone for v, neighbours in near.items() if v not in gone}
    return cliques


def _largest_clique(near: Mapping[Any, set[Any]], work: Iterator[int]) -> tuple[Hashable, ...]:
    """Return the first largest clique in sorted order, depth first, with greedy colours as a bound."""
    best: tuple[Hashable, ...] = ()
    for v in sorted(near):
        best = max(best, _grown((v,), sorted(u for u in near[v] if u > v), near, best, work), key=len)
    return best


def _grown(
    clique: tuple[Hashable, ...],
    choices: list[Hashable],
    near: Neighbours,
    best: tuple[Hashable, ...],
    work: Iterator[int],
) -> tuple[Hashable, ...]:
    if next(islice(work, len(choices) ** 2 // 4, None), None) is None or len(clique) > LARGEST_CLIQUE:
        raise InputError(
            f"the contacts of so many people cannot be divided into cliques (of at most {LARGEST_CLIQUE} people) in "
            "a reasonable time",
            fix="leave out pairs who seldom met, or list the groups yourself",
        )
    if not choices:
        return clique if len(clique) > len(best) else best
    if len(clique) + _colours(choices, near) <= len(best):
        return best
    for place, v in enumerate(choices):
        if len(clique) + len(choices) - place <= len(best):
            break
        best = _grown((*clique, v), [choice for choice in choices[place + 1 :] if choice in near[v]], near, best, work)
    return best


def _colours(people: Sequence[Hashable], near: Neighbours) -> int:
    """Bound the size of cliques by the colours of a greedy colouring."""
    classes: list[list[Hashable]] = []
    for v in people:
        for members in classes:
            if near[v].isdisjoint(members):
                members.append(v)
                break
        else:
            classes.append([v])
    return len(classes)
