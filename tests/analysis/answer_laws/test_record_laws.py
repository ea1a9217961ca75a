"""Laws of the answer given a property of records, an entry of a table or a parameter, against every data set."""

import math
from contextlib import contextmanager, suppress
from fractions import Fraction
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp
from tests.influence.quilts.test_column_quilts import random_parameters, some_query
from tests.model.beliefs.test_parameters import statistic_of
from tests.support import column_oracles as oracle
from tests.support.chain_oracles import answer_law_given, largest_laplace_loss
from tests.support.chain_strategies import contributions, table_joint, tables
from tests.support.laws_oracles import laplace_loss_on, least_distance
from tests.support.record_oracles import laws_given, record_tables

import takifugu as tf
from takifugu.analysis.answer_laws import parameters as module
from takifugu.analysis.answer_laws import records as record_laws
from takifugu.analysis.problem import Problem
from takifugu.analysis.questions.answer_law import answer_law
from takifugu.core.errors import Unsupported
from takifugu.model.beliefs.pair import LawPair
from takifugu.model.secrets.families import Family
from takifugu.numbers import Pmf

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
    "count of some": (tf.dataset_property("x", "sum", of=[1, 2]), lambda d: Fraction(sum(row[2] > 0 for row in d))),
    "weighted": (
        tf.dataset_property(["x", "ill"], [1, "-1/2"]),
        lambda d: Fraction(sum(column(d, 2)), len(d)) - Fraction(sum(column(d, 1)), 2 * len(d)),
    ),
    "vector": (
        tf.dataset_property(["x", "ill"], "sum"), lambda d: (Fraction(sum(column(d, 2))), Fraction(sum(column(d, 1))))
    ),
    "function": (
        tf.dataset_property("x", tf.NamedFunction("reach", 1, lambda v: max(v) - min(v))),
        lambda d: Fraction(max(column(d, 2)) - min(column(d, 2))),
    ),
    "function of text": (
        tf.dataset_property(["group", "x"], tf.NamedFunction("who", 1, lambda g, x: g.count("a") + 10 * x[0])),
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


@contextmanager
def many_records():
    """Let every number of records count as too many for a list of laws."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(record_laws, "MOST_COMPARED", 0)
        patched.setattr(record_laws, "FEW_COMPARED", 0)
        yield


@pytest.fixture
def many():
    with many_records():
        yield


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
    with many_records():
        secret = tf.dataset_property("g", "sum", max_difference=near)
        _, _, (family,) = family_of(secret, tf.Sum("f"), tf.JointTable(rows, chances, ["g", "f"]), records)
        pairs = compared_by_force(laws, near)
        for scale in (Fraction(1, 2), Fraction(2)):
            (bound,) = family.losses(scale)
            true = max(loss(p, q, scale) for p, q in pairs)
            assert true <= bound * (1 + 1e-9) + 1e-12
        moved = max(least_distance(p, q) for p, q in pairs)
        (compared,) = family.compared
        assert moved <= compared.moves()[-1]
        move, scale = compared.wasserstein(Fraction(1))
        assert max((loss(p, q, scale) if scale else 0.0) for p, q in pairs) <= 1 + 1e-9
        with suppress(Unsupported):  # without laws of copies nothing nearer is proposed
            if near is None and family.laws():  # all are compared: the proposal is W-infinity itself
                assert compared.moves()[0] == moved == move


@settings(max_examples=10, deadline=None)
@given(st.lists(st.integers(1, 6), min_size=4, max_size=4), st.integers(1, 5), st.sampled_from([None, 1, 2]))
def test_two_binary_columns_lose_exactly_what_the_bound_says(counts, records, near):
    rows = [(0, 0), (0, 1), (1, 0), (1, 1)]
    chances = [Fraction(c, sum(counts)) for c in counts]
    laws = laws_given(rows, chances, records, lambda d: sum(column(d, 1)), lambda d: sum(column(d, 0)))
    with many_records():
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
    with many_records():
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
        assert max(least_distance(p, q) for p, q in pairs) <= family.compared[0].moves()[-1]


def test_one_value_of_one_record_alone(many):
    part, _, (family,) = family_of(tf.every_entry("group"), tf.Sum("ill"), records=4)
    expected = laws_given(ROWS, CHANCES, 4, lambda d: sum(column(d, 1)), lambda d: d[0][0])
    values = part.belief.alphabet(0)
    assert not family.whole
    for compared in family.compared:
        (a, _), (b, _) = compared.left, compared.right
        for scale in (Fraction(1, 2), Fraction(2)):
            assert loss(expected[values[a]], expected[values[b]], scale) <= compared.loss(scale) + 1e-9


def test_two_sets_of_many_records(many):
    secret = tf.dataset_property("group", "share", of="b", sets=[(None, "1/3"), ("2/3", None)])
    _, law, (family,) = family_of(secret, tf.Sum("ill"), records=3)
    which = lambda d: {0: 0, 2: 1, 3: 1}.get(column(d, 0).count("b"))  # noqa: E731
    laws = laws_given(ROWS, CHANCES, 3, lambda d: sum(column(d, 1)), which)
    bounds = [law.repeated((0, 1), times).losses(Fraction(1)) for times in (2, 3)]
    assert bounds[0] != family.losses(Fraction(1)) == bounds[1]
    assert loss(laws[0], laws[1], Fraction(1)) <= family.losses(Fraction(1))[0]


@given(st.booleans().flatmap(lambda exact: tables(exact)))
def test_every_law_is_the_sum_over_rows(table: tf.JointTable) -> None:
    share = SimpleNamespace(belief=table, answer=tf.Sum().resolve(table), family=Family(range(table.size)))
    joint, contribution = table_joint(table), contributions(share.answer)
    for family in answer_law(share).families():
        for value, (law,) in family.hulls.items():
            expected = answer_law_given(joint, contribution, family.entry, value)
            assert law.exact == (table.total is not None)
            assert law.values.tolist() == list(expected)
            if law.exact:
                assert dict(law.items()) == expected
            else:
                pairs = zip(law.probabilities.tolist(), expected.values(), strict=True)
                assert all(abs(m - p) <= Fraction(family.relative_error) * p for m, p in pairs)


def test_rows_without_mass_are_skipped() -> None:
    table = tf.JointTable([(0, 0), (1, 1), (2, 5)], [Fraction(1, 2), Fraction(1, 2), Fraction(0)])
    share = SimpleNamespace(belief=table, answer=tf.Sum().resolve(table), family=Family(range(2)))
    assert [sorted(family.hulls) for family in answer_law(share).families()] == [[0, 1], [0, 1]]


def test_two_given_laws_are_one_family() -> None:
    p, q = Pmf([0], [1]), Pmf([1], [1])
    share = SimpleNamespace(belief=LawPair(p, q), answer=SimpleNamespace(cells=1), family=Family((0,)))
    (family,) = answer_law(share).families()
    (compared,) = family.compared
    assert (compared.left, compared.right, compared.reach) == ((0, 0), (1, 0), 1)
    assert family.hulls == {0: (p,), 1: (q,)}


def part_of(belief: Any, query: Any, *columns: str) -> Any:
    framework = tf.Pufferfish([tf.distribution_parameter(name) for name in columns], belief)
    return Problem(framework, query, Fraction(1)).law_parts[0]


@pytest.mark.parametrize("exact", [True, False])
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3), st.booleans())
def test_it_is_the_law_over_all_parameters_and_data_sets(exact: bool, seed: int, size: int, table: bool) -> None:
    belief, law, columns = random_parameters(seed, size, 2, table)
    rng = np.random.default_rng(seed)
    query, entry = some_query(rng, belief.columns), int(rng.integers(size))
    statistic = statistic_of(query, belief.record)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "FEW_ATOMS", module.FEW_ATOMS if exact else 0)
        (family,) = answer_law(part_of(belief, query, str(belief.names[entry]))).families()
        for value, (hull,) in family.hulls.items():
            expected = oracle.answer_law(law, columns, 2, statistic, entry, value)
            assert {int(at) for at, _ in hull.items()} == {at for (at,) in expected}
            for at, mass in hull.items():
                # a network holds thousandths as floats, a table as they are
                assert float(mass) == pytest.approx(float(expected[(int(at),)]), rel=1e-11)
                if exact and table:
                    assert mass == expected[(int(at),)]


def test_value_by_value_covers_sets_of_values() -> None:
    """The distribution given a set of values is a mixture of those given its values: no more is lost (Theorem 4)."""
    net = tf.BayesianNetwork([("a", ["p", "q", "r"], [], [0.2, 0.5, 0.3])])
    chances = {"p": Fraction(1, 10), "q": Fraction(1, 2), "r": Fraction(4, 5)}
    belief = tf.Parameters(net, {"a": {k: {1: p, 0: 1 - p} for k, p in chances.items()}}, 3)
    framework = tf.Pufferfish(tf.distribution_parameter("a"), belief)
    calibration = tf.calibrate(framework, tf.Sum("a"), 1, mechanism="laplace-exact", single_release=True)

    def law(p: Fraction) -> dict[int, Fraction]:
        return {k: math.comb(3, k) * p**k * (1 - p) ** (3 - k) for k in range(4)}

    weights = {"p": Fraction(2, 7), "q": Fraction(5, 7)}
    mixed = {k: sum((w * law(chances[v])[k] for v, w in weights.items()), Fraction(0)) for k in range(4)}
    assert largest_laplace_loss(mixed, law(chances["r"]), calibration.scale) <= 1 + 1e-9


def test_tails_of_long_columns_keep_their_relative_accuracy() -> None:
    """n = 3,000: the loss at one end of the range is n log(p/q) after smoothing, far below what floats can hold."""
    net = tf.BayesianNetwork([("a", [0, 1], [], [0.5, 0.5]), ("b", [0, 1], ["a"], [[0.75, 0.25], [0.25, 0.75]])])
    coins = {0: {1: "0.4", 0: "0.6"}, 1: {1: "0.6", 0: "0.4"}}
    belief = tf.Parameters(net, {"b": coins}, 3000)
    (family,) = answer_law(part_of(belief, tf.Sum("b"), "a")).families()
    scale = Fraction(700)
    loss = max(family.losses(scale))
    with mp.workdps(60):

        def noised(q: float, y: int) -> Any:  # beyond the largest answer: E e^{F/b}
            up = [(1 - mp.mpf(p) + mp.mpf(p) * mp.exp(1 / mp.mpf(700))) ** 3000 for p in ("0.4", "0.6")]
            down = [(1 - mp.mpf(p) + mp.mpf(p) * mp.exp(-1 / mp.mpf(700))) ** 3000 for p in ("0.4", "0.6")]
            side = up if y else down
            return (1 - q) * side[0] + q * side[1]

        expected = max(abs(mp.log(noised(0.25, y) / noised(0.75, y))) for y in (0, 1))
    assert float(expected) <= loss <= float(expected) * (1 + 1e-6)
    framework = tf.Pufferfish(tf.distribution_parameter("a"), belief)
    options = {"mechanism": "laplace-exact", "single_release": True, "allow_zero_noise": True}
    assert tf.calibrate(framework, tf.Sum("b"), 2, **options)
