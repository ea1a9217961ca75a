"""What units are charged: every framework, every release, exact amounts, and words that help when it is too much."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from tests.support.ledger_tools import (
    TWO_BITS,
    TWO_NUMBERS,
    chain,
    chain_framework,
    charge,
    epsilon_of,
    epsilons_of,
    forge,
    group_debit,
    made,
    one_thing,
    promised,
    refused_unchanged,
    table_framework,
    with_delta,
)

from takifugu.accounting.amounts import SMALLEST_SPEND
from takifugu.accounting.composition import Charge, charge_of, joint
from takifugu.accounting.composition.losses import raised
from takifugu.accounting.ledger import Amount, Debit, Ledger, accounts, paying
from takifugu.accounting.ledger.accounts import Accounts, Item
from takifugu.accounting.ledger.asking import request_of
from takifugu.accounting.ledger.kinds import request_items
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.randomisers import RoundedNormal
from takifugu.core.errors import BudgetExceeded, CompositionRefused, InputError, LedgerError
from takifugu.mechanisms import group, wasserstein
from takifugu.model.beliefs.chains.pieces import IndependentPieces
from takifugu.model.frameworks import Framework, Pufferfish
from takifugu.model.queries import Count, Histogram, Identity, Query
from takifugu.model.secrets.of_entries import every_entry

WHOLE, DATA, QUILT, SINGLE = Covers


def test_three_thirds_fit_a_budget_of_one_and_nothing_more(ledger: Ledger) -> None:
    debit = group_debit(one_thing(7), Fraction(1, 3))
    for n in (1, 2, 3):
        ledger.reserve("data", [debit], budget=1)
        assert epsilon_of(ledger) == Fraction(n, 3)
    assert ledger.spent("data").left == Amount(Fraction(0), Fraction(0))
    tiny = group_debit(one_thing(7), Fraction(1, 10**9))
    refused_unchanged(ledger, BudgetExceeded, "nothing more", "data", [tiny])


def test_a_refusal_says_spent_asked_left_and_what_fits(ledger: Ledger) -> None:
    framework = one_thing(7)
    ledger.reserve("data", [group_debit(framework, Fraction(7, 10))], budget=1)
    said = refused_unchanged(ledger, BudgetExceeded, None, "data", [group_debit(framework, Fraction(1, 2))])
    assert said.splitlines()[:3] == [
        "this release would cost epsilon 0.5:",
        "'data' has epsilon 0.3 left of a budget of epsilon 1;",
        "fits: epsilon at most 0.3;",
    ]
    ledger.reserve("data", [group_debit(framework, Fraction(3, 10))])
    assert epsilon_of(ledger) == 1


def test_what_a_refusal_offers_for_quilts_does_fit(ledger: Ledger) -> None:
    framework = chain_framework(100, 0.7)
    quilt = charge(framework, Count(1), 12, QUILT, fixed_in_advance=False)
    alone = joint(framework, [replace(quilt, framework="")]).epsilon
    quilt = replace(quilt, epsilon=alone)
    ledger.reserve("data", [Debit(framework, quilt)], budget=alone * Fraction(105, 100))
    said = refused_unchanged(ledger, BudgetExceeded, "times the scale", "data", [Debit(framework, quilt)])
    factor = Fraction(said.split("noise of ")[1].split(" times")[0])
    quieter = replace(charge(framework, Count(1), 12 * factor, QUILT), epsilon=alone)
    ledger.reserve("data", [Debit(framework, quieter)])
    assert Fraction(103, 100) < epsilon_of(ledger) / alone <= Fraction(105, 100)


def test_what_is_offered_beside_other_releases_is_more_noise_and_what_that_is_worth(ledger: Ledger) -> None:
    framework = chain_framework(100, 0.7)
    ledger.reserve("data", [group_debit(framework, Fraction(1, 4))], budget="0.4")
    noise = [charge(framework, Count(1), units, QUILT) for units in (12, 9)]
    epsilons = [joint(framework, [replace(one, framework="")]).epsilon for one in noise]
    debits = [Debit(framework, replace(one, epsilon=e), name=f"by {e}") for one, e in zip(noise, epsilons, strict=True)]
    said = refused_unchanged(ledger, BudgetExceeded, "times the scale", "data", debits)
    factor, worth = (Fraction(said.split(before)[1].split(after)[0]) for before, after in OFFERED)
    quieter = [replace(charge(framework, Count(1), units * factor, QUILT), framework="") for units in (12, 9)]
    alone = [joint(framework, [each]).epsilon for each in quieter]
    assert Fraction(999, 1000) * max(alone) < worth <= max(alone)
    assert min(alone) < Fraction(99, 100) * worth


OFFERED = (("noise of ", " times"), ("(alone, epsilon ", ")"))


def test_more_noise_counts_as_noise_alone_for_quilts_only() -> None:
    framework = chain_framework(7)
    for kind, fingerprint in ((QUILT, ""), (WHOLE, framework.fingerprint())):
        item = Item(charge(framework, Count(1), 12, kind), framework.fingerprint(), "r", 1, False)
        quieter = paying._quieter(item, Fraction(3)).charge
        assert (quieter.framework, quieter.scale, quieter.epsilon) == (fingerprint, 36, item.charge.epsilon / 3)


def test_without_a_budget_the_first_release_sets_it_and_the_refusal_says_so(ledger: Ledger) -> None:
    framework = one_thing(7)
    ledger.reserve("data", [group_debit(framework, Fraction(1, 2))])
    assert ledger.source("data").budget == Amount(Fraction(1, 2), Fraction(0))
    refused_unchanged(ledger, BudgetExceeded, "no budget was declared", "data", [group_debit(framework, 1)])
    ledger.reserve("data", [group_debit(framework, Fraction(1, 2))], budget=1)
    assert epsilon_of(ledger) == 1
    words = "has epsilon 0 left of a budget of epsilon 1;"
    refused_unchanged(ledger, BudgetExceeded, words, "data", [group_debit(framework, 1)])


def test_deltas_have_a_budget_too(ledger: Ledger) -> None:
    framework = chain_framework(7)
    normal = Debit(framework, with_delta(framework, "1/4"), name="normal")
    both = [normal, group_debit(framework, Fraction(1, 4))]
    refused_unchanged(ledger, BudgetExceeded, "smaller delta, or with delta 0", "data", both, budget=1)
    refused_unchanged(ledger, BudgetExceeded, "smaller delta", "data", [normal], budget=1)
    ledger.reserve("data", [normal], budget=(1, "1/500"))
    more = group_debit(framework, 1)
    refused_unchanged(ledger, BudgetExceeded, r"has epsilon 0\.75, delta 0\.001 left", "data", [more])
    ledger.reserve("data", [normal])
    refused_unchanged(ledger, BudgetExceeded, "has epsilon 0.5 left", "data", [normal])
    assert ledger.spent("data").spent == Amount(Fraction(1, 2), Fraction(1, 500))
    # As after a migration, which merges sources and keeps the smallest of their budgets.
    forge(ledger, "update sources set budget_epsilon = '0.125', budget_delta = '0.0005'")
    words = r"has epsilon 0 left of a budget of epsilon 0\.125, delta 0\.0005;\nfits: nothing more"
    refused_unchanged(ledger, BudgetExceeded, words, "data", [normal])


def test_a_declared_budget_is_changed_on_purpose_only(ledger: Ledger) -> None:
    ledger.source("data", budget=1)
    assert ledger.source("data", budget="1.0").budget == Amount(Fraction(1), Fraction(0))
    with pytest.raises(LedgerError, match="takifugu ledger budget"):
        ledger.source("data", budget=2)
    ledger.reserve("data", [group_debit(one_thing(7), 1)])
    changed = ledger.set_budget("data", 2)
    assert (changed.budget, changed.budget_is_implied) == (Amount(Fraction(2), Fraction(0)), False)
    with pytest.raises(LedgerError, match="spent epsilon 1 already"):
        ledger.set_budget("data", "0.5")


@pytest.mark.parametrize("budget", [0, -1, float("nan"), float("inf"), "much", 5e-324, 1e-310, (1, 1), (1, -0.1), True])
def test_a_budget_that_is_no_amount_is_refused(ledger: Ledger, budget: Any) -> None:
    with pytest.raises(InputError, match="budget"):
        ledger.source("data", budget=budget)
    assert ledger.show() == ()


def test_a_spend_of_nothing_or_less_than_a_number_is_refused(ledger: Ledger) -> None:
    """Negative, NaN and infinite amounts cannot even be charges (tests/accounting/composition/test_composition.py)."""
    debit = group_debit(chain_framework(7), 1)
    for spend in (Fraction(0), Fraction(5e-324), Fraction(1e-310)):
        none = replace(debit, charge=replace(debit.charge, epsilon=spend))
        refused_unchanged(ledger, LedgerError, "more than nothing", "data", [none])
    ledger.reserve("data", [replace(debit, charge=replace(debit.charge, epsilon=SMALLEST_SPEND))], budget=1)
    assert len(ledger.history("data")) == 1


def test_what_cannot_be_counted_is_refused(ledger: Ledger) -> None:
    framework = chain_framework(7)
    debit = group_debit(framework, 1)
    refused_unchanged(ledger, InputError, "nothing to reserve", "data", [])
    refused_unchanged(ledger, InputError, "name", " ", [debit])
    refused_unchanged(ledger, InputError, "one person twice", "data", [debit, debit])
    refused_unchanged(ledger, InputError, "another framework", "data", [Debit(chain_framework(8), debit.charge)])
    other = Debit(framework, replace(debit.charge, definition="distribution-privacy"))
    refused_unchanged(ledger, CompositionRefused, "no joint proof for definition", "data", [other])
    with pytest.raises(LedgerError, match="no source 'other': it has"):
        ledger.spent("other")


def singles(columns: Any) -> list[Debit]:
    """Return the debits of the numbers in two columns, of which each promise is alone."""
    framework = table_framework(*columns, "s")
    return [Debit(framework, charge_of(promised(framework, Identity(name), wasserstein.MECHANISM))) for name in "uv"]


def test_erratum_e12_is_refused_by_the_ledger(ledger: Ledger) -> None:
    (first, second), other = singles(TWO_BITS), table_framework(*TWO_BITS, "u")
    ledger.reserve("data", [first], budget=100)
    refused_unchanged(ledger, CompositionRefused, "is alone", "data", [second])
    both = [first, replace(second, name="second")]
    refused_unchanged(ledger, CompositionRefused, "is alone", "other", both, budget=100)
    ledger.reserve("other", [second], budget=100)
    late = Debit(other, charge_of(promised(other, Identity("v"), group.MECHANISM, 1)))
    refused_unchanged(ledger, CompositionRefused, "without any noise", "other", [late])  # a new belief inherits it


def test_two_singles_are_charged_by_their_noise(ledger: Ledger) -> None:
    for debit in singles(TWO_NUMBERS):
        ledger.reserve("data", [debit], budget=30)
    assert 11.3 < epsilon_of(ledger) < 11.5  # the truth is 11.31
    framework = debit.framework
    whole = Debit(framework, charge_of(promised(framework, Identity("v"), group.MECHANISM, 1)))
    ledger.reserve("data", [whole])
    assert epsilon_of(ledger) < 12.5  # far less than the sum, 23


def unit_framework(*lengths: int) -> Framework:
    return Pufferfish(every_entry(), IndependentPieces(chain(1, 0.7), lengths))


def pooled_debits(units: dict[str, tuple[int, ...]], query: Query, mechanism: Any, name: str = "pooled") -> list[Debit]:
    """Return the debits of one pooled answer: every unit's share, under what the framework says about this unit.

    A promise that is alone has so little noise that nobody would rather be charged by it.
    """
    pool = unit_framework(*(n for lengths in units.values() for n in lengths))
    calibration = promised(pool, query, mechanism, 1)
    frameworks = {unit: unit_framework(*lengths) for unit, lengths in units.items()}
    charges = {unit: charge_of(calibration, framework=f, scope="pooled") for unit, f in frameworks.items()}
    if calibration.guarantee.covers is SINGLE:
        charges = {unit: replace(charge, scale=(charge.scale or 0) / 1000) for unit, charge in charges.items()}
    return [Debit(framework, charges[unit], unit, name) for unit, framework in frameworks.items()]


def alone(units: dict[str, tuple[int, ...]], query: Query, mechanism: Any, name: str = "each") -> list[Debit]:
    frameworks = {unit: unit_framework(*lengths) for unit, lengths in units.items()}
    return [Debit(f, charge_of(promised(f, query, mechanism, 1)), unit, name) for unit, f in frameworks.items()]


UNITS = {"ann": (4, 2), "bob": (6,), "cid": (3,)}
TWO = {"bob": (6,), "cid": (3,)}


def costs_of(debits: Sequence[Debit]) -> dict[str, Fraction]:
    """Return what the debits of each unit cost together."""
    units = dict.fromkeys(debit.unit for debit in debits)
    mine = {unit: [debit for debit in debits if debit.unit == unit] for unit in units}
    return {unit: joint(of[0].framework, [debit.charge for debit in of]).epsilon for unit, of in mine.items()}


def test_pooled_and_per_unit_releases_cost_both(ledger: Ledger) -> None:
    """Each unit's own lengths count: bob's six steps are no reason to charge cid's three as six."""
    both = alone(UNITS, Histogram(), group.MECHANISM) + pooled_debits(UNITS, Histogram(), group.MECHANISM)
    costs = costs_of(both)
    done = ledger.reserve("data", both, budget=max(costs.values()))
    assert set(done.ids) == {"each", "pooled"}
    assert epsilons_of(ledger) == {ledger.unit_tag(unit): cost for unit, cost in costs.items()}
    assert len({*costs.values()}) == 3
    assert done.spent.epsilon == max(costs.values())
    later = alone({"cid": (3,)}, Histogram(), group.MECHANISM)
    refused_unchanged(ledger, BudgetExceeded, r"cost person 1 of 1 \(in its order\)", "data", later)


def test_per_unit_singles_are_parallel_and_a_pooled_single_blocks_them(ledger: Ledger) -> None:
    each = alone(UNITS, Count(1), wasserstein.MECHANISM)
    ledger.reserve("data", each, budget=9)
    assert epsilon_of(ledger) == max(costs_of(each).values()) <= 1
    pooled = pooled_debits(UNITS, Count(1), wasserstein.MECHANISM)
    refused_unchanged(ledger, BudgetExceeded, "would cost person", "data", pooled)
    ledger.reserve("fresh", pooled, budget=9, same_people=False)
    one = alone({"bob": (6,)}, Count(1), wasserstein.MECHANISM)
    refused_unchanged(ledger, BudgetExceeded, "would cost person", "fresh", one)


def test_what_is_released_about_one_unit_adds_to_all_that_share_a_pooled_single(ledger: Ledger) -> None:
    """x1 xor x2 pooled hides x1 until x2 is known; whole noise on x2 tells a little (decisions.md#composition)."""
    pooled = pooled_debits(UNITS, Count(1), wasserstein.MECHANISM)
    more = alone({"bob": (6,)}, Count(1), group.MECHANISM)
    whole = [replace(d, charge=replace(d.charge, covers=WHOLE)) for d in pooled_debits(TWO, Count(1), group.MECHANISM)]
    for source, order in {"before": [pooled, more], "after": [more, pooled], "of some": [pooled, whole]}.items():
        for debits in order:
            ledger.reserve(source, debits, budget=9, same_people=False)
        assert [*epsilons_of(ledger, source).values()] == [2, 2, 2]
    dan = alone({"dan": (5,)}, Count(1), group.MECHANISM)
    ledger.reserve("before", dan, same_people=False)
    spent = epsilons_of(ledger, "before")
    assert spent.pop(ledger.unit_tag("dan")) == costs_of(dan)["dan"]
    assert [*spent.values()] == [2, 2, 2]
    data_of_ann = alone({"ann": (4, 2)}, Count(1), group.MECHANISM)
    assert data_of_ann[0].charge.covers is DATA
    refused_unchanged(ledger, BudgetExceeded, "would cost person", "before", data_of_ann)


def test_each_unit_counts_by_the_promise_of_a_pooled_single_or_by_its_own_share_of_the_noise() -> None:
    """Whatever is released about bob, the noise hides as much of cid as before; the promise costs more each time."""
    single = {d.unit: d.charge for d in pooled_debits(TWO, Count(1), wasserstein.MECHANISM)}
    (often,) = alone({"bob": TWO["bob"]}, Count(1), group.MECHANISM)
    for scale in (Fraction(1, 1000), Fraction(2)):
        loud = {unit: replace(charge, scale=scale) for unit, charge in single.items()}
        costs = []
        for times in range(5):
            accounts = accounts_of(
                bob=[(loud["bob"], 1), *((often.charge, 2 + n) for n in range(times))], cid=[(loud["cid"], 1)]
            )
            costs.append(accounts.cost("cid").epsilon)
        about = unit_framework(*TWO["cid"])
        by_noise = joint(about, [replace(loud["cid"], scope="unit", framework="another")]).epsilon
        assert costs == [min(1 + times, by_noise) for times in range(5)]
        assert costs == sorted(costs)
    assert costs[-1] < 2 < costs[0] + 4


def test_a_pooled_single_and_what_has_a_delta(ledger: Ledger) -> None:
    """Noise with delta > 0 about bob, then a pooled single that may have been chosen after it: cid cannot add them."""
    framework = unit_framework(6)
    normal = Debit(framework, with_delta(framework, 1), "bob")
    ledger.reserve("data", [normal], budget=(9, "1/10"))
    pooled = pooled_debits(TWO, Count(1), wasserstein.MECHANISM)
    refused_unchanged(ledger, CompositionRefused, "delta > 0 could be seen", "data", pooled)
    refused_unchanged(ledger, CompositionRefused, "delta > 0 could be seen", "data", pooled[1:] + pooled[:1])
    early = [replace(debit, charge=replace(debit.charge, fixed_in_advance=True)) for debit in pooled]
    ledger.reserve("data", early)
    ledger.reserve("turned", pooled, budget=(9, "1/10"), same_people=False)
    ledger.reserve("turned", [normal])
    for source in ("data", "turned"):
        ledger.reserve(source, alone({"cid": (3,)}, Count(1), group.MECHANISM))
        assert [u.spent for u in ledger.spent(source).units] == [Amount(Fraction(3), Fraction(1, 1000))] * 2


def accounts_of(**charged: Sequence[tuple[Charge, int]]) -> Accounts:
    """Return accounts that no ledger would write: units by name, with (charge, number) in the order of release."""
    items = {u: [Item(c, c.framework, f"release {n}", n, False) for c, n in pairs] for u, pairs in charged.items()}
    frameworks = [unit_framework(*lengths) for lengths in TWO.values()]
    return Accounts({f.fingerprint(): f for f in frameworks}, items)


def test_cid_is_asked_even_if_nobody_asked_bob() -> None:
    """Each unit's account guards itself: what was released about bob must add to the single that both share."""
    single = {d.unit: d.charge for d in pooled_debits(TWO, Count(1), wasserstein.MECHANISM)}
    (early,) = alone({"cid": TWO["cid"]}, Count(1), group.MECHANISM)
    steady = charge(unit_framework(6), Count(1), 6, DATA)
    exact = {unit: replace(charge, scale=Fraction(0)) for unit, charge in single.items()}
    with pytest.raises(CompositionRefused, match="about whom another release was made that does not cover"):
        accounts_of(bob=[(steady, 1), (exact["bob"], 2)], cid=[(exact["cid"], 2)]).cost("cid")
    by_noise = accounts_of(bob=[(steady, 1), (single["bob"], 2)], cid=[(single["cid"], 2)]).cost("cid")
    assert by_noise.epsilon > 100
    normal = with_delta(unit_framework(6), "1/2")
    bob = [(normal, 2), (exact["bob"], 3)]
    # cid was read once before bob's noise was seen, but the single was chosen after.
    with pytest.raises(CompositionRefused, match="a pooled answer that is alone was chosen when"):
        accounts_of(bob=bob, cid=[(early.charge, 1), (exact["cid"], 3)]).cost("cid")
    late = [(normal, 4), (single["bob"], 3)]
    assert accounts_of(bob=late, cid=[(single["cid"], 3)]).cost("cid") == Amount(Fraction(3, 2), Fraction(1, 1000))


def test_equal_debits_of_another_unit_count_as_often_as_they_were_made() -> None:
    single = {d.unit: d.charge for d in pooled_debits(TWO, Count(1), wasserstein.MECHANISM)}
    (often,) = alone({"bob": TWO["bob"]}, Count(1), group.MECHANISM)
    known = accounts_of(bob=[(single["bob"], 1), (often.charge, 2)], cid=[(single["cid"], 1)])
    first, second = known.items["bob"]
    thrice = replace(known, items={**known.items, "bob": [first, second, second, second]})
    assert [account.cost("cid").epsilon for account in (known, thrice)] == [2, 4]
    assert [account.cost("bob").epsilon for account in (known, thrice)] == [2, 4]
    assert accounts_of(bob=[]).cost("bob") == Amount(Fraction(0), Fraction(0))
    alike = replace(known, counts={"bob": 5})  # five who are debited like bob
    assert [alike.cost(kind).epsilon for kind in ("bob", "cid")] == [6, 6]


def test_the_delta_of_a_pooled_single_grows_by_what_was_released_before_about_others() -> None:
    """By e^epsilon of it (docs/theory/composition.md); by nothing that came later, or that nobody waited for."""
    delta = Fraction(1, 1000)
    single = {d.unit: replace(d.charge, delta=delta) for d in pooled_debits(TWO, Count(1), wasserstein.MECHANISM)}
    fixed = {unit: replace(charge, fixed_in_advance=True) for unit, charge in single.items()}
    (whole,) = (debit.charge for debit in alone({"bob": TWO["bob"]}, Count(1), group.MECHANISM))
    for bob, cid, expected in [
        ([(whole, 1), (single["bob"], 2)], [(single["cid"], 2)], raised(delta, whole.epsilon)),
        ([(whole, 1), (whole, 2), (single["bob"], 3)], [(single["cid"], 3)], raised(delta, 2 * whole.epsilon)),
        ([(single["bob"], 1), (whole, 2)], [(single["cid"], 1)], delta),
        ([(whole, 1), (fixed["bob"], 2)], [(fixed["cid"], 2)], delta),
    ]:
        assert accounts_of(bob=bob, cid=cid).cost("cid").delta == expected


def test_what_is_about_another_source_counts_at_whole_change_cost() -> None:
    """The larger of what the noise gives and what a whole promise says; nothing where nothing is read."""
    framework = unit_framework(6)
    cases = [
        (charge(framework, Count(1), 12, QUILT), Fraction(1, 2)),
        (replace(charge(framework, Count(1), 12, WHOLE), epsilon=Fraction(1, 100)), Fraction(1, 2)),
        (replace(charge(framework, Count(1), 12, WHOLE), epsilon=Fraction(5)), Fraction(5)),
        (replace(charge(framework, Count(1), 12, SINGLE), scale=None, change=Fraction(0)), Fraction(0)),
    ]
    for charged, cost in cases:
        there = accounts.foreign(Item(charged, charged.framework, "r", 1, True))
        assert (there.charge.epsilon, there.charge.covers, there.recharge) == (cost, WHOLE, False)


def test_what_is_asked_at_once_comes_in_its_order_after_all_that_was() -> None:
    """The order decides whether noise with delta > 0 was seen before a single was chosen.

    What is read together is kept by numbers: a reading is any text, and debits that are equal but for it meet.
    """
    cases = {
        ("week", "week", "day", ""): ["1", "1", "", ""],
        ("a", "b", "b", "a"): ["1", "2", "2", "1"],
        ("", "", "b"): ["", "", ""],
    }
    for readings, expected in cases.items():
        debits = [group_debit(chain_framework(7), 1, name=f"{n}", reading=r) for n, r in enumerate(readings)]
        request = request_of(debits, str.encode, False)
        ((*parts,),) = request.shapes
        assert [part.reading for part in parts] == expected
        numbers = [item.number for item in request_items(request, request.units[b""])]
        assert sorted(set(numbers)) == numbers
        assert numbers[0] > 10**18


def test_pooled_singles_over_different_units_do_not_touch_each_other(ledger: Ledger) -> None:
    for units in ({"ann": (4,), "bob": (6,)}, {"cid": (3,), "dan": (5,)}):
        ledger.reserve("data", pooled_debits(units, Count(1), wasserstein.MECHANISM), budget=9)
    ledger.reserve("data", alone({"bob": (6,)}, Count(1), group.MECHANISM))
    spent = epsilons_of(ledger)
    assert [spent[ledger.unit_tag(unit)] for unit in ("ann", "bob", "cid", "dan")] == [2, 2, 1, 1]


@pytest.mark.parametrize("elsewhere", [0, 1])
def test_equal_pooled_releases_before_a_pooled_single_count_one_by_one(ledger: Ledger, elsewhere: int) -> None:
    """Also where the single is asked for together with something else, and where bob is in another source."""
    same = True if elsewhere else None
    if elsewhere:
        ledger.reserve("other", alone({"bob": (6,)}, Count(1), group.MECHANISM), budget=10**6)
    some = pooled_debits({"bob": (6,), "dan": (3,)}, Count(1), group.MECHANISM)
    whole = [replace(d, charge=replace(d.charge, covers=WHOLE)) for d in some]
    for _ in range(3):
        ledger.reserve("data", whole, budget=9, same_people=same)
    single = pooled_debits(TWO, Count(1), wasserstein.MECHANISM, "single")
    eve = alone({"eve": (5,)}, Count(1), group.MECHANISM)
    ledger.reserve("data", [*single, *eve])
    costs = [epsilons_of(ledger)[ledger.unit_tag(unit)] for unit in ("bob", "cid", "eve")]
    assert costs == [4 + elsewhere, 4 + elsewhere, costs_of(eve)["eve"]]


def test_a_pooled_answer_over_too_many_units_says_whose_budget_is_gone(ledger: Ledger) -> None:
    ledger.reserve("data", alone({"bob": (6,)}, Count(1), group.MECHANISM), budget=1)
    pooled = [debit for n in range(3) for debit in pooled_debits(TWO, Count(1), group.MECHANISM, f"pooled {n}")]
    said = refused_unchanged(ledger, BudgetExceeded, None, "data", pooled)
    assert "would cost person 1 of 2 (in its order)" in said
    assert "bob" not in said


def test_a_source_is_one_unit_or_many_but_not_both(ledger: Ledger) -> None:
    """What is released about everything is also about ann; under another tag it would not be counted."""
    framework, words = chain_framework(7), "either every release names the people"
    everything, ann = group_debit(framework, 1), group_debit(framework, 1, "ann", "other")
    ledger.reserve("one", [everything], budget=9)
    ledger.reserve("many", [ann], budget=9)
    for source, debits in (("one", [ann]), ("many", [everything]), ("new", [everything, ann])):
        refused_unchanged(ledger, LedgerError, words, source, debits)


def test_history_and_show(ledger: Ledger) -> None:
    framework = one_thing(7)
    done = ledger.reserve("data", [group_debit(framework, "1/2", name="monday")], budget=2)
    ledger.drawn(done, b"noisy")
    ledger.publish(done)
    ledger.reserve("data", [group_debit(framework, "1/4", name="tuesday")])
    first, second = ledger.history("data")
    assert len(first.id) == len(ledger.source("data").id) == 16
    assert (first.id, first.name, first.state, first.amount.epsilon) == (done.id, "monday", "published", Fraction(1, 2))
    assert (second.state, second.kinds, second.scope, second.units) == ("reserved", ("composes",), "unit", 1)
    assert first.frameworks == (framework.fingerprint(),)
    ledger.reserve("data", [group_debit(framework, "1/4", name="wednesday")])
    (row,) = ledger.show()
    assert (row.name, row.spent.epsilon, row.releases, row.unpublished) == ("data", 1, 3, 2)


def test_show_counts_what_is_of_each_source(ledger: Ledger) -> None:
    ledger.reserve("three", [group_debit(one_thing(7), 1, unit) for unit in ("ann", "bob", "cid")])
    done = ledger.reserve("two", [group_debit(one_thing(7), 2, unit) for unit in ("dan", "eve")])
    ledger.drawn(done, b"")
    ledger.publish(done)
    rows = [(row.name, row.spent.epsilon, row.units, row.releases, row.unpublished) for row in ledger.show()]
    assert rows == [("three", 1, 3, 1, 1), ("two", 2, 2, 1, 0)]


def test_frameworks_that_do_not_survive_json_are_refused(ledger: Ledger) -> None:
    framework = Pufferfish(every_entry(), chain(7))
    object.__setattr__(framework.beliefs[0], "states", ((0, 1), (1, 0)))
    made_ = made(framework, Histogram(), RoundedNormal(Fraction(9), Fraction(1), 2), WHOLE)
    refused_unchanged(ledger, InputError, "would not read back", "data", [Debit(framework, charge_of(made_))])
