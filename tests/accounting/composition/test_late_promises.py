"""A promise about one output's distribution with delta > 0, chosen after other outputs were seen: its delta grows."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.accounting.ledger.test_accounts import TWO, accounts_of, alone, pooled_debits
from tests.mechanisms.local.test_together import LAW, RESPONSE, framework
from tests.mechanisms.local.test_together import charge as sent
from tests.support.late_oracles import chance_of_the_largest, late_delta
from tests.support.ledger_tools import chain_framework, charge, laplace, made

import takifugu as tf
from takifugu.accounting.composition import Charge, charge_of, joint
from takifugu.accounting.composition.losses import raised
from takifugu.accounting.ledger import Amount, Debit, Ledger
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.randomisers import RoundedNormal
from takifugu.core.errors import BudgetExceeded, CompositionRefused
from takifugu.mechanisms import group, wasserstein
from takifugu.mechanisms.local.senders import Values
from takifugu.mechanisms.local.sent import Sending
from takifugu.model.frameworks import Framework
from takifugu.model.queries import Count, Identity

WHOLE, DATA, QUILT, SINGLE = Covers
SHARE = Fraction(1, 20)


def a_bit_and_a_number(count: int, names: Any = None) -> Framework:
    numbers = names or range(count)
    rows = [(bit, number) for bit in ("s0", "s1") for number in numbers]
    table = tf.JointTable(rows, [Fraction(1, 2 * count)] * (2 * count), names=["s", "r"])
    return tf.Pufferfish(tf.entry(0, "s0", "s1"), table)


def promise(about: Framework, share: Fraction, **changes: Any) -> Charge:
    """Return the charge of some answer that keeps a delta by its distribution alone."""
    noise = RoundedNormal(Fraction(9), Fraction(1))
    return replace(charge_of(made(about, Identity("r"), noise, SINGLE, 1, share)), **changes)


# Charged and true.


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 24), st.integers(1, 3), st.sampled_from(["1/10", "1/2", "1", "2", "5"]))
def test_what_was_chosen_late_is_charged_at_least_its_true_delta(count: int, revealing: int, epsilon: str) -> None:
    revealing = min(revealing, count - 1)
    about, units = a_bit_and_a_number(count), (count - 1) / Fraction(epsilon)
    whole = charge_of(laplace(about, Identity("r"), units, WHOLE, epsilon))
    share = Fraction(revealing, count)
    both = joint(about, [whole, promise(about, share)])
    true = late_delta(count, revealing, math.exp(-1 / units))
    assert share < true <= both.delta
    assert both.epsilon == 1 + Fraction(epsilon)
    assert joint(about, [promise(about, share), whole]).delta == share


@pytest.mark.parametrize(("epsilon", "fits"), [("4", False), ("1", True)])
def test_a_promise_chosen_after_a_histogram_in_a_ledger(tmp_path: Path, epsilon: str, fits: bool) -> None:
    """The histogram says which number is likely, and the next answer tells the bit for that number alone."""
    count = 20
    numbers = [f"r{n}" for n in range(count)]
    about = a_bit_and_a_number(count, numbers)
    paid: dict[str, Any] = {"ledger": tmp_path / "a.db", "source": "s", "budget": (6, "0.9")}
    first = tf.calibrate(about, tf.Histogram(tuple(numbers)), epsilon, mechanism="group")
    noisy = list(tf.release(first, ("s0", "r7"), **paid).value)
    likely = numbers[max(range(count), key=lambda n: noisy[n])]
    codes = {"s0": 0, "s1": 1} | {n: k for k, n in enumerate([likely, *(n for n in numbers if n != likely)])}
    second = tf.calibrate(
        about, tf.Linear([1, 1], codes), "0.1", delta=SHARE, mechanism="wasserstein-delta", allow_zero_noise=True
    )
    true = chance_of_the_largest(count, math.exp(-float(epsilon) / 2))
    assert true > SHARE
    if fits:
        tf.release(second, ("s0", "r7"), **paid)
        assert true <= Ledger.open(tmp_path / "a.db").spent("s").spent.delta
    else:
        with pytest.raises(BudgetExceeded, match="delta 1"):
            tf.release(second, ("s0", "r7"), **paid)


# The rule.


def test_a_delta_is_raised_by_what_was_seen_before_and_never_above_one() -> None:
    about = a_bit_and_a_number(20)
    whole = charge_of(laplace(about, Identity("r"), 19, WHOLE, 1))
    late, early = promise(about, SHARE), promise(about, SHARE, fixed_in_advance=True)
    for before, after in ((0, 2), (1, 1), (2, 0), (3, 1), (800, 0)):
        charges = [*[whole] * before, late, *[whole] * after]
        least = min(Fraction(1), Fraction(math.exp(min(before, 9))) * SHARE)
        assert least <= joint(about, charges).delta <= least * (1 + Fraction(1, 10**11))
    assert joint(about, [whole, early]).delta == SHARE
    assert joint(about, [whole, promise(about, Fraction(0))]).delta == 0
    normal = charge_of(made(about, Identity("r"), RoundedNormal(Fraction(9), Fraction(1)), WHOLE, 1, "1/1000"))
    together = joint(about, [whole, late, normal]).delta
    assert together == raised(SHARE, Fraction(1)) + Fraction(1, 1000)  # the later one is no more likely to fail


def test_a_pooled_promise_is_raised_by_what_was_seen_of_other_units() -> None:
    singles = {d.unit: replace(d.charge, delta=SHARE) for d in pooled_debits(TWO, Count(1), wasserstein.MECHANISM)}
    (debit,) = alone({"cid": TWO["cid"]}, Count(1), group.MECHANISM)
    for number, factor in ((1, math.e), (3, 1)):
        cid = sorted([(debit.charge, number), (singles["cid"], 2)], key=lambda pair: pair[1])
        accounts = accounts_of(bob=[(singles["bob"], 2)], cid=cid)
        for unit in TWO:
            assert accounts.cost(unit).epsilon == 2
            assert accounts.cost(unit).delta == pytest.approx(factor * SHARE, rel=1e-11)
            assert accounts.cost(unit).delta >= factor * SHARE
    fixed = {unit: replace(single, fixed_in_advance=True) for unit, single in singles.items()}
    accounts = accounts_of(bob=[(fixed["bob"], 2)], cid=[(debit.charge, 1), (fixed["cid"], 2)])
    assert accounts.cost("bob") == Amount(Fraction(2), SHARE)


def test_a_pooled_promise_is_raised_by_each_pooled_answer_about_others_once() -> None:
    singles = {d.unit: replace(d.charge, delta=SHARE) for d in pooled_debits(TWO, Count(1), wasserstein.MECHANISM)}
    (debit,) = alone({"cid": TWO["cid"]}, Count(1), group.MECHANISM)
    other = replace(debit.charge, scope="pooled")
    accounts = accounts_of(bob=[(singles["bob"], 2)], cid=[(other, 1), (singles["cid"], 2)])
    assert accounts.cost("bob").delta == pytest.approx(math.e * SHARE, rel=1e-11)


def test_what_is_sent_about_a_population_is_raised_by_what_was_seen_of_the_same_rows() -> None:
    about = framework(LAW)
    noise = Sending(1, 0.0, 1.0, "", Values(RESPONSE))
    one = replace(sent(noise, about), delta=SHARE)
    other = charge(chain_framework(3), Count(1), 3, WHOLE)
    late, early = joint(about, [other, one]), joint(about, [one, other])
    assert 1 < late.epsilon == early.epsilon < 2
    assert early.delta == SHARE
    assert late.delta == pytest.approx(math.e * SHARE, rel=1e-11)
    assert joint(about, [other, replace(one, fixed_in_advance=True)]).delta == SHARE
    assert joint(about, [other, replace(one, covers=WHOLE)]).delta == SHARE  # it holds whatever the rows are
    normal = charge_of(made(chain_framework(3), Count(1), RoundedNormal(Fraction(9), Fraction(1)), WHOLE, 1, "1/1000"))
    with pytest.raises(CompositionRefused):
        joint(about, [normal, one])
    after = joint(about, [replace(other, delta=Fraction(1, 1000)), one])  # it may have betrayed the rows
    assert after.epsilon == 1 + Fraction(noise.local_loss()) > late.epsilon
    assert after.delta == late.delta + Fraction(1, 1000)


def test_batches_of_independent_rows_do_not_raise_each_other() -> None:
    about = framework(LAW, rows=2, independent=True)
    noise = Sending(2, 0.0, 1.0, "", Values(RESPONSE))
    may, june = (replace(sent(noise, about, batch=name), delta=SHARE) for name in ("May", "June"))
    assert joint(about, [may, june]).delta == 2 * SHARE


# What was released about other sources comes before or after, too.


def test_a_delta_of_another_source_of_the_same_people_comes_between(tmp_path: Path) -> None:
    """The second quilt may have been chosen by what was seen there; equal ones were summed up as if both came first."""
    ledger = Ledger.open(tmp_path / "a.db")
    about = chain_framework(100, 0.7)
    quilt = charge(about, Count(1), 12, QUILT)
    normal = charge_of(made(about, Count(1), RoundedNormal(Fraction(300), Fraction(1)), WHOLE, "1/3", "1/1000"))
    ledger.reserve("one", [Debit(about, quilt, "ann")], budget=(10**6, "1/2"))
    ledger.reserve("other", [Debit(about, normal, "ann")], budget=(10**6, "1/2"), same_people=True)
    for n in (1, 2):
        ledger.reserve("one", [Debit(about, quilt, "ann")])
        expected = joint(about, [quilt, normal, *[quilt] * n])
        assert ledger.spent("one").spent == Amount(expected.epsilon, expected.delta)
