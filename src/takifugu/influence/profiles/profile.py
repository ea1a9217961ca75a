"""The profile of what is released: how far its log-likelihood moves when one entry alone changes; and curves of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np

from takifugu.core.arrays import FloatArray, IntArray
from takifugu.core.errors import InputError
from takifugu.model.secrets.families import Family
from takifugu.numbers.outward_rounding import closed, sum_up
from takifugu.numbers.runs import Runs, refined

#: The type of belief that a curve is of.
Along = TypeVar("Along")


@dataclass(frozen=True, eq=False)
class Profile:
    """c_t(u, v) >= |log g(x) - log g(x')| for data x, x' that differ in entry t only, u against v (INFLUENCE, (P))."""

    tables: tuple[FloatArray, ...]  # symmetric, (k, k), of diagonal 0
    lengths: IntArray  # of runs of entries
    table_of: IntArray  # the place of each run in `tables`

    def __post_init__(self) -> None:
        for number, table in enumerate(self.tables):
            if table.ndim != 2 or table.shape[0] != table.shape[1]:
                raise InputError(f"table {number} of a profile has the shape {table.shape}", rule="it is k by k")
            if not (table >= 0).all() or not np.isfinite(table).all() or table.diagonal().any():
                raise InputError(
                    f"table {number} of a profile is no table of losses",
                    rule="each is a finite number from 0, and 0 on the diagonal",
                )
            if (table != table.T).any():
                raise InputError(f"table {number} of a profile is not symmetric")
        object.__setattr__(self, "tables", tuple(map(closed, self.tables)))  # u to w to v is a change of u to v, too
        if len(self.lengths) != len(self.table_of) or (self.lengths < 1).any():
            raise InputError("the runs of a profile do not fit", rule="each has a table, and a length from 1")

    @staticmethod
    def of(table: Sequence[Sequence[float]] | FloatArray, length: int) -> Profile:
        """Return the profile with the same table for every entry."""
        return Profile((np.array(table, dtype=float),), np.array([length]), np.array([0]))

    @staticmethod
    def by_entry(tables: Iterable[FloatArray]) -> Profile:
        """Return the profile with one table for each entry, in their order."""
        arrays = tuple(np.asarray(table, dtype=float) for table in tables)
        return Profile(arrays, np.ones(len(arrays), dtype=np.int64), np.arange(len(arrays)))

    @cached_property
    def ends(self) -> IntArray:
        """The entry behind the last one of each run."""
        return np.cumsum(self.lengths)

    @cached_property
    def kinds(self) -> Runs:
        """The number of each entry's table."""
        return Runs(self.table_of, self.ends)

    @property
    def size(self) -> int:
        return int(self.lengths.sum())

    def at(self, entry: int) -> FloatArray:
        """Return c(u, v) of one entry."""
        return self.tables[int(self.kinds.at(np.array(entry)))]

    @property
    def largest_of_all(self) -> FloatArray:
        """Return the largest c(u, v) of each entry."""
        return np.array([table.max(initial=0.0) for table in self.tables])[self.kinds.numbers]

    def largest(self, entry: int) -> float:
        """Return the largest c(u, v) of one entry."""
        return float(self.at(entry).max(initial=0.0))

    def __add__(self, other: Profile) -> Profile:
        """Return the profile of two releases together, rounded up."""
        if self.size != other.size:
            raise InputError(f"profiles of {self.size} and {other.size} entries do not add up")
        kinds, ends = refined(self.kinds, other.kinds)
        pairs, table_of = np.unique(kinds, axis=1, return_inverse=True)
        tables = tuple(sum_up(self.tables[a], other.tables[b]) for a, b in pairs.T.tolist())
        return Profile(tables, np.diff(ends, prepend=0), table_of.ravel().astype(np.int64))


@dataclass(frozen=True)
class Loss:
    """The largest loss of a secret, with its entry and values."""

    epsilon: float  # the log of moved odds
    entry: int = 0  # of a run its first
    left: int = 0
    right: int = 0
    note: str = ""  # what must be said of the bound
    paths: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())  # of a run: all its values, on both sides


@dataclass(frozen=True)
class Curve(Generic[Along]):
    """A belief type's largest loss from a profile, with its work."""

    loss: Callable[[Along, Profile, Family], Loss]
    work: Callable[[Along], float]  # operations
    #: Whether a mechanism with the profile attains the loss: then `group` is never smaller.
    is_least: Callable[[Along], bool] = lambda belief: False
    #: Of a sequence the loss where it may start anew before any step. Then both follow the `run` of a family, and first
    #: steps have the law they have alone.
    anywhere: Callable[[Along, Profile, Family], Loss] | None = None
    #: The losses from several profiles, where all at once take less time than one after the other.
    losses: Callable[[Along, Sequence[Profile], Family], list[Loss]] | None = None
