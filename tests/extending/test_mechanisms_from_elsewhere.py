"""Nobody's promise but ours is believed: additive noise is bounded, all else is marked, and "auto" takes neither."""

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.support import outside_mechanisms as outside
from tests.support.outside_mechanisms import Case, Foreign

import takifugu as tf
from takifugu import extending
from takifugu.accounting.composition import charge_of, joint
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.randomisers import DiscreteLaplace, Kind
from takifugu.calibration.alternatives import UNPROVED
from takifugu.core.errors import CalibrationRefused, CompositionRefused

TOO_LITTLE, ENOUGH = outside.cases(is_enough=False), outside.cases(is_enough=True)
MARK = "promise of the package 'tests'"


def chain(length: int = 8) -> Any:
    return tf.Pufferfish(tf.every_entry(), tf.MarkovChain(outside.MATRIX, length))


def calibrated(case: Case) -> Any:
    extending.register_mechanism(case.mechanism, takes_delta=case.mechanism.has_delta)
    return tf.calibrate(
        chain(case.length), tf.Count(1), case.epsilon, case.delta, case.mechanism.name, allow_zero_noise=True
    )


@pytest.mark.sampled(6)
@pytest.mark.parametrize("case", TOO_LITTLE, ids=lambda case: case.mechanism.name)
def test_too_little_noise_is_refused_with_both_numbers(case: Case) -> None:
    with pytest.raises(CalibrationRefused) as refused:
        calibrated(case)
    words = str(refused.value)
    assert MARK in words
    claimed = re.search(r"it claims epsilon ([0-9.e-]+)", words)
    assert claimed is not None
    assert float(claimed[1]) == float(case.claimed)
    computed = re.search(r"loses epsilon ([0-9.e-]+|inf)|is proved for that is ([0-9.e-]+)", words)
    assert computed is not None
    if case.delta:
        assert float(computed[2]) > float(case.scale)
        assert outside.normal_delta(case.length, float(case.scale), float(case.epsilon)) > case.delta
        return
    true = outside.pure_loss(case.length, float(case.scale))
    assert float(case.claimed) < true <= float(computed[1]) * (1 + 1e-6)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", ENOUGH, ids=lambda case: case.mechanism.name)
def test_enough_noise_runs_and_is_marked(case: Case, tmp_path: Path) -> None:
    calibration = calibrated(case)
    assert calibration.epsilon == case.claimed
    assert [words for words in calibration.guarantee.conditions if words.startswith(MARK)]
    assert MARK in " ".join(str(calibration).split())
    data = ([0, 1] * case.length)[: case.length]
    release = tf.release(calibration, data, entries="values", ledger=tmp_path / "l.db", source="s", budget=(4, "0.001"))
    assert MARK.capitalize() in " ".join(str(release.certificate).split())
    if case.delta:
        assert outside.normal_delta(case.length, float(case.scale), float(case.epsilon)) <= case.delta
    else:
        assert outside.pure_loss(case.length, float(case.scale)) <= case.claimed


def test_the_case_that_was_certified() -> None:
    """1/epsilon noise was chosen by "auto" and certified at epsilon 1; with_scale gives 3.10 for it."""
    entry = Foreign(outside.discrete(Fraction(1)), outside.as_requested, Covers.ENTRIES, "theirs")
    extending.register_mechanism(entry)
    for only in (False, True):
        assert tf.calibrate(chain(), tf.Count(1), 1, single_release=only).mechanism != "theirs"
    rows = {row.name: row for row in tf.compare(chain(), tf.Count(1), 1)}
    assert rows["theirs"].status == UNPROVED
    computed = float(tf.with_scale(chain(), tf.Count(1), 1).epsilon)
    assert f"it claims epsilon 1 for noise of scale 1, which loses epsilon {computed:.7g}" in rows["theirs"].reason


def test_auto_takes_no_honest_one_either_and_never_calls_it() -> None:
    class Called(Exception):
        pass

    def ask(problem: Any) -> Any:
        raise Called

    extending.register_mechanism(Foreign(ask, outside.as_requested, Covers.ENTRIES, "theirs"))
    calibration = tf.calibrate(chain(), tf.Count(1), 1)
    assert "theirs" not in [calibration.mechanism, *(row.name for row in calibration.alternatives)]
    tf.calibrate(chain(), tf.Count(1), 1, single_release=True)
    with pytest.raises(Called):
        tf.calibrate(chain(), tf.Count(1), 1, mechanism="theirs")


def test_a_promise_about_one_output_rests_on_the_laws_of_the_answer() -> None:
    """What the least noise of all needs is enough for a claim about one output, and for nothing that composes."""
    exact = tf.calibrate(restless(), tf.Count(1), 1, mechanism="laplace-exact", allow_zero_noise=True)
    least = Fraction(exact.scale) + Fraction(1, 10**6)
    assert tf.with_scale(restless(), tf.Count(1), least).epsilon > 1
    for name, covers in (("alone", Covers.OUTPUT), ("composing", Covers.ENTRIES)):
        extending.register_mechanism(Foreign(outside.discrete(least), outside.as_requested, covers, name))
    alone = tf.calibrate(restless(), tf.Count(1), 1, mechanism="alone", allow_zero_noise=True)
    assert alone.guarantee.covers is Covers.OUTPUT
    with pytest.raises(CalibrationRefused, match=r"it claims epsilon 1 .* which loses epsilon 4\.2"):
        tf.calibrate(restless(), tf.Count(1), 1, mechanism="composing", allow_zero_noise=True)


def restless() -> Any:
    """Return a chain whose states alternate, where what composes needs more than one output alone."""
    return tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.3, 0.7], [0.9, 0.1]], 6))


def test_a_claim_covers_what_is_proved_and_not_what_is_claimed() -> None:
    noise = outside.discrete(Fraction(tf.calibrate(chain(), tf.Count(1), 1).randomiser.scale) + Fraction(1, 100))
    extending.register_mechanism(Foreign(noise, outside.as_requested, Covers.EVERYTHING, "theirs"))
    assert tf.calibrate(chain(), tf.Count(1), 1, mechanism="theirs").guarantee.covers is Covers.ENTRIES


@dataclass(frozen=True)
class Lying(DiscreteLaplace, kind="lying"):
    """Laplace noise by what it says, and none by what it draws."""

    def _steps(self, answers: Any, entropy: Any) -> Any:
        return answers


def lying() -> Foreign:
    """Register a randomiser that draws less than it states, and a mechanism that uses it."""
    extending.register_randomiser("lying", Kind(Lying.from_dict, "noise", "noise"))
    mechanism = Foreign(lambda p: Lying(Fraction(8), p.grid, p.cells), outside.as_requested, Covers.ENTRIES, "liar")
    extending.register_mechanism(mechanism)
    return mechanism


def test_a_randomiser_from_elsewhere_is_its_authors_word_and_bounds_nothing_beside_others() -> None:
    lying()
    calibration = tf.calibrate(chain(), tf.Count(1), 1, mechanism="liar")
    conditions = " ".join(calibration.guarantee.conditions)
    assert "by its mechanism 'liar': nothing here bounds what such noise loses" in conditions
    assert "by its randomiser 'Lying': what it draws, and what that loses, is its author's word" in conditions
    assert calibration.guarantee.covers is Covers.OUTPUT
    charge = charge_of(calibration)
    assert charge.scale is None
    assert joint(calibration.framework, [charge]).epsilon == 1
    for other in (charge, charge_of(tf.calibrate(chain(), tf.Count(1), 1))):
        with pytest.raises(CompositionRefused, match="without Laplace noise"):
            joint(calibration.framework, [charge, other])


def test_noise_on_another_grid_is_refused() -> None:
    noise = DiscreteLaplace(Fraction(99), Fraction(2), 1)
    wrong = Foreign(lambda problem: noise, outside.as_requested, Covers.ENTRIES, "w")
    extending.register_mechanism(wrong)
    with pytest.raises(tf.errors.InputError, match="another grid than the answer's"):
        tf.calibrate(chain(), tf.Count(1), 1, mechanism="w")


@pytest.mark.parametrize("claimed", [Fraction(-1, 2), Fraction(-1), Fraction(-9)])
def test_a_promise_below_nothing_is_refused(claimed: Fraction) -> None:
    wrong = Foreign(outside.discrete(Fraction(99)), lambda epsilon: claimed, Covers.ENTRIES, "w")
    extending.register_mechanism(wrong)
    with pytest.raises(tf.errors.InputError, match="a promise of epsilon -"):
        tf.calibrate(chain(), tf.Count(1), 1, mechanism="w")


def test_a_choice_is_bounded_like_noise() -> None:
    """A choice by noise of scale b loses what Laplace noise of that scale does."""
    mode, ours = tf.Mode(), tf.calibrate(chain(), tf.Mode(), 1, mechanism="group-dp").randomiser

    def of(factor: Fraction) -> Any:
        return lambda problem: replace(ours, units=ours.units * factor)  # type: ignore[type-var]

    extending.register_mechanism(Foreign(of(Fraction(1)), outside.as_requested, Covers.ENTRIES, "enough"))
    extending.register_mechanism(Foreign(of(Fraction(1, 9)), outside.as_requested, Covers.ENTRIES, "little"))
    assert tf.calibrate(chain(), mode, 1, mechanism="enough").epsilon == 1
    with pytest.raises(CalibrationRefused, match=r"it claims epsilon 1 .* loses epsilon"):
        tf.calibrate(chain(), mode, 1, mechanism="little")


def test_normal_noise_never_keeps_a_pure_promise() -> None:
    extending.register_mechanism(Foreign(outside.normal(Fraction(999)), outside.as_requested, Covers.ENTRIES, "pure"))
    with pytest.raises(CalibrationRefused, match=r"it claims epsilon 1 .* loses epsilon inf without a delta"):
        tf.calibrate(chain(), tf.Count(1), 1, mechanism="pure")
