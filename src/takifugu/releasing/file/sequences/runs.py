"""What rows say, where they are changes of a state, stays or events: what is checked of them, the roster, and words.

When a person is covered is declared or comes from a public list, and is never seen in the rows: the first and the last
change of somebody are themselves secrets.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from takifugu.core.assumptions import Assumption, check, public, reading
from takifugu.core.errors import DataError, TakifuguError
from takifugu.core.files import private_folder
from takifugu.core.sections import written
from takifugu.data.relation.keys import Source
from takifugu.data.relation.roster import Roster, read_roster
from takifugu.data.values.spellings import meant
from takifugu.releasing.file.problems import broken
from takifugu.releasing.file.relation_keys import private_files, reads_one_of
from takifugu.releasing.file.sequences.sections import SequenceBelief, SourceSpec, read_by


def declared_source(spec: Any, has_states: bool = True) -> Source:
    """Return the source of a file's keys; InputError, or SpecError, for keys that do not fit together."""
    keys, states, _ = read_by(spec, None)
    if not has_states or not states:
        # without the states nothing is said of those that keys name
        keys.pop("default_state", None)
        states = ()
    return Source.of(keys, states)


def faults_of(source: SourceSpec, belief: SequenceBelief | None, folder: Path, data: object) -> Iterator[TakifuguError]:
    """Yield the faults of a roster that is the private data, and of a fit beside runs."""
    roster, is_private = source.roster, False
    if isinstance(roster, str):
        is_private = reads_one_of(roster, folder, private_files(source, folder, data))
    ways = "mean_durations or matrices" if written(belief, ("matrix_by",)) else "mean_duration or a matrix"
    has_no_state = source.rows in ("stays", "events") and source.default_state is None and source.nulls == "refuse"
    yield from broken(
        (has_no_state, "source.default_state", f"is missing, so the times of {source.rows} would be no secret",
         'write the state of all other steps, such as default_state = "off"; or nulls = "unobserved", if public'),
        (is_private, "source.roster", "is the private data itself, so it is no public list", "write another file"),
        (source.are_runs and written(belief, ("fit",)), "belief.fit",
         f"counts transitions row by row, and rows are {source.rows}",
         f"write {ways} instead"),
    )  # fmt: skip


def roster_of(source: Source, folder: Path) -> Roster | None:
    """Return the declared roster; DataError for one that is unclear."""
    with private_folder() as room:
        roster = read_roster(source, folder, room)
    if roster is not None and source.unit is not None:
        meant([(str(name), None) for name in roster.names.tolist()], source.unit, "roster")
    return roster


def refuse_future(source: SourceSpec) -> None:
    """Raise DataError for runs whose calendar has not ended: what lasts until then is not known."""
    calendar = source.calendar
    if calendar is None or calendar.size is None or calendar.is_over(range(calendar.size)):
        return
    raise DataError(
        f"rows are {source.rows}, and the data are declared to run until a time that has not come",
        rule="what lasts until then is not known", fix="write when the data were exported",
    ).at("until")  # fmt: skip


def words_of(source: SourceSpec, people: str, run: int = 1) -> Iterator[Assumption]:
    """Yield a certificate's words on rows other than samples."""
    if not source.are_runs:
        return
    row_noun, step = source.rows.removesuffix("s"), "one step"
    if source.calendar is not None:
        step = f"one step of {source.calendar.length}"
    if run > 1:
        step = f"any {run} {step.removeprefix('one ').replace('step', 'steps', 1)} in a row, together"
    if source.rows == "events":
        secret = f"The secret is the state in {step}: which event, if any."
        if source.default_state is None:
            secret = f"The secret is the state in {step}: which event, not whether there is one."
        yield reading(f"A row is an event, and its step has its state. {secret}")
    else:
        lasts = {"changes": "until the next one"}.get(source.rows, "from its start up to its end")
        secret = f"The secret is the state in {step}, not all of the {row_noun}."
        if run > 1:
            secret = f"The secret is the state in {step}: all of a {row_noun} that lasts no longer, not of others."
        yield reading(f"A row is a {row_noun} that holds {lasts}. {secret}")
        yield reading("A step has the state at its start. Changes within a step are not counted.")
    clause = "From when until when the data run is public"
    if source.unit:
        clause = f"Which {people} there are, and from when until when each is covered, is public"
    yield public(f"{clause}, and declared: no row decides it.")
    # a later `until` over an old export would count what nobody recorded
    without_row = {"changes": "each last state goes on"}.get(source.rows, f"there is no further {row_noun}")
    yield check(f"The data are declared complete until {source.until}: after the last row of the file {without_row}.")
    if source.default_state is not None and source.rows == "changes":
        yield reading(f"Before a first row the state is {str(source.default_state)!r}.")
    elif source.default_state is not None:
        yield reading(f"In a step without any {row_noun} the state is {str(source.default_state)!r}.")
    elif source.rows != "changes":
        yield public(f"In which steps there is no {row_noun} is no secret.")
