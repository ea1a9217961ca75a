"""What no table tells and loading calls missing, each as a question: the same for the app, the terminal and options.

An answer is in plain words, or in TOML, as it stands in the file. Its form says which plain words: names between
commas, a value for each state, edges such as 0 to 5, a number, a text.
"""

from __future__ import annotations

import csv
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, time
from itertools import chain
from pathlib import Path
from typing import Any

from takifugu.core.column_words import people_of
from takifugu.core.errors import InputError, SpecError, TakifuguError
from takifugu.core.plain import toml_of
from takifugu.data.relation.keys import KEYS, ROLES
from takifugu.releasing.draft.question import NONE, Answers, Choice, Question
from takifugu.releasing.draft.questions import OF_NUMBERS
from takifugu.releasing.file.attributes.kind import Attributes
from takifugu.releasing.file.kinds import KINDS
from takifugu.releasing.file.loading import checked

#: Answers that say how the table is read, or choose the kind.
OF_THE_TABLE = (
    "rows", "kind", "sql", "where", "unit", "called", "order", "end", "value", "nulls", "missing", "timezone",
    "encoding",
)  # fmt: skip
_PUBLIC = "it is public and declared: a row that decided it would be published with it"
_STATES = "they are published: write what everybody knows, whatever the rows hold"
_BELIEF = "it is what a reader may believe, and the noise follows from it: take it from what is publicly known"
_NO_ROW = "it is counted and secret like any other"
_ALONE = "if not, what is said of one tells of the other, and the noise of this file would be too little"
#: Why what a section lacks is asked.
_WHY = {"source": _PUBLIC, "belief": _BELIEF, "hide": "what is protected depends on it", "table": "it is published"}
_NOT_NOW = Choice(NONE, "not now: the file then says what is missing")
_YES = Choice("true", "yes, it says nothing")
#: Each question by its answer's name: the words, why it is asked, the form, and how an answer looks.
DECLARED = {
    "states": ("Which {state}s can there be?", _STATES, "names", 'still, "walking, fast"'),
    "values": ("Which answers can there be?", _STATES, "names", "yes, no"),
    "bins": ("Which numbers count as each {state}?", _STATES, "edges", "0 to 5"),
    "from": ("When does the recording start?", _PUBLIC, "text", "2026-01-05"),
    "until": ("When does it end?", _PUBLIC, "text", "2026-02-02"),
    "roster": ("Who was recorded?", "somebody without a row counts, too", "roster", "Ana, Ben, or a file: people.csv"),
    "default_state": ("Which state is it where no row says one?", _NO_ROW, "text", "still"),
    "mean_duration": ("How long does each state last at a time, on average?", _BELIEF, "each", "2 h, or 8 for 8 steps"),
    "next_state": ("How often does each state come next, compared with the others?", _BELIEF, "each", "0.5"),
    "units_independent": ("Does one {one} say nothing about another?", _ALONE, "truth", ""),
    "recordings_independent": ("Does one recording say nothing about another?", _ALONE, "truth", ""),
    "records": ("How many records are there?", _PUBLIC, "number", "500"),
    "size": ("How many {many} are there?", _PUBLIC, "number", "100"),
    "probabilities": ("How often is each answer given, in the order of values?", _BELIEF, "numbers", "0.3, 0.7"),
    "hide": ("What must no reader learn?", "nothing else is protected", "toml", ""),
}  # fmt: skip
#: What a file about whole columns may hide, in plain words, with a place for a column; and of numbers or of values.
HIDDEN = {
    "property": "a fact about all rows together, such as the {1} in {0}; what a single row says is not hidden",
    "record": "what any single row, such as one person's, says in {0}",
    "parameter": "a fact about the population that the rows are a sample of, in {0}; no single row is hidden",
}
_OF_NUMBERS = ("mean", 'function = "mean", max_difference = 5', ", max_difference = 5")
_OF_VALUES = ("share of one value", 'function = "share", of = "that value"', "")
#: Two edges of a state in plain words.
_EDGES = re.compile(r"(\S+)\s+(?:to\s+|-\s+)?(\S+)")


@dataclass(frozen=True)
class Missing:
    """What a draft lacks, and what is asked of it; and the faults of what was answered, by the answer's name."""

    left: tuple[TakifuguError, ...]
    questions: tuple[Question, ...]
    faults: Mapping[str, TakifuguError]


def place_of(name: str) -> tuple[str, str]:
    """Return the section and the key that an answer sets; a section alone has keys in its answer."""
    if name in ("belief", "hide"):
        return name, ""
    section, dot, key = name.rpartition(".")
    by_default = "table" if key == "epsilon" else "source" if key in KEYS else "belief"
    return ("table" if section == "table[0]" else section, key) if dot else (by_default, key)


def refuse_no_place(names: Iterable[str]) -> None:
    """Raise InputError for an answer that sets no key of a draft, and for another file of its rows."""
    for name in names:
        section, key = place_of(name)
        if (section, key) == ("source", "file"):
            fix = "belief.file=contacts.csv for the public file of a belief; or give another file in its place"
            raise InputError("a draft reads the file that it is given", fix=fix).at(name)
        if section not in _WHY:
            sections = ", ".join(f"{one}.{key}" for one in _WHY)
            raise InputError(f"a draft has no section {section!r}", fix=f"write one of {sections}").at(name)


def refuse_wrong(text: str, output: Path, answers: Answers) -> tuple[TakifuguError, ...]:
    """Return what a draft lacks; SpecError for answers that loading refuses."""
    lacks = missing(text, output, answers)
    if wrong := [fault for name, fault in lacks.faults.items() if answers[name] != NONE]:
        raise SpecError(wrong)
    return (*lacks.left, *lacks.faults.values())  # the latter were answered by nothing at all


def missing(text: str, output: Path, answers: Answers, column: str = "") -> Missing:
    """Return what loading a draft at `output` calls missing or wrong; questions speak of a column."""
    try:
        checked(tomllib.loads(text), output)
    except SpecError as error:
        return missing_in(error.faults, answers, column)
    return Missing((), (), {})


def missing_in(faults: Sequence[TakifuguError], answers: Answers, column: str = "") -> Missing:
    """Return faults as questions; those of what was answered stay faults, and what was put off is not asked again."""
    said = {place_of(name): name for name in answers}
    left, posed, wrong = list[TakifuguError](), dict[str, Question](), dict[str, TakifuguError]()
    for fault in faults:
        section, *steps = map(str, fault.where or ("",))
        key = next((step for step in steps if not step.isdigit()), "")
        if (section, key) == ("belief", "matrix"):  # how long states last says it, too
            key = "mean_duration"
        place = (section, key)
        plain = key or section
        name = said.get(place) or (plain if place_of(plain) == place else f"{section}.{key}")
        if answers.get(name, NONE) != NONE or (name in answers and name in OF_THE_TABLE):
            wrong.setdefault(name, fault)
            continue
        left.append(fault)
        if name in DECLARED:
            posed.setdefault(name, question_of(name, answers, column))
        else:  # that of its remedy
            evidence, why = f"{fault.what}; {fault.fix}", _WHY.get(place_of(name)[0], _BELIEF)
            posed.setdefault(name, Question(name, f"{fault.place}?", (_NOT_NOW,), evidence, why, None, "toml"))
    asked = [posed[name] for name in dict.fromkeys([*DECLARED, *posed]) if name in posed and name not in answers]
    return Missing(tuple(left), tuple(asked), wrong)


def question_of(name: str, answers: Answers, column: str = "") -> Question:
    """Return the question of an answer that no table tells, with a column as an example."""
    words, why, form, hint = DECLARED.get(name, (f"{name}?", _BELIEF, "toml", ""))
    if name == "states" and answers.get("kind") == "contacts":  # the other way round, the well would infect others
        words, hint = "Which two states are there, well first and ill second?", "well, ill"
    parts = _parts(name, answers) if form in ("each", "edges") else ()
    if form == "edges" and parts:  # bins neither overlap nor leave a gap
        ends = [*map(str, range(0, 5 * len(parts), 5)), "inf"]
        hint = ", ".join(f"{part} {ends[i]} to {ends[i + 1]}" for i, part in enumerate(parts))
    if name == "values" and answers.get("missing", NONE) != NONE:
        hint = f"{hint}, {answers['missing']}"
    some = [_YES] if form == "truth" else [*_hidden(answers.get("kind", ""), column)] if name == "hide" else []
    choices = (*some, _NOT_NOW)
    unit, called = (None if answers.get(key, NONE) == NONE else answers[key] for key in ("unit", "called"))
    people = people_of(unit, called)
    words = words.replace("{state}", "answer" if answers.get("rows") == "answers" else "state")
    words = words.replace("{one}", people.one).replace("{many}", people.many)
    return Question(name, words, choices, "", why, None, form, hint, parts)


def _hidden(kind: str, column: str) -> Iterator[Choice]:
    """Yield what a file about whole columns may hide: the line to paste, and its meaning."""
    said, function, apart = _OF_NUMBERS if kind in OF_NUMBERS else _OF_VALUES
    about = KINDS.find(kind)
    for key in about.hides if isinstance(about, Attributes) else ():
        of = {"property": f", {function}", "record": apart}.get(key, "")
        words = HIDDEN[key].format(repr(column), said)
        yield Choice(f"{key} = {{ attribute = {toml_of(column)}{of} }}", words)


def _parts(name: str, answers: Answers) -> tuple[str, ...]:
    """Return the states, or the answers of a survey, that a value is asked for."""
    name = "states" if "states" in answers else "values"
    word = answers.get(name, NONE)
    states = None if word == NONE else value_of(name, word, answers)
    return tuple(map(str, states)) if isinstance(states, list) else ()


def value_of(name: str, word: str, answers: Answers) -> Any:
    """Return the value of an answer, as it stands in the file."""
    key, lines = place_of(name)[1], _lines(word)
    form = "names" if key == "columns" else DECLARED[key][2] if key in DECLARED else "toml"
    if lines and (not key or [*lines] == [key]):  # as an error writes what is missing
        return lines[key] if key else lines
    if form == "text" or key in (*ROLES, "default_state"):
        return word
    read = _as_toml(word)
    if isinstance(read, date | time):
        return word
    if form in ("each", "edges"):
        states = _parts(name, answers)
        pairs = read if isinstance(read, dict) else dict(_pair(part, states) for part in _each(word, states))
        return {state: _edges(value) if form == "edges" else _plain(value) for state, value in pairs.items()}
    if isinstance(read, list | dict) or (read is not None and form not in ("names", "numbers", "roster")):
        return read
    parts = _names(word)
    if form == "numbers":
        return [*map(_plain, parts)]
    return parts if form == "names" or (form == "roster" and parts[1:]) else word


def _as_toml(word: str) -> Any:
    """Return the value of a word that TOML reads, and that can be written to a file; None for another one."""
    return _lines(f"value = {word}").get("value")


def _lines(text: str) -> dict[str, Any]:
    """Return the keys and values of lines of TOML that can be written to a file; none for another text."""
    with suppress(ValueError, RecursionError):  # also for a number of thousands of digits
        read = tomllib.loads(text)
        toml_of(read)
        return read
    return {}


def _names(text: str) -> list[str]:
    """Return names between commas; one with a comma stands in double quotes, as in a CSV."""
    try:
        names = [*chain.from_iterable(csv.reader(text.splitlines(), skipinitialspace=True))]
    except csv.Error:  # it is too long
        names = text.split(",")
    return [name.strip() for name in names if name.strip()]


def _each(text: str, states: Sequence[str]) -> list[str]:
    """Return what stands between commas, each with the state that it begins with; a declared one may have commas."""
    begins = "|".join(map(re.escape, sorted(states, key=len, reverse=True)))
    return re.split(rf",(?=\s*(?:{begins})[\s:=])" if "," in begins else ",", text)


def _pair(part: str, states: Sequence[str]) -> tuple[str, str]:
    """Return a state and its value, such as `still 2 h`; a state that is declared may have blanks."""
    text = part.strip()
    named = (state for state in states if text.startswith(f"{state} "))
    known = max(named, key=len, default=re.split(r"[\s:=]", text, maxsplit=1)[0])
    return known, text[len(known) :].strip(" =:")


def _plain(value: object) -> object:
    """Return a number where a text is one."""
    read = _as_toml(value.strip()) if isinstance(value, str) else value
    return value if isinstance(read, bool | date | time | None) else read


def _edges(value: object) -> object:
    """Return two edges of a text such as 0 to 5."""
    read = _EDGES.fullmatch(value.strip()) if isinstance(value, str) else None
    return [_plain(read[1]), _plain(read[2])] if read else _plain(value)
