"""Hidden Markov chains: the network is the product of its rows, its noise that of the program over all its states."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support import influence_oracle as oracle
from tests.support.answers import true_answer

import takifugu as tf
from takifugu.core.errors import DataError, InputError

NAMES = {"states": ["well", "ill"], "observations": ["quiet", "cough"]}
MATRIX, EMISSIONS = [[0.95, 0.05], [0.2, 0.8]], [[0.9, 0.1], [0.3, 0.7]]
SHARES = st.floats(0.05, 0.95)


def listed(matrix: np.ndarray, emissions: np.ndarray, start: np.ndarray, length: int) -> np.ndarray:
    """P(states, observations) of each sequence, axes in the order of the names: all states, then all observations."""
    law = np.zeros((2,) * (2 * length))
    for row in product(range(2), repeat=2 * length):
        states, seen = row[:length], row[length:]
        mass = start[states[0]]
        for step in range(length):
            mass *= (matrix[states[step - 1], states[step]] if step else 1) * emissions[states[step], seen[step]]
        law[row] = mass
    return law


@pytest.mark.mutants
@given(SHARES, SHARES, SHARES, SHARES, SHARES)
def test_it_is_the_product_of_its_rows_and_its_noise_that_of_all_joint_states(
    ill: float, well: float, false: float, true: float, first: float
) -> None:
    matrix, emissions = np.array([[1 - ill, ill], [well, 1 - well]]), np.array([[1 - false, false], [1 - true, true]])
    start, length = np.array([1 - first, first]), 3
    network = tf.hidden_markov_chain(matrix, emissions, length, initial=start.tolist(), **NAMES)
    law = listed(matrix, emissions, start, length)
    assert network.joint(network.listed) == pytest.approx(law, rel=1e-9)
    hidden = tf.Pufferfish([tf.attribute(f"state {step}", "well", "ill") for step in range(length)], network)
    noise = tf.with_scale(hidden, tf.Count("cough"), 2, allow_zero_noise=True)
    tables = [np.zeros((2, 2))] * length + [(1 - np.eye(2)) / 2] * length
    lost = max(oracle.worst_pairs(law, tables, entry).max() for entry in range(length))
    assert float(noise.epsilon) == pytest.approx(lost, abs=1e-7)
    assert tf.exact_loss(noise).lower <= float(noise.epsilon) * (1 + 1e-9)


def test_it_starts_as_it_goes_on() -> None:
    network = tf.hidden_markov_chain(MATRIX, EMISSIONS, 4, **NAMES)
    for step in range(4):
        assert network.joint([f"state {step}"]) == pytest.approx([0.8, 0.2])
        assert network.joint([f"observation {step}"]) == pytest.approx([0.78, 0.22])


def test_a_record_leaves_out_what_the_query_does_not_read() -> None:
    network = tf.hidden_markov_chain(MATRIX, EMISSIONS, 2, **NAMES)
    framework = tf.Pufferfish(tf.every_entry(), network)
    day = {"state 0": None, "state 1": None, "observation 0": "cough", "observation 1": "quiet"}
    assert true_answer(tf.calibrate(framework, tf.Count("cough"), epsilon=1), day) == (1,)
    assert true_answer(tf.calibrate(framework, tf.Count("cough"), epsilon=1), [None, None, "cough", "cough"]) == (2,)
    for query, record in (
        (tf.Count("ill"), day),
        (tf.Count("cough"), day | {"observation 0": None}),
        (tf.Histogram(["cough", "ill"]), day),
    ):
        with pytest.raises(DataError, match="leaves out a variable that the query reads: give its value, or read"):
            true_answer(tf.calibrate(framework, query, epsilon=1), record)


@pytest.mark.parametrize(("changes", "words"), [
    ({"observations": ["well", "cough"]}, "'well' is a state and an observation.*rename the observation, for example"),
    ({"initial": "any"}, "the first state has the distribution 'any'.*write \"stationary\""),
    ({"emissions": [[0.9, 0.1]]}, "there are 1 rows of emissions and 2 states"),
    ({"emissions": [[0.9, 0.2], [0.3, 0.7]]}, "observation 0"),
    ({"states": ["well"]}, "there are 1 states and 2 rows"),
    ({"length": 0}, "the chain's length"),
])  # fmt: skip
def test_what_is_no_hidden_chain_is_refused(changes: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        tf.hidden_markov_chain(**{"matrix": MATRIX, "emissions": EMISSIONS, "length": 3, **NAMES, **changes})
