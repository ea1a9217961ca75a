"""Questions whose answers no table has: what its author knows from a code book, a paper or a calendar.

Enter leaves each for later, but not dates that can be read in two ways, nor the zone of moments: then the key is
missing in the file, and `takifugu check` names it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta

from takifugu.core.escaping import visible
from takifugu.data import parse_step
from takifugu.releasing.file.drafting.draft import names, names_a_file
from takifugu.releasing.file.keys import LASTING, STEPS
from takifugu.releasing.file.questions.question import NONE, Answers, Choice, Question, Subject

_LATER = Choice(NONE, "leave it for later; `takifugu check` names what is missing")
_WRONG = (
    "noise is made for stays as long as you say. If they really last longer, less is hidden than the file promises; if "
    "they are shorter, there is more noise than needed"
)
#: So many offsets are named.
_LISTED = 4
_Filling = Callable[[Subject, Answers], Question | None]


def _later(name: str, words: str, why: str, *choices: Choice, form: str | None = None) -> Question:
    return Question(name, words, (_LATER, *choices), NONE, why, form=form)


def _where_needed(name: str, words: str, why: str, *choices: Choice) -> tuple[str, _Filling]:
    """Return a question where it is needed."""
    form = None if choices else "text"

    def question(subject: Subject, answers: Answers) -> Question | None:
        if name in _needed(subject, answers):
            return _later(name, words, why, *choices, form=form)
        return None

    return name, question


def _needed(subject: Subject, answers: Answers) -> Iterator[str]:
    """Yield what a file of such rows needs, whatever was answered before."""
    kind, lasts, has_people = subject.kind_of(answers), answers["rows"] in LASTING, answers.get("whose", NONE) != NONE
    if _is_chain(subject, answers) or kind in ("users", "contacts"):
        yield "states"
    if kind == "users":
        yield "size"
    if lasts:
        yield from ("from", "until")
    if lasts and has_people:
        yield "roster"
    if _is_chain(subject, answers) and has_people:
        yield "independent"
    if answers["rows"] == "contacts" and subject.facts.ends is not None:
        yield "public"


def _is_chain(subject: Subject, answers: Answers) -> bool:
    return answers["rows"] in STEPS and subject.kind_of(answers).startswith("markov-chain")


def _dates(subject: Subject, answers: Answers) -> Question | None:
    column = subject.look.columns.get(answers.get("when", NONE).partition(", ")[0])
    if column is not None and column.is_unread:
        why = "a format, for example %d/%m/%Y %H:%M or %d %b %Y; other words and weeks must become dates first"
        return _later("dates", f"How are the times in {visible(column.name)!r} written?", why, form="text")
    if column is None or not column.forms[1:]:
        return None
    words, readings = "Which number of a date is the day?", [Choice(form, "is read so") for form in column.forms]
    if column.is_unclear:
        why = f"nothing in {visible(column.name)!r} tells the day from the month"
        return Question("dates", words, tuple(readings), None, why, False, must_be_clear=True)
    why = f"the rows of {visible(column.name)!r} rise only so, but {column.forms[1]} fits, too"
    return Question("dates", words, (*readings, _LATER), column.forms[0], why)


def _timezone(subject: Subject, answers: Answers) -> Question | None:
    """Return the question of whose clocks show the times, where these are moments."""
    column = subject.look.columns.get(answers.get("when", NONE).partition(", ")[0])
    if answers["rows"] not in STEPS or answers["rows"] == "wide" or column is None or not column.are_moments:
        return None
    why = f"hours, days and weekdays are those of clocks there, and {visible(column.name)!r} holds "
    if column.offsets:
        seen = ", ".join(column.offsets[:_LISTED])
        why += f"moments, written with the offsets {seen}"
    else:
        why += "moments: numbers since 1970, which tell no zone"
    words = "In which time zone do clocks show these times?"
    choices = (Choice("UTC", "clocks there show the time in UTC; any other zone by its name, such as Europe/Berlin"),)
    return Question("timezone", words, choices, None, why, is_clear=False, must_be_clear=True, form="text")


def _otherwise(subject: Subject, answers: Answers) -> Question | None:
    rows, across = answers["rows"], subject.facts.across
    has_gaps = rows == "wide" and across is not None and across.has_gaps
    if "states" not in answers or not (rows in LASTING or has_gaps):
        return None
    words = "Which state has a step without a row?"
    if rows == "changes":
        words = "In which state was everybody until a first row, if that is a fact?"
    elif has_gaps:
        words = "Which state does an empty cell mean?"
    return _later("otherwise", words, "", *(Choice(state, "this state") for state in names(answers["states"])))


def _source(subject: Subject, answers: Answers) -> Question | None:
    if not _is_chain(subject, answers) or "states" not in answers:
        return None
    choices = [Choice("Smith 2019", "the paper or the book in which they were published"),
               Choice("assumed", "a guess")]  # fmt: skip
    if answers["rows"] in ("samples", "wide"):  # what is fitted counts transitions row by row
        choices.insert(0, Choice("public.csv", "a public table of such rows: all chains that it supports are believed"))
    return _later("source", "Where do you know from how long states last?", _WRONG, *choices, form="text")


def _stay(subject: Subject, answers: Answers) -> Question | None:
    if not _is_chain(subject, answers) or "states" not in answers or names_a_file(answers.get("source", "")):
        return None
    step, first = answers.get("step", NONE), names(answers["states"])[0]
    unit = "min" if step != NONE and isinstance(parse_step(step), timedelta) else "(steps)"
    why = f"for example {first} 100 {unit} and so on, with commas; {_WRONG}"
    return _later("stay", "How long does each state last at a time, on average?", why, form="text")


def _next(subject: Subject, answers: Answers) -> Question | None:
    words, why = "How likely is each value?", "for example yes 0.1, no 0.9; not from these data"
    if subject.kind_of(answers) != "users" or "states" not in answers:
        if "stay" not in answers or len(names(answers["states"])) < 3:
            return None
        words = "How often does each state come when another one ends?"
        why = "as shares, for example still 0.6, walking 0.3, running 0.1"
    return _later("next", words, why, form="text")


FILLINGS: Mapping[str, _Filling] = dict((
    ("dates", _dates), ("timezone", _timezone),
    _where_needed("states", "Which states or values are there?",
                  "all that can occur by a code book or a questionnaire, whether or not they do, "
                  "such as still, walking"),
    _where_needed("size", "How many people are there?", "the number becomes public"),
    _where_needed("from", "When does the recording start?", "a day that is known without the rows"),
    _where_needed("until", "When does it end?", "at the latest the day of the export"),
    _where_needed("roster", "Who was recorded?",
                  "a public list: its file, or the names with commas; not from these rows"),
    ("otherwise", _otherwise), ("source", _source), ("stay", _stay), ("next", _next),
    _where_needed("independent", "Does one person say nothing about the others?", "no families, no shared rooms",
                  Choice("yes", "none says anything about another")),
    _where_needed("public", "May everybody know who met whom?", "", Choice("yes", "it is public")),
))  # fmt: skip
