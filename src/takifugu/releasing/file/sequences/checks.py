"""What a release file means: the faults that no single key shows, each as `path.in.file: what; what to write`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from takifugu.core.errors import TakifuguError
from takifugu.core.sections import values_of, written
from takifugu.data import Bins, Layout, Table, parse_step
from takifugu.model.beliefs.chains.declared_chain import ChainSection
from takifugu.model.beliefs.one_sequence import OneSequence
from takifugu.releasing.file.kind import Kind, undeclared
from takifugu.releasing.file.problems import blamed, fault, faults_at, never_read, stranger
from takifugu.releasing.file.public import collecting, faults_of, private_keys, revealed
from takifugu.releasing.file.sections import FileKeys
from takifugu.releasing.file.sequences import cells, measured, runs, windows
from takifugu.releasing.file.sequences.build import PublicSequences, columns_of_order
from takifugu.releasing.file.sequences.sections import EntrySpec, Hide, ItemSpec, ReleaseSpec
from takifugu.releasing.file.sequences.source import SequenceBelief, SourceSpec
from takifugu.releasing.file.shape import Parts, columns_of, opened, twice_named
from takifugu.releasing.file.source import UNOPENED, is_there


def meaning_of(kind: Kind, spec: ReleaseSpec, faulty: frozenset[str], folder: Path, data: object = None) -> Parts:
    """Return the meaning of a release file's well-formed keys.

    Invalid sections are None. `faulty` keys have an example in their place, and nothing that depends on them is
    checked. `data` replaces the source's file.
    """
    source: SourceSpec | None = spec.source
    belief: SequenceBelief | None = spec.belief
    hide: Hide | None = spec.hide
    problems, table, chain = list[TakifuguError](), None, None
    if source is not None:
        table, problems = _opened(kind, spec, faulty, folder, data)
        problems += _source(source)
        if "source.rows" not in faulty:
            problems += runs.faults_of(source, belief, folder, data)
        problems += windows.faults_of(source, belief, hide, spec.release)
        problems += cells.faults_of(source, spec.release)
    if belief is not None:
        chain = _believed(spec, faulty, folder, data, table, problems)
    if isinstance(hide, EntrySpec):
        with_states = None if "belief.states" in faulty else belief
        problems += _hide(hide, source, with_states)
    for number, item in enumerate(spec.release):
        if item is not None and source is not None:
            problems += [*_per(item, number, source), *measured.faults_of(item, number, source.step)]
    return chain, None, table, problems


def _opened(
    kind: Kind, spec: ReleaseSpec, faulty: frozenset[str], folder: Path, data: object
) -> tuple[Table | None, list[TakifuguError]]:
    """Open the source, unless it is planned, closed or faulty."""
    source = spec.source
    # A calendar is planned before there is a recording; who reads it says that it is missing.
    is_planned = source.from_ is not None and source.file is not None and not is_there(source, folder, data)
    opening = {f"source.{key}" for key in ("file", "missing", "rows", *FileKeys.model_fields)}
    if is_planned or data is UNOPENED or faulty & opening:
        return None, [*twice_named(columns_of(kind.facts, spec, None))]
    return opened(kind.facts, spec, None, folder, data)


def _believed(
    spec: ReleaseSpec,
    faulty: frozenset[str],
    folder: Path,
    data: object,
    table: Table | None,
    problems: list[TakifuguError],
) -> OneSequence | None:
    """Return the chain of one step, or add the faults of [belief] to `problems`."""
    belief: SequenceBelief = spec.belief
    source: SourceSpec | None = spec.source
    problems += _belief(belief, source, faulty)
    if source is not None and not faulty & {"belief.states", "belief.map", "source.missing"}:
        problems += never_read(("belief", "states"), belief.states, source.missing)
        problems += never_read(("belief", "map"), (), source.missing, belief.map)
        problems += _bins(belief, source)
    kind_keys = {f"belief.{key}" for key in type(belief).model_fields.keys() - SequenceBelief.model_fields.keys()}
    odd = [] if faulty & kind_keys else list(faults_of(belief))
    problems += odd
    if odd or any(key.startswith("belief.") for key in faulty):
        return None
    private_faults = [] if source is None else list(private_keys(spec, folder, data))
    private_faults += [] if table is None else revealed(spec, folder, table)
    problems += private_faults
    if private_faults:  # of private data no belief is made, nor said what is wrong with one
        return None
    ways = belief.meant.ways if isinstance(belief.meant, ChainSection) else ()
    if {"fit", "matrices", "stay", "stays"} & {*ways} and (source is None or _lacks_calendar(belief, source)):
        return None  # which is told with the source
    chain: OneSequence | None = None
    with collecting(problems, belief):
        chain = belief.meant.belief(PublicSequences(folder, source, belief, table))
        problems += _of_outside(belief, chain, source)
    return chain


def _source(source: SourceSpec) -> Iterator[TakifuguError]:
    if source.step is not None:
        yield from faults_at(("source", "step"), partial(parse_step, source.step))
        if source.times is None and not source.are_runs:  # of which `runs` says what is missing
            rule = 'steps are counted along an order column, write order = "<column>"'
            yield fault(("source", "order"), "is missing", rule=rule)
            return
    rules = values_of(source, ("order_format", "timezone", "round_to", "duplicates", "ambiguous"))
    try:
        order, time_of_day = columns_of_order(source.times)
        step = source.step if source.times else None
        Layout(source.value, order=order, time_of_day=time_of_day, step=step, **rules)
    except TakifuguError as error:
        if error.where[:1] != ("step",):  # which is told above
            yield blamed(error, "source", *error.where[:1])


def _belief(belief: SequenceBelief, source: SourceSpec | None, faulty: frozenset[str]) -> Iterator[TakifuguError]:
    texts = [str(s) for s in belief.states]
    if len(set(texts)) != len(texts):
        yield fault(("belief", "states"), f"{texts} repeats a name", "name each state once")
    for raw, state in belief.map.items():
        if "belief.states" not in faulty and state not in belief.states:
            yield stranger(("belief", "map", raw), state, "state", texts)
    if belief.longer == "cut" and belief.max_length is None:
        fix = "write the number of steps that a longer piece is cut to"
        yield fault(("belief", "max_length"), "is missing", fix)
    if belief.max_length is not None and belief.max_length < belief.min_length:
        yield fault(("belief", "max_length"), "is below min_length, so no piece would be left", "increase it")
    if source is not None and source.piece is not None and belief.pieces_independent is not True:
        yield undeclared("piece")
    if source is not None and source.unit is not None and belief.units_independent is not True:
        yield undeclared("unit")


def _bins(belief: SequenceBelief, source: SourceSpec) -> Iterator[TakifuguError]:
    """Yield the faults of bins, also beside states and a map."""
    if source.bins is None:
        return
    for name in set(source.bins) - {str(state) for state in belief.states}:
        yield stranger(("source", "bins"), name, "state", belief.states)
    if belief.map:
        yield fault(("belief", "map"), "is given beside source.bins", "write only one of them")
    yield from faults_at(("source", "bins"), partial(Bins, source.bins))


def _lacks_calendar(belief: Any, source: SourceSpec) -> bool:
    """Return whether matrices are by an incomplete calendar."""
    if belief.matrix_by is None or source.from_ is None:
        return False
    try:
        return source.calendar is None
    except TakifuguError:
        return True


def _of_outside(belief: SequenceBelief, chain: OneSequence, source: SourceSpec | None) -> Iterator[TakifuguError]:
    """Yield the faults of an external kind's belief about sequences."""
    if tuple(map(str, chain.states)) != tuple(map(str, belief.states)):
        yield fault(("belief", "states"), "are not those that the belief is about", "write all of them, in its order")
    if source is not None and source.from_ is not None and chain.has_given_start:
        problem = "starts a calendar, and the belief does not say what holds from a later step on"
        yield fault(("source", "from"), problem, "leave it out, and publish whole sequences")


def _hide(hide: EntrySpec, source: SourceSpec | None, belief: SequenceBelief | None) -> Iterator[TakifuguError]:
    for key in written(source, ("unit", "piece")):
        yield fault(
            ("hide", "kind"),
            f"'one-entry' hides one entry of one sequence, and source.{key} says that there are several",
            f'write kind = "every-entry", or leave source.{key} out',
        )
    for key, state in (("a", hide.a), ("b", hide.b)):
        if belief is not None and state not in belief.states:
            yield stranger(("hide", key), state, "state", belief.states)
    if hide.a == hide.b:
        yield fault(("hide", "b"), f"is {hide.b!r}, as a is", "write the other state that the entry may have")


def _per(item: ItemSpec, number: int, source: SourceSpec) -> Iterator[TakifuguError]:
    """Yield the fault of a table per unit without units."""
    if item.per != "pooled" and source.unit is None:
        problem = f"is {item.per!r}, and no column says whose row it is"
        yield fault(("release", number, "per"), problem, 'write source.unit, or per = "pooled"')
    if item.query == "linear" and source.unit is not None and item.per != "unit":
        problem = "a linear query weighs the entries of one sequence"
        yield fault(("release", number, "per"), problem, 'write per = "unit"')
