"""How often the better guess is right: against listing all recordings and outputs, and at both ends."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.support.estimate_oracles import chain_states, laplace_mass

import takifugu as tf
from takifugu.analysis.randomisers import DiscreteLaplace
from takifugu.audit.partial_sums import Chained
from takifugu.audit.right_guesses import right_guesses
from takifugu.core.errors import Unsupported
from takifugu.model.queries import resolved

STAY = [[0.9, 0.1], [0.3, 0.7]]


def ours(matrix: Any, length: int, step: int, scale: float, prior: float, query: Any = None) -> float:
    chain = tf.MarkovChain(matrix, length)
    sequence = Chained.of(chain)
    assert sequence is not None
    noise = DiscreteLaplace(Fraction(scale), Fraction(1))
    return right_guesses(sequence, resolved(query or tf.Count(1), chain), step, noise, prior)  # type: ignore[arg-type]


@pytest.mark.parametrize(("scale", "prior"), [(1.5, 0.25), (0.5, 0.5), (6.0, 0.9)])
@pytest.mark.parametrize("step", [0, 3, 6])
def test_it_is_what_listing_says(step: int, scale: float, prior: float) -> None:
    laws = np.zeros((2, 8))
    for states, mass in chain_states([STAY], 7, (0.75, 0.25)):
        laws[states[step], sum(states)] += mass
    laws /= laws.sum(axis=1, keepdims=True)
    right = 0.0
    for output in range(-300, 310):
        noise = np.array([laplace_mass(output - total, scale) for total in range(8)])
        right += max(prior * float(noise @ laws[1]), (1 - prior) * float(noise @ laws[0]))
    assert ours(STAY, 7, step, scale, prior) == pytest.approx(right, rel=1e-11)


def test_one_step_alone_is_the_formula_of_the_noise() -> None:
    """Of a single bit with noise of scale 1/epsilon, the better guess is right with probability 1/(1 + e^-epsilon)."""
    q = math.exp(-0.5)
    assert ours([[0.5, 0.5], [0.5, 0.5]], 1, 0, 2.0, 0.5) == pytest.approx(1 / (1 + q), rel=1e-12)


def test_what_is_not_served_is_refused() -> None:
    for query, length in ((tf.Histogram(), 9), (tf.Count(1), 2001)):
        with pytest.raises(Unsupported, match="right guesses are counted"):
            ours(STAY, length, 1, 1.0, 0.5, query)
    with pytest.raises(Unsupported, match="right guesses are counted"):
        ours([[0.5, 0.25, 0.25]] * 3, 9, 1, 1.0, 0.5)
