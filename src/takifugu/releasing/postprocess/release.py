"""What a release returns: the noisy value, its error bars, its certificate; and its values adjusted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from takifugu.analysis import randomisers
from takifugu.analysis.randomisers import Randomiser
from takifugu.core.errors import DataError, InputError
from takifugu.core.escaping import float_at_least, float_at_most
from takifugu.core.plain import Json, indented
from takifugu.core.text.parts import InParts, Part, rows, together, words
from takifugu.core.text.plot import Plot
from takifugu.numbers.rationals import Number, as_fraction, to_text
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.certificates.content import Answer
from takifugu.releasing.postprocess.adjust import (
    CUT,
    POST,
    bias,
    check_not_negative,
    goal_of,
    nearest,
    notes_of_total,
    with_total,
)
from takifugu.releasing.postprocess.estimate import Estimate, estimates_of_answer
from takifugu.releasing.postprocess.intervals import NOISE_ONLY, Interval, Readable
from takifugu.releasing.postprocess.picture import picture_of, title_of
from takifugu.releasing.postprocess.readability import Rule, possible_ends
from takifugu.releasing.postprocess.readable import (
    NOT_PRIVATE,
    cells_of,
    frame_of,
    in_words,
    made,
    one_or_all,
    readable,
    rows_of,
)

if TYPE_CHECKING:
    from takifugu.calibration import Calibration


@dataclass(frozen=True, repr=False)
class Release(InParts):
    """Hold a published answer with its certificate.

    No release is made of a file: `read_table` reads what was published.

    Args:
        labels: Labels of the cells.
        values: The noisy values, exact multiples of the grid in answer units, or another published value; one for each
            cell.
        certificate: The certificate.
        randomiser: The noise.
        calibration: Where the noise comes from, if known.
        library: Data-frame library of the data.
        completed: When an earlier call that did not finish paid for it.
        left_out: Replaces the verdict "good" in its report, where rules of the release file may leave rows out.
        answer: Its part of the certificate.

    Examples:
        >>> import takifugu as tf
        >>> chain = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=4, states=["still", "walking"])
        >>> calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), chain), tf.Count("walking"), epsilon=1)
        >>> noisy = tf.release(calibration, ["still", "walking", "walking", "still"])
        >>> low, high = noisy.interval(0.95)
        >>> low <= noisy.value <= high
        True
    """

    labels: tuple[str, ...]
    values: tuple[Any, ...]
    certificate: Certificate
    randomiser: Randomiser = field(repr=False)
    calibration: Calibration | None = field(default=None, repr=False, compare=False)
    library: str | None = field(default=None, repr=False, compare=False)
    completed: str | None = field(default=None, repr=False, compare=False)
    left_out: str = field(default="", repr=False, compare=False)
    answer: Answer | None = field(default=None, repr=False, compare=False)

    @property
    def value(self) -> Readable | dict[str, Readable]:
        """Return the noisy number, or a histogram's numbers by cell."""
        return one_or_all(self.certificate, self.labels, list(map(readable, self.values)))

    def interval(self, level: float = 0.95) -> Interval | dict[str, Interval]:
        """Return intervals that hold all true answers at once, at a level.

        They are exact for the noise that was drawn: the narrowest symmetric interval of whole grid steps with P(|noise|
        <= half width)^cells >= level. For a choice among finitely many outputs they run from the least to the largest
        answer that the output does not reject. They measure noise, not sampling error.

        Args:
            level: Probability that all intervals hold, between 0 and 1.

        Returns:
            One interval, or those of a table by cell, in answer units.

        Raises:
            InputError: Unless 0 < level < 1.
        """
        cells, ends = len(self.labels), self.randomiser.intervals(self.values, level)
        intervals = list[Interval]()
        for low, high in ends:
            intervals.append(Interval(readable(low, float_at_least), readable(high, float_at_most), level, cells))
        return one_or_all(self.certificate, self.labels, intervals)

    def estimate(self) -> Estimate | dict[str, Estimate]:
        """Return what a reader who believes the model concludes of each cell's exact value.

        The mean and 95 % interval of the exact value given the published ones and the certificate's belief, by Bayes'
        rule (docs/estimates.md). It reads the certificate alone, so it costs nothing; it is as right as the belief, and
        never stands in the place of the value. It takes all values that the query reads to be there. Where the belief
        contradicts a published value its estimate says so, and has no number.

        Returns:
            An `Estimate`, or those of a table by cell, in answer units.

        Raises:
            Unsupported: where a belief has no distribution that can be computed, or what is published is no number with
                additive noise.

        Examples:
            >>> import takifugu as tf
            >>> chain = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=4, states=["still", "walking"])
            >>> calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), chain), tf.Count("walking"), epsilon=1)
            >>> noisy = tf.release(calibration, ["still", "walking", "walking", "still"])
            >>> reading = noisy.estimate()
            >>> reading.contradicts or 0 <= reading.low <= reading.high <= 4
            True
        """
        if self.answer is None:
            raise InputError("the release has no certificate of its answer", fix="read it from its certificate")
        estimates = estimates_of_answer(self.certificate, self.answer, self.randomiser, self.values)
        return one_or_all(self.certificate, self.labels, estimates)

    def adjusted(self, nonnegative: bool = True, total: Number | Release | Adjusted | None = None) -> Adjusted:
        """Return the nearest nonnegative values, with a given total if wanted.

        Euclidean projection, exact in rational numbers, then rounded to the grid by largest remainders: no grid point
        with these properties is nearer to the noisy values. The guarantee stays. `.raw` has the noisy values, `.notes`
        the bias.

        Args:
            nonnegative: Whether values must not be negative.
            total: A release of the total, an adjusted one, or a public constant: this cannot be checked, and the
                certificate says so.

        Returns:
            The adjusted values.

        Raises:
            InputError: Where nothing is to be adjusted, the true value may be negative, or the total is negative, off
                the grid or not one number.

        Examples:
            >>> import takifugu as tf
            >>> chain = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=4, states=["still", "walking"])
            >>> calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), chain), tf.Histogram(), epsilon=1)
            >>> noisy = tf.release(calibration, ["still", "walking", "walking", "still"])
            >>> sum(noisy.adjusted(total=4).value.values())
            4
        """
        if not nonnegative and total is None:
            raise InputError("nothing would be adjusted", fix="write nonnegative=True, or give a total").at(
                "nonnegative"
            )
        if not self.randomiser.output.is_number:
            raise InputError("what was published is no number, so nothing is to be adjusted").at("release")
        if nonnegative:
            check_not_negative(self.certificate)
        grid, noise = self.randomiser.grid, self.randomiser if nonnegative else None
        if total is None:
            notes = (POST, *bias(noise, None), CUT)
            return Adjusted(self, nearest(self.values, grid), notes, self.certificate, nonnegative)
        if isinstance(total, Release | Adjusted):
            goal = goal_of(total.values, "the released total", grid, nonnegative)
            certificate = with_total(self.certificate, goal, total.certificate)
        else:
            goal = goal_of([as_fraction(total, "the total")], "the total", grid, nonnegative)
            certificate = with_total(self.certificate, goal, None)
        notes = notes_of_total(certificate, noise, goal, grid)
        return Adjusted(self, nearest(self.values, grid, goal, nonnegative), notes, certificate, nonnegative)

    def rows(self, level: float = 0.95, cells: int | None = None) -> list[Json]:
        """Return one row for each cell: cell, value, low, high.

        Low and high are None where a value has no interval. Where counts were compared with thresholds, the value is
        called safe_or_at_most.

        Args:
            level: Probability that all intervals hold.
            cells: Values published together, whose intervals hold at once; None for these cells.

        Returns:
            The rows.
        """
        return rows_of(self.labels, self.values, self.randomiser, level, cells)

    def to_frame(self, library: object = None, level: float = 0.95) -> Any:
        """Return cells, values and error bars as a data frame.

        Args:
            library: pandas, polars, pyarrow, duckdb or pyspark; None for the data's own, else the first that is
                installed.
            level: Probability that all intervals hold.

        Returns:
            The frame.

        Raises:
            InputError: For a library that is unknown or not installed.
        """
        return frame_of(self.rows(level), library or self.library)

    def __repr__(self) -> str:
        cells = "1 value" if len(self.values) == 1 else f"{len(self.values):,} values"
        return f"<Release {self.certificate.release}: {self.certificate.statistic}, {cells}, {made(self.certificate)}>"

    def plot(self, width: int = 640) -> Plot:
        """Return the report's picture of the noisy values.

        Args:
            width: Width of the picture, in pixels.

        Returns:
            The picture; a notebook displays it, and `.save("values.svg")` writes it.

        Raises:
            InputError: For values without a picture.
        """
        picture = self._picture(width)
        if picture is None:
            raise InputError("what was published has no intervals, so there is no picture of it", fix="print it")
        return Plot(title_of(self.certificate), picture)

    def _picture(self, width: int = 640) -> str | None:
        c = self.certificate
        return picture_of(c, [(None, Rule(c.query).added(self.rows()))], possible_ends(c), width)

    def to_dict(self) -> Json:
        write = self.randomiser.output.write
        values = [{"cell": c, "value": write(v)} for c, v in zip(self.labels, self.values, strict=True)]
        return {"values": values, "certificate": self.certificate.to_dict()}

    def to_json(self) -> str:
        return indented(self.to_dict())

    @property
    def parts(self) -> Iterator[Part]:
        table = self.rows()
        yield title(self.certificate, f"noisy: {made(self.certificate)}")
        if all(row["low"] is None for row in table):
            yield rows(("cell", "published"), [(row["cell"], in_words(row)) for row in table])
            return
        yield Part("", lambda: self._picture() or "")
        header = ("cell", "value", "low", "high")
        yield rows(header, [cells_of(row, header) for row in table])
        yield words("low to high: 95 % intervals of the noise alone, all cells at once; not sampling error")


#: The columns of adjusted values.
HEADER = ("cell", "adjusted", "raw", "low", "high")
KEYS = ("cell", "value", "raw", "low", "high")


@dataclass(frozen=True)
class Adjusted(InParts):
    """Adjusted values on the grid of the release, one per cell; `raw` is what was published with noise."""

    raw: Release
    values: tuple[Fraction, ...]
    #: What was done, in words, and which bias it introduces.
    notes: tuple[str, ...]
    #: That of the release, with the condition that a given total places on its promise.
    certificate: Certificate = field(repr=False)
    nonnegative: bool

    @property
    def labels(self) -> tuple[str, ...]:
        return self.raw.labels

    @property
    def value(self) -> Readable | dict[str, Readable]:
        """Return the adjusted number, or a histogram's numbers by cell."""
        return one_or_all(self.certificate, self.labels, list(map(readable, self.values)))

    def rows(self, level: float = 0.95, cells: int | None = None) -> list[Json]:
        """Return one row per cell: cell, value (adjusted), raw, low, high."""
        rows = list[Json]()
        for value, row in zip(self.values, self.raw.rows(level, cells), strict=True):
            low, high = row["low"], row["high"]
            # the interval of the raw value, cut off at 0, still holds the true one; the adjusted may lie outside
            if self.nonnegative:
                low, high = max(low, 0), max(high, 0)
            rows.append({
                "cell": row["cell"], "value": readable(value), "raw": row["value"], "low": low, "high": high,
            })  # fmt: skip
        return rows

    def to_frame(self, library: object = None, level: float = 0.95) -> Any:
        """Return the rows as a frame of a library (see `Release.to_frame`)."""
        return frame_of(self.rows(level), library or self.raw.library)

    def to_dict(self) -> Json:
        cells = zip(self.labels, self.values, self.raw.values, strict=True)
        return {
            "values": [{"cell": c, "value": to_text(v), "raw": to_text(r)} for c, v, r in cells],
            "notes": list(self.notes),
            "certificate": self.certificate.to_dict(),
        }

    def to_json(self) -> str:
        return indented(self.to_dict())

    @property
    def parts(self) -> Iterator[Part]:
        yield title(self.certificate, "adjusted after the noise")
        yield rows(HEADER, [cells_of(row, KEYS) for row in self.rows()])
        yield words(f"low to high: 95 % intervals of the raw values, all cells at once; {NOISE_ONLY}", *self.notes)


def title(certificate: Certificate, subject: str) -> Part:
    """Return what values are of, below a warning of a test seed."""
    line = words(f"{certificate.statistic}, {subject}")
    return line if certificate.private else together(words(NOT_PRIVATE, strong=True), line)


def releases_of(certificate: Certificate) -> dict[str | None, Release]:
    """Return a certificate's answers by unit (None: all together), with noise; DataError for a damaged one."""
    try:
        releases: dict[str | None, Release] = {}
        for answer in certificate.answers:
            noise = randomisers.from_dict(answer.noise)
            values = tuple(map(noise.output.read, answer.values.values()))
            releases[answer.unit] = Release(tuple(answer.values), values, certificate, noise, answer=answer)
        return releases
    except (ValueError, KeyError, ArithmeticError):
        raise DataError(
            "the certificate's answers cannot be read back", rule="it was edited by hand, or is damaged"
        ) from None
