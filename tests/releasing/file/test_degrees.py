"""Longitude and latitude: an order that the columns' names contradict, boxes and rows that lie nowhere on the earth."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.releasing.file.test_population_files import BY_NAME, places_in
from tests.releasing.report.test_open_data import EVENING

from takifugu.core.errors import DataError, SpecError
from takifugu.releasing.advice.checking import check
from takifugu.releasing.file.degrees import misplaced
from takifugu.releasing.publishing.run import release_file

NAMED = BY_NAME.replace('["x", "y"]', '["lon", "lat"]').replace("metres = [1000, 500]", "degrees = true")


def named_places(folder: Path, text: str, latitude: float = 1) -> Path:
    """Write places whose columns are named; one person is at this latitude."""
    file = places_in(folder, text)
    for name in ("survey.csv", "people.csv"):
        (folder / name).write_text((folder / name).read_text().replace("x,y", "lon,lat"))
    with (folder / "people.csv").open("a") as people:
        people.write(f"somebody,1,{latitude}\n")
    return file


def evening(folder: Path, text: str, rows: str) -> Path:
    (folder / "evening.csv").write_text(f"person,lon,lat\n{rows}")
    (folder / "evening.toml").write_text(text)
    return folder / "evening.toml"


def test_a_latitude_that_is_declared_as_longitude(tmp_path: Path) -> None:
    swapped = NAMED.replace('["lon", "lat"]', '["lat", "lon"]')
    with pytest.raises(SpecError, match=r"^source\.coordinates: takes 'lat' for the longitude.*\[\"lon\", \"lat\"\]"):
        check(named_places(tmp_path, swapped))
    assert check(named_places(tmp_path, NAMED)).tables
    swapped = EVENING.replace('x = "lon"', 'x = "lat"').replace('y = "lat"', 'y = "lon"')
    with pytest.raises(SpecError, match=r"^source\.x: takes 'lat' for the longitude"):
        check(evening(tmp_path, swapped, ""))


def test_boxes_beyond_the_poles(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"^belief\.grid\.y: is no range of the latitude 'lat'; write degrees from -90"):
        check(evening(tmp_path, EVENING.replace("[40, 41]", "[40, 91]"), ""))
    with pytest.raises(SpecError, match=r"^belief\.box\.second: is no range of the latitude"):
        check(named_places(tmp_path, NAMED.replace("[0, 2]", "[0, 91]")))
    with pytest.raises(SpecError, match=r"^belief\.box: are no degrees .*; write the longitudes in first"):
        check(places_in(tmp_path, NAMED.replace('["lon", "lat"]', '["x", "y"]').replace("[0, 2]", "[0, 91]")))


def test_names_that_are_exchanged_in_the_data() -> None:
    where = (("belief", "grid", "x"), ("belief", "grid", "y"))
    assert not [*misplaced(["lat", "lon"], [(139, 140), (35, 36)], ("source", "x"), where)], "no latitude is 139"
    assert not [*misplaced(["x", "y"], [(0, 500), (0, 700)], ("source", "x"), where)], "metres"


@pytest.mark.parametrize("outside", ["refuse", "clamp"])
def test_a_row_beyond_the_poles(tmp_path: Path, outside: str) -> None:
    text = NAMED.replace("degrees = true", f'degrees = true, outside = "{outside}"')
    file = named_places(tmp_path, text, 407.1)
    rows = len((tmp_path / "people.csv").read_text().splitlines()) - 1
    with pytest.raises(DataError, match=rf"'lat' holds in row {rows} .* a latitude out of range") as refused:
        release_file(file, anyway=True)
    assert "407" not in str(refused.value)


@pytest.mark.parametrize("more", ["", 'elsewhere = "ignore"\n'])
def test_a_visit_beyond_the_poles(tmp_path: Path, more: str) -> None:
    text = EVENING.replace("[belief]", f"{more}[belief]")
    file = evening(tmp_path, text, "ana,-73.5,40.5\nben,-73.5,407.1\n")
    with pytest.raises(DataError, match=r"'lat' holds in row 2 .* a latitude out of range.*-90 to 90.*repair the row"):
        release_file(file, anyway=True)
