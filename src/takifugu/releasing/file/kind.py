"""A kind of release file: what it brings, and what everything that is written once asks it.

It brings its sections, how the data become entries, its framework and its assumptions. Reading and checking the file,
planning, pricing, comparing, publishing, resuming and the report are written once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass, replace
from datetime import timedelta
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from takifugu.core.assumptions import limit, public, reading, with_kinds, world
from takifugu.core.column_words import people_of
from takifugu.core.errors import InputError, SpecError, TakifuguError
from takifugu.core.files import path_in
from takifugu.core.people import People
from takifugu.core.plugins import package_of, promise_of_package
from takifugu.core.sections import values_of, written
from takifugu.data.times.steps import time_text
from takifugu.model.frameworks import Assuming, Framework
from takifugu.model.queries import Query, name_of
from takifugu.model.queries.sections import IN_ORDER, POLICY, RECORDS
from takifugu.numbers.rationals import Number, as_fraction
from takifugu.releasing.certificates.facts import Fact
from takifugu.releasing.file.described import model_of
from takifugu.releasing.file.keys import Described, Section
from takifugu.releasing.file.relation_keys import entries_of, is_there, read_with
from takifugu.releasing.file.sections import BudgetSpec, FileSpec
from takifugu.releasing.file.sections import Table as Item
from takifugu.releasing.file.shape import Shape, opened

if TYPE_CHECKING:
    from takifugu.calibration import Calibration

Spec = TypeVar("Spec", bound=FileSpec)

#: Units without attributes share this: there may be millions.
_NONE: Mapping[str, str] = MappingProxyType({})


@dataclass(eq=False, slots=True)  # there may be millions, and frozen ones take six times as long to make
class Unit:
    """One unit of a source: its canonical name (None: there is only one) and its private data."""

    name: str | None
    data: Any = field(default=None, repr=False)
    #: The number of its entries, public, where that varies.
    size: int = 0
    #: Whether every entry was observed, and, where not, which ones were.
    complete: bool = True
    seen: tuple[range, ...] = field(default=(), repr=False)
    #: Its public attributes, as far as a table is by them; and what the framework about it depends on.
    attributes: Mapping[str, str] = field(default_factory=lambda: _NONE)
    shape: Hashable = ()
    #: The starts of its recordings, in no unit of time, with their names, where no calendar says them.
    starts: tuple[Hashable, ...] = ()
    #: The number of its first piece, where `data` are those of all units.
    number: int = 0


@dataclass(frozen=True, eq=False)
class UnitQuery:
    """One answer: its query, and the units that it reads, in the order in which the query counts entries."""

    query: Query
    units: Sequence[Unit]
    #: By unit: the query that it is charged for, and how much wider the noise is for it (`charge_of`).
    shares: Mapping[str, tuple[Query, Fraction]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class ReleaseFile:
    """A release file that was read and checked; its paths are relative to `folder`."""

    path: Path
    spec: FileSpec
    kind: Kind
    belief: Any = field(repr=False)
    #: What is hidden from whom, where that is the same for all units.
    framework: Framework | None = field(default=None, repr=False)
    #: What replaces the source's file, if anything; the opened source, where it was opened already.
    given: object = field(default=None, repr=False)
    opened: Any = field(default=None, repr=False)
    #: The steps of a calendar that are read (`Kind.part`), and the place of the first one, counted from 1970.
    places: range | None = None
    at: int | None = None
    #: Whether noise must be right whatever was observed, and whether entries may miss without anybody knowing.
    hides_gaps: bool = False
    may_miss: bool = False
    #: The window that is read, where it has not ended.
    still_open: str = ""
    #: Whether the answers depend on which units there are, and the most entries of one, where the file says it.
    by_units: bool = False
    most_steps: int | None = None
    #: The window that the caller chose; the tables of the file that are left out now (`only`).
    window: str | None = None
    others: tuple[Item, ...] = ()
    #: How long the windows of a series without an end are, of which the first one stands for all here.
    endless: str = ""

    def only(self, items: Sequence[Item]) -> ReleaseFile:
        """Return the file with these tables alone; `others` keeps the rest."""
        tables = tuple(items)
        names = {item.name for item in tables}
        other_tables = tuple(item for item in (*self.items, *self.others) if item.name not in names)
        return replace(self, spec=self.spec.model_copy(update={"table": tables}), others=other_tables)

    @property
    def folder(self) -> Path:
        return self.path.parent

    @property
    def source(self) -> Any:
        return self.spec.source

    @property
    def people(self) -> People:
        """Return the noun for the source's people, as declared or by their column, also where all are one unit."""
        return replace(people_of(self.source.unit, self.source.called), are_named=self.owner_column is not None)

    @property
    def owner_column(self) -> str | None:
        """Return the role of the ledger's units, None where all rows are one unit."""
        return self.kind.facts.owner_column(self.source)

    @property
    def counted_in(self) -> str:
        """Return what counts are of."""
        rows, source = self.kind.facts.rows, self.source
        if rows in (RECORDS, POLICY):
            return self.people.many
        if rows == IN_ORDER and isinstance(source.length, timedelta):
            return f"steps of {time_text(source.length, in_words=True)}"
        return "steps" if rows == IN_ORDER and source.calendar is not None else "rows"

    @property
    def items(self) -> tuple[Item, ...]:
        return self.spec.table

    @property
    def budget(self) -> Number | tuple[Number, Number] | None:
        """Return the source's budget for the ledger: epsilon, or (epsilon, delta)."""
        budget: Number | BudgetSpec | None = self.source.budget
        if isinstance(budget, BudgetSpec):
            return budget.epsilon, budget.delta
        return budget

    @property
    def epsilon_budget(self) -> Fraction | None:
        """Return the epsilon of the source's budget, if declared."""
        epsilon = self.budget[0] if isinstance(self.budget, tuple) else self.budget
        return None if epsilon is None else as_fraction(epsilon, "the budget")

    @property
    def ledger(self) -> str | Path:
        return path_in(self.folder, self.spec.ledger)

    @property
    def output(self) -> Path:
        """Return the output folder, by default named after the file."""
        return self.inside(self.spec.output or output_by_default(self.path))

    @property
    def table(self) -> Any:
        """Return the opened source; SpecError with all its faults."""
        if self.opened is not None:
            return self.opened
        table, faults = opened(self.kind.facts, self.spec, self.belief, self.folder, self.given)
        if table is None or faults:
            raise SpecError(faults)
        return table

    @property
    def leaves_by_value(self) -> bool:
        """Return whether steps of the opened source have no state by what is hidden."""
        return self.opened is not None and self.opened.opened.leaves_by_value

    @cached_property
    def reading(self) -> str:
        """Return how rows of the source become entries, one fact a line; "" where there are no data to open."""
        has_data = self.opened is not None or is_there(self.source, self.folder, self.given)
        if not has_data:
            return ""
        return read_with(self.table.reading, self.spec.belief)

    @cached_property
    def entries(self) -> str | None:
        """Return the name of the source's entries, None where nobody named them."""
        return entries_of(self.source, self.given)

    def sections(self, of_kind: type[Spec]) -> Spec:
        """Return the file's sections, typed by its kind."""
        assert isinstance(self.spec, of_kind)
        return self.spec

    def inside(self, name: str) -> Path:
        """Return a path of the file relative to its folder."""
        return self.folder / name


class Kind:
    """A kind of release file: one for each shape of data, with its `facts`, for beliefs that bring their `section`."""

    # Another package gives its `facts`, and overrides `framework_of`, `units` and what else it needs.
    names: tuple[str, ...] = ()
    facts: ClassVar[Shape]

    def __init__(self, section: type | None = None) -> None:
        self.section = section
        if is_dataclass(section):
            self.names = (name_of(section, "kind"),)

    @property
    def believes(self) -> type[Section]:
        """Return the model of a [belief] with declared keys."""
        assert self.section is not None
        return model_of(self.section, self.facts.believed)

    # What the file means. Faults are yielded with their place; an error that is raised is blamed on the section.
    def shape(self, spec: Any, folder: Path, data: object) -> Iterable[TakifuguError]:
        """Yield the contradictions between sections, found before opening data."""
        return ()

    def misfits(self, spec: Any, belief: Any) -> Iterable[TakifuguError]:
        """Yield the faults of keys and values against the belief."""
        return ()

    def framework_of(self, spec: Any, belief: Any) -> Framework:
        """Return the framework of [hide] for the belief."""
        raise NotImplementedError

    def part(self, file: ReleaseFile, item: Any) -> ReleaseFile:
        """Return the file for one table: other windows have other data."""
        return file

    def certificate_words(self, file: ReleaseFile, item: Any, calibration: Calibration) -> tuple[Fact, ...]:
        """Return the certificate's facts about a table's window and cells."""
        return ()

    def units(self, file: ReleaseFile) -> tuple[Unit, ...]:
        """Return the units of the source; DataError for rule-breaking data."""
        raise NotImplementedError

    def query_of(self, file: ReleaseFile, item: Any) -> Query:
        """Return the query of one table of a checked file."""
        return item.meant.query_about(file.belief, file.folder)  # type: ignore[no-any-return]

    def unit_query(self, file: ReleaseFile, item: Any, query: Query, units: Sequence[Unit]) -> UnitQuery:
        """Return the query of one answer about these units."""
        return UnitQuery(query, units)

    def framework_about(self, file: ReleaseFile, units: Sequence[Unit]) -> Framework:
        """Return the framework of these units together."""
        assert file.framework is not None
        return file.framework

    def data(self, file: ReleaseFile, item: Any, query: Query, units: Sequence[Unit]) -> object:
        """Return the private data of one question; InputError for many units."""
        if len(units) > 1:
            raise InputError(
                f"a {type(self).__name__} does not say how the data of several people are read together",
                fix="define data() and framework_about(), or publish each person alone",
            )
        return units[0].data

    def remarks(self, file: ReleaseFile, item: Item, mechanism: str, noise: object = None) -> Iterator[str]:
        """Yield public advice on a table, with its `noise` before payment."""
        yield from ()

    def assumptions(self, file: ReleaseFile) -> Iterator[Fact]:
        """Yield the certificate's assumptions: public facts, independence, the belief's."""
        if file.owner_column is not None:
            yield public(f"Which {file.people.many} there are is public.")
            yield world(f"The {file.people.many} are independent of each other.")
        yield from assumed(file.spec.belief)


def output_by_default(path: Path) -> str:
    """Return the default name of a release file's output folder."""
    return f"{path.stem}-published"


def assumptions_of(file: ReleaseFile) -> tuple[Fact, ...]:
    """Return the assumptions on a file's data: its kind's, which rows they are, and whose word it is what they mean."""
    facts = list(with_kinds(file.kind, file.kind.assumptions(file)))
    said = values_of(file.source, written(file.source, ("sql", "where")))
    if "sql" in said:
        facts.append(reading(f"The rows are those of {said['sql']}"))
    if "where" in said:
        facts.append(reading(f"Rows count where {said['where']}. Nothing is guaranteed about others."))
    if package := package_of(file.kind) or package_of(file.kind.section):
        words = f"A {promise_of_package(package)}: what a row means is its author's word, and was not checked."
        facts.append(limit(words))
    return tuple(facts)


def assumed(section: Described) -> Iterable[Fact]:
    """Return the assumptions of a declared [belief]."""
    return section.meant.assumptions() if isinstance(section.meant, Assuming) else ()
