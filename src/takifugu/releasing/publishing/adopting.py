"""Charge a ledger for what it does not know: the releases that the certificates in a folder name and it lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from takifugu.accounting.amounts import NOTHING, Amount
from takifugu.core.errors import InputError, TakifuguError
from takifugu.core.plain import Plain
from takifugu.releasing.certificates.checksum import read_certificate
from takifugu.releasing.certificates.files import CERTIFICATE
from takifugu.releasing.publishing.bundle import bundle_of
from takifugu.releasing.publishing.folder import called_certificates
from takifugu.releasing.publishing.statements import for_entering

if TYPE_CHECKING:
    from takifugu.accounting.ledger import Ledger


@dataclass(frozen=True)
class Certificates:
    """Published certificates, the oldest first: what each says of its ledger, its text, and whose no ledger paid."""

    statements: tuple[Plain, ...]
    bodies: tuple[bytes, ...]
    unpaid: tuple[str, ...]


@dataclass(frozen=True)
class Adopted:
    """The releases about one source that are entered, and its spending before and after each of them."""

    source: str
    #: Tables of one payment are entered together.
    releases: tuple[str, ...]
    before: Amount
    after: tuple[Amount, ...]

    @property
    def spent(self) -> Amount:
        """Return the source's spending with all of them."""
        return self.after[-1]


def certificates_in(folders: Iterable[str | Path]) -> Certificates:
    """Read all certificates in some folders; InputError for a folder without one, and for a changed certificate."""
    paths = list[Path]()
    for folder in map(Path, folders):
        if not folder.is_dir():
            raise InputError(f"{str(folder)!r} is not a folder", fix="give the folder that the certificates are in")
        lying = called_certificates(folder)
        if not lying:  # nothing compared is no agreement
            raise InputError(f"{str(folder)!r} holds no certificate", fix="give the folder of the published tables")
        paths += lying
    paid, unpaid = list[tuple[tuple[str, int, str], Plain, bytes]](), list[str]()
    for path in paths:
        # one that was changed may have been one that nobody has paid for
        certificate = read_certificate(path)
        if certificate.rehearsal is not None:
            raise InputError(
                f"{path.name} is of a rehearsal with made-up data, so there is nothing to enter",
                fix="give the folder of a release",
            )
        if certificate.ledger is not None:
            made = (certificate.date, path.stat().st_mtime_ns, path.name)
            said = for_entering(certificate.ledger, certificate.frameworks)
            paid.append((made, said, certificate.to_json().encode()))
        else:
            unpaid.append(path.name.removesuffix(CERTIFICATE))
    paid.sort(key=lambda one: one[0])
    return Certificates(tuple(said for _, said, _ in paid), tuple(body for *_, body in paid), tuple(unpaid))


def with_waiting(book: Ledger, certificates: Certificates) -> Certificates:
    """Return certificates after those that a ledger drew and has not published: other values are a second draw."""
    statements, bodies = list[Plain](), list[bytes]()
    for paid in book.pending():
        with suppress(TakifuguError):  # what cannot be read is told where it is published
            bundle = bundle_of(paid.values or b"", paid.ids)
            for certificate, body in zip(bundle.read, bundle.certificates, strict=True):
                if certificate.ledger is not None:
                    statements.append(for_entering(certificate.ledger, certificate.frameworks))
                    bodies.append(body)
    return replace(
        certificates, statements=(*statements, *certificates.statements), bodies=(*bodies, *certificates.bodies)
    )


def adopt(book: Ledger, certificates: Certificates, agree: Callable[[Sequence[Adopted]], bool]) -> tuple[Adopted, ...]:
    """Enter as spent the published releases that a ledger lacks, after `agree` to their prices; publish nothing."""
    # each is charged to everybody who is or will be in its source; one with other values was drawn twice
    known = with_waiting(book, certificates)
    prices = _prices(book, known)
    if prices and not agree(prices):
        return ()
    # CompositionRefused enters nothing; a release that waits, published from a copy, is noted for nothing
    book.adopt(known.statements, bodies=known.bodies)
    return prices


def price_in_words(book: Ledger, folder: Path) -> str:
    """State the price of adopting a folder; where it cannot be computed, the words say why."""
    try:
        prices = _prices(book, with_waiting(book, certificates_in([folder])))
    except TakifuguError as error:
        return f"which cannot be done: {error.message}"
    return "; ".join(f"the source {price.source!r} would have spent {price.spent}" for price in prices)


def _prices(book: Ledger, certificates: Certificates) -> tuple[Adopted, ...]:
    """Return what would be entered, source by source."""
    from takifugu.accounting.ledger.certificates import entered

    spent = {source.name: source.spent for source in book.show()}
    sources = dict[str, list[tuple[str, Amount]]]()
    for lacking, after in entered(book.view(), certificates.statements, certificates.bodies)[1]:
        name = lacking.source
        sources.setdefault(name, []).append((", ".join(lacking.ids), after[name]))
    prices = list[Adopted]()
    for name, releases_of in sources.items():
        releases, amounts = zip(*releases_of, strict=True)
        prices.append(Adopted(name, releases, spent.get(name, NOTHING), amounts))
    return tuple(prices)
