"""The audit of runs of steps: against listing, swept as listed, above no calibration, open where some are left out."""

from fractions import Fraction

import numpy as np
import pytest
from tests.support import influence_oracle as oracle
from tests.support.run_oracles import noise_loss

import takifugu as tf
from takifugu.analysis.randomisers import DiscreteLaplace
from takifugu.audit import chain_sweeps
from takifugu.audit.compared_pairs import paths
from takifugu.audit.exact import joint_loss

STAY = [[0.9, 0.1], [0.4, 0.6]]
CIRCLE = [[0.5, 0.5, 0.0], [0.0, 0.6, 0.4], [0.3, 0.0, 0.7]]


def noise(scale):
    return DiscreteLaplace(Fraction(scale), Fraction(1))


@pytest.mark.parametrize(("matrix", "length", "run"), [(STAY, 5, 2), (STAY, 4, 3), (CIRCLE, 4, 2), (STAY, 2, 5)])
def test_it_lists_what_the_oracle_lists(matrix, length, run):
    chain = tf.MarkovChain(matrix, length)
    framework = tf.Pufferfish(tf.every_run(run), chain)
    law = oracle.chain_law(chain.stationary, [np.array(matrix)] * (length - 1))
    places = np.indices(law.shape)
    sums = [(places == 1).sum(axis=0), (places[: length - 1] == 0).sum(axis=0)]
    audit = joint_loss(framework, [(tf.Count(1), noise(2)), (tf.Count(0, entries=range(length - 1)), noise("1.5"))])
    assert audit.loss == pytest.approx(noise_loss(law, sums, [2, 1.5], run), rel=1e-11)
    assert audit.left_open == ""


@pytest.mark.mutants
@pytest.mark.parametrize("start", ["stationary", "any", (0.2, 0.8)])
@pytest.mark.parametrize("run", [2, 3])
def test_a_swept_chain_loses_what_a_listed_one_does(monkeypatch, start, run):
    framework = tf.Pufferfish(tf.every_run(run), tf.MarkovChain(STAY, 5, start))
    listed = tf.exact_loss(framework, tf.Count(1), noise(3))
    listed_delta = tf.exact_delta(framework, 0.3, tf.Count(1), noise(3))
    monkeypatch.setattr(chain_sweeps, "LISTED", 1)
    swept = tf.exact_loss(framework, tf.Count(1), noise(3))
    assert swept.loss == pytest.approx(listed.loss, rel=1e-12)
    assert swept.comparison.startswith("steps ")
    assert tf.exact_delta(framework, 0.3, tf.Count(1), noise(3)).loss == pytest.approx(listed_delta.loss, rel=1e-9)


def test_pieces_of_a_recording_are_swept_by_themselves(monkeypatch):
    framework = tf.Pufferfish(tf.every_run(3), tf.IndependentPieces(tf.MarkovChain(CIRCLE, 4), [4, 2, 1]))
    listed = tf.exact_loss(framework, tf.Count(1), noise(3))
    monkeypatch.setattr(chain_sweeps, "LISTED", 1)
    assert tf.exact_loss(framework, tf.Count(1), noise(3)).loss == pytest.approx(listed.loss, rel=1e-12)


@pytest.mark.mutants
@pytest.mark.parametrize("matrix", [STAY, CIRCLE, [[0.2, 0.8], [0.7, 0.3]]])
@pytest.mark.parametrize("length", [5, 40])
def test_no_calibration_loses_more_than_it_promises(matrix, length):
    framework = tf.Pufferfish(tf.every_run(3), tf.MarkovChain(matrix, length))
    for mechanism in ("influence", "group-dp"):
        calibration = tf.calibrate(framework, tf.Count(1), 1, mechanism=mechanism)
        audit = tf.exact_loss(calibration)
        assert audit.lower <= 1
        if mechanism == "influence" and matrix is STAY:
            assert audit.loss == pytest.approx(1, abs=1e-9)  # two states that stay: no noise is too much
    normal = tf.calibrate(framework, tf.Count(1), 1, "1e-3", mechanism="influence-gaussian")
    assert tf.exact_delta(normal).lower <= 1e-3


def test_where_courses_are_left_out_the_audit_is_a_lower_bound():
    framework = tf.Pufferfish(tf.every_run(12), tf.MarkovChain(STAY, 60))
    audit = tf.exact_loss(tf.calibrate(framework, tf.Count(1), 1))
    assert audit.loss == pytest.approx(1, abs=1e-9)
    assert audit.upper == np.inf
    assert "runs of 12 steps have more paths than the audit compares" in audit.left_open
    assert paths(10, 4).tolist() == [[value] * 4 for value in range(10)]
    assert len(paths(100, 1)) == 100
