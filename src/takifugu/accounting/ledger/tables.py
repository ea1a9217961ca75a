"""Which lines are about the same entries: a table is what a source, a reading and the entries' name stand for.

Tables that are declared to be the same are one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from takifugu.accounting.ledger.events import Paid, Same
from takifugu.analysis.guarantee import Charge
from takifugu.core.readings import NAMING
from takifugu.model.frameworks import OF_ROWS

#: What a table holds of the entries of one name: lines at a step of a calendar, or about all of them; and all rows
#: about a person, of whatever name: which of those are the same is for the rule of rows to say.
_PLACED, _WHOLE, _ROWS = "at", "", "rows"


@dataclass(eq=False)
class Tables:
    """The tables of a ledger by number, and of each the one that it is declared to be the same as."""

    numbers: dict[tuple[str, ...], int] = field(default_factory=dict)
    parents: list[int] = field(default_factory=list)
    namings: dict[str, set[int]] = field(default_factory=dict)

    def copy(self) -> Tables:
        namings = {name: {*numbers} for name, numbers in self.namings.items()}
        return Tables({**self.numbers}, [*self.parents], namings)

    def of_line(self, paid: Paid, charge: Charge, at: int | None) -> tuple[int, int]:
        """Return the table of a line, and that of the entries that it names."""
        entries = table = self._number(paid.source, paid.reading, paid.entries, _WHOLE if at is None else _PLACED)
        if charge.definition in OF_ROWS:
            table = self._number(paid.source, paid.reading, "", _ROWS)
        return table, entries

    def name_people(self, source: str, reading: str, content: Callable[[str], bytes]) -> None:
        """Note how a reading says whose a row is."""
        self.namings.setdefault(source, set()).add(self._naming(source, reading, content))

    def names_several_ways(self, source: str) -> bool:
        """Return whether people of a source may go by several names."""
        return len({self.find(number) for number in self.namings.get(source, ())}) > 1

    def join(self, event: Same, content: Callable[[str], bytes]) -> None:
        """Take the entries of some readings as the same, and the names of people with them."""
        for table in event.tables:
            both = (self._all_of(event.source, *each, content) for each in (event.tables[0], table))
            for one, other in zip(*both, strict=True):
                self.parents[self.find(other)] = self.find(one)

    def _all_of(self, source: str, reading: str, entries: str, content: Callable[[str], bytes]) -> list[int]:
        """Return the numbers of all that some entries of a reading may be lines of."""
        places = [self._number(source, reading, entries, place) for place in (_WHOLE, _PLACED)]
        return [*places, self._number(source, reading, "", _ROWS), self._naming(source, reading, content)]

    def _naming(self, source: str, reading: str, content: Callable[[str], bytes]) -> int:
        """Return the number of the way in which a reading says whose a row is."""
        known = ("naming of", source, reading)
        if known not in self.numbers:
            lines = content(reading).decode().split("\n")
            naming = "\n".join(line for line in lines if line.partition(": ")[0] in NAMING)
            self.numbers[known] = self._number("naming", "of", source, naming)
        return self.numbers[known]

    def _number(self, *key: str) -> int:
        if key not in self.numbers:
            self.numbers[key] = len(self.parents)
            self.parents.append(len(self.parents))
        return self.numbers[key]

    def find(self, table: int) -> int:
        """Return the first of the tables that are declared to be the same."""
        while self.parents[table] != table:
            table = self.parents[table]
        return table

    def is_known(self, source: str, reading: str, entries: str) -> bool:
        """Return whether something was released, or declared, about these entries."""
        return not self.numbers.keys().isdisjoint((source, reading, entries, place) for place in (_WHOLE, _PLACED))
