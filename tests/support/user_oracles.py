"""Independent users by enumeration of all their states, in Fractions: the slow way to every law of the answer."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

ABSENT = "absent"


def user_states(law: Mapping[Any, Any], presence: Any, mode: str) -> dict[Any, Fraction]:
    """Return what one user may be in the data: under "unknown" a value always, under "removed" also absent."""
    there = Fraction(presence) if mode == "removed" else Fraction(1)
    states = {value: there * Fraction(p) for value, p in law.items() if p}
    return {state: p for state, p in {**states, ABSENT: 1 - there}.items() if p}


def answer_law(
    laws: Sequence[Mapping[Any, Any]],
    presences: Sequence[Any],
    mode: str,
    shares: Sequence[Mapping[Any, int]],
    user: int,
    state: Any,
) -> dict[int, Fraction]:
    """Return the law of the answer given that a user is in a state (ABSENT included), as {answer: probability}."""
    law_of_answer: dict[int, Fraction] = {}
    possible = [user_states(law, there, mode) for law, there in zip(laws, presences, strict=True)]
    if state != ABSENT or mode == "removed":
        possible[user] = {state: Fraction(1)}
    for states in product(*(p.items() for p in possible)):
        mass, answer = Fraction(1), 0
        for share, (value, p) in zip(shares, states, strict=True):
            mass *= p
            answer += 0 if value == ABSENT else share[value]
        law_of_answer[answer] = law_of_answer.get(answer, Fraction(0)) + mass
    return dict(sorted(law_of_answer.items()))


def states_compared(law: Mapping[Any, Any], presence: Any, mode: str) -> list[Any]:
    """Return the states of a user that have probability above zero; an unknown value is always one."""
    values = [v for v, p in law.items() if p and presence]
    return [*values, ABSENT] if mode == "unknown" or presence < 1 else values
