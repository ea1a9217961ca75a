"""A reservation whose certificate is public was drawn, whatever a copy of the ledger says: it is never drawn again.

A ledger writes "drawn" before the first file is public. So one that says "reserved" beside a certificate of that very
release was restored from a copy taken in between, and its next draw would be a second one for one payment.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from takifugu.core.errors import TakifuguError
from takifugu.releasing.certificates.files import ALWAYS, CERTIFICATE, ENDS, TABLE, content_of, digest_of
from takifugu.releasing.publishing.bundle import Sheet
from takifugu.releasing.publishing.new_ledger import Paid, paid_for

if TYPE_CHECKING:
    from takifugu.accounting.ledger import Ledger, Pending

#: What the history of the source then says.
WORDS = (
    "published before this copy of the ledger was restored: the certificate lies in the output folder, so it was not "
    "drawn again"
)


def settle(book: Ledger, source: str, folders: Iterable[Path]) -> None:
    """Close what a folder shows to be published, and a ledger has no values of: reserved, or drawn before a copy."""
    for one in book.pending(source):
        if one.bundle is None and public_of(one, folders):
            close(book, one)


def close(book: Ledger, one: Pending) -> None:
    book.finish(one, f"{', '.join(one.ids)}, paid for at {one.created[:16].replace('T', ' ')} UTC: {WORDS}")


def public_of(one: Pending, folders: Iterable[Path]) -> tuple[Paid, ...]:
    """Return the certificates of a reservation that lie in these folders, or in the one that it was to go to."""
    places = dict.fromkeys(path.absolute() for path in folders)
    if isinstance(output := one.recipe.get("output"), str):
        places[Path(output)] = None
    ids = set(one.ids.values())
    return tuple(paid for folder in places for paid in paid_for(one.source, folder) if paid.release_id in ids)


def sheet_of(paid: Paid) -> Sheet | None:
    """Return the files of a table as they lie beside its certificate, or None where they are not whole."""
    name = paid.path.name.removesuffix(CERTIFICATE)
    files = {f"{name}{end}": content_of(paid.path.with_name(f"{name}{end}")) for end in ENDS}
    there = {key: content for key, content in files.items() if content is not None}
    table = there.get(f"{name}{TABLE}")
    try:
        sheet = Sheet(name, there)
        complete = {f"{name}{end}" for end in ALWAYS} <= {*there}
        whole = complete and table is not None and digest_of(table) == sheet.certificate.table
    except (TakifuguError, ValueError):
        return None
    return sheet if whole else None
