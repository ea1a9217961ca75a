"""Every table as open data: JSON with units, a Data Package, its picture, places with coordinates."""

import csv
import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.conformance.release_files import Example
from tests.conformance.test_release_files import EXAMPLES
from tests.releasing import files
from tests.releasing.file.test_population_files import BY_NAME, places_in
from tests.releasing.report.test_opening import opening
from tests.releasing.report.test_words_for_readers import SPEC, TABLE, TOP, worded
from tests.support.commands import ended, json_of, succeed, words_of
from tests.support.pages import check_page
from tests.support.release_files import believe, hide, publish, read_from, release_text

from takifugu.releasing.certificates.cells import read_table
from takifugu.releasing.certificates.checksum import read_certificate, table_state
from takifugu.releasing.certificates.files import DRAWING, ENDS, SIGNATURE
from takifugu.releasing.publishing.run import release_file
from takifugu.releasing.report.published import Published

EVENING = release_text(
    read_from("evening", "evening.csv", unit="person", value=["lon", "lat"]),
    believe("asymmetric", grid={"x": [-74, -73], "y": [40, 41], "columns": 6, "rows": 4}, most=1),
    hide(visits="all"),
    publish("safe", "safe", at_most=2, epsilon=1.0),
    ledger="evening.db",
)
TYPES = {"integer": int, "number": (int, float), "string": str, "boolean": bool, "any": object}


def check_package(folder: Path, name: str) -> dict[str, dict]:  # type: ignore[type-arg]
    """Check what a Data Package 2.0 requires, and that it describes the files that lie there; return its resources."""
    succeed("report", folder / f"{name}.certificate.json", "--as", "datapackage", "--force")
    package = json.loads((folder / f"{name}.datapackage.json").read_text(encoding="utf-8"))
    assert package["$schema"] == "https://datapackage.org/profiles/2.0/datapackage.json"
    assert package["name"]
    assert not set(package["name"]) - set("abcdefghijklmnopqrstuvwxyz0123456789._-")
    resources = {one["name"]: one for one in package["resources"]}
    assert len(resources) == len(package["resources"]) > 0
    for one in resources.values():
        content = (folder / one["path"]).read_bytes()
        assert "/" not in one["path"]
        assert one["bytes"] == len(content)
        assert one["hash"] == f"sha256:{hashlib.sha256(content).hexdigest()}"
    table = resources["table"]
    with (folder / table["path"]).open(encoding="utf-8", newline="") as file:
        header = next(csv.reader(file))
    assert [field["name"] for field in table["schema"]["fields"]] == header
    for row in read_table(folder / table["path"])[:50]:
        for field in table["schema"]["fields"]:
            value = row[field["name"]]
            assert value is None or isinstance(value, TYPES[field["type"]]), field
    return resources


@pytest.mark.sampled(12)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.kind)
def test_every_kind_of_file_is_open_data_with_words_for_readers(example: Example, tmp_path: Path) -> None:
    file = replace(example, text=worded(example.text)).write(tmp_path)
    (table,) = release_file(file, allow_useless=True).tables
    folder = table.files[0].parent
    resources = check_package(folder, table.name)
    assert sorted(path.name for path in folder.glob(f"{table.name}.*")) == sorted(
        [*(path.name for path in table.files), f"{table.name}.datapackage.json"]
    )  # nothing else is written beside the table
    succeed("report", folder, "--as", "json")
    data = json.loads((folder / f"{table.name}.table.json").read_text(encoding="utf-8"))
    assert data["rows"] == [dict(row) for row in table.rows]
    assert data["fields"] == resources["table"]["schema"]["fields"]
    expected = {f"{table.name}{end}" for end in ENDS if end not in (DRAWING, SIGNATURE)}
    assert expected <= {path.name for path in table.files}
    certificate = read_certificate(table.files[1])
    assert {key: getattr(certificate, key) for key in {**TOP, **TABLE}} == {**TOP, **TABLE}
    assert table_state(table.files[1], certificate) == "the same"
    text, report = (table.files[i].read_text(encoding="utf-8") for i in (2, 3))
    check_page(report)
    assert "<code>takifugu verify .</code>" in report
    assert "not check this page" in report  # whoever writes a page writes of it what they like
    succeed("verify", folder)
    assert [words for words in (*TOP.values(), *TABLE.values()) if words not in text] == []
    for words in ("City Hospital &lt;b&gt;", "data@hospital.example", "Activity &amp; rest", "minutes"):
        assert words in report, words
    (secret,) = (words for words in opening(report) if words.startswith("Secret: "))
    assert secret.startswith("Secret: that a person was at") == (certificate.definition == "asymmetric")
    assert not re.search("(user|step|row) [0-9]", secret), "nobody but us calls it by that number"


def published(folder: Path) -> Published:
    spec = worded(SPEC.replace('per = "both"', 'per = "pooled"\nadjust = true'))
    return release_file(files.write(folder, spec), allow_useless=True).tables[0]


def test_units_are_told_where_numbers_are(tmp_path: Path) -> None:
    table = published(tmp_path)
    fields = check_package(tmp_path / "out", table.name)["table"]["schema"]["fields"]
    assert {f["name"]: f.get("unit") for f in fields} == {
        "cell": None, "value": "minutes", "low": "minutes", "high": "minutes", "adjusted": "minutes",
        "estimate": "minutes", "estimate_low": "minutes", "estimate_high": "minutes",
        "possible": None, "readable": None,
    }  # fmt: skip
    package = json.loads((tmp_path / "out" / f"{table.name}.datapackage.json").read_text())
    assert package["contributors"][0] == {
        "title": "City Hospital <b>", "roles": ["publisher"], "email": "data@hospital.example",
    }  # fmt: skip


def test_the_report_offers_all_files(tmp_path: Path) -> None:
    table = published(tmp_path)
    picture = (tmp_path / "out" / f"{table.name}.svg").read_text(encoding="utf-8")
    assert ElementTree.fromstring(picture).tag.endswith("svg")
    assert all(f">{row['value']:,}<" in picture for row in table.rows)
    assert picture.count("±") == 1
    report = table.files[3].read_text(encoding="utf-8")
    for end in (".csv", ".svg", ".certificate.json"):
        assert f'href="./{table.name}{end}" download' in report


def test_safe_places_have_coordinates(tmp_path: Path) -> None:
    (tmp_path / "evening.toml").write_text(EVENING, encoding="utf-8")
    people = (f"p{i},{-74 + i / 40},{40 + i % 9 / 9}" for i in range(40))
    (tmp_path / "evening.csv").write_text("\n".join(["person,lon,lat", *people]), encoding="utf-8")
    (table,) = release_file(tmp_path / "evening.toml", allow_useless=True).tables
    assert len(table.rows) == 24
    fields = check_package(table.files[0].parent, table.name)["table"]["schema"]["fields"]
    assert [field["name"] for field in fields] == ["cell", "safe_or_at_most", "low", "high", "x", "y"]
    assert "no count" in fields[1]["description"]
    package = json.loads((table.files[0].parent / f"{table.name}.datapackage.json").read_text(encoding="utf-8"))
    assert "never below the true count" in package["description"]
    (written,) = json_of("report", table.files[0].parent, "--as", "geojson")["written"]
    geo = json.loads(Path(written).read_text(encoding="utf-8"))
    assert len(geo["features"]) == len(table.rows)
    for feature, row in zip(geo["features"], table.rows, strict=True):
        ring = feature["geometry"]["coordinates"][0]
        assert ring[0] == ring[-1]
        (left, low), (right, high) = ring[0], ring[2]
        assert (row["x"], row["y"]) == pytest.approx(((left + right) / 2, (low + high) / 2), abs=1e-10)
        assert feature["properties"]["safe_or_at_most"] == row["safe_or_at_most"]
    assert [dict(row) for row in read_table(table.files[0])] == [dict(row) for row in table.rows]
    picture = (table.files[0].parent / f"{table.name}.svg").read_text(encoding="utf-8")
    for words in ("-74", "-73", "40", "41", "0.2 (units of the coordinates)", "safe"):
        assert f">{words}</text>" in picture, words


def test_populations_have_coordinates(tmp_path: Path) -> None:
    in_degrees = BY_NAME.replace("metres = [1000, 500]", "degrees = true")
    (table,) = release_file(places_in(tmp_path, in_degrees), allow_useless=True).tables
    check_package(table.files[0].parent, table.name)
    (written,) = json_of("report", table.files[0].parent, "--as", "geojson")["written"]
    geo = json.loads(Path(written).read_text(encoding="utf-8"))
    assert len(geo["features"]) == 8
    shares = [feature["properties"] for feature in geo["features"]]
    for key in ("home: share", "out: share", "home: share sent", "out: share sent"):
        assert sum(one[key] for one in shares) == pytest.approx(1)
    corners = [point for feature in geo["features"] for point in feature["geometry"]["coordinates"][0]]
    assert (min(x for x, _ in corners), max(y for _, y in corners)) == (0, 2)
    picture = (table.files[0].parent / f"{table.name}.svg").read_text(encoding="utf-8")
    assert ">100 km</text>" in picture, "4 degrees of 111 km across: a third of them is 148 km"
    assert {"x", "y"} <= {*table.rows[0]}


def test_places_in_metres_are_no_geojson(tmp_path: Path) -> None:
    (table,) = release_file(places_in(tmp_path, BY_NAME), allow_useless=True).tables
    refused = ended(2, "report", table.files[0].parent, "--as", "geojson")
    assert "its coordinates are no longitudes and latitudes" in words_of(refused)
    picture = (table.files[0].parent / f"{table.name}.svg").read_text(encoding="utf-8")
    assert ">1 km</text>" in picture, "4 units of 1,000 m across: a third of them is 1.3 km"
