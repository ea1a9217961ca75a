"""The channel of least expected loss that keeps a promise over a class of populations: a robust linear program.

A channel is written as a mixture of blocks: K_xy = sum of c_Sy over the blocks S of the tree that hold x, c >= 0. With
l_S <= p(S) <= u_S for every p of a region,

    sum_S l_S c_Sy <= <p, K_y> = sum_S p(S) c_Sy <= sum_S u_S c_Sy,

so that sum_S (u_S - e^epsilon l'_S) c_Sy <= t_y keeps the promise for every two distributions of two regions
(docs/theory/distributions.md): two constraints for each output and pair of populations, as for two known populations.
Nothing is lost where one mixture attains both ends; else the solution is a little noisier than the best for the class.

What `common.channel_program` finds is made exact and *measured* over the class (`local.over_classes`), which uses no
mixture: what is certified is that number.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from fractions import Fraction
from itertools import permutations

import numpy as np

from takifugu.core.errors import Unsupported
from takifugu.mechanisms.common.channel_program import check_size, exact_channel, ratio_limits, solved
from takifugu.mechanisms.local.over_classes import delta_over, loss_over
from takifugu.model.beliefs.population_region import WHOLE, Regions
from takifugu.numbers.atoms import Floats
from takifugu.numbers.distributions.channel import Channel

#: Numbers in the constraints beyond which a program is refused.
MOST_NUMBERS = 3_000_000
#: The program is solved for these shares of epsilon and delta, with these shares of the mean row mixed in.
_INSIDE = (1 - 2.0**-24, 1 - 2.0**-10, 1 - 2.0**-6)
_BLENDS = tuple(Fraction(1, 2**k) for k in (34, 26, 20, 16))


def optimal_over(
    values: tuple[Hashable, ...], cost: Floats, regions: Regions, epsilon: Fraction, delta: Fraction
) -> Channel:
    """Return the channel from values to values of least total `cost` that keeps (epsilon, delta) over the class.

    `cost` has shape (values, values): the loss of each output weighed by the prior. Raises Unsupported where the
    program is too large, or no channel near the solver's keeps the promise.

    >>> from takifugu.model.beliefs.population_region import covering, samples_of
    >>> rows = [("m", k % 2) for k in range(1000)] + [("f", k % 4 == 0) for k in range(1000)]
    >>> class_of = covering(samples_of(rows, 2), ["a", "b"], 0.99)
    >>> found = optimal_over(("a", "b"), np.array([[0, 0.4], [0.6, 0]]), class_of, Fraction(1, 2), Fraction(0))
    >>> loss_over(found, class_of) <= 0.5
    True
    """
    blocks = regions.tree.all
    size = sum(len(block.values) for block in blocks) + 2 * len(blocks) * math.comb(len(regions.by_name), 2)
    check_size(size * len(values), MOST_NUMBERS, "give fewer places")

    def keeps(channel: Channel) -> bool:
        return delta_over(channel, regions, epsilon) <= delta if delta else loss_over(channel, regions) <= epsilon

    for inside in _INSIDE:
        matrix = _solution(cost, regions, float(epsilon) * inside, float(delta) * inside)
        if channel := exact_channel(values, values, matrix, _BLENDS, keeps):
            return channel
    raise Unsupported("no channel near the solver's solution keeps the promise", fix="ask for a larger epsilon")


def _solution(cost: Floats, regions: Regions, epsilon: float, delta: float) -> Floats:
    """Return the solver's channel, rows made to sum to 1."""
    from scipy.sparse import csr_array

    blocks, factor = regions.tree.all, math.exp(min(epsilon, 30.0))
    held = [(n, x) for n, block in enumerate(blocks) for x in block.values]
    mixing = csr_array((np.ones(len(held)), tuple(zip(*held, strict=True))), shape=(len(blocks), len(cost)))
    low = {name: np.array(of.low, dtype=float) / WHOLE for name, of in regions.by_name.items()}
    high = {name: np.array(of.high, dtype=float) / WHOLE for name, of in regions.by_name.items()}
    ratios = np.array([high[a] - factor * low[b] for a, b in permutations(regions.by_name, 2)])
    return solved(cost, ratio_limits(ratios, len(cost), delta), mixing).matrix
