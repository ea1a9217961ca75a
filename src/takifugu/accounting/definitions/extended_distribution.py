"""Extended distribution privacy: epsilon per unit of distance between populations (Kawamoto19 Definition 9).

A total is the largest loss of two populations divided by their distance. W-infinity of counted populations is not
known: then the largest loss of two *values* divided by theirs holds for any two distributions (Theorem 2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from takifugu.accounting.composition.views import View
from takifugu.accounting.definitions.distribution import Distribution
from takifugu.accounting.definitions.rows import (
    Loss,
    is_sent,
    loss_of_pair,
    loss_of_values,
    most_of_rows,
    readings_of,
)
from takifugu.accounting.suspicion import explain, sentence
from takifugu.analysis.guarantee import Charge
from takifugu.analysis.problem import Problem
from takifugu.core.escaping import at_most


@dataclass(frozen=True)
class Extended(Distribution):
    """Every two populations, both ways, with their distance as weight; rows are not hidden."""

    name: str = "extended-distribution"
    per_distance: bool = True

    def loss(self, view: View, charges: Sequence[Charge]) -> Loss:
        """Return the largest proven loss per unit of distance, maybe infinite."""
        secret: Any = view.framework.secrets[0]
        beliefs: Any = view.framework.beliefs
        readings = readings_of(filter(is_sent, charges))
        promised = sum((charge.epsilon for charge in charges if not is_sent(charge)), Fraction(0))
        losses: list[Loss] = [Fraction(0)]
        for belief in beliefs:
            for pair in combinations(belief.populations, 2):
                distance = secret.distance(belief, *pair)
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

    def remarks(self, problem: Problem) -> tuple[str, ...]:
        """Return a remark on the loss of a row, however often sent."""
        secret: Any = problem.framework.secrets[0]
        losses: list[Loss] = []
        beliefs: Any = problem.framework.beliefs
        for belief in beliefs:
            for pair in combinations(belief.populations, 2):
                if distance := secret.distance(belief, *pair):
                    losses.append(most_of_rows([belief.only(pair)]) / distance)
        if not losses or math.isinf(max(losses)):
            return ()
        return (
            f"however often the same rows are sent, by whichever mechanism, they tell at most epsilon "
            f"{at_most(max(losses), digits=4)} in all at a distance of 1",
        )

    def promise(self, epsilon: Fraction, delta: Fraction) -> str:
        words = (
            "whatever is published about a person's rows, it is at most "
            f"e^({at_most(epsilon)} d) times as likely from one population as from another one at distance d"
        )
        if delta == 0:
            return words
        return f"{words}, but for an excess probability of at most {at_most(delta)}"

    def in_numbers(self, epsilon: Fraction, delta: Fraction) -> list[str]:
        """Put the promise for a distance of 1 in a sentence about a suspicion."""
        return [f"at a distance of 1: {sentence(explain('50 %', epsilon, delta))}"]


EXTENDED = Extended()
