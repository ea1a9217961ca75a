"""Secrets and queries of a release file about whole columns, with the values that the belief knows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from takifugu.core.errors import InputError
from takifugu.model.queries import State
from takifugu.model.queries.sections import values_of
from takifugu.model.secrets import Secret
from takifugu.model.secrets.of_entries import every_entry
from takifugu.model.secrets.properties import dataset_property, distribution_parameter
from takifugu.releasing.file.attributes.sections import (
    OneRecordSpec,
    ParameterSpec,
    PropertySpec,
    SetSpec,
)  # fmt: skip

#: The values of each column of a finite distribution, by their texts; a column of numbers has none.
Known = Mapping[str, Mapping[str, State]]


def secret_of(given: PropertySpec | ParameterSpec | OneRecordSpec, hidden: Known) -> Secret:
    """Return what one section of [hide] hides; `hidden` are the values of columns, or of their parameters."""
    if isinstance(given, OneRecordSpec):
        return every_entry(given.attribute, given.max_difference)
    if isinstance(given, ParameterSpec):
        values = None if given.values is None else values_of(given.attribute, given.values, hidden, "values")
        return distribution_parameter(given.attribute, values, given.interval, given.map)
    columns = given.attribute if isinstance(given.attribute, tuple) else (given.attribute,)
    of: Any = given.of
    if of is not None and len(columns) == 1:
        of = values_of(columns[0], of, hidden, "of")
    sets = None if given.sets is None else [_set(one) for one in given.sets]
    return dataset_property(given.attribute, given.function, given.max_difference, given.pairs, sets, of)


def _set(given: SetSpec | tuple[State, ...]) -> Any:
    if not isinstance(given, SetSpec):
        return list(given)
    if given.at_least is None and given.below is None:
        raise InputError("a set of values has no end", fix="write below, at_least, or both").at("sets")
    return (given.at_least, given.below)
