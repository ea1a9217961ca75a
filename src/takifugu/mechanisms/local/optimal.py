"""The channel of least expected loss that keeps promises, by a sparse linear program.

Promises that constrain every output alike, and by many constraints (metric privacy), go to `numbers.column_programs`,
whose solution is strictly inside; all others to `common.channel_program`, a little inside the promises. What either
finds is made exact and measured against every promise.

Over a class of populations the program is robust (`optimal_over`): a channel is a mixture of blocks, with two
constraints for each output and pair of populations (docs/theory/distributions.md#distributions-channel). What is
certified is measured over the class without any mixture (`local.over_classes`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from takifugu.core.errors import InputError, Unsupported
from takifugu.mechanisms.common.channel_program import (
    Limits,
    check_size,
    exact_channel,
    ratio_limits,
    solved,
    together,
)
from takifugu.mechanisms.local.measuring import expected_loss
from takifugu.mechanisms.local.over_classes import delta_over, loss_over
from takifugu.mechanisms.local.promises import Promise, checked
from takifugu.model.beliefs.population_region import WHOLE, Regions
from takifugu.numbers.atoms import Floats, masses_at, tabulated
from takifugu.numbers.column_programs import solve
from takifugu.numbers.distributions.channel import Channel

#: Promises are solved for this share of their epsilon.
INSIDE = 1 - 2.0**-24
#: Numbers in the constraints beyond which a program is refused: the matrices of all columns have no more.
MOST_NUMBERS = 3_000_000
#: Shares of the mean row that are mixed in, until what is measured keeps the promise.
_BLENDS = (Fraction(1, 2**34), *(Fraction(1, 2**k) for k in (30, 26, 22, 18, 14, 10)))
#: A program over a class is solved for these shares of epsilon and delta, with these shares of the mean row mixed in.
_INSIDE_CLASSES = (1 - 2.0**-24, 1 - 2.0**-10, 1 - 2.0**-6)
_BLENDS_OF_CLASSES = tuple(Fraction(1, 2**k) for k in (34, 26, 20, 16))


@dataclass(frozen=True, eq=False)
class Optimum:
    """A channel, its expected loss, what it measures for each promise, and a lower end for all that keep them."""

    channel: Channel
    loss: float
    measured: tuple[float, ...]
    least: float  # proved by the program's multipliers (weak duality; in floating point)


def optimal(
    inputs: Sequence[Hashable],
    outputs: Sequence[Hashable],
    prior: Mapping[Hashable, Fraction | float],
    loss: Callable[[Hashable, Hashable], float],
    promises: Sequence[Promise],
) -> Optimum:
    """Return the channel of least mean loss under `prior` within every promise."""
    if not promises:
        raise InputError("the channel has nothing to keep", fix="give a promise, for example hides_value(1)")
    numbers = sum(promise.numbers(len(inputs), len(outputs)) for promise in promises)
    check_size(numbers, MOST_NUMBERS, "give fewer places")
    masses = checked(prior, "prior")
    table = tabulated(loss, inputs, outputs)
    if not np.isfinite(table).all():
        raise InputError("a loss is not finite").at("loss")
    cost = masses_at(masses, inputs)[:, None] * table
    matrix, least = _by_columns(inputs, cost, promises) or _by_entries(inputs, cost, promises)
    channel = exact_channel(inputs, outputs, matrix, _BLENDS, lambda tried: all(of.keeps(tried) for of in promises))
    if channel is None:
        raise Unsupported("no channel near the solver's solution keeps the promises", fix="ask for a larger epsilon")
    measured = tuple(promise.measured(channel) for promise in promises)
    return Optimum(channel, expected_loss(channel, masses, loss), measured, least)


def _by_columns(inputs: Sequence[Hashable], cost: Floats, promises: Sequence[Promise]) -> tuple[Floats, float] | None:
    """Return a channel and a bound on all losses, or None."""
    from scipy.sparse import vstack

    blocks = []
    for promise in promises:
        columns = promise.columns(inputs, 1.0)
        if columns is None:
            return None
        blocks.append(columns)
    limits = vstack(blocks, format="csr")
    if limits.shape[0] <= len(inputs):
        return None
    try:
        solution = solve(cost, limits)
    except Unsupported:
        return None
    return solution.matrix, solution.least


def _by_entries(inputs: Sequence[Hashable], cost: Floats, promises: Sequence[Promise]) -> tuple[Floats, float]:
    """Return a channel and a bound on all losses, entry by entry."""
    outputs = cost.shape[1]

    def limits(share: float) -> Limits:
        return together([promise.rows(inputs, outputs, share) for promise in promises], cost.size)

    solution, needed = solved(cost, limits(INSIDE)), limits(1.0)
    # By weak duality multipliers >= 0 bound the cost of every channel that keeps the promises.
    turned = needed.limits.T @ solution.multipliers
    reduced = cost + turned[: cost.size].reshape(cost.shape)
    further = np.minimum(turned[cost.size :].reshape(-1, outputs), 0.0).min(axis=1, initial=0.0).sum()
    least = float(reduced.min(axis=1).sum() + further - needed.bounds @ solution.multipliers)
    return solution.matrix, least


def optimal_over(
    values: tuple[Hashable, ...], cost: Floats, regions: Regions, epsilon: Fraction, delta: Fraction,
    apart: Mapping[tuple[str, str], Fraction] | None = None,
) -> Channel:  # fmt: skip
    """Return the channel of least total `cost` that keeps the promise over a class."""
    # `cost` (values, values) is the loss of each output weighed by the prior.
    blocks = regions.tree.all
    size = sum(len(block.values) for block in blocks) + 2 * len(blocks) * math.comb(len(regions.by_name), 2)
    check_size(size * len(values), MOST_NUMBERS, "give fewer places")

    epsilons = dict.fromkeys(combinations(regions.by_name, 2), epsilon)
    # Epsilon is multiplied by what two populations are `apart`.
    if apart:
        epsilons = {pair: epsilon * apart[pair] for pair in epsilons}

    def keeps(channel: Channel) -> bool:
        for pair, budget in epsilons.items():
            if delta and delta_over(channel, regions.only(pair), budget) > delta:
                return False
            if not delta and loss_over(channel, regions.only(pair)) > budget:
                return False
        return True

    for share in _INSIDE_CLASSES:
        inside = {pair: float(of) * share for pair, of in epsilons.items()}
        matrix = _solution_over(cost, regions, inside, float(delta) * share)
        if channel := exact_channel(values, values, matrix, _BLENDS_OF_CLASSES, keeps):
            return channel
    raise Unsupported("no channel near the solver's solution keeps the promise", fix="ask for a larger epsilon")


def _solution_over(
    cost: Floats, regions: Regions, epsilons: Mapping[tuple[str, str], float], delta: float
) -> Floats:
    """Return the solver's channel, rows made to sum to 1."""
    from scipy.sparse import csr_array

    blocks = regions.tree.all
    counts = [len(block.values) for block in blocks]
    places = np.repeat(np.arange(len(blocks)), counts), np.concatenate([block.values for block in blocks])
    mixing = csr_array((np.ones(sum(counts)), places), shape=(len(blocks), len(cost)))
    low, high = dict[str, Floats](), dict[str, Floats]()
    for name, region in regions.by_name.items():
        low[name], high[name] = np.array(region.low, dtype=float) / WHOLE, np.array(region.high, dtype=float) / WHOLE
    ratios = []
    for (a, b), epsilon in epsilons.items():
        factor = math.exp(min(epsilon, 30.0))
        ratios += [high[a] - factor * low[b], high[b] - factor * low[a]]
    return solved(cost, ratio_limits(np.array(ratios), len(cost), delta), mixing).matrix
