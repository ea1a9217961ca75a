"""One-sided answers: "safe" is said only where it is true, or wrong with probability at most alpha.

A question about a count f is q_<=: f <= t ("safe"), or q_>=: f >= t. A *sanitiser* reads the noisy count z and says yes
or nothing. With one worst count, t + 1 or t - 1, where the question is false, it is (q, alpha, beta)-one-sided
(Takagi21 Definition II.6, with <= as in errata N4, and one sanitiser for all data) with

* alpha = P(yes | the worst count): the probability of a false yes; the noise does not depend on the count, so that all
  other counts where the question is false give less;
* beta(m) = P(yes | count m): 1 - beta(m) is the probability that a true yes is missed.

On noise that never lowers a count, "z < t + 1" has alpha = 0 (errata X3: not z <= t, which for real noise never finds
m = t). For q_>= such noise has no sanitiser with alpha = 0: z >= z* has alpha = e^(-epsilon (z* - t + 1)).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from numbers import Real

import numpy as np
import numpy.typing as npt

from takifugu.core.arrays import BoolArray
from takifugu.core.errors import InputError
from takifugu.core.escaping import at_most as above
from takifugu.core.rules import check_type
from takifugu.mechanisms.one_sided.questions import Question
from takifugu.mechanisms.one_sided.tails import CountNoise, Pointing
from takifugu.numbers.atoms import Array
from takifugu.numbers.rationals import Number, as_fraction

#: Cutoffs between integers are multiples of this: they are rounded to the side of fewer answers.
_STEP = Fraction(1, 2**30)
#: Below this only 0 is of use, and tails are not enclosed so far out.
LEAST_ALPHA = Fraction(1, 10**30)


@dataclass(frozen=True)
class Sanitiser:
    """Say yes if the noisy count lies on the right side of a cutoff. `sanitiser` makes one.

    For "at most" yes means z < cutoff, for "at least" z > cutoff.

    Args:
        question: The question.
        noise: The noise of the count.
        cutoff: The cutoff; None never says yes.

    Examples:
        >>> from takifugu.mechanisms.one_sided import at_most, count_noise
        >>> sanitiser(at_most(6), count_noise(1)).says_yes([6, 7]).tolist()
        [True, False]
    """

    question: Question
    noise: CountNoise
    cutoff: Fraction | None

    def says_yes(self, noisy: npt.ArrayLike) -> BoolArray:
        """Decide each noisy count.

        Args:
            noisy: The noisy counts, integers or floats, of any shape.

        Returns:
            One truth value for each.

        Raises:
            InputError: For values below 0 under noise that points up: they are no noisy counts, and not "safe".
        """
        values = np.asarray(noisy)
        if values.dtype.kind not in "biuf" and not all(isinstance(value, Real) for value in values.flat):
            raise InputError(f"the noisy counts are {noisy!r}", fix="give a list of numbers").at("noisy")
        if self.noise.pointing is Pointing.UP and (values < 0).any():
            raise InputError(
                "some noisy counts are below 0", rule="this noise never lowers a count",
                fix="mark the answers of a sparse vector by `sparse_marks`",
            ).at("noisy")  # fmt: skip
        if self.cutoff is None:
            return np.zeros(values.shape, dtype=bool)
        return _compared(values, self.cutoff, self.question.at_most)

    @property
    def alpha(self) -> Fraction:
        """The probability of a false yes, at the worst count, rounded up."""
        return self._chance(self.question.worst)[1]

    def beta(self, count: int) -> float:
        """Return the probability of yes at a true count.

        Args:
            count: The true count.

        Returns:
            The probability.

        Raises:
            InputError: Where the answer is no.

        Examples:
            >>> from takifugu.mechanisms.one_sided import at_most, count_noise
            >>> [round(sanitiser(at_most(6), count_noise(1)).beta(m), 6) for m in (0, 5, 6)]
            [0.999088, 0.864665, 0.632121]
        """
        if not self.question.holds(count):
            raise InputError(
                f"{count} is not {self.question}", rule="beta is the probability of a yes that is true"
            ).at("count")
        low, high = self._chance(count)
        return float((low + high) / 2)

    def recall(self, counts: npt.ArrayLike) -> float:
        """Return E[beta | yes]: the expected share of yes among counts where it is true.

        Args:
            counts: True counts; those where the answer is no do not matter.

        Returns:
            The share.

        Examples:
            >>> from takifugu.mechanisms.one_sided import at_most, count_noise
            >>> round(sanitiser(at_most(6), count_noise(1)).recall([0, 6, 7]), 6)
            0.815604
        """
        values, places = np.unique(np.asarray(counts), return_counts=True)
        true = self.question.holds(values)
        betas = [self.beta(int(m)) for m in values[true]]
        if betas:
            return float(np.average(betas, weights=places[true]))
        return math.nan

    def describe(self, counts: Iterable[int]) -> list[str]:
        r"""Describe the probability of a false yes, and of misses by count.

        Args:
            counts: The counts to describe.

        Returns:
            One sentence for each.

        Examples:
            >>> from takifugu.mechanisms.one_sided import at_most, count_noise
            >>> print(*sanitiser(at_most(1), count_noise(1)).describe([0, 1]), sep="\n")
            "at most 1" is never said wrongly
            with a count of 0 it is missed with probability 0.1353
            with a count of 1 it is missed with probability 0.3679
        """
        alpha = self.alpha
        never = f'"{self.question}" is never said'
        if alpha == 0:
            said = f"{never} wrongly"
        else:
            said = f'"{self.question}" is wrong with probability at most {above(alpha, digits=4)}'
        if self.cutoff is None:
            return [never]
        return [said, *(f"with a count of {m} it is missed with probability {1 - self.beta(m):.4f}" for m in counts)]

    def _chance(self, count: int) -> tuple[Fraction, Fraction]:
        if self.cutoff is None:
            return Fraction(0), Fraction(0)
        gap = self.cutoff - count
        if self.question.at_most:
            return self.noise.below(gap)
        return self.noise.turned().below(-gap)


def sanitiser(question: Question, noise: CountNoise, alpha: Number = 0) -> Sanitiser:
    """Return the sanitiser that says yes most often, falsely with probability at most alpha at each count.

    Noise that cannot cross the threshold says yes at z < t + 1, at alpha = 0. Other noise never says yes at alpha = 0.
    At a larger alpha it keeps a margin of about b log(1 / 2 alpha) if two-sided, and of b log(1 / alpha) if it points
    to the false side.

    Args:
        question: The question.
        noise: The noise of the count.
        alpha: Largest probability of a false yes: 0, or from 1e-30 to below 1.

    Returns:
        The sanitiser.

    Raises:
        InputError: For another alpha.

    Examples:
        >>> from takifugu.mechanisms.one_sided import Pointing, at_most, count_noise
        >>> two_sided = count_noise(epsilon=1, pointing=Pointing.BOTH)
        >>> print(sanitiser(at_most(5), two_sided).cutoff, sanitiser(at_most(5), two_sided, "0.001").cutoff)
        None 0
    """
    check_type(question, Question, "a question", "write at_most(5) or at_least(5)", "question")
    check_type(noise, CountNoise, "noise of a count", "write count_noise(epsilon)", "noise")
    allowed = as_fraction(alpha, "alpha", "alpha")
    if not 0 <= allowed < 1:
        raise InputError(f"alpha is {alpha!r}", rule="it must be at least 0 and below 1").at("alpha")
    if 0 < allowed < LEAST_ALPHA:
        raise InputError(f"alpha is {alpha!r}", rule="it must be 0, or at least 1e-30").at("alpha")
    turned = noise if question.at_most else noise.turned()  # q_>= about f is q_<= about -f
    margin = _margin(turned, allowed)
    if margin is None:
        return Sanitiser(question, noise, None)
    cutoff = question.worst - margin if question.at_most else question.worst + margin
    return Sanitiser(question, noise, cutoff)


def _margin(noise: CountNoise, alpha: Fraction) -> Fraction | None:
    """Return the least s with P(N < -s) <= alpha."""
    if noise.pointing is Pointing.UP and alpha == 0:
        return Fraction(0)
    if alpha == 0:
        return None
    step = Fraction(1) if noise.whole else _STEP
    steps = math.floor(_guess(noise, float(alpha)) / step) - 1  # below the answer, and then up to it
    while noise.below(-steps * step)[1] > alpha:
        steps += 1
    return steps * step


def _guess(noise: CountNoise, alpha: float) -> float:
    """Return about the s with P(N < -s) = alpha."""
    b = float(noise.scale)
    if noise.pointing is Pointing.UP:
        return b * math.log1p(-alpha)
    if noise.pointing is Pointing.DOWN:
        return -b * math.log(alpha)
    if alpha < 0.5:
        return -b * math.log(2 * alpha)
    return b * math.log(2 * (1 - alpha))


def _compared(values: Array, cutoff: Fraction, below: bool) -> BoolArray:
    """Compare numbers with a rational."""
    edge: Fraction | float = cutoff
    if values.dtype.kind in "iu":
        edge = math.ceil(cutoff) if below else math.floor(cutoff)
    elif values.dtype != object:
        edge, values = float(cutoff), values.astype(np.float64)
    is_yes = values < edge if below else values > edge
    is_tied = Fraction(edge) < cutoff if below else Fraction(edge) > cutoff
    if is_tied:
        is_yes |= values == edge
    return np.asarray(is_yes, dtype=bool)
