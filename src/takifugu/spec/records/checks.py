"""A release file of records that was read and checked: every fault that no single key shows, in the file's words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from takifugu.beliefs.contacts import CliqueInfection
from takifugu.beliefs.users import IndependentUsers
from takifugu.errors import SpecError, TakifuguError
from takifugu.frames import Table, missing_states, open_frame
from takifugu.frameworks import Framework
from takifugu.spec.problems import as_problem, problems_of
from takifugu.spec.promise import only_release_problems, promise_problems
from takifugu.spec.records.build import RecordBelief, belief_of, framework_of, record_query, spelled
from takifugu.spec.records.sections import (
    ContactsSpec,
    NetworkSpec,
    RecordItemSpec,
    RecordReleaseSpec,
    RecordSourceSpec,
    TableSpec,
    UsersSpec,
)
from takifugu.spec.same_data import FIT_ELSEWHERE, GIVE_PUBLIC, IS_PRIVATE, is_one_of, same_rows
from takifugu.spec.source import is_there, open_source, private_files

#: The keys of [[release]] that only some queries have.
_BELONGS = {
    "states": ("histogram", "count"),
    "codes": ("sum", "mean", "identity"),
    "grid": ("sum", "mean", "identity"),
    "attribute": ("sum", "mean", "identity"),
    "variables": ("histogram", "count", "sum", "mean"),
    "total": ("histogram",),
}


@dataclass(frozen=True, eq=False)
class RecordFile:
    """A release file of records; its paths are relative to `folder`. The data are opened only on request.

    `framework` is what is hidden from whom, the same for every unit; `given` replaces the source's file, if any.
    """

    path: Path
    spec: RecordReleaseSpec
    framework: Framework = field(repr=False)
    given: Any = field(default=None, repr=False)

    @property
    def folder(self) -> Path:
        return self.path.parent

    @property
    def belief(self) -> RecordBelief:
        return self.framework.beliefs[0]  # type: ignore[return-value]

    @property
    def scope(self) -> str:
        """Return "unit" where each row is answered on its own, "all" where the source is one record or all users."""
        return "all" if self.spec.source.unit is None else "unit"

    def inside(self, name: str) -> Path:
        """Return a path of the file as seen from here."""
        return self.folder / name

    @property
    def table(self) -> Table:
        """Return the source, opened and not read; SpecError where it cannot be opened or lacks a column."""
        try:
            table = open_source(self.spec.source, self.folder, self.given)
        except TakifuguError as error:
            raise SpecError([f"source.file: {as_problem(error)}"]) from None
        found = list(_columns(self.spec, self.belief, table))
        if found:
            raise SpecError(found)
        return table


def checked_records(raw: dict[str, Any], path: Path, data: Any = None) -> RecordFile:
    """Check the parsed text of a release file of records that lies at `path`.

    A source's file that does not exist is a fault only once it is needed. Raises SpecError.
    """
    try:
        spec = RecordReleaseSpec.model_validate(raw)
    except ValidationError as error:
        raise SpecError(problems_of(error.errors(), record_schema(), raw)) from None
    found, belief, framework = [*_shape(spec), *_private_files(spec, path.parent, data)], None, None
    if not found:
        try:
            belief = belief_of(spec.belief, spec.source.missing, path.parent)
            for entry in range(belief.size) if not isinstance(belief, IndependentUsers) else ():
                spelled(belief.alphabet(entry))
            found += _missing(belief, spec.source.missing, _key_of(spec))
        except TakifuguError as error:
            found.append(f"{_key_of(spec)}: {as_problem(error)}")
    if belief is not None:
        try:
            framework = framework_of(spec.hide, belief)
        except TakifuguError as error:
            found.append(f"hide: {as_problem(error)}")
        if is_there(spec.source, path.parent, data):
            try:
                table = open_source(spec.source, path.parent, data)
                found += list(_columns(spec, belief, table)) or _private_rows(spec, path.parent, table)
            except TakifuguError as error:
                found.append(f"source.file: {as_problem(error)}")
    found += only_release_problems(spec.source, spec.release)
    names = [item.name.lower() for item in spec.release]
    for number, item in enumerate(spec.release):
        if item.name.lower() in names[:number]:
            found.append(f"release[{number}].name: {item.name!r} would name two tables; give each its own name")
        found += _item(item, f"release[{number}]", belief)
    if found or framework is None:
        raise SpecError(found)
    return RecordFile(path, spec, framework, data)


@cache
def record_schema() -> dict[str, Any]:
    """Return the JSON Schema of a release file of records."""
    return RecordReleaseSpec.model_json_schema()


def _missing(belief: RecordBelief, missing: Sequence[str], key: str) -> Iterator[str]:
    """Yield the values of a belief that would be read as missing."""
    if isinstance(belief, IndependentUsers):
        values = {value: None for letters in belief.letters for value in letters.values}
    else:
        values = {value: None for entry in range(belief.size) for value in belief.alphabet(entry)}
    for text in missing_states(values, (), missing):
        yield (
            f"{key}: the value {text!r} counts as missing, so it would never be read; rename it, or remove it from "
            "source.missing"
        )


def _key_of(spec: RecordReleaseSpec) -> str:
    if isinstance(spec.belief, NetworkSpec):
        return "belief.file"
    return "belief.fit" if isinstance(spec.belief, TableSpec) and spec.belief.fit is not None else "belief"


def _columns(spec: RecordReleaseSpec, belief: RecordBelief, table: Table) -> Iterator[str]:
    named = {f"source.{key}": getattr(spec.source, key) for key in ("unit", "person", "value", "group")}
    wanted = [(key, column) for key, column in named.items() if column is not None]
    if not isinstance(belief, IndependentUsers | CliqueInfection):
        wanted += [("source.file", str(name)) for name in belief.names]
    columns = [column for _, column in wanted]
    for key, column in wanted[: len(columns) - len(set(columns))]:
        yield f"{key}: {column!r} has another meaning in this file; name another column"
    for key, column in wanted:
        try:
            table.require([column], columns)
        except TakifuguError as error:
            yield f"{key}: {as_problem(error)}"


def _private_files(spec: RecordReleaseSpec, folder: Path, data: Any) -> Iterator[str]:
    """Yield the key of the belief that names the private data's own file undeclared."""
    belief, private = spec.belief, private_files(spec.source, folder, data)
    if isinstance(belief, NetworkSpec | ContactsSpec) and is_one_of(folder / belief.file, private):
        yield f"belief.file: {IS_PRIVATE}{GIVE_PUBLIC}"
    fit = belief.fit if isinstance(belief, TableSpec) else None
    if fit is not None and not fit.private and is_one_of(folder / fit.file, private):
        yield f"belief.fit.file: {IS_PRIVATE}{FIT_ELSEWHERE}"


def _private_rows(spec: RecordReleaseSpec, folder: Path, private: Table) -> list[str]:
    """Return what is wrong where the belief's file has the rows of the private data, under whatever name."""
    belief = spec.belief
    if isinstance(belief, ContactsSpec):
        columns = [*belief.columns, *(belief.at_least or {})]
        if same_rows(open_frame(folder / belief.file), private, columns):
            return [f"belief.file: has the rows of the private data; {GIVE_PUBLIC}"]
    elif isinstance(belief, TableSpec) and belief.fit is not None and not belief.fit.private:
        public = open_frame(folder / belief.fit.file, spec.source.missing)
        if same_rows(public, private, belief.fit.columns):
            return [f"belief.fit.file: counts what the private data counts, row by row; {FIT_ELSEWHERE}"]
    return []


def _shape(spec: RecordReleaseSpec) -> Iterator[str]:
    """Yield what does not fit together: keys of one kind of belief beside another kind."""
    source, belief, hide = spec.source, spec.belief, spec.hide
    readers = {"users": ("value", "group"), "contacts": ("person", "value")}
    for key in ("person", "value", "group"):
        if getattr(source, key) is not None and key not in readers.get(belief.kind, ()):
            known = " or ".join(kind for kind, keys in readers.items() if key in keys)
            yield f"source.{key}: belongs to a belief of kind {known}; a belief of kind {belief.kind!r} does not use it"
    if isinstance(belief, UsersSpec):
        yield from _shape_of_users(spec, belief)
    elif isinstance(belief, ContactsSpec):
        yield from _shape_of_contacts(source)
    elif source.unit is not None and belief.units_independent is not True:
        yield (
            "belief.units_independent: must be declared, because source.unit is used; write "
            "units_independent = true if one unit says nothing about another, or leave source.unit out"
        )
    if isinstance(belief, TableSpec):
        yield from _shape_of_table(belief)
    kinds = {"variable": "network", "attribute": "table", "presence": "users", "person": "contacts"}
    for key, kind in kinds.items():
        if getattr(hide, key) and belief.kind != kind:
            own = next(k for k, v in kinds.items() if v == belief.kind)
            yield f"hide.{key}: belongs to a belief of kind {kind!r}; with {belief.kind!r} write {own}, or leave it out"
    named = hide.variable or hide.attribute or hide.person
    if hide.kind and named:
        yield "hide.kind: hides every entry, and one is named beside it; write only one of them"
    if (hide.a is None) != (hide.b is None) or (hide.a is not None and not named):
        yield "hide: a and b are the two values of one variable, attribute or person; write all three, or only its name"


def _shape_of_users(spec: RecordReleaseSpec, belief: UsersSpec) -> Iterator[str]:
    if spec.source.unit is not None:
        yield "source.unit: does not belong to users, who are answered together; leave it out, one row is one user"
    if spec.source.value is None:
        yield 'source.value: is missing; write value = "<the column with what each user contributes>"'
    shared = {"size": belief.size, "values": belief.values, "probabilities": belief.probabilities}
    if belief.groups is None:
        if spec.source.group is not None:
            yield "source.group: is given, but the belief has no groups; write [[belief.groups]], or leave it out"
        for key, value in shared.items():
            if not value:
                yield f"belief.{key}: is missing; write size, values and probabilities, or [[belief.groups]]"
        return
    if spec.source.group is None and len(belief.groups) > 1:
        yield 'source.group: is missing; write group = "<the column with the name of each user\'s group>"'
    for key, value in shared.items():
        if value is not None:
            yield f"belief.{key}: is given beside groups; each group has its own"
    if belief.presence != 1:
        yield "belief.presence: is given beside groups; each group has its own"
    if len({group.name for group in belief.groups}) != len(belief.groups):
        yield "belief.groups: two groups have the same name; give each its own name"


def _shape_of_contacts(source: RecordSourceSpec) -> Iterator[str]:
    if source.unit is not None:
        yield "source.unit: does not belong to contacts, who are answered together; write person instead"
    for key, what in (("person", "the column with the name of each person"), ("value", "the column with their state")):
        if getattr(source, key) is None:
            yield f'source.{key}: is missing; write {key} = "<{what}>"'


def _shape_of_table(belief: TableSpec) -> Iterator[str]:
    declared = [key for key in ("columns", "rows", "counts", "probabilities") if getattr(belief, key) is not None]
    if belief.fit is not None:
        for key in declared:
            yield f"belief.{key}: is given beside fit; write only one of them"
    elif "columns" not in declared or "rows" not in declared or len(declared) != 3:
        yield "belief.rows: is incomplete; write columns, rows and either counts or probabilities, or a [belief.fit]"


def _item(item: RecordItemSpec, path: str, belief: RecordBelief | None) -> Iterator[str]:
    if item.query == "count" and not item.states:
        yield f'{path}.states: is missing; write the states to count, for example states = ["yes"]'
        return
    if item.query == "identity" and item.attribute is None:
        yield f'{path}.attribute: is missing; write the column whose value is published, attribute = "education"'
        return
    for key, queries in _BELONGS.items():
        if getattr(item, key) is not None and item.query not in queries:
            yield f"{path}.{key}: does not belong to a {item.query}; leave it out, or publish a {' or '.join(queries)}"
            return
    if isinstance(belief, IndependentUsers | CliqueInfection):
        for key in ("attribute", "variables"):
            if getattr(item, key) is not None:
                yield f"{path}.{key}: names columns, but a row here is one value; publish a count, sum or mean of all"
                return
    yield from promise_problems(item, path)
    if belief is None:
        return
    try:
        record_query(item, belief).resolve(belief)
    except TakifuguError as error:
        yield f"{path}.{_place(str(error), item)}: {as_problem(error)}"


def _place(message: str, item: RecordItemSpec) -> str:
    if "grid" in message:
        return "grid"
    if "no column" in message or "no node" in message:
        return "variables" if item.attribute is None else "attribute"
    return "states" if item.query in ("histogram", "count") else "codes"
