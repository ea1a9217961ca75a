"""Continuous distributions on the line, as values: where their density and their masses lie, with proved bounds.

Their numbers are the floats that were given, exactly; what is computed of them is enclosed from both sides, with an
allowance for rounding that is tested against many digits.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from takifugu.core.errors import InputError
from takifugu.core.plain import Json, Plain
from takifugu.core.registry import Registry
from takifugu.numbers.atoms import Floats


@runtime_checkable
class Continuous(Protocol):
    """A distribution with a density; cells and intervals are given by arrays of their ends, which may be infinite."""

    @property
    def mean(self) -> float: ...

    @property
    def deviation(self) -> float: ...

    @property
    def range(self) -> tuple[float, float]:
        """Return the ends of all mass; they may be infinite."""
        ...

    @property
    def edges(self) -> tuple[float, ...]:
        """Return all kinks and jumps, between tails below 1e-300."""
        ...

    def pdf(self, x: Floats) -> Floats: ...

    def bounds(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Bound the density in the open cells from `low` to `high`."""
        ...

    def mass(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Bound the masses of the intervals from `low` to `high`."""
        ...

    def to_dict(self) -> Json: ...

    def describe(self) -> str: ...


class Registered(Continuous, Protocol):
    """A density of a kind that is registered: what it writes down is read back."""

    @staticmethod
    def from_dict(data: Plain) -> Continuous: ...


_KINDS: Registry[type[Registered]] = Registry(
    "the density's kind",
    {
        "normal": "numbers.densities.normal:Normal",
        "normal-mixture": "numbers.densities.normal:NormalMixture",
        "uniform-mean": "numbers.densities.uniform_mean:UniformMean",
        "truncated": "numbers.densities.truncated:Truncated",
    },
)


def from_dict(data: Plain) -> Continuous:
    """Read a density from its plain data; InputError for others.

    >>> from takifugu.numbers.densities.normal import Normal
    >>> from_dict(Normal(0, 2).to_dict())
    Normal(mean=0.0, deviation=2.0)
    """
    return _KINDS.find(data.get("kind")).from_dict(data)


def check_density(law: object) -> Continuous:
    """Return one of this package's densities; InputError for anything else."""
    if not isinstance(law, Continuous):
        discrete = " (a distribution of single values has no density)" if hasattr(law, "masses") else ""
        raise InputError(
            f"{law!r} is no density{discrete}",
            rule="only continuous distributions are close to normal ones in the sense of Zhang22 Definition 6",
            fix="give a Normal, NormalMixture, UniformMean or Truncated; for finite distributions use Records",
        )
    from_dict(law.to_dict())  # what a ledger could not read back is refused here
    return law
