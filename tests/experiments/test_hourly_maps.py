"""Maps of every hour: expected shares by closed forms, and a release file on the real check-ins of a Friday."""

import csv
import gzip
import math
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.experiments.test_takagi2021 import made_up
from tests.support.release_files import believe, hide, publish, read_from, release_text
from tests.support.research import research_file

import epidemic
import takagi2021 as experiment
import takifugu as tf
from epidemic_maps import Setting
from hourly_maps import IN_ALL, hourly_table, shares
from pages import made
from takifugu.accounting.ledger import Ledger

COUNTS = st.lists(st.integers(0, 7), min_size=1, max_size=8)


@given(st.lists(COUNTS, min_size=1, max_size=4), st.sampled_from([0.1, 1.0]))
def test_shares_are_means_over_all_hours_and_places(hours: list[list[int]], epsilon: float) -> None:
    counts = [np.array([*hour, 0, 1]) for hour in hours]
    every, somebody = shares(counts, Setting(epsilon=epsilon, threshold=5, alpha=0))
    safe = [m for hour in counts for m in hour.tolist() if m <= 5]
    assert every == pytest.approx(np.mean([1 - math.exp(-epsilon * (6 - m)) for m in safe]))
    assert somebody == pytest.approx(np.mean([1 - math.exp(-epsilon * (6 - m)) for m in safe if m]))


@pytest.mark.slow
def test_the_table_of_the_page() -> None:
    hours = [made_up().hour(24 * experiment.DAY + hour) for hour in range(24)]
    day = made_up().day(experiment.DAY)
    assert made(experiment.PAGE, "hourly") == hourly_table(hours, day)
    last = made(experiment.PAGE, "hourly").splitlines()[-1].split("|")[1:-1]
    assert IN_ALL[-1] == 1
    for cell, counts in ((3, np.concatenate(hours)), (5, day)):
        share = np.mean([1 - math.exp(-(6 - m) / 24) for m in counts.tolist() if m <= 5 and m > 0])
        assert last[cell].strip() == f"{100 * share:.1f} %"


FILE = release_text(
    read_from("friday", "friday.csv", unit="person", value=["lon", "lat"], rows="visits", order="when", step="1h",
              from_="2026-01-09", until="2026-01-10", budget=12.0),
    believe("asymmetric", grid={"x": [-74.27, -73.68], "y": [40.55, 40.99], "columns": 30, "rows": 30}, most=1),
    hide(visits="all"),
    publish("safe", "safe", at_most=2, epsilon=0.5, every="hour"),
)  # fmt: skip


@pytest.mark.slow
def test_real_check_ins_of_a_friday_hour_by_hour(tmp_path) -> None:
    """Of each person the last check-in of each hour: what is called safe in an hour is, in all 24 hours."""
    last: dict[tuple[str, int], tuple[str, str]] = {}
    with gzip.open(research_file(epidemic.FILE), "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["day"] == "Friday":
                last[row["user"], int(row["hour"])] = row["lon"], row["lat"]
    with (tmp_path / "friday.csv").open("w", encoding="utf-8", newline="") as private:
        rows = csv.writer(private)
        rows.writerow(["person", "when", "lon", "lat"])
        rows.writerows([who, f"2026-01-09T{hour:02}:30", *place] for (who, hour), place in last.items())
    (tmp_path / "friday.toml").write_text(FILE, encoding="utf-8")
    there: dict[tuple[int, str], int] = defaultdict(int)
    for (_, hour), (lon, lat) in last.items():
        column = min(int((float(lon) + 74.27) / 0.59 * 30), 29)
        line = min(int((float(lat) - 40.55) / 0.44 * 30), 29)
        there[hour, f"r{line}c{column}"] += 1
    tables = tf.release_file(tmp_path / "friday.toml", allow_useless=True).tables
    assert len(tables) == 24
    for hour, table in enumerate(tables):
        assert table.name == f"safe-2026-01-09T{hour:02}"
        for row in table.rows:
            count, mark = there[hour, row["cell"]], row["safe_or_at_most"]
            assert count <= (2 if mark == "safe" else mark)
    assert Ledger.open(tmp_path / "ledger.db").show()[0].spent.epsilon == Fraction(12)
