"""The log of a ledger: what its events say, how one more is written, and the values that wait until they are out.

What was written stays, whatever follows. Nobody waits for a computation: a change is decided on a view of all events,
and written only if that view is still the newest. Who has lost that race three times takes the lock first. Values are
kept when they are drawn, before any other writing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from secrets import token_hex
from threading import local

from takifugu.accounting.amounts import NOTHING, Amount
from takifugu.accounting.ledger import words
from takifugu.accounting.ledger.certificates import digest_of_body
from takifugu.accounting.ledger.events import (
    DRAWN,
    OVER,
    RESERVED,
    RESTORE,
    Drawn,
    Event,
    Over,
    Paid,
    canonical,
    chained,
    decoding,
    in_chain,
    keyed,
    to_text,
)  # fmt: skip
from takifugu.accounting.ledger.events.stores import AT_ONCE, Store
from takifugu.accounting.ledger.totals import longest, most_of
from takifugu.accounting.ledger.trials import Change
from takifugu.accounting.ledger.view import View
from takifugu.core.errors import LedgerError
from takifugu.core.rules import check_type

#: How often a change is decided again because another process wrote meanwhile, before the others have to wait.
LOST = 3
#: So many payments are computed anew one by one; of all later ones only what they come to in the end.
RECOMPUTED = 300


@dataclass(eq=False)
class Log:
    """The events in a store, and values that wait: the first that were kept of a payment, and no others, are published.

    Of the events that were read each thread has a view of its own, which no other changes.
    """

    store: Store
    _views: local = field(default_factory=local, repr=False)

    def close(self) -> None:
        """Close what is open; the next call opens it again."""
        self.store.close()

    @property
    def id(self) -> str:
        """The ledger's random id, equal in all copies."""
        return self.view().id

    @property
    def is_new(self) -> bool:
        """Whether this very `open` made the ledger, without memory of earlier releases."""
        return self.store.is_new

    def view(self) -> View:
        """Return what all events say; raises LedgerError where they do not follow from one another."""
        store, known = self._settle(), vars(self._views).pop("newest", None)
        view = known if known is not None and known.content == store.content else View(store.content, store.name)
        rows = store.after(max(view.number - 1, 0))
        if view.number and (not rows or rows[0][1] != view.head):  # another copy was put in its place
            view, rows = View(store.content, store.name), store.after(0)
        elif view.number:
            rows = rows[1:]
        for _ in self._applied(view, rows):
            pass
        if not view.number:
            raise LedgerError(f"the ledger {store.name!r} has no first event", fix=RESTORE)
        self._views.newest = view
        return view

    def _applied(self, view: View, rows: Sequence[tuple[str, str]]) -> Iterator[Event]:
        """Let a view take the events of rows, and yield each; the charges of several of them are read at once."""
        for start in range(0, len(rows), AT_ONCE):
            events = list(in_chain(rows[start : start + AT_ONCE], view.key, view.head, view.number))
            named = {line.charge for event, _ in events if isinstance(event, Paid) for line in event.lines}
            with decoding():
                view.read_charges(self.store.contents(named - view.charges.keys()))
            for event, digest in events:
                with decoding():
                    view.apply(event, digest)
                yield event

    def _change(self, decide: Callable[[View], Change]) -> View:
        """Write what is decided on the newest view; decide again where that is no longer the newest."""
        for _ in range(LOST):
            if self._written(decide):
                return self.view()
        with self.store.alone():
            assert self._written(decide), "nobody else can have written"
        return self.view()

    def _written(self, decide: Callable[[View], Change]) -> bool:
        view, rows = self.view(), list[tuple[str, str]]()
        number, newest = view.number, view.head  # of what is decided on, whatever is read meanwhile
        change = decide(view)
        head = newest
        for event in change.events:
            text = to_text(event)
            head = chained(view.key, head, text)
            rows.append((text, head))
        if not rows:
            return True
        return self._settle(is_written=True).append(number, newest, rows, change.contents, change.waiting, change.done)

    def _settle(self, is_written: bool = False) -> Store:
        """Return the store: a lasting one takes the place of one in memory, once there is one."""
        self.store = self.store.lasting(is_written)
        return self.store

    def tag(self, kind: str, content: bytes) -> str:
        """Return this ledger's keyed hash of `content`, different by `kind`."""
        return keyed(self.view().key, kind, content)

    # What becomes of a payment

    def keep(self, group: str, values: bytes) -> bytes:
        """Keep the drawn values, before any other writing; of several draws the first that was kept is returned.

        Raises LedgerError where the values were published already, or are gone: they are never drawn again.
        """
        body = words.packed(values)

        def decide(view: View) -> Change:
            if view.group(group).state != RESERVED:
                return Change()
            return Change([Drawn(group, keyed(view.key, "values", values))], waiting={(group, 0): body})

        return self._values(self._change(decide), group)[0]

    def answers(self, group: str) -> tuple[tuple[str, str], ...]:
        """Return a session's questions with their answers; raises LedgerError for a closed one, and for no session."""
        view = self.view()
        there = view.group(group)
        if not view.is_session(there):
            raise LedgerError("the reservation is no session", fix="complete it, or open a session")
        if there.state == RESERVED:
            return ()
        with decoding():
            questions = map(json.loads, self._values(view, group))
            return tuple((str(question), str(answer)) for question, answer, *_ in questions)

    def answer(self, group: str, number: int, question: tuple[str, str]) -> str:
        """Keep the answer to question `number` of a session, before anybody sees it; return the first that was kept.

        Raises LedgerError where another process asked another question, and where earlier answers are not kept.
        """
        body = canonical([*question, token_hex(8)], "an answer").encode()  # equal texts are different draws

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
            return Change([Drawn(group, digest)], waiting={(group, number): words.packed(body)})

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
        self._end(group, words.texts_of(certificates))

    def finish(self, group: str, why: str, certificates: Iterable[bytes] = (), state: str = "") -> None:
        """Close a payment without another draw, for a reason that is noted; what waits is dropped.

        `certificates` are the texts of those that tell that it was published, `state` the only one in which it closes.
        """
        check_type(why, str, "a reason", "write it in words", "why")
        self._end(group, words.texts_of(certificates), why, state)

    def _end(self, group: str, bodies: Sequence[bytes], why: str = "", state: str = "") -> None:
        def decide(view: View) -> Change:
            there = view.group(group)
            if state and there.state not in (state, OVER):
                raise LedgerError("another process has drawn it", fix="run the same command again")
            if not why and there.state == RESERVED and not view.is_session(there):
                raise LedgerError("the values were never drawn", fix="reserve, draw, keep and publish, in this order")
            if there.state == OVER:
                return Change()
            return Change([Over(group, tuple(digest_of_body(view.key, body) for body in bodies), why)], done=group)

        self._change(decide)

    def _values(self, view: View, group: str) -> tuple[bytes, ...]:
        there = view.group(group)
        if there.state == OVER:
            raise LedgerError(
                f"the reservation {group!r} is published or closed", rule="a second draw would pay nothing for it",
                fix="use what was published, or make another release",
            )  # fmt: skip
        bodies = tuple(words.unpacked(body) for body in self.store.waiting(group))
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

    def _differences(self) -> Iterator[str]:
        """Say what differs between all events, read again, and what they note: every total is computed anew."""
        view, noted, whole = View(self.store.content, self.store.name), dict[str, Amount](), {""}
        for event in self._applied(view, self.store.after(0)):
            if not isinstance(event, Paid):
                continue
            for name in {event.reading, event.recipe} - whole:
                view.content(name)
                whole.add(name)
            spent = {name: Amount.of_texts(texts) for name, texts in event.spent.items()}
            for name, amount in spent.items():
                if not noted.get(name, NOTHING).fits(amount):
                    yield f"event {view.number - 1} notes less of {name!r} than an earlier one"
                noted[name] = amount
            if len(view.groups) <= RECOMPUTED:
                yield from _unlike(view, view.touched(event), spent)
        yield from _unlike(view, view.everyone(), noted)
        for group in view.groups.values():
            if group.state == DRAWN:
                try:
                    self._values(view, group.paid.group)
                except LedgerError as error:
                    yield error.message


def _unlike(view: View, classes: Iterable[int], noted: Mapping[str, Amount]) -> Iterator[str]:
    """Say which totals, computed anew, are above what an event notes; searches differ by less than a millionth."""
    for name, total in most_of(view, longest(view, classes)).items():
        before = noted.get(name, NOTHING)
        if not total.fits(Amount(before.epsilon * (1 + Fraction(1, 10**6)), before.delta)):
            now, then = total.text(up=True), before.text(up=False)
            yield f"event {view.number - 1}: {name!r} had spent {now}, and {then} is noted"
