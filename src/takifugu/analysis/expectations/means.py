"""The mean of an answer under a chain, a network, and a clique; `rows` and `columns` have the others.

A mean needs only the law of each entry. Entries with the same law and the same table are counted together, so that the
work does not grow with how many there are. No promise rests on it: it is a float.
"""

from __future__ import annotations

import numpy as np

from takifugu.analysis.questions.expected_answer import ExpectedAnswer, expected, means_of_components, of_components
from takifugu.analysis.questions.marginal import marginal
from takifugu.core.arrays import FloatArray, IntArray
from takifugu.core.errors import InputError, Unsupported
from takifugu.core.plain import set_fields
from takifugu.core.sections import values_by_field
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.chains.periodic_chain import PeriodicChain
from takifugu.model.beliefs.chains.pieces import IndependentPieces
from takifugu.model.queries.answer import Additive

#: A chain that starts anywhere is within this of its stationary law from then on.
SETTLED = 1e-12


def of_groups(answer: Additive, group: IntArray, laws: list[FloatArray]) -> FloatArray:
    """Return each cell's mean in grid units, with laws `laws[group[i]]`."""
    total = np.zeros(answer.cells)
    table_of = answer.table_numbers
    for number, law in enumerate(laws):
        for table, values in enumerate(answer.tables):
            weight = float(answer.weights[(group == number) & (table_of == table)].sum())
            if weight:
                total += weight * (law @ values)
    return total


class OfChain(ExpectedAnswer[PeriodicChain]):
    """The laws of a chain's steps are those of its period, from where it has settled on."""

    @property
    def has_one_law(self) -> bool:
        """Whether every step has the same law."""
        return self.belief.initial == "stationary" and self.belief.period == 1

    def means(self, answer: Additive) -> tuple[FloatArray, FloatArray]:
        if not self.belief.starts_anyhow:
            return super().means(answer)
        starts = np.eye(len(self.belief.states))
        means = [OfChain(started(self.belief, tuple(start))).cells(answer) for start in starts.tolist()]
        return np.min(means, axis=0), np.max(means, axis=0)

    def means_of_pieces(self, pieces: Belief, answer: Additive) -> tuple[FloatArray, FloatArray]:
        return self.means(answer) if self.has_one_law else means_of_components(pieces, answer)

    def cells(self, answer: Additive) -> FloatArray:
        chain = self.belief
        if chain.initial == "any":
            raise Unsupported(
                "with an unknown start no step has one distribution", fix="write what is expected: [expect]"
            )
        steady = _settled(chain)
        if chain.initial == "stationary":
            return _of_phases(answer, steady)
        total, law = np.zeros(answer.cells), np.array(chain.initial, dtype=np.float64)
        for step in range(answer.size):
            if steady and step % chain.period == 0 and np.abs(law - steady[0]).max() < SETTLED:
                return total + _of_phases(answer.restrict(slice(step, answer.size)), steady)
            total += law @ answer.contribution(step)
            law = law @ chain.step_matrices[step % chain.period]
        return total


def started(chain: PeriodicChain, start: tuple[float, ...]) -> PeriodicChain:
    """Return a chain whose first step has this law, in place of any."""
    given = object.__new__(type(chain))
    set_fields(given, **{**values_by_field(chain), "initial": start})
    return given


class OfPieces(ExpectedAnswer[IndependentPieces]):
    """The steps of all pieces of a chain have one law, or each class of pieces has its own mean."""

    def means(self, answer: Additive) -> tuple[FloatArray, FloatArray]:
        return expected(self.belief.chain).means_of_pieces(self.belief, answer)

    def cells(self, answer: Additive) -> FloatArray:
        whole = expected(self.belief.chain)
        if isinstance(whole, OfChain) and whole.has_one_law:
            return whole.cells(answer)
        return of_components(self.belief, answer)


def _of_phases(answer: Additive, laws: list[FloatArray]) -> FloatArray:
    """Return each cell's mean for steps of these laws in turn; a single law needs no array of the steps."""
    if len(laws) > 1:
        return of_groups(answer, np.arange(answer.size) % len(laws), laws)
    (weights, tables), lengths = answer.total_kinds
    total = np.zeros(answer.cells)
    for table, values in enumerate(answer.tables):
        weight = float((weights * lengths)[tables == table].sum())
        if weight:
            total += weight * (laws[0] @ values)
    return total


def _settled(chain: PeriodicChain) -> list[FloatArray]:
    """Return each phase's law in the long run, or nothing without one."""
    try:
        return [law.floats() for law in chain.stationary_laws]
    except InputError:  # several closed classes: the start decides how likely each is
        return _limit(chain)


def _limit(chain: PeriodicChain) -> list[FloatArray]:
    """Return the laws after 2**40 periods, or nothing where they circulate."""
    period_matrix = np.linalg.multi_dot([np.eye(len(chain.states)), *chain.step_matrices, np.eye(len(chain.states))])
    power = period_matrix
    for _ in range(40):
        power = power @ power
        power /= power.sum(axis=1, keepdims=True)
    laws = [np.array(chain.initial, dtype=np.float64) @ power]
    if np.abs(laws[0] @ period_matrix - laws[0]).max() > SETTLED:
        return []
    for matrix in chain.step_matrices[:-1]:
        laws.append(laws[-1] @ matrix)
    return laws


class OfMarginals(ExpectedAnswer[Belief]):
    """Each entry has a law of its own, which its belief computes."""

    def cells(self, answer: Additive) -> FloatArray:
        total, marginals = np.zeros(answer.cells), marginal(self.belief)
        for entry in np.flatnonzero(answer.weights).tolist():
            chances, _ = marginals.of(entry)
            law = np.array(chances, dtype=np.float64)
            total += law / law.sum() @ answer.contribution(entry)
        return total


class OfClique(OfMarginals):
    """Each entry is a person."""

    @property
    def people(self) -> int:
        return self.belief.size
