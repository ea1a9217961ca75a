"""The mean of an answer under a chain, a network, a clique, a table and independent users.

A mean needs only the law of each entry. Entries with the same law and the same table are counted together, so that the
work does not grow with how many there are.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from takifugu.analysis.questions.expected_answer import ExpectedAnswer
from takifugu.analysis.questions.marginal import marginal
from takifugu.core.errors import Unsupported
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.chains.periodic_chain import PeriodicChain
from takifugu.model.beliefs.table import JointTable
from takifugu.model.beliefs.users import IndependentUsers
from takifugu.model.queries.additive import Additive
from takifugu.model.secrets.families import ABSENT

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

#: A chain that starts anywhere is within this of its stationary law from then on.
SETTLED = 1e-12


def of_groups(answer: Additive, group: IntArray, laws: list[FloatArray]) -> FloatArray:
    """Return the mean of each cell, in grid units, where entry i has the law `laws[group[i]]`."""
    total = np.zeros(answer.cells)
    table_of = np.zeros(answer.size, dtype=np.int64) if answer.table_of is None else answer.table_of
    for number, law in enumerate(laws):
        for table, values in enumerate(answer.tables):
            weight = float(answer.weights[(group == number) & (table_of == table)].sum())
            if weight:
                total += weight * (law @ values)
    return total


class OfChain(ExpectedAnswer[PeriodicChain]):
    """The laws of a chain's steps are those of its period, from where it has settled on."""

    def cells(self, answer: Additive) -> FloatArray:
        chain = self.belief
        if chain.initial == "any":
            raise Unsupported("with an unknown start no step has a law", fix="write what is expected: [expect]")
        steady = [law.mantissas * 2.0**law.exponents for law in chain.stationary_laws]
        steps = np.arange(answer.size)
        if chain.initial == "stationary":
            return of_groups(answer, steps % chain.period, steady)
        total, law = np.zeros(answer.cells), np.array(chain.initial, dtype=np.float64)
        for step in range(answer.size):
            if step % chain.period == 0 and np.abs(law - steady[0]).max() < SETTLED:
                rest = answer.restrict(slice(step, answer.size))
                return total + of_groups(rest, np.arange(rest.size) % chain.period, steady)
            total += law @ answer.contribution(step)
            law = law @ chain.step_matrices[step % chain.period]
        return total


class OfMarginals(ExpectedAnswer[Belief]):
    """Each entry has a law of its own, which its belief computes."""

    def cells(self, answer: Additive) -> FloatArray:
        total, each = np.zeros(answer.cells), marginal(self.belief)
        for entry in np.flatnonzero(answer.weights).tolist():
            chances, _ = each.of(entry)
            law = np.array([float(p) for p in chances])
            total += law / law.sum() @ answer.contribution(entry)
        return total


class OfTable(ExpectedAnswer[JointTable]):
    """Rows with their masses."""

    def cells(self, answer: Additive) -> FloatArray:
        table = self.belief
        masses = np.array([float(mass) for mass in table.masses])
        masses /= masses.sum()
        total = np.zeros(answer.cells)
        for column in np.flatnonzero(answer.weights).tolist():
            place = {value: index for index, value in enumerate(table.alphabet(column))}
            values = [place[row[column]] for row in table.rows]
            total += masses @ answer.contribution(column)[values]
        return total


class OfUsers(ExpectedAnswer[IndependentUsers]):
    """Users of one law are counted together; one who is absent adds what absence adds."""

    def cells(self, answer: Additive) -> FloatArray:
        users = self.belief
        laws, (_, one_of_each) = [], np.unique(users.law_of, return_index=True)
        for law, user in zip(users.laws, one_of_each.tolist(), strict=True):
            present = float(law.presence)
            masses = [present * float(p) for p in law.probabilities]
            laws.append(np.array([*masses, 1 - present] if users.alphabet(user)[-1] == ABSENT else masses))
        return of_groups(answer, users.law_of, laws)
