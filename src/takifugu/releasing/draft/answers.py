"""The keys of [source] that answers draft: a file or a SELECT, and each role as a column or an expression."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, time
from pathlib import Path

from takifugu.core.plain import toml_of
from takifugu.data.relation.keys import KEYS
from takifugu.data.relation.words import identifier, literal
from takifugu.releasing.draft.evidence import Evidence
from takifugu.releasing.draft.forms import TIMES, value_of
from takifugu.releasing.draft.questions import (
    NONE,
    ROWS,
    TIMED,
    Answers,
    at,
    columns_in,
    full_readings,
    has_hours_twice,
    names_nobody,
    questions,
    unsaid,
)  # fmt: skip

#: What nothing tells, and is refused until it is filled in.
FILL_IN = "FILL IN"
_WIDTH, _COMMENT_AT = 110, 31
#: Answers that are read below, or choose the kind.
_QUESTIONS = ("rows", "kind", "sql", "where", "unit", "order", "end", "value", "nulls", "timezone")
_MOVED = "when, as a moment: of two equal times the first row's is the earlier; times that clocks skip are moved"


@dataclass(frozen=True)
class Entry:
    """A key, its value, and why; without a key a section alone."""

    key: str
    value: object
    why: str = ""

    @property
    def line(self) -> str:
        """Return the key in TOML, its reason beside or above."""
        text, why = f"{self.key} = {toml_of(self.value)}", f"# {self.why}" if self.why else ""
        if self.key == "sql" and "\n" in str(self.value) and not re.search(r'\\|"""', str(self.value)):
            text = f'sql = """\n{self.value}"""'
        one_line = f"{text:<{_COMMENT_AT - 1}} {why}".rstrip()
        return one_line if len(one_line) <= _WIDTH and "\n" not in text else f"{why}\n{text}" if why else text


@dataclass(frozen=True)
class Draft:
    """What a first text is made of: the answers, the table that they name, and the file to be written."""

    evidence: Evidence
    answers: Answers
    kind: str
    output: Path

    @property
    def is_timed(self) -> bool:
        return self.answers["rows"] in TIMED

    @property
    def values(self) -> tuple[str, ...]:
        """Return the columns that are published."""
        if self.evidence.unpivoted:
            return self.evidence.unpivoted[1:]
        return columns_in(self.answers["value"], self.evidence.types) if "value" in self.answers else ()

    @property
    def path(self) -> str:
        """Return the file's path from the release file on, "" of a frame."""
        return relative(Path(self.evidence.file), self.output) if self.evidence.file else ""

    @property
    def zone(self) -> str:
        """Return the zone that was answered, "" for none."""
        zone = self.answers.get("timezone", NONE)
        return zone if zone != NONE and self.is_timed else ""


def draft_of(evidence: Evidence, answers: Answers, kind: str | None, output: Path) -> Draft:
    """Return what answers draft, with those that are the only ones; InputError for what is for the owner alone."""
    said = dict(answers) if kind is None else {**answers, "kind": kind}
    while some := questions(evidence, said):
        clear = {question.name: question.offered for question in some if question.offered is not None}
        if not clear:
            raise unsaid(some)
        said |= clear
    by_default = "asymmetric" if said["rows"] == "visits" else "markov-chain"
    return Draft(at(evidence, said), said, said.get("kind", by_default), output)


def source_entries(draft: Draft) -> Iterator[Entry]:
    """Yield the keys of [source] that say how rows are read."""
    evidence, answers, path = draft.evidence, draft.answers, draft.path
    layout, roles = evidence.layout, {entry.key: entry for entry in _roles(draft)}
    is_plain = layout is None or layout.is_plain
    sql = None if is_plain and not evidence.unpivoted and not evidence.is_one_of_several else evidence.select(path)
    if draft.zone and has_hours_twice(evidence, answers):
        sql, roles["order"] = _by_order(draft, path), Entry("order", "moment", _MOVED)
    if path and (sql is None or evidence.sql):
        yield Entry("file", path)
    if sql is not None:
        yield Entry("sql", sql, "the rows, as a SELECT")
    elif layout is not None and layout.encoding is not None:
        yield Entry("encoding", layout.encoding, "how its text is written")
    if answers["rows"] != "visits":
        rows = "samples" if answers["rows"] == "wide" else answers["rows"]
        yield Entry("rows", rows, f"a row says {ROWS[rows]}")
    yield from roles.values()
    if draft.is_timed:
        if any(value_of(evidence, column).is_measured for column in draft.values):
            yield Entry("bins", FILL_IN, "the numbers that count as each state: { low = [0, 5], high = [5, inf] }")
        if answers.get("nulls") == "unobserved":
            yield Entry("nulls", "unobserved", "a missing value was not recorded")
        yield from filled(answers, "source")
        if draft.zone:
            yield Entry("timezone", draft.zone, "whose clocks say which hour and day a moment is in")


def _roles(draft: Draft) -> Iterator[Entry]:
    """Yield the roles, each as a column or an expression."""
    evidence, answers = draft.evidence, draft.answers
    if answers.get("where"):
        yield Entry("where", answers["where"], "which rows count")
    if answers.get("unit", NONE) != NONE and not names_nobody(draft.kind):
        yield Entry("unit", answers["unit"], "whose row it is")
    for key, why in (("order", "when"), ("end", "when it ends")):
        if key in answers and draft.is_timed:
            (reading,) = full_readings(evidence, answers, key)
            is_moved = reading.kind == TIMES and draft.zone
            yield Entry(key, f"{_clocks(draft, reading.sql)} AT TIME ZONE {literal(draft.zone)}" if is_moved
                        else reading.sql, _MOVED if is_moved else why)  # fmt: skip
    values = list[str]()
    for column in draft.values:
        value = value_of(evidence, column)
        text = value.said if answers.get("nulls") == "unobserved" else column
        values.append(value.ways[0].sql if value.ways else text)
    if values:
        yield Entry("value", values if values[1:] else values[0], "what is published of a row")


def _clocks(draft: Draft, sql: str) -> str:
    return f"cast({identifier(sql) if sql in draft.evidence.types else sql} AS timestamp)"


def _by_order(draft: Draft, path: str) -> str:
    """Return the SELECT that tells the two hours of an autumn night by the order of rows."""
    evidence, unit = draft.evidence, draft.answers.get("unit", NONE)
    (reading,) = full_readings(evidence, draft.answers, "order")
    clock = _clocks(draft, reading.sql.replace("strptime", "try_strptime") if evidence.where else reading.sql)
    same = f"PARTITION BY {clock}" if unit == NONE else f"PARTITION BY {evidence.judged(unit, 'unit')}, {clock}"
    zone = f"AT TIME ZONE {literal(draft.zone)}"
    return (
        f"WITH lines AS (SELECT *, row_number() OVER () AS line {evidence.select(path)})\n"
        f"SELECT *, {clock} {zone} - CASE\n"
        f"  WHEN row_number() OVER ({same} ORDER BY line) = 1 AND count(*) OVER ({same}) = 2\n"
        f"    AND ({clock} {zone} - INTERVAL 1 hour) {zone} = {clock}\n"
        f"  THEN INTERVAL 1 hour ELSE INTERVAL 0 hour END AS moment\nFROM lines"
    )


def filled(answers: Answers, section: str) -> Iterator[Entry]:
    """Yield what else was answered, which no table tells: a key of [source], or of the belief, as TOML or a text."""
    for key, word in answers.items():
        if key not in _QUESTIONS and (key in KEYS) == (section == "source") and word:
            value: object = word
            if key not in KEYS or not KEYS[key].type.startswith(("column", "state")):
                with suppress(tomllib.TOMLDecodeError):
                    value = tomllib.loads(f"value = {word}")["value"]
            why = KEYS[key].sentence if key in KEYS else ""
            yield Entry(key, word if isinstance(value, date | time) else value, why)


def relative(data: Path, output: Path) -> str:
    """Return the data's path relative to the release file."""
    try:
        return Path(os.path.relpath(data, output.parent)).as_posix()
    except ValueError:  # another drive
        return str(data.resolve())
