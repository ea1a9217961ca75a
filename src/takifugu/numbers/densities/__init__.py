"""Continuous distributions on the line, as values: where their density and their masses lie, with proved bounds.

Their numbers are the floats that were given, exactly; what is computed of them is enclosed from both sides, with an
allowance for rounding that is tested against many digits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

from takifugu.core.errors import InputError, did_you_mean
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
        """The ends of the interval outside which there is no mass; they may be infinite."""
        ...

    @property
    def edges(self) -> tuple[float, ...]:
        """Increasing finite places: all kinks and jumps, and first and last ones with a mass below 1e-300 outside."""
        ...

    def pdf(self, x: Floats) -> Floats: ...

    def bounds(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Return numbers below and above the density in the open cells from `low` to `high`."""
        ...

    def mass(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Return numbers below and above the masses of the intervals from `low` to `high`."""
        ...

    def to_dict(self) -> dict[str, Any]: ...

    def describe(self) -> str: ...


_KINDS = {
    "normal": "normal:Normal", "normal-mixture": "normal:NormalMixture", "uniform-mean": "uniform_mean:UniformMean",
    "truncated": "truncated:Truncated",
}  # fmt: skip


def from_dict(data: Mapping[str, Any]) -> Continuous:
    """Read a density back from its `to_dict` form; InputError for an unknown kind.

    >>> from takifugu.numbers.densities.normal import Normal
    >>> from_dict(Normal(0, 2).to_dict())
    Normal(mean=0.0, deviation=2.0)
    """
    kind = data.get("kind")
    if kind not in _KINDS:
        raise InputError(
            f"the kind of density is {kind!r}", fix=f"write one of {sorted(_KINDS)}{did_you_mean(kind, _KINDS)}"
        ).at("kind")
    module, name = _KINDS[str(kind)].split(":")
    read: Callable[[Mapping[str, Any]], Continuous] = getattr(import_module(f"{__name__}.{module}"), name).from_dict
    return read(data)


def check_density(law: object) -> Continuous:
    """Return what is given if it is one of the densities of this package; InputError for anything else."""
    if not isinstance(law, Continuous):
        discrete = " (a distribution of single values has no density)" if hasattr(law, "masses") else ""
        raise InputError(
            f"{law!r} is no density{discrete}",
            rule="only continuous distributions are close to normal ones in the sense of Zhang22 Definition 6",
            fix="give a Normal, NormalMixture, UniformMean or Truncated; for finite distributions use Records",
        )
    from_dict(law.to_dict())  # what a ledger could not read back is refused here
    return law
