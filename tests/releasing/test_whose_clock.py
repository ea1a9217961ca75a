"""A table by hour, weekday or date says whose clock: in its title, its axis and its CSV, on every page."""

import re
from pathlib import Path

import pytest
from tests.support.commands import succeed
from tests.support.release_files import EXPECT, believe, publish, read_from, release_text
from tests.support.releases import put, words_in

import takifugu as tf
from takifugu.releasing.certificates.cells import read_table

#: How times are written, with what is declared of them, and whose clock it is.
CLOCKS = {
    "no zone": ("{}", {}, "as written in the table", "on clocks as written in the table"),
    "zone": ("{}", {"timezone": "Europe/Berlin", "order": "\"when\"::timestamp AT TIME ZONE 'Europe/Berlin'"},
             "Europe/Berlin", "on clocks in Europe/Berlin"),
    "offsets and UTC": ("{}:00+11:00", {"timezone": "UTC"}, "UTC", "in UTC"),
    "offsets and a zone": (
        "{}:00+01:00", {"timezone": "Australia/Sydney"}, "Australia/Sydney", "on clocks in Australia/Sydney",
    ),
    "a form without a zone": (
        "{}", {"order": "strptime(\"when\", '%Y-%m-%dT%H:%M')"},
        "as written in the table", "on clocks as written in the table",
    ),
}  # fmt: skip


def study(folder: Path, form: str, by: str | None = "hour", **keys: object) -> Path:
    times = (form.format(f"2026-01-{6 + hour // 24:02}T{hour % 24:02}:00") for hour in range(5 * 24))
    rows = "when,state\n" + "".join(f"{time},{'on' if place % 3 else 'off'}\n" for place, time in enumerate(times))
    text = release_text(
        read_from("study", "data.csv", **{"rows": "samples", "order": "when", **keys}, value="state", step="1h",
                  from_="2026-01-05", until="2026-01-13", budget=90),
        believe("markov-chain", states=["off", "on"], matrix=[[0.5, 0.5], [0.3, 0.7]], source="a test"),
        publish("table", "count", states=["on"], epsilon=2.0, **({"by": by} if by else {})),
        expect=EXPECT,
    )  # fmt: skip
    return put(folder, {"release.toml": text, "data.csv": rows})


@pytest.mark.mutants
@pytest.mark.parametrize("name", CLOCKS)
def test_every_page_says_whose_clock(name: str, tmp_path: Path) -> None:
    form, keys, clock, words = CLOCKS[name]
    (table,) = tf.release_file(study(tmp_path, form, **keys), allow_useless=True).tables
    folder = table.files[0].parent
    assert words in table.title
    assert {row["clock"] for row in table.rows} == {clock}
    assert {row["clock"] for row in read_table(folder / "table.csv")} == {clock}
    drawing = re.sub(r"<[^>]*>", " ", words_in(folder / "table.svg"))
    assert f"hour of the day, {words.removeprefix('on ').removeprefix('in ')}: noisy" in " ".join(drawing.split())
    for form in ("datapackage", "json"):
        succeed("report", folder, "--as", form)
    for page in ("certificate.txt", "report.html", "datapackage.json", "table.json"):
        assert words in words_in(folder / f"table.{page}"), page
