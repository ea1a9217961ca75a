"""What is published: additive queries as integer tables on a grid, and how far an answer moves when entries change."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from takifugu.errors import InputError, Unsupported, did_you_mean
from takifugu.laws.rationals import Number, as_fraction, to_text

State = Hashable
IntArray = npt.NDArray[np.int64]

#: Largest denominator of a grid that is found without being declared; a finer one must be asked for by name.
FINEST_IMPLIED_GRID = 10**6


@runtime_checkable
class Entries(Protocol):
    """What a query must know of a belief: how many entries there are, what they are called, which values they take."""

    @property
    def size(self) -> int: ...

    def alphabet(self, entry: int) -> tuple[State, ...]: ...

    def position(self, name: Hashable) -> int: ...

    @property
    def one_alphabet(self) -> bool: ...


@dataclass(frozen=True, eq=False)
class Additive:
    """An answer F(x) = grid * sum_i weights[i] * tables[table_of[i]][x_i]: a vector of integers times the grid.

    `tables` are integer arrays (number of values, number of cells); `weights` are integers, one an entry, 0 where an
    entry is not observed; x_i is the index of entry i's value in its alphabet.
    """

    grid: Fraction
    labels: tuple[str, ...]
    tables: tuple[IntArray, ...]
    weights: IntArray
    table_of: IntArray | None = None

    @property
    def size(self) -> int:
        return len(self.weights)

    @property
    def cells(self) -> int:
        return len(self.labels)

    def table(self, entry: int) -> IntArray:
        return self.tables[0 if self.table_of is None else int(self.table_of[entry])]

    def contribution(self, entry: int) -> IntArray:
        """Return the integer array (values, cells) that entry `entry` adds to the answer, in grid units."""
        return self.table(entry) * self.weights[entry]

    def entry_changes(self) -> IntArray:
        """Return the largest L1 change of the answer when one entry alone changes, one integer an entry (grid units).

        D(N) is the sum of these over N: reached when all tables are alike (every query on one alphabet), and an upper
        bound when columns with different tables are added (triangle inequality).
        """
        largest = np.array([_largest_change(t) for t in self.tables], dtype=np.int64)
        each = largest[0] if self.table_of is None else largest[self.table_of]
        return np.abs(self.weights) * each

    def change(self, entries: Iterable[int]) -> int:
        """Return D(N): the largest L1 change of the answer, in grid units, when only the entries in N change."""
        changes = self.entry_changes()
        return sum(int(changes[i]) for i in entries)

    def coordinate_change(self, entries: Sequence[int] | range) -> int:
        """Return the largest change of a single cell when one of `entries` changes, in grid units."""
        spread = np.array([int((t.max(axis=0) - t.min(axis=0)).max(initial=0)) for t in self.tables], dtype=np.int64)
        index = np.asarray(entries, dtype=np.int64)
        if index.size == 0:
            return 0
        each = spread[0] if self.table_of is None else spread[self.table_of[index]]
        return int((np.abs(self.weights[index]) * each).max())

    def restrict(self, entries: slice) -> Additive:
        """Return the part of the answer that a run of entries contributes."""
        table_of = None if self.table_of is None else self.table_of[entries]
        return Additive(self.grid, self.labels, self.tables, self.weights[entries], table_of)

    def evaluate(self, values: npt.NDArray[np.integer[Any]]) -> tuple[int, ...]:
        """Return the true answer in grid units, one integer a cell, of value indices x (one an entry)."""
        total = np.zeros(self.cells, dtype=object)
        for number, table in enumerate(self.tables):
            mine = np.ones(self.size, dtype=bool) if self.table_of is None else self.table_of == number
            counts: dict[int, int] = {}
            for state in range(len(table)):
                counts[state] = int(self.weights[mine & (values == state)].sum())
            for state, count in counts.items():
                total = total + np.array([int(c) * count for c in table[state]], dtype=object)
        return tuple(int(t) for t in total)


def _largest_change(table: IntArray) -> int:
    if table.shape[1] == 1:
        return int(table.max() - table.min())
    return max((int(np.abs(table - row).sum(axis=1).max()) for row in table), default=0)


class Query(Protocol):
    """A statistic: resolved against a belief's entries it becomes an integer answer on a grid."""

    def resolve(self, entries: Entries) -> Additive: ...

    def to_dict(self) -> dict[str, Any]: ...

    def describe(self) -> str: ...


@dataclass(frozen=True)
class Count:
    """The number of entries that are in `state` (one state, or a list of states).

    >>> from takifugu import MarkovChain
    >>> Count("walking").describe()
    "the number of entries in state 'walking'"
    """

    state: Any
    entries: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "state", tuple(self.state) if isinstance(self.state, list | set) else self.state)
        object.__setattr__(self, "entries", _entry_tuple(self.entries))

    @property
    def states(self) -> tuple[State, ...]:
        return self.state if isinstance(self.state, tuple) else (self.state,)

    def resolve(self, entries: Entries) -> Additive:
        tables, table_of = _tables(entries, self._table)
        known = {s for i in _alphabets(entries) for s in i}
        for state in self.states:
            if state not in known:
                raise InputError(
                    f"the query counts state {state!r}, which the belief does not know; "
                    f"write one of {sorted(map(str, known))}{did_you_mean(state, known)}"
                )
        return Additive(Fraction(1), ("count",), tables, _mask(entries, self.entries), table_of)

    def _table(self, alphabet: tuple[State, ...]) -> list[list[int]]:
        return [[int(s in self.states)] for s in alphabet]

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "count", "states": list(self.states), "entries": _runs(self.entries)}

    def describe(self) -> str:
        names = ", ".join(repr(s) for s in self.states)
        return f"the number of entries in state {names}"


@dataclass(frozen=True)
class Sum:
    """The sum of the entries' codes: the states themselves where they are numbers, else `codes[state]`.

    `attribute` names one column of a table; without it every entry is added.
    """

    attribute: Hashable | None = None
    codes: Mapping[State, Number] | None = field(default=None, hash=False)
    entries: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "entries", _entry_tuple(self.entries))

    def resolve(self, entries: Entries) -> Additive:
        chosen = self.entries if self.attribute is None else (entries.position(self.attribute),)
        return _coded(entries, chosen, self.codes, None, "sum")

    def to_dict(self) -> dict[str, Any]:
        attribute = None if self.attribute is None else str(self.attribute)
        return {"kind": "sum", "attribute": attribute, "codes": _codes_dict(self.codes), "entries": _runs(self.entries)}

    def describe(self) -> str:
        return "the sum of the entries" if self.attribute is None else f"the value of {self.attribute!r}"


@dataclass(frozen=True)
class Mean:
    """The sum of the entries' codes divided by the (public) number of entries added."""

    attribute: Hashable | None = None
    codes: Mapping[State, Number] | None = field(default=None, hash=False)
    entries: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "entries", _entry_tuple(self.entries))

    def resolve(self, entries: Entries) -> Additive:
        total = Sum(self.attribute, self.codes, self.entries).resolve(entries)
        count = int((total.weights != 0).sum())
        if count == 0:
            raise InputError("the mean has no entries: its list of entries is empty; name at least one")
        return Additive(total.grid / count, ("mean",), total.tables, total.weights, total.table_of)

    def to_dict(self) -> dict[str, Any]:
        return {**Sum(self.attribute, self.codes, self.entries).to_dict(), "kind": "mean"}

    def describe(self) -> str:
        return "the mean of the entries" if self.attribute is None else f"the mean of {self.attribute!r}"


@dataclass(frozen=True)
class Histogram:
    """How many entries are in each state; divided by the public constant `total` where one is given."""

    states: tuple[State, ...] | None = None
    total: int | None = None
    entries: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if self.states is not None:
            object.__setattr__(self, "states", tuple(self.states))
        object.__setattr__(self, "entries", _entry_tuple(self.entries))
        if self.total is not None and (isinstance(self.total, bool) or self.total != int(self.total) or self.total < 1):
            raise InputError(f"the histogram's total is {self.total!r}: it must be a public whole number above 0")

    def resolve(self, entries: Entries) -> Additive:
        known = tuple(dict.fromkeys(s for a in _alphabets(entries) for s in a))
        cells = known if self.states is None else self.states
        for state in cells:
            if state not in known:
                raise InputError(
                    f"the histogram has a cell {state!r}, which the belief does not know; "
                    f"write one of {sorted(map(str, known))}{did_you_mean(state, known)}"
                )
        tables, table_of = _tables(entries, lambda alphabet: [[int(s == c) for c in cells] for s in alphabet])
        grid = Fraction(1, self.total or 1)
        return Additive(grid, tuple(str(c) for c in cells), tables, _mask(entries, self.entries), table_of)

    def to_dict(self) -> dict[str, Any]:
        states = None if self.states is None else list(self.states)
        return {"kind": "histogram", "states": states, "total": self.total, "entries": _runs(self.entries)}

    def describe(self) -> str:
        what = "how many entries are in each state"
        return what if self.total is None else f"{what}, divided by the public constant {self.total}"


@dataclass(frozen=True)
class Linear:
    """The weighted sum of the entries' codes, sum_i weights[i] * code(x_i), on a declared or implied grid.

    Each product is rounded to the nearest multiple of `grid` (half to even) before it is added, so the answer stays
    additive; without a grid the weights' and codes' common denominator is used, if it is at most 1,000,000.
    """

    weights: tuple[Fraction, ...]
    codes: Mapping[State, Number] | None = field(default=None, hash=False)
    grid: Fraction | None = None

    def __init__(
        self, weights: Iterable[Number], codes: Mapping[State, Number] | None = None, grid: Number | None = None
    ) -> None:
        object.__setattr__(self, "weights", tuple(as_fraction(w, "a weight") for w in weights))
        object.__setattr__(self, "codes", codes)
        object.__setattr__(self, "grid", None if grid is None else as_fraction(grid, "the grid"))
        if self.grid is not None and self.grid <= 0:
            raise InputError(f"the grid is {grid!r}: it must be above 0")

    def resolve(self, entries: Entries) -> Additive:
        if len(self.weights) != entries.size:
            raise InputError(
                f"the linear query has {len(self.weights)} weights and the belief {entries.size} entries: "
                "give one weight an entry, 0 where an entry is not read"
            )
        return _coded(entries, None, self.codes, self.weights, "linear", self.grid)

    def to_dict(self) -> dict[str, Any]:
        grid = None if self.grid is None else to_text(self.grid)
        weights = [to_text(w) for w in self.weights]
        return {"kind": "linear", "weights": weights, "codes": _codes_dict(self.codes), "grid": grid}

    def describe(self) -> str:
        return "a weighted sum of the entries"


@dataclass(frozen=True)
class Identity:
    """The value itself: the answer that `between` compares, or one named column of a table.

    `grid` declares the multiples that a real-valued answer is published in.
    """

    attribute: Hashable | None = None
    grid: Fraction | None = None

    def __init__(self, attribute: Hashable | None = None, grid: Number | None = None) -> None:
        object.__setattr__(self, "attribute", attribute)
        object.__setattr__(self, "grid", None if grid is None else as_fraction(grid, "the grid"))
        if self.grid is not None and self.grid <= 0:
            raise InputError(f"the grid is {grid!r}: it must be above 0")

    def resolve(self, entries: Entries) -> Additive:
        if self.attribute is None and entries.size != 1:
            raise InputError(
                f"Identity() publishes one value, and the belief has {entries.size} entries: "
                "name the column, Identity('age'), or publish a Histogram, Sum or Mean"
            )
        chosen = 0 if self.attribute is None else entries.position(self.attribute)
        return _coded(entries, (chosen,), None, None, "value", self.grid)

    def to_dict(self) -> dict[str, Any]:
        attribute = None if self.attribute is None else str(self.attribute)
        return {"kind": "identity", "attribute": attribute, "grid": None if self.grid is None else to_text(self.grid)}

    def describe(self) -> str:
        return "the value itself" if self.attribute is None else f"the value of {self.attribute!r}"


def from_dict(data: Mapping[str, Any]) -> Query:
    """Read a query back from its `to_dict` form.

    Raises InputError for an unknown kind.

    >>> from_dict(Count("walking").to_dict())
    Count(state='walking', entries=None)
    """
    kind = data.get("kind")
    entries = _unruns(data.get("entries"))
    codes = _codes_from(data.get("codes"))
    if kind == "count":
        states = tuple(data["states"])
        return Count(states[0] if len(states) == 1 else states, entries)
    if kind == "sum":
        return Sum(data.get("attribute"), codes, entries)
    if kind == "mean":
        return Mean(data.get("attribute"), codes, entries)
    if kind == "histogram":
        states_or_none = data.get("states")
        return Histogram(None if states_or_none is None else tuple(states_or_none), data.get("total"), entries)
    if kind == "linear":
        return Linear(data["weights"], codes, data.get("grid"))
    if kind == "identity":
        return Identity(data.get("attribute"), data.get("grid"))
    kinds = ["count", "sum", "mean", "histogram", "linear", "identity"]
    raise InputError(f"the query's kind is {kind!r}; write one of {kinds}{did_you_mean(kind, kinds)}")


def _alphabets(entries: Entries) -> list[tuple[State, ...]]:
    return [entries.alphabet(0)] if entries.one_alphabet else [entries.alphabet(i) for i in range(entries.size)]


def _tables(entries: Entries, build: Any) -> tuple[tuple[IntArray, ...], IntArray | None]:
    tables = tuple(np.array(build(a), dtype=np.int64) for a in _alphabets(entries))
    return tables, None if entries.one_alphabet else np.arange(entries.size)


def _mask(entries: Entries, chosen: tuple[int, ...] | None) -> IntArray:
    if chosen is None:
        return np.ones(entries.size, dtype=np.int64)
    mask = np.zeros(entries.size, dtype=np.int64)
    for entry in chosen:
        if not 0 <= entry < entries.size:
            raise InputError(
                f"the query reads entry {entry}, and the belief has entries 0 to {entries.size - 1}: name one of those"
            )
        mask[entry] = 1
    return mask


def _coded(
    entries: Entries,
    chosen: tuple[int, ...] | None,
    codes: Mapping[State, Number] | None,
    weights: tuple[Fraction, ...] | None,
    label: str,
    grid: Fraction | None = None,
) -> Additive:
    """Build the integer tables of a (weighted) sum of codes on the coarsest grid that holds every product."""
    mask = _mask(entries, chosen)
    used = [0] if entries.one_alphabet else [i for i in range(entries.size) if mask[i]]
    values = {i: [_code(s, codes) for s in entries.alphabet(i)] for i in used}
    factors = (Fraction(1),) if weights is None else tuple(dict.fromkeys(weights))
    step = grid or _common_grid([v * w for vs in values.values() for v in vs for w in factors])
    if weights is None and entries.one_alphabet:
        return Additive(step, (label,), (_on_grid(values[0], step),), mask)
    if weights is None:
        zero = np.zeros((1, 1), dtype=np.int64)
        tables = tuple(_on_grid(values[i], step) if mask[i] else zero for i in range(entries.size))
        return Additive(step, (label,), tables, mask, np.arange(entries.size))
    # One table a distinct weight: the rounding to the grid happens inside the table, so the weights are 0 or 1.
    keys = list(dict.fromkeys((w, 0 if entries.one_alphabet else i) for i, w in enumerate(weights)))
    number = {key: n for n, key in enumerate(keys)}
    tables = tuple(_on_grid([w * v for v in values[i]], step) for w, i in keys)
    which = np.array([number[(w, 0 if entries.one_alphabet else i)] for i, w in enumerate(weights)], dtype=np.int64)
    return Additive(step, (label,), tables, np.array([int(w != 0) for w in weights], dtype=np.int64), which)


def _on_grid(values: list[Fraction], grid: Fraction) -> IntArray:
    return np.array([[round(v / grid)] for v in values], dtype=np.int64)


def _code(state: State, codes: Mapping[State, Number] | None) -> Fraction:
    if codes is not None:
        if state not in codes:
            raise InputError(f"the query gives no code for state {state!r}: add it to codes")
        return as_fraction(codes[state], f"the code of {state!r}")
    if isinstance(state, bool) or not isinstance(state, int | float | Fraction | np.integer | np.floating):
        raise InputError(
            f"state {state!r} is not a number, so it cannot be added: give codes, for example codes={{{state!r}: 1}}"
        )
    return as_fraction(state if isinstance(state, Fraction | int | float) else state.item(), f"the code of {state!r}")


def _common_grid(products: list[Fraction]) -> Fraction:
    denominator = math.lcm(*(p.denominator for p in products), 1)
    if denominator > FINEST_IMPLIED_GRID:
        raise Unsupported(
            f"the answer would need a grid of 1/{denominator}, finer than 1/{FINEST_IMPLIED_GRID}: "
            "declare one, for example grid='0.001'"
        )
    numerator = math.gcd(*(int(p * denominator) for p in products))
    return Fraction(max(numerator, 1), denominator)


def _entry_tuple(entries: Iterable[int] | None) -> tuple[int, ...] | None:
    return None if entries is None else tuple(sorted({int(i) for i in entries}))


def _runs(entries: tuple[int, ...] | None) -> list[list[int]] | None:
    """Write a sorted set of entries as runs [first, last], so that long sequences stay short on paper."""
    if entries is None:
        return None
    runs: list[list[int]] = []
    for entry in entries:
        if runs and runs[-1][1] == entry - 1:
            runs[-1][1] = entry
        else:
            runs.append([entry, entry])
    return runs


def _unruns(runs: list[list[int]] | None) -> tuple[int, ...] | None:
    return None if runs is None else tuple(i for first, last in runs for i in range(first, last + 1))


def _codes_dict(codes: Mapping[State, Number] | None) -> list[list[Any]] | None:
    return None if codes is None else [[s, to_text(as_fraction(c, "a code"))] for s, c in codes.items()]


def _codes_from(pairs: list[list[Any]] | None) -> dict[State, Number] | None:
    return None if pairs is None else {s: Fraction(c) for s, c in pairs}
