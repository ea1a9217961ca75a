"""Finite Bayesian networks over named variables: joint laws by elimination, near sets by d-separation."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, pairwise, product, starmap
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from takifugu.core.arrays import BoolArray, FloatArray
from takifugu.core.assumptions import Assumption, world
from takifugu.core.entries import relisted
from takifugu.core.errors import InputError
from takifugu.core.plain import ByValue, Json, Plain, set_fields
from takifugu.core.rules import check_any, check_known, list_of, too_large
from takifugu.model.beliefs.networks import elimination
from takifugu.model.beliefs.networks.elimination import Factor, Plan, eliminate, plan, support
from takifugu.model.beliefs.networks.nodes import Node, check_node, component_names, node_of, ordered
from takifugu.model.beliefs.states import State


@dataclass(frozen=True, eq=False)
class BayesianNetwork(ByValue):
    """Model named entries by a Bayesian network (Song17 §4): states, parents and conditional tables.

    Entries are numbered as given (`listed`); `names` has parents before children, component by component.

    Args:
        nodes: (name, states, parents, table) for each, in any order. `table` has an axis for each parent, in that
            order, and a last axis for the node's own states.
        source: Where the tables come from, in words; certificates print it.

    Raises:
        InputError: For a cycle, an unknown or repeated name, a table of the wrong shape, and a row that misses the sum
            1 by more than 1e-6.

    Examples:
        >>> net = BayesianNetwork([("rain", ["no", "yes"], [], [0.8, 0.2]),
        ...                        ("wet", ["no", "yes"], ["rain"], [[0.9, 0.1], [0.2, 0.8]])])
        >>> net.names
        ('rain', 'wet')
        >>> [round(float(p), 3) for p in net.joint(["wet"])]
        [0.76, 0.24]
    """

    nodes: tuple[Node, ...]
    source: str = "assumed"
    listed: tuple[Hashable, ...] = field(default=(), repr=False)
    _parts: dict[int, BayesianNetwork] = field(default_factory=dict, repr=False)

    answers: ClassVar = {
        "the distribution of the answer": "analysis.answer_laws.network:NetworkLaw",
        "the mean of an answer": "analysis.expectations.means:OfMarginals",
        "what is known of quilts": "influence.quilts.network.search:NETWORK",
        "the list of joint states": "audit.states:NetworkStates",
        "the distribution of a cell": "analysis.cell_laws.characteristic:of_network",
        "the moments of a count": "analysis.expectations.moments_of_rows:of_any_law",
        "the distribution of an entry": "analysis.answer_laws.network:NetworkMarginal",
        "data drawn from a belief": "analysis.questions.made_up_data:of_network",
        "what a profile costs its secrets": "influence.networks.networks:NETWORK",
    }

    def __repr__(self) -> str:
        return f"<BayesianNetwork: {len(self.nodes):,} variables>"

    def __init__(
        self, nodes: Iterable[Node | tuple[str, Sequence[State], Sequence[str], npt.ArrayLike]], source: str = "assumed"
    ) -> None:
        all_nodes = []
        fix = "give (name, states, parents, table)"
        for node in list_of(nodes, "the nodes", "nodes", "[('rain', ['no', 'yes'], [], [0.8, 0.2])]"):
            if not isinstance(node, Node):
                if isinstance(node, str) or not isinstance(node, Sequence) or len(node) != 4:
                    raise InputError(f"a node is {node!r}", fix=fix).at("nodes")
                node = node_of(*node)
            all_nodes.append(node)
        check_any(all_nodes, "the network has no nodes", "nodes", fix=fix)
        by_name = {n.name: n for n in all_nodes}
        if len(by_name) != len(all_nodes):
            raise InputError("the network names a node twice", rule="every node needs its own name").at("nodes")
        for node in all_nodes:
            check_node(node, by_name)
        in_order = tuple(by_name[name] for name in ordered(by_name))
        set_fields(self, nodes=in_order, source=source, listed=tuple(by_name), _parts={})

    @property
    def size(self) -> int:
        return len(self.nodes)

    @cached_property
    def names(self) -> tuple[Hashable, ...]:
        return tuple(node.name for node in self.nodes)

    @cached_property
    def one_alphabet(self) -> bool:
        return len({node.states for node in self.nodes}) == 1

    def alphabet(self, entry: int) -> tuple[State, ...]:
        return self.nodes[entry].states

    @cached_property
    def _positions(self) -> dict[Hashable, int]:
        return {name: place for place, name in enumerate(self.names)}

    def position(self, name: Hashable) -> int:
        check_known([name], self._positions, "the network has no node")
        return self._positions[name]

    @cached_property
    def parents(self) -> tuple[tuple[int, ...], ...]:
        """Return the entries of each entry's parents."""
        parents = []
        for node in self.nodes:
            parents.append(tuple(self._positions[parent] for parent in node.parents))
        return tuple(parents)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Return the entries of each entry's children."""
        children: list[list[int]] = [[] for _ in self.nodes]
        for child, above in enumerate(self.parents):
            for parent in above:
                children[parent].append(child)
        return tuple(map(tuple, children))

    @cached_property
    def moral_neighbours(self) -> tuple[frozenset[int], ...]:
        """Return each entry's parents, children, and the children's other parents."""
        near: list[set[int]] = [set() for _ in self.nodes]
        for child, above in enumerate(self.parents):
            family = {child, *above}
            for v in family:
                near[v] |= family - {v}
        return tuple(map(frozenset, near))

    def possible(self, entry: int) -> tuple[bool, ...]:
        return self._possible[entry]

    @cached_property
    def _possible(self) -> tuple[tuple[bool, ...], ...]:
        supports: list[tuple[bool, ...]] = []
        everything: list[bool] = []  # whether all is possible at a node and above it
        for i, above in enumerate(self.parents):
            table = self.nodes[i].table
            everything.append(bool((table > 0).all()) and all(everything[place] for place in above))
            if everything[i]:
                supports.append((True,) * table.shape[-1])
            elif len(above) > 1:
                supports.append(tuple(map(bool, self.support([i]))))
            else:
                rows = table[list(supports[above[0]])] if above else table[None]
                supports.append(tuple(map(bool, np.any(rows > 0, axis=0))))
        return tuple(supports)

    def joint(self, names: Sequence[Hashable]) -> FloatArray:
        """Return the joint distribution of some nodes, by variable elimination.

        Args:
            names: Names of the nodes.

        Returns:
            P(X_names), one axis for each name.

        Raises:
            InputError: For an unknown name.
            Unsupported: Where a table would be too large; the size is predicted first.

        Examples:
            >>> coin = BayesianNetwork([("coin", ["heads", "tails"], [], [0.5, 0.5])])
            >>> coin.joint(["coin"]).tolist()
            [0.5, 0.5]
        """
        return self.law(list(map(self.position, names)))[0]

    def law(self, entries: Sequence[int]) -> tuple[FloatArray, float]:
        """Return the joint distribution of some entries.

        Args:
            entries: Their numbers.

        Returns:
            The distribution, one axis for each entry, and a bound on the relative error of its cells.
        """
        factors, sizes = self._ancestral(entries)
        return eliminate(factors, sizes, entries)

    def support(self, entries: Sequence[int]) -> BoolArray:
        """Return the possible cells of the joint distribution of some entries, exactly.

        Args:
            entries: Their numbers.

        Returns:
            One truth value for each cell.

        Raises:
            Unsupported: Where zeros require a table that would be too large.
        """
        factors, sizes = self._ancestral(entries)
        if all((f.table > 0).all() for f in factors):
            return np.ones([sizes[entry] for entry in entries], dtype=np.bool_)
        largest = plan([f.scope for f in factors], sizes, entries).largest
        if largest > elimination.LARGEST_TABLE:
            what = f"a table of the possible values of {', '.join(repr(self.names[e]) for e in entries[:3])}"
            fix = "cut the network's largest families"
            raise too_large(what, largest, elimination.LARGEST_TABLE, "numbers", fix)
        return support(factors, sizes, entries)

    def law_plan(self, entries: Sequence[int]) -> Plan:
        """Return the predicted work of `law`.

        Args:
            entries: The entries' numbers.

        Returns:
            The plan.
        """
        factors, sizes = self._ancestral(entries)
        return plan([f.scope for f in factors], sizes, entries)

    def _ancestral(self, entries: Sequence[int]) -> tuple[list[Factor], dict[int, int]]:
        """Return the factors of entries and ancestors; the rest sums to one."""
        alive = self.ancestral(entries)
        return [self.factors[place] for place in alive], {i: len(self.nodes[i].states) for i in alive}

    def ancestral(self, entries: Iterable[int]) -> list[int]:
        """Return some entries and all their ancestors, in order.

        Args:
            entries: Their numbers.

        Returns:
            Numbers in ascending order.
        """
        alive = set(entries)
        stack = list(alive)
        while stack:
            for parent in self.parents[stack.pop()]:
                if parent not in alive:
                    alive.add(parent)
                    stack.append(parent)
        return sorted(alive)

    @cached_property
    def factors(self) -> tuple[Factor, ...]:
        """Return the conditional tables as factors over (*parents, entry)."""
        return tuple(Factor((*self.parents[i], i), node.table) for i, node in enumerate(self.nodes))

    def near_set(self, entry: int, quilt: Iterable[int]) -> frozenset[int]:
        """Return the entries d-connected to an entry given a quilt (Song17 Definition 4.2).

        All others are independent of the entry given the quilt, as a set: d-separation is closed under unions.

        Args:
            entry: The entry's number.
            quilt: Numbers of the quilt's entries.

        Returns:
            The numbers, `entry` among them.
        """
        evidence = frozenset(quilt)
        above_given = frozenset(self.ancestral(evidence))
        near: set[int] = set()
        visited: set[tuple[int, bool]] = set()
        visits = [(entry, True)]  # (node, arrived from a child)
        while visits:
            visit = visits.pop()
            if visit in visited:
                continue
            visited.add(visit)
            node, from_child = visit
            if node not in evidence:
                near.add(node)
                visits += product(self.children[node], [False])
            if (from_child and node not in evidence) or (not from_child and node in above_given):
                visits += product(self.parents[node], [True])
        return frozenset(near)

    @cached_property
    def _runs(self) -> tuple[range, ...]:
        groups = component_names({node.name: node for node in self.nodes})
        return tuple(starmap(range, pairwise(accumulate(map(len, groups), initial=0))))

    def components(self) -> tuple[range, ...]:
        return self._runs

    def component(self, number: int) -> BayesianNetwork:
        if len(self._runs) == 1:
            return self
        if number not in self._parts:
            run = self._runs[number]
            self._parts[number] = BayesianNetwork(self.nodes[run.start : run.stop], self.source)
        return self._parts[number]

    def assumptions(self) -> tuple[Assumption, ...]:
        return (world("The record follows the stated Bayesian network."),)

    def to_dict(self) -> Json:
        nodes = [
            {"name": n.name, "states": list(n.states), "parents": list(n.parents), "table": n.table.tolist()}
            for n in self.nodes
        ]
        data = {"kind": "bayesian-network", "nodes": nodes, "source": self.source}
        if self.listed == self.names:
            return data
        return {**data, "listed": list(self.listed)}

    @staticmethod
    def from_dict(data: Plain) -> BayesianNetwork:
        """Read a network back from its `to_dict` form.

        Args:
            data: Plain data.

        Returns:
            The network.
        """
        nodes = [(n["name"], n["states"], n["parents"], n["table"]) for n in data["nodes"]]
        network = BayesianNetwork(nodes, data.get("source", "assumed"))
        return relisted(network, data["listed"]) if "listed" in data else network

    def describe(self) -> str:
        arcs = sum(len(n.parents) for n in self.nodes)
        return f"a Bayesian network of {self.size} nodes and {arcs} arcs ({self.source})"
