"""A published table of two ways, such as hour and state: as a table with a row for each cell, and as a picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from takifugu.core.plain import Row
from takifugu.core.text.pictures import drawing, words
from takifugu.model.queries import registry
from takifugu.releasing.advice.worth import measured
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.postprocess.readable import number
from takifugu.releasing.report.page import figure, table

#: Larger tables are not drawn.
MOST_ROWS, MOST_COLUMNS = 60, 12
_HEAD, _LINE, _LEFT, _MARGIN, _COLOUR = 52, 18, 110, 12, "#0072b2"

#: Row and column of each cell.
Places = Sequence[tuple[str, str]]


def two_way_of(certificate: Certificate, labels: Sequence[str]) -> Places | None:
    """Return the row and column of each cell, where the query of a certificate says that it has both."""
    try:
        return registry.two_way_of(certificate.query, labels)
    except (LookupError, TypeError, ValueError, ArithmeticError):  # the file is not as it was written
        return None


def crossed(certificate: Certificate, places: Places, rows: Sequence[Row], note: str) -> Iterator[str]:
    """Yield the picture and the table of noisy values, and the table of adjusted ones where there are some."""
    places, names = _the_longer_way_down(places, _names(certificate))
    across, down = _ways(places)
    unit = certificate.measured_in
    if _is_drawn(places):
        most = max((row["value"] for row in rows if row["value"] is not None), default=0)
        largest = f", which is at most {measured(most, unit or '')}" if most > 0 else ""
        caption = (
            f"The stronger the colour, the larger the noisy value{largest}; there is none where it is not above 0."
        )
        yield figure(lambda width: _picture(certificate, places, rows, width), caption)
    for key, what in (("value", "Published values"), ("adjusted", "Adjusted values")):
        if key not in rows[0]:
            continue
        values = {place: row[key] for place, row in zip(places, rows, strict=True)}
        body = [[name, *(number(values.get((name, state))) for state in across)] for name in down]
        about = note if key == "value" else ""
        caption = f"{what} of {certificate.release}{f' ({unit})' if unit else ''}"
        yield table(caption, (names[0], *across), body, range(1, len(across) + 1), about)


def drawn_crossed(
    certificate: Certificate, places: Places, rows: Sequence[Row], width: int
) -> str | None:
    """Return the picture alone; None for a table that is too large for one."""
    places, _ = _the_longer_way_down(places, ("", ""))
    return _picture(certificate, places, rows, width) if _is_drawn(places) else None


def _the_longer_way_down(places: Places, names: tuple[str, str]) -> tuple[Places, tuple[str, str]]:
    if len({column for _, column in places}) > max(MOST_COLUMNS, len({row for row, _ in places})):
        return [(column, row) for row, column in places], (names[1], names[0])
    return places, names


def _ways(places: Places) -> tuple[list[str], list[str]]:
    """Return what is written across, and what is written down."""
    return list(dict.fromkeys(column for _, column in places)), list(dict.fromkeys(row for row, _ in places))


def _is_drawn(places: Places) -> bool:
    across, down = _ways(places)
    return len(down) <= MOST_ROWS and len(across) <= MOST_COLUMNS


def _names(certificate: Certificate) -> tuple[str, str]:
    """Return what the rows and the columns of a table are: two columns of records, or cells and states."""
    query = certificate.query
    columns, axes = [str(name) for name, *_ in query.get("columns", ())], list(query.get("axes", ()))
    inside = query.get("query", {}).get("kind")
    for ways in (columns, axes if inside != "histogram" else []):
        if len(ways) == 2:
            return ways[0], ways[1]
    return str(query.get("by") or "cell"), "state"


def _picture(certificate: Certificate, places: Places, rows: Sequence[Row], width: int) -> str:
    """Return a rectangle for each value, as opaque as it is large."""
    across, down = _ways(places)
    values = {place: row["value"] for place, row in zip(places, rows, strict=True)}
    title = certificate.statistic[:1].upper() + certificate.statistic[1:]
    most = max([float(v) for v in values.values() if v is not None], default=0.0)
    size = (width - _LEFT - _MARGIN) / len(across)
    body = [words(_LEFT + size * i, _HEAD - 8, _cut(name, size)) for i, name in enumerate(across)]
    for j, name in enumerate(down):
        body.append(words(_MARGIN, _HEAD + _LINE * j + 13, _cut(name, _LEFT - _MARGIN)))
        for i, state in enumerate(across):
            share = max(float(values.get((name, state)) or 0), 0.0) / most if most > 0 else 0.0
            body.append(
                f'<rect x="{_LEFT + size * i:.1f}" y="{_HEAD + _LINE * j}" width="{size - 2:.1f}" height="{_LINE - 2}" '
                f'fill="{_COLOUR}" fill-opacity="{share:.3f}"/>'
            )
    return drawing(width, _HEAD + _LINE * len(down) + _MARGIN, title, body)


def _cut(name: str, room: float) -> str:
    most = max(int(room / 7), 1)
    return name if len(name) <= most else f"{name[: most - 1]}…"
