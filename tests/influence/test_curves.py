"""Curves of every kind of belief: the mechanism never needs more than quilts or group-dp, and its cost is predicted."""

import math
from fractions import Fraction

import numpy as np
import pytest
from tests.support.network_oracles import random_network
from tests.support.tree_networks import spec_of, tree

import takifugu as tf
from takifugu.analysis.problem import Problem
from takifugu.analysis.questions.influence import Release
from takifugu.core.errors import Unsupported
from takifugu.influence import curves
from takifugu.influence.curves import (
    in_steps,
    influence_losses,
    joint_loss,
    of_all_values,
    profile_loss,
    profile_of,
)
from takifugu.influence.profiles.profile import Profile
from takifugu.influence.stretched import stretched_loss
from takifugu.mechanisms.influence import MECHANISM
from takifugu.numbers.runs import Runs


def needed(belief, query, epsilon=1, secrets=None):
    """The scale of each mechanism that has one."""
    framework = tf.Pufferfish(secrets or tf.every_entry(), belief)
    scales = {}
    for name in ("influence", "quilt-exact", "quilt-approx", "group-dp"):
        try:
            scales[name] = tf.calibrate(framework, query, epsilon, mechanism=name, allow_zero_noise=True).scale
        except tf.TakifuguError:
            continue
    return scales


def assert_least(scales):
    assert scales["influence"] <= min(scales.values()) * (1 + Fraction(1, 10**9))


def weights_of(rng, network):
    """A query that reads some values of some variables."""
    values = sorted({state for node in network.nodes for state in node.states}, key=str)
    some = rng.choice(len(values), int(rng.integers(1, len(values))), replace=False)
    return tf.Count([values[place] for place in some])


@pytest.mark.mutants
@pytest.mark.parametrize("seed", range(20))
def test_networks_never_need_more_than_quilts_or_group(seed):
    rng = np.random.default_rng(seed)
    spec = random_network(rng, int(rng.integers(2, 8)), 3, zeros=seed % 3 == 0)
    network = tf.BayesianNetwork(spec)
    assert_least(needed(network, weights_of(rng, network), float(rng.choice([0.5, 1, 3]))))


@pytest.mark.sampled(9)
@pytest.mark.parametrize("seed", range(8))
def test_trees_never_need_more_than_quilts_or_group(seed):
    rng = np.random.default_rng(seed)
    network = tf.BayesianNetwork(spec_of(tree(rng, 12), rng, zeros=seed % 2 == 1, most_states=2 + seed % 3))
    assert_least(needed(network, weights_of(rng, network)))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(8))
def test_households_never_need_more_than_group(seed):
    rng = np.random.default_rng(seed)
    outside, inside = rng.uniform(0.02, 0.6, 2).tolist()
    households = [[(n, person) for person in range(size)] for n, size in enumerate(rng.integers(1, 6, 4).tolist())]
    belief = tf.CliqueInfection(households, lambda m: tf.household_infection(m, outside=outside, inside=inside))
    scales = needed(belief, tf.Count(1))
    assert_least(scales)
    if max(map(len, households)) > 1:
        assert scales["influence"] < scales["group-dp"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(6))
def test_tables_never_need_more_than_group(seed):
    rng = np.random.default_rng(seed)
    cells = list(np.ndindex(2, 3, 2))
    masses = rng.dirichlet(np.full(12, 0.5)) * (rng.random(12) < 0.8)
    table = tf.JointTable([tuple(map(int, cell)) for cell in cells], (masses / masses.sum()).tolist())
    assert_least(needed(table, tf.Count(1)))


def test_what_a_network_needs_keeps_epsilon_as_the_ledger_counts_it():
    rng = np.random.default_rng(3)
    network = tf.BayesianNetwork(random_network(rng, 6, 3))
    framework = tf.Pufferfish(tf.every_entry(), network)
    calibration = tf.calibrate(framework, tf.Count(1), 1, mechanism="influence")
    assert tf.compose([calibration]).epsilon <= 1 + Fraction(1, 10**9)
    two = tf.compose([calibration, calibration]).epsilon
    part = Problem(framework, tf.Count(1), Fraction(1)).parts[0]
    twice = [Release(part.answer.entry_changes(), calibration.scale, part.answer)] * 2
    assert float(two) == pytest.approx(joint_loss(part, twice)[0], rel=1e-9)


def test_a_network_that_is_too_wide_says_so():
    causes = [(f"n{i}", [0, 1], [], [0.5, 0.5]) for i in range(16)]
    rows = np.random.default_rng(7).dirichlet([1, 1], size=(2,) * 16)
    network = tf.BayesianNetwork([*causes, ("effect", [0, 1], [f"n{i}" for i in range(16)], rows)])
    part = Problem(tf.Pufferfish(tf.every_entry("n3"), network), tf.Count(1), Fraction(1)).parts[0]
    loss, witness = influence_losses(part, [[Release(part.answer.entry_changes(), Fraction(10), part.answer)]])[0]
    assert loss == pytest.approx(1.7)
    assert "charged in full" in witness.detail


def test_a_wide_network_is_never_waited_for():
    rng = np.random.default_rng(1)
    spec = []
    for n in range(70):
        above = [f"n{p}" for p in rng.choice(n, min(n, 4), replace=False)]
        spec.append((f"n{n}", [0, 1, 2], above, rng.dirichlet([1, 1, 1], size=(3,) * len(above))))
    framework = tf.Pufferfish(tf.every_entry("n5"), tf.BayesianNetwork(spec))
    assert MECHANISM.cost(Problem(framework, tf.Count(1), Fraction(1))).seconds < 20


def test_entries_that_an_answer_does_not_read_move_nothing_whatever_values_they_take():
    table = tf.JointTable([(0, 0), (0, 1), (1, 1), (1, 2)], [0.5, 0.125, 0.125, 0.25], names=["hidden", "shown"])
    rain = ("rain", ["no", "drizzle", "yes"], [], [0.5, 0.2, 0.3])
    network = tf.BayesianNetwork([rain, ("wet", [0, 1], ["rain"], [[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]])])
    assert_least(needed(table, tf.Sum("shown"), secrets=tf.every_entry("hidden")))
    assert_least(needed(network, tf.Count(1, entries=("wet",)), secrets=tf.every_entry("rain")))


def test_what_the_belief_alone_hides_is_not_published_with_next_to_no_noise():
    near = tf.JointTable([(a, b) for a in (0, 1) for b in (0, 1)], [0.25, 0.25, 0.2, 0.3], names=["hidden", "shown"])
    framework = tf.Pufferfish(tf.every_entry("hidden"), near)
    raised = tf.calibrate(framework, tf.Sum("shown"), 2, mechanism="influence")
    assert raised.witness.detail == "the belief alone asks for next to no noise"
    assert tf.calibrate(framework, tf.Sum("shown"), 2).scale == raised.scale == pytest.approx(0.381231, abs=1e-6)
    raised = tf.calibrate(framework, tf.Sum("shown"), Fraction(1, 10), mechanism="influence")
    assert (raised.witness.detail[:36], raised.scale > 5) == ("the belief alone asks for a scale of", True)
    allowed = tf.calibrate(framework, tf.Sum("shown"), Fraction(1, 10), mechanism="influence", allow_zero_noise=True)
    assert allowed.scale > 0.9


def test_a_step_of_a_recording_with_an_unknown_start_may_have_a_value_that_no_step_enters() -> None:
    """A free window before others does not forbid it: the recording may start anew behind it."""
    rows = [[0.5, 0.5, 0, 0], [0.5, 0.5, 0, 0], [0.01, 0.99, 0, 0], [0.5, 0.49, 0.01, 0]]
    alone = stretched_loss(tf.MarkovChain(rows, 2, "any"), None, Runs.alike(1, 2), Fraction(1), False)
    costs = Runs.of(np.array([0, 0, 0, 0, 1, 1]))
    behind = stretched_loss(tf.MarkovChain(rows, 6, "any"), None, costs, Fraction(1), True)
    assert alone is not None
    assert behind is not None
    assert behind[0] >= alone[0] == pytest.approx(2.0)


def test_an_answer_that_reads_some_entries_is_charged_for_these_whatever_their_number_of_values():
    """A table of one row stands for all values of an entry that is not read; two rows are two values."""
    table = tf.JointTable([(0, 0, 0), (1, 1, 1), (1, 0, 2)], [0.5, 0.25, 0.25])
    two, three = 0.5 * (1 - np.eye(2)), 0.25 * (1 - np.eye(3))
    profile = of_all_values(table, Profile.by_entry([two, np.zeros((1, 1)), three]))
    assert [profile.at(entry).tolist() for entry in range(3)] == [two.tolist(), [[0, 0], [0, 0]], three.tolist()]
    pairs = tf.JointTable([(0, 0), (0, 1), (1, 1)], [0.5, 0.25, 0.25])
    first = of_all_values(pairs, Profile.by_entry([two, np.zeros((1, 1))]))
    assert [first.at(entry).tolist() for entry in range(2)] == [two.tolist(), [[0, 0], [0, 0]]]


def test_a_release_without_noise_costs_infinitely_much_beside_others():
    chain = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 5)
    part = Problem(tf.Pufferfish(tf.every_entry(), chain), tf.Count(1), Fraction(1)).parts[0]
    changes = part.answer.entry_changes()
    noisy, bare = (Release(changes, Fraction(scale), part.answer) for scale in (3, 0))
    idle = Release(0 * changes, Fraction(0), None)
    assert influence_losses(part, [[noisy, bare]])[0] is None
    assert influence_losses(part, [[bare]])[0] is None
    assert joint_loss(part, [noisy, bare])[0] == np.inf
    assert influence_losses(part, [[noisy, idle]])[0][0] == influence_losses(part, [[noisy]])[0][0]
    assert influence_losses(part, [[idle]])[0] is None


def test_what_no_curve_bounds_is_unsupported(monkeypatch):
    def refuse(*_):
        raise Unsupported("no quilts")

    chain = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 5, "any")
    part = Problem(tf.Pufferfish(tf.every_entry(), chain), tf.Count(1), Fraction(1)).parts[0]
    release = Release(part.answer.entry_changes(), Fraction(3), part.answer)
    profile = profile_of(part.belief, release)
    by_influence = joint_loss(part, [release])
    monkeypatch.setattr(curves, "joint_cost", refuse)
    assert joint_loss(part, [release]) == profile_loss(part, profile) == by_influence
    monkeypatch.setattr(curves, "along_curve", lambda *_: None)
    for ask in (lambda: joint_loss(part, [release]), lambda: profile_loss(part, profile)):
        with pytest.raises(Unsupported, match="no quilts"):
            ask()
    monkeypatch.setattr(curves, "joint_cost", lambda *_: (0.5, None))
    assert profile_loss(part, profile) == joint_loss(part, [release]) == (0.5, None)


@pytest.mark.parametrize("size", [1, 3, 10**6, 2**40])
def test_the_steps_of_a_profile_are_never_below_it(size):
    tables = [largest * (1 - np.eye(2)) for largest in (0.3, 0.0, 0.1, 1e-7)]
    lengths = np.array([1, 1, size, 2])
    for scale in (1.0, 1e-9, 700.0):
        profile = Profile(tuple(scale * table for table in tables), lengths, np.array([0, 1, 2, 3]))
        if size > 10**6:
            profile = Profile(profile.tables[:1], np.array([1]), np.array([0]))
        changes, unit = in_steps(profile)
        losses = [Fraction(profile.largest(entry)) for entry in range(min(profile.size, 9))]
        for change, loss in zip(changes.tolist(), losses, strict=False):
            assert loss <= change / unit <= loss + 1 / unit
        assert int(changes.sum()) < 2**62
        assert 1 / unit <= Fraction(scale) / 2**36


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", ["influence", "influence-gaussian"])
@pytest.mark.parametrize("heavy", [1, 1000])
def test_noise_never_rises_with_epsilon_however_far_other_values_move_the_answer(name, heavy):
    chain = tf.Pufferfish(tf.entry(0, 0, 1), tf.MarkovChain([[0.55, 0.45], [0.45, 0.55]], 2))
    delta, scales = (0 if name == "influence" else "1e-6"), []
    for epsilon in (1, 4, 39, 45, 1000):
        scales.append(float(tf.calibrate(chain, tf.Linear([1, heavy]), epsilon, delta, mechanism=name).scale))
        if not delta:  # the one value that is read again, and the odds of the other: 11 to 9 at most
            assert scales[-1] <= (1 + 1e-9) / (epsilon - math.log(11 / 9))
    assert scales == sorted(scales, reverse=True)
    assert tf.calibrate(chain, tf.Linear([1, heavy]), 45).mechanism == "influence"
