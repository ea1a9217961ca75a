"""The questions of `init` on a terminal: one screen each, on the standard error, with three rows of the table."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import click

from takifugu.cli.group import complain
from takifugu.cli.output import counted
from takifugu.core.errors import ReleaseError, TakifuguError
from takifugu.core.escaping import visible
from takifugu.core.lists import without
from takifugu.core.text.tables import filled, labelled, name_of, paragraph, text_table, width
from takifugu.releasing.file.guessing.columns import FirstLook
from takifugu.releasing.file.questions.question import Question

#: So many rows are shown, and so many choices are listed; every other column is an answer by its name.
_ROWS, _LISTED = 3, 9
#: A cell that is shown is no longer.
_WIDEST = 16


def ask_about(look: FirstLook, question: Question, accept: Callable[[str], str]) -> str:
    """Ask until an answer is accepted; ReleaseError at the input's end."""
    _say("\n" + click.style(filled(question.words), bold=True))
    _say(_rows_of(look, question.about))
    choices = question.choices[:_LISTED]
    listing = list[tuple[str, str]]()
    for number, choice in enumerate(choices, start=1):
        name = visible(choice.name) if question.form else f"{number} {visible(choice.name)}"
        listing.append((f"  {name}", visible(choice.words)))
    _say(labelled(listing))
    if question.why:
        _say(paragraph(f"{question.why[0].upper()}{question.why[1:]}."))
    if len(question.choices) > len(choices) or question.others:
        _say(paragraph("Or the name of another column."))
    while True:
        prompt = question.name
        if question.offered is not None:
            prompt += f" [{visible(question.offered)}]"
        click.echo(f"{prompt}: ", nl=False, err=True)
        line = _line()
        if not line:
            problem = "the questions were not answered, so nothing was written"
            raise ReleaseError(problem, fix="answer them, or write --yes")
        word = line.strip()
        if not word and question.offered is not None:
            return question.offered
        if word.isascii() and word.isdigit() and 1 <= int(word) <= len(choices) and not question.form:
            return choices[int(word) - 1].name
        try:
            return accept(word)
        except TakifuguError as error:
            words = error.message if question.form == "text" else error.what
            complain(words)


def _line() -> str:
    """Return a line of the input, "" at its end."""
    line = ""
    try:
        line = sys.stdin.readline()
    except UnicodeDecodeError:
        line = "?"
    finally:
        if not line:  # the input ends, or a signal came: the prompt's line ends, too
            _say("")
    return line


def _say(text: str) -> None:
    click.echo(text, err=True)


def _rows_of(look: FirstLook, about: Sequence[str]) -> str:
    """Return the table's first rows with the columns that fit, those in question first."""
    names, room, cells = [*about, *without(look.all_rows, about)], width(), list[list[str]]()
    for name in names:
        cell = [name_of(text or "", _WIDEST) for text in (name, *look.all_rows[name][:_ROWS])]
        room -= max(map(len, cell)) + 2
        if cells and room < 0:
            break
        cells.append(cell)
    if not cells:
        return ""
    header, *rows = map(list, zip(*cells, strict=True))
    more = len(names) - len(cells)
    if not more:
        return text_table(header, rows)
    return f"{text_table(header, rows)}\n(and {counted(more, 'more column')})"
