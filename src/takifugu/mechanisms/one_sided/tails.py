"""Tail probabilities of the noise of one count, enclosed: what a one-sided answer may be wrong by.

With b = sensitivity / epsilon and a = e^(-1/b), the noise N of a count is

* geometric, P(N = j) = (1 - a) a^j for j = 0, 1, ... (Takagi21 Definition VIII.1, without its end);
* exponential, with density e^(-x/b) / b for x >= 0 (Takagi21 Definition V.3; errata E5);
* two-sided: P(N = j) = (1 - a)/(1 + a) a^|j| (errata N5), or Laplace's density e^(-|x|/b) / 2b.

One-sided noise may point up, for counts that fall along allowed moves, or down. Probabilities are enclosed between two
rationals, so that "at most alpha" is decided, not computed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction

import numpy as np

from takifugu.analysis.randomisers.base import Direction
from takifugu.core.errors import InputError
from takifugu.core.rules import check_known, too_large
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.noise_quantiles import laplace_survival
from takifugu.numbers.rationals import Number, as_epsilon, as_positive, as_whole, is_whole

Enclosure = tuple[Fraction, Fraction]
"""Rationals (low, high) around a probability."""

_BITS = 120
#: The most values of a law.
LARGEST_LAW = 10**8


class Pointing(IntEnum):
    """Tell where noise points: `UP` never lowers a count, `DOWN` never raises it, `BOTH` does either.

    Examples:
        >>> count_noise(epsilon=1).pointing.name
        'UP'
    """

    UP = 1
    DOWN = -1
    BOTH = 0


@dataclass(frozen=True)
class CountNoise:
    """Hold the noise of one count.

    Args:
        scale: Its scale, sensitivity / epsilon, in answer units.
        pointing: Where it points.
        whole: Whether it is an integer.

    Examples:
        >>> noise = count_noise(epsilon=1)
        >>> [round(float(noise.at_least(j)[1]), 6) for j in (0, 1, 2)]
        [1.0, 0.367879, 0.135335]
    """

    scale: Fraction
    pointing: Pointing = Pointing.UP
    whole: bool = True

    def at_least(self, x: Fraction | int) -> Enclosure:
        """Enclose P(N >= x).

        Args:
            x: The number, in answer units.

        Returns:
            The lower and the upper end.
        """
        if self.pointing is Pointing.DOWN:  # -N points up, and N >= x says that -N is not above -x
            least = Fraction(math.floor(-x) + 1) if self.whole else Fraction(-x)
            low, high = self._tail(least)
            return 1 - high, 1 - low
        return self._reach(Fraction(x))

    def at_most(self, x: Fraction | int) -> Enclosure:
        """Enclose P(N <= x).

        Args:
            x: The number, in answer units.

        Returns:
            The lower and the upper end.
        """
        return self.turned().at_least(-x)

    def below(self, x: Fraction | int) -> Enclosure:
        """Enclose P(N < x).

        Args:
            x: The number, in answer units.

        Returns:
            The lower and the upper end.
        """
        low, high = self.at_least(x)
        return 1 - high, 1 - low

    def turned(self) -> CountNoise:
        """Return the noise -N."""
        return CountNoise(self.scale, Pointing(-self.pointing), self.whole)

    def mean_error(self) -> float:
        """Return E|N| (Takagi21 Corollary V.5 and errata E7).

        The mean is b for both real laws, 1/(e^(1/b) - 1) for the geometric.

        >>> count_noise(epsilon=1, whole=False).mean_error()
        1.0
        """
        if not self.whole:
            return float(self.scale)
        rate = 1 / float(self.scale)
        if self.pointing is Pointing.BOTH:
            return -2 * math.exp(-rate) / math.expm1(-2 * rate)
        return -math.exp(-rate) / math.expm1(-rate)

    def _reach(self, x: Fraction) -> Enclosure:
        """Enclose P(N >= x) of noise pointing up or both ways."""
        k = Fraction(math.ceil(x)) if self.whole else x
        if self.pointing is Pointing.UP:
            return self._tail(k)
        if not self.whole:
            low, high = (p / 2 for p in self._tail(abs(k)))
        else:
            down = self._tail(Fraction(1))
            low, high = self._tail(max(k, 1 - k))
            low, high = low / (1 + down[1]), high / (1 + down[0])
        return (low, high) if k > 0 else (1 - high, 1 - low)

    def _tail(self, x: Fraction) -> Enclosure:
        """Enclose e^(-x/b), or 1 for x at most 0."""
        low, high = laplace_survival(x / self.scale, _BITS)
        return Fraction(low, 1 << _BITS), Fraction(high, 1 << _BITS)


def count_noise(
    epsilon: Number, sensitivity: Number = 1, pointing: Pointing = Pointing.UP, whole: bool = True
) -> CountNoise:
    """Return the noise of a count that one allowed move changes by a bounded amount.

    Args:
        epsilon: The privacy loss.
        sensitivity: The largest change, in answer units.
        pointing: Where the noise points.
        whole: Whether it is an integer.

    Returns:
        The noise, of scale sensitivity / epsilon.

    Raises:
        InputError: Unless epsilon and sensitivity are above 0.

    Examples:
        >>> count_noise(epsilon="0.5").scale
        Fraction(2, 1)
    """
    change = positive_sensitivity(sensitivity)
    check_known([pointing], tuple(Pointing), "noise cannot point", "pointing")
    return CountNoise(change / as_epsilon(epsilon), Pointing(pointing), whole)


def geometric_law(
    count: int, maximum: int, epsilon: Number, sensitivity: Number = 1, direction: Direction = Direction.DOWN
) -> Pmf:
    """Return the distribution of min(count + K, maximum), where P(K >= k) = e^(-k epsilon / sensitivity).

    P(z | x) <= e^epsilon P(z | x') for every allowed change of x to x'. Below the count (DOWN) no output is possible,
    so "z <= t" is never false: alpha = 0 (Takagi21 Theorem VIII.2; errata E5).

    Args:
        count: The true count, from 0 to the maximum.
        maximum: The largest count, above 0.
        epsilon: The privacy loss.
        sensitivity: Total L1 change of all cells that are published together.
        direction: `DOWN` for a count that allowed moves lower. `UP` for one that they raise: max(count - K, 0).

    Returns:
        The distribution of the published count.

    Raises:
        InputError: For a count or maximum outside its range, and another direction.
        Unsupported: For a distribution with too many values.

    Examples:
        >>> law = dict(geometric_law(5, 10, 1).items())
        >>> [round(law[z], 6) for z in (5, 6, 10)], 4 in law
        ([0.632121, 0.232544, 0.006738], False)
    """
    as_whole(maximum, "the maximum", "maximum", least=1)
    if not is_whole(count) or count > maximum:
        raise InputError("the count is not a whole number from 0 to the maximum").at("count")
    if direction not in (Direction.DOWN, Direction.UP):
        raise InputError("a count that moves either way has two-sided noise", fix="use discrete Laplace noise").at(
            "direction"
        )
    step = float(as_epsilon(epsilon) / positive_sensitivity(sensitivity))
    room = maximum - count if direction is Direction.DOWN else count
    if room * step > 746:  # e^-746 is 0
        room = math.ceil(746 / step)
    if room > LARGEST_LAW:
        raise too_large("the distribution", room, LARGEST_LAW, "values", "write a larger epsilon")
    masses = np.exp(-step * np.arange(room + 1.0))
    masses[:-1] *= -math.expm1(-step)
    is_possible = masses > 0
    step_to_next = 1 if direction is Direction.DOWN else -1
    values = count + np.arange(room + 1) * step_to_next
    return Pmf(values[is_possible], masses[is_possible])


def positive_sensitivity(value: Number) -> Fraction:
    """Return a sensitivity as a Fraction; InputError unless positive and finite."""
    return as_positive(value, "the sensitivity", "sensitivity")
