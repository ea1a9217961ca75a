"""Problems with finitely many answers and outputs: the laws as integer rows, and channels whose loss is measured.

Let the answer be F = F_1 + ... + F_n over independent components. A secret of component i says nothing about the
others, so given it the law of F is that of F_i given it, convolved with the law of the sum of the others. Added noise
may leave the others out, because they can be added afterwards; a choice among outputs sees F itself, and may not.
The laws are convolved as exact integers (floats are binary fractions), so only their own rounding remains.

A channel sees the whole answer, so the laws are laws of the whole answer (`whole_laws`): other independent pieces and
users are added before it, not after. A float channel becomes one of exact masses (`channel.repair`); what it
promises is the largest log-ratio of its exact outputs, measured on every comparison.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial

import numpy as np

from takifugu.analysis.bounds import Cost
from takifugu.analysis.problem import Part, Problem
from takifugu.analysis.questions.answer_law import answer_law
from takifugu.analysis.questions.compared import TwoLaws
from takifugu.core.errors import Unsupported
from takifugu.mechanisms.common.answer_families import located_families, predicted
from takifugu.mechanisms.common.channel_program import exact_channel
from takifugu.mechanisms.common.shares import Shares, most_answers
from takifugu.model.beliefs import Belief, separate
from takifugu.model.queries import Additive
from takifugu.model.secrets.families import Family
from takifugu.numbers.atoms import Atom, Floats
from takifugu.numbers.distributions.channel import Channel, largest_log_ratio
from takifugu.numbers.distributions.exact_ratio import exact_law
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.outward_rounding import log_ratio_error

#: Laws of sums of independent shares are listed up to this many values.
MOST_ANSWERS = 1000


def whole_laws(problem: Problem) -> Iterator[tuple[TwoLaws, Callable[[], str]]]:
    """Yield the laws of the whole answer of every comparison, and what names it."""
    if not (problem.is_pair or problem.on_grid):
        raise Unsupported(
            "the answer is a real number, and this mechanism chooses by what each of finitely many answers would get",
            fix='use additive noise, for example mechanism="wasserstein"',
        )
    for number, belief in enumerate(problem.framework.beliefs):
        alone = problem
        if len(problem.framework.beliefs) > 1:
            alone = replace(problem, framework=replace(problem.framework, beliefs=(belief,)))
        shares = None
        if len(belief.components()) > 1:
            answer = problem.answers[number]
            reason = answer_law(Part(belief.component(0), answer, Family(()))).reason
            if reason:
                raise Unsupported(reason)
            if most_answers(belief, answer) > MOST_ANSWERS:
                raise Unsupported(_too_many(belief, answer))
            if not separate(belief):
                shares = Shares(belief, answer)
        for located in located_families(alone):
            for compared in located.family.compared:
                laws = compared.laws()
                if shares is None and not located.family.whole:
                    raise Unsupported(_too_many(belief, problem.answers[number]))
                if shares is not None and not located.smoothed:
                    laws = _completed(laws, *shares.others(located.start))
                yield laws, partial(located.describe, compared)


def _completed(laws: TwoLaws, others: Pmf, error: float) -> TwoLaws:
    """Return the laws of the whole answer from one component's and that of the others' sum."""
    p, q = exact_law(laws.p).convolve(others), exact_law(laws.q).convolve(others)
    return TwoLaws(p, q, laws.error + error + laws.error * error)


def _too_many(belief: Belief, answer: Additive) -> str:
    return (
        f"the answer may take up to {most_answers(belief, answer):,.0f} values, and a table of masses has at most "
        f'{MOST_ANSWERS:,} of them: publish a coarser answer or fewer entries, or use mechanism="laplace-exact"'
    )


#: How much of the mean row is mixed into a channel: the first share that brings the measured loss down to epsilon.
BLENDS = tuple(Fraction(1, 2**bits) for bits in (30, 26, 22, 18, 14, 12, 10, 8, 6, 4, 3, 2, 1, 0))
NO_LAWS = "no belief says how likely answers are, so there are no distributions to keep alike"
NO_COMPARISON = "no comparison: no answer has to move"
#: Logarithms of the lifted masses are this accurate, so ratios this close to the largest are looked at exactly.
_DOUBT = 1e-9
_CLEARED = 2.0**-30


@dataclass(frozen=True)
class Side:
    """One comparison: the numbers of its two laws, how far rounded masses may move a log-ratio, and its name."""

    left: int
    right: int
    margin: float
    name: str


@dataclass(frozen=True, eq=False)
class FiniteProblem:
    """Inputs and outputs in units of the grid; `laws[k]` are integer masses of the inputs, `prior` their average."""

    inputs: tuple[Fraction, ...]
    outputs: tuple[int, ...]
    laws: tuple[tuple[int, ...], ...]
    sides: tuple[Side, ...]
    #: Each law counts once for every comparison: the answer when a hypothesis holds and nobody says which.
    prior: tuple[float, ...]

    def probabilities(self) -> Floats:
        """Return the laws as rows of floats."""
        rows = []
        for law, total in zip(self.laws, self._totals, strict=True):
            rows.append([mass / total for mass in law])
        return np.array(rows)

    @cached_property
    def _totals(self) -> tuple[int, ...]:
        return tuple(map(sum, self.laws))

    def measured(self, channel: Channel) -> tuple[float, str]:
        """Return the largest log-ratio over all comparisons, rounded up, and its comparison."""
        worst, name = 0.0, NO_COMPARISON
        if self.sides:
            name = self.sides[0].name
        if len(set(channel.masses)) == 1:
            return worst, name
        rows = np.array(channel.masses, dtype=object)
        lifted = [(np.array(law, dtype=object) @ rows).tolist() for law in self.laws]
        logs = np.array(list(map(_logs, lifted)))
        logs -= np.array(list(map(math.log, self._totals)))[:, None]
        for side in self.sides:
            occurs = np.isfinite(logs[side.left]) | np.isfinite(logs[side.right])
            gaps = np.abs(logs[side.left, occurs] - logs[side.right, occurs])
            if gaps.max() + _DOUBT + side.margin <= worst:
                continue
            near = np.flatnonzero(occurs)[gaps >= gaps.max() - _DOUBT]
            p, q = self._shares(lifted[side.left], side.left, near), self._shares(lifted[side.right], side.right, near)
            ratio = max(largest_log_ratio(p, q), largest_log_ratio(q, p))
            loss = math.nextafter(ratio + side.margin, math.inf)
            if loss > worst:
                worst, name = loss, side.name
        return worst, name

    def _shares(self, lifted: list[int], law: int, places: Iterable[int]) -> dict[Hashable, Atom]:
        """Return the output law at some places, up to the row's total."""
        return {int(y): Fraction(lifted[y], self._totals[law]) for y in places}


def finite_problem(problem: Problem) -> FiniteProblem:
    """Return the possible answers, the outputs, and all comparisons."""
    unit = problem.grid / problem.unit
    numbers: dict[tuple[tuple[Fraction, int], ...], int] = {}
    laws: list[dict[Fraction, int]] = []
    sides, keys, counts = [], set(), dict[int, int]()
    for of_whole, describe in whole_laws(problem):
        placed = []
        for law in (of_whole.p, of_whole.q):
            masses = _exact_masses(law, unit)
            key = tuple(masses.items())
            if key not in numbers:
                numbers[key] = len(laws)
                laws.append(masses)
            placed.append(numbers[key])
            counts[numbers[key]] = counts.get(numbers[key], 0) + 1
        left, right = placed
        margin = log_ratio_error(of_whole.error)
        if left != right and (left, right, margin) not in keys:
            keys.add((left, right, margin))
            sides.append(Side(left, right, margin, describe()))
    if not laws:
        raise Unsupported(NO_LAWS)
    inputs = tuple(sorted(set().union(*laws)))
    # Answers off the grid are published at the nearest multiple.
    outputs = tuple(sorted(set(map(round, inputs))))
    rows = []
    for masses in laws:
        rows.append(tuple(masses.get(x, 0) for x in inputs))
    total = sum(counts.values())
    shares = []
    for k, count in counts.items():
        total_of_row = sum(rows[k])
        shares.append([count / total * (mass / total_of_row) for mass in rows[k]])
    prior = tuple(map(math.fsum, zip(*shares, strict=True)))
    return FiniteProblem(inputs, outputs, tuple(rows), tuple(sides), prior)


def certified(finite: FiniteProblem, matrix: Floats, epsilon: Fraction) -> tuple[Channel, float, str]:
    """Return an exact channel near the matrix within epsilon, its loss, and the worst comparison."""
    measured: list[tuple[float, str]] = []

    def keeps(channel: Channel) -> bool:
        measured.append(finite.measured(channel))
        return measured[-1][0] <= epsilon

    # The first attempt drops probabilities below 2**-30, solver noise mostly.
    cleared = np.where(matrix < _CLEARED, 0.0, matrix)
    channel = exact_channel(finite.inputs, finite.outputs, cleared, (Fraction(0),), keeps)
    # Then as little as possible of the mean row is mixed in; with all of it every answer has the same output law.
    channel = channel or exact_channel(finite.inputs, finite.outputs, matrix, BLENDS, keeps)
    if channel is None:
        raise Unsupported(
            "no channel of exact masses near this one keeps epsilon", rule="the masses of the belief are too rough"
        )
    return channel, *measured[-1]


def is_identity(finite: FiniteProblem, channel: Channel) -> bool:
    """Whether every answer is published at the nearest multiple of the grid."""
    columns = {output: place for place, output in enumerate(finite.outputs)}
    for x, row in zip(finite.inputs, channel.masses, strict=True):
        column = columns.get(round(x))
        if column is None or row[column] != channel.total:
            return False
    return True


def predicted_size(problem: Problem) -> tuple[float, float, Cost]:
    """Return the predicted numbers of answers and comparisons, and the laws' cost."""
    cost = predicted(problem, 20_000.0)
    answers = comparisons = 0.0
    for part in problem.law_parts:
        count, width = answer_law(part).comparisons()
        answers, comparisons = max(answers, width), comparisons + count
    for number, belief in enumerate(problem.framework.beliefs):
        if len(belief.components()) > 1:
            answers = max(answers, most_answers(belief, problem.answers[number]))
    return answers, comparisons, cost


def _exact_masses(law: Pmf, unit: Fraction) -> dict[Fraction, int]:
    """Return integer masses in units of the grid."""
    masses = list(map(int, exact_law(law).masses))
    divisor = math.gcd(*masses)
    return {Fraction(x) / unit: m // divisor for x, m in zip(law.values.tolist(), masses, strict=True)}


def _logs(row: Iterable[int]) -> list[float]:
    return [math.log(mass) if mass else -math.inf for mass in row]
