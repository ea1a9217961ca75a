"""A bike-share export, whose rows name no person: `init` proposes none, and no remedy leads to "Good"."""

import random
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from tests.support.commands import ended, invoke, succeed, words_of
from tests.support.release_files import EXPECT, believe, publish, read_from, release_text

from takifugu.cli import advice, calibrating, releasing

HEADER = "ride_id,rideable_type,started_at,ended_at,start_station_name,member_casual"
RIDES = 2400
#: What somebody would write who takes the two classes of riders for two people.
SPEC = release_text(
    read_from("rides", "rides.csv", rows="stays", unit="member_casual", roster=["casual", "member"], order="started_at",
              end="ended_at", value="rideable_type", default_state="none", step="1min", from_="2026-03-02",
              until="2026-03-10", budget=4000),
    believe("markov-chain", states=["classic_bike", "electric_bike", "none"], units_independent=True, source="a test",
            matrix=[[0.9, 0.05, 0.05], [0.05, 0.9, 0.05], [0.1, 0.1, 0.8]]),
    publish("time", "histogram", epsilon=4.0, per="pooled"),
    output="out", expect=EXPECT | {"matters": 100_000},
)  # fmt: skip


def rides() -> Iterator[str]:
    """Yield a week of rides, from one to some dozens of minutes long, many at a time."""
    numbers = random.Random(14)
    for _ in range(RIDES):
        start = datetime(2026, 3, 2) + timedelta(minutes=numbers.randrange(7 * 24 * 60))
        end = start + timedelta(seconds=60 + int(numbers.expovariate(1 / 900)))
        bike, who = numbers.choice(["classic_bike", "electric_bike"]), numbers.choice(["member", "member", "casual"])
        yield f"{numbers.getrandbits(64):016X},{bike},{start},{end},Station {numbers.randrange(80)},{who}"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "rides.csv"
    path.write_text("\n".join([HEADER, *rides(), ""]), encoding="utf-8")
    return path


@pytest.mark.parametrize("said", [(), ("--rows", "stays"), ("--rows", "events")])
def test_nothing_is_drafted_without_an_answer(table: Path, said: tuple[str, ...]) -> None:
    refused = ended(2, "init", table, "--yes", "-o", table.with_name("rides.toml"), *said)
    columns = re.findall(r"--unit (\S+)", words_of(refused))
    assert columns
    assert columns[0] != "member_casual"
    assert [path.name for path in table.parent.iterdir()] == ["rides.csv"]


@pytest.mark.parametrize("is_seen", [True, False])
def test_no_printed_remedy_leads_to_good(table: Path, is_seen: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """They led to "Good", over all 2 people, with half of the hours of riding left out."""
    for command in (advice, calibrating, releasing):
        monkeypatch.setattr(command, "only_seen", lambda: is_seen)
    toml = table.with_name("rides.toml")
    toml.write_text(SPEC)
    for key in ("duplicates", "overlap"):
        said = words_of(ended(2, "release", toml))
        assert f'{key} = "first"' in said
        assert is_seen == bool(re.search(rf"\d of {RIDES:,} rows", said))
        toml.write_text(toml.read_text().replace("budget = 4000\n", f'budget = 4000\n{key} = "first"\n'))
    for command in (["advise"], ["release", "--dry-run"], ["release"]):
        said = words_of(succeed(*command, toml))
        assert not re.search(r"\bgood\b", said, re.IGNORECASE), said
        words = "rows do not count in full" if is_seen else "ows may be left out"
        assert f'{words} (duplicates = "first" and overlap = "first"): of the others, ' in said
    assert "Good" not in (table.parent / "out" / "time.report.html").read_text(encoding="utf-8")
    assert '"verdict": "good"' not in invoke("advise", "--json", toml).output
