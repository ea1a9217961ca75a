"""The beginning of a recording loses no more than the whole of it, so the noise of the longest serves all.

The oracle is a linear program over all likelihoods with the profile (`influence_oracle`), for each recording alone.
"""

import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.support.influence_oracle import chain_law, worst_pairs
from tests.support.rounds import rounds

import takifugu as tf
from takifugu.analysis.problem import Problem
from takifugu.calibration.registry import find
from takifugu.influence.beginnings import longest
from takifugu.model.secrets.families import Family

THREE = [[0.98, 0.015, 0.005], [0.1, 0.88, 0.02], [0.05, 0.15, 0.8]]


def problem(belief: Any, query: Any, secret: Any = None) -> Problem:
    return Problem(tf.Pufferfish(secret or tf.every_entry(), belief), query, Fraction(1))


def sizes(belief: Any, query: Any, secret: Any = None) -> list[int]:
    return sorted(part.belief.size for part in longest(problem(belief, query, secret).parts))


def random_row(c: random.Random, states: int) -> list[float]:
    row = [c.random() ** 3 for _ in range(states)]
    return [mass / sum(row) for mass in row]


def check_single_recordings(seed: int) -> None:
    """Compare the noise for some recordings with the program over all likelihoods of each of them."""
    c = random.Random(seed)
    states = c.choice([2, 2, 3])
    matrix = [random_row(c, states) for _ in range(states)]
    start = c.choice(["stationary", random_row(c, states)])
    chain = tf.MarkovChain(matrix, 1, start)
    lengths = [c.randint(1, 5 if states == 2 else 4) for _ in range(c.randint(1, 4))]
    framework = tf.Pufferfish(tf.every_entry(), tf.IndependentPieces(chain, lengths))
    scale = float(tf.calibrate(framework, tf.Count(states - 1), 1, mechanism="influence", allow_zero_noise=True).scale)
    if not scale:
        return
    change = np.zeros((states, states))
    change[-1, :-1] = change[:-1, -1] = 1 / scale
    first = np.array(start) if start != "stationary" else np.array(stationary(matrix))
    for length in set(lengths):
        law = chain_law(first, [np.array(matrix)] * (length - 1))
        for entry in range(length):
            assert worst_pairs(law, [change] * length, entry).max() <= 1 + 1e-6, (seed, length, entry)


def stationary(matrix: list[list[float]]) -> list[float]:
    law = np.linalg.matrix_power(np.array(matrix), 2**20)[0]
    return list(law / law.sum())


@pytest.mark.mutants
@pytest.mark.parametrize("seeds", rounds(4, 25, 525, parts=4))
def test_its_noise_hides_every_recording(seeds: range) -> None:
    for seed in seeds:
        check_single_recordings(seed)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("start", ["stationary", "any", (0.2, 0.5, 0.3)])
def test_the_noise_is_that_of_the_longest_alone(start: Any) -> None:
    chain, query = tf.MarkovChain(THREE, 1, start), tf.Histogram()
    scales = []
    for lengths in ([40], [3, 40, 7, 39, 1, 40]):
        framework = tf.Pufferfish(tf.every_entry(), tf.IndependentPieces(chain, lengths))
        scales.append(tf.calibrate(framework, query, 1).scale)
    assert scales[0] == scales[1]
    assert sizes(tf.IndependentPieces(chain, [3, 40, 7, 39, 1, 40]), query) == [40]


@pytest.mark.mutants
def test_many_recordings_are_predicted_to_take_the_time_of_one() -> None:
    """A thousand recordings of six states were hidden by the noise for one secret, since all were counted."""
    row = [0.1] * 6
    matrix = [[*row[:n], 0.5, *row[n + 1 :]] for n in range(6)]
    chain = tf.MarkovChain(matrix, 1)
    mechanism = find("influence").load()
    one = mechanism.cost(problem(tf.IndependentPieces(chain, [400]), tf.Histogram())).operations
    many = mechanism.cost(problem(tf.IndependentPieces(chain, range(1, 401)), tf.Histogram())).operations
    assert many == one


def test_what_is_no_beginning_is_a_part_of_its_own() -> None:
    chain = tf.MarkovChain(THREE, 1)
    pieces = tf.IndependentPieces(chain, [4, 6])
    assert sizes(pieces, tf.Count(1)) == [6]
    assert sizes(pieces, tf.Linear([1, 1, 1, 1, 1, 1, 1, 1, 1, 2])) == [4, 6]  # not all steps of the second are alike
    assert sizes(pieces, tf.Linear([1, 1, 1, 1, 2, 2, 2, 2, 2, 2])) == [4, 6]  # each alike, and not like the other
    assert sizes(pieces, tf.Count(1), tf.entry(2, 0, 1)) == [4]
    assert sizes(pieces, tf.Count(1), tf.every_run(2)) == [4, 6]
    by_phase = tf.PeriodicChain([THREE, THREE[::-1]], 1, start=1)
    assert sizes(tf.IndependentPieces(by_phase, [4, 6]), tf.Count(1)) == [6]


def test_classes_of_chains_have_beginnings_too() -> None:
    pieces = tf.IndependentPieces(tf.BinaryChains(0.2, 1), [9, 4])
    assert sizes(pieces, tf.Count(1)) == [9]
    assert sizes(tf.IndependentPieces(tf.ReversibleChains(0.2, 0.1, 1), [9, 4]), tf.Count(1)) == [9]


def test_recordings_that_differ_in_more_than_length_stay() -> None:
    parts = problem(tf.IndependentPieces(tf.MarkovChain(THREE, 1), [4, 6]), tf.Count(1)).parts
    others = problem(tf.IndependentPieces(tf.MarkovChain(THREE, 1, "any"), [5]), tf.Count(1)).parts
    assert sorted(part.belief.size for part in longest([*parts, *others])) == [5, 6]
    assert {part.family for part in longest(parts)} == {Family(range(6))}
    (four, six) = sorted(parts, key=lambda part: part.belief.size)
    assert len(longest([replace(six, family=Family((0, 5))), four])) == 2  # not all of its steps are secret
    assert len(longest([replace(six, family=Family(range(6), ((0, 1),))), four])) == 2  # nor are all values


@pytest.mark.mutants
def test_a_ledger_counts_the_longest_alone() -> None:
    chain = tf.MarkovChain(THREE, 1)
    costs = []
    for lengths in ([30], [30, 4, 17]):
        framework = tf.Pufferfish(tf.every_entry(), tf.IndependentPieces(chain, lengths))
        two = [tf.calibrate(framework, query, "1/2") for query in (tf.Count(1), tf.Count(2))]
        costs.append(tf.compose(two).epsilon)
    assert costs[0] == costs[1]
