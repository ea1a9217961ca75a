"""How a framework reads a query that was calibrated for another one: by names, by steps, or at its worst; by hand."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import cell_oracles
from tests.support.chain_oracles import float_law
from tests.support.ledger_tools import FAIR, laplace, pieces, steps, users, view
from tests.support.window_oracles import loss_about_a_step

import takifugu as tf
from takifugu.accounting.composition import Charge, charge_of, joint
from takifugu.accounting.ledger import Debit, Ledger
from takifugu.analysis.guarantee import Covers
from takifugu.core.errors import InputError
from takifugu.model.frameworks import Framework, Pufferfish
from takifugu.model.queries import Count, Linear, Query, Sum, from_dict, resolved
from takifugu.model.secrets.of_entries import entry, every_entry

UNEVEN = Linear([5, 0, 2])
#: How UNEVEN is read entry by entry.
AS_IT_IS = ([5, 0, 2], 7)


def network(*names: str) -> Framework:
    return Pufferfish(every_entry(), tf.BayesianNetwork([(name, [0, 1], [], [0.5, 0.5]) for name in names]))


def charge(about: Framework, query: Query, **changes: Any) -> Charge:
    return replace(charge_of(laplace(about, query, 1, Covers.ENTRIES)), **changes)


def read_as(about: Framework, one: Charge) -> tuple[list[Any], Any] | None:
    """Return what each entry moves the answer by, and what all do; in answer units."""
    read = view(about).read(about.beliefs[0], one)
    if read is None:
        return None
    return [int(change) * read.grid for change in read.changes], read.total


def test_a_frameworks_own_release_is_read_as_it_was_calibrated() -> None:
    for about in (steps(3), pieces(2, 1), users(), users(names=list("abc")), network("a", "b", "c")):
        mine = charge(about, UNEVEN)
        more = replace(mine, change=Fraction(99), entry_change=Fraction(99), answers=())
        assert [read_as(about, one) for one in (mine, more, replace(mine, names=()))] == [AS_IT_IS] * 3
        assert read_as(about, replace(mine, change=None)) is read_as(about, replace(mine, entry_change=None)) is None


def test_entries_with_names_are_matched_by_name() -> None:
    one = charge(network("a", "b", "c"), UNEVEN)
    assert read_as(network("c", "a", "b"), one) == ([2, 5, 0], 7)
    assert read_as(users(names=list("bac")), charge(users(names=list("abc")), UNEVEN)) == ([0, 5, 2], 7)
    assert read_as(network("a", "b", "d"), one) is None
    assert read_as(network("a", "b"), one) is None


def test_without_names_on_one_side_every_entry_may_be_any() -> None:
    for about, other in ((users(), users(names=list("abc"))), (users(names=list("abc")), users())):
        one = charge(other, UNEVEN)
        assert read_as(about, one) == ([5, 5, 5], 7)
        assert read_as(about, replace(one, entry_change=Fraction(11, 2))) == ([6, 6, 6], 7)
        assert read_as(about, replace(one, change=Fraction(99))) == ([5, 5, 5], 15)
    one = charge(network("a", "b", "c"), UNEVEN)
    assert read_as(steps(3), one) == ([5, 5, 5], 7)
    assert read_as(steps(2), one) == ([5, 5, 5], 7)  # three steps of a sequence
    assert read_as(steps(2), charge(network("a", "b", "c"), Count(1))) == ([1, 1, 1], 3)
    assert read_as(users(), charge(users(names=list("abc")), Linear([0, 0, 0]))) == ([0, 0, 0], 0)


def test_what_adds_up_something_else_counts_with_the_largest_change_where_it_reads() -> None:
    small, large = steps(3, states=[0, 1]), steps(3, states=[0, 10])
    for query, expected in ((Sum(), [10, 10, 10]), (Sum(entries=[0, 2]), [10, 0, 10])):
        total = sum(expected)
        assert read_as(large, charge(small, query)) == (expected, total)
        assert read_as(small, charge(large, query)) == (expected, total)
    assert read_as(large, charge(small, UNEVEN)) == ([50, 0, 50], 70)
    assert read_as(small, charge(large, UNEVEN)) == ([50, 0, 50], 70)
    known = charge(small, Linear(["1/2", "3/2", 0]), framework="another", entry_change=Fraction(7, 4))
    assert read_as(small, known) == ([Fraction(1, 2), Fraction(3, 2), 0], 2)
    assert read_as(small, replace(known, answers=charge(small, UNEVEN).answers)) == ([2, 2, 0], 2)  # in halves
    alike = replace(charge(small, UNEVEN), framework="another")
    assert read_as(steps(3, states=[0, 1], secrets=entry(0, 0, 1)), alike) == AS_IT_IS
    assert read_as(small, replace(alike, answers=("first", alike.answers[0]))) == AS_IT_IS


def test_reading_alike_is_adding_up_the_same_under_every_belief() -> None:
    one = charge(steps(3), UNEVEN, framework="another")
    assert view(steps(3)).reads_alike(one)
    assert view(steps(4)).reads_alike(one)
    assert not view(steps(3, states=[0, 7])).reads_alike(one)
    assert not view(users(4)).reads_alike(one)
    both = Pufferfish(every_entry(), [steps(3).beliefs[0], pieces(2, 1).beliefs[0]])
    mixed = Pufferfish(every_entry(), [both.beliefs[0], users().beliefs[0]])  # the second is about three entries only
    longer = charge(steps(4), Linear([1, 2, 3, 4]), framework="another")
    assert view(both).reads_alike(longer)
    assert not view(mixed).reads_alike(longer)
    for about, other in ((users(), users(names=list("abc"))), (users(names=list("abc")), users())):
        assert view(about).reads_alike(charge(other, UNEVEN))  # all of them may change, whoever is who
    assert view(both).reads_alike(one)
    assert not view(both).reads_alike(replace(one, answers=("unknown",)))
    assert view(both).reads_alike(replace(one, answers=("unknown",), framework=both.fingerprint()))


# Where the entries of a framework are: every release says it, those that move nothing among them.


def hiding(step: int, length: int, matrix: Any = FAIR, source: str = "assumed") -> Framework:
    return tf.Pufferfish(tf.entry(step, 0, 1), tf.MarkovChain(matrix, length, source=source))


def by_noise(framework: Framework, weights: list[int], scale: Any, **where: Any) -> Charge:
    made = laplace(framework, tf.Linear(weights), scale, Covers.ENTRIES, Fraction(1000))
    return charge_of(made, **where)


def test_a_release_that_moves_nothing_says_in_a_ledger_which_step_its_framework_hides(tmp_path: Any) -> None:
    """One framework hides step 4, the other moves step 4 by 10 at b = 1: the loss is 10, and 1 was charged."""
    ledger = Ledger.open(tmp_path / "a.db")
    for source, weights, scale, at in (("F", [0, 0, 0], 1, 4), ("G", [1, 10, 0], 1, 3)):
        framework = hiding(0, 3, source=source)
        charge = replace(by_noise(framework, weights, scale, at=at), epsilon=Fraction(1, 100))
        debits = [Debit(framework, charge, ["ann"])]
        ledger.reserve("s", debits, 10**6, entries="values")
    true = loss_about_a_step(float_law(FAIR, 6), 4, [(3, [1, 10, 0], 1)])
    assert true == pytest.approx(10)
    assert ledger.spent("s").epsilon >= true


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
    is_placed = draw(st.booleans())  # else all of them start at one step
    return rows, windows if is_placed else [(0, *one[1:]) for one in windows], is_placed


@settings(max_examples=60, deadline=None)
@given(frames())
def test_no_step_that_is_hidden_loses_more_than_its_framework_is_charged(case: Any) -> None:
    rows, windows, is_placed = case
    known = [hiding(step, len(weights), rows, f"number {n}") for n, (_, weights, _, step) in enumerate(windows)]
    charges = [
        by_noise(framework, weights, scale, **({"at": start} if is_placed else {}))
        for framework, (start, weights, scale, _) in zip(known, windows, strict=True)
    ]
    law = float_law(rows, 6)
    scales = [float(charge.scale or 0) for charge in charges]
    noisy_windows = [(start, weights, b) for (start, weights, _, _), b in zip(windows, scales, strict=True)]
    for framework, (start, _, _, step) in zip(known, windows, strict=True):
        true = loss_about_a_step(law, start + step, noisy_windows)
        assert true <= joint(framework, charges).epsilon + 1e-9


def test_a_release_without_noise_that_moves_nothing_costs_nothing_and_blocks_nothing() -> None:
    about, other = hiding(0, 3), hiding(0, 3, source="G")
    for where, there, expected in (({"at": 4}, {"at": 3}, 10), ({}, {}, 1)):
        silent = replace(by_noise(about, [0, 0, 0], 1, **where), scale=Fraction(0))
        noisy = by_noise(other, [1, 10, 0], 1, **there)
        assert joint(about, [silent, noisy]).epsilon == pytest.approx(expected)


# Tables by cells that are charged together: the joint loss against a list of all data, pools, and what is refused.


MATRIX = [[0.9, 0.1], [0.4, 0.6]]


@st.composite
def cells(draw: st.DrawFn, size: int) -> list[list[int]]:
    """Two cells of a few entries each, often overlapping, often leaving some out."""
    chosen = st.sets(st.integers(0, size - 1), min_size=1, max_size=3)
    return [sorted(draw(chosen)) for _ in range(2)]


@settings(max_examples=15)
@given(cells(6), cells(6), st.sampled_from(["group-dp", "quilt-exact", "record-dp"]))
def test_two_tables_by_hour_reveal_no_more_than_they_are_charged(one, two, mechanism):
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain(MATRIX, 6))
    tables = [tf.GroupBy(tf.Count(1), {f"{n:02}": chosen for n, chosen in enumerate(table)}) for table in (one, two)]
    calibrations = [tf.calibrate(framework, table, epsilon=1, mechanism=mechanism) for table in tables]
    scaled = [(table, made.scale) for table, made in zip((one, two), calibrations, strict=True)]
    assert cell_oracles.joint_loss(float_law(MATRIX, 6), scaled) <= float(tf.compose(calibrations).epsilon) + 1e-9


def test_a_pool_charges_each_unit_for_its_own_table():
    chain = tf.MarkovChain(MATRIX, 48)
    pool, unit = (tf.Pufferfish(tf.every_entry(), b) for b in (tf.IndependentPieces(chain, [48, 48, 48]), chain))
    hours = {f"{hour:02}": [hour] for hour in range(24)}
    for query in (tf.Histogram(), tf.Mean(), tf.Sum()):
        table = tf.GroupBy(query, hours, by="hour", every=24)
        pooled = tf.calibrate(pool, table, epsilon=1, mechanism="quilt-exact")
        charge = charge_of(pooled, unit)
        unit_answer = resolved(from_dict(charge.query), chain)
        whole = resolved(table, pool.beliefs[0])
        assert charge.scale is not None
        rates = [Fraction(int(a.entry_changes()[5])) * a.grid for a in (unit_answer, whole)]
        assert rates[0] / charge.scale == rates[1] / Fraction(pooled.randomiser.laplace_scale)
        assert charge.entry_change == rates[0]
        assert charge.query["cells"][0][0] == "0"  # labels say nothing of what is charged
    uneven = tf.Pufferfish(tf.every_entry(), tf.IndependentPieces(chain, [36, 48]))
    hours = tf.GroupBy(tf.Count(1), {"00": [0], "01": [1]}, every=24)
    pooled = tf.calibrate(uneven, hours, epsilon=1, mechanism="group-dp")
    with pytest.raises(InputError, match="no multiple of that long"):
        charge_of(pooled, unit)
