"""A Friday at 6 p.m.: where people of the real check-ins of New York were, each at one place, and what is safe to say.

It writes evening.csv and evening.toml, the release file that hides who was where, and prints what the
release would tell; no single row is printed.
"""

from __future__ import annotations

import csv
import gzip
import tempfile
from pathlib import Path

import takifugu as tf
from pages import OUTPUT, make, release_file
from research_data import needed_file

REPRODUCES = "Takagi, Kato, Cao and Yoshikawa 2021, Section VI: places that are safe, as one release file"
COMMAND = "takifugu reproduce evening"
FILE = "checkins/foursquare_nyc.csv.gz"
DAY, HOUR = "Friday", "18"


def write_file(source: Path, folder: Path) -> None:
    """Write evening.csv: for each person who checked in at the hour the last of these places in the file."""
    last: dict[str, tuple[str, str]] = {}
    with gzip.open(source, "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if (row["day"], row["hour"]) == (DAY, HOUR):
                last[row["user"]] = row["lon"], row["lat"]
    with (folder / "evening.csv").open("w", encoding="utf-8", newline="") as private:
        rows = csv.writer(private)
        rows.writerow(["person", "lon", "lat"])
        rows.writerows([person, *place] for person, place in last.items())


def foretell() -> dict[str, str]:
    """Print what the release would say; the two files stay in OUTPUT only."""
    source = needed_file(FILE)
    with tempfile.TemporaryDirectory() as name:
        folder = OUTPUT or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        write_file(source, folder)
        for row in tf.dry_run(release_file("evening.toml", folder)).tables:
            print(row.words())
    return {}


def main() -> None:
    make(None, COMMAND, {"the evening": foretell})


if __name__ == "__main__":
    main()
