"""The picture of a published table as a file of its own: what the report draws of its values."""

from __future__ import annotations

from collections.abc import Iterator

from takifugu.analysis.randomisers import MARKS
from takifugu.core.text.raster import stacked
from takifugu.releasing.report.crossed import drawn_crossed
from takifugu.releasing.report.map import boxes_of, drawn_map
from takifugu.releasing.report.page import WIDE
from takifugu.releasing.report.populations import drawn_populations
from takifugu.releasing.report.reported import Reported
from takifugu.releasing.report.values import MOST_BARS, MOST_PICTURES, bars_of, rows_of_answers, two_ways


def drawing_of(t: Reported) -> str | None:
    """Return the picture as SVG; None where the values are nothing that is drawn."""
    pictures = list(_pictures(t))
    return stacked(pictures) if pictures else None


def _pictures(t: Reported) -> Iterator[str]:
    title = t.certificate.statistic[:1].upper() + t.certificate.statistic[1:]
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
        for cell, label in enumerate(t.answers[0][1].labels[:MOST_PICTURES]):
            yield bars_of(t, [(unit or "", of_unit[cell]) for unit, of_unit in rows[:MOST_BARS]], label, WIDE)
        return
    places = two_ways(t, rows[0][1])
    crossed = None if places is None else drawn_crossed(t.certificate, places, rows[0][1], WIDE)
    yield crossed or bars_of(t, [(r["cell"], r) for r in rows[0][1][:MOST_BARS]], title, WIDE)
