"""Choices beside Laplace noise in one ledger, of one person and pooled: no total is below the truth by enumeration."""

import itertools
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.support.choice_oracles import frequent_law, rank_law
from tests.support.rounds import rounds

import takifugu as tf
from takifugu.accounting.composition import charge_of
from takifugu.accounting.ledger import Debit, Ledger

STEPS = 3
PATHS = list(itertools.product(range(2), repeat=STEPS))
#: What both people's steps are together, one after the other.
STATES = np.array([one + other for one in PATHS for other in PATHS])
QUERIES = {
    "count": tf.Count(1), "histogram": tf.Histogram(), "mean": tf.Mean(), "median": tf.Median(), "mode": tf.Mode(),
    "quartile": tf.Quantile(Fraction(1, 4)), "both": tf.TopK(2),
}  # fmt: skip


def likelihoods(query: str, scale: float, read: Any) -> Any:
    """Return the likelihood of each output given each state, up to a factor of the output."""
    ones = read.sum(axis=1)
    counts = [(read.shape[1] - int(one), int(one)) for one in ones]
    if query in ("count", "histogram", "mean"):
        answers = np.array(counts, dtype=float)[:, [1] if query != "histogram" else [0, 1]]
        if query == "mean":
            answers /= read.shape[1]
        outputs = np.array(list(itertools.product(*map(np.unique, answers.T))))
        return np.exp(-np.abs(outputs[:, None, :] - answers[None, :, :]).sum(axis=2) / scale)
    if query in ("mode", "both"):
        laws = [frequent_law(pair, 1 + (query == "both"), 1 / (2 * scale)) for pair in counts]
    else:
        laws = [rank_law(pair, [Fraction(1, 2 if query == "median" else 4)], 1 / scale) for pair in counts]
    return np.array([[law[output] for law in laws] for output in laws[0]])


def law_of(stays: tuple[float, float]) -> Any:
    a, b = 1 - stays[0], 1 - stays[1]
    rows, law = [[1 - a, a], [b, 1 - b]], []
    for path in PATHS:
        mass = [b, a][path[0]] / (a + b)
        for one, following in itertools.pairwise(path):
            mass *= rows[one][following]
        law.append(mass)
    return rows, np.outer(law, law).ravel()


def charged_and_true(seed: int) -> list[tuple[float, float]]:
    """Pay for some releases about two people, each or pooled; return what either is charged, and the truth."""
    r = random.Random(seed)
    rows, law = law_of(r.choice([(0.8, 0.7), (0.95, 0.6), (0.3, 0.4), (0.5, 0.5)]))
    mine = tf.Pufferfish(tf.every_entry(), tf.MarkovChain(rows, STEPS))
    ours = tf.Pufferfish(tf.every_entry(), tf.IndependentPieces(tf.MarkovChain(rows, STEPS), [STEPS] * 2))
    ledger, together, named = Ledger.blank(), np.ones((1, len(STATES))), set[str]()
    for _ in range(r.randrange(2, 5)):
        people, name = r.choice(["A", "B", "AB"]), r.choice([*QUERIES])
        query, asked = QUERIES[name], ours if people == "AB" else mine
        if r.random() < 0.5:
            made = tf.calibrate(asked, query, r.choice([0.3, 1, 3]), mechanism=r.choice(["influence", "group-dp"]))
        else:
            made = tf.with_scale(asked, query, Fraction(r.randrange(1, 12), 12 if name == "mean" else 4))
        charge = charge_of(made, mine, "pooled" if people == "AB" else "unit")
        ledger.reserve("hours", [Debit(mine, charge, list(people))], 10**6, entries="hours")
        read = {"A": STATES[:, :STEPS], "B": STATES[:, STEPS:], "AB": STATES}[people]
        one = np.unique(likelihoods(name, float(made.scale), read), axis=0)
        together = (together[:, None, :] * one).reshape(-1, len(STATES))
        named |= {*people}
    totals = []
    for person in sorted(named):
        true = 0.0
        for step in range(STEPS):
            value = STATES[:, step + STEPS * (person == "B")]
            given = [together @ (law * (value == v)) / law[value == v].sum() for v in (0, 1)]
            true = max(true, float(np.abs(np.log(given[0]) - np.log(given[1])).max()))
        totals.append((float(ledger.spent("hours", person).epsilon), true))
    return totals


@pytest.mark.mutants
@pytest.mark.parametrize("seeds", rounds(10, 60, 300))
def test_no_total_of_choices_and_numbers_is_below_the_truth(seeds: range) -> None:
    totals = [total for seed in seeds for total in charged_and_true(seed)]
    assert all(charged >= true * (1 - 1e-9) for charged, true in totals)
    assert any(charged <= true * (1 + 1e-6) for charged, true in totals)
