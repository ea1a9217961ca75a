"""Sections that are plain dataclasses as what pydantic validates, and back: only here are the two known to each other.

Models stay below `Section`, so that a whole file validates at once, and every key has its words in the JSON Schema.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from pydantic import AfterValidator, Field, StrictBool, StrictFloat, StrictInt, StrictStr, create_model

from takifugu.core.sections import Checked, Finite, Key, PublicFile, checked_path, metadata_of
from takifugu.releasing.file.keys import Described, Section
from takifugu.releasing.file.sections import EncodedFile, FileSpec, Table

_STRICT: Mapping[object, object] = {
    int: StrictInt, float: StrictFloat, str: StrictStr, bool: StrictBool, NoneType: NoneType,
}  # fmt: skip


@cache
def model_of(declared: type, base: type[Described] = Described, rows: str = "") -> type[Section]:
    """Return a declared section's model for data of this shape."""
    hints = _hints_of(declared)
    keys: dict[str, Any] = {}
    said = Field(description=str(declared.__doc__).partition("\n")[0])
    bases: tuple[type[Section], ...] = (base,)
    inherited_keys = set[str]()
    if issubclass(declared, PublicFile):
        bases, inherited_keys = (*bases, EncodedFile), {*EncodedFile.model_fields}
    for key_field in fields(declared):
        shapes = [note.rows for note in metadata_of(hints[key_field.name]) if isinstance(note, Key)]
        is_foreign = any(rows not in of_key for of_key in shapes if of_key)  # only files about other data have it
        if key_field.name not in inherited_keys and not is_foreign:
            default = key_field.default
            if key_field.default_factory is not MISSING:
                default = Field(default_factory=key_field.default_factory)
            elif default is MISSING:
                default = ...
            hint = _validated(hints[key_field.name])
            if get_origin(hint) is not Annotated:
                hint = Annotated[hint, said]
            keys[key_field.name] = (hint, default)
    of: dict[str, Any] = {"__base__": bases, "__doc__": declared.__doc__, "__module__": __name__}
    model: Any = create_model(declared.__name__, **of, **keys)
    model.declared = declared
    return model  # type: ignore[no-any-return]


def _one_of(models: Sequence[type[Section]], key: str) -> Any:
    return models[0] if len(models) == 1 else Annotated[Union[tuple(models)], Field(discriminator=key)]  # noqa: UP007


@cache
def file_of(
    sections: type[FileSpec], table: type[Table], rows: str, queries: tuple[tuple[str, type], ...],
    beliefs: tuple[type[Section], ...],
) -> type[FileSpec]:
    """Return the model of a file with these queries and beliefs."""
    models = [model_of(section, table, rows) for _, section in queries]
    several: Any = tuple[_one_of(models, "query"), ...]  # type: ignore[misc]
    tables = Annotated[several, Field(min_length=1, description="the tables to publish")]
    declared: dict[str, Any] = {"table": (tables, ...)}
    if beliefs:
        words = sections.model_fields["belief"].description or "what a reader may believe"
        declared["belief"] = (Annotated[_one_of(beliefs, "kind"), Field(description=words)], ...)
    return create_model(sections.__name__, __base__=sections, __doc__=sections.__doc__, **declared)


def _validated(hint: object) -> object:
    """Return a type as strict as TOML: true is no number."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        inner, *metadata = arguments
        notes = list[object]()
        for note in metadata:
            if isinstance(note, Key):
                examples = None if note.example is None else [note.example]
                note = Field(description=note.meaning, examples=examples)
            elif isinstance(note, Finite):
                note = Field(allow_inf_nan=False)
            elif isinstance(note, Checked):
                note = AfterValidator(note.check)
            notes.append(note)
        return Annotated[(_validated(inner), *notes)]
    if origin in (Union, UnionType):
        return Union[tuple(map(_validated, arguments))]  # noqa: UP007
    if origin in (tuple, dict, list):
        return origin[tuple(map(_validated, arguments))]
    if isinstance(hint, type) and is_dataclass(hint):
        return model_of(hint)
    return _STRICT.get(hint, hint)


@cache
def _hints_of(declared: type) -> Mapping[str, Any]:
    return get_type_hints(declared, include_extras=True)


def files_of(section: object) -> Iterator[tuple[tuple[str, ...], str, Described]]:
    """Yield the key, path and section of each public file."""
    if not isinstance(section, Described):
        return
    for key, hint in _hints_of(section.declared).items():
        value = getattr(section, key, None)
        if isinstance(value, str) and checked_path in _checks(hint):
            yield (key,), value, section
        for steps, path, inner in files_of(value):
            yield (key, *steps), path, inner


def _checks(hint: object) -> list[object]:
    """Return the checks anywhere in an annotated type."""
    checks: list[object] = [note.check for note in metadata_of(hint) if isinstance(note, Checked)]
    for argument in get_args(hint):
        checks += _checks(argument)
    return checks
