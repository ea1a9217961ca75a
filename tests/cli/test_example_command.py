"""`takifugu example`: what it writes into an empty folder runs there as it stands, and says something."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import takifugu as tf
from takifugu.cli import main
from takifugu.cli.samples.examples import examples

ALL = [example.name for example in examples()]
REAL = [example.name for example in examples() if example.meant_for_published_data]


def invoke(*words: str) -> Result:
    return CliRunner().invoke(main, list(words), catch_exceptions=False)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ALL)
def test_an_example_runs_in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    written = json.loads(invoke("example", name, "--json").stdout)["written"]
    assert written[0] == f"{name}.toml"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(written)
    for table in tf.forecast(f"{name}.toml").tables:
        if not table.blurs:
            continue  # rows that are sent, each by itself
        noise, reach = table.noise_and_range
        assert noise <= reach / 3, table.words()  # half of the time it is less
    released = invoke("release", f"{name}.toml")
    assert released.exit_code == 0, released.output
    again = invoke("example", name)
    assert (again.exit_code, "would be overwritten" in again.stderr) == (2, True)


@pytest.mark.parametrize("name", REAL)
def test_an_example_on_real_data_says_where_they_are_and_what_stands_in_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = invoke("example", name)
    assert result.exit_code == 0
    assert f"in place of published ones: the first lines of {name}.toml" in " ".join(result.stdout.split())
    opening, body = (tmp_path / f"{name}.toml").read_text(encoding="utf-8").split("ledger =")
    assert "http" in opening
    public = next(path.name for path in tmp_path.iterdir() if "-made-up." in path.name)
    assert public in opening
    assert public in body
    source = next(line for line in body.split("[belief]")[1].splitlines() if line.startswith("source"))
    assert "made" in source, "a certificate about made-up data says so"
    assert "in place of" in source


def test_the_hidden_parameter_of_the_docs_leaves_a_count_that_says_something(tmp_path: Path) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "attributes.md").read_text(encoding="utf-8")
    (tmp_path / "smoking.toml").write_text(page.split("```toml\n# smoking.toml\n")[1].split("```")[0], encoding="utf-8")
    (tmp_path / "clinic.csv").write_text("cough,fever\n" + "yes,no\nno,no\n" * 200, encoding="utf-8")
    (table,) = tf.forecast(tmp_path / "smoking.toml").tables
    noise, reach = table.noise_and_range
    assert reach == 400
    assert 2 <= noise <= 4


def test_they_are_listed_with_one_line_each(tmp_path: Path) -> None:
    listed = invoke("example").stdout
    described = json.loads(invoke("example", "--json").stdout)["examples"]
    assert [one["name"] for one in described] == ALL
    for one in described:
        assert one["name"] in listed
        assert one["about"]
        assert "\n" not in one["about"]
    unknown = invoke("example", "activty")
    assert unknown.exit_code == 2
    assert "did you mean" in unknown.stderr
    assert "activity" in unknown.stderr
