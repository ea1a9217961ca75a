"""From private data to the exact answer, in whole grid units: the only place where both meet.

What is returned here goes into the noise and nowhere else. No message repeats a value, a position or a count of the
data: it names the rule that was broken and what the belief expects.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from takifugu.analysis.guarantee import Covers
from takifugu.analysis.questions.coded_rows import CodedRows
from takifugu.analysis.questions.evaluating import (
    evaluate,
    filled,
    misses,
    number_given,
    value_indices,
)
from takifugu.calibration.trials import MOST_WRITTEN
from takifugu.core.arrays import IntArray
from takifugu.core.columns import value_of
from takifugu.core.errors import DataError
from takifugu.data import Counts
from takifugu.model.beliefs.alike import alike, lengths_of
from takifugu.model.queries import resolved
from takifugu.numbers.runs import Runs, different, refined

if TYPE_CHECKING:
    from takifugu.calibration import Calibration

#: The numbers of pieces that are read alike, and the cell, the weight and the table of each kind of entry they have.
Way = tuple[IntArray, list[list[int]]]


@dataclass(frozen=True, eq=False)
class Seen:
    """Private data that were read and are valid under the belief; nothing is computed from them yet."""

    #: Value indices by entry, row numbers, counted pieces (read by `ways`), exact columns, or a number as given.
    data: Any = field(repr=False)
    ways: tuple[Way, ...] = field(default=(), repr=False)

    def digest(self) -> bytes:
        """Return a digest of the data, equal only for equal data: for a keyed hash, and nothing else."""
        if isinstance(self.data, Counts):
            return self.data.digest()
        content = self.data.tobytes() if hasattr(self.data, "tobytes") else repr(self.data).encode()
        return hashlib.sha256(content).digest()


def read(calibration: Calibration, data: object) -> Seen:
    """Validate and return the data as they enter the answer; DataError for data that the belief does not know."""
    # before anything is paid for, whatever form the data of a belief may have (`release` lists them)
    if isinstance(data, Seen):
        return data
    if isinstance(data, CodedRows):
        return Seen(data)
    if isinstance(data, Counts):
        return Seen(data, tuple(_read_of_pieces(calibration, data)))
    if calibration.problem.is_pair:
        _check_written([_number(calibration, data)], calibration)
        return Seen(value_of(data))
    domain = calibration.framework.domain  # all beliefs agree on entries and values (frameworks.agreed)
    answer = resolved(calibration.query, domain)
    values = value_indices(domain, data)
    if not calibration.problem.on_grid:
        seen = Seen(values)
        _check_written(answer_of(calibration, seen), calibration)
        return seen
    values = filled(answer, values)
    if misses(answer, values):
        _check_may_miss(calibration)
    return Seen(values)


def answer_of(calibration: Calibration, seen: Seen) -> tuple[int | Fraction, ...]:
    """Return the exact answer in grid units, before rounding: integers for counts, else any rationals."""
    data = seen.data
    if isinstance(data, CodedRows):  # an array, in which each row is randomised by itself
        return data.codes  # type: ignore[return-value]
    if isinstance(data, Counts):
        answer = calibration.problem.answers[0]
        total = np.zeros(answer.cells, dtype=np.int64)
        for pieces, ways in seen.ways:
            counts = data.summed(pieces)
            for cell, weight, table in ways:
                total += weight * (counts[cell] @ answer.tables[table])
        return tuple(total.tolist())
    if calibration.problem.is_pair:
        return (_number(calibration, data),)
    if not calibration.problem.on_grid:
        return tuple(calibration.problem.answers[0].evaluate(data.totals))
    return evaluate(resolved(calibration.query, calibration.framework.domain), data)


def _check_written(answer: Sequence[Fraction | int], calibration: Calibration) -> None:
    """Raise DataError for an answer of real numbers that no certificate holds: of these nothing else bounds it."""
    if any(abs(Fraction(value)) * calibration.problem.grid >= MOST_WRITTEN for value in answer):
        raise DataError(
            "the data have numbers so large that no certificate holds their answer",
            fix="give smaller numbers, such as millions",
        )


def _read_of_pieces(calibration: Calibration, data: Counts) -> Iterator[Way]:
    """Yield runs of pieces read alike, with their cells, weights and tables."""
    belief = calibration.framework.beliefs[0]
    answer = resolved(calibration.query, belief)
    if not np.array_equal(lengths_of(belief), data.lengths):
        raise DataError(
            "the counts are of other sequences than the belief", fix="count the entries that it is about"
        ).at("data")
    for like in alike(belief, answer):
        run = like.run
        rows = [Runs.alike(0, len(run)), Runs.alike(0, len(run))]
        for place, row in enumerate(answer.in_runs):
            if row is not None:
                rows[place] = row.between(run.start, run.stop)
        weights, tables = rows
        cells = Runs.of(data.cell) if data.cell is not None else Runs.alike(0, len(run))
        columns, kinds = different(cells, weights, tables)  # the cell, weight and table of each kind of entry
        ways, numbers = columns.T, np.asarray(like.numbers)
        are_complete = data.complete[numbers]
        whole, others = numbers[are_complete], numbers[~are_complete]
        if len(whole):
            yield whole, _read_as(calibration, ways, ways[:0])
        if len(ways) == 1 and len(others):
            yield others, _read_as(calibration, ways, ways)
            continue
        for number in others.tolist():
            (kind_of_entry, weight), _ = refined(kinds, data.weights(number))
            present, missing = np.unique(kind_of_entry[weight == 1]), np.unique(kind_of_entry[weight == 0])
            yield np.array([number]), _read_as(calibration, ways[present], ways[missing])


def _read_as(calibration: Calibration, ways: IntArray, missed: IntArray) -> list[list[int]]:
    """Return the ways of reading entries with weight; DataError where the `missed` ones would be unsound."""
    if missed[:, 1].any():
        _check_may_miss(calibration)
    read: list[list[int]] = ways[ways[:, 1] != 0].tolist()
    cells = {cell for cell, _, _ in read}
    # entries that a query reads differently were counted together
    if len(cells) < len(read) or {*ways[ways[:, 1] == 0, 0]} & cells:
        raise DataError("the query weighs entries differently, and counts do not", fix="give the entries").at("data")
    return read


def _check_may_miss(calibration: Calibration) -> None:
    """Raise DataError where missing entries would be unsound."""
    # missing entries have weight 0: sound only where less weight needs less noise
    why = "a mean divides by the belief's number of entries" if calibration.query.of_each_cell.is_mean else ""
    if calibration.guarantee.covers is Covers.OUTPUT:
        why = f"{calibration.mechanism} is valid for one length only"
    if why:
        raise DataError(
            f"the sequence is shorter than the belief or has gaps, and {why}",
            fix="calibrate at the actual length, with the entries that the query reads",
        ).at("data")


def _number(calibration: Calibration, data: object) -> Fraction:
    """Return the number in grid units, unrounded."""
    laws = chain.from_iterable((pair.left, pair.right) for pair in calibration.framework.pairs)
    value = number_given(data, list(laws))
    # rounding it first would tell close distributions apart with certainty
    return value / calibration.problem.grid

