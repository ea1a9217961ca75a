"""Release files of one folder that read the same data with different ledgers: neither knows what the other has spent.

Such files are read as they are written; no ledger is opened, and a file that is none is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from takifugu.spec.kind import ReleaseFile
from takifugu.spec.neighbours import Neighbour, ledgers_apart, output_by_default
from takifugu.spec.source import private_files

#: So many files are named.
MOST_NAMED = 3


def notices_of_ledgers(file: ReleaseFile) -> tuple[str, ...]:
    """Return what it means that other release files beside this one read its data with another ledger."""
    others = list(_others(file))
    if not others:
        return ()
    names = [f"{other.path.name} ({other.ledger!r})" for other in others[:MOST_NAMED]]
    more = [f"{len(others) - MOST_NAMED} more"] if len(others) > MOST_NAMED else []
    return (
        f"the same data are read with another ledger by {', '.join([*names, *more])}: neither ledger knows what the "
        "other has spent, so together they grant more than the budget. Write one ledger in all of these files, here it "
        f"is {str(file.spec.ledger)!r}; what was paid for from another one is entered with `takifugu ledger adopt`",
    )


def outputs_apart(file: ReleaseFile) -> Iterator[Path]:
    """Yield where those others publish, if neither they nor this file say where: what lies there is paid for, too."""
    if file.spec.output is not None:
        return
    for other in _others(file):
        if other.output is None:
            yield file.inside(output_by_default(other.path))


def _others(file: ReleaseFile) -> Iterator[Neighbour]:
    named = file.source.file
    remote = [named] if file.given is None and named is not None and "://" in named else []
    found = {
        other.path: other
        for data in (*private_files(file.source, file.folder, file.given), *remote)
        for other in ledgers_apart(file.path, data, file.ledger)
    }
    yield from found.values()
