"""A sweep along a chain: the loss at each position, explicit until it repeats, then one period of it.

R_t is the least over jumps d of sum_{t<s<t+d} c_s + S(P^d(a, .), P^d(b, .); c_{t+d} + R_{t+d}), closed by shortest
paths (Theorem 2 of docs/theory/influence.md): every choice of jumps is sound. Gaps, where c = 0, are
always jumped over.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from takifugu.core.arrays import BoolArray, FloatArray, IntArray
from takifugu.core.errors import Unsupported
from takifugu.influence.chains import two_states
from takifugu.influence.chains.kernels import LONGEST_JUMP
from takifugu.influence.chains.kernels import jumps as distances
from takifugu.influence.chains.remembered import Memory, Run, largest_of, remember, remembered
from takifugu.influence.chains.sides import Side
from takifugu.influence.profiles.patience import patience_of
from takifugu.influence.profiles.profile import Profile
from takifugu.numbers.outward_rounding import UNIT, closed, sum_up, up

#: Where bounds fall from, how often at most, and the share of them for which they fall once more.
HIGHEST, MOST_FALLS, WORTH_FALLING = 250.0, 8, 0.01
#: How far above a guessed limit bounds are tried: shares of what is close enough, and units; units of what falls.
SLACKS: tuple[tuple[float, int, int], ...] = (1 / 64, 4, 0), (1 / 8, 64, 64), (1, 1024, 1024)
NEVER = 2**62
#: With more states a step takes much longer than its overhead, and programs start from the solution of the last one.
MOST_BESIDE = 5
#: The length by which a run is remembered whose losses settled before its end.
ANY_LENGTH = 0


@dataclass(frozen=True, eq=False)
class Track:
    """Losses by position: `explicit` ones from `start` on, then the matrices of `repeated` in turn up to `stop`."""

    start: int
    explicit: FloatArray  # (positions, k, k)
    repeated: FloatArray  # (period, k, k), or none
    stop: int

    @property
    def settled(self) -> int:
        """Return the first position of `repeated`."""
        return self.start + len(self.explicit)

    def at(self, position: int) -> FloatArray:
        if position < self.settled:
            return np.asarray(self.explicit[position - self.start])
        return np.asarray(self.repeated[(position - self.settled) % len(self.repeated)])


def sweep(side: Side, profile: Profile, jumps: Sequence[int] = (), most: int = NEVER) -> list[Track]:
    """Return all positions' losses, one track for each run, in the order of the sweep."""
    # Raises Unsupported where losses of a run do not repeat after `most` positions.
    return sweeps(side, [profile], jumps, most)[0]


def sweeps(side: Side, profiles: Sequence[Profile], jumps: Sequence[int] = (), most: int = NEVER) -> list[list[Track]]:
    """Return the tracks of profiles that are side by side: they have the same runs, each with its own tables."""
    first, states = profiles[0], len(profiles[0].tables[0])
    tracks = [list[Track]() for _ in profiles]
    memories = [Memory(np.zeros((states, states))) for _ in profiles]
    start = 0
    for length, number in zip(first.lengths.tolist(), first.table_of.tolist(), strict=True):
        tables, stop = [profile.tables[number] for profile in profiles], start + length
        for last in sorted({stop, *(cut for cut in (1, side.settled_from + 1) if start < cut < stop)}):
            for of_one, track in zip(tracks, _run(side, tables, start, last, memories, jumps, most), strict=True):
                of_one.append(track)
            start = last
    return tracks


def can_be_together(profiles: Sequence[Profile]) -> bool:
    """Whether `sweeps` may follow these profiles side by side."""
    first = profiles[0]
    return len(first.tables[0]) <= MOST_BESIDE and all(
        np.array_equal(first.lengths, other.lengths) and np.array_equal(first.table_of, other.table_of)
        for other in profiles
    )


def is_free(side: Side, start: int, memory: Memory, jumps: Sequence[int]) -> bool:
    """Whether the future depends on the memory and the phase alone."""
    clear = side.settled_from + 2 * side.period + max((1, *jumps))
    return side.law is not None and start >= clear and min(memory.losses, default=start) >= side.settled_from


def _run(
    side: Side, tables: Sequence[FloatArray], start: int, stop: int, memories: Sequence[Memory], jumps: Sequence[int],
    most: int,
) -> list[Track]:  # fmt: skip
    """Follow one run of equal profiles, of each of several tables, until its losses repeat."""
    tracks, keys, unknown = dict[int, Track](), dict[int, Hashable](), dict[Hashable, list[int]]()
    for number, (table, memory) in enumerate(zip(tables, memories, strict=True)):
        keys[number] = _key(side, table, start, memory, jumps, most)
        track = _remembered(keys[number], side, table, start, stop, memory, jumps)
        if track is None:
            alike = tuple(memory.losses), memory.last_moving, bool(table.any())
            unknown.setdefault(alike, []).append(number)
        else:
            tracks[number] = track
    for numbers in unknown.values():
        beside = [memories[number] for number in numbers]
        together = np.array([tables[number] for number in numbers])
        for number, track in zip(numbers, _followed(side, together, start, stop, beside, jumps, most), strict=True):
            tracks[number], key, length = track, keys[number], stop - start
            if key is not None:
                run = Run(track.explicit, track.repeated, memories[number].since(start))
                has_settled = len(tables[number]) > 2 and len(track.repeated) > 0 and length > len(track.explicit) + 2
                remember((key, ANY_LENGTH if has_settled else length), run)
    return [track for _, track in sorted(tracks.items())]


def _key(
    side: Side, table: FloatArray, start: int, memory: Memory, jumps: Sequence[int], most: int
) -> Hashable | None:
    """Return the key by which a run is remembered, if it is."""
    has_clear_start = is_free(side, start, memory, jumps)
    if side.law is None or (side.settled_from and not has_clear_start):
        return None
    # Without a start of its own a side is the same at every start, as far as its phase and the jumps say.
    place = (start % side.period, None if has_clear_start else start)
    return side.law, place, table.tobytes(), memory.since(start).key, tuple(jumps), most


def _remembered(
    key: Hashable | None, side: Side, table: FloatArray, start: int, stop: int, memory: Memory, jumps: Sequence[int]
) -> Track | None:
    """Return a run that is remembered; `memory` then holds its last losses."""
    run = remembered((key, ANY_LENGTH))
    if run is not None and stop - start > len(run.explicit) + 2:
        _fill(memory, run.repeated, table, start + len(run.explicit), stop, max((1, *jumps)) + side.period)
        return Track(start, run.explicit, run.repeated, stop)
    run = remembered((key, stop - start))
    if run is not None:
        memory.become(run.after.since(-start))
        return Track(start, run.explicit, run.repeated, stop)
    return None


def _followed(
    side: Side, tables: FloatArray, start: int, stop: int, memories: Sequence[Memory], jumps: Sequence[int], most: int
) -> list[Track]:
    """Follow runs of equal profiles side by side, each until its losses repeat or end."""
    states, jumps = tables.shape[-1], sorted({*jumps})
    period, reach = side.period, max((1, *jumps))
    if states == 2 and start > side.settled_from and memories[0].last_moving >= 0:
        settled = side.settled_kernels()
        if settled is not None:
            return [
                _run_of_two_states(*settled, table, start, stop, memory)
                for table, memory in zip(tables, memories, strict=True)
            ]
    tracks, going, memory = dict[int, Track](), [*range(len(tables))], Memory.beside(memories)
    explicit = list[FloatArray]()  # the last losses of those still `going`, as `memory` and `tables`
    losses: list[list[FloatArray]] = [[] for _ in tables]  # of each of them, all

    def end(place: int, repeated: FloatArray) -> None:
        """End the track of one of those that go on."""
        number, last = going[place], memory.of(place)
        if len(repeated):
            _fill(last, repeated, tables[place], position, stop, reach + period)
        memories[number].become(last)
        tracks[number] = Track(start, np.array(losses[number]).reshape(-1, states, states), repeated, stop)

    position = start
    while position < stop and going:
        if position - start > most and stop - position > 2:
            for place in range(len(going)):
                one = [loss[None] for loss in losses[going[place]]]
                bound = _from_above(side, one, tables[place : place + 1], position)
                if bound is None:
                    raise Unsupported(f"the losses still rise after {most} steps")
                end(place, bound)
            going = []
            break
        loss = _loss(side, position, memory, jumps)
        explicit.append(loss)
        for place, number in enumerate(going):
            losses[number].append(loss[place])
        memory.keep(position, loss, tables, reach + period)
        position += 1
        is_early = position - start < max(2 * period, reach) + 1 or position - period * 2 < side.settled_from
        if is_early or stop - position < 2:
            continue
        repetitions = _repetitions(side, explicit, tables, start, position, jumps)
        if not repetitions:
            continue
        for place, repeated in repetitions.items():
            end(place, repeated)
        rest = [place for place in range(len(going)) if place not in repetitions]
        going, memory, tables = [going[place] for place in rest], memory.of(rest), tables[rest]
        explicit = [loss[rest] for loss in explicit[-max(11 * period, reach) :]]
    for place in range(len(going)):
        end(place, np.zeros((0, states, states)))
    return [track for _, track in sorted(tracks.items())]


def _run_of_two_states(
    kernels: FloatArray, error: float, table: FloatArray, start: int, stop: int, memory: Memory
) -> Track:
    """Follow a run in two numbers; steps lose nothing over jumps, so only the last position is remembered."""
    before = memory.entering(start - 1)
    ratios = float(before[1, 0]), float(before[0, 1])
    in_turn = np.roll(kernels, -start, axis=0)
    explicit, repeated = two_states.run(in_turn, error, float(table[0, 1]), ratios, stop - start)
    track = Track(start, explicit, repeated, stop)
    memory.losses, memory.tables = {stop - 1: track.at(stop - 1)}, {stop - 1: table}
    memory.last_moving = stop - 1
    return track


def _fill(memory: Memory, repeated: FloatArray, table: FloatArray, position: int, stop: int, reach: int) -> None:
    """Remember the last positions of a run cut short."""
    first = max(position, stop - reach - 1)
    for late in range(first, stop):
        memory.losses[late] = repeated[(late - position) % len(repeated)]
        memory.tables[late] = table
    if table.any():
        memory.last_moving = stop - 1
    memory.forget(first)


def _loss(side: Side, position: int, memory: Memory, jumps: Sequence[int]) -> FloatArray:
    """Return the losses at one position: the least over the jumps, the shortest first, closed."""
    if memory.last_moving < 0:
        return memory.zero
    best = side.step(position, 1, memory.entering(position - 1))
    gap = position - memory.last_moving
    falls, are_all = None, False
    for distance in jumps if gap <= 1 else sorted({*jumps, gap}):
        behind = position - distance
        if distance == 1 or distance > LONGEST_JUMP or behind not in memory.losses:
            continue
        jumped_over = _jumped_over(memory, behind)
        if not all(map(memory.tables.__contains__, jumped_over)):
            continue
        between = sum(map(memory.largest, jumped_over), 0.0) * (1 + (distance + 2) * UNIT)
        lower = between < largest_of(best)
        is_any, is_each = (lower, lower) if isinstance(lower, bool) else (bool(lower.any()), bool(lower.all()))
        if not is_any:  # nor do longer jumps lower any
            break
        if falls is None:
            falls, are_all = lower, is_each
        jumped = side.step(position, distance, memory.entering(behind))
        if jumped_over:
            jumped = up(jumped + between)
        best = np.minimum(best, jumped if is_each else np.where(lower, jumped, best))
    if falls is None:
        return best
    return closed(best) if are_all else np.where(falls, closed(best), best)


def _jumped_over(memory: Memory, behind: int) -> range:
    """Return the positions a jump leaves out, up to the last profile."""
    return range(behind + 1, memory.last_moving + 1)


def _repetitions(
    side: Side, explicit: list[FloatArray], tables: FloatArray, start: int, position: int, jumps: Sequence[int]
) -> dict[int, FloatArray]:
    """Return one period of bounds on all farther losses of each that has some, by its place in `tables`."""
    # Steps are monotone: B bounds all if it bounds what they jump back to, and a period from B ends at or below it.
    period, count, of_each = side.period, position - start, (0, 2, 3)
    last, before = np.array(explicit[-period:]), np.array(explicit[-2 * period : -period])
    change = last - before
    rises, has_limit = change.max(axis=of_each) > 0, count % 8 == 0 and count >= 11 * period
    if not has_limit and rises.all():
        return {}
    limit, largest = last, last.max(axis=of_each)
    enough = patience_of(tables.shape[-1]).enough(count // period) * (1 + largest)
    may_repeat = ~rises & (-change.min(axis=of_each) <= enough)
    if has_limit:
        (limit, left), (before_limit, _) = _limit(explicit, period), _limit(explicit[: -8 * period], period)
        may_repeat |= rises & (np.abs(limit - before_limit).max(axis=of_each) * np.maximum(left / 8, 1.0) <= enough)
    repetitions = {place: last[:, place] for place in np.flatnonzero(may_repeat & (largest == 0)).tolist()}
    places = np.flatnonzero(may_repeat & (largest > 0))
    # A little above its limit, the least first; what falls is its own bound, but for a cycle of rounding errors.
    for relative, units, units_of_falls in SLACKS:
        if not len(places):
            break
        slack = np.where(rises, enough * relative + units * UNIT, units_of_falls * UNIT)[places, None, None]
        above = up(np.maximum(limit, last)[:, places] * (1 + slack) + slack) * (1 - np.eye(tables.shape[-1]))
        bound = np.where(slack > 0, above, last[:, places])
        recent = [loss[places] for loss in explicit[-max((1, *jumps)) :]]
        is_upper = _are_upper(side, bound, recent, tables[places], position, jumps)
        repetitions |= {place: bound[:, number] for number, place in enumerate(places.tolist()) if is_upper[number]}
        places = places[~is_upper]
    return repetitions


def _limit(explicit: list[FloatArray], period: int) -> tuple[FloatArray, FloatArray]:
    """Guess the limits of losses from the ratio of their last rises."""
    last, middle, first = (np.array(explicit[len(explicit) - n * period :][:period]) for n in (1, 2, 3))
    rise, before = ((later - earlier).max(axis=(0, 2, 3)) for later, earlier in ((last, middle), (middle, first)))
    falls = (rise > 0) & (rise < before)
    left = np.where(falls, rise / np.where(falls, before - rise, 1.0), 1.0)
    return last + (last - middle) * left[:, None, None], left


def _are_upper(
    side: Side, bound: FloatArray, explicit: list[FloatArray], tables: FloatArray, position: int, jumps: Sequence[int]
) -> BoolArray:
    """Whether each `bound` (period, n, k, k), taken for all recent positions, bounds the next ones."""
    reach = max((1, *jumps))
    are_below = [(explicit[-n] <= bound[-n % len(bound)]).all(axis=(1, 2)) for n in range(1, reach + 1)]
    is_upper = np.logical_and.reduce(are_below)
    if is_upper.any():
        is_upper &= (_stepped(side, bound, tables, position, jumps) <= bound).all(axis=(0, 2, 3))
    return np.asarray(is_upper)


def _stepped(side: Side, bound: FloatArray, tables: FloatArray, position: int, jumps: Sequence[int]) -> FloatArray:
    """Return the next phases' losses by jumps inside a run, where `bound` bounds the losses of a period."""
    period, states, largest = len(bound), tables.shape[-1], tables.max(axis=(1, 2), keepdims=True)
    distances = sorted({1, *jumps}) if largest.any() else [1]
    between = [largest * (d - 1) * (1 + (d + 2) * UNIT) for d in distances]
    stepped = np.empty_like(bound)
    for phase in range(period):
        place, best = position + phase, np.full(tables.shape, np.inf)
        ratios = [sum_up(tables, bound[(phase - d) % period]) for d in distances]
        quick = [side.at_least(place, d, ratio) for d, ratio in zip(distances, ratios, strict=True)]
        lowest = np.array(quick) + np.array(between)
        # Each jump is a bound, so one that cannot lower the least is left out; the most promising come first.
        for number in np.argsort(lowest.max(axis=(1, 2, 3)), kind="stable").tolist():
            needed = (lowest[number] < best * (1 + 1e-12) + 1e-14).any(axis=0) & ~np.eye(states, dtype=bool)
            if needed.any():
                jumped = side.step(place, distances[number], ratios[number], needed)
                if distances[number] > 1:
                    jumped = up(jumped + between[number])
                best = np.minimum(best, jumped)
        stepped[phase] = closed(best)
    return stepped


def _from_above(side: Side, explicit: list[FloatArray], tables: FloatArray, position: int) -> FloatArray | None:
    """Return one period of bounds on a slowly rising run's losses, each array of one run."""
    period, states = side.period, tables.shape[-1]
    if position <= side.settled_from + 1:  # no jump back stays among steps of one law
        return None
    far = distances(min(LONGEST_JUMP, (len(explicit) - 1) // period, position - side.settled_from - 1)).tolist()[::3]
    highest = HIGHEST if tables.any() else float(np.max(explicit[-period:]))  # in a gap no loss exceeds those before
    # Losses beyond a jump leave little of it: from there bounds fall as long as that is worth it.
    bound = np.full((period, *tables.shape), highest)
    turns = MOST_FALLS if tables.any() else 0
    for _ in range(turns):
        lower = np.minimum(_stepped(side, bound, tables, position, far), bound)
        fell, bound = float((bound - lower).max()), lower
        if fell <= WORTH_FALLING * float(bound.max()):
            break
    near = [explicit[-n] - bound[-n % period] for n in range(1, max(far) + 1)]
    bound = bound + max(0.0, float(np.max(near))) * (1 - np.eye(states))  # it stays one: a step is never expansive
    for slack in (0.0, 1e-12, 1e-9, 1e-6):
        higher = up(bound * (1 + slack)) * (1 - np.eye(states))
        if float(higher.max()) < HIGHEST and _are_upper(side, higher, explicit, tables, position, far).all():
            return np.asarray(higher[:, 0])
    return None


@dataclass(frozen=True, eq=False)
class Piece:
    """Entries first, ..., last - 1 of one direction, with losses of a track that are explicit, or that repeat."""

    first: int
    last: int
    track: Track
    size: int  # of the chain, for R, whose positions count from the end; 0 for L
    repeats: bool

    @cached_property
    def most(self) -> float:
        """Return the largest of its losses."""
        return float((self.track.repeated if self.repeats else self.track.explicit).max())

    def at(self, entries: IntArray) -> FloatArray:
        """Return the losses at some of the entries, shape (entries, k, k)."""
        positions = self.size - 1 - entries if self.size else entries
        if not self.repeats:
            return np.asarray(self.track.explicit[positions - self.track.start])
        return np.asarray(self.track.repeated[(positions - self.track.settled) % len(self.track.repeated)])


def pieces_of(tracks: Sequence[Track], size: int = 0) -> list[Piece]:
    """Return the pieces of L, or of R in a chain of `size` entries, in the order of the entries."""
    pieces = []
    for track in tracks:
        for first, stop in ((track.start, min(track.settled, track.stop)), (track.settled, track.stop)):
            if first < stop:
                ends = (size - stop, size - first) if size else (first, stop)
                pieces.append(Piece(*ends, track, size, repeats=first == track.settled))
    return pieces[::-1] if size else pieces
