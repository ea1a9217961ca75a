"""What one step does, in many digits: laws by Fractions, the rounding of products covered, bounds never below."""

import math
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
from tests.support.chain_oracles import as_mpf
from tests.support.sweep_oracles import DIGITS, backwards, by_tanh, product_of, supremum

import takifugu as tf
from takifugu.core.errors import Unsupported
from takifugu.influence.chains import kernels, remembered, sides, two_states
from takifugu.influence.chains.any_start import BackwardFromAnyStart
from takifugu.influence.chains.chains import backward_side, sides_of
from takifugu.influence.chains.kernels import contracted, reversed_kernel, spread
from takifugu.influence.chains.sides import Forward
from takifugu.influence.chains.sweeps import sweep
from takifugu.influence.profiles.profile import Profile
from takifugu.numbers.extended.floats import Wide
from takifugu.numbers.outward_rounding import UNIT

UNITS = 2**30  # masses are multiples of 2^-30, so that rows sum to one exactly and products of two are rounded


def rows_of(random, states, sticky=0.0, zeros=False):
    """A stochastic matrix of floats that are exact Fractions, and those."""
    matrix = []
    for row in range(states):
        law = random.dirichlet(np.ones(states)) * (1 - sticky)
        law[row] += sticky
        if zeros:
            law[(row + 1) % states] = 0.0
        counts = [int(share / law.sum() * UNITS) for share in law]
        counts[row] += UNITS - sum(counts)
        matrix.append([Fraction(count, UNITS) for count in counts])
    return np.array([[float(p) for p in row] for row in matrix]), matrix


def chain_of(seed, states, period, sticky=0.0, zeros=False):
    random = np.random.default_rng(seed)
    both = [rows_of(random, states, sticky, zeros) for _ in range(period)]
    return np.array([one for one, _ in both]), [exact for _, exact in both]


class Seen:
    """The rows and the error of the last call of `suprema`, which goes on."""

    def __init__(self, monkeypatch):
        suprema = kernels.suprema

        def watched(rows, ratio, relative_error=0.0, *more, **named):
            self.rows, self.error = rows, relative_error
            return suprema(rows, ratio, relative_error, *more, **named)

        monkeypatch.setattr(sides, "suprema", watched)
        monkeypatch.setattr(kernels, "suprema", watched)
        monkeypatch.setattr(kernels, "MOST_STATES", 0)  # one jump after the other, of the same rows


def assert_covered(seen, exact, ratio, loss):
    """The rows are the exact laws up to the error that is charged, and no pair of them loses more than is said."""
    possible = [s for s, row in enumerate(exact) if row]
    for row, law in zip(seen.rows, exact, strict=True):
        if not law:
            assert any((row == seen.rows[s]).all() for s in possible)
            continue
        for mass, true in zip(row.tolist(), law, strict=True):
            assert abs(Fraction(mass) - true) <= Fraction(seen.error) * true
    for a, b in product(possible, possible):
        if a != b:
            true = supremum(exact[a], exact[b], ratio)
            assert true * (1 - mpmath.mpf(10) ** -40) <= loss[a, b] <= max(true, 0) + 3 * seen.error + 1e-13
    assert not loss.diagonal().any()


RATIO = np.array([[0.0, 1.0, 0.25], [0.5, 0.0, 0.75], [1.5, 0.5, 0.0]])
CASES = [(2, 1, 0.0), (2, 3, 0.5), (3, 1, 0.0), (3, 2, 0.9)]


@pytest.mark.sampled(11)
@pytest.mark.parametrize(("states", "period", "sticky"), CASES)
@pytest.mark.parametrize("zeros", [False, True])
def test_forwards_rows_are_the_laws_of_what_follows(states, period, sticky, zeros, monkeypatch):
    matrices, exact = chain_of(1, states, period, sticky, zeros and states > 2)
    side, seen, ratio = Forward(matrices, 61), Seen(monkeypatch), RATIO[:states, :states]
    for position in (1, 2, 3, 7, 19):
        for distance in (d for d in (1, 2, 3, 7, 19) if d <= position):
            loss = side.step(position, distance, ratio)
            assert_covered(seen, product_of(exact, 60 - position, 60 - position + distance), ratio, loss)
            assert seen.error <= 6 * distance * (states + 2) * UNIT * (distance > 1)


STARTS = ["stationary", "given", "one value", "several that repeat"]


@pytest.mark.sampled(17)
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize(("states", "period", "sticky"), CASES[:3])
def test_backwards_rows_are_the_laws_of_what_went_before(states, period, sticky, start, monkeypatch):
    matrices, exact = chain_of(2, states, period, sticky)
    monkeypatch.setattr(sides, "MOST_UNSETTLED", 500)
    if start == "several that repeat":
        matrices[:], exact = np.eye(states), [[[Fraction(a == b) for b in range(states)] for a in range(states)]]
    law = None if start == "stationary" else [Fraction(n, 8) for n in ([1, 7], [1, 4, 3])[states - 2]]
    law = [Fraction(s == 1) for s in range(states)] if start == "one value" else law
    chain = tf.PeriodicChain(list(matrices), 99, initial="stationary" if law is None else [float(p) for p in law])
    side, seen, ratio = backward_side(chain), Seen(monkeypatch), RATIO[:states, :states]
    limit = side.settled_from if start != "several that repeat" else 12
    for position in (1, 2, 5, 8, *range(max(limit, 9), limit + 5)):
        for distance in (d for d in (1, 2, 3, 7) if d <= position):
            loss = side.step(position, distance, ratio)
            assert_covered(seen, backwards(exact, law, position, distance), ratio, loss)
            assert seen.error < 1e-10 if position >= limit else 1e-12


@pytest.mark.parametrize(("states", "period", "zeros"), [(2, 1, False), (3, 1, True), (3, 2, False), (5, 1, True)])
def test_jumps_at_once_are_those_of_one_after_the_other_bit_by_bit(states, period, zeros, monkeypatch):
    matrices, _ = chain_of(1, states, period, 0.3, zeros)
    for side in (Forward(matrices, 61), backward_side(tf.PeriodicChain(matrices, 61))):
        for size in (0.0, 1e-3, 1.0, 299.0, 400.0):
            ratio = size * np.random.default_rng(2).random((states, states))
            asked = [(position, distance) for position in (19, 20) for distance in (1, *side.jumps)]
            at_once = [side.step(*one, ratio) for one in asked]
            with monkeypatch.context() as patch:
                patch.setattr(kernels, "MOST_STATES", 0)
                in_turn = [side.step(*one, ratio) for one in asked]
            assert [loss.tobytes() for loss in at_once] == [loss.tobytes() for loss in in_turn]


def test_a_start_that_settles_slowly_is_taken_for_settled_only_where_the_error_covers_it(monkeypatch):
    """An eigenvalue of 0.9: what is left at that time is no rounding."""
    matrix, seen = np.array([[0.953125, 0.046875], [0.0625, 0.9375]]), Seen(monkeypatch)
    exact, law = [[[Fraction(p) for p in row] for row in matrix.tolist()]], [Fraction(1, 1024), Fraction(1023, 1024)]
    side = backward_side(tf.MarkovChain(matrix, 10**4, [float(p) for p in law]))
    settled, ratio = side.settled_from, RATIO[:2, :2]
    assert 200 < settled < 375
    for position in (settled - 1, settled, settled + 1, settled + 3):
        for distance in (1, 2, 4):
            loss = side.step(position, distance, ratio)
            assert_covered(seen, backwards(exact, law, position, distance), ratio, loss)
            assert seen.error < (1e-12 if position < settled else 1.2e-11)


def test_a_start_whose_laws_are_rounded_too_often_never_settles(monkeypatch):
    monkeypatch.setattr(sides, "MOST_UNSETTLED", 4000)
    slow = np.array([[0.99, 0.01], [0.01, 0.99]])
    assert backward_side(tf.MarkovChain(slow, 10**4, [1.0, 0.0])).settled_from == 4000
    assert backward_side(tf.MarkovChain(slow, 10**4, [0.5, 0.5])).settled_from < 10


def test_laws_that_floats_cannot_hold_are_reversed_with_exponents_of_their_own():
    """Masses of 2^-1500 and less; the third value is impossible there, and its row is one that is possible."""
    before = [Fraction(1, 2**1500), Fraction(3, 2**1501), Fraction(0)]
    matrix = [[Fraction(1, 4), Fraction(3, 4), Fraction(0)], [Fraction(1, 2), Fraction(1, 2), Fraction(0)],
              [Fraction(0), Fraction(1, 2), Fraction(1, 2)]]  # fmt: skip
    here = [sum(before[u] * matrix[u][s] for u in range(3)) for s in range(3)]
    law = Wide.of([0.5, 0.75, 0.0], np.array([-1499, -1499, 0]))
    rows, possible = reversed_kernel(law, np.array(matrix, dtype=float))
    for s in (0, 1):
        exact = [float(before[u] * matrix[u][s] / here[s]) for u in range(3)]
        assert rows[s] == pytest.approx(exact, rel=1e-15, abs=0)
    assert (rows[2] == rows[0]).all()
    assert possible.tolist() == [[True, True, False]] * 3


def height(columns, a, b):
    """h(a, b) of Fractions [x][a], and infinite where some start tells a and b apart for sure."""
    ratios = [(row[a], row[b]) for row in columns if row[a] or row[b]]
    if a == b or not ratios:
        return mpmath.mpf(0)
    if not all(one and other for one, other in ratios):
        return mpmath.inf
    shares = [one / other for one, other in ratios]
    return mpmath.log(as_mpf(max(shares) / min(shares)))


@pytest.mark.sampled(5)
@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize(("states", "period", "sticky"), CASES)
def test_a_step_back_to_any_start_is_lemma_2(states, period, sticky, zeros):
    matrices, exact = chain_of(3, states, period, sticky, zeros)
    side = BackwardFromAnyStart(matrices, is_anywhere=True)
    assert side.has_zeros == zeros
    for position, distance, size in product(range(4, 4 + period), (1, 2, 4), (1e-9, 0.3, 2.0, 60.0)):
        ratio = size * (1 - np.eye(states)) * np.linspace(0.5, 1, states)
        columns = product_of(exact, position - distance, position)
        loss = side.step(position, distance, ratio)
        for a, b in product(range(states), repeat=2):
            with mpmath.workdps(DIGITS):
                apart = height(columns, a, b)
                true = by_tanh(mpmath.tanh(apart / 4), ratio.max(), 4) if a != b else mpmath.mpf(0)
                assert true * (1 - mpmath.mpf(10) ** -30) <= loss[a, b] <= float(ratio.max())
                assert loss[a, b] <= true + 40 * UNIT * (distance * states + 1 + 2 * ratio.max())


def test_the_contraction_is_never_below_its_formula():
    heights = [1e-9, 1e-3, 0.5, 3.0, 40.0, 900.0, 1401.0, 3000.0, np.inf]
    for size in (1e-9, 1e-3, 0.7, 5.0, 300.0, 1500.0, 4000.0):
        squares = contracted(np.array(heights)[:, None, None] * np.ones((2, 2)), size)
        assert not squares[:, [0, 1], [0, 1]].any()
        values = squares[:, 0, 1]
        for apart, value in zip(heights, values.tolist(), strict=True):
            with mpmath.workdps(1000):
                true = 4 * mpmath.atanh(mpmath.tanh(mpmath.mpf(apart) / 4) * mpmath.tanh(mpmath.mpf(size) / 4))
                true = true if apart < np.inf else mpmath.mpf(size)
                assert true * (1 - mpmath.mpf(10) ** -30) <= value
                assert value <= true + 20 * UNIT * (min(apart, size + 1400) + size + 1)
    assert not contracted(np.full((2, 2), np.inf), 0.0).any()


def test_the_spread_of_columns_is_theirs_where_some_are_impossible():
    columns = np.array([[0.5, 0.0, 0.25, 0.25], [0.25, 0.0, 0.5, 0.25], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    exact = [[Fraction(p) for p in row] for row in columns.T.tolist()]  # [x][a]
    heights = spread(columns)
    for a, b in product(range(4), repeat=2):
        true = height(exact, a, b)
        assert true <= heights[a, b] <= true * (1 + 32 * UNIT) + 1e-300 or (heights[a, b] == true == mpmath.inf)


#: Multiples of 2^-10, so that rows sum to one exactly: forgetful, sticky, alternating, nearly alike, with zeros.
MASSES = [(102, 614), (1, 1023), (1023, 1), (500, 501), (512, 512), (0, 512), (512, 1024), (1024, 700), (0, 1024)]
CHAINS = [((1 - p / 1024, p / 1024), (1 - q / 1024, q / 1024)) for p, q in MASSES]
RATIOS = [0.0, 1e-30, 1e-12, 0.3, 1.0, 7.3, 40.0, 299.0, 800.0]
#: What the oracle itself may round.
ROUNDED = 1 - mpmath.mpf(10) ** -40


def exactly(rows, ratio_up, ratio_down):
    ratio = np.array([[0.0, ratio_down], [ratio_up, 0.0]])
    rows = [[Fraction(p) for p in row] for row in rows]
    return max(supremum(rows[1], rows[0], ratio), 0), max(supremum(rows[0], rows[1], ratio), 0)


@pytest.mark.sampled(9)
@pytest.mark.parametrize("rows", CHAINS)
def test_a_step_is_never_below_the_supremum_and_hardly_above(rows):
    for ratios in product(RATIOS, RATIOS):
        for loss, exact in zip(two_states.step(rows, 0.0, *ratios), exactly(rows, *ratios), strict=True):
            assert exact * ROUNDED <= loss <= max(ratios)
            assert loss <= exact * (1 + 32 * UNIT) or max(ratios) > 700  # its exponential is zero


@pytest.mark.sampled(3)
@pytest.mark.parametrize("rows", [
    *CHAINS[2:4], *CHAINS[5:7], ((0.0, 1.0), (1.0, 0.0)), ((0.5, 0.5), (1e-320, 1.0)), ((1.0, 1e-300), (0.25, 0.75)),
])  # fmt: skip
def test_a_step_is_never_below_the_supremum_where_exponentials_lose_their_digits(rows):
    for wide, other in product((690.0, 708.0, 720.0, 740.0, 744.0, 744.6, 745.0, 760.0, 2000.0), (0.1, 745.0)):
        for ratios in ((wide, other), (other, wide)):
            for loss, exact in zip(two_states.step(rows, 0.0, *ratios), exactly(rows, *ratios), strict=True):
                assert exact * ROUNDED <= loss <= max(ratios)
                assert loss <= exact * (1 + 64 * UNIT) + 32 * UNIT * max(ratios)
            assert two_states.step(rows, 1e-15, *ratios)[0] >= exactly(rows, *ratios)[0]


def test_many_steps_are_never_below_the_supremum_in_any_digit():
    random = np.random.default_rng(1)
    for _ in range(150):
        p, q = random.integers(0, 2**20, 2) / 2**20
        rows, ratios = ((1 - p, p), (1 - q, q)), random.exponential(random.choice([1e-3, 1.0, 10.0]), 2).tolist()
        for loss, exact in zip(two_states.step(rows, 0.0, *ratios), exactly(rows, *ratios), strict=True):
            assert exact * ROUNDED <= loss <= exact * (1 + 32 * UNIT)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("change", [0.01, 0.3])
@pytest.mark.parametrize("leaving", [(0.3, 0.2), (0.0298, 0.0229), (0.004, 0.003)])
def test_what_a_run_settles_at_is_hardly_above_its_limit_where_its_rows_are_rounded(leaving, change):
    rows, ratios = ((1 - leaving[0], leaving[0]), (leaving[1], 1 - leaving[1])), (change, change)
    _, repeated = two_states.run(np.array([rows]), 2e-14, change, ratios, 10**9)
    for _ in range(20_000):
        up, down = two_states.step(rows, 0.0, *ratios)
        ratios = change + up, change + down
    for settled, loss in zip((repeated[0][1, 0], repeated[0][0, 1]), (up, down), strict=True):
        assert loss * (1 - 1e-12) <= settled <= loss * (1 + 2e-10)


@pytest.mark.parametrize("error", [1e-13, 1e-6])
def test_an_error_of_the_rows_is_covered(error):
    """Masses that are smaller and larger by this share move both means by it, one up and one down."""
    for rows, ratios in product(CHAINS[:5], product([0.1, 1.0, 7.3], repeat=2)):
        exact = exactly(rows, *ratios)
        for loss, true in zip(two_states.step(rows, error, *ratios), exact, strict=True):
            with mpmath.workdps(DIGITS):
                worst = min(true + mpmath.log((1 + mpmath.mpf(error)) / (1 - mpmath.mpf(error))), max(ratios))
            assert worst * ROUNDED <= loss <= true + 2.1 * error + 32 * UNIT


def recursion(kernels, change, before, length):
    """R(1, 0), R(0, 1) of each position in many digits, of kernels in turn whose rows sum to one exactly."""
    with mpmath.workdps(40):
        ratios, losses = [mpmath.mpf(r) for r in before], []
        for position in range(length):
            leave, remain = (mpmath.mpf(row[1]) for row in kernels[position % len(kernels)])
            shares = [mpmath.expm1(s) for s in (ratios[0], -ratios[1])]
            high, low = (mpmath.log1p((remain - leave) * share / (1 + leave * share)) for share in shares)
            losses.append((max(high, low, 0), max(-high, -low, 0)))
            ratios = [change + loss for loss in losses[-1]]
        return losses


RUNS = [(0.5, (0.5, 0.5)), (2**-10, (4.0, 0.25)), (0.0, (2.0, 3.0)), (3.0, (3.0, 3.0))]


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("kernels", "run"), [
    *zip([[rows] for rows in CHAINS[:5]], RUNS + RUNS[:1], strict=True), ([CHAINS[0]], RUNS[2]),
    ([CHAINS[2]], RUNS[1]), ([CHAINS[5]], RUNS[0]), ([CHAINS[7]], RUNS[3]),
    ([((0.5, 0.5), (63 / 64, 1 / 64))], RUNS[0]), (CHAINS[:2], RUNS[0]), (CHAINS[1:4], RUNS[1]),
    ([CHAINS[0]] * 20 + [CHAINS[1]] * 3, RUNS[0]), ([CHAINS[5], CHAINS[0]], RUNS[3]), (CHAINS[:3], RUNS[2]),
])  # fmt: skip
def test_a_run_is_never_below_the_recursion_and_ends_with_a_bound_of_all_that_follows(kernels, run):
    change, before = run
    explicit, repeated = two_states.run(np.array(kernels), 0.0, change, before, 300)
    exact = recursion(kernels, change, before, 300)
    assert len(explicit) == 300 or len(repeated) == len(kernels)
    assert explicit.shape[1:] == repeated.shape[1:] == (2, 2)
    for position, pair in enumerate(exact):
        is_explicit = position < len(explicit)
        loss = explicit[position] if is_explicit else repeated[(position - len(explicit)) % len(repeated)]
        assert not loss.diagonal().any()
        for bound, true in zip((loss[1, 0], loss[0, 1]), pair, strict=True):
            assert true * ROUNDED <= bound
            assert bound <= true * (1 + 1e-12) + 1e-30 or not is_explicit


@pytest.mark.parametrize("leaving", [(0.3, 0.2), (0.004, 0.003)])
def test_a_long_run_of_kernels_in_turn_ends_when_it_has_settled(leaving):
    """Longer than runs by formulas, which know one kernel: of slow kernels, too, each step is followed."""
    leave, back = leaving
    slow, kernels = ((1 - leave, leave), (back, 1 - back)), CHAINS[:2]
    for in_turn in (kernels, [slow, slow, kernels[0]]):
        explicit, repeated = two_states.run(np.array(in_turn), 0.0, 0.01, (1.0, 2.0), 10**6)
        assert len(explicit) < 5_000
        assert len(repeated) == len(in_turn)
        ratios = 1.0, 2.0
        for position in range(len(explicit) + 500):
            losses = two_states.step(in_turn[position % len(in_turn)], 0.0, *ratios)
            ratios = tuple(two_states._sum(0.01, loss) for loss in losses)
            late = position - len(explicit)
            bound = explicit[position] if late < 0 else repeated[late % len(repeated)]
            for above, loss in zip((bound[1, 0], bound[0, 1]), losses, strict=True):
                assert loss * ROUNDED <= above <= loss * (1 + 1e-9) + 1e-12


@pytest.mark.sampled(8)
@pytest.mark.parametrize("seed", range(40))
def test_two_states_by_two_numbers_lose_what_they_lose_by_matrices(seed, monkeypatch):
    """Periods, profiles that change within them, and gaps: the general sweep says the same of each position."""
    rng = np.random.default_rng([17, seed])
    period, size = int(rng.integers(1, 6)), int(rng.integers(40, 120))
    leaving = rng.uniform(0.01, 0.6, size=(period, 2))
    matrices = [[[1 - leave, leave], [back, 1 - back]] for leave, back in leaving.tolist()]
    chain = tf.PeriodicChain(matrices, size, start=int(rng.integers(period)))
    lengths = np.diff([0, *sorted(rng.choice(np.arange(1, size), size=3, replace=False).tolist()), size])
    changes = rng.choice([0.0, 0.1, 0.7, 2.0], size=4)
    profile = Profile(tuple(change * (1 - np.eye(2)) for change in changes), lengths, np.arange(4))
    for side in sides_of(chain, size):
        quick = sweep(side, profile)
        remembered.forget()
        with monkeypatch.context() as patch:
            patch.setattr(type(side), "settled_kernels", lambda _: None)
            general = sweep(side, profile)
        remembered.forget()
        for position in range(size):
            one, other = (
                next(track.at(position) for track in tracks if track.start <= position < track.stop)
                for tracks in (quick, general)
            )
            assert np.allclose(one, other, rtol=1e-9, atol=1e-11)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("rows", "change"), [(rows, c) for rows in CHAINS[:5] for c in (2**-10, 0.5, 3.0)])
def test_the_bound_of_a_long_run_is_its_limit(rows, change):
    explicit, repeated = two_states.run(np.array([rows]), 0.0, change, (change, change), 10**9)
    limit = limit_of(rows, change)
    assert len(explicit) < 10**5
    for bound, true in zip((repeated[0][1, 0], repeated[0][0, 1]), limit, strict=True):
        assert true * ROUNDED <= bound <= true * (1 + 1e-11) + 1e-12


def test_a_profile_and_what_lies_behind_it_are_added_outwards():
    """Without that the sum of a change and a loss is below the exact one about every second time."""
    for change, loss in np.random.default_rng(3).random((200, 2)).tolist():
        exact = Fraction(change) + Fraction(loss)
        assert exact <= Fraction(two_states._sum(change, loss)) <= exact * (1 + Fraction(1, 2**51))
        assert two_states._sum(change, 0.0) == two_states._sum(0.0, change) == change


def limit_of(rows, change):
    """Where the losses of a run of ever more equal steps end, in many digits, by Newton's method on a pair of steps."""
    with mpmath.workdps(40):
        start = recursion([rows], change, (change, change), 100)[-1]

        def left(*pair):
            after = recursion([rows], change, [change + loss for loss in pair], 2)[-1]
            return [new - old for new, old in zip(after, pair, strict=True)]

        ends = mpmath.findroot(left, start, tol=1e-38, verify=False)
        assert max(abs(rest) for rest in left(*ends)) < 1e-30
        return list(ends)


def test_what_is_never_forgotten_is_given_up():
    with pytest.raises(Unsupported, match="still rise after 100 steps"):
        two_states.run(np.eye(2)[None], 0.0, 0.5, (0.5, 0.5), 10**6, most=100)
    explicit, repeated = two_states.run(np.eye(2)[None], 0.0, 0.5, (0.5, 0.5), 50)
    assert len(repeated) == 0
    assert (explicit[:, 1, 0] >= 0.5 * np.arange(1, 51)).all()
    assert math.isclose(explicit[-1, 1, 0], 25.0)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("rows", CHAINS[:5])
def test_a_bound_that_is_proved_is_one(rows):
    """From far below what follows none is proved, or one at or above it; a fixed point is one of itself."""
    for change in (1e-3, 0.5, 3.0):
        limit = limit_of(rows, change)
        shares = *((share, share) for share in (0.0, 0.5, 1 - 1e-6, 1 - 1e-12, 1 + 1e-9, 2.0)), (2.0, 0.5), (0.5, 2.0)
        for both, left in product(shares, (0.0, 1e-12, 1e-3)):
            now = tuple(float(loss * share) for loss, share in zip(limit, both, strict=True))
            bounds = two_states._proved_bounds([rows], 0.0, change, now, left)
            if bounds is not None:
                assert all(loss <= above for loss, above in zip(now, bounds[-1], strict=True))
                assert all(true <= above for true, above in zip(limit, bounds[-1], strict=True))


def random_runs(count):
    """Yield kernels that forget slowly, their error, and the losses and lengths of runs over them."""
    rng = np.random.default_rng(1)
    for _ in range(count):
        leave, back = 10 ** rng.uniform(-3.5, -2.2, size=2)
        change = 10 ** rng.uniform(-4, 1)
        before = (change, change) if rng.random() < 0.5 else tuple(10 ** rng.uniform(-2, 1.3, size=2))
        error = float(rng.choice([0.0, 78 * UNIT]))
        yield ((1 - leave, leave), (back, 1 - back)), error, change, before, int(rng.integers(600, 20_000))


@pytest.mark.mutants
def test_runs_at_once_are_those_of_one_step_after_the_other(monkeypatch):
    counted = 0
    for rows, error, change, before, length in random_runs(60):
        fast = two_states.runs_at_once(rows, error, change, before, length)
        if fast is None:
            continue
        counted += 1
        with monkeypatch.context() as patch:
            patch.setattr(two_states, "AT_ONCE", 10**9)
            slow = two_states.run(np.array([rows]), error, change, before, length)
        for position in {0, 1, 7, length // 2, length - 1, len(fast[0]) - 1, len(slow[0]) - 1}:
            one, other = (losses[position] if position < len(losses) else last[0] for losses, last in (fast, slow))
            assert np.abs(one - other).max() <= 5e-10 * (change + max(before) + other.max())
        entering = change + np.concatenate([np.zeros((1, 2, 2)), fast[0][:-1]])
        entering[0, 1, 0], entering[0, 0, 1] = before
        for position in range(0, len(entering), 97):
            step = two_states.step(rows, error, float(entering[position, 1, 0]), float(entering[position, 0, 1]))
            assert step[0] <= fast[0][position, 1, 0]
            assert step[1] <= fast[0][position, 0, 1]
    assert counted > 30


def test_runs_at_once_that_a_step_exceeds_are_not_taken(monkeypatch):
    honest = two_states._Way.losses
    monkeypatch.setattr(two_states._Way, "losses", lambda *given: honest(*given) * (1 - 1e-9))
    assert all(two_states.runs_at_once(*run) is None for run in random_runs(10))
