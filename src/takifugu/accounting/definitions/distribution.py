"""Distribution privacy, and epsilon per unit of distance between populations (Kawamoto19 Definitions 8 and 9).

Releases compose by what is known of the rows that they read (errata E9a, `definitions.rows`). A release under another
definition costs what its noise loses when all data change, which holds whatever the rows are.

A total is the largest loss of two populations divided by their distance. W-infinity of counted populations is not
known: then the largest loss of two *values* divided by theirs holds for any two distributions (Theorem 2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, cast

from takifugu.accounting.composition.losses import Joint
from takifugu.accounting.composition.views import View
from takifugu.accounting.definitions import Definition, but_for
from takifugu.accounting.definitions.rows import (
    Loss,
    cap,
    delta_of_rows,
    is_sent,
    loss_of_pair,
    loss_of_values,
    readings_of,
)
from takifugu.accounting.suspicion import explain, sentence
from takifugu.analysis.bounds import Bound
from takifugu.analysis.guarantee import Charge, Covers
from takifugu.analysis.problem import Problem
from takifugu.core.errors import CompositionRefused
from takifugu.core.escaping import at_most, power_at_most
from takifugu.model.beliefs.populations import FromPopulations
from takifugu.model.frameworks import OF_ROWS, Framework


@dataclass(frozen=True)
class Distribution(Definition):
    """Every two populations, both ways, with weight 1; rows are not hidden."""

    name: str = "distribution"
    is_apart: bool = True
    error_words: str = "expected loss of one row"
    hides_rows: bool = False
    without_noise: str = "values would be sent as they are"
    reads_alike: tuple[str, ...] = OF_ROWS
    of_what: str = "of the population in all"

    def not_in_short(self, many: str) -> str:
        return "the values themselves, and populations that are not listed"

    def joint(self, view: View, charges: Sequence[Charge], is_alone: bool) -> Joint:
        """Return the least proven joint promise; raises CompositionRefused where there is none."""
        loss = self.loss(view, charges)
        if math.isinf(loss):
            raise CompositionRefused(
                "releases that may read rows of one person together have no joint promise: one of them tells its value "
                "without a bound, and so does the value the population",
                rule="two randomised columns may reveal together what neither does alone",
                fix="name the batch of rows that each reads, if no row is in two of them and the rows of a person are "
                "independent of each other; or use a mechanism with a bound for every two values",
            )
        total, share = Fraction(loss), min(Fraction(1), delta_of_rows(charges))
        has_components = any(charge.covers is Covers.COMPONENT for charge in charges)
        rule = "alone" if len(charges) == 1 else "row by row"
        return Joint(total, share, rule, Covers.COMPONENT if has_components else Covers.EVERYTHING)

    def distance(self, framework: Framework, belief: FromPopulations, pair: tuple[str, str]) -> Fraction | None:
        """Return what the loss of two populations is divided by, None where that is not known."""
        return Fraction(1)

    def loss(self, view: View, charges: Sequence[Charge]) -> Loss:
        """Return the largest proven loss per unit of distance, maybe infinite."""
        readings = readings_of(filter(is_sent, charges))
        promised = sum((charge.epsilon for charge in charges if not is_sent(charge)), Fraction(0))
        losses: list[Loss] = [Fraction(0)]
        for belief in cast(Sequence[FromPopulations], view.framework.beliefs):
            for pair in combinations(belief.populations, 2):
                distance = self.distance(view.framework, belief, pair)
                if distance is None and (promised or not belief.adds_up):
                    losses.append(math.inf)  # two populations may be as near as one likes
                    continue
                if distance is None:  # per unit of W-infinity of any two populations
                    losses.append(sum((loss_of_values(view, belief, reading) for reading in readings), Fraction(0)))
                    continue
                loss = promised + loss_of_pair(view, belief, pair, charges, distance)
                if distance:
                    losses.append(loss / distance)
                elif loss:
                    losses.append(math.inf)
        return max(losses)

    def hides_one_entry(self, problem: Problem, bound: Bound) -> bool:
        """Return True: values are not hidden, as the promise says itself."""
        return True

    def remarks(self, problem: Problem) -> tuple[str, ...]:
        """Return a remark on the loss of a row, however often sent."""
        losses: list[Loss] = []
        for belief in cast(Sequence[FromPopulations], problem.framework.beliefs):
            for pair in combinations(belief.populations, 2):
                if distance := self.distance(problem.framework, belief, pair):
                    losses.append(cap(belief.only(pair), belief.rows) / distance)
        if not losses or math.isinf(max(losses)):
            return ()
        return (
            f"however often the same rows are sent, by whichever mechanism, they tell at most epsilon "
            f"{at_most(max(losses), digits=4)} {self.of_what}",
        )

    def promise(self, epsilon: Fraction, delta: Fraction) -> str:
        words = "times as likely from one population as from any other"
        return but_for(f"any output about a person's rows is at most {power_at_most(epsilon)} {words}", delta)

    def in_short(self, hidden: Sequence[str], beliefs: Sequence[str], secrets: Sequence[str]) -> str:
        return (
            "it protects which population each person belongs to. The values themselves, how many rows there are, "
            "whose they are and everything else about a person are not protected"
        )

    def composes(self, covers: str) -> str:
        """Say how a release composes, for a certificate."""
        return _COMPOSES if covers == Covers.COMPONENT else _WHOLE

    def not_promised(self) -> tuple[str, ...]:
        """Name the limits of the promise, for a certificate."""
        return (
            "the values: someone who knows a person's population may learn from the output where the person was, or "
            "what the person answered",
            "the value of a single row: someone who knows all else may read it off with a probability of up to 95 %",
            "populations that are not listed, or that are distributed otherwise",
            "anything combined with publications outside this ledger",
        )


_WHOLE = (
    "What is sent covers every change of a person's rows, whatever they are; the release composes with any other: "
    "epsilons add."
)
_COMPOSES = (
    "Releases about other rows of a person add up, where rows are independent given the population and each release "
    "names its batch of rows. Releases about the same rows cost what all their outputs together tell of the "
    "population, counted exactly where they can be listed, and never more than the value itself tells. Where it is "
    "not known which rows are the same, each costs the less of that and of what it tells of the value. The ledger "
    "computes it."
)


DISTRIBUTION = Distribution()


@dataclass(frozen=True)
class Extended(Distribution):
    """Every two populations, both ways, with their distance as weight; rows are not hidden."""

    name: str = "extended-distribution"
    per_distance: bool = True
    of_what: str = "in all at a distance of 1"

    def distance(self, framework: Framework, belief: FromPopulations, pair: tuple[str, str]) -> Fraction | None:
        secret: Any = framework.secrets[0]
        between: Fraction | None = secret.distance(belief, *pair)
        return between

    def promise(self, epsilon: Fraction, delta: Fraction) -> str:
        words = "times as likely from one population as from another one at distance d"
        return but_for(f"any output about a person's rows is at most e^({at_most(epsilon)} d) {words}", delta)

    def in_numbers(self, epsilon: Fraction, delta: Fraction) -> list[str]:
        """Put the promise for a distance of 1 in a sentence about a suspicion."""
        return [f"at a distance of 1: {sentence(explain('50 %', epsilon, delta))}"]


EXTENDED = Extended()
