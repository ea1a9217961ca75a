"""Release files beside another one: which of them read the same data, and as which source of which ledger.

Whoever describes the same data in two release files has two ledgers, or two sources of one, each of which knows half of
what was spent. Only what is written in the files is read: no data and no ledger.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from takifugu.core.files import read_file
from takifugu.core.names import normalised
from takifugu.core.plain import Json
from takifugu.releasing.file.same_data import is_one_of

#: Larger files are no release files, and so many are looked at.
LARGEST, MOST_FILES = 1_000_000, 500


@dataclass(frozen=True)
class Neighbour:
    """A release file of a folder: its ledger as it is written there, and its output folder, None by default.

    `source` is the name of its source in the ledger and `budget` its budget, None where neither could be one;
    `names_units` says whether it names a column of units.
    """

    path: Path
    ledger: str
    output: str | None
    source: str | None
    budget: float | str | Json | None
    names_units: bool = False

    @property
    def place(self) -> str | Path:
        """Return the path or URL of its ledger."""
        return self.ledger if "://" in self.ledger else self.path.parent / self.ledger


def ledger_by_default(path: Path) -> str:
    """Return a new ledger's name, by the release file's own.

    >>> ledger_by_default(Path("study/minutes.toml"))
    'minutes-ledger.db'
    """
    return f"{path.stem}-ledger.db"


def output_by_default(path: Path) -> str:
    """Return the default name of a release file's output folder.

    >>> output_by_default(Path("study/minutes.toml"))
    'minutes-published'
    """
    return f"{path.stem}-published"


def neighbours(folder: Path, data: str | Path) -> Iterator[Neighbour]:
    """Yield a folder's release files about this path or URL, by name."""
    for path in sorted(folder.glob("*.toml"))[:MOST_FILES]:
        try:
            raw = tomllib.loads(read_file(path, LARGEST).decode("utf-8-sig"))
        except (OSError, ValueError, RecursionError):
            continue
        section, ledger, output = raw.get("source"), raw.get("ledger"), raw.get("output")
        source = section if isinstance(section, dict) else {}
        data_file = source.get("file")
        if isinstance(ledger, str) and ledger and isinstance(data_file, str) and _is_same(folder, data_file, data):
            name, budget = source.get("name"), source.get("budget")
            yield Neighbour(
                path, ledger,
                output=output if isinstance(output, str) else None,
                source=name if isinstance(name, str) and normalised(name) else None,
                budget=budget if isinstance(budget, int | float | str | dict) else None,
                names_units=source.get("unit") is not None,
            )  # fmt: skip


def first_about(path: Path, data: Path) -> Neighbour | None:
    """Return the first release file about these data, if any.

    A new file takes its ledger, source and budget: one ledger knows all spending on the data, under one name.
    """
    return next(neighbours(path.parent, data), None)


def ledger_for(path: Path, data: Path) -> tuple[str, Path | None]:
    """Return a new file's ledger, and the owner if another file's."""
    other = first_about(path, data)
    if other is None:
        return ledger_by_default(path), None
    return other.ledger, None if other.path.name == path.name else other.path


def ledgers_apart(path: Path, data: str | Path, ledger: str | Path) -> Iterator[Neighbour]:
    """Yield the other files with these data under another ledger."""
    for other in neighbours(path.parent, data):
        if other.path.name != path.name and not _is_same_ledger(other.place, ledger):
            yield other


def names_apart(path: Path, data: str | Path, ledger: str | Path, source: str) -> Iterator[Neighbour]:
    """Yield the other files with these data under another source name."""
    for other in neighbours(path.parent, data):
        has_other_name = other.source is not None and normalised(other.source) != normalised(source)
        if other.path.name != path.name and has_other_name and _is_same_ledger(other.place, ledger):
            yield other


def _is_same(folder: Path, file_name: str, data: str | Path) -> bool:
    if "://" in file_name or "://" in str(data):
        return file_name == str(data)
    return is_one_of(folder / file_name, [Path(data)])


def _is_same_ledger(ledger: str | Path, other: str | Path) -> bool:
    if "://" in str(ledger) or "://" in str(other):
        return str(ledger) == str(other)
    return is_one_of(Path(ledger), [Path(other)])
