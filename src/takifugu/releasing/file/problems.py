"""A validator's findings as sentences: `path.in.file: what is wrong; what to write instead`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from itertools import chain
from typing import TYPE_CHECKING

from takifugu.core.commands import command
from takifugu.core.errors import InputError, SpecError, Step, TakifuguError
from takifugu.core.nearest import did_you_mean, nearest, nearest_words
from takifugu.core.plain import Json
from takifugu.core.text.toml import either, toml_of
from takifugu.data import Table, missing_states
from takifugu.releasing.file.toml_words import in_toml
from takifugu.releasing.file.unsupported import exact_total

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic_core import ErrorDetails

Where = tuple[Step, ...]
#: A rule between keys: whether it is broken, the key as `section.key` or its steps, what is wrong, and what to write.
Rule = tuple[object, str | Where, str, str]

#: Nobody reads more faults at a time.
MOST_PROBLEMS = 100


def problems_of(
    errors: Sequence[ErrorDetails], model: type[BaseModel], raw: object, section: Where, file: Json
) -> list[TakifuguError]:
    """Return one error per fault of a section from pydantic.

    `model` is the section's, `section` its place in the `file`.
    """
    problems: dict[Where, TakifuguError] = {}
    belief, schema = file.get("belief"), schema_of(model)
    kind = belief.get("kind") if isinstance(belief, dict) else None
    all_keys = command("keys", kind) if isinstance(kind, str) else command("keys")
    placed = [(error, *_walk(error["loc"], schema, raw)) for error in errors[: 10 * MOST_PROBLEMS]]
    for error, place, node in placed:
        if error["type"] == "too_short" and len(error["input"]) >= error["ctx"]["min_length"]:
            continue  # the list is short only because its members are faulty, and they are reported
        has_inner_fault = any(len(other) > len(place) and other[: len(place)] == place for _, other, _ in placed)
        nested = error["type"].endswith("_type") and has_inner_fault and bool(place)
        if place not in problems and not nested:  # a value that fits no member of a union is reported once per member
            where = (*section, *place) or ("the file",)
            key = InputError().at(*where).place.rsplit(".", 1)[-1]
            problems[place] = _fault(error, key, node, schema, all_keys).at(*where)
    return list(problems.values())


@cache
def schema_of(model: type[BaseModel]) -> Json:
    """Return the JSON Schema of a section or a file."""
    return model.model_json_schema()


def missing(where: Where, kinds: Mapping[str, type[BaseModel]]) -> InputError:
    """Return the error about a missing section of these kinds."""
    needed = f"kind = {either([*kinds])}"
    if len(kinds) == 1:
        (model,) = kinds.values()
        fields = model.model_fields.items()
        required = [field.alias or name for name, field in fields if field.is_required()]
        needed = ", ".join(required or model.model_fields)
    return fault(where, "is missing", f"add a section [{where[-1]}] with {needed}")


def unknown_kind(where: Where, section: Json, kinds: Sequence[str], fix: str = "") -> InputError:
    """Return the error about a section of an unknown kind."""
    kind = section.get("kind")
    what = f"has the unknown kind {kind!r}{did_you_mean(kind, kinds)}"
    if kind is None:
        near_keys = [key for key in section if did_you_mean("kind", [key.lower()])]
        what = f"has no kind, and {near_keys[0]!r} is not it" if near_keys else "has no kind"
    return fault(where, what, fix or f"write kind = {either(kinds)}")


def unknown_query(table: Json, queries: Sequence[str]) -> InputError:
    """Return the error about a table of an unknown query."""
    if "query" not in table:
        return InputError("is missing", fix=f"write {either(queries)}")
    query = table["query"]
    near = nearest_words(query, queries)
    more = f" or {len(queries) - len(near)} more" if len(near) < len(queries) else ""
    return InputError(f"is {_text(query)}{did_you_mean(query, queries)}", fix=f"write {either(near)}{more}")


def fault(where: Where, what: str, fix: str = "", rule: str = "") -> InputError:
    """Return the error about a key of the file.

    >>> fault(("release", 0, "grid"), "is missing", 'write grid = "0.01"').line
    'release[0].grid: is missing; write grid = "0.01"'
    """
    return InputError(what, rule=rule, fix=fix).at(*where)


def broken(*rules: Rule) -> Iterator[TakifuguError]:
    """Yield the fault of each broken rule between keys.

    >>> [error.line for error in broken((True, "release.0.by", "is missing", 'write by = "hour"'))]
    ['release[0].by: is missing; write by = "hour"']
    """
    for is_broken, place, what, fix in rules:
        if is_broken:
            if isinstance(place, str):
                place = tuple(int(step) if step.isdigit() else step for step in place.split("."))
            yield fault(place, what, fix)


def strangers(
    where: Where, words: Iterable[object], what: str, choices: Sequence[object]
) -> Iterator[TakifuguError]:
    """Yield the fault of each word that is none of the choices."""
    for word in words:
        if word not in choices:
            yield stranger(where, word, what, choices)


def stranger(where: Where, word: object, what: str, choices: Iterable[object]) -> InputError:
    """Return the error about a word that is none of the choices.

    >>> stranger(("source", "before"), "gone", "state", ["away", "home"]).line
    "source.before: 'gone' is no state; write one of ['away', 'home']"
    """
    names = [*map(str, choices)]
    return fault(where, f"{word!r} is no {what}{did_you_mean(word, names)}", f"write {nearest(word, names)}")


def never_read(
    where: Where, values: Iterable[Hashable], missing: Sequence[str], raw: Iterable[str] = ()
) -> Iterator[TakifuguError]:
    """Yield the values, or raw texts of some, that are read as missing: a secret would become a public gap."""
    for text in missing_states(values, raw, missing):
        fix = "rename it, or remove it from source.missing" if text else "write a word for it, in the data, too"
        yield fault(where, f"{text!r} counts as missing, so it would never be read", fix)


def blamed(error: TakifuguError, *where: Step) -> TakifuguError:
    """Return a lower layer's error as the fault of a key.

    >>> blamed(InputError("net.bif: 'a' has an unknown parent 'c'"), "belief", "file").line
    "belief.file: net.bif: 'a' has an unknown parent 'c'; repair it"
    >>> blamed(InputError("it takes numbers", fix="give codes={'ill': 1}"), "release", 0).fix
    'give codes = { ill = 1 }'
    """
    error.where = where
    error.reworded(in_toml)
    if not error.fix and not error.rule:
        error.fix = "repair it"
    return error


def faults_at(where: Where, check: Callable[[], object]) -> Iterator[TakifuguError]:
    """Yield the error of a check as the fault of a key."""
    try:
        check()
    except TakifuguError as error:
        yield blamed(error, *where)


def absent_columns(table: Table, key_columns: Sequence[tuple[Where, str]]) -> Iterator[TakifuguError]:
    """Yield a fault for each absent or twice named column, at its key."""
    columns = [column for _, column in key_columns]
    for where, column in key_columns:
        yield from faults_at(where, partial(table.require, [column], columns))


@contextmanager
def blaming(*where: Step) -> Iterator[None]:
    """Raise an error inside as SpecError, the fault of a key."""
    try:
        yield
    except TakifuguError as error:
        raise SpecError([blamed(error, *where)]) from None


def _walk(loc: tuple[Hashable, ...], schema: Json, raw: object) -> tuple[Where, Json]:
    """Return a fault's path in the user's words, and its schema.

    Tags of unions are steps of `loc` and no keys of the file.
    """
    path: Where = ()
    node, value = schema, raw
    parent = schema
    for step in loc:
        node = _resolve(node, schema, value)
        if isinstance(step, int):
            items: Json = node.get("items") or next(iter(node.get("prefixItems", [])), {})
            path, parent, node = (*path, step), node, items
            value = value[step] if isinstance(value, list) and step < len(value) else None
        elif step in node.get("properties", {}) or (isinstance(value, dict) and step in value):
            parent, node = node, node.get("properties", {}).get(step, {})
            path = (*path, str(step))
            value = value.get(step) if isinstance(value, dict) else None
    if not node:
        node = parent
    return path, _resolve(node, schema, value)


def _resolve(node: Json, schema: Json, value: object) -> Json:
    """Follow references, into unions by a value's kind."""
    while True:
        if len(node.get("allOf", ())) == 1:  # how pydantic before 2.9 writes a reference that has a description
            node = {**node["allOf"][0], **{k: v for k, v in node.items() if k != "allOf"}}
        elif "$ref" in node:
            target = schema["$defs"][node["$ref"].rsplit("/", 1)[1]]
            node = {**target, **{k: v for k, v in node.items() if k != "$ref"}}
        elif "anyOf" in node:
            members = [m for m in node["anyOf"] if m.get("type") != "null"]
            if len(members) > 1 and isinstance(value, list):
                members = [m for m in members if m.get("type") == "array"] or members
            elif len(members) > 1 and isinstance(value, dict):
                members = [m for m in members if "$ref" in m or m.get("type") == "object"]
            if len(members) != 1:
                return node
            node = {**members[0], **{k: v for k, v in node.items() if k in ("description", "examples")}}
        else:
            return node


def _fault(error: ErrorDetails, key: str, node: Json, schema: Json, all_keys: str) -> TakifuguError:
    kind, value = error["type"], error.get("input")
    if kind == "value_error":
        raised = error["ctx"]["error"]
        return blamed(raised) if isinstance(raised, TakifuguError) else InputError(f"{raised}")
    if kind == "missing":
        return InputError("is missing", fix=_write(key, node, schema))
    if kind == "extra_forbidden":
        keys = list(node.get("properties", {}))
        near = nearest_words(key, keys)
        more = f" or {len(keys) - len(near)} more ({all_keys} has all)" if len(near) < len(keys) else ""
        what = f"is not a known key here{did_you_mean(key, keys)}"
        return exact_total(key) or InputError(what, fix=f"write one of {', '.join(near)}{more}")
    if kind == "literal_error":
        allowed = _allowed(node)
        return InputError(f"is {_text(value)}{did_you_mean(value, allowed)}", fix=f"write {either(allowed)}")
    if kind == "string_pattern_mismatch":
        fix = f"write up to 64 letters, digits, '-' or '_', for example {_example(node)}"
        return InputError(f"is {_text(value)}", fix=fix)
    if kind in ("string_too_short", "too_short"):
        return InputError("is too short" if value else "is empty", fix=_write(key, node, schema))
    if kind.endswith("_type") or kind in ("int_from_float", "none_required"):
        fault_text = f"is {_text(value)}, not {' or '.join(_kinds(node)) or 'what belongs here'}"
        return InputError(fault_text, fix=_write(key, node, schema))
    rule = f"it must be {error['msg'].removeprefix('Input should be ')}"
    return InputError(f"is {_text(value)}", rule=rule, fix=_write(key, node, schema))


def _allowed(node: Json) -> list[str]:
    values = list[str]()
    for member in _members(node):
        if "const" in member:
            values.append(member["const"])
        values += member.get("enum", [])
    return values


_KINDS = {
    "string": "a text", "integer": "a whole number", "number": "a number", "boolean": "true or false",
    "array": "a list", "object": "a section",
}  # fmt: skip


def _kinds(node: Json) -> list[str]:
    """Return the types of values that a part of a schema allows, in words."""
    kinds = list[str]()
    for member in _members(node):
        kind = _KINDS.get(str(member.get("type")))
        if kind is not None and member["type"] == "object" and "properties" not in member:
            kind = "{ name = ... }"
        if kind is not None and kind not in kinds:
            kinds.append(kind)
    if "a number" in kinds and "a whole number" in kinds:
        kinds.remove("a whole number")
    return kinds


def _members(node: Json) -> list[Json]:
    return node.get("anyOf") or [node]


def _text(value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _example(node: Json) -> str:
    examples = node.get("examples")
    return toml_of(examples[0]) if examples else ""


def _write(key: str, node: Json, schema: Json) -> str:
    """Return the words of a remedy: an example, or a meaning."""
    example = _example(node)
    if example:
        meaning = f" ({node['description']})" if "description" in node else ""
        return f"write {key} = {example}{meaning}"
    if node.get("type") == "object" and "properties" in node:
        required = node["required"] if "required" in node else node["properties"]
        return f"add a section [{key}] with {', '.join(required)}"
    enums = [member["enum"] for member in _members(node) if "enum" in member]
    if enums:
        return f"write {either([*chain(*enums)])}"
    return f"write {key}: {node['description']}" if "description" in node else f"fix {key}"
