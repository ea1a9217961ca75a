"""The kinds of queries, ours and anybody else's, by the names that their plain data carry."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from typing import TypeGuard, get_args, get_type_hints

from takifugu.core.errors import InputError
from takifugu.core.plain import Plain
from takifugu.core.registry import Registry
from takifugu.model.queries.forms import Query
from takifugu.model.queries.sections import EACH_ROW, ENTRIES, IN_ORDER, POLICY, RECORDS, WHOLE_COLUMNS


def _check(kind: object, query: type) -> None:
    """Raise InputError for a type that is no query, or lacks what every query has."""
    missing = [name for name in ("resolve", "describe") if getattr(query, name, None) in (None, getattr(Query, name))]
    writes_itself = is_dataclass(query) or getattr(query, "to_dict", None) not in (None, Query.to_dict)
    if not issubclass(query, Query) or missing or not writes_itself:
        lack = ", ".join([*missing, *([] if writes_itself else ["to_dict"])])
        raise InputError(
            f"{query.__name__} {f'lacks {lack}' if lack else 'is no query'}",
            rule="a query is a frozen dataclass with resolve and describe",
            fix="derive it from takifugu.Query, and define them",
        ).at("query")


#: The class of every kind: `to_dict` writes the kind, and `from_dict` reads the query back.
KINDS: Registry[type[Query]] = Registry(
    "the query's kind",
    {
        "count": "model.queries.additive.counts:Count",
        "sum": "model.queries.additive.coded:Sum",
        "mean": "model.queries.additive.coded:Mean",
        "histogram": "model.queries.additive.counts:Histogram",
        "linear": "model.queries.additive.coded:Linear",
        "identity": "model.queries.additive.coded:Identity",
        "count-rows": "model.queries.tables.rows:CountRows",
        "together": "model.queries.tables.together:JointQuery",
        "statistic": "model.queries.tables.statistic:Statistic",
        "visitors": "model.queries.tables.visits:Visitors",
        "at-most": "model.queries.tables.visits:AtMost",
        "each-value": "model.queries.tables.each_value:LocalValue",
        "every-change": "model.queries.additive.counts:EveryChange",
        "by": "model.queries.tables.by:GroupBy",
        "cross-table": "model.queries.tables.cross_table:CrossTable",
        "quantile": "model.queries.choices.selection:Quantile",
        "top-k": "model.queries.choices.selection:TopK",
        "count-above": "model.queries.additive.counts:CountAbove",
    },
    _check,
)


def two_way_of(query: Plain, labels: Sequence[str]) -> tuple[tuple[str, str], ...] | None:
    """Return each cell's row and column from plain data, else None."""
    kind = KINDS.get(query.get("kind"))
    return None if kind is None else kind.two_way(query, labels)


def _check_section(name: object, section: object) -> None:
    """Raise InputError for a section of no use in release files."""
    if not is_dataclass(section) or not hasattr(section, "query_about") or not name_of(section):
        raise InputError(
            f"{section!r} is no section of a table",
            rule="it is a frozen dataclass with query: Literal[...] and query_about(belief, folder)",
        ).at("section")


_NUMBERS = {
    "histogram": "additive.counts:HistogramSection",
    "count": "additive.counts:CountSection",
    "sum": "additive.coded:SumSection",
    "mean": "additive.coded:MeanSection",
}
_CHOICES = {
    "median": "choices.selection:MedianSection",
    "quantile": "choices.selection:QuantileSection",
    "mode": "choices.selection:ModeSection",
    "top-k": "choices.selection:TopKSection",
    "count-above": "additive.counts:CountAboveSection",
}


def _of_rows(rows: str, sections: Mapping[str, str]) -> dict[str, str]:
    return {f"{rows} {name}": f"model.queries.{section}" for name, section in sections.items()}


#: The sections of tables to publish, by the shape of the data that they are about and the query's name.
SECTIONS: Registry[type] = Registry(
    "the table of a query",
    {
        **_of_rows(IN_ORDER, {**_NUMBERS, "linear": "additive.coded:LinearSection", **_CHOICES}),
        **_of_rows(RECORDS, {**_NUMBERS, "identity": "additive.coded:IdentitySection", **_CHOICES}),
        f"{WHOLE_COLUMNS} mean": "model.queries.tables.together:ColumnMeanSection",
        f"{WHOLE_COLUMNS} sum": "model.queries.tables.together:ColumnSumSection",
        f"{WHOLE_COLUMNS} linear": "model.queries.tables.together:ColumnLinearSection",
        f"{WHOLE_COLUMNS} count": "model.queries.tables.rows:ColumnCountSection",
        f"{WHOLE_COLUMNS} histogram": "model.queries.tables.cross_table:CrossTableSection",
        f"{WHOLE_COLUMNS} count-rows": "model.queries.tables.rows:CountRowsSection",
        f"{EACH_ROW} each-value": "model.queries.tables.each_value:EachValueSection",
        f"{POLICY} safe": "model.queries.tables.visits:SafeSection",
        f"{POLICY} visitors": "model.queries.tables.visits:VisitorsSection",
        f"{POLICY} count": "model.queries.tables.visits:PeopleCountSection",
    },
    _check_section,
)


def register(kind: str, query: type, section: type | None = None, rows: Sequence[str] = ENTRIES) -> None:
    """Let `from_dict` read a kind of query, and release files publish it.

    `query.to_dict()["kind"]` is `kind`. `section` is the frozen dataclass of its keys in [[table]]
    (`queries.sections`), for files about these `rows`. Raises InputError for a kind that is registered already, and for
    a type that lacks what every query has.
    """
    KINDS.register(kind, query)
    if section is None:
        return
    for shape in rows:
        _check_section(kind, section)
        SECTIONS.register(f"{shape} {name_of(section)}", section)


def names_of(rows: str) -> tuple[str, ...]:
    """Return the queries' names in release files, without loading any."""
    shape = f"{rows} "
    return tuple(name.removeprefix(shape) for name in SECTIONS.names if name.startswith(shape))


def sections_of(rows: str, names: Sequence[str] | None = None) -> dict[str, type]:
    """Return sections of tables by name, by default all of a shape."""
    if names is None:
        names = names_of(rows)
    return {name: SECTIONS.find(f"{rows} {name}") for name in names}


def name_of(section: object, key: str = "query") -> str:
    """Return a section's name: the only value of its first key."""
    (name,) = get_args(get_type_hints(section).get(key)) or ("",)
    return str(name)


def from_dict(data: Plain) -> Query:
    """Read a query back from its `to_dict` form."""
    return KINDS.find(data.get("kind")).from_dict(data)


def part_from_dict(data: Plain, may_be_part: Callable[[type[Query]], bool]) -> Query:
    """Read a query inside another one; what may not stand there is refused unread, however deep it goes on."""
    kind = KINDS.find(data.get("kind"))
    if not may_be_part(kind):
        raise InputError(f"a {kind.__name__} stands inside another query", fix="publish it by itself").at("query")
    return kind.from_dict(data)


def check_is_query(query: object) -> None:
    if not isinstance(query, Query):
        fix = "write for example Count('walking') or Histogram(); a query of your own derives from takifugu.Query"
        raise InputError(f"the query is {query!r}", fix=fix).at("query")


def is_registered(query: object) -> TypeGuard[Query]:
    """Return whether a query's own type, and none that it derives from, has the kind that it writes."""
    return isinstance(query, Query) and KINDS.has(_kind_of(query), type(query))


def _kind_of(query: Query) -> object:
    """Return the kind that a query writes down; nothing else is written for it if that follows from its type."""
    if type(query).to_dict is Query.to_dict:
        return query.kind or None
    return query.to_dict().get("kind")


def check(query: Query) -> None:
    """Raise InputError for a query impossible to keep."""
    check_is_query(query)
    _check(None, type(query))
    if is_registered(query):
        return
    kind = _kind_of(query)
    if kind in KINDS:
        raise InputError(
            f"a query of type {type(query).__name__} writes itself down as {kind!r}, which is another type",
            fix="register its type under a kind of its own, and write that in to_dict",
        )
    raise InputError(
        f"the query's kind {kind!r} is registered by nobody", rule="a ledger must be able to read it back",
        fix="call takifugu.model.queries.register(kind, type) where the type is defined",
    )  # fmt: skip
