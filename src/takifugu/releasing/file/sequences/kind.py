"""Sequences: units of pieces of consecutive states, under a Markov chain or a class of chains."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from takifugu.calibration import Calibration
from takifugu.core.arrays import IntArray
from takifugu.core.assumptions import check, limit, public, reading, world
from takifugu.core.errors import DataError, InputError, SpecError, Step
from takifugu.core.escaping import on_one_line
from takifugu.core.sections import written
from takifugu.data import Bins, Slots, axes_of
from takifugu.data.relation.pieces import pieces_of
from takifugu.data.values.counts import Counts
from takifugu.model.beliefs.chains.pieces import IndependentPieces
from takifugu.model.frameworks import Framework, Pufferfish
from takifugu.model.queries import GroupBy, Query
from takifugu.model.queries.sections import IN_ORDER
from takifugu.model.secrets.of_entries import entry, every_entry, every_run
from takifugu.releasing.certificates.facts import Fact, words_of_clock
from takifugu.releasing.file.calendars import expanded, facts_of, night_set_back, window_of, windowed
from takifugu.releasing.file.keys import names_of
from takifugu.releasing.file.kind import Kind, ReleaseFile, Unit, UnitQuery, assumed
from takifugu.releasing.file.problems import blaming, fault
from takifugu.releasing.file.sequences.cells import (
    attribute_of,
    by_attribute,
    by_cells,
    cells_of_nobody,
    clock_of,
    counted_by,
    unequal_cells,
    used_by,
    values_of_attribute,
    with_attributes,
    words_of_cells,
)
from takifugu.releasing.file.sequences.checks import meaning_of
from takifugu.releasing.file.sequences.runs import refuse_future, words_of
from takifugu.releasing.file.sequences.sections import (
    EntrySpec,
    ItemSpec,
    ReleaseSpec,
    SequenceBelief,
    duration_in,
    lasting,
    read_by,
)
from takifugu.releasing.file.shape import Shape

#: The section of a release file that has a key, where it is not [source].
_SECTIONS: dict[Step, str] = {"states": "belief", "max_length": "belief"}


class Sequences(Kind):
    """Every unit's pieces are runs of one chain, independent of each other; their lengths and gaps are public."""

    facts = Shape(
        IN_ORDER, ReleaseSpec, ItemSpec, SequenceBelief,
        has_lengths=True, meaning=meaning_of, tables=expanded, read_by=read_by,
    )  # fmt: skip

    def part(self, file: ReleaseFile, item: ItemSpec) -> ReleaseFile:
        spec = file.sections(ReleaseSpec)
        source, calendar = spec.source, spec.source.calendar
        if calendar is None:
            return replace(file, most_steps=spec.belief.max_length)
        places, by_units = window_of(item, calendar), attribute_of(item) is not None
        part = windowed(file, item, calendar, places)
        hides_gaps = source.hides_gaps
        may_miss = hides_gaps and not (source.are_runs and source.nulls == "refuse")  # then covers say what there is
        return replace(part, hides_gaps=hides_gaps, may_miss=may_miss, by_units=by_units, most_steps=len(places))

    def certificate_words(self, file: ReleaseFile, item: ItemSpec, calibration: Calibration) -> tuple[Fact, ...]:
        source, by = file.sections(ReleaseSpec).source, attribute_of(item)
        calendar, clock = source.calendar, clock_of(source) if item.by is not None and by is None else ""
        facts: list[Fact] = [replace(window, clock=clock) for window in facts_of(file, item, calibration)]
        if calendar is not None and file.places is not None and (night := night_set_back(calendar, file.places)):
            facts.append(check(
                f"Times are those of clocks, without offsets. In the night of {night} clocks are set back, so that an "
                "hour is there twice: a state that lasts through it may be counted an hour off."
            ))  # fmt: skip
        if by is not None:
            values = values_of_attribute(file.table.roster, by)
            facts += cells_of_nobody(by, values, calibration.query, file.people)
        elif facts and item.by is not None:
            slots, query = self._slots(file, item), calibration.query
            facts.append(words_of_cells(slots))
            if isinstance(query, GroupBy) and not (query.query.is_mean or query.is_choice):
                facts.extend(unequal_cells(slots))
        return tuple(facts)

    def units(self, file: ReleaseFile) -> tuple[Unit, ...]:
        """Return the units by name, with the pieces of allowed (public) lengths; DataError with the key of the rule."""
        spec = file.sections(ReleaseSpec)
        source, table = spec.source, file.table
        entrywise = not all(item.meant.query_about(file.belief, file.folder).reads_alike for item in spec.table)
        try:
            if source.are_runs:
                refuse_future(source)
            counts = table.counts(file.places, counted_by(spec.table))
            states = table.states(file.places) if entrywise else None
            pieces = seen = pieces_of(counts, source.unit, source.recording, states, table.first_rows)
            if source.hides_gaps and source.are_runs and source.nulls == "refuse":  # who is covered when is public
                seen = pieces_of(table.covered(counts, file.places), source.unit, source.recording)
            if file.places is not None and not source.hides_gaps:  # who has rows in a window is then public, too
                pieces = seen = pieces.taken(np.flatnonzero(pieces.are_seen))
                if not len(pieces):
                    raise DataError("no row lies in the window", fix="publish another window").at("from")
            most = spec.belief.max_length
            if most is not None and (pieces.lengths > most).any():
                raise DataError(
                    "a recording has more steps than max_length", rule="lengths are public, and declared",
                    fix="raise max_length; or number recordings of that length in sql",
                ).at("max_length")  # fmt: skip
        except (DataError, InputError) as error:
            error.where = error.where or ("file",)
            raise error.at(_SECTIONS.get(error.where[0], "source")).placed() from None
        return with_attributes(tuple(_units_of(pieces, seen)), table.roster, spec.table)

    def query_of(self, file: ReleaseFile, item: ItemSpec) -> Query:
        query = super().query_of(file, item)
        duration = duration_in(item.measured_in, file.sections(ReleaseSpec).source.step)
        if duration is not None:
            query = query.lasting(duration)
        of_units = attribute_of(item)
        if item.by is None or of_units is not None:
            return query
        return by_cells(query, self._slots(file, item))

    def unit_query(self, file: ReleaseFile, item: ItemSpec, query: Query, units: Sequence[Unit]) -> UnitQuery:
        name = attribute_of(item)
        if name is None:
            return UnitQuery(query, units)
        return by_attribute(query, name, values_of_attribute(file.table.roster, name), units)

    def _slots(self, file: ReleaseFile, item: ItemSpec) -> Slots:
        calendar = file.sections(ReleaseSpec).source.calendar
        assert calendar is not None  # which `windows.faults_of` requires of a table by cells
        return Slots(calendar, file.places or window_of(item, calendar), axes_of(names_of(item.by), calendar))

    def framework_about(self, file: ReleaseFile, units: Sequence[Unit]) -> Framework:
        lengths = list[int]()
        for unit in units:
            if isinstance(unit.shape, tuple):
                lengths += map(int, unit.shape)
        first = 0
        if file.places is not None and file.belief.period > 1:
            first = file.places.start  # in which place of a period a window starts
        belief = file.belief.from_step(first, max(lengths))
        if len(lengths) > 1:
            belief = IndependentPieces(belief, tuple(lengths))
        hide = file.sections(ReleaseSpec).hide
        if isinstance(hide, EntrySpec):
            with blaming("hide", "entry"):
                return Pufferfish(entry(hide.entry, hide.a, hide.b), belief)
        with blaming("hide", "length"):
            run = file.sections(ReleaseSpec).run
        with blaming("belief"):
            return Pufferfish(every_entry() if run == 1 else every_run(run), belief)

    def data(self, file: ReleaseFile, item: ItemSpec, query: Query, units: Sequence[Unit]) -> object:
        pieces: Counts | None = units[0].data
        if query.reads_alike:
            if pieces is None:
                return None
            numbers = _numbers_of(units)  # mostly those of all pieces, in their order
            return pieces if np.array_equal(numbers, np.arange(len(pieces))) else pieces.taken(numbers)
        unit, entries = units[0], units[0].size
        if query.weights is not None and len(query.weights) != entries:
            whose = "the sequence" if unit.name is None else f"the sequence of {unit.name!r}"
            number = file.items.index(item) if item in file.items else 0
            problem = f"has {len(query.weights)} numbers, and {whose} has {entries} entries"
            fix = "write one number for each entry, 0 to leave one out"
            raise SpecError([fault(("table", number, "weights"), problem, fix)])
        if pieces is None:
            return None
        assert pieces.values is not None, "asked for where a query reads entries"
        state_of, walks = dict(enumerate(file.belief.states)), list[list[Hashable]]()
        for number in _numbers_of(units).tolist():  # None for what was not observed
            walks.append(list(map(state_of.get, pieces.values[number].tolist())))
        return walks[0] if len(walks) == 1 else walks

    def assumptions(self, file: ReleaseFile) -> Iterator[Fact]:
        spec = file.sections(ReleaseSpec)
        yield from words_of(spec.source, file.people.many, spec.run)
        if spec.source.unit is not None and spec.source.are_runs:
            yield world(f"The {file.people.many} are independent of each other.")
        elif spec.source.unit is not None:
            people = file.people.many
            yield public(f"Which {people} there are, and the lengths of their recordings, are public.")
            yield world(f"The {people} are independent of each other.")
        if spec.source.from_ is not None and spec.source.hides_gaps:
            yield limit("Which steps are missing: it is not published, but no secret. The noise is right for any.")
        elif spec.source.step is not None or spec.source.nulls == "unobserved":
            yield public("Which steps were observed is public.")
        if file.opened is not None and file.opened.opened.hides_rows:
            yield public("The rows that sql leaves break no rule, which is public, whichever these rows are.")
        if written(spec.belief, ("matrix_by",)):
            cell, clocks = spec.belief.meant.matrix_by, words_of_clock(clock_of(spec.source))
            yield world(f"Each step follows the matrix of the {cell}, {clocks}, in which it starts.")
        yield from _rules(spec)
        for name in used_by(spec.table):
            yield public(f"Which {file.people.one} has which {name!r} is public.")
        yield from assumed(spec.belief)
        yield from lasting(file)


def _rules(spec: ReleaseSpec) -> Iterator[Fact]:
    """Yield the file's rules for rows as entries."""
    source = spec.source
    if source.timezone is not None:
        yield reading(f"Hours and days are those of clocks in {source.timezone}.")
    if source.bins is not None:
        bins = Bins(source.bins)
        readings = "; ".join(f"{words} as {state!r}" for words, state in zip(bins.words, bins.states, strict=True))
        said = on_one_line(source.value) if "'" in source.value else repr(source.value)  # expressions quote texts
        yield reading(f"Numbers of {said} are read in bins: {readings}.")


def _units_of(pieces: Counts, seen: Counts) -> Iterator[Unit]:
    """Yield the units of pieces, of which `seen` tells the gaps, by name; equal shapes and starts are one object."""
    names = pieces.names[0]
    if not len(names):
        return
    is_first = np.concatenate(([True], names[1:] != names[:-1]))
    first = np.flatnonzero(is_first)
    sizes = np.add.reduceat(pieces.lengths, first).tolist()
    complete = np.logical_and.reduceat(seen.complete, first).tolist()
    lengths = pieces.lengths.tolist()
    places: Sequence[Hashable] = [] if pieces.starts is None else pieces.starts.tolist()
    recordings = list(map(str, pieces.names[1].tolist()))
    if places and any(recordings):  # several may start at one step
        places = list(zip(places, recordings, strict=True))
    ends = [*first[1:].tolist(), len(names)]
    known: dict[tuple[Hashable, ...], tuple[Hashable, ...]] = {}
    for number, (low, high) in enumerate(zip(first.tolist(), ends, strict=True)):
        shape, starts = tuple(lengths[low:high]), tuple(places[low:high])
        shape, starts = known.setdefault(shape, shape), known.setdefault(starts, starts)
        runs = () if complete[number] else seen.observed_through(range(low, high))
        yield Unit(names[low], pieces, sizes[number], complete[number], runs, shape=shape, starts=starts, number=low)


def _numbers_of(units: Sequence[Unit]) -> IntArray:
    """Return the numbers of the pieces of some units."""
    first = np.array([unit.number for unit in units], dtype=np.int64)
    many = np.array([len(unit.shape) for unit in units if isinstance(unit.shape, tuple)], dtype=np.int64)
    before = np.cumsum(many) - many
    numbers: IntArray = np.repeat(first - before, many) + np.arange(many.sum())
    return numbers
