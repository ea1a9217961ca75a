"""The mechanisms of `local.choosing` as mechanisms of the registry: what keeps a promise about one person's rows.

Of r rows that are independent given the population, each is given epsilon / r and delta / r of distribution privacy:
the distributions of all rows are products, so that losses add up. Of rows that may depend on each other each is given
epsilon / r of *local* privacy, since nothing is known of their joint distribution but what any rows can be; metric
privacy times the W-infinity of single rows would not do (x, x against x, 1 - x for a fair coin has 0).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Bound, Cost, Problem, Refusal, Witness
from takifugu.core.errors import CalibrationRefused
from takifugu.core.text.tables import number
from takifugu.mechanisms.local.choosing import least_loss, mechanisms, strongest, strongest_locally
from takifugu.mechanisms.local.populations import Populations, populations_of
from takifugu.mechanisms.local.promises import hides_value
from takifugu.mechanisms.local.senders import Sender
from takifugu.mechanisms.local.sent import Sending
from takifugu.model.beliefs.populations import FromPopulations
from takifugu.model.frameworks import definition_of
from takifugu.model.queries import EachValue
from takifugu.model.secrets.hypotheses import Comparison, PropertyIs


@dataclass(frozen=True)
class Hiding:
    """One mechanism: its channel, as strong as the promise about a person's rows allows."""

    name: str
    source: str
    #: Predicted operations per pair of values, and for each dummy.
    work: float = 4e3

    def cost(self, problem: Problem) -> Cost:
        count = max((len(belief.alphabet(0)) for belief in problem.framework.beliefs), default=0)
        return Cost(self.work * count**2, 100.0 * count**2)

    def bound(self, problem: Problem) -> Bound | Refusal:
        beliefs: Any = problem.framework.beliefs
        if not isinstance(problem.query, EachValue):
            return Refusal("it randomises each row's value, and another answer is published")
        if any(definition_of(secret) != "distribution" for secret in problem.framework.secrets):
            return Refusal("it hides which population rows come from, and something else is hidden")
        if len(beliefs) != 1:
            return Refusal("it takes all populations in one belief, and there are several")
        dummies = problem.query.dummies
        if dummies and self.name != "tupling":
            return Refusal("each value is published among dummies, and it sends none")
        if not dummies and self.name == "tupling":
            return Refusal("it sends each value among dummies, and none are published: ask for dummies")
        populations = populations_of(beliefs[0])
        if self.name not in mechanisms(populations):
            return Refusal("it moves places, and the values are none, or do not fill a box of equal cells")
        try:
            return self._bound(problem, beliefs[0], populations, dummies or 10)
        except CalibrationRefused as refusal:
            return Refusal(refusal.rule or str(refusal))

    def _bound(self, problem: Problem, belief: FromPopulations, populations: Populations, dummies: int) -> Bound:
        epsilon, delta = problem.epsilon / belief.rows, problem.delta / belief.rows
        if belief.adds_up:
            option = strongest(populations, epsilon, delta, self.name, dummies)
            measured = f"delta {number(option.measured)}" if delta else f"epsilon {number(option.measured)}"
            detail = f"one row tells {measured}"
            if belief.rows > 1:
                detail += f", of {belief.rows}"
            sender, kind, share = option.sender, Covers.COMPONENT, problem.delta
        else:
            mechanism = mechanisms(populations, dummies)[self.name]
            if mechanism is None:
                sender = least_loss(populations, [hides_value(epsilon)])
            else:
                sender = strongest_locally(mechanism, populations, epsilon)
            detail = f"whatever its value, one row tells epsilon {number(sender.local_epsilon())}, of {belief.rows}"
            kind, share = Covers.EVERYTHING, Fraction(0)
        witness = Witness(farthest(belief, populations, sender), detail)
        noise = noise_of(sender, populations, belief)
        return Bound(noise, problem.epsilon, share, kind, witness, conditions=outside(belief, noise))


def outside(belief: FromPopulations, noise: Sending) -> tuple[str, ...]:
    """Describe the promise for populations outside of a counted class."""
    if belief.regions is None or not belief.adds_up:
        return ()
    most = belief.rows * noise.local_loss()
    loss = "without a bound" if math.isinf(most) else f"at most epsilon {number(most)}"
    return (f"outside of the class of populations what is sent of a person tells {loss}",)


def farthest(belief: FromPopulations, populations: Populations, sender: Sender) -> str:
    """Return the label of the two populations with the largest epsilon."""
    pair, most = populations.pairs[0], -1.0
    if len(populations.pairs) > 1:
        for a, b in populations.pairs:
            loss = sender.epsilon(populations.only((a, b)))
            if loss > most:
                pair, most = (a, b), loss
    left, right = (PropertyIs(belief.which.describe_hypothesis(belief.populations.index(name))) for name in pair)
    return Comparison(belief, left, right).label


def noise_of(sender: Sender, populations: Populations, belief: FromPopulations) -> Sending:
    """Return a sender as the randomiser of a person's rows."""
    expected, worst = sender.expected_loss(populations), sender.worst_loss(populations)
    return Sending(belief.rows, expected, worst, belief.measure, sender)


_MEASURED = "what it tells about the population is measured exactly"
RESPONSE = Hiding("randomised-response", f"Kairouz, Oh and Viswanath 2014; {_MEASURED}")
RAPPOR = Hiding("rappor", f"Erlingsson, Pihur and Korolova 2014; {_MEASURED}")
EXPONENTIAL = Hiding("exponential", f"McSherry and Talwar 2007; {_MEASURED}")
LAPLACE = Hiding("planar-laplace", f"Andrés, Bordenabe, Chatzikokolakis and Palamidessi 2013, on a grid; {_MEASURED}")
NORMAL = Hiding("planar-normal", f"normal noise in the plane, on a grid; {_MEASURED}")
LAPLACE_REMAPPED = Hiding(
    "planar-laplace-remapped", f"Andrés et al. 2013, rounded to cells and remapped into the box; {_MEASURED}"
)
NORMAL_REMAPPED = Hiding(
    "planar-normal-remapped", f"normal noise in the plane, rounded to cells and remapped into the box; {_MEASURED}"
)
TUPLING = Hiding("tupling", "Kawamoto and Murakami 2019, Algorithm 1, with its exact delta", 2e4)
OPTIMAL = Hiding("optimal", "the least expected loss of one value, by a linear program, repaired and measured", 5e4)
