"""Which entries were observed, where that is public: what a query about several units is about, without the others."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, is_dataclass, replace
from itertools import chain
from operator import attrgetter
from typing import Any

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.core.entries import Entries
from takifugu.core.errors import InputError
from takifugu.core.plain import Json
from takifugu.model.queries import Additive, Query
from takifugu.model.queries.forms import OfEntries, Weighing
from takifugu.numbers import runs as numbers
from takifugu.releasing.file.kind import Unit


@dataclass(frozen=True, eq=False)
class Runs:
    """Separate runs of entries, counted through several units: where each starts, and where it stops, in order."""

    starts: IntArray
    stops: IntArray

    def __len__(self) -> int:
        return int((self.stops - self.starts).sum())

    def among(self, size: int) -> numbers.Runs:
        """Return an indicator over `size` entries: 1 in a run, else 0."""
        ends = np.append(np.column_stack([self.starts, self.stops]).ravel(), size)
        values = np.arange(len(ends)) % 2
        some = np.diff(ends, prepend=0) > 0
        return numbers.Runs(values[some], ends[some])


@dataclass(frozen=True, eq=False)
class Observed:
    """A query that reads no entries but some runs of them: what can be expected of it, for plans, and no release."""

    query: Query
    runs: Runs

    def resolve(self, entries: Entries) -> Additive:
        answer = self.query.resolve(entries)
        (weights, is_observed), ends = numbers.refined(answer.in_runs[0], self.runs.among(answer.size))
        observed: Any = numbers.Runs(weights * is_observed, ends)
        return replace(answer, weights=observed)

    def to_dict(self) -> Json:
        read = hashlib.sha256(self.runs.starts.tobytes() + self.runs.stops.tobytes()).hexdigest()
        return {"kind": "observed", "query": self.query.to_dict(), "runs": read}

    def describe(self) -> str:
        return f"{self.query.describe()}, where it was observed"


def all_complete(units: Sequence[Unit]) -> bool:
    """Return whether every entry of the units was observed."""
    return all(map(attrgetter("complete"), units))


def observed_of(units: Sequence[Unit]) -> Runs | None:
    """Return the observed entries of several units, or None for all."""
    if all_complete(units):
        return None
    runs_of_units = [(range(unit.size),) if unit.complete else unit.seen for unit in units]
    first_entries = np.cumsum([0, *(unit.size for unit in units[:-1])])
    shifts = np.repeat(first_entries, list(map(len, runs_of_units)))
    runs = list(chain.from_iterable(runs_of_units))
    starts = np.array([run.start for run in runs], dtype=np.int64)  # two lists: one of pairs takes thrice as long
    stops = np.array([run.stop for run in runs], dtype=np.int64)
    return Runs(starts + shifts, stops + shifts)


def about_observed(query: Query, runs: Sequence[range]) -> Query:
    """Return the query about the observed entries; gaps are public."""
    entries = tuple(chain.from_iterable(runs))
    if isinstance(query, Weighing):
        return query.over(entries)
    if not isinstance(query, OfEntries):
        raise InputError(
            f"a {type(query).__name__} does not say what it is of the entries that were observed",
            fix="give it a field entries, the numbers of those that it reads",
        )
    assert is_dataclass(query)
    return replace(query, entries=entries)
