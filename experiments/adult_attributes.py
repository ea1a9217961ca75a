"""Hide a property of the people in Adult as a whole: the mean of their hours of work, or the share of one race.

Beliefs are estimated from the other half of Adult (its test file, other people), so nothing of the private half is
spent on them. Published are the mean years of education, or how many earn more than 50,000 dollars.
"""

from __future__ import annotations

import csv
import gzip
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.signal import fftconvolve
from scipy.special import erfcx, ndtr
from scipy.stats import binom

import takifugu as tf
from pages import pyplot, save, table
from takifugu.core.errors import CalibrationRefused

OTHERS = "adult/adult_test.csv.gz"
#: The number of records of the private half (the training file), which is public.
RECORDS = 32_561
EPSILONS = (0.5, 1.0, 2.0)
DELTA = "1e-5"
RACE, RICH, LONG = "Black", ">50K", 40
SOURCE = "estimated from the 16,281 other people of Adult's test file"
#: Hours of work a week and years of education, as the census codes them.
RANGES = {"hours": (1, 99), "education": (1, 16)}
#: Values of a property are compared that are at most so far apart: an hour, or one in a hundred.
HOUR, HUNDREDTH = 1, Fraction(1, 100)
GAPS = tuple(float(g) for g in np.logspace(-1, 1, 33))
GAPS_IN_TABLE = (0.1, 1.0, 10.0)

Floats = npt.NDArray[np.float64]


def people(file: Path) -> list[dict[str, str]]:
    with gzip.open(file, "rt", encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def numbers(others: list[dict[str, str]]) -> dict[str, list[int]]:
    """Return hours of work and years of education."""
    columns = {"hours": "hours_per_week", "education": "education_num"}
    return {name: [int(person[column]) for person in others] for name, column in columns.items()}


def normal(others: list[dict[str, str]]) -> tf.MultivariateNormal:
    """Return the belief that hours and education are jointly normal, which they are not: it is assumed."""
    return tf.MultivariateNormal.fit(
        numbers(others), records=RECORDS, ranges=RANGES, source=f"{SOURCE}; assumed normal"
    )


def race_and_income(others: list[dict[str, str]]) -> tf.Records:
    return _records([(_race(p), p["income"]) for p in others], ("race", "income"))


def hours_and_education(others: list[dict[str, str]]) -> tf.Records:
    """Return hours in two bins, up to 40 and more, beside the years of education."""
    columns = numbers(others)
    bins = ["long" if hours > LONG else "short" for hours in columns["hours"]]
    return _records(list(zip(bins, columns["education"], strict=True)), ("hours", "education"))


def _race(person: dict[str, str]) -> str:
    return RACE if person["race"] == RACE else "other"


def _records(pairs: Sequence[tuple[Any, Any]], names: tuple[str, str]) -> tf.Records:
    """Return the belief that records are independent, each as likely as its pair of values is among the others."""
    counts = Counter(pairs)
    kinds = sorted(counts)
    chances = [Fraction(counts[kind], len(pairs)) for kind in kinds]
    return tf.Records(tf.JointTable(kinds, chances, names=list(names), source=SOURCE), RECORDS)


@dataclass(frozen=True)
class Case:
    """What is hidden under which belief, what is published, and the mechanisms that are compared."""

    about: str
    framework: Any
    query: Any
    mechanisms: tuple[tuple[str, Any], ...]


FINITE: tuple[tuple[str, Any], ...] = (
    ("group-dp", 0), ("wasserstein", 0), ("laplace-exact", 0),
)  # fmt: skip
NORMAL: tuple[tuple[str, Any], ...] = (
    ("group-dp", 0), ("wasserstein", 0), ("attribute-gaussian", DELTA), ("attribute-gaussian-exact", DELTA),
)  # fmt: skip


def cases(others: list[dict[str, str]]) -> tuple[Case, ...]:
    """Return what is asked of Adult: three properties, two kinds of belief."""
    hours = tf.dataset_property("hours", "mean", max_difference=HOUR)
    share = tf.dataset_property("race", "share", of=RACE, max_difference=HUNDREDTH)
    long = tf.dataset_property("hours", "share", of="long", max_difference=HUNDREDTH)
    return (
        Case(
            "mean hours of work, to 1 hour; mean years of education; assumed normal",
            tf.Pufferfish(hours, normal(others)), tf.Mean("education"), NORMAL,
        ),
        Case(
            "share who work more than 40 hours, to 0.01; mean years of education; finite",
            tf.Pufferfish(long, hours_and_education(others)), tf.Mean("education"), FINITE,
        ),
        Case(
            f"share of {RACE}, to 0.01; how many earn {RICH}; finite",
            tf.Pufferfish(share, race_and_income(others)), tf.Count(RICH, entries=["income"]),
            (*FINITE, ("gaussian-exact", DELTA)),
        ),
    )  # fmt: skip


def error(case: Case, mechanism: str, epsilon: float, delta: Any) -> float | None:
    """Return the expected absolute error, or None where the mechanism refuses."""
    try:
        calibration = tf.calibrate(
            case.framework, case.query, epsilon, delta=delta, mechanism=mechanism, allow_zero_noise=True
        )
    except CalibrationRefused:
        return None
    return calibration.randomiser.expected_error()


def errors(chosen: Sequence[Case]) -> str:
    """Return the expected errors of every case."""
    rows = []
    for case in chosen:
        rows.append([f"**{case.about}**", *[""] * len(EPSILONS)])
        for mechanism, delta in case.mechanisms:
            by_epsilon = [error(case, mechanism, epsilon, delta) for epsilon in EPSILONS]
            name = f"`{mechanism}`" + (f", δ = {DELTA}" if delta else "")
            rows.append([name, *("-" if e is None else f"{e:.4g}" for e in by_epsilon)])
    return table(["hidden; published; belief", *(f"error at ε = {e:g}" for e in EPSILONS)], rows)


def shift_per_hour(others: list[dict[str, str]]) -> tuple[float, float]:
    """Return by how much the mean education moves with the mean hours, and its deviation given these."""
    columns = numbers(others)
    (v, c), (_, w) = np.cov([columns["hours"], columns["education"]])
    return c / v, math.sqrt((w - c * c / v) / RECORDS)


def right_of_shift(shift: float, deviation: float, laplace: float) -> float:
    """Return (1 + TV)/2 for N(0, deviation^2) + Laplace noise against the same, shifted.

    Both laws are symmetric with one top, so that TV is P(|N + noise| <= shift/2).

    >>> round(right_of_shift(1, 0, 1), 6), round(right_of_shift(2, 1, 1e-9), 6)
    (0.696735, 0.841345)
    """
    half = abs(shift) / 2
    if not laplace:
        return float(ndtr(half / deviation))
    if not deviation:
        return (1 - math.expm1(-half / laplace)) / 2
    z, s = half / deviation, deviation / laplace
    # P(X > half) = P(N > half) + e^(s^2/2) (e^(-zs) P(Z < z - s) - e^(zs) P(Z > z + s)) / 2, Z standard normal
    density = math.exp(-z * z / 2) / 2
    if s > z:
        near = density * erfcx((s - z) / math.sqrt(2))
    else:
        near = math.exp(s * s / 2 - z * s) * ndtr(z - s)
    far = density * erfcx((s + z) / math.sqrt(2))
    return (1 + max(0.0, 1 - 2 * ndtr(-z) - near + far)) / 2


def incomes(others: list[dict[str, str]]) -> tuple[float, float, int]:
    """Return how likely somebody earns much, of the race and of others, and how many of the records are of the race."""
    rich = {race: [p["income"] == RICH for p in others if _race(p) == race] for race in (RACE, "other")}
    chances = [sum(incomes_there) / len(incomes_there) for incomes_there in rich.values()]
    return chances[0], chances[1], round(RECORDS * len(rich[RACE]) / len(others))


def count_given(total: int, one: float, other: float) -> Floats:
    """Return the distribution of how many earn much, given how many are of the race."""
    some = binom.pmf(np.arange(total + 1), total, one)
    rest = binom.pmf(np.arange(RECORDS - total + 1), RECORDS - total, other)
    chances: Floats = np.maximum(fftconvolve(some, rest), 0)
    return chances


def right_of_counts(first: Floats, second: Floats, laplace: float) -> float:
    """Return (1 + TV)/2 for two distributions of a count after discrete Laplace noise."""
    change = first - second
    if laplace:
        reach = math.ceil(40 * laplace)
        noise = math.tanh(0.5 / laplace) * np.exp(-np.abs(np.arange(-reach, reach + 1)) / laplace)
        change = fftconvolve(change, noise)
    return float((1 + np.abs(change).sum() / 2) / 2)


LINES = ("no noise", "noise for one record (differential privacy)", "noise for a gap of 1 (`wasserstein`)")


def guesses(others: list[dict[str, str]], chosen: Sequence[Case]) -> tuple[dict[str, list[list[float]]], str]:
    """Return how often the better of two guesses is right, by gap and noise, and a table of it at some gaps.

    Gaps are in hours, and in hundredths. Differential privacy is at epsilon 1: Laplace noise for one record.
    """
    needed = []
    for case in (chosen[0], chosen[2]):
        calibration = tf.calibrate(case.framework, case.query, 1, mechanism="wasserstein")
        needed.append(calibration.scale)
    slope, deviation = shift_per_hour(others)
    low, high = RANGES["education"]
    one, other, total = incomes(others)
    first = count_given(total, one, other)
    curves: dict[str, list[list[float]]] = {"hours": [], "share": []}
    for gap in GAPS:
        noises = (0.0, (high - low) / RECORDS, needed[0])
        curves["hours"].append([right_of_shift(slope * gap, deviation, noise) for noise in noises])
        second = count_given(total + math.floor(RECORDS * gap / 100), one, other)
        curves["share"].append([right_of_counts(first, second, noise) for noise in (0.0, 1.0, needed[1])])
    rows = []
    for name, unit in (("hours", "hours of work apart"), ("share", "hundredths apart")):
        for gap in GAPS_IN_TABLE:
            nearest = curves[name][min(range(len(GAPS)), key=lambda i: abs(GAPS[i] - gap))]
            rows.append([f"{gap:g} {unit}", *(f"{100 * g:.1f} %" for g in nearest)])
    return curves, table(["the better guess is right; noise:", *LINES], rows)


def draw_guesses(curves: dict[str, list[list[float]]], command: str) -> None:
    plots = pyplot()
    figure, axes = plots.subplots(1, 2, figsize=(9.6, 3.4), sharey=True, layout="constrained")
    styles = (("0.8", "-", 5), ("tab:red", "--", 1.5), ("tab:blue", "-", 1.5))
    titles = {
        "hours": ("mean hours, from the mean education", "difference of the mean hours"),
        "share": (f"share of {RACE}, from the count of {RICH}", "difference of the share, in hundredths"),
    }
    for axis, (name, points) in zip(axes, curves.items(), strict=True):
        for k, (line, (colour, style, width)) in enumerate(zip(LINES, styles, strict=True)):
            percents = [100 * at_gap[k] for at_gap in points]
            axis.semilogx(GAPS, percents, style, color=colour, linewidth=width, label=line.replace("`", ""))
        axis.axvline(1, color="0.85", linewidth=1, zorder=0)
        axis.axhline(100 * math.e / (1 + math.e), color="0.85", linewidth=1, zorder=0)
        axis.text(0.1, 74, "the most that ε = 1 allows", fontsize=7, color="0.5")
        axis.set(xlabel=titles[name][1])
        axis.set_title(titles[name][0], fontsize=9)
    axes[0].set_ylabel("the better guess is right, %")
    axes[1].legend(frameon=False, fontsize=8, loc="upper left")
    save(figure, "zhang2022-adult", command)
