"""Which cells of the files each column of a SELECT comes from; whatever is not known here is refused.

The rules about what may depend on what is hidden (`rules`) need no more. Nodes of DuckDB's tree are known by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import NoReturn

from takifugu.core.nearest import did_you_mean
from takifugu.data.sql import allowed, refused
from takifugu.data.sql.clocks import refuse_clocks_of_nobody, refuse_mixed
from takifugu.data.sql.faults import wrong_key
from takifugu.data.sql.scopes import LINE, NOTHING, Cells, Check, Rows, Scope, below, distinct, part, spread, together
from takifugu.data.sql.tree import VALUES, Node, column_node, column_nodes, parsed, text_of, values_of
from takifugu.data.sql.words import folded, identifier


@dataclass
class Judge:
    """The judge of one text: of `sql`, or of an expression, which is one value of a row and nothing else."""

    key: str
    tables: Mapping[str, Rows] = field(default_factory=dict)
    matches: Callable[[str, str], bool] = lambda name, pattern: False
    kinds_of: Callable[[Node], Sequence[str]] | None = None
    is_expression: bool = True
    in_order: Set[str] = frozenset()
    checks: list[Check] = field(default_factory=list)
    computed: list[tuple[str, Node, Cells]] = field(default_factory=list)
    #: What windows and subqueries put the rows of a SELECT in order by, or may.
    moves: list[Cells] = field(default_factory=list)

    def refuse(self, what: str, rule: str = "", fix: str = "") -> NoReturn:
        raise wrong_key(self.key, f"{self.key} {what}", rule, fix)

    def only(self, node: Node, *names: str) -> None:
        """Refuse a field of a node that is not known and says something."""
        for name, value in node.items():
            if name in names or name in allowed.PLACES or value in (None, "", False) or value == [] or value == {}:
                continue
            if allowed.USUAL.get(name) == value:
                continue
            unknown = f"uses {name.replace('_', ' ')}", "it is not among what is allowed", ""
            self.refuse(*refused.SAID.get(name, unknown))

    # -- expressions

    def value(self, node: Node, scope: Scope) -> Cells:
        """Return the cells that an expression's value comes from."""
        kind, of = node.get("class"), node.get("type")
        if kind not in allowed.OPERATORS or of not in allowed.OPERATORS[kind]:
            word = str(of).lower().replace("_", " ")
            self.refuse(f"uses {word}", "an expression has columns, constants and functions of one row", refused.BY_ROW)
        return {
            "COLUMN_REF": self._column, "FUNCTION": self._function, "CAST": self._cast, "WINDOW": self._window,
            "SUBQUERY": self._subquery,
        }.get(str(kind), self._parts)(node, scope)  # fmt: skip

    def _values(self, nodes: Iterable[Node], scope: Scope) -> Cells:
        return together(*(self.value(node, scope) for node in nodes))

    def _parts(self, node: Node, scope: Scope) -> Cells:
        self.only(node, "value", "literal", "children", "case_checks", "else_expr", *VALUES)
        conditions = [check["when_expr"] for check in node.get("case_checks") or []]
        return self._values([*conditions, *values_of(node)], scope)

    def _column(self, node: Node, scope: Scope) -> Cells:
        self.only(node, "column_names")
        hits = scope.of(node["column_names"])
        if hits is None:
            word = ".".join(node["column_names"])
            if word.lower() in refused.UNSTABLE:
                self.refuse(f"uses {word}", refused.STABLE, "write the day or the text itself")
            self.refuse(f"names {word[:80]!r}, which is no column{scope.nearest(word)}", "", refused.QUOTES)
        return hits

    def _function(self, node: Node, scope: Scope) -> Cells:
        name = str(node["function_name"]).lower()
        self.only(node, "function_name", "arguments", "is_operator", "qualified_name")
        if not _is_plain_name(node, "function_name"):
            self.refuse(*refused.OTHER_CALL)
        if name in refused.UNSTABLE:
            self.refuse(f"calls {name}()", refused.STABLE, "leave it out, or write the day or the text itself")
        if name in refused.AGGREGATES:
            fix = "the last row of several: QUALIFY row_number() OVER (...) = 1"
            self.refuse(f"calls {name}()", "a value comes from one row", fix)
        if name not in allowed.SCALARS:
            rule, fix = "it is not among the functions that are allowed", "compute the column before, in a file"
            self.refuse(f"calls {name}()", rule, fix)
        return self._values((argument["expression"] for argument in node["arguments"]), scope)

    def _cast(self, node: Node, scope: Scope) -> Cells:
        self.only(node, "child", "type_expr", "try_cast")
        kind = node["type_expr"]
        self.only(kind, "type_name", "children", "qualified_name")
        name = str(kind.get("type_name", "")).lower()
        if not _is_plain_name(kind, "type_name") or name not in allowed.TYPES:
            self.refuse(f"casts to {name or 'a type'}", "values are texts, numbers, times, or true and false")
        for parameter in kind.get("children") or []:
            self.only(parameter, "literal")
        return self.value(node["child"], scope)

    def _subquery(self, node: Node, scope: Scope) -> Cells:
        if self.is_expression:
            self.refuse("has a subquery", "an expression is about one row", 'sql = "SELECT ... JOIN ..."')
        self.only(node, "subquery_type", "subquery", "child", "comparison_type")
        if node["subquery_type"] != "ANY" or node.get("comparison_type") != "COMPARE_EQUAL":
            self.refuse("has a subquery as a value", "only IN (SELECT ...) is one", "JOIN it")
        self.only(node["subquery"], "node")
        inner = self.select(node["subquery"]["node"]).inner()
        if len(inner.columns) != 1:
            self.refuse("compares with several columns of a subquery", "IN (SELECT ...) has one")
        cells = together(self.value(node["child"], scope), spread(inner.columns[0][1]), spread(inner.filters))
        self.moves.append(cells)
        return cells

    def _window(self, node: Node, scope: Scope) -> Cells:
        if self.is_expression or not scope.windows:
            self.refuse("uses a window", "an expression is about one row", 'sql = "SELECT ..., with the window"')
        self.only(node, "function_name", "partitions", "orders", "arguments", "qualified_name")
        name = str(node["function_name"]).lower()
        if not _is_plain_name(node, "function_name"):
            self.refuse(*refused.OTHER_CALL)
        if node["type"] == "WINDOW_AGGREGATE" and name not in allowed.WINDOWED:
            self.refuse(f"calls {name}() over a window", "it is not among the windows that are allowed")
        orders = [self._ordered(order) for order in node.get("orders") or []]
        partitions = list(node.get("partitions") or [])
        arguments = [argument["expression"] for argument in node.get("arguments") or []]
        if node["type"] in allowed.ORDERED:
            if node["type"] == "WINDOW_ROW_NUMBER" and not (orders or partitions) and scope.is_in_order(self.in_order):
                return LINE  # whatever it holds
            if not orders:
                self.refuse(f"calls {name}() without ORDER BY", "rows have no order", "OVER (... ORDER BY ...)")
            self.checks.append(scope.check_of_order(name, [*partitions, *orders]))
        self.moves.append(self._values([*partitions, *orders], scope))
        return spread(together(self._values([*arguments, *partitions, *orders], scope), scope.filters))

    def _ordered(self, order: Node) -> Node:
        self.only(order, "type", "null_order", "expression")
        node: Node = order["expression"]
        return node

    # -- relations

    def select(self, node: Node) -> Rows:
        """Return the rows of a SELECT; it stands alone, and sees nothing around it."""
        if node["type"] == "SET_OPERATION_NODE":
            return self._union(node)
        if node["type"] != "SELECT_NODE":
            self.refuse(f"uses {node['type'].lower().replace('_node', '').replace('_', ' ')}", "it is one SELECT")
        self.only(node, "modifiers", "select_list", "from_table", "where_clause", "qualify")
        around, self.moves = self.moves, []
        scope = replace(self._from(node["from_table"]), select=node)
        if node.get("where_clause"):
            before = len(self.checks)  # WHERE may name columns of the list, and windows see what it leaves
            where = self.value(node["where_clause"], self._listed(node, scope)[1])
            del self.checks[before:]
            scope = replace(scope, extra=together(scope.extra, where))
        columns, scope = self._listed(node, scope)
        filters = scope.filters
        if node.get("qualify"):
            filters = together(filters, self.value(node["qualify"], replace(scope, windows=True)))
        conditions = [node[name] for name in ("where_clause", "qualify") if node.get(name)]
        self.refuse_clocks([*node["select_list"], *conditions], node)
        moves, self.moves = self.moves, around
        rows = Rows(columns, filters, order=together(scope.order, *moves))
        return self._modified(rows, node, replace(scope, windows=True))

    def refuse_clocks(self, roots: Iterable[Node], select: Node) -> None:
        """Refuse what depends on the zone of the connection, and texts that a cast would misread."""
        if self.kinds_of is not None:
            self.checks += refuse_clocks_of_nobody(self.key, roots, self.kinds_of, select)

    def _listed(self, node: Node, scope: Scope) -> tuple[tuple[tuple[str, Cells], ...], Scope]:
        """Return the columns of a SELECT's list, and the scope with their names."""
        aliases: dict[str, Cells] = {}
        columns = list[tuple[str, Cells]]()
        for item in node["select_list"]:
            inner = replace(scope, aliases=dict(aliases), windows=True)
            if item.get("class") == "STAR":
                added = self._star(item, inner)
            else:
                name = item["column_names"][-1] if item.get("class") == "COLUMN_REF" else text_of(item)
                name = item.get("alias") or name
                added = [(name, self._computed(name, item, inner))]
            for name, cells in added:
                aliases[folded(name)] = together(aliases.get(folded(name), NOTHING), cells)
            columns += added
        return tuple(columns), replace(scope, aliases=aliases)

    def _star(self, node: Node, scope: Scope) -> list[tuple[str, Cells]]:
        self.only(node, "relation_name", "exclude_list", "replace_list", "rename_list", "columns", "expr")
        only = node.get("expr") or {}
        pattern = only.get("literal") or {}
        if only and (only.get("class"), pattern.get("kind")) != ("CONSTANT", "STRING"):
            self.refuse("uses COLUMNS(...) with a condition", "columns are named", "COLUMNS('pattern') or COLUMNS(*)")
        self.only(only, "literal")
        left_out = {folded(_name_of(name)) for name in node.get("exclude_list") or []}
        other = {folded(_name_of(entry["key"])): entry["value"] for entry in node.get("replace_list") or []}
        new = {folded(_name_of(entry["key"])): str(entry["value"]) for entry in node.get("rename_list") or []}
        columns = list[tuple[str, Cells]]()
        for name, cells in scope.columns(node.get("relation_name") or ""):
            lower = folded(name)
            if lower in left_out or (pattern and not self.matches(name, pattern["text"])):
                continue
            if lower in other:
                cells = self._computed(name, other[lower], scope)
            columns.append((new.get(lower, name), cells))
        return columns

    def _computed(self, name: str, node: Node, scope: Scope) -> Cells:
        """Return the cells of a column of a list, and note how it is computed."""
        cells = self.value(node, scope)
        self.computed.append((name, node, cells))
        return cells

    def _modified(self, rows: Rows, node: Node, scope: Scope) -> Rows:
        for modifier in node.get("modifiers") or []:
            if modifier["type"] == "ORDER_MODIFIER":  # which changes no row
                self.only(modifier, "orders")
                orders = [self._ordered(order) for order in modifier["orders"]]
                numbered = [_numbered(order, rows) for order in orders]
                rows = replace(rows, order=together(rows.order, self._values(orders, scope), *numbered))
            elif modifier["type"] == "DISTINCT_MODIFIER":
                self.only(modifier)
                rows = distinct(rows)
            else:
                self.refuse("takes some of the rows (LIMIT or OFFSET)", "which rows these are is not said", "WHERE")
        return rows

    def _union(self, node: Node) -> Rows:
        self.only(node, "modifiers", "setop_type", "setop_all", "children")
        if node["setop_type"] != "UNION":
            self.refuse(f"uses {node['setop_type']}", "it is not among what is allowed", "WHERE says which rows")
        parts = [self.select(child) for child in node["children"]]
        if len({len(rows.columns) for rows in parts}) != 1:
            self.refuse("joins tables of different numbers of columns by UNION", "columns are put below each other")
        rows = reduce(below, parts)
        if self.kinds_of is not None:
            refuse_mixed(self.key, [self.kinds_of(child) for child in node["children"]])
        if not node.get("setop_all"):
            rows = distinct(rows)
        return self._modified(rows, node, Scope((("", rows),), node))

    def _from(self, node: Node) -> Scope:  # noqa: RET503
        kind, alias, names = node["type"], node.get("alias") or "", list(node.get("column_name_alias") or [])
        if kind == "JOIN":
            return self._join(node)
        if kind == "BASE_TABLE":
            self.only(node, "table_name", "column_name_alias", "qualified_name")
            name = str(node["table_name"])
            if not _is_plain_name(node, "table_name") or folded(name) not in self.tables:
                self.refuse(f"reads {name[:80]!r}, which is no table here{did_you_mean(name, self.tables)}",
                            "tables are files, and steps of WITH", "read_csv('x.csv')")  # fmt: skip
            return Scope(((alias or name, self.tables[folded(name)].inner().named(names)),), node)
        if kind == "SUBQUERY":
            self.only(node, "subquery", "column_name_alias")
            self.only(node["subquery"], "node")
            return Scope(((alias, self.select(node["subquery"]["node"]).inner().named(names)),), node)
        if kind == "PIVOT":
            return Scope(((alias, self._unpivot(node).named(names)),), node)
        if kind == "EXPRESSION_LIST":
            self.only(node, "column_name_alias", "values", "expected_names", "expected_types")
            for row in node["values"]:
                self._values(row, Scope((), node))
                self.refuse_clocks(row, parsed("select 1", "sql"))
            columns = tuple((f"col{number}", NOTHING) for number, _ in enumerate(node["values"][0]))
            return Scope(((alias, Rows(columns).named(names)),), node)
        words = {"EMPTY": "reads no file", "TABLE_FUNCTION": "reads by another function"}
        self.refuse(words.get(kind, f"uses {kind.lower().replace('_', ' ')}"), "a source reads the files that it names")

    def _unpivot(self, node: Node) -> Rows:
        """Return the rows of UNPIVOT: of each row one for each of its columns that are named."""
        self.only(node, "source", "unpivot_names", "pivots", "include_nulls", "column_name_alias")
        if not node.get("unpivot_names") or len(node["unpivot_names"]) != 1 or len(node["pivots"]) != 1:
            self.refuse("pivots rows", "a value comes from one row", "UNPIVOT ... INTO NAME t VALUE v alone")
        pivot = node["pivots"][0]
        self.only(pivot, "unpivot_names", "entries")
        scope = self._from(node["source"])
        turned = dict[str, Cells]()
        for entry in pivot["entries"]:
            self.only(entry, "star_expr")
            star = entry.get("star_expr") or {}
            if star.get("class") == "STAR":
                turned.update((folded(name), cells) for name, cells in self._star(star, scope))
            elif star.get("class") == "COLUMN_REF":
                turned[folded(star["column_names"][-1])] = self.value(star, scope)
            else:
                self.refuse("unpivots what is no column", "columns are named", "ON a, b or ON COLUMNS(* EXCLUDE (id))")
        value = together(*(part(cells, name) for name, cells in turned.items()))

        def in_each(cells: Cells) -> Cells:
            return together(*(part(cells, name) for name in turned))

        columns = [(name, in_each(cells)) for name, cells in scope.columns("") if folded(name) not in turned]
        filters = in_each(scope.filters)
        if not node.get("include_nulls"):
            filters = together(filters, value)
        columns += [(pivot["unpivot_names"][0], NOTHING), (node["unpivot_names"][0], value)]
        return Rows(tuple(columns), filters, order=scope.order)

    def _join(self, node: Node) -> Scope:
        """Return the scope of a join: a row on the left meets one on the right at most."""
        self.only(node, "left", "right", "condition", "join_type", "ref_type", "using_columns")
        how, kind = node["join_type"], node["ref_type"]
        if kind != "REGULAR" or how not in ("INNER", "LEFT", "SEMI", "ANTI"):
            word = how.lower() if kind == "REGULAR" else kind.lower()
            self.refuse(f"has a {word} join", "each row comes from one record", "JOIN ... ON a.id = b.id, or LEFT JOIN")
        if node["right"]["type"] == "JOIN":
            self.refuse("joins a join", "joins stand one after the other", "a JOIN b ON ... JOIN c ON ...")
        left, right = self._from(node["left"]), self._from(node["right"])
        using = [str(name) for name in node.get("using_columns") or []]
        columns = [column_node(name) for name in using]
        pairs = list(zip(columns, columns, strict=True)) if using else self._equal(node.get("condition"), left, right)
        self.refuse_clocks([one for one, _ in pairs], {**parsed("from x", "sql"), "from_table": node["left"]})
        met = together(*(self.value(one, left) for one, _ in pairs), *(spread(self.value(o, right)) for _, o in pairs))
        if how in ("INNER", "LEFT"):
            self.checks += _checks_of_join(node, pairs)
        filters = together(left.filters, spread(right.filters), met) if how != "LEFT" else left.filters
        moved = together(left.order, right.order, right.filters, met)
        if how in ("SEMI", "ANTI"):
            return replace(left, node=node, extra=filters, moved=moved)
        reached = together(met, spread(right.filters))
        added = [
            (alias, Rows(tuple((name, together(spread(cells), reached)) for name, cells in rows.columns)))
            for alias, rows in right.tables
        ]
        hidden_names = {folded(name) for name in using} | left.hidden_names
        return Scope((*left.tables, *added), node, extra=filters, moved=moved, hidden_names=hidden_names)

    def _equal(self, node: Node | None, left: Scope, right: Scope) -> list[tuple[Node, Node]]:
        """Return what ON compares: an expression of the left, and a column of the right."""
        node = node or {}
        parts = [node]
        if node.get("type") == "CONJUNCTION_AND":
            self.only(node, "children")
            parts = node["children"]
        pairs = list[tuple[Node, Node]]()
        for some in parts:
            sides = (some.get("left") or {}, some.get("right") or {})
            for one, other in (sides, sides[::-1]):
                is_right = other.get("class") == "COLUMN_REF" and right.has([other]) and not left.has([other])
                if some.get("type") == "COMPARE_EQUAL" and is_right and left.has(column_nodes(one)):
                    self.only(some, "left", "right")
                    pairs.append((one, other))
                    break
        if not pairs or len(pairs) < len(parts):
            self.refuse("joins on another condition than equal columns", "each row comes from one record",
                        "ON a.id = b.id, with the tables' names before columns; other conditions in WHERE")  # fmt: skip
        return pairs


def judged(
    tree: Node, key: str, rows: Rows, kinds_of: Callable[[Node], Sequence[str]] | None = None
) -> tuple[Cells, Judge]:
    """Return the cells that an expression over some rows comes from, and its judge with the checks of its rows."""
    judge = Judge(key, kinds_of=kinds_of)
    return judge.value(tree, Scope((("", rows),), tree)), judge


def _numbered(order: Node, rows: Rows) -> Cells:
    """Return the cells of the column whose number ORDER BY names."""
    text = str((order.get("literal") or {}).get("text", ""))
    number = int(text) if text.isdecimal() else 0
    return rows.columns[number - 1][1] if 0 < number <= len(rows.columns) else NOTHING


def _is_plain_name(node: Node, name: str) -> bool:
    """Return whether a function, type or table is called by its name alone."""
    return bool(node.get("qualified_name") == {"path": [node.get(name)]})


def _checks_of_join(node: Node, pairs: list[tuple[Node, Node]]) -> list[Check]:
    """Return that the right has one row a key, and that keys are of one type: 7 is equal to 07 and to 7."""
    every = parsed("from x", "sql")
    keys = ", ".join(identifier(other["column_names"][-1]) for _, other in pairs)
    right = text_of({**every, "from_table": node["right"]})
    checks = [Check(
        f"select 1 from ({right}) group by {keys} having count(*) > 1 limit 1",
        "joins a table with two rows of one key", "a record goes into one row",
        "the table after JOIN has one row for each value of what ON compares",
    )]  # fmt: skip
    for one, other in pairs:
        kinds = list[str]()
        for side, key in (("left", one), ("right", other)):
            keys_of_side = text_of({**every, "from_table": node[side], "select_list": [key]})
            kinds.append(f"(select typeof(columns(*)) as k from ({keys_of_side}) limit 1)")
        checks.append(Check(
            f"select 1 from {kinds[0]} a, {kinds[1]} b where a.k <> b.k", "joins columns of two types",
            "equal keys are written alike", "cast one of them in a step of WITH",
        ))  # fmt: skip
    return checks


def _name_of(name: object) -> str:
    return str(name[-1] if isinstance(name, list) else name.get("column", name) if isinstance(name, dict) else name)
