"""Contact graphs: people in a clique fall ill together, cliques are independent (the flu of Song17 §2 and §3)."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, chain, pairwise, starmap
from numbers import Real
from typing import ClassVar

import numpy as np

from takifugu.core.arrays import Fixed
from takifugu.core.assumptions import Assumption, public, world
from takifugu.core.cache import memoised
from takifugu.core.columns import value_of
from takifugu.core.entries import Nameless, Undivided
from takifugu.core.errors import InputError
from takifugu.core.nearest import did_you_mean
from takifugu.core.plain import VALUES, Json, PlainForm, form, set_fields
from takifugu.core.rules import are_different, check_as_many, list_of, wrong_type
from takifugu.model.beliefs.estimate import checked_source
from takifugu.model.beliefs.states import State, checked_alphabet
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.rationals import as_whole, exact_or_float, plain_number

Numbers = Pmf | Sequence[float | int | Fraction]

#: People in one clique: beyond them an answer would take hours.
LARGEST_CLIQUE = 100
_CLIQUES = "[['Ana', 'Ben'], ['Chi']]"


@dataclass(frozen=True, eq=False)
class Clique(Nameless, Undivided):
    """`size` people, 0 (well) or 1 (ill), of whom a random number is ill, all sets of that size equally likely."""

    size: int
    #: The distribution of the number of ill people, on 0 .. size.
    number: Pmf
    states: tuple[State, State] = (0, 1)
    source: str = "assumed"

    entry_word = "row"
    answers: ClassVar = {
        "the distribution of the answer": "analysis.answer_laws.cliques:CliqueLaw",
        "the mean of an answer": "analysis.expectations.means:OfClique",
        "what is known of quilts": "analysis.questions.influence:CLIQUE",
        "the list of joint states": "audit.states:CliqueStates",
        "the distribution of a cell": "analysis.cell_laws.characteristic:of_clique",
        "the moments of a count": "analysis.expectations.moments_of_rows:of_any_law",
        "the distribution of an entry": "analysis.answer_laws.cliques:CliqueMarginal",
        "what a profile costs its secrets": "influence.networks.tables:CLIQUE",
    }

    def __post_init__(self) -> None:
        set_fields(self, states=checked_alphabet(self.states, "the clique"))

    def alphabet(self, entry: int) -> tuple[State, ...]:
        return self.states

    def position(self, name: Hashable) -> int:
        raise InputError(f"one clique has no person {name!r}", rule="its entries are counted from 0")

    def possible(self, entry: int) -> tuple[bool, ...]:
        low, high = self.number.support_range
        return low < self.size, high > 0

    def assumptions(self) -> tuple[Assumption, ...]:
        return (world(f"In a clique of {self.size} all sets of equally many ill people are equally likely."),)

    def to_dict(self) -> Json:
        return CliqueInfection([range(self.size)], {self.size: self.number}, self.states, self.source).to_dict()

    def describe(self) -> str:
        return f"a clique of {self.size} people ({self.source})"


def _written_laws(laws: Mapping[int, Pmf]) -> dict[str, list[float | str]]:
    """Write each size's distribution as masses of 0, 1, ... ill people."""
    masses_by_size = {}
    for size, law in laws.items():
        masses = dict(law.items())
        masses_by_size[str(size)] = [plain_number(masses.get(number, 0)) for number in range(size + 1)]
    return masses_by_size


def _read_laws(laws: Mapping[str, list[float | str]]) -> dict[int, list[float | Fraction]]:
    return {int(size): list(map(exact_or_float, masses)) for size, masses in laws.items()}


@dataclass(frozen=True, eq=False)
class CliqueInfection(PlainForm, kind="clique-infection"):
    """Model independent cliques of people, each with a distribution of its number of ill people (Song17 §2, §3).

    All sets of n ill people in a clique are equally likely. Entries are the people, clique by clique.

    Args:
        cliques: Disjoint lists of names.
        number: Probabilities of 0 .. m ill people in a clique of m: a mapping from m, or a function of m.
        states: Two states, well first and ill second.
        source: Where the numbers come from, in words; certificates print it.

    Raises:
        InputError: For no people, a name in two cliques, and a distribution that is missing or wrong.

    Examples:
        >>> numbers = {1: [0.9, 0.1], 2: [0.8, 0.1, 0.1]}
        >>> belief = CliqueInfection([["ann", "bob"], ["cem"]], numbers, states=["well", "ill"])
        >>> belief.names, belief.components()
        (('ann', 'bob', 'cem'), (range(0, 2), range(2, 3)))
    """

    cliques: tuple[tuple[Hashable, ...], ...]
    numbers: Mapping[int, Pmf] = field(metadata=form(_written_laws, _read_laws, key="number"))
    states: tuple[State, State] = field(metadata=VALUES)
    source: str

    answers: ClassVar = {
        "how data are read": "analysis.questions.evaluating:of_people",
        "data drawn from a belief": "analysis.questions.made_up_data:of_cliques",
    }

    def __init__(
        self,
        cliques: Iterable[Iterable[Hashable]],
        number: Mapping[int, Numbers] | Callable[[int], Numbers],
        states: Sequence[State] = (0, 1),
        source: str = "assumed",
    ) -> None:
        lists = list_of(cliques, "the cliques", "cliques", _CLIQUES)
        groups = tuple(tuple(list_of(clique, "a clique", "cliques", _CLIQUES)) for clique in lists)
        people = list(chain.from_iterable(groups))
        if not people or not all(groups):
            raise InputError(
                "the contact belief needs at least one clique, and at least one person in each"
            ).at("cliques")
        if not are_different(people):
            raise InputError(
                "a person is in two cliques, twice in one, or no name", rule="cliques must not overlap",
                fix="name each person once, by a text or a number",
            ).at("cliques")  # fmt: skip
        alphabet = checked_alphabet(states, "the contact belief")
        if len(alphabet) != 2:
            raise InputError(
                f"the states are {list(alphabet)}", fix="give two different names, well first and ill second"
            ).at("states")
        sizes = sorted(set(map(len, groups)))
        set_fields(
            self, cliques=groups, numbers=Fixed({m: _law(m, number) for m in sizes}), states=alphabet,
            source=checked_source(source, False),
        )  # fmt: skip

    @property
    def size(self) -> int:
        return len(self.names)

    @cached_property
    def names(self) -> tuple[Hashable, ...]:
        return tuple(chain.from_iterable(self.cliques))

    @cached_property
    def _positions(self) -> dict[Hashable, int]:
        return {name: place for place, name in enumerate(self.names)}

    @property
    def one_alphabet(self) -> bool:
        return True

    def alphabet(self, entry: int) -> tuple[State, ...]:
        return self.states

    def position(self, name: Hashable) -> int:
        if name not in self._positions:
            raise InputError(f"no clique holds the person {name!r}{did_you_mean(name, self.names)}")
        return self._positions[name]

    @cached_property
    def _clique_of(self) -> tuple[int, ...]:
        return tuple(np.repeat(range(len(self.cliques)), list(map(len, self.cliques))).tolist())

    def possible(self, entry: int) -> tuple[bool, ...]:
        return self.component(self._clique_of[entry]).possible(0)

    @memoised
    def components(self) -> tuple[range, ...]:
        return tuple(starmap(range, pairwise(accumulate(map(len, self.cliques), initial=0))))

    @cached_property
    def _kinds(self) -> dict[int, Clique]:
        return {m: Clique(m, law, self.states, self.source) for m, law in self.numbers.items()}

    def component(self, number: int) -> Clique:
        return self._kinds[len(self.cliques[number])]

    def assumptions(self) -> tuple[Assumption, ...]:
        return (
            world("Different cliques fall ill independently of each other."),
            world(
                "How many of a clique are ill has the stated distribution. All sets of that size are equally likely."
            ),
            public("The members of each clique are public."),
        )

    def describe(self) -> str:
        largest = max(map(len, self.cliques))
        return f"{len(self.cliques)} independent cliques of {self.size} in all, at most {largest} each ({self.source})"


def household_infection(size: int, outside: float, inside: float) -> list[float]:
    """Return the probabilities of 0 .. size ill people in a household, by the Reed-Frost model.

    Args:
        size: People of the household, at most 100.
        outside: Probability that somebody is infected from outside.
        inside: Probability that an ill person infects a given well one.

    Returns:
        The size + 1 probabilities, for `CliqueInfection`.

    Raises:
        InputError: For a probability outside [0, 1], and for more than 100 people.

    Examples:
        >>> [round(p, 3) for p in household_infection(2, outside=0.5, inside=0.5)]
        [0.25, 0.25, 0.5]
    """
    if as_whole(value_of(size), "the number of people of a group", "size") > LARGEST_CLIQUE:
        raise InputError(
            f"a group has {size} people", rule=f"the model is computed for at most {LARGEST_CLIQUE}"
        ).at("size")
    for name, value in (("outside", outside), ("inside", inside)):
        if not isinstance(value, Real) or not 0 <= value <= 1:
            raise InputError(f"{name} is {value!r}", rule="it must be a probability, from 0 to 1").at(name)
    ill = [0.0] * (size + 1)
    now = {(size - n, n): _binomial(size, n, outside) for n in range(size + 1)}  # (well, newly ill)
    while now:
        later: dict[tuple[int, int], float] = {}
        for (well, fresh), mass in now.items():
            if fresh == 0 or well == 0:
                ill[size - well] += mass
                continue
            for n in range(well + 1):
                caught = mass * _binomial(well, n, 1 - (1 - inside) ** fresh)
                if caught:
                    later[(well - n, n)] = later.get((well - n, n), 0.0) + caught
        now = later
    return ill


def _binomial(n: int, k: int, p: float) -> float:
    return math.comb(n, k) * p**k * (1 - p) ** (n - k)


def _law(size: int, number: Mapping[int, Numbers] | Callable[[int], Numbers]) -> Pmf:
    if not callable(number) and not isinstance(number, Mapping):
        raise wrong_type(number, "a distribution for each size", "write {1: [0.9, 0.1], 2: ...}").at("number")
    if not callable(number) and size not in number:
        raise InputError(
            f"a clique has {size} people, and no distribution of how many are ill is given for that size"
        ).at("number")
    law = number(size) if callable(number) else number[size]
    if isinstance(law, Pmf):
        low, high = law.support_range
        if low < 0 or high > size or any(Fraction(v).denominator != 1 for v, _ in law.items()):
            raise InputError(
                f"the number of ill people in a clique of {size} must be a whole number from 0 to {size}"
            ).at("number")
        return law
    masses = list_of(law, "the numbers of ill people", "number", "[0.9, 0.1]")
    check_as_many(masses, "masses", range(size + 1), f"numbers from 0 to {size} of ill people in a clique", "number")
    return Pmf(range(size + 1), masses)
