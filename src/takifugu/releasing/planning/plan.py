"""From a release file to calibrated questions: the units, the frameworks about them, the noise of each answer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from operator import attrgetter

from takifugu.calibration import Calibration
from takifugu.core.errors import DataError, InputError, SpecError
from takifugu.core.people import PEOPLE, People
from takifugu.core.sections import values_of, written
from takifugu.model.queries.answer import Additive
from takifugu.releasing.certificates.facts import Fact
from takifugu.releasing.file.kind import ReleaseFile, Unit, assumptions_of
from takifugu.releasing.file.sections import FileSpec
from takifugu.releasing.file.sections import Table as Item
from takifugu.releasing.file.sharing import sharing
from takifugu.releasing.planning.asking import Asking, Calibrated, Totals
from takifugu.releasing.planning.questions import Question

#: A table to publish: who asks its questions, the release, its name and its scope.
Aim = tuple[Asking, Item, str, str]
#: Receives what is being done, and how many of how many such things are done.
Watch = Callable[[str, int, int], None]


def unwatched(what: str, done: int, all_of_them: int) -> None:
    """Report nothing."""


@dataclass(frozen=True, eq=False)
class Table:
    """One table to publish: the answers of one release to one scope ("all", "unit" or "pooled")."""

    name: str
    scope: str
    item: Item
    questions: tuple[Question, ...] = field(repr=False)
    #: The words of its certificate on the window that it reads.
    facts: tuple[Fact, ...] = ()
    #: By answer: the sums of its cells, for a table that publishes adjusted values, too.
    totals: tuple[Totals, ...] | None = None
    #: The noun for those whose data it reads; and for the things that it counts.
    people: People = PEOPLE
    counted_in: str = "rows"

    @property
    def calibrations(self) -> tuple[Calibration, ...]:
        return tuple(q.calibration for q in self.questions)

    @property
    def measured_in(self) -> str:
        """Return the unit of its values: the declared one, or else what counts are of."""
        if self.item.measured_in:
            return self.item.measured_in
        for calibration in self.calibrations:
            if calibration.framework.domain.names is not None:  # entries with names are people or columns, not rows
                return ""
            answers = calibration.problem.answers
            if not all(isinstance(answer, Additive) and answer.is_whole_count for answer in answers):
                return ""
        return self.counted_in


@dataclass(frozen=True, eq=False)
class Plan:
    """What a release file would publish: calibrated, nothing drawn. Its questions hold the private data."""

    file: ReleaseFile
    unit_names: tuple[str, ...] = field(repr=False)
    tables: tuple[Table, ...]
    facts: tuple[Fact, ...]

    @property
    def spec(self) -> FileSpec:
        return self.file.spec

    @property
    def questions(self) -> tuple[Question, ...]:
        """Return the questions of all tables."""
        return tuple(chain.from_iterable(table.questions for table in self.tables))

    @property
    def knows_units(self) -> bool:
        """Return whether the units are known; unread records hide them."""
        return self.file.owner_column is None or bool(self.unit_names)

    @property
    def unjudged(self) -> tuple[str, ...]:
        """Return the tables of all units together where only the data say how many there are."""
        if self.knows_units or not self.file.kind.facts.has_lengths:
            return ()
        return tuple(table.name for table in self.tables if table.scope == "pooled")

    @property
    def judged(self) -> Plan:
        """Return the plan of the tables that can be judged by what was read."""
        unjudged = self.unjudged
        return self.only({table.name for table in self.tables} - {*unjudged}) if unjudged else self

    def only(self, names: Collection[str]) -> Plan:
        """Return the plan of these of its tables alone."""
        tables = tuple(table for table in self.tables if table.name in names)
        chosen_items = {id(table.item) for table in tables}
        items = tuple(item for item in self.file.items if id(item) in chosen_items)
        part = replace(self, file=self.file.only(items), tables=tables)
        read = {*chain.from_iterable(question.readers for question in part.questions)}
        return replace(part, unit_names=tuple(name for name in self.unit_names if name in read))


def plan(
    file: ReleaseFile, watch: Watch = unwatched, before_reading: Callable[[Plan], None] | None = None
) -> Plan:
    """Read the data and calibrate every answer, drawing nothing; DataError, CalibrationRefused."""
    calibrated_before = Calibrated()
    parts = [file.kind.part(file, item) for item in file.items]
    depends_on_lengths = any(unit.size for part in parts for unit in imagined(part))
    if before_reading is not None and not depends_on_lengths:
        # the plan without the data, where nothing asked depends on them
        before_reading(planned_of(file, aims_of(file, already=calibrated_before), watch))
    watch("reading the data", 0, 1)
    return planned_of(file, aims_of(file, _read, calibrated_before), watch)


def calibrated(file: ReleaseFile, watch: Watch = unwatched) -> Plan:
    """Return the calibrated plan, reading data only where calibration needs them."""
    return planned_of(file, aims_as_needed(file, watch), watch)


def number_of_units(planned: Plan, watch: Watch) -> int | None:
    """Read the data and return the number of units, where a plan needs it, does not know it, and the data tell."""
    if planned.knows_units or not any(table.scope == "unit" for table in planned.tables):
        return None
    watch("reading the data", 0, 1)
    with suppress(DataError, SpecError):  # `release` names what is wrong with them
        return len(_read(planned.file))
    return None


def calibrated_unread(file: ReleaseFile, watch: Watch) -> Plan:
    """Return the calibrated plan of tables with data-independent noise. A window is taken to have all its steps."""
    ready = []
    for item in file.items:
        if not any(_needs_units(file, sharer) for sharer in sharing(file, item)):
            ready.append(item)
    unread = file if len(ready) == len(file.items) else file.only(ready)
    return planned_of(unread, aims_of(unread), watch)


def why_untried(file: ReleaseFile, item: Item) -> str:
    """Say why a table cannot be calibrated without data, if so."""
    for sharer in sharing(file, item):
        part = file.kind.part(file, sharer)
        if part.by_units:
            return f"it depends on which {file.people.many} there are"
        if part.most_steps is None:
            return "nothing says how long the sequences are at most (max_length under [belief] would)"
        if not file.kind.query_of(part, sharer).reads_alike:
            return "its query reads each step, and the data say which ones there are"
    return ""


def _needs_units(file: ReleaseFile, item: Item) -> bool:
    """Return whether a table's noise depends on the units or their lengths."""
    if not file.kind.facts.has_lengths:
        return False
    part = file.kind.part(file, item)
    if part.places is None or part.by_units or not part.hides_gaps:
        return True
    return not file.kind.query_of(part, item).reads_alike


def aims_as_needed(file: ReleaseFile, watch: Watch) -> list[Aim]:
    """Return every table with its asking, reading data only if needed."""
    if not file.kind.facts.has_lengths:
        return aims_of(file)

    def watched(part: ReleaseFile) -> tuple[Unit, ...]:
        watch("reading the data", 0, 1)
        return _read(part)

    return aims_of(file, watched)


def planned_of(file: ReleaseFile, scopes: Sequence[Aim], watch: Watch) -> Plan:
    """Calibrate every answer of these tables, drawing nothing."""
    work = sum(asking.answers(scope) for asking, _, _, scope in scopes)
    done, tables = 0, []
    for asking, item, name, scope in scopes:
        questions: list[Question] = []
        watch(f"calibrating {name}", done, work)
        for question in asking.questions(item, name, scope):
            questions.append(question)
            done += 1
            watch(f"calibrating {name}", done, work)
        words = asking.kind.certificate_words(asking.file, item, questions[0].calibration)
        is_adjusted = any(values_of(item, written(item, ("adjust",))).values())
        totals = asking.totals(questions) if is_adjusted else None
        about = asking.file.people, asking.file.counted_in
        tables.append(Table(name, scope, item, tuple(questions), words, totals, *about))
    units = chain.from_iterable(asking.units for asking, *_ in scopes)
    names = dict.fromkeys(map(attrgetter("name"), units))
    names.pop(None, None)
    return Plan(file, tuple(names), tuple(tables), assumptions_of(file))


def _read(file: ReleaseFile) -> tuple[Unit, ...]:
    """Return the units of a source. Raises InputError where two units get one name, as one debit would pay for both."""
    units = tuple(file.kind.units(file))
    names = set(map(attrgetter("name"), units))
    if not units or len(names) < len(units) or names >= {None, ""}:
        fault = "two people of one name" if units else "no person"
        raise InputError(
            f"the kind {type(file.kind).__name__} of release file returns {fault}",
            rule="each person is debited under its own name",
            fix="return one Unit per name, with all its data",
        )
    return units


def tables_of(file: ReleaseFile, item: Item) -> tuple[tuple[str, str], ...]:
    """Return the name and scope of each table of one [[table]]."""
    scope = "all" if file.owner_column is None else item.scope
    if scope == "both":
        return (f"{item.name}-units", "unit"), (f"{item.name}-pooled", "pooled")
    return ((item.name, scope),)


def table_names(file: ReleaseFile, items: Iterable[Item]) -> list[str]:
    """Return the names of the tables of several [[table]]s."""
    tables = chain.from_iterable(tables_of(file, item) for item in items)
    return [name for name, _ in tables]


def imagined(file: ReleaseFile) -> tuple[Unit, ...]:
    """Return one unit without data, as long as the file allows."""
    if not file.kind.facts.has_lengths:
        return (Unit(None),)
    size = file.most_steps or 1
    return (Unit(None, size=size, shape=(size,)),)


def aims_of(
    file: ReleaseFile, units_of: Callable[[ReleaseFile], tuple[Unit, ...]] = imagined,
    already: Calibrated | None = None,
) -> list[Aim]:  # fmt: skip
    """Return every table to publish with the units of its window, each found once, by default without data."""
    calibrated_before = Calibrated() if already is None else already
    tables = [(item, tables_of(file, item)) for item in file.items]
    is_alone = sum(len(names) for _, names in tables) == 1 and not file.others
    askings: dict[range | None, Asking] = {}
    plans = []
    for item, names in tables:
        part = file.kind.part(file, item)
        if part.places not in askings:
            askings[part.places] = Asking(part, units_of(part), is_alone, calibrated_before)
        plans += [(askings[part.places], item, name, scope) for name, scope in names]
    return plans
