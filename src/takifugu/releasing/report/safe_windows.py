"""What the page of all windows shows of safe places: a map and the number of safe places of each window."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, groupby

from takifugu.core.plain import Json, Row
from takifugu.core.text.maps import hours_map
from takifugu.data.times.moments import enclosing, hour_of
from takifugu.releasing.certificates.cells import MARK, UPPER
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.postprocess.picture import LEGEND, SAFE, boxes_in, place_kind, safe_map
from takifugu.releasing.postprocess.readable import in_words
from takifugu.releasing.report.outcomes import published_of
from takifugu.releasing.report.page import Block, Cell, Figure, Folded, Gallery, Table, Words

#: Maps of so many windows are drawn, of more they are folded; of so many listed places each one is named.
MOST_MAPS, MOST_NAMED = 48, 12
_MEANING = (
    '"safe" is never wrong, in any window. A number is no count: at most so many were there, and often far fewer. '
    "Noise is drawn anew in each window, and a place that is not called safe in one may well be."
)


def marks_in(certificate: Certificate) -> list[Row]:
    """Return the marked places of one window, none for numbers."""
    rows = list[Row](chain.from_iterable(rows for _, rows in published_of(certificate).rows_by_unit))
    return rows if rows and UPPER in rows[0] else []


def place_rows(certificates: Sequence[Certificate]) -> list[Json]:
    """Return a row (window, cell, mark) for each place and window.

    The mark is "safe" or an upper value.
    """
    rows = list[Json]()
    for period, marks in _windows(certificates):
        for mark in marks:
            rows.append({"window": period, **{key: mark[key] for key in ("cell", UPPER, MARK) if key in mark}})
    return rows


def place_blocks(name: str, certificates: Sequence[Certificate]) -> list[Block]:
    """Return all windows' table, and their maps for places of a grid."""
    windows = list(_windows(certificates))
    if not windows:
        return []
    maps = list[Figure]()
    for certificate, (period, rows) in list(zip(certificates, windows, strict=True))[-MOST_MAPS:]:
        boxes = boxes_in(certificate.frameworks.values(), [row["cell"] for row in rows])
        if boxes is not None:
            maps.append(Figure(partial(safe_map, boxes, rows, f"{name}, {period}"), period, narrow_only=True))
    blocks: list[Block] = [Gallery(maps)] if maps else []
    if len(windows) <= MOST_MAPS:
        return [*blocks, _counts(name, windows)]
    if maps:
        blocks = [Folded(f"Maps of the last {len(maps)} of {len(windows):,} windows", blocks)]
    if all(hour_of(period) is not None for period, _ in windows):
        shares = [(period, [*map(place_kind, rows)].count(SAFE) / len(rows)) for period, rows in windows]
        caption = "A row is a day and a column an hour; what is left white was not published."
        picture = partial(hours_map, shares, f"{name}: share of the places that were called safe")
        blocks.insert(0, Figure(picture, caption))
    blocks.append(Words(_MEANING, "note"))
    for period, inside in groupby(windows, key=lambda window: enclosing(window[0])):
        of_period = list(inside)
        blocks.append(Folded(f"{period}: {len(of_period):,} windows", [_counts(f"{name} in {period}", of_period, "")]))
    return blocks


def _windows(certificates: Sequence[Certificate]) -> Iterator[tuple[str, list[Row]]]:
    for certificate in certificates:
        if certificate.window is not None and (rows := marks_in(certificate)):
            yield certificate.window.period, rows


def _counts(name: str, windows: Sequence[tuple[str, list[Row]]], note: str = _MEANING) -> Table:
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
