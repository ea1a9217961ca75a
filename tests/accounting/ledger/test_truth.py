"""No total is below what the releases lose together: by every state of small data, and every transcript of atoms."""

import itertools
import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.joint_losses import largest_loss
from tests.support.ledger_tools import laplace, made
from tests.support.rounds import rounds

import takifugu as tf
from takifugu.accounting.composition import Charge, charge_of
from takifugu.accounting.composition.several import placed
from takifugu.accounting.ledger import Amount, Debit, Ledger, totals
from takifugu.accounting.ledger.view import View
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.randomisers import RoundedNormal
from takifugu.core.errors import TakifuguError

#: Steps of the one recording, and of a release's window of it.
STEPS, WINDOW = 6, 4
#: What the data of a second source are of those of the first: any function of them may be.
ELSEWHERE: dict[str, Callable[[Any], Any]] = {
    "the same": lambda paths: paths, "backwards": lambda paths: paths[:, ::-1], "the others": lambda paths: 1 - paths,
    "parities": lambda paths: np.cumsum(paths, axis=1) % 2,
}  # fmt: skip


@cache
def law_of(a: float, b: float) -> dict[tuple[int, ...], float]:
    start, rows = [b / (a + b), a / (a + b)], [[1 - a, a], [b, 1 - b]]
    law = {}
    for path in itertools.product(range(2), repeat=STEPS):
        mass = start[path[0]]
        for one, next_one in itertools.pairwise(path):
            mass *= rows[one][next_one]
        law[path] = mass
    return law


@cache
def released(a: float, b: float, query: str, epsilon: float, mechanism: str) -> Any:
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[1 - a, a], [b, 1 - b]], length=WINDOW))
    read_bit: Any = {"count": tf.Count(1), "hist": tf.Histogram(), "half": tf.Count(1, entries=range(2))}[query]
    try:
        return framework, charge_of(tf.calibrate(framework, read_bit, epsilon=epsilon, mechanism=mechanism)), query
    except TakifuguError:
        return None


def answers(query: str, window: Any) -> list[Any]:
    if query == "hist":
        return [(window == 0).sum(axis=1), (window == 1).sum(axis=1)]
    return [(window[:, : 2 if query == "half" else WINDOW] == 1).sum(axis=1)]


def charged_and_true(ledger: Ledger, seed: int) -> list[tuple[str, float, float]]:
    """Pay for some releases about one recording; return what is charged for each source, and the truth."""
    r = random.Random(seed)
    chances = r.choice([(0.2, 0.3), (0.05, 0.4), (0.45, 0.45), (0.1, 0.1)])
    law, kind = law_of(*chances), r.choice(["windows", "named", "own", "two sources", "two sources of windows"])
    paths, columns, scales = np.array(list(law)), list[Any](), list[float]()
    read: dict[str, set[int]] = {}
    for number in range(r.randrange(1, 4)):
        mechanism = r.choice(["influence", "influence", "group-dp", "wasserstein", "laplace-exact"])
        got = released(*chances, r.choice(["count", "count", "hist", "half"]), r.choice([0.2, 0.5, 1.0]), mechanism)
        if got is None or len(columns) > 4:
            continue
        framework, charge, query = got
        source, at, start, data, entries = "first", None, 0, paths, "hours"
        if "windows" in kind:
            start = at = r.randrange(3)
        if kind == "own":
            start, entries = r.randrange(3), None
        if "two" in kind and number % 2:
            source, data = "second", ELSEWHERE[r.choice([*ELSEWHERE])](paths)
        debits = [Debit(framework, replace(charge, at=at), ["someone"])]
        try:
            same = False if entries is None else None
            ledger.reserve(source, debits, 10**6, entries=entries, same_entries=same, same_people=True)
        except TakifuguError:
            continue
        mine = answers(query, data[:, start : start + WINDOW])
        columns, scales = columns + mine, scales + [float(charge.scale)] * len(mine)
        read.setdefault(source, set()).update(range(start, start + WINDOW) if source == "first" else ())
    totals = []
    for source, steps in read.items():
        if steps:
            true = largest_loss(law, np.stack(columns, axis=1).astype(float), scales, sorted(steps))
            totals.append((kind, float(ledger.spent(source, "someone").epsilon), true))
    return totals


@pytest.mark.mutants
@pytest.mark.parametrize("seeds", rounds(8, 40, 1000, parts=16))
def test_no_total_is_below_the_truth(tmp_path: Path, seeds: range) -> None:
    totals = []
    for seed in seeds:
        totals += charged_and_true(Ledger.open(tmp_path / f"{seed}.db"), seed)
    assert all(charged >= true * (1 - 1e-9) for _, charged, true in totals), totals
    assert len(totals) > len(seeds) / 2
    assert {kind for kind, *_ in totals} >= {"windows", "own", "two sources"}


def test_what_lies_elsewhere_left_out_is_below_the_truth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(totals.Outside, "all_but", lambda *_, **__: Amount())
    assert any(
        charged < true * (1 - 1e-6)
        for seed in range(60) for _, charged, true in charged_and_true(Ledger.open(tmp_path / f"{seed}.db"), seed)
    )  # fmt: skip


# A release with a delta from elsewhere, and one that was chosen after it.

#: Three steps that keep their state with .7. The middle one is hidden.
STAYS, DELTA = 0.7, 0.1
CHAIN = tf.Pufferfish(tf.entry(1, 0, 1), tf.MarkovChain([[STAYS, 1 - STAYS], [1 - STAYS, STAYS]], length=3))
#: What a source that knows all three steps publishes: which side is then asked for (left, left, right, right), by the
#: states of the steps 000, 001, ..., 111. Between any two states the masses differ by .1 in all: epsilon 0, delta .1.
FIRST = np.array([
    [0.10, 0.10, 0.05, 0.00, 0.05, 0.05, 0.10, 0.05],
    [0.80, 0.85, 0.90, 0.90, 0.85, 0.85, 0.90, 0.85],
    [0.10, 0.05, 0.05, 0.10, 0.10, 0.05, 0.00, 0.10],
    [0.00, 0.00, 0.00, 0.00, 0.00, 0.05, 0.00, 0.00],
])  # fmt: skip
SCALE = Fraction(366, 1000)


PATHS = np.array(list(itertools.product(range(2), repeat=3)))
LAW = np.array([0.5 * np.prod([STAYS if a == b else 1 - STAYS for a, b in itertools.pairwise(path)]) for path in PATHS])
#: After each output of the first release: the step that is published then, and the scale of its noise.
Choice = list[tuple[int, Fraction]]
SIDES: Choice = [(0, SCALE), (0, SCALE), (2, SCALE), (2, SCALE)]


def exact_delta(epsilon: float, first: Any = FIRST, chosen: Choice = SIDES) -> float:
    """Return the delta at which both releases keep an epsilon about the middle step, by all states and outputs.

    The noisy count of one bit is above one half, or not: between its atoms nothing else is told.
    """
    worst = 0.0
    for hidden in (0, 1):
        mine, theirs = (LAW * (PATHS[:, 1] == value) for value in (hidden, 1 - hidden))
        lost = 0.0
        for masses, (step, scale) in zip(first, chosen, strict=True):
            right = 1 / (1 + np.exp(-1 / float(scale)))
            for answer in (0, 1):
                published = masses * np.where(PATHS[:, step] == answer, right, 1 - right)
                lost += max(0.0, float((mine / mine.sum() - np.exp(epsilon) * theirs / theirs.sum()) @ published))
        worst = max(worst, lost)
    return worst


def total_of_both(
    ledger: Ledger, epsilon: Fraction = Fraction(1, 1000), delta: Fraction = Fraction(1, 10),
    then: tuple[int, Fraction] = SIDES[0], source: str = "elsewhere",
) -> Amount:  # fmt: skip
    noise = RoundedNormal(Fraction(30), Fraction(1))
    first = charge_of(made(CHAIN, tf.Count(1), noise, Covers.EVERYTHING, epsilon, delta), at=0)
    step, scale = then
    second = charge_of(laplace(CHAIN, tf.Count(1, entries=[step]), scale, Covers.ENTRIES, epsilon=3), at=0)
    for name, one in ((source, first), ("data", second)):
        ledger.reserve(name, [Debit(CHAIN, one, ["someone"])], (99, "999/1000"), entries="hours", same_people=True)
    return ledger.spent("data", "someone")


@pytest.mark.parametrize("source", ["elsewhere", "data"])
@pytest.mark.parametrize("seeds", rounds(4, 25, 175))
def test_no_total_with_a_delta_is_below_the_truth(tmp_path: Path, source: str, seeds: range) -> None:
    """A first release of any masses, about the same data or others, and after each of its outputs any second one."""
    for seed in seeds:
        r = np.random.default_rng(seed)
        outputs, share = int(r.integers(2, 6)), r.random()
        first = share * r.dirichlet(np.ones(outputs), 8).T + (1 - share) * r.dirichlet(np.ones(outputs))[:, None]
        epsilon = Fraction(int(r.integers(1, 1000)), 1000)
        over = first[:, :, None] - np.exp(float(epsilon)) * first[:, None, :]
        delta = Fraction(int(np.ceil(np.maximum(over, 0).sum(axis=0).max() * 10**6)) + 1, 10**6)
        if delta > Fraction(99, 100):
            continue
        chosen = [(int(step), Fraction(int(scale), 10)) for step, scale in r.integers((0, 3), (3, 30), (outputs, 2))]
        totals = []
        for number, then in enumerate(chosen):
            totals.append(total_of_both(Ledger.open(tmp_path / f"{seed} {number}.db"), epsilon, delta, then, source))
        assert exact_delta(float(max(total.epsilon for total in totals)), first, chosen) <= delta


def test_what_was_chosen_after_a_delta_from_elsewhere_costs_its_whole_component(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    masses = FIRST.sum(axis=0)
    apart = np.abs(FIRST[:, :, None] - FIRST[:, None, :]).sum(axis=0) / 2
    assert masses == pytest.approx(np.ones(8))
    assert apart.max() <= DELTA + 1e-12  # it keeps its promise
    total = total_of_both(Ledger.open(tmp_path / "ledger.db"))
    assert total.delta == Fraction(1, 10)
    assert exact_delta(float(total.epsilon)) <= DELTA
    assert total.epsilon == Fraction(1, 1000) + 1 / SCALE

    def added_up(view: View, steps: Any, here: Any, several: Any) -> list[Charge]:
        return [placed(*totals._placed(view, step)) for step in here]

    monkeypatch.setattr(totals, "_in_order", added_up)
    mutant = total_of_both(Ledger.open(tmp_path / "mutant.db")).epsilon
    assert mutant < Fraction(32, 100) * total.epsilon
    assert exact_delta(float(mutant)) > DELTA  # that much is lost by it
