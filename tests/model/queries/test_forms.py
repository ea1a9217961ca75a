"""Chosen entries as a ledger keeps them, in words, and as they are read back: the same ones, or it charges others."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import takifugu as tf
from takifugu.core.errors import InputError
from takifugu.model import queries
from takifugu.model.queries import resolved
from takifugu.model.queries.forms import entry_tuple, runs, unruns

STATES = [[0.5, 0.5], [0.5, 0.5]]


@given(st.sets(st.integers(0, 40) | st.sampled_from(["hiv", "age"]), min_size=1))
def test_entries_are_kept_as_runs_and_read_back(entries):
    chosen = entry_tuple(entries)
    content = json.loads(json.dumps(runs(chosen)))
    assert unruns(content) == chosen
    numbers = [run for run in content if not isinstance(run, str)]
    assert all(before[1] + 1 < after[0] for before, after in pairwise(numbers))
    assert {name for name in content if isinstance(name, str)} == {entry for entry in entries if isinstance(entry, str)}


def test_runs_as_they_are_written():
    assert runs((0, 1, 2, 7, "hiv")) == [[0, 2], [7, 7], "hiv"]
    assert runs(()) == []
    assert tf.Sum().to_dict()["entries"] is queries.from_dict(tf.Sum().to_dict()).entries is None


def test_entries_in_words():
    phrases = [tf.Count(1, entries=entries).describe().removeprefix("how often state 1 occurs") for entries in (
        [3], range(1234), ["age"], ["age", "sat"], ["a", "b", "c", "d"],
    )]  # fmt: skip
    assert phrases == [
        ", in place 3 alone", ", in 1,234 of the rows", ", of 'age' alone", ", of 'age' and 'sat'",
        ", in 4 of the rows",
    ]  # fmt: skip


@pytest.mark.parametrize("every", [0, -1, 1.5, True, "2"])
def test_cells_repeat_every_whole_number_of_entries(every):
    with pytest.raises(InputError, match="the period of the cells") as caught:
        tf.GroupBy(tf.Count(1), {"a": [0]}, every=every)
    assert caught.value.where == ("every",)


@pytest.mark.parametrize("odd", [2, 3, "age"])
def test_cells_that_repeat_hold_numbers_below_their_period(odd):
    assert tf.GroupBy(tf.Count(1), {"a": [0], "b": [1]}, every=2).every == 2
    with pytest.raises(InputError, match=f"the cell 'b' holds {odd!r}"):
        tf.GroupBy(tf.Count(1), {"a": [0], "b": [odd]}, every=2)


def test_only_chosen_entries_are_read_by_cells():
    chain, cells = tf.MarkovChain(STATES, 4), {"a": [0, 1], "b": [2, 3]}
    answer = resolved(tf.GroupBy(tf.Count(1), cells, entries=[1, 0]), chain)
    assert answer.evaluate([1, 1, 1, 1]) == (2, 0)
    assert answer.entry_changes().tolist() == [1, 1, 0, 0]
    assert answer.cell_ranges() == (2, 0)
    with pytest.raises(InputError, match="no entry of 'b' is read"):
        resolved(tf.GroupBy(tf.Mean(), cells, entries=[0, 1]), chain)
    chosen = tf.GroupBy(tf.Count(1), cells, entries=[1, 0])
    assert queries.from_dict(json.loads(json.dumps(chosen.to_dict()))) == chosen


def test_a_histogram_by_cells_has_a_block_for_each():
    chain, cells = tf.MarkovChain(STATES, 4), {"a": [0, 1, 2], "b": [3]}
    table = tf.GroupBy(tf.Histogram(), cells)
    totals = [block.constant_sum() for block in resolved(table, chain).blocks(table.blocks)]
    assert totals == [3, 1]
    assert tf.GroupBy(tf.Count(1), cells).blocks == tf.GroupBy(tf.Mean(), cells).blocks == 1


def test_what_a_written_table_by_cells_is_of():
    written = tf.GroupBy(tf.Histogram(), {"00": [0], "01": [1]}).to_dict()
    labels = ["00, a", "00, b, c", "01, a", "01, b, c"]
    assert tf.GroupBy.two_way(written, labels) == (("00", "a"), ("00", "b, c"), ("01", "a"), ("01", "b, c"))
    two = {"axes": ["weekday", "hour"], "parts": [["Monday", "00"]]}
    by_two = tf.GroupBy(tf.Count(1), {"Monday 00": [0]}, "weekday and hour", **two).to_dict()
    assert tf.GroupBy.two_way(by_two, ["Monday 00"]) == (("Monday", "00"),)
    assert tf.GroupBy.two_way(by_two, ["Monday 00", "Tuesday"]) is None
    assert tf.GroupBy.two_way(tf.GroupBy(tf.Count(1), {"Monday 00": [0]}, "week").to_dict(), ["Monday 00"]) is None


@pytest.mark.parametrize("total", [1, 2, 50])
def test_the_total_of_a_cross_table_is_its_grid(total):
    table = tf.CrossTable(["a"], total=total)
    assert (table.total, table.grid) == (total, tf.CrossTable(["a"]).grid / total)
    assert tf.CrossTable(["a"]).grid == 1
    assert queries.from_dict(table.to_dict()) == table


@pytest.mark.parametrize("dummies", [-1, True, 1.5, "2"])
def test_the_number_of_dummies_is_a_whole_one(dummies):
    with pytest.raises(InputError, match="the number of dummies"):
        tf.LocalValue(dummies)
    assert tf.LocalValue(0).dummies == 0 != tf.LocalValue(1).dummies


def test_rows_are_randomised_of_populations_only():
    with pytest.raises(InputError, match="requires rows from populations"):
        tf.LocalValue().resolve(tf.MarkovChain(STATES, 2))
    law = {"a": 0.5, "b": 0.25, "c": 0.25}
    belief = tf.FromPopulations({"home": law, "out": {**law, "a": 0.25, "b": 0.5}}, 3)
    answer = tf.LocalValue().resolve(belief)
    assert answer.entry_changes().tolist() == [2, 2, 2]
    assert (answer.change([0, 2]), answer.change([])) == (4, 0)
    assert answer.cell_ranges() == (2, 2, 2)
    assert answer.labels == ("row 0", "row 1", "row 2")
    assert answer.restrict(slice(1, 3)).labels == ("row 0", "row 1")
    assert answer.restrict(slice(1, 2)).labels == ("value",)
    assert (answer.farthest([0, 1]), answer.nearest()) == (2, 2)
    assert tf.LocalValue.from_dict({}) == tf.LocalValue()
    assert tf.LocalValue(2, "May", ("a", "b")).describe() == (
        "each row's 'a' and 'b' of the batch 'May', randomised among 2 dummies"
    )
    assert tf.LocalValue().describe() == "each row's value, randomised"


def test_a_mean_alone_divides() -> None:
    """A histogram has a `total`, too: it was once read, and charged, as if it divided by the number of entries."""
    assert tf.Mean(codes={0: 0, 1: 1}).is_mean
    for query in (tf.Histogram([0, 1], total=7), tf.Count(1), tf.Sum(codes={0: 0, 1: 1}), tf.Linear([1, 2])):
        assert not query.is_mean
