"""Answers over columns of records, against all data sets: what they are, and how far records and columns move them."""

import json
from fractions import Fraction
from functools import partial
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import cross_oracles as oracle

import takifugu as tf
from takifugu.analysis.questions.evaluating import evaluate, value_indices
from takifugu.core.errors import DataError, InputError, Unsupported
from takifugu.model import queries
from takifugu.model.queries.answer import LARGEST_ANSWER
from takifugu.model.queries.resolving.columns import ColumnAnswer, Record, Term, over_columns

SIZES = (2, 3, 2)
NUMBERS, ONE_OR_TWO = st.integers(-3, 3), st.integers(1, 2)


@st.composite
def answers(draw, terms=ONE_OR_TWO):
    """An answer over two records of three columns; column k is moved by entry k."""
    cells, parts = draw(st.integers(1, 2)), []
    for _ in range(draw(terms)):
        of = tuple(draw(st.permutations(range(3)))[: draw(st.integers(1, 3))])
        shape = (*(SIZES[column] for column in of), cells)
        count = int(np.prod(shape))
        parts.append(Term(of, np.array(draw(st.lists(NUMBERS, min_size=count, max_size=count))).reshape(shape)))
    return ColumnAnswer(Fraction(1), tuple("ab"[:cells]), tuple(parts), 2, (0, 1, 2), 3, ("x", "y", "z"))


ROWS = list(product(*map(range, SIZES)))


def row_adds(answer, row):
    """Return what one record adds to each cell."""
    return [
        sum(int(term.table[tuple(row[column] for column in term.columns)][cell]) for term in answer.terms)
        for cell in range(len(answer.labels))
    ]


def moves(answer, near):
    """Yield how far each cell moves when one record changes in some columns only."""
    for one, other in product(ROWS, repeat=2):
        if all(a == b for column, (a, b) in enumerate(zip(one, other, strict=True)) if column not in near):
            yield [abs(a - b) for a, b in zip(row_adds(answer, one), row_adds(answer, other), strict=True)]


@settings(max_examples=25)
@given(answers(), st.lists(st.sampled_from(ROWS), min_size=2, max_size=2))
def test_what_it_is(answer, rows):
    sums = [sum(cell) for cell in zip(*(row_adds(answer, row) for row in rows), strict=True)]
    assert list(answer.evaluate(np.array(rows))) == sums
    states = np.array([[0, 0, 0, *rows[0], *rows[1]]])  # the entries, then the records
    assert answer.totals(states).tolist() == [sums]


@settings(max_examples=25)
@given(answers(terms=st.just(1)))
def test_how_far_columns_move_it(answer):
    for near in [near for size in (1, 2, 3) for near in combinations(range(3), size)]:
        assert answer.change(near) == 2 * max(map(sum, moves(answer, near)))
    of_record = [max(map(sum, moves(answer, {column}))) for column in range(3)]
    for near in combinations(range(3), 2):
        assert answer.farthest(near) == max(of_record[column] for column in near)
    assert answer.nearest() == min(filter(None, of_record), default=0)
    cells = list(zip(*moves(answer, {0, 1, 2}), strict=True))
    assert answer.cell_ranges() == tuple(2 * max(cell) for cell in cells)
    assert answer.change([]) == answer.farthest([]) == 0


@settings(max_examples=15)
@given(answers(terms=st.just(2)))
def test_several_terms_move_it_no_further(answer):
    for near in [near for size in (1, 2, 3) for near in combinations(range(3), size)]:
        assert answer.change(near) >= 2 * max(map(sum, moves(answer, near)))


@pytest.mark.parametrize("wrong", [[[2, 0, 0]], [[0, 3, 0]], [[0, -1, 0]], [[0, 0, 2]], [[0, 0, 0], [-1, 9, 0]]])
def test_values_that_the_belief_does_not_know_are_refused_without_being_told(wrong):
    table = np.zeros((*SIZES, 1), dtype=np.int64)
    answer = ColumnAnswer(Fraction(1), ("a",), (Term((0, 1, 2), table),), len(wrong), (0, 1, 2), 3, ("x", "y", "z"))
    with pytest.raises(DataError, match="not among the states"):
        answer.evaluate(np.array(wrong))
    with pytest.raises(DataError, match="other records or columns"):
        answer.evaluate(np.zeros((len(wrong) + 1, 3), dtype=np.int64))
    with pytest.raises(DataError, match="other records or columns"):
        answer.evaluate(np.zeros((len(wrong), 2), dtype=np.int64))


def test_the_largest_answer_is_twice_below_what_integers_hold():
    half = int(LARGEST_ANSWER) // 8
    table = np.array([[0, 0], [half, -half]])

    def answer(more):
        return ColumnAnswer(Fraction(1), ("a", "b"), (Term((0,), table - more),), 2, (0,), 1, ("x",))

    assert answer(0).change([0]) == 4 * half
    with pytest.raises(InputError, match=r"can exceed 2\*\*61 steps"):
        answer(np.array([[0, 0], [0, 1024]]))


def test_a_term_of_many_combinations_is_refused(monkeypatch):
    record = Record(("x", "y"), (("a", "b"), ("c", "d", "e")))
    query = tf.CountRows({"x": "a", "y": ["c", "d"]})
    monkeypatch.setattr(tf.CountRows, "most_rows", 6)
    assert over_columns(query, record, 1, (0, 1), 2).change([0, 1]) == 1
    monkeypatch.setattr(tf.CountRows, "most_rows", 5)
    with pytest.raises(Unsupported, match="needs 6 combinations"):
        over_columns(query, record, 1, (0, 1), 2)
    with pytest.raises(InputError, match="chooses entries"):
        over_columns(tf.GroupBy(tf.Count("a"), {"all": ["x"]}), record, 1, (0, 1), 2)
    with pytest.raises(InputError, match="is one number, and there are 3 records"):
        over_columns(tf.Identity("x"), record, 3, (0, 1), 2)


@pytest.mark.parametrize("other", [(0, 1), (0, 5), (5, 0, 2)])
def test_each_column_has_its_own_values(other):
    record = Record(("x", "y"), ((0, 1), other))
    assert record.one_alphabet is (other == (0, 1))
    answer = over_columns(tf.Sum(), record, 2, (0, 1), 2)
    assert [answer.change([column]) * answer.grid for column in (0, 1)] == [2, 2 * (max(other) - min(other))]
    data = np.array([[1, 1], [0, len(other) - 1]])
    assert answer.evaluate(data)[0] * answer.grid == 1 + other[1] + other[-1]
    with pytest.raises(InputError):
        over_columns(tf.Sum("z"), record, 2, (0, 1), 2)
    with pytest.raises(InputError):
        record.position("z")


def test_answers_that_are_joined_have_the_cells_of_each():
    record = Record(("x", "y"), ((0, 5, 7), ("c", "d")))
    parts = (tf.Sum("x"), tf.Mean("x"), tf.CountRows({"y": "d"}))
    joined = over_columns(tf.JointQuery(parts), record, 2, (0, 1), 2)
    data = np.array([[1, 1], [2, 0]])
    assert [cell * joined.grid for cell in joined.evaluate(data)] == [12, 6, 1]
    assert joined.change([0]) * joined.grid == 14 + 7
    assert joined.change([1]) * joined.grid == 2


STATES = ("a", "b", "c")
CONDITIONS = st.dictionaries(st.sampled_from("xyz"), st.sets(st.sampled_from(STATES), min_size=1), min_size=1)


@given(CONDITIONS, st.booleans())
def test_a_record_is_counted_as_the_conditions_say(where: dict[str, set[str]], any_of: bool) -> None:
    query = tf.CountRows(where, any_of)
    for x, y, z in product(STATES, repeat=3):
        record = {"x": x, "y": y, "z": z}
        met = [record[column] in states for column, states in where.items()]
        assert query.holds(record) == (max(met) if any_of else min(met))
    again = queries.from_dict(json.loads(json.dumps(query.to_dict())))
    assert again == query
    assert again.describe() == query.describe()


@pytest.mark.parametrize("query", [tf.CountRows({"x1": 1}), tf.CrossTable(["x1"])])
def test_it_requires_records(query: queries.Query) -> None:
    coin = tf.Pufferfish(tf.every_entry(), tf.JointTable([(0,), (1,)], [0.5, 0.5]))
    with pytest.raises(InputError, match="requires a belief over records"):
        tf.calibrate(coin, query, 1)


ALPHABETS = {"age": ("old", "young"), "sex": ("f", "m"), "smokes": (0, 1)}
EVERY = tuple(product(*ALPHABETS.values()))

COLUMNS = st.lists(st.sampled_from([*ALPHABETS]), min_size=1, unique=True).flatmap(
    lambda names: st.one_of(
        st.just(names),
        st.fixed_dictionaries({n: st.lists(st.sampled_from(ALPHABETS[n]), min_size=1, unique=True) for n in names}),
    )
)
SOME_ROWS = st.lists(st.sampled_from(EVERY), min_size=1, max_size=4, unique=True)


def records_of(rows: list[Any], records: int) -> tf.Records:
    return tf.Records(tf.JointTable(rows, [1 / len(rows)] * len(rows), names=[*ALPHABETS]), records)


def cells_of(columns: Any, belief: Any) -> tuple[list[int], list[Any]]:
    """Return the places of the columns, and the combinations that have cells."""
    known = dict(zip(belief.columns, (belief.table.alphabet(i) for i in range(3)), strict=True))
    values = [columns[n] if isinstance(columns, dict) else known[n] for n in columns]
    return [[*ALPHABETS].index(n) for n in columns], list(product(*values))


@settings(max_examples=50, deadline=None)
@given(COLUMNS, SOME_ROWS, st.integers(1, 2), st.data())
def test_it_counts_and_moves_as_all_data_sets_say(columns: Any, rows: list[Any], records: int, data: Any) -> None:
    belief = records_of(rows, records)
    query = tf.CrossTable(columns)
    try:
        answer = belief.resolve(query)
    except InputError:  # a value with a cell that no row has
        assert isinstance(columns, dict)
        return
    places, cells = cells_of(columns, belief)
    assert answer.labels == tuple(", ".join(map(str, cell)) for cell in cells)
    sample = data.draw(st.lists(st.sampled_from(rows), min_size=records, max_size=records))
    assert list(evaluate(answer, value_indices(belief, sample))) == oracle.table(sample, places, cells)
    for moved in range(1, records + 1):
        assert answer.change(range(moved)) == oracle.change_of_records(rows, records, moved, places, cells)
    again = queries.from_dict(json.loads(json.dumps(query.to_dict())))
    assert again == query
    assert again.describe() == query.describe()


@settings(max_examples=12, deadline=None)
@given(COLUMNS, st.integers(1, 2))
def test_whole_columns_move_it_as_all_data_sets_say(columns: Any, records: int) -> None:
    coins = {"few": {0: "0.7", 1: "0.3"}, "many": {0: "0.4", 1: "0.6"}}
    prior = tf.JointTable([(a, b, c) for a, b, c in product(["few", "many"], repeat=3)], [1 / 8] * 8, [*ALPHABETS])
    laws = {name: {level: dict(zip(ALPHABETS[name], law.values(), strict=True)) for level, law in coins.items()}
            for name in ALPHABETS}  # fmt: skip
    belief = tf.Parameters(prior, laws, records)
    answer = belief.resolve(tf.CrossTable(columns))
    names = [belief.described[i].name for i in range(3)]
    alphabets = {column.name: column.states for column in belief.described}
    rows = list(product(*(alphabets[name] for name in names)))
    values = [columns[n] if isinstance(columns, dict) else alphabets[n] for n in columns]
    places, cells = [names.index(n) for n in columns], list(product(*values))
    for near in [(0,), (1,), (2,), (0, 2), (0, 1, 2)]:
        entries = [belief.position(names[place]) for place in near]
        assert answer.change(entries) == oracle.change_of_columns(rows, records, near, places, cells)
    sample = rows[:records]
    assert list(evaluate(answer, value_indices(belief, sample))) == oracle.table(sample, places, cells)


@pytest.mark.parametrize(("make", "where"), [
    *((partial(tf.CountRows, rows), ("where",)) for rows in ({}, {3: "a"}, {"x": "a", 3: "a"})),
    (partial(tf.CountRows, {"x": []}), ("where", "x")),
    *((partial(tf.CrossTable, columns), ("columns",)) for columns in ([], "age", 3, ["age", "age"], [3])),
    (partial(tf.CrossTable, {"age": []}), ("columns", "age")),
    (partial(tf.CrossTable, {"age": [["x"]]}), ("states",)),
    *((partial(tf.CrossTable, ["age"], total=total), ("total",)) for total in (0, -1, 1.5, True, "x")),
])  # fmt: skip
def test_what_is_refused_says_where(make, where: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as refusal:
        make()
    assert refusal.value.where == where


@pytest.mark.parametrize(("columns", "message"), [
    (["agee"], "did you mean 'age'"), ({"age": ["yung"]}, "did you mean 'young'"),
])  # fmt: skip
def test_an_unknown_name_is_told_with_the_nearest_one(columns: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        records_of([*EVERY], 3).resolve(tf.CrossTable(columns))


def test_cells_that_are_written_alike_are_refused() -> None:
    belief = tf.Records(tf.JointTable([("a, b", "c"), ("a", "b, c")], [0.5, 0.5], names=["x", "y"]), 3)
    with pytest.raises(InputError, match="could not be told apart"):
        belief.resolve(tf.CrossTable(["x", "y"]))


def test_too_large_a_table_is_refused() -> None:
    names = list("abcdefgh")
    rows = [tuple(int(i == j) * n for i in range(8)) for j in range(8) for n in range(9)]
    belief = tf.Records(tf.JointTable(list(dict.fromkeys(rows)), [1 / 65] * 65, names=names), 3)
    with pytest.raises(InputError, match="at most 10,000,000"):
        belief.resolve(tf.CrossTable(names))


@pytest.mark.parametrize(("columns", "labels", "parts"), [
    (["a", "b"], ["x, 1", "y, 2"], (("x", "1"), ("y", "2"))), (["a", "b"], ["x, y, 1"], None), (["a"], ["x"], None),
    ({"a": ["x, y"], "b": [1]}, ["x, y, 1"], (("x, y", "1"),)), (["a", "b", "c"], ["x, 1, 2"], None),
])  # fmt: skip
def test_labels_are_told_apart_where_they_can_be(columns: Any, labels: list[str], parts: Any) -> None:
    assert tf.CrossTable.two_way(tf.CrossTable(columns).to_dict(), labels) == parts


@pytest.mark.parametrize("codes", [{"still": 0, "walking": 1}, ["weight"]])
@pytest.mark.parametrize("query", [tf.Sum, tf.Mean])
def test_what_is_no_name_of_a_column_is_told_where_codes_go(query: Any, codes: Any) -> None:
    with pytest.raises(InputError, match=r"is not a column: write codes=\{...\}") as refusal:
        query(codes)
    assert refusal.value.where == ("attribute",)
