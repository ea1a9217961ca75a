"""What becomes of a reservation: reserved → drawn → published, each an event; its noisy values are kept in between.

A session draws an answer at a time: its row keeps the questions, which are public, with their noisy answers.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from takifugu.accounting.ledger.applying import note
from takifugu.accounting.ledger.disk import outputs, sqlite
from takifugu.accounting.ledger.disk.sqlite import Connection
from takifugu.accounting.ledger.encoding import decoding
from takifugu.accounting.ledger.facts import Fact
from takifugu.accounting.ledger.pending import held, keep_bundle, packed, unpacked
from takifugu.accounting.ledger.store import Store, source_of_row
from takifugu.accounting.ledger.values import DRAWN, PUBLISHED, RESERVED
from takifugu.core.errors import InputError, LedgerError

_FORMAT = "takifugu-session/1"

#: How the ledger says that what was paid for is a session.
RECIPE = {"kind": "session"}

#: A question (public: it holds no data) and its noisy answer, as texts.
Answered = tuple[str, str]


def draw(store: Store, group: str, bundle: bytes, certificates: Sequence[str]) -> bytes:
    """Keep a draw's noisy values and note it; return those of the first draw.

    Raises as `keep_drawn` does, without a trace of these values.
    """
    path = store.place
    with sqlite.explained(path):
        stored = outputs.placed(path, group, packed(bundle))
    with store.writing() as connection:
        try:
            content = keep_drawn(connection, path, group, stored, certificates)
        except LedgerError:
            outputs.forget(path, stored)
            raise
    if content is None:
        return bundle
    outputs.forget(path, stored)
    return content


def keep_drawn(
    connection: Connection, ledger: Path, group: str, bundle: bytes, certificates: Sequence[str] = ()
) -> bytes | None:
    """Note a reservation's draw and keep `bundle` (see `outputs`).

    Returns None, or the bundle that another process kept first. `certificates` are the keyed digests by which the
    ledger knows the draw after it is published. Raises LedgerError for a reservation that this ledger does not have, or
    whose values were published already.
    """
    row = held(connection, group)
    if row.state == RESERVED:
        if certificates:
            _move(connection, group, "drawn", certificates=list(certificates))
        else:
            _move(connection, group, "drawn")
        keep_bundle(connection, group, bundle)
        return None
    content = unpacked(ledger, row.bundle)
    if row.state == DRAWN and content is not None:
        return content
    if row.state == DRAWN and row.bundle is not None:
        raise LedgerError(
            f"the reservation {group!r} was drawn, and the file of its values beside the ledger is lost or altered",
            rule="its epsilon is spent, and drawing again would publish it twice",
            fix="bring the file back, or make another release",
        )
    if row.state == DRAWN:
        raise LedgerError(
            f"the reservation {group!r} was drawn, and the ledger lacks its values",
            rule="its epsilon is spent, and what it drew cannot be published again",
            fix="make another release",
        )
    raise LedgerError(
        f"the reservation {group!r} was drawn and published before ({row.changed})",
        rule="its values are out, and a second draw would pay nothing for them",
        fix="use what was published, or make another release",
    )


def check_text(answer: object, name: str) -> None:
    """Refuse anything but a text.

    Raises InputError without the answer, which is never printed.
    """
    if not isinstance(answer, str):
        raise InputError(f"the {name} is not a text", fix="write numbers as texts, such as str(value)").at(name)


def _no_session(rule: str, fix: str) -> LedgerError:
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


def read_session(connection: Connection, ledger: Path, group: str) -> tuple[Answered, ...]:
    """Return the answers of an open session.

    Raises LedgerError for one that is closed, and for no session.
    """
    row = held(connection, group)
    if row.state == PUBLISHED:
        raise LedgerError(
            f"the session {group!r} is closed ({row.changed})", rule="its epsilon is spent", fix="reserve another one"
        )
    with decoding():
        if json.loads(row.recipe).get("kind") != RECIPE["kind"]:
            raise _no_session("it is another release that was paid for", "complete it, or open a session")
        content = unpacked(ledger, row.bundle)
        if content is None:
            return ()
        data = json.loads(content)
        if data.get("format") != _FORMAT:
            raise _no_session("its values were drawn at once", "publish them")
        return tuple((str(question), str(answer)) for question, answer in data["asked"])


def keep_answer(connection: Connection, ledger: Path, group: str, number: int, new: Answered) -> tuple[Answered, ...]:
    """Keep one answer, unless another process did, and return all."""
    answered = read_session(connection, ledger, group)
    questions = with_answer(answered, number, new)
    if questions is not answered:
        if held(connection, group).state == RESERVED:
            _move(connection, group, "drawn")
        content = json.dumps({"format": _FORMAT, "asked": questions}, separators=(",", ":"))
        keep_bundle(connection, group, packed(content.encode()))
    return questions


def close_session(connection: Connection, ledger: Path, group: str) -> None:
    """Note a session's end and drop its answers."""
    read_session(connection, ledger, group)
    _move(connection, group, "published")


def set_published(connection: Connection, group: str) -> None:
    """Note the publication of values and drop them, once or again."""
    row = held(connection, group)
    if row.state == RESERVED:
        raise LedgerError(
            f"the reservation {group!r} is {RESERVED!r} and was never {DRAWN!r}, so it cannot become {PUBLISHED!r}",
            fix="reserve, draw and publish, in this order",
        )
    if row.state != PUBLISHED:
        _move(connection, group, "published")


def finish(connection: Connection, group: str, why: str) -> None:
    """Note a reservation's end with its reason, and drop its values."""
    _move(connection, group, "over", why=why)


def _move(connection: Connection, group: str, kind: str, **more: object) -> None:
    source = source_of_row(connection, held(connection, group).source).name
    note(connection, Fact(kind, source, {"group": group, **more}))
