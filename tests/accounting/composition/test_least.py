"""Without a delta a set costs the least that is proved, and another release never makes it cheaper."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from tests.support.chain_oracles import exact_rows, joint_law, stationary_vector
from tests.support.ledger_tools import contributions_of, laplace, made, worst_joint_loss

import takifugu as tf
from takifugu.accounting.composition import Charge, charge_of, joint, sums
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.randomisers import RoundedNormal
from takifugu.core.errors import CompositionRefused
from takifugu.model.frameworks import Framework

#: Sets that are looked at, and how many of them by `make test`.
ALL, SOME = 2000, 150
EVERY = tf.every_entry()
FRAMEWORKS: list[Framework] = [
    tf.Pufferfish(EVERY, tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 6)),
    tf.Pufferfish(EVERY, tf.MarkovChain([[0.3, 0.7], [0.6, 0.4]], 4, initial="any")),
    tf.Pufferfish(EVERY, tf.MarkovChain([[0.8, 0.2], [0.1, 0.9]], 3, initial=(0.5, 0.5))),
    tf.Pufferfish(tf.entry(1, 0, 1), tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 3)),
    tf.Pufferfish(EVERY, tf.IndependentUsers([{0: 0.5, 1: 0.5}] * 3)),
    tf.Pufferfish(EVERY, tf.IndependentPieces(tf.MarkovChain([[0.7, 0.3], [0.2, 0.8]], 1), [3, 2])),
]


def drawn(chance: random.Random, about: Framework, other: Framework) -> Charge:
    """Draw a release of any kind: what it covers, its noise, its query, whose belief it is of, and its entries."""
    of = chance.choice([about, about, about, other])
    size = of.beliefs[0].size
    query = chance.choice([tf.Count(1), tf.Linear([chance.randrange(3) for _ in range(size - 1)] + [1])])
    kind = chance.choice(list(Covers))
    scale = Fraction(chance.choice([1, 2, 5, 20, 100]), chance.choice([1, 3]))
    where = {"at": chance.choice([None, 0, 0, 2])} if isinstance(of.beliefs[0], tf.MarkovChain) else {}
    epsilon = Fraction(chance.randint(1, 12), 4)
    normal = RoundedNormal(Fraction(chance.choice([2, 9, 30])), Fraction(1))
    charge = charge_of(laplace(of, query, scale, kind, epsilon))
    if kind is not Covers.ENTRIES and chance.random() < 0.15:
        charge = charge_of(made(of, query, normal, kind, epsilon, Fraction(1, 1000)))
    early, scope = chance.random() < 0.3, chance.choice(["unit"] * 4 + ["pooled"])
    return replace(charge, reading=chance.choice(["", "one", "one"]), scope=scope, fixed_in_advance=early, **where)


def totals(about: Framework, charges: Sequence[Charge]) -> list[Fraction]:
    """Return what the first releases cost, for each number of them; what is refused costs more than any number."""
    costs = []
    for count in range(len(charges) + 1):
        try:
            costs.append(joint(about, charges[:count]).epsilon)
        except CompositionRefused:
            costs.append(Fraction(10**9))
    return costs


def rising(number: int) -> bool:
    chance = random.Random(number)
    about, other = chance.choice(FRAMEWORKS), chance.choice(FRAMEWORKS)
    charges = [drawn(chance, about, about)]  # a framework counts from its first release on, which says where it starts
    charges += [drawn(chance, about, other) for _ in range(chance.randint(1, 4))]
    again = replace(chance.choice(charges), epsilon=Fraction(chance.randint(1, 12), 4))
    costs = totals(about, [*charges, *([again] if chance.random() < 0.3 else [])])
    return costs == sorted(costs)


@pytest.mark.parametrize("part", range(10))
def test_another_release_never_lowers_a_total(part: int) -> None:
    for number in range(part, SOME, 10):
        assert rising(number), number


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_another_release_never_lowers_a_total_of_any_of_many_sets(part: int) -> None:
    for number in range(SOME + part, ALL, 10):
        assert rising(number), number


def test_the_comparison_notices_a_promise_that_forgets_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_the_others(monkeypatch)
    assert not all(map(rising, range(ALL, ALL + SOME)))  # others: what was asked before is remembered


def forget_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let one promise count as if it were everything."""
    real = sums._joint_with_wholes

    def forgetting(charges: Any, number: int, others: Fraction, whole: Any, delta: Fraction) -> Any:
        return real(charges, number, Fraction(0), whole, delta)

    monkeypatch.setattr(sums, "_joint_with_wholes", forgetting)


def test_a_promise_that_is_alone_is_given_up_where_its_noise_proves_less() -> None:
    about = FRAMEWORKS[0]
    alone = tf.calibrate(about, tf.Count(1), 1, mechanism="laplace-exact", only_release=True)
    whole = tf.calibrate(about, tf.Count(1), 4, mechanism="group")
    both = tf.compose([alone, whole])
    rows = exact_rows([[0.9, 0.1], [0.4, 0.6]])
    law = {path: float(mass) for path, mass in joint_law(rows, 6, stationary_vector(rows)).items()}
    scales = [charge_of(one).scale for one in (alone, whole)]
    true = worst_joint_loss(law, [(contributions_of(about, tf.Count(1)), scale) for scale in scales], 6)
    assert true <= both.epsilon < Fraction(2937, 1000) < 4  # which the second one promises
    assert tf.compose([alone, whole, alone]).epsilon == tf.compose([alone, alone, whole], as_composing=True).epsilon
    quiet = tf.calibrate(about, tf.Count(1), "1/4", mechanism="group")
    assert 1 < tf.compose([alone, quiet]).epsilon < Fraction(5, 4)


def set_with_true_promises(number: int) -> tuple[Fraction, float]:
    """Return what a random set is charged whose releases promise what they lose, and its loss by enumeration."""
    chance = random.Random(number)
    stays = [chance.choice([0.1, 0.3, 0.5, 0.8, 0.95]) for _ in range(2)]
    rows = [[stays[0], 1 - stays[0]], [1 - stays[1], stays[1]]]
    about = tf.Pufferfish(EVERY, tf.MarkovChain(rows, 3))
    exact = exact_rows(rows)
    law = {path: float(mass) for path, mass in joint_law(exact, 3, stationary_vector(exact)).items()}
    charges, releases = [], []
    for _ in range(chance.randint(1, 3)):
        query, units = tf.Linear([chance.randrange(-2, 4) for _ in range(2)] + [1]), chance.choice([1, 2, 6, 40])
        kind = chance.choice([*Covers, Covers.ENTRIES, Covers.OUTPUT])
        charge = charge_of(laplace(about, query, units, kind, 1), reading="one")
        release = (contributions_of(about, query), charge.scale)
        epsilon = (charge.change or Fraction(0)) / Fraction(charge.scale or 1)
        if kind not in (Covers.EVERYTHING, Covers.COMPONENT):
            epsilon = Fraction(worst_joint_loss(law, [release], 3)) + Fraction(1, 10**9)
        charges.append(replace(charge, epsilon=epsilon))
        releases.append(release)
    return joint(about, charges).epsilon, worst_joint_loss(law, releases, 3)


def test_no_set_whose_releases_promise_what_they_lose_is_charged_less_than_it_loses() -> None:
    for number in range(60):
        charged, true = set_with_true_promises(number)
        assert charged >= true * (1 - 1e-9), number


def test_the_enumeration_notices_a_promise_that_counts_as_if_it_were_everything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forget_the_others(monkeypatch)
    assert any(charged < true * (1 - 1e-9) for charged, true in map(set_with_true_promises, range(60, 120)))
