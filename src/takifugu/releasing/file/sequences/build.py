"""A checked release file of sequences as layout, belief and secret, and its source as units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from fractions import Fraction
from itertools import groupby
from operator import attrgetter
from typing import Any

from takifugu.core.arrays import IntArray
from takifugu.core.errors import DataError, InputError, SpecError, Step
from takifugu.core.files import path_in
from takifugu.core.sections import values_of
from takifugu.data import Bins, Calendar, Layout, Lengths, Piece, Recode, Table, pieces, transitions, transitions_by
from takifugu.model.beliefs.chains.declared_chain import ChainFit
from takifugu.model.beliefs.chains.matrices_by import period_of, since_the_year_1
from takifugu.model.queries.forms import reads_alike
from takifugu.releasing.file.keys import columns_of_order
from takifugu.releasing.file.kind import ReleaseFile, Unit
from takifugu.releasing.file.problems import absent_columns, blaming
from takifugu.releasing.file.public import FIT_ELSEWHERE, Public
from takifugu.releasing.file.sequences.cells import counted_by, with_attributes
from takifugu.releasing.file.sequences.runs import run_rules
from takifugu.releasing.file.sequences.sections import ReleaseSpec, named_columns
from takifugu.releasing.file.sequences.source import SourceSpec
from takifugu.releasing.file.source import open_public, same_transitions


def layout_of(
    source: SourceSpec,
    fit: ChainFit | None = None,
    calendar: Calendar | None = None,
    window: range | None = None,
    by: tuple[str, ...] = (),
) -> Layout:
    """Return the layout of the source, or of a fit.

    With a calendar only its window is read, and entries are counted `by` its parts.
    """
    of_source = {**values_of(source, ("value", "unit", "recording", "order")), "order_format": source.form}
    columns = {key: getattr(fit, key, None) or value for key, value in of_source.items()}
    columns["piece"] = columns.pop("recording")
    columns["order"], columns["time_of_day"] = columns_of_order(columns["order"])
    rules = ("step", "nulls", "null_keys", "timezone", "round_to", "duplicates", "ambiguous")
    rules_of_source = values_of(source, rules)
    return Layout(**columns, **rules_of_source, calendar=calendar, window=window, gaps=source.gaps, by=by)


def recode_of(belief: Any, source: SourceSpec | None) -> Recode:
    if source is None or source.bins is None:
        return Recode(belief.states, belief.map)
    state_of = {str(state): state for state in belief.states}
    bins = {state_of.get(name, name): ends for name, ends in source.bins.items()}
    return Recode(belief.states, belief.map, Bins(bins))


@dataclass(frozen=True)
class PublicSequences(Public):
    """The folder of a release file, its [source], which says how long steps are, and the keys of its `belief`.

    `private` are the private data, which a chain must not be fitted to unless its file says so.
    """

    belief: Any
    private: Table | None = field(default=None, repr=False)
    data: object = field(default=None, repr=False)

    @property
    def step(self) -> Fraction | timedelta | None:
        return None if self.source is None else self.source.length

    @property
    def calendar(self) -> Calendar | None:
        return None if self.source is None else self.source.calendar

    def transitions(self, fit: ChainFit) -> IntArray:
        """Return the counts of transitions in a file, by cell if declared.

        Unobserved entries end a sequence. Raises SpecError for a file that cannot be opened or lacks a column, and for
        counts equal to the private data's unless the fit declares them; InputError for rows against a rule.
        """
        layout, states = layout_of(self.source, fit), recode_of(self.belief, self.source)
        with blaming("fit", "file"):
            table = open_public(fit, self.source, path_in(self.folder, fit.file))
        columns = [(("fit", key[0]), column) for key, column in named_columns(fit, self.source).items()]
        if faults := list(absent_columns(table, columns)):
            raise SpecError(faults)
        by_cell, calendar = self.belief.matrix_by, self.calendar
        try:
            if by_cell is None or calendar is None:
                counts = all_counts = transitions(table, layout, states)
            else:
                of_year_1 = replace(layout, calendar=since_the_year_1(calendar))
                counts = transitions_by(table, of_year_1, states, period_of(by_cell, calendar).cells)
                all_counts = counts.sum(axis=0)
        except DataError as error:
            error.about(fit.file)
            raise
        layouts = [layout_of(self.source)]
        if layout not in layouts:
            layouts.append(layout)
        if self.private is not None and not fit.private and same_transitions(all_counts, self.private, layouts, states):
            problem = "counts what the private data counts, transition by transition"
            raise SpecError([InputError(problem, fix=FIT_ELSEWHERE).at("fit", "file")])
        return counts


#: The section of a release file that has a key, where it is not [source].
_SECTIONS: dict[Step, str] = {"states": "belief", "map": "belief", "min_length": "belief", "max_length": "belief"}


def units_of(file: ReleaseFile) -> tuple[Unit, ...]:
    """Return the units by name, with the pieces of allowed (public) lengths.

    Raises DataError, with the rule's key in the release file.
    """
    spec = file.sections(ReleaseSpec)
    entrywise = not all(reads_alike(item.meant.query_about(file.belief, file.folder)) for item in spec.table)
    layout = layout_of(spec.source, None, spec.source.calendar, file.places, counted_by(spec.table))
    lengths_allowed = Lengths(spec.belief.min_length, spec.belief.max_length, spec.belief.longer)
    rules = layout, recode_of(spec.belief, spec.source), lengths_allowed
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
        units.append(Unit(name, of_unit, of_unit[0].written, sum(lengths), complete, observed, shape=lengths))
    return with_attributes(tuple(units), file.table, spec.source, spec.table)


def _observed(pieces: Sequence[Piece]) -> tuple[range, ...]:
    """Return the observed entries, counted through all pieces."""
    if len(pieces) == 1:
        return pieces[0].observed
    runs, start = list[range](), 0
    for piece in pieces:
        runs += [range(start + run.start, start + run.stop) for run in piece.observed]
        start += piece.length
    return tuple(runs)
