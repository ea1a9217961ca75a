"""Distribution privacy: which population a person's rows come from (Kawamoto19 Definition 8).

Releases compose by what is known of the rows that they read (errata E9a):

* of rows that no other release reads, independent given the population, losses add up;
* of the same rows, the joint release loses at most what its channels lose together along a coupling
  (`local.together`), which is less than the sum of their local losses and may be infinite;
* where nothing is known of that, or releases read several columns, each costs its local loss for every row, which holds
  whatever the rows are.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

from takifugu.accounting.composition.losses import Joint, deltas, raised
from takifugu.accounting.composition.views import View
from takifugu.accounting.definitions import Definition
from takifugu.analysis import randomisers
from takifugu.analysis.guarantee import Charge, Covers
from takifugu.analysis.problem import Bound, Problem
from takifugu.analysis.randomisers import Randomiser
from takifugu.core.cache import cached
from takifugu.core.errors import CompositionRefused
from takifugu.core.escaping import number as written
from takifugu.core.names import budget_name
from takifugu.mechanisms.local.measuring import distribution_loss
from takifugu.mechanisms.local.over_classes import loss_over
from takifugu.mechanisms.local.sent import Sending
from takifugu.mechanisms.local.together import joint_losses, lifted_loss
from takifugu.model.beliefs.populations import FromPopulations
from takifugu.model.queries import EachValue
from takifugu.numbers.distributions.channel import Channel

_SENT = "each-value"


@dataclass(frozen=True)
class Distribution(Definition):
    """Every two populations, both ways, with weight 1; values and rows are not what is hidden."""

    name: str = "distribution"
    is_apart: bool = True
    error_words: str = "expected loss of one row"

    def joint(self, view: View, charges: Sequence[Charge], recharge: bool) -> Joint:
        """Return the least proven joint promise; CompositionRefused where there is none."""
        candidates = [_as_rows(view, charges), _as_whole(charges)]
        if not (proven := [joint for joint in candidates if joint is not None]):
            raise CompositionRefused(
                "releases that may read rows of one person together have no joint promise: one of them tells its value "
                "without a bound",
                rule="two randomised columns may reveal together what neither does alone",
                fix="name the batch of rows that each reads, if no row is in two of them and the rows of a person are "
                "independent of each other; or use a mechanism with a bound for every two values",
            )
        alone = [charge.epsilon for charge in charges if view.is_native(charge)]
        best = min(proven, key=lambda joint: (joint.epsilon, joint.delta))
        share = max([best.delta, *(charge.delta for charge in charges if view.is_native(charge))])
        return Joint(max([best.epsilon, *alone]), share, best.rule, best.covers)

    def too_little_noise(self, problem: Problem, noise: Randomiser) -> str | None:
        """Return why no noise is refused by default."""
        if noise.kind != "none":
            return None
        return "values would be sent as they are; allow_zero_noise=True accepts that"

    def hides_one_entry(self, problem: Problem, bound: Bound) -> bool:
        """Return True: values are not what this definition hides, and its promise says so."""
        return True

    def promise(self, epsilon: Fraction, delta: Fraction) -> str:
        factor = f" = {written(math.exp(epsilon), digits=4)}" if epsilon < 100 else ""
        words = (
            "whatever is published about a person's rows, it is at most "
            f"e^{written(epsilon)}{factor} times as likely from one population as from any other"
        )
        return words if delta == 0 else f"{words}, but for an excess probability of at most {written(delta)}"

    def in_short(self, hidden: Sequence[str], beliefs: Sequence[str], secrets: Sequence[str]) -> str:
        return (
            "this hides which population each person belongs to; the values themselves, how many rows there are, whose "
            "they are and everything else about a person are not hidden by this promise"
        )

    def composes(self, covers: str) -> str:
        """Return how a release composes with others, in the words of a certificate."""
        return _COMPOSES if covers == Covers.COMPONENT else _WHOLE

    def not_promised(self) -> tuple[str, ...]:
        """Return what the promise does not cover, in the words of a certificate."""
        return (
            "that values stay secret: whoever knows a person's population may learn from what is sent where the person "
            "was, or what was answered",
            "anything about populations that are not listed, or if these are distributed otherwise",
            "anything in combination with what is published elsewhere without this ledger",
        )


_WHOLE = (
    "What is sent covers every change of a person's rows, whatever they are; the release composes with any other: "
    "epsilons add."
)
_COMPOSES = (
    "Releases about other rows of a person add up, where rows are independent given the population and each release "
    "names its batch of rows. Releases about the same rows cost what all of them tell of a value along a coupling of "
    "the populations; where neither is known, each costs what it tells of the values themselves. The ledger computes "
    "it."
)


def _as_rows(view: View, charges: Sequence[Charge]) -> Joint | None:
    """Return what releases promise together by the rows that they read; None where nothing is known of these."""
    belief: Any = view.framework.beliefs[0] if len(view.framework.beliefs) == 1 else None
    sent = [charge for charge in charges if charge.query.get("kind") == _SENT]
    others = [charge for charge in charges if charge.query.get("kind") != _SENT]
    groups: dict[tuple[str, Hashable], list[Charge]] = {}
    queries = [EachValue.from_dict(charge.query) for charge in sent]
    if len({query.columns for query in queries}) > 1:
        return None  # nothing is believed about what one column says of another
    for number, (charge, query) in enumerate(zip(sent, queries, strict=True)):
        batch = budget_name(query.batch)  # another spelling is no other batch
        groups.setdefault(("batch", batch) if batch else ("read", charge.reading or number), []).append(charge)
    apart = all(kind == "batch" for kind, _ in groups)
    if belief is None or (len(groups) > 1 and not (apart and belief.adds_up and belief.independent)):
        return None
    total, share = sum((charge.epsilon for charge in others), Fraction(0)), deltas(others)
    for group in groups.values():
        cost = _same_rows(view, belief, group)
        if math.isinf(cost):
            return None
        total += Fraction(cost)
        if len(group) == 1 and group[0].covers is not Covers.EVERYTHING:
            before = [charge for charge in _before(charges, group[0]) if charge.query.get("kind") != _SENT]
            if any(charge.delta for charge in before):
                return None
            share += raised(group[0].delta, sum((charge.epsilon for charge in before), Fraction(0)))
        elif len(group) == 1:
            share += group[0].delta  # several are charged by a loss without a delta
    several = len(sent) > 1
    rule = "sum over batches of rows" if len(groups) > 1 else "along a coupling" if several else "alone"
    return Joint(total, share, rule, _kind(charges))


def _before(charges: Sequence[Charge], one: Charge) -> Sequence[Charge]:
    """Return the releases after whose outputs one may have been chosen."""
    return () if one.fixed_in_advance else charges[: max(n for n, charge in enumerate(charges) if charge is one)]


def _same_rows(view: View, belief: FromPopulations, group: Sequence[Charge]) -> Fraction | float:
    """Return what releases about the same rows of a person cost together; it may be infinite."""
    if len(group) == 1 and view.is_native(group[0]):
        return group[0].epsilon
    noises = [_noise(charge) for charge in group]
    rows = max([belief.rows, *(noise.rows for noise in noises)])
    if any(noise.sender.values != belief.values for noise in noises) or not belief.adds_up:
        return _whatever(noises)
    channel = noises[0].sender.only_channel if len(group) == 1 else None
    if channel is not None:
        return _times(rows, _measured(belief, channel))
    if belief.regions is not None:
        return _whatever(noises)  # how the populations couple is not known
    return _times(rows, lifted_loss(belief.laws, joint_losses(noises)))


def _whatever(noises: Sequence[Sending]) -> Fraction | float:
    """Return what is lost when all rows of a person change, in every release; it may be infinite."""
    losses = [noise.loss(Fraction(1)) for noise in noises]
    return math.inf if any(map(math.isinf, losses)) else sum((Fraction(loss) for loss in losses), Fraction(0))


def _measured(belief: FromPopulations, channel: Channel) -> float:
    if belief.regions is not None:
        return loss_over(channel, belief.regions)
    laws = [dict(zip(belief.values, law, strict=True)) for law in belief.laws]
    return max(distribution_loss(channel, p, q) for n, p in enumerate(laws) for q in laws[:n])


def _times(rows: int, loss: float) -> Fraction | float:
    return math.inf if math.isinf(loss) else rows * Fraction(loss)


def _noise(charge: Charge) -> Sending:
    return cached(charge, _noise, lambda: cast(Sending, randomisers.from_dict(charge.randomiser)))


def _as_whole(charges: Sequence[Charge]) -> Joint | None:
    """Return the sum of what each release loses when all rows of a person change; None where one has no bound."""
    total = Fraction(0)
    for charge in charges:
        if charge.query.get("kind") != _SENT:
            total += charge.epsilon
            continue
        cost = _whatever([_noise(charge)])
        if math.isinf(cost):
            return None
        total += Fraction(cost)
    late = sum((charge.delta for charge in charges if charge.query.get("kind") != _SENT), Fraction(0))
    return Joint(total, late, "whatever the rows are", _kind(charges))


def _kind(charges: Sequence[Charge]) -> Covers:
    return Covers.COMPONENT if any(c.covers is Covers.COMPONENT for c in charges) else Covers.EVERYTHING


DISTRIBUTION = Distribution()
