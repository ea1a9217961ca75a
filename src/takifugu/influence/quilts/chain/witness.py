"""What forced the noise on a sequence, in words: the entry, its values, the quilt and its numbers."""

from __future__ import annotations

import numpy as np

from takifugu.analysis.problem import Part, Witness
from takifugu.influence.quilts.chain.sides import ChainSides, Quilt
from takifugu.model.secrets.hypotheses import compared


def worst_pair(sides: ChainSides, entry: int, quilt: Quilt) -> int:
    """Return the ordered pair best told apart by a quilt's nodes."""
    alive = np.flatnonzero(sides.influence.alive(entry))
    total = np.zeros(len(alive))
    before = quilt.before(entry)
    if before is not None:
        total = total + sides.influence.left(entry, before)[-1][alive]
    if quilt.right is not None and entry + quilt.right < sides.length:
        total = total + sides.influence.right(quilt.right, entry)[-1][alive]
    return int(alive[np.argmax(total)])


def quilt_witness(
    part: Part, sides: ChainSides, entry: int, quilt: Quilt, pair: int, numbers: tuple[tuple[str, float], ...]
) -> Witness:
    """Return the comparison at an entry and its protecting quilt."""
    pairs = sides.influence.pairs
    if pairs is None:
        comparison = f"any two values of step {part.start + entry}"
    else:
        comparison = compared(part.belief, entry, pairs[pair], part.start).label
    return Witness(comparison, describe(quilt, entry, sides.length, part.start), numbers)


def describe(quilt: Quilt, entry: int, length: int, start: int = 0) -> str:
    """Describe the entries of the quilt and the near ones.

    >>> describe(Quilt(2, 3), 10, 100)
    'quilt: steps 8 and 13; near set: steps 9 to 12'
    """
    low, high, nodes = 0, length - 1, []
    before = quilt.before(entry)
    if before is not None:
        low = entry - before + 1
        nodes.append(start + entry - before)
    if quilt.right is not None and entry + quilt.right < length:
        high = entry + quilt.right - 1
        nodes.append(start + entry + quilt.right)
    near = f"near set: steps {start + low} to {start + high}" if low < high else f"near set: step {start + low}"
    if not nodes:
        return f"trivial quilt; {near}"
    if len(nodes) == 1:
        return f"quilt: step {nodes[0]}; {near}"
    return f"quilt: steps {nodes[0]} and {nodes[1]}; {near}"
