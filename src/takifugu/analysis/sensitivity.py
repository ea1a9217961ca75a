"""D: how far an answer moves when a component, or one entry, changes (docs/decisions.md#change-of-an-answer)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, runtime_checkable

import numpy as np

from takifugu.analysis.bounds import Witness
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Part, Problem
from takifugu.core.entries import entry_word
from takifugu.core.escaping import at_most
from takifugu.model.queries.answer import Additive, whole_change
from takifugu.numbers.runs import Runs


@dataclass(frozen=True)
class Change:
    """The largest L1 change D of an answer, in answer units, that a promise must cover, and where it is reached."""

    size: Fraction
    #: Everything where noise for D covers every change of the whole data set, else one component.
    covers: Covers
    witness: Witness


def component_change(problem: Problem) -> Change:
    """Return the largest D of a component with a secret, of two laws the range of their supports."""
    if problem.is_pair:
        size = max(pair.span for pair in problem.framework.pairs)
        return Change(size, Covers.EVERYTHING, _witness("any value against any other", size))
    part = max(problem.parts, key=part_change)
    units = part_change(part)
    largest_of_all = max(map(whole_change, problem.answers))
    composition = Covers.EVERYTHING if largest_of_all <= units else Covers.COMPONENT
    last = part.start + part.belief.size - 1
    word = entry_word(part.belief)
    run = f"{word} {last}" if part.start == last else f"{word}s {part.start} to {last}"
    subject = "the whole data" if composition is Covers.EVERYTHING else run
    size = units * problem.grid
    return Change(size, composition, _witness(f"any values of {subject} against any others", size))


def part_change(part: Part) -> int:
    """Return D, the largest change by all entries, in grid units."""
    return whole_change(part.answer)


def entry_change(problem: Problem) -> Fraction:
    """Return D_1, a secret entry's largest L1 change, in grid units."""
    return max(map(_entry_change, problem.parts), default=Fraction(0))


def change_to_hide(problem: Problem, norm: int, hides_rows: bool) -> Fraction:
    """Return D, the change that noise has to hide, in answer units (docs/theory/zero-noise.md)."""
    if problem.is_pair:
        # no entries: one step of the grid
        return problem.grid
    # the largest d of a secret entry (a run: at most the sum of its entries'), or of any where none is read
    if hides_rows:
        moves = [
            _secret_move(part, norm) or part.answer.farthest(range(part.answer.size), norm) for part in problem.parts
        ]
    else:
        moves = [answer.nearest(norm) for answer in problem.answers]
    return max(moves, default=Fraction(0)) * problem.grid


@runtime_checkable
class OfOneRecord(Protocol):
    """A view of records that says how far one record's hidden value moves an answer, in L1, in answer units."""

    def entry_change(self, answer: Additive) -> Fraction: ...


def _secret_move(part: Part, norm: int) -> Fraction:
    """Return the largest change by one secret entry, in grid units."""
    if isinstance(part.belief, OfOneRecord):
        return part.belief.entry_change(part.answer) / part.answer.grid
    single = part.answer.farthest(part.family.entries, norm)
    if part.family.run == 1:
        return single
    run = min(part.family.run, part.answer.size)
    return min(single * run, _run_change(part.answer, run), Fraction(part_change(part)))


def _run_change(answer: Additive, run: int) -> Fraction:
    """Return at most the largest L1 change by `run` entries in a row, in grid units."""
    sums = np.concatenate([[0], np.cumsum(answer.entry_changes())])
    return Fraction(int((sums[run:] - sums[:-run]).max()))


def _entry_change(part: Part) -> Fraction:
    if isinstance(part.belief, OfOneRecord):
        return part.belief.entry_change(part.answer) / part.answer.grid
    return Fraction(Runs.of(part.answer.entry_changes()).largest(part.family.entries))


def _witness(comparison: str, size: Fraction) -> Witness:
    if size:
        detail = f"they move the answer by up to {at_most(size)}"
    else:
        detail = "they do not move the answer"
    return Witness(comparison, detail, (("D", float(size)),))
