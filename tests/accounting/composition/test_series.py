"""Series of normal releases: charged as multiples of the first, against enumeration and adaptive strategies."""

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.mechanisms.test_influence_gaussian import exact_delta, framework_of
from tests.support.ledger_tools import laplace as laplace_noise
from tests.support.series_oracle import adaptive_delta

import takifugu as tf
from takifugu.accounting.composition import charge_of, joint
from takifugu.accounting.composition.series import least_epsilon, loss_at
from takifugu.accounting.ledger import Debit, Ledger
from takifugu.analysis.guarantee import Charge, Covers
from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import RoundedNormal
from takifugu.core.errors import BudgetExceeded, CompositionRefused
from takifugu.influence.curves import profile_loss
from takifugu.influence.profiles.normal import NormalRelease, log_share, normal_profile
from takifugu.numbers.after_noise.gaussian import gaussian_delta

STAY = [[0.9, 0.1], [0.4, 0.6]]
COUNT, LAST = tf.Count(1), tf.Count(1, entries=(2, 3))
WEIGHTS = {COUNT: [[0, 1]] * 4, LAST: [[0, 0], [0, 0], [0, 1], [0, 1]]}
FRAMEWORK = framework_of(STAY, 4)


def normal(query: Any, epsilon: Any, delta: Any) -> Any:
    return tf.calibrate(FRAMEWORK, query, epsilon, delta, mechanism="influence-gaussian")


def laplace(query: Any, epsilon: Any) -> Any:
    return tf.calibrate(FRAMEWORK, query, epsilon, mechanism="influence")


def true_delta_of(releases: list[tuple[Any, float, bool]], epsilon: Fraction) -> float:
    """Return the true delta of releases: a query, its scale, and whether its noise is normal."""
    known = [(WEIGHTS[query], scale, is_normal) for query, scale, is_normal in releases]
    return exact_delta(np.array(STAY), [0.8, 0.2], 4, known, float(epsilon))


def charges(*calibrations: Any) -> list[Charge]:
    first, *others = [charge_of(one, at=0) for one in calibrations]
    return [replace(first, begins_series=True), *others]


@pytest.mark.mutants
@pytest.mark.parametrize("number", [1, 2, 10, pytest.param(100, marks=pytest.mark.mutants)])
def test_equal_releases_cost_what_they_do_if_fixed_in_advance(number: int) -> None:
    one = normal(COUNT, "0.2", Fraction(1, 10**4 * number))
    together = joint(FRAMEWORK, charges(*[one] * number))
    advance = tf.compose([one] * number, begins_series=True)
    assert together.delta == advance.delta
    assert float(together.epsilon) == pytest.approx(float(advance.epsilon), rel=1e-6)
    assert true_delta_of([(COUNT, float(one.scale) / math.sqrt(number), True)], together.epsilon) <= together.delta
    alone = joint(FRAMEWORK, charges(normal(COUNT, "1/3", "0.01")))
    assert alone.epsilon == Fraction(1, 3)  # what it promises, to the last digit


@pytest.mark.sampled(3)
@pytest.mark.parametrize("second", [normal(LAST, 1, "0.01"), laplace(LAST, "0.2"), laplace(COUNT, "0.5")])
def test_other_queries_and_laplace_noise_cost_no_less_than_they_lose(second: Any) -> None:
    first = normal(COUNT, 1, "0.01")
    together = joint(FRAMEWORK, charges(first, second))
    assert 1 < together.epsilon < 5
    releases = [(one.query, float(one.scale), one.mechanism == "influence-gaussian") for one in (first, second)]
    assert true_delta_of(releases, together.epsilon) <= together.delta


@pytest.mark.mutants
def test_releases_that_begin_it_together_add_up_by_their_squares() -> None:
    """In whatever order they stand, though the first moves fewer entries; later ones are multiples of both."""
    made = [normal(LAST, 1, "0.005"), normal(COUNT, 1, "0.005")]
    begun = [charge_of(one, begins_series=True) for one in made]
    advance = tf.compose(made, begins_series=True)
    for order in (begun, begun[::-1]):
        together = joint(FRAMEWORK, order)
        assert float(together.epsilon) == pytest.approx(float(advance.epsilon), rel=1e-8)
        assert together.delta == advance.delta
    later = charge_of(laplace(COUNT, "0.2"))
    charged = joint(FRAMEWORK, [*begun, later])
    releases = [*((one.query, float(one.scale), True) for one in made), (COUNT, float(later.scale or 0), False)]
    assert true_delta_of(releases, charged.epsilon) <= charged.delta
    assert charged.epsilon > together.epsilon
    apart = [begun[0], replace(begun[1], begins_series=False)]
    with pytest.raises(CompositionRefused, match="does not move"):  # the second was not paid for with the first
        joint(FRAMEWORK, apart)
    with pytest.raises(CompositionRefused, match="normal noise"):
        joint(FRAMEWORK, [begun[0], replace(later, begins_series=True)])


CHAIN = [[0.6, 0.4], [0.4, 0.6]]
GIVEN = (0.4, 0.6)
EPSILON, DELTA = 0.4034, 0.02


def loss_of(moves: tuple[float, float]) -> float:
    """The loss of normal releases that entries 0 and 1 move by so much, at the share of (EPSILON, DELTA)."""
    framework = tf.Pufferfish(tf.entry(0, 0, 1), tf.MarkovChain(CHAIN, 2, [0.5, 0.5]))
    problem = Problem(framework, tf.Linear([round(10**9 * m) for m in moves]), Fraction(1))
    (part,) = problem.parts
    share = log_share(Fraction(EPSILON), Fraction(DELTA))
    return profile_loss(part, normal_profile([NormalRelease(part.answer, 10**9 / problem.grid)], share))[0]


def largest(fits: Any) -> float:
    low, high = 0.0, 8.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


@pytest.mark.mutants
def test_a_series_keeps_its_budget_whatever_noise_is_chosen_by_the_output() -> None:
    """The same answer with as much noise as the output suggests, up to the largest multiple that fits."""
    start, ratio = 0.1, 0.4  # entry 1 moves each answer 0.4 times as far as entry 0
    total = largest(lambda move: loss_of((move, ratio * move)) <= EPSILON)
    rest = math.sqrt(total**2 - start**2)

    def eager(output: float) -> tuple[float, float]:
        move = rest if output > start else rest / 3
        return move, ratio * move

    assert adaptive_delta(start, eager, GIVEN, EPSILON) <= DELTA


# Independent users: each loses what the normal law says.

USERS = tf.Pufferfish(tf.every_entry(), tf.IndependentUsers([{0: 0.5, 1: 0.5}] * 3))
LITTLE = Fraction(1, 10**4)


def of_users(weights: list[int], sigma: int, **changes: Any) -> Charge:
    """Return a release about three users with normal noise that claims next to nothing."""
    made = charge_of(laplace_noise(USERS, tf.Linear(weights), 1, Covers.ENTRIES))
    noise = RoundedNormal(Fraction(sigma), Fraction(1)).to_dict()
    plain = {"scale": None, "delta": LITTLE, "covers": Covers.OUTPUT, "randomiser": noise, "epsilon": Fraction(1, 1000)}
    return replace(made, **{**plain, **changes})


@pytest.mark.mutants
@pytest.mark.parametrize("order", [(1, 2, 0), (2, 0, 1)])
def test_the_user_who_loses_most_in_the_whole_series_decides(order: tuple[int, ...]) -> None:
    """Whoever it is, and whether or not others are moved at all."""
    first, second, third = ([row[n] for n in order] for row in ([3, 0, 2], [1, 0, 4], [0, 0, 3]))
    together = [of_users(first, 5, begins_series=True), of_users(second, 10), of_users(third, 5)]
    promise = joint(USERS, together)
    move = Fraction(math.hypot(2 / 5, 4 / 10, 3 / 5))
    assert gaussian_delta(move, 1, promise.epsilon) <= 3 * LITTLE
    assert gaussian_delta(move, 1, promise.epsilon) == pytest.approx(float(3 * LITTLE), rel=1e-5)
    assert (promise.delta, promise.rule, promise.covers) == (3 * LITTLE, "series of normal releases", Covers.ENTRIES)
    with pytest.raises(CompositionRefused, match="does not move"):
        joint(USERS, [*together, of_users([0, 1, 0], 10**6), of_users([1, 1, 1], 10**6)])


@pytest.mark.mutants
def test_what_a_series_does_not_reach_is_refused() -> None:
    first, last, later = normal(COUNT, 1, "0.001"), normal(LAST, 1, "0.001"), laplace(COUNT, 1)
    begun = charges(first, later)
    for wrong, words in (
        ({"at": 3}, "same values"), ({"scope": "pooled"}, "several people"),
        ({"scale": None, "randomiser": {"kind": "exponential"}}, "normal noise"), ({"scale": Fraction(0)}, "noise"),
    ):  # fmt: skip
        with pytest.raises(CompositionRefused, match=words):
            joint(FRAMEWORK, [begun[0], replace(begun[1], **wrong)])
    for about, together, words in (
        (FRAMEWORK, charges(last, first), "does not move"), (FRAMEWORK, charges(first, first)[::-1], "begin after"),
        (framework_of(CHAIN, 4), charges(first, first), "beliefs of its first release"),
    ):  # fmt: skip
        with pytest.raises(CompositionRefused, match=words):
            joint(about, together)
    exact = tf.calibrate(FRAMEWORK, COUNT, 1, "0.001", mechanism="gaussian-exact")
    assert joint(FRAMEWORK, charges(exact)).epsilon > 1  # its promise rests on the belief, and counts by its noise


# What a series rests on, and its first releases together.


@pytest.mark.mutants
def test_what_no_series_holds_is_refused() -> None:
    one = normal(COUNT, 1, "0.00001")
    with pytest.raises(CompositionRefused, match="no joint promise"):
        tf.compose([one, one])
    finite = tf.calibrate(FRAMEWORK, COUNT, 1, mechanism="kantorovich-exponential")
    with pytest.raises(CompositionRefused, match="normal noise"):
        tf.compose([one, finite], begins_series=True)
    mode = tf.calibrate(FRAMEWORK, tf.Mode(), 1, mechanism="influence")  # it loses by its scale, as Laplace noise
    assert tf.compose([one, mode], begins_series=True).epsilon > 1


@pytest.mark.mutants
def test_independent_users_who_move_an_answer_by_other_tables() -> None:
    """One moves two cells by 1, the other one cell by 2: alike in L1, and not in L2."""
    users = tf.Pufferfish(tf.every_entry(), tf.IndependentUsers([{0: 0.5, 1: 0.5}] * 2))
    parts = [tf.Histogram(entries=(0,)), tf.Sum(codes={0: 0, 1: 2}, entries=(1,))]
    pure = charge_of(tf.calibrate(users, tf.JointQuery(parts), 1, mechanism="group-dp"), begins_series=True)
    sigma, delta = Fraction(5), Fraction(1, 10**4)
    noise = RoundedNormal(sigma, Fraction(1), 3).to_dict()
    begun = replace(pure, scale=None, delta=delta, covers=Covers.OUTPUT, randomiser=noise)
    promise = joint(users, [begun] * 2)
    assert gaussian_delta(2, sigma / Fraction(math.sqrt(2)), promise.epsilon) == pytest.approx(2e-4, rel=1e-5)


def test_no_series_costs_less_than_one_of_its_releases_claims() -> None:
    begun = [of_users(weights, sigma, begins_series=True) for weights, sigma in (([3, 0, 0], 5), ([1, 1, 1], 50))]
    assert joint(USERS, [replace(begun[0], epsilon=Fraction(7)), begun[1]]).epsilon == 7
    exact = replace(begun[1], begins_series=False, scale=Fraction(0), delta=Fraction(0))
    with pytest.raises(CompositionRefused, match="without any noise"):
        joint(USERS, [begun[0], exact])
    foreign = replace(begun[1], framework="another belief", answers=("unknown",))
    with pytest.raises(CompositionRefused, match="no sum over the values"):
        joint(USERS, [begun[0], foreign])
    assert loss_at([], [], Fraction(1), LITTLE) == 0


def test_the_least_epsilon_is_searched_from_above() -> None:
    for least in (Fraction(1, 7), Fraction(5, 3), Fraction(5000)):
        for start in (least * Fraction(9, 10), least / 5):
            epsilon = least_epsilon(least.__le__, start)
            assert least <= epsilon <= least * (1 + Fraction(2, 10**9))
        assert least_epsilon(least.__le__, least) == pytest.approx(float(least), rel=1e-11)
        assert least_epsilon(lambda _: True, least * 3) == pytest.approx(float(least * 3), rel=1e-11)
    assert least_epsilon(Fraction(9500).__le__, Fraction(5000)) >= 9500  # doubled once, up to the limit
    with pytest.raises(CompositionRefused, match="promise nothing"):
        least_epsilon(lambda _: False, Fraction(1))


def debit(calibration: Any, begins: bool) -> Debit:
    return Debit(FRAMEWORK, charge_of(calibration, at=0, begins_series=begins), ["ann"])


@pytest.mark.mutants
def test_a_ledger_holds_a_series(tmp_path: Path) -> None:
    one, ledger = normal(COUNT, 1, "0.00001"), Ledger.open(tmp_path / "ledger.db")
    others = Ledger.open(tmp_path / "others.db")

    def pay(where: Ledger, calibration: Any, begins: bool, budget: Any = None) -> Any:
        return where.reserve("data", [debit(calibration, begins)], budget, entries="hours").spent

    pay(ledger, one, True, (1, "0.00001"))  # asked at (1, 1e-5), it fits that budget
    with pytest.raises(BudgetExceeded):
        pay(ledger, one, False)
    assert pay(others, one, True, (2, "0.00003")) == (1, Fraction(1, 10**5))
    two = pay(others, one, False)
    advance = tf.compose([one, one], begins_series=True)
    assert float(two.epsilon) == pytest.approx(float(advance.epsilon), rel=1e-6)
    assert two.delta == advance.delta
    three = pay(others, laplace(COUNT, "0.2"), False)
    assert two.epsilon < three.epsilon < two.epsilon + Fraction(1, 2)
    alone = Ledger.open(tmp_path / "alone.db")
    pay(alone, one, False, (9, "0.1"))
    with pytest.raises(CompositionRefused, match="its own output only"):
        pay(alone, one, False)
