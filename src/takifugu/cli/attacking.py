"""`attack`: what a reader becomes, step by step, under Takifugu's noise, ordinary noise and group noise."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from takifugu.accounting.suspicion import odds, percent
from takifugu.cli.output import print_json
from takifugu.cli.progress import watching
from takifugu.core.escaping import number, power_at_most
from takifugu.core.text.tables import paragraph, text_table
from takifugu.releasing import attacking

_WORST = ("noise", "scale", "worst step: before → after", "in odds", "outside")
_AVERAGE = ("noise", "the truth, on average", "in odds", "right guesses")


def attack(file: Path, seed: int, steps: int | None, only: str | None, window: str | None) -> None:
    with watching() as watch:
        found = attacking.attack(file, seed, steps, only, window, watch)
    if print_json(found.to_dict()):
        return
    click.echo(f"{paragraph(f'{found.words} {_promise(found)}')}\n")
    worst, average = list[list[str]](), list[list[str]]()
    for each in found.noises:
        seen, of_step = each.learnt, each.learnt.worst
        changed = f"{of_step.step}: {_arrow(percent, of_step.before, of_step.after)}"
        outside = f"{seen.outside:,} of {seen.steps:,}"
        worst.append([each.noise, number(each.scale), changed, _arrow(odds, of_step.before, of_step.after), outside])
        guesses = f"{seen.right_before:,} → {seen.right:,} of {seen.steps:,}"
        truth = seen.truth_before, seen.truth
        average.append([each.noise, _arrow(percent, *truth), _arrow(odds, *truth), guesses])
    click.echo(f"{text_table(_WORST, worst)}\n\n{text_table(_AVERAGE, average)}")


def _promise(found: attacking.Attack) -> str:
    """Say what was promised, and of what it is said."""
    runs = f" Runs of {found.run:,} steps are secret, and with them each of their steps." if found.run > 1 else ""
    others = f" Of {1 + len(found.others)} tables this is the first: see --only." if found.others else ""
    return (
        f"A reader of {found.table!r} knows all others' data. The odds of two states at a step may change by a factor "
        f"of at most {power_at_most(found.epsilon, digits=3)}.{runs}{others}"
    )


def _arrow(words: Callable[[float, bool], str], before: float, after: float) -> str:
    return f"{words(before, True)} → {words(after, True)}"
