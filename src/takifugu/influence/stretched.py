"""What windows of one recording cost at known places, by stretches of steps that lose the same.

A long history has thousands of stretches, and the loss at a step depends on those around it. So many stretches are put
together, each at the most that any of them loses, and taken apart around the largest loss only. A mechanism that loses
no more at any step loses no more (docs/theory/composition.md), so that this bounds the loss from above; where each is
taken at the least instead, it is bounded from below, and once both agree nothing is left to take apart.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np

from takifugu.analysis.bounds import Witness
from takifugu.analysis.questions.influence import Pairs
from takifugu.core.errors import Unsupported
from takifugu.influence.curves import CURVES, MOST_WORK
from takifugu.influence.profiles.profile import Loss, Profile
from takifugu.model.beliefs.one_sequence import OneSequence
from takifugu.model.secrets.families import Family
from takifugu.numbers.outward_rounding import floats_above
from takifugu.numbers.rationals import decimal_up
from takifugu.numbers.runs import Runs

#: More stretches than this are put together first.
FEW = 256
#: How many stretches on either side of the largest loss are taken apart, by round; afterwards all are.
NEAR = (8, 32, 128)
#: By how much the largest loss may lie above the least that it is, relatively.
EXACT = 2.0**-40


def stretched_loss(
    belief: OneSequence, pairs: Pairs, steps: Runs, unit: Fraction, is_anywhere: bool, run: int = 1
) -> tuple[Fraction, Witness] | None:
    """Return the cost of a recording's windows, whose steps lose multiples of `unit` for any two values."""
    curve = CURVES.of(belief)
    if curve is None or curve.anywhere is None or len(steps.ends) * len(belief.states) ** 2 > MOST_WORK:
        return None
    # Every step is secret, or every `run` of them in a row; the recording may start anew before any (`is_anywhere`).
    family = _EveryStep(range(steps.size), pairs, run=run)
    loss = curve.anywhere if is_anywhere else curve.loss

    def along(stretches: Runs) -> Loss:
        rates, table_of = np.unique(floats_above(stretches.values, unit), return_inverse=True)
        tables = tuple(rate * (1 - np.eye(len(belief.states))) for rate in rates.tolist())
        return loss(belief, Profile(tables, stretches.lengths, table_of.ravel()), family)

    try:
        together = _by_the_dearest(along, steps) or along(steps)
    except Unsupported:  # the belief forgets nothing
        return None
    secret = "one step" if run == 1 else f"{run} steps in a row"
    witness = Witness(f"{secret} of the recording", "the steps around it", (("loss", together.epsilon),))
    return decimal_up(Fraction(together.epsilon)), witness


def _by_the_dearest(along: Callable[[Runs], Loss], steps: Runs) -> Loss | None:
    """Return a loss at or above that of all stretches, by at most the share EXACT, or None."""
    count = len(steps.ends)
    if count <= FEW:
        return None
    edges = np.arange(0, count, 2 ** (count.bit_length() // 2))  # of a size that a further window rarely changes
    dearest = int(steps.values.argmax())
    for near in NEAR:
        apart = np.arange(max(dearest - near, 0), min(dearest + near + 2, count))
        edges = np.unique(np.concatenate([edges, apart]))
        ends = np.append(steps.starts[edges[1:]], steps.size)
        try:
            most = along(Runs(np.maximum.reduceat(steps.values, edges), ends))
            least = along(Runs(np.minimum.reduceat(steps.values, edges), ends))
        except Unsupported:  # what settles in each stretch need not do so in all of them together
            return None
        if most.epsilon <= least.epsilon * (1 + EXACT):
            return most
        together = int(np.searchsorted(ends, most.entry, side="right"))
        first, last = [*edges.tolist(), count][together : together + 2]
        dearest = first + int(steps.values[first:last].argmax())
    return None


class _EveryStep(Family):
    """All steps of a recording: where its start is unknown each may have any law, and so any value."""

    def value_pairs(self, belief: Any, entry: int) -> tuple[tuple[int, int], ...]:
        if not belief.starts_anyhow:
            return super().value_pairs(belief, entry)
        return self.pairs or tuple(permutations(range(len(belief.states)), 2))

    def values_at(self, belief: Any, entry: int) -> tuple[bool, ...]:
        return (True,) * len(belief.states) if belief.starts_anyhow else super().values_at(belief, entry)
