"""What a mechanism gives away on people who had no part in finding it: measured, not promised."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from takifugu.core.errors import TakifuguError
from takifugu.core.text.tables import number
from takifugu.mechanisms.local.choosing import strongest
from takifugu.mechanisms.local.measuring import success
from takifugu.mechanisms.local.populations import Populations
from takifugu.mechanisms.local.senders import Sender

Rows = Sequence[tuple[str, int]]


@dataclass(frozen=True)
class HeldOut:
    """Epsilon, delta at the promised epsilon, and how often the better of two guesses is right, of one row.

    `before` is that of whoever sees the value itself; of several populations the two that are told apart best count.
    """

    epsilon: float
    delta: float
    guess: float
    before: float

    def words(self, mechanism: str, budget: Fraction, of_people: bool) -> str:
        """Return a sentence for a comparison of mechanisms."""
        loss = "no finite epsilon" if math.isinf(self.epsilon) else f"epsilon {number(self.epsilon, digits=3)}"
        return (
            f"held out: {mechanism}, found from one half of the {'people' if of_people else 'rows'} of the reference "
            f"file, has {loss} per row on the other half, and delta {number(self.delta, digits=3)} at epsilon "
            f"{number(float(budget), digits=3)}; the better of two guesses at the population is right for "
            f"{100 * self.guess:.1f} % of those rows, and for {100 * self.before:.1f} % by the values themselves"
        )


def measured_on(sender: Sender, others: Populations, epsilon: Fraction) -> HeldOut:
    """Return what a sender gives away of other populations, taken as they are."""
    before = max(success(None, others.laws[a], others.laws[b]) for a, b in others.pairs)
    guess = (1 + sender.delta(others, Fraction(0))) / 2
    return HeldOut(sender.epsilon(others), sender.delta(others, epsilon), min(guess, before), before)


def held_out(
    halves: tuple[Populations, Populations], mechanism: str, epsilon: Fraction, delta: Fraction, dummies: int = 0
) -> HeldOut | None:
    """Return what a mechanism that is found from one half gives away on the other; None where there is none."""
    try:
        option = strongest(halves[0], epsilon, delta, mechanism, dummies or 10)
        return measured_on(option.sender, halves[1], epsilon)
    except TakifuguError:
        return None


def halves_of(
    rows: Rows, people: Sequence[Hashable] | None
) -> tuple[tuple[Rows, Sequence[Hashable] | None], tuple[Rows, Sequence[Hashable] | None]]:
    """Return the rows of every other person, and of all others; of rows without a person, every other row.

    >>> halves_of([("m", 1), ("m", 2), ("f", 1)], ["p", "q", "p"])[1]
    ([('m', 2)], ['q'])
    """
    whose: list[Hashable] = list(range(len(rows))) if people is None else list(people)
    place: dict[Hashable, int] = {person: n for n, person in enumerate(sorted(set(whose), key=_order))}
    return _half(rows, whose, place.__getitem__, 0, people), _half(rows, whose, place.__getitem__, 1, people)


def _order(person: Hashable) -> tuple[int, str]:
    return (person, "") if isinstance(person, int) else (0, str(person))


def _half(
    rows: Rows, whose: Sequence[Hashable], place: Callable[[Hashable], int], half: int, people: object
) -> tuple[Rows, Sequence[Hashable] | None]:
    chosen = [n for n, person in enumerate(whose) if place(person) % 2 == half]
    return [rows[n] for n in chosen], None if people is None else [whose[n] for n in chosen]
