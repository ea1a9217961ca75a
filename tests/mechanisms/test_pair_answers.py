"""The noise for two laws of the answer: discrete where the atoms share a grid, else continuous and rounded once."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from takifugu.analysis.problem import Bound, Mechanism, Problem, Refusal, pair_grid
from takifugu.analysis.randomisers import DiscreteLaplace, RoundedLaplace
from takifugu.audit import true_loss
from takifugu.mechanisms.laplace_exact import MECHANISM as EXACT
from takifugu.mechanisms.wasserstein import MECHANISM as WASSERSTEIN
from takifugu.model.beliefs.pair import LawPair
from takifugu.model.frameworks import Framework, between
from takifugu.model.queries import Count, Identity
from takifugu.model.secrets import WhichLaw
from takifugu.numbers.distributions.pmf import Pmf


def problem(atoms: list[Any], grid: str | None = None) -> Problem:
    half = [Fraction(1, 2)] * 2
    return Problem(between(Pmf(atoms[:2], half), Pmf(atoms[2:], half)), Identity(grid=grid), Fraction(1))


@pytest.mark.parametrize(
    ("atoms", "declared", "grid", "common"),
    [
        ([0, 20, 10, 30], None, Fraction(10), True),
        ([0.0, 2.0, 1.0, 3.0], None, Fraction(1), True),
        ([Fraction(1, 3), Fraction(1, 2), 0, 1], None, Fraction(1, 6), True),
        ([0.5, 1.5, 0.25, 2.0], None, Fraction(1, 4), True),
        ([0.1, 0.2, 0.3, 0.4], None, Fraction(1, 10), True),
        ([0.1234567, 0.2, 0.3, 0.4], None, Fraction(1, 10**7), False),
        ([0.1234567, 10.2, 0.3, 0.4], None, Fraction(1, 10**5), False),
        ([0, 1, Fraction(1, 10**7), 2], None, Fraction(1, 10**6), False),
        ([0, 20, 10, 30], "5", Fraction(5), True),
        ([0, 20, 10, 30], "7", Fraction(7), False),
        ([0, 1, 2, 3], "1/2", Fraction(1, 2), True),
        ([0, 1, 0, 1], None, Fraction(1), True),
    ],
)
def test_the_grid_of_two_laws(atoms: list[Any], declared: str | None, grid: Fraction, common: bool) -> None:
    assert pair_grid(problem(atoms, declared)) == (grid, common)


@pytest.mark.parametrize("mechanism", [WASSERSTEIN, EXACT])
@pytest.mark.parametrize("atoms", [[0, 20, 10, 30], [0.105, 0.2, 0.3, 0.4], [0.0, 1.0, 0.3333333333, 2.0]])
def test_the_noise_keeps_the_promise_in_answer_units(mechanism: Mechanism, atoms: list[Any]) -> None:
    posed = problem(atoms, "0.01" if isinstance(atoms[0], float) else None)
    bounded = mechanism.bound(posed)
    assert isinstance(bounded, Bound)
    assert isinstance(bounded.randomiser, DiscreteLaplace if isinstance(atoms[0], int) else RoundedLaplace)
    audit = true_loss(posed.framework, posed.query, bounded.randomiser)
    assert audit.upper <= 1 + 1e-12
    # Rounding is post-processing: it may only lose a little of what the continuous noise needs.
    assert mechanism is WASSERSTEIN or audit.loss > 0.9


@pytest.mark.parametrize("mechanism", [WASSERSTEIN, EXACT])
def test_two_laws_are_published_as_they_are(mechanism: Mechanism) -> None:
    posed = Problem(problem([0, 1, 2, 3]).framework, Count(1), Fraction(1))
    bounded = mechanism.bound(posed)
    assert isinstance(bounded, Refusal)
    assert "publish Identity()" in bounded.reason


@pytest.mark.parametrize("mechanism", [WASSERSTEIN, EXACT])
@pytest.mark.parametrize("order", [1, -1])
def test_the_belief_that_needs_a_little_more_noise_decides(mechanism: Mechanism, order: int) -> None:
    q = Pmf([1, 2], [0.5, 0.5])
    pairs = [LawPair(Pmf([0, 1], [0.5, 0.5]), q), LawPair(Pmf([0, 1], [0.501, 0.499]), q)]
    scales = []
    for beliefs in (pairs[:1], pairs[1:], pairs[::order]):
        bounded = mechanism.bound(Problem(Framework((WhichLaw(),), tuple(beliefs)), Identity(), Fraction(2)))
        assert isinstance(bounded, Bound)
        scales.append(bounded.randomiser.scale)
    assert scales[0] < scales[1] or mechanism is WASSERSTEIN
    assert max(scales[:2]) <= scales[2] <= max(scales[:2]) * (1 + Fraction(1, 10**10))
