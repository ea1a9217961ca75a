"""Noise on one side in a ledger, real and geometric, under one policy or two: no total is below what a move loses.

By every data set, every allowed move and every output of any weight, from the definitions of the noise alone.
"""

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from tests.support.rounds import rounds

import takifugu as tf
from takifugu.accounting.composition import charge_of, joint
from takifugu.accounting.ledger import Debit, Ledger
from takifugu.core.errors import TakifuguError
from takifugu.mechanisms.one_sided import Asymmetric, Policy, any_of, none_of
from takifugu.model.beliefs.domain import Domain

Row = tuple[str, ...]
Answer = Callable[[Row], list[Fraction]]
#: Predicates as the test reads them: whether a record shall have one of some values, or none of them.
Rules = list[tuple[bool, frozenset[str]]]


def allowed(rules: Rules, before: str, after: str) -> bool:
    return all((after in values) == has for has, values in rules if (before in values) == has)


def policy_of(rules: Rules) -> Policy:
    return Policy.of(*((any_of if has else none_of)(*sorted(values)) for has, values in rules))


def moves(rules: Rules, values: Sequence[str], size: int) -> Iterator[tuple[Row, Row]]:
    for data in itertools.product(values, repeat=size):
        for record, after in itertools.product(range(size), values):
            if after != data[record] and allowed(rules, data[record], after):
                yield data, (*data[:record], after, *data[record + 1 :])


def question(r: random.Random, values: Sequence[str], size: int, parts: int = 2) -> tuple[Any, Answer]:
    kind = r.choice(["count", "histogram", "sum", "mean", "signed", "several"][: 4 + parts])
    if kind == "several":
        (one, first), (other, second) = (question(r, values, size, 1) for _ in range(2))
        return tf.JointQuery([one, other]), lambda data: first(data) + second(data)
    if kind == "count":
        return tf.Count(values[0]), lambda data: [Fraction(data.count(values[0]))]
    if kind == "histogram":
        return tf.Histogram(), lambda data: [Fraction(data.count(value)) for value in values]
    codes = {value: Fraction(r.randrange(-6, 7), r.choice([1, 2, 3])) for value in values}
    if kind == "sum":
        return tf.Sum(codes=codes), lambda data: [sum((codes[value] for value in data), Fraction(0))]
    if kind == "mean":
        return tf.Mean(codes=codes), lambda data: [sum((codes[value] for value in data), Fraction(0)) / size]
    weights = [r.choice([-2, -1, 1, 2]) for _ in range(size)]
    places = {value: place for place, value in enumerate(values)}
    return tf.Linear(weights, codes=places), lambda data: [
        Fraction(sum(w * places[value] for w, value in zip(weights, data, strict=True)))
    ]


def directions(answer: Answer, rules: Rules, values: Sequence[str], size: int) -> list[frozenset[bool]]:
    """Return for each cell whether it rises, falls, both or neither along what the policy allows."""
    ways = [set[bool]() for _ in answer((values[0],) * size)]
    for before, after in moves(rules, values, size):
        for way, one, other in zip(ways, answer(before), answer(after), strict=True):
            way |= {other > one} if other != one else set()
    return list(map(frozenset, ways))


def log_mass(output: Fraction, answer: Fraction, way: frozenset[bool], noise: Any) -> float:
    """Return the log-probability of an output, up to what does not depend on the answer."""
    scale, grid = noise.scale, noise.grid
    if len(way) == 2 and noise.kind == "one-sided-exponential":  # Laplace noise, rounded to the nearest
        below, above = (float((output - answer + side * grid / 2) / scale) for side in (-1, 1))
        low, high = (0.5 * math.exp(-abs(x)) for x in (below, above))
        return math.log((high - low if above <= 0 else low - high) if below >= 0 or above <= 0 else 1 - low - high)
    if len(way) == 2:
        return -float(abs(output - answer) / scale)
    beyond = answer - output if way == {True} else output - answer
    if noise.kind != "one-sided-exponential":
        return -math.inf if beyond < 0 else -float(beyond / scale)
    if beyond <= 0:  # the noisy answer is rounded away from the answer
        return -math.inf
    first = max(Fraction(0), beyond - grid)
    return math.log(-math.expm1(-float((beyond - first) / scale))) - float(first / scale)


@cache
def loss_of_cell(one: Fraction, other: Fraction, way: frozenset[bool], noise: Any) -> float:
    low, high, worst = math.floor(min(one, other) / noise.grid), math.ceil(max(one, other) / noise.grid), -math.inf
    for output in range(low - 4, high + 5):
        mine, theirs = (log_mass(output * noise.grid, answer, way, noise) for answer in (one, other))
        if mine > -math.inf:
            worst = max(worst, mine - theirs)
    return worst


def charged_and_true(seed: int) -> tuple[float, float]:
    r = random.Random(seed)
    size, values = r.randrange(1, 4), list("abcd")[: r.randrange(2, 5)]
    policies: list[Rules] = [
        [(r.random() < 0.5, frozenset(r.sample(values, r.randrange(1, len(values))))) for _ in range(r.choice([1, 2]))]
        for _ in range(r.choice([1, 2]))
    ]
    ledger, paid = Ledger.blank(), list[tuple[Rules, Answer, list[frozenset[bool]], Any]]()
    for _ in range(r.randrange(1, 4)):
        rules, (query, answer) = r.choice(policies), question(r, values, size)
        mechanism = r.choice(["asymmetric-laplace", "asymmetric-laplace", "asymmetric-geometric"])
        try:
            about = Asymmetric(policy_of(rules), Domain.of(size, values))
            made = tf.calibrate(about, query, r.choice(["0.5", 1, 3]), mechanism=mechanism)
            ledger.reserve("data", [Debit(about, charge_of(made), ["ann"])], 10**6, entries="all")
        except TakifuguError:  # nothing is hidden, nothing is to be noised, or noise on one side against a policy
            continue
        paid.append((rules, answer, directions(answer, rules, values, size), made.randomiser))
    true = 0.0
    for rules, *_ in paid:
        for before, after in moves(rules, values, size):
            lost = 0.0
            for _, answer, ways, noise in paid:
                cells = zip(answer(before), answer(after), ways, strict=True)
                lost += sum(loss_of_cell(a, b, way, noise) for a, b, way in cells if a != b)
            true = max(true, lost)
    return (float(ledger.spent("data", "ann").epsilon) if paid else 0.0), true


@pytest.mark.parametrize("seeds", rounds(2, 30, 300))
def test_no_total_under_policies_is_below_the_largest_loss_of_a_move(seeds: range) -> None:
    totals = [charged_and_true(seed) for seed in seeds]
    assert all(charged >= true * (1 - 1e-9) for charged, true in totals), totals
    assert Counter(charged <= true * (1 + 1e-6) for charged, true in totals if charged)[True] > len(seeds) // 4


@pytest.mark.parametrize("mechanism", ["asymmetric-laplace", "asymmetric-geometric"])
def test_a_mean_costs_under_another_policy_what_a_move_of_that_policy_loses(mechanism: str) -> None:
    values, codes = list("abc"), {"a": 0, "b": 1, "c": 2}
    own: Rules = [(False, frozenset("a"))]
    other: Rules = [(False, frozenset("ab"))]

    def mean(data: Row) -> list[Fraction]:
        return [Fraction(sum(map(codes.__getitem__, data)), 3)]

    about, judged = (Asymmetric(policy_of(rules), Domain.of(3, values)) for rules in (own, other))
    made = tf.calibrate(about, tf.Mean(codes=codes), 1, mechanism=mechanism)
    (way,) = directions(mean, own, values, 3)
    pairs = [(*mean(before), *mean(after)) for before, after in moves(other, values, 3)]
    true = max(loss_of_cell(a, b, way, made.randomiser) for a, b in pairs if a != b)
    assert float(joint(judged, [charge_of(made)]).epsilon) == pytest.approx(true, rel=1e-9)
