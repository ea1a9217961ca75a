"""The registry of the kinds of release file: a kind written elsewhere registers itself, and then works everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import is_dataclass

from takifugu.core.errors import InputError
from takifugu.core.escaping import command
from takifugu.core.nearest import nearest_words
from takifugu.core.plain import either
from takifugu.core.registry import Registry, loaded
from takifugu.model.beliefs import SECTIONS
from takifugu.model.queries import name_of, sections_of
from takifugu.model.queries.sections import EACH_ROW, IN_ORDER, POLICY, RECORDS, WHOLE_COLUMNS
from takifugu.releasing.file.described import file_of
from takifugu.releasing.file.keys import Section
from takifugu.releasing.file.kind import Kind
from takifugu.releasing.file.old_keys import KINDS as KINDS_OF_BEFORE
from takifugu.releasing.file.sections import FileSpec

#: The kind that faults are listed for where a file names none that there is.
SEQUENCES = "markov-chain"
#: What a row is in the data of each shape, so that no other one is loaded to know it, and the kind of such data.
OF_SHAPE = {
    "sequences": (IN_ORDER, "releasing.file.sequences.kind:Sequences"),
    "people": (RECORDS, "releasing.file.records.rows:SingleValues"),
    "users": (RECORDS, "releasing.file.records.users:Users"),
    "records": (RECORDS, "releasing.file.records.rows:Columned"),
    "each row": (EACH_ROW, "releasing.file.populations:Populations"),
    "policy": (POLICY, "releasing.file.policies.kind:UnderPolicy"),
    "columns": (WHOLE_COLUMNS, "releasing.file.attributes.columns:Finite"),
    "columns of numbers": (WHOLE_COLUMNS, "releasing.file.attributes.columns:Numbers"),
    "one column of numbers": (WHOLE_COLUMNS, "releasing.file.attributes.columns:OneNumber"),
}
#: The kinds by the shape of their data, for beliefs that bring their section.
SHAPES: Registry[type[Kind]] = Registry("the shape of the data", {shape: kind for shape, (_, kind) in OF_SHAPE.items()})
#: What a list for beginners leaves out: a class of what it has, which `takifugu init --kind` takes as well.
UNLISTED = {"markov-chain-class"}
#: What `takifugu init` drafts: what is secret, in fewer words than its section says.
DRAFTED = {
    SEQUENCES: "states, step by step: a row is a step",
    "joint-table": "all answers of each person; each gets a table alone",
    "users": "answers, one row a person; one table counts everybody",
    "contacts": "people who meet; a row is a person",
    "network": "a row follows a Bayesian network",
    "independent-records": "a whole column of answers, such as a share",
    "normal": "a whole column of numbers, such as a mean",
    "density": "a mean whose density is known; a column is secret",
    "parameters": "answers; what the population is like is secret",
    "populations": "from which population a row comes; each is randomised alone",
    "asymmetric": "visits: who was at which place",
}


class _Kinds(Registry[Kind]):
    """The kinds by value of belief.kind: ours are listed by the shape of their data, and where their section is."""

    def about(self, rows: str) -> Iterator[Kind]:
        """Yield the kinds about such rows, loading no others."""
        for name in self.names:
            shape = self._built_in.get(name, "").rpartition(" ")[0]
            if shape not in OF_SHAPE or OF_SHAPE[shape][0] == rows:
                yield self.find(name)

    def _loaded(self, name: str) -> Kind:
        shape, _, section = self._built_in[name].rpartition(" ")
        return SHAPES.find(shape)(loaded(section))


KINDS = _Kinds("the kind of release file", SECTIONS)


def model_of_file(kind: Kind) -> type[FileSpec]:
    """Return the model of all files with such rows."""
    facts = kind.facts
    queries = tuple(sections_of(facts.rows).items())
    beliefs = list[type[Section]]()
    for other in KINDS.about(facts.rows):
        if other.facts.rows == facts.rows:
            beliefs.append(other.believes)
    return file_of(facts.sections, facts.table, facts.rows, queries, tuple(beliefs))


def register(kind: Kind) -> None:
    """Let a kind read the files with its section's name in belief.kind; InputError where it cannot be one."""
    if not isinstance(kind, Kind):
        raise InputError(f"a {type(kind).__name__} is no kind of release file", fix="derive it from Kind")
    section = kind.section
    if section is None or not is_dataclass(section) or not hasattr(section, "belief") or not name_of(section, "kind"):
        raise InputError(
            f"{section!r} is no section of a belief",
            rule="it is a frozen dataclass with kind: Literal[...] and belief(public)",
        ).at("section")
    missing = [name for name in ("units", "framework_of") if getattr(type(kind), name) is getattr(Kind, name)]
    if type(kind).framework_about is not Kind.framework_about and "framework_of" in missing:
        missing.remove("framework_of")  # it depends on the units
    if not hasattr(kind, "facts"):
        missing.append("facts")
    if missing:
        problem = f"a {type(kind).__name__} does not define {', '.join(missing)}"
        raise InputError(problem, rule="every kind of release file must")
    KINDS.register(name_of(section, "kind"), kind)


def register_section(section: type, rows: str) -> None:
    """Let release files name a belief by its section: a frozen dataclass with kind and belief(public)."""
    # the shape: "people" (a row is an entry), "records" (a unit) or "sequences" (rows in order are a unit's steps)
    register(SHAPES.find(rows)(section))


def drafted() -> dict[str, str]:
    """Return the kinds with a draft, each with its data."""
    drafts = dict(DRAFTED)
    for name in KINDS.names:
        if name not in DRAFTED and name not in UNLISTED:
            kind = KINDS.find(name)
            words = ((kind.section or type(kind)).__doc__ or "").strip().partition("\n")[0]
            drafts[name] = words[:1].lower() + words[1:].rstrip(".")
    return drafts


def which_kind(named: object) -> str:
    """Name the kinds of belief nearest to a word, or those that are drafted plainly."""
    kinds = [*DRAFTED]
    if isinstance(named, str) and named in KINDS_OF_BEFORE:
        return KINDS_OF_BEFORE[named]
    if isinstance(named, str):
        kinds = nearest_words(named, KINDS.names)
    return f"write kind = {either(kinds)}; {command('init', '--help')} says what there is"
