"""What noise that another package chose really keeps: the library's own bound of additive noise, whoever claims what.

Laplace noise of scale b, and a choice by it, keeps what `with_scale` computes; a claim about one output alone may rest
on the laws of the answer instead. Normal noise is set beside the least that one of ours proves for the same claim. Only
our own randomisers count as additive: what another class draws, nobody here knows.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from importlib import import_module

from takifugu.analysis.bounds import Bound, Mechanism, Refusal
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import Noise, Randomiser
from takifugu.analysis.sensitivity import component_change
from takifugu.core.errors import Unsupported
from takifugu.core.escaping import number, promised
from takifugu.core.plugins import package_of
from takifugu.model.queries.answer import whole_change

#: Of ours, those whose proof is about an output alone, by the law of their noise.
_LAPLACE = ("laplace_exact",)
_LAPLACE_AT_DELTA = ("wasserstein_delta",)
_NORMAL = ("influence_gaussian", "gaussian_exact")
_NORMAL_OF_COLUMNS = ("attribute.gaussian", "attribute.gaussian_exact")
#: The definitions that those are proved for.
_PROVED_FOR = ("pufferfish", "attribute")
#: A definition that compares data one way: a change of all of it bounds that.
_ONE_WAY = "asymmetric"


def is_additive(problem: Problem, noise: Randomiser) -> bool:
    """Return whether the library knows by itself what a noise loses."""
    if package_of(noise) or problem.framework.definition not in (*_PROVED_FOR, _ONE_WAY):
        return False
    choice = problem.candidates
    if choice is None:
        return isinstance(noise, Noise)
    from takifugu.analysis.randomisers.selection import PermuteAndFlip

    parts = (choice.outcomes, choice.goal, choice.groups)
    return isinstance(noise, PermuteAndFlip) and (noise.outcomes, noise.goal, noise.groups) == parts


def bounded(problem: Problem, bound: Bound) -> Bound | Refusal | None:
    """Return a claim as the library proves it, or why it is too much; None where nothing here bounds the noise."""
    noise = bound.randomiser
    if not is_additive(problem, noise):
        return None
    if noise.laplace_scale is None:
        return _of_normal(problem, bound)
    return _of_laplace(problem, bound, noise.laplace_scale)


def _of_laplace(problem: Problem, bound: Bound, scale: Fraction) -> Bound | Refusal | None:
    loss = least = None
    with suppress(Unsupported):
        loss, covers = _loss_by_changes(problem, scale)
        if loss <= bound.epsilon:
            return replace(bound, covers=covers)
    if bound.covers is Covers.OUTPUT:
        least = _least_of_ours(problem, bound, _LAPLACE_AT_DELTA if bound.delta else _LAPLACE)
    if least is not None and least <= scale:
        return bound
    if loss is not None:
        claimed = promised(bound.epsilon, bound.delta)
        return Refusal(f"it claims {claimed} for {_noise(bound)}, which loses epsilon {_digits(loss)}")
    return None if least is None else _too_little(bound, least)


def _loss_by_changes(problem: Problem, scale: Fraction) -> tuple[Fraction | float, Covers]:
    """Return what `with_scale` computes."""
    from takifugu.influence.promise import promise_of  # it loads the quilts, which few calibrations need

    if problem.framework.definition not in _PROVED_FOR:
        change = max(map(whole_change, problem.answers)) * problem.grid
        return _over(change, scale), Covers.EVERYTHING
    if scale:
        promise = promise_of(problem, scale)
        return promise.epsilon, promise.covers
    largest = component_change(problem)
    return _over(largest.size, scale), largest.covers


def _over(change: Fraction, scale: Fraction) -> Fraction | float:
    if scale:
        return change / scale
    return math.inf if change else Fraction(0)


def _of_normal(problem: Problem, bound: Bound) -> Bound | Refusal | None:
    sigma = bound.randomiser.scale
    if not bound.delta:
        claimed = promised(bound.epsilon, bound.delta)
        return Refusal(f"it claims {claimed} for {_noise(bound)}, which loses epsilon inf without a delta")
    least = _least_of_ours(problem, bound, _NORMAL_OF_COLUMNS if problem.framework.columns else _NORMAL)
    if least is None:
        return None
    if least <= sigma:
        return replace(bound, covers=Covers.OUTPUT)
    return _too_little(bound, least)


def _least_of_ours(problem: Problem, bound: Bound, modules: tuple[str, ...]) -> Fraction | None:
    """Return the least scale that one of ours proves for a claim, None where none of them applies."""
    claimed = replace(problem, epsilon=bound.epsilon, delta=bound.delta)
    scales = list[Fraction]()
    for module in modules:
        if module == "influence_gaussian" and problem.framework.definition != "pufferfish":
            continue
        mechanism: Mechanism = import_module(f"takifugu.mechanisms.{module}").MECHANISM
        try:
            proved = mechanism.bound(claimed)
        except Unsupported:
            continue
        if isinstance(proved, Bound):
            scales.append(proved.randomiser.scale)
    return min(scales, default=None)


def _too_little(bound: Bound, least: Fraction) -> Refusal:
    needed = f"the least scale that is proved for that is {_digits(least)}"
    return Refusal(f"it claims {promised(bound.epsilon, bound.delta)} for {_noise(bound)}, and {needed}")


def _noise(bound: Bound) -> str:
    if bound.randomiser.kind == "none":
        return "no noise"
    return f"noise of scale {_digits(bound.randomiser.scale)}"


def _digits(size: Fraction | float) -> str:
    return number(float(size), digits=7)
