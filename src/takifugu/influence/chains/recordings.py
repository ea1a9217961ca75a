"""What all windows of a recording lose together, by stretches of steps that each lose as much for any two values.

A ledger asks this again after each window. What enters each stretch from the left and from the right, its messages, is
remembered, and the most that its steps lose. Where stretches are others than before, messages are followed from there
on until one is, as it is rounded up, what it was: then all farther ones are. That changes no bit of a loss.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain as chained
from threading import Lock

import numpy as np

from takifugu.core.arrays import FloatArray, IntArray
from takifugu.influence.chains.chains import sides_of, usual_jumps, worst_between
from takifugu.influence.chains.remembered import Memory
from takifugu.influence.chains.sides import Side
from takifugu.influence.chains.sweeps import Track, along, is_free
from takifugu.influence.profiles.profile import Loss
from takifugu.model.beliefs.chains.periodic_chain import PeriodicChain
from takifugu.model.secrets.families import Family

#: How many bytes of messages are kept in all, about, and how many recordings of one law.
MOST, RECORDINGS = 2**26, 8
#: What a message takes beside its numbers.
OVERHEAD = 1_000


@dataclass(frozen=True, eq=False)
class Messages:
    """The losses entering each stretch of a sweep, and behind the last."""

    lengths: IntArray
    rates: FloatArray
    entering: tuple[Memory, ...]  # positions count from the start of each stretch
    same: int = 0  # so many first stretches were known
    joined: int = 0  # and those from this one on
    tracks: tuple[list[Track], ...] = ()  # of those between them

    @cached_property
    def starts(self) -> list[int]:
        return [0, *np.cumsum(self.lengths).tolist()]


@dataclass(frozen=True, eq=False)
class Recording:
    """The messages from both ends, and the loss of each stretch."""

    left: Messages
    right: Messages
    losses: tuple[Loss, ...]  # entries are counted from the stretch's first one
    size: int


def recording_loss(
    chain: PeriodicChain, lengths: IntArray, rates: FloatArray, family: Family, most: int, is_anywhere: bool = False
) -> Loss:
    """Return `chain_loss` of a profile in stretches, whose steps lose `rates` for any two values."""
    # The family holds every step; where the start is unknown it is the first one, or (`is_anywhere`) may be any.
    size = int(lengths.sum())
    ahead, behind = sides_of(chain, size, is_anywhere)
    law: Hashable = (ahead.law, behind.law, chain.initial, type(family), family.pairs, family.presence, most)
    nearest = None if ahead.law is None or behind.law is None else _nearest(law, lengths, rates)
    # Raises Unsupported where losses of a stretch still rise after `most` steps.
    sweep = _Sweep(len(chain.states), most)
    before = (None, None) if nearest is None else (nearest.left, nearest.right)
    starts_at_once = chain.has_given_start or (chain.starts_anyhow and not is_anywhere)
    left = sweep.along(behind, lengths, rates, before[0], may_shift=not starts_at_once)
    right = sweep.along(ahead, lengths[::-1], rates[::-1], before[1], may_shift=True)
    losses = _losses(sweep, chain, family, (behind, left), (ahead, right), nearest)
    if ahead.law is not None and behind.law is not None:
        taken = 2 * len(lengths) * (OVERHEAD + 8 * len(chain.states) ** 2 * (sweep.reach(behind) + behind.period + 1))
        _remember(law, nearest, Recording(left, right, losses, taken))
    epsilons = [loss.epsilon for loss in losses]
    worst = epsilons.index(max(epsilons))
    entry = losses[worst].entry + left.starts[worst]
    if losses[worst].epsilon:
        return replace(losses[worst], entry=entry)
    return Loss(0.0)


@dataclass(frozen=True)
class _Sweep:
    """Sweeps over stretches of a chain of so many states, each given up after `most` steps that still rise."""

    states: int
    most: int

    def reach(self, side: Side) -> int:
        return max((1, *usual_jumps(side, self.states)))

    def table(self, rate: float) -> FloatArray:
        return rate * (1 - np.eye(self.states))

    def stretch(self, side: Side, rate: float, start: int, stop: int, memory: Memory) -> list[Track]:
        return along(side, self.table(rate), start, stop, memory, usual_jumps(side, self.states), self.most)

    def along(
        self, side: Side, lengths: IntArray, rates: FloatArray, messages: Messages | None, may_shift: bool
    ) -> Messages:
        """Return the known messages of a sweep, and their end."""
        count, zero = len(lengths), Memory(np.zeros((self.states, self.states)))
        messages = messages or Messages(lengths[:0], rates[:0], (zero,))
        same = _alike(lengths, rates, messages.lengths, messages.rates)
        fewer = min(count, len(messages.lengths)) - same
        common = min(fewer, _alike(lengths[::-1], rates[::-1], messages.lengths[::-1], messages.rates[::-1]))
        new = Messages(lengths, rates, messages.entering[: same + 1], same, count)
        starts, before = new.starts, messages.starts
        memory, entering, tracks = new.entering[-1].since(-starts[same]), list(new.entering), list[list[Track]]()
        for number in range(same, count):
            late = number - count + len(messages.lengths)
            if number >= count - common and self._meets(
                side, memory, starts[number], messages.entering[late], before[late], may_shift
            ):
                return replace(
                    new, entering=(*entering, *messages.entering[late + 1 :]), joined=number, tracks=tuple(tracks)
                )
            tracks.append(self.stretch(side, float(rates[number]), starts[number], starts[number + 1], memory))
            entering.append(memory.since(starts[number + 1]))
        return replace(new, entering=tuple(entering), tracks=tuple(tracks))

    def _meets(
        self, side: Side, memory: Memory, start: int, earlier: Memory, known_start: int, may_shift: bool
    ) -> bool:
        """Whether the rest is the rest after a known message."""
        if start != known_start:
            jumps, remembered = usual_jumps(side, self.states), earlier.since(-known_start)
            is_phase = (start - known_start) % side.period == 0 and min(memory.last_moving, remembered.last_moving) >= 0
            if not (may_shift and is_phase):
                return False
            if not (is_free(side, start, memory, jumps) and is_free(side, known_start, remembered, jumps)):
                return False
        return memory.since(start).is_as(earlier)


def _alike(lengths: IntArray, rates: FloatArray, their_lengths: IntArray, their_rates: FloatArray) -> int:
    """Return how many stretches from the first on are the same."""
    count = min(len(lengths), len(their_lengths))
    differ = (lengths[:count] != their_lengths[:count]) | (rates[:count] != their_rates[:count])
    return int(differ.argmax()) if differ.any() else count


def _losses(
    sweep: _Sweep, chain: PeriodicChain, family: Family, behind: tuple[Side, Messages], ahead: tuple[Side, Messages],
    earlier: Recording | None,
) -> tuple[Loss, ...]:  # fmt: skip
    """Return each stretch's losses, computed after a new incoming message."""
    (_, left), (_, right) = behind, ahead
    count, starts = len(left.lengths), left.starts
    first, last = min(left.same, count - right.joined), max(left.joined, count - right.same)
    if earlier is not None and left.same == right.same == count == len(earlier.losses):
        first = last = count
    first = min(first, last)
    losses = []
    for number in range(first, last):
        start, stop, table = starts[number], starts[number + 1], sweep.table(float(left.rates[number]))
        from_left = _tracks(sweep, *behind, number)
        from_right = _tracks(sweep, *ahead, count - 1 - number)
        loss = worst_between(chain, starts[-1], (start, stop), lambda _: table, family, from_right, from_left)  # noqa: B023
        if loss.epsilon:
            loss = replace(loss, entry=loss.entry - start)
        losses.append(loss)
    if earlier is None:
        return tuple(losses)
    return (*earlier.losses[:first], *losses, *earlier.losses[len(earlier.losses) - (count - last) :])


def _tracks(sweep: _Sweep, side: Side, messages: Messages, number: int) -> Sequence[Track]:
    """Return the tracks of a stretch by its incoming message."""
    if messages.same <= number < messages.joined:
        return messages.tracks[number - messages.same]
    start, stop = messages.starts[number : number + 2]
    return sweep.stretch(side, float(messages.rates[number]), start, stop, messages.entering[number].since(-start))

_KNOWN: OrderedDict[Hashable, list[Recording]] = OrderedDict()
_LOCK = Lock()


def _nearest(law: Hashable, lengths: IntArray, rates: FloatArray) -> Recording | None:
    """Return the known recording with most stretches in common, at both ends."""

    def common(recording: Recording) -> int:
        of_left = _alike(lengths, rates, recording.left.lengths, recording.left.rates)
        return of_left + _alike(lengths[::-1], rates[::-1], recording.right.lengths, recording.right.rates)

    with _LOCK:
        recordings = list(_KNOWN.get(law, ()))
    return max(recordings, key=common, default=None)


def _remember(law: Hashable, nearest: Recording | None, recording: Recording) -> None:
    """Keep a recording, in place of a nearly equal parent."""
    recording = replace(recording, left=replace(recording.left, tracks=()), right=replace(recording.right, tracks=()))
    is_next = nearest is not None and 2 * max(recording.left.same, recording.right.same) >= len(nearest.losses)
    with _LOCK:
        of_law = [other for other in _KNOWN.pop(law, ()) if not (is_next and other is nearest)]
        _KNOWN[law] = [*of_law[1 - RECORDINGS :], recording]
        taken = sum(other.size for other in chained.from_iterable(_KNOWN.values()))
        while taken > MOST and _KNOWN:
            taken -= sum(other.size for other in _KNOWN.popitem(last=False)[1])


def forget() -> None:
    """Drop all memories."""
    with _LOCK:
        _KNOWN.clear()
