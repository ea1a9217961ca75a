"""The sections of a release file as typed values, one by one, so that all faults of all of them are told at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from types import UnionType
from typing import Annotated, Any, Union, cast, get_args, get_origin

from pydantic import BaseModel, ValidationError, create_model

from takifugu.core.errors import InputError, TakifuguError
from takifugu.core.nearest import did_you_mean
from takifugu.core.plain import Json, either
from takifugu.core.sections import section_in
from takifugu.model.queries import names_of, sections_of
from takifugu.releasing.file.described import model_of
from takifugu.releasing.file.kind import Kind
from takifugu.releasing.file.kinds import KINDS, which_kind
from takifugu.releasing.file.problems import MOST_PROBLEMS, Where, fault, problems_of
from takifugu.releasing.file.sections import FileSpec, Table
from takifugu.releasing.file.unsupported import instead_of, unknown_query

#: Keys of a table that others do not depend on.
_HARMLESS = {"name", "epsilon"}


class Reading:
    """A release file's sections as its kind reads them, as far as they are valid, with all their faults."""

    def __init__(self, kind: Kind, raw: Json) -> None:
        self._kind, self._raw = kind, raw
        self.faults, self.faulty = list[TakifuguError](), set[str]()
        sections = _sections_of(kind.facts.sections)
        keys = {key: value for key, value in raw.items() if key not in sections}
        head = self._read(_head_of(kind.facts.sections), keys, (), set())
        parts = dict(head or ())
        for name, members in sections.items():
            field = kind.facts.sections.model_fields[name]
            if name == "table":
                parts[name] = tuple(self._tables())
            elif name in raw or field.is_required():
                parts[name] = self._section(name, members)
            else:
                parts[name] = field.get_default(call_default_factory=True)
        # a faulty section or table is None; in [source], [belief] and above all an example stands for a faulty key
        self.spec: FileSpec = kind.facts.sections.model_construct(_fields_set=None, **parts)
        if len(self.faults) > MOST_PROBLEMS:
            self.faults[MOST_PROBLEMS:] = [fault(("the file",), "has more faults than these", "fix these first")]
        if self.faults:
            self.faulty.add("table")

    def _section(self, name: str, members: list[type[BaseModel]]) -> BaseModel | None:
        raw, kind = self._raw.get(name), section_in(self._raw, name).get("kind")
        kinds = dict[str, type[BaseModel]]()
        for member in members:
            field = member.model_fields.get("kind")
            names = () if field is None else get_args(field.annotation)
            kinds[str(*names[:1])] = member
        if name == "belief":
            kinds = dict.fromkeys(KINDS.names, self._kind.believes)
        if name not in self._raw:
            self.faults.append(missing((name,), kinds))
            return None
        is_chosen = len(kinds) == 1 or (isinstance(kind, str) and kind in kinds)
        if isinstance(raw, dict) and not is_chosen:
            fix = which_kind(kind) if name == "belief" else ""
            self.faults.append(unknown_kind((name,), raw, [*kinds], fix))
            return None
        model, faulty = kinds.get(str(kind), next(iter(kinds.values()))), set[str]()
        section = self._read(model, raw, (name,), faulty if name in ("source", "belief") else None)
        self.faulty |= {f"{name}.{key}" for key in faulty}
        return section

    def _tables(self) -> Iterator[BaseModel | None]:
        items = self._raw.get("table")
        if isinstance(items, list) and items:
            for number, item in enumerate(items):
                yield self._table(item, ("table", number))
            return
        if items is None and "release" in self._raw:
            return  # which is told as the key of before
        problem = f"is {str(items)[:60]!r}, not a list"
        if "table" not in self._raw:
            problem = "is missing"
        elif items == []:
            problem = "is empty"
        self.faults.append(fault(("table",), problem, "add a section [[table]] with name, query, epsilon"))

    def _table(self, raw: object, place: Where) -> BaseModel | None:
        """Return a table without other queries' keys, None if faulty."""
        facts = self._kind.facts
        if not isinstance(raw, dict):
            return self._read(facts.table, raw, place)
        query, names, model = raw.get("query"), names_of(facts.rows), cast("type[BaseModel]", facts.table)
        if isinstance(query, str) and query in names:
            model = self._model(query)
            with suppress(ValidationError):
                return model.model_validate(raw)
        keys_by_query = {name: keys_of(self._model(name)) for name in names}
        foreign_keys = set[str]().union(*keys_by_query.values()) - keys_of(model)
        table_keys = {key: value for key, value in raw.items() if key not in foreign_keys}
        if model is facts.table:
            error = instead_of(query, names, self._raw) or unknown_query(query, names)
            if "query" not in raw:
                error = InputError("is missing", fix=f"write {either(names)}")
            self.faults.append(error.at(*place, "query"))
            self._read(model, {**table_keys, "query": "?"}, place)
            return None
        for key in raw.keys() - table_keys.keys():
            having = " or ".join(name for name in names if key in keys_by_query[name])
            fix = f"leave it out, or publish a {having}"
            self.faults.append(fault((*place, key), f"does not belong to a {query}", fix))
        faulty = set[str]()
        item = self._read(model, table_keys, place, faulty)
        if not isinstance(item, Table) or not faulty <= _HARMLESS or ("epsilon" in faulty and item.shares_epsilon):
            return None
        if "name" in faulty:
            return item.model_copy(update={"name": f"{item.name}-{place[-1]}"})
        return item

    def _model(self, query: str) -> type[BaseModel]:
        facts = self._kind.facts
        return model_of(sections_of(facts.rows, [query])[query], facts.table, facts.rows)

    def _read(
        self, model: type[BaseModel], raw: Any, place: Where, faulty: set[str] | None = None
    ) -> BaseModel | None:
        """Return a section, None if faulty. With `faulty`, keys that are go there, and examples stand for them."""
        try:
            return model.model_validate(raw)
        except ValidationError as error:
            errors = error.errors()
        words = model if place else self._kind.facts.sections
        self.faults += problems_of(errors, words, raw, place, self._raw)
        keys = {str(detail["loc"][0]) for detail in errors if detail["loc"]}
        if faulty is None or not isinstance(raw, dict) or "kind" in keys:
            return None
        faulty |= keys
        section = {key: value for key, value in raw.items() if key not in keys}
        for key, field in model.model_fields.items():
            if key in keys and field.is_required():
                section[key] = (field.examples or [None])[0]
        try:
            return model.model_validate(section)
        except ValidationError:
            return None


def keys_of(model: type[BaseModel]) -> set[str]:
    """Return the keys of a section, by their names in files."""
    return {field.alias or name for name, field in model.model_fields.items()}


def _sections_of(file: type[FileSpec]) -> dict[str, list[type[BaseModel]]]:
    """Return the sections of a file with their possible models."""
    sections = {name: _members(field.annotation) for name, field in file.model_fields.items() if name != "expect"}
    return {name: members for name, members in sections.items() if members or name in ("belief", "table")}


@cache
def _head_of(file: type[FileSpec]) -> type[BaseModel]:
    """Return the model of a file's keys above all sections."""
    no_sections: Any = dict.fromkeys(_sections_of(file), (Any, None))
    return create_model("Head", __base__=file, **no_sections)


def _members(annotation: object) -> list[type[BaseModel]]:
    """Return the models of a type or a union of types."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    models = list[type[BaseModel]]()
    if get_origin(annotation) in (Union, UnionType, Annotated):
        for argument in get_args(annotation):
            models += _members(argument)
    return models


def missing(where: Where, kinds: Mapping[str, type[BaseModel]]) -> InputError:
    """Return the error about a missing section of these kinds."""
    needed = f"kind = {either([*kinds])}"
    if len(kinds) == 1:
        (model,) = kinds.values()
        fields = model.model_fields.items()
        required = [field.alias or name for name, field in fields if field.is_required()]
        needed = ", ".join(required or model.model_fields)
    return fault(where, "is missing", f"add a section [{where[-1]}] with {needed}")


def unknown_kind(where: Where, section: Json, kinds: Sequence[str], fix: str) -> InputError:
    """Return the error about a section of an unknown kind."""
    kind = section.get("kind")
    what = f"has the unknown kind {kind!r}{did_you_mean(kind, kinds)}"
    if kind is None:
        what = "has no kind"
        near_keys = [key for key in section if did_you_mean("kind", [key.lower()])]
        if near_keys:
            what += f", and {near_keys[0]!r} is not it"
    return fault(where, what, fix or f"write kind = {either(kinds)}")
