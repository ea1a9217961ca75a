"""The definition: frameworks of policies, what releases promise together, what they cost each other, what is said."""

import json
import math
from dataclasses import replace
from fractions import Fraction as F
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from tests.model.queries.test_answer import all_data, answers, by_hand

import takifugu as tf
from takifugu.accounting import definitions
from takifugu.accounting.composition import charge_of, compose, joint
from takifugu.accounting.definitions.asymmetric import loss_along
from takifugu.accounting.ledger import Ledger
from takifugu.analysis.bounds import Bound
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import Direction
from takifugu.audit.exact import joint_loss
from takifugu.calibration.registry import REGISTRY
from takifugu.core.assumptions import world
from takifugu.core.errors import BudgetExceeded, CalibrationRefused, CompositionRefused, InputError, Unsupported
from takifugu.mechanisms.one_sided import Asymmetric, Policy, Visits, any_of, checked, none_of, visits
from takifugu.mechanisms.one_sided.asymmetric_moves import composition_of, moves_of, public_end
from takifugu.mechanisms.one_sided.tails import geometric_law
from takifugu.model.beliefs.domain import Domain
from takifugu.model.frameworks import Framework
from takifugu.model.policies.boxes import Boxes
from takifugu.model.policies.sensitivity import sensitivity
from takifugu.model.queries import Additive, Query
from takifugu.numbers.noise import InsecureSeededEntropyForTests

PLACES = Visits.of(["bar", "shop"], most=2)
PEOPLE = Domain.of(3, ["well", "ill"])
#: Two bits of one person.
BITS = Visits.of(["A", "B"])


def made(policy: Policy, query: Query, epsilon: Any = 1, domain: Any = PLACES, mechanism: str = "auto") -> Any:
    return tf.calibrate(Asymmetric(policy, domain), query, epsilon, mechanism=mechanism)


def test_comparisons_are_the_allowed_moves() -> None:
    labels = [one.label for one in Asymmetric(visits(), PLACES).comparisons()]
    assert len(labels) == 5  # of the 12 ordered pairs of different sets, V' a part of V
    assert "a person's places = 'bar' against a person's places = nowhere" in labels
    assert all("nowhere against" not in one for one in labels)
    hidden = list(Asymmetric(Policy.of(none_of("ill")), PEOPLE).comparisons())
    assert {one.label for one in hidden} == {f"row {i} = 'ill' against row {i} = 'well'" for i in range(3)}
    assert all(one.one_way and one.belief is None for one in hidden)


def test_it_reads_back_and_equal_frameworks_have_one_fingerprint() -> None:
    framework = Asymmetric(visits(["bar"]), PLACES)
    again = tf.Framework.from_dict(json.loads(json.dumps(framework.to_dict())))
    assert again.to_dict() == framework.to_dict()
    assert again.fingerprint() == framework.fingerprint()
    assert again.domain == PLACES
    (assumption,) = framework.assumptions()
    assert assumption == world("No person was at more than 2 of the places. This is a fact: no visit was cut.")


@pytest.mark.parametrize(("wrong", "words"), [
    (lambda: Asymmetric(Policy.of(none_of("ill"), any_of("ill")), PEOPLE),
     "the policy protects nothing: no record may move to another one"),
    (lambda: Asymmetric(Policy.of(any_of("bar"), any_of("shop"), none_of("bar"), none_of("shop")), PLACES), None),
    (lambda: Asymmetric(visits(["pub"]), PLACES), None), (lambda: Asymmetric(visits(), "places"), None),  # type: ignore[arg-type]
    (lambda: Asymmetric(tf.every_entry(), PLACES), None),  # type: ignore[arg-type]
    (lambda: Asymmetric(Policy.of(checked("test-raises", 1, lambda record: 1 / 0)), PEOPLE), None),
    (lambda: tf.Pufferfish(visits(), tf.MarkovChain([[0.5, 0.5]] * 2, 3)), None),
])  # fmt: skip
def test_bad_frameworks(wrong: Any, words: str | None) -> None:
    with pytest.raises(InputError, match=words):
        wrong()


def test_a_policy_that_protects_everything_is_called_ordinary_and_gets_noise_on_both_sides() -> None:
    calibration = made(Policy(), tf.Count("ill"), domain=PEOPLE)
    assert {str(move) for move in calibration.randomiser.moves} == {"either"}
    assert "ordinary differential privacy" in str(calibration)
    assert tf.exact_loss(calibration).loss == pytest.approx(1)


def test_thresholds_are_asked_under_a_policy_only() -> None:
    chain = tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.5, 0.5]] * 2, 3))
    with pytest.raises(InputError, match="noise on both sides"):
        tf.calibrate(chain, tf.AtMost(tf.Count(1), 2), 1)


def bit(place: str, policy: Policy) -> Any:
    return made(policy, tf.Visitors([place]), 1, BITS)


def test_intersected_policies_compose_to_exactly_two_epsilon() -> None:
    """E6: two one-bit releases, each exactly 1; under both predicates together exactly 2."""
    one, two = bit("A", visits(["A"])), bit("B", visits(["B"]))
    assert [tf.exact_loss(c).loss for c in (one, two)] == pytest.approx([1, 1])
    both = compose([one, two])
    assert (both.epsilon, both.delta, both.covers) == (2, 0, Covers.COMPONENT)
    met = Asymmetric(visits(["A"]).intersected(visits(["B"])), BITS)
    assert both.framework == met.fingerprint()
    assert any("'A'" in c and "'B'" in c for c in both.conditions)
    releases = [(c.query, c.randomiser) for c in (one, two)]
    assert joint_loss(met, releases).loss == pytest.approx(2)


@pytest.mark.parametrize("joined", [
    checked("test-or", 1, lambda record: "A" not in record or "B" not in record),
    checked("test-and", 1, lambda record: "A" not in record and "B" not in record),
])  # fmt: skip
def test_or_and_and_of_predicates_lose_infinitely_much(joined: Any) -> None:
    """E6: (0, 1) -> (1, 0) is allowed by both formulas, and count 1 rises; at most one place each, too."""
    one, two = bit("A", visits(["A"])), bit("B", visits(["B"]))
    releases = [(c.query, c.randomiser) for c in (one, two)]
    for domain in (BITS, Visits.of(["A", "B"], most=1)):
        formula = Asymmetric(Policy.of(joined), domain)
        assert joint_loss(formula, releases).loss == math.inf
        with pytest.raises(CompositionRefused, match="its answer goes to the other side"):
            joint(formula, [charge_of(one), charge_of(two)])


def test_a_release_under_another_policy_is_charged_by_what_it_loses_here() -> None:
    """Under more predicates, fewer moves: never above the release's own epsilon, and less where fewer places move."""
    all_places, bar = Asymmetric(visits(), PLACES), Asymmetric(visits(["bar"]), PLACES)
    both = made(visits(), tf.Visitors(), 1)
    assert joint(all_places, [charge_of(both)]).epsilon == 1
    one = made(visits(["bar"]), tf.Visitors(["bar"]), F(1, 2))
    assert joint(all_places, [charge_of(one), charge_of(both)]).epsilon == F(3, 2)
    with pytest.raises(CompositionRefused, match="give both frameworks the predicates of both policies"):
        joint(bar, [charge_of(both)])  # "shop" may rise there
    either = made(visits(["bar"]), tf.Visitors(), 1)
    # bar falls by 1, shop moves either way by 1: D = 2; under all predicates the same noise loses no more
    assert joint(all_places, [charge_of(either)]).epsilon == 1


def test_many_releases_add_up_also_in_a_ledger(tmp_path: Path) -> None:
    ledger, calibration = Ledger.open(tmp_path / "ledger.db"), made(visits(), tf.Visitors(), F(1, 2))
    data = {"Zoe": ["bar"], "Ben": ["bar", "shop"], "Cy": []}
    for number in range(4):
        entropy = InsecureSeededEntropyForTests(number)
        published = tf.release(calibration, data,
            entries="v", ledger=ledger, source="people", budget=2, entropy=entropy)  # fmt: skip
        assert published.value["bar"] >= 2
        assert published.value["shop"] >= 1
        low, high = published.interval()["bar"]
        assert (low <= 2 <= high, high) == (True, published.value["bar"])
        assert published.rows()[0]["high"] == published.value["bar"]
    assert ledger.spent("people").epsilon == 2
    with pytest.raises(BudgetExceeded):
        tf.release(calibration, data, entries="v", ledger=ledger, source="people")


def test_another_definition_is_charged_by_what_its_noise_loses() -> None:
    chain = tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 4))
    laplace = charge_of(tf.calibrate(chain, tf.Count(1), 1, mechanism="group-dp"))
    mine = charge_of(made(visits(), tf.Visitors()))
    assert joint(Asymmetric(visits(), PLACES), [mine, laplace]).epsilon == 2
    with pytest.raises(CompositionRefused, match="no cost for a change of the whole data"):
        joint(chain, [laplace, mine])  # nothing bounds how many people there are, and its noise is on one side


def test_a_policy_that_is_a_function_composes_with_nothing() -> None:
    odd = Policy.of(checked("test-not-ill", 1, lambda record: record != "ill"))
    one = made(odd, tf.Count("ill"), domain=PEOPLE)
    assert one.guarantee.covers is Covers.OUTPUT
    assert compose([one]).epsilon == 1
    assert "the only release about its source" in tf.release(one, ["ill", "well", "well"]).certificate.text()
    with pytest.raises(CompositionRefused, match="a function as predicate composes with no other"):
        compose([one, one])
    other = made(Policy.of(none_of("ill")), tf.Count("ill"), domain=PEOPLE)
    with pytest.raises(CompositionRefused, match="a function as predicate composes with no other"):
        joint(one.framework, [charge_of(one), charge_of(other)])
    assert definitions.find("asymmetric").met([one.framework, Asymmetric(visits(), PLACES)]) is None


def test_what_counts_other_places_is_refused() -> None:
    there = charge_of(made(visits(), tf.Visitors(), domain=Visits.of(["pub", "shop"], most=2)))
    with pytest.raises(CompositionRefused, match="counts what this framework's domain does not have"):
        joint(Asymmetric(visits(), PLACES), [there])


def test_boxes_of_two_grids_are_other_places_however_they_are_named() -> None:
    """A box of the one grid that is hidden may be none of the other: r0c1 is [1, 2) here and [3, 4) there."""
    here, there = (Visits.of_boxes(Boxes.of((low, low + 2), (0, 1), columns=2, rows=1), 2) for low in (0, 2))
    assert here.places == there.places
    hidden = visits(["r0c1"])
    charges = [charge_of(made(hidden, tf.Visitors(), domain=domain)) for domain in (here, there)]
    assert charges[0].answers != charges[1].answers
    assert joint(Asymmetric(hidden, here), [charges[0]] * 2).epsilon == 2
    with pytest.raises(CompositionRefused, match="counts what this framework's domain does not have"):
        joint(Asymmetric(hidden, here), charges)


def test_a_domain_with_a_larger_bound_charges_more() -> None:
    three = ["bar", "shop", "gym"]
    few, many = Visits.of(three, most=1), Visits.of(three, most=3)
    charge = charge_of(made(visits(), tf.Visitors(), 1, few))
    assert joint(Asymmetric(visits(), few), [charge]).epsilon == 1
    assert joint(Asymmetric(visits(), many), [charge]).epsilon == 3


def test_a_bound_of_each_step_is_none_of_all_steps_together() -> None:
    """Somebody at a bar in one hour and in a shop in the next one was at two places: both facts say so."""
    three = ["bar", "shop", "gym"]
    of_step, of_all = replace(Visits.of(three, most=1), steps=1), Visits.of(three, most=2)
    hour, whole = (made(visits(), tf.Visitors(), 1, domain) for domain in (of_step, of_all))
    charges = [charge_of(hour, at=0), charge_of(whole)]
    before, after = ({"bar"}, {"shop"}), (set[str](), set[str]())
    fallen = len(before[0]) - len(after[0]), len(set.union(*before)) - len(set.union(*after))
    truth = sum(count / made_of.scale for count, made_of in zip(fallen, (hour, whole), strict=True))
    assert truth == 2
    for framework in (hour.framework, whole.framework):
        assert joint(framework, charges).epsilon >= truth


@pytest.mark.parametrize(("policy", "query", "lost"), [
    (visits(), tf.Visitors(), 1), (visits(["bar"]), tf.Visitors(), math.inf),
    (Policy.of(any_of("bar"), any_of("shop")), tf.Visitors(), math.inf), (visits(), tf.Visitors(["bar"]), F(1, 2)),
])  # fmt: skip
def test_what_noise_loses_along_the_moves_of_another_policy(policy: Policy, query: Query, lost: Any) -> None:
    noise = made(visits(), query).randomiser if lost == F(1, 2) else made(visits(), tf.Visitors()).randomiser
    if lost == F(1, 2):
        noise = type(noise)(F(2), F(1))  # the noise of both places for one of them
    assert loss_along(noise, sensitivity(policy, PLACES, query)) == lost
    audited = tf.exact_loss(Asymmetric(policy, PLACES), query, noise).loss
    assert audited == pytest.approx(float(lost)) if lost != math.inf else audited == math.inf


def test_the_certificate_says_what_is_hidden_from_whom_and_who_is_not_protected() -> None:
    release = tf.release(made(visits(), tf.Visitors()), [["bar"], ["bar", "shop"]])
    certificate = release.certificate
    text = " ".join(certificate.text().split())
    for words in (
        "It protects that a person was at the places where they were (not that they were at no other)",
        "against every reader, whatever they believe",
        "Nothing is guaranteed the other way",
        "number is never below the true one",
        "No person was at more than 2 of the places. This is a fact: no visit was cut.",
        "people of whom it is not true are not protected",
        "A person known to have exactly one of several secrets, such as a visit to one of two places: the output may "
        "reveal which.",
        "stochastically dominate",
        "becomes at most 73.2 % sure (10 %: 23.2 %)",
        "Epsilons add with other releases about the same records under this policy",
    ):
        assert words in text, words
    assert "believes" not in text
    again = type(certificate)(**certificate.__dict__)
    assert again.text() == certificate.text()
    page = tf.report_html(release)
    assert "If the belief is inaccurate" not in page  # no word about beliefs that are off
    assert "is listed above" not in page
    assert "people of whom it is not true are not protected" in page


def test_noise_on_both_sides_is_not_called_noise_on_one() -> None:
    """Of "mild", to which "severe" may move and which may move to "well", a certificate spoke of one side."""
    policy = Policy.of(none_of("severe"), none_of("severe", "mild"))
    people = Asymmetric(policy, Domain.of(4, ["well", "mild", "severe"]))
    release = tf.release(tf.calibrate(people, tf.Count("mild"), epsilon=1), ["mild"] * 4)
    assert "on both of a value that may rise and fall" in " ".join(release.certificate.text().split())


def test_a_grid_that_rounds_what_a_record_adds_is_refused() -> None:
    """5.4 rounded to 5 before the noise would say "at most 5"."""
    codes = {"well": 0, "ill": "2.7"}
    with pytest.raises(CalibrationRefused, match=r"rounds what each record\s+adds"):
        made(Policy.of(none_of("ill")), tf.Sum(codes=codes, grid=1), domain=PEOPLE)
    finer = made(Policy.of(none_of("ill")), tf.Sum(codes=codes, grid="0.1"), domain=PEOPLE)
    assert finer.scale == pytest.approx(2.7)


def test_an_answer_that_no_allowed_move_changes_gets_no_noise_and_only_on_request() -> None:
    both = Domain.of(3, ["well", "ill", "gone"])
    policy = Policy.of(none_of("ill"), none_of("gone"), any_of("gone"))
    with pytest.raises(CalibrationRefused, match=r"no\s+allowed\s+move\s+changes\s+this\s+answer"):
        made(policy, tf.Count("gone"), domain=both)
    still = tf.calibrate(Asymmetric(policy, both), tf.Count("gone"), 1, allow_zero_noise=True)
    assert still.randomiser.kind == "none"
    assert tf.release(still, ["well", "gone", "gone"]).value == 2


@pytest.mark.parametrize("value", ["ill", "well"])
def test_noisy_counts_end_at_the_public_number_of_records(value: str) -> None:
    """AGeo: min(z, n) for what falls along allowed moves, max(z, 0) for what rises."""
    calibration = made(Policy.of(none_of("ill")), tf.Count(value), domain=PEOPLE, mechanism="asymmetric-geometric")
    assert calibration.randomiser.kind == "one-sided-truncated"
    way = Direction.DOWN if value == "ill" else Direction.UP
    for count in range(4):
        law = geometric_law(count, 3, 1, direction=way)
        for output in range(-1, 6):
            mass = math.exp(calibration.randomiser.log_density([F(count)], [F(output)]))
            assert mass == pytest.approx(float(dict(law.items()).get(output, 0)), abs=1e-12)
    assert tf.exact_loss(calibration).loss == pytest.approx(1)
    joined = made(Policy.of(none_of("ill")), tf.Histogram(), domain=PEOPLE, mechanism="asymmetric-geometric")
    assert joined.randomiser.to_dict()["most"] == 3
    assert tf.exact_loss(joined).loss <= 1 + 1e-12


@settings(max_examples=60)
@given(answers())
def test_a_public_end_is_where_every_cell_ends_that_begins_at_0(answer: Additive) -> None:
    lows, highs = (
        [end(by_hand(answer, data)[cell] for data in all_data(answer)) for cell in range(answer.cells)]
        for end in (min, max)
    )
    same = set(lows) == {0} and len({*highs}) == 1 and highs[0] > 0
    problem: Any = SimpleNamespace(answers=[answer])
    assert public_end(problem) == (highs[0] if same else None)


def test_every_policy_of_a_framework_is_read_and_nothing_else_is_left_out() -> None:
    policies = [Policy.of(none_of("ill")), Policy.of(any_of("ill", "well")), Policy.of(none_of("dead"))]
    domain = Domain.of(3, ["well", "ill", "dead"])
    framework = Framework(tuple(policies), (), "asymmetric", domain)
    together = policies[0].intersected(policies[1]).intersected(policies[2])
    assert moves_of(Problem(framework, tf.Histogram(), F(1))) == moves_of(
        Problem(Asymmetric(together, domain), tf.Histogram(), F(1))
    )
    for secrets, given_domain in (((policies[0], tf.every_entry()), domain), ((), domain), ((policies[0],), None)):
        problem: Any = SimpleNamespace(
            framework=SimpleNamespace(secrets=secrets, given_domain=given_domain, domain=domain),
            query=tf.Histogram(), grid=F(1),
        )  # fmt: skip
        with pytest.raises(Unsupported, match="no policy"):
            moves_of(problem)


def test_one_predicate_that_is_a_function_makes_a_policy_compose_alone() -> None:
    function, listed = checked("any record", 1, lambda record: True), none_of("ill")
    assert composition_of(Policy.of(listed)) is Covers.COMPONENT
    for rules in ((function,), (function, listed), (listed, function)):
        assert composition_of(Policy.of(*rules)) is Covers.OUTPUT


@pytest.mark.parametrize(("policy", "domain", "query"), [
    (Policy.of(none_of("ill")), Domain.of(3, ["ill", "well"]), tf.Count("ill")),
    (visits(), Visits.of(["bar", "gym"], most=1), tf.Visitors()),
    (visits(), Visits.of(["bar", "gym"], most=1), tf.AtMost(tf.Visitors(), 2)),
])  # fmt: skip
@pytest.mark.parametrize("delta", [F(0), F(1, 10**6)])
def test_a_mechanism_for_beliefs_that_is_called_directly_refuses_a_policy(
    policy: Policy, domain: Any, query: Query, delta: F
) -> None:
    problem, answering = Problem(Asymmetric(policy, domain), query, F(1), delta), set()
    for line in REGISTRY:
        try:
            if isinstance(line.load().bound(problem), Bound):
                answering.add(line.name)
        except Unsupported:
            continue
    assert answering
    assert all(name.startswith("asymmetric-") for name in answering)
