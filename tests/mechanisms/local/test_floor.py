"""The floor: no channel that keeps what `optimal` keeps loses over 1e-6 less, whatever promise is measured."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kawamoto import channels
from takifugu.mechanisms.local import measuring, promises
from takifugu.mechanisms.local.choosing import largest_strength, mechanisms, optimum
from takifugu.mechanisms.local.optimal import optimal
from takifugu.mechanisms.local.populations import populations_of
from takifugu.model.beliefs.populations import FromPopulations
from takifugu.numbers.distributions.channel import Channel

F = Fraction


def apart(x, y):
    return abs(x - y)


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
        chosen += [promises.hides_value(F(local)), promises.hides_distance(F(metric), apart)]
    if loss:
        chosen.append(promises.hides_population(p, q, F(loss)))
    if 1e-9 < delta < 1:
        chosen.append(promises.hides_population(p, q, epsilon, F(delta)))
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
        assert best.loss <= best.least + 1e-6
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
        if way is None or name in ("rappor", "tupling"):  # a set of values, or a tuple of them
            continue
        strength = largest_strength(way, populations, *promised)
        if strength is not None:
            most = way.make(strength).expected_loss(populations)
            assert floor.expected_loss(populations) <= most + 1e-6


@pytest.mark.parametrize("epsilon", ["0.2", 1, 4])
def test_metric_privacy_on_the_plane(epsilon):
    """The exponential mechanism, and planar noise in its box, with the metric epsilon that is measured on them."""
    places = [(float(i), float(j)) for i in range(3) for j in range(3)]
    prior = dict.fromkeys(places, F(1, 9))
    for channel in (
        channels.exponential(places, places, math.dist, epsilon),
        channels.planar_laplace(places, epsilon),
        channels.remapped_laplace(places, epsilon),
        channels.remapped_normal(places, 1),
    ):
        rate = F(measuring.metric_loss(channel, math.dist))
        best = optimal(places, places, prior, math.dist, [promises.hides_distance(rate, math.dist)])
        assert best.loss <= measuring.expected_loss(channel, prior, math.dist) + 1e-6


def test_tupling_can_lose_less_than_any_single_value():
    """Two point masses at epsilon 0: one value says nothing at all, and of two values one may be right."""
    one, other = {0: F(1), 1: F(0)}, {0: F(0), 1: F(1)}
    single = optimal([0, 1], [0, 1], {0: F(1, 2), 1: F(1, 2)}, apart, [promises.hides_population(one, other, 0, "1/4")])
    assert single.loss == pytest.approx(0.375, abs=1e-6)
    from takifugu.mechanisms.local.measuring import tuple_loss
    from takifugu.mechanisms.local.tupling import Tupling

    assert Tupling(1).delta([1, 0], [0, 1], 0) == 0.5
    keep = Channel.of([0, 1], [0, 1], [[1, 0], [0, 1]])
    assert tuple_loss(keep, {0: F(1, 2), 1: F(1, 2)}, np.array([[0.0, 1.0], [1.0, 0.0]]), 1) == 0
