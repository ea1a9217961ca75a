"""What normal releases about one Gaussian process lose together: their squared moves add up, value by value.

Given what is left of the other values beside a hidden one, release k moves by h_k at most, whatever was chosen after
which output. So its log-ratio is m xi - m^2/2 with a known m <= |h_k|/sigma_k, and with a limit mu^2 of the sum of
squares the Lemma of docs/theory/influence.md#with-a-delta says: at most one normal release with mu. Each hidden value
is compared by itself, so the largest of the sums is one limit for all (docs/theory/attributes.md, Theorem 16).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from takifugu.accounting.composition.losses import Joint, deltas
from takifugu.accounting.composition.series import NORMAL, least_epsilon
from takifugu.accounting.composition.views import View
from takifugu.analysis import randomisers
from takifugu.analysis.guarantee import Charge, Covers
from takifugu.model import queries, secrets
from takifugu.model.beliefs import Belief
from takifugu.model.secrets.families import View as Hypotheses
from takifugu.numbers.after_noise.gaussian import shifted_delta

#: The name of this rule.
STACKED = "moves of one Gaussian process"


def process_views(view: View) -> list[tuple[Belief, Hypotheses]] | None:
    """Return each belief with each secret's view of it, if all are of Gaussian processes."""
    views = []
    for belief in view.framework.beliefs:
        for secret in view.framework.secrets:
            seen = secrets.view(secret, belief)
            if seen is None or not seen.stacks:
                return None
            views.append((belief, seen))
    return views or None


def stacked_joint(view: View, charges: Sequence[Charge]) -> Joint | None:
    """Return the least epsilon at the sum of deltas; None where some release is no normal noise on a process."""
    for charge in charges:
        if charge.randomiser["kind"] != NORMAL or not view.is_native(charge) or charge.scope != "unit":
            return None
    delta, views = deltas(charges), process_views(view) if charges else None
    if views is None or not delta:
        return None
    square = max(_largest_square(belief, seen, charges) for belief, seen in views)

    start = max(charge.epsilon for charge in charges)
    least = least_epsilon(lambda epsilon: shifted_delta(square, epsilon) <= delta, start)
    return Joint(least, delta, STACKED, Covers.ENTRIES)


def _largest_square(belief: Belief, seen: Hypotheses, charges: Sequence[Charge]) -> Fraction:
    """Return the largest sum of squared moves over variances of any hidden value."""
    pairs = range(len(seen.pairs or ()))
    sums = [Fraction(0)] * len(pairs)
    squares = dict[str, list[Fraction]]()  # of answers that are published again and again
    for charge in charges:
        written = repr(charge.query)
        if written not in squares:
            answer = queries.resolved(queries.from_dict(charge.query), belief)
            moves = (seen.moves(answer, number) for number in pairs)
            squares[written] = [sum((move * move for move in cells), Fraction(0)) for cells in moves]
        variance = Fraction(randomisers.from_dict(charge.randomiser).scale) ** 2
        sums = [total + square / variance for total, square in zip(sums, squares[written], strict=True)]
    return max(sums)
