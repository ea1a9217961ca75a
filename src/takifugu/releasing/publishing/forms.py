"""Published tables in other forms, made on demand of what lies in the folder: JSON, GeoJSON, a Data Package, a ZIP."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from pathlib import Path

from takifugu.core.errors import InputError
from takifugu.core.plain import Row
from takifugu.releasing.certificates.archives import MEMBERS, zipped
from takifugu.releasing.certificates.files import (
    ARCHIVE,
    CERTIFICATE,
    DATA,
    DRAWING,
    PACKAGE,
    PLACES,
    TABLE,
    content_of,
)
from takifugu.releasing.postprocess.open_data import data_package, geo_json, table_json
from takifugu.releasing.postprocess.picture import boxes_in
from takifugu.releasing.publishing.sheets import published_at
from takifugu.releasing.report.populations import Box, places_of_populations
from takifugu.releasing.report.published import Published

#: What a table is called in each form, after its name.
FORMS = {"json": DATA, "geojson": PLACES, "datapackage": PACKAGE, "zip": ARCHIVE}
#: The longitudes and latitudes that there are.
_DEGREES = (-180.0, -90.0, 180.0, 90.0)
_METRES_PER_DEGREE = 111_195.0


def form_of(folder: Path, name: str, kind: str) -> bytes:
    """Return a published table in another form; InputError for none, and for GeoJSON without degrees."""
    if content_of(folder / f"{name}{TABLE}") is None:
        raise InputError(f"{name}{TABLE} is not beside {name}{CERTIFICATE}", fix="publish it again: that costs nothing")
    if kind == "zip":  # of what is there, as it is: whoever gets it verifies it
        return zipped({f"{name}{end}": content for end, content in _contents(folder, name, MEMBERS).items()})
    table = published_at(folder, name)
    if kind == "json":
        return table_json(table.rows, table.certificate)
    if kind == "geojson":
        return geo_json(iter(_places(table)))
    return data_package(name, _contents(folder, name, (TABLE, DRAWING)), table.rows, table.certificate)


def _contents(folder: Path, name: str, ends: Iterable[str]) -> dict[str, bytes]:
    """Return the bytes of those files of a table that are there, by the ends of their names."""
    contents = {end: content_of(folder / f"{name}{end}") for end in ends}
    return {end: content for end, content in contents.items() if content is not None}


def _places(table: Published) -> list[tuple[Box, Row]]:
    """Return each place as a box with its row; the coordinates are taken for longitude and latitude."""
    places = list(_boxes(table))
    left, low, right, high = _DEGREES
    if not all(left <= a <= c <= right and low <= b <= d <= high for (a, b, c, d), _ in places):
        raise _no_degrees()
    return places


def _no_degrees() -> InputError:
    return InputError(
        "its coordinates are no longitudes and latitudes", rule="GeoJSON holds degrees",
        fix="write --as json, and convert the coordinates",
    ).at("as")  # fmt: skip


def _boxes(table: Published) -> Iterator[tuple[Box, Row]]:
    if not table.cells:
        belief, noise = table.randomised
        if belief.is_planar:
            if belief.measure == "m" and not math.isclose(belief.scales[1], _METRES_PER_DEGREE, rel_tol=0.01):
                raise _no_degrees()
            yield from places_of_populations(belief, noise)
            return
    elif (boxes := boxes_in(table.certificate.frameworks.values(), table.releases[0][1].labels)) is not None:
        yield from ((boxes.box(row["cell"]), row) for row in table.rows)
        return
    raise InputError("it is not about places with coordinates", fix="write --as json, or --as datapackage").at("as")
