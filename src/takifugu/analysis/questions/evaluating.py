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

from takifugu.analysis.questions.dispatch import Question
from takifugu.core import entries
from takifugu.core.errors import DataError, InputError
from takifugu.core.lists import has_columns, is_table, listed_array, no_list, value_of, values_of
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.domain import Data
from takifugu.model.queries import Additive, IntArray
from takifugu.model.secrets.families import ABSENT
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.rationals import as_fraction

if TYPE_CHECKING:
    from takifugu.model.beliefs.records.parameters import Parameters
    from takifugu.model.beliefs.users import IndependentUsers

#: Marks an entry that was not observed; it has weight 0.
MISSING = -1


def value_indices(belief: Belief | Data, data: object) -> IntArray:
    """Return the data as value indices, one per entry of the belief, MISSING where an entry was not observed.

    `data` are what `VALUES` has registered for the type of belief, by default a record (a mapping, or values in the
    listed order) where entries have names, and else a sequence of states, which may be shorter than the belief.

    Raises DataError for data that the belief does not know.

    >>> from takifugu import MarkovChain
    >>> value_indices(MarkovChain([[0.9, 0.1], [0.4, 0.6]], 3, states=["still", "walking"]), ["walking", "still"])
    array([ 1,  0, -1])
    """
    return VALUES.of(belief)(belief, data if belief.names is None else _by_label(data))


def misses(answer: Additive, values: IntArray) -> bool:
    """Whether an entry that the answer reads was not observed."""
    return values.ndim == 1 and bool(((values == MISSING) & (answer.weights != 0)).any())


def evaluate(answer: Additive, values: IntArray) -> tuple[int, ...]:
    """Return the exact answer in grid units; entries that were not observed add nothing."""
    if values.ndim > 1:  # whole columns of records, in which nothing is missing
        return answer.evaluate(values)
    observed = values != MISSING
    return replace(answer, weights=np.where(observed, answer.weights, 0)).evaluate(np.where(observed, values, 0))


def number_given(data: object, laws: Iterable[Pmf]) -> Fraction:
    """Return a number that one of the given laws may draw; raises DataError for any other."""
    try:
        value = as_fraction(value_of(data), "the value")
    except (InputError, TypeError, ValueError):
        raise DataError("the value is not a finite number", rule="two distributions are compared on numbers") from None
    if not any(value == atom for law in laws for atom in law.values.tolist()):
        raise DataError(
            "the value has probability zero under both distributions", rule="the promise would not cover it"
        )
    return value


def _one_sequence(belief: Belief, data: object) -> IntArray:
    """Return the values of one sequence, as long as the belief or shorter."""
    return _in_runs(belief, [(range(belief.size), data)])


def of_pieces(belief: Belief, data: object) -> IntArray:
    """Return the values of sequences, one for each independent piece, each as long as its piece or shorter."""
    pieces, runs = _sequence(data, "the list of pieces"), belief.components()
    if len(pieces) != len(runs):
        raise DataError(f"the belief has {len(runs)} pieces", fix="give one sequence for each, in the same order")
    return _in_runs(belief, zip(runs, pieces, strict=True))


def _in_runs(belief: Belief, runs: Iterable[tuple[range, Hashable]]) -> IntArray:
    values = np.full(belief.size, MISSING, dtype=np.int64)
    place = {state: index for index, state in enumerate(belief.alphabet(0))}
    for run, piece in runs:
        states = _sequence(piece, "the sequence")
        if len(states) > len(run):
            raise DataError(
                f"the sequence is longer than the {len(run)} steps that the belief allows",
                fix="calibrate for its length",
            )
        values[run.start : run.start + len(states)] = _places(states, place)
    if (values == MISSING).all():
        raise DataError("the data is empty", rule="nothing can be released")
    return values


def of_people(belief: Belief, data: object) -> IntArray:
    """Return the values of people of one alphabet: a mapping of all their names, or states in the listed order."""
    if isinstance(data, Mapping):
        if set(data) != set(belief.names or ()):
            raise DataError("the data must name exactly the people of the belief, each with a state")
        data = [data[name] for name in entries.listed(belief) or ()]
    data = _sequence(data, "the sequence")
    return _one_sequence(belief, entries.arranged(belief, data) if len(data) == belief.size else data)


def of_columns(belief: Parameters, data: object) -> IntArray:
    """Return the values of records, shape (records, columns): a column of values for each name, or rows in order.

    A frame is columns by name; rows are mappings of exactly the columns, or their values in the belief's order.
    """
    columns = {column.name: column.states for column in belief.described}
    if has_columns(data):
        named = data if isinstance(data, Mapping) else {name: data[name] for name in data.columns}
        if set(named) != set(columns):
            raise DataError(f"the data need exactly the columns {_listed(columns)}")
        listed = [_sequence(named[name], f"the column {name!r}") for name in columns]
    else:
        rows = _sequence(data, "the list of records")
        if any(not hasattr(row, "__len__") or len(row) != len(columns) or isinstance(row, str) for row in rows):
            raise DataError(f"each record needs one value for each of the columns {_listed(columns)}, in this order")
        if any(isinstance(row, Mapping) and set(row) != set(columns) for row in rows):
            raise DataError(f"each record needs exactly the columns {_listed(columns)}")
        records = [[row[name] for name in columns] if isinstance(row, Mapping) else list(row) for row in rows]
        listed = [[row[place] for row in records] for place in range(len(columns))]
    if any(len(values) != belief.records for values in listed):
        raise DataError(f"the belief is about {belief.records} records", fix="give as many, or calibrate for theirs")
    numbers = [_column(name, values, states) for (name, states), values in zip(columns.items(), listed, strict=True)]
    return np.array(numbers, dtype=np.int64).T


def _column(name: str, values: Sequence[Hashable], states: Sequence[Hashable]) -> list[int]:
    place = {state: index for index, state in enumerate(states)}
    try:
        return [place[value] for value in values]
    except (KeyError, TypeError):
        raise DataError(
            f"the column {name!r} has a value that the belief does not know", fix=f"its states are {_listed(place)}"
        ) from None


def _record(belief: Belief, data: object) -> IntArray:
    """Return the values of one record: a mapping of exactly the names, or values in the listed order."""
    names = entries.listed(belief) or range(belief.size)
    if isinstance(data, Mapping):
        if set(data) != set(names):
            raise DataError(f"the record needs exactly the columns {_listed(names)}")
        record: Sequence[object] = [data[name] for name in belief.names or names]
    else:
        record = _sequence(data, "the record")
        if len(record) != len(names):
            raise DataError(f"the record needs one value for each of the columns {_listed(names)}, in this order")
        record = entries.arranged(belief, record)
    return np.array([_place(value, belief.alphabet(i)) for i, value in enumerate(record)], dtype=np.int64)


def _unregistered(belief: Belief, data: object) -> IntArray:
    """Return the values of one sequence where entries have no names and one alphabet, else of one record."""
    sequence = belief.names is None and belief.one_alphabet
    return _one_sequence(belief, data) if sequence else _record(belief, data)


def _by_label(data: object) -> object:
    """Return a row with labels (a named tuple, a pandas Series with names) as a mapping: its order means nothing."""
    labels = listed_array(data._fields if hasattr(data, "_fields") else getattr(data, "index", None))
    if not isinstance(labels, list | tuple) or not labels or not all(isinstance(label, str) for label in labels):
        return data
    values = _sequence(data, "the record")
    return dict(zip(labels, values, strict=True)) if len(set(labels)) == len(labels) == len(values) else data


def of_users(users: IndependentUsers, data: object) -> IntArray:
    """Return one value index per user; "absent" has one where it removes the user, not where it means "unknown"."""
    if isinstance(data, Mapping) and users.names is not None:
        if set(data) != set(users.names):
            raise DataError("the data must name exactly the users of the belief, each with a value")
        data = [data[name] for name in entries.listed(users) or ()]
    states = _sequence(data, "the list of users")
    if len(states) != users.size:
        raise DataError(f"the belief has {users.size} users", fix="give one value for each, in the same order")
    states = entries.arranged(users, states)
    places = [{value: i for i, value in enumerate(user.values)} for user in users.letters]
    for place, user in zip(places, users.letters, strict=True):
        if user.absence == "removed":
            place[ABSENT] = len(user.values)
    try:
        if len(places) == 1:
            return np.array([places[0][state] for state in states], dtype=np.int64)
        whose = users.letters_of.tolist()
        return np.array([places[n][state] for n, state in zip(whose, states, strict=True)], dtype=np.int64)
    except (KeyError, TypeError):
        listed = "; ".join(str(_listed(place)) for place in places[:5])
        hint = "" if users.absence == "removed" else " (an absent user is counted too: give its value)"
        raise DataError(
            "a user has a value that the belief does not know", fix=f"the values are {listed}{hint}"
        ) from None


def _sequence(data: object, what: str) -> list[Any]:
    if is_table(data):
        raise DataError(f"{what} is a table", fix="give one column of it, such as data['state']")
    if no_list(data) is not None:
        raise DataError(f"{what} is not a sequence", fix="give a list, a tuple, an array or a column")
    return values_of(data)


def _places(states: Sequence[Hashable], place: Mapping[Hashable, int]) -> list[int]:
    """Return the index of each state; None is an entry that was not observed."""
    try:
        return [MISSING if s is None else place[s] for s in states]
    except (KeyError, TypeError):
        raise DataError(
            "the sequence has a value that is not a state of the belief", fix=f"its states are {_listed(place)}"
        ) from None


def _place(value: object, alphabet: tuple[Hashable, ...]) -> int:
    try:
        return alphabet.index(value)
    except ValueError:
        raise DataError(
            "the record has a value that the belief does not know", fix=f"the column's values are {_listed(alphabet)}"
        ) from None


def _listed(known: Iterable[Hashable]) -> list[str]:
    names = [str(k) for k in known]
    return names if len(names) <= 20 else [*names[:20], "..."]


#: (belief, data) -> value indices, by type of belief.
VALUES: Question[Callable[[Any, Any], IntArray]] = Question(
    "how data are read",
    {
        "model.beliefs.users:IndependentUsers": "analysis.questions.evaluating:of_users",
        "model.beliefs.contacts:CliqueInfection": "analysis.questions.evaluating:of_people",
        "model.beliefs.chains.pieces:IndependentPieces": "analysis.questions.evaluating:of_pieces",
        "model.beliefs.records.parameters:Parameters": "analysis.questions.evaluating:of_columns",
        "model.beliefs.records.parameter_box:ParameterBox": "analysis.questions.evaluating:of_columns",
        "model.beliefs.populations:FromPopulations": "analysis.questions.coded_rows:of_rows",
        "model.beliefs.records.records:Records": "analysis.questions.reading_records:of_records",
        "model.beliefs.records.normal:MultivariateNormal": "analysis.questions.real_columns:of_columns",
        "model.beliefs.density:Density": "analysis.questions.real_columns:of_number",
        "model.policies.places:Visits": "model.policies.places:counts_of",
    },
    default=_unregistered,
)
