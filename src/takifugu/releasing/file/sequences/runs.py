"""What rows say, where they are changes of a state, stays or events: the keys of [source] about it, and the roster.

When a person is covered is declared or comes from a public list, and is never seen in the rows: the first and the last
change of somebody are themselves secrets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import timedelta
from fractions import Fraction
from functools import partial
from pathlib import Path

from takifugu.core.errors import DataError, TakifuguError
from takifugu.core.lists import among
from takifugu.core.people import PEOPLE
from takifugu.core.sections import values_of, written
from takifugu.data import meant, parse_step
from takifugu.data.relation.opening import files_read
from takifugu.data.runs.rules import Ends, RunRules
from takifugu.data.times.moments import Moment, moment
from takifugu.data.times.time_format import EPOCHS
from takifugu.releasing.file.keys import LASTING
from takifugu.releasing.file.problems import broken, faults_at, strange_states
from takifugu.releasing.file.public import PublicTable
from takifugu.releasing.file.sequences.source import SequenceBelief, SourceSpec
from takifugu.releasing.file.source import is_one_of, private_files

#: The rows that have a key of [source], of the keys that not all rows have.
_ROWS_WITH: Mapping[str, tuple[str, ...]] = {
    "default_state": LASTING, "roster": LASTING, "end": ("stays",), "duration": ("stays",),
    "overlap": ("stays", "events"), "columns": ("wide",), "ignore": ("wide",),
    "empty": ("wide",), "recording": ("samples", "wide"),
    "attributes": ("samples", "wide"), "round_to": ("samples",), "duplicates": ("samples", *LASTING),
}  # fmt: skip
_COVERED = "no row says which time the table covers, so declare it; "
#: The keys that some rows must have: for which, and what to write.
_NEEDED = (
    ("from_", LASTING, f'{_COVERED}write from = "2026-01-05"'), ("step", LASTING, f'{_COVERED}write step = "1min"'),
    ("until", LASTING, f'{_COVERED}write until = "2026-02-02", when the data were exported'),
    ("columns", ("wide",), 'write the headers that are steps, or a pattern of them: columns = "2026-*"'),
    ("order", ("wide",), 'write what headers are called from now on: order = "day"; beside a column of days, both'),
    ("order", ("changes", "events"), "write the column that says when each {row} was"),
    ("order", ("stays",), "write the column that says when each stay starts"),
    ("default_state", ("stays", "events"), "write the state in which somebody is who has no {row}"),
)  # fmt: skip
_ROSTER = 'write roster = "people.csv", a public list with the column {!r} (and from, until), or the names themselves'


def faults_of(
    source: SourceSpec, belief: SequenceBelief | None, folder: Path, data: object
) -> Iterator[TakifuguError]:
    """Yield the faults of the keys about a row's meaning."""
    rows, are = source.rows, f"rows are {source.rows}"
    for key, value in values_of(source, _ROWS_WITH).items():
        some = _ROWS_WITH[key]
        fix = f'write rows = "{some[0]}" if rows are {" or ".join(some)}, or leave it out'
        is_written = value not in (None, "refuse", {}, ())
        yield from broken((is_written and rows not in some, f"source.{key}", f"is given, and {are}", fix))
    for key, some, fix in _NEEDED:
        is_missing, fix = rows in some and getattr(source, key) is None, fix.format(row=rows.removesuffix("s"))
        yield from broken((is_missing, f"source.{key.removesuffix('_')}", "is missing", fix))
    for key, state in values_of(source, ("default_state", "empty")).items():
        if state is not None and belief is not None:
            yield from strange_states(("source", key), [state], belief.states)
    if rows == "wide":
        map_of = {} if belief is None else belief.map
        yield from broken(
            (source.order_format in EPOCHS, "source.order_format",
             f"is {source.order_format!r}, and times are headers",
             "write the headers with their times: columns = { ... }"),
            (source.empty is not None and source.bins is not None, "source.empty",
             "is given beside bins, and cells are numbers", "leave it out, or the bins"),
            (source.empty is not None and map_of.get(str(source.empty), source.empty) != source.empty, "source.empty",
             f"is {source.empty!r}, which map reads as another state", "rename the state"),
        )  # fmt: skip
    if rows == "stays":
        yield from _ends_of_stays(source)
    if not source.are_runs:
        return
    dropped = f"leaves rows out, and {are}: without a row another state seems to last"
    yield from broken(
        (source.null_keys == "drop", "source.null_keys", dropped, "repair them"),
        (source.ambiguous == "drop", "source.ambiguous", dropped,
         'repair them, or write ambiguous = "first" or "last"'),
        (written(belief, ("fit",)), "belief.fit", f"counts transitions row by row, and {are}",
         "write mean_duration and next_state, or a matrix"),
    )  # fmt: skip
    yield from _roster(source, folder, data)


def _ends_of_stays(source: SourceSpec) -> Iterator[TakifuguError]:
    start, end, duration, is_time = source.order, source.end, source.duration, True
    if duration is not None:
        is_time = False
        with suppress(TakifuguError):
            is_time = isinstance(parse_step(duration[1]), timedelta)
    has_two_dates = isinstance(end, tuple) and isinstance(start, tuple) and end[0] == start[0]
    yield from broken(
        ((end is None) == (duration is None), "source.end",
         "is missing" if end is None else "is given beside duration",
         'write end = "COLUMN", or duration = ["COLUMN", "1min"]'),
        (has_two_dates, "source.end", "has the date of order; a stay then ends at the first such time after its start",
         "write the column of the time of day alone"),
        (not is_time, "source.duration", f"counts in {duration and duration[1]!r}, which is no time",
         'write what a 1 is worth, such as ["minutes", "1min"]'),
    )  # fmt: skip


def _roster(source: SourceSpec, folder: Path, data: object) -> Iterator[TakifuguError]:
    roster, is_private = source.roster, False
    if isinstance(roster, str) and source.unit is not None:
        private = private_files(source, folder, data)
        is_private = any(is_one_of(file, private) for file in files_read(roster, folder))
    rule = f"which {PEOPLE.many} there are is declared, and not seen in their rows; "
    yield from broken(
        (roster is not None and source.unit is None, "source.roster", "is given, and no column says whose row it is",
         "name it, too"),
        (roster is None and source.unit is not None, "source.roster", "is missing",
         f"{rule}{_ROSTER.format(source.unit)}"),
        (is_private, "source.roster", "is the private data itself, so it is no public list", "write another file"),
    )  # fmt: skip
    if roster is None or source.unit is None or is_private:
        return
    try:
        _ = source.calendar
    except TakifuguError:  # which is told with the calendar
        return
    yield from faults_at(("source", "roster"), partial(covered_by, source, folder))


def notices_of(source: SourceSpec) -> Iterator[str]:
    """Yield the assumption about rows without a declared meaning."""
    if are_taken_for_samples(source):
        yield (
            "source.rows is not written, so each row counts as the state in its own step alone; if a row says what "
            "holds until the next one, from a start to an end, or that something happened then, write rows = "
            '"changes", "stays" or "events", else rows = "samples"'
        )


def are_taken_for_samples(source: SourceSpec) -> bool:
    """Return whether rows with possible times lack a declared meaning."""
    may_be_times = source.order is not None and not isinstance(source.length, Fraction)
    return may_be_times and "rows" not in source.model_fields_set


def run_rules(source: SourceSpec, folder: Path) -> RunRules:
    """Return the rules for rows; DataError for data from the future."""
    calendar = source.calendar
    assert calendar is not None  # which `faults_of` requires
    assert calendar.size is not None
    if not calendar.is_over(range(calendar.size)):
        raise DataError(
            f"rows are {source.rows}, and the data are declared to run until a time that has not come",
            rule="what lasts until then is not known", fix="write when the data were exported",
        ).at("until")  # fmt: skip
    duration, before, otherwise = None, None, source.default_state
    if source.rows == "changes":
        before, otherwise = source.default_state, None
    if source.duration is not None:
        unit = parse_step(source.duration[1])
        assert isinstance(unit, timedelta)
        duration = source.duration[0], unit // timedelta(microseconds=1)
    return RunRules(
        source.rows, covered_by(source, folder), before, source.end, duration, otherwise, source.overlap
    )


def covered_by(source: SourceSpec, folder: Path) -> dict[str | None, Ends]:
    """Return everybody's covered time; DataError for an unclear roster."""
    roster = source.roster
    if source.unit is None or roster is None:
        return {None: (None, None)}
    if not isinstance(roster, str):
        names = meant([(name, None) for name in roster], "roster", "unit")
        if len(names) < len(roster):
            raise DataError(f"names a {PEOPLE.one} twice", fix="name everybody once").at("roster")
        return dict.fromkeys(names.values(), (None, None))
    table = PublicTable(roster, folder, source.encoding, source, "roster")
    columns = [source.unit, *among(("from", "until"), table.names([source.unit]))]
    texts = table.texts(columns)
    if not texts or any(name is None for name, *_ in texts):
        problem = f"column {source.unit!r} of the roster has missing values"
        raise DataError(problem, fix="name everybody, once").at("roster")
    names = meant([(str(name), row) for row, (name, *_) in enumerate(texts)], source.unit, "unit")
    if len(names) < len(texts):
        problem = f"column {source.unit!r} of the roster names a {PEOPLE.one} twice"
        raise DataError(problem, rule="each is covered from one time until another", fix="write one line for each").at(
            "roster"
        )
    calendar = source.calendar
    zone, is_time = (None, True) if calendar is None else (calendar.zone, calendar.is_time)
    covered = dict[str | None, Ends]()
    for name, *ends in texts:
        times = dict[str, Moment]()
        for key, text in zip(columns[1:], ends, strict=True):
            if text is not None:
                times[key] = moment(text, is_time, "roster", zone)
        first, last = times.get("from"), times.get("until")
        if first is not None and last is not None and last <= first:
            raise DataError("somebody's until in the roster is not after their from", fix="repair it").at("roster")
        covered[names[str(name)]] = first, last
    return covered


def words_of(source: SourceSpec, people: str) -> Iterator[str]:
    """Yield a certificate's words on rows other than samples."""
    if are_taken_for_samples(source):
        yield "the file does not say what a row says; each one was counted as the state in its own step alone"
    if not source.are_runs:
        if source.rows == "wide":
            yield f"a row has a cell for each of its steps; which columns there are, alike for all {people}, is public"
        if source.empty is not None:
            yield f"who has an empty cell was {str(source.empty)!r} in its step"
        return
    row_noun, step = source.rows.removesuffix("s"), "one step"
    if source.calendar is not None:
        step = f"one step of {source.calendar.length}"
    if source.rows == "events":
        hidden = f"what is hidden is the state in {step}: which event, if any"
        yield f"a row is an event, and its step has its state; {hidden}"
    else:
        lasts = {"changes": "until the next one"}.get(source.rows, "from its start up to its end")
        hidden = f"what is hidden of it is the state in {step}, not all of the {row_noun}"
        yield f"a row is a {row_noun} that holds {lasts}; {hidden}"
        yield "a step has the state at its start; what changes within a step is not counted"
    clause = "from when until when the data run is public"
    if source.unit:
        clause = f"which {people} there are, and from when until when each is covered, is public"
    yield f"{clause}, and declared: no row decides it; the data are declared to be complete until {source.until}"
    if source.default_state is not None and source.rows == "changes":
        yield f"who has no row at or before the first step was {str(source.default_state)!r} until the first one"
    elif source.default_state is not None:
        yield f"who has no {row_noun} is {str(source.default_state)!r}"
    if source.overlap != "refuse" and source.rows == "events":
        yield f"of several events in one step the {source.overlap} one counts"
    elif source.overlap != "refuse":
        words = {"first": "the one that began first counts", "last": "the last one to begin ends the other"}
        yield f"of stays that overlap {words[source.overlap]}"
