"""W-infinity of two laws with a million atoms each, next to POT's one-dimensional plan and SciPy's W1."""

from __future__ import annotations

import numpy as np
import ot
from scipy.stats import wasserstein_distance

from measure import compared, row, seconds, span, title
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.transport.on_the_line import monotone_coupling, w_infinity

ATOMS = 1_000_000


def main() -> None:
    generator = np.random.default_rng(1)
    x, y = np.sort(generator.normal(size=ATOMS)), np.sort(generator.normal(0.3, 1.1, size=ATOMS))
    a, b = generator.random(ATOMS), generator.random(ATOMS)
    a, b = a / a.sum(), b / b.sum()
    p, q = Pmf(x, a), Pmf(y, b)
    people = [generator.multinomial(10 * ATOMS * n, a) for n in (1, 1, 3)]
    one, same, more = (Pmf.from_counts(atoms, n) for atoms, n in zip((x, y, y), people, strict=True))

    title(f"two laws of {ATOMS:,} atoms each, real atoms, best of 3")
    ours = seconds(lambda: w_infinity(p, q))
    row("w_infinity, float masses", span(ours))
    row("w_infinity, counts of equally many people", span(seconds(lambda: w_infinity(one, same))))
    row("w_infinity, counts of 10 and of 30 million people", span(seconds(lambda: w_infinity(one, more))))
    row("monotone_coupling", span(seconds(lambda: monotone_coupling(p, q))))
    plan = seconds(lambda: ot.emd_1d(x, y, a, b, metric="minkowski", p=1.0, dense=False), runs=1)
    row("POT emd_1d, a plan", span(plan), compared(ours, plan, "it"))
    scipy = seconds(lambda: wasserstein_distance(x, y, a, b))
    row("SciPy wasserstein_distance (W1 only)", span(scipy), compared(ours, scipy, "it"))

    few = slice(20_000)
    x, y, a, b = x[few], y[few], a[few] / a[few].sum(), b[few] / b[few].sum()
    entries = ot.emd_1d(x, y, a, b, metric="minkowski", p=1.0, dense=False)
    theirs = float(np.abs(x[entries.row] - y[entries.col])[entries.data > 0].max())
    row("largest move on 20,000 atoms", f"{float(w_infinity(Pmf(x, a), Pmf(y, b))):.9g}", f"POT's plan: {theirs:.9g}")


if __name__ == "__main__":
    main()
