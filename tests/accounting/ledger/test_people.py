"""One person, one budget: spellings of one name are one unit, and the same people in two sources are counted twice."""

import unicodedata
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from tests.accounting.ledger.test_accounts import alone, pooled_debits, unit_framework
from tests.support.ledger_tools import chain, charge, dump, epsilons_of, forge, made, refused_unchanged, with_delta

from takifugu.accounting.composition import Charge, charge_of, joint
from takifugu.accounting.ledger import Amount, Debit, Ledger, preview
from takifugu.accounting.ledger.adopting import Adoption
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.randomisers import RoundedNormal
from takifugu.core.errors import BudgetExceeded, CompositionRefused, InputError, LedgerError, PeopleUndeclared
from takifugu.mechanisms import group, wasserstein
from takifugu.model.frameworks import Pufferfish
from takifugu.model.queries import Count
from takifugu.model.secrets.of_entries import entry

WHOLE, DATA, QUILT, SINGLE = Covers
JOSE = unicodedata.normalize("NFC", "José")
SPELT_APART = unicodedata.normalize("NFD", JOSE)


def about(unit: str, epsilon: Any = 1, length: int = 1, **changes: Any) -> Debit:
    """Return the debit of a group release of a count about one unit."""
    framework = unit_framework(length)
    scale = Fraction(length) / Fraction(epsilon)
    whole = replace(charge(framework, Count(1), scale, WHOLE), epsilon=Fraction(epsilon))
    return Debit(framework, whole, unit, **changes)


def spent(ledger: Ledger, *sources: str) -> list[list[Fraction]]:
    """Return what the units of each source have spent, from the least to the most."""
    return [sorted(epsilons_of(ledger, source).values()) for source in sources]


def test_a_source_says_whether_its_people_have_names_and_what_was_paid_for(ledger: Ledger) -> None:
    assert ledger.payments("sleep") == ()
    one = ledger.reserve("sleep", [about("")], budget=9)
    other = ledger.reserve("work", [about("Ana")], budget=9)
    assert [(row.name, row.names_people) for row in ledger.show()] == [("sleep", False), ("work", True)]
    assert [payment.ids for payment in ledger.payments("sleep")] == [one.ids]
    assert [payment.ids for payment in ledger.payments("work")] == [other.ids]


@pytest.mark.parametrize("spelling", [SPELT_APART, f" {JOSE}", f"{JOSE}\u00a0", f"Jos\u200b{JOSE[3:]}"])
def test_two_spellings_are_one_unit(ledger: Ledger, spelling: str) -> None:
    ledger.reserve("data", [about(JOSE)], budget=2)
    ledger.reserve("data", [about(spelling)])
    assert epsilons_of(ledger) == {ledger.unit_tag(spelling): 2}
    assert ledger.unit_tag(spelling) == ledger.unit_tag(JOSE)
    refused_unchanged(ledger, BudgetExceeded, None, "data", [about(JOSE)])
    refused_unchanged(ledger, InputError, "one person twice", "data", [about(JOSE), about(spelling)])


def test_case_is_kept_and_two_spellings_of_a_source_are_one_source(ledger: Ledger) -> None:
    ledger.reserve("data", [about("ana"), about("Ana")])
    assert spent(ledger, "data") == [[1, 1]]
    ledger.reserve("stu\u0301dy", [about("")], budget=2)
    ledger.reserve(" st\u00fady\u00a0", [about("")])
    assert [row.name for row in ledger.show()] == ["data", "st\u00fady"]
    assert ledger.spent("st\u00fady ").spent.epsilon == 2


@pytest.mark.parametrize("name", ["\u00a0", "a\x00", "a\u202eb", "\u200b"])
def test_names_that_are_no_names_are_refused(ledger: Ledger, name: str) -> None:
    refused_unchanged(ledger, InputError, None, "data", [about(name)])
    refused_unchanged(ledger, InputError, None, name, [about("ana")])


def test_it_must_be_said_whether_two_sources_are_of_the_same_people(ledger: Ledger) -> None:
    ledger.reserve("sleep", [about("Ana"), about("Ben")], budget=9)
    words = "whether those of 'work' are the same"
    said = refused_unchanged(ledger, InputError, words, "work", [about("Ana"), about("Cid")], budget=9)
    assert not any(name in said for name in ("Ana", "Ben", "Cid", "1", "2"))
    ledger.reserve("work", [about("Cid")], budget=9)
    ledger.reserve("third", [about("")], budget=9)


def test_other_people_of_the_same_names_cost_nothing(ledger: Ledger) -> None:
    ledger.reserve("sleep", [about("Ana")], budget=9)
    done = ledger.reserve("work", [about("Ana")], budget=9, same_people=False)
    assert done.same_people == {"sleep": False}
    assert ledger.pending("work")[0].same_people == {"sleep": False}
    assert ledger.reserve("sleep", [about("Ana")]).same_people == {"work": False}
    assert spent(ledger, "sleep", "work") == [[2], [1]]
    assert [e.what for e in ledger.events("work")][-1].endswith("the source 'sleep' are other people of the same names")


@pytest.mark.parametrize(("unit", "others", "declared"), [
    pytest.param("Ana", ["Ben"], "the people of the source 'sleep' are the same people", id="with units"),
    pytest.param("", [], "the source 'sleep' is about the same people", id="without"),
])  # fmt: skip
def test_the_same_people_are_charged_in_both_at_whole_change_cost(
    ledger: Ledger, unit: str, others: list[str], declared: str
) -> None:
    """The other source's quilt release costs what a change of all its data costs: 6 steps over a scale of 12."""
    framework = unit_framework(6)
    quilt = replace(charge(framework, Count(1), 12, QUILT), epsilon=Fraction(1, 5))
    ledger.reserve("sleep", [Debit(framework, quilt, unit), *map(about, others)], budget=9)
    mine = [about(unit, "1/4"), *(about(f"{name}'s brother", "1/4") for name in others)]
    previewed = preview(ledger.store.place, "work", mine, 9, same_people=True)
    done = ledger.reserve("work", mine, budget=9, same_people=True)
    assert done.same_people == {"sleep": True}
    apart = [Fraction(1, 4)] * len(others)
    assert spent(ledger, "work") == [[*apart, Fraction(1, 4) + Fraction(6, 12)]]
    assert previewed.after is not None
    assert previewed.after.epsilon == Fraction(1, 4) + Fraction(6, 12)
    here, ((least, *rest),) = joint(framework, [quilt]).epsilon, spent(ledger, "sleep")
    assert here < least <= Fraction(6, 12) + Fraction(1, 4)
    assert rest == [1] * len(others)
    ledger.reserve("sleep", [about(name, "1/8") for name in (unit, *others)])
    assert spent(ledger, "work") == [[*apart, Fraction(1, 4) + Fraction(6, 12) + Fraction(1, 8)]]
    assert [entry.units for entry in ledger.history("work")] == [len(mine)]
    assert [e.what for e in ledger.events("work")][-1] == f"declared: {declared}"


@pytest.mark.parametrize("unit", ["Ana", ""], ids=["with units", "without"])
def test_the_other_source_has_a_budget_too(ledger: Ledger, unit: str) -> None:
    ledger.reserve("sleep", [about(unit)], budget="1.2")
    words = r"(?s)about another source of the same people would cost .*'sleep' has"
    refused_unchanged(ledger, BudgetExceeded, words, "work", [about(unit)], budget=9, same_people=True)
    ledger.reserve("work", [about(unit, "0.1")], budget=9, same_people=True)
    refused_unchanged(ledger, BudgetExceeded, words, "work", [about(unit, "0.2")])
    ledger.reserve("work", [about(unit, "0.1")])
    assert spent(ledger, "sleep", "work") == [[Fraction("1.2")], [Fraction("1.2")]]


def without_laplace_noise(unit: str) -> Charge:
    """Return a charge that says nothing about a change of the whole data: normal noise, none, or some other."""
    framework, noise = unit_framework(6), RoundedNormal(Fraction(30), Fraction(1))
    if unit == "Ana":
        return charge_of(made(framework, Count(1), noise, DATA))
    single = replace(charge(framework, Count(1), 12, SINGLE), epsilon=Fraction(1, 5))
    return replace(single, scale=Fraction(0) if unit == "Ben" else None)


@pytest.mark.parametrize("unit", ["Ana", "Ben", ""])
def test_a_release_without_a_whole_change_cost_is_refused(ledger: Ledger, unit: str) -> None:
    ledger.reserve("sleep", [Debit(unit_framework(6), without_laplace_noise(unit), unit)], budget=9)
    words = "no cost for a change of the whole data"
    refused_unchanged(ledger, CompositionRefused, words, "work", [about(unit)], budget=9, same_people=True)
    ledger.reserve("work", [about(unit)], budget=9, same_people=False)


def test_a_whole_release_without_laplace_noise_counts_with_its_own_epsilon_and_delta(ledger: Ledger) -> None:
    framework = unit_framework(6)
    ledger.reserve("sleep", [Debit(framework, with_delta(framework, "1/2"), "Ana")], budget=(9, "1/10"))
    ledger.reserve("work", [about("Ana")], budget=(9, "1/10"), same_people=True)
    assert ledger.spent("work").spent == Amount(Fraction(3, 2), Fraction(1, 1000))


def test_what_was_declared_stays_unless_it_costs_more(ledger: Ledger) -> None:
    ledger.reserve("sleep", [about("Ana"), about("Ben")], budget=9)
    ledger.reserve("work", [about("Ana"), about("Ben")], budget=9, same_people=False)
    assert spent(ledger, "work") == [[1, 1]]
    ledger.reserve("work", [about("Ana")], same_people=True)  # an error that is found late costs what it should have
    assert spent(ledger, "work", "sleep") == [[2, 3], [2, 3]]
    words = "what was declared once stays"
    refused_unchanged(ledger, LedgerError, words, "work", [about("Ana")], same_people=False)
    said = [event.what.rsplit(" are ") for event in ledger.events("sleep")]
    declared = [parts[1] for parts in said if len(parts) > 1]
    assert declared == ["other people of the same names", "the same people"]


def test_people_who_were_in_two_sources_before_anybody_asked_are_charged_in_both(ledger: Ledger) -> None:
    """What is declared about Ana holds for Ben, too, about whom nothing is asked."""
    ledger.reserve("sleep", [about("Ana"), about("Ben"), about("Cid")], budget=9)
    ledger.reserve("work", [about("Ana"), about("Ben"), about("Dan")], budget=9, same_people=False)
    forge(ledger, "delete from people")
    ledger.reserve("work", [about("Ana")], same_people=True)
    for source, other in (("sleep", "Cid"), ("work", "Dan")):
        costs = {"Ana": 3, "Ben": 2, other: 1}
        assert epsilons_of(ledger, source) == {ledger.unit_tag(unit): cost for unit, cost in costs.items()}


def test_a_third_source_of_the_same_people_counts_as_well(ledger: Ledger) -> None:
    for source in ("one", "two", "three"):
        ledger.reserve(source, [about("Ana")], budget=9, same_people=True)
    assert spent(ledger, "one", "two", "three") == [[3], [3], [3]]
    ledger.reserve("two", [about("Ana")])
    assert spent(ledger, "one", "two", "three") == [[4], [4], [4]]


def test_a_pooled_single_of_one_source_hears_of_the_others(ledger: Ledger) -> None:
    """What another source tells about bob lets a little through about ann, who shares his output-law promise."""
    units = {"ann": (4, 2), "bob": (6,)}
    ledger.reserve("sleep", pooled_debits(units, Count(1), wasserstein.MECHANISM), budget=9)
    ledger.reserve("work", [about("bob")], budget=10**6, same_people=True)
    assert spent(ledger, "sleep") == [[2, 2]]
    ledger.reserve("sleep", alone({"bob": (6,)}, Count(1), group.MECHANISM))
    assert spent(ledger, "sleep") == [[3, 3]]


def test_an_output_law_promise_about_one_entry_composes_with_whatever_is_about_another_source(ledger: Ledger) -> None:
    """A whole-change cost is about no entry, so it does not matter which of them the promise means."""
    framework = Pufferfish(entry(0, 0, 1), chain(6))
    single = replace(charge(framework, Count(1), 1, SINGLE), epsilon=Fraction(1, 2))
    ledger.reserve("sleep", [Debit(framework, single, "Ana")], budget=9)
    ledger.reserve("work", [about("Ana", "1/4")], budget=9, same_people=True)
    assert spent(ledger, "sleep") == [[Fraction(3, 4)]]


def test_two_sources_cost_what_one_would_with_whole_releases(ledger: Ledger) -> None:
    """An oracle that shares no code: whole releases add up, wherever they are."""
    releases = "one ana, two ana, two ben, one ana, one ben, two cid, two ana"
    total: dict[str, Fraction] = {}
    where: dict[str, set[str]] = {"one": set(), "two": set()}
    for number, (source, unit) in enumerate((pair.split() for pair in releases.split(", ")), 1):
        epsilon = Fraction(1, number + 1)
        ledger.reserve(source, [about(unit, epsilon)], budget=99, same_people=True)
        total[unit] = total.get(unit, Fraction(0)) + epsilon
        where[source].add(unit)
        for name, units in where.items():
            if units:
                assert epsilons_of(ledger, name) == {ledger.unit_tag(u): total[u] for u in units}, number


@pytest.mark.parametrize("unit", ["", "Ana"])
def test_a_second_source_is_asked_about_once_with_both_prices(ledger: Ledger, unit: str) -> None:
    where = ledger.store.place
    assert preview(where, "sleep", [about(unit)], 9).asks is None, "it is the first one"
    ledger.reserve("sleep", [about(unit)], budget=9)
    question = preview(where, "work", [about(unit)], 9).asks
    assert isinstance(question, PeopleUndeclared)
    assert (question.same, question.others) == tuple(f"'work' goes from epsilon 0 to epsilon {cost}" for cost in (2, 1))
    assert preview(where, "work", [about(unit)], 9, same_people=False).asks is None
    assert preview(where, "sleep", [about(unit)], 9).asks is None
    ledger.reserve("work", [about(unit)], budget=9, same_people=False)
    assert preview(where, "work", [about(unit)], 9).asks is None


def test_whoever_comes_after_a_source_of_the_same_people_says_so(ledger: Ledger) -> None:
    """It was declared when there was no other source yet: the next one without units cannot pass over it."""
    ledger.reserve("sleep", [about("")], budget=9, same_people=True)
    refused_unchanged(ledger, InputError, "whether those of 'work' are the same", "work", [about("")], budget=9)
    ledger.reserve("others", [about("")], budget=9, same_people=False)
    ledger.reserve("work", [about("")], budget=9, same_people=True)
    assert spent(ledger, "sleep", "others") == [[2], [2]]
    assert spent(ledger, "work") == [[3]], "it says so of every other one without units"
    words = "what was declared once stays"
    refused_unchanged(ledger, LedgerError, words, "sleep", [about("")], same_people=False)
    before = dump(ledger.store.path)
    ledger.rebuild()
    assert dump(ledger.store.path) == before


def test_one_without_units_and_one_with_them_are_not_counted_together(ledger: Ledger) -> None:
    ledger.reserve("sleep", [about("Ana")], budget=9)
    words = "name the people as 'sleep' does"
    refused_unchanged(ledger, InputError, words, "work", [about("")], budget=9, same_people=True)
    ledger.reserve("work", [about("")], budget=9)


@pytest.mark.parametrize("said", [None, True])
def test_one_with_units_beside_one_of_the_same_people_without(ledger: Ledger, said: bool | None) -> None:
    ledger.reserve("sleep", [about("")], budget=9, same_people=True)
    refused_unchanged(ledger, InputError, "name no people here", "work", [about("Ana")], budget=9, same_people=said)
    ledger.reserve("work", [about("Ana")], budget=9, same_people=False)
    ledger.reserve("sleep", [about("")], same_people=True)
    assert spent(ledger, "sleep", "work") == [[2], [1]]


@pytest.mark.parametrize("said", [None, True, False])
def test_a_source_that_turns_out_to_name_units_is_not_counted_with_one_that_names_none(
    ledger: Ledger, said: bool | None
) -> None:
    """Of releases that were entered from certificates nothing says whether they named units."""
    ledger.adopt([[Adoption("sleep", "0123456789abcdef", {"release": "00112233aabbccdd"}, [about("")])]])
    ledger.reserve("work", [about("")], budget=9, same_people=True)
    assert spent(ledger, "work") == [[2]]
    refused = (InputError, LedgerError)
    refused_unchanged(ledger, refused, "same people", "sleep", [about("Ana")], budget=9, same_people=said)
