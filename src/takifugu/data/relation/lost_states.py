"""States that `value` would read as nothing: who is in one would follow from what is missing, which nothing hides.

`nulls = "unobserved"` says that a missing value is none of the states. So each expression is tried on the declared
states, or on numbers of each bin: on both sides of each number that it names. Columns that `sql` computes are followed
to those of the file. No row is read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, pairwise, product
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
#: So many columns of an expression are tried, beside so many texts that it names; longer ones stay as they are written.
_MOST_COLUMNS, _MOST_TEXTS, _LONGEST = 5, 20, 100_000


def followed(computed: Sequence[tuple[str, Node]]) -> list[list[Node]]:
    """Return each expression as it is written, and with the earlier ones in the place of the columns that they make."""
    made, tried = dict[str, Node](), list[list[Node]]()

    def meant(some: Node) -> Node | None:
        return made.get(some["column_names"][-1].lower()) if some.get("class") == "COLUMN_REF" else None

    for name, node in computed:
        whole = {**replaced(node, meant), "alias": ""}
        if len(str(whole)) > _LONGEST:
            whole = node
        tried.append([node] if whole == {**node, "alias": ""} else [node, whole])
        made[name.lower()] = whole
    return tried


def refuse_lost_states(
    connection: DuckDBPyConnection, source: Source, key: str, computed: Sequence[Sequence[Node]]
) -> None:
    """Raise InputError if an expression on the way to `value` has nothing for a state that it could leave as it is."""
    if source.nulls == "refuse" or source.rows not in ("samples", *RUNS):
        return
    for node in chain(*computed):
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

    One that leaves none as it is reads other words: it says itself which of them are states. Each column is tried, and
    the others beside it hold nothing, or what the expression names.
    """
    names = sorted({column["column_names"][-1].lower() for column in column_nodes(node)})
    if not 1 <= len(names) <= _MOST_COLUMNS or nodes_of(node, *_OF_ROWS):
        return []
    beside = ["null::varchar"]
    if len(names) > 1:
        texts = [str((constant.get("literal") or {}).get("text")) for constant in nodes_of(node, "CONSTANT")]
        beside += [literal(text) for text in dict.fromkeys(texts)][:_MOST_TEXTS]
    tried = (_of_one(connection, node, raw, name, other) for name, other in product(names, beside))
    return next(filter(None, tried), [])


def _of_one(connection: DuckDBPyConnection, node: Node, raw: Mapping[str, str], name: str, other: str) -> list[str]:
    """Return the states that an expression has nothing for, if one column has them and the others have `other`."""
    computed = text_of({**replaced(node, partial(_as_tried, name)), "alias": ""})
    for kind in ("varchar", "double"):
        listed = ", ".join(f"{literal(value)}::{kind}" for value in raw)
        with suppress(TakifuguError):  # an expression of another type
            columns = f"select unnest([{listed}]) as x, {other} as y"
            statement = f"select x::varchar, y::varchar, ({computed})::varchar from ({columns})"
            rows = run(connection, statement, "value").fetchall()
            if any(value == result and value != beside for value, beside, result in rows):
                return [raw[value] for value, _, result in rows if not result]
    return []


def _as_tried(name: str, some: Node) -> Node | None:
    """Return x for the column that is tried, y for another one."""
    if some.get("class") != "COLUMN_REF":
        return None
    return {**some, "column_names": ["x" if some["column_names"][-1].lower() == name else "y"], "alias": ""}
