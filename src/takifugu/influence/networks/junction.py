"""The losses of all entries of a network at once: one junction tree, a message along each edge both ways.

A message that comes in about variables of the separator S and of the rest V is split into one change after the other.
Impossible values of S take the row of possible ones. A message is never above the sum of all largest c beyond it, which
is what one that would need too large tables counts. The tree depends on the network only, so that the losses rise with
the profile. Source: docs/theory/influence.md#influence-7.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np

from takifugu.core.arrays import FloatArray
from takifugu.core.cache import cached, memoised
from takifugu.influence.networks.conditionals import LARGEST_TABLE, MOST_PROGRAMS, Clique, Rows, conditional
from takifugu.influence.profiles.certified import Programs
from takifugu.influence.profiles.suprema import suprema
from takifugu.model.beliefs.networks.elimination import elimination_order
from takifugu.model.beliefs.networks.network import BayesianNetwork
from takifugu.numbers.outward_rounding import closed, sum_up

#: Values of a separator, different rows, and states of what is taken out, beyond which the sum of all is charged.
MOST_CONTEXTS, MOST_ROWS, MOST_STATES = 256, 100, 500
#: Operations that one message takes, and each number that its programs handle.
MESSAGE, EACH = 2e5, 50.0
#: Neighbouring cliques are joined up to this many states; up to MOST_WHOLE messages to a secret are not split.
JOINED, MOST_WHOLE = 256, 512


@dataclass(frozen=True, eq=False)
class Message:
    """psi(s, s') of the values of some variables, shape (s, s'), the last variable changing fastest."""

    variables: tuple[int, ...]
    sizes: tuple[int, ...]
    loss: FloatArray | None  # None where it would be too large: psi is `most` for any change
    most: float = 0.0  # the sum of all largest c beyond it

    def split(self, aside: Collection[int]) -> tuple[Message, Message]:
        """Return alpha, about the variables aside, and beta, about all others."""
        first = [place for place, v in enumerate(self.variables) if v in aside]
        second = [place for place, v in enumerate(self.variables) if v not in aside]
        if self.loss is None:
            return self._about(first, None), self._about(second, None)
        n = len(self.sizes)
        order = [*first, *second, *(n + place for place in (*first, *second))]
        rows = math.prod(self.sizes[place] for place in first)
        columns = math.prod(self.sizes[place] for place in second)
        table = self.loss.reshape(self.sizes * 2).transpose(order).reshape(rows, columns, rows, columns)
        return (
            self._about(first, np.einsum("xyzy->xzy", table).max(axis=2)),
            self._about(second, np.einsum("xyxz->yzx", table).max(axis=2)),
        )

    def _about(self, places: Sequence[int], loss: FloatArray | None) -> Message:
        variables = tuple(self.variables[place] for place in places)
        return Message(variables, tuple(self.sizes[place] for place in places), loss, self.most)

    def among(self, variables: Sequence[int], sizes: Sequence[int]) -> FloatArray:
        """Return psi between all values of more variables."""
        numbers = np.indices(sizes).reshape(len(sizes), -1)
        columns = list(map(list(variables).index, self.variables))
        if columns:
            index = np.ravel_multi_index(tuple(numbers[columns]), self.sizes)
        else:
            index = 0 * numbers[0]
        if self.loss is None:
            return np.where(index[:, None] != index, self.most, 0.0)
        return np.asarray(self.loss[np.ix_(index, index)])


@dataclass(eq=False)
class JunctionTree:
    """Cliques over each family of a network, joined by common variables."""

    cliques: tuple[Clique, ...]
    edges: tuple[tuple[int, int], ...]
    _rows: dict[tuple[int, tuple[int, ...]], Rows | None] = field(default_factory=dict)

    @cached_property
    def near(self) -> tuple[tuple[int, ...], ...]:
        """Return the cliques next to each clique."""
        neighbours: list[list[int]] = [[] for _ in self.cliques]
        for a, b in self.edges:
            neighbours[a].append(b)
            neighbours[b].append(a)
        return tuple(map(tuple, neighbours))

    @cached_property
    def is_wide(self) -> bool:
        """Return whether some message would need too large tables."""
        for clique, target in self.order():
            contexts = math.prod(len(self.cliques[clique].network.alphabet(v)) for v in self.separator(clique, target))
            if contexts > MOST_CONTEXTS or math.prod(self.cliques[clique].sizes) > contexts * MOST_STATES:
                return True
        return any(math.prod(clique.sizes) > LARGEST_TABLE for clique in self.cliques)

    @cached_property
    def home(self) -> dict[int, int]:
        """Return the largest clique of each variable."""
        home: dict[int, int] = {}
        for number in sorted(range(len(self.cliques)), key=lambda n: -math.prod(self.cliques[n].sizes)):
            for v in self.cliques[number].variables:
                home.setdefault(v, number)
        return home

    def separator(self, a: int, b: int) -> tuple[int, ...]:
        """Return the variables two cliques share."""
        shared = set(self.cliques[b].variables)
        return tuple(variable for variable in self.cliques[a].variables if variable in shared)

    def order(self) -> Iterator[tuple[int, int]]:
        """Yield all edges (from, to) after the messages they read."""
        outward: list[tuple[int, int]] = []
        visited: set[int] = set()
        for root in range(len(self.cliques)):
            waiting = [] if root in visited else [root]
            visited.add(root)
            for clique in waiting:
                for other in self.near[clique]:
                    if other not in visited:
                        visited.add(other)
                        waiting.append(other)
                        outward.append((clique, other))
        for above, below in reversed(outward):
            yield below, above
        yield from outward

    def rows(self, clique: int, condition: tuple[int, ...]) -> Rows | None:
        """Return P(other variables of a clique | given), if not too large."""
        key = clique, condition
        if key not in self._rows:
            self._rows[key] = conditional(self.cliques[clique], condition, MOST_CONTEXTS, MOST_ROWS, MOST_STATES)
        return self._rows[key]


@memoised
def junction_tree(network: BayesianNetwork) -> JunctionTree:
    """Return a junction tree with each clique's law."""
    sizes = {v: len(network.alphabet(v)) for v in range(network.size)}
    groups, above = _eliminated(network, sizes)
    for v in range(network.size):  # a clique inside the next one, or small with it, becomes one with it
        parent = above[v]
        if parent is None:
            continue
        joined = groups[v] | groups[parent]
        if joined in (groups[v], groups[parent]) or math.prod(sizes[place] for place in joined) <= JOINED:
            groups[parent] = joined
            for child, top in enumerate(above):
                if top == v:
                    above[child] = parent
            above[v] = None
            groups[v] = set()
    cliques, number = list[Clique](), dict[int, int]()
    for v in range(network.size):
        if groups[v]:
            number[v] = len(cliques)
            variables = tuple(sorted(groups[v]))
            cliques.append(Clique(network, variables, tuple(sizes[variable] for variable in variables)))
    edges = [(number[v], number[top]) for v in number if (top := above[v]) is not None]
    return JunctionTree(tuple(cliques), tuple(edges))


def _eliminated(network: BayesianNetwork, sizes: Mapping[int, int]) -> tuple[list[set[int]], list[int | None]]:
    """Return each variable's neighbours at its elimination, and the next of them."""
    near: list[set[int]] = list(map(set, network.moral_neighbours))
    order = elimination_order([factor.scope for factor in network.factors], sizes)
    place = {value: place for place, value in enumerate(order)}
    groups: list[set[int]] = [set() for _ in order]
    above: list[int | None] = [None] * len(order)
    for v in order:
        around = near[v]
        groups[v] = {v, *around}
        above[v] = min(around, key=place.__getitem__, default=None)
        for u in around:
            near[u] |= around - {u}
            near[u].discard(v)
    return groups, above


@dataclass(frozen=True, eq=False)
class Messages:
    """All messages of a junction tree for one profile."""

    tree: JunctionTree
    tables: Sequence[FloatArray]
    sent: dict[tuple[int, int], Message] = field(default_factory=dict)

    @staticmethod
    def of(tree: JunctionTree, tables: Sequence[FloatArray]) -> Messages:
        """Send a message along each edge, both ways; `tables` are c_t of all entries."""
        messages = Messages(tree, tables)
        for clique, target in tree.order():
            sources = [other for other in tree.near[clique] if other != target]
            messages.sent[clique, target] = messages.message(clique, tree.separator(clique, target), sources)
        return messages

    def message(
        self, clique: int, condition: tuple[int, ...], sources: Sequence[int], is_whole: bool = False
    ) -> Message:
        """Return a clique's message to some of its variables, by one cone (`is_whole`) or split into two changes."""
        below = [self.sent[source, clique] for source in sources]
        sizes = tuple(len(self.tables[v]) for v in condition)
        count, most = math.prod(sizes), self._sum_beyond(clique, condition, below)
        if count > MOST_CONTEXTS:
            return Message(condition, sizes, None, most)
        bound = np.full((count, count), most)
        np.fill_diagonal(bound, 0.0)
        rows = self.tree.rows(clique, condition) if most else None
        if rows is None:
            return Message(condition, sizes, bound, most)
        alone = [Message((v,), (len(self.tables[v]),), self.tables[v]) for v in rows.variables]
        conditioned = [[variable in condition for variable in part.variables] for part in below]
        straddles = any(any(part) and not all(part) for part in conditioned)
        is_small = count * len(rows.columns) <= MOST_WHOLE
        between = _whole if is_whole and straddles and is_small else _split
        loss = between(rows, condition, sizes, [*alone, *below])
        np.fill_diagonal(loss, 0.0)
        return Message(condition, sizes, closed(np.minimum(loss, bound)), most)

    def _sum_beyond(self, clique: int, condition: tuple[int, ...], below: Sequence[Message]) -> float:
        """Return the sum of the largest c of all others of a clique, and of what lies beyond the messages to it."""
        most = 0.0
        for v in [variable for variable in self.tree.cliques[clique].variables if variable not in condition]:
            most = float(sum_up(most, float(self.tables[v].max(initial=0.0))))
        for message in below:
            most = float(sum_up(most, message.most))
        return most

    def loss(self, entry: int, is_whole: bool = False) -> FloatArray:
        """Return the loss of each pair of an entry's values, by the largest clique that holds it."""
        # Pairs with an impossible value have no meaning.
        clique = self.tree.home[entry]
        message = self.message(clique, (entry,), self.tree.near[clique], is_whole)
        assert message.loss is not None  # of one variable
        return np.asarray(sum_up(self.tables[entry], message.loss))


def block_losses(
    network: BayesianNetwork, tables: Sequence[FloatArray], entry: int, others: Sequence[int]
) -> FloatArray:  # fmt: skip
    """Return the loss of each pair of an entry's values with all others that count in one bag: the supremum."""
    variables = (entry, *others)
    sizes = tuple(len(tables[v]) for v in variables)
    tree = cached(
        network, ("one bag", variables), lambda: JunctionTree((Clique(network, variables, sizes),), ())
    )
    return Messages(tree, tables).loss(entry)


def junction_work(network: BayesianNetwork) -> float:
    """Predict the operations of `junction_losses`, from the sizes of tables alone."""
    tree = junction_tree(network)
    work = 0.0
    for clique, target in tree.order():
        work += _work(tree.cliques[clique], tree.separator(clique, target))
    for entry, clique in tree.home.items():
        work += _work(tree.cliques[clique], (entry,))
    return work


def _work(clique: Clique, condition: tuple[int, ...]) -> float:
    contexts = math.prod(clique.sizes[clique.variables.index(v)] for v in condition)
    states = math.prod(clique.sizes) // contexts
    if contexts > MOST_CONTEXTS or states > MOST_STATES:
        return MESSAGE
    rows = min(contexts, MOST_ROWS)
    if states > 6 and rows**2 * states**2 <= MOST_PROGRAMS:
        programs = rows**2 * states**2
    else:
        programs = rows**2 * states
    return MESSAGE + EACH * (programs + contexts**3 / 100)


def _split(rows: Rows, condition: tuple[int, ...], sizes: tuple[int, ...], parts: Sequence[Message]) -> FloatArray:
    """Return the loss between all values of a separator, each part as one change of it after one of the others."""
    count = math.prod(sizes)
    loss, moves = np.zeros((count, count)), np.zeros((math.prod(rows.sizes),) * 2)
    for part in parts:
        aside, shared = part.split(condition)
        loss = sum_up(loss, aside.among(condition, sizes))
        moves = sum_up(moves, shared.among(rows.variables, rows.sizes))
    between = suprema(rows.table, moves[np.ix_(rows.columns, rows.columns)], rows.error, rows.programs)
    return sum_up(loss, between[np.ix_(rows.row_of, rows.row_of)])


def _whole(rows: Rows, condition: tuple[int, ...], sizes: tuple[int, ...], parts: Sequence[Message]) -> FloatArray:
    """Return the loss between all values of a separator, each pair by one cone over both of them with all others."""
    count, states = math.prod(sizes), math.prod(rows.sizes)
    loss, moves = np.zeros((count, count)), np.zeros((count * states,) * 2)
    for part in parts:
        moves = sum_up(moves, part.among((*condition, *rows.variables), (*sizes, *rows.sizes)))
    for a, b in combinations(range(count), 2):
        p, q = rows.table[rows.row_of[a]], rows.table[rows.row_of[b]]
        first, second = np.flatnonzero(p), np.flatnonzero(q)
        places = np.concatenate([a * states + rows.columns[first], b * states + rows.columns[second]])
        pair = np.zeros((2, len(places)))
        pair[0, : len(first)], pair[1, len(first) :] = p[first], q[second]
        programs = rows.of_pairs.setdefault((a, b), Programs())
        between = suprema(pair, moves[np.ix_(places, places)], rows.error, programs)
        loss[a, b], loss[b, a] = between[0, 1], between[1, 0]
    return loss
