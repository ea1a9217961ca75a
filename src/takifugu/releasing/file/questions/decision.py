"""What answers decide: the kind of file, what its rows say, and what its columns are for."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from takifugu.core.errors import InputError, SpecError
from takifugu.releasing.file.drafting.draft import Start, draft_of
from takifugu.releasing.file.guessing.roles import roles_of
from takifugu.releasing.file.guessing.seen import Seen
from takifugu.releasing.file.loading import checked
from takifugu.releasing.file.questions.filling import FILLINGS
from takifugu.releasing.file.questions.five import QUESTIONS
from takifugu.releasing.file.questions.question import NONE, Answers, Question, Subject, option_of, unsaid
from takifugu.releasing.file.source import UNOPENED
from takifugu.releasing.file.toml_words import in_options

#: Returns the answer of a word; InputError for an invalid one, and for one that the file it drafts refuses.
Accept = Callable[[str], str]
#: Asks one question about a table; None where the answer is left out.
Ask = Callable[[Question, Accept], str | None]
#: The questions, by the keys that they set.
_QUESTIONS = {name: name for name in ("step", *FILLINGS)} | {
    "default_state": "otherwise", "fit": "source", "mean_duration": "stay", "next_state": "next",
    "order_format": "dates", "probabilities": "next",
    "units_independent": "independent", "values": "states",
}  # fmt: skip


def answered(subject: Subject, said: Mapping[str, str], ask: Ask) -> list[tuple[Question, str]]:
    """Return the questions about a table, with their answers.

    Answers were `said`, or are to `ask` for. Raises InputError for an invalid answer and for one without its question.
    """
    answers, pairs = dict[str, str](), list[tuple[Question, str]]()
    for name in QUESTIONS:
        question = QUESTIONS[name](subject, answers)
        if question is None:
            if name in said:
                unasked = f"{option_of(name)} is {said[name]!r}, and nothing asks for that"
                needs_states = QUESTIONS[name](subject, {"states": "a, b", **answers}) is not None
                fix = "leave it out, or say --states, too" if needs_states else "leave it out"
                raise InputError(f"{unasked}: rows are {answers['rows']}", fix=fix).at(name)
            continue
        question = replace(question, about=subject.columns_about(question, answers))
        accept = partial(_accepted, subject, pairs, question)
        answer = accept(said[name]) if name in said else ask(question, accept)
        if answer is not None:
            pairs.append((question, answer))
            if name not in FILLINGS or answer != NONE:
                answers[name] = answer
    return pairs


def _accepted(subject: Subject, pairs: Sequence[tuple[Question, str]], question: Question, word: str) -> str:
    """Return a word as an answer; InputError for an invalid or refused one.

    A draft's first refusal of an answer is placed at its question and in the words of its option. Keys that no answer
    has set may be missing, and the data are not opened.
    """
    answer = question.answer(word)
    if question.name not in FILLINGS or answer == NONE:
        return answer
    start = decision(subject, [*pairs, (question, answer)])
    try:
        checked(tomllib.loads(draft_of(start)), start.output, UNOPENED)
    except SpecError as error:
        for fault in error.faults:
            if len(fault.where) > 1 and fault.where[0] in ("source", "belief"):
                name = _QUESTIONS.get(str(fault.where[1]), "")
                if name in start.said:
                    fault.where = (name, *fault.where[2:])
                    raise fault.reworded(partial(in_options, options=_QUESTIONS)).about(option_of(name)) from None
    return answer


def answered_clearly(subject: Subject, said: Mapping[str, str]) -> list[tuple[Question, str]]:
    """Return the questions about a table, with what was said or is clear.

    Raises InputError for all questions at once that are for a person only, as they are if what is offered is so.
    """
    unclear = list[Question]()

    def offered(question: Question, _: Accept) -> str | None:
        if question.must_be_clear and not question.is_clear:
            unclear.append(question)
        return question.offered if question.is_clear or question.must_be_clear else None

    try:
        pairs = answered(subject, said, offered)
    except InputError:
        if not unclear:
            raise
    if unclear:
        # without the first answer others may have one choice only, which is not theirs
        raise unsaid([question for question in unclear if question is unclear[0] or question.choices[1:]])
    return pairs


def decision(subject: Subject, questions: Sequence[tuple[Question, str]]) -> Start:
    """Return what the answers decide, guessing the piece."""
    answers = {question.name: answer for question, answer in questions}
    whose = answers.get("whose", NONE)
    if whose != NONE and subject.unit_role(answers) is None:
        raise InputError(
            f"{option_of('whose')} is {whose!r}"
            f", and under --secret {answers['secret']} each row is another person or case",
            rule="all rows of a person must be hidden together",
            fix=f"make them one row each first, and write {option_of('whose')} -",
        ).at("whose")
    column_of, roles = _answered_columns(subject, answers), _likely_columns(subject, answers)
    if answers["rows"] == "samples":
        roles |= roles_of(subject.facts.columns, column_of)
    roles |= {role: column for role, column in column_of.items() if column is not None}
    across = subject.facts.across if answers["rows"] == "wide" else None
    taken = {name: word for name, word in answers.items() if word != NONE}
    return Start(subject.data, subject.output, subject.look, subject.kind_of(answers), roles, taken, across)


def _answered_columns(subject: Subject, answers: Answers) -> dict[str, Seen | None]:
    """Return the answered columns by role, None if none was meant."""
    names, look, rows = dict[str, str](), subject.look.columns, answers["rows"]
    role = subject.unit_role(answers)
    if role is not None:
        names[role] = answers.get("whose", NONE)
    if rows == "stays":
        start, *clocks, closing = next(stay for stay in subject.facts.stays if ", ".join(stay) == answers["when"])
        key = "end" if clocks or look[closing].is_time else "duration"
        names |= {"order": start, key: closing, **dict(zip(("clock",), clocks, strict=False))}
        if len(clocks) == 2:  # the second is the day of the end
            names |= {"end": clocks[1], "end_clock": closing}
    elif "order" in subject.all_roles(answers):
        names["order"] = answers.get("when", NONE)
    if rows != "visits":
        names["value"] = answers.get("publish", NONE)
    columns: dict[str, Seen | None] = dict.fromkeys(names)
    return columns | {role: look[name] for role, name in names.items() if name != NONE}


def _likely_columns(subject: Subject, answers: Answers) -> dict[str, Seen]:
    """Return the ends of contacts, coordinates, or a time of day."""
    kind, facts = subject.kind_of(answers), subject.facts
    if kind == "contacts" and facts.ends is not None:
        return dict(zip(("one", "other"), facts.ends, strict=True))
    is_placed = kind == "populations" or (kind == "asymmetric" and len(facts.columns) > 2)
    if facts.coordinates is not None and is_placed:
        return dict(zip(("y", "x"), facts.coordinates, strict=True))
    day = facts.look.columns.get(answers.get("when", NONE))
    clock = next((column for column in facts.columns if column.is_clock), None)
    if day is not None and day.is_date and clock is not None and answers["rows"] != "wide":
        return {"clock": clock}
    return {}
