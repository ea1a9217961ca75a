"""Frameworks: secrets times beliefs, as lazy families of comparisons with one canonical form."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import chain, product
from typing import Any, NoReturn, Protocol, runtime_checkable

from takifugu.core.assumptions import Assumption, with_kinds
from takifugu.core.cache import memoised
from takifugu.core.columns import value_of
from takifugu.core.entries import columns_of
from takifugu.core.errors import InputError, within
from takifugu.core.plain import Json, form, set_fields
from takifugu.core.registry import Registry
from takifugu.core.rules import check_any, check_type, unwritable, wrong_type
from takifugu.core.typed import Typed
from takifugu.model import beliefs as belief_room
from takifugu.model import secrets as secret_room
from takifugu.model.beliefs import Belief, separate
from takifugu.model.beliefs.domain import Data, agreed
from takifugu.model.beliefs.domain import from_dict as domain_from_dict
from takifugu.model.beliefs.pair import LawPair
from takifugu.model.beliefs.states import State, checked_alphabet
from takifugu.model.beliefs.user_laws import absence_words
from takifugu.model.queries.coding import alphabets
from takifugu.model.secrets import OF_FACTS, Secret, WhichLaw
from takifugu.model.secrets.families import WithAbsence
from takifugu.model.secrets.hypotheses import Comparison
from takifugu.model.secrets.of_entries import Presence
from takifugu.numbers.distributions.pmf import Pmf

#: The definitions under which every row is randomised by itself.
OF_ROWS = ("distribution", "extended-distribution")
#: The definitions of privacy that a framework may be read under: each is an `accounting.definitions.Definition`, a type
#: of a room above this one.
DEFINITIONS: Registry[Any] = Registry(
    "the framework's definition",
    {
        "pufferfish": "accounting.definitions.pufferfish:PUFFERFISH",
        "attribute": "accounting.definitions.pufferfish:ATTRIBUTE",
        "asymmetric": "accounting.definitions.asymmetric:ASYMMETRIC",
        "distribution": "accounting.definitions.distribution:DISTRIBUTION",
        "extended-distribution": "accounting.definitions.distribution:EXTENDED",
    },
)


@runtime_checkable
class Assuming(Protocol):
    """A belief, or a domain, that says in words what must hold."""

    def assumptions(self) -> tuple[Assumption, ...]: ...


@runtime_checkable
class OfPlaces(Protocol):
    """A belief whose values may be places, pairs of numbers."""

    @property
    def is_planar(self) -> bool: ...


@runtime_checkable
class Defined(Protocol):
    """A secret that is read under a definition of its own."""

    @property
    def definition(self) -> str: ...


def _known_definition(name: str) -> str:
    DEFINITIONS.find(name)
    return name


@dataclass(frozen=True, eq=False)
class Framework(Typed):
    """Hold the hypotheses to hide from each other: every pair of every secret, under every belief.

    Pairs count both ways, with weight 1. `Pufferfish` makes one.

    Args:
        secrets: The secrets.
        beliefs: The beliefs; none where the guarantee needs none.
        definition: "pufferfish" (Song17 Definition 2.1), or a definition that registered itself.
        given_domain: The possible data, where there is no belief.

    Raises:
        InputError: Where a secret does not fit a belief.

    Examples:
        >>> from takifugu import MarkovChain, every_entry
        >>> Pufferfish(every_entry(), MarkovChain([[0.5, 0.5], [0.5, 0.5]], length=3)).definition
        'pufferfish'
    """

    secrets: tuple[Secret, ...] = field(metadata=form(read=lambda secrets: tuple(map(secret_room.from_dict, secrets))))
    beliefs: tuple[Belief, ...] = field(metadata=form(read=lambda beliefs: tuple(map(belief_room.from_dict, beliefs))))
    definition: str = field(default="pufferfish", metadata=form(read=_known_definition))
    given_domain: Data | None = field(default=None, metadata=form(read=domain_from_dict, key="domain"))

    def __post_init__(self) -> None:
        domains = [] if self.given_domain is None else [self.given_domain]
        set_fields(self, beliefs=agreed((*domains, *self.beliefs))[len(domains) :] if self.beliefs else ())

    @property
    def domain(self) -> Belief | Data:
        """Return the belief or domain by which queries and data are read."""
        if self.beliefs:  # noise is for answers as they read them, so data are read alike
            return self.beliefs[0]
        if self.given_domain is None:
            raise InputError("the framework has no belief and no domain", fix="give one of them")
        return self.given_domain

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns; none unless data are records."""
        return columns_of(self.beliefs[0]) if self.beliefs else ()

    @cached_property
    def pairs(self) -> tuple[LawPair, ...]:
        """Return the distributions given to compare directly (`distribution_pair`), mostly none."""
        return tuple(b for b in self.beliefs if isinstance(b, LawPair))  # a framework's own form, no capability

    @property
    def is_pair(self) -> bool:
        """Return whether distributions are compared directly, without entries (`distribution_pair`)."""
        return bool(self.pairs)

    @property
    def hides_facts(self) -> bool:
        """Return whether the data say which hypothesis holds."""
        return OF_FACTS.issuperset(secret["kind"] for secret in self._plain["secrets"])

    def comparisons(self) -> Iterator[Comparison]:
        """Enumerate every ordered comparison, for tests and small cases.

        Mechanisms use the families.
        """
        comparisons: Iterator[Comparison] = DEFINITIONS.find(self.definition).comparisons(self)
        return comparisons

    def to_dict(self) -> Json:
        """Return the canonical form for `from_dict`, without data."""
        text, changed = self._written
        data: Json = json.loads(text) if changed is None else changed
        return data

    @memoised  # it is asked for once a person
    def fingerprint(self) -> str:
        """Return a 128-bit hash, equal for equal frameworks."""
        text = json.dumps(self._plain, sort_keys=True, separators=(",", ":"), default=_refuse)
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    @cached_property
    def _written(self) -> tuple[str, Json | None]:
        """Return the canonical form as text, and as plain data where JSON would change it."""
        plain = self._plain
        text = json.dumps(plain, default=_refuse)
        # a ledger must see a change to refuse it
        return text, None if json.loads(text) == plain else plain

    @cached_property
    def _plain(self) -> Json:
        data: Json = {
            "definition": self.definition,
            "secrets": [s.to_dict() for s in self.secrets],
            "beliefs": list(map(belief_room.to_dict, self.beliefs)),
        }
        if self.given_domain is not None:
            data["domain"] = self.given_domain.to_dict()
        return data

    def assumptions(self) -> tuple[Assumption, ...]:
        """Return the assumptions of the guarantee, once each."""
        holders: tuple[object, ...] = self.beliefs
        if self.given_domain is not None:
            holders = (self.given_domain, *holders)
        assuming = [holder for holder in holders if isinstance(holder, Assuming)]
        every = list(chain.from_iterable(with_kinds(holder, holder.assumptions()) for holder in assuming))
        if any(isinstance(secret, Presence) for secret in self.secrets):  # also where a belief has everybody present
            absent = [belief.absence for belief in self.beliefs if isinstance(belief, WithAbsence)]
            every += map(absence_words, filter(None, absent))
        return tuple(dict.fromkeys(every))

    def describe(self) -> str:
        belief_words = "; ".join(b.describe() for b in self.beliefs) or self.domain.describe()
        return f"{'; '.join(s.describe() for s in self.secrets)} | {belief_words}"


def Pufferfish(secrets: Secret | Iterable[Secret], beliefs: Belief | Iterable[Belief]) -> Framework:
    """Hide secrets from every reader who holds one of the beliefs.

    Args:
        secrets: One secret or several.
        beliefs: One belief or several.

    Returns:
        The framework, for `calibrate`.

    Raises:
        InputError: For an empty list, a secret that does not fit a belief, no secret pair with a positive probability,
            and a state that is neither text, number nor truth value.

    Source: Song17 Definition 2.1.

    Examples:
        >>> from takifugu import MarkovChain, every_entry
        >>> framework = Pufferfish(every_entry(), MarkovChain([[0.5, 0.5], [0.5, 0.5]], length=3))
        >>> len(list(framework.comparisons()))
        6
    """
    secrets, beliefs = value_of(secrets), value_of(beliefs)  # an array of one thing is that thing
    all_secrets: tuple[Secret, ...] = tuple(secrets) if isinstance(secrets, Iterable) else (secrets,)
    believed: tuple[Belief, ...] = tuple(beliefs) if isinstance(beliefs, Iterable) else (beliefs,)
    fix = "give at least one, for example"
    check_any(all_secrets, "the framework has no secret", "secrets", fix=f"{fix} every_entry()")
    check_any(believed, "the framework has no belief", "beliefs", fix=f"{fix} MarkovChain(...)")
    for secret in all_secrets:
        fix = "give the secrets first, for example every_entry() or attribute(name, a, b), then the beliefs"
        check_type(secret, Secret, "a secret", fix, "secrets")
        with within("secrets"):
            secret_room.check_registered(secret)
    for belief in believed:
        _check_belief(belief)
        if isinstance(belief, LawPair) != all(isinstance(s, WhichLaw) for s in all_secrets):
            raise InputError(
                "two distributions of an answer are compared by distribution_pair(p, q), not by secrets of entries"
            ).at("beliefs")
    # a number in a secret counts the entries as its beliefs list them
    framework = Framework(all_secrets, believed, _definition(all_secrets))
    _check_pairs(framework)
    return framework


def _check_pairs(framework: Framework) -> None:
    if any(_has_pair(secret, belief) for secret, belief in product(framework.secrets, framework.beliefs)):
        return
    if framework.definition != "pufferfish":
        raise InputError(
            "what is hidden takes one value under every belief, so there is nothing to compare",
            fix="check the column, its values and their probabilities",
        ).at("secrets")
    raise InputError(
        "every secret has probability zero under every belief, so nothing would be hidden",
        fix="check the values that the secret names and the masses that the belief gives them",
    ).at("secrets")


def distribution_pair(p: Pmf, q: Pmf) -> Framework:
    """Hide which of two distributions an answer comes from (Ding22 §2).

    Args:
        p: The first distribution of the answer.
        q: The second one.

    Returns:
        The framework that compares the two, both ways.

    Examples:
        >>> distribution_pair(Pmf([0, 1], [0.5, 0.5]), Pmf([1], [1])).definition
        'pufferfish'
    """
    for law in (p, q):
        check_type(law, Pmf, "a distribution", "write Pmf(values, probabilities)")
    return Framework((WhichLaw(),), (LawPair(p, q),))


def _check_belief(belief: object) -> None:
    """Refuse what cannot be read back, and states changed by the canonical form."""
    if not isinstance(belief, Belief):
        raise wrong_type(belief, "a belief", "give a MarkovChain, a JointTable, ...").at("beliefs")
    belief_room.check_registered(belief)
    belief_room.check_components(belief)
    belief_room.check_alphabets(belief)
    if columns_of(belief) or (isinstance(belief, OfPlaces) and belief.is_planar):
        return  # its values are tuples, which the belief itself has checked
    states = set[State]()
    for alphabet in alphabets(belief):
        states.update(checked_alphabet(alphabet, "the belief"))
    for state in states:
        if isinstance(state, Fraction):
            raise unwritable("the belief has the state", state).at("beliefs")


def _refuse(value: object) -> NoReturn:
    """Refuse a value, of a secret or of a table, that JSON does not have."""
    raise unwritable("the framework names", value)


def definition_of(secret: Secret) -> str:
    """Return the definition of a secret."""
    return secret.definition if isinstance(secret, Defined) else "pufferfish"


def _definition(secrets: Sequence[Secret]) -> str:
    """Return the common definition of secrets, or raise InputError."""
    names = set(map(definition_of, secrets))
    if len(names) > 1:
        raise InputError(
            "one framework hides entries and properties of whole columns",
            rule="these are two promises, with rules of their own for how much noise is too little",
            fix="calibrate for one framework, and charge the other one for the release in a ledger",
        ).at("secrets")
    return str(names.pop())


def _has_pair(secret: Secret, belief: Belief) -> bool:
    if (read_view := secret_room.view(secret, belief)) is not None:
        return secret.family(read_view).has_pairs(read_view, 0)
    family = secret.family(belief)
    family.check_within(belief)
    users = separate(belief)
    entries = users.representatives(family.entries, ()) if users else family.entries
    return any(family.has_pairs(belief, entry) for entry in entries)
