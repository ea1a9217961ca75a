"""Pufferfish (Song17 Definition 2.1; Kifer and Machanavajjhala) and attribute privacy (Zhang22 Definitions 3 and 4).

It is Pufferfish with other secrets, so releases compose as they do there. What is hidden is a property of the records
at hand or a parameter of their population, not a row: noise that would not hide one row is no fault here, and only
noise of exactly zero is refused by default (docs/decisions.md#zero-noise).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from takifugu.accounting.definitions import Definition
from takifugu.analysis.bounds import Bound
from takifugu.analysis.guarantee import Charge
from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import Noise, Randomiser
from takifugu.analysis.sensitivity import entry_change, hidden_change
from takifugu.core.escaping import at_most, number, power_at_most
from takifugu.mechanisms.common.lines import along_line

if TYPE_CHECKING:
    from takifugu.accounting.composition.losses import Joint
    from takifugu.accounting.composition.views import View


@dataclass(frozen=True)
class Pufferfish(Definition):
    """Every pair of every secret under every belief, both ways, weighted 1."""

    name: str = "pufferfish"

    def joint(self, view: View, charges: Sequence[Charge], recharge: bool) -> Joint:
        from takifugu.accounting.composition.sums import joint_promise

        return joint_promise(view, charges, recharge)

    def too_little_noise(self, problem: Problem, noise: Randomiser) -> str | None:
        """Return the reason to refuse this noise, or None.

        Refused are no noise, and unbounded additive noise with P(|noise| < D_1/2) > 1 - e^-epsilon + delta in some
        cell, where D_1 is the cell's largest change when one secret entry changes, and the noise is taken before
        rounding. Source: docs/decisions.md#zero-noise.
        """
        if noise.kind == "none":
            return (
                "no noise at all would be added: only the randomness that the belief assumes would hide the secret; "
                "allow_zero_noise=True accepts that"
            )
        change = coordinate_change(problem)
        if not isinstance(noise, Noise) or change == 0:
            return None
        if noise.laplace_scale and change <= problem.epsilon * noise.laplace_scale:
            return None  # ordinary entry noise passes: 2 a^ceil(D/2)/(1 + a) >= a^D and e^(-D/2b) >= e^(-D/b)
        needed = math.exp(-problem.epsilon) - float(problem.delta)
        if needed <= 0 or noise.log_reach(change / 2) >= math.log(needed):
            return None
        return (
            f"noise of scale {number(noise.scale)} is small beside what one value changes ({number(change)}): "
            "mostly the randomness that the belief assumes would hide the secret; allow_zero_noise=True accepts that"
        )

    def hides_one_entry(self, problem: Problem, bound: Bound) -> bool:
        """Return whether noise alone hides one entry from those knowing the rest.

        Laplace noise of scale b hides a change by D_1 <= epsilon * b; normal noise one whose exact delta is small
        enough; a choice among outputs all changes, where it keeps the promise for every pair of answers.
        """
        return bound.randomiser.hides(entry_change(problem) * problem.grid, bound.epsilon, bound.delta)

    def promise(self, epsilon: Fraction, delta: Fraction) -> str:
        words = (
            f"what is published makes no hidden possibility more likely, relative to any other, by a factor of more "
            f"than {power_at_most(epsilon)}"
        )
        if delta == 0:
            return words
        return f"{words}, up to an excess probability of at most {at_most(delta)}"


def coordinate_change(problem: Problem) -> Fraction:
    """Return D_1, the largest change of one cell by one secret entry.

    D_1 is in answer units; 0 for `between`. Cells that move along one line tell as much together as one that moves by
    their L1 change (`common.lines`).
    """
    most = Fraction(0)
    for part in problem.parts:
        change = hidden_change(part)
        if change is not None:
            most = max(most, change[0])
        else:
            share = along_line(part.answer) or part.answer
            most = max(most, Fraction(share.coordinate_change(part.family.entries)))
    return most * problem.grid


PUFFERFISH = Pufferfish()


@dataclass(frozen=True)
class Attribute(Pufferfish):
    """Every two values of a property or parameter, both ways, weighted 1."""

    name: str = "attribute"

    def too_little_noise(self, problem: Problem, noise: Randomiser) -> str | None:
        """Refuse no noise: only the belief's randomness would hide the property."""
        if noise.kind != "none":
            return None
        return (
            "no noise at all would be added: only the randomness that the belief assumes would hide the property; "
            "allow_zero_noise=True accepts that"
        )

    def hides_one_entry(self, problem: Problem, bound: Bound) -> bool:
        """Return True: rows are not hidden, as the promise says itself."""
        return True

    def remarks(self, problem: Problem) -> tuple[str, ...]:
        """Return remarks from ordinary differential privacy."""
        from takifugu.mechanisms.attribute.ordinary import ordinary_noise  # it loads the laws of answers

        noise = ordinary_noise(problem)
        return () if noise is None else (noise.describe(),)

    def in_short(self, hidden: Sequence[str], beliefs: Sequence[str], secrets: Sequence[str]) -> str:
        """Name the hidden, the adversary and the setting.

        >>> print(ATTRIBUTE.in_short(["the mean of 'age' of the records at hand"], ["..."], ["dataset-property"])[:87])
        this hides the mean of 'age' of the records at hand (what these very records add up to,
        """
        settings = [_SETTINGS[kind] for kind in dict.fromkeys(secrets) if kind in _SETTINGS]
        setting = ""
        if settings:
            setting = f" ({'; and '.join(settings)})"
        if len(beliefs) == 1:
            whom = f"that the data are {beliefs[0]}"
        else:
            whom = f"one of the {len(beliefs)} things below"
        return (
            f"this hides {' and '.join(hidden)}{setting} from anyone who believes {whom}; single rows are not hidden "
            "by this promise"
        )


#: The two settings of Zhang22, by the kind of secret.
_SETTINGS = {
    "dataset-property": "what these very records add up to, not a parameter of the population that they come from",
    "distribution-parameter": "a parameter of the population that the records come from, not what these records add up "
    "to",
}

ATTRIBUTE = Attribute()
