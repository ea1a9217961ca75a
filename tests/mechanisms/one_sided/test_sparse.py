"""The one-sided sparse vector: its law by enumeration of every step, its loss, sessions, draws."""

import math
from collections import Counter
from fractions import Fraction as F
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import asymmetric as oracle
from tests.support.goodness_of_fit import fits

from takifugu.core.errors import DataError, InputError
from takifugu.mechanisms.one_sided.sparse import SAFE, SparseAnswers
from takifugu.model.policies.sensitivity import Change, Monotone, Sensitivity
from takifugu.numbers.noise import InsecureSeededEntropyForTests

HALF = F(1, 2)  # e^-epsilon: epsilon is log 2
EPSILON = F(math.log(2))


def adaptive(seed: int, most: int = 3) -> oracle.Rule:
    """A threshold that depends on every answer before, in an order that no two pasts share."""
    return lambda past: (seed + sum((3 + place) * (5 if answer is None else 7 if answer == SAFE else answer)
                                    for place, answer in enumerate(past))) % (most + 1)  # fmt: skip


@st.composite
def streams(draw: st.DrawFn) -> tuple[list[int], tuple[int, ...], oracle.Rule, int | None]:
    """Counts, counts after an allowed move (any number of them fall), an adaptive rule, and a limit or none."""
    size = draw(st.integers(1, 6))
    counts = draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))
    falling = draw(st.lists(st.booleans(), min_size=size, max_size=size))
    after = tuple(count - (count > 0 and fall) for count, fall in zip(counts, falling, strict=True))
    return counts, after, adaptive(draw(st.integers(0, 50))), draw(st.sampled_from([None, 1, 2, 3]))


@pytest.mark.mutants
@given(streams())
@settings(max_examples=120, deadline=None)
def test_adaptive_streams_of_up_to_six_lose_at_most_epsilon_times_the_smaller_of_c_and_m(stream: Any) -> None:
    counts, after, rule, limit = stream
    cap = 5 if len(counts) > 4 else 7
    laws = [oracle.sparse(world, rule, limit, HALF, cap) for world in (counts, after)]
    moved = sum(a != b for a, b in zip(counts, after, strict=True))
    assert sum(laws[0].values()) == sum(laws[1].values()) == 1
    assert oracle.steps(laws[0], laws[1], HALF) <= min(moved, moved if limit is None else limit)


@given(streams())
@settings(max_examples=40, deadline=None)
def test_the_law_is_that_of_the_steps(stream: Any) -> None:
    counts, _, rule, limit = stream
    cap = 6
    mechanism = SparseAnswers(EPSILON, limit, None if limit else 6)
    true = oracle.sparse(counts, rule, limit, HALF, cap)
    below = {answers: mass for answers, mass in true.items() if cap not in answers}

    def log_probability(answers: Any) -> float:
        thresholds = [rule(answers[:place]) for place in range(len(answers))]
        return mechanism.log_probability(counts, answers, thresholds)

    for answers, mass in below.items():
        assert math.exp(log_probability(answers)) == pytest.approx(float(mass), rel=1e-12)
    for answers, place, mark in product(list(below)[:50], range(len(counts)), (SAFE, None, 0, cap - 1)):
        other = (*answers[:place], mark, *answers[place + 1 :])
        assert (log_probability(other) > -math.inf) == (other in true)


def test_a_query_that_can_rise_is_not_free() -> None:
    """Under the OR of two policies one move takes (0, 1) to (1, 0): "safe" at the first tells them apart (E6)."""
    laws = [oracle.sparse(world, lambda past: 0, 1, HALF, 4) for world in ((0, 1), (1, 0))]
    assert oracle.steps(laws[0], laws[1], HALF) == math.inf
    rising = Sensitivity((Change(Monotone.NONE, F(1)),) * 2, F(2))
    with pytest.raises(InputError, match="can rise"):
        SparseAnswers.of(rising, 1, limit=1)
    for change in (Change(Monotone.INCREASING, F(1)), Change(Monotone.DECREASING, F(2))):
        with pytest.raises(InputError, match="can rise, or fall by more than 1"):
            SparseAnswers.of(Sensitivity((change,), F(2)), 1, limit=1)
    still = Sensitivity((Change(Monotone.CONSTANT, F(0)), Change(Monotone.DECREASING, F(1))), F(1))
    assert SparseAnswers.of(still, 1).epsilon_total == 1


def law(counts: Any, rule: oracle.Rule, limit: int | None, epsilon: float = 1) -> dict[Any, float]:
    true = oracle.sparse(counts, rule, limit, F(math.exp(-epsilon)), 20)
    return {answers: float(mass) for answers, mass in true.items() if 20 not in answers}


def check_fit(seen: Counter[Any], law: Any, draws: int) -> None:
    assert fits(seen, law, draws, least=8)
    assert sum(seen.values()) - sum(seen[answers] for answers in law) < draws / 50


@pytest.mark.parametrize("limit", [1, 2, 5, 9])
@pytest.mark.parametrize("seed", range(3))
def test_there_are_as_many_noisy_values_as_the_limit_says(limit: int, seed: int) -> None:
    """Whatever the noise is: it only adds, so that counts above the threshold stay there."""
    mechanism, over = SparseAnswers(1, limit), np.array([4, 0, 9, 4, 4, 7, 4, 4, 4, 4, 4, 4])
    marks = mechanism.answer(over, 3, InsecureSeededEntropyForTests(seed)).listed()
    values = [place for place, mark in enumerate(marks) if isinstance(mark, int)]
    assert len(values) == limit
    assert all(mark is None for mark in marks[values[-1] + 1 :])
    assert None not in marks[: values[-1]]
    session = mechanism.session(InsecureSeededEntropyForTests(seed))
    answers = [session.ask(4, 3, place) for place in range(limit + 3)]
    assert [isinstance(mark, int) for mark in answers] == [True] * limit + [False] * 3
    assert answers[limit:] == [None] * 3
    used = [mechanism.answer_one(4, 3, n, InsecureSeededEntropyForTests(seed)) is None for n in range(limit + 2)]
    assert used == [False] * limit + [True] * 2


@pytest.mark.mutants
@pytest.mark.parametrize("limit", [None, 1, 2])
def test_draws_follow_the_law(limit: int | None) -> None:
    counts, thresholds, draws = (0, 2, 1), [1, 2, 0], 8000
    mechanism = SparseAnswers(1, limit, 3)
    entropy, seen = InsecureSeededEntropyForTests(1), Counter[Any]()
    for _ in range(draws):
        seen[mechanism.answer(counts, thresholds, entropy).listed()] += 1
    check_fit(seen, law(counts, lambda past: thresholds[len(past)], limit), draws)
    with pytest.raises(AssertionError):
        check_fit(seen, law(counts, lambda past: thresholds[len(past)], limit, 1.1), draws)


@pytest.mark.mutants
def test_a_session_has_the_law_of_the_same_stream() -> None:
    counts, rule, draws = (1, 0, 2), adaptive(1, 2), 3000
    mechanism, entropy, seen = SparseAnswers(1, limit=2), InsecureSeededEntropyForTests(2), Counter[Any]()
    for _ in range(draws):
        asking, past = mechanism.session(entropy), []
        for count in counts:
            past.append(asking.ask(count, rule(tuple(past))))
        seen[tuple(past)] += 1
    check_fit(seen, law(counts, rule, 2), draws)


def test_a_session_goes_on_where_it_stopped() -> None:
    mechanism, entropy = SparseAnswers(1000, limit=2), InsecureSeededEntropyForTests(2)
    first = mechanism.session(entropy)
    assert [first.ask(5, 2), first.ask(1, 2)] == [5, SAFE]
    again = mechanism.session(entropy, used=first.used)
    assert [again.ask(6, 2), again.ask(0, 2), again.ask(9, 2)] == [6, None, None]
    for used in (-1, 0.5, True):
        with pytest.raises(InputError, match="number of noisy values"):
            mechanism.answer_one(1, 1, used)  # type: ignore[arg-type]


def test_a_session_that_rests_on_how_many_places_one_person_changes_asks_each_once() -> None:
    """One place asked twice falls by 2 along one move: the loss is 2 epsilon, and m = 1 would claim epsilon."""
    laws = [oracle.sparse((one, one), lambda past: 0, None, HALF, 5) for one in (2, 1)]
    assert oracle.steps(laws[0], laws[1], HALF) == 2
    asking = SparseAnswers(1, sensitivity=1).session(InsecureSeededEntropyForTests(1))
    asking.ask(1, 3, "bar")
    for place in ("bar", None):
        with pytest.raises(InputError, match=r"asked about twice|names no place"):
            asking.ask(1, 3, place)
    again = SparseAnswers(1, limit=3, sensitivity=1).session(questions=asking.questions)
    with pytest.raises(InputError, match="asked about twice"):
        again.ask(1, 3, "bar")
    free = SparseAnswers(1, limit=1, sensitivity=4).session(InsecureSeededEntropyForTests(1))
    for _ in range(3):
        free.ask(1, 3)


def test_many_places_at_once() -> None:
    rng = np.random.default_rng(1)
    counts, thresholds = rng.integers(0, 8, 200_000), rng.integers(0, 8, 200_000)
    answers = SparseAnswers(1, sensitivity=1).answer(counts, thresholds, InsecureSeededEntropyForTests(4))
    assert (counts[answers.safe] <= thresholds[answers.safe]).all()
    assert (answers.values[~answers.safe] >= np.maximum(counts, thresholds + 1)[~answers.safe]).all()
    assert (answers.values[answers.safe] == -1).all()
    room = np.maximum(thresholds + 1 - counts, 0)
    safe, expected = int(answers.safe.sum()), float((1 - np.exp(-room)).sum())
    assert abs(safe - expected) < 5 * math.sqrt(len(counts)) / 2
    assert answers.used == len(counts) - safe


def test_numbers_beyond_64_bits() -> None:
    huge = np.array([2**70, 3], dtype=object)
    answers = SparseAnswers(1000, limit=2).answer(huge, np.array([2**71, 2], dtype=object))
    assert answers.listed() == (SAFE, 3)
    assert SparseAnswers(1000, limit=2).answer([2**63 - 1], 5).listed()[0] == 2**63 - 1


@pytest.mark.parametrize("limit", [None, 2])
def test_what_it_costs(limit: int | None) -> None:
    assert SparseAnswers("0.1", limit, 24).epsilon_total == F(1, 10) * (24 if limit is None else 2)
    assert SparseAnswers("0.1", limit=30, sensitivity=24).epsilon_total == F(24, 10)


@pytest.mark.parametrize("make", [
    lambda: SparseAnswers(1), lambda: SparseAnswers(0, limit=1), lambda: SparseAnswers(float("nan"), limit=1),
    lambda: SparseAnswers(1, limit=0), lambda: SparseAnswers(1, limit=1.5), lambda: SparseAnswers(1, limit=True),
    lambda: SparseAnswers(1, sensitivity=0), lambda: SparseAnswers(1, sensitivity=-1),
])  # fmt: skip
def test_parameters(make: Any) -> None:
    with pytest.raises(InputError):
        make()


@pytest.mark.parametrize(("counts", "threshold", "words"), [
    *(([1, 2, 3], wrong, "threshold") for wrong in (-1, 2.5, float("nan"), "3", [1, -1, 2], [1, 2], None, F(5, 2))),
    ([], 1, "no place"),
])  # fmt: skip
def test_thresholds_are_whole_numbers_from_0_on_and_there_is_a_place(counts: Any, threshold: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        SparseAnswers(1, limit=1).answer(counts, threshold)


@pytest.mark.parametrize("counts", [[-1, 77777], [0.5, 77777], [float("nan")], ["a"], [[77777]], 77777, [None, 77777]])
def test_counts_are_whole_numbers_from_0_on_and_never_told(counts: Any) -> None:
    with pytest.raises(DataError, match="whole number") as refusal:
        SparseAnswers(1, limit=1).answer(counts, 1)
    assert "77777" not in str(refusal.value)


@pytest.mark.parametrize(("scale", "at_most", "alpha"), [(2, 5, 1e-3), (1, 0, 1e-2), (5, 3, 0.2)])
def test_a_number_that_means_more_than_the_threshold_is_wrong_at_most_in_a_share_alpha(
    scale: int, at_most: int, alpha: float
) -> None:
    """As docs/asymmetric.md says: from the threshold and ceil(scale log 1/alpha) on; one less would be too few."""
    least = at_most + math.ceil(scale * math.log(1 / alpha))
    mechanism = SparseAnswers(F(1, scale), sensitivity=1)
    for count in range(at_most + 1):
        numbers = {n: math.exp(mechanism.log_probability([count], [n], [at_most])) for n in range(at_most + 1, 401)}
        wrong = math.fsum(p for number, p in numbers.items() if number >= least)
        assert wrong <= alpha
    one_less = math.fsum(p for number, p in numbers.items() if number >= least - 1)
    assert one_less > alpha
