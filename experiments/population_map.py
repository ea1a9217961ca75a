"""At home or out: real check-ins of New York, randomised so that they do not tell which; the files, and a map.

One check-in of each of 104 people is private; the populations are counted in the check-ins of 89 other people. The map
shows the populations and what is sent, cells of the city together; no single row is drawn or printed.
"""

from __future__ import annotations

import csv
import gzip
import tempfile
from pathlib import Path
from typing import Any

import takifugu as tf
from pages import DOCS, OUTPUT, make, release_file, stamp
from research_data import needed_file
from takifugu.core.text.maps import heat_map
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.plan import calibrated
from takifugu.releasing.report.populations import marginals, moved_most

REPRODUCES = "Kawamoto and Murakami 2019, Section 6: locations that hide a population, as one release file"
COMMAND = "takifugu reproduce population_map"
FILE = "checkins/foursquare_nyc.csv.gz"
_WIDTH, _GAP = 300, 20


def write_files(source: Path, folder: Path) -> None:
    """Write people.csv (the first check-in of each even user) and others.csv (all of odd users, at home or out)."""
    seen = set[str]()
    with (
        gzip.open(source, "rt", encoding="utf-8") as file,
        (folder / "people.csv").open("w", encoding="utf-8", newline="") as private,
        (folder / "others.csv").open("w", encoding="utf-8", newline="") as public,
    ):
        people, others = csv.writer(private), csv.writer(public)
        people.writerow(["person", "lon", "lat"])
        others.writerow(["person", "status", "lon", "lat"])
        for row in csv.DictReader(file):
            place = [row["lon"], row["lat"]]
            if int(row["user"]) % 2:
                others.writerow([row["user"], "home" if row["category"] == "Residence" else "out", *place])
            elif row["user"] not in seen:
                seen.add(row["user"])
                people.writerow([row["user"], *place])


def picture(folder: Path) -> str:
    """Return the maps of both populations, before and after, and of where one place is sent, as one SVG."""
    (table,) = calibrated(load(release_file("places.toml", folder))).tables
    (calibration,) = table.calibrations
    belief: Any = calibration.framework.beliefs[0]
    noise: Any = calibration.randomiser
    sent = marginals(belief, noise)
    start = moved_most(belief, noise)
    drawn = [
        *((belief.values, [float(m) for m in belief.laws[n]], f"{name}: where people are", None)
          for n, name in enumerate(belief.populations)),
        *((belief.values, sent[n], f"{name}: what is sent", None) for n, name in enumerate(belief.populations)),
        (belief.values, noise.sender.shares(start), "sent from the ringed cell", belief.values[start]),
    ]  # fmt: skip
    metres = float(belief.scales[0])
    maps = [heat_map(places, numbers, title, _WIDTH, mark, metres) for places, numbers, title, mark in drawn]
    tall = int(maps[0].partition('height="')[2].partition('"')[0]) + _GAP
    at = [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0)]
    inside = "".join(
        one.replace("<svg ", f'<svg x="{column * (_WIDTH + _GAP)}" y="{row * tall}" ', 1)
        for one, (column, row) in zip(maps, at, strict=True)
    )
    wide, high = 3 * _WIDTH + 2 * _GAP, 2 * tall
    about = f"made by `{COMMAND}` {stamp()}"
    title = "At home or out, before and after: epsilon 1 of distribution privacy, the best channel for one value"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" height="{high}" '
        f'role="img"><title>{title}</title><desc>{about}</desc>'
        f'<rect width="{wide}" height="{high}" fill="white"/>{inside}</svg>\n'
    )


def draw() -> dict[str, str]:
    """Write the map, and print what the release would publish; the files that it reads stay in OUTPUT only."""
    source = needed_file(FILE)
    with tempfile.TemporaryDirectory() as name:
        folder = OUTPUT or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        write_files(source, folder)
        (DOCS / "images").mkdir(parents=True, exist_ok=True)
        (DOCS / "images" / "population-map.svg").write_text(picture(folder), encoding="utf-8")
        for row in tf.dry_run(release_file("places.toml", folder)).tables:
            print(row.words())
    return {}


def main() -> None:
    make(None, COMMAND, {"the map": draw})


if __name__ == "__main__":
    main()
