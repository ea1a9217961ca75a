"""Rows sent among dummies, and by themselves, in one ledger: its delta and epsilon against every tuple.

The rows of a person are independent given the population; batches share none, and releases of one batch read the same.
"""

import math
import random
from fractions import Fraction
from typing import Any

import pytest
from tests.support import rows_oracle as oracle
from tests.support.rounds import rounds
from tests.support.tuples import tuple_law

import takifugu as tf
from takifugu.accounting.composition import charge_of
from takifugu.accounting.ledger import Debit, Ledger
from takifugu.core.errors import CalibrationRefused

#: The most data sets with all that is sent of them.
MOST = 5_000
ROWS_OF = {"May": 0, "June": 1}


def among_dummies(noise: Any) -> dict[Any, dict[Any, float]]:
    """Return the distribution of a row's tuple given its value, by the definition."""
    channel = noise.sender.channel
    evenly = [Fraction(1, len(channel.outputs))] * len(channel.outputs)
    laws = {x: tuple_law([*channel.row(x).values()], evenly, noise.sender.dummies) for x in channel.inputs}
    return {x: {y: float(mass) for y, mass in law.items()} for x, law in laws.items()}


def charged_and_true(seed: int) -> tuple[float, float]:
    """Return the delta of a ledger and the true one at its epsilon; where that is 0, epsilon and the true one."""
    r = random.Random(seed)
    values = list("abc")[: r.choice([2, 2, 3])]
    laws = {}
    for name in "pq":
        weights = [r.choice([1, 1, 2, 3, 5, 20]) for _ in values]
        laws[name] = {x: Fraction(weight, sum(weights)) for x, weight in zip(values, weights, strict=True)}
    rows = r.choice([1, 1, 2])
    about = tf.Pufferfish(tf.population_membership(), tf.FromPopulations(laws, rows, independent=True))
    ledger, channels, readings, size = Ledger.blank(), list[Any](), list[Any](), len(values) ** (2 * rows)
    for _ in range(r.choice([1, 1, 2, 3])):
        dummies, batch = r.choice([0, 1, 1, 2] if rows == 1 else [0, 1]), r.choice([*ROWS_OF])
        size *= len(values) ** ((dummies + 1) * rows)
        if size > MOST:
            break
        mechanism, delta = "randomised-response", r.choice([0, "0.1"])
        if dummies:
            mechanism, delta = "tupling", r.choice(["0.1", "0.3"])
        query, epsilon = tf.LocalValue(dummies, batch=batch), r.choice(["0.1", "0.5", 1, 2])
        try:
            made = tf.calibrate(about, query, epsilon, delta, mechanism=mechanism)
        except CalibrationRefused:  # the values themselves could be sent
            continue
        ledger.reserve("rows", [Debit(about, charge_of(made), ["ann"])], (10**6, "0.999"), entries="rows")
        channels.append(among_dummies(made.randomiser))
        readings.append([rows * ROWS_OF[batch] + row for row in range(rows)])
    if not channels:
        return 1.0, 0.0
    total = ledger.spent("rows", "ann")
    one, other = (oracle.sent_of_rows(law, readings, channels) for law in laws.values())
    if not total.delta:
        return float(total.epsilon), oracle.loss(one, other)
    return float(total.delta), oracle.excess(one, other, float(total.epsilon) * (1 + 1e-12))


@pytest.mark.mutants
@pytest.mark.parametrize("seeds", rounds(3, 20, 200))
def test_no_total_of_tuples_is_below_the_truth(seeds: range) -> None:
    totals = [charged_and_true(seed) for seed in seeds]
    assert all(math.isfinite(charged) and true <= charged * (1 + 1e-9) for charged, true in totals), totals
    assert len(seeds) < 10 or any(true >= charged * (1 - 1e-3) for charged, true in totals)
