"""What is published of a number: continuous noise around the exact value, rounded once, wherever the value lies."""

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.support.answers import true_answer

import takifugu as tf
from takifugu.analysis.randomisers import Exact, RoundedLaplace, RoundedNormal, from_dict
from takifugu.calibration import REGISTRY, Calibration, with_scale
from takifugu.core.errors import CalibrationRefused, DataError
from takifugu.numbers import Pmf
from takifugu.numbers.noise import InsecureSeededEntropyForTests

F = Fraction
Law = dict[Fraction, Fraction]


def published(calibration: Calibration, value: Any, outputs: list[int]) -> list[float]:
    """P(output) of the release of a value, from the definition of each noise around the value itself."""
    noise: Any = calibration.randomiser
    centre = F(str(value)) if isinstance(value, float) else F(value)
    if noise.kind in ("channel", "exponential-choice"):
        inputs = [F(x) * noise.grid for x in noise.to_dict()["inputs"]]
        row = [int(m) for m in noise.to_dict()["masses"][inputs.index(centre)]]
        masses = dict(zip(noise.outputs, row, strict=True))
        return [masses.get(k, 0) / sum(row) for k in outputs]
    if noise.kind == "none":
        return [float(k == round(centre / noise.grid)) for k in outputs]
    if noise.kind == "discrete-laplace":
        a = math.exp(-1 / noise.units)
        return [(1 - a) / (1 + a) * a ** float(abs(k - centre / noise.grid)) for k in outputs]
    law = stats.laplace(0, float(noise.scale)) if noise.kind == "rounded-laplace" else stats.norm(0, float(noise.scale))
    edges = [(float((k - F(1, 2)) * noise.grid - centre), float((k + F(1, 2)) * noise.grid - centre)) for k in outputs]
    return [law.cdf(b) - law.cdf(a) if a < 0 else law.sf(a) - law.sf(b) for a, b in edges]


def excess(calibration: Calibration, p: Law, q: Law, epsilon: float) -> float:
    """sum over outputs of (P(k | p) - e^epsilon P(k | q))_+, both orders, the larger."""
    noise = calibration.randomiser
    grid = noise.grid
    reach = 3 if noise.kind == "channel" else int(30 * noise.scale / grid) + 3
    low, high = math.floor(min({*p, *q}) / grid) - reach, math.ceil(max({*p, *q}) / grid) + reach
    outputs = list(range(low, high + 1))
    rows = {v: published(calibration, v, outputs) for v in {*p, *q}}
    one, two = ([sum(float(m) * rows[v][k] for v, m in law.items()) for k in range(len(outputs))] for law in (p, q))
    return max(
        sum(max(a - math.exp(epsilon) * b * (1 + 1e-9), 0.0) for a, b in zip(x, y, strict=True))
        for x, y in ((one, two), (two, one))
    )


def every_calibration(p: Law, q: Law, grid: str, epsilon: int, delta: float) -> list[Calibration]:
    framework = tf.distribution_pair(*(Pmf(list(law), list(law.values())) for law in (p, q)))
    calibrations = [with_scale(framework, tf.Identity(grid=grid), F(1, 3), allow_zero_noise=True)]
    for line in (line for line in REGISTRY if "pufferfish" in line.definitions):
        try:
            its_delta = delta if line.takes_delta else 0
            query = tf.Identity(grid=grid)
            calibrations.append(tf.calibrate(framework, query, epsilon, its_delta, line.name, allow_zero_noise=True))
        except CalibrationRefused:
            continue
    return calibrations


laws = st.dictionaries(st.fractions(-2, 2, max_denominator=24), st.integers(1, 9), min_size=1, max_size=4)


@pytest.mark.slow
@given(laws, laws, st.sampled_from(["1", "1/2", "0.3", "2"]), st.sampled_from([1, 2]))
@settings(max_examples=5, deadline=None)
def test_every_mechanism_keeps_its_promise_wherever_the_atoms_lie(
    left: dict[Fraction, int], right: dict[Fraction, int], grid: str, epsilon: int
) -> None:
    p, q = ({v: F(m, sum(law.values())) for v, m in law.items()} for law in (left, right))
    for calibration in every_calibration(p, q, grid, epsilon, 0.01):
        promised, delta = float(calibration.epsilon), float(calibration.delta)
        assert excess(calibration, p, q, promised) <= delta * (1 + 1e-9) + 1e-12, calibration.mechanism
        if calibration.mechanism in ("laplace-exact", "optimal"):
            assert tf.exact_loss(calibration).loss <= promised * (1 + 1e-9), calibration.mechanism
        for value in {*p, *q}:
            assert true_answer(calibration, value) == (value / calibration.randomiser.grid,)


@pytest.mark.mutants
@pytest.mark.parametrize("mechanism", ["wasserstein", "laplace-exact", "gaussian-exact", "with-scale"])
def test_values_closer_than_half_a_step_of_the_grid_are_not_told_apart(mechanism: str) -> None:
    p, q = (Pmf([v, 1000.0], [0.5, 0.5]) for v in (0.000049, 0.000051))
    framework, query = tf.distribution_pair(p, q), tf.Identity(grid="0.0001")
    if mechanism == "with-scale":
        calibration = with_scale(framework, query, "0.00001")
    else:
        delta = 1e-6 if mechanism == "gaussian-exact" else 0
        calibration = tf.calibrate(framework, query, 1, delta, mechanism, allow_zero_noise=True)
    entropy = InsecureSeededEntropyForTests(5)
    seen = {v: {tf.release(calibration, v, entropy=entropy).value for _ in range(60)} for v in (0.000049, 0.000051)}
    assert seen[0.000049] & seen[0.000051]


@pytest.mark.parametrize("mechanism", ["optimal", "kantorovich-exponential"])
def test_a_choice_reads_the_value_as_its_laws_do(mechanism: str) -> None:
    p, q = {F(2, 5): F(1, 2), F(3, 5): F(1, 2)}, {F(51, 100): F(1)}
    framework = tf.distribution_pair(Pmf([0.4, 0.6], [0.5, 0.5]), Pmf([0.51], [1.0]))
    calibration = tf.calibrate(framework, tf.Identity(grid=1), 1, 0, mechanism, allow_zero_noise=True)
    assert excess(calibration, p, q, 1.0) <= 1e-12
    assert [true_answer(calibration, v) for v in (0.4, 0.6, 0.51)] == [(F(2, 5),), (F(3, 5),), (F(51, 100),)]


def test_a_float_atom_and_the_value_are_read_as_one_number() -> None:
    framework = tf.distribution_pair(Pmf([0.15, 1.0], [0.5, 0.5]), Pmf([0.25], [1.0]))  # 0.15 is below 3/20 in binary
    calibration = tf.calibrate(framework, tf.Identity(grid="0.1"), 1, 0, "optimal", allow_zero_noise=True)
    inputs = calibration.randomiser.to_dict()["inputs"]
    for value in (0.15, "0.15", F(3, 20), 0.25, 1):
        assert str(true_answer(calibration, value)[0]) in [str(F(x)) for x in inputs]
    assert tf.calibrate(framework, tf.Identity(), 1).randomiser.grid == F(1, 20)
    with pytest.raises(DataError, match="probability zero"):
        true_answer(calibration, 0.2)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("law", [RoundedLaplace, RoundedNormal])
def test_half_widths_hold_at_every_centre(law: Any, level: float) -> None:
    for scale in (F(1, 5), F(1), F(7)):
        noise = law(scale, F(1), 1, on_grid=False)
        width = noise.half_width(level)
        for centre in (F(0), F(1, 100), F(1, 3), F(1, 2), F(-2, 5)):
            inside = [k for k in range(-80, 81) if abs(k - centre) <= width]
            assert math.fsum(math.exp(noise.log_density((centre,), (F(k),))) for k in inside) >= level - 1e-12
        assert width >= law(scale, F(1), 1).half_width(level)


def test_no_noise_off_the_grid_has_the_error_of_its_rounding() -> None:
    noise = Exact(F(1), 1, on_grid=False)
    assert noise.draw((F(5, 2),), InsecureSeededEntropyForTests(1)) == (2,)
    assert noise.log_density((F(5, 2),), (F(2),)) == 0
    assert (noise.expected_error(), noise.half_width(0.9)) == (0.25, 1)


def test_where_answers_lie_is_written_and_read_back() -> None:
    for noise in (Exact(F(1), 2, False), RoundedLaplace(F(1), F(1), 1, False), RoundedNormal(F(1), F(1))):
        assert from_dict(noise.to_dict()) == noise
        assert ("on_grid" in noise.to_dict()) == (not noise.on_grid)
