"""What a release file of sequences means: the faults that no single key shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from takifugu.core.column_words import people_of
from takifugu.core.errors import InputError, TakifuguError, gathered
from takifugu.core.sections import values_of, written
from takifugu.data import Calendar, Slots, axes_of, steps_in
from takifugu.data.relation.keys import OF_ROWS
from takifugu.data.relation.source import Table
from takifugu.data.times.cells import AXES
from takifugu.model.beliefs.chains.declared_chain import ChainSection
from takifugu.model.beliefs.one_sequence import OneSequence
from takifugu.model.queries import Query
from takifugu.model.queries.registry import KINDS
from takifugu.releasing.file.calendars import WINDOW_KEYS, calendar_faults, has_key, window_of
from takifugu.releasing.file.keys import names_of
from takifugu.releasing.file.kind import Kind
from takifugu.releasing.file.problems import (
    blamed,
    blamed_keys,
    broken,
    fault,
    faults_at,
    stranger,
    undeclared,
)
from takifugu.releasing.file.public import collecting, faults_of, private_keys, revealed
from takifugu.releasing.file.published_words import people_named
from takifugu.releasing.file.relation_keys import UNOPENED, is_there
from takifugu.releasing.file.sections import numbered
from takifugu.releasing.file.sequences import cells, runs
from takifugu.releasing.file.sequences.fitting import PublicSequences
from takifugu.releasing.file.sequences.runs import declared_source
from takifugu.releasing.file.sequences.sections import (
    EntrySpec,
    EveryRunSpec,
    Hide,
    ItemSpec,
    ReleaseSpec,
    SequenceBelief,
    SourceSpec,
    calls_steps_a_time,
)
from takifugu.releasing.file.shape import Parts, opened

#: The keys of [source] that name states.
_OF_STATES = ("bins", "default_state")


def meaning_of(kind: Kind, spec: ReleaseSpec, faulty: frozenset[str], folder: Path, data: object = None) -> Parts:
    """Return the meaning of a release file's well-formed keys; invalid sections are None."""
    # `faulty` keys have an example in their place, and nothing that depends on them is checked
    source: SourceSpec | None = spec.source
    belief: SequenceBelief | None = spec.belief
    hide: Hide | None = spec.hide
    problems, table, chain = list[TakifuguError](), None, None
    if source is not None:
        problems += _twice_named(source)
        declared = None
        if faulty.isdisjoint(f"source.{key}" for key in OF_ROWS):
            with gathered(problems, _of_rows):
                declared = declared_source(spec, has_states="belief.states" not in faulty)
        if declared is not None:
            # A calendar is planned before there is a recording; who reads it says that it is missing.
            is_planned = source.from_ is not None and not is_there(source, folder, data)
            if not is_planned and data is not UNOPENED:
                table, faults = opened(kind.facts, spec, None, folder, data)
                if "belief.states" in faulty:  # examples stand for them, so nothing is said of what names states
                    table, faults = None, [error for error in faults if error.where[-1] not in _OF_STATES]
                problems += faults
            problems += runs.faults_of(source, belief, folder, data)
            if source.roster is not None:
                with gathered(problems, _of_rows):
                    roster = runs.roster_of(declared, folder)
                    problems += cells.faults_of(roster, spec.table)
                    if roster is not None:
                        states = () if belief is None else belief.states
                        problems += people_named(source, roster.names.tolist(), states)
        if source.roster is None:
            problems += cells.faults_of(None, spec.table)
        problems += _calendar(source, belief, hide, spec.table)
    if belief is not None:
        chain = _believed(spec, faulty, folder, data, table, problems)
    if isinstance(hide, EveryRunSpec) and source is not None and not {"hide.length", "source.step"} & faulty:
        with suppress(InputError):  # a step that is none is told with the source
            problems += faults_at(("hide", "length"), partial(steps_in, hide.length, source.length))
    if isinstance(hide, EntrySpec):
        with_states = None if "belief.states" in faulty else belief
        problems += _hide(hide, source, with_states)
    for number, item in numbered(spec.table):
        if source is not None and "source.unit" not in faulty:
            problems += _table(item, number, source)
    return chain, None, table, problems


def _of_rows(error: TakifuguError) -> list[TakifuguError]:
    """Return the faults of an error about the rows, each at its key of [source]."""
    return blamed_keys(error, "source")


def _believed(
    spec: ReleaseSpec, faulty: frozenset[str], folder: Path, data: object, table: Table | None,
    problems: list[TakifuguError],
) -> OneSequence | None:
    """Return the chain of one step, or add the faults of [belief] to `problems`."""
    belief: SequenceBelief = spec.belief
    source: SourceSpec | None = spec.source
    problems += (own := list(_belief(belief, source, faulty)))
    kind_keys = {f"belief.{key}" for key in type(belief).model_fields.keys() - SequenceBelief.model_fields.keys()}
    odd = [] if faulty & kind_keys else list(faults_of(belief))
    problems += odd
    has_odd_states = any(error.where == ("belief", "states") for error in own)
    if odd or has_odd_states or any(key.startswith("belief.") for key in faulty):
        return None
    private_faults = [] if source is None else list(private_keys(spec, folder, data))
    private_faults += [] if table is None else revealed(spec, folder, table)
    problems += private_faults
    if private_faults:  # of private data no belief is made, nor said what is wrong with one
        return None
    ways = belief.meant.ways if isinstance(belief.meant, ChainSection) else ()
    timed = {"fit", "matrices", "mean_duration", "mean_durations"}
    if timed & {*ways} and (source is None or _lacks_calendar(belief, source)):
        return None  # which is told with the source
    chain: OneSequence | None = None
    with collecting(problems, belief):
        chain = belief.meant.belief(PublicSequences(folder, source, belief, table, data))
        is_later = source is not None and source.from_ is not None and chain.has_given_start
        problems += broken(
            (tuple(map(str, chain.states)) != tuple(map(str, belief.states)), "belief.states",
             "are not those that the belief is about", "write all of them, in its order"),
            (is_later, "source.from", "starts a calendar, and the belief does not say what holds from a later step on",
             "leave it out, and publish whole sequences"),
        )  # fmt: skip
    return chain


def _twice_named(source: SourceSpec) -> Iterator[TakifuguError]:
    """Yield a fault for each role whose column has another one, too."""
    roles = [*values_of(source, ("value", "unit", "recording", "order", "end")).items()]
    for number, (key, column) in enumerate(roles, start=1):
        other = next((f"source.{name}" for name, text in roles[number:] if text == column), "")
        yield from broken((column and other, f"source.{key}", f"{column!r} has another meaning in this file, that of "
                           f"{other}", "name another column"))  # fmt: skip


def _lacks_calendar(belief: Any, source: SourceSpec) -> bool:
    """Return whether matrices are by an incomplete calendar."""
    if belief.matrix_by is None or source.from_ is None:
        return False
    try:
        return source.calendar is None
    except TakifuguError:
        return True


def _belief(belief: SequenceBelief, source: SourceSpec | None, faulty: frozenset[str]) -> Iterator[TakifuguError]:
    """Yield the faults of independence, and of the names of states."""
    if source is not None and source.recording is not None and belief.recordings_independent is not True:
        yield undeclared("recording", "recording")
    if source is not None and source.unit is not None and belief.units_independent is not True:
        yield undeclared("unit", people_of(source.unit, source.called).one)
    if "belief.states" not in faulty:
        texts = list(map(str, belief.states))
        yield from broken(
            (len(set(texts)) != len(texts), "belief.states", f"{texts} repeats a name", "name each state once"),
            ("" in texts, "belief.states", "'' is nothing, which no row says", "write a word for it, in the data, too"),
        )  # fmt: skip


def _calendar(
    source: SourceSpec, belief: SequenceBelief | None, hide: Hide | None, items: Sequence[ItemSpec | None]
) -> Iterator[TakifuguError]:
    """Yield the faults of a calendar, its windows, and unfit keys."""
    if source.from_ is not None and source.step is not None:
        leave, any_start = "leave it out", 'write "stationary", or "any" to hide the data from every belief'
        as_long = "is given beside a calendar, in which windows are as long as declared"
        said = values_of(belief, written(belief, ("max_length", "initial")))
        yield from broken(
            (source.recording, "source.recording", "is given beside a calendar, in which each person has one", leave),
            (said.get("max_length", 1) != 1, "belief.max_length", as_long, leave),
            (isinstance(said.get("initial"), tuple), "belief.initial",
             "is that of one step, and a window starts at another", any_start),
            (isinstance(hide, EntrySpec), "hide.kind",
             "'one-entry' numbers the entries of one sequence, and each window starts at another step",
             'write kind = "every-entry"'),
        )  # fmt: skip
    states = 0 if belief is None else len(belief.states)

    def needs(item: ItemSpec, key: str) -> bool:
        if key == "by":
            return not {*names_of(item.by)}.isdisjoint(AXES)
        return has_key(item, key)

    yield from calendar_faults(source, items, (*WINDOW_KEYS, "by"), needs, partial(_window, source, states))


def _window(
    source: SourceSpec, states: int, item: ItemSpec, number: int, calendar: Calendar
) -> Iterable[TakifuguError]:
    """Return the faults of a table of a good window."""
    if source.hides_gaps and item.query in ("mean", "linear"):
        fix = 'write gaps = "public" under [source] if everybody may know that, or publish a sum'
        what = f"a {item.query} of a window depends on which of its steps were observed"
        return [fault(("table", number, "query"), what, fix)]
    if item.by is None or not states or not set(names_of(item.by)) <= set(AXES):
        return ()  # what is no axis is told with the attributes
    try:
        axes = axes_of(names_of(item.by), calendar)
    except TakifuguError as error:
        return [blamed(error, "table", number, "by")]
    if item.every is not None and item.window is None:
        _, window = next(calendar.periods(item.every))
    else:
        window = window_of(item, calendar)
    slots = Slots(calendar, window, axes)
    problem = f"makes {len(slots.cells[0]):,} cells, too many for one table"
    fix = "write a shorter window, or a longer part of the calendar"
    return broken((cells.is_too_large(item, slots, states), f"table.{number}.by", problem, fix))


def _hide(hide: EntrySpec, source: SourceSpec | None, belief: SequenceBelief | None) -> Iterator[TakifuguError]:
    for key in written(source, ("unit", "recording")):
        what = f"'one-entry' hides one entry of one sequence, and source.{key} says that there are several"
        yield fault(("hide", "kind"), what, f'write kind = "every-entry", or leave source.{key} out')
    if belief is not None:
        for key, state in (("a", hide.a), ("b", hide.b)):
            if state not in belief.states:
                yield stranger(("hide", key), state, "state", belief.states)
    fix = "write the other state that the entry may have"
    yield from broken((hide.a == hide.b, "hide.b", f"is {hide.b!r}, as a is", fix))


def _table(item: ItemSpec, number: int, source: SourceSpec) -> Iterator[TakifuguError]:
    """Yield the faults of a table beside the keys of [source]."""
    place, is_count = f"table.{number}", (KINDS.get(item.query) or Query).is_count
    yield from broken(
        (item.per != "pooled" and source.unit is None, f"{place}.per",
         f"is {item.per!r}, and no column says whose row it is", 'write source.unit, or per = "pooled"'),
        (item.query == "linear" and source.unit is not None and item.per != "unit", f"{place}.per",
         "a linear query weighs the entries of one sequence", 'write per = "unit"'),
        (is_count and calls_steps_a_time(item.measured_in, source.step), f"{place}.measured_in",
         f"is {item.measured_in!r}, and numbers of steps of {source.step} would be called so",
         'write a time alone, measured_in = "hours", and the rest as title'),
    )  # fmt: skip
