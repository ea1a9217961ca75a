"""Sessions: a release whose questions depend on its past answers; all of it is paid for before the first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from takifugu.accounting.amounts import Budget
from takifugu.accounting.ledger.events import SESSION
from takifugu.accounting.ledger.ledger import Ledger
from takifugu.accounting.ledger.trials import Debit
from takifugu.accounting.ledger.values import Payment
from takifugu.core.errors import InputError

#: A question (public: it holds no data) and its noisy answer, as texts.
Answered = tuple[str, str]


@dataclass(frozen=True, eq=False)
class Session:
    """Ask questions about reserved data, and keep each answer before the next question.

    Nothing is given back: a session that ends early, or is never opened again, has spent everything that it reserved.

    Args:
        ledger: The ledger.
        paid: The reservation. A pending one, whose process ended, goes on with the kept answers.

    Examples:
        >>> import takifugu as tf
        >>> from takifugu.accounting.composition import charge_of
        >>> from takifugu.accounting.ledger import Debit
        >>> framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=10))
        >>> debits = [Debit(framework, charge_of(tf.calibrate(framework, tf.Count(1), epsilon=1)))]
        >>> session = Session.open(tf.Ledger.blank(), "minutes", debits, budget=2, entries="minutes of today")
        >>> session.ask("how many?", lambda before: "noisy answer")
        'noisy answer'
    """

    ledger: Ledger
    paid: Payment

    @staticmethod
    def open(
        ledger: Ledger, source: str, debits: Sequence[Debit], budget: Budget | None = None, entries: str | None = None
    ) -> Session:
        """Pay for a session and begin it.

        Args:
            ledger: The ledger.
            source: Name of the data.
            debits: The charges, as in `Ledger.reserve`.
            budget: The most privacy loss of a unit; required once.
            entries: Name of the entries.

        Returns:
            The session.

        Raises:
            BudgetExceeded: And the other errors of `Ledger.reserve`.
        """
        return Session(ledger, ledger.reserve(source, debits, budget, entries=entries, recipe=SESSION))

    @property
    def answers(self) -> tuple[Answered, ...]:
        """Every question with its answer; raises LedgerError for a closed session."""
        return self.ledger.answers(self.paid.group)

    def ask(self, question: str, draw: Callable[[tuple[Answered, ...]], str]) -> str:
        """Return the noisy answer to the next question.

        If another process asked the same question first, its answer is returned and this draw is thrown away.

        Args:
            question: The question, a text.
            draw: Takes the earlier questions and answers; returns the answer, a text.

        Returns:
            The answer.

        Raises:
            LedgerError: For a closed session, and if another process asked another question first.
            InputError: For a question or an answer that is no text.
        """
        _check_text(question, "question")
        before = self.answers
        answer = draw(before)
        _check_text(answer, "answer")
        return self.ledger.answer(self.paid.group, len(before), (question, answer))

    def close(self) -> tuple[Answered, ...]:
        """End the session.

        Returns:
            Its questions and answers.
        """
        questions = self.answers
        self.ledger.finish(self.paid.group, "the session was closed")
        return questions


def _check_text(text: object, role: str) -> None:
    if not isinstance(text, str):
        raise InputError(f"the {role} is not a text", fix="write numbers as texts, such as str(value)").at(role)
