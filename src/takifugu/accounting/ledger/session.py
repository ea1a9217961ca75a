"""Sessions: a release whose questions depend on its past answers; all of it is paid for before the first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from takifugu.accounting.amounts import Budget
from takifugu.accounting.ledger.events import SESSION
from takifugu.accounting.ledger.ledger import Ledger
from takifugu.accounting.ledger.trials import Debit
from takifugu.accounting.ledger.values import Payment, Reservation
from takifugu.core.errors import InputError

#: A question (public: it holds no data) and its noisy answer, as texts.
Answered = tuple[str, str]


@dataclass(frozen=True, eq=False)
class Session:
    """Questions about reserved data, each answer kept before the next question.

    `paid` is a reservation, or a pending one whose process ended: it goes on with the answers that were kept. Nothing
    is ever given back: a session that was closed early, or never again opened, has spent all that it reserved.
    """

    ledger: Ledger
    paid: Reservation | Payment

    @staticmethod
    def open(
        ledger: Ledger, source: str, debits: Sequence[Debit], budget: Budget | None = None, entries: str | None = None
    ) -> Session:
        """Pay for a session and begin it; raises as `Ledger.reserve` does."""
        return Session(ledger, ledger.reserve(source, debits, budget, entries=entries, recipe=SESSION))

    @property
    def answers(self) -> tuple[Answered, ...]:
        """Every question with its answer; raises LedgerError for a closed session."""
        return self.ledger.answers(self.paid.group)

    def ask(self, question: str, draw: Callable[[tuple[Answered, ...]], str]) -> str:
        """Return the noisy answer to the next question.

        `draw` draws it from the earlier questions and answers. Where another process asked the same question of this
        session first, its answer is returned and this draw is thrown away. Raises LedgerError where that was another
        question, and for a closed session, and InputError for a question or an answer that is not a text: what is kept
        is what was answered.
        """
        _check_text(question, "question")
        before = self.answers
        answer = draw(before)
        _check_text(answer, "answer")
        return self.ledger.answer(self.paid.group, len(before), (question, answer))

    def close(self) -> tuple[Answered, ...]:
        """End and drop the session, returning its answers."""
        questions = self.answers
        self.ledger.finish(self.paid.group, "the session was closed")
        return questions


def _check_text(text: object, role: str) -> None:
    if not isinstance(text, str):
        raise InputError(f"the {role} is not a text", fix="write numbers as texts, such as str(value)").at(role)
