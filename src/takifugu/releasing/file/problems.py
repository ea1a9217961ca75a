"""A validator's findings as sentences: `path.in.file: what is wrong; what to write instead`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from takifugu.core.errors import InputError, SpecError, Step, TakifuguError, faults_in
from takifugu.core.escaping import command
from takifugu.core.nearest import did_you_mean, nearest, nearest_words
from takifugu.core.plain import Json, either
from takifugu.core.sections import section_in
from takifugu.data.values.texts import BLANKS
from takifugu.releasing.file.old_keys import VALUES_OF_BEFORE, cleaned, of_before
from takifugu.releasing.file.schema import choices_of, example_of, schema_of, types_of, walk
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
    """Return one error per fault of a section from pydantic; `section` is its place in the `file`."""
    problems: dict[Where, TakifuguError] = {}
    belief, schema = section_in(file, "belief"), schema_of(model)
    kind, states = belief.get("kind"), belief.get("states") or belief.get("values")
    all_keys = command("keys")
    if isinstance(kind, str):
        all_keys = command("keys", kind)
    placed = [(error, *walk(error["loc"], schema, raw)) for error in errors[: 10 * MOST_PROBLEMS]]
    sized = {at for error, at, _ in placed if error["type"] == ("too_long" if error["input"] else "too_short")}
    for error, place, node in placed:
        if error["type"] == "too_short" and len(error["input"]) >= error["ctx"]["min_length"]:
            continue  # the list is short only because its members are faulty, and they are reported
        if place in sized and error["type"].endswith("_type"):
            continue  # it is of the other member of a union
        has_inner_fault = any(len(other) > len(place) and other[: len(place)] == place for _, other, _ in placed)
        nested = error["type"].endswith("_type") and has_inner_fault and bool(place)
        if place not in problems and not nested:  # a value that fits no member of a union is reported once per member
            where = (*section, *place) or ("the file",)
            key = InputError().at(*where).place.rsplit(".", 1)[-1]
            if key == "states" and where[0] == "table" and isinstance(states, list) and states:
                node = {**node, "examples": [states[-1:]]}  # those of the file can be pasted
            problem = _fault(error, key, node, schema, all_keys)
            if error["type"] == "extra_forbidden":
                problem = of_before(where, file, node.get("properties", {})) or problem
            elif (error["type"], key) in VALUES_OF_BEFORE:
                problem = cleaned(where, file) or problem
            problems[place] = problem.at(*where)
    return list(problems.values())


def fault(where: Where, what: str, fix: str = "") -> InputError:
    """Return the error about a key of the file: `table[0].grid: is missing; write grid = "0.01"`."""
    return InputError(what, fix=fix).at(*where)


def broken(*rules: Rule) -> Iterator[TakifuguError]:
    """Yield the fault of each broken rule between keys."""
    for is_broken, place, what, fix in rules:
        if is_broken:
            if isinstance(place, str):
                place = tuple(int(step) if step.isdigit() else step for step in place.split("."))
            yield fault(place, what, fix)


def stranger(where: Where, word: object, what: str, choices: Iterable[object]) -> InputError:
    """Return the error about a word that is none of the choices."""
    names = [*map(str, choices)]
    return fault(where, f"{word!r} is no {what}{did_you_mean(word, names)}", f"write {nearest(word, names)}")


def undeclared(
    key: str, noun: str, because: str = "source.{} is used", otherwise: str = "or leave source.{} out"
) -> TakifuguError:
    """Return the fault of units or recordings, each called by a noun, without declared independence."""
    return fault(
        ("belief", f"{key}s_independent"), f"must be declared, because {because.format(key)}",
        f"write {key}s_independent = true if one {noun} says nothing about another, {otherwise.format(key)}",
    )  # fmt: skip


def never_read(where: Where, values: Iterable[Hashable]) -> Iterator[TakifuguError]:
    """Yield the values that are read as missing, the empty ones: a secret would become a public gap."""
    for value in values:
        if isinstance(value, str) and not value.strip(BLANKS):
            what = f"{value!r} counts as missing, so it would never be read"
            yield fault(where, what, "write a word for it, in the data, too")


def blamed(error: TakifuguError, *where: Step) -> TakifuguError:
    """Return a lower layer's error as the fault of a key, in the words of a release file."""
    error.where = where
    error.reworded(in_toml)
    if not error.fix and not error.rule:
        error.fix = "repair it"
    return error


def blamed_keys(error: TakifuguError, *section: Step) -> list[TakifuguError]:
    """Return every fault of a lower layer's error as that of its key in a section, `file` without one."""
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
        allowed = choices_of(node)
        return InputError(f"is {shortened(value)}{did_you_mean(value, allowed)}", fix=f"write {either(allowed)}")
    if kind == "string_pattern_mismatch":
        fix = f"write up to 64 letters, digits, '-' or '_', for example {example_of(node)}"
        return InputError(f"is {shortened(value)}", fix=fix)
    if kind.endswith(("too_short", "too_long")):
        return InputError(f"is too {kind.rpartition('_')[2]}" if value else "is empty", fix=_write(key, node, schema))
    if kind.endswith("_type") or kind in ("int_from_float", "none_required"):
        fault_text = f"is {shortened(value)}, not {' or '.join(types_of(node)) or 'what belongs here'}"
        return InputError(fault_text, fix=_write(key, node, schema))
    rule = f"it must be {error['msg'].removeprefix('Input should be ')}"
    return InputError(f"is {shortened(value)}", rule=rule, fix=_write(key, node, schema))


def _write(key: str, node: Json, schema: Json) -> str:
    """Return the words of a remedy: an example, or a meaning."""
    key, _, _ = key.partition("[")  # a member is written with its list
    meaning, example, types = node.get("description", ""), example_of(node), types_of(node)
    if types == ["true or false"]:
        example = example or types[0]
    if example and meaning:
        return f"write {key} = {example} ({meaning})"
    if node.get("type") == "object" and "properties" in node:
        required: list[str] = node.get("required", list(node["properties"]))
        return f"add a section [{key}] with {', '.join(required)}"
    if choices := choices_of(node):
        return f"write {key} = {either(choices)}" + (f" ({meaning})" if meaning else "")
    if meaning:
        return f"write {key}: {meaning}"
    return f"fix {key}"
