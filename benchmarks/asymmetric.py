"""The one-sided sparse vector over a million places, next to a loop in Python; the best channel of a count."""

from __future__ import annotations

import random
import tracemalloc
from math import log
from secrets import SystemRandom

import numpy as np

from measure import compared, row, seconds, span, title
from takifugu.mechanisms.one_sided.sparse import SAFE, SparseAnswers
from takifugu.numbers.noise import SystemEntropy

PLACES = 1_000_000
PEER_PLACES = 200_000


def in_a_loop(counts: list[int], threshold: int, epsilon: float, source: random.Random) -> list[object]:
    """The same answers as most would write them: one float logarithm a place, which is not exact."""
    answers: list[object] = []
    for count in counts:
        z = count + int(-log(1.0 - source.random()) / epsilon)
        answers.append(SAFE if z <= threshold else z)
    return answers


def main() -> None:
    rng, entropy = np.random.default_rng(1), SystemEntropy()
    sparse = rng.poisson(0.3, PLACES)
    title(f"SALap without a limit: {PLACES:,} places, all of them answered, best of 3")
    for epsilon, threshold in ((1, 19), ("0.5", 39), ("0.3", 66), (4, 4)):
        mechanism = SparseAnswers(epsilon, sensitivity=1)
        counts = np.minimum(sparse, threshold)
        ours = seconds(lambda m=mechanism, c=counts, t=threshold: m.answer(c, t, entropy))
        few, loop_of = counts[:PEER_PLACES].tolist(), PLACES / PEER_PLACES
        theirs = loop_of * seconds(
            lambda f=few, t=threshold, e=float(mechanism.epsilon): in_a_loop(f, t, e, SystemRandom()), runs=1
        )
        rate = float(mechanism.epsilon)
        what = f"epsilon {rate:g}, t = {threshold}, epsilon (t + 1) = {rate * (threshold + 1):g}"
        row(what, span(ours), compared(ours, theirs, "a loop in Python (floats)"))
    mechanism = SparseAnswers(1, sensitivity=1)
    one_by_one = mechanism.session(entropy)
    exact = PLACES / 2000 * seconds(
        lambda: [one_by_one.ask(count, 19, number) for number, count in enumerate(sparse[:2000].tolist())] and
        one_by_one.questions.clear(), runs=2,
    )  # fmt: skip
    ours = seconds(lambda: mechanism.answer(sparse, 19, entropy))
    row("the same, one by one in a session (exact)", span(exact), f"{exact / ours:.0f} times the array's {span(ours)}")
    tracemalloc.start()
    answers = mechanism.answer(sparse, 19, entropy)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    expected = float((1 - np.exp(-(20.0 - sparse))).sum())
    row("memory at its peak, per place", f"{peak / PLACES:.0f} bytes", "goal: under 200")
    row("found safe", f"{int(answers.safe.sum()):,}", f"expected {expected:,.1f}")
    title("others, 1,000,000 places")
    thresholds, few = rng.integers(5, 30, PLACES), SparseAnswers(1, limit=100)
    row("SALap, c = 100, thresholds of their own", span(seconds(lambda: few.answer(sparse, thresholds, entropy))))


if __name__ == "__main__":
    main()
