"""Noise that counts on other components' randomness at any size, and the widest tables of a release file by "auto"."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import takifugu as tf
from measure import compared, row, seconds, span, title

BIASED = [[0.9, 0.1], [0.3, 0.7]]
DELTA = Fraction(1, 10**5)


def sticky(states: int, stay: float = 0.9) -> np.ndarray:
    """Return a matrix that stays, or moves to any other state alike."""
    matrix = np.full((states, states), (1 - stay) / (states - 1))
    np.fill_diagonal(matrix, stay)
    return matrix


def noise(belief: object, mechanism: str) -> tf.Calibration:
    framework = tf.Pufferfish(tf.every_entry(), belief)
    delta = DELTA if mechanism == "gaussian-exact" else 0
    return tf.calibrate(framework, tf.Count(1), 1, delta, mechanism, allow_zero_noise=True)


def by_date(query: object, days: int = 366) -> tf.By:
    return tf.By(query, {f"day {d}": range(24 * d, 24 * (d + 1)) for d in range(days)}, by="date")


def by_hour(query: object, steps: int = 24 * 366) -> tf.By:
    return tf.By(query, {f"{h}:00": range(h, steps, 24) for h in range(24)}, by="hour")


def table(belief: object, query: object) -> float:
    framework = tf.Pufferfish(tf.every_entry(), belief)
    return seconds(lambda: tf.calibrate(framework, query, 1), runs=1)


if __name__ == "__main__":
    title("gaussian-exact with others' randomness, delta = 1e-5, next to the component alone")
    alone = tf.IndependentPieces(tf.MarkovChain(BIASED, 20), [20])
    single = seconds(lambda: noise(alone, "gaussian-exact"), runs=1)
    for count in (10, 30, 1_000):
        pieces = tf.IndependentPieces(tf.MarkovChain(BIASED, 20), [20] * count)
        taken = seconds(lambda pieces=pieces: noise(pieces, "gaussian-exact"), runs=1)  # type: ignore[misc]
        scales = f"sigma {noise(pieces, 'gaussian-exact').scale:.4g}, alone {noise(alone, 'gaussian-exact').scale:.4g}"
        row(f"{count:,} pieces of 20 steps", span(taken), f"{scales}; {compared(taken, single, 'alone it')}")
    for count in (1_000, 100_000):
        users = tf.IndependentUsers([{0: 0.7, 1: 0.3}] * count)
        row(f"{count:,} users", span(seconds(lambda users=users: noise(users, "gaussian-exact"), runs=1)))  # type: ignore[misc]
    pieces = tf.IndependentPieces(tf.MarkovChain(BIASED, 100), [100] * 2_000)
    row("laplace-exact, 2,000 pieces of 100 steps", span(seconds(lambda: noise(pieces, "laplace-exact"), runs=1)))

    title('the widest tables of a release file, mechanism = "auto" (goal: seconds)')
    year = 24 * 366
    row("histogram of 60 states, 10,080 steps", span(table(tf.MarkovChain(sticky(60), 10_080), tf.Histogram())))
    units = tf.IndependentPieces(tf.MarkovChain(sticky(60), 400), range(100, 400))
    row("histogram of 60 states, 300 units of all lengths", span(table(units, tf.Histogram())))
    row("count by date, 366 cells", span(table(tf.MarkovChain(sticky(2), year), by_date(tf.Count(1)))))
    ten = tf.MarkovChain(sticky(10), year)
    row("histogram of 10 states by date, 3,660 cells", span(table(ten, by_date(tf.Histogram()))))
    sixty = tf.MarkovChain(sticky(60), year)
    row("histogram of 60 states by hour, 1,440 cells", span(table(sixty, by_hour(tf.Histogram()))))
