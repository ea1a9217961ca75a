"""Which sources of a ledger are about the same people: declared, never guessed.

Of sources that name units, units of one name are asked about. A source that names none is one unit, whoever is in it:
once it is declared to be about the same people, each other source that names none has to declare it, too, and they are
charged for each other. Nothing bounds what it reveals together with units of another source: that is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from takifugu.accounting.ledger import store as rows
from takifugu.accounting.ledger.disk.sqlite import Connection
from takifugu.core.errors import InputError, LedgerError, PeopleUndeclared

#: Sources by their numbers, the lower one first; a source with itself was declared to be of the same people as others.
Known = Mapping[tuple[int, int], bool]


@dataclass(frozen=True)
class Declaration:
    """A source as declared: name, number (0: new), and naming of units."""

    name: str
    number: int
    names_units: bool
    same_people: bool | None


@dataclass(frozen=True, eq=False)
class Friends:
    """The other sources asked about, and whether they are of the same people.

    `ties` are all pairs of sources of the same people; `is_new` says that one of them is declared just now.
    """

    people: Mapping[int, bool]
    ties: frozenset[tuple[int, int]]
    is_new: bool

    @property
    def same(self) -> list[int]:
        """The sources of the same people, by their numbers."""
        return [other for other in sorted(self.people) if self.people[other]]


class Counterpart(NamedTuple):
    """Another source, what was declared of both, and whether its own people are shared."""

    number: int
    same: bool | None
    is_shared: bool


def friends_of_everyone(connection: Connection, number: int) -> Friends:
    """Return the sources tied to one, all of them of the same people."""
    pairs = ties(rows.read_people(connection))
    return Friends(dict.fromkeys(rows.partners(number, pairs), True), pairs, False)


def friends_of(connection: Connection, source: Declaration, named_alike: set[int]) -> Friends:
    """Return a source's friends, as declared now or before.

    `named_alike` are the sources that name some unit as this one does. Raises as `declared` does.
    """
    declarations = rows.read_people(connection)
    people = declared(connection, source, named_alike, declarations)
    pairs = frozenset(rows.pair(source.number, other) for other, same in people.items() if same)
    is_new = any(not declarations.get(friends, False) for friends in pairs)
    return Friends(people, ties(declarations) | pairs, is_new)


def ties(declarations: Known) -> frozenset[tuple[int, int]]:
    """Return the pairs of sources of the same people."""
    pairs = set()
    for ends, same in declarations.items():
        if same and ends[0] != ends[1]:
            pairs.add(ends)
    return frozenset(pairs)


def declared(
    connection: Connection, source: Declaration, named_alike: set[int], declarations: Known
) -> dict[int, bool]:
    """Return each other source's declaration of the same people, old or new.

    `named_alike` are the sources that name some unit as this one does. Raises InputError where a declaration is
    required, or cannot be counted, and LedgerError where the ledger knows that it is otherwise.
    """
    undeclared, vague, unnamed = set[int](), set[int](), list[Counterpart]()
    for row in rows.read_counters(connection):
        if row.id == source.number:
            continue
        same = declarations.get(rows.pair(source.number, row.id))
        other = Counterpart(row.id, same, (row.id, row.id) in declarations)
        if row.members == 0:
            unnamed.append(other)
            if other.is_shared and same is not False:
                vague.add(row.id)
        elif same is None:
            undeclared.add(row.id)
    if source.names_units:
        if source.same_people is not False:
            _check_named_alike(connection, source, vague)
        overlap = named_alike | vague
    else:
        if source.same_people:
            _check_named_alike(connection, source, undeclared)
        overlap = set[int]()
        is_shared = (source.number, source.number) in declarations
        for other in unnamed:
            is_open = other.same is None and (is_shared or other.is_shared)
            if source.same_people is not None or other.same or is_open:
                overlap.add(other.number)
    return {other: _is_same(connection, source, other, declarations) for other in sorted(overlap)}


def not_declared(connection: Connection, source: Declaration) -> PeopleUndeclared | None:
    """Return what has to be asked about the people of a source without releases, beside one that has some."""
    released = "select distinct s.id, s.name from sources s join releases r on r.source = s.id order by s.name"
    names = {row.id: row.name for row in connection.all(released)}
    if source.same_people is not None or source.number in names or not names:
        return None
    return PeopleUndeclared(source.name, min(names.values()), "", "")


def _is_same(connection: Connection, source: Declaration, other: int, declarations: Known) -> bool:
    before = declarations.get(rows.pair(source.number, other))
    name = rows.source_of_row(connection, other).name
    if before is None and source.same_people is None:
        raise PeopleUndeclared(source.name, name, "", "")
    if before and source.same_people is False:
        raise LedgerError(
            f"the ledger records that the sources {source.name!r} and {name!r} are about the same people, and now "
            "same_people = false is declared",
            fix="leave it out, what was declared once stays",
        ).at("same_people")
    return bool(before or source.same_people)


def _check_named_alike(connection: Connection, source: Declaration, other_sources: set[int]) -> None:
    """Refuse the same people in a source with names and one without."""
    names = sorted(rows.source_of_row(connection, other).name for other in other_sources)
    if names:
        if source.names_units:
            naming, unnamed = source.name, names[0]
            fix = (
                "write same_people = false under [source] (same_people=False in Python) if they are other people; if "
                "they are the same ones, name no people here"
            )
        else:
            naming, unnamed = names[0], source.name
            fix = f"name the people as {naming!r} does, or keep data of other people in a ledger of their own"
        raise InputError(
            f"the source {unnamed!r} is declared to be about the same people as others and names no people, while "
            f"{naming!r} does",
            rule="nothing says who is in both, so nothing bounds what both reveal together",
            fix=fix,
        ).at("same_people")
