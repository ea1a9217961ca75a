"""The widest tables of a release file, mechanism = "auto"."""

from __future__ import annotations

import numpy as np

import takifugu as tf
from measure import row, seconds, span, title


def sticky(states: int, stay: float = 0.9) -> np.ndarray:
    """Return a matrix that stays, or moves to any other state alike."""
    matrix = np.full((states, states), (1 - stay) / (states - 1))
    np.fill_diagonal(matrix, stay)
    return matrix


def by_date(query: object, days: int = 366) -> tf.GroupBy:
    return tf.GroupBy(query, {f"day {d}": range(24 * d, 24 * (d + 1)) for d in range(days)}, by="date")


def by_hour(query: object, steps: int = 24 * 366) -> tf.GroupBy:
    return tf.GroupBy(query, {f"{h}:00": range(h, steps, 24) for h in range(24)}, by="hour")


def table(belief: object, query: object) -> float:
    framework = tf.Pufferfish(tf.every_entry(), belief)
    return seconds(lambda: tf.calibrate(framework, query, 1), runs=1)


if __name__ == "__main__":
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
