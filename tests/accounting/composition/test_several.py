"""Charges that differ in noise, place or query are added up: the sum costs what they cost one by one, in any order."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.support import ledger_histories as histories
from tests.support.chain_oracles import float_law
from tests.support.ledger_tools import chain_framework, charge, contributions_of, view, worst_joint_loss

import takifugu as tf
from takifugu.accounting.composition import Charge, charge_of, joint
from takifugu.accounting.composition.by_noise import cost_by_noise
from takifugu.accounting.composition.several import (
    BITS,
    LONGEST,
    Total,
    merged,
    placed,
    several,
    summed,
)
from takifugu.analysis.guarantee import Covers
from takifugu.influence.curves import FEW, added
from takifugu.influence.profiles.profile import Profile
from takifugu.model.frameworks import Framework

WHOLE, DATA, QUILT, SINGLE = Covers


def test_nothing_is_added_up_across_what_has_a_delta_or_is_alone() -> None:
    framework = chain_framework(8, 0.8)
    first, last = (charge(framework, tf.Count(n), 24, QUILT) for n in (0, 1))
    for between in (replace(first, delta=Fraction(1, 1000), covers=WHOLE, scale=None), replace(first, covers=SINGLE)):
        held = merged([first, last, first, between, last, first])
        assert [one.cost.times for one in held] == [2, 1, 1, 1, 1]
        assert held[2] == several(between)


@pytest.mark.parametrize("seed", range(20))
def test_lines_are_summed_as_charges_are_merged(seed: int) -> None:
    """Charge by charge as a reader would, equal ones one after the other, of any noise, place, kind and entries."""
    r, framework = np.random.default_rng(seed), chain_framework(6)
    made = [charge(framework, tf.Count(n % 2), int(b), QUILT) for n, b in enumerate(r.integers(1, 99, 6))]
    made += [replace(made[0], scale=None, covers=WHOLE), replace(made[1], covers=WHOLE)]
    made.append(replace(made[2], covers=SINGLE))
    lines = list[tuple[Charge, int | None, str]]()
    for one in r.integers(len(made), size=40 if seed % 2 else 12):
        place = int(r.integers(12))
        lines.append((made[one], place, "") if seed % 3 else (made[one], None, "ab"[place % 2]))
    one_by_one = [placed(*line) for line in lines]
    assert merged(summed(lines)) == summed(lines) == merged(one_by_one)
    assert [c.at for c in one_by_one] == [at for _, at, _ in lines]


@pytest.mark.parametrize("scales", [(None,), (None, 24), (24, 31), (24, 31, None, 24)])
def test_under_another_definition_a_sum_costs_what_its_releases_do(scales: tuple[int | None, ...]) -> None:
    """What is added up is charged there by its noise: each release of it, of whatever noise, and rounded up at most."""
    other, _ = histories.attribute("ill", 0.3, "wasserstein")
    assert other.definition == "attribute"
    one = charge(chain_framework(12), tf.Count(1), 24, WHOLE)
    made = [replace(one, scale=None if scale is None else Fraction(scale)) for scale in scales]
    for times in (1, 3):
        lines = [(each, None, "these") for each in made] * times
        total = joint(other, summed(lines), is_alone=False).epsilon
        assert total == joint(other, [placed(*line) for line in lines], is_alone=False).epsilon
        assert total == times * sum(Fraction(12) / (scale or 24) for scale in scales)
    long = [replace(one, scale=Fraction(24) + Fraction(1, 3**number)) for number in range(100, 140)]
    lines = [(each, None, "these") for each in long]
    total, exact = joint(other, summed(lines)).epsilon, sum(Fraction(12) / each.scale for each in long if each.scale)
    assert exact <= total <= exact + Fraction(12 * len(long), 2**BITS)


def test_sums_are_exact_while_their_denominator_is_short_and_never_below() -> None:
    chance = np.random.default_rng(5)
    terms = [Fraction(int(p), int(q)) for p, q in chance.integers(1, 10**15, size=(40, 2))]
    total = Total.of(Fraction(1, 3))
    for n, term in enumerate(terms):
        before, total = total, Total.of_all([total, Total.of(term)])
        exact = Fraction(1, 3) + sum(terms[: n + 1])
        assert exact <= total.value <= exact + Fraction(n + 2, 2**BITS)
        assert total.value > before.value
        assert total.denominator == 0 or total.value == exact
    assert total.denominator == 0
    again = Total.of(terms[-1])
    for term in reversed([Fraction(1, 3), *terms[:-1]]):
        again = Total.of_all([again, Total.of(term)])
    assert again == total
    tiny = Total.of(Fraction(1, LONGEST + 1))
    assert tiny.value == Fraction(1, 2**BITS)


FRAMEWORKS: list[Any] = [
    tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 30),
    tf.MarkovChain([[0.3, 0.7], [0.6, 0.4]], 12),
    tf.MarkovChain([[0.8, 0.1, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]], 9),
    tf.BinaryChains(0.2, 15),
    tf.PeriodicChain([[[0.9, 0.1], [0.2, 0.8]], [[0.5, 0.5], [0.4, 0.6]]], 10, [0, 1]),
    tf.IndependentPieces(tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 1), (4, 7)),
]


def releases(many: int) -> list[tuple[Framework, Fraction, Charge]]:
    chance, history = np.random.default_rng(21), []
    while len(history) < many:
        framework = tf.Pufferfish(tf.every_entry(), FRAMEWORKS[chance.integers(len(FRAMEWORKS))])
        epsilon = Fraction(int(chance.integers(1, 3000)), int(chance.integers(300, 1000)))
        query = (tf.Count(1), tf.Histogram(), tf.Mean())[chance.integers(3)]
        mechanism = ("influence", "quilt-exact", "group-dp")[chance.integers(3)]
        try:
            calibration = tf.calibrate(framework, query, epsilon=epsilon, mechanism=mechanism)
        except tf.TakifuguError:
            continue  # the mechanism is not for this belief
        history.append((framework, epsilon, charge_of(calibration)))
    return history


def fits(framework: Framework, epsilon: Fraction, released: Charge) -> bool:
    """Whether a release costs what was asked for, by the ledger's own search, too; and three of them more."""
    alone, thrice = (joint(framework, [released] * times).epsilon for times in (1, 3))
    return max(alone, cost_by_noise(view(framework), [released])) <= epsilon and alone < thrice


@pytest.mark.mutants
@pytest.mark.parametrize("many", [
    30, pytest.param(60, marks=pytest.mark.mutants), pytest.param(1000, marks=pytest.mark.slow),
])  # fmt: skip
def test_releases_at_epsilon_fit_a_budget_of_epsilon(many: int) -> None:
    assert all(fits(*release) for release in releases(many))


# Many different queries, about the same entries or any: they cost a sum, found in work that grows with how many.


@pytest.mark.parametrize("seed", range(4))
def test_the_sum_is_the_true_loss_of_two_values(seed: int) -> None:
    """By listing all data and all outputs that are atoms: one release of each query stands for all of its scales."""
    chance = np.random.default_rng(seed)
    framework = chain_framework(3, 0.7)
    law = float_law([[0.7, 0.3], [0.3, 0.7]], 3)
    counts = [tf.Count(1, entries=range(low, high)) for low, high in ((0, 1), (1, 2), (2, 3), (0, 2), (1, 3), (0, 3))]
    scales = [Fraction(int(n), 7) for n in chance.integers(20, 90, size=3 * len(counts))]
    charges = [charge(framework, counts[n % 6], b, QUILT) for n, b in enumerate(scales)]
    releases = []
    for number, count in enumerate(counts):
        rate = sum(1 / b for n, b in enumerate(scales) if n % 6 == number)
        releases.append((contributions_of(framework, count), 1 / rate))
    cost = joint(framework, charges).epsilon
    true = worst_joint_loss(law, releases, 3)
    assert true <= float(cost) <= true * (1 + 1e-9)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(6))
def test_many_profiles_in_halves_are_their_sum(seed: int) -> None:
    chance = np.random.default_rng(seed)
    size, states, many = 7, 3, int(chance.integers(1, 5 * FEW))
    profiles, exact = [], np.full((size, states, states), Fraction(0))
    for _ in range(many):
        weights = chance.integers(0, 5, size=(size, states))
        distances = np.abs(weights[:, :, None] - weights[:, None, :])
        scale = Fraction(int(chance.integers(1, 999)), 97)
        profiles.append(Profile.by_entry([table / float(scale) * (1 + 1e-15) for table in distances]))
        exact = exact + np.vectorize(Fraction)(distances.astype(object)) / scale
    total = added(profiles)
    for entry in range(size):
        for u, v in np.ndindex(states, states):
            true, listed = exact[entry, u, v], float(total.at(entry)[u, v])
            assert true <= Fraction(listed)
            assert listed <= float(true) * (1 + 1e-13)
