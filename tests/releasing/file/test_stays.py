"""Beliefs in words: a matrix from how long states last, and how long they last from a matrix."""

import random
from datetime import timedelta
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from takifugu.core.errors import InputError
from takifugu.model.beliefs.chains.stays import faults, matrix_of
from takifugu.releasing.file.sequences.sections import stays_of

MINUTE = timedelta(minutes=1)
THREE = ("still", "walking", "running")
FOLLOWS = {
    "still": {"walking": 1}, "walking": {"still": "3/4", "running": "1/4"}, "running": {"walking": 0.5, "still": 0.5},
}  # fmt: skip


def spec(states=("still", "walking"), mean_duration=None, next_state=None):
    return states, mean_duration or {}, next_state or {}


def complaints(belief, step=MINUTE):
    return [(".".join(map(str, fault.where)), fault.what) for fault in faults(*belief, step)]


def test_three_states_in_times_and_steps():
    lasting = {"still": "2 h", "walking": "6 min", "running": 4}
    matrix = matrix_of(*spec(THREE, mean_duration=lasting, next_state=FOLLOWS), MINUTE)
    assert matrix[0] == [float(Fraction(119, 120)), float(Fraction(1, 120)), 0]
    assert matrix[1:] == [[1 / 8, 5 / 6, 1 / 24], [0.125, 0.125, 0.75]]


def test_six_states_need_twelve_numbers():
    """`next_state` as proportions: what comes next is in proportion to them among others, whatever was before."""
    states = ("lying", "sitting", "standing", "walking", "cycling", "running")
    often = dict(zip(states, (1, 4, 3, "2", 0.5, 0), strict=True))
    matrix = np.array(matrix_of(*spec(states, mean_duration=dict.fromkeys(states, 10), next_state=often), None))
    assert np.allclose(np.diag(matrix), 0.9)
    assert matrix[0].tolist() == [0.9, 4 / 95, 3 / 95, 2 / 95, 0.5 / 95, 0]
    assert matrix[5].tolist() == [1 / 105, 4 / 105, 3 / 105, 2 / 105, 0.5 / 105, 0.9]
    lasting, often = {"still": 4, "walking": 2}, {"still": 0.9, "walking": 0.1}
    assert matrix_of(*spec(mean_duration=lasting, next_state=often), None) == [[0.75, 0.25], [0.5, 0.5]]


@pytest.mark.parametrize(("following", "where", "words"), [
    ({"still": 1, "walking": 2}, "next_state", "does not say how often 'running' comes"),
    ({"still": 1, "walking": {"still": 1}, "running": 1}, "next_state", "says how often some states come"),
    ({"still": 1, "walking": 0, "running": 0}, "next_state", "leaves a state that nothing follows"),
    ({"still": 1, "walking": -1, "running": 3}, "next_state", "leaves a state that nothing follows"),
    ({"still": 1, "walking": "often", "running": 1}, "next_state.walking", "the proportion"),
    ({"still": 1, "walkin": 1, "running": 1}, "next_state.walkin", "'walkin' is no state"),
])  # fmt: skip
def test_faults_of_proportions(following, where, words):
    (place, what), *_ = complaints(spec(THREE, mean_duration=dict.fromkeys(THREE, 3), next_state=following))
    assert (place, what[: len(words)]) == (where, words)


@pytest.mark.parametrize("text", ["90 s", "90 sec", "90seconds", "1.5 min", " 1.5 minutes ", "3"])
def test_one_stay_in_every_spelling(text):
    matrix = matrix_of(*spec(mean_duration={"still": text, "walking": 1}), timedelta(seconds=30))
    assert matrix == [[float(Fraction(2, 3)), float(Fraction(1, 3))], [1, 0]]


@given(st.lists(st.integers(1, 10**6), min_size=2, max_size=5), st.randoms(use_true_random=False))
def test_stays_are_those_of_the_matrix(stays, coin: random.Random):
    states = tuple(f"s{n}" for n in range(len(stays)))
    follows = {}
    for state in states:
        others = [s for s in states if s != state]
        weights = [coin.randint(1, 9) for _ in others]
        follows[state] = {s: str(Fraction(w, sum(weights))) for s, w in zip(others, weights, strict=True)}
    given_ = dict(zip(states, stays, strict=True))
    matrix = np.array(matrix_of(*spec(states, mean_duration=given_, next_state=follows), None))
    assert np.allclose(matrix.sum(axis=1), 1, atol=1e-12)
    assert np.allclose((1 - np.diag(matrix)) * np.array(stays), 1, rtol=1e-9)


@pytest.mark.parametrize(("keys", "expected"), [
    ({"mean_duration": {"still": 3}}, [("mean_duration", "does not say how long 'walking' lasts")]),
    ({"mean_duration": {"still": 0.5, "walking": 3}}, [("mean_duration.still", "0.5 is shorter than one step")]),
    ({"mean_duration": {"still": "30 s", "walking": "-3"}},
     [("mean_duration.still", "'30 s' is shorter than one step"), ("mean_duration.walking", "'-3' is no duration")]),
    ({"mean_duration": {"still": 3, "walking": 3}, "next_state": {"walking": {"still": 0.5}}},
     [("next_state.walking", "the probabilities of what follows 'walking' sum to 0.5")]),
    ({"mean_duration": {"still": 3, "walking": 3}, "next_state": {"walking": {"walking": 1}}},
     [("next_state.walking.walking", "'walking' is no state that there can be")]),
    ({"mean_duration": {"still": "nan", "walking": 3}}, [("mean_duration.still", "'nan' is no duration")]),
])  # fmt: skip
def test_faults_are_named_all_at_once(keys, expected):
    assert complaints(spec(**keys)) == expected
    with pytest.raises(InputError):
        matrix_of(*spec(**keys), MINUTE)


def test_three_states_require_what_follows():
    """One fault names all states of which it is not said, of many the first ones, and writes their names as keys."""
    (unsaid,) = faults(*spec(THREE, mean_duration=dict.fromkeys(THREE, 3)), MINUTE)
    assert unsaid.where == ("next_state",)
    assert unsaid.what == "does not say what follows 'still', 'walking' and 'running'"
    assert unsaid.fix.startswith("write still = { walking = 0.7, running = 0.3 } under next_state, or ")
    one = {name: FOLLOWS[name] for name in ("still", "running")}
    assert complaints(spec(THREE, mean_duration=dict.fromkeys(THREE, 3), next_state=one)) == [
        ("next_state", "does not say what follows 'walking'")
    ]
    many = tuple(f"in bed {number}" for number in range(33))
    lasts, follows = faults(*spec(many), MINUTE)
    assert (lasts.where, follows.where) == (("mean_duration",), ("next_state",))
    assert lasts.what == "does not say how long 'in bed 0', 'in bed 1', 'in bed 2' and 30 more last"
    assert follows.fix.startswith('write "in bed 0" = { "in bed 1" = 0.7, "in bed 2" = 0.3 } under next_state')


def test_times_require_a_step():
    (where, what), *_ = complaints(spec(mean_duration={"still": "3 min", "walking": 2}), None)
    assert (where, what) == ("mean_duration.still", "'3 min' is a time, and nothing says how long a step is")
    assert complaints(spec(mean_duration={"still": "3 min", "walking": 2}), Fraction(1)) != []


@pytest.mark.parametrize(("matrix", "step", "words"), [
    ([[0.99, 0.01], [0, 1]], MINUTE, "'a' lasts about 100 minutes at a time, 'b' for ever"),
    ([[0, 1], [0.5, 0.5]], timedelta(seconds=30), "'a' lasts about 30 seconds at a time, 'b' about 60 seconds"),
    ([[0.99, 0.01], [0.9, 0.1]], timedelta(days=1),
     "'a' lasts about 14.3 weeks at a time, 'b' about 26.7 hours"),
    ([[0.9, 0.1], [0.25, 0.75]], None, "'a' lasts about 10 steps at a time, 'b' about 4 steps"),
])  # fmt: skip
def test_a_matrix_in_words(matrix, step, words):
    assert stays_of(matrix, ["a", "b"], step).words == f"On average {words}."


def test_many_states_are_not_all_told():
    stays = stays_of(np.eye(20) / 2 + 0.5 / 20, list(range(20)), None)
    assert stays.words.endswith("and 12 more states.")
    assert stays.words.count("steps") == 8
    assert len(stays.lasting) == 20
