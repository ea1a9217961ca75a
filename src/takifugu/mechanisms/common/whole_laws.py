"""The two laws of the whole answer in every comparison, for mechanisms that act on the answer instead of adding noise.

Let the answer be F = F_1 + ... + F_n over independent components. A secret of component i says nothing about the
others, so given it the law of F is that of F_i given it, convolved with the law of the sum of the others. Added noise
may leave the others out, because they can be added afterwards; a choice among outputs sees F itself, and may not.
The laws are convolved as exact integers (floats are binary fractions), so only their own rounding remains.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from takifugu.analysis.problem import Part, Problem
from takifugu.analysis.questions.answer_law import answer_law
from takifugu.core.errors import Unsupported
from takifugu.mechanisms.common.largest_need import Comparison, compared_laws
from takifugu.mechanisms.common.shares import Shares, most_answers
from takifugu.model.beliefs import Belief, separate
from takifugu.model.queries import Additive
from takifugu.model.secrets.families import Family
from takifugu.numbers.distributions.exact_ratio import exact_law

#: Laws of sums of independent shares are listed up to this many values.
MOST_ANSWERS = 1000


def whole_laws(problem: Problem) -> Iterator[Comparison]:
    """Yield every comparison with the laws of the whole answer.

    Raises Unsupported where a belief has no law of the answer, where independent components follow a chain of any
    start, where the sum of independent shares may take more than MOST_ANSWERS values, and for real-valued answers.
    """
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
        for comparison in compared_laws(alone):
            if shares is None and not comparison.family.whole:
                raise Unsupported(_too_many(belief, problem.answers[number]))
            if shares is None or comparison.located.smoothed:
                yield comparison
            else:
                yield _completed(shares, comparison)


def _completed(shares: Shares, comparison: Comparison) -> Comparison:
    """Return one component's comparison with the laws of the whole answer."""
    others, error = shares.others(comparison.located.start)
    p, q = exact_law(comparison.p).convolve(others), exact_law(comparison.q).convolve(others)
    return replace(comparison, p=p, q=q, error=comparison.error + error + comparison.error * error)


def _too_many(belief: Belief, answer: Additive) -> str:
    return (
        f"the answer may take up to {most_answers(belief, answer):,.0f} values, and a table of masses has at most "
        f'{MOST_ANSWERS:,} of them: publish a coarser answer or fewer entries, or use mechanism="laplace-exact"'
    )
