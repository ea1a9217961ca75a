"""Secrets about entries: the value of every one, two values of one, or whether a user is present."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from takifugu.core.columns import value_of
from takifugu.core.entries import position
from takifugu.core.errors import InputError
from takifugu.core.nearest import unknown
from takifugu.core.plain import AS_IT_IS, LEFT_OUT, Plain, PlainForm, set_fields
from takifugu.core.rules import requires
from takifugu.model.secrets.families import ABSENT, Believed, Family, InOrder, View, WithAbsence, view_of
from takifugu.model.secrets.hypotheses import State
from takifugu.model.secrets.value_sets import near_in_any_order
from takifugu.numbers.rationals import Number, as_fractions, as_positive, as_whole, is_whole, to_text


@dataclass(frozen=True)
class EveryEntry(PlainForm, kind="every-entry"):
    """Hide the value of every entry, or of every entry of one named column."""

    attribute: Hashable | None = None
    #: Values are compared up to so far apart, None: all. Over records they are the column's in one record.
    max_difference: Fraction | None = field(default=None, metadata=LEFT_OUT)

    def __post_init__(self) -> None:
        most = self.max_difference
        if most is not None:
            most = as_positive(most, "max_difference", "max_difference")
        set_fields(self, attribute=value_of(self.attribute), max_difference=most)

    def view(self, belief: Believed) -> View | None:
        return view_of(belief, self)

    def family(self, belief: Believed) -> Family:
        if isinstance(belief, View):
            return Family((0,), belief.pairs)
        entries = range(belief.size) if self.attribute is None else (belief.position(self.attribute),)
        return Family(entries, self._compared(belief, entries))

    def _compared(self, belief: Believed, entries: Sequence[int]) -> tuple[tuple[int, int], ...] | None:
        """Return the pairs of values within `max_difference`; None for all."""
        if self.max_difference is None:
            return None
        alphabets = set(map(tuple, map(belief.alphabet, entries[:1] if belief.one_alphabet else entries)))
        (values, *others) = (tuple(value for value in alphabet if value != ABSENT) for alphabet in alphabets)
        if others or any(isinstance(value, str | bool) for value in values):
            raise InputError(
                "the values of the entries are no numbers, or other ones in each", rule="differences are of numbers",
                fix="leave max_difference out, or name one column of numbers",
            ).at("max_difference")  # fmt: skip
        return near_in_any_order(as_fractions(values, "a value", "max_difference"), self.max_difference)

    def describe(self) -> str:
        if self.attribute is None:
            subject = "every single value"
        else:
            subject = f"the value of {self.attribute!r}"
        if self.max_difference is None:
            return subject
        return f"{subject}, up to a difference of {to_text(self.max_difference)}"


@dataclass(frozen=True)
class EveryRun(PlainForm, kind="every-run"):
    """Hide the values of every `length` steps in a row of a sequence, all of them together."""

    #: Any values of so many steps are compared with any others; a shorter sequence is hidden as a whole.
    length: int

    def __post_init__(self) -> None:
        set_fields(self, length=as_whole(value_of(self.length), "the length of a run", "length", least=1))

    def family(self, belief: Believed) -> Family:
        if not isinstance(belief, InOrder):
            raise requires("the secret is a run of steps", "a belief about a sequence", "MarkovChain(...)")
        return Family(range(belief.size), run=self.length)

    def describe(self) -> str:
        return "every single value" if self.length == 1 else f"any {self.length} values in a row, together"


def longest_run(secrets: Iterable[Plain]) -> int:
    """Return how many steps in a row are hidden together by secrets as they are written, 1 where single ones are."""
    return max((int(secret["length"]) for secret in secrets if secret["kind"] == EveryRun.kind), default=1)


@dataclass(frozen=True)
class EntryPair(PlainForm, kind="entry"):
    """Hide whether one entry has value `a` or value `b`."""

    entry: int | str
    a: State = field(metadata=AS_IT_IS)
    b: State = field(metadata=AS_IT_IS)

    def family(self, belief: Believed) -> Family:
        entry = position(belief, self.entry)
        alphabet = belief.alphabet(entry)
        for key, value in (("a", self.a), ("b", self.b)):
            if value not in alphabet:
                what = f"the secret names value {value!r}, which {_called(self.entry)} cannot take"
                raise unknown(what, value, alphabet).at(key)
        left, right = alphabet.index(self.a), alphabet.index(self.b)
        if left == right:
            raise InputError(f"the secret compares {self.a!r} with itself", fix="name two different values").at("b")
        return Family((entry,), ((left, right), (right, left)))

    def describe(self) -> str:
        return f"whether {_called(self.entry)} is {self.a!r} or {self.b!r}"


@dataclass(frozen=True)
class Presence(PlainForm, kind="presence"):
    """Hide whether a user, or every user, is present: each value that a present user can have against absence."""

    #: None: every user. Hidden is then also any mixture of values: "present, and nothing more is known".
    user: int | str | None = None

    def __post_init__(self) -> None:
        who = value_of(self.user)
        if not (who is None or is_whole(who) or isinstance(who, str)):
            raise InputError(
                f"the user is {self.user!r}", fix="write a number, counted from 0, a name, or nothing for all users"
            ).at("user")
        set_fields(self, user=who)

    def family(self, belief: Believed) -> Family:
        if not isinstance(belief, WithAbsence):
            raise requires("the secret is who is present", "a belief with absent users", "IndependentUsers(...)")
        if self.user is None:
            return Family(range(belief.size), presence=True)
        return Family((position(belief, self.user, "the secret is about user", "users", "user"),), presence=True)

    def describe(self) -> str:
        if self.user is None:
            return "whether each user is present or absent"
        name = f"user {self.user}" if isinstance(self.user, int) else repr(self.user)
        return f"whether {name} is present or absent"


def every_entry(attribute: Hashable | None = None, max_difference: Number | None = None) -> EveryEntry:
    """Hide the value of every entry, or of one named column.

    Entries are those of a sequence or table (Song17 §2.1). Under a belief over records, the secret is the column's
    value in any one record (Zhang22 §3).

    Args:
        attribute: The column's name; None for all entries.
        max_difference: Largest difference of two values that are hidden from each other, in the column's units; None
            for all. A column without bounds requires it.

    Returns:
        The secret, for `Pufferfish`.

    Raises:
        InputError: Unless `max_difference` is above 0.

    Examples:
        >>> every_entry().describe(), every_entry("income", max_difference=5).describe()
        ('every single value', "the value of 'income', up to a difference of 5")
    """
    return EveryEntry(attribute, max_difference)  # type: ignore[arg-type]


def every_run(length: int) -> EveryRun:
    """Hide the values of every run of steps, together.

    Any set of paths of these steps is hidden from any other, such as "ill for all of them" from "well for all of them".

    Args:
        length: Steps of a run. `every_run(1)` is `every_entry()` of a sequence.

    Returns:
        The secret, for `Pufferfish`.

    Raises:
        InputError: Unless `length` is a whole number from 1.

    Source: docs/theory/influence.md, Theorem 18.

    Examples:
        >>> every_run(4).describe()
        'any 4 values in a row, together'
    """
    return EveryRun(length)


def entry(i: int, a: State, b: State) -> EntryPair:
    """Hide whether one entry has value `a` or `b`, in both orders (Song17 §2.1).

    Args:
        i: The entry's number, from 0; named entries count in the order of the list. `attribute` takes names.
        a: One value.
        b: The other value.

    Returns:
        The secret, for `Pufferfish`, which checks that the belief knows the values.

    Raises:
        InputError: Unless `i` is a whole number from 0.

    Examples:
        >>> entry(6, "ill", "well").describe()
        "whether the value at place 6 is 'ill' or 'well'"
    """
    number = value_of(i)
    if not is_whole(number):
        fix = "write a whole number, counted from 0"
        if isinstance(number, str):  # a column, a variable of a network
            fix = f"write attribute({number!r}, {a!r}, {b!r})"
        raise InputError(f"the entry is {i!r}", rule="an entry has a number, and a column a name", fix=fix).at("entry")
    return EntryPair(number, value_of(a), value_of(b))


def attribute(name: str, a: State, b: State) -> EntryPair:
    """Hide whether a column has value `a` or `b`, in both orders (Ding22 §2).

    Args:
        name: The column's name.
        a: One value.
        b: The other value.

    Returns:
        The secret, for `Pufferfish`.

    Raises:
        InputError: Unless the name is text.

    Examples:
        >>> attribute("race", "White", "Other").describe()
        "whether 'race' is 'White' or 'Other'"
    """
    if not isinstance(name, str):
        fix = "write its name as text"
        if is_whole(name):
            fix = f"an entry by its number is entry({name!r}, {a!r}, {b!r})"
        raise InputError(f"the column is {name!r}", rule="it must be text", fix=fix).at("attribute")
    return EntryPair(str(name), value_of(a), value_of(b))


def presence(user: int | str | None = None) -> Presence:
    """Hide whether a user, or every user, is present (Ding22 §3.3.1).

    The belief declares the meaning of absence: `IndependentUsers(..., absence="unknown")` or "removed".

    Args:
        user: A number from 0, or a name; None for every user.

    Returns:
        The secret, for `Pufferfish`.

    Raises:
        InputError: Unless the user is a whole number from 0 or text.

    Examples:
        >>> presence(3).describe()
        'whether user 3 is present or absent'
    """
    return Presence(user)


def _called(entry: int | str) -> str:
    return f"the value at place {entry}" if isinstance(entry, int) else repr(entry)
