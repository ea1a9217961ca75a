"""Takagi21 reproduced: the epidemic keeps its rules, probabilities by another route, the page beside the program."""

import itertools
import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support import asymmetric as oracle
from tests.support.research import research_file

import epidemic
import epidemic_maps as maps
import takagi2021 as experiment
from epidemic_maps import Setting
from pages import made
from takifugu.mechanisms.one_sided import Mark


@cache
def weeks():
    return epidemic.Weeks.read(research_file(epidemic.FILE))


@cache
def made_up():
    return epidemic.simulate(weeks())


def rows(name: str) -> dict[str, list[str]]:
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in made(experiment.PAGE, name).splitlines()]
    return {line[0]: line[1:] for line in lines[2:]}


@given(st.lists(st.sampled_from([0.0, 0.3, 0.9, 1.0]), min_size=1, max_size=7), st.sampled_from([1, 2, 3, None]))
def test_right_answers_by_enumeration(betas, units):
    want = np.zeros(len(betas) + 1)
    for safe in itertools.product((True, False), repeat=len(betas)):
        chance = math.prod(b if yes else 1 - b for b, yes in zip(betas, safe, strict=True))
        said = used = 0
        for yes in safe:
            if units is not None and used == units:
                break
            said, used = said + yes, used + (not yes)
        want[said] += chance
    reached = experiment.right_answers(np.array(betas), units)
    assert reached == pytest.approx(want[::-1].cumsum()[::-1][1:], abs=1e-9)


@pytest.mark.parametrize("limit", [1, 2, pytest.param(None, marks=pytest.mark.slow)])
@pytest.mark.parametrize("counts", [[0, 3, 1], [2, 0, 0, 1], [5, 5]])
def test_right_answers_are_those_of_the_sparse_vector(counts, limit):
    setting = Setting(threshold=2)
    law = oracle.sparse(counts, lambda _: 2, limit, Fraction(math.exp(-1)), 6)
    betas = experiment.betas_in(np.arange(len(counts)), setting, np.array(counts))
    reached = experiment.right_answers(betas, limit)
    for j in range(1, len(counts) + 1):
        want = math.fsum(float(p) for answers, p in law.items() if sum(a == "safe" for a in answers) >= j)
        assert reached[j - 1] == pytest.approx(want, abs=1e-9)


def right_answers_over_all_orders(betas: list[float]) -> np.ndarray:
    orders = list(itertools.permutations(betas))
    return np.array([sum(math.prod(order[:j]) for order in orders) / len(orders) for j in range(1, len(betas) + 1)])


@given(st.lists(st.sampled_from([0.0, 0.3, 0.9, 1.0]), min_size=1, max_size=6))
def test_right_answers_in_any_order_by_enumeration(betas):
    """Every order, each as likely; and shuffling the places changes nothing."""
    probabilities = experiment.in_any_order(np.array(betas))
    assert probabilities == pytest.approx(right_answers_over_all_orders(betas), abs=1e-12)
    assert probabilities == pytest.approx(experiment.in_any_order(np.array(betas[::-1])), abs=1e-12)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30), st.integers(0, 6), st.sampled_from([0.2, 1.0, 2.0]))
def test_what_is_found_is_a_mean_of_closed_forms(counts, threshold, epsilon):
    setting, known = Setting(epsilon, threshold), experiment.sizes([np.array(counts)])
    safe = [m for m in counts if m <= threshold]
    if not safe:
        assert all(math.isnan(experiment.recall(name, setting, known)) for name in experiment.CURVES)
        return
    k = [threshold + 1 - m for m in safe]
    recalls = {name: experiment.recall(name, setting, known) for name in experiment.CURVES}
    assert recalls["policy"] == pytest.approx(np.mean([1 - math.exp(-epsilon * j) for j in k]))
    printed = [1e-3 * math.exp(epsilon * j) + 1e-4 * sum(math.exp(i * epsilon) for i in range(j)) for j in k]
    assert recalls["virtual"] == pytest.approx(np.mean([min(1, b) for b in printed]))
    a = math.exp(-epsilon)
    margin = next(s for s in range(200) if a ** (s + 1) / (1 + a) <= 1e-3)  # P(N < -s) = P(N >= s + 1)

    def below(x):
        return a ** (1 - x) / (1 + a) if x <= 0 else 1 - a**x / (1 + a)  # P(N < x)

    assert recalls["two-sided"] == pytest.approx(np.mean([below(j - margin) for j in k]))
    assert recalls["two-sided"] <= recalls["ceiling"] + 1e-12
    assert recalls["ceiling"] <= min(recalls["virtual"], 1) + 1e-12


def test_the_places_are_those_nearest_to_the_middle():
    numbers = epidemic.places().reshape(epidemic.SIDE, epidemic.SIDE)
    assert (numbers >= 0).sum() == epidemic.PLACES == 5_835
    assert sorted(numbers[numbers >= 0]) == list(range(5_835))
    for corner in (numbers[0, 0], numbers[0, -1], numbers[-1, 0], numbers[-1, -1]):
        assert corner == -1
    assert epidemic.box(40.55, -74.27) == (0, 0)
    assert epidemic.box(99, 99) == (77, 77)


@pytest.mark.parametrize("alpha", [0, 1e-3])
def test_asymmetric_maps_call_nothing_safe_that_is_not(alpha):
    counts = np.random.default_rng(1).integers(0, 12, epidemic.PLACES)
    setting = Setting(alpha=alpha)
    drawn = maps.drawn("policy", setting, counts)
    right, safe, wrong = maps.tally(drawn, setting, counts)
    assert wrong == 0
    expected = sum(1 - math.exp(-(6 - m)) for m in counts if m <= 5)
    assert abs(right - expected) < 5 * math.sqrt(safe) / 2
    assert (drawn == Mark.DANGEROUS.value).any() == (alpha > 0)
    assert maps.tally(maps.at_face_value(setting, counts), setting, counts)[2] > 0


@pytest.mark.slow
def test_the_epidemic_keeps_its_rules():
    simulated = made_up()
    assert simulated.at.shape == (10_338, 168)
    assert simulated.at.max() < epidemic.PLACES
    for day in range(7):
        part = simulated.at[:, 24 * day : 24 * day + 24]
        visited = [len(set(row) - {-1}) for row in part[:500].tolist()]
        assert max(visited) <= 24
        counts = np.zeros(epidemic.PLACES, dtype=int)
        for row in part.tolist():
            for place in set(row) - {-1}:
                counts[place] += 1
        assert (simulated.day(day) == counts).all()
    assert (simulated.hour(30) == np.bincount(simulated.at[:, 30] + 1, minlength=epidemic.PLACES + 1)[1:]).all()
    assert (epidemic.simulate(weeks()).at == simulated.at).all()


@pytest.mark.slow
def test_no_place_of_fewer_than_three_persons_is_on_any_map():
    numbers = epidemic.places()
    visited = np.flatnonzero(np.bincount(made_up().at[made_up().at >= 0], minlength=epidemic.PLACES))
    boxes = np.flatnonzero(np.isin(numbers, visited))
    assert len(boxes) == len(visited) > 500
    assert weeks().persons[boxes].min() >= 3


@pytest.mark.slow
def test_the_page_says_what_the_program_finds():
    hour = made_up().hour(experiment.MAP_HOUR)
    printed = rows("counts")
    cells = [hour.sum(), *((hour > t).sum() for t in (0, 1, 3, 5, 10))]
    assert printed["an hour: Friday, 6 p.m."] == [f"{n:,}" for n in cells]
    hours = experiment.sizes([made_up().hour(hour) for hour in range(168)])
    assert made(experiment.PAGE, "hours") == experiment.hour_table(hours)
    assert made(experiment.PAGE, "ordinary") == maps.face_value_table(hour)
    for name, t in (("t = 3: asymmetric", 3), ("t = 5: asymmetric", 5)):
        setting = Setting(threshold=t, alpha=0)
        right, safe, wrong = maps.tally(maps.drawn("policy", setting, hour), setting, hour)
        assert rows("figure2")[name][:2] == [f"{right} of {safe}", "0"]
        assert wrong == 0


@pytest.mark.mutants
def test_the_expected_mistakes_of_ordinary_noise():
    hour = made_up().hour(experiment.MAP_HOUR)
    for row, epsilon in (("ε = 0.5", 0.5), ("ε = 1", 1.0), ("ε = 2", 2.0)):
        a = math.exp(-epsilon)
        wrong = sum(a ** (m - 5) / (1 + a) for m in hour.tolist() if m > 5)
        missed = sum(a ** (6 - m) / (1 + a) for m in hour.tolist() if m <= 5)
        ours = sum(a ** (6 - m) for m in hour.tolist() if m <= 5)
        assert rows("ordinary")[row] == [f"{wrong:.1f}", f"{missed:.1f}", "0", f"{ours:.1f}"]


@pytest.mark.slow
def test_the_sparse_vector_of_the_page():
    day = made_up().day(experiment.DAY)
    for name in experiment.SPARSE:
        curve = experiment.sparse_curve(name, Setting(), day)
        assert rows("sparse")[name][1:] == [f"{curve[9]:.3f}", str(int((curve >= 0.5).sum())), f"{curve.sum():.4g}"]
    assert {row[0] for row in rows("sparse").values()} == {"1", "5"}
