"""What a belief expects an answer to be: public, and known before anything is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from takifugu.core.arrays import FloatArray
from takifugu.core.errors import Unsupported
from takifugu.core.registry import Question
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.alike import shares
from takifugu.model.queries.answer import Additive

B = TypeVar("B", bound=Belief, covariant=True)


@dataclass(frozen=True, eq=False)
class ExpectedAnswer(Generic[B]):
    """What one type of belief expects; by default that is not known."""

    belief: B

    def cells(self, answer: Additive) -> FloatArray:
        """Return the mean of each cell in grid units, shape (cells,); raises Unsupported without one."""
        raise Unsupported(
            f"{self.belief.describe()} says nothing of the mean of an answer", fix="write what is expected: [expect]"
        )

    @property
    def people(self) -> int | None:
        """Return the number of people, each an entry or record, else None."""
        return None

    def ends(self, answer: object) -> tuple[FloatArray, FloatArray] | None:
        """Return each cell's least and largest in answer units, if known."""
        return None

    def means(self, answer: Additive) -> tuple[FloatArray, FloatArray]:
        """Return each cell's least and largest mean of a class, in grid units."""
        cells = self.cells(answer)
        return cells, cells

    def means_of_pieces(self, pieces: Belief, answer: Additive) -> tuple[FloatArray, FloatArray]:
        """Return each cell's least and largest mean over independent pieces of this belief, in grid units."""
        return means_of_components(pieces, answer)


class OfComponents(ExpectedAnswer[B]):
    """The means of independent components add up: what a belief expects whose type says nothing else."""

    def cells(self, answer: Additive) -> FloatArray:
        return of_components(self.belief, answer)

    def means(self, answer: Additive) -> tuple[FloatArray, FloatArray]:
        return means_of_components(self.belief, answer)


def expected(belief: Belief) -> ExpectedAnswer[Belief]:
    """Return what a belief expects."""
    return EXPECTED_ANSWER.of(belief)(belief)


def expected_answer(belief: Belief, answer: Additive) -> FloatArray:
    """Return the mean of each cell in answer units; raises Unsupported for an unknown start or a class."""
    return expected(belief).cells(answer) * float(answer.grid)


def expected_range(belief: Belief, answer: Additive) -> tuple[FloatArray, FloatArray]:
    """Return each cell's least and largest mean over a class of laws, in answer units; or raise Unsupported."""
    low, high = expected(belief).means(answer)
    return low * float(answer.grid), high * float(answer.grid)


def of_components(belief: Belief, answer: Additive) -> FloatArray:
    """Add up the mean of each cell over components, in grid units."""
    total = np.zeros(answer.cells)
    for count, piece, share in shares(belief, answer):
        total += count * _of_one(piece).cells(share)
    return total


def means_of_components(belief: Belief, answer: Additive) -> tuple[FloatArray, FloatArray]:
    """Add up the least and largest mean of each cell over components, in grid units."""
    least, most = np.zeros(answer.cells), np.zeros(answer.cells)
    for count, piece, share in shares(belief, answer):
        low, high = _of_one(piece).means(share)
        least, most = least + count * low, most + count * high
    return least, most


def _of_one(component: Belief) -> ExpectedAnswer[Belief]:
    """Return what a component expects: nothing that is known, where its type says nothing either."""
    one = expected(component)
    return ExpectedAnswer(component) if type(one) is OfComponents else one


EXPECTED_ANSWER: Question[type[ExpectedAnswer[Belief]]] = Question("the mean of an answer", OfComponents)
