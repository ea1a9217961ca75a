"""Secrets about columns as people write them, checked, and read back from plain data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from takifugu.core.columns import has_members, value_of
from takifugu.core.errors import InputError, within
from takifugu.core.plain import Plain
from takifugu.core.rules import list_of, members_of, pairs_of
from takifugu.model.secrets.properties import DatasetProperty, DistributionParameter, NamedFunction, Value
from takifugu.model.secrets.value_sets import reading, sets_of
from takifugu.numbers.rationals import Number, as_fraction, as_fractions, as_interval

#: The functions of one column that have a name; "share" is of the values that `of` lists.
FUNCTIONS = ("mean", "sum", "share")


def dataset_property(
    attribute: str | Iterable[str],
    function: str | Iterable[Number] | NamedFunction,
    max_difference: Number | Iterable[Number] | None = None,
    pairs: Iterable[tuple[Number, Number]] | None = None,
    sets: Iterable[object] | None = None,
    of: Value | Iterable[Value] | None = None,
) -> DatasetProperty:
    """Hide a property of the records at hand (Zhang22 Definition 3).

    Give at most one of `max_difference`, `pairs` and `sets`; without one, every two values are compared.

    Args:
        attribute: One sensitive column, or several.
        function: "mean", "sum" or "share", for several columns the vector of these; or one weight for each column; or a
            `NamedFunction`.
        max_difference: Largest difference of two values that are hidden from each other.
        pairs: The pairs of values to hide from each other.
        sets: Disjoint sets of values: pairs (low, high) of ends, None for no end, or lists of pairs or of values.
        of: The values that a "share" counts.

    Returns:
        The secret, for `Pufferfish`.

    Raises:
        InputError: For an unknown function, more than one of the three options, and sets that overlap.

    Examples:
        >>> dataset_property("income", "mean", sets=[(None, 50), (50, None)]).describe()
        "the mean of 'income' of the records at hand: below 50 or at least 50"
    """
    columns = _columns(attribute)
    checked_function = _function(function, columns, of)
    options = [name for name, value in (("max_difference", max_difference), ("pairs", pairs), ("sets", sets)) if value
             is not None]  # fmt: skip
    if len(options) > 1:
        raise InputError(f"the secret gives {' and '.join(options)}", fix="give one of them").at(options[1])
    values = None
    if of is not None:
        values = _different(of if isinstance(of, list | tuple | set) else [of], "of")
    vector = len(columns) if isinstance(checked_function, str) else 1
    return DatasetProperty(
        columns, checked_function, _differences(max_difference, vector), _pairs(pairs), sets_of(sets), values
    )


def distribution_parameter(
    attribute: str,
    values: Iterable[Value] | None = None,
    interval: tuple[Number, Number] | None = None,
    map: str | None = None,
    max_difference: Number | None = None,
) -> DistributionParameter:
    """Hide the parameter of a sensitive column in the population (Zhang22 Definition 4).

    Give values or an interval, not both.

    Args:
        attribute: The column.
        values: The parameter's values to hide from each other, two or more.
        interval: The ends (low, high) of the parameter.
        map: "mean" or "variance", under a normal belief; None for the mean, or for the parameter itself.
        max_difference: Largest difference of two values that are hidden from each other.

    Returns:
        The secret, for `Pufferfish`.

    Raises:
        InputError: For values beside an interval, fewer than two values, and an empty interval.

    Examples:
        >>> distribution_parameter("smoker", interval=("0.1", "0.4")).describe()
        "the parameter of 'smoker' in the population, from 0.1 to 0.4"
    """
    if not isinstance(attribute, str):
        raise InputError(f"the column is {attribute!r}", rule="a parameter governs one column").at("attribute")
    different_values = None
    if values is not None:
        every = members_of(values, "the values", "values", "[0, 1]")
        different_values = _different(every, "values")
    if different_values is not None and (interval is not None or len(different_values) < 2):
        raise InputError(
            f"the secret compares the parameters {list(different_values)}",
            rule="it compares two values or more, or all numbers of an interval", fix="give one of both",
        ).at("values")  # fmt: skip
    most = None
    if max_difference is not None:
        (most,) = _differences(max_difference, 1) or (None,)
    if interval is None:
        return DistributionParameter(attribute, different_values, None, map, most)
    return DistributionParameter(attribute, None, as_interval(interval, "the interval", "interval"), map, most)


def property_from(data: Plain) -> DatasetProperty:
    """Read a dataset property back; this process must have defined its named function."""
    function = data["function"]
    if isinstance(function, Mapping):
        with within("function"):
            function = NamedFunction.from_dict(function)
    sets = data.get("sets")
    if sets is not None:
        sets = list(map(reading, sets))
    return dataset_property(
        data["columns"], function, data.get("max_difference"), data.get("pairs"), sets, data.get("of")
    )


def parameter_from(data: Plain) -> DistributionParameter:
    """Read a distribution parameter back."""
    return distribution_parameter(
        data["column"], data.get("values"), data.get("interval"), data.get("map"), data.get("max_difference")
    )


def _columns(attribute: str | Iterable[str]) -> tuple[str, ...]:
    names = [attribute] if isinstance(attribute, str) else attribute
    columns = tuple(list_of(names, "the columns", "attribute", "['age', 'sex']", any_order=True))
    if not columns or not all(isinstance(c, str) for c in columns) or len(set(columns)) != len(columns):
        raise InputError(
            f"the columns are {list(columns)}", rule="they are one or more names, each once"
        ).at("attribute")
    return columns


def _function(function: object, columns: tuple[str, ...], of: object) -> str | tuple[Fraction, ...] | NamedFunction:
    if isinstance(function, NamedFunction):
        return function
    if isinstance(function, str):
        if function not in FUNCTIONS:
            raise InputError(
                f"the function is {function!r}", fix=f"write one of {list(FUNCTIONS)}, weights, or NamedFunction(...)"
            ).at("function")
        if (function == "share") != (of is not None) and function == "mean":
            raise InputError("a mean is of numbers, and `of` names values", fix="write function='share'").at("of")
        return function
    if callable(function) or not has_members(function):
        raise InputError(
            "a function of a column needs a name and a version, so that a ledger can write it down",
            fix="write NamedFunction('range', 1, lambda values: ...)",
        ).at("function")
    weights = as_fractions(function, "a weight", "function")
    if len(weights) != len(columns) or not any(weights):
        raise InputError(
            f"the function has {len(weights)} weights for {len(columns)} columns",
            rule="it needs one per column, not all 0",
        ).at("function")
    return weights


def _different(values: Iterable[Any], key: str) -> tuple[Value, ...]:
    """Return values, each once; InputError for a list among them, which is never equal to what data hold."""
    try:
        return tuple(dict.fromkeys(map(value_of, values)))
    except TypeError:
        raise InputError(
            "a value that is compared is a list", rule="it is a number or a text", fix=f"write {key}=[0, 1]"
        ).at(key) from None


def _differences(differences_given: object, cells: int) -> tuple[Fraction, ...] | None:
    if differences_given is None:
        return None
    if isinstance(differences_given, list | tuple):
        each_difference = differences_given
    else:
        each_difference = [differences_given] * cells
    differences = as_fractions(each_difference, "max_difference", "max_difference")
    if len(differences) != cells or min(differences) <= 0:
        raise InputError(
            f"max_difference is {differences_given!r}", rule=f"it is a number above 0, or one for each of {cells}"
        ).at("max_difference")
    return differences


def _pairs(pairs: Iterable[tuple[Number, Number]] | None) -> tuple[tuple[Fraction, Fraction], ...] | None:
    if pairs is None:
        return None
    every = pairs_of(pairs, "the pairs", "pairs", "[(0, 1)]")
    pairs_read = tuple((as_fraction(a, "a value", "pairs"), as_fraction(b, "a value", "pairs")) for a, b in every)
    if not pairs_read or any(a == b for a, b in pairs_read):
        raise InputError("the secret compares no two different values", fix="give pairs such as [(0, 1)]").at("pairs")
    return pairs_read
