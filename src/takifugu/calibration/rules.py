"""What calibration refuses unless the caller accepts it: too little noise, and beliefs taken from the private data."""

from __future__ import annotations

import math

from takifugu.beliefs.estimate import is_private_source
from takifugu.choices import Choice
from takifugu.errors import CalibrationRefused
from takifugu.frameworks import Framework
from takifugu.laws.gaussian import gaussian_delta
from takifugu.mechanisms.lines import along_line
from takifugu.problem import Bound, Problem
from takifugu.randomisers import Noise, Randomiser, RoundedNormal
from takifugu.sensitivity import entry_change

_LAPLACE = ("discrete-laplace", "rounded-laplace")


def too_little_noise(problem: Problem, noise: Randomiser) -> str | None:
    """Return why `calibrate` refuses this noise by default, or None (docs/architecture.md#zero-noise).

    Refused: no noise, and unbounded additive noise with P(|noise| < D_1/2) > 1 - e^-epsilon + delta in some cell, where
    D_1 is the cell's largest change when one secret entry changes, and the noise is taken before any rounding.
    """
    if noise.kind == "none":
        return (
            "no noise at all would be added: only the randomness that the belief assumes would hide the secret; "
            "allow_zero_noise=True accepts that"
        )
    change = coordinate_change(problem) * problem.grid
    if not isinstance(noise, Noise) or change == 0:
        return None
    if noise.kind in _LAPLACE and change <= problem.epsilon * noise.scale:
        return None  # ordinary entry noise passes: 2 a^ceil(D/2)/(1 + a) >= a^D and e^(-D/2b) >= e^(-D/b)
    needed = math.exp(-problem.epsilon) - float(problem.delta)
    if needed <= 0 or noise.log_reach(change / 2) >= math.log(needed):
        return None
    return (
        f"noise of scale {float(noise.scale):.6g} is small beside what one entry changes ({float(change):g}): mostly "
        "the randomness that the belief assumes would hide the secret; allow_zero_noise=True accepts that"
    )


def coordinate_change(problem: Problem) -> int:
    """Return D_1: the largest change of one cell when one secret entry changes, in grid units; 0 for `between`.

    Cells that move along one line tell as much together as one that moves by their L1 change (`mechanisms.lines`).
    """
    shares = ((along_line(part.answer) or part.answer, part.family.entries) for part in problem.parts)
    return max((share.coordinate_change(entries) for share, entries in shares), default=0)


def hides_one_entry(problem: Problem, bound: Bound) -> bool:
    """Return whether the noise alone hides one entry, at the promise, from someone who knows all others.

    Laplace noise of scale b hides a change by D_1 <= epsilon * b; normal noise one whose exact delta is small
    enough; a choice among outputs all changes, where it keeps the promise for every pair of answers.
    """
    change, noise = entry_change(problem) * problem.grid, bound.randomiser
    if isinstance(noise, Choice):
        return noise.hides_every_answer(bound.epsilon)
    if isinstance(noise, RoundedNormal) and change:
        return gaussian_delta(change, noise.sigma, bound.epsilon) <= bound.delta
    return change <= bound.epsilon * noise.scale


def check_beliefs(framework: Framework, allow_private_belief: bool) -> tuple[str, ...]:
    """Return the conditions that beliefs from the private data put on the promise; refuse such beliefs by default."""
    private = [b for b in framework.beliefs if is_private_source(b.source)]
    if private and not allow_private_belief:
        raise CalibrationRefused(
            f"the belief {private[0].describe()} was estimated from the private data, so the amount of noise would "
            "itself tell something about them",
            fix="estimate it from other data, or write allow_private_belief=True",
        )
    return tuple(f"{b.describe()}: estimated from the private data; the promise does not cover that" for b in private)
