"""What an adversary may believe about the data: distributions of tables, chains, independent pieces and users."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from types import FunctionType
from typing import Protocol, runtime_checkable

from takifugu.core.assumptions import Assumption
from takifugu.core.entries import Entries, listed, order, relisted
from takifugu.core.errors import InputError
from takifugu.core.plain import Json, Plain
from takifugu.core.registry import Registry
from takifugu.numbers.rationals import is_whole

_ABSTRACT = "__isabstractmethod__"


@runtime_checkable
class Belief(Entries, Protocol):
    """Model the data that a reader may hold: one distribution, or a class of them.

    Implement this protocol for a belief of your own (docs/extending.md). Entries have finite alphabets. `possible`
    tells which values of an entry have a positive probability, under some distribution of the class. `components` are
    ranges of entries that are independent of each other.

    Attributes:
        source: Where the belief comes from, in words; certificates print it.

    Examples:
        >>> from takifugu.model.beliefs.table import JointTable
        >>> isinstance(JointTable([(0, 0), (1, 1)], [0.5, 0.5]), Belief)
        True
    """

    @property
    def source(self) -> str: ...

    def possible(self, entry: int) -> tuple[bool, ...]: ...

    def components(self) -> Sequence[range]: ...

    def component(self, number: int) -> Belief: ...

    def assumptions(self) -> tuple[Assumption, ...]: ...

    def to_dict(self) -> Json: ...

    def describe(self) -> str: ...


@runtime_checkable
class Separate(Belief, Protocol):
    """A belief whose entries are independent of each other, and which knows which of them are alike."""

    def representatives(
        self, entries: range | tuple[int, ...], columns: Iterable[object], by_law: bool = False
    ) -> list[int]:
        """Return the first of each set of like entries: of equal values and columns, and with `by_law` equal laws."""
        ...


class Registered(Belief, Protocol):
    """A belief of a kind that is registered: what it writes down is read back."""

    @staticmethod
    def from_dict(data: Plain) -> Belief: ...


def separate(belief: object) -> Separate | None:
    """Return the belief if its entries are independent, else None."""
    return belief if isinstance(belief, Separate) else None


def _check(kind: object, belief: type) -> None:
    """Raise InputError for a type without every belief's members."""
    if not isinstance(kind, str) or not kind or not isinstance(belief, type):
        raise InputError(
            f"the kind {kind!r} of the belief {belief!r} is not registered",
            rule="a type is registered under a name", fix="write register(text, type)",
        )  # fmt: skip
    names = chain.from_iterable(map(vars, Registered.__mro__))
    required = {name for name in names if not name.startswith("_")}
    missing = sorted(required.difference(*map(_members, belief.__mro__)))
    if missing:
        raise InputError(f"{belief.__name__} lacks {', '.join(missing)}", rule="every belief has them", fix="add them")


#: The class of every kind of belief.
KINDS: Registry[type[Registered]] = Registry(
    "the belief's kind",
    {
        "markov-chain": "model.beliefs.chains.chain:MarkovChain",
        "periodic-chain": "model.beliefs.chains.periodic_chain:PeriodicChain",
        "markov-chain-class": "model.beliefs.chains.chain:ReversibleChains",
        "chain-region": "model.beliefs.chains.interval_chain:IntervalMarkovChain",
        "binary-chain-interval": "model.beliefs.chains.chain:BinaryChains",
        "joint-table": "model.beliefs.table:JointTable",
        "independent-pieces": "model.beliefs.chains.pieces:IndependentPieces",
        "independent-users": "model.beliefs.users:IndependentUsers",
        "law-pair": "model.beliefs.pair:LawPair",
        "bayesian-network": "model.beliefs.networks.network:BayesianNetwork",
        "multivariate-normal": "model.beliefs.records.normal:MultivariateNormal",
        "autoregressive-normal": "model.beliefs.records.autoregressive:AutoregressiveNormal",
        "normal-region": "model.beliefs.records.normal_region:NormalRegion",
        "clique-infection": "model.beliefs.contacts:CliqueInfection",
        "density": "model.beliefs.density:Density",
        "parameters": "model.beliefs.records.parameters:Parameters",
        "counted-parameters": "model.beliefs.records.counted_parameters:CountedParameters",
        "records": "model.beliefs.records.records:Records",
        "populations": "model.beliefs.populations:FromPopulations",
    },
    _check,
)
#: Kinds about steps in order, and what the value of one entry is called under others: a certificate has kinds alone.
OF_STEPS = {
    "markov-chain", "periodic-chain", "markov-chain-class", "binary-chain-interval", "chain-region",
    "independent-pieces",
}  # fmt: skip
VALUES_OF_ONE = {
    "clique-infection": "the state of any one {person}", "independent-users": "the value of any one {person}",
    "bayesian-network": "the value of any one column", "joint-table": "the value of any one column",
}  # fmt: skip
#: The shape of the data that a belief is about in release files, and the section that declares it there.
SECTIONS = {
    "markov-chain": "sequences model.beliefs.chains.declared_chain:ChainSection",
    "markov-chain-class": "sequences model.beliefs.chains.declared_chain:ChainClassSection",
    "network": "records model.beliefs.networks.network_files:NetworkSection",
    "joint-table": "records model.beliefs.table:TableSection",
    "users": "users model.beliefs.user_groups:UsersSection",
    "contacts": "people model.beliefs.meetings:ContactsSection",
    "independent-records": "columns model.beliefs.records.declared_records:RecordsSection",
    "normal": "columns of numbers model.beliefs.records.declared_normal:NormalSection",
    "density": "one column of numbers model.beliefs.records.declared_density:DensitySection",
    "parameters": "columns model.beliefs.records.declared_parameters:ParametersSection",
    "populations": "each row model.beliefs.declared_populations:PopulationsSection",
    "asymmetric": "policy model.policies.declared:PolicySection",
}
#: Let `from_dict` read a kind of belief back: `belief.to_dict()["kind"]` must be the kind.
register = KINDS.register


def check_registered(belief: Belief) -> None:
    """Raise InputError for a belief of an unregistered type, which a ledger could not read back."""
    # one derived from a registered type would be read back, and charged for, as the registered one
    if not any(KINDS.has(name, type(belief)) for name in KINDS.names):
        raise InputError(
            f"the type of belief {type(belief).__name__} is registered by nobody",
            rule="a ledger must be able to read it back",
            fix="call takifugu.model.beliefs.register(kind, type) where the type is defined",
        )


def check_alphabets(belief: Belief) -> None:
    """Raise InputError for different alphabets where one is stated: secrets, answers and data read the first."""
    if _is_ours(belief) or not belief.one_alphabet:
        return  # a million entries are not asked for what is proved
    for entry in range(belief.size):
        if belief.alphabet(entry) != belief.alphabet(0):
            raise InputError(
                f"{type(belief).__name__} says that it has one alphabet, and entry {entry} has another than entry 0",
                fix="make one_alphabet false",
            ).at("beliefs")


def check_components(belief: Belief) -> None:
    """Raise InputError unless components divide the entries and share their values."""
    # nothing would be hidden of an entry in none of them, or of a value that a component lacks
    if not is_whole(belief.size, 1):
        raise InputError(
            f"{type(belief).__name__} has the size {belief.size!r}", rule="a size is a whole number from 1"
        ).at("beliefs")
    runs = belief.components()
    is_listed = isinstance(runs, tuple | list)
    if isinstance(runs, Sequence) and not is_listed:
        return  # each is made where it is asked for, as of a million pieces
    end, size = 0, 0
    for run in runs if is_listed else ():
        if not isinstance(run, range) or run.start != end:
            break
        end, size = run.stop, size + len(run)
    if not is_listed or not end == size == belief.size:
        raise InputError(
            f"the components of {type(belief).__name__} do not follow each other from 0 to {belief.size}",
            rule="every entry is in one of them", fix="return a tuple of ranges",
        ).at("beliefs")  # fmt: skip
    if _is_ours(belief):
        return
    for number, run in enumerate(runs):
        _check_component(belief, number, run)


def _check_component(belief: Belief, number: int, run: range) -> None:
    """Raise InputError for a component of other entries or values."""
    piece = belief.component(number)
    if piece is belief and belief.size == len(run):
        return
    is_alike = piece.size == len(run)
    for inside, entry in enumerate(run if is_alike else ()):
        values, can = piece.alphabet(inside), piece.possible(inside)
        is_alike = is_alike and values == belief.alphabet(entry) and tuple(can) == tuple(belief.possible(entry))
    if not is_alike:
        raise InputError(
            f"component {number} of {type(belief).__name__} has other entries or values than entries {run.start} to "
            f"{run.stop - 1} of the belief",
            rule="what is hidden and what is added up are read by them",
        ).at("beliefs")


def _is_ours(belief: Belief) -> bool:
    """Whether this package alone defines a belief."""
    for origin in (type(belief), belief.component, belief.alphabet, belief.possible):
        if origin.__module__.partition(".")[0] != "takifugu":
            return False
    return True


def from_dict(data: Plain) -> Belief:
    """Read a belief back from its `to_dict` form."""
    belief = KINDS.find(data.get("kind")).from_dict(data)
    return relisted(belief, data["listed"]) if "listed" in data else belief


def to_dict(belief: Belief) -> Json:
    """Return plain data for `from_dict`, with the order of listed entries."""
    data = belief.to_dict()
    # one that writes itself down as another type would be charged as that one
    if data.get("kind") in KINDS and not KINDS.has(data["kind"], type(belief)):
        raise InputError(
            f"a belief of type {type(belief).__name__} writes itself down as {data['kind']!r}, which is another type",
            fix="register its type under a kind of its own, and write that in to_dict",
        )
    return data if order(belief) is None else {**data, "listed": list(listed(belief) or ())}


def _members(kind: type) -> set[str]:
    """Return the fields and concrete methods of a class itself."""
    left = {name for name, value in vars(kind).items() if isinstance(value, FunctionType) and _ABSTRACT in vars(value)}
    return {*vars(kind), *vars(kind).get("__annotations__", ())} - left
