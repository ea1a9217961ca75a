"""Everything in the data for which a release would be refused, found as a dry run finds it, and told at once.

A reader stops at the first rule that is broken. For the next one that rule is taken as kept: its key of [source] gets
the value that lets such rows pass, and the data are read again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from takifugu.core.errors import DataError, SpecError, TakifuguError
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.file.reading import raise_all
from takifugu.releasing.file.sequences.source import SourceSpec
from takifugu.releasing.file.source import is_there

#: By the key of a fault, which key of [source] lets such rows pass, and what it says then.
_PASSING = {
    "null_keys": ("null_keys", "drop"), "nulls": ("nulls", "unobserved"), "duplicates": ("duplicates", "first"),
    "order": ("duplicates", "first"), "overlap": ("overlap", "first"), "ambiguous": ("ambiguous", "first"),
    "elsewhere": ("elsewhere", "ignore"),
}  # fmt: skip


def refuse_unreadable(file: ReleaseFile) -> None:
    """Raise the one fault of the data, or SpecError for several; nothing for data that are not there."""
    if not is_there(file.source, file.folder, file.given):
        return
    raise_all(faults_of_data(file))


def faults_of_data(file: ReleaseFile) -> Iterator[TakifuguError]:
    """Yield the faults of the data that a release of all tables would meet, each once."""
    lines = set[str]()
    parts = [file.kind.part(file, item) for item in file.items]
    for part in {part.places: part for part in parts}.values():
        for fault in _of_window(part):
            if fault.line not in lines:
                lines.add(fault.line)
                yield fault


def _of_window(file: ReleaseFile) -> Iterator[TakifuguError]:
    passing = dict(_PASSING)
    while True:
        try:
            file.kind.units(file)
            return
        except SpecError as error:
            yield from error.faults
            return
        except DataError as error:
            key = str(error.where[-1]) if error.where else ""
            if key == "roster" and "null_keys" not in passing:
                return  # whoever has no name is not in it
            yield error
        if key not in passing or not hasattr(file.source, passing[key][0]):
            return
        passed, value = passing.pop(key)
        if isinstance(file.source, SourceSpec) and file.source.are_runs and key == "null_keys":
            value = "keep"  # without a row another state seems to last
        source = file.source.model_copy(update={passed: value})
        file = replace(file, spec=file.spec.model_copy(update={"source": source}))
