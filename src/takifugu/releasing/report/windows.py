"""The page of all windows of a table: how its values go from one to the next, with the band of the noise."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from urllib.parse import quote

from takifugu.core.errors import Unsupported
from takifugu.core.text.pictures import Axis, Line, line_chart
from takifugu.releasing.advice.worth import measured
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.certificates.files import REPORT
from takifugu.releasing.postprocess.readable import number
from takifugu.releasing.postprocess.release import releases_of
from takifugu.releasing.report.page import figure, page, paragraph, sentence, table, text
from takifugu.releasing.report.values import LEVEL, MOST_PICTURES

#: How a page says that it is ours, so that it may be written anew.
MADE = '<meta name="generator" content="takifugu windows">'
#: 95 % of a normal law lie within so many standard deviations.
_WITHIN = 1.96


@dataclass(frozen=True)
class Point:
    """One value of one window, with its interval; None where nothing is known around it."""

    period: str
    value: float
    low: float
    high: float
    variance: float

    @property
    def words(self) -> tuple[str, str]:
        """Return the value and its interval."""
        return number(_plain(self.value)), f"{number(_plain(self.low))} to {number(_plain(self.high))}"


def windows_html(name: str, certificates: Sequence[Certificate]) -> str:
    """Return the page of a table whose windows these certificates are, in the order of time."""
    first = certificates[-1]
    series = dict(_series(certificates))
    unit = f" ({first.measured_in})" if first.measured_in else ""
    body = [
        f"<article><header>{paragraph('All windows of a private release', 'kind')}<h1>{text(first.title or name)}</h1>",
        f"{paragraph(sentence(f'{first.statistic}, from the source {first.source!r}'), 'lead')}</header>",
    ]
    for title, points in list(series.items())[:MOST_PICTURES]:
        heading = title or name
        body.append(f"<h2>{text(heading)}</h2>")
        body.append(paragraph(trend_words(points, first.measured_in or ""), "verdict plain"))
        if len(points) > 1:
            body.append(figure(partial(_picture, points, heading, unit)))
    if len(series) > MOST_PICTURES:
        note = f"The first {MOST_PICTURES} of {len(series)} values are drawn; the table has them all."
        body.append(paragraph(note, "note"))
    if series:
        note = "The band and the intervals are those of the noise alone, 95 % for all values of a window at once."
        body.append(paragraph(note, "note"))
        rows = [(p.period, title or "the table", *p.words) for title, points in series.items() for p in points]
        header = ("window", "value of", f"noisy value{unit}", "95 % interval")
        body.append(table(f"Values of {name}", header, rows, (2, 3)))
    links = "".join(
        f'<li><a href="./{quote(c.release)}{REPORT}">{text(c.window.period if c.window else c.release)}</a></li>'
        for c in certificates
    )
    heading = "<h2>Reports of single windows</h2>"
    body.append(f'<nav aria-label="Reports">{heading}<ul class="files">{links}</ul></nav></article>')
    return page(f"{name}: all windows", body, MADE)


def trend_words(points: Sequence[Point], unit: str) -> str:
    """Say how much the values change from window to window on average, and whether noise alone could do that.

    The slope of least squares over n windows has variance sum((i - m)^2 v_i) / sum((i - m)^2)^2 from the noise, where m
    is the middle window and v_i the variance of the noise.
    """
    if len(points) < 3:
        return "A trend needs three windows or more."
    middle = (len(points) - 1) / 2
    spread = math.fsum((i - middle) ** 2 for i in range(len(points)))
    slope = math.fsum((i - middle) * p.value for i, p in enumerate(points)) / spread
    off = _WITHIN * math.sqrt(math.fsum((i - middle) ** 2 * p.variance for i, p in enumerate(points))) / spread
    size = f"{number(_plain(round(slope, 3)))} ± {measured(_plain(round(off, 3)), unit)}"
    change = f"From window to window it changes by {size} on average"
    if abs(slope) > off:
        return f"{change}: more than the noise (95 %) would make of no change."
    return f"{change}: no trend shows through the noise."


def _series(certificates: Sequence[Certificate]) -> Iterator[tuple[str, list[Point]]]:
    """Yield the values of each unit and cell over all windows that have it, with what they are called."""
    points: dict[str, list[Point]] = {}
    for certificate in certificates:
        assert certificate.window is not None
        answers = releases_of(certificate)
        cells = sum(len(answer.values) for answer in answers.values())
        for unit, answer in answers.items():
            try:
                variance = answer.randomiser.variance()
            except Unsupported:
                continue
            for row in answer.rows(LEVEL, cells):
                if row["low"] is None or not isinstance(row["value"], int | float):
                    continue
                several = len(answer.labels) > 1
                title = ", ".join(str(part) for part in (unit, row["cell"] if several else None) if part is not None)
                value, low, high = (float(row[key]) for key in ("value", "low", "high"))
                points.setdefault(title, []).append(Point(certificate.window.period, value, low, high, variance))
    yield from points.items()


def _picture(points: Sequence[Point], title: str, unit: str, width: int) -> str:
    lines = [
        Line("value", [(i + 1, p.value) for i, p in enumerate(points)]),
        Line("highest", [(i + 1, p.high) for i, p in enumerate(points)]),
        Line("lowest", [(i + 1, p.low) for i, p in enumerate(points)]),
    ]
    across = Axis(f"windows, {points[0].period} to {points[-1].period}")
    return line_chart(lines, across, Axis(f"noisy value{unit} and its 95 % band"), title, width=width)


def _plain(value: float) -> int | float:
    return int(value) if value.is_integer() else value
