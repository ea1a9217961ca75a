"""What a session has asked, as the ledger's row keeps it: questions and noisy answers, in their order."""

from __future__ import annotations

import json

from takifugu.core.errors import InputError, LedgerError

_FORMAT = "takifugu-session/1"

#: How the ledger says that what was paid for is a session.
RECIPE = {"kind": "session"}

#: A question (public: it holds no data) and its noisy answer, as texts.
Answered = tuple[str, str]


def check_text(answer: object, name: str) -> None:
    """Refuse anything but a text.

    Raises InputError without the answer, which is never printed.
    """
    if not isinstance(answer, str):
        raise InputError(f"the {name} is not a text", fix="write numbers as texts, such as str(value)").at(name)


def written(questions: tuple[Answered, ...]) -> bytes:
    return json.dumps({"format": _FORMAT, "asked": questions}, separators=(",", ":")).encode()


def read(content: bytes | None) -> tuple[Answered, ...]:
    """Return a session's answers; raises LedgerError for other releases."""
    if content is None:
        return ()
    data = json.loads(content)
    if data.get("format") != _FORMAT:
        raise no_session("its values were drawn at once", "publish them")
    return tuple((str(question), str(answer)) for question, answer in data["asked"])


def no_session(rule: str, fix: str) -> LedgerError:
    return LedgerError("the reservation is no session", rule=rule, fix=fix)


def with_answer(answers: tuple[Answered, ...], number: int, new: Answered) -> tuple[Answered, ...]:
    """Return a session's answers with one to question `number`.

    The first answer counts. Raises LedgerError where the answers before it are not all kept, or another question has
    its number.
    """
    if number > len(answers):
        raise LedgerError(
            f"question {number} of a session was asked, and {len(answers)} answers are kept",
            fix="ask again: each answer is kept before the next question",
        )
    if number < len(answers):
        if answers[number][0] != new[0]:
            raise LedgerError(
                f"question {number} of the session was asked by another process, and was another one",
                fix="ask again, knowing its answer",
            )
        return answers
    return (*answers, new)
