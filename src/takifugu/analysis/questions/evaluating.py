"""Private data as value indices of a belief's entries, and the exact answer, in whole grid units, that they give.

What is returned here goes into the noise and nowhere else. No message repeats a value, a position or a count of the
data: it names the rule that was broken and what the belief expects.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from takifugu.core import entries
from takifugu.core.arrays import IntArray
from takifugu.core.columns import has_columns, is_table, no_list, transposed, value_of, values_of
from takifugu.core.errors import DataError, InputError
from takifugu.core.registry import Question
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.domain import Data
from takifugu.model.queries import Additive
from takifugu.model.secrets.families import ABSENT
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.rationals import as_fraction

if TYPE_CHECKING:
    from takifugu.model.beliefs.records.parameters import Parameters
    from takifugu.model.beliefs.table import JointTable
    from takifugu.model.beliefs.users import IndependentUsers

#: Marks an entry that was not observed; it has weight 0.
MISSING = -1
#: Marks a variable that a record leaves out; no answer may read it.
LEFT_OUT = -2


def value_indices(belief: Belief | Data, data: object) -> IntArray:
    """Return the data as value indices, one per entry, MISSING or LEFT_OUT; raises DataError for others."""
    by_label = data if belief.names is None else _by_label(data)
    return VALUES.of(belief)(belief, by_label)


def misses(answer: Additive, values: IntArray) -> bool:
    """Return whether an entry was not observed, of those in an answer."""
    return values.ndim == 1 and bool(((values == MISSING) & (answer.weights != 0)).any())


def filled(answer: Additive, values: IntArray) -> IntArray:
    """Return a record's values with any value for what is left out and moves nothing; raises for what is read."""
    if values.ndim > 1 or not (values == LEFT_OUT).any():
        return values
    if ((values == LEFT_OUT) & (answer.entry_changes() != 0)).any():
        raise DataError(
            "the record leaves out a variable that the query reads", fix="give its value, or read others: entries=[...]"
        ).at("data")
    return np.where(values == LEFT_OUT, 0, values)


def evaluate(answer: Additive, values: IntArray) -> tuple[int, ...]:
    """Return the exact answer in grid units; unobserved entries add nothing."""
    if values.ndim > 1:  # whole columns of records, in which nothing is missing
        return answer.evaluate(values)
    observed = values != MISSING
    weights = np.where(observed, answer.weights, 0)
    return replace(answer, weights=weights).evaluate(np.where(observed, values, 0))


def row_answers(belief: JointTable, answer: Additive) -> IntArray:
    """Return the answer of every row of the table, in grid units."""
    total = np.zeros(len(belief.rows), dtype=np.int64)
    for entry in range(belief.size):
        if answer.weights[entry]:
            total += answer.contribution(entry)[belief.indices[:, entry], 0]
    return total


def one_number(data: object, rule: str) -> Fraction:
    """Return one finite number exactly; raises DataError, with the rule, for anything else."""
    try:
        return as_fraction(value_of(data), "the value")
    except (InputError, TypeError, ValueError):
        raise DataError("the value is not a finite number", rule=rule) from None


def number_given(data: object, laws: Iterable[Pmf]) -> Fraction:
    """Return a number possible under a law; DataError for any other."""
    value = one_number(data, "two distributions are compared on numbers")
    for law in laws:
        if value in law.values.tolist():
            return value
    raise DataError("the value has probability zero under both distributions", rule="the promise would not cover it")


def _one_sequence(belief: Belief, data: object) -> IntArray:
    """Return the values of one sequence, complete or shorter."""
    return _in_runs(belief, [(range(belief.size), data)])


def of_pieces(belief: Belief, data: object) -> IntArray:
    """Return the values of a sequence, maybe shorter, for each piece."""
    pieces, runs = _sequence(data, "the list of pieces"), belief.components()
    if len(pieces) != len(runs):
        raise DataError(f"the belief has {len(runs)} pieces", fix="give one sequence for each, in the same order")
    return _in_runs(belief, zip(runs, pieces, strict=True))


def _in_runs(belief: Belief, runs: Iterable[tuple[range, Hashable]]) -> IntArray:
    values = np.full(belief.size, MISSING, dtype=np.int64)
    number_of = _numbered(belief.alphabet(0))
    for run, piece in runs:
        states = _sequence(piece, "the sequence")
        if len(states) > len(run):
            raise DataError(
                f"the sequence is longer than the {len(run)} steps that the belief allows",
                fix="calibrate for its length",
            )
        values[run.start : run.start + len(states)] = _numbers(states, number_of)
    if (values == MISSING).all():
        raise DataError("the data is empty", rule="nothing can be released")
    return values


def of_people(belief: Belief, data: object) -> IntArray:
    """Return people's values, from all names or in the listed order."""
    if isinstance(data, Mapping):
        data = _by_name(data, belief, "the data must name exactly the people of the belief, each with a state")
    states = _sequence(data, "the sequence")
    if len(states) == belief.size:
        states = entries.arranged(belief, states)
    return _one_sequence(belief, states)


def of_columns(belief: Parameters, data: object) -> IntArray:
    """Return the values of records, shape (records, columns), from columns by name or rows in order."""
    columns = dict(zip(belief.columns, belief.record.alphabets, strict=True))
    if has_columns(data):
        if set(data if isinstance(data, Mapping) else data.columns) != set(columns):
            raise DataError(f"the data need exactly the columns {_words(columns)}")
        values_by_column = [_sequence(data[name], f"the column {name!r}") for name in columns]
    else:
        records = []
        for row in _sequence(data, "the list of records"):
            if isinstance(row, str) or not hasattr(row, "__len__") or len(row) != len(columns):
                raise DataError(f"each record needs one value for each of the columns {_words(columns)}, in this order")
            if not isinstance(row, Mapping):
                records.append(list(row))
            elif set(row) == set(columns):
                records.append([row[column] for column in columns])
            else:
                raise DataError(f"each record needs exactly the columns {_words(columns)}")
        values_by_column = transposed(records, len(columns))
    numbers = []
    for (name, states), values in zip(columns.items(), values_by_column, strict=True):
        if len(values) != belief.records:
            message = f"the belief is about {belief.records} records"
            raise DataError(message, fix="give as many, or calibrate for theirs")
        numbers.append(_column(name, values, states))
    return np.array(numbers, dtype=np.int64).T


def _column(name: str, values: Sequence[Hashable], states: Sequence[Hashable]) -> list[int]:
    number_of = _numbered(states)
    try:
        return list(map(number_of.__getitem__, values))
    except (KeyError, TypeError):
        message = f"the column {name!r} has a value that the belief does not know"
        raise DataError(message, fix=f"its states are {_words(states)}") from None


def _unregistered(belief: Belief, data: object) -> IntArray:
    """Return one sequence's values, or a record's under names or several alphabets."""
    if belief.names is None and belief.one_alphabet:
        return _one_sequence(belief, data)
    names = entries.listed(belief) or range(belief.size)
    if isinstance(data, Mapping):
        if set(data) != set(names):
            raise DataError(f"the record needs exactly the columns {_words(names)}")
        record: Sequence[object] = [data[name] for name in belief.names or names]
    else:
        record = _sequence(data, "the record")
        if len(record) != len(names):
            raise DataError(f"the record needs one value for each of the columns {_words(names)}, in this order")
        record = entries.arranged(belief, record)
    numbers = [_number(value, belief.alphabet(entry)) for entry, value in enumerate(record)]
    return np.array(numbers, dtype=np.int64)


def _by_label(data: object) -> object:
    """Return a named tuple or Series as a mapping, without order."""
    index = getattr(data, "_fields", getattr(data, "index", None))
    labels = [] if no_list(index) else values_of(index)
    if not labels or not all(isinstance(label, str) for label in labels):
        return data
    values = _sequence(data, "the record")
    if len(set(labels)) != len(labels) or len(labels) != len(values):
        return data
    return dict(zip(labels, values, strict=True))


def of_users(users: IndependentUsers, data: object) -> IntArray:
    """Return one value index per user; "absent" has one where it removes a user, not where it is unknown."""
    if isinstance(data, Mapping) and users.names is not None:
        data = _by_name(data, users, "the data must name exactly the users of the belief, each with a value")
    states = _sequence(data, "the list of users")
    if len(states) != users.size:
        raise DataError(f"the belief has {users.size} users", fix="give one value for each, in the same order")
    states = entries.arranged(users, states)
    number_of = []
    for letters in users.letters:
        number_of.append(_numbered(letters.values))
        if letters.absence == "removed":
            number_of[-1][ABSENT] = len(letters.values)
    try:
        if len(number_of) == 1:
            numbers = list(map(number_of[0].__getitem__, states))
        else:
            kinds = users.letters_of.tolist()
            numbers = [number_of[kind][state] for kind, state in zip(kinds, states, strict=True)]
    except (KeyError, TypeError):
        words = "; ".join(str(_words(of_kind)) for of_kind in number_of[:5])
        hint = ""
        if users.absence != "removed":
            hint = " (an absent user is counted too: give its value)"
        message = "a user has a value that the belief does not know"
        raise DataError(message, fix=f"the values are {words}{hint}") from None
    return np.array(numbers, dtype=np.int64)


def _by_name(data: Mapping[Any, object], belief: Belief, rule: str) -> list[object]:
    """Return values by name in the belief's order; raises DataError for other names."""
    if set(data) != set(belief.names or ()):
        raise DataError(rule)
    return [data[name] for name in entries.listed(belief) or ()]


def _sequence(data: object, title: str) -> list[Any]:
    if is_table(data):
        raise DataError(f"{title} is a table", fix="give one column of it, such as data['state']")
    if no_list(data) is not None:
        raise DataError(f"{title} is not a sequence", fix="give a list, a tuple, an array or a column")
    return values_of(data)


def _numbered(values: Iterable[Hashable]) -> dict[Hashable, int]:
    return {value: place for place, value in enumerate(values)}


def _numbers(states: Sequence[Hashable], number_of: Mapping[Hashable, int]) -> list[int]:
    """Return the index of each state; None is an entry without observation."""
    with_gaps = {**number_of, None: MISSING}
    try:
        return list(map(with_gaps.__getitem__, states))
    except (KeyError, TypeError):
        message = "the sequence has a value that is not a state of the belief"
        fix = f"its states are {_words(number_of)}, and None where nothing was observed"
        raise DataError(message, fix=fix) from None


def _number(value: object, alphabet: tuple[Hashable, ...]) -> int:
    try:
        return alphabet.index(value)
    except ValueError:
        if value is None:
            return LEFT_OUT
        message = "the record has a value that the belief does not know"
        raise DataError(message, fix=f"the column's values are {_words(alphabet)}") from None


def _words(values: Iterable[Hashable]) -> list[Hashable]:
    """Return values as they are written in Python, of many the first twenty: 0 is no "0"."""
    every = list(values)
    return every if len(every) <= 20 else [*every[:20], "..."]

#: (belief, data) -> value indices, by type of belief.
VALUES: Question[Callable[[Any, Any], IntArray]] = Question("how data are read", _unregistered)
