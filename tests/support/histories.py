"""Random sets of releases as charges, of many beliefs and queries: at declared places, or about the same entries."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from tests.support.ledger_tools import charge

import takifugu as tf
from takifugu.accounting.composition import Charge
from takifugu.analysis.guarantee import Covers
from takifugu.model.frameworks import Framework
from takifugu.model.queries import Query

TWO, OTHER, HALF = [[0.9, 0.1], [0.4, 0.6]], [[0.7, 0.3], [0.2, 0.8]], [[0.5, 0.5], [0.5, 0.5]]
THREE = [[0.7, 0.2, 0.1], [0.15, 0.6, 0.25], [0.3, 0.1, 0.6]]
NODES = [("a", [0, 1], [], [0.6, 0.4]), *((name, [0, 1], ["a"], OTHER) for name in "bcdef")]
#: Releases about one unit, of which each was made for one of the frameworks with these beliefs.
BELIEFS: dict[str, list[Any]] = {
    "lengths": [tf.MarkovChain(TWO, 6), tf.MarkovChain(TWO, 4)],
    "beliefs": [tf.MarkovChain(TWO, 6), tf.MarkovChain(OTHER, 6)],
    "three values": [tf.MarkovChain(THREE, 6)],
    "any start": [tf.MarkovChain(THREE, 5, "any"), tf.MarkovChain(THREE, 3, "any")],
    "given start": [tf.MarkovChain(THREE, 5, [1, 0, 0])],
    "class": [tf.ReversibleChains(0.2, 0.4, 6)],
    "region": [tf.BinaryChains(0.2, 6)],
    "period": [tf.PeriodicChain([TWO, OTHER, HALF], 6)],
    "phases": [tf.PeriodicChain([TWO, OTHER], 6, [0, 1, 1], phase) for phase in (0, 1)],
    "pieces": [tf.IndependentPieces(tf.MarkovChain(TWO, 1), (3, 3))],
    "one piece": [tf.IndependentPieces(tf.MarkovChain(TWO, 1), (6,)), tf.MarkovChain(TWO, 6)],
    "users": [tf.IndependentUsers([{0: 0.5, 1: 0.3, 2: 0.2}] * 5)],
    "users with names": [tf.IndependentUsers([{0: 0.5, 1: 0.5}] * 5, names=list("abcde"))],
    "network": [tf.BayesianNetwork(NODES)],
}
PLACES = ("weeks", "days", "here")
NOISE = (Fraction(12), Fraction(30), Fraction(97, 7))


def frameworks_of(name: str) -> list[Framework]:
    return [tf.Pufferfish(tf.every_entry(), belief) for belief in BELIEFS[name]]


def query_of(chance: np.random.Generator, size: int, states: int) -> Query:
    """Return a count, a table, weights or a mean, signed ones among them, about some of the entries or all of them."""
    low, high = sorted(chance.choice(size + 1, 2, replace=False).tolist())
    codes = {state: int(code) for state, code in enumerate(chance.integers(-3, 4, size=states))}
    weights = [int(w) for w in chance.integers(-2, 3, size=size)]
    queries = [
        tf.Count(int(chance.integers(states)), entries=range(low, high)), tf.Histogram(entries=range(low, high)),
        tf.Linear([*weights[:-1], 1], {**codes, 0: 5}), tf.Mean(), tf.Count(1), tf.Histogram(),
    ]  # fmt: skip
    return queries[int(chance.integers(len(queries)))]


def drawn(chance: np.random.Generator, frameworks: Sequence[Framework], many: int) -> list[tuple[Framework, Charge]]:
    """Return releases of few queries or many, placed in one way, mostly of few scales."""
    place, pool = PLACES[int(chance.integers(len(PLACES)))], (1, 20)[int(chance.integers(2))]
    beliefs = [one.beliefs[0] for one in frameworks]
    sizes = [(belief.size, sum(type(state) is int for state in belief.alphabet(0))) for belief in beliefs]
    queries = [[query_of(chance, *size) for _ in range(pool)] for size in sizes]
    releases = []
    for number in range(many):
        which = int(chance.integers(len(frameworks)))
        query = queries[which][int(chance.integers(pool))]
        if chance.random() < 0.2:
            query = query_of(chance, *sizes[which])
        scale = Fraction(int(chance.integers(10**6, 10**8)), int(chance.integers(10**4, 10**5)))
        scale = (*NOISE, *NOISE[:1] * 6, scale)[int(chance.integers(10))]
        kind = (*[Covers.ENTRIES] * 6, Covers.EVERYTHING, Covers.COMPONENT)[int(chance.integers(8))]
        one = charge(frameworks[which], query, scale, kind)
        one = replace(one, epsilon=(one.epsilon, *[Fraction(1, 100)] * 8, scale / 10**9)[int(chance.integers(10))])
        releases.append((frameworks[which], replace(one, **_where(chance, place, sizes[which][0], number))))
    return releases


def _where(chance: np.random.Generator, place: str, size: int, number: int) -> dict[str, Any]:
    """Return where a release reads: at a place of its own, at one of a few, or the entries of all others."""
    return {"weeks": {"at": size * (number % 12)}, "days": {"at": int(chance.integers(9))}, "here": {}}[place]
