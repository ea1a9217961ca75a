"""What units would pay: those alike as each by itself, and computed before the lock is taken."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.accounting.ledger.test_accounts import pooled_debits
from tests.accounting.ledger.test_people import about
from tests.support.unit_oracles import debited_one_by_one

import takifugu as tf
from takifugu.accounting.composition import charge_of
from takifugu.accounting.ledger import Debit, Debits, Ledger, preview
from takifugu.accounting.ledger.asking import request_of, roster_of
from takifugu.accounting.ledger.format.chain import digest, digest_of_many
from takifugu.accounting.ledger.tallying import tally
from takifugu.core.errors import InputError, LedgerError
from takifugu.mechanisms import wasserstein

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
    rosters = [roster_of(request.units, len(request.shapes)) for request in (many, each)]
    assert rosters[0] == rosters[1]
    assert (many.units, dict(many.counts)) == (each.units, dict(each.counts))
    assert [[p.text for p in shape] for shape in many.shapes] == [[p.text for p in shape] for shape in each.shapes]
    expected = debited_one_by_one(one_by_one(debits))
    names = {"007": "7"}
    assert list(many.units) == [tag(names.get(unit, unit)) for unit in expected]
    for unit, number in zip(expected, many.units.values(), strict=True):
        assert [(f"r{p.release}", p.charge.epsilon) for p in many.shapes[number]] == expected[unit]


@pytest.mark.parametrize(("names", "error", "words"), [
    (("7", "007"), InputError, "debits one person twice"), (("ana", " ana"), InputError, "debits one person twice"),
    (("", "ana"), LedgerError, "name them as before"),
])  # fmt: skip
def test_one_release_debits_nobody_twice_and_names_all_or_none(names, error, words):
    with pytest.raises(error, match=words):
        request_of([Debits(kinds(0), dict.fromkeys(names, 0))], tag, False)


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


# Costs are computed before the lock is taken: what is written meanwhile, by anybody, makes them stale if it counts.


def pooled_book(folder: Path) -> Ledger:
    """Return a ledger in which Ana and Ben share an output-law promise."""
    book = Ledger.open(folder / "pooled.db")
    book.reserve("sleep", pooled_debits({"Ana": (1,), "Ben": (1,)}, tf.Count(1), wasserstein.MECHANISM), budget=9)
    return book


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """Ana is in two sources of the same people, Cid in a third one, of others."""
    book = Ledger.open(tmp_path / "ledger.db")
    book.reserve("sleep", [about("Ana"), about("Ben")], budget=9)
    book.reserve("work", [about("Ana")], budget=9, same_people=True)
    book.reserve("third", [about("Cid")], budget=9)
    return book


def reserve(source: str, *units: str, **more: bool) -> Callable[[Ledger], object]:
    return lambda ledger: ledger.reserve(source, [about(unit, "1/2") for unit in units], **more)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("source", "meanwhile", "is_stale"), [
    *((source, reserve(other, "Ana"), True) for source in ("work", "sleep") for other in ("work", "sleep")),
    *(("work", lambda ledger, other=other: ledger.set_budget(other, 5), True) for other in ("work", "sleep")),
    # Ana may be in the third source now, and nobody has said whether she is the same.
    *((source, reserve("third", "Ana", same_people=False), True) for source in ("work", "new")),
    *((source, reserve("third", "Ana", "Cid", same_people=False), True) for source in ("work", "new")),
    *((source, lambda ledger: ledger.source("fourth"), True) for source in ("work", "new")),
    ("work", reserve("third", "Cid"), False),
    ("work", lambda ledger: ledger.set_budget("third", 5), False),
    ("work", Ledger.show, False),
    ("new", reserve("work", "Ana"), False),
])  # fmt: skip
def test_what_is_written_meanwhile_makes_a_cost_stale_if_it_counts(
    ledger: Ledger, source: str, meanwhile: Callable[[Ledger], object], is_stale: bool
) -> None:
    request = request_of([about("Ana")], ledger.tag_of, False)
    with ledger.store.reading() as connection:
        tallied = tally(connection, source, request, False if source == "new" else None)
        assert tallied.is_of(connection)
    meanwhile(ledger)
    with ledger.store.reading() as connection:
        assert tallied.is_of(connection) is not is_stale


def test_what_another_source_adds_to_a_pooled_single_makes_it_stale(tmp_path: Path) -> None:
    """Nobody asks about Ana, who is in the other source; but it is her cost there that Ben shares."""
    book = pooled_book(tmp_path)
    book.reserve("work", [about("Ana", "1/2")], budget=10**6, same_people=True)
    request = request_of([about("Ben")], book.tag_of, False)
    costs = []
    for later in range(2):
        with book.store.reading() as connection:
            tallied = tally(connection, "sleep", request, None)
            costs.append(tallied.mine.cost.epsilon)
            assert tallied.is_of(connection)
        if not later:
            book.reserve("work", [about("Ana", "1/4")])
            with book.store.reading() as connection:
                assert not tallied.is_of(connection)
    assert costs == [Fraction(5, 2), Fraction(11, 4)]


def test_in_another_source_only_the_unit_itself_is_asked_about(tmp_path: Path) -> None:
    """Ben is in no other source, but shares an output-law promise with Ana, who is."""
    book = pooled_book(tmp_path)
    request = request_of([about("Ana")], book.tag_of, False)
    with book.store.reading() as connection:
        tallied = tally(connection, "work", request, True)
    (sleep,) = tallied.theirs
    kinds = {members.tag: (kind.shape, kind.is_elsewhere) for kind, members in sleep.kinds.items()}
    assert kinds == {book.tag_of("Ana"): (0, True), book.tag_of("Ben"): (-1, False)}
    assert [kind.is_elsewhere for kind in tallied.mine.kinds] == [False]


def test_what_is_stale_is_computed_again(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process is faster, once: its release counts."""
    twin = Ledger.open(ledger.store.path)
    seen = []

    def slow(*args: object) -> object:
        tallied = tally(*args)  # type: ignore[arg-type]
        if not seen:
            seen.append(True)
            twin.reserve("sleep", [about("Ana", "1/2")])
        return tallied

    monkeypatch.setattr("takifugu.accounting.ledger.paying.tally", slow)
    ledger.reserve("work", [about("Ana", "1/4")])
    for source in ("sleep", "work"):
        assert ledger.spent(source).spent.epsilon == 2 + 0.5 + 0.25
