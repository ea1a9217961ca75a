"""Enter as spent what a ledger has forgotten: the releases that the certificates in a folder name and it lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from takifugu.accounting.composition import charge_of
from takifugu.accounting.composition.losses import any_change
from takifugu.accounting.ledger.values import NOTHING
from takifugu.analysis import randomisers
from takifugu.analysis.guarantee import Charge, Covers, Guarantee
from takifugu.analysis.randomisers import Randomiser
from takifugu.core.errors import CompositionRefused, InputError, TakifuguError
from takifugu.core.names import normalised
from takifugu.model import frameworks, queries
from takifugu.model.frameworks import Framework
from takifugu.model.queries import Query
from takifugu.numbers.rationals import as_fraction
from takifugu.releasing.certificates.certificate import Answer, Certificate
from takifugu.releasing.certificates.checksum import read_certificate
from takifugu.releasing.publishing.new_ledger import paid_for

if TYPE_CHECKING:
    from takifugu.accounting.ledger import Debit, Ledger
    from takifugu.accounting.ledger.values import Amount


@dataclass(frozen=True)
class Adopted:
    """The releases about one source that are entered, and what the source has spent before and after each of them."""

    source: str
    releases: tuple[str, ...]
    before: Amount
    after: tuple[Amount, ...]

    @property
    def spent(self) -> Amount:
        """What the source has spent with all of them."""
        return self.after[-1]


@dataclass(frozen=True, eq=False)
class _Lacking:
    """What is to be entered about one source: its account, and debits of releases with their ids by name."""

    account: str
    debits: tuple[Debit, ...]
    ids: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class _Published:
    """What a certificate says of one answer, as much as a charge needs."""

    framework: Framework
    query: Query
    randomiser: Randomiser
    guarantee: Guarantee


def adopt(
    ledger: Ledger | str | Path, folder: str | Path, agree: Callable[[Sequence[Adopted]], bool]
) -> tuple[Adopted, ...]:
    """Enter every release that a certificate in the folder names and the ledger lacks as spent; nothing is published.

    The ledger cannot know which people and steps they were about, so each counts for every unit of its source, at the
    cost of a change of the whole data. `agree` is asked with the prices before anything is entered, if there is
    anything, and nothing is where it returns False. Raises InputError for a certificate that was changed or cannot be
    read, then nothing is entered; CompositionRefused for one whose release has no such cost, which comes last.
    """
    from takifugu.accounting.ledger import Ledger

    book = ledger if isinstance(ledger, Ledger) else Ledger.open(ledger, create=False)
    if not Path(folder).is_dir():
        raise InputError(f"{str(folder)!r} is not a folder", fix="give the folder that the certificates are in")
    sources: dict[str, dict[str, Certificate]] = {}
    accounts: dict[str, str] = {}
    for paid in paid_for(None, Path(folder)):
        certificate = read_certificate(paid.path)
        name = normalised(certificate.source)
        if certificate.release_id and certificate.release_id not in _known(book, name):
            sources.setdefault(name, {})[certificate.release_id] = certificate
            accounts.setdefault(name, paid.ledger)
    entered = {name: _lacking(accounts[name], lacking) for name, lacking in sources.items()}
    priced = tuple(_priced(book, name, lacking) for name, lacking in entered.items())
    if not priced or not agree(priced):
        return ()
    for name, lacking in entered.items():
        book.adopt(name, lacking.account, lacking.debits, lacking.ids)
    return priced


def _known(book: Ledger, source: str) -> frozenset[str]:
    return book.release_ids(source) if any(row.name == source for row in book.show()) else frozenset()


def _priced(book: Ledger, source: str, lacking: _Lacking) -> Adopted:
    before = next((row.spent for row in book.show() if row.name == source), None)
    after = book.adopting(source, lacking.account, lacking.debits, lacking.ids)
    return Adopted(source, tuple(lacking.ids), before or NOTHING, tuple(after))


def _lacking(account: str, lacking: Mapping[str, Certificate]) -> _Lacking:
    debits: list[Debit] = []
    ids: dict[str, str] = {}
    for release_id, certificate in lacking.items():
        name = certificate.release
        while name in ids:  # the same table in two windows of time, or replaced
            name = f"{name} again"
        ids[name] = release_id
        debits.extend(_debits(certificate, name))
    return _Lacking(account, tuple(debits), ids)


def _debits(certificate: Certificate, name: str) -> Iterator[Debit]:
    """Yield what every unit is charged: the worst answer once, and the beliefs of the others at no cost."""
    from takifugu.accounting.ledger import Debit

    published = [_published(certificate, answer) for answer in certificate.answers]
    charges = [charge_of(one) for one in published]
    costs = [any_change(charge) for charge in charges]
    unbounded = next((one for one, cost in zip(charges, costs, strict=True) if cost is None), None)
    if unbounded is not None:
        raise CompositionRefused(
            f"nothing bounds what the release {certificate.release!r} costs beside others",
            rule="its promise is about its own output alone",
            fix=(
                f"publish nothing more about the source {certificate.source!r}, or restore a ledger that knows the "
                "release"
            ),
        )
    worst = max(range(len(charges)), key=lambda n: costs[n] or Fraction(0))
    delta = max(charge.delta for charge in charges)
    yield Debit(published[worst].framework, replace(charges[worst], delta=delta), "", name)
    known = {charges[worst].framework}
    for one, charge in zip(published, charges, strict=True):
        if charge.framework not in known:
            known.add(charge.framework)
            yield Debit(one.framework, _free(charge), "", name)


def _free(charge: Charge) -> Charge:
    """Return a charge of a release that moves nothing: its framework is charged for all others."""
    none, one = Fraction(0), Fraction(1)
    return replace(charge, covers=Covers.ENTRIES, scale=one, change=none, entry_change=none, delta=none)


def _published(certificate: Certificate, answer: Answer) -> _Published:
    try:
        framework = frameworks.from_dict(certificate.frameworks[answer.framework])
        query, noise = queries.from_dict(answer.query), randomisers.from_dict(answer.noise)
    except (TakifuguError, KeyError, TypeError, ValueError, AttributeError):
        raise InputError(
            f"the certificate of {certificate.release!r} names a belief, a query or noise that this installation does "
            "not know",
            fix="import the extension that it was made with, or restore a ledger that knows the release",
        ) from None
    promise = Guarantee(
        as_fraction(answer.epsilon, "its epsilon"), as_fraction(answer.delta, "its delta"),
        Covers(answer.covers), certificate.definition, answer.framework, (),
    )  # fmt: skip
    return _Published(framework, query, noise, promise)
