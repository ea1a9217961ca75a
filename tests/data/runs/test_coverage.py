"""Why coverage is declared: read off the rows, one step of a person moves an answer by nearly all of the others."""

from itertools import pairwise, product
from math import exp, log

import numpy as np
import numpy.typing as npt

import takifugu as tf

LENGTH = 10
MATRIX = np.array([[0.01, 0.99], [0.01, 0.99]])
#: Of a belief in which something happens now and then.
RARE = np.array([[0.9, 0.1], [0.9, 0.1]])
STATES = ("away", "talking")
SEQUENCES = np.array(list(product((0, 1), repeat=LENGTH)))


def law(matrix: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    start = matrix[0]
    return np.array([start[x[0]] * np.prod([matrix[a, b] for a, b in pairwise(x)]) for x in SEQUENCES])


def changes(sequence: npt.NDArray[np.int64]) -> list[int]:
    """Return at which steps somebody's log has a row, who was away before it began."""
    return [step for step, (one, other) in enumerate(pairwise([0, *sequence.tolist()])) if one != other]


def counted_as_declared(sequence: npt.NDArray[np.int64]) -> int:
    return int(sequence.sum())


def counted_between_rows(sequence: npt.NDArray[np.int64]) -> int:
    rows = changes(sequence)
    return int(sequence[rows[0] : rows[-1]].sum()) if rows else 0


def quiet_as_declared(sequence: npt.NDArray[np.int64]) -> int:
    return LENGTH - int(sequence.sum())


def quiet_between_events(sequence: npt.NDArray[np.int64]) -> int:
    events = np.flatnonzero(sequence)
    return int((sequence[events[0] : events[-1]] == 0).sum()) if len(events) else 0


def loss(answers: npt.NDArray[np.int64], scale: float, matrix: npt.NDArray[np.float64] = MATRIX) -> float:
    """Return the most that the log of an output's density differs between the two states of one step."""
    weights, worst = law(matrix), 0.0
    noise = np.array([[exp(-abs(z - answer) / scale) for z in range(LENGTH + 1)] for answer in range(LENGTH + 1)])
    for step in range(LENGTH):
        given = [(weights * (SEQUENCES[:, step] == state)) for state in (0, 1)]
        densities = [(mass / mass.sum()) @ noise[answers] for mass in given]  # extremes lie at the atoms
        worst = max(worst, *(abs(log(one / other)) for one, other in zip(*densities, strict=True)))
    return worst


def scale_of(matrix: npt.NDArray[np.float64], state: str) -> float:
    belief = tf.MarkovChain(matrix.tolist(), length=LENGTH, initial=matrix[0].tolist(), states=list(STATES))
    framework = tf.Pufferfish(secrets=tf.every_entry(), beliefs=[belief])
    return float(tf.calibrate(framework, tf.Count(state), epsilon=0.5, mechanism="influence").scale)


def test_coverage_from_the_first_row_to_the_last_costs_far_more_than_is_charged() -> None:
    scale = scale_of(MATRIX, "talking")
    assert loss(np.array([*map(counted_as_declared, SEQUENCES)]), scale) <= 0.5 + 1e-9
    assert loss(np.array([*map(counted_between_rows, SEQUENCES)]), scale) > 5 * 0.5


def test_coverage_from_the_first_event_to_the_last_costs_far_more_than_is_charged() -> None:
    scale = scale_of(RARE, "away")
    assert loss(np.array([*map(quiet_as_declared, SEQUENCES)]), scale, RARE) <= 0.5 + 1e-9
    assert loss(np.array([*map(quiet_between_events, SEQUENCES)]), scale, RARE) > 3 * 0.5
