"""The joint loss of Laplace releases, by every joint state and every transcript of atoms. Imports no takifugu.

With the other coordinates fixed a log-ratio is monotone between the atoms of a coordinate, so the supremum is at atoms.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations, product
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

Array = npt.NDArray[np.float64]
Law = Mapping[tuple[int, ...], Any]


def log_densities(law: Law, answers: Array, scales: Sequence[Any], entry: int) -> dict[int, Array]:
    """Return the log-density of every transcript given each value of an entry, up to what all have in common.

    `answers` has one row for each state of the law and one column for each number that is published.
    """
    paths, masses = np.array(list(law)), np.array([float(mass) for mass in law.values()])
    outputs = np.array(list(product(*(sorted({*column}) for column in answers.T.tolist()))))
    distances = np.abs(outputs[:, None, :] - answers[None, :, :])
    densities = {}
    with np.errstate(divide="ignore", invalid="ignore"):
        exponents = -np.where(distances == 0, 0.0, distances / np.array(scales, dtype=float)).sum(axis=2)
        for value in sorted({*paths[:, entry].tolist()}):
            mine = paths[:, entry] == value
            densities[value] = logsumexp(exponents[:, mine], axis=1, b=masses[mine] / masses[mine].sum())
    return densities


def log_ratio(p: Array, q: Array) -> float:
    """Return the largest log-ratio of two laws of transcripts, infinite where only the first allows one."""
    reached = p > -np.inf
    return float((p[reached] - q[reached]).max())


def largest_loss(law: Law, answers: Array, scales: Sequence[Any], entries: Iterable[int]) -> float:
    """Return the largest log-ratio over some entries and every two of their values, both ways."""
    worst = 0.0
    for entry in entries:
        for p, q in permutations(log_densities(law, answers, scales, entry).values(), 2):
            worst = max(worst, log_ratio(p, q))
    return worst
