"""Asymmetric privacy: allowed moves of one record compared one way, whatever anybody believes (Takagi21 Section IV).

Releases compose under one policy: a framework is charged for every release on its data, by what the noise of each loses
along the framework's own allowed moves. Where a release was made under a policy that allows no move less, that is at
most its own epsilon, and epsilons add (Takagi21 Theorem VIII.6 with the intersection of the relations, errata
E6); of windows of a calendar, too, since one move may change a person's visits in all of them. Where a policy lets a
count rise of which another release hides only the fall, noise on one side loses infinitely much, and the release is
refused.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from takifugu.accounting.composition.charges import answer_hash
from takifugu.accounting.composition.losses import Joint, deltas
from takifugu.accounting.composition.views import View
from takifugu.accounting.definitions import Definition
from takifugu.accounting.suspicion import explain, percent
from takifugu.analysis import randomisers
from takifugu.analysis.bounds import Bound
from takifugu.analysis.guarantee import Charge, Covers
from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import Direction, Randomiser
from takifugu.core.errors import CompositionRefused, TakifuguError
from takifugu.core.escaping import at_most, number, power_at_most
from takifugu.mechanisms.one_sided.answers import sanitiser
from takifugu.mechanisms.one_sided.asymmetric_moves import DIRECTIONS, comparison_of
from takifugu.mechanisms.one_sided.questions import at_most as at_most_of
from takifugu.mechanisms.one_sided.safe_cells import SafeCells
from takifugu.mechanisms.one_sided.tails import Pointing, count_noise
from takifugu.model import queries
from takifugu.model.frameworks import Framework
from takifugu.model.policies.places import Visits
from takifugu.model.policies.policy import Policy
from takifugu.model.policies.sensitivity import Monotone, Sensitivity, sensitivity
from takifugu.model.secrets.hypotheses import Comparison

_TOGETHER = "give both frameworks the predicates of both policies: promises add up for the moves that both allow"
#: How often "safe" may be wrong at a place that is just dangerous, in the comparison with ordinary noise.
WRONG = Fraction(1, 1000)


@dataclass(frozen=True)
class Asymmetric(Definition):
    """Every allowed move of one record, one way, with weight 1."""

    name: str = "asymmetric"
    one_way: bool = True
    without_noise: str = "no noise at all would be added: no allowed move changes this answer"
    is_apart: bool = True  # no mechanism that rests on a belief, or on a change both ways, is asked

    def comparisons(self, framework: Framework) -> Iterator[Comparison]:
        """Enumerate the allowed moves of each record, or of one visitor's records."""
        domain = framework.domain
        records = domain.as_records(1) if isinstance(domain, Visits) else domain
        policy = policy_of(framework)
        for record in range(records.size):
            values = records.alphabet(record)
            for before in values:
                for after in values:
                    if before != after and policy.allows(before, after):
                        yield comparison_of(domain, record, before, after)

    def joint(self, view: View, charges: Sequence[Charge], is_alone: bool) -> Joint:
        """Return the sum of losses along the charged framework's allowed moves."""
        is_single = any(charge.covers is Covers.OUTPUT for charge in charges)
        if is_single and len(charges) > 1:
            raise CompositionRefused(
                "a release under a policy with a function as predicate composes with no other one",
                fix="write the policy with none_of(...) or any_of(...)",
            )
        epsilon, costs = Fraction(0), dict[int, Fraction]()
        for charge in charges:
            if id(charge) not in costs:
                costs[id(charge)] = cost(view, charge)
            epsilon += costs[id(charge)]
        covers = Covers.OUTPUT if is_single else Covers.COMPONENT
        return Joint(epsilon, deltas(charges), "sum along allowed moves", covers)

    def met(self, frameworks: Sequence[Framework]) -> Framework | None:
        """Return the framework of commonly allowed moves; None for different domains."""
        first = frameworks[0]
        policy = Policy()
        for framework in frameworks:
            if framework.definition != self.name or framework.domain.to_dict() != first.domain.to_dict():
                return None
            policy = policy.intersected(policy_of(framework))
        return replace(first, secrets=(policy,))

    def hides_one_entry(self, problem: Problem, bound: Bound) -> bool:
        """Return True: the promise is about one record and needs no belief."""
        return True

    def remarks(self, problem: Problem) -> tuple[str, ...]:
        """Describe ordinary two-sided geometric noise, which hides every change of one record."""
        query, domain = problem.query, problem.framework.domain
        if not isinstance(query, queries.AtMost) or problem.grid != 1:
            return ()
        threshold = max(query.steps(queries.resolved(query, domain)))
        total = sensitivity(Policy(), domain, query).total
        noise = count_noise(problem.epsilon, total, Pointing.BOTH)
        chance = sanitiser(at_most_of(threshold), noise, WRONG).beta(0)
        return (
            f"ordinary differential privacy with epsilon {at_most(problem.epsilon)} hides every change of one person, "
            f"and its noise of scale {number(total / problem.epsilon)} is on both sides: never wrong, it can call "
            "nothing safe; wrong at one in a thousand of the places just above the threshold, it calls an empty place "
            f"safe with probability {at_most(100 * chance, digits=4)} % at most.",
        )

    def promise(self, epsilon: Fraction, delta: Fraction) -> str:
        """Word the promise."""
        factor, excess = power_at_most(epsilon), ""
        if delta:
            excess = f", up to an excess probability of {at_most(delta)}"
        return (
            f"the output is at most {factor} times as likely if the secret is true of a record as if it is not, "
            f"whatever the other records are{excess}. Nothing is guaranteed the other way: an output may show that the "
            "secret is not true"
        )

    def in_numbers(self, epsilon: Fraction, delta: Fraction) -> list[str]:
        """Say how sure somebody can become of a record's hidden thing, against the record without it."""
        sentences = []
        for prior in ("10 %", "50 %"):
            after = explain(prior, epsilon, delta)
            sentences.append(
                f"someone who finds a secret {prior} likely, all else equal, becomes at most "
                f"{percent(after.high, up=True)} sure{after.exception}"
            )
        return sentences

    def in_short(self, hidden: Sequence[str], beliefs: Sequence[str], secrets: Sequence[str]) -> str:
        """Name the hidden things, not their opposites."""
        return f"it protects {' and '.join(hidden)}, against every reader, whatever they believe"

    def composes(self, covers: str) -> str:
        """Say how a release adds up with others."""
        if covers == Covers.OUTPUT:
            return (
                "This is the only release about its source: its policy is a function, and nothing is proved for it "
                "together with any other release."
            )
        return (
            "Epsilons add with other releases about the same records under this policy, and under policies that forbid "
            "no move that this one allows, also where what is asked later depends on earlier answers. Releases of "
            "different people are charged to each of them alone."
        )

    def not_promised(self) -> tuple[str, ...]:
        """Name those not protected, and the dangers."""
        return (
            "that a secret is not true: people of whom it is not true are not protected, and an output may show for "
            "certain that it is true of few",
            "a person known to have exactly one of several secrets, such as a visit to one of two places: the output "
            "may reveal which",
            "a whole suspicion: the factor is for one record against the same record without the secret. It holds for "
            "a whole suspicion only if, to the reader, people with the secret have the other secrets at least as often "
            "as people without it (what they have stochastically dominates what the others have)",
            "facts that are not listed as secrets",
            "anything combined with publications outside this ledger",
        )


def policy_of(framework: Framework) -> Policy:
    """Return the moves all of a framework's secrets allow."""
    policy = Policy()
    for secret in framework.secrets:
        policy = policy.intersected(secret)  # type: ignore[arg-type]
    return policy


def cost(view: View, charge: Charge) -> Fraction:
    """Return a release's loss along the view's allowed moves; raises CompositionRefused where it is infinite."""
    if view.is_native(charge):
        return charge.epsilon
    domain = view.framework.domain
    if isinstance(domain, Visits):  # a move changes as many visits as there are steps in the window that was read
        steps = sum(charge.lengths) or None
        is_of_steps = domain.steps is not None and steps is None  # what is a fact of a step says nothing of all of them
        domain = replace(domain, steps=steps, most=None if is_of_steps else domain.most)
    try:
        query = queries.from_dict(charge.query)
        moves = None
        if answer_hash(queries.resolved(query, domain), domain) in charge.answers:
            moves = sensitivity(policy_of(view.framework), domain, query)
    except TakifuguError:
        moves = None
    if moves is None:
        raise CompositionRefused(
            "a release about the same source counts what this framework's domain does not have, or counts it otherwise",
            fix="declare the same places, or values, for both",
        )
    lost = loss_along(randomisers.from_dict(charge.randomiser), moves)
    if math.isinf(lost):
        raise CompositionRefused(
            "a release under another policy has noise on one side only, and along a move that this policy allows its "
            f"answer goes to the other side ({moves.describe()})",
            fix=_TOGETHER,
        )
    return Fraction(lost)


def loss_along(noise: Randomiser, moves: Sensitivity) -> Fraction | float:
    """Return the noise's largest loss, maybe infinite, along one allowed move."""
    if isinstance(noise, SafeCells):
        return noise.loss_along(moves)
    needed = [DIRECTIONS[change.direction] for change in moves.changes]
    directions = noise.directions
    if not directions:
        return noise.loss(moves.total)
    if len(directions) != len(needed):
        directions = directions * len(needed)
    for change, needs, offered in zip(moves.changes, needed, directions, strict=True):
        if change.direction is not Monotone.CONSTANT and offered not in (Direction.EITHER, needs):
            return math.inf
    return moves.total / noise.scale


ASYMMETRIC = Asymmetric()
