"""The loss of an entry of a table, or of a person in a clique: both list what the others are.

With one c for all others the average likelihood G(m) over the sets of m ill others moves by at most c from m to m + 1,
and a likelihood of the number alone attains it: l = c_i + log sup q1.G / q0.G over |log G(m + 1) - log G(m)| <= c, q1
and q0 the laws of the others' number if one is ill or well; and with 1 and 0 exchanged. lambda is too small if and only
if H_0 > 0, where H_n = d_n, H_m = d_m + e^(+-c) H_(m+1) (the sign of H_(m+1)), d = q1 - lambda q0: the best G rises and
falls as fast as it may. Source: Theorem 11 of docs/theory/influence.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np

from takifugu.core.arrays import FloatArray, IntArray
from takifugu.core.cache import cached
from takifugu.influence.networks.conditionals import TRUSTED
from takifugu.influence.networks.networks import largest_of_family, with_others
from takifugu.influence.profiles.certified import Programs
from takifugu.influence.profiles.profile import Curve, Loss, Profile
from takifugu.influence.profiles.sparse import SparsePrograms
from takifugu.influence.profiles.suprema import LARGEST_POWER, suprema
from takifugu.model.beliefs.contacts import Clique, CliqueInfection
from takifugu.model.beliefs.table import JointTable
from takifugu.model.secrets.families import Family
from takifugu.numbers.outward_rounding import UNIT, log_ratio_error, sum_up, up

#: The search for lambda ends at this relative distance; what it returns is then proved, in steps of this size.
CLOSE = 1e-14
#: Operations for a person in a clique.
PER_PERSON = 2e5


def exchangeable_loss(number: Sequence[float | Fraction], for_itself: float, for_others: float) -> FloatArray:
    """Return the loss of well (0) against ill (1), shape (2, 2), by the law of how many of all are ill."""
    # `number` is on 0 .. people; `for_others` is the largest c of the others, exact if they are all the same.
    people = len(number) - 1
    ill = _shares([n * mass for n, mass in enumerate(number)][1:])
    well = _shares([(people - n) * mass for n, mass in enumerate(number)][:-1])
    if ill is None or well is None:
        return np.zeros((2, 2))  # one of them is impossible
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
    """Bound log sup p.G/q.G over |log G(m + 1) - log G(m)| <= c; `error` is relative, of p and q."""
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
    log_ratio = up(math.log(ratio) * (1 + 4 * UNIT) + 4 * UNIT + log_ratio_error(error))
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


#: Joint values of the others beyond which only the sum over all entries is taken, or their program takes too long.
MOST_ROWS, MOST_IN_PROGRAM = 1000, 512
#: Operations for a number that a table's program handles.
PER_NUMBER = 50.0
#: What is said beyond.
TOO_LONG = (
    f"the other entries of the table have more than {MOST_IN_PROGRAM} joint values, so what they lose together is "
    "bounded from above: give a chain or a network in place of the table"
)


def clique_losses(belief: CliqueInfection | Clique, profile: Profile, entry: int) -> FloatArray:
    """Return the loss of each pair of one person's states."""
    people = next(run for run in belief.components() if entry in run)
    clique = belief.component(belief.components().index(people))
    number = clique.number
    masses = [Fraction(0)] * (len(people) + 1)
    for value, mass in number.items():
        masses[int(value)] = Fraction(mass)
    largest_of_others = max((profile.largest(person) for person in people if person != entry), default=0.0)
    return exchangeable_loss(masses, profile.largest(entry), largest_of_others)


@dataclass(eq=False)
class Others:
    """All others of an entry of a table: their joint values (n, others), and P(them | value), shape (possible, n)."""

    entries: tuple[int, ...]
    states: IntArray
    rows: FloatArray
    possible: IntArray
    programs: Programs | None
    last: tuple[Profile, FloatArray] | None = None


def others_of(belief: JointTable, entry: int) -> Others | None:
    """Return the others of an entry, kept with the table; None where they are too many, or too improbable."""
    kept: dict[int, Others | None] = cached(belief, "others", dict)
    if entry not in kept:
        kept[entry] = _others(belief, entry)
    return kept[entry]


def _others(belief: JointTable, entry: int) -> Others | None:
    if belief.size == 1 or len(belief.rows) > MOST_ROWS * len(belief.alphabet(entry)):
        return None  # rows of one joint value of the others differ in the entry alone
    entries = tuple(t for t in range(belief.size) if t != entry)
    masses = np.array([mass / (belief.total or 1) for mass in belief.masses])  # of integers of any size
    alive = np.array([mass > 0 for mass in belief.masses])
    states, numbers = np.unique(belief.indices[alive][:, entries], axis=0, return_inverse=True)
    if len(states) > MOST_ROWS or masses[alive].min() < TRUSTED:
        return None
    rows = np.zeros((len(belief.alphabet(entry)), len(states)))
    rows[belief.indices[alive][:, entry], numbers.ravel()] = masses[alive]
    possible = np.flatnonzero(rows.any(axis=1))
    rows = rows[possible] / rows[possible].sum(axis=1, keepdims=True)
    programs = None
    if len(states) <= MOST_IN_PROGRAM:  # which pairs no third state implies mostly is the same for all entries
        programs = Programs(sparse=SparsePrograms(pairs=cached(belief, "pairs of others", dict)))
    return Others(entries, states, rows, possible, programs)


def table_losses(belief: JointTable, profile: Profile, entry: int) -> FloatArray:
    """Return the loss of each pair of values in a table."""
    loss, others = _sum_of_all(profile, entry), others_of(belief, entry)
    if others is None:
        return loss
    moves = np.zeros((len(others.states),) * 2)
    for place, t in enumerate(others.entries):
        values = others.states[:, place]
        moves = sum_up(moves, profile.at(t)[np.ix_(values, values)])
    error = (len(others.states) + 4) * UNIT
    message = suprema(others.rows, moves, error, others.programs, is_closed=True)
    block = np.ix_(others.possible, others.possible)
    loss[block] = np.minimum(loss[block], sum_up(profile.at(entry)[block], message))
    others.last = profile, loss
    return loss


def _sum_of_all(profile: Profile, entry: int) -> FloatArray:
    """Return c of an entry plus the largest of all others."""
    most = 0.0
    for t, table_number in enumerate(profile.kinds.numbers.tolist()):
        if t != entry:
            most = float(sum_up(most, float(profile.tables[table_number].max(initial=0.0))))
    return with_others(profile.at(entry), most)


def at_most(belief: JointTable, profile: Profile, entry: int) -> FloatArray:
    """Bound `table_losses` by those of the last profile, which is quick: S(.; rho + eta) <= S(.; rho) + eta."""
    loss, others = _sum_of_all(profile, entry), others_of(belief, entry)
    if others is None or others.last is None:
        return loss
    last, known = others.last
    rise = 0.0
    for t in others.entries:
        rise = float(sum_up(rise, float(up(profile.at(t) - last.at(t)).max(initial=0.0))))
    own = np.maximum(up(profile.at(entry) - last.at(entry)), 0.0)
    return np.minimum(loss, sum_up(known, sum_up(own, np.full_like(own, rise))))


def table_loss(belief: JointTable, profile: Profile, family: Family) -> Loss:
    """Return the largest `table_losses` of a family, its entry and values."""
    # Only entries that may lose most are computed: the result is as if all had been.
    worst = largest_of_family(
        belief, family, partial(at_most, belief, profile), partial(table_losses, belief, profile)
    )
    others = others_of(belief, worst.entry)
    is_long = belief.size > 1 and (others is None or others.programs is None)
    return replace(worst, note=TOO_LONG) if is_long and worst.epsilon else worst


def table_work(belief: JointTable) -> float:
    """Predict the operations of `table_loss`: those of a program are in proportion to its squared states."""
    work = PER_NUMBER * belief.size * len(belief.rows)
    for others in map(partial(others_of, belief), range(belief.size)):
        if others is not None:
            values = len(others.possible)
            programs = values * (values - 1) if others.programs else 1
            work += PER_NUMBER * programs * len(others.states) ** 2
    return work


def clique_loss(belief: CliqueInfection | Clique, profile: Profile, family: Family) -> Loss:
    """Return the largest `clique_losses` of a family, its entry and values."""
    return largest_of_family(belief, family, lambda entry: clique_losses(belief, profile, entry))


TABLE: Curve[JointTable] = Curve(table_loss, table_work)
CLIQUE = Curve(clique_loss, lambda belief: PER_PERSON * belief.size)
