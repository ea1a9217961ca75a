"""Answers of several cells on one line: against L1 transport and likelihoods by enumeration, and the audit."""

import itertools
import math
import random
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.support.pair_cases import bound_by

import takifugu as tf
from takifugu.analysis.bounds import Bound
from takifugu.analysis.guarantee import Covers
from takifugu.audit import exact_loss
from takifugu.mechanisms import kantorovich_relaxed, laplace_exact, wasserstein
from takifugu.mechanisms.common.lines import along_line
from takifugu.mechanisms.wasserstein_delta import MECHANISM as WASSERSTEIN_DELTA
from takifugu.model.beliefs import Belief
from takifugu.model.queries import Additive
from takifugu.numbers.transport.bottleneck import bottleneck

QUARTER = Fraction(1, 4)
CLIQUES = tf.CliqueInfection([[1, 2, 3], [4, 5]], {2: [0.5, 0.25, 0.25], 3: [0.25, 0.25, 0.25, 0.25]})
ROWS = [(0, 0, 1), (0, 1, 1), (1, 1, 0), (1, 0, 0), (1, 1, 1), (0, 0, 0)]
TABLE = tf.JointTable(ROWS, [QUARTER, QUARTER, QUARTER / 2, QUARTER / 2, QUARTER / 2, QUARTER / 2], ["x", "y", "z"])
BELIEFS: list[Belief] = [
    tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 5),
    tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 4, "any"),
    tf.IndependentPieces(tf.MarkovChain([[0.7, 0.3], [0.2, 0.8]], 3), [3, 2]),
    TABLE,
    CLIQUES,
    tf.IndependentUsers([{0: QUARTER, 1: 3 * QUARTER}] * 3),
]


@dataclass(frozen=True)
class Along(tf.Query):
    """Entry i adds weights[i] steps of a direction for each step of its place; `bend` moves one value off the line."""

    direction: tuple[int, ...]
    places: tuple[int, ...]
    bend: int = 0

    def resolve(self, entries: Any) -> Additive:
        table = np.outer(self.places, self.direction) + np.arange(len(self.direction))
        table[-1, 0] += self.bend
        labels = tuple(f"cell {j}" for j in range(len(self.direction)))
        return Additive(Fraction(1), labels, (table,), np.ones(entries.size, dtype=np.int64))

    def describe(self) -> str:
        return f"places along {self.direction}"

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "along"}


def bound(module: Any, belief: Belief, query: Any, epsilon: Any = 1) -> Bound:
    return bound_by(module.MECHANISM, tf.Pufferfish(tf.every_entry(), belief), query, epsilon)


@pytest.mark.mutants
@pytest.mark.parametrize("number", range(len(BELIEFS)))
def test_a_histogram_of_two_states_needs_twice_the_noise_of_the_count(number: int) -> None:
    belief = BELIEFS[number]
    framework = tf.Pufferfish(tf.every_entry(), belief)
    for epsilon in (Fraction(1, 2), Fraction(2)):
        for module in (wasserstein, laplace_exact, kantorovich_relaxed):
            cells = bound(module, belief, tf.Histogram(), epsilon)
            one = bound(module, belief, tf.Count(1), epsilon)
            assert cells.randomiser.cells == 2
            assert cells.covers is Covers.OUTPUT
            assert cells.randomiser.scale == pytest.approx(2 * one.randomiser.scale, rel=1e-9)
            losses = [exact_loss(framework, q, f.randomiser) for q, f in ((tf.Histogram(), cells), (tf.Count(1), one))]
            assert losses[0].loss == pytest.approx(losses[1].loss, rel=1e-8)
            assert losses[0].upper <= epsilon + 1e-12


def noised(law: dict[int, Fraction], size: int, scale: float) -> Any:
    """The law of (size - S, S) plus discrete Laplace noise on both cells, on a box that holds nearly all of it."""
    steps = np.arange(-120, 121)
    cell = math.tanh(1 / (2 * scale)) * np.exp(-np.abs(steps[:, None] - np.arange(-size, size + 1)) / scale)
    whole = float(sum(law.values()))
    return sum(float(m) / whole * np.outer(cell[:, 2 * size - s], cell[:, size + s]) for s, m in law.items())


def test_delta_of_two_cells_is_kept() -> None:
    framework, delta = tf.Pufferfish(tf.attribute("x", 0, 1), TABLE), Fraction(1, 10)
    cells, one = (
        bound_by(WASSERSTEIN_DELTA, framework, query, 1, delta) for query in (tf.Histogram(), tf.Count(1))
    )
    assert cells.randomiser.scale == pytest.approx(2 * one.randomiser.scale, rel=1e-9)
    laws: list[dict[int, Fraction]] = [{}, {}]
    for row, mass in zip(ROWS, [2, 2, 1, 1, 1, 1], strict=True):
        laws[row[0]][sum(row)] = laws[row[0]].get(sum(row), Fraction(0)) + mass
    for scale, suffices in ((cells.randomiser.scale, True), (cells.randomiser.scale / 4, False)):
        p, q = (noised(law, 3, float(scale)) for law in laws)
        assert p.sum() == pytest.approx(1)
        worst = max(np.maximum(a - math.e * b, 0).sum() for a, b in ((p, q), (q, p)))
        assert (worst <= delta) == suffices, (scale, worst)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("direction", [(1, -1), (2, -1), (1, 1, -3), (0, 4, 2)])
def test_any_direction_is_exact(direction: tuple[int, ...]) -> None:
    belief, query = tf.MarkovChain([[0.8, 0.1, 0.1], [0.3, 0.5, 0.2], [0.2, 0.2, 0.6]], 2), Along(direction, (0, 1, 3))
    framework = tf.Pufferfish(tf.every_entry(), belief)
    bounded = bound(laplace_exact, belief, query)
    audit = exact_loss(framework, query, bounded.randomiser)
    assert 1 - 1e-8 < audit.loss <= audit.upper <= 1 + 1e-12


def test_w_infinity_is_the_bottleneck_in_l1_of_the_listed_vectors() -> None:
    given: dict[int, dict[tuple[int, ...], Fraction]] = {0: {}, 1: {}}
    for row, mass in zip(ROWS, [2, 2, 1, 1, 1, 1], strict=True):
        law, cells = given[row[0]], (row.count(0), row.count(1))
        law[cells] = law.get(cells, Fraction(0)) + mass
    (xs, ps), (ys, qs) = (([*law], [m / sum(law.values()) for m in law.values()]) for law in given.values())
    plan = bottleneck(xs, ps, ys, qs, lambda x, y: sum(abs(a - b) for a, b in zip(x, y, strict=True)))
    framework = tf.Pufferfish(tf.attribute("x", 0, 1), TABLE)
    promise = bound_by(wasserstein.MECHANISM, framework, tf.Histogram())
    assert dict(promise.witness.numbers)["w_infinity"] == plan.distance


@pytest.mark.mutants
def test_likelihoods_of_all_outputs_are_mixtures_of_those_of_one_number() -> None:
    # Claim 2 by enumeration: the largest ratio over a box of outputs is the largest over places on the line.
    dice = random.Random(7)
    for _ in range(30):
        cells = dice.choice([2, 3])
        direction = [dice.choice([-3, -2, -1, 1, 2]) for _ in range(cells)]
        b, atoms = dice.choice([0.7, 2.0, 5.0]), range(4)
        laws = [[dice.random() * dice.choice([0, 1, 1]) + 1e-3 for _ in atoms] for _ in range(2)]
        length = sum(map(abs, direction))

        def ratio(kernels: list[float], laws: list[list[float]] = laws) -> float:
            p, q = (sum(m * k for m, k in zip(law, kernels, strict=True)) for law in laws)
            return math.log(p / q)

        on_line = [ratio([math.exp(-abs(s - z) * length / b) for s in atoms]) for z in range(-1, 5)]
        spans = [range(min(3 * d, 0) - 2, max(3 * d, 0) + 3) for d in direction]
        for y in itertools.product(*spans):
            kernels = [math.exp(-sum(abs(t - s * d) for t, d in zip(y, direction, strict=True)) / b) for s in atoms]
            assert min(on_line) - 1e-9 <= ratio(kernels) <= max(on_line) + 1e-9


def test_places_along_a_line() -> None:
    chain = tf.MarkovChain(np.full((3, 3), 1 / 3), 2)
    image = along_line(Along((2, -4), (0, 1, 3)).resolve(chain))
    assert image is not None
    assert image.tables[0].tolist() == [[0], [6], [18]]
    assert along_line(Along((2, -4), (0, 1, 3), bend=1).resolve(chain)) is None
    assert along_line(tf.Histogram().resolve(chain)) is None
    tables = (np.array([[1, 0], [0, 1]]), np.array([[0, 3], [1, 2]]), np.array([[0, 0], [0, 1]]), np.array([[5, 5]]))
    which = np.array([0, 1, 3, 2])
    shared = Additive(Fraction(1), ("a", "b"), tables, np.array([1, 2, 1, 0]), which)
    line = along_line(shared)
    assert line is not None
    assert [t[:, 0].tolist() for t in line.tables] == [[0, 2], [0, -2], [0, 0], [0]]
    assert along_line(Additive(Fraction(1), ("a", "b"), tables, np.array([1, 2, 1, 1]), which)) is None
    still = along_line(Additive(Fraction(1), ("a", "b"), tables[3:], np.array([1, 1])))
    assert still is not None
    assert not still.tables[0].any()
