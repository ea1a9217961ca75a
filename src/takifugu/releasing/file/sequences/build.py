"""A checked release file as beliefs, secrets and queries."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from takifugu.core.errors import DataError, InputError, SpecError
from takifugu.core.sections import values_of, written
from takifugu.data import Bins, Calendar, Layout, Lengths, Recode, Table, parse_step, transitions, transitions_by
from takifugu.model.beliefs.chains.declared_chain import ChainFit
from takifugu.model.beliefs.chains.matrices_by import period_of, since_the_year_1
from takifugu.model.secrets import Secret
from takifugu.model.secrets.of_entries import entry, every_entry
from takifugu.releasing.file.keys import names_of
from takifugu.releasing.file.problems import absent_columns, blaming
from takifugu.releasing.file.public import Public
from takifugu.releasing.file.same_data import FIT_ELSEWHERE, same_transitions
from takifugu.releasing.file.sequences.sections import EntrySpec, EveryEntrySpec, SequenceBelief, SourceSpec
from takifugu.releasing.file.source import open_public

IntArray = npt.NDArray[np.int64]


def layout_of(
    source: SourceSpec,
    fit: ChainFit | None = None,
    calendar: Calendar | None = None,
    window: range | None = None,
    by: tuple[str, ...] = (),
) -> Layout:
    """Return the layout of the source, or of a fit.

    With a calendar only its window is read, and entries are counted `by` its parts.
    """
    of_source = {**values_of(source, ("value", "unit", "piece", "order")), "order_format": source.form}
    columns = {key: getattr(fit, key, None) or value for key, value in of_source.items()}
    columns["order"] = columns["order"] or source.times
    columns["order"], columns["time_of_day"] = columns_of_order(columns["order"])
    rules = ("step", "nulls", "null_keys", "timezone", "round_to", "duplicates", "ambiguous")
    rules_of_source = values_of(source, rules)
    return Layout(**columns, **rules_of_source, calendar=calendar, window=window, gaps=source.gaps, by=by)


def columns_of_order(order: str | tuple[str, str] | None) -> tuple[str | None, str | None]:
    """Return the columns of the order and of its times of day."""
    return order if isinstance(order, tuple) else (order, None)


def named_columns(*sections: object) -> dict[tuple[str, ...], str]:
    """Return the columns of the first section with them, by key."""
    columns_by_key = dict[tuple[str, ...], str]()
    for key in ("unit", "piece", "order", "start", "end", "value"):
        candidates = [value for section in sections for value in values_of(section, written(section, (key,))).values()]
        columns = candidates[0] if candidates else ()
        for column in names_of(columns):
            columns_by_key[(key, column) if isinstance(columns, tuple) else (key,)] = column
    return columns_by_key


def step_of(source: SourceSpec | None) -> Fraction | timedelta | None:
    """Return the declared length of a step, if any."""
    return None if source is None or source.step is None else parse_step(source.step)


def lengths_of(belief: SequenceBelief) -> Lengths:
    return Lengths(belief.min_length, belief.max_length, belief.longer)


def recode_of(belief: Any, source: SourceSpec | None) -> Recode:
    if source is None or source.bins is None:
        return Recode(belief.states, belief.map)
    spelling_of = {str(state): state for state in belief.states}
    return Recode(
        belief.states, belief.map, Bins({spelling_of.get(name, name): ends for name, ends in source.bins.items()})
    )


def secret_of(hide: EveryEntrySpec | EntrySpec) -> Secret:
    """Return the secret of a file of sequences: every entry or one."""
    return entry(hide.entry, hide.a, hide.b) if isinstance(hide, EntrySpec) else every_entry()


@dataclass(frozen=True)
class PublicSequences(Public):
    """The folder of a release file, its [source], which says how long steps are, and the keys of its `belief`.

    `private` are the private data, which a chain must not be fitted to unless its file says so.
    """

    belief: Any
    private: Table | None = field(default=None, repr=False)

    @property
    def step(self) -> Fraction | timedelta | None:
        return step_of(self.source)

    @property
    def calendar(self) -> Calendar | None:
        return None if self.source is None else self.source.calendar

    def transitions(self, fit: ChainFit) -> IntArray:
        """Return the counts of transitions in a file, by cell if declared.

        Unobserved entries end a sequence. Raises SpecError for a file that cannot be opened or lacks a column, and for
        counts equal to the private data's unless the fit declares them; InputError for rows against a rule.
        """
        layout, states = layout_of(self.source, fit), recode_of(self.belief, self.source)
        table = self._opened(fit)
        by_cell, calendar = None, self.calendar
        try:
            if self.belief.matrix_by is not None and calendar is not None:
                cells = period_of(self.belief.matrix_by, calendar).cells
                by_cell = transitions_by(table, replace(layout, calendar=since_the_year_1(calendar)), states, cells)
            counts = transitions(table, layout, states) if by_cell is None else by_cell.sum(axis=0)
        except DataError as error:
            error.about(fit.file)
            raise
        layouts = [layout_of(self.source), *([layout] if layout != layout_of(self.source) else [])]
        if self.private is not None and not fit.private and same_transitions(counts, self.private, layouts, states):
            problem = "counts what the private data counts, transition by transition"
            raise SpecError([InputError(problem, fix=FIT_ELSEWHERE).at("fit", "file")])
        return counts if by_cell is None else by_cell

    def _opened(self, fit: ChainFit) -> Table:
        with blaming("fit", "file"):
            table = open_public(fit, self.source, fit.file if "://" in fit.file else self.folder / fit.file)
        columns = [(("fit", key[0]), column) for key, column in named_columns(fit, self.source).items()]
        faults = list(absent_columns(table, columns))
        if faults:
            raise SpecError(faults)
        return table
