"""A belief from outside the package: an urn without replacement, whose draws are exchangeable but not independent."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import comb
from typing import Any

import numpy as np

from takifugu.analysis.answer_laws.listed import ListedFamily
from takifugu.analysis.questions.answer_law import ANSWER_LAW, AnswerLaw
from takifugu.analysis.questions.joint_states import JOINT_STATES, JointStates, States
from takifugu.core.assumptions import Assumption, world
from takifugu.core.errors import InputError
from takifugu.model import beliefs
from takifugu.numbers.distributions.pmf import Pmf


@dataclass(frozen=True)
class Urn:
    """`size` balls drawn one after the other from an urn of `balls`, of which `red` are red (state 1)."""

    size: int
    balls: int
    red: int
    source: str = "assumed"

    names = None  # entries are steps: they have numbers, not names
    one_alphabet = True  # every entry has the same values

    def alphabet(self, entry: int) -> tuple[int, ...]:
        return (0, 1)

    def possible(self, entry: int) -> tuple[bool, ...]:
        return (self.red < self.balls, self.red > 0)

    def components(self) -> tuple[range, ...]:
        return (range(self.size),)  # all draws hang together

    def component(self, number: int) -> Urn:
        return self

    def position(self, name: Hashable) -> int:
        raise InputError(f"the draws of an urn have no names, and {name!r} is none")

    def assumptions(self) -> tuple[Assumption, ...]:
        return (world("The draws are without replacement, in random order."),)

    def describe(self) -> str:
        return f"{self.size} draws from an urn with {self.red} of {self.balls} balls red ({self.source})"

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "urn", "size": self.size, "balls": self.balls, "red": self.red, "source": self.source}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Urn:
        return Urn(data["size"], data["balls"], data["red"], data["source"])

    def ways(self, drawn: int) -> int:
        """How many of the equally likely urns show one given sequence with `drawn` red balls."""
        return comb(self.balls - self.size, self.red - drawn) if 0 <= drawn <= self.red else 0


class UrnLaw(AnswerLaw[Urn]):
    """The distribution of an answer given one draw: subsets of the other draws, counted by size and sum."""

    def families(self) -> Iterator[ListedFamily]:
        urn, answer = self.belief, self.answer
        low = [int(answer.contribution(i)[0, 0]) for i in range(urn.size)]
        more = [int(answer.contribution(i)[1, 0]) - low[i] for i in range(urn.size)]
        for entry in self.family.entries:
            pairs = self.family.value_pairs(urn, entry)
            subsets = {(0, sum(low)): 1}
            for extra in more[:entry] + more[entry + 1 :]:
                for (drawn, total), count in list(subsets.items()):
                    subsets[drawn + 1, total + extra] = subsets.get((drawn + 1, total + extra), 0) + count
            hulls = {}
            for value in {v for pair in pairs for v in pair}:
                counts = {}
                for (drawn, total), count in subsets.items():
                    answer_is = total + value * more[entry]
                    counts[answer_is] = counts.get(answer_is, 0) + count * urn.ways(drawn + value)
                at = sorted(a for a, n in counts.items() if n)
                hulls[value] = (Pmf.from_counts(at, [counts[a] for a in at]),)
            yield ListedFamily(entry, pairs, hulls)

    def work(self, laplace: bool = False) -> tuple[float, float]:
        return 1e3 * self.belief.size**2 * self.atoms(), 1e3 * self.atoms()

    def atoms(self) -> float:
        return 1.0 + sum(float(abs(self.answer.contribution(i)).max()) for i in range(self.belief.size))


class UrnStates(JointStates[Urn]):
    """Every sequence of draws with the number of urns that show it, for the audit."""

    def states(self) -> States:
        values = np.array(list(product((0, 1), repeat=self.belief.size)), dtype=np.int64)
        weights = np.array([self.belief.ways(int(drawn)) for drawn in values.sum(axis=1)], dtype=object)
        can = weights > 0
        return States(values[can], (weights[can],), ((0,),), (range(self.belief.size),), 0.0)


def register() -> None:
    """Make the urn known, as its file would on import; undone by `registries.restored()`."""
    beliefs.register("urn", Urn)
    ANSWER_LAW.register(Urn, UrnLaw)
    JOINT_STATES.register(Urn, UrnStates)
