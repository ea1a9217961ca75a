"""Whole columns of finitely many values: counted by their values, where they are, in one scan."""

from __future__ import annotations

from takifugu.core.sections import written
from takifugu.model.queries.sections import spelled, values_by_column
from takifugu.releasing.file.attributes.kind import Attributes
from takifugu.releasing.file.attributes.reading import counted
from takifugu.releasing.file.kind import ReleaseFile, Unit


class Finite(Attributes):
    """A kind whose columns hold values that the belief lists; a belief may put the numbers of some into `classes`."""

    def units(self, file: ReleaseFile) -> tuple[Unit, ...]:
        """Return the records as columns, listed by their values; every class may occur, also one in which nobody is."""
        given = file.spec.belief.meant
        classes = given.classes if written(given, ("classes",)) else {}
        known = values_by_column(file.belief)
        read = {name: spelled(classes[name].called) if name in classes else known[name] for name in known}
        rows = counted(file.table, read, classes, given.records)
        listed = [row for row, times in rows for _ in range(times)]
        return (Unit(None, dict(zip(read, map(list, zip(*listed, strict=True)), strict=True))),)
