"""The loss of a secret entry of a network: one tree of bags, the same whatever is released.

Binary forests take a message along each arc, which is exact (`trees`); all others one junction tree (`junction`). Where
few values are read, one bag of what is read is the supremum, and what no path joins with the secret is not charged at
all. Each rises with the profile, so that the least of them does (Theorem 9 of docs/theory/influence.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import numpy as np

from takifugu.core.arrays import FloatArray
from takifugu.core.cache import cached
from takifugu.core.errors import Unsupported
from takifugu.influence.networks.conditionals import joint_size, moral_graph
from takifugu.influence.networks.elimination import loss_by_elimination
from takifugu.influence.networks.junction import JOINED, Messages, block_losses, junction_tree, junction_work
from takifugu.influence.networks.trees import is_forest, losses_on_tree
from takifugu.influence.profiles.profile import Curve, Loss, Profile
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.networks.network import BayesianNetwork
from takifugu.model.secrets.families import Family
from takifugu.numbers.outward_rounding import sum_up, up
from takifugu.numbers.rationals import float_above

#: What is said where only the sum over all entries remains.
TOO_WIDE = (
    "all that the entry reaches is charged in full: the network is too wide for a tree of bags, or it forgets nothing"
)

#: Networks of more variables are bounded as trees or by the sum over all entries only.
MOST_VARIABLES = 500
#: Up to so many variables what is read is put into one bag, where it has few values.
MOST_IN_ONE_BAG = 60
#: Operations beyond which messages along a junction tree are not sent.
MOST_WORK = 2e9
#: Operations for one variable of a tree, by its states, and for one bag around a secret.
OF_TWO_STATES, OF_ROWS, OF_PROGRAMS, OF_A_BAG = 6e3, 6e4, 3e4, 1e6


def network_loss(network: BayesianNetwork, profile: Profile, family: Family) -> Loss:
    """Return the largest loss of a family, its entry and values (Theorems 7 and 13 of docs/theory/influence.md)."""
    # Profiles and entries count nodes as `network.names` does.
    every, messages = along_one_tree(network, profile)
    if is_binary_forest(network):
        return largest_of_family(network, family, every.__getitem__)

    def refined(entry: int) -> FloatArray:
        loss = np.minimum(every[entry], loss_of_what_is_read(network, profile, entry))
        if messages is not None:
            loss = np.minimum(loss, messages.loss(entry, is_whole=True))
            if messages.tree.is_wide and network.size <= MOST_IN_ONE_BAG:
                loss = np.minimum(loss, loss_one_by_one(network, profile, entry))
        return loss

    # What loses most is bounded by what is read until it is one that has been: the result is as if all had been.
    worst = largest_of_family(network, family, every.__getitem__, refined)
    sum_of_all = sum_of_what_is_read(network, profile, worst.entry)[worst.left, worst.right]
    is_sum = 0 < sum_of_all * (1 - 1e-12) <= worst.epsilon and not is_least(network)  # rounded up in another order
    return replace(worst, note=TOO_WIDE) if is_sum else worst


def is_least(network: BayesianNetwork) -> bool:
    """Return whether a mechanism with the profile attains the loss: binary trees, and what one bag holds."""
    return is_binary_forest(network) or is_one_bag(network)


def is_binary_forest(network: BayesianNetwork) -> bool:
    """Return whether no variable has two parents, or a third value."""
    return is_forest(network) and all(len(node.states) == 2 for node in network.nodes)


def is_one_bag(network: BayesianNetwork) -> bool:
    """Return whether one bag holds all values of a network."""
    return network.size <= MOST_IN_ONE_BAG and joint_size(network, range(network.size)) <= JOINED


def along_one_tree(network: BayesianNetwork, profile: Profile) -> tuple[list[FloatArray], Messages | None]:
    """Bound all entries' pairwise losses by messages along one tree; return them, and those between bags, if any."""

    def passes() -> tuple[list[FloatArray], Messages | None]:
        tables = [profile.tables[place] for place in profile.kinds.numbers.tolist()]
        along_arcs = losses_on_tree(network, tables) if is_forest(network) else None
        if along_arcs is not None and (is_binary_forest(network) or network.size > MOST_IN_ONE_BAG):
            return along_arcs, None
        if network.size > MOST_VARIABLES or junction_work(network) > MOST_WORK:
            return along_arcs or sums_of_all(tables), None
        messages = Messages.of(junction_tree(network), tables)
        by_bags = list(map(messages.loss, range(network.size)))
        return list(map(np.minimum, by_bags, along_arcs)) if along_arcs else by_bags, messages

    # The profile is kept with its losses, so that its id stays its own.
    return cached(network, ("influence on a tree", id(profile)), lambda: (profile, passes()))[1]


def loss_of_what_is_read(network: BayesianNetwork, profile: Profile, entry: int) -> FloatArray:
    """Return the sum of all that is read and joined with an entry, or the supremum where a bag of its own holds it."""
    loss = sum_of_what_is_read(network, profile, entry)
    others = _read_with(network, profile, entry)
    is_few = network.size <= MOST_IN_ONE_BAG and joint_size(network, (entry, *others)) <= JOINED
    if others and is_few and not is_one_bag(network):
        tables = [profile.tables[place] for place in profile.kinds.numbers.tolist()]
        return np.minimum(loss, block_losses(network, tables, entry, others))
    return loss


def loss_one_by_one(network: BayesianNetwork, profile: Profile, entry: int) -> FloatArray:
    """Return what one loses if all others are taken out one by one, the farthest first, or in the network's order."""
    tables = {t: profile.at(t) for t in range(network.size)}
    others = reached(moral_graph(network, tables), entry)[1:]
    best = np.full_like(tables[entry], np.inf)
    for order in (others[::-1], sorted(others, reverse=True)):
        with suppress(Unsupported):
            best = np.minimum(best, loss_by_elimination(network, tables, entry, order))
    return best


def sum_of_what_is_read(network: BayesianNetwork, profile: Profile, entry: int) -> FloatArray:
    """Return c of an entry plus the largest of all others that are read and joined with it."""
    largest = profile.largest_of_all[list(_read_with(network, profile, entry))]
    return with_others(profile.at(entry), float(up(math.fsum(largest.tolist()))) if len(largest) else 0.0)


def _read_with(network: BayesianNetwork, profile: Profile, entry: int) -> tuple[int, ...]:
    """Return the other entries that are read and that a path of the moral graph of what is read joins with one."""
    moving = profile.largest_of_all > 0

    def computed() -> tuple[int, ...]:
        near = moral_graph(network, {*np.flatnonzero(moving).tolist(), entry})
        return tuple(sorted(t for t in reached(near, entry) if moving[t] and t != entry))

    return cached(network, ("read with", entry, moving.tobytes()), computed)


def reached(near: Mapping[int, set[int]], entry: int) -> list[int]:
    """Return all variables joined with an entry, it included, the nearest first."""
    visited = {entry: None}
    queue = [entry]
    for v in queue:
        for u in sorted(near[v]):
            if u not in visited:
                visited[u] = None
                queue.append(u)
    return queue


def sums_of_all(tables: Sequence[FloatArray]) -> list[FloatArray]:
    """Return each c plus all others' largest c, rounded up."""
    largest = [Fraction(float(table.max())) for table in tables]
    total = sum(largest)
    losses = []
    for table, moved in zip(tables, largest, strict=True):
        losses.append(with_others(table, float_above(total - moved)))
    return losses


def with_others(table: FloatArray, others: float) -> FloatArray:
    """Return what values of an entry lose by themselves and by all others, rounded up."""
    loss = np.array(sum_up(table, np.full_like(table, others)))
    np.fill_diagonal(loss, 0.0)
    return loss


def network_work(network: BayesianNetwork) -> float:
    """Predict the operations of `network_loss` for all entries."""
    states = max(len(node.states) for node in network.nodes)
    work: float = network.size
    if is_forest(network):
        work *= OF_TWO_STATES if states == 2 else OF_ROWS if states <= 6 else OF_PROGRAMS * states**2
        if states == 2 or network.size > MOST_IN_ONE_BAG:
            return work
    if network.size <= MOST_VARIABLES and (predicted := junction_work(network)) <= MOST_WORK:
        work += predicted
    if network.size <= MOST_IN_ONE_BAG and not is_one_bag(network):
        work += network.size * OF_A_BAG + network.size**2 * OF_ROWS
    return work


def largest_of_family(
    belief: Belief, family: Family, losses: Callable[[int], FloatArray],
    refined: Callable[[int], FloatArray] | None = None,
) -> Loss:  # fmt: skip
    """Return a family's largest loss, its entry and values; the worst entry is `refined` until it stays worst."""
    compared = cached(belief, ("pairs", family), lambda: [(e, family.value_pairs(belief, e)) for e in family.entries])
    waiting = [
        (_worst_pair(losses(entry), entry, pairs), refined is None, pairs) for entry, pairs in compared if pairs
    ]
    while waiting:
        place = max(range(len(waiting)), key=lambda n: waiting[n][0].epsilon)
        worst, is_refined, pairs = waiting[place]
        if is_refined or refined is None:
            return worst
        waiting[place] = _worst_pair(refined(worst.entry), worst.entry, pairs), True, pairs
    return Loss(0.0)


def _worst_pair(table: FloatArray, entry: int, pairs: Sequence[tuple[int, int]]) -> Loss:
    rows = table.tolist()
    left, right = max(pairs, key=lambda pair: rows[pair[0]][pair[1]])
    return Loss(rows[left][right], entry, left, right)


NETWORK: Curve[BayesianNetwork] = Curve(network_loss, network_work, is_least)
