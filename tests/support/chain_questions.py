"""Small chains, and the true loss of one release about them: value classes of takifugu only."""

from fractions import Fraction

from hypothesis import strategies as st
from tests.support.chain_oracles import exact_rows, joint_law, laplace_loss, largest_over_pairs

from takifugu.model.beliefs.chains.chain import MarkovChain
from takifugu.model.queries import Query


@st.composite
def chains(draw: st.DrawFn, longest: int = 5) -> MarkovChain:
    k, length = draw(st.integers(2, 3)), draw(st.integers(1, longest))
    rows = [draw(st.lists(st.integers(0, 5), min_size=k, max_size=k).filter(any)) for _ in range(k)]
    start = draw(st.lists(st.integers(0, 5), min_size=k, max_size=k).filter(lambda n: sum(map(bool, n)) > 1))
    return MarkovChain([[n / sum(r) for n in r] for r in rows], length, [n / sum(start) for n in start])


def loss_of(belief: MarkovChain, query: Query, units: Fraction) -> float:
    """The true largest loss of one release with Laplace noise of this scale, from the full joint law."""
    answer = query.resolve(belief)
    joint = joint_law(exact_rows(belief.matrix.tolist()), belief.length, [Fraction(p) for p in belief.initial])
    contribution = [[int(row[0]) for row in answer.contribution(i)] for i in range(belief.length)]
    return float(largest_over_pairs(joint, contribution, lambda p, q: laplace_loss(p, q, units, 30)))
