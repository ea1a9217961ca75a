"""States that `value` would read as nothing: who is in one would follow from what is missing, which nothing hides.

`nulls = "unobserved"` says that a missing value is none of the states. So each expression of one column is tried on
the declared states, or on numbers of each bin: on both sides of each number that it names. No row is read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING

from takifugu.core.errors import TakifuguError
from takifugu.data.relation.keys import RUNS, Source
from takifugu.data.relation.relation import run
from takifugu.data.sql.faults import wrong_key
from takifugu.data.sql.tree import Node, column_nodes, nodes_of, replaced, text_of
from takifugu.data.sql.words import literal

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: What an expression of other rows has.
_OF_ROWS = ("WINDOW", "SUBQUERY")


def refuse_lost_states(connection: DuckDBPyConnection, source: Source, key: str, computed: Sequence[Node]) -> None:
    """Raise InputError if an expression on the way to `value` has nothing for a state that it could leave as it is."""
    if source.nulls == "refuse" or source.rows not in ("samples", *RUNS):
        return
    for node in computed:
        for state in _lost(connection, node, _raw_values(source, node)):
            raise wrong_key(
                key, f"{key} reads the state {state!r} as nothing",
                "a state is hidden, and which values are missing is not",
                f"leave {state!r} as it is, or out of the belief's states",
            )  # fmt: skip


def _raw_values(source: Source, node: Node) -> Mapping[str, str]:
    """Return each state by what a column says of it: its name, or numbers of its bin."""
    bins = source.bin_edges
    if bins is None:
        return {state: state for state in source.states}
    raw, named = dict[str, str](), _numbers_in(node)
    for state, (low, high) in zip(bins.states, pairwise(map(float, bins.edges)), strict=True):
        ends = [low, *(number for number in named if low < number < high), high]
        for first, last in pairwise(ends):
            is_between_codes = len(ends) > 2 and last - first == 1  # whole numbers that stand for something else
            if not is_between_codes:
                raw[str(_between(first, last))] = str(state)
    return raw


def _numbers_in(node: Node) -> list[float]:
    """Return the different numbers that an expression names, in order."""
    numbers = set[float]()
    for constant in nodes_of(node, "CONSTANT"):
        with suppress(ValueError):
            numbers.add(float((constant.get("literal") or {}).get("text", "")))
    return sorted(filter(math.isfinite, numbers))


def _between(low: float, high: float) -> float:
    """Return a number between two others, which may be infinite."""
    inside = (low + high) / 2
    if math.isinf(inside):
        inside = high - 1.5 if math.isinf(low) else low + 1.5
    return 0.0 if math.isnan(inside) else inside


def _lost(connection: DuckDBPyConnection, node: Node, raw: Mapping[str, str]) -> list[str]:
    """Return the states that an expression has nothing for, if it leaves another one as it is.

    One that leaves none as it is reads other words: it says itself which of them are states.
    """
    names = {tuple(column["column_names"]) for column in column_nodes(node)}
    if len(names) != 1 or nodes_of(node, *_OF_ROWS):
        return []

    def of_one_value(some: Node) -> Node | None:
        return {**some, "column_names": ["x"], "alias": ""} if some.get("class") == "COLUMN_REF" else None

    computed = text_of({**replaced(node, of_one_value), "alias": ""})
    for kind in ("varchar", "double"):
        listed = ", ".join(f"{literal(value)}::{kind}" for value in raw)
        with suppress(TakifuguError):  # an expression of another type
            statement = f"select x::varchar, ({computed})::varchar from (select unnest([{listed}]) as x)"
            rows = run(connection, statement, "value").fetchall()
            if any(value == result for value, result in rows):
                return [raw[value] for value, result in rows if not result]
    return []
