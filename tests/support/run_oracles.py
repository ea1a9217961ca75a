"""What runs of steps lose, by listing: every sequence, every two paths of a run, and every likelihood.

`worst_of_runs` asks a linear program over all mechanisms of a profile; `noise_loss` is the loss of Laplace noise on
several sums at once, over all their outputs; `response_loss` that of one randomised response an entry.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import permutations, product

import numpy as np
from tests.support.influence_oracle import worst_likelihood

Array = np.ndarray


def runs_of(law: Array, run: int) -> Iterator[tuple[int, dict[tuple[int, ...], Array]]]:
    """Yield the first entry of each run, and the mask of each path of positive probability."""
    length = min(run, law.ndim)
    places = np.indices(law.shape)
    for first in range(law.ndim - length + 1):
        paths = {}
        for path in product(*(range(k) for k in law.shape[first : first + length])):
            mask = np.all([places[first + n] == value for n, value in enumerate(path)], axis=0)
            if law[mask].sum() > 0:
                paths[path] = mask
        yield first, paths


def worst_of_runs(law: Array, tables: Sequence[Array], run: int) -> float:
    """Return the largest loss over all runs, pairs of paths, and mechanisms of the profile `tables`."""
    worst = 0.0
    for _, paths in runs_of(law, run):
        for a, b in permutations(paths.values(), 2):
            worst = max(worst, worst_likelihood(law, tables, a, b))
    return worst


def response_loss(law: Array, rates: Sequence[float], run: int) -> float:
    """Return the loss of sending each entry of two values by a randomised response of its own rate."""
    worst = 0.0
    cells = np.array(list(np.ndindex(*law.shape)))
    for output in product((0, 1), repeat=law.ndim):
        likelihood = np.exp((cells == output) @ np.array(rates)).reshape(law.shape)
        worst = max(worst, loss_of(law, likelihood[None], run))
    return worst


def noise_loss(law: Array, sums: Sequence[Array], scales: Sequence[float], run: int) -> float:
    """Return the loss of discrete Laplace noise of each scale on each of the `sums` (integers, shaped as `law`)."""
    outputs = [range(int(total.min()) - 1, int(total.max()) + 2) for total in sums]
    likelihoods = []
    for output in product(*outputs):
        logs = sum(-np.abs(total - y) / b for total, y, b in zip(sums, output, scales, strict=True))
        likelihoods.append(np.exp(logs))
    return loss_of(law, np.array(likelihoods), run)


def loss_of(law: Array, likelihoods: Array, run: int) -> float:
    """Return the largest log-ratio of the mean likelihoods of any two paths of any run."""
    worst = 0.0
    for _, paths in runs_of(law, run):
        means = np.array([(likelihoods * (law * mask)).reshape(len(likelihoods), -1).sum(axis=1) / law[mask].sum()
                          for mask in paths.values()])  # fmt: skip
        worst = max(worst, math.log(float((means.max(axis=0) / means.min(axis=0)).max())))
    return worst
