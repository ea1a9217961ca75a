"""Markov quilts of a Bayesian network (Song17 Algorithm 2): which are tried for an entry, and how many there are.

A quilt Q of X_i leaves N = what is d-connected to X_i given Q, and everything else is independent of X_i given X_Q
(Song17 Definition 4.2). Noise of scale b then hides X_i up to e(Q) + D(N)/b (Song17 Theorem 4.3). Any family of quilts
is sound; the trivial quilt is always in it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from takifugu.analysis.bounds import Witness
from takifugu.analysis.problem import Part
from takifugu.model.beliefs.networks.network import BayesianNetwork
from takifugu.model.secrets.hypotheses import compared

#: Networks of at most this many nodes are searched over all subsets of nodes.
ALL_SUBSETS = 10
#: Quilts tried in all, shared among the secret entries, in larger networks.
MOST_QUILTS = 300_000
#: Quilts of larger networks are chosen among this many of the nearest nodes, and hold at most SEPARATOR_SIZE of them.
NEAREST, SEPARATOR_SIZE = 60, 3
#: Beyond the nearest nodes, the search for quilts of all nodes at one distance ends at a layer wider than this.
WIDEST_LAYER = 1_000
#: In networks up to this size times secrets the layers are counted; beyond, those of one entry stand for all.
COUNTED = 200_000


@dataclass(frozen=True)
class Candidate:
    """An entry and pair, the best quilt's nodes (None: trivial), its scale or cost, influence and D(N)."""

    value: Fraction | float
    entry: int
    pair: tuple[int, int]
    nodes: tuple[int, ...] | None
    steps: int
    influence: float = 0.0


def layers(network: BayesianNetwork, entry: int) -> Iterator[tuple[int, ...]]:
    """Yield the nodes at distance 1, 2, ... in the moral graph."""
    visited, count = {entry}, 0
    layer: tuple[int, ...] = (entry,)
    while layer := tuple(sorted(set().union(*[network.moral_neighbours[place] for place in layer]) - visited)):
        if count >= NEAREST and len(layer) > WIDEST_LAYER:
            return
        visited.update(layer)
        count += len(layer)
        yield layer


def choices(network: BayesianNetwork, count: int, most: int) -> list[tuple[int, int]]:
    """Return (size, count): all sets of `size` nodes among the `count` nearest ones are quilts to list."""
    # Every part of such a quilt is such a quilt too, or nothing.
    if network.size <= ALL_SUBSETS:
        return [(size, count) for size in range(1, count + 1)]
    among, sizes = min(count, NEAREST), []
    for size in range(1, SEPARATOR_SIZE + 1):
        if math.comb(among, size) > most:
            among = size
            while math.comb(among + 1, size) <= most:
                among += 1
        sizes.append((size, among))
    return sizes


def count_quilts(part: Part) -> int:
    """Count the nontrivial quilts to try over all secret entries."""
    network, entries, most = network_of(part), part.family.entries, share(part)
    # In large networks the layers of one entry are counted for all.
    if len(entries) * network.size > COUNTED:
        return len(entries) * _count(network, entries[len(entries) // 2], most)
    return sum(_count(network, entry, most) for entry in entries)


def _count(network: BayesianNetwork, entry: int, most: int) -> int:
    widths = list(map(len, layers(network, entry)))
    count = sum(math.comb(among, size) for size, among in choices(network, sum(widths), most))
    return count + len(widths) if network.size > ALL_SUBSETS else count


def share(part: Part) -> int:
    """Return how many quilts of each size are tried for one entry."""
    return max(1, MOST_QUILTS // max(1, len(part.family.entries)))


def witness(part: Part, quilt: Candidate, numbers: tuple[tuple[str, float], ...], note: str = "") -> Witness:
    """Describe the comparison, the quilt and any note of the search."""
    network = network_of(part)
    nodes = quilt.nodes
    near = range(network.size) if nodes is None else network.near_set(quilt.entry, nodes)
    near_names = ", ".join(str(network.names[v]) for v in sorted(near)[:6])
    more = ", ..." if len(near) > 6 else ""
    names = ", ".join(str(network.names[v]) for v in nodes or ()) or "nothing"
    detail = f"the best quilt is {names}; the near set is {near_names}{more} ({len(near)} nodes)"
    if note:
        detail = f"{detail}; {note}"
    sides = compared(network, quilt.entry, quilt.pair, name=str(network.names[quilt.entry]))
    return Witness(sides.label, detail, numbers)


def network_of(part: Part) -> BayesianNetwork:
    """Return a part's belief, a network."""
    network: Any = part.belief
    return network  # type: ignore[no-any-return]
