"""Losses that are found side by side are those of one profile after the other, to the last digit."""

from typing import Any

import numpy as np
import pytest

import takifugu as tf
from takifugu.influence.chains import remembered
from takifugu.influence.chains.chains import chain_loss, chain_losses
from takifugu.influence.chains.sweeps import can_be_together
from takifugu.influence.profiles.profile import Profile
from takifugu.influence.profiles.rays import extreme_rays
from takifugu.model.secrets.families import Family
from takifugu.numbers.outward_rounding import closed

LENGTH = 160


def chains(states: int, rng: np.random.Generator) -> list[Any]:
    """Return chains of each kind of start, one with an impossible step, and one of two matrices in turn."""
    first, second = (0.6 * np.eye(states) + 0.4 * rng.dirichlet(np.ones(states), size=states) for _ in range(2))
    start = rng.dirichlet(np.ones(states))
    sparse = np.where(np.eye(states, k=1), 0.0, first)
    sparse /= sparse.sum(axis=1, keepdims=True)
    return [
        tf.MarkovChain(first, LENGTH), tf.MarkovChain(first, LENGTH, start), tf.MarkovChain(first, LENGTH, "any"),
        tf.MarkovChain(sparse, LENGTH), tf.PeriodicChain([first, second], LENGTH),
        tf.PeriodicChain([first, second], LENGTH, initial="any"),
    ]  # fmt: skip


def profiles(states: int, rng: np.random.Generator, count: int) -> list[Profile]:
    """Return profiles of one release with noise of several scales: a run, a gap, and another run."""
    apart = rng.integers(1, 4, size=(states, states))
    table = closed((apart + apart.T) * (1.0 - np.eye(states)))
    tables, lengths = (table, 0 * table, table / 2), np.array([90, 7, LENGTH - 97])
    scales = np.exp(rng.uniform(-3, 3, size=count))
    return [Profile(tuple(one / scale for one in tables), lengths, np.arange(3)) for scale in scales.tolist()]


@pytest.mark.mutants
@pytest.mark.parametrize("states", [2, 3, 4, 5])
def test_they_are_those_of_one_after_the_other(states: int) -> None:
    rng = np.random.default_rng(states)
    for chain in chains(states, rng):
        several, family = profiles(states, rng, 3 if states > 4 else 8), Family(range(LENGTH))
        remembered.forget()
        together = chain_losses(chain, several, family)
        for profile, loss in zip(several, together, strict=True):
            remembered.forget()
            assert chain_loss(chain, profile, family) == loss, chain


def test_with_more_states_each_is_followed_alone() -> None:
    """Programs start from the solution of the last one: side by side they would not be those of one profile."""
    rng = np.random.default_rng(0)
    assert can_be_together(profiles(5, rng, 2))
    assert not can_be_together(profiles(6, rng, 2))


def test_profiles_of_other_runs_are_not_put_side_by_side() -> None:
    chain, family = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 30), Family(range(30))
    several = [Profile.of([[0, loss], [loss, 0]], 30) for loss in (0.1, 0.2)]
    several.append(Profile.by_entry([0.1 * (1 - np.eye(2))] * 30))
    assert chain_losses(chain, several, family) == [chain_loss(chain, profile, family) for profile in several]


@pytest.mark.parametrize("states", [3, 4, 5, 6])
def test_a_cone_beside_others_has_its_rays_and_none_outside(states: int) -> None:
    rng = np.random.default_rng(0)
    ratios = closed(rng.uniform(0.05, 1, (4, states, states)))
    for ratio, beside in zip(ratios, extreme_rays(ratios), strict=True):
        alone = {tuple(ray) for ray in extreme_rays(ratio).T.tolist()}
        assert {tuple(ray) for ray in beside.T.tolist()} == alone
