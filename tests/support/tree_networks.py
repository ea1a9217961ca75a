"""Networks of a given shape with exact probabilities, and the laws of a sum on trees by exact polynomials.

Nothing here imports takifugu: specs are lists of (name, states, parents' names, table in thousandths).
"""

import math
from fractions import Fraction

import numpy as np
from tests.support.network_oracles import Spec

Polynomial = dict[int, Fraction]


def tree(rng: np.random.Generator, size: int) -> list[list[int]]:
    """Return the parents of each node: one earlier node, none for the first."""
    return [[int(rng.integers(i))] if i else [] for i in range(size)]


def polytree(rng: np.random.Generator, size: int, most: int = 3) -> list[list[int]]:
    """Return the parents of each node of a tree whose arcs point both ways, at most `most` parents per node."""
    label = rng.permutation(size).tolist()
    parents: list[list[int]] = [[] for _ in range(size)]
    for i in range(1, size):
        one, other = sorted((label[i], label[int(rng.integers(i))]))
        if len(parents[other]) < most:
            parents[other].append(one)
    return parents


def spec_of(parents: list[list[int]], rng: np.random.Generator, zeros: bool = False, most_states: int = 3) -> Spec:
    """Return a network with these parents, two or more states per node, tables of thousandths, some of them 0 or 1."""
    sizes = [int(rng.integers(2, most_states + 1)) for _ in parents]
    nodes: Spec = []
    for i, above in enumerate(parents):
        shape = [sizes[p] for p in above]
        rows = np.array([_row(rng, sizes[i], zeros) for _ in range(math.prod(shape))]).reshape(*shape, sizes[i])
        nodes.append((f"n{i}", list(range(sizes[i])), [f"n{p}" for p in above], (rows / 1000).tolist()))
    return nodes


def _row(rng: np.random.Generator, size: int, zeros: bool) -> list[int]:
    if zeros and rng.random() < 0.3:
        return (1000 * (np.arange(size) == rng.integers(size))).tolist()
    cuts = [0, *sorted(rng.choice(np.arange(1, 1000), size=size - 1, replace=False).tolist()), 1000]
    return np.diff(cuts).tolist()


def exact(number: float) -> Fraction:
    return Fraction(round(number * 1000), 1000)


def laws_on_a_tree(spec: Spec, parents: list[list[int]], added: list[list[int]], entry: int) -> list[Polynomial]:
    """Return, for each state of an entry, P(X_entry = s, sum = j), by walking the tree from that entry; exact."""
    children: list[list[int]] = [[] for _ in parents]
    for child, above in enumerate(parents):
        for parent in above:
            children[parent].append(child)

    def table(child: int, above: int, value: int) -> Fraction:
        return exact(spec[child][3][above][value])

    def seen_from(node: int, origin: int, states: int) -> list[Polynomial]:
        """The law of what lies beyond `node`, seen from its neighbour `origin`, for each of the neighbour's states."""
        behind = whole(node, origin)
        if parents[node] == [origin]:
            return [_mixed(behind, [table(node, s, x) for x in range(len(behind))]) for s in range(states)]
        return [_mixed(behind, [table(origin, x, s) for x in range(len(behind))]) for s in range(states)]

    def whole(node: int, origin: int) -> list[Polynomial]:
        """The law of the share of a node and all beyond it, for each state: with its prior where it is a root."""
        states = len(spec[node][1])
        laws = [{added[node][s]: Fraction(1) if parents[node] else exact(spec[node][3][s])} for s in range(states)]
        for other in [*parents[node], *children[node]]:
            if other != origin:
                laws = [_times(a, b) for a, b in zip(laws, seen_from(other, node, states), strict=True)]
        return laws

    return whole(entry, -1)


def _mixed(laws: list[Polynomial], weights: list[Fraction]) -> Polynomial:
    result: Polynomial = {}
    for law, weight in zip(laws, weights, strict=True):
        for place, mass in law.items():
            result[place] = result.get(place, Fraction(0)) + weight * mass
    return {place: mass for place, mass in result.items() if mass}


def _times(one: Polynomial, other: Polynomial) -> Polynomial:
    result: Polynomial = {}
    for i, a in one.items():
        for j, b in other.items():
            result[i + j] = result.get(i + j, Fraction(0)) + a * b
    return result
