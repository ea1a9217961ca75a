"""Classes of tables: bounds against many members, and against brute force where the worst member is known."""

import math
from fractions import Fraction
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.chain_oracles import largest_laplace_loss
from tests.support.laws_oracles import laplace_loss_on, least_distance
from tests.support.record_oracles import laws_given

import takifugu as tf
from takifugu.analysis.answer_laws.record_classes import Level, _envelope
from takifugu.core.errors import CalibrationRefused, InputError
from takifugu.model import beliefs
from takifugu.numbers import Pmf

ROWS = [(g, f) for g in (0, 1) for f in (0, 1, 3)]


@st.composite
def classes(draw):
    """A table of two columns, intervals around its probabilities, and some tables inside them."""
    counts = draw(st.lists(st.integers(1, 6), min_size=len(ROWS), max_size=len(ROWS)))
    chances = [Fraction(c, sum(counts)) for c in counts]
    slack = draw(st.lists(st.integers(0, 4), min_size=len(ROWS), max_size=len(ROWS)))
    within = [(c * (1 - Fraction(s, 8)), c * (1 + Fraction(s, 8))) for c, s in zip(chances, slack, strict=True)]
    members = [chances]
    for _ in range(3):
        moved = [draw(st.sampled_from(ends)) for ends in zip(*zip(*within, strict=True), strict=True)]
        total = sum(moved)
        member = [m / total for m in moved]
        if all(low <= m <= high for m, (low, high) in zip(member, within, strict=True)):
            members.append(member)
    return chances, within, members


def belief_of(chances, within, records):
    return tf.Records(tf.JointTable(ROWS, chances, ["g", "f"]), records, within=within)


@settings(max_examples=8, deadline=None)
@given(classes(), st.integers(1, 3), st.sampled_from([Fraction(1, 2), Fraction(2)]))
def test_the_noise_is_enough_for_every_member(belief_class, records, epsilon):
    chances, within, members = belief_class
    framework = tf.Pufferfish(tf.dataset_property("g", "sum"), belief_of(chances, within, records))
    exact = tf.calibrate(framework, tf.Sum("f"), epsilon, mechanism="laplace-exact", allow_zero_noise=True).scale
    moves = tf.calibrate(framework, tf.Sum("f"), epsilon, mechanism="wasserstein", allow_zero_noise=True).scale
    assert exact <= moves * (1 + 1e-9)
    for member in members:
        laws = laws_given(ROWS, member, records, lambda d: sum(r[1] for r in d), lambda d: sum(r[0] for r in d))
        for p, q in combinations(laws.values(), 2):
            assert least_distance(p, q) <= moves * epsilon * (1 + Fraction(1, 10**9))
            if exact:
                assert laplace_loss_on({*p, *q}, p, q, exact, 20) <= float(epsilon) * (1 + 1e-9)


@pytest.mark.sampled(7)
@pytest.mark.parametrize("spread", [0, Fraction(1, 10)])
@pytest.mark.parametrize(("values", "secret", "compares"), [
    ((0, 2, 4), tf.dataset_property("g", "sum"), lambda a, b: True),
    ((0, 3), tf.dataset_property("g", "sum"), lambda a, b: True),
    ((0, 2, 4), tf.dataset_property("g", "sum", max_difference=2), lambda a, b: b - a <= 2),
    ((-1, 1), tf.dataset_property("g", "sum", pairs=[(-2, 0)]), lambda a, b: (a, b) == (-2, 0)),
    ((0, 2), tf.dataset_property("g", "share", of=2, sets=[(None, "1/3"), ("2/3", None)]), lambda a, b: b - a == 4),
])  # fmt: skip
def test_levels_that_are_no_step_of_one_apart(values, secret, compares, spread):
    """Every extreme table, and every two levels of the property that the secret compares."""
    shares = [Fraction(1, 4), Fraction(1, 2), Fraction(1, 4)] if len(values) == 3 else [Fraction(1, 3), Fraction(2, 3)]
    likely = [Fraction(1, 5), Fraction(2, 5), Fraction(1, 2)]
    rows = [(g, f) for g in values for f in (0, 1)]
    chances = [share * (p if f else 1 - p) for share, p in zip(shares, likely, strict=False) for f in (0, 1)]
    within = [(c * (1 - spread), c * (1 + spread)) for c in chances]
    framework = tf.Pufferfish(secret, tf.Records(tf.JointTable(rows, chances, ["g", "f"]), 2, within=within))
    exact, moves = (
        tf.calibrate(framework, tf.Sum("f"), 1, mechanism=name, allow_zero_noise=True).scale
        for name in ("laplace-exact", "wasserstein")
    )
    for ways in product((-1, 1), repeat=len(values)):
        steps = [way * spread * min(chances[2 * n], chances[2 * n + 1]) for n, way in enumerate(ways)]
        member = [c + (steps[k // 2] if k % 2 else -steps[k // 2]) for k, c in enumerate(chances)]
        laws = laws_given(rows, member, 2, lambda d: sum(r[1] for r in d), lambda d: sum(r[0] for r in d))
        for (one, p), (other, q) in combinations(sorted(laws.items()), 2):
            if compares(one, other):
                assert least_distance(p, q) <= moves * (1 + Fraction(1, 10**9))
                assert largest_laplace_loss(p, q, exact) <= 1 + 1e-9


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=4))
def test_extreme_means_by_all_corners(rows):
    level = Level(tuple((x, Fraction(min(a, b)), Fraction(max(a, b) + 1)) for x, a, b in rows))
    corners = [
        sum(w * Fraction(x * x) for w, (x, _, _) in zip(weights, level.rows, strict=True)) / sum(weights)
        for weights in product(*((low, high) for _, low, high in level.rows)) if sum(weights)
    ]  # fmt: skip
    assert level.highest(lambda x: Fraction(x * x)) == max(corners)
    assert level.lowest(lambda x: Fraction(x * x)) == min(corners)


@pytest.mark.parametrize("records", [1, 50, 32_561])
def test_two_binary_columns_have_their_worst_table_in_a_corner(records):
    rows, quarter = [(0, 0), (0, 1), (1, 0), (1, 1)], Fraction(1, 4)
    table = tf.JointTable(rows, [quarter] * 4, ["g", "f"])
    within = [(Fraction(1, 5), Fraction(3, 10))] * 4
    framework = tf.Pufferfish(tf.dataset_property("g", "mean"), tf.Records(table, records, within=within))
    scale = tf.calibrate(framework, tf.Sum("f"), 2, mechanism="laplace-exact", allow_zero_noise=True).scale
    if not scale:
        assert records == 1
        return
    likely, rare = Fraction(3, 5), Fraction(2, 5)  # of f given g, at the opposite corners
    loss = max(
        abs(math.log((1 - likely + likely * math.exp(s / scale)) / (1 - rare + rare * math.exp(s / scale))))
        for s in (1, -1)
    )
    assert records * loss == pytest.approx(2, rel=1e-8)


def test_members_of_a_class_are_audited_in_its_place():
    chances = [Fraction(1, 6)] * 6
    within = [(Fraction(1, 12), Fraction(1, 4))] * 6
    framework = tf.Pufferfish(tf.dataset_property("g", "sum"), belief_of(chances, within, 2))
    calibration = tf.calibrate(framework, tf.Sum("f"), 1, mechanism="laplace-exact")
    leaning = [Fraction(1, 4), Fraction(1, 6), Fraction(1, 12), Fraction(1, 12), Fraction(1, 6), Fraction(1, 4)]
    member = tf.Records(tf.JointTable(ROWS, leaning, ["g", "f"]), 2)
    audit = tf.exact_loss(calibration, chains=[member])
    assert 0.3 < audit.loss <= 1
    outside = tf.Records(tf.JointTable(ROWS, [Fraction(1, 2), *[Fraction(1, 10)] * 5], ["g", "f"]), 2)
    with pytest.raises(InputError, match="not in the class"):
        tf.exact_loss(calibration, chains=[outside])


@pytest.mark.parametrize("secret", [
    tf.every_entry("g"), tf.dataset_property("g", "share", of=1, sets=[(None, "1/2"), ("1/2", None)]),
    tf.dataset_property("g", "sum", max_difference=1), tf.dataset_property("g", "sum", pairs=[(0, 2)]),
])  # fmt: skip
def test_other_secrets_about_a_class(secret):
    within = [(Fraction(1, 12), Fraction(1, 4))] * 6
    framework = tf.Pufferfish(secret, belief_of([Fraction(1, 6)] * 6, within, 3))
    calibration = tf.calibrate(framework, tf.Sum("f"), 1, mechanism="laplace-exact", allow_zero_noise=True)
    member = [Fraction(1, 12), Fraction(1, 6), Fraction(1, 4), Fraction(1, 4), Fraction(1, 6), Fraction(1, 12)]
    assert 0 < tf.exact_loss(calibration, chains=[tf.Records(tf.JointTable(ROWS, member, ["g", "f"]), 3)]).loss <= 1


def test_what_is_not_proved_for_a_class_is_refused():
    within = [(Fraction(1, 12), Fraction(1, 4))] * 6
    belief = belief_of([Fraction(1, 6)] * 6, within, 3)
    framework = tf.Pufferfish(tf.dataset_property("g", "sum"), belief)
    for mechanism, delta in (("gaussian-exact", 0.01), ("optimal", 0), ("kantorovich-relaxed", 0)):
        with pytest.raises(CalibrationRefused, match="corners prove nothing"):
            tf.calibrate(framework, tf.Sum("f"), 1, delta, mechanism=mechanism)
    wide = tf.Pufferfish(tf.dataset_property("f", "sum"), belief)
    with pytest.raises(CalibrationRefused, match="two levels"):
        tf.calibrate(wide, tf.Sum("g"), 1, mechanism="laplace-exact")
    vector = tf.Pufferfish(tf.dataset_property(["f", "g"], "sum"), belief)
    with pytest.raises(CalibrationRefused, match="one sum, mean or share"):
        tf.calibrate(vector, tf.Sum("g"), 1, mechanism="laplace-exact")
    assert tf.calibrate(framework, tf.Sum("f"), 1, mechanism="group-dp").scale == 9


@pytest.mark.parametrize(
    ("within", "words"),
    [([(0, 1)], "1 intervals and 6 rows"), ([(0, 0.1)] * 6, "must lie inside"), ([(-1, 1)] * 6, "must lie inside")],
)
def test_intervals_that_are_none(within, words):
    with pytest.raises(InputError, match=words) as refusal:
        belief_of([Fraction(1, 6)] * 6, within, 3)
    assert refusal.value.where == ("within",)


def test_a_class_reads_back():
    belief = belief_of([Fraction(1, 6)] * 6, [(0.1, 0.3)] * 6, 3)
    again = beliefs.from_dict(beliefs.to_dict(belief))
    assert again.within == belief.within
    assert "within intervals" in again.describe()


@pytest.mark.mutants
@pytest.mark.parametrize(("low", "high", "move"), [("2/5", "3/5", 1), ("3/10", "7/10", 2), ("0", "1", 4)])
def test_the_boxes_of_example_2(low, high, move):
    """Zhang22 Example 2: W = 1, 2, 4 for every table of the class, not for its corners alone."""
    rows = [(1, 1), (0, 1), (1, 0), (0, 0)]
    table = tf.JointTable(rows, [Fraction(1, 4)] * 4, names=["x1", "x2"])
    box = tf.Records(table, 4, within=[(Fraction(low) / 2, Fraction(high) / 2)] * 4)
    framework = tf.Pufferfish(tf.dataset_property("x2", "sum"), box)
    assert tf.calibrate(framework, tf.Sum("x1"), 1, mechanism="wasserstein").scale == move
    seventh = [Fraction(low) + (Fraction(high) - Fraction(low)) * k / 7 for k in range(8)]
    for p, q in product(seventh, repeat=2):
        member = [p / 2, (1 - p) / 2, q / 2, (1 - q) / 2]
        laws = laws_given(rows, member, 4, lambda d: sum(r[0] for r in d), lambda d: sum(r[1] for r in d))
        assert all(least_distance(one, other) <= move for one, other in combinations(laws.values(), 2))


def test_an_envelope_is_stochastically_around_all_laws() -> None:
    half = (Fraction(2, 5), Fraction(3, 5))
    low, high = _envelope([Level(((0, *half), (1, *half)))])
    assert low == Pmf([0, 1], [Fraction(3, 5), Fraction(2, 5)])
    assert high == Pmf([0, 1], [Fraction(2, 5), Fraction(3, 5)])
