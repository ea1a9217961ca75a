"""The best mechanism on a small domain, by linear programming: what no asymmetric mechanism can beat.

Over all channels P(y | x) minimise the mean of loss(x, y) under a prior, such that P(y | x) <= e^epsilon P(y | x') for
every allowed move x -> x' and every y; with `never_below`, P(y | x) = 0 for y < x as well (alpha = 0).

The solver's floats keep that up to its tolerance. They become integer masses; P(y | x') is raised to e^-epsilon
P(y | x) wherever it is below, and what rows then lack of the largest sum, and a little more, goes to one output that
every input may give. So the promise holds exactly; it is measured all the same.

AGeo is not optimal among all such channels, as Takagi21 Theorem VIII.3 claims: the exchange of Lemma VIII.4 may break a
constraint (erratum X5). For n = 1, epsilon = 1/2 and prior (9/10, 1/10) always answering 0 loses 0.1, and AGeo 0.546.
Among channels that never answer below the count the two agree wherever it was computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from takifugu.core.errors import InputError, Unsupported
from takifugu.mechanisms.common.channel_program import check_size, ratio_limits, solved
from takifugu.numbers.distributions.channel import Channel
from takifugu.numbers.noise_quantiles import laplace_survival
from takifugu.numbers.rationals import Number, as_epsilon, as_fraction

#: The promise that the program is solved for, relative to the one that is asked.
INSIDE = 1 - 2.0**-30
#: Numbers in the constraints beyond which a program is refused.
MOST_NUMBERS = 3_000_000
_BITS = 90
Pairs = list[tuple[int, int]]
#: Solver noise beside 0.
_NOISE = 1e-12


@dataclass(frozen=True, eq=False)
class Optimum:
    """A channel with exact masses, its mean loss, the largest log-ratio along the moves, and the solver's own mean."""

    channel: Channel
    loss: float
    measured: float
    solved: float


def absolute(x: float, y: float) -> float:
    """Return |y - x|."""
    return abs(y - x)


def best_count(
    maximum: int,
    epsilon: Number,
    prior: Sequence[Number] | None = None,
    *,
    never_below: bool,
    loss: Callable[[Any, Any], float] = absolute,
) -> Optimum:
    """Return the best channel from a count in 0..maximum, which falls by 1 along an allowed move, to 0..maximum.

    The prior is uniform unless given. Raises as `best_channel`.

    >>> best = best_count(1, "1/2", ["0.9", "0.1"], never_below=False)
    >>> round(best.loss, 6), round(best_count(1, "1/2", ["0.9", "0.1"], never_below=True).loss, 6)
    (0.1, 0.545878)
    """
    if isinstance(maximum, bool) or not isinstance(maximum, int) or maximum < 1:
        raise InputError(f"the maximum is {maximum!r}", rule="it is a whole number above 0").at("maximum")
    values = range(maximum + 1)
    given = [Fraction(1, maximum + 1)] * (maximum + 1) if prior is None else list(prior)
    falls = [(x, x - 1) for x in values[1:]]
    allowed = [[y >= x or not never_below for y in values] for x in values]
    return best_channel(values, values, falls, epsilon, given, loss=loss, allowed=allowed)


def best_channel(
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    moves: Sequence[tuple[Any, Any]],
    epsilon: Number,
    prior: Sequence[Number],
    *,
    loss: Callable[[Any, Any], float] = absolute,
    allowed: Sequence[Sequence[bool]] | None = None,
) -> Optimum:
    """Return the channel of least mean loss(x, y) under `prior` with P(y | x) <= e^epsilon P(y | x') on all `moves`.

    `moves` are pairs (x, x') of inputs; `allowed[i][j]` says whether input i may give output j at all. Raises
    InputError for a prior that is no distribution, a loss that is not finite and a move of an unknown input;
    Unsupported where the program is too large or has no solution.
    """
    budget = as_epsilon(epsilon)
    weights = [as_fraction(weight, "a probability", "prior") for weight in prior]
    if len(weights) != len(inputs) or min(weights) < 0 or sum(weights) != 1:
        what = f"the prior is no distribution of {len(inputs)} inputs"
        raise InputError(what, fix="give Fractions that sum to 1").at("prior")
    place = {x: number for number, x in enumerate(inputs)}
    if unknown := [x for move in moves for x in move if x not in place]:
        raise InputError(f"{unknown[0]!r} moves and is no input").at("moves")
    table = np.array([[float(loss(x, y)) for y in outputs] for x in inputs])
    if not np.isfinite(table).all():
        raise InputError("a loss is not finite").at("loss")
    mask = np.ones(table.shape, dtype=bool) if allowed is None else np.asarray(allowed, dtype=bool)
    pairs = [(place[x], place[other]) for x, other in moves if x != other]
    check_size(2 * len(pairs) * len(outputs), MOST_NUMBERS, "give fewer inputs")
    cost = np.array([[float(weight)] for weight in weights]) * table
    matrix, solved = _solution(cost, mask, pairs, float(budget) * INSIDE)
    channel = _certified(inputs, outputs, matrix, mask, pairs, budget)
    measured = channel.measure([(inputs[x], inputs[other]) for x, other in pairs])
    if measured > budget:
        raise Unsupported("no channel near the solver's solution keeps epsilon", fix="ask for a larger epsilon")
    return Optimum(channel, _mean(channel, weights, table), measured, solved)


def _certified(
    inputs: Sequence[Any], outputs: Sequence[Any], matrix: Any, mask: Any, pairs: Pairs, epsilon: Fraction
) -> Channel:
    """Return the channel of exact masses: raised where a move needs it, then filled up at one common output."""
    inside = epsilon * (1 - Fraction(1, 2**40))  # so that rounding what is measured up does not exceed epsilon
    _, least = laplace_survival(inside, _BITS)
    rows = [[int(p * 2**_BITS) if p > _NOISE else 0 for p in row] for row in matrix.tolist()]
    changed = True
    while changed:
        changed = False
        for x, other in pairs:
            for y, mass in enumerate(rows[x]):
                needed = -(-mass * least >> _BITS)
                if rows[other][y] < needed:
                    if not mask[other, y]:
                        rows[x][y] = 0  # solver noise: what must not happen there cannot happen here
                    else:
                        rows[other][y] = needed
                    changed = True
    common = np.flatnonzero(mask.all(axis=0))
    if not len(common):
        raise Unsupported("no output is allowed for every input", fix="allow one, such as the largest")
    sums = [sum(row) for row in rows]
    apart = max(sums) - min(sums)  # what is added to rows differs by a factor below 1 + epsilon/2
    total = max(sums) + 1 + math.ceil(2 * apart / epsilon)
    for row, row_sum in zip(rows, sums, strict=True):
        row[int(common[-1])] += total - row_sum
    return Channel(tuple(inputs), tuple(outputs), tuple(map(tuple, rows)), total)


def _solution(cost: Any, mask: Any, pairs: Pairs, epsilon: float) -> tuple[Any, float]:
    from scipy.sparse import coo_array

    data = [value for _ in pairs for value in (math.exp(-min(epsilon, 600.0)), -1.0)]
    where = [number for number in range(len(pairs)) for _ in (0, 1)], [end for pair in pairs for end in pair]
    ratios = coo_array((data, where), shape=(len(pairs), len(cost))).tocsr()
    matrix = solved(cost, ratio_limits(ratios, cost.shape[1]), allowed=mask).matrix
    return matrix, float((cost * matrix).sum())


def _mean(channel: Channel, weights: Sequence[Fraction], table: Any) -> float:
    rows = zip(weights, channel.masses, table.tolist(), strict=True)
    return math.fsum(
        float(weight) * mass / channel.total * loss
        for weight, masses, losses in rows
        for mass, loss in zip(masses, losses, strict=True)
    )
