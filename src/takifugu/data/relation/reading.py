"""How rows become entries, as text: what a ledger keeps, and compares line by line (`core.readings`).

Paths, the ends of the calendar and the roster's rows are no part of it: they move every week. Nor is which zone is
declared, which moves cells and not steps. That one is (then times are moments, else clocks as written) is part of it,
and where the calendar's start lies between two steps.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from takifugu.data.relation.keys import KEYS, Column, key_of
from takifugu.data.relation.roles import Opened
from takifugu.data.relation.types import Known
from takifugu.data.sql.clocks import WHOLE, has_point
from takifugu.data.values.bins import Bins, Classes

#: Whole or not, and how wide: a frame or a file mostly has it from the numbers in it, and they are hidden.
_NUMBER = "number"
#: What all states are where a column of them may be of a type: in a frame of others it has the type of texts, whichever
#: of them its rows hold.
_STATES = {**dict.fromkeys(WHOLE, r"[+-]?\d+"), "BOOLEAN": "true|false"}


def reading(opened: Opened, known: Sequence[Known] = ()) -> str:
    """Return the reading of a source, one fact a line, in the order of the keys; `known` has the states of values."""
    return "\n".join(f"{name}: {text}".replace("\n", "\\n") for name, text in _lines(opened, known))


def _lines(opened: Opened, known: Sequence[Known]) -> Iterator[tuple[str, str]]:
    source = opened.source
    yield "file", opened.kind
    if opened.split:
        yield "split at", {"\t": "tab"}.get(opened.split, opened.split)
    if opened.sql:
        yield "sql", opened.sql
    for name, key in KEYS.items():
        if key.read is None:
            continue
        roles = [role for role in opened.roles if key_of(role) == name]
        for number, role in enumerate(roles):
            declared = opened.roles[role]
            if not (name == "value" and isinstance(source.values[0], Column)):  # a name says what it is
                rule: Known = (known[number] if known else source.known) if name == "value" else ()
                yield role if len(roles) > 1 else name, f"{declared.text} ({_kind(declared.type, rule)})"
        value = getattr(source, name, None)
        if value is not None and name == "bins":
            for column, bins in zip(source.values, source.bins_of_values, strict=True):
                if bins is not None:
                    edges = zip(bins.states, bins.words, strict=True)
                    whose = "bins" if str(bins.states[0]) in (source.bins or ()) else f"bins of {column}"
                    yield whose, ", ".join(f"{state} {words}" for state, words in edges)
        elif name == "step" and value is not None:  # 60min is 1h
            yield "step", f"{source.width // 10**6}s" if source.is_time else str(source.width)
        elif not roles and value is not None:
            yield name, str(key.read(value))
    if source.timezone is not None:  # texts do not show it by their type
        yield "times", "moments"
    if source.origin is not None:
        yield "start between steps", str(source.origin % source.width)


def _kind(kind: str, known: Known) -> str:
    """Return the type of a role, as far as it does not follow from hidden values."""
    form = _STATES.get(kind)
    if form and not isinstance(known, Bins | Classes) and not all(re.fullmatch(form, str(state)) for state in known):
        return "VARCHAR"
    return _NUMBER if kind in WHOLE or has_point(kind) else kind
