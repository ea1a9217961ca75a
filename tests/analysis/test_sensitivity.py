"""The change that noise has to hide is the largest by one secret entry, or by a secret run, of all parts."""

from fractions import Fraction

import pytest

import takifugu as tf
from takifugu.analysis.problem import Problem
from takifugu.analysis.sensitivity import change_to_hide

COIN = [0.5, 0.5]
WEIGHTS = [1, -5, 3, 1]


def chain(length: int) -> tf.MarkovChain:
    return tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length)


def hidden(secret: object, belief: object, grid: str = "1") -> Fraction:
    query = tf.Linear([weight * Fraction(grid) for weight in WEIGHTS], grid=grid)
    problem = Problem(tf.Pufferfish(secret, belief), query, Fraction(1))  # type: ignore[arg-type]
    return change_to_hide(problem, 1, hides_rows=True)


@pytest.mark.parametrize("grid", ["1/2", "1", "3"])
def test_it_is_the_largest_of_all_parts_whatever_their_order(grid: str) -> None:
    for order in ("abcd", "dcba"):
        nodes = [(name, [0, 1], [], COIN) for name in order]
        assert hidden(tf.every_entry(), tf.BayesianNetwork(nodes), grid) == 5 * Fraction(grid)
    assert hidden(tf.every_entry(), tf.IndependentPieces(chain(4), [1, 1, 2]), grid) == 5 * Fraction(grid)
    assert hidden(tf.entry(2, 0, 1), chain(4), grid) == 3 * Fraction(grid)


@pytest.mark.parametrize("run", [1, 2, 3, 4, 9])
def test_of_a_run_it_is_the_most_that_so_many_entries_in_a_row_change(run: int) -> None:
    sizes = [abs(weight) for weight in WEIGHTS]
    in_a_row = [sum(sizes[first : first + run]) for first in range(len(sizes))]
    assert hidden(tf.every_run(run), chain(4)) <= max(in_a_row)
    assert hidden(tf.every_run(run), chain(4)) >= max(sizes)
