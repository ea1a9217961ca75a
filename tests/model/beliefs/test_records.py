"""Records of named columns: what is refused, how queries and data are read, and the way to a file and back."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import takifugu as tf
from takifugu.analysis.questions.evaluating import evaluate, value_indices
from takifugu.core.errors import CalibrationRefused, DataError, InputError, Unsupported
from takifugu.model.beliefs.estimate import is_private_source
from takifugu.model.beliefs.records.possible_sums import Steps

ROWS = [("a", 0, 1.5), ("a", 1, 0.0), ("b", 0, 2.0), ("b", 1, 0.0)]
TABLE = tf.JointTable(ROWS, [0.25, 0.25, 0.5, 0.0], names=["group", "ill", "x"])
PEOPLE = tf.Records(TABLE, 4)
DATA = [("b", 0, 2.0), ("a", 0, 1.5), ("a", 1, 0.0), ("b", 0, 2.0)]


@pytest.mark.parametrize("n", [0, -1, 2.5, True, "3", None, 10**9])
def test_a_number_of_records_that_is_none(n):
    with pytest.raises(InputError) as refusal:
        tf.Records(TABLE, n)
    assert refusal.value.where == ("n",)


def test_what_is_no_table_of_named_columns():
    with pytest.raises(InputError, match="MarkovChain"):
        tf.Records(tf.MarkovChain([[0.5, 0.5], [0.5, 0.5]], 2), 3)
    with pytest.raises(InputError, match="no name in text"):
        tf.Records(tf.JointTable([(0, 1)], [1], names=[1, 2]), 3)


def test_it_tells_its_source():
    assert PEOPLE.source == "assumed"
    counted = tf.JointTable.from_counts(ROWS, [1, 1, 2, 0], TABLE.column_names, source="these people", private=True)
    private = tf.Records(counted, 4)
    assert is_private_source(private.source)
    framework = tf.Pufferfish(tf.dataset_property("ill", "mean"), private)
    with pytest.raises(CalibrationRefused, match="estimated from the private data"):
        tf.calibrate(framework, tf.Mean("x"), 1)
    calibration = tf.calibrate(framework, tf.Mean("x"), 1, allow_private_belief=True)
    assert any("private data" in condition for condition in calibration.guarantee.conditions)


def test_it_says_whether_the_distribution_is_stated_or_one_of_a_class():
    """A class was once called the stated distribution, though a row that was never counted is none of its own."""
    table = tf.JointTable([("a", 0), ("b", 1)], [0.5, 0.5], names=["group", "ill"])
    stated, of_class = (
        next(iter(tf.Records(table, 40, within=within).assumptions())).text
        for within in (None, [("0.4", "0.6"), ("0.4", "0.6")])
    )
    assert "the same stated joint distribution" in stated
    assert "stated joint" not in of_class
    assert "within the stated intervals: none but these 2 different rows can occur" in of_class


def test_a_framework_reads_back_as_itself():
    secret = tf.dataset_property("group", "share", of="b", sets=[(None, "1/2"), ("1/2", None)])
    framework = tf.Pufferfish(secret, PEOPLE)
    assert tf.Framework.from_dict(framework.to_dict()).fingerprint() == framework.fingerprint()
    labels = [comparison.label for comparison in framework.comparisons()]
    assert labels[0] == "the share of 'b' in 'group' is below 0.5 against the share of 'b' in 'group' is at least 0.5"


@pytest.mark.parametrize(("query", "answer", "grid"), [
    (tf.Sum("x"), 11, Fraction(1, 2)),
    (tf.Mean("x"), 11, Fraction(1, 8)),
    (tf.Count("a", entries=["group"]), 2, 1),
    (tf.CountRows({"group": "b", "ill": 0}), 2, 1),
    (tf.CountRows({"group": "b", "ill": 1}, any_of=True), 3, 1),
    (tf.Linear([0, 2, 1], codes={"a": 0, "b": 0, 0: 0, 1: 1, 1.5: "1.5", 2.0: 2}), 15, Fraction(1, 2)),
])  # fmt: skip
def test_answers_add_up_over_records(query, answer, grid):
    resolved = PEOPLE.resolve(query)
    assert evaluate(resolved, value_indices(PEOPLE, DATA)) == (answer,)
    assert resolved.grid == grid
    assert resolved.size == 4


def test_a_histogram_has_the_cells_of_the_columns_that_it_names():
    resolved = PEOPLE.resolve(tf.Histogram(entries=["group"]))
    assert resolved.labels == ("a", "b")
    assert evaluate(resolved, value_indices(PEOPLE, DATA)) == (2, 2)


class Odd(tf.Query):
    """A query of somebody else, which may say what it adds per record."""

    def resolve(self, entries):
        raise AssertionError

    def to_dict(self):
        return {"kind": "odd"}

    def describe(self):
        return "something odd"


class Additive(Odd):
    def over_records(self, belief):
        return belief.resolve(tf.Sum("x"))


@pytest.mark.parametrize("module", [__name__, "takifugu.model.queries.odd"])
def test_queries_of_others_say_what_they_add_per_record_also_inside_the_package(module, monkeypatch):
    for kind in (Odd, Additive):
        monkeypatch.setattr(kind, "__module__", module)
    with pytest.raises(Unsupported, match="does not say what it adds per record"):
        PEOPLE.resolve(Odd())
    assert PEOPLE.resolve(Additive()).grid == Fraction(1, 2)


@pytest.mark.parametrize("engine", ["columns", "arrays", "rows", "mappings", "pandas", "polars", "pyarrow"])
def test_data_of_every_form_are_the_same_records(engine):
    columns = {name: [row[i] for row in DATA] for i, name in enumerate(PEOPLE.columns)}
    given = {
        "columns": lambda: columns,
        "arrays": lambda: {name: np.array(values) for name, values in columns.items()},
        "rows": lambda: DATA,
        "mappings": lambda: [dict(zip(PEOPLE.columns, row, strict=True)) for row in DATA],
        "pandas": lambda: pytest.importorskip("pandas").DataFrame(columns),
        "polars": lambda: pytest.importorskip("polars").DataFrame(columns).lazy(),
        "pyarrow": lambda: pytest.importorskip("pyarrow").table(columns),
    }[engine]()
    rows = value_indices(PEOPLE, given)
    assert sorted(rows.tolist()) == [0, 1, 2, 2]
    assert evaluate(PEOPLE.resolve(tf.Sum("x")), rows) == (11,)


PRIVATE = "Zorro"


@pytest.mark.parametrize(("data", "words"), [
    (DATA[:3], "another number"),
    ([], "another number"),
    ([*DATA[:3], (PRIVATE, 0, 2.0)], "the column 'group'"),
    ([*DATA[:3], ("a", None, 1.5)], "the column 'ill'"),
    ([*DATA[:3], ("a", 0, 2.0)], "combination of values"),
    ([*DATA[:3], ("a", 0)], "one value for each of the columns"),
    ([*DATA[:3], ("a", 0, [PRIVATE])], "the column 'x'"),
    ({"group": ["a"], "ill": [0]}, "no column 'x'"),
    ({"group": ["a"], "ill": [0], "x": [1.5, 2.0]}, "different lengths"),
    ({"group": "aaaa", "ill": [0], "x": [1.5]}, "not a sequence"),
])  # fmt: skip
def test_data_that_the_belief_does_not_know(data, words):
    with pytest.raises(DataError, match=words) as refusal:
        value_indices(PEOPLE, data)
    assert PRIVATE not in str(refusal.value)


@pytest.mark.parametrize("column", ["group", "ill"])
def test_frames_that_the_belief_does_not_know(column):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({name: [row[i] for row in DATA] for i, name in enumerate(PEOPLE.columns)})
    odd = frame.with_columns((polars.lit(None, polars.Int64) if column == "ill" else polars.lit(PRIVATE)).alias(column))
    with pytest.raises(DataError, match=f"the column {column!r}") as refusal:
        value_indices(PEOPLE, odd)
    assert PRIVATE not in str(refusal.value)
    with pytest.raises(DataError, match="another number"):
        value_indices(PEOPLE, frame.head(2))
    with pytest.raises(DataError, match="combination"):
        value_indices(PEOPLE, frame.with_columns(polars.lit(2.0).alias("x")))


def test_a_frame_holds_the_records_of_its_rows_whatever_its_types(tmp_path):
    pandas = pytest.importorskip("pandas")
    import pyarrow

    values = [("a", 0, True), ("b", 1, True), ("b", 2.5, False)]
    people = tf.Records(tf.JointTable(values, [0.5, 0.25, 0.25], names=["g.1", "n", "b"]), 4)
    rows = [("b", 2.5, False), ("a", 0, True), ("b", 1, True), ("a", 0, True)]
    frame = pandas.DataFrame(rows, columns=["g.1", "n", "b"])
    frame.assign(n=["2.5", "0", "1", "0"]).to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    decimals = pyarrow.Table.from_pandas(frame.assign(n=[Decimal(n) for n in ("2.5", "0.0", "1.0", "0.0")]))
    frames = [frame, decimals, frame.astype({"g.1": "category"}), tmp_path / "a.csv", str(tmp_path / "a.parquet")]
    for data in [*frames, f"select * from read_parquet('{tmp_path / 'a.parquet'}')"]:
        assert value_indices(people, data).tolist() == sorted(value_indices(people, rows).tolist())
    with pytest.raises(DataError, match=r"no column 'n'; its column 2 is spelt alike"):
        value_indices(people, frame.rename(columns={"n": "nn"}))
    with pytest.raises(DataError, match="the column 'n'"):
        value_indices(people, frame.assign(n=[float("nan"), 0, 1, 0]))
    with pytest.raises(DataError, match=r"the column 'g\.1'"):
        value_indices(people, frame.assign(**{"g.1": [" a", "a", "b", "a"]}))


@pytest.mark.parametrize(("secret", "key", "words"), [
    (tf.dataset_property("race", "share", of="a"), "attribute", "no column 'race'"),
    (tf.dataset_property("grup", "share", of="a"), "attribute", "did you mean 'group'"),
    (tf.dataset_property("group", "share"), "of", "names no value"),
    (tf.dataset_property("group", "share", of="c"), "of", "has no value 'c'"),
    (tf.dataset_property("group", "mean"), "attribute", "is no number"),
    (tf.dataset_property("ill", "mean", pairs=[(0, "1/3")]), "pairs", "cannot take"),
    (tf.dataset_property(["ill", "x"], "mean", pairs=[(0, 1)]), "pairs", "several numbers"),
    (tf.dataset_property(["ill", "x"], "mean", sets=[[0], [1]]), "sets", "several numbers"),
    (tf.every_entry("race"), "attribute", "no column"),
    (tf.every_entry("group", max_difference=1), "attribute", "is no number"),
    (tf.distribution_parameter("group"), "secrets", "no parameter"),
    (tf.dataset_property("ill", tf.NamedFunction("bad", 1, lambda v: "nothing")), "function", "cannot be computed"),
    (tf.attribute("group", "a", "b"), "entry", "does not name a record"),
])  # fmt: skip
def test_secrets_that_do_not_fit(secret, key, words):
    with pytest.raises(InputError, match=words) as refusal:
        tf.Pufferfish(secret, PEOPLE)
    assert key in refusal.value.where


def test_a_property_of_one_value():
    sure = tf.Records(tf.JointTable([("a", 0), ("a", 1)], [0.5, 0.5], names=["group", "ill"]), 5)
    with pytest.raises(InputError, match="one value under every belief"):
        tf.Pufferfish(tf.dataset_property("group", "share", of="a"), sure)
    both = [sure, tf.Records(tf.JointTable([("a", 0), ("a", 1)], [0.1, 0.9], names=["group", "ill"]), 5)]
    assert tf.Pufferfish(tf.dataset_property("ill", "mean"), both).definition == "attribute"


def test_too_many_combinations_for_a_function():
    many = tf.Records(TABLE, 40)
    with pytest.raises(Unsupported, match="combinations of records"):
        tf.Pufferfish(tf.dataset_property("x", tf.NamedFunction("middle", 1, lambda v: sorted(v)[len(v) // 2])), many)


def test_whole_records_are_hidden_by_noise_for_all_of_them_only():
    framework = tf.Pufferfish(tf.every_entry(), tf.Records(TABLE, 2))
    with pytest.raises(CalibrationRefused, match="columns are hidden, not whole records"):
        tf.calibrate(framework, tf.Sum("ill"), 1, mechanism="wasserstein")
    assert tf.calibrate(framework, tf.Sum("ill"), 1, mechanism="group-dp").scale == 2


def test_a_release_from_a_frame(tmp_path):
    framework = tf.Pufferfish(tf.dataset_property("group", "share", of="b"), PEOPLE)
    calibration = tf.calibrate(framework, tf.Mean("ill"), 1, mechanism="laplace-exact")
    with pytest.raises(DataError, match="another number"):
        tf.release(calibration, DATA[:2], entries="values", ledger=tmp_path / "l.db")
    released = tf.release(calibration, DATA, entries="values", ledger=tmp_path / "l.db")
    assert float(released.value) * 4 == pytest.approx(round(float(released.value) * 4))
    assert "the share of 'b' in 'group' of the records at hand" in str(released.certificate)


def test_steps_are_the_tuple_that_they_stand_for():
    steps, listed = Steps(Fraction(1), Fraction(1, 2), 5), [Fraction(2 + k, 2) for k in range(5)]
    assert list(steps) == listed
    assert steps[-1] == listed[-1]
    assert steps[1:4] == tuple(listed[1:4])
    assert [steps.index(value) for value in listed] == [0, 1, 2, 3, 4]
    assert listed[2] in steps
    assert Fraction(1, 3) not in steps
    assert "text" not in steps
    with pytest.raises(IndexError):
        _ = steps[5]


def test_masses_beyond_every_float_are_refused_shortly() -> None:
    with pytest.raises(InputError, match="sum to 1000000000") as refused:
        tf.JointTable([(0, 0), (1, 1)], [10**400 - 1, 1])
    assert len(str(refused.value)) < 200
