"""Whose data a release reads: names and their spellings, several sources of one set of people, and those of none."""

import unicodedata
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.support.ledger_tools import charge, made
from tests.support.paying import refused_unchanged

import takifugu as tf
from takifugu.accounting.composition import Charge, charge_of, joint
from takifugu.accounting.ledger import Amount, Debit, Ledger, people
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.randomisers import RoundedNormal
from takifugu.core.errors import BudgetExceeded, CompositionRefused, InputError, LedgerError
from takifugu.model.frameworks import Framework
from takifugu.model.queries import Count

WHOLE, DATA, NOISE, SINGLE = Covers
JOSE = unicodedata.normalize("NFC", "José")
SPELT_APART = unicodedata.normalize("NFD", JOSE)
TOGETHER: dict[str, Any] = {"entries": "these", "same_people": True}


def framework_of(length: int) -> Framework:
    return tf.Pufferfish(tf.every_entry(), tf.IndependentPieces(tf.MarkovChain([[0.7, 0.3], [0.3, 0.7]], 1), (length,)))


def about(*units: str, epsilon: Any = 1, length: int = 1) -> Debit:
    """Return the debit of a whole release of a count, about some units or, without any, about a source of none."""
    framework = framework_of(length)
    whole = replace(charge(framework, Count(1), Fraction(length) / Fraction(epsilon), WHOLE), epsilon=Fraction(epsilon))
    return Debit(framework, whole, units or None)


def pay(ledger: Ledger, source: str, *debits: Debit, budget: Any = None) -> Amount:
    if budget is None and not any(each.name == source for each in ledger.show()):
        budget = 99
    return ledger.reserve(source, debits, budget, **TOGETHER).spent


@pytest.mark.parametrize("spelling", [SPELT_APART, f" {JOSE}", f"{JOSE}\u00a0", f"Jos\u200b{JOSE[3:]}"])
def test_two_spellings_are_one_unit(ledger: Ledger, spelling: str) -> None:
    pay(ledger, "data", about(JOSE), budget=2)
    pay(ledger, "data", about(spelling))
    assert ledger.spent("data", JOSE) == ledger.spent("data", spelling) == Amount(Fraction(2))
    refused_unchanged(ledger, BudgetExceeded, None, "data", [about(JOSE)])
    refused_unchanged(ledger, InputError, "one person twice", "data", [about(JOSE), about(spelling)])


@pytest.mark.parametrize("name", ["\u00a0", "a\x00", "a\u202eb", "\u200b"])
def test_names_that_are_no_names_are_refused(ledger: Ledger, name: str) -> None:
    refused_unchanged(ledger, InputError, None, "data", [about(name)])
    refused_unchanged(ledger, InputError, None, name, [about("ana")])
    refused_unchanged(ledger, InputError, None, "data", [about("ana")], entries=name)


@pytest.mark.parametrize("unit", ["Ana", ""], ids=["with units", "without"])
def test_the_same_people_are_charged_in_both_at_what_a_change_of_all_costs(ledger: Ledger, unit: str) -> None:
    """The other source's release costs what a change of all its data costs: 6 steps over a scale of 12."""
    framework, mine = framework_of(6), (unit,) if unit else ()
    noisy = replace(charge(framework, Count(1), 12, NOISE), epsilon=Fraction(1, 5))
    pay(ledger, "sleep", Debit(framework, noisy, mine or None))
    seen = ledger.preview("work", [about(*mine, epsilon="1/4")], 9, **TOGETHER)
    assert pay(ledger, "work", about(*mine, epsilon="1/4")) == seen.after == Amount(Fraction(1, 4) + Fraction(6, 12))
    here, there = joint(framework, [noisy]).epsilon, ledger.spent("sleep", unit).epsilon
    assert here < there <= Fraction(6, 12) + Fraction(1, 4)
    pay(ledger, "sleep", about(*mine, epsilon="1/8"))
    assert ledger.spent("work", unit).epsilon == Fraction(1, 4) + Fraction(6, 12) + Fraction(1, 8)
    assert ledger.check() == ()


@pytest.mark.parametrize("units", [("Ana",), ()], ids=["with units", "without"])
def test_the_other_source_has_a_budget_too(ledger: Ledger, units: tuple[str, ...]) -> None:
    pay(ledger, "sleep", about(*units), budget="1.2")
    words = r"(?s)this release about 'work', where the same people are, would cost .*'sleep' has"
    refused_unchanged(ledger, BudgetExceeded, words, "work", [about(*units)], budget=9, same_people=True)
    pay(ledger, "work", about(*units, epsilon="0.1"))
    refused_unchanged(ledger, BudgetExceeded, words, "work", [about(*units, epsilon="0.2")])
    pay(ledger, "work", about(*units, epsilon="0.1"))
    assert ledger.spent("sleep") == ledger.spent("work") == Amount(Fraction("1.2"))


def without_laplace_noise(unit: str) -> Charge:
    """Return a charge that says nothing about a change of the whole data: normal noise, none, or some other."""
    framework, noise = framework_of(6), RoundedNormal(Fraction(30), Fraction(1))
    if unit == "Ana":
        return charge_of(made(framework, Count(1), noise, DATA))
    single = replace(charge(framework, Count(1), 12, SINGLE), epsilon=Fraction(1, 5))
    return replace(single, scale=Fraction(0) if unit == "Ben" else None)


@pytest.mark.parametrize("unit", ["Ana", "Ben", ""])
def test_a_release_that_nothing_bounds_is_refused_beside_another_source(ledger: Ledger, unit: str) -> None:
    pay(ledger, "sleep", Debit(framework_of(6), without_laplace_noise(unit), [unit] if unit else None))
    debits = [about(unit) if unit else about()]
    words = "no cost for a change of all its data|without any noise|no cost by its noise alone"
    refused_unchanged(ledger, CompositionRefused, words, "work", debits, budget=9, same_people=True)


def test_nothing_private_is_in_the_file(ledger: Ledger) -> None:
    """No name of a unit and no data; state names only inside the belief and the query that name them.

    Names become tags, by a key of the ledger's own.
    """
    assert len({book.tag("unit", b"Ana") for book in (ledger, Ledger.blank())}) == len(ledger.view().key) // 16 == 2
    chain = tf.MarkovChain([[0.8, 0.2], [0.2, 0.8]], 7, states=["serene", "agitated"])
    framework = tf.Pufferfish(tf.every_entry(), chain)
    debit = Debit(framework, charge(framework, tf.Histogram(), 7, WHOLE), ["Ann Example, born 1970"])
    done = ledger.reserve("study", [debit], entries="these", identity=b"serene serene agitated serene")
    ledger.keep(done.group, b"noisy")
    raw = Path(ledger.store.name).read_bytes()
    for private in (b"Ann", b"Example", b"born", b"serene serene", b"agitated serene"):
        assert private not in raw
    assert not any("serene" in text for text, _ in ledger.store.after(0))
    assert repr(ledger.view().key) not in repr(ledger.payments())


def test_two_people_of_one_tag_who_come_apart_pay_for_each_other(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is released about either, none is charged less than with a tag of its own."""
    releases = [about("Ana", epsilon="1/2"), about("Ben"), about("Ben"), about("Ana", epsilon="1/2")]
    honest = Ledger.blank()
    for debit in releases:
        pay(honest, "data", debit)
    real = people.blake2b
    monkeypatch.setattr(people, "blake2b", lambda name, **how: real(b"Ana" if name == b"Ben" else name, **how))
    for debit in releases:
        pay(ledger, "data", debit)
    assert ledger.view().people.sizes == [1]
    for name in ("Ana", "Ben"):
        assert ledger.spent("data", name).epsilon == 3 > honest.spent("data", name).epsilon
    assert ledger.check() == ()
    words = "one tag for two people"
    refused_unchanged(ledger, LedgerError, words, "data", [about("Ana", "Ben", "Cid")])
