"""The life of a release: it is `Planned`, paid for in a ledger (`Payment`), `Drawn`, and published (`Outcome`).

The budget is spent before anything is drawn, and what is drawn is kept before it is out. Before any of it, it is found
out whether all can be read again, and whether a ledger can keep it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from takifugu.analysis import randomisers
from takifugu.core.assumptions import Assumption
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
from takifugu.releasing.planning.notices import tell_before
from takifugu.releasing.planning.questions import NoisyAnswer, Question, calibrations_of, debits_of
from takifugu.releasing.planning.truth import answer_of
from takifugu.releasing.publishing.bundle import Bundle, bundle_of
from takifugu.releasing.publishing.certifying import foresee
from takifugu.releasing.publishing.progress import Progress
from takifugu.releasing.publishing.statements import declared_of, statements_of
from takifugu.releasing.publishing.states import InFolder, InLedger, paying_for_new_values, row_of

if TYPE_CHECKING:
    from takifugu.accounting.ledger import Ledger, Payment
    from takifugu.releasing.publishing.choosing import Choice

Budget = Number | tuple[Number, Number]
#: More bytes than a cell takes in all files together, beside its names, and than a row that is randomised by itself.
CELL, ROW, NAMED = 2_000, 200, 20
Thing = TypeVar("Thing")


@dataclass(frozen=True, eq=False)
class Planned:
    """Answers that are paid for together: by which source and budget, as which release, and how to complete it."""

    questions: Sequence[Question]
    source: str
    budget: Budget | None
    identity: bytes
    recipe: Plain
    #: The owner's declarations on the source's entries and people.
    choice: Choice
    people: People = PEOPLE

    def is_paid_by(self, paid: Payment) -> bool:
        """Return whether a payment of this identity is about the entries that are meant."""
        # those of a file may have its name, and it may have been moved; what tells them apart is in the identity
        return self.recipe["kind"] == "file" or paid.entries == self.questions[0].entries


@dataclass(frozen=True, eq=False)
class Drawn:
    """Noisy values that are paid for and in the ledger; `since` is the time of payment, where an earlier call paid."""

    book: Ledger
    paid: Payment
    bundle: Bundle
    since: str | None

    @property
    def certificate(self) -> Certificate:
        """Return the one certificate of a library release."""
        return self.bundle.read[0]


def validate(questions: Sequence[Question]) -> None:
    """Read and validate the data of all questions; DataError, and CalibrationRefused for too little noise."""
    for calibration in calibrations_of(questions):
        # the one gate for noise, whenever it was found, before anything is paid
        if reason := calibration.too_little_noise:
            raise CalibrationRefused(
                f"the noise of {calibration.mechanism} is refused", rule=reason,
                fix="calibrate again (with allow_zero_noise=True, if it may be so little)",
            )  # fmt: skip
    for question in questions:
        _ = question.seen


def keep(
    book: Ledger, planned: Planned, progress: Progress, bits: Entropy,
    seal: Callable[[Sequence[NoisyAnswer]], Bundle], is_paid: bool = False,
) -> Drawn:  # fmt: skip
    """Pay for all answers or none, draw them, and keep them; LedgerError where the ledger could not."""
    progress.ledger = book.store.name
    # an earlier payment is completed: drawn once, or used as it was drawn; of two processes one draw counts
    waiting = next(filter(planned.is_paid_by, book.pending(planned.source, planned.identity)), None)
    if waiting is None and is_paid:
        raise LedgerError("another process has completed it", fix="run the same command again")
    if waiting is not None and waiting.state == "drawn":
        progress.state = ReleaseState.DRAWN
        return drawn_of(book, waiting)
    paid: Payment
    if waiting is None:
        check(planned.questions)
        foresee(planned.questions)
        paid, since = pay(planned, book, progress), None
    else:
        paid, since = waiting, waiting.created
    progress.state = ReleaseState.PAID
    answers = draw(planned.questions, statements_of(book, paid), bits, declared_of(book, paid.source))
    content = progress.keep(book, paid, seal(answers))
    return Drawn(book, paid, bundle_of(content, paid.ids), since)


def drawn_of(book: Ledger, paid: Payment) -> Drawn:
    """Return the ledger's values of a payment. Raises LedgerError where they are lost."""
    if paid.values is None:
        lost = row_of(InLedger.LOST, InFolder.NOTHING)
        fix = lost.fix.format(again=paying_for_new_values(paid, book.payments(paid.source)))
        raise LedgerError(lost.words, rule="its epsilon is spent, and drawing again would publish it twice", fix=fix)
    return Drawn(book, paid, bundle_of(paid.values, paid.ids), paid.created)


def pay(planned: Planned, ledger: Ledger, progress: Progress) -> Payment:
    """Announce the spending and its exclusions, then pay; raise a question on entries or people first."""
    questions, choice = planned.questions, planned.choice
    source, first = normalised(planned.source), questions[0]
    account = ledger.preview(
        source, debits_of(questions), planned.budget, reading=first.reading, entries=first.entries,
        same_entries=choice.are_same, same_people=choice.same_people, why=choice.same_entries,
        identity=planned.identity, recipe=planned.recipe,
    )
    if account.asks is not None:
        raise account.asks
    tell_before(questions, source, account, planned.people)
    return progress.pay(ledger, account, planned.identity)


def draw(
    questions: Sequence[Question], accounts: Mapping[str, Plain], bits: Entropy, declared: tuple[Assumption, ...] = ()
) -> tuple[NoisyAnswer, ...]:
    """Answer the questions with noise. An exact answer goes from its computation into the noise, and nowhere else."""
    answers = []
    for question in questions:
        account = accounts.get(question.release)
        answers.append(NoisyAnswer(question, _randomised(question, bits), is_private(bits), account, declared))
    return tuple(answers)


def _randomised(question: Question, bits: Entropy) -> Any:
    """Return noisy values, or randomised rows; nothing of no data, of which another library draws."""
    if question.seen.data is None:
        return ()
    noise, answer = question.calibration.randomiser, answer_of(question.calibration, question.seen)
    return noise.draw(answer, bits) if question.labels else noise.draw_column(answer, bits)


def check(questions: Sequence[Question]) -> None:
    """Raise InputError for answers that could not be read back, and LedgerError for those that could not be kept."""
    for calibration in calibrations_of(questions):
        framework = calibration.framework
        _check("noise", calibration.randomiser, None, randomisers.KINDS, randomisers.from_dict)
        _check("query", calibration.query, None, queries.KINDS, queries.from_dict)
        content = framework.to_dict()  # once for all its releases: a belief can be large
        for belief, data in zip(framework.beliefs, content["beliefs"], strict=True):
            _check("belief", belief, data, beliefs.KINDS, beliefs.from_dict)
        for secret, data in zip(framework.secrets, content["secrets"], strict=True):
            _check("secret", secret, data, secrets.KINDS, secrets.from_dict)
    from takifugu.accounting.ledger.words import LARGEST

    size = 0  # from public sizes alone: a refusal says nothing of the data
    for question in questions:
        unit = len(question.unit or "")
        size += sum(CELL + NAMED * (len(label) + unit) for label in question.labels)
        if not question.labels and question.seen.data is not None:
            size += ROW * len(question.seen.data)
    if size > LARGEST:
        raise LedgerError(
            f"the files of this release may take {size // 1_000_000:,} MB",
            rule=f"one release takes at most {LARGEST // 1_000_000} MB",
            fix="publish fewer rows or cells at once",
        )


def _check(
    role: str, thing: Writing, data: Json | None, kinds: Registry[Thing], from_dict: Callable[[Plain], Writing]
) -> None:
    """Load the readers of a thing, and compare foreign ones. `data` is the thing as written, if it is."""
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
