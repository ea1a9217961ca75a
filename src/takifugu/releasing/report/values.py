"""The noisy values of a report: pictures and tables with their intervals, and the picture as a file of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from takifugu.analysis.randomisers import MARKS, answered
from takifugu.core.plain import Json, Row
from takifugu.core.text.pictures import Axis, Bar, bar_chart
from takifugu.core.text.raster import stacked
from takifugu.releasing.advice.worth import measured
from takifugu.releasing.certificates.cells import READABLE
from takifugu.releasing.postprocess.readable import in_words, number, readable
from takifugu.releasing.postprocess.release import Release
from takifugu.releasing.report.crossed import Places, crossed, drawn_crossed, two_way_of
from takifugu.releasing.report.map import boxes_of, drawn_map, verdict_map
from takifugu.releasing.report.page import WIDE, figure, paragraph, table
from takifugu.releasing.report.populations import drawn_populations, population_maps
from takifugu.releasing.report.reported import Reported

LEVEL = 0.95
#: How much is drawn; the tables have everything.
MOST_BARS, MOST_PICTURES = 40, 8

_ADJUSTED = ("adjusted",)
_READ = (
    "With probability 95 % over the noise alone, the true value lies in its interval{together}. This is not "
    "sampling error: it says nothing about people or times that are not in the data."
)


def published(t: Reported) -> Iterator[str]:
    if not t.cells:  # randomised row by row: the table has them
        yield from population_maps(t)
        return
    rows = rows_of_answers(t)
    if t.by_unit:
        if all(r["low"] is not None for _, first_rows in rows for r in first_rows):
            yield from _pictures_by_cell(t, rows)
        yield _table_of_units(t, rows)
        return
    first_rows, caption = rows[0][1], f"Published values of {t.name}"
    if t.answers[0][1].randomiser.output is MARKS:
        yield from verdict_map(t.certificate, first_rows)
        return
    if any(r["low"] is None for r in first_rows):  # labels and the like: nothing to draw, no interval
        yield table(caption, ("cell", "published"), [_cells(r)[:2] for r in first_rows], (1,))
        return
    places = two_ways(t, first_rows)
    if places is not None:
        half = number(readable(farthest_end(t.answers[0][1], t.cells)))
        yield from crossed(t.certificate, places, first_rows, f"All values are ± {half}. {_read(t)}")
        return
    bars = [(r["cell"], r) for r in first_rows[:MOST_BARS]]
    yield figure(lambda width: bars_of(t, bars, _statistic(t), width), _drawn(len(first_rows)))
    header = ("cell", f"noisy value{_unit(t)}", "95 % interval", *_ADJUSTED[: len(_more(first_rows[0]))])
    yield table(caption, header, [[*_cells(r), *_more(r)] for r in first_rows], (1, 2, 3), _read(t))


def error_words(error: float, values: int, unit: str) -> str:
    """Say once what the ± of all values of a table is.

    >>> error_words(63, 2, "rows")
    'Each value is ± 63 rows, with probability 95 % for all 2 at once, over the noise alone.'
    """
    together = "" if values == 1 else f" for all {values:,} at once"
    return f"Each value is ± {measured(error, unit)}, with probability 95 %{together}, over the noise alone."


def farthest_end(answer: Release, cells: int) -> Fraction | None:
    """Return how far the ends of the intervals of an answer lie from its values at most; None where it has none."""
    ends = answered(lambda: answer.randomiser.intervals(answer.values, LEVEL, cells))
    if ends is None:
        return None
    halves: list[Fraction] = [max(v - low, high - v) for v, (low, high) in zip(answer.values, ends, strict=True)]
    return max(halves)


def rows_of_answers(t: Reported) -> list[tuple[str | None, list[Json]]]:
    """Return the rows of every answer, by unit."""
    return [(unit, _with_adjusted(t, unit, answer)) for unit, answer in t.answers]


def two_ways(t: Reported, rows: Sequence[Row]) -> Places | None:
    """Return the row and the column of each cell, where the table has both."""
    return two_way_of(t.certificate, [row["cell"] for row in rows])


def _with_adjusted(t: Reported, unit: str | None, answer: Release) -> list[Json]:
    """Return the rows of an answer, with its adjusted values where the certificate has some."""
    adjusted = next((a.adjusted for a in t.certificate.answers if a.unit == unit), None)
    rows = t.rule.added(answer.rows(LEVEL, t.cells))
    if adjusted is None:
        return rows
    return [{**row, "adjusted": readable(Fraction(adjusted[row["cell"]]))} for row in rows]


def _more(row: Json) -> list[str]:
    return [number(row["adjusted"])] if "adjusted" in row else []


def _unit(t: Reported) -> str:
    return f" ({t.certificate.measured_in})" if t.certificate.measured_in else ""


def _table_of_units(t: Reported, rows: Sequence[tuple[str | None, Sequence[Json]]]) -> str:
    """Return one row per unit with the half width of its intervals, or one row per value where there are many cells."""
    labels, caption = t.answers[0][1].labels, f"Published values of {t.name}{_unit(t)}"
    more = _ADJUSTED[: len(_more(rows[0][1][0]))]
    if len(labels) > MOST_PICTURES:
        long = [[unit or "", *_cells(r), *_more(r)] for unit, of_unit in rows for r in of_unit]
        header = (t.certificate.person, "cell", "noisy value", "95 % interval", *more)
        return table(caption, header, long, (2, 3, 4), _read(t))
    halves = [readable(farthest_end(a, t.cells)) for _, a in t.answers]
    body = [
        [
            unit or "",
            *(number(row["value"]) for row in of_unit),
            number(half),
            *(a for row in of_unit for a in _more(row)),
        ]
        for (unit, of_unit), half in zip(rows, halves, strict=True)
    ]
    wide = (t.certificate.person, *labels, "± 95 %", *(f"{label}, adjusted" for label in labels if more))
    return table(caption, wide, body, range(1, len(wide)), _read(t))


def _cells(row: Json) -> list[str]:
    return [str(row["cell"]), in_words(row), f"{number(row['low'])} to {number(row['high'])}"]


def _read(t: Reported) -> str:
    return _READ.format(together="" if t.cells == 1 else f", for all {t.cells} values of this table at once")


def _pictures_by_cell(t: Reported, rows: Sequence[tuple[str | None, Sequence[Json]]]) -> Iterator[str]:
    labels = t.answers[0][1].labels
    drawn = [
        figure(
            lambda width, cell=cell: bars_of(  # type: ignore[misc]
                t, [(unit or "", of_unit[cell]) for unit, of_unit in rows[:MOST_BARS]], _titles(t)[cell], width
            ),
            narrow_only=True,
        )
        for cell in range(min(len(labels), MOST_PICTURES))
    ]
    yield f'<div class="gallery">{"".join(drawn)}</div>'
    more = [_drawn(len(rows), t.certificate.people.many)] if len(rows) > MOST_BARS else []
    if len(labels) > MOST_PICTURES:
        more.append(f"The first {MOST_PICTURES} of {len(labels)} cells are drawn; the table has them all.")
    yield from (paragraph(words, "note") for words in more)


def _statistic(t: Reported) -> str:
    return t.certificate.statistic[:1].upper() + t.certificate.statistic[1:]


def _titles(t: Reported) -> list[str]:
    """Return what the picture of each cell is called: a lone one, whose label says little, by the statistic."""
    labels = t.answers[0][1].labels
    return list(labels) if len(labels) > 1 else [_statistic(t)]


def bar_of(name: object, row: Row) -> Bar:
    """Return the bar of a row; noise is faded."""
    value, low, high = (float(row[key]) for key in ("value", "low", "high"))
    return Bar(str(name), value, low, high, is_noise=row.get(READABLE) is False)


def bars_of(t: Reported, rows: Sequence[tuple[str, Json]], title: str, width: int) -> str:
    bars = [bar_of(name, row) for name, row in rows]
    return bar_chart(bars, Axis(f"noisy value{_unit(t)} and its 95 % interval"), title, width=width)


def _drawn(count: int, what: str = "cells") -> str:
    return f"The first {MOST_BARS} of {count} {what} are drawn; the table has them all." if count > MOST_BARS else ""


def drawing_of(t: Reported) -> str | None:
    """Return the picture as SVG; None where the values are nothing that is drawn."""
    pictures = list(_pictures(t))
    return stacked(pictures) if pictures else None


def _pictures(t: Reported) -> Iterator[str]:
    if not t.cells:
        yield from drawn_populations(t)
        return
    rows = rows_of_answers(t)
    if t.answers[0][1].randomiser.output is MARKS:
        if boxes_of(t.certificate.frameworks.values()) is not None:
            yield drawn_map(t.certificate, rows[0][1], WIDE)
        return
    if any(row["low"] is None for _, of_unit in rows for row in of_unit):
        return
    if t.by_unit:
        for cell, title in enumerate(_titles(t)[:MOST_PICTURES]):
            yield bars_of(t, [(unit or "", of_unit[cell]) for unit, of_unit in rows[:MOST_BARS]], title, WIDE)
        return
    places = two_ways(t, rows[0][1])
    crossed = None if places is None else drawn_crossed(t.certificate, places, rows[0][1], WIDE)
    yield crossed or bars_of(t, [(r["cell"], r) for r in rows[0][1][:MOST_BARS]], _statistic(t), WIDE)
