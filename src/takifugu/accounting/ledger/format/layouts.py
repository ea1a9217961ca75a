"""How rows became entries: the layout of a source, and what releases cost where it is another one than before.

Many entries or units of one layout may be one of another, so nothing that a belief says of the one bounds what is
revealed of the other. Then each release counts, for everybody, at what its noise loses when all that it reads changes
(`composition.losses.cost_of_all`): between any two data sets, whichever layout they are described in, the densities of
all outputs differ by the product of these factors at most (docs/theory/composition.md#layouts).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, combinations, product, starmap

from takifugu.accounting.ledger.format.agreement import are_moved, conflicts
from takifugu.analysis.guarantee import Charge
from takifugu.core.plain import Plain

#: What is said of a layout that no caller named: entries are then told apart by the lengths of their sequences.
UNDECLARED = ""

#: No layout is written in so many characters: a release file, of which it is a part, has at most a third.
LONGEST = 30_000_000

#: What each release about a source of several layouts costs, and where they have the same entries at other steps.
_PRICE = "counts for everybody at the cost of a change of all that it reads"
_MOVED = (
    "each release costs in the other layouts what its dearest step costs, at every step (and a change of all that it "
    "reads where that is not proved: with normal noise, a given start, or an answer about several people)"
)
#: Keys whose value is kept beside what else decides whether it agrees.
_WITH_MORE = ("delimiter", "encoding", "sheet", "table", "timezone", "round_to")
#: The user's words for keys, where they are others.
_WORDS = {"states": "map", "wide": "columns"}
#: What is said of a unit whose releases read sequences of different lengths, and no layout was declared.
CUT = (
    "these sequences have other lengths than those of earlier releases about the same person, and no layout is "
    "declared, so one row of the one may be many of the other: each release counts at the cost of a change of all that "
    "it reads; where the data are cut by one rule that does not change, declare it from the first release on "
    "(layout='one row an hour, a recording for each stay')"
)


def written(layout: Plain) -> str:
    """Write a declared layout as a user would."""
    said = {key: value for key, value in layout.items() if value is not None}
    return json.dumps(said, sort_keys=True, separators=(",", ":"), default=str, ensure_ascii=False)


def known_layout(text: object) -> str:
    """Return a layout from a ledger's text; raises ValueError for others.

    >>> known_layout('{"unit":"bed"}')
    '{"unit":"bed"}'
    """
    if not isinstance(text, str) or len(text) > LONGEST or not isinstance(_read(text), dict):
        raise ValueError(f"its layout is {str(text)!r:.40}")
    return text


@dataclass(frozen=True)
class Layouts:
    """The layouts of a source, in classes of layouts in agreement.

    A class is named by its first layout, and the charge of a release names its class.
    """

    classes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def class_of(self, layout: str) -> str:
        """Return the class of a layout; a new one names its own."""
        for name, members in self.classes.items():
            if layout in members:
                return name
        for name, members in self.classes.items():
            if not any(_conflicts(member, layout) for member in members):
                return name
        return layout

    def holding(self, layouts: Iterable[str]) -> Layouts:
        """Return these layouts and others, each in its class."""
        extended = self
        for layout in layouts:
            name = extended.class_of(layout)
            members = extended.classes.get(name, ())
            if layout not in members:
                extended = Layouts({**extended.classes, name: (*members, layout)})
        return extended

    @property
    def members(self) -> tuple[str, ...]:
        """All layouts, class by class."""
        return tuple(chain.from_iterable(self.classes.values()))

    @property
    def is_mixed(self) -> bool:
        return len(self.classes) > 1

    @property
    def are_moved(self) -> bool:
        """Whether all have the same entries at different steps."""
        for members, other_members in combinations(self.classes.values(), 2):
            if not all(starmap(_are_moved, product(members, other_members))):
                return False
        return True


@lru_cache(maxsize=1024)
def _conflicts(left: str, right: str) -> tuple[str, ...]:
    if UNDECLARED in (left, right):
        return () if left == right else ("layout",)
    return conflicts(_read(left), _read(right))


@lru_cache(maxsize=1024)
def _are_moved(left: str, right: str) -> bool:
    return are_moved(_read(left), _read(right))


def differences(before: str, now: str) -> str:
    """Say key by key the differences of two layouts.

    >>> differences(written({"value": "state"}), written({"value": "lag", "unit": "bed"}))
    'unit = "bed" (before: none), value = "lag" (before: "state")'
    """
    old, new = _read(before), _read(now)
    return _said(conflicts(old, new), old, new)


def words(source: str, former: Layouts, now: str) -> str:
    """Say the cost of reading in this layout, with its remedy.

    "" for a layout that is known, and for a source without another one.
    """
    members, after = former.members, former.holding([now])
    if not members or (now in members and not former.is_mixed):
        return ""
    if len(after.classes) == len(former.classes):
        if former.is_mixed:
            price = _MOVED if after.are_moved else f"each release about it {_PRICE}"
            return f"the source {source!r} was read in several layouts before, so {price}"
        old, new = _read(members[-1]), _read(now)
        changed = _said([key for key in sorted({*old, *new}) if old.get(key) != new.get(key)], old, new)
        return f"your change costs nothing, every row that was read before is read as it was then: {changed}"
    different = next(filter(None, [differences(member, now) for member in members]), "")
    if after.are_moved:
        price = f"The same entries lie at other steps there, so {_MOVED}"
    else:
        price = f"Many rows of the one may be one of the other, so each release about it, earlier ones too, {_PRICE}"
    return (
        f"the source {source!r} is read in another layout than before: {different}. {price}, from now on; to keep the "
        "layout, write it as before"
    )


def _said(keys: Iterable[str], old: Plain, new: Plain) -> str:
    sentences = []
    for key in keys:
        word = _WORDS.get(key, key)
        sentences.append(f"{word} = {_value(key, new, old)} (before: {_value(key, old, new)})")
    return ", ".join(sentences)


def cut_differently(charges: Iterable[Charge]) -> bool:
    """Return whether releases without a declared layout read different cuts.

    Cuts are sequences of different lengths, or other things than sequences.
    """
    cuts = set[object]()
    for charge in charges:
        if charge.layout != UNDECLARED or charge.entries == 0:  # without entries it counts at its worst anyway
            continue
        if charge.at is not None:
            cuts.add("steps of one recording")
        else:
            cuts.add(charge.lengths or "no sequences")
    return len(cuts) > 1


def _read(text: str) -> Plain:
    layout: Plain = json.loads(text) if text else {"layout": None}
    return layout


def _value(key: str, layout: Plain, other: Plain) -> str:
    """Return a value in the user's spelling, of a mapping only the differences."""
    value = _without_same(layout.get(key), other.get(key))
    if isinstance(value, list) and key in _WITH_MORE:
        value = value[0]
    return "none" if value in (None, {}) else json.dumps(value, ensure_ascii=False)


def _without_same(value: object, other: object) -> object:
    """Return a mapping without what another one has, too."""
    if not (isinstance(value, dict) and isinstance(other, dict)):
        return value
    parts = {key: _without_same(part, other.get(key)) for key, part in value.items() if part != other.get(key)}
    return {key: part for key, part in parts.items() if part != {}}
