"""A published table as open data: JSON with units, a Data Package that describes its files, and GeoJSON of places."""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Iterator, Mapping, Sequence

from takifugu.core.plain import Json, Row
from takifugu.releasing.certificates.cells import CLOCK, ESTIMATED, MARK, POSSIBLE, READABLE, REHEARSAL, ROW, UPPER
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.certificates.files import DRAWING, TABLE, digest_of
from takifugu.releasing.certificates.wording import meaning_of
from takifugu.releasing.postprocess.readable import columns_in

_PROFILE = "https://datapackage.org/profiles/2.0"
_ABOUT = {
    "window": "which hour, day, week, month or year",
    "unit": "whose answer it is",
    "cell": "which part of the table; an apostrophe stands in front of what a spreadsheet would run",
    "value": "the published value: the true one with noise",
    UPPER: '"safe" or an upper value, which is no count: the true one is at most that, and may be far below it',
    MARK: '"safe": at most the threshold, always; "dangerous": more than that, wrong with a probability that the '
    'certificate states; "undecided": neither is known',
    "low": "where the 95 % interval of the noise begins, all values of the table at once; not sampling error",
    "high": "where the 95 % interval of the noise ends",
    "estimate": "the mean of the exact value, given what was published and the model; as right as the model, and empty "
    "where they contradict",
    "estimate_low": "where the 95 % interval of the exact value begins, of this cell alone, if the model is true",
    "estimate_high": "where the 95 % interval of the exact value ends",
    READABLE: "whether the published value is at least as large as its 95 % error; of a mean, whether that error is no "
    "larger than what matters to its reader",
    POSSIBLE: "false for a value that the true one cannot be, such as a count below 0: noise put it there",
    "adjusted": "a value made of the noisy ones, not negative and adding up; it may be biased",
    REHEARSAL: "this is a rehearsal with made-up data, and guarantees nothing",
    CLOCK: "whose clock tells the hours, weekdays or dates of the cells",
    "x": "the middle of the place, as in the data",
    "y": "the middle of the place, as in the data",
    ROW: "the number of the row, from 0",
}
_MEASURED = ("value", UPPER, "low", "high", *ESTIMATED, "adjusted")


def fields_of(rows: Sequence[Row], certificate: Certificate) -> list[dict[str, str]]:
    """Return a table's columns: name, type, description, and any declared unit."""
    fields = []
    for name, values in columns_in(rows).items():
        field = {"name": name, "type": _type(values), "description": _ABOUT.get(name, "what was sent for the row")}
        if certificate.measured_in and name in _MEASURED:
            field["unit"] = certificate.measured_in
        fields.append(field)
    return fields


def _type(values: Sequence[Hashable]) -> str:
    kinds = {*map(type, values)} - {type(None)}
    if kinds == {bool}:
        return "boolean"
    if kinds == {int}:
        return "integer"
    if kinds <= {int, float}:
        return "number"
    return "string" if kinds == {str} else "any"  # a number at some places, "safe" at others


def table_json(rows: Sequence[Row], certificate: Certificate) -> bytes:
    """Return a table as JSON: its description, columns with units, and rows."""
    table = {
        "title": certificate.title or certificate.release, "statistic": certificate.statistic,
        "source": certificate.source, "measured_in": certificate.measured_in,
        "fields": fields_of(rows, certificate), "rows": list(map(dict, rows)),
    }  # fmt: skip
    return f"{json.dumps(table, indent=1, ensure_ascii=False)}\n".encode()


def data_package(
    name: str, files: Mapping[str, bytes], rows: Sequence[Row], certificate: Certificate
) -> bytes:
    """Return the Data Package (version 2) of files with these ends."""
    table: Json = {
        "name": "table", "path": f"{name}{TABLE}", "type": "table", "format": "csv", "mediatype": "text/csv",
        "encoding": "utf-8", "bytes": len(files[TABLE]), "hash": digest_of(files[TABLE]),
        "schema": {
            "$schema": f"{_PROFILE}/tableschema.json", "fields": fields_of(rows, certificate), "missingValues": [""],
        },
    }  # fmt: skip
    resources = [table]
    if DRAWING in files:
        resources.append({
            "name": "svg", "path": f"{name}{DRAWING}", "format": "svg", "mediatype": "image/svg+xml",
            "bytes": len(files[DRAWING]), "hash": digest_of(files[DRAWING]),
        })  # fmt: skip
    means = "".join(f" {words}" for words in meaning_of(certificate))
    package: Json = {
        "$schema": f"{_PROFILE}/datapackage.json",
        "name": re.sub("[^a-z0-9._-]+", "-", name.lower()).strip("-") or "table",
        "title": certificate.title or name,
        "description": (
            f"{certificate.statistic}. Every value has noise; what that promises is in the certificate.{means}"
        ),
        "sources": [{"title": certificate.source}],
    }
    if certificate.publisher:
        publisher: Json = {"title": certificate.publisher, "roles": ["publisher"]}
        if re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+", certificate.contact or ""):
            publisher["email"] = certificate.contact
        package["contributors"] = [publisher]
    package["resources"] = resources
    return f"{json.dumps(package, indent=1, ensure_ascii=False)}\n".encode()


def geo_json(boxes: Iterator[tuple[tuple[float, float, float, float], Row]]) -> bytes:
    """Return boxes (left, low, right, high), in coordinates of the data, and their rows as GeoJSON."""
    features = [
        {
            "type": "Feature",
            "properties": dict(row),
            "geometry": {
                "type": "Polygon",
                "coordinates": [[[left, low], [right, low], [right, high], [left, high], [left, low]]],
            },
        }
        for (left, low, right, high), row in boxes
    ]
    return f"{json.dumps({'type': 'FeatureCollection', 'features': features}, ensure_ascii=False)}\n".encode()
