"""What a belief costs: what a table would be worth if something were true that is not believed. It is no remedy."""

from __future__ import annotations

import re
from collections.abc import Mapping

from takifugu.core.plain import Plain
from takifugu.releasing.advice.changes import Change

_SHORTER = "If everything lasted half as long as the belief says"
_FEWER = "If nobody was at more than {most} of the places (most = {most} under [belief])"
_STAY = re.compile(r"(\d+(?:\.\d+)?)(\s*\D+)")


def what_if(raw: Plain) -> tuple[Change, str] | None:
    """Return any belief of less noise, with its assumption in words."""
    shorter = half_as_long(raw)
    if shorter is None:
        return _fewer_places(raw)
    return shorter, _SHORTER


def half_as_long(raw: Plain) -> Change | None:
    """Return the change to half as long stays, if any.

    The file must have stays or a matrix.
    """
    belief = raw.get("belief", {})
    if belief.get("kind") != "markov-chain":
        return None
    if isinstance(belief.get("stay"), dict):
        return _half_of_stays(belief["stay"])
    matrix = belief.get("matrix")
    if not isinstance(matrix, list):
        return None
    halved = []
    for state, row in enumerate(matrix):
        if not isinstance(row, list) or len(row) != len(matrix) or 2 * (1 - row[state]) > 1:
            return None
        leaving = [2 * p for p in row]
        leaving[state] = 1 - sum(p for i, p in enumerate(leaving) if i != state)
        halved.append(leaving)
    return Change(("belief", "matrix"), halved)


def _half_of_stays(stays: Mapping[str, object]) -> Change | None:
    """Halve stays in steps or time ("6 h"), if all are readable."""
    halved: dict[str, object] = {}
    for state, stay in stays.items():
        if isinstance(stay, str) and (in_time := _STAY.fullmatch(stay)):
            halved[state] = f"{float(in_time[1]) / 2:g}{in_time[2]}"
        elif isinstance(stay, int | float) and not isinstance(stay, bool):
            halved[state] = stay / 2
        else:
            return None
    return Change(("belief", "stay"), halved)


def _fewer_places(raw: Plain) -> tuple[Change, str] | None:
    """Return the change to fewer places of a person, in words, too.

    A person is at a tenth of the places of a grid at most, or at half as many as declared.
    """
    belief = raw.get("belief", {})
    grid = belief.get("grid")
    if belief.get("kind") != "asymmetric" or not isinstance(grid, dict):
        return None
    declared, columns, rows = belief.get("most"), grid.get("columns"), grid.get("rows")
    if not isinstance(columns, int) or not isinstance(rows, int):
        return None
    most = declared // 2 if isinstance(declared, int) else columns * rows // 10
    if most < 1:
        return None
    return Change(("belief", "most"), most), _FEWER.format(most=most)
