"""What a release reads is never written over: its release file, its data, a belief's files, and its ledger."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from takifugu.core.errors import ReleaseError
from takifugu.releasing.file.keys import plain

if TYPE_CHECKING:
    from takifugu.releasing.file.kind import ReleaseFile

#: What SQLite keeps beside a ledger.
_FILES_OF_A_LEDGER = ("", "-wal", "-shm", "-journal")


def refuse_inputs(file: ReleaseFile, folder: Path, names: Sequence[str]) -> None:
    """Raise ReleaseError for output files among a release's inputs."""
    read: dict[object, Path] = {}
    for path in reversed(dict.fromkeys(inputs_of(file))):
        read |= dict.fromkeys(_keys(path), path)
    for name in names:
        taken = next((read[key] for key in _keys(folder / name) if key in read), None)
        if taken is not None:
            raise ReleaseError(
                f"{name} in {str(folder)!r} would replace {taken.name!r}, which this release reads",
                rule="no input, release file or ledger is ever overwritten",
                fix="give the table another name, or write into another folder (output)",
            ).at("output")


def inputs_of(file: ReleaseFile) -> Iterator[Path]:
    """Yield every possible input file of a release, existing or not.

    Any text of the release file may be a path.
    """
    yield file.path
    ledger = Path(str(file.ledger).removeprefix("sqlite:///"))
    yield from (Path(f"{ledger}{end}") for end in _FILES_OF_A_LEDGER)
    if isinstance(file.given, str | os.PathLike):
        yield Path(file.given)
    for text in _texts(plain(file.spec)):
        if text and "\0" not in text and len(text) < 1000:
            yield file.inside(text)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)


def _keys(path: Path) -> Iterator[object]:
    """Yield keys shared by all paths to one file, existing or not."""
    yield os.path.normcase(os.path.realpath(path))
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return
    yield status.st_dev, status.st_ino
