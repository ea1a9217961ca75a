"""The law of a scalar answer under each hypothesis of a family, for the beliefs that have one.

An answer family belongs to one entry: for each value that the entry can take it holds the laws of the answer given
that value. Where a belief is a class of laws the laws form a hull: under every law of the class the answer's law given
the value is a mixture of them. A bound on W-infinity or on the largest log-ratio of every pair of laws of two hulls
holds for all mixtures: both are closed under mixing the two sides independently.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Protocol

from takifugu.answer_laws import chain as chain_laws
from takifugu.answer_laws import cliques as clique_laws
from takifugu.answer_laws import network as network_laws
from takifugu.answer_laws import table as table_laws
from takifugu.answer_laws import users as user_laws
from takifugu.answer_laws.dense import Compared, DenseFamily
from takifugu.answer_laws.listed import ListedFamily
from takifugu.answer_laws.minimax_start import WHOLE, AnyStartFamily
from takifugu.beliefs import Belief
from takifugu.beliefs.chain import MarkovChain, MarkovChainClass
from takifugu.beliefs.chain_interval import BinaryChainInterval
from takifugu.beliefs.chain_region import ChainRegion
from takifugu.beliefs.contacts import Clique
from takifugu.beliefs.network import BayesianNetwork
from takifugu.beliefs.pair import LawPair
from takifugu.beliefs.table import JointTable
from takifugu.beliefs.users import IndependentUsers
from takifugu.entries import called
from takifugu.errors import Unsupported
from takifugu.laws.pmf import Pmf
from takifugu.queries import Additive
from takifugu.secrets import ABSENT, Family


class Share(Protocol):
    """One independent component of a belief, the share of the answer that it adds, and what is secret in it."""

    @property
    def belief(self) -> Belief: ...

    @property
    def answer(self) -> Additive: ...

    @property
    def family(self) -> Family: ...


Move = int | float | Fraction


class Comparisons(Protocol):
    """Comparisons of laws of the answer (or of whole hulls of them), each looked at in both orders.

    Moves and scales are in grid units (for two given laws: in answer units). All numbers allow for the rounding of
    masses.
    """

    @property
    def compared(self) -> tuple[Compared, ...]: ...

    def reach(self, index: int) -> int | Fraction: ...

    def losses(self, scale: Fraction) -> list[float]: ...

    def smallest_scale(self, index: int, epsilon: Fraction) -> Fraction: ...


class AnswerFamily(Comparisons, Protocol):
    """The laws of the answer given each value of one entry, and the ordered pairs of value indices to compare."""

    @property
    def entry(self) -> int: ...

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]: ...

    @property
    def hulls(self) -> Mapping[int, tuple[Pmf, ...]]: ...

    @property
    def relative_error(self) -> float: ...

    def moves(self, index: int) -> tuple[Move, ...]: ...

    def wasserstein(self, index: int, epsilon: Fraction) -> tuple[Move, Fraction]: ...


def families(share: Share) -> Iterator[AnswerFamily]:
    """Yield the answer families of one component of a belief, one for each secret entry, lazily.

    Raises Unsupported for vector answers, and for beliefs without answer laws.

    >>> from types import SimpleNamespace
    >>> from takifugu.queries import Count
    >>> belief = MarkovChain([[0.5, 0.5], [0.5, 0.5]], length=2)
    >>> share = SimpleNamespace(belief=belief, answer=Count(1).resolve(belief), family=Family(range(2)))
    >>> [list(family.hulls[1][0].items()) for family in families(share)]
    [[(1, 0.5), (2, 0.5)], [(1, 0.5), (2, 0.5)]]
    """
    belief, answer = share.belief, share.answer
    reason = unsupported(belief, answer)
    if reason:
        raise Unsupported(reason)
    if isinstance(belief, MarkovChain):
        yield from chain_laws.families(belief, answer, share.family)
    elif isinstance(belief, IndependentUsers):
        yield from user_laws.families(belief, answer, share.family)
    elif isinstance(belief, JointTable):
        yield from table_laws.families(belief, answer, share.family)
    elif isinstance(belief, BayesianNetwork):
        yield from network_laws.families(belief, answer, share.family)
    elif isinstance(belief, Clique):
        yield from clique_laws.families(belief, answer, share.family)


def over_all_starts(family: AnswerFamily) -> Comparisons:
    """Return a family that compares whole hulls under every initial law at once, where hulls hold several laws.

    Never more than the largest over pairs of their laws, as `family` itself has it.
    """
    if isinstance(family, DenseFamily) and any(len(rows) > 1 for rows in family.rows.values()):
        return AnyStartFamily(family)
    return family


def pair_family(belief: LawPair) -> AnswerFamily:
    """Return the two given laws as a family, in answer units.

    >>> pair_family(LawPair(Pmf([0], [1]), Pmf([1], [1]))).pairs
    ((0, 1), (1, 0))
    """
    return ListedFamily(0, ((0, 1), (1, 0)), {0: (belief.left,), 1: (belief.right,)})


def hypothesis(belief: Belief, entry: int, value: int, number: int, start: int = 0) -> str:
    """Describe the hypothesis behind one law of a hull; `start` is what the first entry is called."""
    state = belief.alphabet(entry)[value]
    text = f"{called(belief, entry, start)} = {state!r}"
    if isinstance(belief, IndependentUsers):
        name = f"user {start + entry}" if belief.names is None else called(belief, entry)
        return f"{name} = {state!r}" if state != ABSENT else f"{name} absent ({belief.absence})"
    if isinstance(belief, MarkovChain) and belief.initial == "any":
        if number == WHOLE:
            return f"{text} (unknown initial distribution)"
        text += f" (started in {belief.states[chain_laws.starts_of(belief, entry, value)[number] or 0]!r})"
    return text


def unsupported(belief: Belief, answer: Additive) -> str:
    """Return why the answer has no law that a mechanism may use, or an empty string."""
    if answer.cells > 1:
        return (
            f"the answer has {answer.cells} cells, and this mechanism hides a secret in the distribution of one number "
            "only: cells that each hide it can reveal it together, so one release per cell does not compose (each of "
            'two bits may say nothing about their exclusive or); use mechanism="quilt-exact", "quilt-approx" or "group"'
        )
    if isinstance(belief, MarkovChainClass):
        return (
            "a class of chains given by pi and g has no single distribution of the answer, and no finite set of its "
            'chains represents it: name one chain, MarkovChain(matrix, length, initial="any"), or use '
            'mechanism="quilt-approx" or "group"'
        )
    if isinstance(belief, ChainRegion | BinaryChainInterval):
        return (
            "a class of chains with transition probabilities in intervals has no single distribution of the answer, "
            'and its corners prove nothing about the rest: name one chain, or use mechanism="quilt-approx" or "group"'
        )
    if not isinstance(belief, MarkovChain | JointTable | BayesianNetwork | Clique | IndependentUsers):
        return (
            f"the distribution of the answer is not known under a {type(belief).__name__}, only under a MarkovChain, a "
            'JointTable, a BayesianNetwork, cliques or IndependentUsers; use mechanism="group"'
        )
    return ""


def work(share: Share, laplace: bool = False) -> tuple[float, float]:
    """Return the predicted elementary operations and bytes of `families`, (0, 0) where it is unsupported.

    With `laplace` only what losses, moves and scales of Laplace noise use of the laws.
    """
    belief, answer = share.belief, share.answer
    if unsupported(belief, answer):
        return 0.0, 0.0
    wanted = len(share.family.entries)
    if isinstance(belief, MarkovChain):
        return chain_laws.work(belief, answer, wanted)
    if isinstance(belief, BayesianNetwork):
        return network_laws.work(belief, answer, share.family)
    if isinstance(belief, Clique):
        return clique_laws.work(belief, answer)
    if isinstance(belief, IndependentUsers):
        return user_laws.work(belief, answer, share.family, laplace)
    rows = len(belief.rows) if isinstance(belief, JointTable) else 0
    return 100.0 * rows * wanted, 100.0 * rows


def comparisons(share: Share, laplace: bool = False) -> tuple[float, float]:
    """Return how many comparisons `families` holds, and the largest number of atoms of a law; (0, 0) if unsupported.

    With `laplace` the number of atoms that losses, moves and scales of Laplace noise look at.
    """
    belief, answer = share.belief, share.answer
    if unsupported(belief, answer) or not len(share.family.entries):
        return 0.0, 0.0
    if isinstance(belief, IndependentUsers):
        return user_laws.comparisons(belief, answer, share.family, laplace)
    values = len(belief.alphabet(share.family.entries[0]))
    pairs = values * (values - 1) / 2 if share.family.pairs is None else len(share.family.pairs) / 2
    if isinstance(belief, MarkovChain):
        hull = values**2 if belief.initial == "any" else 1
        return pairs * hull * len(share.family.entries), float(chain_laws.steps(answer).widths[-1])
    if isinstance(belief, BayesianNetwork):
        return pairs * len(share.family.entries), network_laws.width(belief, answer)
    if isinstance(belief, Clique):
        return pairs * len(share.family.entries), clique_laws.width(belief, answer)
    return pairs * len(share.family.entries), float(len(belief.rows)) if isinstance(belief, JointTable) else 0.0


def kept_bytes(share: Share) -> float:
    """Return about how many bytes all families take when they are kept."""
    if isinstance(share.belief, IndependentUsers):
        return 2e3 * len(share.family.entries)  # the laws are not kept
    count, atoms = comparisons(share)
    return 32.0 * (count + len(share.family.entries)) * atoms
