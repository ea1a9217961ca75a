"""What all commands use to print: headings, JSON, files, and colour where it means something."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from takifugu.cli.failures import COMMAND, FILE, FORMAT, PRINTED, TYPED
from takifugu.cli.group import complain
from takifugu.cli.terminal import can_ask, undisturbed
from takifugu.core.errors import PeopleUndeclared, ReadingChanged, ReleaseError, TakifuguError, reason
from takifugu.core.escaping import command, visible
from takifugu.core.files import draft_of, read_file
from takifugu.core.plain import Json
from takifugu.core.readings import are_never_the_same, is_unnamed
from takifugu.core.text.tables import labelled, paragraph, width
from takifugu.releasing.planning.notices import listening

if TYPE_CHECKING:
    from takifugu.accounting.amounts import Amount
    from takifugu.releasing.publishing.choosing import Choice

T = TypeVar("T")
#: No file that a command writes for its user is larger.
LARGEST_TEXT = 10_000_000
#: What helps beside --force, where somebody names the file.
ANOTHER = "choose another name"


def heading(text: str) -> None:
    text = visible(text)
    click.echo(f"\n{click.style(text, bold=True)}\n{'─' * min(len(text), width())}")


@contextmanager
def noticed() -> Iterator[list[str]]:
    """Print the library's notices on stderr, and yield their list for JSON."""
    notices: list[str] = []

    def hear(words: str) -> None:
        notices.append(words)
        complain(words, "yellow")

    with listening(hear):
        yield notices


def counted(count: int, what: str) -> str:
    """Return a number with its noun."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def wants_json() -> bool:
    """Return whether the command was asked for JSON, and prints no text."""
    return "--json" in click.get_current_context().meta[TYPED]


def print_json(content: Json, file: Path | str | None = None, command: str = "") -> bool:
    """Print a document in the place of text where JSON is wanted; return whether it is."""
    if wants_json():
        meta = click.get_current_context().meta
        meta[PRINTED], named = True, {"command": command or meta[COMMAND], "file": path_text(file) or meta[FILE]}
        click.echo(json.dumps({"format": FORMAT, **named, **content}, indent=2))
    return wants_json()


def path_text(path: Path | str | None) -> str | None:
    """Return a path for JSON, if there is one."""
    return None if path is None else str(path)


def amount(value: Amount | None) -> dict[str, str] | None:
    """Return an amount for JSON, if there is one."""
    return None if value is None else value.to_dict()


def _put(draft: Path, path: Path) -> None:
    """Give a finished file its name, unless taken meanwhile."""
    try:
        os.link(draft, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        with open(path, "xb") as file:
            file.write(draft.read_bytes())
    draft.unlink()


def check_new(path: Path, force: bool, otherwise: str = ANOTHER) -> None:
    """Raise ReleaseError for a file that is there, and that nothing allows to replace."""
    if os.path.lexists(path) and not force:  # a link that leads nowhere is there, too
        raise ReleaseError(f"{str(path)!r} would be overwritten", fix=f"write --force, or {otherwise}")


def write_new(
    path: Path, text: str | bytes, force: bool, ending: str, is_alike: Callable[[str], object], otherwise: str = ANOTHER
) -> None:
    """Write a new file, whole or not at all; ReleaseError for one that is there, and for failures to write."""
    # `force` replaces a file of this ending, or one whose text `is_alike`
    if path.is_dir():
        raise ReleaseError(f"{str(path)!r} is a folder", fix="name the file to write")
    is_ours = not path.exists() or (isinstance(text, bytes) and path.suffix == ending)  # which may be no text
    if force and not is_ours:
        with suppress(OSError, ValueError):
            former = read_file(path, LARGEST_TEXT).decode("utf-8-sig")
            is_ours = path.suffix == ending or not former.strip() or bool(is_alike(former))
    if force and not is_ours:
        raise ReleaseError(
            f"{str(path)!r} is not what this command writes, so it was left as it is",
            rule="--force replaces an earlier file of the same kind only",
            fix=otherwise,
        )
    check_new(path, force, otherwise)
    if isinstance(text, str):
        text = text.encode()
    draft = draft_of(path)
    try:
        draft.touch(exist_ok=False)  # follows no link
        draft.write_bytes(text)
        if force:
            os.replace(draft, path)  # replaces a link, and not what it leads to
        else:
            _put(draft, path)
    except OSError as error:
        with suppress(OSError):  # where nothing lies, or below a file
            draft.unlink()
        raise ReleaseError(f"{str(path)!r} cannot be written ({reason(error)})", fix="choose another place") from None


def print_listing(
    key: str, documents: Sequence[Json], lines: Sequence[tuple[str, str]], hint: str
) -> None:
    """Print names with their words and what to do with one, or their documents."""
    if not print_json({key: list(documents)}):
        click.echo(f"{labelled(lines)}\n\n{paragraph(hint)}")


def print_next(file: Path) -> None:
    """Print the commands for a new release file."""
    named = {"cost": "the noise, and its price", "advise": "is the table worth reading?", "release": "publish"}
    click.echo(labelled([(f"  {command(name, file)[1:-1]}", meaning) for name, meaning in named.items()]))


def write_picture(path: Path, picture: str, force: bool) -> None:
    """Write a picture that somebody asked for, and name it: before the text, which nobody may read to its end."""
    write_new(path, picture, force, ".svg", lambda former: "<svg" in former[:1000])
    if not wants_json():
        click.echo(f"written: {visible(str(path))}\n")


def show_page(
    output: Path | None, name: str, text: str, title: str, force: bool, settings: str = "",
    said: Sequence[str] | None = None,
) -> None:
    """Write a page to `output`, or into a new folder, and open it; `title` is what an earlier one begins with."""
    page = output or Path(tempfile.mkdtemp(prefix="takifugu-")) / f"{name}.html"
    write_new(page, text, force, ".html", lambda former: title in former)
    address = page.resolve().as_uri() + (f"#{settings}" if settings else "")
    more = {} if said is None else {"address": address, "differences": list(said)}
    if not print_json({"page": str(page), **more}):
        click.echo("\n".join([address, *map(paragraph, said or ())]))
        open_page(address)


def open_page(address: str, what: str = "address") -> None:
    """Open an address in the browser, or say that there is none."""
    import webbrowser  # few commands open a page

    if not webbrowser.open(address):
        click.echo(f"There is no browser here: open this {what} with one.", err=True)


def with_answers(step: Callable[[Choice], T], choice: Choice, yes: bool) -> T:
    """Return what a step gives with answers about entries and people, asked for where it needs them."""
    while True:
        try:
            return step(choice)
        except (ReadingChanged, PeopleUndeclared) as error:
            question = error
        answered = None if yes or not can_ask() else _answered(question, choice)
        # nobody can answer, or does, or is to be asked (`yes`): the error names the command to paste
        if answered is None:
            raise _with_command(question)
        choice = answered


def _answered(question: ReadingChanged | PeopleUndeclared, choice: Choice) -> Choice | None:
    """Ask a question at the terminal; None without an answer, and for other people, who have another ledger."""
    complain(question.message, "yellow")
    about = "entries" if isinstance(question, ReadingChanged) else "people"
    answer = line_of(f"same or other {about}: ").strip().casefold()
    if about == "people":
        return replace(choice, same_people=True) if answer == "same" else None
    if answer == "other":
        return replace(choice, other_entries=True)
    why = line_of("why are they the same? certificates print it: ").strip() if answer == "same" else ""
    return replace(choice, same_entries=why) if why else None


def line_of(prompt: str) -> str:
    """Ask for a line at the terminal, which is "" at the input's end."""
    line = ""
    with undisturbed():
        click.echo(prompt, nl=False, err=True)
        try:
            line = sys.stdin.readline()
        except UnicodeDecodeError:
            line = "?"
        finally:
            if not line:  # the input ends, or a signal came: the prompt's line ends, too
                click.echo("", err=True)
    return line


def _with_command(question: ReadingChanged | PeopleUndeclared) -> TakifuguError:
    """Return an error that nobody has answered with the command that answers it, behind what was typed."""
    if isinstance(question, PeopleUndeclared):
        return question
    typed = click.get_current_context().meta[TYPED]
    if is_unnamed(question.now) and not question.before:
        question.fix += f"\nrun {command(*typed, '--other-entries')}, or name them"
    elif question.is_same_refused or are_never_the_same(question.before, question.now):
        question.fix += f"\nrun {command(*typed, '--other-entries')}, or read it as before"
    else:
        question.fix += f"\nrun {command(*typed, '--same-entries', 'WHY')}, or the same with --other-entries"
    return question
