"""The sections of a release file as typed values, those that every kind of file has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, StrictBool, StrictInt, StrictStr, model_validator

from takifugu.core.errors import InputError
from takifugu.data import Numerals, Written
from takifugu.data import Table as Data
from takifugu.releasing.file.expectations import ExpectSpec
from takifugu.releasing.file.keys import (
    Delta,
    Described,
    Epsilon,
    Name,
    Path,
    Section,
    Text,
    UnitsIndependent,
    Words,
    checked,
    meaning,
    refused,
)
from takifugu.releasing.file.tables import Table


def _check_version(version: object) -> object:
    if isinstance(version, bool):  # true is 1 in Python, but not in a release file
        raise InputError(f"is {str(version).lower()}", fix="write 1")
    return version


#: A line of a file, from 1.
Line = Annotated[StrictInt, Field(ge=1)]


class EncodedFile(Section):
    """How the texts of a public file are encoded."""

    encoding: Annotated[
        StrictStr | None,
        meaning("the encoding of a CSV file; default: UTF-8", "cp1252"),
        checked(lambda encoding: Written(encoding=encoding)),
    ] = None


class FileKeys(EncodedFile):
    """How a file is written, where that cannot be seen; for a file of a belief, what its source declares by default."""

    delimiter: Annotated[
        StrictStr | None,
        meaning("the sign between fields of a CSV file; default: what splits its first line", ";"),
        checked(lambda delimiter: Written(delimiter=delimiter)),
    ] = None
    header: Annotated[
        StrictBool | Line | tuple[Line, Line] | None,
        meaning(
            "false where a CSV file has no line of names: columns are column_1, column_2 ...; else its "
            "line, or that and the last line above the rows; they hold nobody's data",
            4,
            [1, 3],
        ),
    ] = None
    decimal: Annotated[
        StrictStr | None, meaning("the decimal sign of numbers that are texts", ","), checked(Numerals)
    ] = None
    thousands: Annotated[
        StrictStr | None,
        meaning("the sign between groups of three digits", "."),
        checked(lambda sign: Numerals("," if sign == "." else ".", sign)),
    ] = None
    sheet: Annotated[Text | None, meaning("the sheet of an Excel workbook that has several", "Sheet1")] = None
    table: Annotated[Text | None, meaning("the table of a database that has several", "visits")] = None

    file_names: Annotated[
        Text | None, meaning("the column that each file's name becomes, of a folder or a pattern", "person")
    ] = None

    @model_validator(mode="after")
    def _numerals(self) -> Self:
        Numerals(self.decimal or ".", self.thousands or "")
        if isinstance(self.header, tuple):
            Written(lines=self.header)
        return self


class BudgetSpec(Section):
    """The most that a unit may ever spend."""

    epsilon: Annotated[Epsilon, meaning("the most epsilon that a person may ever spend", 4.0)]
    delta: Annotated[Delta, meaning("the most delta that a person may ever spend", 1e-6)] = 0


#: What is meant where a key of [source] is left out, if its section does not say so.
MEANT = {"timezone": "UTC", "encoding": "utf-8", "decimal": ".", "thousands": "", "header": True}


class SourceKeys(FileKeys):
    """The keys of [source] that every kind of file has; a kind adds the columns that it reads."""

    name: Annotated[Name, meaning("the data's name in the ledger", "activity-study")]
    engine: Annotated[Text | None, meaning("what opens the file or the table, by its own configuration", "spark")] = (
        None
    )
    file: Annotated[
        Path | None,
        meaning(
            "the data's file, relative to this one: CSV, Parquet, Excel ...; a frame in Python needs none", "data.csv"
        ),
    ] = None
    renamed: Annotated[
        dict[Text, Text],
        meaning(
            "columns that have another name in the data than before, with the name that this file and the ledger know",
            {"Hour": "hour"},
        ),
        refused(
            lambda names: len({*names, *names.values()}) < 2 * len(names),
            "two columns have one name, or one has two", rule="each column was renamed once",
            fix='write { Hour = "hour" } where the data has Hour and the file names hour',
        ),
    ] = Field(default_factory=dict)
    missing: Annotated[
        tuple[StrictStr, ...], meaning("texts that count as missing, beside the empty one", ["NA", "?"])
    ] = ()
    same_people: Annotated[
        StrictBool | None,
        meaning("are the people of another source of the ledger (those of the same names, if any) the same?"),
    ] = None
    budget: Annotated[
        Epsilon | BudgetSpec | None,
        meaning("the most that a person may ever spend: epsilon, or { epsilon = ..., delta = ... }"),
    ] = None
    only_release: Annotated[
        StrictBool, meaning("nothing else is ever released about this source: allows the least noise")
    ] = False
    as_composing: Annotated[
        StrictBool,
        meaning(
            "give up promises that are alone (made by `only_release`) where a release with a delta leaves "
            "them no place: from then on the ledger charges their noise"
        ),
    ] = False
    begins_series: Annotated[
        StrictBool,
        meaning(
            "the first tables with normal noise begin a series: later tables about the same steps count as "
            "multiples of them"
        ),
    ] = False

    if TYPE_CHECKING:

        @property
        def unit(self) -> str | None:
            """Return the column that says whose a row is."""

    @property
    def entry_noun(self) -> str:
        """Return what tables about the source count."""
        return "rows"

    @property
    def reads_all_columns(self) -> bool:
        """Return whether columns without a key matter and must be declared."""
        return False

    def long(self, table: Data, belief: Described | None) -> Data:
        """Return the table with the declared columns; InputError for undeclared ones."""
        return table.renamed(self.renamed)


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
    ledger_id: Annotated[
        StrictStr | None,
        meaning("which ledger that is: `init` and the first release write it", pattern="^[0-9a-f]{16}$"),
    ] = None
    output: Annotated[
        Path | None,
        meaning(
            "the folder of the published files; default: the release file's name, with -published", "minutes-published"
        ),
    ] = None
    joint_epsilon: Annotated[
        Epsilon | None, meaning("what the tables without an epsilon of their own promise together", 1.0)
    ] = None
    joint_delta: Annotated[
        Delta, meaning("the delta of joint_epsilon: above 0 these tables get normal noise", 1e-6)
    ] = 0
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
