"""The page of all windows: the trend and its band, made anew with every window, and never in somebody's way."""

import json
import math
import re
from fractions import Fraction
from pathlib import Path

import pytest
from tests.releasing.test_windows import written
from tests.support.failing import FULL, failing
from tests.support.pages import check_page
from tests.support.releases import put

import takifugu as tf
from takifugu.analysis.randomisers import DiscreteLaplace
from takifugu.core.errors import ReleaseError
from takifugu.releasing.publishing import every_window
from takifugu.releasing.report.windows import Point, change_words

PAGE = "busy.windows.html"


@pytest.mark.slow
def test_it_shows_every_window_that_is_published(tmp_path: Path) -> None:
    file = written(tmp_path)
    first = tf.release_file(file, window="2026-W02", anyway=True).tables[0]
    one = check_page((tmp_path / "out" / PAGE).read_text(encoding="utf-8"))
    assert [row.children[0].text for row in one.all("tr")[1:]] == ["2026-W02"]
    assert "A change needs two windows" in one.text
    tables = tf.release_file(file, anyway=True).tables
    text = (tmp_path / "out" / PAGE).read_text(encoding="utf-8")
    page = check_page(text)
    rows = {row.children[0].text: row.children[1].text.removesuffix(" *") for row in page.all("tr")[1:]}
    assert rows == {t.name.removeprefix("busy-"): f"{t.rows[0]['value']:,}" for t in tables}
    assert len(rows) == 4
    assert rows["2026-W02"] == f"{first.rows[0]['value']:,}"
    said = r"From 2026-W02 to 2026-W05 it changed by -?[0-9.,]+ ± [0-9.]+ .*a week on average over 3 weeks"
    assert re.search(said, page.text)
    assert page.all("svg")
    for name in rows:
        assert f'href="./busy-{name}.report.html"' in text
        assert (tmp_path / "out" / f"busy-{name}.report.html").is_file()


def test_the_change_is_by_the_distance_and_its_error_the_difference_of_two_noises() -> None:
    one, other = DiscreteLaplace(Fraction(6), Fraction(1)), DiscreteLaplace(Fraction(9), Fraction(1))
    values = (("2026-W02", 100, one), ("2026-W03", 900, one), ("2026-W07", 200, other))
    points = [Point(week, value, 0, 0, noise) for week, value, noise in values]
    far = range(-400, 401)
    laws = [{k: (1 - q) / (1 + q) * q ** abs(k) for k in far} for q in (math.exp(-1 / 6), math.exp(-1 / 9))]
    mass = [math.fsum(laws[0][k] * laws[1].get(d - k, 0.0) for k in far) for d in range(200)]
    off = next(n for n in range(200) if mass[0] + 2 * math.fsum(mass[1 : n + 1]) >= 0.95)
    said = change_words(points, "hours")
    assert said.startswith(f"From 2026-W02 to 2026-W07 it changed by 100 ± {off} hours, or 20 ± ")
    assert f"20 ± {off / 5:g} hours a week on average over 5 weeks (95 %), more than the noise" in said
    assert "no change shows" in change_words([points[0], Point("2027-W02", 100 + off, 0, 0, other)], "")


@pytest.mark.slow
def test_windows_are_drawn_at_their_distance_under_their_names(tmp_path: Path) -> None:
    file = written(tmp_path)
    for week in ("2026-W02", "2026-W03", "2026-W05"):
        tf.release_file(file, window=week, anyway=True)
    page = (tmp_path / "out" / PAGE).read_text(encoding="utf-8")
    wide = page.split("<svg")[1]
    at = [float(re.search(rf'<text x="([0-9.]+)"[^>]*>{w}<', wide)[1]) for w in ("2026-W02", "2026-W03", "2026-W05")]  # type: ignore[index]
    assert at[2] - at[1] == pytest.approx(2 * (at[1] - at[0]), abs=0.2)
    assert ">1.5<" not in wide
    rows = tf.read_table(tmp_path / "out" / "busy.windows.csv")
    assert [row["window"] for row in rows] == ["2026-W02", "2026-W03", "2026-W05"]
    assert json.loads((tmp_path / "out" / "busy.windows.json").read_text())["rows"] == [dict(row) for row in rows]
    assert 'href="./busy.windows.csv"' in page


def test_a_file_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    file = written(tmp_path)
    put(tmp_path / "out", {PAGE: "mine"})
    tf.release_file(file, window="2026-W02", anyway=True)
    assert (tmp_path / "out" / PAGE).read_text(encoding="utf-8") == "mine"


def test_whoever_completes_a_release_writes_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = written(tmp_path)
    with failing(monkeypatch, every_window, "replace_synced", FULL), pytest.raises(ReleaseError):
        tf.release_file(file, window="2026-W02", anyway=True)
    assert not (tmp_path / "out" / PAGE).exists()
    (one,) = tf.resume(tmp_path / "ledger.db")
    assert not one.problem
    assert "2026-W02" in (tmp_path / "out" / PAGE).read_text(encoding="utf-8")
