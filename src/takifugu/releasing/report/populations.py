"""What a report shows of a randomised column: the populations, what is sent, and how little it tells of them.

All of it is public before anything is drawn: the populations and the mechanism, and no row.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from takifugu.core.escaping import number
from takifugu.core.text.maps import heat_map
from takifugu.core.text.pictures import Bar, bar_chart
from takifugu.core.text.scales import Axis
from takifugu.mechanisms.local.sent import Sending
from takifugu.model import frameworks
from takifugu.model.beliefs.populations import FromPopulations
from takifugu.releasing.report.page import WIDE, Block, Figure, Gallery, Table, Words
from takifugu.releasing.report.reported import Reported

#: How much is drawn or listed.
MOST_POPULATIONS, MOST_VALUES = 6, 40
#: Populations, how often each place is there, a title, the place that is ringed, if any, and the darkest number.
Picture = tuple[FromPopulations, Sequence[float], str, tuple[float, float] | None, float]


def population_maps(t: Reported) -> Iterator[Block]:
    """Yield each population's maps or bars, before and after sending.

    A last map of places shows the output for one place.
    """
    belief, noise = randomised(t)
    yield Words(f"What was sent for each row is in {t.name}.csv; the rows are not repeated here.")
    yield Table(
        f"What is sent of {t.name}",
        ("what", "per row", "per person"),
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
        yield Gallery([Figure(partial(_drawn, picture), narrow_only=True) for picture in _maps(belief, noise)])
        return
    for name, bars in _bars(belief, noise):
        yield Figure(lambda width, bars=bars, name=name: bar_chart(bars, Axis("% of rows"), name, width=width))  # type: ignore[misc]


def drawn_populations(t: Reported) -> Iterator[str]:
    """Yield the pictures alone: maps, or bars."""
    belief, noise = randomised(t)
    if belief.is_planar:
        yield from (_drawn(picture, WIDE) for picture in _maps(belief, noise))
    else:
        yield from (bar_chart(bars, Axis("% of rows"), name, width=WIDE) for name, bars in _bars(belief, noise))


def randomised(t: Reported) -> tuple[FromPopulations, Sending]:
    """Return the populations of a randomised column, and its noise."""
    belief: Any = frameworks.from_dict(next(iter(t.certificate.frameworks.values()))).beliefs[0]
    noise: Any = t.answers[0][1].randomiser
    return belief, noise


def _bars(belief: FromPopulations, noise: Sending) -> Iterator[tuple[str, list[Bar]]]:
    """Yield each population's name with its bars, before and after sending."""
    sent = marginals(belief, noise)
    for place, name in enumerate(belief.populations[:MOST_POPULATIONS]):
        bars: list[Bar] = []
        for value, before, after in zip(belief.values[:MOST_VALUES], belief.laws[place], sent[place], strict=False):
            for time, share in (("before", before), ("sent", after)):
                bars.append(Bar(f"{value} {time}", float(f"{100 * float(share):.4g}")))
        yield str(name), bars


def marginals(belief: FromPopulations, noise: Sending) -> list[list[float]]:
    """Return each value's share of the output, by population."""
    rows = np.array([noise.sender.shares(place) for place in range(len(belief.values))])
    laws = np.array(belief.laws, dtype=float)
    return [list(row) for row in laws @ rows]


def moved_most(belief: FromPopulations, noise: Sending) -> int:
    """Return the number of the value most often sent as another."""
    return max(range(len(belief.values)), key=lambda y: float(belief.prior[y]) * (1 - noise.sender.shares(y)[y]))


def _maps(belief: FromPopulations, noise: Sending) -> Iterator[Picture]:
    """Yield each population's maps before and after sending, and one place's output."""
    laws, sent = [[*map(float, law)] for law in belief.laws], marginals(belief, noise)
    most = max(max(law) for law in (*laws[:MOST_POPULATIONS], *sent[:MOST_POPULATIONS]))
    for place, name in enumerate(belief.populations[:MOST_POPULATIONS]):
        yield belief, laws[place], f"{name}: where people are", None, most
        yield belief, sent[place], f"{name}: what is sent", None, most
    start = moved_most(belief, noise)
    shares = noise.sender.shares(start)
    yield belief, shares, "what is sent from the ringed place", belief.places[start], max(shares)


def _drawn(picture: Picture, width: int) -> str:
    belief, numbers, title, mark, most = picture
    metres = float(belief.scales[0]) if belief.measure == "m" else None
    return heat_map(belief.places, numbers, title, min(width, 340), mark, metres, most)


def _number(value: float) -> str:
    return "without a bound" if math.isinf(value) else number(value, digits=4)


def _loss(value: float, measure: str) -> str:
    return f"{number(value, digits=4)} {measure}".strip()
