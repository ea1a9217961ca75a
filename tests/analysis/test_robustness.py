"""Beliefs that are off: the theorem against the exact audit of the other belief, and examples that use all of it."""

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.support import robustness_oracles as oracle

import takifugu as tf
from takifugu.analysis.guarantee import Covers, Guarantee
from takifugu.analysis.randomisers import DiscreteLaplace, Exact, RoundedNormal
from takifugu.analysis.robustness import PRIORS, robust_guarantee, weakened
from takifugu.core.errors import InputError

ROWS = [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
NAMES = ["x1", "x2", "x3"]
SECRETS = [(column, value) for column in range(3) for value in (0, 1)]

masses = st.lists(st.integers(1, 12), min_size=8, max_size=8)
factors = st.lists(st.integers(60, 100), min_size=8, max_size=8)


def table(weights: list[int]) -> dict[tuple[int, ...], Fraction]:
    return {row: Fraction(w, sum(weights)) for row, w in zip(ROWS, weights, strict=True)}


def belief(law: dict[Any, Fraction], names: list[str] = NAMES) -> tf.JointTable:
    return tf.JointTable(list(law), list(law.values()), names)


def promise(epsilon: Fraction, delta: Fraction = Fraction(0), kind: str = "output") -> Guarantee:
    return Guarantee(epsilon, delta, Covers(kind), "pufferfish", "0", (), hides_facts=True)


@settings(max_examples=60, deadline=None)
@given(stated=st.lists(masses, min_size=1, max_size=2), off=factors, scale=st.fractions(Fraction(1, 4), Fraction(3)))
def test_a_pure_promise_grows_by_at_most_two_or_four_times_the_distance(
    stated: list[list[int]], off: list[int], scale: Fraction
) -> None:
    laws = [table(w) for w in stated]
    other = table([m * f for m, f in zip(stated[-1], off, strict=True)])
    framework = tf.Pufferfish(tf.every_entry(), [belief(law) for law in laws])
    noise, query = DiscreteLaplace(scale, Fraction(1)), tf.Count(1)
    epsilon = Fraction(tf.exact_loss(framework, query, noise).upper)
    loss = tf.exact_loss(tf.Pufferfish(tf.every_entry(), belief(other)), query, noise).lower
    near, whole = oracle.conditional_distance(laws, other, SECRETS), oracle.whole_distance(laws, other)
    assert near <= 2 * whole + 1e-12
    for now in (
        robust_guarantee(promise(epsilon), conditional=near),
        robust_guarantee(promise(epsilon), unconditional=whole),
    ):
        assert loss <= now.epsilon + 1e-9
        assert now.delta == 0


@settings(max_examples=30, deadline=None)
@given(stated=masses, off=factors, epsilon=st.fractions(Fraction(1, 20), Fraction(2)), normal=st.booleans())
def test_delta_grows_by_at_most_what_is_proved(
    stated: list[int], off: list[int], epsilon: Fraction, normal: bool
) -> None:
    law, other = table(stated), table([m * f for m, f in zip(stated, off, strict=True)])
    size = Fraction(1, 2)
    noise = RoundedNormal(size, Fraction(1)) if normal else DiscreteLaplace(size, Fraction(1))
    query, secrets = tf.Count(1), tf.every_entry()
    delta = tf.exact_delta(tf.Pufferfish(secrets, belief(law)), epsilon, query, noise).upper
    assume(delta < 1)
    near, whole = oracle.conditional_distance([law], other, SECRETS), oracle.whole_distance([law], other)
    for now in (
        robust_guarantee(promise(epsilon, Fraction(delta)), conditional=near),
        robust_guarantee(promise(epsilon, Fraction(delta)), unconditional=whole),
    ):
        audited = tf.exact_delta(tf.Pufferfish(secrets, belief(other)), now.epsilon, query, noise)
        assert audited.lower <= now.delta + Fraction(1, 10**9)


@settings(max_examples=30, deadline=None)
@given(first=masses, second=masses)
def test_whole_promises_hold_for_every_belief(first: list[int], second: list[int]) -> None:
    calibration = tf.calibrate(
        tf.Pufferfish(tf.every_entry(), belief(table(first))), tf.Count(1), epsilon=1, mechanism="group-dp"
    )
    assert calibration.guarantee.covers is Covers.EVERYTHING
    assert robust_guarantee(calibration.guarantee, unconditional=5) == calibration.guarantee
    other = tf.Pufferfish(tf.every_entry(), belief(table(second)))
    assert tf.exact_loss(other, tf.Count(1), calibration.randomiser).lower <= 1 + 1e-12


def two_secrets(given_a: dict[int, Fraction], given_b: dict[int, Fraction]) -> dict[tuple[int, int], Fraction]:
    """Return the table of (secret, published) with both secrets equally likely."""
    rows = {(0, y): mass / 2 for y, mass in given_a.items()} | {(1, y): mass / 2 for y, mass in given_b.items()}
    return {row: mass for row, mass in rows.items() if mass}


def published(law: dict[tuple[int, int], Fraction]) -> Any:
    return tf.Pufferfish(tf.attribute("secret", 0, 1), belief(law, ["secret", "published"]))


IDENTITY, NO_NOISE = tf.Identity("published"), Exact(Fraction(1))
BOTH = [(0, 0), (0, 1)]


def test_two_times_the_conditional_distance_is_attained() -> None:
    grow = Fraction(3, 2)  # e^Delta
    stated = two_secrets({1: Fraction(1, 5), 0: Fraction(4, 5)}, {1: Fraction(1, 10), 0: Fraction(9, 10)})
    other = two_secrets(
        {1: Fraction(1, 5) * grow, 0: 1 - Fraction(1, 5) * grow}, {1: Fraction(1, 10) / grow, 0: 1 - Fraction(1, 15)}
    )
    distance = oracle.conditional_distance([stated], other, BOTH)
    assert distance == pytest.approx(math.log(grow), abs=1e-15)
    epsilon = tf.exact_loss(published(stated), IDENTITY, NO_NOISE).loss
    loss = tf.exact_loss(published(other), IDENTITY, NO_NOISE).loss
    assert epsilon == pytest.approx(math.log(2), abs=1e-12)
    assert loss == pytest.approx(epsilon + 2 * distance, abs=1e-12)
    assert loss > epsilon + 1.99 * distance  # the mutant "epsilon + 1.99 Delta" fails


@pytest.mark.parametrize(("rare", "share"), [(Fraction(1, 10), 0.7), (Fraction(1, 10**4), 0.999)])
def test_four_times_the_overall_distance_is_approached(rare: Fraction, share: float) -> None:
    """Rare outputs: P(1, a) grows and P(a) shrinks by e^Delta, P(1, b) shrinks and P(b) grows."""
    grow = Fraction(3, 2)
    b = 1 / (1 + grow)  # P(a) = e^Delta P(b), so the masses still sum to 1
    stated = {(0, 1): 2 * rare * (1 - b), (0, 0): (1 - 2 * rare) * (1 - b), (1, 1): rare * b, (1, 0): (1 - rare) * b}
    first, second = stated[0, 1] * grow, stated[1, 1] / grow
    other = {(0, 1): first, (1, 1): second, (0, 0): stated[0, 0] / grow}
    other[1, 0] = 1 - sum(other.values())
    distance = oracle.whole_distance([stated], other)
    assert distance == pytest.approx(math.log(grow), rel=1e-2 if rare > Fraction(1, 100) else 1e-3)
    epsilon = tf.exact_loss(published(stated), IDENTITY, NO_NOISE).loss
    loss = tf.exact_loss(published(other), IDENTITY, NO_NOISE).loss
    assert epsilon + 4 * share * distance < loss < epsilon + 4 * distance


def test_delta_times_e_to_the_distance_is_attained() -> None:
    """Output 2 happens under a alone, output 1 is e^epsilon times likelier; all of it moves by e^Delta."""
    grow, delta = Fraction(3, 2), Fraction(1, 50)
    given_a = {1: Fraction(1, 5), 2: delta, 0: 1 - Fraction(1, 5) - delta}
    given_b = {1: Fraction(1, 10), 2: Fraction(0), 0: Fraction(9, 10)}
    stated = two_secrets(given_a, given_b)
    moved_a = {1: given_a[1] * grow, 2: delta * grow}
    moved_b = {1: given_b[1] / grow, 2: Fraction(0)}
    other = two_secrets({**moved_a, 0: 1 - sum(moved_a.values())}, {**moved_b, 0: 1 - sum(moved_b.values())})
    distance = oracle.conditional_distance([stated], other, BOTH)
    assert distance == pytest.approx(math.log(grow), abs=1e-15)
    assert oracle.hockey_stick(given_a, given_b, math.log(2)) == pytest.approx(float(delta), abs=1e-15)
    epsilon, weakened_delta = weakened(Fraction(math.log(2)), delta, Fraction(distance))
    audited = tf.exact_delta(published(other), epsilon, IDENTITY, NO_NOISE).loss
    assert audited == pytest.approx(float(delta * grow), rel=1e-9)
    assert weakened_delta == pytest.approx(audited, rel=1e-8)
    assert audited > 1.4 * delta  # the mutant "delta stays" fails


def test_a_large_delta_stays_below_one() -> None:
    """One output, under a alone, of probability 0.9: its complement may shrink by e^Delta, and no more."""
    grow, delta = Fraction(3, 2), Fraction(9, 10)
    moved = 1 - (1 - delta) / grow
    other = two_secrets({1: moved, 0: 1 - moved}, {1: Fraction(0), 0: Fraction(1)})
    weakened_delta = weakened(Fraction(1), delta, Fraction(math.log(grow)))[1]
    audited = tf.exact_delta(published(other), 1 + 2 * Fraction(math.log(grow)), IDENTITY, NO_NOISE).loss
    assert audited == pytest.approx(float(moved), rel=1e-9)
    assert weakened_delta == pytest.approx(audited, rel=1e-8)
    assert delta * grow > 1 > weakened_delta


@given(
    st.fractions(Fraction(1, 10**6), Fraction(9, 10)), st.fractions(0, 200), st.fractions(Fraction(1, 10), Fraction(9))
)
def test_delta_is_rounded_up_and_never_above_one(delta: Fraction, off: Fraction, epsilon: Fraction) -> None:
    now = weakened(epsilon, delta, off)
    exact = min(float(delta) * math.exp(min(off, 700)), 1 - math.exp(-off) * (1 - float(delta)))
    assert now[0] == epsilon + 2 * off
    assert exact * (1 - 1e-12) <= now[1] <= min(1.0, exact * (1 + 1e-8))


def test_a_distance_of_zero_changes_nothing_and_more_weakens_more() -> None:
    stated = promise(Fraction(1), Fraction(1, 1000))
    assert robust_guarantee(stated, conditional=0) == stated
    steps = [robust_guarantee(stated, conditional=d) for d in PRIORS]
    assert [(s.epsilon, s.delta) for s in steps] == sorted((s.epsilon, s.delta) for s in steps)
    doubled = robust_guarantee(stated, unconditional=0.25)
    assert (doubled.epsilon, doubled.delta) == (steps[-1].epsilon, steps[-1].delta)
    assert "off by at most 0.25" in doubled.conditions[-1]


@pytest.mark.parametrize(("distances", "words"), [
    ({}, "give one distance"),
    ({"conditional": 0.1, "unconditional": 0.1}, "give one distance"),
    ({"conditional": -0.1}, "must not be negative"),
    ({"unconditional": math.inf}, "the distance is inf"),
    ({"conditional": "near"}, "must be a finite number"),
])  # fmt: skip
def test_distances_are_checked(distances: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        robust_guarantee(promise(Fraction(1)), **distances)


def populations(*laws: tuple[str, str]) -> tf.FromPopulations:
    named = {f"p{number}": dict(zip(("0", "1/4"), law, strict=True)) for number, law in enumerate(laws)}
    return tf.FromPopulations(named, source="a test")


def test_a_distance_of_the_whole_data_says_nothing_of_a_hidden_law() -> None:
    """Two populations that are alike are published as they are; with other two the rows look the same overall."""
    stated = tf.Pufferfish(tf.population_membership(), populations(("1/2", "1/2"), ("1/2", "1/2")))
    made = tf.calibrate(stated, tf.LocalValue(), 1, mechanism="optimal", allow_zero_noise=True)
    other = populations(("3/4", "1/4"), ("1/4", "3/4"))  # half of each: 1/2, 1/2 as stated
    assert tf.exact_loss(tf.Pufferfish(tf.population_membership(), other), tf.LocalValue(), made.randomiser).loss > 1
    for unconditional in (0, 0.1):
        with pytest.raises(InputError, match="no fact about them"):
            robust_guarantee(made.guarantee, unconditional=unconditional)
    assert robust_guarantee(made.guarantee, conditional=0.1).epsilon == made.epsilon + Fraction(1, 5)
    weaker_promises = tf.compare(stated, tf.LocalValue(), 1).if_belief_off
    assert {row.epsilon_overall for row in weaker_promises} == {None}
    assert {row.cells[2] for row in weaker_promises} == {"-"}
    assert {row.to_dict()["epsilon_overall"] for row in weaker_promises} == {None}
    facts = tf.compare(tf.Pufferfish(tf.every_entry(), belief(table([1] * 8))), tf.Count(1), 1).if_belief_off
    for row in facts:
        overall = weakened(Fraction(1), Fraction(0), 2 * row.off_by)
        assert (row.epsilon_overall, row.delta_overall) == overall


def test_a_promise_per_unit_of_distance_is_not_weakened_per_unit() -> None:
    """At a quarter of a unit 2 Delta is 8 Delta for each unit."""
    stated = tf.Pufferfish(tf.population_membership("w-infinity"), populations(("1/2", "1/2"), ("2/5", "3/5")))
    made = tf.calibrate(stated, tf.LocalValue(), Fraction(1, 10), mechanism="exponential")
    with pytest.raises(InputError, match="epsilon d \\+ 2 Delta"):
        robust_guarantee(made.guarantee, conditional=0.1)
    assert not tf.compare(stated, tf.LocalValue(), 1).if_belief_off
