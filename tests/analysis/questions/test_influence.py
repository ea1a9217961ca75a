"""What beliefs tell about quilts: reasons where there are none, and chains and networks in one framework."""

from fractions import Fraction

import numpy as np
import pytest

from takifugu import BayesianNetwork, Count, JointTable, MarkovChain, Pufferfish, calibrate, every_entry
from takifugu.analysis.problem import Part, Problem
from takifugu.analysis.questions.influence import CLIQUE, Release, joint_cost, quilts
from takifugu.core.errors import CalibrationRefused, Unsupported
from takifugu.model.beliefs.chains.chain import ReversibleChains

CHAIN = MarkovChain([[0.9, 0.1], [0.4, 0.6]], 12)


def as_network(chain: MarkovChain) -> BayesianNetwork:
    nodes = [("x0", [0, 1], [], chain.stationary.tolist())]
    nodes += [(f"x{t}", [0, 1], [f"x{t - 1}"], chain.matrix.tolist()) for t in range(1, chain.length)]
    return BayesianNetwork(nodes)


def part_of(belief: object) -> Part:
    return Problem(Pufferfish(every_entry(), belief), Count(1), Fraction(2)).parts[0]  # type: ignore[arg-type]


def test_a_belief_without_quilts_says_so_and_costs_what_its_trivial_quilt_costs() -> None:
    part = part_of(JointTable([(0, 0), (0, 1), (1, 1)], [Fraction(1, 3)] * 3))
    none = quilts(part.belief)
    for search in (none.exact(part), none.bounded(part)):
        assert search.cost(Fraction(1)).operations == 0
        with pytest.raises(Unsupported, match="known for"):
            search.worst(Fraction(1))
    cost, witness = joint_cost(part, [Release(np.array([1, 1]), Fraction(4)), Release(np.array([0, 1]), Fraction(2))])
    assert cost == pytest.approx(1)
    assert witness.detail == "the near set is everything"


def test_classes_have_bounds_and_no_exact_influence() -> None:
    part = part_of(ReversibleChains(0.3, 0.5, 30))
    with pytest.raises(Unsupported, match='use mechanism="quilt-approx"'):
        quilts(part.belief).exact(part).worst(Fraction(2))
    assert quilts(part.belief).bounded(part).worst(Fraction(2)).scale > 0
    assert all("in a clique" in search(part).reason for search in (CLIQUE.exact, CLIQUE.bounded))


def test_sequences_and_networks_may_stand_in_one_framework() -> None:
    other = as_network(MarkovChain([[0.7, 0.3], [0.3, 0.7]], 12))

    def scale(*beliefs: MarkovChain | BayesianNetwork) -> Fraction:
        return calibrate(Pufferfish(every_entry(), beliefs), Count(1), 2, mechanism="quilt-exact").randomiser.scale

    assert scale(CHAIN, other) == max(scale(CHAIN), scale(other))
    with pytest.raises(CalibrationRefused):  # Lemma B.4 is about chains
        calibrate(Pufferfish(every_entry(), [CHAIN, other]), Count(1), 2, mechanism="quilt-approx")
