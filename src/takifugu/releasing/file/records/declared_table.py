"""A joint table in a release file: counted in a public file, or declared row by row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from takifugu.core.errors import TakifuguError
from takifugu.model.beliefs.table import JointTable
from takifugu.releasing.file.problems import fault
from takifugu.releasing.file.records.kind import mass


def table_faults(given: Any) -> Iterator[TakifuguError]:
    """Yield what is wrong with the keys of a belief that is either fitted or declared by its rows."""
    declared = [key for key in ("columns", "rows", "counts", "probabilities") if getattr(given, key) is not None]
    if given.fit is not None:
        for key in declared:
            yield fault(("belief", key), "is given beside fit", "write only one of them")
    elif "columns" not in declared or "rows" not in declared or len(declared) != 3:
        fix = "write columns, rows and either counts or probabilities, or a [belief.fit]"
        yield fault(("belief", "rows"), "is incomplete", fix)


def declared_table(given: Any) -> JointTable:
    """Return the table of a belief that lists its rows; raises InputError as `JointTable`."""
    if given.counts is not None:
        return JointTable.from_counts(given.rows, given.counts, given.columns, source=given.source)
    return JointTable(given.rows, list(map(mass, given.probabilities)), given.columns, given.source)
