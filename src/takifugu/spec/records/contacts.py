"""The belief of a release file about people who meet: cliques of a public contact file, and how a disease spreads."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from takifugu.beliefs.contacts import CliqueInfection, clique_infection, cliques_of, household_infection
from takifugu.errors import DataError, InputError
from takifugu.frames import meant, open_frame
from takifugu.laws.rationals import as_fraction
from takifugu.names import normalised
from takifugu.spec.records.rows import texts
from takifugu.spec.records.sections import ContactsSpec


def contacts_of(spec: ContactsSpec, folder: Path) -> CliqueInfection:
    """Return the belief that the public file of meetings and the model describe.

    Raises DataError for a file that cannot be read or lacks a name, InputError for numbers that are not probabilities.
    """
    outside, inside = (float(as_fraction(given, "a probability")) for given in (spec.outside, spec.inside))
    household_infection(1, outside, inside)
    met = _meetings(spec, folder)
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


def _meetings(spec: ContactsSpec, folder: Path) -> dict[tuple[str, str], bool]:
    """Return each pair of the file, and whether they met often enough to count."""
    table = open_frame(folder / spec.file)
    least = spec.at_least or {}
    found: dict[tuple[str, str], bool] = {}
    rows = texts(table, [*spec.columns, *least])
    if any(name is None for row in rows for name in row[:2]):
        raise DataError(f"a row of {spec.file} lacks a name", rule="every meeting names two people")
    written = [(str(name), number) for number, row in enumerate(rows) for name in row[:2]]
    called = meant(written, " and ".join(spec.columns), "person")
    for one, other, *numbers in rows:
        first, second = sorted((called[str(one)], called[str(other)]))
        pair = (first, second)
        often = all(_size(n, c) >= as_fraction(low, c) for n, (c, low) in zip(numbers, least.items(), strict=True))
        found[pair] = found.get(pair, False) or often
    return found


def _size(text: str | None, column: str) -> Fraction:
    return as_fraction(text or "", f"the column {column!r} of the meetings")
