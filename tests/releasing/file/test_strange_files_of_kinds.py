"""Strange files of policies and of populations: written as [source] says, and public files as their own keys say."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.release_files import believe, hide, publish, read_from, release_text

from takifugu.core.errors import SpecError, TakifuguError
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning import plan

POLICY = release_text(
    read_from("infected", "visits.csv") + "\n{keys}",
    believe("asymmetric") + "\n{belief}",
    hide(visits="all"),
    publish("safe", "safe", at_most=3, epsilon=1),
)
POPULATIONS = release_text(
    read_from("checkins", "visits.csv", rows_per_person=9) + "\n{keys}",
    believe("populations", source="a survey of other people") + "\n{belief}",
    publish("places", "each-value", epsilon=1),
)
LATIN = 'encoding = "cp1252"\ndelimiter = "|"\nheader = false\ndecimal = ","\nthousands = "."\n'


@pytest.fixture(params=["duckdb", "polars"])
def reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "polars":
        monkeypatch.setattr("takifugu.data.files.formats.find_spec", lambda name: None if name == "duckdb" else name)
    return str(request.param)


def units(folder: Path, spec: str, keys: str, belief: str, rows: str, public: str = "") -> Any:
    (folder / "visits.csv").write_bytes(rows.encode("cp1252"))
    (folder / "public.csv").write_bytes(public.encode("cp1252"))
    where = folder / "release.toml"
    where.write_text(spec.replace("{keys}", keys).replace("{belief}", belief), encoding="utf-8")
    file = load(where)
    plan.plan(file)
    return file.kind.units(file)


def test_visits_and_a_public_list_of_places_in_windows_characters(tmp_path: Path, reader: str) -> None:
    keys = f'{LATIN}person = "column_1"\nplace = "column_2"'
    rows = "Jörg|Café\nJörg|Bäckerei\nÖzil|Café\n"
    (unit,) = units(
        tmp_path, POLICY, keys, 'places = { file = "public.csv", column = "column_1" }', rows, "Café|a\nBäckerei|b\n"
    )
    assert unit.data[0].tolist() == [1, 2]
    other = 'places = { file = "public.csv", column = "Ort", delimiter = ";", header = true }'
    (unit,) = units(tmp_path, POLICY, keys, other, rows, "Ort;x\nBäckerei;1\nCafé;2\n")
    assert unit.data[0].tolist() == [1, 2]


def test_boxes_by_decimal_commas(tmp_path: Path, reader: str) -> None:
    grid = "grid = { x = [0, 2000], y = [0, 2], columns = 2, rows = 2 }"
    keys = f'{LATIN}person = "column_1"\nx = "column_2"\ny = "column_3"'
    (unit,) = units(tmp_path, POLICY, keys, grid, "a|1.500,5|0,5\nb|12,25|1,75\nc|0|1,5\n")
    assert unit.data[0].tolist() == [0, 1, 2, 0]
    with pytest.raises(TakifuguError, match=r"source\.file: a coordinate is no finite number"):
        units(tmp_path, POLICY, keys, grid, "a|1500.5|0.5\n")


def test_places_of_people_by_decimal_commas(tmp_path: Path, reader: str) -> None:
    keys = f'{LATIN}coordinates = ["column_1", "column_2"]'
    box = 'box = { first = [0, 2000], second = [0, 2], cells = [2, 2] }\nreference = { file = "public.csv", '
    survey = "daheim|0,5|1,5\nunterwegs|1.999,5|0,5\n"
    reference = 'population = "column_1", coordinates = ["column_2", "column_3"], smoothing = 1 }'
    rows = "1.500,5|0,5\n12,25|1,75\n"
    (unit,) = units(tmp_path, POPULATIONS, keys, box + reference, rows, survey)
    first = np.asarray(unit.data.codes).tolist()
    plain = 'decimal = ".", thousands = ",", delimiter = ";", header = true, population = "wo", '
    plain += 'coordinates = ["x", "y"], smoothing = 1 }'
    (unit,) = units(tmp_path, POPULATIONS, keys, box + plain, rows, "wo;x;y\ndaheim;0.5;1.5\nunterwegs;1,999.5;0.5\n")
    assert np.asarray(unit.data.codes).tolist() == first
    with pytest.raises(TakifuguError, match="has texts that are no numbers"):
        units(tmp_path, POPULATIONS, keys, box + reference, "1500.5|0.5\n", survey)


def test_the_public_file_is_recognised_as_the_private_one_however_it_is_written(tmp_path: Path) -> None:
    keys = f'{LATIN}person = "column_1"\nplace = "column_2"'
    places = 'places = { file = "public.csv", column = "column_2" }'
    with pytest.raises(SpecError, match="has the rows of the private data"):
        units(tmp_path, POLICY, keys, places, "Jörg|Café\nÖzil|Bar\n", "x|Café\ny|Bar\n")


@pytest.mark.parametrize("spec", [POLICY, POPULATIONS])
def test_unknown_ways_of_writing_are_told_with_everything_else(tmp_path: Path, spec: str) -> None:
    keys = 'encoding = "latin9x"\ndecimal = "x"\ndelimiter = ";;"'
    with pytest.raises(SpecError) as caught:
        units(tmp_path, spec, keys, "", "a\n")
    message = "\n".join(caught.value.problems)
    for key in ("source.encoding: 'latin9x' is no", "source.decimal: the decimal sign", "source.delimiter: the deli"):
        assert key in message, message
