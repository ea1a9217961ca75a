"""What the JSON Schema of a release file says of its keys: where each one is, its words, and all of them in a list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from takifugu.core.errors import Step
from takifugu.core.plain import Json, toml_of

if TYPE_CHECKING:
    from pydantic import BaseModel

_WORDS = {
    "string": "a text", "integer": "a whole number", "number": "a number", "boolean": "true or false",
    "array": "a list", "object": "a section",
}  # fmt: skip
#: So many words of a choice are listed, and so many queries that have a key.
_LISTED = 6


@cache
def schema_of(model: type[BaseModel]) -> Json:
    """Return the JSON Schema of a section or a file."""
    return model.model_json_schema()


def members(node: Json) -> list[Json]:
    """Return what a part of a schema allows, one by one."""
    return [*node.get("anyOf", ()), *node.get("oneOf", ())] or [node]


def choices_of(node: Json) -> list[str]:
    """Return the words that a part of a schema lists."""
    lists = (member.get("enum") or [member["const"]] for member in members(node) if {"enum", "const"} & member.keys())
    return [word for some in lists for word in some]


def types_of(node: Json) -> list[str]:
    """Return the types of values that a part of a schema allows, in words."""
    words = list[str]()
    for member in members(node):
        if member.get("type") == "object" and "properties" not in member:
            words.append("{ name = ... }")
        elif not {"enum", "const"} & member.keys():
            words.append(_WORDS["object"] if "$ref" in member else _WORDS.get(str(member.get("type")), ""))
    return [word for word in dict.fromkeys(words) if word and (word != "a whole number" or "a number" not in words)]


def example_of(node: Json) -> str:
    """Return the first example of a key as TOML, "" without one."""
    return "".join(map(toml_of, (node.get("examples") or ())[:1]))


def walk(loc: tuple[Step, ...], schema: Json, value: Any) -> tuple[tuple[Step, ...], Json]:
    """Return a fault's path in the user's words, and its schema."""
    path: tuple[Step, ...] = ()
    node = parent = schema
    told: Json = {}  # of a list, whose members have no words of their own
    for step in loc:
        node = _resolve(node, schema, value)
        keys = node.get("properties", {})
        told = {word: node[word] for word in ("description", "examples") if word in node} or told
        if isinstance(step, int):
            parent, node = node, node.get("items") or next(iter(node.get("prefixItems", [])), {})
        elif step in keys or (isinstance(value, dict) and step in value):
            parent, node, told = node, keys.get(step, {}), {}
        else:  # the tag of a union is no key of the file
            continue
        path = (*path, step)
        try:
            value = value[step]
        except (LookupError, TypeError):
            value = None
    if not node:
        node = parent
    node = _resolve(node, schema, value)
    return path, node if "description" in node else {**told, **node}


def _resolve(node: Json, schema: Json, value: object) -> Json:
    """Follow references, into unions by a value's kind."""
    while True:
        node = node.copy()
        if len(node.get("allOf", ())) == 1:  # how pydantic before 2.9 writes a reference that has a description
            node = {**node.pop("allOf")[0], **node}
        elif "$ref" in node:
            node = {**schema["$defs"][node.pop("$ref").rsplit("/", 1)[1]], **node}
        elif "anyOf" in node:
            some = [m for m in node["anyOf"] if m.get("type") != "null"]
            if len(some) > 1 and isinstance(value, list):
                some = [m for m in some if m.get("type") == "array"] or some
            elif len(some) > 1 and isinstance(value, dict):
                some = [m for m in some if "$ref" in m or m.get("type") == "object"]
            if len(some) != 1:
                return node
            del node["anyOf"]
            node = {**some[0], **node}
        else:
            return node


@dataclass(frozen=True)
class ListedKey:
    """A key of a section with its type, its default ("" where it must be written), and one sentence."""

    section: str
    key: str
    type: str
    default: str
    words: str


def listed_keys(kind: str, schema: Json, is_deep: bool = False) -> Iterator[ListedKey]:
    """Yield the keys of a kind by its JSON Schema; if `is_deep`, those of sections inside sections, too."""
    sections = ("source", "belief", "hide", "table")
    others = {key: value for key, value in schema["properties"].items() if key not in sections}
    top = {"properties": others, "required": schema.get("required", [])}
    titled = {"": [top]}
    for section in sections:
        if section in schema["properties"]:
            parts = list(_sections(schema["properties"][section], schema["$defs"]))
            if section == "belief":
                parts = [part for part in parts if _name(part, "kind") in (kind, "")] or parts
            titled["[[table]]" if section == "table" else f"[{section}]"] = parts
    for title, parts in titled.items():
        yield from _keys(title, parts)
        if is_deep:
            yield from _inner_keys(title.strip("[]"), parts, schema["$defs"])


def _inner_keys(before: str, parts: Sequence[Json], definitions: Json) -> Iterator[ListedKey]:
    """Yield the keys of sections inside sections, under the path of each."""
    inner = dict[str, list[Json]]()
    for part in parts:
        for key, value in part["properties"].items():
            for section in _sections(value, definitions):
                if section not in inner.setdefault(key, []):
                    inner[key].append(section)
    for key, sections in inner.items():
        path = f"{before}.{key}".lstrip(".")
        yield from _keys(f"[{path}]", sections)
        yield from _inner_keys(path, sections, definitions)


def _sections(part: Json, definitions: Json) -> Iterator[Json]:
    """Yield the sections allowed by a part of a schema."""
    if "$ref" in part:
        part = definitions[part["$ref"].rpartition("/")[2]]
    if "properties" in part:
        yield part
        return
    for option in (*members(part), part.get("items"), part.get("additionalProperties")):
        if isinstance(option, dict) and option is not part:
            yield from _sections(option, definitions)


def _keys(section: str, parts: Sequence[Json]) -> Iterator[ListedKey]:
    """Yield the keys of a section with their forms."""
    having = dict[str, list[Json]]()
    for part in parts:
        for key in part["properties"]:
            having.setdefault(key, []).append(part)
    for key, some in having.items():
        key_schema = some[0]["properties"][key]
        words, type_ = key_schema.get("description", ""), _type(key_schema)
        choices = {name: part["properties"][key].get("description", "") for part in some if (name := _name(part, key))}
        if len(choices) > 1:
            type_ = " or ".join(map(toml_of, choices))
            words = "; ".join(f"{name}: {meaning.rstrip('.')}" for name, meaning in choices.items())
        elif len(some) < len(parts):
            names = [name for part in some if (name := _name(part, "query") or _name(part, "kind"))]
            more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
            words = f"{words} ({', '.join(names[:_LISTED])}{more})" if names else words
        default = ""
        if not all(key in part.get("required", ()) for part in some):
            value = key_schema.get("default")
            default = "none" if value is None else toml_of(value)
        yield ListedKey(section, key, type_, default, words)


def _name(part: Json, key: str) -> str:
    return str(part["properties"].get(key, {}).get("const", ""))


def _type(part: Json) -> str:
    types = [{_WORDS["object"]: "table", "{ name = ... }": "table"}.get(word, word) for word in types_of(part)]
    words = [*map(toml_of, choices_of(part)[:_LISTED]), *(word.removeprefix("a ") for word in types)]
    return " or ".join(dict.fromkeys(words)) or "table"
