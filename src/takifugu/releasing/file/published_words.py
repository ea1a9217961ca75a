"""Names of people in expressions: all words of [source] are published, so that none is about somebody."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from takifugu.core.errors import TakifuguError
from takifugu.core.names import normalised
from takifugu.core.sections import values_of, written
from takifugu.data.sql.tree import Node, columns_in, expression, parsed, replaced
from takifugu.releasing.file.keys import names_of
from takifugu.releasing.file.problems import fault
from takifugu.releasing.file.relation_keys import RelationKeys

_ROLES = ("where", "unit", "recording", "order", "end", "value", "sql")
#: What compares: a number there, beside the column of names, is one of them.
_COMPARING = ("COMPARISON", "BETWEEN", "OPERATOR")


def people_named(
    source: RelationKeys, people: Iterable[object], states: Iterable[object] = ()
) -> Iterator[TakifuguError]:
    """Yield the expressions of [source] that name one of the people; a state of that name is no name there."""
    # the names are public, so that a refusal tells nothing; no list has the others, which are for the owner to see
    known, unit = {_spelled(name) for name in people} - {_spelled(state) for state in states} - {""}, set[str]()
    if source.unit is not None:
        unit = {name.lower() for tree in _trees("unit", source.unit) for name in columns_in(tree)} or {source.unit}
    for key, texts in values_of(source, written(source, _ROLES)).items():
        said = [word for text in names_of(texts) for tree in _trees(key, text) for word in _literals(tree, unit)]
        name = next((word for word in said if _spelled(word) in known), None)
        if name is not None:
            fix = "filter by a column that says it of everybody, or leave it to the roster"
            yield fault(("source", key), f"names {name!r}; a name in an expression is published", fix)


def _spelled(name: object) -> str:
    """Return a name without regard to its letters' case, which an expression may change; "" for none."""
    with suppress(TakifuguError):
        return normalised(str(name)).casefold()
    return ""


def _trees(key: str, text: str) -> Iterator[Node]:
    """Yield the tree of an expression or a SELECT; a column alone has no literals, a wrong text is told elsewhere."""
    if not text.isidentifier():
        with suppress(TakifuguError):
            yield parsed(text, key) if key == "sql" else expression(text, key)


def _literals(tree: Node, unit: set[str]) -> list[str]:
    """Return the texts with a letter in a tree, and all that is compared with a column of names."""
    words = list[str]()

    def note(node: Any) -> None:
        is_compared = node.get("class") in _COMPARING and not unit.isdisjoint(map(str.lower, columns_in(node)))
        for child in node.values():
            for part in child if isinstance(child, list) else [child]:
                literal = part.get("literal") if isinstance(part, dict) else None
                is_word = literal and literal["kind"] == "STRING" and any(map(str.isalpha, literal["text"]))
                if literal and (is_compared or is_word):
                    words.append(literal["text"])

    replaced({"tree": tree}, note)
    return words
