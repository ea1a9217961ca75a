"""A series whose calendar has no end: what looks at a file reads its first window, and a release asks which one."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from tests.support.commands import ended, succeed, words_of
from tests.support.release_files import believe, publish, read_from, release_text

from takifugu.cli.group import BAD_INPUT


@pytest.mark.mutants
def test_a_series_without_an_end_is_looked_at_by_its_first_window(tmp_path: Path) -> None:
    """`advise` and `audit` once refused what `check` and `cost` read."""
    hours = [datetime(2026, 1, 5) + timedelta(hours=hour) for hour in range(24 * 14)]
    rows = "".join(f"{time:%Y-%m-%d %H:%M},{'busy' if time.day % 3 else 'free'}\n" for time in hours)
    (tmp_path / "ward.csv").write_text(f"time,state\n{rows}")
    source = read_from(
        "ward", "ward.csv", rows="samples", order="time", value="state", step="1h", from_="2026-01-05", entries="beds"
    )
    belief = believe("markov-chain", states=["free", "busy"], matrix=[[0.9, 0.1], [0.2, 0.8]], source="assumed")
    table = publish("hours", "count", states=["busy"], every="week", epsilon=1.0)
    path = tmp_path / "ward.toml"
    path.write_text(release_text(source, belief, table))
    for command in ("check", "cost", "audit", "advise"):
        assert "hours-2026-W02" in words_of(succeed(command, path)), command
    assert "a release without a window is refused: the calendar has no end" in words_of(succeed("advise", path))
    assert "the calendar has no end" in ended(BAD_INPUT, "release", path).stderr
