"""What a ledger says, computed from its events in their order: sources, histories, what is spent, and what waits.

`View` is a fold: `apply` takes one event, and nothing else changes it. What a unit has spent is a function of its lines
(`account`); units with the same lines are one class (`people`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from takifugu.accounting.amounts import NOTHING, Amount, most
from takifugu.accounting.ledger.events import (
    DRAWN,
    EACH,
    NOBODY,
    OVER,
    RESERVED,
    SESSION,
    Began,
    Budgeted,
    Drawn,
    Event,
    Line,
    Over,
    Paid,
    Same,
    decoding,
)
from takifugu.accounting.ledger.people import People, steps_of
from takifugu.accounting.ledger.tables import Tables
from takifugu.analysis.guarantee import Charge
from takifugu.core.errors import LedgerError
from takifugu.core.rules import check_type
from takifugu.model.frameworks import Framework

#: The unit of all sources that name none, whoever it is: it may be any of the named ones.
EVERYBODY = -1
#: The class of named units that were never charged yet.
COMING = -2


@dataclass(frozen=True, eq=False)
class Step:
    """One line in the order of all: its charge, table and place, and of how many units it is."""

    line: Line
    charge: Charge
    belief: str
    source: str
    group: str
    table: int
    #: The table of the entries that it names, also where all rows of a person are one table.
    entries: int
    #: Equal for steps that cost a unit alike.
    key: int

    @property
    def is_named(self) -> bool:
        return self.line.units != NOBODY


@dataclass(frozen=True, eq=False)
class Group:
    """Releases that were paid for together, in which event, and what became of them."""

    paid: Paid
    number: int
    digest: str
    state: str = RESERVED
    values: tuple[str, ...] = ()
    why: str = ""
    certificates: tuple[str, ...] = ()


@dataclass(frozen=True)
class Source:
    """What is known of a source: its budget, what the unit that spent most has spent, and how it was read."""

    name: str
    budget: Amount | None = None
    is_implied: bool = True
    names_units: bool | None = None
    spent: Amount = NOTHING
    tables: tuple[tuple[str, str], ...] = ()
    same: tuple[Same, ...] = ()


@dataclass(eq=False)
class View:
    """All that the first `number` events of a ledger say; `head` is the digest of the last of them."""

    content: Callable[[str], bytes]
    name: str = ""
    id: str = ""
    key: bytes = b""
    head: str = ""
    number: int = 0
    sources: dict[str, Source] = field(default_factory=dict)
    groups: dict[str, Group] = field(default_factory=dict)
    releases: dict[str, str] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    people: People = field(default_factory=People)
    nobody: list[int] = field(default_factory=list)
    each: list[int] = field(default_factory=list)
    tables: Tables = field(default_factory=Tables)
    charges: dict[str, Charge] = field(default_factory=dict)
    frameworks: dict[str, Framework] = field(default_factory=dict)
    recipes: dict[str, dict[str, object]] = field(default_factory=dict)
    keys: dict[object, int] = field(default_factory=dict)

    def copy(self, content: Callable[[str], bytes]) -> View:
        """Return a view that takes events on trial; what is read from contents is shared."""
        return replace(
            self, content=content, sources={**self.sources}, groups={**self.groups}, releases={**self.releases},
            steps=[*self.steps], people=self.people.copy(), nobody=[*self.nobody], each=[*self.each],
            tables=self.tables.copy(),
        )  # fmt: skip

    def apply(self, event: Event, digest: str) -> None:
        """Take one more event."""
        match event:
            case Began():
                self.id, self.key = event.id, bytes.fromhex(event.key)
            case Budgeted():
                budget = Amount.of_texts((event.epsilon, event.delta))
                self._set(event.source, budget=budget, is_implied=event.implied)
            case Paid():
                self._pay(event, digest)
            case Same():
                self.tables.join(event, self.content)
                self._set(event.source, same=(*self.source(event.source).same, event))
            case Drawn():
                group = self.groups[event.group]
                if group.state != OVER and (group.state == RESERVED or self.is_session(group)):  # the first one counts
                    values = (*group.values, event.values)
                    self.groups[event.group] = replace(group, state=DRAWN, values=values)
            case Over():
                group = self.groups[event.group]
                certificates = (*group.certificates, *event.certificates)
                self.groups[event.group] = replace(group, state=OVER, why=event.why, certificates=certificates)
        self.head, self.number = digest, self.number + 1

    def source(self, name: str) -> Source:
        return self.sources.get(name) or Source(name)

    def group(self, name: str) -> Group:
        check_type(name, str, "the name of a reservation", "give the group of a payment", "group")
        if name not in self.groups:
            raise LedgerError(
                f"the ledger has no reservation {name!r}", fix="complete it with the ledger that it was made in"
            )
        return self.groups[name]

    def groups_of(self, source: str) -> list[Group]:
        """Return all payments about a source, oldest first."""
        return [group for group in self.groups.values() if group.paid.source == source]

    def _set(self, name: str, **values: object) -> None:
        self.sources[name] = replace(self.source(name), **values)  # type: ignore[arg-type]

    def recipe(self, group: Group) -> dict[str, object]:
        """Return how a payment is completed; raises LedgerError where that cannot be read."""
        digest = group.paid.recipe
        if digest and digest not in self.recipes:
            with decoding():
                recipe = json.loads(self.content(digest))
                if not isinstance(recipe, dict):
                    raise ValueError("its recipe is no table of keys")
                self.recipes[digest] = recipe
        return self.recipes.get(digest, {})

    def is_session(self, group: Group) -> bool:
        with suppress(LedgerError):  # what cannot be read is one release, and no other waits for it
            return self.recipe(group).get("kind") == SESSION["kind"]
        return False

    def _pay(self, paid: Paid, digest: str) -> None:
        source = self.source(paid.source)
        self.groups[paid.group] = Group(paid, self.number, digest, OVER if paid.adopted else RESERVED)
        tables = source.tables
        if (paid.reading, paid.entries) not in tables:
            tables = (*tables, (paid.reading, paid.entries))
        names_units = any(line.units != NOBODY for line in paid.lines)
        self.sources[paid.source] = replace(source, tables=tables, names_units=names_units)
        for name, texts in paid.spent.items():
            before, spent = self.source(name), Amount.of_texts(texts)
            if not spent.fits(before.spent):
                self.sources[name] = replace(before, spent=most(before.spent, spent))
        self.releases.update((number, paid.group) for number in paid.ids.values())
        self.tables.name_people(paid.source, paid.reading, self.content)
        for line in paid.lines:
            number = len(self.steps)
            self.steps.append(self._step(paid, line))
            if line.units == NOBODY:
                self.nobody.append(number)
            elif line.units == EACH:
                self.each.append(number)
            else:
                self.people.charge(line.units, self.content, number)

    def _step(self, paid: Paid, line: Line) -> Step:
        charge = self.charge(line.charge)
        if charge.framework not in self.frameworks:
            self.frameworks[charge.framework] = Framework.from_dict(json.loads(self.content(line.framework)))
        table, entries = self.tables.of_line(paid, charge, line.at)
        group = paid.group if charge.begins_series else ""
        key = (line.charge, line.at, line.starts, table, entries, line.units == NOBODY, group)
        number = self.keys.setdefault(key, len(self.keys))
        return Step(line, charge, charge.framework, paid.source, paid.group, table, entries, number)

    def charge(self, digest: str) -> Charge:
        if digest not in self.charges:
            self.read_charges({digest: self.content(digest)})
        return self.charges[digest]

    def read_charges(self, contents: Mapping[str, bytes]) -> None:
        """Read charges among contents; what lines name is read once."""
        self.charges.update((digest, Charge.from_dict(json.loads(body))) for digest, body in contents.items())

    def loose(self) -> set[str]:
        """Return the sources whose people were named in several ways: each of their lines may be about anybody."""
        named = [name for name, source in self.sources.items() if source.names_units]
        return {*filter(self.tables.names_several_ways, named)}

    def shared(self) -> set[int]:
        """Return the steps that every named unit is charged with: of nobody's name, or of loose sources."""
        shared, loose = {*self.nobody}, self.loose()
        if loose:
            shared |= {place for place, step in enumerate(self.steps) if step.source in loose}
        return shared

    def past(self, number: int, shared: set[int]) -> list[int]:
        """Return the steps that units of a class are charged with, in their order (`ordered`)."""
        if number == EVERYBODY:
            return self.ordered(range(len(self.steps)))
        steps = steps_of(None if number == COMING else self.people.pasts[number])
        if shared or self.each:
            return self.ordered(shared.union(steps, self.each))
        return steps

    def ordered(self, steps: Iterable[int]) -> list[int]:
        """Return steps in their order: adopted ones with a delta come first, the other adopted ones last."""
        if not self.each:
            return sorted(steps)
        # nobody knows when these were chosen: after a delta all else costs most
        late = {step: bool(self.steps[step].charge.delta) for step in self.each}
        return sorted(steps, key=lambda step: (1 if step not in late else 0 if late[step] else 2, step))

    def touched(self, paid: Paid) -> list[int]:
        """Return the classes of units whose totals a payment, the last event, may have raised."""
        sets = {line.units for line in paid.lines}
        is_second = len(self.releases) - len(paid.ids) == 1  # the first one's promise may have counted alone
        if sets & {NOBODY, EACH} or is_second or paid.source in self.loose():
            return self.everyone()
        classes = dict.fromkeys(number for name in sets for number in self.people.classes_of(name, self.content))
        return [*([EVERYBODY] if self.nobody else []), *classes]

    def everyone(self) -> list[int]:
        """Return all classes of units."""
        return [*([EVERYBODY] if self.nobody else []), *range(len(self.people.sizes)), COMING]
