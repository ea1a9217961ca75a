"""A moment has no clocks of its own: what shows its hours or days says in which zone, in roles and in sql alike.

DuckDB casts a moment to a day, an hour or a text, and a clock to a moment, by the zone of the connection, in which
nobody lives. So of a moment is computed only what is the same in every zone; AT TIME ZONE makes it a clock. And a text
that is cast says all of its value: a moment has an offset, and a number is written as one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from takifugu.data.sql.faults import wrong_key
from takifugu.data.sql.scopes import Check
from takifugu.data.sql.tree import Node, text_of, values_of
from takifugu.data.sql.words import is_odd_number

#: A day, or a day and a time, as texts have it; what follows it where it has an offset.
ISO = r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.]\d{1,6}0*)?)?)?"
OFFSET = r"(Z|[+-][01]\d(:?[0-5]\d)?)"
CLOCKS = {"DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"}
MOMENTS = {"TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ", "TIMESTAMPTZ_NS", "TIMESTAMP_NS WITH TIME ZONE"}
#: The types of whole numbers, and of numbers with a point.
WHOLE = {sign + kind for sign in ("", "U") for kind in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")}
WHOLE |= {"INT", "INT1", "INT2", "INT4", "INT8", "INT16", "INT32", "INT64", "INT128", "SHORT", "LONG"}
POINT = {"FLOAT", "FLOAT4", "FLOAT8", "REAL", "DOUBLE", "DOUBLE PRECISION", "DECIMAL", "NUMERIC"}
_DIGITS = "replace(..., '_', '') if it only groups digits; or leave the cast out: bins and sums read texts as numbers"
#: Functions of moments that no zone changes; and those, and kinds of nodes, whose other values must be moments, too.
_FREE = {"timezone", "epoch", "epoch_ms", "epoch_us", "epoch_ns", "time_bucket"}
_ALIKE = {"+", "-", "coalesce", "ifnull", "nullif", "if", "greatest", "least"}
_NODES_ALIKE = {"COMPARISON", "BETWEEN", "CASE", "OPERATOR", "WINDOW"}
NO_OFFSET = "casts to a moment what has no offset from UTC"
RULE = "days and hours are those of clocks somewhere"
#: A text with more behind its time of day, which DuckDB drops where it casts the text to what clocks show.
_BEHIND_TIME = r"\d:\d.*[+A-Za-z-]"


def has_point(kind: str) -> bool:
    """Return whether a type is of numbers with a point."""
    return kind.partition("(")[0] in POINT


def is_number(kind: str) -> bool:
    """Return whether a type is of numbers."""
    return kind in WHOLE or has_point(kind)


def refuse_clocks_of_nobody(key: str, roots: Iterable[Node], kinds_of: Callable[[Node], Sequence[str]],
                            select: Node) -> list[Check]:  # fmt: skip
    """Refuse what depends on the connection's zone in one SELECT; return the checks of texts that are cast."""
    # `select` is that in which the expressions stand
    nodes = [node for root in roots for node in _nodes(root)]
    parts = {text_of(part): part for node in nodes for part in values_of(node)}
    if not parts:
        return []
    listed = [{**part, "alias": f"takifugu part {number}"} for number, part in enumerate(parts.values())]
    around = [item for item in select["select_list"] if item.get("alias")]  # expressions may name earlier ones
    plain = {**select, "qualify": None, "modifiers": []}
    typed = {**plain, "where_clause": None, "select_list": [*around, *listed]}
    kinds = dict(zip(parts, kinds_of(typed)[-len(parts) :], strict=True))
    for node in nodes:
        _check(key, node, [(part, kinds[text_of(part)].upper()) for part in values_of(node)])
    checks = list[Check]()
    for node in nodes:
        if node["class"] == "CAST" and kinds[text_of(node["child"])] == "VARCHAR":
            texts = text_of({**plain, "select_list": [*around, {**node["child"], "alias": "takifugu text"}]})
            checks += checks_of_texts(_into(node), '"takifugu text"', texts)
    return checks


def checks_of_texts(into: str, text: str, rows: str) -> Iterator[Check]:
    """Yield the checks that each text of some rows, a SELECT, may be cast to a type."""

    def check(is_odd: str, what: str, rule: str, fix: str) -> Check:
        return Check(f"select 1 from ({rows}) where {is_odd} limit 1", what, rule, fix)

    if into in MOMENTS:
        is_odd = f"{text} <> '' and not regexp_full_match({text}, '{ISO}{OFFSET}')"
        yield check(is_odd, NO_OFFSET, RULE, "(...)::timestamp AT TIME ZONE 'Europe/Berlin', with your zone")
    if into in CLOCKS | {"DATETIME", "TIME"}:
        what = f"casts to {into} a text with more behind its time, such as an offset from UTC or PM, which is dropped"
        is_read = f"try_cast({text} as {'time' if into == 'TIME' else 'timestamp'}) is not null"
        is_odd = f"{is_read} and regexp_matches({text}, '{_BEHIND_TIME}')"
        fix = "(...)::timestamptz AT TIME ZONE 'Europe/Berlin', with your zone; or strptime(), with your format"
        yield check(is_odd, what, RULE, fix)
    if into in WHOLE | POINT:
        such = "1_000, 0x1F, 1E+18 or 2.5" if into in WHOLE else "1_000, 0x1F or 1e400"
        what = f"casts to {into} a text such as {such}, which DuckDB reads as another number"
        is_read = f"try_cast({text} as {into if into in WHOLE else 'double'}) is not null"
        is_odd = f"{is_read} and ({is_odd_number(text, into in WHOLE)})"
        fix = _DIGITS + ("; floor(cast(... AS double)) rounds" if into in WHOLE else "")
        yield check(is_odd, what, "a number is written with digits and a point", fix)


def refuse_mixed(key: str, kinds: Sequence[Sequence[str]]) -> None:
    """Raise InputError for tables below each other, one with moments and one with clocks in a column."""
    for column in zip(*kinds, strict=True):
        if {*column} & MOMENTS and {*column} & CLOCKS:
            raise wrong_key(key, f"{key} puts clocks below moments by UNION", RULE, _with_zone("t"))


def _check(key: str, node: Node, values: Sequence[tuple[Node, str]]) -> None:
    kind, name = str(node["class"]), str(node.get("function_name", "")).lower()
    moments = [value for value, of in values if of in MOMENTS]
    if kind == "CAST":
        into, (child, of) = _into(node), values[0]
        if moments and into not in MOMENTS:
            raise wrong_key(key, f"{key} casts a moment to {into}", RULE, _with_zone(text_of(child)))
        if into in MOMENTS and of in CLOCKS:
            raise wrong_key(key, f"{key} {NO_OFFSET}", RULE, _with_zone(text_of(child)))
    elif kind == "WINDOW" and name == "sum" and {of for _, of in values} & {"FLOAT", "DOUBLE"}:
        fix = f"sum(cast({text_of(values[0][0])} AS decimal(18, 6))), with the decimals that there are"
        raise wrong_key(key, f"{key} adds floats over a window", "a rounded sum depends on the order of rows", fix)
    elif name == "make_timestamptz" and 1 < len(values) < 7:
        fix = "make_timestamp(...) AT TIME ZONE 'Europe/Berlin', with your zone"
        raise wrong_key(key, f"{key} makes a moment of what clocks show", RULE, fix)
    elif moments and kind == "SUBQUERY":
        raise wrong_key(key, f"{key} looks a moment up", "keys are of one type", "epoch_us() of both")
    elif moments and kind == "FUNCTION" and name not in _FREE | _ALIKE:
        raise wrong_key(key, f"{key} calls {name}() of a moment", RULE, _with_zone(text_of(moments[0])))
    elif moments and (kind in _NODES_ALIKE or name in _ALIKE):
        for value, of in values:
            if of in CLOCKS or (of == "VARCHAR" and not _has_offset(value)):
                fix = f"{_with_zone(text_of(moments[0]))}; or a moment such as timestamptz '2026-01-05 00:00:00+01'"
                raise wrong_key(key, f"{key} compares or mixes a moment with what clocks show", RULE, fix)


def _into(node: Node) -> str:
    return str(node["type_expr"]["type_name"]).upper()


def _with_zone(sql: str) -> str:
    return f"{sql} AT TIME ZONE 'Europe/Berlin', with your zone"


def _has_offset(node: Node) -> bool:
    return node.get("class") == "CONSTANT" and re.fullmatch(ISO + OFFSET, str(node["literal"].get("text"))) is not None


def _nodes(node: Node) -> Iterator[Node]:
    """Yield an expression and all that it is made of; a SELECT in it is judged as its own."""
    yield node
    inner = [*values_of(node), *(check["when_expr"] for check in node.get("case_checks") or [])]
    inner += [*(node.get("partitions") or []), *(order["expression"] for order in node.get("orders") or [])]
    inner += [entry["value"] for entry in node.get("replace_list") or []]
    for part in inner:
        yield from _nodes(part)
