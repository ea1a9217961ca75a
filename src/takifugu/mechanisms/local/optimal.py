"""The channel of least expected loss that keeps promises, by a sparse linear program.

Promises that constrain every output alike, and by many constraints (metric privacy), go to `numbers.column_programs`,
whose solution is strictly inside. All others go to HiGHS, a little inside the promises: its solution keeps them up to
its tolerance only. Either is mixed with its mean row, which raises no log-ratio, rounded to exact masses, and
*measured*; where a measured number exceeds a promise, more is mixed in. What is returned is certified by the measured
numbers, not by a solver.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from takifugu.core.errors import InputError, Unsupported
from takifugu.mechanisms.local.measuring import expected_loss
from takifugu.mechanisms.local.promises import Promise, Rows, checked
from takifugu.numbers.atoms import Floats
from takifugu.numbers.column_programs import solve
from takifugu.numbers.distributions.channel import Channel, repair

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
    prior: Mapping[Hashable, Any],
    loss: Callable[[Any, Any], float],
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
    if numbers > MOST_NUMBERS:
        raise Unsupported(
            f"the linear program would have {numbers:,} numbers, and at most {MOST_NUMBERS:,} are solved",
            fix="give fewer places, or edges that imply the other pairs",
        )
    masses = checked(prior, "prior")
    table = np.array([[float(loss(x, y)) for y in outputs] for x in inputs])
    if not np.isfinite(table).all():
        raise InputError("a loss is not finite").at("loss")
    cost = np.array([float(masses.get(x, 0)) for x in inputs])[:, None] * table
    matrix, least = _by_columns(inputs, cost, promises) or _by_entries(inputs, cost, promises)
    for blend in _BLENDS:
        channel = repair(inputs, outputs, matrix, blend)
        if all(promise.keeps(channel) for promise in promises):
            measured = tuple(promise.measured(channel) for promise in promises)
            return Optimum(channel, expected_loss(channel, dict(masses), loss), measured, least)
    raise Unsupported("no channel near the solver's solution keeps the promises", fix="ask for a larger epsilon")


def _by_columns(inputs: Sequence[Any], cost: Floats, promises: Sequence[Promise]) -> tuple[Floats, float] | None:
    """Return a channel and what none loses less than; None where this is not the way (see the module)."""
    from scipy.sparse import vstack

    limits = [promise.columns(inputs, 1.0) for promise in promises]
    if any(of is None for of in limits) or sum(of.shape[0] for of in limits) <= len(inputs):
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


def _by_entries(inputs: Sequence[Any], cost: Floats, promises: Sequence[Promise]) -> tuple[Floats, float]:
    """Return a channel and what none loses less than, by a program with a variable for each entry."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, eye_array, hstack, kron

    outputs = cost.shape[1]
    limits, bounds = _stacked([promise.rows(inputs, outputs, INSIDE) for promise in promises], cost.size)
    more = limits.shape[1] - cost.size
    sums = hstack(
        [kron(eye_array(len(inputs)), csr_array(np.ones((1, outputs)))), csr_array((len(inputs), more))], format="csr"
    )
    costs, one = np.concatenate([cost.ravel(), np.zeros(more)]), np.ones(len(inputs))
    why = ""
    for method in ("highs-ipm", "highs-ds"):
        solved = linprog(costs, limits, bounds, sums, one, bounds=(0, None), method=method)
        if solved.status == 0:
            matrix = np.maximum(solved.x[: cost.size].reshape(cost.shape), 0.0)
            needed = [promise.rows(inputs, outputs, promise.necessary(inputs)) for promise in promises]
            multipliers = np.maximum(-solved.ineqlin.marginals, 0.0)
            return matrix / matrix.sum(axis=1, keepdims=True), _least(cost, needed, multipliers)
        why = str(solved.message)
    raise Unsupported("the solver found no channel", rule=why)


def _least(cost: Floats, rows_of_limits: Sequence[Rows], multipliers: Floats) -> float:
    """Return what multipliers >= 0 prove no channel to cost less than (further variables: see `Rows`)."""
    limits, bounds = _stacked(rows_of_limits, cost.size)
    turned = limits.T @ multipliers
    reduced = cost + turned[: cost.size].reshape(cost.shape)
    further = np.minimum(turned[cost.size :].reshape(-1, cost.shape[1]), 0.0).min(axis=1, initial=0.0).sum()
    return float(reduced.min(axis=1).sum() + further - bounds @ multipliers)


def _stacked(rows_of_limits: Sequence[Rows], size: int) -> tuple[Any, Floats]:
    """Return the constraints of all promises together, each with its own further variables after the entries."""
    from scipy.sparse import csr_array, hstack, vstack

    more, blocks, start = sum(rows.more for rows in rows_of_limits), [], 0
    for rows in rows_of_limits:
        mine, extra = rows.limits[:, :size], rows.limits[:, size:]
        before = csr_array((mine.shape[0], start))
        after = csr_array((mine.shape[0], more - start - rows.more))
        blocks.append(hstack([mine, before, extra, after], format="csr"))
        start += rows.more
    return vstack(blocks, format="csr"), np.concatenate([rows.bounds for rows in rows_of_limits])
