"""Laws of an answer given a parameter against all parameters and all data sets, the paper's Example 3, long columns."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp
from tests.influence.quilts.test_column_quilts import random_parameters, some_query
from tests.model.beliefs.test_parameters import statistic_of
from tests.support import column_oracles as oracle

import takifugu as tf
from takifugu.analysis.answer_laws import parameters as module
from takifugu.analysis.problem import Problem
from takifugu.analysis.questions.answer_law import answer_law
from takifugu.audit import true_loss


def part_of(belief: Any, query: Any, *columns: str) -> Any:
    framework = tf.Pufferfish([tf.distribution_parameter(name) for name in columns], belief)
    return Problem(framework, query, Fraction(1)).law_parts[0]


@pytest.mark.parametrize("exact", [True, False])
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3), st.booleans())
def test_it_is_the_law_over_all_parameters_and_data_sets(exact: bool, seed: int, size: int, table: bool) -> None:
    belief, law, columns = random_parameters(seed, size, 2, table)
    rng = np.random.default_rng(seed)
    query, entry = some_query(rng, belief.columns), int(rng.integers(size))
    statistic = statistic_of(query, belief.record)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "FEW_ATOMS", module.FEW_ATOMS if exact else 0)
        (family,) = answer_law(part_of(belief, query, str(belief.names[entry]))).families()
        for value, (hull,) in family.hulls.items():
            expected = oracle.answer_law(law, columns, 2, statistic, entry, value)
            assert {int(at) for at, _ in hull.items()} == {at for (at,) in expected}
            for at, mass in hull.items():
                # a network holds thousandths as floats, a table as they are
                assert float(mass) == pytest.approx(float(expected[(int(at),)]), rel=1e-11)
                if exact and table:
                    assert mass == expected[(int(at),)]


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["wasserstein", "laplace-exact"]))
def test_no_more_is_lost_than_promised(seed: int, mechanism: str) -> None:
    belief, _, _ = random_parameters(seed, 2, 3)
    query = some_query(np.random.default_rng(seed), belief.columns)
    framework = tf.Pufferfish([tf.distribution_parameter(str(name)) for name in belief.names], belief)
    calibration = tf.calibrate(framework, query, 1, mechanism=mechanism, only_release=True, allow_zero_noise=True)
    loss = true_loss(calibration).loss
    assert loss <= 1 + 1e-9
    if mechanism == "laplace-exact" and calibration.scale:
        assert loss == pytest.approx(1, abs=1e-6)


def test_example_3_and_table_2_of_the_paper() -> None:
    """phi_1 = 0.6 - 0.2 phi_2 with phi_2 in {0.2, 0.8}: W = 1, and Table 2 to its four decimals."""
    table = tf.JointTable([("0.2", "0.56"), ("0.8", "0.44")], [Fraction(1, 2)] * 2, ["x2", "x1"])
    coins = {p: {1: p, 0: 1 - Fraction(p)} for p in ("0.56", "0.44")}
    belief = tf.Parameters(table, {"x1": coins}, 4)
    (family,) = answer_law(part_of(belief, tf.Sum("x1"), "x2")).families()
    printed = [0.0983, 0.3091, 0.3643, 0.1908, 0.0375]
    low, high = (family.hulls[belief.alphabet(0).index(v)][0] for v in ("0.2", "0.8"))
    assert [round(float(m), 4) for _, m in high.items()] == printed
    assert [round(float(m), 4) for _, m in low.items()] == printed[::-1]
    assert low.exact
    framework = tf.Pufferfish(tf.distribution_parameter("x2"), belief)
    calibration = tf.calibrate(framework, tf.Sum("x1"), 1, mechanism="wasserstein", only_release=True)
    assert calibration.scale == 1
    assert tf.calibrate(framework, tf.Sum("x1"), 1, mechanism="group").scale == 4


def test_value_by_value_covers_sets_of_values() -> None:
    """The distribution given a set of values is a mixture of those given its values: no more is lost (Theorem 4)."""
    net = tf.BayesianNetwork([("a", ["p", "q", "r"], [], [0.2, 0.5, 0.3])])
    chances = {"p": Fraction(1, 10), "q": Fraction(1, 2), "r": Fraction(4, 5)}
    belief = tf.Parameters(net, {"a": {k: {1: p, 0: 1 - p} for k, p in chances.items()}}, 3)
    framework = tf.Pufferfish(tf.distribution_parameter("a"), belief)
    calibration = tf.calibrate(framework, tf.Sum("a"), 1, mechanism="laplace-exact", only_release=True)

    def law(p: Fraction) -> dict[int, Fraction]:
        return {k: math.comb(3, k) * p**k * (1 - p) ** (3 - k) for k in range(4)}

    weights = {"p": Fraction(2, 7), "q": Fraction(5, 7)}
    mixed = {k: sum((w * law(chances[v])[k] for v, w in weights.items()), Fraction(0)) for k in range(4)}
    assert oracle.noised_loss(mixed, law(chances["r"]), float(calibration.scale)) <= 1 + 1e-9


def test_tails_of_long_columns_keep_their_relative_accuracy() -> None:
    """n = 3,000: the loss at one end of the range is n log(p/q) after smoothing, far below what floats can hold."""
    net = tf.BayesianNetwork([("a", [0, 1], [], [0.5, 0.5]), ("b", [0, 1], ["a"], [[0.75, 0.25], [0.25, 0.75]])])
    coins = {0: {1: "0.4", 0: "0.6"}, 1: {1: "0.6", 0: "0.4"}}
    belief = tf.Parameters(net, {"b": coins}, 3000)
    (family,) = answer_law(part_of(belief, tf.Sum("b"), "a")).families()
    scale = Fraction(700)
    loss = max(family.losses(scale))
    with mp.workdps(60):
        def noised(q: float, y: int) -> Any:  # beyond the largest answer: E e^{F/b}
            up = [(1 - mp.mpf(p) + mp.mpf(p) * mp.exp(1 / mp.mpf(700))) ** 3000 for p in ("0.4", "0.6")]
            down = [(1 - mp.mpf(p) + mp.mpf(p) * mp.exp(-1 / mp.mpf(700))) ** 3000 for p in ("0.4", "0.6")]
            side = up if y else down
            return (1 - q) * side[0] + q * side[1]

        expected = max(abs(mp.log(noised(0.25, y) / noised(0.75, y))) for y in (0, 1))
    assert float(expected) <= loss <= float(expected) * (1 + 1e-6)
    framework = tf.Pufferfish(tf.distribution_parameter("a"), belief)
    assert tf.calibrate(framework, tf.Sum("b"), 2, mechanism="laplace-exact", only_release=True, allow_zero_noise=True)
