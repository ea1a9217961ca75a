"""What windows of a recording lose, asked again and again: what is remembered changes no bit of a loss."""

from itertools import product
from typing import Any

import numpy as np
import pytest

import takifugu as tf
from takifugu.influence.chains import remembered, sides, sweeps
from takifugu.influence.chains.chains import backward_side, chain_loss
from takifugu.influence.profiles.patience import most_steps
from takifugu.influence.profiles.profile import Loss, Profile
from takifugu.influence.stretched import _EveryStep
from takifugu.model.secrets.families import Family

RATES = [0.0, 0.01, 0.2, 0.5, 1.5]


@pytest.fixture(autouse=True)
def _afresh():
    remembered.forget()
    yield
    remembered.forget()


def drawn_chain(random: np.random.Generator, states: int, size: int = 1) -> Any:
    """Return a chain or one by a period, of any, stationary or given start; some never forget a state at once."""
    matrices = random.dirichlet(np.full(states, 0.7), size=(int(random.integers(1, 4)), states)) * 0.9
    matrices[..., 0] += 1 - matrices.sum(axis=2)
    start: Any = ["any", "stationary", random.dirichlet(np.ones(states))][int(random.integers(3))]
    if len(matrices) == 1:
        return tf.MarkovChain(matrices[0], size, start)
    return tf.PeriodicChain(list(matrices), size, initial=start)


def stretches(windows: list[tuple[int, int, float]]) -> tuple[Any, Any]:
    """Return lengths and rates of the stretches of windows (start, length, rate) that may overlap, gaps included."""
    steps = np.zeros(max(start + length for start, length, _ in windows))
    for start, length, rate in windows:
        steps[start : start + length] += rate
    steps = steps[min(start for start, _, _ in windows) :]
    new = np.flatnonzero(np.diff(steps, prepend=steps[0] - 1))
    return np.diff(np.append(new, len(steps))), steps[new]


def by_stretches(chain: Any, lengths: Any, rates: Any, family: Family) -> Loss:
    """Return the loss of a recording's stretches, with all that was asked before remembered."""
    states = len(chain.states)
    profile = Profile(tuple(rate * (1 - np.eye(states)) for rate in rates), lengths, np.arange(len(lengths)))
    return chain_loss(chain, profile, family, most=most_steps(states))


def from_scratch(*question: Any) -> Loss:
    """Return the same loss with nothing remembered."""
    remembered.forget()
    return by_stretches(*question)


@pytest.mark.mutants
@pytest.mark.parametrize("seed", range(15))
def test_windows_in_any_order_lose_what_a_sweep_from_scratch_says(seed: int) -> None:
    """Windows come before, between, behind and over others; some go again, as where a release was only looked at."""
    random = np.random.default_rng(seed)
    states = 2 + seed % 3
    chain = drawn_chain(random, states)
    pairs = [None, ((0, 1),)][int(random.integers(2))]
    windows: list[tuple[int, int, float]] = []
    arguments = []
    for _ in range(12 if states == 2 else 6):
        if len(windows) > 2 and random.random() < 0.2:
            windows.pop(int(random.integers(len(windows))))
        rate = float(random.choice(RATES) * random.choice([1.0, 1.0, 1.37]))
        windows.append((int(random.integers(0, 400)), int(random.integers(1, 90)), rate))
        lengths, rates = stretches(windows)
        size = int(lengths.sum())
        arguments.append((chain.with_length(size), lengths, rates, _EveryStep(range(size), pairs)))
    losses = [by_stretches(*one) for one in arguments]
    assert losses == [from_scratch(*one) for one in arguments]


def test_one_law_of_another_start_is_another_recording() -> None:
    matrix, rates = [[0.9, 0.1], [0.4, 0.6]], np.array([0.5, 0.1])
    arguments = [
        (tf.MarkovChain(matrix, 60, start), np.array([30, 30]), rates, _EveryStep(range(60), pairs))
        for start, pairs in product(("any", "stationary", [0.5, 0.5], [0.01, 0.99]), (None, ((0, 1),)))
    ]
    losses = [by_stretches(*each) for each in arguments]
    assert losses == [from_scratch(*each) for each in arguments]


def profile(random: np.random.Generator, states: int, windows: int) -> Profile:
    """Return windows in a row, some of them gaps, with rates that come again and others that do not."""
    rates = random.choice([0.0, 0.01, 0.2, 0.5, 1.5], size=windows) * random.choice([1.0, 1.0, 1.37], size=windows)
    lengths = random.integers(1, 60, size=windows)
    return Profile(tuple(rate * (1 - np.eye(states)) for rate in rates), lengths, np.arange(windows))


def of_first(whole: Profile, windows: int) -> Profile:
    return Profile(whole.tables, whole.lengths[:windows], whole.table_of[:windows])


@pytest.mark.mutants
@pytest.mark.parametrize("seed", range(16))
def test_losses_are_those_of_a_sweep_that_remembers_nothing(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Window after window, as a ledger meets them; in any order, too."""
    random = np.random.default_rng(seed)
    states = 2 + seed % 3
    whole = profile(random, states, 9)
    belief = drawn_chain(random, states, whole.size)
    counts = [*range(1, 10), *random.permutation(9).tolist()]
    losses = []
    for count in counts:
        some = of_first(whole, max(count, 1))
        losses.append(chain_loss(belief.with_length(some.size), some, Family(range(some.size))))
    monkeypatch.setattr(sweeps, "remembered", lambda _: None)
    for count, loss in zip(counts, losses, strict=True):
        some = of_first(whole, max(count, 1))
        assert chain_loss(belief.with_length(some.size), some, Family(range(some.size))) == loss


@pytest.mark.mutants
def test_a_window_more_follows_few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """All others are remembered, however many: their messages are what they were."""
    followed = counted(monkeypatch)
    random = np.random.default_rng(1)
    tables = tuple(rate * (1 - np.eye(3)) for rate in random.uniform(0.01, 0.1, size=101))
    whole = Profile(tables, np.full(101, 168), np.arange(101))
    belief = tf.MarkovChain([[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.1, 0.3, 0.6]], whole.size)
    for windows, most in ((100, 250), (101, 12)):
        followed.clear()
        chain_loss(belief.with_length(168 * windows), of_first(whole, windows), Family(range(168 * windows)))
        assert len(followed) <= most


def test_no_more_messages_are_remembered_than_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered, "MOST", 2**20)
    zero = remembered.Memory(np.zeros((2, 2)))
    for number in range(200):
        made = remembered.Run(np.zeros((300, 2, 2)), np.zeros((1, 2, 2)), zero)
        remembered.remember(number, made)
        assert remembered.remembered(number) is made
    assert remembered._bytes[0] == sum(run.size for run in remembered._RUNS.values()) <= 2**20
    assert 199 in remembered._RUNS
    assert 0 not in remembered._RUNS
    large = remembered.Run(np.zeros((10**4, 2, 2)), np.zeros((0, 2, 2)), zero)
    remembered.remember("large", large)
    assert remembered.remembered("large") is None


def test_what_enters_a_run_is_named_by_all_of_it() -> None:
    """Positions, losses, profiles, and the last one with any: another of any of them is another run."""
    zero, some, more = np.zeros((2, 2)), np.full((2, 2), 0.5), np.full((2, 2), np.nextafter(0.5, 1))
    made = remembered.Memory(zero, {3: some, 4: some}, {3: some, 4: zero}, 3)
    same = remembered.Memory(zero, {3: some.copy(), 4: some.copy()}, {3: some.copy(), 4: zero.copy()}, 3)
    others = [
        remembered.Memory(zero, {3: some, 4: more}, {3: some, 4: zero}, 3),
        remembered.Memory(zero, {3: some, 4: some}, {3: more, 4: zero}, 3),
        remembered.Memory(zero, {3: some, 4: some}, {3: some, 4: some}, 3),
        remembered.Memory(zero, {2: some, 4: some}, {2: some, 4: zero}, 3),
        remembered.Memory(zero, {3: some}, {3: some}, 3),
        remembered.Memory(zero, {3: some, 4: some}, {3: some, 4: zero}, 4),
    ]
    assert len({one.key for one in (made, *others)}) == 1 + len(others)
    assert made.key == same.key
    laws = [(some,), (more,), (None,), (some, some), (some.ravel(),), (some.astype(np.float32),), (some, None), ()]
    assert len({remembered.law_of(*arrays) for arrays in laws}) == len(laws)


@pytest.mark.mutants
@pytest.mark.parametrize("states", [2, 3])
def test_runs_that_differ_in_one_thing_are_not_taken_for_each_other(states: int) -> None:
    """The one before, its last step alone, the length, the rate, the phase, the law: each is followed for itself."""
    apart = 1 - np.eye(states)
    matrices = [stay * np.eye(states) + (1 - stay) / (states - 1) * apart for stay in (0.6, 0.75, 0.9)]

    def losses(shift: int, last: float, length: int, rate: float, stay: float) -> float:
        steps = [*matrices[:2], stay * np.eye(states) + (1 - stay) / (states - 1) * apart]
        tables = tuple(size * apart for size in (0.2, last, rate, 0.3))
        whole = Profile(tables, np.array([30 + shift, 1, length, 20]), np.arange(4))
        belief = tf.PeriodicChain(steps, whole.size, initial="stationary")
        return chain_loss(belief, whole, Family(range(whole.size))).epsilon

    usual = (0, 0.4, 25, 0.1, 0.9)
    cases = [usual, (1, *usual[1:]), (2, *usual[1:]), (0, 0.5, 25, 0.1, 0.9), (0, 0.4, 26, 0.1, 0.9)]
    cases += [(0, 0.4, 25, 0.11, 0.9), (0, 0.4, 25, 0.1, 0.8)]
    together = [losses(*one) for one in cases]  # type: ignore[arg-type]
    for one, loss in zip(cases, together, strict=True):
        remembered.forget()
        assert losses(*one) == loss  # type: ignore[arg-type]
    assert len({*together}) == len(cases)


@pytest.mark.parametrize("states", [2, 3])
@pytest.mark.parametrize("start", ["stationary", "any", "given"])
def test_a_run_is_free_only_where_its_phase_and_what_enters_it_decide_it(states: int, start: str) -> None:
    """Wherever it is said to be, it is bit by bit what it is far later, with a gap behind it or none."""
    apart = 1 - np.eye(states)
    matrices = [stay * np.eye(states) + (1 - stay) * np.roll(np.eye(states), 1, axis=1) for stay in (0.5, 0.7)]
    matrices = [0.7 * matrix + 0.3 * np.linspace(0.5, 1.5, states) / states for matrix in matrices]
    law: Any = [0.9, *[0.1 / (states - 1)] * (states - 1)] if start == "given" else start
    side = backward_side(tf.PeriodicChain(matrices, 999, initial=law))
    jumps, free = (2, 3) if states == 3 else (), 0
    for position in (2, 3, *range(side.settled_from - 1, side.settled_from + 12, 2)):
        for back in (1, 5):
            memory = remembered.Memory(np.zeros((states, states)))
            for behind in range(max(0, position - 7), position):
                table = 0.3 * apart if behind <= position - back else 0.0 * apart
                memory.keep(behind, 0.1 * apart, table, 4)
            if memory.last_moving < 0 or not sweeps.is_free(side, position, memory, jumps):
                continue
            free += 1
            runs = []
            for moved in (0, 500):
                held = memory.since(-moved)
                first = position + moved
                (track,) = sweeps._followed(side, 0.2 * apart[None], first, first + 12, [held], jumps, 10**4)
                runs.append([track.at(p).tobytes() for p in range(first, first + 12)])
            assert runs[0] == runs[1]
    assert free > 3


def test_no_run_is_free_where_no_law_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sides, "MOST_UNSETTLED", 100)
    side, apart = backward_side(tf.MarkovChain(np.eye(2), 999, [0.5, 0.5])), 1 - np.eye(2)
    assert side.law is None
    assert not sweeps.is_free(side, 900, remembered.Memory(apart, {899: apart}, {899: apart}, 899), ())


def test_runs_of_other_lengths_are_not_taken_for_each_other() -> None:
    """The same message enters two runs, of which one begins earlier by as much as it ends later."""
    losses = []
    for lengths in ([60, 30, 20], [70, 10, 20], [60, 30, 20]):
        whole = Profile(tuple(rate * (1 - np.eye(2)) for rate in (0.2, 0.01, 0.5)), np.array(lengths), np.arange(3))
        belief = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], whole.size)
        losses.append(chain_loss(belief, whole, Family(range(whole.size))))
        if lengths[0] == 70:
            remembered.forget()
            assert chain_loss(belief, whole, Family(range(whole.size))) == losses[-1]
    assert losses[0] == losses[2] != losses[1]


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that grows by one for each run that is followed."""
    followed: list[int] = []
    before = sweeps._followed

    def counting(*given: Any) -> Any:
        followed.append(1)
        return before(*given)

    monkeypatch.setattr(sweeps, "_followed", counting)
    return followed


@pytest.mark.mutants
@pytest.mark.parametrize("seed", range(16))
def test_a_run_that_settled_is_that_of_any_length(seed: int) -> None:
    """Bit by bit, with the messages that leave it: shorter and longer runs, to the step where it settles, and gaps."""
    random = np.random.default_rng(seed)
    states = 2 + seed % 3
    belief = drawn_chain(random, states)
    first, second = random.uniform(0.05, 0.3, size=2) * random.choice([1.0, 0.0], size=2, p=[0.8, 0.2])
    tables = tuple(rate * (1 - np.eye(states)) for rate in (first, second, 0.1))
    remembered.forget()
    (track, *_) = sweeps.sweep(belief_side(belief), Profile(tables[2:], np.array([900]), np.zeros(1, int)))[-1:]
    near = range(max(2, track.settled - 3), track.settled + 6)
    lengths = [500, 167, 169, 168, *random.permutation(near).tolist(), 900]

    def tracks(length: int) -> list[bytes]:
        runs = []
        for jumps in ((), (2, 4)):
            for side in (belief_side(belief), sides.Forward(belief.step_matrices, 12)):
                for whole in ((length, 40, 30), (20, length, 30)):
                    made = sweeps.sweep(side, Profile(tables, np.array(whole), np.arange(3)), jumps)
                    runs += [track.explicit.tobytes() + track.repeated.tobytes() for track in made]
        return runs

    together = [tracks(length) for length in lengths]
    for length, made in zip(lengths, together, strict=True):
        remembered.forget()
        assert tracks(length) == made


def belief_side(belief: Any) -> Any:
    return backward_side(belief.with_length(2000))


@pytest.mark.mutants
def test_weeks_of_other_lengths_are_followed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    followed = counted(monkeypatch)
    belief = tf.MarkovChain([[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.1, 0.3, 0.6]], 169)
    for length in (168, 167, 169, 8 * 168):
        whole = Profile.of(0.1 * (1 - np.eye(3)), length)
        chain_loss(belief.with_length(length), whole, Family(range(length)))
        assert len(followed) == 4  # two sides: their first step, and all others


@pytest.mark.mutants
def test_runs_after_one_given_start_are_not_those_after_another() -> None:
    """What has not settled depends on the start, which the law of all later steps does not name."""
    beliefs, losses = [], []
    whole = Profile.of(0.1 * (1 - np.eye(3)), 60)
    for start in ([0.98, 0.01, 0.01], [0.01, 0.01, 0.98]):
        belief = tf.MarkovChain([[0.9, 0.06, 0.04], [0.1, 0.85, 0.05], [0.01, 0.02, 0.97]], 60, start)
        beliefs.append(belief)
        losses.append(chain_loss(belief, whole, Family(range(60))))
    for belief, loss in zip(beliefs, losses, strict=True):
        remembered.forget()
        assert chain_loss(belief, whole, Family(range(60))) == loss
    assert losses[0] != losses[1]
