"""Classes of spread populations: membership with the paper's remarks, and the worst pair by every extreme point."""

import math
from fractions import Fraction as F
from itertools import combinations, permutations, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import population_oracles as oracles
from tests.support import rows_oracle as oracle
from tests.support.rows_oracle import channel_of
from tests.support.tuples import tuple_delta

import takifugu as tf
from kawamoto import channels
from takifugu.core.errors import InputError, Unsupported
from takifugu.mechanisms.local import classes
from takifugu.mechanisms.local.populations import populations_of
from takifugu.mechanisms.local.tupling import Tupling, theorem3_delta
from takifugu.model import frameworks
from takifugu.numbers.distributions.channel import Channel


def largest_mass(channel, population):
    """Return the least beta whose class holds the population."""
    return max(channel.lift(population).values())


@given(oracles.channels(3, 3), oracles.laws(3))
def test_the_largest_mass_is_that_of_what_is_sent(channel, p):
    assert largest_mass(channel, p) == max(oracles.sent(channel, p).values())


def largest_reach(channel):
    """Return the largest A(x)[y]: the least beta whose class holds every population."""
    return F(max(map(max, channel.masses)), channel.total)


@given(oracles.channels(3, 3), oracles.laws(3))
def test_beta_1_is_every_population_and_the_largest_reach_is_enough(channel, p):
    reach = largest_reach(channel)
    assert largest_mass(channel, p) <= reach <= 1
    assert max(largest_mass(channel, {x: F(1)}) for x in range(3)) == reach


def test_a_population_without_large_masses_is_in_the_class_of_any_channel_that_only_renames():
    flat = {x: F(1, 4) for x in range(4)}
    keep = Channel.of(range(4), "abcd", [[int(x == n) for n in range(4)] for x in range(4)])
    assert largest_mass(keep, flat) == F(1, 4)
    assert largest_mass(keep, {0: F(1)}) == 1


def test_less_noise_means_a_smaller_class_but_privacy_alone_does_not():
    reaches = [largest_reach(channels.randomised_response(range(4), e)) for e in ("0.01", 1, 3)]
    assert reaches == sorted(reaches)
    for epsilon, reach in zip((0.01, 1, 3), reaches, strict=True):
        assert float(reach) == pytest.approx(math.exp(epsilon) / (math.exp(epsilon) + 3), abs=1e-12)
    assert reaches[0] < F(26, 100)
    assert largest_reach(Channel.of(range(4), [0], [[1]] * 4)) == 1  # epsilon 0


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


@given(st.data(), st.integers(1, 3))
@settings(max_examples=25)
def test_no_pair_of_the_class_is_worse(data, dummies):
    worst = classes.worst_pair(5, F(2, 5), Tupling(dummies), F(1, 2)).delta.high
    laws = st.lists(st.integers(0, 9), min_size=5, max_size=5).filter(any)
    p, q = ([F(w, sum(ws)) for w in ws] for ws in (data.draw(laws), data.draw(laws)))
    if max(*p, *q) <= F(2, 5):
        assert Tupling(dummies).delta(p, q, F(1, 2)) <= worst


@given(st.integers(1, 12), st.fractions("1/16", "1/2", max_denominator=16), st.sampled_from([F(1, 4), F(1), F(2)]))
@settings(max_examples=25)
def test_the_worst_pair_is_below_theorem_3(dummies, beta, epsilon):
    assert classes.worst_pair(16, beta, Tupling(dummies), epsilon).delta.high <= theorem3_delta(
        dummies, 16, beta, epsilon
    ) * (1 + 1e-12)


def test_larger_classes_are_worse():
    deltas = [classes.worst_pair(12, F(n, 24), Tupling(6), 1).delta.high for n in (2, 3, 5, 8, 24)]
    assert deltas == sorted(deltas)
    assert deltas[0] == 0


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


@pytest.mark.sampled(3)
@pytest.mark.parametrize("most", [F(2, 5), F(1, 3), F(1, 2), F(1)])
@pytest.mark.parametrize("mechanism", ["exponential", "randomised-response", "optimal"])
def test_epsilon_is_that_of_the_worst_two(mechanism: str, most: F) -> None:
    calibration = tf.calibrate(framework(most), tf.LocalValue(), epsilon=1, mechanism=mechanism)
    worst = worst_loss(calibration.randomiser, most)
    assert worst <= 1
    assert worst > (0.9 if mechanism == "optimal" else 0.99)
    assert tf.exact_loss(calibration).upper == pytest.approx(worst, abs=1e-6)


def test_a_class_of_all_populations_is_local_privacy() -> None:
    noise: Any = tf.calibrate(framework(1), tf.LocalValue(), epsilon=1, mechanism="randomised-response").randomiser
    assert 0.99 < noise.local_loss() <= 1
    less: Any = tf.calibrate(framework("2/5"), tf.LocalValue(), epsilon=1, mechanism="randomised-response").randomiser
    assert less.local_loss() > 1.2
    assert less.expected < noise.expected


def test_rows_that_are_independent_each_get_their_share() -> None:
    calibration = tf.calibrate(framework("2/5", 2, True), tf.LocalValue(), epsilon=1, mechanism="exponential")
    assert 0.49 < worst_loss(calibration.randomiser, F(2, 5)) <= 0.5


def test_tuples_keep_the_delta_of_the_worst_two() -> None:
    calibration = tf.calibrate(framework("1/2"), tf.LocalValue(2), 1, "1/10", mechanism="tupling")
    noise: Any = calibration.randomiser
    uniform = [F(1, 4)] * 4
    sent = [oracle.sent(oracle.independent(law, 1), [channel_of(noise)]) for law in corners(F(1, 2))]
    masses = [[side.get((y,), F(0)) for y in VALUES] for side in sent]
    assert max(float(tuple_delta(p, q, uniform, 2, F(1))) for p, q in product(masses, repeat=2)) <= 0.1
    assert noise.sender.delta(populations_of(framework("1/2").beliefs[0]), F(1)) <= 0.1


def test_a_class_that_is_too_small_is_noticed() -> None:
    noise = tf.calibrate(framework("2/5"), tf.LocalValue(), epsilon=1, mechanism="exponential").randomiser
    assert worst_loss(noise, F(1, 2)) > 1


@pytest.mark.parametrize("most", [0, "1/5", "6/5", -1])
def test_a_mass_that_no_population_keeps_is_refused(most: Any) -> None:
    with pytest.raises(InputError, match="write 1/4 at least, and 1 at most"):
        framework(most)


def test_a_class_reads_back() -> None:
    about = framework()
    again = frameworks.from_dict(about.to_dict())
    assert again.fingerprint() == about.fingerprint()
    assert again.beliefs[0].regions.largest_mass == F(2, 5)  # type: ignore[attr-defined]
    assert "In no population is a value likelier than 0.4" in " ".join(map(str, again.assumptions()))
