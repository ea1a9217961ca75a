"""How a release was paid for, as its certificate says it to copies of the ledger, and what they charge by that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from takifugu.accounting.composition import charge_of
from takifugu.analysis import randomisers
from takifugu.analysis.guarantee import Charge, Covers, Guarantee
from takifugu.analysis.randomisers import Randomiser
from takifugu.core.errors import InputError, TakifuguError
from takifugu.core.plain import Json
from takifugu.model import frameworks, queries
from takifugu.model.frameworks import Framework
from takifugu.model.queries import Query
from takifugu.numbers.rationals import as_fraction, to_text
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.certificates.facts import LAYOUT, Account, Bill
from takifugu.releasing.planning.questions import Question

if TYPE_CHECKING:
    from takifugu.accounting.ledger import Debit, Ledger, Pending, Reservation


#: More shares of a pooled answer are not listed: everybody is charged each of them when it is adopted.
MOST_SHARES = 8


@dataclass(frozen=True, eq=False)
class Published:
    """What a certificate says of one answer, as much as a charge needs."""

    framework: Framework
    query: Query
    randomiser: Randomiser
    guarantee: Guarantee


def accounts_of(
    book: Ledger, source: str, paid: Reservation | Pending, questions: Sequence[Question],
    same_people: bool | None = None, as_composing: bool = False,
) -> dict[str, Account]:  # fmt: skip
    """Return the account of each release of a payment, by name."""
    source_id, accounts = book.source(source).id, {}
    for name, number in paid.ids.items():
        of_release = [question for question in questions if question.release == name]
        bill = Bill(
            book.id, paid.group, hashed(book, of_release[0].reading), of_release[0].calendar,
            tuple(question.at for question in of_release), _readers(of_release),
            any(question.begins_series for question in of_release), as_composing, same_people,
        )  # fmt: skip
        accounts[name] = Account(source_id, number, bill, book.tag)
    return accounts


def hashed(book: Ledger, reading: str) -> str:
    """Return a reading's keyed digest for certificates; nobody can read it back."""
    return book.tag(LAYOUT, reading.encode()) if reading else ""


def _readers(questions: Sequence[Question]) -> tuple[Json, ...]:
    """Return each distinct share charged for a pooled answer, unless many."""
    first = questions[0]
    if first.unit is not None or "" in first.readers:
        return ()
    frameworks = {(id(framework), first.shares.get(unit)): framework for unit, framework in first.readers.items()}
    shares = {(framework.fingerprint(), share): framework for (_, share), framework in frameworks.items()}
    if len(shares) > MOST_SHARES:
        return ()
    readers = list[Json]()
    for (_, share), framework in shares.items():
        reader: Json = {"framework": framework.to_dict(), "query": None, "factor": None}
        if share is not None:
            reader |= {"query": share[0].to_dict(), "factor": to_text(share[1])}
        readers.append(reader)
    return tuple(readers)


def is_pooled(certificate: Certificate) -> bool:
    """Return whether a certificate pools several unnamed people."""
    return certificate.scope == "pooled" and certificate.answers[0].unit is None


def published_in(certificate: Certificate) -> tuple[Published, ...]:
    """Return the answers of a certificate.

    Raises InputError for answers unknown to this installation.
    """
    published = list[Published]()
    for answer in certificate.answers:
        try:
            framework = frameworks.from_dict(certificate.frameworks[answer.framework])
            query, noise = queries.from_dict(answer.query), randomisers.from_dict(answer.noise)
        except (TakifuguError, KeyError, TypeError, ValueError, AttributeError):
            raise InputError(
                f"the certificate of {certificate.release!r} names a belief, a query or noise that this installation "
                "does not know",
                fix="import the extension that it was made with, or restore a ledger that knows the release",
            ) from None
        promise = Guarantee(
            as_fraction(answer.epsilon, "its epsilon"), as_fraction(answer.delta, "its delta"),
            Covers(answer.covers), certificate.definition, answer.framework, (), hides_facts=framework.hides_facts,
        )  # fmt: skip
        published.append(Published(framework, query, noise, promise))
    return tuple(published)


def debits_in(certificate: Certificate, bill: Bill, reading: str) -> Iterator[Debit]:
    """Yield the debits of a release, by person or by pooled share.

    The person of a pooled share has no name.
    """
    from takifugu.accounting.ledger import Debit

    scope = "pooled" if is_pooled(certificate) else "unit"
    for answer, place, published in zip(certificate.answers, bill.places, published_in(certificate), strict=True):
        shares = list[tuple[Framework, tuple[Query, Fraction] | None]]()
        if scope == "unit":
            shares.append((published.framework, None))
        else:
            for reader in bill.readers:
                share = None
                if reader["query"] is not None:
                    share = queries.from_dict(reader["query"]), as_fraction(reader["factor"], "a factor")
                shares.append((frameworks.from_dict(reader["framework"]), share))
        for number, (framework, share) in enumerate(shares):
            charge: Charge = charge_of(
                published, framework, share=share, scope=scope, at=place, reading=f"{bill.payment}.{number}",
                calendar=bill.calendar, read_as=reading, begins_series=bill.begins_series,
            )  # fmt: skip
            yield Debit(framework, charge, answer.unit or "", certificate.release)
