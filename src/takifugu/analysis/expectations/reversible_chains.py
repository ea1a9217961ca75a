"""What every reversible chain expects of an answer whose stationary masses and eigengap are bounded below.

Let q be 1 less the eigengap. In L2 of the stationary law pi one step of a reversible chain shrinks what has the mean 0
to its share q. So after l steps a row is within sqrt(1/pi_x - 1) q^l / 2 of pi in total variation, and two rows are
within sqrt(1/pi_x + 1/pi_y) q^l / 2 of each other (P. Diaconis and D. Stroock, Ann. Appl. Probab. 1 (1991), Prop. 3).
In the long run a mean is that of pi, which leaves to the largest value what the least masses of the others do not take.

From pi on, log E exp(tilt * (N - E N)) <= tilt^2 / 8 * (1 + q)/(1 - q) * sum_j osc(f_j)^2 (J. Fan, B. Jiang and Q. Sun,
JMLR 22 (2021), Theorem 1), and no law is more than 1 / min pi times pi. Of many short pieces a martingale tells more
(`moments_of_chains`), and the better bound counts.
"""

from __future__ import annotations

import math

import numpy as np

from takifugu.analysis.expectations.moments_of_chains import of_class, squared_spreads
from takifugu.analysis.expectations.regions import OfChains
from takifugu.core.arrays import FloatArray
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.chains.chain import ReversibleChains
from takifugu.model.queries.answer import Additive


class OfReversible(OfChains[ReversibleChains]):
    """The reversible chains of a class, of any start."""

    def largest_means(self, values: FloatArray) -> tuple[float, float]:
        least, most = self.belief.pi, float(values.max())
        largest = least * float(values.sum()) + (1 - len(values) * least) * most
        distance = math.sqrt(1 / least - 1) / 2 * float(np.ptp(values))
        return largest, sum_of_least(most - largest, distance, self.belief.g)

    @property
    def memory(self) -> float:
        return sum_of_least(1.0, math.sqrt(1 / (2 * self.belief.pi)), self.belief.g)


def moments(chains: ReversibleChains, pieces: Belief, count: Additive, tilts: FloatArray) -> FloatArray:
    """Bound the moments of all pieces of chains of a class at once."""
    spectral = _from_stationary(chains, len(pieces.components()), count, tilts)
    return np.minimum(of_class(chains, pieces, count, tilts), spectral)


def _from_stationary(chains: ReversibleChains, pieces: int, count: Additive, tilts: FloatArray) -> FloatArray:
    """Bound the moments by those from the stationary law on."""
    low, high = OfReversible(chains).in_the_long_run(count)
    mean = np.where(tilts > 0, high[0], low[0])
    width = (2 - chains.g) / chains.g * squared_spreads(count)
    return np.asarray(tilts * mean + tilts**2 / 8 * width - pieces * math.log(chains.pi))


def sum_of_least(most: float, first: float, gap: float) -> float:
    """Bound the sum over l >= 0 of the least of `most` and first * (1 - gap)^l."""
    if first <= most:
        return first / gap
    if most <= 0:
        return 0.0
    steps = 1
    if gap < 1:
        steps = max(1, math.ceil(math.log(most / first) / math.log1p(-gap)))
    return float(steps * most + first * (1 - gap) ** steps / gap)
