"""E exp(-i t N) of a number N under chains, users, records, tables, networks and cliques.

Under a chain it is the product over the steps of diag(exp(-i t c_i(x))) P between the law of the start and ones: steps
that count alike are a power of one matrix, and so are turns of the clock.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce

import numpy as np

from takifugu.analysis.answer_laws.cliques import law_of_answer
from takifugu.analysis.answer_laws.network import whole_law
from takifugu.analysis.expectations.moments_of_chains import periods_of, start_of
from takifugu.analysis.expectations.moments_of_rows import kinds_of
from takifugu.analysis.expectations.rows import laws_of_users, masses_of
from takifugu.analysis.questions.evaluating import row_answers
from takifugu.analysis.questions.law_of_cell import ComplexArray
from takifugu.core.arrays import FloatArray, IntArray
from takifugu.core.errors import Unsupported
from takifugu.model.beliefs.chains.periodic_chain import PeriodicChain
from takifugu.model.beliefs.contacts import Clique
from takifugu.model.beliefs.networks.network import BayesianNetwork
from takifugu.model.beliefs.records.records import Records
from takifugu.model.beliefs.table import JointTable
from takifugu.model.beliefs.users import IndependentUsers
from takifugu.model.queries.answer import Additive

#: So many numbers t are looked at together: a few matrices of them fit into a processor's memory.
_AT_ONCE = 2**11
#: Matrices of so few states are multiplied entry by entry, for all numbers at once.
_SMALL = 8
#: A run of steps: what a step adds by its state, the number of its first step, and how many there are.
Run = tuple[IntArray, int, int]


def of_chain(chain: PeriodicChain, count: Additive, numbers: FloatArray) -> ComplexArray:
    """Follow the mean of exp(-i t N) backwards through the steps; Unsupported for an unknown start."""
    if chain.starts_anyhow:
        raise Unsupported("the belief does not say how a recording starts, so that counts have no single distribution")
    turn, times = _turn_of(chain, count)
    first, parts = start_of(chain), list[ComplexArray]()
    for begin in range(0, len(numbers), _AT_ONCE):
        means = _mean(chain, turn, times, numbers[begin : begin + _AT_ONCE])
        parts.append(np.asarray((first[:, np.newaxis] * means).sum(axis=0)))
    return np.concatenate(parts)


def _turn_of(chain: PeriodicChain, count: Additive) -> tuple[list[Run], int]:
    """Return the runs of steps of one turn after which counting and hours are as before, and the turns."""
    (weights, tables), ends, times = count.turn
    length = int(ends[-1])
    together = math.lcm(length, chain.period) // length
    if times % together:
        # turns are no whole number of the chain's periods: all steps are one
        together = times
    runs = list[Run]()
    for turn in range(together):
        begin = turn * length
        for weight, table, end in zip(weights.tolist(), tables.tolist(), ends.tolist(), strict=True):
            stop = turn * length + end
            runs.append((weight * np.asarray(count.tables[table])[:, 0], begin, stop - begin))
            begin = stop
    return runs, times // together


def _mean(chain: PeriodicChain, turn: Sequence[Run], times: int, numbers: FloatArray) -> ComplexArray:
    """Return E exp(-i t N) given each state of the first step, shape (states, numbers)."""
    known, matrices = dict[tuple[bytes, int, int], ComplexArray](), list[ComplexArray]()
    for added, first, length in turn:
        key = added.tobytes(), first % chain.period, length
        if key not in known:
            known[key] = _of_run(chain, np.exp(-1j * np.multiply.outer(added, numbers)), *key[1:])
        matrices.append(known[key])
    onwards = np.ones((len(chain.states), 1, len(numbers)), dtype=np.complex128)
    if times > 1:
        matrices = [_power(reduce(_times, matrices), times)]
    for matrix in reversed(matrices):
        onwards = _times(matrix, onwards)
    return np.asarray(onwards[:, 0])


def _of_run(chain: PeriodicChain, gains: ComplexArray, phase: int, length: int) -> ComplexArray:
    """Return what a run of steps with these gains does to the mean behind it, shape (states, states, numbers)."""
    parts = list[ComplexArray]()
    for stretches, times in periods_of(chain, phase, length):
        steps = [_power(gains[:, np.newaxis, :] * matrix[:, :, np.newaxis], n) for matrix, n in stretches]
        parts.append(_power(reduce(_times, steps), times))
    return reduce(_times, parts)


def _times(left: ComplexArray, right: ComplexArray) -> ComplexArray:
    """Return the products of many matrices, shape (rows, columns, numbers)."""
    if len(left) <= _SMALL:
        return np.asarray((left[:, :, np.newaxis] * right[np.newaxis]).sum(axis=1))
    product = np.moveaxis(left, 2, 0) @ np.moveaxis(right, 2, 0)
    return np.ascontiguousarray(np.moveaxis(product, 0, 2))


def _power(matrices: ComplexArray, exponent: int) -> ComplexArray:
    """Return a power of many matrices, from 1 on."""
    power: ComplexArray | None = None
    while True:
        if exponent % 2:
            power = matrices if power is None else _times(power, matrices)
        exponent //= 2
        if not exponent:
            assert power is not None
            return power
        matrices = _times(matrices, matrices)


def of_users(users: IndependentUsers, count: Additive, numbers: FloatArray) -> ComplexArray:
    """Users are independent: their functions multiply, those of one kind as a power."""
    laws, total = laws_of_users(users), np.ones(len(numbers), dtype=np.complex128)
    for law, added, entries in kinds_of(count, users.law_of):
        total *= _of_values(added, laws[law], numbers) ** entries
    return total


def of_records(records: Records, count: Additive, numbers: FloatArray) -> ComplexArray:
    """Records are independent and of one law; Unsupported for a class of laws."""
    if records.within is not None:
        raise Unsupported("the belief is a class of distributions, so that counts have no single one")
    masses, total = masses_of(records.table), np.ones(len(numbers), dtype=np.complex128)
    for _, added, entries in kinds_of(count, np.zeros(count.size, dtype=np.int64)):
        total *= _of_values(added, masses, numbers) ** entries
    return total


def of_table(table: JointTable, count: Additive, numbers: FloatArray) -> ComplexArray:
    """Each row of a table is one number."""
    return _of_values(row_answers(table, count), masses_of(table), numbers)


def of_network(network: BayesianNetwork, count: Additive, numbers: FloatArray) -> ComplexArray:
    """The law of the number, by message passing; Unsupported where it needs too much memory."""
    start, step, masses = whole_law(network, count)
    return _of_values(start + step * np.arange(len(masses)), masses, numbers)


def of_clique(clique: Clique, count: Additive, numbers: FloatArray) -> ComplexArray:
    """The law of the number, by sets of ill people."""
    law = law_of_answer(clique, count)
    return _of_values(np.array(list(law)), np.array(list(map(float, law.values()))), numbers)


def _of_values(values: IntArray, masses: FloatArray, numbers: FloatArray) -> ComplexArray:
    """Return the function of a number of a few values."""
    different, place = np.unique(values, return_inverse=True)
    shares = np.bincount(place.ravel(), weights=masses)
    total = np.zeros(len(numbers), dtype=np.complex128)
    for value, share in zip(different.tolist(), shares.tolist(), strict=True):
        total += share * np.exp(-1j * value * numbers)
    return total
