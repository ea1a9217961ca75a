"""The true delta of two normal releases about a chain of two entries, the second of which is chosen by the first.

Secret is the first entry; the law of the second one given it is (P(1 | 0), P(1 | 1)). No code of the library is used.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

Choice = Callable[[float], tuple[float, float]]


def density(outputs: np.ndarray, mean: float) -> np.ndarray:
    return np.exp(-((outputs - mean) ** 2) / 2) / math.sqrt(2 * math.pi)


def hockey_stick(moves: tuple[float, float], given: Sequence[float], epsilon: float) -> float:
    """The largest gain over both directions of one release that the entries move by so much."""
    outputs = np.linspace(-10, 10 + sum(moves), 2001)
    laws = [
        sum(p * density(outputs, a * moves[0] + b * moves[1]) for b, p in ((0, 1 - given[a]), (1, given[a])))
        for a in (0, 1)
    ]
    return float(np.trapezoid(np.maximum(laws[1] - math.exp(epsilon) * laws[0], 0), outputs))


def adaptive_delta(first: float, choice: Choice, given: Sequence[float], epsilon: float) -> float:
    """P(S | 1) - e^epsilon P(S | 0) at its largest: entry 0 moves the first release, `choice` the second one.

    The first output tells of entry 0 alone, so that it adds to the log-ratio what it tells.
    """
    outputs = np.linspace(-8, 8 + first, 401)
    ratio = outputs * first - first * first / 2
    rest = [
        hockey_stick(choice(output), given, epsilon - spent)
        for output, spent in zip(outputs.tolist(), ratio.tolist(), strict=True)
    ]
    return float(np.trapezoid(density(outputs, first) * np.array(rest), outputs))
