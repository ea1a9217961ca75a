"""Independent users: each has a finite distribution of its contribution and a probability of being present."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from takifugu.core.arrays import IntArray, read_only
from takifugu.core.assumptions import Assumption, public, world
from takifugu.core.columns import no_list, value_of
from takifugu.core.entries import Components
from takifugu.core.errors import InputError
from takifugu.core.nearest import did_you_mean
from takifugu.core.plain import ByValue, Json, Plain, set_fields
from takifugu.core.rules import are_different, check_any, check_as_many, list_of
from takifugu.model.beliefs.states import State
from takifugu.model.beliefs.user_laws import MODES, Letters, Mass, UserLaw, absence_words, checked_absence, user_laws
from takifugu.numbers.rationals import as_whole, exact_or_float


@dataclass(frozen=True, eq=False)
class IndependentUsers(ByValue):
    """Model independent users, each with a distribution of values and perhaps absent (Ding22 §3.3.1).

    Ints and Fractions stay exact. `IndependentUsers.groups` builds millions of users from a few distributions.

    Args:
        laws: The distribution of each user, value -> probability.
        presence: Probability of being present, one number or one for each user.
        absence: Meaning of "absent", required for a presence below 1. "unknown", the paper's: an absent user is counted
            with an unknown value, so absence is possible for everybody and `presence` does not matter. "removed": an
            absent user contributes nothing.
        names: Names of the users; None for numbers from 0.
        source: Where the numbers come from, in words; certificates print it.

    Raises:
        InputError: For no users, masses that are no probabilities, repeated values, the value "absent", and "removed"
            where everybody is certainly present.

    Examples:
        >>> users = IndependentUsers([{0: 0.25, 1: 0.75}] * 3, presence=0.5, absence="removed")
        >>> users.size, users.alphabet(0)
        (3, (0, 1, 'absent'))
    """

    laws: tuple[UserLaw, ...]
    law_of: IntArray
    absence: str
    user_names: tuple[Hashable, ...] | None
    source: str
    #: The groups in order, if they have names: which users are alike in all that is asked of them.
    of_groups: tuple[tuple[str, int], ...]
    #: What people call one without a name.
    entry_word: ClassVar[str] = "user"

    answers: ClassVar = {
        "the distribution of the answer": "analysis.answer_laws.users:UsersLaw",
        "how data are read": "analysis.questions.evaluating:of_users",
        "the mean of an answer": "analysis.expectations.rows:OfUsers",
        "the list of joint states": "audit.states:UserStates",
        "the distribution of a cell": "analysis.cell_laws.characteristic:of_users",
        "the moments of a count": "analysis.expectations.moments_of_rows:of_users",
        "data drawn from a belief": "analysis.questions.made_up_data:of_users",
    }

    def __init__(
        self,
        laws: Iterable[Hashable],
        presence: Mass | Iterable[Mass] = 1,
        absence: str | None = None,
        names: Iterable[Hashable] | None = None,
        source: str = "assumed",
    ) -> None:
        example = "[{0: 0.3, 1: 0.7}] * 25"
        all_laws = [laws] if isinstance(laws, Mapping) else list_of(laws, "the users", "laws", example)
        fix = f"give one distribution per user, for example {example}"
        check_any(all_laws, "there are no users", "laws", fix=fix)
        shared = no_list(presence) is not None
        presences = [presence] * len(all_laws) if shared else list(presence)  # type: ignore[arg-type]
        check_as_many(presences, "presences", all_laws, "users", "presence", fix="give one, or one per user")
        self._fill(user_laws(list(zip(all_laws, presences, strict=True))), absence, names, source)

    @staticmethod
    def groups(
        groups: Iterable[Sequence[object]], absence: str | None = None, source: str = "assumed",
        names: Iterable[str] = (),
    ) -> IndependentUsers:  # fmt: skip
        """Return users that share a few distributions.

        Args:
            groups: (count, distribution) or (count, distribution, presence) for each group.
            absence: As in `IndependentUsers`.
            source: Where the numbers come from, in words; certificates print it.
            names: Names of the groups. A user of a group is then nobody's number in other groups.

        Returns:
            The belief, with the groups' users in order.

        Raises:
            InputError: For no group, a count below 1, and as `IndependentUsers`.

        Examples:
            >>> IndependentUsers.groups([(600_000, {0: 0.5, 1: 0.5}), (400_000, {0: 0.9, 1: 0.1})]).size
            1000000
        """
        laws: list[tuple[object, object]] = []
        counts: list[int] = []
        for group in list_of(groups, "the groups", "groups", "[(600, {0: 0.5, 1: 0.5})]"):
            if isinstance(group, str | Mapping) or not isinstance(group, Sequence) or len(group) not in (2, 3):
                raise InputError(f"a group is {group!r}", fix="write (count, distribution[, presence])").at("groups")
            count = as_whole(value_of(group[0]), "the number of users in a group", "groups", least=1)
            counts.append(count)
            _, law, presence, *_ = (*group, 1)
            laws.append((law, presence))
        check_any(laws, "there are no users", "groups", fix="give at least one group (count, distribution)")
        users = object.__new__(IndependentUsers)
        users._fill(user_laws(laws), absence, None, source, counts)
        called = list_of(names, "the groups", "names", "['ward 1', 'ward 2']")
        if called:
            check_as_many(called, "names", counts, "groups", "names", fix="give one name for each group")
        set_fields(users, of_groups=tuple(zip(map(str, called), counts, strict=False)))
        return users

    def _fill(
        self,
        laws: Sequence[UserLaw],
        absence: str | None,
        names: Iterable[Hashable] | None,
        source: str,
        counts: Sequence[int] | None = None,
    ) -> None:
        number = {value: place for place, value in enumerate(dict.fromkeys(laws))}
        law_of = np.array([number[law] for law in laws], dtype=np.int64)
        if counts is not None:
            law_of = np.repeat(law_of, counts)
        read_only(law_of)
        list_of_names = None
        if names is not None:
            list_of_names = list_of(names, "the users", "names", "['Ana', 'Ben']")
        called = None if list_of_names is None else tuple(map(value_of, list_of_names))
        if called is not None and (len(called) != len(law_of) or not are_different(called)):
            raise InputError(f"there are {len(law_of)} users", fix="give one different name each").at("names")
        set_fields(
            self, laws=tuple(number), law_of=law_of, absence=checked_absence(absence, [law.presence for law in number]),
            user_names=called, source=source, of_groups=(),
        )  # fmt: skip

    @property
    def size(self) -> int:
        return len(self.law_of)

    @property
    def names(self) -> tuple[Hashable, ...] | None:
        return self.user_names

    @property
    def one_alphabet(self) -> bool:
        return len(self.letters) == 1

    @cached_property
    def letters(self) -> tuple[Letters, ...]:
        """The different alphabets, by number in `letters_of`."""
        return tuple(dict.fromkeys(self._letters_of_laws))

    @cached_property
    def letters_of(self) -> IntArray:
        numbers = map(self.letters.index, self._letters_of_laws)
        return read_only(np.fromiter(numbers, dtype=np.int64, count=len(self.laws))[self.law_of])

    @cached_property
    def likeness(self) -> IntArray:
        """Return a number per user, equal for equal alphabets and possible values."""
        number_of: dict[Hashable, int] = {}
        keys = zip(self._letters_of_laws, self._possible, strict=True)
        numbers = np.array([number_of.setdefault(key, len(number_of)) for key in keys], dtype=np.int64)
        return read_only(numbers[self.law_of])

    @cached_property
    def _letters_of_laws(self) -> list[Letters]:
        letters = []
        for law in self.laws:
            may_be_absent = self.absence == "unknown" or law.presence < 1
            letters.append(Letters(law.values, self.absence * may_be_absent))
        return letters

    def law(self, user: int) -> UserLaw:
        """Return a user's distribution and chance of presence.

        Args:
            user: The user's number.

        Returns:
            Both.
        """
        return self.laws[int(self.law_of[user])]

    def alphabet(self, entry: int) -> tuple[State, ...]:
        return self._alphabets[int(self.law_of[entry])]

    @cached_property
    def _alphabets(self) -> tuple[tuple[State, ...], ...]:
        return tuple(letters.alphabet for letters in self._letters_of_laws)

    def position(self, name: Hashable) -> int:
        if self.user_names is None:
            raise InputError(
                f"the users have no names, so there is no {name!r}", fix="number them from 0, or give names"
            )
        if name in self.user_names:
            return self.user_names.index(name)
        raise InputError(f"the belief has no user {name!r}{did_you_mean(name, self.user_names)}")

    def possible(self, entry: int) -> tuple[bool, ...]:
        return self._possible[int(self.law_of[entry])]

    @cached_property
    def _possible(self) -> tuple[tuple[bool, ...], ...]:
        possible = []
        for law, letters in zip(self.laws, self._letters_of_laws, strict=True):
            of_values = tuple(law.presence > 0 and p > 0 for p in law.probabilities)
            possible.append(of_values + (True,) * bool(letters.absence))
        return tuple(possible)

    def components(self) -> Sequence[range]:
        return Components(range(1, self.size + 1))

    def component(self, number: int) -> IndependentUsers:
        number_of_law = int(self.law_of[number])
        if number_of_law not in self._alone:
            alone = object.__new__(IndependentUsers)
            alone._fill([self.laws[number_of_law]], "unknown", None, self.source)
            set_fields(alone, absence=self.absence)
            self._alone[number_of_law] = alone
        return self._alone[number_of_law]

    @cached_property
    def _alone(self) -> dict[int, IndependentUsers]:
        return {}

    def likenesses(self, columns: Iterable[IntArray | None], by_law: bool = False) -> IntArray:
        """Return one number for each user, equal for like users.

        Like users have the same alphabet, possible values and columns.

        Args:
            columns: Effects of the users on an answer; None for no effect.
            by_law: Whether like users have the same distribution, too.

        Returns:
            Whole numbers, shape (users,).
        """
        code = self.law_of if by_law else self.likeness
        for column in columns:
            if column is not None and (column != column[0]).any():
                numbers = np.unique(column, return_inverse=True)[1].ravel()
                code = np.unique(code * (int(numbers.max()) + 1) + numbers, return_inverse=True)[1].ravel()
        return code

    def representatives(
        self, entries: range | tuple[int, ...], columns: Iterable[IntArray | None], by_law: bool = False
    ) -> list[int]:
        """Return the first of each set of like users, in order.

        Args:
            entries: Numbers of the users to look at.
            columns: Effects of the users on an answer; None for no effect.
            by_law: Whether like users have the same distribution, too.

        Returns:
            Their numbers.
        """
        if isinstance(entries, range):
            places = np.arange(entries.start, entries.stop)
        else:
            places = np.array(entries, np.int64)
        code = self.likenesses(columns, by_law)[places]
        return sorted(places[np.unique(code, return_index=True)[1]].tolist())

    def assumptions(self) -> tuple[Assumption, ...]:
        return (
            world("The users are independent of each other, each with the stated distribution of its contribution."),
            public("The list of possible users is public."),
            *([absence_words(self.absence)] if self._may_be_absent else []),
        )

    @property
    def _may_be_absent(self) -> bool:
        return any(law.presence < 1 for law in self.laws)

    def to_dict(self) -> Json:
        ends = np.flatnonzero(np.diff(self.law_of)) + 1
        starts = [0, *ends.tolist()]
        runs = zip(starts, [*starts[1:], self.size], strict=True)
        return {
            "kind": "independent-users",
            "laws": list(map(UserLaw.to_dict, self.laws)),
            "users": [[end - start, int(self.law_of[start])] for start, end in runs],
            "absence": self.absence,
            "names": None if self.user_names is None else list(self.user_names),
            "source": self.source,
            **({"groups": [list(group) for group in self.of_groups]} if self.of_groups else {}),
        }

    @staticmethod
    def from_dict(data: Plain) -> IndependentUsers:
        laws = []
        for of_user in data["laws"]:
            pairs = [(value, exact_or_float(mass)) for value, mass in of_user["law"]]
            laws.append((pairs, exact_or_float(of_user["presence"])))
        groups = [(count, *laws[number]) for count, number in data["users"]]
        users = IndependentUsers.groups(groups, data["absence"], data.get("source", "assumed"))
        names = data.get("names")
        of_groups = tuple((str(name), int(count)) for name, count in data.get("groups", ()))
        set_fields(users, user_names=None if names is None else tuple(names), of_groups=of_groups)
        return users

    def describe(self) -> str:
        if len(self.laws) == 1:
            laws = "one distribution"
        else:
            laws = f"{len(self.laws)} different distributions"
        absence = f"; {MODES[self.absence]}" if self._may_be_absent else ""
        return f"{self.size} independent users with {laws}{absence} ({self.source})"
