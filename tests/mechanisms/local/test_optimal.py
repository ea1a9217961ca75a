"""The channel of least loss: it keeps its promises as measured, and no named mechanism loses less."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kawamoto import channels
from takifugu.core.errors import InputError, Unsupported
from takifugu.mechanisms.local import measuring
from takifugu.mechanisms.local.optimal import optimal
from takifugu.mechanisms.local.promises import hides_distance, hides_population, hides_value
from takifugu.numbers.distributions.channel import Channel

F = Fraction
GRID = [(float(r), float(c)) for r in range(3) for c in range(3)]


def apart(x, y):
    return abs(x - y)


def taxicab(x, y):
    return abs(x[0] - y[0]) + abs(x[1] - y[1])


def plane(x, y):
    return math.hypot(x[0] - y[0], x[1] - y[1])


@given(st.integers(2, 5), st.sampled_from(["0.2", 1, 3]))
@settings(max_examples=5)
def test_no_named_mechanism_with_local_privacy_loses_less(count, epsilon):
    values = list(range(count))
    prior = dict.fromkeys(values, F(1, count))
    optimum = optimal(values, values, prior, apart, [hides_value(epsilon)])
    assert optimum.measured[0] <= F(epsilon)
    named = [
        channels.randomised_response(values, epsilon),
        channels.exponential(values, values, apart, F(epsilon) / (count - 1)),
    ]
    for channel in named:
        assert measuring.local_loss(channel) <= float(F(epsilon)) + 1e-12
        assert optimum.loss <= measuring.expected_loss(channel, prior, apart) + 1e-6
    assert optimum.least - 1e-9 <= optimum.loss <= optimum.least + 1e-6


def test_a_wrong_guess_between_k_values_is_randomised_response():
    values = [0, 1, 2, 3]
    optimum = optimal(values, values, dict.fromkeys(values, F(1, 4)), lambda x, y: float(x != y), [hides_value(1)])
    assert optimum.loss == pytest.approx(3 / (3 + math.e), abs=1e-6)


@pytest.mark.parametrize("delta", [0, "0.05"])
def test_distribution_privacy_allows_less_loss_than_local_privacy(delta):
    values = list(range(4))
    p = dict(zip(values, [F(4, 10), F(3, 10), F(2, 10), F(1, 10)], strict=True))
    q = dict(zip(values, [F(1, 10), F(2, 10), F(3, 10), F(4, 10)], strict=True))
    prior = dict.fromkeys(values, F(1, 4))
    of_population = optimal(values, values, prior, apart, [hides_population(p, q, 1, delta)])
    of_value = optimal(values, values, prior, apart, [hides_value(1)])
    assert of_population.loss < of_value.loss
    assert delta or measuring.distribution_loss(of_population.channel, p, q) <= 1
    assert measuring.distribution_delta(of_population.channel, p, q, 1) <= F(delta)
    together = optimal(values, values, prior, apart, [hides_value(1), hides_population(p, q, "0.1", delta)])
    assert together.loss >= max(of_value.loss, of_population.loss) - 1e-6
    assert measuring.local_loss(together.channel) <= 1


def test_metric_privacy_loses_no_more_than_laplace_noise():
    prior = dict.fromkeys(GRID, F(1, 9))
    best = optimal(GRID, GRID, prior, taxicab, [hides_distance("0.7", taxicab)])
    assert measuring.metric_loss(best.channel, taxicab) <= 0.7 + 1e-11
    laplace = channels.from_weights(GRID, GRID, [[math.exp(-0.35 * taxicab(x, y)) for y in GRID] for x in GRID])
    assert best.loss <= measuring.expected_loss(laplace, prior, taxicab) + 1e-6


def test_no_channel_loses_less_by_either_solver():
    prior = dict.fromkeys(GRID, F(1, 9))
    full = optimal(GRID, GRID, prior, plane, [hides_distance(1, plane)])
    assert full.loss <= full.least + 1e-6
    loose = hides_value(50)  # always kept here, and without a form by columns
    both = optimal(GRID, GRID, prior, plane, [hides_distance(1, plane), loose])
    assert both.loss == pytest.approx(full.loss, abs=1e-6)
    assert both.least == pytest.approx(full.least, abs=1e-5)


@pytest.mark.parametrize(("wrong", "kind"), [
    (lambda: optimal([0, 1], [0, 1], {0: 0.5, 1: 0.5}, apart, []), InputError),
    (lambda: optimal([0, 1], [0, 1], {0: 0.5, 1: 0.6}, apart, [hides_value(1)]), InputError),
    (lambda: optimal([0, 1], [0, 1], {0: 1}, lambda x, y: math.nan, [hides_value(1)]), InputError),
    (lambda: hides_value(-1), InputError),
    (lambda: hides_population({0: 1}, {0: 0.5}, 1), InputError),
    (lambda: hides_population({0: 1}, {1: 1}, 1, 1), InputError),
    (lambda: optimal(list(range(400)), list(range(400)), {0: 1}, apart, [hides_distance(1, apart)]), Unsupported),
])  # fmt: skip
def test_bad_input(wrong, kind):
    with pytest.raises(kind):
        wrong()


@pytest.mark.parametrize("promise", [
    hides_value(1),
    hides_distance(1, taxicab),
    hides_population(dict.fromkeys(GRID, F(1, 9)), {**dict.fromkeys(GRID[1:], F(1, 8)), GRID[0]: 0}, 1),
    hides_population(dict.fromkeys(GRID, F(1, 9)), {**dict.fromkeys(GRID[1:], F(1, 8)), GRID[0]: 0}, 1, "0.1"),
], ids=lambda promise: promise.describe())  # fmt: skip
def test_the_size_of_a_program_is_known_before_it_is_made(promise):
    assert promise.rows(GRID, 7, 1.0).limits.nnz <= promise.numbers(9, 7) <= 1.5 * promise.rows(GRID, 7, 1.0).limits.nnz


def test_a_promise_is_kept_to_the_last_digit():
    flip = Channel.of([0, 1], [0, 1], [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]])
    p, q = {0: F(1, 3), 1: F(2, 3)}, {0: F(1, 2), 1: F(1, 2)}
    local, apart_by = F(measuring.local_loss(flip)), F(measuring.distribution_loss(flip, p, q))
    share = F(measuring.distribution_delta(flip, p, q, "0.01"))
    nearly = 1 - F(1, 10**14)
    assert hides_value(local).keeps(flip)
    assert not hides_value(local * nearly).keeps(flip)
    assert hides_population(p, q, apart_by).keeps(flip)
    assert not hides_population(p, q, apart_by * nearly).keeps(flip)
    assert hides_population(p, q, "0.01", share).keeps(flip)
    assert not hides_population(p, q, "0.01", share * nearly).keeps(flip)


@pytest.mark.parametrize("epsilon", [40, 1000])
@pytest.mark.parametrize("delta", [0, "0.01"])
def test_a_huge_epsilon_is_no_model_error(epsilon, delta):
    values = [0, 1, 2]
    p, q = {0: F(1, 2), 1: F(1, 2), 2: F(0)}, {0: F(0), 1: F(1, 2), 2: F(1, 2)}
    prior = dict.fromkeys(values, F(1, 3))
    for promise in (hides_value(epsilon), hides_population(p, q, epsilon, delta), hides_distance(epsilon, apart)):
        optimum = optimal(values, values, prior, apart, [promise])
        assert promise.keeps(optimum.channel)
        assert optimum.loss <= 1e-6 or promise.describe().startswith("distribution")
