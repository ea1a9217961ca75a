"""What is no number, no list or no name is refused as what it is: no error of Python's leaves a constructor."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import takifugu as tf
from takifugu.core.errors import TakifuguError

HUGE, POINT, STEPS = 10**400, np.array(3), [[0.9, 0.1], [0.4, 0.6]]
PMF = tf.numbers.Pmf([0, 1], [0.5, 0.5])


def network(source: Any = "assumed", **table: Any) -> tf.BayesianNetwork:
    return tf.BayesianNetwork([("a", [0, 1], [], table.get("table", [0.5, 0.5]))], source)


def table(rows: Any = ((0,), (1,)), masses: Any = (0.5, 0.5), names: Any = ("a",)) -> tf.JointTable:
    return tf.JointTable(rows, masses, names)


def hidden(matrix: Any = STEPS, emissions: Any = STEPS, seen: Any = ("quiet", "cough")) -> tf.BayesianNetwork:
    return tf.hidden_markov_chain(matrix, emissions, 3, states=["well", "ill"], observations=seen)


def clique(people: Any = ("Ana",), number: Any = None) -> tf.CliqueInfection:
    return tf.CliqueInfection([people], number or {1: [0.9, 0.1]})


def noise() -> tf.Calibration:
    return tf.calibrate(tf.Pufferfish(tf.every_entry(), tf.MarkovChain(STEPS, 5)), tf.Count(1), 1)


@pytest.mark.parametrize("made", [
    lambda: network(table=[HUGE, 0]),
    lambda: table(masses=["", 0.5]),
    lambda: table(masses=[[], 0.5]),
    lambda: table(masses=[HUGE, 0.5]),
    lambda: table(names=[[]]),
    lambda: table([(Decimal("nan"),), (1,)]),
    lambda: hidden([[HUGE, 0], [0.4, 0.6]]),
    lambda: hidden("", STEPS),
    lambda: hidden(STEPS, 0.5),
    lambda: hidden(STEPS, [[0.8], [0.3, 0.7]]),
    lambda: hidden(seen=np.zeros((2, 2))),
    lambda: tf.MarkovChain([[HUGE, 0], [0.4, 0.6]], 3),
    lambda: tf.MarkovChain(STEPS, 3, [HUGE, 0]),
    lambda: tf.calibrate(tf.Pufferfish(tf.every_entry(), tf.MarkovChain(STEPS, 2**62)), tf.Count(1), 1),
    lambda: tf.ReversibleChains(HUGE, 0.5, 10),
    lambda: tf.IndependentUsers([{0: HUGE, 1: 0.5}]),
    lambda: tf.IndependentUsers([{0: 0.5, 1: 0.5}], names=[[]]),
    lambda: clique([[]]),
    lambda: clique(number=lambda size: size),
    lambda: clique(number={1: [HUGE, 0.1]}),
    lambda: tf.cliques_of([("Ana", float("nan"))]),
    lambda: tf.cliques_of([("Ana", [])]),
    lambda: tf.cliques_of([("Ana", "Ben")], people=[None]),
    lambda: tf.cliques_of(np.zeros((2, 2, 2))),
    lambda: tf.numbers.Pmf([0, 1], [HUGE, 0.5]),
    lambda: tf.event_level_loss(HUGE, 0.5),
    lambda: tf.local.Tupling(1).delta([HUGE, 0], [0.5, 0.5], 1),
    lambda: tf.local.Tupling(1).delta(POINT, [0.5, 0.5], 1),
    lambda: tf.Pufferfish(POINT, tf.MarkovChain(STEPS, 3)),
    lambda: tf.Pufferfish(tf.every_entry(), POINT),
    lambda: tf.Histogram(POINT),
    lambda: tf.Linear(POINT),
    lambda: tf.CrossTable(POINT),
    lambda: tf.CountRows(np.zeros((1, 2, 2))),
    lambda: tf.GroupBy(tf.Count(1), {"x": POINT}),
    lambda: tf.dataset_property("a", POINT),
    lambda: tf.dataset_property("a", "share", of=[[]]),
    lambda: tf.distribution_parameter("a", [[]]),
    lambda: tf.distribution_parameter("a", [0, {}]),
    lambda: tf.Statistic("s", 1, [[]], None, 1, 1),
    lambda: tf.Statistic("s", 1, ["a"], 0.5, 1, 1),  # type: ignore[arg-type]
    lambda: tf.calibrate(tf.Pufferfish(tf.every_entry(), network(float("nan"))), tf.Count(1), 1),
    lambda: noise().randomiser.half_width(Decimal("nan")),
    lambda: noise().randomiser.half_width(np.array([])),
])  # fmt: skip
def test_what_is_odd_is_refused_in_words(made: Callable[[], object]) -> None:
    with pytest.raises(TakifuguError):
        made()


def test_scalars_of_numpy_are_numbers() -> None:
    users = tf.IndependentUsers([{0: 0.5, 1: 0.5}], presence=np.array(1))
    assert users == tf.IndependentUsers([{0: 0.5, 1: 0.5}])
    assert table([(np.array(0),), (np.array(1),)]) == table()
    assert noise().randomiser.half_width(np.float32(0.5)) == noise().randomiser.half_width(0.5)
