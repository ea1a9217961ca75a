"""The loss of secrets about steps of a chain, from the profile of all that is released (Theorems 1 and 2)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise

import numpy as np

from takifugu.core.arrays import FloatArray, IntArray
from takifugu.core.cache import cached
from takifugu.core.errors import Unsupported
from takifugu.influence.chains.any_start import BackwardFromAnyStart
from takifugu.influence.chains.runs import Runs
from takifugu.influence.chains.sides import Backward, Forward, Side
from takifugu.influence.chains.sweeps import NEVER, Track, can_be_together, pieces_of, sweeps
from takifugu.influence.profiles.levels import MOST_HELD
from takifugu.influence.profiles.profile import Loss, Profile
from takifugu.model.beliefs.chains.periodic_chain import PeriodicChain, repeating_laws
from takifugu.model.beliefs.one_sequence import OneSequence
from takifugu.model.secrets.families import Family
from takifugu.numbers.outward_rounding import up

#: Operations for one step of a sweep, up to so many states: scalars, all rays, programs.
PER_STEP = ((2, 2e3), (6, 6e4), (12, 9e5))
#: Operations for a step and a state beyond: one sort for each pair of rows.
PER_SORT = 2.5e4
#: Operations for a step and a number of all pairs of rows, where their sums are too many to be held: all sorts again.
PER_RESORTED = 9.0
#: Losses that differ by less, relatively, are alike: of these the first is told, whatever a machine's last digits are.
ALIKE = 2.0**-40
#: A sweep has settled when what is left of its rise is e to minus this.
SETTLING = 25.0


def chain_loss(
    chain: PeriodicChain, profile: Profile, family: Family, jumps: Sequence[int] | None = None, most: int = NEVER,
    is_anywhere: bool = False,
) -> Loss:  # fmt: skip
    """Bound a family's loss on a chain by max c + R + L (Theorems 1 and 2 of docs/theory/influence.md)."""
    return chain_losses(chain, [profile], family, jumps, most, is_anywhere)[0]


def chain_losses(
    chain: PeriodicChain, profiles: Sequence[Profile], family: Family, jumps: Sequence[int] | None = None,
    most: int = NEVER, is_anywhere: bool = False,
) -> list[Loss]:  # fmt: skip
    """Return `chain_loss` of several profiles, whose sweeps go side by side where they can."""
    if len(profiles) > 1 and not can_be_together(profiles):
        return [chain_loss(chain, profile, family, jumps, most, is_anywhere) for profile in profiles]
    length = profiles[0].size
    # Where the start is unknown the recording starts at entry 0; or (`is_anywhere`) it may start anew before any step.
    ahead, behind = sides_of(chain, length, is_anywhere)
    forwards = ahead.jumps if jumps is None else jumps
    backwards = behind.jumps if jumps is None else jumps
    # Raises Unsupported where the losses of a run of the profile still rise after `most` steps.
    rights = sweeps(ahead, [reversed_runs(profile) for profile in profiles], forwards, most)
    lefts = sweeps(behind, profiles, backwards, most)
    starts_anew = is_anywhere and chain.starts_anyhow
    return [
        worst(chain, profile, family, right, left, starts_anew)
        for profile, right, left in zip(profiles, rights, lefts, strict=True)
    ]


def sides_of(chain: PeriodicChain, length: int, is_anywhere: bool = False) -> tuple[Side, Side]:
    """Return the two sides of a chain, with remembered matrices and trees."""
    key = "influence", length % len(chain.step_matrices), is_anywhere
    return cached(chain, key, lambda: (Forward(reached_steps(chain), length), backward_side(chain, is_anywhere)))


def backward_side(chain: PeriodicChain, is_anywhere: bool = False) -> Side:
    """Return the side before an entry, for the chain's start."""
    if isinstance(chain.initial, str) and chain.initial == "any":
        return BackwardFromAnyStart(chain.step_matrices, is_anywhere)
    if isinstance(chain.initial, str):
        return Backward(chain.step_matrices, None, chain.stationary_laws)
    start, steps, repeating = np.array(chain.initial), reached_steps(chain), None
    with suppress(ValueError, Unsupported):
        laws = repeating_laws(steps)
        if laws[0].support[start > 0].all():
            repeating = laws
    return Backward(steps, start, repeating)


def reached_steps(chain: PeriodicChain) -> FloatArray:
    """Return the matrices of a period's steps; a state that a given start never reaches steps as another one."""
    reached = np.ones(len(chain.states), dtype=bool)
    if chain.has_given_start:
        reached = np.any(chain.supports.patterns, axis=0)
    steps = chain.step_matrices
    # No secret is about such a state, which would be a class of its own, or keep the laws of later steps from settling.
    return steps if reached.all() else np.where(reached[:, None], steps, steps[:, [int(reached.argmax())]])


def chain_work(chain: PeriodicChain) -> float:
    """Predict the operations of `chain_loss`: two sweeps until both have settled."""
    states = len(chain.states)
    # Of two states whose start is unknown L has rays, as of three.
    per_steps = _operations(states) + _operations(max(states, 3) if chain.starts_anyhow else states)
    matrices = reached_steps(chain)
    slowest = 0.0
    if states > 1:
        slowest = max(float(np.sort(np.abs(np.linalg.eigvals(matrix)))[-2]) for matrix in matrices)
    settled = steps_until_settled(slowest) * len(matrices)
    return per_steps * float(min(chain.size, settled))


def _operations(states: int) -> float:
    """Return the operations of one step of a sweep."""
    if states**3 > MOST_HELD:
        return PER_RESORTED * states**3
    return next((operations for most, operations in PER_STEP if states <= most), PER_SORT * states)


def steps_until_settled(rate: float) -> float:
    """Return after how many steps losses have settled, of whose rise each step leaves the share `rate`."""
    return SETTLING / -math.log(min(max(rate, 1e-3), 1 - 1e-9))


def reversed_runs(profile: Profile) -> Profile:
    """Return the profile of the entries in the opposite order."""
    return Profile(profile.tables, profile.lengths[::-1], profile.table_of[::-1])


def worst(
    chain: OneSequence, profile: Profile, family: Family, right: Sequence[Track], left: Sequence[Track],
    starts_anew: bool = False,
) -> Loss:  # fmt: skip
    """Return a family's largest c + R + L, period by period."""
    rights, lefts = pieces_of(right, profile.size), pieces_of(left)
    if family.run > 1:
        # Where the sequence starts anew before any step each value may follow each other one.
        followers = None if starts_anew else chain.followers
        runs = Runs(chain, profile, family, min(family.run, profile.size), followers)
        return runs.worst(rights, lefts)
    cuts = sorted({0, *profile.ends.tolist(), *(piece.first for piece in (*rights, *lefts))})
    once = chain.period
    if chain.supports is not None:
        once += len(chain.supports.patterns)
    best = Loss(0.0)
    after = before = 0
    most = [float(table.max()) for table in profile.tables]
    for (first, last), number in zip(pairwise(cuts), profile.kinds.at(np.array(cuts[:-1])).tolist(), strict=True):
        while rights[after].last <= first:
            after += 1
        while lefts[before].last <= first:
            before += 1
        # A long history has thousands of pieces, and few of them can hold the largest loss.
        if up(up(rights[after].most + lefts[before].most) + most[number]) <= best.epsilon:
            continue
        table = profile.tables[number]
        entries = secret_entries(family, first, last)
        if rights[after].repeats and lefts[before].repeats and isinstance(entries, range):
            entries = entries[:once]  # what is possible repeats, too, once it has been met
        if not len(entries):
            continue
        for chunk in np.array_split(np.asarray(entries, dtype=np.int64), 1 + len(entries) // 4096):
            ahead, behind = rights[after].at(chunk), lefts[before].at(chunk)
            both_sides = np.where((ahead == 0) & (behind == 0), table, up(up(ahead + behind) + table))
            both_sides = np.where(_allowed(chain, family, chunk, len(table)), both_sides, -1.0)
            value = float(both_sides.max())
            if value > best.epsilon * (1 + ALIKE):
                top = int((both_sides >= value * (1 - ALIKE)).argmax())
                entry, a, b = np.unravel_index(top, both_sides.shape)
                best = Loss(value, int(chunk[entry]), int(a), int(b))
            elif value > best.epsilon:
                best = replace(best, epsilon=value)
    return best


def secret_entries(family: Family, first: int, last: int) -> range | list[int]:
    """Return the entries of a family from first to last - 1."""
    if isinstance(family.entries, range):
        return range(max(family.entries.start, first), max(first, min(family.entries.stop, last)))
    return [entry for entry in family.entries if first <= entry < last]


def _allowed(chain: OneSequence, family: Family, entries: IntArray, states: int) -> np.ndarray:
    """Return the compared pairs at each entry, both values being possible."""
    first_alike = entries if chain.supports is None else np.asarray(chain.supports.numbers(entries))
    different, place = np.unique(first_alike, return_inverse=True)
    allowed = np.empty((len(different), states, states), dtype=bool)
    before, compared = None, allowed[:0]
    for row, entry in zip(allowed, different.tolist(), strict=True):
        pairs = family.value_pairs(chain, entry)
        if pairs is not before:  # entries where the same is possible share one tuple
            before, compared = pairs, np.zeros((states, states), dtype=bool)
            compared[tuple(np.array(pairs, dtype=np.int64).reshape(-1, 2).T)] = True
        row[:] = compared
    return np.asarray(allowed[place])
