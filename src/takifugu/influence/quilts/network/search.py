"""The two questions about the quilts of a network, answered for the worst secret entry by a best-first search.

Every entry holds the best quilts that it has found, the trivial one to begin with, and an iterator over those that it
has not tried. The entry whose best is the largest always goes next. Once that one has tried everything its best is the
answer, because no other entry is above it, and no entry can be above what it has found. For the same reason the search
may be ended at any moment: the largest of what was found is sound, and never below the answer.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from takifugu.analysis.bounds import Cost, Witness
from takifugu.analysis.problem import Part
from takifugu.analysis.questions.influence import Charges, Quilts, Search, Worst
from takifugu.core import searches
from takifugu.influence.quilts.near_sets import joint_change
from takifugu.influence.quilts.network.best import Best, trivial_costs, trivial_scales
from takifugu.influence.quilts.network.candidates import (
    Candidate,
    NetworkQuilt,
    count_quilts,
    network_of,
    share,
    witness,
)
from takifugu.influence.quilts.network.near import BLOCKED, NearSets, near_sets
from takifugu.influence.quilts.network.tries import Tries
from takifugu.numbers.rationals import float_above

#: Seconds that one quilt takes, roughly: most are left out before their influence is found.
PER_QUILT = 2e-5
#: Operations that one quilt takes: its near set, and the influence of its clusters.
COST_OF_A_QUILT = 1e4


def needed_scale(part: Part, epsilon: Fraction) -> tuple[Candidate, str]:
    """Return the entries' largest least D(N)/(epsilon - e(Q)), with a note.

    The least is over quilts, e(Q) over all the entry's pairs. D(N) = 0 with e(Q) <= epsilon needs no noise (errata
    E14). The note tells of a search that was ended early.
    """
    steps = part.answer.entry_changes().tolist()
    return worst(part, steps, trivial_scales(part, sum(steps), epsilon, epsilon))


@dataclass(frozen=True, eq=False)
class NetworkSearch(Search):
    """Quilts of a network, with exact influence."""

    def cost(self, epsilon: Fraction) -> Cost:
        return Cost(COST_OF_A_QUILT * count_quilts(self.part))

    def worst(self, epsilon: Fraction) -> Worst:
        quilt, note = needed_scale(self.part, epsilon)
        numbers = (("influence", quilt.influence), ("D", float(quilt.quilt.steps)))
        return Worst(Fraction(quilt.value), lambda: witness(self.part, quilt, numbers), note)


def network_joint_cost(part: Part, charges: Charges) -> tuple[float, Witness]:
    """Return the entries' largest least e(Q) + sum_k D_k(N)/b_k, rounded up."""
    change = joint_change(charges)
    steps = change.each.numbers.tolist()
    for changes, scale in charges:
        if scale == 0:
            for entry, moved in enumerate(changes):
                if moved:
                    steps[entry] = BLOCKED
    trivial = NetworkQuilt(None, sum(steps))
    cost = math.inf if trivial.steps >= BLOCKED else trivial.steps * change.unit
    entries = trivial_costs(part, cost, trivial, change.unit)
    quilt, note = worst(part, steps, entries)
    rounded = math.inf if math.isinf(quilt.value) else float_above(Fraction(quilt.value))
    return rounded, witness(part, quilt, (("cost", rounded),), note)


def worst(part: Part, steps: Sequence[int], entries: Sequence[Best]) -> tuple[Candidate, str]:
    """Return `search_quilts` of nodes with steps of their own."""
    return search_quilts(part, near_sets(network_of(part), steps), entries)


def search_quilts(part: Part, near: NearSets, entries: Sequence[Best]) -> tuple[Candidate, str]:
    """Return the worst entry's best, and a note of an early end."""
    most = count_quilts(part)
    with searches.running(len(entries), most, most * PER_QUILT) as search:
        for dealt in _best_first(part, near, entries):
            search.tell(dealt)
    return max((best.costliest for best in entries), key=lambda quilt: quilt.value), search.note


def _best_first(part: Part, near: NearSets, entries: Sequence[Best]) -> Iterator[int]:
    """Let the currently best entry try quilts; yield the number done."""
    tries = [Tries(network_of(part), near, best, share(part)).batches() for best in entries]
    waiting: list[tuple[Fraction | float, bool, int]] = []
    for number, best in enumerate(entries):
        yield next(tries[number], 0)
        waiting.append((-best.costliest.value, True, number))
    heapq.heapify(waiting)
    while waiting and waiting[0][1]:
        number = waiting[0][2]
        dealt = next(tries[number], None)
        heapq.heapreplace(waiting, (-entries[number].costliest.value, dealt is not None, number))
        yield dealt or 0


NETWORK = Quilts(exact=NetworkSearch, joint_cost=network_joint_cost)
