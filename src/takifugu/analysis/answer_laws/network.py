"""Laws of a scalar answer given nodes of a Bayesian network, for all secret nodes at once.

Only nodes that the answer or a secret depends on are looked at: those that are secret or add something that varies, and
their ancestors; the rest sums to one. Two passes (`passes`) over one plan (`contraction`, `reading`) serve all secret
nodes. On trees and polytrees this is message passing; elsewhere tables grow with the network's width, and where a plan
for all secret nodes would take too much memory each gets its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from takifugu.analysis.answer_laws.dense import DenseFamily, one_each
from takifugu.analysis.answer_laws.join_tree import contraction
from takifugu.analysis.answer_laws.message_passing import Reading, laws, reading
from takifugu.analysis.questions.answer_law import AnswerLaw, newest
from takifugu.analysis.questions.marginal import Marginal, trusted
from takifugu.core.arrays import FloatArray
from takifugu.core.errors import Unsupported
from takifugu.model.beliefs.networks.network import BayesianNetwork
from takifugu.model.queries import Additive
from takifugu.model.secrets.families import Family, compared_values
from takifugu.numbers.extended.floats import UNIT

#: The largest memory, in bytes, that the laws of one answer may take, as predicted.
LARGEST_BYTES = 3e9
#: How many of the secret nodes represent all of them where each has its own plan.
_SAMPLE = 16


@dataclass(frozen=True, eq=False)
class Shares:
    """The contributions c_v(s) = base_v + unit * offsets[v][s], offsets >= 0 and the least of a node 0."""

    base: int
    unit: int
    offsets: tuple[tuple[int, ...], ...]

    @property
    def varying(self) -> list[int]:
        return [v for v, row in enumerate(self.offsets) if max(row)]

    @property
    def width(self) -> int:
        """The number of places of the whole answer."""
        return 1 + sum(map(max, self.offsets))


def shares(belief: BayesianNetwork, answer: Additive) -> Shares:
    """Write the nodes' contributions over one base and largest common unit."""
    base, above = 0, []
    for v, node in enumerate(belief.nodes):
        # A node that is not read may have a table of one zero.
        row = np.broadcast_to(answer.contribution(v)[:, 0], (len(node.states),))
        base += int(row.min())
        above.append(row - row.min())
    unit = max(1, int(np.gcd.reduce(np.concatenate(above))))
    return Shares(base, unit, tuple(tuple((row // unit).tolist()) for row in above))


class NetworkLaw(AnswerLaw[BayesianNetwork]):
    """The laws given each value of each secret node, each node once, in the order in which they are found."""

    def families(self) -> Iterator[DenseFamily]:
        """Yield the answer families; raises Unsupported where they would take more than LARGEST_BYTES."""
        belief, pairs = self.belief, _pairs(self.belief, self.family)
        answer_shares = shares(belief, self.answer)
        for plan in _plans(belief, self.answer, tuple(pairs)):
            if not _fits(plan):
                raise Unsupported(
                    f"the distributions of the answer need {plan.bytes:.1e} bytes, "
                    f"above the limit of {LARGEST_BYTES:.0e}",
                    fix='use mechanism="quilt-exact" or "group-dp", a smaller network, or a MarkovChain if it is one',
                )
            for law in laws(plan, belief.factors, answer_shares.offsets):
                values = compared_values(pairs[law.variable])
                yield DenseFamily(
                    law.variable, pairs[law.variable], *one_each(values), law.weights[values],
                    answer_shares.base, answer_shares.unit, relative_error(law.rounded),
                )  # fmt: skip

    def work(self, laplace: bool = False) -> tuple[float, float]:
        belief, answer = self.belief, self.answer
        nodes = tuple(_pairs(belief, self.family))
        if not nodes:
            return 0.0, 0.0
        together = _planned(belief, answer, nodes)
        if _fits(together) or len(nodes) == 1:
            return together.operations, together.bytes
        some = nodes[:: max(1, len(nodes) // _SAMPLE)]
        plans = [_planned(belief, answer, (v,)) for v in some]
        return len(nodes) / len(some) * sum(plan.operations for plan in plans), max(plan.bytes for plan in plans)

    def atoms(self) -> float:
        return width(self.belief, self.answer)


def whole_law(belief: BayesianNetwork, answer: Additive) -> tuple[int, int, FloatArray]:
    """Return the first number, the step and the masses of an answer of one cell; Unsupported beyond memory."""
    answer_shares = shares(belief, answer)
    node = next(iter(answer_shares.varying), None)
    if node is None:
        return answer_shares.base, 1, np.ones(1)
    plan = _planned(belief, answer, (node,))
    if not _fits(plan):
        raise Unsupported(f"the distribution of a cell needs {plan.bytes:.1e} bytes")
    (law,) = laws(plan, belief.factors, answer_shares.offsets)
    masses = law.weights.floats(law.weights.exponents.max()).sum(axis=0)
    return answer_shares.base, answer_shares.unit, np.asarray(masses / masses.sum())


def relative_error(rounded: int) -> float:
    """Bound the relative error of a mass rounded and normalised."""
    return 2.02 * (rounded + 64) * UNIT


def width(belief: BayesianNetwork, answer: Additive) -> float:
    """Return the number of places of the answer's laws."""
    return float(shares(belief, answer).width)


def _pairs(belief: BayesianNetwork, family: Family) -> dict[int, tuple[tuple[int, int], ...]]:
    """Return the pairs to compare of every secret node with any."""
    return {v: pairs for v in family.entries if (pairs := family.value_pairs(belief, v))}


def _plans(belief: BayesianNetwork, answer: Additive, nodes: tuple[int, ...]) -> Iterator[Reading]:
    """Yield one plan, or one per node where memory is short."""
    if not nodes:
        return
    together = _planned(belief, answer, nodes)
    if _fits(together) or len(nodes) == 1:
        yield together
    else:
        for v in nodes:
            yield _planned(belief, answer, (v,))


def _fits(plan: Reading) -> bool:
    return plan.bytes <= LARGEST_BYTES


def _planned(belief: BayesianNetwork, answer: Additive, nodes: tuple[int, ...]) -> Reading:
    """Return the plan for some wanted nodes."""

    def make() -> Reading:
        answer_shares = shares(belief, answer)
        scopes, sizes, spans = {}, {}, {}
        for v in belief.ancestral([*nodes, *answer_shares.varying]):
            offsets = answer_shares.offsets[v]
            scopes[v], sizes[v], spans[v] = belief.factors[v].scope, len(offsets), max(offsets)
        return reading(contraction(scopes, sizes, spans, nodes * (len(nodes) == 1)), nodes)

    return newest(answer, belief, nodes, make)


class NetworkMarginal(Marginal[BayesianNetwork]):
    """The law of one node, by elimination of all others."""

    known = True

    def of(self, entry: int) -> tuple[list[Fraction], float]:
        table, error = self.belief.law([entry])
        return trusted(table, np.asarray(self.belief.possible(entry))), error
