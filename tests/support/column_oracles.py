"""Whole columns of records governed by random parameters, the slow way: every parameter, every data set, every quilt.

Parameters are value indices; `law` is {values of all parameters: mass}, as in `network_oracles`. A column is (number of
its parameter, {value of it: {state: mass}}). Nothing here imports takifugu.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from tests.support.network_oracles import Law, independent, influence, marginal

ColumnLaw = tuple[int, dict[int, dict[int, Fraction]]]
Data = tuple[tuple[int, ...], ...]
Statistic = Callable[[Data], tuple[int, ...]]


def data_sets(sizes: Sequence[int], records: int) -> Iterator[Data]:
    """Yield every data set: a tuple of records, each a tuple of states."""
    rows = list(itertools.product(*map(range, sizes)))
    yield from itertools.product(rows, repeat=records)


def change(statistic: Statistic, sizes: Sequence[int], records: int, near: Sequence[int]) -> int:
    """Return the largest L1 change of a statistic between data sets that differ in the columns `near` only."""
    worst, groups = 0, dict[Data, list[tuple[int, ...]]]()
    for data in data_sets(sizes, records):
        rest = tuple(tuple(v for c, v in enumerate(row) if c not in near) for row in data)
        groups.setdefault(rest, []).append(statistic(data))
    for answers in groups.values():
        for one, other in itertools.combinations(set(answers), 2):
            worst = max(worst, sum(abs(a - b) for a, b in zip(one, other, strict=True)))
    return worst


def answer_law(
    law: Law, columns: Sequence[ColumnLaw], records: int, statistic: Statistic, entry: int, value: int
) -> dict[tuple[int, ...], Fraction]:
    """Return the law of a statistic given that a parameter has a value: over all parameters and all data sets."""
    sizes = [1 + max(max(given) for given in laws.values()) for _, laws in columns]
    law_of_answer = dict[tuple[int, ...], Fraction]()
    total = sum(mass for phi, mass in law.items() if phi[entry] == value)
    for phi, mass in law.items():
        if phi[entry] != value or not mass:
            continue
        for data in data_sets(sizes, records):
            chance = mass / total
            for row in data:
                for (parameter, laws), state in zip(columns, row, strict=True):
                    chance *= laws[phi[parameter]].get(state, Fraction(0))
            if chance:
                at = statistic(data)
                law_of_answer[at] = law_of_answer.get(at, Fraction(0)) + chance
    return law_of_answer


def quilt_scale(law: Law, size: int, entry: int, moved: Callable[[Sequence[int]], int], epsilon: float) -> float:
    """Return Zhang22 Algorithm 3 (with errata E14) for one parameter, over every quilt that is one by enumeration.

    `moved(near)` is D(N) of the columns of the parameters `near`.
    """
    marginals = marginal(law, (entry,))
    values = sorted(v for (v,), mass in marginals.items() if mass > 0)
    pairs = [(a, b) for a in values for b in values if a != b]
    best = moved(range(size)) / epsilon
    others = [v for v in range(size) if v != entry]
    for quilt in (q for r in range(size) for q in itertools.combinations(others, r)):
        e = max((influence(law, entry, quilt, pair) for pair in pairs), default=0.0)
        rest = [v for v in others if v not in quilt]
        for remote in (far for r in range(len(rest) + 1) for far in itertools.combinations(rest, r)):
            near = moved([v for v in range(size) if v not in quilt and v not in remote])
            if e > epsilon or (near and e >= epsilon) or not independent(law, entry, remote, quilt):
                continue
            best = min(best, near / (epsilon - e) if near else 0.0)
    return best
