"""Additive noise of another package: what it claims is proved, or refused, on every small problem."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from tests.conformance.corpus import DELTAS, EPSILONS, Case, corpus, shrunk
from tests.conformance.suite import audited, bound_of, halved

import takifugu as tf
from takifugu.analysis.bounds import Bound, Refusal, Witness
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import DiscreteLaplace, RoundedNormal
from takifugu.calibration.registry import REGISTRY
from takifugu.mechanisms.claims import bounded, is_additive


def of_case(kind: str) -> list[Case]:
    return [case for case in shrunk(corpus()) if case.framework.definition == kind]


def ours(case: Case, delta: Fraction) -> list[tuple[Any, Problem, Bound]]:
    """Return the promises of our mechanisms that rest on additive noise."""
    problem, promises = Problem(case.framework, case.query, EPSILONS[1], delta), []
    for line in REGISTRY:
        if case.framework.definition in line.definitions and (line.takes_delta or not delta):
            mechanism = line.load()
            bound = bound_of(mechanism, problem)
            if isinstance(bound, Bound) and is_additive(problem, bound.randomiser):
                promises.append((mechanism, problem, bound))
    return promises


@pytest.mark.mutants
@pytest.mark.parametrize("case", [*of_case("pufferfish"), *of_case("attribute")], ids=lambda case: case.name)
@pytest.mark.parametrize("delta", DELTAS)
def test_what_we_promise_is_proved_and_half_of_that_noise_only_as_far_as_the_audit_agrees(
    case: Case, delta: Fraction
) -> None:
    for mechanism, problem, bound in ours(case, delta):
        proved = bounded(problem, bound)
        if isinstance(proved, Refusal):  # what needs no noise by other mechanisms than those whose proofs are taken
            assert (bound.randomiser.kind, case.framework.definition) == ("none", "attribute"), mechanism.name
        less = halved(mechanism, problem)
        assert isinstance(less, Bound)
        proved = bounded(problem, less)
        if isinstance(proved, Bound):
            audited(mechanism.name, case, proved)
        elif isinstance(proved, Refusal):
            assert "it claims epsilon" in proved.reason


def claim(problem: Problem, noise: Any, covers: Covers = Covers.OUTPUT, delta: Fraction = Fraction(0)) -> Any:
    return bounded(problem, Bound(noise, problem.epsilon, delta, covers, Witness("a against b")))


HIDDEN = tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.3, 0.7], [0.9, 0.1]], 5))


@pytest.mark.parametrize("grid", ["1/2", "1", "3"])
@pytest.mark.parametrize(
    ("name", "delta"), [("laplace-exact", 0), ("wasserstein-delta", "0.01"), ("gaussian-exact", "0.01")]
)
def test_a_claim_about_one_output_holds_from_the_least_noise_on(name: str, delta: Any, grid: str) -> None:
    query = tf.Sum(codes={0: 0, 1: grid}, grid=grid)
    least = tf.calibrate(HIDDEN, query, "0.3", delta, mechanism=name, allow_zero_noise=True)
    problem = least.problem
    for factor, is_enough in ((Fraction(1), True), (1 - Fraction(1, 10**6), False), (Fraction(3), True)):
        if name == "gaussian-exact":
            noise: Any = replace(least.randomiser, scale=least.randomiser.scale * factor)  # type: ignore[type-var]
        else:
            noise = replace(least.randomiser, units=least.randomiser.units * factor)  # type: ignore[type-var]
        assert isinstance(claim(problem, noise, delta=Fraction(delta)), Bound) is is_enough
    if not delta:
        assert isinstance(claim(problem, least.randomiser, Covers.ENTRIES), Refusal)


@pytest.mark.parametrize("grid", ["1/2", "1", "3"])
def test_of_a_comparison_one_way_a_change_of_all_data_is_what_noise_must_hide(grid: str) -> None:
    framework, farthest = of_case("asymmetric")[0].framework, 3  # people, of which each moves the answer by a step
    query = tf.Sum(codes={"well": 0, "mild": 0, "ill": grid}, grid=grid)
    problem = Problem(framework, query, Fraction(1, 2))
    for steps, is_enough in ((Fraction(2 * farthest), True), (2 * farthest - Fraction(1, 1000), False)):
        proved = claim(problem, DiscreteLaplace(steps, problem.grid), Covers.ENTRIES)
        assert isinstance(proved, Bound) is is_enough
        assert not is_enough or proved.covers is Covers.EVERYTHING
    assert claim(problem, RoundedNormal(Fraction(10**6), problem.grid), delta=Fraction(1, 100)) is None


@pytest.mark.mutants
def test_noise_for_an_answer_with_a_stated_density_is_set_beside_the_least() -> None:
    given = {0: tf.Normal(0, 1), 1: tf.Normal(1, 2)}
    framework = tf.Pufferfish(tf.dataset_property("income", "mean"), tf.Density("income", "mean", given))
    least = tf.calibrate(framework, tf.Identity(), 1, mechanism="laplace-exact")
    problem, noise = least.problem, least.randomiser
    for factor, proved in ((Fraction(1), Bound), (Fraction(99, 100), Refusal)):
        assert isinstance(claim(problem, replace(noise, scale=noise.scale * factor)), proved)  # type: ignore[type-var]
    assert claim(problem, noise, Covers.ENTRIES) is None


def test_a_choice_among_others_than_the_query_s_is_not_ours_to_bound() -> None:
    calibration = tf.calibrate(HIDDEN, tf.Mode(), 1, mechanism="group-dp")
    problem, noise = calibration.problem, calibration.randomiser
    assert isinstance(claim(problem, noise), Bound)
    assert claim(problem, replace(noise, outcomes=noise.outcomes[::-1])) is None  # type: ignore[type-var]
    assert claim(problem, DiscreteLaplace(Fraction(99), problem.grid, problem.cells)) is None
