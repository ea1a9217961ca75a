"""The table of states: what the ledger says × what lies in the folder → what is done, said and exited with.

`due` decides by it what is paid for and what is refused, the page of exit codes prints it, and a test makes every one
of these states, runs the commands, and compares.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum


class InLedger(StrEnum):
    """What the ledger says of the tables of one [[release]]."""

    ABSENT = "no ledger, or another one"
    NOTHING = "nothing"
    PAID = "paid, not drawn"
    DRAWN = "drawn, not published"
    PUBLISHED = "published"
    REKEYED = "published from other keys"
    PAID_OTHER = "paid, not drawn, for other keys or data"
    DRAWN_OTHER = "drawn, not published, for other keys or data"


class InFolder(StrEnum):
    """What lies where the tables of one [[release]] go."""

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


@dataclass(frozen=True)
class Row:
    """What is done in some states, what is said and exited with; `forced` is what `--force` does, where it differs.

    In `words` and `fix` stand the table's {names}, its {files}, the folder {where} they go, the folder {output} where
    they were published, the {day} of the payment, and the commands that {resume} and pay {again}.
    """

    ledger: tuple[InLedger, ...]
    folder: tuple[InFolder, ...]
    does: Does
    exits: int
    words: str
    fix: str = ""
    forced: Does | None = None

    @property
    def states(self) -> Iterator[tuple[InLedger, InFolder]]:
        for said in self.ledger:
            for there in self.folder:
                yield said, there


ABSENT, NOTHING, PAID, DRAWN, PUBLISHED, REKEYED, PAID_OTHER, DRAWN_OTHER = InLedger
EMPTY, AWAY, WHOLE, PART, ALTERED, ANOTHER_LEDGER, ANOTHER_SOURCE, STRANGE = InFolder
_NEVER, _OTHER = (ABSENT, NOTHING), (PAID_OTHER, DRAWN_OTHER)
_OURS, _BROKEN, _THEIRS = (WHOLE, PART, ALTERED), (PART, ALTERED), (ANOTHER_SOURCE, STRANGE)
_SPENT, _COMPLETED, _THERE = "about to spend", "completed the release of", "already published: "
_ELSEWHERE = "give the table another name, or choose another folder"
_ANOTHER, _OVERWRITTEN = "was paid for by a ledger other than", "would be overwritten"

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
        "{files} in {where!r} would be overwritten", "move it, choose another folder, or write --force", Does.PAY,
    ),
    Row((PAID,), (EMPTY,), Does.DRAW, 0, _COMPLETED),
    Row((PAID,), _THEIRS, Does.DRAW_ONLY, 4, _OVERWRITTEN, forced=Does.DRAW),
    Row((PAID, PAID_OTHER), (AWAY,), Does.CLOSE, 2, "take them from there"),
    Row((PAID, PAID_OTHER), (WHOLE,), Does.CLOSE, 0, _THERE),
    Row((PAID, PAID_OTHER), _BROKEN, Does.CLOSE, 2, "is not what was published as"),
    Row((DRAWN,), (EMPTY, AWAY, WHOLE, PART), Does.HAND_OUT, 0, _COMPLETED),
    Row((DRAWN,), (ALTERED, *_THEIRS), Does.REFUSE, 4, _OVERWRITTEN, forced=Does.HAND_OUT),
    Row(
        (PUBLISHED,), (EMPTY,), Does.REFUSE, 2,
        "{names} was published in {output!r} ({day}), its files are not there any more, and the ledger keeps no values "
        "of what is published",
        "bring them back from a copy of that folder, or pay for new values: `{again}`",
    ),
    Row(
        (PUBLISHED,), (AWAY,), Does.REFUSE, 2,
        "{names} was published in {output!r} ({day}), and its files are not in {where!r}",
        "take them from there, or give a new table another name, or pay for new values: `{again}`",
    ),
    Row((PUBLISHED,), (WHOLE,), Does.LEAVE, 0, _THERE),
    Row(
        (PUBLISHED, REKEYED), (*_BROKEN, *_THEIRS), Does.REFUSE, 2,
        "{files} in {where!r} is not what was published as {names}, which is paid for ({day})",
        "bring the files back, choose another folder, or pay for it again and replace it: `{again}`",
    ),
    Row((REKEYED,), (EMPTY, AWAY), Does.PAY, 0, _SPENT),
    Row(
        (REKEYED,), (WHOLE,), Does.REFUSE, 2,
        "{names} in {where!r} was published from other keys than the file has",
        f"{_ELSEWHERE}, or pay for it again and replace it: `{{again}}`", Does.PAY,
    ),
    Row(_OTHER, (EMPTY,), Does.PAY, 0, _SPENT),
    Row((DRAWN_OTHER,), (AWAY,), Does.PAY, 0, _SPENT),
    Row(
        (DRAWN_OTHER,), _OURS, Does.REFUSE, 2,
        "{files} in {where!r} is paid for, and the ledger does not call it published yet",
        "run `{resume}` first, which pays nothing",
    ),
)  # fmt: skip

_NOTHING_PENDING = "nothing is pending"

#: What `takifugu ledger resume LEDGER` does.
RESUME = (
    Row((*_NEVER, PUBLISHED, REKEYED), tuple(InFolder), Does.LEAVE, 0, _NOTHING_PENDING),
    Row((PAID,), (EMPTY,), Does.DRAW, 0, "completed: "),
    Row((PAID,), (ANOTHER_LEDGER, *_THEIRS), Does.DRAW_ONLY, 4, _OVERWRITTEN),
    Row((PAID, PAID_OTHER), (AWAY, *_OURS), Does.CLOSE, 0, "completed: "),
    Row((PAID_OTHER,), (EMPTY, ANOTHER_LEDGER, *_THEIRS), Does.REFUSE, 4, "is not what was paid for"),
    Row((DRAWN, DRAWN_OTHER), (EMPTY, AWAY, WHOLE, PART), Does.HAND_OUT, 0, "completed: "),
    Row((DRAWN, DRAWN_OTHER), (ALTERED, ANOTHER_LEDGER, *_THEIRS), Does.REFUSE, 4, _OVERWRITTEN),
)


def row_of(said: InLedger, there: InFolder, table: tuple[Row, ...] = RELEASE) -> Row:
    """Return what is done in a state: the one row that it stands in."""
    (row,) = (row for row in table if said in row.ledger and there in row.folder)
    return row
