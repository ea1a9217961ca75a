"""Every choice of values for the rows of one person, with its weight in each population: for the audit.

Nothing here knows how calibration looks at single rows: the joint distribution of all rows is listed.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np

from takifugu.analysis.questions.joint_states import JointStates, States, all_states, check_count, integers
from takifugu.core.errors import Unsupported
from takifugu.model.beliefs.populations import FromPopulations, WhichOf


class WhichStates(JointStates[WhichOf]):
    """The values of all rows, and last the population that they come from; every population is as likely."""

    def states(self) -> States:
        rows = self.belief.rows
        if not rows.adds_up:
            raise Unsupported(
                "rows that may depend on each other in any way have many joint distributions, which are not listed"
            )
        check_count(len(rows.laws) * len(rows.values) ** rows.size)
        values, weights = [], list[Fraction]()
        for population, law in enumerate(rows.laws):
            can = [place for place, mass in enumerate(law) if mass]
            for row in product(can, repeat=rows.size):
                values.append((*row, population))
                weights.append(math.prod((law[place] for place in row), start=Fraction(1)))
        return States(np.array(values, dtype=np.int64), (integers(weights),), ((0,),), (range(rows.size + 1),), 0.0)


class RowStates(JointStates[FromPopulations]):
    """The values of all rows, whatever the population: each is as likely."""

    def states(self) -> States:
        states = all_states(self.belief.which)
        values, place = np.unique(states.values[:, :-1], axis=0, return_inverse=True)
        weights = np.zeros(len(values), dtype=object)
        np.add.at(weights, place.ravel(), states.weights[0])
        return States(values, (weights,), ((0,),), (range(self.belief.size),), 0.0)
