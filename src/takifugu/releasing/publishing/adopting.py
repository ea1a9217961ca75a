"""Enter as spent what a ledger has forgotten: the releases that the certificates in a folder name and it lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from takifugu.accounting.composition import charge_of
from takifugu.accounting.composition.losses import any_change
from takifugu.accounting.ledger.values import NOTHING
from takifugu.analysis.guarantee import Covers
from takifugu.core.errors import CompositionRefused, InputError, TakifuguError
from takifugu.core.lists import without
from takifugu.core.names import normalised
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.certificates.checksum import from_dict, parsed, read_certificate
from takifugu.releasing.certificates.facts import CERTIFICATE, Bill, content_of
from takifugu.releasing.publishing.billing import debits_in, hashed, is_pooled, published_in
from takifugu.releasing.publishing.folder import called_certificates, paid_for

if TYPE_CHECKING:
    from takifugu.accounting.ledger import Debit, Ledger
    from takifugu.accounting.ledger.adopting import Adoption
    from takifugu.accounting.ledger.values import Amount


@dataclass(frozen=True)
class Adopted:
    """The releases about one source that are entered, and what the source has spent before and after each of them.

    `as_paid` says of each whether it is charged as what it is; the others are at their worst. Tables of one payment are
    entered together.
    """

    source: str
    releases: tuple[str, ...]
    before: Amount
    after: tuple[Amount, ...]
    as_paid: tuple[bool, ...]

    @property
    def spent(self) -> Amount:
        """Return the source's spending with all of them."""
        return self.after[-1]


@dataclass(frozen=True, eq=False)
class _Lacking:
    """A certificate of what the ledger lacks: its file, its digest under the ledger's key, and the id to enter.

    `bill` is None unless a copy of this ledger wrote the certificate.
    """

    path: Path
    certificate: Certificate
    digest: str
    bill: Bill | None
    release_id: str

    @property
    def payment(self) -> tuple[object, ...]:
        """Return the common key of tables entered together."""
        pooled, is_first = is_pooled(self.certificate), self.release_id == self.certificate.release_id
        payment = (str(self.path),) if self.bill is None else (self.bill.payment, pooled, is_first)
        return (normalised(self.certificate.source), *payment)


def adopt(
    ledger: Ledger | str | Path, folder: str | Path, agree: Callable[[Sequence[Adopted]], bool]
) -> tuple[Adopted, ...]:
    """Enter as spent the releases of a folder lacking in a ledger.

    Nothing is published. A certificate that a copy of this ledger wrote is charged as what it is; any other counts for
    every unit of its source, at the cost of a change of the whole data, as do promises that depend on the order of
    releases. A release that is known under another certificate was drawn twice, and is charged once more. `agree` is
    asked with the prices before anything is entered, if there is anything, and nothing is where it returns False.
    Raises InputError for a certificate that was changed or cannot be read; CompositionRefused where nothing bounds what
    a release costs beside others; then nothing is entered.
    """
    from takifugu.accounting.ledger import Ledger

    book = ledger if isinstance(ledger, Ledger) else Ledger.open(ledger, create=False)
    if not Path(folder).is_dir():
        raise InputError(f"{str(folder)!r} is not a folder", fix="give the folder that the certificates are in")
    offers = _offers(book, folder)
    if not offers:
        return ()
    prices = _prices(book, book.adopt(offers, is_rehearsal=True))
    if not prices or not agree(prices):
        return ()
    before = {price.source: price.before for price in prices}
    return _prices(book, book.adopt(offers), before)


def price_in_words(book: Ledger, folder: Path) -> tuple[str, str]:
    """State the prices of merging a copy, and of adopting a folder.

    The copy knows what lies in the folder. Where a price cannot be computed, the words say what is missing.
    """
    try:
        prices = _prices(book, book.adopt(_offers(book, folder), is_rehearsal=True))
    except TakifuguError as error:
        return _UNKNOWN, f"which cannot be done: {error.message}"
    spent, at_most = list[str](), list[str]()
    for price in prices:
        words = f"the source {price.source!r} would have spent"
        spent.append(f"{words} {price.spent}")
        at_most.append(f"{words} at most {price.spent}")
    merged = _UNKNOWN
    if all(all(price.as_paid) for price in prices):
        merged = "; ".join(at_most)
    return merged, "; ".join(spent)


#: What is said of a merge whose price no certificate tells.
_UNKNOWN = "what it comes to stands in the other copy: add --dry-run, and it is printed"


def _prices(
    book: Ledger, entered: Iterable[tuple[Adoption, Amount]], before: dict[str, Amount] | None = None
) -> tuple[Adopted, ...]:
    """Return the entered or possible entries, source by source."""
    spent = before if before is not None else {row.name: row.spent for row in book.show()}
    sources: dict[str, list[tuple[Adoption, Amount]]] = {}
    for adoption, after in entered:
        sources.setdefault(adoption.source, []).append((adoption, after))
    prices = []
    for name, pairs in sources.items():
        adoptions, amounts = zip(*pairs, strict=True)
        releases = tuple(", ".join(adoption.ids) for adoption in adoptions)
        as_paid = tuple(adoption.is_as_paid for adoption in adoptions)
        prices.append(Adopted(name, releases, spent.get(name, NOTHING), amounts, as_paid))
    return tuple(prices)


def _offers(book: Ledger, folder: str | Path) -> list[list[Adoption]]:
    """Return the ways to enter each lacking payment, the cheapest first."""
    payments: dict[tuple[object, ...], list[_Lacking]] = {}
    for release in _lacking(book, Path(folder)):
        payments.setdefault(release.payment, []).append(release)
    return [_ways(book, releases) for releases in payments.values()]


def _lacking(book: Ledger, folder: Path) -> Iterator[_Lacking]:
    """Yield the certificates missing in a ledger, the oldest first.

    Raises InputError for a file that is called a certificate and is none: it may have been one.
    """
    digests: dict[str, dict[str, frozenset[str]]] = {}
    certificates = sorted(paid_for(None, folder), key=lambda certified: (certified.made[0], certified.path))
    for path in without(called_certificates(folder), {paid.path for paid in certificates}):
        read_certificate(path)
    for paid in certificates:
        data = parsed(paid.path)
        certificate = from_dict(data, paid.path.name)
        release_id, source = certificate.release_id, normalised(certificate.source)
        if not release_id:
            continue
        digest = book.tag(CERTIFICATE, content_of(data))
        bill = certificate.bill if digest == certificate.digest else None
        if bill is None and certificate.bill is not None and certificate.bill.book == book.id:
            raise InputError(
                f"{paid.path.name} is not what this ledger or a copy of it wrote",
                rule="its digest is not of what it says",
                fix="get the original from whoever published it, or move it to another folder if it is no release",
            )
        if source not in digests:
            digests[source] = book.published_as(source)
        published = digests[source]
        of_release = published.get(release_id)
        if of_release is not None and (not of_release or digest in of_release):
            continue
        if of_release is not None:  # other values under its id: a second draw
            release_id = book.tag("second draw", f"{release_id} {digest}".encode())[:16]
        if release_id not in published:
            published[release_id] = frozenset({digest})
            yield _Lacking(paid.path, certificate, digest, bill, release_id)


def _ways(book: Ledger, lacking: Sequence[_Lacking]) -> list[Adoption]:
    """Return a payment as paid, where known, and at its worst.

    Raises the error of the worst case where neither can be charged.
    """
    from takifugu.accounting.ledger.adopting import Adoption

    first, bill = lacking[0].certificate, lacking[0].bill
    ids = {release.certificate.release: release.release_id for release in lacking}
    worst = Adoption(normalised(first.source), str(first.ledger), ids, (), tuple(release.digest for release in lacking))
    debits = _debits_as_paid(book, lacking)
    ways = []
    if bill is not None and debits is not None:
        same = None if is_pooled(first) else bill.same_people
        as_paid = replace(worst, debits=debits, recharge=bill.as_composing, same_people=same)
        ways.append(replace(as_paid, is_everyone=is_pooled(first)))
    at_worst: list[Debit] = []
    try:
        for release in lacking:  # a copy's certificate may be of a reading that the ledger of a known one does not know
            readings = _readings(book, release.certificate)
            is_apart = release.bill is not None and len(readings) > 1 and release.bill.layout not in readings
            at_worst += _at_worst(release.certificate, is_apart)
        ways.append(replace(worst, debits=tuple(at_worst)))
    except CompositionRefused:
        if not ways:
            raise
    return ways


def _debits_as_paid(book: Ledger, lacking: Sequence[_Lacking]) -> tuple[Debit, ...] | None:
    """Return the debits of a payment, if its certificates record them.

    None, too, for a reading unknown to the ledger.
    """
    debits: list[Debit] = []
    for release in lacking:
        pooled = is_pooled(release.certificate)
        if release.bill is None or (pooled and not release.bill.readers):
            return None
        reading = _readings(book, release.certificate).get(release.bill.layout)
        if reading is None or (pooled and not reading):
            return None
        debits.extend(debits_in(release.certificate, release.bill, reading))
    return tuple(debits)


def _readings(book: Ledger, certificate: Certificate) -> dict[str, str]:
    """Return the ledger's readings of a source, by their certified digests."""
    return {hashed(book, reading): reading for reading in (*book.readings(certificate.source), "")}


def _at_worst(certificate: Certificate, is_apart: bool) -> Iterator[Debit]:
    """Yield the largest charge of every unit.

    The worst answer counts once, and the beliefs of the others at no cost. Where it `is_apart`, in another reading than
    the ledger knows, its units may be parts of one: all answers count.
    """
    from takifugu.accounting.ledger import Debit

    published, name = published_in(certificate), certificate.release
    charges = list(map(charge_of, published))
    costs = list(map(any_change, charges))
    if None in costs:
        raise CompositionRefused(
            f"nothing bounds what the release {name!r} costs beside others",
            rule="its promise is about its own output alone",
            fix=(
                f"publish nothing more about the source {certificate.source!r}, or restore a ledger that knows the "
                "release"
            ),
        )
    worst = max(range(len(charges)), key=lambda n: costs[n] or Fraction(0))
    delta = max(charge.delta for charge in charges)
    yield Debit(published[worst].framework, replace(charges[worst], delta=delta), "", name)
    charged_frameworks = {charges[worst].framework}
    for answer, charge in zip(published, charges, strict=True):
        if is_apart and charge is not charges[worst]:
            yield Debit(answer.framework, charge, "", name)
        elif charge.framework not in charged_frameworks:
            charged_frameworks.add(charge.framework)
            zero = Fraction(0)  # for its framework alone, at no price
            free = replace(charge, covers=Covers.ENTRIES, scale=Fraction(1), change=zero, entry_change=zero, delta=zero)
            yield Debit(answer.framework, free, "", name)
