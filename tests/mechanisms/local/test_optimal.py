"""The channel of least loss: it keeps its promises as measured, and no named mechanism loses less."""

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kawamoto import channels
from takifugu.core.errors import InputError, Unsupported
from takifugu.mechanisms.local import measuring
from takifugu.mechanisms.local.metric_privacy import grid_edges, hides_distance, spanner, stretch
from takifugu.mechanisms.local.optimal import optimal
from takifugu.mechanisms.local.promises import hides_population, hides_value
from takifugu.numbers.distributions.channel import Channel

F = Fraction
LINE = list(range(400))
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


def test_grid_edges_imply_all_pairs_of_a_full_rectangle():
    prior = dict.fromkeys(GRID, F(1, 9))
    edges = grid_edges(3, 3)
    assert stretch(GRID, taxicab, edges) == 1
    by_edges = optimal(GRID, GRID, prior, taxicab, [hides_distance("0.7", taxicab, edges)])
    by_pairs = optimal(GRID, GRID, prior, taxicab, [hides_distance("0.7", taxicab)])
    assert by_edges.loss == pytest.approx(by_pairs.loss, abs=1e-6)
    assert measuring.metric_loss(by_edges.channel, taxicab) <= 0.7 + 1e-11
    laplace = channels.from_weights(GRID, GRID, [[math.exp(-0.35 * taxicab(x, y)) for y in GRID] for x in GRID])
    assert by_edges.loss <= measuring.expected_loss(laplace, prior, taxicab) + 1e-6


def test_edges_that_miss_a_place_do_not_imply_the_rest():
    """Without the middle of the square, grid edges go round it."""
    ring = [place for place in GRID if place != (1.0, 1.0)]
    place = {point: n for n, point in enumerate(ring)}
    edges = [(place[a], place[b]) for a in ring for b in ring if place[a] < place[b] and taxicab(a, b) == 1]
    assert stretch(ring, taxicab, edges) == 2


@given(st.sampled_from([1.0, 1.2, 2.0]))
def test_a_spanner_stretches_no_more_than_it_says(most):
    edges = spanner(GRID, plane, most)
    assert stretch(GRID, plane, edges) <= most * (1 + 1e-9)
    assert len(edges) <= 36


def test_a_spanner_keeps_the_promise_for_all_pairs_at_some_loss():
    prior = dict.fromkeys(GRID, F(1, 9))
    short = optimal(GRID, GRID, prior, plane, [hides_distance(1, plane, spanner(GRID, plane, 1.5))])
    full = optimal(GRID, GRID, prior, plane, [hides_distance(1, plane)])
    assert measuring.metric_loss(short.channel, plane) <= 1 + 1e-9
    assert full.loss - 1e-6 <= short.loss <= 1.5 * full.loss
    assert short.least <= full.least + 1e-6  # proved for all pairs, not for the edges alone
    assert full.loss <= full.least + 1e-6
    assert short.least >= full.loss / 1.5


def test_what_no_channel_loses_less_than_holds_for_every_way_to_ask():
    """The same promise along edges with a stretch, by both solvers: the lower end is that of all pairs."""
    prior = dict.fromkeys(GRID, F(1, 9))
    full = optimal(GRID, GRID, prior, plane, [hides_distance(1, plane)])
    ring = spanner(GRID, plane, 1.5)
    loose = hides_value(50)  # always kept here, and without a form by columns
    mixed = optimal(GRID, GRID, prior, plane, [hides_distance(1, plane, ring), loose])
    alone = optimal(GRID, GRID, prior, plane, [hides_distance(1, plane, ring)])
    assert mixed.loss == pytest.approx(alone.loss, abs=1e-5)
    assert mixed.least <= full.loss + 1e-9
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
    (lambda: spanner(GRID, plane, 0.5), InputError),
    (lambda: optimal(list(range(400)), list(range(400)), {0: 1}, apart, [hides_distance(1, apart)]), Unsupported),
    (lambda: optimal(LINE, LINE, {0: 1}, apart, [hides_distance(1, apart, pairwise(LINE))]), Unsupported),
])  # fmt: skip
def test_bad_input(wrong, kind):
    with pytest.raises(kind):
        wrong()


@pytest.mark.parametrize("promise", [
    hides_value(1),
    hides_distance(1, taxicab),
    hides_distance(1, taxicab, grid_edges(3, 3)),
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
