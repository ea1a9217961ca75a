"""Normal distributions and mixtures of them."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from takifugu.core.errors import InputError
from takifugu.core.plain import PlainForm, set_fields
from takifugu.core.rules import list_of
from takifugu.numbers.atoms import Floats
from takifugu.numbers.densities import TINY, between_tails, finite, positive

#: In deviations: beyond the last the mass is below 1e-300.
_PLACES = (-38, -20, -10, -5, -3, -2, -1, 0, 1, 2, 3, 5, 10, 20, 38)


@dataclass(frozen=True)
class Normal(PlainForm, kind="normal"):
    """Model a number by a normal distribution.

    Args:
        mean: The mean, in answer units.
        deviation: The standard deviation, in answer units, above 0.

    Raises:
        InputError: Unless both are finite and the deviation is above 0.

    Examples:
        >>> Normal(1, 2).pdf(np.array([1.0])).round(6).tolist()
        [0.199471]
    """

    mean: float
    deviation: float

    def __post_init__(self) -> None:
        set_fields(self, mean=finite(self.mean, "mean"), deviation=positive(self.deviation, "deviation"))

    @property
    def range(self) -> tuple[float, float]:
        return -math.inf, math.inf

    @property
    def edges(self) -> tuple[float, ...]:
        return tuple(self.mean + self.deviation * place for place in _PLACES)

    @property
    def parts(self) -> tuple[tuple[float, Normal], ...]:
        """Return the only normal distribution of which it is made, with its weight."""
        return ((1.0, self),)

    def pdf(self, x: Floats) -> Floats:
        return self._height(np.abs(self._standard(x)))

    def bounds(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        left, right = self._standard(low), self._standard(high)
        near, far = np.maximum(np.maximum(left, -right), 0.0), np.maximum(np.abs(left), np.abs(right))
        least, most = self._height(far), self._height(near)
        # A distance is right up to 2^-52 relative, so its half square up to 2^-51 z^2.
        return least * (1 - _relative(far)) - TINY, most * (1 + _relative(near)) + TINY

    def mass(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        from scipy.special import ndtr

        return between_tails(
            low, high, self.mean, lambda x: ndtr(self._standard(x)), lambda x: ndtr(-self._standard(x)),
            lambda x: _relative(self._standard(x)),
        )  # fmt: skip

    def _standard(self, x: Floats) -> Floats:
        return (x - self.mean) / self.deviation

    def _height(self, z: Floats) -> Floats:
        height: Floats = np.exp(-z * z / 2) / (self.deviation * math.sqrt(2 * math.pi))
        return height

    def describe(self) -> str:
        return f"normal, mean {self.mean:g}, deviation {self.deviation:g}"


def _relative(z: Floats) -> Floats:
    """Return the relative error of heights and tails at z deviations."""
    return 2.0**-46 * (1 + np.where(np.isfinite(z), z, 0.0) ** 2)


@dataclass(frozen=True)
class NormalMixture(PlainForm, kind="normal-mixture"):
    """Model a number by a mixture of normal distributions.

    Args:
        weights: The components' probabilities, which sum to 1 within 1e-9.
        means: Their means, in answer units.
        deviations: Their standard deviations, in answer units.

    Raises:
        InputError: For lists of different lengths, weights that are no probabilities, and what `Normal` refuses.

    Examples:
        >>> NormalMixture([0.75, 0.25], [0, 4], [1, 2]).mean
        1.0
    """

    weights: tuple[float, ...]
    means: tuple[float, ...]
    deviations: tuple[float, ...]

    def __init__(self, weights: Sequence[Hashable], means: Sequence[Hashable], deviations: Sequence[Hashable]) -> None:
        shares = [positive(weight, "weights") for weight in list_of(weights, "the weights", "weights", "[0.5, 0.5]")]
        middles = [finite(mean, "means") for mean in list_of(means, "the means", "means", "[0, 4]")]
        widths = list_of(deviations, "the deviations", "deviations", "[1, 2]")
        if not len(shares) == len(middles) == len(widths) > 0:
            raise InputError(
                f"{len(shares)} weights, {len(middles)} means and {len(widths)} deviations",
                fix="give one of each for every normal distribution of the mixture",
            ).at("weights")
        total = math.fsum(shares)
        if abs(total - 1) > 1e-9:
            raise InputError(f"the weights sum to {total:.12g}", rule="they must sum to 1 within 1e-9").at("weights")
        widths = [positive(width, "deviations") for width in widths]
        set_fields(self, weights=tuple(shares), means=tuple(middles), deviations=tuple(widths))

    @cached_property
    def parts(self) -> tuple[tuple[float, Normal], ...]:
        """Return each weight with its normal distribution."""
        total = math.fsum(self.weights)
        normals = map(Normal, self.means, self.deviations)
        return tuple((weight / total, normal) for weight, normal in zip(self.weights, normals, strict=True))

    @property
    def mean(self) -> float:
        return math.fsum(weight * part.mean for weight, part in self.parts)

    @property
    def deviation(self) -> float:
        middle = self.mean
        return math.sqrt(math.fsum(w * (part.deviation**2 + (part.mean - middle) ** 2) for w, part in self.parts))

    @property
    def range(self) -> tuple[float, float]:
        return -math.inf, math.inf

    @property
    def edges(self) -> tuple[float, ...]:
        return tuple(sorted(set().union(*(part.edges for _, part in self.parts))))

    def pdf(self, x: Floats) -> Floats:
        total: Floats = sum((weight * part.pdf(x) for weight, part in self.parts), np.zeros_like(x))
        return total

    def bounds(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        return self._mixed([part.bounds(low, high) for _, part in self.parts])

    def mass(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        return self._mixed([part.mass(low, high) for _, part in self.parts])

    def _mixed(self, enclosures: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
        slack = 2.0**-50 * (len(enclosures) + 4)
        weights = np.array([weight for weight, _ in self.parts])
        least, most = (weights @ np.stack(side) for side in zip(*enclosures, strict=True))
        return least - slack * np.abs(least), most * (1 + slack)

    def describe(self) -> str:
        return f"a mixture of {len(self.parts)} normal distributions, mean {self.mean:g}, deviation {self.deviation:g}"
