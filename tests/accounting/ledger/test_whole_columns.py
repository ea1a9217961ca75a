"""Releases about properties, single records and parameters in one ledger, against every data set one by one.

What a source has spent is never below what all its releases tell of any secret of any framework, and often equal to it.
"""

import itertools
import math
import random
from collections.abc import Callable, Hashable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import takifugu as tf
from takifugu.core.errors import TakifuguError

Rows = tuple[tuple[int, int], ...]
Hypotheses = Iterator[tuple[list[float], list[float]]]
ROWS = list(itertools.product((0, 1), repeat=2))
COLUMNS = ("a", "b")


def masses(rng: random.Random, count: int) -> list[Fraction]:
    weights = [rng.choice((1, 1, 2, 5, 20)) for _ in range(count)]
    return [Fraction(weight, sum(weights)) for weight in weights]


def given(law: Sequence[float], states: Sequence[Rows], value: Callable[[Rows], Hashable]) -> Hypotheses:
    """Yield the laws of all data sets given each two values of something."""
    values = [*map(value, states)]
    for one, other in itertools.combinations(dict.fromkeys(values), 2):
        yield tuple([mass * (its == wanted) for mass, its in zip(law, values, strict=True)] for wanted in (one, other))


def of_records(rng: random.Random, states: Sequence[Rows]) -> tuple[Any, list[Any]]:
    """Return a framework about independent records, and its hypotheses."""
    table, count, column = masses(rng, len(ROWS)), len(states[0]), rng.randrange(2)
    law = [float(math.prod(table[ROWS.index(row)] for row in rows)) for rows in states]
    belief = tf.Records(tf.JointTable(ROWS, table, names=COLUMNS), count)
    if rng.random() < 0.5:
        secret: Any = tf.dataset_property(COLUMNS[column], "share", of=1)
        return tf.Pufferfish(secret, belief), [*given(law, states, lambda rows: sum(row[column] for row in rows))]
    found = [pair for record in range(count) for pair in given(law, states, lambda rows, r=record: rows[r][column])]
    return tf.Pufferfish(tf.every_entry(COLUMNS[column]), belief), found


def of_parameters(rng: random.Random, states: Sequence[Rows]) -> tuple[Any, list[Any]]:
    """Return a framework about parameters of both columns, and its hypotheses."""
    prior, hidden = masses(rng, len(ROWS)), rng.randrange(2)
    laws = [[masses(rng, 2) for _ in (0, 1)] for _ in COLUMNS]  # by column and value of its parameter

    def law(value: int) -> list[float]:
        total = [Fraction(0)] * len(states)
        for both, mass in zip(ROWS, prior, strict=True):
            if both[hidden] == value:
                for place, rows in enumerate(states):
                    total[place] += mass * math.prod(laws[j][both[j]][row[j]] for row in rows for j in (0, 1))
        return [*map(float, total)]

    columns = {name: {v: dict(enumerate(laws[j][v])) for v in (0, 1)} for j, name in enumerate(COLUMNS)}
    belief = tf.Parameters(tf.JointTable(ROWS, prior, names=COLUMNS), columns, records=len(states[0]))
    return tf.Pufferfish(tf.distribution_parameter(COLUMNS[hidden]), belief), [(law(0), law(1))]


def lost(answers: np.ndarray, scales: Sequence[float], hypotheses: Sequence[tuple[list[float], list[float]]]) -> float:
    """Return the largest log-ratio of the densities of all noisy answers, at the places where ratios are extreme."""
    places = np.array([*itertools.product(*(np.unique(column) for column in answers.T))])
    densities = np.exp(-(np.abs(places[:, None] - answers[None]) / scales).sum(axis=2))
    ratios = []
    for pair in hypotheses:
        left, right = (densities @ np.array(law) / sum(law) for law in pair)
        ratios.append(np.abs(np.log(left / right)).max())
    return float(max(ratios))


def charged_and_lost(make: Callable[..., tuple[Any, list[Any]]], seed: int) -> Iterator[tuple[float, float]]:
    """Yield what is spent on random releases of one or two frameworks, and what is lost under each of them."""
    rng = random.Random(seed)
    states = [*itertools.product(ROWS, repeat=rng.choice((1, 2)))]
    frameworks = [make(rng, states) for _ in range(rng.choice((1, 2)))]
    ledger, made, used = tf.Ledger.blank(), list[tuple[int, float]](), list[Any]()
    for _ in range(rng.choice((1, 2, 3))):
        framework, hypotheses = rng.choice(frameworks)
        column, mechanism = rng.randrange(2), rng.choice(("auto", "group-dp", "laplace-exact"))
        try:
            noise = tf.calibrate(framework, tf.Sum(COLUMNS[column]), rng.choice(("0.3", 1, 3)), mechanism=mechanism)
            data: Any = {name: [row[j] for row in states[0]] for j, name in enumerate(COLUMNS)}
            tf.release(noise, data, ledger=ledger, source="s", budget=99, entries="records")
        except TakifuguError:
            continue
        made.append((column, float(noise.scale)))
        used.append(hypotheses)
    if made:
        answers = np.array([[sum(row[column] for row in rows) for column, _ in made] for rows in states], dtype=float)
        spent = float(ledger.spent("s").epsilon)
        for hypotheses in used:
            yield spent, lost(answers, [scale for _, scale in made], hypotheses)


@pytest.mark.mutants
@pytest.mark.parametrize("make", [of_records, of_parameters])
def test_no_set_of_releases_about_whole_columns_is_charged_less_than_it_loses(make: Any) -> None:
    cases = [case for seed in range(25) for case in charged_and_lost(make, seed)]
    assert len(cases) > 25
    assert max(true / spent for spent, true in cases) == pytest.approx(1, abs=0.01)  # so that less would be noticed
    assert all(true <= spent * (1 + 1e-9) for spent, true in cases)
