"""A missing ledger is announced: a new one remembers nothing, so earlier publications would count as nothing.

The ledger made in its place cannot know that another was mistyped or deleted, and one restored from a copy cannot know
what was paid for since. What reveals it lies beside the data: a release file that requires a ledger, and the
certificates of earlier releases, which name the ledger that paid for them and the release that was paid for.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from takifugu.core.errors import LedgerError
from takifugu.core.escaping import command
from takifugu.core.names import normalised
from takifugu.releasing.file.neighbours import outputs_apart
from takifugu.releasing.planning.notices import tell
from takifugu.releasing.publishing.folder import Certified, paid_for

if TYPE_CHECKING:
    from takifugu.accounting.ledger import Ledger
    from takifugu.releasing.file.kind import ReleaseFile


#: Where a copy is that knows more, only whoever made it can say.
THE_COPY = "COPY"
#: So many certificates are named in an error.
MOST_NAMED = 3


def opened(ledger: Ledger | str | Path) -> Ledger:
    """Open a ledger, with a `Notice` before the draw if new."""
    from takifugu.accounting.ledger import Ledger

    ledger = ledger if isinstance(ledger, Ledger) else Ledger.open(ledger)
    if ledger.is_new and not ledger.show():
        tell([f"new ledger at {str(ledger.store.path)!r}: it remembers nothing before today"])
    if ledger.store.upgraded_from is not None:
        tell([f"the ledger was upgraded, and is kept as it was at {str(ledger.store.upgraded_from)!r}"])
    return ledger


def require_known(ledger: Ledger | str | Path | None, required: bool) -> None:
    """Raise LedgerError for a required ledger without a file."""
    from takifugu.accounting.ledger import Ledger
    from takifugu.accounting.ledger.disk.places import path_of

    if not required:
        return
    if ledger is None:
        raise LedgerError(
            "require_ledger says that there is a ledger, but none is given", fix="write ledger='ledger.db'"
        ).at("ledger")
    place = ledger.store.place if isinstance(ledger, Ledger) else path_of(ledger)
    made_just_now = isinstance(ledger, Ledger) and ledger.is_new and not ledger.show()
    if made_just_now or not place.exists():
        raise LedgerError(
            f"there is no ledger {str(place)!r}, but require_ledger says that there is one",
            fix=(
                "check the path, restore a backup, or create a new one deliberately, which remembers nothing before "
                f"today: {command('ledger', 'init', place)}"
            ),
        ).at("ledger")


def check_ledger(file: ReleaseFile, folder: Path, new_ledger: bool) -> None:
    """Raise LedgerError for a release file's missing or forgetful ledger.

    A ledger is forgetful if it does not know what is published of its source.
    """
    from takifugu.accounting.ledger.disk.places import path_of, place_of
    from takifugu.accounting.ledger.previewing import as_it_is

    require_known(file.ledger, file.spec.require_ledger)
    paths = (file.output, folder, *outputs_apart(file))
    folders = {path.absolute(): path for path in paths}  # named as the caller does
    published = list(chain.from_iterable(paid_for(file.source.name, path) for path in folders.values()))
    wanted_id = None if new_ledger and not file.spec.require_ledger else file.spec.ledger_id
    if not published and wanted_id is None:
        return  # and no ledger is read
    with as_it_is(file.ledger) as book:
        if published:
            _require_same(book, file, published, new_ledger)
        if wanted_id in (None, book.id):
            return
        actual_id = book.id
    what = f"the ledger {str(file.ledger)!r} has the id {actual_id!r}, not {wanted_id!r}"
    if not place_of(path_of(file.ledger)).exists():
        what = f"there is no ledger {str(file.ledger)!r}: the one with the id {wanted_id!r} is missing"
    raise LedgerError(
        what,
        rule="the release file belongs to the ledger with that id, which knows what was spent",
        fix=(
            "give its path or restore a backup; or continue with another one on purpose: delete the line ledger_id, "
            "and count what was published before as well"
        ),
    ).at("ledger_id")


def _require_same(book: Ledger, file: ReleaseFile, published: Sequence[Certified], new_ledger: bool) -> None:
    """Raise LedgerError for releases of another ledger, or forgotten by this.

    The newest certificate decides which ledger it was: whoever has continued with a new one may go on. A ledger that
    paid and does not know the release is a copy from before it, and `new_ledger` does not excuse that.
    """
    source = file.source.name
    accounts = {row.id for row in book.show() if row.name == normalised(source)}  # a ledger keeps names normalised
    releases = book.release_ids(source) if accounts else frozenset()
    of_this_ledger = [certified for certified in published if certified.ledger in accounts]
    forgotten = [certified for certified in of_this_ledger if certified.release_id not in {"", *releases}]
    if forgotten:
        raise _forgotten(book, file.ledger, forgotten)
    newest = max(published, key=lambda certified: certified.made)
    if new_ledger or newest.ledger in accounts or newest.release_id in releases:
        return
    raise LedgerError(
        f"{newest.path.name} in {str(newest.path.parent)!r} was paid for by a ledger other than {str(file.ledger)!r}, "
        f"which does not know it and would treat the source {source!r} as if it had never been published",
        fix=(
            "give the ledger that paid for it (check the path, or restore a backup), or continue with --new-ledger "
            "(new_ledger=True in Python)"
        ),
    ).at("ledger")


def _forgotten(book: Ledger, place: str | Path, published: Sequence[Certified]) -> LedgerError:
    """Return the error of a forgetful ledger, with prices of its remedies.

    The remedies are merging a copy that knows the releases, and adopting them.
    """
    from takifugu.releasing.publishing.adopting import price_in_words

    merged, adopted = price_in_words(book, published[0].path.parent)
    names = ", ".join(sorted(certified.path.name for certified in published)[:MOST_NAMED])
    more = f" and {len(published) - MOST_NAMED} more" if len(published) > MOST_NAMED else ""
    folder = str(published[0].path.parent)
    merging, adopting = command("ledger", "merge", place, THE_COPY), command("ledger", "adopt", place, folder)
    return LedgerError(
        f"{names}{more} in {folder!r} was paid for by the ledger {str(place)!r}, which does not know it any more: "
        "it is a copy from before, and would grant that epsilon again",
        fix=(
            f"add what a copy that knows it paid for ({merging}; {merged}); restore the newest copy, if this one paid "
            "for nothing since (nothing more is charged); or enter what is published as spent "
            f"({adopting}; {adopted})"
        ),
    ).at("ledger")
