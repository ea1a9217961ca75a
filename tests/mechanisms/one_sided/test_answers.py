"""One-sided answers: alpha and beta against laws summed term by term, sanitisers against other cutoffs, thresholds."""

import math
from fractions import Fraction as F
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp
from scipy.integrate import quad

from takifugu.core.errors import InputError
from takifugu.mechanisms.one_sided.answers import Sanitiser, sanitiser
from takifugu.mechanisms.one_sided.marks import marks, sparse_marks
from takifugu.mechanisms.one_sided.questions import at_least, at_most, fewer_than
from takifugu.mechanisms.one_sided.sparse import Answers, Marks, SparseAnswers
from takifugu.mechanisms.one_sided.tails import CountNoise, Pointing, count_noise
from takifugu.numbers.noise import InsecureSeededEntropyForTests

UP, DOWN, BOTH = Pointing.UP, Pointing.DOWN, Pointing.BOTH
epsilons = st.fractions(F(1, 20), 4, max_denominator=20)
sensitivities = st.integers(1, 5)
pointings = st.sampled_from(list(Pointing))
alphas = st.one_of(st.just(F(0)), st.fractions(F(1, 10**6), F(3, 10), max_denominator=10**6))
REACH = 4000


def mass(noise: CountNoise, j: int) -> float:
    """P(N = j) as the docstring of tails says."""
    a = math.exp(-1 / noise.scale)
    if noise.pointing is BOTH:
        return (1 - a) / (1 + a) * a ** abs(j)
    j = j * int(noise.pointing)
    return (1 - a) * a**j if j >= 0 else 0.0


def drawn(noise: CountNoise):
    """Return the values that the noise can have, within reach."""
    return np.arange(0 if noise.pointing is UP else -REACH, 1 if noise.pointing is DOWN else REACH)


def density(noise: CountNoise, x: float) -> float:
    b = float(noise.scale)
    if noise.pointing is BOTH:
        return math.exp(-abs(x) / b) / (2 * b)
    x = x * int(noise.pointing)
    return math.exp(-x / b) / b if x >= 0 else 0.0


def summed(noise: CountNoise, chosen) -> float:
    return math.fsum(mass(noise, j) for j in range(-REACH, REACH) if chosen(j))


@pytest.mark.sampled(23)
@pytest.mark.parametrize("pointing", Pointing)
@pytest.mark.parametrize("epsilon", ["0.1", 1, 3])
@pytest.mark.parametrize("x", [F(-3), F(-1), F(-1, 2), F(0), F(1, 3), F(1), F(4)])
def test_tails_are_sums_of_masses_and_integrals_of_densities(pointing, epsilon, x):
    noise = count_noise(epsilon, 1, pointing)
    for bracket, want in (
        (noise.at_least(x), summed(noise, lambda j: j >= x)),
        (noise.at_most(x), summed(noise, lambda j: j <= x)),
        (noise.below(x), summed(noise, lambda j: j < x)),
    ):
        assert bracket[0] <= bracket[1] < bracket[0] + F(1, 10**30)
        assert float(bracket[0]) == pytest.approx(want, abs=1e-13)
    real = count_noise(epsilon, 1, pointing, whole=False)
    far = 60 * float(real.scale)
    low, high = max(float(x), -far), far
    want = quad(lambda y: density(real, y), low, high, points=[p for p in (0.0,) if low < p < high], limit=200)[0]
    assert float(real.at_least(x)[0]) == pytest.approx(want, abs=1e-9)
    assert real.at_least(x)[1] + real.below(x)[0] == 1


@pytest.mark.parametrize("pointing", Pointing)
@pytest.mark.parametrize("epsilon", [F(1, 3), F(1, 30), F(3, 70), 2])
def test_tails_are_exact_to_the_last_digit(pointing, epsilon):
    noise = count_noise(epsilon, 2, pointing)
    dangerous = sanitiser(at_least(6), noise, "0.01")
    assert dangerous.alpha == noise.at_least(dangerous.cutoff - 4)[1]
    with mp.workdps(60):
        a = mp.exp(-mp.mpf(1) * noise.scale.denominator / noise.scale.numerator)
        for k in range(1, 40):
            want = a**k / (1 + a) if pointing is BOTH else a**k if pointing is UP else mp.mpf(0)
            low, high = noise.at_least(k)
            assert mp.mpf(low.numerator) / low.denominator <= want <= mp.mpf(high.numerator) / high.denominator


@pytest.mark.parametrize(("pointing", "whole"), [(p, w) for p in Pointing for w in (True, False)])
@pytest.mark.parametrize("epsilon", ["0.3", 1, 800])
def test_the_mean_error(pointing, whole, epsilon):
    noise = count_noise(epsilon, 1, pointing, whole)
    if whole:
        want = math.fsum(abs(j) * mass(noise, j) for j in range(-REACH, REACH))
    else:
        far = 60 * float(noise.scale)
        want = quad(lambda x: abs(x) * density(noise, x), -far, far, points=[0.0], limit=200)[0]
    assert noise.mean_error() == pytest.approx(want, rel=1e-8, abs=1e-300)


@given(epsilons, sensitivities, pointings, st.booleans(), st.integers(0, 8), alphas, st.integers(0, 14))
def test_a_false_yes_is_at_most_alpha_a_yes_most_often_and_beta_what_the_marks_say(
    epsilon, sensitivity, pointing, most, threshold, alpha, count
):
    noise = count_noise(epsilon, sensitivity, pointing)
    question = at_most(threshold) if most else at_least(threshold + 1)
    made, outputs = sanitiser(question, noise, alpha), drawn(noise)

    def yes(count):
        return math.fsum(mass(noise, int(j)) for j in outputs[made.says_yes(outputs + count)])

    if question.holds(count):
        assert made.beta(count) == pytest.approx(yes(count), abs=1e-12)
    else:
        with pytest.raises(InputError, match="beta is"):
            made.beta(count)
    assert made.alpha <= alpha
    if made.cutoff is None:
        assert alpha == 0
        assert pointing is not (UP if most else DOWN)
        return
    assert made.cutoff.denominator == 1
    wrong = yes(question.worst)
    assert wrong <= float(alpha) + 1e-12
    # one more output that says yes would be too many, unless it has no mass
    edge = made.cutoff
    assert (pointing is UP and edge < 0) or not made.says_yes(np.array([int(edge)]))[0]
    more = wrong + mass(noise, int(edge) - question.worst)
    assert more > float(alpha) - 1e-12 or alpha == 0


@given(epsilons, sensitivities, st.integers(0, 9))
def test_one_sided_noise_never_says_a_false_yes_and_finds_every_safe_count(epsilon, sensitivity, threshold):
    for whole in (True, False):
        made = sanitiser(at_most(threshold), count_noise(epsilon, sensitivity, UP, whole))
        assert made.alpha == 0
        assert made.cutoff == threshold + 1
        for m in range(threshold + 1):
            want = -math.expm1(-float(epsilon) * (threshold + 1 - m) / sensitivity)
            assert made.beta(m) == pytest.approx(want, rel=1e-12)
        outputs = np.arange(threshold + 1, threshold + 50)
        assert not made.says_yes(outputs).any()
        assert not made.says_yes(outputs.astype(float)).any()
    turned = sanitiser(at_least(threshold + 1), count_noise(epsilon, sensitivity, DOWN))
    assert turned.alpha == 0
    assert turned.beta(threshold + 1) == pytest.approx(-math.expm1(-float(epsilon) / sensitivity), rel=1e-12)


@given(epsilons, st.fractions(F(1, 10**6), F(2, 5), max_denominator=10**6))
def test_real_two_sided_noise_has_the_margin_of_its_quantile(epsilon, alpha):
    made = sanitiser(at_most(5), count_noise(epsilon, 1, BOTH, whole=False), alpha)
    assert made.alpha <= alpha
    assert float(made.alpha) == pytest.approx(float(alpha), rel=1e-7)
    assert float(6 - made.cutoff) == pytest.approx(math.log(1 / (2 * alpha)) / float(epsilon), abs=1e-7)


def test_a_threshold_between_integers_counts_as_the_next_one():
    assert [at_most(t).threshold for t in (3, 3.7, "7/2", 0.5, 0)] == [3, 3, 3, 0, 0]
    assert [fewer_than(t).threshold for t in (1, 2, 2.5, "5/2")] == [0, 1, 2, 2]
    assert [at_least(t).threshold for t in (1, 1.5, 2)] == [1, 2, 2]
    for count in range(6):
        assert fewer_than(2.5).holds(count) == (count < 2.5)
        assert at_most(2.5).holds(count) == (count <= 2.5)
        assert at_least(2.5).holds(count) == (count >= 2.5)


MARK = partial(sanitiser, at_most(5), count_noise(1))
BAD_THRESHOLDS = [-1, -0.5, math.nan, math.inf, "five", None, True]


@pytest.mark.parametrize(("ask", "number", "words"), [
    *((ask, number, "threshold") for ask in (at_most, fewer_than, at_least) for number in BAD_THRESHOLDS),
    (at_least, 0, "every count is at least 0"),
    (fewer_than, 0, "no count is fewer than 0"),
    *((sanitiser(at_most(5), count_noise(1, 1, pointing)).says_yes, ["4"], "noisy counts") for pointing in (UP, DOWN)),
    (sanitiser(at_most(5), count_noise(1)).says_yes, [4 + 0j], "noisy counts"),
    *((MARK, alpha, "alpha") for alpha in (-0.1, 1, 1.5, math.nan, "1e-31")),
    *((partial(count_noise, 1), sensitivity, "sensitivity") for sensitivity in (0, -1, math.nan)),
])  # fmt: skip
def test_bad_numbers_and_questions_without_a_doubt_are_refused(ask, number, words):
    with pytest.raises(InputError, match=words):
        ask(number)


def test_three_marks_by_integers_floats_and_fractions():
    safe, dangerous = sanitiser(at_most(5), count_noise(1)), sanitiser(at_least(6), count_noise(1), "0.01")
    edge = int(dangerous.cutoff)
    values = [5, 6, edge, edge + 1]
    want = ["safe", "obscure", "obscure", "dangerous"]
    for kind in (np.int64, np.uint64, np.float64, object):
        assert marks(np.array(values, dtype=kind), safe, dangerous).tolist() == want
    assert marks(np.array([F(59, 10), F(6)]), safe).tolist() == ["safe", "obscure"]
    assert marks(np.array([math.nan, math.inf, 2.0**80]), safe).tolist() == ["obscure"] * 3
    assert marks([[1, 9]], sanitiser(at_most(5), count_noise(1, 1, BOTH))).tolist() == [["obscure", "obscure"]]


@given(st.fractions(F(1, 3), 9, max_denominator=10**6), st.booleans())
def test_floats_of_any_size_are_compared_with_the_rational(cutoff, most):
    made = Sanitiser(at_most(5) if most else at_least(5), count_noise(1, 1, BOTH, whole=False), cutoff)
    for kind in (np.float32, np.float64):
        near = kind(float(cutoff))
        for value in (near, np.nextafter(near, kind(-1)), np.nextafter(near, kind(99))):
            inside = F(float(value)) < cutoff if most else F(float(value)) > cutoff
            assert bool(made.says_yes(np.array([value]))[0]) == inside
    counts = [math.floor(cutoff) - 1, math.floor(cutoff), math.ceil(cutoff), math.ceil(cutoff) + 1]
    expected = [count < cutoff if most else count > cutoff for count in counts]
    assert made.says_yes(counts).tolist() == made.says_yes(np.array(counts, dtype=object)).tolist() == expected


def test_marks_that_contradict_each_other_are_refused():
    noise = count_noise("0.1", 1, BOTH)
    with pytest.raises(InputError, match="at once"):
        marks([5, -99], sanitiser(at_most(5), noise, "0.7"), sanitiser(at_least(6), noise, "0.7"))


@pytest.mark.parametrize("question", [at_most(5), at_least(5)])
def test_the_distance_is_how_many_records_change_until_it_is_false(question):
    for count in range(9):
        false = [abs(other - count) for other in range(20) if not question.holds(other)]
        assert max(question.distance(count), 0) == min(false)


def test_what_is_found_is_the_mean_over_the_safe_places():
    made = sanitiser(at_most(2), count_noise(1))
    counts = [0, 0, 1, 2, 3, 9]
    assert made.recall(counts) == pytest.approx(np.mean([made.beta(m) for m in counts if m <= 2]))
    assert math.isnan(made.recall([3, 4]))
    assert sanitiser(at_most(2), count_noise(1, 1, BOTH)).recall(counts) == 0


def test_a_reader_is_told_what_is_missed():
    assert sanitiser(at_most(1), count_noise(1, 1, BOTH)).describe([0]) == ['"at most 1" is never said']
    lines = sanitiser(at_most(1), count_noise(1, 1, BOTH), "0.01").describe([0])
    assert lines[0].startswith('"at most 1" is wrong with probability at most ')
    assert sanitiser(at_most(1), count_noise(1, 1, BOTH), "0.01").alpha <= F(lines[0].split()[-1])


def test_a_place_that_was_not_answered_is_never_safe():
    answers = Answers(np.array([Marks.SAFE, Marks.VALUE, Marks.VALUE, Marks.NOT_ANSWERED]), np.array([-1, 6, 40, -1]))
    dangerous = sanitiser(at_least(6), count_noise(1), "0.001")
    assert sparse_marks(answers).tolist() == ["safe", "obscure", "obscure", "obscure"]
    assert sparse_marks(answers, dangerous).tolist() == ["safe", "obscure", "dangerous", "obscure"]
    with pytest.raises(InputError, match="below 0"):  # -1 stands for no value, and is below every threshold
        marks(answers.values, sanitiser(at_most(5), count_noise(1)))


@pytest.mark.parametrize("limit", [1, 3, None])
def test_drawn_answers_are_marked_rightly(limit):
    counts = np.random.default_rng(5).integers(0, 12, 2000)
    known = SparseAnswers(1, limit, sensitivity=None if limit else 24)
    answers = known.answer(counts, 5, InsecureSeededEntropyForTests(5))
    drawn_marks = sparse_marks(answers, sanitiser(at_least(6), count_noise(1), "0.01"))
    assert (counts[drawn_marks == "safe"] <= 5).all()
    assert (drawn_marks == "safe").sum() == answers.safe.sum()
    assert limit or answers.safe.any()
    assert np.count_nonzero(drawn_marks == "dangerous") <= answers.used
