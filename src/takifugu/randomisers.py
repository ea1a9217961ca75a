"""Randomisers: what is added to an answer, as a law that the audit can enumerate and a draw that noise.py makes.

All work on a vector answer of integers in units of a grid; `scale` and errors are in answer units (units x grid).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from takifugu.laws.rationals import to_text
from takifugu.noise import Entropy

Answer = tuple[int | Fraction, ...]


class Randomiser(Protocol):
    """Additive noise, exponential choice, a channel: all look alike from outside."""

    @property
    def kind(self) -> str: ...

    @property
    def scale(self) -> Fraction: ...

    @property
    def grid(self) -> Fraction: ...

    @property
    def cells(self) -> int: ...

    def draw(self, answer: Answer, entropy: Entropy) -> tuple[Fraction, ...]: ...

    def log_density(self, answer: Answer, output: tuple[Fraction, ...]) -> float: ...

    def expected_error(self) -> float: ...

    def half_width(self, level: float) -> Fraction: ...

    def to_dict(self) -> dict[str, Any]: ...
