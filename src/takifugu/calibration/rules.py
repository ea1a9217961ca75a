"""What calibration refuses unless the caller accepts it: too little noise, and beliefs taken from the private data."""

from __future__ import annotations

from takifugu.accounting import definitions
from takifugu.accounting.definitions import Definition
from takifugu.analysis.problem import Problem
from takifugu.core.errors import CalibrationRefused
from takifugu.model.beliefs.estimate import is_private_source
from takifugu.model.frameworks import Framework


def definition_of(problem: Problem) -> Definition:
    """Return the definition behind a problem's promise."""
    return definitions.find(problem.framework.definition)


def error_words(problem: Problem) -> tuple[str, ...]:
    """Describe an unusual expected error: a choice's, or a definition's."""
    if problem.candidates is not None:
        from takifugu.analysis.randomisers.selection import PermuteAndFlip

        return (PermuteAndFlip.error_words,)
    words = definition_of(problem).error_words
    return (words,) if words else ()


def check_beliefs(framework: Framework, allow_private_belief: bool) -> tuple[str, ...]:
    """Return the conditions of beliefs from private data, refused by default."""
    private = [b for b in framework.beliefs if is_private_source(b.source)]
    if private and not allow_private_belief:
        raise CalibrationRefused(
            f"the belief {private[0].describe()} was estimated from the private data, so the amount of noise would "
            "itself tell something about them",
            fix="estimate it from other data, or write allow_private_belief=True",
        ).at("beliefs")
    return tuple(f"{b.describe()}: estimated from the private data; the promise does not cover that" for b in private)
