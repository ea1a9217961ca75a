"""A source that is read otherwise than before: asked about once, before anything is paid; free, or a change of all."""

import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tests.accounting.ledger.test_people import about
from tests.support.ledger_tools import dump, group_debit, one_thing, refused_unchanged, unchanged

import takifugu as tf
from takifugu.accounting.ledger import Debit, Ledger, preview
from takifugu.accounting.ledger.format.readings import Readings
from takifugu.core.errors import BudgetExceeded, CompositionRefused, InputError, ReadingChanged

FRAMEWORK = one_thing(7)
BEFORE, NOW, OTHER = 'step: "3600s"\nvalue: "state"', 'step: "3600s"\nvalue: "State"', 'step: "60s"\nvalue: "state"'


def read_as(reading: str, unit: str = "", name: str = "release") -> Debit:
    debit = group_debit(FRAMEWORK, 1)
    return replace(debit, charge=replace(debit.charge, read_as=reading), unit=unit, name=name)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    book = Ledger.open(tmp_path / "ledger.db")
    book.reserve("s", [read_as(BEFORE)], budget=99)
    return book


def test_equal_texts_are_the_same_entries_and_nobody_is_asked(ledger: Ledger) -> None:
    assert ledger.reserve("s", [read_as(BEFORE)]).spent.epsilon == 2
    assert ledger.readings("s") == (BEFORE,)


def test_without_an_answer_nothing_is_paid_and_both_readings_are_shown(ledger: Ledger) -> None:
    error = refused_unchanged(ledger, ReadingChanged, None, "s", [read_as(NOW)])
    words = str(error)
    assert 'before: value: "state"\n' in words
    assert 'now:    value: "State"\n' in words
    assert "step" not in words
    assert "are these the same entries?" in words


@pytest.mark.parametrize("same", [True, False])
def test_it_is_asked_once_recorded_and_comes_out_of_the_events_again(ledger: Ledger, same: bool) -> None:
    paid = ledger.reserve("s", [read_as(NOW)], same_entries=same)
    assert bool(paid.same_entries) == same
    assert ledger.reserve("s", [read_as(NOW)]).spent.epsilon == 3
    assert ledger.reserve("s", [read_as(BEFORE)]).spent.epsilon == 4
    assert ledger.readings("s") == (BEFORE, NOW)
    (note,) = (event.what for event in ledger.events("s") if "entries" in event.what)
    assert note.startswith("declared to be the same entries:" if same else "declared to be other entries:")
    assert 'value: "State"' in note
    assert ledger.check() == ()
    before = dump(ledger.store.path)
    ledger.rebuild()
    assert dump(ledger.store.path) == before


def test_the_same_entries_join_what_was_charged_before(ledger: Ledger) -> None:
    """Windows of one recording: what both reveal is counted by its places, and not by a change of all data."""
    for same in (True, False):
        charge = tf.calibrate(tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 24)),
                              tf.Count(1), 0.5, mechanism="quilt-exact")  # fmt: skip
        path, spent = ledger.store.path.with_name(f"{same}.db"), list[Fraction]()
        for at, reading in ((0, "hours"), (24, "Hours"), (48, "Hours")):
            answer = {"same_entries" if same else "other_entries": True} if at == 24 else {}
            tf.release(charge, [0] * 24, ledger=path, budget=999, at=at, entries=reading, **answer)
            spent.append(Ledger.open(path).spent("data").spent.epsilon)
        assert (spent[-1] < 0.51) == same
        assert same or spent[-1] > 2


@pytest.mark.parametrize("now", [OTHER, 'value: "state"', f'start between steps: "0 later"\n{BEFORE}'])
def test_another_step_is_never_the_same(ledger: Ledger, now: str) -> None:
    error = refused_unchanged(ledger, InputError, None, "s", [read_as(now)], same_entries=True)
    assert "never the same entries" in str(error)
    assert "step" in str(error)
    assert ledger.reserve("s", [read_as(now)], same_entries=False).spent.epsilon == 2


def test_the_preview_tells_both_prices_and_pays_for_neither(ledger: Ledger) -> None:
    path = ledger.store.path
    with unchanged(path):
        account = preview(path, "s", [read_as(NOW)])
    assert account.asks is not None
    assert account.asks.same == account.asks.others == "'s' goes from epsilon 1 to epsilon 2"
    assert account.asks.same in str(account.asks)
    with unchanged(path):
        account = preview(path, "s", [read_as(OTHER)])
    assert account.asks is not None
    assert account.asks.same.startswith("refused, the source 's' was read with another step")
    assert preview(path, "s", [read_as(BEFORE)]).asks is None
    assert preview(path, "s", [read_as(NOW)], same_entries=True).asks is None


def test_the_tally_of_a_preview_with_another_answer_does_not_count(ledger: Ledger) -> None:
    path, debits = ledger.store.path, [read_as(NOW)]
    for given in (None, False):
        account = preview(path, "s", debits, same_entries=given)
        assert account.tally is not None
        with unchanged(path), pytest.raises(ReadingChanged):
            ledger.reserve("s", debits, computed=account.tally)
    ledger.reserve("s", debits, same_entries=True, computed=account.tally)
    assert any("the same entries" in event.what for event in ledger.events("s"))


def test_other_entries_are_charged_to_everybody(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "ledger.db")
    for unit in ("ana", "ben"):
        ledger.reserve("s", [read_as("hours", unit)], budget=99)
    ledger.reserve("s", [read_as("beds", "bed 1")], same_entries=False)
    assert [unit.spent.epsilon for unit in ledger.spent("s").units] == [3, 3, 3]
    account = preview(ledger.store.path, "s", [read_as("hours", "new")])
    assert "was read as other entries before" in account.reading
    ledger.reserve("s", [read_as("hours", "new")])
    assert [unit.spent.epsilon for unit in ledger.spent("s").units] == [4] * 4


def test_what_has_no_cost_for_a_change_of_everything_is_refused(ledger: Ledger) -> None:
    charge = replace(read_as(NOW).charge, covers="output", change=None, delta=Fraction(1, 100))
    debits = [Debit(FRAMEWORK, charge)]
    error = refused_unchanged(ledger, CompositionRefused, None, "s", debits, same_entries=False)
    assert "was read as other entries before" in str(error)


def test_a_source_of_other_entries_is_not_tied_to_another(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "ledger.db")
    ana = replace(about("Ana"), charge=replace(about("Ana").charge, read_as="hours"))
    ledger.reserve("sleep", [ana], budget=9)
    ledger.reserve("work", [about("Ana")], budget=9, same_people=True)
    beds = replace(ana, charge=replace(ana.charge, read_as="beds"))
    refused_unchanged(ledger, CompositionRefused, "keep one reading", "sleep", [beds], same_entries=False)


def test_a_copy_whose_reading_nobody_answered_for_is_merged_as_other_entries(ledger: Ledger) -> None:
    path = ledger.store.path
    copy = path.with_name("copy.db")
    empty = Ledger.open(path.with_name("empty.db"))
    del empty
    copy.write_bytes(path.read_bytes())
    ours, theirs = Ledger.open(path), Ledger.open(copy)
    ours.reserve("new", [read_as(BEFORE)], budget=9)
    theirs.reserve("new", [read_as(NOW)], budget=9)
    ours.merge(theirs)
    assert ours.spent("new").spent.epsilon == 2
    assert any("other entries" in event.what for event in ours.events("new"))
    assert ours.check() == ()


def test_the_budget_limits_other_entries(ledger: Ledger) -> None:
    ledger.set_budget("s", Fraction(3, 2))
    for same in (True, False):
        refused_unchanged(ledger, BudgetExceeded, None, "s", [read_as(NOW)], same_entries=same)


def test_a_longer_past_asks_for_the_fewest_lines() -> None:
    readings = Readings({"a": ("a: 1\nb: 1", "a: 1\nb: 2"), "c": ("a: 3\nb: 3",)})
    assert readings.nearest("a: 3\nb: 2") == "a: 3\nb: 3"  # of equals the newest
    assert readings.nearest("a: 1\nb: 4") == "a: 1\nb: 2"
    assert readings.nearest("a: 3\nb: 3\nstep: 1") == "a: 3\nb: 3"
    assert readings.nearest("c: 1\na: 1\nb: 1") == "a: 1\nb: 1"


def histories(seed: int) -> Iterator[tuple[str, bool | None]]:
    chance = random.Random(seed)
    for _ in range(8):
        yield f"v: {chance.randrange(4)}\nw: {chance.randrange(2)}", chance.choice((None, True, False))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(12))
def test_classes_are_those_of_a_plain_ledger(seed: int) -> None:
    """Against a list of lists: a text that is known is never asked about, and no two classes become one."""
    readings, plain = Readings(), list[list[str]]()
    for text, answer in histories(seed):
        is_known = not plain or any(text in members for members in plain)
        if not is_known and answer is None:
            with pytest.raises(ReadingChanged):
                readings.answered("s", text, None)
            continue
        near = readings.nearest(text) if plain else ""
        readings = readings.answered("s", text, answer)
        if not any(text in members for members in plain):
            home = next((members for members in plain if answer and near in members), None)
            plain.append([text]) if home is None else home.append(text)
        assert sorted(map(sorted, readings.classes.values())) == sorted(map(sorted, plain))


BAD: list[Any] = ["yes", 1, 0, "same"]


@pytest.mark.parametrize(("answer", "who"), [*product(BAD, ["library", "file"])])
def test_an_answer_is_true_or_false(tmp_path: Path, answer: Any, who: str) -> None:
    charge = tf.calibrate(one_thing(3), tf.Count(1), 1, mechanism="group")

    def release(answer: Any) -> object:
        if who == "library":
            return tf.release(charge, [0] * 3, entries="values", ledger=tmp_path / "l.db", same_entries=answer)
        return tf.release_file(tmp_path / "f.toml", same_entries=answer)

    with pytest.raises(tf.TakifuguError, match="same_entries"):
        _ = release(answer)
    assert not (tmp_path / "l.db").exists()
