"""Random networks of up to 7 binary or ternary variables: every quilt, every joint state, every mechanism, exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from tests.support import network_oracles, quilt_oracles

from takifugu.analysis.randomisers import DiscreteLaplace
from takifugu.audit.exact import true_loss
from takifugu.calibration import Calibration, calibrate
from takifugu.core.errors import CalibrationRefused
from takifugu.model.beliefs.networks.network import BayesianNetwork
from takifugu.model.frameworks import Pufferfish
from takifugu.model.queries import Count, Histogram, Linear, Query
from takifugu.model.secrets.of_entries import every_entry

EXACT = ("group", "quilt-exact", "wasserstein", "laplace-exact")
EPSILONS = (0.5, 1.5, 4.0)


class Case:
    """A random network with its joint law by enumeration, and a weighted sum over it."""

    def __init__(self, seed: int, size: int, zeros: bool = False) -> None:
        rng = np.random.default_rng(seed)
        spec = network_oracles.random_network(rng, size, zeros=zeros)
        self.network = BayesianNetwork(spec)
        self.law = network_oracles.joint_law(spec, [str(name) for name in self.network.names])
        self.sizes = [len(self.network.alphabet(i)) for i in range(size)]
        self.weights = rng.integers(0, 4, size=size).tolist()
        self.changes = [w * (k - 1) for w, k in zip(self.weights, self.sizes, strict=True)]
        self.entries = list(range(size))
        self.joint = np.zeros(self.sizes)
        for x, mass in self.law.items():
            self.joint[x] = float(mass)

    @property
    def query(self) -> Linear:
        return Linear(network_oracles.as_listed(self.weights, self.network.names, self.network.listed), grid=1)

    @property
    def has_secrets(self) -> bool:
        return any(sum(self.network.possible(i)) > 1 for i in self.entries)

    def sum(self, path: tuple[int, ...]) -> list[int]:
        return [sum(w * v for w, v in zip(self.weights, path, strict=True))]

    def scale_over_all_quilts(self, epsilon: float) -> float:
        return quilt_oracles.quilt_scale(self.joint, self.changes, epsilon, quilt_oracles.all_quilts)

    def needed(self, query: Query, epsilon: float, mechanism: str) -> Calibration:
        framework = Pufferfish(every_entry(), self.network)
        return calibrate(framework, query, epsilon, mechanism=mechanism, allow_zero_noise=True)

    def loss(self, scale: Fraction | float) -> float:
        return quilt_oracles.true_loss(self.joint, self.sum, [scale])


def check_every_mechanism(case: Case, epsilon: float) -> dict[str, Calibration]:
    """Check each mechanism's true loss twice, by enumeration and by the audit, and the order of the scales."""
    query = case.query
    calibrations = {name: case.needed(query, epsilon, name) for name in EXACT}
    for name, calibration in calibrations.items():
        assert true_loss(calibration).upper <= epsilon * (1 + 1e-9), name
        if calibration.scale:
            assert case.loss(calibration.randomiser.scale) <= epsilon * (1 + 1e-9), name
    scales = {name: calibration.scale for name, calibration in calibrations.items()}
    slack = 1 + 2e-9
    assert scales["quilt-exact"] <= scales["group"] * slack
    assert scales["laplace-exact"] <= scales["wasserstein"] * slack <= scales["group"] * slack**2
    return calibrations


def check_other_queries(case: Case, epsilon: float) -> None:
    binary = all(size == 2 for size in case.sizes)
    for name in ("group", "quilt-exact"):
        calibration = case.needed(Histogram() if binary else Count([1, 2]), epsilon, name)
        assert true_loss(calibration).upper <= epsilon * (1 + 1e-9), name
    try:
        inferential = case.needed(case.query, epsilon, "inferential")
    except CalibrationRefused:  # its norm is 1 or more
        return
    assert true_loss(inferential).upper <= epsilon * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_up_to_five_variables(seed: int) -> None:
    case = Case(seed, 2 + seed % 4)
    epsilon = EPSILONS[seed % 3]
    calibrations = check_every_mechanism(case, epsilon)
    assert calibrations["quilt-exact"].scale == pytest.approx(case.scale_over_all_quilts(epsilon), rel=1e-9, abs=1e-12)
    check_other_queries(case, epsilon)


@pytest.mark.slow
@pytest.mark.parametrize("size", [6, 7])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_up_to_seven_variables(size: int, epsilon: float) -> None:
    for seed in range(7):
        case = Case(1000 * size + seed, size)
        calibrations = check_every_mechanism(case, epsilon)
        assert calibrations["quilt-exact"].scale == pytest.approx(
            case.scale_over_all_quilts(epsilon), rel=1e-9, abs=1e-12
        )
        check_other_queries(case, epsilon)


@pytest.mark.slow
@pytest.mark.parametrize("size", [6, 7])
def test_up_to_seven_variables_with_zeros(size: int) -> None:
    """Zeros make independencies that the graph does not show: enumeration may find better quilts, never worse ones."""
    checked = 0
    for seed in range(9):
        case = Case(2000 * size + seed, size, zeros=True)
        if case.has_secrets:
            epsilon = EPSILONS[seed % 3]
            calibrations = check_every_mechanism(case, epsilon)
            assert calibrations["quilt-exact"].scale >= case.scale_over_all_quilts(epsilon) * (1 - 1e-9)
            checked += 1
    assert checked >= 5



def test_the_checks_can_fail() -> None:
    """A strongly dependent network: half the noise of laplace-exact loses more than epsilon, by both routes."""
    case = Case(1, 4)
    calibration = case.needed(case.query, 1.5, "laplace-exact")
    half = DiscreteLaplace(calibration.randomiser.scale / 2, Fraction(1))
    assert case.loss(calibration.randomiser.scale) == pytest.approx(1.5, rel=1e-6)
    assert case.loss(half.scale) > 1.6
    assert true_loss(calibration.framework, calibration.query, half).lower > 1.6
