"""Whatever a mechanism may compute: an answer that each entry moves by 1, to whatever other value it changes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from takifugu.core.entries import Entries
from takifugu.core.plain import PlainForm
from takifugu.model.queries.additive import Additive
from takifugu.model.queries.coding import alphabets, state_tables


@dataclass(frozen=True)
class EveryChange(PlainForm, kind="every-change"):
    """Any statistic at all of which only the loss is known: b = 1/epsilon stands for a loss of epsilon an entry.

    >>> EveryChange().describe()
    'a statistic that any change of a value may move'
    """

    adds_up = True

    def resolve(self, entries: Entries) -> Additive:
        """Return half a histogram, on the grid 1/2.

        It has an L1 distance of 1 between any two values of an entry.
        """
        most = max(map(len, alphabets(entries)))
        tables, weights, table_of = state_tables(
            entries, None, lambda alphabet: [[int(n == m) for m in range(most)] for n in range(len(alphabet))]
        )
        return Additive(Fraction(1, 2), tuple(map(str, range(most))), tables, weights, table_of)

    def describe(self) -> str:
        return "a statistic that any change of a value may move"
