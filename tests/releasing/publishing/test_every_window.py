"""The page of all windows: the trend and its band, made anew with every window, and never in somebody's way."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.releasing.test_windows import written
from tests.support.pages import check_page

from takifugu.core.errors import ReleaseError
from takifugu.releasing.publishing import every_window
from takifugu.releasing.publishing.resuming import resume
from takifugu.releasing.publishing.run import release_file
from takifugu.releasing.report.windows import Point, trend_words

PAGE = "busy.windows.html"


def test_it_shows_every_window_that_is_published(tmp_path: Path) -> None:
    file = written(tmp_path)
    first = release_file(file, window="2026-W02", anyway=True).tables[0]
    one = check_page((tmp_path / "out" / PAGE).read_text(encoding="utf-8"))
    assert [row.children[0].text for row in one.all("tr")[1:]] == ["2026-W02"]
    assert "A trend needs three windows" in one.text
    tables = release_file(file, anyway=True).tables
    text = (tmp_path / "out" / PAGE).read_text(encoding="utf-8")
    page = check_page(text)
    rows = {row.children[0].text: row.children[2].text for row in page.all("tr")[1:]}
    assert rows == {t.name.removeprefix("busy-"): f"{t.rows[0]['value']:,}" for t in tables}
    assert len(rows) == 4
    assert rows["2026-W02"] == f"{first.rows[0]['value']:,}"
    assert re.search("it changes by -?[0-9.,]+ ± [0-9.]+ (?:rows?|steps?(?: of 1 hour)?) on average", page.text)
    assert page.all("svg")
    for name in rows:
        assert f'href="./busy-{name}.report.html"' in text
        assert (tmp_path / "out" / f"busy-{name}.report.html").is_file()


def test_the_trend_is_least_squares_and_its_error_that_of_the_noise() -> None:
    points = [Point(str(i), 10 + 5 * i, 0, 0, 4.0) for i in range(5)]
    assert "it changes by 5 ± 1.24 hours on average: more than the noise" in trend_words(points, "hours")
    assert "no trend shows" in trend_words([Point(str(i), (-1) ** i, 0, 0, 4.0) for i in range(5)], "")


def test_a_file_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    file = written(tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / PAGE).write_text("mine", encoding="utf-8")
    release_file(file, window="2026-W02", anyway=True)
    assert (tmp_path / "out" / PAGE).read_text(encoding="utf-8") == "mine"


def test_whoever_completes_a_release_writes_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = written(tmp_path)

    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(every_window, "replace_synced", fails)
    with pytest.raises(ReleaseError):
        release_file(file, window="2026-W02", anyway=True)
    monkeypatch.undo()
    assert not (tmp_path / "out" / PAGE).exists()
    (one,) = resume(tmp_path / "ledger.db")
    assert not one.problem
    assert "2026-W02" in (tmp_path / "out" / PAGE).read_text(encoding="utf-8")
