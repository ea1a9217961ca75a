"""The loss of a secret entry of a network, table or clique: the least of what the ways to bound it give.

Trees of bags (`bags`, `blocks`), orders of elimination (`elimination`), one message along each arc where the network is
a tree (`trees`), the exact loss among exchangeable people (`exchangeable`), and the sum of all losses that the secret
reaches (`group`). All hold for every mechanism with the profile, so that the least counts, pair by pair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from takifugu.beliefs.contacts import Clique, CliqueInfection
from takifugu.beliefs.network import BayesianNetwork
from takifugu.beliefs.table import JointTable
from takifugu.errors import Unsupported
from takifugu.influence.bags import MOST_STATES, Bag, loss_by_bags
from takifugu.influence.blocks import eliminated, layered, orders, reached, whole
from takifugu.influence.certified import Programs
from takifugu.influence.chains import Loss
from takifugu.influence.conditionals import TRUSTED, boundary, moral_graph
from takifugu.influence.elimination import loss_by_elimination
from takifugu.influence.exchangeable import exchangeable_loss
from takifugu.influence.profile import Profile
from takifugu.influence.rounding import UNIT, FloatArray, sum_up
from takifugu.influence.suprema import suprema
from takifugu.influence.trees import is_forest, losses_on_tree
from takifugu.kept import kept
from takifugu.secrets import Family

#: States of a bag that joins several variables of an order of elimination.
JOINED = 16
#: Rows of a table beyond which only the sum over all entries is taken.
MOST_ROWS = 1000
#: What is said where only the sum over all entries remains.
TOO_WIDE = "the network is too wide for blocks and for elimination: all that the entry reaches is charged in full"


#: Networks of more variables are bounded as trees or by the sum over all entries only.
MOST_VARIABLES = 500


@dataclass(frozen=True, eq=False)
class NetworkLoss:
    """The loss of each pair of an entry's values, shape (k, k), the way that gave it, and what could not be done."""

    loss: FloatArray
    way: str
    note: str = ""


def network_losses(network: BayesianNetwork, profile: Profile, entry: int) -> NetworkLoss:
    """Return at least the loss of each ordered pair of an entry's values; pairs with an impossible one have no meaning.

    Profiles and entries count nodes as `network.names` does. Source: Theorems 5 and 6 of docs/theory/influence.md.

    >>> net = BayesianNetwork([("x", [0, 1], [], [0.8, 0.2]), ("y", [0, 1], ["x"], [[0.9, 0.1], [0.4, 0.6]])])
    >>> result = network_losses(net, Profile.of([[0, 1.0], [1.0, 0]], 2), 0)
    >>> round(float(result.loss[1, 0]), 6), result.way
    (1.549948, 'tree')
    """
    if is_forest(network):
        best, way = forest_losses(network, profile)[entry], "tree"
        if network.size > MOST_VARIABLES or all(len(node.states) == 2 for node in network.nodes):
            return NetworkLoss(best, way)
    else:
        best, way = group_loss(network, profile, entry), "group"
        if network.size > MOST_VARIABLES:
            return NetworkLoss(best, way, TOO_WIDE)
    for name, attempt in _ways(network, profile, entry):
        try:
            loss = attempt()
        except Unsupported:
            continue
        way = name if loss.max() < best.max() or way == "group" else way
        best = np.minimum(best, loss)
        if name == "one block":
            break  # nothing that holds for all mechanisms with this profile is smaller
    return NetworkLoss(best, way, TOO_WIDE if way == "group" else "")


def group_loss(network: BayesianNetwork, profile: Profile, entry: int) -> FloatArray:
    """Return c of an entry plus the largest c of everything that it reaches, for each pair of its values."""
    active = {t for t in range(network.size) if profile.largest(t)} | {entry}
    others = 0.0
    for t in reached(moral_graph(network, active), entry):
        if t != entry:
            others = float(sum_up(others, profile.largest(t)))
    loss = np.array(sum_up(profile.at(entry), np.full_like(profile.at(entry), others)))
    np.fill_diagonal(loss, 0.0)
    return loss


Attempt = Callable[[], FloatArray]


def _ways(network: BayesianNetwork, profile: Profile, entry: int) -> Iterator[tuple[str, Attempt]]:
    """Yield all other bounds by name; they raise Unsupported where tables would be too large."""
    tables = {t: profile.at(t) for t in range(network.size)}
    sizes = {v: len(network.alphabet(v)) for v in tables}
    active = {t for t, table in tables.items() if table.any()} | {entry}

    def bags(plan: Sequence[Bag]) -> Attempt:
        return lambda: loss_by_bags(network, tables, entry, plan)

    def one_by_one(order: Sequence[int]) -> Attempt:
        return lambda: loss_by_elimination(network, tables, entry, order)

    near = moral_graph(network, active)
    read = {v: set(boundary(near, v, active)) for v in active}  # all that nothing reads is summed out
    yield "one block", bags(whole(read, entry))
    for graph in [near, read] if len(read) < len(near) else [near]:
        yield "blocks", bags(layered(graph, entry))
        for order in orders(graph, entry, sizes):
            yield "bags", bags(eliminated(graph, entry, order, sizes, JOINED))
            yield "elimination", one_by_one(order)


def forest_losses(network: BayesianNetwork, profile: Profile) -> list[FloatArray]:
    """Return `network_losses` of all entries of a network without two parents of one variable, in one pass."""
    return kept(
        network,
        ("influence on a forest", id(profile)),
        lambda: (profile, losses_on_tree(network, [profile.at(t) for t in range(network.size)])),
    )[1]


def clique_losses(belief: CliqueInfection | Clique, profile: Profile, entry: int) -> FloatArray:
    """Return the loss of each pair of states of one person, shape (2, 2): exact if all others of the clique have one c.

    >>> from takifugu.laws.pmf import Pmf
    >>> household = Clique(4, Pmf(range(5), [0.5, 0.1, 0.1, 0.1, 0.2]))
    >>> clique_losses(household, Profile.of([[0, 0.5], [0.5, 0]], 4), 2).round(6).tolist()
    [[0.0, 1.377195], [1.445124, 0.0]]
    """
    people = next(run for run in belief.components() if entry in run)
    clique = belief.component(belief.components().index(people))
    number = clique.number
    masses = [0.0] * (len(people) + 1)
    for value, mass in number.items():
        masses[int(value)] = float(mass)
    others = max((profile.largest(person) for person in people if person != entry), default=0.0)
    return exchangeable_loss(masses, profile.largest(entry), others)


def table_losses(belief: JointTable, profile: Profile, entry: int) -> FloatArray:
    """Return the loss of each pair of an entry's values: all other entries are one block, exact for a few dozen rows.

    >>> twins = JointTable([(0, 0), (0, 1), (1, 0), (1, 1)], [0.4, 0.1, 0.1, 0.4])
    >>> table_losses(twins, Profile.of([[0, 1.0], [1.0, 0]], 2), 0).round(6).tolist()
    [[0.0, 1.569445], [1.569445, 0.0]]
    """
    others = [t for t in range(belief.size) if t != entry]
    most = 0.0
    for t in others:
        most = float(sum_up(most, profile.largest(t)))
    loss = np.array(sum_up(profile.at(entry), np.full_like(profile.at(entry), most)))
    np.fill_diagonal(loss, 0.0)
    masses = np.array([float(mass) for mass in belief.masses]) / float(belief.total or 1)
    alive = masses > 0
    states, which = np.unique(belief.indices[alive][:, others], axis=0, return_inverse=True)
    if not others or len(states) > MOST_ROWS or masses[alive].min() < TRUSTED:
        return loss
    rows = np.zeros((len(loss), len(states)))
    rows[belief.indices[alive][:, entry], which.ravel()] = masses[alive]
    possible = np.flatnonzero(rows.any(axis=1))
    rows = rows[possible] / rows[possible].sum(axis=1, keepdims=True)
    moves = np.zeros((len(states), len(states)))
    for place, t in enumerate(others):
        moves = sum_up(moves, profile.at(t)[np.ix_(states[:, place], states[:, place])])
    programs = Programs() if len(states) <= MOST_STATES else None
    message = suprema(rows, moves, (len(states) + 4) * UNIT, programs)
    block = np.ix_(possible, possible)
    loss[block] = np.minimum(loss[block], sum_up(profile.at(entry)[block], message))
    return loss


def network_loss(network: BayesianNetwork, profile: Profile, family: Family) -> Loss:
    """Return the largest `network_losses` of a family of secrets, and the entry and the values that reach it."""
    return _largest(network, family, lambda entry: network_losses(network, profile, entry).loss)


def table_loss(belief: JointTable, profile: Profile, family: Family) -> Loss:
    """Return the largest `table_losses` of a family of secrets, and the entry and the values that reach it."""
    return _largest(belief, family, lambda entry: table_losses(belief, profile, entry))


def clique_loss(belief: CliqueInfection | Clique, profile: Profile, family: Family) -> Loss:
    """Return the largest `clique_losses` of a family of secrets, and the entry and the values that reach it."""
    return _largest(belief, family, lambda entry: clique_losses(belief, profile, entry))


def _largest(belief: Any, family: Family, losses: Callable[[int], FloatArray]) -> Loss:
    worst = Loss(0.0)
    for entry in family.entries:
        pairs = family.value_pairs(belief, entry)
        table = losses(entry) if pairs else None
        for left, right in pairs:
            if table is not None and table[left, right] > worst.epsilon:
                worst = Loss(float(table[left, right]), entry, left, right)
    return worst
