"""Several queries under one epsilon: their scales are chosen together, for the least total expected error.

The joint loss is the ledger's own (`composition.quilt_costs`). Along one shape of profile it is a function of
sum_k D_k/b_k, and sum_k w_k b_k is least where b_k is in proportion to the root of D_k/w_k; elsewhere D_k is what the
loss says locally, -b_k times its derivative by log b_k, and a search along each scale follows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from takifugu.accounting.composition import Charge, charge_of, joint
from takifugu.accounting.composition.quilt_costs import quilt_cost
from takifugu.accounting.composition.views import View
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Problem
from takifugu.analysis.sensitivity import component_change
from takifugu.calibration import noise_of, of_scale, problem_of
from takifugu.calibration.result import Calibration
from takifugu.calibration.rules import check_beliefs
from takifugu.core import searches
from takifugu.core.errors import CalibrationRefused, InputError
from takifugu.model.frameworks import Framework
from takifugu.model.queries import Query
from takifugu.numbers.rationals import Number, as_epsilon, as_fraction, round_up
from takifugu.numbers.search import least_scale, lowest

#: Rounds of the closed form at the local loss, and of the search along each scale.
ROUNDS, SWEEPS = 4, 2
#: How far a scale moves at most in one search, as a power of e, and how often this interval is cut.
WIDEST, CUTS = 1.0, 10
#: How far a fitted loss may be from epsilon, relatively, and how far from the scales the last search begins.
FITTED, NEAR = 1e-7, Fraction(1, 10**5)
#: The step of a difference quotient, in the logarithm of a scale.
STEP = 1e-3

SOURCE = "the least total expected error under one joint loss (docs/theory/influence.md, several queries at once)"


@searches.stopping()
def calibrate_jointly(
    framework: Framework,
    queries: Sequence[Query],
    epsilon: Number,
    weights: Sequence[Number] | None = None,
    allow_private_belief: bool = False,
) -> tuple[Calibration, ...]:
    """Return Laplace noise for each of several queries about the same entries, which together keep epsilon.

    Their scales make sum_k w_k (expected error of query k) small: the errors are L1 over the cells, in the units of
    each answer, and `weights` (1 if not given) say what one unit of each counts. It is never above an equal split, and
    the least where all profiles have one shape. Each calibration states what its release promises alone; `compose` of
    them is at most epsilon.

    Raises InputError for no queries, choices, weights that do not fit, a bad epsilon and a framework that is not
    Pufferfish over entries; CalibrationRefused for a query that no secret moves, and a belief from the private data.

    >>> from takifugu import Count, Histogram, MarkovChain, Pufferfish, compose, every_entry
    >>> framework = Pufferfish(every_entry(), MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=100))
    >>> whole, evening = calibrate_jointly(framework, [Count(1), Count(1, entries=range(80, 100))], epsilon=1)
    >>> round(whole.scale, 3), round(evening.scale, 3), compose([whole, evening]).epsilon <= 1
    (6.666, 6.653, True)
    """
    budget, each = as_epsilon(epsilon), tuple(queries)
    if not each:
        raise InputError("there is nothing to calibrate", fix="give at least one query").at("queries")
    problems = [problem_of(framework, query, budget, 0) for query in each]
    if framework.definition != "pufferfish" or framework.is_pair:
        raise InputError(
            "the framework has no entries whose losses add up", fix="write Pufferfish(secrets, beliefs)"
        ).at("framework")
    if (choice := next((problem for problem in problems if problem.candidates is not None), None)) is not None:
        raise InputError(
            f"the query ({choice.query.describe()}) publishes a choice",
            rule="it has no error in the units of an answer", fix="calibrate it alone, with an epsilon of its own",
        ).at("queries")  # fmt: skip
    conditions = check_beliefs(framework, allow_private_belief)
    shared = f"one of {len(each)} queries that share an epsilon of {float(budget):g}"
    split = Split(framework, tuple(problems), _weights(weights, len(each)), budget)
    scales = split.least()
    while True:
        calibrations = tuple(
            of_scale(problem, scale, "jointly", SOURCE, (shared, *conditions))
            for problem, scale in zip(problems, scales, strict=True)
        )
        charges = tuple(charge_of(one, reading="together") for one in calibrations)
        if joint(framework, charges).epsilon <= budget:
            return calibrations
        scales = [round_up(scale * (1 + Fraction(1, 2**30))) for scale in scales]


def _weights(weights: Sequence[Number] | None, number: int) -> tuple[float, ...]:
    if weights is None:
        return (1.0,) * number
    exact = [as_fraction(weight, "a weight") for weight in weights]
    if len(exact) != number or min(exact) <= 0:
        raise InputError(
            f"the weights are {list(weights)!r}", rule=f"they are {number} numbers above 0, one for each query"
        ).at("weights")
    return tuple(map(float, exact))


Scales = tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Split:
    """Queries that share one epsilon. Scales are in the units of the answers."""

    framework: Framework
    problems: tuple[Problem, ...]
    weights: tuple[float, ...]
    epsilon: Fraction

    @cached_property
    def changes(self) -> list[Fraction]:
        """How far each answer moves when all of a component changes."""
        sizes = [component_change(problem).size for problem in self.problems]
        for problem, size in zip(self.problems, sizes, strict=True):
            if size == 0:
                raise CalibrationRefused(
                    f"no secret moves the answer of the query ({problem.query.describe()})",
                    rule="it needs no noise", fix="publish it without, or leave it out",
                ).at("queries")  # fmt: skip
        return sizes

    @cached_property
    def view(self) -> View:
        return View(self.framework, self.framework.fingerprint())

    @cached_property
    def charges(self) -> list[Charge]:
        """A charge for each query, whose scale is set by `loss`."""
        noised = [
            of_scale(problem, size, "jointly", SOURCE, ())
            for problem, size in zip(self.problems, self.changes, strict=True)
        ]
        return [
            replace(charge_of(one, reading="together"), covers=Covers.ENTRIES, epsilon=Fraction(0))
            for one in noised
        ]

    def loss(self, scales: Sequence[float | Fraction]) -> float:
        """Return what releases of these scales lose together."""
        noised = [replace(one, scale=Fraction(scale)) for one, scale in zip(self.charges, scales, strict=True)]
        return float(quilt_cost(self.view, noised).epsilon)

    def error(self, scales: Scales) -> float:
        """Return the weighted sum of the expected errors."""
        noises = [noise_of(problem, Fraction(scale)) for problem, scale in zip(self.problems, scales, strict=True)]
        return math.fsum(weight * noise.expected_error() for weight, noise in zip(self.weights, noises, strict=True))

    def fitted(self, shape: Sequence[float]) -> Scales:
        """Return scales in these proportions whose joint loss is about epsilon, by secants of logarithms."""
        target = math.log(float(self.epsilon))
        place = math.log(sum(float(d) / b for d, b in zip(self.changes, shape, strict=True))) - target
        gap = self._gap(shape, place, target)
        slope = -1.0
        for _ in range(12):
            if abs(gap) <= FITTED:
                break
            following = place - gap / slope
            new = self._gap(shape, following, target)
            slope = min(-0.05, max(-20.0, (new - gap) / (following - place)))
            place, gap = following, new
        return tuple(math.exp(place) * b for b in shape)

    def _gap(self, shape: Sequence[float], place: float, target: float) -> float:
        return math.log(self.loss([math.exp(place) * b for b in shape])) - target

    def equal(self) -> Scales:
        """Return the scales at which each query alone would lose the same, stretched until all together fit."""
        alone = []
        for number in range(len(self.problems)):
            one = replace(
                self, problems=(self.problems[number],), weights=(1.0,), epsilon=self.epsilon / len(self.problems)
            )
            alone.append(one.fitted([float(self.changes[number])])[0])
        return self.fitted(alone)

    def least(self) -> list[Fraction]:
        """Return scales of small total error whose joint loss is at most epsilon."""
        best = self.equal()
        if len(best) > 1:
            best = self._by_searches(self._by_closed_form(best))
        shape = [Fraction(scale) for scale in best]
        high = 1 + NEAR
        if self.loss([high * b for b in shape]) > self.epsilon:
            high = sum((d / b for d, b in zip(self.changes, shape, strict=True)), Fraction(0)) / self.epsilon
        factor = least_scale(lambda t: self.loss([t * b for b in shape]), self.epsilon, min(1 - NEAR, high / 2), high)
        return [round_up(factor * scale) for scale in shape]

    def _by_closed_form(self, best: Scales) -> Scales:
        """Return the best scales after steps to b_k ~ sqrt(D_k/w_k) with D_k as the loss has it where one stands."""
        scales, least = best, self.error(best)
        for _ in range(ROUNDS):
            here = self.loss(scales)
            shares = []
            for place, scale in enumerate(scales):
                moved = self.loss(_with(scales, place, scale * math.exp(STEP)))
                shares.append(max(here - moved, 1e-4 * STEP * here) * scale)
            cells = [problem.cells for problem in self.problems]
            shape = [math.sqrt(d / (w * n)) for d, w, n in zip(shares, self.weights, cells, strict=True)]
            scales = self.fitted(shape)
            error = self.error(scales)
            if error >= least * (1 - 1e-6):
                break
            best, least = scales, error
        return best

    def _by_searches(self, best: Scales) -> Scales:
        """Return the best scales after a search along the logarithm of each, the others in proportion."""
        for _ in range(SWEEPS):
            before = self.error(best)
            for place in range(len(best)):
                best = self._along(best, place)
            if self.error(best) > before * (1 - 1e-4):
                break
        return best

    def _along(self, best: Scales, place: int) -> Scales:
        def tried(power: float) -> tuple[float, Scales]:
            scales = self.fitted(_with(best, place, best[place] * math.exp(power)))
            return self.error(scales), scales

        valley = lowest(tried, -WIDEST, WIDEST, CUTS, key=lambda one: one[0])
        return min((self.error(best), best), valley)[1]


def _with(scales: Scales, place: int, scale: float) -> Scales:
    return (*scales[:place], scale, *scales[place + 1 :])
