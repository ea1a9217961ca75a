"""Takifugu's noise between two others: for one step as if no other told of it, and for all that somebody did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from takifugu.analysis.bounds import Bound, Refusal
from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import DiscreteLaplace, RoundedLaplace
from takifugu.calibration import Calibration
from takifugu.calibration.registry import find
from takifugu.core.errors import Unsupported
from takifugu.model.beliefs import Belief
from takifugu.model.queries import Additive, resolved

if TYPE_CHECKING:
    from takifugu.audit.partial_sums import Chained

#: The noises by their names.
ORDINARY, TAKIFUGU, GROUP = "ordinary", "takifugu", "group"


def three_noises(calibration: Calibration) -> dict[str, Bound | Calibration]:
    """Return ordinary noise, Takifugu's and group noise, of one epsilon; Unsupported where there is none."""
    problem, bounds = Problem(calibration.framework, calibration.query, calibration.epsilon), list[Bound]()
    # each with its promise under the belief
    for mechanism in ("record-dp", "group-dp"):
        bound = find(mechanism).load().bound(problem)
        if isinstance(bound, Refusal):
            raise Unsupported(bound.reason)
        bounds.append(bound)
    of_one, of_all = bounds
    return {ORDINARY: of_one, TAKIFUGU: calibration, GROUP: of_all}


def attacked(calibration: Calibration) -> tuple[Chained, Additive]:
    """Return the chain and the answer behind a reader's posterior; Unsupported, with the reason, for any other."""
    # sums over one chain of two or three states with a known start, with Laplace noise
    beliefs = calibration.framework.beliefs
    if len(beliefs) != 1:
        raise Unsupported("its belief is no single chain")
    chain = attacked_chain(beliefs[0])
    answer = resolved(calibration.query, beliefs[0])
    if not isinstance(answer, Additive) or answer.is_chosen_from:
        raise Unsupported(f"it publishes {calibration.query.describe()}")
    if not isinstance(calibration.randomiser, DiscreteLaplace | RoundedLaplace):
        raise Unsupported("its noise is not Laplace noise")
    return chain, answer


def attacked_chain(belief: Belief) -> Chained:
    """Return the chain of a belief, before any noise is known; raises Unsupported, with the reason."""
    from takifugu.audit.partial_sums import Chained

    chain = Chained.of(belief)
    if chain is None:
        raise Unsupported("its belief is no single chain")
    if chain.states not in (2, 3):
        raise Unsupported(f"its chain has {chain.states} states")
    if chain.chain.initial == "any":
        raise Unsupported("its chain has any start")
    return chain
