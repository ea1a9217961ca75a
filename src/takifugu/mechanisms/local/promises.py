"""What a channel may be asked to keep: local, metric and distribution privacy, alone or together.

Each promise knows its linear constraints on a channel K, written sparsely, and how a finished channel is measured
against it. The forms are exact:

* local: m_y <= K_xy <= e^epsilon m_y with one more variable m_y per output. It says that the largest of a column is at
  most e^epsilon times its smallest, which is all pairs at once (m_y = min_x K_xy): 2 |X| |Y| rows, not |X|^2 |Y|.
* metric: K_xy <= e^(epsilon d(x, x')) K_x'y for all pairs.
* distribution: P_y <= e^epsilon Q_y + t_y for every y, with t_y >= 0, sum t_y <= delta, P = p K and Q = q K; both ways.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

import numpy as np

from takifugu.core.errors import InputError
from takifugu.mechanisms.common.channel_program import Limits, ratio_limits
from takifugu.mechanisms.local.measuring import Floats, distribution_delta, distribution_loss, local_loss, metric_loss
from takifugu.numbers.atoms import masses_at
from takifugu.numbers.distributions.channel import Channel
from takifugu.numbers.rationals import Number, as_fraction, as_non_negative
from takifugu.numbers.transport.bottleneck import Metric, Population, checked_distances

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class Promise(Protocol):
    """One thing that a channel keeps."""

    def numbers(self, inputs: int, outputs: int) -> int:
        """Return how many numbers `rows` will hold, before anything is made."""
        ...

    def rows(self, inputs: Sequence[Hashable], outputs: int, share: float) -> Limits: ...

    def columns(self, inputs: Sequence[Hashable], share: float) -> csr_array | None:
        """Return sparse G, constraints x inputs, with G K_y <= 0; None where only `rows` says all."""
        ...

    def measured(self, channel: Channel) -> float: ...

    def keeps(self, channel: Channel) -> bool: ...


@dataclass(frozen=True)
class LocalPrivacy:
    """No output tells any two values apart by more than epsilon."""

    epsilon: Fraction

    def numbers(self, inputs: int, outputs: int) -> int:
        return 4 * inputs * outputs

    def rows(self, inputs: Sequence[Hashable], outputs: int, share: float) -> Limits:
        from scipy.sparse import bmat, csr_array, eye_array, kron

        entries = eye_array(len(inputs) * outputs)
        least = kron(csr_array(np.ones((len(inputs), 1))), eye_array(outputs))
        limits = bmat([[-entries, least], [entries, -_factor(float(self.epsilon) * share) * least]], format="csr")
        return Limits(limits, np.zeros(limits.shape[0]), outputs)

    def columns(self, inputs: Sequence[Hashable], share: float) -> None:
        return None

    def measured(self, channel: Channel) -> float:
        return local_loss(channel)

    def keeps(self, channel: Channel) -> bool:
        return self.measured(channel) <= self.epsilon


@dataclass(frozen=True)
class MetricPrivacy:
    """No output tells two values at distance d apart by more than epsilon d."""

    epsilon: Fraction
    metric: Metric

    def numbers(self, inputs: int, outputs: int) -> int:
        return 2 * outputs * inputs * (inputs - 1)

    def rows(self, inputs: Sequence[Hashable], outputs: int, share: float) -> Limits:
        return ratio_limits(self.columns(inputs, share), outputs)

    def columns(self, inputs: Sequence[Hashable], share: float) -> csr_array:
        """Return x_i <= e^(rate d_ij) x_j for all pairs, both directions, each divided by its factor."""
        from scipy.sparse import csr_array

        distances = checked_distances(list(inputs), list(inputs), self.metric).astype(float)
        later, earlier = np.tril_indices(len(inputs), -1)
        left, right = np.concatenate([later, earlier]), np.concatenate([earlier, later])
        steps = np.arange(len(left))
        # Divided by the larger factor: no number of the program is above 1.
        factors = np.exp(-(share * float(self.epsilon)) * distances[left, right])
        values = np.concatenate([factors, -np.ones(len(left))])
        places = (np.concatenate([steps, steps]), np.concatenate([left, right]))
        return csr_array((values, places), shape=(len(left), len(distances)))

    def measured(self, channel: Channel) -> float:
        return metric_loss(channel, self.metric)

    def keeps(self, channel: Channel) -> bool:
        return self.measured(channel) <= self.epsilon


@dataclass(frozen=True)
class DistributionPrivacy:
    """No output tells population p from population q by more than epsilon, but for a share delta; both ways."""

    p: Population
    q: Population
    epsilon: Fraction
    delta: Fraction = Fraction(0)

    def numbers(self, inputs: int, outputs: int) -> int:
        return 2 * outputs * (inputs + 2)

    def rows(self, inputs: Sequence[Hashable], outputs: int, share: float) -> Limits:
        return ratio_limits(self._ratios(inputs, share), outputs, float(self.delta) * share)

    def columns(self, inputs: Sequence[Hashable], share: float) -> csr_array | None:
        from scipy.sparse import csr_array

        return None if self.delta else csr_array(self._ratios(inputs, share))

    def _ratios(self, inputs: Sequence[Hashable], share: float) -> Floats:
        p, q = masses_at(self.p, inputs), masses_at(self.q, inputs)
        factor = _factor(float(self.epsilon) * share)
        return np.array([p - factor * q, q - factor * p])

    def measured(self, channel: Channel) -> float:
        """Return the measured epsilon, or the delta if one is allowed."""
        if self.delta:
            return distribution_delta(channel, self.p, self.q, self.epsilon)
        return distribution_loss(channel, self.p, self.q)

    def keeps(self, channel: Channel) -> bool:
        return self.measured(channel) <= (self.delta or self.epsilon)


def hides_value(epsilon: Number) -> LocalPrivacy:
    """Return the promise of local differential privacy."""
    return LocalPrivacy(as_non_negative(epsilon, "epsilon", "epsilon"))


def hides_distance(epsilon: Number, metric: Metric) -> MetricPrivacy:
    """Return the promise of metric privacy."""
    return MetricPrivacy(as_non_negative(epsilon, "epsilon", "epsilon"), metric)


def hides_population(p: Population, q: Population, epsilon: Number, delta: Number = 0) -> DistributionPrivacy:
    """Return the promise of distribution privacy of two populations."""
    share = as_fraction(delta, "delta", "delta")
    if not 0 <= share < 1:
        raise InputError(f"delta is {delta!r}", rule="it must be at least 0 and below 1").at("delta")
    allowed = as_non_negative(epsilon, "epsilon", "epsilon")
    return DistributionPrivacy(checked(p, "p"), checked(q, "q"), allowed, share)


def checked(population: Population, name: str) -> Population:
    """Return a population with masses >= 0 and sum 1, up to 1e-9; InputError for others."""
    total = math.fsum(map(float, population.values()))
    if not population or any(not mass >= 0 for mass in population.values()) or not abs(total - 1) <= 1e-9:
        raise InputError(
            f"the masses of {name} sum to {total:g}", rule="a population has masses that are not negative and sum to 1"
        ).at(name)
    return population


def _factor(rate: float) -> float:
    """Return e^rate, at most e^30."""
    # Beyond it a solver calls the number an error, and what it adds is below rounding.
    return math.exp(min(rate, 30.0))
