"""The one place where a belief's states are read: what may name a state, and what may not."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TypeVar

from takifugu.core.columns import value_of
from takifugu.core.errors import InputError, Step
from takifugu.core.rules import check_written_apart, list_of, no_law, unwritable

State = Hashable
Value = TypeVar("Value", bound=Hashable)
#: Exact masses may miss a sum of 1 by this much; they are then divided by their sum.
TOLERANCE = Fraction(1, 10**9)


def checked_alphabet(states: Iterable[Hashable], title: str, key: str = "states") -> tuple[State, ...]:
    """Return different states as plain Python text, numbers, true or false, for data and files to tell apart."""
    # refused: None and NaN ("not observed" in data), repeats, and states that are written alike (1 and "1")
    values = list_of(states, f"the states of {title}", key, "['still', 'walking']")
    names = tuple(_plain(state, title, key) for state in values)
    if len(set(names)) != len(names):
        raise InputError(
            f"{title} has the states {list(names)}, which repeat a name", fix="give different names, each once"
        ).at(key)
    check_written_apart(names, f"{title} has the states", key)
    return names


def different(values: Iterable[Hashable], title: str, key: str = "states") -> set[State]:
    """Return the different values of some entries, which can name states; else they are not checked."""
    states = list(values)
    try:
        return set(states)
    except TypeError:
        return {_plain(state, title, key) for state in states}


def in_order(states: Iterable[State]) -> tuple[State, ...]:
    """Return states from the least, of several types by type and text."""
    different_states = tuple(states)
    try:
        return tuple(sorted(different_states))  # type: ignore[type-var]
    except (TypeError, ArithmeticError):  # Decimals have a value that is not to be compared
        return tuple(sorted(different_states, key=lambda state: (type(state).__name__, str(state))))


def as_law(masses: Mapping[Value, Fraction], title: str, *where: Step) -> dict[Value, Fraction]:
    """Return masses divided by their sum, which may miss 1 by a billionth."""
    total = sum(masses.values(), Fraction(0))
    if min(masses.values(), default=Fraction(0)) < 0 or abs(total - 1) > TOLERANCE:
        raise no_law(title, total).at(*where)
    return {value: mass / total for value, mass in masses.items()}


def first_few(names: Sequence[Hashable], between: str = ", ") -> str:
    """Return the first six names as text, with dots for more."""
    words = between.join(map(repr, names[:6]))
    return f"{words}, ..." if len(names) > 6 else words


def _plain(state: object, title: str, key: str) -> State:
    plain = value_of(state)
    if plain is None or (isinstance(plain, float) and plain != plain):
        raise InputError(
            f"{title} has the state {plain!r}, which in data means that a value was not observed",
            fix="give the state a name, such as 'unknown'",
        ).at(key)
    if not isinstance(plain, str | int | float | Fraction):
        raise unwritable(f"{title} has the state", plain).at(key)
    return plain
