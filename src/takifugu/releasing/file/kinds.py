"""The registry of the kinds of release file: a kind written elsewhere registers itself, and then works everywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import is_dataclass

from takifugu.core.errors import InputError
from takifugu.core.registry import Registry
from takifugu.model.queries import name_of
from takifugu.releasing.file.columns import Column
from takifugu.releasing.file.kind import Kind
from takifugu.releasing.file.sections import FileSpec

#: The kind that faults are listed for where a file names none that there is, those of records, and of whole columns.
SEQUENCES, RECORDS = "markov-chain", ("network", "table", "users", "contacts")
COLUMNS = ("independent-records", "normal", "parameters", "parameter-box")
ROWS = ("populations",)
_OURS = {
    SEQUENCES: "releasing.file.sequences.kind:SEQUENCES",
    "markov-chain-class": "releasing.file.sequences.kind:SEQUENCES",
    "network": "releasing.file.records.columned:NETWORK",
    "table": "releasing.file.records.columned:TABLE",
    "users": "releasing.file.records.users:USERS",
    "contacts": "releasing.file.records.contacts:CONTACTS",
    "independent-records": "releasing.file.attributes.records:RECORDS",
    "normal": "releasing.file.attributes.normal:NORMAL",
    "parameters": "releasing.file.attributes.parameters:PARAMETERS",
    "parameter-box": "releasing.file.attributes.parameters:PARAMETER_BOX",
    "populations": "releasing.file.populations.kind:POPULATIONS",
    "asymmetric": "releasing.file.policies.kind:UNDER_POLICY",
}
#: The kinds of those beliefs from outside that bring their own section, by the shape of their data.
SHAPES: Registry[type[Kind]] = Registry("the shape of the data", {
    "people": "releasing.file.records.people:People",
    "records": "releasing.file.records.columned:Columned",
})  # fmt: skip
#: What `takifugu init --kind` also takes.
PLAINLY = {"sequences": SEQUENCES, "records": "table"}
#: The kinds by value of belief.kind.
KINDS: Registry[Kind] = Registry("the kind of release file", _OURS)


def register(kind: Kind) -> None:
    """Let a kind read the files that name it in belief.kind.

    Raises InputError for a name that is taken, and for a kind that lacks what every kind must bring.

    >>> register(Kind())
    Traceback (most recent call last):
    takifugu.core.errors.InputError: a Kind names no value of belief.kind: write names = ("urn",) in its class
    """
    if not isinstance(kind, Kind):
        raise InputError(f"a {type(kind).__name__} is no kind of release file", fix="derive it from Kind")
    described = f"a {type(kind).__name__}"
    if not kind.names:
        raise InputError(f"{described} names no value of belief.kind", fix='write names = ("urn",) in its class')
    model = getattr(kind, "sections", None)
    lacks = {"source", "belief", "release"} - set(getattr(model, "model_fields", ()))
    if lacks or not (isinstance(model, type) and issubclass(model, FileSpec)):
        raise InputError(
            f"{described} has no model of its file", fix="write sections = a FileSpec with source, belief and release"
        )
    needed = ["units", *([] if kind.rows else ["query"])]
    needed += ["belief", "framework_of"] if kind.section is None and _of(kind, "meaning") is Kind.meaning else []
    missing = [name for name in needed if _of(kind, name) is getattr(Kind, name)]
    if missing:
        raise InputError(f"{described} does not define {', '.join(missing)}", rule="every kind of release file must")
    for name in kind.names:
        if name in KINDS:
            raise InputError(f"the kind of release file {name!r} is registered already", fix="choose another name")
    for name in kind.names:
        KINDS.register(name, kind)


def register_section(section: type, rows: str, drafted: Callable[[Sequence[Column]], str] | None = None) -> None:
    """Let release files name a belief by its section: a frozen dataclass with kind: Literal[...] and belief(folder).

    `rows` is the shape of the data, "people" (a row is an entry of the belief) or "records" (a row is a unit, with a
    column for each entry); `drafted` is the text of [belief] in a first draft, by the columns of the data.
    Raises InputError for a name that is taken, and for what is no such section.
    """
    if not is_dataclass(section) or not hasattr(section, "belief") or not name_of(section, "kind"):
        raise InputError(
            f"{section!r} is no section of a belief",
            rule="it is a frozen dataclass with kind: Literal[...] and belief(folder)",
        ).at("section")
    KINDS.register(name_of(section, "kind"), SHAPES.find(rows)(section, drafted))


def _of(kind: Kind, method: str) -> object:
    return getattr(type(kind), method)


def other_kinds() -> str:
    """Name the kinds of belief beside those of sequences, for whoever wrote one that there is not."""
    registered = [name for name in KINDS.names if name not in _OURS]
    more = f"; registered {_either(registered)}" if registered else ""
    kinds_text = f"; for records {_either(RECORDS)}; for properties of whole columns {_either(COLUMNS)}"
    return f'{kinds_text}; to randomise a column {_either(ROWS)}; for a policy "asymmetric"{more}'


def _either(names: tuple[str, ...] | list[str]) -> str:
    return " or ".join(f'"{name}"' for name in names)
