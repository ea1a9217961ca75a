"""Laws of the answer given a user's state, and the noise that hides it, against enumeration of all users' states."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.chain_oracles import largest_laplace_loss, w_infinity_of
from tests.support.laws_oracles import smallest_laplace_scale
from tests.support.user_oracles import ABSENT, answer_law, states_compared

import takifugu as tf
from takifugu.analysis.answer_laws import users as user_laws
from takifugu.analysis.answer_laws.user_family import Contribution, user_family
from takifugu.analysis.answer_laws.users import UsersLaw
from takifugu.analysis.problem import Problem
from takifugu.analysis.questions.compared import BoundedFamily, Compared
from takifugu.analysis.randomisers import DiscreteLaplace
from takifugu.model.beliefs.users import IndependentUsers
from takifugu.model.frameworks import Framework
from takifugu.model.secrets.families import Family
from takifugu.numbers import Pmf
from takifugu.numbers.extended.floats import UNIT, Wide
from takifugu.numbers.extended.leave_one_out import NOTHING, Sums, Weights

COIN = {0: Fraction(3, 10), 1: Fraction(7, 10)}
TRIPLE = {0: Fraction(49, 100), 1: Fraction(2, 100), 2: Fraction(49, 100)}
budgets = st.sampled_from([Fraction(1, 5), Fraction(1), Fraction(4)])


@dataclass(frozen=True)
class Case:
    """Users, a linear query, and their shares of the answer."""

    laws: list[dict[int, Fraction]]
    presences: list[Fraction]
    mode: str
    weights: list[int]

    @property
    def belief(self) -> IndependentUsers:
        return IndependentUsers(self.laws, self.presences, self.mode)

    @property
    def query(self):
        return tf.Linear(self.weights)

    @property
    def unit(self) -> Fraction:
        return self.query.resolve(self.belief).grid

    def law(self, user: int, state: Any) -> dict[int, Fraction]:
        shares = [{v: v * w for v in law} for law, w in zip(self.laws, self.weights, strict=True)]
        return answer_law(self.laws, self.presences, self.mode, shares, user, state)

    def states(self, user: int) -> list[Any]:
        return states_compared(self.laws[user], self.presences[user], self.mode)


@st.composite
def cases(draw: st.DrawFn, most: int = 4, modes: tuple[str, ...] = ("unknown", "removed")) -> Case:
    mode = draw(st.sampled_from(modes))
    size = draw(st.integers(1, most))
    laws = []
    for _ in range(size):
        values = draw(st.lists(st.integers(-3, 4), min_size=1, max_size=3, unique=True))
        counts = draw(st.lists(st.integers(1, 9), min_size=len(values), max_size=len(values)))
        laws.append({v: Fraction(c, sum(counts)) for v, c in zip(values, counts, strict=True)})
    chances = st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(1, 7)])
    presences = [draw(chances) for _ in range(size)]
    if mode == "removed":
        presences[0] = Fraction(1, 3)
    weights = draw(st.lists(st.integers(-2, 3), min_size=size, max_size=size))
    return Case(laws, presences, mode, weights)


def all_families(case: Case, *secrets) -> list[BoundedFamily]:
    belief = case.belief
    answer = case.query.resolve(belief)
    chosen = secrets or (tf.presence(), tf.every_entry())
    return [family for secret in chosen for family in UsersLaw(belief, answer, secret.family(belief)).families()]


def sides(case: Case, entry: int, compared: Compared) -> tuple[dict[int, Fraction], dict[int, Fraction]]:
    alphabet = case.belief.alphabet(entry)
    one, other = (case.law(entry, alphabet[v]) for v, _ in (compared.left, compared.right))
    return one, other


def in_units(law: dict[int, Fraction], unit: Fraction) -> dict[int, Fraction]:
    return {int(x / unit): p for x, p in law.items()}


@settings(max_examples=60)
@given(cases())
def test_laws_equal_those_of_enumeration(case: Case) -> None:
    for family in all_families(case):
        assert family.whole
        for value, (law,) in family.hulls.items():
            state = case.belief.alphabet(family.entry)[value]
            assert dict(law.items()) == in_units(case.law(family.entry, state), case.unit)
        assert family.relative_error == 0


@settings(max_examples=40)
@given(cases())
def test_rounded_laws_are_as_near_as_they_say(case: Case) -> None:
    floats: list[Any] = [{v: float(p) for v, p in law.items()} for law in case.laws]
    for family in all_families(Case(floats, case.presences, case.mode, case.weights)):
        for value, (law,) in family.hulls.items():
            state = case.belief.alphabet(family.entry)[value]
            true = in_units(case.law(family.entry, state), case.unit)
            assert set(true) == {x for x, _ in law.items()}
            for x, p in law.items():
                assert abs(float(p) / float(true[int(x)]) - 1) <= family.relative_error + 1e-14


@settings(max_examples=60)
@given(cases(), budgets)
def test_moves_and_losses_are_the_true_ones(case: Case, epsilon: Fraction) -> None:
    for family in all_families(case):
        scale = Fraction(3, 2) / epsilon
        for compared, loss in zip(family.compared, family.losses(scale), strict=True):
            p, q = (in_units(law, case.unit) for law in sides(case, family.entry, compared))
            assert compared.moves()[0] == compared.reach == w_infinity_of(p, q)
            true = float(largest_laplace_loss(p, q, scale))
            assert loss >= true * (1 - 1e-12)
            state = [case.belief.alphabet(family.entry)[v] for v, _ in (compared.left, compared.right)]
            if ABSENT not in state or case.mode == "removed":
                assert loss == pytest.approx(true, rel=1e-9, abs=1e-12)


@settings(max_examples=15)
@given(cases(most=3, modes=("unknown",)), budgets)
def test_the_smallest_scale_is_the_smallest(case: Case, epsilon: Fraction) -> None:
    for family in all_families(case, tf.presence(0)):
        for compared in family.compared:
            p, q = (in_units(law, case.unit) for law in sides(case, family.entry, compared))
            scale, least = compared.smallest_scale(epsilon), smallest_laplace_scale(p, q, epsilon)
            assert float(least) * (1 - 1e-12) <= float(scale) <= float(least) * (1 + 1e-8) + 1e-12


@settings(max_examples=25)
@given(st.lists(st.integers(10**600, 10**601), min_size=3, max_size=3), st.sampled_from(["1/50", "1/3", "2", "100"]))
def test_losses_of_long_masses_are_rounded_up(counts: list[int], scale: str) -> None:
    """The logarithm of a mass is the difference of two long ones, which is off by more than a short one."""
    law = Pmf.from_counts([0, 1, 3], counts)
    pairs = tuple((value, 3) for value in range(3))
    share = Contribution((0, 1, 3), law)
    family = user_family(0, pairs, share, 3, None, False)
    given_law = {int(x): p for x, p in law.items()}
    for compared, loss in zip(family.compared, family.losses(Fraction(scale)), strict=True):
        point = {share.states[compared.left[0]]: Fraction(1)}
        true = largest_laplace_loss(point, given_law, Fraction(scale))
        assert true <= loss <= true + 1e-11 * (1 + true)


def exact_scale(
    users: IndependentUsers, secret, query, epsilon: Any = 1, name: str = "laplace-exact"
) -> float:
    return tf.calibrate(tf.Pufferfish(secret, users), query, epsilon, mechanism=name, allow_zero_noise=True).scale


@settings(max_examples=25)
@given(cases(most=4))
def test_the_audit_finds_the_loss_of_enumeration(case: Case) -> None:
    framework = Framework((tf.presence(), tf.every_entry()), (case.belief,))
    losses = [0.0]
    for family in all_families(case):
        for compared in family.compared:
            p, q = (in_units(law, case.unit) for law in sides(case, family.entry, compared))
            losses.append(float(largest_laplace_loss(p, q, 2)))
    if any(True for _ in framework.comparisons()):
        loss = tf.exact_loss(framework, case.query, DiscreteLaplace(Fraction(2), case.unit))
        assert loss.loss == pytest.approx(max(losses), rel=1e-12, abs=1e-14)


@settings(max_examples=40)
@given(cases(most=3), cases(most=1), budgets)
def test_another_user_never_asks_for_more_noise(case: Case, other: Case, epsilon: Fraction) -> None:
    more = Case(case.laws + other.laws, case.presences + other.presences, case.mode, case.weights + other.weights)
    for secret in (tf.presence(0), tf.entry(0, *case.states(0)[:2]) if len(case.states(0)) > 1 else tf.presence(0)):
        for name in ("wasserstein", "laplace-exact"):
            before = exact_scale(case.belief, secret, case.query, epsilon, name)
            after = exact_scale(more.belief, secret, more.query, epsilon, name)
            assert after <= before * (1 + 1e-9)


@pytest.mark.mutants
def test_a_million_users_in_three_groups_are_cheap() -> None:
    groups = [(600_000, COIN), (300_000, {0: 0.9, 1: 0.1}), (100_000, {0: 0.2, 1: 0.3, 2: 0.5})]
    users = IndependentUsers.groups(groups)
    framework = tf.Pufferfish([tf.presence(), tf.every_entry()], users)
    for name in ("group-dp", "wasserstein", "laplace-exact"):
        assert tf.calibrate(framework, tf.Sum(), 1, mechanism=name).scale == 2
    only = tf.Pufferfish(tf.presence(999_999), users)
    assert 0 < tf.calibrate(only, tf.Sum(), 1, mechanism="laplace-exact", allow_zero_noise=True).scale < 2


def test_laws_that_take_too_much_work_stand_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    users = IndependentUsers([TRIPLE] * 6)
    full = exact_scale(users, tf.entry(0, 1, ABSENT), tf.Sum())
    monkeypatch.setattr(user_laws, "MOST_WORK", 0.0)
    again = IndependentUsers([TRIPLE] * 6)
    family = next(UsersLaw(again, tf.Sum().resolve(again), tf.presence().family(again)).families())
    assert not family.whole
    assert dict(family.hulls[3][0].items()) == TRIPLE
    alone = exact_scale(again, tf.entry(0, 1, ABSENT), tf.Sum())
    assert alone > full
    framework = tf.Pufferfish(tf.entry(0, 1, ABSENT), again)
    assert tf.exact_loss(framework, tf.Sum(), DiscreteLaplace(Fraction(alone), Fraction(1))).upper <= 1


@pytest.mark.parametrize("exact", [True, False])
def test_sums_of_all_but_one(exact: bool) -> None:
    rng = np.random.default_rng(7)
    laws = [Pmf.from_counts([0, 1, 3], rng.integers(1, 9, 3)) for _ in range(7)]
    counts = [1, 3, 1, 2, 1, 1, 5]
    sums: Any
    if exact:
        sums = Sums(laws, counts, Pmf([0], [1]))
    else:
        sums = Sums([Weights.of(law, 1) for law in laws], counts, NOTHING)
    for number in (*range(7), 3, 0, 6):
        expected = Pmf([0], [1])
        for other, count in enumerate(counts):
            for _ in range(count - (other == number)):
                expected = expected.convolve(laws[other])
        others = sums.without(number)
        if exact:
            assert others == expected
        else:
            numbers = others.numbers.floats(0)[expected.values - others.start]
            assert np.abs(numbers / expected.probabilities - 1).max() <= others.error <= 1e-13


def test_few_users_far_apart_have_exact_laws() -> None:
    laws = [{0: Fraction(1, 2), 10**7: Fraction(1, 4), 3 * 10**7 + 1: Fraction(1, 4)}] * 3
    users = IndependentUsers(laws)
    family = next(UsersLaw(users, tf.Sum().resolve(users), tf.presence().family(users)).families())
    shares = [{v: v for v in law} for law in laws]
    for value, state in enumerate((0, 10**7, 3 * 10**7 + 1, ABSENT)):
        law = family.hulls[value][0]
        assert dict(law.items()) == answer_law(laws, [1] * 3, "unknown", shares, 0, state)
    alone = exact_scale(IndependentUsers(laws[:1]), tf.entry(0, 10**7, ABSENT), tf.Sum(), "1/2")
    assert exact_scale(users, tf.entry(0, 10**7, ABSENT), tf.Sum(), "1/2") < alone


def test_tails_far_below_float64_keep_their_accuracy() -> None:
    chance = Fraction(1, 2**40)
    users = IndependentUsers([{0: float(1 - chance), 1: float(chance)}] * 60)
    family = next(UsersLaw(users, tf.Count(1).resolve(users), tf.presence().family(users)).families())
    law = family.hulls[1][0]
    top = dict(law.items())[60]
    assert isinstance(top, Fraction)
    assert math.log(top.numerator) - math.log(top.denominator) == pytest.approx(-59 * 40 * math.log(2), rel=1e-9)


def test_refinement_is_part_of_the_predicted_work() -> None:
    users = IndependentUsers([{0: 0.4, 1: 0.2, 2: 0.4}] * 50 + [{0: 0.3, 1: 0.3, 2: 0.4}] * 50)
    framework = tf.Pufferfish(tf.presence(), users)
    part = Problem(framework, tf.Sum(), Fraction(1)).law_parts[0]
    shifts = Problem(tf.Pufferfish(tf.every_entry(), users), tf.Sum(), Fraction(1)).law_parts[0]
    assert part.family.entries == (0, 50)
    assert UsersLaw(users, part.answer, part.family).work(laplace=True)[0] > 1e4
    assert UsersLaw(users, shifts.answer, shifts.family).work(laplace=True)[0] < 1e4


def test_the_error_of_a_sum_is_that_of_both_and_of_its_roundings() -> None:
    few, many = Wide.of(np.full(2, 0.5)), Wide.of(np.full(5, 0.2))
    exact = Weights(1, few, 0.0).convolve(Weights(2, many, 0.0))
    assert (exact.start, len(exact)) == (3, 6)
    assert 8 * UNIT <= exact.error <= 8.1 * UNIT  # twice the fewer weights, and 4
    assert Weights(0, few, 0.1).convolve(Weights(0, many, 0.2)).error == pytest.approx(0.32)


@pytest.mark.slow
def test_ten_thousand_different_users() -> None:
    rng = np.random.default_rng(11)
    users = IndependentUsers([{0: 1 - p, 1: p} for p in rng.uniform(0.02, 0.98, 10_000).tolist()])
    framework = tf.Pufferfish([tf.presence(), tf.every_entry()], users)
    assert tf.calibrate(framework, tf.Count(1), 1, mechanism="laplace-exact").scale == 1
    answer = tf.Count(1).resolve(users)
    one = [next(UsersLaw(users, answer, Family((user,), presence=True)).families()) for user in (0, 1, 9_999)]
    for family in one:
        zero, shifted = family.hulls[0][0], family.hulls[1][0]
        assert len(zero) == 10_000
        assert (shifted.values - zero.values == 1).all()
        assert family.relative_error < 1e-10
