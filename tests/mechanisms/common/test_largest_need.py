"""What is the largest need of all comparisons: rounded laws, long work, and families together."""

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.support.chain_oracles import largest_laplace_loss
from tests.support.laws_oracles import unmatched_by_hall
from tests.support.pair_cases import bound_by
from tests.support.strategies import laws_off_by

from takifugu.analysis.answer_laws.chain import ChainLaw
from takifugu.analysis.answer_laws.dense import DenseFamily
from takifugu.analysis.answer_laws.listed import ListedFamily
from takifugu.analysis.bounds import Bound
from takifugu.analysis.problem import Problem
from takifugu.analysis.questions.compared import AnswerFamily, Compared, TwoLaws
from takifugu.core import searches
from takifugu.mechanisms import kantorovich_relaxed, normal_by_rule, wasserstein_delta
from takifugu.mechanisms.common import answer_families
from takifugu.mechanisms.common.answer_families import Located, located_families
from takifugu.mechanisms.common.largest_need import Stack, needing_more, stacked
from takifugu.mechanisms.common.shares import Shares, most_answers, smoothed
from takifugu.mechanisms.laplace_exact import HEADROOM
from takifugu.mechanisms.laplace_exact import MECHANISM as LAPLACE_EXACT
from takifugu.mechanisms.wasserstein import MECHANISM as WASSERSTEIN
from takifugu.model.beliefs.chains.chain import MarkovChain
from takifugu.model.beliefs.users import IndependentUsers
from takifugu.model.frameworks import Pufferfish
from takifugu.model.queries import Count, Histogram, Linear, Query
from takifugu.model.secrets.of_entries import every_entry
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.rationals import round_up

OFF = Fraction(1, 32)
budgets = st.sampled_from([Fraction(1, 2), Fraction(2)])
deltas = st.sampled_from([Fraction(1, 100), Fraction(1, 4), Fraction(3, 5)])
Law = dict[int, Fraction]


def located(p: Law, q: Law, error: Fraction = OFF) -> Located:
    laws = {0: (Pmf(list(p), list(p.values())),), 1: (Pmf(list(q), list(q.values())),)}
    return Located(ListedFamily(0, ((0, 1), (1, 0)), laws, float(error)), SimpleNamespace())  # type: ignore[arg-type]


def comparison(p: Law, q: Law, error: Fraction = OFF) -> Compared:
    (one,), (p_law,), (q_law,) = (located(p, q).family.compared, *located(p, q).family.hulls.values())
    return replace(one, laws=lambda: TwoLaws(p_law, q_law, float(error)))


def hockey_stick(p: Law, q: Law, epsilon: float) -> float:
    return math.fsum(max(float(mass) - math.exp(epsilon) * float(q.get(x, 0)), 0.0) for x, mass in p.items())


@settings(max_examples=40)
@given(laws_off_by(OFF), laws_off_by(OFF), budgets)
def test_a_budget_and_a_share_for_rounded_laws_are_enough(one: Any, other: Any, epsilon: Fraction) -> None:
    (p, true_p), (q, true_q) = one, other
    compared = comparison(p, q).laws()
    spent = hockey_stick(p, q, float(compared.budget(epsilon)))
    delta = Fraction(1, 7)
    assert hockey_stick(true_p, true_q, float(epsilon)) <= spent * float(delta / compared.share(delta)) + 1e-15
    assert delta / (1 + 2 * OFF) <= compared.share(delta) <= delta
    if hockey_stick(p, q, float(compared.budget(epsilon))) == 0:
        assert hockey_stick(true_p, true_q, float(epsilon)) == 0
    assert epsilon - 3 * OFF <= compared.budget(epsilon) <= epsilon - Fraction(math.log((1 + OFF) / (1 - OFF)))


def test_laws_are_as_far_off_as_their_family_says_and_their_levels_may_be() -> None:
    (exact,) = located({0: Fraction(1, 2), 1: Fraction(1, 2)}, {0: Fraction(1)}, Fraction(0)).family.compared
    assert exact.laws().error == 0
    (rounded,) = located({0: 0.1, 1: 0.9}, {0: 0.3, 1: 0.7}, Fraction(0)).family.compared  # type: ignore[dict-item]
    assert 4 * 2.0**-53 <= rounded.laws().error < 1e-13
    (known,) = located({0: Fraction(1, 2), 1: Fraction(1, 2)}, {0: Fraction(1)}).family.compared
    assert 2 * OFF <= known.laws().error <= 2 * OFF + Fraction(1, 10**13)


def off_by(*signs: int) -> tuple[Law, Law]:
    """Return the uniform law on six places, and a true one with each mass off by the error."""
    share = Fraction(1, 6)
    return dict.fromkeys(range(6), share), {x: share * (1 + sign * OFF) for x, sign in enumerate(signs)}


@settings(max_examples=15)
@given(laws_off_by(OFF), laws_off_by(OFF), deltas, budgets)
@example(off_by(1, 1, 1, -1, -1, -1), off_by(1, 1, -1, 1, -1, -1), Fraction(1, 100), Fraction(2))
def test_moves_for_all_but_delta_of_the_mass_serve_the_true_laws(
    one: Any, other: Any, delta: Fraction, epsilon: Fraction
) -> None:
    (p, true_p), (q, true_q) = one, other
    move, spare = normal_by_rule._move(comparison(p, q), delta)
    assert 0 <= spare <= delta / 4
    assert max(unmatched_by_hall(a, b, move) for a, b in ((true_p, true_q), (true_q, true_p))) <= spare
    scale = wasserstein_delta._needed(comparison(p, q), Fraction(0), epsilon, delta)
    unmatched = max(unmatched_by_hall(a, b, scale * epsilon) for a, b in ((true_p, true_q), (true_q, true_p)))
    lost = largest_laplace_loss(true_p, true_q, scale)
    assert unmatched <= delta or lost <= epsilon
    assert wasserstein_delta._needed(comparison(p, q), scale, epsilon, delta) == scale


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2)])
def test_rounding_is_taken_off_what_may_stay_unmatched(epsilon: Fraction) -> None:
    """A quarter of the rounded mass has to move by 9, and of the true one up to 3/4 of the error more."""
    compared = comparison({0: Fraction(1, 2), 9: Fraction(1, 2)}, {0: Fraction(3, 4), 9: Fraction(1, 4)})
    quarter = Fraction(1, 4)
    for enough in (0, Fraction(1, 2), Fraction(9, 2), 8):  # in moves; less than 9 is not enough
        assert wasserstein_delta._needed(compared, enough / epsilon, epsilon, quarter) == 9 / epsilon
    assert wasserstein_delta._needed(compared, 9 / epsilon, epsilon, quarter) == 9 / epsilon
    assert wasserstein_delta._needed(compared, Fraction(0), epsilon, quarter + 4 * OFF) == 0
    move, spare = normal_by_rule._move(compared, quarter)
    assert (move, spare) == (9, 0)  # a quarter of delta may pay for rounding, and it does not


@settings(max_examples=15)
@given(laws_off_by(OFF), laws_off_by(OFF), st.sampled_from([Fraction(1, 20), Fraction(1, 2), Fraction(2)]))
def test_the_scale_of_a_plan_serves_the_true_laws(one: Any, other: Any, epsilon: Fraction) -> None:
    (p, true_p), (q, true_q) = one, other
    scale = kantorovich_relaxed._needed(comparison(p, q), Fraction(0), epsilon)
    if epsilon > 4 * OFF:
        assert largest_laplace_loss(true_p, true_q, scale) <= epsilon
    else:
        assert scale >= comparison(p, q).wasserstein(epsilon)[1]
    assert kantorovich_relaxed._needed(comparison(p, q), scale, epsilon) == scale


def test_convolved_laws_are_off_by_what_both_are() -> None:
    family = located({0: Fraction(1, 2), 1: Fraction(1, 2)}, {0: Fraction(1)}, Fraction(1, 10)).family
    both = smoothed(family, Pmf([0, 1], [Fraction(1, 4), Fraction(3, 4)]), 0.2)
    assert 1.1 * 1.2 - 1 - 1e-12 <= both.relative_error <= 0.33
    assert dict(both.hulls[0][0].items()) == {0: Fraction(1, 8), 1: Fraction(1, 2), 2: Fraction(3, 8)}


def test_the_sum_of_the_others_is_off_by_what_all_of_them_are(monkeypatch: pytest.MonkeyPatch) -> None:
    bit = Pmf([0, 1], [Fraction(1, 2), Fraction(1, 2)])
    monkeypatch.setattr("takifugu.mechanisms.common.shares.share_law", lambda piece, share: (bit, 0.1))
    users = IndependentUsers([{0: 0.5, 1: 0.5}] * 4)
    law, error = Shares(users, Count(1).resolve(users)).others(2)
    assert dict(law.items()) == {k: Fraction(math.comb(3, k), 8) for k in range(4)}
    assert 1.1**3 - 1 <= error <= 1.1**5 - 1


@settings(max_examples=40)
@given(st.lists(st.integers(-3, 4), min_size=1, max_size=5), st.sampled_from([(0, 1), (0, 2, 6), (5,), (-1, 3)]))
def test_no_answer_takes_more_values_than_predicted(weights: list[int], values: tuple[int, ...]) -> None:
    users = IndependentUsers([dict.fromkeys(values, Fraction(1, len(values)))] * len(weights))
    answers = {0}
    for weight in weights:
        answers = {answer + weight * value for answer in answers for value in values}
    assert most_answers(users, Linear(weights).resolve(users)) >= len(answers)


def test_losses_are_compared_with_an_epsilon_that_is_rounded_down(monkeypatch: pytest.MonkeyPatch) -> None:
    stack = Stack(())
    losses = np.array([1.0, math.nextafter(1.0, 2.0)])
    monkeypatch.setattr(Stack, "losses", lambda stack, scale: losses)
    assert stack.keeps(1 + Fraction(1, 2**53), Fraction(1)).tolist() == [True, False]
    assert stack.keeps(1 + Fraction(1, 2**52), Fraction(1)).tolist() == [True, True]


def problem() -> Problem:
    """Return a new problem: what was found for an old one may be kept."""
    return Problem(Pufferfish(every_entry(), MarkovChain([[0.9, 0.1], [0.4, 0.6]], 6)), Count(1), Fraction(1))


class Seen:
    """A watcher that records its messages."""

    def __init__(self) -> None:
        self.messages: list[tuple[str, int]] = []

    def begins(self, search: searches.Search) -> None:
        assert (search.secrets, search.most, search.things, search.stops) == (6, 6, "secrets", False)
        assert search.seconds > 0
        self.messages.append(("begins", search.done))

    def goes(self, search: searches.Search) -> None:
        self.messages.append(("goes", search.done))

    def over(self, search: searches.Search) -> None:
        assert not search.early
        self.messages.append(("over", search.done))


@pytest.mark.parametrize("mechanism", [LAPLACE_EXACT, WASSERSTEIN])
def test_work_that_is_too_large_to_keep_is_watched(mechanism: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_families, "CACHED_BYTES", 0.0)
    watcher = Seen()
    with searches.stopping(), searches.watched(watcher):
        assert isinstance(mechanism.bound(problem()), Bound)
    assert watcher.messages == [("begins", 0), *(("goes", n) for n in range(1, 7)), ("over", 6)]


@pytest.mark.parametrize("mechanism", [LAPLACE_EXACT, WASSERSTEIN])
def test_an_interrupt_never_leaves_some_of_the_laws_out(mechanism: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The laws of the first entries need less noise than those in the middle: half of them is no bound."""
    whole = ChainLaw.families

    def interrupted(law: ChainLaw) -> Iterator[AnswerFamily]:
        families = whole(law)
        yield next(families)
        raise KeyboardInterrupt

    monkeypatch.setattr(answer_families, "CACHED_BYTES", 0.0)
    monkeypatch.setattr(ChainLaw, "families", interrupted)
    with searches.stopping(), pytest.raises(KeyboardInterrupt):
        mechanism.bound(problem())


# Families looked at together: the same bounds as one by one, nothing passed over that needs more, and few searches.

SLOW = [[0.9, 0.1], [0.4, 0.6]]
RING = [[0.8, 0.2, 0.0], [0.0, 0.7, 0.3], [0.4, 0.0, 0.6]]
SCALES = [Fraction(0), Fraction(1, 3), Fraction(2), Fraction(13, 2), Fraction(50)]


def chain_problem(matrix: list[list[float]], length: int, initial: str = "stationary", epsilon: int = 1) -> Problem:
    return Problem(Pufferfish(every_entry(), MarkovChain(matrix, length, initial)), Count(1), Fraction(epsilon))


def dense(problem: Problem) -> tuple[list[Located], list[DenseFamily]]:
    located = list(located_families(problem))
    return located, [one.family for one in located if isinstance(one.family, DenseFamily)]


@pytest.mark.parametrize("problem", [chain_problem(SLOW, 25), chain_problem(RING, 12), chain_problem(SLOW, 9, "any")])
def test_a_stack_has_the_losses_of_its_families_and_proposes_no_farther_moves(problem: Problem) -> None:
    located, families = dense(problem)
    (stack,) = stacked(located)
    for scale in SCALES:
        singly = [loss for family in families for loss in family.losses(scale)]
        assert stack.losses(scale).tolist() == pytest.approx(singly, rel=1e-13)
    moves = np.array([compared.moves()[0] for family in families for compared in family.compared])
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
        (loss,), (compared,) = located.family.losses(enough), located.family.compared
        if loss > problem.epsilon:
            needed = compared.smallest_scale(problem.epsilon)
            if needed > enough:
                enough = min(needed * (1 + HEADROOM), Fraction(compared.reach) / problem.epsilon)
                forced_by = located.describe(compared)
    return enough, forced_by


@pytest.mark.sampled(11)
@pytest.mark.parametrize("matrix", [SLOW, [[0.3, 0.7], [0.9, 0.1]], [[0.99, 0.01], [0.02, 0.98]]])
@pytest.mark.parametrize("query", [Count(1), Histogram(), Linear([1 + i % 3 for i in range(60)])])
def test_scale_and_comparison_are_those_of_one_by_one(matrix: list[list[float]], query: Query) -> None:
    problem = Problem(Pufferfish(every_entry(), MarkovChain(matrix, 60)), query, Fraction(1))
    scale, comparison = one_by_one(problem)
    bound = bound_by(LAPLACE_EXACT, problem.framework, query)
    assert bound.witness.numbers == (("scale", float(round_up(scale) * problem.unit)),)
    assert bound.witness.comparison == comparison


@pytest.mark.mutants
def test_most_steps_of_a_long_chain_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    solved = list[int]()
    plain = DenseFamily._loss

    def counted(family: DenseFamily, rows: list[int], scale: Fraction) -> float:
        solved.append(family.entry)
        return plain(family, rows, scale)

    monkeypatch.setattr(DenseFamily, "_loss", counted)
    for mechanism in (WASSERSTEIN, LAPLACE_EXACT):
        mechanism.bound(chain_problem(SLOW, 200))
    assert len(set(solved)) < 10
