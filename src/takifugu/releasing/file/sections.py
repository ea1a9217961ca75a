"""The sections of a release file as typed values, those that every kind of file has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeVar

from pydantic import BeforeValidator, StrictBool, StrictStr, model_validator

from takifugu.core.errors import InputError
from takifugu.data.values.encodings import check_encoding
from takifugu.numbers.rationals import as_fraction
from takifugu.numbers.transport.metrics import METRICS
from takifugu.releasing.file.keys import (
    Delta,
    Described,
    Epsilon,
    Number,
    Path,
    Positive,
    Section,
    Text,
    UnitsIndependent,
    Words,
    checked,
    meaning,
    refused,
)

#: Words for the data of this file, which its expectation must not come from.
_THESE_DATA = re.compile(
    r"\b(private|confidential|secret|sensitive|our|own|this|these|the same)(\s+(own|private|confidential))*\s+"
    r"(data|dataset|data\s?set|file)\b"
)
#: Words that say that what follows is not where it comes from.
_NOT = re.compile(r"\b(without|not|no|other than|independent of|instead of)\b[^,;.]*$")
#: What to write instead.
PUBLIC = 'write what is known without them, for example "last year\'s published report" or "a hunch"'
#: Shares that are written in decimals sum to 1 up to this.
SUMS_TO_ONE = 1e-6


def public_source(value: str) -> str:
    """Return the source of an expectation; InputError for the private data."""
    words = value.casefold()
    for private in _THESE_DATA.finditer(words):
        if not _NOT.search(words[: private.start()]):
            raise InputError(f"says {private[0]!r}", rule="advice must not depend on them", fix=PUBLIC)
    return value


def size_that_matters(value: Number) -> tuple[Fraction, str]:
    """Return an important difference and its unit or "" (30, "2.5 h", "10%"); InputError if invalid."""
    number, unit = value, ""
    read = re.fullmatch(r"\s*([0-9][0-9./]*)\s*([^\s0-9.,/].*?)\s*", value) if isinstance(value, str) else None
    if read is not None:
        number, unit = read[1], read[2]
    try:
        size = as_fraction(number, "what matters")
    except InputError:
        has_comma = re.search(r"[0-9],[0-9]", str(value)) is not None
        rule, examples = "it is a number, or a number and what it is in", '30, "30 rows", "2 h" or "10 %"'
        if has_comma:
            rule, examples = "numbers have a decimal point and no commas", '2.5, "2.5 rows" or "1000 rows"'
        raise InputError(f"is {str(value)[:60]!r}", rule=rule, fix=f"write for example {examples}") from None
    if size <= 0:
        raise InputError(f"is {value!r}", rule="it must be above 0", fix="write for example 30")
    return size, unit


def _check_values(values: dict[str, Number] | Number) -> None:
    if not isinstance(values, dict):
        as_fraction(values, "what is expected")
        return
    for label, number in values.items():
        as_fraction(number, f"what is expected in {label!r}")


def _check_shares(shares: dict[str, Number]) -> None:
    numbers = {label: as_fraction(share, "a share") for label, share in shares.items()}
    for label, number in numbers.items():
        if number < 0:
            raise InputError(f"say {shares[label]} of {label!r}", rule="shares are at least 0", fix="write 0 or more")
    total = float(sum(numbers.values()))
    if abs(total - 1) > SUMS_TO_ONE:
        fix = "for a table of a single number write values = NUMBER instead"
        raise InputError(f"sum to {total:.6g}", rule="shares sum to 1", fix=fix)


class ExpectSpec(Section):
    """What is expected of the data, from a public source, and what matters to the reader: for advice alone."""

    source: Annotated[
        Words,
        checked(public_source),
        meaning("where the expectation comes from: public knowledge", "the survey of last year"),
    ]
    shares: Annotated[
        dict[str, Number] | None,
        meaning("the expected share of each cell; they sum to 1", {"still": 0.8, "walking": 0.2}),
        checked(_check_shares),
    ] = None
    values: Annotated[
        dict[str, Number] | Number | None,
        meaning("the expected value of each cell, or of the only one", {"still": 900}),
        checked(_check_values),
    ] = None
    people: Annotated[Positive | None, meaning("how many people are expected in the data")] = None
    rows: Annotated[Positive | None, meaning("how many rows or steps are expected of each of them")] = None
    matters: Annotated[
        Number | None,
        meaning(
            "the least difference that matters to the reader: a number, or one and what it is in: that of "
            'measured_in, rows, steps, a time where steps are times, or "%" of the expected mean',
            30,
            "2 h",
            "10 %",
        ),
        checked(size_that_matters),
    ] = None
    unimportant: Annotated[tuple[Words, ...] | None, meaning("cells that need not be readable", ["night"])] = None

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if self.shares is not None and self.values is not None:
            raise InputError("has shares and values", fix="write one of them")
        return self


AnyTable = TypeVar("AnyTable", bound="Table")


class MetricSpec(Section):
    """How far apart two answers are, for a mechanism that chooses by distance."""

    name: Annotated[Text, meaning(f"the metric's name: {', '.join(METRICS.names)}", "power")]
    parameter: Annotated[
        Number | tuple[tuple[Number, ...], ...],
        meaning("its number, or a table's rows of distances, one per possible answer", "1/2"),
    ]


class Table(Described):
    """The keys that every [[table]] has; its query adds its own."""

    # for readers of the report and the certificate; they change no number
    expect: Annotated[ExpectSpec | None, meaning("what is expected of this table, in place of [expect]")] = None
    title: Annotated[Words | None, meaning("what the table is called in words", "Activity on the ward")] = None
    measured_in: Annotated[Words | None, meaning("what one of its values is", "hours")] = None
    name: Annotated[
        StrictStr,
        meaning("the table's name, also of its files", "time-use", pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"),
        refused(
            lambda name: re.fullmatch("con|prn|aux|nul|(com|lpt)[0-9]", name.lower()),
            "is a device on Windows, so no file can have this name there", "write another name",
        ),
    ]
    query: Annotated[Text, meaning("what is computed", "histogram")]
    epsilon: Annotated[Epsilon, meaning("the promise, and what each person spends", 1.0)]
    delta: Annotated[Delta, meaning("the excess probability that is allowed; 0 is a pure promise")] = 0
    mechanism: Annotated[Text, meaning('a mechanism\'s name, or "auto"')] = "auto"
    begins_series: Annotated[
        StrictBool, meaning("with normal noise: later tables like it count as multiples of this one")
    ] = False
    metric: Annotated[
        MetricSpec | None,
        meaning(
            'the distance by which "kantorovich-exponential" chooses; default: |x - y|',
            {"name": "power", "parameter": "1/2"},
        ),
    ] = None
    allow_zero_noise: Annotated[
        StrictBool, meaning("accept that only the belief's own randomness, and no noise, hides the secret")
    ] = False

    @property
    def scope(self) -> str:
        """Return "unit" for an answer each, "pooled" for one, or "both"."""
        return "unit"

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of its answers' tables."""
        if self.scope == "both":
            return self.name, f"{self.name}-units", f"{self.name}-pooled"
        return (self.name,)

    @property
    def period(self) -> str | None:
        """Return the table's window of a calendar, if any."""
        return None

    @property
    def shares_epsilon(self) -> bool:
        """Return whether the table shares the file's joint epsilon."""
        return False


class SharedTable(Table):
    """A [[table]] that may share an epsilon with others."""

    epsilon: Annotated[
        Epsilon | None, meaning("the promise, and what each person spends; left out: shares joint_epsilon", 1.0)
    ] = None  # type: ignore[assignment]  # who asks for it asks `shares_epsilon` first

    @property
    def shares_epsilon(self) -> bool:
        return self.epsilon is None


def numbered(tables: Iterable[AnyTable | None]) -> Iterator[tuple[int, AnyTable]]:
    """Yield the valid tables of a file, each with its number."""
    for number, table in enumerate(tables):
        if table is not None:
            yield number, table


def _check_version(version: object) -> object:
    if isinstance(version, bool):  # true is 1 in Python, but not in a release file
        raise InputError(f"is {str(version).lower()}", fix="write 1")
    return version


class EncodedFile(Section):
    """How the texts of a public file are encoded."""

    encoding: Annotated[
        StrictStr | None,
        meaning("the encoding of a CSV file; default: UTF-8", "cp1252"),
        checked(check_encoding),
    ] = None


class BudgetSpec(Section):
    """The most that a unit may ever spend."""

    epsilon: Annotated[Epsilon, meaning("the most epsilon that a person may ever spend", 4.0)]
    delta: Annotated[Delta, meaning("the most delta that a person may ever spend", 1e-6)] = 0


class AboutUnits(Described):
    """The key of [belief] that every belief about independent units has."""

    units_independent: UnitsIndependent = None


class FileSpec(Section):
    """The keys that every release file begins with; each kind of file has its own sections behind them."""

    version: Annotated[Literal[1], BeforeValidator(_check_version), meaning("the version of this format")] = 1
    plugins: Annotated[
        tuple[Text, ...],
        meaning(
            "installed packages whose beliefs, queries, mechanisms and formats this file uses; others are not loaded",
            ["urn"],
        ),
    ] = ()
    ledger: Annotated[Path, meaning("the ledger's file or URL", "ledger.db")]
    require_ledger: Annotated[StrictBool, meaning("refuse to create a ledger where it is missing")] = False
    output: Annotated[
        Path | None,
        meaning(
            "the folder of the published files; default: the release file's name, with -published", "minutes-published"
        ),
    ] = None
    joint_epsilon: Annotated[
        Epsilon | None, meaning("what the tables without an epsilon of their own promise together", 1.0)
    ] = None
    expect: Annotated[ExpectSpec | None, meaning("what is expected of the data, for `takifugu advise`")] = None
    publisher: Annotated[Words | None, meaning("who publishes; on certificates and reports", "City Hospital")] = None
    contact: Annotated[Words | None, meaning("whom to ask; on certificates and reports", "data@hospital.example")] = (
        None
    )

    if TYPE_CHECKING:  # which each kind of file declares in its own words

        @property
        def source(self) -> Any: ...

        @property
        def belief(self) -> Described: ...

        @property
        def table(self) -> tuple[Table, ...]: ...
