"""Randomising one value: tupling's bracket, linear programs for 225 places with their gaps, a column of 1e7 rows."""

from __future__ import annotations

import math
import resource
import tracemalloc
from fractions import Fraction

import numpy as np

from measure import compared, row, seconds, span, title
from takifugu.mechanisms.local.optimal import optimal
from takifugu.mechanisms.local.promises import hides_distance, hides_population, hides_value
from takifugu.mechanisms.local.senders import randomised, tables
from takifugu.mechanisms.local.tupling import Tupling
from takifugu.mechanisms.local.weights import decaying
from takifugu.numbers.distributions.channel import from_weights

OUTPUTS, DUMMIES = 10_000, 100
SIDE, SMALL = 15, 8
ROWS = 10_000_000


def masses(count: int, seed: int) -> list[Fraction]:
    counts = np.random.default_rng(seed).integers(1, 1000, size=count).tolist()
    return [Fraction(n, sum(counts)) for n in counts]


def brackets() -> None:
    p, q = masses(OUTPUTS, 1), masses(OUTPUTS, 2)
    title(f"tupling, {OUTPUTS:,} outputs, {DUMMIES} dummies: the bracket of delta, best of 2")
    for epsilon in ("0.1", "0.2", "0.3", "0.4", "0.5"):
        bracket = Tupling(DUMMIES).bracket(p, q, epsilon)
        gap = (bracket.high - bracket.low) / bracket.high if bracket.high > 1e-8 else bracket.high - bracket.low
        kind = "relative" if bracket.high > 1e-8 else "absolute"
        time = seconds(lambda e=epsilon: Tupling(DUMMIES).bracket(p, q, e), runs=2)
        row(f"epsilon {epsilon}: delta {bracket.high:.3g}", span(time), f"{kind} gap {gap:.1e}")


def programs() -> None:
    places = [(float(i), float(j)) for i in range(SIDE) for j in range(SIDE)]
    p, q = (dict(zip(places, masses(len(places), seed), strict=True)) for seed in (1, 2))
    prior = {x: (p[x] + q[x]) / 2 for x in places}
    promises = {
        "distribution privacy 1 (goal 10 s)": hides_population(p, q, 1),
        "distribution privacy 1, delta 0.01": hides_population(p, q, 1, "0.01"),
        "local privacy 1 (goal 60 s)": hides_value(1),
    }
    title(f"the channel of least expected distance for {len(places)} places, once each, repaired and measured")
    for what, promise in promises.items():
        solved = []
        time = seconds(lambda of=promise, to=solved: to.append(optimal(places, places, prior, math.dist, [of])), runs=1)
        best = solved[0]
        row(what, span(time), f"loss {best.loss:.6g}, at most {best.loss - best.least:.1e} above the least")

    few = [x for x in places if max(x) < SMALL]
    even = dict.fromkeys(few, Fraction(1, len(few)))
    title(f"Euclidean metric privacy 1 of {len(few)} places, all pairs, once each")
    solved = []
    time = seconds(
        lambda: solved.append(optimal(few, few, even, math.dist, [hides_distance(1, math.dist)])), runs=1
    )
    best = solved[0]
    row("constraints generated", span(time), f"loss {best.loss:.6g}, at most {best.loss - best.least:.1e} above")


def columns() -> None:
    places = [(float(i), float(j)) for i in range(SIDE) for j in range(SIDE)]
    apart = np.array([[math.dist(x, y) for y in places] for x in places])
    channel = from_weights(places, places, decaying(apart, 1 / 2))
    rows = np.random.default_rng(3).integers(0, len(places), size=ROWS)
    tables(channel)
    chances = np.array([float(mass) for mass in channel.row(places[0]).values()])
    chances /= chances.sum()
    generator = np.random.default_rng(4)
    title(f"a column of {ROWS:,} rows through a channel of {len(places)} places, drawn exactly, best of 2")
    ours = seconds(lambda: randomised(channel, rows), runs=2)
    numpy = seconds(lambda: generator.choice(len(chances), size=ROWS, p=chances), runs=2)
    row("randomised, one law for each input", span(ours), compared(ours, numpy, "NumPy's choice, one law in floats,"))
    tracemalloc.start()
    randomised(channel, rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    row("memory beside the column", f"{peak / 2**20:.0f} MB", f"the column has {rows.nbytes / 2**20:.0f} MB")


def main() -> None:
    brackets()
    programs()
    columns()
    row("largest memory of this process", f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10:.0f} MB")


if __name__ == "__main__":
    main()
