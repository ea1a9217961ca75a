"""The Kantorovich mechanisms, on the line and under a declared metric: golden values, order, the audit."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.golden import golden, transport_laws
from tests.support.metric_oracles import enumerated_loss, shortest_paths
from tests.support.pair_cases import bound_by, monotone_by_hand, pair_of, random_budget, random_pair, relaxed_by_hand
from tests.support.rounds import rounds

import takifugu as tf
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import Exact
from takifugu.core.errors import InputError
from takifugu.mechanisms import kantorovich_exponential
from takifugu.mechanisms.kantorovich_relaxed import MECHANISM as RELAXED
from takifugu.mechanisms.laplace_exact import MECHANISM as EXACT
from takifugu.mechanisms.wasserstein import MECHANISM as STRICT
from takifugu.model.frameworks import Framework, distribution_pair
from takifugu.numbers import Pmf
from takifugu.numbers.transport.metrics import METRICS, Declared, NamedMetric, declared

TINY = 1 + Fraction(1, 10**10)
BUDGETS = [Fraction(1, 5), Fraction(1), Fraction(5)]


def pair(mu: dict[int, Fraction], nu: dict[int, Fraction]) -> Framework:
    return pair_of((mu, nu))


@pytest.mark.parametrize("name", golden()["laplace_scale"])
def test_golden_scales(name: str) -> None:
    framework = pair_of(transport_laws()[name])
    for epsilon, scales in golden()["laplace_scale"][name].items():
        strict, relaxed, exact = (bound_by(m, framework, None, epsilon) for m in (STRICT, RELAXED, EXACT))
        assert strict.randomiser.scale == Fraction(scales["strict"])
        assert dict(strict.witness.numbers)["w_infinity"] == float(golden()["transport"][name]["winf"])
        assert float(relaxed.randomiser.scale) == pytest.approx(float(scales["relaxed"]), rel=1e-9)
        assert float(exact.randomiser.scale) == pytest.approx(float(scales["exact"]), rel=1e-9)
        assert {strict.covers, relaxed.covers, exact.covers} == {Covers.OUTPUT}
        if float(scales["exact"]) == 0:
            assert exact.randomiser == Exact(Fraction(1))


def check_pair(seed: int) -> None:
    mu, nu = random_pair(seed)
    epsilon, framework = random_budget(seed), pair(mu, nu)
    exact, relaxed, strict = (bound_by(m, framework, None, epsilon).randomiser for m in (EXACT, RELAXED, STRICT))
    assert exact.scale <= relaxed.scale * TINY, seed
    assert relaxed.scale <= strict.scale, seed
    for noise in (exact, relaxed, strict):
        assert tf.exact_loss(framework, tf.Identity(), noise).upper <= epsilon + 1e-13, seed
    plan = monotone_by_hand(mu, nu)
    if relaxed.scale and any(x != y for x, y in plan):
        assert relaxed_by_hand(plan, epsilon, relaxed.scale.numerator / relaxed.scale.denominator * (1 + 1e-12))
        assert not relaxed_by_hand(plan, epsilon, float(relaxed.scale) * 0.999)
    tripled = pair({3 * x: m for x, m in mu.items()}, {3 * x: m for x, m in nu.items()})
    for other, factor in ((pair(nu, mu), 1), (tripled, 3)):
        least, whole = (bound_by(m, other, None, epsilon).randomiser.scale for m in (RELAXED, STRICT))
        assert least == pytest.approx(factor * relaxed.scale, rel=1e-10)
        assert whole == factor * strict.scale


@pytest.mark.mutants
@pytest.mark.parametrize("seeds", rounds(10, 200, 1000, parts=8))
def test_order_audit_scaling_and_swapping(seeds: range) -> None:
    for seed in seeds:
        check_pair(seed)


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from(BUDGETS))
def test_float_masses_are_the_exact_ones_nearly(seed: int, epsilon: Fraction) -> None:
    mu, nu = random_pair(seed)
    rounded = distribution_pair(*(Pmf(list(law), [float(m) for m in law.values()]) for law in (mu, nu)))
    near, exact = (bound_by(RELAXED, framework, None, epsilon).randomiser for framework in (rounded, pair(mu, nu)))
    assert near.scale == pytest.approx(exact.scale, rel=1e-8, abs=0.1)  # noise in ties may move a little mass far
    assert near.scale >= exact.scale * Fraction(999, 1000)
    assert tf.exact_loss(rounded, tf.Identity(), near).upper <= epsilon + 1e-12


def test_another_plan_of_least_cost_would_need_twice_the_noise() -> None:
    mu, nu = transport_laws()["flu_004"]
    trap = {
        (0, 1): Fraction(1, 12), (0, 2): Fraction(1, 6), (0, 4): Fraction(1, 4), (1, 1): Fraction(1, 6),
        (2, 2): Fraction(1, 12), (2, 3): Fraction(1, 12), (3, 3): Fraction(1, 6),
    }  # fmt: skip
    monotone = monotone_by_hand(mu, nu)
    for plan in (trap, monotone):
        assert {x: sum(m for (a, _), m in plan.items() if a == x) for x in mu} == mu
        assert {y: sum(m for (_, b), m in plan.items() if b == y) for y in nu} == nu
        assert sum(abs(x - y) * m for (x, y), m in plan.items()) == Fraction(3, 2)
    assert max(abs(x - y) for x, y in trap) == 4
    # A mutant that calibrates to the plan of a solver requires scale 4 where 2 is enough.
    assert bound_by(STRICT, pair(mu, nu)).randomiser.scale == 2 == max(abs(x - y) for x, y in monotone)


WARDS = [[0, 1, 3, 3], [1, 0, 2, 2], [3, 2, 0, 4], [3, 2, 4, 0]]
P, Q = Pmf([0, 1], [Fraction(1, 2)] * 2), Pmf([1, 2, 3], [Fraction(n, 4) for n in (1, 2, 1)])
METRICS_AT_HAND = [("power", "1/2"), ("power", 1), ("capped", "3/2"), ("logarithm", 2), ("circle", 5), ("table", WARDS)]


def chosen(p: Pmf, q: Pmf, metric: Declared, epsilon: object = 1) -> tf.calibrate:
    return tf.calibrate(
        tf.distribution_pair(p, q), tf.Identity(), epsilon, mechanism="kantorovich-exponential", metric=metric,
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
    audit = tf.exact_loss(calibration)
    assert audit.lower <= loss * (1 + 1e-9)
    assert loss <= audit.upper * (1 + 1e-9)


def test_the_longest_move_is_the_shortest_in_the_metric():
    """In the table heart (0) must reach skin (2) or eye (3), 3 away; on a circle of 5 the way to 3 is 2 long."""
    cases = (("table", WARDS), 3), (("circle", 5), 2), (("capped", "3/2"), 1.5), (("power", "1/2"), 2**0.5)
    for metric, farthest in cases:
        assert dict(chosen(P, Q, declared(*metric)).witness.numbers)["largest_move"] == pytest.approx(farthest)


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
    laws = [Pmf([x for x in seen if law[x]], [law[x] for x in seen if law[x]]) for law in (p, q)]
    problem = Problem(tf.distribution_pair(*laws), tf.Identity(grid=1), epsilon, metric=declared("table", rows))
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
            tf.calibrate(
                tf.distribution_pair(P, Q), tf.Identity(), 1, mechanism=mechanism, metric=declared("power", "1/2")
            )


def test_compare_has_it_beside_the_others():
    pair = tf.distribution_pair(P, Q)
    rows = {row.name: row for row in tf.compare(pair, tf.Identity(), 1, metric=declared("table", WARDS))}
    plain = {row.name: row for row in tf.compare(pair, tf.Identity(), 1)}
    assert rows["kantorovich-exponential"].status == "possible"
    assert rows["kantorovich-exponential"].expected_error != plain["kantorovich-exponential"].expected_error
    assert rows["wasserstein"] == plain["wasserstein"]
