"""The nodes of a network: one variable each, checked against its family, and the order that they are kept in."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

from takifugu.core.arrays import FloatArray
from takifugu.core.errors import InputError, Unsupported
from takifugu.core.plain import short_repr
from takifugu.core.rules import check_known, check_printable, list_of, no_law, too_large
from takifugu.model.beliefs.states import State, checked_alphabet
from takifugu.model.beliefs.stochastic import floats_of, normalised
from takifugu.model.beliefs.table import JointTable

#: Rows of a conditional table that miss a sum of one by no more than this are rounded decimals, and renormalised.
ROW_TOLERANCE = 1e-6
#: A table of parameters is read as a network while its last conditional table holds at most this many numbers.
LARGEST_TABLE = 200_000


@dataclass(frozen=True, eq=False)
class Node:
    """One variable: P(own value | parents' values) = table[parents' value indices..., own value index]."""

    __repr__ = short_repr

    name: str
    states: tuple[State, ...]
    parents: tuple[str, ...]
    table: FloatArray


def node_of(name: str, states: Sequence[State], parents: Sequence[str], table: object) -> Node:
    otherwise = f"the table of node {name!r} is not a full table of numbers"
    numbers = floats_of(table, otherwise, "give a row for each parent state", "nodes", str(name))
    check_printable((str(name),), "the network has the node")
    above = list_of(parents, f"the parents of node {name!r}", "nodes", "['rain', 'wind']")
    return Node(str(name), checked_alphabet(states, f"node {name!r}"), tuple(map(str, above)), numbers)


def _wrong(name: str, rule: str) -> InputError:
    return InputError(f"node {name!r}", rule=rule).at("nodes", str(name))


def check_node(node: Node, by_name: Mapping[str, Node]) -> None:
    """Check a node's table against its family, and renormalise its rows."""
    if not checked_alphabet(node.states, f"node {node.name!r}"):
        raise _wrong(node.name, "its states must be different names, at least one")
    check_known(node.parents, by_name, f"node {node.name!r} has the unknown parent", "nodes", node.name)
    if len(set(node.parents)) != len(node.parents) or node.name in node.parents:
        raise _wrong(node.name, "its parents must be different nodes, not itself")
    shape = (*(len(by_name[p].states) for p in node.parents), len(node.states))
    if node.table.shape != shape:
        raise _wrong(node.name, f"its table has shape {node.table.shape}, and its family needs {shape}")
    if not np.isfinite(node.table).all() or (node.table < 0).any():
        raise InputError(
            f"node {node.name!r}: a probability is negative, NaN or infinite", rule="each must lie in [0, 1]"
        ).at("nodes", node.name)
    sums = node.table.sum(axis=-1, keepdims=True)
    misses = np.abs(sums - 1)
    if misses.max() > ROW_TOLERANCE:
        raise no_law(f"a row of the table of node {node.name!r}", sums.flat[misses.argmax()]).at("nodes", node.name)
    node.table.setflags(write=True)
    node.table[...] = normalised(node.table)
    node.table.setflags(write=False)


def ordered(by_name: Mapping[str, Node]) -> list[str]:
    """Return the names component by component, parents before children."""
    order: list[str] = []
    placed: set[str] = set()
    for group in component_names(by_name):
        waiting = list(group)
        while waiting:
            ready = [n for n in waiting if placed.issuperset(by_name[n].parents)]
            if not ready:
                raise InputError(
                    f"the network has a cycle through {sorted(waiting)[:5]}", rule="arcs must not lead back"
                ).at("nodes")
            order += ready
            placed.update(ready)
            waiting = [value for value in waiting if value not in placed]
    return order


def component_names(by_name: Mapping[str, Node]) -> list[list[str]]:
    near: dict[str, set[str]] = {name: set() for name in by_name}
    for name, node in by_name.items():
        for parent in node.parents:
            near[name].add(parent)
            near[parent].add(name)
    groups: list[list[str]] = []
    visited: set[str] = set()
    for name in by_name:
        if name in visited:
            continue
        group, stack = {name}, [name]
        while stack:
            for other in near[stack.pop()] - group:
                group.add(other)
                stack.append(other)
        visited |= group
        groups.append([name for name in by_name if name in group])
    return groups


def nodes_of_table(table: JointTable) -> list[Node]:
    """Return the nodes of a table, each entry after all before."""
    sizes = list(map(len, map(table.alphabet, range(table.size))))
    count = math.prod(sizes)
    if count > LARGEST_TABLE:
        fix = "give the parameters as a BayesianNetwork"
        raise too_large("a table of the parameters", count, LARGEST_TABLE, "combinations of values", fix).at("prior")
    nodes, names = [], list(map(str, table.names))
    for entry in range(table.size):
        sums = dict[tuple[int, ...], Fraction]()
        for row, mass in zip(table.indices.tolist(), table.masses, strict=True):
            key = tuple(row[: entry + 1])
            sums[key] = sums.get(key, Fraction(0)) + Fraction(mass)
        # rows that never occur are uniform
        conditional = np.full(sizes[: entry + 1], 1 / sizes[entry])
        for above in product(*map(range, sizes[:entry])):
            masses = [sums.get((*above, value), Fraction(0)) for value in range(sizes[entry])]
            if total := sum(masses):
                conditional[above] = [float(mass / total) for mass in masses]
                if any(mass and mass / total < Fraction(1, 10**290) for mass in masses):
                    raise Unsupported("the table of parameters has probabilities below 1e-290").at("prior")
        nodes.append(Node(names[entry], table.alphabet(entry), tuple(names[:entry]), conditional))
    return nodes
