"""Candidates of which one is chosen: what the choice depends on, and how much it tells of one entry.

A median or a mode does not add up. An additive answer, the counts of the candidates and of all else, decides it and is
never published. Permute-and-flip draws from it: a choice of loss e for one entry loses at most D/b for a change D of
the answer, with b = 1/e, as Laplace noise of scale b does (docs/theory/choices.md).
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
