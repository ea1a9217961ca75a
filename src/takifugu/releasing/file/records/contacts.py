"""People who meet: cliques of a public contact file, and how a disease spreads; one row per person."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from takifugu.core.errors import DataError, InputError, TakifuguError
from takifugu.core.names import normalised
from takifugu.data import Table, meant
from takifugu.model.beliefs.contacts import CliqueInfection, clique_infection, cliques_of, household_infection
from takifugu.numbers.rationals import as_fraction
from takifugu.releasing.file.problems import fault
from takifugu.releasing.file.records.people import People
from takifugu.releasing.file.records.reading import texts
from takifugu.releasing.file.records.sections import ContactsSpec
from takifugu.releasing.file.same_data import GIVE_PUBLIC, IS_PRIVATE, is_one_of, same_rows
from takifugu.releasing.file.source import open_public, private_files


class _Contacts(People):
    names = ("contacts",)

    def belief(self, spec: Any, folder: Path) -> CliqueInfection:
        return _cliques(spec.belief, spec.source, folder)

    def private_files(self, spec: Any, folder: Path, data: Any) -> Iterator[TakifuguError]:
        if is_one_of(folder / spec.belief.file, private_files(spec.source, folder, data)):
            yield fault(("belief", "file"), IS_PRIVATE, GIVE_PUBLIC)

    def reveals(self, spec: Any, folder: Path, table: Table) -> Iterator[TakifuguError]:
        belief = spec.belief
        if same_rows(_opened(belief, spec.source, folder), table, [*belief.columns, *(belief.at_least or {})]):
            yield fault(("belief", "file"), "has the rows of the private data", GIVE_PUBLIC)


def _cliques(spec: ContactsSpec, source: Any, folder: Path) -> CliqueInfection:
    """Return the belief that the public file of meetings and the model describe.

    Raises DataError for a file that cannot be read or lacks a name, InputError for numbers that are not probabilities.
    """
    outside, inside = (float(as_fraction(given, "a probability")) for given in (spec.outside, spec.inside))
    household_infection(1, outside, inside)
    met = _meetings(spec, source, folder)
    named = {name for pair in met for name in pair}
    people = [normalised(name, f"the name {name!r} of people") for name in spec.people or ()]
    if len(set(people)) != len(people):
        raise InputError("people lists somebody twice", fix="list each person once")
    repeated = sorted(set(people) & named)
    if repeated:
        raise InputError(
            f"people lists {repeated[0]!r}, whom the file names too", fix="list only those who met nobody"
        )
    cliques = cliques_of([pair for pair, often in met.items() if often], people=[*named, *people])
    return clique_infection(
        cliques, lambda size: household_infection(size, outside, inside), spec.states, source=spec.source
    )


def _opened(spec: ContactsSpec, source: Any, folder: Path) -> Table:
    return open_public(spec, source, folder / spec.file, missing=False)


def _meetings(spec: ContactsSpec, source: Any, folder: Path) -> dict[tuple[str, str], bool]:
    """Return each pair of the file, and whether they met often enough to count."""
    table = _opened(spec, source, folder)
    least = spec.at_least or {}
    often_of: dict[tuple[str, str], bool] = {}
    rows = texts(table, [*spec.columns, *least])
    if any(name is None for row in rows for name in row[:2]):
        raise DataError(f"a row of {spec.file} lacks a name", rule="every meeting names two people")
    written = [(str(name), number) for number, row in enumerate(rows) for name in row[:2]]
    called = meant(written, " and ".join(spec.columns), "person")
    for one, other, *numbers in rows:
        first, second = sorted((called[str(one)], called[str(other)]))
        pair = (first, second)
        sizes = zip(numbers, least.items(), strict=True)
        often = all(_size(number, column, table) >= as_fraction(low, column) for number, (column, low) in sizes)
        often_of[pair] = often_of.get(pair, False) or often
    return often_of


def _size(text: str | None, column: str, table: Table) -> Fraction:
    return as_fraction(table.numerals.plain(text or ""), f"the column {column!r} of the meetings")


CONTACTS = _Contacts()
