"""Data drawn from a belief, for rehearsals: in the form in which a release reads data, and of nobody.

The bits come from the caller's source of entropy, and the laws are floats: what is drawn decides no noise.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from takifugu.analysis.questions.marginal import MARGINAL
from takifugu.core.arrays import FloatArray, IntArray
from takifugu.core.errors import Unsupported
from takifugu.core.registry import Question
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.chains.periodic_chain import PeriodicChain
from takifugu.model.beliefs.chains.pieces import IndependentPieces
from takifugu.model.beliefs.contacts import CliqueInfection
from takifugu.model.beliefs.derived.own import ByDistribution, law_of
from takifugu.model.beliefs.networks.network import BayesianNetwork
from takifugu.model.beliefs.records.records import Records
from takifugu.model.beliefs.table import JointTable
from takifugu.model.beliefs.users import IndependentUsers
from takifugu.model.secrets.families import ABSENT
from takifugu.numbers.noise import Entropy

#: What can be rehearsed.
OF_BELIEF = "rehearse a file of a Markov chain, users, records, a table, a network or contacts"
#: Bits of a uniform number below 1.
_BITS = 53


def made_up(belief: Belief, entropy: Entropy) -> Any:
    """Return data that follow a belief, as `read` takes them; raises Unsupported where nothing is drawn."""
    return MADE_UP.of(belief)(belief, entropy)


def _uniform(count: int, entropy: Entropy) -> FloatArray:
    """Return numbers from 0 to below 1."""
    words = np.frombuffer(entropy.bytes(8 * count), dtype="<u8") >> np.uint64(64 - _BITS)
    return np.asarray(words.astype(np.float64) / 2.0**_BITS)


def _chosen(law: FloatArray, uniform: FloatArray) -> IntArray:
    """Return a value's number for each uniform number; values of probability 0 are never chosen."""
    ends = np.cumsum(law)
    last = int(np.flatnonzero(law)[-1])
    return np.minimum(np.searchsorted(ends / ends[-1], uniform, side="right"), last).astype(np.int64)


def of_chain(chain: PeriodicChain, entropy: Entropy) -> list[Hashable]:
    """Draw step after step; a chain of any start begins in any state."""
    uniform, first = _uniform(chain.length, entropy), np.ones(len(chain.states))
    if not chain.starts_anyhow:
        shares, _ = MARGINAL.of(chain)(chain).of(0)
        first = np.array(list(map(float, shares)))
    state, states = int(_chosen(first, uniform[:1])[0]), list[int]()
    following = [[_chosen(row, uniform) for row in matrix] for matrix in chain.step_matrices]
    for step in range(chain.length):
        if step:
            state = int(following[(step - 1) % chain.period][state][step])
        states.append(state)
    return [chain.states[state] for state in states]


def of_pieces(pieces: IndependentPieces, entropy: Entropy) -> list[Any]:
    """Draw each piece by itself."""
    return [made_up(pieces.component(number), entropy) for number in range(len(pieces.components()))]


def of_users(users: IndependentUsers, entropy: Entropy) -> list[Hashable]:
    """Draw each user's value, and who is there where absence removes a user."""
    values, present = _uniform(users.size, entropy), _uniform(users.size, entropy)
    drawn = list[Hashable]()
    for user, number in enumerate(users.law_of.tolist()):
        law = users.laws[number]
        place = int(_chosen(np.array(list(map(float, law.probabilities))), values[user : user + 1])[0])
        is_there = users.absence == "unknown" or present[user] < float(law.presence)
        drawn.append(law.values[place] if is_there else ABSENT)
    return drawn


def of_records(records: Records, entropy: Entropy) -> list[tuple[Hashable, ...]]:
    """Draw a row of the table for each record."""
    return [records.table.rows[row] for row in _rows(records.table, records.size, entropy)]


def of_table(table: JointTable, entropy: Entropy) -> dict[Hashable, Hashable] | list[Hashable]:
    """Draw one row of a table."""
    row = table.rows[_rows(table, 1, entropy)[0]]
    return list(row) if table.names is None else dict(zip(table.names, row, strict=True))


def of_own(belief: ByDistribution, entropy: Entropy) -> Any:
    """Draw from the distribution that a belief has."""
    return made_up(law_of(belief), entropy)


def _rows(table: JointTable, count: int, entropy: Entropy) -> list[int]:
    rows: list[int] = _chosen(np.array(table.masses, dtype=np.float64), _uniform(count, entropy)).tolist()
    return rows


def of_network(network: BayesianNetwork, entropy: Entropy) -> dict[Hashable, Hashable]:
    """Draw each node given its parents."""
    uniform, numbers = _uniform(network.size, entropy), list[int]()
    for entry, node in enumerate(network.nodes):
        law = node.table[tuple(numbers[place] for place in network.parents[entry])]
        numbers.append(int(_chosen(law, uniform[entry : entry + 1])[0]))
    return {node.name: node.states[number] for node, number in zip(network.nodes, numbers, strict=True)}


def of_cliques(cliques: CliqueInfection, entropy: Entropy) -> dict[Hashable, Hashable]:
    """Draw how many of each clique are ill, and then who."""
    states = dict[Hashable, Hashable]()
    for number, members in enumerate(cliques.cliques):
        ill = cliques.component(number).number
        numbers, masses = zip(*ill.items(), strict=True)
        many = int(numbers[int(_chosen(np.array(list(map(float, masses))), _uniform(1, entropy))[0])])
        order = np.argsort(_uniform(len(members), entropy), kind="stable").tolist()
        for rank, place in enumerate(order):
            states[members[place]] = cliques.states[rank < many]
    return states


def nothing(belief: Belief, entropy: Entropy) -> Any:
    """Raise Unsupported: nobody says how data follow such a belief."""
    raise Unsupported(f"no data are drawn from {belief.describe()}", fix=OF_BELIEF)


MADE_UP: Question[Callable[[Any, Entropy], Any]] = Question("data drawn from a belief", nothing)
