"""A source opened: a relation whose columns are the roles that the keys declare, each judged before it is computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import chain
from pathlib import Path

from takifugu.core.errors import InputError, TakifuguError, gathered, raise_gathered
from takifugu.core.nearest import spelt_alike
from takifugu.data.relation.keys import LASTING, Column, Source, key_of
from takifugu.data.relation.lost_states import Computed, followed
from takifugu.data.relation.opening import WRITTEN, Opening
from takifugu.data.relation.relation import Relation, types_of, view
from takifugu.data.sql.faults import wrong_data, wrong_key
from takifugu.data.sql.judge import judged
from takifugu.data.sql.rules import check_dependence
from takifugu.data.sql.scopes import Cell, Cells, together
from takifugu.data.sql.tree import Node, column_node, expression, parsed, replaced, text_of, with_texts
from takifugu.data.sql.words import identifier, literal

_DAY = 86_400 * 10**6
#: DuckDB's type of a column of a frame that has no value.
_NOTHING = '"NULL"'
#: The relation of the roles, with the number of each row as "row", which DuckDB computes where it is asked for.
SOURCE = "takifugu source"


@dataclass(frozen=True)
class Role:
    """A role as SQL over the columns of the file, its cells, its text in the reading, and DuckDB's type of it."""

    sql: str
    cells: Cells = field(repr=False)
    text: str
    #: It in messages, to be pasted: a column's name as SQL has it, an expression as its owner wrote it.
    written: str
    type: str


@dataclass(frozen=True, eq=False)
class Opened:
    """An opened source: `relation` has a column for each role, by the role's name; values are value0, value1, ..."""

    source: Source
    relation: Relation
    roles: Mapping[str, Role]
    kind: str
    split: str = ""
    sql: str = ""
    filters: Cells = field(default_factory=dict, repr=False)
    #: Where coverage is declared `sql` may leave rows out by what is hidden: that there are none is then no fault.
    hides_rows: bool = False
    #: So may `where`: these rows stay, without a state, and the rules about rows hold for them, too.
    keeps_left_out: bool = False
    #: What is computed for each value.
    computed: Mapping[str, Sequence[Computed]] = field(default_factory=dict, repr=False)

    @property
    def leaves_by_value(self) -> bool:
        """Return whether a step has no state by what is hidden, as `where` or `sql` leaves its row out."""
        has_steps = self.source.rows not in ("answers", "visits") and self.source.default_state is None
        return has_steps and (self.hides_rows or self.keeps_left_out)

    def type(self, role: str) -> str:
        """Return DuckDB's type of a role, "" without one."""
        return self.roles[role].type if role in self.roles else ""

    @property
    def public(self) -> tuple[str, ...]:
        """Return the roles of public columns beside the values."""
        return tuple(name for name in self.roles if name.startswith("by"))

    @property
    def reader(self) -> str:
        """What a SELECT reads in the place of the file; "" where a table has another name than its file."""
        file = literal(str(self.source.file))
        if self.split:
            codec = f"encoding = {literal(self.source.encoding)}, " if self.source.encoding else ""
            return f"read_csv({file}, delim = {literal(self.split)}, {codec}all_varchar = true)"
        return f"read_parquet({file})" if self.kind == "parquet" else ""

    @property
    def instead(self) -> str:
        """What follows a SELECT to be pasted."""
        return f" in place of file{' and encoding' if self.source.encoding else ''}" if self.reader else ""

    @property
    def rows_read(self) -> str:
        """What a SELECT of the same rows reads; `...` where nothing tells it."""
        return self.reader or ("..." if self.source.sql is None else f"({self.source.sql})")

    def as_text(self, role: str) -> str:
        """Return a role as SQL of a text, to be pasted."""
        written = self.roles[role].written
        return written if self.type(role) == "VARCHAR" else f"cast({written} AS varchar)"

    def words(self) -> dict[str, str]:
        """Return how messages call the roles: as SQL that can be pasted."""
        absent = dict.fromkeys(("where", "unit", "recording", "order", "end"), "-")
        words = absent | {name: role.written for name, role in self.roles.items()}
        words |= {name: self.roles[name].text for name in self.public}
        values = [f"value{number}" for number, _ in enumerate(self.source.values)]
        words["value"], words["text"] = ", ".join(map(words.__getitem__, values)), ", ".join(map(self.as_text, values))
        is_stepped = self.source.order is not None and self.source.step is not None
        words["bucket"] = self._bucket(words["order"]) if is_stepped else ""
        when = words["bucket"] if self.source.rows == "events" else words["order"]
        of_row = [words[name] for name in ("unit", "recording") if name in self.roles]
        words["row"] = ", ".join([*of_row, when])
        return words | {"rows": self.rows_read, "instead": self.instead}

    def _bucket(self, order: str) -> str:
        """Return the step in which a time lies; texts are times or whole numbers then."""
        source, kind = self.source, "bigint"
        if source.is_time:
            kind = "timestamp" if source.zone is None else "timestamptz"
        when = f"cast({order} AS {kind})" if self.type("order") == "VARCHAR" else order
        rest = (source.origin or 0) % source.width
        if not source.is_time:
            step = f"{source.width} * {source.width}"
            return f"({when} - {rest}) // {step} + {rest}" if rest else f"{when} // {step}"
        start = ""
        if rest or _DAY % source.width:  # steps are counted from 1970 on, buckets from a Monday
            first = datetime(1970, 1, 1, tzinfo=None if source.zone is None else UTC) + timedelta(microseconds=rest)
            start = f", {kind} '{first}'"
        return f"time_bucket(INTERVAL '{source.width // 10**6} s', {when}{start})"


def open_source(
    source: Source, root: str | Path, folder: str, frame: object = None, public: Sequence[str] = (),
    threads: int = 2,
) -> Opened:  # fmt: skip
    """Open a source in a private folder, with paths from `root` on; nothing but its first lines is read."""
    if source.file is None and source.sql is None and frame is None:
        raise wrong_key("file", "neither file nor sql is declared", "", 'file = "x.csv"')
    if frame is not None and source.file is not None:
        raise wrong_key("file", "a file is declared, and a frame given", "rows come from one of them", "leave one out")
    if source.value is None:
        raise wrong_key("value", "value is not declared", "it is what is published", 'value = "state"')
    declared = [(name, getattr(source, name)) for name in ("unit", "recording", "order", "end", "where")]
    wanted = [(name, text) for name, text in declared if text is not None]
    wanted += [(f"value{number}", text) for number, text in enumerate(source.values)]
    wanted += [(f"by{number}", text) for number, text in enumerate(public)]
    try:
        with Opening(wanted, Path(root), folder, source.file, source.sql, source.encoding, threads=threads) as opening:
            return _opened(opening, opening.take(frame), source)
    except RecursionError:
        raise wrong_key("sql", "sql is nested too deeply", "it is short enough to be reviewed", "WITH") from None


def _opened(opening: Opening, relation: Relation, source: Source) -> Opened:
    """Return the opened source, its roles judged."""
    roles, faults = dict[str, Role](), list[TakifuguError]()
    for name, text in opening.wanted:
        with gathered(faults):
            roles[name] = _role(opening, name, text, relation.types)
            if roles[name].type == _NOTHING:  # that all is missing is no fault; an end is read as its start is
                kind = roles["order"].type if name == "end" and "order" in roles else "VARCHAR"
                roles[name] = replace(roles[name], sql=f"cast({roles[name].sql} AS {kind})", type=kind)
            # a row that lasts may reach into the calendar from before it, so what a date takes away is an entry's value
            if name == "where" and roles[name].written == text and source.rows not in LASTING:
                when = together(*(roles[role].cells for role in ("order", "end") if role in roles))
                roles[name] = replace(roles[name], text=_without_ends(opening, source, when))
    raise_gathered(faults)
    of_values = {name: role for name, role in roles.items() if name.startswith("value")}
    values = together(*(role.cells for role in of_values.values()))
    cells = {name: role.cells for name, role in roles.items() if not name.startswith("value")}
    check_dependence(
        cells | {"value": values}, opening.rows.filters, opening.rows.is_distinct, source.is_covered,
        source.rows != "answers" or source.unit is not None,
        source.rows, {} if source.rows_per_person is None else opening.rows.order,
    )  # fmt: skip
    opening.refuse_long_texts(together(values, *cells.values(), opening.rows.filters))
    hidden = frozenset(values if source.is_covered and not source.is_public else ())
    keeps_left_out = source.rows != "answers" and not cells.get("where", {}).keys().isdisjoint(hidden)
    deciding = together(opening.rows.filters, {} if keeps_left_out else cells.get("where", {}))
    hides_rows = not deciding.keys().isdisjoint(hidden)
    condition = f"coalesce({roles['where'].sql}, true)" if "where" in roles else "true"
    if keeps_left_out:
        condition = _public_part(opening, str(source.where), hidden)
    listed = ", ".join(f"{_where_decided(roles, name)} as {identifier(name)}" for name in roles)
    number = identifier("takifugu row")  # a file may have a column called row
    numbered = f"select *, row_number() over () as {number} from {identifier(WRITTEN)}"
    view(opening.connection, SOURCE, f'select {listed}, {number} as "row" from ({numbered}) where {condition}', "value")
    for name, text in sorted(opening.wanted, key=lambda one: one[0] != "where"):  # by which the rows of others count
        if text not in relation.types:
            relation.alone[key_of(name)] = f"select count({identifier(name)}) from {identifier(SOURCE)}"
    filters = opening.rows.filters
    return Opened(
        source, relation, roles, opening.kind, opening.split, opening.sql, filters, hides_rows, keeps_left_out,
        _ways(opening, source, of_values),
    )  # fmt: skip


def _where_decided(roles: Mapping[str, Role], name: str) -> str:
    """Return the SQL of a role, which is not computed in rows of which `where` is neither true nor false."""
    role, where = roles[name], roles.get("where")
    if where is None or where is role or role.sql == role.written:
        return role.sql
    return f"CASE WHEN {where.sql} IS NOT NULL THEN {role.sql} END"


def _ways(opening: Opening, source: Source, values: Mapping[str, Role]) -> dict[str, list[Computed]]:
    """Return what is computed for each value: by `value`, and by `sql` of the same columns."""
    named = dict(opening.rows.columns)
    of_values = [column_node(text) if text in named else expression(text, "value") for text in source.values]
    tried = followed([*((name, node) for name, node, _ in opening.computed), *(("", node) for node in of_values)])
    ways = dict[str, list[Computed]]()
    for (name, role), text, of_value in zip(values.items(), source.values, tried[len(opening.computed) :], strict=True):
        judged_nodes = zip(tried, opening.computed, strict=False)
        hidden = chain(*(nodes for nodes, (*_, cells) in judged_nodes if role.cells.keys() & cells))
        of_sql = [Computed("sql", node) for node in hidden if node not in of_value]
        key = "sql" if text in named else "value"
        way = [*of_sql, *(Computed(key, node, is_value=True) for node in of_value)]
        ways[name] = [one for one in way if one.node["class"] != "COLUMN_REF"]
    return ways


def _without_ends(opening: Opening, source: Source, when: Cells) -> str:
    """Return `where` with `$from` and `$until` in the parts, joined by AND, that ask when a row is."""
    # they take away steps before and behind the calendar; anywhere else a date decides what a row means
    ends = {text: f"${key}" for key in ("from", "until") if (text := source.text_of_date(key)) is not None}
    tree = expression(str(source.where), "where")
    moving = dict[int, Node]()
    for part, cells in _parts(opening, tree):
        if cells and cells.keys() <= when.keys():
            moving[id(part)] = with_texts(part, ends.get)
    return text_of(replaced(tree, lambda some: moving.get(id(some))))


def _parts(opening: Opening, tree: Node) -> list[tuple[Node, Cells]]:
    """Return the parts of `where` that are joined by AND, with the cells that each comes from."""
    parts = tree["children"] if tree["type"] == "CONJUNCTION_AND" else [tree]
    return [(part, judged(part, "where", opening.rows)[0]) for part in parts]


def _public_part(opening: Opening, where: str, hidden: Set[Cell]) -> str:
    """Return the parts of `where`, joined by AND, that name nothing hidden: they leave rows out as ever."""
    if where in dict(opening.rows.columns):
        return "true"
    parts = _parts(opening, expression(where, "where"))
    public = [part for part, cells in parts if cells.keys().isdisjoint(hidden)]
    return " and ".join(["true", *(f"coalesce({text_of(part)}, true)" for part in public)])


def check_truth(kind: str) -> None:
    """Raise InputError where `where` is of another type than a truth."""
    if kind != "BOOLEAN":
        fix = "where = \"Typ <> 'Summe'\""
        raise wrong_key("where", f"where holds {kind}", "it is true or false for each row", fix)


def _role(opening: Opening, name: str, text: str, types: Mapping[str, str]) -> Role:
    """Return a role, which is a column if it is the name of one, and else an expression."""
    key = key_of(name)
    if text in types:
        sql = display = written = identifier(text)
        cells = dict(opening.rows.columns)[text]
    elif isinstance(text, Column):
        what = f"the data has no column {text[:80]!r}{spelt_alike(text, types)}"
        raise wrong_data("file", what, "", "call a column so; AS renames one in sql")
    else:
        try:
            tree = expression(text, key)
        except InputError:
            near = spelt_alike(text, types)
            if not near:
                raise
            what = f"{key} names no column of the data{near}"
            raise wrong_key(key, what, "it is its exact name", "write it so") from None
        cells, judge = judged(tree, key, opening.rows, partial(opening.kinds_of, key=key))
        judge.refuse_clocks([tree], parsed(f"from {identifier(WRITTEN)}", "sql"))
        opening.keep(key, judge.checks)
        sql, written = f"({text_of(tree)})", text
        display = text_of(tree)
    kind = types.get(text) or types_of(opening.connection, f"select {sql} as x from {identifier(WRITTEN)}", key)["x"]
    if key == "where":
        check_truth(kind)
    return Role(sql, cells, display, written, kind)
