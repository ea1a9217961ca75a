"""Laws of a scalar answer given a node of a Bayesian network: elimination with one more axis, the sum so far.

Every factor carries a last axis: how much the nodes that were already summed out have added, on consecutive integers.
Multiplying factors convolves these axes (positive terms only), and a node's own contribution is a shift that is made
when the node is summed out. On trees and polytrees this is message passing; elsewhere the tables grow with the
network's width, which is predicted first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from takifugu.answers.listed import ListedFamily
from takifugu.answers.wide import UNIT
from takifugu.beliefs.elimination import LARGEST_TABLE, Plan, plan
from takifugu.beliefs.network import BayesianNetwork
from takifugu.errors import Unsupported
from takifugu.laws.pmf import Pmf
from takifugu.queries import Additive
from takifugu.secrets import Family

FloatArray = npt.NDArray[np.float64]

#: Masses below this may have lost digits to underflow.
TRUSTED = 2.0**-900


@dataclass(frozen=True)
class SumFactor:
    """A table over `scope` and a last axis: entry [..., j] belongs to a sum of `start` + j."""

    scope: tuple[int, ...]
    table: FloatArray
    start: int


def families(belief: BayesianNetwork, answer: Additive, family: Family) -> Iterator[ListedFamily]:
    """Yield the laws given each value of each secret entry, in order.

    Raises Unsupported where a table would be too large, or masses too small for float64.
    """
    for entry in family.entries:
        pairs = family.value_pairs(belief, entry)
        if not pairs:
            continue
        table, start, error = answer_table(belief, answer, entry)
        laws = {}
        for value in sorted({*sum(pairs, ())}):
            row = table[value]
            if ((row > 0) & (row < TRUSTED)).any():
                raise Unsupported(
                    "some masses of the answer's law are below 1e-270, too small for exact ratios in float64: "
                    'use mechanism="quilt-exact" or "group"'
                )
            laws[value] = (Pmf.on_integers(start, row / row.sum()),)
        yield ListedFamily(entry, pairs, laws, error)


def answer_table(belief: BayesianNetwork, answer: Additive, entry: int) -> tuple[FloatArray, int, float]:
    """Return (P(X_entry = s, answer = start + j) up to a factor, start, relative error of a mass)."""
    return sums_table(belief, answer, [entry], range(belief.size))


def sums_table(
    belief: BayesianNetwork, answer: Additive, keep: Sequence[int], counted: Iterable[int]
) -> tuple[FloatArray, int, float]:
    """Return the joint law of some entries and of what the counted ones add, its start, relative error of a mass.

    The table has one axis for each of `keep`, in that order, and a last axis: entry [..., j] belongs to a sum of
    start + j. It is a law up to a factor.
    """
    adding = frozenset(counted)
    alive = _alive(belief, answer, keep, adding)
    sizes = {v: len(belief.nodes[v].states) for v in alive}
    scopes = [belief.factors[v].scope for v in alive]
    steps = plan(scopes, sizes, keep)
    widest = 1 + sum(int(np.ptp(answer.contribution(v))) for v in alive if v in adding)
    if steps.largest * widest > LARGEST_TABLE:
        raise Unsupported(
            f"the laws of the answer would need a table of {steps.largest * widest:.1e} numbers, above the limit of "
            f'{LARGEST_TABLE:.0e}: use mechanism="quilt-exact" or "group", or a smaller network'
        )
    pool = [SumFactor(belief.factors[v].scope, belief.factors[v].table[..., None], 0) for v in alive]
    rounding = 0
    for variable in steps.order:
        mine = [f for f in pool if variable in f.scope]
        pool = [f for f in pool if variable not in f.scope]
        joined, depth = _joined(mine)
        pool.append(_summed(joined, variable, _added(belief, answer, variable, adding)))
        rounding += depth + sizes[variable] + 2
    final, depth = _joined(pool)
    for variable in keep:
        final = _shifted(final, variable, _added(belief, answer, variable, adding))
    order = [*(final.scope.index(v) for v in keep), len(final.scope)]
    return final.table.transpose(order), final.start, (rounding + depth + 8) * 2 * UNIT


def law_plan(belief: BayesianNetwork, answer: Additive, entry: int) -> Plan:
    """Return the predicted elimination for one entry, tables counted without the axis of sums."""
    return sums_plan(belief, answer, [entry], range(belief.size))


def sums_plan(belief: BayesianNetwork, answer: Additive, keep: Sequence[int], counted: Iterable[int]) -> Plan:
    """Return the predicted elimination of `sums_table`, tables counted without the axis of sums."""
    alive = _alive(belief, answer, keep, frozenset(counted))
    sizes = {v: len(belief.nodes[v].states) for v in alive}
    return plan([belief.factors[v].scope for v in alive], sizes, keep)


def width(belief: BayesianNetwork, answer: Additive) -> float:
    """Return the largest number of values that the answer can take."""
    return 1.0 + sum(float(np.ptp(answer.contribution(v))) for v in range(belief.size))


def work(belief: BayesianNetwork, answer: Additive, entries: int) -> tuple[float, float]:
    """Return the predicted operations and bytes of `families`."""
    atoms = width(belief, answer)
    steps = law_plan(belief, answer, 0)
    return entries * (steps.operations * atoms**2 / 4 + 3e4 * belief.size), 24.0 * steps.largest * atoms


def _alive(belief: BayesianNetwork, answer: Additive, keep: Sequence[int], adding: frozenset[int]) -> list[int]:
    """Return the kept entries, the nodes that add something, and their ancestors: the rest sums to one."""
    # A node whose contribution does not vary still shifts the answer: it is kept for that.
    return belief.ancestral([*keep, *(v for v in adding if answer.contribution(v).any())])


def _added(
    belief: BayesianNetwork, answer: Additive, node: int, adding: frozenset[int]
) -> npt.NDArray[np.int64]:
    """Return what each value of a node adds to the sum; a node that is not read may have a table of one zero."""
    size = len(belief.nodes[node].states)
    if node not in adding:
        return np.zeros(size, dtype=np.int64)
    return np.broadcast_to(answer.contribution(node)[:, 0], (size,))


def _joined(factors: list[SumFactor]) -> tuple[SumFactor, int]:
    """Multiply factors: pointwise over shared variables, convolved over sums; and how often a mass was rounded."""
    depth = 0
    result = factors[0]
    for other in sorted(factors[1:], key=lambda f: f.table.size):
        scope = tuple(dict.fromkeys((*result.scope, *other.scope)))
        left, right = _spread(result, scope), _spread(other, scope)
        if left.shape[-1] < right.shape[-1]:
            left, right = right, left
        width = left.shape[-1] + right.shape[-1] - 1
        table = np.zeros((*np.broadcast_shapes(left.shape[:-1], right.shape[:-1]), width))
        for j in range(right.shape[-1]):
            table[..., j : j + left.shape[-1]] += left * right[..., j : j + 1]
        depth += right.shape[-1] + 1
        result = SumFactor(scope, table, result.start + other.start)
    return result, depth


def _spread(factor: SumFactor, scope: tuple[int, ...]) -> FloatArray:
    """Return the table with one axis for every variable of a larger scope."""
    order = [factor.scope.index(v) for v in scope if v in factor.scope]
    table = factor.table.transpose([*order, len(factor.scope)])
    for axis, v in enumerate(scope):
        if v not in factor.scope:
            table = np.expand_dims(table, axis)
    return table


def _shifted(factor: SumFactor, variable: int, contribution: npt.NDArray[np.int64]) -> SumFactor:
    """Add the variable's own contribution to the sums."""
    low, high = int(contribution.min()), int(contribution.max())
    axis, width = factor.scope.index(variable), factor.table.shape[-1]
    moved = np.moveaxis(factor.table, axis, 0)
    table = np.zeros((*moved.shape[:-1], width + high - low))
    for value, added in enumerate(contribution.tolist()):
        table[value, ..., added - low : added - low + width] = moved[value]
    return SumFactor(factor.scope, np.moveaxis(table, 0, axis), factor.start + low)


def _summed(factor: SumFactor, variable: int, contribution: npt.NDArray[np.int64]) -> SumFactor:
    shifted = _shifted(factor, variable, contribution)
    axis = shifted.scope.index(variable)
    scope = shifted.scope[:axis] + shifted.scope[axis + 1 :]
    return SumFactor(scope, shifted.table.sum(axis=axis), shifted.start)
