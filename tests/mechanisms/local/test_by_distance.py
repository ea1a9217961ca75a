"""Extended distribution privacy: epsilon per unit of distance between populations, against every output and set."""

from dataclasses import replace
from fractions import Fraction as F
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import distance_oracles as oracle
from tests.support import rows_oracle
from tests.support.ledger_tools import chain_framework
from tests.support.ledger_tools import charge as of_a_chain
from tests.support.population_oracles import laws as drawn_laws
from tests.support.rows_oracle import channel_of

import takifugu as tf
from takifugu.accounting.composition import charge_of, joint
from takifugu.analysis.guarantee import Covers
from takifugu.core.errors import CalibrationRefused, CompositionRefused, InputError
from takifugu.model.beliefs.counted_populations import samples_of

LAWS = {
    "near": {0: F(6, 10), 1: F(3, 10), 2: F(1, 10), 3: F(0)},
    "middle": {0: F(1, 10), 1: F(6, 10), 2: F(2, 10), 3: F(1, 10)},
    "far": {0: F(1, 10), 1: F(1, 10), 2: F(2, 10), 3: F(6, 10)},
}
DECLARED = {"near": {"middle": 1, "far": F(5, 2)}, "middle": {"far": 2}}
MECHANISMS = ("randomised-response", "exponential", "optimal")


def framework(metric: Any = "w-infinity", laws: Any = LAWS, rows: int = 1, independent: bool = False) -> Any:
    belief = tf.FromPopulations(laws, rows, independent, supports="align")
    return tf.Pufferfish(tf.population_membership(metric), belief)


def apart(metric: Any, laws: Any = LAWS) -> Any:
    """Return the distance of two populations, by names, found again."""
    if metric == "w-infinity":
        return lambda a, b: oracle.w_infinity(laws[a], laws[b], lambda x, y: abs(x - y))
    return lambda a, b: metric.get(a, {}).get(b) or metric[b][a]


@settings(max_examples=60)
@given(drawn_laws(4, least=1), drawn_laws(4, least=1))
def test_w_infinity_of_any_two(p: dict[int, F], q: dict[int, F]) -> None:
    belief = tf.FromPopulations({"p": p, "q": q})
    assert belief.w_infinity("p", "q") == oracle.w_infinity(p, q, lambda x, y: abs(x - y))


@pytest.mark.sampled(7)
@pytest.mark.parametrize("metric", ["w-infinity", DECLARED], ids=["w-infinity", "declared"])
@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("rows", [1, 2])
def test_epsilon_is_kept_per_distance_and_nearly_used_up(metric: Any, mechanism: str, rows: int) -> None:
    laws = LAWS if rows == 1 else {name: LAWS[name] for name in ("near", "far")}
    measure = metric if rows == 1 or metric == "w-infinity" else {"near": {"far": F(5, 2)}}
    about = framework(measure, laws, rows, True)
    calibration = tf.calibrate(about, tf.LocalValue(), epsilon="1/2", mechanism=mechanism)
    assert calibration.guarantee.definition == "extended-distribution"
    assert calibration.guarantee.covers is Covers.COMPONENT
    worst, losses = oracle.loss_per_distance(laws, channel_of(calibration.randomiser), apart(measure), rows)
    assert 0.49 < worst <= 0.5
    assert max(losses.values()) > 0.5  # a promise without distances would not allow it
    assert tf.exact_loss(calibration).loss == pytest.approx(worst, abs=1e-9)


def test_a_delta_is_at_epsilon_times_the_distance() -> None:
    about = framework(DECLARED)
    calibration = tf.calibrate(about, tf.LocalValue(), epsilon="1/4", delta="1/50", mechanism="optimal")
    delta = oracle.delta_by_distance(LAWS, channel_of(calibration.randomiser), apart(DECLARED), 0.25)
    assert 0.019 < delta <= 0.02
    assert tf.exact_delta(calibration).loss == pytest.approx(delta, abs=1e-9)


# Rows that may depend on each other, and populations that were counted.


def test_rows_that_may_depend_hide_their_values_at_the_least_distance() -> None:
    about = framework(DECLARED, rows=2)
    calibration = tf.calibrate(about, tf.LocalValue(), epsilon=1, mechanism="exponential")
    assert 0.99 < 2 * calibration.randomiser.local_loss() <= 1  # type: ignore[attr-defined]
    assert calibration.guarantee.covers is Covers.COMPONENT


def counted(metric: Any, rows: int = 1, independent: bool = False, people: int = 300) -> Any:
    chance = [(name, value) for name in LAWS for value, mass in LAWS[name].items() for _ in range(int(people * mass))]
    belief = tf.FromPopulations.counted(
        samples_of(chance, 4), [0, 1, 2, 3], rows=rows, independent=independent, source="a survey"
    )
    return tf.Pufferfish(tf.population_membership(metric), belief)


@pytest.mark.parametrize("mechanism", ["exponential", "optimal"])
def test_counted_populations_keep_declared_distances(mechanism: str) -> None:
    about = counted(DECLARED)
    calibration = tf.calibrate(about, tf.LocalValue(), epsilon="1/2", mechanism=mechanism)
    seen = tf.exact_loss(calibration)
    assert seen.upper <= 0.5 + 1e-9
    worst, _ = oracle.loss_per_distance(LAWS, channel_of(calibration.randomiser), apart(DECLARED))
    assert 0.2 < worst <= 0.5
    assert seen.loss > 0.49 or mechanism == "optimal"


@pytest.mark.parametrize("mechanism", ["randomised-response", "exponential", "optimal"])
def test_w_infinity_of_counted_populations_holds_by_values_for_any_two(mechanism: str) -> None:
    calibration = tf.calibrate(counted("w-infinity", 2, True), tf.LocalValue(), epsilon=1, mechanism=mechanism)
    channel = channel_of(calibration.randomiser)
    assert 0.49 < oracle.value_loss_per_distance(channel, lambda x, y: abs(x - y)) <= 0.5
    assert oracle.loss_per_distance(LAWS, channel, apart("w-infinity"))[0] <= 0.5


def test_releases_about_counted_populations_cost_what_all_tell_of_a_value_per_distance() -> None:
    """What is of another column, of other values or of other data has no cost per distance."""
    about = counted("w-infinity", 2, True)
    more = tf.FromPopulations({name: {**law, 4: F(0)} for name, law in LAWS.items()}, 2, True, supports="align")
    others = [counted(None, 2, True), tf.Pufferfish(tf.population_membership(), more)]
    sent = [
        tf.calibrate(each, tf.LocalValue(batch="May"), F(1, 2), mechanism="exponential") for each in (about, *others)
    ]
    ours, one, wider = map(charge_of, sent)
    first, second = (channel_of(calibration.randomiser) for calibration in sent[:2])
    both = {x: {(y, z): first[x][y] * second[x][z] for y in first[x] for z in second[x]} for x in first}
    for charges, channel in (([ours], first), ([ours, one], both)):
        true = 2 * oracle.value_loss_per_distance(channel, lambda x, y: abs(x - y))
        assert float(joint(about, charges).epsilon) == pytest.approx(true, rel=1e-9)
    chain = of_a_chain(chain_framework(3), tf.Count(1), 3, Covers.EVERYTHING)
    for refused in ([one], [wider], [ours, wider], [ours, chain]):
        with pytest.raises(CompositionRefused):
            joint(about, refused)
    dependent = counted("w-infinity", 2)
    with pytest.raises(CompositionRefused):
        joint(dependent, [replace(ours, framework=dependent.fingerprint())])


def test_w_infinity_of_counted_rows_that_may_depend_is_refused() -> None:
    with pytest.raises(CalibrationRefused, match="W-infinity of counted populations is that of single rows"):
        tf.calibrate(counted("w-infinity", 2), tf.LocalValue(), epsilon=1, mechanism="exponential")


@pytest.mark.mutants
@settings(max_examples=60)
@given(drawn_laws(3, least=1), drawn_laws(3, least=1), drawn_laws(3, least=1), st.lists(st.integers(0, 1), max_size=3))
def test_a_ledger_never_charges_less_than_the_loss_per_distance(
    p: dict[int, F], q: dict[int, F], r: dict[int, F], read: list[int]
) -> None:
    laws = {"p": p, "q": q, "r": r}
    metric = {"p": {"q": 1, "r": 2}, "q": {"r": F(3, 2)}}
    about = framework(metric, laws, 2, True)
    batches = [
        tf.calibrate(
            about, tf.LocalValue(batch=f"batch {row}"), F(1, 2 + row), mechanism="exponential", allow_zero_noise=True
        )
        for row in (0, *read)
    ]
    total = tf.compose(batches)
    losses = []
    for a, b in combinations(laws, 2):
        sides = []
        for law in (laws[a], laws[b]):
            channels = [channel_of(calibration.randomiser) for calibration in batches]
            sides.append(rows_oracle.sent_of_rows(law, [(row,) for row in (0, *read)], channels))
        losses.append(rows_oracle.loss(*sides) / float(apart(metric, laws)(a, b)))
    assert max(losses) <= float(total.epsilon) * (1 + 1e-9) + 1e-9
    if 0 not in read and len(read) < 2:
        assert total.epsilon <= sum(calibration.epsilon for calibration in batches)


def test_values_sent_again_tell_at_most_what_the_value_tells_per_distance() -> None:
    smooth = {name: {x: (mass + F(1, 10)) / F(14, 10) for x, mass in law.items()} for name, law in LAWS.items()}
    again = tf.calibrate(framework(DECLARED, smooth), tf.LocalValue(batch="May"), epsilon=1, mechanism="exponential")
    cap = max(rows_oracle.loss(smooth[a], smooth[b]) / float(apart(DECLARED)(a, b)) for a, b in combinations(LAWS, 2))
    channel, thrice = channel_of(again.randomiser), []
    for a, b in combinations(LAWS, 2):
        sent = [rows_oracle.sent(rows_oracle.repeated(smooth[name], 3), [channel] * 3) for name in (a, b)]
        thrice.append(rows_oracle.loss(*sent) / float(apart(DECLARED)(a, b)))
    assert float(tf.compose([again] * 3).epsilon) == pytest.approx(max(thrice), rel=1e-9)
    assert max(thrice) < float(tf.compose([again] * 9).epsilon)
    assert float(tf.compose([again] * 9).epsilon) == pytest.approx(cap, abs=1e-6)


def test_a_release_of_either_promise_costs_the_other_what_it_tells() -> None:
    plain, by_distance = framework(None), framework(DECLARED)
    one = tf.calibrate(plain, tf.LocalValue(batch="May"), epsilon="1/2", mechanism="exponential")
    other = tf.calibrate(by_distance, tf.LocalValue(batch="June"), epsilon="1/2", mechanism="exponential")
    charges = [charge_of(one), charge_of(other)]
    for about, worst in ((plain, lambda a, b: 1), (by_distance, apart(DECLARED))):
        losses = [
            oracle.loss_per_distance(LAWS, channel_of(calibration.randomiser), worst)[0] for calibration in (one, other)
        ]
        assert max(losses) <= float(joint(about, charges).epsilon) * (1 + 1e-9)
        assert float(joint(about, charges).epsilon) < 20


@pytest.mark.parametrize(("metric", "words"), [
    ({"near": {"middle": -1, "far": 1}, "middle": {"far": 1}}, "above 0 between two populations"),
    ({"near": {"middle": 0, "far": 1}, "middle": {"far": 1}}, "above 0 between two populations"),
    ({"near": {"near": 1}}, "0 from one to itself"),
    ({"near": {"middle": 1, "far": 1}, "middle": {"far": 1, "near": 2}}, "the same both ways"),
    ({"near": {"middle": 1, "far": 3}, "middle": {"far": 1}}, "triangle inequality"),
    ({"near": {"middle": 1, "far": 1}}, "no distance between 'middle' and 'far'"),
    ({"near": {"middle": 1, "far": 1, "else": 1}, "middle": {"far": 1}}, "no population is 'else'"),
    ("w-1", "W-infinity, or a distance for every two"),
    ({"near": {"middle": "x"}}, "'x'"),
])  # fmt: skip
def test_a_metric_that_is_none_is_refused(metric: Any, words: str) -> None:
    with pytest.raises(InputError) as error:
        framework(metric)
    assert words in str(error.value)


def test_populations_that_are_alike_have_no_distance() -> None:
    same = {"a": LAWS["near"], "b": LAWS["near"]}
    with pytest.raises(CalibrationRefused, match="distance of two populations is 0"):
        tf.calibrate(framework(laws=same), tf.LocalValue(), epsilon=1, mechanism="exponential")
    assert joint(framework(laws=same), []).epsilon == 0
    with pytest.raises(CompositionRefused):
        joint(framework(laws=same), [of_a_chain(chain_framework(3), tf.Count(1), 3, Covers.EVERYTHING)])
    three = {**same, "c": LAWS["far"]}
    calibration = tf.calibrate(framework(laws=three), tf.LocalValue(), epsilon=1, mechanism="exponential")
    assert tf.exact_loss(calibration).loss == pytest.approx(1, abs=0.01)


def test_a_framework_without_a_metric_is_written_as_before() -> None:
    assert tf.population_membership().to_dict() == {"kind": "which-population"}
    for metric in ("w-infinity", DECLARED):
        about = framework(metric)
        assert tf.Framework.from_dict(about.to_dict()).fingerprint() == about.fingerprint()
        assert {comparison.weight for comparison in about.comparisons()} == {
            float(apart(metric)(a, b)) for a, b in combinations(LAWS, 2)
        }
