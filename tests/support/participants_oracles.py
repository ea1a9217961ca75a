"""Slow, obviously right: independent components, every joint state listed, and an adversary who knows some of them.

A component is {states of its entries: probability}; the answer is the sum of weight times state over all entries, which
are counted through all components in order. Nothing here imports takifugu.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product

import mpmath
from tests.support.laws_oracles import gaussian_divergence

Component = Mapping[tuple[int, ...], Fraction]
Law = dict[int, Fraction]


def law_of_answer(
    components: Sequence[Component], weights: Sequence[int], entry: int, value: int, known: Collection[int] = ()
) -> Law:
    """Return the law of the answer given one entry's value, less what the known components add; {} if impossible.

    Whoever knows a component subtracts what it adds, whatever that is.
    """
    law: Law = {}
    for states in product(*(component.items() for component in components)):
        path = [x for inside, _ in states for x in inside]
        if path[entry] != value:
            continue
        mass, answer, at = Fraction(1), 0, 0
        for number, (inside, chance) in enumerate(states):
            mass *= chance
            if number not in known:
                answer += sum(weights[at + i] * x for i, x in enumerate(inside))
            at += len(inside)
        law[answer] = law.get(answer, Fraction(0)) + mass
    total = sum(law.values())
    return {answer: mass / total for answer, mass in law.items() if mass} if total else {}


def pairs_of_laws(components: Sequence[Component], weights: Sequence[int], known: int = 0) -> Iterator[tuple[Law, Law]]:
    """Yield both laws of every entry and two of its values, for each choice of `known` other components."""
    at = 0
    for number, component in enumerate(components):
        entries = range(at, at + len(next(iter(component))))
        at = entries.stop
        values = sorted({x for path in component for x in path})
        others = [other for other in range(len(components)) if other != number]
        for entry, chosen in product(entries, combinations(others, known)):
            for a, b in combinations(values, 2):
                p, q = (law_of_answer(components, weights, entry, v, chosen) for v in (a, b))
                if p and q:
                    yield p, q


def normal_excess(
    components: Sequence[Component], weights: Sequence[int], sigma: float, epsilon: float, known: int = 0
) -> float:
    """Return the delta of normal noise at epsilon, against someone who knows `known` others."""
    each = [mpmath.mpf(0)]
    for p, q in pairs_of_laws(components, weights, known):
        each += [gaussian_divergence(p, q, sigma, epsilon), gaussian_divergence(q, p, sigma, epsilon)]
    return float(max(each))
