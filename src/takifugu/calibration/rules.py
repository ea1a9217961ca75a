"""What calibration refuses unless the caller accepts it: too little noise, and beliefs taken from the private data."""

from __future__ import annotations

from takifugu.accounting import definitions
from takifugu.analysis.problem import Bound, Problem
from takifugu.analysis.randomisers import Randomiser
from takifugu.analysis.randomisers.selection import PermuteAndFlip
from takifugu.core.errors import CalibrationRefused
from takifugu.model.beliefs.estimate import is_private_source
from takifugu.model.frameworks import Framework


def too_little_noise(problem: Problem, noise: Randomiser) -> str | None:
    """Return why `calibrate` refuses this noise by default, or None, as the framework's definition has it."""
    return definitions.find(problem.framework.definition).too_little_noise(problem, noise)


def hides_one_entry(problem: Problem, bound: Bound) -> bool:
    """Return whether the noise alone hides one entry, at the promise, from someone who knows all others."""
    return definitions.find(problem.framework.definition).hides_one_entry(problem, bound)


def remarks(problem: Problem) -> tuple[str, ...]:
    """Return what a comparison of mechanisms says beside them, as the framework's definition has it."""
    return definitions.find(problem.framework.definition).remarks(problem)


def error_words(problem: Problem) -> tuple[str, ...]:
    """Return what an expected error is, where it is not the usual: of a choice, or under the framework's definition."""
    if problem.candidates is not None:
        return (PermuteAndFlip.error_words,)
    words = definitions.find(problem.framework.definition).error_words
    return (words,) if words else ()


def check_beliefs(framework: Framework, allow_private_belief: bool) -> tuple[str, ...]:
    """Return the conditions that beliefs from the private data put on the promise; refuse such beliefs by default."""
    private = [b for b in framework.beliefs if is_private_source(b.source)]
    if private and not allow_private_belief:
        raise CalibrationRefused(
            f"the belief {private[0].describe()} was estimated from the private data, so the amount of noise would "
            "itself tell something about them",
            fix="estimate it from other data, or write allow_private_belief=True",
        ).at("beliefs")
    return tuple(f"{b.describe()}: estimated from the private data; the promise does not cover that" for b in private)
