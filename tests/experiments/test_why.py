"""The table of docs/why.md: what it says is what the program computes, and another computation agrees."""

import math

import numpy as np
import pytest

import why
from pages import made


def laws_by_hand(stay: float, minute: int) -> list[np.ndarray]:
    """Return the laws of the number of walking minutes given each state of one minute: a walk out from it, both ways.

    The chain is symmetric, so it looks the same backwards in time.
    """
    step = np.array([[stay, 1 - stay], [1 - stay, stay]])

    def side(start: int, length: int) -> np.ndarray:
        laws = np.zeros((2, why.LENGTH + 1))
        laws[start, 0] = 1
        for _ in range(length):
            laws = step.T @ laws
            laws[1] = np.concatenate([[0], laws[1, :-1]])
        return laws.sum(axis=0)

    both = [np.convolve(side(a, minute), side(a, why.LENGTH - 1 - minute))[: why.LENGTH + 1] for a in (0, 1)]
    return [both[0], np.concatenate([[0], both[1][:-1]])]


def noised_by_hand(law: np.ndarray) -> np.ndarray:
    """Return the law after discrete Laplace noise of scale 1, at the outputs -40 ... length + 40."""
    outputs = np.arange(-40, why.LENGTH + 41)
    kernel = np.exp(-np.abs(outputs[:, None] - np.arange(why.LENGTH + 1)[None, :]))
    return math.tanh(0.5) * kernel @ law


@pytest.mark.mutants
@pytest.mark.parametrize("stay", why.STAYS)
def test_the_table_agrees_with_a_walk_by_hand(stay: float) -> None:
    noisy = [[noised_by_hand(law) for law in laws_by_hand(stay, minute)] for minute in range(why.LENGTH)]
    loss = max(float(np.abs(np.log(still / walking)).max()) for still, walking in noisy)
    total_variation = max(0.5 * float(np.abs(still - walking).sum()) for still, walking in noisy)
    pairs = why.law_pairs(stay)
    assert why.surest(pairs) == pytest.approx(1 / (1 + math.exp(-loss)), rel=1e-9)
    assert why.right_guesses(pairs) == pytest.approx((1 + total_variation) / 2, rel=1e-9)


@pytest.mark.slow
def test_the_readme_shows_what_the_program_computes() -> None:
    assert made(why.PAGE, "why") == why.comparison()
