"""Reserve, draw, publish: the budget is spent before anything is drawn, and what is drawn is noted before it is out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from takifugu.composition import charge_of
from takifugu.errors import InputError
from takifugu.frameworks import Framework
from takifugu.laws.rationals import Number
from takifugu.names import normalised
from takifugu.noise import Entropy, SystemEntropy
from takifugu.releasing.certificate import Account, Certificate, certify
from takifugu.releasing.library import library_of
from takifugu.releasing.new_ledger import opened, require_known
from takifugu.releasing.notices import forbidden, has_budget, no_budget, tell
from takifugu.releasing.result import Release
from takifugu.releasing.truth import labels_of, true_answer

if TYPE_CHECKING:
    from takifugu.calibration import Calibration
    from takifugu.ledger import Ledger, Reservation

Budget = Number | tuple[Number, Number]


@dataclass(frozen=True, eq=False)
class Question:
    """One answer that is to be published: its calibration, the private data, and the units whose data it reads.

    `readers` are the units that are debited ("" where a source is one unit), each with the framework about its data;
    `unit` is None where the answer is nobody's alone. Questions with the same `release` name are one release.
    `written` are the readers' names as the data or the caller spell them.
    """

    release: str
    unit: str | None
    calibration: Calibration
    data: Any = field(repr=False)
    readers: Mapping[str, Framework] = field(repr=False)
    written: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, eq=False)
class Drawn:
    """A question's noisy answer in answer units; `account` is None where no ledger was used."""

    question: Question
    labels: tuple[str, ...]
    values: tuple[Fraction, ...]
    private: bool
    account: Account | None


@dataclass(frozen=True, eq=False)
class Drawing:
    """Noisy answers that were paid for, or not accounted at all where there is no ledger."""

    answers: tuple[Drawn, ...]
    ledger: Ledger | None
    reservation: Reservation | None

    def hand_out(self) -> None:
        """Note in the ledger that the values are published."""
        if self.ledger is not None and self.reservation is not None:
            self.ledger.publish(self.reservation)


def release(
    calibration: Calibration,
    data: Any,
    *,
    ledger: Ledger | str | Path | None = None,
    source: str = "data",
    unit: str | None = None,
    budget: Budget | None = None,
    require_ledger: bool = False,
    entropy: Entropy | None = None,
) -> Release:
    """Publish one noisy answer: reserve its cost in the ledger, draw the noise, note that it is published.

    `data` is a sequence of states (a chain), a list of sequences (independent pieces), a list of values (users), a
    mapping or tuple (a record of a joint table) or a number (`between`). `source` is the data's name in the ledger,
    `unit` whose data they are, where a source has several. Without a ledger nothing is accounted, and the certificate
    says so.

    A ledger that is not there yet is made, and a `Notice` says so; with `require_ledger` it is refused instead. Before
    anything is drawn a `Notice` also warns where the ledger will refuse later releases: the promise is about this
    output alone, or no budget was declared, so that it is what this release costs.

    Raises DataError for data that the belief does not know, BudgetExceeded or CompositionRefused where the ledger
    refuses, LedgerError where it cannot be used: then nothing was drawn. A failure after the reservation leaves the
    epsilon spent.

    >>> import takifugu as tf
    >>> chain = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=4, states=["still", "walking"])
    >>> framework = tf.Pufferfish(tf.every_entry(), chain)
    >>> calibration = tf.calibrate(framework, tf.Count("walking"), epsilon=1, mechanism="group")
    >>> noisy = release(calibration, ["still", "walking", "walking", "still"])
    >>> noisy.certificate.epsilon, type(noisy.value)
    ('1', <class 'int'>)
    """
    name = None if unit is None else called(unit, "the unit", "whose data they are, unit='participant 7'")
    called(source, "the source", "what the data are called, source='activity-study'")
    if ledger is None and budget is not None:
        raise InputError("a budget needs a ledger that keeps it: write ledger='ledger.db', or leave the budget out")
    require_known(ledger, require_ledger)
    readers, written = {name or "": calibration.framework}, {name or "": unit or ""}
    question = Question("release", name, calibration, data, readers, written)
    drawing = draw([question], ledger, source, budget, entropy)
    answer = drawing.answers[0]
    scope, units = ("all", []) if name is None else ("unit", [name])
    certificate = certificate_of(drawing.answers, source, scope, units)
    drawing.hand_out()
    return Release(answer.labels, answer.values, certificate, calibration.randomiser, calibration, library_of(data))


def called(name: str, what: str, to_write: str) -> str:
    """Return the one spelling of a name that the caller gave; InputError for what is no name."""
    spelling = normalised(name, what) if isinstance(name, str) else ""
    if not spelling:
        raise InputError(f"{what} is {name!r}: write {to_write}")
    return spelling


def open_ledger(ledger: Ledger | str | Path | None) -> Ledger | None:
    """Return the ledger at a path or URL, the ledger itself, or None; a new one is announced."""
    return None if ledger is None else opened(ledger)


def draw(
    questions: Sequence[Question],
    ledger: Ledger | str | Path | None,
    source: str,
    budget: Budget | None = None,
    entropy: Entropy | None = None,
) -> Drawing:
    """Answer the questions with noise, paid for in one reservation: all of them, or none.

    The exact answers live in this function only. The ledger is not even opened for data that break a rule.
    """
    answers = [true_answer(q.calibration, q.data) for q in questions]
    labels = [labels_of(q.calibration) for q in questions]
    reservation, accounts = None, {}
    book = open_ledger(ledger)
    if book is not None:
        tell(forbidden((q.release, q.calibration) for q in questions))
        tell([] if budget is not None or has_budget(book, source) else [no_budget(source)])
        reservation = _reserve(questions, book, source, budget)
        about = book.source(source).id
        accounts = {name: Account(about, number) for name, number in reservation.ids.items()}
    bits = SystemEntropy() if entropy is None else entropy
    noisy = [q.calibration.randomiser.draw(a, bits) for q, a in zip(questions, answers, strict=True)]
    if book is not None and reservation is not None:
        book.drawn(reservation)
    drawn = tuple(
        Drawn(q, cells, values, bits.private, accounts.get(q.release))
        for q, cells, values in zip(questions, labels, noisy, strict=True)
    )
    return Drawing(drawn, book, reservation)


def certificate_of(
    drawn: Sequence[Drawn], source: str, scope: str, units: Sequence[str], assumptions: Sequence[str] = ()
) -> Certificate:
    """Return the certificate of the answers of one release."""
    first = drawn[0]
    return certify(
        [(d.question.unit, d.question.calibration, dict(zip(d.labels, d.values, strict=True))) for d in drawn],
        release=first.question.release,
        source=normalised(source),
        scope=scope,
        units=units,
        private=all(d.private for d in drawn),
        account=first.account,
        assumptions=assumptions,
    )


def _reserve(questions: Sequence[Question], ledger: Ledger, source: str, budget: Budget | None) -> Reservation:
    from takifugu.ledger import Debit

    debits = []
    for question in questions:
        scope = "unit" if len(question.readers) == 1 else "pooled"
        frameworks = {id(f): f for f in question.readers.values()}
        charges = {key: charge_of(question.calibration, f, scope) for key, f in frameworks.items()}
        debits += [Debit(f, charges[id(f)], unit, question.release) for unit, f in question.readers.items()]
    return ledger.reserve(source, debits, budget)
