"""One loss by the influence recursion, on long chains, trees, networks and classes, each next to a peer."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path

import numpy as np

import takifugu as tf
from measure import compared, row, seconds, span, title
from takifugu.analysis.problem import Part, Problem
from takifugu.analysis.questions.influence import Release
from takifugu.core.cache import forget
from takifugu.influence.chains import remembered, sides
from takifugu.influence.chains.chains import chain_loss
from takifugu.influence.chains.class_chains import class_loss
from takifugu.influence.curves import joint_loss
from takifugu.influence.networks import networks
from takifugu.influence.profiles import certified
from takifugu.influence.profiles.profile import Profile
from takifugu.influence.quilts.network.search import NETWORK
from takifugu.model.secrets.families import Family

ALARM = Path(__file__).parents[2] / "shared/data/bif/alarm.bif"


def uniform(states: int, loss: float, length: int) -> Profile:
    """Return the profile in which any change of one entry loses the same."""
    return Profile.of(loss * (1 - np.eye(states)), length)


def two_states() -> None:
    title("two states, one loss of a count: at most 3 times as long for a million times the steps")

    def lost(length: int) -> None:
        chain = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length)
        chain_loss(chain, uniform(2, 0.3, length), Family(range(length)))

    short, long = seconds(lambda: lost(10**3)), seconds(lambda: lost(10**9))
    row("T = 1,000,000,000", span(long), compared(long, short, "T = 1,000"))


def histogram() -> None:
    title("10 states, one loss of a histogram, T = 10,000 (goal 1 s): by how much is kept from step to step")
    rng = np.random.default_rng(0)
    mixing = rng.dirichlet(np.ones(10), size=10)

    class Forgetful(certified.Programs):
        """Programs that start anew at each step."""

        def bound(self, rows: np.ndarray, ratio: np.ndarray) -> np.ndarray:
            return certified.Programs().bound(rows, ratio)

    for stay in (0.5, 0.9, 0.99):
        chain = tf.MarkovChain(stay * np.eye(10) + (1 - stay) * mixing, 10_000)

        def lost(chain: tf.MarkovChain = chain, loss: float = 0.01) -> None:
            forget(chain)
            chain_loss(chain, uniform(10, loss, 10_000), Family(range(10_000)))

        ours = seconds(lost, runs=1)
        remembering, sides.Programs = sides.Programs, Forgetful  # type: ignore[misc]
        anew = seconds(lost, runs=1)
        sides.Programs = remembering  # type: ignore[misc]
        row(f"stays with {stay:g}, and else mixes", span(ours), compared(ours, anew, "programs anew at each step"))


def many_states(states: int, length: int) -> None:
    title(f"{states} states, T = {length:,}: the least of two levels with jumps and group (goal 5 s)")
    rng = np.random.default_rng(0)
    near = np.exp(-np.abs(np.subtract.outer(np.arange(states), np.arange(states))) / 4)
    for name, matrix in (("all states at once", rng.dirichlet(np.ones(states), size=states)), ("neighbours", near)):
        chain = tf.MarkovChain(matrix / matrix.sum(axis=1, keepdims=True), length)
        part = part_of(chain, tf.Count(1))
        one = Release(part.answer.entry_changes(), Fraction(100), part.answer)
        ours = seconds(lambda part=part, one=one: joint_loss(part, [one]), runs=1)  # type: ignore[misc]
        row(f"steps to {name}", span(ours))


def many_epsilons() -> None:
    title("a histogram at 50 epsilons, whose losses are found side by side (goal: 3 times one)")
    epsilons = [round(0.1 * 100 ** (number / 49), 4) for number in range(50)]
    for states in (3, 4, 5):
        rng = np.random.default_rng(states)
        matrix = 0.8 * np.eye(states) + 0.2 * rng.dirichlet(np.ones(states), size=states)

        def costs(asked: list[float], matrix: np.ndarray = matrix) -> None:
            remembered.forget()
            tf.cost(tf.Pufferfish(tf.every_entry(), tf.MarkovChain(matrix, 300)), tf.Histogram(), asked)

        one = seconds(lambda: costs([1.0]))
        many = seconds(lambda: costs(epsilons), runs=1)
        row(f"{states} states, T = 300", span(many), f"one epsilon takes {span(one)}: {many / one:.2g} times that")


def part_of(belief: object, query: object) -> Part:
    return Problem(tf.Pufferfish(tf.every_entry(), belief), query, Fraction(1)).parts[0]


def binary_tree(size: int) -> tf.BayesianNetwork:
    rng = np.random.default_rng(0)
    nodes: list[tuple[str, list[int], list[str], object]] = [("n0", [0, 1], [], [0.5, 0.5])]
    for i in range(1, size):
        a, b = rng.uniform(0.55, 0.9, size=2)
        nodes.append((f"n{i}", [0, 1], [f"n{(i - 1) // 2}"], [[a, 1 - a], [1 - b, b]]))
    return tf.BayesianNetwork(nodes)


def trees(sizes: list[int]) -> None:
    title("binary trees, the losses of all nodes (goal 1 s for 10,000)")
    for size in sizes:
        network = binary_tree(size)
        network.possible(0)
        ours = seconds(lambda network=network, size=size: networks.along_one_tree(network, uniform(2, 0.2, size)))  # type: ignore[misc]
        part = part_of(network, tf.Count(1))
        quilts = seconds(lambda part=part: NETWORK.exact(part).worst(Fraction(1)), runs=1)  # type: ignore[misc]
        row(f"{size:,} nodes", span(ours), compared(ours, quilts, "quilts"))


def alarm() -> None:
    network = tf.read_network(ALARM)
    title(f"alarm, the largest loss of all {network.size} variables: one tree of bags")
    family = Family(range(network.size))

    def lost(rate: float) -> None:
        profile = Profile.by_entry([rate * (1 - np.eye(len(node.states))) for node in network.nodes])
        networks.network_loss(network, profile, family)

    row("the first loss", span(seconds(lambda: lost(0.1), runs=1)))
    row("the next one, of other noise", span(seconds(lambda: lost(0.097), runs=1)))


def classes() -> None:
    title("classes of chains, T = 1,000,000, one loss")
    box = tf.IntervalMarkovChain([[0.1, 0.1], [0.1, 0.1]], [[0.9, 0.9], [0.9, 0.9]], 10**6)
    one = tf.MarkovChain([[0.9, 0.1], [0.1, 0.9]], 10**6, "any")
    family, profile = Family(range(10**6)), uniform(2, 0.1, 10**6)
    chain = seconds(lambda: chain_loss(one, profile, family))
    reversible = tf.ReversibleChains(0.1, 0.2, 10**6)
    for name, belief in (("all stays in [0.1, 0.9]", box), ("(pi, g) = (0.1, 0.2)", reversible)):
        ours = seconds(lambda belief=belief: class_loss(belief, profile, family))  # type: ignore[misc]
        row(name, span(ours), compared(ours, chain, "one chain, any start"))


def main() -> None:
    short = "--short" in sys.argv
    two_states()
    histogram()
    many_states(60, 10**4 if short else 10**6)
    many_epsilons()
    trees([1_000] if short else [1_000, 10_000])
    classes()
    if ALARM.is_file():
        alarm()


if __name__ == "__main__":
    main()
