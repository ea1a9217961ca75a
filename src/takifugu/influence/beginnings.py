"""Parts that are the beginning of another part: they lose no more, so noise for the longest serves them.

A mechanism that reads the first m entries of a recording reads the whole recording, with a profile of 0 on the rest.
What is proved of all mechanisms with the profile of the whole holds for it, too, because the first m entries have the
law that they have alone (docs/theory/influence.md#influence-beginnings).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

from takifugu.analysis.problem import Part
from takifugu.influence.curves import CURVES
from takifugu.model.beliefs import Belief
from takifugu.model.queries import Additive
from takifugu.model.secrets.families import Family


def longest(parts: Sequence[Part]) -> list[Part]:
    """Return the parts without those that are known to be the beginning of another one."""
    if len(parts) < 2:
        return [*parts]
    longest_of = dict[Hashable, Part]()
    for part in parts:
        key = beginning(part.belief, part.family, [part.answer]) or id(part)
        if key not in longest_of or part.belief.size > longest_of[key].belief.size:
            longest_of[key] = part
    return [*longest_of.values()]


def beginning(belief: Belief, family: Family, answers: Sequence[Additive]) -> Hashable | None:
    """Return a key of a sequence whose steps are all secret and counted alike: equal for beginnings of one."""
    sequence: Any = belief
    curve = CURVES.of(belief)
    if curve is None or curve.anywhere is None or family.run > 1 or family.entries != range(belief.size):
        return None
    first = list[Hashable]()
    for answer in answers:
        if not isinstance(answer, Additive) or len({*zip(*answer.total_kinds[0].tolist(), strict=True)}) != 1:
            return None
        first.append(answer.restrict(slice(0, 1)).key)
    return sequence.with_length(1), replace(family, entries=range(1)), *first
