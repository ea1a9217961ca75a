"""Definitions: one written outside works everywhere, and each turns every kind of charge into its own cost."""

import json
import math
import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tests.support import one_way
from tests.support.registries import restored

import takifugu as tf
from kawamoto.channels import randomised_response
from takifugu.accounting import definitions
from takifugu.accounting.composition import charge_of
from takifugu.accounting.composition.losses import any_change, as_whole, noise_loss
from takifugu.accounting.ledger import Debit, Ledger
from takifugu.analysis import randomisers
from takifugu.analysis.guarantee import Charge, Covers
from takifugu.analysis.randomisers import Direction, DiscreteLaplace, Exact, RoundedLaplace, RoundedNormal
from takifugu.analysis.randomisers.one_sided import OneSidedGeometric, OneSidedTruncated
from takifugu.analysis.randomisers.one_sided_real import OneSidedExponential
from takifugu.analysis.randomisers.outside import Outside
from takifugu.analysis.randomisers.selection import PermuteAndFlip
from takifugu.calibration import Calibration
from takifugu.calibration.registry import REGISTRY
from takifugu.core.errors import (
    BudgetExceeded,
    CalibrationRefused,
    CompositionRefused,
    InputError,
    Unsupported,
)
from takifugu.core.text.bars import bars
from takifugu.mechanisms.local.senders import Sender
from takifugu.mechanisms.local.sent import Sending
from takifugu.mechanisms.one_sided.safe_cells import SafeCells
from takifugu.model import frameworks
from takifugu.model.beliefs.domain import Domain
from takifugu.model.frameworks import DEFINITIONS, Framework
from takifugu.model.queries.choices.candidates import MostFrequent
from takifugu.numbers import Pmf
from takifugu.numbers.noise import InsecureSeededEntropyForTests
from takifugu.releasing.postprocess.release import releases_of
from takifugu.releasing.report.outcomes import rows_of_answers

F = Fraction
ILL = tf.Count("ill")
CHAIN = tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=4))


@pytest.fixture(autouse=True)
def outside() -> Iterator[None]:
    with restored():
        one_way.registered()
        yield


def calibrated(epsilon: Any = 1) -> Calibration:
    return tf.calibrate(one_way.framework(), ILL, epsilon, mechanism="test-cautious")


def test_its_comparisons_go_one_way_and_are_about_no_belief() -> None:
    comparisons = list(one_way.framework(2).comparisons())
    assert [one.label for one in comparisons] == [f"row {row} = 'ill' against row {row} = 'well'" for row in (0, 1)]
    assert all(one.one_way and one.belief is None for one in comparisons)


def test_only_mechanisms_that_are_proved_for_it_apply() -> None:
    made = calibrated()
    assert made.mechanism == "test-cautious"
    rows = {row.name: row for row in tf.compare(one_way.framework(), ILL, 1)}
    read_as = {"pufferfish", made.framework.definition}
    listed = {line.name for line in REGISTRY if read_as & {*line.definitions} and not line.of_columns}
    assert rows.keys() == listed
    assert "attribute-quilt" not in listed  # it belongs to another definition
    assert rows["group-dp"].reason == "it is proved for pufferfish and attribute, not for test-one-way"
    with pytest.raises(CalibrationRefused, match="proved for pufferfish"):
        tf.calibrate(one_way.framework(), ILL, 1, mechanism="group-dp")
    with pytest.raises(CalibrationRefused, match="proved for test-one-way"):
        tf.calibrate(CHAIN, tf.Count(1), 1, mechanism="test-cautious")


def test_the_audit_finds_the_loss_one_way_and_no_other() -> None:
    made = calibrated("1/2")
    loss = tf.exact_loss(made)
    assert 0.499 < loss.loss <= 0.5
    assert (loss.output, loss.comparison) == ((one_way.UNKNOWN,), "row 0 = 'ill' against row 0 = 'well'")
    less = replace(made.randomiser, parts=made.randomiser.parts * 11 // 10)  # type: ignore[type-var]
    assert tf.exact_loss(made.framework, ILL, less).loss > 0.5
    assert tf.exact_loss(turned(made.framework), ILL, made.randomiser).loss == math.inf


def turned(framework: frameworks.Framework) -> frameworks.Framework:
    return replace(framework, secrets=(one_way.HasValue("well", "ill"),))


@pytest.mark.mutants
def test_it_is_released_accounted_for_and_certified(tmp_path: Path) -> None:
    made = calibrated()
    ledger = Ledger.open(tmp_path / "ledger.db")
    seen = set()
    for number, data in enumerate([["well", "ill", "well"], ["well"] * 3] * 10):
        entropy = InsecureSeededEntropyForTests(number)
        out = tf.release(made, data, entries="values", ledger=ledger, source="people", budget=20, entropy=entropy)
        seen.add((data.count("ill"), out.value))
        assert not (data.count("ill") and out.value == one_way.WELL), "it is never wrong"
        assert out.rows() == [{"cell": "count", "value": out.value, "low": None, "high": None}]
        with pytest.raises(Unsupported):
            out.interval()
    assert seen == {(1, one_way.UNKNOWN), (0, one_way.UNKNOWN), (0, one_way.WELL)}
    assert ledger.spent("people").epsilon == 20
    with pytest.raises(BudgetExceeded):
        tf.release(made, ["well"] * 3, entries="values", ledger=ledger, source="people")
    text = out.certificate.text()
    assert "never wrong" in " ".join(text.split())
    assert "believe the model" not in " ".join(text.split())
    (back,) = releases_of(type(out.certificate)(**out.certificate.__dict__)).values()
    assert back.values == out.values
    assert str(out)
    assert out.value in out._repr_html_()
    assert out.value in tf.report_html(out)
    assert bars(out.rows()) == [f"count  {out.value}"]
    with pytest.raises(InputError, match="no number"):
        out.adjusted()
    assert rows_of_answers([(None, out)], "all", [None], [], "")[0]["value"] == out.value


def test_what_lacks_a_part_of_a_definition_is_not_registered() -> None:
    class Half(definitions.Definition):
        name = "half"

        def promise(self, epsilon: Any, delta: Any) -> str:
            return "half of it"

    for definition, words in ((Half(), "Half lacks joint"), ("half", "a str is no definition"),
                              (one_way.OneWay(), "registered already")):  # fmt: skip
        with pytest.raises(InputError, match=words):
            definitions.register(definition)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="did you mean 'pufferfish'"):
        definitions.find("puferfish")


@pytest.mark.parametrize("wrong", [
    lambda: Domain(()), lambda: Domain(((),)), lambda: Domain.of(2, ["a", "a"]),
    lambda: Domain((("a",),) * 2, ("x", "x")), lambda: Domain((("a",),), ("x",)).position("y"),
    lambda: frameworks.Framework((), ()).domain,
])  # fmt: skip
def test_bad_domains(wrong: Any) -> None:
    with pytest.raises(InputError):
        wrong()


# Every definition and every kind of charge.


def charge(noise: Any, definition: str, covers: Covers = Covers.EVERYTHING, change: int = 4) -> Charge:
    about = CHAIN if definition == "pufferfish" else one_way.framework()
    return Charge(
        about.fingerprint(), definition, covers, F(1, 2), F(0), {"kind": "count"}, noise.to_dict(),
        noise.laplace_scale, F(change), F(1), 4, (),
    )  # fmt: skip


CHANNEL = tf.calibrate(tf.distribution_pair(Pmf([0, 1], [0.9, 0.1]), Pmf([0, 1], [0.1, 0.9])), tf.Identity(), 1,
                       mechanism="optimal").randomiser  # fmt: skip
CHOICE = PermuteAndFlip(F(7, 3), ("a", "b", "c"), MostFrequent(2))
SENT = Sending(3, 0.5, 1.0, "", Sender(randomised_response(["a", "b"], 1)))
NOISES = {
    "discrete-laplace": (DiscreteLaplace(F(8), F(1)), F(1, 2)),
    "rounded-laplace": (RoundedLaplace(F(2), F(1)), F(2)),
    "rounded-normal": (RoundedNormal(F(2), F(1)), math.inf),
    "none": (Exact(F(1)), math.inf),
    "channel": (CHANNEL, CHANNEL.loss(F(1))),
    "one-sided-geometric": (OneSidedGeometric(F(2), F(1)), math.inf),
    "one-sided-truncated": (OneSidedTruncated(F(2), F(1), 1, (Direction.DOWN,), 9), math.inf),
    "one-sided-exponential": (OneSidedExponential(F(2), F(1)), math.inf),
    "sent-value": (SENT, 3 * F(SENT.local_loss())),
    "sent-tuple": (Sending(3, 0.5, 1.0, "", Sender(SENT.sender.channel, 2)), 3 * F(SENT.local_loss())),
    "sparse": (SafeCells(F(2), F(1), 1, (3,), 2, F(1)), math.inf),
    "permute-and-flip": (CHOICE, 4 / CHOICE.laplace_scale),
    "outside": (Outside(F(1, 2), F(0), "another library"), F(2)),
    "test-never-wrong": (one_way.NeverWrong(2**39, F(1, 2)), math.inf),
}


NAMES = ("pufferfish", "attribute", "asymmetric", "distribution", "extended-distribution", one_way.NAME)
CROSSED = list(product(NAMES, NAMES, NOISES, Covers))
#: What the fast tests take: every definition with every kind of noise, and others at random.
SAMPLED = {(name, NAMES[number % len(NAMES)], kind, [*Covers][(number + place) % 4])
           for place, name in enumerate(NAMES) for number, kind in enumerate(NOISES)}  # fmt: skip
SAMPLED |= {*random.Random(22).sample(CROSSED, 75)}


@pytest.mark.parametrize(("name", "other", "kind", "covers"), [
    pytest.param(*crossed, marks=() if crossed in SAMPLED else [pytest.mark.slow, pytest.mark.mutants])
    for crossed in CROSSED
])  # fmt: skip
def test_every_definition_turns_every_charge_into_its_own_cost_or_refuses(
    name: str, other: str, kind: str, covers: Covers
) -> None:
    noise, cost = NOISES[kind]
    stored = Charge.from_dict(json.loads(json.dumps(charge(noise, other, covers).to_dict())))
    assert noise_loss(stored, stored.change) == cost
    if math.isinf(cost):  # two-sided: one-sided noise, normal noise and no noise lose infinitely much
        with pytest.raises(CompositionRefused, match="no cost for a change of the whole data"):
            as_whole(stored, name, stored.change)
    else:
        mine = as_whole(stored, name, stored.change)
        assert (mine.definition, mine.covers, mine.epsilon, mine.scale) == (name, Covers.EVERYTHING, cost, None)
    # Nothing that no output depends on costs anything, whatever the noise: D_k(N)/0 is 0 where D_k(N) = 0.
    still = as_whole(replace(stored, change=F(0)), name, F(0))
    assert noise_loss(still, still.change) == 0


def test_every_registered_definition_and_kind_is_crossed() -> None:
    assert set(DEFINITIONS.names) == set(NAMES)
    of_other_tests = {"exponential-choice", "test-flip"}
    assert set(randomisers.KINDS.names) - of_other_tests == set(NOISES)


def test_a_one_way_promise_is_none_about_other_data_of_the_same_people(tmp_path: Path) -> None:
    """How data of another source change when these do is not known, so a promise in one direction bounds nothing."""
    ledger, debit = Ledger.open(tmp_path / "ledger.db"), Debit(one_way.framework(), charge_of(calibrated()), ["ana"])
    ledger.reserve("visits", [debit], budget=9, entries="these")
    with pytest.raises(CompositionRefused, match="no cost for a change of all its data"):
        ledger.reserve("tests", [debit], budget=9, entries="these", same_people=True)
    assert ledger.reserve("visits", [debit], entries="these").spent.epsilon == 2
    assert any_change(debit.charge) is None


def test_a_domain_beside_beliefs_is_about_the_same_data() -> None:
    chain = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=3, states=["well", "ill"])
    for wrong in (Domain.of(9, ["well", "ill"]), Domain.of(3, ["well", "ill", "dead"])):
        with pytest.raises(InputError, match=r"the beliefs (have 9 and 3 entries|differ in the values)"):
            Framework((tf.every_entry(),), (chain,), given_domain=wrong)
    turned = Framework((tf.every_entry(),), (chain,), given_domain=Domain.of(3, ["ill", "well"]))
    made = tf.calibrate(turned, tf.Histogram(), 1000, mechanism="group-dp")  # data are read as the noise was calibrated
    assert tf.release(made, ["ill"] * 3).value == {"well": 0, "ill": 3}


def test_a_framework_without_a_belief_has_no_mechanism_of_pufferfish() -> None:
    bare = Framework((tf.every_entry(),), (), given_domain=Domain.of(3, ["well", "ill"]))
    with pytest.raises(CalibrationRefused, match="the framework has no belief"):
        tf.calibrate(bare, ILL, 1)
    with pytest.raises(Unsupported, match="the framework has no belief"):
        tf.with_scale(bare, ILL, 1)
