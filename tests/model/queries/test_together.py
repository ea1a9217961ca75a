"""Several queries as one answer, and a query by cells, under every kind of belief."""

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import query_oracles

import takifugu as tf
from takifugu.core.errors import InputError, Unsupported
from takifugu.model import queries
from takifugu.model.queries import from_dict, resolved
from takifugu.numbers.runs import Repeated

PARTS = [tf.Count("b"), tf.Mean(codes={"a": 0, "b": 1, "c": 3}, entries=[0, 2]), tf.Histogram(),
         tf.Linear([1, 0, "1/2"], codes={"a": 1, "b": 2, "c": 0})]  # fmt: skip
CHAIN = tf.MarkovChain([[0.5, 0.3, 0.2]] * 3, 3, states=["a", "b", "c"])


@given(st.lists(st.sampled_from(PARTS), min_size=1, max_size=4), st.lists(st.integers(0, 2), min_size=3, max_size=3))
def test_cells_are_those_of_the_parts(parts, values):
    together = tf.JointQuery(parts)
    answer = resolved(together, CHAIN)
    computed = [Fraction(cell) * answer.grid for cell in answer.evaluate(np.array(values))]
    alone = [resolved(part, CHAIN) for part in parts]
    assert computed == [Fraction(cell) * each.grid for each in alone for cell in each.evaluate(np.array(values))]
    assert len(set(answer.labels)) == len(answer.labels)
    assert queries.from_dict(together.to_dict()) == together


@st.composite
def parts_of_columns(draw):
    sizes = draw(st.lists(st.integers(2, 4), min_size=2, max_size=3))
    columns = [tuple(range(10 * place, 10 * place + size)) for place, size in enumerate(sizes)]
    rows = list(product(*columns))
    names = list("abc"[: len(sizes)])
    table = tf.JointTable(rows, [Fraction(1, len(rows))] * len(rows), names)
    read = st.lists(st.sampled_from(names), min_size=1, unique=True)
    part = st.one_of(
        st.sampled_from(names).map(tf.Sum),
        st.sampled_from(names).map(tf.Identity),
        read.map(lambda of: tf.Mean(entries=of)),
        read.map(lambda of: tf.Histogram(entries=of)),
        st.sampled_from(rows[-1]).map(tf.Count),
        st.lists(st.integers(-2, 2), min_size=len(sizes), max_size=len(sizes)).map(tf.Linear),
    )
    return table, draw(st.lists(part, min_size=2, max_size=4))


def test_columns_that_no_part_reads_may_have_any_value():
    table = tf.JointTable(list(product([0, 1], range(3), range(4))), [Fraction(1, 24)] * 24, list("abc"))
    for parts in ([tf.Sum("a"), tf.Sum("a")], [tf.Sum("c"), tf.Identity("a")], [tf.Linear([0, 2, 0]), tf.Sum("b")]):
        answer, alone = resolved(tf.JointQuery(parts), table), [resolved(part, table) for part in parts]
        for values in map(np.array, product(range(2), range(3), range(4))):
            computed = [cell * answer.grid for cell in answer.evaluate(values)]
            assert computed == [cell * each.grid for each in alone for cell in each.evaluate(values)]
        read = {place for one in alone for place in np.flatnonzero(one.weights)}
        assert np.flatnonzero(answer.weights).tolist() == sorted(read)


@pytest.mark.parametrize("mechanism", ["wasserstein", "laplace-exact", "kantorovich-relaxed"])
def test_a_step_that_no_part_reads_keeps_its_states(mechanism: str) -> None:
    """Its table of one row once ended the laws of a chain, whose tables are stacked, with an error of NumPy."""
    framework = tf.Pufferfish(tf.entry(1, "a", "b"), tf.MarkovChain([[0.5, 0.5], [0.3, 0.7]], 3, states=["a", "b"]))
    first = tf.Count("b", entries=[0])
    constant = tf.Linear([0, 0, 2], codes={"a": 5, "b": 5})
    scales = [
        tf.calibrate(framework, query, epsilon=1, mechanism=mechanism, allow_zero_noise=True).scale
        for query in (first, tf.JointQuery([first, constant]))
    ]
    assert scales[0] == pytest.approx(scales[1], rel=1e-9)


@settings(max_examples=40, deadline=None)
@given(parts_of_columns(), st.data())
def test_columns_of_any_sizes_are_read_and_moved_as_by_the_parts(case, data):
    table, parts = case
    answer, alone = resolved(tf.JointQuery(parts), table), [resolved(part, table) for part in parts]
    values = np.array([data.draw(st.integers(0, len(table.alphabet(place)) - 1)) for place in range(table.size)])
    computed = [cell * answer.grid for cell in answer.evaluate(values)]
    assert computed == [cell * each.grid for each in alone for cell in each.evaluate(values)]
    for entry in range(table.size):
        changes = [each.change([entry]) * each.grid for each in alone]
        assert max(changes) <= answer.change([entry]) * answer.grid <= sum(changes)


def test_records_and_parameters_add_up_the_parts():
    table = tf.JointTable([("a", 0), ("b", 1)], [Fraction(1, 2)] * 2, names=["group", "ill"])
    people = tf.Records(table, 4)
    both = tf.JointQuery([tf.Mean("ill"), tf.CountRows({"group": "b", "ill": 1})])
    answer = resolved(both, people)
    assert answer.grid == Fraction(1, 4)
    assert answer.evaluate(np.array([1, 1, 0, 1])) == (3, 12)
    prior = tf.JointTable([("low", "low"), ("high", "high")], [Fraction(1, 2)] * 2, names=["group", "ill"])
    laws = {"group": {"low": {"a": Fraction(1)}, "high": {"b": Fraction(1)}},
            "ill": {"low": {0: Fraction(1)}, "high": {1: Fraction(1)}}}  # fmt: skip
    columns = tf.Parameters(prior, laws, 4)
    answer = resolved(both, columns)
    alone = [resolved(part, columns) for part in both.queries]
    assert answer.cells == 2
    for near in ([0], [1], [0, 1]):
        parts = [Fraction(each.change(near)) * each.grid for each in alone]
        assert max(parts) <= answer.change(near) * answer.grid <= sum(parts)


@pytest.mark.parametrize("wrong", [[], [tf.JointQuery([tf.Count(1)])], ["count"]])
def test_what_cannot_be_told_together(wrong):
    with pytest.raises(InputError):
        tf.JointQuery(wrong)


STATES = (0, 1, 4)
THIRDS = {0: Fraction(0), 1: Fraction(-1, 2), 4: Fraction(1, 3)}
COUNTS = [tf.Count(1), tf.Count([0, 4]), tf.Histogram(states=[0, 1, 4]), tf.Histogram(states=[4], total=3), tf.Sum(),
         tf.Sum(codes=THIRDS), tf.Mean(), tf.Mean(codes=THIRDS), tf.CountAbove(0),
         tf.CountAbove([0, 2, 3])]  # fmt: skip


def chain(size, states=STATES):
    return tf.MarkovChain([[1 / len(states)] * len(states)] * len(states), size, states=list(states))


@st.composite
def tables(draw, size=4):
    """A query by one to three cells of `size` entries, which may overlap and may leave entries out."""
    chosen = st.sets(st.integers(0, size - 1), min_size=1, max_size=size)
    cells = draw(st.lists(chosen, min_size=1, max_size=3))
    return tf.GroupBy(draw(st.sampled_from(COUNTS)), {f"cell {n}": sorted(c) for n, c in enumerate(cells)}, by="hour")


@settings(max_examples=40)
@given(tables(), st.lists(st.sampled_from(range(3)), min_size=4, max_size=4))
def test_answers_are_those_of_the_cells(table, values):
    answer = resolved(table, chain(4))
    computed = tuple(cell * answer.grid for cell in answer.evaluate(np.array(values)))
    assert computed == query_oracles.answer(table.to_dict(), [STATES[v] for v in values])
    assert len(set(answer.labels)) == len(answer.labels) == len(computed)
    assert queries.from_dict(table.to_dict()) == table


@settings(max_examples=40)
@given(tables(), st.integers(1, 3), st.data())
def test_cells_that_repeat_are_those_written_out(table, times, data):
    again = tf.GroupBy(table.query, table.cells, table.by, every=4)
    size = 4 * times + data.draw(st.integers(0, 3))
    longer = [(label, [n for n in range(size) if n % 4 in cell]) for label, cell in table.cells]
    mine, written = (resolved(query, chain(size)) for query in (again, tf.GroupBy(table.query, longer, table.by)))
    values = np.array(data.draw(st.lists(st.sampled_from(range(3)), min_size=size, max_size=size)))
    assert (mine.grid, mine.labels) == (written.grid, written.labels)
    assert mine.evaluate(values) == written.evaluate(values)
    assert mine.weights.tolist() == written.weights.tolist()
    assert mine.table_numbers.tolist() == written.table_numbers.tolist()
    assert mine.entry_changes().tolist() == written.entry_changes().tolist()
    for norm in (1, 2):
        assert [mine.farthest([i], norm) for i in range(size)] == [written.farthest([i], norm) for i in range(size)]
    assert np.array_equal(mine.cell_bounds(), written.cell_bounds())
    assert mine.constant_sum() == written.constant_sum()
    assert mine.is_count == written.is_count
    first = data.draw(st.integers(0, size - 1))
    parts = [answer.restrict(slice(first, size)) for answer in (mine, written)]
    assert parts[0].evaluate(values[first:]) == parts[1].evaluate(values[first:])
    mine_in_runs, in_runs = (np.repeat(*answer.kinds, axis=1).tolist() for answer in (mine, written))
    assert mine_in_runs == in_runs


def test_hours_of_many_people_take_the_memory_of_one_day():
    minutes = {f"{hour:02d}": range(60 * hour, 60 * hour + 60) for hour in range(24)}
    hours = tf.GroupBy(tf.Histogram(), minutes, every=1440)
    answer = resolved(hours, tf.IndependentPieces(chain(1440), [1440] * 5000))
    assert answer.change(range(1440)) == 2 * 1440
    assert answer.cell_bounds()[1].tolist() == [60 * 5000] * 72
    assert not any("values" in vars(row) for row in answer.in_runs if isinstance(row, Repeated))


@settings(max_examples=25)
@given(tables(3))
def test_changes_against_all_pairs_of_data_sets(table):
    answer = resolved(table, chain(3))
    for size in (1, 2, 3):
        for changed in combinations(range(3), size):
            largest = query_oracles.largest_change(table.to_dict(), [STATES] * 3, changed)
            assert answer.change(changed) * answer.grid == largest
    of_each = [query_oracles.largest_change(table.to_dict(), [STATES] * 3, [entry]) for entry in range(3)]
    assert answer.farthest(range(3)) * answer.grid == max(of_each)


def test_names_of_people_are_cells_too():
    people = tf.IndependentUsers([{0: 0.5, 1: 0.5}, {0: 0.25, 4: 0.75}], names=["ann", "bob"])
    answer = resolved(tf.GroupBy(tf.Count(1), {"north": ["bob"], "south": ["ann"]}, by="ward"), people)
    assert answer.labels == ("north", "south")
    assert answer.change([people.position("ann")]) == 1
    assert answer.change([people.position("bob")]) == 0  # who is never in state 1


def test_a_year_of_minutes_by_date():
    belief = chain(100_000)
    days = {str(day): range(day, min(day + 274, 100_000)) for day in range(0, 100_000, 274)}
    answer = resolved(tf.GroupBy(tf.Histogram(), days), belief)
    values = np.arange(100_000) % 3
    assert answer.cells == 3 * len(days) == 1095
    assert answer.evaluate(values)[:3] == (92, 91, 91)
    assert set(answer.entry_changes().tolist()) == {2}


@pytest.mark.parametrize(("query", "cells", "words"), [
    (tf.Count(1), {}, "no cell"),
    (tf.Count(1), {"00": []}, "the cell '00' has no entry"),
    (tf.Count(1), {"00": 3}, "the entries of the cell '00' are 3"),
    (tf.Count(1), {"00": [-1]}, "counted from 0"),
    (tf.Count(1), {0: [1]}, "a cell is called 0"),
    (tf.Count(1), [("a", [0]), ("a", [1])], "two cells are called 'a'"),
    (tf.Count(1, entries=[0]), {"00": [1]}, "has entries of its own"),
    (tf.Sum("age"), {"00": [1]}, "has attribute of its own"),
    (tf.Linear([1]), {"00": [0]}, "a Linear cannot be told by cells"),
    (tf.GroupBy(tf.Count(1), {"00": [0]}), {"00": [0]}, "a GroupBy cannot be told by cells"),
])  # fmt: skip
def test_what_is_no_table_by_cells(query, cells, words):
    with pytest.raises(InputError, match=words.replace("(", "\\(")):
        tf.GroupBy(query, cells)


def test_what_a_belief_does_not_have(monkeypatch):
    with pytest.raises(InputError, match="has no entry"):
        resolved(tf.GroupBy(tf.Count(1), {"00": [0], "01": [3]}, every=4), chain(3))
    with pytest.raises(InputError, match="reads entry 9") as caught:
        resolved(tf.GroupBy(tf.Count(1), {"00": [0], "01": [9]}), chain(4))
    assert caught.value.where[:2] == ("cells", "01")
    alike = tf.MarkovChain([[0.5, 0.5]] * 2, 3, states=["b, c", "c"])
    with pytest.raises(InputError, match="told apart"):
        resolved(tf.GroupBy(tf.Histogram(), {"a": [0], "a, b": [1]}), alike)
    monkeypatch.setattr("takifugu.model.queries.tables.by.MOST_NUMBERS", 5_000)
    with pytest.raises(InputError, match="at most 5,000 are computed"):
        resolved(tf.GroupBy(tf.Count(1), [(str(i), range(i, i + 60)) for i in range(90)]), chain(200))
    table = tf.JointTable([("a", 0), ("b", 1)], [0.5, 0.5], names=["group", "ill"])
    with pytest.raises(InputError, match="those of records are columns"):
        resolved(tf.GroupBy(tf.Mean(), {"x": ["ill"]}), tf.Records(table, 4))


@pytest.mark.parametrize("query", [tf.Count(1), tf.Histogram()])
def test_every_mechanism_that_takes_a_histogram_of_three_states_takes_it_by_cells(query):
    belief = tf.MarkovChain([[0.8, 0.2, 0.0], [0.0, 0.7, 0.3], [0.4, 0.0, 0.6]], 6)
    framework = tf.Pufferfish(tf.every_entry(), belief)
    table = tf.GroupBy(query, {"00": [0, 1, 2], "01": [3, 4, 5]}, by="hour")
    whole = {row.name for row in tf.compare(framework, tf.Histogram(), epsilon=1) if row.scale is not None}
    cells = {row.name for row in tf.compare(framework, table, epsilon=1) if row.scale is not None}
    assert whole <= cells
    assert {"group-dp", "quilt-exact", "record-dp"} <= cells


def test_a_table_by_cells_is_no_pool_of_units():
    from takifugu.accounting.composition import charge_of

    both = tf.Pufferfish(tf.every_entry(), tf.IndependentPieces(chain(3), [3, 3]))
    calibration = tf.calibrate(both, tf.GroupBy(tf.Count(1), {"a": [0], "b": [4]}), epsilon=1, mechanism="group-dp")
    with pytest.raises((InputError, Unsupported), match="numbers the rows"):
        charge_of(calibration, tf.Pufferfish(tf.every_entry(), chain(3)))


def test_what_a_cell_is_of_two_things_is_no_matter_of_its_words() -> None:
    """A table by one column that is called "sex and age" has one way, whatever its labels look like."""
    one_way = tf.GroupBy(tf.Count(1), {"f 20": [0], "m 30": [1]}, "sex and age")
    assert tf.GroupBy.two_way(one_way.to_dict(), ["f 20", "m 30"]) is None
    parts = [["New York", "a b"], ["Rome", "c"]]
    cells = {"New York a b": [0], "Rome c": [1]}
    two_ways = tf.GroupBy(tf.Count(1), cells, "town and kind", axes=["town", "kind"], parts=parts)
    assert tf.GroupBy.two_way(two_ways.to_dict(), list(cells)) == (("New York", "a b"), ("Rome", "c"))
    assert tf.GroupBy.from_dict(two_ways.to_dict()) == two_ways
    for odd in ([["New York"], ["Rome"]], parts[:1], []):
        with pytest.raises(InputError, match="parts do not fit"):
            tf.GroupBy(tf.Count(1), cells, axes=["town", "kind"], parts=odd)


@pytest.mark.parametrize("inside", [
    lambda data: {"kind": "by", "query": data, "cells": [["a", [[0, 1]]]]},
    lambda data: {"kind": "together", "queries": [data]},
    lambda data: {"kind": "at-most", "query": data, "threshold": "1"},
])  # fmt: skip
def test_what_may_not_stand_inside_a_query_is_refused_unread(inside: Callable[[Any], Any]) -> None:
    """A certificate with such queries in each other, 450 deep, ended its report with a traceback."""
    data = inside({"kind": "count", "states": [1], "entries": None})
    assert from_dict(data).to_dict()["kind"] == data["kind"]
    for _ in range(2000):
        data = inside(data)
    with pytest.raises(InputError, match="stands inside another query: publish it by itself"):
        from_dict(data)
