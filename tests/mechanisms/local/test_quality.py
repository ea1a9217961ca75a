"""Quality: the mean and the worst distance to the closest value of a tuple, by every tuple."""

from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from takifugu.mechanisms.local.measuring import tuple_loss, worst_tuple_loss
from takifugu.numbers.distributions.channel import Channel


@given(st.integers(0, 3), st.integers(0, 100), st.integers(0, 1))
def test_the_losses_of_a_tuple_by_every_tuple(dummies, seed, least):
    rng = np.random.default_rng(seed)
    weights = rng.integers(least, 2 + 3 * least, size=(2, 3))
    weights[:, 0] += weights.sum(axis=1) == 0
    rows = [[F(int(w), int(ws.sum())) for w in ws] for ws in weights]
    channel, distances = Channel.of([0, 1], ["a", "b", "c"], rows), rng.integers(0, 6, size=(2, 3)).astype(float)
    prior, total, worst = {0: F(1, 3), 1: F(2, 3)}, 0.0, 0.0
    for x, ys in product((0, 1), product(range(3), repeat=dummies + 1)):
        chance, near = float(rows[x][ys[0]]) / 3**dummies, min(distances[x, y] for y in ys)
        total += float(prior[x]) * chance * near
        worst = max(worst, near if chance else 0)
    assert tuple_loss(channel, prior, distances, dummies) == pytest.approx(total, abs=1e-12)
    assert worst_tuple_loss(channel, distances) == worst
