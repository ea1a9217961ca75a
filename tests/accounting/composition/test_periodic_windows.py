"""Windows of a recording whose matrices repeat after a period: each window's place says in which phase it starts."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.periodic_oracles import joint_cost_of_steps, joint_of_steps, periodic_law, steps_of, tensor_of
from tests.support.quilt_oracles import joint_quilt_cost
from tests.support.window_oracles import step_costs, true_window_loss

import takifugu as tf
from takifugu.accounting.composition import Charge, charge_of, joint
from takifugu.accounting.composition import alignment as aligned
from takifugu.accounting.composition.piling import Windows, piled
from takifugu.influence.stretched import stretched_loss
from takifugu.model.frameworks import Framework

ROWS = [Fraction(1, 10), Fraction(3, 10), Fraction(3, 5), Fraction(9, 10)]
DAY, NIGHT = [[0.8, 0.2], [0.3, 0.7]], [[0.95, 0.05], [0.6, 0.4]]
BY_HOUR = [0] * 7 + [1] * 15 + [0] * 2


def window(
    chain: Any, start: int, length: int, epsilon: Any = "1/2", at: int = 0, mechanism: str = "quilt-exact"
) -> tuple[Framework, Charge]:
    framework = tf.Pufferfish(tf.every_entry(), chain.from_step(start, length))
    calibration = tf.calibrate(framework, tf.Count(1), epsilon, mechanism=mechanism)
    return framework, replace(charge_of(calibration), at=at + start, calendar="hours")


@st.composite
def calendars(draw: st.DrawFn) -> Any:
    """Draw two or three matrices, which step has which, and up to 4 windows of 8 steps: overlapping, with gaps."""
    numbers = draw(st.lists(st.integers(0, 2), min_size=1, max_size=4))
    used = sorted(set(numbers))
    rows = st.lists(st.sampled_from(ROWS), min_size=2, max_size=2)
    matrices = [[[p, 1 - p] for p in draw(rows)] for _ in used]
    windows = []
    for _ in range(draw(st.integers(1, 4))):
        size = draw(st.integers(1, 4))
        windows.append((draw(st.integers(0, 8 - size)), size, draw(st.sampled_from(["1/4", "1/2", "1", "2"]))))
    return matrices, [used.index(n) for n in numbers], draw(st.sampled_from(["stationary", "any"])), windows


@settings(max_examples=40, deadline=None)
@given(calendars())
def test_the_true_loss_is_at_most_what_windows_cost_and_that_at_most_a_whole_change(case: Any) -> None:
    matrices, matrix_of, initial, windows = case
    chain = tf.PeriodicChain(matrices, 8, matrix_of, 0, initial)
    made = [window(chain, *one, at=1000) for one in windows]
    charges = [charge for _, charge in made]
    total = max(joint(framework, charges).epsilon for framework, _ in made)
    first, size = min(start for start, *_ in windows), max(start + n for start, n, _ in windows)
    steps = steps_of(matrices, matrix_of, first, size - first - 1)
    noisy_windows = [(start - first, n, float(c.scale or 0)) for (start, n, _), c in zip(windows, charges, strict=True)]
    law = periodic_law(matrices, matrix_of[: chain.period], first)
    laws = [law] if initial == "stationary" else [[Fraction(1, 2)] * 2, [Fraction(1, 1000), Fraction(999, 1000)]]
    for one in laws:
        paths = {path: float(mass) for path, mass in joint_of_steps(steps, one).items()}
        assert true_window_loss(paths, noisy_windows) <= total + 1e-9
    alone = max(Fraction(epsilon) for *_, epsilon in windows)
    whole = sum((Fraction(n) / (c.scale or 1) for (_, n, _), c in zip(windows, charges, strict=True)), Fraction(0))
    assert total <= max(whole, alone)
    if initial == "stationary":
        moved = [([float(s <= i < s + n) for i in range(size - first)], scale) for s, n, scale in noisy_windows]
        expected = max(joint_quilt_cost(tensor_of(joint_of_steps(steps, law), 2), moved), float(alone))
        assert total <= expected * (1 + 1e-9)  # of all quilts


@settings(max_examples=25, deadline=None)
@given(calendars())
def test_a_later_window_never_makes_the_total_smaller(case: Any) -> None:
    matrices, matrix_of, initial, windows = case
    windows = sorted(windows)  # an earlier one says that a recording of any start began before
    chain = tf.PeriodicChain(matrices, 8, matrix_of, 0, initial)
    charges: list[Charge] = []
    framework, before = window(chain, *windows[0])[0], Fraction(0)
    for one in windows:
        charges.append(window(chain, *one)[1])
        now = joint(framework, charges).epsilon
        assert now >= before
        before = now


@settings(max_examples=12, deadline=None)
@given(
    st.lists(st.lists(st.floats(0.1, 0.9), min_size=2, max_size=2), min_size=1, max_size=3),
    st.sampled_from(["stationary", "any"]),
    st.lists(
        st.tuples(st.integers(0, 40), st.integers(1, 170), st.integers(1, 2), st.sampled_from([3, 20, 100])),
        min_size=1, max_size=2,
    ),
)  # fmt: skip
def test_no_quilt_of_any_step_costs_less(stays: Any, initial: str, drawn: Any) -> None:
    matrices = [[[a, 1 - a], [1 - b, b]] for a, b in stays]
    matrix_of = [n % len(matrices) for n in (0, 1, 1, 2, 0)]
    first = min(start for start, *_ in drawn)
    weights = [np.full(n, d, dtype=np.int64) for _, n, d, _ in drawn]
    rates = [[(Fraction(1, b), 1)] for *_, b in drawn]
    drawn_windows = [Windows(np.array([one[0]]), w, r) for one, w, r in zip(drawn, weights, rates, strict=True)]
    whole, unit = piled(drawn_windows)
    chain = tf.PeriodicChain(matrices[: 1 + max(matrix_of)], whole.size, matrix_of, 0, initial)
    loss = stretched_loss(chain, None, whole, unit)
    cost = whole.total * unit if loss is None else min(whole.total * unit, loss[0])
    assert cost > 0
    if 1 < whole.size < 40 and initial != "any":
        costs = step_costs(whole.size, [(start - first, [d] * n, b) for start, n, d, b in drawn])
        steps = [np.array(matrices[matrix_of[t % 5]]) for t in range(whole.size - 1)]
        assert float(cost) <= joint_cost_of_steps(steps, chain.marginal(0), costs) * (1 + 1e-8)


def test_weeks_apart_cost_one_week_and_windows_of_other_phases_are_told_apart() -> None:
    chain = tf.PeriodicChain([NIGHT, DAY], 168, BY_HOUR)
    framework, charge = window(chain, 0, 168)
    year = [replace(charge, at=168 * week) for week in range(52)]
    assert joint(framework, year).epsilon == joint(framework, year[:1]).epsilon < Fraction(1, 2)
    evenings = [window(chain, 24 * day + 17, 7, "1/4", 0, "influence")[1] for day in range(20)]
    nights = [window(chain, 24 * day, 7, "1/4", 0, "influence")[1] for day in range(20)]
    assert evenings[0].framework != nights[0].framework == nights[1].framework
    late = window(chain, 17, 7, "1/4")[0]
    one = [joint(late, [evenings[0], night]).epsilon for night in nights]
    assert float(one[0]) > float(one[5]) == pytest.approx(0.25, rel=1e-11)


def test_places_that_contradict_the_period_are_charged_at_the_worst_ones() -> None:
    chain = tf.PeriodicChain([NIGHT, DAY], 168, BY_HOUR)
    framework, charge = window(chain, 0, 168)
    shifted = [replace(charge, at=0), replace(charge, at=167)]  # both are said to start at midnight
    apart = joint(framework, [replace(charge, at=0), replace(charge, at=168)]).epsilon
    assert apart == joint(framework, [charge]).epsilon < joint(framework, shifted).epsilon
    anywhere = [replace(charge, at=None, calendar="")] * 2
    assert joint(framework, shifted).epsilon == joint(framework, anywhere).epsilon


def test_a_window_of_unknown_place_is_charged_at_the_worst_one_of_every_phase() -> None:
    chain = tf.PeriodicChain([NIGHT, DAY], 168, BY_HOUR)
    framework, charge = window(chain, 0, 168)
    anywhere = [replace(charge, at=None, calendar="")] * 2
    cost = joint(framework, anywhere).epsilon
    placed = [
        joint(framework, [charge, replace(window(chain, start, 168)[1], at=start)]).epsilon for start in range(0, 48, 7)
    ]
    assert max(placed) <= cost < 2 * Fraction(168) / (charge.scale or 1)
    loose = tf.PeriodicChain([NIGHT, DAY], 168, BY_HOUR, initial="any")
    framework, charge = window(loose, 0, 168)
    anywhere = [replace(charge, at=None, calendar="")] * 2
    starts = [window(loose, start, 168) for start in range(0, 48, 7)]
    placed = [joint(about, [charge, replace(one, at=start)]).epsilon for start, (about, one) in enumerate(starts)]
    most = joint(framework, anywhere).epsilon * (1 + Fraction(1, 10**6))  # both are searched
    assert max(placed) <= most < 2 * Fraction(168) / (charge.scale or 1)


def test_composition_that_forgets_the_phase_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    sure, loose = [[0.99, 0.01], [0.01, 0.99]], [[0.5, 0.5], [0.5, 0.5]]
    chain = tf.PeriodicChain([sure, loose], 4, [0, 0, 0, 1])
    frameworks, charges = zip(*[window(chain, 3, 2, at=0), window(chain, 4, 3, at=0)], strict=True)
    right = joint(frameworks[1], list(charges)).epsilon
    monkeypatch.setattr(aligned, "_steps_before", lambda view, belief, items: 0)
    wrong = joint(tf.Pufferfish(tf.every_entry(), chain.from_step(4, 3)), list(charges)).epsilon
    assert right != wrong
