"""The questions of `init` on a terminal: plain lines on the standard error, without a value of the table."""

from __future__ import annotations

import sys
from collections.abc import Callable

import click

from takifugu.cli.group import complain
from takifugu.core.errors import ReleaseError, TakifuguError
from takifugu.core.escaping import visible
from takifugu.core.text.tables import filled, labelled, paragraph
from takifugu.releasing.draft.questions import Question

#: So many choices are listed; every other column is an answer by its name.
_LISTED = 12


def ask_about(question: Question, accept: Callable[[str], object]) -> str:
    """Ask until an answer is accepted; ReleaseError at the input's end.

    Enter takes the only answer that there is, where the answer is no promise; else the question comes again.
    """
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
        said = ", ".join(f"{part} {question.hint.partition(',')[0]}" for part in question.parts) or question.hint
        _say(paragraph(f"Such as: {visible(said)}"))
    if question.is_by_name or len(question.choices) > len(choices):
        _say(paragraph("Or the name of another column."))
    offered = "" if question.offered is None else f" [{_on_a_line(question.offered)}]"
    while True:
        click.echo(f"{question.name}{offered}: ", nl=False, err=True)
        line = _line()
        if not line:
            problem = "the questions were not answered, so nothing was written"
            raise ReleaseError(problem, fix="answer them, or write the options that they name")
        word = line.strip() or question.offered or ""
        if is_numbered and word.isascii() and word.isdigit() and 1 <= int(word) <= len(choices):
            word = choices[int(word) - 1].name
        if not word:
            continue
        try:
            accept(word)
        except TakifuguError as error:
            complain(error.message)
        else:
            return word


def _on_a_line(name: str) -> str:
    return visible(name).replace("\n", "\\n")


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
