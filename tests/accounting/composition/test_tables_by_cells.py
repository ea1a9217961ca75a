"""Tables by cells that are charged together: the joint loss against a list of all data, pools, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import cell_oracles

import takifugu as tf
from takifugu.accounting.composition import charge_of
from takifugu.core.errors import InputError
from takifugu.model.queries import from_dict, resolved

MATRIX = [[0.9, 0.1], [0.4, 0.6]]


def law(size: int) -> dict[tuple[int, ...], float]:
    start, masses = (0.8, 0.2), {}
    for path in product((0, 1), repeat=size):
        steps = [MATRIX[x][y] for x, y in pairwise(path)]
        masses[path] = start[path[0]] * float(np.prod(steps))
    return masses


@st.composite
def cells(draw: st.DrawFn, size: int) -> list[list[int]]:
    """Two cells of a few entries each, often overlapping, often leaving some out."""
    chosen = st.sets(st.integers(0, size - 1), min_size=1, max_size=3)
    return [sorted(draw(chosen)) for _ in range(2)]


@settings(max_examples=15)
@given(cells(6), cells(6), st.sampled_from(["group", "quilt-exact", "entry"]))
def test_two_tables_by_hour_reveal_no_more_than_they_are_charged(one, two, mechanism):
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain(MATRIX, 6))
    tables = [tf.By(tf.Count(1), {f"{n:02}": chosen for n, chosen in enumerate(table)}) for table in (one, two)]
    calibrations = [tf.calibrate(framework, table, epsilon=1, mechanism=mechanism) for table in tables]
    loss = cell_oracles.joint_loss(law(6), [(t, c.scale) for t, c in zip((one, two), calibrations, strict=True)])
    assert loss <= float(tf.compose(calibrations).epsilon) + 1e-9


def test_fewer_than_the_cells_of_an_entry_is_too_little_noise():
    """Where cells overlap, noise for one of them alone would break the promise that the table makes."""
    table, framework = [[0, 1], [1, 2]], tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.5, 0.5]] * 2, 3))
    calibration = tf.calibrate(
        framework, tf.By(tf.Count(1), {"a": table[0], "b": table[1]}), epsilon=1, mechanism="group"
    )
    fair = dict.fromkeys(product((0, 1), repeat=3), 1 / 8)
    assert calibration.scale == 4  # 1 + 2 + 1, and not 3
    assert cell_oracles.joint_loss(fair, [(table, calibration.scale)]) <= 1
    narrow = tf.calibrate(framework, tf.By(tf.Count(1), {"a": table[0], "b": table[1]}), epsilon=1, mechanism="entry")
    assert narrow.scale == 2
    assert cell_oracles.joint_loss(fair, [(table, narrow.scale / 2)]) > 1


def test_a_pool_charges_each_unit_for_its_own_table():
    chain = tf.MarkovChain(MATRIX, 48)
    pool, unit = (tf.Pufferfish(tf.every_entry(), b) for b in (tf.IndependentPieces(chain, [48, 48, 48]), chain))
    hours = {f"{hour:02}": [hour] for hour in range(24)}
    for query in (tf.Histogram(), tf.Mean(), tf.Sum()):
        table = tf.By(query, hours, by="hour", every=24)
        pooled = tf.calibrate(pool, table, epsilon=1, mechanism="quilt-exact")
        charge = charge_of(pooled, unit)
        unit_answer = resolved(from_dict(charge.query), chain)
        whole = resolved(table, pool.beliefs[0])
        assert charge.scale is not None
        rates = [Fraction(int(a.entry_changes()[5])) * a.grid for a in (unit_answer, whole)]
        assert rates[0] / charge.scale == rates[1] / Fraction(pooled.randomiser.laplace_scale)
        assert charge.entry_change == rates[0]
        assert charge.query["cells"][0][0] == "0"  # labels say nothing of what is charged


def test_pools_of_other_lengths_are_refused():
    chain = tf.MarkovChain(MATRIX, 48)
    pool = tf.Pufferfish(tf.every_entry(), tf.IndependentPieces(chain, [36, 48]))
    table = tf.By(tf.Count(1), {"00": [0], "01": [1]}, every=24)
    with pytest.raises(InputError, match="no multiple of that long"):
        charge_of(tf.calibrate(pool, table, epsilon=1, mechanism="group"), tf.Pufferfish(tf.every_entry(), chain))
