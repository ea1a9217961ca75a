"""Definitions of privacy: which comparisons there are, how releases compose, which noise is refused, which words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from takifugu.accounting.suspicion import explain, sentence
from takifugu.analysis.bounds import Bound
from takifugu.analysis.guarantee import Charge
from takifugu.analysis.problem import Problem
from takifugu.core.errors import InputError
from takifugu.core.escaping import at_most
from takifugu.model import secrets
from takifugu.model.frameworks import DEFINITIONS, Framework
from takifugu.model.secrets.hypotheses import Comparison

if TYPE_CHECKING:
    from takifugu.accounting.composition.losses import Joint
    from takifugu.accounting.composition.views import View


class Definition:
    """The meaning of a framework: epsilon bounds each of its ordered comparisons.

    A derived definition says how releases add up (`joint`) and what is promised; all else has an answer here, the
    careful one.
    """

    name: str = ""
    #: Whether a -> b may be compared without b -> a.
    one_way: bool = False
    #: Whether no mechanism that is proved for Pufferfish alone is asked, or told of in a comparison.
    is_apart: bool = False
    #: Definitions whose charges are read as they are, beside its own.
    reads_alike: tuple[str, ...] = ()
    #: Whether epsilon is multiplied by the distance of what is compared.
    per_distance: bool = False
    #: What an expected error is, where it is not the usual.
    error_words: str = ""
    #: Whether one row is hidden from someone who knows all others (the gate on noise asks less where not).
    hides_rows: bool = True
    #: What is said of a release without noise, which is refused by default.
    without_noise: str = (
        "no noise at all would be added: only the randomness that the belief assumes would hide the secret"
    )

    def comparisons(self, framework: Framework) -> Iterator[Comparison]:
        """Enumerate every ordered comparison, for tests and small cases."""
        for belief in framework.beliefs:
            for secret in framework.secrets:
                yield from secrets.comparisons(secret, belief)

    def joint(self, view: View, charges: Sequence[Charge], is_alone: bool) -> Joint:
        """Return the joint promise of charges of this definition, with no others if `is_alone`.

        A charge of another definition is made one about every change of the data, which costs what it loses then.
        """
        raise NotImplementedError

    def met(self, frameworks: Sequence[Framework]) -> Framework | None:
        """Return one framework for several, or None to charge each of them."""
        return None

    def hides_one_entry(self, problem: Problem, bound: Bound) -> bool:
        """Return whether noise alone hides one entry from those knowing the rest."""
        return False

    def remarks(self, problem: Problem) -> tuple[str, ...]:
        """Return remarks on a comparison of mechanisms."""
        return ()

    def promise(self, epsilon: Fraction, delta: Fraction) -> str:
        """Word the promise for a certificate."""
        raise NotImplementedError

    def in_numbers(self, epsilon: Fraction, delta: Fraction) -> list[str]:
        """Put the promise in sentences about a suspicion, if it has any."""
        return [sentence(explain(prior, epsilon, delta)) for prior in ("10 %", "50 %")]

    def in_short(self, hidden: Sequence[str], beliefs: Sequence[str], secrets: Sequence[str]) -> str:
        """Sum up in one sentence the hidden, the adversary and the belief.

        "" where the lists say it better. `secrets` are the kinds of secrets in their written names.
        """
        return ""

    def composes(self, covers: str) -> str:
        """Say how a release adds up with others about the same source.

        "" where the usual words say it.
        """
        return ""

    def not_in_short(self, many: str) -> str:
        """Name what is left open, for one line, of data that are `many` rows, steps or people."""
        if self.one_way:
            return "that a secret is not true of a person, such as that they were not at a place"
        return f"patterns over many {many}, and anything against readers who believe another model"

    def not_promised(self) -> tuple[str, ...]:
        """Name those not protected, and the dangers."""
        return (
            "anything against readers whose beliefs differ from the assumptions about the world",
            "facts that are not listed as secrets",
            "anything combined with publications outside this ledger",
        )


def but_for(promise: str, delta: Fraction) -> str:
    """Add to a promise in words the excess probability of a delta."""
    return f"{promise}, but for an excess probability of at most {at_most(delta)}" if delta else promise


def register(definition: Definition) -> None:
    """Register a definition from elsewhere under its name.

    Raises InputError for a name that is taken, and for anything but a definition.
    """
    if not isinstance(definition, Definition):
        raise InputError(f"a {type(definition).__name__} is no definition", fix="derive it from Definition")
    derived = type(definition).__mro__
    members = set[str]().union(*map(vars, derived[: derived.index(Definition)]))
    lacks = [value for value in ("joint", "promise") if value not in members]
    if lacks:
        raise InputError(
            f"{type(definition).__name__} lacks {', '.join(lacks)}", rule="every definition has them", fix="add them"
        )
    DEFINITIONS.register(definition.name, definition)


def find(name: str) -> Definition:
    """Return a definition by its name; raises InputError for an unknown one."""
    definition: Definition = DEFINITIONS.find(name)
    return definition
