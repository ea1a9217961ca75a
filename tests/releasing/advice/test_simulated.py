"""What is promised of an error, against a thousand releases of data that are drawn from the belief."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from tests.releasing.advice.test_advice import UNITS

from takifugu.numbers.noise import InsecureSeededEntropyForTests
from takifugu.releasing.advice.advising import advice_of
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.plan import calibrated

RUNS, STEPS, WARDS = 1000, 168, "abc"
MATRIX = np.array([[0.95, 0.05], [0.1, 0.9]])


def simulated(generator: np.random.Generator) -> tuple[int, ...]:
    """Return how many of the steps of one recording are in each state."""
    state, counts = int(generator.random() < 1 / 3), [0, 0]
    for _ in range(STEPS):
        counts[state] += 1
        state = int(generator.random() < MATRIX[state, 1])
    return tuple(counts)


@pytest.mark.parametrize(("epsilon", "delta"), [("0.2", "0"), ("3", "0"), ("1", "1e-5")])
def test_errors_lie_inside_their_bands_as_often_as_stated(epsilon: str, delta: str, tmp_path: Path) -> None:
    changed = UNITS.replace("epsilon = 0.2", f'epsilon = "{epsilon}"' + (f"\ndelta = {delta}" if delta != "0" else ""))
    if delta != "0":
        changed = changed.replace("budget = 8", "budget = { epsilon = 8, delta = 1e-3 }")
    rows = [f"{who},{hour},on\n" for who in WARDS for hour in range(STEPS)]
    (tmp_path / "rows.csv").write_text("".join(["who,hour,state\n", *rows]))
    (tmp_path / "release.toml").write_text(changed)
    planned = calibrated(load(tmp_path / "release.toml"))
    noises = [question.calibration.randomiser for question in planned.tables[0].questions]
    (table,) = advice_of(planned)
    worth, joint = table.worth, table.joint
    generator, entropy = np.random.default_rng(11), InsecureSeededEntropyForTests(12)
    truth = np.array([[simulated(generator) for _ in WARDS] for _ in range(RUNS)])
    noisy = [noise.draw_column(truth[:, who].ravel(), entropy) for who, noise in enumerate(noises)]
    errors = np.stack([one.reshape(RUNS, 2) for one in noisy], axis=1).astype(float) - truth
    assert worth is not None
    assert worth.difference is not None
    assert joint is not None
    assert joint.values == 2 * len(WARDS)
    for sizes, width, coverage in (
        (np.abs(errors).max(axis=(1, 2)), float(joint.half_width), joint.coverage),
        (np.abs(errors[:, 0, 0]), worth.cell.width, worth.cell.coverage),
        (np.abs(errors[:, 0, 0] - errors[:, 0, 1]), worth.difference.width, worth.difference.coverage),
    ):
        assert coverage >= 0.95
        inside = int((sizes <= width).sum())
        assert abs(inside - RUNS * coverage) <= 4 * math.sqrt(RUNS * coverage * (1 - coverage))
