"""The keys that sections of several beliefs have in a release file, and how they are read.

A belief's section stands beside it: a frozen dataclass with the name in the file, `kind: Literal["..."]`, its keys, and
`belief(public)`, which makes the belief. It may say what no single key shows (`faults()`), and what is taken to be
public (`assumptions()`). A key that decides what a row of the data means says so (`Key.read`), and the section of a
public file which columns are `counted`. A belief that is made of its keys as they are needs no section (`section_of`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, make_dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol, get_type_hints

from annotated_types import Ge, Gt, Le, Lt, MinLen

from takifugu.core.errors import InputError
from takifugu.core.sections import FilePath, Key, Number, PublicFile, State, Text, keys_of, values_of
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
        """Return the different texts of a column, sorted; DataError where one is missing."""
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
        """Return the canonical names of all people; DataError where two spellings may be one person."""
        ...

    def number(self, text: str, column: str) -> str:
        """Return a number of the file as Python writes it; DataError for other texts."""
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


def section_of(belief: type, kind: str) -> type:
    """Return the section of a belief whose fields with a `Key` are its keys: they are said once."""
    if not is_dataclass(belief):
        fix = "make it a frozen dataclass, or give the section of its keys"
        raise InputError(f"{belief!r} is no dataclass, whose fields are keys", fix=fix).at("belief")
    keys, hints = keys_of(belief), get_type_hints(belief, include_extras=True)
    # a sequence has one step, and any other field without a key has its default
    named: Any = ("kind", Literal[kind])
    parts, given = [named], dict[str, Any]()
    for part in fields(belief):
        if part.name in keys:
            default: Any = field(default=part.default, default_factory=part.default_factory)
            parts.append((part.name, hints[part.name], default))
        elif part.name == "length":
            given["length"] = 1
        elif part.default is MISSING and part.default_factory is MISSING:
            raise InputError(
                f"the field {part.name!r} of {belief.__name__} has neither a Key nor a default, so no file can say it",
                fix=f'write {part.name}: Annotated[..., Key("what it is", an_example)]',
            ).at("belief")

    def made(section: object, public: Public) -> object:
        return belief(**values_of(section, keys), **given)

    members = {"belief": made, "__doc__": belief.__doc__, "__module__": belief.__module__}
    return make_dataclass(f"{belief.__name__}Section", parts, namespace=members, frozen=True, kw_only=True)


def mass(probability: Number) -> int | float | Fraction:
    """Return a probability as it was written, texts as exact fractions."""
    if isinstance(probability, str):
        return as_fraction(probability, "a probability")
    return probability
