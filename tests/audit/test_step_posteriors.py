"""What a reader thinks of each step: against listing all recordings, within the promise, and at its edge."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.posterior_oracles import most_moved, step_posteriors

import takifugu as tf
from takifugu.analysis.randomisers import DiscreteLaplace, RoundedLaplace
from takifugu.audit.partial_sums import Chained
from takifugu.audit.step_posteriors import Walk, learnt
from takifugu.core.errors import Unsupported
from takifugu.model.queries import Additive, resolved

STAY = [[0.9, 0.1], [0.4, 0.6]]
CIRCLE = [[0.5, 0.5, 0.0], [0.0, 0.6, 0.4], [0.3, 0.0, 0.7]]


@st.composite
def cases(draw: st.DrawFn) -> dict[str, Any]:
    """A chain, what each step adds to up to three cells, and a table with its noise."""
    states = draw(st.sampled_from([2, 3]))
    length = draw(st.integers(1, 8 if states == 2 else 5))
    masses = st.lists(st.integers(0, 5), min_size=states, max_size=states).filter(any)
    rows = [[[x / sum(row) for x in row] for row in draw(st.lists(masses, min_size=states, max_size=states))]
            for _ in range(draw(st.integers(1, 2)))]  # fmt: skip
    start = draw(masses)
    cells, tables = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    numbers = st.lists(st.integers(-2, 2), min_size=cells, max_size=cells)
    return {
        "matrices": rows, "length": length, "start": [x / sum(start) for x in start],
        "tables": [draw(st.lists(numbers, min_size=states, max_size=states)) for _ in range(tables)],
        "table_of": draw(st.lists(st.integers(0, tables - 1), min_size=length, max_size=length)),
        "weights": draw(st.lists(st.integers(-1, 2), min_size=length, max_size=length)),
        "published": draw(st.lists(st.integers(-9, 9), min_size=cells, max_size=cells)),
        "scale": draw(st.sampled_from([0.5, 1.0, 2.75, 8.0])),
    }  # fmt: skip


@given(cases())
def test_it_is_what_listing_all_recordings_says(case: dict[str, Any]) -> None:
    chain = tf.PeriodicChain(case["matrices"], case["length"], initial=case["start"])
    tables = tuple(np.array(table, dtype=np.int64) for table in case["tables"])
    labels = tuple(map(str, range(len(case["published"]))))
    answer = Additive(Fraction(1), labels, tables, np.array(case["weights"]), np.array(case["table_of"]))
    sequence = Chained.of(chain)
    assert sequence is not None
    walk = Walk.of(sequence, answer)
    noise = DiscreteLaplace(Fraction(case["scale"]), Fraction(1), len(labels))
    after = walk.after(noise, list(map(Fraction, case["published"])))

    def adds(step: int, value: int) -> Any:
        return np.array(case["tables"][case["table_of"][step]][value]) * case["weights"][step]

    given_all = case["matrices"], case["length"], case["start"], adds, case["published"], case["scale"]
    expected_before, expected = step_posteriors(*given_all)
    np.testing.assert_allclose(walk.chain.laws, expected_before, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(after, expected, rtol=1e-10, atol=1e-15)


def walk_of(chain: Any, query: Any) -> Walk:
    sequence, answer = Chained.of(chain), resolved(query, chain)
    assert sequence is not None
    return Walk.of(sequence, answer)


def test_cells_one_after_the_other_cost_no_more_than_the_longest() -> None:
    blocks = tf.GroupBy(tf.Count(1), {str(first): range(first, first + 10) for first in range(0, 1000, 10)})
    walk = walk_of(tf.MarkovChain(STAY, 1000), blocks)
    assert max(stop.codes for stop in walk.stops) == 11
    assert sum(len(stop.closing) for stop in walk.stops) == 100


def test_the_grid_of_the_noise_may_be_finer_than_that_of_the_answer() -> None:
    chain = tf.MarkovChain(STAY, 6)
    walk, fine = walk_of(chain, tf.Count(1)), RoundedLaplace(Fraction(2), Fraction(1, 1000), 1)
    expected = step_posteriors([STAY], 6, chain.stationary, lambda _, value: [value], [2.25], 2.0)[1]
    np.testing.assert_allclose(walk.after(fine, [Fraction(9, 4)]), expected, rtol=1e-9)


@pytest.mark.parametrize("matrix", [STAY, CIRCLE, [[0.2, 0.8], [0.7, 0.3]]])
@pytest.mark.parametrize("query", [tf.Count(1), tf.Histogram()])
def test_no_table_of_takifugu_moves_the_odds_further_than_promised(matrix: Any, query: Any) -> None:
    chain, nearest, outside = tf.MarkovChain(matrix, 30), 0.0, 0
    framework = tf.Pufferfish(tf.every_entry(), chain)
    noise, walk = tf.calibrate(framework, query, 1, mechanism="influence").randomiser, walk_of(chain, query)
    less = DiscreteLaplace(noise.units / 4, noise.grid, noise.cells)
    truth = np.zeros(30, dtype=np.int64)
    possible = np.array(matrix) > 0
    pairs = tuple((a, b) for a in range(len(possible)) for b in range(len(possible)) if a != b)
    for value in (-400, 3, 15, 400):
        published = [Fraction(value), Fraction(-value), Fraction(9)][: noise.cells]
        after = walk.after(noise, published)
        found = learnt(walk.chain.laws, after, truth, dict.fromkeys(range(30), pairs), 1.0)
        assert (found.outside, found.steps) == (0, 30)
        moved = most_moved(walk.chain.laws, after)
        assert moved <= 1 + 1e-9
        nearest = max(nearest, moved)
        assert log_odds(found.worst.after) - log_odds(found.worst.before) == pytest.approx(moved, rel=1e-9)
        with_less = walk.after(less, published)
        outside += learnt(walk.chain.laws, with_less, truth, dict.fromkeys(range(30), pairs), 1.0).outside
    if matrix is STAY:  # of two states that last, the most telling table reaches the promise
        assert nearest > 1 - 1e-8
        assert outside > 30


def log_odds(probability: float) -> float:
    return math.log(probability / (1 - probability))


def test_what_is_learnt_is_counted_by_hand() -> None:
    before = np.array([[0.5, 0.5], [0.8, 0.2], [0.5, 0.5]])
    after = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]])
    found = learnt(before, after, np.array([0, 1, 0]), {0: ((0, 1), (1, 0)), 1: ((1, 0),)}, 1.0)
    assert (found.worst.step, found.worst.pair) == (0, (0, 1))
    assert (found.worst.before, found.worst.after) == pytest.approx((0.5, 0.9))
    assert (found.outside, found.steps, found.right_before, found.right) == (1, 2, 1, 1)
    mean = (log_odds(0.9) + log_odds(0.4)) / 2
    assert log_odds(found.truth) == pytest.approx(mean)
    assert log_odds(found.truth_before) == pytest.approx(log_odds(0.2) / 2)
    only_down = learnt(before, after, np.array([0, 1, 0]), {0: ((1, 0),)}, 1.0)
    assert (only_down.outside, only_down.worst.after) == (0, pytest.approx(0.1))


def test_certainty_has_odds_too() -> None:
    before, after = np.array([[0.5, 0.5]]), np.array([[1.0, 0.0]])
    found = learnt(before, after, np.array([0]), {0: ((0, 1), (1, 0))}, 5.0)
    assert (found.worst.after, found.outside, found.right) == (1.0, 1, 1)
    assert 0.999 < found.truth < 1


@pytest.mark.parametrize(("chain", "query"), [
    (tf.MarkovChain(STAY, 20000), tf.Count(1)),  # so many sums
    (tf.MarkovChain(STAY, 200), tf.GroupBy(tf.Count(1), {str(n): [n] for n in range(20)}, every=20)),  # open together
    (tf.MarkovChain(STAY, 20_000_000), tf.Count(1)),
])  # fmt: skip
def test_what_is_too_long_is_refused(chain: Any, query: Any) -> None:
    with pytest.raises(Unsupported, match="too many sums are possible") as refused:
        walk_of(chain, query)
    assert refused.value.fix.endswith("--steps 200")


def test_so_many_steps_as_a_refusal_names_are_served() -> None:
    """The most sums that a recording can have: a histogram of three states."""
    walk_of(tf.MarkovChain(CIRCLE, 200), tf.Histogram())


def test_an_impossible_table_is_refused() -> None:
    walk = walk_of(tf.MarkovChain([[1.0, 0.0], [0.5, 0.5]], 200, initial=(1.0, 0.0)), tf.Count(1))
    with pytest.raises(Unsupported, match="next to impossible"):
        walk.after(DiscreteLaplace(Fraction(1, 20), Fraction(1)), [Fraction(200)])
