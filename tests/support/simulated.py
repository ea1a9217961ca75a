"""Data drawn from a belief by definition, value by value; imports no takifugu."""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

Draw = Callable[[np.random.Generator], Any]


def chain(matrices: Sequence[Any], length: int, start: Sequence[float]) -> Draw:
    """Draw the states of a chain whose steps have these matrices in turn."""
    first, rows = _sums(start), [[_sums(row) for row in matrix] for matrix in matrices]

    def draw(chance: np.random.Generator) -> list[int]:
        uniforms = chance.random(length).tolist()
        states = [bisect_right(first, uniforms[0])]
        for step, uniform in enumerate(uniforms[1:]):
            states.append(bisect_right(rows[step % len(rows)][states[-1]], uniform))
        return states

    return draw


def _sums(law: Sequence[float]) -> list[float]:
    """Return up to which uniform number each value is drawn, as `Generator.choice` does in fifty times the time."""
    sums = np.cumsum(law)
    return list((sums / sums[-1]).tolist())


def stationary(matrix: Any) -> list[float]:
    """Return the law that a matrix leaves as it is."""
    law = np.linalg.matrix_power(np.array(matrix), 4096)[0]
    return list(law / law.sum())


def pieces(draws: Sequence[Draw]) -> Draw:
    """Draw sequences that know nothing of each other."""
    return lambda chance: [draw(chance) for draw in draws]


def values(laws: Sequence[Mapping[Any, float]]) -> Draw:
    """Draw a value of each law, independently."""
    named = [(list(law), _sums([*law.values()])) for law in laws]
    return lambda chance: [
        names[bisect_right(sums, uniform)]
        for (names, sums), uniform in zip(named, chance.random(len(named)).tolist(), strict=True)
    ]


def row(rows: Sequence[Any], masses: Sequence[float], times: int) -> Draw:
    """Draw rows of a table."""
    return lambda chance: [rows[i] for i in chance.choice(len(rows), size=times, p=masses)]
