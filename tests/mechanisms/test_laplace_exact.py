"""The smallest Laplace scale: never too small, never more than needed, below wasserstein and group; mutants."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.support.chain_oracles import answer_law_given, laplace_loss
from tests.support.chain_strategies import chains, contributions, joint_laws, table_joint, tables, weights
from tests.support.golden import golden, transport_laws

from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Bound, Problem, Refusal
from takifugu.analysis.randomisers import DiscreteLaplace, Exact
from takifugu.audit import joint_loss, true_loss
from takifugu.mechanisms.group import MECHANISM as GROUP
from takifugu.mechanisms.laplace_exact import MECHANISM
from takifugu.mechanisms.wasserstein import MECHANISM as WASSERSTEIN
from takifugu.model.beliefs.chains.chain import MarkovChain
from takifugu.model.beliefs.chains.pieces import IndependentPieces
from takifugu.model.beliefs.table import JointTable
from takifugu.model.frameworks import Framework, Pufferfish, between
from takifugu.model.queries import Count, Histogram, Identity, Linear, Query, Sum
from takifugu.model.secrets.of_entries import entry, every_entry
from takifugu.numbers.distributions.pmf import Pmf

LENGTHS = [[0.3, 0.7], [0.9, 0.1]]
budgets = st.sampled_from([Fraction(1, 5), Fraction(1), Fraction(5)])
one_law = ("stationary", "given")


def bound(framework: Framework, query: Query, epsilon: Fraction | int = 1) -> Bound:
    bounded = MECHANISM.bound(Problem(framework, query, Fraction(epsilon)))
    assert isinstance(bounded, Bound), bounded
    return bounded


def hide(belief: MarkovChain | JointTable | IndependentPieces) -> Framework:
    return Pufferfish(every_entry(), belief)


def largest_loss(joint: dict[tuple[int, ...], Fraction], table: list[list[int]], values: int, scale: Fraction) -> float:
    """The largest loss over every entry and pair of values of one joint law, by enumeration."""
    losses = [mpmath.mpf(0)]
    for i in range(len(table)):
        laws = [answer_law_given(joint, table, i, v) for v in range(min(values, len(table[i])))]
        losses += [laplace_loss(p, q, scale) for p in laws for q in laws if p and q and p is not q]
    return max(losses)


def needs_no_less(scale: Fraction, loss_at: object, epsilon: Fraction) -> bool:
    """Whether 0.1 % less noise than `scale` (taken before rounding, 1e-9 below) loses more than epsilon."""
    return scale == 0 or loss_at(scale * Fraction(999, 1000)) > epsilon  # type: ignore[operator]


@settings(max_examples=30)
@given(st.data(), chains(length=(1, 5), starts=one_law), budgets)
def test_enough_and_no_more_on_chains(data: st.DataObject, chain: MarkovChain, epsilon: Fraction) -> None:
    query = Linear(data.draw(weights(chain.length)), grid=1)
    framework = _framework(chain)
    assume(framework is not None)
    assert framework is not None
    noise = bound(framework, query, epsilon).randomiser
    (joint,), table = joint_laws(chain), contributions(query.resolve(chain))
    assert largest_loss(joint, table, 9, noise.scale) <= epsilon + mpmath.mpf(10) ** -12
    assert true_loss(framework, query, noise).upper <= epsilon + 1e-12
    assert needs_no_less(noise.scale, lambda b: largest_loss(joint, table, 9, b), epsilon)


@settings(max_examples=50)
@given(st.booleans().flatmap(tables), budgets)
def test_enough_and_no_more_on_tables(table: JointTable, epsilon: Fraction) -> None:
    framework = _framework(table)
    assume(framework is not None)
    assert framework is not None
    noise = bound(framework, Sum(), epsilon).randomiser
    joint, contribution = table_joint(table), contributions(Sum().resolve(table))
    units = noise.scale / noise.grid
    assert largest_loss(joint, contribution, 9, units) <= epsilon
    assert true_loss(framework, Sum(), noise).upper <= epsilon + 1e-12
    assert needs_no_less(units, lambda b: largest_loss(joint, contribution, 9, b), epsilon)


@settings(max_examples=20)
@given(st.data(), chains(length=(1, 4), starts=("any",)), budgets)
def test_enough_and_no_more_for_any_start(data: st.DataObject, chain: MarkovChain, epsilon: Fraction) -> None:
    query = Linear(data.draw(weights(chain.length)), grid=1)
    framework = _framework(chain)
    assume(framework is not None)
    assert framework is not None
    noise = bound(framework, query, epsilon).randomiser
    assert true_loss(framework, query, noise).upper <= epsilon + 1e-12
    if isinstance(noise, DiscreteLaplace) and noise.units > Fraction(1, 50):
        less = DiscreteLaplace(noise.units * Fraction(999, 1000), noise.grid)
        assert true_loss(framework, query, less).lower > epsilon


@settings(max_examples=40)
@given(chains(length=(1, 6)), budgets)
def test_never_above_wasserstein_never_above_group(chain: MarkovChain, epsilon: Fraction) -> None:
    framework = _framework(chain)
    assume(framework is not None)
    assert framework is not None
    problem = Problem(framework, Count(1), epsilon)
    bounds = [mechanism.bound(problem) for mechanism in (MECHANISM, WASSERSTEIN, GROUP)]
    smallest, wasserstein, group = (b.randomiser.scale for b in bounds if isinstance(b, Bound))
    assert smallest <= wasserstein * (1 + Fraction(1, 10**10))
    assert wasserstein <= group


@pytest.mark.parametrize("name", golden()["laplace_scale"])
def test_golden_scales(name: str) -> None:
    mu, nu = transport_laws()[name]
    framework = between(Pmf(list(mu), list(mu.values())), Pmf(list(nu), list(nu.values())))
    for epsilon, scales in golden()["laplace_scale"][name].items():
        bounded = bound(framework, Identity(), Fraction(epsilon))
        assert float(bounded.randomiser.scale) == pytest.approx(float(scales["exact"]), rel=1e-9)
        assert bounded.covers is Covers.OUTPUT
        if float(scales["exact"]) == 0:
            assert bounded.randomiser == Exact(Fraction(1))


def test_longer_sequences_may_need_less_noise() -> None:
    one, twenty = (float(bound(hide(MarkovChain(LENGTHS, n)), Count(1)).randomiser.scale) for n in (1, 20))
    assert one == 1.0
    assert twenty == pytest.approx(0.658342, abs=1e-6)


def test_any_start_needs_more_than_point_starts_and_less_than_wasserstein() -> None:
    sticky = [[0.95, 0.05], [0.05, 0.95]]
    framework = hide(MarkovChain(sticky, 4, initial="any"))
    bounded = bound(framework, Count(1))
    starts = [MarkovChain(sticky, 4, initial=start) for start in ([1, 0], [0, 1])]
    points = max(bound(hide(chain), Count(1)).randomiser.scale for chain in starts)
    assert points < 2.7 < 3.6 < bounded.randomiser.scale < 3.7
    assert "(unknown initial distribution)" in bounded.witness.comparison
    # A mutant that looks at point starts only is caught.
    assert true_loss(framework, Count(1), DiscreteLaplace(points, Fraction(1))).lower > 1.3


def test_a_mutant_with_half_the_scale_is_caught() -> None:
    framework = hide(MarkovChain(LENGTHS, 10))
    noise = bound(framework, Count(1)).randomiser
    assert isinstance(noise, DiscreteLaplace)
    assert true_loss(framework, Count(1), noise).loss == pytest.approx(1, abs=1e-9)
    assert true_loss(framework, Count(1), DiscreteLaplace(noise.units / 2, Fraction(1))).lower > 1.5


def test_a_mutant_that_looks_at_one_order_of_the_pair_is_caught() -> None:
    p, q = Pmf([0, 1], [Fraction(1, 100), Fraction(99, 100)]), Pmf([0, 1], [Fraction(1, 2), Fraction(1, 2)])
    framework = between(p, q)
    noise = bound(framework, Identity()).randomiser
    assert true_loss(framework, Identity(), noise).upper <= 1
    # Without noise log 99/50 < 1 one way, and log 50 > 1 the other way.
    assert true_loss(framework, Identity(), Exact(Fraction(1))).lower > 3


def test_zero_noise_where_the_belief_hides_the_secret() -> None:
    chain = MarkovChain([[0.5, 0.5], [0.5, 0.5]], 3)
    framework = Pufferfish(entry(0, 0, 1), chain)
    bounded = bound(framework, Count(1, entries=[1, 2]))
    assert bounded.randomiser == Exact(Fraction(1))
    assert bounded.covers is Covers.OUTPUT
    assert true_loss(framework, Count(1, entries=[1, 2]), bounded.randomiser).loss == pytest.approx(0, abs=1e-12)


def test_a_tiny_mass_far_away_needs_some_noise() -> None:
    tiny = Fraction(1, 10**13)
    framework = between(Pmf([0, 50], [1 - tiny, tiny]), Pmf([0, 1], [1 - tiny, tiny]))
    noise = bound(framework, Identity()).randomiser
    assert float(noise.scale) == pytest.approx(1.6406928, abs=1e-6)
    assert 1 - 1e-8 < true_loss(framework, Identity(), noise).upper <= 1


def test_pieces_that_are_shorter_are_looked_at_too() -> None:
    pieces = IndependentPieces(MarkovChain(LENGTHS, 20), [20, 1])
    assert bound(hide(pieces), Count(1, entries=[20])).randomiser.scale == 1
    short = IndependentPieces(MarkovChain(LENGTHS, 3), [3, 1])
    assert 0.9 < true_loss(hide(short), Count(1), bound(hide(short), Count(1)).randomiser).upper <= 1 + 1e-12
    for start in ("stationary", "any"):
        alone = IndependentPieces(MarkovChain(LENGTHS, 4, initial=start), [4, 3])
        noise = bound(hide(alone), Count(1)).randomiser
        assert 0.9 < true_loss(hide(alone), Count(1), noise).upper <= 1 + 1e-12


def test_the_scale_is_rounded_up_by_at_most_one_part_in_ten_billion() -> None:
    framework = hide(MarkovChain([[0.9, 0.1], [0.4, 0.6]], 5))
    (joint,) = joint_laws(MarkovChain([[0.9, 0.1], [0.4, 0.6]], 5))
    table = contributions(Count(1).resolve(MarkovChain([[0.9, 0.1], [0.4, 0.6]], 5)))
    scale = bound(framework, Count(1)).randomiser.scale
    assert largest_loss(joint, table, 2, scale) <= 1 < largest_loss(joint, table, 2, scale * (1 - Fraction(1, 10**10)))


def test_two_releases_are_more_than_their_sum() -> None:
    rows = [(0, 0, 0), (0, 10, 10), (1, 1, 11), (1, 11, 1)]
    table = JointTable(rows, [Fraction(1, 4)] * 4, names=["s", "a", "b"])
    framework = Pufferfish(entry(0, 0, 1), table)
    noises = [bound(framework, Identity(name)).randomiser for name in "ab"]
    both = joint_loss(framework, [(Identity(name), noise) for name, noise in zip("ab", noises, strict=True)])
    assert all(true_loss(framework, Identity(n), r).upper <= 1 for n, r in zip("ab", noises, strict=True))
    assert both.loss > 11


def test_small_problems_keep_their_laws_for_the_next_mechanism(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem(hide(MarkovChain(LENGTHS, 8)), Count(1), Fraction(1))
    first = WASSERSTEIN.bound(problem)
    monkeypatch.setattr("takifugu.analysis.answer_laws.chain.ChainLaw.families", None)
    assert isinstance(first, Bound)
    assert isinstance(MECHANISM.bound(problem), Bound)


def test_vector_answers_are_refused() -> None:
    chain = MarkovChain([[0.8, 0.1, 0.1], [0.4, 0.5, 0.1], [0.2, 0.2, 0.6]], 3)
    problem = Problem(hide(chain), Histogram(), Fraction(1))
    bounded = MECHANISM.bound(problem)
    assert isinstance(bounded, Refusal)
    assert "exclusive or" in bounded.reason


def _framework(belief: MarkovChain | JointTable) -> Framework | None:
    """The framework of every entry, or None where each entry has one possible value only."""
    several = any(sum(belief.possible(i)) > 1 for i in range(belief.size))
    return hide(belief) if several else None
