"""Quality: the mean and the worst distance to the closest value of a tuple, by every tuple."""

from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from takifugu.mechanisms.local.measuring import tuple_loss, worst_tuple_loss
from takifugu.numbers.distributions.channel import Channel


@given(st.integers(0, 3), st.integers(0, 100))
def test_the_loss_of_a_tuple_by_every_tuple(dummies, seed):
    rng = np.random.default_rng(seed)
    rows = [[F(int(w), int(ws.sum())) for w in ws] for ws in rng.integers(1, 5, size=(2, 3))]
    channel, distances = Channel.of([0, 1], ["a", "b", "c"], rows), rng.integers(0, 4, size=(2, 3)).astype(float)
    prior, total = {0: F(1, 3), 1: F(2, 3)}, 0.0
    for x in (0, 1):
        for ys in product(range(3), repeat=dummies + 1):
            chance = float(rows[x][ys[0]]) / 3**dummies
            total += float(prior[x]) * chance * min(distances[x, y] for y in ys)
    assert tuple_loss(channel, prior, distances, dummies) == pytest.approx(total, abs=1e-12)
    assert worst_tuple_loss(channel, distances) == distances.max()


@given(st.integers(0, 3), st.integers(0, 100))
def test_the_worst_loss_of_a_tuple_by_every_tuple(dummies, seed):
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 2, size=(2, 3))
    weights[:, 0] += weights.sum(axis=1) == 0
    rows = [[F(int(w), int(ws.sum())) for w in ws] for ws in weights]
    channel, distances = Channel.of([0, 1], ["a", "b", "c"], rows), rng.integers(0, 6, size=(2, 3)).astype(float)
    worst = [
        min(distances[x, y] for y in ys)
        for x in (0, 1) for ys in product(range(3), repeat=dummies + 1)
        if rows[x][ys[0]]
    ]  # fmt: skip
    assert worst_tuple_loss(channel, distances) == max(worst)
