"""What one release promises: definition, epsilon, delta, how it composes, and under which assumptions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

from takifugu.laws.rationals import to_text


class Composition(str, Enum):
    """How a release adds up with others on the same source (DESIGN §4)."""

    WHOLE = "whole"  # covers every change of the whole data set: adds with everything
    DATA = "data"  # covers every change of one unit or component: adds with whole and data
    QUILT = "quilt"  # additive noise charged by e(Q) + sum of D(N)/b: joint cost over quilts
    SINGLE = "single"  # a promise about this output's law only: adds with whole alone

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Guarantee:
    """A promise: Pr[M in S | a] <= e^epsilon Pr[M in S | b] + delta for every comparison a -> b of the framework."""

    epsilon: Fraction
    delta: Fraction
    composition: Composition
    definition: str
    framework: str
    assumptions: tuple[str, ...]
    conditions: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {
            "definition": self.definition,
            "framework": self.framework,
            "epsilon": to_text(self.epsilon),
            "delta": to_text(self.delta),
            "composition": str(self.composition),
            "assumptions": list(self.assumptions),
            "conditions": list(self.conditions),
        }
