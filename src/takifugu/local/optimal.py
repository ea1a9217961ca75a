"""The channel of least expected loss that keeps promises, by a sparse linear program.

The program is solved a little inside the promises. Its solution keeps them up to the solver's tolerance only, so that
it is mixed with its mean row, which raises no log-ratio, rounded to exact masses, and *measured*; where a measured
number exceeds a promise, more is mixed in. What is returned is certified by the measured numbers, not by the solver.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from takifugu.errors import InputError, Unsupported
from takifugu.laws.channel import Channel, repair
from takifugu.local.channels import expected_loss
from takifugu.local.promises import Promise, checked

#: Promises are solved for this share of their epsilon.
INSIDE = 1 - 2.0**-24
#: Numbers in the constraints beyond which a program is refused.
MOST_NUMBERS = 3_000_000
#: Shares of the mean row that are mixed in, until what is measured keeps the promise.
_BLENDS = (Fraction(1, 2**34), *(Fraction(1, 2**k) for k in (30, 26, 22, 18, 14, 10)))


@dataclass(frozen=True, eq=False)
class Optimum:
    """A channel, its expected loss, what it measures for each promise, and the loss of the solver's own solution."""

    channel: Channel
    loss: float
    measured: tuple[float, ...]
    solved: float


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

    >>> from takifugu.local.promises import hides_value
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
    matrix, solved = _solution(inputs, table, np.array([float(masses.get(x, 0)) for x in inputs]), promises)
    for blend in _BLENDS:
        channel = repair(inputs, outputs, matrix, blend)
        if all(promise.keeps(channel) for promise in promises):
            measured = tuple(promise.measured(channel) for promise in promises)
            return Optimum(channel, expected_loss(channel, dict(masses), loss), measured, solved)
    raise Unsupported("no channel near the solver's solution keeps the promises", fix="ask for a larger epsilon")


def _solution(inputs: Sequence[Any], table: Any, prior: Any, promises: Sequence[Promise]) -> tuple[Any, float]:
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, eye_array, hstack, kron, vstack

    size, outputs = table.size, table.shape[1]
    found = [promise.rows(inputs, outputs, INSIDE) for promise in promises]
    more = sum(rows.more for rows in found)
    blocks, start = [], 0
    for rows in found:
        own, extra = rows.limits[:, :size], rows.limits[:, size:]
        before = csr_array((own.shape[0], start))
        after = csr_array((own.shape[0], more - start - rows.more))
        blocks.append(hstack([own, before, extra, after], format="csr"))
        start += rows.more
    sums = hstack(
        [kron(eye_array(len(inputs)), csr_array(np.ones((1, outputs)))), csr_array((len(inputs), more))], format="csr"
    )
    cost = np.concatenate([(prior[:, None] * table).ravel(), np.zeros(more)])
    bounds = np.concatenate([rows.bounds for rows in found])
    limits, one = vstack(blocks, format="csr"), np.ones(len(inputs))
    why = ""
    for method in ("highs-ipm", "highs-ds"):
        solved = linprog(cost, limits, bounds, sums, one, bounds=(0, None), method=method)
        if solved.status == 0:
            matrix = np.maximum(solved.x[:size].reshape(table.shape), 0.0)
            return matrix / matrix.sum(axis=1, keepdims=True), float(solved.fun)
        why = str(solved.message)
    raise Unsupported("the solver found no channel", rule=why)
