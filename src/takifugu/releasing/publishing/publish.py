"""Reserve, draw, keep: the budget is spent before anything is drawn, and what is drawn is kept before it is out."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from takifugu.core.errors import LedgerError, ReleaseState
from takifugu.core.names import normalised
from takifugu.core.people import PEOPLE, People
from takifugu.core.plain import Plain
from takifugu.numbers.noise import Entropy, is_private
from takifugu.numbers.rationals import Number
from takifugu.releasing.certificates.bills import Account
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.planning.notices import tell_before
from takifugu.releasing.planning.questions import Drawn, Question, Ready, debits_of
from takifugu.releasing.planning.truth import answer_of, labels_of, read
from takifugu.releasing.publishing.beforehand import check
from takifugu.releasing.publishing.billing import accounts_of
from takifugu.releasing.publishing.bundle import Bundle, bundle_of
from takifugu.releasing.publishing.progress import Progress
from takifugu.releasing.publishing.states import InFolder, InLedger, paying_for_new_values, row_of

if TYPE_CHECKING:
    from takifugu.accounting.ledger import Ledger, Pending, Reservation

Budget = Number | tuple[Number, Number]
Draws = Callable[[Sequence[Ready], Mapping[str, Account], Entropy, tuple[str, ...]], tuple[Drawn, ...]]


@dataclass(frozen=True, eq=False)
class Order:
    """How answers are paid for: under which source, by which budget, as which release, and how to complete it."""

    source: str
    budget: Budget | None
    identity: bytes
    recipe: Plain
    same_people: bool | None = None
    as_composing: bool = False
    people: People = PEOPLE


@dataclass(frozen=True, eq=False)
class Stored:
    """Noisy values that are paid for and in the ledger.

    `recipe` is the one that was paid with; `since` is the time of payment, where an earlier call paid.
    """

    book: Ledger
    paid: Reservation | Pending
    bundle: Bundle
    recipe: Plain
    since: str | None

    @property
    def certificate(self) -> Certificate:
        """Return the one certificate of a library release."""
        return self.bundle.sheets[0].certificate


def ready(questions: Sequence[Question]) -> tuple[Ready, ...]:
    """Read and validate the data of all questions.

    Raises DataError for data that break a rule, before anything is paid.
    """
    return tuple(Ready(q, labels_of(q.calibration, q.data), read(q.calibration, q.data)) for q in questions)


def keep(
    questions: Sequence[Ready], book: Ledger, order: Order, progress: Progress, bits: Entropy,
    seal: Callable[[Sequence[Drawn]], Bundle], is_paid: bool = False, draws: Draws | None = None,
) -> Stored:  # fmt: skip
    """Pay for all answers or none, draw them, and keep them.

    What an earlier call has paid for and not published is completed instead: drawn once on the same reservation, or
    used as it was drawn. Where two processes draw, both use the values of one of them. `draws` draws, where that is not
    done here. Raises LedgerError where the ledger could not keep the files, and where it `is_paid` for and another
    process has completed it.
    """
    progress.ledger = book.store.path
    waiting = next(iter(book.pending(order.source, order.identity)), None)
    if waiting is None and is_paid:
        raise LedgerError("another process has completed it", fix="run the same command again")
    if waiting is not None and waiting.state == "drawn":
        progress.state = ReleaseState.DRAWN
        return stored_of(book, waiting)
    paid: Pending | Reservation
    if waiting is None:
        check(questions)
        paid, recipe, since = pay(questions, book, order, progress), order.recipe, None
    else:
        paid, recipe, since = waiting, waiting.recipe, waiting.created
    progress.state = ReleaseState.PAID
    requested = [ready.question for ready in questions]
    accounts = accounts_of(book, order.source, paid, requested, order.same_people, order.as_composing)
    sealed = seal((draws or draw)(questions, accounts, bits, tuple(words_of_people(paid.same_people))))
    content = progress.keep(book, paid, sealed)
    return Stored(book, paid, bundle_of(content, paid.ids), recipe, since)


def stored_of(book: Ledger, drawn: Pending) -> Stored:
    """Return the ledger's values of a release.

    Raises LedgerError where they are lost.
    """
    if drawn.bundle is None:
        lost = row_of(InLedger.LOST, InFolder.NOTHING)
        fix = lost.fix.format(again=paying_for_new_values(drawn, book.payments(drawn.source)))
        raise LedgerError(lost.words, rule="its epsilon is spent, and drawing again would publish it twice", fix=fix)
    return Stored(book, drawn, bundle_of(drawn.bundle, drawn.ids), drawn.recipe, drawn.created)


def pay(questions: Sequence[Ready], ledger: Ledger, order: Order, progress: Progress) -> Reservation:
    """Announce the spending and its exclusions, then pay."""
    from takifugu.accounting.ledger import preview

    requested, source, same = [ready.question for ready in questions], normalised(order.source), order.same_people
    debits = debits_of(requested)
    account = preview(ledger.store.place, source, debits, order.budget, order.as_composing, same)
    tell_before(requested, source, account, order.people)

    def reserve() -> Reservation:
        return ledger.reserve(
            order.source, debits, order.budget, order.as_composing, identity=order.identity, recipe=order.recipe,
            same_people=same, computed=account.tally,
        )  # fmt: skip

    return progress.pay(ledger, order.source, order.identity, reserve)


def draw(
    questions: Sequence[Ready], accounts: Mapping[str, Account], bits: Entropy, people: tuple[str, ...] = ()
) -> tuple[Drawn, ...]:
    """Answer the questions with noise.

    An exact answer goes from its computation into the noise, and nowhere else.
    """
    drawn = []
    for ready in questions:
        account = accounts.get(ready.question.release)
        values = _randomised(ready, bits)
        drawn.append(Drawn(ready.question, ready.labels, values, is_private(bits), account, people))
    return tuple(drawn)


def _randomised(ready: Ready, bits: Entropy) -> Sequence[Hashable]:
    noise, answer = ready.question.calibration.randomiser, answer_of(ready.question.calibration, ready.seen)
    return noise.draw(answer, bits) if ready.labels else noise.draw_column(answer, bits)


def words_of_people(same: Mapping[str, bool]) -> Iterator[str]:
    """Yield the declared relations of sources' people in certificates' words."""
    for source, are_same in same.items():
        if are_same:
            yield (
                f"the people of the source {source!r} are the same people: each release about it counts here at the "
                "cost of a change of the whole data set"
            )
        else:
            yield f"the people of the source {source!r} are different people, even where names coincide"
