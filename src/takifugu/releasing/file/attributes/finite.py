"""Whole columns of finitely many values: counted by their values, where they are, in one scan, and listed by value.

Which record is which is forgotten: what is published adds up over records, and their order is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from takifugu.core.errors import first_of
from takifugu.core.sections import written
from takifugu.data import UNKNOWN, UNOBSERVED, Classes, Table, tally
from takifugu.data.values.texts import NAME_MARKS
from takifugu.model.beliefs.records.declared_records import DeclaredClasses
from takifugu.model.beliefs.sections import FILL_THEM
from takifugu.model.queries import State
from takifugu.model.queries.sections import spelled, values_by_column
from takifugu.releasing.file.attributes.kind import Attributes, Known
from takifugu.releasing.file.kind import ReleaseFile, Unit
from takifugu.releasing.file.reading import no_lookalikes, wrong


class Finite(Attributes):
    """A kind whose columns hold values that the belief lists; a belief may put the numbers of some into `classes`."""

    def units(self, file: ReleaseFile) -> tuple[Unit, ...]:
        """Return the records as columns, empty classes included."""
        belief = file.spec.belief.meant
        classes = belief.classes if written(belief, ("classes",)) else {}
        states = values_by_column(file.belief)
        read = {**states, **{name: spelled(of_numbers.called) for name, of_numbers in classes.items()}}
        records = list[tuple[State, ...]]()
        for row, times in _counted(file.table, read, classes, belief.records):
            records += [row] * times
        return (Unit(None, dict(zip(read, map(list, zip(*records, strict=True)), strict=True))),)


def _counted(
    table: Table, states: Known, classes: Mapping[str, DeclaredClasses], records: int
) -> Iterator[tuple[tuple[State, ...], int]]:
    """Yield each row of values with its number of records.

    Sorting hides the order of the data. Raises DataError for missing or undeclared values, and for another number of
    records than declared, without telling it.
    """
    columns = dict[str, Mapping[str, int] | Classes]()
    for name, values in states.items():
        if name in classes:
            columns[name] = classes[name].classes([*values])
        else:
            columns[name] = {text: code for code, text in enumerate(values)}
    counts = tally(table, columns)
    if sum(counts.values()) != records:
        raise wrong("file", "the data have another number of rows than belief.records says", fix="check both")
    for place, name in enumerate(columns):
        codes = {row[place] for row in counts}
        if UNOBSERVED in codes:
            fix = f'fill them, or write missing = "..." under [belief.classes.{name}]' if name in classes else FILL_THEM
            raise wrong("file", f"column {name!r} has missing values", fix=fix)
        if UNKNOWN in codes:
            if name not in classes:
                no_lookalikes(table, name, states[name])
            fault_text = f"column {name!r} has a value that the belief does not know"
            raise wrong("file", fault_text, fix=f"its values are {first_of(states[name])}; {NAME_MARKS}")
    for row in sorted(counts):
        cells = [list(values.values())[code] for code, values in zip(row, states.values(), strict=True)]
        yield tuple(cells), counts[row]
