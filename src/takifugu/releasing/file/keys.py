"""The keys of a release file as typed values: what each may hold and means, for messages and for the JSON Schema."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StrictBool, StrictFloat, StrictInt, StrictStr

from takifugu.core.errors import InputError
from takifugu.core.escaping import visible
from takifugu.core.names import normalised
from takifugu.core.sections import checked_path
from takifugu.data import Numerals, Written
from takifugu.numbers.rationals import as_delta, as_epsilon, as_fraction
from takifugu.releasing.file.expectations import public_source, size_that_matters


def _encoding(value: str | None) -> str | None:
    Written(encoding=value)
    return value


def _delimiter(value: str | None) -> str | None:
    Written(delimiter=value)
    return value


def _decimal(value: str | None) -> str | None:
    Numerals(decimal="." if value is None else value)
    return value


def _renamed(names: dict[str, str]) -> dict[str, str]:
    if len(set(names.values())) < len(names) or set(names) & set(names.values()):
        raise InputError(
            "two columns have one name, or one has two", rule="each column was renamed once",
            fix='write { Hour = "hour" } where the data has Hour and the file names hour',
        ).at("renamed")  # fmt: skip
    return names


def _thousands(value: str | None) -> str | None:
    Numerals("," if value == "." else ".", value or "")
    return value


def _epsilon(value: int | float | str) -> int | float | str:
    as_epsilon(value)
    return value


def _number(value: object) -> object:
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


def _matters(value: int | float | str | None) -> int | float | str | None:
    if value is not None:
        size_that_matters(value)
    return value


def _values(value: dict[str, Number] | Number | None) -> dict[str, Number] | Number | None:
    for label, number in value.items() if isinstance(value, dict) else (("", value),):
        if number is not None:
            as_fraction(number, f"what is expected in {label!r}" if label else "what is expected")
    return value


def _shares(value: dict[str, Number] | None) -> dict[str, Number] | None:
    numbers = [as_fraction(share, "a share") for share in (value or {}).values()]
    below = [label for label, share in zip(value or {}, numbers, strict=True) if share < 0]
    if value is not None and below:
        fault_text = f"say {value[below[0]]} of {below[0]!r}"
        raise InputError(fault_text, rule="shares are at least 0", fix="write 0 or more")
    if value is not None and abs(float(sum(numbers)) - 1) > SUMS_TO_ONE:
        raise InputError(
            f"sum to {float(sum(numbers)):.6g}",
            rule="shares sum to 1",
            fix="for a table of a single number write values = NUMBER instead",
        )
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

#: A time or a place along the order column, as a calendar and its windows are written.
Moment = StrictStr | StrictInt | StrictFloat | datetime | date
CalendarEnd = Annotated[
    Moment | None,
    Field(description="where the calendar ends; it may be left out, and moved later", examples=["2027-01-04"]),
]
WindowStart = Annotated[
    Moment | None, Field(alias="from", description="where the window starts", examples=["2026-02-09"])
]
WindowEnd = Annotated[
    Moment | None, Field(description="where the window ends; this step is not read", examples=["2026-02-16"])
]

#: How a file is written, where that cannot be seen.
Encoding = Annotated[
    StrictStr | None,
    Field(description="the encoding of a CSV file; default: UTF-8", examples=["cp1252"]),
    AfterValidator(_encoding),
]
Delimiter = Annotated[
    StrictStr | None,
    Field(description="the sign between fields of a CSV file; default: what splits its first line", examples=[";"]),
    AfterValidator(_delimiter),
]
Decimal = Annotated[
    StrictStr | None,
    Field(description="the decimal sign of numbers that are texts", examples=[","]),
    AfterValidator(_decimal),
]
Thousands = Annotated[
    StrictStr | None,
    Field(description="the sign between groups of three digits", examples=["."]),
    AfterValidator(_thousands),
]
Renamed = Annotated[
    dict[Text, Text],
    Field(
        description="columns that have another name in the data than before, with the name that this file and the "
        "ledger know",
        examples=[{"Hour": "hour"}],
    ),
    AfterValidator(_renamed),
]
#: What is expected of the data, from a public source.
PublicSource = Annotated[
    Words,
    AfterValidator(public_source),
    Field(description="where the expectation comes from: public knowledge", examples=["the survey of last year"]),
]
Shares = Annotated[
    dict[str, Number] | None,
    Field(description="the expected share of each cell; they sum to 1", examples=[{"still": 0.8, "walking": 0.2}]),
    AfterValidator(_shares),
]
Values = Annotated[
    dict[str, Number] | Number | None,
    Field(description="the expected value of each cell, or of the only one", examples=[{"still": 900}]),
    AfterValidator(_values),
]
Matters = Annotated[
    Number | None,
    Field(
        description="the least difference that matters to the reader: a number, or one and what it is in: that of "
        'measured_in, rows, steps, a time where steps are times, or "%" of the expected mean',
        examples=[30, "2 h", "10 %"],
    ),
    AfterValidator(_matters),
]
Version = Annotated[Literal[1], BeforeValidator(_number), Field(description="the version of this format")]

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
AsComposing = Annotated[
    StrictBool,
    Field(
        description="give up promises that are alone (made by `only_release`) where a release with a delta leaves them "
        "no place: from then on the ledger charges their noise"
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
