"""What is valid by itself of a faulty release file: so its meaning is checked, too, and all faults are told at once."""

from __future__ import annotations

from typing import TypeVar, get_args

from pydantic import BaseModel, ValidationError

from takifugu.core.plain import Json
from takifugu.releasing.file.sections import FileSpec
from takifugu.releasing.file.tables import Table

Model = TypeVar("Model", bound=BaseModel)

#: Sections of which examples stand for faulty keys, and keys of a table that others do not depend on.
_SECTIONS, _HARMLESS = ("source", "belief"), {".name", ".epsilon"}


def what_is_valid(model: type[FileSpec], raw: Json) -> tuple[FileSpec, frozenset[str]]:
    """Return the file's valid parts, and the keys replaced by examples."""
    faulty, parts, items = {"release"}, dict[str, object](), raw.get("release")
    if not isinstance(items, list):
        items = []
    for name, field in model.model_fields.items():
        if name not in raw and not field.is_required():
            parts[name] = field.get_default(call_default_factory=True)
        elif members := _members(field.annotation):
            member = _chosen(members, raw.get(name), "kind") or members[0]
            with_examples = faulty if name in _SECTIONS else None
            parts[name] = valid_section(member, raw.get(name), name, with_examples)
    tables = tables_in(model)
    valid_tables = list[BaseModel | None]()
    for number, item in enumerate(items):
        valid_tables.append(_valid_table(tables, item, number))
    parts["release"] = tuple(valid_tables)
    return model.model_construct(_fields_set=None, **parts), frozenset(faulty)


def valid_section(
    model: type[Model], raw: object, name: str = "", faulty: set[str] | None = None
) -> Model | None:
    """Return a section with examples for faulty keys, if possible."""
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        keys = {str(e["loc"][0]) for e in error.errors() if e["loc"]}
    if faulty is None or not isinstance(raw, dict) or "kind" in keys:
        return None
    faulty.update(f"{name}.{key}" for key in keys)
    section = {key: value for key, value in raw.items() if key not in keys}
    for key, field in model.model_fields.items():
        if key in keys and field.is_required():
            section[key] = (field.examples or [None])[0]
    try:
        return model.model_validate(section)
    except ValidationError:
        return None


def _valid_table(members: list[type[BaseModel]], raw: object, number: int) -> BaseModel | None:
    """Return a table without other queries' keys, or None if faulty."""
    model, faulty = _chosen(members, raw, "query"), set[str]()
    if model is None or not isinstance(raw, dict):
        return None
    other_keys = keys_of(*members) - keys_of(model)
    item = valid_section(model, {key: value for key, value in raw.items() if key not in other_keys}, "", faulty)
    if not isinstance(item, Table) or not faulty <= _HARMLESS or (".epsilon" in faulty and item.shares_epsilon):
        return None
    return item if ".name" not in faulty else item.model_copy(update={"name": f"{item.name}-{number}"})


def tables_in(model: type[BaseModel]) -> list[type[BaseModel]]:
    """Return the models of a file's possible tables."""
    return _members(model.model_fields["release"].annotation)


def keys_of(*models: type[BaseModel]) -> set[str]:
    """Return the keys of sections, by their names in files."""
    keys = set[str]()
    for model in models:
        keys |= {field.alias or name for name, field in model.model_fields.items()}
    return keys


def _chosen(members: list[type[BaseModel]], raw: object, key: str) -> type[BaseModel] | None:
    """Return a union's member by a key, or its single one."""
    value = raw.get(key) if isinstance(raw, dict) else None
    for member in members:
        field = member.model_fields.get(key)
        if field is not None and value in get_args(field.annotation):
            return member
    return members[0] if len(members) == 1 else None


def _members(annotation: object) -> list[type[BaseModel]]:
    """Return the models of a type, union or list."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    models = list[type[BaseModel]]()
    for argument in get_args(annotation):
        models += _members(argument)
    return models
