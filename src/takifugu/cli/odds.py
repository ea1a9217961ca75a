"""`odds`: what a promise means for a suspicion, and the picture of it; what published guarantees of a day are worth."""

from __future__ import annotations

from pathlib import Path

import click

from takifugu.accounting.suspicion import Suspicion, explain, factor_words, odds, percent
from takifugu.cli.output import print_json, write_picture
from takifugu.core.assumptions import sentence
from takifugu.core.escaping import at_most, promised
from takifugu.core.plain import Json
from takifugu.core.text.curves import Line, line_chart
from takifugu.core.text.scales import Axis
from takifugu.core.text.tables import paragraph, text_table

_PRIORS = [i / 200 for i in range(1, 200)]
#: Guarantees of one event of a person, as published: what it is, whose words, the event, and its epsilon.
_DEPLOYMENTS = (
    ("Google, Community Mobility Reports", "Aktay et al. 2020", "day", "2.64"),
    ("Facebook, Movement Range Maps", "Herdagdelen et al. 2020", "day", "2"),
    ("Google, COVID-19 Search Trends", "Bavadekar et al. 2020", "day", "1.68"),
    ("Microsoft, telemetry of Windows", "Ding et al. 2017", "6 hours", "1.672"),
    ("Wikimedia, historical page views", "Adeleye et al. 2023", "contribution", "1"),
)
#: How probably an event has the value of the event before.
_SIMILAR = ("0.5", "0.8", "0.9", "0.95", "0.99")


def show(prior: str, epsilon: str, delta: str, deployments: bool, svg: Path | None, force: bool) -> None:
    if deployments:
        if svg is not None:
            raise click.UsageError("--deployments has no picture: leave --output out")
        _price_deployments()
        return
    meaning = explain(prior, epsilon, delta)
    if svg is not None:
        write_picture(svg, _picture(meaning), force)
    if not print_json(meaning.to_dict()):
        _print(meaning)


def _price_deployments() -> None:
    """Print what guarantees of one event lose where the events of a person resemble each other."""
    from takifugu.calibration.event_level import event_level_loss

    lines, priced = list[list[str]](), list[Json]()
    for name, source, event, epsilon in _DEPLOYMENTS:
        losses = {similarity: event_level_loss(epsilon, similarity) for similarity in _SIMILAR[1:]}
        lines.append([name, event, epsilon, *(at_most(loss, digits=4) for loss in losses.values())])
        priced.append({"name": name, "source": source, "event": event, "epsilon": float(epsilon), "losses": losses})
    if print_json({"deployments": priced}):
        return
    header = ["published guarantee", "event", *(f"{float(similarity):.0%}" for similarity in _SIMILAR)]
    click.echo(f"{text_table(header, lines)}\n")
    click.echo(paragraph(
        "Each column: the loss of one event if it is like the event before with that probability, for any number of "
        "events; at 50 % they are independent. It holds for a yes-or-no fact of one person that all of the epsilon "
        "concerns, with yes and no equally likely at first (tf.event_level_loss)."
    ))  # fmt: skip
    click.echo(paragraph(f"Published in: {'; '.join(f'{row[0]}, {row[1]}' for row in _DEPLOYMENTS)}."))


def _print(meaning: Suspicion) -> None:
    promise = promised(meaning.epsilon, meaning.delta)
    click.echo(f"{paragraph(f'A promise of {promise}: {factor_words(meaning)}.')}\n")
    rows = [
        ["before", percent(meaning.prior, up=True), odds(meaning.prior, up=True)],
        ["after, at most", percent(meaning.high, up=True), odds(meaning.high, up=True)],
        ["after, at least", percent(meaning.low, up=False), odds(meaning.low, up=False)],
    ]
    click.echo(f"{text_table(['how sure of something hidden', '', 'odds'], rows)}\n")
    before, after = percent(meaning.right_before, up=True), percent(meaning.right, up=True)
    guess = f"{after} of all cases, with or without what is published"
    if after != before:
        guess = f"at most {after} of all cases, and in {before} without what is published"
    click.echo(paragraph(
        f"In words: whoever is {percent(meaning.prior, up=True)} sure of something hidden, before anything is "
        f"published, is between {percent(meaning.low, up=False)} and {percent(meaning.high, up=True)} sure afterwards, "
        f"{meaning.exception[2:] or 'whatever comes out'}. The best guess at the hidden fact is right in {guess}. All "
        "this holds for the beliefs and the hidden facts that a release file names, and for no others."
    ))  # fmt: skip
    if meaning.hides_little:
        click.echo(f"\n{paragraph(sentence(meaning.hides_little))}")
    if meaning.beyond:
        exception = "Delta is the exception: with a small probability one becomes surer than that."
        click.echo(f"\n{paragraph(exception)}\n")
        lines = list[list[str]]()
        for case in meaning.beyond:
            becomes = "certain" if case.high == 1 else f"surer than {percent(case.high, up=True)}"
            lines.append([becomes, at_most(case.probability, digits=2)])
        click.echo(text_table(["one becomes", "with a probability of at most"], lines))


def _picture(meaning: Suspicion) -> str:
    curves = [explain(p, meaning.epsilon, meaning.delta) for p in _PRIORS]
    lines = [
        Line("at most", [(100 * c.prior, 100 * c.high) for c in curves]),
        Line("at least", [(100 * c.prior, 100 * c.low) for c in curves]),
        Line("unchanged", [(0, 0), (100, 100)]),
    ]
    title = f"How sure somebody can become, epsilon {at_most(meaning.epsilon)}{meaning.exception}"
    marks = [(100 * meaning.prior, percent(meaning.prior, up=True))]
    how = f"takifugu odds --epsilon {meaning.epsilon:g}"
    return line_chart(lines, Axis("sure before, per cent"), Axis("sure after, per cent"), title, how, marks)
