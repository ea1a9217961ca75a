"""What a belief may be made from beside its own keys: public files, written as [source] is or as they say."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from takifugu.core.errors import DataError, SpecError, Step, TakifuguError
from takifugu.core.sections import values_of, written
from takifugu.data import UNOBSERVED, Bins, Table, meant, totals
from takifugu.data.values.texts import NOT_FINITE, NUMBER, not_numbers
from takifugu.model.beliefs.sections import FILL_THEM, Texts
from takifugu.releasing.file.described import files_of
from takifugu.releasing.file.keys import Described
from takifugu.releasing.file.problems import blamed, fault
from takifugu.releasing.file.reading import binned, bins_of, codes_of, columns_of, texts
from takifugu.releasing.file.sections import FileSpec, SourceKeys
from takifugu.releasing.file.source import is_one_of, open_public, private_files, same_rows

if TYPE_CHECKING:
    from takifugu.model.beliefs.boxed_places import Grid

_IS_PRIVATE = "is the private data itself, so the belief would reveal it"
_GIVE_PUBLIC = "give a public file, which reveals nothing about these data"
FIT_ELSEWHERE = (
    "fit on a public file, or write private = true and accept that the promise does not cover what the belief reveals"
)
_COUNT_ELSEWHERE = (
    "count in a file of other people, or write from_private_data = true and accept that the promise does not cover it"
)


@dataclass(frozen=True)
class PublicTable:
    """A public file, opened (`model.beliefs.sections.PublicTable`)."""

    table: Table
    source_keys: SourceKeys

    @property
    def source(self) -> str:
        return self.table.source

    def values(self, column: str) -> tuple[str, ...]:
        return tuple(str(group.key[0]) for group in totals(self.table, [], by=[column]))

    def texts(self, columns: Sequence[str]) -> list[Texts]:
        return texts(self.table, columns)

    def codes(self, columns: Sequence[str], values: Sequence[Hashable], grid: Grid | None = None) -> list[int]:
        self.table.require(columns)
        read = columns_of(self.table, columns)
        return list(map(int, codes_of(read, columns, self.table, values, grid, self._where_no_numbers)))

    def counts(self, columns: Sequence[str], classes: Mapping[str, Hashable]) -> Counter[tuple[Hashable, ...]]:
        counts = Counter[tuple[Hashable, ...]]()
        bins = {name: bins_of(self.source_keys, name) for name in columns}
        for group in totals(self.table, [], by=columns, null_keys="keep"):
            key = list[Hashable]()
            for text, name in zip(group.key, columns, strict=True):
                key.append(self._value(text, name, bins[name], classes.get(name)))
            counts[tuple(key)] += group.rows
        return counts

    @property
    def _where_no_numbers(self) -> str:
        other = "." if self.table.numerals.decimal == "," else ","
        return f'repair them, or write the decimal sign of this file beside its name: decimal = "{other}"'

    def _value(self, text: str | None, name: str, bins: Bins | None, classes: Any) -> Hashable:
        """Return a cell's value; DataError for an undeclared missing one."""
        fault_text = f"{self.source}: column {name!r} has missing values"
        if classes is None:
            if text is None:
                raise DataError(fault_text, fix=FILL_THEM)
            return binned(text, name, bins, self.table.numerals)
        number = None if text is None else float(self.number(text, name))
        code = classes.classes().code(number)
        if code == UNOBSERVED:
            fix = f'fill them, or write missing = "..." under [belief.classes.{name}]'
            raise DataError(fault_text, fix=fix)
        return classes.called[code]  # type: ignore[no-any-return]

    def people(self, written: Sequence[tuple[str, int | None]], column: str) -> dict[str, str]:
        return meant(written, column, "person")

    def number(self, text: str, column: str) -> str:
        plain = self.table.numerals.plain(text)
        if not re.match(NUMBER, plain) and not re.match(NOT_FINITE, plain):
            raise not_numbers(column, self._where_no_numbers).about(self.source)
        return plain


@dataclass(frozen=True)
class Public:
    """The folder of a release file, and the keys of its [source]."""

    folder: Path
    source: Any

    def open(self, file: Any, missing: bool = True) -> PublicTable:
        return PublicTable(open_public(file, self.source, self.folder / file.file, missing), self.source)


@runtime_checkable
class Checking(Protocol):
    """A section of a belief that says what no single key of it shows."""

    def faults(self) -> Iterable[TakifuguError]: ...


@runtime_checkable
class Counting(Protocol):
    """A section of a belief that names a file whose rows it may count: its key, its section, and its columns."""

    def counted(self, public: Public) -> tuple[tuple[str, ...], Any, Sequence[str]] | None: ...


def faults_of(belief: Described) -> Iterator[TakifuguError]:
    """Yield the faults of a [belief] beyond its single keys."""
    meant = belief.meant
    if isinstance(meant, Checking):
        for error in meant.faults():
            yield _blamed(error, belief)


def private_keys(spec: FileSpec, folder: Path, data: object) -> Iterator[TakifuguError]:
    """Yield the faults of [belief] keys naming the private data's file."""
    private = private_files(spec.source, folder, data)
    for key, path, section in files_of(spec.belief):
        is_declared, fix = _declared(section)
        if not is_declared and is_one_of(folder / path, private):
            yield fault(("belief", *key), _IS_PRIVATE, fix)


def _declared(section: object) -> tuple[bool, str]:
    """Return whether a section declares its file private, and the remedy."""
    ways = {"private": FIT_ELSEWHERE, "from_private_data": _COUNT_ELSEWHERE}
    declared = values_of(section, written(section, ways))
    key = next(iter(declared), "")
    instead = getattr(getattr(section, "declared", section), "instead", _GIVE_PUBLIC)
    return bool(declared.get(key)), ways.get(key, instead)


def fitted_to_data(spec: FileSpec) -> bool:
    """Return whether a file's belief is declared as fitted to its data."""
    return any(_declared(section)[0] for _, _, section in files_of(spec.belief))


def _blamed(error: TakifuguError, belief: Described) -> TakifuguError:
    """Return an error as the fault of [belief], at its key if it names one."""
    key: tuple[Step, ...] = ()
    if error.where and error.where[0] in type(belief).model_fields:
        key = error.where[:3]
    return blamed(error, "belief", *key)


@contextmanager
def collecting(faults: list[TakifuguError], belief: Described) -> Iterator[None]:
    """Add the faults of a [belief] that is made inside, each at its key."""
    try:
        yield
    except SpecError as error:
        faults += [_blamed(problem, belief) for problem in error.faults]
    except TakifuguError as error:
        faults.append(_blamed(error, belief))


def revealed(spec: FileSpec, folder: Path, table: Table) -> Iterator[TakifuguError]:
    """Yield the fault of a public file with the private rows."""
    meant = spec.belief.meant
    counted_file = meant.counted(Public(folder, spec.source)) if isinstance(meant, Counting) else None
    if counted_file is None:
        return
    key, file, columns = counted_file
    is_declared, fix = _declared(file)
    if not is_declared and same_rows(open_public(file, spec.source, folder / file.file), table, columns):
        yield fault(("belief", *key), "has the rows of the private data", fix)
