"""What an adversary may believe about the data: distributions of tables, chains, independent pieces and users."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from takifugu.entries import listed, order, relisted
from takifugu.errors import InputError, did_you_mean

State = Hashable


@runtime_checkable
class Belief(Protocol):
    """A law of the data, or a class of laws, over `size` entries with finite alphabets.

    `components()` are ranges of entries, independent of each other; `possible(i)` says which values of entry i
    have probability above zero (under some law of the class); `source` says where the belief comes from.
    """

    @property
    def source(self) -> str: ...

    @property
    def size(self) -> int: ...

    @property
    def names(self) -> tuple[Hashable, ...] | None: ...

    @property
    def one_alphabet(self) -> bool: ...

    def alphabet(self, entry: int) -> tuple[State, ...]: ...

    def position(self, name: Hashable) -> int: ...

    def possible(self, entry: int) -> tuple[bool, ...]: ...

    def components(self) -> Sequence[range]: ...

    def component(self, number: int) -> Belief: ...

    def assumptions(self) -> tuple[str, ...]: ...

    def to_dict(self) -> dict[str, Any]: ...

    def describe(self) -> str: ...


def from_dict(data: Mapping[str, Any]) -> Belief:
    """Read a belief back from its `to_dict` form.

    Raises InputError for an unknown kind.
    """
    from takifugu.beliefs.chain import MarkovChain, MarkovChainClass
    from takifugu.beliefs.chain_interval import BinaryChainInterval
    from takifugu.beliefs.chain_region import ChainRegion
    from takifugu.beliefs.contacts import CliqueInfection
    from takifugu.beliefs.network import BayesianNetwork
    from takifugu.beliefs.pair import LawPair
    from takifugu.beliefs.pieces import IndependentPieces
    from takifugu.beliefs.table import JointTable
    from takifugu.beliefs.users import IndependentUsers

    kinds: dict[str, Any] = {
        "markov-chain": MarkovChain,
        "markov-chain-class": MarkovChainClass,
        "chain-region": ChainRegion,
        "binary-chain-interval": BinaryChainInterval,
        "joint-table": JointTable,
        "independent-pieces": IndependentPieces,
        "independent-users": IndependentUsers,
        "law-pair": LawPair,
        "bayesian-network": BayesianNetwork,
        "clique-infection": CliqueInfection,
    }
    kind = data.get("kind")
    if kind not in kinds:
        raise InputError(
            f"the belief's kind is {kind!r}", fix=f"write one of {sorted(kinds)}{did_you_mean(kind, kinds)}"
        )
    belief: Belief = kinds[kind].from_dict(data)
    return relisted(belief, data["listed"]) if "listed" in data else belief


def to_dict(belief: Belief) -> dict[str, Any]:
    """Return plain data that `from_dict` reads back, including the order in which entries are listed."""
    told = belief.to_dict()
    return told if order(belief) is None else {**told, "listed": list(listed(belief) or ())}
