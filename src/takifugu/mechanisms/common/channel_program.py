"""The channel of least expected loss that keeps what is asked of it: one linear program, and exact masses after it.

A channel from inputs x to outputs y is K = mixing^T C with C >= 0, where the parts that are mixed are the inputs
themselves unless they are given. Minimise sum_xy cost_xy K_xy such that every row of K sums to 1 and, for every
`Limits`, limits @ (C, more) <= bounds. A ratio row r asks r @ C_y <= t_y for every output y, t_y >= 0 and
sum_y t_y <= delta: with r = p - e^epsilon q that is (epsilon, delta) between the laws p and q of the inputs.

A solver keeps constraints up to its tolerance only. Its matrix becomes a channel of exact masses (`channel.repair`), a
little of the mean row mixed in, which raises no log-ratio, until what is *measured* of the channel is kept
(`exact_channel`). What is returned is certified by measured numbers, not by a solver.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from takifugu.core.arrays import BoolArray
from takifugu.core.errors import Unsupported
from takifugu.numbers.atoms import Floats
from takifugu.numbers.distributions.channel import Channel, repair

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False)
class Limits:
    """Constraints limits @ (C, more) <= bounds: C row by row, then `more` further variables that are not negative."""

    limits: csr_array
    bounds: Floats
    more: int = 0  # one per output; those of all outputs together are at most 1


@dataclass(frozen=True, eq=False)
class Solved:
    """The solver's channel, its rows made to sum to 1, and its multipliers >= 0 of the limits."""

    matrix: Floats
    multipliers: Floats


def check_size(numbers: int, most: int, fix: str) -> None:
    """Raise Unsupported for more than `most` numbers in a program's constraints."""
    if numbers > most:
        raise Unsupported(
            f"the linear program would have {numbers:,} numbers, and at most {most:,} are solved", fix=fix
        )


def ratio_limits(ratios: Floats | csr_array, outputs: int, delta: float = 0.0) -> Limits:
    """Return the limits r @ C_y <= t_y, sum_y t_y <= delta."""
    from scipy.sparse import bmat, csr_array, eye_array, kron

    entries, count = kron(csr_array(ratios), eye_array(outputs), format="csr"), ratios.shape[0]
    if not delta:
        return Limits(entries, np.zeros(count * outputs))
    totals = kron(eye_array(count), csr_array(np.ones((1, outputs))))
    limits = bmat([[entries, -eye_array(count * outputs)], [None, totals]], format="csr")
    return Limits(limits, np.concatenate([np.zeros(count * outputs), np.full(count, delta)]), count * outputs)


def together(several: Sequence[Limits], size: int) -> Limits:
    """Return several constraints on `size` entries as one."""
    from scipy.sparse import block_diag, hstack, vstack

    entries = vstack([limits.limits[:, :size] for limits in several])
    further = block_diag([limits.limits[:, size:] for limits in several])
    bounds = np.concatenate([limits.bounds for limits in several])
    return Limits(hstack([entries, further], format="csr"), bounds, sum(limits.more for limits in several))


def solved(
    cost: Floats, limits: Limits, mixing: Floats | None = None, allowed: BoolArray | None = None
) -> Solved:
    """Return the channel of least total cost, shaped like `cost`; Unsupported where the solver finds none."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, eye_array, hstack, kron

    # `mixing` has shape (parts, inputs); `allowed` says which entries of C may be above 0 (default: all).
    inputs, outputs = cost.shape
    parts = eye_array(inputs, format="csr") if mixing is None else mixing
    size = parts.shape[0] * outputs
    rows = hstack(
        [kron(parts.T, csr_array(np.ones((1, outputs)))), csr_array((inputs, limits.more))], format="csr"
    )
    costs, most = np.zeros(size + limits.more), np.full(size + limits.more, np.inf)
    costs[:size] = np.asarray(parts @ cost).ravel()
    if allowed is not None:
        most[:size] = np.where(np.asarray(allowed).ravel(), np.inf, 0.0)
    why = ""
    for method in ("highs-ipm", "highs-ds"):
        solution = linprog(
            costs, limits.limits, limits.bounds, rows, np.ones(inputs),
            bounds=np.column_stack([np.zeros(len(most)), most]), method=method,
        )  # fmt: skip
        if solution.status == 0:
            matrix = np.asarray(parts.T @ np.maximum(solution.x[:size], 0.0).reshape(-1, outputs))
            sums = matrix.sum(axis=1, keepdims=True)
            return Solved(matrix / sums, np.maximum(-solution.ineqlin.marginals, 0.0))
        why = str(solution.message)
    raise Unsupported("the solver found no channel", rule=why)


def exact_channel(
    inputs: Sequence[Hashable], outputs: Sequence[Hashable], matrix: Floats, blends: Iterable[Fraction],
    keeps: Callable[[Channel], bool],
) -> Channel | None:  # fmt: skip
    """Return the first exact channel that keeps what is asked, or None; `blends` are shares of the mean row."""
    channels = (repair(inputs, outputs, matrix, blend) for blend in blends)
    return next(filter(keeps, channels), None)
