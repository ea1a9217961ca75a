"""Beliefs whose probabilities leave the range of floats: what is possible stays so, and no mechanism falls over."""

import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import takifugu as tf
from takifugu.analysis.bounds import Cost
from takifugu.calibration import REGISTRY
from takifugu.calibration.registry import Line
from takifugu.core.errors import CalibrationRefused
from takifugu.model.beliefs.stochastic import wide_stationary_law
from takifugu.model.secrets.families import Family

UNDERFLOW = [[1, 1e-200, 0], [0.5, 0.5, 1e-200], [0.5, 0, 0.5]]


def queue(up: float, states: int) -> Any:
    rows = np.zeros((states, states))
    for i in range(states):
        rows[i, min(i + 1, states - 1)] += up
        rows[i, max(i - 1, 0)] += 0.5
        rows[i, i] += 0.5 - up
    return rows


CHAINS: dict[str, Callable[[int], tf.MarkovChain]] = {
    "two rare states": lambda n: tf.MarkovChain(UNDERFLOW, n),
    "one likely state": lambda n: tf.MarkovChain([[1e-200, 1.0, 1e-200]] * 3, n),
    "one likely state, any start": lambda n: tf.MarkovChain([[1e-200, 1.0, 1e-200]] * 3, n, initial="any"),
    "the smallest float": lambda n: tf.MarkovChain([[1 - 5e-324, 5e-324], [0.5, 0.5]], n),
    "hardly connected": lambda n: tf.MarkovChain([[1, 1e-300], [1e-300, 1]], n, initial="any"),
    "a rare start": lambda n: tf.MarkovChain([[0.5, 0.5], [0.3, 0.7]], n, initial=[1 - 1e-300, 1e-300]),
    "a rarer start": lambda n: tf.MarkovChain([[1, 1e-200], [1e-200, 1]], n, initial=[1, 1e-200]),
    "a long way up": lambda n: tf.MarkovChain(queue(1e-110, 5), n),
    "a cycle": lambda n: tf.MarkovChain([[0, 1, 0], [0, 0, 1], [1, 0, 0]], n),
    "reversed": lambda n: tf.MarkovChain([[0.5, 0, 0.5], [1e-200, 0.5, 0.5], [0, 1e-200, 1]], n),
}


def networks() -> dict[str, Any]:
    rare, copy = [1 - 1e-200, 1e-200], [[1 - 1e-170, 1e-170], [1e-170, 1 - 1e-170]]
    return {
        "a rare path": [("a", [0, 1], [], rare), ("b", [0, 1], ["a"], copy), ("c", [0, 1], ["b"], copy)],
        "a rare collider": [
            ("a", [0, 1], [], rare), ("b", [0, 1], [], rare),
            ("c", [0, 1, 2], ["a", "b"], [[[1, 0, 0], [1, 0, 0]], [[1, 0, 0], [0, 0.5, 0.5]]]),
        ],
        "a rare cause of two": [
            ("a", [0, 1, 2], [], [1.0, 1e-300, 1e-320]),
            ("b", [0, 1], ["a"], [[0.5, 0.5], [1e-100, 1 - 1e-100], [0.3, 0.7]]),
            ("c", [0, 1], ["a"], [[0.5, 0.5], [0.5, 0.5], [1 - 1e-50, 1e-50]]),
        ],
    }  # fmt: skip


def calibrations(belief: Any) -> list[Any]:
    framework, listed = tf.Pufferfish(tf.every_entry(), belief), []
    said: list[str] = []
    for line in REGISTRY:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                listed.append(tf.calibrate(framework, tf.Sum(), 1, 0, line.name, allow_zero_noise=True))
            except CalibrationRefused as refused:
                said.append(str(refused))
    assert not any("left the range" in refusal for refusal in said)
    return listed


@pytest.mark.sampled(41)
@pytest.mark.parametrize("length", [1, 2, 3])
@pytest.mark.parametrize("name", CHAINS)
def test_no_mechanism_loses_what_is_rare_in_a_chain(name: str, length: int) -> None:
    loses_no_more_than_promised(CHAINS[name](length))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", networks())
def test_no_mechanism_loses_what_is_rare_in_a_network(name: str) -> None:
    loses_no_more_than_promised(tf.BayesianNetwork(networks()[name]))


def loses_no_more_than_promised(belief: Any) -> None:
    made = calibrations(belief)
    assert {"group-dp", "quilt-exact"} <= {c.mechanism for c in made}
    for calibration in made:
        assert tf.exact_loss(calibration).loss <= float(calibration.epsilon) * (1 + 1e-9), calibration.mechanism


def two_rare_causes(rare: float) -> Any:
    """Copies of what is seen only after two rare steps, of which the first is 4 times rarer where a is 1."""
    copies = [(f"e{i}", [0, 1], [f"e{i - 1}" if i else "d"], [[1, 0], [0, 1]]) for i in range(12)]
    return tf.BayesianNetwork([
        ("a", [0, 1], [], [0.5, 0.5]),
        ("b", [0, 1], [], [0.5, 0.5]),
        ("c", [0, 1], ["a", "b"], [[[1 - rare, rare]] * 2, [[1 - rare / 4, rare / 4]] * 2]),
        ("d", [0, 1], ["c", "b"], [[[1, 0]] * 2, [[1 - rare, rare]] * 2]),
        *copies,
    ])  # fmt: skip


def test_what_is_rarer_than_floats_is_no_less_influenced() -> None:
    """The joint law of 'a' and 'd' is 0 in floats at 1e-200, where it is possible: its ratio there is not known."""
    within, below = (
        tf.calibrate(tf.Pufferfish([tf.attribute("a", 0, 1)], two_rare_causes(rare)), tf.Sum(), 1, 0, "quilt-exact")
        for rare in (1e-100, 1e-200)
    )
    assert below.scale >= within.scale > 2


def test_stationary_support_is_a_question_of_steps() -> None:
    chain = tf.MarkovChain(UNDERFLOW, 1)
    assert chain.possible(0) == (True, True, True)
    assert Family(range(1)).value_pairs(chain, 0) == ((0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1))
    assert chain.supports.at(0).all()
    transient = tf.MarkovChain([[0.5, 0.5, 0], [0, 1, 1e-200], [0, 0.5, 0.5]], 1)
    assert transient.possible(0) == (False, True, True)


@pytest.mark.mutants
def test_a_queue_needs_noise_for_all_its_states() -> None:
    chain = tf.MarkovChain(queue(1e-8, 45), 1)
    framework = tf.Pufferfish(tf.every_entry(), chain)
    for mechanism in ("wasserstein", "laplace-exact", "quilt-exact"):
        assert tf.calibrate(framework, tf.Sum(), 1, mechanism=mechanism, allow_zero_noise=True).scale == 44


@pytest.mark.parametrize("up", [0.2, 1e-3, 1e-8, 1e-30, 1e-200])
def test_stationary_laws_far_below_floats_are_those_of_detailed_balance(up: float) -> None:
    states = 30
    law = wide_stationary_law(np.asarray(tf.MarkovChain(queue(up, states), 1).matrix))
    balance = [Fraction(1)]
    for _ in range(states - 1):
        balance.append(balance[-1] * Fraction(up) * 2)
    for mantissa, exponent, true in zip(law.mantissas.tolist(), law.exponents.tolist(), balance, strict=True):
        ratio = Fraction(mantissa) * Fraction(2) ** exponent * sum(balance) / true
        assert abs(ratio - 1) < Fraction(1, 10**11)


@pytest.mark.parametrize("error", [np.linalg.LinAlgError(), ZeroDivisionError(), MemoryError()])
def test_a_mechanism_that_fails_numerically_does_not_stop_the_others(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Falls:
        name, source = "falls", "nobody"

        def cost(self, problem: Any) -> Cost:
            return Cost(1.0)

        def bound(self, problem: Any) -> Any:
            raise error

    honest = Line.load
    monkeypatch.setattr(Line, "load", lambda line: Falls() if line.name == "quilt-approx" else honest(line))
    framework = tf.Pufferfish(tf.every_entry(), CHAINS["one likely state"](3))
    listed = {row.name: row for row in tf.compare(framework, tf.Sum(), 1)}
    assert f"left the range of floats or memory ({type(error).__name__})" in listed["quilt-approx"].reason
    assert listed["group-dp"].scale == 6
    with pytest.raises(CalibrationRefused, match="left the range"):
        tf.calibrate(framework, tf.Sum(), 1, mechanism="quilt-approx")
