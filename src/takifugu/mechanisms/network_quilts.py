"""Markov quilts of a Bayesian network (004 Algorithm 2): which are tried, and the two questions asked of them.

A quilt Q of X_i leaves N = what is d-connected to X_i given Q, and everything else is independent of X_i given X_Q
(004 Definition 4.2). Noise of scale b then hides X_i up to e(Q) + D(N)/b (004 Theorem 4.3). Any family of quilts is
sound; the trivial quilt is always in it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from takifugu.beliefs.network import BayesianNetwork
from takifugu.mechanisms.base import Part, Witness
from takifugu.mechanisms.log_ratios import NEVER
from takifugu.mechanisms.near_sets import float_above, joint_change
from takifugu.mechanisms.network_influence import influences
from takifugu.queries import IntArray

#: Networks of at most this many nodes are searched over all subsets of nodes.
ALL_SUBSETS = 10
#: Quilts tried in all, shared among the secret entries, in larger networks.
MOST_QUILTS = 300_000
#: Quilts of larger networks are chosen among this many of the nearest nodes, and hold at most SEPARATOR_SIZE of them.
NEAREST, SEPARATOR_SIZE = 60, 3
#: Beyond the nearest nodes, the search for quilts of all nodes at one distance ends at a layer wider than this.
WIDEST_LAYER = 1_000


@dataclass(frozen=True)
class NetworkQuilt:
    """A quilt of one entry: its nodes, the near set that it leaves, and that set's change in steps."""

    nodes: tuple[int, ...]
    near: frozenset[int]
    steps: int


@dataclass(frozen=True)
class Found:
    """The worst entry and pair, the quilt that does best for it, and its number (a scale or a cost)."""

    value: Fraction | float
    entry: int
    pair: tuple[int, int]
    quilt: NetworkQuilt
    influence: float


def quilts(network: BayesianNetwork, entry: int, steps: IntArray, most: int) -> Iterator[tuple[int, ...]]:
    """Yield the nodes of the quilts that are tried for one entry, at most about `most`, those near the entry first."""
    layers = _layers(network, entry)
    if network.size <= ALL_SUBSETS:
        ranked = [v for layer in layers for v in layer]
        for size in range(1, network.size):
            yield from itertools.combinations(ranked, size)
        return
    nearest: list[int] = []
    for layer in layers:
        if len(nearest) < NEAREST:
            nearest += layer
        elif len(layer) > WIDEST_LAYER:
            break
        yield layer
    nearest = nearest[:NEAREST]
    for size in range(1, SEPARATOR_SIZE + 1):
        if math.comb(len(nearest), size) > most:
            nearest = nearest[: max(_largest_choice(size, most), size)]
        yield from itertools.combinations(nearest, size)


def _largest_choice(size: int, most: int) -> int:
    count = size
    while math.comb(count + 1, size) <= most:
        count += 1
    return count


def _layers(network: BayesianNetwork, entry: int) -> Iterator[tuple[int, ...]]:
    """Yield the nodes at distance 1, 2, ... of an entry in the moral graph, in order."""
    seen: set[int] = {entry}
    layer: tuple[int, ...] = (entry,)
    while layer := tuple(sorted({w for v in layer for w in network.moral_neighbours[v]} - seen)):
        seen.update(layer)
        yield layer


def near_quilt(
    network: BayesianNetwork, entry: int, nodes: Sequence[int], steps: IntArray, below: float
) -> NetworkQuilt | None:
    """Return the quilt with its near set, or None where its change is not below the given number of steps."""
    near, moved = [], 0
    for v in network.reached(entry, nodes):
        near.append(v)
        moved += int(steps[v])
        if moved >= below:
            return None
    return NetworkQuilt(tuple(sorted(nodes)), frozenset(near), moved)


def needed_scale(part: Part, epsilon: Fraction) -> Found:
    """Return max over secret entries of min over quilts of D(N)/(epsilon - e(Q)), e(Q) over all the entry's pairs.

    D(N) = 0 with e(Q) <= epsilon needs no noise (ERRATA E14).
    """
    network, steps = _network(part), part.answer.entry_changes()
    worst: Found | None = None
    share = _share(part)
    for entry in part.family.entries:
        pairs = part.family.value_pairs(network, entry)
        if not pairs:
            continue
        best = _entry_scale(network, entry, pairs, steps, epsilon, share, worst.value if worst else Fraction(-1))
        if worst is None or best.value > worst.value:
            worst = best
    if worst is None:  # a part holds a possible pair (mechanisms.base.Problem), so this is not reached
        raise AssertionError("a part without secrets")
    return worst


def _entry_scale(
    network: BayesianNetwork,
    entry: int,
    pairs: tuple[tuple[int, int], ...],
    steps: IntArray,
    epsilon: Fraction,
    most: int,
    enough: Fraction | float,
) -> Found:
    """Return the entry's best quilt, or the first that needs no more than `enough`, what another entry needs."""
    everything = NetworkQuilt((), frozenset(range(network.size)), int(steps.sum()))
    best = Found(Fraction(everything.steps) / epsilon, entry, pairs[0], everything, 0.0)
    for nodes in quilts(network, entry, steps, most):
        if best.value <= max(enough, 0):
            break
        quilt = near_quilt(network, entry, nodes, steps, float(best.value * epsilon))
        if quilt is None:
            continue
        table = influences(network, entry, quilt.nodes)
        pair = max(pairs, key=lambda p: table[p])
        influence = max(float(table[pair]), 0.0)
        room = epsilon - Fraction(influence)
        if room < 0 or (room == 0 and quilt.steps):
            continue
        scale = Fraction(quilt.steps) / room if quilt.steps else Fraction(0)
        if scale < best.value:
            best = Found(scale, entry, pair, quilt, influence)
    return best


def network_joint_cost(part: Part, charges: Sequence[tuple[IntArray, Fraction]]) -> tuple[float, Witness]:
    """Return max over secret entries and ordered pairs of min over quilts of e(Q) + sum_k D_k(N)/b_k, rounded up."""
    network, change = _network(part), joint_change(charges)
    steps = np.diff(change.sums)
    blocked = np.zeros(network.size, dtype=bool)
    for changes, scale in charges:
        if scale == 0:
            blocked |= changes > 0
    everything = NetworkQuilt((), frozenset(range(network.size)), int(steps.sum()))
    trivial = math.inf if blocked.any() else everything.steps * change.unit
    worst = Found(Fraction(-1), 0, (0, 0), everything, 0.0)
    for entry in part.family.entries:
        pairs = part.family.value_pairs(network, entry)
        best = {pair: Found(trivial, entry, pair, everything, 0.0) for pair in pairs}
        for nodes in quilts(network, entry, steps, _share(part)):
            dearest = max((f.value for f in best.values()), default=worst.value)
            if dearest <= worst.value:
                break
            quilt = near_quilt(network, entry, nodes, steps, float(dearest / change.unit))
            if quilt is None or blocked[list(quilt.near)].any():
                continue
            table = influences(network, entry, quilt.nodes)
            for pair in pairs:
                influence = max(float(table[pair]), 0.0)
                if influence < NEVER / 2:
                    paid = Fraction(influence) + quilt.steps * change.unit
                    if paid < best[pair].value:
                        best[pair] = Found(paid, entry, pair, quilt, influence)
        worst = max([worst, *best.values()], key=lambda f: f.value)
    cost: float = math.inf if math.isinf(worst.value) else float_above(Fraction(worst.value))
    return cost, witness(part, worst, (("cost", cost),))


def witness(part: Part, found: Found, numbers: tuple[tuple[str, float], ...]) -> Witness:
    """Name the comparison and the quilt behind a number."""
    network = _network(part)
    name, states = network.names[found.entry], network.alphabet(found.entry)
    near = ", ".join(str(network.names[v]) for v in sorted(found.quilt.near)[:6])
    more = ", ..." if len(found.quilt.near) > 6 else ""
    nodes = ", ".join(str(network.names[v]) for v in found.quilt.nodes) or "nothing"
    detail = f"the best quilt is {nodes}; the near set is {near}{more} ({len(found.quilt.near)} nodes)"
    a, b = found.pair
    return Witness(f"{name} = {states[a]!r} against {name} = {states[b]!r}", detail, numbers)


def predicted_quilts(part: Part) -> float:
    """Return about how many quilts are tried for all secret entries of a part."""
    network = _network(part)
    if network.size <= ALL_SUBSETS:
        return float(len(part.family.entries)) * 2.0 ** (network.size - 1)
    nearest = min(NEAREST, network.size - 1)
    each = min(sum(math.comb(nearest, size) for size in range(1, SEPARATOR_SIZE + 1)), 3 * _share(part))
    return float(len(part.family.entries)) * (each + math.sqrt(network.size))


def _share(part: Part) -> int:
    return max(1, MOST_QUILTS // max(1, len(part.family.entries)))


def _network(part: Part) -> BayesianNetwork:
    if not isinstance(part.belief, BayesianNetwork):
        raise TypeError(f"a {type(part.belief).__name__} is no Bayesian network")
    return part.belief
