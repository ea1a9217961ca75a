"""Many hours in one picture as SVG text: a row for each day, a column for each hour, each as dark as its share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from itertools import groupby

from takifugu.core.text.marks import border, drawing, head_of, rectangle, words

_COLOUR, _SHADES = "#009e73", 10
_LEFT, _MARGIN, _HOURS = 74, 12, 24
#: The height of all days together is so much at most, that of one day between these.
_TALLEST, _LOW, _HIGH = 1100, 3, 14


def hours_map(shares: Sequence[tuple[str, float]], title: str, width: int) -> str:
    """Return a picture of hours in order, such as 2026-02-09T18, and their shares.

    >>> hours_map([("2026-02-09T18", 1.0), ("2026-02-09T19", 1.0)], "safe", 640).count("#009e73")
    11
    """
    of_day = {day: list(hours) for day, hours in groupby(shares, key=lambda pair: pair[0][:10])}
    first, last = (date.fromisoformat(day).toordinal() for day in (min(of_day), max(of_day)))
    days = [date.fromordinal(number).isoformat() for number in range(first, last + 1)]
    top, wide = head_of(title, width) + 20.0, (width - _LEFT - _MARGIN) / _HOURS
    tall = max(_LOW, min(_HIGH, _TALLEST / len(days)))
    body = [words(_LEFT + wide * hour, top - 5, f"{hour:02}") for hour in range(0, _HOURS, 6)]
    for number, day in enumerate(days):
        for left, length, level in _runs([(int(period[11:13]), share) for period, share in of_day.get(day, ())]):
            body.append(rectangle(_LEFT + wide * left, top + tall * number, wide * length, tall, _COLOUR, level))
    labelled = -_HIGH
    for number, day in enumerate(days):
        is_month = day.endswith("-01") or number == 0
        if (is_month or len(days) <= _TALLEST // _HIGH // 2) and tall * number - labelled >= _HIGH:
            body.append(words(_LEFT - 6, top + tall * number + 10, day, "end"))
            labelled = round(tall * number)
    body += border(_LEFT, top, wide * _HOURS, tall * len(days)), *_key(top + tall * len(days) + 12)
    return drawing(width, round(top + tall * len(days) + 36), title, body)


def _runs(hours: Sequence[tuple[int, float]]) -> Iterator[tuple[int, int, float]]:
    """Yield the first hour, the number and the shade of hours alike."""
    for (_, level), run in groupby(enumerate(hours), key=lambda pair: (pair[1][0] - pair[0], _shade(pair[1][1]))):
        inside = list(run)
        yield inside[0][1][0], len(inside), level


def _shade(share: float) -> float:
    """Return the opacity of a share, visible also for the smallest."""
    return (min(int(share * _SHADES), _SHADES - 1) + 1) / _SHADES


def _key(top: float) -> Iterator[str]:
    yield words(_LEFT - 6, top + 12, "0 %", "end")
    for step in range(_SHADES):
        yield rectangle(_LEFT + 10.0 * step, top, 10, 14, _COLOUR, (step + 1) / _SHADES)
    yield words(_LEFT + 106, top + 12, "100 %")
