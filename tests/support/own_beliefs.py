"""Beliefs of somebody else, by their distributions: an urn as a table, and stays as a chain or as the table of it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, product
from math import comb

import takifugu as tf
from takifugu import extending


@dataclass(frozen=True)
class Draws(extending.OwnBelief, kind="draws"):
    """`size` balls drawn one after the other from an urn of `balls`, of which `red` are red (state 1)."""

    size: int
    balls: int
    red: int
    source: str = "assumed"

    names = None

    def distribution(self) -> tf.JointTable:
        rows = list(product((0, 1), repeat=self.size))
        left = [self.red - sum(row) for row in rows]
        return tf.JointTable.from_counts(
            rows, [comb(self.balls - self.size, red) if red >= 0 else 0 for red in left], source=self.source
        )

    def describe(self) -> str:
        return f"{self.size} draws from an urn with {self.red} of {self.balls} balls red ({self.source})"


@dataclass(frozen=True)
class Stays(extending.OwnSequence, kind="stays"):
    """Two states in turn: the first is left with probability `leave` a step, the second with three times that."""

    length: int
    states: tuple[str, ...]
    leave: float
    source: str = "assumed"

    def distribution(self) -> tf.MarkovChain | tf.JointTable:
        leave = self.leave
        matrix = [[1 - leave, leave], [3 * leave, 1 - 3 * leave]]
        return tf.MarkovChain(matrix, self.length, states=self.states, source=self.source)


@dataclass(frozen=True)
class ListedStays(Stays, kind="listed-stays"):
    """The same, as the table of all sequences."""

    def distribution(self) -> tf.JointTable:
        chain = super().distribution()
        rows, masses = list(product(range(2), repeat=self.length)), []
        for row in rows:
            mass = float((0.75, 0.25)[row[0]])
            for before, after in pairwise(row):
                mass *= float(chain.matrix[before, after])
            masses.append(mass)
        return tf.JointTable([[self.states[value] for value in row] for row in rows], masses)


def register() -> None:
    """Make them known, as their file would on import; undone by `registries.restored()`."""
    extending.register_belief("draws", Draws)
    extending.register_belief("stays", Stays)
    extending.register_belief("listed-stays", ListedStays)
