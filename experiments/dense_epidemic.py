"""Figures 2 and 3 of Takagi21 for an epidemic as dense as the paper's, where 492 of 5,835 places are dangerous."""

from __future__ import annotations

from functools import lru_cache

import epidemic
from epidemic import PLACES, Epidemic, Integers
from epidemic_maps import Setting, asymmetric, bounded, maps
from pages import table
from research_data import needed_file
from takagi.virtual import virtual_beta

#: Figure 2 as printed: so many places have fewer than three people, and so many of these are found.
SAFE, BELOW = 5_343, 3
PRINTED = {"ε-DP (virtual)": None, "(ε, δ)-DP (virtual)": 4, "asymmetric": 5_031}
#: Of so many infected people the first are taken that make as many places dangerous.
MANY = 25_000


@lru_cache(maxsize=1)
def dense(hour: int) -> Epidemic:
    """Return an epidemic in which as many places are dangerous in an hour as in the paper's Figure 2."""
    many = epidemic.simulate(epidemic.Weeks.read(needed_file(epidemic.FILE)), number=MANY)
    return epidemic.as_dense(many, hour, BELOW, PLACES - SAFE)


def setting_of(name: str) -> Setting:
    """Return the setting of Figure 2: "fewer than three", and no wrong answer."""
    return Setting(threshold=BELOW - 1, alpha=0, delta=0 if name == "ε-DP (virtual)" else 1e-4)


def expected(name: str, counts: Integers) -> float:
    """Return how many of the safe places are expected to be found."""
    setting = setting_of(name)
    safe = counts[setting.safe.holds(counts)]
    if name == "asymmetric":
        return asymmetric(setting).recall(safe) * len(safe)
    return float(bounded(virtual_beta, setting, setting.safe, safe).sum())


def dense_table(counts: Integers) -> str:
    """Return how many safe places are expected to be found, beside what the paper prints of one drawing."""
    rows = []
    for name, printed in PRINTED.items():
        words = "-" if printed is None else f"{printed:,} of {SAFE:,}"
        rows.append([name, words, f"{expected(name, counts):,.1f} of {int((counts < BELOW).sum()):,}"])
    return table(["safe places that are found", "printed, one drawing", "here, expected"], rows)


def dense_maps(command: str, counts: Integers) -> str:
    """Draw what Figures 2 and 3 show, and return a table of the drawing."""
    lines = [(f"t = {BELOW - 1}, α = 0", Setting(threshold=BELOW - 1, alpha=0))]
    lines += [(f"t = 5, α = {words}", Setting(alpha=alpha)) for words, alpha in (("10⁻³", 1e-3), ("10⁻⁴", 1e-4))]
    return maps("dense", command, counts, lines)


def dense_tables(command: str, hour: int) -> dict[str, str]:
    """Draw Figures 2 and 3 for an epidemic as dense as the paper's, and return their tables."""
    counts = dense(hour).hour(hour)
    people = f"{len(dense(hour).at):,} infected people, {counts.sum():,} of them somewhere in the hour of the map."
    return {"dense people": people, "dense": dense_table(counts), "dense maps": dense_maps(command, counts)}
