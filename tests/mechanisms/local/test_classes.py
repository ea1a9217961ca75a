"""Classes of spread populations: the worst pair by every extreme point."""

import math
from fractions import Fraction as F
from itertools import combinations, permutations, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import rows_oracle as oracle
from tests.support.rows_oracle import channel_of
from tests.support.tuples import tuple_delta

import takifugu as tf
from takifugu.core.errors import InputError, Unsupported
from takifugu.mechanisms.local import classes
from takifugu.mechanisms.local.populations import populations_of
from takifugu.mechanisms.local.tupling import Tupling


def extreme_points(outputs, beta):
    full, points = math.floor(1 / beta), set()
    masses = [beta] * full + ([1 - full * beta] if full * beta < 1 else [])
    for chosen in combinations(range(outputs), len(masses)):
        for order in permutations(masses):
            law = [F(0)] * outputs
            for y, mass in zip(chosen, order, strict=True):
                law[y] = mass
            points.add(tuple(law))
    return points


@st.composite
def cases(draw):
    outputs = draw(st.integers(1, 4))
    beta = draw(st.fractions(F(1, outputs), 1, max_denominator=12))
    weights = draw(st.lists(st.integers(0, 2), min_size=outputs, max_size=outputs).filter(any))
    law = draw(st.sampled_from([None, tuple(F(w, sum(weights)) for w in weights)]))
    return outputs, beta, law, draw(st.integers(0, 2)), draw(st.fractions(0, 2, max_denominator=3))


@given(cases(), st.data())
@settings(max_examples=25)
def test_the_worst_pair_by_all_extreme_points(case, data):
    outputs, beta, law, dummies, epsilon = case
    nu = law or (F(1, outputs),) * outputs
    pair = classes.worst_pair(outputs, beta, Tupling(dummies, law), epsilon)
    points = extreme_points(outputs, beta)
    assert {pair.p, pair.q} <= points
    chosen = data.draw(st.lists(st.tuples(*[st.sampled_from(sorted(points))] * 2), min_size=1, max_size=6))
    assert all(tuple_delta(p, q, nu, dummies, epsilon) <= pair.delta.high * (1 + 1e-14) for p, q in chosen)
    assert float(tuple_delta(pair.p, pair.q, nu, dummies, epsilon)) == pytest.approx(pair.delta.high, abs=1e-13)
    kinds = {tuple(sorted(zip(nu, p, q, strict=True))) for p in points for q in points}
    groups = [[y for y in range(outputs) if nu[y] == mass] for mass in dict.fromkeys(nu)]
    tried = [tuple(sorted(zip(nu, p, q, strict=True))) for p, q in classes._extreme_pairs(groups, outputs, beta)]
    assert set(tried) == kinds  # all overlaps
    assert len(tried) == len(kinds)  # each once


@pytest.mark.mutants
def test_a_large_class_by_transforms():
    pair = classes.worst_pair(64, F(1, 16), Tupling(20), 1)
    assert 0.0335 < pair.delta.low <= pair.delta.high < 0.0336
    assert pair.delta.high - pair.delta.low <= 1e-6 * pair.delta.high
    rough = classes.worst_pair(24, F(3, 20), Tupling(30), F(1, 2)).delta
    assert 0 < rough.low <= rough.high <= rough.low * (1 + 1e-5)


def test_too_many_kinds_of_pairs_are_refused():
    dummies = [F(k, 210) for k in range(1, 21)]
    with pytest.raises(Unsupported, match="5,000"):
        classes.worst_pair(20, F(3, 20), Tupling(2, dummies), 1)


# The class without a mass above beta: its worst two extreme points, by listing them.


VALUES = [0, 1, 2, 3]


def framework(most: Any = "2/5", rows: int = 1, independent: bool = False) -> Any:
    names = ["home", "out"]
    belief = tf.FromPopulations.spread(names, VALUES, most, rows=rows, independent=independent, source="a guess")
    return tf.Pufferfish(tf.population_membership(), belief)


def corners(most: F) -> list[dict[int, F]]:
    return [dict(zip(VALUES, law, strict=True)) for law in sorted(extreme_points(len(VALUES), most))]


def worst_loss(noise: Any, most: F) -> float:
    sent = [oracle.sent(oracle.independent(law, 1), [channel_of(noise)]) for law in corners(most)]
    return max(oracle.loss(p, q) for p, q in product(sent, repeat=2))


@pytest.mark.sampled(7)
@pytest.mark.parametrize("most", [F(2, 5), F(1, 3), F(1, 2), F(1)])
@pytest.mark.parametrize("mechanism", ["exponential", "randomised-response", "optimal"])
def test_epsilon_is_that_of_the_worst_two(mechanism: str, most: F) -> None:
    calibration = tf.calibrate(framework(most), tf.LocalValue(), epsilon=1, mechanism=mechanism)
    worst = worst_loss(calibration.randomiser, most)
    assert worst <= 1
    assert worst > (0.9 if mechanism == "optimal" else 0.99)
    assert tf.exact_loss(calibration).upper == pytest.approx(worst, abs=1e-6)


@pytest.mark.mutants
def test_tuples_keep_the_delta_of_the_worst_two() -> None:
    calibration = tf.calibrate(framework("1/2"), tf.LocalValue(2), 1, "1/10", mechanism="tupling")
    noise: Any = calibration.randomiser
    uniform = [F(1, 4)] * 4
    sent = [oracle.sent(oracle.independent(law, 1), [channel_of(noise)]) for law in corners(F(1, 2))]
    masses = [[side.get((y,), F(0)) for y in VALUES] for side in sent]
    assert max(float(tuple_delta(p, q, uniform, 2, F(1))) for p, q in product(masses, repeat=2)) <= 0.1
    assert noise.sender.delta(populations_of(framework("1/2").beliefs[0]), F(1)) <= 0.1


@pytest.mark.parametrize("most", [0, "1/5", "6/5", -1])
def test_a_mass_that_no_population_keeps_is_refused(most: Any) -> None:
    with pytest.raises(InputError, match="write 1/4 at least, and 1 at most"):
        framework(most)


def test_a_class_reads_back() -> None:
    about = framework()
    again = tf.Framework.from_dict(about.to_dict())
    assert again.fingerprint() == about.fingerprint()
    assert again.beliefs[0].regions.largest_mass == F(2, 5)  # type: ignore[attr-defined]
    assert "In no population is a value likelier than 0.4" in " ".join(map(str, again.assumptions()))
