"""The sections of a release file as typed values, those that every kind of file has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, StrictBool, StrictStr

from takifugu.core.errors import InputError
from takifugu.data.values.encodings import check_encoding
from takifugu.releasing.file.expectations import ExpectSpec
from takifugu.releasing.file.keys import (
    Delta,
    Described,
    Epsilon,
    Path,
    Section,
    Text,
    UnitsIndependent,
    Words,
    checked,
    meaning,
)
from takifugu.releasing.file.tables import Table


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
