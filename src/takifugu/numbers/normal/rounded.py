"""Normal numbers that are rounded one by one before they are added: what the sum still keeps, and for which noise.

Let n records be rounded to multiples of r, each with a deviation of at least r. Given the total of the records, which
is all that a hypothesis moves, their rounding errors are uniform up to a factor 1 +- `error` of their density, and the
sum of the rounded numbers is then the total plus n - 1 independent uniform numbers, rounded *once* to a multiple of r
(docs/theory/attributes.md#numbers-that-are-rounded). So a rounded sum is one that is read off by r, not by n r.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from takifugu.core.errors import Unsupported
from takifugu.numbers.after_noise.gaussian import deviation_per_shift, shifted_delta
from takifugu.numbers.normal.comparisons import NormalComparison, Shifted
from takifugu.numbers.normal.matrices import Matrix, Vector
from takifugu.numbers.outward_rounding import log_ratio_error

#: Records whose share of the error is computed each by itself; all others count like the first of them.
_EACH = 64
#: Above this error the records are refused: nearly all of epsilon would go there.
_MOST = 0.125
#: The shares of epsilon, delta and the noise that may pay for the rounding of an answer, where it pays by itself.
_SHARES = tuple(Fraction(1, 2**k) for k in range(1, 13))


def unevenness(pivots: Sequence[Fraction], step: Fraction, count: int) -> Fraction:
    """Return e, rounded up: given the total, rounding errors of `count` records are uniform up to a factor 1 +- e."""
    # Peeled off one by one, the i-th last record has (1 - 1/i) times `pivots`, variances given the numbers before.
    total = 0.0
    for variance in pivots:
        ratio = float(variance / step**2) * (1 - 2.0**-40)
        total += math.fsum(_ripple(ratio * (1 - 1 / i)) for i in range(2, min(count, _EACH) + 1))
        if count > _EACH:
            total += (count - _EACH) * _ripple(ratio * (1 - 1 / (_EACH + 1)))
    if total > _MOST:
        raise Unsupported(
            "the resolution is too coarse for that many records: rounded numbers are no longer nearly normal",
            fix="declare a finer resolution",
        )
    return Fraction(total * (1 + total) * (1 + 2.0**-20)) + Fraction(1, 2**200)


def _ripple(ratio: float) -> float:
    """Return 2 sum over k of exp(-2 pi^2 k^2 ratio), rounded up."""
    # A normal number of variance `ratio` r^2 has, modulo r, a density within a factor 1 +- this.
    first = math.exp(-2 * math.pi**2 * ratio)
    return 2 * first / (1 - first) * (1 + 2.0**-20) if first < 1 else math.inf


@dataclass(frozen=True)
class Rounded:
    """The distributions of an answer rounded before the noise is added."""

    exact: NormalComparison
    #: How far rounding moves the answer at most, in L2.
    blur: Fraction
    error: Fraction
    #: One number of one column, of which everything hidden moves the total: a shift by v costs as v + blur does.
    alone: bool

    @property
    def shift(self) -> Vector | None:
        return self.exact.shift if self._moved is None else self._moved.shift

    @property
    def covariance(self) -> Matrix:
        return self.exact.covariance

    def least_variance(self, epsilon: Fraction, delta: Fraction) -> Fraction:
        left, share = self._left(epsilon), delta / (1 + self.error)
        if left <= 0:
            raise Unsupported(
                "the resolution is too coarse for so small an epsilon", fix="declare a finer resolution"
            ).at("resolution")
        if self._moved is not None:
            return self._moved.least_variance(left, share)
        # The noise has two parts, one before rounding and one for a change by `blur`, and the promise is divided.
        return min(
            self.exact.least_variance(left * (1 - part), share * (1 - part))
            + (self.blur * deviation_per_shift(left * part, share * part)) ** 2
            for part in _SHARES
        )

    def delta(self, added: Fraction, epsilon: Fraction) -> float:
        """Return a delta of the variance: exact but for `error`."""
        left = self._left(epsilon)
        if left <= 0 or (self._moved is None and not added):
            return 1.0
        if self._moved is not None:
            delta = self._moved.delta(added, left)
        else:
            delta = math.inf
            for part, noise in product(_SHARES, _SHARES):
                before = self.exact.delta(added * (1 - noise), left * (1 - part))
                delta = min(delta, before + shifted_delta(self.blur**2 / (added * noise), left * part))
        return min(1.0, delta * float(1 + self.error) * (1 + 2.0**-50))

    def _left(self, epsilon: Fraction) -> Fraction:
        return epsilon - log_ratio_error(self.error)

    @property
    def _moved(self) -> Shifted | None:
        if not self.alone or self.exact.shift is None:
            return None
        (shift,) = self.exact.shift
        return Shifted((abs(shift) + self.blur,), self.exact.covariance)
