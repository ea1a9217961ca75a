"""The registry of the kinds of release file: a kind written elsewhere registers itself, and then works everywhere."""

from __future__ import annotations

from takifugu.core.errors import InputError
from takifugu.core.registry import Registry
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
    needed += ["belief", "framework_of"] if _of(kind, "meaning") is Kind.meaning else []
    missing = [name for name in needed if _of(kind, name) is getattr(Kind, name)]
    if missing:
        raise InputError(f"{described} does not define {', '.join(missing)}", rule="every kind of release file must")
    for name in kind.names:
        if name in KINDS:
            raise InputError(f"the kind of release file {name!r} is registered already", fix="choose another name")
    for name in kind.names:
        KINDS.register(name, kind)


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
