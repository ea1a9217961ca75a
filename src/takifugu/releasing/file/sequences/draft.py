"""The first draft of a release file of sequences: what the columns seem to be, and what only its author can know.

Nothing that depends on the data goes into the draft as a setting: no bounds, no lengths, no states. The labels in the
state column are listed in a comment, because a person needs them as a reminder; the comment says what they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from takifugu.core.text.toml import toml_of
from takifugu.data.kinds import TIMES
from takifugu.releasing.file.drafting import EPSILON, WIDTH, Start, comment, line, listed, plain, release_lines, to_name
from takifugu.releasing.file.guessing.columns import Column, looked_at
from takifugu.releasing.file.guessing.seen import DIGITS
from takifugu.releasing.file.keys import ROWS

_LONGEST_LABEL = 60

_NO_ORDER = (
    "No column seems to order the rows, so they count as steps in time in the order of the file. If each row is a "
    "separate record (a person, a case), this is the wrong kind of belief: see the page about records in the docs."
)
_NEEDS = {"unit": "with units_independent: ", "piece": "with pieces_independent: "}
_WHAT = {
    "unit": "whose row it is",
    "piece": "an unbroken run of rows of one person; a new one starts after a gap",
    "order": "what sorts the rows of a piece",
    "value": "the state",
}


def draft(start: Start) -> Iterator[str]:
    """Yield the lines of a release file, valid as soon as those that say FILL IN are filled in."""
    columns = start.columns
    rows = start.said.get("rows") or "samples"
    yield from _source(start, columns, rows)
    yield from _chain(columns, rows) if start.kind.startswith("markov-chain") else start.believed
    yield from _pieces(columns, rows)
    yield from _rest(columns)


def _source(start: Start, columns: Sequence[Column], rows: str) -> Iterator[str]:
    by_role = {c.role: c for c in columns if c.role is not None}
    examples = _examples(columns)
    timed = "order" in by_role and (by_role["order"].kind == TIMES or by_role["order"].form is not None)
    yield from start.source(rows, _row_words(start, rows, timed))
    if rows != "samples":
        yield from _of_runs(start, by_role, rows)
        yield start.budget("the most epsilon that a person may ever spend")
        yield ""
        return
    for role in ("unit", "piece", "order", "value"):
        if role in by_role:
            clock = by_role.get("clock") if role == "order" else None
            name = by_role[role].name if clock is None else [by_role[role].name, clock.name]
            yield line(f"{role} = {toml_of(name)}", by_role[role].guess(_WHAT[role]))
            if clock is not None and clock.form == DIGITS:
                yield from comment("Each time of day has four digits (0930, not 930).")
            if role == "order" and by_role[role].form is not None:
                yield from _format_lines(by_role[role], "" if clock is None else f" {clock.form}")
        elif role == "value":
            yield from comment(
                "FILL IN the column with the states, one of "
                f"{listed(columns)}. It has few different values; of numbers, say which count as which state: "
                "bins = { low = [0, 10], high = [10, 100] }."
            )
            yield f"# value = {toml_of(examples[role].name if role in examples else columns[0].name)}"
        else:
            if role in examples:
                calendar = "instead of from, until, every, by, " if role == "piece" and timed else ""
                needs = f"{calendar}{_NEEDS.get(role, '')}"
                yield line(f"# {role} = {toml_of(examples[role].name)}", f"{needs}{_WHAT[role]}")
            if role == "order":
                yield from comment(_NO_ORDER)
    if timed and by_role["order"].is_set_back:
        yield from comment("FILL IN the zone of the clock: it was set back, and what it shows twice is two steps.")
        yield '# timezone = "Europe/Berlin"'
    elif timed and by_role["order"].kind == TIMES:
        yield line('# timezone = "Europe/Berlin"', "the zone of the clock, if it is changed twice a year")
    step = start.said.get("step")
    if step is not None:
        yield line(f"step = {_step(step)}", "the step between rows, some of which may be missing")
    elif timed:
        yield line('# step = "1min"', "the step between rows, if rows may be missing")
    if "order" in by_role and by_role["order"].is_repeated:
        yield line('# duplicates = "first"', "a few rows are repeated as a whole: which of them counts")
    if timed and "piece" not in by_role:  # a calendar has one recording of each unit
        yield line('# from = "2026-01-05"', "with step and until: its first day; then tables may be weekly, or by hour")
        yield line('# until = "2026-12-28"', "with step and from: the day after its last")
    if step is None and not timed and ("order" in by_role or "order" in examples):
        needs = "" if "order" in by_role else "with order: "
        yield line("# step = 1", f"{needs}the step between rows, in numbers of that column, if rows may be missing")
    yield start.budget("the most epsilon that a person may ever spend")
    yield ""


def _row_words(start: Start, rows: str, timed: bool) -> str:
    """Say what a row says: as it was decided, or as it is guessed, with what else it may be."""
    if "rows" in start.said:
        return f"a row says {ROWS[rows]}"
    lasting = '; "changes", "stays" if what it says lasts, "events" if it happened then' if timed else ""
    return f"guessed: each row is one step{lasting}"


def _step(step: str) -> str:
    return step if step.isdigit() else toml_of(step)


def _of_runs(start: Start, by_role: Mapping[str, Column], rows: str) -> Iterator[str]:
    """Yield the keys of changes, stays and events: who is covered, from when to when, is declared."""
    for role, words in {**_WHAT, "start": "when a stay starts", "end": "when it ends"}.items():
        if role in by_role and role != "piece":
            clock = by_role.get("clock") if role == "order" else None
            name = by_role[role].name if clock is None else [by_role[role].name, clock.name]
            yield line(f"{role} = {toml_of(name)}", by_role[role].guess(words))
            if role in ("order", "start") and by_role[role].form is not None:
                yield from _format_lines(by_role[role], "" if clock is None else f" {clock.form}")
    step = start.said.get("step")
    if step is None:
        yield from comment("FILL IN how long a step is: shorter than what you want to see.")
    yield line(f"{'# ' * (step is None)}step = {toml_of(step or '1min')}", "what is counted are steps of this length")
    yield from comment("FILL IN from when to when it was recorded: the day at which the data were exported comes last.")
    yield '# from = "2026-01-05"'
    yield '# until = "2026-02-02"'
    if "unit" in by_role:
        yield from comment("FILL IN all there are, from a public list: its file, or their names; not from these data.")
        yield '# roster = ["Ana", "Ben"]'
    if rows == "changes":
        yield line('# before = "still"', "if it is a fact that everybody was in this state until a first row")
    else:
        yield from comment(f"FILL IN the state of somebody who has no {rows.removesuffix('s')} then.")
        yield '# otherwise = "still"'
        yield line('# overlap = "first"', "which of several rows at one time counts")
    yield line('# timezone = "Europe/Berlin"', "the zone of the clock, if it is changed twice a year")


def _format_lines(column: Column, clock: str) -> Iterator[str]:
    """Yield the format of the order; no guess is written where the dates can be read in two ways."""
    form = f"{column.form}{clock}"
    if column.or_form is None:
        yield line(f"order_format = {toml_of(form)}", "guessed: how its times are written")
        return
    other = f"{column.or_form}{clock}"
    if column.is_unclear:
        yield from comment(
            f"FILL IN how its times are written: {toml_of(form)} and {toml_of(other)} fit all inspected rows, so "
            "nothing tells which number is the day and which the month. Read the wrong way, tables are of wrong days."
        )
        yield 'order_format = "FILL IN"'
        return
    yield from comment(f"{toml_of(other)} fits, too, but then the rows would not rise. Check which is the day.")
    yield line(f"order_format = {toml_of(form)}", "guessed: how its times are written")


def _examples(columns: Sequence[Column]) -> dict[str, Column]:
    guessed = {column.role for column in columns}
    return to_name(columns, [role for role in ("value", "unit", "order", "piece") if role not in guessed])


def _chain(columns: Sequence[Column], rows: str) -> Iterator[str]:
    timed = any(c.role in ("order", "start") and c.kind == TIMES for c in columns)
    yield line("[belief]", "what somebody who wants to know a secret may believe about the data")
    yield 'kind = "markov-chain"'
    yield ""
    yield from comment(
        "FILL IN the states as they are known without the data (a code book, a questionnaire): all that can occur, "
        "whether or not they do."
    )
    yield from _labels(columns)
    yield '# states = ["still", "walking"]'
    yield ""
    yield from comment(
        "FILL IN how many steps each state lasts at a time on average, and how often each comes when another ends: "
        "from literature or judgement, not from these data. `takifugu beliefs` lists what was published."
    )
    yield "# stay = { still = 100, walking = 6 }"
    yield "# next = { still = 0.6, walking = 0.4 }"
    if timed:
        stay = '# stay = { still = "100 min", walking = "6 min" }'
        yield line(stay, "instead of stay, with step: the same in time")
    yield from comment("Or, instead of stay, next: how likely each state (row) is followed by each; rows sum to 1.")
    yield "# matrix = [[0.9, 0.1], [0.4, 0.6]]"
    if rows == "samples":  # what is fitted counts transitions row by row
        fit = '# fit = { file = "public.csv", confidence = 0.99 }'
        yield line(fit, "instead of stay, next: the class that a file with the same columns supports")
    yield ""
    yield line('source = "assumed"', "FILL IN where the belief comes from; the certificate prints it")


def _pieces(columns: Sequence[Column], rows: str) -> Iterator[str]:
    """Yield the keys of [belief] about units and their pieces."""
    roles, examples = {c.role for c in columns}, _examples(columns) if rows == "samples" else {}
    timed = any(c.role == "order" and c.kind == TIMES for c in columns)
    if "piece" in roles:
        yield ""
        yield from comment("FILL IN: does one piece of a person say nothing about its others? Only then write this.")
        yield "# pieces_independent = true"
    elif "piece" in examples:
        yield line("# pieces_independent = true", "with piece: one piece says nothing about the others")
    if "unit" in roles:
        yield ""
        yield from comment(
            "FILL IN: does one person say nothing about the others (no families, no shared rooms)? "
            "Only then write this."
        )
        yield "# units_independent = true"
    elif "unit" in examples:
        yield line("# units_independent = true", "with unit: one person says nothing about the others")
    yield ""
    if rows != "samples":
        yield line('# map = { "as in the data" = "still" }', "values of the data that count as one of the states")
        yield ""
        return
    instead = "instead of from, until, every and by: " if timed else ""
    yield line("# max_length = 1000", f"{instead}the most steps of a piece, known without the data")
    yield line('# longer = "cut"', "with max_length: cut a longer piece, and do not refuse it")
    yield line('# map = { "as in the data" = "still" }', "values of the data that count as one of the states")
    yield ""


def _labels(columns: Sequence[Column]) -> Iterator[str]:
    values = next((c for c in columns if c.role == "value"), None)
    if values is None or any(len(label) > _LONGEST_LABEL for label in values.labels):
        return
    yield from comment(
        f"A reminder from the first {looked_at(len(columns)):,} rows of the data. Declare the states from public "
        "knowledge, and delete this reminder before others see this file: which of them occur depends on the data."
    )
    row = "#  "
    for label in sorted(values.labels):
        text = f" {plain(toml_of(label))}"
        if len(row) + len(text) > WIDTH:
            yield row
            row = "#  "
        row += text
    yield row


def _rest(columns: Sequence[Column]) -> Iterator[str]:
    has_units = any(c.role == "unit" for c in columns)
    yield "[hide]"
    yield line('kind = "every-entry"', "the state in every single row")
    yield ""
    words = 'how many rows are in each state; or "count" with states = [...]'
    yield from release_lines("time-in-states", "histogram", words)
    yield EPSILON
    if has_units:
        yield line('per = "pooled"', 'one table for all people; "unit" makes one for each of them')
    timed = any(c.role in ("order", "start") and c.kind == TIMES for c in columns)
    if timed and all(c.role != "piece" for c in columns):
        yield line('# every = "week"', "with step, from and until: a table for each week, `--window 2026-W07` for one")
        yield line('# by = "hour"', "with step, from and until and every: a cell for each hour of the day")
