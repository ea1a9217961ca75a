"""Takagi21, asymmetric privacy: its maps and curves redrawn for a made-up epidemic over the Foursquare check-ins.

Figures 2 and 3 are maps of an hour (`epidemic_maps`), Figure 4 the share of safe places that is found, Figures 5 and 6
a whole day with the sparse vector (SALap). The paper's competitor is virtual; beside it stand the true ceiling of
ordinary differential privacy and a mechanism that exists. It writes takagi2021.md and its pictures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

import numpy as np
from scipy.signal import fftconvolve
from scipy.stats import binom

import epidemic
from dense_epidemic import dense_tables
from epidemic import HOURS, PLACES, SIDE, WEEKDAYS, Epidemic, Integers
from epidemic_maps import Floats, Setting, asymmetric, bounded, day_map, maps, ordinary_map, two_sided
from hourly_maps import hourly_table
from pages import PAGES, make, pyplot, save, table
from research_data import needed_file
from takagi.virtual import ceiling, virtual_beta
from takifugu.mechanisms.one_sided import SparseAnswers

REPRODUCES = "Takagi, Kato, Cao and Yoshikawa 2021 (Asymmetric Differential Privacy), Figures 2 to 6"

PAGE = PAGES / "takagi2021.md"
COMMAND = "takifugu reproduce takagi2021"
DAY, HOUR = WEEKDAYS.index("Friday"), 18
MAP_HOUR = 24 * DAY + HOUR
#: One place an hour: nobody is at more places a day.
MOST_A_DAY = 24

VARIED: dict[str, tuple[str, Sequence[float]]] = {
    "epsilon": ("ε", (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0)),
    "threshold": ("t", (0, 1, 2, 3, 4, 5, 7, 10, 15, 20)),
    "alpha": ("α", (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 3e-2, 1e-1)),
    "delta": ("δ", (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)),
}


#: The curves of Figure 4, and those of Figure 6 but for the printed one: name, colour, dashes.
CURVES = {
    "policy": ("asymmetric privacy, α = 0", "#009e73", "-"),
    "printed": ("as printed, z ≤ t", "#009e73", ":"),
    "virtual": ("(ε, δ), virtual, as in the paper", "#d55e00", "--"),
    "ceiling": ("(ε, δ), the true ceiling", "#0072b2", "-."),
    "two-sided": ("ε, two-sided noise", "#333333", ":"),
}


def betas(name: str, setting: Setting) -> Floats:
    """Return the probability that a place is found safe, for the safe counts 0, 1, ..., t."""
    counts = np.arange(setting.threshold + 1)
    if name == "printed":  # real noise z - m that is never negative, and "safe" where z <= t
        return -np.expm1(-setting.epsilon * (setting.threshold - counts))
    if name in ("policy", "two-sided"):
        known = (asymmetric if name == "policy" else two_sided)(setting)
        return np.array([known.beta(int(m)) for m in counts])
    return bounded(virtual_beta if name == "virtual" else ceiling, setting, setting.safe, counts)


def sizes(times: Sequence[Integers]) -> Integers:
    """Return how many places have each count at each time, shape (times, largest count + 1)."""
    most = max(int(counts.max()) for counts in times)
    return np.array([np.bincount(counts, minlength=most + 1) for counts in times])


def somebody(known: Integers) -> Integers:
    """Leave the empty places out: they are the easiest to find, and most of all."""
    return np.concatenate([np.zeros_like(known[:, :1]), known[:, 1:]], axis=1)


def recall(name: str, setting: Setting, known: Integers) -> float:
    """Return E[beta], the expected share of the safe places that is found, averaged over the times that have some."""
    safe = known[:, : setting.threshold + 1]
    some = safe[safe.sum(axis=1) > 0]
    if not len(some):
        return float("nan")
    return float((some @ betas(name, setting)[: safe.shape[1]] / some.sum(axis=1)).mean())


# -- Curves of an hour -----------------------------------------------------------------------------------------------


def settings(parameter: str) -> Iterator[Setting]:
    for value in VARIED[parameter][1]:
        yield replace(Setting(), **{parameter: int(value) if parameter == "threshold" else value})


def draw_hours(hours: Integers) -> None:
    """Draw Figure 4: E[beta] against each parameter, averaged over all hours of the week."""
    plots = pyplot()
    figure, axes = plots.subplots(2, 2, figsize=(10, 7.4), layout="constrained", sharey=True)
    for axis, (parameter, (letter, values)) in zip(axes.flat, VARIED.items(), strict=True):
        for name, (label, colour, dashes) in CURVES.items():
            line = [recall(name, setting, hours) for setting in settings(parameter)]
            axis.plot(np.arange(len(values)), line, color=colour, linestyle=dashes, marker=".", label=label)
        axis.set_xticks(np.arange(len(values)), [f"{v:g}" for v in values])
        axis.set(xlabel=letter, ylabel="E[β]", ylim=(-0.02, 1.02))
        axis.grid(alpha=0.3)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    save(figure, "takagi2021-figure4", COMMAND)


def hour_table(hours: Integers) -> str:
    rows = []
    for words, setting in (
        ("the defaults", Setting()), ("t = 1", Setting(threshold=1)), ("t = 0", Setting(threshold=0)),
        ("ε = 0.5", Setting(epsilon=0.5)), ("ε = 0.1", Setting(epsilon=0.1)),
        ("α = 10⁻²", Setting(alpha=1e-2)), ("δ = 10⁻¹", Setting(delta=1e-1)),
    ):  # fmt: skip
        for part, known in ((words, hours), (f"{words}; somebody was there", somebody(hours))):
            means = [recall(name, setting, known) for name in CURVES]
            if means[0] == means[0]:  # with t = 0 no place where somebody was is safe
                rows.append([part, *(f"{mean:.4f}" for mean in means)])
    return table(["E[β], mean over the hours", *(label for label, _, _ in CURVES.values())], rows)


# -- The sparse vector over a day ------------------------------------------------------------------------------------


def right_answers(betas: Floats, units: int | None) -> Floats:
    """Return P(at least j are called safe) for j = 1, 2, ...: places are asked in order until `units` are not.

    State u is how many were not; P(j-th yes at place j + u) = P(state u after j + u - 1 places) beta. Without a limit
    it is the law of a sum of independent coins. Shape (places,).
    """
    if units is None:
        law = np.ones(1)
        for beta, count in zip(*np.unique(betas, return_counts=True), strict=True):
            law = fftconvolve(law, binom.pmf(np.arange(count + 1), count, beta)).clip(0)
        return law[::-1].cumsum()[::-1][1:]
    if units == 1:
        return np.cumprod(betas)
    state, reached = np.zeros(units), np.zeros(len(betas) + units)
    state[0] = 1.0
    for place, beta in enumerate(betas):
        yes = state * beta
        used = np.arange(units)
        reached[place - used + units] += yes  # the (place + 1 - u)-th yes
        state = yes + np.concatenate([[0.0], (state * (1 - beta))[:-1]])
    return reached[units : units + len(betas)]


def in_any_order(betas: Floats) -> Floats:
    """Return P(at least j are called safe) for j = 1, 2, ... where places are asked in a random order until one is not.

    The first j places are any j of the n, all equally likely, so this is M_n(j), the mean of the product of j of n
    betas over all sets of j. A set holds the n-th place with probability j/n: M_n(j) = (1 - j/n) M_(n-1)(j) +
    (j/n) beta_n M_(n-1)(j - 1), M_0(0) = 1: sums of non-negative terms only. Shape (places,).
    """
    mean, number = np.zeros(len(betas) + 1), np.arange(1, len(betas) + 1)
    mean[0] = 1.0
    for n, beta in enumerate(betas, start=1):
        share = number[:n] / n
        mean[1 : n + 1] = (1 - share) * mean[1 : n + 1] + share * beta * mean[:n]
    return mean[1:]


def betas_in(order: Integers, setting: Setting, counts: Integers) -> Floats:
    """Return beta of the places in an order, 0 where the place is not safe."""
    known = asymmetric(setting)
    betas = {int(m): known.beta(int(m)) if setting.safe.holds(int(m)) else 0.0 for m in np.unique(counts)}
    return np.array([betas[int(m)] for m in counts[order]])


def outskirts_first() -> Integers:
    """Return a public order: from the edge of the map to its middle, where most people are."""
    numbers = epidemic.places()
    row, column = np.divmod(np.flatnonzero(numbers >= 0), SIDE)
    middle = (SIDE - 1) / 2
    return np.argsort(-((row - middle) ** 2 + (column - middle) ** 2), kind="stable")


def random_order() -> Integers:
    return np.random.default_rng(epidemic.SEED).permutation(PLACES)


SPARSE: dict[str, tuple[int | None, float, bool, str, str]] = {
    "c = 1, ε = 1, any order (SALap as printed)": (1, 1.0, False, "#009e73", "-"),
    "c = 1, ε = 1, outskirts first": (1, 1.0, True, "#009e73", "--"),
    "c = 5 at ε = 0.2 each, outskirts first": (5, 0.2, True, "#0072b2", "-."),
    "c = 5 at ε = 1 each, outskirts first": (5, 1.0, True, "#d55e00", ":"),
    "every place at ε = 1/24 each": (None, 1 / 24, True, "#333333", "-"),
}


def sparse_curve(name: str, setting: Setting, counts: Integers) -> Floats:
    units, epsilon, sorted_out, _, _ = SPARSE[name]
    used = replace(setting, epsilon=epsilon)
    if not sorted_out:
        return in_any_order(betas_in(np.arange(PLACES), used, counts))
    return right_answers(betas_in(outskirts_first(), used, counts), units)


def draw_sparse(counts: Integers) -> str:
    """Draw Figure 5: how likely it is that at least so many places are called safe; return a table."""
    plots, rows = pyplot(), []
    figure, axis = plots.subplots(figsize=(8, 5), layout="constrained")
    for name, (units, epsilon, _, colour, dashes) in SPARSE.items():
        curve = sparse_curve(name, Setting(), counts)
        axis.plot(np.arange(1, len(curve) + 1), curve, color=colour, linestyle=dashes, label=name)
        half = int((curve >= 0.5).sum())
        rows.append([name, f"{(units or MOST_A_DAY) * epsilon:g}", f"{curve[9]:.3f}", str(half), f"{curve.sum():.4g}"])
    axis.set(xscale="log", xlabel="called safe: at least so many places", ylabel="probability", ylim=(0, 1.02))
    axis.grid(alpha=0.3)
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    save(figure, "takagi2021-figure5", COMMAND)
    header = ["Friday, α = 0, t = 5", "ε in all", "at least 10 places", "median", "expected number"]
    return table(header, rows)


def draw_day(counts: Integers) -> None:
    """Draw the map of a day, at epsilon 1 in all: SALap in a random order, from the outskirts, and every place."""
    inwards, every = outskirts_first(), Fraction(1, MOST_A_DAY)
    ways = {
        "SALap, c = 1, in any order": (SparseAnswers(1, limit=1), random_order()),
        "SALap, c = 1, outskirts first": (SparseAnswers(1, limit=1), inwards),
        f"every place at ε = 1/{MOST_A_DAY} each": (SparseAnswers(every, sensitivity=MOST_A_DAY), inwards),
    }
    assert all(known.epsilon_total == 1 for known, _ in ways.values())
    day_map(COMMAND, counts, ways)


def draw_days(days: Sequence[Integers]) -> str:
    """Draw Figure 6: E[beta] and the expected number of right answers of SALap with c = 1; return a table."""
    plots, every, known = pyplot(), np.arange(PLACES), sizes(days)
    figure, axes = plots.subplots(1, 3, figsize=(12, 4.4), layout="constrained")
    rows = []
    for axis, parameter in zip(axes, ("alpha", "epsilon", "threshold"), strict=True):
        letter, values = VARIED[parameter]
        chosen = list(settings(parameter))
        numbers = [np.mean([in_any_order(betas_in(every, s, day)).sum() for day in days]) for s in chosen]
        ticks = np.arange(len(values))
        bars = axis.twinx()
        bars.bar(ticks, numbers, color="0.85", width=0.7)
        bars.set_ylabel("expected right answers (bars)")
        for name in ("policy", "virtual", "ceiling"):
            label, colour, dashes = CURVES[name]
            line = [recall(name, s, known) for s in chosen]
            axis.plot(ticks, line, color=colour, linestyle=dashes, marker=".", label=label)
            if name == "policy" and parameter != "alpha":
                points = zip(values, line, numbers, strict=True)
                rows += [[f"{letter} = {v:g}", f"{beta:.4f}", f"{number:.4g}"] for v, beta, number in points]
        axis.set_zorder(bars.get_zorder() + 1)
        axis.patch.set_visible(False)
        axis.set_xticks(ticks, [f"{v:g}" for v in values], rotation=45)
        axis.set(xlabel=letter, ylabel="E[β] (lines)", ylim=(0, 1.05))
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    save(figure, "takagi2021-figure6", COMMAND)
    return table(["SALap, c = 1, α = 0", "E[β] of a place that is asked", "expected right answers"], rows)


def counts_table(epidemic_: Epidemic) -> str:
    """Return how full the map is, in numbers of places."""
    rows = []
    for words, counts in (
        (f"an hour: {WEEKDAYS[DAY]}, 6 p.m.", epidemic_.hour(MAP_HOUR)),
        (f"a day: {WEEKDAYS[DAY]}", epidemic_.day(DAY)),
    ):
        cells = [counts.sum(), *((counts > t).sum() for t in (0, 1, 3, 5, 10))]
        rows.append([words, *(f"{cell:,}" for cell in cells)])
    return table(["infected people (made up)", "visits", *(f"places with > {t}" for t in (0, 1, 3, 5, 10))], rows)


@lru_cache(maxsize=1)
def infected() -> Epidemic:
    return epidemic.simulate(epidemic.Weeks.read(needed_file(epidemic.FILE)))


def of_an_hour() -> dict[str, str]:
    """Draw the maps of an hour: Figures 2 and 3, and what ordinary noise makes of it."""
    hour = infected().hour(MAP_HOUR)
    at_zero = [(f"t = {t}", Setting(threshold=t, alpha=0)) for t in (3, 5)]
    above_zero = [(f"α = {words}", Setting(alpha=alpha)) for words, alpha in (("10⁻³", 1e-3), ("10⁻⁴", 1e-4))]
    return {
        "counts": counts_table(infected()), "figure2": maps("figure2", COMMAND, hour, at_zero),
        "figure3": maps("figure3", COMMAND, hour, above_zero), "ordinary": ordinary_map(COMMAND, hour),
    }  # fmt: skip


def of_all_hours() -> dict[str, str]:
    hours = sizes([infected().hour(hour) for hour in range(HOURS)])
    draw_hours(hours)
    return {"hours": hour_table(hours)}


def of_days() -> dict[str, str]:
    """Draw the sparse vector over a day, and over every day of the week."""
    days = [infected().day(day) for day in range(len(WEEKDAYS))]
    draw_day(days[DAY])
    hourly = hourly_table([infected().hour(hour) for hour in range(24 * DAY, 24 * DAY + 24)], days[DAY])
    return {"sparse": draw_sparse(days[DAY]), "days": draw_days(days), "hourly": hourly}


def main() -> None:
    make(PAGE, COMMAND, {
        "Figures 2 and 3": of_an_hour, "Figures 2 and 3, as dense": lambda: dense_tables(COMMAND, MAP_HOUR),
        "Figure 4": of_all_hours, "Figures 5 and 6": of_days,
    })  # fmt: skip


if __name__ == "__main__":
    main()
