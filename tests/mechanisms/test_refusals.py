"""What each mechanism refuses, and what its reason names."""

from fractions import Fraction

import pytest

import takifugu as tf
from takifugu.analysis.bounds import Refusal
from takifugu.analysis.problem import Problem
from takifugu.calibration.registry import REGISTRY
from takifugu.mechanisms.wasserstein import MECHANISM as WASSERSTEIN
from takifugu.model.frameworks import Framework
from takifugu.model.queries import Query
from takifugu.numbers import Bates, Pmf


def hidden(belief: object) -> Framework:
    return tf.Pufferfish(tf.every_entry(), belief)  # type: ignore[arg-type]


def density(given: dict[int, object]) -> Framework:
    return tf.Pufferfish(tf.dataset_property("income", "mean"), tf.Density("income", "mean", given))  # type: ignore[arg-type]


CHAIN = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 4)
THREE = hidden(tf.MarkovChain([[0.8, 0.1, 0.1], [0.4, 0.5, 0.1], [0.2, 0.2, 0.6]], 3))
RUNS = tf.Pufferfish(tf.every_run(2), CHAIN)
TWO_LAWS = tf.distribution_pair(Pmf([0, 1], [0.5, 0.5]), Pmf([2, 3], [0.5, 0.5]))
COPIES = hidden(tf.JointTable([(0, 0), (1, 1)], [0.5, 0.5]))
CLIQUES = hidden(tf.CliqueInfection([[1, 2, 3], [4, 5]], {2: [0.5, 0.25, 0.25], 3: [0.25] * 4}))
CLASS = tf.ReversibleChains(0.2, 0.4, 30)
REGION = tf.IntervalMarkovChain([[0.6, 0.1], [0.2, 0.5]], [[0.9, 0.4], [0.5, 0.8]], 30)
ONE_WAY = tf.MarkovChain([[0.2, 0.5, 0.3], [0.3, 0.2, 0.5], [0.5, 0.3, 0.2]], 9)
UNEQUAL = density({0: tf.Normal(0, 1), 1: tf.Normal(1, 2)})
SUMS = density({a: Bates(6, a, a + 4) for a in (0, 1)})
NORMAL = tf.Pufferfish(
    tf.dataset_property("x", "mean", max_difference=3),
    tf.MultivariateNormal([0, 0], [[1, "0.5"], ["0.5", 1]], ["x", "y"], 100),
)
COIN = {"few": {0: "0.9", 1: "0.1"}, "many": {0: "0.6", 1: "0.4"}}
LEVELS = [("few", "few"), ("few", "many"), ("many", "few"), ("many", "many")]
TOWNS = tf.Pufferfish(
    tf.distribution_parameter("s"),
    tf.CountedParameters(LEVELS, [30, 20, 20, 30], ["s", "c"], {"c": COIN}, 2, source="towns"),
)
COUNT, HISTOGRAM, IDENTITY, MEAN = tf.Count(1), tf.Histogram(), tf.Identity(), tf.Mean("y")

LAPLACE = ["wasserstein", "laplace-exact", "kantorovich-relaxed"]
BY_RULE = ["gaussian-analytic", "kantorovich-gaussian-a", "kantorovich-gaussian-b"]
CHANNELS = ["optimal", "kantorovich-exponential"]
QUILTS = ["quilt-exact", "influence-gaussian"]
ATTRIBUTE = ["attribute-gaussian", "attribute-gaussian-exact"]

ROWS: list[tuple[list[str], Framework, Query, object, tuple[str, ...]]] = [
    # Answers of several cells, and of many values.
    (LAPLACE, THREE, HISTOGRAM, 0, ("3 cells", "exclusive or", "mechanism=")),
    (["gaussian-exact", *BY_RULE], hidden(CHAIN), HISTOGRAM, "0.01", ("2 cells",)),
    (CHANNELS, hidden(tf.IndependentPieces(CHAIN, [2, 2])), HISTOGRAM, 0, ("2 cells",)),
    (CHANNELS[:1], hidden(CHAIN.with_length(100)), COUNT, 0, ("at most 1,000,000",)),
    (CHANNELS, hidden(tf.IndependentPieces(CHAIN, [2000, 2000])), COUNT, 0, ("up to 4,001 values",)),
    (CHANNELS, hidden(tf.IndependentUsers.groups([(10**6, {0: 0.5, 1: 0.5})])), COUNT, 0, ("up to 1,000,001 values",)),
    (["quilt-exact"], hidden(CHAIN.with_length(2)), tf.Linear([2**53, 1]), 0, ("coarser grid",)),
    # Two laws.
    (LAPLACE[:2], TWO_LAWS, COUNT, 0, ("publish Identity()",)),
    (["record-dp", *QUILTS[:1]], TWO_LAWS, IDENTITY, 0, ("no values",)),
    (QUILTS[1:], TWO_LAWS, IDENTITY, "0.01", ("no values",)),
    # Beliefs of another kind.
    (["wasserstein"], hidden(CLASS), COUNT, 0, ("influence",)),
    (["quilt-exact"], hidden(CLASS), COUNT, 0, ("quilt-approx",)),
    (["wasserstein", "quilt-exact", "quilt-approx"], hidden(REGION), COUNT, 0, ("influence",)),
    (["wasserstein"], hidden(tf.BinaryChains(0.1, 30)), COUNT, 0, ("influence",)),
    (["quilt-exact"], hidden(tf.BinaryChains(0.1, 30)), COUNT, 0, ("quilt-approx",)),
    (["quilt-exact", "quilt-approx"], CLIQUES, COUNT, 0, ("everybody is close to everybody", 'mechanism="group-dp"')),
    (["quilt-exact"], COPIES, COUNT, 0, ('use mechanism="wasserstein"',)),
    (["quilt-approx"], COPIES, COUNT, 0, ("Markov chains only",)),
    (["quilt-approx"], hidden(ONE_WAY), COUNT, 0, ("not reversible",)),
    (["quilt-approx"], hidden(tf.MarkovChain([[0, 1], [1, 0]], 9)), COUNT, 0, ("not irreducible and aperiodic",)),
    (CHANNELS, hidden(tf.IndependentPieces(tf.MarkovChain(CHAIN.matrix, 4, "any"), [3, 3])), COUNT, 0, ("state it",)),
    (CHANNELS, hidden(tf.IndependentPieces(CLASS, [3, 3])), COUNT, 0, ("a class of chains",)),
    (ATTRIBUTE, hidden(CHAIN), COUNT, "0.01", ("not normal",)),
    (["attribute-gaussian-approx"], hidden(CHAIN), COUNT, "0.01", ("finitely many values",)),
    (["wasserstein", *BY_RULE], UNEQUAL, IDENTITY, "0.00001", ("deviations 1 and 2", "gaussian-exact")),
    (["attribute-quilt"], hidden(CHAIN), COUNT, 0, ("requires the belief Parameters",)),
    (["wasserstein", "laplace-exact"], TOWNS, tf.Sum("c"), 0, ('use mechanism="attribute-quilt"',)),
    # Runs of values.
    ([*LAPLACE, *CHANNELS], RUNS, COUNT, 0, ("secrets of single values",)),
    (["wasserstein-delta", "gaussian-exact", *BY_RULE], RUNS, COUNT, "0.01", ("secrets of single values",)),
    # A delta of nothing, or of too little.
    (["gaussian-exact", *BY_RULE], TWO_LAWS, IDENTITY, 0, ("give a delta above 0",)),
    (["wasserstein-delta"], TWO_LAWS, IDENTITY, 0, ("delta is 0", 'mechanism="wasserstein"')),
    (["influence-gaussian"], hidden(CHAIN), COUNT, 0, ("delta is 0",)),
    (ATTRIBUTE, NORMAL, MEAN, 0, ("delta is 0",)),
    (["attribute-gaussian-approx"], SUMS, IDENTITY, 0, ("delta is 0",)),
    (["attribute-gaussian-approx"], SUMS, IDENTITY, "1e-9", ("no eta",)),
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("mechanism", "framework", "query", "delta", "words"), [
    (mechanism, *row) for mechanisms, *row in ROWS for mechanism in mechanisms
])  # fmt: skip
def test_the_reason_names_what_is_wrong(
    mechanism: str, framework: Framework, query: Query, delta: object, words: tuple[str, ...]
) -> None:
    line = next(line for line in REGISTRY if line.name == mechanism)
    refusal = line.load().bound(Problem(framework, query, Fraction(1), Fraction(delta)))  # type: ignore[arg-type]
    assert isinstance(refusal, Refusal)
    assert all(word in refusal.reason for word in words), refusal.reason


@pytest.mark.parametrize(("framework", "query"), [(THREE, HISTOGRAM), (hidden(CLASS), COUNT)])
def test_what_is_refused_costs_nothing(framework: Framework, query: Query) -> None:
    assert WASSERSTEIN.cost(Problem(framework, query, Fraction(1))).operations == 0
