"""Which entries were observed, where that is public: what a query about several units is about, without the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import is_dataclass, replace
from fractions import Fraction

from takifugu.core.errors import InputError
from takifugu.model import queries
from takifugu.model.queries import Query, is_linear
from takifugu.model.queries.forms import OfEntries
from takifugu.releasing.file.kind import Unit


def observed_of(units: Sequence[Unit]) -> tuple[range, ...]:
    """Return the entries of several units that were observed, counted through all of them; none where all were."""
    if all(unit.complete for unit in units):
        return ()
    runs, start = list[range](), 0
    for unit in units:
        seen = (range(unit.size),) if unit.complete else unit.seen
        runs += [range(start + run.start, start + run.stop) for run in seen]
        start += unit.size
    return tuple(runs)


def about_observed(query: Query, runs: Sequence[range]) -> Query:
    """Return the query about the entries that were observed; the pattern of gaps is public."""
    seen = tuple(entry for run in runs for entry in run)
    if is_linear(query):
        known = frozenset(seen)
        weights = [weight if entry in known else Fraction(0) for entry, weight in enumerate(query.weights)]
        return queries.Linear(weights, query.codes, query.grid)
    if not isinstance(query, OfEntries):
        raise InputError(
            f"a {type(query).__name__} does not say what it is of the entries that were observed",
            fix="give it a field entries, the numbers of those that it reads",
        )
    assert is_dataclass(query)
    return replace(query, entries=seen)
