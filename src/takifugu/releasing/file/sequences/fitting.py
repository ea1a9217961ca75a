"""The transitions that a chain is fitted to, counted in a public file by the roles of [source] and the fit's own."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from fractions import Fraction
from typing import Any

from takifugu.core.arrays import IntArray
from takifugu.core.errors import DataError
from takifugu.core.sections import SELECT
from takifugu.data import Calendar
from takifugu.data.relation.source import Table, read_source
from takifugu.model.beliefs.chains.declared_chain import ChainFit
from takifugu.releasing.file.public import Public

_KEPT = ("unit", "recording", "order", "value", "step", "bins", "nulls", "timezone")


@dataclass(frozen=True)
class PublicSequences(Public):
    """The folder of a release file, its [source], which says how long steps are, and the keys of its `belief`.

    `private` are the private data, which a chain must not be fitted to unless its file says so.
    """

    belief: Any
    private: Table | None = field(default=None, repr=False)

    @property
    def step(self) -> Fraction | timedelta | None:
        return None if self.source is None else self.source.length

    @property
    def calendar(self) -> Calendar | None:
        return None if self.source is None else self.source.calendar

    def transitions(self, fit: ChainFit) -> IntArray:
        """Return the counts of transitions in a file."""
        keys = {name: value for name, value in self.source.read().items() if name in _KEPT}
        for name in ("unit", "recording", "order", "value"):
            if getattr(fit, name, None) is not None:
                keys[name] = getattr(fit, name)
        keys["sql" if SELECT.match(fit.file) else "file"] = fit.file
        with read_source(keys, self.belief.states, self.folder) as table:
            try:
                return table.transitions()
            except DataError as error:
                error.about(fit.file)
                raise
