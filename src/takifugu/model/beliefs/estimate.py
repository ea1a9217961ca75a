"""Beliefs that are estimated from sequences: counts of transitions, and where the sequences came from."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import chain
from os import PathLike
from typing import Any, TypedDict, Unpack

import numpy as np

from takifugu.core.arrays import FloatArray, IntArray
from takifugu.core.columns import is_table, no_list, values_of
from takifugu.core.errors import InputError
from takifugu.core.registry import Registry
from takifugu.core.rules import check_type
from takifugu.model.beliefs.states import State, checked_alphabet, different, in_order
from takifugu.numbers.rationals import as_fraction, as_non_negative, as_truth, float_below
from takifugu.numbers.search import are_neighbours, halved, mean

#: The relative error of an end of an interval is far below this; ends are moved outward by it.
SLACK = 2.0**-30
#: No confidence is nearer to 1.
NEAREST = Fraction(1, 10**7)

#: A source that starts with these words marks a belief that was estimated from the data that it is to protect.
PRIVATE_SOURCE = "estimated from the private data"


def is_private_source(source: str) -> bool:
    """Return whether a source is the private data; InputError for one that is no text."""
    check_type(source, str, "a source in words", "write for example source='assumed'", "source")
    return source.strip().lower().startswith(PRIVATE_SOURCE)


def point_estimate(source: str) -> str:
    """Return the source of numbers of one estimate, without a class."""
    return f"{source}; a point estimate"


def checked_source(source: str, private: bool) -> str:
    """Return an estimate's source, marked if it is the private data."""
    if not isinstance(source, str) or not source.strip():
        raise InputError(
            'an estimated belief needs its source in words, for example source="estimated from 18 participants who '
            'are not in the release"',
            fix="if it is the private data itself, write private=True as well",
        ).at("source")
    text = source.strip()
    if as_truth(private, "private") and not is_private_source(text):
        return f"{PRIVATE_SOURCE}: {text}"
    return text


class Columns(TypedDict, total=False):
    """The columns of a table of sequences, or expressions: of states, what sorts rows, whose they are, in which run."""

    value: str
    order: str
    unit: str | None
    recording: str | None
    step: int | str | None

#: Tables are read by a package that knows frames, and is loaded when there is one.
_READERS: Registry[Callable[..., IntArray]] = Registry("the reader", {
    "table": "data.relation.following:transitions_in",
})


def count_transitions(
    sequences: Iterable[Iterable[State]] | object, states: Iterable[State] | None = None, **columns: Unpack[Columns]
) -> tuple[tuple[State, ...], IntArray]:
    """Return the states, and counts[x, y] of y right after x, of sequences or of a table with named `columns`."""
    if unknown := set(columns) - set(Columns.__annotations__):
        raise TypeError(f"unexpected keyword argument {sorted(unknown)[0]!r}")
    if is_table(sequences) or (columns and isinstance(sequences, str | PathLike)):
        return _count_in_table(sequences, states, columns)
    if columns:
        raise InputError(
            f"{next(iter(columns))} names a column, and the sequences are no table",
            fix="give a frame or the path of a file, or leave the columns out",
        ).at("sequences")
    walks = _walks(sequences)
    distinct = different(chain.from_iterable(walks), "the list of sequences", "sequences")
    names = checked_alphabet(in_order(distinct) if states is None else states, "the list of sequences")
    if not names:
        raise InputError(
            "there is no state to count", fix="give at least one sequence with a state, or name the states"
        ).at("sequences")
    return names, _transitions(walks, {name: place for place, name in enumerate(names)})


def _transitions(walks: Sequence[Sequence[State]], place: Mapping[State, int]) -> IntArray:
    counts = np.zeros((len(place), len(place)), dtype=np.int64)
    for number, walk in enumerate(walks):
        if not place.keys() >= set(walk):
            raise InputError(
                f"sequence {number} holds a state that is not among the states named", fix="add it to states"
            ).at("sequences", number)
        indices = np.array([place[index] for index in walk], dtype=np.int64)
        np.add.at(counts, (indices[:-1], indices[1:]), 1)
    return counts


def _count_in_table(
    table: object, states: Iterable[State] | None, columns: Columns
) -> tuple[tuple[State, ...], IntArray]:
    if states is None:
        raise InputError(
            "the states of a table are not named", rule="all that can occur, whether or not they do",
            fix="write states=['still', 'walking']",
        ).at("states")  # fmt: skip
    names = checked_alphabet(states, "the chain")
    return names, _READERS.find("table")(table, names, **columns)


def _walks(sequences: Any) -> list[list[State]]:
    """Return sequences as lists; no message repeats a value that they hold."""
    odd = no_list(sequences)
    if odd is not None:
        raise InputError(
            f"the sequences: this is {odd}", rule="they are a list of sequences, each a list of states",
            fix="write [sequence] for one; of a table or a file name the columns: value=..., order=..., unit=...",
        ).at("sequences")  # fmt: skip
    walks = []
    for number, walk in enumerate(sequences):
        odd = no_list(walk)
        if odd is not None:
            raise InputError(
                f"the sequences hold {odd} where a sequence should be", rule="each sequence is a list of states",
                fix="write [sequence] for one sequence or one column",
            ).at("sequences", number)  # fmt: skip
        states = values_of(walk)
        if any(isinstance(state, Iterable) and not isinstance(state, str) for state in states):
            raise InputError(
                "a sequence holds lists, not states", rule="each sequence is a list of states",
                fix="write states as text, numbers, true or false, in one list for each person",
            ).at("sequences", number)  # fmt: skip
        walks.append(states)
    return walks


def smoothed_rows(counts: IntArray, names: Sequence[State], smoothing: float) -> FloatArray:
    """Return the rows (counts + smoothing) / their sum."""
    weights = counts + float(as_non_negative(smoothing, "smoothing", "smoothing"))
    sums = weights.sum(axis=1)
    for name, total in zip(names, sums, strict=True):
        if total == 0:
            raise InputError(
                f"no transition out of state {name!r} was seen, so without smoothing its row is unknown",
                fix="write smoothing=1.0, or leave the state out",
            ).at("smoothing")
    rows: FloatArray = weights / sums[:, None]
    return rows


def checked_confidence(confidence: float) -> float:
    """Return a confidence as a float, or raise InputError for one that is not above 0, or too near 1."""
    # What a float leaves of a distance from 1 is then right up to SLACK.
    if not 0 < as_fraction(confidence, "confidence", "confidence") <= 1 - NEAREST:
        raise InputError(
            f"confidence is {confidence!r}", rule="it lies above 0, and at most at 0.9999999, such as 0.99"
        ).at("confidence")
    return float(confidence)


def missed(confidence: float, parts: int) -> float:
    """Return an equal part of the probability 1 - confidence, rounded down."""
    return float_below((1 - as_fraction(confidence, "confidence")) / parts)


def mixture_interval(successes: float, trials: int, miss: float) -> tuple[float, float]:
    """Bound a probability p, missed with at most `miss`, rounded outward (docs/theory/chain-classes.md)."""
    # a trial may also count by a share between 0 and 1, whose mean is p (docs/theory/distributions.md)
    n, s = trials, successes
    if n == 0:
        return 0.0, 1.0
    terms = [math.lgamma(s + 0.5), math.lgamma(n - s + 0.5), -math.lgamma(n + 1.0), -math.log(math.pi), math.log(miss)]
    # p is inside where B(s + 1/2, n - s + 1/2)/B(1/2, 1/2) < p^s (1 - p)^(n - s)/miss (Ville 1939; Robbins 1970).
    # Beyond 64 units of rounding of the largest terms a point is surely outside.
    slack = 64 * 2.0**-53 * (1 + sum(map(abs, terms)))

    def outside(p: float, q: float) -> bool:
        likelihood = _log_power(p, s) + _log_power(q, n - s)
        return sum(terms) - likelihood > slack + 64 * 2.0**-53 * abs(likelihood)

    low, high = 0.0, 1.0  # or the last float outside
    if s:
        low = halved(lambda p: outside(p, 1 - p), 0.0, s / n, are_neighbours, mean)
    if n - s:
        high = 1 - halved(lambda q: outside(1 - q, q), 0.0, (n - s) / n, are_neighbours, mean)
    return low, min(math.nextafter(high, 2.0), 1.0)


def _log_power(p: float, count: float) -> float:
    if not count:
        return 0.0
    return count * math.log(p)


def interval(count: int, total: int, miss: float) -> tuple[float, float]:
    """Bound an event's probability by its count, missed with at most `miss`, outward (Clopper and Pearson 1934)."""
    from scipy.special import betaincinv

    low = float(betaincinv(count, total - count + 1, miss / 2)) * (1 - SLACK) if count else 0.0
    # The upper end by the other event: where it is near 1 its distance from 1 keeps its accuracy.
    above = 0.0
    if count < total:
        above = float(betaincinv(total - count, count + 1, miss / 2)) * (1 - SLACK)
    return low, min(math.nextafter(1 - above, 2.0), 1.0)  # where `above` is tiny 1 - above may be rounded down


def intervals(counts: Sequence[int], confidence: float) -> list[tuple[float, float]]:
    """Bound the probabilities of events by their counts, all at once with this confidence."""
    miss = missed(confidence, len(counts))
    return [interval(count, sum(counts), miss) for count in counts]
