"""Several queries under one epsilon: what they lose together by brute force, the closed form, an equal split."""

import math
import operator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest
from tests.mechanisms.test_influence_gaussian import exact_delta
from tests.support import influence_oracle as oracle

import takifugu as tf
from takifugu.accounting.composition import charge_of, joint
from takifugu.calibration import problem_of
from takifugu.calibration.jointly import Split
from takifugu.calibration.shared_noise import LaplaceTogether, NormalTogether
from takifugu.core.errors import CalibrationRefused, InputError, TakifuguError
from takifugu.numbers import Pmf

STAY = np.array([[0.9, 0.1], [0.4, 0.6]])
COUNT, LAST, TWICE = tf.Count(1), tf.Count(1, entries=(2, 3)), tf.Sum(codes={0: 0, 1: 2})


def chain(matrix=STAY, length=4, initial="stationary"):
    return tf.Pufferfish(tf.every_entry(), tf.MarkovChain(matrix, length, initial))


def split_of(framework, queries, epsilon=Fraction(1), weights=None):
    problems = tuple(problem_of(framework, query, epsilon, 0) for query in queries)
    return Split(LaplaceTogether(framework, problems, epsilon), tuple(weights or [1.0] * len(queries)))


def total_error(calibrations, weights=None):
    each = [one.randomiser.expected_error() for one in calibrations]
    return math.fsum(w * e for w, e in zip(weights or [1.0] * len(each), each, strict=True))


@pytest.mark.sampled(17)
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2)])
@pytest.mark.parametrize(("matrix", "queries"), [
    (STAY, [COUNT, LAST]),
    (STAY, [COUNT, tf.Histogram()]),
    ([[0.2, 0.8], [0.7, 0.3]], [COUNT, LAST, TWICE]),
    ([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6]], [tf.Count(2), tf.Histogram()]),
])  # fmt: skip
def test_what_they_lose_together_is_at_most_epsilon(matrix, queries, epsilon):
    matrix = np.array(matrix)
    start = np.linalg.matrix_power(matrix, 10**6)[0]
    calibrations = tf.calibrate_jointly(chain(matrix), queries, epsilon)
    charged = tf.compose(calibrations).epsilon
    assert epsilon * (1 - Fraction(1, 10**8)) <= charged <= epsilon
    law = oracle.chain_law(start, [matrix] * 3)
    releases = []
    for query, one in zip(queries, calibrations, strict=True):
        scale = float(one.scale)
        if isinstance(query, tf.Histogram):
            releases.append(oracle.histogram(law.shape, scale))
        elif query is TWICE:
            releases.append(oracle.weighted(law.shape, [[0, 2]] * 4, scale))
        else:
            releases.append(oracle.count(law.shape, [query.state], scale, query.entries))
    true = max(oracle.joint_losses(law, releases, entry).max() for entry in range(4))
    assert true <= charged + 1e-9


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("queries", "weights"), [
    ([COUNT, LAST], None),
    ([COUNT, TWICE], [1, 100]),
    ([COUNT, tf.Histogram(), LAST], [3, 1, 1]),
    ([tf.Count(1, entries=range(10)), tf.Count(1, entries=range(10, 20)), tf.Sum(codes={0: 0, 1: 7})], None),
])  # fmt: skip
def test_the_total_error_is_never_above_that_of_an_equal_split(queries, weights):
    framework = chain(length=20)
    calibrations = tf.calibrate_jointly(framework, queries, 1, weights=weights)
    split = split_of(framework, queries, weights=weights)
    equal = split.error(split.equal())
    assert total_error(calibrations, weights) <= equal * (1 + 1e-6)
    each = [tf.calibrate(framework, query, Fraction(1, len(queries)), mechanism="group-dp") for query in queries]
    assert total_error(calibrations, weights) <= total_error(each, weights)


def test_one_shape_of_profile_has_a_closed_form():
    """Discrete noise of scale b errs by little less than b, so b_k ~ sqrt(D_k/w_k) up to that."""
    framework = chain(length=50)
    first, second = tf.calibrate_jointly(framework, [COUNT, tf.Sum(codes={0: 0, 1: 100})], Fraction(1, 20))
    assert second.scale / first.scale == pytest.approx(10, rel=0.03)
    alone = tf.calibrate(framework, COUNT, Fraction(1, 20), mechanism="influence").scale
    assert 1 / first.scale + 100 / second.scale == pytest.approx(1 / alone, rel=1e-6)
    best = (1 + 10) ** 2 * alone  # sum of w_k b_k at the least
    assert first.scale + second.scale == pytest.approx(best, rel=1e-4)


TINY = Fraction(1, 10**5)


@pytest.mark.mutants
@pytest.mark.parametrize(
    ("queries", "epsilon"), [([COUNT, LAST], 1), ([COUNT, tf.Histogram(), TWICE], Fraction(1, 2)), ([TWICE], 2)]
)
def test_normal_noise_keeps_what_it_promises_together(queries, epsilon):
    calibrations = tf.calibrate_jointly(chain(), queries, epsilon, TINY)
    charges = [charge_of(one, begins_series=True) for one in calibrations]
    for charged in (tf.compose(calibrations, begins_series=True), joint(chain(), charges)):
        assert epsilon * (1 - Fraction(1, 10**6)) <= charged.epsilon <= epsilon
        assert charged.delta == TINY
    assert all(one.epsilon <= epsilon for one in calibrations)
    assert true_delta_of(calibrations, epsilon) <= TINY < true_delta_of(calibrations, epsilon, shrunk=0.5)
    half = {**charges[0].randomiser, "sigma": str(Fraction(calibrations[0].exact_scale) / 2)}
    assert joint(chain(), [replace(charges[0], randomiser=half), *charges[1:]]).epsilon > epsilon


def true_delta_of(calibrations, epsilon, shrunk=1.0):
    weights = {COUNT: [[0, 1]] * 4, LAST: [[0, 0], [0, 0], [0, 1], [0, 1]], TWICE: [[0, 2]] * 4}
    releases = []
    for one in calibrations:  # two cells that move together, and oppositely, are one of twice the square
        scale = float(one.scale) * shrunk
        is_table = isinstance(one.query, tf.Histogram)
        releases.append((weights[COUNT if is_table else one.query], scale / math.sqrt(2 if is_table else 1), True))
    return exact_delta(STAY, [0.8, 0.2], 4, releases, float(epsilon))


@pytest.mark.mutants
def test_one_shape_of_profile_has_a_closed_form_for_normal_noise():
    """sum_k A_k/s_k^2 is fixed, so sum_k w_k s_k is least where s_k^3 is in proportion to A_k/w_k."""
    framework = chain(length=50)
    weights = (1.0, 4.0)
    made = tf.calibrate_jointly(framework, [COUNT, tf.Sum(codes={0: 0, 1: 100})], 1, TINY, weights=weights)
    alone = float(tf.calibrate(framework, COUNT, 1, TINY, mechanism="influence-gaussian").scale)
    roots = [(move**2 / weight) ** (1 / 3) for move, weight in zip((1, 100), weights, strict=True)]
    spent = sum((move / root) ** 2 for move, root in zip((1, 100), roots, strict=True))
    best = [alone * math.sqrt(spent) * root for root in roots]
    assert [float(one.scale) for one in made] == pytest.approx(best, rel=2e-2)
    least, total = (
        sum(w * s for w, s in zip(weights, scales, strict=True)) for scales in (best, [float(m.scale) for m in made])
    )
    assert total == pytest.approx(least, rel=1e-3)


@pytest.mark.mutants
@pytest.mark.parametrize("failing", [Fraction(0), TINY])
@pytest.mark.parametrize("queries", [[COUNT, LAST], [tf.Histogram(), TWICE], [tf.Mode(), COUNT]])
def test_no_split_of_a_grid_is_better(queries, failing):
    """By one hundredth: each ratio of two scales on a grid, with the least scales that keep the promise."""
    if failing and tf.Mode() in queries:
        return
    framework, epsilon = chain(length=8), Fraction(1)
    problems = tuple(problem_of(framework, query, epsilon, failing) for query in queries)
    noise = LaplaceTogether(framework, problems, epsilon)
    if failing:
        noise = NormalTogether(framework, problems, epsilon, failing)
    split = Split(noise, (1.0, 1.0))
    ours = [Fraction(one.exact_scale) for one in tf.calibrate_jointly(framework, queries, epsilon, failing)]
    best = min(split.error(on_the_grid(noise, Fraction(2) ** step)) for step in range(-3, 4))
    assert split.error(ours) <= 1.01 * best


def on_the_grid(noise, ratio):
    low, high = Fraction(0), Fraction(10**4)
    while high - low > high / 1000:
        middle = (low + high) / 2
        scales = [middle, middle * ratio]
        is_enough = all(map(operator.ge, scales, noise.least)) and noise.loss(scales) <= noise.epsilon
        low, high = (low, middle) if is_enough else (middle, high)
    return [high, high * ratio]


@pytest.mark.mutants
def test_releases_that_hide_little_together_need_what_they_need_alone():
    """Windows far apart: each keeps epsilon at half of delta."""
    windows = [tf.Count(1, entries=range(5)), tf.Count(1, entries=range(95, 100))]
    made = tf.calibrate_jointly(chain(length=100), windows, 1, TINY)
    for query, one in zip(windows, made, strict=True):
        alone = tf.calibrate(chain(length=100), query, 1, TINY / 2, mechanism="influence-gaussian")
        assert one.scale == pytest.approx(alone.scale, rel=1e-6)
        assert one.epsilon <= 1


@pytest.mark.mutants
@pytest.mark.parametrize(("queries", "weights"), [
    ([COUNT, tf.Count(0)], [1, 1000]), ([tf.Count(1, entries=range(5)), COUNT], [1000, 1]),
])  # fmt: skip
def test_each_release_keeps_its_own_share_of_delta_and_just_so(queries, weights):
    """Of unlike noises the smaller one needs more of delta: what each promises is what it needs alone."""
    made = tf.calibrate_jointly(chain(length=60), queries, 1, TINY, weights=weights)
    assert sum(one.delta for one in made) == TINY
    assert made[0].delta != made[1].delta
    for query, one in zip(queries, made, strict=True):
        alone = tf.calibrate(chain(length=60), query, one.epsilon, one.delta, mechanism="influence-gaussian")
        assert one.scale * (1 - 1e-6) <= alone.scale <= one.scale * (1 + 1e-12)


def test_choices_share_an_epsilon_too():
    """By how many entries the best choice is missed at worst; what they lose is charged like anything else."""
    mode, count = tf.calibrate_jointly(chain(length=20), [tf.Mode(), COUNT], 2)
    assert tf.compose([mode, count]).epsilon <= 2
    more, less = tf.calibrate_jointly(chain(length=20), [tf.Mode(), COUNT], 2, weights=[10, 1])
    assert more.expected_error < mode.expected_error
    assert less.expected_error > count.expected_error


@pytest.mark.parametrize(("queries", "keys", "words"), [
    ([], {}, "nothing to calibrate"),
    ([COUNT, LAST], {"weights": [1]}, "weights"),
    ([COUNT, LAST], {"weights": [1, 0]}, "weights"),
    ([COUNT, LAST], {"weights": [1e-320, 1]}, "weights"),
    ([COUNT, LAST], {"weights": [1, "1e300"], "delta": "1e-6"}, "weights"),
    ([COUNT, tf.Sum(codes={0: 3, 1: 3})], {}, "no secret moves"),
    ([COUNT, tf.Mode()], {"delta": "1e-6"}, "publishes a choice"),
    ([COUNT, LAST], {"delta": 1}, "delta"),
    ([COUNT, tf.Sum(codes={0: 3, 1: 3})], {"delta": "1e-6"}, "no secret moves"),
])  # fmt: skip
def test_bad_input(queries, keys, words):
    with pytest.raises(TakifuguError, match=words) as caught:
        tf.calibrate_jointly(chain(), queries, 1, **keys)
    assert isinstance(caught.value, InputError | CalibrationRefused)
    with pytest.raises(InputError, match="an epsilon of its own"):
        tf.calibrate_jointly(tf.distribution_pair(Pmf([0], [1]), Pmf([1], [1])), [tf.Identity()], 1)


@dataclass(frozen=True)
class Squares:
    """A loss of sum D_k/b_k, and squared scales for errors."""

    changes: tuple[int, ...]
    epsilon: Fraction
    power: int = 1

    @property
    def start(self):
        return [Fraction(change) for change in self.changes]

    @property
    def sizes(self):
        return self.start

    @property
    def shapes(self):
        return [(place,) for place in range(len(self.changes))]

    @property
    def least(self):
        return [Fraction(0)] * len(self.changes)

    def guess(self, scales):
        return self.loss(scales) / float(self.epsilon)

    def loss(self, scales):
        return math.fsum(change / float(scale) for change, scale in zip(self.changes, scales, strict=True))

    def error(self, place, scale):
        return float(scale) ** 2

    def only(self, place):
        return Squares((self.changes[place],), self.epsilon / len(self.changes))


def test_squared_errors_are_split_as_another_program_did():
    """Least sum of w b^2 with sum D/b = 0.3: b_k = (D_k/w_k)^(1/3) sum_j D_j^(2/3) w_j^(1/3) / 0.3."""
    best = Split(Squares((1, 1, 2), Fraction(3, 10)), (1.0, 4.0, 1.0)).best()
    assert list(map(float, best)) == pytest.approx(
        [13.91600701312133, 8.7665350831581219, 17.533070166316244], rel=1e-3
    )
