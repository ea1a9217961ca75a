"""Risk: how much an output can raise the odds that something is so of one record (Takagi21 Section III-C).

Risk_pi(M, p) is the largest factor, over outputs z, between the odds of p after z and before, where the record is
drawn from the prior pi and all other records are fixed. It is 0 where pi is sure of p (nothing is learnt), and a/0 is
infinite.

A promise along allowed moves bounds the risk of c = "was at A" by e^epsilon exactly where mass given c can be carried
to mass given not c along allowed moves: where, to this adversary, the places of who was at A stochastically dominate
those of who was not (`dominates`; Strassen 1965). Where the adversary knows "exactly one of A and B" it cannot, and the
risk is infinite.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any

from takifugu.core.errors import InputError
from takifugu.model.policies.policy import Policy
from takifugu.model.policies.predicates import Record
from takifugu.numbers.rationals import Number, as_fraction

#: What is published where the record is x: the mass of every output.
Law = Mapping[Any, Any]


def risk(law: Callable[[Any], Law], prior: Mapping[Any, Number], holds: Callable[[Any], bool]) -> Any:
    """Return Risk_pi(M, p) of a mechanism that publishes z with mass law(x)[z] where the record is x.

    Exact where masses are integers or fractions; the type is that of their ratio, `math.inf`, or 0. `prior` gives the
    mass of each record, `holds` is p. Raises InputError unless the masses of the prior are not negative and sum to 1.

    >>> from fractions import Fraction as F
    >>> exact = lambda record: {record: F(1)}
    >>> risk(exact, {0: F(1, 2), 1: F(1, 2)}, lambda x: x == 1), risk(exact, {1: F(1)}, lambda x: x == 1)
    (inf, 0)
    """
    masses = _checked(prior)
    sides = [{x: m for x, m in masses.items() if bool(holds(x)) is held} for held in (True, False)]
    yes, no = (sum(side.values(), Fraction(0)) for side in sides)
    if not no:
        return 0  # the adversary knew it before
    outputs = dict.fromkeys(z for x in masses for z in law(x))
    largest: Any = 0
    for z in outputs:
        given_yes, given_no = (sum((m * law(x).get(z, 0) for x, m in side.items()), Fraction(0)) for side in sides)
        if not given_yes:
            continue
        if not given_no:
            return math.inf
        largest = max(largest, (given_yes / given_no) / (yes / no))
    return largest


def dominates(prior: Mapping[Any, Number], holds: Callable[[Any], bool], policy: Policy) -> bool:
    """Return whether the prior given p can be carried to the prior given not p along allowed moves.

    Then, and in general only then, the risk of p is at most e^epsilon under a promise for the policy. Exact: a largest
    flow from the records where p holds to those where it does not. True where the prior is sure of either.

    >>> from takifugu.model.policies.policy import visits
    >>> A, B, both, none = map(frozenset, ("A", "B", "AB", ""))
    >>> was_at_A = lambda record: "A" in record
    >>> dominates({A: "1/2", B: "1/2"}, was_at_A, visits()), dominates({A: "1/2", none: "1/2"}, was_at_A, visits())
    (False, True)
    """
    masses = {x: m for x, m in _checked(prior).items() if m}
    yes, no = ([x for x in masses if bool(holds(x)) is held] for held in (True, False))
    if not yes or not no:
        return True
    supply, need = sum(masses[x] for x in yes), sum(masses[x] for x in no)
    sources = {x: masses[x] / supply for x in yes}
    sinks = {x: masses[x] / need for x in no}
    edges = {x: [y for y in no if policy.allows(x, y)] for x in yes}
    return _largest_flow(sources, sinks, edges) == 1


def _largest_flow(
    sources: Mapping[Record, Fraction], sinks: Mapping[Record, Fraction], edges: Mapping[Record, list[Record]]
) -> Fraction:
    """Return the largest flow through edges without a capacity, by shortest augmenting paths (Edmonds and Karp)."""
    sent: dict[tuple[Record, Record], Fraction] = {}
    left, room, total = dict(sources), dict(sinks), Fraction(0)
    while (path := _path(left, room, edges, sent)) is not None:
        steps = list(pairwise(path))
        back = [sent[y, x] for x, y in steps if x in sinks]
        amount = min([left[path[0]], room[path[-1]], *back])
        for x, y in steps:
            if x in sources:
                sent[x, y] = sent.get((x, y), Fraction(0)) + amount
            else:
                sent[y, x] -= amount
        left[path[0]] -= amount
        room[path[-1]] -= amount
        total += amount
    return total


def _path(
    left: Mapping[Record, Fraction],
    room: Mapping[Record, Fraction],
    edges: Mapping[Record, list[Record]],
    sent: Mapping[tuple[Record, Record], Fraction],
) -> list[Record] | None:
    """Return a shortest path from a source with mass left to a sink with room; back along what was sent, too."""
    before: dict[Record, Record | None] = {x: None for x, mass in left.items() if mass}
    waiting = deque(before)
    while waiting:
        at = waiting.popleft()
        if room.get(at):
            path, step = [at], before[at]
            while step is not None:
                path.append(step)
                step = before[step]
            return path[::-1]
        onwards = edges[at] if at in edges else [x for x, y in sent if y == at and sent[x, y]]
        for other in onwards:
            if other not in before:
                before[other] = at
                waiting.append(other)
    return None


def _checked(prior: Mapping[Any, Number]) -> dict[Any, Fraction]:
    masses = {x: as_fraction(mass, "a mass of the prior", "prior") for x, mass in prior.items()}
    if not masses or min(masses.values()) < 0 or sum(masses.values()) != 1:
        raise InputError("the prior is no distribution", rule="its masses are not negative and sum to 1").at("prior")
    return masses
