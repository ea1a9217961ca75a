"""Parameters of a population that were counted in public ones: every joint distribution that the counts support.

The intervals (Clopper and Pearson 1934) of P(phi_Q = x | phi_i = a), for all i, a, x and all sets Q of other parameters
up to a size that depends on the alphabets only, share what may fail (docs/theory/attributes.md#attributes-counted).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np

from takifugu.core.arrays import FloatArray, IntArray
from takifugu.core.assumptions import Assumption, world
from takifugu.core.plain import Json, Plain, set_fields, to_plain
from takifugu.core.rules import members_of
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.estimate import checked_confidence, interval, missed
from takifugu.model.beliefs.records.parameters import Column, Parameters, columns_from
from takifugu.model.beliefs.states import State, first_few
from takifugu.model.beliefs.table import JointTable
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.rationals import Number

Numbers = TypeVar("Numbers", FloatArray, IntArray)
#: Intervals that share what may fail: larger sets of parameters are left out from here on.
MOST_INTERVALS = 100_000


@dataclass(frozen=True, eq=False)
class CountedParameters(Parameters):
    """Model records whose parameters follow a distribution that public counts support (Zhang22 Section 5).

    The belief is a class: it holds the true distribution with the confidence if the counted populations are independent
    of each other. The guarantee holds for the class, not for the counted table alone, by which queries and data are
    read.

    Args:
        rows: Combinations of the parameters' values; one with a count of 0 stays possible.
        counts: How many public populations had each.
        names: Names of the parameters.
        columns: As in `Parameters`.
        records: Number of records; it is public.
        source: Where the counts come from, in words; certificates print it.
        confidence: Probability that the class holds the true distribution, between 0 and 1.
        private: Whether the counts are the data to protect; `calibrate` then refuses the belief by default.

    Raises:
        InputError: As `Parameters` and `JointTable.from_counts`, and for a confidence outside (0, 1).

    Examples:
        >>> coins = {"few": {1: "0.1", 0: "0.9"}, "many": {1: "0.4", 0: "0.6"}}
        >>> rows = [("few", "few"), ("few", "many"), ("many", "few"), ("many", "many")]
        >>> names = ["smokers", "cough"]
        >>> towns = CountedParameters(rows, [60, 40, 40, 60], names, {"cough": coins}, records=100, source="towns")
        >>> low, high = towns.chances(0)[1,]
        >>> low.round(3).tolist(), high.round(3).tolist()
        ([[0.434, 0.249], [0.249, 0.434]], [[0.751, 0.566], [0.566, 0.751]])
    """

    counts: tuple[int, ...] = ()
    confidence: float = 0.0

    answers: ClassVar = {
        "the distribution of the answer": "analysis.questions.answer_law:FOR_COUNTED",
        "the mean of an answer": "analysis.expectations.columns:OfCounted",
        "what is known of quilts": "influence.quilts.network.counted_columns:COUNTED",
        "the list of joint states": "audit.states:CountedStates",
        "the moments of a count": "analysis.expectations.moments_of_rows:of_ends",
        "the view of a secret": "model.beliefs.records.parameters:no_view",
    }

    def __init__(
        self,
        rows: Iterable[Sequence[State]],
        counts: Iterable[int],
        names: Iterable[Hashable],
        columns: Mapping[str, Mapping[Any, Mapping[Any, Number] | Pmf]],
        records: int,
        *,
        source: str,
        confidence: float = 0.99,
        private: bool = False,
    ) -> None:
        numbers = members_of(counts, "the counts", "counts", "[60, 40]")
        table = JointTable.from_counts(rows, numbers, names, source=source, private=private)
        super().__init__(table, columns, records)
        set_fields(self, counts=tuple(map(int, numbers)), confidence=checked_confidence(confidence))

    @property
    def table(self) -> JointTable:
        """Return the counted table."""
        assert isinstance(self.prior, JointTable)
        return self.prior

    def possible(self, entry: int) -> tuple[bool, ...]:
        """Return True for each value of an entry, as some distribution of the class has it.

        Args:
            entry: The parameter's number.

        Returns:
            One truth value for each value.
        """
        return (True,) * len(self.alphabet(entry))

    def chances(self, entry: int) -> Mapping[tuple[int, ...], tuple[FloatArray, FloatArray]]:
        """Return intervals of P(phi_Q = x | phi_i = a) for each set Q of parameters.

        Args:
            entry: The number i.

        Returns:
            Lower and upper ends by Q, each of shape (values of phi_i, combinations of values of phi_Q).
        """
        return self._chances[entry]

    @cached_property
    def _chances(self) -> tuple[Mapping[tuple[int, ...], tuple[FloatArray, FloatArray]], ...]:
        sets = list(self._sets())
        together = self._intervals(sets)
        miss = missed(self.confidence, max(together, 1))
        chances: list[dict[tuple[int, ...], tuple[FloatArray, FloatArray]]] = [{} for _ in range(self.size)]
        for entry, nodes in sets:
            counted = _added_up(self.table, np.array(self.counts, dtype=np.int64), entry, nodes)
            low, high = np.empty(counted.shape), np.empty(counted.shape)
            for value, row in enumerate(counted.tolist()):
                for place, count in enumerate(row):
                    low[value, place], high[value, place] = interval(count, sum(row), miss)
            chances[entry][nodes] = (low, high)
        return tuple(chances)

    def _sets(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Yield every entry with sets of others, as large as all fit."""
        together = 0
        for count in range(1, self.size):
            of_this_size = list[tuple[int, tuple[int, ...]]]()
            for nodes in itertools.combinations(range(self.size), count):
                of_this_size += itertools.product(set(range(self.size)) - set(nodes), [nodes])
            together += self._intervals(of_this_size)
            if together > MOST_INTERVALS:
                return
            yield from of_this_size

    def _intervals(self, sets: Iterable[tuple[int, tuple[int, ...]]]) -> int:
        """Return how many intervals there are of entries given sets of others."""
        sizes = list(map(len, map(self.alphabet, range(self.size))))
        count = 0
        for entry, nodes in sets:
            count += math.prod(map(sizes.__getitem__, (entry, *nodes)))
        return count

    def contains(self, member: Belief) -> bool:
        """Return whether the class has a belief's distribution, within 1e-9, for the same columns.

        Args:
            member: The belief.

        Returns:
            True if it has.
        """
        if not isinstance(member, Parameters) or isinstance(member, CountedParameters):
            return False
        prior = member.table
        if prior is None or prior.names != self.names or member.records != self.records:
            return False
        if _plain(member.described) != _plain(self.described):
            return False
        shares = np.array([float(mass) / float(prior.total or 1) for mass in prior.masses])
        for entry in range(self.size):
            if prior.alphabet(entry) != self.alphabet(entry):
                return False
            for nodes, (low, high) in self.chances(entry).items():
                joint = _added_up(prior, shares, entry, nodes)
                given = joint / np.maximum(joint.sum(axis=1, keepdims=True), 1e-300)
                if (given < low - 1e-9).any() or (given > high + 1e-9).any():
                    return False
        return True

    def assumptions(self) -> tuple[Assumption, ...]:
        return (
            world(
                "The parameters of the population follow a joint distribution in the class that the counts support. "
                f"The class covers the true one with confidence {self.confidence}, and the guarantee holds only if it "
                "does."
            ),
            world("The counted populations are independent. The parameters take no values but theirs."),
            super().assumptions()[1],
        )

    def to_dict(self) -> Json:
        return {
            "kind": "counted-parameters", "rows": list(map(list, self.table.rows)), "counts": list(self.counts),
            "names": list(self.names), "columns": to_plain(self.described), "records": self.records,
            "confidence": self.confidence, "source": self.source,
        }  # fmt: skip

    @staticmethod
    def from_dict(data: Plain) -> CountedParameters:
        table = JointTable.from_counts(data["rows"], data["counts"], data["names"], source=data["source"])
        return CountedParameters(
            data["rows"], data["counts"], data["names"], columns_from(data["columns"], table), data["records"],
            source=data["source"], confidence=data["confidence"],
        )  # fmt: skip

    def describe(self) -> str:
        return (
            f"{self.records} records with the columns {first_few(self.columns)}, whose parameters follow any joint "
            f"distribution that {sum(self.counts):,} counted populations support (confidence {self.confidence}; "
            f"{self.source})"
        )


def _added_up(table: JointTable, weights: Numbers, entry: int, nodes: tuple[int, ...]) -> Numbers:
    """Add up a table's weights by value and others' combination."""
    sizes = [len(table.alphabet(node)) for node in nodes]
    total = np.zeros((len(table.alphabet(entry)), math.prod(sizes)), dtype=weights.dtype)
    places = np.ravel_multi_index(tuple(table.indices[:, list(nodes)].T), tuple(sizes))
    np.add.at(total, (table.indices[:, entry], places), weights)
    return total


def _plain(columns: Iterable[Column]) -> list[tuple[object, ...]]:
    return [(column.name, column.entry, column.states, column.laws) for column in columns]
