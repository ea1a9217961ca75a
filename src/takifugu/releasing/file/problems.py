"""A validator's findings as sentences: `path.in.file: what is wrong; what to write instead`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any

from takifugu.core.errors import InputError, SpecError, Step, TakifuguError, faults_in
from takifugu.core.escaping import command
from takifugu.core.lists import without
from takifugu.core.nearest import did_you_mean, nearest, nearest_words
from takifugu.core.people import PEOPLE
from takifugu.core.plain import Json, either, toml_of
from takifugu.core.sections import section_in
from takifugu.data.values.texts import BLANKS
from takifugu.releasing.file.before.old_keys import VALUES_OF_BEFORE, cleaned, renamed
from takifugu.releasing.file.toml_words import in_toml
from takifugu.releasing.file.unsupported import exact_total, others, shortened

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
    kind, schema = section_in(file, "belief").get("kind"), schema_of(model)
    all_keys = command("keys")
    if isinstance(kind, str):
        all_keys = command("keys", kind)
    placed = [(error, *_walk(error["loc"], schema, raw)) for error in errors[: 10 * MOST_PROBLEMS]]
    for error, place, node in placed:
        if error["type"] == "too_short" and len(error["input"]) >= error["ctx"]["min_length"]:
            continue  # the list is short only because its members are faulty, and they are reported
        has_inner_fault = any(len(other) > len(place) and other[: len(place)] == place for _, other, _ in placed)
        nested = error["type"].endswith("_type") and has_inner_fault and bool(place)
        if place not in problems and not nested:  # a value that fits no member of a union is reported once per member
            where = (*section, *place) or ("the file",)
            key = InputError().at(*where).place.rsplit(".", 1)[-1]
            problem = _fault(error, key, node, schema, all_keys)
            if error["type"] == "extra_forbidden":
                problem = renamed(where, file, node.get("properties", {})) or cleaned(where, file) or problem
            elif (error["type"], key) in VALUES_OF_BEFORE:
                problem = cleaned(where, file) or problem
            problems[place] = problem.at(*where)
    return list(problems.values())


@cache
def schema_of(model: type[BaseModel]) -> Json:
    """Return the JSON Schema of a section or a file."""
    return model.model_json_schema()


def fault(where: Where, what: str, fix: str = "") -> InputError:
    """Return the error about a key of the file.

    >>> fault(("table", 0, "grid"), "is missing", 'write grid = "0.01"').line
    'table[0].grid: is missing; write grid = "0.01"'
    """
    return InputError(what, fix=fix).at(*where)


def broken(*rules: Rule) -> Iterator[TakifuguError]:
    """Yield the fault of each broken rule between keys.

    >>> [error.line for error in broken((True, "table.0.by", "is missing", 'write by = "hour"'))]
    ['table[0].by: is missing; write by = "hour"']
    """
    for is_broken, place, what, fix in rules:
        if is_broken:
            if isinstance(place, str):
                place = tuple(int(step) if step.isdigit() else step for step in place.split("."))
            yield fault(place, what, fix)


def strange_states(
    where: Where, states: Iterable[object], declared: Sequence[object]
) -> Iterator[TakifuguError]:
    """Yield the fault of each undeclared state."""
    for state in without(states, declared):
        yield stranger(where, state, "state", declared)


def stranger(where: Where, word: object, what: str, choices: Iterable[object]) -> InputError:
    """Return the error about a word that is none of the choices.

    >>> stranger(("source", "default_state"), "gone", "state", ["away", "home"]).line
    "source.default_state: 'gone' is no state; write one of ['away', 'home']"
    """
    names = [*map(str, choices)]
    return fault(where, f"{word!r} is no {what}{did_you_mean(word, names)}", f"write {nearest(word, names)}")


def undeclared(key: str) -> TakifuguError:
    """Return the fault of units or recordings without declared independence."""
    noun = {"unit": PEOPLE.one}.get(key, key)
    return fault(
        ("belief", f"{key}s_independent"), f"must be declared, because source.{key} is used",
        f"write {key}s_independent = true if one {noun} says nothing about another, or leave source.{key} out",
    )  # fmt: skip


def never_read(where: Where, values: Iterable[Hashable]) -> Iterator[TakifuguError]:
    """Yield the values that are read as missing, the empty ones: a secret would become a public gap."""
    for value in values:
        if isinstance(value, str) and not value.strip(BLANKS):
            what = f"{value!r} counts as missing, so it would never be read"
            yield fault(where, what, "write a word for it, in the data, too")


def blamed(error: TakifuguError, *where: Step) -> TakifuguError:
    """Return a lower layer's error as the fault of a key.

    >>> blamed(InputError("net.bif: 'a' has an unknown parent 'c'"), "belief", "file").line
    "belief.file: net.bif: 'a' has an unknown parent 'c'; repair it"
    >>> blamed(InputError("it takes numbers", fix="give codes={'ill': 1}"), "table", 0).fix
    'give codes = { ill = 1 }'
    """
    error.where = where
    error.reworded(in_toml)
    if not error.fix and not error.rule:
        error.fix = "repair it"
    return error


def blamed_keys(error: TakifuguError, *section: Step) -> list[TakifuguError]:
    """Return every fault that a lower layer's error tells of as that of its key in a section, `file` without one.

    >>> [fault.line for fault in blamed_keys(InputError("is empty", fix="leave it out").at("where"), "source")]
    ['source.where: is empty; leave it out']
    """
    return [blamed(fault, *section, *(fault.where[:1] or ("file",))) for fault in faults_in(error)]


def faults_at(where: Where, check: Callable[[], object]) -> Iterator[TakifuguError]:
    """Yield the error of a check as the fault of a key."""
    try:
        check()
    except TakifuguError as error:
        yield blamed(error, *where)


@contextmanager
def blaming(*where: Step) -> Iterator[None]:
    """Raise an error inside as SpecError, the fault of a key."""
    try:
        yield
    except TakifuguError as error:
        raise SpecError([blamed(error, *where)]) from None


def _walk(loc: Where, schema: Json, value: Any) -> tuple[Where, Json]:
    """Return a fault's path in the user's words, and its schema."""
    path: Where = ()
    node = parent = schema
    for step in loc:
        node = _resolve(node, schema, value)
        keys = node.get("properties", {})
        if isinstance(step, int):
            parent, node = node, node.get("items") or next(iter(node.get("prefixItems", [])), {})
        elif step in keys or (isinstance(value, dict) and step in value):
            parent, node = node, keys.get(step, {})
        else:  # the tag of a union is no key of the file
            continue
        path = (*path, step)
        try:
            value = value[step]
        except (LookupError, TypeError):
            value = None
    if not node:
        node = parent
    return path, _resolve(node, schema, value)


def _resolve(node: Json, schema: Json, value: object) -> Json:
    """Follow references, into unions by a value's kind."""
    while True:
        node = node.copy()
        if len(node.get("allOf", ())) == 1:  # how pydantic before 2.9 writes a reference that has a description
            node = {**node.pop("allOf")[0], **node}
        elif "$ref" in node:
            node = {**schema["$defs"][node.pop("$ref").rsplit("/", 1)[1]], **node}
        elif "anyOf" in node:
            members = [m for m in node["anyOf"] if m.get("type") != "null"]
            if len(members) > 1 and isinstance(value, list):
                members = [m for m in members if m.get("type") == "array"] or members
            elif len(members) > 1 and isinstance(value, dict):
                members = [m for m in members if "$ref" in m or m.get("type") == "object"]
            if len(members) != 1:
                return node
            del node["anyOf"]
            node = {**members[0], **node}
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
        fix = f"write one of {', '.join(near)}{others(keys, near, f' ({all_keys} has all)')}"
        what = f"is not a known key here{did_you_mean(key, keys)}"
        return exact_total(key) or InputError(what, fix=fix)
    if kind == "literal_error":
        allowed = list[str]()
        for member in _members(node):
            if "const" in member:
                allowed.append(member["const"])
            allowed += member.get("enum", [])
        return InputError(f"is {shortened(value)}{did_you_mean(value, allowed)}", fix=f"write {either(allowed)}")
    if kind == "string_pattern_mismatch":
        fix = f"write up to 64 letters, digits, '-' or '_', for example {_example(node)}"
        return InputError(f"is {shortened(value)}", fix=fix)
    if kind in ("string_too_short", "too_short"):
        return InputError("is too short" if value else "is empty", fix=_write(key, node, schema))
    if kind.endswith("_type") or kind in ("int_from_float", "none_required"):
        fault_text = f"is {shortened(value)}, not {' or '.join(_kinds(node)) or 'what belongs here'}"
        return InputError(fault_text, fix=_write(key, node, schema))
    rule = f"it must be {error['msg'].removeprefix('Input should be ')}"
    return InputError(f"is {shortened(value)}", rule=rule, fix=_write(key, node, schema))


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


def _example(node: Json) -> str:
    for example in node.get("examples") or ():
        return toml_of(example)
    return ""


def _write(key: str, node: Json, schema: Json) -> str:
    """Return the words of a remedy: an example, or a meaning."""
    meaning, example = node.get("description", ""), _example(node)
    if example and meaning:
        return f"write {key} = {example} ({meaning})"
    if node.get("type") == "object" and "properties" in node:
        required: list[str] = node.get("required", list(node["properties"]))
        return f"add a section [{key}] with {', '.join(required)}"
    enums = [member["enum"] for member in _members(node) if "enum" in member]
    if enums:
        return f"write {either([*chain(*enums)])}"
    if meaning:
        return f"write {key}: {meaning}"
    return f"fix {key}"
