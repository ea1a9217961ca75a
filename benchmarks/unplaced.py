"""Releases about one recording at unknown places: how often shifted quilts charge less than an endless influence."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any
from unittest import mock

import numpy as np

import takifugu as tf
from measure import row, seconds, span, title
from near_laws import TIE, matrix, question
from takifugu.composition import alignment, charge_of, joint

PROBLEMS = 200

#: The second largest modulus of an eigenvalue, at most.
FORGETS = 0.999

Cost = tuple[Fraction, Any] | None


def noted(bound: Callable[..., Cost], costs: list[float]) -> Callable[..., Cost]:
    """Return a bound that also notes its cost; infinite where it has none."""

    def noting(*arguments: Any) -> Cost:
        found = bound(*arguments)
        costs.append(float(found[0]) if found else float("inf"))
        return found

    return noting


def costs(random: np.random.Generator) -> tuple[float, float]:
    """Return what two to four releases cost together by shifted quilts and by an endless influence."""
    rows = matrix(random, int(random.integers(2, 5)))
    while np.sort(np.abs(np.linalg.eigvals(rows)))[-2] > FORGETS:
        rows = matrix(random, int(random.integers(2, 5)))
    initial = str(random.choice(["stationary", "any"]))
    charges = []
    for _ in range(int(random.integers(2, 5))):
        size = int(random.integers(1, 40))
        framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain(rows, size, initial))
        query, epsilon = question(random, size), Fraction(int(random.integers(1, 10)), 10)
        charges.append(charge_of(tf.calibrate(framework, query, epsilon, mechanism="influence")))
    shifted: list[float] = []
    endless: list[float] = []
    with (
        mock.patch.object(alignment, "shifted_cost", noted(alignment.shifted_cost, shifted)),
        mock.patch.object(alignment, "_endless_loss", noted(alignment._endless_loss, endless)),
    ):
        joint(framework, charges)
    return max(shifted), max(endless)


def main() -> None:
    title("unknown places, 2 to 4 releases of 1 to 39 steps each: shifted quilts next to an endless influence")
    random = np.random.default_rng(21)
    ratios: list[float] = []

    def compare_all() -> None:
        for _ in range(PROBLEMS):
            shifted, endless = costs(random)
            ratios.append(shifted / endless if np.isfinite(endless) else 0.0)

    time = seconds(compare_all, runs=1)
    known = [ratio for ratio in ratios if ratio]
    less = [ratio for ratio in known if ratio < 1 - TIE]
    beside = f"{min(known):.4f} to {max(known):.4f} times the influence"
    row("shifted quilts cost less", f"{len(less)} of {len(known)}", beside)
    row("the influence is unknown", f"{len(ratios) - len(known)} of {len(ratios)}")
    row("all", span(time))


if __name__ == "__main__":
    main()
