"""The verdict on a table: does what matters to its reader show through the noise?

A cell is off by at most e, and the difference of two cells by at most d, with probability 95 %. What matters to the
reader is a difference: declared, or a fifth of what is expected to vary (of the range of the expected cells; of their
mean, where there is one cell or all are alike). Their ratio is the verdict: up to 1 good, to 5 rough, beyond useless.
Whatever is declared to matter, it is no better than rough where even the largest difference that there can be is noise,
where one value is farther off than the middle of its range, or where a cell that counts is expected to be smaller than
its error (`Cells`); where all are, it is useless.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING

from takifugu.analysis.randomisers import Noise
from takifugu.core.errors import InputError
from takifugu.core.escaping import number
from takifugu.mechanisms.one_sided.safe_cells import SafeCells
from takifugu.releasing.advice.bands import Band, adjusted_bands, cell_band, difference_band
from takifugu.releasing.file.policies.sections import PriorSpec
from takifugu.releasing.planning.expected import Expected, beside_range
from takifugu.releasing.postprocess.intervals import is_off_zero, measured

if TYPE_CHECKING:
    from takifugu.releasing.file.sections import ExpectSpec

#: How many cells a sentence names.
MOST_NAMED = 3


@dataclass(frozen=True)
class Cells:
    """The cells that count to a reader: the expected value of each, and the ± within which all lie at once."""

    labels: tuple[str, ...]
    values: tuple[float, ...]
    error: float
    #: Of one of several people: the sum over people may be clear all the same.
    is_one_of_several: bool = False
    can_be_negative: bool = False
    #: Whether these values came, of a table that was not expected to be useless.
    came: bool = False

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
        unimportant = [label for label in labels if label not in self.labels]
        flags = self.is_one_of_several, self.can_be_negative
        return replace(cells_that_count(labels, values, error, unimportant, *flags), came=True)


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
    """Return the cells of an answer except unimportant ones; InputError for one that is none of the answer's."""
    refuse_no_cells(labels, unimportant)
    important = {label: value for label, value in zip(labels, values, strict=True) if label not in unimportant}
    return Cells(tuple(important), tuple(important.values()), error, is_one_of_several, can_be_negative)


#: What matters, where it is not declared, is this share of what is expected to vary.
SHARE = 0.2
#: Cells whose range is below this share of their mean are alike: then their mean is what varies.
ALIKE = 0.1
GOOD, ROUGH = 1.0, 5.0
#: A list is good if it names this share of what is safe, rough if it names that one.
GOOD_SHARE, ROUGH_SHARE = 0.8, 0.2
#: What [expect] can say beside its source.
_EXPECTED = ("values", "shares", "people", "rows", "matters")


class Verdict(StrEnum):
    """What a table is worth."""

    GOOD = "good"
    ROUGH = "rough"
    USELESS = "useless"

    @property
    def is_useful(self) -> bool:
        return self is not Verdict.USELESS


@dataclass(frozen=True)
class Expectation:
    """The expected cells of one answer, in answer units, and the difference that matters to the reader."""

    #: None where nothing says what to expect: then `matters` is declared.
    cells: tuple[float, ...] | None
    #: None where it is not declared.
    matters: float | None
    source: str
    #: How far two cells, or two values of one, can ever differ.
    reach: float = math.inf
    #: The cells that count to a reader, where some do not.
    counting: tuple[float, ...] | None = None

    @property
    def varies(self) -> float:
        """Return the range of the cells that count, or the mean of alike ones."""
        if self.cells is None:
            return math.nan
        cells = self.counting or self.cells
        reach, mean = max(cells) - min(cells), math.fsum(cells) / len(cells)
        return reach if len(cells) > 1 and reach >= ALIKE * abs(mean) else abs(mean)

    def words(self, unit: str = "") -> str:
        """Return the size of the cells that count, with its verb."""
        cells = self.counting or self.cells or ()
        low, high = rounded(min(cells)), rounded(max(cells))
        if number(low) == number(high):
            return f"about {measured(high, unit)} {'are' if unit and high != 1 else 'is'}"
        return f"from {number(low)} to {measured(high, unit)} are"

    @property
    def what_matters(self) -> float:
        return SHARE * self.varies if self.matters is None else self.matters


@dataclass(frozen=True)
class Worth:
    """The worth of one answer: its bands, the difference that matters, and their ratio, in answer units."""

    cell: Band
    difference: Band | None
    matters: float
    expectation: Expectation
    #: Begins the sentence on the error of one number; `hit` says that there is none.
    off: str = "the value is off by"
    #: Whether these are errors of adjusted values.
    is_adjusted: bool = False
    hit: str = "the value is exact"
    #: Of a table of counts: those that count to its reader.
    cells: Cells | None = None

    @property
    def ratio(self) -> float:
        """Return the ratio of noise to importance, infinite if nothing varies."""
        band, ratio, cells = (self.difference or self.cell).width, math.inf, self.cells
        if not band:
            return 0.0
        if self.matters:
            ratio = band / self.matters
        # never good, however large a difference is said to matter
        if self.shows_nothing:
            ratio = max(ratio, ROUGH)
        if cells is None or (not cells.noisy and self.expectation.matters is not None):
            return ratio
        if not cells.noisy or (cells.came and len(cells.noisy) < len(cells.labels)):  # some values say something
            ratio = min(ratio, ROUGH)
        if not cells.noisy:
            return ratio
        if len(cells.noisy) < len(cells.labels) or cells.is_one_of_several:  # some are noise, and else all of them
            return max(ratio, min(cells.ratio, ROUGH))
        return max(ratio, ROUGH * cells.ratio)

    @property
    def ratio_or_none(self) -> float | None:
        """Return the ratio for JSON, None for infinity."""
        return self.ratio if math.isfinite(self.ratio) else None

    @property
    def noisy(self) -> Sequence[str]:
        """Return the labels of the cells that are expected to be noise."""
        return () if self.cells is None else self.cells.noisy

    @property
    def error_of_a_difference(self) -> float | None:
        return None if self.difference is None else self.difference.width

    @property
    def shows_nothing(self) -> bool:
        """Return whether even the largest possible difference is noise, or one value is farther off than the middle."""
        if self.difference is None:
            return 2 * self.cell.width > self.expectation.reach
        return self.difference.width > self.expectation.reach

    @property
    def verdict(self) -> Verdict:
        if self.ratio <= GOOD:
            return Verdict.GOOD
        return Verdict.ROUGH if self.ratio <= ROUGH else Verdict.USELESS

    def sentence(self, unit: str = "") -> str:
        """State the visible and the invisible differences, in `unit`, in one sentence."""
        if self.difference is None:
            if not self.cell.width:
                return f"{self.verdict}: {self.hit} with 95 % probability"
            off = f"{measured(self.cell.width, unit)} with 95 % probability"
            if self.verdict is Verdict.GOOD:
                return f"good: {self.off} at most {off}"
            too_much = self._too_much(unit, "the middle of its range is nearer")
            return f"{self.verdict}: {self.off} up to {off}, {too_much}"
        verdict, least = f"{self.verdict}: ", measured(self.difference.width, unit)
        if self._is_all_noise and self.cells is not None:
            return f"{verdict}{self.cells.words}, and {self.expectation.words(unit)} expected"
        if self.cells is not None and self.cells.words and self.verdict.is_useful:
            verdict += f"{self.cells.words}; "
        differences = "differences of adjusted values" if self.is_adjusted else "differences"
        if self.shows_nothing or not self.verdict.is_useful:
            limit = f"no two can differ by more than {measured(self.expectation.reach, unit)}"
            return f"{verdict}{differences} below {least} are noise, {self._too_much(unit, limit)}"
        if self.verdict is Verdict.ROUGH:
            verdict += "only "
        return f"{verdict}{differences} above {least} show"

    @property
    def _is_all_noise(self) -> bool:
        """Return whether it is useless because every cell is noise, though such differences are expected."""
        cells = self.cells
        if cells is None or self.verdict.is_useful or self.difference is None or not cells.values:
            return False
        return len(cells.noisy) == len(cells.labels) and (cells.came or self.difference.width <= max(cells.values))

    def _too_much(self, unit: str, limit: str) -> str:
        """Compare a large error with the expected, important or possible size, which `limit` says."""
        if self.verdict.is_useful and self.shows_nothing:
            return f"and {limit}"
        if self.verdict.is_useful:
            return "more than would matter"
        if self.expectation.cells is None:
            return f"and {measured(self.matters, unit)} matter"
        return f"and {self.expectation.words(unit)} expected"


@dataclass(frozen=True)
class Reach(Worth):
    """The ± of a value beside its range, which stands for a verdict where nothing says what matters: it is none."""

    def sentence(self, unit: str = "") -> str:
        return beside_range(measured(self.cell.width, unit), ROUGH * self.matters)


def reach_of(table: Expected) -> Reach | None:
    """Compare a table's ± with the range of its values, if informative."""
    widest = [blur for blur in table.blurs if blur.ranges and not blur.marks]
    if not widest or not all(blur.widest for blur in widest):
        return None
    blur = max(widest, key=lambda blur: float(blur.half_width) / blur.widest)
    # useless where the ± exceeds the range, as for a table that is refused
    return Reach(Band(float(blur.half_width), 0.95), None, blur.widest / ROUGH, Expectation(None, None, ""))


def worth(
    noise: Noise,
    expectation: Expectation,
    totals: Sequence[Fraction | None] | None = None,
    is_one_of_several: bool = False,
    cells: Cells | None = None,
) -> Worth:
    """Return the worth of an answer with noise and expected cells; `cells` are those that are counts, and count."""
    determiner, value, difference, is_adjusted = "the", "value", None, False
    if is_one_of_several:
        determiner = "any one"
    # the values are adjusted: the sum of each block of cells, None where that is not public
    if totals is not None and expectation.cells is not None:
        cell, difference = adjusted_bands(noise, expectation.cells, totals)
        value, is_adjusted = "adjusted value", True
    else:
        cell = cell_band(noise)
        if noise.cells > 1:
            difference = difference_band(noise)
    off, hit = f"{determiner} {value} is off by", f"{determiner} {value} is exact"
    return Worth(cell, difference, expectation.what_matters, expectation, off, is_adjusted, hit, cells)


@dataclass(frozen=True)
class Named(Worth):
    """The share of what is safe that a list names, as expected: its error is the share that it misses."""

    @property
    def share(self) -> float:
        return 1 - self.cell.width

    @property
    def ratio(self) -> float:
        """Return a comparable ratio: 1 if just good, 5 if just rough, 0 where all is named."""
        if self.share > GOOD_SHARE:
            return GOOD * (1 - self.share) / (1 - GOOD_SHARE)
        return GOOD + (GOOD_SHARE - self.share) * (ROUGH - GOOD) / (GOOD_SHARE - ROUGH_SHARE)

    def sentence(self, unit: str = "") -> str:
        share = f"{number(100 * self.share, digits=3)} % of {self.expectation.source}"
        if self.verdict is not Verdict.GOOD:
            share = f"only {share}"
        return f"{self.verdict}: {share} are expected to be called safe"


def refuse_unused(expect: ExpectSpec, place: tuple[str | int, ...]) -> None:
    """Raise InputError for expectations of a safe list, judged by [prior] alone."""
    unused = next((key for key in _EXPECTED if getattr(expect, key) is not None), None)
    if unused is not None:
        fault = "is not used by a list of safe places, which is judged by what counts and shares under [prior] say"
        raise InputError(fault, fix="take it out, or write [prior]").at(*place, unused)


def worth_of_list(noise: SafeCells, prior: PriorSpec | None) -> Named:
    """Return a list's worth by [prior]'s counts, or by zero counts."""
    threshold, shares, whose = min(noise.thresholds), {0: Fraction(1)}, "the places where nobody was"
    if prior is not None:
        shares, whose = prior.by_count, "the safe places"
    missed = 1.0
    if any(share and count <= threshold for count, share in shares.items()):
        missed -= noise.expected_shares(shares, threshold)[0]
    return Named(Band(missed, 1.0), None, 1 - GOOD_SHARE, Expectation(None, 1 - GOOD_SHARE, whose))
