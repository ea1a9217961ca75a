"""What is shown of a randomised column: the populations, what is sent, and how little it tells of them.

All of it is public before anything is drawn: the populations and the mechanism, and no row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from takifugu.core.escaping import at_most
from takifugu.core.plain import Json, Row
from takifugu.core.text.maps import Place, ends_of, heat_map
from takifugu.core.text.pictures import Bar, bar_chart
from takifugu.core.text.scales import Axis
from takifugu.model.beliefs.populations import FromPopulations
from takifugu.model.policies.boxes import DIGITS
from takifugu.releasing.report.page import WIDE, Block, Figure, Gallery, Table, Words

if TYPE_CHECKING:
    from takifugu.mechanisms.local.sent import Sending

#: How much is drawn or listed.
MOST_POPULATIONS, MOST_VALUES = 6, 40
Box = tuple[float, float, float, float]
#: What draws a picture of a width.
Picture = Callable[[int], str]


def population_maps(name: str, person: str, belief: FromPopulations, noise: Sending) -> Iterator[Block]:
    """Yield each population's maps or bars, before and after sending; a row is of one `person`."""
    yield Words(f"What was sent for each row is in {name}.csv; the rows are not repeated here.")
    yield Table(
        f"What is sent of {name}",
        ("what", "per row", f"per {person}"),
        [
            ("rows", "1", f"up to {belief.rows}"),
            ("told about the value itself, at most epsilon", _number(noise.local_loss()),
             _number(belief.rows * noise.local_loss())),
            ("expected loss", _loss(noise.expected, noise.measure), "-"),
            ("largest loss", _loss(noise.worst, noise.measure), "-"),
        ],
        (1, 2),
    )  # fmt: skip
    if belief.is_planar:
        yield Gallery([Figure(draw, narrow_only=True) for draw in _maps(belief, noise)])
    else:
        yield from map(Figure, _bars(belief, noise))


def drawn_populations(belief: FromPopulations, noise: Sending) -> Iterator[str]:
    """Yield the pictures alone: maps, or bars."""
    for draw in (_maps if belief.is_planar else _bars)(belief, noise):
        yield draw(WIDE)


def places_of_populations(belief: FromPopulations, noise: Sending) -> Iterator[tuple[Box, Row]]:
    """Yield populations' cells as boxes (left, low, right, high) with their shares before and after sending."""
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


def _bars(belief: FromPopulations, noise: Sending) -> Iterator[Picture]:
    """Yield the bars of each population, before and after sending."""
    sent = marginals(belief, noise)
    for place, name in enumerate(belief.populations[:MOST_POPULATIONS]):
        bars: list[Bar] = []
        for value, before, after in zip(belief.values[:MOST_VALUES], belief.laws[place], sent[place], strict=False):
            for time, share in (("before", before), ("sent", after)):
                bars.append(Bar(f"{value} {time}", float(f"{100 * float(share):.4g}")))
        yield partial(bar_chart, bars, Axis("% of rows"), str(name))


def marginals(belief: FromPopulations, noise: Sending) -> list[list[float]]:
    """Return each value's share of the output, by population."""
    rows = np.array(list(map(noise.sender.shares, range(len(belief.values)))))
    laws = np.array(belief.laws, dtype=float)
    return list(map(list, laws @ rows))


def moved_most(belief: FromPopulations, noise: Sending) -> int:
    """Return the number of the value most often sent as another."""
    return max(range(len(belief.values)), key=lambda y: float(belief.prior[y]) * (1 - noise.sender.shares(y)[y]))


def _maps(belief: FromPopulations, noise: Sending) -> Iterator[Picture]:
    """Yield each population's maps before and after sending, and one place's output."""
    laws, sent = [[*map(float, law)] for law in belief.laws], marginals(belief, noise)
    metres = float(belief.scales[0]) if belief.measure == "m" else None

    def drawn(shares: Sequence[float], title: str, mark: Place | None, most: float, width: int) -> str:
        return heat_map(belief.places, shares, title, min(width, 340), mark, metres, most)

    most = max(map(max, (*laws[:MOST_POPULATIONS], *sent[:MOST_POPULATIONS])))
    for place, name in enumerate(belief.populations[:MOST_POPULATIONS]):
        yield partial(drawn, laws[place], f"{name}: where people are", None, most)
        yield partial(drawn, sent[place], f"{name}: what is sent", None, most)
    start = moved_most(belief, noise)
    shares = noise.sender.shares(start)
    yield partial(drawn, shares, "what is sent from the ringed place", belief.places[start], max(shares))


def _number(value: float) -> str:
    return "without a bound" if math.isinf(value) else at_most(value, digits=4)


def _loss(value: float, measure: str) -> str:
    return f"{at_most(value, digits=4)} {measure}".strip()
