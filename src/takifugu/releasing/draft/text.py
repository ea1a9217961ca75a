"""The first text of a release file: keys that are in force, each with half a line why, and no value of the data."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from takifugu.core.column_words import NORTH, words_in
from takifugu.core.errors import InputError
from takifugu.core.escaping import as_arguments
from takifugu.core.plain import toml_of
from takifugu.core.tracebacks import without_data
from takifugu.data.relation.keys import KEYS
from takifugu.data.sql.words import identifier, literal
from takifugu.model.queries.sections import EACH_ROW, IN_ORDER, POLICY, RECORDS, WHOLE_COLUMNS
from takifugu.releasing.draft import declared
from takifugu.releasing.draft.evidence import Evidence, evidence
from takifugu.releasing.draft.forms import TIMES, value_of
from takifugu.releasing.draft.question import NONE, QUESTIONS, Answers, unsaid
from takifugu.releasing.draft.questions import OF_NUMBERS, ROWS, at, names_nobody, questions
from takifugu.releasing.draft.when import TIMED, columns_in, full_readings, has_hours_twice
from takifugu.releasing.file.kind import output_by_default
from takifugu.releasing.file.kinds import KINDS
from takifugu.releasing.file.neighbours import Neighbour, neighbours
from takifugu.releasing.file.reading import are_degrees

#: A key, its value, and why; in [source] what is said behind the key's own sentence.
Line = tuple[str, object, str]
#: What nothing tells, and is refused until it is filled in.
FILL_IN = "FILL IN"
_WIDTH, _COMMENT_AT = 110, 31
#: Answers that are read below, or choose the kind.
_READ = {*declared.OF_THE_TABLE, "epsilon"}
_MOVED = "; of two equal times the first row's is the earlier; times that clocks skip are moved"
_FROM = "; if another file will follow, declare from before the first release"
#: What is secret, by what a row is in a kind's data: a key of [hide], or none where there is no such section.
_HIDDEN: dict[str, Line] = {
    IN_ORDER: ("kind", "every-entry", "the state in every single step"),
    RECORDS: ("kind", "every-entry", "every value of every single person"), WHOLE_COLUMNS: ("", "", ""),
    POLICY: ("visits", "all", "that a person was where they were; not that they were not elsewhere"),
}
#: The table that is published first, by the kind or by what a row is: its name, what readers call it, query and words.
_MEAN = ("published-number", "The mean", "mean", 'the mean of a column; or "sum"')
_OF_VALUES = ("published-numbers", "How often each value occurs", "histogram", "how many people have each value")
_OCCURS = "published-number", "How often the value occurs", "count"
_FIRST: dict[str, tuple[str, str, str, str]] = {
    "users": _OF_VALUES, "normal": _MEAN, "density": _MEAN, WHOLE_COLUMNS: (*_OCCURS, "rows with some values"),
    IN_ORDER: ("time-in-states", "Time in each state", "histogram", "how many steps are in each state"),
    RECORDS: (*_OCCURS, 'how many rows have some states; or "histogram"'),
    EACH_ROW: ("randomised", "Randomised values", "each-value", "each row's value, randomised by itself"),
    POLICY: ("safe-places", "Places that are safe", "safe",
             'places where so few were that they may be named; or "visitors"'),
}  # fmt: skip


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
        """Return the columns that are published, of two coordinates the longitude first."""
        if "value" not in self.answers:
            return self.evidence.unpivoted[1:]
        columns = columns_in(self.answers["value"], self.evidence.types)
        if len(columns) == 2 and are_degrees(columns):
            return tuple(sorted(columns, key=lambda column: bool(words_in(column) & NORTH)))
        return columns

    @property
    def zone(self) -> str:
        """Return the zone that was answered, "" for none."""
        zone = self.answers.get("timezone", NONE)
        return zone if zone != NONE and self.is_timed else ""

    @property
    def neighbour(self) -> Neighbour | None:
        """Return the folder's first release file about these data: one ledger knows all spending on them."""
        return next(neighbours(self.output.parent, [self.evidence.file]), None) if self.evidence.file else None


@without_data
def draft(given: object, kind: str | None = None, output: str | Path = "release.toml", **answers: object) -> str:
    """Draft the text of a release file about a table.

    Args:
        given: The path of a file, or a frame of pandas, Polars or PyArrow.
        kind: What is secret, as the release file's kind of belief.
        output: Where the text is to lie; paths in it are relative to that.
        answers: The answers, named like the keys that they set: rows, unit, order, step, value, timezone and others,
            as a text or as the key's own value, such as `mean_duration={"still": "2 h"}`.

    Returns:
        The text, in TOML. What only its author can know is missing in it.

    Raises:
        InputError: For questions that are for the owner alone, with the choices, and for an answer that is none.
        SpecError: For answers that a release file is refused for, all at once.
        DataError: For a file that cannot be read.

    Examples:
        >>> import pathlib, tempfile
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "steps.csv"
        >>> _ = file.write_text("who,minute,state\\nAna,0,still\\nAna,1,walking\\n")
        >>> text = draft(file, rows="samples", unit="who", order="minute", step="1", value="state")
        >>> print(next(line for line in text.splitlines() if line.startswith("unit")))
        unit = "who"                   # whose a row is
    """
    said = {key: _said(key, word) for key, word in answers.items() if word is not None}
    try:
        with evidence(given, said.pop("encoding", None), said.pop("sql", None)) as opened:
            start = draft_of(opened, said, kind, Path(output))
            text = text_of(start, makes_ledger=False)
            declared.refuse_wrong(text, start.output, start.answers)
            return text
    except InputError as error:
        error.reworded(as_arguments)
        raise


def _said(key: str, word: object) -> str:
    """Return an answer as it is written: several columns by commas, and other values of Python as in TOML."""
    if isinstance(word, list | tuple) and key in QUESTIONS:
        return ", ".join(map(str, word))
    return word if isinstance(word, str) else toml_of(word)


def draft_of(evidence: Evidence, answers: Answers, kind: str | None, output: Path) -> Draft:
    """Return what answers draft, with those that are the only ones; InputError for what is for the owner alone."""
    declared.refuse_no_place(answers)
    said = dict(answers) if kind is None else {**answers, "kind": kind}
    while some := questions(evidence, said):
        clear = {question.name: question.offered for question in some if question.offered is not None}
        if not clear:
            raise unsaid(some)
        said |= clear
    by_default = "asymmetric" if said["rows"] == "visits" else "markov-chain"
    return Draft(at(evidence, said), said, said.get("kind", by_default), output)


def text_of(start: Draft, makes_ledger: bool = True) -> str:
    """Return the text of a draft, with ledger, name and budget of the folder's other files about these data."""
    other, stem = start.neighbour, start.output.stem
    ledger, shared = (f"{stem}-ledger.db", "") if other is None else (other.ledger, _as_in(start, other))
    rows = KINDS.find(start.kind).facts.rows
    name, title, query, words = _FIRST.get(start.kind) or _FIRST[rows]
    column = start.values[0] if len(start.values) == 1 else ""
    if title == _OF_VALUES[1] and column in start.evidence.types and re.fullmatch(r"[\w .,?()/-]{1,80}", column):
        title = f"How often each value of '{column}' occurs"  # no other word of the table names it
    has_delta = start.kind in OF_NUMBERS
    budget: object = {"epsilon": 1.0, "delta": 1e-6} if has_delta else 1.0
    epsilon = declared.value_of("epsilon", start.answers.get("epsilon", "1.0"), start.answers)
    if "epsilon" in start.answers:
        budget = {**budget, "epsilon": epsilon} if isinstance(budget, dict) else epsilon
    if other is not None and other.budget is not None:
        budget = other.budget
    if own := start.answers.get("budget"):
        budget = declared.value_of("budget", own, start.answers)
    sections: dict[str, Iterable[Line]] = {
        # a ledger is required that is there, or is made with the file
        "": [("ledger", ledger, f"what was spent on these data{shared}; keep it as safe as they are"),
             *([("require_ledger", True, "if it is missing nothing is published; it was made with this file")]
               if makes_ledger or other is not None else []),
             ("output", output_by_default(start.output), "the folder of what is published")],
        "[source]": [(key, value, f"{KEYS[key].meaning if key in KEYS else ''}{behind}") for key, value, behind in (
            _name(start, other), *_source(start), ("budget", budget, ", ever"))],
        "[belief]": [("kind", start.kind, f"what may be believed; other keys: `takifugu keys {start.kind}`"),
                     *_missing(start), *_filled(start.answers, "belief")],
        "[hide]": [*([_HIDDEN[rows]] if rows in _HIDDEN else []), *_filled(start.answers, "hide")],
        "[[table]]": [("name", name, "one such section for each table"),
                      ("title", title, "what its readers call it"),
                      ("query", query, words),
                      ("epsilon", epsilon, "`takifugu odds` says what that means"),
                      *([("attribute", column, "")] if rows == WHOLE_COLUMNS and column else []),
                      *([("delta", 1e-6, "normal noise needs a delta above 0")] if query == "mean" else []),
                      *_filled(start.answers, "table")],
    }  # fmt: skip
    texts = list[str]()
    for header, keys in sections.items():
        if keys:
            above = [f"{header}\n# All words of this section are published." if header == "[source]" else header]
            lines = {line[0]: line for line in keys if line[0]}  # an answer takes the place of a line
            texts.append("\n".join([*filter(None, above), *(_written(*line) for line in lines.values())]))
    return "\n\n".join(texts) + "\n"


def _written(key: str, value: object, why: str) -> str:
    """Return a key in TOML, its reason beside or above."""
    text, why = f"{key} = {toml_of(value)}", f"# {why}" if why else ""
    if key == "sql" and "\n" in str(value) and not re.search(r'\\|"""', str(value)):
        text = f'sql = """\n{value}"""'
    one_line = f"{text:<{_COMMENT_AT - 1}} {why}".rstrip()
    return one_line if len(one_line) <= _WIDTH and "\n" not in text else f"{why}\n{text}" if why else text


def _as_in(start: Draft, other: Neighbour) -> str:
    """Return which other file has this, too, if it is another one."""
    name = re.sub(r"[\x00-\x1f\x7f]", "?", other.path.name)
    return "" if other.path.name == start.output.name else f", as in {name}"


def _name(start: Draft, other: Neighbour | None) -> Line:
    if other is not None and other.source is not None:
        return "name", other.source, f"{_as_in(start, other)}, for ever"
    data = Path(start.evidence.file)
    stems = (re.sub(r"\W+", "-", stem).strip("-") for stem in (data.name.split(".")[0], data.parent.name, "data"))
    return "name", next(filter(None, stems)), ", for ever"


def _source(start: Draft) -> Iterator[Line]:
    """Yield the keys of [source] that say how rows are read: a file or a SELECT, and each role."""
    evidence, answers = start.evidence, start.answers
    path = relative(Path(evidence.file), start.output) if evidence.file else ""
    layout, roles = evidence.layout, {line[0]: line for line in _roles(start)}
    is_plain = layout is None or layout.is_plain
    sql = None if is_plain and not evidence.unpivoted and not evidence.is_one_of_several else evidence.select(path)
    if start.zone and has_hours_twice(evidence, answers):
        sql, roles["order"] = _by_order(start, path), ("order", "moment", _MOVED)
    if path and (sql is None or evidence.sql):
        yield "file", path, ""
    if sql is not None:
        yield "sql", sql, ""
    elif layout is not None and layout.encoding is not None:
        yield "encoding", layout.encoding, ""
    if answers["rows"] != "visits":
        rows = "samples" if answers["rows"] == "wide" else answers["rows"]
        yield "rows", rows, f": {ROWS[rows]}"
    yield from roles.values()
    if start.is_timed or (start.kind == "users" and len(start.values) == 1):
        is_measured = any(value_of(evidence, column).is_measured for column in start.values)
        if is_measured and answers.get("bins", NONE) == NONE:
            yield "bins", FILL_IN, ": { low = [0, 5], high = [5, inf] }"
    if start.is_timed and answers.get("nulls") == "unobserved":
        yield "nulls", "unobserved", ": it was not recorded"
    for key, value, _ in _filled(answers, "source"):
        if key != "step" or start.is_timed:  # which was answered of other rows
            is_without_start = key == "step" and not str(value).isdigit() and "from" not in answers
            yield key, value, _FROM * (is_without_start and answers["rows"] in ("samples", "wide"))
    if start.zone:
        yield "timezone", start.zone, ""


def _roles(start: Draft) -> Iterator[Line]:
    """Yield the roles, each as a column or an expression."""
    evidence, answers = start.evidence, start.answers
    if answers.get("where"):
        yield "where", answers["where"], ""
    if answers.get("unit", NONE) != NONE and not names_nobody(start.kind):
        yield "unit", answers["unit"], ""
    if answers.get("called", NONE) != NONE:
        yield "called", answers["called"], ""
    for key in ("order", "end"):
        if key in answers and start.is_timed:
            (reading,) = full_readings(evidence, answers, key)
            if reading.kind == TIMES and start.zone:
                yield key, f"{_clocks(start, reading.sql)} AT TIME ZONE {literal(start.zone)}", _MOVED
            else:
                yield key, reading.sql, ""
    values = [_value(start, column) for column in start.values]
    if values and KINDS.find(start.kind).facts.rows != WHOLE_COLUMNS:
        yield "value", values if values[1:] else values[0], ""


def _value(start: Draft, column: str) -> str:
    """Return a column that is published as it is read, without words for nothing where nothing has a meaning."""
    value, answers = value_of(start.evidence, column), start.answers
    is_meant = answers.get("nulls") == "unobserved" or answers.get("missing", NONE) != NONE
    return value.ways[0].sql if value.ways else value.said if is_meant else column


def _missing(start: Draft) -> Iterator[Line]:
    """Yield which answer a missing one of a column counts as."""
    word = start.answers.get("missing", NONE)
    some = {_value(start, column): word for column in start.values if value_of(start.evidence, column).missing}
    if some and word != NONE:
        yield "missing", some, "who gave no answer counts as this one, which is secret like the others"


def _clocks(start: Draft, sql: str) -> str:
    return f"cast({identifier(sql) if sql in start.evidence.types else sql} AS timestamp)"


def _by_order(start: Draft, path: str) -> str:
    """Return the SELECT that tells the two hours of an autumn night by the order of rows."""
    evidence, unit = start.evidence, start.answers.get("unit", NONE)
    (reading,) = full_readings(evidence, start.answers, "order")
    clock = _clocks(start, reading.sql.replace("strptime", "try_strptime") if evidence.where else reading.sql)
    same = f"PARTITION BY {clock}" if unit == NONE else f"PARTITION BY {evidence.judged(unit, 'unit')}, {clock}"
    zone = f"AT TIME ZONE {literal(start.zone)}"
    return (
        f"WITH lines AS (SELECT *, row_number() OVER () AS line {evidence.select(path)})\n"
        f"SELECT *, {clock} {zone} - CASE\n"
        f"  WHEN row_number() OVER ({same} ORDER BY line) = 1 AND count(*) OVER ({same}) = 2\n"
        f"    AND ({clock} {zone} - INTERVAL 1 hour) {zone} = {clock}\n"
        f"  THEN INTERVAL 1 hour ELSE INTERVAL 0 hour END AS moment\nFROM lines"
    )


def _filled(answers: Answers, section: str) -> Iterator[Line]:
    """Yield what else was answered, which no table tells: the keys of a section."""
    for name, word in answers.items():
        of, key = declared.place_of(name)
        if name in _READ or of != section or word in ("", NONE):
            continue
        value = declared.value_of(name, word, answers)
        if key:
            yield key, value, ""
        elif isinstance(value, dict):  # what a section lacks without naming a key
            yield from ((key, part, "") for key, part in value.items())


def relative(data: Path, output: Path) -> str:
    """Return the data's path relative to the release file."""
    try:
        return Path(os.path.relpath(data, output.parent)).as_posix()
    except ValueError:  # another drive
        return str(data.resolve())
