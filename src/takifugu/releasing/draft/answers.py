"""The keys of [source] that answers draft: a file or a SELECT, and each role as a column or an expression."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from takifugu.data.relation.words import identifier, literal
from takifugu.releasing.draft.evidence import Evidence, is_fitting
from takifugu.releasing.draft.forms import TIMES, name_of, value_of, without
from takifugu.releasing.draft.questions import (
    NONE,
    ROWS,
    TIMED,
    Answers,
    at,
    columns_in,
    full_readings,
    has_hours_twice,
    questions,
    unsaid,
)

#: What nothing tells, and is refused until it is filled in.
FILL_IN = "FILL IN"
_LISTED = "a public list: its file, or the names"
#: Keys that are written as they were answered.
_SAID = {
    "recording": "an unbroken run of rows", "from": "where the calendar starts", "until": "where it ends",
    "gaps": "whether steps without a row are public", "default_state": "the state where no row says one",
}  # fmt: skip
_MOVED = "the earlier hour of two in autumn is told by the order of rows; times that clocks skip in spring are moved"


@dataclass(frozen=True)
class Entry:
    """A key of a section, its value, and why; without a key the section alone."""

    section: str
    key: str
    value: object
    why: str = ""


@dataclass(frozen=True)
class Draft:
    """What a first text is made of: the answers, the table that they name, and the file to be written."""

    evidence: Evidence
    answers: Answers
    kind: str
    output: Path

    @property
    def values(self) -> tuple[str, ...]:
        """Return the columns that are published."""
        said = self.answers.get("value")
        return () if said is None else columns_in(said, self.evidence.types)

    @property
    def has_people(self) -> bool:
        return self.answers.get("unit", NONE) != NONE


def draft_of(evidence: Evidence, answers: Answers, kind: str | None, output: Path) -> Draft:
    """Return what answers draft, with those that are the only ones.

    Raises InputError for questions that are for the owner alone, and for an answer that is none.
    """
    said = {key: word for key, word in answers.items() if word is not None}
    if kind is not None:
        said["kind"] = kind
    while True:
        some = questions(evidence, said)
        clear = {question.name: question.offered for question in some if question.offered is not None}
        if not clear:
            break
        said |= {name: word for name, word in clear.items() if word is not None}
    if some:
        raise unsaid(some)
    kinds = {"visits": "asymmetric", "contacts": "contacts"}
    chosen = said.get("kind") or kinds.get(said["rows"], "markov-chain")
    return Draft(at(evidence, said), said, chosen, output)


def source_entries(draft: Draft) -> Iterator[Entry]:
    """Yield the keys of [source] that say how rows are read."""
    evidence, answers = draft.evidence, draft.answers
    roles = dict(_roles(draft))
    path = relative(Path(evidence.file), draft.output) if evidence.file else ""
    sql, twice = _sql(draft, roles, path), False
    if answers.get("timezone", NONE) != NONE and "order" in roles and answers["rows"] in TIMED:
        twice = has_hours_twice(evidence, answers)
        if twice:
            sql = _by_order(draft, path)
            roles["order"] = ("moment", "when, as a moment: " + _MOVED)
    layout = evidence.layout
    if evidence.file and (sql is None or evidence.tables):
        yield Entry("source", "file", path)
    if sql is not None:
        yield Entry("source", "sql", sql, "the rows, as a SELECT")
    elif layout is not None and layout.encoding is not None:
        yield Entry("source", "encoding", layout.encoding, "its bytes fit this codec: compare the letters of names")
    rows = "samples" if answers["rows"] == "wide" else answers["rows"]
    if rows not in ("visits", "contacts"):
        yield Entry("source", "rows", rows, f"a row says {ROWS[answers['rows']]}")
    for name, (text, why) in roles.items():
        yield Entry("source", name, text, why)
    if rows in TIMED:
        yield from _timed(draft)


def _timed(draft: Draft) -> Iterator[Entry]:
    """Yield the keys of rows that have a time."""
    answers, step = draft.answers, draft.answers["step"]
    if any(value_of(draft.evidence, column).is_measured for column in draft.values or draft.evidence.unpivoted[1:]):
        why = "the numbers that count as each state: { low = [0, 5], high = [5, inf] }"
        yield Entry("source", "bins", FILL_IN, why)
    if answers.get("nulls", "refuse") == "unobserved":
        yield Entry("source", "nulls", "unobserved", "a missing value was not recorded")
    yield Entry("source", "step", whole(step), "rows count steps of this length")
    if answers.get("timezone", NONE) != NONE:
        yield Entry("source", "timezone", answers["timezone"], "whose clocks say which hour and day a moment is in")
    for key, why in _SAID.items():
        if key in answers:
            yield Entry("source", key, whole(answers[key]), why)
    if "roster" in answers:
        yield Entry("source", "roster", roster_of(answers["roster"]), _LISTED)


def _roles(draft: Draft) -> Iterator[tuple[str, tuple[object, str]]]:
    """Yield the roles, each as a column or an expression, and why."""
    evidence, answers = draft.evidence, draft.answers
    if answers.get("where"):
        yield "where", (answers["where"], "which rows count")
    if draft.has_people and answers["rows"] != "contacts":
        unit = answers["unit"]
        yield "unit", (name_of(evidence, unit) if unit in evidence.types else unit, "whose row it is")
    if answers["rows"] in TIMED:
        for key, why in (("order", "when"), ("end", "when it ends")):
            if key in answers:
                yield key, (_time(draft, key), why)
    values = [_value(draft, column) for column in draft.values or evidence.unpivoted[1:]]
    if values:
        yield "value", (values if values[1:] else values[0], "what is published of a row")


def _time(draft: Draft, key: str) -> str:
    """Return when a row is; clocks become moments where a zone is declared."""
    (reading,) = full_readings(draft.evidence, draft.answers, key)
    zone = draft.answers.get("timezone", NONE)
    if reading.kind != TIMES or zone == NONE:
        return reading.sql
    return f"{_as_clocks(draft, reading.sql)} AT TIME ZONE {literal(zone)}"


def _as_clocks(draft: Draft, sql: str) -> str:
    text = identifier(sql) if sql in draft.evidence.types else sql
    return f"cast({text} AS timestamp)"


def _value(draft: Draft, column: str) -> str:
    value = value_of(draft.evidence, column)
    words = value.words if draft.answers.get("nulls") == "unobserved" else ()
    return without(value.sqls[0], words, [*draft.evidence.types])


def _sql(draft: Draft, roles: Mapping[str, tuple[object, str]], path: str) -> str | None:
    """Return the SELECT of the rows, None where the file alone gives them."""
    evidence = draft.evidence
    if evidence.unpivoted or (evidence.tables and "sql" in draft.answers):
        return evidence.select(path)
    if evidence.layout is None:
        return None
    names = list[tuple[str, str]]()
    for role, (text, _) in roles.items():
        names += [(role, str(part)) for part in (text if isinstance(text, list) else [text])]
    file = Path(evidence.file)
    if evidence.layout.is_plain and is_fitting(names, file, evidence.layout.encoding):
        return None
    return evidence.select(path)


def _by_order(draft: Draft, path: str) -> str:
    """Return the SELECT that tells the two hours of an autumn night by the order of rows."""
    evidence, answers = draft.evidence, draft.answers
    (reading,) = full_readings(evidence, answers, "order")
    clock = _as_clocks(draft, reading.sql.replace("strptime", "try_strptime") if evidence.where else reading.sql)
    zone, people = literal(answers["timezone"]), ""
    if draft.has_people:
        people = f"{evidence.judged(answers['unit'], 'unit')}, "
    later = f"{clock} AT TIME ZONE {zone}"
    return (
        f"WITH lines AS (SELECT *, row_number() OVER () AS line {evidence.select(path)})\n"
        f"SELECT *, {later} - CASE\n"
        f"  WHEN row_number() OVER (PARTITION BY {people}{clock} ORDER BY line) = 1\n"
        f"    AND count(*) OVER (PARTITION BY {people}{clock}) = 2\n"
        f"    AND ({later} - INTERVAL 1 hour) AT TIME ZONE {zone} = {clock}\n"
        f"  THEN INTERVAL 1 hour ELSE INTERVAL 0 hour END AS moment\nFROM lines"
    )


def relative(data: Path, output: Path) -> str:
    """Return the data's path relative to the release file."""
    try:
        return Path(os.path.relpath(data, output.parent)).as_posix()
    except ValueError:  # another drive
        return str(data.resolve())


def roster_of(word: str) -> str | list[str]:
    """Return a roster's file or SELECT, or the names that a word lists."""
    is_table = names_a_file(word) or word[:7].lower().startswith(("from ", "select "))
    return word if is_table else [name.strip() for name in word.split(",") if name.strip()]


def names_a_file(word: str) -> bool:
    """Return whether an answer is the path of a table."""
    return word.lower().removesuffix(".gz").endswith((".csv", ".tsv", ".txt", ".parquet", ".xlsx", ".jsonl"))


def whole(word: str) -> str | int:
    """Return a whole number, or else the text.

    >>> whole("2026-01-05"), whole("25")
    ('2026-01-05', 25)
    """
    return int(word) if word.removeprefix("-").isdigit() and len(word) < 16 else word
