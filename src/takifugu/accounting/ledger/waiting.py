"""What becomes of a payment: its values are kept when they are drawn, before any other writing, until they are out."""

from __future__ import annotations

import json
from collections.abc import Iterable

from takifugu.accounting.ledger import words
from takifugu.accounting.ledger.certificates import digest_of_body
from takifugu.accounting.ledger.events import OVER, RESERVED, Drawn, Over, canonical, decoding, keyed
from takifugu.accounting.ledger.log import Log
from takifugu.accounting.ledger.trials import Change
from takifugu.accounting.ledger.view import Group, View
from takifugu.core.errors import LedgerError

#: The most bytes of noisy values that one payment keeps.
LARGEST = 400_000_000


class Waiting(Log):
    """A log with the values that wait: the first that were kept of a payment, and no others, are published."""

    def keep(self, group: str, values: bytes) -> bytes:
        """Keep the drawn values, before any other writing; of several draws the first that was kept is returned.

        Raises LedgerError where the values were published already, or are gone: they are never drawn again.
        """
        body = words.packed(values, LARGEST)

        def decide(view: View) -> Change:
            if self._group(view, group).state != RESERVED:
                return Change()
            return Change([Drawn(group, keyed(view.key, "values", values))], waiting={(group, 0): body})

        return self._values(self._change(decide), group)[0]

    def answers(self, group: str) -> tuple[tuple[str, str], ...]:
        """Return a session's questions with their answers; raises LedgerError for a closed one, and for no session."""
        view = self.view()
        there = self._group(view, group)
        if not view.is_session(there):
            raise LedgerError("the reservation is no session", fix="complete it, or open a session")
        if there.state == RESERVED:
            return ()
        with decoding():
            questions = map(json.loads, self._values(view, group))
            return tuple((str(question), str(answer)) for question, answer in questions)

    def answer(self, group: str, number: int, question: tuple[str, str]) -> str:
        """Keep the answer to question `number` of a session, before anybody sees it; return the first that was kept.

        Raises LedgerError where another process asked another question, and where earlier answers are not kept.
        """
        body = canonical(list(question), "an answer").encode()

        def decide(view: View) -> Change:
            questions = self.answers(group)
            if number < len(questions):
                return Change()
            if number > len(questions):
                raise LedgerError(
                    f"question {number} of a session was asked, and {len(questions)} answers are kept",
                    fix="ask again: each answer is kept before the next question",
                )
            digest = keyed(view.key, "values", body)
            return Change([Drawn(group, digest)], waiting={(group, number): words.packed(body, LARGEST)})

        self._change(decide)
        questions, answer = self.answers(group)[number]
        if questions != question[0]:
            raise LedgerError(
                f"question {number} of the session was asked by another process, and was another one",
                fix="ask again, knowing its answer",
            )
        return answer

    def publish(self, group: str, certificates: Iterable[bytes] = ()) -> None:
        """Note that values are published, with the keyed digests of their certificates, and drop them."""
        bodies = tuple(certificates)

        def decide(view: View) -> Change:
            there = self._group(view, group)
            if there.state == RESERVED and not view.is_session(there):
                raise LedgerError("the values were never drawn", fix="reserve, draw, keep and publish, in this order")
            if there.state == OVER:
                return Change()
            return Change([Over(group, tuple(digest_of_body(view.key, body) for body in bodies))], done=group)

        self._change(decide)

    def finish(self, group: str, why: str) -> None:
        """Close a payment without another draw, for a reason that is noted; what waits is dropped."""

        def decide(view: View) -> Change:
            if self._group(view, group).state == OVER:
                return Change()
            return Change([Over(group, why=why)], done=group)

        self._change(decide)

    def _group(self, view: View, group: str) -> Group:
        if group not in view.groups:
            raise LedgerError(
                f"the ledger has no reservation {group!r}", fix="complete it with the ledger that it was made in"
            )
        return view.groups[group]

    def _values(self, view: View, group: str) -> tuple[bytes, ...]:
        there = self._group(view, group)
        if there.state == OVER:
            raise LedgerError(
                f"the reservation {group!r} is published or closed", rule="a second draw would pay nothing for it",
                fix="use what was published, or make another release",
            )  # fmt: skip
        bodies = tuple(words.unpacked(body, LARGEST) for body in self.store.waiting(group))
        if tuple(keyed(view.key, "values", body) for body in bodies) != there.values or not bodies:
            number, newer = view.number, self.view()
            if newer.number > number:  # another process has answered or published between the two readings
                return self._values(newer, group)
            raise LedgerError(
                f"the reservation {group!r} was drawn, and the ledger lacks its values",
                rule="its epsilon is spent, and drawing again could publish it twice",
                fix="make another release",
            )
        return bodies
