"""Several queries under one promise: their noise is found together, for the least total expected error.

The joint loss is a function of one profile where there is one, else the ledger's own (`calibration.shared_noise`); the
ledger's own judges the result. Along one shape of profile it is a function of sum_k D_k/b_k^p, p = 1 for Laplace noise
and 2 for normal noise, and a sum of errors E_k(b_k) is least where b_k^(p+1) is in proportion to D_k/E_k'; elsewhere
D_k is what the loss says locally, -b_k^p times its derivative by log b_k, and a search along each shape follows, which
finds the kinks where the worst entry is another one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import itemgetter

from takifugu.accounting.definitions.gate import raised, too_little_noise
from takifugu.analysis.problem import Problem
from takifugu.calibration import problem_of
from takifugu.calibration.result import Calibration
from takifugu.calibration.shared_noise import LaplaceTogether, NormalTogether, Scales, SharedNoise
from takifugu.calibration.trials import check_beliefs, raising
from takifugu.core import searches
from takifugu.core.errors import InputError
from takifugu.core.escaping import at_most
from takifugu.core.rules import list_of
from takifugu.model.frameworks import Framework
from takifugu.model.queries import Query
from takifugu.numbers.rationals import Number, as_fraction, round_up
from takifugu.numbers.search import lowest, smallest_scale

#: Rounds of the closed form at the local loss, and of the search along each shape.
ROUNDS, SWEEPS = 8, 4
#: What a round or a sweep must gain, relatively, for another one to follow; a step of a search along one shape.
WORTH_A_ROUND, WORTH_A_SWEEP, WORTH_A_STEP = 1e-6, 1e-4, 1e-6
#: How far a scale moves at most in one search, as a power of e, and how often the last interval is cut.
WIDEST, CUTS = 1.0, 6
#: How far a fitted loss may be from epsilon, relatively, and how far from the scales the last search begins.
FITTED, NEAR = 1e-7, Fraction(1, 10**5)
#: The grid of scales in a search; none is smaller: where the belief hides all, any is enough, and the gate raises it.
_LEAST = Fraction(1, 10**15)
#: The least weight of a query; the largest is its inverse.
LEAST_WEIGHT = Fraction(1, 10**9)
#: What stands for no loss at all, in logarithms.
NO_LOSS = 1e-300
#: The step of a difference quotient, in the logarithm of a scale, and as a factor.
STEP = 1e-3
_UP = Fraction(math.exp(STEP))


@searches.stopping()
def calibrate_jointly(
    framework: Framework,
    queries: Sequence[Query],
    epsilon: Number,
    delta: Number = 0,
    weights: Sequence[Number] | None = None,
    allow_private_belief: bool = False,
) -> tuple[Calibration, ...]:
    """Find the noise of several queries within one (epsilon, delta).

    The queries are about the same entries. The scales make the weighted sum of expected errors small: never above that
    of an equal split, and the least where all profiles have one shape. An error is L1 over the cells, in answer units;
    for a choice (median, mode) it counts entries. Each calibration states what its release loses alone.

    Without delta, noise is Laplace's and releases compose with everything: `compose` of them is at most epsilon. With
    delta it is normal, for releases that begin a series, all fixed before the first: `compose(..., begins_series=True)`
    is at most (epsilon, delta), and so is one payment of a ledger.

    Args:
        framework: The secrets and beliefs.
        queries: The statistics to publish.
        epsilon: The joint privacy loss.
        delta: The joint delta.
        weights: Importance of one unit of error of each query; None for 1.
        allow_private_belief: Accept a belief estimated from the private data.

    Returns:
        One calibration for each query.

    Raises:
        InputError: For no queries, choices with a delta, weights that do not fit, a bad epsilon or delta, and a
            framework that is not Pufferfish over entries.
        CalibrationRefused: For a query that no secret moves, a belief from the private data, and with a delta a belief
            without an influence curve.

    Source: docs/theory/influence.md#series-of-normal-releases.

    Examples:
        >>> from takifugu import Count, Histogram, MarkovChain, Pufferfish, compose, every_entry
        >>> framework = Pufferfish(every_entry(), MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=100))
        >>> whole, evening = calibrate_jointly(framework, [Count(1), Count(1, entries=range(80, 100))], epsilon=1)
        >>> round(whole.scale, 3), round(evening.scale, 3), compose([whole, evening]).epsilon <= 1
        (6.666, 6.653, True)
    """
    listed_queries = list_of(queries, "the queries", "queries", "[Count(1), Histogram()]")
    if not listed_queries:
        raise InputError("there is nothing to calibrate", fix="give at least one query").at("queries")
    problems = tuple(problem_of(framework, query, epsilon, delta) for query in listed_queries)
    noise = _noise(framework, problems)
    conditions = (_shared_promise(problems), *check_beliefs(framework, allow_private_belief))
    return _within_epsilon(noise, _weights(weights, len(listed_queries)), conditions)


def _within_epsilon(
    noise: SharedNoise, weights: tuple[float, ...], conditions: tuple[str, ...]
) -> tuple[Calibration, ...]:
    """Return releases of small total error, stretched until the ledger charges epsilon."""
    scales = Split(noise, weights).best()
    if not noise.fits(scales):
        noise = noise.bounded()
        scales = Split(noise, weights).best()
    stretch = Fraction(1, 2**30)
    while True:
        calibrations = noise.calibrations(scales, conditions)
        if noise.charged(calibrations) <= noise.epsilon:
            return tuple(_judged(calibration, len(calibrations)) for calibration in calibrations)
        scales, stretch = [round_up(scale * (1 + stretch)) for scale in scales], 2 * stretch


def _judged(calibration: Calibration, queries: int) -> Calibration:
    """Return the release with at least the noise that the gate lets pass at an equal share of the promise."""
    problem, noise, witness, asked = calibration.problem, calibration.randomiser, calibration.witness, None
    if too_little_noise(problem, noise, calibration.epsilon, calibration.delta):
        asked = max(calibration.epsilon, problem.epsilon / queries), max(calibration.delta, problem.delta / queries)
        more = raised(problem, noise, *asked)
        assert more is not None, "what no secret moves is refused before"
        if more != noise:
            noise, witness = more, raising(noise, more)
    judged = replace(calibration, randomiser=noise, witness=witness, requested=asked, allow_zero_noise=False)
    judged.__dict__["problem"] = problem
    return judged


def _noise(framework: Framework, problems: tuple[Problem, ...]) -> SharedNoise:
    """Return the noise that queries share: normal with a delta, else Laplace."""
    if framework.definition != "pufferfish" or framework.is_pair:
        raise InputError(
            "under this definition no losses of entries add up", fix="calibrate each query with an epsilon of its own"
        ).at("framework")
    epsilon, delta = problems[0].epsilon, problems[0].delta
    if not delta:
        return LaplaceTogether(framework, problems, epsilon)
    for problem in problems:
        if problem.candidates is not None:
            raise InputError(
                f"the query ({problem.query.describe()}) publishes a choice",
                rule="no normal noise is added to a choice, and choices share a pure promise",
                fix="leave delta out, or calibrate it alone",
            ).at("queries")
    return NormalTogether(framework, problems, epsilon, delta)


def _shared_promise(problems: tuple[Problem, ...]) -> str:
    words = f"one of {len(problems)} queries that share an epsilon of {at_most(problems[0].epsilon)}"
    if problems[0].delta:
        words += f" and a delta of {at_most(problems[0].delta)}"
    return words


def _weights(weights: Sequence[Number] | None, number: int) -> tuple[float, ...]:
    if weights is None:
        return (1.0,) * number
    every = list_of(weights, "the weights", "weights", "[1, 2]")
    exact = [as_fraction(weight, "a weight", "weights") for weight in every]
    if len(exact) != number or not LEAST_WEIGHT <= min(exact) <= max(exact) <= 1 / LEAST_WEIGHT:
        raise InputError(
            f"the weights are {every!r}", rule=f"they are {number} numbers from 1e-9 to 1e9, one for each query"
        ).at("weights")
    return tuple(map(float, exact))


@dataclass(frozen=True, eq=False)
class Split:
    """A search for scales of shared noise, with weights of their errors."""

    noise: SharedNoise
    weights: tuple[float, ...]

    def error(self, scales: Scales) -> float:
        """Return the weighted sum of the expected errors."""
        pairs = zip(self.weights, scales, strict=True)
        return math.fsum(weight * self.noise.error(place, scale) for place, (weight, scale) in enumerate(pairs))

    def fitted(self, shape: Scales, factor: float = 1.0) -> Scales:
        """Return proportional scales with a joint loss of about epsilon; none is below its release's own need."""
        # Secants of logarithms find them from a factor on.
        place = math.log(factor)
        gap = self._gap(shape, place)
        slope = -1.0
        for _ in range(12):
            if abs(gap) <= FITTED:
                break
            following = place - gap / slope
            new = self._gap(shape, following)
            if new == gap:  # all are what they need alone, and lose less together
                break
            slope = min(-0.05, max(-20.0, (new - gap) / (following - place)))
            place, gap = following, new
        return self._stretched(shape, place)

    def _gap(self, shape: Scales, place: float) -> float:
        return math.log(self.noise.loss(self._stretched(shape, place)) or NO_LOSS) - math.log(self.noise.epsilon)

    def _stretched(self, shape: Scales, place: float) -> Scales:
        factor, scales = Fraction(math.exp(place)), list[Fraction]()
        for scale, least in zip(shape, self.noise.least, strict=True):
            scales.append(max((factor * scale).limit_denominator(_LEAST.denominator), least, _LEAST))
        return scales

    def equal(self) -> Scales:
        """Return scales of equal single losses, stretched until all together fit."""
        alone = list(self.noise.start)
        for places in self.noise.shapes:
            first = places[0]
            single, start = self.noise.only(first), [self.noise.start[first]]
            (scale,) = Split(single, (1.0,)).fitted(start, single.guess(start))
            for place in places:
                alone[place] = scale * self.noise.sizes[place] / self.noise.sizes[first]
        return self.fitted(alone, self.noise.guess(alone))

    def best(self) -> Scales:
        """Return scales of small total error within a joint loss of epsilon."""
        smallest = self._stretched(self.noise.start, -math.inf)
        if self.noise.loss(smallest) <= self.noise.epsilon:  # the belief hides all
            return smallest
        shape = self.equal()
        if len(shape) > 1:
            shape = self._by_closed_form(self._balanced(shape))
        if len(self.noise.shapes) > 1:
            shape = self._by_searches(shape)

        def loss(factor: Fraction) -> float:
            return self.noise.loss([factor * scale for scale in shape])

        high = 1 + NEAR
        while loss(high) > self.noise.epsilon:
            high *= 2
        factor = smallest_scale(loss, self.noise.epsilon, high, min(1 - NEAR, high / 2))
        return [max(round_up(factor * scale), least) for scale, least in zip(shape, self.noise.least, strict=True)]

    def _by_closed_form(self, best: Scales) -> Scales:
        """Return the best scales after steps towards b_k^(p+1) ~ D_k/E_k'; a step that gains nothing is halved."""
        least, part = self.error(best), 1.0
        target = self._closed_form(best)
        for _ in range(ROUNDS):
            pairs = zip(best, target, strict=True)
            scales = self.fitted([scale * Fraction(float(aim / scale) ** part) for scale, aim in pairs])
            error = self.error(scales)
            if error >= least * (1 - WORTH_A_ROUND):
                part /= 2
                continue
            best, least = scales, error
            target = self._closed_form(best)
        return best

    def _closed_form(self, scales: Scales) -> Scales:
        """Return scales in the proportion of the least error, where the loss is as here."""
        power, loss, shape = self.noise.power, self.noise.loss(scales), list(scales)
        for places in self.noise.shapes:
            dropped = loss - self.noise.loss(_multiplied(scales, places, _UP))
            shares = [self._share(place, scales[place]) for place in places]
            for place, share in zip(places, shares, strict=True):
                change = max(dropped, 1e-4 * STEP * loss) * share / math.fsum(shares) * float(scales[place]) ** power
                shape[place] = Fraction((change / self._growth(place, scales[place])) ** (1 / (power + 1)))
        return self.fitted(shape, self.noise.guess(shape) / self.noise.guess(scales))

    def _balanced(self, scales: Scales) -> Scales:
        """Return scales of the same loss and no more error: within a shape the least is b_k^(p+1) ~ D_k/E_k'."""
        power, balanced = self.noise.power, list(scales)
        for places in self.noise.shapes:
            for place in places:
                size, growth = float(self.noise.sizes[place]), self._growth(place, scales[place])
                balanced[place] = Fraction((size**power / growth) ** (1 / (power + 1)))
            before = math.fsum(self._share(place, scales[place]) for place in places)
            after = math.fsum(self._share(place, balanced[place]) for place in places)
            balanced = _multiplied(balanced, places, Fraction((after / before) ** (1 / power)))
        return self.fitted(balanced)

    def _share(self, place: int, scale: Fraction) -> float:
        """Return what a release adds to the loss, in proportion within a shape."""
        return float(self.noise.sizes[place] / scale) ** self.noise.power

    def _growth(self, place: int, scale: Fraction) -> float:
        """Return how fast the weighted error grows with the scale, up to a factor that all share."""
        rise = self.noise.error(place, scale * _UP) - self.noise.error(place, scale)
        return self.weights[place] * max(rise, 1e-12 * float(scale)) / float(scale)

    def _by_searches(self, best: Scales) -> Scales:
        """Return the best scales after searches along the logarithm of each shape."""
        for _ in range(SWEEPS):
            before = self.error(best)
            for places in self.noise.shapes:
                best = self._along(best, places)
            if self.error(best) > before * (1 - WORTH_A_SWEEP):
                break
        return best

    def _along(self, best: Scales, places: Sequence[int]) -> Scales:
        """Return the best scales in the valley along one shape, on the side where the error falls."""
        def tried(power: float) -> tuple[float, Scales]:
            scales = self.fitted(_multiplied(best, places, Fraction(math.exp(power))))
            return self.error(scales), scales

        here = self.error(best), best
        for side in (1, -1):
            behind, at, last = 0.0, here, tried(side * STEP)
            if last[0] >= here[0] * (1 - WORTH_A_STEP):
                continue
            place = side * STEP
            while last[0] < at[0] and abs(place) < WIDEST:
                behind, at, place = place / 4, last, 4 * place
                last = tried(place)
            valley = lowest(tried, min(behind, place), max(behind, place), CUTS, key=itemgetter(0))
            return min(at, last, valley, key=itemgetter(0))[1]
        return best


def _multiplied(scales: Scales, places: Sequence[int], factor: Fraction) -> list[Fraction]:
    """Return scales of which some are multiplied by a factor."""
    changed = list(scales)
    for place in places:
        changed[place] *= factor
    return changed
