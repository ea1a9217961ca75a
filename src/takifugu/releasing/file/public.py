"""What a belief may be made from beside its own keys: public files, each a name or a SELECT that stands for itself."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from takifugu.core.arrays import FloatArray
from takifugu.core.errors import DataError, Step, TakifuguError, faults_in, gathered
from takifugu.core.files import private_folder
from takifugu.core.nearest import did_you_mean, first_of
from takifugu.core.sections import PublicFile, values_of, written
from takifugu.data import Bins, meant
from takifugu.data.relation.opening import WRITTEN, open_table
from takifugu.data.relation.relation import Relation
from takifugu.data.relation.source import Table
from takifugu.data.sql.words import identifier, text_or_null
from takifugu.data.values.texts import MISSING, not_numbers, number_in
from takifugu.model.beliefs.sections import FILL_THEM, Texts
from takifugu.releasing.file.described import files_of
from takifugu.releasing.file.keys import Described
from takifugu.releasing.file.problems import blamed, fault
from takifugu.releasing.file.reading import LEAVE_OUT, binned, bins_of, cells_on, coded
from takifugu.releasing.file.relation_keys import private_files, reads_one_of
from takifugu.releasing.file.sections import FileSpec

if TYPE_CHECKING:
    from takifugu.model.beliefs.boxed_places import Box

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
    """A public file as a relation of texts (`model.beliefs.sections.PublicTable`): its name, or a SELECT."""

    file: str
    folder: Path
    encoding: str | None
    source_keys: Any
    key: str = "file"

    @property
    def source(self) -> str:
        """Return what messages call the file."""
        return self.file if len(self.file) < 60 else f"{self.file[:57]}..."

    def values(self, column: str) -> tuple[str, ...]:
        counts = self.rows([column])
        if any(text is None for (text,) in counts):
            raise DataError(f"{self.source}: column {column!r} has missing values", fix=FILL_THEM)
        return tuple(sorted(str(text) for (text,) in counts))

    def rows(self, columns: Sequence[str]) -> dict[Texts, int]:
        """Return how often each combination of texts of some columns is there."""
        rows = self._selected(columns, "select {}, count(*) from {} group by all order by all")
        return {tuple(texts): int(count) for *texts, count in rows}

    def texts(self, columns: Sequence[str]) -> list[Texts]:
        place = {value: place for place, value in enumerate(dict.fromkeys(columns))}
        rows = self._selected([*place], "select {} from {}")
        return [tuple(row[place[column]] for column in columns) for row in rows]

    def codes(self, columns: Sequence[str], values: Sequence[Hashable], box: Box | None = None) -> list[int]:
        rows = self.texts(columns)
        if box is None:
            fixes = FILL_THEM, f"declare it, or {LEAVE_OUT}"
            return list(map(int, coded([text for text, *_ in rows], values, columns[0], fixes)))
        first, second = (self._numbers([row[axis] for row in rows], columns[axis]) for axis in (0, 1))
        return list(map(int, cells_on(box, columns, first, second)))

    def counts(self, columns: Sequence[str], classes: Mapping[str, Hashable]) -> Counter[tuple[Hashable, ...]]:
        counts = Counter[tuple[Hashable, ...]]()
        bins = {name: bins_of(self.source_keys, name) for name in columns}
        for texts, rows in self.rows(columns).items():
            key = list[Hashable]()
            for text, name in zip(texts, columns, strict=True):
                key.append(self._value(text, name, bins[name], classes.get(name)))
            counts[tuple(key)] += rows
        return counts

    def _selected(self, columns: Sequence[str], statement: str) -> list[tuple[Any, ...]]:
        """Return the rows of a statement over the columns as texts, None where there is nothing."""
        with self._opened(columns) as relation:
            listed = ", ".join(f"{text_or_null(name)} as {identifier(name)}" for name in columns)
            inner = f"(select {listed} from {identifier(WRITTEN)})"
            rows = relation.rows(statement.format(", ".join(map(identifier, columns)), inner))
        for place, column in enumerate(columns):
            if any(row[place] is not None and row[place] != row[place].strip() for row in rows):
                fix = f'{self.key} = "select trim({identifier(column)}) as {identifier(column)}, ... from ..."'
                raise DataError(f"{self.source}: column {column!r} has texts with blanks around them", fix=fix)
        return rows

    @contextmanager
    def _opened(self, columns: Sequence[str]) -> Iterator[Relation]:
        """Open the file, which has these columns; DataError where it has not, or changes meanwhile."""
        with private_folder() as room:
            relation = open_table(self.file, columns, self.folder, room, self.key, self.encoding)
            try:
                for column in columns:
                    if column not in relation.types:
                        near = did_you_mean(column, [*relation.types])
                        fix = f"its columns are {first_of(relation.types)}"
                        raise DataError(f"{self.source} has no column {column!r}{near}", fix=fix)
                yield relation
                relation.check_unchanged()
            finally:
                relation.close()

    def _value(self, text: str | None, name: str, bins: Bins | None, classes: Any) -> Hashable:
        """Return a cell's value; DataError for an undeclared missing one."""
        fault_text = f"{self.source}: column {name!r} has missing values"
        if classes is None:
            if text is None:
                raise DataError(fault_text, fix=FILL_THEM)
            return binned(text, name, bins)
        number = None if text is None else float(self.number(text, name))
        code = classes.classes().code(number)
        if code == MISSING:
            fix = f'fill them, or write missing = "..." under [belief.classes.{name}]'
            raise DataError(fault_text, fix=fix)
        return classes.called[code]  # type: ignore[no-any-return]

    def _numbers(self, texts: Sequence[str | None], column: str) -> FloatArray:
        return np.array([math.nan if text is None else float(self.number(text, column)) for text in texts])

    def people(self, written: Sequence[tuple[str, int | None]], column: str) -> dict[str, str]:
        return meant(written, column, "person")

    def number(self, text: str, column: str) -> str:
        if number_in(text) is None:
            name = identifier(column)
            fix = f"{self.key} = \"select replace({name}, ',', '.') as {name}, ... from ...\""
            raise not_numbers(column, fix).about(self.source)
        return text


@dataclass(frozen=True)
class Public:
    """The folder of a release file, and the keys of its [source]."""

    folder: Path
    source: Any

    def open(self, file: Any) -> PublicTable:
        return PublicTable(str(file.file), self.folder, file.encoding, self.source)


@runtime_checkable
class Checking(Protocol):
    """A section of a belief that says what no single key of it shows."""

    def faults(self) -> Iterable[TakifuguError]: ...


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
        if not is_declared and reads_one_of(path, folder, private):
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


def collecting(faults: list[TakifuguError], belief: Described) -> AbstractContextManager[None]:
    """Add the faults of a [belief] that is made inside, each at its key."""
    return gathered(faults, lambda error: [_blamed(fault, belief) for fault in faults_in(error)])


def revealed(spec: FileSpec, folder: Path, table: Any) -> Iterator[TakifuguError]:
    """Yield the faults of public files with the private rows."""
    belief, public = spec.belief.meant, Public(folder, spec.source)
    for key, _, file in files_of(spec.belief):
        is_declared, fix = _declared(file)
        columns = file.meant.counted(belief, spec.source) if isinstance(file.meant, PublicFile) else ()
        if columns and not is_declared and same_rows(public.open(file).rows(columns), table, columns):
            yield fault(("belief", *key), "has the rows of the private data", fix)


def same_rows(public_rows: Mapping[Texts, int], private: Table, columns: Sequence[str]) -> bool:
    """Return whether the private data hold these rows in any order, and no others, whatever their file."""
    # only who holds both is told; recoded data is not recognised (docs/concepts/limits.md), nor is refused data
    try:
        return bool(private.has_rows(public_rows, columns))
    except TakifuguError:
        return False
