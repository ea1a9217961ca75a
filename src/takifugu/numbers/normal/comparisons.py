"""Two normal laws of an answer that must not be told apart: of one covariance, of two variances, or mixed over sets.

Each kind says the least variance of noise that keeps (epsilon, delta) in both directions, and the delta that a given
variance keeps. More noise is post-processing, so the first is a threshold.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Protocol

from takifugu.core.errors import Unsupported
from takifugu.numbers.after_noise.gaussian import shifted_delta
from takifugu.numbers.after_noise.hockey_stick import LARGEST_EPSILON, gaussian_exact_sigma, gaussian_hockey_stick
from takifugu.numbers.after_noise.laplace_pair import below
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.normal.matrices import Matrix, Vector
from takifugu.numbers.normal.pair import (
    Normal,
    distance_squared,
    least_added_variance,
    least_isotropic_variance,
    noisy_pair_delta,
)
from takifugu.numbers.normal.sets import LEAST_NOISE, Intervals, least_noise, sets_delta, standardised

#: Rounding of the weights of a mixture: a handful of units for each exponential.
_WEIGHTS = Fraction(1, 2**40)


class NormalComparison(Protocol):
    """Two laws of an answer, with `shift` and `covariance` of mere translates."""

    @property
    def shift(self) -> Vector | None: ...

    @property
    def covariance(self) -> Matrix: ...

    def least_variance(self, epsilon: Fraction, delta: Fraction) -> Fraction: ...

    def delta(self, added: Fraction, epsilon: Fraction) -> float: ...


@dataclass(frozen=True)
class Shifted:
    """N(m, C) and N(m + shift, C), vectors of any length."""

    shift: Vector
    covariance: Matrix

    def least_variance(self, epsilon: Fraction, delta: Fraction) -> Fraction:
        return least_isotropic_variance(self.shift, self.covariance, epsilon, delta)

    def delta(self, added: Fraction, epsilon: Fraction) -> float:
        if not any(self.shift):
            return 0.0
        distance = distance_squared(self.shift, self.covariance, added)
        return 1.0 if distance is None else shifted_delta(distance, epsilon)


@dataclass(frozen=True)
class TwoVariances:
    """Two normal laws of one number with any variances."""

    left: Normal
    right: Normal

    shift = None

    @property
    def covariance(self) -> Matrix:
        return ((min(self.left.variance, self.right.variance),),)

    def least_variance(self, epsilon: Fraction, delta: Fraction) -> Fraction:
        return least_added_variance(self.left, self.right, epsilon, delta)

    def delta(self, added: Fraction, epsilon: Fraction) -> float:
        return noisy_pair_delta(self.left, self.right, added, epsilon)


@dataclass(frozen=True)
class TwoSets:
    """The comparison of F for g in one of two interval sets, F and g jointly normal."""

    #: Ends are in deviations of g.
    left: Intervals
    right: Intervals
    #: `explained` is Cov(F, g)^2 / Var(g), `residual` the rest of Var(F).
    explained: Fraction
    residual: Fraction

    shift = None

    @property
    def covariance(self) -> Matrix:
        return ((self.residual,),)

    def least_variance(self, epsilon: Fraction, delta: Fraction) -> Fraction:
        if not self.explained:
            return Fraction(0)
        noise = least_noise(self.left, self.right, below(epsilon), below(delta))
        return max(Fraction(0), Fraction(noise) ** 2 * self.explained - self.residual)

    def delta(self, added: Fraction, epsilon: Fraction) -> float:
        if not self.explained:
            return 0.0
        noise = math.sqrt((self.residual + added) / self.explained) * (1 - 2.0**-50)
        if noise < LEAST_NOISE:
            return 1.0
        budget = below(epsilon)
        return max(sets_delta(self.left, self.right, noise, budget), sets_delta(self.right, self.left, noise, budget))


@dataclass(frozen=True)
class TwoMixtures:
    """The comparison of F given g in one of two finite sets, values of g counted by their density."""

    #: Pairs (shift, exponent): F is the shift, of a weight proportional to e^-exponent, plus N(0, residual).
    left: tuple[tuple[Fraction, Fraction], ...]
    right: tuple[tuple[Fraction, Fraction], ...]
    residual: Fraction

    @property
    def shift(self) -> Vector:
        """Return the largest move between values of two sets (errata X1)."""
        moves = [b - a for (a, _), (b, _) in product(self.left, self.right)]
        return (max(moves, key=abs),)

    @property
    def covariance(self) -> Matrix:
        return ((self.residual,),)

    def least_variance(self, epsilon: Fraction, delta: Fraction) -> Fraction:
        value_by_value = Shifted(self.shift, self.covariance).least_variance(epsilon, delta)
        p, q = self._laws()
        if not value_by_value or p is None or q is None or epsilon - 4 * _WEIGHTS <= 0:
            return value_by_value
        sigma = gaussian_exact_sigma(p, q, epsilon - 4 * _WEIGHTS, delta * (1 - 2 * _WEIGHTS))
        return max(Fraction(0), min(value_by_value, Fraction(sigma) ** 2 - self.residual))

    def delta(self, added: Fraction, epsilon: Fraction) -> float:
        value_by_value = Shifted(self.shift, self.covariance).delta(added, epsilon)
        sigma, (p, q) = math.sqrt(self.residual + added) * (1 - 2.0**-50), self._laws()
        if not sigma or p is None or q is None or epsilon - 4 * _WEIGHTS <= 0:
            return value_by_value
        budget = min(epsilon - 4 * _WEIGHTS, LARGEST_EPSILON)
        delta = max(gaussian_hockey_stick(p, q, sigma, budget)[1], gaussian_hockey_stick(q, p, sigma, budget)[1])
        return min(value_by_value, delta * (1 + 2 * float(_WEIGHTS)))

    def _laws(self) -> tuple[Pmf | None, Pmf | None]:
        return _mixed(self.left), _mixed(self.right)


def _mixed(values: Sequence[tuple[Fraction, Fraction]]) -> Pmf | None:
    """Return the law of the shifts, unless a weight vanishes."""
    exponents = [exponent for _, exponent in values]
    least = min(exponents)
    if max(exponents) - least > 600:
        return None
    weights = dict[Fraction, float]()
    for shift, exponent in values:
        weights[shift] = weights.get(shift, 0.0) + math.exp(-float(exponent - least))
    total = math.fsum(weights.values())
    return Pmf(list(weights), [weight / total for weight in weights.values()])


def between_sets(
    left: Sequence[tuple[Fraction | None, Fraction | None]],
    right: Sequence[tuple[Fraction | None, Fraction | None]],
    mean: Fraction,
    variance: Fraction,
    shared: Fraction,
    whole: Fraction,
) -> TwoSets:
    """Return the comparison of two sets of intervals of g ~ N(mean, variance)."""
    # `shared` is Cov(F, g), `whole` is Var(F).
    deviation, explained = math.sqrt(variance), shared**2 / variance
    of_left, of_right = standardised(left, mean, deviation), standardised(right, mean, deviation)
    return TwoSets(of_left, of_right, explained, whole - explained)


def between_values(
    left: Sequence[Fraction],
    right: Sequence[Fraction],
    mean: Fraction,
    variance: Fraction,
    shared: Fraction,
    whole: Fraction,
) -> TwoMixtures:
    """Return the comparison of two finite sets of values of g ~ N(mean, variance)."""
    # `shared` is Cov(F, g), `whole` is Var(F).
    slope = shared / variance

    def listed(values: Sequence[Fraction]) -> tuple[tuple[Fraction, Fraction], ...]:
        return tuple((slope * (value - mean), (value - mean) ** 2 / (2 * variance)) for value in values)

    return TwoMixtures(listed(left), listed(right), whole - shared**2 / variance)


def one_number(covariance: Matrix) -> Fraction:
    """Return a scalar answer's variance; Unsupported for a vector."""
    if len(covariance) > 1:
        raise Unsupported(
            "the answer has several numbers, and sets of values or two variances are compared for one number",
            fix="publish one number, or compare values up to a max_difference",
        )
    return covariance[0][0]
