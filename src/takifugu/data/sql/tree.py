"""DuckDB's own tree of a SELECT, and the text of a tree: nothing is read or run."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from takifugu.data.sql.faults import wrong_key

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Node = dict[str, Any]
#: A longer text is no statement that somebody can review.
LONGEST = 100_000
#: The fields of a node that hold one value each.
VALUES = ("left", "right", "input", "lower", "upper", "child")


@cache
def _parser() -> DuckDBPyConnection:
    import duckdb

    return duckdb.connect(config={"enable_external_access": "false", "threads": "1"})


def parsed(text: str, key: str) -> Node:
    """Return the tree of one SELECT; InputError, with the key, for another text."""
    answer = _serialized(text, key)
    if answer is None:
        fix = "try it in the duckdb shell, which shows the place"
        if "..." in text:  # as a printed line leaves open what its reader alone knows
            fix = "write a column, or what else belongs there, in place of ..."
        raise wrong_key(
            key, f"{key} is no SELECT that DuckDB understands", "it reads and changes nothing", fix
        )
    statements = answer["statements"]
    if len(statements) != 1:
        raise wrong_key(key, f"{key} has {len(statements)} statements", "it is one SELECT", "join them by WITH")
    if statements[0].get("named_param_map"):
        raise wrong_key(key, f"{key} has a parameter ($ or ?)", "it is complete", "write the value")
    node: Node = statements[0]["node"]
    return node


def expression(text: str, key: str) -> Node:
    """Return the tree of one expression; InputError, with the key, for another text."""
    answer = _serialized(f"SELECT\n{text}\n", key)
    node = answer["statements"][0]["node"] if answer and len(answer["statements"]) == 1 else None
    is_one = node is not None and len(node.get("select_list") or ()) == 1
    if answer is not None and node is not None and is_one and not answer["statements"][0]["named_param_map"]:
        alone = {**_serialized_constant(), "select_list": node["select_list"]}
        alone["from_table"] = {**alone["from_table"], "query_location": node["from_table"].get("query_location")}
        if alone == node and not node["select_list"][0].get("alias"):
            only: Node = node["select_list"][0]
            return only
    raise wrong_key(
        key, f"{key} is neither a column nor one expression of DuckDB's SQL", "it is one of them",
        'write a column\'s exact name, or an expression such as "lower(trim(Status))"',
    )  # fmt: skip


def text_of(node: Node) -> str:
    """Return the text of an expression or a SELECT, with one blank between words."""
    if "class" in node:
        select = {**_serialized_constant(), "select_list": [node]}
        return text_of(select).removeprefix("SELECT ")
    tree = {"error": False, "statements": [{"node": node, "named_param_map": []}]}
    (text,) = _parser().cursor().execute("select json_deserialize_sql(?::json)", [json.dumps(tree)]).fetchone() or ("",)
    return str(text)


def table(name: str) -> Node:
    """Return the tree of a table in FROM."""
    node: Node = parsed(f'from "{name}"', "sql")["from_table"]
    return node


def replaced(node: Any, how: Callable[[Node], Node | None]) -> Any:
    """Return a tree with the nodes for which `how` has another one."""
    if isinstance(node, list):
        return [replaced(child, how) for child in node]
    if not isinstance(node, dict):
        return node
    other = how(node)
    return other if other is not None else {name: replaced(child, how) for name, child in node.items()}


def with_texts(node: Node, how: Callable[[str], str | None]) -> Node:
    """Return a tree with the constants for whose text `how` has another one."""

    def change(some: Node) -> Node | None:
        text = (some.get("literal") or {}).get("text") if some.get("class") == "CONSTANT" else None
        other = None if text is None else how(text)
        return None if other is None else {**some, "literal": {"kind": "STRING", "text": other}}

    tree: Node = replaced(node, change)
    return tree


def values_of(node: Node) -> list[Node]:
    """Return the values that a node of an expression computes with; conditions of CASE choose among them."""
    values = [*(node.get("children") or []), *(node[name] for name in VALUES if node.get(name))]
    values += [argument["expression"] for argument in node.get("arguments") or []]
    values += [check["then_expr"] for check in node.get("case_checks") or []]
    return values + ([node["else_expr"]] if node.get("else_expr") else [])


def nodes_of(node: Node, *classes: str) -> list[Node]:
    """Return the nodes of some classes in a tree."""
    hits = list[Node]()
    replaced(node, lambda some: hits.append(some) if some.get("class") in classes else None)
    return hits


def column_nodes(node: Node) -> list[Node]:
    """Return the columns that an expression names."""
    return nodes_of(node, "COLUMN_REF")


def column_node(name: str) -> Node:
    """Return the expression that is a column."""
    return {"class": "COLUMN_REF", "type": "COLUMN_REF", "alias": "", "column_names": [name]}


def columns_in(node: Node) -> list[str]:
    """Return the first names of the columns that an expression names, once each."""
    return list(dict.fromkeys(column["column_names"][0] for column in column_nodes(node)))


@cache
def _serialized_constant() -> Node:
    node: Node = parsed("SELECT 1", "sql")
    return node


def _serialized(text: str, key: str) -> Node | None:
    import duckdb

    if len(text) > LONGEST:
        raise wrong_key(key, f"{key} has more than {LONGEST:,} letters", "it is short enough to be reviewed")
    try:
        (answer,) = _parser().cursor().execute("select json_serialize_sql(?)", [text]).fetchone() or ("{}",)
        tree: Node = json.loads(answer)
    except (duckdb.Error, RecursionError, ValueError):
        return None
    return None if tree.get("error") else tree
