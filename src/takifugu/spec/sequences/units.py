"""The source of a release file as units: what is public about them, and private integers that the engine counted."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from takifugu.errors import DataError, Step
from takifugu.frames import Piece, entries, pieces
from takifugu.spec.file import ReleaseFile
from takifugu.spec.sequences.build import layout_of, lengths_of, recode_of

#: The section of a release file that has a key, where it is not [source].
_SECTIONS: dict[Step, str] = {"states": "belief", "map": "belief", "min_length": "belief", "max_length": "belief"}


@dataclass(frozen=True, eq=False)
class Unit:
    """One unit's pieces, sorted by name; the counts in them are private and never shown."""

    name: str | None
    pieces: tuple[Piece, ...] = field(repr=False)

    @property
    def written(self) -> str | None:
        """Return the unit's name as the data spell it."""
        return self.pieces[0].written

    @property
    def lengths(self) -> tuple[int, ...]:
        return tuple(piece.length for piece in self.pieces)

    @property
    def complete(self) -> bool:
        """Return whether every entry was observed."""
        return all(piece.complete for piece in self.pieces)

    @property
    def observed(self) -> tuple[int, ...]:
        """Return the entries that were observed, counted through all pieces."""
        found: list[int] = []
        start = 0
        for piece in self.pieces:
            found += [start + entry for run in piece.observed for entry in run]
            start += piece.length
        return tuple(found)


def units_of(file: ReleaseFile) -> tuple[Unit, ...]:
    """Return the units with the pieces that the rules on (public) lengths keep.

    Raises DataError, which names the rule by its key in the release file, for data that breaks one.
    """
    found = _asked(file, pieces)
    return tuple(Unit(name, tuple(mine)) for name, mine in groupby(found, key=lambda piece: piece.unit))


def sequence_of(file: ReleaseFile, unit: Unit) -> Any:
    """Return one unit's states entry by entry, None where an entry was not observed: a list for each piece, if many."""
    states = file.spec.belief.states
    mine = [one for one in _asked(file, entries) if one.unit == unit.name]
    walks = [[None if v < 0 else states[v] for v in one.values] for one in mine]
    return walks if len(walks) > 1 else walks[0]


def _asked(file: ReleaseFile, question: Any) -> Any:
    spec = file.spec
    try:
        return question(file.table, layout_of(spec.source), recode_of(spec.belief), lengths_of(spec.belief))
    except DataError as error:
        error.where = error.where or ("file",)
        raise error.at(_SECTIONS.get(error.where[0], "source")).placed() from None
