"""Laws of the whole answer under independent components: against joint tables, however the belief is written."""

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from tests.support.pair_cases import bound_by

import takifugu as tf
from takifugu.analysis.problem import Problem
from takifugu.mechanisms.common import shares
from takifugu.mechanisms.common.finite_outputs import finite_problem
from takifugu.mechanisms.common.shares import ALONE, is_smoothed, stands_alone
from takifugu.mechanisms.laplace_exact import MECHANISM as LAPLACE
from takifugu.mechanisms.optimal import MECHANISM as OPTIMAL
from takifugu.mechanisms.wasserstein import MECHANISM as WASSERSTEIN
from takifugu.model.beliefs import Belief
from takifugu.numbers import Pmf

COUNT = tf.Count(1)
HALF, THIRD, QUARTER = Fraction(1, 2), Fraction(1, 3), Fraction(1, 4)
CHAIN = tf.MarkovChain([[0.75, 0.25], [0.5, 0.5]], 4, initial=[0.25, 0.75])
LATE = tf.MarkovChain([[0.75, 0.25], [0.5, 0.5]], 4, initial=[1.0, 0.0])
TABLES: dict[str, Any] = {"a": [0.25, 0.75], "b": [[0.5, 0.5], [0.125, 0.875]], "c": [0.5, 0.25, 0.25]}
NETWORK = tf.BayesianNetwork(
    [("a", [0, 1], [], TABLES["a"]), ("b", [0, 1], ["a"], TABLES["b"]), ("c", [0, 1, 2], [], TABLES["c"])]
)
USERS = tf.IndependentUsers([{0: QUARTER, 1: 3 * QUARTER}, {0: THIRD, 2: 2 * THIRD}, {0: QUARTER, 1: 3 * QUARTER}])
INFECTED: dict[int, list[Any]] = {1: [HALF, HALF], 2: [HALF, QUARTER, QUARTER], 3: [HALF, 0, QUARTER, QUARTER]}
CLIQUES = tf.CliqueInfection([["ann", "bob", "cem"], ["dee", "eva"], ["fay"]], INFECTED)


def chain_mass(chain: Any, lengths: list[int], values: tuple[int, ...]) -> Fraction:
    """P(values) for independent pieces, from the definition."""
    mass, at = Fraction(1), 0
    for length in lengths:
        piece = values[at : at + length]
        at += length
        mass *= Fraction(chain.initial[piece[0]])
        for x, y in itertools.pairwise(piece):
            mass *= Fraction(chain.matrix[x][y])
    return mass


def clique_mass(values: tuple[int, ...]) -> Fraction:
    mass = Fraction(1)
    for people in (values[:3], values[3:5], values[5:]):
        mass *= Fraction(INFECTED[len(people)][sum(people)]) / math.comb(len(people), sum(people))
    return mass


def network_mass(values: tuple[int, ...]) -> Fraction:
    a, b, c = values
    return Fraction(TABLES["a"][a] * TABLES["b"][a][b] * TABLES["c"][c])


def user_mass(values: tuple[int, ...]) -> Fraction:
    return (QUARTER, 3 * QUARTER)[values[0]] * {0: THIRD, 2: 2 * THIRD}[values[1]] * (QUARTER, 3 * QUARTER)[values[2]]


CASES: list[tuple[Belief, list[tuple[int, ...]], Callable[[tuple[int, ...]], Fraction]]] = [
    *(
        (tf.IndependentPieces(chain, lengths), list(itertools.product((0, 1), repeat=sum(lengths))),
         partial(chain_mass, chain, lengths))
        for chain, lengths in ((CHAIN, [2, 1, 2, 3]), (LATE, [3, 1, 2]))
    ),
    (USERS, list(itertools.product((0, 1), (0, 2), (0, 1))), user_mass),
    (CLIQUES, list(itertools.product((0, 1), repeat=6)), clique_mass),
    (NETWORK, list(itertools.product((0, 1), (0, 1), (0, 1, 2))), network_mass),
]  # fmt: skip


def queries(belief: Belief) -> list[tuple[Any, Callable[[tuple[int, ...]], int]]]:
    listed: list[tuple[Any, Callable[[tuple[int, ...]], int]]] = [(tf.Count(1), lambda v: v.count(1))]
    if not isinstance(belief, tf.BayesianNetwork):
        listed.append((tf.Sum(), sum))
    return listed


def pairs_of_laws(belief: Any, states: Any, mass: Any, answer: Any) -> set[frozenset[Any]]:
    """The unordered pairs of laws of the answer given two values of an entry, from the list of all states."""
    pairs = set()
    for entry in range(belief.size):
        given: dict[Any, dict[int, Fraction]] = {}
        for state in states:
            if mass(state):
                law = given.setdefault(state[entry], {})
                law[answer(state)] = law.get(answer(state), Fraction(0)) + mass(state)
        laws = [tuple(sorted((x, m / sum(law.values())) for x, m in law.items())) for law in given.values()]
        pairs |= {frozenset(pair) for pair in itertools.combinations(laws, 2)}
    return pairs


@pytest.mark.mutants
@pytest.mark.parametrize("number", range(len(CASES)))
def test_laws_are_those_of_the_joint_table(number: int) -> None:
    belief, states, mass = CASES[number]
    for query, answer in queries(belief):
        framework = tf.Pufferfish(tf.every_entry(), belief)
        finite = finite_problem(Problem(framework, query, Fraction(1)))
        expected = pairs_of_laws(belief, states, mass, answer)
        laws = [
            tuple((int(x), Fraction(m, sum(row))) for x, m in zip(finite.inputs, row, strict=True) if m)
            for row in finite.laws
        ]
        margins = {frozenset((laws[side.left], laws[side.right])): side.margin for side in finite.sides}
        assert len(margins) == len({pair for pair in expected if len(pair) == 2})
        for pair, margin in margins.items():
            assert margin < 1e-11
            assert any(near(pair, other, margin) for other in expected), (pair, margin)


def near(pair: frozenset[Any], other: frozenset[Any], margin: float) -> bool:
    """Whether two pairs of laws are alike, each mass up to a factor 1 +- margin."""
    if len(pair) != len(other):
        return False
    for order in itertools.permutations(pair):
        rows = [
            [x for x, _ in p] == [x for x, _ in q]
            and all(abs(m - n) <= Fraction(margin) * n for (_, m), (_, n) in zip(p, q, strict=True))
            for p, q in zip(order, other, strict=True)
        ]
        if all(rows):
            return True
    return False


def test_several_beliefs_bind_one_noise_each_by_its_own_components() -> None:
    framework = tf.Pufferfish(tf.every_entry(), [tf.IndependentPieces(CHAIN, [2, 2]), LATE.with_length(4)])
    noise = bound_by(OPTIMAL, framework, COUNT).randomiser
    for belief in framework.beliefs:
        assert tf.exact_loss(tf.Pufferfish(tf.every_entry(), belief), COUNT, noise).upper <= 1 + 1e-12
    pieces = [tf.IndependentPieces(tf.MarkovChain(rows, 2), [2, 2]) for rows in (BIASED, [[0.4, 0.6], [0.2, 0.8]])]
    smoothed = tf.Pufferfish(tf.every_entry(), pieces)
    made = tf.calibrate(smoothed, COUNT, 0.5, mechanism="laplace-exact", allow_zero_noise=True)
    assert tf.exact_loss(made).loss <= 0.5 * (1 + 1e-9)


def test_the_bound_on_the_number_of_answers() -> None:
    for belief, states, mass in CASES:
        for query, answer in queries(belief):
            reached = {answer(state) for state in states if mass(state)}
            assert len(reached) <= shares.most_answers(belief, query.resolve(belief))
    wide = tf.IndependentUsers([{0: 0.5, 10_000: 0.5}, {0: 0.5, 10_007: 0.5}])
    assert shares.most_answers(wide, tf.Sum().resolve(wide)) == 4.0


def test_a_certain_entry_that_is_not_read_adds_nothing() -> None:
    """Alphabets in two orders: a table for each, and none for an entry that the query does not read."""
    net = tf.BayesianNetwork([("sure", [1, 0], [], [0.0, 1.0]), ("coin", [0, 1], [], [0.5, 0.5])])
    query = tf.Sum("coin", codes={0: 0, 1: 100})
    sure = net.component(0)
    assert shares.share_law(sure, query.resolve(net).restrict(slice(0, 1))) == (Pmf([0], [1]), 0.0)
    both = [
        tf.calibrate(tf.Pufferfish(tf.attribute("coin", 0, 1), net), query, 1, mechanism=m)
        for m in ("optimal", "group-dp")
    ]
    assert both[0].expected_error <= both[1].expected_error


def test_the_law_of_a_share() -> None:
    fixed = tf.MarkovChain([[0.0, 1.0], [0.0, 1.0]], 3, initial=[1.0, 0.0])
    assert shares.share_law(fixed, tf.Count(1).resolve(fixed)) == (Pmf([2], [1]), 0.0)
    law, error = shares.share_law(LATE, tf.Count(1).resolve(LATE))
    table: dict[int, Fraction] = {}
    for state in itertools.product((0, 1), repeat=4):
        table[sum(state)] = table.get(sum(state), Fraction(0)) + chain_mass(LATE, [4], state)
    assert np.allclose(law.probabilities, [float(table[int(x)]) for x in law.values], rtol=error, atol=0)
    assert error < 1e-12


# What independent components add smooths the law of the answer: the same law, however its belief is written.

ROW = [0.7, 0.3]
BIASED = [[0.9, 0.1], [0.3, 0.7]]


def one_law(count: int) -> dict[str, Any]:
    """Independent bits of one law, five times."""
    return {
        "chain": tf.MarkovChain([ROW, ROW], count),
        "pieces": tf.IndependentPieces(tf.MarkovChain([ROW, ROW], 1), [1] * count),
        "network": tf.BayesianNetwork([(f"x{i}", [0, 1], [], ROW) for i in range(count)]),
        "cliques": tf.CliqueInfection([[f"x{i}"] for i in range(count)], {1: ROW}),
        "users": tf.IndependentUsers([{0: 0.7, 1: 0.3}] * count),
    }


def scale(belief: Belief, query: Any, epsilon: float, mechanism: str, delta: float = 0) -> float:
    framework = tf.Pufferfish(tf.every_entry(), belief)
    return float(tf.calibrate(framework, query, epsilon, delta, mechanism, allow_zero_noise=True).scale)


@pytest.mark.sampled(11)
@pytest.mark.parametrize("mechanism", ["laplace-exact", "wasserstein", "gaussian-exact", "kantorovich-relaxed"])
@pytest.mark.parametrize("count", [2, 12])
def test_one_law_needs_one_noise_however_it_is_written(mechanism: str, count: int) -> None:
    delta = 1e-3 if mechanism == "gaussian-exact" else 0
    scales = [scale(belief, COUNT, 0.5, mechanism, delta) for belief in one_law(count).values()]
    assert scales == pytest.approx([scales[0]] * len(scales), rel=1e-8)


@pytest.mark.sampled(11)
@pytest.mark.parametrize("lengths", [(1, 2), (2, 2, 1), (3, 1)])
@pytest.mark.parametrize("mechanism", ["laplace-exact", "wasserstein", "kantorovich-relaxed"])
def test_the_noise_is_enough_and_no_more_than_before(mechanism: str, lengths: tuple[int, ...]) -> None:
    belief = tf.IndependentPieces(tf.MarkovChain(BIASED, max(lengths)), lengths)
    framework = tf.Pufferfish(tf.every_entry(), belief)
    for query in (tf.Count(1), tf.Linear([Fraction(i + 1, 2) for i in range(sum(lengths))])):
        made = tf.calibrate(framework, query, 0.7, mechanism=mechanism, allow_zero_noise=True)
        audit = tf.exact_loss(made)
        assert audit.loss <= 0.7 * (1 + 1e-9)
        if mechanism == "laplace-exact" and made.scale:
            assert audit.loss > 0.69  # smallest for the whole answer: no room is left
        alone = []
        for run in belief.components():
            part = tf.Linear(query.weights[run.start : run.stop]) if isinstance(query, tf.Linear) else query
            alone.append(scale(tf.MarkovChain(BIASED, len(run)), part, 0.7, mechanism))
        assert made.scale <= max(alone) * (1 + 1e-9)


def test_where_it_is_not_affordable_the_witness_says_so() -> None:
    long, any_start, whole = (
        Problem(tf.Pufferfish(tf.every_entry(), belief), COUNT, Fraction(1))
        for belief in (
            tf.IndependentPieces(tf.MarkovChain(BIASED, 150), [150, 150]),
            tf.IndependentPieces(tf.MarkovChain(BIASED, 3, initial="any"), [3, 3]), tf.MarkovChain(BIASED, 9),
        )
    )  # fmt: skip
    for problem, alone in ((long, True), (any_start, True), (whole, False)):
        bound: Any = LAPLACE.bound(problem)
        assert bound.witness.detail.endswith(ALONE) == alone
        assert not is_smoothed(problem)
        assert stands_alone(problem) == alone
    assert np.isfinite(float(WASSERSTEIN.bound(any_start).randomiser.scale))  # type: ignore[union-attr]
