"""attribute-quilt against every quilt by enumeration, the golden example, and the true loss over all data sets."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import column_oracles as oracle
from tests.support import network_oracles, tree_networks
from tests.support.golden import golden

import takifugu as tf
from takifugu.audit import exact_loss, joint_loss
from takifugu.influence.quilts.network.best import BestScale
from takifugu.influence.quilts.network.candidates import Candidate, layers
from takifugu.influence.quilts.network.influence import influences
from takifugu.influence.quilts.network.near import ColumnSets
from takifugu.model.queries import resolved

LEVELS = ["lo", "hi"]
COIN = {"lo": {0: "0.7", 1: "0.3"}, "hi": {0: "0.4", 1: "0.6"}}
EXAMPLE = golden()["attribute_quilt_001_example1"]


def figure_1(records: int = 500, columns: str = "gishw") -> tf.Parameters:
    tables = {key: _numbers(table) for key, table in EXAMPLE["cpt"].items()}
    net = tf.BayesianNetwork([
        ("g", LEVELS, [], tables["g"]), ("i", LEVELS, ["g"], tables["i_given_g"]),
        ("s", LEVELS, ["i"], tables["s_given_i"]), ("h", LEVELS, ["g"], tables["h_given_g"]),
        ("w", LEVELS, ["h"], tables["w_given_h"]),
    ])  # fmt: skip
    return tf.Parameters(net, dict.fromkeys(columns, COIN), records)


def _numbers(table: Any) -> Any:
    return [_numbers(row) for row in table] if isinstance(table, list) else float(Fraction(table))


QUERIES = {
    "count_tall{h}": tf.Count(1, ["h"]), "count_tall_and_sat{h,s}": tf.CountRows({"h": 1, "s": 1}),
    "count_tall_plus_count_sat{h,s}": tf.Count(1, ["h", "s"]),
}  # fmt: skip


@pytest.mark.parametrize("case", EXAMPLE["cases"])
def test_example_1_of_the_paper(case: str) -> None:
    name, epsilon = case.split(",eps=")
    framework = tf.Pufferfish(tf.distribution_parameter("i"), figure_1())
    calibration = tf.calibrate(framework, QUERIES[name], epsilon, mechanism="attribute-quilt", allow_zero_noise=True)
    expected = EXAMPLE["cases"][case]
    assert float(calibration.scale) == pytest.approx(expected["scale"], rel=1e-10)
    assert float(calibration.scale) >= expected["scale"] * (1 - 1e-12)
    quilt = "nothing" if expected["quilt"] == "trivial" else ", ".join(expected["quilt"])
    assert f"the best quilt is {quilt};" in calibration.witness.detail
    assert str(calibration.guarantee.covers) == "entries"


@pytest.mark.parametrize("quilt", EXAMPLE["quilts"], ids=lambda quilt: quilt["Q"] or "nothing")
def test_every_quilt_of_figure_1(quilt: dict[str, Any]) -> None:
    net = figure_1().network
    entry, nodes = net.position("i"), [net.position(name) for name in quilt["Q"]]
    assert {str(net.names[v]) for v in net.near_set(entry, nodes)} == set(quilt["N"])
    influence = influences(net, entry, nodes).max()
    assert quilt["influence"] * (1 - 1e-12) <= influence <= quilt["influence"] + 1e-12
    assert math.exp(influence) == pytest.approx(float(Fraction(quilt["exp_influence"])), rel=1e-12)


def test_the_scale_that_the_text_gives_for_the_quilt_of_gender() -> None:
    belief = figure_1()
    answer: Any = resolved(QUERIES["count_tall_and_sat{h,s}"], belief)
    net = belief.network
    entry, nodes = net.position("i"), [net.position("g")]
    moved = answer.change(net.near_set(entry, nodes))
    assert moved == 500
    e = float(influences(net, entry, nodes).max())
    assert moved / (1 - e) == pytest.approx(EXAMPLE["example1_text_scale_AND_eps1"], rel=1e-12)


def random_parameters(seed: int, size: int, records: int, table: bool = False) -> tuple[Any, Any, Any]:
    """Return a belief, its law of the parameters (in its own order), and its columns for the oracle."""
    rng = np.random.default_rng(seed)
    spec = network_oracles.random_network(rng, size)
    net = tf.BayesianNetwork(spec)
    names = [str(name) for name in net.names]
    law = network_oracles.joint_law(spec, names)
    prior: Any = net
    if table:
        prior = tf.JointTable(list(law), list(law.values()), names)
    chances, laws = {}, []
    read = sorted(rng.choice(size, size=int(rng.integers(1, size + 1)), replace=False).tolist())
    for entry in read:
        given_ = {v: Fraction(int(rng.integers(1, 10)), 10) for v in range(len(net.alphabet(entry)))}
        chances[names[entry]] = {v: {0: 1 - p, 1: p} for v, p in given_.items()}
        laws.append((entry, {v: {0: 1 - p, 1: p} for v, p in given_.items()}))
    return tf.Parameters(prior, chances, records), law, laws


def some_query(rng: np.random.Generator, columns: tuple[str, ...]) -> Any:
    chosen = [c for c in columns if rng.random() < 0.6] or [columns[0]]
    if rng.random() < 0.5:
        return tf.CountRows(dict.fromkeys(chosen, 1), any_of=bool(rng.integers(2)))
    return tf.Linear([int(w) for w in rng.integers(-2, 3, size=len(columns))], grid=1)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 4), st.sampled_from([0.3, 1.0, 3.0]), st.booleans())
def test_it_is_algorithm_3_over_every_quilt(seed: int, size: int, epsilon: float, table: bool) -> None:
    belief, law, _ = random_parameters(seed, size, 3, table)
    rng = np.random.default_rng(seed)
    query, entry = some_query(rng, belief.columns), int(rng.integers(size))
    answer: Any = resolved(query, belief)
    framework = tf.Pufferfish(tf.distribution_parameter(str(belief.names[entry])), belief)
    calibration = tf.calibrate(framework, query, epsilon, mechanism="attribute-quilt", allow_zero_noise=True)
    expected = oracle.quilt_scale(law, size, entry, answer.change, epsilon)
    if table:  # independencies that a table only happens to have are not searched
        assert float(calibration.scale) >= expected * (1 - 1e-9)
        assert float(calibration.scale) <= answer.change(range(size)) / epsilon * (1 + 1e-9)
    else:
        assert float(calibration.scale) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 3), st.sampled_from([0.3, 1.0, 2.0]), st.booleans())
def test_no_more_is_lost_than_promised(seed: int, size: int, epsilon: float, table: bool) -> None:
    belief, _, _ = random_parameters(seed, size, 2, table)
    query = some_query(np.random.default_rng(seed), belief.columns)
    framework = tf.Pufferfish([tf.distribution_parameter(str(name)) for name in belief.names], belief)
    calibration = tf.calibrate(framework, query, epsilon, mechanism="attribute-quilt", allow_zero_noise=True)
    assert exact_loss(calibration).loss <= epsilon * (1 + 1e-9)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 3))
def test_releases_together_cost_the_best_quilt_of_both(seed: int, size: int) -> None:
    belief, law, _ = random_parameters(seed, size, 2)
    rng = np.random.default_rng(seed)
    framework = tf.Pufferfish([tf.distribution_parameter(str(name)) for name in belief.names], belief)
    several = [
        tf.calibrate(framework, some_query(rng, belief.columns), e, mechanism="attribute-quilt", allow_zero_noise=True)
        for e in (0.5, 1)
    ]
    answers: list[Any] = [resolved(one.query, belief) for one in several]
    if any(one.scale == 0 and answer.change(range(size)) for one, answer in zip(several, answers, strict=True)):
        return
    cost = tf.compose(several).epsilon

    def moved(near: Any) -> Fraction:
        moves = ((answer.change(near), one.scale) for answer, one in zip(answers, several, strict=True))
        return sum((d / scale for d, scale in moves if d), Fraction(0))

    expected = 0.0
    for entry in range(size):
        entry_change = network_oracles.marginal(law, (entry,))
        values = [v for (v,), mass in entry_change.items() if mass > 0]
        for pair in ((a, b) for a in values for b in values if a != b):
            best = float(moved(range(size)))
            others = [v for v in range(size) if v != entry]
            for mask in range(2 ** len(others)):
                quilt = tuple(v for k, v in enumerate(others) if mask >> k & 1)
                near = belief.network.near_set(entry, quilt)
                best = min(best, network_oracles.influence(law, entry, quilt, pair) + float(moved(near)))
            expected = max(expected, best)
    assert float(cost) >= expected * (1 - 1e-9)
    assert float(cost) <= max(expected, *(float(one.guarantee.epsilon) for one in several)) * (1 + 1e-9)
    audit = joint_loss(framework, [(one.query, one.randomiser) for one in several])
    assert audit.loss <= float(cost) * (1 + 1e-9)


def test_two_counts_of_rows_move_by_their_records_not_by_their_columns() -> None:
    framework = tf.Pufferfish(tf.distribution_parameter("i"), figure_1())
    both = tf.calibrate(framework, QUERIES["count_tall_and_sat{h,s}"], "1/5", mechanism="attribute-quilt")
    assert both.scale == 2500
    assert tf.compose([both, both]).epsilon == Fraction(2, 5)
    assert tf.calibrate(framework, both.query, "1/5", mechanism="group-dp").scale == 2500
    (free,) = (quilt for quilt in EXAMPLE["quilts"] if quilt["Q"] == "hs")  # what both read is its quilt
    assert float(tf.compose([both] * 9).epsilon) == pytest.approx(free["influence"], rel=1e-9)


def test_a_ledger_charges_two_releases_the_best_quilt_of_both(tmp_path: Any) -> None:
    framework = tf.Pufferfish(tf.distribution_parameter("i"), figure_1(4))
    account = {"entries": "values", "ledger": str(tmp_path / "ledger.db"), "source": "school", "budget": "1/2"}
    data = {"g": [0, 1, 0, 1], "i": [1, 1, 0, 1], "s": [0, 0, 1, 1], "h": [1, 0, 1, 0], "w": [1, 1, 1, 0]}
    tall = tf.calibrate(framework, QUERIES["count_tall_plus_count_sat{h,s}"], "1/2", mechanism="attribute-quilt")
    first = tf.release(tall, data, **account)
    assert "attribute-quilt" in first.certificate.mechanisms
    again = tf.calibrate(framework, tf.Count(1, ["h"]), "1/2", mechanism="group-dp")
    tf.release(again, data, **account)
    assert tf.compose([tall, again]).epsilon == Fraction(1, 2)  # the first one's quilt is {h}: a count of h is free
    with pytest.raises(tf.errors.BudgetExceeded):
        tf.release(tf.calibrate(framework, tf.Count(1, ["s"]), "1/2", mechanism="group-dp"), data, **account)


@pytest.mark.parametrize(("steps", "scale"), [(0, Fraction(0)), (3, None)])
def test_an_influence_of_exactly_epsilon(steps: int, scale: Fraction | None) -> None:
    trivial = Candidate(Fraction(500), 0, (0, 1), None, 500)
    best = BestScale(trivial, [(0, 1)], Fraction(1, 2))
    best.take((1,), steps, np.array([0.5]))  # errata E14: x/0 is no scale, and 0/0 needs none
    assert best.costliest.value == (trivial.value if scale is None else scale)


def test_a_query_of_columns_far_away_needs_no_noise_and_gets_the_least_that_passes() -> None:
    framework = tf.Pufferfish(tf.distribution_parameter("i"), figure_1())
    raised = tf.calibrate(framework, tf.Count(1, ["h"]), 1, mechanism="attribute-quilt")
    assert raised.witness.detail == "the belief alone asks for no noise"
    assert tf.calibrate(framework, tf.Count(1, ["h"]), 1, mechanism="attribute-quilt", allow_zero_noise=True).scale == 0


def test_several_sensitive_parameters_need_the_largest_of_their_scales() -> None:
    belief, query = figure_1(), QUERIES["count_tall_plus_count_sat{h,s}"]

    def scale(*names: str) -> Any:
        framework = tf.Pufferfish([tf.distribution_parameter(name) for name in names], belief)
        return tf.calibrate(framework, query, "1/2", mechanism="attribute-quilt", allow_zero_noise=True).scale

    assert scale("i", "w", "g") == max(scale("i"), scale("w"), scale("g"))


def test_a_column_that_tells_its_parameter_needs_all_of_the_noise() -> None:
    net = tf.BayesianNetwork([("a", [0, 1], [], [0.5, 0.5])])
    belief = tf.Parameters(net, {"a": {0: {0: 1}, 1: {1: 1}}}, 3)
    calibration = tf.calibrate(tf.Pufferfish(tf.distribution_parameter("a"), belief), tf.Sum("a"), 1,
                               mechanism="attribute-quilt")  # fmt: skip
    assert calibration.scale == 3
    assert exact_loss(calibration).loss == pytest.approx(1)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6))
def test_near_sets_drop_what_no_path_reaches(seed: int, size: int) -> None:
    net = tf.BayesianNetwork(network_oracles.random_network(np.random.default_rng(seed), size))
    rng = np.random.default_rng(seed + 1)
    entry = int(rng.integers(size))
    quilt = [v for v in range(size) if v != entry and rng.random() < 0.6]
    sets = ColumnSets(net, lambda near: 7 * len(set(near)))
    moved, needed = sets.moved(entry, quilt, math.inf)
    assert net.near_set(entry, needed) == net.near_set(entry, quilt)
    assert moved == 7 * len(net.near_set(entry, quilt))
    assert np.allclose(influences(net, entry, needed), influences(net, entry, quilt), atol=1e-12)
    assert sets.alone(entry) == 7


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(2, 9))
def test_on_a_tree_near_sets_of_columns_are_those_of_the_network(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    net = tf.BayesianNetwork(tree_networks.spec_of(tree_networks.tree(rng, size), rng))
    heavy = [int(weight) for weight in rng.integers(0, 4, size)]  # a column of weight 0 is not read

    def change(near: Any) -> int:
        return max((heavy[v] for v in near), default=0)

    sets, entry = ColumnSets(net, change), int(rng.integers(size))
    some = [tuple(v for v in range(size) if v != entry and rng.random() < 0.4) for _ in range(20)]
    for quilt in (*some, *layers(net, entry)):
        moved, needed = sets.moved(entry, quilt, math.inf)
        assert moved == change(net.near_set(entry, needed)) == change(net.near_set(entry, quilt))


@pytest.mark.parametrize("epsilon", ["1/2", 1, 2])
def test_algorithm_5_is_algorithm_3_for_one_record_whose_columns_are_their_parameters(epsilon: Any) -> None:
    """Appendix A beside Section 5.1 on Figure 1: the entries of one record, and the parameters of many records."""
    net = figure_1().network
    sure = {"lo": {"lo": 1}, "hi": {"hi": 1}}
    query = tf.Count("hi", ["h", "s", "i"])
    entries = tf.Pufferfish(tf.attribute("i", "lo", "hi"), net)
    options = {"epsilon": epsilon, "allow_zero_noise": True}
    appendix = tf.calibrate(entries, query, mechanism="quilt-exact", **options)
    for records in (1, 500):
        known = tf.Parameters(net, dict.fromkeys("gishw", sure), records)
        framework = tf.Pufferfish(tf.distribution_parameter("i"), known)
        calibration = tf.calibrate(framework, query, mechanism="attribute-quilt", **options)
        assert float(calibration.scale) == pytest.approx(records * float(appendix.scale), rel=1e-9)
