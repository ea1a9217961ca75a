"""What a person's device does with a value: sends one, a tuple of them, or bits; and what that gives away and costs."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from takifugu.mechanisms.local.measuring import distribution_delta, distribution_loss, local_loss
from takifugu.mechanisms.local.over_classes import bits_delta_over, bits_loss_over, delta_over, loss_over
from takifugu.mechanisms.local.populations import Populations
from takifugu.mechanisms.local.quality import tuple_loss, worst_tuple_loss
from takifugu.mechanisms.local.rappor import Rappor
from takifugu.mechanisms.local.tupling import Tupling
from takifugu.numbers.distributions.channel import Channel


class Sender(Protocol):
    """A way to send a value of some populations; of counted ones epsilon and delta hold over their whole class."""

    def epsilon(self, populations: Populations) -> float:
        """Return the least epsilon of distribution privacy with delta 0; infinite where there is none."""
        ...

    def delta(self, populations: Populations, epsilon: Fraction) -> float:
        """Return the least delta at epsilon, over every two populations, both ways."""
        ...

    def local_epsilon(self) -> float:
        """Return the epsilon of local differential privacy; infinite where there is none."""
        ...

    def expected_loss(self, populations: Populations) -> float: ...

    def worst_loss(self, populations: Populations) -> float: ...


@dataclass(frozen=True, eq=False)
class OneValue:
    """A channel from the values to outputs, sent one for one."""

    channel: Channel
    distances: npt.NDArray[np.float64]

    def epsilon(self, populations: Populations) -> float:
        if populations.regions is not None:
            return loss_over(self.channel, populations.regions)
        laws = populations.laws
        return max(distribution_loss(self.channel, laws[a], laws[b]) for a, b in populations.pairs)

    def delta(self, populations: Populations, epsilon: Fraction) -> float:
        if populations.regions is not None:
            return delta_over(self.channel, populations.regions, epsilon)
        laws = populations.laws
        return max(distribution_delta(self.channel, laws[a], laws[b], epsilon) for a, b in populations.pairs)

    def local_epsilon(self) -> float:
        return local_loss(self.channel)

    def expected_loss(self, populations: Populations) -> float:
        return tuple_loss(self.channel, populations.prior, self.distances, 0)

    def worst_loss(self, populations: Populations) -> float:
        return worst_tuple_loss(self.channel, self.distances)


@dataclass(frozen=True, eq=False)
class Tuple:
    """A channel's output among `dummies` uniform ones, in uniform order (Kawamoto19 Algorithm 1, errata N6)."""

    channel: Channel
    dummies: int
    distances: npt.NDArray[np.float64]

    def epsilon(self, populations: Populations) -> float:
        """Return the pure epsilon: that of the channel alone, because all dummies may be the least likely output."""
        return OneValue(self.channel, self.distances).epsilon(populations)

    def delta(self, populations: Populations, epsilon: Fraction) -> float:
        if populations.regions is not None:
            return delta_over(self.channel, populations.regions, epsilon, self.dummies)
        tupling = Tupling(self.dummies)
        lifted = {name: self._lifted(law) for name, law in populations.laws.items()}
        both = [*populations.pairs, *((b, a) for a, b in populations.pairs)]
        return max(tupling.delta(lifted[a], lifted[b], epsilon) for a, b in both)

    def local_epsilon(self) -> float:
        return local_loss(self.channel)

    def expected_loss(self, populations: Populations) -> float:
        return tuple_loss(self.channel, populations.prior, self.distances, self.dummies)

    def worst_loss(self, populations: Populations) -> float:
        return worst_tuple_loss(self.channel, self.distances)


    def _lifted(self, law: Any) -> list[Fraction]:
        lifted = self.channel.lift(law)
        return [Fraction(lifted.get(y, 0)) for y in self.channel.outputs]


@dataclass(frozen=True, eq=False)
class Bits:
    """One bit per value (`local.rappor`): a receiver sees the set of values whose bits are 1."""

    rappor: Rappor

    def epsilon(self, populations: Populations) -> float:
        if populations.regions is not None:
            return bits_loss_over(self.rappor, populations.regions)
        laws = populations.laws
        return max(self.rappor.distribution_loss(laws[a], laws[b]) for a, b in populations.pairs)

    def delta(self, populations: Populations, epsilon: Fraction) -> float:
        if populations.regions is not None:
            return bits_delta_over(self.rappor, populations.regions, epsilon)
        laws, pairs = populations.laws, [*populations.pairs, *((b, a) for a, b in populations.pairs)]
        return max(self.rappor.delta(laws[a], laws[b], epsilon).high for a, b in pairs)

    def local_epsilon(self) -> float:
        return self.rappor.epsilon

    def expected_loss(self, populations: Populations) -> float:
        """Return the mean distance to the closest set bit; none set costs the diameter."""
        return self.rappor.expected_loss(populations.prior, populations.distances)

    def worst_loss(self, populations: Populations) -> float:
        return float(populations.distances.max())
