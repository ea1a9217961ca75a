"""Reserve, draw, publish: the budget is spent before anything is drawn, and what is drawn is kept before it is out."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from takifugu.accounting.composition import charge_of
from takifugu.accounting.ledger.format.layouts import UNDECLARED, written
from takifugu.core.errors import InputError, ReleaseState, TakifuguError
from takifugu.core.names import normalised
from takifugu.core.people import PEOPLE, People
from takifugu.core.plain import Plain
from takifugu.core.tracebacks import without_data
from takifugu.numbers.noise import Entropy, SystemEntropy, is_private
from takifugu.numbers.rationals import Number
from takifugu.releasing.certificates.bills import Account
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.certificates.certifying import PLAIN, Adjustment, Wording, certify
from takifugu.releasing.certificates.facts import Fact
from takifugu.releasing.planning.identity import identity_of
from takifugu.releasing.planning.notices import NOBODY_COUNTS, tell, tell_before
from takifugu.releasing.planning.questions import SERIES, Drawn, Question, Ready, debits_of
from takifugu.releasing.planning.truth import answer_of, labels_of, read
from takifugu.releasing.postprocess.library import library_of
from takifugu.releasing.postprocess.release import Release, releases_of
from takifugu.releasing.publishing.beforehand import check_reads_back, refuse_large
from takifugu.releasing.publishing.billing import accounts_of
from takifugu.releasing.publishing.bundle import Bundle, bundle_of, sealed
from takifugu.releasing.publishing.new_ledger import opened, require_known
from takifugu.releasing.publishing.progress import Progress

if TYPE_CHECKING:
    from takifugu.accounting.ledger import Debits, Ledger, Pending, Reservation
    from takifugu.accounting.ledger.tallying import Tally
    from takifugu.calibration import Calibration

Budget = Number | tuple[Number, Number]


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
    """Noisy values that are paid for and in the ledger; `since` is the time of payment, where an earlier call paid."""

    paid: Reservation | Pending
    bundle: Bundle
    since: str | None


@without_data
def release(
    calibration: Calibration,
    data: object,
    *,
    ledger: Ledger | str | Path | None = None,
    source: str = "data",
    unit: str | None = None,
    budget: Budget | None = None,
    same_people: bool | None = None,
    as_composing: bool = False,
    require_ledger: bool = False,
    entropy: Entropy | None = None,
    at: int | None = None,
    layout: str | None = None,
    begins_series: bool = False,
) -> Release:
    """Publish one noisy answer: pay for it in the ledger, draw the noise, keep it there, return it and note that.

    `data` is a sequence of states (a chain), a list of sequences (independent pieces), a list of values (users), a
    mapping or tuple (a record of a joint table) or a number (`between`). `source` is the data's name in the ledger,
    `unit` the unit they are about, where a source has several. `same_people` says whether units with the same name in
    another source of the ledger are the same people; it is required where there are any. Without units it is about all
    other sources without units, and required once one of them says so. `as_composing` gives up promises that are alone,
    this one or earlier ones about the source, where a release with a delta leaves them no place: from then on their
    noise is charged instead. Without a ledger nothing is accounted for: a `Notice` says so, and the certificate.

    `at` declares where in the unit's one recording a sequence starts (a public step, counted from 0), so that releases
    about other parts of it cost only what they reveal together. Without it the ledger assumes, whatever the data are,
    that sequences under one source and unit overlap in the worst way.

    `layout` names how rows become entries: which values, whose, in which steps, cut into pieces by which rule. Give
    each release about a source the same one. In another layout many entries may be one of this, and everything that
    was released about the source then counts at the cost of a change of all that it reads. Without a layout, sequences
    of a unit are alike only if the lengths of their pieces are.

    `begins_series` declares with the first release about a source, one with normal noise (`influence-gaussian`), that
    later ones with normal or Laplace noise count as multiples of it: squares add up, whatever is chosen after which
    output (docs/theory/influence.md#series-of-normal-releases).

    A missing ledger is created, and a `Notice` announces it; with `require_ledger` this is refused instead. Before
    anything is drawn a `Notice` also warns where the ledger will refuse later releases (the promise is about this
    output alone, or no budget was declared, so that it is what this release costs), and of a charge above the promise.

    Raises InputError for `at` where the data are not one sequence, DataError for data that the belief does not know,
    BudgetExceeded or CompositionRefused where the ledger refuses, LedgerError where it cannot be used. The error's
    `state` and words say how far the release had come. The same call completes one that was paid for and pays nothing:
    `completed` is then the time of the payment.

    >>> import takifugu as tf
    >>> chain = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=4, states=["still", "walking"])
    >>> framework = tf.Pufferfish(tf.every_entry(), chain)
    >>> calibration = tf.calibrate(framework, tf.Count("walking"), epsilon=1, mechanism="group")
    >>> noisy = release(calibration, ["still", "walking", "walking", "still"])
    >>> noisy.certificate.epsilon, type(noisy.value)
    ('1', <class 'int'>)
    """
    progress = Progress()
    with progress.telling():
        name = None if unit is None else called(unit, "the person's name", "whose data they are, unit='participant 7'")
        called(source, "the source", "what the data are called, source='activity-study'")
        if ledger is None and budget is not None:
            raise InputError(
                "a budget needs a ledger that keeps it", fix="write ledger='ledger.db', or omit the budget"
            ).at("ledger")
        require_known(ledger, require_ledger)
        rule = UNDECLARED if layout is None else written({"layout": called(layout, "the layout", "one row an hour")})
        readers = {name or "": calibration.framework}
        placed = [] if at is None else [f"the sequence starts at step {_place(calibration, at)} of the recording"]
        if begins_series:
            placed.append(SERIES)
        question = Question("release", name, calibration, data, readers, at, layout=rule, begins_series=begins_series)
        questions = ready([question])
        bits = SystemEntropy() if entropy is None else entropy
        scope, units = ("all", []) if name is None else ("unit", [name])
        certified = partial(certificate_of, source=source, scope=scope, units=units, facts=placed)
        book, stored = None if ledger is None else opened(ledger), None
        if book is None:
            tell([NOBODY_COUNTS])
            certificate, since = certified(draw(questions, {}, bits)), None
        else:
            identity = identity_of(questions, private=bits.private, same_people=same_people)
            people = People(are_named=name is not None)
            bill = Order(source, budget, identity, {"kind": "library"}, same_people, as_composing, people)
            stored = keep(questions, book, bill, progress, bits, lambda d: sealed(certified(d)))
            certificate, since = stored.bundle.sheets[0].certificate, stored.since
        release_made = replace(
            releases_of(certificate)[name],
            randomiser=calibration.randomiser,
            calibration=calibration,
            library=library_of(data),
            completed=since,
        )
        if book is not None and stored is not None:
            progress.record(book, stored.paid, ReleaseState.DRAWN)  # last of all: with it the values leave the ledger
    return release_made


def _place(calibration: Calibration, at: int) -> int:
    """Return a declared step; InputError, before anything is reserved, where the data have no place in a recording."""
    return charge_of(calibration, at=at).at or 0


def called(name: str, what: str, to_write: str) -> str:
    """Return the canonical spelling of a name that the caller gave; InputError for what is not a name."""
    spelling = normalised(name, what) if isinstance(name, str) else ""
    if not spelling:
        raise InputError(f"{what} is {name!r}", fix=f"write {to_write}")
    return spelling


def ready(questions: Sequence[Question]) -> tuple[Ready, ...]:
    """Read the data of all questions; raises DataError for data that break a rule, before anything is paid."""
    return tuple(Ready(q, labels_of(q.calibration, q.data), read(q.calibration, q.data)) for q in questions)


def keep(
    questions: Sequence[Ready],
    book: Ledger,
    order: Order,
    progress: Progress,
    bits: Entropy,
    seal: Callable[[Sequence[Drawn]], Bundle],
    refusal: TakifuguError | None = None,
) -> Stored:
    """Pay for all the answers or none, draw them, and put what is public of them into the ledger.

    What an earlier call has paid for and not published is completed instead: drawn once on the same reservation, or
    used as it was drawn. Where two processes draw, both use the values of one of them. Nothing new is paid for
    where there is a `refusal`, which is raised, or where the files would be too large.
    """
    progress.ledger = book.store.path
    waiting = book.pending(order.source, order.identity)
    if not waiting and refusal is not None:
        raise refusal
    if waiting:
        first = waiting[0]
        if first.state == "drawn":
            progress.state = ReleaseState.DRAWN
            return Stored(first, bundle_of(first.bundle, first.ids), first.created)
        paid: Reservation | Pending = first
    else:
        check_reads_back(one.question.calibration for one in questions)
        refuse_large(questions, seal, bits.private)
        paid = pay(questions, book, order, progress)
    progress.state = ReleaseState.PAID
    requested = [one.question for one in questions]
    accounts = accounts_of(book, order.source, paid, requested, order.same_people, order.as_composing)
    mine = seal(draw(questions, accounts, bits, tuple(words_of_people(paid.same_people))))
    content = progress.keep(book, paid, mine)
    return Stored(paid, bundle_of(content, paid.ids), waiting[0].created if waiting else None)


def words_of_people(same: Mapping[str, bool]) -> Iterator[str]:
    """Yield what was declared of the people of other sources, as certificates say it."""
    for source, are in same.items():
        if are:
            yield (
                f"the people of the source {source!r} are the same people: each release about it counts here at the "
                "cost of a change of the whole data set"
            )
        else:
            yield f"the people of the source {source!r} are different people, even where names coincide"


def draw(
    questions: Sequence[Ready], accounts: Mapping[str, Account], bits: Entropy, people: tuple[str, ...] = ()
) -> tuple[Drawn, ...]:
    """Answer the questions with noise; an exact answer goes from its computation into the noise, and nowhere else."""
    return tuple(
        Drawn(
            one.question,
            one.labels,
            _randomised(one, bits),
            is_private(bits),
            accounts.get(one.question.release),
            people,
        )
        for one in questions
    )


def _randomised(one: Ready, bits: Entropy) -> Sequence[Hashable]:
    noise, answer = one.question.calibration.randomiser, answer_of(one.question.calibration, one.seen)
    return noise.draw(answer, bits) if one.labels else noise.draw_column(answer, bits)


def certificate_of(
    drawn: Sequence[Drawn],
    source: str,
    scope: str,
    units: Sequence[str],
    facts: Sequence[Fact] = (),
    table: str | None = None,
    list_units: bool = False,
    wording: Wording = PLAIN,
    adjustment: Adjustment | None = None,
) -> Certificate:
    """Return the certificate of the answers of one release; `table` is the digest of the file that they are in.

    With `list_units` the certificate of a pooled table names its units; `wording` is for readers, and `adjustment` are
    adjusted values.
    """
    first = drawn[0]
    return certify(
        [(d.question.unit, d.question.calibration, d.cells) for d in drawn],
        release=first.question.release,
        source=normalised(source),
        scope=scope,
        units=units,
        private=all(d.private for d in drawn),
        account=first.account,
        facts=[*facts, *first.people],
        table=table,
        list_units=list_units,
        wording=wording,
        adjustment=adjustment,
    )


def reserve(debits: Sequence[Debits], ledger: Ledger, order: Order, computed: Tally | None) -> Reservation:
    """Pay for answers before they are drawn."""
    return ledger.reserve(
        order.source,
        debits,
        order.budget,
        order.as_composing,
        identity=order.identity,
        recipe=order.recipe,
        same_people=order.same_people,
        computed=computed,
    )


def pay(questions: Sequence[Ready], ledger: Ledger, order: Order, progress: Progress) -> Reservation:
    """Say what is about to be spent, and what that rules out, and pay."""
    from takifugu.accounting.ledger import preview

    requested, source, same = [one.question for one in questions], normalised(order.source), order.same_people
    debits = debits_of(requested)
    account = preview(ledger.store.place, source, debits, order.budget, order.as_composing, same)
    tell_before(requested, source, account, order.people)
    return progress.pay(ledger, order.source, order.identity, lambda: reserve(debits, ledger, order, account.tally))
