"""Marks as a randomiser: its law by hand, its draws, its loss along the moves, and what a release of it says."""

import json
import math
from dataclasses import replace
from fractions import Fraction as F
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpmath import mp

import takifugu as tf
from takifugu.accounting.composition import charge_of, joint
from takifugu.accounting.definitions.asymmetric import loss_along
from takifugu.accounting.ledger import Ledger
from takifugu.analysis import randomisers
from takifugu.analysis.randomisers import Direction
from takifugu.core.errors import CalibrationRefused, InputError, Unsupported
from takifugu.mechanisms.one_sided import Asymmetric, Monotone, Policy, Visits, any_of, none_of, sensitivity, visits
from takifugu.mechanisms.one_sided.safe_cells import SafeCells
from takifugu.model.beliefs.domain import Domain
from takifugu.model.policies.boxes import Boxes
from takifugu.model.policies.sensitivity import Change, Sensitivity
from takifugu.numbers.noise import InsecureSeededEntropyForTests
from takifugu.releasing.postprocess.release import releases_of

PLACES = Visits.of(["bar", "shop"], most=2)


def made(query: Any, epsilon: Any = 1, policy: Policy | None = None, domain: Any = PLACES) -> Any:
    return tf.calibrate(Asymmetric(visits() if policy is None else policy, domain), query, epsilon)


@pytest.mark.sampled(11)
@pytest.mark.parametrize("limit", [None, 1, 2, 3])
@pytest.mark.parametrize("threshold", [0, 1, 2.5])
@pytest.mark.parametrize("epsilon", ["1/2", 1, 3])
def test_every_limit_keeps_its_promise_and_uses_all_of_it(limit: Any, threshold: Any, epsilon: Any) -> None:
    calibration = made(tf.AtMost(tf.Visitors(), threshold, limit), epsilon)
    assert calibration.mechanism == "asymmetric-sparse"
    price = 2 if limit is None else min(2, limit)
    assert calibration.randomiser.units == pytest.approx(price / float(F(epsilon)), rel=1e-9)
    loss = tf.exact_loss(calibration).loss
    assert loss <= float(F(epsilon)) * (1 + 1e-9)
    assert loss == pytest.approx(float(F(epsilon)))


@pytest.mark.parametrize("units", [F(1), F(7, 3), F(10**18)])
@pytest.mark.parametrize("alpha", [F(1, 10**40), F(1, 20), 1 - F(1, 10**9), 1 - F(1, 10**17)])
def test_dangerous_values_are_as_near_as_alpha_allows(units: Any, alpha: Any) -> None:
    """Exactly: of a difference of logarithms nothing is left where alpha is all but 1."""
    noise = SafeCells(units, F(1), 1, (0,), None, F(1), alpha)
    with mp.workdps(80):
        most, each = mp.mpf(alpha.numerator) / alpha.denominator, mp.mpf(units.numerator) / units.denominator
        assert mp.exp(-noise.beyond / each) <= most
        assert noise.beyond == 1 or mp.exp(-(noise.beyond - 1) / each) > most


def test_it_promises_nothing_the_other_way() -> None:
    noise = made(tf.AtMost(tf.Visitors(), 1)).randomiser
    back = Asymmetric(Policy.of(any_of("bar"), any_of("shop")), PLACES)
    assert tf.exact_loss(back, tf.AtMost(tf.Visitors(), 1), noise).loss == math.inf
    assert (noise.loss(F(1), Direction.UP), noise.loss(F(1)), noise.loss(F(0))) == (math.inf, math.inf, 0)


def test_under_another_policy_values_that_fall_further_cost_more() -> None:
    """A sum that falls by one step along the moves of its own policy, and by two along those of another one."""
    domain, query = Domain.of(2, ["a", "b", "c"]), tf.AtMost(tf.Sum(codes={"a": 1, "b": 2, "c": 0}), 0, limit=1)
    policy = Policy.of(none_of("a"), none_of("b"), any_of("b"))  # a -> c alone
    other = Policy.of(none_of("a", "b"), none_of("b"))  # a -> c, b -> a and b -> c
    calibration = made(query, 1, policy, domain)
    moves = sensitivity(other, domain, query)
    assert (moves.direction, moves.total) == (Monotone.DECREASING, 2)
    assert calibration.randomiser.loss_along(sensitivity(policy, domain, query)) == pytest.approx(1)
    assert calibration.randomiser.loss_along(moves) == pytest.approx(2)
    wider = Asymmetric(other, domain)
    assert tf.exact_loss(wider, query, calibration.randomiser).loss == pytest.approx(2)
    assert joint(wider, [charge_of(calibration)]).epsilon == pytest.approx(2)
    rising = sensitivity(Policy(), domain, query)
    assert calibration.randomiser.loss_along(rising) == math.inf


@pytest.mark.mutants
def test_draws_follow_the_law_and_safe_is_never_wrong() -> None:
    noise, answer = SafeCells(F(1), F(1), 3, (1,), 1, F(3)), [0, 1, 2]
    entropy, seen = InsecureSeededEntropyForTests(7), dict[Any, int]()
    draws = 4000
    for _ in range(draws):
        output = noise.draw(answer, entropy)
        seen[output] = seen.get(output, 0) + 1
        assert output[2] != "safe"
    assert math.fsum(math.exp(noise.log_density(answer, output)) for output in seen) > 0.98
    for output, count in seen.items():
        mass = math.exp(noise.log_density(answer, output))
        assert abs(count - draws * mass) < 6 * math.sqrt(draws * mass) + 1, output
    worse = noise.log_density(answer, ("safe", "not answered", "safe"))
    assert worse == -math.inf
    assert noise.log_density(answer, ("safe", "safe", F(5, 2))) == -math.inf


def test_it_reads_back_and_says_what_it_can() -> None:
    noise = SafeCells(F(3, 2), F(1, 4), 2, (5, 0), None, F(2))
    assert randomisers.from_dict(json.loads(json.dumps(noise.to_dict()))) == noise
    assert noise.scale == F(3, 8)
    assert noise.chance(6, 5) == noise.chance_of_danger(6, 5) == 0
    for unknown in (noise.expected_error, noise.variance, lambda: noise.half_width(0.95)):
        with pytest.raises(Unsupported):
            unknown()
    with pytest.raises(InputError):
        noise.draw_column([1], None)  # type: ignore[arg-type]
    for wrong in ({"thresholds": (-1,)}, {"thresholds": (1, 2, 3)}, {"units": F(0)}, {"limit": 0},
                  {"alpha": F(0)}, {"alpha": F(1)}):
        with pytest.raises(InputError):
            replace(noise, **wrong)


@pytest.mark.parametrize(("policy", "domain", "query", "why"), [
    (visits(["bar"]), PLACES, tf.AtMost(tf.Visitors(), 1), '"safe" could be wrong'),
    (Policy(), PLACES, tf.AtMost(tf.Visitors(), 1), '"safe" could be wrong'),
    (Policy.of(any_of("ill")), Domain.of(3, ["well", "ill"]), tf.AtMost(tf.Count("ill"), 1), "could be wrong"),
    (Policy.of(none_of("x")), Domain.of(3, ["x", "y"]), tf.AtMost(tf.Sum(codes={"x": 3, "y": 1}), 5), "more than one"),
])  # fmt: skip
def test_a_query_that_is_not_monotone_or_moves_too_far_is_refused(
    policy: Any, domain: Any, query: Any, why: str
) -> None:
    with pytest.raises(CalibrationRefused) as refusal:
        made(query, policy=policy, domain=domain)
    assert why in " ".join(str(refusal.value).split())


def test_thresholds_of_their_own_and_counts_of_values() -> None:
    calibration = made(tf.AtMost(tf.Visitors(), {"bar": 0, "shop": 4}))
    assert calibration.randomiser.thresholds == (0, 4)
    ill = made(tf.AtMost(tf.Count("ill"), 1), policy=Policy.of(none_of("ill")), domain=Domain.of(3, ["well", "ill"]))
    assert tf.exact_loss(ill).loss == pytest.approx(1)
    assert tf.release(ill, ["well", "ill", "ill"]).value >= 2  # never "safe": two are ill


def test_a_sum_may_be_below_0() -> None:
    """Data with such a sum were refused, after the payment: an error that their neighbours could not have."""
    debts: Any = {"debt": -1, "none": 0}
    query = tf.AtMost(tf.Sum(codes=debts), 0)
    calibration = made(query, 40, Policy.of(none_of("none")), Domain.of(3, ["debt", "none"]))
    for data in product(debts, repeat=3):
        total = sum(map(debts.get, data))
        assert tf.release(calibration, data).value == "safe"
        law = calibration.randomiser.log_density([total], ["safe"])
        assert law == pytest.approx(math.log(-math.expm1(-40 * (1 - total))))


@pytest.mark.parametrize(("code", "threshold", "words"), [
    ("1/2", "1.75", "at most 1.5"), ("1/3", "0.7", "at most 2/3"), (1, "2.9", "at most 2"), (1, 3000, "at most 3,000"),
])  # fmt: skip
def test_what_safe_means_is_true_of_every_count_that_is_called_so(code: Any, threshold: Any, words: str) -> None:
    """A sum of 1.5 was called safe, and its certificate said that the true count is at most 1."""
    query, policy = tf.AtMost(tf.Sum(codes={"ill": code, "well": 0}), threshold), Policy.of(none_of("ill"))
    calibration = made(query, 1000, policy, Domain.of(4, ["ill", "well"]))
    released = [tf.release(calibration, ["ill"] * ill + ["well"] * (4 - ill)) for ill in range(5)]
    largest = max(F(code) * ill for ill, release in enumerate(released) if release.value == "safe")
    assert largest == min(F(words.removeprefix("at most ").replace(",", "")), 4 * F(code))
    assert f'"safe" means that the true count is {words}, and that is never' in " ".join(
        released[0].certificate.text().replace(" - ", " ").split()
    )


def test_it_is_released_accounted_for_certified_and_read_back(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "ledger.db")
    calibration = made(tf.AtMost(tf.Visitors(), 3, limit=1))
    data = {f"p{i}": ["bar"] for i in range(30)} | {"q": ["shop"]}
    out = tf.release(calibration, data, entries="values", ledger=ledger, source="people", budget=1)
    assert out.value["bar"] >= 30
    assert out.value["shop"] == "not answered"
    assert out.rows()[1] == {"cell": "shop", "safe_or_at_most": "not answered", "low": None, "high": None}
    assert ledger.spent("people").epsilon == 1
    text = " ".join(out.certificate.text().split())
    assert '"safe" means that the true count is at most 3, and that is never wrong' in text
    assert '"not answered" says nothing about a place' in text
    (back,) = releases_of(out.certificate).values()
    assert back.values == out.values
    page = tf.report_html(out)
    assert "1 not known to be safe, 1 not answered of 2 places" in page


def test_comparing_says_what_ordinary_noise_would_do() -> None:
    """One person who goes elsewhere changes two counts: scale 2/epsilon; a^(3 - z)/(1 + a) <= 1/1000 at the cutoff."""
    table = tf.compare(Asymmetric(visits(), Visits.of(["a", "b"], most=1)), tf.AtMost(tf.Visitors(), 2), 1)
    a = math.exp(-1 / 2)
    cutoff = max(z for z in range(-40, 3) if a ** (3 - z) / (1 + a) <= 1e-3)
    (words,) = table.remarks
    chance = math.ceil(1e6 * a**-cutoff / (1 + a)) / 1e4  # four digits, rounded up
    assert f"{chance:.4g} % at most" in words
    assert "never wrong, it can call nothing safe" in words
    assert not tf.compare(Asymmetric(visits(), Visits.of(["a", "b"], most=1)), tf.Visitors(), 1).remarks


def test_a_map_shows_every_box() -> None:
    boxes = Boxes.of((0, 3), (0, 2), columns=3, rows=2)
    calibration = made(tf.AtMost(tf.Visitors(), 3), 100, domain=Visits.of_boxes(boxes, most=1))
    page = tf.report_html(tf.release(calibration, [["r1c2"]] * 9))
    assert page.count("<svg") == 2  # wide and narrow
    assert 'fill="#d55e00"' in page
    assert "5 safe, 1 not known to be safe of 6 places" in page
    assert "r1c2" in page
    assert "r0c0" not in page.split("<h2>What the guarantee rests on")[0].split("</svg>")[-1]


@pytest.mark.parametrize(("x", "y", "place"), [
    (0, 0, "r0c0"), (1, 1, "r1c2"), (F(1, 3), 0, "r0c1"), (F(333333, 1000000), 0, "r0c0"), (2, 0, None), (0, -1, None),
])  # fmt: skip
def test_boxes_include_their_lower_ends_and_the_last_ones_both(x: Any, y: Any, place: Any) -> None:
    town = Boxes.of((0, 1), (0, 1), columns=3, rows=2)
    assert town.place(F(x), F(y)) == place
    assert Boxes.from_dict(json.loads(json.dumps(town.to_dict()))) == town
    for wrong in (lambda: Boxes.of((1, 1), (0, 1), 1, 1), lambda: Boxes.of((0, 1), (0, 1), 2000, 2000)):
        with pytest.raises(InputError):
            wrong()


def moving(*amounts: Any, direction: Monotone = Monotone.DECREASING) -> Sensitivity:
    """Return moves along which cells fall by so much each, in answer units."""
    return Sensitivity(tuple(Change(direction, F(amount)) for amount in amounts), sum(map(F, amounts), F(0)))


@pytest.mark.parametrize(("limit", "lost"), [(None, F(7, 3)), (1, F(4, 3)), (2, F(7, 3)), (3, F(7, 3))])
def test_what_is_lost_on_a_grid_of_halves_is_counted_in_its_steps(limit: Any, lost: F) -> None:
    """Cells that fall by 4, 2 and 1 steps, noise of 3 units: one value loses 4/3 at most, all of them 7/3."""
    noise = SafeCells(F(3), F(1, 2), 3, (5,), limit, F(7))
    assert loss_along(noise, moving(2, 1, F(1, 2))) == lost
    assert loss_along(noise, moving(0, 0, 0, direction=Monotone.CONSTANT)) == 0
    assert loss_along(noise, replace(moving(2, 1, F(1, 2), direction=Monotone.INCREASING))) == math.inf
    assert loss_along(noise, Sensitivity((), F(0))) == 0
    assert noise.loss(F(7, 2), Direction.DOWN) == F(7, 3)  # as if one cell fell by all of it
    assert noise.loss(F(7, 2), Direction.UP) == math.inf
    assert noise.scale == F(3, 2)


@pytest.mark.parametrize(("count", "threshold"), [(0, 0), (3, 3), (2, 5), (4, 3)])
def test_the_chance_of_a_safe_mark_is_that_of_noise_that_stays_below(count: int, threshold: int) -> None:
    """P(count + K <= threshold), K geometric with P(K >= k) = e^(-k/2); the density of the mark is the same."""
    noise = SafeCells(F(2), F(1, 2), 1, (threshold,), None, F(1))
    masses = [math.exp(-k / 2) * (1 - math.exp(-1 / 2)) for k in range(threshold - count + 1)]
    assert noise.chance(count, threshold) == pytest.approx(math.fsum(masses))
    log_mass = noise.log_density((count,), ("safe",))
    assert math.exp(log_mass) == pytest.approx(math.fsum(masses)) if masses else log_mass == -math.inf
    value = noise.log_density((count,), (F(threshold + 1, 2),))
    assert math.exp(value) == pytest.approx(math.exp(-(threshold + 1 - count) / 2) * (1 - math.exp(-1 / 2)))
    assert noise.log_density((count,), (F(1, 3),)) == -math.inf


def test_values_are_told_in_answer_units_and_every_cell_has_its_threshold() -> None:
    noise = SafeCells(F(1, 1000), F(1, 2), 2, (3, 9), None, F(1))
    assert noise.draw((8, 8), InsecureSeededEntropyForTests(1)) == (4, "safe")
    assert SafeCells(F(1, 1000), F(1, 2), 2, (3,), None, F(1)).each == (3, 3)
    with pytest.raises(InputError, match="the answer has 3 cells and the noise 2"):
        noise.draw((1, 2, 3), InsecureSeededEntropyForTests(1))
    for wrong in ((), (1, 2, 3), (5, -1), (-1,)):
        with pytest.raises(InputError):
            replace(noise, thresholds=wrong)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("alpha", ["1/2", "0.1", "1e-3"])
@pytest.mark.parametrize("units", [F(1, 3), F(1), F(7, 2)])
def test_a_place_at_its_threshold_is_called_dangerous_with_probability_alpha_at_most_and_no_less_would_do(
    units: F, alpha: str
) -> None:
    """The marks of all values, weighed by the law of geometric noise: K >= k with e^(-k/units), in whole numbers."""
    noise, threshold = SafeCells(units, F(1), 1, (2,), None, F(1), F(alpha)), 2
    ratio = math.exp(-1 / float(units))
    least = next(k for k in range(1000) if ratio**k <= float(F(alpha)) * (1 + 1e-12))
    assert noise.beyond == least
    for count in range(9):
        said = {"safe": 0.0, "dangerous": 0.0, "undecided": 0.0}
        for value in range(count, count + 400):
            mark = "safe" if value <= threshold else noise.marks([F(value)])[0]
            said[mark] += (1 - ratio) * ratio ** (value - count)
        assert said["dangerous"] == pytest.approx(noise.chance_of_danger(count, threshold), abs=1e-12)
        assert said["safe"] == pytest.approx(noise.chance(count, threshold), abs=1e-12)
        assert count > threshold or said["dangerous"] <= float(F(alpha))
        assert count < threshold + least or said["dangerous"] == pytest.approx(1)
    assert noise.marks(["safe"]) == ("safe",)


@pytest.mark.parametrize(("x", "y", "columns", "rows"), [
    ((0, 6), (0, 2), 3, 2), ((-7, 2), (5, 6), 5, 4), ((F(1, 3), 1), (-1, F(5, 7)), 4, 3),
])  # fmt: skip
def test_outskirts_first_is_an_order_from_the_edge_to_the_middle(x: Any, y: Any, columns: int, rows: int) -> None:
    town = Boxes.of(x, y, columns, rows)
    wide, tall = F(x[1] - x[0]) / columns, F(y[1] - y[0]) / rows
    away = []
    for name in town.from_outside():
        row, column = map(int, name[1:].split("c"))
        left, low = x[0] + column * wide, y[0] + row * tall
        ends = (left, low, left + wide, low + tall)
        assert town.box(name) == tuple(round(float(end), 9) for end in ends)
        near, far = np.array(town.box(name)).reshape(2, 2)
        assert np.array(town.middle(name)) * 2 == pytest.approx(near + far, abs=1e-12)
        away.append((left + wide / 2 - F(x[0] + x[1]) / 2) ** 2 + (low + tall / 2 - F(y[0] + y[1]) / 2) ** 2)
    assert away == sorted(away, reverse=True)
    assert sorted(town.from_outside()) == sorted(town.names())
