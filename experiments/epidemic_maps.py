"""Maps of safe places: what three kinds of mechanism say of each place, for the epidemic of `epidemic`.

The paper's competitor is virtual: a coin at each place, with the probability that no (epsilon, delta)-differentially
private mechanism can beat. Asymmetric privacy adds noise that is never negative.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

import epidemic
from epidemic import PLACES, SIDE, Integers
from pages import pyplot, save, table
from takagi.virtual import coins, virtual_beta
from takifugu.mechanisms.one_sided import (
    Mark,
    Pointing,
    Question,
    Sanitiser,
    SparseAnswers,
    at_least,
    at_most,
    count_noise,
    marks,
    sanitiser,
    sparse_marks,
)
from takifugu.numbers.noise import InsecureSeededEntropyForTests, discrete_laplace
from takifugu.numbers.noise.one_sided import geometric

COLOURS = {Mark.SAFE: "#8fd3b6", Mark.OBSCURE: "#dddddd", Mark.DANGEROUS: "#c23b00"}
LANDMARKS = {
    "Manhattan": (40.775, -74.09), "Brooklyn": (40.62, -73.96), "JFK": (40.645, -73.785),
    "Newark": (40.735, -74.172), "Bronx": (40.86, -73.82), "Queens": (40.715, -73.80),
}  # fmt: skip

Floats = npt.NDArray[np.float64]
Strings = npt.NDArray[Any]


@dataclass(frozen=True)
class Setting:
    """One point of the curves: the paper's defaults."""

    epsilon: float = 1.0
    threshold: int = 5
    alpha: float = 1e-3
    delta: float = 1e-4

    @property
    def safe(self) -> Question:
        return at_most(self.threshold)

    @property
    def dangerous(self) -> Question:
        return at_least(self.threshold + 1)


def asymmetric(setting: Setting, question: Question | None = None) -> Sanitiser:
    """Return the sanitiser on noise that only adds, for the safe question at alpha = 0, for another at alpha."""
    policy = question or setting.safe
    return sanitiser(policy, count_noise(setting.epsilon), 0 if policy.at_most else setting.alpha)


def two_sided(setting: Setting, question: Question | None = None) -> Sanitiser:
    """Return the sanitiser on two-sided noise: ordinary differential privacy that exists."""
    return sanitiser(question or setting.safe, count_noise(setting.epsilon, 1, Pointing.BOTH), setting.alpha)


@cache
def bound(kind: Callable[..., float], setting: Setting, steps: int) -> float:
    return kind(setting.alpha, setting.epsilon, setting.delta, max(0, steps))


def bounded(kind: Callable[..., float], setting: Setting, question: Question, counts: Integers) -> Floats:
    """Return the probability of yes at every place: a bound where it is true, alpha where it is false."""
    values, where = np.unique(counts, return_inverse=True)
    return np.array([bound(kind, setting, question.distance(int(m))) for m in values])[where]


def truth(setting: Setting, counts: Integers) -> Strings:
    return np.where(setting.safe.holds(counts), Mark.SAFE.value, Mark.DANGEROUS.value)


def drawn(name: str, setting: Setting, counts: Integers) -> Strings:
    """Return the marks that one drawing of a mechanism puts on the map."""
    entropy = InsecureSeededEntropyForTests(epidemic.SEED)
    if name == "policy":
        noisy = counts + geometric(count_noise(setting.epsilon).scale, len(counts), entropy)
        return marks(noisy, asymmetric(setting), asymmetric(setting, setting.dangerous))
    yes = {
        question.at_most: coins(bounded(virtual_beta, setting, question, counts), entropy)
        for question in (setting.safe, setting.dangerous)
    }
    return np.where(yes[True], Mark.SAFE.value, np.where(yes[False], Mark.DANGEROUS.value, Mark.OBSCURE.value))


def at_face_value(setting: Setting, counts: Integers) -> Strings:
    """Return the marks of somebody who takes two-sided noise at its face value: z <= t is safe, all else dangerous."""
    entropy = InsecureSeededEntropyForTests(epidemic.SEED)
    noisy = counts + discrete_laplace(count_noise(setting.epsilon).scale, len(counts), entropy)
    return truth(setting, noisy)


PANELS: dict[str, Callable[[Setting, Integers], Strings]] = {
    "the truth": truth,
    "ε-DP (virtual)": lambda setting, counts: drawn("virtual", replace(setting, delta=0), counts),
    "(ε, δ)-DP (virtual)": lambda setting, counts: drawn("virtual", setting, counts),
    "asymmetric": lambda setting, counts: drawn("policy", setting, counts),
}


def tally(map_marks: Strings, setting: Setting, counts: Integers) -> tuple[int, int, int]:
    """Return how many places are called safe rightly, how many are safe, and how many are called safe wrongly."""
    safe, said = setting.safe.holds(counts), map_marks == Mark.SAFE.value
    return int((said & safe).sum()), int(safe.sum()), int((said & ~safe).sum())


def picture(axis: Any, map_marks: Strings, wrong: npt.NDArray[np.bool_] | None = None, names: bool = False) -> None:
    """Draw one map: a colour for each mark, a cross where safe is said wrongly."""
    from matplotlib.colors import to_rgb

    image, numbers = np.ones((SIDE * SIDE, 3)), epidemic.places()
    for mark, colour in COLOURS.items():
        image[np.isin(numbers, np.flatnonzero(map_marks == mark.value))] = to_rgb(colour)
    axis.imshow(image.reshape(SIDE, SIDE, 3), origin="lower", interpolation="nearest", aspect="equal")
    if wrong is not None and wrong.any():
        row, column = np.divmod(np.flatnonzero(np.isin(numbers, np.flatnonzero(wrong))), SIDE)
        axis.plot(column, row, "x", color="black", markersize=5, markeredgewidth=1.3)
    for name, point in LANDMARKS.items() if names else ():
        row, column = epidemic.box(*point)
        glow = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.65}
        axis.text(column, row, name, fontsize=7, ha="center", va="center", bbox=glow)
    axis.set(xticks=[], yticks=[])
    axis.spines[:].set_visible(False)


def legend(figure: Any, wrong: bool = False) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    words = {Mark.SAFE: "safe", Mark.OBSCURE: "obscure: nothing is said", Mark.DANGEROUS: "dangerous"}
    handles: list[Any] = [Patch(color=COLOURS[mark], label=word) for mark, word in words.items()]
    if wrong:
        handles.append(Line2D([], [], color="black", marker="x", linestyle="", label="called safe, and is not"))
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)
    figure.get_layout_engine().set(rect=(0, 0, 1, 0.95))  # the layout forgets the first line of a title


def maps(name: str, command: str, counts: Integers, rows: Sequence[tuple[str, Setting]]) -> str:
    """Draw the truth and three mechanisms for each setting; return a table of what they say."""
    plots = pyplot()
    figure, axes = plots.subplots(len(rows), len(PANELS), figsize=(12, 3.5 * len(rows)), layout="constrained")
    lines = []
    for line, (words, setting) in zip(axes, rows, strict=True):
        for axis, (panel, show) in zip(line, PANELS.items(), strict=True):
            map_marks = show(setting, counts)
            right, safe, wrong = tally(map_marks, setting, counts)
            picture(axis, map_marks, (map_marks == Mark.SAFE.value) & ~setting.safe.holds(counts), panel == "the truth")
            said = f"{safe} safe" if panel == "the truth" else f"safe: {right}/{safe}"
            axis.set_title(f"{panel}, {words}\n{said}")
            if panel != "the truth":
                bad = map_marks == Mark.DANGEROUS.value
                dangerous = bad & setting.dangerous.holds(counts)
                cells = f"{right} of {safe}", str(wrong), f"{dangerous.sum()} of {PLACES - safe}"
                lines.append([f"{words}: {panel}", *cells, str((bad & ~dangerous).sum())])
    legend(figure, wrong=name != "figure2")
    save(figure, f"takagi2021-{name}", command)
    return table(["one drawing", "safe found", "wrongly safe", "dangerous found", "wrongly dangerous"], lines)


def ordinary_map(command: str, counts: Integers) -> str:
    """Draw the truth, ordinary noise at its face value, and asymmetric privacy; return what is wrong on average."""
    plots, setting = pyplot(), Setting(alpha=0)
    figure, axes = plots.subplots(1, 3, figsize=(12, 4.6), layout="constrained")
    answers = {
        "the truth (made up)": truth(setting, counts),
        "ordinary differential privacy": at_face_value(setting, counts),
        "asymmetric privacy": drawn("policy", setting, counts),
    }
    for axis, (name, answer) in zip(axes, answers.items(), strict=True):
        right, safe, wrong = tally(answer, setting, counts)
        picture(axis, answer, (answer == Mark.SAFE.value) & ~setting.safe.holds(counts), names=True)
        said = f"{safe} of {PLACES} places are safe" if answer is answers["the truth (made up)"] else (
            f"{right} of {safe} found, {wrong} called safe wrongly")  # fmt: skip
        axis.set_title(f"{name}\n{said}")
    legend(figure, wrong=True)
    save(figure, "takagi2021-map", command)
    return face_value_table(counts)


def day_map(command: str, counts: Integers, ways: dict[str, tuple[SparseAnswers, Integers]]) -> None:
    """Draw the truth of a day, and what the sparse vector says in an order of the places, each drawn once."""
    plots, setting = pyplot(), Setting(alpha=0)
    figure, axes = plots.subplots(1, len(ways) + 1, figsize=(4 * len(ways) + 4, 4.6), layout="constrained")
    picture(axes[0], truth(setting, counts), names=True)
    axes[0].set_title(f"the truth of a day (made up)\n{setting.safe.holds(counts).sum()} of {PLACES} places are safe")
    for axis, (name, (known, order)) in zip(axes[1:], ways.items(), strict=True):
        answers = known.answer(counts[order], setting.threshold, InsecureSeededEntropyForTests(epidemic.SEED))
        map_marks = np.full(PLACES, Mark.OBSCURE.value, dtype=object)
        map_marks[order] = sparse_marks(answers)
        right, _, wrong = tally(map_marks, setting, counts)
        picture(axis, map_marks, (map_marks == Mark.SAFE.value) & ~setting.safe.holds(counts))
        axis.set_title(f"{name}\n{right} found, {wrong} called safe wrongly")
    legend(figure)
    save(figure, "takagi2021-day", command)


def face_value_table(counts: Integers) -> str:
    """Return the expected numbers of wrong answers of two-sided noise at its face value, beside one-sided noise."""
    rows = []
    for epsilon in (0.5, 1.0, 2.0):
        setting = Setting(epsilon, alpha=0)
        noise = count_noise(epsilon, 1, Pointing.BOTH)
        yes = {int(m): float(noise.below(setting.threshold + 1 - int(m))[1]) for m in np.unique(counts)}
        said = np.array([yes[int(m)] for m in counts])
        safe = setting.safe.holds(counts)
        missed = (1 - asymmetric(setting).recall(counts)) * safe.sum()
        cells = (said[~safe].sum(), (1 - said[safe]).sum(), 0, missed)
        rows.append([f"ε = {epsilon:g}", *(f"{cell:.1f}" if cell else "0" for cell in cells)])
    header = ["expected, Friday 6 p.m.", "ordinary: wrongly safe", "ordinary: safe, missed"]
    return table([*header, "asymmetric: wrongly safe", "asymmetric: safe, missed"], rows)
