"""Laws of a count given each entry of a chain, for all entries: growth with the length, and each entry by itself."""

from __future__ import annotations

from unittest import mock

import takifugu as tf
from measure import compared, row, seconds, span, title
from takifugu.analysis.answer_laws import chain as chain_laws
from takifugu.analysis.answer_laws import forward_backward as chain_blocks
from takifugu.model.secrets.families import Family

MATRIX = [[0.9, 0.1], [0.4, 0.6]]


def laws(length: int) -> None:
    """Find the law of the count given each state of each entry."""
    chain = tf.MarkovChain(MATRIX, length)
    for _ in chain_laws.ChainLaw(chain, tf.Count(1).resolve(chain), Family(range(length))).families():
        pass


def one_by_one(length: int) -> None:
    """Find the same laws, each as one long convolution."""
    with mock.patch.object(chain_blocks, "block_length", return_value=1):
        laws(length)


def calibrated(length: int, mechanism: str) -> float:
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain(MATRIX, length))
    return tf.calibrate(framework, tf.Count(1), 1, mechanism=mechanism, allow_zero_noise=True).scale


if __name__ == "__main__":
    title("laws of the count given each entry of a chain, for every entry")
    before = 0.0
    for length in (1_000, 2_000, 4_000, 10_000):
        taken = seconds(lambda length=length: laws(length), runs=1)  # type: ignore[misc]
        row(f"T = {length:,}", span(taken), f"{taken / before:.1f} times the row above" if before else "")
        before = taken
    ours, theirs = seconds(lambda: laws(2_000)), seconds(lambda: one_by_one(2_000), runs=1)
    row("T = 2,000", span(ours), compared(ours, theirs, "one convolution per entry"))

    title("a count of a chain, hiding every entry at ε = 1")
    for mechanism in ("laplace-exact", "wasserstein"):
        for length in (1_000, 10_000):
            taken = seconds(lambda length=length, name=mechanism: calibrated(length, name), runs=1)  # type: ignore[misc]
            row(f"{mechanism}, T = {length:,}", span(taken))
