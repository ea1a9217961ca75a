"""`session`: questions, a few questions a call."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from takifugu.cli.group import refuse
from takifugu.cli.output import amount, counted, noticed, print_json, with_answers
from takifugu.cli.progress import watching
from takifugu.core.plain import Json
from takifugu.core.text.tables import paragraph, text_table
from takifugu.mechanisms.one_sided.sparse import SAFE
from takifugu.releasing.file.loading import load
from takifugu.releasing.publishing.choosing import Choice
from takifugu.releasing.publishing.progress import Progress
from takifugu.releasing.publishing.session import Transcript, chosen
from takifugu.releasing.publishing.session import ask as ask_session


def session(
    file: Path, places: tuple[str, ...], at_most: str | None, only: str | None, is_last: bool,
    same_entries: str, other_entries: bool, yes: bool, window: str | None,
) -> None:  # fmt: skip
    progress = Progress()
    with progress.telling():  # to the end: what nobody could read is answered
        with watching(stops=False) as watch, noticed() as notices:
            spec = chosen(load(file, window=window), only)
            going_on = partial(ask_session, spec, places, at_most, is_last, watch=watch, progress=progress)

            wanted = Choice(same_entries=same_entries, other_entries=other_entries)
            transcript = with_answers(lambda choice: going_on(choice=choice), wanted, yes)
        if not print_json({**_plain(transcript), "notices": notices}):
            if transcript.replies:
                rows = list[list[str]]()
                for reply in transcript.replies:
                    answer = reply.value
                    if not isinstance(answer, str):
                        answer = f"{answer:,}"
                    rows.append([reply.question.place, f"{reply.question.at_most:,}", answer])
                click.echo(text_table(["place", "at most", "answer"], rows))
            click.echo(paragraph(f"{transcript.name}: {_left(transcript)}"))
            if transcript.paid is None:
                click.echo(paragraph("Nothing is paid yet: the first question pays for all."))
            elif transcript.table is not None:
                folder = transcript.table.files[0].parent
                click.echo(paragraph(f"written to {folder}: {transcript.name}.csv, with its certificate"))
    if transcript.unanswered:
        refuse([f"the session has ended, and is silent about {', '.join(transcript.unanswered)}"])


def _left(transcript: Transcript) -> str:
    """Say what is left of a session."""
    if transcript.has_ended:
        return "the session has ended"
    terms = transcript.terms
    places = counted(len(terms.thresholds) - len(transcript.replies), "place")
    values = terms.values_left(transcript.replies)
    if values is None:
        return f"{places} may still be asked about"
    return f"{places} may still be asked about, until {counted(values, 'more number')} came out"


def _plain(transcript: Transcript) -> Json:
    answers = list[Json]()
    for reply in transcript.replies:
        value = None if isinstance(reply.value, str) else reply.value
        place, at_most = reply.question.place, reply.question.at_most
        answers.append({"place": place, "at_most": at_most, "is_safe": reply.value == SAFE, "value": value})
    paid, table = transcript.paid, transcript.table
    return {
        "session": transcript.name,
        "answers": answers,
        "not_answered": [*transcript.unanswered],
        "numbers_left": transcript.terms.values_left(transcript.replies),
        "has_ended": transcript.has_ended,
        "spent": None if paid is None else amount(paid.spent),
        "budget": None if paid is None else amount(paid.budget),
        "files": [] if table is None else list(map(str, table.files)),
        "certificate": None if table is None else table.certificate.to_dict(),
    }
