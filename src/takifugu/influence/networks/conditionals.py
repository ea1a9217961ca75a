"""Rows P(some variables of a network | others), and which of them depend on which: what bags and elimination read."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from takifugu.core.arrays import FloatArray, IntArray
from takifugu.core.errors import Unsupported
from takifugu.influence.profiles.certified import Programs
from takifugu.model.beliefs.networks.network import BayesianNetwork
from takifugu.numbers.outward_rounding import UNIT

#: Joint tables of more numbers are not made: the way that needs them counts as too wide.
LARGEST_TABLE = 50_000
#: The same for tables on the way to them.
LARGEST_STEP = 5e6
#: Smaller masses may have lost digits to underflow.
TRUSTED = 1e-250
#: Programs (pairs of rows times squared states) that a message may solve; beyond, functions of two values bound it.
MOST_PROGRAMS = 1e5


@dataclass(frozen=True, eq=False)
class Clique:
    """Variables of a network, in order, with their numbers of values."""

    network: BayesianNetwork
    variables: tuple[int, ...]
    sizes: tuple[int, ...]

    @cached_property
    def law(self) -> tuple[FloatArray, float] | None:
        """Return their joint law and its relative error, if computable."""
        if math.prod(self.sizes) > LARGEST_TABLE or self.network.law_plan(self.variables).largest > LARGEST_STEP:
            return None
        try:
            law, error = self.network.law(self.variables)
            possible = law > 0 if (law > 0).all() else self.network.support(self.variables)
        except Unsupported:
            return None
        if (law[possible] >= TRUSTED).all():
            return np.where(possible, law, 0.0), error
        return None


@dataclass(frozen=True, eq=False)
class Rows:
    """Different rows P(V = y | s) over the possible y, which row each s has, and their relative error."""

    variables: tuple[int, ...]
    sizes: tuple[int, ...]
    contexts: tuple[int, ...]  # numbers of values of what is given
    columns: IntArray  # the possible y among all values of V
    table: FloatArray
    row_of: IntArray  # of each s, the last variable changing fastest
    error: float
    programs: Programs | None
    of_pairs: dict[tuple[int, int], Programs] = field(default_factory=dict)


def conditional(
    clique: Clique, condition: tuple[int, ...], most_contexts: float, most_rows: int, most_states: float
) -> Rows | None:  # fmt: skip
    """Return P(other variables of a clique | given), None for more values, rows or states, or where digits are lost."""
    first = list(map(clique.variables.index, condition))
    second = [value for value in range(len(clique.variables)) if value not in first]
    sizes = tuple(clique.sizes[place] for place in second)
    contexts = tuple(clique.sizes[place] for place in first)
    if math.prod(contexts) > most_contexts or math.prod(sizes) > most_states or clique.law is None:
        return None
    joint, error = clique.law
    law = joint.transpose([*first, *second]).reshape(math.prod(contexts), -1)
    possible = law.any(axis=1)
    columns = np.flatnonzero(law.any(axis=0))
    rows = law[np.ix_(possible, columns)]
    table, number = np.unique(rows / rows.sum(axis=1, keepdims=True), axis=0, return_inverse=True)
    row_of = np.full(len(law), -1)
    row_of[possible] = number.ravel()
    row_of = taken_from_neighbours(row_of.reshape(contexts)).ravel()
    if len(table) > most_rows:
        return None
    programs = Programs() if len(table) ** 2 * len(columns) ** 2 <= MOST_PROGRAMS else None
    error = 2 * error + (law.shape[1] + 3) * UNIT
    variables = tuple(clique.variables[place] for place in second)
    return Rows(variables, sizes, contexts, columns, table, row_of, error, programs)


def joint_size(network: BayesianNetwork, variables: Iterable[int]) -> int:
    """Count the joint values of some variables."""
    return math.prod(len(network.alphabet(v)) for v in variables)


def taken_from_neighbours(index: IntArray) -> IntArray:
    """Fill negative places from places differing in one variable."""
    index = index.copy()
    while (index < 0).any():
        for axis in range(index.ndim):
            lines = np.moveaxis(index, axis, -1)
            some = lines.max(axis=-1, keepdims=True)
            lines[...] = np.where(lines < 0, np.broadcast_to(some, lines.shape), lines)
    return index


def moral_graph(network: BayesianNetwork, entries: Iterable[int]) -> dict[int, set[int]]:
    """Return the moral graph of some entries and their ancestors."""
    alive = network.ancestral(entries)
    near: dict[int, set[int]] = {v: set() for v in alive}
    for child in alive:
        family = {child, *network.parents[child]}
        for v in family:
            near[v] |= family - {v}
    return near


def boundary(near: dict[int, set[int]], variable: int, left: Collection[int]) -> tuple[int, ...]:
    """Return the shield of a variable within `left`."""
    visited, stack, met = {variable}, [variable], set()
    while stack:
        for u in near[stack.pop()] - visited:
            visited.add(u)
            if u in left:
                met.add(u)
            else:
                stack.append(u)
    return tuple(sorted(met))
