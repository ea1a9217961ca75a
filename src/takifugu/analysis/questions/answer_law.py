"""The law of a scalar answer under each hypothesis of a family: can a belief tell it, at what cost, and which is it?

An answer family belongs to one entry: for each value that the entry can take it holds the laws of the answer given
that value. Where a belief is a class of laws the laws form a hull: under every law of the class the answer's law given
the value is a mixture of them. A bound on W-infinity or on the largest log-ratio of every pair of laws of two hulls
holds for all mixtures: both are closed under mixing the two sides independently.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, Protocol, TypeVar, runtime_checkable

from takifugu.analysis.problem import Part
from takifugu.core.cache import cached
from takifugu.core.entries import called
from takifugu.core.errors import Unsupported
from takifugu.core.registry import Question
from takifugu.model.beliefs import Belief
from takifugu.model.queries import Additive
from takifugu.model.secrets.families import Family, View
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.rationals import round_up
from takifugu.numbers.search import smallest_noise

B = TypeVar("B", bound=Belief, covariant=True)
Move = int | float | Fraction

#: (a, number in a's hull, b, number in b's hull).
Compared = tuple[int, int, int, int]


class Comparisons(Protocol):
    """Comparisons of laws of the answer (or of whole hulls of them), each looked at in both orders.

    Moves and scales are in grid units (for two given laws: in answer units). All numbers allow for the rounding of
    masses. `reach` and `loss` are a kind's own; what follows from them holds for all.
    """

    @property
    def compared(self) -> tuple[Compared, ...]: ...

    def reach(self, index: int) -> int | Fraction:
        """Bound every move of a comparison."""
        ...

    def loss(self, index: int, scale: Fraction) -> float:
        """Bound sup abs log A/B of a comparison after Laplace noise; scale 0 is no noise."""
        ...

    def losses(self, scale: Fraction) -> list[float]:
        """Return the loss of each comparison."""
        return [self.loss(index, scale) for index in range(len(self.compared))]

    def farthest(self, index: int) -> int | Fraction:
        """Return a move that certainly is W-infinity or more."""
        return self.reach(index)

    def smallest_scale(self, index: int, epsilon: Fraction) -> Fraction:
        """Return a scale certain to keep the loss within epsilon.

        It is at most 2**-36 above the smallest with such a bound, and not below 2**-40 of a scale that needs no trial.
        """
        proven = Fraction(self.farthest(index)) / epsilon
        if not proven:
            return proven
        return smallest_noise(lambda scale: self.loss(index, scale), epsilon, proven, proven / 2**40)

    def moves(self, index: int) -> tuple[Move, ...]:
        """Return increasing proposals for W-infinity; the last is certain."""
        return (self.farthest(index),)

    def wasserstein(self, index: int, epsilon: Fraction) -> tuple[Move, Fraction]:
        """Return W-infinity or a bound w of it, and the scale w/epsilon.

        Rounded masses only propose w: the loss at w/epsilon decides.
        """
        *proposed, certain = self.moves(index)
        for move in proposed:
            scale = round_up(Fraction(move) / epsilon)
            if scale and self.loss(index, scale) <= epsilon:
                return move, scale
        return certain, round_up(Fraction(certain) / epsilon)


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

    @property
    def whole(self) -> bool:
        """Return whether laws cover the whole answer, not one user's or record's."""
        ...


@runtime_checkable
class OfOne(Protocol):
    """An answer family of many users that also knows what one of them adds: `alone`."""

    @property
    def alone(self) -> AnswerFamily: ...


@dataclass(frozen=True, eq=False)
class AnswerLaw(Generic[B]):
    """What one type of belief tells about the law of an answer: a type for each is derived from this one.

    `reason` says why there is no law that a mechanism may use, and is empty where there is one; `hull` is how many
    pairs of laws stand for one pair of values.
    """

    belief: B
    answer: Additive
    family: Family
    reason: str = ""

    @property
    def hull(self) -> int:
        return 1

    @property
    def note(self) -> str:
        """Return a witness's note where bounds may cost more than laws."""
        return ""

    def families(self) -> Iterator[AnswerFamily]:
        """Yield the answer families, one for each secret entry, lazily.

        Raises Unsupported where there are none.
        """
        raise Unsupported(self.reason or "the distribution of the answer is not known")

    def work(self, laplace: bool = False) -> tuple[float, float]:
        """Predict the operations and bytes of `families`, 0 where unsupported.

        With `laplace` both are for losses, moves and scales of Laplace noise only.
        """
        return 0.0, 0.0

    def atoms(self) -> float:
        """Return the largest number of atoms of a law."""
        return 0.0

    def comparisons(self, laplace: bool = False) -> tuple[float, float]:
        """Return the number of comparisons and the largest number of atoms.

        Both are 0 without `families`. With `laplace` the atoms are those for losses, moves and scales of Laplace noise.
        """
        if self.reason or not len(self.family.entries):
            return 0.0, 0.0
        values = len(self.belief.alphabet(self.family.entries[0]))
        if self.family.pairs is None:
            pairs = values * (values - 1) / 2
        else:
            pairs = len(self.family.pairs) / 2
        return pairs * self.hull * len(self.family.entries), self.atoms()

    def cached_bytes(self) -> float:
        """Return about how many bytes all families take when they are kept."""
        count, atoms = self.comparisons()
        return 32.0 * (count + len(self.family.entries)) * atoms

    def describe(self, entry: int, value: int, number: int, start: int = 0) -> str:
        """Describe a law's hypothesis; entries are numbered from `start`."""
        if isinstance(self.belief, View):
            return self.belief.describe_hypothesis(value)
        return f"{called(self.belief, entry, start)} = {self.belief.alphabet(entry)[value]!r}"


def answer_law(share: Part) -> AnswerLaw[Belief]:
    """Return a share's law, or the reason why it has none.

    >>> from takifugu import Count, MarkovChain
    >>> belief = MarkovChain([[0.5, 0.5], [0.5, 0.5]], length=2)
    >>> law = answer_law(Part(belief, Count(1).resolve(belief), Family(range(2))))
    >>> [list(family.hulls[1][0].items()) for family in law.families()]
    [[(1, 0.5), (2, 0.5)], [(1, 0.5), (2, 0.5)]]
    """
    if share.answer.cells > 1:
        return AnswerLaw(share.belief, share.answer, share.family, _CELLS.format(share.answer.cells))
    make = ANSWER_LAW.of(share.belief)
    return cached(share, make, lambda: make(share.belief, share.answer, share.family))


def no_law(because: str) -> Callable[..., AnswerLaw[Belief]]:
    """Return the answer of a belief without a law of the answer.

    `{}` in the reason is the belief's type.
    """
    return lambda belief, answer, family: AnswerLaw(belief, answer, family, because.format(type(belief).__name__))

_CELLS = (
    "the answer has {} cells, and this mechanism hides a secret in the distribution of one number only: cells that "
    "each hide it can reveal it together, so one release per cell does not compose (each of two bits may say nothing "
    'about their exclusive or); use mechanism="influence" or "group"'
)
FOR_CLASSES = no_law(
    "a class of chains given by pi and g has no single distribution of the answer, and no finite set of its "
    'chains represents it: name one chain, MarkovChain(matrix, length, initial="any"), or use '
    'mechanism="influence" or "group"'
)
FOR_INTERVALS = no_law(
    "a class of chains with transition probabilities in intervals has no single distribution of the answer, "
    'and its corners prove nothing about the rest: name one chain, or use mechanism="influence" or "group"'
)
FOR_COUNTED = no_law(
    "counted parameters follow any distribution that the counts support, so the answer has no single one, and the "
    'point estimate is only one of them: use mechanism="attribute-quilt", which holds for all, or leave the confidence '
    "out and believe in the point estimate"
)
FOR_RECORDS = no_law(
    "under a belief over records columns are hidden, not whole records: name one, every_entry(attribute=...) or "
    'dataset_property(...), believe in IndependentUsers, or use mechanism="group"'
)
FOR_DENSITIES = no_law(
    "the answer has a density, so no list of values and masses is its distribution: use "
    'mechanism="attribute-gaussian-approx" with a delta above 0'
)

#: (belief, answer, family) -> AnswerLaw, by type of belief.
ANSWER_LAW: Question[Callable[[Belief, Additive, Family], AnswerLaw[Belief]]] = Question(
    "the distribution of the answer",
    {
        "model.beliefs.chains.periodic_chain:PeriodicChain": "analysis.answer_laws.chain:ChainLaw",
        "model.beliefs.users:IndependentUsers": "analysis.answer_laws.users:UsersLaw",
        "model.beliefs.table:JointTable": "analysis.answer_laws.listed:TableLaw",
        "model.beliefs.networks.network:BayesianNetwork": "analysis.answer_laws.network:NetworkLaw",
        "model.beliefs.contacts:Clique": "analysis.answer_laws.cliques:CliqueLaw",
        "model.beliefs.records.counted_parameters:CountedParameters": "analysis.questions.answer_law:FOR_COUNTED",
        "model.beliefs.records.parameters:Parameters": "analysis.answer_laws.parameters:of_columns",
        "model.beliefs.records.normal_views:NormalView": "analysis.answer_laws.normal:ShiftLaw",
        "model.beliefs.records.process_view:ProcessView": "analysis.answer_laws.normal_process:ProcessShift",
        "model.beliefs.records.normal_region:RegionView": "analysis.answer_laws.normal:ShiftLaw",
        "model.beliefs.pair:LawPair": "analysis.answer_laws.listed:PairLaw",
        "model.beliefs.density_views:DensityView": "analysis.questions.answer_law:FOR_DENSITIES",
        "model.beliefs.records.record_views:RecordView": "analysis.answer_laws.records:record_law",
        "model.beliefs.records.records:Records": "analysis.questions.answer_law:FOR_RECORDS",
        "model.beliefs.chains.chain:ReversibleChains": "analysis.questions.answer_law:FOR_CLASSES",
        "model.beliefs.chains.interval_chain:IntervalMarkovChain": "analysis.questions.answer_law:FOR_INTERVALS",
        "model.beliefs.chains.chain:BinaryChains": "analysis.questions.answer_law:FOR_INTERVALS",
    },
    default=no_law(
        "the distribution of the answer is not known under a {}, only under a MarkovChain, a JointTable, a "
        'BayesianNetwork, cliques or IndependentUsers; use mechanism="group"'
    ),
)
