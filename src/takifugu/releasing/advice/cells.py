"""Which cells of a table can be read: those that are at least as large as their error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from takifugu.core.errors import InputError
from takifugu.core.escaping import number
from takifugu.core.lists import without
from takifugu.releasing.postprocess.readability import is_off_zero

#: How many cells a sentence names.
MOST_NAMED = 3


@dataclass(frozen=True)
class Cells:
    """The cells that count to a reader: what each is expected to be, and the ± within which all lie at once.

    Where they are those of one of several people, their sum over people may be clear all the same.

    >>> Cells(("on time", "late"), (1963.0, 44.0), 63.0).words
    'late (44 ± 63) is noise'
    """

    labels: tuple[str, ...]
    values: tuple[float, ...]
    error: float
    is_one_of_several: bool = False
    can_be_negative: bool = False

    @property
    def noisy(self) -> tuple[str, ...]:
        """Return the cells indistinguishable from 0."""
        noisy = list[str]()
        for label, value in zip(self.labels, self.values, strict=True):
            if not is_off_zero(value - self.error, value + self.error, self.can_be_negative):
                noisy.append(label)
        return tuple(noisy)

    @property
    def ratio(self) -> float:
        """Return error over size of the smallest cell, infinite at 0."""
        least = min(map(abs, self.values), default=math.inf)
        if not self.error:
            return 0.0
        return self.error / least if least else math.inf

    @property
    def words(self) -> str:
        """Name the cells of noise, if any."""
        noisy = self.noisy
        if not noisy:
            return ""
        if len(noisy) == 1:
            value = self.values[self.labels.index(noisy[0])]
            return f"{noisy[0]} ({number(rounded(value))} ± {number(self.error)}) is noise"
        if len(noisy) == len(self.labels):
            return f"every cell is noise (± {number(self.error)})"
        first, last = list(noisy[:-1]), noisy[-1]
        if len(noisy) > MOST_NAMED:
            first, last = list(noisy[:MOST_NAMED]), f"{len(noisy) - MOST_NAMED} more"
        comma = "; " if any("," in label for label in first) else ", "  # a cell of an hour and a state has a comma
        return f"{comma.join(first)} and {last} are noise (± {number(self.error)})"

    def published(self, labels: Sequence[str], values: Sequence[float], error: float) -> Cells:
        """Return the published ones of these cells, with their values."""
        unimportant = without(labels, self.labels)
        return cells_that_count(labels, values, error, unimportant, self.is_one_of_several, self.can_be_negative)


def rounded(size: float) -> float:
    """Round an expected size: whole from 100 on, three digits below."""
    return float(round(size)) if abs(size) >= 100 else float(f"{size:.3g}")


def refuse_no_cells(labels: Sequence[str], unimportant: Sequence[str]) -> None:
    """Raise InputError for an unimportant cell that is none of an answer's."""
    for label in unimportant:
        if label not in labels:
            fix = f"write some of {list(labels)[:8]}"
            raise InputError(f"names {label!r}, which is no cell of the table", fix=fix).at("expect", "unimportant")


def cells_that_count(
    labels: Sequence[str], values: Sequence[float], error: float, unimportant: Sequence[str] = (),
    is_one_of_several: bool = False, can_be_negative: bool = False,
) -> Cells:
    """Return the cells of an answer except unimportant ones.

    Raises InputError for an unimportant cell that is none of the answer's.
    """
    refuse_no_cells(labels, unimportant)
    important = {label: value for label, value in zip(labels, values, strict=True) if label not in unimportant}
    return Cells(tuple(important), tuple(important.values()), error, is_one_of_several, can_be_negative)
