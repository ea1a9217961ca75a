"""The real run: how people spend their minutes, published without telling what anybody did in any one minute.

Data: ExtraSensory (Vaizman, Ellis and Lanckriet 2017), one self-reported state about every minute. Setting of the
activity experiments of Song17 (SIGMOD 2017): states active, standing, walking, sedentary; unbroken pieces of
at least 100 rows, independent of each other; histograms of relative frequency. The belief is one chain fitted on half
of the participants and used for the other half. It writes the tables of experiments/real-activity.md and its picture.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import takifugu as tf
from pages import ROOT, commit, make, table
from research_data import needed_file
from takifugu.numbers.noise import InsecureSeededEntropyForTests

FILE = "activity/extrasensory_states.csv.gz"
STATES = ("active", "standing", "walking", "sedentary")
CODING = {"running": 0, "bicycling": 0, "standing": 1, "walking": 2, "sitting": 3, "lying": 3}
SHORTEST = 100
SPAN = 240
EPSILONS = (0.2, 1.0, 5.0)
DRAWS = 500
HISTOGRAM = ("group-dp", "quilt-approx", "quilt-exact", "influence", "record-dp")
COUNT = ("group-dp", "quilt-approx", "quilt-exact", "influence", "wasserstein", "laplace-exact", "record-dp")
STYLES = {
    "group-dp": "0.55",
    "quilt-approx": "tab:orange",
    "quilt-exact": "tab:blue",
    "influence": "tab:green",
    "record-dp": "tab:red",
}
PAGE = ROOT / "experiments" / "real-activity.md"
PICTURE = ROOT / "experiments" / "images" / "real-activity.svg"

States = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Participant:
    """The pieces of one participant's recording, as indices into STATES."""

    number: int
    pieces: tuple[States, ...]

    @property
    def lengths(self) -> tuple[int, ...]:
        return tuple(len(piece) for piece in self.pieces)


def participants(file: Path) -> list[Participant]:
    """Read the recordings: pieces of at least SHORTEST rows, in the order of the file."""
    pieces: dict[tuple[int, int], list[int]] = {}
    with gzip.open(file, "rt", encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows):
            pieces.setdefault((int(row["subject"]), int(row["segment"])), []).append(CODING[row["state"]])
    states_of: dict[int, list[States]] = {}
    for (subject, _), states in pieces.items():
        if len(states) >= SHORTEST:
            states_of.setdefault(subject, []).append(np.array(states))
    return [Participant(subject, tuple(states_of[subject])) for subject in sorted(states_of)]


def fitted(people: Sequence[Participant]) -> tf.MarkovChain:
    """Return the chain with the transition frequencies of these people, one added to every count.

    Every piece is read forwards and backwards, so that the chain is reversible: quilt-approx needs that.
    """
    forwards = [[STATES[state] for state in piece] for person in people for piece in person.pieces]
    pieces = forwards + [piece[::-1] for piece in forwards]
    source = f"estimated from {len(people)} other participants of the same study"
    return tf.MarkovChain.fit(pieces, length=SHORTEST, states=STATES, smoothing=1, source=source)


def framework(chain: tf.MarkovChain, lengths: Sequence[int]) -> Any:
    return tf.Pufferfish(tf.every_entry(), tf.IndependentPieces(chain, sorted(lengths)))


@dataclass(frozen=True)
class Trial:
    """One mechanism for one person (or all of them pooled) at one epsilon: what it promises and how far off it was."""

    mechanism: str
    epsilon: float
    promised: float
    scale: float
    expected: float
    error: float


def trials(
    chain: tf.MarkovChain, groups: Iterable[Sequence[int]], query: Callable[[int], Any], mechanisms: Sequence[str]
) -> Iterator[Trial]:
    """Calibrate each mechanism for each group of pieces and draw its noise DRAWS times.

    The L1 error of a release is the noise itself, whatever the true answer: draws around 0 measure it without data.
    """
    entropy = InsecureSeededEntropyForTests(2026)
    for lengths in groups:
        about = query(sum(lengths))
        for epsilon in EPSILONS:
            for name in mechanisms:
                chosen = tf.calibrate(framework(chain, lengths), about, epsilon, mechanism=name, allow_zero_noise=True)
                noise = chosen.randomiser
                drawn = [sum(abs(v) for v in noise.draw((0,) * noise.cells, entropy)) for _ in range(DRAWS)]
                mean = float(sum(drawn) / DRAWS)
                yield Trial(name, epsilon, float(chosen.epsilon), chosen.scale, noise.expected_error(), mean)


def summary(tried: Sequence[Trial], mechanisms: Sequence[str]) -> str:
    """Return a table: for each mechanism and epsilon the mean L1 error, and its range over the groups."""
    rows = []
    for name in mechanisms:
        row = [f"`{name}`"]
        for epsilon in EPSILONS:
            errors = [t.error for t in tried if t.mechanism == name and t.epsilon == epsilon]
            spread = f" ({short(min(errors))} to {short(max(errors))})" if len(errors) > 1 else ""
            row.append(f"{short(np.mean(errors))}{spread}")
        rows.append(row)
    return table(["mechanism", *(f"ε = {epsilon:g}" for epsilon in EPSILONS)], rows)


def promise(tried: Sequence[Trial]) -> str:
    """Return what the noise of ordinary differential privacy is proved to promise here, in place of what was asked."""
    rows = []
    for epsilon in EPSILONS:
        proved = [t.promised for t in tried if t.mechanism == "record-dp" and t.epsilon == epsilon]
        rows.append([f"{epsilon:g}", " to ".join(dict.fromkeys(short(p) for p in (min(proved), max(proved))))])
    return table(["ε asked", "ε proved"], rows)


def short(number: float) -> str:
    """Write a number with two significant digits, without an exponent."""
    return f"{number:.0f}" if number >= 10 else f"{float(f'{number:.1e}'):.5f}".rstrip("0").rstrip(".")


def matrix(chain: tf.MarkovChain) -> str:
    rows = [[state, *(f"{p:.4f}" for p in row)] for state, row in zip(STATES, chain.matrix, strict=True)]
    return table(["from \\ to", *STATES], rows)


def picture(panels: Sequence[tuple[str, Sequence[Trial]]]) -> None:
    """Draw the mean L1 error of each mechanism against epsilon, one panel per kind of release, as SVG."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    pyplot.rcParams.update({"svg.hashsalt": "takifugu", "font.size": 10})
    figure, axes = pyplot.subplots(1, len(panels), figsize=(8.6, 3.4), sharey=True, layout="constrained")
    for axis, (title, tried) in zip(axes, panels, strict=True):
        for name in HISTOGRAM:
            errors = [np.mean([t.error for t in tried if (t.mechanism, t.epsilon) == (name, e)]) for e in EPSILONS]
            label = f"{name} (does not protect)" if name == "record-dp" else name
            style = "--" if name == "record-dp" else "-"
            axis.loglog(EPSILONS, errors, style, marker="o", color=STYLES[name], label=label)
        axis.axhline(2, color="0.8", linewidth=1)
        axis.set(title=title, xlabel="ε", xticks=EPSILONS, xticklabels=[f"{e:g}" for e in EPSILONS])
        axis.minorticks_off()
    axes[0].annotate("every row wrong", (EPSILONS[-1], 2), ha="right", va="bottom", color="0.6", fontsize=8)
    axes[0].set_ylabel("L1 error of the relative frequencies")
    axes[0].legend(frameon=False, fontsize=9)
    PICTURE.parent.mkdir(exist_ok=True)
    about = {"Date": None, "Description": f"made by `make figures` at commit {commit()}"}
    figure.savefig(PICTURE, metadata=about)


def tables() -> dict[str, str]:
    people = participants(needed_file(FILE))
    known, rest = [p for p in people if p.number % 2 == 0], [p for p in people if p.number % 2 == 1]
    chain = fitted(known)
    lengths = [person.lengths for person in rest]
    pooled = [tuple(n for each in lengths for n in each)]

    def frequencies(rows: int) -> Any:
        return tf.Histogram(states=STATES, total=rows)

    single = list(trials(chain, lengths, frequencies, HISTOGRAM))
    everybody = list(trials(chain, pooled, frequencies, HISTOGRAM))
    cut = [tuple(min(n, SPAN) for n in each) for each in lengths]
    minutes = list(trials(chain, cut, lambda rows: tf.Count("walking"), COUNT))
    pieces = [n for each in lengths for n in each]
    other = float(np.abs(fitted(rest).matrix - chain.matrix).max())
    facts = (
        f"The belief is fitted on {len(known)} participants ({sum(sum(p.lengths) for p in known):,} rows) and used for "
        f"the other {len(rest)}:\n{len(pieces)} pieces of {min(pieces)} to {max(pieces):,} rows, {sum(pieces):,} rows "
        f"in all. A chain fitted on these would differ by up to {other:.3f} in a transition probability."
    )
    picture([("one participant (mean)", single), ("all participants pooled", everybody)])
    return {
        "facts": facts, "matrix": matrix(chain), "single": summary(single, HISTOGRAM),
        "pooled": summary(everybody, HISTOGRAM), "minutes": summary(minutes, COUNT), "kept": promise(single),
    }  # fmt: skip


def main() -> None:
    make(PAGE, "make figures", {"activity": tables})


if __name__ == "__main__":
    main()
