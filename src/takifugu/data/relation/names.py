"""Texts that were perhaps meant to be a declared value: refused, because each would count as another one."""

from __future__ import annotations

from collections.abc import Iterable

from takifugu.core.errors import DataError
from takifugu.data.lookalikes import Lookalikes
from takifugu.data.relation.opening import SOURCE, Opened
from takifugu.data.relation.words import identifier, literal


def refuse_lookalikes(opened: Opened, role: str, declared: Iterable[object], key: str) -> None:
    """Raise DataError, with the row's number and no value, for an undeclared text that resembles a declared one.

    They are alike up to case, accents, white space or one typing error (`Lookalikes`).
    """
    like, column = Lookalikes(map(str, declared)), identifier(role)
    known = ", ".join(map(literal, sorted(like.declared))) or "''"
    undeclared = opened.relation.rows(
        f"""select {column}::varchar as text, min("row") from {identifier(SOURCE + " rows")}
        where {column}::varchar not in ({known}) group by text order by 2"""
    )
    for text, row in undeclared:
        if text and like(text) is not None:
            raise DataError(
                f"row {row}: a value in {opened.words()[role]} that is a declared one up to case, accents, blanks or "
                "one typing error",
                rule="it would count as another value", fix="write it as it is declared, or declare it, too",
            ).at(key)  # fmt: skip
