"""One gate on the noise that is drawn (docs/theory/zero-noise.md): what it refuses, what passes, what gets round it."""

import csv
import itertools
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.drawn_noise import LEFT_OUT, cell_law, guessed, read_off, rounded_to

import takifugu as tf
from takifugu.accounting.definitions import gate
from takifugu.accounting.definitions.gate import too_little_noise
from takifugu.analysis.bounds import Bound, Witness
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import DiscreteLaplace, Exact, RoundedLaplace, RoundedNormal
from takifugu.analysis.randomisers.selection import PermuteAndFlip
from takifugu.analysis.sensitivity import change_to_hide
from takifugu.audit import exact_loss
from takifugu.calibration import trials
from takifugu.calibration.registry import Line, find
from takifugu.core.errors import CalibrationRefused
from takifugu.model.queries.choices.candidates import MostFrequent
from takifugu.numbers.densities.normal import Normal
from takifugu.numbers.distributions.channel import Channel

EXAMPLES = Path(__file__).parents[2] / "examples"
ASIA = {  # Lauritzen and Spiegelhalter 1988
    "asia": ([], [0.01]), "smoke": ([], [0.5]), "tub": (["asia"], [0.01, 0.05]), "lung": (["smoke"], [0.01, 0.1]),
    "bronc": (["smoke"], [0.3, 0.6]), "either": (["lung", "tub"], [0, 1, 1, 1]), "xray": (["either"], [0.05, 0.98]),
    "dysp": (["bronc", "either"], [0.1, 0.7, 0.8, 0.9]),
}  # fmt: skip
#: Its own randomness hides nearly everything of its first step from the later ones.
FORGETFUL = tf.MarkovChain([[0.3, 0.7], [0.9, 0.1]], length=20)
FORGETFUL_PAIR = tf.MarkovChain([[0.3, 0.7], [0.9, 0.1]], length=2)
FIRST = tf.Pufferfish(tf.entry(0, 0, 1), FORGETFUL)
LATER = tf.Count(1, entries=range(3, 20))
#: What is counted, and beside it an entry of weight 1/100: in one number, and in two cells.
WITH_A_LITTLE = (
    tf.Linear([0] * 10 + [1] * 9 + [Fraction(1, 100)]),
    tf.JointQuery([tf.Count(1, entries=range(10, 19)), tf.Linear([0] * 19 + [Fraction(1, 100)])]),
)


def asia(folder: Path) -> tf.BayesianNetwork:
    lines = ["network asia {\n}"]
    lines += [f"variable {name} {{\n  type discrete [ 2 ] {{ no, yes }};\n}}" for name in ASIA]
    for name, (parents, chances) in ASIA.items():
        rows = []
        for values, chance in zip(itertools.product(("no", "yes"), repeat=len(parents)), chances, strict=True):
            of = f"({', '.join(values)})" if parents else "table"
            rows.append(f"  {of} {1 - chance:.2f}, {chance:.2f};")
        given = f" | {', '.join(parents)}" if parents else ""
        lines.append(f"probability ( {name}{given} ) {{\n" + "\n".join(rows) + "\n}")
    (folder / "asia.bif").write_text("\n".join(lines) + "\n")
    return tf.read_network(folder / "asia.bif")


def people() -> tf.JointTable:
    with (EXAMPLES / "census.csv").open() as file:
        counts = Counter((row["race"], row["education"]) for row in csv.DictReader(file))
    return tf.JointTable.from_counts(counts, counts.values(), ["race", "education"], source="public")


def pay(amounts: tuple[int, ...] = (0, 1, 400)) -> Problem:
    """What one is paid is published, and a hidden attribute moves its chances."""
    rows = [(race, amount) for race in "ab" for amount in amounts]
    masses = [Fraction(n, sum(range(10, 10 + len(rows)))) for n in range(10, 10 + len(rows))]
    framework = tf.Pufferfish(tf.attribute("race", "a", "b"), tf.JointTable(rows, masses, ["race", "pay"]))
    return Problem(framework, tf.Identity("pay"), Fraction(1), Fraction(1, 10**6))


def hundred_cells() -> Problem:
    """One step moves 100 cells by 1 each, whose mean has a tenth of their noise."""
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.5, 0.5], [0.5, 0.5]], 3))
    return Problem(framework, tf.JointQuery([tf.Linear([1, 0, 0])] * 100), Fraction(1), Fraction(1, 10**6))


def is_refused(problem: Problem, noise: Any) -> bool:
    return too_little_noise(problem, noise, problem.epsilon, problem.delta) is not None


CASES: dict[str, Any] = {
    "education, hide race": lambda folder: (
        tf.Pufferfish(tf.attribute("race", "north", "south"), people()),
        tf.Identity("education", codes={"none": 0, "school": 1, "degree": 2}),
        [[(Fraction(code),) for code in range(3)]],
    ),
    "xray, hide smoke": lambda folder: (
        tf.Pufferfish(tf.attribute("smoke", "no", "yes"), asia(folder)), tf.Count("yes", entries=["xray"]),
        [[(Fraction(0),), (Fraction(1),)]],
    ),
    "tub, hide asia": lambda folder: (
        tf.Pufferfish(tf.attribute("asia", "no", "yes"), asia(folder)), tf.Count("yes", entries=["tub"]),
        [[(Fraction(0),), (Fraction(1),)]],
    ),
}  # fmt: skip


@pytest.mark.sampled(41)
@pytest.mark.parametrize("delta", ["1e-12", "1e-9", "1e-6", "1e-3"])
@pytest.mark.parametrize("epsilon", [1, 2])
@pytest.mark.parametrize("case", CASES)
def test_the_24_records_are_not_published_as_they_are(case: str, epsilon: int, delta: str, tmp_path: Path) -> None:
    framework, query, entries = CASES[case](tmp_path)
    calibration = tf.calibrate(framework, query, epsilon, delta, single_release=True)
    for answers in entries:
        assert read_off(calibration.randomiser.to_dict(), answers) <= 0.95
    row = next(row for row in calibration.alternatives if row.name == "influence-gaussian")
    assert row.scale is None or row.scale > 1 / 40


def test_a_value_of_400_among_0_and_1_is_not_told_apart() -> None:
    assert change_to_hide(pay(), 2, hides_rows=True) == 400
    for sigma, refused in ((2, True), (20, True), (180, True), (250, False)):
        assert is_refused(pay(), RoundedNormal(Fraction(sigma), Fraction(1))) is refused
    for scale in (2, 20):
        assert is_refused(pay(), DiscreteLaplace(Fraction(scale), Fraction(1)))
    assert not is_refused(pay(), DiscreteLaplace(Fraction(400), Fraction(1)))


def test_the_mean_of_100_cells_is_not_exact() -> None:
    problem = hundred_cells()
    assert (change_to_hide(problem, 1, True), change_to_hide(problem, 2, True)) == (100, 10)
    for sigma, refused in ((1, True), (5, True), (6, False)):
        assert is_refused(problem, RoundedNormal(Fraction(sigma), Fraction(1), 100)) is refused


@pytest.mark.mutants
def test_an_entry_of_little_weight_lets_no_others_through() -> None:
    """No secret entry is read: noise is asked for the entries of weight 1, not for the one of weight 1/100."""
    for query in WITH_A_LITTLE:
        for delta in (0, Fraction(1, 10**6)):
            assert change_to_hide(Problem(FIRST, query, Fraction(1), delta), 1, hides_rows=True) == 1
            noise = tf.calibrate(FIRST, query, 1, delta, single_release=True).randomiser.to_dict()
            cells = [(Fraction(0),) * noise["cells"], (Fraction(1), *[Fraction(0)] * (noise["cells"] - 1))]
            assert rounded_to(noise, cells) <= 1 - math.exp(-1) + 1e-5
        with pytest.raises(CalibrationRefused, match="small beside what one value changes"):
            tf.with_scale(FIRST, query, "0.5")


@pytest.mark.mutants
def test_a_large_delta_leaves_95_in_100() -> None:
    little, framework = DiscreteLaplace(Fraction(1, 5), Fraction(1)), tf.Pufferfish(tf.every_entry(), FORGETFUL)
    for epsilon, delta in ((Fraction(1), Fraction(99, 100)), (Fraction(4), Fraction(1, 10**6))):
        assert is_refused(Problem(framework, tf.Count(1), epsilon, delta), little)
    for delta in ("1/2", "0.9", "0.999", "0.999999"):
        noise = tf.calibrate(framework, tf.Count(1), 1, delta, single_release=True).randomiser
        assert read_off(noise.to_dict(), [(Fraction(0),), (Fraction(1),), (Fraction(2),)]) <= 0.976


SIZES = st.builds(Fraction, st.integers(1, 60), st.just(20))


@settings(max_examples=60)
@given(SIZES, st.integers(1, 6), st.integers(0, 19), st.sampled_from(["discrete", "laplace", "normal"]), st.booleans())
def test_what_stays_unseen_is_bounded_from_below(
    size: Fraction, steps: int, place: int, kind: str, on_grid: bool
) -> None:
    """Wherever the answer lies, P(|output - answer| >= change/2) is at least `unseen`, and on the grid equal to it."""
    on_grid = on_grid or kind == "discrete"
    change = Fraction(steps) if on_grid else Fraction(steps, 3)
    centre = Fraction(0) if on_grid else Fraction(place, 20)
    if kind == "discrete":
        noise: Any = DiscreteLaplace(size, Fraction(1))
    elif kind == "laplace":
        noise = RoundedLaplace(size, Fraction(1), on_grid=on_grid)
    else:
        noise = RoundedNormal(size, Fraction(1), on_grid=on_grid)
    law = cell_law(noise.to_dict(), centre)
    near = sum(mass for output, mass in law.items() if 2 * abs(output - centre) < change)
    assert float(noise.unseen(change)) <= 1 - near + 1e-6
    if on_grid:
        assert float(noise.unseen(change)) == pytest.approx(1 - near, abs=1e-6)


BIT = [(Fraction(0),), (Fraction(1),)]


def most_rounded_to(epsilon: float, delta: float) -> float:
    """Return how often the exact answer may be what the output is rounded to (docs/theory/zero-noise.md, Theorem 2)."""
    times = math.exp(min(epsilon, 700))
    return max(min(1 - math.exp(-epsilon) + delta, 0.95), 1 - 2 * (1 - min(delta, 0.05)) / (times + 1))


@settings(max_examples=150)
@given(
    SIZES.map(lambda size: size / 2), st.integers(1, 6), st.sampled_from(["discrete", "laplace", "normal"]),
    st.floats(0.1, 9), st.sampled_from([0.0, 1e-6, 0.01, 0.5, 0.999]),
)  # fmt: skip
def test_theorem_2_of_noise_that_passes(size: Fraction, steps: int, kind: str, epsilon: float, delta: float) -> None:
    """Whatever passes, the exact answer is read by rounding, and two values are told apart, no more than is said."""
    noise: Any = DiscreteLaplace(size, Fraction(1))
    if kind != "discrete":
        noise = (RoundedLaplace if kind == "laplace" else RoundedNormal)(size, Fraction(1))
    query = tf.Linear([0, steps])
    problem = Problem(tf.Pufferfish(tf.every_entry(), FORGETFUL_PAIR), query, Fraction(epsilon), Fraction(delta))
    assert change_to_hide(problem, noise.norm, hides_rows=True) == steps
    if is_refused(problem, noise):
        return
    most, answers = most_rounded_to(epsilon, delta), [(Fraction(0),), (Fraction(steps),)]
    seen = rounded_to(noise.to_dict(), answers)
    assert seen <= most + 2 * LEFT_OUT
    assert read_off(noise.to_dict(), answers) <= (1 + most) / 2 + 2 * LEFT_OUT
    half_way = (1 - most) / 4 if steps % 2 == 0 else 0
    assert guessed(noise.to_dict(), *answers) <= (1 + most) / 2 + half_way + 2 * LEFT_OUT


@settings(max_examples=60)
@given(st.integers(2, 20), st.lists(st.integers(1, 3), min_size=1, max_size=3), st.booleans())
def test_cells_that_move_along_one_line_tell_no_more_than_one(size: int, moves: list[int], is_normal: bool) -> None:
    """The nearer of two answers is right as often as beside one cell that moves by all that these move, or less."""
    scale, answer = Fraction(size, 10), tuple(map(Fraction, moves))
    if is_normal:
        noise: Any = RoundedNormal(scale, Fraction(1), len(moves))
        length = math.sqrt(sum(move**2 for move in moves))
        most = 1 - math.erfc(length / 2 / float(scale) / math.sqrt(2)) / 2
    else:
        noise = DiscreteLaplace(scale, Fraction(1), len(moves))
        most = 1 - math.exp(-math.ceil(sum(moves) / 2) / float(scale)) / 2
    assert guessed(noise.to_dict(), (Fraction(0),) * len(moves), answer) <= most + 4 * LEFT_OUT


def test_a_constant_and_noise_of_an_unknown_form_hide_nothing() -> None:
    from takifugu.analysis.randomisers import Base

    class Constant(Base, kind="test-constant"):
        grid, cells = Fraction(1), 1

    problem = Problem(tf.Pufferfish(tf.every_entry(), FORGETFUL), tf.Count(1), Fraction(1))
    assert is_refused(problem, Constant())
    assert is_refused(problem, Exact(Fraction(1)))
    assert Exact(Fraction(1)).unseen(Fraction(1)) == 0
    coarse = RoundedNormal(Fraction(1, 10), Fraction(1), on_grid=False)  # of numbers 1/10 apart
    assert coarse.unseen(Fraction(1, 10)) < Fraction(1, 10**5)


def test_a_table_of_masses_is_asked_for_neighbouring_answers() -> None:
    from takifugu.analysis.randomisers.choices import ChannelChoice

    for share, refused in ((Fraction(98, 100), True), (Fraction(97, 100), False)):
        rows = [[share, 1 - share], [1 - share, share]]
        noise = ChannelChoice(Channel.of([0, 1], [0, 1], rows), Fraction(1), (0.5, 0.5))
        assert float(noise.unseen(Fraction(1))) == pytest.approx(2 - 2 * share, abs=1e-6)
        problem = Problem(tf.Pufferfish(tf.every_entry(), FORGETFUL), tf.Count(1), Fraction(1))
        assert is_refused(problem, noise) is refused


@pytest.mark.mutants
def test_no_other_way_gets_around_the_gate() -> None:
    for scale in ("1e-9", "0.01"):
        with pytest.raises(CalibrationRefused, match="small beside what one value changes"):
            tf.with_scale(FIRST, LATER, scale)
        assert tf.with_scale(FIRST, LATER, scale, allow_zero_noise=True).scale == float(scale)
    for only in (False, True):
        for row in tf.compare(FIRST, LATER, 1, "1e-6", single_release=only):
            if row.status in ("chosen", "possible", "if followed by others") and row.name != "optimal":
                assert row.expected_error is None or row.expected_error > 0.2, row
    for mechanism in ("auto", "influence-gaussian"):
        calibration = tf.calibrate(FIRST, LATER, 1, "1e-6", mechanism, single_release=True)
        assert read_off(calibration.randomiser.to_dict(), [(Fraction(0),), (Fraction(1),)]) <= 0.95


#: A chain of independent steps, of which the first is secret: no noise of the others loses anything.
INDEPENDENT = tf.Pufferfish(tf.entry(0, 0, 1), tf.MarkovChain([[0.5, 0.5], [0.5, 0.5]], length=20))


@pytest.mark.sampled(7)
@pytest.mark.parametrize("framework", [FIRST, INDEPENDENT], ids=["forgetful", "independent"])
@pytest.mark.parametrize(("last", "delta"), [
    (tf.Count(1, entries=range(4, 20)), 0), (tf.Count(1), 0), (tf.Mode(entries=range(3, 20)), 0),
    (tf.Count(1, entries=range(4, 20)), Fraction(1, 10**6)), (tf.Count(1), Fraction(1, 10**6)),
])  # fmt: skip
def test_joint_noise_is_raised_to_what_passes_at_an_equal_share(framework: Any, last: Any, delta: Any) -> None:
    for epsilon in (1, 3):
        made = tf.calibrate_jointly(framework, [LATER, last], epsilon, delta)
        assert tf.compose(made, begins_series=bool(delta)).epsilon <= epsilon
        for calibration in made:
            assert calibration.too_little_noise is None
            if calibration.requested is not None:
                share = max(calibration.epsilon, Fraction(epsilon, 2)), max(calibration.delta, Fraction(delta) / 2)
                assert calibration.requested == share
                less = calibration.randomiser.of_scale(calibration.randomiser.scale * (1 - Fraction(1, 10**9)))
                assert too_little_noise(calibration.problem, less, *share)
        assert made[0].witness.comparison == trials.BESIDE_ALL_OTHERS


#: Theorem 3: each form of noise, at a scale in answer units, for one cell and for several.
FORMS = {
    "discrete Laplace": lambda scale, cells: DiscreteLaplace(scale, Fraction(1), cells),
    "rounded Laplace": lambda scale, cells: RoundedLaplace(scale, Fraction(1), cells, on_grid=False),
    "normal": lambda scale, cells: RoundedNormal(scale, Fraction(1), cells),
    "none": lambda _, cells: Exact(Fraction(1), cells),
}


@pytest.mark.parametrize(("scale", "larger"), [(1, 2), (Fraction(1, 3), Fraction(1, 2)), (2, 9)])
def test_more_discrete_laplace_noise_is_less_of_it_with_something_independent_added(scale: Any, larger: Any) -> None:
    """Theorem 3: nothing is added with the weight of zero, else noise of the larger scale."""
    reach = 60 * math.ceil(larger)
    places = np.arange(-reach, reach + 1)
    less, more = (np.exp(-abs(places) / float(b)) * np.tanh(1 / (2 * float(b))) for b in (scale, larger))
    a, c = math.exp(-1 / scale), math.exp(-1 / larger)
    stays = (a / c) * ((1 - c) / (1 - a)) ** 2
    assert 0 < stays < 1
    assert np.convolve(less, more, "same") * (1 - stays) + less * stays == pytest.approx(more, abs=1e-12)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("delta", [0, Fraction(1, 10**6), Fraction(1, 4)])
@pytest.mark.parametrize("query", [tf.Count(1), tf.Histogram()], ids=["one cell", "two cells"])
def test_what_is_raised_passes_and_a_little_less_does_not(form: str, delta: Any, query: tf.Query) -> None:
    before = math.inf
    for epsilon in map(Fraction, ("0.01", "0.5", "1", "2.5", "3.5", "7", "60")):
        problem = Problem(tf.Pufferfish(tf.every_entry(), FORGETFUL), query, epsilon, delta)
        noise = FORMS[form](Fraction(1, 10**4), problem.cells)
        raised = gate.raised(problem, noise, epsilon, delta)
        assert raised is not None
        assert not is_refused(problem, raised)
        less = raised.of_scale(raised.scale * (1 - Fraction(1, 10**9)))
        assert is_refused(problem, less)
        assert raised.scale <= before * (1 + 1e-9)  # what passes at one epsilon passes at each larger one
        before = raised.scale
        assert gate.raised(problem, raised.of_scale(raised.scale * 2), epsilon, delta).scale == raised.scale * 2


@pytest.mark.mutants
def test_what_is_raised_keeps_its_promise() -> None:
    """By enumeration: who believes the chain gains at most epsilon, who knows all others is wrong often enough."""
    for secret, query in ((tf.entry(0, 0, 1), tf.Count(1, entries=[1])), (tf.every_entry(), tf.Count(1))):
        for epsilon in (1, 2, 3):
            for mechanism in ("influence", "laplace-exact"):
                raised = tf.calibrate(tf.Pufferfish(secret, FORGETFUL_PAIR), query, epsilon, mechanism=mechanism)
                assert exact_loss(raised).upper <= epsilon
    calibration = tf.calibrate(tf.Pufferfish(tf.entry(0, 0, 1), FORGETFUL_PAIR), tf.Count(1, entries=[1]), 1)
    assert calibration.witness.comparison == trials.BESIDE_ALL_OTHERS


@pytest.mark.mutants
@pytest.mark.parametrize("delta", [0, "1e-6"])
@pytest.mark.parametrize("query", [
    LATER, tf.Histogram(entries=range(3, 20)), *WITH_A_LITTLE, tf.Count(1), tf.Mode(entries=range(3, 20)),
    tf.Median(entries=range(3, 20)),
])  # fmt: skip
def test_noise_never_rises_with_epsilon(query: tf.Query, delta: Any) -> None:
    """It did where the belief hides nearly all: the gate refused the noise, and another mechanism's was far larger."""
    for only in (False, True):
        errors = []
        for epsilon in ("0.1", "0.3", "0.5", 1, 2, 3, 5, 10, 45):
            errors.append(tf.calibrate(FIRST, query, epsilon, delta, single_release=only).expected_error)
        assert all(later <= error * (1 + 1e-8) for error, later in itertools.pairwise(errors)), errors


#: Few entries, whose own randomness hides nearly everything, so that every mechanism is quick.
SHORT = tf.MarkovChain([[0.3, 0.7], [0.9, 0.1]], length=4)
LAST = tf.Count(1, entries=[3])


@pytest.mark.sampled(5)
@pytest.mark.parametrize("epsilon", ["1e-9", 1, 10**4])
@pytest.mark.parametrize("delta", [0, Fraction(1, 10**300), "1e-6", "0.999999999"])
@pytest.mark.parametrize("secret", [tf.entry(0, 0, 1), tf.every_entry()], ids=["not read", "read"])
def test_an_extreme_promise_ends_in_noise_that_passes(secret: Any, delta: Any, epsilon: Any) -> None:
    calibration = tf.calibrate(tf.Pufferfish(secret, SHORT), LAST, epsilon, delta, single_release=True)
    noise, size = calibration.randomiser, Fraction(epsilon)
    assert too_little_noise(calibration.problem, noise, size, Fraction(delta)) is None
    if float(noise.scale) < 1000:  # beyond that P(|N| < 1/2) is next to nothing, and the outputs are many
        assert rounded_to(noise.to_dict(), BIT) <= most_rounded_to(float(size), float(Fraction(delta))) + 2 * LEFT_OUT
    else:
        assert epsilon == "1e-9"


@pytest.mark.sampled(5)
@pytest.mark.parametrize("delta", [0, Fraction(1, 10**300), "0.999999999"])
@pytest.mark.parametrize("mechanism", ["auto", "group-dp"])
def test_a_constant_is_refused_as_what_has_no_noise(mechanism: str, delta: Any) -> None:
    alone = tf.JointTable([("a", 3), ("b", 3)], [Fraction(1, 2)] * 2, ["race", "pay"])
    for framework, query in (
        (tf.Pufferfish(tf.every_entry(), SHORT), tf.Linear([0] * 4)),
        (tf.Pufferfish(tf.attribute("race", "a", "b"), alone), tf.Identity("pay")),
    ):
        delta_of = delta if mechanism == "auto" else 0
        with pytest.raises(CalibrationRefused, match="no noise at all would be added"):
            tf.calibrate(framework, query, 1, delta_of, mechanism=mechanism, single_release=True)


def test_where_rows_are_not_hidden_the_certificate_says_how_far() -> None:
    table = tf.JointTable([(0, "x"), (1, "y"), (1, "x")], [Fraction(1, 3)] * 3, ["age", "sex"])
    framework = tf.Pufferfish(tf.dataset_property("age", "mean"), tf.Records(table, 8))
    calibration = tf.calibrate(framework, tf.Sum("age"), 1, single_release=True)
    certificate = tf.release(calibration, [(0, "x")] * 8).certificate
    assert "may read it off with a probability of up to 95 %" in " ".join(str(certificate).split())


@pytest.mark.mutants
@pytest.mark.parametrize("delta", [0, 0.05])
def test_a_stated_density_is_not_asked_for_the_range_of_all_records(delta: float) -> None:
    """What all records move together is no entry: a mean that may lie 540 apart is not moved so by one of 120."""
    curves = {90: Normal(236, 3), 100: Normal(238, 3), 110: Normal(241, 3)}
    answer = tf.Mean("minutes")
    belief = tf.Density("parcels", "mean", curves, resolution="0.1", answer=answer, value_range=(60, 600))
    framework = tf.Pufferfish(tf.dataset_property("parcels", "mean", max_difference=10), belief)
    calibration = tf.calibrate(framework, answer, 1, delta, single_release=True)
    assert change_to_hide(calibration.problem, 1, hides_rows=False) == Fraction(1, 10)
    assert calibration.mechanism != "group-dp"
    assert calibration.scale < 10
    little = RoundedLaplace(Fraction(1, 100), Fraction(1, 10), on_grid=False)
    assert "above 95 %" in str(too_little_noise(calibration.problem, little, Fraction(1), Fraction(0)))


@pytest.mark.parametrize(("query", "noise", "raised"), [
    (tf.Count(1), DiscreteLaplace(Fraction(1, 9), Fraction(1)), True),
    (tf.Mode(), PermuteAndFlip(Fraction(1, 9), ("0", "1"), MostFrequent(1)), False),
], ids=["noise", "choice"])  # fmt: skip
def test_a_choice_of_another_package_is_not_raised(
    monkeypatch: pytest.MonkeyPatch, query: Any, noise: Any, raised: bool
) -> None:
    """Its mechanism may know more of the law of a choice than how far counts move."""
    problem = Problem(tf.Pufferfish(tf.every_entry(), FORGETFUL_PAIR), query, Fraction(1))
    bound = Bound(noise, Fraction(1), Fraction(0), Covers.OUTPUT, Witness("a against b"))
    monkeypatch.setattr(Line, "package", "elsewhere")
    monkeypatch.setattr(Line, "load", lambda line: SimpleNamespace(bound=lambda problem: bound))
    monkeypatch.setattr(trials, "judged", lambda line, problem, bound: bound)
    trial = trials.attempt(find("influence", "pufferfish"), problem, allow_zero_noise=False, limited=False)
    assert trial.status == ("possible" if raised else "refused by default"), trial.reason
