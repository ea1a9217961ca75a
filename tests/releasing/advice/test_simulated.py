"""What is promised of an error, against a thousand releases of data that are drawn from the belief."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from tests.releasing.advice.test_advice import UNITS

from takifugu.numbers.noise import InsecureSeededEntropyForTests
from takifugu.releasing.advice.advising import worth_of
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.plan import calibrated

RUNS, STEPS = 1000, 168
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
    (tmp_path / "rows.csv").write_text("who,hour,state\n" + "".join(f"a,{h},on\n" for h in range(STEPS)))
    (tmp_path / "release.toml").write_text(changed)
    (table,) = calibrated(load(tmp_path / "release.toml")).tables
    calibration = table.questions[0].calibration
    worth, noise = worth_of(calibration, None), calibration.randomiser
    generator, entropy = np.random.default_rng(11), InsecureSeededEntropyForTests(12)
    truth = np.array([simulated(generator) for _ in range(RUNS)], dtype=float)
    noisy = np.array([noise.draw(tuple(map(int, answer)), entropy) for answer in truth], dtype=float)
    assert worth.difference is not None
    for errors, band in (
        (noisy[:, 0] - truth[:, 0], worth.cell),
        ((noisy[:, 0] - noisy[:, 1]) - (truth[:, 0] - truth[:, 1]), worth.difference),
    ):
        assert band.coverage >= 0.95
        inside = int((np.abs(errors) <= band.width).sum())
        assert abs(inside - RUNS * band.coverage) <= 4 * math.sqrt(RUNS * band.coverage * (1 - band.coverage))
