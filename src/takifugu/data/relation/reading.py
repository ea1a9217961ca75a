"""How rows become entries, as text: what a ledger keeps, and compares line by line (`core.readings`).

Paths, the ends of the calendar and the roster's rows are no part of it: they move every week. Nor is which zone is
declared, which moves cells and not steps. That one is (then times are moments, else clocks as written) is part of it,
and where the calendar's start lies between two steps.
"""

from __future__ import annotations

from collections.abc import Iterator

from takifugu.core.readings import TIMES
from takifugu.data.relation.keys import KEYS, Column, key_of
from takifugu.data.relation.roles import Opened
from takifugu.data.sql.clocks import is_number

#: Whole or not, and how wide: a frame or a file mostly has it from the numbers in it, and they are hidden.
_NUMBER = "number"


def reading(opened: Opened) -> str:
    """Return the reading of a source, one fact a line, in the order of the keys."""
    return "\n".join(f"{name}: {text}".replace("\n", "\\n") for name, text in _lines(opened))


def _lines(opened: Opened) -> Iterator[tuple[str, str]]:
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
        for role in roles:
            declared, said = opened.roles[role], role if len(roles) > 1 else name
            if name != "value":
                yield said, f"{declared.text} ({_NUMBER if is_number(declared.type) else declared.type})"
            elif not isinstance(source.values[0], Column):  # a name says what it is
                yield said, declared.text  # without its type, which may follow from hidden values
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
        yield TIMES, "moments"
    if source.origin is not None:
        yield "start between steps", str(source.origin % source.width)
