"""The keys of [source] that answers draft: a file or a SELECT, and each role as a column or an expression."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from takifugu.core.plain import toml_of
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
)  # fmt: skip

#: What nothing tells, and is refused until it is filled in.
FILL_IN = "FILL IN"
_WIDTH, _COMMENT_AT = 110, 31
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
    kinds = {"visits": "asymmetric", "contacts": "contacts"}
    return Draft(at(evidence, said), said, said.get("kind") or kinds.get(said["rows"], "markov-chain"), output)


def source_entries(draft: Draft) -> Iterator[Entry]:
    """Yield the keys of [source] that say how rows are read."""
    evidence, answers, path = draft.evidence, draft.answers, draft.path
    if answers["rows"] == "contacts":
        yield Entry("rows", "answers", "one row per person; who met whom is no part of it")
        return
    roles = {entry.key: entry for entry in _roles(draft)}
    sql = _sql(draft, roles, path)
    if draft.zone and has_hours_twice(evidence, answers):
        sql, roles["order"] = _by_order(draft, path), Entry("order", "moment", _MOVED)
    if path and (sql is None or evidence.tables):
        yield Entry("file", path)
    if sql is not None:
        yield Entry("sql", sql, "the rows, as a SELECT")
    elif evidence.layout is not None and evidence.layout.encoding is not None:
        yield Entry("encoding", evidence.layout.encoding, "its bytes fit this codec: compare the letters of names")
    if answers["rows"] != "visits":
        rows = "samples" if answers["rows"] == "wide" else answers["rows"]
        yield Entry("rows", rows, f"a row says {ROWS[rows]}")
    yield from roles.values()
    if draft.is_timed:
        if any(value_of(evidence, column).is_measured for column in draft.values):
            yield Entry("bins", FILL_IN, "the numbers that count as each state: { low = [0, 5], high = [5, inf] }")
        yield from filled({**answers, "nulls": answers.get("nulls", "refuse").replace("refuse", "")}, "source")
        if draft.zone:
            yield Entry("timezone", draft.zone, "whose clocks say which hour and day a moment is in")


def _roles(draft: Draft) -> Iterator[Entry]:
    """Yield the roles, each as a column or an expression."""
    evidence, answers = draft.evidence, draft.answers
    if answers.get("where"):
        yield Entry("where", answers["where"], "which rows count")
    unit = answers.get("unit", NONE)
    if unit != NONE:
        yield Entry("unit", name_of(evidence, unit) if unit in evidence.types else unit, "whose row it is")
    for key, why in (("order", "when"), ("end", "when it ends")):
        if key in answers and draft.is_timed:
            (reading,) = full_readings(evidence, answers, key)
            is_moved = reading.kind == TIMES and draft.zone
            yield Entry(key, f"{_clocks(draft, reading.sql)} AT TIME ZONE {literal(draft.zone)}" if is_moved
                        else reading.sql, _MOVED if is_moved else why)  # fmt: skip
    values = list[str]()
    for column in draft.values:
        value = value_of(evidence, column)
        words = value.words if answers.get("nulls") == "unobserved" else ()
        values.append(without(value.sqls[0], words, [*evidence.types]))
    if values:
        yield Entry("value", values if values[1:] else values[0], "what is published of a row")


def _clocks(draft: Draft, sql: str) -> str:
    return f"cast({identifier(sql) if sql in draft.evidence.types else sql} AS timestamp)"


def _sql(draft: Draft, roles: Mapping[str, Entry], path: str) -> str | None:
    """Return the SELECT of the rows, None where the file alone gives them."""
    evidence, layout = draft.evidence, draft.evidence.layout
    if evidence.unpivoted or "sql" in draft.answers:
        return evidence.select(path)
    texts = [(role, str(part)) for role, entry in roles.items()
             for part in (entry.value if isinstance(entry.value, list) else [entry.value])]  # fmt: skip
    if layout is None or (layout.is_plain and is_fitting(texts, Path(evidence.file), layout.encoding)):
        return None
    return evidence.select(path)


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
    """Yield what else was answered: what no table tells."""
    for key, (place, value, why) in _FILLED.items():
        if place == section and answers.get(key):
            yield Entry(key, value(answers[key]), why)


def relative(data: Path, output: Path) -> str:
    """Return the data's path relative to the release file."""
    try:
        return Path(os.path.relpath(data, output.parent)).as_posix()
    except ValueError:  # another drive
        return str(data.resolve())


def names(word: str) -> list[str]:
    """Return the names in a list with commas."""
    return [name.strip() for name in word.split(",") if name.strip()]


def pairs(word: str) -> dict[str, float | str]:
    """Return names with their values, "" for a name alone.

    >>> pairs("still 100 min, on foot = 6.5, away")
    {'still': '100 min', 'on foot': 6.5, 'away': ''}
    """
    values = dict[str, float | str]()
    for part in names(word):
        match = re.fullmatch(r"(.*?)\s*[\s=:]\s*(\d*[.]?\d+)\s*([a-z]*)", part)
        name, number, unit = (part, "", "") if match is None else match.groups()
        values[name] = float(number) if number and not unit else f"{number} {unit}".strip()
    return values


def whole(word: str) -> str | int:
    """Return a whole number, or else the text."""
    return int(word) if re.fullmatch("-?[0-9]{1,15}", word) else word


def _roster(word: str) -> str | list[str]:
    """Return a roster's file or SELECT, or the names that a word lists."""
    is_table = re.fullmatch(r"(?is)(from|select|with) .*|.*[.](csv|tsv|txt|parquet|xlsx|jsonl)([.]gz)?", word)
    return word if is_table else names(word)


#: Answers that no table tells: their section, what they are, and why.
_FILLED: Mapping[str, tuple[str, Callable[[str], object], str]] = {
    "recording": ("source", str, "an unbroken run of rows"),
    "nulls": ("source", str, "a missing value was not recorded"),
    "step": ("source", whole, "rows count steps of this length"),
    "from": ("source", whole, "where the calendar starts"), "until": ("source", whole, "where it ends"),
    "gaps": ("source", str, "whether steps without a row are public"),
    "default_state": ("source", str, "the state where no row says one"),
    "roster": ("source", _roster, "who is covered, from a public list"),
    "source": ("belief", str, "where its numbers come from; the certificate says so"),
    "size": ("belief", whole, "how many people there are, which becomes public"),
    "states": ("belief", names, "all that can occur, from a code book"),
    "values": ("belief", names, "all that can occur, from a code book"),
    "mean_duration": ("belief", pairs, "how long each state lasts at a time, on average"),
    "next_state": ("belief", pairs, "how often each comes when another ends"),
    "units_independent": ("belief", lambda word: word == "yes", "one person says nothing about the others"),
}  # fmt: skip
