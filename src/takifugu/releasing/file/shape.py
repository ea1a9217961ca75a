"""What is the same in all release files about data of one shape: their sections and columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from takifugu.core.entries import Entries
from takifugu.core.errors import TakifuguError, faults_in
from takifugu.data.relation.types import check_types
from takifugu.data.values.bins import Known
from takifugu.model.frameworks import Framework
from takifugu.releasing.file.keys import Described
from takifugu.releasing.file.problems import blamed, blamed_keys
from takifugu.releasing.file.relation_keys import RelationKeys, open_relation
from takifugu.releasing.file.sections import FileSpec, Table

#: The belief, what is hidden where that is the same for all, the opened data, and all faults but those of tables.
Parts = tuple[Entries | None, Framework | None, Any, list[TakifuguError]]

#: The keys of [source] that rows are read by, the states of a value, and public columns that answers are counted by.
ReadBy = tuple[Mapping[str, Any], Sequence[Any], Sequence[str]]
#: How each value of a row is counted, by the sections and the belief; none where they are steps, or numbers.
KnownOf = Callable[[Any, Any], Sequence[Known]]


@dataclass(frozen=True)
class Shape:
    """The facts that all files about data of one shape share: their sections, columns and readings."""

    #: How queries read the rows (`model.queries.sections`).
    rows: str
    #: The model of the whole file, the keys that all its tables have, and those that all its beliefs have.
    sections: type[FileSpec]
    table: type[Table] = Table
    believed: type[Described] = Described
    #: Whether the data must have the belief's columns.
    of_belief: bool = False
    #: Whether all people are one unit of the ledger, though a key of [source] may name them.
    is_one_unit: bool = False
    #: Whether one unit has more entries than another.
    has_lengths: bool = False
    #: The sections that the belief is made of: faults in others are told beside its own.
    believes_from: tuple[str, ...] = ("source", "belief")
    #: The `Parts` of sections that are checked one by one, where others are not valid.
    meaning: Callable[..., Parts] | None = None
    #: The tables of a file without a fault: of a regular one there is one for each window.
    tables: Callable[[Any], tuple[Table, ...]] = lambda spec: spec.table
    read_by: Callable[[Any, Any], ReadBy] = lambda spec, belief: (spec.source.read(), (), ())
    known: KnownOf = lambda spec, belief: ()
    #: Which values may be missing.
    may_miss: Callable[[Any], Sequence[bool]] = lambda spec: ()

    def owner_column(self, source: Any) -> str | None:
        """Return the column of the ledger's units, None where all rows are one unit."""
        unit: str | None = source.unit
        return None if self.is_one_unit else unit


def opened(
    shape: Shape, spec: FileSpec, belief: Entries | None, folder: Path, data: object
) -> tuple[Any, list[TakifuguError]]:
    """Open the source as a relation, and judge its types; no row is read."""
    keys, states, public = shape.read_by(spec, spec.belief if belief is None else belief)
    known, may_miss = ((), ()) if belief is None else (shape.known(spec, belief), shape.may_miss(spec))
    try:
        table = open_relation(spec.source, keys, states, folder, data, public, known, may_miss)
        check_types(table.opened)
        return table, []
    except TakifuguError as error:
        if not shape.of_belief:
            return None, blamed_keys(error, "source")
        return None, [_at_key(fault, spec.source, keys) for fault in faults_in(error)]


def _at_key(error: TakifuguError, source: RelationKeys, keys: Mapping[str, Any]) -> TakifuguError:
    """Return an error about a role at its key; values that the belief names are columns of what rows are read from."""
    rows = "file" if source.sql is None else "sql"
    role = str((*error.where, rows)[0])
    key, number = re.fullmatch(r"(.*?)(\d*)", role).groups()  # type: ignore[union-attr]
    if key == "value":
        key = rows
        if number:
            error = error.about(f"column {keys['value'][int(number)]!r}")
    return blamed(error, "source", key)
