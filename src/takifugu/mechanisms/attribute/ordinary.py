"""What ordinary differential privacy would do about a property of columns: it hides single records, not the property.

Laplace noise of scale D_1/epsilon, D_1 the largest change of the answer by one record, makes every record of any data
set epsilon-indistinguishable. Somebody who finds two values of a property equally likely, and the belief right, then
guesses the true one with probability (1 + TV)/2, TV the total variation between the noised answers given either value:
no test does better, and the likelihood-ratio test does as well (Zhang22 §1.2 says that such noise does not aim to hide
properties; the number is ours). It is computed for the distributions as they are, with floats.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.special import erfcx, ndtr

from takifugu.analysis.problem import Problem
from takifugu.analysis.questions.answer_law import AnswerFamily, AnswerLaw, answer_law
from takifugu.analysis.questions.normal_law import NormalLaw, normal_law
from takifugu.core.arrays import FloatArray
from takifugu.core.errors import InputError, Unsupported
from takifugu.core.escaping import at_least, at_most, number
from takifugu.model.beliefs import Belief
from takifugu.model.queries import Additive
from takifugu.model.queries.statistic import WholeColumns
from takifugu.model.secrets.hypotheses import against
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.extended.floats import Wide
from takifugu.numbers.extended.laplace_smoothing import decayed
from takifugu.numbers.normal.comparisons import Shifted
from takifugu.numbers.normal.rounded import Rounded

#: Most places of two laws, and most of them times comparisons, for which the total variation is computed.
MOST_PLACES, MOST_TOGETHER = 2**20, 2**22


@dataclass(frozen=True)
class OrdinaryNoise:
    """Noise of `scale` (answer units) that keeps `epsilon` for every record, and who would still guess what."""

    epsilon: Fraction
    scale: float
    total_variation: float
    comparison: str

    @property
    def chance(self) -> float:
        """The probability of the best guess between two equally likely values."""
        return (1 + self.total_variation) / 2

    def describe(self) -> str:
        """Describe the numbers."""
        percent = "above 99.99 %"
        if self.chance < 0.99995:
            percent = f"{at_least(100 * self.chance, digits=4)} %"
        return (
            f"ordinary differential privacy with epsilon {at_most(self.epsilon)} adds Laplace noise of scale "
            f"{number(self.scale)}, which hides single records; somebody who weighs {self.comparison}, equally likely "
            f"before, still guesses right with probability {percent}"
        )


def ordinary_noise(problem: Problem) -> OrdinaryNoise | None:
    """Return the effect of noise for single records, None if unknown.

    The effect is that on the worst comparison. It is unknown for answers of several cells, answers that one record may
    change without bound, and distributions of the answer that are unknown or too wide.
    """
    try:
        change = max(map(record_change, problem.answers))
        return None if problem.cells > 1 or not change else _worst(problem, change)
    except (Unsupported, InputError):
        return None


def record_change(answer: Additive) -> int:
    """Return D_1, the largest move by one record, in grid units.

    >>> from takifugu import JointTable, Records, Sum
    >>> people = Records(JointTable([(0,), (2,), (3,)], [0.5, 0.3, 0.2], names=["age"]), 40)
    >>> record_change(people.resolve(Sum("age")))
    3
    """
    if isinstance(answer, WholeColumns):  # entries are columns, which change in all records at once
        return int(answer.change(range(answer.size))) // int(answer.records)
    return int(answer.entry_changes().max(initial=0))


def total_variation(p: FloatArray, q: FloatArray, decay: Fraction) -> float:
    """Return the total variation of two integer laws after discrete Laplace noise.

    >>> round(total_variation(np.array([1.0, 0.0]), np.array([0.0, 1.0]), Fraction(1)), 6)
    0.462117
    """
    noised = decayed(Wide.of(np.stack((p, q))), decay).wide()
    gaps = noised.floats(0)[0] - noised.floats(0)[1]
    factor = float(np.exp(-float(decay)))
    beyond = factor / (1 - factor) * (np.abs(gaps[0]) + np.abs(gaps[-1]))
    return float((1 - factor) / (1 + factor) * (np.abs(gaps).sum() + beyond) / 2)


def shifted_total_variation(shift: float, deviation: float, scale: float) -> float:
    """Return the total variation of a normal-Laplace sum and its shift.

    The sum is N(0, deviation^2) plus Laplace noise. Both laws are symmetric with one top, so the distance is P(|N +
    noise| <= shift/2).

    >>> round(shifted_total_variation(1, 0, 1), 6), round(shifted_total_variation(2, 1, 1e-9), 6)
    (0.393469, 0.682689)
    """
    half = abs(shift) / 2
    if not deviation:
        return -math.expm1(-half / scale)
    z, s = half / deviation, deviation / scale
    # P(X > half) = P(N > half) + e^(s^2/2) (e^(-zs) P(Z < z - s) - e^(zs) P(Z > z + s)) / 2, Z standard normal
    density = math.exp(-z * z / 2) / 2
    if s > z:
        near = density * erfcx((s - z) / math.sqrt(2))
    else:
        near = math.exp(s * s / 2 - z * s) * ndtr(z - s)
    far = density * erfcx((s + z) / math.sqrt(2))
    return float(max(0.0, 1 - 2 * ndtr(-z) - near + far))


def _worst(problem: Problem, change: int) -> OrdinaryNoise | None:
    decay, candidates = problem.epsilon / change, list[tuple[float, str]]()
    for part in problem.law_parts:
        if not (law_or_refusal := normal_law(part)).reason:
            candidates += _of_normal(law_or_refusal, float(problem.grid / decay))
            continue
        law = answer_law(part)
        count, width = law.comparisons()
        if count * width > MOST_TOGETHER:
            return None
        farthest = law.farthest_laws()
        if farthest is None:
            for family in law.families():
                candidates += _of(family, law, decay)
        else:
            (a, b), (p, q), step = farthest
            words = against(law.describe(0, a, 0), law.describe(0, b, 0))
            candidates.append((total_variation(p, q, decay * step), words))
    worst, comparison = max(candidates)
    scale = float(Fraction(change) / problem.epsilon * problem.grid)
    return OrdinaryNoise(problem.epsilon, scale, min(worst, 1.0), comparison)


def _of_normal(law: NormalLaw[Belief], scale: float) -> Iterator[tuple[float, str]]:
    """Yield the comparisons of a normal distribution with its translate."""
    for comparison in law.comparisons():
        laws = comparison.laws.exact if isinstance(comparison.laws, Rounded) else comparison.laws
        if not isinstance(laws, Shifted):
            raise Unsupported("the distributions are not normal, or have different variances")
        (shift,), ((variance,),) = laws.shift, laws.covariance
        gap = shifted_total_variation(float(shift), math.sqrt(variance), scale)
        yield gap, against(comparison.left, comparison.right)


def _of(family: AnswerFamily, law: AnswerLaw[Belief], decay: Fraction) -> Iterator[tuple[float, str]]:
    if not family.whole:
        raise Unsupported("the distributions of the whole answer are not known")
    for a, i, b, j in family.compared:
        p, q = _on_one_line(family.hulls[a][i], family.hulls[b][j])
        left, right = law.describe(family.entry, a, i), law.describe(family.entry, b, j)
        yield total_variation(p, q, decay), against(left, right)


def _on_one_line(p: Pmf, q: Pmf) -> tuple[FloatArray, FloatArray]:
    """Return both masses at all integers between the outermost atoms."""
    low, high = min(int(p.values[0]), int(q.values[0])), max(int(p.values[-1]), int(q.values[-1]))
    if high - low > MOST_PLACES:
        raise Unsupported("the distributions of the answer are too wide")
    rows = np.zeros((2, high - low + 1))
    for row, law in zip(rows, (p, q), strict=True):
        row[law.values.astype(np.int64) - low] = law.probabilities
    return rows[0], rows[1]
