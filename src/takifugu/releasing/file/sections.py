"""The sections of a release file as typed values, those that every kind of file has."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Protocol, Self, runtime_checkable

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr, model_validator

from takifugu.core.errors import InputError
from takifugu.core.plain import Json
from takifugu.data import Numerals, Written
from takifugu.data import Table as Data
from takifugu.data.values.texts import BLANKS
from takifugu.releasing.file.keys import (
    AllowZeroNoise,
    AsComposing,
    BeginsSeries,
    Decimal,
    Delimiter,
    Delta,
    Encoding,
    Epsilon,
    Importance,
    ItemDelta,
    ItemEpsilon,
    Matters,
    Mechanism,
    Missing,
    Name,
    OnlyRelease,
    OwnEpsilon,
    Path,
    Positive,
    PublicSource,
    Renamed,
    SamePeople,
    Shares,
    SourceFile,
    TableName,
    Text,
    Thousands,
    UnitsIndependent,
    Values,
    Version,
    Words,
)


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Described(Section):
    """A section whose keys a dataclass declares, or some of them."""

    declared: ClassVar[type]

    @property
    def meant(self) -> Any:
        """Return the section as its author declared it."""
        return _plain(self, type(self).declared)


def _plain(value: object, declared: type | None = None) -> object:
    """Return validated values as their author declared them."""
    if isinstance(value, Described):
        kind = declared or type(value).declared
        return kind(**{key.name: _plain(getattr(value, key.name)) for key in fields(kind) if hasattr(value, key.name)})
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return {key: _plain(part) for key, part in value.items()} if isinstance(value, dict) else value


#: A line of a file, from 1.
Line = Annotated[StrictInt, Field(ge=1)]


class FileKeys(Section):
    """How a file is written, where that cannot be seen; for a file of a belief, what its source declares by default."""

    encoding: Encoding = None
    delimiter: Delimiter = None
    header: Annotated[
        StrictBool | Line | tuple[Line, Line] | None,
        Field(
            description="false where a CSV file has no line of names: columns are column_1, column_2 ...; else its "
            "line, or that and the last line above the rows; they hold nobody's data",
            examples=[4, [1, 3]],
        ),
    ] = None
    decimal: Decimal = None
    thousands: Thousands = None
    sheet: Annotated[
        Text | None, Field(description="the sheet of an Excel workbook that has several", examples=["Sheet1"])
    ] = None
    table: Annotated[
        Text | None, Field(description="the table of a database that has several", examples=["visits"])
    ] = None

    file_names: Annotated[
        Text | None,
        Field(description="the column that each file's name becomes, of a folder or a pattern", examples=["person"]),
    ] = None

    @model_validator(mode="after")
    def _numerals(self) -> Self:
        Numerals(self.decimal or ".", self.thousands or "")
        Written(lines=self.header if isinstance(self.header, tuple) else None)
        return self


class BudgetSpec(Section):
    """The most that a unit may ever spend."""

    epsilon: Annotated[Epsilon, Field(description="the most epsilon that a person may ever spend", examples=[4.0])]
    delta: Annotated[Delta, Field(description="the most delta that a person may ever spend", examples=[1e-6])] = 0


Budget = Annotated[
    Epsilon | BudgetSpec | None,
    Field(description="the most that a person may ever spend: epsilon, or { epsilon = ..., delta = ... }"),
]


#: Keys of [source] that decide nothing of it: where the data are, what may be spent, what is public, which batch it is.
_NO_LAYOUT = frozenset((
    "name", "file", "sheet", "table", "budget", "same_people", "only_release", "list_units", "until", "gaps", "nulls",
    "engine", "attributes", "batch", "rows_per_person", "as_composing", "begins_series", "renamed", "roster",
))  # fmt: skip
#: What is meant where a key of [source] is left out, if its section does not say so.
_MEANT = {"timezone": "UTC", "encoding": "utf-8", "decimal": ".", "thousands": "", "header": True}


class SourceKeys(FileKeys):
    """The keys of [source] that every kind of file has; a kind adds the columns that it reads."""

    #: Keys that came later than the others of their kind: a file without them is the release that it was before.
    newer: ClassVar[tuple[str, ...]] = ()

    name: Annotated[Name, Field(description="the data's name in the ledger")]
    engine: Annotated[
        Text | None, Field(description="what opens the file or the table, by its own configuration", examples=["spark"])
    ] = None
    file: SourceFile = None
    renamed: Renamed = Field(default_factory=dict)
    missing: Missing = ()
    same_people: SamePeople = None
    budget: Budget = None
    only_release: OnlyRelease = False
    as_composing: AsComposing = False
    begins_series: BeginsSeries = False

    if TYPE_CHECKING:

        @property
        def unit(self) -> str | None:
            """Return the column of units, None for a single one."""

    @property
    def reads_all_columns(self) -> bool:
        """Return whether columns without a key matter and must be declared."""
        return False

    def long(self, table: Data, belief: Described | None) -> Data:
        """Return the table with the declared columns; InputError for undeclared ones."""
        return table.renamed(self.renamed)

    def layout(self, belief: Described, table: Data | None) -> Json:
        """Return the keys for the meaning of rows, without defaults."""
        said = self.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        layout = {key: value for key, value in said.items() if key not in _NO_LAYOUT and _MEANT.get(key) != value}
        missing = sorted({str(word).strip(BLANKS) for word in self.missing} - {""})
        return {**layout, "missing": missing or None}


class ExpectSpec(Section):
    """What is expected of the data, from a public source, and what matters to the reader: for advice alone."""

    source: PublicSource
    shares: Shares = None
    values: Values = None
    people: Annotated[Positive | None, Field(description="how many people are expected in the data")] = None
    rows: Annotated[Positive | None, Field(description="how many rows or steps are expected of each of them")] = None
    matters: Matters = None
    unimportant: Annotated[
        tuple[Words, ...] | None, Field(description="cells that need not be readable", examples=[["night"]])
    ] = None

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if self.shares is not None and self.values is not None:
            raise InputError("has shares and values", fix="write one of them")
        return self


class ItemWords(Section):
    """The keys of [[release]] that are for readers of the report and the certificate."""

    expect: Annotated[
        ExpectSpec | None, Field(description="what is expected of this table, in place of [expect]")
    ] = None

    title: Annotated[
        Words | None, Field(description="what the table is called in words", examples=["Activity on the ward"])
    ] = None
    measured_in: Annotated[Words | None, Field(description="what one of its values is", examples=["hours"])] = None


class AboutUnits(Described):
    """The key of [belief] that every belief about independent units has."""

    units_independent: UnitsIndependent = None


class Table(ItemWords, Described):
    """The keys that every [[release]] has; its query adds its own."""

    name: Annotated[TableName, Field(examples=["time-use"])]
    query: Annotated[Text, Field(description="what is computed", examples=["histogram"])]
    epsilon: ItemEpsilon
    delta: ItemDelta = 0
    mechanism: Mechanism = "auto"
    allow_zero_noise: AllowZeroNoise = False

    @property
    def scope(self) -> str:
        """Return "unit" for an answer each, "pooled" for one, or "both"."""
        return "unit"

    @property
    def period(self) -> str | None:
        """Return the table's window of a calendar, if any."""
        return None

    @property
    def shares_epsilon(self) -> bool:
        """Return whether the table shares the file's joint epsilon."""
        return False


class SharedTable(Table):
    """A [[release]] that may share an epsilon with others."""

    epsilon: OwnEpsilon = None  # type: ignore[assignment]  # who asks for it asks `shares_epsilon` first
    importance: Importance = None

    @property
    def shares_epsilon(self) -> bool:
        return self.epsilon is None


@runtime_checkable
class Adjustable(Protocol):
    """A [[release]] beside whose noisy values consistent ones may be published."""

    @property
    def adjust(self) -> bool | None: ...


class FileSpec(Section):
    """The keys that every release file begins with; each kind of file has its own sections behind them."""

    version: Version = 1
    ledger: Annotated[Path, Field(description="the ledger's file or URL", examples=["ledger.db"])]
    require_ledger: Annotated[StrictBool, Field(description="refuse to create a ledger where it is missing")] = False
    ledger_id: Annotated[
        StrictStr | None,
        Field(description="which ledger that is: `init` and the first release write it", pattern="^[0-9a-f]{16}$"),
    ] = None
    output: Annotated[
        Path | None,
        Field(
            description="the folder of the published files; default: the release file's name, with -published",
            examples=["minutes-published"],
        ),
    ] = None
    joint_epsilon: Annotated[
        Epsilon | None,
        Field(description="what the tables without an epsilon of their own promise together", examples=[1.0]),
    ] = None
    joint_delta: Annotated[
        Delta,
        Field(description="the delta of joint_epsilon: above 0 these tables get normal noise", examples=[1e-6]),
    ] = 0
    expect: Annotated[
        ExpectSpec | None, Field(description="what is expected of the data, for `takifugu advise`")
    ] = None
    publisher: Annotated[
        Words | None, Field(description="who publishes; on certificates and reports", examples=["City Hospital"])
    ] = None
    contact: Annotated[
        Words | None, Field(description="whom to ask; on certificates and reports", examples=["data@hospital.example"])
    ] = None

    if TYPE_CHECKING:  # which each kind of file declares in its own words

        @property
        def source(self) -> SourceKeys: ...

        @property
        def belief(self) -> Described: ...

        @property
        def release(self) -> tuple[Table, ...]: ...
