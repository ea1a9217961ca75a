"""Bayesian networks by enumeration of every joint state: laws, independence, quilts and the loss of Laplace noise."""

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np

Law = dict[tuple[int, ...], Fraction]
Spec = list[tuple[str, list[int], list[str], Any]]


def random_network(rng: np.random.Generator, size: int, most_parents: int = 2, zeros: bool = False) -> Spec:
    """Return a random network in the form that `BayesianNetwork` takes, tables of thousandths (exact in Fractions)."""
    nodes: Spec = []
    sizes = [int(rng.integers(2, 4)) if rng.random() < 0.3 else 2 for _ in range(size)]
    for i in range(size):
        parents = sorted(rng.choice(i, size=min(i, int(rng.integers(0, most_parents + 1))), replace=False).tolist())
        shape = [sizes[p] for p in parents]
        rows = np.array([_thousandths(rng, sizes[i], zeros) for _ in range(math.prod(shape))]).reshape(*shape, sizes[i])
        nodes.append((f"n{i}", list(range(sizes[i])), [f"n{p}" for p in parents], (rows / 1000).tolist()))
    return nodes


def _thousandths(rng: np.random.Generator, k: int, zeros: bool) -> list[int]:
    while True:
        cuts = sorted(rng.integers(1, 1000, size=k - 1).tolist())
        parts = [b - a for a, b in itertools.pairwise([0, *cuts, 1000])]
        if zeros and rng.random() < 0.3:
            at = int(rng.integers(k))
            parts[at - 1] += parts[at]
            parts[at] = 0
        if zeros or min(parts) > 0:
            return parts


def as_listed(weights: list[int], names: tuple[Any, ...], listed: tuple[Any, ...]) -> list[int]:
    """Return numbers that follow the network's own order in the order in which its nodes were listed."""
    by_name = dict(zip(names, weights, strict=True))
    return [by_name[name] for name in listed]


def joint_law(spec: Spec, order: list[str]) -> Law:
    """Return P(x) of every joint state, values by index, nodes in the given order; exact."""
    by_name = {name: (states, parents, table) for name, states, parents, table in spec}
    law: Law = {}
    for x in itertools.product(*(range(len(by_name[name][0])) for name in order)):
        at = dict(zip(order, x, strict=True))
        mass = Fraction(1)
        for name in order:
            row = by_name[name][2]
            for parent in by_name[name][1]:
                row = row[at[parent]]
            mass *= Fraction(str(round(row[at[name]], 12)))
        law[x] = mass
    return law


def marginal(law: Law, entries: tuple[int, ...]) -> Law:
    """Return the joint law of some entries, in the order given."""
    sums: Law = {}
    for x, mass in law.items():
        key = tuple(x[i] for i in entries)
        sums[key] = sums.get(key, Fraction(0)) + mass
    return sums


def independent(law: Law, entry: int, others: tuple[int, ...], given: tuple[int, ...]) -> bool:
    """Whether X_entry and X_others are independent given X_given, exactly."""
    full = marginal(law, (entry, *others, *given))
    of_entry, rest, base = marginal(law, (entry, *given)), marginal(law, (*others, *given)), marginal(law, given)
    n = 1 + len(others)
    return all(mass * base[x[n:]] == of_entry[(x[0], *x[n:])] * rest[x[1:]] for x, mass in full.items())


def influence(law: Law, entry: int, quilt: tuple[int, ...], pair: tuple[int, int]) -> float:
    """Return max over x_Q of log P(x_Q | a)/P(x_Q | b), infinite where only a allows x_Q."""
    table, prior = marginal(law, (entry, *quilt)), marginal(law, (entry,))
    a, b = pair
    worst = 0.0
    for x in {x[1:] for x in table}:
        p, q = table.get((a, *x), Fraction(0)) / prior[(a,)], table.get((b, *x), Fraction(0)) / prior[(b,)]
        if p > 0:
            worst = max(worst, math.inf if q == 0 else math.log(p / q))
    return worst


def answer_laws(law: Law, tables: list[list[int]], entry: int) -> dict[int, dict[int, Fraction]]:
    """Return the law of sum_i tables[i][x_i] given each possible value of an entry."""
    prior = marginal(law, (entry,))
    laws_by_value: dict[int, dict[int, Fraction]] = {}
    for x, mass in law.items():
        if mass > 0:
            answer = sum(t[v] for t, v in zip(tables, x, strict=True))
            laws = laws_by_value.setdefault(x[entry], {})
            laws[answer] = laws.get(answer, Fraction(0)) + mass / prior[(x[entry],)]
    return laws_by_value
