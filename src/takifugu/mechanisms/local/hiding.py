"""The mechanisms of `local.choosing` as mechanisms of the registry: what keeps a promise about one person's rows.

Of r rows that are independent given the population, each is given epsilon / r and delta / r of distribution privacy:
the distributions of all rows are products, so that losses add up. Of rows that may depend on each other each is given
epsilon / r of *local* privacy, since nothing is known of their joint distribution but what any rows can be; metric
privacy times the W-infinity of single rows would not do (x, x against x, 1 - x for a fair coin has 0).

Where epsilon is per unit of distance, each two populations are given epsilon times theirs. W-infinity of counted
populations is not known; what keeps metric privacy of values keeps it for all (Kawamoto19 Theorem 2, errata E9b).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from takifugu.analysis.bounds import Bound, Cost, Refusal, Witness
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Problem
from takifugu.core.errors import CalibrationRefused
from takifugu.core.escaping import at_most
from takifugu.mechanisms.local.choosing import least_loss, mechanism_of, strongest, strongest_within
from takifugu.mechanisms.local.kinds import KINDS, Kind
from takifugu.mechanisms.local.measuring import loss_per_distance
from takifugu.mechanisms.local.populations import Populations, populations_of
from takifugu.mechanisms.local.promises import LocalPrivacy, MetricPrivacy, hides_distance, hides_value
from takifugu.mechanisms.local.senders import Sender
from takifugu.mechanisms.local.sent import Sending
from takifugu.model.beliefs.populations import FromPopulations
from takifugu.model.queries import LocalValue
from takifugu.model.secrets.hypotheses import Comparison, PropertyIs
from takifugu.model.secrets.of_populations import WhichPopulation

#: So many distances are listed on a certificate.
_MOST_PAIRS = 6


@dataclass(frozen=True)
class Hiding:
    """One mechanism: its channel, as strong as the promise about a person's rows allows."""

    name: str

    @property
    def kind(self) -> Kind:
        return KINDS[self.name]

    @property
    def source(self) -> str:
        return self.kind.source

    def cost(self, problem: Problem) -> Cost:
        count = max((len(belief.alphabet(0)) for belief in problem.framework.beliefs), default=0)
        return Cost(self.kind.work * count**2, 100.0 * count**2)

    def bound(self, problem: Problem) -> Bound | Refusal:
        beliefs: Any = problem.framework.beliefs
        if not isinstance(problem.query, LocalValue):
            return Refusal("it randomises each row's value, and another answer is published")
        secret, *more = dict.fromkeys(problem.framework.secrets)
        if more or not isinstance(secret, WhichPopulation):
            return Refusal("it hides which population rows come from, and something else is hidden")
        if len(beliefs) != 1:
            return Refusal("it takes all populations in one belief, and there are several")
        dummies = problem.query.dummies
        if dummies and not self.kind.among_dummies:
            return Refusal("each value is published among dummies, and it sends none")
        if not dummies and self.kind.among_dummies:
            return Refusal("it sends each value among dummies, and none are published: ask for dummies")
        radius = problem.query.radius
        if radius is None and self.kind.takes_radius and not self.kind.among_dummies:
            return Refusal("it cuts noise at a radius, and no radius is written: ask for one")
        if radius is not None and not self.kind.takes_radius:
            return Refusal("it may move a value farther than the radius")
        populations = populations_of(beliefs[0])
        if not self.kind.applies(populations):
            return Refusal("it moves places, and the values are none, or do not fill a box of equal cells")
        try:
            hidden = hidden_at(secret, beliefs[0], populations)
            return self._bound(problem, beliefs[0], hidden, dummies or 10, radius)
        except CalibrationRefused as refusal:
            return Refusal(refusal.rule or str(refusal))

    def _bound(
        self, problem: Problem, belief: FromPopulations, populations: Populations, dummies: int, radius: Fraction | None
    ) -> Bound:
        epsilon, delta = problem.epsilon / belief.rows, problem.delta / belief.rows
        at = "" if populations.apart is None else f" at a distance of 1 {belief.measure}".rstrip()
        kind, share = Covers.COMPONENT, problem.delta
        if belief.adds_up and populations.are_known:
            option = strongest(populations, epsilon, delta, self.name, dummies, radius)
            measured = f"delta {at_most(option.measured)}" if delta else f"epsilon {at_most(option.measured)}{at}"
            detail = f"one row tells {measured}"
            if belief.rows > 1:
                detail += f", of {belief.rows}"
            sender = option.sender
        else:
            loss, promise = hides_values(belief, populations, epsilon)
            reach = math.inf if radius is None else float(radius)
            mechanism = mechanism_of(self.kind, populations, dummies, reach)
            if mechanism is None:
                sender = least_loss(populations, [promise])
            else:
                sender = strongest_within(mechanism, populations, promise.epsilon, loss)
            detail = f"whatever its value, one row tells epsilon {at_most(loss(sender))}, of {belief.rows}"
            share = Fraction(0)
            if populations.apart is None:
                kind = Covers.EVERYTHING
        witness = Witness(farthest(belief, populations, sender), detail)
        noise = noise_of(sender, populations, belief)
        conditions = (*distances_of(belief, populations), *outside(belief, noise))
        return Bound(noise, problem.epsilon, share, kind, witness, conditions=conditions)


def hidden_at(secret: WhichPopulation, belief: FromPopulations, populations: Populations) -> Populations:
    """Return the populations with their distances, if epsilon is per unit of these."""
    if secret.metric is None:
        return populations
    distances = {pair: secret.distance(belief, *pair) for pair in populations.pairs}
    apart = {}
    for pair, distance in distances.items():
        if distance is None:
            return replace(populations, apart=dict.fromkeys(distances, Fraction(1)), are_known=False)
        if distance or not belief.adds_up:  # else the distributions are the same, and nothing is told
            apart[pair] = distance
    if not apart or not all(apart.values()):
        raise CalibrationRefused(
            "no noise is enough", rule="the distance of two populations is 0, so that what is sent may tell nothing",
            fix="declare distances above 0",
        ).at("metric")  # fmt: skip
    return replace(populations, apart=apart)


def hides_values(
    belief: FromPopulations, populations: Populations, epsilon: Fraction
) -> tuple[Callable[[Sender], float], LocalPrivacy | MetricPrivacy]:
    """Return what is asked of values: epsilon at the least distance, or per unit of it."""
    if populations.are_known:
        least = min(populations.distances_apart.values())
        return (lambda sender: sender.local_epsilon()), hides_value(epsilon * least)
    if not belief.adds_up:
        raise CalibrationRefused(
            "W-infinity says nothing", rule="W-infinity of counted populations is that of single rows, and the rows of "
            "a person may depend on each other", fix="declare the distances, or that rows are independent",
        ).at("metric")  # fmt: skip
    distances, promise = populations.distances, hides_distance(epsilon, populations.distance)
    return (lambda sender: loss_per_distance(sender.pointwise(), distances)), promise


def distances_of(belief: FromPopulations, populations: Populations) -> tuple[str, ...]:
    """Say how far populations are apart, for a certificate."""
    if populations.apart is None:
        return ()
    unit = f" {belief.measure}" if belief.measure else ""
    if not populations.are_known:
        return (
            f"epsilon is for 1{unit} of W-infinity, the least largest move that turns one population into the other; "
            "it holds for any two distributions of the values",
        )
    pairs = [
        f"{a!r} and {b!r} are {at_most(distance)}{unit} apart"
        for (a, b), distance in list(populations.apart.items())[:_MOST_PAIRS]
    ]
    more = len(populations.apart) - len(pairs)
    others = f" and {more} more" if more else ""
    return (f"epsilon is multiplied by the distance of two populations: {', '.join(pairs)}{others}",)


def outside(belief: FromPopulations, noise: Sending) -> tuple[str, ...]:
    """Describe the promise for populations outside of a counted class."""
    if belief.regions is None or not belief.adds_up:
        return ()
    most = belief.rows * noise.local_loss()
    loss = "without a bound" if math.isinf(most) else f"at most epsilon {at_most(most)}"
    return (f"outside of the class of populations what is sent of a person tells {loss}",)


def farthest(belief: FromPopulations, populations: Populations, sender: Sender) -> str:
    """Return the label of the two populations with the largest epsilon."""
    apart = populations.distances_apart
    pair, most = next(iter(apart)), -1.0
    if len(apart) > 1:
        for (a, b), distance in apart.items():
            loss = sender.epsilon(populations.only((a, b))) / float(distance)
            if loss > most:
                pair, most = (a, b), loss
    left, right = (PropertyIs(belief.which.describe_hypothesis(belief.populations.index(name))) for name in pair)
    return Comparison(belief, left, right).label


def noise_of(sender: Sender, populations: Populations, belief: FromPopulations) -> Sending:
    """Return a sender as the randomiser of a person's rows."""
    expected, worst = sender.expected_loss(populations), sender.worst_loss(populations)
    return Sending(belief.rows, expected, worst, belief.measure, sender)


RESPONSE, EXPONENTIAL, LAPLACE, LAPLACE_REMAPPED, RESTRICTED, TUPLING, OPTIMAL = map(Hiding, KINDS)
