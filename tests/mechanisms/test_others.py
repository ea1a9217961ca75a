"""Other components' randomness at any size: against every joint state, and against those who know some of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.support import others_oracles as oracle
from tests.support.chain_oracles import exact_rows, joint_law, stationary_vector
from tests.support.chain_strategies import rows

import takifugu as tf
from takifugu.answer_laws.marginals import ChainMarginal, NetworkMarginal
from takifugu.answer_laws.minimax_start import over_all_starts
from takifugu.beliefs.contacts import CliqueInfection
from takifugu.errors import Unsupported
from takifugu.mechanisms import gaussian_exact, laplace_exact, others, pooled, shares
from takifugu.problem import Bound, Problem

LAPLACE, NORMAL = laplace_exact.MECHANISM, gaussian_exact.MECHANISM
WITH = pooled.Pool._with
BIASED = [[0.9, 0.1], [0.3, 0.7]]
TRAP = [[0.95, 0.05], [0.05, 0.95]]


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every answer counts as too large for exact masses."""
    monkeypatch.setattr(shares, "MOST_SMOOTHED", 0)


def problem_of(belief: Any, query: Any, epsilon: Any = 1, delta: Any = 0) -> Problem:
    return Problem(tf.Pufferfish(tf.every_entry(), belief), query, Fraction(epsilon), Fraction(delta))


def pool_of(problem: Problem) -> pooled.Pool:
    found = pooled.pool_of(problem, lines=False)
    assert found is not None
    return found


def joints(matrix: Any, lengths: Any, start: Any) -> list[oracle.Component]:
    exact = exact_rows(matrix)
    first = stationary_vector(exact) if start == "stationary" else start
    return [joint_law(exact, n, first) for n in lengths]


def losses(families: Iterator[Any], scale: float) -> float:
    """The largest loss of the families after Laplace noise; 0 where there are none."""
    found = [max(over_all_starts(located.family).losses(Fraction(scale)), default=0.0) for located in families]
    return max(found, default=0.0)


@st.composite
def pieces(draw: st.DrawFn, start: str = "stationary") -> tuple[Any, list[int], list[int]]:
    """A matrix, two or three lengths with at most 2^5 joint states, and a weight for each entry."""
    matrix = [draw(rows(2, zeros=False)) for _ in range(2)]
    lengths = draw(st.sampled_from([[1, 1], [1, 1, 1], [2, 1], [2, 2], [2, 1, 1], [3, 2], [2, 2, 1]]))
    alike = draw(st.booleans())
    chosen = [1] * sum(lengths) if alike else draw(st.lists(st.integers(-2, 3), min_size=5, max_size=5))
    return matrix, lengths, chosen[: sum(lengths)]


@given(pieces(), st.integers(0, 2), st.sampled_from([0.4, 1.5, 6.0]))
@settings(max_examples=40)
def test_the_loss_with_some_known_is_that_of_every_joint_state(case: Any, known: int, scale: float) -> None:
    """Where the choices are few the bound is the loss itself, for none known, for one and for all others."""
    matrix, lengths, chosen = case
    assume(any(chosen))
    belief = tf.IndependentPieces(tf.MarkovChain(matrix, max(lengths)), lengths)
    problem = problem_of(belief, tf.Linear(chosen, grid=1))
    pool = pool_of(problem)
    known = min(known, len(lengths) - 1)
    rule, most = laplace_exact._rule(problem), pool.most
    families = pool.left(rule, known, most, most) if known else pool.families(most)
    expected = oracle.laplace_loss(joints(matrix, lengths, "stationary"), chosen, scale, known)
    assert losses(families, scale) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(pieces(), st.integers(0, 1))
@settings(max_examples=15)
def test_fewer_others_are_never_better(case: Any, size: int) -> None:
    matrix, lengths, chosen = case
    belief = tf.IndependentPieces(tf.MarkovChain(matrix, max(lengths)), lengths)
    pool = pool_of(problem_of(belief, tf.Linear(chosen, grid=1)))
    for scale in (0.5, 3.0):
        less, more = (losses(pool.families(n), scale) for n in (size, size + 1))
        assert more <= less * (1 + 1e-9) + 1e-9


@pytest.mark.parametrize(("there", "known"), [((3, 2, 1), 2), ((1,) * 9, 3), ((5, 4), 6), ((2, 2), 4), ((2,) * 9, 1)])
@pytest.mark.parametrize("choices", [40, 6, 1])
def test_whoever_is_known_one_of_the_parts_is_left(
    there: tuple[int, ...], known: int, choices: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pooled, "MOST_CHOICES", choices)
    problem = problem_of(tf.IndependentPieces(tf.MarkovChain(BIASED, 2), [2, 2]), tf.Count(1))
    pool, rule = pool_of(problem), laplace_exact._rule(problem)
    kinds = tuple(others.Kind(n, 1, 1, lambda: ((), 0.0)) for n in there)
    parts = pool._parts_left(others.Others(kinds, {}, 1), there, known, sum(there), rule)
    assert 1 <= len(parts) <= choices
    for taken in product(*(range(n + 1) for n in there)):
        if sum(taken) == known:
            left = [n - k for n, k in zip(there, taken, strict=True)]
            assert any(all(m <= n for m, n in zip(part, left, strict=True)) for part in parts)


def start_laws() -> Iterator[list[Fraction]]:
    for share in (0, 1, 3, 7, 10, 15, 20):
        yield [Fraction(share, 20), 1 - Fraction(share, 20)]


@pytest.mark.parametrize("lengths", [[2, 1], [1, 2, 1], [3, 2]])
@pytest.mark.parametrize("matrix", [TRAP, BIASED])
def test_any_start_covers_every_mixture_of_every_piece(matrix: Any, lengths: list[int]) -> None:
    """Each piece has an initial law of its own: what is found covers a grid of them."""
    belief = tf.IndependentPieces(tf.MarkovChain(matrix, max(lengths), initial="any"), lengths)
    chosen = [1] * sum(lengths)
    pool = pool_of(problem_of(belief, tf.Count(1)))
    found = losses(pool.families(pool.most), 1.2)
    exact, worst = exact_rows(matrix), 0.0
    grid = list(start_laws()) if len(lengths) < 3 else [[Fraction(s, 2), 1 - Fraction(s, 2)] for s in range(3)]
    for starts in product(grid, repeat=len(lengths)):
        drawn = [joint_law(exact, n, start) for n, start in zip(lengths, starts, strict=True)]
        worst = max(worst, oracle.laplace_loss(drawn, chosen, 1.2))
    assert worst <= found * (1 + 1e-9)
    assert worst > 0.97 * found  # the grid is near the worst: the bound is no looser than the class needs


def test_the_trap_stays_with_the_component_that_holds_the_secret() -> None:
    """DESIGN: four steps of this chain are worse at a mixture than at both of its point starts."""
    chain = tf.MarkovChain(TRAP, 4, initial="any")
    belief = tf.IndependentPieces(chain, [4, 1])
    pool = pool_of(problem_of(belief, tf.Count(1)))
    found = losses(pool.families(1), 1.0)
    exact = exact_rows(TRAP)
    at = {}
    for share in range(0, 101, 5):
        own = joint_law(exact, 4, [Fraction(share, 100), 1 - Fraction(share, 100)])
        at[share] = max(
            oracle.laplace_loss([own, {(start,): Fraction(1)}], [1] * 5, 1.0) for start in (0, 1)
        )
    assert max(at.values()) > 1.05 * max(at[0], at[100])
    assert max(at.values()) <= found * (1 + 1e-9)


def test_of_pieces_alike_only_the_number_at_each_start_matters() -> None:
    belief = tf.IndependentPieces(tf.MarkovChain(BIASED, 2, initial="any"), [2] * 8)
    pool = pool_of(problem_of(belief, tf.Count(1)))
    counts = pool.beliefs[0].beside(0)
    assert counts == (7,)
    assert pool.beliefs[0].ways(counts) == len(list(pool.beliefs[0].sums(counts))) == 8


def one_law(count: int) -> dict[str, Any]:
    row = [0.7, 0.3]
    return {
        "pieces": tf.IndependentPieces(tf.MarkovChain([row, row], 1), [1] * count),
        "network": tf.BayesianNetwork([(f"x{i}", [0, 1], [], row) for i in range(count)]),
        "cliques": CliqueInfection([[f"x{i}"] for i in range(count)], {1: row}),
        "users": tf.IndependentUsers([{0: 0.7, 1: 0.3}] * count),
    }


@pytest.mark.parametrize(("count", "names"), [(30, ["pieces"]), (100, ["pieces", "network", "cliques", "users"])])
def test_pieces_beyond_exact_masses_are_one_chain_all_the_same(large: None, count: int, names: list[str]) -> None:
    """One law, five times: 3.10 for 30 bits, and no noise for 100 of them, however they are written."""
    row = [0.7, 0.3]
    chain: Any = NORMAL.bound(problem_of(tf.MarkovChain([row, row], count), tf.Count(1), 1, Fraction(1, 10**5)))
    for name in names:
        belief = one_law(count)[name]
        found: Any = NORMAL.bound(problem_of(belief, tf.Count(1), 1, Fraction(1, 10**5)))
        assert float(found.randomiser.scale) == pytest.approx(float(chain.randomiser.scale), rel=1e-8)


def odd_ones(count: int) -> tf.BayesianNetwork:
    """Components of a fair secret bit and a number that is 1 given 0, and 0 or 2 given 1: alone it is read off."""
    nodes: list[Any] = []
    for i in range(count):
        nodes += [(f"s{i}", [0, 1], [], [0.5, 0.5])]
        nodes += [(f"x{i}", [0, 1, 2], [f"s{i}"], [[0.01, 0.98, 0.01], [0.49, 0.02, 0.49]])]
    return tf.BayesianNetwork(nodes)


def odd_one() -> oracle.Component:
    given_bit = [[1, 98, 1], [49, 2, 49]]
    return {(s, x): Fraction(given_bit[s][x], 200) for s in (0, 1) for x in (0, 1, 2)}


def read_numbers(count: int) -> tf.Linear:
    return tf.Linear([0, 1] * count, grid=1)


def secret_bits(count: int, epsilon: Any, delta: Any = 0) -> Problem:
    """The bits are secret, not the numbers."""
    framework = tf.Pufferfish([tf.attribute(f"s{i}", 0, 1) for i in range(count)], odd_ones(count))
    return Problem(framework, read_numbers(count), Fraction(epsilon), Fraction(delta))


def test_laplace_noise_falls_where_other_components_blur_what_one_reveals(large: None) -> None:
    alone: Any = LAPLACE.bound(secret_bits(1, 1))
    pair: Any = LAPLACE.bound(secret_bits(2, 1))
    assert pair.randomiser.scale < 0.9 * alone.randomiser.scale
    weights = [0, 1, 0, 1]
    both = [odd_one(), odd_one()]
    found = [
        float(oracle.laplace_loss_on([*p, *q], p, q, float(pair.randomiser.scale), 30))
        for p, q in [(oracle.law_of_answer(both, weights, 0, 0), oracle.law_of_answer(both, weights, 0, 1))]
    ]
    assert max(found) == pytest.approx(1, rel=1e-6)


def test_three_components_need_what_every_joint_state_says(large: None) -> None:
    found: Any = NORMAL.bound(secret_bits(3, 1, Fraction(1, 100)))
    sigma, three = float(found.randomiser.scale), [odd_one()] * 3
    p, q = (oracle.law_of_answer(three, [0, 1] * 3, 0, value) for value in (0, 1))
    excess = max(oracle.gaussian_divergence(p, q, sigma, 1), oracle.gaussian_divergence(q, p, sigma, 1))
    assert 0.00999 < float(excess) <= 0.01
    known = pooled.losses_to_who_knows(
        secret_bits(3, 1, Fraction(1, 100)), gaussian_exact._rule(secret_bits(3, 1, Fraction(1, 100))),
        pooled.Amount(Fraction(sigma), ""),
    )  # fmt: skip
    assert [m for m, _ in known] == [1, 2]
    for m, epsilon in known:
        p, q = (oracle.law_of_answer(three, [0, 1] * 3, 0, value, range(1, 1 + m)) for value in (0, 1))
        for bound, enough in ((epsilon, True), (epsilon * 0.999, False)):
            excess = max(oracle.gaussian_divergence(p, q, sigma, bound), oracle.gaussian_divergence(q, p, sigma, bound))
            assert (float(excess) <= 0.01) == enough


def excess_of_two() -> float:
    """The delta at epsilon 1 of the noise found for two components, from every joint state; 1/1000 is promised."""
    found: Any = NORMAL.bound(secret_bits(2, 1, Fraction(1, 1000)))
    both, weights = [odd_one(), odd_one()], [0, 1, 0, 1]
    p, q = (oracle.law_of_answer(both, weights, 0, value) for value in (0, 1))
    sigma = float(found.randomiser.scale)
    return float(max(oracle.gaussian_divergence(p, q, sigma, 1), oracle.gaussian_divergence(q, p, sigma, 1)))


def test_one_own_component_too_many_is_caught(large: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant counts the secret's own component among the others: its noise breaks the promise."""
    assert 0.000999 < excess_of_two() <= 0.001
    monkeypatch.setattr(others.Others, "beside", lambda self, start: tuple(kind.count for kind in self.kinds))
    monkeypatch.setattr(pooled.Pool, "most", 2)
    assert excess_of_two() > 0.0015


def test_others_under_a_wrong_secret_are_caught(large: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant takes what another piece adds given that it starts in state 1, which is wider than what it adds."""
    matrix, lengths = [[0.98, 0.02], [0.5, 0.5]], [2, 2, 2]
    drawn = joints(matrix, lengths, "stationary")

    def excess() -> float:
        belief = tf.IndependentPieces(tf.MarkovChain(matrix, 2), lengths)
        found: Any = NORMAL.bound(problem_of(belief, tf.Count(1), 1, Fraction(1, 50)))
        return oracle.normal_excess(drawn, [1] * 6, float(found.randomiser.scale), 1)

    assert 0.01999 < excess() <= 0.02
    monkeypatch.setattr(ChainMarginal, "corners", lambda self, entry: (0, [[Fraction(0), Fraction(1)]], 0.0))
    assert excess() > 0.0205


def test_what_is_not_affordable_is_not_counted_on(large: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pooled.Pool, "affordable", lambda self, rule: 0)
    found: Any = NORMAL.bound(secret_bits(2, 1, Fraction(1, 1000)))
    alone: Any = NORMAL.bound(secret_bits(1, 1, Fraction(1, 1000)))
    assert found.randomiser.scale == pytest.approx(alone.randomiser.scale, rel=1e-9)
    assert found.witness.detail.endswith(shares.ALONE)
    assert found.conditions == ()


def test_components_of_unknown_law_are_left_out(large: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(self: Any, entry: int) -> Any:
        raise Unsupported("nobody knows")

    alone: Any = NORMAL.bound(secret_bits(1, 1, Fraction(1, 1000)))
    monkeypatch.setattr(NetworkMarginal, "corners", unknown)
    found: Any = NORMAL.bound(secret_bits(2, 1, Fraction(1, 1000)))
    assert found.randomiser.scale == pytest.approx(alone.randomiser.scale, rel=1e-9)


def test_the_default_never_counts_on_what_others_know() -> None:
    """Only by name, or where nothing else is ever released."""
    for name in ("pieces", "users"):
        framework = tf.Pufferfish(tf.every_entry(), one_law(12)[name])
        usual = tf.calibrate(framework, tf.Count(1), 1, 1e-5)
        only = tf.calibrate(framework, tf.Count(1), 1, 1e-5, only_release=True)
        assert not usual.is_only_release
        assert usual.guarantee.conditions == ()
        assert only.expected_error <= usual.expected_error


@pytest.mark.parametrize("count", [2, 5])
def test_a_part_of_the_others_is_between_none_and_all(large: None, count: int) -> None:
    problem = secret_bits(count, 1, Fraction(1, 1000))
    rule, pool = gaussian_exact._rule(problem), pool_of(problem)
    sizes = [pooled.with_part(pool, rule, n).size for n in range(count)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < 0.95 * sizes[0]


def test_users_beyond_what_is_affordable_count_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    from takifugu.answer_laws import users

    def noise() -> Any:
        people = tf.IndependentUsers([{0: 0.7, 1: 0.3}] * 40)
        return NORMAL.bound(problem_of(people, tf.Count(1), 1, Fraction(1, 10**5)))

    whole = noise()
    monkeypatch.setattr(users, "MOST_WORK", 0)
    monkeypatch.setattr(users, "MOST_SEARCH", 0)
    part = noise()
    assert float(part.randomiser.scale) == pytest.approx(float(whole.randomiser.scale), rel=1e-8)
    monkeypatch.setattr(pooled.Pool, "affordable", lambda self, rule: 7)
    assert whole.randomiser.scale < noise().randomiser.scale < 3.7306317
    assert "this component and 7 of the 39 others" in noise().witness.detail


def test_noise_that_would_be_too_little_counts_on_fewer() -> None:
    """The gate refuses no noise at all; with fewer of the others there is enough to pass it."""
    framework = tf.Pufferfish(tf.every_entry(), one_law(100)["pieces"])
    bare = tf.calibrate(framework, tf.Count(1), 1, 1e-5, "gaussian-exact", allow_zero_noise=True)
    assert bare.scale == 0
    made = tf.calibrate(framework, tf.Count(1), 1, 1e-5, "gaussian-exact")
    assert 0.5 < made.scale < 3.73
    assert "of the 99 others" in made.witness.detail
    assert "they know all of them" in made.guarantee.conditions[0]
    (row,) = [row for row in tf.compare(framework, tf.Count(1), 1, 1e-5) if row.name == "gaussian-exact"]
    assert row.scale == made.scale
    assert "they know 10" in row.reason


def test_pure_noise_that_others_cannot_lower_has_no_condition() -> None:
    found: Any = LAPLACE.bound(problem_of(tf.IndependentPieces(tf.MarkovChain(BIASED, 150), [150, 150]), tf.Count(1)))
    alone: Any = LAPLACE.bound(problem_of(tf.MarkovChain(BIASED, 150), tf.Count(1)))
    assert isinstance(found, Bound)
    assert float(found.randomiser.scale) == pytest.approx(float(alone.randomiser.scale), rel=1e-9)
    assert found.conditions == ()
    assert "alone" not in found.witness.detail


def test_two_lengths_know_the_worse_of_both() -> None:
    """Who knows one of two other pieces knows the one that hurts more."""
    matrix, lengths = BIASED, [2, 1, 3]
    belief = tf.IndependentPieces(tf.MarkovChain(matrix, 3), lengths)
    problem = problem_of(belief, tf.Count(1), 1, Fraction(1, 50))
    rule = gaussian_exact._rule(problem)
    amount = pooled.least(problem, rule)
    known = dict(pooled.losses_to_who_knows(problem, rule, amount))
    drawn, sigma = joints(matrix, lengths, "stationary"), float(amount.size)
    assert sigma > 0
    assert oracle.normal_excess(drawn, [1] * 6, sigma, known[1], 1) <= 0.02
    assert oracle.normal_excess(drawn, [1] * 6, sigma, known[1] * 0.999, 1) > 0.02
    assert oracle.normal_excess(drawn, [1] * 6, sigma, known[2], 2) <= 0.02


def test_users_who_know_each_other() -> None:
    """Every user against one, and against both of the others, from every joint state."""
    chance = Fraction(3, 10)
    problem = problem_of(tf.IndependentUsers([{0: 1 - chance, 1: chance}] * 3), tf.Count(1), 1, Fraction(1, 20))
    rule = gaussian_exact._rule(problem)
    amount = pooled.least(problem, rule)
    drawn, sigma = [{(0,): 1 - chance, (1,): chance}] * 3, float(amount.size)
    assert oracle.normal_excess(drawn, [1] * 3, sigma, 1) == pytest.approx(0.05, rel=1e-6)
    for known, epsilon in pooled.losses_to_who_knows(problem, rule, amount):
        assert oracle.normal_excess(drawn, [1] * 3, sigma, epsilon, known) <= 0.05
        assert oracle.normal_excess(drawn, [1] * 3, sigma, epsilon * 0.999, known) > 0.05


def test_small_masses_of_others_keep_their_accuracy() -> None:
    rare = tf.IndependentPieces(tf.MarkovChain([[1 - 1e-9, 1e-9], [0.5, 0.5]], 3), [3] * 300)
    found = pool_of(problem_of(rare, tf.Count(1))).beliefs[0]
    (sums,) = found.sums((299,))
    orders = sums.numbers.exponents[sums.numbers.mantissas > 0]
    assert len(sums) == 898
    assert len(orders) == 898
    assert orders.min() < -2000
    assert sums.error < 1e-9
    assert math.isclose(float(sums.numbers.floats(0).sum()), 1.0, rel_tol=1e-12)


@pytest.mark.parametrize("spare", [1e-2, 1e-6, 1e-15])
def test_a_sum_lacks_no_more_than_it_may(spare: float) -> None:
    """Against all of it: every kept mass is no larger, and all that is lost is within what is spared."""
    mixed = tf.IndependentPieces(tf.MarkovChain(BIASED, 5), [5] * 20 + [3] * 9 + [1] * 33)
    found = pool_of(problem_of(mixed, tf.Count(1))).beliefs[0]
    counts = found.beside(0)
    (whole,), (cut,) = found.sums(counts), found.sums(counts, spare)
    first = cut.start - whole.start
    kept = whole.numbers.floats(0)[first : first + len(cut)]
    assert len(cut) < len(whole)
    assert (cut.numbers.floats(0) <= kept * (1 + 1e-12)).all()
    lost = math.fsum(whole.numbers.floats(0)[:first]) + math.fsum(whole.numbers.floats(0)[first + len(cut) :])
    assert lost + math.fsum(kept - cut.numbers.floats(0)) <= spare * (1 + 1e-9) + 1e-16


def test_what_is_spared_is_paid_by_delta(large: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """With half of delta to spare the laws are cut where it shows, and the promise holds all the same."""
    monkeypatch.setattr(gaussian_exact, "SPARE", Fraction(1, 2))
    monkeypatch.setattr(others, "LEVELS", 3)
    matrix, lengths, delta = [[0.5, 0.5], [0.5, 0.5]], [1] * 7, Fraction(3, 10)
    belief = tf.IndependentPieces(tf.MarkovChain(matrix, 1), lengths)
    problem = problem_of(belief, tf.Count(1), "1/10", delta)
    (cut,) = pool_of(problem).beliefs[0].sums((6,), 0.15)
    assert len(cut) == 5
    found: Any = NORMAL.bound(problem)
    ((p, q), *_) = oracle.pairs_of_laws(joints(matrix, lengths, "stationary"), [1] * 7)
    sigma = float(found.randomiser.scale)
    excess = max(oracle.gaussian_divergence(p, q, sigma, 0.1), oracle.gaussian_divergence(q, p, sigma, 0.1))
    assert excess <= 0.3
    monkeypatch.setattr(pooled.Pool, "_with", lambda *given: (replace(x, spare=Fraction(0)) for x in WITH(*given)))
    loose: Any = NORMAL.bound(problem_of(belief, tf.Count(1), "1/10", delta))  # the mutant does not pay
    assert loose.randomiser.scale < 0.95 * found.randomiser.scale
