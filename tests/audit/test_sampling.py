"""Lower bounds by sampling: below the truth as often as they say, near it for gross faults, and bad input."""

from collections.abc import Callable
from functools import partial
from typing import Any

import mpmath
import numpy as np
import pytest

from takifugu.audit import sampled_loss
from takifugu.core.errors import InputError

RNG = np.random.default_rng


def laplace(rng: np.random.Generator, centre: float, scale: float = 1.0) -> Callable[[int], Any]:
    return lambda n: centre + rng.laplace(scale=scale, size=n)


def test_it_is_a_lower_bound_and_nearly_the_loss() -> None:
    rng = RNG(1)
    for first, second in ((1.0, 0.0), (0.0, 1.0)):
        bound = sampled_loss(laplace(rng, first), laplace(rng, second))
        assert 0.9 < bound.at_least <= 1
    assert "a lower bound, which finds gross faults only" in str(bound)
    assert bound.is_below


@pytest.mark.mutants
def test_it_holds_as_often_as_it_says() -> None:
    """One law for both: any bound above 0 is wrong, in at most one of ten runs."""
    rng = RNG(2)
    wrong = [sampled_loss(laplace(rng, 0), laplace(rng, 0), 400, 0.9).at_least > 0 for _ in range(300)]
    assert sum(wrong) <= 45


def test_a_gross_fault_is_found_and_a_small_one_is_not() -> None:
    rng = RNG(3)
    assert sampled_loss(laplace(rng, 1, 0.5), laplace(rng, 0, 0.5)).at_least > 1.5
    assert sampled_loss(laplace(rng, 1, 0.99), laplace(rng, 0, 0.99)).at_least < 1


def test_nothing_that_happens_proves_nothing() -> None:
    assert sampled_loss(np.zeros, np.zeros).at_least == 0
    assert sampled_loss(np.ones, np.zeros).at_least > 7


@pytest.mark.parametrize(
    ("about", "words"),
    [
        ({"runs": 99}, "whole number from 100"),
        ({"runs": True}, "whole number"),
        ({"confidence": 1.0}, "between 0 and 1"),
        ({"left": lambda n: np.zeros(n - 1)}, "left returned no 100,000 finite numbers"),
        ({"right": lambda n: ["a"] * n}, "right returned no"),
        ({"right": lambda n: np.full(n, np.nan)}, "finite numbers"),
    ],
)
def test_bad_input(about: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        sampled_loss(**{"left": np.zeros, "right": np.zeros, **about})


def test_the_ends_are_rounded_outward() -> None:
    """Beta quantiles of floats are right up to 1e-12, on either side."""
    scores, others = ((np.arange(2_000) % 100 < share).astype(float) for share in (60, 20))
    bound = sampled_loss(lambda n: scores[:n], lambda n: others[:n], 2_000, 0.99)
    with mpmath.workdps(30):
        # of 1,000 runs 600 and 200 have the event; P(X >= 600) and P(X <= 200) are 0.5 % at the ends
        miss, betainc = mpmath.mpf(1) / 200, partial(mpmath.betainc, regularized=True)
        low = mpmath.findroot(lambda p: betainc(600, 401, 0, p) - miss, (0.55, 0.6), "anderson")
        high = mpmath.findroot(lambda p: betainc(201, 800, p, 1) - miss, (0.2, 0.25), "anderson")
        exact = mpmath.log(low / high)
    assert 0 < exact - mpmath.mpf(bound.at_least) < 1e-8
