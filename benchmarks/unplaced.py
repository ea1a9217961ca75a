"""Releases about one recording at unknown places: what they cost, next to quilts and to an endless recording."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import Any
from unittest import mock

import numpy as np

import takifugu as tf
from measure import row, seconds, span, title
from random_problems import TIE, matrix, question
from takifugu.accounting.composition import alignment, charge_of, joint
from takifugu.influence.chains.unplaced import Unplaced
from takifugu.influence.stretched import stretched_loss
from takifugu.numbers.runs import Runs

PROBLEMS = 200

#: The second largest modulus of an eigenvalue, at most.
FORGETS = 0.999
#: Steps of a recording that is longer than any.
ENDLESS = 2**53
#: Nodes farther than this are not tried: no release is as long.
FARTHEST = 60


def by_quilts(chain: Any, unplaced: Unplaced) -> float:
    """Return the largest over pairs of values of the least of e(a, b) + W(a + b - 1) and W(infinity)."""
    rows = np.array(chain.matrix)
    powers = [np.linalg.matrix_power(rows, distance) for distance in range(1, FARTHEST + 1)]
    is_any = chain.initial == "any"
    law = np.ones(len(rows)) if is_any else chain.stationary_laws[0].floats()
    worst = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(powers)
        for s, t in permutations(np.flatnonzero(law > 0).tolist(), 2):
            after = np.nanmax(logs[:, s] - logs[:, t], axis=1)
            before = np.nanmax((logs[:, :, s] - logs[:, :, t])[:, law > 0], axis=1)
            back = np.nanmax(logs[:, :, t] - logs[:, :, s], axis=1) if is_any else np.log(law[t] / law[s])
            near = [[unplaced.loss(a + b + 1) for b in range(FARTHEST)] for a in range(FARTHEST)]
            costs = (before + back)[:, None] + after[None, :] + np.array(near)
            worst = max(worst, min(float(costs.min()), float(unplaced.total)))
    return worst


def for_ever(chain: Any, unplaced: Unplaced) -> float:
    """Return what every step of an endless recording costs if each moves every release as its largest step does."""
    recording = chain.from_step(0, ENDLESS)
    losses = stretched_loss(recording, None, Runs.alike(1, ENDLESS), unplaced.exact(1))
    return float(losses[0]) if losses else float("inf")


def costs(random: np.random.Generator) -> tuple[float, float, float, float]:
    """Return what two to four releases cost: charged, by quilts, for ever, and when everything changes."""
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
    noted: list[tuple[float, float, float, float]] = []

    def noting(chain: Any, pairs: Any, unplaced: Unplaced) -> Any:
        charged = unplaced_loss(chain, pairs, unplaced)
        total = float(unplaced.total)
        noted.append((float(charged[0]), by_quilts(chain, unplaced), for_ever(chain, unplaced), total))
        return charged

    unplaced_loss = alignment.unplaced_loss
    with mock.patch.object(alignment, "unplaced_loss", noting):
        joint(framework, charges)
    return noted[0]


def main() -> None:
    title("unknown places, 2 to 4 releases of 1 to 39 steps each: what is charged, next to other bounds")
    random = np.random.default_rng(21)
    rows: list[tuple[float, float, float, float]] = []
    time = seconds(lambda: rows.extend(costs(random) for _ in range(PROBLEMS)), runs=1)
    charged, *others = np.array(rows).T
    least = np.minimum.reduce(others)
    for name, other in zip(("quilts", "an endless recording", "everything"), others, strict=True):
        ratios = charged / other
        row(f"next to {name}", f"{(ratios > 1 + TIE).sum()} of {len(ratios)} cost more",
            f"{ratios.min():.4f} to {ratios.max():.4f} times it")  # fmt: skip
    ratios = charged / least
    row("less than the least of the three", f"{(ratios < 1 - TIE).sum()} of {len(ratios)}",
        f"{ratios.min():.4f} to {ratios.max():.4f} times it")  # fmt: skip
    row("quilts were the least of the three", f"{(others[0] < (1 - TIE) * np.minimum(others[1], others[2])).sum()}")
    row("all", span(time))


if __name__ == "__main__":
    main()
