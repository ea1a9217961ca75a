"""Calibration: the README's example, the rules, the choice, what it prints, what it refuses, what reads back."""

import json
import math
import os
import subprocess
import sys
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.support.chain_questions import chains, loss_of
from tests.support.registries import restored

import takifugu as tf
from takifugu.accounting.definitions.gate import too_little_noise
from takifugu.analysis.bounds import Bound, Cost, Refusal, Witness
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import DiscreteLaplace, Exact, RoundedLaplace
from takifugu.analysis.randomisers.choices import ChannelChoice
from takifugu.calibration import Calibration, alternatives, registry, trials
from takifugu.calibration.alternatives import CHOSEN, IF_FOLLOWED, IF_ONLY, INAPPLICABLE, POSSIBLE, REFUSED, WEAKER
from takifugu.calibration.registry import REGISTRY, Line, find, register
from takifugu.core.errors import CalibrationRefused, InputError, TakifuguError, Unsupported
from takifugu.mechanisms.group_dp import MECHANISM as GROUP
from takifugu.numbers import Pmf
from takifugu.numbers.distributions.channel import Channel

SOURCE = Path(__file__).resolve().parents[2] / "src"
STATES = ["still", "walking"]
#: The mechanisms that frameworks of Pufferfish are told of.
MECHANISMS = [line.name for line in registry.REGISTRY if "pufferfish" in line.definitions and not line.of_columns]


def activity(length: int = 100, **how: Any) -> tf.MarkovChain:
    return tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=length, states=STATES, **how)


def framework_of(belief: Any) -> Any:
    return tf.Pufferfish(secrets=tf.every_entry(), beliefs=[belief])


ACTIVITY = framework_of(activity())
FLU = tf.distribution_pair(
    Pmf([0, 1, 2, 3], [Fraction(1, 2), *[Fraction(1, 6)] * 3]), Pmf([1, 2, 3, 4], [Fraction(1, 4)] * 4)
)
# The belief's own randomness hides each entry so well that laplace-exact needs little noise of its own.
NOISY_BELIEF = framework_of(tf.MarkovChain([[0.3, 0.7], [0.9, 0.1]], length=20))


@pytest.mark.mutants
def test_the_example_of_the_design() -> None:
    calibration = tf.calibrate(ACTIVITY, tf.Count("walking"), epsilon=1.0)
    page = str(calibration)
    for words in ("scale", "hides", "every single value", "forced by", "the other mechanisms", "group-dp"):
        assert words in page
    assert (calibration.epsilon, calibration.delta) == (1, 0)
    assert 0 < calibration.scale < 100
    assert calibration.scale == float(calibration.randomiser.scale)
    composing = {"group-dp", "record-dp", "influence"}
    assert {row.name for row in calibration.alternatives} == composing
    assert {row.name for row in tf.compare(ACTIVITY, tf.Count("walking"), 1)} == {*MECHANISMS}
    assert [row.name for row in calibration.alternatives if row.status == CHOSEN] == [calibration.mechanism]
    again = Calibration.from_dict(json.loads(json.dumps(calibration.to_dict())))
    assert again.alternatives == calibration.alternatives
    assert again.witness == calibration.witness


@pytest.mark.mutants
def test_pages_fit_eighty_columns_whatever_the_names() -> None:
    mixed = tf.JointTable([(0, "x"), (1, "y")], [0.5, 0.5], names=["bit", "a column with quite a long name, too long"])
    long_names = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 100, states=["lying down on a sofa " * 5, "walking"])
    for page in (
        tf.calibrate(framework_of(mixed), tf.Count("x"), 1), tf.calibrate(framework_of(long_names), tf.Histogram(), 1),
        tf.compare(framework_of(long_names), tf.Histogram(), 1), tf.compare(NOISY_BELIEF, tf.Count(1), 1),
    ):  # fmt: skip
        assert max(map(len, str(page).splitlines())) <= 80, page


def test_pages_in_html_are_escaped() -> None:
    belief = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 10, states=["<b>", "&"])
    for html in (
        tf.calibrate(framework_of(belief), tf.Count("<b>"), 1)._repr_html_(),
        tf.compare(framework_of(belief), tf.Count("<b>"), 1)._repr_html_(),
    ):
        assert "<b>" not in html
        assert html.count("<table>") == html.count("</table>") >= 1


def test_short_form_does_not_show_matrices() -> None:
    assert repr(tf.with_scale(ACTIVITY, tf.Count("walking"), 50)).startswith("<Calibration with-scale: scale 50, ")


@st.composite
def questions(draw: st.DrawFn) -> tuple[Any, Any]:
    kind = draw(st.integers(0, 3))
    if kind == 0:
        return FLU, tf.Identity()
    if kind == 1:
        table = tf.JointTable([(0, "x"), (1, "x"), (1, "y")], [Fraction(1, 3)] * 3, names=["bit", "letter"])
        return tf.Pufferfish(tf.attribute("letter", "x", "y"), table), tf.Identity("bit")
    belief: Any = draw(chains())
    if kind == 2:
        belief = tf.IndependentPieces(belief, [3, 1, 2])
    query = draw(st.sampled_from([tf.Count(1), tf.Sum(grid="0.5"), tf.Mean(), tf.Histogram(total=7), tf.Sum()]))
    return tf.Pufferfish([tf.every_entry(), tf.entry(0, 0, 1)], belief), query


@given(questions(), st.sampled_from([1, "0.3", Fraction(7, 3)]), st.booleans())
@settings(max_examples=40)
def test_calibrations_read_back_through_json_and_run_again(question: Any, epsilon: Any, chosen: bool) -> None:
    framework, query = question
    calibration = (
        tf.with_scale(framework, query, epsilon) if chosen else tf.calibrate(framework, query, epsilon, 0, "group-dp")
    )
    again = Calibration.from_dict(json.loads(json.dumps(calibration.to_dict())))
    assert again.to_dict() == calibration.to_dict()
    assert str(again) == str(calibration)
    assert again.randomiser == calibration.randomiser
    assert again.guarantee == calibration.guarantee
    if again.requested is not None:
        repeated = tf.calibrate(again.framework, again.query, *again.requested, mechanism=again.mechanism)
        assert repeated.to_dict() == calibration.to_dict()


@dataclass(frozen=True)
class Fake:
    """A mechanism that returns what it is given."""

    outcome: Any
    work: float = 1.0
    name: str = "fake"
    source: str = "a test"

    def cost(self, problem: Problem) -> Cost:
        return Cost(self.work, self.work)

    def bound(self, problem: Problem) -> Any:
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


@dataclass(frozen=True)
class FakeLine(Line):
    mechanism: Any = None

    def load(self) -> Any:
        return self.mechanism


#: Noise that hides nothing, and of which there is no more.
CONSTANT = ChannelChoice(Channel.of([0, 1], [0, 1], [[1, 0], [0, 1]]), Fraction(1), (0.5, 0.5))


def lap(units: Any, kind: Covers = Covers.OUTPUT, epsilon: Any = 1, delta: Any = 0) -> Bound:
    noise = DiscreteLaplace(Fraction(units), Fraction(1))
    return Bound(noise, Fraction(epsilon), Fraction(delta), kind, Witness("a against b"))


def registered(monkeypatch: pytest.MonkeyPatch, **mechanisms: Any) -> None:
    lines = tuple(
        FakeLine(name, "", mechanism=given if isinstance(given, Fake) else Fake(given))
        for name, given in mechanisms.items()
    )
    monkeypatch.setattr(trials, "REGISTRY", lines)
    monkeypatch.setattr(registry, "REGISTRY", lines)


def auto(**how: Any) -> Any:
    return tf.calibrate(ACTIVITY, tf.Count("walking"), 1, **how)


def test_by_default_the_least_error_that_leaves_a_door_open_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    registered(monkeypatch, whole=lap(9, Covers.EVERYTHING), single=lap(1), quilt=lap(8, Covers.ENTRIES))
    chosen, only = auto(), auto(single_release=True)
    assert (chosen.mechanism, chosen.is_only_release, chosen.forbids) == ("quilt", False, "")
    assert (only.mechanism, only.is_only_release) == ("single", True)
    assert only.forbids.startswith("this release is alone: beside any other")
    assert only.forbids in " ".join(str(only).split())
    marks = [[row.status for row in tf.compare(ACTIVITY, tf.Count("walking"), 1, single_release=o)] for o in (0, 1)]
    assert marks == [[POSSIBLE, IF_ONLY, CHOSEN], [POSSIBLE, CHOSEN, IF_FOLLOWED]]
    assert [[row.status for row in c.alternatives] for c in (chosen, only)] == marks


def test_where_nothing_composes_the_least_is_taken_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    registered(monkeypatch, first=lap(9), second=lap(8), zero=replace(lap(1), randomiser=CONSTANT))
    assert auto().mechanism == "second"
    assert auto().forbids.startswith("no mechanism that composes with later releases may be used here")
    assert [row.status for row in tf.compare(ACTIVITY, tf.Count("walking"), 1)] == [POSSIBLE, CHOSEN, REFUSED]


def test_two_laws_are_compared_by_the_least_noise_and_that_is_said() -> None:
    """Between two laws only `group-dp` composes, and it makes no use of them."""
    pair = tf.distribution_pair(Pmf([0, 1, 5], [0.5, 0.3, 0.2]), Pmf([1, 3], [0.5, 0.5]))
    calibration = tf.calibrate(pair, tf.Identity(), 1)
    assert (calibration.mechanism, calibration.is_only_release) == ("laplace-exact", True)
    assert calibration.forbids.startswith("two distributions of an answer are compared")
    rows = {row.name: row.status for row in tf.compare(pair, tf.Identity(), 1)}
    assert (rows["laplace-exact"], rows["group-dp"]) == (CHOSEN, IF_FOLLOWED)
    same = Pmf([0], [1])
    assert tf.calibrate(tf.distribution_pair(same, Pmf([2], [1])), tf.Identity(), 1).forbids == ""


@pytest.mark.parametrize("excess", [0, Fraction(1, 10**10)])
def test_equal_errors_prefer_the_kind_that_composes_better(monkeypatch: pytest.MonkeyPatch, excess: Any) -> None:
    kinds = [Covers.OUTPUT, Covers.ENTRIES, Covers.COMPONENT, Covers.EVERYTHING]
    for rank, kind in enumerate(kinds[1:], start=1):
        registered(monkeypatch, **{k.value: lap(8 + excess * i, k) for i, k in enumerate(kinds[: rank + 1])})
        assert auto().mechanism == auto(single_release=True).mechanism == kind.value
    registered(monkeypatch, first=lap(8), second=lap(8))
    assert auto().mechanism == "first"


def test_a_clear_difference_is_no_tie(monkeypatch: pytest.MonkeyPatch) -> None:
    registered(monkeypatch, single=lap(8), whole=lap(8 + Fraction(1, 10**6), Covers.EVERYTHING))
    assert auto(single_release=True).mechanism == "single"


def test_each_answer_gets_its_status(monkeypatch: pytest.MonkeyPatch) -> None:
    registered(
        monkeypatch,
        weaker=lap(1, epsilon=Fraction(73, 10)),
        needs_delta=lap(1, delta=Fraction(1, 100)),
        refused=Refusal("no such law"),
        raised=Unsupported("not for classes"),
        slow=Fake(lap(2), work=1e15),
        constant=replace(lap(1), randomiser=CONSTANT),
        zero=replace(lap(1), randomiser=Exact(Fraction(1))),
        small=lap(Fraction(1, 3)),
        good=lap(5),
    )
    rows = {row.name: row for row in tf.compare(ACTIVITY, tf.Count("walking"), 1)}
    assert {name: row.status for name, row in rows.items()} == {
        "weaker": WEAKER, "needs_delta": WEAKER, "refused": INAPPLICABLE, "raised": INAPPLICABLE,
        "slow": alternatives.SKIPPED, "constant": REFUSED, "zero": CHOSEN, "small": POSSIBLE, "good": POSSIBLE,
    }  # fmt: skip
    assert "promises epsilon 7.3, not 1" in rows["weaker"].reason
    assert "requires delta 0.01" in rows["needs_delta"].reason
    assert "about 39 days" in rows["slow"].reason
    assert rows["zero"].scale == rows["small"].scale == pytest.approx(0.671195, abs=1e-6)  # the least that passes
    assert auto(mechanism="good").scale == 5
    assert auto(mechanism="slow").mechanism == "slow"
    assert auto(mechanism="zero", allow_zero_noise=True).scale == 0
    rows = {row.name: row for row in tf.compare(ACTIVITY, tf.Count("walking"), 1, "0.1")}
    assert rows["needs_delta"].status == POSSIBLE


def test_nothing_possible_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    registered(monkeypatch, first=Refusal("no such law"), second=replace(lap(1), randomiser=CONSTANT))
    with pytest.raises(CalibrationRefused, match=r"(?s)no such law.*allow_zero_noise=True"):
        auto()
    assert [row.status for row in tf.compare(ACTIVITY, tf.Count("walking"), 1)] == [INAPPLICABLE, REFUSED]


def test_entry_noise_is_never_taken_when_entries_are_correlated() -> None:
    for query in (tf.Count("walking"), tf.Histogram()):
        calibration = tf.calibrate(ACTIVITY, query, 1)
        row = next(r for r in calibration.alternatives if r.name == "record-dp")
        assert row.status == WEAKER
        assert "does not protect correlated data" in row.reason
        assert calibration.mechanism != "record-dp"
    forced = tf.calibrate(ACTIVITY, tf.Count("walking"), 1, mechanism="record-dp")
    assert forced.epsilon > 1
    assert "NOT the epsilon 1 that was requested" in " ".join(str(forced).split())


def rule(noise: Any, epsilon: Any = 1, delta: Any = 0, query: Any = None, framework: Any = ACTIVITY) -> str | None:
    problem = Problem(framework, query or tf.Count("walking"), Fraction(epsilon), Fraction(delta))
    return too_little_noise(problem, noise, problem.epsilon, problem.delta)


positive = st.builds(Fraction, st.integers(1, 10**6), st.integers(1, 10**6))


@given(positive, st.integers(1, 10**9))
def test_ordinary_entry_noise_always_passes(epsilon: Fraction, weight: int) -> None:
    query = tf.Linear([weight] + [0] * 99, codes={"still": 0, "walking": 1}, grid=1)
    units = Fraction(weight) / epsilon
    assert rule(DiscreteLaplace(units, Fraction(1)), epsilon, query=query) is None
    assert rule(RoundedLaplace(units, Fraction(1)), epsilon, query=query) is None


@given(st.floats(0.05, 20), st.floats(0, 0.3))
def test_the_rule_turns_exactly_at_its_bound(epsilon: float, delta: float) -> None:
    """For D = 1: P(K = 0) = (1 - a)/(1 + a) > min(1 - e^-epsilon + delta, 0.95); for Laplace 1 - e^(-1/2b)."""
    needed = max(math.exp(-epsilon) - delta, 0.05)
    assume(-math.log(needed / (2 - needed)) > 1.001 * epsilon)  # else it is ordinary noise, and passes
    a = needed / (2 - needed)
    for turn, law in ((-1 / math.log(a), DiscreteLaplace), (-1 / (2 * math.log(needed)), RoundedLaplace)):
        for factor, refused in ((1 - 1e-6, True), (1 + 1e-6, False)):
            noise = law(Fraction(turn * factor), Fraction(1))
            assert (rule(noise, Fraction(epsilon), Fraction(delta)) is not None) is refused


def test_the_rule_looks_at_all_cells_of_secret_entries() -> None:
    small = DiscreteLaplace(Fraction(3, 4), Fraction(1))
    assert rule(small) is None
    assert rule(DiscreteLaplace(Fraction(3, 4), Fraction(1), 2), query=tf.Histogram()) is None
    weights = tf.Linear([1] * 99 + [50], codes={"still": 0, "walking": 1})
    assert rule(small, query=weights) is not None
    only = tf.Pufferfish(tf.entry(0, "still", "walking"), activity())
    assert rule(small, query=weights, framework=only) is None


def test_no_noise_is_refused_always_and_comparisons_of_laws_have_the_step_of_their_grid() -> None:
    assert rule(Exact(Fraction(1))) is not None
    assert rule(Exact(Fraction(1)), framework=FLU, query=tf.Identity()) is not None
    assert rule(DiscreteLaplace(Fraction(1, 100), Fraction(1)), framework=FLU, query=tf.Identity()) is not None
    assert rule(DiscreteLaplace(Fraction(1), Fraction(1)), framework=FLU, query=tf.Identity()) is None


def test_zero_noise_is_raised_and_accepted_on_request() -> None:
    same = tf.distribution_pair(Pmf([0, 1], [0.5, 0.5]), Pmf([0, 1], [0.45, 0.55]))
    rows = {row.name: row for row in tf.compare(same, tf.Identity(), 1)}
    assert (rows["laplace-exact"].status, rows["group-dp"].status) == (CHOSEN, IF_FOLLOWED)
    raised = tf.calibrate(same, tf.Identity(), 1, mechanism="laplace-exact")
    assert 0.67 < raised.scale < 0.68 < rows["group-dp"].scale
    assert raised.witness.detail == "the belief alone asks for no noise"
    accepted = tf.calibrate(same, tf.Identity(), 1, allow_zero_noise=True)
    assert (accepted.mechanism, accepted.scale, accepted.randomiser.kind) == ("laplace-exact", 0, "none")


@pytest.mark.mutants
def test_a_belief_that_hides_too_much_does_not_decide_alone() -> None:
    rows = {row.name: row for row in tf.compare(NOISY_BELIEF, tf.Count(1), 1)}
    assert rows["laplace-exact"].scale == pytest.approx(0.671195, abs=1e-6)
    raised = tf.calibrate(NOISY_BELIEF, tf.Count(1), 1, mechanism="laplace-exact")
    assert raised.witness.detail == "the belief alone asks for a scale of 0.658342"
    accepted = tf.calibrate(NOISY_BELIEF, tf.Count(1), 1, single_release=True, allow_zero_noise=True)
    assert (accepted.mechanism, round(accepted.scale, 3)) == ("laplace-exact", 0.658)
    assert not accepted.hides_one_entry
    assert "would not hide one value" in " ".join(str(accepted).split())
    assert tf.calibrate(ACTIVITY, tf.Count("walking"), 1, mechanism="group-dp").hides_one_entry
    assert tf.calibrate(FLU, tf.Identity(), 1).hides_one_entry


def test_a_chosen_scale_is_kept_exactly_and_its_promise_computed() -> None:
    for scale in (Fraction(1, 3), Fraction(10**15 + 1, 10**15), 7):
        calibration = tf.with_scale(framework_of(activity(1)), tf.Count("walking"), scale)
        assert calibration.randomiser.scale == scale
        assert calibration.epsilon == 1 / Fraction(scale)
        assert calibration.requested is None
    assert tf.with_scale(FLU, tf.Identity(), "0.5").epsilon == 8
    assert tf.with_scale(ACTIVITY, tf.Histogram(total=100), "0.5").randomiser.scale == Fraction(1, 2)


def test_a_chosen_scale_promises_at_most_what_group_and_quilts_do() -> None:
    query = tf.Count("walking")
    for name in ("group-dp", "quilt-exact"):
        calibration = tf.calibrate(ACTIVITY, query, 1, mechanism=name)
        again = tf.with_scale(ACTIVITY, query, calibration.randomiser.scale)
        assert again.epsilon <= 1 + Fraction(1, 10**9)
    quilt = tf.with_scale(ACTIVITY, query, calibration.randomiser.scale)
    assert quilt.guarantee.covers is Covers.ENTRIES
    copied = framework_of(tf.MarkovChain([[1, 0], [0, 1]], 100, [0.5, 0.5]))
    assert tf.with_scale(copied, tf.Count(1), 50).guarantee.covers is Covers.EVERYTHING


@given(chains(), st.sampled_from([Fraction(1, 2), 2, 5]))
@settings(max_examples=30)
def test_the_promise_of_a_chosen_scale_is_true(belief: Any, scale: Any) -> None:
    promise = tf.with_scale(framework_of(belief), tf.Count(1), scale).epsilon
    assert loss_of(belief, tf.Count(1), Fraction(scale)) <= promise + Fraction(1, 10**15)


NUMBERS = [0, 0.0, -1, float("nan"), float("inf"), -float("inf"), "one", None, True, 1j, "1e-400", 1e-300, 1e300]


@pytest.mark.parametrize(("what", "wrong"), [
    *(("epsilon", number) for number in NUMBERS),
    *(("delta", number) for number in (-0.1, 1, 2, float("nan"), float("inf"), "x", None)),
])  # fmt: skip
@pytest.mark.parametrize("ask", [tf.calibrate, tf.compare])
def test_bad_promises(ask: Any, what: str, wrong: Any) -> None:
    with pytest.raises(InputError, match=what):
        ask(ACTIVITY, tf.Count("walking"), **{"epsilon": 1, what: wrong})


@pytest.mark.parametrize("scale", NUMBERS)
def test_bad_scales(scale: Any) -> None:
    with pytest.raises(InputError, match="scale"):
        tf.with_scale(ACTIVITY, tf.Count("walking"), scale)


def test_delta_for_a_pure_mechanism_by_name_is_an_error_and_for_auto_is_not() -> None:
    for line in registry.REGISTRY:
        if line.takes_delta:
            continue
        with pytest.raises(InputError, match="pure promise"):
            tf.calibrate(ACTIVITY, tf.Count("walking"), 1, 1e-6, mechanism=line.name)
    assert tf.calibrate(ACTIVITY, tf.Count("walking"), 1, 1e-6).delta == 0


@pytest.mark.parametrize(("make", "says"), [
    (lambda: tf.calibrate(ACTIVITY, tf.Count("walking"), 1, mechanism="groop"), "did you mean 'group-dp'"),
    (lambda: tf.calibrate(ACTIVITY, tf.Count("walking"), 1, mechanism=None), 'write mechanism="auto"'),
    (lambda: tf.calibrate(FLU, tf.Identity(), 1, mechanism="record-dp"), "record-dp does not apply"),
    (lambda: tf.calibrate(ACTIVITY, tf.Count("walkin"), 1), "did you mean 'walking'"),
    (lambda: tf.calibrate(ACTIVITY, tf.Sum(), 1), "give codes"),
    (lambda: tf.calibrate(ACTIVITY, "count", 1), "write for example Count"),
    (lambda: tf.calibrate(ACTIVITY, tf.Count, 1), "write for example Count"),
    (lambda: tf.calibrate(activity(), tf.Count("walking"), 1), "write Pufferfish"),
    (lambda: tf.calibrate(FLU, tf.Sum(), 1), r"publish Identity\(\)"),
    (lambda: tf.with_scale(FLU, tf.Histogram(), 1), r"publish Identity\(\)"),
    (lambda: tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.5, 0.4], [0.5, 0.5]], 3)), "sum to 0.9"),
    (lambda: tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.5, 0.5]], 3)), "square"),
    (lambda: tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[1, 0], [0, 1]], 3)), "stationary"),
])  # fmt: skip
def test_bad_input_says_what_to_write(make: Any, says: str) -> None:
    with pytest.raises(TakifuguError, match=says):
        make()


@pytest.mark.mutants
def test_mechanisms_that_do_not_apply_are_listed_by_reason() -> None:
    compared = tf.compare(ACTIVITY, tf.Count("walking"), 1)
    refused, without = str(compared).split("does not apply:")
    for row in compared:
        assert (row.name in [line.split(" ")[0] for line in refused.splitlines()]) == (row.status != "does not apply")
    lines = {name: words for name, *words in map(str.split, filter(None, without.splitlines()))}
    for row in compared:
        assert row.status != "does not apply" or lines[row.name]
    assert lines["gaussian-analytic"] == ["delta", "is", "0"]
    assert max(len(line) for line in str(compared).splitlines()) <= 80
    calibration = str(tf.calibrate(ACTIVITY, tf.Count("walking"), 1, single_release=True))
    assert calibration.count("does not apply") == 1
    assert len(compared.to_dict()["rows"]) == len(compared)


@pytest.mark.mutants
def test_beliefs_from_the_private_data_are_refused_unless_told() -> None:
    private = activity(source="estimated from the private data")
    for belief in (private, tf.IndependentPieces(private, [3, 4])):
        framework = framework_of(belief)
        for ask in (tf.calibrate, tf.with_scale):
            with pytest.raises(CalibrationRefused, match="allow_private_belief=True"):
                ask(framework, tf.Count("walking"), 1)
        accepted = tf.calibrate(framework, tf.Count("walking"), 1, allow_private_belief=True)
        assert any("estimated from the private data" in c for c in accepted.guarantee.conditions)
        assert len(tf.compare(framework, tf.Count("walking"), 1)) == len(MECHANISMS)


@pytest.mark.parametrize(("code", "printed"), [
    ("import sys, takifugu; print(sorted({'numpy', 'scipy', 'mpmath'} & set(sys.modules)))", "[]\n"),
    pytest.param(
        "import takifugu.releasing.publishing.run, takifugu as t; print(callable(t.release), callable(t.entry))",
        "True True\n", marks=pytest.mark.slow,
    ),
], ids=["it loads no numpy", "names are functions whatever was imported before"])  # fmt: skip
def test_importing_takifugu(code: str, printed: str) -> None:
    outcome = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(SOURCE)}, capture_output=True, text=True
    )
    assert outcome.stdout == printed, outcome.stderr


def test_every_public_name_is_there_and_nothing_else() -> None:
    assert dir(tf) == sorted(tf.__all__)
    for name in tf.__all__:
        assert getattr(tf, name) is not None
    with pytest.raises(AttributeError, match="did you mean 'calibrate'"):
        _ = tf.calibrat


def test_every_alias_finds_its_mechanism_in_any_case() -> None:
    lines = [line for line in REGISTRY if line.aliases]
    assert {"ALap", "SALap", "AGeo", "APGM", "Mangat", "Kantorovich-Laplace"} <= {
        a for line in lines for a in line.aliases
    }
    for line in lines:
        for alias in line.aliases:
            assert find(alias) is find(alias.upper()) is line
            assert line.named_as(alias) == f"{alias} (= {line.name})"


def test_an_alias_calibrates_and_the_result_has_the_name() -> None:
    framework, query = framework_of(activity(6)), tf.Count("walking")
    requested, named = (
        tf.calibrate(framework, query, 1, mechanism=name) for name in ("Kantorovich-Laplace", "kantorovich")
    )
    assert requested.mechanism == named.mechanism == "wasserstein"
    assert requested.scale == named.scale
    with pytest.raises(CalibrationRefused, match=r"^ALap \(= asymmetric-laplace\)"):
        tf.calibrate(framework, query, 1, mechanism="ALap")
    with pytest.raises(InputError, match=r"MQMExact \(= quilt-exact\) makes a pure promise"):
        tf.calibrate(framework, query, 1, 0.1, mechanism="MQMExact")


@pytest.mark.parametrize("alias", ["ALap", "alap", "group-dp", "Algorithm 1 of Song"])
def test_an_alias_of_two_mechanisms_is_an_error(alias: str) -> None:
    with restored():
        with pytest.raises(InputError, match="would be an alias of two mechanisms"):
            register(replace(GROUP, name="mine"), aliases=(alias,))
        with pytest.raises(InputError, match="would be an alias of two mechanisms"):
            register(replace(GROUP, name="alap"))
        assert "mine" not in [line.name for line in REGISTRY]
        register(replace(GROUP, name="mine"), aliases=("my own",))
        assert find("My Own").name == "mine"
