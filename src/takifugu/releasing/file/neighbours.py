"""Which ledger a release file belongs to, and which files beside it read the same data as which source of which ledger.

Whoever describes the same data in two release files has two ledgers, or two sources of one, each of which knows half of
what was spent: together they grant more than the budget. Only what is written in the files is read: no data and no
ledger.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from takifugu.core.errors import InputError
from takifugu.core.escaping import command
from takifugu.core.files import path_in, read_file
from takifugu.core.names import normalised
from takifugu.core.plain import Json
from takifugu.core.sections import section_in
from takifugu.releasing.file.kind import ReleaseFile, output_by_default
from takifugu.releasing.file.relation_keys import is_one_of, private_files, reads_one_of

#: Larger files are no release files, and so many are looked at.
LARGEST, MOST_FILES = 1_000_000, 500
#: So many files are named.
_MOST_NAMED = 3


@dataclass(frozen=True)
class Neighbour:
    """A release file of a folder: its ledger as it is written there, its output, source and budget."""

    path: Path
    ledger: str
    #: None by default.
    output: str | None
    #: None where neither could be one.
    source: str | None
    budget: float | str | Json | None

    @property
    def place(self) -> str | Path:
        """Return the path or URL of its ledger."""
        return path_in(self.path.parent, self.ledger)


def neighbours(folder: Path, data: Sequence[str | Path]) -> Iterator[Neighbour]:
    """Yield a folder's release files about one of these paths or URLs, by name."""
    for path in sorted(folder.glob("*.toml"))[:MOST_FILES]:
        try:
            raw = tomllib.loads(read_file(path, LARGEST).decode("utf-8-sig"))
        except (OSError, ValueError, RecursionError):
            continue
        source, ledger, output = section_in(raw, "source"), raw.get("ledger"), raw.get("output")
        name, budget = source.get("name"), source.get("budget")
        paths = [text for text in (ledger, output, source.get("file"), source.get("sql")) if isinstance(text, str)]
        if any("\0" in path for path in paths):  # nothing is released with it
            continue
        if isinstance(ledger, str) and ledger and _reads(source, data, folder):
            yield Neighbour(
                path, ledger, output if isinstance(output, str) else None,
                name if isinstance(name, str) and _is_name(name) else None,
                budget if isinstance(budget, int | float | str | dict) else None,
            )  # fmt: skip


def _is_name(text: str) -> bool:
    """Return whether a source could be called so; what another file has wrong is no fault of this one."""
    with suppress(InputError):
        return normalised(text) != ""
    return False


def notices_of_file(file: ReleaseFile) -> tuple[str, ...]:
    """Return warnings of other files on the same data, and of assumptions."""
    notices, apart = list[str](), list(_ledgers_apart(file))
    if apart:
        output = apart[0].output or output_by_default(apart[0].path)
        entering = command("ledger", "import-certificates", file.ledger, apart[0].path.parent / output)
        files = _named((other, other.ledger) for other in apart)
        notices.append(
            f"the same data are read with another ledger by {files}: neither ledger "
            "knows what the other has spent, so together they grant more than the budget. Write one ledger in all of "
            f"these files, here it is {str(file.spec.ledger)!r}; what was paid for from another one is entered "
            f"with {entering}"
        )
    name, others = file.source.name, list[Neighbour]()
    for other in _others(file):
        has_other_name = other.source is not None and normalised(other.source) != normalised(name)
        if has_other_name and _is_same(other.place, file.ledger):
            others.append(other)
    if others and not file.source.same_people:
        files = _named((other, str(other.source)) for other in others)
        notices.append(
            f"the same data are another source of this ledger in {files}: each release about the one counts for the "
            "other at the cost of a change of all data, and the first one is refused without same_people = true. Write "
            f"one source.name in all of these files, here it is {name!r}, and they count as what they are"
        )
    return tuple(notices)


def _named(neighbours: Iterable[tuple[Neighbour, str]]) -> str:
    names = [f"{other.path.name} ({label!r})" for other, label in neighbours]
    if len(names) > _MOST_NAMED:
        names[_MOST_NAMED:] = [f"{len(names) - _MOST_NAMED} more"]
    return ", ".join(names)


def outputs_apart(file: ReleaseFile) -> Iterator[Path]:
    """Yield the default output folders of files under another ledger: their tables are paid for, too."""
    # whoever names a folder has one of their own
    if file.spec.output is not None:
        return
    for other in _ledgers_apart(file):
        if other.output is None:
            yield file.inside(output_by_default(other.path))


def _ledgers_apart(file: ReleaseFile) -> Iterator[Neighbour]:
    for other in _others(file):
        if not _is_same(other.place, file.ledger):
            yield other


def _others(file: ReleaseFile) -> Iterator[Neighbour]:
    """Yield the other release files of the folder on the same data."""
    data: list[Path | str] = [*private_files(file.source, file.folder, file.given)]
    address = file.source.file
    if address is not None and "://" not in address:  # which need not be there
        data.append(file.folder / address)
    elif address is not None and file.given is None:
        data.append(address)
    for other in neighbours(file.folder, data):
        if other.path.name != file.path.name:
            yield other


def _reads(source: Json, data: Sequence[str | Path], folder: Path) -> bool:
    """Return whether a [source] reads one of these files: by a name or a pattern, or in a SELECT."""
    texts = [text for key in ("file", "sql") if isinstance(text := source.get(key), str)]
    files = [Path(place) for place in data if "://" not in str(place)]
    return any(text in data if "://" in text else reads_one_of(text, folder, files) for text in texts)


def _is_same(place: str | Path, other: str | Path) -> bool:
    if "://" in str(place) or "://" in str(other):
        return str(place) == str(other)
    return is_one_of(Path(place), [Path(other)])
