"""The noisy values of a report: their picture, and tables with their intervals; noise is faded in both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from takifugu.analysis.randomisers import MARKS
from takifugu.core.escaping import at_least, at_most, number, plus_minus
from takifugu.core.plain import Row
from takifugu.core.text.bars import common_error, relative_error
from takifugu.releasing.certificates.cells import READABLE, UPPER
from takifugu.releasing.postprocess.picture import (
    LEGEND,
    MOST_OF_TWO,
    MOST_PANELS,
    Answers,
    Places,
    axes_of,
    boxes_of,
    left_out,
    picture_of,
    place_kind,
    two_way_of,
)
from takifugu.releasing.postprocess.readability import Ends, exact_word, is_outside
from takifugu.releasing.postprocess.readable import in_words
from takifugu.releasing.report.page import WIDE, Block, Cell, Figure, Line, Table, Words
from takifugu.releasing.report.populations import population_maps
from takifugu.releasing.report.published import Published, error_words, farthest_end

#: How many places that are not called safe are listed; the table has them all.
MOST_LISTED = 200

_READ = "With probability 95 % over the noise alone, the true value lies in its interval"
_NOT_SAMPLING = "This is not sampling error: it says nothing about {people} or times that are not in the data."
_FADED = "Faded: noise; the error is too large for the value to be read."


def published(t: Published) -> Iterator[Block]:
    if not t.cells:  # randomised row by row: the table has them
        yield from population_maps(t.name, t.certificate.person, *t.randomised)
        return
    answers = t.rows_by_unit
    rows = answers[0][1]
    picture = partial(picture_of, t.certificate, answers, t.possible)
    if picture(WIDE) is not None:
        yield Figure(lambda width: picture(width) or "", left_out(t.certificate, answers))
    if t.releases[0][1].randomiser.output is MARKS:
        yield from _places(t, rows)
        return
    places = two_way_of(t.certificate, [row["cell"] for row in rows])
    if t.is_by_unit:
        yield _table_of_units(t, answers)
    elif any(row["low"] is None for row in rows):  # labels and the like: nothing to draw, no interval
        cells = [(str(row["cell"]), in_words(row)) for row in rows]
        yield Table(f"Published values of {t.name}", ("cell", "published"), cells, (1,))
    elif places is not None:
        yield from _tables_of_two_ways(t, places, rows)
    else:
        yield _table_of_cells(t, rows)


def _table_of_cells(t: Published, rows: Sequence[Row]) -> Table:
    """Return one row per cell, with any adjusted value."""
    error = common_error(rows)
    header = [axes_of(t.certificate)[0], f"noisy value{t.certificate.unit_in_brackets}"]
    if error is None:
        # only where intervals differ in width
        header.append("95 % interval")
    if "adjusted" in rows[0]:
        header.append("adjusted")
    has_estimates = any(row.get("estimate") is not None for row in rows)
    if has_estimates:
        header += ["estimate, if the belief is true", "its 95 % interval"]
    body = list[Line]()
    for row in rows:
        line: list[str | Cell] = [str(row["cell"]), noisy_cell(row, t.possible)]
        if error is None:
            line.append(f"{at_least(row['low'])} to {at_most(row['high'])}")
        if "adjusted" in row:
            line.append(number(row["adjusted"]))
        if has_estimates:
            line += _estimated(row)
        body.append(line)
    return Table(f"Published values of {t.name}", header, body, range(1, len(header)), _note(t, rows, error))


def _estimated(row: Row) -> list[str | Cell]:
    """Return a row's estimate and its interval, empty where the belief contradicts the value."""
    if row.get("estimate") is None:
        return ["", ""]
    return [number(row["estimate"]), f"{number(row['estimate_low'])} to {number(row['estimate_high'])}"]


def _tables_of_two_ways(t: Published, places: Places, rows: Sequence[Row]) -> Iterator[Table]:
    """Yield the noisy and any adjusted values, with the longer way down."""
    name, other_name = axes_of(t.certificate)
    down, across = (list(dict.fromkeys(way)) for way in zip(*places, strict=True))
    if len(across) > max(MOST_OF_TWO, len(down)):
        places, name, down, across = [place[::-1] for place in places], other_name, across, down
    noisy, adjusted = dict[tuple[str, str], Cell](), dict[tuple[str, str], str]()
    for place, row in zip(places, rows, strict=True):
        noisy[place] = noisy_cell(row, t.possible)
        if "adjusted" in row:
            adjusted[place] = number(row["adjusted"])
    where = f"of {t.certificate.release}{t.certificate.unit_in_brackets}"
    header, note = (name, *across), _note(t, rows, common_error(rows))
    yield Table(f"Published values {where}", header, _crossed(down, across, noisy), range(1, len(header)), note)
    if adjusted:
        yield Table(f"Adjusted values {where}", header, _crossed(down, across, adjusted), range(1, len(header)))


def _crossed(
    down: Sequence[str], across: Sequence[str], cells: Mapping[tuple[str, str], str | Cell]
) -> list[Line]:
    return [[row, *(cells.get((row, column), "-") for column in across)] for row in down]


def _table_of_units(t: Published, answers: Answers) -> Table:
    """Return one row per unit, or per value for many cells."""
    labels, caption = t.releases[0][1].labels, f"Published values of {t.name}{t.certificate.unit_in_brackets}"
    every, note = t.rows, ""
    error = common_error(every)
    if every[0]["low"] is not None:
        note = _note(t, every, error)
    header, body = [t.certificate.person, "cell", "noisy value"], list[Line]()
    is_adjusted = "adjusted" in every[0]
    if len(labels) > MOST_PANELS:
        if is_adjusted:
            header.append("adjusted")
        for unit, rows in answers:
            for row in rows:
                line: list[str | Cell] = [unit or "", str(row["cell"]), noisy_cell(row, t.possible)]
                if is_adjusted:
                    line.append(number(row["adjusted"]))
                body.append(line)
        return Table(caption, header, body, (2, 3), note)
    header = [t.certificate.person, *labels]
    if error is None:
        header.append("± 95 %")
    if is_adjusted:
        header += [f"{label}, adjusted" for label in labels]
    for (unit, rows), (_, answer) in zip(answers, t.releases, strict=True):
        line = [unit or "", *(noisy_cell(row, t.possible) for row in rows)]
        if error is None:
            farthest = farthest_end(answer, t.cells)
            line.append("-" if farthest is None else plus_minus(farthest))
        if is_adjusted:
            line += [number(row["adjusted"]) for row in rows]
        body.append(line)
    return Table(caption, header, body, range(1, len(header)), note)


def _places(t: Published, rows: Sequence[Row]) -> Iterator[Block]:
    """Yield the number of places by mark, and those not called safe."""
    count = Counter(map(place_kind, rows))
    caption = ", ".join(f"{count[kind]:,} {kind}" for kind in LEGEND if count[kind])
    boxes = boxes_of(t.certificate.frameworks.values())
    of_interest = [row for row in rows if boxes is None or row[UPPER] != "safe"]
    notes = [f"{caption} of {len(rows):,} places."]
    if boxes is not None:
        notes.append(f"x and y are the middle of a place; {t.certificate.release}.csv has all of them.")
    if len(of_interest) > MOST_LISTED:
        notes.append(f"{len(of_interest) - MOST_LISTED:,} more are in the table.")
    if not of_interest:
        yield Words(" ".join(notes), "note")
        return
    header, body = ["place", "published"], list[Line]()
    if boxes is not None:
        header += ["x", "y"]
    for row in of_interest[:MOST_LISTED]:
        line = [str(row["cell"]), in_words(row)]
        if boxes is not None:
            line += [f"{at:.8g}" for at in boxes.middle(line[0])]
        body.append(line)
    yield Table(f"Published of {t.certificate.release}", header, body, range(1, len(header)), " ".join(notes))


def noisy_cell(row: Row, possible: Ends | None) -> Cell:
    """Return a value's cell, a small one with its error in percent: faded as noise, starred as impossible."""
    words, kind = " ".join(filter(None, [number(row["value"]), relative_error(row)])), ""
    if is_outside(row["value"], possible):
        words += " *"
    if row.get(READABLE) is False:
        kind = "noise"
    return Cell(words, kind)


def _note(t: Published, rows: Sequence[Row], error: float | None) -> str:
    """Explain a table's error and marks in a note below it."""
    if error is not None:
        exact = exact_word(t.certificate.query)
        words = error_words(error, t.cells, t.certificate.measured_in or "", exact)
    elif t.cells == 1:
        words = f"{_READ}."
    else:
        words = f"{_READ}, for all {t.cells:,} values of this table at once."
    estimated = [f"{t.estimate_words}."] if t.estimate_words else []
    sampling = _NOT_SAMPLING.format(people=t.certificate.people.many)
    return " ".join([words, sampling, *estimated, *marks_meant(rows, t.possible)])


def marks_meant(rows: Sequence[Row], possible: Ends | None) -> Iterator[str]:
    """Yield the meanings of the values' marks."""
    if any(row.get(READABLE) is False for row in rows):
        yield _FADED
    if possible is not None and any(is_outside(row["value"], possible) for row in rows):
        low, high = possible
        yield f"* The noise led there: no true value is below {at_least(low)} or above {at_most(high)}."
