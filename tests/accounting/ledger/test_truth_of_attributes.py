"""Properties, single records, parameters, rows that are sent, and beliefs about each value, in one ledger.

No total is below the truth, by every data set of two columns of bits, any of which may be absent, and every output that
can be extreme. A loss is divided by the distance of populations that have one.
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
from takifugu.core.errors import CompositionRefused, TakifuguError
from takifugu.model.beliefs.counted_populations import samples_of
from takifugu.model.frameworks import OF_ROWS

MECHANISMS = ["group-dp", "wasserstein", "laplace-exact", "with-scale"]


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
    apart = r.choice([None, Fraction(1, 4), Fraction(3)])
    secret = tf.population_membership(None if apart is None else {"p": {"q": apart}})
    return tf.Pufferfish(secret, belief), [tuple(of_states)]


def of_values(r: random.Random, states: Any) -> tuple[Any, Any]:
    """Return a framework that hides each value under a belief about all of them, and its hypotheses."""
    values, names = list(map(values_of, states)), [f"v{number}" for number in range(2 * len(states[0]))]
    first, rows = masses(r, 2), [masses(r, 2) for _ in (0, 1)]
    if r.random() < 0.5:
        belief: Any = tf.MarkovChain(rows, len(names), initial=first)
        steps = [[first[path[0]], *(rows[a][b] for a, b in itertools.pairwise(path))] for path in values]
        law = [float(math.prod(masses_of_steps)) for masses_of_steps in steps]
    else:
        table = masses(r, len(states))
        belief, law = tf.JointTable([tuple(path) for path in values], table, names), [float(mass) for mass in table]
    pairs = [pair for i in range(len(names)) for pair in given(law, states, lambda rows, i=i: values_of(rows)[i])]
    return tf.Pufferfish(tf.every_entry(), belief), pairs


def of_users(r: random.Random, states: Any) -> tuple[Any, Any]:
    """Return a framework that hides who is there, or each value, of independent users, and its hypotheses."""
    values = list(map(values_of, states))
    laws, may_miss = [masses(r, 2) for _ in values[0]], any(None in path for path in values)
    there = [r.choice([Fraction(1, 5), Fraction(9, 10)]) if may_miss else Fraction(1) for _ in laws]
    law = []
    for path in values:
        chances = zip(path, laws, there, strict=True)
        law.append(float(math.prod(1 - is_in if x is None else is_in * own[x] for x, own, is_in in chances)))
    hides_presence, pairs = may_miss and r.random() < 0.5, list[Any]()

    def hidden(value: int | None) -> Any:
        return value is None if hides_presence else value

    for i in range(len(laws)):
        pairs += given(law, states, lambda rows, i=i: hidden(values_of(rows)[i]))
    absence = "removed" if may_miss else None
    belief = tf.IndependentUsers([dict(enumerate(own)) for own in laws], presence=there, absence=absence)
    return tf.Pufferfish(tf.presence() if hides_presence else tf.every_entry(), belief), pairs


def values_of(rows: Any) -> list[Any]:
    return [value for row in rows for value in row]


def nobody_absent(maker: Any) -> Any:
    """Return what makes a framework under which everybody is there."""

    def make(r: random.Random, states: Any) -> tuple[Any, Any]:
        whole = [rows for rows in states if None not in values_of(rows)]
        about, pairs = maker(r, whole)
        masses_of = [[dict(zip(whole, law, strict=True)) for law in pair] for pair in pairs]
        return about, [tuple([law.get(rows, 0.0) for rows in states] for law in pair) for pair in masses_of]

    return make


def sent(noise: Any, states: Any) -> Any:
    """Return the likelihood of what is sent of the first column, given each data set."""
    channel = noise.sender.channel
    laws = {x: {y: float(mass) for y, mass in channel.row(x).items()} for x in channel.inputs}
    outputs = itertools.product(channel.outputs, repeat=len(states[0]))
    return np.array([
        [math.prod(laws[row[0]].get(y, 0.0) for row, y in zip(rows, output, strict=True)) for rows in states]
        for output in outputs
    ])  # fmt: skip


def question(r: random.Random, about: Any, states: Any) -> tuple[Any, list[Any]]:
    """Return a release, and the likelihood of its outputs given each data set, cell by cell."""
    epsilon, mechanism = r.choice(["0.3", 1, 3]), r.choice(MECHANISMS)
    if about.definition in OF_ROWS:
        query: Any = tf.LocalValue(batch=r.choice(["May", ""]), columns=COLUMNS[:1])
        made: Any = tf.calibrate(about, query, epsilon, mechanism="randomised-response")
        there = [[(row[0] or 0, row[1]) for row in rows] for rows in states]  # nobody is absent under such a belief
        return made, [sent(made.randomiser, there)]
    if about.columns:
        read = r.choice([(0,), (1,), (0, 1)])
        query = tf.Sum(COLUMNS[read[0]])
        if len(read) > 1:
            query = tf.JointQuery([tf.Sum(name) for name in COLUMNS])
        columns = [[sum(row[j] or 0 for row in rows) for rows in states] for j in read]
    else:
        query, columns = r.choice([(tf.Count(1), (1,)), (tf.Histogram(), (0, 1))])
        columns = [[values_of(rows).count(value) for rows in states] for value in columns]
    if mechanism == "with-scale":
        made = tf.with_scale(about, query, Fraction(r.randrange(1, 12), 4))
    else:
        made = tf.calibrate(about, query, epsilon, mechanism=mechanism)
    answers = np.array(columns, dtype=float)
    return made, [np.exp(-abs(np.unique(x)[:, None] - x[None]) / float(made.scale)) for x in answers]


def charged_and_true(seed: int) -> tuple[set[str], float, float]:
    """Pay for some releases about the same records; return their definitions, what is charged, and the truth."""
    r = random.Random(seed)
    count, bits = r.choice([(1, (0, 1)), (1, (0, 1, None)), (2, (0, 1))])
    states = [*itertools.product(itertools.product(bits, repeat=2), repeat=count)]
    makers = [of_records, of_records, of_several, of_parameters, of_populations, of_values, of_users]
    pool = []
    for maker in r.sample(makers, 3):
        pool.append((maker if maker is of_users else nobody_absent(maker))(r, states))
    ledger, together, used = Ledger.blank(), np.ones((1, len(states))), list[tuple[Any, Any]]()
    for _ in range(r.randrange(2, 4)):
        about, pairs = r.choice(pool)
        try:
            made, cells = question(r, about, states)
            ledger.reserve("s", [Debit(about, charge_of(made), ["ann"])], 10**6, entries="records")
        except TakifuguError:  # a query of two parts without a bound, or without noise
            continue
        for cell in cells:
            together = np.unique((together[:, None] * cell[None]).reshape(-1, len(states)), axis=0)
        used.append((about, pairs))
    true = 0.0
    for about, pairs in used:
        apart = float(about.secrets[0].metric[0][-1]) if about.definition == "extended-distribution" else 1.0
        for pair in pairs:
            left, right = (together @ np.array(law) / sum(law) for law in pair)
            seen = (left > 0) | (right > 0)
            with np.errstate(divide="ignore"):
                true = max(true, float(np.abs(np.log(left[seen] / right[seen])).max()) / apart)
    names = {about.definition for about, _ in used}
    return names, float(ledger.spent("s", "ann").epsilon) if used else 0.0, true


@pytest.mark.mutants
@pytest.mark.parametrize("seeds", rounds(12, 60, 1000, parts=4))
def test_no_total_of_columns_and_sent_rows_is_below_the_truth(seeds: range) -> None:
    totals = list(map(charged_and_true, seeds))
    assert all(true <= charged * (1 + 1e-9) for _, charged, true in totals), totals
    assert any(len(names) > 1 for names, *_ in totals)


#: What may be known of the same person beside a sent row: a count of it at epsilon 2.
COUNTED = tf.Pufferfish(tf.every_entry(), tf.JointTable([(0,), (1,)], [0.5, 0.5], names=["a"]))
COUNT = tf.calibrate(COUNTED, tf.Count(1), 2, mechanism="group-dp")


def paid(hidden: Any, mechanism: str) -> Ledger:
    ledger, sent = Ledger.blank(), tf.calibrate(hidden, tf.LocalValue(batch="May"), 4, mechanism=mechanism)
    for about, made in ((hidden, sent), (COUNTED, COUNT)):
        ledger.reserve("s", [Debit(about, charge_of(made), ["ann"])], 99, entries="records")
    return ledger


def test_what_is_lost_elsewhere_counts_as_often_as_a_distance_goes_into_one() -> None:
    laws: Any = {"p": {0: "0.9", 1: "0.1"}, "q": {0: "0.1", 1: "0.9"}}
    hidden = tf.Pufferfish(
        tf.population_membership({"p": {"q": Fraction(1, 4)}}), tf.FromPopulations(laws, 1, independent=True)
    )
    shown = np.exp(-2 * np.eye(2)) @ np.array([[0.9, 0.1], [0.1, 0.9]])  # the count alone tells more than 4 + 2
    assert np.log(shown[0, 1] / shown[0, 0]) / 0.25 > 5.6
    assert paid(hidden, "randomised-response").spent("s", "ann").epsilon == 4 + 2 / Fraction(1, 4)


def test_populations_that_may_be_as_near_as_one_likes_are_refused_beside_what_is_lost_elsewhere() -> None:
    rows = [("p", 0), ("q", 1)] * 90 + [("p", 1), ("q", 0)] * 10
    counted = tf.FromPopulations.counted(samples_of(rows, 2), [0, 1], rows=1, independent=True, source="a survey")
    hidden = tf.Pufferfish(tf.population_membership("w-infinity"), counted)
    with pytest.raises(CompositionRefused):
        paid(hidden, "randomised-response")
