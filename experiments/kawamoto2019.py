"""Kawamoto19, distribution privacy: where a person is, without telling which population they come from (our data).

Our text of the paper ends before its experiments, so that these are ours: check-ins in New York on a 15 x 15 grid, four
attributes of a check-in that the receiver must not learn (a residence or not, weekend or weekday, night or day, one of
the ten heaviest users or not), and for each mechanism the expected loss in kilometres against the epsilon of
distribution privacy. Populations are smoothed by half a count per cell: their supports differ otherwise, and a cell
that only one population has would give it away. No single user's rows are shown. Writes docs/kawamoto2019.md.
"""

from __future__ import annotations

import csv
import gzip
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from pages import ROOT, commit, pyplot, save, table, write
from research_data import find_or_leave
from takifugu.laws.channel import from_weights
from takifugu.local.choosing import Mechanism, largest_strength, mechanisms, optimum
from takifugu.local.measuring import success
from takifugu.local.populations import Populations, estimated
from takifugu.local.senders import OneValue, Tuple

REPRODUCES = "Kawamoto 2019 (Local Obfuscation Mechanisms for Hiding Probability Distributions), on our data"

FILE = "checkins/foursquare_nyc.csv.gz"
SIDE = 15
#: Declared, not read off the data: degrees, and kilometres per degree at this latitude.
SOUTH, NORTH, WEST, EAST = 40.55, 40.99, -74.27, -73.68
KM = (111.2, 84.4)
SMOOTHING = "1/2"
HEAVY = 10
DELTA = Fraction(1, 1000)
EPSILONS = ("0.5", "1", "2", "4")
DUMMIES = (5, 20, 50)
RADIUS = 5.0
ATTRIBUTES: dict[str, tuple[str, str, Callable[[dict[str, str]], bool]]] = {
    "residence": ("residence", "elsewhere", lambda row: row["category"] == "Residence"),
    "weekend": ("weekend", "weekday", lambda row: row["day"] in ("Saturday", "Sunday")),
    "night": ("night", "day", lambda row: not 6 <= int(row["hour"]) < 22),
}
PAGE = ROOT / "docs" / "kawamoto2019.md"
COMMAND = "takifugu reproduce kawamoto2019"


def places() -> list[tuple[float, float]]:
    """Return the middles of all cells in kilometres from the south-west corner, row by row from the south."""
    height, width = (NORTH - SOUTH) * KM[0] / SIDE, (EAST - WEST) * KM[1] / SIDE
    return [((column + 0.5) * width, (row + 0.5) * height) for row in range(SIDE) for column in range(SIDE)]


def cell(latitude: float, longitude: float) -> int:
    """Return the number of a check-in's cell; those outside the box go to its border."""
    row = min(max(math.floor((latitude - SOUTH) / (NORTH - SOUTH) * SIDE), 0), SIDE - 1)
    column = min(max(math.floor((longitude - WEST) / (EAST - WEST) * SIDE), 0), SIDE - 1)
    return row * SIDE + column


@lru_cache(maxsize=1)
def rows(path: Path) -> tuple[dict[str, str], ...]:
    """Return the check-ins."""
    with gzip.open(path, "rt", encoding="utf-8") as text:
        return tuple(csv.DictReader(text))


def populations(path: Path, attribute: str) -> Populations:
    """Return the two smoothed populations of an attribute."""
    where, data = places(), rows(path)
    if attribute == "heavy users":
        heavy = {user for user, _ in Counter(row["user"] for row in data).most_common(HEAVY)}
        names, chosen = ("the ten heaviest", "the others"), lambda row: row["user"] in heavy
    else:
        *names, chosen = ATTRIBUTES[attribute]
    seen = ((names[not chosen(row)], where[cell(float(row["lat"]), float(row["lon"]))]) for row in data)
    return estimated(seen, where, SMOOTHING, source="check-ins of a research data set")


def ways(found: Populations) -> dict[str, Mechanism]:
    """Return the mechanisms with one strength, the paper's restricted Laplace inside tupling among them."""
    known = {name: way for name, way in mechanisms(found).items() if way is not None and name != "tupling"}
    apart = found.distances

    def restricted(strength: float) -> Any:
        return np.where(apart <= RADIUS, np.exp(-strength * apart), 0.0)

    for dummies in DUMMIES:

        def make(p: Populations, strength: float, k: int = dummies) -> Tuple:
            return Tuple(from_weights(p.values, p.values, restricted(strength)), k, apart)

        known[f"tupling, k = {dummies}"] = Mechanism(make)
    return known


def losses(found: Populations, names: Iterable[str], epsilon: Fraction, delta: Fraction) -> dict[str, float]:
    """Return the expected loss of each mechanism at the largest strength that keeps the promise; nan for none."""
    known, result = ways(found), dict[str, float]()
    for name in names:
        strength = largest_strength(known[name], found, epsilon, delta)
        result[name] = math.nan if strength is None else known[name].make(found, strength).expected_loss(found)
    return result


def attack(found: Populations, way: Mechanism, epsilon: Fraction) -> tuple[float, float]:
    """Return how often the best guess of the population is right, from the value itself and from what is sent."""
    one, other = found.laws.values()
    strength = largest_strength(way, found, epsilon, Fraction(0))
    assert strength is not None
    sender = way.make(found, strength)
    assert isinstance(sender, OneValue)
    return success(None, one, other), success(sender.channel, one, other)


def main() -> None:
    path = find_or_leave(FILE)
    quick = "--quick" in sys.argv
    attributes = [*ATTRIBUTES, "heavy users"]
    epsilons = EPSILONS[:2] if quick else EPSILONS
    table_rows, curves = [], {}
    for attribute in attributes:
        found = populations(path, attribute)
        pure = [name for name in ways(found) if not name.startswith("tupling")]
        tuples = [name for name in ways(found) if name.startswith("tupling")]
        for epsilon in map(Fraction, epsilons):
            at = losses(found, pure, epsilon, Fraction(0))
            at["optimal"] = optimum(found, epsilon, Fraction(0)).expected_loss or math.nan
            if attribute == "residence":
                at |= losses(found, tuples, epsilon, DELTA)
            curves[attribute, epsilon] = at
            print(attribute, float(epsilon), {name: round(loss, 3) for name, loss in at.items()}, flush=True)
        before, after = attack(found, ways(found)["exponential"], Fraction(1))
        table_rows.append([attribute, *(f"{curves[attribute, Fraction(1)][n]:.2f}" for n in (*pure, "optimal")),
                           f"{before:.3f}", f"{after:.3f}"])  # fmt: skip
    if quick:
        return
    header = ["hidden", *pure, "optimal", "best guess before", "after (exponential)"]
    write(PAGE, "losses", table(header, table_rows) + f"\n\n*Made by `{COMMAND}` at commit {commit()}.*")
    kept = [[name, *(_shown(curves["residence", Fraction(e)][name]) for e in EPSILONS)] for name in tuples]
    write(PAGE, "tupling", table(["at delta 0.001", *(f"epsilon {e}" for e in EPSILONS)], kept))
    _draw(curves, pure, tuples)


def _shown(loss: float) -> str:
    return "-" if math.isnan(loss) else f"{loss:.3f}"


def _draw(curves: dict[tuple[str, Fraction], dict[str, float]], pure: list[str], tuples: list[str]) -> None:
    plots = pyplot()
    figure, axis = plots.subplots(figsize=(7.6, 4.8))
    at = [Fraction(e) for e in EPSILONS]
    for number, name in enumerate([*pure, "optimal", *tuples]):
        line = [curves["residence", e].get(name, math.nan) for e in at]
        style = "k-" if name == "optimal" else "--" if name in tuples else "-"
        colour = None if name == "optimal" else plots.get_cmap("tab20")(number)
        axis.plot([float(e) for e in at], line, style, label=name, color=colour, marker=".")
    axis.set(xscale="log", ylabel="expected loss (km)")
    axis.set_xlabel("epsilon of distribution privacy (residence or elsewhere)")
    axis.set_xticks([float(e) for e in at], list(EPSILONS))
    axis.set_ylim(bottom=0)
    axis.legend(fontsize=7, ncols=2)
    axis.set_title("Loss of the place against what it tells about the population")
    figure.tight_layout()
    save(figure, "kawamoto2019-tradeoff", COMMAND)


if __name__ == "__main__":
    main()
