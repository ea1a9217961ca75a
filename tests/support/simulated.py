"""Data drawn from a belief by definition, value by value; imports no takifugu."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

Draw = Callable[[np.random.Generator], Any]


def chain(matrices: Sequence[Any], length: int, start: Sequence[float]) -> Draw:
    """Draw the states of a chain whose steps have these matrices in turn."""

    def draw(chance: np.random.Generator) -> list[int]:
        states = [int(chance.choice(len(start), p=start))]
        for step in range(length - 1):
            states.append(int(chance.choice(len(start), p=matrices[step % len(matrices)][states[-1]])))
        return states

    return draw


def stationary(matrix: Any) -> list[float]:
    """Return the law that a matrix leaves as it is."""
    law = np.linalg.matrix_power(np.array(matrix), 4096)[0]
    return list(law / law.sum())


def pieces(draws: Sequence[Draw]) -> Draw:
    """Draw sequences that know nothing of each other."""
    return lambda chance: [draw(chance) for draw in draws]


def values(laws: Sequence[Mapping[Any, float]]) -> Draw:
    """Draw a value of each law, independently."""
    return lambda chance: [list(law)[chance.choice(len(law), p=list(law.values()))] for law in laws]


def row(rows: Sequence[Any], masses: Sequence[float], times: int) -> Draw:
    """Draw rows of a table."""
    return lambda chance: [rows[i] for i in chance.choice(len(rows), size=times, p=masses)]
