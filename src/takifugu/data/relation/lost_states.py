"""States that `value` would read as nothing: who is in one would follow from what is missing, which nothing hides.

`nulls = "unobserved"` says that a missing value is none of the states, and else a table with one is refused. So each
expression is tried on the declared states, or on numbers of each bin: on both sides of each number that it names.
Columns that `sql` computes are followed to those of the file. No row is read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, pairwise, product
from typing import TYPE_CHECKING, Any

from takifugu.core.errors import TakifuguError
from takifugu.data.relation.relation import run
from takifugu.data.sql.faults import wrong_key
from takifugu.data.sql.tree import Node, column_node, column_nodes, nodes_of, replaced, text_of
from takifugu.data.sql.words import folded, literal
from takifugu.data.values.bins import Bins, Classes, Known

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: What an expression of other rows has.
_OF_ROWS = ("WINDOW", "SUBQUERY")
#: What an expression names is tried in so many rows; longer expressions stay as they are written.
_MOST_ROWS, _LONGEST = 50_000, 100_000
#: What stands for nothing beside a fault.
_NOTHING = "takifugu nothing"


@dataclass(frozen=True)
class Computed:
    """An expression on the way to a value, the key that it is written by, and whether it makes the value itself."""

    key: str
    node: Node = field(repr=False)
    is_value: bool = False


def followed(computed: Sequence[tuple[str, Node]]) -> list[list[Node]]:
    """Return each expression as it is written, and with the earlier ones in the place of the columns that they make."""
    made, tried = dict[str, Node](), list[list[Node]]()

    def meant(some: Node) -> Node | None:
        return made.get(folded(some["column_names"][-1])) if some.get("class") == "COLUMN_REF" else None

    for name, node in computed:
        written = {**node, "alias": ""}
        whole = {**replaced(node, meant), "alias": ""}
        if len(str(whole)) > _LONGEST:
            whole = written
        tried.append([written] if whole == written else [written, whole])
        made[folded(name)] = whole
    return tried


def refuse_lost_states(
    connection: DuckDBPyConnection, way: Sequence[Computed], known: Known, has_missing: bool, may_miss: bool,
    of_others: Mapping[str, Known],
) -> None:  # fmt: skip
    """Raise InputError if an expression on the `way` to a value has nothing for a state that it could leave."""
    # nor may the value have a word that is no state, or be there by what a column `of_others` says; so it is where such
    # rows are refused, too: that a table is published would tell that nobody is in the state
    is_listed = not isinstance(known, Bins | Classes)
    may_miss |= isinstance(known, Classes) and known.missing >= 0
    for one in way if not is_listed or known else ():
        for column in sorted(of_others.keys() & set(_names_in(one.node)) if not may_miss else ()):
            hidden = _raw_values(of_others[column], one.node)
            for state, _ in _lost(connection, one.node, hidden, has_missing, False, None, column):
                raise wrong_key(
                    one.key, f"{one.key} has a value that is missing if {column} is {state!r}, and else is not",
                    f"{column} is hidden, and which values are missing or refused is not",
                    "leave that value as the file has it",
                )  # fmt: skip
        raw = _raw_values(known, one.node)
        words = known if one.is_value else None
        for state, word in _lost(connection, one.node, raw, has_missing, may_miss, words):
            raise wrong_key(
                one.key, f"{one.key} reads the value {state!r} as {word}",
                "a value is hidden, and which ones are missing or refused is not",
                f"leave {state!r} as it is, or out of the belief",
            )  # fmt: skip


def _raw_values(known: Known, node: Node) -> Mapping[str, str]:
    """Return each state by what a column says of it: its name, or numbers of its bin or class."""
    if isinstance(known, Bins):
        states, edges = known.states, [*map(float, known.edges)]
    elif isinstance(known, Classes):
        states, edges = known.words, [-math.inf, *map(float, known.ends), math.inf]
    else:
        return {state: state for state in known}
    raw, named = dict[str, str](), _numbers_in(node)
    for state, (low, high) in zip(states, pairwise(edges), strict=True):
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
    inside = low + (high - low) * 0.41  # not 0, which a product leaves as it is
    if math.isinf(inside):
        inside = high - 1.5 if math.isinf(low) else low + 1.5
    return 0.0 if math.isnan(inside) else inside


def _test_of(known: Known | None, kind: str) -> Callable[[str], bool]:
    """Return what tells whether a word of this type is a state, where it can be told."""
    if isinstance(known, Bins):
        return lambda text: known.code_of(text) >= 0
    if known is None or isinstance(known, Classes) or kind != "varchar":
        return lambda text: True
    return frozenset(known).__contains__


def _lost(
    connection: DuckDBPyConnection, node: Node, raw: Mapping[str, str], has_missing: bool, may_miss: bool,
    known: Known | None, column: str | None = None,
) -> list[tuple[str, str]]:  # fmt: skip
    """Return the states that an expression has nothing for, or none of `known`, if it leaves another as it is."""
    # One that leaves none as it is reads other words: it says itself which of them are states. Each column is tried;
    # the others hold, each for itself, the states, what the expression names, numbers beside that, and (`has_missing`)
    # nothing.
    # What is of other rows is a column, too; what compares the tried one with a table is true or false for each state.
    names, of_rows, beside = _names_in(node), nodes_of(node, *_OF_ROWS), _beside(node, raw, has_missing)
    # a `column` of another value is tried alone: the expression may have nothing for none of its states, or for all
    tried_ones, kinds = [column] if column else names, ("varchar", "double")
    for name, kind, other in product(tried_ones, kinds, (*kinds, "boolean")):
        if other == "varchar" or len(names) + len(of_rows) > 1:
            others = [one for one in names if one != name]
            tried = _Tried(name, others, of_rows, kind, other, column is None, name in _made_of(node))
            if lost := tried.lost(connection, node, raw, beside, may_miss, known):
                return lost
    return []


def _beside(node: Node, raw: Mapping[str, str], has_missing: bool) -> list[str]:
    """Return what the columns beside a tried one hold, as literals."""
    texts = [str((constant.get("literal") or {}).get("text")) for constant in nodes_of(node, "CONSTANT")]
    texts += [str(number + more) for number in _numbers_in(node) for more in (-1, 1)]
    for text, state in product([*texts], raw):  # of a column beside it, after or before the state
        texts += [part for part in (text.removeprefix(state), text.removesuffix(state)) if part not in ("", text)]
    return list(dict.fromkeys(["'true'", "'false'", *["null"] * has_missing, *map(literal, texts), *map(literal, raw)]))


def _names_in(node: Node) -> list[str]:
    """Return the columns that an expression names, those of subqueries left out."""
    outside = replaced(node, lambda some: {} if some.get("class") in _OF_ROWS else None)
    compared = chain(*(column_nodes(some.get("child") or {}) for some in nodes_of(node, *_OF_ROWS)))
    return sorted({folded(column["column_names"][-1]) for column in (*column_nodes(outside), *compared)})


def _made_of(node: Node) -> list[str]:
    """Return the columns that a value may be made of: those that only conditions name are left out."""

    def without_condition(some: Node) -> Node | None:
        if "when_expr" in some:
            return {"then": replaced(some["then_expr"], without_condition)}
        if some.get("function_name") == "if":
            return {"then": replaced(some["arguments"][1:], without_condition)}
        return None

    return _names_in(replaced(node, without_condition))


@dataclass(frozen=True)
class _Tried:
    """A column that has all states, of one type, and the others beside it, of another one."""

    name: str
    others: Sequence[str]
    of_rows: Sequence[Node]
    kind: str
    other: str
    #: Whether what it holds is the value's own, or another one's; and whether a value may be made of it.
    is_own: bool
    is_made_of: bool

    def lost(
        self, connection: DuckDBPyConnection, node: Node, raw: Mapping[str, str], beside: Sequence[str],
        may_miss: bool, known: Known | None,
    ) -> list[tuple[str, str]]:  # fmt: skip
        """Return the states that are lost, with the word in their place, where another one is left as it is."""
        computed = text_of({**replaced(node, self._as_tried), "alias": ""})
        places = [f"y{number}" for number in range(len(self.others) + len(self.of_rows))]
        listed = ", ".join(map(literal, raw))
        tables = [f"(select unnest([{listed}]) as x0)"]
        if len(raw) * len(beside) ** len(places) <= _MOST_ROWS:
            tables += [f"(select unnest([{', '.join(beside)}]::varchar[]) as t{place})" for place in places]
            made = [f"try_cast(t{place} as {self.other}) as {place}" for place in places]
        else:  # all of them hold the same
            tables.append(f"(select unnest([{', '.join(beside)}]::varchar[]) as t)")
            made = [f"try_cast(t as {self.other}) as {place}" for place in places]
        columns = ", ".join([f"x0, x0::{self.kind} as x", *made])
        fixed = [f"y{number}" for number in range(len(places)) if number not in self._compared]
        named = ", ".join(["x0", "x::varchar", f"try(coalesce(({computed})::varchar, {literal(_NOTHING)}))", *fixed])
        with suppress(TakifuguError):  # an expression of another type
            statement = f"select {named} from (select {columns} from {', '.join(tables)})"
            left, lost, is_state = set[Any](), dict[Any, dict[str, str]](), _test_of(known, self.kind)
            for state, value, result, *others in run(connection, statement, "value").fetchall():
                if not self.is_own and None in others and "null" not in beside:  # a text that is no number
                    continue
                key, words = tuple(others), {str(other) for other in others if other is not None}
                is_nothing = result in ("", _NOTHING)
                # of another value's states another one may be read as anything
                is_left = not (is_nothing or result is None)
                if self.is_own:  # a word that another column holds, too, may be from there
                    is_left = value == result and (value not in words or self.is_made_of)
                if is_left:
                    left.add(key)
                if is_nothing or (result is None and not places):  # beside others it may be their fault
                    if not may_miss:
                        lost.setdefault(key, {})[raw[state]] = "nothing"
                elif result is not None and not is_state(result) and not any(o in result for o in words):
                    lost.setdefault(key, {})[raw[state]] = f"{result!r}, which is none of them"
            return next(([*of_key.items()] for key, of_key in lost.items() if key in left), [])
        return []

    @property
    def _compared(self) -> set[int]:
        """Return the numbers of what compares the tried column with other rows."""
        return {
            number for number, some in enumerate(self.of_rows, len(self.others))
            if self.name in _names_in(some.get("child") or {})
        }  # fmt: skip

    def _as_tried(self, some: Node) -> Node | None:
        """Return x for the column that is tried, and y with its number for each other one."""
        place = ""
        if some in self.of_rows:
            place = f"y{len(self.others) + self.of_rows.index(some)}"
        elif some.get("class") == "COLUMN_REF":
            name = folded(some["column_names"][-1])
            place = "x" if name == self.name else f"y{self.others.index(name)}"
        return column_node(place) if place else None
