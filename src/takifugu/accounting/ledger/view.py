"""What a ledger says, computed from its events in their order: sources, histories, what is spent, and what waits.

`View` is a fold: `apply` takes one event, and nothing else changes it. What a unit has spent is a function of its lines
(`account`); units with the same lines are one class (`people`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from takifugu.accounting.amounts import NOTHING, Amount, most
from takifugu.accounting.ledger.account import ELSEWHERE, Outside, covering, placed, repeated, together
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
from takifugu.analysis.guarantee import Charge
from takifugu.core.errors import CompositionRefused, LedgerError
from takifugu.core.lists import take
from takifugu.model.frameworks import OF_ROWS, Framework
from takifugu.model.frameworks import from_dict as read_framework

#: The unit of all sources that name none, whoever it is: it may be any of the named ones.
EVERYBODY = -1
#: The class of named units that were never charged yet.
COMING = -2
#: So many different pasts are looked at one by one; more are put into so many groups of like ones.
MANY, GROUPS = 1000, 100
#: What a table holds of the entries of one name: lines at a step of a calendar, or about all of them; and all rows
#: about a person, of whatever name: which of those are the same is for the rule of rows to say.
_PLACED, _WHOLE, _ROWS = "at", "", "rows"
#: The facts of a reading that say whose a row is: where they change, a person may have another name.
_NAMING = ("unit", "recording", "sql")


@dataclass(frozen=True, eq=False)
class Step:
    """One line in the order of all: its charge, table and place, and of how many units it is.

    `entries` is the table of the entries that it names, also where all rows of a person are one table. Steps of one
    `key` cost a unit alike.
    """

    line: Line
    charge: Charge
    belief: str
    source: str
    group: str
    table: int
    entries: int
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
    groups: tuple[str, ...] = ()
    tables: tuple[tuple[str, str], ...] = ()
    same: tuple[Same, ...] = ()


@dataclass(frozen=True, eq=False)
class Account:
    """A longest past: its class, its steps, and for how many different pasts it stands."""

    number: int
    steps: list[Step]
    pasts: int = 1

    @property
    def is_everybody(self) -> bool:
        return self.number == EVERYBODY


@dataclass(eq=False)
class View:
    """All that the first `number` events say; `head` is the digest of the last of them."""

    content: Callable[[str], bytes]
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
    tables: dict[tuple[str, ...], int] = field(default_factory=dict)
    parents: list[int] = field(default_factory=list)
    namings: dict[str, set[int]] = field(default_factory=dict)
    charges: dict[str, Charge] = field(default_factory=dict)
    frameworks: dict[str, Framework] = field(default_factory=dict)
    naming_of: dict[str, str] = field(default_factory=dict)
    recipes: dict[str, dict[str, object]] = field(default_factory=dict)
    keys: dict[object, int] = field(default_factory=dict)

    def copy(self, content: Callable[[str], bytes]) -> View:
        """Return a view that takes events on trial; what is read from contents is shared."""
        return replace(
            self, content=content, sources={**self.sources}, groups={**self.groups}, releases={**self.releases},
            steps=[*self.steps], people=self.people.copy(), nobody=[*self.nobody], each=[*self.each],
            tables={**self.tables}, parents=[*self.parents],
            namings={name: {*numbers} for name, numbers in self.namings.items()},
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
                self._join(event)
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
        self._set(
            paid.source, groups=(*source.groups, paid.group), tables=tables,
            names_units=any(line.units != NOBODY for line in paid.lines),
        )  # fmt: skip
        for name, spent in paid.spent.items():
            self._set(name, spent=most(self.source(name).spent, Amount.of_texts(spent)))
        self.releases.update((number, paid.group) for number in paid.ids.values())
        self.namings.setdefault(paid.source, set()).add(self._naming(paid.source, paid.reading))
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
            self.frameworks[charge.framework] = read_framework(json.loads(self.content(line.framework)))
        place = _WHOLE if line.at is None else _PLACED
        entries = table = self._table(paid.source, paid.reading, paid.entries, place)
        if charge.definition in OF_ROWS:
            table = self._table(paid.source, paid.reading, "", _ROWS)
        group = paid.group if charge.begins_series else ""
        key = (line.charge, line.at, line.starts, table, entries, line.units == NOBODY, group)
        number = self.keys.setdefault(key, len(self.keys))
        return Step(line, charge, charge.framework, paid.source, paid.group, table, entries, number)

    def charge(self, digest: str) -> Charge:
        if digest not in self.charges:
            self.charges[digest] = Charge.from_dict(json.loads(self.content(digest)))
        return self.charges[digest]

    def _join(self, event: Same) -> None:
        """Take the entries of some readings as the same, and the names of people with them."""
        for table in event.tables:
            both = (self._tables(event.source, *each) for each in (event.tables[0], table))
            for one, other in zip(*both, strict=True):
                self.parents[self.find(other)] = self.find(one)
        self._set(event.source, same=(*self.source(event.source).same, event))

    def _tables(self, source: str, reading: str, entries: str) -> list[int]:
        """Return the numbers of all that some entries of a reading may be lines of."""
        places = [self._table(source, reading, entries, place) for place in (_WHOLE, _PLACED)]
        return [*places, self._table(source, reading, "", _ROWS), self._naming(source, reading)]

    def _naming(self, source: str, reading: str) -> int:
        """Return the number of the way in which a reading says whose a row is."""
        if reading not in self.naming_of:
            lines = self.content(reading).decode().split("\n")
            self.naming_of[reading] = "\n".join(line for line in lines if line.partition(": ")[0] in _NAMING)
        return self._table("naming", source, self.naming_of[reading], "")

    def _table(self, *key: str) -> int:
        """Return the number of the entries that a source, a reading and their name are about."""
        if key not in self.tables:
            self.tables[key] = len(self.parents)
            self.parents.append(len(self.parents))
        return self.tables[key]

    def find(self, table: int) -> int:
        """Return the first of the tables that are declared to be the same."""
        while self.parents[table] != table:
            table = self.parents[table]
        return table

    def is_known(self, source: str, reading: str, entries: str) -> bool:
        """Return whether something was released, or declared, about these entries."""
        return not self.tables.keys().isdisjoint((source, reading, entries, place) for place in (_WHOLE, _PLACED))

    def loose(self) -> set[str]:
        """Return the sources whose people were named in several ways: each of their lines may be about anybody."""
        loose = set()
        for name, numbers in self.namings.items():
            if self.source(name).names_units and len({self.find(number) for number in numbers}) > 1:
                loose.add(name)
        return loose

    def shared(self) -> set[int]:
        """Return the steps that every named unit is charged with: of nobody's name, or of loose sources."""
        shared, loose = {*self.nobody}, self.loose()
        if loose:
            shared |= {place for place, step in enumerate(self.steps) if step.source in loose}
        return shared

    def past(self, number: int, shared: set[int]) -> list[int]:
        """Return the steps that units of a class are charged with, in their order (`_ordered`)."""
        if number == EVERYBODY:
            return self._ordered(range(len(self.steps)))
        steps = steps_of(None if number == COMING else self.people.pasts[number])
        if shared or self.each:
            return self._ordered(shared.union(steps, self.each))
        return steps

    def _ordered(self, steps: Iterable[int]) -> list[int]:
        """Return steps in their order.

        Nobody knows when adopted releases were chosen: those with a delta come first, after which all else costs most,
        and the others last.
        """
        if not self.each:
            return sorted(steps)
        late = {step: bool(self.steps[step].charge.delta) for step in self.each}
        return sorted(steps, key=lambda step: (1 if step not in late else 0 if late[step] else 2, step))

    def touched(self, paid: Paid) -> list[int]:
        """Return the classes of units whose totals a payment, the last event, may have raised."""
        touched = [EVERYBODY] if self.nobody else []
        sets = {line.units for line in paid.lines}
        is_second = len(self.releases) - len(paid.ids) == 1  # the first one's promise may have counted alone
        if sets & {NOBODY, EACH} or is_second or paid.source in self.loose():
            return [*touched, *range(len(self.people.sizes)), COMING]
        classes = dict.fromkeys(number for name in sets for number in self.people.classes_of(name, self.content))
        return [*touched, *classes]

    def everyone(self) -> list[int]:
        """Return all classes of units."""
        return [*([EVERYBODY] if self.nobody else []), *range(len(self.people.sizes)), COMING]

    def longest(self, classes: Iterable[int]) -> list[Account]:
        """Return the longest pasts of some classes: more lines never cost less, so no other past costs more.

        Where there are too many, like ones are put together, and a unit that was in all of a group stands for it. Pasts
        with a series are compared only where their deltas are the same: at a larger delta its epsilon is less.
        """
        pasts, shared = dict[object, tuple[int, list[int]]](), self.shared()
        for number in classes:
            past = self.past(number, shared)
            pasts.setdefault((number == EVERYBODY, *(self.steps[step].key for step in past)), (number, past))
        accounts, of_rule = list[Account](), dict[frozenset[int], list[tuple[int, list[int], int]]]()
        for number, past in pasts.values():
            if number == EVERYBODY:
                accounts.append(Account(number, take(self.steps, past)))
                continue
            late = frozenset(step for step in past if self.steps[step].charge.delta)
            has_series = any(self.steps[step].charge.begins_series for step in late)
            of_rule.setdefault(late if has_series else frozenset(), []).append((number, past, 1))
        for groups in of_rule.values():
            largest = list[set[int]]()
            if len(pasts) > MANY:
                groups = self._alike(groups)
            for number, past, count in sorted(groups, key=lambda group: -len(group[1])):
                if not any(other.issuperset(past) for other in largest):
                    largest.append({*past})
                    accounts.append(Account(number, take(self.steps, past), count))
        return accounts

    def _alike(self, pasts: Sequence[tuple[int, list[int], int]]) -> list[tuple[int, list[int], int]]:
        """Return groups of like pasts, each as one that holds all of them."""
        ordered = sorted(past for _, past, _ in pasts)
        size, groups = -(-len(ordered) // GROUPS), list[tuple[int, list[int], int]]()
        for start in range(0, len(ordered), size):
            some = ordered[start : start + size]
            groups.append((COMING, self._ordered(set[int]().union(*some)), len(some)))
        return groups

    def most_of(self, classes: Iterable[int]) -> dict[str, Amount]:
        """Return the most that any unit of some classes has spent, by source."""
        worst = dict[str, Amount]()
        for account in self.longest(classes):
            for name, amount in self.amounts(account.steps, account.is_everybody).items():
                worst[name] = most(worst.get(name, NOTHING), amount)
        return worst

    def amounts(self, steps: Sequence[Step], is_everybody: bool) -> dict[str, Amount]:
        """Return what a unit with these lines has spent, by source: the largest over its tables and all beliefs.

        Lines about entries that are declared to be the same count together, and all others beside them. Raises
        CompositionRefused where a table has no joint promise.
        """
        several = {step.source for step in steps} if is_everybody else self.loose()
        if any(step.is_named and not step.line.count for step in steps if step.source in several):
            raise CompositionRefused(
                "who goes by no name, or by another one than before, may be several of all people, and of how many an "
                "adopted release tells is not known", fix="keep a ledger of its own for one of the two",
            )  # fmt: skip
        tables, rest = dict[int, list[Step]](), Outside()
        for step in steps:
            table = self.find(step.table) if step.is_named != is_everybody else ELSEWHERE
            rest.add(table, step.charge, _times(step, several))
            if table != ELSEWHERE:
                tables.setdefault(table, []).append(step)
        is_only = len(steps) == 1 and (len(self.releases) == 1 or steps[0].charge.scope == "unit")
        has_delta, amounts = any(step.charge.delta for step in steps), dict[str, Amount]()
        for table, here in tables.items():
            if start_apart(here):  # a row of the one may be many of the other
                cost = rest.all_but(None)
            else:
                charges = self._in_order(steps, here, several) if has_delta else self._in_any_order(here)
                beliefs = dict.fromkeys(step.belief for step in here)
                joint = [together(self.frameworks[name], name, charges, is_only) for name in beliefs]
                cost = most(*joint).plus(rest.all_but(table, without_delta=has_delta))
            for name in dict.fromkeys(step.source for step in here):
                amounts[name] = most(amounts.get(name, NOTHING), cost)
        return amounts

    def _in_any_order(self, here: Sequence[Step]) -> list[Charge]:
        places = dict[tuple[Charge, str], list[int | None]]()
        for step in here:
            places.setdefault((step.charge, self._entries(step)), []).append(step.line.at)
        charges = list[Charge]()
        for (charge, entries), at in places.items():
            charges += repeated(charge, at, entries)
        return charges

    def _in_order(self, steps: Sequence[Step], here: Sequence[Step], several: set[str]) -> list[Charge]:
        """Return the charges of a table one by one, with those beside them that have a delta: later noise costs more.

        A series is begun by the releases of one payment; what declares later that it begins one continues it.
        """
        charges, mine, beginning = list[Charge](), set(map(id, here)), here[0]
        for step in steps:
            if id(step) in mine:
                charge = placed(step.charge, step.line.at, self._entries(step))
                if beginning.charge.begins_series and step.group != beginning.group:
                    charge = replace(charge, begins_series=False)
                charges.append(charge)
            elif step.charge.delta:
                charges.append(covering(step.charge, _times(step, several)))
        return charges

    def _entries(self, step: Step) -> str:
        return str(self.find(step.entries))


def start_apart(steps: Iterable[Step]) -> bool:
    """Return whether sequences of one name start at several places, so that no value of theirs is known to be one."""
    return len({step.line.starts for step in steps}) > 1


def _times(step: Step, several: set[str]) -> int:
    """Return how often a line counts: of the people that these sources name, one unit may be each."""
    return step.line.count if step.is_named and step.source in several else 1
