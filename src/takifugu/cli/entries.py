"""Are these the same entries? Asked on a terminal where a source is read otherwise than before, never answered here."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TypeVar

import click

from takifugu.cli.group import complain
from takifugu.cli.terminal import can_ask
from takifugu.core.errors import ReadingChanged
from takifugu.core.escaping import command

T = TypeVar("T")
#: What may be typed for either answer; everything else is none.
_ANSWERS = {"same": True, "other": False}


def with_answer(step: Callable[[bool | None], T], same_entries: bool | None) -> T:
    """Return what a step gives with an answer, which is asked for where the step needs one.

    Where nobody can answer, or does, the error names the command to paste.
    """
    try:
        return step(same_entries)
    except ReadingChanged as changed:
        question = changed
    if can_ask():
        complain(question.message, "yellow")
        click.echo(f"{' or '.join(_ANSWERS)} entries: ", nl=False, err=True)
        answer = _ANSWERS.get(sys.stdin.readline().strip().casefold())
        if answer is not None:
            return step(answer)
    question.fix += f"\nrun {command(*_typed(), '--same-entries')}, or the same with --other-entries"
    raise question


def _typed() -> Iterator[str]:
    """Yield the words of the command that runs, without what is so by default."""
    context = click.get_current_context()
    yield str(context.info_name)
    for parameter in context.command.params:
        value = context.params.get(str(parameter.name))
        values = list(value) if isinstance(value, tuple) else [value]
        if value in (None, False, ()) or value == parameter.default:
            continue
        for one in values:
            if isinstance(parameter, click.Option):
                yield parameter.opts[-1]
            if one is not True:
                yield str(one)
