"""The table of states: what the ledger says × what lies in the folder → what is done, said and exited with.

`standing` decides by it what is paid for and what is refused, `orders` and `resuming` what becomes of what is paid for
and not published; the page of exit codes prints it, and a test makes every one of these states, runs the commands, and
compares. After each step it is asked again: what is closed is published, what is drawn has its own rows. The commands
that complete what is paid for, and that pay for it again, stand below it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from takifugu.core.errors import ReleaseError
from takifugu.core.escaping import command

if TYPE_CHECKING:
    from takifugu.accounting.ledger import Payment
    from takifugu.releasing.file.kind import ReleaseFile


class InLedger(StrEnum):
    """What the ledger says of the tables of one [[table]]."""

    ABSENT = "no ledger, or another one"
    NOTHING = "nothing"
    PAID = "paid, not drawn"
    DRAWN = "drawn, not published"
    LOST = "drawn, and its values are lost"
    PUBLISHED = "published"
    REKEYED = "published from other keys"
    PAID_OTHER = "paid, not drawn, for other keys or data"
    DRAWN_OTHER = "drawn, not published, for other keys or data"
    LOST_OTHER = "drawn, and its values are lost, for other keys or data"


class InFolder(StrEnum):
    """What lies where the tables of one [[table]] go."""

    NOTHING = "nothing"
    AWAY = "nothing (another folder has them)"
    WHOLE = "its tables, whole"
    PART = "its certificates, and a table is missing"
    ALTERED = "its certificates, and a table was altered"
    ANOTHER_LEDGER = "another ledger's tables"
    ANOTHER_SOURCE = "another source's tables"
    STRANGE = "other files"


class Does(StrEnum):
    """What is done."""

    PAY = "pays, draws, publishes"
    DRAW = "draws once, publishes"
    DRAW_ONLY = "draws once, and leaves the files there alone"
    HAND_OUT = "publishes what was drawn"
    LEAVE = "nothing"
    CLOSE = "notes that it was published; never draws again"
    REFUSE = "is refused"
    REFUSE_ALONE = "is refused, unless there is something else to do"


@dataclass(frozen=True)
class Row:
    """One row of the table: the action in some states, its words and its exit code."""

    ledger: tuple[InLedger, ...]
    folder: tuple[InFolder, ...]
    does: Does
    exits: int
    #: With places for {names}, {files}, {where}, {output} (where published), {day}, {resume} and {again}.
    words: str
    fix: str = ""
    #: The action with --force, and with a key; None where it changes nothing.
    forced: Does | None = None
    keyed: Does | None = None

    def done(self, force: bool = False, is_keyed: bool = False) -> Does:
        """Return the action with `--force`, or with an unused key."""
        if force and self.forced is not None:
            return self.forced
        if is_keyed and self.keyed is not None:
            return self.keyed
        return self.does

    def refusal(self, rule: str = "", **facts: str) -> ReleaseError:
        """Return the refusal with these facts."""
        return ReleaseError(self.words.format(**facts), rule=rule, fix=self.fix.format(**facts)).at("output")


ABSENT, NOTHING, PAID, DRAWN, LOST, PUBLISHED, REKEYED, PAID_OTHER, DRAWN_OTHER, LOST_OTHER = InLedger
EMPTY, AWAY, WHOLE, PART, ALTERED, ANOTHER_LEDGER, ANOTHER_SOURCE, STRANGE = InFolder
_NEVER, _OTHER = (ABSENT, NOTHING), (PAID_OTHER, DRAWN_OTHER, LOST_OTHER)
_NO_VALUES = (PAID, LOST, PAID_OTHER, LOST_OTHER)
_OURS, _BROKEN, _THEIRS = (WHOLE, PART, ALTERED), (PART, ALTERED), (ANOTHER_SOURCE, STRANGE)
_SPENT, _COMPLETED, _THERE = "about to spend", "completed the release of", "already published: "
_ELSEWHERE = "give the table another name, or choose another folder"
_ANOTHER, _OVERWRITTEN = "was paid for by a ledger other than", "{files} in {where!r} would be overwritten"
_DRAWN_AND_LOST = (
    "this release was drawn, and the values that waited in the ledger are lost or altered",
    "restore a copy of the ledger that has them, or pay for new values: {again}",
)

#: What `takifugu release FILE` does.
RELEASE = (
    Row(_NEVER, (EMPTY, AWAY), Does.PAY, 0, _SPENT),
    Row((ABSENT,), _OURS, Does.REFUSE, 2, _ANOTHER),
    Row(tuple(InLedger), (ANOTHER_LEDGER,), Does.REFUSE, 2, _ANOTHER),
    Row((NOTHING,), _OURS, Does.REFUSE, 2, "it is a copy from before, and would grant that epsilon again"),
    Row(
        (*_NEVER, *_OTHER), (ANOTHER_SOURCE,), Does.REFUSE, 2,
        "{files} in {where!r} was paid for by another ledger, or for another source", _ELSEWHERE, Does.PAY,
    ),
    Row(
        (*_NEVER, *_OTHER), (STRANGE,), Does.REFUSE, 2,
        _OVERWRITTEN, "move it, choose another folder, or write --force (force=True)", Does.PAY,
    ),
    Row((PAID,), (EMPTY,), Does.DRAW, 0, _COMPLETED),
    Row((PAID,), _THEIRS, Does.DRAW_ONLY, 4, _OVERWRITTEN, forced=Does.DRAW),
    Row(_NO_VALUES, (AWAY,), Does.CLOSE, 2, "take them from there"),
    Row(_NO_VALUES, (WHOLE,), Does.CLOSE, 0, _THERE),
    Row(_NO_VALUES, _BROKEN, Does.CLOSE, 2, "is not what was published as"),
    Row((LOST,), (EMPTY, *_THEIRS), Does.REFUSE, 4, *_DRAWN_AND_LOST),
    Row((DRAWN,), (EMPTY, AWAY, WHOLE, PART), Does.HAND_OUT, 0, _COMPLETED),
    Row(
        (DRAWN,), (ALTERED, *_THEIRS), Does.REFUSE, 4, _OVERWRITTEN, "move them, and run again", forced=Does.HAND_OUT
    ),
    Row(
        (PUBLISHED,), (EMPTY,), Does.REFUSE_ALONE, 2,
        "{names} was published in {output!r} ({day}), its files are not there any more, and the ledger keeps no values "
        "of what is published",
        "bring them back from a copy of that folder, or pay for new values: {again}", keyed=Does.PAY,
    ),
    Row(
        (PUBLISHED,), (AWAY,), Does.REFUSE_ALONE, 2,
        "{names} was published in {output!r} ({day}), and its files are not in {where!r}",
        "take them from there, or give a new table another name, or pay for new values: {again}", keyed=Does.PAY,
    ),
    Row((PUBLISHED,), (WHOLE,), Does.LEAVE, 0, _THERE),
    Row(
        (PUBLISHED, REKEYED), (*_BROKEN, *_THEIRS), Does.REFUSE, 2,
        "{files} in {where!r} is not what was published as {names}, which is paid for ({day})",
        "bring the files back, choose another folder, or pay for it again and replace it: {again}",
    ),
    Row((REKEYED,), (EMPTY, AWAY), Does.PAY, 0, _SPENT),
    Row(
        (REKEYED,), (WHOLE,), Does.REFUSE_ALONE, 2,
        "{names} in {where!r} was published from other keys than the file has",
        f"{_ELSEWHERE}, or pay for it again and replace it: {{again}}", Does.PAY,
    ),
    Row(_OTHER, (EMPTY,), Does.PAY, 0, _SPENT),
    Row((DRAWN_OTHER,), (AWAY,), Does.PAY, 0, _SPENT),
    Row(
        (DRAWN_OTHER,), _OURS, Does.REFUSE, 2,
        "{files} in {where!r} is paid for, and the ledger does not call it published yet",
        "run {resume} first, which pays nothing",
    ),
)  # fmt: skip

_NOTHING_PENDING = "nothing is pending"

#: What `takifugu ledger resume LEDGER` does.
RESUME = (
    Row((*_NEVER, PUBLISHED, REKEYED), tuple(InFolder), Does.LEAVE, 0, _NOTHING_PENDING),
    Row((PAID,), (EMPTY,), Does.DRAW, 0, "completed: "),
    Row((PAID,), (ANOTHER_LEDGER, *_THEIRS), Does.DRAW_ONLY, 4, _OVERWRITTEN),
    Row(_NO_VALUES, (AWAY, *_OURS), Does.CLOSE, 0, "completed: "),
    Row((PAID_OTHER,), (EMPTY, ANOTHER_LEDGER, *_THEIRS), Does.REFUSE, 4, "is not what was paid for"),
    Row((LOST, LOST_OTHER), (EMPTY, ANOTHER_LEDGER, *_THEIRS), Does.REFUSE, 4, *_DRAWN_AND_LOST),
    Row((DRAWN, DRAWN_OTHER), (EMPTY, AWAY, WHOLE, PART), Does.HAND_OUT, 0, "completed: "),
    Row((DRAWN, DRAWN_OTHER), (ALTERED, ANOTHER_LEDGER, *_THEIRS), Does.REFUSE, 4, _OVERWRITTEN),
)


def row_of(said: InLedger, there: InFolder, table: tuple[Row, ...] = RELEASE) -> Row:
    """Return the one row for a state."""
    (row,) = (row for row in table if said in row.ledger and there in row.folder)
    return row


def resuming(file: ReleaseFile) -> str:
    return command("ledger", "resume", file.ledger)


def paying_again(
    path: str | Path, name: str, payments: Iterable[Payment], output: str | Path, window: str, is_only: bool
) -> str:
    """Return the command for paying for one [[table]] again. `is_only` says that the file has no other."""
    used = {paid.once for paid in payments}
    key = next(key for key in map(str, count(2)) if key not in used)
    options = list[str | Path]()
    if output:
        options += ("--output", output)
    if window:
        options += ("--window", window)
    if not is_only:
        options += ("--only", name)
    return command("release", path, *options, "--replace", name, "--idempotency-key", key)


def paying_for_new_values(pending: Payment, payments: Iterable[Payment]) -> str:
    """Explain how to pay again for lost values, or who has to."""
    recipe = pending.recipe
    names = list(recipe.get("keys", ()))
    if not names or recipe.get("frame"):
        return "by another call, under another key"
    return paying_again(recipe["file"], names[0], payments, recipe["output"], recipe.get("window") or "", False)
