"""Attribute privacy: properties of whole columns compared both ways under every belief (Zhang22 Definitions 3 and 4).

It is Pufferfish with other secrets, so releases compose as they do there. What is hidden is a property of the records
at hand or a parameter of their population, not a row: noise that would not hide one row is no fault here, and only
noise of exactly zero is refused by default (docs/decisions.md#zero-noise).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from takifugu.accounting.definitions.pufferfish import Pufferfish
from takifugu.analysis.bounds import Bound
from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import Randomiser


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
