"""A map of published marks: the boxes of a grid, coloured by what was said about each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from takifugu.core.errors import TakifuguError
from takifugu.core.plain import Plain, Row
from takifugu.core.text.pictures import drawing, rectangle, words
from takifugu.model.policies.boxes import Boxes
from takifugu.releasing.certificates.cells import UPPER
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.postprocess.readable import in_words
from takifugu.releasing.report.maps import BELOW, HEAD, LEFT, MARGIN, Ground, frame
from takifugu.releasing.report.page import figure, paragraph, table

#: What a place was called, in the order of the legend, with the colour of each.
_SAFE, _VALUE, _LEFT, _NO_QUESTION = "safe", "not known to be safe", "not answered", "not asked about"
_COLOURS = {_SAFE: "#009e73", _VALUE: "#d55e00", _LEFT: "#8d99a6", _NO_QUESTION: "#f0f0f0"}
_LEGEND = 44
#: How many places that are not called safe are listed; the table has them all.
MOST_LISTED = 200


def boxes_of(frameworks: Iterable[Plain]) -> Boxes | None:
    """Return the grid that the places of written frameworks are boxes of; None where they are not."""
    for framework in frameworks:
        boxes = dict(framework.get("domain") or {}).get("boxes")
        if boxes is not None:
            try:
                return Boxes.from_dict(boxes)
            except (TakifuguError, LookupError, TypeError):
                return None
    return None


def verdict_map(certificate: Certificate, rows: Sequence[Row]) -> Iterator[str]:
    """Yield a map, where the cells are boxes of a grid, how many cells were called what, and those not called safe."""
    said = {str(row["cell"]): _kind(row[UPPER]) for row in rows}
    count = Counter(said.values())
    caption = ", ".join(f"{count[kind]:,} {kind}" for kind in (_SAFE, _VALUE, _LEFT) if count[kind])
    boxes = boxes_of(certificate.frameworks.values())
    if boxes is not None:
        title = certificate.statistic[:1].upper() + certificate.statistic[1:]
        yield figure(lambda width: map_of(boxes, said, title, width), f"{caption} of {len(said):,} places")
    listed = [row for row in rows if boxes is None or row[UPPER] != _SAFE]
    more = f"{len(listed) - MOST_LISTED:,} more are in the table." if len(listed) > MOST_LISTED else ""
    where = "" if boxes is None else f"x and y are the middle of a place; {certificate.release}.csv has all of them."
    if listed:
        note = " ".join(words for words in (f"{caption} of {len(said):,} places.", where, more) if words)
        header = ("place", "published", *(() if boxes is None else ("x", "y")))
        listing = [
            (str(row["cell"]), in_words(row), *_middle(boxes, str(row["cell"]))) for row in listed[:MOST_LISTED]
        ]
        yield table(f"Published of {certificate.release}", header, listing, range(1, len(header)), note)
    elif where:
        yield paragraph(where, "note")


def _middle(boxes: Boxes | None, name: str) -> tuple[str, ...]:
    return () if boxes is None else tuple(f"{at:.8g}" for at in boxes.middle(name))


def drawn_map(certificate: Certificate, rows: Sequence[Row], width: int) -> str:
    """Return the map alone; the certificate's cells are boxes of a grid."""
    boxes = boxes_of(certificate.frameworks.values())
    assert boxes is not None
    title = certificate.statistic[:1].upper() + certificate.statistic[1:]
    return map_of(boxes, {str(row["cell"]): _kind(row[UPPER]) for row in rows}, title, width)


def map_of(boxes: Boxes, said: Mapping[str, str], title: str, width: int) -> str:
    """Return the boxes as a picture, north above where y grows northwards: boxes of one colour side by side are one."""
    side = (width - LEFT - MARGIN) / boxes.columns
    low = HEAD + side * boxes.rows + BELOW
    height = round(low + _LEGEND)
    body = []
    for row in range(boxes.rows):
        kinds = [said.get(f"r{row}c{column}", _NO_QUESTION) for column in range(boxes.columns)]
        start, top = 0, HEAD + (boxes.rows - 1 - row) * side
        for kind, run in groupby(kinds):
            length = len(list(run))
            body.append(rectangle(LEFT + start * side, top, length * side, side, _COLOURS[kind]))
            start += length
    x, y = ((float(low), float(high)) for low, high in (boxes.x, boxes.y))
    body += frame(Ground(x, y), side * boxes.columns, side * boxes.rows)
    present = [kind for kind in _COLOURS if kind in {*said.values()} or kind == _SAFE]
    for place, kind in enumerate(present):
        left, top = MARGIN + (place % 2) * width / 2, low + 20 * (place // 2)
        body += [rectangle(left, top, 12, 12, _COLOURS[kind]), words(left + 17, top + 10, kind)]
    return drawing(width, height, title, body)


def _kind(value: object) -> str:
    return value if value in (_SAFE, _LEFT) else _VALUE
