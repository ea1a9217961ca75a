"""A session from a release file: paid for before its first question, each answer kept before the next question.

All that it remembers is what it has answered, with noise that is drawn for one question and forgotten: nothing of it is
secret (docs/theory/asymmetric.md#sessions). A call that was killed is repeated: what was answered is not drawn again.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from itertools import starmap
from pathlib import Path

from takifugu.accounting.ledger import OVER, SESSION, Payment, Session
from takifugu.core.assumptions import reading
from takifugu.core.errors import BudgetExceeded, InputError, LedgerError, ReleaseError, ReleaseState
from takifugu.core.tracebacks import without_data
from takifugu.mechanisms.one_sided.sparse import SAFE
from takifugu.numbers.noise import Entropy, SystemEntropy, is_private
from takifugu.numbers.rationals import Number
from takifugu.releasing.advice.budgets import with_ways_to_pay
from takifugu.releasing.certificates.checksum import read_certificate
from takifugu.releasing.certificates.files import CERTIFICATE, digest_at, files_of
from takifugu.releasing.certificates.signing import Signer, configured
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.file.neighbours import notices_of_file
from takifugu.releasing.planning.book import payments_of
from takifugu.releasing.planning.identity import identity_of
from takifugu.releasing.planning.notices import tell
from takifugu.releasing.planning.plan import Plan, Watch, plan, table_names, unwatched
from takifugu.releasing.planning.questions import NoisyAnswer
from takifugu.releasing.planning.session import Inquiry, Reply, Terms
from takifugu.releasing.planning.truth import answer_of
from takifugu.releasing.publishing.bundle import Bundle
from takifugu.releasing.publishing.choosing import NO_CHOICE, Choice
from takifugu.releasing.publishing.folder import place, writing
from takifugu.releasing.publishing.new_ledger import opened
from takifugu.releasing.publishing.orders import alone_for, planned_of
from takifugu.releasing.publishing.progress import Progress
from takifugu.releasing.publishing.publish import check, pay, validate
from takifugu.releasing.publishing.sheets import bundle_for, tables_of
from takifugu.releasing.publishing.standing import public_of
from takifugu.releasing.publishing.statements import declared_of, statements_of
from takifugu.releasing.report.published import Published

#: What the table of a session is called, by the table that it is about.
NAME = "{}-session"
_ANOTHER = "give the [[table]] another name, which pays for another session"
#: What the certificate of a session assumes beyond that of its table.
CHOSEN = reading(
    "The places and their thresholds were chosen one after the other, by earlier answers and by what is public, never "
    "by a look at the data."
)


@dataclass(frozen=True, eq=False)
class Transcript:
    """The answers of a session so far, and the rest of it."""

    name: str
    terms: Terms
    replies: tuple[Reply, ...] = ()
    #: Places of this call that came after its end.
    unanswered: tuple[str, ...] = ()
    #: None before the first question, and before the first answer.
    paid: Payment | None = None
    table: Published | None = None
    has_ended: bool = False


@without_data
def ask(
    file: ReleaseFile,
    places: Sequence[str] = (),
    at_most: Number | None = None,
    is_last: bool = False,
    *,
    choice: Choice = NO_CHOICE,
    watch: Watch = unwatched,
    entropy: Entropy | None = None,
    progress: Progress | None = None,
) -> Transcript:
    """Ask the session of a file's one table about places, in this order; the first question pays for all."""
    progress, bits = progress or Progress(), entropy or SystemEntropy()
    with progress.telling():
        # InputError, BudgetExceeded, CompositionRefused; ReleaseError for other data, and for a session that has ended
        session_file, table = _of_session(file), file.items[0].name
        planned = plan(session_file, watch)
        validate(planned.questions)
        terms = Terms.of(table, planned.questions[0].calibration)
        signer = configured(str(file.ledger or ""), session_file.output)
        sitting = _Sitting(table, planned, terms, bits, progress, signer, choice)
        with alone_for(planned, session_file.output, new_ledger=False) as waiting:
            paid = next((paid for paid in waiting if sitting.name in paid.ids), None)
            payments = payments_of(session_file) if paid is None else ()
            for ended in payments:
                if ended.state == OVER and sitting.name in ended.ids:
                    if replies := () if places else _published(session_file.output, sitting.name, ended):
                        return Transcript(sitting.name, terms, replies, paid=ended, has_ended=True)
                    raise ReleaseError(
                        f"the session {sitting.name!r} has ended ({ended.created[:10]})",
                        rule=f"its answers are in {str(session_file.output)!r}", fix=_ANOTHER,
                    ).at("table")  # fmt: skip
            return sitting.go_on(paid, places, at_most, is_last)


def _of_session(file: ReleaseFile) -> ReleaseFile:
    """Return the file with its one table, under the name of its session. Raises InputError for several tables."""
    if len(file.items) != 1:
        names = [item.name for item in file.items]
        raise InputError(
            f"the file has {len(names)} tables", rule="a session is about one of them", fix=f"choose one of {names}"
        ).at("only")
    (item,) = file.items
    name = NAME.format(item.name)
    if name in table_names(file, (*file.items, *file.others)):
        raise InputError(
            f"the file has a table {name!r}", rule=f"the session of {item.name!r} has this name", fix="rename the table"
        ).at("only")
    return file.only([item.model_copy(update={"name": name})])


def chosen(file: ReleaseFile, only: str | None) -> ReleaseFile:
    """Return the file with the table of this name, or with its only one."""
    return file if only is None else Choice(only).of(file)


@dataclass(frozen=True, eq=False)
class _Sitting:
    """One call of the session of a table, with its private data, while nobody else writes into its folder."""

    table: str
    plan: Plan = field(repr=False)
    terms: Terms
    bits: Entropy
    progress: Progress
    signer: Signer | None
    choice: Choice = NO_CHOICE

    @property
    def name(self) -> str:
        return self.plan.tables[0].name

    @property
    def file(self) -> ReleaseFile:
        return self.plan.file

    @property
    def folder(self) -> Path:
        return self.file.output

    @property
    def identity(self) -> bytes:
        of_table = identity_of(self.plan.questions, self.plan.spec, self.bits.private)
        return hashlib.sha256(b"session" + of_table).digest()

    def go_on(
        self, waiting: Payment | None, places: Sequence[str], at_most: Number | None, is_last: bool
    ) -> Transcript:
        """Answer the questions of this call, and publish what is answered so far."""
        session, earlier = None, tuple[Reply, ...]()
        if waiting is not None:
            session = self._reopened(waiting)
            earlier = _replies(session)
        there = self._there(waiting, earlier)
        questions = self.terms.questions(places, at_most, earlier)
        if session is None and not questions:
            return Transcript(self.name, self.terms)
        if session is None:
            session = Session(opened(self.file.ledger), self._pay())
        self.progress.state = ReleaseState.DRAWN if earlier else ReleaseState.PAID
        unanswered = self._answer(session, questions)
        replies = _replies(session)
        has_ended, table = is_last or self.terms.is_over(replies), None
        if replies:
            bundle = self._bundle(session, replies)
            with writing(self.folder):
                place(self.folder, bundle.files, there)
            (table,) = tables_of(bundle, self.folder)
            self.progress.state = ReleaseState.DONE
        if has_ended and replies:
            self.progress.record(session.ledger, session.paid, bundle.certificates, ReleaseState.UNRECORDED)
        elif has_ended:
            session.close()
        return Transcript(self.name, self.terms, replies, unanswered, session.paid, table, has_ended)

    def _reopened(self, waiting: Payment) -> Session:
        """Return the session that was paid for; ReleaseError where the file or its data are others."""
        book = opened(self.file.ledger)
        if book.tag("identity", self.identity) != waiting.identity:
            raise ReleaseError(
                f"the release file, or the data that it reads, is not what the session {self.name!r} was paid for with",
                rule="all answers of a session are about the same data", fix=f"restore both, or {_ANOTHER}",
            ).at("source")  # fmt: skip
        return Session(book, waiting)

    def _there(self, paid: Payment | None, replies: Sequence[Reply]) -> Mapping[str, str]:
        """Return the digests of the session's own files, which are replaced; ReleaseError for files of others."""
        folder, published = self.folder, {}
        files = [name for name in files_of([self.name]) if os.path.lexists(folder / name)]
        if paid is not None:  # also where its tables were published before
            read = {certified.path: certified.certificate for certified in public_of(paid, [folder])}
            published = {path: certificate for path, certificate in read.items() if certificate is not None}
        if files and folder.absolute() not in {path.parent for path in published}:
            raise ReleaseError(
                f"{', '.join(files)} in {str(folder)!r} would be overwritten", fix="move it, or rename the [[table]]"
            ).at("output")
        for path, certificate in published.items():
            # LedgerError where they have answers that the ledger lacks
            answers = [*certificate.answers[0].values.items()]
            if answers != [(reply.question.place, str(reply.value)) for reply in replies[: len(answers)]]:
                raise LedgerError(
                    f"{path.name} in {str(path.parent)!r} has answers that the ledger {str(self.file.ledger)!r} lacks",
                    rule="it is a copy from before, and would answer them anew",
                    fix=f"restore the newest copy, or {_ANOTHER}",
                ).at("ledger")
        return {name: digest_at(folder / name) or "" for name in files}

    def _pay(self) -> Payment:
        check(self.plan.questions)
        tell(notices_of_file(self.file))
        book = opened(self.file.ledger)
        recipe = {
            **SESSION, "file": str(self.file.path.absolute()), "output": str(self.folder.absolute()),
            "only": self.table, "window": self.file.window,
        }  # fmt: skip
        planned = planned_of(self.plan, self.folder, self.bits.private, choice=self.choice)
        try:
            paid = pay(replace(planned, identity=self.identity, recipe=recipe), book, self.progress)
        except BudgetExceeded as over:
            raise with_ways_to_pay(over, self.file) from None
        return paid

    def _answer(self, session: Session, questions: Sequence[Inquiry]) -> tuple[str, ...]:
        """Answer one question after the other; return the places after the end."""
        unanswered = []
        for question in questions:
            replies = _replies(session)
            if any(reply.question == question for reply in replies):
                continue
            if self.terms.is_over(replies):
                unanswered.append(question.place)
                continue
            # an exact count goes from its computation into the noise, and nowhere else
            counts = answer_of(self.terms.calibration, self.plan.questions[0].seen)
            session.ask(question.text, partial(self._drawn, counts, question))
            self.progress.state = ReleaseState.DRAWN
        return tuple(unanswered)

    def _drawn(self, counts: Sequence[int | Fraction], question: Inquiry, before: Sequence[tuple[str, str]]) -> str:
        replies = list(starmap(Reply.read, before))
        if self.terms.is_over(replies):  # a copy of the file with another folder asks the same session
            raise LedgerError("another process has asked the last question", fix="run the same command again")
        return self.terms.draw(counts, question, replies, self.bits)

    def _bundle(self, session: Session, replies: Sequence[Reply]) -> Bundle:
        """Return the table of all answers so far."""
        planned, book, paid = self.plan, session.ledger, session.paid
        question = replace(planned.questions[0], calibration=self.terms.answered(replies))
        cells = [reply.cell for reply in replies]
        statement, declared = statements_of(book, paid)[self.name], declared_of(book, paid.source)
        answer = NoisyAnswer(question, cells, is_private(self.bits), statement, declared)
        table = replace(planned.tables[0], questions=(question,), facts=(*planned.tables[0].facts, CHOSEN))
        return bundle_for(replace(planned, tables=(table,)), [answer], {}, signer=self.signer)


def _published(folder: Path, name: str, ended: Payment) -> tuple[Reply, ...]:
    """Return the answers of a session that has ended, from its certificate; none where that is not there."""
    path = folder / f"{name}{CERTIFICATE}"
    certificate = read_certificate(path) if path.exists() else None
    if certificate is None or certificate.release_id != ended.ids[name]:
        return ()
    (answer,) = certificate.answers
    replies = list[Reply]()
    for (asked, value), level in zip(answer.values.items(), answer.noise["thresholds"], strict=True):
        replies.append(Reply(Inquiry(asked, int(level)), value if value == SAFE else int(value)))
    return tuple(replies)


def _replies(session: Session) -> tuple[Reply, ...]:
    return tuple(starmap(Reply.read, session.answers))
