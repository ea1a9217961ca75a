"""The joint states of each type of belief, and which chains may stand for a class of chains."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable
from fractions import Fraction
from typing import Any

import numpy as np

from takifugu.analysis.questions.joint_states import (
    JointStates,
    States,
    all_states,
    check_count,
    integers,
    joint_states,
    of_one_law,
    with_entry,
)
from takifugu.core.errors import InputError
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.chains.chain import BinaryChains, MarkovChain, ReversibleChains
from takifugu.model.beliefs.chains.interval_chain import IntervalMarkovChain
from takifugu.model.beliefs.chains.periodic_chain import PeriodicChain
from takifugu.model.beliefs.chains.pieces import IndependentPieces
from takifugu.model.beliefs.contacts import Clique
from takifugu.model.beliefs.networks.network import BayesianNetwork
from takifugu.model.beliefs.records.counted_parameters import CountedParameters
from takifugu.model.beliefs.records.parameters import Parameters
from takifugu.model.beliefs.table import JointTable
from takifugu.model.beliefs.users import IndependentUsers
from takifugu.numbers.rationals import common_denominator


class TableStates(JointStates[JointTable]):
    """The rows of positive mass."""

    def states(self) -> States:
        belief = self.belief
        check_count(len(belief.rows))
        return of_one_law(belief.indices, integers(list(belief.masses)), belief.size)


class ChainStates(JointStates[PeriodicChain]):
    """The paths, step by step; for any initial distribution with a row of weights for each start state."""

    def states(self) -> States:
        chain = self.belief
        states, length = len(chain.states), chain.length
        check_count(states, length)
        tables = [integers(matrix.ravel().tolist()).reshape(states, states) for matrix in chain.step_matrices]
        values = np.arange(states, dtype=np.int64)[:, None]
        weights = np.ones(states, dtype=object)
        for step in range(length - 1):
            values, weights = with_entry(values, weights, tables[step % len(tables)][values[:, -1]])
        error = 4.0 * states * length * 2.0**-53
        if chain.initial == "any":
            rows = tuple(np.where(values[:, 0] == u, weights, 0) for u in range(states))
            return States(values, rows, tuple((u,) for u in range(states)), (range(length),), error)
        if chain.initial == "stationary":
            start = stationary_law(chain)
        else:
            start = list(map(Fraction, chain.initial))
        return of_one_law(values, weights * integers(start)[values[:, 0]], length, error)


class CliqueStates(JointStates[Clique]):
    """All sets of ill people, each with the mass of its size divided by the number of sets of that size."""

    def states(self) -> States:
        clique = self.belief
        check_count(2, clique.size)
        values = np.array(list(itertools.product(range(2), repeat=clique.size)), dtype=np.int64)
        mass = {int(n): Fraction(p) / math.comb(clique.size, int(n)) for n, p in clique.number.items()}
        weights = integers([mass.get(n, Fraction(0)) for n in values.sum(axis=1).tolist()])
        return of_one_law(values, weights, clique.size)


class NetworkStates(JointStates[BayesianNetwork]):
    """The states node by node, parents first, with products of rows."""

    def states(self) -> States:
        network = self.belief
        values, weights = np.zeros((1, 0), dtype=np.int64), np.ones(1, dtype=object)
        error = 0.0
        for node, parents in zip(network.nodes, network.parents, strict=True):
            rows = integers(node.table.ravel().tolist()).reshape(node.table.shape)
            conditional = rows
            if parents:
                conditional = rows[tuple(values[:, list(parents)].T)]
            values, weights = with_entry(values, weights, conditional)
            error += 4.0 * len(node.states) * 2.0**-53  # a row of floats sums to one up to this
        return of_one_law(values, weights, network.size, error)


class ParameterStates(JointStates[Parameters]):
    """The parameters, and then the values of record after record."""

    def states(self) -> States:
        belief = self.belief
        prior = all_states(belief.prior)
        values, (weights,) = prior.values, prior.weights
        for column in tuple(belief.described) * belief.records:
            exact = np.array(column.laws, dtype=object)
            common = common_denominator(exact.ravel())
            laws = np.frompyfunc(int, 1, 1)(exact * common)
            values, weights = with_entry(values, weights, laws[values[:, column.entry]])
        return of_one_law(values, weights, belief.size, prior.relative_error)


class CountedStates(JointStates[CountedParameters]):
    """Parameters with a class of priors, stood for by beliefs with one of it."""

    is_class = True

    def stand_in(self, member: Belief) -> Belief:
        """Return a belief with the same columns and a prior of the class only."""
        if not self.belief.contains(member):
            raise InputError(
                f"{member!r} does not stand for {self.belief.describe()}",
                rule="what stands for counted parameters is a Parameters belief with their columns, and a table in "
                "every interval of theirs",
            )
        return member


class UserStates(JointStates[IndependentUsers]):
    """Who answers what, and who is removed; a user whose value is unknown has one all the same."""

    def states(self) -> States:
        users = self.belief
        values, weights = np.zeros((1, 0), dtype=np.int64), np.ones(1, dtype=object)
        for user in range(users.size):
            law, presence = users.law(user), Fraction(1)
            if users.absence == "removed":
                presence = Fraction(law.presence)
            total = sum(map(Fraction, law.probabilities))
            masses = [presence * Fraction(mass) / total for mass in law.probabilities]
            values, weights = with_entry(values, weights, integers([*masses, 1 - presence]))
        nothing: tuple[int, ...] = ()
        if users.absence == "unknown":
            nothing = tuple(len(users.law(user).values) for user in range(users.size))
        return of_one_law(values, weights, users.size, nothing=nothing)


class ChainClass(JointStates[IntervalMarkovChain | BinaryChains]):
    """A class of chains with transition probabilities in intervals."""

    is_class = True

    def stand_in(self, member: MarkovChain) -> MarkovChain:
        _check_states(member, self.belief.states)
        if not self.belief.contains(member):
            raise InputError(
                "the chain is not in the class", rule="its transition probabilities lie outside the intervals"
            )
        return member.with_length(self.belief.length)


class ReversibleClass(JointStates[ReversibleChains]):
    """All reversible chains with stationary masses >= pi and eigengap >= g."""

    is_class = True

    def stand_in(self, member: MarkovChain) -> MarkovChain:
        chain, family = member, self.belief
        _check_states(chain, family.states)
        stationary = MarkovChain(chain.matrix, 1).stationary
        flow = stationary[:, None] * chain.matrix
        if stationary.min() < family.pi - 1e-9 or np.abs(flow - flow.T).max() > 1e-9:
            raise InputError(
                "the chain is not in the class",
                rule=f"it must be reversible, with stationary masses of at least {family.pi:g}",
                fix=f"its smallest is {stationary.min():.6g}",
            )
        roots = np.sqrt(stationary)
        symmetric = roots[:, None] * chain.matrix / roots
        gap = 1 - float(np.sort(np.abs(np.linalg.eigvalsh((symmetric + symmetric.T) / 2)))[-2])
        if gap < family.g - 1e-9:
            raise InputError("the chain is not in the class", rule=f"its eigengap is {gap:.6g}, below {family.g:g}")
        return chain.with_length(family.length)


class PieceStates(JointStates[IndependentPieces]):
    """Pieces of one chain, or of a class's members."""

    @property
    def is_class(self) -> bool:
        return joint_states(self.belief.chain).is_class

    def stand_in(self, member: MarkovChain) -> IndependentPieces:
        chain: Any = joint_states(self.belief.chain).stand_in(member)
        return IndependentPieces(chain, self.belief.lengths)


def _check_states(chain: MarkovChain, states: tuple[Hashable, ...]) -> None:
    if chain.states != states:
        raise InputError(f"the chain has the states {list(chain.states)} and the class {list(states)}")


def stationary_law(chain: PeriodicChain) -> list[Fraction]:
    """Return pi = pi P exactly, P the product over a period."""
    size = len(chain.states)
    identity = np.array([Fraction(0)] * size**2).reshape(size, size)
    np.fill_diagonal(identity, Fraction(1))
    rows = identity
    for matrix in chain.step_matrices:
        step = np.frompyfunc(Fraction, 1, 1)(matrix)
        rows = rows.dot(step / step.sum(axis=1, keepdims=True))
    system = [[*equation, Fraction(0)] for equation in (rows.T - identity).tolist()]
    system[-1] = [Fraction(1)] * (size + 1)
    for column in range(size):
        pivot = next(r for r in range(column, size) if system[r][column])
        system[column], system[pivot] = system[pivot], system[column]
        for r in range(size):
            if r != column and system[r][column]:
                factor = system[r][column] / system[column][column]
                system[r] = [a - factor * b for a, b in zip(system[r], system[column], strict=True)]
    return [system[i][size] / system[i][i] for i in range(size)]
