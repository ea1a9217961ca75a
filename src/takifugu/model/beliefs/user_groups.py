"""Independent users as a release file declares them: one distribution for all, or one for each group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import MinLen

from takifugu.core.assumptions import Assumption, reading
from takifugu.core.errors import InputError, about
from takifugu.core.sections import Key, Number, State, Text
from takifugu.model.beliefs.sections import Origin, Presence, Public, Size, Values, mass
from takifugu.model.beliefs.user_laws import Mass
from takifugu.model.beliefs.users import IndependentUsers
from takifugu.model.secrets.families import ABSENT

#: What stands between the values of a combination: "young, f".
BETWEEN = ", "


@dataclass(frozen=True, kw_only=True)
class Group:
    """Users that share one distribution."""

    name: Annotated[Text, Key("the group's name, as in the column source.group", "ward 1")]
    size: Annotated[Size, Key("how many users are in the group", 25)]
    values: Annotated[Values, MinLen(1), Key("what a user contributes", [0, 1])]
    probabilities: Annotated[tuple[Number, ...], MinLen(1), Key("the probability of each value", [0.9, 0.1])]
    presence: Presence = 1


@dataclass(frozen=True, kw_only=True)
class UsersSection:
    """Independent users: one distribution for all, or one per group."""

    kind: Annotated[Literal["users"], Key("independent users, one row per user")]
    size: Annotated[Size | None, Key("how many users there are", 25)] = None
    values: Annotated[Values | None, Key("what a user can contribute", ["ill", "well"])] = None
    probabilities: Annotated[tuple[Number, ...] | None, Key("the probability of each value", [0.1, 0.9])] = None
    presence: Presence = 1
    absence: Annotated[
        Literal["unknown", "removed"] | None,
        Key('what absence means: "unknown" (counted with an unknown value) or "removed"'),
    ] = None
    groups: Annotated[tuple[Group, ...] | None, Key("the groups, if they differ")] = None
    missing: Annotated[
        dict[str, Text] | None,
        Key("which of the values a missing one counts as, by column", {"answer": "no answer"}, read=dict),
    ] = None
    source: Origin = "assumed"

    def faults(self) -> Iterator[InputError]:
        for key, values in (("values", self.values or ()), ("missing", (self.missing or {}).values())):
            if ABSENT in map(combined, values):
                what = f"has {ABSENT!r}, which stands for a user who is not in the data"
                fix = f"call it otherwise, also in the rows: value = \"CASE v WHEN '{ABSENT}' THEN 'away' ELSE v END\""
                yield InputError(what, fix=fix).at(key)
        shared = {"size": self.size, "values": self.values, "probabilities": self.probabilities}
        if self.groups is None:
            for key, value in shared.items():
                if not value:
                    fix = "write size, values and probabilities, or [[belief.groups]]"
                    yield InputError("is missing", fix=fix).at(key)
            return
        keys = [key for key, value in shared.items() if value is not None]
        for key in [*keys, *(["presence"] if self.presence != 1 else [])]:
            yield InputError("is given beside groups", fix="each group has its own").at(key)
        if len({group.name for group in self.groups}) != len(self.groups):
            yield InputError("two groups have the same name", fix="give each its own name").at("groups")

    def assumptions(self) -> Iterator[Assumption]:
        for name, value in (self.missing or {}).items():
            yield reading(f"A missing value of {name!r} counts as {value!r}.")

    def belief(self, public: Public) -> IndependentUsers:
        if self.groups is None:
            try:
                all_alike = _shares(self.size or 0, self.values or (), self.probabilities or (), self.presence)
                return IndependentUsers.groups([all_alike], self.absence, self.source)
            except InputError as error:
                error.where = ("probabilities",) if error.where[:1] in ((), ("laws",)) else error.where
                raise
        with about():
            groups = [_shares(g.size, g.values, g.probabilities, g.presence) for g in self.groups]
            return IndependentUsers.groups(groups, self.absence, self.source, [group.name for group in self.groups])


def combined(value: State | tuple[State, ...]) -> State:
    """Return the joined name of combined values, or a single value."""
    return BETWEEN.join(map(str, value)) if isinstance(value, tuple) else value


def _shares(
    size: int, values: Values, probabilities: Sequence[Number], presence: Number
) -> tuple[int, dict[State, Mass], Mass]:
    """Return the number of users, and the chances of values and presence."""
    return size, _law(values, probabilities), mass(presence)


def _law(alternatives: Values, probabilities: Sequence[Number]) -> dict[State, Mass]:
    values = list(map(combined, alternatives))
    if len(values) != len(probabilities) or len(set(values)) != len(values):
        raise InputError(
            f"there are {len(values)} values and {len(probabilities)} probabilities",
            fix="give each value once, with one probability",
        )
    return dict(zip(values, map(mass, probabilities), strict=True))
