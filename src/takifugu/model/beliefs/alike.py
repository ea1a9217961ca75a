"""Components that look alike: independent pieces of one length whose entries count alike are looked at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Protocol, runtime_checkable

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.model.beliefs import Belief
from takifugu.model.queries.answer import Additive
from takifugu.numbers.runs import Runs


@runtime_checkable
class Pieces(Protocol):
    """A belief of independent pieces: those of one length have one law."""

    @property
    def lengths_of_pieces(self) -> IntArray: ...


@dataclass(frozen=True, eq=False)
class Alike:
    """A component that stands for `count` of them: its number, its entries, and the numbers of all of them."""

    number: int
    run: range
    numbers: Sequence[int] | IntArray

    @property
    def count(self) -> int:
        return len(self.numbers)


def alike(belief: Belief, answer: Additive, *marks: Runs) -> Iterator[Alike]:
    """Yield each class of components with equal laws, addends and marks, in the order of the first ones."""
    runs = belief.components()
    if not isinstance(belief, Pieces):
        for number, run in enumerate(runs):
            yield Alike(number, run, (number,))
        return
    lengths = lengths_of(belief)
    ends = np.cumsum(lengths)
    if isinstance(answer, Additive):
        rows = (*(row for row in answer.in_runs if row is not None), *marks)
    else:
        rows = marks
    # pieces whose entries count differently are alike where these entries are in the same places
    changes = np.zeros(len(ends), dtype=np.bool_)
    for row in rows:
        changes |= row.numbers_of_runs(ends - lengths) != row.numbers_of_runs(ends - 1)
    pattern, numbers_of_patterns = np.zeros(len(ends), dtype=np.int64), dict[bytes, int]()
    for number in np.flatnonzero(changes).tolist():
        pattern[number] = numbers_of_patterns.setdefault(_pattern(rows, runs[number]), number + 1)
    columns = [pattern, lengths, *(row.at(ends - lengths) for row in rows)]
    order = np.lexsort(columns)  # stable: the first of a class comes first
    is_new = np.zeros(len(order), dtype=bool)
    is_new[:1] = True
    for column in columns:
        is_new[1:] |= np.diff(column[order]) != 0
    classes = np.split(order, np.flatnonzero(is_new)[1:])
    for numbers in sorted(classes, key=lambda numbers: int(numbers[0])):
        number = int(numbers[0])
        yield Alike(number, runs[number], numbers)


def shares(belief: Belief, answer: Additive) -> Iterator[tuple[int, Belief, Additive]]:
    """Yield each class of components: how many they are, one of them, and its share of an answer."""
    for group in alike(belief, answer):
        yield group.count, belief.component(group.number), answer.restrict(slice(group.run.start, group.run.stop))


def lengths_of(belief: Belief) -> IntArray:
    """Return the number of entries of each component."""
    if isinstance(belief, Pieces):
        return belief.lengths_of_pieces
    return np.array([len(run) for run in belief.components()], dtype=np.int64)


def _pattern(rows: Sequence[Runs], run: range) -> bytes:
    """Return a digest of the numbers in some places."""
    digest = sha256()
    for row in rows:
        numbers = row.between(run.start, run.stop)
        digest.update(len(numbers.ends).to_bytes(8, "big") + numbers.values.tobytes() + numbers.ends.tobytes())
    return digest.digest()
