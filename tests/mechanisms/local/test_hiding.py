"""The mechanisms for one person's rows, set against the enumeration of every data set and every output."""

import json
import math
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import rows_oracle as oracle
from tests.support.rows_oracle import channel_of

import takifugu as tf
from takifugu.analysis.guarantee import Covers
from takifugu.audit import exact_delta, exact_loss
from takifugu.core.errors import CalibrationRefused, DataError, InputError
from takifugu.mechanisms.local.sent import read
from takifugu.numbers.noise import InsecureSeededEntropyForTests

LAWS = {"home": {"a": "0.6", "b": "0.3", "c": "0.1"}, "out": {"a": "0.2", "b": "0.3", "c": "0.5"}}
SEVERAL = ("randomised-response", "exponential", "optimal")


def framework(rows: int = 1, independent: bool = False, laws: Any = LAWS, **options: Any) -> tf.Framework:
    return tf.Pufferfish(tf.population_membership(), tf.FromPopulations(laws, rows, independent, **options))


def exact(about: Any, noise: Any, rows: int) -> float:
    """Return what so many independent rows lose, by the oracle."""
    belief: Any = about.beliefs[0]
    laws = [dict(zip(belief.values, law, strict=True)) for law in belief.laws]
    seen = [oracle.sent(oracle.independent(law, rows), [channel_of(noise)] * rows) for law in laws]
    return max(oracle.loss(one, other) for one in seen for other in seen)


@pytest.mark.parametrize("mechanism", SEVERAL)
@pytest.mark.parametrize("rows", [1, 2])
def test_independent_rows_lose_what_is_promised_and_nearly_all_of_it(mechanism: str, rows: int) -> None:
    about = framework(rows, True)
    calibration = tf.calibrate(about, tf.LocalValue(), epsilon=1, mechanism=mechanism, allow_zero_noise=True)
    loss = exact(about, calibration.randomiser, rows)
    assert 0.99 < loss <= 1
    assert exact_loss(calibration).loss == pytest.approx(loss, abs=1e-9)
    assert calibration.guarantee.covers is Covers.COMPONENT
    weaker = tf.calibrate(about, tf.LocalValue(), epsilon=2, mechanism=mechanism, allow_zero_noise=True)
    assert exact(about, weaker.randomiser, rows) > 1  # half of the noise is noticed


def test_a_tuple_keeps_its_delta_by_enumeration() -> None:
    laws = {"in": {"a": "0.95", "b": "0.05"}, "out": {"a": "0.05", "b": "0.95"}}
    about = framework(2, True, laws)
    calibration = tf.calibrate(about, tf.LocalValue(dummies=1), epsilon=1, delta="1/10", mechanism="tupling")
    laws_of = [dict(zip("ab", law, strict=True)) for law in about.beliefs[0].laws]  # type: ignore[attr-defined]
    rows = [oracle.sent(oracle.independent(law, 2), [channel_of(calibration.randomiser)] * 2) for law in laws_of]
    one = [oracle.sent(oracle.independent(law, 1), [channel_of(calibration.randomiser)]) for law in laws_of]
    assert 0.04 < oracle.excess(*one, 0.5) <= 0.05
    assert oracle.excess(*rows, 1.0) <= 0.1
    assert exact_delta(calibration, 1).loss == pytest.approx(oracle.excess(*rows, 1.0), rel=1e-9)


@pytest.mark.parametrize("mechanism", SEVERAL)
def test_rows_that_may_depend_on_each_other_are_covered_whatever_they_are(mechanism: str) -> None:
    """(x, x) against (x, 1 - x) have the same single rows: distribution privacy of one row would promise 0 of both."""
    half = {"a": F(1, 2), "b": F(1, 2)}
    about = framework(2, False, {"alike": half, "apart": half})
    calibration = tf.calibrate(about, tf.LocalValue(), epsilon=1, mechanism=mechanism, allow_zero_noise=True)
    channel = channel_of(calibration.randomiser)
    alike, apart = ({("a", b): F(1, 2), ("b", c): F(1, 2)} for b, c in (("a", "b"), ("b", "a")))
    together = oracle.loss(*(oracle.sent(law, [channel] * 2) for law in (alike, apart)))
    assert 0 < together <= 1
    every = [{data: F(1)} for data in oracle.independent(half, 2)]
    worst = max(oracle.loss(*(oracle.sent(law, [channel] * 2) for law in (p, q))) for p in every for q in every)
    assert 0.99 < worst <= 1
    assert calibration.guarantee.covers is Covers.EVERYTHING
    assert exact_loss(calibration).upper == math.inf  # rows that may depend on each other have many joint distributions


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=18, max_size=18).filter(lambda m: sum(m[:9]) > 0 and sum(m[9:]) > 0))
def test_any_two_joint_distributions_of_dependent_rows_stay_hidden(masses: list[int]) -> None:
    about = framework(2, False)
    calibration = tf.calibrate(about, tf.LocalValue(), epsilon="1/2", mechanism="optimal")
    data = [(x, y) for x in "abc" for y in "abc"]
    laws = [{key: F(m, sum(part)) for key, m in zip(data, part, strict=True) if m} for part in (masses[:9], masses[9:])]
    channel = channel_of(calibration.randomiser)
    assert oracle.loss(*(oracle.sent(law, [channel] * 2) for law in laws)) <= 0.5 * (1 + 1e-12)


def test_places_cost_their_distance_and_auto_takes_the_least_loss_of_one_value() -> None:
    square = [(0.0, 0.0), (1.0, 0.0), (0.0, 2.0), (1.0, 2.0)]
    laws = {"west": dict(zip(square, [0.4, 0.1, 0.4, 0.1], strict=True)),
            "east": dict(zip(square, [0.1, 0.4, 0.1, 0.4], strict=True))}  # fmt: skip
    about = framework(1, False, laws, scales=(100, 50), measure="m")
    belief: Any = about.beliefs[0]
    assert belief.distance((0.0, 0.0), (1.0, 2.0)) == math.hypot(100, 100)
    table = tf.compare(about, tf.LocalValue(), epsilon="1/2")
    errors = {row.name: row.expected_error for row in table if row.expected_error is not None}
    assert set(errors) == {
        "randomised-response", "exponential", "planar-laplace", "planar-laplace-remapped", "optimal",
    }  # fmt: skip
    calibration = tf.calibrate(about, tf.LocalValue(), epsilon="1/2")
    assert calibration.mechanism == "optimal"
    assert errors["optimal"] == min(errors.values())
    noise: Any = calibration.randomiser
    prior = [float(mass) for mass in belief.prior]
    mean = sum(
        p * float(noise.mass(place, y)) * belief.distance(x, y)
        for place, (x, p) in enumerate(zip(belief.values, prior, strict=True)) for y in noise.outputs
    )  # fmt: skip
    assert noise.expected_error() == pytest.approx(mean, rel=1e-9)
    assert "m per row" in noise.words()


def test_one_person_is_released_by_the_library() -> None:
    calibration = tf.calibrate(framework(2, True), tf.LocalValue(), epsilon=1)
    out = tf.release(calibration, ["a", "c"])
    assert set(out.value) == {"row 0", "row 1"}
    assert set(out.value.values()) <= {"a", "b", "c"}
    assert "It protects which population" in " ".join(str(out.certificate).split())
    for wrong in (["a"], ["a", "d"], "ab", ["a", None], 3):
        with pytest.raises(DataError):
            tf.release(calibration, wrong)


@pytest.mark.mutants
def test_a_column_is_drawn_like_single_rows() -> None:
    for dummies, mechanism in ((0, "optimal"), (2, "tupling")):
        delta = "1/10" if dummies else 0
        calibration = tf.calibrate(framework(), tf.LocalValue(dummies), 1, delta, mechanism)
        noise: Any = calibration.randomiser
        sent = noise.draw_column(np.arange(9000) % 3, InsecureSeededEntropyForTests(5))
        assert sent.count == 9000
        each: dict[int, list[Any]] = {row: [] for row in range(sent.count)}
        for row, value in sent:
            each[row].append(value)
        if dummies:
            assert {len(values) for values in each.values()} == {3}
        for value in range(3):
            mine = [tuple(each[row]) for row in range(value, 9000, 3)]
            outputs = [(y,) if mechanism == "optimal" else y for y in noise.outputs]
            expected = [3000 * float(noise.mass(value, y)) for y in noise.outputs]
            promise = [(mine.count(y) - e) ** 2 / e for y, e in zip(outputs, expected, strict=True) if e > 5]
            assert sum(promise) < len(promise) + 6 * math.sqrt(2 * len(promise)) + 6
    with pytest.raises(DataError, match="not among the declared"):
        noise.draw_column(np.array([0, 3]), InsecureSeededEntropyForTests(1))


@pytest.mark.parametrize("order", [("a", "b", "c"), ("c", "a", "b"), ("b", "c", "a")])
def test_the_witness_is_the_pair_that_is_told_apart_best(order: tuple[str, ...]) -> None:
    laws = {"a": {"x": "0.8", "y": "0.2"}, "b": {"x": "0.5", "y": "0.5"}, "c": {"x": "0.7", "y": "0.3"}}
    about = framework(laws={name: laws[name] for name in order})
    calibration = tf.calibrate(about, tf.LocalValue(), 1, mechanism="randomised-response", allow_zero_noise=True)
    channel = channel_of(calibration.randomiser)
    seen = {name: oracle.sent({(x,): F(mass) for x, mass in laws[name].items()}, [channel]) for name in order}
    pairs = [(one, other) for n, one in enumerate(order) for other in order[n + 1 :]]
    best = max(pairs, key=lambda pair: max(oracle.loss(*(seen[name] for name in way)) for way in (pair, pair[::-1])))
    assert sorted(best) == ["a", "b"]
    assert calibration.witness.comparison == f"the population is {best[0]!r} against the population is {best[1]!r}"


def test_it_reads_back_from_json() -> None:
    about = framework(3, True, source="a public survey")
    again = tf.Framework.from_dict(json.loads(json.dumps(about.to_dict())))
    assert again.fingerprint() == about.fingerprint()
    assert again.definition == "distribution"
    assert [c.label for c in again.comparisons()] == [
        "the population is 'home' against the population is 'out'",
        "the population is 'out' against the population is 'home'",
    ]
    with pytest.raises(InputError, match="cannot be read back"):
        read({"kind": "sent-value"})
    described = tf.calibrate(about, tf.LocalValue(), 1).randomiser.to_dict()
    with pytest.raises(InputError, match="no distributions"):
        read({**described, "total": "7"})


@pytest.mark.parametrize(("laws", "options", "what"), [
    ({"one": {"a": 1}}, {}, "fewer than two populations"),
    ({"one": {"a": 1}, "two": {"a": "1/2", "b": "1/2"}}, {}, "one value only"),
    ({"one": {"a": "1/2", "b": "1/2"}, "two": {"a": "1/2", "b": "1/4"}}, {}, "sum to 0.75"),
    ({"one": {"a": "1/2", "b": "1/2"}, "two": {"c": "1/2", "b": "1/2"}}, {}, "impossible in the population"),
    # The value that no population has comes first: it hides no other one.
    ({"home": {"a": 0, "b": "0.5", "c": "0.5", "d": 0}, "out": {"a": 0, "b": "0.5", "c": "0.25", "d": "0.25"}}, {},
     "'d' is impossible in the population 'home'"),
    ({"one": {(0, 0): "1/2", "b": "1/2"}, "two": {(0, 0): "1/2", "b": "1/2"}}, {}, "pair of numbers"),
    ({"one": {(0, math.nan): "1/2", (0, 1): "1/2"}, "two": {(0, 1): "1/2", (1, 1): "1/2"}}, {}, "not finite"),
    (LAWS, {"rows": 0}, "number of a person's rows is 0"),
    (LAWS, {"scales": (0, 1)}, "the scales are"),
    (LAWS, {"prior": {"z": 1}}, "no population has the value"),
    (LAWS, {"supports": "maybe"}, "supports is"),
])  # fmt: skip
def test_bad_populations(laws: Any, options: dict[str, Any], what: str) -> None:
    with pytest.raises(InputError, match=what):
        tf.FromPopulations(laws, **options)


def test_what_does_not_fit_is_refused_with_its_reason() -> None:
    about = framework()
    with pytest.raises(InputError, match="requires rows from populations"):
        tf.calibrate(tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.5, 0.5]] * 2, 3)), tf.LocalValue(), 1)
    with pytest.raises(InputError, match="requires a belief over several"):
        tf.Pufferfish(tf.population_membership(), tf.MarkovChain([[0.5, 0.5]] * 2, 3))
    for mechanism, reason in (("planar-laplace", "the values are none"), ("tupling", "ask for dummies"),
                              ("group-dp", "proved for pufferfish")):  # fmt: skip
        with pytest.raises(CalibrationRefused, match=reason):
            tf.calibrate(about, tf.LocalValue(), 1, mechanism=mechanism)
    with pytest.raises(CalibrationRefused, match="it sends none"):
        tf.calibrate(about, tf.LocalValue(dummies=3), 1, mechanism="optimal")
    with pytest.raises(CalibrationRefused, match=r"another\s+answer is published"):
        tf.calibrate(about, tf.Count("a"), 1)
    private = framework(source="estimated from the private data: these very rows")
    with pytest.raises(CalibrationRefused, match="was estimated from the private data"):
        tf.calibrate(private, tf.LocalValue(), 1)
    calibration = tf.calibrate(private, tf.LocalValue(), 1, allow_private_belief=True)
    assert any("the promise does not cover that" in words for words in calibration.guarantee.conditions)
    with pytest.raises(InputError, match="the number of dummies"):
        tf.LocalValue(-1)
