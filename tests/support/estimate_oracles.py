"""What a reader concludes of a number from noisy ones, by listing all joint states; imports no takifugu."""

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

#: A joint state, and how probable it is.
State = tuple[tuple[int, ...], float]
#: The probability of all cells together.
Cells = Mapping[tuple[int, ...], float]


def chain_states(matrices: Sequence[Any], length: int, start: Sequence[float]) -> Iterator[State]:
    """Yield the states of a chain whose steps have these matrices in turn."""
    for states in itertools.product(range(len(start)), repeat=length):
        mass = start[states[0]]
        for step in range(length - 1):
            mass *= matrices[step % len(matrices)][states[step]][states[step + 1]]
        yield states, mass


def pieces_states(pieces: Sequence[Sequence[State]]) -> Iterator[State]:
    """Yield the states of sequences that know nothing of each other, one after the other."""
    for chosen in itertools.product(*pieces):
        yield tuple(itertools.chain.from_iterable(states for states, _ in chosen)), math.prod(m for _, m in chosen)


def users_states(laws: Sequence[Sequence[float]]) -> Iterator[State]:
    """Yield the values of people who know nothing of each other."""
    for states in itertools.product(*(range(len(law)) for law in laws)):
        yield states, math.prod(law[value] for law, value in zip(laws, states, strict=True))


def network_states(parents: Sequence[Sequence[int]], tables: Sequence[Mapping[tuple[int, ...], Sequence[float]]],
                   sizes: Sequence[int]) -> Iterator[State]:  # fmt: skip
    """Yield the states of a network: the law of each node is its table's, given its parents."""
    for states in itertools.product(*map(range, sizes)):
        mass = 1.0
        for node, of_node in enumerate(parents):
            mass *= tables[node][tuple(states[parent] for parent in of_node)][states[node]]
        yield states, mass


def cells_of(joint: Iterable[State], adds: Callable[[int, int], Sequence[int]]) -> Cells:
    """Return the law of all cells: `adds(entry, value)` is what one entry adds to each."""
    law = dict[tuple[int, ...], float]()
    for states, mass in joint:
        added = [adds(entry, value) for entry, value in enumerate(states)]
        cells = tuple(map(sum, zip(*added, strict=True)))
        law[cells] = law.get(cells, 0.0) + mass
    return law


def laplace_mass(distance: int, scale: float) -> float:
    """Return the mass of the discrete Laplace law at a distance, for a scale in steps."""
    a = math.exp(-1 / scale)
    return (1 - a) / (1 + a) * a ** abs(distance)


@functools.cache
def sum_mass(distance: int, scale: float, cells: int, reach: int) -> float:
    """Return the mass of the sum of several such noises, by listing them."""
    if cells == 1:
        return laplace_mass(distance, scale)
    rest = {d: sum_mass(distance - d, scale, cells - 1, reach) for d in range(-reach, reach + 1)}
    return math.fsum(laplace_mass(d, scale) * mass for d, mass in rest.items())


def posterior(
    joint: Cells, published: Sequence[int], cell: int, scale: float, others: Sequence[int] = ()
) -> tuple[dict[int, float], float]:
    """Return a cell's law given its published value and the sum of the `others`, and how probable these are."""
    masses, total = dict[int, float](), sum(published[other] for other in others)
    for cells, mass in joint.items():
        likelihood = laplace_mass(published[cell] - cells[cell], scale)
        if others:
            likelihood *= sum_mass(total - sum(cells[other] for other in others), scale, len(others), int(30 * scale))
        masses[cells[cell]] = masses.get(cells[cell], 0.0) + mass * likelihood
    whole = math.fsum(masses.values())
    return {value: mass / whole for value, mass in sorted(masses.items())}, whole


def interval(law: Mapping[int, float], level: float = 0.95) -> tuple[int, int]:
    """Return the ends that leave out at most half of the rest on either side."""
    outside, values = (1 - level) / 2, sorted(law)
    low = next(v for v in values if math.fsum(law[u] for u in values if u <= v) > outside)
    high = next(v for v in reversed(values) if math.fsum(law[u] for u in values if u >= v) > outside)
    return low, high


def is_contradicted(joint: Cells, published: int, cell: int, scale: float, threshold: float, reach: int) -> bool:
    """Return whether a value as far out as the published one is improbable, on the side where it is more so."""
    above = below = 0.0
    for cells, mass in joint.items():
        for d in range(-reach, reach + 1):
            above += mass * laplace_mass(d, scale) * (cells[cell] + d >= published)
            below += mass * laplace_mass(d, scale) * (cells[cell] + d <= published)
    return 2 * min(above, below) < threshold
