"""What would be wrong: half the noise, a ray too few, one number for all pairs; by programs and by enumeration."""

import numpy as np
import pytest
from tests.support import influence_oracle as oracle

import takifugu as tf
from takifugu.influence.chains.chains import chain_loss
from takifugu.influence.profiles import suprema as suprema_module
from takifugu.influence.profiles.levels import Levels
from takifugu.influence.profiles.profile import Profile
from takifugu.influence.profiles.suprema import suprema
from takifugu.model.secrets.families import Family

STAY = np.array([[0.9, 0.1], [0.4, 0.6]])


def true_loss(law, scale):
    """The largest loss of any entry from one noisy count of ones."""
    release = oracle.count(law.shape, [1], scale)
    return max(float(oracle.joint_losses(law, [release], entry).max()) for entry in range(law.ndim))


def cases():
    """A belief, and its joint law by enumeration."""
    chain = tf.MarkovChain(STAY, 6)
    yield "chain", chain, oracle.chain_law(chain.marginal(0), [STAY] * 5)
    start, table = [0.7, 0.3], [[0.8, 0.2], [0.4, 0.6]]
    above = [None, 0, 1, 2, 3, 3]
    nodes = [("n0", [0, 1], [], start), *((f"n{i}", [0, 1], [f"n{above[i]}"], table) for i in range(1, 6))]
    law = oracle.network_law([((), start) if p is None else ((p,), table) for p in above])
    yield "tree", tf.BayesianNetwork(nodes), law
    number = [0.5, 0.1, 0.1, 0.1, 0.2]
    yield "household", tf.CliqueInfection([list("abcd")], {4: number}), oracle.exchangeable_law(number)
    region = tf.ChainRegion(STAY, STAY, 6)
    yield "region of one chain", region, oracle.chain_law(np.array([0.02, 0.98]), [STAY] * 5)


@pytest.mark.parametrize(("belief", "law"), [case[1:] for case in cases()], ids=[case[0] for case in cases()])
@pytest.mark.parametrize("epsilon", [0.7, 2])
def test_the_scale_keeps_epsilon_and_half_of_it_does_not(belief, law, epsilon):
    framework = tf.Pufferfish(tf.every_entry(), belief)
    scale = float(tf.calibrate(framework, tf.Count(1), epsilon, mechanism="influence").scale)
    assert true_loss(law, scale) <= epsilon * (1 + 1e-9)
    assert true_loss(law, scale / 2) > epsilon * 1.1


def stars(ratio):
    """The rays with one top or one bottom."""
    return np.hstack([np.exp(ratio - ratio.max(axis=0)), np.exp(-ratio.T)])


def test_stars_alone_are_below_what_a_mechanism_attains_for_four_states(monkeypatch):
    matrix = np.array([[0.4, 0.1, 0.4, 0.1], [0.1, 0.4, 0.1, 0.4]] * 2)
    tables = [1 - np.eye(4)] * 2
    profile, family = Profile.by_entry(tables), Family(range(2))
    chain = tf.MarkovChain(matrix, 2)
    worst = oracle.worst_pairs(oracle.chain_law(chain.marginal(0), [matrix]), tables, 0).max()
    assert worst <= chain_loss(chain, profile, family).epsilon <= worst * (1 + 1e-6)
    monkeypatch.setattr(suprema_module, "extreme_rays", stars)
    assert chain_loss(tf.MarkovChain(matrix, 2), profile, family).epsilon < worst * 0.9


@pytest.mark.parametrize("states", [2, 3, 4])
def test_each_ray_is_the_supremum_of_some_rows(states):
    """So that one too few is below it."""
    rng = np.random.default_rng(states)
    ratio = suprema_module.closed(rng.uniform(0.5, 1, (states, states)))
    rays = suprema_module.extreme_rays(ratio)
    different = np.unique(np.round(rays / rays.max(axis=0), 9), axis=1)
    best = set()
    for _ in range(400 * states):
        p, q = rng.dirichlet(np.full(states, 0.3), size=2)
        values = (p @ different) / (q @ different)
        best.add(int(values.argmax()))
    assert len(best) == different.shape[1]


def test_one_number_for_all_pairs_can_be_more_than_twelve_times_too_much():
    rows = np.array([[0.4, 0.1, 0.5], [0.1, 0.4, 0.5]])
    ratio = np.array([[0, 0.1, 3], [0.1, 0, 3], [3, 3, 0]])
    exact, scalar = suprema(rows, ratio)[0, 1], Levels(rows).bound(3.0)[0, 1]
    assert exact == pytest.approx(oracle.lp_supremum(*rows, ratio), rel=1e-6)
    assert scalar > 12 * exact
