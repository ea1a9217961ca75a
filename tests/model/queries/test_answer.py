"""Answers that add up over entries, against all data sets: what they are, how far they move, what of them is public."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tf
from takifugu.core.errors import InputError
from takifugu.model.beliefs.domain import Domain
from takifugu.model.queries import resolved
from takifugu.model.queries.additive.counts import EveryChange
from takifugu.model.queries.answer import LARGEST_ANSWER, Additive, whole_change

NUMBERS = st.integers(-3, 3)


@st.composite
def answers(draw):
    """An answer of three entries: one table for all, or up to three, with some weights 0 or below it."""
    cells, several = draw(st.integers(1, 3)), draw(st.booleans())
    heights = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3)) if several else [draw(st.integers(1, 3))]
    tables = tuple(
        np.array(draw(st.lists(NUMBERS, min_size=rows * cells, max_size=rows * cells))).reshape(rows, cells)
        for rows in heights
    )
    weights = np.array(draw(st.lists(st.integers(-2, 2), min_size=3, max_size=3)))
    which = st.lists(st.integers(0, len(tables) - 1), min_size=3, max_size=3)
    table_of = np.array(draw(which)) if several else None
    return Additive(Fraction(1, 2), tuple("abc"[:cells]), tables, weights, table_of)


def all_data(answer):
    return list(product(*(range(len(table_of(answer, entry))) for entry in range(3))))


def table_of(answer, entry):
    return answer.tables[0 if answer.table_of is None else answer.table_of[entry]].tolist()


def by_hand(answer, data):
    """Return the answer in grid units, cell by cell, with no array."""
    weights = answer.weights.tolist()
    return [
        sum(weights[entry] * table_of(answer, entry)[value][cell] for entry, value in enumerate(data))
        for cell in range(len(answer.labels))
    ]


def moves(answer, entries):
    """Yield the change of every cell between two data sets that differ in some entries only."""
    for one, other in product(all_data(answer), repeat=2):
        if all(a == b for entry, (a, b) in enumerate(zip(one, other, strict=True)) if entry not in entries):
            yield [abs(a - b) for a, b in zip(by_hand(answer, one), by_hand(answer, other), strict=True)]


@settings(max_examples=60)
@given(answers())
def test_what_it_is(answer):
    data = all_data(answer)
    totals = [by_hand(answer, one) for one in data]
    assert answer.totals(np.array(data)).tolist() == totals
    assert [list(answer.evaluate(np.array(one))) for one in data] == totals
    for cut in (slice(0, 2), slice(1, 3), slice(3, 3)):
        part = answer.restrict(cut)
        entries = range(3)[cut]
        assert [part.contribution(number).tolist() for number in range(len(entries))] == [
            answer.contribution(entry).tolist() for entry in entries
        ]
        assert part.labels == answer.labels


@settings(max_examples=40)
@given(answers())
def test_how_far_it_moves(answer):
    for entry in range(3):
        assert answer.entry_changes()[entry] == answer.change([entry]) == max(map(sum, moves(answer, {entry})))
        assert answer.farthest([entry]) == max(map(sum, moves(answer, {entry})))
        longest = max(sum(cell * cell for cell in move) for move in moves(answer, {entry}))
        assert longest <= answer.farthest([entry], norm=2) ** 2 <= longest * (1 + Fraction(1, 10**9))
    for entries in combinations(range(3), 2):
        true = max(map(sum, moves(answer, set(entries))))
        assert true <= answer.change(entries) == sum(answer.change([entry]) for entry in entries)
        assert answer.table_of is not None or true == answer.change(entries)
        for norm in (1, 2):
            assert answer.farthest(entries, norm) == max(answer.farthest([entry], norm) for entry in entries)
    assert whole_change(answer) == answer.change(range(3))
    assert answer.farthest([]) == answer.farthest([], norm=2) == answer.change([]) == 0
    for norm in (1, 2):
        read = [answer.farthest([entry], norm) for entry in range(3)]
        assert answer.nearest(norm) == min(filter(None, read), default=0)


@settings(max_examples=60)
@given(answers())
def test_what_of_it_is_public(answer):
    totals = [by_hand(answer, one) for one in all_data(answer)]
    cells = list(zip(*totals, strict=True))
    assert answer.cell_ranges() == tuple(max(cell) - min(cell) for cell in cells)
    sums = {sum(one) for one in totals}
    assert answer.constant_sum() == (min(sums) * answer.grid if len(sums) == 1 else None)


@given(answers(), st.sampled_from([Fraction(1), Fraction(1, 2)]))
def test_what_is_a_count_adds_1_or_nothing(answer, grid):
    answer = replace(answer, grid=grid)
    added = {number for entry in range(3) for row in answer.contribution(entry).tolist() for number in row}
    assert not answer.is_count or (grid == 1 and added <= {0, 1})


def test_a_count_is_known_as_one():
    ones, twos = np.eye(2, dtype=np.int64), 2 * np.eye(2, dtype=np.int64)
    for tables, weights, table_of, counts in (
        ((ones,), [1, 0], None, True), ((ones,), [1, -1], None, False), ((ones,), [2, 0], None, False),
        ((twos,), [1, 1], None, False), ((ones, -ones), [1, 1], [0, 1], False), ((ones, ones), [0, 1], [1, 0], True),
    ):  # fmt: skip
        which = None if table_of is None else np.array(table_of)
        assert Additive(Fraction(1), ("a", "b"), tables, np.array(weights), which).is_count is counts
        assert not Additive(Fraction(1, 3), ("a", "b"), tables, np.array(weights), which).is_count


def test_the_sum_of_a_histogram_is_the_number_of_its_entries():
    chain = tf.MarkovChain([[0.5, 0.5], [0.5, 0.5]], 5)
    assert resolved(tf.Histogram(), chain).constant_sum() == 5
    assert resolved(tf.Histogram(entries=[0, 3]), chain).constant_sum() == 2
    assert resolved(tf.Count(1), chain).constant_sum() is None
    tables = (np.zeros((0, 1), dtype=np.int64), np.ones((2, 1), dtype=np.int64))  # the first is of nobody
    assert Additive(Fraction(1), ("a",), tables, np.array([3, 4]), np.array([1, 1])).constant_sum() == 7


def test_blocks_are_its_cells_in_order():
    tables = (np.arange(12).reshape(2, 6), np.arange(12, 30).reshape(3, 6))
    answer = Additive(Fraction(1, 3), tuple("abcdef"), tables, np.array([1, -2]), np.array([1, 0]))
    blocks = list(answer.blocks(3))
    assert [block.labels for block in blocks] == [("a", "b"), ("c", "d"), ("e", "f")]
    whole = np.concatenate([block.totals(np.array([[2, 1]])) for block in blocks], axis=1)
    assert whole.tolist() == answer.totals(np.array([[2, 1]])).tolist()
    assert {block.grid for block in blocks} == {Fraction(1, 3)}


def test_the_largest_answer_is_twice_below_what_integers_hold():
    """Twice its reach at most: a difference of two answers is an integer of 64 bits, too."""
    half = int(LARGEST_ANSWER) // 4
    few, many = np.array([[0, 0], [half, -half]]), np.array([[0, 0], [half, -half - 1024]])
    assert Additive(Fraction(1), ("a", "b"), (few,), np.array([1])).change([0]) == 2 * half
    with pytest.raises(InputError, match=r"can exceed 2\*\*61 steps"):
        Additive(Fraction(1), ("a", "b"), (many,), np.array([-1]))
    with pytest.raises(InputError, match=r"can exceed 2\*\*61 steps"):
        Additive(Fraction(1), ("a", "b"), (few, many), np.array([0, 1]), np.array([0, 1]))
    assert Additive(Fraction(1), ("a", "b"), (few, many), np.array([0, 1]), np.array([1, 0])).change([0]) == 0


@pytest.mark.parametrize(("query", "present", "nobody"), [
    (tf.Histogram(), [[1, 0], [0, 1]], [0, 0]), (tf.Count(7), [[0], [1]], [0]),
    (tf.Sum(), [[5], [7]], [0]), (tf.Sum(codes={5: -1, 7: 2}), [[-1], [2]], [0]),
])  # fmt: skip
def test_who_is_removed_adds_nothing_and_who_is_unknown_adds_what_a_value_does(query, present, nobody):
    for absence, last in (("removed", nobody), ("unknown", present[0])):
        users = tf.IndependentUsers.groups([(2, {5: 0.5, 7: 0.5}, 0.5)], absence)
        answer = resolved(query, users)
        contributions = [[int(number * answer.grid) for number in row] for row in answer.contribution(1).tolist()]
        assert contributions == [*present, last]


def test_cells_of_a_histogram_that_are_written_alike_are_refused():
    nodes = [("a", [1, 2], [], [0.5, 0.5]), ("b", ["1", "3"], [], [0.5, 0.5])]
    network = tf.BayesianNetwork(nodes)
    with pytest.raises(InputError, match="are written alike, and results could not be told apart"):
        resolved(tf.Histogram(), network)
    assert resolved(tf.Histogram(states=["1", 2]), network).labels == ("1", "2")
    assert resolved(tf.Count("1"), network).evaluate([0, 0]) == (1,)


@pytest.mark.parametrize("belief", [
    tf.JointTable([(0, 0), (1, 1), (1, 2), (0, 3)], [0.25] * 4),
    tf.IndependentUsers([{0: 0.5, 1: 0.5}, {0: 0.25, 1: 0.25, 2: 0.25, 3: 0.25}]),
    tf.IndependentUsers([{0: 0.5, 1: 0.5}, {5: 0.5, 6: 0.25, 7: 0.25}], [0.5, 0.5], "removed"),
    tf.MarkovChain([[0.5, 0.25, 0.25]] * 3, 4),
])  # fmt: skip
def test_every_change_of_a_value_moves_the_answer_by_1(belief):
    answer = EveryChange().resolve(belief)
    for entry in range(belief.size):
        rows = answer.contribution(entry)
        letters = belief.alphabet(entry)
        assert len(rows) == len(letters)
        values = [place for place, letter in enumerate(letters) if letter != "absent"]
        for one, two in combinations(values, 2):
            assert np.abs(rows[one] - rows[two]).sum() * answer.grid == 1
        for nobody in set(range(len(letters))) - set(values):  # as any value, or not there: a half of the change
            moved = {np.abs(rows[nobody] - rows[value]).sum() * answer.grid for value in values}
            assert moved == ({Fraction(1, 2)} if belief.absence == "removed" else {0, 1})


@pytest.mark.parametrize("limit", [0, -1, True, 1.5])
def test_a_limit_of_values_is_a_whole_number_from_1(limit):
    with pytest.raises(InputError) as refusal:
        tf.AtMost(tf.Count("a"), 1, limit=limit)
    assert refusal.value.where == ("limit",)
    assert tf.AtMost(tf.Count("a"), 1, limit=1).limit == 1


@given(st.fractions(0, 5, max_denominator=12), st.integers(0, 12))
def test_safe_is_never_said_above_a_threshold_of_any_grid(threshold, steps):
    """A cell of so many steps of 1/2 is at most the threshold exactly where it is at most the threshold in steps."""
    people = Domain.of(6, ["a", "b", "c"])
    half = tf.Sum(codes={"a": Fraction(1, 2), "b": 1, "c": 0})
    for query, grid in ((half, Fraction(1, 2)), (tf.Count("a"), 1)):
        answer = query.resolve(people)
        (label,) = answer.labels
        for form in (threshold, {label: threshold}):
            assert answer.grid == grid
            assert [steps <= limit for limit in tf.AtMost(query, form).steps(answer)] == [steps * grid <= threshold]
