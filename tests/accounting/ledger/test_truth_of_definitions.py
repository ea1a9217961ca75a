"""Releases under a policy beside Pufferfish ones in one ledger, in any order: no total is below the truth.

By every data set and every transcript, from the definitions of the noise alone: along each allowed move one way, and
for each secret under its belief both ways.
"""

import itertools
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.mechanisms.one_sided.test_truth_of_policies import directions, log_mass, moves, policy_of, question
from tests.support.rounds import rounds

import takifugu as tf
from takifugu.accounting.composition import charge_of
from takifugu.accounting.ledger import Debit, Ledger
from takifugu.core.errors import ReadingChanged, TakifuguError
from takifugu.mechanisms.one_sided import Asymmetric
from takifugu.model.beliefs.domain import Domain

PUFFERFISH = ["group-dp", "influence", "wasserstein", "laplace-exact", "record-dp", "with-scale"]
ONE_SIDED = ["asymmetric-laplace", "asymmetric-geometric"]
#: The most transcripts of one ledger.
MOST = 20_000


def belief(r: random.Random, values: list[str], size: int) -> tuple[Any, Any]:
    """Return a chain or a table of whole masses, and the mass of each data set; values may be unknown to a table."""
    data = list(itertools.product(values, repeat=size))
    if r.random() < 0.5:
        masses = [r.choice([0, 0, 1, 1, 2, 5]) for _ in data]
        masses[r.randrange(len(data))] += 1
        law = {row: Fraction(mass, sum(masses)) for row, mass in zip(data, masses, strict=True)}
        listed = [row for row in data if law[row]]
        return tf.JointTable(listed, [law[row] for row in listed], [f"r{n}" for n in range(size)]), law
    rows = []
    for _ in values:
        weights = [r.choice([1, 1, 2, 5]) for _ in values]
        rows.append([Fraction(weight, sum(weights)) for weight in weights])
    start, places = [Fraction(1, len(values))] * len(values), {value: n for n, value in enumerate(values)}
    law = {}
    for row in data:
        law[row] = start[places[row[0]]]
        for one, following in itertools.pairwise(row):
            law[row] *= rows[places[one]][places[following]]
    return tf.MarkovChain(rows, size, initial=start, states=values), law


def likelihoods(noise: Any, answers: list[list[Fraction]], ways: Any) -> list[Any]:
    """Return for each cell the log-likelihood of each output given each data set, up to what depends on neither."""
    cells = []
    for cell, column in enumerate(zip(*answers, strict=True)):
        atoms = sorted(set(column))
        if not noise.scale:
            outputs = [[0.0 if atom == x else -np.inf for x in column] for atom in atoms]
        elif noise.laplace_scale:
            outputs = [[-float(abs(atom - x) / noise.laplace_scale) for x in column] for atom in atoms]
        else:
            grid, outputs = noise.grid, []
            for atom, side in itertools.product(atoms, (-1, 0, 1, 2)):
                output = (atom // grid + side) * grid
                if noise.kind == "one-sided-truncated" and not 0 <= output <= noise.most * grid:
                    continue
                row = [log_mass(output, x, ways[cell], noise) for x in column]
                if noise.kind == "one-sided-truncated" and output in (0, noise.most * grid):
                    ends = ways[cell] == {True}, output == 0
                    if ends[0] is ends[1]:  # where what lies beyond is cut off
                        row = [-float(abs(output - x) / noise.scale) for x in column]
                outputs.append(row)
        cells.append(np.unique(outputs, axis=0))
    return cells


def largest(mine: Any, theirs: Any) -> float:
    """Return the largest log-ratio of the likelihoods of what can be seen under the first."""
    seen = mine > 0
    with np.errstate(divide="ignore"):
        return float(np.log(mine[seen] / theirs[seen]).max(initial=0))


def charged_and_true(seed: int) -> tuple[set[str], float, float]:
    """Pay for some releases about the same entries; return their definitions, what is charged, and the truth."""
    r = random.Random(seed)
    size, values = r.randrange(1, 4), list("abc")[: r.randrange(2, 4)]
    data = list(itertools.product(values, repeat=size))
    frameworks = list[tuple[Any, Any]]()
    for kind in ("policy", "belief", r.choice(["policy", "belief"])):
        try:
            if kind == "belief":
                one, law = belief(r, values, size)
                frameworks.append((tf.Pufferfish(tf.every_entry(), one), law))
                continue
            # without a predicate every move is allowed, which is ordinary differential privacy
            rules = [(r.random() < 0.5, frozenset(r.sample(values, 1))) for _ in range(r.choice([0, 0, 0, 1, 2]))]
            frameworks.append((Asymmetric(policy_of(rules), Domain.of(size, values)), rules))
        except TakifuguError:  # nothing would be hidden
            continue
    ledger, together, used = Ledger.blank(), np.zeros((1, len(data))), list[tuple[Any, Any]]()
    for _ in range(r.randrange(2, 5)):
        (about, meant), (query, answer) = r.choice(frameworks), question(r, values, size)
        mechanism = r.choice(PUFFERFISH if about.beliefs else ONE_SIDED)
        ways = None if about.beliefs else directions(answer, meant, values, size)
        try:
            if mechanism == "with-scale":
                made = tf.with_scale(about, query, Fraction(r.randrange(1, 12), 4))
            else:
                made = tf.calibrate(about, query, r.choice([1, 3]), mechanism=mechanism, allow_zero_noise=True)
            pay = [Debit(about, charge_of(made), ["ann"])]
            entries = r.choice(["all", "all", "others"])
            try:
                ledger.reserve("data", pay, 10**6, entries=entries)
            except ReadingChanged:
                ledger.reserve("data", pay, 10**6, entries=entries, same_entries=False)
        except TakifuguError:  # noise on one side beside a belief, or against a policy; no noise beside other releases
            continue
        for cell in likelihoods(made.randomiser, list(map(answer, data)), ways):
            together = np.unique((together[:, None] + cell[None]).reshape(-1, len(data)).round(12), axis=0)
        used.append((about, meant))
        if len(together) > MOST:
            return set(), 1.0, 0.0
    likelihood, true = np.exp(together), 0.0
    for about, meant in used:
        if about.beliefs:
            mass = np.array([float(meant[row]) for row in data])
            for entry in range(size):
                given = [np.array([row[entry] == value for row in data]) * mass for value in values]
                seen = [likelihood @ (part / part.sum()) for part in given if part.sum()]
                true = max([true, *(largest(*pair) for pair in itertools.permutations(seen, 2))])
        else:
            for pair in moves(meant, values, size):
                true = max(true, largest(*(likelihood[:, data.index(row)] for row in pair)))
    names = {about.definition for about, _ in used}
    return names, float(ledger.spent("data", "ann").epsilon) if used else 0.0, true


@pytest.mark.mutants
@pytest.mark.parametrize("seeds", rounds(13, 80, 1500, parts=8))
def test_no_total_of_policies_and_beliefs_is_below_the_truth(seeds: range) -> None:
    totals = list(map(charged_and_true, seeds))
    assert all(true <= charged * (1 + 1e-9) for _, charged, true in totals), totals
    assert any(len(names) > 1 and true >= charged * (1 - 1e-6) for names, charged, true in totals)


def test_a_release_costs_a_policy_what_all_values_of_its_domain_move() -> None:
    """A belief that knows two values, and a policy about three: along a move to the third the answer goes farther."""
    codes, ledger = {"a": 0, "b": 1, "c": 10}, Ledger.blank()
    narrow = tf.Pufferfish(tf.every_entry(), tf.JointTable([("a",), ("b",)], [0.5, 0.5], ["ann"]))
    anything = Asymmetric(policy_of([]), Domain.of(1, list("abc")))
    for about, query in ((anything, tf.Count("a")), (narrow, tf.Sum(codes=codes))):
        made = tf.calibrate(about, query, 1, mechanism="group-dp" if about.beliefs else "asymmetric-laplace")
        ledger.reserve("data", [Debit(about, charge_of(made), ["ann"])], 99, entries="all")
    assert ledger.spent("data", "ann").epsilon == 11
