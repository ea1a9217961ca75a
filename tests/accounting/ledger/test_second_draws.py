"""What two copies of a ledger drew for one payment is named by what was published, and paid for once more."""

import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.support.ledger_edits import certificate, debit, missing, pay, prices, published

from takifugu.accounting.ledger import SESSION, Amount, Ledger, Session, events
from takifugu.core.errors import InputError, LedgerError

TENTH = Fraction(1, 10)


def draw(ledger: Ledger, group: str, body: bytes) -> dict[str, Any]:
    ledger.keep(group, body)
    ledger.publish(group, [body])
    said: dict[str, Any] = json.loads(json.dumps(certificate(ledger, group)))
    return said


@pytest.fixture
def drawn(tmp_path: Path) -> Iterator[tuple[Ledger, Ledger, dict[str, Any]]]:
    """Two copies that drew for one payment, each other values; the certificates say the same of the ledger."""
    one = Ledger.open(tmp_path / "one.db")
    group = pay(one, budget=9).group
    shutil.copy(tmp_path / "one.db", tmp_path / "other.db")
    other = Ledger.open(tmp_path / "other.db")
    said = draw(one, group, b"first values")
    assert draw(other, group, b"other values") == said
    yield one, other, said
    assert one.check() == other.check() == ()


def test_a_second_draw_is_named_and_paid_for_once_more(drawn: tuple[Ledger, Ledger, dict[str, Any]]) -> None:
    one, other, said = drawn
    for ledger, mine, theirs in ((one, b"first values", b"other values"), (other, b"other values", b"first values")):
        for bodies in ([], [mine], [mine + b"\n"]):
            assert missing(ledger, [said], bodies) == ()
        (words,) = missing(ledger, [said, said, said], [mine, theirs, theirs])
        assert "drawn twice, from two copies" in words
        assert ledger.adopt([said], bodies=[mine])["data"] == Amount(TENTH)
        ((_, price),) = prices(ledger, [said, said], [mine, theirs])
        assert (price["data"], ledger.spent("data")) == (Amount(2 * TENTH), Amount(TENTH))
        for _ in range(2):  # the last one is no news
            assert ledger.adopt([said, said], [mine, theirs])["data"] == ledger.spent("data") == Amount(2 * TENTH)
        assert missing(ledger, [said] * 2, [mine, theirs]) == ()
        assert len(missing(ledger, [said] * 2, [b"third", b"fourth"])) == 2
        assert ledger.spent("data", "never named") == Amount(TENTH)


def test_a_copy_that_drew_nothing_takes_one_draw_as_its_own(tmp_path: Path) -> None:
    """It is the payment that it knows; of two different ones the second was never paid for."""
    book = Ledger.open(tmp_path / "ledger.db")
    paid = pay(book, budget=9)
    said = certificate(book, paid.group)
    assert missing(book, [said], [b"values"]) == ()
    assert len(missing(book, [said] * 3, [b"values", b"other values", b"values"])) == 1
    book.finish(paid.group, "it lies there")
    assert missing(book, [said], [b"values"]) == ()


def test_what_waits_to_be_drawn_and_was_published_elsewhere_is_never_drawn_here(tmp_path: Path) -> None:
    """The copy once drew other values after it had been told of the first ones, for one payment."""
    book = Ledger.open(tmp_path / "ledger.db")
    paid = pay(book, budget=9)
    shutil.copy(tmp_path / "ledger.db", tmp_path / "other.db")
    said = draw(Ledger.open(tmp_path / "other.db"), paid.group, b"first values")
    assert prices(book, [said], [b"first values"]) == []
    for _ in range(2):
        assert book.adopt([said], bodies=[b"first values"]) == {"data": Amount(TENTH)}
        assert book.pending() == ()
        with pytest.raises(LedgerError, match="published or closed"):
            book.keep(paid.group, b"other values")
    assert book.adopt([said], bodies=[b"other values"]) == {"data": Amount(2 * TENTH)}
    assert book.check() == ()


@pytest.mark.parametrize("answers", [0, 1])
def test_a_session_that_ended_elsewhere_is_over_here_or_paid_for_again(tmp_path: Path, answers: int) -> None:
    """Where it has answers it goes on, with other noise than there; the ledger once took both for one session."""
    book = Ledger.open(tmp_path / "ledger.db")
    group = pay(book, recipe=SESSION, budget=9).group
    for number in range(answers):
        book.answer(group, number, (f"question {number}", "5"))
    shutil.copy(tmp_path / "ledger.db", tmp_path / "other.db")
    other = Ledger.open(tmp_path / "other.db")
    other.answer(group, answers, ("another question", "7"))
    other.publish(group, [b"its answers"])
    said = certificate(other, group)
    for _ in range(2):
        assert book.adopt([said], bodies=[b"its answers"]) == {"data": Amount((1 + answers) * TENTH)}
    assert len(book.pending()) == answers
    for number in range(answers):
        book.answer(group, number + 1, ("one more", "8"))
        book.publish(group, [b"our answers"])
    assert missing(book, [said], [b"its answers"]) == ()
    assert book.check() == other.check() == ()


class Stopped:
    """A clock that stands still."""

    @classmethod
    def now(cls, zone: object) -> datetime:
        return datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_a_session_knows_its_own_certificates_and_nobody_elses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has one after each answer. A copy that draws the same text has drawn it once more, at whatever time."""
    monkeypatch.setattr(events, "datetime", Stopped)
    book = Ledger.open(tmp_path / "ledger.db")
    group = pay(book, recipe=SESSION, budget=9).group
    book.answer(group, 0, ("inn?", "safe"))
    shutil.copy(tmp_path / "ledger.db", tmp_path / "other.db")
    own, theirs, other = [certificate(book, group)], list[Any](), Ledger.open(tmp_path / "other.db")
    for place in ("bar?", "pub?"):
        for ledger, certificates_of, number in ((book, own, len(own)), (other, theirs, len(theirs) + 1)):
            ledger.answer(group, number, (place, "safe"))
            certificates_of.append(certificate(ledger, group))
    bodies = [b"one", b"two", b"three"]
    for ends in (False, True):
        assert missing(book, own, bodies) == ()
        assert book.adopt(own, bodies=bodies) == {"data": Amount(TENTH)}
        assert missing(other, own[:1], bodies[:1]) == ()
        assert len(missing(book, [theirs[-1]], [b"theirs"])) == 1
        assert len(missing(other, [own[-1]], [b"three"])) == 1
        if not ends:
            book.publish(group, bodies[-1:])
            other.publish(group, [b"theirs"])
    assert book.adopt([theirs[-1]], bodies=[b"theirs"]) == {"data": Amount(2 * TENTH)}
    assert book.check() == ()


def test_a_session_that_was_closed_without_a_certificate_has_answered_all_the_same(tmp_path: Path) -> None:
    """What another copy answers was once taken for its answers, and charged nothing."""
    book = Ledger.open(tmp_path / "ledger.db")
    session = Session(book, pay(book, recipe=SESSION, budget=9))
    group = session.paid.group
    shutil.copy(tmp_path / "ledger.db", tmp_path / "other.db")
    other = Ledger.open(tmp_path / "other.db")
    for ledger in (book, other):
        ledger.answer(group, 0, ("inn?", "safe"))
    theirs = certificate(other, group)
    session.close()
    for _ in range(2):
        assert book.adopt([theirs], bodies=[b"theirs"]) == {"data": Amount(2 * TENTH)}
    assert book.check() == ()


def test_tables_of_one_payment_are_entered_together(tmp_path: Path) -> None:
    book, other = Ledger.open(tmp_path / "ledger.db"), Ledger.open(tmp_path / "other.db")
    paid = pay(book, debit(name="one"), debit(name="two", epsilon="2/10"), budget=9)
    book.keep(paid.group, b"noisy")
    book.publish(paid.group, [b"one", b"two"])
    whole = certificate(book, paid.group)
    each = [
        {**whole, "ids": {name: number}, "lines": [line for line in whole["lines"] if line["release"] == name]}
        for name, number in whole["ids"].items()
    ]
    assert missing(book, [*each, whole], [b"one", b"two", b"one"]) == ()
    costs = prices(other, each, [b"one", b"two"])
    assert [[*lacking.ids] for lacking, _ in costs] == [["one", "two"]]
    assert costs[0][1] == other.adopt(each, bodies=[b"one", b"two"]) == {"data": Amount(3 * TENTH)}
    assert len(other.payments()) == 1
    assert missing(other, [*each, whole]) == missing(other, each, [b"one", b"two"]) == ()
    third = Ledger.open(tmp_path / "third.db")
    third.adopt(each[1:], bodies=[b"two"])
    assert third.adopt([whole])["data"] == Amount(3 * TENTH)  # the other one alone
    with pytest.raises(InputError, match="no lines of a release"):
        other.adopt([{**whole, "ids": {"one": "0" * 16}}])


def test_what_was_written_anew_is_charged_from_the_certificate(tmp_path: Path) -> None:
    book = Ledger.open(tmp_path / "ledger.db")
    said = published(book, budget=9)
    forked = {**said, "head": "0" * 64}
    (words,) = missing(book, [forked])
    assert "is not what was" in words
    assert book.adopt([forked])["data"] == Amount(2 * TENTH)
    assert missing(book, [forked, said]) == ()
