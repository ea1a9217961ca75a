"""What distribution privacy hides: which of several populations a person's rows come from (Kawamoto19 Definition 8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from takifugu.core.errors import InputError
from takifugu.core.plain import PlainForm
from takifugu.model.secrets.families import Family, View


@runtime_checkable
class WithPopulations(Protocol):
    """A belief about rows that come from one of several populations; `which` is the entry that says from which one."""

    @property
    def which(self) -> View: ...


@dataclass(frozen=True)
class WhichPopulation(PlainForm, kind="which-population"):
    """Hide which of the belief's populations a person's rows are drawn from: every two of them, both ways."""

    definition = "distribution"

    def view(self, belief: object) -> View:
        if not isinstance(belief, WithPopulations):
            raise InputError(
                f"a {type(belief).__name__} has no populations", rule="which of them is meant requires several",
                fix="give FromPopulations(...)",
            ).at("beliefs")  # fmt: skip
        return belief.which

    def family(self, belief: object) -> Family:
        return Family((0,))

    def describe(self) -> str:
        return "which population the rows of a person come from"


def which_population() -> WhichPopulation:
    """Hide the population of a person's rows (Kawamoto19 Definition 8).

    >>> which_population().describe()
    'which population the rows of a person come from'
    """
    return WhichPopulation()


#: Reads the secret back.
which_from = WhichPopulation.from_dict
