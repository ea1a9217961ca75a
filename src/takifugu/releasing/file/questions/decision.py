"""What answers decide: the kind of file, what its rows say, and what its columns are for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from takifugu.core.errors import InputError
from takifugu.releasing.file.guessing.across import Across
from takifugu.releasing.file.guessing.columns import Column, with_roles
from takifugu.releasing.file.guessing.marks import with_marks
from takifugu.releasing.file.guessing.rules import with_pairs
from takifugu.releasing.file.kinds import KINDS
from takifugu.releasing.file.questions.filling import FILLINGS, check
from takifugu.releasing.file.questions.five import QUESTIONS
from takifugu.releasing.file.questions.question import NONE, Question
from takifugu.releasing.file.questions.subject import Answers, Subject, named

#: Asks one question about a table; None where the answer is left out.
Ask = Callable[[Question], str | None]


@dataclass(frozen=True)
class Decision:
    """What a file is decided to be; `said` are the answers, but for those left for later."""

    kind: str
    columns: tuple[Column, ...]
    said: Mapping[str, str]
    across: Across | None = None


def answered(subject: Subject, said: Mapping[str, str], ask: Ask) -> list[tuple[Question, str]]:
    """Return the questions about a table, with their answers.

    Answers were `said`, or are to `ask` for. Raises InputError for an invalid answer and for one without its question.
    """
    answers, pairs = dict[str, str](), list[tuple[Question, str]]()
    for name in QUESTIONS:
        question = QUESTIONS[name](subject, answers)
        if question is None:
            if name in said:
                fault_text = f"--{name} is {said[name]!r}, and nothing asks for that: rows are {answers['rows']}"
                raise InputError(fault_text, fix="leave it out").at(name)
            continue
        answer = question.answer(said[name]) if name in said else ask(question)
        if answer is not None:
            pairs.append((question, answer))
            if name not in FILLINGS or answer != NONE:
                answers[name] = answer
                check(answers)
    return pairs


def clearly_offered(question: Question) -> str | None:
    """Return a clear question's offer; InputError if protection depends on it."""
    if question.is_clear:
        return question.offered
    if question.must_be_clear:
        raise question.unsaid()
    return None


def decision(subject: Subject, questions: Sequence[tuple[Question, str]]) -> Decision:
    """Return the decision of the answers, guessing the rest."""
    answers = {question.name: answer for question, answer in questions}
    is_wide = answers["rows"] == "wide"
    kind = subject.kind_of(answers)
    _check_people(subject, answers)
    column_of = _chosen(subject, answers)
    roles = KINDS.find(kind).facts.roles
    columns = with_roles(subject.look, roles, column_of)
    across = subject.across if is_wide else None
    if across is not None:
        columns = tuple(replace(c, role=None) if c.name not in column_of.values() else c for c in columns)
        unread = (c.name for c in columns if c.role is None)
        across = replace(across, ignored=tuple(name for name in unread if name not in across.names))
    columns = with_pairs(subject.facts, columns, kind)
    columns = with_marks(subject.look, subject.facts.look, columns)
    if answers["rows"] == "stays":
        columns = _with_ends(columns, *_pair(subject, answers["when"]))
    taken = {name: word for name, word in answers.items() if word != NONE}
    return Decision(kind, columns, taken, across)


def _check_people(subject: Subject, answers: Answers) -> None:
    """Raise InputError for somebody's rows in a file of separate people."""
    whose = named(answers.get("whose", NONE))
    if whose is not None and subject.unit_role(answers) is None:
        raise InputError(
            f"--whose is {whose!r}, and under --secret {answers['secret']} each row is another person or case",
            rule="all rows of a person must be hidden together",
            fix="make them one row each first, and write --whose -",
        ).at("whose")


def _chosen(subject: Subject, answers: Answers) -> dict[str, str | None]:
    """Return the answered columns by role, None if none was meant."""
    column_of = dict[str, str | None]()
    role = subject.unit_role(answers)
    if "whose" in answers and role is not None:
        column_of[role] = named(answers["whose"])
    if answers["rows"] == "wide":
        return {**column_of, "order": named(answers.get("when", NONE)), "piece": None, "value": None}
    if "when" in answers:
        is_stay = answers["rows"] == "stays"
        column_of["order"] = _pair(subject, answers["when"])[0] if is_stay else named(answers["when"])
    if "publish" in answers and answers["rows"] != "visits":
        column_of["value"] = named(answers["publish"])
    return column_of


def _pair(subject: Subject, words: str) -> tuple[str, str]:
    return next(pair for pair in subject.stays if ", ".join(pair) == words)


def _with_ends(columns: tuple[Column, ...], start: str, end: str) -> tuple[Column, ...]:
    """Return the columns of stays: a start and an end, no order."""
    roles = {start: "start", end: "end"}
    parts = (replace(c, role=None) if c.role in ("order", "clock", "piece") else c for c in columns)
    return tuple(replace(c, role=roles[c.name]) if c.name in roles else c for c in parts)
