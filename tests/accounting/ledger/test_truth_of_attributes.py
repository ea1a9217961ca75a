"""Properties, single records, parameters, and rows that are sent, in one ledger: no total is below the truth.

By every data set of two columns of bits, and every output that can be extreme.
"""

import itertools
import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.accounting.ledger.test_whole_columns import COLUMNS, ROWS, given, masses, of_parameters, of_records
from tests.support.rounds import rounds

import takifugu as tf
from takifugu.accounting.composition import charge_of
from takifugu.accounting.ledger import Debit, Ledger
from takifugu.core.errors import TakifuguError

MECHANISMS = ["group", "wasserstein", "laplace-exact", "with-scale"]


def of_several(r: random.Random, states: Any) -> tuple[Any, Any]:
    """Return a framework that hides a property of either column, and its hypotheses."""
    table, count = masses(r, len(ROWS)), len(states[0])
    law = [float(math.prod(table[ROWS.index(row)] for row in rows)) for rows in states]
    secrets = [tf.dataset_property(name, "sum") for name in COLUMNS]
    pairs = [pair for j in (0, 1) for pair in given(law, states, lambda rows, j=j: sum(row[j] for row in rows))]
    return tf.Pufferfish(secrets, tf.Records(tf.JointTable(ROWS, table, names=COLUMNS), count)), pairs


def of_populations(r: random.Random, states: Any) -> tuple[Any, Any]:
    """Return a framework about which population the first column is from; the second depends on both somehow."""
    laws, of_states = {}, []
    for name in "pq":
        laws[name] = dict(enumerate(masses(r, 2)))
        kernels = [masses(r, 2) for _ in (0, 1)]
        of_states.append([float(math.prod(laws[name][a] * kernels[a][b] for a, b in rows)) for rows in states])
    belief = tf.FromPopulations(laws, len(states[0]), independent=True)
    return tf.Pufferfish(tf.population_membership(), belief), [tuple(of_states)]


def sent(noise: Any, states: Any) -> Any:
    """Return the likelihood of what is sent of the first column, given each data set."""
    channel = noise.sender.channel
    laws = {x: {y: float(mass) for y, mass in channel.row(x).items()} for x in channel.inputs}
    outputs = itertools.product(channel.outputs, repeat=len(states[0]))
    return np.array([
        [math.prod(laws[row[0]].get(y, 0.0) for row, y in zip(rows, output, strict=True)) for rows in states]
        for output in outputs
    ])  # fmt: skip


def charged_and_true(seed: int) -> tuple[set[str], float, float]:
    """Pay for some releases about the same records; return their definitions, what is charged, and the truth."""
    r = random.Random(seed)
    states = [*itertools.product(ROWS, repeat=r.choice([1, 1, 2]))]
    makers = [of_records, of_records, of_several, of_parameters, of_populations]
    pool = [maker(r, states) for maker in r.sample(makers, 3)]
    ledger, together, used = Ledger.blank(), np.ones((1, len(states))), list[tuple[Any, Any]]()
    for _ in range(r.randrange(2, 4)):
        about, pairs = r.choice(pool)
        read, epsilon, mechanism = r.choice([(0,), (1,), (0, 1)]), r.choice(["0.3", 1, 3]), r.choice(MECHANISMS)
        try:
            if about.definition == "distribution":
                query: Any = tf.LocalValue(batch=r.choice(["May", ""]), columns=COLUMNS[:1])
                made: Any = tf.calibrate(about, query, epsilon, mechanism="randomised-response")
                cells = [sent(made.randomiser, states)]
            else:
                query = tf.Sum(COLUMNS[read[0]])
                if len(read) > 1:
                    query = tf.JointQuery([tf.Sum(name) for name in COLUMNS])
                if mechanism == "with-scale":
                    made = tf.with_scale(about, query, Fraction(r.randrange(1, 12), 4))
                else:
                    made = tf.calibrate(about, query, epsilon, mechanism=mechanism)
                columns = np.array([[sum(row[j] for row in rows) for j in read] for rows in states], dtype=float).T
                cells = [np.exp(-abs(np.unique(x)[:, None] - x[None]) / float(made.scale)) for x in columns]
            ledger.reserve("s", [Debit(about, charge_of(made), ["ann"])], 10**6, entries="records")
        except TakifuguError:  # a query of two parts without a bound, or without noise
            continue
        for cell in cells:
            together = np.unique((together[:, None] * cell[None]).reshape(-1, len(states)), axis=0)
        used.append((about, pairs))
    true = 0.0
    for _, pairs in used:
        for pair in pairs:
            left, right = (together @ np.array(law) / sum(law) for law in pair)
            seen = (left > 0) | (right > 0)
            with np.errstate(divide="ignore"):
                true = max(true, float(np.abs(np.log(left[seen] / right[seen])).max()))
    names = {about.definition for about, _ in used}
    return names, float(ledger.spent("s", "ann").epsilon) if used else 0.0, true


@pytest.mark.parametrize("seeds", rounds(12, 60, 1000, parts=4))
def test_no_total_of_columns_and_sent_rows_is_below_the_truth(seeds: range) -> None:
    totals = list(map(charged_and_true, seeds))
    assert all(true <= charged * (1 + 1e-9) for _, charged, true in totals), totals
    assert any(len(names) > 1 for names, *_ in totals)
