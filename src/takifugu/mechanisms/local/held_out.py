"""What a mechanism gives away on people who had no part in finding it: measured, not promised."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from takifugu.core.errors import TakifuguError
from takifugu.core.escaping import at_most
from takifugu.mechanisms.local.choosing import strongest
from takifugu.mechanisms.local.measuring import success
from takifugu.mechanisms.local.populations import Populations
from takifugu.mechanisms.local.senders import Sender
from takifugu.numbers.rationals import Number

Rows = Sequence[tuple[str, int]]


@dataclass(frozen=True)
class HeldOut:
    """Epsilon, delta at the promised epsilon, and how often the better of two guesses is right, of one row."""

    epsilon: float
    delta: float
    guess: float
    before: float  # of whoever sees the value itself; of several populations the two told apart best count

    def words(self, mechanism: str, budget: Fraction, of_people: bool) -> str:
        """Return a sentence for a comparison of mechanisms."""
        loss = "no finite epsilon" if math.isinf(self.epsilon) else f"epsilon {at_most(self.epsilon, digits=3)}"
        halved = "people" if of_people else "rows"
        return (
            f"held out: {mechanism}, found from one half of the {halved} of the reference "
            f"file, has {loss} per row on the other half, and delta {at_most(self.delta, digits=3)} at epsilon "
            f"{at_most(budget, digits=3)}; the better of two guesses at the population is right for "
            f"{100 * self.guess:.1f} % of those rows, and for {100 * self.before:.1f} % by the values themselves"
        )


def measured_on(sender: Sender, populations: Populations, epsilon: Fraction) -> HeldOut:
    """Return a sender's measures on other populations, taken as they are."""
    before = populations.largest(partial(success, None))
    guess = (1 + sender.delta(populations, Fraction(0))) / 2
    return HeldOut(sender.epsilon(populations), sender.delta(populations, epsilon), min(guess, before), before)


def held_out(
    halves: tuple[Populations, Populations], mechanism: str, epsilon: Fraction, delta: Fraction, dummies: int = 0,
    radius: Number | None = None,
) -> HeldOut | None:  # fmt: skip
    """Return a mechanism's measures between two halves, if it exists."""
    try:
        option = strongest(halves[0], epsilon, delta, mechanism, dummies or 10, radius)
        return measured_on(option.sender, halves[1], epsilon)
    except TakifuguError:
        return None


def halves_of(
    rows: Rows, people: Sequence[Hashable] | None
) -> tuple[tuple[Rows, Sequence[Hashable] | None], tuple[Rows, Sequence[Hashable] | None]]:
    """Return every other person's rows, and all others'."""
    if people is None:
        return (rows[::2], None), (rows[1::2], None)
    order = {value: place for place, value in enumerate(sorted(set(people), key=_order))}
    halves: tuple[tuple[list[tuple[str, int]], list[Hashable]], ...] = ([], []), ([], [])
    for row, person in zip(rows, people, strict=True):
        rows_of_half, people_of_half = halves[order[person] % 2]
        rows_of_half.append(row)
        people_of_half.append(person)
    return halves[0], halves[1]


def _order(person: Hashable) -> tuple[int, str]:
    return (person, "") if isinstance(person, int) else (0, str(person))
