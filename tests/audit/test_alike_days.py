"""What a reader thinks of each step of alike days, against listing all recordings, and against the walk along them."""

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.posterior_oracles import step_posteriors

import takifugu as tf
from takifugu.analysis.randomisers import DiscreteLaplace
from takifugu.audit.alike_days import AlikeDays
from takifugu.audit.partial_sums import Chained
from takifugu.audit.step_posteriors import Walk
from takifugu.model.queries import resolved

STAY = [[0.9, 0.1], [0.4, 0.6]]
CIRCLE = [[0.5, 0.5, 0.0], [0.0, 0.6, 0.4], [0.3, 0.0, 0.7]]


def parts_of(chain: Any, query: Any) -> tuple[Chained, Any]:
    sequence = Chained.of(chain)
    assert sequence is not None
    return sequence, resolved(query, chain)


def by_hour(query: Any, hours: list[int]) -> Any:
    """A query by stretches of a day of so many steps each."""
    ends = np.cumsum([0, *hours]).tolist()
    return tf.GroupBy(query, {str(n): range(a, b) for n, (a, b) in enumerate(itertools.pairwise(ends))},
                      every=ends[-1])  # fmt: skip


@st.composite
def cases(draw: st.DrawFn) -> dict[str, Any]:
    """A chain of a few days, perhaps with a matrix for each step of the day, and a table by its hours."""
    states, hours, days = draw(st.sampled_from([(2, [1, 1], 4), (2, [1, 2], 2), (2, [2, 1, 1], 2), (3, [1, 1], 3),
                                                (2, [1, 1, 1], 3), (2, [3, 1], 2), (3, [1, 2], 2)]))  # fmt: skip
    masses = st.lists(st.integers(0, 5), min_size=states, max_size=states).filter(any)
    count = sum(hours) if draw(st.booleans()) else 1
    rows = [[[x / sum(row) for x in row] for row in draw(st.lists(masses, min_size=states, max_size=states))]
            for _ in range(count)]  # fmt: skip
    start = draw(masses)
    query = draw(st.sampled_from([tf.Count(1), tf.Count(0), *([tf.Histogram()] if states == 2 else [])]))
    cells = len(hours) * (2 if isinstance(query, tf.Histogram) else 1)
    return {
        "matrices": rows, "hours": hours, "days": days, "start": [x / sum(start) for x in start], "query": query,
        "published": draw(st.lists(st.integers(-4, 9), min_size=cells, max_size=cells)),
        "scale": draw(st.sampled_from([0.5, 1.0, 2.75, 8.0])),
    }  # fmt: skip


@pytest.mark.mutants
@given(cases())
def test_it_is_what_listing_all_recordings_says(case: dict[str, Any]) -> None:
    length = sum(case["hours"]) * case["days"]
    chain = tf.PeriodicChain(case["matrices"], length, initial=case["start"])
    sequence, answer = parts_of(chain, by_hour(case["query"], case["hours"]))
    days = AlikeDays.of(sequence, answer)
    assert days is not None
    assert days.days == case["days"]
    noise = DiscreteLaplace(Fraction(case["scale"]), Fraction(1), answer.cells)
    after = days.after(noise, list(map(Fraction, case["published"])))
    _, expected = step_posteriors(
        case["matrices"], length, case["start"], lambda step, value: answer.contribution(step)[value],
        case["published"], case["scale"],
    )  # fmt: skip
    np.testing.assert_allclose(after, expected, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize(("matrix", "days"), [(STAY, 5), (CIRCLE, 3)])
def test_it_is_what_a_walk_along_the_days_says(matrix: Any, days: int) -> None:
    parts = parts_of(tf.MarkovChain(matrix, 8 * days), by_hour(tf.Count(1), [3, 1, 4]))
    alike, walk = AlikeDays.of(*parts), Walk.of(*parts)
    assert alike is not None
    noise, published = DiscreteLaplace(Fraction(3), Fraction(1), 3), list(map(Fraction, (9, -2, 5)))
    np.testing.assert_allclose(alike.after(noise, published), walk.after(noise, published), rtol=1e-10)


def test_no_table_of_a_week_moves_the_odds_further_than_promised_and_one_reaches_it() -> None:
    chain, query = tf.MarkovChain(STAY, 7 * 24), by_hour(tf.Count(1), [1] * 24)
    noise = tf.calibrate(tf.Pufferfish(tf.every_entry(), chain), query, 1, mechanism="influence").randomiser
    sequence, answer = parts_of(chain, query)
    days = AlikeDays.of(sequence, answer)
    assert days is not None
    moved = []
    for value in (-400, 3, 400):
        odds = [law[:, 1] / law[:, 0] for law in (days.after(noise, [Fraction(value)] * 24), sequence.laws)]
        moved.append(np.abs(np.log(odds[0] / odds[1])).max())
    assert max(moved) <= 1 + 1e-9
    assert max(moved[0], moved[2]) > 0.999


@pytest.mark.parametrize(("chain", "query"), [
    (tf.MarkovChain(STAY, 8), tf.Count(1)),  # one cell
    (tf.MarkovChain(STAY, 6), by_hour(tf.Count(1), [3, 3])),  # one day
    (tf.MarkovChain(STAY, 13), by_hour(tf.Count(1), [3, 3])),  # no whole days
    (tf.MarkovChain(STAY, 24 * 60 * 14), by_hour(tf.Count(1), [60] * 24)),  # too many days
    (tf.PeriodicChain([STAY] * 5, 12), by_hour(tf.Count(1), [3, 3])),  # a belief of five steps
    (tf.MarkovChain(CIRCLE, 12), by_hour(tf.Histogram(), [3, 3])),  # three kinds of steps
    (tf.MarkovChain(STAY, 12), tf.GroupBy(tf.Count(1), {"a": [0, 2], "b": [1]}, every=3)),  # a cell in two parts
])  # fmt: skip
def test_other_tables_are_left_to_the_walk(chain: Any, query: Any) -> None:
    assert AlikeDays.of(*parts_of(chain, query)) is None
