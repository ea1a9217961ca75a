"""A validator's findings as sentences: `path.in.file: what is wrong; what to write instead`."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from takifugu.errors import TakifuguError, did_you_mean
from takifugu.visible import visible

#: Nobody reads more faults at a time.
MOST_PROBLEMS = 100


def problems_of(errors: Sequence[Any], schema: dict[str, Any], raw: Any) -> list[str]:
    """Return one line per fault that pydantic found, in the order of the file."""
    found: dict[str, str] = {}
    placed = [(error, *_walk(error["loc"], schema, raw)) for error in errors[: 10 * MOST_PROBLEMS]]
    paths = [path for _, path, _ in placed]
    for error, path, node in placed:
        if len(found) == MOST_PROBLEMS:
            found["..."] = "the file: has more faults than these; fix these first"
            break
        if error["type"] == "too_short" and len(error["input"]) >= error["ctx"]["min_length"]:
            continue  # the list is short only because its members are faulty, and they are reported
        nested = error["type"].endswith("_type") and any(other.startswith((f"{path}[", f"{path}.")) for other in paths)
        if path not in found and not nested:  # a value that fits no member of a union is reported once per member
            found[path] = f"{path or 'the file'}: {_sentence(error, path, node, schema)}"
    return list(found.values())


def as_problem(error: Exception) -> str:
    """Return what an error says as `what is wrong; what to write instead`, without its place.

    >>> as_problem(TakifuguError("epsilon is 0", rule="it must be above 0").at("epsilon"))
    'epsilon is 0; it must be above 0'
    """
    if not isinstance(error, TakifuguError):  # a validator's own
        return f"{error}"
    told = [text for text in (error.rule, error.fix) if text]
    return visible("; ".join([error.what, *(told or ["fix it"])]))


def _walk(loc: tuple[Any, ...], schema: dict[str, Any], raw: Any) -> tuple[str, dict[str, Any]]:
    """Return a fault's path as the user would write it, and the schema of the place (or of its parent's keys).

    Steps of `loc` that name no key of the file (the tags of unions) are left out.
    """
    path, node, value = "", schema, raw
    parent = schema
    for step in loc:
        node = _resolve(node, schema, value)
        if isinstance(step, int):
            items: dict[str, Any] = node.get("items") or next(iter(node.get("prefixItems", [])), {})
            path, parent, node = f"{path}[{step}]", node, items
            value = value[step] if isinstance(value, list) and step < len(value) else None
        elif step in node.get("properties", {}) or (isinstance(value, dict) and step in value):
            parent, node = node, node.get("properties", {}).get(step, {})
            path = f"{path}.{step}" if path else str(step)
            value = value.get(step) if isinstance(value, dict) else None
    if not node:
        node = parent
    return path, _resolve(node, schema, value)


def _resolve(node: dict[str, Any], schema: dict[str, Any], value: Any) -> dict[str, Any]:
    """Follow references, and choose the member of a union that the value's kind or type selects."""
    while True:
        if len(node.get("allOf", ())) == 1:  # how pydantic before 2.9 writes a reference that has a description
            node = {**node["allOf"][0], **{k: v for k, v in node.items() if k != "allOf"}}
        elif "$ref" in node:
            target = schema["$defs"][node["$ref"].rsplit("/", 1)[1]]
            node = {**target, **{k: v for k, v in node.items() if k != "$ref"}}
        elif "discriminator" in node:
            mapping = node["discriminator"]["mapping"]
            kind = value.get("kind") if isinstance(value, dict) else None
            if not isinstance(kind, str) or kind not in mapping:
                return {**node, "kinds": list(mapping)}
            node = {"$ref": mapping[kind]}
        elif "anyOf" in node:
            members = [m for m in node["anyOf"] if m.get("type") != "null"]
            nested = [m for m in members if "$ref" in m or m.get("type") in ("array", "object")]
            chosen = members if len(members) == 1 else nested if isinstance(value, list | dict) else []
            if len(chosen) != 1:
                return node
            node = {**chosen[0], **{k: v for k, v in node.items() if k in ("description", "examples")}}
        else:
            return node


def _sentence(error: Any, path: str, node: dict[str, Any], schema: dict[str, Any]) -> str:
    kind, given = error["type"], error.get("input")
    key = path.rsplit(".", 1)[-1]
    if kind == "missing":
        return f"is missing; {_write(key, node, schema)}"
    if kind == "extra_forbidden":
        known = list(node.get("properties", {}))
        return f"is not a known key here{did_you_mean(key, known)}; write one of {', '.join(known)}"
    if kind in ("union_tag_not_found", "union_tag_invalid"):
        kinds = node.get("kinds", [])
        tag = given.get("kind") if isinstance(given, dict) else None
        what = f"has the unknown kind {tag!r}{did_you_mean(tag, kinds)}"
        if tag is None:
            alike = [key for key in given if did_you_mean("kind", [key.lower()])] if isinstance(given, dict) else []
            what = f"has no kind, and {alike[0]!r} is not it" if alike else "has no kind"
        return f"{what}; write kind = {_either(kinds)}"
    if kind == "literal_error":
        allowed = [v for m in _members(node) for v in m.get("enum", [m["const"]] if "const" in m else [])]
        return f"is {_shown(given)}{did_you_mean(given, allowed)}; write {_either(allowed)}"
    if kind == "string_pattern_mismatch":
        return f"is {_shown(given)}; write up to 64 letters, digits, '-' or '_', for example {_example(node)}"
    if kind in ("string_too_short", "too_short"):
        return f"is {'empty' if not given else 'too short'}; {_write(key, node, schema)}"
    if kind == "value_error":
        return as_problem(error["ctx"]["error"])
    if kind.endswith("_type") or kind in ("int_from_float", "none_required"):
        kinds = list(dict.fromkeys(_KINDS[m["type"]] for m in _members(node) if m.get("type") in _KINDS))
        kinds = [k for k in kinds if k != "a whole number" or "a number" not in kinds]
        return f"is {_shown(given)}, not {' or '.join(kinds) or 'what belongs here'}; {_write(key, node, schema)}"
    rule = error["msg"].removeprefix("Input should be ")
    return f"is {_shown(given)}; it must be {rule}; {_write(key, node, schema)}"


_KINDS = {
    "string": "a text", "integer": "a whole number", "number": "a number", "boolean": "true or false",
    "array": "a list", "object": "a section",
}  # fmt: skip


def _members(node: dict[str, Any]) -> list[dict[str, Any]]:
    return node.get("anyOf") or [node]


def _shown(given: Any) -> str:
    text = {True: "true", False: "false"}.get(given, repr(given)) if isinstance(given, bool) else repr(given)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _either(allowed: Sequence[Any]) -> str:
    return " or ".join(f'"{a}"' if isinstance(a, str) else str(a) for a in allowed)


def _example(node: dict[str, Any]) -> str:
    examples = node.get("examples")
    return toml_of(examples[0]) if examples else ""


def toml_of(value: Any) -> str:
    """Write a plain value as TOML reads it back.

    >>> print(toml_of(["it's", 'a "b"', 1, 0.5, True, {"x y": 1}]))
    ["it's", "a \\"b\\"", 1, 0.5, true, { "x y" = 1 }]
    """
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_key(k)} = {toml_of(v)}' for k, v in value.items())} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_of, value))}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else repr(value)


def _key(name: str) -> str:
    return name if re.fullmatch("[A-Za-z0-9_-]+", name) else toml_of(name)


def _write(key: str, node: dict[str, Any], schema: dict[str, Any]) -> str:
    """Return what to write: an example where the schema has one, else what the key means."""
    example = _example(node)
    if example:
        meaning = f" ({node['description']})" if "description" in node else ""
        return f"write {key} = {example}{meaning}"
    if node.get("type") == "array" and "$ref" in node.get("items", {}):
        item = _resolve(node["items"], schema, None)
        return f"add a section [[{key}]] with {', '.join(item['required'])}"
    if node.get("type") == "object" and "properties" in node:
        return f"add a section [{key}] with {', '.join(node.get('required', node['properties']))}"
    if "kinds" in node:
        return f"add a section [{key}] with kind = {_either(node['kinds'])}"
    allowed = [v for m in _members(node) for v in m.get("enum", [])]
    if allowed:
        return f"write {_either(allowed)}"
    return f"write {key}: {node['description']}" if "description" in node else f"fix {key}"
