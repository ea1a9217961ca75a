"""Everything in the data for which a release would be refused, found as a dry run finds it, and told at once."""

from __future__ import annotations

from collections.abc import Iterator

from takifugu.core.errors import DataError, SpecError, TakifuguError
from takifugu.data.sql.faults import RowFault
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.file.reading import raise_all
from takifugu.releasing.file.relation_keys import is_there


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
    try:
        file.kind.units(file)
    except SpecError as error:
        yield from error.faults
    except RowFault as error:
        yield error
        for other in [*error.each()][1:]:
            yield other.at("source").placed()
    except DataError as error:
        yield error
