"""520 weekly windows over ten years of minutes: each reservation, and memory."""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np

import takifugu as tf
from measure import row, span, title
from takifugu.accounting.composition import charge_of
from takifugu.accounting.composition.piling import Windows, piled
from takifugu.accounting.ledger import Debit, Ledger
from takifugu.analysis.guarantee import Charge
from takifugu.influence.stretched import stretched_loss

WEEKS, MINUTES = 520, 10_080
CHAIN = tf.MarkovChain([[0.99, 0.01], [0.02, 0.98]], MINUTES)


def main() -> int:
    title(f"{WEEKS} weekly windows of {MINUTES:,} minutes, one after the other, in one ledger")
    framework = tf.Pufferfish(tf.every_entry(), CHAIN)
    charge = charge_of(tf.calibrate(framework, tf.Count(1), epsilon=0.5, mechanism="influence"))
    times, spent = weekly(framework, charge)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    row("the longest reservation", span(max(times)), "goal 1 s")
    row("the last ten, on average", span(sum(times[-10:]) / 10))
    row("memory, at most", f"{memory:.0f} MB", "goal 500 MB")
    row("epsilon in all", f"{spent:.6g}", f"the sum is {WEEKS * 0.5:.6g}")
    hours = {f"{hour:02}": range(60 * hour, 60 * hour + 60) for hour in range(24)}
    table = tf.calibrate(framework, tf.GroupBy(tf.Histogram(), hours, every=1440), epsilon=0.5, mechanism="influence")
    by_hour, again = weekly(framework, charge_of(table))
    row("the longest one of a table by hour", span(max(by_hour)), f"epsilon in all {again:.6g}")
    week = np.ones(MINUTES, dtype=np.int64)
    runs = Windows(MINUTES * np.arange(WEEKS), week, [(1 / (charge.scale or Fraction(1)), WEEKS)])
    whole, unit = piled([runs])
    chain = CHAIN.with_length(whole.size)
    started = time.perf_counter()
    stretched_loss(chain, None, whole, unit, True)
    ours = time.perf_counter() - started
    row("the cost of all of them, by stretches", span(ours))
    return 0


def weekly(framework: tf.Pufferfish, charge: Charge) -> tuple[list[float], float]:
    """Reserve every window, one after the other; return how long each took, and what all of them cost."""
    times = []
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger.open(Path(folder) / "ledger.db")
        for week in range(WEEKS):
            started = time.perf_counter()
            debit = Debit(framework, replace(charge, at=MINUTES * week))
            ledger.reserve("ward", [debit], budget=2, entries="minutes")
            times.append(time.perf_counter() - started)
        return times, float(ledger.spent("ward").epsilon)


if __name__ == "__main__":
    sys.exit(main())
