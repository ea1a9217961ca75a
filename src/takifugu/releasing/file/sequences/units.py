"""The source of a release file as units: what is public about them, and private integers that the engine counted."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import accumulate, groupby
from operator import attrgetter

from takifugu.core.errors import DataError, Step
from takifugu.data import Piece, pieces
from takifugu.model.queries.forms import reads_alike
from takifugu.releasing.file.kind import ReleaseFile, Unit
from takifugu.releasing.file.sequences.build import layout_of, lengths_of, recode_of
from takifugu.releasing.file.sequences.cells import counted_by, with_attributes
from takifugu.releasing.file.sequences.runs import run_rules
from takifugu.releasing.file.sequences.sections import ReleaseSpec

#: The section of a release file that has a key, where it is not [source].
_SECTIONS: dict[Step, str] = {"states": "belief", "map": "belief", "min_length": "belief", "max_length": "belief"}


def units_of(file: ReleaseFile) -> tuple[Unit, ...]:
    """Return the units by name, with the pieces of allowed (public) lengths.

    Raises DataError, with the rule's key in the release file.
    """
    spec = file.sections(ReleaseSpec)
    queries = (item.meant.query_about(file.belief, file.folder) for item in spec.release)
    entrywise = not all(map(reads_alike, queries))
    layout = layout_of(spec.source, None, spec.source.calendar, file.places, counted_by(spec.release))
    rules = layout, recode_of(spec.belief, spec.source), lengths_of(spec.belief)
    try:
        if not spec.source.are_runs:
            all_pieces = pieces(file.table, *rules, entrywise=entrywise)
        else:
            from takifugu.data.runs.reader import pieces_of_runs

            all_pieces = pieces_of_runs(file.table, *rules[:2], run_rules(spec.source, file.folder), entrywise)
        if file.places is not None and layout.gaps == "public":
            # Who has rows in the window is public, too.
            all_pieces = tuple(piece for piece in all_pieces if piece.observed)
            if not all_pieces:
                raise DataError("no row lies in the window", fix="publish another window").at("from")
    except DataError as error:
        error.where = error.where or ("file",)
        if spec.source.rows == "wide" and error.where[0] == "order" and error.fix:  # rows of two lines of one person
            error.fix = "leave one row of each, or one for each day where order names a column of days"
        raise error.at(_SECTIONS.get(error.where[0], "source")).placed() from None
    shapes: dict[tuple[int, ...], tuple[int, ...]] = {}
    units = tuple(
        _unit(name, tuple(unit_pieces), shapes)
        for name, unit_pieces in groupby(all_pieces, key=lambda piece: piece.unit)
    )
    return with_attributes(units, file.table, spec.source, spec.release)


def _unit(name: str | None, mine: tuple[Piece, ...], shapes: dict[tuple[int, ...], tuple[int, ...]]) -> Unit:
    """Return one unit; equal shapes are one object in `shapes`."""
    lengths = tuple([piece.length for piece in mine])
    lengths = shapes.setdefault(lengths, lengths)
    complete = all(map(attrgetter("complete"), mine))
    observed = () if complete else _seen(mine)
    return Unit(name, mine, mine[0].written, sum(lengths), complete, observed, shape=lengths)


def _seen(mine: Sequence[Piece]) -> tuple[range, ...]:
    """Return the observed entries, counted through all pieces."""
    if len(mine) == 1:
        return mine[0].observed
    starts = accumulate((piece.length for piece in mine), initial=0)
    runs = ((start, run) for piece, start in zip(mine, starts, strict=False) for run in piece.observed)
    return tuple(range(start + run.start, start + run.stop) for start, run in runs)


def sequence_of(file: ReleaseFile, units: Sequence[Unit]) -> list[list[Hashable]] | list[Hashable]:
    """Return the states by entry, None if unobserved, split by piece."""
    states = file.belief.states
    walks = [[None if v < 0 else states[v] for v in piece.values] for unit in units for piece in unit.data or ()]
    return walks[0] if len(walks) == 1 else walks
