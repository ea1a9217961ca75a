"""Small examples with their numbers: what each function says of two coins, a pair, three states."""

import math
from fractions import Fraction

import numpy as np
import pytest

import takifugu as tf
from takifugu.influence.chains.class_chains import class_loss, sides_of_region
from takifugu.influence.chains.kernels import jumps
from takifugu.influence.chains.settled import decimal_above
from takifugu.influence.chains.two_states import log_ratio, step
from takifugu.influence.curves import is_least
from takifugu.influence.networks.conditionals import moral_graph, taken_from_neighbours
from takifugu.influence.networks.junction import Messages, junction_tree
from takifugu.influence.networks.networks import network_loss, reached
from takifugu.influence.networks.tables import clique_losses, exchangeable_loss, supremum_of_number, table_losses
from takifugu.influence.networks.trees import losses_on_tree
from takifugu.influence.profiles.levels import Levels
from takifugu.influence.profiles.normal import NormalRelease, covering_multiple, log_share, normal_profile
from takifugu.influence.profiles.patience import Patience
from takifugu.influence.profiles.profile import Profile
from takifugu.influence.profiles.rays import bipartite_trees, extreme_rays, star_rays
from takifugu.influence.profiles.sparse import SparsePrograms
from takifugu.influence.profiles.suprema import star_suprema, suprema
from takifugu.influence.quilts.mqm_approx import Constants, lemma_b4, reversible_constants
from takifugu.influence.quilts.network.influence import influences
from takifugu.influence.quilts.scores import settle
from takifugu.influence.quilts.sequences import RunningChange, quilt_words
from takifugu.model.beliefs.contacts import Clique
from takifugu.model.secrets.families import Family
from takifugu.numbers.distributions.pmf import Pmf

WALK = np.array([[0.9, 0.1], [0.4, 0.6]])
ONE = np.array([[0.0, 1.0], [1.0, 0.0]])
PAIR = tf.BayesianNetwork([("x", [0, 1], [], [0.8, 0.2]), ("y", [0, 1], ["x"], WALK.tolist())])
#: What each value of the walk loses to the other through one step, at rho 1.
THROUGH_A_STEP = (0.411565, 0.549948)


def test_a_step_of_two_states_by_every_supremum() -> None:
    low, high = THROUGH_A_STEP
    for between in (suprema(WALK, ONE), star_suprema(WALK, ONE), Levels(WALK).bound(1.0)):
        assert between.round(6).tolist() == [[0.0, low], [high, 0.0]]
    assert step(((0.9, 0.1), (0.4, 0.6)), 0.0, 1.0, 1.0) == pytest.approx((high, low), abs=1e-6)
    assert log_ratio(0.6, 0.4, 0.1, 0.9, 1.0) == pytest.approx(high, abs=1e-6)


def test_a_pair_by_every_tree() -> None:
    loss = 1 + THROUGH_A_STEP[1]
    assert network_loss(PAIR, Profile.of(ONE, 2), Family(range(2))).epsilon == pytest.approx(loss, abs=1e-6)
    messages = Messages.of(junction_tree(PAIR), [ONE, ONE])
    for entry, on_tree in enumerate(losses_on_tree(PAIR, [ONE, ONE])):
        assert on_tree[1, 0] == pytest.approx(loss, abs=1e-6)
        assert messages.loss(entry)[1, 0] == pytest.approx(loss, abs=1e-6)


def test_households_and_tables() -> None:
    expected = [[0.0, 1.377195], [1.445124, 0.0]]
    masses = [0.5, 0.1, 0.1, 0.1, 0.2]
    assert exchangeable_loss(masses, 0.5, 0.5).round(6).tolist() == expected
    household = Clique(4, Pmf(range(5), masses))
    assert clique_losses(household, Profile.of(ONE / 2, 4), 2).round(6).tolist() == expected
    assert supremum_of_number(np.array([0.0, 1.0]), np.array([1.0, 0.0]), 0.25) == pytest.approx(0.25)
    twins = tf.JointTable([(0, 0), (0, 1), (1, 0), (1, 1)], [0.4, 0.1, 0.1, 0.4])
    assert table_losses(twins, Profile.of(ONE, 2), 0).round(6).tolist() == [[0.0, 1.569445], [1.569445, 0.0]]


def test_classes_of_chains() -> None:
    region = tf.IntervalMarkovChain([[0.7, 0.2], [0.3, 0.6]], [[0.8, 0.3], [0.4, 0.7]], length=100)
    losses = [float(side.after(np.array([1.0]))[0, 0, 1]) for side in sides_of_region(region)]
    assert losses == pytest.approx([0.449105, 0.499061], abs=1e-6)
    count = Profile.of(ONE / 10, 100)
    loss = class_loss(tf.ReversibleChains(0.2, 0.5, 100), count, Family(range(100))).epsilon
    assert loss == pytest.approx(0.9619, abs=1e-4)


def test_rays_and_trees() -> None:
    ratio = np.log([[1.0, 2.0], [4.0, 1.0]])
    assert extreme_rays(ratio).round(6).tolist() == [[1.0, 0.25], [0.5, 1.0]]
    assert star_rays(ratio).round(6).tolist() == [[0.25, 1.0, 1.0, 0.25], [1.0, 0.5, 0.5, 1.0]]
    assert [len(bipartite_trees(states)[0]) for states in (2, 3, 4, 5)] == [2, 6, 32, 250]
    apart = np.abs(np.subtract.outer(range(4), range(4))) / 2
    rows = np.array([[0.4, 0.1, 0.1, 0.4], [0.25, 0.25, 0.25, 0.25]])
    assert SparsePrograms().bound(rows, apart, np.array([[0, 1]]))[0] == pytest.approx([0.137107289])


def test_normal_noise() -> None:
    answer = tf.Count(1).resolve(tf.MarkovChain(WALK.tolist(), 100))
    first, share = NormalRelease(answer, Fraction(14)), log_share(Fraction(1), Fraction(1, 10**6))
    assert share == pytest.approx(-14.356835)
    assert normal_profile([first], share).largest(0) == pytest.approx(0.3024, abs=1e-4)
    assert covering_multiple([first], NormalRelease(answer, Fraction(7))) == pytest.approx(4.0)
    pure = Profile.of(ONE / 14, 100)
    multiples = [covering_multiple([first] * times, pure) for times in (1, 2)]
    assert multiples == pytest.approx([1.571, 0.785], abs=1e-3)


def test_graphs() -> None:
    half = [[[0.5, 0.5], [0.1, 0.9]], [[0.2, 0.8], [0.4, 0.6]]]
    net = tf.BayesianNetwork([
        ("x", [0, 1], [], [0.5, 0.5]), ("y", [0, 1], [], [0.8, 0.2]), ("z", [0, 1], ["x", "y"], half),
    ])  # fmt: skip
    assert moral_graph(net, [0, 1]) == {0: set(), 1: set()}
    assert moral_graph(net, [2]) == {0: {1, 2}, 1: {0, 2}, 2: {0, 1}}
    assert reached({0: {1}, 1: {0, 2}, 2: {1}, 3: set()}, 1) == [1, 0, 2]
    assert taken_from_neighbours(np.array([[3, -1], [-1, -1]])).tolist() == [[3, 3], [3, 3]]


def test_quilts() -> None:
    assert quilt_words(9, 13, 100) == "quilt: steps 8 and 13; near set: steps 9 to 12"
    assert RunningChange(np.array([1, 0, 2])).between(np.array([0, 1]), 3).tolist() == [3.0, 2.0]
    assert lemma_b4(np.array([1, 3]), 0.4, 0.8).round(6).tolist() == [1e100, 0.461616]
    constants = reversible_constants(tf.MarkovChain(WALK.tolist(), 10))
    assert isinstance(constants, Constants)
    assert (constants.pi, constants.g) == pytest.approx((0.2, 0.5))
    net = tf.BayesianNetwork([("x", [0, 1], [], [0.5, 0.5]), ("y", [0, 1], ["x"], [[0.8, 0.2], [0.2, 0.8]])])
    assert influences(net, 0, [1])[0, 1] == pytest.approx(math.log(4))


def test_the_worst_entry_is_settled_by_what_others_found() -> None:
    values = np.array([1.0, 5.0, 2.0])
    bound, ties = settle(values > 0, "", 9.0, lambda i: (str(i), values[i]), lambda found, entries: values[entries] + 1)
    assert (bound, [(found, entries.tolist()) for found, entries in ties]) == (5.0, [("1", [1])])


def test_how_far_and_how_close() -> None:
    assert jumps(20).tolist() == list(range(1, 21))
    patience = Patience(1e-9, 512, 1e-7)
    assert (patience.enough(511), patience.enough(512)) == (1e-9, 1e-7)
    numbers = [decimal_above(Fraction(number)) for number in ("3/2", "2/3", "0")]
    assert numbers == ["1.5", "0.666666666666666666666667", "0"]
    attained = [is_least(tf.MarkovChain(WALK.tolist(), 100, start)) for start in ("stationary", "any")]
    assert attained == [True, False]
