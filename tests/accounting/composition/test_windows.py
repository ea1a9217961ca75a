"""Windows of one recording with declared places: against all joint states, against all steps, and as they add up."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.chain_oracles import Joint, exact_rows, joint_law, stationary_vector
from tests.support.ledger_tools import laplace
from tests.support.periodic_oracles import joint_cost_of_steps, joint_of_steps, periodic_law, steps_of, tensor_of
from tests.support.quilt_oracles import joint_quilt_cost
from tests.support.window_oracles import STARTS, long_quilt_cost, step_costs, true_window_loss

import takifugu as tf
from takifugu.accounting.composition import Charge, charge_of, joint
from takifugu.accounting.composition.piling import Windows, piled
from takifugu.accounting.composition.several import BITS, merged
from takifugu.analysis.guarantee import Covers
from takifugu.influence.stretched import stretched_loss
from takifugu.model.frameworks import Framework
from takifugu.numbers.runs import Runs

ROWS = [0.1, 0.3, 0.6, 0.9]
def weekly(matrix: Any, length: int, initial: Any = "stationary", epsilon: Any = "1/2") -> tuple[Framework, Charge]:
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain(matrix, length, initial))
    return framework, charge_of(tf.calibrate(framework, tf.Count(1), epsilon, mechanism="quilt-exact"))


def windows_of(draw: st.DrawFn) -> list[tuple[int, int, str]]:
    """Draw up to 4 windows of 8 steps, with an epsilon each: overlapping, with gaps."""
    windows = []
    for _ in range(draw(st.integers(1, 4))):
        size = draw(st.integers(1, 4))
        windows.append((draw(st.integers(0, 8 - size)), size, draw(st.sampled_from(["1/4", "1/2", "1", "2"]))))
    return windows


@st.composite
def calendars(draw: st.DrawFn) -> Any:
    """Draw a chain of up to 8 steps, and windows of it, with any start."""
    rows = [[p, 1 - p] for p in draw(st.lists(st.sampled_from(ROWS), min_size=2, max_size=2))]
    return rows, draw(st.sampled_from(["stationary", "any"])), windows_of(draw)


def assert_bounded(
    made: Sequence[tuple[Framework, Charge]], windows: Sequence[Any], joint_of: Callable[[Any], Joint], laws: Any
) -> None:
    """Assert that windows of a recording cost their true loss, and at most a whole change, or what quilts say.

    `joint_of` is the joint law of the steps from the first window on, whose first one has one of the laws.
    """
    charges = [charge for _, charge in made]
    total = max(joint(framework, charges).epsilon for framework, _ in made)
    first = min(start for start, *_ in windows)
    noisy_windows = [(start - first, n, float(c.scale or 0)) for (start, n, _), c in zip(windows, charges, strict=True)]
    for law in laws:
        paths = {path: float(mass) for path, mass in joint_of(law).items() if mass}
        assert true_window_loss(paths, noisy_windows) <= total + 1e-9
    alone = max(Fraction(epsilon) for *_, epsilon in windows)
    whole = sum((Fraction(n) / (c.scale or 1) for (_, n, _), c in zip(windows, charges, strict=True)), Fraction(0))
    assert total <= max(whole, alone)  # a promise is rounded up at most once
    if len(laws) == 1:
        size = span(windows)[1]
        moved = [([float(s <= i < s + n) for i in range(size)], scale) for s, n, scale in noisy_windows]
        expected = max(joint_quilt_cost(tensor_of(joint_of(laws[0]), 2), moved), float(alone))
        assert total <= expected * (1 + 1e-9)  # of all quilts


def span(windows: Sequence[Any]) -> tuple[int, int]:
    """Return where the first window starts, and how many steps there are from it to the end of the last one."""
    first = min(start for start, *_ in windows)
    return first, max(start + n for start, n, *_ in windows) - first


@settings(max_examples=40, deadline=None)
@given(calendars())
def test_the_true_loss_is_at_most_what_windows_cost_and_that_at_most_a_whole_change(case: Any) -> None:
    rows, initial, windows = case
    made = []
    for start, size, epsilon in windows:
        framework, charge = weekly(rows, size, initial, epsilon)
        made.append((framework, replace(charge, at=1000 + start)))
    exact, (_, steps) = exact_rows(rows), span(windows)
    laws = [stationary_vector(exact)] if initial == "stationary" else STARTS
    assert_bounded(made, windows, lambda law: joint_law(exact, steps, law), laws)


def cost_of(belief: Any, whole: Runs, unit: Fraction) -> Fraction:
    loss = stretched_loss(belief, None, whole, unit, True)
    return whole.total * unit if loss is None else min(whole.total * unit, loss[0])


def piled_up(drawn: Sequence[tuple[int, int, int, int]]) -> tuple[Runs, Fraction, Any]:
    """Return windows (start, length, move, scale) on top of each other, and the cost of each step by definition."""
    first = min(start for start, *_ in drawn)
    alone = [Windows(np.array([start]), np.full(n, d), [(Fraction(1, b), 1)]) for start, n, d, b in drawn]
    whole, unit = piled(alone)
    return whole, unit, step_costs(whole.size, [(start - first, [d] * n, b) for start, n, d, b in drawn])


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.floats(0.05, 0.95), min_size=2, max_size=2),
    st.lists(
        st.tuples(st.integers(0, 120), st.integers(1, 260), st.integers(1, 2), st.sampled_from([3, 20, 100])),
        min_size=1, max_size=3,
    ),
)  # fmt: skip
def test_no_quilt_of_any_step_costs_less(stay: list[float], drawn: Any) -> None:
    matrix = [[stay[0], 1 - stay[0]], [1 - stay[1], stay[1]]]
    whole, unit, costs = piled_up(drawn)
    stationary = cost_of(tf.MarkovChain(matrix, whole.size), whole, unit)
    assert float(stationary) <= long_quilt_cost(matrix, costs) * (1 + 1e-8)
    assert stationary <= cost_of(tf.MarkovChain(matrix, whole.size, "any"), whole, unit) * (1 + Fraction(1, 10**9))


@pytest.mark.parametrize(
    ("matrix", "cost"), [([[0.9, 0.1], [0.4, 0.6]], 0.5), ([[0.99, 0.01], [0.02, 0.98]], 0.858580069926)]
)
def test_twelve_weeks_of_hours_cost_what_the_plan_says(matrix: Any, cost: float) -> None:
    framework, charge = weekly(matrix, 168)
    year = [replace(charge, at=168 * week) for week in range(12)]
    assert float(joint(framework, year).epsilon) <= cost * (1 + 1e-11)


def test_windows_are_piled_up_exactly_where_they_have_one_rate_and_never_too_low() -> None:
    rng = np.random.default_rng(7)
    for _ in range(80):
        drawn = []
        for _ in range(int(rng.integers(1, 6))):
            starts = np.sort(rng.choice(30, int(rng.integers(1, 6)), replace=False))
            cuts = np.sort(rng.integers(0, len(starts) + 1, size=2))
            times = np.diff([0, *cuts, len(starts)]).tolist()
            rates = [(Fraction(int(rng.integers(1, 9)), 7), n) for n in times if n]
            changes, unit = rng.integers(0, 3, size=int(rng.integers(1, 9))), Fraction(1, int(rng.integers(1, 3)))
            drawn.append(Windows(starts, changes, [(rate / unit, times) for rate, times in rates], unit))
        (steps, unit_of_all), first = piled(drawn), min(int(one.starts[0]) for one in drawn)
        costs = [Fraction(0)] * (max(int(one.starts[-1]) + len(one.changes) for one in drawn) - first)
        for one in drawn:
            each_rate = [rate * one.unit for rate, times in one.rates for _ in range(times)]
            for (start, rate), (offset, change) in itertools.product(
                zip(one.starts, each_rate, strict=True), enumerate(one.changes.tolist())
            ):
                costs[int(start) - first + offset] += change * rate
        each = [int(value) * unit_of_all for value in steps.numbers]
        assert len(each) == len(costs)
        assert all(a != b for a, b in itertools.pairwise(steps.values.tolist()))
        is_exact = len({rate * one.unit for one in drawn for rate, _ in one.rates}) == 1
        little = 0 if is_exact else Fraction(1, 10**14)
        assert all(cost <= step <= cost + little for step, cost in zip(each, costs, strict=True))
        assert piled(drawn, first - 4)[0].lengths[0] >= 4


def added_by_hand(charges: Sequence[Charge]) -> dict[int, tuple[int, Fraction, Fraction]]:
    """Return of each place how many releases, and the sums of what one entry moves over the scale, and of epsilons."""
    sums: dict[int, tuple[int, Fraction, Fraction]] = {}
    for one in charges:
        times, rate, epsilon = sums.get(one.at or 0, (0, Fraction(0), Fraction(0)))
        sums[one.at or 0] = times + 1, rate + (one.entry_change or 0) / (one.scale or 1), epsilon + one.epsilon
    return sums


def noise(random: np.random.Generator, kind: str) -> Fraction:
    """Return always the same, or one of many, or one of those whose sums are soon too long to be exact."""
    if kind == "few":
        return Fraction(1, 3)
    up, down = random.integers(10**17, 10**18, size=2).tolist() if kind == "long" else random.integers(9, 60, size=2)
    return Fraction(int(up), int(down)) ** (3 if kind == "long" else 1)


@pytest.mark.parametrize("kind", ["few", "many", "long"])
@pytest.mark.parametrize("seed", range(3))
def test_windows_hold_what_the_releases_at_each_place_add_up_to(seed: int, kind: str) -> None:
    """Of a query of which one entry moves two cells; in whatever order."""
    random = np.random.default_rng(seed)
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 5))
    one = charge_of(laplace(framework, tf.Histogram(), 6, Covers.ENTRIES))
    places = [int(place) for place in random.integers(25 if kind == "many" else 14, size=50)]
    charges = [replace(one, at=at, scale=noise(random, kind), epsilon=noise(random, kind)) for at in places]
    released = [*charges, *charges[:3]]
    held = merged(released)
    assert held == merged(released[::-1])
    known, short = added_by_hand(released), Fraction(len(released), 2**BITS)
    (whole,) = held
    assert sorted(place for place, _ in whole.windows) == sorted(known)
    for place, cost in whole.windows:
        times, rate, epsilon = known[place]
        assert cost.rates is not None
        assert cost.times == times
        assert rate <= cost.rates.value <= rate + short
        assert epsilon <= cost.promised.value <= epsilon + short
        assert kind == "long" or (rate, epsilon) == (cost.rates.value, cost.promised.value)
    assert whole.cost.rates is not None
    assert (whole.cost.times, whole.at) == (len(released), whole.places[0])
    assert sum(rate for _, rate, _ in known.values()) <= whole.cost.rates.value


# Windows of a recording whose matrices repeat after a period: each window's place says in which phase it starts.


SHARES = [Fraction(1, 10), Fraction(3, 10), Fraction(3, 5), Fraction(9, 10)]
DAY, NIGHT = [[0.8, 0.2], [0.3, 0.7]], [[0.95, 0.05], [0.6, 0.4]]
BY_HOUR = [0] * 7 + [1] * 15 + [0] * 2
WEEK = tf.PeriodicChain([NIGHT, DAY], 168, BY_HOUR)


def window(
    chain: Any, start: int, length: int, epsilon: Any = "1/2", at: int = 0, mechanism: str = "quilt-exact"
) -> tuple[Framework, Charge]:
    framework = tf.Pufferfish(tf.every_entry(), chain.from_step(start, length))
    calibration = tf.calibrate(framework, tf.Count(1), epsilon, mechanism=mechanism)
    return framework, replace(charge_of(calibration), at=at + start)


@st.composite
def periodic_calendars(draw: st.DrawFn) -> Any:
    """Draw two or three matrices, which step has which, and windows."""
    numbers = draw(st.lists(st.integers(0, 2), min_size=1, max_size=4))
    used = sorted(set(numbers))
    rows = st.lists(st.sampled_from(SHARES), min_size=2, max_size=2)
    matrices = [[[p, 1 - p] for p in draw(rows)] for _ in used]
    start = draw(st.sampled_from(["stationary", "any"]))
    return matrices, [used.index(n) for n in numbers], start, windows_of(draw)


@pytest.mark.mutants
@settings(max_examples=40, deadline=None)
@given(periodic_calendars())
def test_the_true_loss_is_at_most_what_windows_in_a_phase_cost(case: Any) -> None:
    matrices, matrix_of, initial, windows = case
    chain = tf.PeriodicChain(matrices, 8, matrix_of, 0, initial)
    made = [window(chain, *one, at=1000) for one in windows]
    first, size = span(windows)
    steps = steps_of(matrices, matrix_of, first, size - 1)
    laws = [periodic_law(matrices, matrix_of[: chain.period], first)] if initial == "stationary" else STARTS
    assert_bounded(made, windows, lambda law: joint_of_steps(steps, law), laws)


@settings(max_examples=12, deadline=None)
@given(
    st.lists(st.lists(st.floats(0.1, 0.9), min_size=2, max_size=2), min_size=1, max_size=3),
    st.sampled_from(["stationary", "any"]),
    st.lists(
        st.tuples(st.integers(0, 40), st.integers(1, 170), st.integers(1, 2), st.sampled_from([3, 20, 100])),
        min_size=1, max_size=2,
    ),
)  # fmt: skip
def test_no_quilt_of_any_step_in_a_phase_costs_less(stays: Any, initial: str, drawn: Any) -> None:
    matrices = [[[a, 1 - a], [1 - b, b]] for a, b in stays]
    matrix_of = [n % len(matrices) for n in (0, 1, 1, 2, 0)]
    whole, unit, costs = piled_up(drawn)
    chain = tf.PeriodicChain(matrices[: 1 + max(matrix_of)], whole.size, matrix_of, 0, initial)
    cost = cost_of(chain, whole, unit)
    assert cost > 0
    if 1 < whole.size < 40 and initial != "any":
        steps = [np.array(matrices[matrix_of[t % 5]]) for t in range(whole.size - 1)]
        assert float(cost) <= joint_cost_of_steps(steps, chain.marginal(0), costs) * (1 + 1e-8)


@pytest.mark.mutants
def test_weeks_apart_cost_one_week_and_windows_of_other_phases_are_told_apart() -> None:
    framework, charge = window(WEEK, 0, 168)
    year = [replace(charge, at=168 * week) for week in range(52)]
    assert joint(framework, year).epsilon == joint(framework, year[:1]).epsilon < Fraction(1, 2)
    evenings = [window(WEEK, 24 * day + 17, 7, "1/4", 0, "influence")[1] for day in range(6)]
    nights = [window(WEEK, 24 * day, 7, "1/4", 0, "influence")[1] for day in range(6)]
    assert evenings[0].framework != nights[0].framework == nights[1].framework
    late = window(WEEK, 17, 7, "1/4")[0]
    one = [joint(late, [evenings[0], night]).epsilon for night in nights]
    assert float(one[0]) > float(one[5]) == pytest.approx(0.25, rel=1e-11)


def test_of_windows_that_contradict_the_period_those_of_one_phase_count_beside_whole_changes() -> None:
    """All are said to start at midnight. For each phase those of another one may have changed as a whole."""
    framework, charge = window(WEEK, 0, 168)
    calibration = tf.calibrate(framework, tf.Count(1), "1/2", mechanism="quilt-exact")
    mine = {at: charge_of(calibration, at=at) for at in (0, 168, 335, 503)}
    whole = Fraction(168) / (charge.scale or 1)

    def cost(*places: int) -> Fraction:
        return joint(framework, [mine[at] for at in places]).epsilon

    assert cost(0, 168) == cost(335, 503) == cost(0)
    assert cost(0, 335) == cost(335, 0) == cost(0) + whole
    assert cost(0, 168, 335) == cost(335, 0, 168) == cost(0) + 2 * whole  # who believes the third finds two elsewhere
    nobody_says = [replace(charge, at=0), replace(charge, at=167)]
    assert joint(framework, nobody_says).epsilon == 2 * whole
    loose = window(tf.PeriodicChain([NIGHT, DAY], 168, BY_HOUR, initial="any"), 0, 168)
    assert joint(loose[0], [replace(loose[1], at=0), replace(loose[1], at=168)]).epsilon < 1
