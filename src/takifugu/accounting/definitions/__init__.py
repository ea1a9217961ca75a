"""Definitions of privacy: which comparisons there are, how releases compose, which noise is refused, which words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Protocol

from takifugu.accounting.composition.losses import Joint
from takifugu.accounting.composition.views import View
from takifugu.analysis.guarantee import Charge
from takifugu.analysis.problem import Bound, Problem
from takifugu.analysis.randomisers import Randomiser
from takifugu.model.frameworks import DEFINITIONS, Framework
from takifugu.model.secrets.hypotheses import Comparison


class Definition(Protocol):
    """What a framework means: an epsilon bounds every one of its comparisons, in the order that it is made in."""

    @property
    def name(self) -> str: ...

    @property
    def one_way(self) -> bool:
        """Whether a -> b may be compared without b -> a."""
        ...

    def comparisons(self, framework: Framework) -> Iterator[Comparison]:
        """Enumerate every ordered comparison: for tests and small cases."""
        ...

    def joint(self, view: View, charges: Sequence[Charge], recharge: bool) -> Joint:
        """Return what releases promise together; each charge is of this definition or was made so by `converted`."""
        ...

    def converted(self, charge: Charge) -> Charge:
        """Return a charge of any definition as one of this; CompositionRefused where nothing finite is proved."""
        ...

    def too_little_noise(self, problem: Problem, noise: Randomiser) -> str | None:
        """Return why `calibrate` refuses this noise by default, or None."""
        ...

    def hides_one_entry(self, problem: Problem, bound: Bound) -> bool:
        """Return whether the noise alone hides one entry, at the promise, from someone who knows all others."""
        ...

    def promise(self, epsilon: Fraction, delta: Fraction) -> str:
        """Word the promise for a certificate."""
        ...

    def in_numbers(self, epsilon: Fraction, delta: Fraction) -> list[str]:
        """Say what the promise means for a suspicion, in sentences; none where the definition has no such reading."""
        ...

    def in_short(self, hidden: Sequence[str], beliefs: Sequence[str], secrets: Sequence[str]) -> str:
        """Say in one sentence what is hidden, from whom, under which belief; nothing where the lists say it better.

        `secrets` are the kinds of secrets, as they are written down.
        """
        ...


def register(definition: Definition) -> None:
    """Let a definition written elsewhere be found by its name; InputError for a name that is taken."""
    DEFINITIONS.register(definition.name, definition)


def find(name: str) -> Definition:
    """Return a definition by its name; InputError for an unknown one.

    >>> find("pufferfish").one_way
    False
    """
    definition: Definition = DEFINITIONS.find(name)
    return definition
