"""Beliefs estimated from sequences: counts, smoothing, sources, and the mark of the private data."""

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from takifugu.core.errors import InputError
from takifugu.model import beliefs
from takifugu.model.beliefs.chains.chain import MarkovChain, ReversibleChains
from takifugu.model.beliefs.estimate import interval, is_private_source, missed
from takifugu.model.beliefs.table import JointTable

OTHERS = "estimated from 18 participants who are not in the release"
walks = st.lists(st.lists(st.sampled_from("abc"), max_size=12), min_size=1, max_size=5)


@given(walks, st.sampled_from([0.5, 1.0, 3.0]))
def test_rows_are_smoothed_frequencies(sequences: list[list[str]], smoothing: float) -> None:
    chain = MarkovChain.fit(sequences, 10, states=list("abc"), smoothing=smoothing, source=OTHERS)
    for x, row in zip("abc", chain.matrix, strict=True):
        counts = [sum(pair == (x, y) for walk in sequences for pair in pairwise(walk)) + smoothing for y in "abc"]
        np.testing.assert_allclose(row, np.array(counts) / sum(counts), rtol=1e-14)
    assert (chain.source, chain.length, chain.states) == (f"{OTHERS}; a point estimate", 10, ("a", "b", "c"))
    assert not is_private_source(chain.source)


def test_transitions_are_counted_inside_each_sequence_only() -> None:
    chain = MarkovChain.fit([[0, 0], [1, 1]], 5, smoothing=1, source=OTHERS)
    assert chain.matrix.tolist() == [[2 / 3, 1 / 3], [1 / 3, 2 / 3]]


def test_states_are_found_and_sorted_when_not_named() -> None:
    assert MarkovChain.fit([[10, 9], [9, 10]], 5, source=OTHERS).states == (9, 10)
    assert MarkovChain.fit([["b", 1], [1, "b"]], 5, source=OTHERS).states == (1, "b")


def test_without_smoothing_an_empty_row_is_refused() -> None:
    exact = MarkovChain.fit([list("aab"), list("ba")], 5, smoothing=0, source=OTHERS)
    assert exact.matrix.tolist() == [[0.5, 0.5], [1.0, 0.0]]
    with pytest.raises(InputError, match=r"no transition out of state 'b'.*smoothing=1\.0"):
        MarkovChain.fit([list("aab")], 5, smoothing=0, source=OTHERS)


REGION = {"sequences": [list("abab")], "confidence": 0.9}


@pytest.mark.parametrize(("arguments", "message"), [
    ({"source": " "}, "needs its source in words"),
    ({"smoothing": -1}, "smoothing is -1"),
    ({"smoothing": float("nan")}, "smoothing is nan"),
    ({"sequences": []}, "no state to count"),
    ({"states": ["a", "b"]}, "sequence 1 holds a state"),
    ({"states": list("abca")}, "repeat a name"),
    ({**REGION, "smoothing": 1.0}, r"smoothing is 1\.0 beside confidence=0\.9.*leave smoothing out"),
    ({**REGION, "initial": "any"}, r"initial is 'any' beside confidence=0\.9.*for every initial distribution"),
])  # fmt: skip
def test_bad_fits(arguments: dict[str, Any], message: str) -> None:
    given_arguments = {"sequences": [list("ab"), list("cab")], "length": 5, "source": OTHERS, **arguments}
    with pytest.raises(InputError, match=message):
        MarkovChain.fit(**given_arguments)


def test_a_source_is_required() -> None:
    with pytest.raises(TypeError):
        MarkovChain.fit([["a", "b"]], 5)  # type: ignore[call-arg]


def test_no_private_value_is_in_a_message() -> None:
    with pytest.raises(InputError) as caught:
        MarkovChain.fit([["home", "clinic-17"]], 5, states=["home"], source="the diary", private=True)
    assert "clinic" not in str(caught.value)


def test_the_mark_of_the_private_data_survives_text() -> None:
    chain = MarkovChain.fit([list("abab")], 5, source="the first half of each diary", private=True)
    assert is_private_source(chain.source)
    assert chain.source == "estimated from the private data: the first half of each diary; a point estimate"
    again = beliefs.from_dict(chain.to_dict())
    assert isinstance(again, MarkovChain)
    assert is_private_source(again.source)
    assert is_private_source(chain.with_length(9).source)
    assert is_private_source(MarkovChain(chain.matrix, 5, source="Estimated from the private data").source)
    assert is_private_source(ReversibleChains(0.2, 0.3, 5, source=chain.source).source)
    table = JointTable.from_counts([("ill",), ("well",)], [1, 3], source="the survey itself", private=True)
    assert is_private_source(table.source)
    assert not is_private_source(JointTable.from_counts([("ill",), ("well",)], [1, 3], source="another survey").source)


def test_counted_tables_are_exact() -> None:
    table = JointTable.from_counts([(0, 1), (1, 1), (2, 0)], [1, 2, 0], source="a public survey")
    assert (table.masses, table.total) == ((1, 2, 0), 3)
    assert table.possible(0) == (True, True, False)
    for counts in ([1, -1, 2], [0, 0, 0], [1, 2.5, 1]):
        with pytest.raises(InputError, match="whole numbers"):
            JointTable.from_counts([(0, 1), (1, 1), (2, 0)], counts, source="a public survey")


@pytest.mark.parametrize(("rows", "probabilities", "message"), [
    ([(0,), (1,)], [Fraction(1, 2), Fraction(1, 3)], "sum to 5/6"),
    ([(0,), (1,)], [0.5, 0.6], "sum to 1"),
    ([(0,), (1,)], [0.5, float("nan")], "finite"),
    ([(0,), (1,)], [1], "2 rows and 1 probabilities"),
    ([(0,), (0,)], [0.5, 0.5], "repeats a row"),
    ([(0,), (1, 2)], [0.5, 0.5], "different lengths"),
    ([], [], "0 rows"),
])  # fmt: skip
def test_bad_tables(rows: Any, probabilities: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        JointTable(rows, probabilities)


def test_tables_read_back_without_change() -> None:
    rng = np.random.default_rng(0)
    for masses in ([Fraction(1, 3), Fraction(2, 3)], rng.dirichlet([1, 1]).tolist(), [0.1, 0.9 + 1e-12]):
        table = JointTable([("a", 0), ("b", 1)], masses, names=["x", "y"], source="a paper")
        again = beliefs.from_dict(table.to_dict())
        assert again.to_dict() == table.to_dict()


@pytest.mark.parametrize(("count", "total", "miss"), [
    (0, 1, 1e-12), (0, 1, 1e-15), (3, 4, 1e-13), (99_999, 100_000, 1e-3), (10**7 - 2, 10**7, 1e-12), (0, 2, 0.5),
    (10**6, 10**6, 1e-9), (500, 1000, 1e-50),
])  # fmt: skip
def test_each_end_of_an_interval_misses_at_most_half_of_what_it_may(count: int, total: int, miss: float) -> None:
    """The upper end was rounded to the nearest float, inward: it missed with 1.00009 times what it may."""
    low, high = interval(count, total, miss)
    with mpmath.workdps(60):
        half = mpmath.mpf(miss) / 2
        if count:
            chance = mpmath.betainc(count, total - count + 1, 0, mpmath.mpf(low), regularized=True)
            assert 0.98 * half <= chance <= half
        if high < 1:
            chance = mpmath.betainc(total - count, count + 1, 0, 1 - mpmath.mpf(high), regularized=True)
            assert 0.8 * half <= chance <= half


@pytest.mark.parametrize("confidence", [0.9, 0.99, 0.95, 0.999, 0.9999999, 1 / 3])
@pytest.mark.parametrize("parts", [1, 2, 3, 9, 2**20])
def test_a_part_of_the_probability_to_miss_is_rounded_down(confidence: float, parts: int) -> None:
    """1 - 0.9 in floats is more than 0.1."""
    exact = (1 - Fraction(repr(confidence))) / parts
    assert Fraction(missed(confidence, parts)) <= exact < Fraction(math.nextafter(missed(confidence, parts), 1))
