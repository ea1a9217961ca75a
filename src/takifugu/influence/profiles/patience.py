"""How far sweeps and searches go, and what is close enough: one policy for all curves."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Patience:
    """How close a run must come to a bound of farther losses: `less_close` after so many positions."""

    close: float  # relatively
    positions: int
    less_close: float

    def enough(self, positions: int) -> float:
        """Return how close a bound must be after so many positions."""
        return self.less_close if positions >= self.positions else self.close


#: Two states step in two numbers: so late the fixed point ends a run, however far it is.
TWO_STATES = Patience(1e-13, 2**18, math.inf)
#: Up to three states a step lists few rays; with more it solves programs, or sorts.
FEW_STATES, MORE_STATES = Patience(1e-13, 4096, 1e-7), Patience(1e-9, 512, 1e-7)
#: Classes of chains step by one function for each distance.
CLASSES = Patience(1e-10, 2048, 1e-4)
#: Steps of a class of chains after which losses that still rise are given up: some seconds of work.
MOST_RISING = 2**15

#: Evaluations of the loss for one scale.
EVALUATIONS = 10.0


def patience_of(states: int) -> Patience:
    """Return how long a sweep over so many states is followed."""
    return FEW_STATES if states <= 3 else MORE_STATES


def most_steps(states: int) -> int:
    """Return a sweep's largest number of steps: some seconds of work."""
    return max(500, 40_000 // states**2)
