"""Hidden Markov chains as Bayesian networks: a chain of states, each seen through one observation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from takifugu.core.errors import InputError
from takifugu.core.rules import check_as_many
from takifugu.model.beliefs.chains.chain import MarkovChain
from takifugu.model.beliefs.networks.network import BayesianNetwork
from takifugu.model.beliefs.one_sequence import checked_length
from takifugu.model.beliefs.states import State, checked_alphabet
from takifugu.model.beliefs.stochastic import Start, floats_of


def hidden_markov_chain(
    matrix: npt.ArrayLike,
    emissions: npt.ArrayLike,
    length: int,
    *,
    states: Sequence[State],
    observations: Sequence[State],
    initial: Start = "stationary",
    source: str = "assumed",
) -> BayesianNetwork:
    """Return the network of a Markov chain that is seen through one observation a step.

    Its variables are "state 0", "state 1", ... and "observation 0", "observation 1", ..., in this order. Data may leave
    the states out: None stands for what nobody recorded.

    Args:
        matrix: P(next state | state), shape (states, states).
        emissions: P(observation | state), shape (states, observations).
        length: the number of steps, from 1.
        states: the names of the hidden states.
        observations: the names of what is seen; none of them is the name of a state, so that a count of it is one of
            observations.
        initial: the distribution of the first state, "stationary" or a probability for each state.
        source: where the belief comes from.

    Returns:
        A BayesianNetwork of 2 * length variables.

    Raises:
        InputError: for rows that do not sum to one, a wrong shape, repeated or shared names, and an unknown start.

    Examples:
        >>> names = {"states": ["well", "ill"], "observations": ["quiet", "cough"]}
        >>> network = hidden_markov_chain([[0.9, 0.1], [0.4, 0.6]], [[0.8, 0.2], [0.3, 0.7]], 3, **names)
        >>> network.joint(["observation 2"]).round(3).tolist()
        [0.7, 0.3]

    Source: L. R. Rabiner, Proc. IEEE 77 (1989), section II.
    """
    length = checked_length(length)
    if isinstance(initial, str) and initial != "stationary":
        raise InputError(
            f"the first state has the distribution {initial!r}", rule="a network has one distribution",
            fix='write "stationary", or a probability for each state',
        ).at("initial")  # fmt: skip
    steps = floats_of(matrix, "the matrix is no square table of numbers", "give a row for each state", "matrix")
    chain = MarkovChain(steps, length, initial, states)
    seen = _names(observations, chain.states)
    rows = floats_of(emissions, "the emissions are no table of numbers", "give a row for each state", "emissions")
    check_as_many(np.atleast_1d(rows), "rows of emissions", chain.states, "states", "emissions")
    first = chain.stationary if chain.initial == "stationary" else np.array(chain.initial, dtype=np.float64)
    nodes: list[tuple[str, Sequence[State], Sequence[str], npt.ArrayLike]] = [("state 0", chain.states, (), first)]
    for step in range(1, length):
        nodes.append((f"state {step}", chain.states, (f"state {step - 1}",), chain.matrix))
    for step in range(length):
        nodes.append((f"observation {step}", seen, (f"state {step}",), rows))
    return BayesianNetwork(nodes, source)


def _names(observations: Sequence[State], states: Sequence[State]) -> tuple[State, ...]:
    seen = checked_alphabet(observations, "the observations", "observations")
    shared = [name for name in seen if name in states]
    if shared:
        raise InputError(
            f"{shared[0]!r} is a state and an observation", rule="a count of it would be one of both",
            fix=f"rename the observation, for example 'seen {shared[0]}'",
        ).at("observations")  # fmt: skip
    return seen
