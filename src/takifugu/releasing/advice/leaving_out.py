"""How many rows a rule for strange rows leaves out: counted for whoever owns the data, and published nowhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from takifugu.core.errors import TakifuguError
from takifugu.data import Layout, rows_that_count, totals
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.file.sequences.build import layout_of, recode_of
from takifugu.releasing.file.sequences.sections import SourceSpec

_KEYS = {"null_keys": 'null_keys = "drop"', "duplicates": 'duplicates = "first" or "last"'}


def left_out(file: ReleaseFile) -> tuple[str, ...]:
    """Count the rows each rule leaves out.

    Also those that it would leave out where it is not declared; nothing where none are, or unread.
    """
    source = file.source
    if not isinstance(source, SourceSpec) or source.are_runs:
        return ()
    try:
        layout = replace(layout_of(source, calendar=source.calendar), null_keys="drop", duplicates="first")
        return tuple(_sentences(file, source, layout))
    except TakifuguError:
        return ()  # what is wrong with them is said by what reads them


def _sentences(file: ReleaseFile, source: SourceSpec, layout: Layout) -> Iterator[str]:
    counted, named = rows_that_count(file.table, layout, recode_of(file.spec.belief, source))
    (whole,) = totals(file.table, [])
    for key, lost in (("null_keys", whole.rows - named), ("duplicates", named - counted)):
        rule = getattr(source, key)
        if lost:
            declared = rule != "refuse"
            words = f'{key} = "{rule}"' if declared else _KEYS[key]
            yield f"{lost:,} of {whole.rows:,} rows {'do' if declared else 'would'} not count with {words}"
