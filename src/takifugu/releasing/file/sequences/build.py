"""A checked release file of sequences as belief and secret, and its source as units."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter

from takifugu.core.errors import DataError, InputError, Step
from takifugu.data.relation.pieces import pieces_of
from takifugu.data.values.pieces import Piece
from takifugu.model.queries.forms import reads_alike
from takifugu.releasing.file.kind import ReleaseFile, Unit
from takifugu.releasing.file.sequences.cells import counted_by, with_attributes
from takifugu.releasing.file.sequences.runs import refuse_future
from takifugu.releasing.file.sequences.sections import ReleaseSpec

#: The section of a release file that has a key, where it is not [source].
_SECTIONS: dict[Step, str] = {"states": "belief", "max_length": "belief"}


def units_of(file: ReleaseFile) -> tuple[Unit, ...]:
    """Return the units by name, with the pieces of allowed (public) lengths.

    Raises DataError, with the rule's key in the release file.
    """
    spec = file.sections(ReleaseSpec)
    source, table = spec.source, file.table
    entrywise = not all(reads_alike(item.meant.query_about(file.belief, file.folder)) for item in spec.table)
    try:
        if source.are_runs:
            refuse_future(source)
        counts = table.counts(file.places, counted_by(spec.table))
        states = table.states(file.places) if entrywise else None
        all_pieces = pieces_of(counts, source.unit, source.recording, states, table.first_rows)
        if file.places is not None and not source.hides_gaps:  # who has rows in a window is then public, too
            all_pieces = [piece for piece in all_pieces if piece.observed]
            if not all_pieces:
                raise DataError("no row lies in the window", fix="publish another window").at("from")
        _check_lengths(all_pieces, spec.belief.max_length)
    except (DataError, InputError) as error:
        error.where = error.where or ("file",)
        raise error.at(_SECTIONS.get(error.where[0], "source")).placed() from None
    shapes: dict[tuple[int, ...], tuple[int, ...]] = {}  # equal ones are one object
    units = list[Unit]()
    for name, group in groupby(all_pieces, key=attrgetter("unit")):
        of_unit = tuple(group)
        if len(of_unit) == 1:  # as most have, and there may be millions
            lengths, complete = shapes.setdefault((of_unit[0].length,), (of_unit[0].length,)), of_unit[0].complete
        else:
            lengths, complete = tuple(map(attrgetter("length"), of_unit)), all(map(attrgetter("complete"), of_unit))
            lengths = shapes.setdefault(lengths, lengths)
        observed = () if complete else _observed(of_unit)
        starts = tuple(piece.start for piece in of_unit if piece.start is not None)
        written, size = of_unit[0].written, sum(lengths)
        units.append(Unit(name, of_unit, written, size, complete, observed, shape=lengths, starts=starts))
    return with_attributes(tuple(units), table.roster, spec.table)


def _check_lengths(pieces: Sequence[Piece], most: int | None) -> None:
    if most is not None and any(piece.length > most for piece in pieces):
        raise DataError(
            "a recording has more steps than max_length", rule="lengths are public, and declared",
            fix="raise max_length; or number recordings of that length in sql",
        ).at("max_length")  # fmt: skip


def _observed(pieces: Sequence[Piece]) -> tuple[range, ...]:
    """Return the observed entries, counted through all pieces."""
    if len(pieces) == 1:
        return pieces[0].observed
    runs, start = list[range](), 0
    for piece in pieces:
        runs += [range(start + run.start, start + run.stop) for run in piece.observed]
        start += piece.length
    return tuple(runs)
