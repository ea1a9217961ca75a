"""Families looked at together: the same bounds as one by one, nothing passed over that needs more, and few searches."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from takifugu.analysis.answer_laws.dense import DenseFamily
from takifugu.analysis.problem import Bound, Problem
from takifugu.mechanisms.common.answer_families import Located, located_families
from takifugu.mechanisms.common.stacks import needing_more, stacked
from takifugu.mechanisms.laplace_exact import HEADROOM
from takifugu.mechanisms.laplace_exact import MECHANISM as LAPLACE_EXACT
from takifugu.mechanisms.wasserstein import MECHANISM as WASSERSTEIN
from takifugu.model.beliefs.chains.chain import MarkovChain
from takifugu.model.frameworks import Pufferfish
from takifugu.model.queries import Count, Histogram, Linear, Query
from takifugu.model.secrets.of_entries import every_entry
from takifugu.numbers.rationals import round_up

SLOW = [[0.9, 0.1], [0.4, 0.6]]
RING = [[0.8, 0.2, 0.0], [0.0, 0.7, 0.3], [0.4, 0.0, 0.6]]
SCALES = [Fraction(0), Fraction(1, 3), Fraction(2), Fraction(13, 2), Fraction(50)]


def chain_problem(matrix: list[list[float]], length: int, initial: str = "stationary", epsilon: int = 1) -> Problem:
    return Problem(Pufferfish(every_entry(), MarkovChain(matrix, length, initial)), Count(1), Fraction(epsilon))


def dense(problem: Problem) -> tuple[list[Located], list[DenseFamily]]:
    located = list(located_families(problem))
    return located, [one.family for one in located if isinstance(one.family, DenseFamily)]


@pytest.mark.parametrize("problem", [chain_problem(SLOW, 25), chain_problem(RING, 12), chain_problem(SLOW, 9, "any")])
@pytest.mark.parametrize("scale", SCALES)
def test_losses_of_a_stack_are_those_of_its_families(problem: Problem, scale: Fraction) -> None:
    located, families = dense(problem)
    (stack,) = stacked(located)
    singly = [loss for family in families for loss in family.losses(scale)]
    assert stack.losses(scale).tolist() == pytest.approx(singly, rel=1e-13)


@pytest.mark.parametrize("problem", [chain_problem(SLOW, 25), chain_problem(RING, 12), chain_problem(SLOW, 9, "any")])
def test_who_does_not_move_beyond_a_distance_has_no_proposal_beyond_it(problem: Problem) -> None:
    located, families = dense(problem)
    (stack,) = stacked(located)
    moves = np.array([family.moves(index)[0] for family in families for index in range(len(family.compared))])
    for distance in range(int(moves.max()) + 1):
        assert not (~stack.may_move_beyond(Fraction(distance)) & (moves > distance)).any()
    assert not stack.may_move_beyond(Fraction(int(moves.max()))).all()


def test_families_of_other_widths_are_not_looked_at_together() -> None:
    one, other = (dense(chain_problem(SLOW, length))[0] for length in (3, 4))
    assert [len(stack.families) for stack in stacked([*one, *other])] == [3, 4]
    assert list(needing_more([*one, *other], lambda stack: np.zeros(len(stack.sides), dtype=bool))) == [*one, *other]


def one_by_one(problem: Problem) -> tuple[Fraction, str]:
    """Return the scale, and the comparison that forces it, as they come out where every family is solved in order."""
    enough, forced_by = Fraction(0), ""
    for located in located_families(problem, lines=True):
        (loss,) = located.family.losses(enough)
        if loss > problem.epsilon:
            needed = located.family.smallest_scale(0, problem.epsilon)
            if needed > enough:
                enough = min(needed * (1 + HEADROOM), Fraction(located.family.reach(0)) / problem.epsilon)
                forced_by = located.describe(located.family.compared[0])
    return enough, forced_by


@pytest.mark.parametrize("matrix", [SLOW, [[0.3, 0.7], [0.9, 0.1]], [[0.99, 0.01], [0.02, 0.98]]])
@pytest.mark.parametrize("query", [Count(1), Histogram(), Linear([1 + i % 3 for i in range(60)])])
def test_scale_and_comparison_are_those_of_one_by_one(matrix: list[list[float]], query: Query) -> None:
    problem = Problem(Pufferfish(every_entry(), MarkovChain(matrix, 60)), query, Fraction(1))
    scale, comparison = one_by_one(problem)
    bound = LAPLACE_EXACT.bound(problem)
    assert isinstance(bound, Bound)
    assert bound.witness.numbers == (("scale", float(round_up(scale) * problem.unit)),)
    assert bound.witness.comparison == comparison


def test_most_steps_of_a_long_chain_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    solved = list[int]()
    plain = DenseFamily.losses_of

    def counted(family: DenseFamily, index: int, scale: Fraction) -> float:
        solved.append(family.entry)
        return plain(family, index, scale)

    monkeypatch.setattr(DenseFamily, "losses_of", counted)
    for mechanism in (WASSERSTEIN, LAPLACE_EXACT):
        mechanism.bound(chain_problem(SLOW, 200))
    assert len(set(solved)) < 10
