"""Releases in layouts of the same entries cost at least what they reveal, by enumeration over random bijections."""

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from tests.fuzz.layouts import Read, true_loss, walks
from tests.support.ledger_tools import laplace

import takifugu as tf
from takifugu.accounting.composition import Charge, charge_of, composing
from takifugu.accounting.composition.composing import cost_at_other_steps, dearest_step
from takifugu.analysis.guarantee import Covers
from takifugu.model.frameworks import Framework, Pufferfish

SLACK = 1e-9


def chain(length: int, stay: float = 0.9, initial: Any = "stationary", other: float | None = None) -> Framework:
    leave = 1 - (stay if other is None else other)
    return Pufferfish(tf.every_entry(), tf.MarkovChain([[stay, 1 - stay], [leave, 1 - leave]], length, initial))


def charge(about: Framework, weights: list[int], scale: Any, layout: str, **changes: Any) -> Charge:
    made = charge_of(laplace(about, tf.Linear(weights), 1, Covers.ENTRIES, "1/1000"))
    most = sum(weights) / Fraction(scale)
    return replace(made, epsilon=most, scale=Fraction(scale), layout=layout, **changes)


@cache
def random_case(seed: str) -> tuple[Mapping[str, Framework], list[Charge], float]:
    """Return one to three releases in a layout, one or two in another one, and the true loss of all of them."""
    c = random.Random(seed)
    size, stay, initial = c.randint(2, 6), c.choice((0.55, 0.8, 0.95)), c.choice(("stationary", "stationary", "any"))
    back = c.choice((stay, 0.6))
    moved = list(range(size))
    c.shuffle(moved)
    entry_of = {"a": list(range(size)), "b": moved}
    frameworks, charges = dict[str, Framework](), list[Charge]()
    read: dict[str, list[Read]] = {"a": [], "b": []}
    for layout, times in (("a", c.randint(1, 3)), ("b", c.randint(1, 2))):
        is_placed = c.random() < 0.6
        for _ in range(times):
            length = c.randint(1, size)
            at = c.randrange(size - length + 1)
            weights = [c.choice((1, 1, 1, 2, 3)) for _ in range(length)]
            if c.random() < 0.6:
                weights = [1] * length
            scale = c.choice((Fraction(1, 2), 1, 2))
            about = chain(length, stay, initial, back)
            place: dict[str, Any] = {"at": at, "calendar": "hours"} if is_placed else {}
            one = charge(about, weights, scale, layout, **place)
            frameworks[about.fingerprint()] = about
            charges.append(one)
            for believed in ("a", "b"):
                step_of = {entry: step for step, entry in enumerate(entry_of[believed])}
                steps = Counter[tuple[int, int]]()
                for n, weight in enumerate(weights):
                    steps[(0, step_of[entry_of[layout][at + n]])] += weight
                read[believed].append(Read(steps, float(scale)))
    matrix = [[stay, 1 - stay], [1 - back, back]]
    fair = [(1 - back) / (2 - stay - back), (1 - stay) / (2 - stay - back)]
    starts = [fair] if initial == "stationary" else [fair, [0.5, 0.5], [0.999, 0.001], [0.001, 0.999]]
    worst = 0.0
    for start in starts:
        known = list(walks([matrix] * (size - 1), start))
        for answers in read.values():
            worst = max(worst, true_loss(answers, 1, lambda _, known=known: known))  # type: ignore[misc]
    return frameworks, charges, worst


def cost_of(about: Framework, *charges: Charge) -> Fraction | None:
    cost = cost_at_other_steps({about.fingerprint(): about}, charges)
    return None if cost is None else cost[0]


def least_ratio(cases: int, seed: str) -> float:
    ratios = []
    for number in range(cases):
        frameworks, charges, true = random_case(f"{seed}:{number}")
        cost = cost_at_other_steps(frameworks, charges)
        assert cost is not None
        ratios.append(float(cost[0]) / true)
    return min(ratios)


@pytest.mark.parametrize("cases", [
    30, pytest.param(60, marks=pytest.mark.mutants), pytest.param(900, marks=pytest.mark.slow),
])  # fmt: skip
def test_no_bijection_reveals_more_than_is_charged(cases: int) -> None:
    assert least_ratio(cases, "moved") >= 1 - SLACK


def test_what_the_other_layout_reveals_is_noticed_if_it_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(composing, "dearest_step", lambda *_: Fraction(0))
    assert least_ratio(30, "moved") < 1


@pytest.mark.mutants
def test_windows_of_unknown_place_are_readings_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two windows of the same step, as one reading: charged 1, true 2."""
    of_one = composing.dearest_step
    monkeypatch.setattr(
        composing, "dearest_step",
        lambda f, charges: max((of_one(f, [c]) for c in charges), default=Fraction(0)),
    )  # fmt: skip
    assert least_ratio(120, "moved") < 1


def test_disjoint_windows_of_one_calendar_cost_their_dearest() -> None:
    about = chain(4)
    known = {about.fingerprint(): about}
    weeks = [charge(about, [1, 2, 1, 1], 2, "a", at=4 * n, calendar="hours") for n in range(52)]
    assert dearest_step(known, weeks) == 1
    assert dearest_step(known, [replace(one, at=2 * n) for n, one in enumerate(weeks[:2])]) == Fraction(3, 2)
    assert dearest_step(known, [replace(one, at=None, calendar="") for one in weeks]) == 52
    assert dearest_step(known, [replace(weeks[0], calendar="days"), *weeks[1:]]) == 2


def test_the_twelfth_hole_stays_closed() -> None:
    """Sixty readings of single steps in one layout, all of them one step of the other."""
    one, about = chain(1), chain(60)
    known = {each.fingerprint(): each for each in (one, about)}
    hour = charge(one, [1], 1, "hours", at=0, calendar="hours")
    minutes = charge(about, [1] * 60, 1, "minutes", at=0, calendar="minutes")
    assert cost_at_other_steps(known, [hour, minutes])[0] >= 2  # type: ignore[index]


@pytest.mark.parametrize("change", [
    {"delta": Fraction(1, 100)}, {"scale": None}, {"scope": "pooled"}, {"begins_series": True}, {"change": None},
    {"covers": Covers.OUTPUT}, {"scale": Fraction(0)}, {"definition": "attribute"}, {"entry_change": None},
])  # fmt: skip
def test_what_nothing_is_proved_of(change: dict[str, Any]) -> None:
    about = chain(3)
    good = charge(about, [1, 1, 1], 1, "a")
    assert cost_of(about, good, replace(good, layout="b")) is not None
    assert cost_of(about, good, replace(good, layout="b", **change)) is None


@pytest.mark.parametrize("initial", [[0.5, 0.5], [1.0, 0.0]])
def test_a_given_start_is_not_moved(initial: list[float]) -> None:
    about = chain(3, initial=initial)
    one = charge(about, [1, 1, 1], 1, "a")
    assert cost_of(about, one, replace(one, layout="b")) is None


def test_pieces_of_one_layout_may_be_one_of_the_other() -> None:
    about = Pufferfish(tf.every_entry(), tf.IndependentPieces(tf.MarkovChain([[0.9, 0.1], [0.1, 0.9]], 1), (2, 2)))
    one = charge(about, [1, 1, 1, 1], 1, "a")
    both, alone = cost_of(about, one, replace(one, layout="b")), cost_of(about, one)
    assert alone is not None
    assert both is not None
    assert both >= alone + 1


@pytest.mark.mutants
def test_one_more_release_never_costs_less() -> None:
    for number in range(40):
        frameworks, charges, _ = random_case(f"grows:{number}")
        for left_out in range(len(charges)):
            fewer = [one for n, one in enumerate(charges) if n != left_out]
            less, all_of_them = (cost_at_other_steps(frameworks, some) for some in (fewer, charges))
            assert less is not None
            assert all_of_them is not None
            assert less[0] <= all_of_them[0] * (1 + Fraction(1, 10**9))
