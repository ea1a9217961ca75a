"""What a session has asked, as the ledger's row keeps it: questions and noisy answers, in their order."""

from __future__ import annotations

import json

from takifugu.errors import LedgerError

_FORMAT = "takifugu-session/1"

#: A question (public: it holds no data) and its noisy answer, as texts.
Asked = tuple[str, str]


def written(asked: tuple[Asked, ...]) -> bytes:
    return json.dumps({"format": _FORMAT, "asked": asked}, separators=(",", ":")).encode()


def read(kept: bytes | None) -> tuple[Asked, ...]:
    """Read what a session kept; LedgerError where that is another kind of release."""
    if kept is None:
        return ()
    told = json.loads(kept)
    if told.get("format") != _FORMAT:
        raise LedgerError("the reservation is no session", rule="its values were drawn at once", fix="publish them")
    return tuple((str(question), str(answer)) for question, answer in told["asked"])


def with_answer(known: tuple[Asked, ...], number: int, new: Asked) -> tuple[Asked, ...]:
    """Return what is kept once question `number` has an answer: the first one that came counts.

    Raises LedgerError where the answers before it are not all kept, or another question has its number.
    """
    if number > len(known):
        raise LedgerError(
            f"question {number} of a session was asked, and {len(known)} answers are kept",
            fix="ask again: each answer is kept before the next question",
        )
    if number < len(known):
        if known[number][0] != new[0]:
            raise LedgerError(
                f"question {number} of the session was asked by another process, and was another one",
                fix="ask again, knowing its answer",
            )
        return known
    return (*known, new)
