"""The channel of least expected loss that keeps promises, by a sparse linear program.

Promises that constrain every output alike, and by many constraints (metric privacy), go to `numbers.column_programs`,
whose solution is strictly inside; all others to `common.channel_program`, a little inside the promises. What either
finds is made exact and measured against every promise.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from takifugu.core.errors import InputError, Unsupported
from takifugu.mechanisms.common.channel_program import Limits, check_size, exact_channel, solved, together
from takifugu.mechanisms.local.measuring import expected_loss
from takifugu.mechanisms.local.promises import Promise, checked
from takifugu.numbers.atoms import Floats
from takifugu.numbers.column_programs import solve
from takifugu.numbers.distributions.channel import Channel

#: Promises are solved for this share of their epsilon.
INSIDE = 1 - 2.0**-24
#: Numbers in the constraints beyond which a program is refused.
MOST_NUMBERS = 3_000_000
#: Numbers in the matrices of all columns beyond which a program by columns is refused: about 500 MB.
MOST_IN_MATRICES = 60_000_000
#: Shares of the mean row that are mixed in, until what is measured keeps the promise.
_BLENDS = (Fraction(1, 2**34), *(Fraction(1, 2**k) for k in (30, 26, 22, 18, 14, 10)))


@dataclass(frozen=True, eq=False)
class Optimum:
    """A channel, its expected loss, what it measures for each promise, and a lower end for all that keep them.

    `least` is proved by the multipliers of the program, whatever the solver did (weak duality; in floating point).
    """

    channel: Channel
    loss: float
    measured: tuple[float, ...]
    least: float


def optimal(
    inputs: Sequence[Hashable],
    outputs: Sequence[Hashable],
    prior: Mapping[Hashable, Fraction | float],
    loss: Callable[[Hashable, Hashable], float],
    promises: Sequence[Promise],
) -> Optimum:
    """Return the channel of least mean loss(x, y) under `prior` among those that keep every promise.

    Raises InputError without a promise or for a loss that is not finite, Unsupported where the program is too large or
    the solver finds nothing.

    >>> from takifugu.mechanisms.local.promises import hides_value
    >>> found = optimal([0, 1], [0, 1], {0: 0.5, 1: 0.5}, lambda x, y: float(x != y), [hides_value(1)])
    >>> round(found.loss, 6)
    0.268941
    """
    if not promises:
        raise InputError("the channel has nothing to keep", fix="give a promise, for example hides_value(1)")
    numbers = sum(promise.numbers(len(inputs), len(outputs)) for promise in promises)
    check_size(numbers, MOST_NUMBERS, "give fewer places, or edges that imply the other pairs")
    masses = checked(prior, "prior")
    table = np.array([[float(loss(x, y)) for y in outputs] for x in inputs])
    if not np.isfinite(table).all():
        raise InputError("a loss is not finite").at("loss")
    cost = np.array([float(masses.get(x, 0)) for x in inputs])[:, None] * table
    matrix, least = _by_columns(inputs, cost, promises) or _by_entries(inputs, cost, promises)
    channel = exact_channel(inputs, outputs, matrix, _BLENDS, lambda made: all(of.keeps(made) for of in promises))
    if channel is None:
        raise Unsupported("no channel near the solver's solution keeps the promises", fix="ask for a larger epsilon")
    measured = tuple(promise.measured(channel) for promise in promises)
    return Optimum(channel, expected_loss(channel, masses, loss), measured, least)


def _by_columns(inputs: Sequence[Hashable], cost: Floats, promises: Sequence[Promise]) -> tuple[Floats, float] | None:
    """Return a channel and what none loses less than; None where this is not the way (see the module)."""
    from scipy.sparse import vstack

    limits = [of for promise in promises if (of := promise.columns(inputs, 1.0)) is not None]
    if len(limits) < len(promises) or sum(of.shape[0] for of in limits) <= len(inputs):
        return None
    if len(inputs) ** 2 * cost.shape[1] > MOST_IN_MATRICES:
        raise Unsupported(
            f"the matrices of the program would have {len(inputs) ** 2 * cost.shape[1]:,} numbers, and at most "
            f"{MOST_IN_MATRICES:,} are held", fix="give fewer places",
        )  # fmt: skip
    needed = [promise.necessary(inputs) for promise in promises]
    try:
        solution = solve(cost, vstack(limits, format="csr"))
        if max(needed) == 1:
            return solution.matrix, solution.least
        limits = [promise.columns(inputs, inside) for promise, inside in zip(promises, needed, strict=True)]
        return solution.matrix, solve(cost, vstack(limits, format="csr")).least
    except Unsupported:
        return None


def _by_entries(inputs: Sequence[Hashable], cost: Floats, promises: Sequence[Promise]) -> tuple[Floats, float]:
    """Return a channel and what none loses less than, by a program with a variable for each entry."""
    outputs = cost.shape[1]
    solution = solved(cost, together([promise.rows(inputs, outputs, INSIDE) for promise in promises], cost.size))
    needed = [promise.rows(inputs, outputs, promise.necessary(inputs)) for promise in promises]
    return solution.matrix, _least(cost, together(needed, cost.size), solution.multipliers)


def _least(cost: Floats, needed: Limits, multipliers: Floats) -> float:
    """Return what multipliers >= 0 prove no channel to cost less than (further variables: see `Limits`)."""
    turned = needed.limits.T @ multipliers
    reduced = cost + turned[: cost.size].reshape(cost.shape)
    further = np.minimum(turned[cost.size :].reshape(-1, cost.shape[1]), 0.0).min(axis=1, initial=0.0).sum()
    return float(reduced.min(axis=1).sum() + further - needed.bounds @ multipliers)
