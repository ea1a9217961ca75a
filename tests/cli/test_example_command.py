"""`takifugu example`: what it writes into an empty folder runs there as it stands, and says something."""

import os
import webbrowser
from pathlib import Path

import pytest
from tests.releasing import files
from tests.support.commands import ended, invoke, json_of, succeed, words_of

import takifugu as tf
from takifugu.cli.samples import examples as examples_of
from takifugu.cli.samples.examples import examples

ALL = [example.name for example in examples()]
REAL = [example.name for example in examples() if example.meant_for_published_data]


@pytest.mark.mutants
@pytest.mark.parametrize("name", ALL)
def test_an_example_runs_in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    written = json_of("example", name)["written"]
    assert written[0] == f"{name}.toml"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(written)
    for table in tf.dry_run(f"{name}.toml").tables:
        if not table.blurs:
            continue  # rows that are sent, each by itself
        noise, reach = table.noise_and_range
        assert noise <= reach / 3, table.words()  # half of the time it is less
    succeed("release", f"{name}.toml")
    assert "would be overwritten" in ended(2, "example", name).stderr


@pytest.mark.parametrize("name", REAL)
def test_an_example_on_real_data_says_where_they_are_and_what_stands_in_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = succeed("example", name)
    assert f"in place of published ones: the first lines of {name}.toml" in " ".join(result.stdout.split())
    opening, body = (tmp_path / f"{name}.toml").read_text(encoding="utf-8").split("ledger =")
    assert "http" in opening
    public = next(path.name for path in tmp_path.iterdir() if "-made-up." in path.name)
    assert public in opening
    assert public in body
    source = next(line for line in body.split("[belief]")[1].splitlines() if line.startswith("source"))
    assert "made" in source, "a certificate about made-up data says so"
    assert "in place of" in source


@pytest.mark.mutants
def test_the_hidden_parameter_of_the_docs_leaves_a_count_that_says_something(tmp_path: Path) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "attributes.md").read_text(encoding="utf-8")
    (tmp_path / "smoking.toml").write_text(page.split("```toml\n# smoking.toml\n")[1].split("```")[0], encoding="utf-8")
    (tmp_path / "clinic.csv").write_text("cough,fever\n" + "yes,no\nno,no\n" * 200, encoding="utf-8")
    (table,) = tf.dry_run(tmp_path / "smoking.toml").tables
    noise, reach = table.noise_and_range
    assert reach == 400
    assert noise <= 4


@pytest.mark.parametrize("words", [
    ("example", "ward", "-o"), ("example", "--run", "-o"), ("odds", "-o"), ("explore", "-o"),
    ("verify", "--page", "-o"),
])  # fmt: skip
def test_no_file_is_written_below_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    monkeypatch.setattr(examples_of, "BOUTS", {"Ana": (5,)})
    (tmp_path / "file").write_text("mine")
    place = tmp_path / "file" / ("" if "example" in words else "page.html")
    assert "cannot be written" in words_of(ended(2, *words, place))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_the_demo_replaces_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examples_of, "BOUTS", {"Ana": (5,)})
    (tmp_path / "activity.toml").write_text("mine")
    assert "run it in an empty folder" in words_of(ended(2, "example", "--run", "-o", tmp_path))
    assert (tmp_path / "activity.toml").read_text() == "mine"
    assert len([*tmp_path.iterdir()]) == 1


def test_they_are_listed_with_one_line_each(tmp_path: Path) -> None:
    listed = invoke("example").stdout
    described = json_of("example")["examples"]
    assert [one["name"] for one in described] == ALL
    for one in described:
        assert one["name"] in listed
        assert one["about"]
        assert "\n" not in one["about"]
    assert "did you mean 'activity'" in ended(2, "example", "activty").stderr


# `takifugu report`: the newest report of a folder.
@pytest.fixture
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    monkeypatch.chdir(tmp_path)
    paths = [tmp_path / "older" / "use.report.html", tmp_path / "newer" / "use.report.html", tmp_path / "a.report.html"]
    for second, path in zip((20, 30, 10), paths, strict=True):
        path.parent.mkdir(exist_ok=True)
        path.write_text("<html></html>", encoding="utf-8")
        os.utime(path, (second, second))
    return paths


@pytest.mark.parametrize("words", [(), (".",), ("a.report.html",), ("newer",)])
def test_the_newest_is_shown(reports: list[Path], monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    """Where there is no browser the path is enough."""
    addresses: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: addresses.append(address) or len(addresses) == 1)
    for is_open in (True, False):
        shown = invoke("report", *words)
        assert shown.stdout == f"{reports[1].relative_to(Path.cwd())}\n"
        assert ("open this file with one" in shown.stderr) is not is_open
    assert addresses == [reports[1].as_uri()] * 2
    assert json_of("report", "older")["report"] == "older/use.report.html"


@pytest.mark.parametrize(("where", "words"), [
    ("nowhere", "there is no 'nowhere'"), ("empty", "no report lies in 'empty'"),
    ("use.zip", "'use.zip' is no folder, release file or certificate"),
])  # fmt: skip
def test_a_folder_without_a_report_is_refused(reports: list[Path], where: str, words: str) -> None:
    (reports[0].parents[1] / "empty").mkdir()
    (reports[0].parents[1] / "use.zip").touch()  # once the newest report beside it was shown in its place
    assert words in ended(2, "report", where).stderr


@pytest.mark.mutants
def test_a_form_that_a_table_has_not_is_refused(tmp_path: Path) -> None:
    succeed("release", files.write(tmp_path))
    refused = words_of(ended(2, "report", tmp_path / "out", "--as", "geojson"))
    assert "it is not about places with coordinates" in refused
    written = json_of("report", tmp_path / "out", "--as", "json")["written"]
    assert [Path(path).name for path in written] == ["time-use-pooled.table.json", "time-use-units.table.json"]
    narrow = succeed("report", tmp_path / "out", "--as", "zip", COLUMNS="20").stdout.splitlines()
    assert f"written: {tmp_path / 'out' / 'time-use-units.zip'}" in narrow, "a path is never broken"
    assert "would be overwritten: write --force, or move it" in words_of(
        ended(2, "report", tmp_path / "out", "--as", "json")
    )
    succeed("report", tmp_path / "out", "--as", "json", "--force")
