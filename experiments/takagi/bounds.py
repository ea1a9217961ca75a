"""What one-sided answers require of a mechanism, in numbers: the propositions of Takagi21, in their corrected form.

The question q is true of the data X and false of X', k moves away; alpha bounds P(yes | X'), beta is P(yes | X).
Printed directions are wrong in several places (errata E7): k is the distance *from* the data where q is false, and
hypotheses read eps < log(beta / alpha) / k.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from takifugu.core.errors import InputError
from takifugu.mechanisms.one_sided.questions import Question
from takifugu.numbers.rationals import Number, as_delta, as_epsilon, as_fraction


def steps_to_false(question: Question, count: int, able: int | None = None) -> float:
    """Return k(X) for q_<= under {not c}: t + 1 - m, the least number of persons who lose the place on the way to X.

    That is the distance from the nearest data where q is false to X (errata E7). `able` is how many of the other
    persons could have been there as well, given where else they are: one place an hour excludes those who are
    elsewhere. With fewer than t + 1 - m of them nothing leads to X, and k is infinite. Raises InputError unless q is
    true of the count.

    >>> from takifugu.mechanisms.one_sided.questions import at_most
    >>> steps_to_false(at_most(1), 0), steps_to_false(at_most(1), 0, able=1)
    (2, inf)
    """
    if not question.holds(count):
        raise InputError(f"{count} is not {question}", rule="k counts the steps until a yes is false").at("count")
    k = question.distance(count)
    return k if able is None or able >= k or not question.at_most else math.inf


def group_bound(chance: Number, epsilon: Number, delta: Number, steps: int) -> float:
    """Return e^(k eps) P + delta sum_{i<=k} e^((i-1) eps): the most that k records make of P (Takagi21 (6), (8)).

    >>> round(group_bound(0, 1, "0.045015", 3), 4)
    0.5
    """
    rate, start = float(as_epsilon(epsilon)), float(as_fraction(chance, "the probability", "chance"))
    return (start * math.exp(rate * steps) if start else 0.0) + float(as_delta(delta)) * _geometric_sum(rate, steps)


def symmetric_epsilon(alpha: Number, beta: Number, steps: int) -> float:
    """Return log(beta / alpha) / k, which ordinary differential privacy needs (Takagi21 (7)); infinite at alpha = 0.

    >>> round(symmetric_epsilon("1e-4", 0.5, 1), 3)
    8.517
    """
    wrong, right = _chances(alpha, beta)
    if right <= wrong:
        return 0.0
    return _log(right / wrong) / steps if wrong else math.inf


def symmetric_delta(alpha: Number, beta: Number, epsilon: Number, steps: int) -> float:
    """Return the least delta of (eps, delta)-differential privacy: (beta - alpha e^(k eps)) / sum_{i<=k} e^((i-1) eps).

    That is Takagi21 (9), or 0; the printed example of it is wrong (errata X4).

    >>> round(symmetric_delta(0, 0.5, 1, 3), 6)
    0.045015
    """
    wrong, right = _chances(alpha, beta)
    rate = float(as_epsilon(epsilon))
    lost = float(wrong) * math.exp(min(rate * steps, 700.0)) if wrong else 0.0
    return max(0.0, (float(right) - lost) / _geometric_sum(rate, steps))


def one_way_epsilon(alpha: Number, beta: Number, steps: float) -> float:
    """Return log((1 - alpha) / (1 - beta)) / k: a policy needs at least this (Takagi21 Proposition IV.7); 0 if k = inf.

    >>> round(one_way_epsilon(0, 0.5, 2), 6)
    0.346574
    """
    wrong, right = _chances(alpha, beta)
    if right <= wrong or math.isinf(steps):
        return 0.0
    return _log((1 - wrong) / (1 - right)) / steps if right < 1 else math.inf


def enough_epsilon(beta: Number, steps: int, sensitivity: Number = 1) -> float:
    """Return Delta log(1 / (1 - beta)) / k: with this epsilon ALap has beta at alpha = 0 (Takagi21 Corollary V.6).

    The sanitiser is z < t + 1, and k = t + 1 - m. The printed z <= t falls short of it (errata X3): `printed_beta`.

    >>> round(enough_epsilon(0.5, 2), 6)
    0.346574
    """
    return float(as_fraction(sensitivity, "the sensitivity", "sensitivity")) * one_way_epsilon(0, beta, steps)


def printed_beta(threshold: int, count: int, epsilon: Number, sensitivity: Number = 1) -> float:
    """Return 1 - e^(-eps (t - m) / Delta): what real noise finds with the printed z <= t, for comparison (errata X3).

    >>> printed_beta(6, 6, 1), round(printed_beta(6, 5, 1), 6)
    (0.0, 0.632121)
    """
    rate = as_epsilon(epsilon) / as_fraction(sensitivity, "the sensitivity", "sensitivity")
    return -math.expm1(-float(rate * max(0, threshold - count)))


def power(law: Mapping[Any, Number], false: Mapping[Any, Number], alpha: Number) -> Fraction:
    """Return the largest P_X(yes) of any sanitiser with P_X'(yes) <= alpha, coins allowed (Takagi21 Proposition III.1).

    `law` is the distribution of the output at X where the question is true, `false` at X' where it is not. Every
    (q, alpha, beta)-one-sided mechanism has beta at most this for each X', and a set S = {yes} with
    alpha P_X(S) >= beta P_X'(S), which is (5) with errata N4. By Neyman and Pearson: outputs by falling ratio.

    >>> power({"low": "3/4", "high": "1/4"}, {"low": 0, "high": 1}, 0)
    Fraction(3, 4)
    """
    left = as_fraction(alpha, "alpha", "alpha")
    pairs = [(as_fraction(law.get(z, 0), "P"), as_fraction(false.get(z, 0), "P")) for z in {**law, **false}]
    total = sum((p for p, q in pairs if not q), Fraction(0))
    for p, q in sorted(((p, q) for p, q in pairs if q), key=lambda pair: pair[0] / pair[1], reverse=True):
        taken = min(q, left)
        total, left = total + p * taken / q, left - taken
    return total


def noise_loss(changes: Sequence[Number], signs: Sequence[int], scale: Number) -> float:
    """Return the largest log-ratio along a move that changes the counts so, with scale b (Takagi21 V.4, VIII.2).

    `signs` say where each count's noise points: 1 up, -1 down, 0 both ways. The loss is sum |change| / b, and infinite
    if noise points up where a count rises, or down where one falls: the new count could not have given some outputs
    (errata E5). With b = Delta / eps and Delta the largest sum, it is at most eps.

    >>> noise_loss([-1, 0, -1], [1, 1, 1], 2), noise_loss([1], [1], 2)
    (1.0, inf)
    """
    moved = [as_fraction(change, "a change", "changes") for change in changes]
    if any(sign * change > 0 for sign, change in zip(signs, moved, strict=True)):
        return math.inf
    return float(sum(map(abs, moved), Fraction(0)) / as_fraction(scale, "the scale", "scale"))


def truncated_error(count: int, maximum: int, epsilon: Number) -> float:
    """Return E|min(z, n) - m| of AGeo: a (1 - a^(n - m)) / (1 - a), below Corollary V.5's a / (1 - a), a = e^-eps.

    >>> round(truncated_error(0, 10, 1), 9)
    0.581950285
    """
    rate = float(as_epsilon(epsilon))
    return math.exp(-rate) * math.expm1(-rate * (maximum - count)) / math.expm1(-rate)


def tight_matrix(maximum: int, epsilon: Number) -> npt.NDArray[np.float64]:
    """Return the matrix that Lemma VIII.5 determines: rows are true counts, columns outputs, shape (n + 1, n + 1).

    Among mechanisms that never report below the count (an upper triangle) the loss is least where
    M[i, j] = e^-eps M[i + 1, j] for all i < j: whatever is above it may be moved to the diagonal. With the last row
    (0, ..., 0, 1) that leaves one matrix, AGeo's. Without the triangle it is not the best (errata X5).

    >>> tight_matrix(1, 1).round(4).tolist()
    [[0.6321, 0.3679], [0.0, 1.0]]
    """
    factor, matrix = math.exp(-float(as_epsilon(epsilon))), np.zeros((maximum + 1, maximum + 1))
    matrix[maximum, maximum] = 1.0
    for i in range(maximum - 1, -1, -1):
        matrix[i, i + 1 :] = factor * matrix[i + 1, i + 1 :]
        matrix[i, i] = 1 - matrix[i].sum()
    return matrix


def _chances(alpha: Number, beta: Number) -> tuple[Fraction, Fraction]:
    chances = as_fraction(alpha, "alpha", "alpha"), as_fraction(beta, "beta", "beta")
    for value, name in zip(chances, ("alpha", "beta"), strict=True):
        if not 0 <= value <= 1:
            raise InputError(f"{name} is {float(value):g}", rule="a probability is between 0 and 1").at(name)
    return chances


def _log(ratio: Fraction) -> float:
    return math.log(ratio.numerator) - math.log(ratio.denominator)


def _geometric_sum(rate: float, steps: int) -> float:
    """Return sum_{i=1}^{k} e^((i-1) rate)."""
    return math.expm1(min(rate * steps, 700.0)) / math.expm1(rate)
