"""The mean of an answer under a chain, a network, and a clique, and moments of counts; `expected_rows` has the others.

A mean needs only the law of each entry. Entries with the same law and the same table are counted together, so that the
work does not grow with how many there are. Moments, log E exp(tilt * N), are known for chains, users and records. No
promise rests on either: they are floats.
"""

from __future__ import annotations

from functools import reduce
from itertools import groupby

import numpy as np

from takifugu.analysis.questions.expected_answer import EXPECTED_ANSWER, ExpectedAnswer, of_components
from takifugu.analysis.questions.marginal import marginal
from takifugu.core.arrays import FloatArray, IntArray
from takifugu.core.errors import InputError, Unsupported
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.chains.periodic_chain import PeriodicChain
from takifugu.model.beliefs.chains.pieces import IndependentPieces
from takifugu.model.queries.additive import Additive

#: For each tilt a matrix, shape (tilts, rows, columns), and the log of what it was divided by, shape (tilts,).
Scaled = tuple[FloatArray, FloatArray]

#: The moments of a chain of which more runs of steps are counted differently are not worth their time.
MOST_RUNS = 1_000
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

    def cells(self, answer: Additive) -> FloatArray:
        chain = self.belief
        if chain.initial == "any":
            raise Unsupported("with an unknown start no step has a law", fix="write what is expected: [expect]")
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


class OfPieces(ExpectedAnswer[IndependentPieces]):
    """The steps of all pieces of a chain have one law, or each class of pieces has its own mean."""

    def cells(self, answer: Additive) -> FloatArray:
        chain = self.belief.chain
        whole = EXPECTED_ANSWER.of(chain)(chain)
        if isinstance(whole, OfChain) and whole.has_one_law:
            return whole.cells(answer)
        return of_components(self.belief, answer)


def _of_phases(answer: Additive, laws: list[FloatArray]) -> FloatArray:
    """Return each cell's mean for steps of these laws in turn.

    A single law needs no array of the steps.
    """
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
        return [law.mantissas * 2.0**law.exponents for law in chain.stationary_laws]
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


def moments_of_chain(chain: PeriodicChain, count: Additive, tilts: FloatArray) -> FloatArray:
    """Follow the mean of exp(tilt * N(x)) backwards through the steps.

    Where the start may be any state, the result is the largest.
    """
    runs, states = _runs(count), len(chain.states)
    if len(runs) > MOST_RUNS:
        return np.full(len(tilts), np.inf)
    onwards: Scaled = np.ones((len(tilts), states, 1)), np.zeros(len(tilts))
    for first, last in reversed(runs):
        gains = np.exp(np.multiply.outer(tilts, count.contribution(first)[:, 0]))[:, :, np.newaxis]
        steps = [(gains * matrix, np.zeros(len(tilts))) for matrix in chain.step_matrices]
        period = steps[first % chain.period :] + steps[: first % chain.period]
        periods, last_steps = divmod(last - first, chain.period)
        for step in reversed(period[:last_steps]):
            onwards = _times(step, onwards)
        onwards = _times(_power(reduce(_times, period), periods), onwards)
    vectors, scale = onwards[0][:, :, 0], onwards[1]
    sums = vectors.max(axis=1) if chain.starts_anyhow else vectors @ _start(chain)
    return np.asarray(scale + np.log(sums))


def _runs(count: Additive) -> list[tuple[int, int]]:
    """Return the longest runs [first, end) of steps with equal contributions."""
    kinds = count.table_numbers
    changes = (np.diff(kinds) != 0) | (np.diff(count.weights) != 0)
    starts = [0, *(1 + np.flatnonzero(changes)).tolist()]
    added = groupby(starts, key=lambda first: count.contribution(first).tobytes())
    cuts = [next(alike) for _, alike in added]
    return list(zip(cuts, [*cuts[1:], count.size], strict=True))


def _start(chain: PeriodicChain) -> FloatArray:
    if not isinstance(chain.initial, str):
        return np.array(chain.initial, dtype=np.float64)
    first = chain.stationary_laws[0]
    return np.asarray(first.mantissas * 2.0**first.exponents)


def _times(left: Scaled, right: Scaled) -> Scaled:
    product = left[0] @ right[0]
    largest = product.max(axis=(1, 2))
    return product / largest[:, np.newaxis, np.newaxis], left[1] + right[1] + np.log(largest)


def _power(matrix: Scaled, exponent: int) -> Scaled:
    power: Scaled = np.broadcast_to(np.eye(matrix[0].shape[1]), matrix[0].shape), np.zeros(len(matrix[1]))
    while exponent:
        if exponent % 2:
            power = _times(power, matrix)
        matrix, exponent = _times(matrix, matrix), exponent // 2
    return power
