"""The five questions about a table as data: what a row says, whose it is, when, what is published, and on whose clocks.

None has a default where the answer is a promise. What else an answer leaves open (two ways to read it, rows that none
reads, a missing value) is a question of its own, under the key that it sets.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from takifugu.core.column_words import is_told
from takifugu.core.errors import InputError
from takifugu.core.escaping import option, visible
from takifugu.core.nearest import unknown
from takifugu.data.relation.roles import check_truth
from takifugu.data.sql.faults import wrong_key
from takifugu.data.sql.words import identifier
from takifugu.data.times.steps import time_text
from takifugu.data.times.zones import MICROSECOND, Zone
from takifugu.model.queries.sections import IN_ORDER, POLICY, WHOLE_COLUMNS
from takifugu.releasing.draft.evidence import MOST_COUNTED, Evidence
from takifugu.releasing.draft.forms import INSTANTS, NUMBERS, TIMES, Reading, is_clock, names_in, readings, value_of
from takifugu.releasing.file.keys import ROWS as WORDS_OF_ROWS
from takifugu.releasing.file.keys import STEPS
from takifugu.releasing.file.kinds import KINDS

Answers = Mapping[str, str]
#: The answer that no column says it.
NONE = "-"
#: Kinds about numbers.
OF_NUMBERS = ("normal", "density")
#: Rows that have a time, and all that are drafted.
TIMED = (*STEPS, "wide")
ROWS = {name: words for name, words in WORDS_OF_ROWS.items() if name != "contacts"}
#: What is secret of rows without a time, by the kind, with a place for a column.
_SECRETS = {
    "users": "one person's answer, such as that in {}; people say nothing about each other, and one table counts all",
    "contacts":
        "one person's answer, such as that in {}; people who meet or live together tell of each other, and one table "
        "counts all",
    "joint-table":
        "one person's answers, where one answer, such as that in {}, tells of others; each gets a table alone",
    "independent-records": "a fact about all rows together, such as the share of a value of {}; no single row",
    "normal": "a fact about all numbers together, such as the mean of {}; no single row",
    "populations": "which group a row comes from; each {} is randomised before it leaves its owner",
}
_PROMISE = "what is protected depends on it, and no table tells it"
_ORDER = "the order of rows is part of what is protected"
#: The questions by the key that each one sets, and what of it: the words, with a place for a column, and why.
QUESTIONS = {
    "rows": ("What does a row say?", _PROMISE),
    "unit": ("Whose is a row?", _PROMISE), "unit-read": ("Are the names in {} the same, read so?", _PROMISE),
    "order": ("When was a row?", _ORDER), "order-of-stays": ("When does it start?", _ORDER),
    "end": ("When does it end?", _ORDER),
    "order-read": ("How are the times in {} written?", "they can be read in several ways, and each gives other days"),
    "where": ("Which rows count?", "rows are never left out unseen"),
    "step": ("How long is a step?", "a step is what is protected, and public"),
    "timezone": ("Where do clocks show these times?", "hours, days and weekdays are those of clocks somewhere"),
    "kind": ("What is secret?", _PROMISE),
    "value": ("What is published?", "its values are counted"),
    "value-of-visits": ("Where was it?", "its visitors are counted: of coordinates write two columns, as lon, lat"),
    "value-read": ("How are the numbers in {} written?", "each gives other numbers"),
    "nulls": ("What does a missing value mean?", "what is missing is part of what is protected"),
    "missing": ("What does a missing answer count as?", "who gave no answer is a secret, too, so no row is left out"),
    "encoding": ("Which letters are right?", "no table tells it, and codecs that give the same here differ elsewhere"),
    "sql": ("Which table of the file is it?", "a source is one of them"),
    "called": ("What is one of those that {} names?", "readers are told how many of them there are"),
    "called-row": ("What is one row?", "each is protected by itself: who has several rows is not"),
}
#: So many choices are pasted in an error, gaps are looked at, and rows are named.
_LISTED, _MOST_GAPS, _NAMED = 12, 10_000, 3
#: The forms of times and months that a message shows.
FORM, MONTH = "'%d.%m.%Y %H:%M'", "'%b %Y'"
_NULLS = {
    "nulls": {"unobserved": "nothing was recorded then", "refuse": "it is a mistake: such rows are refused"},
    "missing": {"no answer": "an answer of its own, which values must have, too; or one of the others",
                NONE: "it is a mistake: such rows are refused"},
}  # fmt: skip
#: Of so many texts one may be no time, such as a total: which rows count is then asked.
_FEW = 10


@dataclass(frozen=True)
class Choice:
    """An answer to a question, and what it means."""

    name: str
    words: str


@dataclass(frozen=True)
class Question:
    """A question by the key that it sets; `evidence` is for the owner's eyes."""

    name: str
    words: str
    choices: tuple[Choice, ...]
    evidence: str
    why: str
    #: The only answer that there is, where the answer is no promise.
    offered: str | None = None
    #: An answer is a choice or a column, or is written in a form (declared.py), for each of some `parts`, as the `hint`
    #: is.
    form: str = ""
    hint: str = ""
    parts: tuple[str, ...] = ()

    @property
    def is_by_name(self) -> bool:
        """Return whether columns are too many to be choices."""
        return not self.form and all(choice.name == NONE for choice in self.choices)

    def listed(self) -> str:
        """Return the choices as options of the command line, of many the first and the last."""
        words = [f"{option(self.name, 'COLUMN')} (its name)"] if self.is_by_name else []
        left = len(self.choices) - _LISTED
        for choice in (*self.choices[: _LISTED - 1], *self.choices[_LISTED - 1 :][-1:]):
            words.append(f"{option(self.name, visible(choice.name))} ({visible(choice.words)})")
        return ", or ".join([*words, f"{left} more"] if left > 0 else words)


def _ask(
    what: str, choices: Iterable[Choice], evidence: str = "", *, column: str = "", key: str = "", is_clear: bool = False
) -> Question:
    """Return a question of the table above; what `is_clear` is offered where it is the only choice."""
    (words, why), some = QUESTIONS[what], tuple(choices)
    offered = some[0].name if is_clear and len(some) == 1 else None
    return Question(key or what.partition("-")[0], words.format(repr(visible(column))), some, evidence, why, offered)


def question_called(name: str) -> Question:
    """Return the question of an answer that nothing asks for, without choices."""
    words, why = QUESTIONS[name]
    return Question(name, words, (), "", why, form="text")


def unsaid(some: Sequence[Question]) -> InputError:
    """Return the error of questions for the owner alone."""
    return InputError(
        "the table does not tell: " + " ".join(question.words for question in some),
        rule="; ".join(dict.fromkeys(question.why for question in some)),
        fix="; and ".join(question.listed() for question in some),
    ).at(some[0].name)


def opening(error: InputError) -> Question:
    """Return the question of a file that can be opened in several ways; the error again where it is none."""
    name = str(error.where[-1]) if error.where else ""
    if name not in ("encoding", "sql") or not error.offers:
        raise error
    choices = [Choice(*offer) for offer in error.offers]
    return _ask(name, choices)


def questions(evidence: Evidence, answers: Answers) -> list[Question]:
    """Return the questions that answers leave open, in their order; InputError for an answer that is none."""
    before = at(evidence, {key: word for key, word in answers.items() if key == "rows"})
    opened = at(evidence, answers)
    parts = (_rows(before, answers), _unit(before, answers) or _named(opened, answers), *_times(opened, answers),
             *_values(opened, answers), _called(answers))  # fmt: skip
    return [question for question in parts if question is not None]


def at(evidence: Evidence, answers: Answers) -> Evidence:
    """Return the evidence of the steps and the rows that answers name."""
    if answers.get("rows") == "wide":
        if not evidence.steps:
            error = InputError("rows are wide, and no columns are called as steps").at("rows")
            raise error.offering([("samples", "")])
        evidence = evidence.by_steps
    if answers.get("where"):
        where = evidence.judged(answers["where"], "where")
        check_truth(evidence.type_of(where, "where"))
        evidence = replace(evidence, where=where)
        if not evidence.size:
            raise wrong_key("where", "where is true of no row", "some rows count", "write what is true of them")
    return evidence


def columns_in(text: str, types: Mapping[str, str]) -> tuple[str, ...]:
    """Return the columns that an answer lists, or the answer alone, which may be an expression."""
    parts = tuple(part.strip() for part in text.split(","))
    return parts if text not in types and all(part in types for part in parts) else (text,)


def names_nobody(kind: str) -> bool:
    """Return whether each row of a kind is another person or case, whose name no key says."""
    return kind == "users" or KINDS.find(kind).facts.rows == WHOLE_COLUMNS


def _rows(evidence: Evidence, answers: Answers) -> Question | None:
    rows, some = answers.get("rows"), [*ROWS]
    if "kind" in answers:
        of_kind = KINDS.find(answers["kind"]).facts.rows
        some = [*TIMED] if of_kind == IN_ORDER else ["visits"] if of_kind == POLICY else ["answers"]
    if rows in some:
        return None
    if rows in ROWS:
        what = f"rows are {rows}, and no release file of such rows is drafted for a belief of kind {answers['kind']!r}"
        raise InputError(what).at("rows").offering([(name, "") for name in some], "another kind")
    if rows is not None:
        raise unknown(f"rows is {rows[:40]!r}", rows, some).at("rows")
    steps, width = evidence.steps, len(evidence.types)
    seen = f"{evidence.size:,} rows, {width:,} column{'s' * (width != 1)}"
    if steps:
        seen += f", of which {len(steps):,} are called as steps, {steps[0]!r} to {steps[-1]!r}"
    choices = (Choice(name, ROWS[name]) for name in some if steps or name != "wide")
    return _ask("rows", choices, seen, is_clear=len(some) == 1)


def _unit(evidence: Evidence, answers: Answers) -> Question | None:
    rows, unit = answers.get("rows"), answers.get("unit")
    if unit is None:
        taken = evidence.steps if rows == "wide" else ()
        counted = _counted(evidence, [name for name in evidence.types if name not in taken])
        nobody = "each row is another person or case" if rows == "answers" else "all rows are about one person or thing"
        return _ask("unit", [*counted, Choice(NONE, f"no column: {nobody}")], f"{evidence.size:,} rows")
    if unit == NONE:
        return None
    whose, kind = evidence.judged(unit, "unit"), answers.get("kind")
    if kind is not None and names_nobody(kind):
        (different,) = evidence.count(f"count(distinct {whose})")
        if different < evidence.size:
            what = f"{evidence.size:,} rows have {different:,} names in {unit!r}, and with {kind!r} each is another's"
            raise InputError(what, fix="make a table with one row of each, or take another kind").at("unit")
        return None
    if unit not in evidence.types:
        return None
    sql, odd = names_in(evidence, unit)
    if sql == unit:
        return None
    choice = Choice(sql, f"without blanks around, and 7 for 7.0: so read are {odd:,} rows")
    return _ask("unit-read", [choice], column=unit)


def _named(evidence: Evidence, answers: Answers) -> Question | None:
    """Return the question which rows count, where some name nobody."""
    unit = answers.get("unit", NONE)
    if unit == NONE or ("kind" in answers and names_nobody(answers["kind"])):
        return None
    is_named = f"coalesce(length({evidence.judged(unit, 'unit')}::varchar), 0) > 0"
    (nameless,) = evidence.count(f"count(*) filter (not {is_named})")
    return _which_rows(evidence, answers, is_named, f"{nameless:,} rows name nobody") if nameless else None


def _called(answers: Answers) -> Question | None:
    """Return the question what those are whose rows there are, where the name of their column does not tell it."""
    unit, kind = answers.get("unit", NONE), answers.get("kind")
    some = [Choice("person", "or another noun, such as household, bed or receipt")]
    if "called" in answers:
        return None
    if kind == "users":
        return _ask("called-row", some, is_clear=True)
    if unit == NONE or is_told(unit) or (kind is not None and names_nobody(kind)):
        return None
    return _ask("called", some, column=unit, is_clear=True)


def _counted(evidence: Evidence, names: Sequence[str]) -> list[Choice]:
    """Return columns by their number of different values, and none of too many: they are named by who knows them."""
    numbers = evidence.different(names) if len(names) <= MOST_COUNTED else {}
    return [Choice(name, f"{number:,} different") for name, number in sorted(numbers.items(), key=lambda one: one[1])]


def _times(evidence: Evidence, answers: Answers) -> Iterator[Question | None]:
    """Yield the questions when, and how long a step is, then on whose clocks."""
    if answers.get("rows") not in TIMED:
        return
    keys = ("order", "end") if answers["rows"] == "stays" else ("order",)
    for key in keys:
        yield _when(evidence, answers, key)
    if "order" in answers:
        yield _step(evidence, answers)
        yield _timezone(evidence, answers)


def full_readings(evidence: Evidence, answers: Answers, key: str) -> list[Reading]:
    """Return how the time of a row may be read, all of it, as times or as numbers as its step is."""
    some = readings(evidence, columns_in(answers[key], evidence.types), key)
    return [reading for reading in some if reading.is_full and reading.fits(_kind_of_step(answers))]


def _kind_of_step(answers: Answers) -> str | None:
    step = answers.get("step")
    if step is not None and not re.fullmatch(r"[1-9]\d*(s|min|h|d)?", step):
        error = InputError(f"step is {step[:40]!r}").at("step")
        raise error.offering((name, "") for name in ("1", "15min", "1h", "1d"))
    return None if step is None else NUMBERS if step.isdigit() else TIMES


def _when(evidence: Evidence, answers: Answers, key: str) -> Question | None:
    if key not in answers:
        what = "order-of-stays" if answers["rows"] == "stays" and key == "order" else key
        return _ask(what, _orders(evidence, {answers.get("unit"), answers.get("order")}), is_clear=True)
    full = full_readings(evidence, answers, key)
    if key == "order" and full and full[0].there < evidence.size:
        return _where(evidence, answers, key)
    if len(full) == 1 or (_kind_of_step(answers) is None and len({reading.kind == NUMBERS for reading in full}) > 1):
        return None
    if full:
        ways = (Choice(reading.sql, reading.words) for reading in full)
        return _ask("order-read", ways, column=answers[key], key=key)
    return _where(evidence, answers, key)


def _orders(evidence: Evidence, taken: set[str | None]) -> Iterator[Choice]:
    """Yield the columns that may say when, dates with a time of day first."""
    names = [name for name in evidence.types if name not in taken]
    if len(names) > MOST_COUNTED:
        return
    some = {name: [reading for reading in readings(evidence, (name,)) if 2 * reading.rows > reading.there]
            for name in names}  # fmt: skip
    clocks = [name for name in names if is_clock(evidence, name)]
    for day in (name for name in names if any(reading.kind == TIMES for reading in some[name])):
        for clock in clocks:
            both = readings(evidence, (day, clock)) if clock != day else []
            if both and 2 * both[0].rows > both[0].there:
                yield Choice(f"{day}, {clock}", _words(both))
    for are_numbers in (False, True):
        for name, ways in some.items():
            if ways and all(reading.kind == NUMBERS for reading in ways) == are_numbers:
                yield Choice(name, _words(ways))


def _words(ways: Sequence[Reading]) -> str:
    return " or ".join(dict.fromkeys(reading.words for reading in ways[:3]))


def _where(evidence: Evidence, answers: Answers, key: str) -> Question:
    """Return the question which rows count, where few say no time; InputError where most do not."""
    columns, step = columns_in(answers[key], evidence.types), _kind_of_step(answers)
    ways = readings(evidence, columns, key)
    some = [reading for reading in ways if reading.fits(step)]
    if not some or (some[0].there - some[0].rows) * _FEW > some[0].there:
        mixed = f"; {some[0].rows:,} of {some[0].there:,} rows are {some[0].kind}" if some else ""
        kind = "" if step is None else f" as {step}, as step is,"
        what = f"nothing reads all of {answers[key][:80]!r}{kind} to a time of 1900 to 2099{mixed}"
        if step == NUMBERS:
            what = f"nothing reads all of {answers[key][:80]!r} as numbers, as step is{mixed}"
        if others := [reading for reading in ways if reading.is_full and not reading.fits(step)]:
            another, kind = ("1", "number") if step == TIMES else ("1min", "length of time")
            error = InputError(what, rule=f"{others[0].kind} have a step of their kind").at("step")
            raise error.offering([(another, "")], f"another {kind}")
        quoted = " || ' ' || ".join(identifier(column) if column in evidence.types else column for column in columns)
        form = f"strptime({quoted}, {FORM})"
        if step == NUMBERS:
            form = f"datediff('month', DATE '2000-01-01', strptime({quoted}, {MONTH}))"
        error = InputError(what, rule="all times of a column are written alike").at(key)
        raise error.offering([(form, "with your format, or a list of them: ['...', '...']")])
    seen = f"{evidence.size - some[0].rows:,} rows say no time that the others' form reads"
    return _which_rows(evidence, answers, some[0].condition, seen)


def _which_rows(evidence: Evidence, answers: Answers, condition: str, seen: str) -> Question:
    """Return the question which rows count, of which those count that keep a condition."""
    numbered = f"(select *, row_number() over () as takifugu_row from {evidence.rows})"
    numbered = f"(from {numbered}{evidence.where and ' where ' + evidence.where})"
    lost = [row for (row,) in evidence.ask("takifugu_row", f"not ({condition}) order by 1", numbered)]
    listed = ", ".join(map(str, lost[:_NAMED])) + (" ..." if len(lost) > _NAMED else "")
    choice = Choice(f"({answers['where']}) AND {condition}" if answers.get("where") else condition,
                    f"leaves out {len(lost):,} of {evidence.size:,} rows: {listed}")  # fmt: skip
    return _ask("where", [choice], seen)


def _step(evidence: Evidence, answers: Answers) -> Question | None:
    if "step" in answers:
        return None
    full, choices = full_readings(evidence, answers, "order"), list[Choice]()
    for reading in {reading.kind == NUMBERS: reading for reading in full}.values():
        gap = _common_gap(evidence, reading)
        if answers["rows"] in ("samples", "wide") and gap is not None:
            choices.append(Choice(gap, "every row lies on such a step"))
        elif reading.kind != NUMBERS:
            choices += [Choice(word, "shorter than what you want to see") for word in ("1min", "1h", "1d")]
        else:
            choices.append(Choice("1", "its numbers"))
    return _ask("step", choices) if full else None  # else it is asked first which rows count


def _common_gap(evidence: Evidence, reading: Reading) -> str | None:
    """Return the longest step that all rows lie on."""
    kind = "timestamptz" if reading.kind == INSTANTS else "timestamp"  # which moments of nanoseconds are not
    tick = reading.test if reading.kind == NUMBERS else f"epoch_us(cast({reading.test} AS {kind}))"
    places = f"(select distinct {tick} as t from {evidence.counting})"
    gaps = f"distinct t - lag(t) over (order by t) as gap from {places} limit {_MOST_GAPS + 1}"
    lengths = [gap for (gap,) in evidence.relation.rows(f"select {gaps}") if gap]
    if not lengths or len(lengths) > _MOST_GAPS:
        return None
    gap = math.gcd(*lengths)
    if reading.kind == NUMBERS:
        return str(gap)
    return None if gap % 10**6 else time_text(gap * MICROSECOND)


def _timezone(evidence: Evidence, answers: Answers) -> Question | None:
    if answers.get("timezone", NONE) != NONE:
        Zone(answers["timezone"])
        return None
    kinds = {reading.kind for reading in full_readings(evidence, answers, "order")}
    if kinds == {INSTANTS}:
        utc = Choice("UTC", "clocks there show UTC; or Europe/Berlin, any zone")
        return _ask("timezone", [utc], "They are moments: they have an offset, or count from 1970")
    if kinds == {TIMES} and "timezone" not in answers and "unit" in answers and has_hours_twice(evidence, answers):
        zone = Choice("Europe/Berlin", "or another zone: the first of two equal times is taken for summer time")
        as_written = Choice(NONE, "as written: two rows of one hour are refused")
        return _ask("timezone", [zone, as_written], "An hour of an autumn night has each of its times twice")
    return None


def has_hours_twice(evidence: Evidence, answers: Answers) -> bool:
    """Return whether clocks show times of a Sunday night of autumn twice, of one unit."""
    full = [reading for reading in full_readings(evidence, answers, "order") if reading.kind == TIMES]
    if len(full) != 1 or evidence.layout is None or evidence.unpivoted:
        return False
    unit = evidence.judged(answers["unit"], "unit") if answers["unit"] != NONE else "1"
    night = "month(t) in (4, 10, 11) and dayofweek(t) = 0 and hour(t) < 4"
    rows = f"select {unit} as u, cast({full[0].test} as timestamp) as t from {evidence.counting}"
    twice = f"select 1 from ({rows}) where {night} group by u, t having count(*) = 2 limit 1"
    return bool(evidence.relation.rows(twice))


def _values(evidence: Evidence, answers: Answers) -> Iterator[Question | None]:
    """Yield the questions what is published, and what is secret of rows without a time."""
    rows, said = answers.get("rows"), answers.get("value")
    if rows == "answers" and "kind" not in answers:
        some = {kind: example(evidence, {**answers, "kind": kind}) for kind in _SECRETS}
        fit = [kind for kind in _SECRETS if kind not in OF_NUMBERS or value_of(evidence, some[kind]).is_measured]
        yield _ask("kind", [Choice(kind, _SECRETS[kind].format(repr(visible(some[kind])))) for kind in fit])
        return
    if "kind" in answers and KINDS.find(answers["kind"]).facts.of_belief:  # which names columns itself
        return
    if evidence.unpivoted:
        said = said or evidence.unpivoted[1]
    elif said is None and rows is not None:
        taken = {answers.get("unit"), *columns_in(answers.get("order", ""), evidence.types), answers.get("end")}
        what, free = "value-of-visits" if rows == "visits" else "value", [n for n in evidence.types if n not in taken]
        yield _ask(what, _counted(evidence, free), is_clear=True)
    if answers.get("nulls", "refuse") not in _NULLS["nulls"]:
        raise unknown(f"nulls is {answers['nulls'][:40]!r}", answers["nulls"], _NULLS["nulls"]).at("nulls")
    about = "nulls" if rows in TIMED else "missing"
    is_asked = about not in answers and (rows in TIMED or answers.get("kind") == "users")
    for column in columns_in(said, evidence.types) if said is not None else ():
        value = value_of(evidence, column)
        if len(value.ways) > 1:
            yield _ask("value-read", (Choice(way.sql, way.words) for way in value.ways), column=column)
        if value.missing and is_asked:
            kinds = ", ".join(["nothing", *map(repr, value.words)])
            seen = f"{value.missing:,} of {evidence.size:,} rows hold {kinds}"
            yield _ask(about, (Choice(*pair) for pair in _NULLS[about].items()), seen)


def example(evidence: Evidence, answers: Answers) -> str:
    """Return a column to speak of: of a kind about numbers a measured one, else one of few values, but two or more."""
    some = [name for name in evidence.types if name != answers.get("unit")][:MOST_COUNTED] or [*evidence.types]
    if answers.get("kind") in OF_NUMBERS:
        return next((name for name in some if value_of(evidence, name).is_measured), some[-1])
    numbers = evidence.different(some)
    return min(some, key=lambda name: (numbers[name] < 2, numbers[name]))
