"""Where the entries of a framework are: every release says it, those that move nothing among them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.chain_oracles import exact_rows, joint_law, stationary_vector
from tests.support.ledger_tools import laplace
from tests.support.window_oracles import loss_about_a_step

import takifugu as tf
from takifugu.accounting.composition import Charge, charge_of, joint
from takifugu.accounting.ledger import Ledger
from takifugu.analysis.guarantee import Covers
from takifugu.model.frameworks import Framework

FAIR = [[0.5, 0.5], [0.5, 0.5]]


def hiding(step: int, length: int, matrix: Any = FAIR, source: str = "assumed") -> Framework:
    return tf.Pufferfish(tf.entry(step, 0, 1), tf.MarkovChain(matrix, length, source=source))


def by_noise(framework: Framework, weights: list[int], scale: Any, **where: Any) -> Charge:
    made = laplace(framework, tf.Linear(weights), scale, Covers.ENTRIES, Fraction(1000))
    return charge_of(made, **where)


def law_of(matrix: Any, length: int) -> dict[tuple[int, ...], float]:
    exact = exact_rows(matrix)
    return {path: float(mass) for path, mass in joint_law(exact, length, stationary_vector(exact)).items()}


def test_a_release_that_moves_nothing_says_in_a_ledger_which_step_its_framework_hides(tmp_path: Any) -> None:
    """One framework hides step 4, the other moves step 4 by 10 at b = 1: the loss is 10, and 1 was charged."""
    releases = [(hiding(0, 3, source="F"), [0, 0, 0], "0.01", 4), (hiding(0, 3, source="G"), [1, 10, 0], "1", 3)]
    for framework, weights, epsilon, at in releases:
        calibration = tf.calibrate(
            framework, tf.Linear(weights), epsilon, mechanism="quilt-exact", allow_zero_noise=True
        )
        tf.release(calibration, [0] * 3, ledger=tmp_path / "a.db", source="s", budget=99, at=at)
    true = loss_about_a_step(law_of(FAIR, 6), 4, [(3, [1, 10, 0], 1)])
    assert true == pytest.approx(10)
    assert Ledger.open(tmp_path / "a.db").spent("s").spent.epsilon >= true


@st.composite
def frames(draw: st.DrawFn) -> Any:
    """Draw a chain, and two or three windows of 6 of its steps, each of a framework that hides a step of its own."""
    rows = [[p, 1 - p] for p in draw(st.lists(st.sampled_from([0.1, 0.3, 0.6, 0.9]), min_size=2, max_size=2))]
    windows = []
    for _ in range(draw(st.integers(2, 3))):
        size = draw(st.integers(1, 3))
        weights = draw(st.one_of(st.just([0] * size), st.lists(st.integers(0, 3), min_size=size, max_size=size)))
        where, hidden = draw(st.integers(0, 6 - size)), draw(st.integers(0, size - 1))
        windows.append((where, weights, draw(st.sampled_from([1, 4])), hidden))
    return rows, windows, draw(st.booleans())


@settings(max_examples=60, deadline=None)
@given(frames())
def test_no_step_that_is_hidden_loses_more_than_its_framework_is_charged(case: Any) -> None:
    rows, windows, is_placed = case
    known = [hiding(step, len(weights), rows, f"number {n}") for n, (_, weights, _, step) in enumerate(windows)]
    charges = [
        by_noise(framework, weights, scale, **({"at": start} if is_placed else {}))
        for framework, (start, weights, scale, _) in zip(known, windows, strict=True)
    ]
    law = law_of(rows, 6)
    scales = [float(charge.scale or 0) for charge in charges]
    noisy_windows = [(start, weights, b) for (start, weights, _, _), b in zip(windows, scales, strict=True)]
    for framework, (start, _, _, step) in zip(known, windows, strict=True):
        true = loss_about_a_step(law, start + step, noisy_windows)
        assert true <= joint(framework, charges).epsilon + 1e-9


def test_a_release_without_noise_that_moves_nothing_costs_nothing_and_blocks_nothing() -> None:
    about, other = hiding(0, 3), hiding(0, 3, source="G")
    for where in ({"at": 4}, {"reading": "one"}, {}):
        silent = replace(by_noise(about, [0, 0, 0], 1, **where), scale=Fraction(0))
        noisy = by_noise(other, [1, 10, 0], 1, **({**where, "at": 3} if "at" in where else where))
        expected = 1 if "reading" in where else 10
        assert joint(about, [silent, noisy]).epsilon == pytest.approx(expected)


def test_a_framework_whose_release_reads_no_single_steps_may_hide_any_step() -> None:
    about, other = hiding(0, 3), hiding(0, 3, source="G")
    blind = replace(by_noise(about, [0, 0, 0], 1, reading="one"), entry_change=None)
    noisy = by_noise(other, [1, 10, 0], 1, reading="one")
    assert joint(about, [blind, noisy]).epsilon == pytest.approx(10)


def test_a_user_without_a_name_may_be_anybody_beside_a_release_that_moves_nothing() -> None:
    """User 0 of one reading may be user 1 of another, whether or not the first reading told anything."""
    law = [{0: 0.5, 1: 0.5}] * 2
    about, other = (
        tf.Pufferfish(tf.entry(0, 0, 1), tf.IndependentUsers(law, source=source)) for source in ("F", "G")
    )
    assert joint(about, [by_noise(about, [0, 0], 1), by_noise(other, [1, 10], 1)]).epsilon == 10
