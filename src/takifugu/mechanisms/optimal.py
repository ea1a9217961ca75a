"""The physical limit: the channel of least expected loss that keeps epsilon, by linear programming.

Over all channels P(y | x) from the answers x to finitely many outputs y, minimise the mean of |y - x| under the
prior, such that for every comparison of laws p, q and every y: sum_x p(x) P(y | x) <= e^epsilon sum_x q(x) P(y | x),
both orders. All comparisons of all entries and beliefs constrain one channel. The prior is the mean of the laws of all
hypotheses that are compared (`FiniteProblem.prior`): no other is stated.

The program is solved a little inside the promise, its solution repaired to exact integer masses, and the loss of what
will be drawn is measured. A reference to see how far a mechanism is from the best: small budgets make it publish one
number whatever the answer. Source: ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from takifugu.analysis.bounds import Bound, Cost, Refusal, Witness
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import Exact
from takifugu.analysis.randomisers.choices import ChannelChoice
from takifugu.mechanisms.common.channel_program import check_size, ratio_limits, solved
from takifugu.mechanisms.common.finite_outputs import (
    FiniteProblem,
    certified,
    finite_problem,
    is_identity,
    predicted_size,
)
from takifugu.mechanisms.common.largest_need import refusing
from takifugu.numbers.atoms import Floats

#: The program is refused beyond so many numbers in its constraints.
MOST_NUMBERS = 1_000_000
#: The promise that the program is solved for, relative to the one that is asked.
INSIDE = 1 - 2.0**-30
#: Solver work for one number of the constraints.
_WORK = 5e3


@dataclass(frozen=True)
class Optimal:
    """The channel of least expected absolute error from the answers to themselves, for one number and few answers."""

    name: str = "optimal"
    source: str = "linear program over all channels, exact masses, measured loss"

    def cost(self, problem: Problem) -> Cost:
        answers, comparisons, laws = predicted_size(problem)
        numbers = 2 * comparisons * answers**2
        return Cost(laws.operations + _WORK * numbers * max(1.0, numbers / 1e5) ** 0.5, laws.memory + 200 * numbers)

    @refusing
    def bound(self, problem: Problem) -> Bound | Refusal:
        """Return the channel, or a refusal of too large a program."""
        finite = finite_problem(problem)
        channel, loss, name = certified(finite, best_channel(finite, problem.epsilon), problem.epsilon)
        choice = ChannelChoice(channel, problem.grid, finite.prior)
        noise: Exact | ChannelChoice = choice
        if is_identity(finite, channel):
            noise = Exact(problem.grid, 1, problem.on_grid)
        numbers = (("measured_epsilon", loss), ("mean_error", choice.mean_error()))
        detail = "the measured loss is largest here; the mean error is over the distributions of the hypotheses"
        return Bound(noise, problem.epsilon, Fraction(0), Covers.OUTPUT, Witness(name, detail, numbers))


MECHANISM = Optimal()


def best_channel(finite: FiniteProblem, epsilon: Fraction) -> Floats:
    """Return the solver's P(y | x) of least expected |y - x|, rows by input, distances in grid units."""
    inputs, outputs = np.array(finite.inputs, dtype=np.float64), np.array(finite.outputs, dtype=float)
    laws, factor = finite.probabilities(), np.exp(min(float(epsilon) * INSIDE, 600.0))
    left, right = np.array([(side.left, side.right) for side in finite.sides], dtype=int).reshape(-1, 2).T
    ratios = np.concatenate([laws[left] - factor * laws[right], laws[right] - factor * laws[left]])
    ratios /= np.abs(ratios).max(axis=1, keepdims=True)
    numbers = int(np.count_nonzero(ratios)) * len(outputs)
    check_size(numbers, MOST_NUMBERS, "publish a coarser answer, or a shorter sequence")
    cost = np.array(finite.prior)[:, None] * np.abs(outputs[None, :] - inputs[:, None])
    return solved(cost, ratio_limits(ratios, len(outputs))).matrix
