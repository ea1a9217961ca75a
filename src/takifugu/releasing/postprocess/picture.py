"""The picture of published values: lines with bands over time, bars with intervals, a map of safe places.

The report, `.plot()`, a notebook and the file of the picture have the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from takifugu.core.errors import TakifuguError
from takifugu.core.escaping import at_most
from takifugu.core.plain import Plain, Row
from takifugu.core.text.maps import Ground, Legend, box_map
from takifugu.core.text.pictures import Bar, Panel, value_chart
from takifugu.core.text.scales import Axis
from takifugu.data.times.cells import AXES
from takifugu.model.policies.boxes import Boxes
from takifugu.model.queries import registry
from takifugu.releasing.certificates.cells import MARK, READABLE, UPPER
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.postprocess.readability import Ends

#: How much is drawn; the tables have everything.
MOST_BARS, MOST_PANELS, MOST_OF_TWO, MOST_TIMES = 40, 8, 12, 800
#: Fewer values than these are bars, also those of times.
_FEWEST_TIMES = 3
#: What a place is called, in the order of the legend.
SAFE, VALUE, NOT_ANSWERED, NO_QUESTION = "safe", "not known to be safe", "not answered", "not asked about"
DANGEROUS, UNDECIDED = "dangerous", "undecided"
LEGEND = {
    SAFE: Legend("#009e73", 0.3, SAFE), VALUE: Legend("#d55e00", 0.6, "not known to be safe; written: at most so many"),
    DANGEROUS: Legend("#d55e00", 0.6, "dangerous; written: at most so many"),
    UNDECIDED: Legend("#7a6a00", 0.45, "undecided; written: at most so many"),
    NOT_ANSWERED: Legend("#8d99a6", 0.7, NOT_ANSWERED), NO_QUESTION: Legend("#f0f0f0", 1.0, NO_QUESTION),
}  # fmt: skip

#: Row and column of each cell.
Places = Sequence[tuple[str, str]]
#: The rows of every answer, by unit (None: of all units together).
Answers = Sequence[tuple[str | None, Sequence[Row]]]


def picture_of(certificate: Certificate, answers: Answers, possible: Ends | None, width: int) -> str | None:
    """Return a table's picture as SVG, within what a true value can be; None for undrawable values."""
    rows = list(chain.from_iterable(rows_of_unit for _, rows_of_unit in answers))
    if rows and UPPER in rows[0]:
        boxes = boxes_of(certificate.frameworks.values())
        return None if boxes is None else safe_map(boxes, rows, title_of(certificate), width)
    if not rows or any(row["low"] is None for row in rows):
        return None
    panels, band = _panels(certificate, answers), "interval"
    if not panels:
        return None
    if panels[0].times:
        band = "band"
    label = f"{_across(certificate)}noisy value{certificate.unit_in_brackets} and its 95 % {band}"
    axis = Axis(label, possible=possible)
    return value_chart(panels, axis, title_of(certificate), width=width)


def _across(certificate: Certificate) -> str:
    """Say that it is a rehearsal, and what the names of values by hours, weekdays or dates are, on whose clock."""
    window, by = certificate.window, str(certificate.query.get("by", ""))
    what = "" if certificate.rehearsal is None else "rehearsal, no guarantee: "
    if window is None or not window.clock:
        return what
    clocks = window.clock_words.removeprefix("on ").removeprefix("in ")
    return f"{what}{by.replace('hour', 'hour of the day')}, {clocks}: "


def left_out(certificate: Certificate, answers: Answers) -> str:
    """Say how many of a large table's values are drawn, if incomplete."""
    if UPPER in answers[0][1][0]:
        return ""
    total = sum(len(rows) for _, rows in answers)
    drawn = sum(len(panel.bars) for panel in _panels(certificate, answers))
    if drawn in (0, total):
        return ""
    return f"{drawn:,} of {total:,} values are drawn; the table has them all."


def title_of(certificate: Certificate) -> str:
    return certificate.statistic[:1].upper() + certificate.statistic[1:]


def bar_of(name: object, row: Row) -> Bar:
    """Return the bar of a row; noise is faded."""
    ends = float(row["low"]), float(row["high"])
    return Bar(str(name), float(row["value"]), *ends, is_noise=row.get(READABLE) is False)


def _panels(certificate: Certificate, answers: Answers) -> list[Panel]:
    """Return the panels of a picture, or none if too many."""
    rows = answers[0][1]
    labels = [row["cell"] for row in rows]
    places = two_way_of(certificate, labels)
    if len(answers) > 1:
        if is_over_time(certificate) and places is None:
            return [_over_time(str(unit), labels, of_unit) for unit, of_unit in answers[:MOST_PANELS]]
        titles, panels = labels[:MOST_PANELS], list[Panel]()
        if len(labels) == 1:
            titles = [""]
        for cell, title in enumerate(titles):
            panels.append(Panel(title, [bar_of(unit, of_unit[cell]) for unit, of_unit in answers[:MOST_BARS]]))
        return panels
    if places is not None:
        return _of_two_ways(places, axes_of(certificate), rows)
    if is_over_time(certificate) and len(rows) >= _FEWEST_TIMES:
        return [_over_time("", labels, rows)]
    return [Panel("", [bar_of(row["cell"], row) for row in rows[:MOST_BARS]])]


def _of_two_ways(places: Places, axes: tuple[str, str], rows: Sequence[Row]) -> list[Panel]:
    """Return a panel for each value of one way, along the other: over time, else along the longer one."""
    names, titles = (list(dict.fromkeys(way)) for way in zip(*places, strict=True))
    are_over_time = [axes[0] in AXES, axes[1] in AXES]
    if are_over_time == [False, True] or (are_over_time[0] == are_over_time[1] and len(titles) > len(names)):
        names, titles, places = titles, names, [(column, row) for row, column in places]
        are_over_time.reverse()
    if len(titles) > MOST_OF_TWO:
        return []
    row_at, panels = dict(zip(places, rows, strict=True)), []
    for title in titles:
        row_of = {name: row_at[name, title] for name in names if (name, title) in row_at}
        present, rows_of_title = list(row_of), list(row_of.values())
        if are_over_time[0]:
            panels.append(_over_time(title, present, rows_of_title))
        else:
            panels.append(Panel(title, list(map(bar_of, present[:MOST_BARS], rows_of_title))))
    return panels


def _over_time(title: str, names: Sequence[str], rows: Sequence[Row]) -> Panel:
    return Panel(title, list(map(bar_of, names[:MOST_TIMES], rows)), range(min(len(rows), MOST_TIMES)))


def is_over_time(certificate: Certificate) -> bool:
    """Return whether a table's cells are hours, days, weeks or months."""
    return axes_of(certificate)[0] in AXES


def two_way_of(certificate: Certificate, labels: Sequence[str]) -> Places | None:
    """Return each cell's row and column, for a query with both."""
    try:
        return registry.two_way_of(certificate.query, labels)
    except (LookupError, TypeError, ValueError, ArithmeticError):  # the file is not as it was written
        return None


def axes_of(certificate: Certificate) -> tuple[str, str]:
    """Name a table's axes: two record columns, or cells and states."""
    query = certificate.query
    columns, axes = list(query.get("columns", ())), list(query.get("axes", ()))
    if len(columns) == 2:
        return str(columns[0][0]), str(columns[1][0])
    if len(axes) == 2 and query.get("query", {}).get("kind") != "histogram":
        return axes[0], axes[1]
    return str(query.get("by") or "cell"), "state"


def boxes_of(frameworks: Iterable[Plain]) -> Boxes | None:
    """Return the grid of written frameworks' places, if they are boxes."""
    for framework in frameworks:
        boxes = dict(framework.get("domain") or {}).get("boxes")
        if boxes is not None:
            try:
                return Boxes.from_dict(boxes)
            except (TakifuguError, LookupError, TypeError):
                return None
    return None


def boxes_in(frameworks: Iterable[Plain], labels: Iterable[str]) -> Boxes | None:
    """Return the grid of all these cells as boxes, if any. `frameworks` are written ones."""
    boxes = boxes_of(frameworks)
    return boxes if boxes is not None and {*labels} <= {*boxes.names()} else None


def place_kind(row: Row) -> str:
    """Name a place's kind by its published mark or value."""
    mark = row.get(MARK, row[UPPER])
    return mark if isinstance(mark, str) else VALUE


def safe_map(boxes: Boxes, rows: Sequence[Row], title: str, width: int) -> str:
    """Return the boxes coloured by mark, with upper values written in."""
    said = {str(row["cell"]): row for row in rows}
    present = set(map(place_kind, rows))
    if len(said) < boxes.columns * boxes.rows:
        present.add(NO_QUESTION)

    def of_box(row: int, column: int) -> tuple[str, str]:
        place = said.get(f"r{row}c{column}")
        if place is None:
            return NO_QUESTION, ""
        if isinstance(place[UPPER], str):
            return place_kind(place), ""
        return place_kind(place), at_most(place[UPPER])

    (left, right), (low, high) = boxes.x, boxes.y
    ground = Ground((float(left), float(right)), (float(low), float(high)))
    legend = {kind: entry for kind, entry in LEGEND.items() if kind in present}
    return box_map(boxes.columns, boxes.rows, ground, legend, of_box, title, width)
