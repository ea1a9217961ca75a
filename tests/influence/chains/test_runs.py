"""Runs of steps (Theorem 18): against linear programs over all mechanisms, listing, and single steps."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from tests.support import influence_oracle as oracle
from tests.support.run_oracles import noise_loss, response_loss, worst_of_runs

import takifugu as tf
from takifugu.analysis.problem import Problem
from takifugu.analysis.questions.influence import Release
from takifugu.influence.chains import runs
from takifugu.influence.chains.chains import chain_loss
from takifugu.influence.curves import CURVES, influence_losses
from takifugu.influence.profiles.profile import Profile
from takifugu.model.secrets.families import Family

STAY = [[0.9, 0.1], [0.4, 0.6]]
STARTS = ("stationary", "any", "given")


def random_rows(rng, states):
    rows = rng.dirichlet(np.full(states, rng.choice([0.3, 1, 3])), size=states)
    if rng.random() < 0.5:
        rows = np.where(rng.random((states, states)) < 0.35, 0.0, rows) + 0.1 * np.roll(np.eye(states), 1, axis=1)
    return rows / rows.sum(axis=1, keepdims=True)


def random_case(seed):
    """A chain, perhaps of a period, with its laws of whole sequences, a profile, and the length of the runs."""
    rng = np.random.default_rng(seed)
    states = int(rng.choice([2, 2, 3]))
    length = int(rng.integers(2, 6 if states == 2 else 5))
    matrices = [random_rows(rng, states) for _ in range(int(rng.choice([1, 1, 2])))]
    kind = STARTS[seed % 3]
    first = rng.dirichlet(np.ones(states)) * (rng.random(states) < 0.7)
    first = np.eye(states)[0] if not first.sum() else first / first.sum()
    chain = tf.PeriodicChain(matrices, length, initial=tuple(first) if kind == "given" else kind)
    starts = [first]
    if kind == "stationary":
        starts = [chain.stationary_laws[0].floats()]
    elif kind == "any":
        starts = [*rng.dirichlet(np.full(states, 0.3), size=2)]
    steps = [matrices[t % len(matrices)] for t in range(length - 1)]
    tables = [oracle.closed(table) for table in oracle.random_tables(rng, states, length, 0.3)]
    return chain, [oracle.chain_law(start, steps) for start in starts], tables, int(rng.integers(2, 5))


def bound(chain, tables, run):
    return chain_loss(chain, Profile.by_entry(tables), Family(range(len(tables)), run=run)).epsilon


@pytest.mark.mutants
@pytest.mark.parametrize("seed", range(12))
def test_no_mechanism_of_the_profile_loses_more(seed):
    chain, laws, tables, run = random_case(seed)
    run = min(run, 3 if len(chain.states) == 2 else 2)  # every pair of paths is a program
    charged = bound(chain, tables, run)
    for law in laws:
        truth = worst_of_runs(law, tables, run)
        assert truth <= charged + 1e-7
        if len(chain.states) == 2 and not chain.starts_anyhow:
            assert truth == pytest.approx(charged, abs=1e-6)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(30))
def test_for_two_states_responses_attain_it(seed):
    rng = np.random.default_rng(seed)
    length, run = int(rng.integers(2, 8)), int(rng.integers(2, 5))
    matrix = random_rows(rng, 2)
    rates = rng.exponential(1.0, length) * (rng.random(length) < 0.8)
    chain = tf.MarkovChain(matrix, length)
    law = oracle.chain_law(chain.stationary, [matrix] * (length - 1))
    tables = [rate * (1 - np.eye(2)) for rate in rates]
    assert bound(chain, tables, run) == pytest.approx(response_loss(law, rates, run), rel=1e-10, abs=1e-10)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(20))
def test_several_releases_lose_no_more(seed):
    rng = np.random.default_rng(seed)
    states, length, run = int(rng.integers(2, 4)), int(rng.integers(3, 6)), int(rng.integers(2, 4))
    chain = tf.MarkovChain(random_rows(rng, states), length)
    law = oracle.chain_law(chain.stationary, [chain.matrix] * (length - 1))
    places, sums, scales, profiles = np.indices(law.shape), [], [], []
    for _ in range(2):
        weights, codes = rng.integers(0, 3, length), rng.integers(0, 3, states)
        sums.append(sum(weight * codes[place] for weight, place in zip(weights, places, strict=True)))
        scales.append(float(np.exp(rng.uniform(-0.5, 1.5))))
        profiles.append(np.array([weight * np.abs(codes[:, None] - codes) / scales[-1] for weight in weights]))
    assert noise_loss(law, sums, scales, run) <= bound(chain, list(sum(profiles)), run) + 1e-12


@pytest.mark.parametrize("seed", range(12))
def test_a_longer_run_loses_no_less_and_never_more_than_everything(seed):
    chain, _, tables, _ = random_case(seed)
    losses = [bound(chain, tables, run) for run in range(1, len(tables) + 3)]
    assert all(after >= before * (1 - 1e-12) for before, after in itertools.pairwise(losses))
    assert losses[-1] == losses[len(tables) - 1] <= sum(table.max() for table in tables) * (1 + 1e-12)


def test_a_run_of_one_step_is_a_single_step():
    chain = tf.MarkovChain(STAY, 60)
    one = tf.calibrate(tf.Pufferfish(tf.every_run(1), chain), tf.Count(1), 1)
    assert one.scale == tf.calibrate(tf.Pufferfish(tf.every_entry(), chain), tf.Count(1), 1).scale


@pytest.mark.mutants
def test_long_recordings_are_looked_at_where_they_repeat():
    rng = np.random.default_rng(3)
    chain = tf.PeriodicChain([random_rows(rng, 3), random_rows(rng, 3)], 300, [0, 0, 1])
    tables = [0.3 * (1 - np.eye(3))] * 140 + [0.7 * (1 - np.eye(3))] * 2 + [0.3 * (1 - np.eye(3))] * 158
    together = Profile((tables[0], tables[140]), np.array([140, 2, 158]), np.array([0, 1, 0]))
    for run in (2, 5, 40, 299, 300, 500):
        family = Family(range(300), run=run)
        alike = chain_loss(chain, together, family)
        one_by_one = chain_loss(chain, Profile(tuple(tables), np.ones(300, int), np.arange(300)), family)
        assert alike.epsilon == pytest.approx(one_by_one.epsilon, rel=1e-9)


def test_courses_that_cannot_be_are_no_secret():
    swap = tf.MarkovChain([[0.0, 1.0], [1.0, 0.0]], 6)  # two sequences, each the other's opposite
    chain = tf.MarkovChain([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]], 6)
    table = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    assert bound(swap, [0.5 * (1 - np.eye(2))] * 6, 3) == pytest.approx(3.0)
    assert bound(chain, [table] * 3, 3) == pytest.approx(2.0)  # of three steps only two can differ in this
    free = tf.IntervalMarkovChain(np.zeros((3, 3)), np.ones((3, 3)), 3)
    loss = CURVES.of(free).loss(free, Profile.by_entry([table] * 3), Family(range(3), run=3))
    assert loss.epsilon == pytest.approx(3.0)


def test_a_class_allows_what_its_worst_chain_does_not():
    stays_for_ever = tf.BinaryChains(0.0, 4)
    charged = CURVES.of(stays_for_ever).loss(
        stays_for_ever, Profile.by_entry([(1 - np.eye(2)) * (t % 3 == 0) for t in range(4)]), Family(range(4), run=2)
    )
    assert charged.epsilon == pytest.approx(2.0)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(8))
def test_classes_cover_their_members(seed):
    rng = np.random.default_rng(seed)
    low, length, run = float(rng.uniform(0.05, 0.4)), int(rng.integers(3, 6)), int(rng.integers(2, 4))
    tables = [oracle.closed(table) for table in oracle.random_tables(rng, 2, length, 0.3)]
    profile, family = Profile.by_entry(tables), Family(range(length), run=run)
    stays = rng.uniform(low, 1 - low, 2)
    matrix = np.array([[stays[0], 1 - stays[0]], [1 - stays[1], stays[1]]])
    start = rng.dirichlet([0.5, 0.5])
    truth = response_loss(oracle.chain_law(start, [matrix] * (length - 1)), [t.max() for t in tables], run)
    box = tf.IntervalMarkovChain(np.full((2, 2), low), np.full((2, 2), 1 - low), length)
    gap = 1 - abs(stays.sum() - 1)
    mass = float(np.min([1 - stays[1], 1 - stays[0]]) / (2 - stays.sum()))
    for belief in (tf.BinaryChains(low, length), box, tf.ReversibleChains(mass * 0.999, gap * 0.999, length)):
        assert truth <= CURVES.of(belief).loss(belief, profile, family).epsilon + 1e-9


def test_what_the_worst_run_is_is_said():
    framework = tf.Pufferfish(tf.every_run(4), tf.MarkovChain(STAY, 100, states=["still", "walking"]))
    calibration = tf.calibrate(framework, tf.Count("walking"), 1)
    assert calibration.mechanism == "influence"
    assert calibration.witness.comparison == "steps 48 to 51 = 4 x 'walking' against steps 48 to 51 = 4 x 'still'"


def test_too_many_sums_are_given_up(monkeypatch):
    monkeypatch.setattr(runs, "MOST_SUMS", 10)
    chain = tf.MarkovChain(STAY, 100)
    problem = Problem(tf.Pufferfish(tf.every_run(4), chain), tf.Count(1), Fraction(1))
    (part,) = problem.parts
    release = Release(part.answer.entry_changes(), Fraction(5), part.answer)
    assert influence_losses(part, [[release]])[0] is None
    assert math.isclose(tf.calibrate(problem.framework, tf.Count(1), 1, mechanism="group-dp").scale, 100)
