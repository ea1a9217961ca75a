"""Numbers: rationals and rounding, distributions, moves between them, and noise.

The names for those who work with laws themselves load their modules when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from takifugu.core.registry import loading

if TYPE_CHECKING:
    from takifugu.numbers.densities.bates import Bates
    from takifugu.numbers.densities.piecewise_linear import PiecewiseLinear
    from takifugu.numbers.distributions.pmf import Pmf
    from takifugu.numbers.transport.on_the_line import monotone_coupling, w_infinity

__all__ = ["Bates", "PiecewiseLinear", "Pmf", "monotone_coupling", "w_infinity"]

__getattr__ = loading(__name__, {
    "Bates": "densities.bates",
    "PiecewiseLinear": "densities.piecewise_linear",
    "Pmf": "distributions.pmf",
    "monotone_coupling": "transport.on_the_line",
    "w_infinity": "transport.on_the_line",
})  # fmt: skip


def __dir__() -> list[str]:
    return list(__all__)
