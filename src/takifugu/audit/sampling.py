"""A lower bound on the loss of anything that can be run, with a stated confidence.

An event is chosen on half of the runs: outputs whose score is at least, or at most, some number. On the other half its
probability under one hypothesis is bounded from below and under the other from above (Clopper and Pearson 1934), each
at half of 1 - confidence. The log of the quotient is then below the true loss with that confidence, whatever is run and
however the event was chosen. It finds gross faults only: rare events, which decide a loss, are not met.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from takifugu.core.arrays import FloatArray
from takifugu.core.errors import InputError
from takifugu.core.typed import Typed
from takifugu.model.beliefs.estimate import interval, missed

#: Scores that are tried as ends of an event.
CUTS = 200
#: Fewest runs of each hypothesis.
FEWEST = 100
#: n -> the scores of n independent outputs, given one hypothesis.
Run = Callable[[int], object]


@dataclass(frozen=True)
class LowerBound(Typed):
    """Hold a lower bound on a loss, found by sampling, and the event that shows it.

    The event is a score of at least `cut`, or of at most `cut` where `is_below`.

    Args:
        at_least: The bound.
        confidence: The probability that it holds.
        cut: The score of the event.
        is_below: Whether the event is at or below the cut.
        runs: Outputs of each hypothesis that were drawn.

    Examples:
        >>> LowerBound(0.9, 0.999, 2.0, is_below=False, runs=1000).at_least
        0.9
    """

    at_least: float
    confidence: float
    cut: float
    is_below: bool
    runs: int

    def __str__(self) -> str:
        side = "at most" if self.is_below else "at least"
        return (
            f"a loss of at least {self.at_least:.3g}, with confidence {self.confidence:g} (scores of {side} "
            f"{self.cut:.6g}, {self.runs:,} runs): a lower bound, which finds gross faults only"
        )


def sampled_loss(left: Run, right: Run, runs: int = 100_000, confidence: float = 0.999) -> LowerBound:
    """Bound log P(outputs | left) / P(outputs | right) from below, by sampling.

    Args:
        left: Takes n, returns the scores of n independent outputs under the first hypothesis: any numbers, such as the
            published values.
        right: The same under the second hypothesis.
        runs: Outputs of each that are drawn; half of them choose the event.
        confidence: The probability that the bound holds.

    Returns:
        The bound and its event.

    Raises:
        InputError: For fewer than 100 runs, a confidence outside (0, 1), or scores that are no `runs` finite numbers.

    Source: Clopper and Pearson (1934).

    Examples:
        >>> rng = np.random.default_rng(0)
        >>> bound = sampled_loss(lambda n: 1 + rng.laplace(size=n), lambda n: rng.laplace(size=n))
        >>> 0.9 < bound.at_least < 1
        True
    """
    if isinstance(runs, bool) or not isinstance(runs, int) or runs < FEWEST:
        raise InputError(f"runs is {runs!r}", rule=f"give a whole number from {FEWEST}").at("runs")
    if not 0 < confidence < 1:
        raise InputError(f"the confidence is {confidence!r}", rule="it lies between 0 and 1").at("confidence")
    scores, others = _scores(left, runs, "left"), _scores(right, runs, "right")
    half, miss = runs // 2, missed(confidence, 1)
    cuts = np.quantile(np.concatenate([scores[:half], others[:half]]), np.linspace(0, 1, CUTS))
    cut, is_below = _best_event(scores[:half], others[:half], cuts)
    rest = runs - half
    (left_count,), (right_count,) = (_counts(some[half:], np.array([cut]), is_below) for some in (scores, others))
    low, _ = interval(left_count, rest, miss)  # each end is missed with half of it
    _, high = interval(right_count, rest, miss)
    at_least = max(0.0, math.log(low / high)) if low > 0 else 0.0
    return LowerBound(at_least, confidence, cut, is_below, runs)


def _scores(run: Run, runs: int, name: str) -> FloatArray:
    try:
        scores = np.asarray(run(runs), dtype=float)
    except (TypeError, ValueError):
        scores = np.zeros(0)
    if scores.shape != (runs,) or not np.isfinite(scores).all():
        raise InputError(f"{name} returned no {runs:,} finite numbers", fix="return one score for each output").at(name)
    return scores


def _best_event(scores: FloatArray, others: FloatArray, cuts: FloatArray) -> tuple[float, bool]:
    """Return the event of the largest quotient of 95 % limits."""
    best = (-1.0, float(cuts[0]), False)
    for is_below in (False, True):
        counts = zip(_counts(scores, cuts, is_below), _counts(others, cuts, is_below), cuts.tolist(), strict=True)
        for count, other, cut in counts:
            quotient = interval(count, len(scores), 0.05)[0] / interval(other, len(others), 0.05)[1]
            best = max(best, (quotient, cut, is_below))
    return best[1], best[2]


def _counts(scores: FloatArray, cuts: FloatArray, is_below: bool) -> list[int]:
    below = np.searchsorted(np.sort(scores), cuts, side="right" if is_below else "left")
    counts: list[int] = (below if is_below else len(scores) - below).tolist()
    return counts
