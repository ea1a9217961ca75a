"""What ledger and folder say of the tables of a file, and of what is paid for: the states, read without the data."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from takifugu.accounting.ledger import DRAWN, OVER, Payment
from takifugu.core.names import normalised
from takifugu.releasing.certificates.files import content_of, files_of
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.file.sections import Table as Item
from takifugu.releasing.planning.book import payments_of
from takifugu.releasing.planning.identity import keys_in, keys_of
from takifugu.releasing.planning.plan import table_names
from takifugu.releasing.publishing.folder import Certified, certificates_of, paid_for
from takifugu.releasing.publishing.states import RESUME, Does, InFolder, InLedger, Row, row_of

if TYPE_CHECKING:
    from takifugu.accounting.ledger import Ledger

#: What the history of a source says of a reservation that its own certificate has closed.
_CLOSED = (
    "published before this copy of the ledger was restored: the certificate lies in the output folder, so it was not "
    "drawn again"
)


@dataclass(frozen=True, eq=False)
class Standing:
    """The state of one [[table]]: its tables, the files in their places, and the payment that they are about."""

    file: ReleaseFile
    item: Item
    folder: Path
    #: All that the ledger has of the source of its `file`.
    payments: tuple[Payment, ...]
    tables: tuple[str, ...]
    said: InLedger
    there: InFolder
    files: tuple[str, ...]
    paid: Payment | None
    #: The tables that were published in place of these, under a plain name, if any.
    instead: tuple[str, ...] = ()

    @property
    def row(self) -> Row:
        return row_of(self.said, self.there)

    @property
    def published(self) -> tuple[str, ...]:
        """Return the names of its tables where they were published."""
        return self.instead or self.tables

    @property
    def is_here(self) -> bool:
        """Return whether it was published, and lies here whole."""
        return self.said in (InLedger.PUBLISHED, InLedger.REKEYED) and self.there is InFolder.WHOLE

    @property
    def is_waited_for(self) -> bool:
        """Return whether a payment for a table awaits publication."""
        return any(paid.state != OVER and {*paid.ids} & {*self.tables} for paid in self.payments)

    @property
    def since(self) -> str:
        """Return the time of its payment."""
        return "" if self.paid is None else self.paid.created

    @property
    def output(self) -> str:
        """Return the folder at the time of payment."""
        return "" if self.paid is None else self.paid.recipe.get("output", "")


def standings(file: ReleaseFile, folder: Path) -> tuple[Standing, ...]:
    """Return each [[table]]'s state from ledger and folder. Pending payments are taken to be for other keys or data."""
    payments, known = payments_of(file), list[Standing]()
    for item in file.items:
        standing = _standing(file, item, folder, payments)
        for plain_file, plain in _plainly(file, item) if standing.said is InLedger.NOTHING and payments else ():
            before = _standing(plain_file, plain, folder, payments)
            if before.paid is not None and keys_in(before.paid, plain) == keys_of(plain_file, plain):
                standing = replace(before, file=file, item=item, tables=standing.tables, instead=before.tables)
        known.append(standing)
    return tuple(known)


def _plainly(file: ReleaseFile, item: Item) -> Iterator[tuple[ReleaseFile, Item]]:
    """Yield a table of every window as it was before: with its key `window`, or of a calendar that was this window."""
    name = item.name.removesuffix(f"-{item.period}")
    if not item.period or name == item.name:
        return
    plain = item.model_copy(update={"name": name, "every": None})
    yield file, plain
    calendar, source = file.source.calendar, file.source
    places = calendar.period(item.period)
    if places.start == 0:
        until = source.model_copy(update={"until": calendar.written(places).partition(" to ")[2]})
        whole = replace(file, spec=file.spec.model_copy(update={"source": until}))
        yield whole, plain.model_copy(update={"window": None})


def _standing(file: ReleaseFile, item: Item, folder: Path, payments: tuple[Payment, ...]) -> Standing:
    tables, keys = tuple(table_names(file, [item])), keys_of(file, item)
    files = tuple(name for name in files_of(tables) if os.path.lexists(folder / name))
    certified = certificates_of(folder, tables)
    of_tables = [paid for paid in reversed(payments) if set(tables) & set(paid.ids)]
    published = [paid for paid in of_tables if paid.state == OVER]
    paid_here = next((paid for paid in of_tables if _is_of(paid, certified)), None)
    of_same_keys = (paid for paid in published if keys_in(paid, item) == keys)
    paid = paid_here or next(of_same_keys, None) or next(iter((*published, *of_tables)), None)
    if paid_here is not None:
        in_folder = InFolder.ALTERED
        are_whole = all(_is_of(paid_here, [certificate]) and certificate.is_whole for certificate in certified)
        if len(certified) == len(tables) and are_whole:
            in_folder = InFolder.WHOLE
    elif certified and files:
        in_folder = InFolder.ANOTHER_SOURCE
    elif files:
        in_folder = InFolder.STRANGE
    elif paid is not None and _is_of(paid, certificates_of(Path(paid.recipe.get("output", "")), tables)):
        in_folder = InFolder.AWAY
    else:
        in_folder = InFolder.NOTHING
    if paid is None:
        said = InLedger.NOTHING
    elif paid.state == OVER:
        said, paid_keys = InLedger.REKEYED, keys_in(paid, item)
        if paid_keys == keys or (paid_keys is None and paid_here is not None):
            said = InLedger.PUBLISHED
    elif paid.state == DRAWN:
        said = InLedger.DRAWN_OTHER
    else:
        said = InLedger.PAID_OTHER
    return Standing(file, item, folder, payments, tables, said, in_folder, files, paid)


def _is_of(paid: Payment, certified: Sequence[Certified]) -> bool:
    return any(paid.ids.get(certificate.name) == certificate.release_id for certificate in certified)


def public_of(pending: Payment, folders: Iterable[Path] = ()) -> tuple[Certified, ...]:
    """Return a reservation's certificates in these folders and its own."""
    places = dict.fromkeys(map(Path.absolute, folders))
    if isinstance(output := pending.recipe.get("output"), str):
        places[Path(output)] = None
    ids = set(pending.ids.values())
    of_source = chain.from_iterable(paid_for(pending.source, folder) for folder in places)
    return tuple(certified for certified in of_source if certified.release_id in ids)


def row_of_pending(pending: Payment, public: Sequence[Certified]) -> Row:
    """Return the action on a reservation with these published certificates."""
    drawn = InLedger.LOST if pending.values is None and not pending.is_session else InLedger.DRAWN
    in_ledger = drawn if pending.state == DRAWN else InLedger.PAID
    in_folder = InFolder.WHOLE if public else InFolder.NOTHING
    return row_of(in_ledger, in_folder, RESUME)


def settle(book: Ledger, source: str, folders: Sequence[Path]) -> tuple[Payment, ...]:
    """Close published reservations without values; return those still waiting."""
    waiting = []
    for pending in book.pending(normalised(source)):
        public = public_of(pending, folders)
        if row_of_pending(pending, public).does is Does.CLOSE:
            # "drawn" is written before a file is public: this ledger is a copy from between, and would draw anew
            close(book, pending, public)
        else:
            waiting.append(pending)
    return tuple(waiting)


def close(book: Ledger, pending: Payment, public: Sequence[Certified]) -> None:
    """Note that a reservation was published with these certificates, damaged or not: other values are a second draw."""
    when = pending.created[:16].replace("T", " ")
    bodies = {certified.release_id: content_of(certified.path) or b"" for certified in reversed(public)}
    why = f"{', '.join(pending.ids)}, paid for at {when} UTC: {_CLOSED}"
    book.finish(pending.group, why, bodies.values(), pending.state)  # or its certificates are of a draw since then
