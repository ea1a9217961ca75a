"""The loss of a scale as it was computed before runs: one table an entry, one step at a time, nothing remembered."""

from fractions import Fraction

import numpy as np

from takifugu.analysis.problem import Part
from takifugu.influence.chains.chains import chain_loss
from takifugu.influence.profiles.profile import Profile
from takifugu.numbers.rationals import float_above


def loss_entry_by_entry(part: Part, scale: Fraction) -> float:
    """Return the loss by the recursion along a chain, for Laplace noise of a scale in grid units."""
    states, tables = len(part.belief.alphabet(0)), []
    for entry in range(part.belief.size):
        rows = part.answer.contribution(entry).tolist()
        table = np.zeros((states, states))
        for u in range(len(rows)):
            for v in range(len(rows)):
                change = sum(abs(one - other) for one, other in zip(rows[u], rows[v], strict=True))
                table[u, v] = float_above(Fraction(change) / scale)
        tables.append(table)
    return chain_loss(part.belief, Profile.by_entry(tables), part.family).epsilon
