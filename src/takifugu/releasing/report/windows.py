"""The page of all windows of a table: how its values go from one to the next, with the band of the noise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import chain, groupby

from takifugu.analysis.randomisers import Noise, Randomiser
from takifugu.core.escaping import as_exact_as, at_least, at_most, number
from takifugu.core.plain import Json, Row
from takifugu.core.text.bars import common_error
from takifugu.core.text.maps import hours_map
from takifugu.core.text.pictures import Bar, Panel, value_chart
from takifugu.core.text.scales import Axis
from takifugu.core.text.tables import shortened
from takifugu.data.times.moments import enclosing, period_number
from takifugu.data.times.steps import time_text
from takifugu.releasing.advice.bands import difference_band
from takifugu.releasing.certificates.cells import MARK, READABLE, UPPER
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.certificates.files import REPORT
from takifugu.releasing.postprocess.intervals import measured
from takifugu.releasing.postprocess.picture import LEGEND, MOST_PANELS, SAFE, boxes_in, place_kind, safe_map
from takifugu.releasing.postprocess.readability import Ends, possible_ends
from takifugu.releasing.postprocess.readable import in_words, readable
from takifugu.releasing.report.page import Block, Cell, Figure, Folded, Gallery, Table, Words, page
from takifugu.releasing.report.privacy import privacy_of
from takifugu.releasing.report.published import Published
from takifugu.releasing.report.values import marks_meant, noisy_cell

#: How a page says that it is ours, so that it may be written anew.
MADE = '<meta name="generator" content="takifugu windows">'
#: Maps of so many windows are drawn, of more they are folded; of so many listed places each one is named; of so
#: many doubts each is told.
MOST_MAPS, MOST_NAMED, MOST_DOUBTS = 48, 12, 4
_MEANING = (
    '"safe" is never wrong, in any window. A number is no count: at most so many were there, and often far fewer. '
    "Noise is drawn anew in each window, and a place that is not called safe in one may well be."
)


@dataclass(frozen=True)
class Point:
    """One value of one window, with its interval and the law of its noise."""

    period: str
    value: int | float
    low: int | float
    high: int | float
    noise: Randomiser
    readable: bool | None = None

    @property
    def place(self) -> int:
        """Return the number of the period; consecutive ones differ by 1."""
        period = period_number(self.period)
        assert period is not None
        return period[1]

    @property
    def row(self) -> Json:
        return {"value": self.value, "low": self.low, "high": self.high, READABLE: self.readable}


def windows_html(name: str, tables: Sequence[Published], files: Sequence[tuple[str, str]]) -> str:
    """Return the page of a table's windows, in the order of time, with links to the `files` of its table."""
    certificates = [window.certificate for window in tables]
    first = certificates[-1]
    series = dict[str, list[Point]]()  # the values of each unit and cell over all windows, by name
    for title, point, _ in _points(tables):
        series.setdefault(title, []).append(point)
    drawn, table, possible = [], None, _possible(certificates)
    if series:
        table = _table(name, series, first, possible)
    for title, points in list(series.items())[:MOST_PANELS]:
        picture = Figure(partial(_picture, first, points, possible, title or name)) if len(points) > 1 else None
        drawn.append((title or name, change_words(points, first.measured_in or ""), picture))
    noises = {point.noise for point in chain.from_iterable(series.values())}
    widths = [difference_band(noise).width for noise in noises if isinstance(noise, Noise)]
    return page(
        "windows.html",
        title=f"{name}: all windows",
        made=MADE,
        name=name,
        heading=first.title or name,
        lead=f"{first.statistic}, from the source {first.source!r}",
        least_change=measured(readable(max(widths)), first.measured_in or "") if widths else "",
        hides=f"How private: {privacy_of(first).guarantee}.",
        doubts=[*_doubts(certificates), *_lengths(certificates)],
        series=drawn,
        by_chance=_by_chance([points for points in list(series.values())[:MOST_PANELS] if _off(points) is not None]),
        not_drawn=max(len(series) - MOST_PANELS, 0),
        places=place_blocks(name, tables),
        table=table,
        files=files,
        reports=_reports(certificates),
    )


def _doubts(certificates: Sequence[Certificate]) -> list[Words]:
    """Say which windows contradict the model: a change to one of them may be that rows are missing."""
    said = list[str]()
    for certificate in certificates:
        for doubt in certificate.doubts:
            said.append(f"{_period(certificate)}: {doubt[:1].lower()}{doubt[1:]}.")
    return [Words(words, "warning") for words in shortened(said, MOST_DOUBTS, "more, in the reports of their windows.")]


def _lengths(certificates: Sequence[Certificate]) -> Iterator[Words]:
    """Name the lengths of windows that differ: such are months, and days on which clocks are changed."""
    lengths = sorted((c.window.length, _period(c)) for c in certificates if c.window is not None)
    if lengths and lengths[0][0] < lengths[-1][0]:
        shortest, longest = (f"{time_text(length, True)} ({period})" for length, period in (lengths[0], lengths[-1]))
        ends = f"from {shortest} to {longest}"
        yield Words(f"The windows differ in length, {ends}. Counts and sums of longer ones can be larger.", "warning")


def _possible(certificates: Sequence[Certificate]) -> Ends | None:
    """Return the least and largest possible true value of all windows, if known."""
    ends = [possible for c in certificates if (possible := possible_ends(c)) is not None]
    return (min(ends)[0], max(high for _, high in ends)) if len(ends) == len(certificates) else None


def _period(certificate: Certificate) -> str:
    return certificate.window.period if certificate.window else certificate.release


def _reports(certificates: Sequence[Certificate]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the links to single windows' reports, many of them by their larger period."""
    links = list[tuple[str, str]]()
    for certificate in certificates:
        links.append((_period(certificate), f"{certificate.release}{REPORT}"))
    if len(links) <= MOST_MAPS:
        return [("", links)]
    return [(period, list(inside)) for period, inside in groupby(links, key=lambda link: enclosing(link[0]))]


def _table(name: str, series: dict[str, list[Point]], first: Certificate, possible: Ends | None) -> Table:
    """Return every value of every window, with intervals of unequal width."""
    titled: list[tuple[str, Point]] = []
    for title, points in series.items():
        titled += [(title, point) for point in points]
    rows, titles = [point.row for _, point in titled], [title for title in series if title]
    error = common_error(rows)
    beginning = "The bands and the intervals are those of"
    if error is not None:
        beginning = f"Each value is ± {measured(error, first.measured_in or '')}, by"
    header = ["window", *["value of"][: len(titles)], f"noisy value{first.unit_in_brackets}"]
    body: list[list[str | Cell]] = []
    for title, point in titled:
        body.append([point.period, *[title][: len(titles)], noisy_cell(point.row, possible)])
    columns = [len(header) - 1]
    if error is None:
        columns.append(len(header))
        header.append("95 % interval")
        for line, (_, point) in zip(body, titled, strict=True):
            line.append(f"{at_least(point.low)} to {at_most(point.high)}")
    note = (
        f"{beginning} the noise alone, 95 % for all values of a window at once; a change's ± is 95 % for that change "
        "alone. The line is broken where no window was published."
    )
    return Table(f"Values of {name}", header, body, columns, " ".join([note, *marks_meant(rows, possible)]))


def _off(points: Sequence[Point]) -> float | None:
    """Return how far the change from the first to the last value is off (95 %), None where that is not known."""
    if len(points) < 2:
        return None
    first, last = points[0].noise, points[-1].noise
    # the noises of two windows are independent, so the band of their difference is exact
    return difference_band(first, last).width if isinstance(first, Noise) and isinstance(last, Noise) else None


def _by_chance(changes: Sequence[object]) -> str:
    """Say how many of several changes seem to be more than noise where there is none: each one is judged alone."""
    if len(changes) < 2:
        return ""
    return (
        f"Each of the {len(changes):,} changes below is judged by itself, at 95 %. If nothing had changed, up to "
        f"{at_most(Fraction(len(changes), 20), digits=2)} of them on average would still be called more than noise."
    )


def change_words(points: Sequence[Point], unit: str) -> str:
    """Say a value's mean change per period, and whether noise explains it."""
    if len(points) < 2:
        return "A change needs two windows or more."
    first, last, off = points[0], points[-1], _off(points)
    if off is None:
        return "How far a change is off is not known: its windows were not published by adding noise."
    period = period_number(first.period)
    assert period is not None
    periods, change = last.place - first.place, last.value - first.value
    said = f"From {first.period} to {last.period} it changed by {_size(change, off, unit)}"
    if periods > 1:
        average = _size(change / periods, float(f"{off / periods:.3g}"), unit)
        said = f"{said}, or {average} a {period[0]} on average over {periods} {period[0]}s"
    if abs(change) > off:
        return f"{said} (95 %), more than the noise alone explains."
    return f"{said} (95 %): no change shows through the noise."


def rows_in(tables: Sequence[Published]) -> list[Json]:
    """Return a row for each value of each window: the window, any unit, the cell, and the value or mark."""
    rows = list[Json]()
    for period, marks in _windows(tables):
        for mark in marks:
            rows.append({"window": period, **{key: mark[key] for key in ("cell", UPPER, MARK) if key in mark}})
    for _, point, names in _points(tables):
        rows.append({"window": point.period, **names, **point.row})
    return rows


def _points(tables: Sequence[Published]) -> Iterator[tuple[str, Point, Json]]:
    """Yield each value with an interval: its name, point, unit and cell."""
    for published in tables:
        window = published.certificate.window
        assert window is not None
        for (unit, answer), (_, rows) in zip(published.releases, published.rows_by_unit, strict=True):
            for row in rows:
                if UPPER in row or row["low"] is None or not isinstance(row["value"], int | float):
                    continue
                names: Json = {"cell": row["cell"]}
                if unit is not None:
                    names = {"unit": unit, **names}
                title = unit or ""
                if len(answer.labels) > 1:
                    title = ", ".join(map(str, names.values()))
                ends = (window.period, row["value"], row["low"], row["high"])
                yield title, Point(*ends, answer.randomiser, row.get(READABLE)), names


def _size(change: float, off: float, unit: str) -> str:
    return f"{number(_plain(as_exact_as(change, off)))} ± {measured(_plain(off), unit)}"


def _picture(first: Certificate, points: Sequence[Point], possible: Ends | None, title: str, width: int) -> str:
    """Return the values and their band as SVG, in proportion to time; missing windows leave gaps."""
    bars = [Bar(p.period, p.value, p.low, p.high, p.readable is False) for p in points]
    axis = Axis(f"noisy value{first.unit_in_brackets} and its 95 % band", possible=possible)
    return value_chart([Panel("", bars, [point.place for point in points])], axis, title, width=width)


def _plain(value: float) -> int | float:
    return int(value) if float(value).is_integer() else value


def place_blocks(name: str, tables: Sequence[Published]) -> list[Block]:
    """Return all windows' table, and their maps for places of a grid."""
    windows = list(_windows(tables))
    if not windows:
        return []
    maps = list[Figure]()
    for table, (period, rows) in list(zip(tables, windows, strict=True))[-MOST_MAPS:]:
        boxes = boxes_in(table.certificate.frameworks.values(), [row["cell"] for row in rows])
        if boxes is not None:
            maps.append(Figure(partial(safe_map, boxes, rows, f"{name}, {period}"), period, narrow_only=True))
    blocks: list[Block] = [Gallery(maps)] if maps else []
    if len(windows) <= MOST_MAPS:
        return [*blocks, _counts(name, windows)]
    if maps:
        blocks = [Folded(f"Maps of the last {len(maps)} of {len(windows):,} windows", blocks)]
    if all((period_number(period) or ("", 0))[0] == "hour" for period, _ in windows):
        shares = [(period, [*map(place_kind, rows)].count(SAFE) / len(rows)) for period, rows in windows]
        caption = "A row is a day and a column an hour; what is left white was not published."
        picture = partial(hours_map, shares, f"{name}: share of the places that were called safe")
        blocks.insert(0, Figure(picture, caption))
    blocks.append(Words(_MEANING, "note"))
    for period, inside in groupby(windows, key=lambda window: enclosing(window[0])):
        of_period = list(inside)
        blocks.append(Folded(f"{period}: {len(of_period):,} windows", [_counts(f"{name} in {period}", of_period, "")]))
    return blocks


def _windows(tables: Sequence[Published]) -> Iterator[tuple[str, Sequence[Row]]]:
    """Yield each window with its marked places, none for numbers."""
    for table in tables:
        if table.certificate.window is not None and table.rows and UPPER in table.rows[0]:
            yield table.certificate.window.period, table.rows


def _counts(name: str, windows: Sequence[tuple[str, Sequence[Row]]], note: str = _MEANING) -> Table:
    """Return each window's number of safe places, or few places' marks."""
    counts, labels = [Counter(map(place_kind, rows)) for _, rows in windows], dict[str, None]()
    for _, rows in windows:
        labels |= dict.fromkeys(str(row["cell"]) for row in rows)
    kinds = [kind for kind in LEGEND if any(count[kind] for count in counts)]
    if len(labels) > MOST_NAMED:
        labels = {}
    body: list[list[str | Cell]] = []
    for (period, rows), count in zip(windows, counts, strict=True):
        words_of_place = {str(row["cell"]): in_words(row) for row in rows}
        line: list[str | Cell] = [period, *(f"{count[kind]:,}" for kind in kinds)]
        body.append([*line, *(words_of_place.get(label, "") for label in labels)])
    return Table(f"Places of {name}", ["window", *kinds, *labels], body, range(1, 1 + len(kinds)), note)
