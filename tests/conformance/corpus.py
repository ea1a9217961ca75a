"""Small problems of every kind, on which every mechanism of the registry is set against the exact audit.

A problem is a framework and a query, small enough to list all joint states. Where a belief is a class of chains,
`members` are some chains of it: a loss over a member is a lower bound of the loss over the class, so a mechanism that
breaks its promise on a member breaks it. Nobody is named here: what is registered is run, by whoever registered it.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import takifugu as tf
from takifugu.mechanisms.one_sided import Asymmetric, Policy, Visits, any_of, none_of, visits
from takifugu.model.beliefs.domain import Domain
from takifugu.model.frameworks import Framework
from takifugu.model.queries import Query
from takifugu.numbers import Bates, Pmf

STICKY = [[0.9, 0.1], [0.4, 0.6]]
#: Epsilons from nearly nothing to nearly everything, and the deltas that each is asked with.
EPSILONS = (Fraction(1, 5), Fraction(1), Fraction(4))
DELTAS = (Fraction(0), Fraction(1, 50))


@dataclass(frozen=True, eq=False)
class Case:
    """One problem of the corpus, and chains of its beliefs' classes that the audit looks at in their place."""

    name: str
    framework: Framework
    query: Query
    members: tuple[Any, ...] = ()


@cache
def corpus() -> tuple[Case, ...]:
    """Return every case, or with TAKIFUGU_QUICK some; the same objects at each call, so that caches serve."""
    return shrunk(whole()) if os.environ.get("TAKIFUGU_QUICK") else whole()


#: Cases that some mechanism needs: others make it no promise, or let it keep a promise with half of its noise.
TIGHT = frozenset({
    "one step", "table, every entry", "parameters, a column that tells all", "normal records, what is hidden is shown",
    "a place", "a row among dummies", "a row within a radius",
})  # fmt: skip


def shrunk(cases: tuple[Case, ...]) -> tuple[Case, ...]:
    """Return the first case of each kind of belief, secret and query, and the tight ones."""
    seen, some = set[tuple[str, str]](), []
    for case in cases:
        framework = case.framework.to_dict()
        kinds = {(part, one["kind"]) for part in ("beliefs", "secrets") for one in framework[part]}
        kinds.add(("query", case.query.to_dict()["kind"]))
        if kinds - seen or case.name in TIGHT:
            some.append(case)
        seen |= kinds
    return tuple(some)


@cache
def whole() -> tuple[Case, ...]:
    """Return every case."""
    entries = (*_chains(), *_choices(), *_classes(), *_records(), *_people(), *_laws())
    more = (*_columns(), *_normals(), *_densities(), *_policies(), *_rows())
    return (*entries, *_populations(), *_counted_parameters(), *more)


@cache
def larger() -> tuple[Case, ...]:
    """Return problems whose bounds take a measurable while: for the costs that mechanisms predict, not for audits."""
    size, coin = 100, {0: Fraction(3, 4), 1: Fraction(1, 4)}
    chain = tf.MarkovChain(STICKY, size)
    tree = tf.BayesianNetwork([
        (f"node {i}", [0, 1], [f"node {(i - 1) // 2}"] if i else [], [[0.8, 0.2], [0.3, 0.7]] if i else [0.5, 0.5])
        for i in range(size // 4)
    ])  # fmt: skip
    rows = [(i % 7, i * i % 11, i) for i in range(size)]
    table = tf.JointTable(rows, [Fraction(1, size)] * size, ["a", "b", "c"])
    even, next_ = (Pmf(range(first, first + size), [Fraction(1, size)] * size) for first in (0, 1))
    return (
        Case("a chain", _hide(chain), tf.Count(1)),
        Case("a chain of any start", _hide(tf.MarkovChain(STICKY, size, "any")), tf.Count(1)),
        Case("a chain, histogram", _hide(chain), tf.Histogram()),
        Case("a class of chains", _hide(tf.ReversibleChains(pi=0.2, g=0.4, length=size)), tf.Count(1)),
        Case("pieces", _hide(tf.IndependentPieces(chain, [size // 3, size // 2])), tf.Count(1)),
        Case("a tree", _hide(tree), tf.Count(1)),
        Case("a table", _hide(table, secret=tf.attribute("a", 0, 1)), tf.Sum("b")),
        Case("users", _hide(tf.IndependentUsers([coin] * size)), tf.Count(1)),
        Case("two laws", tf.distribution_pair(even, next_), tf.Identity()),
    )


def _hide(*beliefs: object, secret: object = None) -> Framework:
    return tf.Pufferfish(secret or tf.every_entry(), beliefs)


def _chains() -> Iterator[Case]:
    chain = tf.MarkovChain(STICKY, 4)
    yield Case("chain, count", _hide(chain), tf.Count(1))
    yield Case("chain, some entries", _hide(chain), tf.Count(1, entries=(0, 3)))
    yield Case("chain, signed weights", _hide(chain), tf.Linear([1, -2, 0, 1]))
    yield Case("chain, mean", _hide(chain), tf.Mean())
    yield Case("chain, histogram", _hide(chain), tf.Histogram())
    yield Case("chain, runs", _hide(chain, secret=tf.every_run(2)), tf.Count(1))
    yield Case("chain, runs longer than it", _hide(chain, secret=tf.every_run(9)), tf.Histogram())
    yield Case("chain, together", _hide(chain), tf.JointQuery([tf.Count(1), tf.Count(0, entries=(1, 2))]))
    yield Case("chain, by cells", _hide(chain), tf.GroupBy(tf.Count(1), {"a": (0, 2), "b": (1, 2, 3)}))
    yield Case("chain, one secret", _hide(chain, secret=tf.entry(1, 0, 1)), tf.Count(1))
    yield Case("chain, any start", _hide(tf.MarkovChain([[0.7, 0.3], [0.2, 0.8]], 3, "any")), tf.Count(1))
    yield Case("chain, given start", _hide(tf.MarkovChain(STICKY, 3, [0.2, 0.8])), tf.Sum(codes={0: "-1/2", 1: 2}))
    ring = tf.MarkovChain([[0.8, 0.2, 0.0], [0.0, 0.7, 0.3], [0.4, 0.0, 0.6]], 3, states=["a", "b", "c"])
    yield Case("chain with zeros, count", _hide(ring), tf.Count(["a", "c"]))
    yield Case("chain with zeros, histogram", _hide(ring), tf.Histogram())
    shift = tf.PeriodicChain([STICKY, [[0.6, 0.4], [0.2, 0.8]]], 3, [0, 0, 1], 1)
    yield Case("periodic chain, count", _hide(shift), tf.Count(1))
    loose = tf.PeriodicChain([STICKY, [[0.6, 0.4], [0.2, 0.8]]], 3, initial="any")
    yield Case("periodic chain, any start", _hide(loose), tf.Count(1))
    yield Case("periodic pieces", _hide(tf.IndependentPieces(shift, [1, 2])), tf.Histogram())
    yield Case("one step", _hide(tf.MarkovChain(STICKY, 1)), tf.Count(1))
    yield Case("quick chain", _hide(tf.MarkovChain([[0.55, 0.45], [0.5, 0.5]], 3)), tf.Count(1))
    yield Case("two beliefs", _hide(chain, tf.MarkovChain([[0.5, 0.5], [0.1, 0.9]], 4)), tf.Count(1))
    yield Case("pieces", _hide(tf.IndependentPieces(chain, [2, 3])), tf.Count(1))
    by_ward = {"a": (0, 1), "b": (2, 3, 4)}
    yield Case("pieces, by ward", _hide(tf.IndependentPieces(chain, [2, 1, 2])), tf.GroupBy(tf.Count(1), by_ward))
    yield Case("pieces, histogram", _hide(tf.IndependentPieces(chain, [2, 2])), tf.Histogram())
    loose = tf.MarkovChain([[0.7, 0.3], [0.2, 0.8]], 2, "any")
    yield Case("pieces of any start", _hide(tf.IndependentPieces(loose, [2, 2])), tf.Count(1))


def _choices() -> Iterator[Case]:
    chain = tf.MarkovChain(STICKY, 4)
    yield Case("chain, mode", _hide(chain), tf.Mode())
    yield Case("chain, quartiles", _hide(chain), tf.Quantile([0.25, 0.75], entries=(0, 1, 3)))
    ring = tf.MarkovChain([[0.8, 0.2, 0.0], [0.0, 0.7, 0.3], [0.4, 0.0, 0.6]], 3, states=["a", "b", "c"])
    yield Case("chain with zeros, top 2", _hide(ring), tf.TopK(2))
    yield Case("chain, counts above", _hide(tf.MarkovChain([[0.7, 0.3], [0.2, 0.8]], 3)), tf.CountAbove([0]))
    yield Case("chain with zeros, median of two", _hide(ring), tf.Median(states=["c", "a"]))
    yield Case("any start, median", _hide(tf.MarkovChain([[0.7, 0.3], [0.2, 0.8]], 3, "any")), tf.Median())
    yield Case("pieces, mode", _hide(tf.IndependentPieces(chain, [2, 2])), tf.Mode())
    yield Case("people, median", _hide(tf.IndependentUsers([{0: 0.5, 1: 0.25, 4: 0.25}] * 3)), tf.Median())
    for absence in ("removed", "unknown"):
        there = tf.IndependentUsers([{0: 0.5, 1: 0.5}] * 3, presence=[Fraction(7, 10)] * 3, absence=absence)
        yield Case(f"people who may be {absence}, mode", _hide(there, secret=tf.presence()), tf.Mode())
        yield Case(f"people who may be {absence}, median", _hide(there), tf.Median())
    pair = tf.BayesianNetwork([
        ("a", [0, 1], [], [0.7, 0.3]), ("b", [0, 1, 2], ["a"], [[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]]),
    ])  # fmt: skip
    yield Case("network, median", _hide(pair), tf.Median())


def _classes() -> Iterator[Case]:
    family = tf.ReversibleChains(pi=0.2, g=0.4, length=4)
    fast = (tf.MarkovChain([[0.8, 0.2], [0.3, 0.7]], 4), tf.MarkovChain([[0.4, 0.6], [0.6, 0.4]], 4))
    yield Case("class of reversible chains", _hide(family), tf.Count(1), fast)
    yield Case("class of reversible chains, histogram", _hide(family), tf.Histogram(), fast)
    region = tf.IntervalMarkovChain([[0.85, 0.05], [0.3, 0.6]], [[0.95, 0.15], [0.4, 0.7]], 4)
    yield Case("region of chains", _hide(region), tf.Count(1), (tf.MarkovChain([[0.9, 0.1], [0.35, 0.65]], 4),))
    interval = tf.BinaryChains(0.3, 4)
    yield Case("interval of binary chains", _hide(interval), tf.Count(1), (interval.worst, fast[1]))


def _records() -> Iterator[Case]:
    rows = [(0, 0), (0, 1), (1, 1), (1, 2)]
    table = tf.JointTable(rows, [Fraction(1, 2), Fraction(1, 6), Fraction(1, 12), Fraction(1, 4)], ["secret", "shown"])
    attribute = tf.attribute("secret", 0, 1)
    yield Case("table, a column", _hide(table, secret=attribute), tf.Identity("shown"))
    yield Case("table, every entry", _hide(table), tf.Sum("shown", grid="1/2"))
    yield Case("table, signed weights", _hide(table), tf.Linear([2, -1]))
    sure = tf.JointTable([(0, 0), (1, 5)], [Fraction(1, 3), Fraction(2, 3)], ["secret", "shown"])
    yield Case("table, a column that tells all", _hide(sure, secret=attribute), tf.Identity("shown"))
    collider = tf.BayesianNetwork([
        ("left", [0, 1], [], [0.7, 0.3]),
        ("right", [0, 1], [], [0.6, 0.4]),
        ("both", [0, 1], ["left", "right"], [[[0.9, 0.1], [0.4, 0.6]], [[0.3, 0.7], [0.2, 0.8]]]),
        ("after", [0, 1], ["both"], [[0.75, 0.25], [0.25, 0.75]]),
    ])  # fmt: skip
    yield Case("network with a collider", _hide(collider), tf.Count(1))
    yield Case("network, one variable", _hide(collider, secret=tf.attribute("left", 0, 1)), tf.Histogram())
    yield Case("network, mean", _hide(collider, secret=tf.every_entry("both")), tf.Mean())
    zeros = tf.BayesianNetwork([
        ("cause", [0, 1], [], [0.5, 0.5]),
        ("effect", [0, 1], ["cause"], [[1.0, 0.0], [0.25, 0.75]]),
        ("alone", [0, 1], [], [0.9, 0.1]),
    ])  # fmt: skip
    yield Case("network with zeros, in two components", _hide(zeros), tf.Count(1))


def _people() -> Iterator[Case]:
    coin = {0: Fraction(3, 4), 1: Fraction(1, 4)}
    for absence, chance in (("unknown", Fraction(1)), ("removed", Fraction(2, 3))):
        users = tf.IndependentUsers([coin] * 4, presence=[chance] * 4, absence=absence)
        yield Case(f"users, absence {absence}", _hide(users), tf.Count(1))
        yield Case(f"users, presence, absence {absence}", _hide(users, secret=tf.presence()), tf.Count(1))
    mixed = tf.IndependentUsers([coin, {0: Fraction(1, 3), 1: Fraction(2, 3)}, coin])
    yield Case("users, signed codes", _hide(mixed), tf.Sum(codes={0: -2, 1: 1}))
    yield Case("users, histogram", _hide(mixed), tf.Histogram())
    cliques = tf.CliqueInfection(
        [("a", "b", "c"), ("d", "e")], lambda size: tf.household_infection(size, outside=0.1, inside=0.3)
    )
    yield Case("cliques, count", _hide(cliques), tf.Count(1))
    yield Case("cliques, histogram", _hide(cliques), tf.Histogram())
    yield Case("cliques, mean", _hide(cliques), tf.Mean())


def _populations() -> Iterator[Case]:
    levels = ["low", "high"]
    net = tf.BayesianNetwork([
        ("region", levels, [], [0.6, 0.4]),
        ("income", levels, ["region"], [[0.7, 0.3], [0.45, 0.55]]),
        ("height", levels, ["region"], [[0.55, 0.45], [0.4, 0.6]]),
    ])  # fmt: skip
    coins = {"low": {0: "0.7", 1: "0.3"}, "high": {0: "0.4", 1: "0.6"}}
    known = tf.Parameters(net, {"income": coins, "height": coins}, 2)
    income = tf.distribution_parameter("income")
    yield Case("parameters, a column", _hide(known, secret=income), tf.Count(1, entries=["height"]))
    yield Case("parameters, rows", _hide(known, secret=income), tf.CountRows({"income": 1, "height": 1}))
    yield Case("parameters, a cross table", _hide(known, secret=income), tf.CrossTable(["income", "height"]))
    yield Case("parameters, mean", _hide(known, secret=tf.distribution_parameter("height")), tf.Mean("height"))
    range_of = tf.Statistic("range", 1, ["height"], lambda values: max(values) - min(values), 1, grid="1/2")
    yield Case("parameters, a statistic", _hide(known, secret=income), range_of)
    two = tf.JointQuery([tf.Count(1, entries=["income"]), tf.Mean("height")])
    yield Case("parameters, two queries", _hide(known, secret=income), two)
    yield Case("parameters, histogram", _hide(known, secret=income), tf.Histogram(entries=["income"]))
    tells = tf.Parameters(net, {"height": {"low": {0: 1}, "high": {1: 1}}}, 2)
    yield Case("parameters, a column that tells all", _hide(tells, secret=tf.distribution_parameter("height")),
               tf.Sum("height"))  # fmt: skip
    rows = [("a", "a"), ("a", "b"), ("b", "a"), ("b", "c")]
    prior = tf.JointTable(rows, [Fraction(1, 2), Fraction(1, 4), Fraction(1, 12), Fraction(1, 6)], ["x", "y"])
    given = {"a": {0: "1/4", 1: "1/2", 5: "1/4"}, "b": {0: 1}, "c": {1: "1/3", 5: "2/3"}}
    listed = tf.Parameters(prior, {"y": given}, 3)
    yield Case("parameters listed in a table", _hide(listed, secret=tf.distribution_parameter("x")), tf.Sum("y"))


def _counted_parameters() -> Iterator[Case]:
    coins = {"low": {0: "0.9", 1: "0.1"}, "high": {0: "0.2", 1: "0.8"}}
    levels = [("low", "low"), ("low", "high"), ("high", "low"), ("high", "high")]
    names = ["region", "income"]
    counted = tf.CountedParameters(levels, [520, 480, 480, 520], names, {"income": coins}, 2, source="counted towns")
    priors = [tf.JointTable(levels, list(map(Fraction, shares)), names) for shares in (
        ("0.26", "0.24", "0.24", "0.26"), ("0.27", "0.23", "0.23", "0.27")
    )]  # fmt: skip
    region = _hide(counted, secret=tf.distribution_parameter("region"))
    likely = tuple(tf.Parameters(prior, {"income": coins}, 2) for prior in priors)
    yield Case("counted parameters", region, tf.Sum("income"), likely)


def _columns() -> Iterator[Case]:
    rows = [("a", 0), ("a", 1), ("b", 0), ("b", 1), ("b", 2)]
    masses = [Fraction(1, 3), Fraction(1, 6), Fraction(1, 8), Fraction(1, 4), Fraction(1, 8)]
    people = tf.Records(tf.JointTable(rows, masses, ["group", "ill"]), 3)
    share = tf.dataset_property("group", "share", of="b")
    yield Case("records, share of a group", _hide(people, secret=share), tf.Sum("ill"))
    yield Case("records, counts of rows", _hide(people, secret=share), tf.CountRows({"group": "a", "ill": 1}))
    few = tf.Records(tf.JointTable(rows[:4], [Fraction(1, 3), Fraction(1, 6), Fraction(1, 8), Fraction(3, 8)],
                                   ["group", "ill"]), 2)  # fmt: skip
    yield Case("records, a cross table", _hide(few, secret=share), tf.CrossTable(["group", "ill"]))
    near = tf.dataset_property("ill", "sum", max_difference=1)
    yield Case("records, near sums", _hide(people, secret=near), tf.Count("b", entries=["group"]))
    sets = tf.dataset_property("ill", "mean", sets=[(None, 1), (1, None)])
    yield Case("records, sets of means", _hide(people, secret=sets), tf.Count("a", entries=["group"]))
    yield Case("records, what is hidden is shown", _hide(people, secret=tf.dataset_property("ill", "mean")),
               tf.Mean("ill"))  # fmt: skip
    yield Case("records, a column of one record", _hide(people, secret=tf.every_entry("group")), tf.Sum("ill"))


def _normals() -> Iterator[Case]:
    body = tf.MultivariateNormal([170, 70], [[49, 40], [40, 144]], names=["height", "weight"], records=4)
    near = tf.dataset_property("weight", "mean", max_difference=2)
    yield Case("normal records, near means", _hide(body, secret=near), tf.Mean("height"))
    yield Case("normal records, what is hidden is shown", _hide(body, secret=near), tf.Mean("weight"))
    halves = tf.dataset_property("weight", "mean", sets=[(None, 70), (70, None)])
    yield Case("normal records, half-lines", _hide(body, secret=halves), tf.Mean("height"))
    yield Case("normal records, a column of one record", _hide(body, secret=tf.every_entry("weight", 20)),
               tf.Sum("height"))  # fmt: skip
    sample = {"height": [160, 165, 171, 174, 180, 183], "weight": [61, 60, 75, 68, 79, 92]}
    fitted = tf.MultivariateNormal.fit(sample, source="a public survey", records=4, confidence=0.9)
    yield Case("normal records, every law that a sample supports", _hide(fitted, secret=near), tf.Mean("height"))
    mean = tf.distribution_parameter("height", interval=(168, 171))
    yield Case("normal records, a parameter", _hide(body, secret=mean), tf.Mean("height"))
    series = tf.AutoregressiveNormal("0.5", 1, length=3)
    yield Case("process, a series", _hide(series, secret=tf.every_entry(max_difference=1)), tf.Sum())
    one = tf.MultivariateNormal([0, 0], [[4, 1], [1, 1]], names=["x", "y"], records=1)
    yield Case("process, one record", _hide(one, secret=tf.every_entry("x", 1)), tf.Sum("y"))


def _densities() -> Iterator[Case]:
    income = tf.dataset_property("income", "mean")
    nearly = {a: tf.NormalMixture([0.5, 0.5], [2 * a, 2 * a + 1], [2, 2]) for a in (0, 1)}
    yield Case("densities, nearly normal", _hide(tf.Density("income", "mean", nearly), secret=income), tf.Identity())
    sums = {a: Bates(4, a, a + 4) for a in (0, 1)}
    rate = tf.distribution_parameter("rate", values=[0, 1])
    yield Case("densities, uniform sums", _hide(tf.Density("rate", "parameter", sums), secret=rate),
               tf.Identity(grid="0.01"))  # fmt: skip


def _rows() -> Iterator[Case]:
    which = tf.population_membership()
    laws: dict[str, Any] = {"home": {"a": "0.6", "b": "0.3", "c": "0.1"}, "out": {"a": "0.2", "b": "0.3", "c": "0.5"}}
    one, several = tf.FromPopulations(laws), tf.FromPopulations(laws, rows=2, independent=True)
    yield Case("a row of a population", _hide(one, secret=which), tf.LocalValue())
    yield Case("two rows of a population", _hide(several, secret=which), tf.LocalValue())
    by_distance = tf.population_membership({"home": {"out": 2}})
    yield Case("a row within a radius", _hide(one, secret=which), tf.LocalValue(radius=1))
    yield Case("two rows of a population, by distance", _hide(several, secret=by_distance), tf.LocalValue())
    sharp = tf.FromPopulations({"in": {"a": "0.95", "b": "0.05"}, "out": {"a": "0.05", "b": "0.95"}})
    yield Case("a row among dummies", _hide(sharp, secret=which), tf.LocalValue(dummies=1))
    square = [(0, 0), (1, 0), (0, 2), (1, 2)]
    masses = {"west": "4/10 1/10 4/10 1/10", "east": "1/10 4/10 1/10 4/10", "any": "1/4 1/4 1/4 1/4"}
    places = {name: dict(zip(square, written.split(), strict=True)) for name, written in masses.items()}
    yield Case("a place", _hide(tf.FromPopulations(places, scales=(2, 1), measure="m"), secret=which), tf.LocalValue())


def _laws() -> Iterator[Case]:
    flu = Pmf([0, 1, 2, 3], [Fraction(1, 2), *[Fraction(1, 6)] * 3])
    ill = Pmf([1, 2, 3, 4], [Fraction(1, 4)] * 4)
    yield Case("two laws", tf.distribution_pair(flu, ill), tf.Identity())
    yield Case("two laws off any grid", tf.distribution_pair(Pmf([0.25, 1.5], [0.5, 0.5]), Pmf([0.4, 2], [0.3, 0.7])),
               tf.Identity(grid="1/2"))  # fmt: skip
    yield Case("two laws that are one", tf.distribution_pair(flu, flu), tf.Identity())


def _policies() -> Iterator[Case]:
    people, codes = Domain.of(3, ["well", "mild", "ill"]), {"well": "1/2", "mild": 1, "ill": -2}
    hidden = Policy.of(none_of("ill"))
    yield Case("policy, count of what is hidden", Asymmetric(hidden, people), tf.Count("ill"))
    yield Case("policy, count of what it may become", Asymmetric(hidden, people), tf.Count("well"))
    yield Case("policy, histogram", Asymmetric(hidden, people), tf.Histogram())
    worse = Policy.of(none_of("ill"), none_of("mild", "ill"))
    yield Case("policy of two predicates, signed sum", Asymmetric(worse, people), tf.Sum(codes=codes))
    yield Case("policy the other way", Asymmetric(Policy.of(any_of("ill")), people), tf.Count("ill"))
    yield Case("policy, weights", Asymmetric(hidden, people), tf.Linear([1, -2, 0], codes={**codes, "well": 0}))
    yield Case("policy that allows every move", Asymmetric(Policy(), people), tf.Count("ill"))
    yield Case("policy, a threshold", Asymmetric(hidden, people), tf.AtMost(tf.Count("ill"), 1))
    for most in (1, 2):
        places = Visits.of(["bar", "shop"], most)
        yield Case(f"visits of {most} places", Asymmetric(visits(), places), tf.Visitors())
        yield Case(f"visits of {most} places, one hidden", Asymmetric(visits(["bar"]), places), tf.Visitors())
    yield Case("visits of one place", Asymmetric(visits(), Visits.of(["bar", "shop", "gym"])), tf.Visitors(["gym"]))
