"""The law of a scalar answer under each hypothesis of a family: can a belief tell it, at what cost, and which is it?

An answer family belongs to one entry: for each value that the entry can take it holds the laws of the answer given
that value. Where a belief is a class of laws the laws form a hull: under every law of the class the answer's law given
the value is a mixture of them. A bound on W-infinity or on the largest log-ratio of every pair of laws of two hulls
holds for all mixtures: both are closed under mixing the two sides independently.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from takifugu.analysis.problem import Part
from takifugu.analysis.questions.compared import AnswerFamily
from takifugu.core.cache import cached
from takifugu.core.entries import called
from takifugu.core.errors import Unsupported
from takifugu.core.registry import Question
from takifugu.model.beliefs import Belief
from takifugu.model.queries import Additive
from takifugu.model.secrets.families import Family, View

B = TypeVar("B", bound=Belief, covariant=True)
Value = TypeVar("Value")


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
        pairs = self.pairs_of(len(self.belief.alphabet(self.family.entries[0])))
        return pairs * self.hull * len(self.family.entries), self.atoms()

    def pairs_of(self, values: int) -> float:
        """Return how many unordered pairs are compared of an entry with so many values."""
        return values * (values - 1) / 2 if self.family.pairs is None else len(self.family.pairs) / 2

    def cached_bytes(self) -> float:
        """Return about how many bytes all families take when they are kept."""
        count, atoms = self.comparisons()
        return 32.0 * (count + len(self.family.entries)) * atoms

    def describe(self, entry: int, value: int, number: int, start: int = 0) -> str:
        """Describe a law's hypothesis; entries are numbered from `start`."""
        if isinstance(self.belief, View):
            return self.belief.describe_hypothesis(value)
        return f"{called(self.belief, entry, start)} = {self.belief.alphabet(entry)[value]!r}"


def newest(answer: Additive, belief: Belief, key: Hashable, make: Callable[[], Value]) -> Value:
    """Return what was found of an answer under a belief; of each answer the newest is kept."""
    kept = cached(answer, newest, dict[Hashable, tuple[Belief, Value]])
    known = kept.get((id(belief), key))
    if known is None:
        known = belief, make()  # the belief is held, so that its id is not reused
        kept.clear()
        kept[id(belief), key] = known
    return known[1]


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
    """Return the answer of a belief without a law of the answer; `{}` in the reason is the belief's type."""
    return lambda belief, answer, family: AnswerLaw(belief, answer, family, because.format(type(belief).__name__))

_CELLS = (
    "the answer has {} cells, and this mechanism hides a secret in the distribution of one number only: cells that "
    "each hide it can reveal it together, so one release per cell does not compose (each of two bits may say nothing "
    'about their exclusive or); use mechanism="influence" or "group-dp"'
)
FOR_CLASSES = no_law(
    "a class of chains given by pi and g has no single distribution of the answer, and no finite set of its "
    'chains represents it: name one chain, MarkovChain(matrix, length, initial="any"), or use '
    'mechanism="influence" or "group-dp"'
)
FOR_INTERVALS = no_law(
    "a class of chains with transition probabilities in intervals has no single distribution of the answer, "
    'and its corners prove nothing about the rest: name one chain, or use mechanism="influence" or "group-dp"'
)
FOR_COUNTED = no_law(
    "counted parameters follow any distribution that the counts support, so the answer has no single one, and the "
    'point estimate is only one of them: use mechanism="attribute-quilt", which holds for all, or leave the confidence '
    "out and believe in the point estimate"
)
FOR_RECORDS = no_law(
    "under a belief over records columns are hidden, not whole records: name one, every_entry(attribute=...) or "
    'dataset_property(...), believe in IndependentUsers, or use mechanism="group-dp"'
)
FOR_DENSITIES = no_law(
    "the answer has a density, so no list of values and masses is its distribution: use "
    'mechanism="attribute-gaussian-approx" with a delta above 0'
)

#: (belief, answer, family) -> AnswerLaw, by type of belief.
ANSWER_LAW: Question[Callable[[Belief, Additive, Family], AnswerLaw[Belief]]] = Question(
    "the distribution of the answer",
    default=no_law(
        "the distribution of the answer is not known under a {}, only under a MarkovChain, a JointTable, a "
        'BayesianNetwork, cliques or IndependentUsers; use mechanism="group-dp"'
    ),
)
