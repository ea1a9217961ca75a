"""Ordinary differential privacy of one entry, the baseline; correlated entries make its promise worse."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from takifugu.analysis.bounds import Bound, Cost, Refusal
from takifugu.analysis.problem import Problem
from takifugu.analysis.questions.influence import quilts
from takifugu.analysis.randomisers import Randomiser
from takifugu.analysis.sensitivity import component_change, entry_change
from takifugu.influence.promise import Promise, promises_of
from takifugu.mechanisms.common.answer_noise import covering
from takifugu.mechanisms.influence import predicted_cost
from takifugu.numbers.rationals import round_up


@dataclass(frozen=True)
class RecordDP:
    """Laplace noise of scale D_1/epsilon, D_1 the largest L1 change of the answer when one secret entry changes."""

    name: str = "record-dp"
    source: str = "Dwork, McSherry, Nissim and Smith 2006, Proposition 1; what it promises here: Song et al. 2017"

    def cost(self, problem: Problem) -> Cost:
        entries = float(sum(part.belief.size for part in problem.parts))
        promise, searched = predicted_cost(problem, evaluations=1.0), 0.0
        for part in problem.parts:
            of_belief = quilts(part.belief)
            if of_belief.joint_cost is not None:
                searched += of_belief.exact(part).cost(problem.epsilon).operations
        return Cost(entries + promise.operations + searched, promise.memory)

    def bound(self, problem: Problem) -> Bound | Refusal:
        if problem.is_pair:
            return Refusal("two distributions of an answer are compared: no values change one at a time")
        size = entry_change(problem)
        if not size:
            change = component_change(problem)
            if change.size:
                return Refusal(
                    "the query reads no secret value, so there would be no noise, but it reads values that are "
                    "correlated with the secret ones"
                )
            none = covering(problem, Fraction(0))
            return Bound(none, problem.epsilon, Fraction(0), change.covers, change.witness)

        def promised(epsilons: tuple[Fraction, ...]) -> dict[Fraction, tuple[Randomiser, Promise]]:
            noises = [covering(problem, round_up(size / e) * problem.grid / problem.unit) for e in epsilons]
            promises = promises_of(problem, [noise.scale for noise in noises])
            return dict(zip(epsilons, zip(noises, promises, strict=True), strict=True))

        # Where entries are correlated it promises an epsilon that may be far above what was requested.
        noise, promise = problem.at_each(self.name, promised)
        if promise.epsilon <= problem.epsilon:
            return Bound(noise, problem.epsilon, Fraction(0), promise.covers, promise.witness)
        correlated = "does not protect correlated data: it hides one value only from someone who knows all the others"
        return Bound(noise, promise.epsilon, Fraction(0), promise.covers, promise.witness, (correlated,))


MECHANISM = RecordDP()
