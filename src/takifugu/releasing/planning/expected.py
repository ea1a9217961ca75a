"""How large the noise of a table will be relative to the ranges of its cells: public, and known before payment."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from takifugu.analysis.randomisers import KINDS, Noise, Randomiser, answered
from takifugu.analysis.randomisers.selection import PermuteAndFlip
from takifugu.core.escaping import number, plus_minus, promised
from takifugu.core.people import PEOPLE, People
from takifugu.core.plain import Json
from takifugu.mechanisms.one_sided.safe_cells import SafeCells
from takifugu.numbers.rationals import to_text
from takifugu.releasing.postprocess.intervals import LEVEL

if TYPE_CHECKING:
    from takifugu.calibration import Calibration
    from takifugu.releasing.planning.plan import Table

#: What the ± is, wherever one is shown before a release.
AT_ONCE = "±: all values of a table lie within it at once with probability 95 %, over the noise alone."
#: Half of a normal distribution lies within so many standard deviations.
_QUARTILE = 0.6744897501960817


@dataclass(frozen=True)
class Blur:
    """Answers of one table that get the same noise over the same ranges; `unit` is named where there is only one."""

    unit: str | None
    answers: int
    cells: int
    #: The ± at 95 % of one value, all values of the table at once, in answer units.
    half_width: Fraction
    #: The median of the absolute noise of a cell, in answer units.
    median: Fraction
    #: By cell: its largest less its least possible value, in answer units; nothing where nothing bounds one.
    ranges: tuple[Fraction, ...]
    variance: float
    excess: float
    #: How likely a cell is called safe, where noise calls cells so.
    marks: str = ""

    @property
    def widest(self) -> float:
        """Return the range of the widest cell, infinite where unbounded."""
        return float(max(self.ranges, default=math.inf))

    @property
    def shares(self) -> tuple[float, float]:
        """Return the ± as fractions of the best and worst cells' ranges."""
        if not self.ranges:
            return 0.0, 0.0
        shares = [float(self.half_width / size) for size in self.ranges if size]
        if 0 in self.ranges and self.half_width:
            shares.append(math.inf)
        elif 0 in self.ranges:
            shares.append(0.0)
        return min(shares), max(shares)

    def to_dict(self) -> Json:
        return {
            "unit": self.unit, "answers": self.answers, "half_width": to_text(self.half_width),
            "half_of_noise_exceeds": to_text(self.median), "ranges": [*map(to_text, dict.fromkeys(self.ranges))],
            "share": [None if math.isinf(share) else share for share in self.shares],
        }  # fmt: skip


@dataclass(frozen=True)
class Expected:
    """The effect of the noise on one table."""

    name: str
    scope: str
    blurs: tuple[Blur, ...]
    #: The effect in words, where values are randomised row by row, or chosen.
    remark: str = ""
    #: Whether a choice mostly misses the best value even where all entries agree.
    is_blind: bool = False
    people: People = PEOPLE

    @property
    def is_one_answer(self) -> bool:
        """Return whether there is one answer, or all together."""
        return self.scope != "unit" or sum(blur.answers for blur in self.blurs) == 1

    @property
    def noise_and_range(self) -> tuple[float, float]:
        """Return the clearest answer's median |noise| and its widest cell's range."""
        if self.is_one_answer:
            return float(self.blurs[0].median), self.blurs[0].widest
        # of units the sum counts, which may be clear where no answer is: the median of |sum of independent noises|
        median, variance = 0.0, math.fsum(b.answers * b.variance for b in self.blurs)
        # by Cornish and Fisher to the fourth cumulant: at most 6 % too small, of equal Laplace noises 1 %
        if variance:
            excess = math.fsum(b.answers * b.excess * b.variance**2 for b in self.blurs) / variance**2
            median = math.sqrt(variance) * (_QUARTILE + (_QUARTILE**3 - 3 * _QUARTILE) * excess / 24)
        return median, math.fsum(b.answers * b.widest for b in self.blurs)

    @property
    def hopeless(self) -> bool:
        """Return whether the median |noise| exceeds the range of every cell."""
        if self.remark:
            return self.is_blind
        noise, reach = self.noise_and_range
        return noise > reach

    @property
    def only_noise(self) -> str:
        """Say why the table would be nothing but noise, "" where it may show something."""
        if self.hopeless:
            return self.words()
        with_numbers = [blur for blur in self.blurs if not blur.marks]
        if not self.is_one_answer or not with_numbers or min(min(blur.shares) for blur in with_numbers) <= 1:
            return ""
        # one answer's ± exceeds the range of every cell
        return beside_range(plus_minus(self.blurs[0].half_width), self.blurs[0].widest)

    def words(self) -> str:
        """Compare the median |noise| with a cell's range."""
        if self.remark:
            return self.remark
        if self.blurs[0].marks:
            return self.blurs[0].marks
        noise, reach = self.noise_and_range
        exceeds = f"the noise exceeds {number(noise, digits=4)} half of the time"
        if not noise:
            exceeds = "the noise is 0 at least half of the time"
        if math.isinf(reach):
            return f"{exceeds}; nothing bounds what a cell can be"
        subject, share = "a cell", "more than"
        if self.scope == "unit" and self.blurs:
            subject = f"the sum over all {self.people.many}"
        if not noise:
            return f"{exceeds}; the range of {subject} is {number(reach)}"
        if reach:
            share = f"{number(100 * noise / reach, digits=3)} % of"
        return f"{exceeds}, {share} the range of {subject} ({number(reach)})"

    def to_dict(self) -> Json:
        answers = list(map(Blur.to_dict, self.blurs))
        data: Json = {"name": self.name, "scope": self.scope, "answers": answers, "hopeless": self.hopeless}
        if self.remark:
            data["told"] = self.remark
        return data


def beside_range(width: str, reach: float) -> str:
    """Compare the ± of a value with the range of what it can be."""
    return f"a value is off by up to {width}, and from its least to its largest possible one it is {number(reach)}"


def expected(table: Table) -> Expected:
    """Return a table's expected noise, grouped by equal noise and ranges."""
    first = table.questions[0].calibration
    if first.randomiser.output.is_column:
        return Expected(table.name, table.scope, (), column_words(first, table.people))
    if isinstance(first.randomiser, PermuteAndFlip):
        return _of_choices(table)
    values = values_of(table)
    kinds: dict[int, tuple[Calibration, list[str | None]]] = {}
    for question in table.questions:
        kinds.setdefault(id(question.calibration), (question.of_observed, []))[1].append(question.unit)
    blurs = [_blur(calibration, units, values) for calibration, units in kinds.values()]
    return Expected(table.name, table.scope, tuple(sorted(blurs, key=lambda b: b.shares)), people=table.people)


def _of_choices(table: Table) -> Expected:
    """Return the expected losses of chosen values, by the table's widest noise."""
    values = sum(len(q.calibration.problem.published) for q in table.questions)
    kinds = {id(q.calibration): q.of_observed for q in table.questions}.values()
    choices = list[tuple[PermuteAndFlip, int]]()
    for calibration in kinds:
        choice, ranges = calibration.randomiser, calibration.problem.answers[0].cell_ranges()
        assert isinstance(choice, PermuteAndFlip)
        size = choice.cells // choice.groups
        for first in range(0, choice.cells, size):  # a group of choices is among as many entries
            choices.append((choice, max(ranges[first : first + size])))
    noise, entries = max(choices, key=lambda pair: pair[0].scale / max(pair[1], 1))
    is_blind = all(choice.is_blind(most) for choice, most in choices)
    return Expected(table.name, table.scope, (), f"{noise.words(values)} (of {entries:,})", is_blind)


def values_of(table: Table) -> int:
    """Return how many values a table publishes."""
    return sum(calibration.randomiser.cells for calibration in table.calibrations)


def half_width(noise: Randomiser, values: int) -> Fraction | None:
    """Return the simultaneous 95 % ± of so many values, if defined."""
    if noise.output.is_column or isinstance(noise, PermuteAndFlip):
        return None
    return answered(lambda: noise.half_width(LEVEL, values))


def column_words(calibration: Calibration, people: People) -> str:
    """Say the costs and promises of randomising a column."""
    kind = KINDS.find(calibration.randomiser.kind)
    words, promise = kind.sentence, promised(calibration.epsilon, calibration.delta)
    if kind.words is not None:
        words = kind.words(calibration.randomiser)
    return f"by {calibration.mechanism}, {promise} per {people.one}: {words}"


def _blur(calibration: Calibration, units: Sequence[str | None], values: int) -> Blur:
    noise, answer = calibration.randomiser, calibration.problem.answers[0]
    unit, variance, excess, marks = None, 0.0, 0.0, ""
    if len(units) == 1:
        unit = units[0]
    if isinstance(noise, Noise):
        variance = noise.variance()
    if noise.laplace_scale:
        excess = 3.0
    if isinstance(noise, SafeCells):
        marks = _marks(noise)
    width, median = half_width(noise, values), answered(lambda: noise.half_width(0.5, 1))
    ranges = tuple(reach * answer.grid for reach in answer.cell_ranges() if reach is not None)
    sizes = (noise.cells, width or Fraction(0), median or Fraction(0), ranges)
    return Blur(unit, len(units), *sizes, variance, excess, marks)


def _marks(noise: SafeCells) -> str:
    """Say how likely a cell is called safe, by its count, and dangerous."""
    end = min(noise.thresholds)
    chances = list[str]()
    for count in sorted({0, 1, 2, end // 2, end - 2, end - 1, end}):
        if 0 <= count <= end:
            chances.append(f"{count}: {number(100 * noise.chance(count, end), digits=3)} %")
    dangers = ""
    if noise.beyond is not None and noise.alpha is not None:
        dangers = (
            f"; one of {end + noise.beyond} or more is always called dangerous, and one of at most {end} with "
            f"probability {to_text(noise.alpha)} at most"
        )
    return (
        f"a place is called safe with this probability, by its true count, while places are answered: "
        f"{', '.join(chances)}; above {end} never{dangers}"
    )


