"""One noisy answer from Python: read, paid for, drawn, kept in the ledger, returned, and noted as published.

For one that another library draws the ledger is told what it loses (`charge_external`), and its certificate who says
so. """

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from takifugu.accounting.composition import charge_of
from takifugu.analysis.bounds import Witness
from takifugu.analysis.guarantee import Guarantee
from takifugu.analysis.randomisers.outside import Outside
from takifugu.calibration.record_epsilon import promise_of_entries, replaced
from takifugu.calibration.result import Calibration
from takifugu.core.assumptions import reading
from takifugu.core.errors import InputError, ReleaseState
from takifugu.core.names import normalised
from takifugu.core.people import People
from takifugu.core.rules import check_type
from takifugu.core.tracebacks import without_data
from takifugu.model.frameworks import Framework
from takifugu.model.queries.additive.counts import EveryChange
from takifugu.numbers.noise import Entropy, SystemEntropy
from takifugu.numbers.rationals import Number
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.certificates.facts import Fact
from takifugu.releasing.planning.identity import identity_of
from takifugu.releasing.planning.notices import NOBODY_COUNTS, tell
from takifugu.releasing.planning.questions import SERIES, NoisyAnswer, Question, Reader
from takifugu.releasing.planning.truth import Seen
from takifugu.releasing.postprocess.readable import library_of
from takifugu.releasing.postprocess.release import Release, releases_of
from takifugu.releasing.publishing.bundle import Bundle, sealed
from takifugu.releasing.publishing.certifying import certificate_of
from takifugu.releasing.publishing.choosing import NO_CHOICE, Choice
from takifugu.releasing.publishing.new_ledger import opened, require_known
from takifugu.releasing.publishing.progress import Progress
from takifugu.releasing.publishing.publish import Budget, Drawn, Planned, draw, keep, validate

if TYPE_CHECKING:
    from takifugu.accounting.ledger import Ledger

#: What the charge of a release that was made elsewhere rests on.
AS_DECLARED = "the mechanism was run elsewhere: that it loses no more is its maker's word, and was not checked here"


@without_data
def release(
    calibration: Calibration, data: object, *, ledger: Ledger | str | Path | None = None, source: str = "data",
    unit: str | None = None, budget: Budget | None = None, same_people: bool = False,
    require_ledger: bool = False, entropy: Entropy | None = None, entries: str | None = None, at: int | None = None,
    same_entries: str = "", other_entries: bool = False, begins_series: bool = False,
) -> Release:  # fmt: skip
    """Publish one noisy answer and record its cost.

    The call pays, draws, keeps the draw, and returns it. The same call completes a release that was paid for and pays
    nothing. Without a ledger nothing is recorded, and a `Notice` and the certificate say so. A `Notice` also warns
    where the ledger will refuse later releases, and of a charge above the guarantee.

    Args:
        calibration: The noise, from `calibrate`.
        data: A sequence of states (chain), a list of sequences (independent pieces), a list of values (users), a
            mapping or tuple (joint table), or a number (`distribution_pair`).
        ledger: The ledger, its path or its URL. A missing ledger is created, with a `Notice`.
        source: Name of the data in the ledger.
        unit: The unit that the data are about, where a source has several.
        budget: The most privacy loss of a unit; None keeps the ledger's.
        same_people: Declares, with the first release about a second source, that its units are those of the other
            sources. Other people need another ledger.
        require_ledger: Refuse a missing ledger instead of creating one.
        entropy: The source of randomness, for tests; None for the system's.
        entries: Name of the measurements, such as "posture, one value a minute". Releases of one name read the same
            entries of a unit, from the same first value on. A ledger requires it.
        at: The step, from 0, of the named recording at which this sequence starts, a public number. Releases about
            other parts then cost only their joint loss.
        same_entries: The reason why the entries are those of earlier releases under another name. Certificates print
            it.
        other_entries: Count earlier releases beside this one, by their loss when all their data change.
        begins_series: Declare, with the first release about a source, that later releases with normal or Laplace noise
            count as multiples of its normal noise (`influence-gaussian`), so that squares add up.

    Returns:
        The release; `completed` is the time of an earlier payment.

    Raises:
        InputError: For `at` where the data are not one sequence, and for a budget without a ledger.
        DataError: For data that the belief does not know.
        CalibrationRefused: For noise that `calibrate` refuses by default.
        BudgetExceeded: Where the loss exceeds the budget.
        CompositionRefused: Where the ledger has no joint guarantee.
        LedgerError: Where the ledger cannot be used. Every error's `state` tells how far the release had come.

    Source: docs/theory/influence.md#series-of-normal-releases (`begins_series`).

    Examples:
        >>> import takifugu as tf
        >>> chain = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=4, states=["still", "walking"])
        >>> framework = tf.Pufferfish(tf.every_entry(), chain)
        >>> calibration = tf.calibrate(framework, tf.Count("walking"), epsilon=1, mechanism="group-dp")
        >>> noisy = release(calibration, ["still", "walking", "walking", "still"])
        >>> noisy.certificate.epsilon, type(noisy.value)
        ('1', <class 'int'>)
    """
    progress = Progress()
    with progress.telling():
        choice = Choice(same_entries=same_entries, other_entries=other_entries, same_people=same_people)
        payer = Payer(source, unit, budget, choice)
        if ledger is None and budget is not None:
            raise InputError(
                "a budget needs a ledger that keeps it", fix="write ledger='ledger.db', or omit the budget"
            ).at("ledger")
        require_known(ledger, require_ledger)
        facts = list[Fact]()
        if at is not None:  # InputError for data that are not one sequence of a recording
            place = charge_of(calibration, at=at).at or 0
            if place < 0:
                raise InputError(f"at is {at!r}", rule="steps of a recording are counted from 0").at("at")
            facts = [reading(f"The sequence starts at step {place} of the recording.")]
        if begins_series:
            facts.append(SERIES)
        question = payer.question(calibration, data, at, entries, begins_series)
        validate([question])
        bits: Entropy = SystemEntropy() if entropy is None else entropy
        check_type(bits, Entropy, "a source of random bytes", "leave it out", "entropy")
        certified = partial(payer.certified, facts=facts)
        kept = since = None
        if ledger is None:
            tell([NOBODY_COUNTS])
            certificate = certified(draw([question], {}, bits))
        else:
            kept = payer.drawn(question, ledger, "library", bits, progress, certified)
            certificate, since = kept.certificate, kept.since
        answer = replace(
            releases_of(certificate)[payer.unit], randomiser=calibration.randomiser, calibration=calibration,
            library=library_of(data), completed=since,
        )  # fmt: skip
        if kept is not None:  # last of all: with it the values leave the ledger
            progress.record(kept.book, kept.paid, kept.bundle.certificates, ReleaseState.DRAWN)
    return answer


@dataclass(frozen=True, eq=False)
class Payer:
    """Whose data a release of the library is about, and who pays for it."""

    source: str
    unit: str | None
    budget: Budget | None = None
    choice: Choice = NO_CHOICE

    def __post_init__(self) -> None:
        called(self.source, "source", "the source", "what the data are called, source='activity-study'")
        check_type(self.choice.same_people, bool, "an answer", "write same_people=True, or leave it out", "same_people")
        if self.unit is not None:
            unit = called(self.unit, "unit", "the person's name", "whose data they are, unit='participant 7'")
            object.__setattr__(self, "unit", unit)

    def question(
        self, calibration: Calibration, data: object, at: int | None, entries: str | None, begins_series: bool = False
    ) -> Question:
        check_type(calibration, Calibration, "a calibration", "give what calibrate(...) returns", "calibration")
        if entries is not None:
            entries = called(entries, "entries", "the name of the entries", "what is measured, entries='posture'")
        readers = {self.unit or "": Reader(calibration.framework)}
        return Question(
            "release", self.unit, calibration, data, readers, at, entries=entries, begins_series=begins_series,
            may_miss=True,
        )  # fmt: skip

    def certified(self, answers: Sequence[NoisyAnswer], facts: Sequence[Fact] = ()) -> Certificate:
        scope, units = ("all", []) if self.unit is None else ("unit", [self.unit])
        return certificate_of(answers, self.source, scope, units, facts)

    def drawn(
        self, question: Question, ledger: Ledger | str | Path, kind: str, bits: Entropy, progress: Progress,
        certified: Callable[[Sequence[NoisyAnswer]], Certificate],
    ) -> Drawn:  # fmt: skip
        """Pay, draw and keep, or return an earlier call's paid values."""
        if question.seen.data is None:  # what is drawn elsewhere no other call may take for its own
            identity = bytes.fromhex(token_hex(32))
        else:
            identity = identity_of([question], None, bits.private)
        people = People(are_named=self.unit is not None)
        planned = Planned([question], self.source, self.budget, identity, {"kind": kind}, self.choice, people)

        def seal(answers: Sequence[NoisyAnswer]) -> Bundle:
            return sealed(certified(answers))

        return keep(opened(ledger), planned, progress, bits, seal)


def called(name: str, key: str, role: str, to_write: str) -> str:
    """Return the canonical spelling of a caller's name; InputError for a value that is none."""
    if isinstance(name, str) and (spelling := normalised(name, role)):
        return spelling
    raise InputError(f"{role} is {name!r}", fix=f"write {to_write}").at(key)


@without_data
def charge_external(
    framework: Framework, epsilon: Number, delta: Number = 0, *, neighbours: str, made_by: str,
    ledger: Ledger | str | Path, source: str = "data", unit: str | None = None, budget: Budget | None = None,
    same_people: bool = False, entries: str | None = None, at: int | None = None, same_entries: str = "",
    other_entries: bool = False,
) -> Certificate:  # fmt: skip
    """Charge a ledger for another library's release, before it is made.

    Charge the loss that `tf.record_epsilon` allowed. A pure loss composes with everything; with delta nothing else may
    be released about the source. Each call is a charge of its own; one that was interrupted counts as spent.

    Args:
        framework: The secrets and beliefs.
        epsilon: The library's loss of one entry.
        delta: Its delta.
        neighbours: Meaning of that loss: "replace" (one entry's value) or "add-remove" (one entry is there or not),
            which counts double, with delta times 1 + e^epsilon.
        made_by: The library's name and version, for the certificate.
        ledger: As in `release`.
        source: As in `release`.
        unit: As in `release`.
        budget: As in `release`.
        same_people: As in `release`.
        entries: As in `release`.
        at: As in `release`.
        same_entries: As in `release`.
        other_entries: As in `release`.

    Returns:
        The certificate.

    Raises:
        InputError: For a loss, neighbours or names that are none. Nothing is charged after an error.
        BudgetExceeded: Where the loss exceeds the budget.
        CompositionRefused: Where the ledger has no joint guarantee.
        LedgerError: Where the ledger cannot be used.

    Examples:
        >>> import takifugu as tf
        >>> framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=100))
        >>> spend = tf.record_epsilon(framework, 1, neighbours="replace").epsilon
        >>> paid = charge_external(framework, spend, neighbours="replace", made_by="opendp 0.14",
        ...                        ledger="outside.db", budget=2, entries="minutes")
        >>> round(float(paid.epsilon), 6), paid.mechanisms
        (1.0, {'outside': 'opendp 0.14'})
    """
    progress = Progress()
    with progress.telling():
        maker = called(made_by, "made_by", "the maker", "the other library and its version, made_by='opendp 0.14.1'")
        choice = Choice(same_entries=same_entries, other_entries=other_entries, same_people=same_people)
        payer = Payer(source, unit, budget, choice)
        question = payer.question(_calibration(framework, epsilon, delta, neighbours, maker), Seen(None), at, entries)
        if ledger is None:
            raise InputError("there is no ledger to charge", fix="write ledger='ledger.db'").at("ledger")
        kept = payer.drawn(question, ledger, "outside", SystemEntropy(), progress, payer.certified)
        progress.record(kept.book, kept.paid, kept.bundle.certificates, ReleaseState.DRAWN)
    return kept.certificate


def _calibration(
    framework: Framework, epsilon: Number, delta: Number, neighbours: str, maker: str
) -> Calibration:
    """Return another library's loss as a calibration."""
    lost, failing = replaced(framework, epsilon, delta, neighbours)
    promised, failing_here, kind = promise_of_entries(framework, lost, failing)
    promise = Guarantee(
        promised, failing_here, kind, framework.definition, framework.fingerprint(), framework.assumptions(),
        (AS_DECLARED,), hides_facts=framework.hides_facts,
    )  # fmt: skip
    witness = Witness("one entry's value against another", "whatever follows from it changes, too")
    noise = Outside(lost, failing, maker)
    return Calibration(framework, EveryChange(), "outside", maker, noise, promise, witness, lost <= promised)
