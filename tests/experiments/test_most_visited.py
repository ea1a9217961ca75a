"""What a check-in may lose, by one number for all that lies beyond it: against every subset, and against mechanisms."""

import math
from itertools import product

import numpy as np
import pytest
from tests.support.research import research_file

import most_visited
import takifugu as tf
from pages import made

SMALL = [[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.25, 0.25, 0.5]]


@pytest.mark.parametrize("spread", [0.1, 1.0, 5.0])
def test_the_largest_ratio_is_that_of_every_choice_of_extremes(spread: float) -> None:
    p, q = np.array(SMALL[0]), np.array(SMALL[1])
    ratios = []
    for high in product((1, math.exp(spread)), repeat=3):
        ratios.append(math.log((p @ np.array(high)) / (q @ np.array(high))))
    assert most_visited.largest(p, q, spread) == pytest.approx(max(ratios), rel=1e-12)


def worst_product(matrix: np.ndarray, entry_loss: float) -> float:
    """Return the most that mechanisms lose about the middle of three entries, each sent by itself with this loss."""
    stationary = np.linalg.matrix_power(matrix, 500)[0]
    extremes = [np.array(high) for high in product((1.0, math.exp(entry_loss)), repeat=len(matrix))]
    worst = 0.0
    for before, likelihood, after in product(extremes, repeat=3):
        behind = (before * stationary) @ matrix / stationary
        likely = behind * likelihood * (matrix @ after)
        worst = max(worst, math.log(likely.max() / likely.min()))
    return worst


@pytest.mark.parametrize("entry_loss", [0.1, 0.7, 2.0])
def test_mechanisms_lose_at_most_what_influence_says_and_one_number_says_no_less(entry_loss: float) -> None:
    """At the loss that one number gives for the middle of three, influence lets an entry lose no less."""
    matrix = np.array(SMALL)
    epsilon = most_visited.scalar_loss(matrix, entry_loss, 1)
    assert worst_product(matrix, entry_loss) <= epsilon * (1 + 1e-12)
    assert most_visited.scalar_budget(matrix, epsilon, 1) == pytest.approx(entry_loss, rel=1e-6)
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain(SMALL, length=3))
    budget = tf.record_epsilon(framework, epsilon, neighbours="replace").epsilon
    assert entry_loss <= budget * (1 + 1e-6)
    assert worst_product(matrix, budget) <= epsilon * (1 + 1e-9)


@pytest.mark.slow
def test_the_page_has_what_each_way_lets_a_check_in_lose() -> None:
    research_file(most_visited.CHECKINS)
    _, chain = most_visited.checkins()
    printed = made(most_visited.PAGE, "most visited")
    for epsilon in most_visited.EPSILONS:
        losses = {name: loss for name, (loss, _) in most_visited.ways(chain, 3, epsilon).items()}
        for name, loss in losses.items():
            assert f"| ε = {epsilon:g}, top 3: {name} | {loss:.3f} |" in printed
        assert losses["group-dp"] < losses["quilt-exact"] < losses["one number beyond"] < losses["influence"]
        assert losses["group-dp"] == pytest.approx(epsilon / most_visited.LENGTH)
