"""A release that was made elsewhere: its ledger is told what it lost, and its certificate who says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from takifugu.analysis.bounds import Witness
from takifugu.analysis.guarantee import Guarantee
from takifugu.analysis.randomisers.outside import Outside
from takifugu.calibration.entry_budget import promise_of_entries, replaced
from takifugu.calibration.result import Calibration
from takifugu.core.errors import InputError, ReleaseState
from takifugu.core.tracebacks import without_data
from takifugu.model.frameworks import Framework
from takifugu.model.queries.counts import EveryChange
from takifugu.numbers.noise import Entropy, SystemEntropy
from takifugu.numbers.rationals import Number
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.certificates.facts import Account
from takifugu.releasing.planning.questions import Drawn, Ready
from takifugu.releasing.planning.truth import Seen
from takifugu.releasing.publishing.library import Payer, called
from takifugu.releasing.publishing.progress import Progress
from takifugu.releasing.publishing.publish import Budget

if TYPE_CHECKING:
    from takifugu.accounting.ledger import Ledger

#: What the charge of a release that was made elsewhere rests on.
AS_DECLARED = "the mechanism was run elsewhere: that it loses no more is its maker's word, and not checked here"


@without_data
def charge(
    framework: Framework, epsilon: Number, delta: Number = 0, *, neighbours: str, made_by: str,
    ledger: Ledger | str | Path, source: str = "data", unit: str | None = None, budget: Budget | None = None,
    same_people: bool | None = None, at: int | None = None, layout: str | None = None,
) -> Certificate:  # fmt: skip
    """Charge a ledger for another library's release, before it is made.

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
        maker = called(made_by, "made_by", "the maker", "the other library and its version, made_by='opendp 0.14.1'")
        payer = Payer(source, unit, budget, same_people)
        question = payer.question(_calibration(framework, epsilon, delta, neighbours, maker), None, at, layout)
        if ledger is None:
            raise InputError("there is no ledger to charge", fix="write ledger='ledger.db'").at("ledger")
        no_data = Ready(question, (), Seen(None))
        stored = payer.stored([no_data], ledger, "outside", SystemEntropy(), progress, payer.certified, _elsewhere)
        progress.record(stored.book, stored.paid, ReleaseState.DRAWN)
    return stored.certificate


def _elsewhere(
    questions: Sequence[Ready], accounts: Mapping[str, Account], bits: Entropy, people: tuple[str, ...]
) -> tuple[Drawn, ...]:
    """Return answers without values: another library draws them."""
    return tuple(
        Drawn(ready.question, (), (), bits.private, accounts[ready.question.release], people) for ready in questions
    )


def _calibration(
    framework: Framework, epsilon: Number, delta: Number, neighbours: str, maker: str
) -> Calibration:
    """Return what another library's loss promises here."""
    lost, failing = replaced(framework, epsilon, delta, neighbours)
    promised, failing_here, kind = promise_of_entries(framework, lost, failing)
    promise = Guarantee(
        promised, failing_here, kind, framework.definition, framework.fingerprint(), framework.assumptions(),
        (AS_DECLARED,), hides_facts=framework.hides_facts,
    )  # fmt: skip
    witness = Witness("one entry's value against another", "whatever follows from it changes, too")
    noise = Outside(lost, failing, maker)
    return Calibration(framework, EveryChange(), "outside", maker, noise, promise, witness, lost <= promised)
