"""The five questions about a table, each from how its columns look and from the answers before it.

What is likely comes from roles of columns (types, names, how many values, what rises); nothing else is guessed here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from takifugu.core.errors import InputError
from takifugu.core.escaping import visible
from takifugu.core.lists import among
from takifugu.data.kinds import TEXTS
from takifugu.model.queries.sections import EACH_ROW, IN_ORDER, POLICY
from takifugu.releasing.file.guessing.facts import Facts
from takifugu.releasing.file.guessing.notes import mixed_words, unread_words
from takifugu.releasing.file.guessing.roles import roles_of, step_of
from takifugu.releasing.file.keys import ROWS, STEPS
from takifugu.releasing.file.questions.filling import FILLINGS
from takifugu.releasing.file.questions.likely import in_order
from takifugu.releasing.file.questions.question import (
    NONE,
    SHAPES,
    Answers,
    Choice,
    Question,
    Subject,
    of_columns,
    shape_of,
)
from takifugu.releasing.file.questions.whose import whose_question

_SECRETS = {
    "answers": "what each person answered, in any column that is read",
    "column": "what a whole column says, such as its mean or share",
    "population": "from which population a value comes: each is randomised alone",
}
#: What to do about rows that last, of which no column says when; and about stays.
_TIMES = (
    "name columns of times, or write --rows samples",
    "name a column of starts and one of ends, none before its start, as times (in pandas, frame['start'] = "
    "pandas.to_datetime(frame['start'], unit='D', origin='1899-12-30') makes them of Excel's days, such as 46027.5), "
    "or one of lengths as numbers (frame['seconds'] = pandas.to_timedelta(frame['duration']).dt.total_seconds() makes "
    "them of 1h 3m and 26:10:00, and of 3:25, if that is hours and minutes, once ':00' is added)",
)
_TEXTS = "its texts, in a format that you say"
_NO_TIMES = (
    "no column holds times in a usual format (numbers are seconds since 1970 or thousandths of one, which // 1_000_000 "
    "makes of billionths)"
)
_ENTRIES = {"visits": "that somebody was where they were", "contacts": "the state of every single person"}


def _rows(subject: Subject, _: Answers) -> Question:
    words, likely = [*_possible(subject)], subject.likely
    if likely.rows not in words and "samples" in words:
        likely = in_order(subject.facts)
    offered = likely.rows if likely.rows in words else words[0]
    choices = tuple(Choice(word, ROWS[word]) for word in sorted(words, key=lambda word: word != offered))
    is_clear = len(words) == 1 or (likely.is_clear and likely.rows == offered)
    return Question("rows", "What does a row say?", choices, offered, likely.why, is_clear, must_be_clear=True)


def _possible(subject: Subject) -> Iterator[str]:
    """Yield the possible words for a row, under the given kind."""
    shape = None if subject.kind is None else shape_of(subject.kind)
    facts = subject.facts
    if shape in (None, IN_ORDER):
        yield from ("samples", "changes", "events", "stays")
        if facts.across is not None:
            yield "wide"
    meets = facts.ends is not None and subject.kind in (None, "contacts")
    if meets:
        yield "contacts"
    if shape is None or (shape not in (IN_ORDER, POLICY) and not meets):
        yield "answers"
    if shape == POLICY or (shape is None and len(facts.columns) > 1):
        yield "visits"


def _when(subject: Subject, answers: Answers) -> Question | None:
    rows = answers["rows"]
    if rows not in STEPS:
        return None
    if rows == "wide":
        return _day_of_wide(subject, answers)
    taken, likely = subject.named_columns(answers), subject.column("order")
    choices = [choice for choice in _orders(subject, rows) if choice.name not in taken]
    others = () if rows == "stays" else subject.unnamed_columns(answers, choices)
    if rows == "samples":
        none = Choice(NONE, "no column: the rows are in the order of the file")
        choices.insert(len(choices) if choices and choices[0].name == likely else 0, none)
    else:  # what lasts is in no order of numbers
        others = tuple(name for name in others if subject.look.columns[name].kind == TEXTS)
    if not choices and not others:
        raise InputError(f"rows are {rows}, and no column says when", fix=_TIMES[rows == "stays"]).at("when")
    words = "When was a row?"
    if not choices:
        mixed = subject.facts.mixed_times
        why = _NO_TIMES if mixed is None else mixed_words(mixed.name)
        choices = [Choice(name, _TEXTS) for name in others]
        return Question("when", words, tuple(choices), None, why, False, must_be_clear=True)
    why, is_clear, unread = "", True, subject.facts.unread_times
    if likely == choices[0].name:
        why = f"{visible(likely)!r} sorts the rows"
    if rows == "stays":
        why = _unclear_stays(subject.facts)
        is_clear = not why
    elif choices[0].name == NONE and unread is not None:
        why, is_clear = unread_words(unread.name), False
    return Question("when", words, tuple(choices), choices[0].name, why, is_clear, must_be_clear=True, others=others)


def _unclear_stays(facts: Facts) -> str:
    """Say what is unclear about starts and ends, if anything."""
    if len(facts.stays) > 1:
        return "several columns may be its start and its end"
    start, *_, closing = facts.stays[0]
    if facts.look.columns[closing].is_duration:
        return f"nothing tells whether {visible(start)!r} is when it started; of an end make a start first"
    return ""


def _orders(subject: Subject, rows: str) -> Iterator[Choice]:
    """Yield the possible columns of a row's time."""
    if rows == "stays":
        for stay in subject.facts.stays:
            yield Choice(", ".join(stay), "from its start to its end, or for so long")
        return
    clock = subject.column("clock")
    for column in subject.facts.orders:
        if rows != "samples" and not column.is_time:
            continue
        words = "its numbers"
        if column.is_time:
            words = "it holds times"
        elif column.is_unread:
            words = _TEXTS
        if clock is not None and column.is_date:
            words += f", with {visible(clock)!r}"
        yield Choice(column.name, words)


def _day_of_wide(subject: Subject, answers: Answers) -> Question | None:
    """Return the question for the day of rows with clock headers."""
    across = subject.facts.across
    if across is None or across.sort != "clock":
        return None
    taken = {*subject.named_columns(answers), *across.names}
    days = [column for column in subject.look.columns.values() if column.tells_when and column.name not in taken]
    if not days:
        fault_text = "the columns are times of day, and no column says of which day"
        raise InputError(fault_text, fix="name a column of dates").at("when")
    choices = of_columns(days, "the day of a row")
    return Question("when", "Of which day is a row?", tuple(choices), choices[0].name)


def _step(subject: Subject, answers: Answers) -> Question | None:
    rows, across, spacing = answers["rows"], subject.facts.across, subject.facts.spacing
    if rows not in STEPS or (rows != "wide" and answers.get("when", NONE) == NONE):
        return None
    gap = spacing.gap if spacing.is_even and answers.get("when") == subject.column("order") else None
    if rows == "wide" and across is not None:
        timed, gap = across.are_times, across.gap
        if gap is None:
            return None
    else:
        timed = rows != "samples" or subject.look.columns[answers["when"]].is_time
    step = None if gap is None else step_of(gap, timed)
    choices = [] if step is None else [Choice(step, "the commonest step; it becomes public, so check it")]
    if rows in ("samples", "wide"):
        choices.append(Choice(NONE, "not said: no row is missing"))
    else:
        choices += [Choice(some, "shorter than what you want to see") for some in ("1min", "1h", "1d") if some != step]
    form, offered = "times" if timed else "numbers", choices[0].name
    is_clear = rows == "wide" or offered == NONE
    return Question("step", "How long is a step?", tuple(choices), offered, is_clear=is_clear, form=form)


def _secret(subject: Subject, answers: Answers) -> Question:
    rows, words, likely = answers["rows"], "What is secret?", subject.likely
    if rows != "answers":
        entry = Choice("every-entry", _ENTRIES.get(rows, "the state of everybody in every single step"))
        return Question("secret", words, (entry,), "every-entry", must_be_clear=True)
    if subject.kind is not None:
        shape = shape_of(subject.kind)
        secret = next((secret for secret in SHAPES if SHAPES[secret] == shape), "answers")
        return Question("secret", words, (Choice(secret, _SECRETS[secret]),), secret, must_be_clear=True)
    is_clear = likely.secret == "answers"
    choices = tuple(Choice(secret, _SECRETS[secret]) for secret in dict.fromkeys((likely.secret, *SHAPES)))
    why = "" if is_clear else likely.why
    return Question("secret", words, choices, likely.secret, why, is_clear, must_be_clear=True)


def _publish(subject: Subject, answers: Answers) -> Question | None:
    rows, words = answers["rows"], "What do you want to publish?"
    if rows == "visits":
        safe = Choice("safe", "places where so few were that all may know")
        return Question("publish", words, (safe, Choice("visitors", "how many were where")), "safe")
    is_randomised = shape_of(subject.kind_of(answers)) == EACH_ROW
    if "value" not in subject.all_roles(answers) or rows in ("contacts", "wide") or is_randomised:
        return None
    free = [c for c in subject.look.columns.values() if c.name not in subject.named_columns(answers)]
    likely = roles_of(free, {"order": None, "unit": None}).get("value") if rows in STEPS else None
    few = among(free, subject.facts.answers)
    if rows in ("stays", "events"):  # a state of its own is without a row
        few += [c for c in free if c.kind == TEXTS and len(c.labels) == 1]
    few.sort(key=lambda column: (column is not likely, len(column.labels) == 1, column.named("unit")))
    choices = of_columns(few, "how often each of its values")
    choices += of_columns([c for c in subject.facts.amounts if c in free and c not in few], "how often each class")
    if choices:
        others = subject.unnamed_columns(answers, choices)
        states = [column.name for column in few if column.named("value")] or [choice.name for choice in choices]
        is_clear = rows not in STEPS or states == [choices[0].name]
        why = "" if is_clear else "several columns may say the state"
        return Question(
            "publish", words, tuple(choices), choices[0].name, why, is_clear, must_be_clear=True, others=others
        )
    choices = of_columns(free, "how often each of its values")
    return Question("publish", words, tuple(choices), None, is_clear=False) if choices else None


#: The questions in their order; the step belongs to the third, and what comes after the fifth no table has.
QUESTIONS: Mapping[str, Callable[[Subject, Answers], Question | None]] = {
    "rows": _rows, "whose": whose_question, "when": _when, "step": _step, "secret": _secret, "publish": _publish,
    **FILLINGS,
}  # fmt: skip
