"""`init`, `app` and `keys`: what a release file starts from."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from pathlib import Path

import click

from takifugu.accounting.ledger import Ledger
from takifugu.cli.group import complain
from takifugu.cli.output import check_new, line_of, open_page, path_text, print_json, print_next, wants_json, write_new
from takifugu.cli.terminal import can_ask, only_seen
from takifugu.core.errors import InputError, LedgerError, ReleaseError, TakifuguError, within
from takifugu.core.escaping import command, visible
from takifugu.core.files import path_in, private_folder
from takifugu.core.nearest import unknown
from takifugu.core.plain import toml_of
from takifugu.core.sections import checked_path
from takifugu.core.text.tables import filled, labelled, paragraph
from takifugu.releasing.certificates.files import content_of
from takifugu.releasing.draft.declared import Missing, missing, refuse_wrong
from takifugu.releasing.draft.evidence import Evidence, evidence, refuse_no_file
from takifugu.releasing.draft.question import Answers, Question, opening
from takifugu.releasing.draft.questions import example, questions
from takifugu.releasing.draft.text import Draft, draft_of, relative, text_of
from takifugu.releasing.file.kinds import KINDS, drafted
from takifugu.releasing.file.loading import json_schema
from takifugu.releasing.file.schema import listed_keys

#: What is asked, with its answer.
_Answered = list[tuple[Question, str]]


def init(
    data: str, answers: tuple[str, ...], output: Path, yes: bool, force: bool, **options: str | None
) -> None:
    said = _said(answers, options)
    _check_places(data, output, force)
    answered, asks = _Answered(), not yes and can_ask()
    with _opened(data, said, answered, asks) as opened:
        if asks:
            _ask(opened, said, answered, output)
        start = draft_of(opened, said, said.get("kind"), output)
        text = plugins_line() + text_of(start)
        opened.relation.check_unchanged()
    draft = written(start, text, force)
    document = {
        "written": str(draft.file), "ledger": str(draft.ledger), "ledger_is_new": draft.is_new,
        "ledger_of": path_text(draft.whose), "questions": [{**asdict(one), "answer": word} for one, word in answered],
        "answers": dict(start.answers), "kind": start.kind, "schema": str(draft.schema), "verdict": draft.verdict,
        "fill_in": [fault.line for fault in draft.missing],
    }  # fmt: skip
    if not print_json(document):
        _print(draft)


def app(data: str, answers: tuple[str, ...], output: Path, force: bool) -> None:
    """Serve the app about a table until Ctrl-C; it starts with the answers."""
    said = _said(answers, {})
    _check_places(data, output, force)
    try:
        from takifugu.pages.app.serving import serve
    except ImportError:
        raise InputError("the app is not installed", fix="pip install 'takifugu[app]'") from None
    from takifugu.releasing.proposal import Proposal

    refuse_no_file(data)
    proposal = Proposal(data, output, plugins_line(), said)

    def tell(address: str) -> None:
        if not print_json({"address": address}, command="app"):
            click.echo(f"{address}\nIt opens once, in a browser of this machine. Ctrl-C ends the app.")
        # everybody on this machine can read what a browser is started with, and nobody else this page
        page = Path(private) / "app.html"
        page.write_text(f'<!doctype html><meta http-equiv="refresh" content="0; url={address}"><title>Takifugu</title>')
        open_page(page.as_uri())

    with private_folder() as private:
        try:
            serve(proposal, lambda start, text, is_ours: written(start, text, force or is_ours), tell)
        except KeyboardInterrupt:
            click.echo("The app has ended.", err=True)
        finally:
            proposal.close()


def _said(answers: tuple[str, ...], options: Mapping[str, str | None]) -> dict[str, str]:
    """Return answers that are written KEY=ANSWER, or --KEY ANSWER."""
    said = {name: word for name, word in options.items() if word is not None}
    for answer in answers:
        name, sign, word = answer.partition("=")
        if not sign or not name.strip() or not word.strip():
            fix = "write for example states='still, walking', in quotes for a shell"
            raise InputError(f"{answer[:40]!r} is no answer", rule="an answer has a key", fix=fix).at("answers")
        said[name.strip()] = word.strip()
    if "kind" in said:
        _check_kind(said["kind"])
    return said


def _check_places(data: str, output: Path, force: bool) -> None:
    """Raise ReleaseError where a release file is there, and InputError for a table that none can name."""
    check_new(output, force, "name another file with -o")
    with within("data"):
        checked_path(relative(Path(data), output))


def _opened(data: str, said: dict[str, str], answered: _Answered, asks: bool) -> Evidence:
    """Open a table, asking how where that is not clear; what was asked is said from then on."""
    while True:
        try:
            return evidence(data, said.get("encoding"), said.get("sql"))
        except InputError as error:
            question = opening(error)
            if not asks:
                raise
        said[question.name] = ask_about(question, lambda _: None)
        answered.append((question, said[question.name]))


def _ask(opened: Evidence, answers: dict[str, str], answered: _Answered, output: Path) -> None:
    """Ask what answers leave open, each in its turn: about the table, then what only its owner knows."""
    def lacks(answers: Answers) -> Missing:
        return missing(text_of(draft_of(opened, answers, None, output)), output, answers, example(opened, answers))

    def accept(question: Question, word: str) -> None:
        """Raise the error of an answer that is none."""
        said = {**answers, question.name: word}
        if not questions(opened, said) and question.name in (faults := lacks(said).faults):
            raise faults[question.name]

    while some := questions(opened, answers) or lacks(answers).questions:
        question = some[0]
        answers[question.name] = ask_about(question, partial(accept, question))
        answered.append((question, answers[question.name]))
        faults = {} if questions(opened, answers) else lacks(answers).faults
        if wrong := [one.name for one, _ in answered if one.name in faults]:  # an earlier answer, seen by this one
            complain(f"{faults[wrong[0]].line}. It is asked again")
            again = {question.name, *wrong}
            answered[:] = [(one, word) for one, word in answered if one.name not in again]
            for name in again:
                del answers[name]


@dataclass(frozen=True)
class _Draft:
    """A written release file with its schema and ledger, which other file that is of, and what it lacks."""

    start: Draft
    text: str
    schema: Path
    ledger: str | Path
    is_new: bool
    whose: Path | None
    missing: Sequence[TakifuguError]

    @property
    def file(self) -> Path:
        return self.start.output

    @cached_property
    def verdict(self) -> str:
        """The words on its tables, as far as possible."""
        if self.missing:
            return (
                f"Verdict: none yet. {command('advise', self.file)} says whether the table is worth reading, as soon "
                "as what is missing is filled in."
            )
        from takifugu.releasing.advice.advice import verdicts

        try:
            tables = verdicts(self.file, only_seen())
        except TakifuguError as error:
            return f"Verdict: none. {error.message}"
        return "\n".join(f"Verdict on {table.name}: {table.sentence}" for table in tables)


def written(start: Draft, text: str, force: bool) -> _Draft:
    """Write a release file with schema and ledger, or nothing."""
    output, other, left = start.output, start.neighbour, refuse_wrong(text, start.output, start.answers)
    schema_file, ledger = output.with_name(f"takifugu-{start.kind}.schema.json"), tomllib.loads(text)["ledger"]
    text, ledger = f"#:schema ./{schema_file.name}\n{text}", path_in(output.parent, ledger)
    former = content_of(output)
    write_new(output, text, force, ".toml", tomllib.loads)
    try:
        write_new(schema_file, json.dumps(json_schema(start.kind), indent=2), True, ".json", json.loads)
        book = Ledger.open(ledger)
        is_new = book.is_new
    except (LedgerError, ReleaseError):
        output.unlink(missing_ok=True)
        if former is not None:
            output.write_bytes(former)
        raise
    whose = None if other is None or other.path.name == output.name else other.path
    return _Draft(start, text, schema_file, ledger, is_new, whose, left)


def plugins_line() -> str:
    """Return the first line of a draft where the caller named packages."""
    packages = click.get_current_context().find_root().params.get("plugins")
    return f"plugins = {toml_of([*packages])}\n" if packages else ""


def _print(draft: _Draft) -> None:
    table, in_force = tomllib.loads(draft.text), list[tuple[str, str]]()
    sections = [("[source]", table["source"]), ("[belief]", table["belief"]), ("[hide]", table.get("hide", {}))]
    for section, keys_of_section in [*sections, *(("[[table]]", item) for item in table["table"])]:
        for key, value in keys_of_section.items():
            in_force.append((section, visible(f"{key} = {toml_of(value)}")))
            section = ""
    click.echo(labelled(in_force))
    click.echo(f"\nwritten: {visible(str(draft.file))}\n")
    if draft.missing:
        click.echo(f"{paragraph('What only you can know is still missing in it:')}\n")
        lines = list[tuple[str, str]]()
        for fault in draft.missing:
            lines.append((f"  {fault.place}", "; ".join(filter(None, (fault.rule, fault.fix))) or fault.what))
        click.echo(labelled(lines))
        click.echo()
    click.echo("Then:")
    print_next(draft.file)
    if draft.whose is not None:
        click.echo(f"\nledger: {visible(str(draft.ledger))}")
        words = f"It is that of {draft.whose}, which reads the same data: one ledger knows what was spent on them."
        click.echo(paragraph(words))
    if draft.is_new:
        click.echo(f"\nnew ledger: {draft.ledger}")
        click.echo(paragraph("It remembers nothing before today. The release file requires it from now on."))
    click.echo(f"\n{paragraph(draft.verdict)}")


def keys(kind: str | None) -> None:
    if kind is None:
        raise InputError("no kind was named", fix=f"write one of {', '.join(drafted())}").at("kind")
    _check_kind(kind)
    schema = json_schema(kind)
    if wants_json():
        click.echo(json.dumps(schema, indent=2))
        return
    all_keys = list(listed_keys(kind, schema))
    click.echo(paragraph(f"All keys of a release file about {kind}; those without a default must be written."))
    of_section = dict[str, list[tuple[str, str]]]()
    for key in all_keys:
        default = f"default: {key.default}" if key.default else "must be written"
        words = f"{key.type}; {default}. {key.words[:1].upper()}{key.words[1:]}"
        of_section.setdefault(key.section, []).append((f"  {key.key}", words))
    for section, pairs in of_section.items():
        click.echo("\n" + "\n".join(filter(None, [section, labelled(pairs)])))


def _check_kind(name: str) -> None:
    """Raise InputError for no kind of release files."""
    if name not in KINDS:
        raise unknown(f"there is no kind {name!r}", name, drafted()).at("kind")


#: How a message begins that goes on behind the name of its key.
_PREDICATES = ("is ", "has ", "hides ", "names ")
#: So many choices are listed; every other column is an answer by its name.
_LISTED = 12


def ask_about(question: Question, accept: Callable[[str], object]) -> str:
    """Ask until an answer is accepted; ReleaseError at the input's end."""
    _say("\n" + click.style(filled(visible(question.words)), bold=True))
    if question.evidence:
        _say(paragraph(f"{visible(question.evidence)}."))
    choices = [*question.choices[: _LISTED - 1], *question.choices[_LISTED - 1 :][-1:]]
    has_form = question.form not in ("", "truth")
    is_numbered = not has_form and not any(choice.name[:1].isdigit() for choice in choices)  # a 2 may be an answer
    listing = list[tuple[str, str]]()
    for number, choice in enumerate(choices, start=1):
        name = _on_a_line(choice.name)
        listing.append((f"  {number} {name}" if is_numbered else f"  {name}", visible(choice.words)))
    if listing:
        _say(labelled(listing))
    _say(paragraph(f"{question.why[0].upper()}{question.why[1:]}."))
    if question.hint:
        said = question.hint  # of bins it names each state
        if question.parts and question.form == "each":
            said = ", ".join(f"{part} {said.partition(',')[0]}" for part in question.parts)
        _say(paragraph(f"Such as: {visible(said)}"))
    if question.is_by_name or len(question.choices) > len(choices):
        _say(paragraph("Or the name of another column."))
    offered = "" if question.offered is None else f" [{_on_a_line(question.offered)}]"
    while True:
        line = line_of(f"{question.name}{offered}: ")
        if not line:
            problem = "the questions were not answered, so nothing was written"
            raise ReleaseError(problem, fix="answer them, or write the options that they name")
        # Enter takes the only answer that there is, where the answer is no promise; else the question comes again
        word = line.strip() or question.offered or ""
        if is_numbered and word.isascii() and word.isdigit() and 1 <= int(word) <= len(choices):
            word = choices[int(word) - 1].name
        if not word:
            continue
        try:
            accept(word)
        except TakifuguError as error:
            subject = f"{question.name} " if error.message.startswith(_PREDICATES) else ""
            complain(f"{subject}{error.asked}")
        else:
            return word


def _on_a_line(name: str) -> str:
    return visible(name).replace("\n", "\\n")


def _say(text: str) -> None:
    click.echo(text, err=True)
