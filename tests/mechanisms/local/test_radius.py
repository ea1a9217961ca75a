"""Noise cut to a ball (restricted Laplace): what it tells, against every output, and where it is refused."""

import math
from fractions import Fraction as F
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest
from tests.support import rows_oracle as oracle
from tests.support.rows_oracle import channel_of

import takifugu as tf
from takifugu.core.errors import CalibrationRefused, InputError
from takifugu.mechanisms.local import weights
from takifugu.model import queries

LAWS = {
    "near": {0: F(4, 10), 1: F(3, 10), 2: F(1, 10), 3: F(1, 10), 4: F(1, 10)},
    "far": {0: F(1, 10), 1: F(1, 10), 2: F(2, 10), 3: F(3, 10), 4: F(3, 10)},
}


def framework(rows: int = 1, independent: bool = True, metric: Any = None) -> Any:
    return tf.Pufferfish(tf.population_membership(metric), tf.FromPopulations(LAWS, rows, independent))


def sent(noise: Any, rows: int = 1) -> list[Any]:
    return [oracle.sent(oracle.independent(law, rows), [channel_of(noise)] * rows) for law in LAWS.values()]


@pytest.mark.parametrize("rows", [1, 2])
def test_a_pure_promise_is_kept_within_the_radius_and_nearly_used_up(rows: int) -> None:
    query = tf.LocalValue(radius=2)
    calibration = tf.calibrate(framework(rows), query, epsilon=F(6, 5) * rows, mechanism="restricted-laplace")
    noise: Any = calibration.randomiser
    loss = oracle.loss(*sent(noise, rows))
    assert 1.19 * rows < loss <= 1.2 * rows
    assert tf.exact_loss(calibration).loss == pytest.approx(loss, abs=1e-9)
    for x, outputs in channel_of(noise).items():
        assert {y for y, mass in outputs.items() if mass} == {y for y in outputs if abs(x - y) <= 2}
    assert noise.worst == 2
    assert math.isinf(noise.local_loss())
    assert tf.calibrate(framework(rows), query, epsilon=F(6, 5) * rows).mechanism == "restricted-laplace"


def test_a_delta_is_that_of_every_output() -> None:
    calibration = tf.calibrate(framework(), tf.LocalValue(radius=1), "1/2", "3/10", mechanism="restricted-laplace")
    delta = oracle.excess(*sent(calibration.randomiser), 0.5)
    assert 0.299 < delta <= 0.3
    assert tf.exact_delta(calibration).loss == pytest.approx(delta, abs=1e-9)


@pytest.mark.parametrize("rate", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("radius", [1.0, 2.0])
def test_the_theorem_of_cut_noise(rate: float, radius: float) -> None:
    """A(x)[R] <= e^(s d) Z(x')/Z(x) A(x')[R] + A(x)[what x' cannot reach], for every two values and every set."""
    distances = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0)))
    rows = weights.restricted(distances, rate, radius)
    totals = rows.sum(axis=1)
    channel = rows / totals[:, None]
    for x, z in permutations(range(5), 2):
        factor = math.exp(rate * distances[x, z]) * totals[z] / totals[x]
        beyond = channel[x][channel[z] == 0].sum()
        worst = np.maximum(channel[x] - factor * channel[z], 0).sum()
        assert worst <= beyond * (1 + 1e-12) + 1e-15
        if distances[x, z] > 2 * radius:
            assert beyond == pytest.approx(1)


@pytest.mark.parametrize("radius", [-1, "x", math.inf])
def test_a_radius_that_is_none_is_refused(radius: Any) -> None:
    with pytest.raises(InputError, match="radius"):
        tf.LocalValue(radius=radius)


@pytest.mark.parametrize("radius", [0, "1/2"])
def test_a_radius_that_cuts_all_noise_is_refused(radius: Any) -> None:
    with pytest.raises(InputError, match="cuts all noise: no other value is nearer than 1; write at least 1"):
        tf.calibrate(framework(), tf.LocalValue(radius=radius), epsilon=1)


def test_a_radius_too_small_for_epsilon_says_what_it_can_keep() -> None:
    with pytest.raises(CalibrationRefused, match=r"the most noise within the radius tells epsilon 1\.28"):
        tf.calibrate(framework(), tf.LocalValue(radius=1), epsilon="1/10", mechanism="restricted-laplace")


def test_what_may_move_a_value_farther_does_not_apply() -> None:
    rows = {row.name: row for row in tf.compare(framework(), tf.LocalValue(radius=2), epsilon="6/5")}
    assert rows["restricted-laplace"].status == "chosen"
    for name in ("exponential", "optimal", "randomised-response"):
        assert "may move a value farther than the radius" in (rows[name].reason or "")
    with pytest.raises(CalibrationRefused, match="no radius"):
        tf.calibrate(framework(), tf.LocalValue(), epsilon=1, mechanism="restricted-laplace")
    with pytest.raises(CalibrationRefused):  # of dependent rows nothing but the values' own loss is known
        tf.calibrate(framework(2, False), tf.LocalValue(radius=2), epsilon=1, mechanism="restricted-laplace")


def test_a_query_without_a_radius_is_written_as_before() -> None:
    assert "radius" not in tf.LocalValue(batch="May").to_dict()
    query = tf.LocalValue(radius="5/2")
    assert queries.from_dict(query.to_dict()) == query
    assert "within 2.5" in query.describe()


@pytest.mark.mutants
def test_the_same_rows_again_cost_what_the_value_tells() -> None:
    calibration = tf.calibrate(framework(), tf.LocalValue(batch="May", radius=2), "6/5", mechanism="restricted-laplace")
    cap = max(math.log(LAWS[a][x] / LAWS[b][x]) for a, b in combinations(LAWS, 2) for x in LAWS[a])
    cap = max(cap, *(math.log(LAWS["far"][x] / LAWS["near"][x]) for x in LAWS["far"]))
    noise: Any = calibration.randomiser
    channel = {x: noise.sender.channel.row(x) for x in noise.sender.values}
    thrice = [oracle.sent(oracle.repeated(law, 3), [channel] * 3) for law in LAWS.values()]
    assert float(tf.compose([calibration] * 3).epsilon) == pytest.approx(oracle.loss(*thrice), rel=1e-9)
    assert float(tf.compose([calibration] * 50).epsilon) == pytest.approx(cap, abs=1e-6)
