"""The keys that sections of several beliefs have in a release file, and how they are read.

A belief's section stands beside it: a frozen dataclass with the name in the file, `kind: Literal["..."]`, its keys, and
`belief(public)`, which makes the belief. It may say what no single key shows (`faults()`), and what is taken to be
public (`assumptions()`). A key that decides what a row of the data means says so (`Key.read`), and the section of a
public file which columns are `counted`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

from annotated_types import Ge, Gt, Le, Lt, MinLen

from takifugu.core.sections import FilePath, Key, Number, PublicFile, State, Text
from takifugu.numbers.rationals import as_fraction

if TYPE_CHECKING:
    from takifugu.model.beliefs.boxed_places import Box

#: What helps where a value is missing that the belief would have to know.
FILL_THEM = 'fill them with a text such as "unknown", and declare it as a value under [belief]; or leave these rows out'

Texts = tuple[str | None, ...]

Size = Annotated[int, Ge(1), Le(10_000_000)]
Records = Annotated[Size, Key("how many records there are, which is public", 500)]
Origin = Annotated[Text, Key("where the belief comes from")]
Cited = Annotated[Text, Key("where the belief comes from", "a public survey of last year")]
Private = Annotated[bool, Key("true where the file holds the private data itself")]
Confidence = Annotated[
    Annotated[float, Gt(0), Lt(1)] | None,
    Key("believe every distribution that the file supports at this level", 0.99),
]
Presence = Annotated[Number, Key("the probability that a user is present")]
#: What users can contribute: values, or a list of values, one for each column.
Values = tuple[State | tuple[State, ...], ...]


class PublicTable(Protocol):
    """A public file, opened."""

    @property
    def source(self) -> str: ...

    def values(self, column: str) -> tuple[str, ...]:
        """Return the different texts of a column, sorted.

        Raises DataError where one is missing.
        """
        ...

    def texts(self, columns: Sequence[str]) -> list[Texts]:
        """Return some columns as rows of texts; None is a missing value."""
        ...

    def codes(self, columns: Sequence[str], values: Sequence[Hashable], box: Box | None = None) -> list[int]:
        """Return each row's index into values, or its number in a box's cells."""
        ...

    def counts(self, columns: Sequence[str], classes: Mapping[str, Hashable]) -> Counter[tuple[Hashable, ...]]:
        """Count the rows of some columns, with numbers by bin or class."""
        ...

    def people(self, spellings: Sequence[tuple[str, int | None]], column: str) -> dict[str, str]:
        """Return the canonical names of all people.

        Raises DataError where two spellings may be one person.
        """
        ...

    def number(self, text: str, column: str) -> str:
        """Return a number of the file as Python writes it.

        Raises DataError for other texts.
        """
        ...


class Public(Protocol):
    """What a belief may be made from beside its own keys: public files in `folder`, and the keys of [source]."""

    @property
    def folder(self) -> Path: ...

    @property
    def source(self) -> Any: ...

    def open(self, file: object) -> PublicTable:
        """Open a section's file."""
        ...


@dataclass(frozen=True, kw_only=True)
class TableFit(PublicFile):
    """The joint counts of some columns of a public file, exact."""

    file: Annotated[FilePath, Key("a public file of records", "public.csv")]
    columns: Annotated[tuple[Text, ...], MinLen(1), Key("the columns counted", ["race", "education"])]
    private: Private = False

    def counted(self, belief: object, source: object) -> Sequence[str]:
        return self.columns


@dataclass(frozen=True, kw_only=True)
class SureFit(TableFit):
    """The joint counts of some columns of a public file, and how sure to be of them."""

    confidence: Confidence = None


Fit = Annotated[TableFit | None, Key("count the rows of a public file")]
Columns = Annotated[tuple[Text, ...] | None, Key("the names of the columns of `rows`")]
Rows = Annotated[
    tuple[tuple[State, ...], ...] | None,
    Key("every combination of values that can occur", [["a", "low"], ["b", "high"]]),
]
Counts = Annotated[tuple[int, ...] | None, Key("how often each row was counted")]
Probabilities = Annotated[tuple[Number, ...] | None, Key("the probability of each row")]


def mass(probability: Number) -> int | float | Fraction:
    """Return a probability as it was written, texts as exact fractions."""
    if isinstance(probability, str):
        return as_fraction(probability, "a probability")
    return probability
