"""The optimal channel's linear program, and the exact Laplace scale next to one W-infinity."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from measure import row, seconds, span, title
from takifugu import Count, MarkovChain, Pufferfish, every_entry
from takifugu.analysis.problem import Problem
from takifugu.mechanisms.common.finite_outputs import certified, finite_problem
from takifugu.mechanisms.optimal import best_channel
from takifugu.numbers.after_noise.noised import exact_laplace_scale
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.transport.on_the_line import w_infinity

LENGTHS, ATOMS = (10, 20, 30), 10_000


def main() -> None:
    title("the channel of least error for a count on a chain, all entries at once: linear program, best of 2")
    for length in LENGTHS:
        chain = MarkovChain([[0.9, 0.1], [0.4, 0.6]], length)
        finite = finite_problem(Problem(Pufferfish(every_entry(), chain), Count(1), Fraction(1)))
        time = seconds(lambda f=finite: best_channel(f, Fraction(1)), runs=2)
        best = best_channel(finite, Fraction(1))
        row(f"length {length}", span(time))
        row(
            "  repaired to exact masses and measured",
            span(seconds(lambda f=finite, m=best: certified(f, m, Fraction(1)))),
        )

    generator = np.random.default_rng(1)
    a, b = (generator.integers(1, 1000, size=ATOMS) for _ in range(2))
    p, q = Pmf.from_counts(range(ATOMS), a), Pmf.from_counts(range(ATOMS), b)
    title(f"two laws of {ATOMS:,} atoms, exact masses, best of 3")
    move = seconds(lambda: w_infinity(p, q))
    row("w_infinity", span(move))
    scale = seconds(lambda: exact_laplace_scale(p, q, Fraction(1, 2)))
    row("exact_laplace_scale", span(scale), f"{scale / move:.0f} times w_infinity")


if __name__ == "__main__":
    main()
