"""The transitions that a chain is fitted to, counted in a public file by the roles of [source] and the fit's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.core.errors import InputError, SpecError, TakifuguError
from takifugu.core.sections import values_of, written
from takifugu.data.relation.following import transitions_in_public
from takifugu.data.relation.opening import is_select
from takifugu.data.relation.source import Table
from takifugu.data.times.calendar import Calendar
from takifugu.model.beliefs.chains.declared_chain import ChainFit
from takifugu.model.beliefs.chains.matrices_by import period_of, since_1970
from takifugu.releasing.file.problems import blamed
from takifugu.releasing.file.public import FIT_ELSEWHERE, Public
from takifugu.releasing.file.relation_keys import open_relation

#: The keys that a fit has of its own, where they differ from those of [source].
_OF_FIT = ("unit", "recording", "order", "value", "where")
#: Those of [source] that hold of its file, too.
_SHARED = ("step", "bins", "nulls", "timezone")


@dataclass(frozen=True)
class PublicSequences(Public):
    """The folder of a release file, its [source], which says how long steps are, and the keys of its `belief`."""

    belief: Any
    #: The private data, which no chain is fitted to unless its file says so, and what replaces their file.
    private: Table | None = field(default=None, repr=False)
    data: object = field(default=None, repr=False)

    @property
    def step(self) -> int | timedelta | None:
        return None if self.source is None else self.source.length

    @property
    def calendar(self) -> Calendar | None:
        return None if self.source is None else self.source.calendar

    def transitions(self, fit: ChainFit) -> IntArray:
        """Return the counts of transitions in a file, by cell if declared; SpecError at the key of the fit."""
        said, of_fit = self.source.read(), values_of(fit, written(fit, _OF_FIT))
        keys = {key: value for key, value in {**said, **of_fit}.items() if key in (*_OF_FIT, *_SHARED)}
        keys["sql" if is_select(fit.file, self.folder) else "file"] = fit.file
        by_cell, calendar = self.belief.matrix_by, self.calendar
        cells: tuple[int, ...] = (0,)
        counted_from = None
        if by_cell is not None and calendar is not None:
            cells, counted_from = period_of(by_cell, calendar).cells, since_1970(calendar)
        try:
            states = self.belief.states
            counts = transitions_in_public({**keys, "encoding": fit.encoding}, states, self.folder, cells, counted_from)
        except TakifuguError as error:
            key = next((key for key in map(str, error.where[:1]) if key in (*_OF_FIT, "encoding")), "file")
            raise SpecError([blamed(error.about(fit.file), "fit", key)]) from None
        # missing entries end a sequence
        total = counts.sum(axis=0)
        others = self._private_counts(of_fit)
        if not fit.private and total.any() and any(np.array_equal(total, other) for other in others):
            problem = "counts what the private data counts, transition by transition"
            raise SpecError([InputError(problem, fix=FIT_ELSEWHERE).at("fit", "file")])
        return total if by_cell is None else counts

    def _private_counts(self, of_fit: Mapping[str, Any]) -> Iterator[IntArray]:
        """Yield the counts of the private data, by the roles of [source] and by those of the fit."""
        if self.private is None:
            return
        # who reads the data says their faults, and they need not have the fit's columns
        with suppress(TakifuguError):
            yield self.private.all_transitions()
        if of_fit:
            keys = {**self.source.read(), "gaps": self.private.opened.source.gaps, **of_fit}
            with suppress(TakifuguError):
                yield open_relation(self.source, keys, self.belief.states, self.folder, self.data).all_transitions()
