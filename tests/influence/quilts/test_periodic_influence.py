"""Quilts of chains whose matrices repeat after a period, against every joint state and against one matrix."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.periodic_cases import Case, periodic
from tests.support.periodic_oracles import joint_cost_of_steps, joint_of_steps, tensor_of
from tests.support.quilt_cases import problem, scale
from tests.support.quilt_influence import influences, nodes, ready
from tests.support.quilt_oracles import joint_quilt_cost, max_influence, possible

import takifugu as tf
from takifugu.analysis.questions.influence import joint_cost
from takifugu.influence.quilts.chain import influence as module
from takifugu.influence.quilts.chain.influence import ChainInfluence, chain_influence
from takifugu.influence.quilts.chain.search import around_influence
from takifugu.mechanisms.quilts import APPROX as QUILT_APPROX
from takifugu.model.beliefs.chains.chain import MarkovChain
from takifugu.model.beliefs.chains.periodic_chain import PeriodicChain

DAY, NIGHT = [[0.8, 0.2], [0.3, 0.7]], [[0.95, 0.05], [0.6, 0.4]]


def quilts(influence: ChainInfluence, length: int, entry: int) -> list[tuple[int | None, int | None]]:
    lefts, rights = [None, *range(1, entry + 1)], [None, *range(1, length - entry)]
    return [(a, b) for a in lefts for b in rights if max(a or 0, b or 0) <= influence.reach]


@settings(max_examples=60, deadline=None)
@given(periodic(starts=("given",)))
def test_influence_is_that_of_the_joint_law_whatever_the_zeros(case: Case) -> None:
    joint, influence = tensor_of(case.joints[0], len(case.chain.states)), ready(case.chain)
    for entry in range(case.chain.length):
        assert possible(joint, entry) == [v for v, can in enumerate(case.chain.possible(entry)) if can]
        if len(possible(joint, entry)) < 2:
            continue
        for left, right in quilts(influence, case.chain.length, entry):
            true = max_influence(joint, nodes(entry, left, right), entry)
            here, tried = influences(influence, entry, left, right)
            assert here == true if math.isinf(true) else true - 1e-12 <= here <= true + 1e-11
            assert tried >= true - 1e-12


@settings(max_examples=40, deadline=None)
@given(periodic(starts=("stationary",), zeros=False))
def test_stationary_influence_is_that_of_the_joint_law(case: Case) -> None:
    joint, influence = tensor_of(case.joints[0], len(case.chain.states)), ready(case.chain)
    for entry in range(case.chain.length):
        for left, right in quilts(influence, case.chain.length, entry):
            true = max_influence(joint, nodes(entry, left, right), entry)
            here, tried = influences(influence, entry, left, right)
            assert true - 1e-12 <= here <= true + 1e-11
            assert here == pytest.approx(tried, abs=1e-15)


@settings(max_examples=30, deadline=None)
@given(periodic(length=(1, 5), starts=("any",)), st.integers(0, 2**32 - 1))
def test_any_start_covers_every_start_and_is_reached(case: Case, seed: int) -> None:
    k, rng = len(case.chain.states), np.random.default_rng(seed)
    nearly = [(1 - 1e-9 * k) * np.eye(k)[u] + 1e-9 for u in range(k)]
    points = [tensor_of(joint, k) for joint in case.joints]
    joints = [np.tensordot(law, np.array(points), 1) for law in (*np.eye(k), *nearly, *rng.dirichlet(np.ones(k), 4))]
    influence = ready(case.chain)
    for entry in range(case.chain.length):
        for left, right in quilts(influence, case.chain.length, entry):
            seen = [max_influence(joint, nodes(entry, left, right), entry) for joint in joints]
            here, tried = influences(influence, entry, left, right)
            assert tried >= here - 1e-12
            assert here >= max(seen) - 1e-9
            assert max(seen) >= (here - 1e-5 if math.isfinite(here) else 12)


@settings(max_examples=25, deadline=None)
@given(periodic(length=(1, 5), starts=("given", "stationary")), st.sampled_from(["1/2", "2", "7/3"]))
def test_joint_cost_is_the_least_over_all_subsets_of_entries(case: Case, b: str) -> None:
    joint = tensor_of(case.joints[0], len(case.chain.states))
    if not any(len(possible(joint, i)) > 1 for i in range(joint.ndim)):
        return
    part = problem(case.chain, tf.Count(1), 1).parts[0]
    changes = part.answer.entry_changes()
    expected = joint_quilt_cost(joint, [(changes.tolist(), float(Fraction(b)))])
    cost = joint_cost(part, [(changes, Fraction(b))])[0]
    assert cost == pytest.approx(expected, rel=1e-9, abs=1e-10)
    assert cost >= expected * (1 - 1e-12)


@pytest.mark.parametrize("initial", ["stationary", "any", [0.2, 0.8]])
def test_a_long_recording_costs_what_every_entry_by_itself_says(initial: Any) -> None:
    order = [0, 0, 1, 1, 1, 0]
    for start in (0, 2, 5):
        chain = PeriodicChain([NIGHT, DAY], 30, order, start, initial)
        steps = [np.array([NIGHT, DAY][order[(start + t) % 6]]) for t in range(29)]
        law = None if initial == "any" else chain.marginal(0)
        part = problem(chain, tf.Count(1), 1).parts[0]
        for b in (Fraction(2), Fraction(8), Fraction(30)):
            expected = joint_cost_of_steps(steps, law, np.full(30, float(1 / b)))
            cost = joint_cost(part, [(part.answer.entry_changes(), b)])[0]
            assert cost == pytest.approx(expected, rel=1e-9)
            assert cost >= expected * (1 - 1e-12)


@pytest.mark.parametrize("initial", ["stationary", "any", [0.2, 0.5, 0.3]])
@pytest.mark.parametrize("length", [1, 7, 200])
def test_a_period_of_one_step_is_a_chain_with_one_matrix(initial: Any, length: int) -> None:
    matrix = [[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]]
    one, same = MarkovChain(matrix, length, initial), PeriodicChain([matrix], length, [0] * 12, 5, initial)
    assert same.period == 1
    for query in (tf.Count(1), tf.Histogram()):
        for epsilon in ("1/10", 1, 4):
            assert scale(one, query, epsilon) == scale(same, query, epsilon)
    both = ready(one), ready(same)
    assert (both[0].left(length - 1, length - 1) == both[1].left(length - 1, length - 1)).all()


def test_equal_matrices_written_apart_are_one_matrix() -> None:
    one, same = MarkovChain(DAY, 300), PeriodicChain([DAY, DAY], 300, [0, 1, 1])
    assert same.period == 3
    assert float(scale(one, tf.Count(1), 1)) == pytest.approx(float(scale(same, tf.Count(1), 1)), rel=1e-11)


def test_entries_a_period_apart_have_the_same_influence() -> None:
    influence = ready(PeriodicChain([NIGHT, DAY], 400, [0] * 7 + [1] * 15 + [0] * 2))
    for phase in range(24):
        near, far = influences(influence, 96 + phase, 30, 20), influences(influence, 288 + phase, 30, 20)
        assert near == far
    assert len({influences(influence, 96 + phase, 5, 5) for phase in range(24)}) > 5


def test_a_search_that_ignores_the_phase_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = PeriodicChain([NIGHT, DAY], 6, [0, 0, 1])
    joint = joint_cost_of_steps([np.array([NIGHT, DAY][[0, 0, 1][t % 3]]) for t in range(5)], chain.marginal(0),
                                np.full(6, 0.25))  # fmt: skip
    part = problem(chain, tf.Count(1), 1).parts[0]

    def cost() -> float:
        return joint_cost(part, [(part.answer.entry_changes(), Fraction(4))])[0]

    assert cost() == pytest.approx(joint, rel=1e-12)
    right = ChainInfluence.right
    monkeypatch.setattr(ChainInfluence, "right", lambda self, count, entry=0: right(self, count, 0))
    assert abs(cost() - joint) > 1e-3
    monkeypatch.undo()
    monkeypatch.setattr(module.np, "roll", lambda steps, by, axis=0: steps)
    assert abs(influences(ready(chain), 2, 2, 2)[0] - max_influence_of(chain, 2, 2, 2)) > 1e-3


def max_influence_of(chain: PeriodicChain, entry: int, left: int, right: int) -> float:
    steps = [[[Fraction(p) for p in row] for row in matrix] for matrix in chain.step_matrices.tolist()]
    law = [Fraction(p) for p in chain.marginal(0).tolist()]
    joint = joint_of_steps([steps[t % len(steps)] for t in range(chain.length - 1)], law)
    return max_influence(tensor_of(joint, 2), [entry - left, entry + right], entry)


def test_bounds_around_the_matrices_cover_the_exact_influence() -> None:
    chain = PeriodicChain([NIGHT, DAY, [[0.5, 0.5], [0.2, 0.8]]], 60, [0, 1, 2, 2, 1])
    exact, bounded = ready(chain), around_influence(chain)
    bounded.extend(30)
    for entry in range(25, 35):
        for left, right in ((1, 1), (3, 2), (10, 12), (None, 4), (6, None)):
            worst = bounded.largest(np.array([entry]), left, right)[0]
            assert worst >= influences(exact, entry, left, right)[0]
    assert scale(chain, tf.Count(1), 1) < scale(chain, tf.Count(1), 1, QUILT_APPROX)


def test_tables_are_shared_by_chains_that_differ_in_length_only() -> None:
    short = PeriodicChain([NIGHT, DAY], 10, [0, 0, 1])
    assert chain_influence(short) is chain_influence(short.with_length(500))
    assert chain_influence(short) is chain_influence(short.from_step(3, 10))
    assert chain_influence(short) is not chain_influence(short.from_step(1, 10))


def test_a_chain_that_never_forgets_ends_the_search() -> None:
    ring = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    influence = ChainInfluence(PeriodicChain([ring, np.eye(3)], 10**5, [0, 1, 1]), [(0, 1), (1, 2), (0, 2)])
    influence.extend(10**5)
    assert influence.exhausted
    assert influence.reach < 20_000
