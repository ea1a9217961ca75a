"""From private data to the exact answer, in whole grid units: the only place where both meet.

What is returned here goes into the noise and nowhere else. No message repeats a value, a position or a count of the
data: it names the rule that was broken and what the belief expects.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from takifugu import entries
from takifugu.beliefs import Belief
from takifugu.beliefs.contacts import CliqueInfection
from takifugu.beliefs.network import BayesianNetwork
from takifugu.beliefs.pair import LawPair
from takifugu.beliefs.pieces import IndependentPieces
from takifugu.beliefs.table import JointTable
from takifugu.beliefs.users import IndependentUsers
from takifugu.errors import DataError, InputError
from takifugu.frames import Piece
from takifugu.guarantee import Composition
from takifugu.laws.rationals import as_fraction
from takifugu.problem import Problem
from takifugu.queries import Mean
from takifugu.secrets import ABSENT

if TYPE_CHECKING:
    from takifugu.calibration import Calibration

#: Marks an entry that was not observed; it has weight 0.
MISSING = -1


@dataclass(frozen=True, eq=False)
class Counted:
    """The pieces of a chain's sequences, their entries counted by state where the rows are; private."""

    pieces: tuple[Piece, ...] = field(repr=False)


@dataclass(frozen=True, eq=False)
class Seen:
    """Private data that were read and are valid under the belief; nothing is computed from them yet.

    `data` are value indices, one per entry, or counted pieces, or for two distributions the number as given.
    """

    data: Any = field(repr=False)

    def digest(self) -> bytes:
        """Return a digest that data share only if they are equal; it goes into a keyed hash and nowhere else."""
        if not isinstance(self.data, Counted):
            held = self.data.tobytes() if isinstance(self.data, np.ndarray) else repr(self.data).encode()
            return hashlib.sha256(held).digest()
        found = hashlib.sha256()
        for piece in self.data.pieces:
            found.update(repr((piece.unit, piece.length, piece.observed, piece.counts.tolist())).encode())
        return found.digest()


def read(calibration: Calibration, data: Any) -> Seen:
    """Return the data as they enter the answer, so that every fault in them is found before anything is paid for.

    `data` is a sequence of states for a chain, a list of sequences for independent pieces (or their counts), a list of
    values (or a mapping of names) for users, a mapping or tuple for a record, a number for two distributions. Raises
    DataError for data that the belief does not know.
    """
    beliefs = calibration.framework.beliefs
    if isinstance(data, Counted):
        for _ in _read_of_pieces(calibration, data.pieces):
            pass
        return Seen(data)
    if isinstance(beliefs[0], LawPair):
        _number(calibration, data)
        return Seen(data.item() if hasattr(data, "item") else data)
    values = _indices(beliefs[0], data)  # the others agree with it on entries and values (frameworks.agreed)
    if ((values == MISSING) & (calibration.query.resolve(beliefs[0]).weights != 0)).any():
        _check_may_miss(calibration)
    return Seen(values)


def answer_of(calibration: Calibration, seen: Seen) -> tuple[int | Fraction, ...]:
    """Return the exact answer in grid units: integers, or for two distributions any rational; the noise rounds it."""
    belief, held = calibration.framework.beliefs[0], seen.data
    if isinstance(held, Counted):
        return _from_counts(calibration, held.pieces)
    if isinstance(belief, LawPair):
        return (_number(calibration, held),)
    answer, observed = calibration.query.resolve(belief), held != MISSING
    return replace(answer, weights=np.where(observed, answer.weights, 0)).evaluate(np.where(observed, held, 0))


def true_answer(calibration: Calibration, data: Any) -> tuple[int | Fraction, ...]:
    """Return the exact answer in grid units; raises DataError for data that the belief does not know."""
    return answer_of(calibration, read(calibration, data))


def _from_counts(calibration: Calibration, pieces: Sequence[Piece]) -> tuple[int, ...]:
    answer = calibration.query.resolve(calibration.framework.beliefs[0])
    total = np.zeros(answer.cells, dtype=np.int64)
    for piece, weight in _read_of_pieces(calibration, pieces):
        total += weight * (piece.counts @ answer.tables[0])
    return tuple(int(cell) for cell in total)


def _read_of_pieces(calibration: Calibration, pieces: Sequence[Piece]) -> Iterator[tuple[Piece, int]]:
    """Yield the pieces that a query reads with their weight: counts cannot distinguish entries of different weights."""
    belief = calibration.framework.beliefs[0]
    answer, runs = calibration.query.resolve(belief), belief.components()
    if [len(run) for run in runs] != [piece.length for piece in pieces] or answer.table_of is not None:
        raise DataError("the counts are of other sequences than the belief", fix="count the entries that it is about")
    for run, piece in zip(runs, pieces, strict=True):
        weights = answer.weights[run.start : run.stop]
        if piece.complete:
            weighed = weights
        else:
            seen = piece.weights() != 0
            if weights[~seen].any():
                _check_may_miss(calibration)
            weighed = weights[seen]
        if weighed.size and (weighed != weighed[0]).any():
            raise DataError("the query weighs entries differently, and counts do not", fix="give the entries")
        if weighed.size:
            yield piece, int(weighed[0])


def _check_may_miss(calibration: Calibration) -> None:
    """Entries that the query reads and the data lacks have weight 0: sound only where less weight needs less noise."""
    if calibration.guarantee.composition is Composition.SINGLE:
        raise DataError(
            f"the sequence is shorter than the belief or has gaps, and {calibration.mechanism} is valid for one "
            "length only",
            fix="calibrate at the actual length, with the entries that the query reads",
        )
    if isinstance(calibration.query, Mean):
        raise DataError(
            "the sequence is shorter than the belief or has gaps, and a mean divides by the belief's number of "
            "entries",
            fix="calibrate at the actual length, with the entries that the query reads",
        )


def _indices(belief: Belief, data: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the data as value indices, one per entry of the belief."""
    if belief.names is not None:
        data = _by_label(data)
    if isinstance(belief, JointTable | BayesianNetwork):
        return np.array([_place(v, belief.alphabet(i)) for i, v in enumerate(_record(belief, data))], dtype=np.int64)
    if isinstance(belief, IndependentUsers):
        return _user_indices(belief, data)
    if isinstance(belief, CliqueInfection) and isinstance(data, Mapping):
        if set(data) != set(belief.names):
            raise DataError("the data must name exactly the people of the belief, each with a state")
        data = [data[name] for name in entries.listed(belief) or ()]
    if isinstance(belief, CliqueInfection):
        data = _sequence(data, "the sequence")
        data = entries.arranged(belief, data) if len(data) == belief.size else data
    values = np.full(belief.size, MISSING, dtype=np.int64)
    place = {state: index for index, state in enumerate(belief.alphabet(0))}
    for run, piece in _pieces(belief, data):
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


def _by_label(data: Any) -> Any:
    """Return a row with labels (a named tuple, a pandas Series with names) as a mapping: its order means nothing."""
    labels: Any = data._fields if hasattr(data, "_fields") else getattr(data, "index", None)
    labels = labels.tolist() if hasattr(labels, "tolist") else labels
    if not isinstance(labels, list | tuple) or not labels or not all(isinstance(label, str) for label in labels):
        return data
    values = _sequence(data, "the record")
    return dict(zip(labels, values, strict=True)) if len(set(labels)) == len(labels) == len(values) else data


def _user_indices(users: IndependentUsers, data: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return one value index per user; "absent" has one where it removes the user, not where it means "unknown"."""
    if isinstance(data, Mapping) and users.names is not None:
        if set(data) != set(users.names):
            raise DataError("the data must name exactly the users of the belief, each with a value")
        data = [data[name] for name in entries.listed(users) or ()]
    states = _sequence(data, "the list of users")
    if len(states) != users.size:
        raise DataError(f"the belief has {users.size} users", fix="give one value for each, in the same order")
    states = entries.arranged(users, states)
    places = [{value: i for i, value in enumerate(found.values)} for found in users.letters]
    for place, found in zip(places, users.letters, strict=True):
        if found.absence == "removed":
            place[ABSENT] = len(found.values)
    try:
        if len(places) == 1:
            return np.array([places[0][state] for state in states], dtype=np.int64)
        whose = users.letters_of.tolist()
        return np.array([places[n][state] for n, state in zip(whose, states, strict=True)], dtype=np.int64)
    except (KeyError, TypeError):
        listed = "; ".join(str(_listed(place)) for place in places[:5])
        told = "" if users.absence == "removed" else " (an absent user is counted too: give its value)"
        raise DataError(
            "a user has a value that the belief does not know", fix=f"the values are {listed}{told}"
        ) from None


def _pieces(belief: Belief, data: Any) -> Iterable[tuple[range, Any]]:
    if not isinstance(belief, IndependentPieces):
        return [(range(belief.size), data)]
    pieces = _sequence(data, "the list of pieces")
    runs = belief.components()
    if len(pieces) != len(runs):
        raise DataError(f"the belief has {len(runs)} pieces", fix="give one sequence for each, in the same order")
    return zip(runs, pieces, strict=True)


def _sequence(data: Any, what: str) -> list[Any]:
    if isinstance(data, str | bytes | Mapping) or not hasattr(data, "__iter__"):
        raise DataError(f"{what} is not a sequence", fix="give a list, a tuple, an array or a column")
    for convert in ("to_pylist", "tolist", "to_list"):
        if hasattr(data, convert):
            values = getattr(data, convert)()
            return values if isinstance(values, list) else [values]
    return list(data)


def _places(states: Sequence[Any], place: Mapping[Any, int]) -> list[int]:
    """Return the index of each state; None is an entry that was not observed."""
    try:
        return [MISSING if s is None else place[s] for s in states]
    except (KeyError, TypeError):
        raise DataError(
            "the sequence has a value that is not a state of the belief", fix=f"its states are {_listed(place)}"
        ) from None


def _record(belief: JointTable | BayesianNetwork, data: Any) -> Sequence[Any]:
    names = entries.listed(belief) or ()
    if isinstance(data, Mapping):
        if set(data) != set(names):
            raise DataError(f"the record needs exactly the columns {_listed(names)}")
        return [data[name] for name in belief.names]
    record = _sequence(data, "the record")
    if len(record) != len(names):
        raise DataError(f"the record needs one value for each of the columns {_listed(names)}, in this order")
    return entries.arranged(belief, record)


def _place(value: Any, alphabet: tuple[Any, ...]) -> int:
    try:
        return alphabet.index(value)
    except ValueError:
        raise DataError(
            "the record has a value that the belief does not know", fix=f"the column's values are {_listed(alphabet)}"
        ) from None


def _number(calibration: Calibration, data: Any) -> Fraction:
    """Return the number itself in grid units: rounding it first would tell close distributions apart with certainty."""
    try:
        value = as_fraction(data.item() if hasattr(data, "item") else data, "the value")
    except (InputError, TypeError, ValueError):
        raise DataError("the value is not a finite number", rule="two distributions are compared on numbers") from None
    pairs = [b for b in calibration.framework.beliefs if isinstance(b, LawPair)]
    if not any(value == atom for b in pairs for law in (b.left, b.right) for atom in law.values.tolist()):
        raise DataError(
            "the value has probability zero under both distributions", rule="the promise would not cover it"
        )
    return value / Problem(calibration.framework, calibration.query, calibration.guarantee.epsilon).grid


def _listed(known: Iterable[Any]) -> list[str]:
    names = [str(k) for k in known]
    return names if len(names) <= 20 else [*names[:20], "..."]


def labels_of(calibration: Calibration) -> tuple[str, ...]:
    """Return the names of the answer's cells."""
    return Problem(calibration.framework, calibration.query, calibration.guarantee.epsilon).labels
