"""Reserve, draw, keep: the budget is spent before anything is drawn, and what is drawn is kept before it is out.

Before any of it, it is found out whether all can be read again, and whether a ledger can keep it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from takifugu.analysis import randomisers
from takifugu.core.errors import CalibrationRefused, InputError, LedgerError, ReleaseState, TakifuguError
from takifugu.core.names import normalised
from takifugu.core.people import PEOPLE, People
from takifugu.core.plain import Json, Plain, Writing
from takifugu.core.registry import Registry, place_of
from takifugu.model import beliefs, secrets
from takifugu.model.queries import registry as queries
from takifugu.numbers.noise import Entropy, is_private
from takifugu.numbers.rationals import Number
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.certificates.facts import Account
from takifugu.releasing.planning.notices import tell_before
from takifugu.releasing.planning.questions import Drawn, Question, Ready, debits_of
from takifugu.releasing.planning.truth import answer_of, labels_of, read
from takifugu.releasing.publishing.billing import accounts_of
from takifugu.releasing.publishing.bundle import Bundle, bundle_of
from takifugu.releasing.publishing.doubts import foresee
from takifugu.releasing.publishing.progress import Progress
from takifugu.releasing.publishing.states import InFolder, InLedger, paying_for_new_values, row_of

if TYPE_CHECKING:
    from takifugu.accounting.ledger import Ledger, Pending, Reservation

Budget = Number | tuple[Number, Number]
Draws = Callable[[Sequence[Ready], Mapping[str, Account], Entropy, tuple[str, ...]], tuple[Drawn, ...]]
#: More bytes than a cell takes in all files together, beside its names, and than a row that is randomised by itself.
CELL, ROW, NAMED = 2_000, 200, 20
Thing = TypeVar("Thing")


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
    same_entries: bool | None = None


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

    Raises DataError for data that break a rule, and CalibrationRefused for noise that the one gate refuses, whenever
    it was found, before anything is paid.
    """
    for calibration in {id(q.calibration): q.calibration for q in questions}.values():
        if reason := calibration.too_little_noise:
            raise CalibrationRefused(
                f"the noise of {calibration.mechanism} is refused", rule=reason,
                fix="calibrate again (with allow_zero_noise=True, if it may be so little)",
            )  # fmt: skip
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
        foresee(questions)
        paid, recipe, since = pay(questions, book, order, progress), order.recipe, None
    else:
        paid, recipe, since = waiting, waiting.recipe, waiting.created
    progress.state = ReleaseState.PAID
    requested = [ready.question for ready in questions]
    accounts = accounts_of(book, order.source, paid, requested, order.same_people, order.as_composing)
    sealed = seal((draws or draw)(questions, accounts, bits, declared_of(paid)))
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
    """Announce the spending and its exclusions, then pay.

    Raises ReadingChanged where it has to be said first whether the entries are the same.
    """
    from takifugu.accounting.ledger import preview

    requested, source, same = [ready.question for ready in questions], normalised(order.source), order.same_people
    debits = debits_of(requested)
    entries = order.same_entries
    account = preview(ledger.store.place, source, debits, order.budget, order.as_composing, same, entries)
    if account.asks is not None:
        raise account.asks
    if entries is not None and account.tally is not None and account.tally.answer is None:
        raise InputError(
            f"the source {source!r} is read as before, so nobody asks whether its entries are the same",
            rule="an answer that stands in a script would answer what is asked another time",
            fix="leave --same-entries or --other-entries out (same_entries and other_entries in Python)",
        ).at("same_entries")
    tell_before(requested, source, account, order.people)

    def reserve() -> Reservation:
        return ledger.reserve(
            order.source, debits, order.budget, order.as_composing, identity=order.identity, recipe=order.recipe,
            same_people=same, same_entries=entries, computed=account.tally,
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


def declared_of(paid: Reservation | Pending) -> tuple[str, ...]:
    """Return what is declared of a source's people and readings, in certificates' words."""
    return (*_words_of_people(paid.same_people), *paid.same_entries)


def _words_of_people(same: Mapping[str, bool]) -> Iterator[str]:
    for source, are_same in same.items():
        if are_same:
            yield (
                f"the people of the source {source!r} are the same people: each release about it counts here at the "
                "cost of a change of the whole data set"
            )
        else:
            yield f"the people of the source {source!r} are different people, even where names coincide"


def check(questions: Sequence[Ready]) -> None:
    """Raise for answers that could not be read back or kept.

    Raises InputError for the former, once published, and LedgerError for the latter.
    """
    calibrations = [ready.question.calibration for ready in questions]
    for calibration in {id(calibration): calibration for calibration in calibrations}.values():
        framework = calibration.framework
        _check("noise", calibration.randomiser, None, randomisers.KINDS, randomisers.from_dict)
        _check("query", calibration.query, None, queries.KINDS, queries.from_dict)
        content = framework.to_dict()  # once for all its releases: a belief can be large
        for belief, data in zip(framework.beliefs, content["beliefs"], strict=True):
            _check("belief", belief, data, beliefs.KINDS, beliefs.from_dict)
        for secret, data in zip(framework.secrets, content["secrets"], strict=True):
            _check("secret", secret, data, secrets.KINDS, secrets.from_dict)
    from takifugu.accounting.ledger.pending import LARGEST

    size = 0  # from public sizes alone: a refusal says nothing of the data
    for ready in questions:
        unit = len(ready.question.unit or "")
        size += sum(CELL + NAMED * (len(label) + unit) for label in ready.labels)
        if not ready.labels and ready.seen.data is not None:
            size += ROW * len(ready.seen.data)
    if size > LARGEST:
        raise LedgerError(
            f"the files of this release may take {size // 1_000_000:,} MB",
            rule=f"one release takes at most {LARGEST // 1_000_000} MB",
            fix="publish fewer rows or cells at once",
        )


def _check(
    role: str, thing: Writing, data: Json | None, kinds: Registry[Thing], from_dict: Callable[[Plain], Writing]
) -> None:
    """Load the readers of a thing, and compare foreign ones.

    `data` is the thing as written, if it is.
    """
    name, rule = type(thing).__name__, "certificates and ledgers must be able to read it"
    try:
        data = data or thing.to_dict()
        kinds.find(data["kind"])
        if place_of(type(thing)):
            return
        text = json.dumps(data, sort_keys=True)
        text_of_copy = json.dumps(from_dict(json.loads(text)).to_dict(), sort_keys=True)
    except TakifuguError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise InputError(
            f"the {role} {name} does not read back from its to_dict ({type(error).__name__})", rule=rule,
            fix="write plain data that from_dict reads",
        ) from error  # fmt: skip
    if text_of_copy != text:
        raise InputError(
            f"the {role} {name} reads back from its to_dict as another one", rule=rule,
            fix="write all of it into to_dict",
        )  # fmt: skip
