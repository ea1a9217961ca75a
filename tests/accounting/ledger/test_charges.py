"""What units are charged: every framework, every release, exact amounts, and words that help when it is too much."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from tests.support.ledger_tools import (
    chain,
    chain_framework,
    charge,
    made,
    one_thing,
    with_delta,
)
from tests.support.paying import epsilon_of, group_debit, refused_unchanged

import takifugu as tf
from takifugu.accounting.amounts import SMALLEST_SPEND
from takifugu.accounting.composition import charge_of, joint
from takifugu.accounting.ledger import Amount, Debit, Ledger
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.randomisers import RoundedNormal
from takifugu.core.errors import BudgetExceeded, CompositionRefused, InputError, LedgerError
from takifugu.model.frameworks import Pufferfish
from takifugu.model.queries import Count, Histogram
from takifugu.model.secrets.of_entries import every_entry

WHOLE, DATA, NOISE, SINGLE = Covers
THESE: dict[str, Any] = {"entries": "these"}


def test_what_a_refusal_offers_for_noise_does_fit(ledger: Ledger) -> None:
    framework = chain_framework(100, 0.7)
    noisy = charge(framework, Count(1), 12, NOISE)
    alone = joint(framework, [replace(noisy, framework="")]).epsilon
    noisy = replace(noisy, epsilon=alone)
    ledger.reserve("data", [Debit(framework, noisy)], alone * Fraction(105, 100), **THESE)
    said = refused_unchanged(ledger, BudgetExceeded, "times the scale", "data", [Debit(framework, noisy)])
    factor = Fraction(said.split("noise of ")[1].split(" times")[0])
    quieter = replace(charge(framework, Count(1), 12 * factor, NOISE), epsilon=alone)
    ledger.reserve("data", [Debit(framework, quieter)], **THESE)
    assert Fraction(103, 100) < epsilon_of(ledger) / alone <= Fraction(105, 100)


def test_what_is_offered_beside_other_releases_is_more_noise_and_what_that_is_worth(ledger: Ledger) -> None:
    framework = chain_framework(100, 0.7)
    ledger.reserve("data", [group_debit(framework, Fraction(1, 4))], "0.4", **THESE)
    noise = [charge(framework, Count(1), units, NOISE) for units in (12, 9)]
    epsilons = [joint(framework, [replace(one, framework="")]).epsilon for one in noise]
    debits = [Debit(framework, replace(one, epsilon=e), name=f"by {e}") for one, e in zip(noise, epsilons, strict=True)]
    said = refused_unchanged(ledger, BudgetExceeded, "times the scale", "data", debits)
    offered = (("noise of ", " times"), ("(alone, epsilon ", ")"))
    factor, worth = (Fraction(said.split(before)[1].split(after)[0]) for before, after in offered)
    quieter = [replace(charge(framework, Count(1), units * factor, NOISE), framework="") for units in (12, 9)]
    alone = [joint(framework, [each]).epsilon for each in quieter]
    assert Fraction(999, 1000) * max(alone) < worth <= max(alone)
    assert min(alone) < Fraction(99, 100) * worth


def test_what_is_offered_where_matrices_repeat_is_the_least_noise_that_fits(ledger: Ledger) -> None:
    """A line about another framework has another phase, so each cost its whole change: 139 times the noise for 1.2."""
    days = tf.PeriodicChain([[[0.9, 0.1], [0.4, 0.6]], [[0.8, 0.2], [0.1, 0.9]]], 200, [0] * 4 + [1] * 4)
    framework = tf.Pufferfish(every_entry(), days)
    calibration = tf.calibrate(framework, Count(1), 1, mechanism="influence")
    first, second = (Debit(framework, charge_of(calibration, at=0), name=name) for name in ("first", "second"))
    budget = Fraction(3, 2)
    said = refused_unchanged(ledger, BudgetExceeded, "times the scale", "data", [first, second], budget=budget)
    factor = Fraction(said.split("noise of ")[1].split(" times")[0])
    assert 1 < factor < 2
    both = [replace(debit.charge, scale=debit.charge.scale * factor) for debit in (first, second)]
    assert Fraction(99, 100) * budget < joint(framework, both, first.charge.framework).epsilon <= budget


def test_deltas_have_a_budget_too(ledger: Ledger) -> None:
    framework = chain_framework(7)
    normal = Debit(framework, with_delta(framework, "1/4"), name="normal")
    both = [normal, group_debit(framework, Fraction(1, 4))]
    refused_unchanged(ledger, BudgetExceeded, "smaller delta, or with delta 0", "data", both, budget=1)
    refused_unchanged(ledger, BudgetExceeded, "smaller delta", "data", [normal], budget=1)
    ledger.reserve("data", [normal], (1, "1/500"), **THESE)
    more = group_debit(framework, 1)
    refused_unchanged(ledger, BudgetExceeded, r"has epsilon 0\.75, delta 0\.001 left", "data", [more])
    ledger.reserve("data", [normal], **THESE)
    refused_unchanged(ledger, BudgetExceeded, "has epsilon 0.5 left", "data", [normal])
    assert ledger.spent("data") == Amount(Fraction(1, 2), Fraction(1, 500))


def test_a_declared_budget_is_changed_on_purpose_only(ledger: Ledger) -> None:
    debit = group_debit(one_thing(7), "1/4")
    ledger.reserve("data", [debit], 1, **THESE)
    assert ledger.reserve("data", [debit], "1.0", **THESE).budget == Amount(Fraction(1))
    words = r"change it on purpose: `takifugu ledger .* data 2`"
    refused_unchanged(ledger, LedgerError, words, "data", [debit], budget=2)
    refused_unchanged(ledger, LedgerError, "write the ledger's, epsilon 1$", "data", [debit], budget="0.75")
    ledger.budget("data", (2, "1/1000"))
    (source,) = ledger.show()
    assert (source.budget, source.is_implied) == (Amount(Fraction(2), Fraction(1, 1000)), False)


def test_a_spend_of_nothing_or_less_than_a_number_is_refused(ledger: Ledger) -> None:
    """Negative, NaN and infinite amounts cannot even be charges (tests/accounting/composition/test_composition.py)."""
    debit = group_debit(chain_framework(7), 1)
    for spend in (Fraction(0), Fraction(5e-324), Fraction(1e-310)):
        none = replace(debit, charge=replace(debit.charge, epsilon=spend))
        refused_unchanged(ledger, LedgerError, "more than nothing", "data", [none])
    ledger.reserve("data", [replace(debit, charge=replace(debit.charge, epsilon=SMALLEST_SPEND))], 1, **THESE)
    assert len(ledger.payments("data")) == 1


def test_frameworks_that_do_not_survive_json_are_refused(ledger: Ledger) -> None:
    framework = Pufferfish(every_entry(), chain(7))
    object.__setattr__(framework.beliefs[0], "states", ((0, 1), (1, 0)))
    noisy = made(framework, Histogram(), RoundedNormal(Fraction(9), Fraction(1), 2), WHOLE)
    refused_unchanged(ledger, InputError, "would not read back", "data", [Debit(framework, charge_of(noisy))])


def test_what_would_not_read_back_is_refused_before_it_is_paid_for(ledger: Ledger) -> None:
    """A row that no float holds was paid for, and no command read the ledger any more."""
    with pytest.raises(InputError, match="it must be a finite number"):
        group_debit(one_thing(), 1, change=Fraction(4 * 10**308))
    debits = [group_debit(one_thing(), 1, name="half", query={"kind": "half a character: \ud800"})]
    refused_unchanged(ledger, InputError, "'half' would not read back", "data", debits, budget=2)


# Promises that are alone.


# What was charged below the truth once.


def test_a_promise_that_is_alone_and_was_chosen_after_another_keeps_no_small_delta(ledger: Ledger) -> None:
    """Noise chose which value the second answer tells apart; charged (4.1, .05), its true delta is .34."""
    values = [f"r{number}" for number in range(20)]
    table = tf.JointTable([(s, r) for s in ("s0", "s1") for r in values], [Fraction(1, 40)] * 40, names=["s", "r"])
    framework = tf.Pufferfish(tf.entry(0, "s0", "s1"), table)
    first = tf.calibrate(framework, tf.Histogram(tuple(values)), 4, mechanism="group-dp")
    chosen = tf.Linear([1, 1], {"s0": 0, "s1": 1, **{value: number for number, value in enumerate(values)}})
    options = {"delta": "0.05", "mechanism": "wasserstein-delta", "allow_zero_noise": True}
    second = tf.calibrate(framework, chosen, "0.1", **options)  # type: ignore[arg-type]
    ledger.reserve("s", [Debit(framework, charge_of(first), ["ana"])], (99, "0.9"), **THESE)
    try:
        spent = ledger.reserve("s", [Debit(framework, charge_of(second), ["ana"])], **THESE).spent
    except CompositionRefused:
        return
    assert spent.delta >= Fraction(34, 100)


def test_hours_of_two_clocks_are_not_hours_of_one(ledger: Ledger) -> None:
    """Summer time from midnight, then winter time from two; charged 1.5, by the clocks 2.0."""
    sticky, free = [[0.9999, 0.0001], [0.0001, 0.9999]], [[0.5, 0.5], [0.5, 0.5]]
    for size, start, at in ((3, 0, 0), (5, 2, 3)):
        belief = tf.PeriodicChain([sticky, free], size, [0, 0, 1] + [0] * 21, start)
        framework = tf.Pufferfish(tf.every_entry(), belief)
        noisy = charge_of(tf.calibrate(framework, tf.Count(1), 1, mechanism="influence"), at=at)
        spent = ledger.reserve("s", [Debit(framework, noisy, ["ana"])], 99, entries="hours").spent
    assert spent.epsilon >= 2
