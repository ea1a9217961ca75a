"""Where the places of a table lie: boxes of safe places, cells of populations, and what was published of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from takifugu.core.plain import Json, Plain, Row
from takifugu.core.text.maps import ends_of
from takifugu.mechanisms.local.sent import Sending
from takifugu.model.beliefs.populations import FromPopulations
from takifugu.model.policies.boxes import DIGITS, Boxes
from takifugu.releasing.postprocess.picture import boxes_of
from takifugu.releasing.report.populations import marginals, randomised
from takifugu.releasing.report.reported import Reported

Box = tuple[float, float, float, float]


def places_of(t: Reported, rows: Sequence[Row]) -> Iterator[tuple[Box, Row]] | None:
    """Return each place as a box with its row, if any.

    A box is (left, low, right, high).
    """
    if not t.cells:
        belief, noise = randomised(t)
        return _cells(belief, noise) if belief.is_planar else None
    boxes = boxes_in(t.certificate.frameworks.values(), t.answers[0][1].labels)
    return None if boxes is None else ((boxes.box(row["cell"]), row) for row in rows)


def boxes_in(summaries: Iterable[Plain], labels: Iterable[str]) -> Boxes | None:
    """Return the grid of all these cells as boxes, if any.

    `summaries` are written frameworks.
    """
    boxes = boxes_of(summaries)
    return None if boxes is None or not {*labels} <= {*boxes.names()} else boxes


def _cells(belief: FromPopulations, noise: Sending) -> Iterator[tuple[Box, Row]]:
    """Yield populations' cells with their shares before and after sending."""
    sent = marginals(belief, noise)
    places = belief.places
    halves = [_half_a_cell(sorted({x for x, _ in places})), _half_a_cell(sorted({y for _, y in places}))]
    for number, (x, y) in enumerate(places):
        row: Json = {"x": x, "y": y}
        for place, name in enumerate(belief.populations):
            row[f"{name}: share"] = float(belief.laws[place][number])
            row[f"{name}: share sent"] = float(sent[place][number])
        ends = (x - halves[0], y - halves[1], x + halves[0], y + halves[1])
        a, b, c, d = (round(end, DIGITS) for end in ends)
        yield (a, b, c, d), row


def _half_a_cell(values: Sequence[float]) -> float:
    low, high = ends_of(values)
    return (high - low) / (2 * len(values))
