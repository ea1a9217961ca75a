"""A prediction of work allocates nothing that grows with the work."""

import time
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tf
from takifugu.analysis.answer_laws.chain import predicted_widths, steps
from takifugu.analysis.problem import Problem
from takifugu.calibration.registry import REGISTRY
from takifugu.core.errors import CalibrationRefused, Unsupported

SLOW = [[1 - 1e-9, 1e-9], [1e-9, 1 - 1e-9]]
STICKY = [[0.9, 0.1], [0.4, 0.6]]


@settings(max_examples=60)
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=30), st.integers(1, 4))
def test_predicted_widths_are_those_of_the_entries(weights: list[int], turns: int) -> None:
    chain = tf.MarkovChain(STICKY, len(weights) * turns, states=[0, 2])
    answer = tf.Linear(weights * turns, grid=1).resolve(chain)
    widths = steps(answer).widths.astype(float)
    width, mean = predicted_widths(answer)
    assert width == widths[-1]
    assert mean == pytest.approx((widths * (width - widths + 1)).mean())


@pytest.mark.parametrize("length", [10**7, 10**12])
@pytest.mark.parametrize("start", ["stationary", "any"])
def test_no_mechanism_allocates_to_predict(length: int, start: str) -> None:
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain(SLOW, length, start))
    for query in (tf.Count(1), tf.Histogram()):
        problem = Problem(framework, query, Fraction(1), Fraction(1, 1000))
        for line in REGISTRY:
            if "pufferfish" not in line.definitions or line.of_columns:
                continue
            mechanism = line.load()
            tracemalloc.start()
            try:
                mechanism.cost(problem)
            except Unsupported:
                pass
            finally:
                _, peak = tracemalloc.get_traced_memory()
                tracemalloc.stop()
            assert peak < 4 * 2**20, f"{line.name} allocates {peak:,} bytes"


def test_a_slow_chain_of_any_length_is_calibrated() -> None:
    slow = [[0.999, 0.001], [0.001, 0.999]]
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain(slow, 10**12))
    assert np.isfinite(tf.calibrate(framework, tf.Count(1), 1).scale)
    slower = tf.Pufferfish(tf.every_entry(), tf.MarkovChain(SLOW, 10**12))
    with pytest.raises(CalibrationRefused, match="it would take too long"):
        tf.calibrate(slower, tf.Count(1), 1)


def grid(side: int) -> tf.BayesianNetwork:
    """Return a binary network whose nodes follow the one above and the one to the left."""
    rows = [[0.7, 0.3], [[0.7, 0.3], [0.4, 0.6]], [[[0.7, 0.3], [0.4, 0.6]], [[0.5, 0.5], [0.3, 0.7]]]]
    nodes = []
    for i, j in np.ndindex(side, side):
        parents = [f"x{a}_{b}" for a, b in ((i - 1, j), (i, j - 1)) if a >= 0 and b >= 0]
        nodes.append((f"x{i}_{j}", [0, 1], parents, rows[len(parents)]))
    return tf.BayesianNetwork(nodes)


@pytest.mark.mutants
def test_a_large_grid_is_answered_at_once_and_its_fallback_is_said() -> None:
    framework = tf.Pufferfish(tf.every_entry(), grid(25))
    began = time.process_time()
    calibration = tf.calibrate(framework, tf.Count(1), 1)
    assert calibration.mechanism == "group-dp"
    assert time.process_time() - began < 10
    for printed in (calibration, tf.compare(framework, tf.Count(1), 1)):
        words = " ".join(str(printed).split())
        assert "the belief is too large for quilt-exact" in words
        assert "so the noise hides all data as one secret; ask for less noise by name" in words
        assert 'mechanism = "quilt-exact"' in words
    small = tf.calibrate(tf.Pufferfish(tf.every_entry(), grid(3)), tf.Count(1), 1)
    assert not small.fallback
    assert "too large" not in str(small)
