"""Laws of the answer given a property of records: listed ones against every data set, bounds against listed ones."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.laws_oracles import laplace_loss_on, least_distance
from tests.support.record_oracles import laws_given, record_tables

import takifugu as tf
from takifugu.analysis.answer_laws import given_records as record_laws
from takifugu.analysis.problem import Problem
from takifugu.analysis.questions.answer_law import answer_law
from takifugu.core.errors import Unsupported

ROWS = [("a", 0, 1), ("a", 1, 0), ("b", 0, 2), ("b", 1, 0), ("c", 3, 1)]
CHANCES = [Fraction(3, 10), Fraction(2, 10), Fraction(1, 10), Fraction(3, 10), Fraction(1, 10)]
TABLE = tf.JointTable(ROWS, CHANCES, names=["group", "ill", "x"])


def family_of(secret, query, table=TABLE, records=2):
    problem = Problem(tf.Pufferfish(secret, tf.Records(table, records)), query, Fraction(1))
    (part,) = problem.law_parts
    law = answer_law(part)
    return part, law, list(law.families())


def column(data, place):
    return [row[place] for row in data]


PROPERTIES = {
    "share": (
        tf.dataset_property("group", "share", of=["b", "c"]),
        lambda d: Fraction(sum(row[0] != "a" for row in d), len(d)),
    ),
    "mean": (tf.dataset_property("x", "mean"), lambda d: Fraction(sum(column(d, 2)), len(d))),
    "count of some": (
        tf.dataset_property("x", "sum", of=[1, 2]), lambda d: Fraction(sum(row[2] > 0 for row in d))
    ),
    "weighted": (
        tf.dataset_property(["x", "ill"], [1, "-1/2"]),
        lambda d: Fraction(sum(column(d, 2)), len(d)) - Fraction(sum(column(d, 1)), 2 * len(d)),
    ),
    "vector": (
        tf.dataset_property(["x", "ill"], "sum"), lambda d: (Fraction(sum(column(d, 2))), Fraction(sum(column(d, 1))))
    ),
    "function": (
        tf.dataset_property("x", tf.Named("range", 1, lambda v: max(v) - min(v))),
        lambda d: Fraction(max(column(d, 2)) - min(column(d, 2))),
    ),
    "function of text": (
        tf.dataset_property(["group", "x"], tf.Named("who", 1, lambda g, x: g.count("a") + 10 * x[0])),
        lambda d: Fraction(column(d, 0).count("a") + 10 * d[0][2]),
    ),
    "one record": (tf.every_entry("group"), lambda d: d[0][0]),
}  # fmt: skip


@pytest.mark.parametrize("records", [1, 2, 3])
@pytest.mark.parametrize("name", PROPERTIES)
def test_the_law_given_every_value_is_that_of_all_data_sets(name, records):
    secret, property_ = PROPERTIES[name]
    expected = laws_given(ROWS, CHANCES, records, lambda d: sum(column(d, 1)), property_)
    if len(expected) == 1:
        with pytest.raises(tf.errors.InputError, match="one value"):
            family_of(secret, tf.Sum("ill"), records=records)
        return
    part, _, (family,) = family_of(secret, tf.Sum("ill"), records=records)
    values = part.belief.alphabet(0)
    assert {values[v]: dict(law.items()) for v, (law,) in family.hulls.items()} == expected
    assert list(part.belief.alphabet(0)) == sorted(expected)


@pytest.mark.parametrize("records", [2, 4])
def test_sets_are_mixtures(records):
    secret = tf.dataset_property("x", "sum", sets=[[0, 1], (3, None)])
    which = lambda d: 0 if sum(column(d, 2)) <= 1 else 1 if sum(column(d, 2)) >= 3 else None  # noqa: E731
    expected = laws_given(ROWS, CHANCES, records, lambda d: sum(column(d, 1)), which)
    _, _, (family,) = family_of(secret, tf.Sum("ill"), records=records)
    assert {v: dict(law.items()) for v, (law,) in family.hulls.items()} == {v: expected[v] for v in (0, 1)}


def test_float_tables_are_read_as_they_are():
    table = tf.JointTable(ROWS, [0.3, 0.2, 0.1, 0.3, 0.1], names=["group", "ill", "x"])
    secret, property_ = PROPERTIES["share"]
    _, _, (family,) = family_of(secret, tf.Sum("ill"), table)
    expected = laws_given(ROWS, [0.3, 0.2, 0.1, 0.3, 0.1], 2, lambda d: sum(column(d, 1)), property_)
    assert [dict(law.items()) for (law,) in family.hulls.values()] == [expected[a] for a in sorted(expected)]


@pytest.fixture
def many(monkeypatch):
    """Let every number of records count as too many for a list of laws."""
    for name in ("MOST_COMPARED", "FEW_COMPARED"):
        monkeypatch.setattr(record_laws, name, 0)


def compared_by_force(laws, most=None):
    return [(laws[a], laws[b]) for a, b in combinations(sorted(laws), 2) if most is None or b - a <= most]


def loss(p, q, scale):
    atoms = sorted({*p, *q})  # the ratio is monotone between atoms, and constant beyond them
    return float(laplace_loss_on(atoms, p, q, scale, 20))


@settings(max_examples=10, deadline=None)
@given(record_tables(levels=2, answers=3), st.integers(1, 4), st.sampled_from([None, 1, 2]))
def test_bounds_from_one_record_hold_for_every_data_set(table, records, near):
    rows, chances = table
    laws = laws_given(rows, chances, records, lambda d: sum(column(d, 1)), lambda d: sum(column(d, 0)))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(record_laws, "MOST_COMPARED", 0)
        patched.setattr(record_laws, "FEW_COMPARED", 0)
        secret = tf.dataset_property("g", "sum", max_difference=near)
        _, _, (family,) = family_of(secret, tf.Sum("f"), tf.JointTable(rows, chances, ["g", "f"]), records)
        pairs = compared_by_force(laws, near)
        for scale in (Fraction(1, 2), Fraction(2)):
            (bound,) = family.losses(scale)
            true = max(loss(p, q, scale) for p, q in pairs)
            assert true <= bound * (1 + 1e-9) + 1e-12
        moved = max(least_distance(p, q) for p, q in pairs)
        assert moved <= family.moves(0)[-1]
        move, scale = family.wasserstein(0, Fraction(1))
        assert max((loss(p, q, scale) if scale else 0.0) for p, q in pairs) <= 1 + 1e-9
        if near is None and family.copies is not None:  # all are compared: the proposal is W-infinity itself
            assert family.moves(0)[0] == moved == move


@settings(max_examples=10, deadline=None)
@given(st.lists(st.integers(1, 6), min_size=4, max_size=4), st.integers(1, 5), st.sampled_from([None, 1, 2]))
def test_two_binary_columns_lose_exactly_what_the_bound_says(counts, records, near):
    rows = [(0, 0), (0, 1), (1, 0), (1, 1)]
    chances = [Fraction(c, sum(counts)) for c in counts]
    laws = laws_given(rows, chances, records, lambda d: sum(column(d, 1)), lambda d: sum(column(d, 0)))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(record_laws, "MOST_COMPARED", 0)
        patched.setattr(record_laws, "FEW_COMPARED", 0)
        secret = tf.dataset_property("g", "sum", max_difference=near)
        _, _, (family,) = family_of(secret, tf.Sum("f"), tf.JointTable(rows, chances, ["g", "f"]), records)
        for scale in (Fraction(1, 2), Fraction(3)):
            true = max(loss(p, q, scale) for p, q in compared_by_force(laws, near))
            assert family.losses(scale)[0] == pytest.approx(true, rel=1e-9, abs=1e-12)


@settings(max_examples=10, deadline=None)
@given(record_tables(levels=3, answers=2), st.integers(1, 4), st.sampled_from([None, 1, 2]))
def test_steps_of_a_log_concave_column(table, records, near):
    rows, chances = table
    laws = laws_given(rows, chances, records, lambda d: sum(column(d, 1)), lambda d: sum(column(d, 0)))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(record_laws, "MOST_COMPARED", 0)
        patched.setattr(record_laws, "FEW_COMPARED", 0)
        secret = tf.dataset_property("g", "sum", max_difference=near)
        joint = tf.JointTable(rows, chances, ["g", "f"])
        part = Problem(tf.Pufferfish(secret, tf.Records(joint, records)), tf.Sum("f"), Fraction(1)).law_parts[0]
        law = answer_law(part)
        weights = [sum(c for (g, _), c in zip(rows, chances, strict=True) if g == level) for level in range(3)]
        if weights[1] ** 2 < weights[0] * weights[2]:
            assert "log-concave" in law.reason
            with pytest.raises(Unsupported, match="log-concave"):
                list(law.families())
            return
        (family,) = law.families()
        pairs = compared_by_force(laws, near)
        for scale in (Fraction(1, 2), Fraction(2)):
            assert max(loss(p, q, scale) for p, q in pairs) <= family.losses(scale)[0] * (1 + 1e-9) + 1e-12
        assert max(least_distance(p, q) for p, q in pairs) <= family.moves(0)[-1]


def test_one_value_of_one_record_alone(many):
    part, _, (family,) = family_of(tf.every_entry("group"), tf.Sum("ill"), records=4)
    expected = laws_given(ROWS, CHANCES, 4, lambda d: sum(column(d, 1)), lambda d: d[0][0])
    values = part.belief.alphabet(0)
    assert not family.whole
    for index, (a, _, b, _) in enumerate(family.compared):
        for scale in (Fraction(1, 2), Fraction(2)):
            assert loss(expected[values[a]], expected[values[b]], scale) <= family.losses(scale)[index] + 1e-9


def test_two_sets_of_many_records(many):
    secret = tf.dataset_property("group", "share", of="b", sets=[(None, "1/3"), ("2/3", None)])
    _, _, (family,) = family_of(secret, tf.Sum("ill"), records=3)
    which = lambda d: {0: 0, 2: 1, 3: 1}.get(column(d, 0).count("b"))  # noqa: E731
    laws = laws_given(ROWS, CHANCES, 3, lambda d: sum(column(d, 1)), which)
    assert family.times == 3
    assert loss(laws[0], laws[1], Fraction(1)) <= family.losses(Fraction(1))[0]
