"""Times of two kinds in one table are refused before anything is paid: a zone moves only one of them."""

from pathlib import Path

import duckdb
import pytest
from tests.support.commands import ended
from tests.support.release_files import EXPECT, believe, hide, publish, read_from, release_text
from tests.support.releases import put

from takifugu.accounting.ledger import Ledger
from takifugu.core.errors import DataError
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.plan import plan

#: Three stays that start at moments; how each end is written.
STAYS = """
    select 'in' as state, (timestamp '2026-01-05 08:00' + to_hours(i))::timestamptz as starts,
    (timestamp '2026-01-05 09:00' + to_hours(i)){} as ends from (select unnest([0, 4, 9]) as i)
"""


def stays(folder: Path, ends: str) -> None:
    with duckdb.connect() as base:
        base.execute("set TimeZone = 'UTC'")
        base.sql(STAYS.format(ends)).write_parquet(str(folder / "stays.parquet"))


def of_stays(name: str, zone: str, hours: tuple[str, str]) -> str:
    return release_text(
        read_from("stays", "stays.parquet", rows="stays", order="starts", end="ends", value="state",
                  default_state="out",
                  step="1h", from_="2026-01-05", until="2026-01-07", timezone=zone, budget=400),
        believe("markov-chain", states=["in", "out"], matrix=[[0.8, 0.2], [0.3, 0.7]], source="a test"),
        publish(name, "count", states=["in"], epsilon=1.0, from_=hours[0], to=hours[1]),
        output="out", expect=EXPECT,
    )  # fmt: skip


#: Two release files of one table: another window, and clocks of another place.
TWO = {
    "early": of_stays("early", "UTC", ("2026-01-05 06:00", "2026-01-05 18:00")),
    "late": of_stays("late", "America/New_York", ("2026-01-05 00:00", "2026-01-05 12:00")),
}


@pytest.mark.parametrize(("ends", "code"), [("", 2), ("::timestamptz", 0)])
def test_two_releases_of_stays_of_two_kinds_are_refused_and_pay_nothing(tmp_path: Path, ends: str, code: int) -> None:
    """They would show one hour twice and be charged for it once: the zone moved each end, and no start."""
    stays(tmp_path, ends)
    for name, text in TWO.items():
        put(tmp_path, {f"{name}.toml": text})
        said = ended(code, "release", tmp_path / f"{name}.toml").output
        assert ("end holds what clocks showed (TIMESTAMP), and timezone is declared" in said) == bool(code)
    assert (tmp_path / "out").exists() == (not code)
    paid = Ledger.open(tmp_path / "ledger.db").payments("stays") if (tmp_path / "ledger.db").exists() else ()
    assert len(paid) == (0 if code else 2)


VISITS = release_text(
    read_from("infected", "visits.csv", unit="who", value="where", order="when", step="1h", from_="2026-01-05",
              until="2026-01-05T03:00", timezone="Europe/Berlin", budget=20.0),
    believe("asymmetric", places=["bar", "gym"], most=1),
    hide(visits="all"),
    publish("safe", "safe", at_most=1, epsilon=1.25, every="hour"),
)  # fmt: skip


@pytest.mark.parametrize("times", [
    ("2026-01-05T00:30+01:00", "2026-01-05T01:30"), ("2026-01-05T00:30", "2026-01-05T01:30+01:00"),
    ("2026-01-05T00:30Z", "2026-01-05T01:30"),
])  # fmt: skip
def test_visits_with_and_without_an_offset_are_refused(tmp_path: Path, times: tuple[str, str]) -> None:
    rows = "".join(f"{who},bar,{time}\n" for who, time in enumerate(times))
    path = put(tmp_path, {"city.toml": VISITS, "visits.csv": f"who,where,when\n{rows}"})
    with pytest.raises(DataError, match="some times without an offset"):
        plan(load(path))
    assert not (tmp_path / "ledger.db").exists()


def test_visits_with_several_offsets_are_moments(tmp_path: Path) -> None:
    """One hour of clocks in Berlin, as three cities write it."""
    times = ("2026-01-05T01:30+01:00", "2026-01-05T00:30Z", "2026-01-04T19:30-05:00")
    rows = "".join(f"{who},bar,{time}\n" for who, time in enumerate(times))
    path = put(tmp_path, {"city.toml": VISITS, "visits.csv": f"who,where,when\n{rows}"})
    counted = {t.name[-2:]: t.questions[0].data[0].tolist() for t in plan(load(path)).tables}  # type: ignore[index]
    assert counted == {"00": [0, 0], "01": [3, 0], "02": [0, 0]}
