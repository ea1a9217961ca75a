"""A belief from outside the package that says its distribution: a table, a chain or a network of ours has the same.

Everything that is asked of its entries is asked of that one, component by component, so that such a belief gets the
influence curve, the distributions of answers and the audit without an answer of its own to any question.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from takifugu.core.assumptions import Assumption
from takifugu.core.errors import InputError
from takifugu.core.plain import Json, Plain, PlainForm, arguments, set_fields
from takifugu.core.registry import place_of
from takifugu.core.rules import wrong_type
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.chains.periodic_chain import PeriodicChain
from takifugu.model.beliefs.estimate import is_private_source
from takifugu.model.beliefs.networks.network import BayesianNetwork
from takifugu.model.beliefs.one_sequence import AnySequence
from takifugu.model.beliefs.table import JointTable

#: What a distribution is given as.
Distribution = JointTable | PeriodicChain | BayesianNetwork
_KEPT = "_law"
_GIVE = "return a JointTable, a MarkovChain, a PeriodicChain or a BayesianNetwork"
#: What a belief may say itself, too.
_SAID = ("entry_word", "names", "size")


class Told:
    """What the distribution says of a belief; a class has none, so that no field of a dataclass has a default."""

    def __init__(self, otherwise: object = None) -> None:
        self.otherwise = otherwise

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, belief: ByDistribution | None, owner: type | None = None) -> Any:
        if belief is None:
            raise AttributeError(self.name)
        return getattr(law_of(belief), self.name, self.otherwise)


class ByDistribution(PlainForm):
    """What beliefs of one's own have of their distribution."""

    if TYPE_CHECKING:
        source: str
    else:
        source = Told()

    answers: ClassVar = {"data drawn from a belief": "analysis.questions.made_up_data:of_own"}

    @abstractmethod
    def distribution(self) -> Distribution:
        """Return a belief of Takifugu's with the same entries and the same distribution."""

    def alphabet(self, entry: int) -> tuple[Hashable, ...]:
        return law_of(self).alphabet(entry)

    def possible(self, entry: int) -> tuple[bool, ...]:
        return law_of(self).possible(entry)

    def position(self, name: Hashable) -> int:
        return law_of(self).position(name)

    def components(self) -> Sequence[range]:
        return law_of(self).components()

    def component(self, number: int) -> Belief:
        return law_of(self).component(number)

    def assumptions(self) -> tuple[Assumption, ...]:
        return law_of(self).assumptions()

    def describe(self) -> str:
        return law_of(self).describe()

    def to_dict(self) -> Json:
        if not self.kind:
            name = type(self).__name__
            raise InputError(f"{name} has no kind", fix=f'write class {name}(extending.OwnBelief, kind="...")')
        return super().to_dict()

    @classmethod
    def from_dict(cls, data: Plain) -> Self:
        """Return the belief from its plain data, lists as tuples."""
        return cls(**{name: _in_tuples(value) for name, value in arguments(cls, data).items()})


class OwnBelief(ByDistribution):
    """A belief of your own, by its distribution.

    Derive a frozen dataclass from it, `class Urn(OwnBelief, kind="urn")`, and return its distribution as a `JointTable`
    of all joint states, or as a `MarkovChain`, a `PeriodicChain` or a `BayesianNetwork`. The influence curve of a table
    is exact where the others of each entry have at most 512 joint values together (ten entries of two values), and
    bounded from above beyond; chains and networks have no such limit. Entries are called as the distribution calls
    them; `names = None` says that those of a table are only numbered. `source`, `describe` and `assumptions` say
    what it says, unless the belief says more.
    """

    if TYPE_CHECKING:
        size: int
        names: tuple[Hashable, ...] | None
        one_alphabet: bool
    else:
        entry_word, listed, names, one_alphabet, size = Told("row"), Told(), Told(), Told(), Told()


class OwnSequence(ByDistribution, AnySequence):  # type: ignore[misc]  # its distribution says what a sequence would
    """A belief of your own about the steps of a recording, by its distribution.

    It is a frozen dataclass with the fields `length` and `states`. Of a longer recording the first steps follow the
    same distribution; from a later step on it may follow another one.
    """

    def __post_init__(self) -> None:
        set_fields(self, states=tuple(self.states))

    def with_length(self, length: int) -> Self:
        return replace(self, length=length)  # type: ignore[type-var]


class Numbered(JointTable):
    """A table whose entries have numbers and no names."""

    entry_word = "row"

    @property
    def names(self) -> None:  # type: ignore[override]
        return None

    def position(self, name: Hashable) -> int:
        raise InputError(f"the entries have no names, and {name!r} is one", fix="count them from 0")


def law_of(belief: ByDistribution) -> Belief:
    """Return the distribution of a belief, checked and kept with it: all that is found of it is found once."""
    law: Belief | None = vars(belief).get(_KEPT)
    if law is None:
        try:
            distribution = belief.distribution()
        except AttributeError as error:  # whoever asks for a member would take the belief for none
            what = f"distribution() of {type(belief).__name__} fails: {error}"
            raise InputError(what, fix="correct it").at("distribution") from error
        law = _checked(belief, distribution)
        vars(belief)[_KEPT] = law
    return law


def _checked(belief: ByDistribution, law: Distribution) -> Belief:
    title = f"the distribution of {type(belief).__name__}"
    if not isinstance(law, Distribution) or not place_of(type(law)):  # of a derived type nothing is proved
        raise wrong_type(law, title, _GIVE).at("distribution")
    said = {name: getattr(belief, name) for name in _SAID if _says(belief, name)}
    if said.get("names", law.names) is None and isinstance(law, JointTable):
        law = _numbered(law, said.get("entry_word", "row"))
    for name in said.keys() & {"names", "size"}:
        theirs, ours = said[name], getattr(law, name)
        if theirs != ours:
            raise InputError(
                f"{title} has the {name} {ours!r}, and the belief has {theirs!r}", rule="they are the same entries",
                fix="make them equal",
            ).at("distribution")  # fmt: skip
    if is_private_source(law.source) and _says(belief, "source") and not is_private_source(belief.source):
        raise InputError(
            f"{title} was {law.source}, and the belief says {belief.source!r}", fix="leave out the belief's source"
        ).at("source")
    return law


def _says(belief: ByDistribution, name: str) -> bool:
    """Return whether a belief says something itself, and does not leave it to its distribution."""
    said = [vars(kind)[name] for kind in type(belief).__mro__ if name in vars(kind)]
    return name in vars(belief) or any(not isinstance(each, Told) for each in said)


def _numbered(table: JointTable, word: str) -> Numbered:
    numbered = Numbered.__new__(Numbered)
    set_fields(numbered, **{field.name: getattr(table, field.name) for field in fields(table)}, entry_word=word)
    return numbered


def _in_tuples(value: Any) -> Any:
    return tuple(map(_in_tuples, value)) if isinstance(value, list) else value
