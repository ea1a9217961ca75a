"""What windows of one recording cost at known places, by stretches of steps that lose the same."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import Any

from takifugu.analysis.bounds import Witness
from takifugu.analysis.questions.influence import Pairs
from takifugu.core.errors import Unsupported
from takifugu.influence.curves import CURVES, MOST_WORK
from takifugu.model.beliefs.one_sequence import OneSequence
from takifugu.model.secrets.families import Family
from takifugu.numbers.outward_rounding import floats_above
from takifugu.numbers.rationals import decimal_up
from takifugu.numbers.runs import Runs


def stretched_loss(
    belief: OneSequence, pairs: Pairs, steps: Runs, unit: Fraction, is_anywhere: bool, run: int = 1
) -> tuple[Fraction, Witness] | None:
    """Return the cost of a recording's windows, in multiples of `unit`.

    A step loses its multiple for any two values. Every step is secret, or every `run` of them in a row. Where the start
    is unknown the recording starts at its first step, or (`is_anywhere`) may start anew before any. None where the
    belief has no curve, or forgets nothing.
    """
    curve = CURVES.of(belief)
    if curve is None or curve.along is None or len(steps.ends) * len(belief.states) ** 2 > MOST_WORK:
        return None
    if run > 1 and not curve.hides_runs:
        return None
    family = _EveryStep(range(steps.size), pairs, run=run)
    try:
        loss = curve.along(belief, steps.lengths, floats_above(steps.values, unit), family, is_anywhere)
    except Unsupported:
        return None
    secret = "one step" if run == 1 else f"{run} steps in a row"
    witness = Witness(f"{secret} of the recording", "the steps around it", (("loss", loss.epsilon),))
    return decimal_up(Fraction(loss.epsilon)), witness


class _EveryStep(Family):
    """All steps of a recording: where its start is unknown each may have any law, and so any value."""

    def value_pairs(self, belief: Any, entry: int) -> tuple[tuple[int, int], ...]:
        if not belief.starts_anyhow:
            return super().value_pairs(belief, entry)
        return self.pairs or tuple(permutations(range(len(belief.states)), 2))

    def values_at(self, belief: Any, entry: int) -> tuple[bool, ...]:
        return (True,) * len(belief.states) if belief.starts_anyhow else super().values_at(belief, entry)
