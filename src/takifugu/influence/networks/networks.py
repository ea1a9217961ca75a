"""The loss of a secret entry of a network: the least of what the ways to bound it give.

Trees of bags (`bags`), orders of elimination (`elimination`), one message along each arc where the network is
a tree (`trees`), and the sum of all losses that the secret reaches (`group`). All hold for every mechanism with the
profile, so that the least counts, pair by pair.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from takifugu.core.arrays import FloatArray
from takifugu.core.cache import cached
from takifugu.core.errors import Unsupported
from takifugu.core.lists import take
from takifugu.influence.chains.chains import Loss
from takifugu.influence.networks.bags import Bag, by_place, eliminated, layered, loss_by_bags, orders, reached, whole
from takifugu.influence.networks.conditionals import boundary, joint_size, moral_graph
from takifugu.influence.networks.elimination import loss_by_elimination
from takifugu.influence.networks.junction import junction_losses, junction_work
from takifugu.influence.networks.trees import is_forest, losses_on_tree
from takifugu.influence.profiles.profile import Profile
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.networks.network import BayesianNetwork
from takifugu.model.secrets.families import Family
from takifugu.numbers.outward_rounding import sum_up, up
from takifugu.numbers.rationals import float_above

#: States of a bag that joins several variables of an order of elimination.
JOINED = 16
#: States of everything in one bag, beyond which its program takes longer than all other ways together.
MOST_IN_ONE = 64
#: What is said where only the sum over all entries remains.
TOO_WIDE = (
    "all that the entry reaches is charged in full: the network is too wide for blocks and for elimination, or it "
    "forgets nothing"
)

#: Networks of more variables are bounded as trees or by the sum over all entries only.
MOST_VARIABLES = 500
#: Up to so many joint values each secret that may be the worst is bounded in all ways; up to so many variables by
#: elimination.
SMALL, MOST_ELIMINATED = 300, 60
#: Operations beyond which messages along a junction tree are not sent.
MOST_WORK = 2e9
#: Operations for one variable of a tree, by its states, and for all other ways to bound one secret of a small network.
OF_TWO_STATES, OF_ROWS, OF_PROGRAMS, REFINED = 6e3, 6e4, 3e4, 1e7


@dataclass(frozen=True, eq=False)
class NetworkLoss:
    """The loss of an entry's values (k, k), its way, and failures."""

    loss: FloatArray
    way: str
    note: str = ""


def network_losses(network: BayesianNetwork, profile: Profile, entry: int) -> NetworkLoss:
    """Return a bound on each ordered pair's loss.

    Pairs with an impossible value have no meaning. Profiles and entries count nodes as `network.names` does. Source:
    Theorems 5 and 6 of docs/theory/influence.md.

    >>> net = BayesianNetwork([("x", [0, 1], [], [0.8, 0.2]), ("y", [0, 1], ["x"], [[0.9, 0.1], [0.4, 0.6]])])
    >>> result = network_losses(net, Profile.of([[0, 1.0], [1.0, 0]], 2), 0)
    >>> round(float(result.loss[1, 0]), 6), result.way
    (1.549948, 'tree')
    """
    if is_forest(network):
        best, way = every_loss(network, profile)[entry], "tree"
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
        if loss.max() < best.max() or way == "group":
            way = name
        best = np.minimum(best, loss)
        if name == "one block":
            break  # nothing that holds for all mechanisms with this profile is smaller
    note = TOO_WIDE if way == "group" else ""
    return NetworkLoss(best, way, note)


def group_loss(network: BayesianNetwork, profile: Profile, entry: int) -> FloatArray:
    """Return c of an entry plus the others' largest, by pair."""
    largest = profile.largest_of_all
    moving = largest > 0

    def beyond() -> list[int]:
        active = {*np.flatnonzero(moving).tolist(), entry}
        return [t for t in reached(moral_graph(network, active), entry) if t != entry]

    largest_of_others = math.fsum(largest[cached(network, ("reached", entry, moving.tobytes()), beyond)].tolist())
    table = profile.at(entry)
    if largest_of_others:
        largest_of_others = float(up(largest_of_others))
    return with_others(table, largest_of_others)


Attempt = Callable[[], FloatArray]


def _ways(network: BayesianNetwork, profile: Profile, entry: int) -> Iterator[tuple[str, Attempt]]:
    """Yield all other bounds by name, Unsupported for too large tables."""
    tables = {t: profile.at(t) for t in range(network.size)}
    sizes = {v: len(network.alphabet(v)) for v in tables}
    active = {t for t, table in tables.items() if table.any()} | {entry}

    def bags(plan: Sequence[Bag]) -> Attempt:
        return lambda: loss_by_bags(network, tables, entry, plan)

    def one_by_one(order: Sequence[int]) -> Attempt:
        return lambda: loss_by_elimination(network, tables, entry, order)

    near = moral_graph(network, active)
    everything = whole({v: set(boundary(near, v, active)) for v in active}, entry)  # what nothing reads is summed out
    joint_values = 1
    for bag in everything:
        joint_values *= math.prod(take(sizes, bag.variables))
    if joint_values <= MOST_IN_ONE:
        yield "one block", bags(everything)
    graph = moral_graph(network, tables)  # of all: then no way depends on what is read, and a loss never falls
    yield "blocks", bags(layered(graph, entry))
    for order in orders(graph, entry, sizes):
        yield "bags", bags(eliminated(graph, entry, order, sizes, JOINED))
        yield "elimination", one_by_one(order)


def network_loss(network: BayesianNetwork, profile: Profile, family: Family) -> Loss:
    """Return the largest loss of a family, its entry and values.

    All entries are bounded by two passes over one tree. Then the one that loses most is bounded in other ways, again
    and again, until it is one that has been: the result is as if all had been.
    """
    every = every_loss(network, profile)

    def refined(entry: int) -> FloatArray:
        return np.minimum(every[entry], _refined(network, profile, entry))

    worst = largest_of_family(network, family, every.__getitem__, refined)
    is_sum = worst.epsilon and worst.epsilon >= group_loss(network, profile, worst.entry)[worst.left, worst.right]
    return replace(worst, note=TOO_WIDE) if is_sum and network.size > 2 else worst


def every_loss(network: BayesianNetwork, profile: Profile) -> list[FloatArray]:
    """Bound all entries' pairwise losses by messages along one tree."""

    def losses() -> list[FloatArray]:
        tables = take(profile.tables, profile.table_numbers.tolist())
        if is_forest(network):
            return losses_on_tree(network, tables)
        if network.size <= MOST_VARIABLES and junction_work(network) <= MOST_WORK:
            return junction_losses(network, tables)
        return sums_of_all(tables)

    # The profile is kept with its losses, so that its id stays its own.
    return cached(network, ("influence on a tree", id(profile)), lambda: (profile, losses()))[1]


def sums_of_all(tables: Sequence[FloatArray]) -> list[FloatArray]:
    """Return each c plus all others' largest c, rounded up.

    >>> profiles = [np.array([[0, 1.0], [1.0, 0]]), np.array([[0, 0.5], [0.5, 0]])]
    >>> [round(float(loss.max()), 9) for loss in sums_of_all(profiles)]
    [1.5, 1.5]
    """
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
    if is_forest(network) and states == 2:
        return network.size * OF_TWO_STATES
    if is_forest(network) and states <= 6:
        return network.size * OF_ROWS
    if is_forest(network):
        return network.size * OF_PROGRAMS * states**2
    work: float = network.size
    if network.size <= MOST_VARIABLES:
        predicted = junction_work(network)
        if predicted <= MOST_WORK:
            work = predicted
    refined = 0.0
    if network.size <= MOST_ELIMINATED:
        refined = network.size * REFINED if _is_small(network) else network.size**2 * OF_ROWS
    return work + refined


def _is_small(network: BayesianNetwork) -> bool:
    return joint_size(network, range(network.size)) <= SMALL


def _refined(network: BayesianNetwork, profile: Profile, entry: int) -> FloatArray:
    """Return one entry's losses refined by other ways."""
    if _is_small(network):
        return network_losses(network, profile, entry).loss
    best = np.full_like(profile.at(entry), np.inf)
    if network.size <= MOST_ELIMINATED and not is_forest(network):
        tables = {t: profile.at(t) for t in range(network.size)}
        for order in by_place(moral_graph(network, range(network.size)), entry):
            try:
                best = np.minimum(best, loss_by_elimination(network, tables, entry, order))
            except Unsupported:
                continue
    return best


def largest_of_family(
    belief: Belief, family: Family, losses: Callable[[int], FloatArray],
    refined: Callable[[int], FloatArray] | None = None,
) -> Loss:  # fmt: skip
    """Return the largest loss of a family, its entry and values.

    The worst entry is `refined` until it stays worst.
    """
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
