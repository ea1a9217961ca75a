"""Chains as beliefs: stationary laws, marginals, what is possible, bad input, and texts that read back unchanged."""

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.chain_oracles import (
    answer_law_given,
    exact_rows,
    largest_laplace_loss,
    marginal_mass,
    stationary_vector,
    w_infinity_of,
)
from tests.support.chain_strategies import chains, contributions, joint_laws, weights
from tests.support.periodic_cases import Case, periodic
from tests.support.unit_oracles import looks, mean_piece_by_piece

import takifugu as tf
from takifugu.analysis.answer_laws.chain import ChainLaw, starts_of
from takifugu.analysis.problem import Problem
from takifugu.analysis.questions.expected_answer import expected_answer
from takifugu.analysis.questions.marginal import marginal
from takifugu.core.errors import InputError, Unsupported
from takifugu.model import beliefs
from takifugu.model.beliefs.alike import alike
from takifugu.model.beliefs.one_sequence import supports_from
from takifugu.model.beliefs.stochastic import normalised, wide_stationary_law
from takifugu.model.queries.answer import Additive
from takifugu.model.secrets.families import Family
from takifugu.numbers.runs import Runs

GOOD = [[0.9, 0.1], [0.4, 0.6]]


@given(chains(states=(2, 4), starts=("stationary",)))
def test_stationary_laws_keep_relative_accuracy(chain: tf.MarkovChain) -> None:
    if chain.initial == "any":  # no unique stationary law was drawn
        return
    exact = stationary_vector(exact_rows(chain.matrix.tolist()))
    np.testing.assert_allclose(chain.stationary, [float(p) for p in exact], rtol=1e-13)


@given(chains(states=(1, 5), starts=("stationary",)))
def test_the_oracles_stationary_law_is_one(chain: tf.MarkovChain) -> None:
    if chain.initial == "any":
        return
    rows = exact_rows(chain.matrix.tolist())
    law = stationary_vector(rows)
    assert sum(law) == 1
    assert law == [sum(p * row[j] for p, row in zip(law, rows, strict=True)) for j in range(len(rows))]


def test_a_stationary_mass_of_1e_20_is_right() -> None:
    law = wide_stationary_law(np.array([[1 - 1e-20, 1e-20], [1.0, 0.0]])).floats()
    assert law[1] == pytest.approx(1e-20, rel=1e-14)


@given(chains(states=(2, 3), length=(1, 6), starts=("stationary", "given")))
def test_marginals_and_possible_values(chain: tf.MarkovChain) -> None:
    if chain.initial == "any":
        return
    (joint,) = joint_laws(chain)
    for i in range(chain.length):
        exact = [marginal_mass(joint, i, s) for s in range(len(chain.states))]
        np.testing.assert_allclose(chain.marginal(i), [float(p) for p in exact], rtol=1e-12)
        np.testing.assert_allclose(chain.marginals()[i], [float(p) for p in exact], rtol=1e-12)
        assert chain.possible(i) == tuple(p > 0 for p in exact)


@given(chains(states=(2, 3), length=(1, 6), starts=("any",)))
def test_any_start_can_do_what_some_start_can(chain: tf.MarkovChain) -> None:
    joints = joint_laws(chain)
    for i in range(chain.length):
        assert chain.possible(i) == tuple(
            any(marginal_mass(joint, i, s) > 0 for joint in joints) for s in range(len(chain.states))
        )
    with pytest.raises(Unsupported, match="no single marginal distribution"):
        chain.marginal(0)


def test_possible_values_of_a_periodic_chain_far_out() -> None:
    ring = tf.MarkovChain([[0, 1, 0], [0, 0, 1], [1, 0, 0]], 1000, initial=[1, 0, 0])
    for i in (0, 1, 2, 3, 500, 998, 999):
        assert ring.possible(i) == tuple(s == i % 3 for s in range(3))
    slow = tf.MarkovChain([[0.4, 0.6], [0.0, 1.0]], 5000, initial=[1, 0])
    assert slow.possible(4999) == (True, True)


@given(st.lists(st.lists(st.floats(1e-9, 1.0), min_size=3, max_size=3), min_size=3, max_size=3), st.integers(1, 4))
def test_texts_read_back_without_change(rows: list[list[float]], length: int) -> None:
    matrix = [[p / sum(row) for p in row] for row in rows]
    for initial in ("stationary", "any", matrix[0]):
        chain = tf.MarkovChain(matrix, length, initial, ["a", "b", 3], source="a paper")
        text = json.dumps(chain.to_dict())
        again = beliefs.from_dict(json.loads(text))
        assert isinstance(again, tf.MarkovChain)
        assert json.dumps(again.to_dict()) == text
        assert np.array_equal(again.matrix, chain.matrix)
    pieces = tf.IndependentPieces(tf.MarkovChain(matrix, length), [length, 1])
    assert beliefs.from_dict(json.loads(json.dumps(pieces.to_dict()))).to_dict() == pieces.to_dict()


def test_normalising_twice_is_normalising_once() -> None:
    rows = np.random.default_rng(0).dirichlet(np.ones(7), 2000) * (1 + 1e-10)
    once = normalised(rows)
    assert np.array_equal(normalised(once), once)
    assert np.abs(once.sum(axis=1) - 1).max() < 1e-14


@pytest.mark.parametrize(("arguments", "message"), [
    ({"matrix": [[0.9, 0.2], [0.4, 0.6]]}, r"row 0 of the matrix sum to 1\.1"),
    ({"matrix": [[0.9, 0.1]]}, "must be square"),
    ({"matrix": [[0.9, 0.1], [1.0]]}, "no square table"),
    ({"matrix": [[1.1, -0.1], [0.4, 0.6]]}, "negative, NaN or infinite"),
    ({"matrix": [[float("nan"), 0.1], [0.4, 0.6]]}, "negative, NaN or infinite"),
    ({"matrix": [[1, 0], [0, 1]]}, r'2 closed classes.*initial="any"'),
    ({"length": 0}, "length is 0"),
    ({"length": 2.5}, r"length is 2\.5"),
    ({"initial": "stationery"}, "did you mean 'stationary'"),
    ({"initial": [0.5, 0.6]}, r"initial distribution sum to 1\.1.*divide each by their sum"),
    ({"initial": [1.0]}, "2 probabilities that sum to 1"),
    ({"states": ["a"]}, "1 states and 2 rows"),
    ({"states": ["a", "a"]}, "repeat a name"),
])  # fmt: skip
def test_bad_chains_name_the_value_the_rule_and_the_fix(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        tf.MarkovChain(**{"matrix": GOOD, "length": 3, **arguments})


@pytest.mark.parametrize(("pi", "g"), [(0.0, 0.5), (0.6, 0.5), (0.3, 0.0), (0.3, 1.5), (float("nan"), 0.5)])
def test_bad_classes(pi: float, g: float) -> None:
    with pytest.raises(InputError):
        tf.ReversibleChains(pi, g, 10)


def test_pieces_have_the_chain_cut_to_their_length() -> None:
    pieces = tf.IndependentPieces(tf.MarkovChain([[0.4, 0.6], [0.0, 1.0]], 9, initial=[1, 0]), [3, 1, 3])
    assert (pieces.size, tuple(pieces.components())) == (7, (range(3), range(3, 4), range(4, 7)))
    assert pieces.component(0) is pieces.component(2)
    assert [pieces.possible(i) for i in (0, 1, 3, 4)] == [(True, False), (True, True), (True, False), (True, False)]
    assert "independent of each other" in " ".join(map(str, pieces.assumptions()))


CHAIN = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=9)
COUNT = np.array([[0], [1]])


@st.composite
def answers(draw: st.DrawFn) -> tuple[tf.IndependentPieces, Additive, Runs]:
    """Return pieces, an answer about them, and marks of some entries, each of few runs or of many."""
    lengths = draw(st.lists(st.integers(1, 4), min_size=1, max_size=8))
    size = sum(lengths)

    def row(most: int) -> np.ndarray:
        if draw(st.booleans()):
            return np.array(draw(st.lists(st.integers(0, most), min_size=size, max_size=size)))
        place = draw(st.integers(0, size))
        return np.repeat(draw(st.tuples(st.integers(0, most), st.integers(0, most))), [place, size - place])

    numbers = row(1) if draw(st.booleans()) else None
    answer = Additive(Fraction(1), ("a",), (COUNT, 2 * COUNT), row(3), numbers)
    return tf.IndependentPieces(CHAIN, lengths), answer, Runs.of(row(1))


@given(answers())
def test_classes_part_the_components_and_what_is_in_one_looks_the_same(drawn):
    belief, answer, marks = drawn
    appearances = looks(belief.lengths, answer.weights, answer.table_numbers, marks.numbers)
    classes = list(alike(belief, answer, marks))
    assert sorted(int(n) for one in classes for n in one.numbers) == list(range(len(belief.lengths)))
    for one in classes:
        assert {appearances[int(number)] for number in one.numbers} == {appearances[one.number]}
        assert one.run == belief.components()[one.number]
        assert one.number == min(one.numbers)
        assert one.count == len(one.numbers)
    assert [one.number for one in classes] == sorted(one.number for one in classes)
    assert len(classes) == len(set(appearances))


@given(answers())
def test_the_mean_is_that_of_all_pieces_one_by_one(drawn):
    belief, answer, _ = drawn
    assert expected_answer(belief, answer) == pytest.approx(mean_piece_by_piece(expected_answer, belief, answer))


@given(answers())
def test_a_count_of_pieces_needs_the_noise_of_their_different_ones(drawn):
    belief, answer, _ = drawn
    framework = tf.Pufferfish(tf.every_entry(), belief)
    weights = tf.Linear([Fraction(int(w)) for w in answer.weights], codes={0: 0, 1: 1})
    parts = Problem(framework, weights, Fraction(1)).parts
    appearances = looks(belief.lengths, answer.weights)
    starts = dict(zip([run.start for run in belief.components()], appearances, strict=True))
    assert sorted(map(str, (starts[part.start] for part in parts))) == sorted(map(str, set(appearances)))


def test_ranges_of_pieces_are_a_list_of_them():
    runs = tf.IndependentPieces(CHAIN, [2, 3, 1]).components()
    assert list(runs) == [range(2), range(2, 5), range(5, 6)] == [runs[n] for n in range(3)]
    assert (len(runs), runs[-1], list(runs[1:])) == (3, range(5, 6), [range(2, 5), range(5, 6)])
    with pytest.raises(IndexError):
        runs[3]


DAY, NIGHT = [[0.8, 0.2], [0.3, 0.7]], [[0.95, 0.05], [0.6, 0.4]]
BY_HOUR = [0] * 7 + [1] * 15 + [0] * 2


@settings(max_examples=40, deadline=None)
@given(periodic(length=(1, 7), starts=("stationary", "given")))
def test_every_entry_has_its_law(case: Case) -> None:
    (joint,), chain = case.joints, case.chain
    laws = chain.marginals()
    for entry in range(chain.length):
        exact = [marginal_mass(joint, entry, v) for v in range(len(chain.states))]
        assert laws[entry] == pytest.approx([float(p) for p in exact], rel=1e-12, abs=0)
        assert chain.marginal(entry).tolist() == laws[entry].tolist()
        assert chain.possible(entry) == tuple(p > 0 for p in exact)
        probabilities, error = marginal(chain).of(entry)
        assert all(abs(f - p) <= p * (error + 1e-14) for f, p in zip(probabilities, exact, strict=True))


@given(periodic())
def test_it_reads_back_as_itself(case: Case) -> None:
    chain = case.chain
    again = beliefs.from_dict(json.loads(json.dumps(beliefs.to_dict(chain))))
    assert beliefs.to_dict(again) == beliefs.to_dict(chain)
    assert (again.step_matrices == chain.step_matrices).all()
    assert chain.period <= len(case.matrix_of)
    assert [chain.matrix_of[n % chain.period] for n in range(len(case.matrix_of))] == list(case.matrix_of)


def test_where_in_a_period_it_starts_is_part_of_what_it_is() -> None:
    noon, midnight = (tf.PeriodicChain([NIGHT, DAY], 24, BY_HOUR, start) for start in (12, 0))
    assert noon.from_step(12, 24).to_dict() == midnight.to_dict()
    assert noon.from_step(-12, 48).start == 0
    assert noon.from_step(48, 24) is noon
    prints = [tf.Pufferfish(tf.every_entry(), belief).fingerprint() for belief in (noon, midnight)]
    assert prints[0] != prints[1]
    assert (noon.step_matrices[0] == DAY).all()
    assert (midnight.step_matrices[0] == NIGHT).all()
    given_start = tf.PeriodicChain([NIGHT, DAY], 24, BY_HOUR, initial=[1, 0])
    assert given_start.from_step(1, 24) is None
    assert given_start.from_step(0, 30).length == 30


def test_the_law_that_repeats_is_the_same_a_period_later_however_rare_the_values() -> None:
    rare = [[[1 - 1e-12, 1e-12], [0.5, 0.5]], [[1 - 1e-200, 1e-200], [0.5, 0.5]]]
    chain = tf.PeriodicChain(rare, 9, [1, 0])
    assert chain.marginal(0)[1] == pytest.approx(4 / 3 * 1e-12, rel=1e-9)  # m = (m / 2) / 2 + 1e-12
    assert chain.marginal(1)[1] == pytest.approx(2 / 3 * 1e-12, rel=1e-9)
    assert all(chain.possible(entry) == (True, True) for entry in range(3))
    for phase in range(2):
        here, after = chain.marginal(phase), chain.marginal(phase + 1)
        assert here @ chain.step_matrices[phase] == pytest.approx(after, rel=1e-13)


@pytest.mark.parametrize(("given", "where", "message"), [
    ({"matrices": []}, ("matrices",), "at least one"),
    ({"matrices": [DAY, [[1.0]]]}, ("matrices",), "same states"),
    ({"matrices": [DAY, [[0.5, 0.4], [0, 1]]]}, ("matrices", 1, "matrix", 0), "row 0 of the matrix sum to 0.9"),
    ({"matrices": 3}, ("matrices",), "list"),
    ({"matrix_of": [0, 2]}, ("matrix_of",), "numbers from 0 to 1"),
    ({"matrix_of": [0, 0]}, ("matrices",), "no step has matrix 1"),
    ({"matrix_of": []}, ("matrix_of",), "0 steps"),
    ({"start": 1.5}, ("start",), "1.5"),
    ({"length": 0}, ("length",), "0"),
    ({"initial": "periodic"}, ("initial",), "periodic"),
    ({"states": ["a"]}, ("states",), "one for each"),
    ({"matrices": [[[1, 0], [0, 1]]] * 2}, ("matrices",), "several closed classes"),
])  # fmt: skip
def test_what_is_no_such_chain_is_refused(given: dict[str, Any], where: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InputError) as error:
        tf.PeriodicChain(**{"matrices": [NIGHT, DAY], "length": 4, **given})
    assert error.value.where == where
    assert message in str(error.value)


def test_a_period_with_transitions_too_rare_for_floats_needs_a_stated_start() -> None:
    forward = [[[1 - 1e-150, 1e-150, 0], [0, 1 - 1e-150, 1e-150], [1, 0, 0]]] * 2
    with pytest.raises(InputError) as error:
        tf.PeriodicChain(forward, 4)
    assert error.value.where == ("initial",)
    assert tf.PeriodicChain(forward, 4, initial="any").possible(3) == (True, True, True)


def test_a_class_has_no_law_of_an_entry() -> None:
    chain = tf.PeriodicChain([NIGHT, DAY], 4, initial="any")
    with pytest.raises(Unsupported):
        chain.marginals()
    assert not marginal(chain).known


def test_supports_repeat_when_place_and_values_do() -> None:
    swap, stay = np.array([[False, True], [True, False]]), np.eye(2, dtype=bool)
    supports = supports_from(np.array([True, False]), [swap, stay, stay])
    assert [supports.at(t).tolist() for t in range(12)] == [[t % 6 in (0, 4, 5), t % 6 in (1, 2, 3)] for t in range(12)]
    assert supports.by_phase(3, supports.first).all()


@settings(max_examples=40, deadline=None)
@given(st.data(), periodic())
def test_every_law_of_an_answer_agrees_with_all_joint_states(data: st.DataObject, case: Case) -> None:
    chain = case.chain
    answer = tf.Linear(data.draw(weights(chain.length)), grid=1).resolve(chain)
    joints, table = case.joints, contributions(answer)
    for family in ChainLaw(chain, answer, Family(range(chain.length))).families():
        for value, laws in family.hulls.items():
            given_value = [answer_law_given(j, table, family.entry, value) for j in joints]
            expected = [law for law in given_value if law]
            if chain.initial == "any":
                assert starts_of(chain, family.entry, value) == tuple(u for u, law in enumerate(given_value) if law)
            assert len(laws) == len(expected)
            for computed, law in zip(laws, expected, strict=True):
                assert computed.values.tolist() == list(law)
                bound = family.relative_error + 1e-15 * len(law)
                assert all(abs(m - p) <= bound * p for m, p in zip(computed.probabilities, law.values(), strict=True))


def test_laws_of_long_chains_in_blocks_are_those_of_single_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = tf.PeriodicChain([NIGHT, DAY], 300, BY_HOUR, 5)
    answer, family = tf.Count(1).resolve(chain), Family(range(0, 300, 37))
    blocks = {f.entry: f.hulls for f in ChainLaw(chain, answer, family).families()}
    monkeypatch.setattr("takifugu.analysis.answer_laws.forward_backward.block_length", lambda *shape: 1)
    for single in ChainLaw(chain, answer, family).families():
        for value, (law,) in single.hulls.items():
            (other,) = blocks[single.entry][value]
            assert law.values.tolist() == other.values.tolist()
            assert np.array(other.probabilities, dtype=float) == pytest.approx(
                np.array(law.probabilities, dtype=float), rel=1e-11, abs=0
            )


@pytest.mark.mutants
@settings(max_examples=20, deadline=None)
@given(periodic(states=3, length=(2, 6), starts=("stationary", "given"), zeros=False), st.sampled_from(["1/3", 2]))
def test_noise_by_the_law_of_the_answer_is_what_enumeration_says(case: Case, epsilon: Any) -> None:
    framework, (joint,) = tf.Pufferfish(tf.every_entry(), case.chain), case.joints
    table, k = contributions(tf.Count(1).resolve(case.chain)), len(case.chain.states)
    laws = [[answer_law_given(joint, table, i, v) for v in range(k)] for i in range(case.chain.length)]
    pairs = [(given_i[a], given_i[b]) for given_i in laws for a in range(k) for b in range(k) if a < b]
    w = max(w_infinity_of(*pair) for pair in pairs)
    options = {"epsilon": epsilon, "single_release": True, "allow_zero_noise": True}
    calibration = tf.calibrate(framework, tf.Count(1), mechanism="wasserstein", **options)
    assert calibration.scale == pytest.approx(float(w / Fraction(epsilon)), rel=1e-9)
    exact = tf.calibrate(framework, tf.Count(1), mechanism="laplace-exact", **options)
    scale = Fraction(exact.scale)
    loss = max(largest_laplace_loss(p, q, scale) for p, q in pairs)
    assert loss <= float(Fraction(epsilon)) * (1 + 1e-9)
    if scale:
        assert loss >= float(Fraction(epsilon)) * (1 - 1e-6) or scale < Fraction(1, 50)


@settings(max_examples=15, deadline=None)
@given(periodic(length=(2, 6), zeros=False), st.sampled_from(["group-dp", "record-dp", "quilt-exact"]))
def test_the_audit_finds_no_more_than_was_promised(case: Case, mechanism: str) -> None:
    framework = tf.Pufferfish(tf.every_entry(), case.chain)
    calibration = tf.calibrate(framework, tf.Count(1), epsilon=1, mechanism=mechanism)
    if mechanism != "record-dp":  # which promises less
        assert tf.exact_loss(calibration).lower <= 1 + 1e-9


def test_the_audit_sees_noise_for_the_wrong_hours() -> None:
    order = [0, 0, 1, 1]
    sure, loose = [[0.99, 0.01], [0.01, 0.99]], [[0.5, 0.5], [0.5, 0.5]]
    wrong = tf.PeriodicChain([sure, loose], 5, [1] * 4 + [0])
    true = tf.PeriodicChain([sure, loose], 5, order)
    about = [tf.Pufferfish(tf.every_entry(), chain) for chain in (wrong, true)]
    noise = tf.calibrate(about[0], tf.Count(1), epsilon=1, mechanism="quilt-exact").randomiser
    assert tf.exact_loss(about[0], tf.Count(1), noise).lower <= 1
    assert tf.exact_loss(about[1], tf.Count(1), noise).lower > 1.2


@pytest.mark.slow
def test_what_is_not_known_of_it_is_refused_with_the_reason() -> None:
    framework = tf.Pufferfish(tf.every_entry(), tf.PeriodicChain([NIGHT, DAY], 30, BY_HOUR))
    rows = {row.name: row for row in tf.compare(framework, tf.Count(1), epsilon=1)}
    assert rows["quilt-exact"].scale < rows["group-dp"].scale
    assert rows["quilt-approx"].scale is None
    assert "MQMApprox is printed for chains whose steps have one" in rows["quilt-approx"].reason


def test_pieces_start_at_one_place() -> None:
    pieces = tf.IndependentPieces(tf.PeriodicChain([NIGHT, DAY], 24, BY_HOUR, 3), [24, 48])
    again = beliefs.from_dict(json.loads(json.dumps(beliefs.to_dict(pieces))))
    assert again.component(1).start == 3
    assert again.component(1).length == 48


def test_lengths_of_recordings_are_written_as_pairs() -> None:
    """A million recordings of ten steps were sixteen megabytes of every certificate."""
    pieces = tf.IndependentPieces(CHAIN, [3, 3, 5, 3])
    written = json.loads(json.dumps(pieces.to_dict()))
    assert written["lengths"] == [[3, 2], [5, 1], [3, 1]]
    assert beliefs.from_dict(written) == pieces
    for wrong in ([3, 3], [[3, 0]], [[3, -1]], [[3, 1.0]], [[3]], [[True, 1]], "x", None, {"3": 1}):
        with pytest.raises(InputError, match=r"not written as pairs.*\[\[60, 1\], \[45, 3\]\]"):
            beliefs.from_dict({**written, "lengths": wrong})
    with pytest.raises(InputError, match="more than 10,000,000 recordings"):
        beliefs.from_dict({**written, "lengths": [[3, 2], [3, 10**15]]})
