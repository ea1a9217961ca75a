"""Promises at a delta: normal releases fixed in advance, and promises that were chosen after other outputs."""

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.accounting.ledger.test_accounts import TWO, accounts_of, alone, pooled_debits
from tests.mechanisms.local.test_together import LAW, RESPONSE, framework
from tests.mechanisms.local.test_together import charge as sent
from tests.mechanisms.test_influence_gaussian import framework_of, true_delta
from tests.support.late_oracles import chance_of_the_largest, late_delta
from tests.support.ledger_tools import chain_framework, charge, laplace, made, users, view, with_delta

import takifugu as tf
from takifugu.accounting.composition import Charge, charge_of, joint
from takifugu.accounting.composition.at_delta import joint_at_delta, least_epsilon, loss_at, planned_together
from takifugu.accounting.composition.losses import raised
from takifugu.accounting.log import Amount, Debit, Ledger
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.randomisers import RoundedNormal
from takifugu.core.errors import BudgetExceeded, CompositionRefused
from takifugu.mechanisms import group, wasserstein
from takifugu.mechanisms.local.senders import Values
from takifugu.mechanisms.local.sent import Sending
from takifugu.model.frameworks import Framework
from takifugu.model.queries import Count, Identity
from takifugu.numbers.after_noise.gaussian import gaussian_delta

STAY = [[0.9, 0.1], [0.4, 0.6]]
COUNT, LAST = tf.Count(1), tf.Count(1, entries=(2, 3))
WEIGHTS = {COUNT: [[0, 1]] * 4, LAST: [[0, 0], [0, 0], [0, 1], [0, 1]]}
HALF = Fraction(1, 2)


def normal(query, epsilon, delta):
    return tf.calibrate(framework_of(STAY, 4), query, epsilon, delta, mechanism="influence-gaussian")


@pytest.mark.parametrize("laplace", [True, False])
def test_two_releases_promise_no_less_than_they_lose(laplace):
    first = normal(COUNT, 1, 0.01)
    framework = framework_of(STAY, 4)
    second = tf.calibrate(framework, LAST, 1, mechanism="influence") if laplace else normal(LAST, 1, 0.01)
    promise = tf.compose([first, second], fixed_in_advance=True)
    assert promise.delta == first.guarantee.delta + second.guarantee.delta
    assert 1 < promise.epsilon < 2.2
    releases = [(WEIGHTS[one.query], float(one.scale), not (laplace and one is second)) for one in (first, second)]
    assert true_delta(np.array(STAY), [0.8, 0.2], 4, releases, float(promise.epsilon)) <= promise.delta
    assert true_delta(np.array(STAY), [0.8, 0.2], 4, releases, float(promise.epsilon) / 2) > promise.delta


@pytest.mark.parametrize("number", [10, pytest.param(100, marks=pytest.mark.mutants)])
def test_many_releases_lose_as_one_of_the_root_of_their_number(number):
    one = normal(COUNT, 0.2, 1e-4 / number)
    promise = tf.compose([one] * number, fixed_in_advance=True)
    assert promise.epsilon < 0.2 * number / 2
    mean = float(one.scale) / math.sqrt(number)
    true = true_delta(np.array(STAY), [0.8, 0.2], 4, [(WEIGHTS[COUNT], mean, True)], float(promise.epsilon))
    assert true <= promise.delta


def test_what_may_have_been_chosen_after_an_output_and_other_noise_are_refused():
    one = normal(COUNT, 1, 1e-5)
    with pytest.raises(CompositionRefused, match="no joint promise"):
        tf.compose([one, one])
    finite = tf.calibrate(framework_of(STAY, 4), COUNT, 1, mechanism="kantorovich-exponential")
    with pytest.raises(CompositionRefused):
        tf.compose([finite, one], fixed_in_advance=True)
    mode = tf.calibrate(framework_of(STAY, 4), tf.Mode(), 1, mechanism="influence")  # it loses by its scale, as Laplace
    assert tf.compose([mode, one], fixed_in_advance=True).epsilon > 1


def test_any_normal_noise_counts_by_its_changes():
    """gaussian-exact relies on what the belief leaves open; beside others only its noise counts."""
    framework = framework_of(STAY, 4)
    exact = tf.calibrate(framework, COUNT, 1, 1e-3, mechanism="gaussian-exact")
    ours = normal(COUNT, 1, 1e-3)
    assert exact.scale < ours.scale
    together = [tf.compose([one, one], fixed_in_advance=True).epsilon for one in (exact, ours)]
    assert together[0] > together[1] > 1


def test_independent_users_who_move_an_answer_by_other_tables():
    """One moves two cells by 1, the other one cell by 2: alike in L1, and not in L2."""
    users = tf.IndependentUsers([{0: 0.5, 1: 0.5}] * 2)
    framework = tf.Pufferfish(tf.every_entry(), users)
    parts = [tf.Histogram(entries=(0,)), tf.Sum(codes={0: 0, 1: 2}, entries=(1,))]
    laplace = charge_of(tf.calibrate(framework, tf.Together(parts), 1, mechanism="group"), reading="one")
    sigma, delta = Fraction(5), Fraction(1, 10**4)
    noise = RoundedNormal(sigma, Fraction(1), 3).to_dict()
    normal_one = replace(
        laplace, scale=None, delta=delta, covers=Covers.OUTPUT, randomiser=noise, fixed_in_advance=True
    )
    promise = joint(framework, [normal_one] * 2)
    assert gaussian_delta(2, sigma / Fraction(math.sqrt(2)), promise.epsilon) == pytest.approx(2e-4, rel=1e-5)


# Independent users: each loses what the normal law says.

DELTA = Fraction(1, 10**4)
USERS = users()


def noisy(weights, sigma=None, scale=None, **changes):
    """Return a release about three users, with normal noise or else Laplace noise, that claims next to nothing."""
    made = charge_of(laplace(USERS, tf.Linear(weights), 1, Covers.ENTRIES), reading="one")
    claims = {"epsilon": Fraction(1, 1000), "fixed_in_advance": True, **changes}
    if sigma is None:
        return replace(made, scale=Fraction(scale), **claims)
    noise = RoundedNormal(Fraction(sigma), Fraction(1)).to_dict()
    return replace(made, **{"scale": None, "delta": DELTA, "covers": Covers.OUTPUT, "randomiser": noise, **claims})


def at_delta(*charges):
    return joint_at_delta(view(USERS), charges)


@pytest.mark.parametrize("order", [(1, 2, 0), (2, 0, 1)])
def test_the_user_who_loses_most_in_all_releases_decides(order):
    weights = [[row[n] for n in order] for row in ([3, 1, 2], [1, 1, 5])]
    promise = at_delta(noisy(weights[0], 5), noisy(weights[1], 10))
    move = Fraction(math.hypot(2 / 5, 5 / 10))
    assert gaussian_delta(move, 1, promise.epsilon) == pytest.approx(float(2 * DELTA), rel=1e-5)
    assert gaussian_delta(move, 1, promise.epsilon) <= 2 * DELTA
    assert (promise.delta, promise.rule, promise.covers) == (2 * DELTA, "joint loss at delta", Covers.OUTPUT)
    assert promise.witness is not None


def test_laplace_noise_counts_for_each_user_beside_the_normal_noise_that_user_has():
    alone = at_delta(noisy([3, 0, 0], 5))
    assert at_delta(noisy([3, 0, 0], 5), noisy([0, 1, 0], None, 2)).epsilon == alone.epsilon
    for order in ([9, 0], [0, 9]):
        pure = [noisy([0, *order], None, 1), noisy([0, *order], None, 2)]
        assert at_delta(noisy([3, 0, 0], 5), *pure).epsilon == pytest.approx(13.5)
    both = at_delta(noisy([3, 0, 0], 5), noisy([1, 0, 0], None, 2)).epsilon
    assert alone.epsilon < both <= alone.epsilon + HALF * (1 + Fraction(1, 10**8))
    assert at_delta(noisy([1, 0, 0], 50)).epsilon < HALF  # the others, who are not read, lose nothing
    exact = noisy([0, 9, 0], None, 0)
    with pytest.raises(CompositionRefused, match="without any noise"):
        at_delta(noisy([3, 0, 0], 5), exact)
    silent = noisy([0, 0, 0], None, 0)
    assert at_delta(noisy([3, 0, 0], 5), silent).epsilon == alone.epsilon


def test_no_set_costs_less_than_one_of_its_releases_claims_and_the_rule_is_the_joint_one_from_the_second_on():
    assert at_delta(noisy([3, 0, 0], 5, epsilon=Fraction(7)), noisy([1, 1, 1], 50)).epsilon == 7
    least = at_delta(noisy([3, 0, 0], 5)).epsilon
    claimed = least * Fraction(99, 100)
    assert at_delta(noisy([3, 0, 0], 5, epsilon=claimed)).epsilon == pytest.approx(float(least), rel=1e-8)
    one, two = noisy([3, 0, 0], 50), noisy([1, 1, 1], 50)
    by_changes = noisy([1, 1, 1], None, 50)  # by the change of everything that is less
    for charges, cost, rule in (
        ([one], one.epsilon, "alone"), ([one, two], at_delta(one, two).epsilon, "joint loss at delta"),
        ([one, by_changes], one.epsilon + Fraction(3, 50), "single and whole"),
    ):  # fmt: skip
        promise = joint(USERS, charges)
        assert (promise.epsilon, promise.rule) == (cost, rule)


def test_what_does_not_add_up_value_by_value_is_refused():
    foreign = noisy([1, 1, 1], 9, framework="another belief", answers=("unknown",))
    with pytest.raises(CompositionRefused, match="no sum over the values"):
        at_delta(noisy([1, 1, 1], 9), foreign)
    assert loss_at([], [], Fraction(1), DELTA) == (0, None)


def test_what_is_planned_together():
    one, pure = noisy([1, 1, 1], 9), noisy([1, 1, 1], None, 9)
    assert planned_together([one, pure, one])
    assert planned_together([replace(one, at=3), replace(pure, at=3)])
    for apart in ([], [pure, pure], [one, replace(one, randomiser={"kind": "exponential"})],
                  [replace(one, at=3), replace(pure, at=4)]):  # fmt: skip
        assert not planned_together(apart)
    for wrong in ({"fixed_in_advance": False}, {"scope": "pooled"}, {"reading": "two"}, {"reading": "", "at": 3}):
        assert not planned_together([one, replace(one, **wrong)])
        assert not planned_together([one, pure, replace(pure, **wrong)])


def test_the_least_epsilon_is_searched_from_above():
    for least in (Fraction(1, 7), Fraction(5, 3), Fraction(5000)):
        for start in (least * Fraction(9, 10), least / 5):
            epsilon = least_epsilon(lambda _, least=least: (least, None), start)
            assert least <= epsilon <= least * (1 + Fraction(2, 10**9))
        assert least_epsilon(lambda _, least=least: (least, None), least) == pytest.approx(float(least), rel=1e-11)
        assert least_epsilon(lambda _: (Fraction(0), None), least * 3) == pytest.approx(float(least * 3), rel=1e-11)
    assert least_epsilon(lambda _: (Fraction(9500), None), Fraction(5000)) >= 9500  # doubled once, up to the limit
    with pytest.raises(CompositionRefused, match="promise nothing"):
        least_epsilon(lambda epsilon: (epsilon + 1, None), Fraction(1))


# A promise about one output's distribution with delta > 0, chosen after other outputs were seen: its delta grows.


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
    paid: dict[str, Any] = {"entries": "values", "ledger": tmp_path / "a.db", "source": "s", "budget": (6, "0.9")}
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
    pooled = replace(debit.charge, scope="pooled")  # which counts once
    accounts = accounts_of(bob=[(singles["bob"], 2)], cid=[(pooled, 1), (singles["cid"], 2)])
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
    with pytest.raises(CompositionRefused):
        joint(about, [with_delta(chain_framework(3), 1), one])
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
    normal = with_delta(about, "1/3")
    ledger.reserve("one", [Debit(about, quilt, "ann")], budget=(10**6, "1/2"))
    ledger.reserve("other", [Debit(about, normal, "ann")], budget=(10**6, "1/2"), same_people=True)
    for n in (1, 2):
        ledger.reserve("one", [Debit(about, quilt, "ann")])
        expected = joint(about, [quilt, normal, *[quilt] * n])
        assert ledger.spent("one").spent == Amount(expected.epsilon, expected.delta)
