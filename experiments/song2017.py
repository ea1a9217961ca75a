"""Song17, Markov quilts: every figure of the paper reproduced, and its mechanisms on real sequences beside ours.

Figure 1 is the error of a sum for a class of binary chains, Figure 3 who adds less noise at each pair of stay
probabilities, Figure 4 the error of a histogram of five states against epsilon; then the flu example, and activity and
electricity data. It writes the tables of docs/song2017.md and its pictures.
"""

from __future__ import annotations

import csv
import gzip
import time
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import activity
import takifugu as tf
from pages import PAGES, make, pyplot, save, table
from research_data import needed_file
from takifugu.analysis.randomisers import DiscreteLaplace
from takifugu.core.errors import CalibrationRefused
from takifugu.numbers.rationals import as_fraction

REPRODUCES = "Song, Wang and Chaudhuri (arXiv 1603.03977v1), Figures 1, 3 and 4"

LENGTH = 100
EPSILONS = (1.0, 5.0, 10.0)
#: Figure 1: stay probabilities on each side of the grid.
POINTS = 21
LOWS = tuple(float(x) for x in np.round(np.arange(0.1, 0.405, 0.02), 2))
GRID = tuple(float(x) for x in np.round(np.arange(0.02, 0.99, 0.02), 2))
#: Figure 4: five states; what is varied, and what the others stay at.
STATES = 5
BASE = {"pi": 0.05, "g": 0.1, "length": 1000}
VARIED = {"pi": (0.01, 0.03, 0.05), "g": (0.02, 0.05, 0.1), "length": (300, 1000, 3000)}
LOG_EPSILONS = tuple(float(x) for x in np.linspace(-1.5, 2.5, 17))
CODING_B = {"lying": 0, "sitting": 1, "standing": 2, "walking": 3, "running": 3, "bicycling": 3}
POWER = "electricity/uci_household_minute_2006-12_2007-01.csv.gz"
WATTS, LEVELS = 200, 51
PAGE = PAGES / "song2017.md"
COMMAND = "takifugu reproduce song2017"


def needed(belief: Any, query: Any, epsilon: float, mechanism: str) -> float | None:
    """Return the scale that a mechanism needs, or None where it does not apply."""
    framework = tf.Pufferfish(tf.every_entry(), belief)
    try:
        return tf.calibrate(framework, query, epsilon, mechanism=mechanism, allow_zero_noise=True).scale
    except CalibrationRefused:
        return None


def binary(p0: float, p1: float, initial: Any = "stationary") -> tf.MarkovChain:
    """Return the chain that stays in 0 with p0 and in 1 with p1."""
    return tf.MarkovChain([[p0, 1 - p0], [1 - p1, p1]], LENGTH, initial=initial)


def expected_error(scale: float, cells: int = 1) -> float:
    """Return the expected L1 error of a release, whatever the true answer (the paper shows the mean of 500 runs)."""
    return DiscreteLaplace(as_fraction(scale, "scale"), Fraction(1), cells).expected_error()


def over_a_grid(low: float, epsilon: float) -> float:
    """Return the largest scale over a grid of chains, each with its own pi and g (Song17 Figure 1): no proof.

    Masses and gaps are the same for (p0, p1) and (p1, p0), so half of the grid decides.
    """
    ends = [round(float(p), 9) for p in np.linspace(low, 1 - low, POINTS)]
    pairs = ((p0, p1) for place, p0 in enumerate(ends) for p1 in ends[place:])
    scales = [needed(binary(p0, p1, "any"), tf.Count(1), epsilon, "quilt-approx") for p0, p1 in pairs]
    return max(scale for scale in scales if scale is not None)


def figure_1() -> str:
    """Draw epsilon times the normalised error against the least probability of the class, one panel per epsilon."""
    plots = pyplot()
    figure, axes = plots.subplots(1, 3, figsize=(9.6, 3.2), sharey=True, layout="constrained")
    rows = []
    for axis, epsilon in zip(axes, EPSILONS, strict=True):
        curves: dict[str, list[float | None]] = {name: [] for name in COLOURS}
        for low in LOWS:
            count = tf.Count(1)
            curves["quilt-approx"].append(
                needed(tf.MarkovChainClass(low, 2 * low, LENGTH), count, epsilon, "quilt-approx")
            )
            curves["interval"].append(needed(tf.BinaryChainInterval(low, LENGTH), count, epsilon, "quilt-approx"))
            curves["grid"].append(over_a_grid(low, epsilon))
            ends = (low, 1 - low)
            corners = [needed(binary(p0, p1), count, epsilon, "inferential") for p0 in ends for p1 in ends]
            curves["inferential"].append(None if None in corners else max(c for c in corners if c is not None))
            curves["group"].append(LENGTH / epsilon)
        for (name, scales), style in zip(curves.items(), ("-", "-", "-.", "--", ":"), strict=True):
            points = [(low, epsilon * expected_error(s) / LENGTH) for low, s in zip(LOWS, scales, strict=True) if s]
            if points:
                axis.semilogy(*zip(*points, strict=True), style, label=LABELS[name], color=COLOURS[name])
        axis.set(title=f"ε = {epsilon:g}", xlabel="ℓ: stay probabilities in [ℓ, 1 - ℓ]")
        for low in (0.1, 0.2, 0.3, 0.4):
            at = LOWS.index(low)
            cells = [f"{curves[name][at]:.2f}" if curves[name][at] is not None else "-" for name in curves]
            rows.append([f"{epsilon:g}, {low:g}", *cells])
    axes[0].set_ylabel("ε · |S' - S| / T")
    axes[0].legend(frameon=False, fontsize=8)
    save(figure, "song2017-figure1", COMMAND)
    return table(["scale at ε, ℓ", *(LABELS[name] for name in COLOURS)], rows)


LABELS = {
    "quilt-approx": "the class's (π, g)", "interval": "the interval itself (ours)",
    "grid": "grid of chains (the paper)", "inferential": "GK16 at the corners", "group": "group",
}  # fmt: skip
COLOURS = {
    "quilt-approx": "tab:orange", "interval": "tab:blue", "grid": "tab:red", "inferential": "tab:green",
    "group": "0.6",
}  # fmt: skip


def figure_3() -> str:
    """Draw who adds less noise at each (p0, p1), and return how often each does."""
    plots = pyplot()
    figure, axes = plots.subplots(1, 3, figsize=(9.6, 3.4), sharey=True, layout="constrained")
    from matplotlib.colors import ListedColormap

    rows = []
    for axis, epsilon in zip(axes, EPSILONS, strict=True):
        winners = np.zeros((len(GRID), len(GRID)))
        for i, p0 in enumerate(GRID):
            for j, p1 in enumerate(GRID):
                quilt = needed(binary(p0, p1), tf.Count(1), epsilon, "quilt-exact")
                other = needed(binary(p0, p1), tf.Count(1), epsilon, "inferential")
                winners[i, j] = 0 if other is None else 1 if quilt is not None and quilt <= other else 2
        area = (GRID[0], GRID[-1], GRID[0], GRID[-1])
        colours = ListedColormap(["white", "gold", "royalblue"])
        axis.imshow(winners.T, origin="lower", extent=area, cmap=colours, vmin=0, vmax=2, interpolation="nearest")
        axis.set(title=f"ε = {epsilon:g}", xlabel="p0")
        shares = [float((winners == w).mean()) for w in (0, 1, 2)]
        rows.append([f"{epsilon:g}", *(f"{100 * s:.0f} %" for s in shares)])
    axes[0].set_ylabel("p1")
    save(figure, "song2017-figure3", COMMAND)
    return table(["ε", "GK16 does not apply (white)", "quilt adds less (yellow)", "GK16 adds less (blue)"], rows)


def figure_4() -> None:
    """Draw the L1 error of the relative frequencies against log epsilon, by what the mechanism knows of the class."""
    plots = pyplot()
    figure, axes = plots.subplots(1, 3, figsize=(9.6, 3.2), sharey=True, layout="constrained")
    names = {"pi": "π", "g": "g", "length": "T"}
    for axis, (name, values) in zip(axes, VARIED.items(), strict=True):
        for value in values:
            setting = {**BASE, name: value}
            belief = tf.MarkovChainClass(setting["pi"], setting["g"], int(setting["length"]), states=range(STATES))
            errors = []
            for log_epsilon in LOG_EPSILONS:
                scale = needed(belief, tf.Histogram(), float(np.exp(log_epsilon)), "quilt-approx")
                errors.append(expected_error(float(scale or 0), STATES) / setting["length"])
            axis.semilogy(LOG_EPSILONS, errors, marker=".", label=f"{names[name]} = {value:g}")
        axis.set(xlabel="log ε")
        axis.legend(frameon=False, fontsize=8)
    axes[0].set_ylabel("L1 error of the frequencies")
    save(figure, "song2017-figure4", COMMAND)


def flu() -> str:
    """Return what the flu example of Section 3 needs: the number infected among four, given one person's state."""
    well, ill = tf.Pmf.from_counts([0, 1, 2, 3], [3, 1, 1, 1]), tf.Pmf.from_counts([1, 2, 3, 4], [1, 1, 1, 1])
    rows = []
    for mechanism in ("group", "wasserstein", "laplace-exact"):
        scales = [
            tf.calibrate(tf.between(well, ill), tf.Identity(), e, mechanism=mechanism, allow_zero_noise=True).scale
            for e in EPSILONS
        ]
        rows.append([f"`{mechanism}`", *(f"{s:.3f}" for s in scales)])
    return table(["scale", *(f"ε = {e:g}" for e in EPSILONS)], rows)


def watts(file: Path) -> tf.MarkovChain:
    """Return the chain of 51 power levels: whole watts divided by 200, one added to every count (data description)."""
    counts = np.ones((LEVELS, LEVELS))
    levels: list[int | None] = []
    with gzip.open(file, "rt", encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows):
            text = row["Global_active_power"]
            levels.append(None if text in ("?", "") else min(round(float(text) * 1000) // WATTS, LEVELS - 1))
    for before, after in pairwise(levels):
        if before is not None and after is not None:
            counts[before, after] += 1
    source = "estimated from 33 days of one household, all of them (research data)"
    matrix = counts / counts.sum(axis=1, keepdims=True)
    return tf.MarkovChain(matrix, length=len(levels), states=range(LEVELS), source=source)


def real() -> str:
    """Return the scales that a histogram (a count for GK16) needs on real sequences, step by step."""
    people = activity.participants(needed_file(activity.FILE))
    pieces = [piece for person in people for piece in person.pieces]
    chains = {
        "activity, coding A, 1,000 minutes": activity.fitted(people).with_length(1000),
        "activity, coding B, 1,000 minutes": _coding_b(needed_file(activity.FILE)).with_length(1000),
        "electricity, 51 levels, 10,000 minutes": watts(needed_file(POWER)).with_length(10_000),
    }
    assert len(pieces) == 299
    rows = []
    for name, chain in chains.items():
        for epsilon in (0.2, 1.0, 5.0):
            scales = [needed(chain, tf.Histogram(), epsilon, m) for m in ("group", "quilt-approx", "quilt-exact")]
            other = needed(chain, tf.Histogram(), epsilon, "inferential")
            rows.append([f"{name}, ε = {epsilon:g}", *(f"{s:.4g}" if s is not None else "-" for s in (*scales, other))])
    return table(["scale of each cell of the histogram", "group", "quilt-approx", "quilt-exact", "GK16"], rows)


def _coding_b(file: Path) -> tf.MarkovChain:
    pieces: dict[tuple[str, str], list[int]] = {}
    with gzip.open(file, "rt", encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows):
            pieces.setdefault((row["subject"], row["segment"]), []).append(CODING_B[row["state"]])
    long: list[list[int]] = [p for p in pieces.values() if len(p) >= activity.SHORTEST]
    both = [*long, *(p[::-1] for p in long)]
    return tf.MarkovChain.fit(both, length=1000, states=range(4), smoothing=1, source="estimated from 37 participants")


def timing() -> str:
    """Return seconds of calibration: exact and approximate quilts, and the laws of the answer, on one chain."""
    rows = []
    mechanisms = ("quilt-exact", "quilt-approx", "wasserstein", "laplace-exact")
    for length in (100, 1_000, 10_000, 100_000):
        chain = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length)
        cells = []
        for mechanism in mechanisms:
            if mechanism in mechanisms[2:] and length > 10_000:
                cells.append("-")
                continue
            started = time.perf_counter()
            needed(chain, tf.Count(1), 1.0, mechanism)
            cells.append(f"{time.perf_counter() - started:.3f}")
        rows.append([f"T = {length:,}", *cells])
    return table(["seconds", *mechanisms], rows)


def main() -> None:
    def last_figure() -> dict[str, str]:
        figure_4()
        return {}

    make(PAGE, COMMAND, {
        "Figure 1": lambda: {"figure1": figure_1()}, "Figure 3": lambda: {"figure3": figure_3()},
        "Figure 4": last_figure, "the flu example": lambda: {"flu": flu()}, "real sequences": lambda: {"real": real()},
        "times": lambda: {"timing": timing()},
    })  # fmt: skip


if __name__ == "__main__":
    main()
