"""Longitude and latitude: an order that the columns' names contradict, boxes and rows that lie nowhere on the earth."""

from pathlib import Path
from typing import Any

import pytest
from tests.releasing.file.test_population_files import BY_NAME, places_in, refusal_at
from tests.releasing.report.test_open_data import EVENING
from tests.support.commands import invoke, words_of
from tests.support.releases import assert_says, put

import takifugu as tf
from takifugu.core.errors import DataError, SpecError
from takifugu.releasing.advice.checking import check
from takifugu.releasing.file.loading import load
from takifugu.releasing.file.reading import misplaced

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
    return put(folder, {"evening.toml": text, "evening.csv": f"person,lon,lat\n{rows}"})


def test_a_latitude_that_is_declared_as_longitude(tmp_path: Path) -> None:
    swapped = NAMED.replace('["lon", "lat"]', '["lat", "lon"]')
    with pytest.raises(SpecError, match=r"^source\.value: takes 'lat' for the longitude.*\[\"lon\", \"lat\"\]"):
        check(named_places(tmp_path, swapped))
    assert check(named_places(tmp_path, NAMED)).tables
    swapped = EVENING.replace('["lon", "lat"]', '["lat", "lon"]')
    with pytest.raises(SpecError, match=r"^source\.value: takes 'lat' for the longitude"):
        check(evening(tmp_path, swapped, ""))


def test_boxes_beyond_the_poles(tmp_path: Path) -> None:
    beyond = NAMED.replace("[0, 2]", "[0, 91]")
    with pytest.raises(SpecError, match=r"^belief\.grid\.y: is no range of the latitude 'lat'; write degrees from -90"):
        check(evening(tmp_path, EVENING.replace("[40, 41]", "[40, 91]"), ""))
    with pytest.raises(SpecError, match=r"^belief\.box\.second: is no range of the latitude"):
        check(named_places(tmp_path, beyond))
    with pytest.raises(SpecError, match=r"^belief\.box: are no degrees .*; write the longitudes in first"):
        check(places_in(tmp_path, beyond.replace('["lon", "lat"]', '["x", "y"]')))


def test_names_that_are_exchanged_in_the_data() -> None:
    where = (("belief", "grid", "x"), ("belief", "grid", "y"))
    assert not [*misplaced(["lat", "lon"], [(139, 140), (35, 36)], where)], "no latitude is 139"
    assert not [*misplaced(["x", "y"], [(0, 500), (0, 700)], where)], "metres"


@pytest.mark.parametrize("outside", ["refuse", "clamp"])
def test_a_row_beyond_the_poles(tmp_path: Path, outside: str) -> None:
    text = NAMED.replace("degrees = true", f'degrees = true, outside = "{outside}"')
    file = named_places(tmp_path, text, 407.1)
    rows = len((tmp_path / "people.csv").read_text().splitlines()) - 1
    with pytest.raises(DataError, match=rf"'lat' holds in row {rows} .* a latitude out of range") as refused:
        tf.release_file(file, allow_useless=True)
    assert "407" not in str(refused.value)


def test_a_visit_beyond_the_poles(tmp_path: Path) -> None:
    file = evening(tmp_path, EVENING, "ana,-73.5,40.5\nben,-73.5,407.1\n")
    with pytest.raises(DataError, match=r"row 2: a latitude out of range .*-90 to 90.*repair the row") as refused:
        tf.release_file(file, allow_useless=True)
    assert "407" not in str(refused.value)


LISTED = 'reference = { file = "survey.csv", population = "status", smoothing = 1 }'


def with_reference(folder: Path, more: str) -> Path:
    file = places_in(folder)
    file.write_text(file.read_text().replace(LISTED, LISTED.replace(" }", f", {more} }}")))
    survey = (folder / "survey.csv").read_text().splitlines()
    named = [f"{line},q{number // 8}" for number, line in enumerate(survey[1:])]
    (folder / "survey.csv").write_text("\n".join([f"{survey[0]},who", *named]) + "\n")
    return file


def test_people_of_the_reference_file_are_counted_once(tmp_path: Path) -> None:
    by_people: Any = load(with_reference(tmp_path, 'unit = "who"')).belief
    by_rows: Any = load(with_reference(tmp_path, "confidence = 0.9")).belief
    assert by_people.regions.of_people
    assert sum(by_rows.regions.sizes.values()) == 400
    assert max(by_people.regions.sizes.values()) <= 50
    assert (by_people.regions.confidence, by_rows.regions.confidence) == (0.99, 0.9)
    assert by_people.regions.largest_move > by_rows.regions.largest_move
    assert any("each counts once" in words for words in map(str, by_people.assumptions()))


@pytest.mark.slow
def test_a_comparison_says_what_was_measured_on_the_other_half(tmp_path: Path) -> None:
    file = with_reference(tmp_path, 'unit = "who"')
    words = words_of(invoke("cost", "--all", file))
    assert "held out: optimal, found from one half of the people of the reference file" in words
    assert "the better of two guesses at the population is right for" in words
    compared = " ".join(str(tf.open_study(file).cost(with_all=True)).split())
    assert "held out: optimal" in compared


@pytest.mark.mutants
def test_the_certificate_names_the_class(tmp_path: Path) -> None:
    tf.release_file(with_reference(tmp_path, 'unit = "who"'))
    (certificate,) = tmp_path.glob("*-published/places.certificate.txt")
    assert_says(
        certificate, "with confidence 0.99", "The people of the reference file are independent of each other",
        "Outside of the class of populations what is sent of a person tells",
    )  # fmt: skip


@pytest.mark.parametrize(("more", "where"), [
    ("confidence = 1.0", "confidence"), ("confidence = 0.0", "confidence"), ("confidence = nan", "confidence"),
    ('unit = "nobody"', "nobody"),
])  # fmt: skip
def test_bad_keys_are_refused(tmp_path: Path, more: str, where: str) -> None:
    refusal_at(with_reference(tmp_path, more), SpecError, where)
