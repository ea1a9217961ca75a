"""A published table, and how accurate it is in sentences: its verdict, the ± of its values, which differences count."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from takifugu.analysis.randomisers import MARKS, Noise, answered
from takifugu.analysis.randomisers.selection import PermuteAndFlip
from takifugu.core.assumptions import sentence
from takifugu.core.errors import InputError
from takifugu.core.escaping import number
from takifugu.core.plain import Row
from takifugu.core.text.bars import common_error
from takifugu.core.text.parts import InParts, Part, closed, facts, heading, rows, words
from takifugu.core.text.plot import Plot, stacked
from takifugu.model.beliefs.populations import FromPopulations
from takifugu.model.frameworks import Framework
from takifugu.releasing.advice.advising import verdict_and_words
from takifugu.releasing.advice.bands import cell_band, difference_band
from takifugu.releasing.advice.worth import Verdict, Worth
from takifugu.releasing.certificates.cells import UPPER, Rows
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.postprocess.estimate import narrowing
from takifugu.releasing.postprocess.intervals import LEVEL, is_off_zero, measured
from takifugu.releasing.postprocess.picture import Answers, picture_of
from takifugu.releasing.postprocess.readability import Ends, counts, exact_word, possible_ends
from takifugu.releasing.postprocess.readable import cells_of, frame_of, readable
from takifugu.releasing.postprocess.release import Release
from takifugu.releasing.report.page import WIDE
from takifugu.releasing.report.populations import drawn_populations
from takifugu.releasing.report.privacy import privacy_of

if TYPE_CHECKING:
    from takifugu.mechanisms.local.sent import Sending

#: How many rows of a table are shown; the file has them all.
MOST_ROWS = 60
#: Why there is none of what was sent row by row; what to do with a table that is not worth comparing.
_NO_VERDICT = (
    "No verdict: each row is randomised by itself, and what a table made of them is worth depends on how many rows it "
    "counts."
)
_DOUBTED = "No verdict, since the model looks wrong."
_OF_NOISE = "over the noise alone, "
_DO_NOT = {True: "do not compare these rows", False: "do not rely on it"}


@dataclass(frozen=True)
class Published(InParts):
    """One table that was published: its rows (unit, cell, value, low, high), certificate and files."""

    name: str
    scope: str
    #: With a column of adjusted values, if the file asks for them; of a randomised column (row, its own columns).
    rows: Sequence[Row]
    certificate: Certificate
    files: tuple[Path, ...]
    #: Its answers by unit (None: of all units together), for `adjusted` and `reconcile`.
    releases: tuple[tuple[str | None, Release], ...] = field(repr=False)
    #: The data-frame library of the data, where they came as a frame.
    library: str | None = None
    #: The time of its payment, where it was published before and this call has left it alone.
    since: str | None = None
    #: The worth to a reader, where that is known.
    worth: Worth | None = field(default=None, repr=False, compare=False)

    def to_frame(self, library: object = None) -> Any:
        """Return the rows as a frame, by default of the data's library (`Release.to_frame`)."""
        return frame_of(self.rows, library or self.library)

    def plot(self) -> Plot:
        """Return the report's picture of the table; InputError for a table without one."""
        picture = self.drawing
        if picture is None:
            raise InputError("this table has no picture", fix="print it, or take `to_frame()`")
        return Plot(self.title, picture)

    @property
    def drawing(self) -> str | None:
        """Return the picture as SVG, or None for undrawable values."""
        if not self.cells:
            return stacked(list(drawn_populations(*self.randomised)))
        return picture_of(self.certificate, self.rows_by_unit, self.possible, WIDE)

    @property
    def left_out(self) -> str:
        """Return what stands in the place of a verdict "good", if anything."""
        return self.releases[0][1].left_out

    @property
    def cells(self) -> int:
        """Return how many values have a label: none of randomised rows."""
        return sum(len(answer.labels) for _, answer in self.releases)

    @property
    def is_by_unit(self) -> bool:
        return self.scope == "unit" and len(self.releases) > 1

    @property
    def estimate_words(self) -> str:
        """Say how near the estimates are, where they halve the ± of one value; else ""."""
        if isinstance(self.rows, Rows):
            return ""
        noises = [(answer.randomiser, len(answer.labels)) for _, answer in self.releases]
        return narrowing(self.rows, noises, self.certificate.measured_in or "")

    @property
    def noisiest(self) -> tuple[str | None, Release]:
        """Return the answer with the most noise, and its unit."""
        return max(self.releases, key=lambda pair: answered(lambda: pair[1].randomiser.scale) or 0)

    @property
    def randomised(self) -> tuple[FromPopulations, Sending]:
        """Return the populations of a randomised column, and its noise."""
        belief: Any = Framework.from_dict(next(iter(self.certificate.frameworks.values()))).beliefs[0]
        noise: Any = self.releases[0][1].randomiser
        return belief, noise

    @cached_property
    def possible(self) -> Ends | None:
        """Return the least and largest possible true value, if known."""
        return possible_ends(self.certificate)

    @property
    def rows_by_unit(self) -> Answers:
        """Return the rows of every answer by unit."""
        rows = iter(self.rows)
        return [(unit, list(islice(rows, len(answer.labels)))) for unit, answer in self.releases]

    def __repr__(self) -> str:
        return f"<Published {self.title}, {measured(len(self.rows), 'rows')}>"

    @property
    def parts(self) -> Iterator[Part]:
        for warning in self.certificate.warnings:
            yield words(warning, strong=True)
        for doubt in self.certificate.doubts:
            yield words(f"{doubt}.", strong=True)
        yield heading(self.title)
        yield words(*accuracy(self))
        yield Part("", lambda: self.drawing or "")
        if isinstance(self.rows, Rows):
            yield words(f"{len(self.rows):,} randomised values, in {self.name}.csv")
        else:
            keys, heads = list(self.rows[0]), {"unit": self.certificate.person, UPPER: "safe or at most"}
            lines = [cells_of(row, keys) for row in self.rows[:MOST_ROWS]]
            yield rows([heads.get(key, key) for key in keys], lines)
            left = len(self.rows) - MOST_ROWS
            if left > 0:
                yield words(f"and {left:,} more rows, in {self.name}.csv")
        yield facts(privacy_of(self.certificate).lines)
        yield closed("What is promised", Part("", self.certificate._repr_html_))

    @property
    def title(self) -> str:
        """Return title or name, query, people and unit in one line."""
        c, name = self.certificate, self.name
        if c.title:
            name = f"{c.title} ({name})"
        title = f"{name}: {c.statistic}, for {c.people.whose(self.scope)}"
        if c.measured_in:
            title += f", in {c.measured_in}"
        return title


def accuracy(t: Published, left_out: str | None = None) -> list[str]:
    """Return the verdict, the ± of the values, and which difference of two cells counts, in sentences."""
    words = verdict_of(t, left_out)[1]
    rows = [row for row in t.rows if row["high"] is not None] if t.cells else []
    error, unit = common_error(rows), t.certificate.measured_in or ""
    if error is None:
        return [*filter(None, [words, number_with_error(t)])]
    exact = exact_word(t.certificate.query)
    sentences = [words, error_words(error, t.cells, unit, exact)]
    judged = t.worth
    if judged is not None and judged.difference is not None and judged.difference.width and judged.verdict.is_useful:
        axis = t.certificate.query.get("by")
        cells = f"{axis}s" if isinstance(axis, str) and axis.isalpha() else "cells"
        least, values = measured(judged.difference.width, ""), "adjusted values" if judged.is_adjusted else "values"
        sentences.append(f"Two {cells} picked in advance differ if their {values} differ by more than {least} (95 %).")
    return [*filter(None, sentences)]


def verdict_of(t: Published, left_out: str | None = None) -> tuple[Verdict | None, str]:
    """Return the verdict on a table, if any, and its sentence; `left_out` may be in other words than published."""
    unit = t.certificate.measured_in or ""
    worth = t.worth
    if worth is not None:
        answer = t.releases[0][1]
        half = farthest_end(answer, t.cells)
        may_change = worth.verdict.is_useful and len(t.releases) == 1 and not t.certificate.adjusting
        if may_change and worth.cells is not None and half is not None:
            cells = worth.cells.published(answer.labels, list(map(float, answer.values)), float(half))
            worth = replace(worth, cells=cells)
        verdict, words = verdict_and_words(worth, unit, t.left_out if left_out is None else left_out)
        if not worth.verdict.is_useful:
            words += f": {_DO_NOT[worth.difference is not None]}"
        elif t.certificate.doubts:  # nothing is good over a belief that the published values contradict
            of_noise = f"{_OF_NOISE}{worth.sentence(unit).removeprefix(f'{worth.verdict}: ')}"
            instead = t.left_out if left_out is None else left_out
            return None, f"{_DOUBTED} {sentence(f'{instead}: of the others, {of_noise}' if instead else of_noise)}"
        came = _what_came(t, worth)
        if verdict is Verdict.GOOD and not came and words == _plainly_good(worth, unit, t.cells):
            words = "useful (good)"  # the error has a sentence of its own
        return verdict, f"{sentence(words)}{came}"
    if not t.cells:
        return None, _NO_VERDICT
    # without a verdict the sentence names the least visible difference
    noisy = [answer.randomiser for _, answer in t.releases if isinstance(answer.randomiser, Noise)]
    if not noisy:
        return None, ""
    most = max(noisy, key=lambda noise: cell_band(noise).width)
    if t.cells > 1:
        return None, f"Differences below {measured(difference_band(most).width, unit)} are noise."
    return None, ""  # its ± is the next sentence


def _plainly_good(worth: Worth, unit: str, cells: int) -> str:
    """Return the sentence of a good table that has no more to say than its error."""
    width = (worth.difference or worth.cell).width
    if not width or (worth.difference is None and cells > 1):
        return ""
    if worth.difference is None:
        return f"good: {worth.off} at most {measured(width, unit)} with 95 % probability"
    return f"good: differences above {measured(width, unit)} show"


def _what_came(t: Published, worth: Worth) -> str:
    """Return the shortfall of the published values from their verdict, which was known before."""
    if t.certificate.adjusting:
        return ""  # the verdict is about other values than the intervals
    answer = t.releases[0][1]
    values = [value for value in map(readable, answer.values) if isinstance(value, int | float)]
    if answer.randomiser.output is MARKS:
        safe = sum(value == "safe" for value in answer.values)
        return f" Of {len(answer.values):,} places, {safe:,} are called safe."
    if worth.shows_nothing or not worth.verdict.is_useful or len(values) != len(answer.values) or len(t.releases) > 1:
        return ""
    low, high = values[0] - worth.cell.width, values[0] + worth.cell.width
    if worth.difference is None and len(values) == 1 and not is_off_zero(low, high, not counts(t.certificate.query)):
        return " The published value is no larger than that, so it is not told from 0."
    if worth.difference is not None and max(values) - min(values) <= worth.difference.width:
        return " No two of the published values differ by more, so none shows."
    return ""


def number_with_error(t: Published) -> str:
    """Return the first published number with its interval and unit."""
    if not t.cells:
        belief, sent = t.randomised
        loss = float(f"{sent.expected:.4g}")  # a length, a share of wrong labels, or a loss
        words = f"the expected loss of what is sent of it is {measured(loss, sent.measure)}"
        if not sent.sender.dummies and all(isinstance(value, str) for value in belief.values):
            share = number(100 * loss, digits=4)
            words = f"another value than the true one is sent with probability {share} %"
        elif sent.measure == "m":
            words = f"what is sent of it is off by {measured(loss, sent.measure)} on average"
        if dummies := sent.sender.dummies:
            words += f"; that is one of its {dummies + 1:,} values, in random order, and {dummies:,} are random"
        return f"How to read a row: by the declared populations, {words}."
    unit, answer = t.releases[0]
    if isinstance(answer.randomiser, PermuteAndFlip):
        return f"How to read it: {answer.randomiser.words(t.cells)}."
    half = farthest_end(answer, t.cells)
    value = readable(answer.values[0])
    if half is None or not isinstance(value, int | float):
        return ""
    measured_in = t.certificate.measured_in or ""
    if t.cells == 1:
        return error_words(float(half), 1, measured_in, exact_word(t.certificate.query))
    whose = f"{unit}, {answer.labels[0]}" if t.is_by_unit else answer.labels[0]
    size = f"between {number(t.rows[0]['low'])} and {measured(t.rows[0]['high'], measured_in)}"  # one-sided noise, too
    at_once = f"with probability 95 % for all {t.cells:,} values at once"
    return f"How to read a number: {whose} is {size}, {at_once}."


def error_words(error: float, values: int, unit: str, exact: str = "value") -> str:
    """State the ± of all values of a table."""
    each = "Every" if values > 1 else "The"
    together = {0: "", 1: "", 2: ", both at once"}.get(values, f", all {values:,} at once")
    return f"{each} value is within ±{measured(error, unit)} of the exact {exact} (95 %{together})."


def farthest_end(answer: Release, cells: int) -> Fraction | None:
    """Return the largest distance from a value to its interval's ends, None without an interval."""
    ends = answered(lambda: answer.randomiser.intervals(answer.values, LEVEL, cells))
    if ends is None:
        return None
    largest: Fraction = max(max(v - low, high - v) for v, (low, high) in zip(answer.values, ends, strict=True))
    return largest
