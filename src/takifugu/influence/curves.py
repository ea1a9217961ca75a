"""Curves: what a profile costs the secrets of a part of a problem; the least of all that are known counts.

The recursion or a tree of bags, and `group`, are functions of the same profile, so their minimum composes as each of
them does (docs/theory/influence.md). On sequences the recursion is never above a quilt (Theorems 2 and 12).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial, reduce
from typing import Any

import numpy as np

from takifugu.analysis.bounds import Witness
from takifugu.analysis.problem import Part
from takifugu.analysis.questions.influence import Release, joint_cost
from takifugu.core.arrays import FloatArray, IntArray
from takifugu.core.cache import cached
from takifugu.core.errors import Unsupported
from takifugu.core.registry import Question
from takifugu.influence.chains.chains import chain_losses, chain_work
from takifugu.influence.chains.class_chains import class_loss, class_work
from takifugu.influence.profiles.patience import most_steps
from takifugu.influence.profiles.profile import Curve, Loss, Profile
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.chains.chain import BinaryChains
from takifugu.model.beliefs.chains.periodic_chain import PeriodicChain
from takifugu.model.queries import Additive
from takifugu.model.secrets.families import Family
from takifugu.model.secrets.hypotheses import compared, compared_runs
from takifugu.numbers.rationals import float_above
from takifugu.numbers.runs import Runs, different

#: Beyond this many entries times different profiles a recursion is not tried: group remains.
MOST_WORK = 5e6

#: So many profiles are added up one after the other.
FEW = 8


def joint_loss(part: Part, releases: Sequence[Release]) -> tuple[float, Witness]:
    """Return Laplace releases' least joint cost over all curves, rounded up; Unsupported where nothing is known."""
    return joint_losses(part, [releases])[0]


def joint_losses(part: Part, alternatives: Sequence[Sequence[Release]]) -> list[tuple[float, Witness]]:
    """Return the `joint_loss` of each of several alternatives."""
    # A release of scale 0 costs infinitely much where it reads what a curve must cover.
    losses = list[tuple[float, Witness]]()
    for releases, by_influence in zip(alternatives, influence_losses(part, alternatives), strict=True):
        if by_influence is not None and is_least(part.belief) and not any(release.together for release in releases):
            losses.append(by_influence)
        else:
            losses.append(_at_most_quilts(part, by_influence, releases))
    return losses


def _at_most_quilts(
    part: Part, by_influence: tuple[float, Witness] | None, releases: Sequence[Release]
) -> tuple[float, Witness]:
    """Return the lesser of a curve's loss and the joint cost by `group`, of columns by quilts."""
    try:
        by_quilts = joint_cost(part, releases)
    except Unsupported:
        if by_influence is None:
            raise
        return by_influence
    if by_influence is None or by_quilts[0] < by_influence[0]:
        return by_quilts
    return by_influence


def influence_losses(
    part: Part, alternatives: Sequence[Sequence[Release]]
) -> list[tuple[float, Witness] | None]:
    """Return the loss of each of several alternatives by the belief's curve, and its secret, if any."""
    profiles = dict[int, Profile]()
    for number, releases in enumerate(alternatives):
        moving = [release for release in releases if Runs.of(release.changes).values.any()]
        if CURVES.of(part.belief) is not None and all(release.scale for release in moving) and moving:
            profiles[number] = added([profile_of(part.belief, release) for release in moving])
    losses = dict(zip(profiles, along_curves(part, [*profiles.values()]), strict=True))
    return [losses.get(number) for number in range(len(alternatives))]


def along_curve(part: Part, profile: Profile) -> tuple[float, Witness] | None:
    """Return a profile's loss by the belief's curve, and its secret, if any."""
    curve = CURVES.of(part.belief)
    if curve is None or len(profile.lengths) * len(profile.tables[0]) ** 2 > MOST_WORK:
        return None
    if part.family.run > 1 and curve.anywhere is None:
        return None
    try:
        loss = curve.loss(part.belief, of_all_values(part.belief, profile), part.family)
    except Unsupported:
        return None
    return loss.epsilon, witness_of(part, loss)


def along_curves(part: Part, profiles: Sequence[Profile]) -> list[tuple[float, Witness] | None]:
    """Return `along_curve` of each profile, of all at once where that is quicker."""
    curve = CURVES.of(part.belief)
    work = sum(len(profile.lengths) for profile in profiles) * len(profiles[0].tables[0]) ** 2 if profiles else 0
    if curve is not None and curve.losses is not None and len(profiles) > 1 and work <= MOST_WORK:
        with suppress(Unsupported):  # of which of them is found one by one
            of_all = [of_all_values(part.belief, profile) for profile in profiles]
            return [(loss.epsilon, witness_of(part, loss)) for loss in curve.losses(part.belief, of_all, part.family)]
    return [along_curve(part, profile) for profile in profiles]


def of_all_values(belief: Belief, profile: Profile) -> Profile:
    """Return a profile with a row for each value in every table."""
    if all(len(table) > 1 for table in profile.tables):
        return profile
    return _in_runs(
        different(profile.kinds, _states(belief)),
        lambda number, count: profile.tables[number] if len(profile.tables[number]) > 1 else np.zeros((count, count)),
    )


def _states(belief: Belief) -> Runs:
    """Return how many values each entry has."""
    if belief.one_alphabet:
        return Runs.alike(len(belief.alphabet(0)), belief.size)
    counts = (len(belief.alphabet(entry)) for entry in range(belief.size))
    return Runs.of(np.fromiter(counts, dtype=np.int64, count=belief.size))


def profile_loss(part: Part, profile: Profile) -> tuple[float, Witness]:
    """Return a profile's least cost to the secrets of one part over all curves, rounded up."""
    by_influence = along_curve(part, profile)
    if by_influence is not None and is_least(part.belief):
        return by_influence
    # `group` adds up the profile's largest losses.
    return _at_most_quilts(part, by_influence, [Release(*in_steps(profile))])


def in_steps(profile: Profile) -> tuple[IntArray, Fraction]:
    """Return each entry's largest loss in steps, rounded up, and the steps per 1, a power of two."""
    largest = np.array([table.max(initial=0.0) for table in profile.tables])
    bits = min(40, 60 - int(profile.size).bit_length())
    power = bits - math.frexp(float(largest.max()))[1]
    steps = np.ceil(np.ldexp(largest, power)).astype(np.int64)
    return profile.kinds.mapped(steps[profile.table_of]).numbers, Fraction(2) ** power


def is_least(belief: Belief) -> bool:
    """Return whether a belief's curve is attained, hence the least."""
    curve = CURVES.of(belief)
    return curve is not None and curve.is_least(belief)


def witness_of(part: Part, loss: Loss) -> Witness:
    """Describe the comparison with the largest loss."""
    if not loss.epsilon:
        return Witness("any one value against another", "nothing that is published depends on them")
    if loss.paths[0]:
        comparison = compared_runs(part.belief, loss.entry, loss.paths, part.start)
    else:
        comparison = compared(part.belief, loss.entry, (loss.left, loss.right), part.start)
    why = "it moves the answer, and so do all that follow from it"
    if loss.note:
        why = f"{why}; {loss.note}"
    return Witness(comparison.label, why, (("loss", loss.epsilon),))


def added(profiles: Sequence[Profile]) -> Profile:
    """Return the sum of profiles, of many in halves."""
    if len(profiles) > FEW:
        middle = len(profiles) // 2
        return added(profiles[:middle]) + added(profiles[middle:])
    return reduce(Profile.__add__, profiles)


def profile_of(belief: Belief, release: Release) -> Profile:
    """Return a release's profile |w_t(u) - w_t(v)| / b, rounded up; the largest change over b for unknown w."""
    answer = release.answer
    if answer is None or not isinstance(answer, Additive):
        return _in_runs(
            different(Runs.of(release.changes), _states(belief)),
            lambda change, count: _table(change * (1 - np.eye(count, dtype=np.int64)), release.scale),
        )
    (weights, kinds), lengths = answer.kinds
    distances = [np.asarray(np.abs(table[:, None, :] - table).sum(axis=2)) for table in answer.tables]
    ends = np.cumsum(lengths)
    profile = _in_runs(
        cached(answer, "runs of a profile", lambda: different(Runs(kinds, ends), Runs(np.abs(weights), ends))),
        lambda kind, weight: _table(distances[kind] * weight, release.scale),
    )
    return of_all_values(belief, profile)


def _in_runs(kinds: tuple[IntArray, Runs], table: Callable[..., FloatArray]) -> Profile:
    """Return the profile with the tables of `different` kinds at each entry."""
    columns, number = kinds
    tables = [table(*kind) for kind in columns.T.tolist()]
    # Kinds that lose alike, such as the hours of a day, are one run.
    first_alike = dict[bytes, int]()
    alike = np.zeros(len(tables), dtype=np.int64)
    for place, losses in enumerate(tables):
        alike[place] = first_alike.setdefault(losses.tobytes(), place)
    (used,), joined = different(number.mapped(alike[number.values]))
    return Profile(tuple(tables[place] for place in used.tolist()), joined.lengths, joined.values)


def _table(changes: IntArray, scale: Fraction) -> FloatArray:
    numbers = changes.ravel().tolist()
    rates = {change: float_above(Fraction(change) / scale) for change in set(numbers)}
    return np.array([rates[number] for number in numbers]).reshape(changes.shape)


def _patient_losses(
    chain: PeriodicChain, profiles: Sequence[Profile], family: Family, is_anywhere: bool = False
) -> list[Loss]:
    return chain_losses(chain, profiles, family, most=most_steps(len(chain.states)), is_anywhere=is_anywhere)


def _patient_loss(chain: PeriodicChain, profile: Profile, family: Family, is_anywhere: bool = False) -> Loss:
    return _patient_losses(chain, [profile], family, is_anywhere)[0]


def _from_anywhere(chain: PeriodicChain, profile: Profile, family: Family) -> Loss:
    return _patient_loss(chain, profile, family, is_anywhere=True)


def _worst_of_class(belief: BinaryChains, profile: Profile, family: Family) -> Loss:
    # That of its worst chain with any start (chain classes, section 6); the proof is of Lemma 2, which needs no start.
    # It is step by step, so runs follow; any state may follow any other in the class.
    return _from_anywhere(belief.worst, profile, family)


#: For two states and one law of the first the recursion is attained (Theorem 3).
CHAIN = Curve(
    _patient_loss, chain_work, lambda chain: len(chain.states) == 2 and not chain.starts_anyhow, _from_anywhere,
    _patient_losses,
)
CLASS = Curve(class_loss, class_work, anywhere=partial(class_loss, is_anywhere=True))
INTERVAL = Curve(_worst_of_class, lambda belief: chain_work(belief.worst), anywhere=_worst_of_class)

#: Curves by type of belief.
CURVES: Question[Curve[Any] | None] = Question("what a profile costs its secrets", None)
