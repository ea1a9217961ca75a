"""The channel of least loss: it keeps its promises as measured, and no channel that keeps them loses over 1e-6 less."""

import math
from fractions import Fraction as F

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kawamoto import channels
from takifugu.core.errors import InputError, Unsupported
from takifugu.mechanisms.local import measuring
from takifugu.mechanisms.local.choosing import largest_strength, mechanisms, optimum
from takifugu.mechanisms.local.optimal import optimal
from takifugu.mechanisms.local.populations import populations_of
from takifugu.mechanisms.local.promises import DistributionPrivacy, hides_distance, hides_population, hides_value
from takifugu.model.beliefs.populations import FromPopulations
from takifugu.numbers.distributions.channel import Channel

GRID = [(float(r), float(c)) for r in range(3) for c in range(3)]


def apart(x, y):
    return abs(x - y)


def taxicab(x, y):
    return abs(x[0] - y[0]) + abs(x[1] - y[1])


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
], ids=["local", "metric", "distribution", "distribution, delta"])  # fmt: skip
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
        assert optimum.loss <= 1e-6 or isinstance(promise, DistributionPrivacy)


@st.composite
def questions(draw):
    """Return a channel without zeros on a few numbers, two populations and a prior."""
    values, outputs = (sorted(draw(st.sets(st.integers(0, 9), min_size=2, max_size=4))) for _ in range(2))
    weights = st.lists(st.integers(1, 9), min_size=len(outputs), max_size=len(outputs))
    rows = draw(st.lists(weights, min_size=len(values), max_size=len(values)))
    law = st.lists(st.integers(0, 9), min_size=len(values), max_size=len(values)).filter(any)
    p, q, prior = ({x: F(w, sum(ws)) for x, w in zip(values, ws, strict=True)} for ws in (draw(law) for _ in range(3)))
    return Channel.of(values, outputs, [[F(w, sum(ws)) for w in ws] for ws in rows]), p, q, prior


def promise(channel, p, q, epsilon):
    """Return promises with the least numbers at which this channel keeps them; what is 0 is no program."""
    chosen = []
    local, metric = measuring.local_loss(channel), measuring.metric_loss(channel, apart)
    loss, delta = measuring.distribution_loss(channel, p, q), measuring.distribution_delta(channel, p, q, epsilon)
    if local:
        chosen += [hides_value(F(local)), hides_distance(F(metric), apart)]
    if loss:
        chosen.append(hides_population(p, q, F(loss)))
    if 1e-9 < delta < 1:
        chosen.append(hides_population(p, q, epsilon, F(delta)))
    return chosen


@given(questions(), st.sampled_from([F(1, 10), F(1, 2)]))
@settings(max_examples=25, deadline=None)
def test_no_channel_with_the_same_promises_loses_less(case, epsilon):
    channel, p, q, prior = case
    loss = measuring.expected_loss(channel, prior, apart)
    promised = promise(channel, p, q, epsilon)
    for of in [*([promise] for promise in promised), *([promised] if len(promised) > 1 else [])]:
        best = optimal(channel.inputs, channel.outputs, prior, apart, of)
        assert best.loss <= loss + 1e-6
        assert best.least <= loss + 1e-9
        assert best.least - 1e-9 <= best.loss <= best.least + 1e-6
        assert all(promise.keeps(best.channel) for promise in of)


@st.composite
def people(draw):
    """Return populations over a small box of places, or over labels."""
    columns, rows = draw(st.integers(1, 2)), draw(st.integers(2, 3))
    places = [(float(i), 0.5 * j) for i in range(columns) for j in range(rows)]
    values = draw(st.sampled_from([places, [f"v{n}" for n in range(len(places))]]))
    law = st.lists(st.integers(1, 9), min_size=len(values), max_size=len(values))
    one, other = ([F(w, sum(ws)) for w in ws] for ws in (draw(law), draw(law)))
    laws = {"a": dict(zip(values, one, strict=True)), "b": dict(zip(values, other, strict=True))}
    return populations_of(FromPopulations(laws))


@given(people(), st.sampled_from([(F(1, 2), F(0)), (F(1), F(1, 50))]))
@settings(max_examples=15, deadline=None)
def test_no_named_mechanism_that_sends_one_value_loses_less(populations, promised):
    floor = optimum(populations, *promised)
    for name, way in mechanisms(populations).items():
        if way is None or name == "tupling":  # a tuple of values
            continue
        strength = largest_strength(way, populations, *promised)
        if strength is not None:
            most = way.make(strength).expected_loss(populations)
            assert floor.expected_loss(populations) <= most + 1e-6


@pytest.mark.sampled(2)
@pytest.mark.parametrize("epsilon", ["0.2", 1, 4])
def test_metric_privacy_on_the_plane(epsilon):
    """The exponential mechanism, and planar noise in its box, with the metric epsilon that is measured on them."""
    prior = dict.fromkeys(GRID, F(1, 9))
    for channel in (
        channels.exponential(GRID, GRID, math.dist, epsilon),
        channels.planar_laplace(GRID, epsilon),
        channels.remapped_laplace(GRID, epsilon),
        channels.remapped_normal(GRID, 1),
    ):
        rate = F(measuring.metric_loss(channel, math.dist))
        best = optimal(GRID, GRID, prior, math.dist, [hides_distance(rate, math.dist)])
        assert best.loss <= measuring.expected_loss(channel, prior, math.dist) + 1e-6
