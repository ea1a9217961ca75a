"""Candidates of which one is chosen: what the choice depends on, and how much it tells of one entry.

A median or a mode does not add up. What decides is how often each declared value occurs: an additive answer, the counts
of the candidates and of all else, which is never published. A value is chosen from it by permute-and-flip, whose coin
for a candidate that falls short of the best by d shows heads with probability e^(-t d).

**One draw.** Its law is that of the largest of q_j + E_j, q_j the quality of candidate j and E_j independent of law
Exp(t): the overshoots of those that exceed the best quality are independent and alike, and candidate j does so with
probability e^(-t d_j). Candidate o is drawn when E_o exceeds m = max over j != o of q_j + E_j - q_o. Let qualities rise
by r_j. Then m rises by s = max(0, max over j != o of r_j - r_o) at most, and P(E_o > m + s) >= e^(-ts) P(E_o > m) for
every m. So the log-probability of o falls by ts at most.

**Quantiles.** The quality of v is -d(v), d(v) = max(0, L - qn, G - (1 - q)n): how many entries must change until v is a
q-quantile, with L entries below it, G above it, n in all. Let an entry change bit by bit, its weight 1 - s on its old
value and s on the new one. Every d is then piecewise linear in s of slope at most 1 either way, also where the entry is
no candidate before or after (n then moves, too), and some candidate is a quantile at each s: on each piece one of them
has d = 0 throughout, and p = e^(-td) = 1. Let o be another one, and N the number of heads among the K - 2 others:
P(o) = p_o E[1/(2 + N)]. The first factor changes by e^t at most; the logarithm of the second, where the others' p rise
at rate t at most, by t E[N/((1 + N)(2 + N))]/E[1/(2 + N)] <= t(K - 2)/(K - 1). If o is that one itself, p_o stays, and
the rest changes by t at most. So m quantiles lose m(2 - 1/(K - 1))t: half of the general bound for two values.

**The k most frequent values.** The quality is the count; who is drawn drops out, and the next is drawn from the rest.
An entry that changes from u to v has r_u = -1, r_v = 1. A draw of another value loses t while v is there, and nothing
afterwards; that of u one t more; that of v nothing. So k draws lose (k + 1)t, and not 2kt. Where only one value is left
the draw is certain: for all K values the loss is Kt.

An entry that changes between candidates moves two counts by 1, so that with a grid of 1/2 it moves the answer by 1; one
that changes from or to a value that is no candidate moves the count of these. The loss of several entries is at most
the sum of theirs. A choice of loss e for one entry therefore has loss at most D/b for a change D of the answer, with
b = 1/e: all that Laplace noise of scale b promises through changes of the answer.

**A choice for each group.** The choices are drawn independently, each by the counts of its group. The log-probability
of all that is chosen is the sum of theirs, and so is its loss; the counts of the groups are different coordinates, and
so D is the sum of theirs, too. So the loss is at most D/b again: an entry of one group loses as for one choice, and one
that m groups hold m times as much.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from takifugu.core.arrays import IntArray
from takifugu.core.entries import Entries
from takifugu.core.errors import InputError
from takifugu.core.plain import Plain, PlainForm, form
from takifugu.core.rules import check_known
from takifugu.model.queries.answer import Additive, Chosen, State
from takifugu.model.queries.coding import state_tables, states_of
from takifugu.numbers.rationals import as_fractions, common_denominator

#: A candidate as it is published: a number, or a text.
Outcome = Fraction | str
#: A changed entry moves two counts, and the answer by 1.
GRID = Fraction(1, 2)
#: What is counted last: entries that have no candidate's value.
ALL_ELSE = "(no candidate)"
#: Under which definitions a choice may be published; the rule that forbids others, and what to do instead.
DEFINITIONS = ("pufferfish",)
ELSEWHERE = (
    "how much a choice among values tells is known for secrets about single values only",
    "publish a histogram, and read it off there",
)


@dataclass(frozen=True)
class MostFrequent(PlainForm, kind="most frequent"):
    """Choose `count` different candidates, those that occur most often, one after the other."""

    count: int = field(metadata=form(read=int))

    @property
    def draws(self) -> int:
        return self.count

    @property
    def step(self) -> Fraction:
        """Return the unit of the qualities."""
        return Fraction(1)

    def price(self, candidates: int) -> Fraction:
        """Return the loss of a changed entry in rates of coins."""
        return Fraction(min(self.count, candidates - 1) + 1)

    def deficits(self, counts: Sequence[int], drawn: Sequence[int]) -> dict[int, Fraction]:
        """Return how far each remaining candidate falls short of the best."""
        left = dict(enumerate(counts))
        for place in drawn:
            left.pop(place, None)
        most = max(left.values())
        return {place: Fraction(most - count) for place, count in left.items()}


@dataclass(frozen=True)
class AtRank(PlainForm, kind="at rank"):
    """Choose for each share q the candidate that is the q-quantile of the entries that have a candidate's value."""

    shares: tuple[Fraction, ...] = field(metadata=form(read=lambda shares: as_fractions(shares, "a share")))

    @property
    def draws(self) -> int:
        return len(self.shares)

    @property
    def step(self) -> Fraction:
        return Fraction(1, common_denominator(self.shares))

    def price(self, candidates: int) -> Fraction:
        return len(self.shares) * (2 - Fraction(1, candidates - 1))

    def deficits(self, counts: Sequence[int], drawn: Sequence[int]) -> dict[int, Fraction]:
        share, size, below = self.shares[len(drawn)], sum(counts), 0
        far = []
        for count in counts:
            above = size - below - count
            far.append(max(Fraction(0), below - share * size, above - (1 - share) * size))
            below += count
        least = min(far)
        return {place: distance - least for place, distance in enumerate(far)}

Goal = MostFrequent | AtRank


def goal_from(data: Plain) -> Goal:
    """Read a goal back from its `to_dict` form."""
    if data["kind"] == MostFrequent.kind:
        return MostFrequent.from_dict(data)
    return AtRank.from_dict(data)


@dataclass(frozen=True, eq=False)
class Candidates(Additive):
    """The counts of candidates, in order, and of all else: what choices depend on, and what never is published."""

    outcomes: tuple[Outcome, ...] = ()
    goal: Goal = MostFrequent(1)
    published: tuple[str, ...] = ()
    groups: int = 1  # of cells, one behind the other: each has its counts, and a choice by them alone

    is_chosen_from = True


def candidates(
    entries: Entries,
    chosen: Chosen | None,
    places: Mapping[State, int],
    outcomes: tuple[Outcome, ...],
    goal: Goal,
    names: tuple[str, ...],
) -> Candidates:
    """Return the counts of the candidates, by the candidate of each state."""
    states_of_belief = states_of(entries)
    check_known(places, states_of_belief, "the belief has no state", "states")
    if len(outcomes) < 2:
        raise InputError("there is only one value to choose", rule="a choice needs two values or more").at("states")
    size = len(outcomes)

    def rows(alphabet: tuple[State, ...]) -> list[list[int]]:
        table = []
        for state in alphabet:
            row = [0] * (size + 1)
            row[places.get(state, size)] = 1
            table.append(row)
        return table

    tables, weights, table_of = state_tables(entries, chosen, rows)
    labels = (*map(str, outcomes), ALL_ELSE)
    return Candidates(GRID, labels, tuple(map(_whole, tables)), weights, table_of, outcomes, goal, names)


def _whole(table: IntArray) -> IntArray:
    """Count absent entries with all else, so changes move two counts."""
    full_table = table.copy()
    full_table[table.sum(axis=1) == 0, -1] = 1
    return full_table
