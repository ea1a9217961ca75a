"""The Kantorovich-exponential mechanism on finitely many outputs (Ding22 Theorem 1).

P(y | x) = e^{-eta d(x, y)} / Z(x) with Z(x) = sum_y e^{-eta d(x, y)}. By the triangle inequality P(y | x) is at most
e^{eta d(x, x')} Z(x')/Z(x) P(y | x'). So if eta d(x, x') + |log Z(x')/Z(x)| <= epsilon for all moves (x, x') of a plan
between the two laws of every comparison, the outputs keep epsilon. Theorem 1 is about additive noise, where Z does not
depend on x; on a finite set it does, and |log Z(x')/Z(x)| can be as large as eta d(x, x'): eta = epsilon/(2d) is always
safe, and eta = epsilon/d only where Z is constant (a circle, a group, a full Hamming cube). The largest verified eta is
taken, and the loss of the exact masses that are drawn is measured: nothing rests on the search for it.

d is |x - y|, or the metric that a problem declares (`transport.metrics`). Where d never falls as |x - y| grows, the
monotone plan has the least longest move; elsewhere a bottleneck plan of every comparison is taken.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np

from takifugu.analysis.bounds import Bound, Cost, Refusal, Witness
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import Exact, Randomiser
from takifugu.analysis.randomisers.choices import ChannelChoice, ExponentialChoice
from takifugu.core.errors import InputError
from takifugu.mechanisms.common.finite_outputs import (
    NO_COMPARISON,
    FiniteProblem,
    certified,
    finite_problem,
    is_identity,
    predicted_size,
)
from takifugu.mechanisms.common.largest_need import refusing
from takifugu.numbers.atoms import Atom, Floats, tabulated
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.rationals import Number, as_epsilon
from takifugu.numbers.search import are_neighbours, halved, mean
from takifugu.numbers.transport.bottleneck import Metric, bottleneck, checked_distances, normalised
from takifugu.numbers.transport.metrics import Declared
from takifugu.numbers.transport.on_the_line import monotone_coupling

#: Room for the roundings of the masses, relative to epsilon.
INSIDE = 1 - 2.0**-30
#: Rates tried between epsilon/(2d) and epsilon/d before the last gap is halved.
_STEPS = 64
#: Operations of a bottleneck plan, by the square of the answers.
_OF_BOTTLENECK = 1.2e4
#: The mechanism is refused beyond so many masses.
MOST_MASSES = 250_000


@dataclass(frozen=True)
class KantorovichExponential:
    """Ding22 Theorem 1 on finitely many outputs, those of the answers themselves, for one number."""

    name: str = "kantorovich-exponential"
    source: str = "Ding 2022, Theorem 1, on finitely many outputs with their normalisers"

    def cost(self, problem: Problem) -> Cost:
        answers, comparisons, laws = predicted_size(problem)
        of_plan = 1e3
        if problem.metric is not None and not problem.metric.rises:
            of_plan = _OF_BOTTLENECK
        return Cost(laws.operations + (1e5 + of_plan * comparisons) * answers**2, laws.memory + 500 * answers**2)

    @refusing
    def bound(self, problem: Problem) -> Bound | Refusal:
        """Return the choice with the largest verified rate."""
        finite = finite_problem(problem)
        if len(finite.inputs) * len(finite.outputs) > MOST_MASSES:
            return Refusal(
                f'there are {len(finite.inputs)} answers, too many for a table of masses: use mechanism="laplace-exact"'
            )
        metric: Metric = _distance
        declared = problem.metric
        if declared is not None:
            metric = _in_steps(declared, finite, problem.grid)
        if declared is None or declared.rises:
            moves = _plan_moves(finite)
        else:
            moves = _bottleneck_moves(finite, metric)
        noise, loss, name = _choice(problem, finite, moves, metric)
        farthest = max((Fraction(metric(x, y)) for x, y in moves), default=Fraction(0))
        detail = "the measured loss is largest here"
        if declared is None:
            farthest *= problem.grid
        else:
            detail += f"; distances by the metric {declared.describe()}"
        numbers = (("largest_move", float(farthest)), ("measured_epsilon", loss))
        return Bound(noise, problem.epsilon, Fraction(0), Covers.OUTPUT, Witness(name, detail, numbers))


MECHANISM = KantorovichExponential()


def largest_rate(
    moves: Iterable[tuple[Hashable, Hashable]], outputs: Sequence[Hashable], metric: Metric, epsilon: Number
) -> float:
    """Return the largest verified eta of an exponential mechanism, infinite where nothing moves."""
    pairs = [(x, y) for x, y in moves if x != y]
    if not len(outputs):
        raise InputError(
            "an exponential mechanism needs at least one output to choose from", fix="give the outputs"
        ).at("outputs")
    inputs = list(dict.fromkeys(chain.from_iterable(pairs)))
    distances = checked_distances(inputs, list(outputs), metric).astype(float)
    if not pairs:
        return math.inf
    place = {x: number for number, x in enumerate(inputs)}
    left, right = np.array([place[x] for x, _ in pairs]), np.array([place[y] for _, y in pairs])
    lengths = np.array([float(metric(x, y)) for x, y in pairs])
    budget = float(as_epsilon(epsilon)) * (1 - 2.0**-45)

    def safe(rate: float) -> bool:
        normalisers = _log_normalisers(distances, rate)
        return bool((rate * lengths + np.abs(normalisers[left] - normalisers[right])).max() <= budget)

    # eta d(x, x') + |log Z(x')/Z(x)| <= epsilon for all moves, so eta is between epsilon/(2d) and epsilon/d.
    low = budget / (2 * lengths.max())
    rates = np.linspace(2 * low, low, _STEPS + 1).tolist()
    number = next((k for k, rate in enumerate(rates[:-1]) if safe(rate)), _STEPS)
    if number == 0:
        return float(rates[0])
    return float(halved(safe, rates[number], rates[number - 1], are_neighbours, mean))


def exponential_rows(inputs: Sequence[Hashable], outputs: Sequence[Hashable], metric: Metric, rate: float) -> Floats:
    """Return P(y | x) = e^{-rate d(x, y)} / Z(x) by input."""
    weights = -rate * tabulated(metric, inputs, outputs)
    rows = np.exp(weights - weights.max(axis=1, keepdims=True))
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


def _log_normalisers(distances: Floats, rate: float) -> Floats:
    nearest = distances.min(axis=1, keepdims=True)
    sums = np.exp(-rate * (distances - nearest)).sum(axis=1)
    return np.asarray(np.log(sums) - rate * nearest[:, 0])


def _choice(
    problem: Problem, finite: FiniteProblem, moves: list[tuple[Hashable, Hashable]], metric: Metric
) -> tuple[Randomiser, float, str]:
    """Return the randomiser with the largest rate, its loss, and its comparison."""
    rate = largest_rate(moves, finite.outputs, metric, problem.epsilon) * INSIDE
    if math.isinf(rate):
        return Exact(problem.grid, 1, problem.on_grid), 0.0, NO_COMPARISON
    rows = exponential_rows(finite.inputs, finite.outputs, metric, rate)
    channel, loss, name = certified(finite, rows, problem.epsilon)
    if is_identity(finite, channel):
        return Exact(problem.grid, 1, problem.on_grid), loss, name
    if problem.metric is not None:
        return ChannelChoice(channel, problem.grid, finite.prior), loss, name
    return ExponentialChoice(channel, problem.grid, finite.prior, Fraction(rate)), loss, name


def _in_steps(declared: Declared, finite: FiniteProblem, grid: Fraction) -> Metric:
    """Return the metric of inputs and outputs, in steps of the grid."""
    steps = sorted({*finite.inputs, *map(Fraction, finite.outputs)})
    metric = declared.on([step * grid for step in steps])
    return lambda x, y: metric(x * grid, y * grid)  # type: ignore[operator]


def _plan_moves(finite: FiniteProblem) -> list[tuple[Any, Any]]:
    """Return the different pairs (x, x') with mass in a monotone plan."""
    laws = [Pmf.from_counts(list(finite.inputs), list(law)) for law in finite.laws]
    moves: dict[tuple[Atom, Atom], None] = {}
    for side in finite.sides:
        plan = monotone_coupling(laws[side.left], laws[side.right])
        moves.update(dict.fromkeys((x, y) for x, y, _ in plan.items() if x != y))
    return [(Fraction(x), Fraction(y)) for x, y in moves]


def _bottleneck_moves(finite: FiniteProblem, metric: Metric) -> list[tuple[Any, Any]]:
    """Return the different pairs (x, x') with mass in bottleneck plans."""
    points, moves = finite.inputs, dict[tuple[Hashable, Hashable], None]()
    laws = list(map(normalised, finite.laws))
    for side in finite.sides:
        plan = bottleneck(points, laws[side.left], points, laws[side.right], metric)
        moves.update(dict.fromkeys((x, y) for x, y, _ in plan.moves if x != y))
    return [*moves]


def _distance(x: Any, y: Any) -> Fraction | int:
    gap: Fraction | int = abs(x - y)
    return gap.numerator if gap.denominator == 1 else gap
