"""What floating point leaves out of deltas and log-ratios is charged: bounds hold, within a stated factor."""

import math
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest
from mpmath import mp
from tests.support.pair_cases import monotone_by_hand
from tests.support.tuples import tuple_delta

from takifugu.mechanisms.local import measuring, over_classes
from takifugu.mechanisms.local.tupling import Tupling
from takifugu.numbers import Pmf
from takifugu.numbers.after_noise.noised import RelaxedPair
from takifugu.numbers.distributions.channel import Channel
from takifugu.numbers.distributions.positive_part import Enclosure

UNIT = 2.0**-53
#: Of whole and broken budgets, from nothing to where all is charged.
EPSILONS = (F(0), F(1, 3), F(2), F(61, 7), F(25))


def laws(seed: int, outputs: int) -> tuple[list[F], list[F]]:
    """Return two laws that no floats hold."""
    rng = np.random.default_rng(seed)
    one, other = (rng.integers(1, 1000, outputs).tolist() for _ in range(2))
    return [F(n, sum(one)) for n in one], [F(n, sum(other)) for n in other]


def exact_log(numerator: Any, denominator: Any) -> Any:
    ratio = F(numerator) / F(denominator)
    with mp.workdps(60):
        return mp.log(mp.mpf(ratio.numerator) / ratio.denominator)


def by_transform(p: list[F], q: list[F], dummies: int, epsilon: F) -> Any:
    kinds, apart = Tupling(dummies).kinds(p, q)
    return Tupling(dummies).by_transform(kinds, epsilon, apart, 1e-9)


@pytest.mark.sampled(7)
@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
@pytest.mark.parametrize("dummies", [1, 3])
def test_the_transform_encloses_the_sum_over_all_tuples_in_rationals(epsilon: F, dummies: int) -> None:
    for seed in range(4):
        p, q = laws(seed, 5)
        enclosure = by_transform(p, q, dummies, epsilon)
        exact = float(tuple_delta(p, q, [F(1, 5)] * 5, dummies, epsilon))
        assert enclosure.low <= exact <= enclosure.high
        assert enclosure.high - exact <= 1e-8 * exact + 64 * UNIT * (1 + math.exp(epsilon))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
def test_over_a_class_the_ends_are_enclosed_as_laws_are(epsilon: F) -> None:
    for seed in range(4):
        p, q = laws(seed, 5)
        delta = over_classes._among(2, dict(enumerate(p)), dict(enumerate(q)), epsilon)
        exact = float(tuple_delta(p, q, [F(1, 5)] * 5, 2, epsilon))
        assert exact <= delta <= exact * (1 + 1e-5) + 64 * UNIT * (1 + math.exp(epsilon))


@pytest.mark.parametrize("epsilon", [F(1), F(100), F(380), F(699), F(10**400)], ids=["1", "100", "380", "699", "1e400"])
def test_where_floats_do_not_hold_a_delta_it_is_not_computed(epsilon: F) -> None:
    """Squares of e^epsilon, or of a likelihood ratio, were no floats: an OverflowError, or "values must be finite"."""
    p, q = [F(1, 2), F(1, 4), F(1, 4)], [F(0), F(1, 3), F(2, 3)]
    for least in (F(1, 10**100), F(1, 10**290), F(1, 10**400)):
        kinds, apart = Tupling(3, [1 - 3 * least, least, 2 * least]).kinds(p, q)
        assert Tupling(3).by_transform(kinds, epsilon, apart) == Enclosure(0.0, 1.0)
    if epsilon > 1:
        assert over_classes._among(2, dict(enumerate(p)), dict(enumerate(q)), epsilon) == 1.0


def test_log_ratios_are_rounded_up_by_no_more_than_a_few_hundred_units() -> None:
    rng = np.random.default_rng(5)
    for total in (10**3, 10**9, 10**15):
        weights = rng.integers(1, total, (4, 6)).tolist()
        rows = [[F(n, sum(row)) for n in row] for row in weights]
        channel = Channel.of(range(4), range(6), rows)
        computed = measuring.largest_log_ratios(channel)
        for x in range(4):
            for z in range(4):
                if x == z:
                    assert computed[x, z] == 0
                    continue
                ratios = [exact_log(a, b) for a, b in zip(rows[x], rows[z], strict=True)]
                exact = max(map(abs, ratios))
                sizes = 1 + max(abs(exact_log(a, 1)) for row in rows for a in row)
                assert exact <= computed[x, z] <= exact + 100 * UNIT * float(sizes + exact)


def test_a_mean_of_moves_is_rounded_up_by_no_more_than_it_says() -> None:
    """`kantorovich-relaxed`: the log of a run's mean e^{move/scale}, against 60 digits."""
    used = 0.0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        one, other = (rng.integers(1, 10 ** int(rng.integers(1, 9)), 12).tolist() for _ in range(2))
        pair = RelaxedPair.of(Pmf.from_counts(range(12), one), Pmf.from_counts(range(12), other))
        scale = float(rng.uniform(0.05, 5))
        charge = 2.0**-49 * (4 * pair.largest_log + float((pair.moves / scale).max()) + len(pair.moves) + 8)
        exact = exact_mean(one, other, scale)
        computed = pair.loss(scale)
        assert exact <= computed <= exact + 2 * charge
        used = max(used, abs(float(computed - charge - exact)) / charge)
    assert 1 / 500 < used < 1 / 4


def exact_mean(one: list[int], other: list[int], scale: float) -> Any:
    """Return the largest log of a mean of e^{move/scale} over what goes to, or comes from, one value."""
    plan = monotone_by_hand(*({x: F(n, sum(counts)) for x, n in enumerate(counts)} for counts in (one, other)))
    with mp.workdps(60):
        logs = []
        for side in (0, 1):
            for value in range(len(one)):
                run = {pair: mass for pair, mass in plan.items() if pair[side] == value and mass}
                total = sum(run.values(), F(0))
                mean = mp.mpf(0)
                for (a, b), mass in run.items():
                    share = mass / total
                    mean += mp.mpf(share.numerator) / share.denominator * mp.exp(mp.mpf(abs(a - b)) / mp.mpf(scale))
                logs.append(mp.log(mean))
        return max(logs)
