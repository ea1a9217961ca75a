"""Calibration tries every mechanism, picks one and explains; it holds no mathematics and never sees data."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from takifugu.accounting.definitions.gate import ACCEPT
from takifugu.analysis.bounds import Bound
from takifugu.analysis.guarantee import Guarantee
from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import Randomiser, laplace
from takifugu.analysis.robustness import Weakened, if_belief_off
from takifugu.calibration.alternatives import INAPPLICABLE, REFUSED, UNPROVED, Alternative, Comparisons
from takifugu.calibration.outside import marks
from takifugu.calibration.registry import REGISTRY, find
from takifugu.calibration.result import Calibration
from takifugu.calibration.trials import (
    TOO_LARGE,
    attempt,
    attempt_all,
    attempt_composing,
    check_beliefs,
    choose,
    definition_of,
    error_words,
    is_writable,
    rows,
)
from takifugu.core import searches
from takifugu.core.cache import forget
from takifugu.core.errors import CalibrationRefused, InputError
from takifugu.core.rules import check_type
from takifugu.core.text.tables import labelled
from takifugu.model import queries
from takifugu.model.frameworks import Framework
from takifugu.model.queries import Query
from takifugu.numbers.rationals import Number, as_delta, as_epsilon, as_fraction, as_truth, to_text

if TYPE_CHECKING:
    from takifugu.numbers.transport.metrics import Declared

__all__ = ["REGISTRY", "Alternative", "Calibration", "Comparisons", "calibrate", "compare", "with_scale"]

#: Meaningful budgets: from nothing but noise to no promise at all.
LEAST_EPSILON, LARGEST_EPSILON = Fraction(1, 10**9), Fraction(10**4)
#: Scales that a caller may choose, in steps of the answer's grid.
LEAST_SCALE, LARGEST_SCALE = Fraction(1, 10**9), Fraction(10**15)

_VERBS = {INAPPLICABLE: "does not apply", REFUSED: "is refused by default", UNPROVED: "is refused"}
_CHOSEN_SCALE = (
    "the scale was chosen by the caller; its loss: Song, Wang and Chaudhuri (arXiv 1603.03977v1), Theorems 4.3 and A.5"
)


@searches.stopping()
def calibrate(
    framework: Framework,
    query: Query,
    epsilon: Number,
    delta: Number = 0.0,
    mechanism: str = "auto",
    single_release: bool = False,
    allow_zero_noise: bool = False,
    allow_private_belief: bool = False,
    metric: Declared | None = None,
) -> Calibration:
    """Find the noise for one release of a query within (epsilon, delta).

    "auto" asks the mechanisms that compose with later releases, within the work limit, and takes the least expected
    error. Equal errors prefer the kind that composes better, then the registry's order. Where no mechanism composes,
    for `distribution_pair` and with `single_release`, it asks every mechanism; the guarantee may then count only while
    there is no other release (`Calibration.forbids`).

    No noise, and noise too small to hide one entry's effect on a cell, are raised to the least that hides it; tables
    of masses are refused. A belief estimated from the private data is refused by default. Ctrl-C ends a long search
    for quilts with the best so far, which is sound and noted.

    Args:
        framework: The secrets and beliefs.
        query: The statistic to publish.
        epsilon: The privacy loss, from 1e-9 to 10000.
        delta: The delta, 0 for a pure guarantee.
        mechanism: "auto" or a name. A mechanism requested by name ignores the work limit and states its own guarantee.
            Mechanisms of other packages run only by name, and certificates name their author.
        single_release: Whether nothing else is ever released about these data.
        allow_zero_noise: Accept noise that would not hide one entry.
        allow_private_belief: Accept a belief estimated from the private data.
        metric: Distance by which "kantorovich-exponential" chooses, instead of |x - y|.

    Returns:
        The calibration: mechanism, scale, guarantee and alternatives.

    Raises:
        InputError: For a bad epsilon, delta, mechanism or query, and a delta for a mechanism that cannot use it.
        CalibrationRefused: Where no mechanism may be used as asked.

    Source: docs/decisions.md#zero-noise.

    Examples:
        >>> from takifugu import Count, MarkovChain, Pufferfish, every_entry
        >>> chain = MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=100, states=["still", "walking"])
        >>> calibrate(Pufferfish(every_entry(), chain), Count("walking"), epsilon=1, mechanism="group-dp").scale
        100.0
    """
    check_type(mechanism, str, "the name of a mechanism", 'write mechanism="auto"', "mechanism")
    problem = problem_of(framework, query, epsilon, delta, metric)
    return of_problem(problem, mechanism, single_release, allow_zero_noise, allow_private_belief)


def of_problem(
    problem: Problem, mechanism: str, single_release: bool, allow_zero_noise: bool, allow_private_belief: bool
) -> Calibration:
    """Return the noise for a problem (`calibrate`)."""
    conditions = check_beliefs(problem.framework, allow_private_belief)
    _check_metric(problem, mechanism)
    allow_zero_noise, only = as_truth(allow_zero_noise, "allow_zero_noise"), as_truth(single_release, "single_release")
    if mechanism == "auto":
        return _best(problem, only or problem.is_pair, allow_zero_noise, conditions)
    return _named(problem, mechanism, allow_zero_noise, conditions)


def _check_metric(problem: Problem, mechanism: str) -> None:
    metric = problem.metric
    if metric is None:
        return
    if mechanism == "auto" or not find(mechanism, problem.framework.definition).takes_metric:
        raise InputError(
            f"the metric is {metric.describe()}, and the mechanism {mechanism!r} looks at no metric",
            fix='write mechanism="kantorovich-exponential", or leave the metric out',
        ).at("metric")


def _named(
    problem: Problem, mechanism: str, allow_zero_noise: bool, conditions: tuple[str, ...]
) -> Calibration:
    """Return what the mechanism of a name promises, at any cost."""
    line = find(mechanism, problem.framework.definition)
    if problem.delta > 0 and not line.takes_delta:
        raise InputError(
            f"delta is {to_text(problem.delta)}, and {line.named_as(mechanism)} makes a pure promise that has no use "
            "for it",
            fix='write delta=0, or mechanism="auto"',
        ).at("delta")
    trial = attempt(line, problem, allow_zero_noise, limited=False)
    if trial.bound is None or trial.status in (REFUSED, UNPROVED):
        message = f"{line.named_as(mechanism)} {_VERBS[trial.status]}"
        raise CalibrationRefused(message, rule=f"{trial.reason}").at("mechanism")
    source = line.load().source
    if problem.metric is not None:
        source += f"; distances by the metric {problem.metric.describe()}"
    requested = problem.epsilon, problem.delta
    return of_bound(problem, trial.bound, line.name, source, conditions, allow_zero_noise, requested)


def _best(problem: Problem, only: bool, allow_zero_noise: bool, conditions: tuple[str, ...]) -> Calibration:
    """Return the smallest expected error, of all mechanisms for an only release."""
    if only:
        trials = attempt_all(problem, allow_zero_noise, alone=True, ours=True)
    else:
        trials = attempt_composing(problem, allow_zero_noise)
    choice = choose(trials)
    best = None if choice is None else choice.taken(only)
    if choice is None or best is None or best.bound is None:
        reasons = labelled([(t.line.name, f"{t.status}: {t.reason}") for t in trials])
        raise CalibrationRefused(f"no mechanism may be used as asked:\n{reasons}")
    source, requested = best.line.load().source, (problem.epsilon, problem.delta)
    table = rows(trials, choice, only)
    return of_bound(problem, best.bound, best.line.name, source, conditions, allow_zero_noise, requested, table)


@searches.stopping()
def compare(
    framework: Framework, query: Query, epsilon: Number, delta: Number = 0.0, single_release: bool = False,
    metric: Declared | None = None, allow_zero_noise: bool = False,
) -> Comparisons:  # fmt: skip
    """Compare every mechanism: scale, expected error, composition, or the reason against it.

    Two are marked: the choice of `calibrate`, and the least error of all ("if the only release") where that is another.
    Noise is raised as by `calibrate`, or listed as refused. A belief from the private data is not refused here.

    Args:
        framework: The secrets and beliefs.
        query: The statistic to publish.
        epsilon: The privacy loss.
        delta: The delta.
        single_release: Whether nothing else is ever released about these data.
        metric: Distance by which "kantorovich-exponential" chooses, instead of |x - y|.
        allow_zero_noise: Accept noise that would not hide one entry.

    Returns:
        One line for each mechanism; it prints as a table.

    Raises:
        InputError: For a bad epsilon, delta or query.

    Examples:
        >>> from takifugu import Identity, distribution_pair
        >>> from takifugu.numbers import Pmf
        >>> table = compare(distribution_pair(Pmf([0, 1], [0.5, 0.5]), Pmf([1], [1])), Identity(), epsilon=1)
        >>> table[0].name, table[0].scale
        ('group-dp', 1.0)
    """
    problem = problem_of(framework, query, epsilon, delta, metric)
    only = as_truth(single_release, "single_release") or problem.is_pair
    trials = attempt_all(problem, as_truth(allow_zero_noise, "allow_zero_noise"), alone=only)
    choice, definition = choose(trials), definition_of(problem)
    outcomes, remarks = rows(trials, choice, only), definition.remarks(problem)
    off: tuple[Weakened, ...] = ()
    if framework.beliefs and not definition.per_distance:
        off = if_belief_off(problem.epsilon, problem.delta, framework.hides_facts)
    return Comparisons(problem.epsilon, problem.delta, outcomes, off, remarks, error_words(problem))


@searches.stopping()
def with_scale(
    framework: Framework, query: Query, scale: Number, allow_private_belief: bool = False,
    allow_zero_noise: bool = False,
) -> Calibration:  # fmt: skip
    """Compute the privacy loss of Laplace noise whose scale you choose.

    Epsilon is D(component)/scale, or the joint loss over Markov quilts where that is smaller.

    Args:
        framework: The secrets and beliefs.
        query: The statistic to publish.
        scale: The noise's scale b, in answer units.
        allow_private_belief: Accept a belief estimated from the private data.
        allow_zero_noise: Accept noise that would not hide one entry.

    Returns:
        The calibration, with its epsilon.

    Raises:
        InputError: For a scale that is not a finite number above 0, or lies outside 1e-9 to 1e15 steps of the grid.
        CalibrationRefused: For noise that `calibrate` refuses by default.

    Examples:
        >>> from takifugu import Count, MarkovChain, Pufferfish, every_entry
        >>> chain = MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=1, states=["still", "walking"])
        >>> with_scale(Pufferfish(every_entry(), chain), Count("walking"), 4).epsilon
        Fraction(1, 4)
    """
    exact = as_fraction(scale, "the scale", "scale")
    if exact <= 0:
        raise InputError(f"the scale is {scale!r}", rule="it must be above 0", fix="write for example 10.0").at("scale")
    problem = problem_of(framework, query, 1, 0)
    conditions = check_beliefs(framework, allow_private_belief)
    if not LEAST_SCALE <= exact / problem.grid <= LARGEST_SCALE:
        raise InputError(
            f"the scale is {scale!r}",
            rule=f"it must lie between 1e-9 and 1e15 steps of the answer's grid {problem.grid}",
        ).at("scale")
    allowed = as_truth(allow_zero_noise, "allow_zero_noise")
    return of_scale(problem, exact, "with-scale", _CHOSEN_SCALE, conditions, allowed)


def of_scale(
    problem: Problem, scale: Fraction, mechanism: str, source: str, conditions: tuple[str, ...], allow_zero_noise: bool
) -> Calibration:
    """Return Laplace noise of this scale, in answer units, with its promise."""
    from takifugu.influence.promise import promise_of  # it loads the quilts, which few calibrations need

    promise = promise_of(problem, scale)
    noise = noise_of(problem, scale)
    bound = Bound(noise, promise.epsilon, Fraction(0), promise.covers, promise.witness)
    return of_bound(problem, bound, mechanism, source, conditions, allow_zero_noise)


def noise_of(problem: Problem, scale: Fraction) -> Randomiser:
    """Return noise of exactly this scale for the answer, or a choice."""
    choice = problem.candidates
    if choice is not None:
        from takifugu.analysis.randomisers.selection import PermuteAndFlip

        return PermuteAndFlip(scale / problem.grid, choice.outcomes, choice.goal, choice.groups)
    return laplace(scale, problem.grid, problem.cells, problem.on_grid)


def budget_of(epsilon: Number) -> Fraction:
    """Read the epsilon of a promise; InputError beyond what means anything."""
    budget = as_epsilon(epsilon)
    if not LEAST_EPSILON <= budget <= LARGEST_EPSILON:
        raise InputError(
            f"epsilon is {epsilon!r}",
            rule="it must lie between 1e-9 and 10000: less publishes nothing but noise, and more promises nothing",
            fix="write for example 1.0",
        ).at("epsilon")
    return budget


def problem_of(
    framework: Framework, query: Query, epsilon: Number, delta: Number, metric: Declared | None = None,
    epsilons: tuple[Fraction, ...] = (),
) -> Problem:  # fmt: skip
    """Return the problem to solve, one of those at `epsilons`; InputError for parts out of place."""
    if not isinstance(framework, Framework):
        raise InputError(
            f"the framework is a {type(framework).__name__}", fix="write Pufferfish(secrets, beliefs)"
        ).at("framework")
    queries.check(query)
    if metric is not None:
        from takifugu.numbers.transport.metrics import Declared  # few name a metric

        check_type(metric, Declared, "a metric", "write takifugu.numbers.transport.metrics.declared(name)", "metric")
    if query.definitions is not None and framework.definition not in query.definitions:
        rule, fix = query.elsewhere
        message = f"the query ({query.describe()}) is asked under the definition {framework.definition!r}"
        raise InputError(message, rule=rule, fix=fix).at("query")
    problem = Problem(framework, query, budget_of(epsilon), as_delta(delta), metric=metric, epsilons=epsilons)
    _ = problem.grid  # a query that does not fit is refused before any mechanism is asked
    return problem


def of_bound(
    problem: Problem,
    bound: Bound,
    mechanism: str,
    source: str,
    conditions: tuple[str, ...],
    allow_zero_noise: bool,
    requested: tuple[Fraction, Fraction] | None = None,
    alternatives: tuple[Alternative, ...] = (),
) -> Calibration:
    """Return noise with its promise, which nobody `requested` by default, if it passes the one gate."""
    if not is_writable(problem, bound.randomiser):
        raise CalibrationRefused(f"{mechanism}: {TOO_LARGE}")
    framework = problem.framework
    guarantee = Guarantee(
        bound.epsilon,
        bound.delta,
        bound.covers,
        framework.definition,
        framework.fingerprint(),
        framework.assumptions(),
        (*bound.conditions, *conditions, *marks(problem, bound.randomiser)),
        hides_facts=framework.hides_facts,
    )
    calibration = Calibration(
        framework,
        problem.query,
        mechanism,
        source,
        bound.randomiser,
        guarantee,
        bound.witness,
        definition_of(problem).hides_one_entry(problem, bound),
        requested,
        alternatives,
        allow_zero_noise,
    )
    calibration.__dict__["problem"] = problem
    if reason := calibration.too_little_noise:
        refused = CalibrationRefused(f"the noise of {mechanism} is refused by default", rule=reason + ACCEPT)
        raise refused.at("mechanism")
    forget(problem)  # what mechanisms kept for each other
    return calibration
