"""How the rows of a source become entries, one fact a line: what its ledger keeps."""

from __future__ import annotations

import json
from typing import Protocol, runtime_checkable

from takifugu.core.plain import Plain
from takifugu.releasing.file.keys import Described


@runtime_checkable
class Telling(Protocol):
    """A declared [belief] whose keys decide which rows become which entry of whom."""

    def reading(self) -> Plain: ...


def read_with(reading: str, belief: Described) -> str:
    """Return the reading of a relation with what the belief's keys decide."""
    facts = belief.meant.reading() if isinstance(belief.meant, Telling) else {}
    said = [f"{name}: {_in_line(value)}" for name, value in sorted(facts.items()) if value is not None]
    return "\n".join([reading, *said])


def _in_line(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
