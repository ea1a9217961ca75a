"""GeoJSON (RFC 7946): a feature that is a point becomes a row of its properties and its `lat` and `lon`."""

from __future__ import annotations

import re
from functools import partial
from itertools import chain

from takifugu.core.errors import DataError
from takifugu.data.files.copied_rows import read_rows
from takifugu.data.files.formats import DataFile, Rows, SourceFormat
from takifugu.data.files.json_lines import fields, parsed
from takifugu.data.files.other_kinds import refuse_other_kinds
from takifugu.data.values.texts import NUMBER
from takifugu.data.values.written import Written, not_written_so

#: A larger file is not read into Python's memory, in bytes.
LARGEST = 100_000_000
#: The columns that the geometry becomes, and the largest size of each, in degrees.
BOUNDS = {"lat": 90, "lon": 180}


def rows(file: DataFile, written: Written) -> Rows:
    """Return the properties of all features, with `lat` and `lon`.

    Both are missing without a geometry. Raises DataError, quoting nothing, for other geometries than points,
    coordinates out of range or not in WGS 84, and properties of these names.
    """
    refuse_other_kinds(file)
    with file.opened() as data:
        content = data.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise DataError(f"{file.name} is larger than {LARGEST // 10**6} MB", fix="write its points as CSV or Parquet")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeError:
        raise not_written_so(file.name, None) from None
    collection = parsed(text, file.name)
    if not isinstance(collection, dict):
        collection = {}
    features = collection.get("features")
    if not isinstance(features, list) or collection.get("type") != "FeatureCollection":
        raise DataError(f"{file.name} is no collection of features", fix="write a FeatureCollection of points")
    if not re.search("CRS84|4326|None", str(collection.get("crs"))):
        raise DataError(f"{file.name} is not in WGS 84", fix="write longitude and latitude in degrees (EPSG:4326)")
    records = list[dict[str, str | None]]()
    for number, feature in enumerate(features, 1):
        title = f"{file.name}: feature {number}"
        if not isinstance(feature, dict) or feature.get("type") != "Feature":
            raise DataError(f"{title} is none", fix="write a FeatureCollection of points")
        record = fields(feature.get("properties") or {}, title)
        if record.keys() & BOUNDS.keys():
            fault = f"{title} has a property called lat or lon, as its coordinates are"
            raise DataError(fault, fix="rename or remove it")
        records.append({**record, **_place(feature.get("geometry"), title)})
    if not records:
        raise DataError(f"{file.name} has no features", rule="nothing can be released")
    properties = dict.fromkeys(chain.from_iterable(records))
    names = (*(name for name in properties if name not in BOUNDS), *BOUNDS)
    return names, (list(map(record.get, names)) for record in records)


def _place(geometry: object, title: str) -> dict[str, str | None]:
    if geometry is None:
        return dict.fromkeys(BOUNDS)
    if not isinstance(geometry, dict):
        geometry = {}
    position = geometry.get("coordinates")
    if not isinstance(position, list) or geometry.get("type") != "Point" or not 2 <= len(position) <= 3:
        raise DataError(f"{title} is no point", fix="write points: a line or an area is not read")
    lon, lat, *_ = position
    for text, (name, largest) in zip((lat, lon), BOUNDS.items(), strict=True):
        if not isinstance(text, str) or not re.match(NUMBER, text) or abs(float(text)) > largest:
            raise DataError(
                f"{title} has a {name} out of range",
                rule=f"it is a number of degrees from -{largest} to {largest}, and longitude comes first",
                fix="repair it, or write longitude and latitude in degrees (EPSG:4326)",
            )
    return {"lat": lat, "lon": lon}


GEOJSON = SourceFormat("GeoJSON", partial(read_rows, rows), suffixes=(".geojson",), rows=rows)
