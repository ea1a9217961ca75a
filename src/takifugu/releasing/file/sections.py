"""The sections of a release file as typed values; each key says what it means, for messages and for the JSON Schema."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Protocol, Self, runtime_checkable

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    model_validator,
)

from takifugu.core.errors import InputError
from takifugu.core.escaping import visible
from takifugu.core.names import normalised
from takifugu.core.plain import Json
from takifugu.core.sections import checked_path
from takifugu.data import Numerals, Written
from takifugu.model.beliefs.estimate import is_private_source
from takifugu.numbers.rationals import as_delta, as_epsilon, as_fraction


def _encoding(value: str | None) -> str | None:
    Written(encoding=value)
    return value


def _delimiter(value: str | None) -> str | None:
    Written(delimiter=value)
    return value


def _decimal(value: str | None) -> str | None:
    Numerals(decimal="." if value is None else value)
    return value


def _thousands(value: str | None) -> str | None:
    Numerals("," if value == "." else ".", value or "")
    return value


def _epsilon(value: int | float | str) -> int | float | str:
    as_epsilon(value, "the budget")
    return value


def _number(value: object) -> Any:
    if isinstance(value, bool):  # true is 1 in Python, but not in a release file
        raise InputError(f"is {str(value).lower()}", fix="write 1")
    return value


def _named(value: str) -> str:
    if not normalised(value):
        raise InputError("is a blank name", fix="write letters or digits")
    return value


def _words(value: str) -> str:
    if visible(value) != value or "\n" in value or not value.strip():
        raise InputError("is blank, or holds control characters", fix="write words on one line")
    return value


def _table(value: str) -> str:
    if re.fullmatch("con|prn|aux|nul|(com|lpt)[0-9]", value.lower()):
        raise InputError("is a device on Windows, so no file can have this name there", fix="write another name")
    return value


def _importance(value: int | float | str | None) -> int | float | str | None:
    if value is not None and as_fraction(value, "the importance") <= 0:
        raise InputError(f"is {value!r}", rule="it must be above 0", fix="write for example 2")
    return value


def _public(value: str) -> str:
    if is_private_source(value):
        raise InputError(
            "is the private data", rule="advice must not depend on them", fix="write what is known without them"
        )
    return value


def _shares(value: dict[str, Number] | None) -> dict[str, Number] | None:
    numbers = [as_fraction(one, "a share") for one in (value or {}).values()]
    if value is not None and (any(one < 0 for one in numbers) or abs(float(sum(numbers)) - 1) > SUMS_TO_ONE):
        raise InputError(f"sum to {float(sum(numbers)):.6g}", rule="shares are at least 0 and sum to 1")
    return value


def _delta(value: int | float | str) -> int | float | str:
    as_delta(value, "delta")
    return value


#: Shares that are written in decimals sum to 1 up to this.
SUMS_TO_ONE = 1e-6

Number = StrictInt | StrictFloat | StrictStr
Epsilon = Annotated[Number, AfterValidator(_epsilon)]
Delta = Annotated[Number, AfterValidator(_delta)]
State = StrictStr | StrictInt
Text = Annotated[StrictStr, Field(min_length=1)]
#: A name in the ledger, as it is written: the ledger itself treats all spellings of it as one.
Name = Annotated[Text, AfterValidator(_named)]
Path = Annotated[Text, AfterValidator(checked_path)]
Positive = Annotated[StrictInt, Field(ge=1)]
#: Public words for readers, which change no number.
Words = Annotated[StrictStr, Field(min_length=1, max_length=200), AfterValidator(_words)]


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Described(Section):
    """A section whose keys a dataclass declares, or some of them."""

    declared: ClassVar[type[Any]]

    @property
    def meant(self) -> Any:
        """Return the section as its author declared it."""
        return _plain(self, type(self).declared)


def _plain(value: Any, declared: type[Any] | None = None) -> Any:
    """Return validated values as their author declared them."""
    if isinstance(value, Described):
        kind = declared or type(value).declared
        return kind(**{one.name: _plain(getattr(value, one.name)) for one in fields(kind) if hasattr(value, one.name)})
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return {key: _plain(one) for key, one in value.items()} if isinstance(value, dict) else value


class FileKeys(Section):
    """How a file is written, where that cannot be seen; for a file of a belief, what its source declares by default."""

    encoding: Annotated[
        StrictStr | None,
        Field(description="the encoding of a CSV file; default: UTF-8", examples=["cp1252"]),
        AfterValidator(_encoding),
    ] = None
    delimiter: Annotated[
        StrictStr | None,
        Field(description="the sign between fields of a CSV file; default: what splits its first line", examples=[";"]),
        AfterValidator(_delimiter),
    ] = None
    header: Annotated[
        StrictBool | None,
        Field(description="false where a CSV file has no line of names: columns are column_1, column_2 ..."),
    ] = None
    decimal: Annotated[
        StrictStr | None,
        Field(description="the decimal sign of numbers that are texts", examples=[","]),
        AfterValidator(_decimal),
    ] = None
    thousands: Annotated[
        StrictStr | None,
        Field(description="the sign between groups of three digits", examples=["."]),
        AfterValidator(_thousands),
    ] = None
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
        return self


class BudgetSpec(Section):
    """The most that a unit may ever spend."""

    epsilon: Annotated[Epsilon, Field(description="the most epsilon that a person may ever spend", examples=[4.0])]
    delta: Annotated[Delta, Field(description="the most delta that a person may ever spend", examples=[1e-6])] = 0


#: Keys of [source] and [[release]] that every kind of file has.
SourceFile = Annotated[
    Path | None,
    Field(description="the data's file, relative to this one: CSV, Parquet, Excel ...; a frame in Python needs none"),
]
Missing = Annotated[
    tuple[StrictStr, ...],
    Field(description="texts that count as missing, beside the empty one", examples=[["NA", "?"]]),
]
NullKeys = Annotated[
    Literal["refuse", "drop"],
    Field(description='rows that do not say whose, or of which piece, they are: "refuse", or "drop" to leave them out'),
]
Edges = tuple[Number, Number]
Bins = Annotated[
    dict[str, Edges] | None,
    Field(
        description="numbers that count as each state, from the first edge to below the second one",
        examples=[{"still": [0, 100], "moving": [100, 2000]}],
    ),
]
SamePeople = Annotated[
    StrictBool | None,
    Field(description="are the people of another source of the ledger (those of the same names, if any) the same?"),
]
Budget = Annotated[
    Epsilon | BudgetSpec | None,
    Field(description="the most that a person may ever spend: epsilon, or { epsilon = ..., delta = ... }"),
]
AsComposing = Annotated[
    StrictBool,
    Field(
        description="give up promises that are alone (made by `only_release`) where others are released beside them: "
        "from then on the ledger charges their noise"
    ),
]
OnlyRelease = Annotated[
    StrictBool, Field(description="nothing else is ever released about this source: allows the least noise")
]
BeginsSeries = Annotated[
    StrictBool,
    Field(
        description="the first tables with normal noise begin a series: later tables about the same steps count as "
        "multiples of them"
    ),
]
TableName = Annotated[
    StrictStr,
    Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$", description="the table's name, also of its files"),
    AfterValidator(_table),
]
ItemEpsilon = Annotated[Epsilon, Field(description="the promise, and what each person spends", examples=[1.0])]
#: The epsilon of tables that may share the joint one of their file.
OwnEpsilon = Annotated[
    Epsilon | None,
    Field(description="the promise, and what each person spends; left out: shares joint_epsilon", examples=[1.0]),
]
Importance = Annotated[
    Number | None,
    Field(description="what one unit of the error counts beside other tables that share joint_epsilon", examples=[2]),
    AfterValidator(_importance),
]
ItemDelta = Annotated[Delta, Field(description="the excess probability that is allowed; 0 is a pure promise")]
Mechanism = Annotated[Text, Field(description='a mechanism\'s name, or "auto"')]
AllowZeroNoise = Annotated[
    StrictBool, Field(description="accept that only the belief's own randomness, and no noise, hides the secret")
]
UnitsIndependent = Annotated[StrictBool | None, Field(description="declare that people are independent")]


#: Keys of [source] that decide nothing of it: where the data are, what may be spent, what is public, which batch it is.
_NO_LAYOUT = frozenset((
    "name", "file", "sheet", "table", "budget", "same_people", "only_release", "list_units", "until", "gaps", "nulls",
    "attributes", "batch", "rows_per_person", "as_composing", "begins_series",
))  # fmt: skip
#: What is meant where a key of [source] is left out, if its section does not say so.
_MEANT = {"timezone": "UTC", "encoding": "utf-8", "decimal": ".", "thousands": "", "header": True}


class SourceKeys(FileKeys):
    """The keys of [source] that every kind of file has; a kind adds the columns that it reads."""

    name: Annotated[Name, Field(description="the data's name in the ledger")]
    file: SourceFile = None
    missing: Missing = ()
    same_people: SamePeople = None
    budget: Budget = None
    only_release: OnlyRelease = False
    as_composing: AsComposing = False
    begins_series: BeginsSeries = False

    if TYPE_CHECKING:

        @property
        def unit(self) -> str | None:
            """The column that says whose row it is: a key where there are several units, None where there are not."""

    def layout(self, belief: object) -> Json:
        """Return what decides which rows become which entry of whom, and what value it has, by the keys that say it.

        What comes in another layout is charged at its worst (`ledger.layouts`), so keys that decide nothing of this,
        and what is written where it is meant anyhow, are left out.
        """
        said = self.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        layout = {key: value for key, value in said.items() if key not in _NO_LAYOUT and _MEANT.get(key) != value}
        return {**layout, "missing": sorted(self.missing) or None}


class ExpectSpec(Section):
    """What is expected of the data, from a public source, and what matters to the reader: for advice alone."""

    source: Annotated[
        Words,
        AfterValidator(_public),
        Field(description="where the expectation comes from: public knowledge", examples=["the survey of last year"]),
    ]
    shares: Annotated[
        dict[str, Number] | None,
        Field(description="the expected share of each cell; they sum to 1", examples=[{"still": 0.8, "walking": 0.2}]),
        AfterValidator(_shares),
    ] = None
    values: Annotated[
        dict[str, Number] | Number | None,
        Field(description="the expected value of each cell, or of the only one", examples=[{"still": 900}]),
    ] = None
    people: Annotated[Positive | None, Field(description="how many people are expected in the data")] = None
    rows: Annotated[Positive | None, Field(description="how many rows or steps are expected of each of them")] = None
    matters: Annotated[
        Number | None, Field(description="the least difference that matters to the reader", examples=[30])
    ] = None

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if self.shares is not None and self.values is not None:
            raise InputError("has shares and values", fix="write one of them")
        if self.matters is not None and as_fraction(self.matters, "what matters") <= 0:
            raise InputError(f"matters is {self.matters!r}", rule="it must be above 0", fix="write for example 30")
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
        """Whether it has one answer per "unit", one for all ("pooled"), or "both"."""
        return "unit"

    @property
    def period(self) -> str | None:
        """The window of a calendar that it is about; None for the whole, and without a calendar."""
        return None

    @property
    def shares_epsilon(self) -> bool:
        """Whether it promises nothing for itself, and shares the joint epsilon of its file."""
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

    version: Annotated[Literal[1], BeforeValidator(_number), Field(description="the version of this format")] = 1
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
