"""Reserve, keep, publish; what is asked and refused; declarations, adoption, sessions, and what others may read."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.support import ledger_histories as histories
from tests.support.ledger_edits import (
    FRAMEWORK,
    certificate,
    charge,
    debit,
    in_state,
    kinds,
    missing,
    pay,
    prices,
    published,
)
from tests.support.ledger_tools import one_thing
from tests.support.paying import group_debit

from takifugu.accounting.ledger import OVER, SESSION, Amount, Debit, Ledger
from takifugu.accounting.ledger import words as values
from takifugu.accounting.ledger.fitting import Charged
from takifugu.analysis.guarantee import Covers
from takifugu.core.errors import (
    BudgetExceeded,
    CompositionRefused,
    InputError,
    LedgerError,
    PeopleUndeclared,
    ReadingChanged,
)
from takifugu.core.readings import are_never_the_same

HOURS = "file: text\nunit: id\nvalue: state\nstep: 3600s"
#: The same, but for one fact.
SPELT, QUARTERS = HOURS.replace("value: state", "value: lower(state)"), HOURS.replace("3600s", "900s")
TENTH = Fraction(1, 10)


def test_a_release_from_the_first_event_to_the_last(ledger: Ledger) -> None:
    assert ledger.is_new
    assert ledger.show() == ()
    paid = pay(ledger, budget=1, identity=b"which", recipe={"how": ["to", 1]})
    assert paid.spent == Amount(TENTH)
    assert paid.budget == Amount(Fraction(1))
    (waiting,) = ledger.pending("data", b"which")
    assert (waiting.state, waiting.values, waiting.recipe) == ("reserved", None, {"how": ["to", 1]})
    assert ledger.pending("data", b"another") == ledger.pending("other") == ()
    assert ledger.keep(paid.group, b"first") == b"first"
    assert ledger.keep(paid.group, b"second") == b"first"  # nothing is drawn twice
    assert ledger.pending()[0].values == b"first"
    ledger.publish(paid.group, [b"certificate"])
    ledger.publish(paid.group)
    assert ledger.pending() == ()
    assert [payment.state for payment in ledger.payments("data")] == [OVER]
    assert kinds(ledger) == ["began", "budget", "paid", "kept", "over"]
    with pytest.raises(LedgerError, match="published or closed"):
        ledger.keep(paid.group, b"third")
    assert ledger.check() == ()
    again = Ledger.open(ledger.store.name)
    assert not again.is_new
    assert again.spent("data") == again.spent("data", "ann") == Amount(TENTH)
    assert again.spent("data", "cid") == Amount()


def test_nothing_is_written_where_something_is_refused(ledger: Ledger) -> None:
    published(ledger, budget=1)
    before = ledger.store.after(0)
    wrong: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
        ([], {}, InputError, "nothing to reserve"),
        ([debit(["ann", "ann"])], {}, InputError, "debits one person twice"),
        ([debit(["ann"]), debit(["bob", "ann"])], {}, InputError, "debits one person twice"),
        ([debit([" "])], {}, InputError, "nothing but blanks"),
        ([debit([])], {}, InputError, "about nobody"),
        ([debit(None)], {}, LedgerError, "either every release names the people"),
        ([debit(["ann"]), debit(None, name="all")], {}, LedgerError, "either every release names the people"),
        ([debit(epsilon="2")], {}, BudgetExceeded, "would cost epsilon 2"),
        ([debit()], {"budget": 3}, LedgerError, "has a budget of epsilon 1, and now epsilon 3"),
        ([debit()], {"budget": 0}, InputError, "must be above 0"),
        ([debit()], {"entries": None}, ReadingChanged, "nothing names the entries"),
        ([debit()], {"same_entries": False}, InputError, "nobody asks"),
        ([debit()], {"entries": "  "}, InputError, "nothing but blanks"),
        ([debit()], {"entries": "those"}, ReadingChanged, 'before: entries: "these"'),
        ([debit()], {"entries": "those", "same_entries": True}, InputError, "nothing says why"),
        ([debit()], {"source": " "}, InputError, "source's name"),
        ([debit()], {"recipe": {"x": float("nan")}}, InputError, "cannot be kept"),
        ([debit()], {"recipe": {"x": {1: 2}}}, InputError, "would not read back"),
        ([debit(epsilon="1/10", framework="another")], {}, InputError, "another framework"),
        ([debit(definition="nobody's", scale=None, change=None)], {}, CompositionRefused, "no cost|no joint proof"),
    ]
    for debits, options, error, words in wrong:
        with pytest.raises(error, match=words):
            ledger.reserve(
                options.pop("source", "data"), debits, options.pop("budget", None), **{"entries": "these", **options}
            )
        assert ledger.store.after(0) == before
    assert ledger.check() == ()


@pytest.mark.parametrize(("key", "value"), [
    ("debits", 3), ("debits", "x"), ("debits", [1]), ("budget", (1, 0, 0)), ("reading", None), ("reading", "\ud800"),
    ("entries", 3), ("same_entries", "no"), ("why", None), ("identity", "x"), ("recipe", [1]),
])  # fmt: skip
def test_what_is_of_another_type_is_refused_in_words(ledger: Ledger, key: str, value: object) -> None:
    before = ledger.store.after(0)
    terms: dict[str, Any] = {"debits": [debit()], "budget": 1, "entries": "these", key: value}
    with pytest.raises(InputError):
        ledger.reserve("data", **terms)
    assert ledger.store.after(0) == before


@pytest.mark.parametrize(("key", "value"), [
    ("framework", None), ("charge", 3), ("units", "Ana"), ("units", 3), ("name", 3), ("starts", b"x"),
    ("starts", "\ud800"),
])  # fmt: skip
def test_a_debit_of_another_type_is_refused_in_words(key: str, value: object) -> None:
    """The letters of one name were once charged as a person each, and the person was not."""
    terms: dict[str, Any] = {"framework": FRAMEWORK, "charge": charge(), "units": ["Ana"], key: value}
    with pytest.raises(InputError, match=f"{key}"):
        Debit(**terms)


@pytest.mark.parametrize("wrong", [
    lambda book, group: book.keep(group, "text"), lambda book, group: book.keep(group, None),
    lambda book, group: book.keep([group], b"x"), lambda book, group: book.publish({}),
    lambda book, group: book.publish(group, b"a certificate"), lambda book, group: book.publish(group, ["text"]),
    lambda book, group: book.publish(group, None), lambda book, group: book.publish(group, 3),
    lambda book, group: book.finish(group, None), lambda book, group: book.finish(group, 3),
    lambda book, group: book.finish([group], "why"), lambda book, group: book.finish(group, "why", [3]),
])  # fmt: skip
def test_what_becomes_of_a_payment_is_told_in_its_types(ledger: Ledger, wrong: Callable[..., object]) -> None:
    paid = ledger.reserve("data", [debit(["ann"])], 1, entries="these")
    ledger.keep(paid.group, b"first")
    before = ledger.store.after(0)
    with pytest.raises(InputError, match="a value of type "):
        wrong(ledger, paid.group)
    assert ledger.store.after(0) == before
    ledger.publish(paid.group, iter([b"certificate"]))


def test_nothing_is_made_of_what_is_no_path(ledger: Ledger) -> None:
    with pytest.raises(InputError, match="not a ledger"):
        Ledger.open(None)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="not a preview"):
        ledger.pay(None)  # type: ignore[arg-type]


def test_a_refusal_says_what_would_fit(ledger: Ledger) -> None:
    published(ledger, debit(epsilon="1/2"), budget=1)
    with pytest.raises(BudgetExceeded) as caught:
        pay(ledger, debit(epsilon="1"))
    error = caught.value
    half, one = (Fraction(1, 2), Fraction(0)), (Fraction(1), Fraction(0))
    assert (error.spent, error.requested, error.left, error.budget) == (half, one, half, one)
    assert error.total == (Fraction(3, 2), Fraction(0))
    assert error.fits == "epsilon at most 0.5"
    assert error.share == Fraction(1, 2)
    assert f"takifugu ledger set-budget {ledger.store.name} data 1.5" in str(error)
    assert pay(ledger, debit(epsilon="1/2")).spent == Amount(Fraction(1))
    with pytest.raises(BudgetExceeded, match="fits: nothing more"):
        pay(ledger, debit())


def test_a_preview_is_what_is_paid_then(ledger: Ledger) -> None:
    published(ledger, budget=1)
    debits = [debit(["ann", "cid"])]
    seen = ledger.preview("data", debits, entries="these")
    assert (seen.before, seen.after, seen.budget) == (Amount(TENTH), Amount(2 * TENTH), Amount(Fraction(1)))
    assert list(seen.charges) == [Charged(1, Amount(TENTH), Amount(TENTH))]  # who has the longest past
    assert seen.fits
    assert seen.asks is None
    number = len(ledger.store.after(0))
    paid = ledger.pay(seen)
    assert paid.spent == seen.after
    assert seen.trial is not None
    assert paid.group == seen.trial.paid.group  # nothing was computed again
    assert len(ledger.store.after(0)) == number + 1
    over = ledger.preview("data", [debit(epsilon="2")], entries="these")
    assert not over.fits
    assert isinstance(over.over, BudgetExceeded)
    question = ledger.preview("data", [debit()], entries="those")
    assert question.asks is not None
    assert "goes from epsilon 0.2 to epsilon" in question.asks.others
    with pytest.raises(ReadingChanged):
        ledger.pay(question)


def test_a_first_release_without_a_budget_is_all_there_is(ledger: Ledger) -> None:
    paid = pay(ledger)
    assert paid.budget == Amount(TENTH)
    with pytest.raises(BudgetExceeded, match="no budget was declared"):
        pay(ledger)
    for ask in (ledger.reserve, ledger.preview):
        with pytest.raises(LedgerError, match=r"has spent epsilon 0\.1 already: epsilon 0\.05 is less"):
            ask("data", [debit(["zoe"], "1/50")], "0.05", entries="these")
    ledger.budget("data", 1)
    assert pay(ledger).spent == Amount(2 * TENTH)
    with pytest.raises(LedgerError, match=r"has spent epsilon 0\.2 already"):
        ledger.budget("data", "0.15")
    with pytest.raises(LedgerError, match=r"has no source 'none'"):
        ledger.budget("none", 1)


def test_one_key_pays_once(ledger: Ledger) -> None:
    pay(ledger, budget=1, recipe={"once": "week 1"})
    with pytest.raises(LedgerError, match="one key pays once"):
        pay(ledger, recipe={"once": "week 1"})
    with pytest.raises(LedgerError, match="looks like it"):
        pay(ledger, recipe={"once": "Week  1"})
    pay(ledger, debit(name="another"), recipe={"once": "week 1"})
    pay(ledger, recipe={"once": "week 2"})


# Which entries


def weekly(week: int, units: Any = ("ann",)) -> list[Debit]:
    made = histories.released(0, 12, "count", 0.1, "influence")
    assert made is not None
    return [Debit(made[0], replace(made[1], at=12 * week), units)]


def test_a_changed_reading_is_asked_about_and_the_answer_kept(ledger: Ledger) -> None:
    ledger.reserve("data", weekly(0), 99, entries="hours", reading=HOURS)
    with pytest.raises(ReadingChanged, match=r"before: value: state\n  now:    value: lower\(state\)"):
        ledger.reserve("data", weekly(1), entries="hours", reading=SPELT)
    declaration = {"same_entries": True, "why": "the export has capital letters now"}
    same = ledger.reserve("data", weekly(1), entries="hours", reading=SPELT, **declaration)
    assert same.spent.epsilon < Fraction("0.11")
    assert certificate(ledger, same.group)["same"][0]["why"] == declaration["why"]
    assert ledger.reserve("data", weekly(2), entries="hours", reading=SPELT).spent.epsilon < Fraction("0.11")
    with pytest.raises(InputError, match="never the same entries"):
        ledger.reserve("data", weekly(3), entries="hours", reading=QUARTERS, **declaration)
    others = ledger.reserve("data", weekly(3), entries="hours", reading=QUARTERS, same_entries=False)
    first_charge = weekly(0)[0].charge
    assert others.spent.epsilon >= 3 * first_charge.change / first_charge.scale  # type: ignore[operator]


def test_who_has_another_name_may_be_several_of_those_before(ledger: Ledger) -> None:
    """Runs were the people, and then who ran: each answer about a run may be about one person, and all runs alike.

    A value that all three runs have, and Laplace noise of scale 1 on each: the answers lose 3 together.
    """
    runs, people = "file: text\nunit: run\nvalue: state", "file: text\nunit: who\nvalue: state"
    ledger.reserve("data", [group_debit(one_thing(1), 1, "r1", "r2", "r3")], 99, entries="e", reading=runs)
    ledger.reserve("data", [group_debit(one_thing(1), 1, "ann")], entries="e", reading=people, same_entries=False)
    assert ledger.spent("data", "ann") == Amount(4)
    assert ledger.check() == ()


# People


def test_a_second_source_is_asked_whose_people_it_is_about(ledger: Ledger) -> None:
    published(ledger, budget=1)
    before = ledger.store.after(0)
    for answer in ({}, {"same_people": False}, {"same_people": None}):
        with pytest.raises(PeopleUndeclared) as caught:
            pay(ledger, source="sleep", budget=9, **answer)
        assert (caught.value.source, caught.value.other) == ("sleep", "data")
        assert caught.value.where == ("same_people",)
    words = str(caught.value)
    assert "same_people = true (same_people=True): each release about the one counts for the other, too" in words
    assert 'ledger = "NAME-ledger.db"' in words
    assert "same_people = false" not in words
    assert ledger.store.after(0) == before
    spent = pay(ledger, source="sleep", budget=9, same_people=True).spent
    assert spent == Amount(2 * TENTH) == ledger.spent("data")
    pay(ledger, source="sleep")  # it is asked once
    pay(ledger, source="data")
    with pytest.raises(PeopleUndeclared):
        pay(ledger, debit(None), source="third", budget=9)
    assert ledger.check() == ()


def test_whose_people_it_is_about_is_asked_with_the_price(ledger: Ledger) -> None:
    published(ledger, budget=1)
    before = ledger.store.after(0)
    seen = ledger.preview("sleep", [debit()], 9, entries="these")
    assert isinstance(seen.asks, PeopleUndeclared)
    assert seen.asks.same == "'sleep' goes from epsilon 0 to epsilon 0.2"
    assert f"too; {seen.asks.same}" in str(seen.asks)
    assert (seen.before, seen.after) == (Amount(), Amount(2 * TENTH))
    with pytest.raises(PeopleUndeclared):  # a rehearsal of an answer is none
        ledger.pay(seen)
    with pytest.raises(PeopleUndeclared, match="refused, a release about other entries"):
        ledger.preview("sleep", [debit(covers=Covers.OUTPUT, scale=None, change=None)], 9, entries="these")
    assert ledger.store.after(0) == before
    declared = ledger.preview("sleep", [debit()], 9, entries="these", same_people=True)
    assert (declared.asks, declared.after) == (None, seen.after)


# What becomes of it


def test_another_process_writes_while_what_waits_is_listed(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, other = pay(ledger, budget=1), pay(ledger), Ledger.open(ledger.store.name)
    ledger.keep(first.group, b"first")
    read = ledger.store.waiting

    def read_after_another(group: str) -> list[bytes]:
        monkeypatch.undo()
        other.publish(first.group)
        pay(other)
        return list(read(group))

    monkeypatch.setattr(ledger.store, "waiting", read_after_another)
    listed = ledger.pending()
    assert [(payment.group, payment.values) for payment in listed] == [(first.group, None), (second.group, None)]
    assert len(ledger.payments()) == 3


def test_values_that_are_gone_are_not_drawn_again(ledger: Ledger) -> None:
    paid = pay(ledger, budget=1)
    ledger.keep(paid.group, b"first")
    with sqlite3.connect(ledger.store.name) as connection:
        connection.execute("delete from waiting")
    with pytest.raises(LedgerError, match="lacks its values"):
        ledger.keep(paid.group, b"second")
    (waiting,) = ledger.pending()
    assert waiting.values is None
    assert ledger.check() != ()
    ledger.finish(paid.group, "its values are lost")
    assert ledger.check() == ledger.pending() == ()
    assert ledger.spent("data") == Amount(TENTH)


def test_published_values_leave_the_file(ledger: Ledger) -> None:
    paid = pay(ledger, budget=1)
    ledger.keep(paid.group, bytes(range(256)) * 9)
    stored = b"".join(ledger.store.waiting(paid.group))
    path = Path(ledger.store.name)
    assert stored[:40] in path.read_bytes()
    ledger.publish(paid.group)
    assert stored[:40] not in path.read_bytes()


def test_what_was_never_drawn_is_not_published(ledger: Ledger) -> None:
    paid = pay(ledger, budget=1)
    with pytest.raises(LedgerError, match="never drawn"):
        ledger.publish(paid.group)
    with pytest.raises(LedgerError, match="has no reservation"):
        ledger.publish("another")
    ledger.finish(paid.group, "nobody wants it")
    with pytest.raises(LedgerError, match="published or closed"):
        ledger.keep(paid.group, b"late")
    assert ledger.payments()[0].why == "nobody wants it"


def test_a_session_keeps_each_answer_before_anybody_sees_it(ledger: Ledger) -> None:
    paid = pay(ledger, budget=1, recipe=SESSION)
    assert ledger.answers(paid.group) == ()
    assert ledger.answer(paid.group, 0, ("how many", "7")) == "7"
    assert kinds(ledger)[-1] == "kept"
    assert ledger.answer(paid.group, 0, ("how many", "8")) == "7"  # the first one counts
    with pytest.raises(LedgerError, match="was another one"):
        ledger.answer(paid.group, 0, ("how few", "1"))
    with pytest.raises(LedgerError, match="2 of a session was asked, and 1 answers are kept"):
        ledger.answer(paid.group, 2, ("and then", "1"))
    again = Ledger.open(ledger.store.name)
    again.answer(paid.group, 1, ("and then", "3"))
    assert ledger.answers(paid.group) == (("how many", "7"), ("and then", "3"))
    ledger.publish(paid.group)
    with pytest.raises(LedgerError, match="published or closed"):
        ledger.answer(paid.group, 2, ("more", "1"))
    other = pay(ledger)
    for act in (lambda: ledger.answers(other.group), lambda: ledger.answer(other.group, 0, ("question", "no"))):
        with pytest.raises(LedgerError, match="no session"):
            act()
    assert ledger.keep(other.group, b"its own values") == b"its own values"


def test_a_session_whose_answers_are_lost_is_over(ledger: Ledger) -> None:
    paid = pay(ledger, budget=1, recipe=SESSION)
    for number in range(3):
        ledger.answer(paid.group, number, (f"question {number}", "1"))
    with sqlite3.connect(ledger.store.name) as connection:
        connection.execute("delete from waiting where number = 1")
    for action in (lambda: ledger.answers(paid.group), lambda: ledger.answer(paid.group, 3, ("next", "1"))):
        with pytest.raises(LedgerError, match="lacks its values"):
            action()
    ledger.finish(paid.group, "lost")
    assert in_state(ledger, OVER) == [paid.group]


def test_more_than_a_ledger_keeps_is_refused(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "LARGEST", 100)
    paid = pay(ledger, budget=1)
    with pytest.raises(LedgerError, match="a ledger keeps at most"):
        ledger.keep(paid.group, bytes(101))
    assert ledger.keep(paid.group, bytes(100)) == bytes(100)


# Certificates


def test_a_certificate_enters_its_release_elsewhere(ledger: Ledger, tmp_path: Path) -> None:
    certificates = []
    for week in range(4):
        done = ledger.reserve("data", weekly(week, ["ann", "bob"]), 9, entries="hours", reading=HOURS)
        ledger.keep(done.group, b"v")
        ledger.publish(done.group)
        certificates.append(json.loads(json.dumps(certificate(ledger, done.group))))
    other = Ledger.open(tmp_path / "other.db")
    costs = prices(other, certificates)
    assert other.show() == ()
    assert costs[-1][1] == other.adopt(certificates)
    assert other.spent("data") == ledger.spent("data")
    assert other.spent("data", "never named") == ledger.spent("data")  # whoever it is
    assert other.reserve("data", weekly(4, ["zoe"]), 9, entries="hours", reading=HOURS).spent.epsilon < Fraction("0.11")
    for book in (ledger, other):  # each knows them all
        before = book.store.after(0)
        assert book.adopt(certificates)["data"] == book.spent("data")
        assert book.store.after(0) == before
    assert missing(other, certificates) == ()
    with pytest.raises(CompositionRefused, match="of how many"):
        other.reserve("nobody", weekly(0, None), 99, entries="hours", same_people=True)
    for broken in (
        {},
        {**certificates[0], "lines": [{}]},
        {**certificates[0], "ids": 3},
        {**certificates[0], "reading": 7, "lines": 1},
    ):
        with pytest.raises(InputError, match="does not say what was charged"):
            Ledger.open(tmp_path / "third.db").adopt([broken])
    assert other.check() == ()


def test_what_a_restored_copy_has_forgotten_is_named(ledger: Ledger, tmp_path: Path) -> None:
    certificates = [published(ledger, budget=9)]
    shutil.copy(ledger.store.name, tmp_path / "copy.db")
    certificates.append(published(ledger))
    copy = Ledger.open(tmp_path / "copy.db")
    assert missing(ledger, certificates) == ()
    (words,) = missing(copy, certificates)
    assert "does not know that it was paid for" in words
    forked = published(copy, debit(["zoe"]))
    assert "does not know" in missing(ledger, [*certificates, forked])[0]
    copy.adopt(certificates[1:])
    assert missing(copy, [*certificates, forked]) == ()
    assert copy.spent("data", "ann") == Amount(2 * TENTH)


def test_a_certificate_tells_nothing_of_who_and_of_how_many(ledger: Ledger, tmp_path: Path) -> None:
    """Two ledgers whose people differ in number and in kinds of equal charges write the same, but for random words."""
    written = []
    for number, units in enumerate((["ann"], [f"p{n}" for n in range(977)])):
        book = Ledger.open(tmp_path / f"{number}.db")
        published(book, debit(["before"]), budget=99)
        debits = [debit(units)] if number else [debit(units[:1])]
        text = json.dumps(published(book, *debits))
        for random_part in (book.id, *book.view().releases, *(group.digest for group in book.view().groups.values())):
            text = text.replace(random_part, "")
        for event, _ in book.store.after(0):
            values = json.loads(event)
            for line in values.get("lines", ()):
                assert line["units"] not in text
        assert "977" not in text
        assert book.view().key.hex() not in text
        written.append(text)
    assert written[0] == written[1]


# Series, and others that keep their own rule


def test_sequences_that_start_elsewhere_than_before_are_asked_about(ledger: Ledger) -> None:
    """Of one name, and placed by no calendar: no value of the one is known to be one of the other."""
    framework, made = histories.released(0, 12, "count", 0.1, "influence")  # type: ignore[misc]

    def of(person: str, starts: str) -> list[Debit]:
        return [Debit(framework, made, [person], starts=starts)]

    ledger.reserve("data", of("ann", "3"), 99, entries="these")
    assert ledger.reserve("data", of("ann", "3"), entries="these").spent.epsilon < Fraction("0.21")
    ledger.reserve("data", of("bob", "4"), entries="these")  # somebody else's may start anywhere
    with pytest.raises(ReadingChanged, match=r"start: where they did\n  now:    .*elsewhere") as question:
        ledger.reserve("data", of("ann", "4"), entries="these")
    assert are_never_the_same(question.value.before, question.value.now)
    with pytest.raises(InputError, match="never the same entries"):
        ledger.reserve("data", of("ann", "4"), entries="these", same_entries=True, why="told")
    spent = ledger.reserve("data", of("ann", "4"), entries="these", same_entries=False).spent
    assert spent.epsilon == 3 * made.change / made.scale
    assert ledger.spent("data", "bob").epsilon == made.epsilon
    assert b"3" not in {line.starts.encode() for step in ledger.view().steps for line in [step.line]}
