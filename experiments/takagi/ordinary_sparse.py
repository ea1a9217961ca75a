"""The ordinary sparse vector technique, correctly (Lyu, Su and Li 2017, Algorithm 1; Dwork and Roth 2014, on integers).

The threshold gets discrete Laplace noise R of scale 1/epsilon_1 once, each question fresh noise N_i of scale
2c/epsilon_2; the answer is "above" where f_i + N_i >= t_i + 1 + R, and after c of these nothing more is answered. No
value is published: that would cost more. For questions of sensitivity 1, of which one move may raise some and lower
others, it keeps epsilon_1 + epsilon_2 in both directions. *Proof.* Let f'_i be within 1 of f_i. For every r,
P(f_i + N_i <= t_i + r) <= P(f'_i + N_i <= t_i + r + 1), and P(f_i + N_i > t_i + r) <= e^(epsilon_2 / c) P(f'_i + N_i >
t_i + r + 1), as the bound moved by 2 at most; there are c of these. Summed over R = r with P(R = r) <= e^epsilon_1 P(R
= r + 1). ∎ "Not above" may be wrong: this is what a policy saves.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from takifugu.core.errors import InputError
from takifugu.core.plain import set_fields
from takifugu.mechanisms.one_sided.sparse import Answers, Marks, checked_counts, checked_thresholds
from takifugu.numbers.rationals import Number, as_epsilon, as_fraction, is_whole, round_up

if TYPE_CHECKING:
    from takifugu.numbers.noise import Entropy


@dataclass(frozen=True)
class OrdinarySparse:
    """The sparse vector technique with `epsilon` for all questions and `limit` answers of "above" at most.

    `share` of epsilon is for the threshold. Raises InputError for a limit below 1 and a share outside (0, 1).

    >>> noise = OrdinarySparse(1, limit=3)
    >>> noise.threshold_scale, noise.question_scale
    (Fraction(2, 1), Fraction(12, 1))
    """

    epsilon: Fraction
    limit: int
    share: Fraction

    def __init__(self, epsilon: Number, limit: int, share: Number = Fraction(1, 2)) -> None:
        part = as_fraction(share, "the share", "share")
        if not 0 < part < 1:
            raise InputError(f"the share is {part}", rule="it lies above 0 and below 1").at("share")
        if not is_whole(limit, 1):
            raise InputError(f"the limit is {limit!r}", rule="it is a whole number above 0").at("limit")
        set_fields(self, epsilon=as_epsilon(epsilon), limit=limit, share=part)

    @property
    def threshold_scale(self) -> Fraction:
        return round_up(1 / (self.epsilon * self.share))

    @property
    def question_scale(self) -> Fraction:
        return round_up(2 * self.limit / (self.epsilon * (1 - self.share)))

    def answer(self, counts: object, thresholds: object, entropy: Entropy | None = None) -> Answers:
        """Answer "safe" or VALUE for each count and its threshold.

        "safe", maybe wrongly, means at most the threshold; VALUE comes without one. Raises as `SparseAnswers.answer`.
        """
        from takifugu.numbers.noise import SystemEntropy, discrete_laplace, total

        source = entropy or SystemEntropy()
        private = checked_counts(counts)
        broadcast = np.broadcast_to(checked_thresholds(thresholds, private.shape), private.shape)
        moved = discrete_laplace(self.threshold_scale, 1, source).repeat(private.size)
        levels = total(broadcast, moved)
        above = np.asarray(total(private, discrete_laplace(self.question_scale, private.size, source)) > levels)
        marks = above.astype(np.int8)
        marks[np.cumsum(above) - above >= self.limit] = Marks.NOT_ANSWERED
        return Answers(marks, np.full(private.size, -1))
