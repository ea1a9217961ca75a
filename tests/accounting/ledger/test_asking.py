"""Many units that are debited alike are asked for as each would be by itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.unit_oracles import debited_one_by_one

import takifugu as tf
from takifugu.accounting.composition import charge_of
from takifugu.accounting.ledger import Debit, Debits, Ledger, preview
from takifugu.accounting.ledger.asking import request_of
from takifugu.accounting.ledger.format.chain import digest, digest_of_many
from takifugu.core.errors import InputError, LedgerError

CHAIN = [[0.9, 0.1], [0.4, 0.6]]
FRAMEWORKS = [tf.Pufferfish(tf.every_entry(), tf.MarkovChain(CHAIN, length=n)) for n in (4, 5)]
CHARGES = [
    [charge_of(tf.calibrate(f, tf.Count(1), epsilon=epsilon, mechanism="group"), f) for f in FRAMEWORKS]
    for epsilon in (1, 2)
]
UNITS = ("ana", "ben", "007", "cem 1", "Dörte")


def tag(unit: str) -> bytes:
    return unit.encode().ljust(32)


def kinds(release: int) -> tuple[Debit, ...]:
    return tuple(Debit(f, c, name=f"r{release}") for f, c in zip(FRAMEWORKS, CHARGES[release], strict=True))


def one_by_one(debits: list[Debits]) -> list[Debit]:
    return [replace(one.kinds[kind], unit=unit) for one in debits for unit, kind in one.units.items()]


@given(st.tuples(*[st.dictionaries(st.sampled_from(UNITS), st.integers(0, 1), min_size=1)] * 2))
def test_a_request_for_many_is_that_for_each(drawn):
    debits = [Debits(kinds(release), units) for release, units in enumerate(drawn)]
    ids = {"r0": "0", "r1": "1"}
    many, each = (request_of(some, tag, False, ids) for some in (debits, one_by_one(debits)))
    assert (many.roster, many.units, dict(many.counts)) == (each.roster, each.units, dict(each.counts))
    assert [[p.text for p in shape] for shape in many.shapes] == [[p.text for p in shape] for shape in each.shapes]
    expected = debited_one_by_one(one_by_one(debits))
    names = {"007": "7"}
    assert list(many.units) == [tag(names.get(unit, unit)) for unit in expected]
    for unit, number in zip(expected, many.units.values(), strict=True):
        assert [(f"r{p.release}", p.charge.epsilon) for p in many.shapes[number]] == expected[unit]


@pytest.mark.parametrize("names", [("7", "007"), ("ana", " ana")])
def test_one_release_debits_nobody_twice(names):
    with pytest.raises(InputError, match="debits one person twice"):
        request_of([Debits(kinds(0), dict.fromkeys(names, 0))], tag, False)


def test_a_source_of_one_unit_names_nobody():
    with pytest.raises(LedgerError, match="name them as before"):
        request_of([Debits(kinds(0), {"": 0, "ana": 0})], tag, False)


def test_what_was_previewed_is_paid_while_nothing_changed(tmp_path: Path):
    """After another payment, or in another ledger, it is computed anew."""
    book, debits = Ledger.open(tmp_path / "one.db"), [Debits(kinds(0), dict.fromkeys(UNITS, 0))]
    before = preview(book.store.place, "s", debits).tally
    book.reserve("s", debits, budget=10, computed=before)
    paid = book.spent("s").spent.epsilon
    assert paid == preview(None, "s", debits).after.epsilon
    with pytest.raises(LedgerError):  # the ids of a preview are paid once
        book.reserve("s", debits, computed=before)
    stale = preview(book.store.place, "s", debits).tally
    book.reserve("s", debits)
    book.reserve("s", debits, computed=stale)
    other = Ledger.open(tmp_path / "other.db")
    for _ in range(3):
        other.reserve("s", debits, budget=10)
    assert book.spent("s").spent == other.spent("s").spent
    assert book.spent("s").spent.epsilon > paid
    other.reserve("s", debits, computed=preview(book.store.place, "s", debits).tally)
    assert {one.unit for one in other.spent("s").units} == {other.unit_tag(unit) for unit in UNITS}
    assert book.check() == other.check() == ()


DEBITS = Debits(kinds(1), dict.fromkeys(UNITS, 0))


@pytest.mark.parametrize("other", [
    {"debits": [Debits(kinds(0), dict.fromkeys(UNITS, 0))]},
    {"debits": [Debits(kinds(1), dict.fromkeys(UNITS[:1], 0))]},
    {"debits": [DEBITS, Debits(kinds(0), {"ana": 1})]},
    {"debits": [replace(DEBITS)]},
    {"source": "t", "same_people": False},
    {"as_composing": True},
    {"same_people": False},
], ids=["charges", "people", "more", "a copy", "source", "composing", "same people"])  # fmt: skip
def test_what_was_previewed_for_another_request_is_computed_anew(tmp_path: Path, other: dict[str, object]):
    """It costs less, debits others, or gives up what these do not: nothing of it counts."""
    call = {"source": "s", "debits": [DEBITS]}
    book, honest = (Ledger.open(tmp_path / f"{name}.db") for name in ("book", "honest"))
    for ledger in (book, honest):
        ledger.reserve("s", [Debits(kinds(0), {"ana": 0})], budget=10)
        ledger.source("t", 10)
    foreign = preview(book.store.place, **(call | other))
    assert foreign.tally is not None
    book.reserve(**call, computed=foreign.tally)
    honest.reserve(**call)
    spent = [{one.unit: one.spent for one in ledger.spent("s").units} for ledger in (book, honest)]
    assert [spent[0][book.unit_tag(unit)] for unit in UNITS] == [spent[1][honest.unit_tag(unit)] for unit in UNITS]
    assert [[entry.name for entry in ledger.history("s")] for ledger in (book, honest)] == [["r0", "r1"]] * 2
    assert len({entry.id for entry in book.history("s")}) == 2
    assert book.spent("t").units == ()
    assert book.check() == honest.check() == ()


@given(st.lists(st.lists(st.tuples(st.text("ab\u00e4", max_size=3), st.integers()), min_size=1), max_size=4))
def test_a_digest_in_batches_is_that_of_the_whole_list(batches):
    rows = [row for batch in batches for row in batch]
    assert digest_of_many("key", ("units", 1), batches) == digest("key", "units", 1, rows)
    assert digest_of_many("key", ("units", 1), batches) != digest("key", "units", 1, [*rows, ("a", 0)])
