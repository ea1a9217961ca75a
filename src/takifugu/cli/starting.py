"""`init` and `schema`: what a release file starts from."""

from __future__ import annotations

import json
import shlex
import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from takifugu.accounting.ledger import Ledger
from takifugu.cli.asking import ask_about
from takifugu.cli.output import path_text, print_json, write_new
from takifugu.cli.terminal import can_ask, only_seen
from takifugu.core.errors import InputError, LedgerError, ReleaseError, SpecError, TakifuguError, within
from takifugu.core.escaping import visible
from takifugu.core.nearest import nearest
from takifugu.core.plain import Json, toml_of
from takifugu.core.sections import checked_path
from takifugu.core.text.tables import labelled, paragraph
from takifugu.data import looked_into, open_frame, sniffed
from takifugu.releasing.file.drafting.draft import draft_of, relative
from takifugu.releasing.file.drafting.listing import listed_keys
from takifugu.releasing.file.guessing.columns import first_look
from takifugu.releasing.file.guessing.notes import notes, one_of_several
from takifugu.releasing.file.kinds import KINDS, PLAINLY, drafted
from takifugu.releasing.file.loading import json_schema, load
from takifugu.releasing.file.neighbours import write_ledger_id
from takifugu.releasing.file.questions.decision import answered, answered_clearly, decision
from takifugu.releasing.file.questions.question import Subject

if TYPE_CHECKING:
    from takifugu.releasing.file.drafting.draft import Start
    from takifugu.releasing.file.questions.question import Question

#: The questions whose likely answers the reason for a kind is about.
_OF_THE_KIND = ("rows", "whose", "when", "secret")
#: With a longer name the commands that come next do not fit beside what they are for.
_SHORT_NAME = 30


def init(
    data: str, output: Path, kind: str | None, yes: bool, force: bool, as_json: bool, **options: str | None
) -> None:
    said = {name: word for name, word in options.items() if word is not None}
    kind = None if kind is None else _kind(kind)
    if output.exists() and not force:
        raise ReleaseError(f"{str(output)!r} would be overwritten", fix="write --force, or name another file with -o")
    path = Path(data)
    with within("data"):
        checked_path(relative(path, output))
    contents = looked_into(path)
    look = first_look(open_frame(data, written=sniffed(path)))
    if not look.columns:
        raise InputError(f"{path.name} has no column with a name of its own", fix="name its columns").at("data")
    if not any(look.all_rows.values()):
        raise InputError(f"{path.name} has no row to look at", fix="export it again, with some").at("data")
    content_notes = list[str]()
    if len(contents) > 1:
        content_notes.append(one_of_several(contents, look.written))
        click.echo(paragraph(content_notes[0]), err=True)
    subject = Subject(look, kind, path, output)
    asks = not yes and can_ask()
    if asks:
        questions = answered(subject, said, partial(ask_about, look))
    else:
        questions = answered_clearly(subject, said)
    made_of = decision(subject, questions)
    if asks and first_look(open_frame(data, written=sniffed(path))).all_rows != look.all_rows:
        raise ReleaseError(f"{path.name} has changed since it was shown, so nothing was written", fix="start again")
    draft = _written(made_of, subject, force)
    of_kind = [(question.offered, answer) for question, answer in questions if question.name in _OF_THE_KIND]
    was_said = any(offered not in (None, answer) for offered, answer in of_kind)
    why = "" if subject.kind is not None or was_said else subject.likely.why
    table_notes = [*notes(look, made_of.roles, path, made_of.said["rows"])]
    if as_json:
        print_json("init", path, _document(draft, made_of, questions, why, [*content_notes, *table_notes]))
    else:
        _print(draft, why, table_notes)


@dataclass(frozen=True)
class _Draft:
    """A written release file with its schema and ledger, and what it lacks.

    `whose` is the other file that the ledger is of, if any.
    """

    file: Path
    text: str
    kind: str
    schema: Path
    ledger: str | Path
    is_new: bool
    whose: Path | None
    missing: Sequence[TakifuguError]

    @cached_property
    def verdict(self) -> str:
        """The words on its tables, as far as possible."""
        if self.missing:
            return (
                f"Verdict: none yet. `takifugu advise {typed(self.file)}` says whether the table is worth reading, as "
                "soon as what is missing is filled in."
            )
        from takifugu.releasing.advice.advice import verdicts

        try:
            tables = verdicts(self.file, only_seen())
        except TakifuguError as error:
            return f"Verdict: none. {error.message}"
        return "Verdict: " + "; ".join(f"{table.name} is {table.sentence}" for table in tables)


def _written(made_of: Start, subject: Subject, force: bool) -> _Draft:
    """Write a release file with schema and ledger, or nothing."""
    output, text = subject.output, _plugins() + draft_of(made_of)
    declared, whose = made_of.ledger
    schema_file = output.with_name(f"takifugu-{made_of.kind}.schema.json")
    write_new(output, f"#:schema ./{schema_file.name}\n{text}", force, ".toml", tomllib.loads)
    ledger = declared if "://" in declared else output.parent / declared
    try:
        write_new(schema_file, json.dumps(json_schema(made_of.kind), indent=2), True, ".json", json.loads)
        book = Ledger.open(ledger)
        is_new, name = book.is_new, book.id
    except (LedgerError, ReleaseError):
        output.unlink(missing_ok=True)
        raise
    write_ledger_id(output, name)
    missing = list[TakifuguError]()  # the keys that commands will miss
    try:
        load(output)
    except SpecError as error:
        missing += error.faults
    if "file" not in tomllib.loads(output.read_text(encoding="utf-8"))["source"]:  # Python may give a frame
        fix = 'write file = "people.csv", the private table'
        missing.insert(0, InputError("is missing", fix=fix).at("source", "file"))
    return _Draft(output, text, made_of.kind, schema_file, ledger, is_new, whose, missing)


def _plugins() -> str:
    """Return the first line of a draft where the caller named packages."""
    packages = click.get_current_context().find_root().params.get("plugins")
    return f"plugins = {toml_of([*packages])}\n" if packages else ""


def _document(
    draft: _Draft, made_of: Start, questions: Sequence[tuple[Question, str]], why: str, said: Sequence[str]
) -> Json:
    role_of = {column.name: role for role, column in made_of.roles.items()}
    columns = list[Json]()
    for column in made_of.look.columns.values():
        facts = {"name": column.name, "kind": column.kind, "marks": column.marks}
        columns.append({**facts, "role": role_of.get(column.name)})
    return {
        "written": str(draft.file), "ledger": str(draft.ledger), "ledger_is_new": draft.is_new,
        "ledger_of": path_text(draft.whose),
        "questions": [{**asdict(question), "answer": answer} for question, answer in questions],
        "kind": draft.kind, "why": why or None, "schema": str(draft.schema), "verdict": draft.verdict,
        "columns": columns, "notes": said, "fill_in": [fault.line for fault in draft.missing],
    }  # fmt: skip


def _print(draft: _Draft, why: str, said: Sequence[str]) -> None:
    table, in_force = tomllib.loads(draft.text), list[tuple[str, str]]()
    sections = [("[source]", table["source"]), ("[belief]", table["belief"]), ("[hide]", table.get("hide", {}))]
    for section, keys_of_section in [*sections, *(("[[table]]", item) for item in table["table"])]:
        for key, value in keys_of_section.items():
            in_force.append((section, visible(f"{key} = {toml_of(value)}")))
            section = ""
    click.echo(labelled(in_force))
    if why:
        click.echo(f"\n{paragraph(f'Drafted as {draft.kind}: {why}.')}")
    for note in said:
        click.echo(f"\n{paragraph(note)}")
    click.echo(f"\nwritten: {visible(str(draft.file))}\n")
    if draft.missing:
        click.echo(f"{paragraph('What only you can know is still missing in it:')}\n")
        lines = list[tuple[str, str]]()
        for fault in draft.missing:
            lines.append((f"  {fault.place}", "; ".join(filter(None, (fault.rule, fault.fix))) or fault.what))
        click.echo(labelled(lines))
        click.echo()
    _print_next(typed(draft.file))
    if draft.whose is not None:
        click.echo(f"\nledger: {visible(str(draft.ledger))}")
        words = f"It is that of {draft.whose}, which reads the same data: one ledger knows what was spent on them."
        click.echo(paragraph(words))
    if draft.is_new:
        click.echo(f"\nnew ledger: {draft.ledger}")
        click.echo(paragraph("It remembers nothing before today. The release file requires it from now on."))
    click.echo(f"\n{paragraph(draft.verdict)}")


def schema(kind: str) -> None:
    click.echo(json.dumps(json_schema(kind), indent=2))


def keys(kind: str | None, as_json: bool) -> None:
    if kind is None:
        raise InputError("no kind was named", fix=f"write one of {', '.join(drafted())}").at("kind")
    keys_kind = _kind(kind)
    all_keys = list(listed_keys(keys_kind))
    if as_json:
        print_json("keys", None, {"kind": keys_kind, "keys": list(map(asdict, all_keys))})
        return
    click.echo(paragraph(f"All keys of a release file about {keys_kind}; those without a default must be written."))
    of_section = dict[str, list[tuple[str, str]]]()
    for key in all_keys:
        default = f"default: {key.default}" if key.default else "must be written"
        words = f"{key.type}; {default}. {key.words[:1].upper()}{key.words[1:]}"
        of_section.setdefault(key.section, []).append((f"  {key.key}", words))
    for section, pairs in of_section.items():
        click.echo("\n" + "\n".join(filter(None, [section, labelled(pairs)])))


def _kind(name: str) -> str:
    """Return a kind of release files by its name or plain words."""
    kind = PLAINLY.get(name, name)
    if kind not in KINDS:
        raise InputError(f"there is no kind {name!r}", fix=f"write {nearest(name, drafted())}").at("kind")
    return kind


def _print_next(file: str) -> None:
    """Print the commands for a new release file."""
    click.echo("Then:")
    commands = {
        f"  takifugu compare {file}": "the best mechanisms, side by side",
        f"  takifugu advise {file}": "is the table worth reading?",
        f"  takifugu explain {file}": "what other epsilons would cost",
        f"  takifugu release {file}": "publish",
    }
    listing = labelled(commands.items())
    if len(file) > _SHORT_NAME:
        listing = "\n".join(f"{line}  # {meaning}" for line, meaning in commands.items())
    click.echo(listing)


def typed(path: Path) -> str:
    """Quote a path for a shell, if necessary."""
    return visible(shlex.quote(str(path)))
