"""A missing ledger is announced: a new one remembers nothing, so earlier publications would count as nothing.

The ledger made in its place cannot know that another was mistyped or deleted. What reveals it lies beside the data: a
release file that requires a ledger, and the certificates of earlier releases, which name the ledger that paid for them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from takifugu.certificates.files import CERTIFICATE
from takifugu.errors import LedgerError
from takifugu.names import normalised
from takifugu.releasing.notices import tell

if TYPE_CHECKING:
    from takifugu.ledger import Ledger
    from takifugu.spec.kind import ReleaseFile


@dataclass(frozen=True)
class Paid:
    """A published certificate: its file, when it was made, and the id of the source in the ledger that paid for it."""

    path: Path
    made: tuple[str, int]
    ledger: str


def opened(ledger: Ledger | str | Path) -> Ledger:
    """Open a ledger; a new one is announced before anything is drawn, as a `Notice`."""
    from takifugu.ledger import Ledger

    ledger = ledger if isinstance(ledger, Ledger) else Ledger.open(ledger)
    if ledger.is_new and not ledger.show():
        tell([f"new ledger at {str(ledger.store.path)!r}: it remembers nothing before today"])
    tell([ledger.note] if ledger.note else [])
    return ledger


def require_known(ledger: Ledger | str | Path | None, required: bool) -> None:
    """Raise LedgerError where a ledger is required and there was none before."""
    from takifugu.ledger import Ledger
    from takifugu.ledger.book import path_of

    if not required:
        return
    if ledger is None:
        raise LedgerError(
            "require_ledger says that there is a ledger, but none is given", fix="write ledger='ledger.db'"
        ).at("ledger")
    where = ledger.store.place if isinstance(ledger, Ledger) else path_of(ledger)
    made_just_now = isinstance(ledger, Ledger) and ledger.is_new and not ledger.show()
    if made_just_now or not where.exists():
        raise LedgerError(
            f"there is no ledger {str(where)!r}, but require_ledger says that there is one",
            fix=(
                "check the path, restore a backup, or create a new one deliberately (`takifugu ledger init`), which "
                "remembers nothing before today"
            ),
        ).at("ledger")


def check_ledger(file: ReleaseFile, folder: Path, new_ledger: bool) -> None:
    """Raise LedgerError where a release file's ledger is missing, or is not the one that paid for what is published."""
    require_known(file.ledger, file.spec.require_ledger)
    if not new_ledger:
        require_same_ledger(file.ledger, file.source.name, folder)


def require_same_ledger(where: str | Path, source: str, folder: Path) -> None:
    """Raise LedgerError where another ledger has paid for what the folder holds of this source.

    The newest of its certificates decides: whoever has continued with a new ledger may go on.
    """
    published = list(paid_for(source, folder))
    if not published:
        return
    newest = max(published, key=lambda one: one.made)
    if _knows(where, normalised(source), newest.ledger):
        return
    raise LedgerError(
        f"{newest.path.name} in {str(folder)!r} was paid for by a ledger other than {str(where)!r}, which does not "
        f"know it and would treat the source {source!r} as if it had never been published",
        fix=(
            "give the ledger that paid for it (check the path, or restore a backup), or continue with --new-ledger "
            "(new_ledger=True in Python)"
        ),
    ).at("ledger")


def paid_for(source: str, folder: Path) -> Iterator[Paid]:
    """Yield the certificates of a source in a folder; what is not a certificate is skipped."""
    for path in sorted(folder.glob(f"*{CERTIFICATE}")):
        try:
            told = json.loads(path.read_text(encoding="utf-8"))
            name, ledger, date = (told.get(key) for key in ("source", "ledger", "date"))
            if isinstance(ledger, str) and isinstance(name, str) and normalised(name) == normalised(source):
                yield Paid(path, (str(date), path.stat().st_mtime_ns), ledger)
        except (OSError, ValueError, AttributeError, RecursionError):
            continue


def _knows(where: str | Path, source: str, ledger: str) -> bool:
    """Whether a ledger knows a source by this id, or merged one of this id into it when it was migrated."""
    from takifugu.ledger.migrating import MERGED
    from takifugu.ledger.previewing import as_it_is

    with as_it_is(where) as book:  # opening it for writing announces the migration
        known = [row for row in book.show() if row.name == source]  # a ledger keeps names normalised
        merged = [event.what for row in known for event in book.events(row.name) if event.what.endswith(MERGED)]
    return any(row.id == ledger for row in known) or any(f"(id {ledger}) " in what for what in merged)
