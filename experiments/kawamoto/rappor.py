"""RAPPOR: a value as one bit per possibility, each flipped by itself (Erlingsson, Pihur and Korolova 2014).

The bit of the value is 1 with probability a, every other with probability b < a: permanent noise f alone gives a = 1 -
f/2, b = f/2, and instantaneous noise (p, q) after it p + (q - p) times each. With k possibilities there are 2^k
outputs, but not so many numbers: relative to bits of probability b, the law of the bits B under a population p is c0 +
(c1 - c0) sum_x p(x) B_x, with c1 = a/b and c0 = (1 - a)/(1 - b). So, of two populations,

* the largest likelihood ratio is that of a linear-fractional function of B, reached at a set {x : p(x) > t q(x)}
  (move along the level of the ratio: every bit enters by the sign of p(x) - ratio q(x)), of which there are k + 1;
* delta(epsilon) = E[(c + sum_x B_x d_x)_+], with c = c0 (1 - e^epsilon), d_x = (c1 - c0) (p(x) - e^epsilon q(x)) and
  independent bits of probability b (`positive_part_of_bits`).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import numpy.typing as npt

from kawamoto.positive_part_of_bits import mean_positive_part_of_bits
from takifugu.core.arrays import BoolArray, FloatArray
from takifugu.core.errors import DataError, InputError
from takifugu.core.plain import set_fields
from takifugu.core.rules import members_of
from takifugu.mechanisms.local import weights
from takifugu.mechanisms.local.choosing import Mechanism
from takifugu.mechanisms.local.populations import Populations
from takifugu.numbers.atoms import masses_at
from takifugu.numbers.distributions.channel import largest_log_ratio
from takifugu.numbers.distributions.positive_part import LARGEST_EPSILON, Enclosure
from takifugu.numbers.noise import Entropy, SystemEntropy, uniform_below
from takifugu.numbers.rationals import Number, as_fraction
from takifugu.numbers.transport.bottleneck import Population


@dataclass(frozen=True)
class Rappor:
    """One bit per value: 1 with probability `present` for the value itself and `other` for every other one.

    Raises InputError unless 0 < other < own < 1, and for fewer than two values, or one twice.
    """

    values: tuple[Hashable, ...]
    present: Fraction
    other: Fraction

    def __post_init__(self) -> None:
        set_fields(self, values=tuple(members_of(self.values, "the values", "values", "['a', 'b']")))
        if len(self.values) < 2 or len(set(self.values)) < len(self.values):
            raise InputError("RAPPOR needs two values or more, each once").at("values")
        other, present = as_fraction(self.other, "other", "other"), as_fraction(self.present, "present", "present")
        if not 0 < other < present < 1:
            raise InputError(
                f"a bit is 1 with probability {self.present} or {self.other}", rule="0 < other < own < 1"
            ).at("f")

    @property
    def epsilon(self) -> float:
        """Return its local differential privacy, rounded up.

        >>> round(permanent(["a", "b", "c"], "1/2").epsilon, 9) == round(2 * math.log(3), 9)
        True
        """
        return largest_log_ratio({0: self.present * (1 - self.other)}, {0: self.other * (1 - self.present)})

    def distribution_loss(self, p: Population, q: Population) -> float:
        """Return the least epsilon of two populations, both ways, rounded up."""
        return max(self._largest_log(p, q), self._largest_log(q, p))

    def delta(self, p: Population, q: Population, epsilon: Number) -> Enclosure:
        """Enclose the delta of distribution privacy at epsilon, from p to q."""
        budget = as_fraction(epsilon, "epsilon", "epsilon")
        if self._largest_log(p, q) <= budget:
            return Enclosure(0.0, 0.0)
        if self.is_beyond_floats(budget):
            return Enclosure(0.0, 1.0)
        factor = math.exp(float(budget))
        high, low = self.base
        gaps = masses_at(p, self.values) - factor * masses_at(q, self.values)
        enclosure = mean_positive_part_of_bits(float(low) * (1 - factor), float(high - low) * gaps, float(self.other))
        slack = 2.0**-48 * (1 + factor) * float(high)
        return Enclosure(max(enclosure.low - slack, 0.0), min(enclosure.high + slack, 1.0))

    def randomise(self, indices: npt.NDArray[np.integer], entropy: Entropy | None = None) -> BoolArray:
        """Draw one row of bits per index exactly, shape (rows, values).

        Raises DataError for an index that is none of the values.
        """
        rows = np.asarray(indices, dtype=np.int64)
        if rows.size and (rows.min() < 0 or rows.max() >= len(self.values)):
            raise DataError("a value of the column is not among the declared ones", fix="declare it, or clamp it first")
        total = math.lcm(self.present.denominator, self.other.denominator)
        draws = uniform_below(total, rows.size * len(self.values), entropy or SystemEntropy())
        draws = draws.reshape(rows.size, len(self.values))
        bits: BoolArray = draws < int(self.other * total)
        places = np.arange(rows.size)
        bits[places, rows] = draws[places, rows] < int(self.present * total)
        return bits

    def expected_loss(self, prior: Population, distances: FloatArray) -> float:
        """Return the mean distance to the closest set bit.

        The diameter is the cost where none is set. `distances` has shape (values, values).
        """
        diameter, total = float(distances.max()), 0.0
        true_bit, other = float(self.present), float(self.other)
        for number, x in enumerate(self.values):
            order = np.argsort(distances[number], kind="stable")
            clear, loss = 1.0, 0.0
            for y in order.tolist():
                chance = true_bit if y == number else other
                loss += clear * chance * float(distances[number, y])
                clear *= 1 - chance
            total += float(prior.get(x, 0)) * (loss + clear * diameter)
        return total

    @property
    def base(self) -> tuple[Fraction, Fraction]:
        """Return c1 and c0, the likelihood ratios of a bit."""
        return self.present / self.other, (1 - self.present) / (1 - self.other)

    def is_beyond_floats(self, epsilon: Fraction) -> bool:
        """Return whether floats round a likelihood ratio, or e^epsilon times one, by 1 and more."""
        high, _ = self.base
        return epsilon >= LARGEST_EPSILON or high >= 2**48

    def _largest_log(self, p: Population, q: Population) -> float:
        high, low = self.base
        masses_p = [Fraction(p.get(x, 0)) for x in self.values]
        masses_q = [Fraction(q.get(x, 0)) for x in self.values]
        order = sorted(range(len(masses_p)), key=lambda x: -(masses_p[x] / masses_q[x]) if masses_q[x] else -math.inf)
        top = bottom = Fraction(0)
        best = Fraction(1)
        for x in order:
            top, bottom = top + masses_p[x], bottom + masses_q[x]
            best = max(best, (low + (high - low) * top) / (low + (high - low) * bottom))
        return largest_log_ratio({0: best}, {0: 1})


def permanent(values: Sequence[Hashable], f: Number) -> Rappor:
    """Return RAPPOR with permanent noise only.

    A bit becomes a fair coin with probability f, else it is kept. Raises InputError unless 0 < f < 1.
    """
    noise = as_fraction(f, "f", "f")
    if not 0 < noise < 1:
        raise InputError(f"f is {f!r}", rule="it must lie between 0 and 1").at("f")
    return Rappor(tuple(members_of(values, "the values", "values", "['a', 'b']")), 1 - noise / 2, noise / 2)


def instantaneous(values: Sequence[Hashable], f: Number, p: Number, q: Number) -> Rappor:
    """Return RAPPOR with instantaneous noise after the permanent one.

    A 0 is reported as 1 with probability p, a 1 with q. Raises InputError unless 0 <= p < q <= 1.
    """
    before, if_zero, if_one = permanent(values, f), as_fraction(p, "p", "p"), as_fraction(q, "q", "q")
    if not (0 <= if_zero < if_one <= 1):
        raise InputError(f"p is {p!r} and q is {q!r}", rule="0 <= p < q <= 1").at("p")
    gap = if_one - if_zero
    return Rappor(before.values, if_zero + gap * before.present, if_zero + gap * before.other)


@dataclass(frozen=True)
class SentBits:
    """Bits as a sender of named populations: what they give away, and what the closest set bit costs."""

    rappor: Rappor

    def epsilon(self, populations: Populations) -> float:
        return populations.largest(self.rappor.distribution_loss)

    def delta(self, populations: Populations, epsilon: Fraction) -> float:
        both_ways = permutations(populations.laws.values(), 2)
        return max(self.rappor.delta(p, q, epsilon).high for p, q in both_ways)

    def expected_loss(self, populations: Populations) -> float:
        return self.rappor.expected_loss(populations.prior, populations.distances)


def flipped_bits(epsilon: float) -> float:
    """Return f of RAPPOR's permanent noise with local privacy epsilon.

    >>> round(flipped_bits(2 * math.log(3)), 12)
    0.5
    """
    return 2 / (1 + math.exp(min(epsilon, -weights.FARTHEST) / 2))


def rappor(populations: Populations) -> Mechanism:
    """Return permanent noise as a mechanism whose strength is its local privacy."""

    def make(strength: float) -> Any:
        return SentBits(permanent(populations.values, repr(flipped_bits(strength))))

    return Mechanism(make, of_distance=False)
