"""Are these the same entries? Asked on a terminal where a source is read otherwise than before, never answered here."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

import click

from takifugu.cli.group import complain
from takifugu.cli.terminal import can_ask
from takifugu.core.errors import ReadingChanged
from takifugu.core.escaping import command

T = TypeVar("T")


def with_answer(step: Callable[[bool | None], T], same_entries: bool | None, *words: object) -> T:
    """Return what a step gives with an answer, which is asked for where the step needs one.

    Where nobody can answer, the error names the command to paste, which begins with `words`.
    """
    try:
        return step(same_entries)
    except ReadingChanged as changed:
        question = changed
    if can_ask():
        complain(f"{question.message}\n(the same / others / Enter for neither)", "yellow")
        click.echo("the same entries: ", nl=False, err=True)
        answer = _ANSWERS.get(sys.stdin.readline().strip().casefold())
        if answer is not None:
            return step(answer)
    question.fix += f"\nrun {command(*words, '--same-entries')}, or the same with --other-entries"
    raise question


_ANSWERS = {"same": True, "the same": True, "yes": True, "others": False, "other": False, "no": False}
