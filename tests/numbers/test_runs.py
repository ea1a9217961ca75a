"""Numbers as runs are the numbers one by one."""


import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from takifugu.core.errors import Unsupported
from takifugu.numbers.runs import Repeated, Runs, different, in_one_turn, refined, whole_numbers

NUMBERS = st.lists(st.integers(-2, 2), max_size=12).map(lambda row: np.array(row, dtype=np.int64))
PAIRS = st.lists(st.tuples(st.integers(-1, 1), st.integers(0, 2)), min_size=1, max_size=12)


@given(NUMBERS, st.data())
def test_runs_are_the_numbers(row, data):
    runs, places = Runs.of(row), np.arange(len(row))
    assert runs.size == len(row)
    assert runs.numbers.tolist() == runs.at(places).tolist() == row.tolist()
    assert Runs(runs.values, runs.ends).numbers.tolist() == row.tolist()
    assert (np.diff(runs.values) != 0).all()
    assert runs.lengths.sum() == len(row)
    assert runs.sum_before(np.append(places, len(row))).tolist() == [sum(row[:n]) for n in range(len(row) + 1)]
    assert runs.total == row.sum()
    first = data.draw(st.integers(0, len(row)))
    stop = data.draw(st.integers(first, len(row)))
    assert runs.between(first, stop).numbers.tolist() == row[first:stop].tolist()
    assert runs.largest(range(first, stop)) == max(row[first:stop].tolist(), default=0)
    assert runs.largest([*range(first, stop)]) == max(row[first:stop].tolist(), default=0)


@given(NUMBERS.filter(len), st.integers(1, 4), st.data())
def test_what_repeats_is_the_numbers_again_and_again(row, times, data):
    runs, written = Repeated.of_times(Runs.of(row), times), Runs.of(np.tile(row, times))
    assert runs.size == written.size
    assert runs.numbers.tolist() == runs.at(np.arange(runs.size)).tolist() == written.numbers.tolist()
    assert runs.joined().key == written.key
    assert runs.total == written.total
    assert runs.values[runs.numbers_of_runs(np.arange(runs.size))].tolist() == written.numbers.tolist()
    first = data.draw(st.integers(0, runs.size))
    stop = data.draw(st.integers(first, runs.size))
    assert runs.between(first, stop).numbers.tolist() == written.between(first, stop).numbers.tolist()
    assert runs.largest(range(first, stop)) == written.largest(range(first, stop))
    together = refined(runs, Runs.alike(1, runs.size))
    rows, turns = in_one_turn(runs, Runs.alike(1, runs.size))
    in_turn = Repeated.of_times(rows[0], turns)
    assert rows[1].size * turns == runs.size
    assert Runs(together[0][0], together[1]).joined().key == in_turn.joined().key == written.key


def test_what_repeats_takes_no_memory():
    hours = Repeated.of_times(Runs.of(np.array([0, 0, 1])), 10**12)
    assert hours.at(np.array([10**12 + 1])).tolist() == [1]
    assert hours.between(3 * 10**11, 3 * 10**11 + 3).ends.tolist() == [2, 3]
    assert "values" not in vars(hours)


@given(PAIRS)
def test_rows_together(pairs):
    rows = [Runs.of(np.array(row)) for row in zip(*pairs, strict=True)]
    values, ends = refined(*rows)
    assert [tuple(values[:, n]) for n in np.searchsorted(ends, np.arange(len(pairs)), side="right")] == pairs
    kinds, number = different(*rows)
    assert sorted(map(tuple, kinds.T.tolist())) == sorted(set(pairs))
    assert [tuple(kinds[:, n]) for n in number.numbers] == pairs
    assert (np.diff(number.values) != 0).all()


def test_a_long_run_takes_no_memory():
    long = Runs.alike(3, 10**12)
    assert long.numbers.shape == (10**12,)
    assert long.numbers.strides == (0,)
    assert Runs.of(long.numbers).key == long.key
    assert long.sum_before(np.array([10**11])).tolist() == [3 * 10**11]
    with pytest.raises(ValueError, match="read-only"):
        long.numbers[0] = 1
    with pytest.raises(Unsupported, match="written out one by one"):
        _ = Runs(np.array([1, 0]), np.array([1, 10**12])).numbers


def test_an_indicator_is_1_from_each_start_to_before_its_stop() -> None:
    runs = Runs.indicator(np.array([0, 4]), np.array([2, 5]), 6)
    assert runs.numbers.tolist() == [1, 1, 0, 0, 1, 0]


def test_words_of_8_bits_are_widened_before_they_are_added() -> None:
    assert whole_numbers(np.array([100, 100], dtype=np.int8), "weights", (None,)).sum() == 200
