"""A checked release file as beliefs, secrets and queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from takifugu.core.errors import InputError
from takifugu.data import Bins, Calendar, Layout, Lengths, Recode, Table, transitions, transitions_by
from takifugu.model.beliefs.chains.chain import MarkovChain, MarkovChainClass
from takifugu.model.beliefs.chains.chain_region import ChainRegion
from takifugu.model.beliefs.chains.pieces import Chain
from takifugu.model.beliefs.estimate import checked_source, point_estimate, smoothed_rows
from takifugu.model.secrets import Secret, entry, every_entry
from takifugu.numbers.number_files import numbers_in
from takifugu.releasing.file.described import Described
from takifugu.releasing.file.public import Public
from takifugu.releasing.file.same_data import FIT_ELSEWHERE, PrivateBelief, same_transitions
from takifugu.releasing.file.sequences.periods import CALENDAR, chain_by, fitted_by, period_of, since_the_year_1
from takifugu.releasing.file.sequences.sections import (
    ChainClassSpec,
    ChainSpec,
    EntrySpec,
    EveryEntrySpec,
    FitSpec,
    SourceSpec,
)
from takifugu.releasing.file.sequences.stays import matrices_of, matrix_of, step_of
from takifugu.releasing.file.sequences.windows import calendar_of
from takifugu.releasing.file.source import open_public


def layout_of(
    source: SourceSpec,
    fit: FitSpec | None = None,
    calendar: Calendar | None = None,
    window: range | None = None,
    by: tuple[str, ...] = (),
) -> Layout:
    """Return what the columns of the source mean, or those of a file that a belief is fitted to.

    With a calendar only the window of it is read, and entries are counted `by` parts of the calendar.
    """
    keys = ("value", "unit", "piece", "order", "order_format")
    named = {key: getattr(fit, key, None) or getattr(source, key) for key in keys}
    named["order"], named["time_of_day"] = columns_of_order(named["order"])
    rules = ("step", "nulls", "null_keys", "timezone", "round_to", "duplicates", "ambiguous")
    rules_of_source = {rule: getattr(source, rule) for rule in rules}
    return Layout(**named, **rules_of_source, calendar=calendar, window=window, gaps=source.gaps, by=by)


def columns_of_order(order: str | tuple[str, str] | None) -> tuple[str | None, str | None]:
    """Return the column of the order, or of its dates, and that of its times of day."""
    return order if isinstance(order, tuple) else (order, None)


def named_columns(*sections: Any) -> dict[tuple[str, ...], str]:
    """Return the columns that the first section which has it names for each role, by the key that names it."""
    named = dict[tuple[str, ...], str]()
    for key in ("unit", "piece", "order", "value"):
        columns = next((one for section in sections if (one := getattr(section, key)) is not None), ())
        for column in (columns,) if isinstance(columns, str) else columns:
            named[(key, column) if isinstance(columns, tuple) else (key,)] = column
    return named


def lengths_of(belief: ChainSpec | ChainClassSpec) -> Lengths:
    return Lengths(belief.min_length, belief.max_length, belief.longer)


def recode_of(belief: ChainSpec | ChainClassSpec, source: SourceSpec | None = None) -> Recode:
    if source is None or source.bins is None:
        return Recode(belief.states, belief.map)
    spelling_of = {str(state): state for state in belief.states}
    return Recode(
        belief.states, belief.map, Bins({spelling_of.get(name, name): ends for name, ends in source.bins.items()})
    )


def secret_of(hide: EveryEntrySpec | EntrySpec) -> Secret:
    """Return the secret of a release file of sequences: every single value, or one of them."""
    return entry(hide.entry, hide.a, hide.b) if isinstance(hide, EntrySpec) else every_entry()


def chain_of(
    belief: ChainSpec | ChainClassSpec,
    source: SourceSpec | None,
    folder: Path,
    length: int = 1,
    private: Table | None = None,
) -> Chain:
    """Return the belief about one piece of `length` steps; reads the matrix or the public sequences it names.

    Raises InputError for a matrix that is not a transition matrix, PrivateBelief for an undeclared fit to the `private`
    data, and DataError for a file that cannot be read.
    """
    if isinstance(belief, Described):
        return belief.meant.belief(Public(folder, source))  # type: ignore[no-any-return]
    if isinstance(belief, ChainClassSpec):
        return MarkovChainClass(belief.pi, belief.g, length, belief.states, belief.source)
    if belief.fit is not None:
        if source is None:
            raise InputError("the belief is fitted with the source's columns", fix="repair [source] first")
        return fitted(belief, belief.fit, source, folder, length, private)
    if belief.matrix_by is not None:
        calendar = None if source is None else calendar_of(source)
        if calendar is None:
            raise InputError("the matrices are those of a calendar", fix=CALENDAR).at("matrix_by")
        matrices = belief.matrices or matrices_of(belief, step_of(source.step))  # type: ignore[union-attr]
        return chain_by(belief, matrices, calendar, length, belief.source)
    matrix: Sequence[Sequence[float]]
    if belief.stay is not None:
        matrix = matrix_of(belief, step_of(None if source is None else source.step))
    elif isinstance(belief.matrix, str):
        rows = numbers_in(folder / belief.matrix, "k lines of k probabilities", len(belief.states) ** 2)
        matrix = [[float(p) for p in row] for row in rows]
    else:
        matrix = belief.matrix or ()
    return MarkovChain(matrix, length, belief.initial, belief.states, belief.source)


def fitted(
    belief: ChainSpec, fit: FitSpec, source: SourceSpec, folder: Path, length: int, private: Table | None = None
) -> Chain:
    """Return the chain with the transition frequencies of a file of sequences, or with a confidence a region of chains.

    Unobserved entries end a sequence. Raises PrivateBelief where the `private` data have the same counts and the fit
    does not say that it is theirs.
    """
    layout, states = layout_of(source, fit), recode_of(belief, source)
    table = open_public(fit, source, folder / fit.file)
    calendar = None if belief.matrix_by is None else calendar_of(source)
    by_cell = None
    if belief.matrix_by is not None and calendar is not None:
        cells = period_of(belief.matrix_by, calendar).cells
        by_cell = transitions_by(table, replace(layout, calendar=since_the_year_1(calendar)), states, cells)
    counts = transitions(table, layout, states) if by_cell is None else by_cell.sum(axis=0)
    layouts = [layout_of(source), *([layout] if layout != layout_of(source) else [])]
    if private is not None and not fit.private and same_transitions(counts, private, layouts, states):
        raise PrivateBelief("counts what the private data counts, transition by transition", fix=FIT_ELSEWHERE)
    said = "" if belief.source == "assumed" else f"{belief.source}; "
    if fit.confidence is not None:
        origin = checked_source(f"{said}estimated from {fit.file}", fit.private)
        return ChainRegion.covering(counts, length, belief.states, fit.confidence, origin)
    origin_text = f"{said}estimated from {fit.file} with smoothing {fit.smoothing}"
    origin = point_estimate(checked_source(origin_text, fit.private))
    smoothing = float(fit.smoothing)
    if by_cell is not None and calendar is not None:
        return fitted_by(belief, by_cell, smoothing, calendar, length, origin)
    matrix = smoothed_rows(counts, belief.states, smoothing)
    return MarkovChain(matrix, length, belief.initial, belief.states, origin)
