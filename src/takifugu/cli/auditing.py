"""`audit`: the true loss of each table beside its promise, and whether what is drawn follows the declared law."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import click

from takifugu.cli.group import FAULT, refuse
from takifugu.cli.output import counted, heading, print_json
from takifugu.cli.progress import watching
from takifugu.core.escaping import at_most
from takifugu.core.text.tables import paragraph
from takifugu.releasing.auditing import UNLIKELY, Audited, of_certificate, of_file
from takifugu.releasing.certificates.checksum import read_certificate
from takifugu.releasing.file.loading import load

#: What is said after the answers: what an audit can and cannot show.
LIMITS = (
    "The audit takes every joint state of the belief and every output that matters, and uses nothing of the "
    "calibration. It takes the belief, the secret and the noise as they are declared: whether the belief is true of "
    "anybody's data it cannot show. Columns of numbers are taken as they were before they are rounded or clipped."
)


def audit(file: Path, draws: int) -> None:
    with watching() as watch:
        if file.suffix == ".json":
            answers = list(of_certificate(read_certificate(file), draws))
        else:
            answers = list(of_file(load(file, first=True), draws, watch))
    if not print_json({"answers": [answer.to_dict() for answer in answers], "limits": LIMITS}):
        for answer in answers:
            _print(answer)
        click.echo(f"\n{paragraph(LIMITS)}")
    faults = list[str]()
    for answer in answers:
        fault = "gives away more than it promises" if answer.verdict == "broken" else "is not drawn as it declares"
        if answer.is_faulty:
            faults.append(f"{_name(answer)} {fault}; publish nothing by it, and report it")
    refuse(faults, FAULT)


def _name(answer: Audited) -> str:
    return answer.table if answer.unit is None else f"{answer.table} of {answer.unit!r}"


def _print(answer: Audited) -> None:
    heading(_name(answer))
    promise = f"its noise promises a {answer.measure} of at most {at_most(Fraction(answer.promised))}"
    if answer.audit is None or not answer.audit.comparison:
        why = answer.not_audited if answer.audit is None else answer.audit.left_open
        click.echo(paragraph(f"{promise}. Not audited: {why}"))
    else:
        worst = f"{promise}; it is {at_most(answer.audit.loss)}, at {answer.audit.comparison}: {answer.verdict}"
        left_open = f"; {answer.audit.left_open}" if answer.audit.left_open else ""
        click.echo(paragraph(f"{worst}{left_open}"))
    if answer.fit is not None:
        follow = "do not follow" if answer.fit.p < UNLIKELY else "follow"
        pooled = counted(answer.fit.pooled, "pooled output")
        draws = f"{answer.fit.draws:,} draws {follow} the declared distribution"
        click.echo(paragraph(f"{draws} (G-test of {pooled}, p = {answer.fit.p:.3g})"))
    elif answer.not_drawn:
        click.echo(paragraph(f"Not drawn: {answer.not_drawn}"))
