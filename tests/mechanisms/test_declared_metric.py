"""Ding22 Theorem 1 with a declared metric: pure epsilon by enumeration, normalisers included, and bad metrics."""

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from takifugu.core.errors import InputError
from takifugu.mechanisms.declared_metric import metric_choice
from takifugu.mechanisms.kantorovich_exponential import exponential_rows
from takifugu.numbers.noise import InsecureSeededEntropyForTests

WARDS = ["heart", "lung", "skin", "eye"]
DISTANCES = [[0, 1, 3, 3], [1, 0, 2, 2], [3, 2, 0, 4], [3, 2, 4, 0]]
P, Q = ["0.5", "0.5", 0, 0], [0, "0.25", "0.5", "0.25"]


def enumerated_loss(choice, p, q):
    """Return the largest |log-ratio| of the outputs' exact probabilities, point by point."""
    masses, total = choice.channel.masses, choice.channel.total
    largest = 0.0
    for output in range(len(masses)):
        one, other = (
            sum((Fraction(law[x]) * Fraction(masses[x][output], total) for x in range(len(masses))), Fraction(0))
            for law in (p, q)
        )
        if one or other:
            largest = max(largest, abs(math.log(one / other)) if one and other else math.inf)
    return largest


@pytest.mark.parametrize("epsilon", ["0.1", 1, 4])
def test_outputs_keep_epsilon_by_enumeration(epsilon):
    choice = metric_choice(WARDS, P, Q, DISTANCES, epsilon)
    assert choice.farthest == 3
    assert enumerated_loss(choice, P, Q) <= float(Fraction(epsilon)) * (1 + 1e-12)
    assert choice.loss == pytest.approx(enumerated_loss(choice, P, Q), rel=1e-9)
    assert float(Fraction(epsilon)) / 6 <= choice.rate * (1 + 1e-8)


def test_a_rate_that_forgets_the_normalisers_is_too_large():
    """The point in the middle has a larger normaliser than the end: at rate epsilon/d the end tells more."""
    points, line = list(range(5)), [[abs(x - y) for y in range(5)] for x in range(5)]
    choice = metric_choice(points, [1, 0, 0, 0, 0], [0, 0, 1, 0, 0], line, 1)
    assert choice.rate < 0.5 * 0.95
    forgetful = exponential_rows(points, points, lambda x, y: line[x][y], 0.5)
    assert np.abs(np.log(forgetful[0] / forgetful[2])).max() > 1.05
    assert enumerated_loss(choice, [1, 0, 0, 0, 0], [0, 0, 1, 0, 0]) <= 1


@st.composite
def cases(draw):
    """Shortest paths of a random graph are a metric; laws are counts."""
    size = draw(st.integers(2, 5))
    far = [[0 if i == j else draw(st.integers(1, 9)) for j in range(size)] for i in range(size)]
    table = [[min(far[i][j], far[j][i]) for j in range(size)] for i in range(size)]
    for middle, i, j in product(range(size), repeat=3):
        table[i][j] = min(table[i][j], table[i][middle] + table[middle][j])
    laws = []
    for _ in range(2):
        counts = draw(st.lists(st.integers(0, 5), min_size=size, max_size=size).filter(any))
        laws.append([Fraction(count, sum(counts)) for count in counts])
    return table, laws


@given(cases(), st.sampled_from([Fraction(1, 4), Fraction(2)]))
@settings(max_examples=40)
def test_any_metric_and_any_laws(case, epsilon):
    table, (p, q) = case
    choice = metric_choice(range(len(table)), p, q, table, epsilon)
    assert enumerated_loss(choice, p, q) <= float(epsilon) * (1 + 1e-12)
    swapped = metric_choice(range(len(table)), q, p, table, epsilon)
    assert swapped.farthest == choice.farthest


def test_equal_laws_are_published_as_they_are():
    choice = metric_choice(WARDS, P, P, DISTANCES, 1)
    assert math.isinf(choice.rate)
    assert choice.draw("skin", InsecureSeededEntropyForTests(1)) == "skin"


def test_draws_have_the_masses():
    choice, entropy = metric_choice(WARDS, P, Q, DISTANCES, 2), InsecureSeededEntropyForTests(7)
    drawn = Counter(choice.draw("lung", entropy) for _ in range(4000))
    row = choice.channel.row("lung")
    assert chisquare([drawn[ward] for ward in WARDS], [4000 * float(row[ward]) for ward in WARDS]).pvalue > 1e-6


@pytest.mark.parametrize(("change", "words"), [
    ({"distances": [[0, 1, 9, 3], [1, 0, 2, 2], [9, 2, 0, 4], [3, 2, 4, 0]]}, "triangle"),
    ({"distances": [[0, 1, 3, 3], [1, 0, 2, 2], [3, 2, 0, 4], [3, 2, 5, 0]]}, "symmetric"),
    ({"distances": [[1, 1, 3, 3], [1, 0, 2, 2], [3, 2, 0, 4], [3, 2, 4, 0]]}, "not 0 from a point to itself"),
    ({"distances": [[0, -1, 3, 3], [-1, 0, 2, 2], [3, 2, 0, 4], [3, 2, 4, 0]]}, "negative"),
    ({"distances": [[0, 1], [1, 0]]}, "one row and one column per point"),
    ({"distances": [[0, 1, 3, math.inf], [1, 0, 2, 2], [3, 2, 0, 4], [math.inf, 2, 4, 0]]}, "finite"),
    ({"points": ["heart", "heart", "skin", "eye"]}, "repeat one"), ({"p": [1, 1, 0, -1]}, "negative"),
    ({"p": [1, 0]}, "one for each"), ({"epsilon": 0}, "epsilon"),
])  # fmt: skip
def test_what_is_no_metric_or_no_law_is_refused(change, words):
    with pytest.raises(InputError, match=words):
        metric_choice(**{"points": WARDS, "p": P, "q": Q, "distances": DISTANCES, "epsilon": 1, **change})


def test_another_answer_is_refused_without_repeating_it():
    with pytest.raises(InputError) as refusal:
        metric_choice(WARDS, P, Q, DISTANCES, 1).draw("liver")
    assert "liver" not in str(refusal.value)
