"""The loss of an entry of a table, or of a person in a clique: both list what the others are."""

from __future__ import annotations

import numpy as np

from takifugu.core.arrays import FloatArray
from takifugu.influence.chains.chains import Loss
from takifugu.influence.networks.conditionals import TRUSTED
from takifugu.influence.networks.exchangeable import exchangeable_loss
from takifugu.influence.networks.networks import MOST_IN_ONE, largest_of_family, with_others
from takifugu.influence.profiles.certified import Programs
from takifugu.influence.profiles.profile import Profile
from takifugu.influence.profiles.suprema import suprema
from takifugu.model.beliefs.contacts import Clique, CliqueInfection
from takifugu.model.beliefs.table import JointTable
from takifugu.model.secrets.families import Family
from takifugu.numbers.outward_rounding import UNIT, sum_up

#: Rows of a table beyond which only the sum over all entries is taken.
MOST_ROWS = 1000


def clique_losses(belief: CliqueInfection | Clique, profile: Profile, entry: int) -> FloatArray:
    """Return the loss of each pair of one person's states.

    >>> from takifugu.numbers.distributions.pmf import Pmf
    >>> household = Clique(4, Pmf(range(5), [0.5, 0.1, 0.1, 0.1, 0.2]))
    >>> clique_losses(household, Profile.of([[0, 0.5], [0.5, 0]], 4), 2).round(6).tolist()
    [[0.0, 1.377195], [1.445124, 0.0]]
    """
    people = next(run for run in belief.components() if entry in run)
    clique = belief.component(belief.components().index(people))
    number = clique.number
    masses = [0.0] * (len(people) + 1)
    for value, mass in number.items():
        masses[int(value)] = float(mass)
    largest_of_others = max((profile.largest(person) for person in people if person != entry), default=0.0)
    return exchangeable_loss(masses, profile.largest(entry), largest_of_others)


def table_losses(belief: JointTable, profile: Profile, entry: int) -> FloatArray:
    """Return the loss of each pair of values in a table.

    >>> twins = JointTable([(0, 0), (0, 1), (1, 0), (1, 1)], [0.4, 0.1, 0.1, 0.4])
    >>> table_losses(twins, Profile.of([[0, 1.0], [1.0, 0]], 2), 0).round(6).tolist()
    [[0.0, 1.569445], [1.569445, 0.0]]
    """
    other_entries = [t for t in range(belief.size) if t != entry]
    most = 0.0
    for t in other_entries:
        most = float(sum_up(most, profile.largest(t)))
    loss = with_others(profile.at(entry), most)
    masses = np.array(belief.masses, dtype=np.float64) / float(belief.total or 1)
    alive = masses > 0
    states, state_numbers = np.unique(belief.indices[alive][:, other_entries], axis=0, return_inverse=True)
    if not other_entries or len(states) > MOST_ROWS or masses[alive].min() < TRUSTED:
        return loss
    rows = np.zeros((len(loss), len(states)))
    rows[belief.indices[alive][:, entry], state_numbers.ravel()] = masses[alive]
    possible = np.flatnonzero(rows.any(axis=1))
    rows = rows[possible] / rows[possible].sum(axis=1, keepdims=True)
    moves = np.zeros((len(states), len(states)))
    for place, t in enumerate(other_entries):
        moves = sum_up(moves, profile.at(t)[np.ix_(states[:, place], states[:, place])])
    programs = Programs() if len(states) <= MOST_IN_ONE else None
    message = suprema(rows, moves, (len(states) + 4) * UNIT, programs)
    block = np.ix_(possible, possible)
    loss[block] = np.minimum(loss[block], sum_up(profile.at(entry)[block], message))
    return loss


def table_loss(belief: JointTable, profile: Profile, family: Family) -> Loss:
    """Return the largest `table_losses` of a family, its entry and values."""
    return largest_of_family(belief, family, lambda entry: table_losses(belief, profile, entry))


def clique_loss(belief: CliqueInfection | Clique, profile: Profile, family: Family) -> Loss:
    """Return the largest `clique_losses` of a family, its entry and values."""
    return largest_of_family(belief, family, lambda entry: clique_losses(belief, profile, entry))
