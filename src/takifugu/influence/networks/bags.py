"""The loss of a secret entry of a network, bag by bag along a tree, and the trees of bags around it.

A bag holds variables V and a separator S that shields them, and all bags hung below, from the rest. Bags are taken from
the leaves. For all data x, x' of what is left, h(x) = E[g | x] obeys

    log h(x) - log h(x') <= sum over t of c_t(x_t, x'_t) + sum over bags of psi(s, s'),

s the values of a bag's separator. Taking V out keeps this: h(x, v) as a function of (s, v), x elsewhere fixed, is in
the cone of rho((s, v), (s', v')) = sum over V of c_t + sum over the bags below of psi, so that for the new bag

    psi(s, s') = S(P(V | s), P(V | s'); rho),   both rows on the states (s, v), (s', v').

Every c_t is charged in one bag only, so that the loss is never above the sum of all. Where the bags below hang on V
alone this is the recursion over blocks; bags of one variable in an order of elimination are never worse than charging
each neighbour for itself. Source: Theorem 5 of docs/theory/influence.md, with separators that may overlap.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from takifugu.core.arrays import FloatArray, IntArray
from takifugu.core.lists import places_of, take, with_keys
from takifugu.influence.networks.conditionals import Rows, conditional_rows, joint_size, too_wide
from takifugu.influence.profiles.certified import Programs
from takifugu.influence.profiles.suprema import suprema
from takifugu.model.beliefs.networks.elimination import elimination_order
from takifugu.model.beliefs.networks.network import BayesianNetwork
from takifugu.numbers.outward_rounding import sum_up

#: Values of a separator, states of a bag: beyond them a bag is too wide.
MOST_CONTEXTS, MOST_STATES = 64, 128
#: Numbers that all programs of a way handle, about a hundred thousand a second: beyond them there are quicker ways.
MOST_WORK = 100_000
#: What the overhead of one program counts, in such numbers; a program of n states counts n^3 / 8.
PROGRAM = 100


@dataclass(frozen=True)
class Bag:
    """Variables taken out together, and their shield from all others left."""

    variables: tuple[int, ...]
    separator: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Message:
    """psi(s, s') of a bag, by the possible values of its separator."""

    separator: tuple[int, ...]
    values: dict[tuple[int, ...], int] = field(repr=False)
    loss: FloatArray

    def at(self, variables: Sequence[int], states: IntArray) -> FloatArray:
        """Return psi between states, rows of values of `variables`, shape (states, states)."""
        columns = list(map(list(variables).index, self.separator))
        index = [self.values[tuple(row)] for row in states[:, columns].tolist()]
        return np.asarray(self.loss[np.ix_(index, index)])


Hung = TypeVar("Hung", Bag, Message)


def loss_by_bags(
    network: BayesianNetwork, tables: Mapping[int, FloatArray], entry: int, bags: Sequence[Bag]
) -> FloatArray:
    """Return the loss of each pair of an entry's values, (k, k).

    Bags come before those that they hang on. `tables` are c_t of the bags' variables and of the entry. Pairs with an
    impossible value are charged the largest loss. Raises Unsupported for tables that are too large.
    """
    _check_width(network, bags)
    waiting: list[Message] = []
    for bag in bags:
        members = set(bag.variables)
        below, waiting = _hanging(waiting, members)
        if below or any(tables[v].any() for v in bag.variables):
            waiting.append(_message(network, tables, bag, below))
    loss = np.array(tables[entry], dtype=float)
    for message in waiting:
        if message.separator:
            full = np.full(loss.shape, message.loss.max())
            values = [value for (value,) in message.values]
            full[np.ix_(values, values)] = message.loss
            np.fill_diagonal(full, 0.0)
            loss = sum_up(loss, full)
    return loss


def _check_width(network: BayesianNetwork, bags: Sequence[Bag]) -> None:
    work = 0
    waiting: list[Bag] = []
    for bag in bags:
        contexts, states = joint_size(network, bag.separator), joint_size(network, bag.variables)
        if contexts > MOST_CONTEXTS or states > MOST_STATES:
            raise too_wide()
        members = set(bag.variables)
        below, waiting = _hanging(waiting, members)
        waiting.append(bag)
        if not all(members.issuperset(other.separator) for other in below):
            states *= 2
        work += contexts**2 * (PROGRAM + states**3 // 8)
    if work > MOST_WORK:
        raise too_wide()


def _hanging(waiting: Iterable[Hung], members: set[int]) -> tuple[list[Hung], list[Hung]]:
    """Return the bags with some variables in their separators, and all others."""
    below, others = list[Hung](), list[Hung]()
    for bag in waiting:
        if members.isdisjoint(bag.separator):
            others.append(bag)
        else:
            below.append(bag)
    return below, others


def _message(
    network: BayesianNetwork, tables: Mapping[int, FloatArray], bag: Bag, below: Sequence[Message]
) -> Message:
    rows = conditional_rows(network, bag.separator, bag.variables)
    states = rows.rows.shape[1]
    values = {tuple(context): place for place, context in enumerate(rows.contexts.tolist())}
    moves = np.zeros((states, states))
    for place, v in enumerate(bag.variables):
        column = rows.states[:, place]
        moves = sum_up(moves, tables[v][np.ix_(column, column)])
    across = []
    for message in below:
        if set(bag.variables).issuperset(message.separator):
            moves = sum_up(moves, message.at(bag.variables, rows.states))
        else:
            across.append(message)
    if across:
        loss = _across(rows, bag, moves, across)
    else:
        loss = _supremum(rows.rows, moves, rows)
    return Message(bag.separator, values, loss)


def _supremum(of: FloatArray, ratio: FloatArray, rows: Rows) -> FloatArray:
    if not rows.trusted:
        return np.asarray(ratio.max() * (1 - np.eye(len(of))))
    return suprema(of, ratio, rows.error, Programs())


def _across(rows: Rows, bag: Bag, moves: FloatArray, across: Sequence[Message]) -> FloatArray:
    """Return psi at a separator with a bag below."""
    count = len(rows.rows)
    scope = (*bag.separator, *bag.variables)
    loss = np.zeros((count, count))
    for first in range(count):
        for second in range(first):
            of_first, of_second = np.flatnonzero(rows.rows[first]), np.flatnonzero(rows.rows[second])
            values = np.concatenate([of_first, of_second])
            contexts = np.repeat([first, second], [len(of_first), len(of_second)])
            ratio = moves[np.ix_(values, values)]
            states = np.hstack([rows.contexts[contexts], rows.states[values]])
            for message in across:
                ratio = sum_up(ratio, message.at(scope, states))
            pair = np.zeros((2, len(values)))
            pair[0, : len(of_first)] = rows.rows[first, of_first]
            pair[1, len(of_first) :] = rows.rows[second, of_second]
            supremum_of_both = _supremum(pair, ratio, rows)
            loss[first, second], loss[second, first] = supremum_of_both[0, 1], supremum_of_both[1, 0]
    return loss


Graph = Mapping[int, set[int]]


def reached(near: Graph, entry: int) -> dict[int, int]:
    """Return the distances of all variables joined with an entry.

    >>> reached({0: {1}, 1: {0, 2}, 2: {1}, 3: set()}, 1)
    {1: 0, 0: 1, 2: 1}
    """
    distance = {entry: 0}
    queue = [entry]
    for v in queue:
        for u in sorted(near[v]):
            if u not in distance:
                distance[u] = distance[v] + 1
                queue.append(u)
    return distance


def layered(near: Graph, entry: int) -> list[Bag]:
    """Return a tree of blocks of equal distance from an entry.

    >>> layered({0: {1, 2}, 1: {0, 3}, 2: {0, 3}, 3: {1, 2, 4}, 4: {3}, 5: set()}, 0)
    [Bag(variables=(4,), separator=(3,)), Bag(variables=(3,), separator=(1, 2)), Bag(variables=(1, 2), separator=(0,))]
    """
    distance = reached(near, entry)
    top = {v: v for v in distance}  # a member of its block, found by following

    def block(v: int) -> int:
        while top[v] != v:
            top[v] = top[top[v]]
            v = top[v]
        return v

    bags: list[Bag] = []
    by_distance: dict[int, list[int]] = {}
    for v, d in distance.items():
        by_distance.setdefault(d, []).append(v)
    below: list[list[int]] = []  # blocks one step farther
    for d in range(max(by_distance), 0, -1):
        layer = set(by_distance[d])
        for v in by_distance[d]:
            for u in near[v] & layer:
                top[block(u)] = block(v)
        for members in below:
            first, *further = sorted(_neighbours(near, members) & layer)
            for u in further:
                top[block(u)] = block(first)
        groups: dict[int, list[int]] = {}
        for v in by_distance[d]:
            groups.setdefault(block(v), []).append(v)
        for members in below:
            bags.append(_hung(near, members, layer))
        below = list(groups.values())
    return [*bags, *(_hung(near, members, {entry}) for members in below)]


def _hung(near: Graph, members: Sequence[int], above: set[int]) -> Bag:
    return Bag(tuple(sorted(members)), tuple(sorted(_neighbours(near, members) & above)))


def _neighbours(near: Graph, members: Sequence[int]) -> set[int]:
    return set().union(*take(near, members))


def eliminated(near: Graph, entry: int, order: Sequence[int], sizes: Mapping[int, int], most: int) -> list[Bag]:
    """Return the bags of an order of elimination.

    A bag that only hangs on the next is joined to it, up to `most` states.

    >>> eliminated({0: {1}, 1: {0, 2}, 2: {1}}, 0, [2, 1], {0: 2, 1: 2, 2: 2}, 16)
    [Bag(variables=(2,), separator=(1,)), Bag(variables=(1,), separator=(0,))]
    """
    left = {v: set(near[v]) for v in (*order, entry)}
    place = places_of([*order, entry])
    variables: dict[int, list[int]] = {}
    separators: dict[int, set[int]] = {}
    for v in order:
        around = left.pop(v)
        for u in around:
            left[u] |= around - {u}
            left[u].discard(v)
        variables[v], separators[v] = [v], around
    for v in order:
        above = min(separators[v], key=place.__getitem__, default=entry)
        if above != entry and separators[v] - {above} == separators[above] and len(variables[above]) == 1:
            joined = [*variables[v], *variables[above]]
            if math.prod(take(sizes, joined)) <= most:
                variables[above] = joined
                del variables[v], separators[v]
    return [Bag(tuple(sorted(variables[v])), tuple(sorted(separators[v]))) for v in order if v in variables]


def orders(near: Graph, entry: int, sizes: Mapping[int, int]) -> Iterator[list[int]]:
    """Yield orders of all other reached variables."""
    distance = reached(near, entry)
    arcs: list[tuple[int, int]] = []
    for v in distance:
        arcs += [(v, u) for u in near[v] if v < u]
    yield elimination_order(arcs, with_keys(sizes, distance), [entry])
    yield from by_place(near, entry)


def by_place(near: Graph, entry: int) -> Iterator[list[int]]:
    """Yield children before parents, the farthest first.

    >>> list(by_place({0: {1, 2}, 1: {0}, 2: {0, 3}, 3: {2}}, 0))
    [[3, 2, 1], [3, 2, 1]]
    """
    distance = reached(near, entry)
    variables = [v for v in distance if v != entry]
    yield sorted(variables, reverse=True)
    yield sorted(variables, key=lambda v: (-distance[v], -v))


def whole(near: Graph, entry: int) -> list[Bag]:
    """Return one bag of all reached variables: exact, if small."""
    variables = tuple(sorted(v for v in reached(near, entry) if v != entry))
    return [Bag(variables, (entry,))] if variables else []
