"""Song17, Markov quilts: every figure of the paper reproduced, and its mechanisms on real sequences beside ours.

Figure 1 is the error of a sum for a class of binary chains, Figure 3 who adds less noise at each pair of stay
probabilities, Figure 4 the error of a histogram of five states against epsilon; then the flu example, and activity and
electricity data. It writes the tables of experiments/song2017.md and its pictures.
"""

from __future__ import annotations

import csv
import gzip
import time
from fractions import Fraction
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import activity
import takifugu as tf
from pages import IS_WHOLE, PAGES, make, pyplot, save, table, whole_command
from research_data import needed_file
from song.inferential import inferential_noise
from takifugu.analysis.bounds import Refusal
from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import DiscreteLaplace
from takifugu.core.errors import CalibrationRefused
from takifugu.numbers import Pmf
from takifugu.numbers.rationals import as_epsilon, as_fraction

REPRODUCES = "Song, Wang and Chaudhuri (arXiv 1603.03977v1), Figures 1, 3 and 4"

GK16 = "GK16"
LENGTH = 100
EPSILONS = (1.0, 5.0, 10.0)
#: Figure 1: stay probabilities on each side of the grid.
POINTS = 21
LOWS = tuple(float(x) for x in np.round(np.arange(0.1, 0.405, 0.02), 2))
#: Figure 3: stay probabilities; a tenth of the pairs unless the whole grid is asked for.
GRID = tuple(float(x) for x in np.round(np.arange(0.02, 0.99, 0.02 if IS_WHOLE else 0.06), 2))
#: Figure 4: five states; what is varied, and what the others stay at.
STATES = 5
BASE = {"pi": 0.05, "g": 0.1, "length": 1000}
VARIED = {"pi": (0.01, 0.03, 0.05), "g": (0.02, 0.05, 0.1), "length": (300, 1000, 3000)}
LOG_EPSILONS = tuple(float(x) for x in np.linspace(-1.5, 2.5, 17 if IS_WHOLE else 5))
CODING_B = {"lying": 0, "sitting": 1, "standing": 2, "walking": 3, "running": 3, "bicycling": 3}
POWER = "electricity/uci_household_minute_2006-12_2007-01.csv.gz"
WATTS, LEVELS = 200, 51
PAGE = PAGES / "song2017.md"
COMMAND = whole_command("takifugu reproduce song2017")


@cache
def by_gk16(p0: float, p1: float, epsilon: float) -> float | None:
    """Return the scale of GK16 for one stationary chain: all rivals of Figure 3 are set against it."""
    return needed(binary(p0, p1), tf.Count(1), epsilon, GK16)


def needed(belief: Any, query: Any, epsilon: float, mechanism: str) -> float | None:
    """Return the scale that a mechanism needs, or None where it does not apply."""
    framework = tf.Pufferfish(tf.every_entry(), belief)
    if mechanism == GK16:
        noise = inferential_noise(Problem(framework, query, as_epsilon(epsilon)))
        return None if isinstance(noise, Refusal) else float(noise.scale)
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
    figure, axes = plots.subplots(1, 3, figsize=(9.6, 3.8), sharey=True)
    rows = []
    for axis, epsilon in zip(axes, EPSILONS, strict=True):
        curves: dict[str, list[float | None]] = {name: [] for name in CURVES}
        for low in LOWS:
            for name, scale in scales_for_a_class(low, epsilon).items():
                curves[name].append(scale)
        for name, (label, colour, dashes) in CURVES.items():
            pairs = [(low, scale) for low, scale in zip(LOWS, curves[name], strict=True) if scale]
            errors = [epsilon * expected_error(scale) / LENGTH for _, scale in pairs]
            caption = label if axis is axes[0] else None
            axis.semilogy([low for low, _ in pairs], errors, dashes, label=caption, color=colour)
        axis.set(title=f"ε = {epsilon:g}", xlabel="ℓ: stay probabilities in [ℓ, 1 - ℓ]")
        for low in (0.1, 0.2, 0.3, 0.4):
            scales = [curve[LOWS.index(low)] for curve in curves.values()]
            rows.append([f"{epsilon:g}, {low:g}", *(_written(scale) for scale in scales)])
    axes[0].set_ylabel("ε · |S' - S| / T")
    figure.legend(loc="lower center", ncols=3, frameon=False, fontsize=8)
    figure.tight_layout(rect=(0, 0.2, 1, 1))
    save(figure, "song2017-figure1", COMMAND)
    return table(["scale at ε, ℓ", *(label for label, _, _ in CURVES.values())], rows)


def scales_for_a_class(low: float, epsilon: float) -> dict[str, float | None]:
    """Return the scale that each curve of Figure 1 needs for stay probabilities in [low, 1 - low]."""
    count, ends = tf.Count(1), (low, 1 - low)
    by_mass, interval = tf.ReversibleChains(low, 2 * low, LENGTH), tf.BinaryChains(low, LENGTH)
    corners = [needed(binary(p0, p1), count, epsilon, GK16) for p0 in ends for p1 in ends]
    known = [scale for scale in corners if scale is not None]
    return {
        "class": needed(by_mass, count, epsilon, "quilt-approx"), "grid": over_a_grid(low, epsilon),
        "interval": needed(interval, count, epsilon, "quilt-approx"),
        "class by influence": needed(by_mass, count, epsilon, "influence"),
        "interval by influence": needed(interval, count, epsilon, "influence"),
        GK16: max(known) if len(known) == len(corners) else None, "group-dp": LENGTH / epsilon,
    }  # fmt: skip


def _written(scale: float | None) -> str:
    return "-" if scale is None else f"{scale:.2f}"


#: The curves of Figure 1: words, colour, dashes.
CURVES = {
    "class": ("the class's (π, g)", "tab:orange", "-"),
    "grid": ("grid of chains (the paper)", "tab:red", "-."),
    "interval": ("the interval itself (ours)", "tab:blue", "-"),
    "class by influence": ("influence, the class's (π, g)", "tab:orange", "--"),
    "interval by influence": ("influence, the interval itself", "tab:blue", "--"),
    GK16: ("GK16 at the corners", "tab:green", "--"),
    "group-dp": ("group-dp", "0.6", ":"),
}

#: Figure 3: what is set against GK16, and what it is called.
RIVALS = {
    "quilt-approx": "Lemma B.4, any start",
    "quilt-exact": "exact quilts, stationary",
    "influence": "influence, stationary",
}
WHITE, GOLD, BLUE = range(3)
KEYS = {"white": "GK16 does not apply", "gold": "this adds less", "royalblue": "GK16 adds less"}


def figure_3() -> str:
    """Draw who adds less noise than GK16 at each (p0, p1), and return how often each does."""
    plots = pyplot()
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    figure, axes = plots.subplots(len(RIVALS), len(EPSILONS), figsize=(8.6, 9.2), sharex=True, sharey=True)
    area = (GRID[0], GRID[-1], GRID[0], GRID[-1])
    rows = []
    for line, (rival, words) in enumerate(RIVALS.items()):
        for column, epsilon in enumerate(EPSILONS):
            winners, axis = who_adds_less(rival, epsilon), axes[line][column]
            colours = ListedColormap(list(KEYS))
            axis.imshow(winners.T, origin="lower", extent=area, cmap=colours, vmin=0, vmax=2, interpolation="nearest")
            axis.set_title(f"{words}\nε = {epsilon:g}", fontsize=9)
            shares = [float((winners == winner).mean()) for winner in (WHITE, GOLD, BLUE)]
            rows.append([f"{words}, ε = {epsilon:g}", *(f"{100 * share:.0f} %" for share in shares)])
    for axis in axes[-1]:
        axis.set_xlabel("p0")
    for line_of_axes in axes:
        line_of_axes[0].set_ylabel("p1")
    patches = [Patch(facecolor=colour, edgecolor="0.6", label=label) for colour, label in KEYS.items()]
    figure.legend(handles=patches, loc="lower center", ncols=3, frameon=False)
    figure.tight_layout(rect=(0, 0.04, 1, 1))
    save(figure, "song2017-figure3", COMMAND)
    return table(["against GK16", *(f"{label} ({colour})" for colour, label in KEYS.items())], rows)


def who_adds_less(rival: str, epsilon: float) -> np.ndarray:
    """Return who adds less noise at each pair of the grid; what (p0, p1) needs, (p1, p0) needs."""
    winners = np.zeros((len(GRID), len(GRID)))
    for i, p0 in enumerate(GRID):
        for j in range(i, len(GRID)):
            scale = needed(binary(p0, GRID[j]), tf.Count(1), epsilon, rival)
            of_gk16 = by_gk16(p0, GRID[j], epsilon)
            if of_gk16 is not None:
                winners[i, j] = winners[j, i] = GOLD if scale is not None and scale <= of_gk16 else BLUE
    return winners


def figure_4() -> str:
    """Draw the L1 error of the relative frequencies against log epsilon, by what the mechanism knows of the class."""
    plots = pyplot()
    figure, axes = plots.subplots(1, 3, figsize=(9.6, 3.4), sharey=True, layout="constrained")
    names, rows = {"pi": "π", "g": "g", "length": "T"}, []
    for axis, (name, values) in zip(axes, VARIED.items(), strict=True):
        for number, value in enumerate(values):
            errors = {}
            for mechanism, dashes in (("quilt-approx", "-"), ("influence", "--")):
                errors[mechanism] = errors_of_frequencies({**BASE, name: value}, mechanism)
                label = f"{names[name]} = {value:g}" if mechanism == "quilt-approx" else None
                axis.semilogy(LOG_EPSILONS, errors[mechanism], dashes, marker=".", label=label, color=f"C{number}")
            for mechanism, drawn in errors.items():
                ends = [drawn[0], drawn[len(drawn) // 2], drawn[-1]]
                rows.append([f"{names[name]} = {value:g}, `{mechanism}`", *(f"{error:.3g}" for error in ends)])
        axis.set(xlabel="log ε", title="quilts, and influence dashed")
        axis.legend(frameon=False, fontsize=8)
    axes[0].set_ylabel("L1 error of the frequencies")
    save(figure, "song2017-figure4", COMMAND)
    return table(["L1 error of the frequencies at log ε", "-1.5", "0.5", "2.5"], rows)


def errors_of_frequencies(setting: dict[str, float], mechanism: str) -> list[float]:
    """Return the expected L1 error of five relative frequencies at each log epsilon."""
    length = int(setting["length"])
    belief = tf.ReversibleChains(setting["pi"], setting["g"], length, states=range(STATES))
    scales = [needed(belief, tf.Histogram(), float(np.exp(at)), mechanism) for at in LOG_EPSILONS]
    return [expected_error(float(scale or 0), STATES) / length for scale in scales]


def numbers_of_the_text() -> str:
    """Return what the text of the paper says without a figure: Appendix A.3 and Theorem 4.4."""
    share, far = Fraction(1, 10), 100
    apart = tf.distribution_pair(Pmf([0], [1]), Pmf([0, far], [1 - share, share]))
    rows = []
    for mechanism in ("wasserstein", "laplace-exact"):
        scale = tf.calibrate(apart, tf.Identity(), 1, mechanism=mechanism).scale
        rows.append([f"A.3: 0, or {far} with probability {float(share):g}; `{mechanism}`", f"{scale:.3f}"])
    for length in (10**2, 10**3, 10**4, 10**5):
        for mechanism in ("quilt-approx", "influence"):
            scale = needed(tf.ReversibleChains(0.4, 0.8, length), tf.Count(1), 1, mechanism)
            rows.append([f"Theorem 4.4: π = .4, g = .8, T = {length:,}; `{mechanism}`", f"{scale:.3f}"])
    return table(["at ε = 1", "scale"], rows)


def flu() -> str:
    """Return what the flu example of Section 3 needs: the number infected among four, given one person's state."""
    well, ill = Pmf.from_counts([0, 1, 2, 3], [3, 1, 1, 1]), Pmf.from_counts([1, 2, 3, 4], [1, 1, 1, 1])
    rows = []
    for mechanism in ("group-dp", "wasserstein", "laplace-exact"):
        scales = [
            tf.calibrate(
                tf.distribution_pair(well, ill), tf.Identity(), e, mechanism=mechanism, allow_zero_noise=True
            ).scale
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
    mechanisms = ("group-dp", "quilt-approx", "quilt-exact", "influence", GK16)
    rows = []
    for name, chain in chains.items():
        for epsilon in (0.2, 1.0, 5.0):
            scales = [needed(chain, tf.Histogram(), epsilon, mechanism) for mechanism in mechanisms]
            rows.append([f"{name}, ε = {epsilon:g}", *("-" if scale is None else f"{scale:.4g}" for scale in scales)])
    return table(["scale of each cell of the histogram", *mechanisms], rows)


def _coding_b(file: Path) -> tf.MarkovChain:
    pieces: dict[tuple[str, str], list[int]] = {}
    with gzip.open(file, "rt", encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows):
            pieces.setdefault((row["subject"], row["segment"]), []).append(CODING_B[row["state"]])
    long: list[list[int]] = [p for p in pieces.values() if len(p) >= activity.SHORTEST]
    both = [*long, *(p[::-1] for p in long)]
    return tf.MarkovChain.fit(both, length=1000, states=range(4), smoothing=1, source="estimated from 37 participants")


def timing() -> str:
    """Return seconds of calibration: quilts, influence, and the laws of the answer, on one chain."""
    rows = []
    mechanisms = ("quilt-exact", "quilt-approx", "influence", "wasserstein", "laplace-exact")
    for length in (100, 1_000, 10_000, 100_000) if IS_WHOLE else (100, 1_000):
        chain = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length)
        cells = []
        for mechanism in mechanisms:
            if mechanism in mechanisms[3:] and length > 10_000:
                cells.append("-")
                continue
            started = time.perf_counter()
            needed(chain, tf.Count(1), 1.0, mechanism)
            cells.append(f"{time.perf_counter() - started:.3f}")
        rows.append([f"T = {length:,}", *cells])
    return table(["seconds", *mechanisms], rows)


def main() -> None:
    make(PAGE, COMMAND, {
        "Figure 1": lambda: {"figure1": figure_1()}, "Figure 3": lambda: {"figure3": figure_3()},
        "Figure 4": lambda: {"figure4": figure_4()}, "the text": lambda: {"text": numbers_of_the_text()},
        "the flu example": lambda: {"flu": flu()}, "real sequences": lambda: {"real": real()},
        "times": lambda: {"timing": timing()},
    })  # fmt: skip


if __name__ == "__main__":
    main()
