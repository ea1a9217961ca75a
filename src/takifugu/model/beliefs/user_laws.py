"""What one user contributes, and with which probability it is present, as people write it."""

from __future__ import annotations

import math
import sys
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from takifugu.core.assumptions import Assumption, reading
from takifugu.core.columns import value_of
from takifugu.core.errors import InputError
from takifugu.core.nearest import did_you_mean
from takifugu.core.plain import Json, to_plain
from takifugu.core.rules import check_any, no_law
from takifugu.model.beliefs.states import State, checked_alphabet
from takifugu.model.secrets.families import ABSENT

Mass = int | float | Fraction
#: The two meanings of absence, and what each means (errata N2).
MODES = {
    "unknown": "an absent user is still counted, with an unknown value",
    "removed": "an absent user is removed and contributes nothing",
}
#: Probabilities given as floats may sum to one up to this error; they are then divided by their sum.
TOLERANCE = 1e-9


@dataclass(frozen=True)
class UserLaw:
    """What one user contributes when present: `values` with `probabilities`; and the probability of being present."""

    values: tuple[State, ...]
    probabilities: tuple[Fraction, ...] | tuple[float, ...]
    presence: Fraction | float

    def items(self) -> Iterator[tuple[State, Fraction | float]]:
        """Yield (value, probability)."""
        return zip(self.values, self.probabilities, strict=True)

    def to_dict(self) -> Json:
        return {"law": [[value, to_plain(mass)] for value, mass in self.items()], "presence": to_plain(self.presence)}

    @property
    def exact(self) -> bool:
        return isinstance(self.presence, Fraction) and isinstance(self.probabilities[0], Fraction)


def user_laws(pairs: Sequence[tuple[object, object]]) -> list[UserLaw]:
    """Return the laws of users, each with its presence; one given again, as the same object, is read once."""
    # no id is used again while the pairs hold their laws
    known, laws = dict[tuple[int, Hashable], UserLaw](), list[UserLaw]()
    for law, presence in pairs:
        key = (id(law), presence if isinstance(presence, int | float | Fraction) else repr(presence))
        if key not in known:
            known[key] = UserLaw(*_law(law), _presence(presence))
        laws.append(known[key])
    return laws


def _law(law: Any) -> tuple[tuple[State, ...], tuple[Fraction, ...] | tuple[float, ...]]:
    try:
        items = law.items() if hasattr(law, "items") else law
        pairs = [(value_of(v), value_of(p)) for v, p in items]
    except (TypeError, ValueError):
        raise InputError(
            f"a user's distribution is {law!r}", fix="write value -> probability: {0: 0.3, 1: 0.7}"
        ).at("laws") from None
    check_any(pairs, "a user's distribution has no value", "laws", fix="give one with its probability")
    values = checked_alphabet([v for v, _ in pairs], "a user's distribution", "laws")
    if ABSENT in values:
        raise InputError(
            f"a user's distribution has the value {ABSENT!r}, which stands for an absent user", fix="rename it"
        ).at("laws")
    for value, p in pairs:
        number = isinstance(p, int | float | Fraction) and not isinstance(p, bool)
        if not number or not 0 <= p <= sys.float_info.max:
            raise InputError(
                f"the probability of {value!r} is {p!r}", rule="it must be a finite number, at least 0"
            ).at("laws")
    if any(isinstance(p, float) for _, p in pairs):
        total = math.fsum(float(p) for _, p in pairs)
        if abs(total - 1) > TOLERANCE:
            raise no_law("a user's distribution", total).at("laws")
        masses = tuple(float(p) for _, p in pairs)
        if abs(total - 1) > 2.0**-50:
            masses = tuple(mass / total for mass in masses)
        return values, masses
    exact = tuple(Fraction(p) for _, p in pairs)
    if sum(exact) != 1:
        raise no_law("a user's distribution", sum(exact)).at("laws")
    return values, exact


def _presence(presence: object) -> Fraction | float:
    chance = value_of(presence)
    if not isinstance(chance, int | float | Fraction) or isinstance(chance, bool) or not 0 <= chance <= 1:
        raise InputError(f"a presence is {presence!r}", rule="it must be a probability, from 0 to 1").at("presence")
    if isinstance(chance, float) and chance not in (0.0, 1.0):
        return chance
    return Fraction(chance)


def checked_absence(absence: str | None, presences: Sequence[Fraction | float]) -> str:
    certain = all(chance == 1 for chance in presences)
    if absence is None and certain:
        return "unknown"
    if not isinstance(absence, str) or absence not in MODES:
        raise InputError(
            f"the absence is {absence!r}",
            fix=(
                f"write \"unknown\" ({MODES['unknown']}) or \"removed\" "
                f"({MODES['removed']}){did_you_mean(absence, MODES)}"
            ),
        ).at("absence")
    if absence == "removed" and certain:
        raise InputError(
            'the absence is "removed", and every user is present with probability 1', fix="give a presence below 1"
        ).at("absence")
    return absence


def absence_words(absence: str) -> Assumption:
    """Say how an absent user counts."""
    return reading(f"{MODES[absence].capitalize()}.")


@dataclass(frozen=True)
class Letters:
    """The values that some users can have, and how they can be absent: not at all (""), "unknown" or "removed"."""

    values: tuple[State, ...]
    absence: str

    @property
    def alphabet(self) -> tuple[State, ...]:
        return (*self.values, ABSENT) if self.absence else self.values
