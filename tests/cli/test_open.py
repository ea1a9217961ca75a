"""`takifugu open`: the newest report of a folder."""

from __future__ import annotations

import json
import os
import webbrowser
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from takifugu.cli import main


def invoke(*words: str) -> Result:
    return CliRunner().invoke(main, ["open", *words], catch_exceptions=False)


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
def test_the_newest_report_is_shown(
    reports: list[Path], monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    addresses: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: addresses.append(address) or True)
    assert invoke(*words).stdout == f"{reports[1].relative_to(Path.cwd())}\n"
    assert addresses == [reports[1].as_uri()]


def test_where_there_is_no_browser_the_path_is_enough(reports: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda _: False)
    result = invoke("older")
    assert result.exit_code == 0
    assert "open this file with one" in result.stderr
    assert json.loads(invoke("older", "--json").stdout)["report"] == "older/use.report.html"


@pytest.mark.parametrize(
    ("where", "words"), [("nowhere", "there is no 'nowhere'"), ("empty", "no report lies in 'empty'")]
)
def test_a_folder_without_a_report_is_refused(reports: list[Path], where: str, words: str) -> None:
    (reports[0].parents[1] / "empty").mkdir()
    result = invoke(where)
    assert (result.exit_code, words in result.stderr) == (2, True)
