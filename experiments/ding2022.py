"""Ding22, Kantorovich mechanisms: its tables and figures reproduced, with the smallest noise drawn beside its own.

Tables 1 to 6 are recomputed in exact fractions and compared with the printed ones. Figures 1, 2, 3 and 5 are plans and
laws; Figure 4 is the noise on Adult (hide the race, publish the education), where the exact scale and the cheapest
channel stand beside Theorems 1 and 2. It writes the tables of experiments/ding2022.md and its pictures.
"""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np

import takifugu as tf
from pages import PAGES, make, pyplot, save, table
from research_data import needed_file
from takifugu.numbers import Pmf, monotone_coupling, w_infinity
from takifugu.numbers.after_noise.noised import laplace_log_ratio
from takifugu.numbers.transport.on_the_line import Plan

REPRODUCES = "Ding 2022 (Kantorovich Mechanism for Pufferfish Privacy), Tables 1 to 6 and Figures 1 to 5"

FILE = "adult/adult_train.csv.gz"
#: The order of the UCI documentation: the paper lists the first fourteen.
EDUCATION = (
    "Bachelors", "Some-college", "11th", "HS-grad", "Prof-school", "Assoc-acdm", "Assoc-voc", "9th", "7th-8th", "12th",
    "Masters", "1st-4th", "10th", "Doctorate", "5th-6th", "Preschool",
)  # fmt: skip
RACES = ("White", "Asian-Pac-Islander")
LISTED = 14
#: The paper draws from 0.8 on, where the least Laplace noise is none.
EPSILONS = tuple(float(e) for e in np.round(np.arange(0.1, 5.55, 0.1), 1))
EPSILONS_IN_TABLE = (0.1, 0.2, 0.4, 0.8, 2.0, 5.0)
CURVES = {
    "kantorovich": ("Theorem 1 (Lemma 1)", "tab:red", "-"),
    "kantorovich-relaxed": ("Theorem 2, as corrected", "tab:orange", "-"),
    "laplace-exact": ("least Laplace noise", "tab:blue", "-"),
}
PAGE = PAGES / "ding2022.md"
COMMAND = "takifugu reproduce ding2022"

FIRST = (Pmf.from_counts([1, 2, 3, 4], [2, 1, 2, 1]), Pmf.from_counts([1, 2, 3, 4], [3, 3, 2, 4]))
SECOND = (Pmf.from_counts([1, 2, 3, 4], [8, 9, 20, 3]), Pmf.from_counts([2, 3, 4, 5], [3, 20, 9, 8]))
PRINTED = {  # rows of the paper's tables
    "2": ["1/4 1/3 1/3 1/3", "1/4 1/2 1/2 1/2", "1/4 1/2 2/3 5/6", "1/4 1/2 2/3 1"],
    "3": ["1/4 1/12 0 0", "0 1/6 0 0", "0 0 1/6 1/6", "0 0 0 1/6"],
    "5": [
        "0 3/40 1/5 1/5 1/5",
        "0 3/40 17/40 17/40 17/40",
        "0 3/40 23/40 4/5 37/40",
        "0 3/40 23/40 4/5 1",
        "0 3/40 23/40 4/5 1",
    ],
    "6": ["0 3/40 1/8 0 0", "0 0 9/40 0 0", "0 0 3/20 9/40 1/8", "0 0 0 0 3/40", "0 0 0 0 0"],
}


def joint_cdf_table(plan: Plan) -> list[list[Fraction]]:
    """Return min(F(x), G(y)) by left atom (Tables 2 and 5)."""
    return np.cumsum(np.cumsum(np.array(plan.joint_pmf_table(), dtype=object), axis=0), axis=1).tolist()


def check_tables() -> None:
    """Compare Tables 2, 3, 5 and 6 with the printed fractions."""
    for numbers, (p, q) in (("23", FIRST), ("56", SECOND)):
        plan = monotone_coupling(p, q)
        for number, table_computed in zip(numbers, (joint_cdf_table(plan), plan.joint_pmf_table()), strict=True):
            printed = [[Fraction(x) for x in row.split()] for row in PRINTED[number]]
            assert [[Fraction(x) for x in row] for row in table_computed] == printed, f"Table {number}"


def users(chances: Sequence[float]) -> Pmf:
    """Return the law of how many of some independent users answer yes."""
    law = Pmf([0], [1])
    for chance in chances:
        yes = Fraction(str(chance))
        law = law.convolve(Pmf([0, 1], [1 - yes, yes]))
    return law


def one_user(chances: Sequence[float], present: float) -> tuple[Pmf, Pmf, Pmf]:
    """Return the laws of the count when one user says no, says yes, and is absent (the value unknown, N2)."""
    rest = users(chances)
    return rest, rest.shift(1), users([*chances, present])


def adult(file: Path, codes: int) -> tuple[Pmf, Pmf, int]:
    """Return the two laws of the education code, as counts, and how many records have one of these codes."""
    number = {name: code for code, name in enumerate(EDUCATION[:codes], start=1)}
    counts: dict[str, Counter[int]] = {race: Counter() for race in RACES}
    used = 0
    with gzip.open(file, "rt", encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows):
            code = number.get(row["education"])
            used += code is not None
            if code is not None and row["race"] in counts:
                counts[row["race"]][code] += 1
    laws = [Pmf.from_counts(sorted(c), [c[code] for code in sorted(c)]) for c in counts.values()]
    return laws[0], laws[1], used


def variance(pair: tuple[Pmf, Pmf], mechanism: str, epsilon: float) -> float:
    """Return the variance 2 b^2 of the Laplace noise of a mechanism."""
    framework = tf.distribution_pair(*pair)
    scale = tf.calibrate(framework, tf.Identity(), epsilon, mechanism=mechanism, allow_zero_noise=True).scale
    return 2 * scale**2


def errors(pair: tuple[Pmf, Pmf], epsilon: float) -> dict[str, float]:
    """Return the expected absolute error of every mechanism for two laws: of "optimal" the mean over both."""
    rows = tf.compare(tf.distribution_pair(*pair), tf.Identity(), epsilon)
    known = {row.name: row.expected_error for row in rows if row.expected_error is not None}
    if "optimal" in known:
        framework = tf.distribution_pair(*pair)
        best = tf.calibrate(framework, tf.Identity(), epsilon, mechanism="optimal", allow_zero_noise=True)
        known["optimal"] = dict(best.witness.numbers)["mean_error"]
    return known


def draw_plans(name: str, panels: Sequence[tuple[str, Plan]]) -> None:
    """Draw the masses of some plans: rows are values given one secret, columns given the other."""
    plots = pyplot()
    figure, axes = plots.subplots(
        1, len(panels), figsize=(4.2 * len(panels), 3.8), layout="constrained", squeeze=False
    )
    for axis, (title, plan) in zip(axes[0], panels, strict=True):
        moves = [(float(x), float(y), float(m)) for x, y, m in plan.items()]
        size = [300 * m / max(m for _, _, m in moves) + 4 for _, _, m in moves]
        low, high = min(min(x, y) for x, y, _ in moves), max(max(x, y) for x, y, _ in moves)
        axis.plot([low, high], [low, high], color="0.85", zorder=0)
        across, up = [x for x, _, _ in moves], [y for _, y, _ in moves]
        axis.scatter(across, up, s=size, color="tab:blue", alpha=0.7, linewidth=0)
        axis.set(title=title, xlabel="from", ylabel="to", aspect="equal")
    save(figure, name, COMMAND)


def draw_laws(name: str, values: Sequence[tuple[str, Pmf]], xlabel: str) -> None:
    plots = pyplot()
    figure, axis = plots.subplots(figsize=(7.2, 3.2), layout="constrained")
    for (label, law), colour, marker in zip(values, ("tab:blue", "tab:red", "0.4"), "os^", strict=False):
        points = [(float(v), float(p)) for v, p in law.items()]
        axis.plot(*zip(*points, strict=True), marker=marker, color=colour, label=label, linewidth=1, markersize=4)
    axis.set(xlabel=xlabel, ylabel="probability")
    axis.legend(frameon=False)
    save(figure, name, COMMAND)


def draw_noise(pair: tuple[Pmf, Pmf]) -> dict[str, list[float]]:
    """Draw the variance of the noise on Adult against epsilon (Figure 4), and return the curves."""
    curves = {name: [variance(pair, name, e) for e in EPSILONS] for name in CURVES}
    plots = pyplot()
    figure, axis = plots.subplots(figsize=(7.2, 3.6), layout="constrained")
    for name, (label, colour, line) in CURVES.items():
        points = [(e, v) for e, v in zip(EPSILONS, curves[name], strict=True) if v > 0]
        axis.semilogy(*zip(*points, strict=True), line, color=colour, label=f"{label}: {name}")
    axis.axvline(0.8, color="0.8", linewidth=1)
    begins = (0.8, axis.get_ylim()[1])
    axis.annotate(" the paper's figure begins", begins, color="0.5", fontsize=8, va="top")
    axis.set(xlabel="ε", ylabel="variance of the noise")
    axis.legend(frameon=False)
    save(figure, "ding2022-figure4", COMMAND)
    return curves


def plan_tables(pair: tuple[Pmf, Pmf]) -> tuple[str, str]:
    """Return a plan as a table of the mass in each corner, and as one of the masses."""
    plan = monotone_coupling(*pair)
    atoms = [str(x) for x in plan.atoms]

    def laid_out(words: tuple[str, str], values: Sequence[Sequence[Fraction | float]]) -> str:
        rows = [[f"{words[0]} {x}", *map(str, row)] for x, row in zip(atoms, values, strict=True)]
        return table(["", *(f"{words[1]} {y}" for y in atoms)], rows)

    corners = laid_out(("from at most", "to at most"), joint_cdf_table(plan))
    return corners, laid_out(("from", "to"), plan.joint_pmf_table())


def paper() -> dict[str, str]:
    """Recompute the tables of the paper and return its plans; the laws, Tables 1 and 4, are given."""
    check_tables()
    tables = (*plan_tables(FIRST), *plan_tables(SECOND))
    return dict(zip(("table2", "table3", "table5", "table6"), tables, strict=True))


def draw_users() -> dict[str, str]:
    """Draw Figures 1, 2 and 5: the plans and laws of users who say yes independently."""
    no, yes, absent = one_user([0.7] * 24, 0.7)
    several = [round(0.05 + 0.1 * i, 2) for i in range(10)]
    first, other, _ = one_user(several[1:], several[0])
    draw_plans("ding2022-figure1", [
        ("25 users: no and yes", monotone_coupling(no, yes)),
        ("25 users: no and absent", monotone_coupling(no, absent)),
    ])  # fmt: skip
    draw_plans("ding2022-figure2", [("10 different users: no and yes", monotone_coupling(first, other))])
    draw_laws("ding2022-figure5", [("says no", no), ("says yes", yes), ("absent", absent)], "users who say yes")
    return {}


def on_adult() -> dict[str, str]:
    """Draw Figures 3 and 4, and return the tables of the education in Adult, given the race."""
    file = needed_file(FILE)
    white, asian, used = adult(file, LISTED)
    draw_laws("ding2022-figure3a", list(zip(RACES, (white, asian), strict=True)), "education code")
    draw_plans("ding2022-figure3b", [("education, given race", monotone_coupling(white, asian))])
    curves = draw_noise((white, asian))
    sixteen = adult(file, len(EDUCATION))
    facts = [
        ["largest move of the plan, 14 codes", "2", str(w_infinity(white, asian))],
        ["largest move of the plan, all 16 codes", "-", str(w_infinity(*sixteen[:2]))],
        ["largest difference of two codes, 14 codes", "14", str(LISTED - 1)],
        ["ε from which no noise is needed, 14 codes", "-", f"{laplace_log_ratio(white, asian, 0):.4f}"],
        ["records", "32652", f"{sixteen[2]} ({used} of them with one of the 14 codes)"],
    ]
    at = [EPSILONS.index(e) for e in EPSILONS_IN_TABLE]
    variances = [[f"`{name}`", *(f"{curves[name][i]:.3f}" for i in at)] for name in CURVES]
    by_epsilon = {e: errors((white, asian), e) for e in EPSILONS_IN_TABLE}
    names = [n for n in (*CURVES, "optimal") if all(n in row for row in by_epsilon.values())]
    rows = [[f"`{name}`", *(f"{by_epsilon[e][name]:.3f}" for e in EPSILONS_IN_TABLE)] for name in names]
    at_epsilons = [f"ε = {e:g}" for e in EPSILONS_IN_TABLE]
    return {
        "adult": table(["Adult, education by race", "printed", "here"], facts),
        "variances": table(["variance of the noise", *at_epsilons], variances),
        "errors": table(["expected absolute error", *at_epsilons], rows),
    }


def main() -> None:
    make(PAGE, COMMAND, {"Tables 1 to 6": paper, "Figures 1, 2 and 5": draw_users, "Figures 3 and 4": on_adult})


if __name__ == "__main__":
    main()
