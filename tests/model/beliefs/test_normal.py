"""Normal records: what is validated, what a query and a secret mean, and the conditional laws by blocks."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import jarque_bera, kurtosis, skew
from tests.support.normal_oracles import of_all_records

import takifugu as tf
from takifugu.analysis.answer_laws.normal import conditional
from takifugu.analysis.questions.evaluating import value_indices
from takifugu.core.errors import DataError, InputError, Unsupported
from takifugu.model import beliefs
from takifugu.model.beliefs.estimate import is_private_source
from takifugu.model.beliefs.records.normal_fit import normality
from takifugu.model.queries import resolved
from takifugu.model.secrets.families import view_of

COVARIANCE = [[100, 5, 4, 30], [5, 49, 40, 3], [4, 40, 144, -12], [30, 3, -12, 81]]
NAMES = ["sat", "height", "weight", "income"]


def four(records: int = 500, **more: object) -> tf.MultivariateNormal:
    return tf.MultivariateNormal([10, 170, 70, 40], COVARIANCE, NAMES, records, **more)


@pytest.mark.parametrize(("wrong", "key"), [
    ({"covariance": [[1, 2], [2, 1]]}, "covariance"),
    ({"covariance": [[1, 0.5], [0.4, 1]]}, "covariance"),
    ({"covariance": [[-1, 0], [0, 1]]}, "covariance"),
    ({"covariance": [[1]]}, "covariance"),
    ({"covariance": [[1, "nan"], ["nan", 1]]}, "covariance"),
    ({"mean": [0]}, "mean"),
    ({"names": ["a", "a"]}, "names"),
    ({"records": 0}, "records"),
    ({"records": 2.5}, "records"),
    ({"ranges": {"c": (0, 1)}}, "ranges"),
    ({"ranges": {"a": (1, 1)}}, "ranges"),
    ({"resolution": 0}, "resolution"),
])  # fmt: skip
def test_what_a_normal_belief_refuses(wrong, key):
    right = {"mean": [0, 0], "covariance": [[1, 0.5], [0.5, 1]], "names": ["a", "b"], "records": 10}
    with pytest.raises(InputError) as refusal:
        tf.MultivariateNormal(**{**right, **wrong})
    assert key in refusal.value.where


def test_a_belief_reads_back_as_itself():
    given = four(ranges={"sat": (0, 20)}, resolution="0.01", source="a survey")
    again = beliefs.from_dict(given.to_dict())
    assert again.to_dict() == given.to_dict()
    assert "count as the end" in given.assumptions()[1].text
    assert again.ranges == given.ranges


@given(st.integers(2, 5), st.lists(st.integers(-3, 3), min_size=16, max_size=16), st.data())
def test_conditional_laws_are_those_of_all_records_at_once(records, numbers, data):
    root = np.array(numbers).reshape(4, 4)
    covariance = root @ root.T
    belief = tf.MultivariateNormal([0] * 4, covariance.tolist(), NAMES, records)
    weights = data.draw(st.lists(st.integers(-2, 2), min_size=4, max_size=4))
    queries = [tf.Linear(weights), tf.Mean("weight")]
    answer = resolved(tf.JointQuery(queries), belief)
    cells = [weights, [0, 0, 1 / records, 0]]
    for secret, hidden, single in (
        (tf.dataset_property("income", "mean", max_difference=5), [[0, 0, 0, 1 / records]], False),
        (tf.dataset_property(["sat", "income"], [1, -2], max_difference=5), [[1 / records, 0, 0, -2 / records]], False),
        (tf.dataset_property(["sat", "income"], "sum", max_difference=5), [[1, 0, 0, 0], [0, 0, 0, 1]], False),
        (tf.every_entry("income", max_difference=5), [[0, 0, 0, 1]], True),
    ):
        try:
            view = view_of(belief, secret)
        except InputError:
            spread = np.array(hidden) @ covariance @ np.array(hidden).T
            assert np.linalg.matrix_rank(spread, tol=1e-9) < len(hidden)
            continue
        slope, residual = of_all_records(covariance, records, cells, hidden, single)
        for index in range(1, len(view.differences)):
            shift, left = conditional(view, answer, view.differences[index])
            np.testing.assert_allclose(np.array(shift, dtype=float), slope @ np.array(view.differences[index], float),
                                       rtol=1e-7, atol=1e-7)  # fmt: skip
            np.testing.assert_allclose(np.array(left, dtype=float), residual, rtol=1e-7, atol=1e-6)


@pytest.mark.parametrize(("secret", "message"), [
    (tf.dataset_property("age", "mean", max_difference=1), "no column 'age'"),
    (tf.dataset_property("income", "mean"), "bounds none"),
    (tf.every_entry("income"), "bounds none"),
    (tf.every_entry(), "names no column"),
    (tf.dataset_property("income", "share", of=1), "linear in the columns"),
    (tf.dataset_property("income", tf.NamedFunction("top", 1, max)), "linear in the columns"),
    (tf.dataset_property(["income", "sat"], "mean", sets=[(None, 1), (1, None)]), "give max_difference"),
    (tf.distribution_parameter("income", interval=(1, 2), map="variance"), "prove nothing"),
    (tf.distribution_parameter("income", values=[-1, 2], map="variance"), "above 0"),
    (tf.distribution_parameter("income", values=[1, 2], map="median"), "median"),
    (tf.entry(0, 1, 2), "cannot take"),
])  # fmt: skip
def test_what_a_normal_belief_does_not_hide(secret, message):
    with pytest.raises(InputError, match=message):
        tf.Pufferfish(secret, four())


def test_a_constant_column_has_nothing_to_hide():
    flat = tf.MultivariateNormal([0, 0], [[0, 0], [0, 1]], ["a", "b"], 10)
    with pytest.raises(InputError, match="one value only"):
        tf.Pufferfish(tf.dataset_property("a", "mean", max_difference=1), flat)
    twins = tf.MultivariateNormal([0, 0], [[4, 6], [6, 9]], ["a", "b"], 10)
    with pytest.raises(InputError, match="follows from the others"):
        tf.Pufferfish(tf.dataset_property(["a", "b"], "mean", max_difference=[1, 1]), twins)


def test_a_query_without_a_grid_has_a_readable_one():
    assert resolved(tf.Mean("weight"), four()).grid == Fraction(1, 10_000)  # the deviation is .54
    assert resolved(tf.Sum("weight"), four()).grid == Fraction(1, 10)  # 268
    assert resolved(tf.Mean("weight", grid="0.5"), four()).grid == Fraction(1, 2)


@pytest.mark.parametrize("query", [tf.Count(3), tf.Histogram(), tf.Mean("weight", codes={1: 2}), tf.Linear([1])])
def test_queries_that_real_numbers_do_not_answer(query):
    with pytest.raises(InputError):
        resolved(query, four())


def test_a_column_is_given_by_its_name_or_its_number():
    by_name, by_number = (resolved(tf.Mean(column), four()) for column in ("weight", NAMES.index("weight")))
    assert by_number.coefficients == by_name.coefficients
    with pytest.raises(InputError, match="no column 4"):
        resolved(tf.Mean(4), four())


def test_changes_are_bounded_where_ranges_are():
    bounded = four(10, ranges={"weight": (40, 140)})
    answer = resolved(tf.Mean("weight", grid="0.1"), bounded)
    assert answer.entry_changes().tolist() == [100] * 10
    assert answer.farthest(range(10)) == answer.nearest() == 100
    with pytest.raises(Unsupported, match="'income'"):
        resolved(tf.Mean("income"), bounded).entry_changes()


def test_data_are_read_exactly_from_columns_and_from_records():
    belief = tf.MultivariateNormal([0, 0], [[1, 0], [0, 1]], ["a", "b"], 3, {"a": (0, 5)}, resolution="0.1")
    columns = {"a": [0.12, 1, 5], "b": [-0.3, 2, 1e3]}
    rows = [(0.12, -0.3), (1, 2), (5, 1000)]
    arrays = {name: np.array(values) for name, values in columns.items()}
    mappings = [{"a": a, "b": b} for a, b in rows]
    for data in (columns, rows, arrays, mappings):
        assert value_indices(belief, data).totals == (Fraction("6.1"), Fraction("1001.7"))
    same = value_indices(belief, columns).tobytes()
    assert value_indices(belief, arrays).tobytes() == same
    assert value_indices(belief, {**columns, "b": [-0.3, 2, 1e3 - 1]}).tobytes() != same
    assert "1000" not in repr(value_indices(belief, columns))


def test_frames_give_the_same_columns():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    arrow = pytest.importorskip("pyarrow")
    belief = tf.MultivariateNormal([0, 0], [[1, 0], [0, 1]], ["a", "b"], 2)
    data = {"b": [0.1, 2.5], "a": [3, 4], "c": ["x", "y"]}
    for frame in (pandas.DataFrame(data), polars.DataFrame(data), arrow.table(data)):
        assert value_indices(belief, frame).totals == (Fraction(7), Fraction("2.6"))


@pytest.mark.parametrize("data", [
    {"a": [1, 2]}, {"a": [1, 2, 3], "b": [1, 2, 3]}, {"a": [1, None], "b": [1, 2]},
    {"a": [1, float("nan")], "b": [1, 2]}, {"a": [1, "2"], "b": [1, 2]}, {"a": [1, True], "b": [1, 2]},
    {"a": [1, True], "b": [1, 1]}, {"a": [1, [2]], "b": [1, 2]},
    [(1, 2), (3,)], [(1, 2), 3], "ab", 7, [{"a": 1}, {"a": 2}],
])  # fmt: skip
def test_data_that_are_refused(data):
    belief = tf.MultivariateNormal([0, 0], [[1, 0], [0, 1]], ["a", "b"], 2, {"a": (0, 5)})
    with pytest.raises(DataError):
        value_indices(belief, data)


def test_numbers_outside_of_their_range_are_clipped():
    belief = tf.MultivariateNormal([0], [[1]], ["a"], 3, {"a": (0, 5)})
    assert value_indices(belief, {"a": [-1, 3, 99]}).totals == (8,)


def test_fitted_beliefs_say_where_they_come_from():
    generator = np.random.default_rng(5)
    x = generator.normal(50, 9, 200).round(2)
    data = {"x": x, "twice": 2 * x, "y": generator.normal(0, 1, 200).round(3)}
    fitted = tf.MultivariateNormal.fit(data, source="a public survey", records=50)
    assert fitted.records == 50
    assert fitted.source == "a public survey; a point estimate"
    assert float(fitted.covariance[0][2]) == pytest.approx(np.cov(x, data["y"])[0, 1], rel=1e-10)
    private = tf.MultivariateNormal.fit(data, ["x"], source="these customers", private=True)
    assert is_private_source(private.source)
    framework = tf.Pufferfish(tf.dataset_property("x", "mean", max_difference=5), private)
    with pytest.raises(tf.errors.CalibrationRefused, match="private data"):
        tf.calibrate(framework, tf.Mean("x"), epsilon=1, delta=1e-5)
    for wrong in ({"x": [1]}, {"x": [1, 2], "y": [1]}, {"x": [1, "a"]}, {"x": [1, None]}):
        with pytest.raises(InputError):
            tf.MultivariateNormal.fit(wrong, source="a survey")
    with pytest.raises(InputError, match="source"):
        tf.MultivariateNormal.fit(data, source="")


def test_beliefs_of_one_framework_have_the_same_columns():
    other = tf.MultivariateNormal([0, 0], [[1, 0], [0, 1]], ["sat", "weight"], 500)
    with pytest.raises(InputError, match="columns"):
        tf.Pufferfish(tf.dataset_property("sat", "mean", max_difference=1), [four(), other])


def test_how_normal_numbers_look_is_what_scipy_says():
    draws = np.random.default_rng(3)
    columns = {"x": draws.normal(size=400), "y": draws.exponential(size=400), "flat": np.ones(400)}
    parts = {name: row for name, *row in normality(columns)}
    slope = np.polyfit(columns["y"], columns["x"], 1)[0]
    expected = {
        "'x'": columns["x"], "'y'": columns["y"], "what 'y' leaves of 'x'": columns["x"] - slope * columns["y"],
    }
    for name, numbers in expected.items():
        assert parts[name] == pytest.approx([skew(numbers), kurtosis(numbers), jarque_bera(numbers).pvalue], rel=1e-6)
    assert parts.keys() == {*expected, "what 'x' leaves of 'y'"}
