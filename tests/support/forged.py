"""Certificates of calibrations without any data, and such that somebody has rewritten, with a checksum that fits."""

import copy
import json
from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import Any

import takifugu as tf
from takifugu.calibration import Calibration
from takifugu.model.frameworks import Framework
from takifugu.model.queries import Query
from takifugu.releasing.certificates.facts import checksum_of
from takifugu.releasing.planning.questions import NoisyAnswer, Question
from takifugu.releasing.publishing.certifying import certificate_of

Certificate = dict[str, Any]


def certificate_from(calibration: Calibration) -> Certificate:
    """Return the certificate of an answer of zeros."""
    question = Question("made-up", None, calibration, None, {})
    drawn = NoisyAnswer(question, (Fraction(0),) * len(question.labels), True, None)
    return json.loads(certificate_of([drawn], "nobody", "pooled", []).to_json())


def rewritten(certificate: Certificate, change: Callable[[Certificate], object]) -> Certificate:
    """Return a certificate after a change, with a checksum that fits."""
    changed = copy.deepcopy(certificate)
    change(changed)
    return {**changed, "checksum": checksum_of(changed)}


def random_matrix(chance: Random, states: int) -> list[list[float]]:
    """Return the matrix of a chain whose states last, or alternate."""
    if states == 2 and chance.random() < 0.15:
        leave = [chance.uniform(0.3, 0.95), chance.uniform(0.3, 0.95)]
        return [[1 - leave[0], leave[0]], [leave[1], 1 - leave[1]]]
    rows = []
    for state in range(states):
        leave = 1 / (chance.choice([2, 3, 5, 8, 12, 20, 40, 60]) * chance.uniform(0.8, 1.2))
        shares = [0.0 if other == state else chance.uniform(0.05, 1) for other in range(states)]
        row = [leave * share / sum(shares) for share in shares]
        row[state] = 1 - sum(row)
        rows.append(row)
    return rows


def random_problem(chance: Random) -> tuple[Framework, Query, str]:
    """Return a chain of two to five states, what is published of it, and an epsilon."""
    states = chance.choice([2, 2, 2, 3, 3, 4, 5])
    length = chance.choice([2, 24, 60, 100, 168, 336, 1000, 2016, 100_000] if states < 4 else [2, 24, 60])
    chain = tf.MarkovChain(random_matrix(chance, states), length)
    pieces = tf.IndependentPieces(chain, [length, max(1, length // 3)])
    duration = chance.choice([None, None, "1/12", "1.5"])
    queries: list[Query] = [tf.Count(1, duration=duration), tf.Histogram(duration=duration)]
    query = chance.choice([*queries, tf.Count([0, 1]) if states == 3 else tf.Count(0)])
    if length > 12 and chance.random() < 0.3:
        query = tf.GroupBy(query, {"early": range(4), "late": range(4, 12)}, every=12)
    secret = tf.every_entry() if chance.random() < 0.7 else tf.every_run(chance.choice([2, 3, 15]))
    framework = tf.Pufferfish(secret, chance.choice([chain, pieces]))
    return framework, query, chance.choice(["0.25", "0.5", "1", "1.5", "2", "3"])


def random_calibration(chance: Random) -> Calibration:
    """Return noise for a random problem whose guarantee is by influence."""
    framework, query, epsilon = random_problem(chance)
    return tf.calibrate(framework, query, epsilon, mechanism="influence", allow_zero_noise=True)
