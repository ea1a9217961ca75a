"""Numbers: rationals and rounding, distributions, moves between them, and noise.

The names for those who work with laws themselves load their modules when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from takifugu.numbers.densities.bates import Bates
    from takifugu.numbers.densities.piecewise_linear import PiecewiseLinear
    from takifugu.numbers.distributions.pmf import Pmf
    from takifugu.numbers.transport.on_the_line import monotone_coupling, w_infinity

__all__ = ["Bates", "PiecewiseLinear", "Pmf", "monotone_coupling", "w_infinity"]

_HOME = {
    "Bates": "densities.bates",
    "PiecewiseLinear": "densities.piecewise_linear",
    "Pmf": "distributions.pmf",
    "monotone_coupling": "transport.on_the_line",
    "w_infinity": "transport.on_the_line",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'takifugu.numbers' has no attribute {name!r}")
    return getattr(import_module(f"takifugu.numbers.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
