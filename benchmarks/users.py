"""Laws of a count without one user, for all users at once: growth with their number, next to the naive way."""

from __future__ import annotations

import numpy as np

import takifugu as tf
from measure import compared, row, seconds, span, title
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.extended.leave_one_out import NOTHING, Sums, Weights

COIN, DIE = {0: 0.3, 1: 0.7}, {0: 0.2, 1: 0.3, 2: 0.5}


def laws(count: int) -> list[Pmf]:
    """Return different laws of 0 and 1."""
    chances = np.random.default_rng(1).uniform(0.05, 0.95, count)
    return [Pmf([0, 1], [1 - p, p]) for p in chances.tolist()]


def tree(given: list[Pmf]) -> None:
    """Find the law of the sum without each user: halves, and halves of halves."""
    weights = [Weights.of(law, 1) for law in given]
    sums = Sums(weights, [1] * len(given), NOTHING)
    for user in range(len(given)):
        sums.without(user)


def naive(given: list[Pmf]) -> None:
    """Find the same laws, each computed afresh."""
    weights = [Weights.of(law, 1) for law in given]
    for user in range(len(given)):
        total = NOTHING
        for other, law in enumerate(weights):
            total = total if other == user else total.convolve(law)


def calibrated(users: tf.IndependentUsers) -> float:
    framework = tf.Pufferfish([tf.presence(), tf.every_entry()], users)
    return tf.calibrate(framework, tf.Sum(), 1, mechanism="laplace-exact").scale


if __name__ == "__main__":
    title("laws of the count without one user, for every user; all users different")
    before = 0.0
    for count in (250, 1_000, 4_000, 10_000):
        given = laws(count)
        taken = seconds(lambda given=given: tree(given), runs=1)  # type: ignore[misc]
        times = f"{taken / before:.1f} times the row above" if before else ""
        row(f"{count:,} users", span(taken), times)
        before = taken
    few = laws(250)
    ours, theirs = seconds(lambda: tree(few)), seconds(lambda: naive(few), runs=1)
    row("250 users", span(ours), compared(ours, theirs, "each law computed afresh"))

    title("laplace-exact for the sum, hiding values and presence")
    many = [{0: 1 - p, 1: p} for p in np.random.default_rng(2).uniform(0.05, 0.95, 10_000).tolist()]
    row("10,000 different users", span(seconds(lambda: calibrated(tf.IndependentUsers(many)), runs=1)))
    groups = [(600_000, COIN), (300_000, {0: 0.5, 1: 0.5}), (100_000, DIE)]
    row("1,000,000 users in 3 groups", span(seconds(lambda: calibrated(tf.IndependentUsers.groups(groups)), runs=1)))
