"""The loss of an entry of a table, or of a person in a clique: both list what the others are.

With one c for all others the average likelihood G(m) over the sets of m ill others moves by at most c from m to m + 1,
and a likelihood of the number alone attains it: l = c_i + log sup q1.G / q0.G over |log G(m + 1) - log G(m)| <= c, q1
and q0 the laws of the others' number if one is ill or well; and with 1 and 0 exchanged. lambda is too small if and only
if H_0 > 0, where H_n = d_n, H_m = d_m + e^(+-c) H_(m+1) (the sign of H_(m+1)), d = q1 - lambda q0: the best G rises and
falls as fast as it may. Source: section 7 of docs/theory/influence.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from takifugu.core.arrays import FloatArray
from takifugu.influence.chains.chains import Loss
from takifugu.influence.networks.conditionals import TRUSTED
from takifugu.influence.networks.networks import largest_of_family, with_others
from takifugu.influence.profiles.certified import Programs
from takifugu.influence.profiles.profile import Profile
from takifugu.influence.profiles.suprema import LARGEST_POWER, suprema
from takifugu.model.beliefs.contacts import Clique, CliqueInfection
from takifugu.model.beliefs.table import JointTable
from takifugu.model.secrets.families import Family
from takifugu.numbers.outward_rounding import UNIT, sum_up, up

#: The search for lambda ends at this relative distance; what it returns is then proved, in steps of this size.
CLOSE = 1e-14


def exchangeable_loss(number: Sequence[float | Fraction], for_itself: float, for_others: float) -> FloatArray:
    """Return the loss of well (0) against ill (1), shape (2, 2).

    The loss is 0 where one of them is impossible. `number` is the law of how many of all are ill, on 0 .. people;
    `for_itself` is c of the secret, `for_others` the largest c of the others (exact if they are all the same).

    >>> exchangeable_loss([0.5, 0.1, 0.1, 0.1, 0.2], 0.5, 0.5).round(6).tolist()
    [[0.0, 1.377195], [1.445124, 0.0]]
    """
    people = len(number) - 1
    ill = _shares([n * mass for n, mass in enumerate(number)][1:])
    well = _shares([(people - n) * mass for n, mass in enumerate(number)][:-1])
    if ill is None or well is None:
        return np.zeros((2, 2))
    error = (people + 8) * UNIT
    loss = np.zeros((2, 2))
    loss[1, 0] = sum_up(for_itself, supremum_of_number(ill, well, for_others, error))
    loss[0, 1] = sum_up(for_itself, supremum_of_number(well, ill, for_others, error))
    return loss


def _shares(masses: Sequence[float | Fraction]) -> FloatArray | None:
    """Return masses over their sum, or None without any: Fractions lose none, however small the sum is."""
    total = sum(masses)
    return np.array([float(mass / total) for mass in masses]) if total else None


def supremum_of_number(p: FloatArray, q: FloatArray, c: float, error: float = 0.0) -> float:
    """Bound log sup p.G/q.G over all slowly changing G.

    Such G have |log G(m + 1) - log G(m)| <= c; `error` is relative, of p and q.

    >>> round(supremum_of_number(np.array([0.0, 1.0]), np.array([1.0, 0.0]), 0.25), 12)
    0.25
    """
    most = float(up((len(p) - 1) * c))
    if most > LARGEST_POWER:
        return most
    ratio = 1.0
    for _ in range(200):  # Dinkelbach: the best G for a lambda that is too small gives the next one
        better = _ratio(p, q, c, ratio)
        if better <= ratio * (1 + CLOSE):
            break
        ratio = better
    step = CLOSE
    while _may_exceed(p, q, c, ratio):
        ratio, step = ratio * (1 + step), 2 * step
    log_ratio = up(math.log(ratio) * (1 + 4 * UNIT) + 4 * UNIT + 2 * error * (1 + error))
    return min(float(log_ratio), most)


def _ratio(p: FloatArray, q: FloatArray, c: float, ratio: float) -> float:
    """Return p.G / q.G for the best G."""
    rises = np.zeros(len(p))
    later = 0.0  # H_(m+1)
    for m in reversed(range(len(p))):
        rises[m] = c if later > 0 else -c  # from m to m + 1
        later = float(p[m] - ratio * q[m] + math.exp(rises[m]) * later)
    exponents = np.concatenate([[0.0], np.cumsum(rises[:-1])])
    best = np.exp(exponents - exponents.max())
    return float(p @ best / (q @ best))


def _may_exceed(p: FloatArray, q: FloatArray, c: float, ratio: float) -> bool:
    """Return whether H_0, rounded up at each step, is positive."""
    rise, fall = math.exp(c) * (1 + 4 * UNIT), math.exp(-c) * (1 - 4 * UNIT)
    later = 0.0
    for m in reversed(range(len(p))):
        difference = up(p[m] - ratio * q[m] * (1 - 2 * UNIT))
        factor = rise if later > 0 else fall
        later = float(up(difference + up(factor * later)))
    return later > 0


#: Rows of a table beyond which only the sum over all entries is taken, or its program takes too long.
MOST_ROWS, MOST_IN_PROGRAM = 1000, 64


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
    masses = [Fraction(0)] * (len(people) + 1)
    for value, mass in number.items():
        masses[int(value)] = Fraction(mass)
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
    masses = np.array([mass / (belief.total or 1) for mass in belief.masses])  # of integers of any size
    alive = np.array([mass > 0 for mass in belief.masses])
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
    programs = Programs() if len(states) <= MOST_IN_PROGRAM else None
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
