"""After the release: nonnegative values that add up, explained in words; tables that agree."""

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import takifugu as tf
from takifugu.analysis.randomisers import DiscreteLaplace, Exact, RoundedNormal
from takifugu.analysis.randomisers.choices import ChannelChoice
from takifugu.core.errors import InputError
from takifugu.numbers import Pmf
from takifugu.numbers.distributions.channel import Channel
from takifugu.numbers.noise import InsecureSeededEntropyForTests
from takifugu.releasing.postprocess.release import Release

STATES = ["a", "b", "c"]
CHAIN = tf.MarkovChain([[0.4, 0.3, 0.3]] * 3, 10, states=STATES)


def noisy(query: Any, chain: Any = CHAIN, data: Any = None, **options: Any) -> Release:
    calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), chain), query, 1, mechanism="group-dp")
    return tf.release(calibration, data or ["a"] * 10, **options)


TABLE, SHARES, COUNT = noisy(tf.Histogram()), noisy(tf.Histogram(total=100)), noisy(tf.Count("a"))


def of(values: list[int], pattern: Release = TABLE, units: Fraction = Fraction(10)) -> Release:
    """Return a release of given noisy values (in grid steps), one cell each."""
    grid = pattern.randomiser.grid
    labels = tuple(f"cell {i}" for i in range(len(values)))
    noise = DiscreteLaplace(units, grid, len(values))
    return replace(pattern, labels=labels, values=tuple(v * grid for v in values), randomiser=noise)


steps = st.lists(st.integers(-60, 60), min_size=1, max_size=9)


@given(steps, st.integers(0, 200), st.sampled_from([TABLE, SHARES]))
def test_totals_are_kept_exactly_and_nothing_is_negative(values: list[int], total: int, pattern: Release) -> None:
    release = of(values, pattern)
    grid = release.randomiser.grid
    adjusted = release.adjusted(total=total * grid)
    assert sum(adjusted.values) == total * grid
    assert min(adjusted.values) >= 0
    assert all((v / grid).denominator == 1 for v in adjusted.values)
    assert adjusted.raw is release
    assert adjusted.raw.values == tuple(v * grid for v in values)


@given(steps)
def test_without_a_total_only_negative_values_change(values: list[int]) -> None:
    adjusted = of(values).adjusted()
    assert adjusted.values == tuple(max(v, 0) for v in values)
    assert adjusted.certificate == TABLE.certificate


@given(steps, st.integers(-200, 200))
def test_with_a_total_alone_all_cells_move_alike(values: list[int], total: int) -> None:
    adjusted = of(values).adjusted(nonnegative=False, total=total)
    assert sum(adjusted.values) == total
    moves = [after - before for after, before in zip(adjusted.values, values, strict=True)]
    assert max(moves) - min(moves) <= 1


@given(steps, st.integers(0, 40))
def test_adjusting_again_changes_nothing(values: list[int], total: int) -> None:
    once = of(values).adjusted(total=total)
    assert replace(once.raw, values=once.values).adjusted(total=total).values == once.values


def test_a_given_number_is_called_a_public_constant() -> None:
    adjusted = of([7, -3, 9]).adjusted(total=12)
    assert adjusted.value == {"cell 0": 5, "cell 1": 0, "cell 2": 7}
    condition = "The total 12 is a public constant that was not computed from the private data"
    assert condition in adjusted.certificate.text().replace("\n", " ").replace("     ", "")
    assert condition in " ".join(str(adjusted).split())
    assert "The total 12 is a public constant" in adjusted._repr_html_()
    assert "was not checked" in json.loads(adjusted.to_json())["certificate"]["assumptions"][-1]["text"]
    assert json.loads(adjusted.to_json())["values"][1] == {"cell": "cell 1", "value": "0", "raw": "-3"}
    assert not any("public constant" in words for words in map(str, TABLE.certificate.assumptions))


@pytest.mark.slow
def test_the_bias_is_said_in_words_and_is_what_it_says() -> None:
    """E max(Z, 0) = E|Z|/2, over 20,000 draws; with a total the small cells rise and the others fall."""
    release = of([0, 0, 0])
    words = " ".join(release.adjusted().notes)
    said = release.randomiser.expected_error() / 6
    assert f"too high by {said:.4g} on average" in words
    noise = DiscreteLaplace(Fraction(10), Fraction(1), 60_000)
    drawn = np.array([int(z) for z in noise.draw((0,) * 60_000, InsecureSeededEntropyForTests(4))])
    raised = np.maximum(drawn, 0)
    assert abs(raised.mean() - said) < 5 * raised.std() / len(drawn) ** 0.5
    with_total = "cells whose true value is near 0 come out too high on average, and the others too low"
    assert with_total in " ".join(release.adjusted(total=50).notes)
    adjusted = [
        of([0 + a, 0 + b, 50 + c]).adjusted(total=50).values for a, b, c in drawn[:3000].reshape(-1, 3).tolist()
    ]
    means = np.array([[float(v) for v in row] for row in adjusted]).mean(axis=0)
    assert min(means[0], means[1]) > 1
    assert means[2] < 48
    assert "no bias" in " ".join(of([0, 0, 0]).adjusted(nonnegative=False, total=50).notes)


def test_a_released_total_says_where_it_comes_from(tmp_path: Any) -> None:
    total = replace(COUNT, values=(Fraction(30),))
    adjusted = of([20, -5, 9]).adjusted(total=total)
    assert sum(adjusted.values) == 30
    assert "itself a noisy release about 'data', made without a ledger, with epsilon 1" in adjusted.notes[1]
    paid = noisy(tf.Count("a"), entries="values", ledger=tmp_path / "ledger.db", source="study")
    said = of([20, -5, 9]).adjusted(total=replace(paid, values=(Fraction(4),)))
    assert f"as ledger release {paid.certificate.release_id}" in said.certificate.assumptions[-1].text
    below = replace(COUNT, values=(Fraction(-2),))
    with pytest.raises(InputError, match=r"the released total is -2.*total\.adjusted\(\)"):
        of([20, -5, 9]).adjusted(total=below)
    assert set(of([20, -5, 9]).adjusted(total=below.adjusted()).values) == {0}


def test_a_seed_stays_visible() -> None:
    seeded = noisy(tf.Histogram(), entropy=InsecureSeededEntropyForTests(1))
    total = noisy(tf.Count("a"), entropy=InsecureSeededEntropyForTests(1))
    for adjusted in (seeded.adjusted(), of([1, 2]).adjusted(total=replace(total, values=(Fraction(9),)))):
        assert not adjusted.certificate.private
        assert "NOT PRIVATE" in str(adjusted)
        assert "NOT PRIVATE" in adjusted._repr_html_()
        assert "NOT PRIVATE" in adjusted.certificate.text()


def test_intervals_of_adjusted_values_are_the_raw_ones_cut_off_at_zero() -> None:
    release = of([5, -80, 40])
    for raw, row in zip(release.rows(0.9), release.adjusted(total=30).rows(0.9), strict=True):
        assert (row["low"], row["high"]) == (max(raw["low"], 0), max(raw["high"], 0))
        assert row["raw"] == raw["value"]
    assert release.adjusted(nonnegative=False, total=30).rows()[1]["low"] < 0
    frame = release.adjusted(total=30).to_frame("polars")
    assert frame.columns == ["cell", "value", "raw", "low", "high"]
    assert frame["value"].sum() == 30


def test_what_is_printed_fits_80_columns() -> None:
    for text in (str(TABLE.adjusted(total=10)), str(TABLE.adjusted()), str(SHARES.adjusted(total=1))):
        assert max(map(len, text.splitlines())) <= 80
    assert "<b>" not in replace(TABLE, labels=("<b>", "b", "c")).adjusted()._repr_html_()


MEAN = noisy(tf.Mean(codes={"a": -1, "b": 0, "c": 2}))
CODES = tf.Sum(codes={"a": -1, "b": 0, "c": 2})


@pytest.mark.parametrize(("release", "options", "words"), [
    (TABLE, {"nonnegative": False}, "nothing would be adjusted"),
    (TABLE, {"total": -1}, "the total is -1"),
    (TABLE, {"total": 1.5}, "the total is 1.5, and the values are multiples of 1"),
    (SHARES, {"total": "1/3"}, "multiples of 0.01"),
    (TABLE, {"total": True}, "not true or false"),
    (TABLE, {"total": "many"}, "must be a finite number"),
    (TABLE, {"total": SHARES}, "a release of 3 cells"),
    (noisy(CODES), {}, "as low as -10: write nonnegative=False"),
    (MEAN, {}, "as low as -1: write"),
    (noisy(tf.Linear([1] * 9 + [-3], codes={"a": 0, "b": 1, "c": 2})), {}, "as low as -6: write"),
])  # fmt: skip
def test_arguments_are_checked(release: Release, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        release.adjusted(**options)


def test_sums_that_cannot_be_negative_are_adjusted() -> None:
    adjusted = replace(noisy(tf.Sum(codes={"a": 0, "b": "0.5", "c": 2})), values=(Fraction(-7, 2),)).adjusted()
    assert adjusted.value == 0
    pair = tf.calibrate(tf.distribution_pair(Pmf([-3, 1], [0.5, 0.5]), Pmf([2], [1])), tf.Identity(), 1)
    with pytest.raises(InputError, match="as low as -3"):
        tf.release(pair, 2).adjusted()


# Tables of units and the pooled table.
def tables(truth: list[list[int]], scales: list[int], pooled: int, seed: int) -> tuple[dict[str, Release], Release]:
    """Return noisy tables of units and of all, each with its own discrete Laplace noise."""
    entropy = InsecureSeededEntropyForTests(seed)

    def drawn(row: list[int], units: int) -> Release:
        noise = DiscreteLaplace(Fraction(units), Fraction(1), len(row))
        return replace(of(row), values=noise.draw(row, entropy), randomiser=noise)

    rows = {f"unit {i}": drawn(row, units) for i, (row, units) in enumerate(zip(truth, scales, strict=True))}
    return rows, drawn([sum(column) for column in zip(*truth, strict=True)], pooled)


true_rows = st.lists(st.integers(0, 30), min_size=3, max_size=3)
unit_tables = st.lists(st.tuples(true_rows, st.integers(1, 40)), min_size=1, max_size=5)


@given(unit_tables, st.integers(1, 40), st.integers(0, 10**6), st.booleans())
def test_reconciled_tables_agree_exactly(units: Any, pooled: int, seed: int, nonnegative: bool) -> None:
    rows, whole = tables([row for row, _ in units], [scale for _, scale in units], pooled, seed)
    reconciled = tf.reconcile(rows, whole, nonnegative)
    for cell in range(3):
        assert sum(table.values[cell] for table in reconciled.units.values()) == reconciled.pooled.values[cell]
    for table in (*reconciled.units.values(), reconciled.pooled):
        assert all(v.denominator == 1 for v in table.values)
        assert not nonnegative or min(table.values) >= 0
    assert {name: table.raw for name, table in reconciled.units.items()} == rows
    assert reconciled.pooled.raw is whole


@pytest.mark.slow
def test_reconciling_is_the_weighted_mean_and_is_more_accurate() -> None:
    """One unit: the mean of both tables, weighted by 1/variance. Several: a mean square error s falls by s^2/sum(s)."""
    fine, coarse = DiscreteLaplace(Fraction(10), Fraction(1)), DiscreteLaplace(Fraction(20), Fraction(1))
    one = {"Ana": replace(of([100]), randomiser=fine)}
    reconciled = tf.reconcile(one, replace(of([150]), randomiser=coarse))
    weight = fine.variance() / (fine.variance() + coarse.variance())
    assert reconciled.pooled.values[0] == round(100 + 50 * weight)
    squared = np.zeros((400, 2, 4))
    truth = [[40, 7], [25, 60], [90, 1]]
    sums = [155, 68]
    for run in range(len(squared)):
        rows, whole = tables(truth, [8, 8, 20], 10, seed=run)
        better = tf.reconcile(rows, whole, nonnegative=False)
        for cell in range(2):
            pairs = [(rows[n].values[cell], better.units[n].values[cell], truth[i][cell]) for i, n in enumerate(rows)]
            pairs.append((whole.values[cell], better.pooled.values[cell], sums[cell]))
            squared[run, cell] = [float((b - t) ** 2 - (a - t) ** 2) for a, b, t in pairs]
    changes = squared.reshape(-1, 4)
    variances = np.array([DiscreteLaplace(Fraction(s), Fraction(1)).variance() for s in (8, 8, 20, 10)])
    expected = -(variances**2) / variances.sum()
    assert (np.abs(changes.mean(axis=0) - expected) < 5 * changes.std(axis=0) / len(changes) ** 0.5).all()
    assert (changes.mean(axis=0) < 0).all()


def test_reconciled_tables_print_and_become_frames() -> None:
    rows, whole = tables([[3, 30], [10, 0]], [5, 9], 4, seed=1)
    reconciled = tf.reconcile(rows, whole)
    frame = reconciled.to_frame("polars")
    assert frame.columns == ["unit", "cell", "value", "raw", "low", "high"]
    assert frame["unit"].to_list() == ["unit 0"] * 2 + ["unit 1"] * 2 + [None] * 2
    half = rows["unit 0"].randomiser.half_width(0.95, cells=6)
    assert reconciled.rows()[1]["high"] - reconciled.rows()[1]["raw"] == half
    assert max(map(len, str(reconciled).splitlines())) <= 80
    assert reconciled._repr_html_().count("<tr>") == 7
    assert "come out too high" in " ".join(str(reconciled).split())


def test_relative_frequencies_and_other_noise_are_reconciled() -> None:
    rows = {name: of([10, 20], SHARES) for name in ("x", "y")}
    pooled = replace(of([33, 41], SHARES), randomiser=RoundedNormal(Fraction(1, 10), Fraction(1, 100), 2))
    reconciled = tf.reconcile(rows, pooled)
    assert sum(t.values[0] for t in reconciled.units.values()) == reconciled.pooled.values[0]
    assert Fraction(20, 100) < reconciled.pooled.values[0] < Fraction(33, 100)


def test_tables_without_noise_stay() -> None:
    exact = {name: replace(of([4]), randomiser=Exact(Fraction(1))) for name in ("x", "y")}
    assert tf.reconcile(exact, of([50])).pooled.values == (8,)
    with pytest.raises(InputError, match="do not agree"):
        tf.reconcile(exact, replace(of([50]), randomiser=Exact(Fraction(1))))


def test_what_was_chosen_from_a_list_has_no_weight_and_a_bias_of_its_own() -> None:
    rows = Channel.of([0, 1], [0, 1], [[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]])
    chosen = replace(of([1]), randomiser=ChannelChoice(rows, Fraction(1), (0.5, 0.5)))
    assert "no bias" not in " ".join(chosen.adjusted().notes)
    assert "biases small values upwards." in " ".join(chosen.adjusted().notes)
    with pytest.raises(InputError, match="the table of 'Ana' was not made with added noise"):
        tf.reconcile({"Ana": chosen}, of([3]))
    with pytest.raises(InputError, match="the table of all was not made with added noise"):
        tf.reconcile({"Ana": of([3])}, chosen)


ANA, MEANS = {"Ana": of([1, 2])}, noisy(tf.Mean(codes={"a": 0, "b": 1, "c": 1}))
OF_TWO = replace(TABLE.certificate, units=("Ana", "Ben"), scope="pooled")


@pytest.mark.parametrize(("rows", "whole", "words"), [
    ({}, of([1, 2]), "no tables of people"),
    ({"Ana": 3}, of([1, 2]), "only releases"),
    (ANA, of([1, 2, 3]), "'Ana' and the pooled table have different"),
    (ANA, of([1, 2], SHARES), "different statistics, cells or grids"),
    ({"Ana": noisy(tf.Count("b"))}, COUNT, "different statistics"),
    ({"Ana": MEANS}, MEANS, "means of people"),
    ({"Ana": noisy(CODES)}, noisy(CODES), "as low as -10"),
    (ANA, replace(of([1, 2]), certificate=OF_TWO), r"people \['Ana', 'Ben'\]: give exactly their tables"),
])  # fmt: skip
def test_only_tables_that_add_up_are_reconciled(rows: Any, whole: Release, words: str) -> None:
    with pytest.raises(InputError, match=words):
        tf.reconcile(rows, whole)


def test_codes_below_0_are_reconciled_where_that_is_meant() -> None:
    assert tf.reconcile({"Ana": noisy(CODES)}, noisy(CODES), nonnegative=False)
