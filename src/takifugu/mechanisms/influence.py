"""Influence noise: the least Laplace noise whose profile keeps epsilon under every belief, by the least of all curves.

It composes: profiles of releases add up, adaptively, and the ledger computes what the sum costs with the very function
that is used here. On chains of two states with positive correlation it is the least noise of all, `laplace-exact`'s.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from takifugu.analysis.bounds import Bound, Cost, Refusal, Witness
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Part, Problem
from takifugu.analysis.questions.influence import Release
from takifugu.analysis.sensitivity import part_change
from takifugu.core.errors import Unsupported
from takifugu.influence.beginnings import longest
from takifugu.influence.curves import CURVES, influence_losses
from takifugu.influence.profiles.patience import EVALUATIONS
from takifugu.mechanisms.common.answer_noise import covering
from takifugu.model.queries import Additive
from takifugu.numbers.rationals import decimal_down
from takifugu.numbers.search import Search, side_by_side

#: Here a search ends: noise so many times smaller than what hides the largest change by one entry. Where the belief
#: hides all, that is enough, and the gate on noise raises it.
NEXT_TO_NOTHING = 10**6

#: Noise in grid units, and what forces it.
Needed = tuple[Fraction, Witness]


@dataclass(frozen=True)
class Influence:
    """Laplace noise of the least scale at which max over secrets of c_i + R_i + L_i is at most epsilon."""

    name: str = "influence"
    #: Theorems 1, 2, 5, 7, 8, 12 and 13 there; `group` is a curve of the same profile.
    source: str = "influence recursions over the profile of the noise (docs/theory/influence.md)"

    def cost(self, problem: Problem) -> Cost:
        """Predict the work: some evaluations of each curve."""
        return predicted_cost(problem)

    def bound(self, problem: Problem) -> Bound | Refusal:
        refused = unknown_curve(problem)
        if refused:
            return refused
        try:
            scale, witness = largest_of_parts(problem, self.name, part_change, part_scales)
        except Unsupported as error:
            return Refusal(error.message)
        noise = covering(problem, scale * problem.grid / problem.unit)
        return Bound(noise, problem.epsilon, Fraction(0), Covers.ENTRIES, witness)


def largest_of_parts(
    problem: Problem, name: str, change: Callable[[Part], Fraction | int],
    needed: Callable[[Part, Mapping[Fraction, Fraction]], Mapping[Fraction, Needed]],
) -> Needed:  # fmt: skip
    """Return the largest noise that a part needs, those with the largest change first, and its cause."""

    def at(epsilons: tuple[Fraction, ...]) -> Mapping[Fraction, Needed]:
        nothing = Fraction(0), Witness("any one value against another", "no secret moves the answer")
        largest: dict[Fraction, Needed] = dict.fromkeys(epsilons, nothing)
        for part in sorted(longest(problem.parts), key=change, reverse=True):
            enough = {epsilon: noise for epsilon, (noise, _) in largest.items()}
            for epsilon, (noise, forced_by) in needed(part, enough).items():
                if noise > enough[epsilon]:
                    largest[epsilon] = noise, forced_by
        return largest

    return problem.at_each(name, at)


def part_scales(part: Part, enough: Mapping[Fraction, Fraction]) -> Mapping[Fraction, Needed]:
    """Return a part's least scale by curve and `group`, in grid units, or `enough` if that serves, at each epsilon."""
    largest_change, causes = Fraction(part_change(part)), dict[Fraction, Witness]()

    def losses(asked: Sequence[Fraction | float]) -> list[float]:
        scales = [Fraction(scale) for scale in asked]
        releases = [[Release(part.answer.entry_changes(), scale, part.answer)] for scale in scales]
        lost = list[float]()
        for scale, found in zip(scales, influence_losses(part, releases), strict=True):
            loss, causes[scale] = found or (math.inf, Witness("any one value against another", ""))
            lost.append(loss)
        return lost

    needed, searches = dict[Fraction, Needed](), dict[Fraction, Search]()
    asked = list({noise for epsilon, noise in enough.items() if 0 < noise < largest_change / epsilon})
    lost = dict(zip(asked, losses(asked), strict=True)) if asked else {}
    for epsilon, noise in enough.items():
        target, high = decimal_down(epsilon), largest_change / epsilon  # as losses are rounded in a ledger
        if high <= noise or lost.get(noise, math.inf) <= target:
            needed[epsilon] = noise, Witness("", "")
        else:
            least = Fraction(int(part.answer.changes.values.max()), NEXT_TO_NOTHING) / epsilon
            low = min(max(noise, least), high / 2)
            searches[epsilon] = Search(high, target, low)
    for epsilon, scale in zip(searches, side_by_side([*searches.values()], losses), strict=True):
        needed[epsilon] = Fraction(scale), causes[scale]
    return needed


MECHANISM = Influence()


def unknown_curve(problem: Problem) -> Refusal | None:
    """Return why no curve is known for a problem."""
    if problem.is_pair:
        return Refusal('two distributions of an answer have no values: use mechanism="wasserstein" or "laplace-exact"')
    for part in problem.parts:
        if CURVES.of(part.belief) is None or not isinstance(part.answer, Additive):
            return Refusal(
                f"no influence curve is known for {part.belief.describe()}: "
                'use mechanism="group-dp"'
            )
    return None


def predicted_cost(problem: Problem, evaluations: float = EVALUATIONS) -> Cost:
    """Predict the work: evaluations of the loss."""
    losses = farthest = 0.0
    for part in longest(problem.parts):
        curve = CURVES.of(part.belief)
        if curve is not None:
            work = curve.work(part.belief)
            losses, farthest = losses + work, max(farthest, work)
    # One part is searched, and all others need no more than it, which one evaluation tells.
    return Cost(losses + (evaluations - 1) * farthest)
