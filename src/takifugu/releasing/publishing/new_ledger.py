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

from takifugu.accounting.ledger.events.stores import named
from takifugu.core.errors import LedgerError
from takifugu.core.escaping import command
from takifugu.releasing.file.neighbours import outputs_apart
from takifugu.releasing.planning.book import opened as open_ledger
from takifugu.releasing.planning.book import there
from takifugu.releasing.planning.notices import tell
from takifugu.releasing.publishing.folder import Certified, paid_for

if TYPE_CHECKING:
    from takifugu.accounting.ledger import Ledger
    from takifugu.releasing.file.kind import ReleaseFile


#: So many certificates are named in an error.
MOST_NAMED = 3
#: The key of a payment's recipe with the releases of other ledgers that `new_ledger` accepted with it.
BESIDE = "beside"


def opened(ledger: Ledger | str | Path) -> Ledger:
    """Return a ledger, or one that is made with its first payment, with a `Notice` then."""

    def announce() -> None:
        tell([f"new ledger at {book.store.name!r}: it remembers nothing before today"])

    book = open_ledger(ledger, announce)
    if not isinstance(ledger, str | Path) and book.is_new and not book.show():  # the caller has made it
        announce()
    return book


def require_known(ledger: Ledger | str | Path | None, required: bool) -> None:
    """Raise LedgerError for a required ledger that is not there."""
    if not required:
        return
    if ledger is None:
        raise LedgerError(
            "require_ledger says that there is a ledger, but none is given", fix="write ledger='ledger.db'"
        ).at("ledger")
    book = there(ledger)
    if book is None or (book.is_new and not book.show()):
        place = named(ledger) if isinstance(ledger, str | Path) else ledger.store.name
        raise LedgerError(
            f"there is no ledger {place!r}, but require_ledger says that there is one",
            fix="check the path, restore a backup, or leave require_ledger out once, which makes a new one that "
            "remembers nothing before today",
        ).at("ledger")


def check_ledger(file: ReleaseFile, folder: Path, new_ledger: bool) -> None:
    """Raise LedgerError for a release file's missing or forgetful ledger."""
    require_known(file.ledger, file.spec.require_ledger)
    unknown = unknown_to_ledger(file, folder)
    if not unknown:
        return
    # a copy from before their payment, which `new_ledger` does not excuse
    book = there(file.ledger) or open_ledger(file.ledger)
    if forgotten := [one for one in unknown if one.ledger == book.id]:
        raise _forgotten(book, file.ledger, forgotten)
    if not new_ledger:
        path = unknown[0].path
        raise LedgerError(
            f"{path.name} in {str(path.parent)!r} was paid for by a ledger other than {named(file.ledger)!r}, which "
            f"does not know it and would treat the source {file.source.name!r} as if it had never been published",
            fix=(
                "give the ledger that paid for it (check the path, or restore a backup), or continue with --new-ledger "
                "(new_ledger=True in Python)"
            ),
        ).at("ledger")


def unknown_to_ledger(file: ReleaseFile, folder: Path) -> list[Certified]:
    """Return the published certificates of a source that its ledger neither has nor was continued beside."""
    paths = (file.output, folder, *outputs_apart(file))
    folders = {path.absolute(): path for path in paths}  # named as the caller does
    published = list(chain.from_iterable(paid_for(file.source.name, path) for path in folders.values()))
    if not published:
        return []
    book = there(file.ledger) or open_ledger(file.ledger)
    unknown = [one for one in published if one.release_id not in book.view().releases]
    beside = set[str]()
    if unknown:
        beside.update(*(paid.recipe.get(BESIDE, ()) for paid in book.payments(file.source.name)))
    return [one for one in unknown if one.release_id not in beside]


def _forgotten(book: Ledger, place: str | Path, published: Sequence[Certified]) -> LedgerError:
    """Return the error of a forgetful ledger, with the price of entering what it forgot."""
    from takifugu.releasing.publishing.adopting import price_in_words

    folder = published[0].path.parent
    names = ", ".join(sorted(certified.path.name for certified in published)[:MOST_NAMED])
    more = f" and {len(published) - MOST_NAMED} more" if len(published) > MOST_NAMED else ""
    entering = command("ledger", "import-certificates", named(place), folder)
    return LedgerError(
        f"{names}{more} in {str(folder)!r} was paid for by the ledger {named(place)!r}, which does not know it "
        "any more: it is a copy from before, and would grant that epsilon again",
        fix=(
            "restore the newest copy, if this one paid for nothing since (nothing more is charged); or enter what is "
            f"published as spent ({entering}; {price_in_words(book, folder)})"
        ),
    ).at("ledger")
