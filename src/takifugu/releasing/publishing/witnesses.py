"""What a certificate carries so that a stranger can compute its loss again: of calibration alone, never of data."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from typing import cast

from takifugu.analysis.problem import Part
from takifugu.analysis.questions.influence import Release
from takifugu.analysis.sensitivity import part_change
from takifugu.calibration import Calibration
from takifugu.core.cache import memoised
from takifugu.core.errors import Unsupported
from takifugu.core.plain import Json
from takifugu.influence.chains.settled import settled
from takifugu.influence.curves import profile_of
from takifugu.influence.profiles.patience import most_steps
from takifugu.influence.profiles.rays import MOST_STATES
from takifugu.model.beliefs.chains.chain import MarkovChain, steady_chain
from takifugu.numbers.rationals import to_text

#: The curves of a witness: Theorems 1 and 2 of docs/theory/influence.md, or all changes of a recording together.
RECURSION, GROUP = "recursion", "group"


@memoised
def witness_of(calibration: Calibration) -> Json | None:
    """Return the cause of the noise of a chain that began long before, None for others: curve, step and bounds."""
    noise, framework = calibration.randomiser, calibration.framework
    # only noise of Laplace is served; last, neither curve may give the guarantee
    if framework.definition != "pufferfish" or framework.is_pair or calibration.delta or not noise.laplace_scale:
        return None
    chain = steady_chain(framework.beliefs[0]) if len(framework.beliefs) == 1 else None
    if chain is None or len(chain.states) > MOST_STATES or not calibration.problem.parts:
        return None  # only chains with one matrix for all steps, begun long before, of a few states
    part = max(calibration.problem.parts, key=lambda part: part.belief.size)  # a longer recording loses no less
    units = Fraction(noise.laplace_scale) / calibration.problem.grid
    of_group = part_change(part) / units
    recursion = _by_recursion(part, units)
    if recursion is not None and Fraction(recursion["loss"]) <= min(calibration.epsilon, of_group):
        return recursion
    if of_group <= calibration.epsilon:
        return {"curve": GROUP, "steps": part.belief.size, "loss": to_text(of_group)}
    return None


def _by_recursion(part: Part, units: Fraction) -> Json | None:
    """Return the witness by the recursion, where every step of the recording is read alike."""
    chain = cast(MarkovChain, part.belief)  # as is each part of such a belief
    profile = profile_of(chain, Release(part.answer.entry_changes(), units, part.answer))
    if len(profile.lengths) != 1:
        return None
    with suppress(Unsupported):
        said = settled(chain, profile, part.family, most_steps(len(chain.states))).to_dict()
        if said["pair"] is not None:
            said["pair"] = [chain.states[code] for code in said["pair"]]
        return {"curve": RECURSION, "steps": chain.size, **said}
    return None
