"""Normal records that are rounded, clipped or replaced: promises against sums over the lattice, for few records."""

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, product
from types import SimpleNamespace
from typing import Any

import mpmath
import numpy as np
import pytest

import takifugu as tf
from takifugu.analysis.answer_laws.normal import as_read, certain_move
from takifugu.core.errors import CalibrationRefused, InputError, Unsupported
from takifugu.data.values.bounded import Bounded
from takifugu.mechanisms.common.rounded_number import least_for_read
from takifugu.model.queries.resolving.real_columns import ColumnSums
from takifugu.numbers.after_noise.gaussian import deviation_per_shift, shifted_delta
from takifugu.numbers.normal.comparisons import Shifted
from takifugu.numbers.normal.rounded import Rounded, unevenness
from takifugu.numbers.outward_rounding import exp_up

EXACT = "attribute-gaussian-exact"


def below(z: float) -> float:
    return math.erfc(-z / math.sqrt(2)) / 2


def belief(correlation: str = "1", records: int = 2, **read: Any) -> tf.MultivariateNormal:
    return tf.MultivariateNormal([0, 0], [[1, correlation], [correlation, 1]], ["x", "y"], records, **read)


def calibrated(secret: Any, people: tf.MultivariateNormal, **more: Any) -> Any:
    promise = {"epsilon": 1, "delta": "0.001", "mechanism": EXACT, **more}
    return tf.calibrate(tf.Pufferfish(secret, people), tf.Mean("x"), single_release=True, **promise)


def mean(difference: str) -> Any:
    return tf.dataset_property("y", "mean", max_difference=difference)


def of_two(read: Callable[[float], float], cuts: list[float], middle: float, deviation: float) -> dict[float, float]:
    """The law of the mean of read(middle + d), read(middle - d), d normal; `cuts`: where `read` jumps or bends."""
    places = sorted({place for cut in cuts for place in (cut - middle, middle - cut)})
    masses = dict[float, float]()
    for low, high in zip([-40, *places], [*places, 40], strict=True):
        d = (low + high) / 2
        value = (read(middle + d) + read(middle - d)) / 2
        masses[value] = masses.get(value, 0.0) + below(high / deviation) - below(low / deviation)
    return masses


def divergence(p: dict[float, float], q: dict[float, float], deviation: float, epsilon: float = 1.0) -> float:
    values = [*p, *q]
    line = np.linspace(min(values) - 12 * deviation, max(values) + 12 * deviation, 8001)
    one, other = (
        sum(mass * np.exp(-(((line - value) / deviation) ** 2) / 2) for value, mass in law.items()) for law in (p, q)
    )
    excess = np.maximum(one - math.exp(epsilon) * other, 0).sum() * (line[1] - line[0])
    return float(excess / deviation / math.sqrt(2 * math.pi))


def worse(p: dict[float, float], q: dict[float, float], deviation: float) -> float:
    return max(divergence(p, q, deviation), divergence(q, p, deviation))


def rounded(step: float, end: float = math.inf) -> tuple[Callable[[float], float], list[float]]:
    """How a number is read that is clipped to -end and end, then rounded, and where it jumps."""
    cuts = [(k + 0.5) * step for k in range(-20, 20)]
    return lambda x: math.floor(min(max(x, -end), end) / step + 0.5) * step, cuts


def given_mean(where: float, deviation: float, step: float, end: float = math.inf) -> dict[float, float]:
    """The law of the rounded mean of two records when that of what is hidden is fixed; `deviation` is their own."""
    read, cuts = rounded(step, end)
    across = math.sqrt(1 / 2)
    if not deviation:
        return of_two(read, cuts, where, across)
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    shares = weights / weights.sum()
    together = deviation / math.sqrt(2)
    masses = dict[float, float]()
    for z, weight in zip(nodes.tolist(), shares.tolist(), strict=True):
        for value, mass in of_two(read, cuts, where + together * z, across).items():
            masses[value] = masses.get(value, 0.0) + weight * mass
    return masses


@pytest.mark.sampled(9)
@pytest.mark.parametrize(
    ("correlation", "step", "difference"),
    [("1", "1", "0.1"), ("1", "0.9", "1"), ("1", "0.5", "0.3"), ("0.8", "1", "0.5"), ("0.8", "0.5", "2")],
)
def test_a_rounded_mean_of_two_keeps_its_promise(correlation: str, step: str, difference: str) -> None:
    noise = float(calibrated(mean(difference), belief(correlation, resolution=step)).scale)
    deviation = math.sqrt(1 - float(correlation) ** 2)
    move = float(correlation) * float(difference)
    for place in np.linspace(0, float(step), 9):
        p, q = (given_mean(float(place) + shift, deviation, float(step)) for shift in (0.0, move))
        assert worse(p, q, noise) <= 0.001 * (1 + 1e-6)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("correlation", ["1", "0.8"])
@pytest.mark.parametrize(("step", "end", "difference"), [("1", "1", "0.1"), ("0.5", "0.6", "1"), ("0.9", "0.4", "2")])
def test_a_mean_of_two_that_are_clipped_and_rounded_keeps_its_promise(
    correlation: str, step: str, end: str, difference: str
) -> None:
    """And of two equal numbers both may jump by a step at once: a move by one step less would not do."""
    ends = -Fraction(end), Fraction(end)
    noise = float(calibrated(mean(difference), belief(correlation, resolution=step, ranges={"x": ends})).scale)
    deviation, move = math.sqrt(1 - float(correlation) ** 2), float(correlation) * float(difference)
    for place in np.linspace(-1, 1, 9):
        p, q = (given_mean(float(place) + shift, deviation, float(step), float(end)) for shift in (0.0, move))
        assert worse(p, q, noise) <= 0.001 * (1 + 1e-6)
    credit = deviation**2 / 2  # of the mean of two
    assert noise**2 + credit >= ((move + float(step)) * float(deviation_per_shift(1, Fraction(1, 1000)))) ** 2 * 0.999


def test_one_record_is_rounded_apart_from_the_others() -> None:
    """The value of one of two records, equal to what is hidden, jumps by a whole step."""
    secret = tf.every_entry("y", max_difference="0.1")
    noise = float(calibrated(secret, belief(resolution="1")).scale)
    read, cuts = rounded(1.0)
    other = {read((a + b) / 2): below(b) - below(a) for a, b in pairwise(cuts)}
    for first in (0.45, 0.499, 0.2):
        p, q = ({(read(x) + v) / 2: m for v, m in other.items()} for x in (first, first + 0.1))
        assert worse(p, q, noise) <= 0.001


@pytest.mark.parametrize("count", [2, 3])
def test_rounding_errors_given_the_total_are_nearly_uniform(count: int) -> None:
    """By exact sums over the lattice: the density modulo the step, of all records but one, given the total."""
    step, size = 0.9, count - 1
    covariance = np.eye(size) - np.ones((size, size)) / count
    inverse, height = np.linalg.inv(covariance), 1 / math.sqrt((2 * math.pi) ** size * np.linalg.det(covariance))
    shifts = np.stack(np.meshgrid(*[np.arange(-12, 13) * step] * size), -1).reshape(-1, size)
    error = float(unevenness([Fraction(1)], Fraction("0.9"), count))
    seen = 0.0
    for place in np.stack(np.meshgrid(*[np.linspace(0, step, 7)] * size), -1).reshape(-1, size):
        points = shifts + place
        density = height * np.exp(-np.einsum("ij,jk,ik->i", points, inverse, points) / 2).sum() * step**size
        seen = max(seen, abs(density - 1))
    assert seen <= error
    assert count > 2 or seen > error / 4


@pytest.mark.mutants
@pytest.mark.parametrize("deviation", ["0.6", "1"])
def test_a_clipped_mean_of_two_keeps_its_promise(deviation: str) -> None:
    correlation = str((1 - Fraction(deviation) ** 2) if deviation == "1" else Fraction("0.8"))
    people = belief(correlation, ranges={"x": (-1, 1)})
    move = float(Fraction(correlation))
    noise = float(calibrated(mean("1"), people, allow_zero_noise=not move).scale)
    if not move:
        assert noise == 0
        return
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    pairs = [(y, z, v * w) for y, v in zip(nodes, weights, strict=True) for z, w in zip(nodes, weights, strict=True)]
    total = sum(weight for _, _, weight in pairs)
    for place in (-1.0, -0.5, 0.3):
        p, q = (
            {
                (max(-1, min(1, at + 0.6 * y / math.sqrt(2) + z / math.sqrt(2)))
                 + max(-1, min(1, at + 0.6 * y / math.sqrt(2) - z / math.sqrt(2)))) / 2 + 1e-12 * k: weight / total
                for k, (y, z, weight) in enumerate(pairs)
            }
            for at in (place, place + move)
        )  # fmt: skip
        assert worse(p, q, noise) <= 0.001


def test_no_credit_where_values_are_replaced() -> None:
    """A column that hardly follows what is hidden needs no noise, unless its own randomness may be missing."""
    free, filled = belief("0.1", 400), belief("0.1", 400, replaced=["x"])
    assert calibrated(mean("0.1"), free, allow_zero_noise=True).scale == 0
    noise = float(calibrated(mean("0.1"), filled).scale)
    known = {0.0: 1.0}, {0.01: 1.0}  # all but what moves is known
    assert divergence(*known, noise) <= 0.001 * (1 + 1e-4) < divergence(*known, noise * 0.98)
    assert calibrated(mean("0.1"), belief("0.1", 400, replaced=["y"]), allow_zero_noise=True).scale == 0
    assert tf.MultivariateNormal.from_dict(filled.to_dict()).replaced == ("x",)


def test_sums_of_columns_that_are_clipped_or_replaced_do_not_cancel() -> None:
    for read in ({"replaced": ["x"]}, {"ranges": {"x": (-1, 1)}}):
        people = tf.MultivariateNormal([0] * 3, [[1, 0, ".5"], [0, 1, ".5"], [".5", ".5", 1]], list("xyg"), 9, **read)
        for mechanism, delta in ((EXACT, "0.001"), ("wasserstein", 0)):
            secret = tf.Pufferfish(tf.dataset_property("g", "mean", max_difference=1), people)
            query = tf.Linear([1, -1, 0])
            assert tf.calibrate(secret, query, 1, delta, mechanism=mechanism, single_release=True).scale > 5


def test_a_resolution_above_the_deviation_is_refused() -> None:
    for mechanism in (EXACT, "wasserstein"):
        with pytest.raises(InputError, match=r"resolution is 1.5, and the column 'x' has a standard deviation of 1"):
            calibrated(mean("1"), belief("0.5", resolution="1.5"), mechanism=mechanism)
    people = tf.MultivariateNormal([0, 0], [[1, "0.99"], ["0.99", 1]], ["x", "y"], 9, resolution="0.5")
    calibrated(mean("1"), people)  # each by itself varies enough
    with pytest.raises(InputError, match="given the others"):
        tf.calibrate(tf.Pufferfish(mean("1"), people), tf.Linear([1, 1]), 1, "0.001", mechanism=EXACT)


def test_laplace_noise_for_rounded_records_covers_a_step_of_each() -> None:
    calibration = calibrated(mean("0.1"), belief(resolution="0.5"), mechanism="wasserstein", delta=0)
    assert float(calibration.scale) == pytest.approx(0.6)
    p, q = (given_mean(0.25 - move / 2, 0.0, 0.5) for move in (0.1, -0.1))
    line = np.linspace(-9, 9, 2001)
    one, other = (sum(m * np.exp(-abs(line - v) / 0.6) for v, m in law.items()) for law in (p, q))
    assert np.abs(np.log(one / other)).max() <= 1


@pytest.mark.sampled(2)
@pytest.mark.parametrize("epsilon", ["0.1", "1", "8"])
def test_a_coarse_rounding_is_hidden_by_an_eighth_of_epsilon_and_a_fine_one_by_next_to_nothing(epsilon: str) -> None:
    """More than an eighth is not spent, and no more than it takes."""
    promise, delta = Fraction(epsilon), Fraction(1, 1000)
    blurs = Fraction(10**9), Fraction(1, 10**9)
    coarse, fine = (least_for_read(deviation_per_shift, blur, promise, delta) for blur in blurs)
    of_rounding = delta / 2**20 / (1 + exp_up(promise))
    assert coarse == 10**9 * deviation_per_shift(promise / 8, of_rounding)
    exact = least_for_read(deviation_per_shift, Fraction(0), promise, delta)
    assert exact == deviation_per_shift(promise, delta) < fine < exact * (1 + Fraction(1, 10**4))


@pytest.mark.mutants
@pytest.mark.parametrize("secret", [
    tf.dataset_property("y", "mean", sets=[(None, 0), (0, None)]),
    tf.distribution_parameter("x", values=[1, 2], map="variance"),
])  # fmt: skip
def test_other_laws_than_translates(secret: Any) -> None:
    """Rounded they need a little more noise; clipped or replaced they are refused."""
    exact = calibrated(secret, belief("0.7", 400)).scale
    fine = calibrated(secret, belief("0.7", 400, resolution="0.001")).scale
    assert exact <= fine < exact * 1.2
    for bent in ({"replaced": ["x"]}, {"ranges": {"x": (-1, 1)}}):
        with pytest.raises(CalibrationRefused, match="leave out the range"):
            calibrated(secret, belief("0.7", 400, **bent))


@pytest.mark.mutants
@pytest.mark.parametrize("least", ["0.01", "0.2"])
def test_two_variances_are_rounded_as_the_lesser_allows(least: str) -> None:
    """Of numbers that hardly vary all are rounded alike, and the belief's own variance says nothing of them."""
    secret, query = tf.distribution_parameter("x", values=[least, "0.3"], map="variance"), tf.Sum("x")
    wide = tf.MultivariateNormal(["0.4"], [[1]], ["x"], 9, resolution=1)
    with pytest.raises(CalibrationRefused, match="too coarse for that many records"):
        tf.calibrate(tf.Pufferfish(secret, wide), query, 1, "0.001", mechanism=EXACT, single_release=True)
    scales = set()
    for variance in (1, "0.5"):
        fine = tf.MultivariateNormal(["0.4"], [[variance]], ["x"], 9, resolution="0.05")
        scales.add(tf.calibrate(tf.Pufferfish(secret, fine), query, 1, "0.001", mechanism=EXACT).scale)
    assert len(scales) == 1


def test_a_range_reaches_as_far_as_its_rounded_ends() -> None:
    people = belief("0.5", ranges={"x": ("1.4", "10.6")}, resolution="1")
    assert people.read.reaches[0] == Fraction(10)


def test_a_range_reaches_as_far_as_a_file_reads_its_ends() -> None:
    """Half-way between two steps floats decide: 0.575 is 57 steps of 0.01, and 1.225 is 123."""
    people = belief("0.5", ranges={"x": ("0.575", "1.225")}, resolution="0.01")
    low, high = Bounded("x", "0.575", "1.225", "0.01", None).range
    assert (low, high) == (57, 123)
    assert people.read.reaches[0] == (high - low) * Fraction("0.01")


@pytest.mark.sampled(7)
@pytest.mark.parametrize("count", [1, 2, 3, 63, 64, 65, 66, 300])
@pytest.mark.parametrize("pivots", [["0.9"], ["0.7", "1.3"], ["4", "0.8", "1"]])
def test_the_unevenness_is_that_of_all_records_one_after_the_other(pivots: list[str], count: int) -> None:
    """Peeled off, the i-th last record has (1 - 1/i) of its variance: the product of all factors, by mpmath."""
    step = Fraction("0.8")
    with mpmath.workdps(40):
        most = mpmath.mpf(1)
        for pivot in pivots:
            for i in range(2, count + 1):
                ratio = mpmath.mpf(pivot) * (1 - mpmath.mpf(1) / i) / mpmath.mpf("0.64")
                most *= 1 + 2 * mpmath.nsum(lambda k, r=ratio: mpmath.exp(-2 * mpmath.pi**2 * k**2 * r), [1, 8])
        error = unevenness([Fraction(pivot) for pivot in pivots], step, count)
        computed = mpmath.mpf(error.numerator) / error.denominator
        assert most - 1 <= computed <= 2 * (most - 1) ** 2 + (most - 1) * (1.0001 if count <= 66 else 2) + 1e-50


def test_records_that_are_rounded_too_coarsely_are_refused() -> None:
    """Of two, the only one that is peeled off has half the variance: from a total of 1/8 on."""

    def total(variance: float) -> float:
        ripple = math.exp(-(math.pi**2) * variance)
        return 2 * ripple / (1 - ripple)

    fits = next(n for n in range(100, 500) if total(n / 1000) <= 0.125)
    assert unevenness([Fraction(fits, 1000)], Fraction(1), 2) > Fraction(1, 9)
    for coarse in (fits - 1, 0):
        with pytest.raises(Unsupported, match="too coarse"):
            unevenness([Fraction(coarse, 1000)], Fraction(1), 2)


SHIFT, BLUR = Fraction(-3, 4), Fraction(1, 3)


def of(variance: Fraction, error: Fraction, alone: bool, blur: Fraction = BLUR) -> Rounded:
    return Rounded(Shifted((SHIFT,), ((variance,),)), blur, error, alone)


def less_ripple(epsilon: Fraction, error: Fraction) -> Fraction:
    """At most epsilon - log((1 + e)/(1 - e)): what is left of epsilon where densities differ by a factor 1 +- e."""
    return epsilon - Fraction(math.log1p(2 * error / (1 - error)) * (1 + 1e-12))


@pytest.mark.sampled(17)
@pytest.mark.parametrize("error", [Fraction(0), Fraction(1, 10)])
@pytest.mark.parametrize("variance", [Fraction(0), Fraction(1, 2), Fraction(9)])
@pytest.mark.parametrize("alone", [True, False])
def test_a_rounded_answer_costs_at_least_a_move_that_is_longer_by_the_blur(
    alone: bool, variance: Fraction, error: Fraction
) -> None:
    """That is what it costs if all rounding errors push one way; for one number of one column it is all."""
    laws = of(variance, error, alone)
    for added, epsilon in ((Fraction(1, 4), Fraction(1)), (Fraction(5), Fraction(1, 2))):
        least = shifted_delta((abs(SHIFT) + BLUR) ** 2 / (variance + added), less_ripple(epsilon, error))
        delta = laws.delta(added, epsilon)
        assert min(1.0, least * float(1 + error)) <= delta <= 1
        if alone:
            assert delta <= least * (1 + float(error)) * (1 + 10 * float(error) ** 2 * delta**-1) + 1e-14


def divided(variance: Fraction, blur: Fraction, added: Fraction, epsilon: Fraction, shares: list[Fraction]) -> float:
    """The least of all divisions: noise a(1 - n) and a(1 - p) share of epsilon for the laws, the rest for the blur."""
    return min(
        shifted_delta(SHIFT**2 / (variance + added * (1 - n)), epsilon * (1 - p))
        + shifted_delta(blur**2 / (added * n), epsilon * p)
        for p in shares for n in shares
    )  # fmt: skip


@pytest.mark.mutants
@pytest.mark.parametrize(("blur", "variance"), [("0.3", "0.5"), ("0.0001", "0.5"), ("0.0000001", "2"), ("2", "0")])
def test_epsilon_and_noise_are_divided_as_is_best(blur: str, variance: str) -> None:
    shares = [Fraction(1, 2**k) for k in range(1, 13)]
    laws = Rounded(Shifted((SHIFT,), ((Fraction(variance),),)), Fraction(blur), Fraction(0), False)
    for added, epsilon in ((Fraction(2), Fraction(1)), (Fraction(30), Fraction(1, 2))):
        best = divided(Fraction(variance), Fraction(blur), added, epsilon, shares)
        assert min(best, 1) <= laws.delta(added, epsilon) <= min(1, best * (1 + 1e-14))


@pytest.mark.sampled(17)
@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize(("variance", "error"), [("0", "0"), ("0.25", "0"), ("0.25", "0.01"), ("50", "0.001")])
def test_the_least_variance_keeps_its_delta(alone: bool, variance: str, error: str) -> None:
    laws, epsilon, delta = of(Fraction(variance), Fraction(error), alone), Fraction(1), Fraction(1, 1000)
    least = laws.least_variance(epsilon, delta)
    assert least >= 0
    left = less_ripple(epsilon, Fraction(error))
    needed = (abs(SHIFT) + BLUR) * deviation_per_shift(left, delta / (1 + Fraction(error)))
    whole = needed**2 - Fraction(variance)
    assert least >= whole * (1 - Fraction(1, 10**9))
    if alone:
        assert least <= max(Fraction(0), whole) * (1 + Fraction(error)) + Fraction(1, 10**6)
        assert laws.delta(least, epsilon) <= delta * (1 + Fraction(1, 10**9))
    else:
        ripple = Fraction(error)
        rest, part = epsilon - 2 * ripple * (1 + ripple), delta / (1 + ripple)
        best = min(
            max(Fraction(0), SHIFT**2 * deviation_per_shift(rest * (1 - p), part * (1 - p)) ** 2 - Fraction(variance))
            + BLUR**2 * deviation_per_shift(rest * p, part * p) ** 2
            for p in [Fraction(1, 2**k) for k in range(1, 13)]
        )  # fmt: skip
        assert least == pytest.approx(best, rel=1e-9)


def test_where_the_ripple_takes_all_of_epsilon_nothing_is_left() -> None:
    for alone in (True, False):
        laws = of(Fraction(1), Fraction(1, 10), alone)
        epsilon = 2 * Fraction(1, 10) * Fraction(11, 10)
        assert laws.delta(Fraction(100), epsilon) == 1
        assert laws.delta(Fraction(100), epsilon * 2) < 1
        with pytest.raises(Unsupported, match="too coarse"):
            laws.least_variance(epsilon, Fraction(1, 100))
        assert laws.least_variance(epsilon * 2, Fraction(1, 100)) > 0
    assert of(Fraction(1), Fraction(0), False).delta(Fraction(0), Fraction(1)) == 1  # nothing hides the rounding
    assert of(Fraction(1), Fraction(0), True).delta(Fraction(0), Fraction(1)) < 1


COEFFICIENTS = [((1, 0),), ((2, -3),), ((1, 1),), ((1, 0), (0, 2)), ((1, 0), (1, -1)), ((0, 1),)]
WAYS: list[dict[str, Any]] = [
    {}, {"ranges": {"x": (-1, 1)}}, {"replaced": ["x"]}, {"replaced": ["y"]},
    {"ranges": {"y": (-9, 9)}},
]  # fmt: skip


def question(rows: Any, single: bool, **read: Any) -> tuple[Any, ColumnSums]:
    people = tf.MultivariateNormal([0, 0], [[1, "0.5"], ["0.5", 1]], ["x", "y"], 3, **read)
    coefficients = tuple(tuple(map(Fraction, row)) for row in rows)
    labels = tuple(f"c{n}" for n in range(len(rows)))
    return SimpleNamespace(whole=people, single=single, pivots=people.pivots), ColumnSums(
        Fraction(1), labels, ("x", "y"), coefficients, 3, (None, None)
    )


def reader(low: float, high: float, resolution: Fraction | None) -> Callable[[float], float]:
    step = float(resolution or 0)
    return lambda x: (lambda y: round(y / step) * step if step else y)(min(max(x, low), high))


def moved(rows: Any, moves: list[float], records: int, as_read: list[Callable[[float], float]]) -> list[float]:
    """How far each cell moves at most if `records` records share the moves, whatever they are, as they are read."""
    line = np.arange(-16, 17) / 8 + 1 / 64
    shares = [[read(x + move / records) - read(x) for x in line] for read, move in zip(as_read, moves, strict=True)]
    return [records * max(row[0] * one + row[1] * other for one, other in product(*shares)) for row in rows]


def touched(rows: Any, names: Any) -> bool:
    """Return whether some row reads one of these columns."""
    return any(row["xy".index(name)] for row in rows for name in names)


@pytest.mark.parametrize("rows", COEFFICIENTS)
@pytest.mark.parametrize("way", WAYS)
def test_the_answer_moves_no_farther_than_is_certain(rows: Any, way: dict[str, Any]) -> None:
    all_moves = (0.75, 0.5), (0.5, 0.0), (0, 0.25)
    for single, resolution, moves in product((True, False), (None, Fraction(1, 2)), all_moves):
        view, answer = question(rows, single, resolution=resolution, **way)
        ends = [way.get("ranges", {}).get(name, (-99, 99)) for name in ("x", "y")]
        reads = [reader(low, high, resolution) for low, high in ends]
        certain = certain_move(view, answer, tuple(Fraction(move) for move in moves))
        if not way.get("replaced"):
            attained = moved(rows, list(moves), 1 if single else 3, reads)
            assert all(most <= limit + 1e-12 for most, limit in zip(attained, certain, strict=True))
        plain = [abs(sum(c * m for c, m in zip(row, moves, strict=True))) for row in rows]
        bent = [sum(abs(c * m) for c, m in zip(row, moves, strict=True)) for row in rows]
        is_bent = touched(rows, [*way.get("replaced", ()), *way.get("ranges", {})])
        still = not touched(rows, [name for move, name in zip(moves, "xy", strict=True) if move])
        steps = [0 if still or not resolution else (1 if single else 3) * sum(map(abs, row)) / 2 for row in rows]
        assert list(certain) == [a + b for a, b in zip(bent if is_bent else plain, steps, strict=True)]


@pytest.mark.mutants
@pytest.mark.parametrize("rows", COEFFICIENTS)
@pytest.mark.parametrize("way", WAYS)
def test_reading_never_makes_an_answer_cheaper(rows: Any, way: dict[str, Any]) -> None:
    """And where values are replaced, or one record of them bent, nothing but noise hides the move."""
    moves, size = (Fraction(3, 4), Fraction(1, 2)), len(rows)
    exact = Shifted(tuple(abs(r[0] * moves[0] + r[1] * moves[1]) for r in rows), tuple(
        tuple(Fraction(2) if a == b else Fraction(0) for b in range(size)) for a in range(size)
    ))  # fmt: skip
    replaced, clipped = touched(rows, way.get("replaced", ())), touched(rows, way.get("ranges", {}))
    apart = all(sum(map(bool, row)) < 2 for row in rows)
    for single, resolution in product((True, False), (None, Fraction(1, 2))):
        view, answer = question(rows, single, resolution=resolution, **way)
        certain = certain_move(view, answer, moves)
        noise_alone = Shifted(certain, tuple((Fraction(0),) * size for _ in rows))
        read = as_read(view, answer, exact, moves)
        assert read.delta(Fraction(2), Fraction(1)) >= exact.delta(Fraction(2), Fraction(1))
        if replaced or (clipped and (single or not apart)) or (clipped and resolution and size > 1):
            assert read == noise_alone
        elif clipped:
            assert read == (Shifted(certain, exact.covariance) if resolution else exact)
        elif not resolution:
            assert read is exact
        else:
            assert isinstance(read, Rounded)
            widths = [(2 if single else 1) * sum(map(abs, row)) * resolution for row in rows]
            blur = sum(width**2 for width in widths)
            assert blur <= read.blur**2 <= blur * (1 + Fraction(1, 10**9))
            assert read.error == unevenness(view.whole.pivots(answer.read_columns), resolution, 2 if single else 3)
            assert read.alone == (touched(rows, "x") + touched(rows, "y") == 1 and not single and size == 1)
        assert as_read(view, answer, exact, (Fraction(0), Fraction(0))) is exact
        if replaced or clipped:
            with pytest.raises(Unsupported, match="other distributions"):
                as_read(view, answer, exact, None)
