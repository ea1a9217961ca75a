"""What a release file means, and every fault in it that no single key shows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath
from typing import Protocol, runtime_checkable

from takifugu.core.entries import Entries
from takifugu.core.errors import InputError, SpecError, TakifuguError
from takifugu.model.queries.forms import QueryReader
from takifugu.releasing.file.kind import Kind
from takifugu.releasing.file.problems import Where, blamed, fault
from takifugu.releasing.file.public import Public, collecting, faults_of, private_keys, revealed
from takifugu.releasing.file.relation_keys import is_there
from takifugu.releasing.file.sections import PUBLIC, ExpectSpec, FileSpec, Table, numbered
from takifugu.releasing.file.shape import Parts, opened
from takifugu.releasing.file.sharing import promise_problems, single_release_problems

#: Keys of [belief] in whose place an example tells nothing wrong about the others.
_HARMLESS = frozenset({"belief.records", "belief.source"})


@runtime_checkable
class Blaming(Protocol):
    """A section of a table that names the key which an error is about that does not say it."""

    @property
    def blamed(self) -> str: ...


def meaning_of(kind: Kind, spec: FileSpec, faulty: frozenset[str], folder: Path, data: object) -> Parts:
    """Return the meaning of a file, with all faults that no single key shows, in order."""
    # faulty sections are None and `faulty` keys have examples: all that can be said of the others is
    first = kind.facts.meaning or _meaning_of
    belief, framework, table, problems = first(kind, spec, faulty, folder, data)
    if spec.source is not None:
        problems += single_release_problems(spec.source, spec.table)
    # Where sections are checked one by one, tables are, whatever else is wrong with them.
    odd_tables = {error.where[:2] for error in problems if kind.facts.meaning is None}
    problems += two_tables(spec.table)
    definition = "" if framework is None else framework.definition
    for number, item in numbered(spec.table):
        of_table = None if ("table", number) in odd_tables else belief
        problems += table_problems(item, number, of_table, folder, definition)
    return belief, framework, table, problems


def _meaning_of(kind: Kind, spec: FileSpec, faulty: frozenset[str], folder: Path, data: object) -> Parts:
    """Return what the sections mean, if none of them is faulty."""
    sections = {name: getattr(spec, name) for name in ("source", "belief", "hide") if hasattr(spec, name)}
    problems = list[TakifuguError]()
    keys = () if spec.belief is None else type(spec.belief).model_fields.items()
    # a default stands for a faulty key: what it contradicts says nothing of what was meant
    is_by_default = any(f"belief.{key}" in faulty and not field.is_required() for key, field in keys)
    if None not in sections.values() and not is_by_default:
        problems += [*kind.shape(spec, folder, data), *faults_of(spec.belief), *private_keys(spec, folder, data)]
    odd = set[str]()
    for error in problems:
        odd.add(str(next(iter(error.where), "")))
    odd |= {name for name, section in sections.items() if section is None}
    odd |= {"belief" for key in faulty - _HARMLESS if key.startswith("belief.")}
    belief, framework, table = None, None, None
    if not odd & {*kind.facts.believes_from, ""}:
        with collecting(problems, spec.belief):
            belief = spec.belief.meant.belief(Public(folder, spec.source))
            if spec.source is not None:
                problems += kind.misfits(spec, belief)
    if belief is not None and not odd & {"hide", ""}:
        try:
            framework = kind.framework_of(spec, belief)
        except SpecError as error:
            problems += error.faults
        except TakifuguError as error:
            problems.append(blamed(error, "hide"))
    if belief is not None and not odd and not faulty and is_there(spec.source, folder, data):
        table, faults = opened(kind.facts, spec, belief, folder, data)
        problems += faults if table is None or faults else revealed(spec, folder, table)
    return belief, framework, table, problems


def two_tables(items: Sequence[Table | None]) -> Iterator[TakifuguError]:
    """Yield a fault for each name of two tables. On some machines A.csv and a.csv are one file."""
    taken = set[str]()
    for number, item in numbered(items):
        twice = [name for name in item.names if name.lower() in taken]
        if twice:
            yield fault(("table", number, "name"), f"{twice[0]!r} would name two tables", "give each its own name")
        taken.update(map(str.lower, item.names))


def table_problems(
    item: Table, number: int, belief: Entries | None, folder: Path, definition: str
) -> Iterator[TakifuguError]:
    """Yield the faults of one table; a faulty `belief` is None."""
    yield from promise_problems(item, number, definition)
    if belief is None:
        return
    try:
        query = item.meant.query_about(belief, folder)
        if isinstance(belief, QueryReader):
            belief.resolve(query)
        else:  # of one step, to which no list of weights fits
            query.unweighted().resolve(belief)
    except TakifuguError as error:
        key = item.meant.blamed if isinstance(item.meant, Blaming) else "query"
        for step in reversed(error.where):
            if step in type(item).model_fields:
                key = str(step)
        yield blamed(error, "table", number, key)


def named_sources(spec: FileSpec) -> Iterator[TakifuguError]:
    """Yield the expectations with the data's own file as a source."""
    name = ""
    if spec.source is not None and spec.source.file is not None:
        name = PurePath(spec.source.file.replace("\\", "/")).name.casefold()
    if "." not in name:
        return
    expectations: dict[Where, ExpectSpec | None] = {("expect",): spec.expect}
    for number, item in numbered(spec.table):
        expectations["table", number, "expect"] = item.expect
    for place, expect in expectations.items():
        if expect is not None and re.search(rf"(?<![\w.-]){re.escape(name)}(?!\w)", expect.source.casefold()):
            error = InputError(f"names {name!r}, the private data", rule="advice must not depend on them", fix=PUBLIC)
            yield error.at(*place, "source")
