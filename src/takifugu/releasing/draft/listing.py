"""All keys of a kind of release file in words: made from its JSON Schema, so that they are what is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from takifugu.core.lists import without, without_keys
from takifugu.core.plain import Json, either, toml_of
from takifugu.releasing.file.loading import json_schema

_TYPES = {
    "string": "text", "integer": "whole number", "number": "number", "boolean": "true or false", "array": "list",
    "object": "table",
}  # fmt: skip
#: So many words of a choice are listed, and so many queries that have a key.
_LISTED = 6


@dataclass(frozen=True)
class ListedKey:
    """A key of a section with its type, its default ("" where it must be written), and one sentence."""

    section: str
    key: str
    type: str
    default: str
    words: str


def listed_keys(kind: str) -> Iterator[ListedKey]:
    """Yield the keys of a kind; InputError for unknown kinds."""
    schema = json_schema(kind)
    sections = ("source", "belief", "hide", "table")
    top = without_keys(schema["properties"], sections)
    yield from _keys("", [{"properties": top, "required": schema.get("required", [])}])
    for section in sections:
        if section in schema["properties"]:
            parts = list(_sections(schema["properties"][section], schema["$defs"]))
            if section == "belief":
                parts = [part for part in parts if _name(part, "kind") in (kind, "")] or parts
            title = "[[table]]" if section == "table" else f"[{section}]"
            yield from _keys(title, parts)


def _sections(part: Json, definitions: Json) -> Iterator[Json]:
    """Yield the sections allowed by a part of a schema."""
    if "$ref" in part:
        yield from _sections(definitions[part["$ref"].rpartition("/")[2]], definitions)
    elif "properties" in part:
        yield part
    else:
        options = [*part.get("anyOf", ()), *part.get("oneOf", ())]
        if "items" in part:
            options.append(part["items"])
        for option in options:
            yield from _sections(option, definitions)


def _keys(section: str, parts: Sequence[Json]) -> Iterator[ListedKey]:
    """Yield the keys of a section with their forms."""
    having = dict[str, list[Json]]()
    for part in parts:
        for key in part["properties"]:
            having.setdefault(key, []).append(part)
    for key, some in having.items():
        key_schema = some[0]["properties"][key]
        words = key_schema.get("description", "")
        if len(some) < len(parts):
            names = [name for part in some if (name := _name(part, "query") or _name(part, "kind"))]
            more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
            words = f"{words} ({', '.join(names[:_LISTED])}{more})" if names else words
        default = ""
        if not all(key in part.get("required", ()) for part in some):
            value = key_schema.get("default")
            default = "none" if value is None else toml_of(value)
        yield ListedKey(section, key, _type(key_schema), default, words)


def _name(part: Json, key: str) -> str:
    return str(part["properties"].get(key, {}).get("const", ""))


def _type(part: Json) -> str:
    if "enum" in part:
        return either(part["enum"][:_LISTED])
    if "const" in part:
        return toml_of(part["const"])
    if "type" in part:
        return _TYPES.get(part["type"], "nothing")
    options = list(map(_type, (*part.get("anyOf", ()), *part.get("oneOf", ()))))
    some = without(dict.fromkeys(options), ("nothing",))
    if "number" in some:
        some = without(some, ("whole number",))
    return " or ".join(some) or "table"
