"""A release that was made elsewhere: its ledger is told what it lost, and its certificate who says so."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from takifugu.accounting.ledger.format.layouts import UNDECLARED, written
from takifugu.analysis.guarantee import Guarantee
from takifugu.analysis.problem import Witness
from takifugu.analysis.randomisers.outside import Outside
from takifugu.calibration.entry_budget import promise_of_entries, replaced
from takifugu.calibration.result import Calibration
from takifugu.core.errors import InputError, ReleaseState
from takifugu.core.people import People
from takifugu.core.tracebacks import without_data
from takifugu.model.frameworks import Framework
from takifugu.model.queries.counts import EveryChange
from takifugu.numbers.rationals import Number
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.planning.identity import identity_of
from takifugu.releasing.planning.questions import Drawn, Question, Ready
from takifugu.releasing.planning.truth import Seen
from takifugu.releasing.publishing.beforehand import check_reads_back
from takifugu.releasing.publishing.billing import accounts_of
from takifugu.releasing.publishing.bundle import sealed
from takifugu.releasing.publishing.new_ledger import opened
from takifugu.releasing.publishing.progress import Progress
from takifugu.releasing.publishing.publish import Budget, Order, called, certificate_of, pay, words_of_people

if TYPE_CHECKING:
    from takifugu.accounting.ledger import Ledger, Pending, Reservation

#: What the charge of a release that was made elsewhere rests on.
AS_DECLARED = "the mechanism was run elsewhere: that it loses no more is its maker's word, and not checked here"


@without_data
def charge(
    framework: Framework,
    epsilon: Number,
    delta: Number = 0,
    *,
    neighbours: str,
    made_by: str,
    ledger: Ledger | str | Path,
    source: str = "data",
    unit: str | None = None,
    budget: Budget | None = None,
    same_people: bool | None = None,
    at: int | None = None,
    layout: str | None = None,
) -> Certificate:
    """Charge a ledger for a release that another library makes, before it is made; return the certificate.

    `epsilon` and `delta` are what it loses an entry, as that library counts: `neighbours` says whether one entry's
    value is replaced ("replace") or one entry is added or removed ("add-remove", which counts double, with delta times
    1 + e^epsilon). `made_by` is its name and version, for the certificate. All else is as in `release`, and what is
    charged is what `tf.entry_budget` was asked to keep. A pure loss composes with everything; with delta nothing else
    may be released about the source. The same call completes a charge that was paid for and not recorded; after that
    it is another charge.

    Raises InputError for a loss, neighbours or names that are none, BudgetExceeded or CompositionRefused where the
    ledger refuses, LedgerError where it cannot be used; then nothing is charged.

    >>> import takifugu as tf
    >>> framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=100))
    >>> spend = tf.entry_budget(framework, 1, neighbours="replace").epsilon
    >>> paid = charge(framework, spend, neighbours="replace", made_by="opendp 0.14", ledger="outside.db", budget=2)
    >>> round(float(paid.epsilon), 6), paid.mechanisms
    (1.0, {'outside': 'opendp 0.14'})
    """
    progress = Progress()
    with progress.telling():
        maker = called(made_by, "the maker", "the other library and its version, made_by='opendp 0.14.1'")
        name = None if unit is None else called(unit, "the person's name", "whose data they are, unit='participant 7'")
        called(source, "the source", "what the data are called, source='activity-study'")
        lost, failing = replaced(framework, epsilon, delta, neighbours)
        calibration = _calibration(framework, lost, failing, maker)
        rule = UNDECLARED if layout is None else written({"layout": called(layout, "the layout", "one row an hour")})
        question = Question("release", name, calibration, None, {name or "": framework}, at, layout=rule)
        if ledger is None:
            raise InputError("there is no ledger to charge", fix="write ledger='ledger.db'").at("ledger")
        book = opened(ledger)
        progress.ledger = book.store.path
        seen = Ready(question, (), Seen(None))
        identity, whose = identity_of([seen], same_people=same_people), People(are_named=name is not None)
        order = Order(source, budget, identity, {"kind": "outside"}, same_people, people=whose)
        waiting = book.pending(source, order.identity)
        if waiting:
            paid: Reservation | Pending = waiting[0]
        else:
            check_reads_back([calibration])
            paid = pay([seen], book, order, progress)
        account = accounts_of(book, source, paid, [question], same_people)["release"]
        scope, units = ("all", []) if name is None else ("unit", [name])
        people = tuple(words_of_people(paid.same_people))
        certificate = certificate_of([Drawn(question, (), (), True, account, people)], source, scope, units)
        progress.keep(book, paid, sealed(certificate))
        progress.record(book, paid, ReleaseState.DRAWN)
    return certificate


def _calibration(framework: Framework, lost: Fraction, failing: Fraction, maker: str) -> Calibration:
    epsilon, delta, kind = promise_of_entries(framework, lost, failing)
    promise = Guarantee(
        epsilon, delta, kind, framework.definition, framework.fingerprint(), framework.assumptions(), (AS_DECLARED,)
    )
    witness = Witness("one entry's value against another", "whatever follows from it changes, too")
    noise = Outside(lost, failing, maker)
    return Calibration(framework, EveryChange(), "outside", maker, noise, promise, witness, lost <= epsilon)
