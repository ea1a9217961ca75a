"""Which tables are published with estimates, and these: computed from calibrations and noisy values, and no data.

A table has them in all cells or in none. What they need is found before anything is paid.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from takifugu.analysis.questions.law_of_cell import MOST_WORK
from takifugu.core.errors import InputError, Unsupported
from takifugu.releasing.planning.plan import Plan
from takifugu.releasing.planning.questions import Question, calibrations_of
from takifugu.releasing.postprocess.estimate import Estimate, Prior, estimates_of, priors_of


def foresee_estimates(planned: Plan) -> None:
    """Compute what estimates of all tables need."""
    for table in planned.tables:
        priors_of_table(table.questions)


def estimates_of_table(
    questions: Sequence[Question], values: Sequence[Sequence[Fraction]]
) -> list[tuple[Estimate, ...]] | None:
    """Return the estimates of each answer of a table, None where it has none."""
    priors = priors_of_table(questions)
    if priors is None:
        return None
    estimates = list[tuple[Estimate, ...]]()
    try:
        for question, published in zip(questions, values, strict=True):
            noise = question.calibration.randomiser
            estimates.append(estimates_of(priors[id(question.calibration)], noise, published))
    except Unsupported:
        return None
    return estimates


def priors_of_table(questions: Sequence[Question]) -> dict[int, tuple[Prior, ...]] | None:
    """Return the priors of each calibration's answer, None where the beliefs say nothing of one."""
    if not all(question.complete for question in questions):
        return None
    calibrations = calibrations_of(questions)
    # all together take as much work as one answer may
    priors, most = dict[int, tuple[Prior, ...]](), MOST_WORK / len(calibrations)
    for calibration in calibrations:
        try:
            priors[id(calibration)] = priors_of(calibration.framework, calibration.query, most)
        except (Unsupported, InputError):  # no distribution, or no sum over single values
            return None
    return priors
