"""How rows became entries: the layout of a source, and what releases cost where it is another one than before.

Many entries or units of one layout may be one of another, so nothing that a belief says of the one bounds what is
revealed of the other. Then each release counts, for everybody, at what its noise loses when all that it reads changes
(`composition.losses.cost_of_all`): between any two data sets, whichever layout they are described in, the densities of
all outputs differ by the product of these factors at most (docs/theory/composition.md#layouts).
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from takifugu.analysis.guarantee import Charge
from takifugu.core.plain import Plain

#: What is said of a layout that no caller named: entries are then told apart by the lengths of their sequences.
UNDECLARED = ""

#: No layout is written in so many characters: a release file, of which it is a part, has at most a third.
LONGEST = 30_000_000

#: What is said of a unit whose releases read sequences of different lengths, and no layout was declared.
CUT = (
    "these sequences have other lengths than those of earlier releases about the same person, and no layout is "
    "declared, so one row of the one may be many of the other: each release counts at the cost of a change of all that "
    "it reads; where the data are cut by one rule that does not change, declare it from the first release on "
    "(layout='one row an hour, a piece for each stay')"
)


def written(layout: Plain) -> str:
    """Return a declared layout as the one text that a ledger keeps, by the keys that a user would write."""
    said = {key: value for key, value in layout.items() if value is not None}
    return json.dumps(said, sort_keys=True, separators=(",", ":"), default=str, ensure_ascii=False)


def known_layout(text: object) -> str:
    """Return a layout as a ledger keeps it; ValueError for a text that is none.

    >>> known_layout('{"unit":"bed"}')
    '{"unit":"bed"}'
    """
    if not isinstance(text, str) or len(text) > LONGEST or not isinstance(_read(text), dict):
        raise ValueError(f"its layout is {str(text)!r:.40}")
    return text


def differences(before: str, now: str) -> str:
    """Say key by key how two layouts differ.

    >>> differences(written({"value": "state"}), written({"value": "lag", "unit": "bed"}))
    'unit = "bed" (before: none), value = "lag" (before: "state")'
    """
    one, other = _read(before), _read(now)
    return ", ".join(
        f"{key} = {_value(other, key)} (before: {_value(one, key)})"
        for key in sorted({*one, *other})
        if one.get(key) != other.get(key)
    )


def words(source: str, before: str, now: str) -> str:
    """Say what another layout means, and how to keep the one that the ledger has."""
    if before == now:
        return (
            f"the source {source!r} was read in several layouts before, so each release about it counts for everybody "
            "at the cost of a change of all that it reads"
        )
    return (
        f"the source {source!r} is read in another layout than before: {differences(before, now)}. Many rows of the "
        "one may be one of the other, so each release about it, earlier ones too, counts for everybody at the cost of "
        "a change of all that it reads, from now on; to keep the layout, write it as before"
    )


def cut_differently(charges: Iterable[Charge]) -> bool:
    """Whether releases of no declared layout read sequences of different lengths, or other things than sequences."""
    return len({cut for c in charges if c.layout == UNDECLARED and (cut := _cut(c)) is not None}) > 1


def _cut(charge: Charge) -> object:
    if charge.entries == 0:  # it says nothing of single entries, and counts at its worst anyway
        return None
    if charge.at is not None:
        return "steps of one recording"
    return charge.lengths or "no sequences"


def _read(text: str) -> Plain:
    layout: Plain = json.loads(text) if text else {"layout": None}
    return layout


def _value(layout: Plain, key: str) -> str:
    value = layout.get(key)
    return "none" if value is None else json.dumps(value, ensure_ascii=False)
