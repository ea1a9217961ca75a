"""The five questions about a table, each from how its columns look and from the answers before it.

What is likely comes from roles of columns (types, names, how many values, what rises); nothing else is guessed here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from takifugu.core.errors import InputError
from takifugu.core.escaping import visible
from takifugu.data.kinds import TEXTS
from takifugu.model.queries.sections import EACH_ROW, IN_ORDER, POLICY
from takifugu.releasing.file.guessing.courses import step_of
from takifugu.releasing.file.guessing.notes import mixed_words
from takifugu.releasing.file.keys import ROWS, STEPS
from takifugu.releasing.file.questions.filling import FILLINGS
from takifugu.releasing.file.questions.question import NONE, Choice, Question
from takifugu.releasing.file.questions.subject import SHAPES, Answers, Subject, shape_of
from takifugu.releasing.file.questions.whose import named_columns, of_columns, unnamed_columns, whose

_HOW_LONG = "How long is a step?"
_SECRETS = {
    "answers": "what each person answered, in any column that is read",
    "column": "what a whole column says, such as its mean or share",
    "population": "from which population a value comes: each is randomised alone",
}


def _rows(subject: Subject, _: Answers) -> Question:
    words = [*_possible(subject)]
    likely = _likely_rows(subject)
    likely = likely if likely in words else words[0]
    is_clear, why = _reason(subject, likely)
    choices = tuple(Choice(word, ROWS[word]) for word in sorted(words, key=lambda word: word != likely))
    is_clear = is_clear or len(words) == 1
    return Question("rows", "What does a row say?", choices, likely, why, is_clear, must_be_clear=True)


def _possible(subject: Subject) -> Iterator[str]:
    """Yield the possible words for a row, under the given kind."""
    shape = None if subject.kind is None else shape_of(subject.kind)
    facts = subject.facts
    if shape in (None, IN_ORDER):
        yield "samples"
        if any(column.is_time for column in facts.orders):
            yield from ("changes", "events")
        if facts.stays:
            yield "stays"
        if facts.across is not None:
            yield "wide"
    meets = facts.ends is not None and subject.kind in (None, "contacts")
    if meets:
        yield "contacts"
    if shape is None or (shape not in (IN_ORDER, POLICY) and not meets):
        yield "answers"
    if shape == POLICY or (shape is None and len(facts.columns) > 1):
        yield "visits"


def _likely_rows(subject: Subject) -> str:
    """Return the word for the likely meaning of a row."""
    shape, facts = shape_of(subject.guess.kind), subject.facts
    if facts.across is not None and not facts.across.are_questions and (subject.kind is None or shape == IN_ORDER):
        return "wide"
    if shape != IN_ORDER:
        if subject.guess.kind == "contacts" and facts.ends is not None:
            return "contacts"
        if subject.kind is None and facts.stays and facts.repeated is not None:
            return "stays"
        return "visits" if shape == POLICY else "answers"
    if facts.is_timed and facts.shifts and facts.stays:
        return "stays"
    if not facts.is_timed or facts.spacing.is_even:
        return "samples"
    if facts.stays:
        return "stays"
    return "events" if facts.spacing.is_repeated else "changes"


def _reason(subject: Subject, likely: str) -> tuple[bool, str]:
    """Return whether a row has only one meaning, and the reason."""
    facts, why, order = subject.facts, subject.guess.why, visible(subject.likely("order") or "")
    if likely == "wide" and facts.across is not None:
        first, *_, last = map(visible, facts.across.names)
        return facts.across.are_times, f"the columns {first!r} to {last!r} are called as steps, and hold the same"
    if likely == "contacts":
        ends = facts.ends or ()
        return bool(ends) and all(end.named("unit") and not end.names_things for end in ends), why
    if facts.mixed_times is not None:
        return False, mixed_words(facts.mixed_times.name)
    if likely == "samples" and facts.spacing.is_even:
        return facts.spacing.is_repeated, f"the steps of {order!r} are even"
    if likely == "stays":
        start, *clocks, closing = facts.stays[0]
        if clocks:
            return False, f"each row has a date and the times of day {visible(clocks[0])!r} and {visible(closing)!r}"
        if facts.look.columns[closing].is_time:
            return False, f"{visible(closing)!r} is never before {visible(start)!r}"
        return False, f"{visible(closing)!r} is how long"
    if likely in ("changes", "events"):
        states = "values recur from row to row" if likely == "events" else "each row has another state than the last"
        return False, f"the steps of {order!r} are uneven, and {states}"
    several = facts.repeated
    if likely == "visits":
        return facts.coordinates is not None and several is not None and several.names_people, why
    is_case = facts.each_row_another is not None or len(facts.questions) > 1 or facts.order is None
    return likely == "answers" and several is None and bool(why) and is_case, why


def _when(subject: Subject, answers: Answers) -> Question | None:
    if answers["rows"] not in STEPS:
        return None
    if answers["rows"] == "wide":
        return _day_of_wide(subject, answers)
    taken, orders = named_columns(subject, answers), _orders(subject, answers)
    choices = [Choice(name, words) for name, words in orders.items() if name not in taken]
    likely = subject.likely("order")
    is_likely = bool(choices) and (choices[0].name == likely or answers["rows"] != "samples")
    if answers["rows"] == "samples":
        none = Choice(NONE, "no column: the rows are in the order of the file")
        choices = [*choices, none] if is_likely else [none, *choices]
    elif not choices:
        fault_text = f"rows are {answers['rows']}, and no column says when"
        raise InputError(fault_text, fix="name columns of times, or write --rows samples").at("when")
    why = f"{visible(likely)!r} sorts the rows" if likely == choices[0].name else ""
    other_columns = unnamed_columns(subject, answers, choices) if answers["rows"] == "samples" else ()
    return Question("when", "When was a row?", tuple(choices), choices[0].name, why, others=other_columns)


def _orders(subject: Subject, answers: Answers) -> Mapping[str, str]:
    """Return the possible columns of a row's time, with words."""
    if answers["rows"] == "stays":
        return {", ".join(pair): "from its start to its end, or for so long" for pair in subject.facts.stays}
    clock = subject.likely("clock")
    orders = {}
    for column in subject.facts.orders:
        if answers["rows"] == "samples" or column.is_time:
            orders[column.name] = "it holds times" if column.is_time else "its numbers"
            if clock is not None and column.is_date:
                orders[column.name] += f", with {visible(clock)!r}"
    return orders


def _day_of_wide(subject: Subject, answers: Answers) -> Question | None:
    """Return the question for the day of rows with clock headers."""
    assert subject.facts.across is not None
    taken = {*named_columns(subject, answers), *subject.facts.across.names}
    if not subject.facts.across.of_days:
        return None
    days = [column for column in subject.look.columns.values() if column.tells_when and column.name not in taken]
    if not days:
        fault_text = "the columns are times of day, and no column says of which day"
        raise InputError(fault_text, fix="name a column of dates").at("when")
    choices = tuple(Choice(column.name, "the day of a row") for column in days)
    return Question("when", "Of which day is a row?", choices, choices[0].name)


def _step(subject: Subject, answers: Answers) -> Question | None:
    if answers["rows"] == "wide":
        return _step_of_wide(subject)
    if answers["rows"] not in STEPS or answers.get("when", NONE) == NONE:
        return None
    gap = subject.facts.spacing.gap if answers["when"] == subject.likely("order") else None
    timed = answers["rows"] != "samples" or subject.look.columns[answers["when"]].is_time
    step = step_of(gap, timed) if gap is not None and subject.facts.spacing.is_even else None
    choices = [] if step is None else [Choice(step, "the commonest step; it becomes public, so check it")]
    if answers["rows"] == "samples":
        choices.append(Choice(NONE, "not said: no row is missing"))
    else:
        choices += [Choice(some, "shorter than what you want to see") for some in ("1min", "1h", "1d") if some != step]
    form, offered = "times" if timed else "numbers", choices[0].name
    return Question("step", _HOW_LONG, tuple(choices), offered, is_clear=offered == NONE, form=form)


def _step_of_wide(subject: Subject) -> Question | None:
    """Return the question for the distance of columns of times."""
    across = subject.facts.across
    assert across is not None
    step = None if across.gap is None else step_of(across.gap, across.are_times)
    if step is None:
        return None
    choices = Choice(step, "how far apart most columns are"), Choice(NONE, "not said: no step is missing")
    form = "times" if across.are_times else "numbers"
    return Question("step", _HOW_LONG, choices, step, form=form)


def _secret(subject: Subject, answers: Answers) -> Question:
    rows = answers["rows"]
    if rows != "answers":
        words = {"visits": "that somebody was where they were", "contacts": "the state of every single person"}
        every = words.get(rows, "the state of everybody in every single step")
        return Question("secret", "What is secret?", (Choice("every-entry", every),), "every-entry", must_be_clear=True)
    shape = shape_of(subject.kind_of(answers))
    likely = next((secret for secret in SHAPES if SHAPES[secret] == shape), "answers")
    if subject.kind is not None:
        return Question("secret", "What is secret?", (Choice(likely, _SECRETS[likely]),), likely, must_be_clear=True)
    is_clear, why = likely == "answers", ""
    if not is_clear:
        why = subject.guess.why
    choices = tuple(Choice(secret, _SECRETS[secret]) for secret in dict.fromkeys((likely, *SHAPES)))
    return Question("secret", "What is secret?", choices, likely, why, is_clear, must_be_clear=True)


def _publish(subject: Subject, answers: Answers) -> Question | None:
    if answers["rows"] == "visits":
        safe = Choice("safe", "places where so few were that all may know")
        queries = safe, Choice("visitors", "how many were where")
        return Question("publish", "What do you want to publish?", queries, "safe")
    is_randomised = shape_of(subject.kind_of(answers)) == EACH_ROW
    if "value" not in subject.all_roles(answers) or answers["rows"] in ("contacts", "wide") or is_randomised:
        return None
    taken = named_columns(subject, answers)
    few = [c for c in subject.facts.answers if c.name not in taken]
    likely = subject.likely("value") if answers["rows"] in STEPS else None
    if answers["rows"] in ("stays", "events"):  # a state of its own is without a row
        alone = (c for c in subject.look.columns.values() if c.kind == TEXTS and len(c.labels) == 1)
        few += [c for c in alone if c.name not in taken]
    few.sort(key=lambda column: (column.name != likely, column.named("unit")))
    numbers = [c for c in subject.facts.amounts if c.name not in taken and c not in few]
    choices = of_columns(few, "how often each of its values")
    choices += of_columns(numbers, "how often each class of its numbers")
    other_columns = unnamed_columns(subject, answers, choices)
    if not choices:
        choices = of_columns([subject.look.columns[name] for name in other_columns], "how often each of its values")
        if not choices:
            return None
        return Question("publish", "What do you want to publish?", tuple(choices), None, is_clear=False)
    return Question("publish", "What do you want to publish?", tuple(choices), choices[0].name, others=other_columns)


#: The questions in their order; the step belongs to the third, and what comes after the fifth no table has.
QUESTIONS: Mapping[str, Callable[[Subject, Answers], Question | None]] = {
    "rows": _rows, "whose": whose, "when": _when, "step": _step, "secret": _secret, "publish": _publish, **FILLINGS,
}  # fmt: skip
