"""Sets of units, and which units have the same history: classes that are refined by every new set.

A unit is 8 bytes, the keyed BLAKE2b of its name. A set is a sorted array of them, written once as a content: whole, or
as what joined and left another set that was charged before. Its name is the digest of that content.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from takifugu.core.errors import InputError, LedgerError
from takifugu.core.names import budget_name

Tags = npt.NDArray[np.uint64]
Content = Callable[[str], bytes]
#: The steps that units of a class were charged with, the newest first: classes that were divided share the beginning.
Past = tuple["Past | None", int]

_WHOLE, _CHANGED = b"\0", b"\1"
_TAG = 8
#: So many sets are remembered by their classes; those of any other are found from its content again.
KNOWN = 16
NO_TAGS: Tags = np.zeros(0, dtype=np.uint64)


def set_of(key: bytes, names: Iterable[str]) -> Tags:
    """Return the tags of the names of units; raises for a blank name, or one that stands twice."""
    spelt = [budget_name(name, "the name of a person") for name in names]
    if not all(spelt):
        raise InputError("the name of a person holds nothing but blanks", fix="write whose data they are").at("unit")
    digests = b"".join([blake2b(name.encode(), digest_size=_TAG, key=key, person=b"unit").digest() for name in spelt])
    tags = np.sort(np.frombuffer(digests, dtype=">u8").astype(np.uint64))
    if (tags[1:] == tags[:-1]).any():
        if len({*spelt}) < len(spelt):
            raise InputError("a release debits one person twice", fix="give each answer its own name").at("debits")
        raise LedgerError(
            "the ledger has one tag for two people", rule="of such two only one would be charged",
            fix="release about one of them under another name; that this happens in a million has one chance in 10^7",
        )  # fmt: skip
    return tags


def without(tags: Tags, others: Tags) -> Tags:
    """Return the tags of one sorted set that another lacks."""
    if not len(others):
        return tags
    places = np.minimum(np.searchsorted(others, tags), len(others) - 1)
    left: Tags = tags[others[places] != tags]
    return left


def set_body(tags: Tags, base: str, of_base: Tags) -> bytes:
    """Return how a set is kept: by what joined and left the base, where that is shorter."""
    joined, left = without(tags, of_base), without(of_base, tags)
    if not base or 2 * (len(joined) + len(left)) > len(tags):
        return _WHOLE + tags.astype(">u8").tobytes()
    count = len(joined).to_bytes(_TAG, "big")
    return _CHANGED + bytes.fromhex(base) + count + joined.astype(">u8").tobytes() + left.astype(">u8").tobytes()


def read_body(body: bytes) -> tuple[str, Tags, Tags]:
    """Return the base of a set ("": none), and what joined and left it; raises ValueError for what is no set."""
    start = {_WHOLE: 1, _CHANGED: 33 + _TAG}.get(body[:1])
    if start is None or len(body) < start or (len(body) - start) % _TAG:
        raise ValueError("what it names is no set of people")
    tags = np.frombuffer(body, dtype=">u8", offset=start).astype(np.uint64)
    count = len(tags) if start == 1 else int.from_bytes(body[33:start], "big")
    joined, left = tags[:count], tags[count:]
    for part in (joined, left):
        if not (part[1:] > part[:-1]).all():
            raise ValueError("the people of a set are in no order")
    return ("" if start == 1 else body[1:33].hex()), joined, left


def steps_of(past: Past | None) -> list[int]:
    """Return the steps of a past in their order."""
    steps = []
    while past is not None:
        past, step = past
        steps.append(step)
    return steps[::-1]


@dataclass(eq=False)
class People:
    """All units that were ever charged, by class: units of one class were charged alike, step by step."""

    tags: Tags = field(default_factory=lambda: NO_TAGS)
    classes: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    sizes: list[int] = field(default_factory=list)
    pasts: list[Past | None] = field(default_factory=list)
    sets: dict[str, set[int]] = field(default_factory=dict)

    def copy(self) -> People:
        sets = {name: set(members) for name, members in self.sets.items()}
        return People(self.tags, self.classes.copy(), [*self.sizes], [*self.pasts], sets)

    def charge(self, name: str, content: Content, step: int) -> None:
        """Add a step to the history of every unit of a set."""
        for number in self.classes_of(name, content):
            self.pasts[number] = self.pasts[number], step

    def classes_of(self, name: str, content: Content) -> set[int]:
        """Return the classes that a set consists of, divided where it holds a part of them."""
        changes, base = [], name
        while base and base not in self.sets:
            last = base
            base, joined, left = read_body(content(base))
            changes.append((last, joined, left))
        for last, joined, left in reversed(changes):
            self.sets[last] = set(self.sets[base]) if base else set()
            self.sets[last] |= self._refine(joined)
            self.sets[last] -= self._refine(left)
            base = last
        self.sets[name] = self.sets.pop(name)  # the newest of all
        for forgotten in [*self.sets][:-KNOWN]:
            del self.sets[forgotten]
        return self.sets[name]

    def newest(self) -> tuple[str, Tags]:
        """Return the set that was charged last."""
        if not self.sets:
            return "", NO_TAGS
        name = next(reversed(self.sets))
        return name, self.members(self.sets[name])

    def members(self, numbers: Iterable[int]) -> Tags:
        """Return the tags of the units of some classes."""
        inside = np.zeros(len(self.sizes), dtype=bool)
        inside[list(numbers)] = True
        tags: Tags = self.tags[inside[self.classes]]
        return tags

    def class_of(self, tag: int) -> int | None:
        """Return the class of a unit, None for one that was never charged."""
        place = int(np.searchsorted(self.tags, np.uint64(tag)))
        if place < len(self.tags) and int(self.tags[place]) == tag:
            return int(self.classes[place])
        return None

    def _refine(self, tags: Tags) -> set[int]:
        """Divide the classes that a set holds a part of, and return those inside it."""
        new = without(tags, self.tags)
        if len(new):
            self._add(new)
        places = np.searchsorted(self.tags, tags)
        inside = self.classes[places]
        whole, splits = set[int](), dict[int, int]()
        counts = np.bincount(inside)
        for number in np.flatnonzero(counts).tolist():
            count = int(counts[number])
            if count == self.sizes[number]:
                whole.add(number)
                continue
            splits[number] = len(self.sizes)
            self.sizes[number] -= count
            self.sizes.append(count)
            self.pasts.append(self.pasts[number])
        if splits:
            renamed = np.arange(len(self.sizes), dtype=np.int32)
            renamed[list(splits)] = list(splits.values())
            self.classes[places] = renamed[inside]
            for members in self.sets.values():
                members |= {splits[number] for number in splits if number in members}
        return whole | {*splits.values()}

    def _add(self, new: Tags) -> None:
        places = np.searchsorted(self.tags, new)
        self.tags = np.insert(self.tags, places, new)
        self.classes = np.insert(self.classes, places, len(self.sizes)).astype(np.int32)
        self.sizes.append(len(new))
        self.pasts.append(None)
