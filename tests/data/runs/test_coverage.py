"""Why coverage is declared: read off the rows, one step of a person moves an answer by nearly all of the others."""

from __future__ import annotations

from itertools import pairwise, product
from math import exp, log

import numpy as np
import numpy.typing as npt

import takifugu as tf

LENGTH = 10
MATRIX = np.array([[0.01, 0.99], [0.01, 0.99]])
STATES = ("away", "talking")
SEQUENCES = np.array(list(product((0, 1), repeat=LENGTH)))


def law() -> npt.NDArray[np.float64]:
    start = MATRIX[0]
    return np.array([start[x[0]] * np.prod([MATRIX[a, b] for a, b in pairwise(x)]) for x in SEQUENCES])


def changes(sequence: npt.NDArray[np.int64]) -> list[int]:
    """Return at which steps somebody's log has a row, who was away before it began."""
    return [step for step, (one, other) in enumerate(pairwise([0, *sequence.tolist()])) if one != other]


def counted_as_declared(sequence: npt.NDArray[np.int64]) -> int:
    return int(sequence.sum())


def counted_between_rows(sequence: npt.NDArray[np.int64]) -> int:
    rows = changes(sequence)
    return int(sequence[rows[0] : rows[-1]].sum()) if rows else 0


def loss(answers: npt.NDArray[np.int64], scale: float) -> float:
    """Return the most that the log of an output's density differs between the two states of one step."""
    weights, worst = law(), 0.0
    noise = np.array([[exp(-abs(z - answer) / scale) for z in range(LENGTH + 1)] for answer in range(LENGTH + 1)])
    for step in range(LENGTH):
        given = [(weights * (SEQUENCES[:, step] == state)) for state in (0, 1)]
        densities = [(mass / mass.sum()) @ noise[answers] for mass in given]  # extremes lie at the atoms
        worst = max(worst, *(abs(log(one / other)) for one, other in zip(*densities, strict=True)))
    return worst


def test_coverage_from_the_first_row_to_the_last_costs_far_more_than_is_charged() -> None:
    belief = tf.MarkovChain(MATRIX.tolist(), length=LENGTH, initial=MATRIX[0].tolist(), states=list(STATES))
    framework = tf.Pufferfish(secrets=tf.every_entry(), beliefs=[belief])
    calibration = tf.calibrate(framework, tf.Count("talking"), epsilon=0.5, mechanism="influence")
    declared = loss(np.array([*map(counted_as_declared, SEQUENCES)]), float(calibration.scale))
    assert declared <= 0.5 + 1e-9
    assert loss(np.array([*map(counted_between_rows, SEQUENCES)]), float(calibration.scale)) > 5 * 0.5
