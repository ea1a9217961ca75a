"""Pufferfish (Song17 Definition 2.1; Kifer and Machanavajjhala) and attribute privacy (Zhang22 Definitions 3 and 4).

Attribute privacy is Pufferfish with other secrets, so releases compose as they do there. What is hidden is a property
of the records at hand or a parameter of their population, not a row: noise may leave more of a row to be seen, but not
the exact answer (docs/decisions.md#zero-noise).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from takifugu.accounting.definitions import Definition, but_for
from takifugu.analysis.bounds import Bound
from takifugu.analysis.guarantee import Charge
from takifugu.analysis.problem import Problem
from takifugu.analysis.sensitivity import change_to_hide
from takifugu.core.escaping import power_at_most

if TYPE_CHECKING:
    from takifugu.accounting.composition.losses import Joint
    from takifugu.accounting.composition.views import View


@dataclass(frozen=True)
class Pufferfish(Definition):
    """Every pair of every secret under every belief, both ways, weighted 1."""

    name: str = "pufferfish"

    def joint(self, view: View, charges: Sequence[Charge], is_alone: bool) -> Joint:
        from takifugu.accounting.composition.least import least_of_all

        return least_of_all(view, charges, is_alone)

    def hides_one_entry(self, problem: Problem, bound: Bound) -> bool:
        """Return whether noise alone hides one entry from those knowing the rest."""
        change = change_to_hide(problem, bound.randomiser.norm, self.hides_rows)
        return bound.randomiser.hides(change, bound.epsilon, bound.delta)

    def promise(self, epsilon: Fraction, delta: Fraction) -> str:
        words = "the output changes the odds of any secret, against its alternative, by a factor of at most"
        return but_for(f"{words} {power_at_most(epsilon)}", delta)


PUFFERFISH = Pufferfish()


@dataclass(frozen=True)
class Attribute(Pufferfish):
    """Every two values of a property or parameter, both ways, weighted 1."""

    name: str = "attribute"
    hides_rows: bool = False
    without_noise: str = (
        "no noise at all would be added: only the randomness that the belief assumes would hide the property"
    )

    def not_in_short(self, many: str) -> str:
        return "single rows, and facts that are not listed as secrets"

    def hides_one_entry(self, problem: Problem, bound: Bound) -> bool:
        """Return True: rows are not hidden, as the promise says itself."""
        return True

    def not_promised(self) -> tuple[str, ...]:
        """Name those not protected, and the dangers."""
        return (
            *super().not_promised(),
            "the share of a single row in the answer: someone who knows all other rows may read it off with a "
            "probability of up to 95 %",
        )

    def in_short(self, hidden: Sequence[str], beliefs: Sequence[str], secrets: Sequence[str]) -> str:
        """Name the hidden, the readers and the setting."""
        settings = [_SETTINGS[kind] for kind in dict.fromkeys(secrets) if kind in _SETTINGS]
        setting = ""
        if settings:
            setting = f" ({'; and '.join(settings)})"
        if len(beliefs) == 1:
            whom = f"{beliefs[0]}"
        else:
            whom = f"one of the {len(beliefs)} below"
        return (
            f"it protects {' and '.join(hidden)}{setting} against readers whose model of the data is {whom}. Single "
            "rows are not protected"
        )


#: The two settings of Zhang22, by the kind of secret.
_SETTINGS = {
    "dataset-property": "what these very records add up to, not a parameter of the population that they come from",
    "distribution-parameter": "a parameter of the population that the records come from, not what these records add up "
    "to",
}

ATTRIBUTE = Attribute()
