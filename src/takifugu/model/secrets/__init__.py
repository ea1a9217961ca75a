"""What must stay hidden: hypotheses about the data, and the lazy families of ordered pairs that are compared."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import permutations
from typing import Any, Protocol, runtime_checkable

from takifugu.core.cache import cached
from takifugu.core.entries import Entries, position
from takifugu.core.errors import InputError, did_you_mean, nearest
from takifugu.core.lists import value_of
from takifugu.core.plain import Json, Plain
from takifugu.core.registry import Registry
from takifugu.model.secrets.hypotheses import (
    Comparison,
    Hypothesis,
    LawIs,
    PropertyIs,
    State,
    entry_is,
)
from takifugu.numbers.rationals import Number, as_fraction, to_text

#: The letter of a user who is not there (beliefs.users); the belief says what that means: "unknown" or "removed".
ABSENT = "absent"


class Believed(Entries, Protocol):
    """What a secret must know about a belief."""

    def possible(self, entry: int) -> tuple[bool, ...]: ...


@runtime_checkable
class WithAbsence(Protocol):
    """A belief about users who may be absent, in the mode that it says: "unknown", "removed" or "" for never."""

    @property
    def absence(self) -> str: ...


@runtime_checkable
class WithViews(Protocol):
    """A belief over records: a secret about columns has a view of it, None where it is read as it is."""

    def property(self, secret: object) -> Any: ...


@runtime_checkable
class View(Believed, Protocol):
    """A belief as a secret about columns reads it: one entry, whose alphabet holds the hypotheses."""

    @property
    def pairs(self) -> tuple[tuple[int, int], ...] | None:
        """The pairs of hypotheses that are compared, None for all."""
        ...

    def describe_hypothesis(self, value: int) -> str: ...


@dataclass(frozen=True)
class Family:
    """Ordered pairs of values of some entries: `entries` are compared over `pairs` of value indices, or over all.

    A pair that is given in one order is compared in the other, too.

    With `presence` every value is compared with absence; without, and without `pairs`, values with each other only.
    The pairs stand for both orders; values of probability zero under the belief are skipped by whoever enumerates.
    """

    entries: range | tuple[int, ...]
    pairs: tuple[tuple[int, int], ...] | None = None
    presence: bool = False

    def __post_init__(self) -> None:
        if self.pairs is not None:
            both = dict.fromkeys([*self.pairs, *((b, a) for a, b in self.pairs)])
            object.__setattr__(self, "pairs", tuple(both))

    def value_pairs(self, belief: Believed, entry: int) -> tuple[tuple[int, int], ...]:
        """Return the ordered pairs of value indices that this belief must not let anyone tell apart at `entry`."""
        possible, absent = tuple(belief.possible(entry)), absent_index(belief, entry)
        return _value_pairs(possible, absent, self.pairs, self.presence)

    def has_pairs(self, belief: Believed, entry: int) -> bool:
        """Return whether there is anything to hide at `entry`, without listing it."""
        if self.presence or self.pairs is not None:
            return bool(self.value_pairs(belief, entry))
        absent = absent_index(belief, entry)
        return sum(can and v != absent for v, can in enumerate(belief.possible(entry))) > 1


@lru_cache(maxsize=64)
def _value_pairs(
    possible: tuple[bool, ...], absent: int | None, pairs: tuple[tuple[int, int], ...] | None, presence: bool
) -> tuple[tuple[int, int], ...]:
    """Return the pairs of `Family.value_pairs`; entries where the same is possible share one tuple."""
    values = [v for v, can in enumerate(possible) if can and v != absent]
    if presence:
        if absent is None or not possible[absent]:
            return ()
        return tuple(pair for a in values for pair in ((a, absent), (absent, a)))
    if pairs is None:
        return tuple(permutations(values, 2))
    return tuple((a, b) for a, b in pairs if possible[a] and possible[b])


def compared_values(pairs: Iterable[tuple[int, int]]) -> list[int]:
    """Return the value indices that stand in some pair, in order."""
    return sorted({value for pair in pairs for value in pair})


def absent_index(belief: Entries, entry: int) -> int | None:
    """Return the index of ABSENT, the last letter, in an entry's alphabet; None where the belief has no absence."""
    alphabet = belief.alphabet(entry)
    is_last = alphabet[-1:] == (ABSENT,)
    return len(alphabet) - 1 if is_last and isinstance(belief, WithAbsence) else None


def _called(entry: int | str) -> str:
    return f"the value at place {entry}" if isinstance(entry, int) else repr(entry)


@runtime_checkable
class Secret(Protocol):
    def family(self, belief: Believed) -> Family: ...

    def to_dict(self) -> Json: ...

    def describe(self) -> str: ...


@runtime_checkable
class OfViews(Protocol):
    """A secret about something else than entries, which reads a belief by a view of it."""

    def view(self, belief: object) -> Any: ...


@dataclass(frozen=True)
class EveryEntry:
    """Hide the value of every entry, or of every entry of one named column.

    Over records that is the column's value in one record ("individual attribute privacy", Zhang22 §3), compared with
    values up to `max_difference` away where a column has no bounds.
    """

    attribute: Hashable | None = None
    max_difference: Fraction | None = None

    def view(self, belief: Believed) -> Any:
        return belief.property(self) if isinstance(belief, WithViews) else None

    def family(self, belief: Believed) -> Family:
        if isinstance(belief, View):
            return Family((0,), belief.pairs)
        if self.attribute is None:
            return Family(range(belief.size))
        return Family((belief.position(self.attribute),))

    def to_dict(self) -> Json:
        near = {} if self.max_difference is None else {"max_difference": to_text(self.max_difference)}
        return {"kind": "every-entry", "attribute": self.attribute, **near}

    def describe(self) -> str:
        what = "every single value" if self.attribute is None else f"the value of {self.attribute!r}"
        return what if self.max_difference is None else f"{what}, up to a difference of {to_text(self.max_difference)}"


@dataclass(frozen=True)
class EntryPair:
    """Hide whether one entry has value `a` or value `b`."""

    entry: int | str
    a: State
    b: State

    def family(self, belief: Believed) -> Family:
        entry = position(belief, self.entry)
        alphabet = belief.alphabet(entry)
        for key, value in (("a", self.a), ("b", self.b)):
            if value not in alphabet:
                raise InputError(
                    f"the secret names value {value!r}, which {_called(self.entry)} cannot take",
                    fix=f"write {nearest(value, alphabet)}{did_you_mean(value, alphabet)}",
                ).at(key)
        left, right = alphabet.index(self.a), alphabet.index(self.b)
        if left == right:
            raise InputError(f"the secret compares {self.a!r} with itself", fix="name two different values").at("b")
        return Family((entry,), ((left, right), (right, left)))

    def to_dict(self) -> Json:
        return {"kind": "entry", "entry": self.entry, "a": self.a, "b": self.b}

    def describe(self) -> str:
        return f"whether {_called(self.entry)} is {self.a!r} or {self.b!r}"


@dataclass(frozen=True)
class Presence:
    """Hide whether a user, or every user, is present: each value that a present user can have against absence.

    Hence also any mixture of these values, such as "present, and nothing more is known".
    """

    user: int | str | None = None

    def family(self, belief: Believed) -> Family:
        if not isinstance(belief, WithAbsence):
            raise InputError("the belief has no absent users", fix="presence(...) requires IndependentUsers(...)")
        if self.user is None:
            return Family(range(belief.size), presence=True)
        return Family((position(belief, self.user, "the secret is about user", "users", "user"),), presence=True)

    def to_dict(self) -> Json:
        return {"kind": "presence", "user": self.user}

    def describe(self) -> str:
        if self.user is None:
            return "whether each user is present or absent"
        name = f"user {self.user}" if isinstance(self.user, int) else repr(self.user)
        return f"whether {name} is present or absent"


@dataclass(frozen=True)
class WhichLaw:
    """Hide which of two distributions the answer is drawn from."""

    def family(self, belief: Believed) -> Family:
        return Family((0,), ((0, 1), (1, 0)))

    def to_dict(self) -> Json:
        return {"kind": "which-law"}

    def describe(self) -> str:
        return "which of the two distributions the answer comes from"


def every_entry(attribute: Hashable | None = None, max_difference: Number | None = None) -> EveryEntry:
    """Hide the value of every entry of a sequence or table (Song17 §2.1), or of one named column.

    Under a belief over records it is the column's value in any one record (Zhang22 §3); `max_difference` says how far
    apart two values may be, and is required where the column has no bounds. Raises InputError unless it is above 0.

    >>> every_entry().describe(), every_entry("income", max_difference=5).describe()
    ('every single value', "the value of 'income', up to a difference of 5")
    """
    near = None if max_difference is None else as_fraction(max_difference, "max_difference", "max_difference")
    if near is not None and near <= 0:
        raise InputError(f"max_difference is {max_difference!r}", rule="it must be above 0").at("max_difference")
    return EveryEntry(value_of(attribute), near)


def entry(i: int, a: State, b: State) -> EntryPair:
    """Hide whether entry `i` (counted from 0) has value `a` or value `b`, in both orders (Song17 §2.1).

    Entries with names are counted in the order in which they were listed; `attribute` names them.

    Raises InputError unless i is a whole number from 0; whether the belief knows the values is checked with it.

    >>> entry(6, "ill", "well").describe()
    "whether the value at place 6 is 'ill' or 'well'"
    """
    number = value_of(i)
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise InputError(
            f"the entry is {i!r}", fix="write a whole number, counted from 0; a column is attribute(name, a, b)"
        ).at("entry")
    return EntryPair(number, value_of(a), value_of(b))


def attribute(name: str, a: State, b: State) -> EntryPair:
    """Hide whether the named column of a table has value `a` or value `b`, in both orders (Ding22 §2).

    Raises InputError unless the name is text.

    >>> attribute("race", "White", "Other").describe()
    "whether 'race' is 'White' or 'Other'"
    """
    if not isinstance(name, str):
        raise InputError(
            f"the column is {name!r}", rule="it must be text", fix="an entry by its number is entry(i, ...)"
        ).at("attribute")
    return EntryPair(str(name), value_of(a), value_of(b))


def presence(user: int | str | None = None) -> Presence:
    """Hide whether a user (number from 0, or name), or every user if none is named, is present (Ding22 §3.3.1).

    The belief says what "absent" means: `IndependentUsers(..., absence="unknown" or "removed")`. Raises InputError
    unless the user is a whole number from 0 or text.

    >>> presence(3).describe()
    'whether user 3 is present or absent'
    """
    who = value_of(user)
    number = isinstance(who, int) and not isinstance(who, bool) and who >= 0
    if not (who is None or number or isinstance(who, str)):
        raise InputError(
            f"the user is {user!r}", fix="write a number, counted from 0, a name, or nothing for all users"
        ).at("user")
    return Presence(who)


def from_dict(data: Plain) -> Secret:
    """Read a secret back from its `to_dict` form.

    Raises InputError for an unknown kind or a missing key.

    >>> from_dict(every_entry().to_dict())
    EveryEntry(attribute=None, max_difference=None)
    """
    return KINDS.find(data.get("kind"))(data)


def check_registered(secret: Secret) -> None:
    """Raise InputError for a secret that a ledger could not read back, or would read back as one of another type."""
    again = from_dict(secret.to_dict())
    if type(again) is not type(secret):
        raise InputError(
            f"a secret of type {type(secret).__name__} reads back from its to_dict as one of {type(again).__name__}",
            rule="a ledger charges for what it reads back", fix="register its type under a kind of its own",
        ).at("kind")  # fmt: skip


def _pair(data: Plain) -> Secret:
    missing = [key for key in ("entry", "a", "b") if key not in data]
    if missing:
        raise InputError(f"the secret about an entry lacks {missing}", fix="add what is missing")
    return EntryPair(data["entry"], data["a"], data["b"])


def _every(data: Plain) -> Secret:
    return every_entry(data.get("attribute"), data.get("max_difference"))


def _presence(data: Plain) -> Secret:
    return presence(data.get("user"))


def _which(data: Plain) -> Secret:
    return WhichLaw()


#: How each kind of secret is read back.
KINDS: Registry[Callable[[Plain], Secret]] = Registry(
    "the secret's kind",
    {
        "every-entry": "model.secrets:_every", "entry": "model.secrets:_pair", "presence": "model.secrets:_presence",
        "which-law": "model.secrets:_which",
        "dataset-property": "model.secrets.properties:property_from",
        "distribution-parameter": "model.secrets.properties:parameter_from",
        "policy": "model.policies.policy:policy_from",
        "which-population": "model.secrets.populations:which_from",
    },
)  # fmt: skip
register = KINDS.register


def view(secret: Secret, belief: Believed) -> Any:
    """Return a belief about one entry that holds what the secret weighs, where that is no entry of the belief's own.

    Secrets about whole columns have one (`properties`); None says that the belief is read as it is.
    """
    if not isinstance(secret, OfViews):
        return None
    return cached(belief, (view, secret), lambda: secret.view(belief))


def comparisons(secret: Secret, belief: Believed) -> Iterator[Comparison]:
    """Enumerate the ordered comparisons of a secret under a belief, lazily: for tests and small cases."""
    seen = view(secret, belief)
    belief = belief if seen is None else seen
    family = secret.family(belief)
    for place in family.entries:
        values = belief.alphabet(place)
        for a, b in family.value_pairs(belief, place):
            left: Hypothesis
            right: Hypothesis
            if isinstance(secret, WhichLaw):
                left, right = LawIs(str(values[a])), LawIs(str(values[b]))
            elif seen is not None:
                left, right = (PropertyIs(seen.describe_hypothesis(v)) for v in (a, b))
            else:
                left, right = (entry_is(belief, place, value) for value in (a, b))
            yield Comparison(belief, left, right)
