"""Every joint state of a belief with its exact integer weight: the slow way to all conditional laws."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from takifugu.beliefs import Belief
from takifugu.beliefs.chain import MarkovChain, MarkovChainClass
from takifugu.beliefs.contacts import Clique, CliqueInfection
from takifugu.beliefs.network import BayesianNetwork
from takifugu.beliefs.pieces import ChainClass, IndependentPieces
from takifugu.beliefs.table import JointTable
from takifugu.beliefs.users import IndependentUsers, UserLaw
from takifugu.errors import InputError, Unsupported

IntArray = npt.NDArray[np.int64]
Weights = npt.NDArray[Any]

#: Most joint states that are listed.
MOST_STATES = 2_000_000


@dataclass(frozen=True, eq=False)
class States:
    """`values` are value indices, one row per joint state; `weights` are integers, one row for each of `starts`.

    A belief with one law has one row of weights. A chain with any initial distribution has one for each state that it
    can start in, and independent pieces of it one for each combination: `starts` lists the start of every piece.
    `nothing` is, where there is one, the letter of each entry that says that a user's value is unknown.
    """

    values: IntArray
    weights: tuple[Weights, ...]
    starts: tuple[tuple[int, ...], ...]
    pieces: tuple[range, ...]
    relative_error: float
    nothing: tuple[int, ...] = ()

    def classes(self, entry: int) -> list[list[int]]:
        """Return the rows of weights in groups that differ in the start of the entry's own piece only.

        Pieces are independent: a ratio of two masses is linear-fractional in another piece's initial law, hence largest
        at a point start of that piece; the own piece's initial laws are mixtures of a group's.
        """
        own = next(number for number, piece in enumerate(self.pieces) if entry in piece)
        groups: dict[tuple[int, ...], list[int]] = {}
        for row, start in enumerate(self.starts):
            groups.setdefault(start[:own] + start[own + 1 :], []).append(row)
        return list(groups.values())

    def given(self, entry: int, value: int, groups: IntArray, count: int) -> tuple[Weights, ...]:
        """Return, for each start, the total weight of every group of states among those with x_entry = value."""
        known = not self.nothing or self.nothing[entry] != value
        inside = np.flatnonzero(self.values[:, entry] == value) if known else np.arange(len(self.values))
        order = inside[np.argsort(groups[inside], kind="stable")]
        present, first = np.unique(groups[order], return_index=True)
        totals = []
        for weights in self.weights:
            total = np.zeros(count, dtype=object)
            if len(order):
                total[present] = np.add.reduceat(weights[order], first)
            totals.append(total)
        return tuple(totals)


def all_states(belief: Belief) -> States:
    """List every joint state of positive probability (under some law, for a chain with any initial distribution).

    Floats count as the binary fractions that they are. Raises Unsupported beyond two million states, and for beliefs
    that are not laws of the data.
    """
    if isinstance(belief, JointTable):
        _check_count(len(belief.rows))
        held = np.array([mass > 0 for mass in belief.masses])
        weights = _integers([m for m in belief.masses if m > 0])
        return States(belief.indices[held], (weights,), ((0,),), (range(belief.size),), 0.0)
    if isinstance(belief, MarkovChain):
        return _chain_states(belief)
    if isinstance(belief, BayesianNetwork):
        return _network_states(belief)
    if isinstance(belief, Clique):
        return _clique_states(belief)
    if isinstance(belief, CliqueInfection):
        return _product([all_states(belief.component(n)) for n in range(len(belief.cliques))], belief.components())
    if isinstance(belief, IndependentUsers):
        return _user_states(belief)
    if isinstance(belief, IndependentPieces):
        pieces = [all_states(belief.component(number)) for number in range(len(belief.lengths))]
        return _product(pieces, belief.components())
    raise Unsupported(
        "the audit lists the joint states of a JointTable, a MarkovChain, its independent pieces, users or a "
        f"BayesianNetwork, and {belief.describe()} is none of these",
        fix="for a class of chains give some of its chains, chains=[...]",
    )


def stand_ins(belief: Belief, chains: Sequence[MarkovChain]) -> Iterator[Belief]:
    """Yield the belief itself, or for a class of chains each of the given chains of that class in its place.

    Raises InputError for a chain outside the class, Unsupported when a class has no chain to stand for it.
    """
    family = belief.chain if isinstance(belief, IndependentPieces) else belief
    if not isinstance(family, ChainClass):
        yield belief
        return
    if not chains:
        raise Unsupported(
            "a class of chains cannot be listed", fix="give some of its chains, chains=[MarkovChain(...), ...]"
        )
    for chain in chains:
        _check_member(chain, family)
        cut = chain.with_length(family.length)
        yield IndependentPieces(cut, belief.lengths) if isinstance(belief, IndependentPieces) else cut


def _chain_states(chain: MarkovChain) -> States:
    states, length = len(chain.states), chain.length
    _check_count(states**length)
    steps = _integers(chain.matrix.ravel().tolist()).reshape(states, states)
    values = np.arange(states, dtype=np.int64)[:, None]
    weights = np.ones(states, dtype=object)
    for _ in range(length - 1):
        last = values[:, -1]
        weights = (weights[:, None] * steps[last]).ravel()
        values = np.column_stack((np.repeat(values, states, axis=0), np.tile(np.arange(states), len(values))))
        held = weights > 0
        values, weights = values[held], weights[held]
    error, whole = 4.0 * states * length * 2.0**-53, (range(length),)
    if chain.initial == "any":
        rows = tuple(np.where(values[:, 0] == u, weights, 0) for u in range(states))
        return States(values, rows, tuple((u,) for u in range(states)), whole, error)
    start = _stationary(chain) if chain.initial == "stationary" else [Fraction(p) for p in chain.initial]
    weights = weights * _integers(start)[values[:, 0]]
    held = weights > 0
    return States(values[held], (weights[held],), ((0,),), whole, error)


def _clique_states(clique: Clique) -> States:
    """List all sets of ill people, each with the mass of its size divided by the number of sets of that size."""
    _check_count(2**clique.size)
    values = np.array(list(itertools.product(range(2), repeat=clique.size)), dtype=np.int64)
    mass = {int(n): Fraction(p) / math.comb(clique.size, int(n)) for n, p in clique.number.items()}
    weights = _integers([mass.get(n, Fraction(0)) for n in values.sum(axis=1).tolist()])
    held = weights > 0
    return States(values[held], (weights[held],), ((0,),), (range(clique.size),), 0.0)


def _network_states(network: BayesianNetwork) -> States:
    """List the states node by node, parents before children, each with the product of its rows."""
    values, weights = np.zeros((1, 0), dtype=np.int64), np.ones(1, dtype=object)
    error = 0.0
    for node, parents in zip(network.nodes, network.parents, strict=True):
        k = len(node.states)
        _check_count(len(values) * k)
        rows = _integers(node.table.ravel().tolist()).reshape(node.table.shape)
        given = rows[tuple(values[:, p] for p in parents)] if parents else np.tile(rows, (len(values), 1))
        weights = (weights[:, None] * given).ravel()
        values = np.column_stack((np.repeat(values, k, axis=0), np.tile(np.arange(k), len(values))))
        held = weights > 0
        values, weights = values[held], weights[held]
        error += 4.0 * k * 2.0**-53  # a row of floats sums to one up to this
    return States(values, (weights,), ((0,),), (range(network.size),), error)


def _product(pieces: list[States], runs: tuple[range, ...]) -> States:
    values, error = pieces[0].values, pieces[0].relative_error
    rows = dict(zip(pieces[0].starts, pieces[0].weights, strict=True))
    for piece in pieces[1:]:
        _check_count(len(values) * len(piece.values) * len(rows) * len(piece.starts))
        following = list(zip(piece.starts, piece.weights, strict=True))
        rows = {
            start + other: np.multiply.outer(row, weights).ravel()
            for start, row in rows.items()
            for other, weights in following
        }
        left, right = np.repeat(values, len(piece.values), axis=0), np.tile(piece.values, (len(values), 1))
        values, error = np.concatenate((left, right), axis=1), error + piece.relative_error
    return States(values, tuple(rows.values()), tuple(rows), runs, error)


def _user_states(users: IndependentUsers) -> States:
    """List who answers what, and who is removed; a user whose value is unknown has one all the same."""
    values, weights = np.zeros((1, 0), dtype=np.int64), np.ones(1, dtype=object)
    for user in range(users.size):
        masses = _integers(_letter_masses(users.law(user), users.absence == "removed"))
        _check_count(len(values) * len(masses))
        weights = np.multiply.outer(weights, masses).ravel()
        held = weights > 0
        letters = np.tile(np.arange(len(masses)), len(values))
        values = np.column_stack((np.repeat(values, len(masses), axis=0), letters))[held]
        weights = weights[held]
    nothing: tuple[int, ...] = ()
    if users.absence == "unknown":
        nothing = tuple(len(users.law(user).values) for user in range(users.size))
    return States(values, (weights,), ((0,),), (range(users.size),), 0.0, nothing)


def _letter_masses(law: UserLaw, removed: bool) -> list[Fraction]:
    there = Fraction(law.presence) if removed else Fraction(1)
    whole = sum(Fraction(p) for p in law.probabilities)
    return [*(there * Fraction(p) / whole for p in law.probabilities), 1 - there]


def _stationary(chain: MarkovChain) -> list[Fraction]:
    """Return pi = pi P of the rows, divided by their exact sums, by elimination in rational numbers."""
    rows = [[Fraction(p) for p in row] for row in chain.matrix.tolist()]
    rows = [[p / sum(row) for p in row] for row in rows]
    size = len(rows)
    system = [[rows[j][i] - (i == j) for j in range(size)] + [Fraction(0)] for i in range(size)]
    system[-1] = [Fraction(1)] * (size + 1)
    for column in range(size):
        pivot = next(r for r in range(column, size) if system[r][column])
        system[column], system[pivot] = system[pivot], system[column]
        for r in range(size):
            if r != column and system[r][column]:
                factor = system[r][column] / system[column][column]
                system[r] = [a - factor * b for a, b in zip(system[r], system[column], strict=True)]
    return [system[i][size] / system[i][i] for i in range(size)]


def _integers(numbers: Sequence[int | float | Fraction]) -> Weights:
    """Return numbers proportional to the given ones as Python integers."""
    exact = [Fraction(number) for number in numbers]
    common = int(np.lcm.reduce(np.array([x.denominator for x in exact], dtype=object)))
    result = np.empty(len(exact), dtype=object)
    result[:] = [x.numerator * (common // x.denominator) for x in exact]
    return result


def _check_count(count: int) -> None:
    if count > MOST_STATES:
        raise Unsupported(
            f"the audit would have to list {count:.3g} joint states, and lists at most {MOST_STATES:,}",
            fix="audit a shorter sequence or a smaller table",
        )


def _check_member(chain: MarkovChain, family: ChainClass) -> None:
    """Refuse a chain outside the class."""
    if chain.states != family.states:
        raise InputError(f"the chain has the states {list(chain.states)} and the class {list(family.states)}")
    if not isinstance(family, MarkovChainClass):
        if not family.contains(chain):
            raise InputError(
                "the chain is not in the class", rule="its transition probabilities lie outside the intervals"
            )
        return
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
