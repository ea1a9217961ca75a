"""Profiles: runs of entries, their sums entry by entry, what is no profile, and those of normal noise."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_ndtr, ndtr
from tests.support.normal_oracles import shifted_delta

from takifugu.core.errors import InputError
from takifugu.influence.profiles.normal import (
    MARGIN,
    NormalRelease,
    as_normal,
    covering_multiple,
    least_losses,
    log_share,
    normal_profile,
)
from takifugu.influence.profiles.profile import Profile
from takifugu.model.queries.answer import Additive

TENTHS = st.integers(0, 40).map(lambda tenths: tenths / 10)


@st.composite
def profiles(draw, size=None):
    """Runs over tables of three values each, closed already: c of each pair of the line 0, a, a + b."""
    tables = []
    for a, b in draw(st.lists(st.tuples(TENTHS, TENTHS), min_size=1, max_size=3)):
        places = np.array([0.0, a, a + b])
        tables.append(np.abs(places[:, None] - places))
    number = draw(st.integers(1, 9)) if size is None else size
    cuts = sorted(draw(st.sets(st.integers(1, number - 1), max_size=4))) if number > 1 else []
    lengths = np.diff([0, *cuts, number])
    table_of = draw(st.lists(st.integers(0, len(tables) - 1), min_size=len(lengths), max_size=len(lengths)))
    return Profile(tuple(tables), lengths, np.array(table_of))


@given(st.integers(1, 12).flatmap(lambda size: st.tuples(profiles(size), profiles(size))))
@settings(max_examples=30)
def test_a_sum_is_that_of_each_entry_rounded_up(pair):
    first, second = pair
    total = first + second
    assert total.size == first.size == int(first.ends[-1])
    for entry in range(first.size):
        listed = [np.repeat(np.arange(len(one.lengths)), one.lengths)[entry] for one in pair]
        a, b = (one.tables[one.table_of[run]] for one, run in zip(pair, listed, strict=True))
        assert (first.at(entry) == a).all()
        assert first.largest(entry) == a.max()
        for u, v in np.ndindex(3, 3):
            exact = Fraction(float(a[u, v])) + Fraction(float(b[u, v]))
            assert exact <= Fraction(float(total.at(entry)[u, v])) <= exact * (1 + Fraction(1, 2**51))


def test_a_change_by_way_of_a_third_value_is_a_change():
    assert Profile.of([[0, 5, 1], [5, 0, 1], [1, 1, 0]], 2).at(1)[0, 1] == pytest.approx(2)


GOOD = np.array([[0.0, 1.0], [1.0, 0.0]])


@pytest.mark.parametrize(("table", "words"), [
    (np.zeros((2, 3)), "shape"), (np.zeros(2), "shape"), (np.zeros((2, 2, 2)), "shape"),
    ([[0.0, -1e-9], [-1e-9, 0.0]], "no table of losses"), ([[0.0, np.nan], [np.nan, 0.0]], "no table of losses"),
    ([[0.0, np.inf], [np.inf, 0.0]], "no table of losses"), ([[0.0, 1.0], [1.0, 1e-9]], "no table of losses"),
    ([[0.0, 1.0], [2.0, 0.0]], "not symmetric"),
])  # fmt: skip
def test_what_is_no_profile_is_refused(table, words):
    with pytest.raises(InputError, match=words):
        Profile((GOOD, np.array(table)), np.array([1, 1]), np.array([0, 1]))


@pytest.mark.parametrize(("lengths", "table_of"), [([1, 0], [0, 0]), ([1, 2], [0]), ([-1], [0])])
def test_runs_that_do_not_fit_are_refused(lengths, table_of):
    with pytest.raises(InputError, match="do not fit"):
        Profile((GOOD,), np.array(lengths), np.array(table_of))


def test_profiles_of_different_sizes_do_not_add_up():
    with pytest.raises(InputError, match="do not add up"):
        Profile.of(GOOD, 3) + Profile.of(GOOD, 4)
    assert Profile.by_entry([np.zeros((1, 1)), GOOD]).largest(0) == 0


MOVES = [1e-300, 1e-70, 1e-20, 1e-7, 9e-7, 1.1e-6, 1e-3, 0.1, 0.7, 3.0, 40.0]
SHARES = [-5000.0, -14.0, -1.5, -0.1, 6.0]


@pytest.fixture(autouse=True)
def many_digits():
    with mpmath.workdps(120):
        yield


def keeps(move, loss, log_kappa):
    """Whether delta(c) <= kappa (e^c - 1) for kappa a little higher: `log_share` lowers it by the margin."""
    allowed = mpmath.exp(mpmath.mpf(log_kappa) + MARGIN) * mpmath.expm1(mpmath.mpf(loss))
    return shifted_delta(move, mpmath.mpf(loss)) <= allowed


@pytest.mark.sampled(3)
@pytest.mark.parametrize("log_kappa", SHARES)
def test_the_least_loss_keeps_its_inequality_and_a_smaller_one_does_not(log_kappa):
    limit = float(np.logaddexp(0, -log_kappa))  # from here on any delta up to 1 is kept
    losses = least_losses(np.array(MOVES), log_kappa)
    for move, loss in zip(MOVES, losses.tolist(), strict=True):
        assert loss <= limit
        assert loss >= limit or keeps(move, loss, log_kappa)
        less = loss * (1 - 2e-6)
        assert less <= 0 or not keeps(move, less, log_kappa)


@pytest.mark.parametrize("log_kappa", SHARES)
def test_the_largest_loss_is_that_of_a_delta_of_one_and_nothing_moved_loses_nothing(log_kappa):
    limit = mpmath.log1p(mpmath.exp(-mpmath.mpf(log_kappa) - MARGIN))
    (most,) = least_losses(np.array([1e6]), log_kappa).tolist()
    assert limit <= mpmath.mpf(most) <= limit * (1 + mpmath.mpf(10) ** -8)
    assert least_losses(np.zeros(3), log_kappa).tolist() == [0.0] * 3


@pytest.mark.sampled(9)
@pytest.mark.parametrize("log_kappa", SHARES)
def test_least_losses_rise_with_the_move_and_with_a_smaller_share(log_kappa):
    moves = np.array(MOVES)
    losses = least_losses(moves, log_kappa)
    assert (least_losses(1.5 * moves, log_kappa) >= losses * (1 - 1e-8)).all()
    assert (least_losses(moves, log_kappa - 1) >= losses * (1 - 1e-8)).all()


def test_the_least_loss_solves_its_equation():
    move, share = 0.7, math.log(1e-3)
    loss = float(least_losses(np.array([move]), share)[0])
    delta = ndtr(move / 2 - loss / move) - math.exp(loss + float(log_ndtr(-move / 2 - loss / move)))
    assert delta == pytest.approx(1e-3 * math.expm1(loss), rel=1e-8)


@pytest.mark.parametrize("epsilon", ["1e-9", "0.01", "1", "3", "40", "900"])
@pytest.mark.parametrize("delta", ["1e-30", "1e-6", "0.3"])
def test_the_share_of_delta_is_rounded_down_by_the_margin(epsilon, delta):
    budget, part = Fraction(epsilon), Fraction(delta)
    assert log_share(Fraction(0), part) == math.inf
    true = mpmath.log(mpmath.mpf(part.numerator) / part.denominator)
    true -= mpmath.log(mpmath.expm1(mpmath.mpf(budget.numerator) / budget.denominator))
    share = mpmath.mpf(log_share(budget, part))
    assert true - MARGIN * 1.001 <= share <= true - MARGIN * 0.999


FIRST = (np.array([[0, 0], [1, 0], [3, -2]]), np.array([[5, 5], [5, 9]]))
SECOND = (np.array([[0], [1], [1]]), np.array([[1], [0]]), np.array([[7]]))


def answer(tables, weights, table_of):
    cells = tables[0].shape[1]
    labels = tuple(f"c{n}" for n in range(cells))
    return Additive(Fraction(1), labels, tables, np.array(weights), np.array(table_of))


def releases():
    """Two of them; the second does not read the last entry but one, which has one row in its table."""
    first = answer(FIRST, [1, -2, 3, 3, 1], [0, 1, 0, 0, 0])
    second = answer(SECOND, [4, 4, 1, 2, 4], [0, 1, 0, 2, 0])
    return NormalRelease(first, Fraction(13, 3)), NormalRelease(second, Fraction(7, 10))


def square(release, entry, pair):
    """|w(u) - w(v)|^2 / sigma^2 of an entry, exactly; 0 where one row stands for all values."""
    share = release.answer.contribution(entry).tolist()
    if len(share) == 1:
        return Fraction(0)
    u, v = pair
    return sum(Fraction(a - b) ** 2 for a, b in zip(share[u], share[v], strict=True)) / release.sigma**2


def pairs_of(entry):
    values = 2 if entry == 1 else 3
    return [(u, v) for u in range(values) for v in range(values) if u != v]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("log_kappa", [-14.0, -2.0])
def test_the_profile_of_releases_is_that_of_the_root_of_all_squares(log_kappa):
    profile = normal_profile(releases(), log_kappa)
    assert profile.size == 5
    for entry in range(5):
        for pair in pairs_of(entry):
            squared = sum((square(one, entry, pair) for one in releases()), Fraction(0))
            loss = float(profile.at(entry)[pair])
            move = mpmath.sqrt(mpmath.mpf(squared.numerator) / squared.denominator)
            if not squared:
                assert loss == 0
                continue
            assert keeps(float(move * (1 - mpmath.mpf(2) ** -60)), loss, log_kappa)
            (least,) = least_losses(np.array([float(move)]), log_kappa).tolist()
            assert loss == pytest.approx(least, rel=1e-8)
            assert mpmath.mpf(least) <= mpmath.mpf(loss) * (1 + mpmath.mpf(10) ** -11)


def test_a_multiple_covers_each_move_of_each_entry():
    first, second = releases()
    for mine, other in (((first,), second), ((second, first), first), ((first, second), second)):
        ratios = []
        for entry in range(5):
            for pair in pairs_of(entry):
                base = sum((square(one, entry, pair) for one in mine), Fraction(0))
                moved = square(other, entry, pair)
                ratios.append(math.inf if moved and not base else moved / (base or 1))
        worst, multiple = max(ratios), covering_multiple(mine, other)
        if worst == math.inf:
            assert multiple == math.inf
        else:
            assert worst <= Fraction(multiple) <= worst * (1 + Fraction(1, 10**11))
    assert covering_multiple([second], first) == math.inf


def test_a_multiple_covers_pure_losses():
    first, _ = releases()
    tables = [c * (1 - np.eye(k)) for c, k in ((0.3, 3), (0.1, 2))]
    pure = Profile(tuple(tables), np.array([1, 1, 3]), np.array([0, 1, 0]))
    worst = max(
        mpmath.mpf(float(as_normal(pure.at(entry))[pair])) / mpmath.mpf(squared.numerator) * squared.denominator
        for entry in range(5) for pair in pairs_of(entry) if (squared := square(first, entry, pair))
    )  # fmt: skip
    multiple = mpmath.mpf(covering_multiple([first], pure))
    assert worst <= multiple <= worst * (1 + mpmath.mpf(10) ** -11)
    unread = answer(SECOND, [4, 4, 1, 2, 4], [0, 1, 0, 2, 0])
    assert covering_multiple([NormalRelease(unread, Fraction(1))], pure) == math.inf


def test_normal_noise_that_tells_as_much_as_a_loss_is_never_less():
    """erf(mu/sqrt(8)) = tanh(c/2), and mu^2 <= 8c: the smaller one of both up to 10, the second beyond."""
    losses = np.array([0.0, 1e-12, 1e-3, 0.2, 1.0, 5.0, 9.5, 9.999, 10.0, 10.001, 12.0, 800.0])
    for loss, squared in zip(losses.tolist(), as_normal(losses).tolist(), strict=True):
        wanted = mpmath.tanh(mpmath.mpf(loss) / 2)
        assert mpmath.erf(mpmath.sqrt(mpmath.mpf(squared) / 8)) >= wanted
        assert squared <= 8 * loss
        if loss > 10:
            assert squared == 8 * loss
        elif loss:
            assert mpmath.erf(mpmath.sqrt(mpmath.mpf(squared) * (1 - 1e-7) / 8)) < wanted
    assert as_normal(np.array([[0.0, 0.5], [0.5, 0.0]])).shape == (2, 2)
