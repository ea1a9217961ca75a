"""Contact graphs: cliques from edges, laws against enumeration, the flu example of Song17 §3, and the schools."""

import csv
import gzip
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.research import research_file

import takifugu as tf
from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import DiscreteLaplace
from takifugu.core.errors import InputError
from takifugu.mechanisms.common.answer_families import located_families
from takifugu.model.beliefs import from_dict
from takifugu.model.beliefs.contacts import Clique
from takifugu.numbers import Pmf, w_infinity


def as_table(number: list[Fraction]) -> tf.JointTable:
    """Write one clique out: every set of n ill people has an equal share of P(N = n)."""
    size = len(number) - 1
    rows = list(itertools.product((0, 1), repeat=size))
    return tf.JointTable(rows, [number[sum(row)] / math.comb(size, sum(row)) for row in rows])


def scale(belief: tf.CliqueInfection | tf.JointTable, query: object, epsilon: float, mechanism: str) -> float:
    framework = tf.Pufferfish(tf.every_entry(), belief)
    return tf.calibrate(framework, query, epsilon, mechanism=mechanism, allow_zero_noise=True).scale


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(0, 9), min_size=2, max_size=6).filter(any),
    st.lists(st.integers(0, 3), min_size=5, max_size=5),
    st.sampled_from([0.5, 2.0]),
)
def test_a_clique_is_the_table_of_all_its_states(masses: list[int], weights: list[int], epsilon: float) -> None:
    number = [Fraction(m, sum(masses)) for m in masses]
    size = len(number) - 1
    clique, table = tf.CliqueInfection([range(size)], {size: number}), as_table(number)
    if not all(clique.possible(0)):
        return
    for query in (tf.Count(1), tf.Linear(weights[:size], grid=1)):
        for mechanism in ("wasserstein", "laplace-exact", "group-dp"):
            least_scale = scale(clique, query, epsilon, mechanism)
            assert least_scale == pytest.approx(scale(table, query, epsilon, mechanism), rel=1e-9)
        calibration = tf.calibrate(
            tf.Pufferfish(tf.every_entry(), clique), query, epsilon, mechanism="laplace-exact", allow_zero_noise=True
        )
        assert tf.exact_loss(calibration).upper <= epsilon * (1 + 1e-9)


def test_the_flu_example_for_one_person() -> None:
    # Song17 §3: P(N | X = 0) = 1/2, 1/6, 1/6, 1/6 on 0..3 and P(N | X = 1) = 1/4 on 1..4: W = 2, group 4.
    well, ill = [Fraction(1, 2), *[Fraction(1, 6)] * 3], [Fraction(1, 4)] * 4
    rows = list(itertools.product((0, 1), repeat=4))
    masses = [(ill if x[0] else well)[sum(x[1:])] / 2 / math.comb(3, sum(x[1:])) for x in rows]
    flu = tf.Pufferfish(tf.entry(0, 0, 1), tf.JointTable(rows, masses))
    (located,) = located_families(Problem(flu, tf.Count(1), Fraction(1)))
    laws = [dict(located.family.hulls[v][0].items()) for v in (0, 1)]
    assert laws == [dict(enumerate(well)), dict(enumerate(ill, 1))]
    assert w_infinity(*(located.family.hulls[v][0] for v in (0, 1))) == 2
    assert tf.calibrate(flu, tf.Count(1), 1, mechanism="wasserstein").scale == 2
    assert tf.calibrate(flu, tf.Count(1), 1, mechanism="group-dp").scale == 4


def test_cliques_of_four_with_the_flu_laws_given_ill() -> None:
    # The only such law with P(N | X = 1) uniform on 1..4 and P(N = 0 | X = 0) = 1/2.
    raw = [Fraction(0), *(Fraction(1, n) for n in (1, 2, 3, 4))]
    raw[0] = sum(raw[n] * (4 - n) for n in (1, 2, 3)) / 4
    number = [p / sum(raw) for p in raw]
    belief = tf.CliqueInfection([range(4)], {4: number})
    framework = tf.Pufferfish(tf.every_entry(), belief)
    (located, *_) = located_families(Problem(framework, tf.Count(1), Fraction(1)))
    assert list(located.family.hulls[1][0].items()) == [(n, Fraction(1, 4)) for n in (1, 2, 3, 4)]
    assert dict(located.family.hulls[0][0].items())[0] == Fraction(1, 2)
    assert scale(belief, tf.Count(1), 1, "wasserstein") < scale(belief, tf.Count(1), 1, "group-dp") == 4


def test_cliques_are_independent_components() -> None:
    law = {1: [0.9, 0.1], 2: [0.7, 0.2, 0.1], 3: [0.5, 0.2, 0.2, 0.1]}
    belief = tf.CliqueInfection([["a", "b", "c"], ["d"], ["e", "f"]], law, ["well", "ill"])
    assert belief.components() == (range(3), range(3, 4), range(4, 6))
    assert belief.names == ("a", "b", "c", "d", "e", "f")
    assert scale(belief, tf.Count("ill"), 1, "group-dp") == 3
    alone = tf.CliqueInfection([["a", "b", "c"]], law, ["well", "ill"])
    for mechanism in ("wasserstein", "laplace-exact"):
        assert scale(belief, tf.Count("ill"), 1, mechanism) <= scale(alone, tf.Count("ill"), 1, mechanism)
    calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), belief), tf.Count("ill"), 1)
    assert tf.exact_loss(calibration).upper <= 1 + 1e-9
    halved = DiscreteLaplace(calibration.randomiser.scale / 2, Fraction(1))
    assert tf.exact_loss(calibration.framework, calibration.query, halved).lower > 1


def test_it_survives_json() -> None:
    exact = tf.CliqueInfection([[1, 2], [3]], {1: [Fraction(1, 3), Fraction(2, 3)], 2: [0.5, 0.25, 0.25]}, source="s")
    back = from_dict(exact.to_dict())
    assert back.to_dict() == exact.to_dict()
    assert back.numbers == exact.numbers
    assert Clique(2, back.numbers[2]).possible(0) == (True, True)


def test_the_household_model_by_simulation_of_two_and_by_its_sum() -> None:
    for size in range(1, 8):
        assert sum(tf.household_infection(size, 0.1, 0.3)) == pytest.approx(1)
    p, q = 0.2, 0.4
    two = [(1 - p) ** 2, 2 * p * (1 - p) * (1 - q), p * p + 2 * p * (1 - p) * q]
    assert tf.household_infection(2, p, q) == pytest.approx(two)
    assert tf.household_infection(5, 0.3, 0.0) == pytest.approx(
        [math.comb(5, n) * 0.3**n * 0.7 ** (5 - n) for n in range(6)]
    )


def largest_clique(people: list[int], edges: set[frozenset[int]]) -> tuple[int, ...]:
    for size in range(len(people), 0, -1):
        for group in itertools.combinations(people, size):
            if all(frozenset(pair) in edges for pair in itertools.combinations(group, 2)):
                return group
    return ()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 9), st.sampled_from([0.2, 0.5, 0.8]))
def test_the_cliques_are_the_greedy_ones(seed: int, size: int, density: float) -> None:
    rng = np.random.default_rng(seed)
    pairs = [(a, b) for a, b in itertools.combinations(range(size), 2) if rng.random() < density]
    left, edges, expected = list(range(size)), {frozenset(p) for p in pairs}, []
    while left:
        group = largest_clique(left, edges)
        expected.append(group)
        left = [v for v in left if v not in group]
    rng.shuffle(pairs)
    assert tf.cliques_of([(b, a) for a, b in pairs], range(size)) == expected


@pytest.mark.parametrize(
    ("school", "seconds", "largest", "about"), [("primary", 300, [12, 11, 9], 70), ("high", 300, [7, 7, 6], 131)]
)
def test_schools(school: str, seconds: int, largest: list[int], about: int) -> None:
    file = research_file(f"contacts/contact_{school}_school_edges.csv.gz")
    with gzip.open(file, "rt", encoding="utf-8") as text:
        rows = [(int(r["i"]), int(r["j"]), int(r["contacts_20s"])) for r in csv.DictReader(text)]
    people = {person for i, j, _ in rows for person in (i, j)}
    groups = tf.cliques_of([(i, j) for i, j, n in rows if 20 * n >= seconds], people)
    assert [len(g) for g in groups[:3]] == largest
    assert abs(len(groups) - about) <= 2  # ties: the order of ids decides
    belief = tf.CliqueInfection(groups, lambda m: tf.household_infection(m, 0.05, 0.3), ["well", "ill"])
    ill = tf.Count("ill")
    assert scale(belief, ill, 1, "laplace-exact") < scale(belief, ill, 1, "group-dp") == largest[0]


@pytest.mark.parametrize(("make", "message"), [
    (lambda: tf.CliqueInfection([], {}), "at least one clique"),
    (lambda: tf.CliqueInfection([[]], {}), "at least one clique"),
    (lambda: tf.CliqueInfection([[1, 2], [2]], {1: [1, 0], 2: [1, 0, 0]}), "two cliques"),
    (lambda: tf.CliqueInfection([[1, 2]], {1: [1, 0]}), "no distribution"),
    (lambda: tf.CliqueInfection([[1, 2]], {2: [1, 0]}), "2 masses and 3 numbers"),
    (lambda: tf.CliqueInfection([[1, 2]], {2: [0.5, 0.2, 0.2]}), "sum"),
    (lambda: tf.CliqueInfection([[1]], {1: Pmf([5], [1])}), "whole number from 0 to 1"),
    (lambda: tf.CliqueInfection([[1]], {1: [1, 0]}, ["ill", "ill"]), "different names"),
    (lambda: tf.CliqueInfection([["ann"]], {1: [0.5, 0.5]}).position("bob"), "no clique holds"),
    (lambda: tf.household_infection(2, 1.5, 0.1), "probability"),
])  # fmt: skip
def test_bad_input(make, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


def test_one_of_a_clique_is_a_row_in_words() -> None:
    """They have names in the belief alone, and a pupil was called step 0."""
    two = tf.CliqueInfection([["a", "b"]], {2: [0.8, 0.1, 0.1]})
    found = tf.calibrate(tf.Pufferfish(tf.every_entry(), two), tf.Count(1), epsilon=1)
    assert str(found.witness.comparison).count("row 0") == 2
