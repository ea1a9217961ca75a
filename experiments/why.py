"""Why noise made for one entry does not hide one entry: the table of docs/why.md, from exact distributions.

A chain over still and walking stays in its state with probability `stay`; 100 minutes; the number of walking minutes
is published with the noise of ordinary differential privacy at epsilon = 1 (discrete Laplace of scale 1). For every
minute and both states the law of the published number is computed exactly; from it, how sure somebody who was 50 % sure
about a minute can become, and how often the better guess is right. Write it with `python experiments/why.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

import takifugu as tf
from pages import ROOT, table, write
from takifugu.analysis.problem import Problem
from takifugu.analysis.questions.answer_law import answer_law
from takifugu.model.frameworks import Framework
from takifugu.numbers.after_noise.noised import laplace_log_ratio
from takifugu.numbers.distributions.pmf import Pmf

PAGE = ROOT / "docs" / "why.md"
LENGTH = 100
STAYS = (0.5, 0.8, 0.9, 0.95, 0.99)


def framework(stay: float) -> Framework:
    chain = tf.MarkovChain([[stay, 1 - stay], [1 - stay, stay]], length=LENGTH, states=["still", "walking"])
    return tf.Pufferfish(tf.every_entry(), chain)


def law_pairs(stay: float) -> list[tuple[Pmf, Pmf]]:
    """Return, for each minute, the laws of the count given that it was still and given that it was walking."""
    (part,) = Problem(framework(stay), tf.Count("walking"), Fraction(1)).parts
    return [(family.hulls[0][0], family.hulls[1][0]) for family in answer_law(part).families()]


def surest(pairs: list[tuple[Pmf, Pmf]]) -> float:
    """Return the largest posterior that some published number can give to a prior of one half, for any minute."""
    loss = max(laplace_log_ratio(p, q, 1) for p, q in pairs)
    return 1 / (1 + math.exp(-loss))


def right_guesses(pairs: list[tuple[Pmf, Pmf]]) -> float:
    """Return how often the better guess is right, a prior of one half given, for the worst minute: (1 + TV) / 2."""
    outputs = np.arange(-60, LENGTH + 61)

    def noised(law: Pmf) -> np.ndarray:
        distance = np.abs(outputs[:, None] - law.values.astype(np.int64)[None, :])
        return math.tanh(0.5) * np.exp(-distance.astype(float)) @ law.probabilities

    return max((1 + 0.5 * float(np.abs(noised(p) - noised(q)).sum())) / 2 for p, q in pairs)


def noise(stay: float, mechanism: str) -> float:
    return tf.calibrate(framework(stay), tf.Count("walking"), epsilon=1, mechanism=mechanism).scale


def rows() -> Iterator[tuple[str, ...]]:
    for stay in STAYS:
        pairs = law_pairs(stay)
        needed = min(noise(stay, "laplace-exact"), noise(stay, "quilt-exact"))
        guess = f"{100 * right_guesses(pairs):.0f} %"
        yield f"in {100 * stay:.0f} %", percent(surest(pairs)), guess, f"{needed:.1f}", f"{noise(stay, 'group-dp'):.0f}"


def comparison() -> str:
    return table(
        (
            "a minute is like the one before",
            "noise 1: a reader's 50 % can become",
            "noise 1: the better guess is right",
            "noise that keeps 73 %",
            "noise for all 100 minutes",
        ),
        rows(),
    )


def percent(probability: float) -> str:
    """Write a probability so that what is missing to certainty stays visible."""
    digits = max(0, -math.floor(math.log10(1 - probability)) - 2)
    return f"{100 * probability:.{digits}f} %"


def main() -> None:
    write(PAGE, "why", comparison())
    print(comparison())


if __name__ == "__main__":
    main()
