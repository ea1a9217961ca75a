"""Ding22 Theorem 1 with a declared metric: the exact loss by enumeration, and what is no metric."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.metric_oracles import enumerated_loss, shortest_paths

import takifugu as tf
from takifugu.analysis.problem import Problem
from takifugu.core.errors import InputError
from takifugu.mechanisms import kantorovich_exponential
from takifugu.mechanisms.common.finite_outputs import FiniteProblem
from takifugu.mechanisms.kantorovich_exponential import exponential_rows
from takifugu.numbers.transport.metrics import METRICS, Declared, NamedMetric, declared

WARDS = [[0, 1, 3, 3], [1, 0, 2, 2], [3, 2, 0, 4], [3, 2, 4, 0]]
P, Q = tf.Pmf([0, 1], [Fraction(1, 2)] * 2), tf.Pmf([1, 2, 3], [Fraction(n, 4) for n in (1, 2, 1)])
METRICS_AT_HAND = [("power", "1/2"), ("power", 1), ("capped", "3/2"), ("logarithm", 2), ("circle", 5), ("table", WARDS)]


def chosen(p: tf.Pmf, q: tf.Pmf, metric: Declared, epsilon: object = 1) -> tf.calibrate:
    return tf.calibrate(
        tf.between(p, q), tf.Identity(), epsilon, mechanism="kantorovich-exponential", metric=metric,
        allow_zero_noise=True,
    )  # fmt: skip


@pytest.mark.parametrize("metric", METRICS_AT_HAND, ids=lambda metric: metric[0])
@pytest.mark.parametrize("epsilon", ["0.1", 1, 4])
def test_outputs_keep_epsilon_by_enumeration(metric, epsilon):
    calibration = chosen(P, Q, declared(*metric), epsilon)
    loss = enumerated_loss(calibration.randomiser, P, Q)
    assert loss <= float(Fraction(epsilon)) * (1 + 1e-12)
    witness = dict(calibration.witness.numbers)
    assert witness["measured_epsilon"] == pytest.approx(loss, rel=1e-9)
    audit = tf.true_loss(calibration)
    assert audit.lower <= loss * (1 + 1e-9)
    assert loss <= audit.upper * (1 + 1e-9)


def test_the_longest_move_is_the_shortest_in_the_metric():
    """In the table heart (0) must reach skin (2) or eye (3), 3 away; on a circle of 5 the way to 3 is 2 long."""
    cases = (("table", WARDS), 3), (("circle", 5), 2), (("capped", "3/2"), 1.5), (("power", "1/2"), 2**0.5)
    for metric, farthest in cases:
        assert dict(chosen(P, Q, declared(*metric)).witness.numbers)["largest_move"] == pytest.approx(farthest)


def test_a_rate_that_forgets_the_normalisers_is_too_large():
    """The point in the middle of five has a larger normaliser than the end, which tells more at rate epsilon/d."""
    laws = tf.Pmf([0], [1]), tf.Pmf([2, 4], [0.9999, 0.0001])
    forgetful = exponential_rows(range(5), range(5), lambda x, y: abs(x - y), 0.5)
    assert np.abs(np.log(forgetful[0] / forgetful[2])).max() > 1.05
    assert enumerated_loss(chosen(*laws, declared("power", 1)).randomiser, *laws) <= 1


def test_a_mutant_is_seen_by_enumeration(monkeypatch):
    """Twice the rate, and half the loss that is measured: the enumeration has more than epsilon."""
    rate, measured = kantorovich_exponential.largest_rate, FiniteProblem.measured
    monkeypatch.setattr(kantorovich_exponential, "largest_rate", lambda *about: 2 * rate(*about))
    monkeypatch.setattr(
        FiniteProblem, "measured", lambda self, channel: (measured(self, channel)[0] / 2, measured(self, channel)[1])
    )
    ends = tf.Pmf([0], [1]), tf.Pmf([3], [1])
    assert enumerated_loss(chosen(*ends, declared("power", "1/2")).randomiser, *ends) > 1.5


@st.composite
def cases(draw):
    """Shortest paths of a random graph are a metric; laws are counts."""
    size = draw(st.integers(2, 5))
    far = [[draw(st.integers(1, 9)) for _ in range(size)] for _ in range(size)]
    laws = []
    for _ in range(2):
        counts = draw(st.lists(st.integers(0, 5), min_size=size, max_size=size).filter(any))
        laws.append([Fraction(count, sum(counts)) for count in counts])
    return shortest_paths(far), laws


@given(cases(), st.sampled_from([Fraction(1, 4), Fraction(2)]))
@settings(max_examples=40)
def test_any_metric_and_any_laws(case, epsilon):
    table, (p, q) = case
    seen = [place for place in range(len(table)) if p[place] or q[place]]
    rows = [[table[x][y] for y in seen] for x in seen]
    laws = [tf.Pmf([x for x in seen if law[x]], [law[x] for x in seen if law[x]]) for law in (p, q)]
    problem = Problem(tf.between(*laws), tf.Identity(grid=1), epsilon, metric=declared("table", rows))
    bound = kantorovich_exponential.MECHANISM.bound(problem)
    if bound.randomiser.kind == "channel":
        assert enumerated_loss(bound.randomiser, *laws) <= float(epsilon) * (1 + 1e-12)
    else:
        assert p == q


@pytest.mark.parametrize(("name", "parameter", "words"), [
    ("power", 2, r"\|z\|\^2, which is convex and no metric"), ("power", "1.01", "convex"), ("square", 2, "'square'"),
    ("huber", 1, "'huber'.*convex"), ("power", 0, "above 0"), ("capped", -1, "above 0"),
    ("power", [[0]], "an exponent"),
    ("table", 2, "a row of distances"), ("powr", 1, "did you mean 'power'"), ("capped", math.inf, "finite"),
    ("table", [[0, 1, 9, 3], [1, 0, 2, 2], [9, 2, 0, 4], [3, 2, 4, 0]], "triangle"),
    ("table", [[0, 1, 3, 3], [1, 0, 2, 2], [3, 2, 0, 4], [3, 2, 5, 0]], "symmetric"),
    ("table", [[1, 1, 3, 3], [1, 0, 2, 2], [3, 2, 0, 4], [3, 2, 4, 0]], "not 0 from a point to itself"),
    ("table", [[0, -1], [-1, 0]], "negative"), ("table", [[0, 1], [1, 0], [1, 1]], "not square"),
    ("table", [], "square"),
    ("table", [[0, 0], [0, 0]], "0 apart"), ("table", [[0, math.nan], [1, 0]], "finite"),
])  # fmt: skip
def test_what_is_no_metric_is_refused(name, parameter, words):
    with pytest.raises(InputError, match=words):
        declared(name, parameter)


@pytest.mark.parametrize(("metric", "words"), [
    (("table", [[0, 1], [1, 0]]), "2 rows, and there are 4"), (("circle", 3), "0 apart under the metric circle 3"),
])  # fmt: skip
def test_what_is_no_metric_on_the_answers_is_refused(metric, words):
    with pytest.raises(InputError, match=words):
        chosen(P, Q, declared(*metric))


def test_a_metric_from_elsewhere_is_checked_on_the_answers(monkeypatch):
    monkeypatch.setattr(METRICS, "_known", dict(METRICS._known))
    METRICS.register("steep", NamedMetric("a factor", lambda factor, _: lambda x, y: float(abs(x - y) ** 2 * factor)))
    METRICS.register("one-way", NamedMetric("a factor", lambda factor, _: lambda x, y: max(0.0, float(x - y) * factor)))
    with pytest.raises(InputError, match="triangle inequality through"):
        chosen(P, Q, declared("steep", 1))
    with pytest.raises(InputError, match="not symmetric"):
        chosen(P, Q, declared("one-way", 1))


def test_another_mechanism_has_no_use_for_a_metric():
    for mechanism in ("auto", "wasserstein", "optimal"):
        with pytest.raises(InputError, match="looks at no metric"):
            tf.calibrate(tf.between(P, Q), tf.Identity(), 1, mechanism=mechanism, metric=declared("power", "1/2"))


def test_compare_has_it_beside_the_others():
    rows = {row.name: row for row in tf.compare(tf.between(P, Q), tf.Identity(), 1, metric=declared("table", WARDS))}
    plain = {row.name: row for row in tf.compare(tf.between(P, Q), tf.Identity(), 1)}
    assert rows["kantorovich-exponential"].status == "possible"
    assert rows["kantorovich-exponential"].expected_error != plain["kantorovich-exponential"].expected_error
    assert rows["wasserstein"] == plain["wasserstein"]
