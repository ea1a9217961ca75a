"""Many different queries as one charge: entry by entry they cost what they cost one by one, rounded up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tests.support.ledger_tools import chain_framework, charge, contributions_of, worst_joint_loss

import takifugu as tf
from takifugu.accounting.composition import Charge, joint
from takifugu.accounting.composition.by_entry import ByEntry, Rates, in_stretches, rates_of_answer
from takifugu.accounting.composition.folding import FEW, LONG, folded, in_a_row
from takifugu.accounting.composition.several import Several
from takifugu.accounting.composition.totals import BITS
from takifugu.analysis.guarantee import Covers
from takifugu.model.frameworks import Framework
from takifugu.model.queries import Query, resolved

WHOLE, DATA, QUILT, SINGLE = Covers
THREE = [[0.7, 0.2, 0.1], [0.15, 0.6, 0.25], [0.3, 0.1, 0.6]]


def fold(framework: Framework, charges: Sequence[Charge]) -> list[Charge]:
    return folded({framework.fingerprint(): framework}, charges)


def query(chance: np.random.Generator, size: int, states: int) -> Query:
    """Return a count, a table or weights, signed ones among them, about some of the entries."""
    low, high = sorted(chance.choice(size + 1, 2, replace=False).tolist())
    kind = chance.integers(3)
    if kind == 0:
        return tf.Count(int(chance.integers(states)), entries=range(low, high))
    if kind == 1:
        return tf.Histogram(entries=range(low, high))
    codes = {state: int(code) for state, code in enumerate(chance.integers(-3, 4, size=states))}
    weights = [int(w) for w in chance.integers(-2, 3, size=size)]
    return tf.Linear([*weights[:-1], 1], {**codes, 0: 5})


def different(
    chance: np.random.Generator, framework: Framework, many: int, states: int, kinds: Sequence[Covers], **how: Any
) -> list[Charge]:
    size = framework.beliefs[0].size
    made = []
    for _ in range(many):
        scale = Fraction(int(chance.integers(10**6, 10**8)), int(chance.integers(10**4, 10**5)))
        kind = kinds[int(chance.integers(len(kinds)))]
        one = charge(framework, query(chance, size, states), scale, kind, **how)
        made.append(replace(one, epsilon=Fraction(1, 10**9)))  # less than any costs: the joint loss counts
    return made


def pieces() -> Framework:
    chain = tf.MarkovChain([[0.7, 0.3], [0.4, 0.6]], length=1)
    return tf.Pufferfish(tf.every_entry(), tf.IndependentPieces(chain, (3, 5)))


def persons() -> Framework:
    return tf.Pufferfish(tf.every_entry(), tf.IndependentUsers([{0: 0.5, 1: 0.3, 2: 0.2}] * 5))


def network() -> Framework:
    nodes = [("a", [0, 1], [], [0.6, 0.4]), *((name, [0, 1], ["a"], [[0.8, 0.2], [0.3, 0.7]]) for name in ("b", "c"))]
    return tf.Pufferfish(tf.every_entry(), tf.BayesianNetwork(nodes))


FRAMEWORKS = {
    "two": (chain_framework(7, 0.8), 2),
    "three": (tf.Pufferfish(tf.every_entry(), tf.MarkovChain(THREE, length=6)), 3),
    "any start": (tf.Pufferfish(tf.every_entry(), tf.MarkovChain(THREE, length=5, initial="any")), 3),
    "given start": (tf.Pufferfish(tf.every_entry(), tf.MarkovChain(THREE, length=5, initial=[1, 0, 0])), 3),
    "one pair": (tf.Pufferfish(tf.entry(2, 0, 2), tf.MarkovChain(THREE, length=5)), 3),
    "pieces": (pieces(), 2),
}  # fmt: skip
PLACES: dict[str, dict[str, Any]] = {
    "one reading": {"reading": "file"}, "one window": {"reading": "", "at": 4, "calendar": "hours"},
    "anywhere": {"reading": ""},
}  # fmt: skip


@pytest.mark.sampled(5)
@pytest.mark.parametrize("how", PLACES)
@pytest.mark.parametrize("name", FRAMEWORKS)
@pytest.mark.parametrize("kinds", [(QUILT,), (WHOLE, DATA)], ids=str)
def test_many_queries_cost_by_entry_what_they_cost_one_by_one(name: str, how: str, kinds: Any) -> None:
    framework, states = FRAMEWORKS[name]
    how = "one reading" if name == "pieces" and how == "one window" else how  # windows are one sequence each
    chance = np.random.default_rng(len(name))
    charges = different(chance, framework, 2 * len(kinds) * FEW + 5, states, kinds, **PLACES[how])
    groups = fold(framework, charges)
    assert len(groups) == len(kinds)
    assert all(isinstance(one, ByEntry) for one in groups)
    plain, together = joint(framework, charges).epsilon, joint(framework, groups).epsilon
    assert together == pytest.approx(float(plain), rel=1e-9)
    assert together >= plain * (1 - Fraction(1, 10**11))
    after = fold(framework, [*fold(framework, charges[: FEW + 1]), *charges[FEW + 1 :]])
    assert joint(framework, after).epsilon == together


@pytest.mark.parametrize("seed", range(4))
def test_the_sum_is_the_true_loss_of_two_values(seed: int) -> None:
    """By listing all data and all outputs that are atoms: one release of each query stands for all of its scales."""
    chance = np.random.default_rng(seed)
    framework = chain_framework(3, 0.7)
    law = {path: _mass(path, 0.7) for path in np.ndindex(2, 2, 2)}
    counts = [tf.Count(1, entries=range(low, high)) for low, high in ((0, 1), (1, 2), (2, 3), (0, 2), (1, 3), (0, 3))]
    scales = [Fraction(int(n), 7) for n in chance.integers(20, 90, size=3 * len(counts))]
    charges = [charge(framework, counts[n % 6], b, QUILT) for n, b in enumerate(scales)]
    releases = []
    for number, count in enumerate(counts):
        rate = sum(1 / b for n, b in enumerate(scales) if n % 6 == number)
        releases.append((contributions_of(framework, count), 1 / rate))
    (group,) = fold(framework, charges)
    cost = joint(framework, [group]).epsilon
    true = worst_joint_loss(law, releases, 3)
    assert true <= float(cost) <= true * (1 + 1e-9)


def _mass(path: Sequence[int], stay: float) -> float:
    mass = 0.5
    for one, two in pairwise(path):
        mass *= stay if one == two else 1 - stay
    return mass


@pytest.mark.parametrize("seed", range(10))
def test_rates_are_sums_of_losses_by_entry_and_value_rounded_up(seed: int) -> None:
    """Each release adds at most one unit for every cut; what it loses is computed here without cuts."""
    chance = np.random.default_rng(seed)
    size, states = 6, int(chance.integers(2, 6))
    chain = tf.MarkovChain(np.full((states, states), 1 / states).tolist(), length=size)
    total, losses = Rates((size,), (0,), {}), np.zeros((size, states, states), dtype=object)
    for _ in range(5):
        answer = resolved(query(chance, size, states), chain)
        scale = Fraction(int(chance.integers(1, 10**6)), int(chance.integers(1, 10**6)))
        total += rates_of_answer(answer.entry_changes(), answer, answer.grid, scale)
        for entry in range(size):
            rows = np.resize(answer.contribution(entry), (states, answer.cells)).tolist()
            for u, one in enumerate(rows):
                for v, two in enumerate(rows):
                    apart = sum(abs(a - b) for a, b in zip(one, two, strict=True))
                    losses[entry, u, v] += apart * answer.grid / scale
    assert total.size == size
    changes, grid, answer = total.answer(np.full(size, states))
    assert answer is not None
    for entry in range(size):
        stretch = int(np.searchsorted(total.ends, entry, side="right"))
        rates = {cut: of[stretch] for cut, of in (total.cuts or {}).items()}
        for u in range(states):
            for v in range(states):
                summed = Fraction(sum(rate for cut, rate in rates.items() if (cut >> u ^ cut >> v) & 1), 2**BITS)
                assert losses[entry, u, v] <= summed <= losses[entry, u, v] + Fraction(5 * 2**states, 2**BITS)
                table = answer.contribution(entry)
                read = int(np.abs(table[u] - table[v]).sum()) * grid
                assert summed <= read <= summed + 2**states * grid
                assert losses[entry, u, v] <= changes[entry] * grid


def test_rates_round_up_and_add_as_integers() -> None:
    third = rates_of_answer(np.array([1, 2]), None, Fraction(1), Fraction(3))
    assert third.largest == (2**60 // 3 + 1, 2**61 // 3 + 1)
    assert (third + third).largest == tuple(2 * rate for rate in third.largest)
    assert (third + Rates((5,), (1,))).ends == (1, 2, 5)
    few, many = Rates((2,), (5,), {2: (5,)}), Rates((4,), (1,), {4: (1,)})
    for both in (few + many, many + few):  # of fewer entries, those beyond them cost nothing
        assert both == Rates((2, 4), (6, 1), {2: (5, 0), 4: (1, 1)})
    big = Rates((1, 2), (2**70 + 1, 1))
    changes, grid, answer = big.answer(None)
    assert answer is None
    assert [Fraction(2**70 + 1, 2**60), Fraction(1, 2**60)] <= [int(c) * grid for c in changes]
    assert Rates.from_json(third.to_json()) == third


@pytest.mark.parametrize("seed", range(30))
def test_the_most_that_steps_in_a_row_cost(seed: int) -> None:
    chance = np.random.default_rng(seed)
    steps = chance.integers(0, 4, size=12) * (chance.random(12) < 0.7)
    each = np.array([step * (2**62 if seed % 3 == 0 else 1) for step in steps.tolist()], dtype=object)
    runs = [range(12)] if seed % 2 else [range(5), range(5, 12)]
    rates = in_stretches(range(1, 13), each.tolist(), None)
    row = in_a_row(rates, runs)
    assert row is not None
    first = np.cumsum(row.each())
    for length in range(1, row.size + 1):
        rows = [each[run.start : run.stop] for run in runs]
        most = max(sum(row[at : at + length]) for row in rows for at in range(len(row)))
        assert first[length - 1] == most
        windows = [sum(row.each()[at : at + length]) for at in range(row.size)]
        assert max(windows) == most
    sorted_rates = in_a_row(rates, None)
    assert sorted_rates is not None
    assert sorted_rates.each() == sorted(each.tolist(), reverse=True)


@pytest.mark.parametrize("runs", [[range(9)], [range(4), range(4, 9)], [range(2), range(2, 9)], [range(3)]])
def test_one_stretch_of_steps_that_cost_anything_is_its_longest_part_in_a_run(runs: list[range]) -> None:
    for low in range(9):
        for high in range(low + 1, 10):
            each = [7 if low <= step < high else 0 for step in range(9)]
            row = in_a_row(in_stretches(range(1, 10), each, None), runs)
            size = max(map(len, runs))
            assert row is not None
            assert row.size == size
            most = max(sum(each[run.start : run.stop]) for run in runs)
            assert row.each() == [7] * (most // 7) + [0] * (size - most // 7)


def test_very_many_steps_are_searched_only_where_one_stretch_costs_anything() -> None:
    for size in (LONG, LONG + 1, 10**9):
        assert in_a_row(Rates((7, size), (0, 1)), [range(size)]) == Rates((size - 7, size), (1, 0))
        assert in_a_row(Rates((size,), (0,)), [range(size)]) == Rates((size,), (0,))
    assert in_a_row(Rates((1, LONG), (3, 1)), [range(LONG)]) == Rates((1, LONG), (3, 1))
    assert in_a_row(Rates((1, LONG + 1), (3, 1)), [range(LONG + 1)]) is None
    assert in_a_row(Rates((1, 10**9), (1, 3)), None) == Rates((10**9 - 1, 10**9), (3, 1))


def test_another_release_never_makes_a_set_cheaper() -> None:
    framework, states = FRAMEWORKS["three"]
    chance = np.random.default_rng(1)
    for how in PLACES.values():
        held: list[Charge] = []
        costs = [Fraction(0)]
        for one in different(chance, framework, 2 * FEW, states, (QUILT,), **how):
            held = fold(framework, [*held, one])
            costs.append(joint(framework, held).epsilon)
        assert len(held) == 1
        assert all(after >= before for before, after in pairwise(costs))


@pytest.mark.parametrize("name", ["two", "three", "any start"])
def test_windows_at_several_places_are_sums_each(name: str) -> None:
    """Beside windows that stay as they are, before and after and between them."""
    framework, states = FRAMEWORKS[name]
    chance = np.random.default_rng(5)
    charges = [
        one
        for place, many in ((0, FEW + 3), (3, 2 * FEW), (20, 2), (40, FEW + 1))
        for one in different(chance, framework, many, states, (QUILT,), reading="", at=place, calendar="hours")
    ]
    groups = fold(framework, charges)
    assert sorted((one.at or 0, isinstance(one, ByEntry)) for one in groups) == [
        (0, True), (3, True), (20, False), (20, False), (40, True)
    ]  # fmt: skip
    plain, together = joint(framework, charges).epsilon, joint(framework, groups).epsilon
    assert together == pytest.approx(float(plain), rel=1e-9)
    assert together >= plain * (1 - Fraction(1, 10**11))


def test_users_and_networks() -> None:
    """Entries with names are the same in every reading; a person without a name may be any in each."""
    chance = np.random.default_rng(2)
    for framework, states in ((persons(), 3), (network(), 2)):
        for how in ({"reading": "file"}, {"reading": ""}):
            charges = different(chance, framework, 3 * FEW, states, (QUILT,), **how)
            (group,) = fold(framework, charges)
            plain, together = joint(framework, charges).epsilon, joint(framework, [group]).epsilon
            assert together == pytest.approx(float(plain), rel=1e-9)
            assert together >= plain * (1 - Fraction(1, 10**11))


def test_readings_of_several_queries_stay_together() -> None:
    """What one file reads twice is in one place; other files may read other steps."""
    framework, states = FRAMEWORKS["two"]
    chance = np.random.default_rng(3)
    files = [different(chance, framework, 3, states, (QUILT,), reading=f"file {n}") for n in range(FEW + 2)]
    charges = [one for file in files for one in file]
    (group,) = fold(framework, charges)
    assert isinstance(group, ByEntry)
    assert (group.readings, group.times, group.is_apart) == (FEW + 2, 3 * (FEW + 2), True)
    assert joint(framework, [group]).epsilon == pytest.approx(float(joint(framework, charges).epsilon), rel=1e-9)
    few = fold(framework, charges[: 3 * FEW])
    assert len(few) == 3 * FEW
    long = [*different(chance, framework, FEW + 1, states, (QUILT,), reading="long"), *charges[:3]]
    (one, *rest) = fold(framework, long)
    assert isinstance(one, ByEntry)
    assert (one.reading, one.is_apart, len(rest)) == ("long", False, 3)
    (both,) = fold(framework, [one, *rest, *charges[3:]])
    assert joint(framework, [both]).epsilon == pytest.approx(
        float(joint(framework, [*long, *charges[3:]]).epsilon), rel=1e-9
    )


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_files_with_promises_of_two_kinds_are_at_one_place_each(name: str) -> None:
    """What a file's steps cost in all of its tables is counted once, whatever each of them promises."""
    framework, states = FRAMEWORKS[name]
    chance = np.random.default_rng(6)
    kinds = [QUILT, WHOLE, DATA]
    files = [
        [one for kind in kinds for one in different(chance, framework, 1, states, (kind,), reading=f"file {n}")]
        for n in range(FEW + 3)
    ]
    charges = [one for file in files for one in file]
    groups = fold(framework, charges)
    assert [one.covers for one in groups if isinstance(one, ByEntry) and one.is_apart] == kinds
    plain = joint(framework, charges).epsilon
    for held in (groups, fold(framework, [*fold(framework, charges[: 3 * FEW + 3]), *charges[3 * FEW + 3 :]])):
        together = joint(framework, held).epsilon
        assert together == pytest.approx(float(plain), rel=1e-9)
        assert together >= plain * (1 - Fraction(1, 10**11))


def test_two_frameworks_read_the_same_charges_in_their_own_ways() -> None:
    near, far = chain_framework(6, 0.9), chain_framework(6, 0.6)
    chance = np.random.default_rng(4)
    charges = different(chance, near, 2 * FEW, 2, (QUILT,), reading="", at=0, calendar="days")
    both = {f.fingerprint(): f for f in (near, far)}
    (group,) = folded(both, charges)
    assert isinstance(group, ByEntry)
    assert set(group.under) == set(both)
    for fingerprint, framework in both.items():
        cost = joint(framework, [group], fingerprint=fingerprint).epsilon
        assert cost == pytest.approx(float(joint(framework, charges).epsilon), rel=1e-9)


def test_what_one_of_two_frameworks_does_not_read_by_value_stays_one_by_one_for_both() -> None:
    """A sum whose values stand for other numbers under the second belief; counts are read alike."""
    small, large = (
        tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 6, states=states))
        for states in ([0, 1], [0, 10])
    )
    both = {f.fingerprint(): f for f in (small, large)}
    for how in PLACES.values():
        counts, odd = (
            [replace(charge(small, kind(n % 6), 30 + n, QUILT, **how), epsilon=Fraction(0)) for n in range(FEW + 2)]
            for kind in (lambda n: tf.Count(0, entries=(n,)), lambda n: tf.Sum(entries=(n,)))
        )
        groups = folded(both, [one for pair in zip(counts, odd, strict=True) for one in pair])
        plain = [one for one in groups if not isinstance(one, ByEntry)]
        assert sorted(plain, key=str) == sorted(odd, key=str)
        assert [set(one.under) for one in groups if isinstance(one, ByEntry)] == [set(both)]
        for fingerprint, framework in both.items():
            cost = joint(framework, groups, fingerprint=fingerprint).epsilon
            assert cost == pytest.approx(float(joint(framework, [*counts, *odd]).epsilon), rel=1e-9)


def test_what_takes_too_many_steps_to_search_stays_one_by_one() -> None:
    for length, names in ((LONG, {"ByEntry"}), (LONG + 1, {"Charge"})):
        beliefs = [tf.MarkovChain([[0.9, 0.1], [stay, 1 - stay]], length) for stay in (0.4, 0.5)]
        framework = tf.Pufferfish(tf.every_entry(), beliefs)
        queries = [tf.Count(1, entries=(n, length - 1)) for n in range(FEW + 2)]
        many = [charge(framework, query, 30, QUILT, reading="") for query in queries]
        assert {type(one).__name__ for one in fold(framework, many)} == names


@pytest.mark.parametrize("many", [1, 2, 5])
def test_the_dearest_user_of_each_reading_may_be_one_and_the_same(many: int) -> None:
    framework = tf.Pufferfish(tf.every_entry(), tf.IndependentUsers([{0: 0.5, 1: 0.5}] * many))
    chance = np.random.default_rng(many)
    rows = [[int(w) for w in chance.integers(0, 9, size=many)] for _ in range(FEW + 4)]
    rows[2] = [0] * many
    made = [charge(framework, tf.Linear(row), 3 + n, QUILT, reading="") for n, row in enumerate(rows)]
    (group,) = fold(framework, made)
    assert isinstance(group, ByEntry)
    most = sum(math.ceil(max(row) / (one.scale or 1) * 2**BITS) for one, row in zip(made, rows, strict=True))
    assert group.under[framework.fingerprint()].rates[0].each() == [most] + [0] * (many - 1)
    assert group.change == sum(sum(row) / (one.scale or 1) for one, row in zip(made, rows, strict=True))
    assert (group.times, group.readings, group.entries) == (len(rows), len(rows), many)
    expected = max(Fraction(most, 2**BITS), Fraction(1))  # what each promises alone
    assert joint(framework, [group]).epsilon == pytest.approx(float(expected), rel=1e-12)


def test_in_another_reading_the_user_who_is_meant_may_be_one_without_a_secret() -> None:
    """Added up over readings it is the dearest user of each, and in one reading the one who hides a value."""
    laws = [{0: 0.5, 1: 0.5}] * 3
    for names, apart in ((None, 7), (list("abc"), 2)):
        framework = tf.Pufferfish(tf.entry(0, 0, 1), tf.IndependentUsers(laws, names=names))
        for reading, expected in (("one", 2), ("", apart)):
            queries = [tf.Linear([2, n % 7, 7]) for n in range(FEW + 2)]
            released = [charge(framework, query, 10, DATA, reading=reading) for query in queries]
            made = [replace(one, epsilon=Fraction(1, 100)) for one in released]
            (group,) = fold(framework, made)
            assert isinstance(group, ByEntry)
            assert joint(framework, made).epsilon == pytest.approx((FEW + 2) * expected / 10)
            assert joint(framework, [group]).epsilon == pytest.approx((FEW + 2) * expected / 10)
            costs = group.under[framework.fingerprint()]
            assert costs.elsewhere.value == (FEW + 2) * Fraction(apart, 10)
            assert costs.here.value == (FEW + 2) * Fraction(2, 10)


def test_what_stays_one_by_one() -> None:
    """A few charges; what was planned with normal noise; no noise; what does not add up; windows at other places."""
    framework = chain_framework(6)
    one = charge(framework, tf.Count(1), 12, QUILT, reading="", at=0, calendar="days")
    many = [replace(one, query=tf.Count(1, entries=(n % 6,)).to_dict(), scale=Fraction(30 + n)) for n in range(2 * FEW)]
    for other in (
        [replace(c, fixed_in_advance=True) for c in many], [replace(c, scale=Fraction(0)) for c in many],
        [replace(c, covers=SINGLE) for c in many], [replace(c, delta=Fraction(1, 10**6)) for c in many],
        [replace(c, at=6 * n) for n, c in enumerate(many)], many[:FEW],
        [replace(c, definition="attribute") for c in many],
    ):  # fmt: skip
        assert fold(framework, other) == other
    cut = [*many[:FEW], replace(one, delta=Fraction(1, 10**6), scale=None, covers=WHOLE), *many[FEW:]]
    assert fold(framework, cut) == cut
    assert isinstance(fold(framework, many)[0], Several)
