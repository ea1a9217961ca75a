"""Secrets and queries of a release file about whole columns, with the values that the belief knows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from takifugu.core.errors import InputError, did_you_mean
from takifugu.model.queries import CountRows, CrossTable, Histogram, Linear, Mean, Query, State, Sum, Together
from takifugu.model.secrets import Secret, every_entry
from takifugu.model.secrets.properties import dataset_property, distribution_parameter
from takifugu.releasing.file.attributes.sections import (
    AttributeItemSpec,
    OneRecordSpec,
    ParameterSpec,
    PropertySpec,
    SetSpec,
)  # fmt: skip
from takifugu.releasing.file.records.reading import spelled

#: The values of each column of a finite distribution, by their texts; a column of numbers has none.
Known = Mapping[str, Mapping[str, State]]


def known_values(alphabets: Mapping[str, Iterable[State]]) -> Known:
    """Return the values of columns by their texts; InputError for two that are written alike."""
    return {name: spelled(alphabet) for name, alphabet in alphabets.items()}


def secret_of(given: PropertySpec | ParameterSpec | OneRecordSpec, hidden: Known) -> Secret:
    """Return what one section of [hide] hides; `hidden` are the values of columns, or of their parameters."""
    if isinstance(given, OneRecordSpec):
        return every_entry(given.attribute, given.max_difference)
    if isinstance(given, ParameterSpec):
        values = None if given.values is None else _meant_values(given.attribute, given.values, hidden, ("values",))
        return distribution_parameter(given.attribute, values, given.interval, given.map)
    columns = given.attribute if isinstance(given.attribute, tuple) else (given.attribute,)
    of: Any = given.of
    if of is not None and len(columns) == 1:
        of = _meant_values(columns[0], of if isinstance(of, tuple) else (of,), hidden, ("of",))
    sets = None if given.sets is None else [_set(one) for one in given.sets]
    return dataset_property(given.attribute, given.function, given.max_difference, given.pairs, sets, of)


def query_of(item: AttributeItemSpec, known: Known, columns: Sequence[str]) -> Query:
    """Return the query of one table; names of values become the belief's own."""
    if item.query == "count-rows":
        where = item.where or {}
        return CountRows({name: _meant_values(name, given, known, ("where", name)) for name, given in where.items()},
                         item.any_of)  # fmt: skip
    if item.query == "linear":
        given = item.weights or {}
        _check_columns([*given], columns, "weights")
        return Linear([given.get(name, 0) for name in columns], grid=item.grid)
    if item.by is not None:
        return _crossed(item, known, columns)
    named = item.attribute if isinstance(item.attribute, tuple) else (str(item.attribute),)
    _check_columns(named, columns, "attribute")
    if item.query in ("mean", "sum"):
        each = [_added(item, column, known.get(column, {})) for column in named]
        return each[0] if len(each) == 1 else Together(each, item.grid)
    if len(named) > 1:
        raise InputError(f"a {item.query} is of one column", fix="publish one table for each").at("attribute")
    states = None if item.states is None else _meant_values(named[0], item.states, known, ("states",))
    if item.query == "count":
        return CountRows({named[0]: states or ()})
    return Histogram(states, item.total, named)


def _crossed(item: AttributeItemSpec, known: Known, columns: Sequence[str]) -> CrossTable:
    """Return the counts of combinations: columns of `by`, then the attribute, of which only some `states` may count."""
    by, counted_columns = (() if given is None else (given,) if isinstance(given, str) else given
               for given in (item.by, item.attribute))  # fmt: skip
    _check_columns(by, columns, "by")
    _check_columns(counted_columns, columns, "attribute")
    if item.states is not None and len(counted_columns) != 1:
        raise InputError("the states are those of one attribute, and none is named", fix="leave them out").at("states")
    values = {name: tuple(known.get(name, {}).values()) for name in (*by, *counted_columns)}
    if len(values) < len(by) + len(counted_columns):
        raise InputError("a column is named twice", fix="name each once").at("by")
    real = next((name for name in values if name not in known), None)
    if real is not None:
        raise InputError(f"{real!r} holds real numbers, which have no cells", fix="publish a mean or a sum").at("by")
    if item.states is not None:
        values[counted_columns[0]] = _meant_values(counted_columns[0], item.states, known, ("states",))
    return CrossTable(values, item.total)


def _added(item: AttributeItemSpec, column: str, values: Mapping[str, State]) -> Query:
    codes = None if item.codes is None else {_value(text, values, ("codes",)): n for text, n in item.codes.items()}
    return (Sum if item.query == "sum" else Mean)(column, codes, None, item.grid)


def _set(given: SetSpec | tuple[Any, ...]) -> Any:
    if not isinstance(given, SetSpec):
        return list(given)
    if given.at_least is None and given.below is None:
        raise InputError("a set of values has no end", fix="write below, at_least, or both").at("sets")
    return (given.at_least, given.below)


def _check_columns(named: Sequence[str], columns: Sequence[str], key: str) -> None:
    for name in named:
        if name not in columns:
            raise InputError(
                f"the records have no column {name!r}{did_you_mean(name, columns)}",
                fix=f"write one of {list(columns)}",
            ).at(key)


def _meant_values(column: str, given: Any, known: Known, where: tuple[str, ...]) -> tuple[State, ...]:
    """Return the values that are meant as the belief has them; those of a column without a list stay as they are."""
    listed = given if isinstance(given, tuple) else (given,)
    return tuple(_value(one, known[column], where) for one in listed) if column in known else listed


def _value(given: Any, values: Mapping[str, State], where: tuple[str, ...]) -> State:
    if str(given) not in values:
        raise InputError(
            f"{given!r} is a value that the belief does not know{did_you_mean(given, values)}",
            fix=f"write one of {list(values)[:20]}",
        ).at(*where)
    return values[str(given)]
