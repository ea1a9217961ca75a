"""Release files of one folder that read the same data with different ledgers, or as different sources of one ledger.

Neither knows then what the other has spent, and together they grant more than the budget.

Such files are read as they are written; no ledger is opened, and a file that is none is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from takifugu.core.commands import command
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.file.neighbours import Neighbour, ledgers_apart, names_apart, output_by_default
from takifugu.releasing.file.source import private_files

#: So many files are named.
MOST_NAMED = 3


def notices_of_file(file: ReleaseFile) -> tuple[str, ...]:
    """Return warnings of other files on the same data, and of assumptions."""
    return (*_of_ledgers(file), *_of_names(file), *file.kind.facts.notices(file.source))


def _of_ledgers(file: ReleaseFile) -> Iterator[str]:
    neighbours = list(_others(file))
    if neighbours:
        output = neighbours[0].output or output_by_default(neighbours[0].path)
        entering = command("ledger", "adopt", file.ledger, neighbours[0].path.parent / output)
        files = _named((neighbour, neighbour.ledger) for neighbour in neighbours)
        yield (
            f"the same data are read with another ledger by {files}: neither ledger "
            "knows what the other has spent, so together they grant more than the budget. Write one ledger in all of "
            f"these files, here it is {str(file.spec.ledger)!r}; what was paid for from another one is entered "
            f"with {entering}"
        )


def _of_names(file: ReleaseFile) -> Iterator[str]:
    names_units = file.source.unit is not None
    neighbours: dict[Path, Neighbour] = {}
    for data in _data(file):
        for neighbour in names_apart(file.path, data, file.ledger, file.source.name):
            neighbours[neighbour.path] = neighbour
    are_alike = all(other.names_units == names_units for other in neighbours.values())
    if neighbours and not (file.source.same_people and are_alike):  # only then each is charged for the other
        names = _named((other, str(other.source)) for other in neighbours.values())
        same_people = ", or same_people = true under [source]" if are_alike else ""
        yield (
            f"the same data are another source of this ledger in {names}: each source has a budget of its own, so "
            "together they grant more than the budget. Write one source.name in all of these files, here it is "
            f"{file.source.name!r}{same_people}"
        )


def _named(neighbours: Iterable[tuple[Neighbour, str]]) -> str:
    names = [f"{other.path.name} ({label!r})" for other, label in neighbours]
    if len(names) > MOST_NAMED:
        names[MOST_NAMED:] = [f"{len(names) - MOST_NAMED} more"]
    return ", ".join(names)


def outputs_apart(file: ReleaseFile) -> Iterator[Path]:
    """Yield the default output folders of files on the same data.

    Yields nothing where this file names its own folder. What lies in those folders is paid for, too.
    """
    if file.spec.output is not None:
        return
    for other in _others(file):
        if other.output is None:
            yield file.inside(output_by_default(other.path))


def _others(file: ReleaseFile) -> Iterator[Neighbour]:
    ledgers: dict[Path, Neighbour] = {}
    for data in _data(file):
        for neighbour in ledgers_apart(file.path, data, file.ledger):
            ledgers[neighbour.path] = neighbour
    yield from ledgers.values()


def _data(file: ReleaseFile) -> Iterator[Path | str]:
    address = file.source.file
    yield from private_files(file.source, file.folder, file.given)
    if file.given is None and address is not None and "://" in address:
        yield address
