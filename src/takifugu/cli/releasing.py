"""`compare`, `calibrate` and `release`: read, run, print."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import click

from takifugu.cli.advice import counting_what_is_left_out
from takifugu.cli.output import amount, noticed, print_json, with_answers
from takifugu.cli.progress import watching
from takifugu.cli.terminal import only_seen
from takifugu.core.errors import ReleaseState
from takifugu.core.escaping import visible
from takifugu.core.plain import Json, Row
from takifugu.core.text.bars import bars, common_error
from takifugu.core.text.tables import paragraph
from takifugu.releasing.advice.leaving_out import in_place_of_good
from takifugu.releasing.certificates.cells import POSSIBLE, READABLE, UPPER, Rows
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning import plan
from takifugu.releasing.postprocess.readable import in_words
from takifugu.releasing.publishing import run
from takifugu.releasing.publishing.choosing import Choice, folder_of
from takifugu.releasing.publishing.every_window import windows_files
from takifugu.releasing.publishing.progress import Progress
from takifugu.releasing.report.document import verdict_words
from takifugu.releasing.report.opening import suspicion_of, which_to_quote
from takifugu.releasing.report.outcomes import Outcome, Published, already
from takifugu.releasing.report.values import error_words

LEGEND = (
    "A bar goes from 0 (│ where values below 0 are drawn, too) to the noisy value. The true value lies where ▓ and ░ "
    "are, with probability 95 % (all values of a table at once, over the noise alone; this is not sampling error)."
)
#: Said where a row is.
NOISE = "What is called noise is smaller than its error: do not tell it from 0."
IMPOSSIBLE = "What is called impossible lies outside what the true value can be: noise put it there."
#: How much is printed: units, cells of each, and cells with words ("safe") that are not only counted.
_DRAWN_UNITS, _DRAWN_CELLS, _LISTED_WORDS = 12, 60, 12
#: What stands for all numbers where words are counted.
_A_NUMBER = "with an upper value"
#: The table, its certificate twice, its report: the first of its files.
_FOR_PEOPLE = 4


def publish(
    file: Path, output: Path | None, wanted: Choice, as_json: bool, new_ledger: bool, anyway: bool, window: str | None,
    yes: bool,
) -> None:  # fmt: skip
    progress = Progress()
    with progress.telling():  # to the end: a message that nobody could read does not undo what was published
        # whoever interrupts does not want to publish
        with counting_what_is_left_out(file, window), watching(stops=False) as watch:
            spec = load(file, window=window)
            planned = run.planned_for(spec, folder_of(spec, output), wanted, new_ledger, anyway, watch)
        with watching(stops=False) as watch, noticed() as notices:
            watch("paying, drawing and writing", 0, 1)
            left_out = in_place_of_good(planned.file, only_seen())

            def pay(choice: Choice) -> Outcome:
                return run.publish(
                    planned, output, progress=progress, new_ledger=new_ledger, anyway=anyway, wanted=choice
                )

            outcome = with_answers(pay, wanted, yes)
        if as_json:
            print_json("release", file, {**outcome_of(outcome), "notices": notices})
            return
        print_outcome(outcome, planned, left_out)


def print_outcome(outcome: Outcome, planned: plan.Plan, left_out: str | None = None) -> None:
    """Print what was published; `left_out` stands in the place of "good", if not what the report has there."""
    if outcome.new:
        print_tables(outcome.new, left_out)
    if outcome.there:
        click.echo(paragraph(f"already published: {already(outcome.there)}"))
    paid = outcome.reservation
    spent = paid.spent.spent_by(paid.source, paid.budget or paid.spent)
    if planned.file.source.budget is None:
        spent = f"{spent}. No budget was declared in the file: it is what the first release cost, or was set since"
    click.echo(paragraph(spent))
    if outcome.completed is not None:
        click.echo(paragraph(completed(outcome.completed)))


def print_tables(tables: Sequence[Published], left_out: str | None = None) -> None:
    """Print the values of tables, what they hide, and their files."""
    for table in tables:
        click.echo(paragraph(table.title))
        for words in table.certificate.doubts:
            click.echo(paragraph(f"{words}."))
        if verdict := verdict_words(table, left_out):
            click.echo(paragraph(verdict))
        if isinstance(table.rows, Rows):
            click.echo(paragraph(f"{len(table.rows):,} randomised values, in {table.name}.csv"))
        else:
            _print_rows(table, table.rows)
        if table.estimate_words:
            click.echo(paragraph(f"{table.estimate_words}."))
        _print_privacy(table)
        click.echo()
    adjusting = dict.fromkeys(chain.from_iterable(table.certificate.adjusting for table in tables))
    for words in adjusting:
        click.echo(paragraph(words))
    if adjusting:
        click.echo()
    row_lists = (table.rows for table in tables if not isinstance(table.rows, Rows))
    drawn = [row for row in chain.from_iterable(row_lists) if row["high"] is not None]
    if drawn:
        marks = [(READABLE, NOISE), (POSSIBLE, IMPOSSIBLE)]
        said = [sentence for key, sentence in marks if any(row.get(key) is False for row in drawn)]
        click.echo(f"{paragraph(' '.join([LEGEND, *said]))}\n")
    _print_files(tables)


def _print_privacy(table: Published) -> None:
    """Say how well a table hides, what it does not hide, and what to check."""
    window, lines = table.certificate.window, [suspicion_of(table)]
    if window is not None and window.not_hidden_in_short:
        lines.append(f"Not hidden: {window.not_hidden_in_short}.")
    lines += [f"Check: {words}." for words in table.certificate.checks]
    said = list(map(paragraph, filter(None, lines)))
    if said:
        click.echo("\n".join(["", *said]))


def _print_files(tables: Sequence[Published]) -> None:
    """List the written files, and how a certificate is read."""
    first = tables[0].files
    windows = chain.from_iterable(windows_files(first[0].parent, table.certificate) for table in tables)
    lines = list[str]()
    for table in tables:
        lines += [f"  {path.name}" for path in table.files[:_FOR_PEOPLE]]
        ends = [path.name.removeprefix(table.name) for path in table.files[_FOR_PEOPLE:]]
        if ends:  # those for programs, on one line
            lines.append(f"  {table.name}{', '.join(ends)}")
    lines += [f"  {name}" for name in dict.fromkeys(path.name for path in windows)]
    click.echo(visible("\n".join([f"written to {first[0].parent}:", *lines])))
    click.echo()
    click.echo(f"takifugu verify {visible(shlex.quote(str(first[1])))}\nsays what is promised.\n")


def _print_rows(table: Published, rows: Sequence[Row]) -> None:
    """Print the bars of a table, unit by unit."""
    readable = [row for row in rows if row["high"] is not None]
    error = common_error(readable)
    if error is not None:
        words = error_words(error, len(readable), table.certificate.measured_in or "")
        click.echo(paragraph(f"{words}{which_to_quote(table)}"))
    longest = max((float(row["high"]) for row in readable), default=0.0)
    lowest = min((float(row["low"]) for row in readable), default=0.0)
    units = list(dict.fromkeys(row.get("unit") for row in rows))
    for unit in units[:_DRAWN_UNITS]:
        if unit is not None:
            click.echo(f"\n  {unit}")
        rows_of_unit = [row for row in rows if row.get("unit") == unit]
        if len(rows_of_unit) > _LISTED_WORDS and any(isinstance(_published(row), str) for row in rows_of_unit):
            click.echo(paragraph(f"{_counted(rows_of_unit)}; all are in {table.name}.csv"))
            continue
        first_rows = list(map(dict, rows_of_unit[:_DRAWN_CELLS]))
        for row in first_rows:
            if UPPER in row:
                row["value"] = in_words(row)
        click.echo("\n".join(bars(first_rows, longest, lowest=lowest, error=error)))
        if len(rows_of_unit) > _DRAWN_CELLS:
            click.echo(paragraph(f"and {len(rows_of_unit) - _DRAWN_CELLS:,} more cells, in the table"))
    if len(units) > _DRAWN_UNITS:
        more = f"{len(units) - _DRAWN_UNITS} more {table.certificate.people.many}"
        click.echo(f"\n  and {more}, in the table")


def _published(row: Row) -> object:
    return row[UPPER] if UPPER in row else row["value"]


def _counted(rows: Sequence[Row]) -> str:
    """Count the published numbers, and words such as "safe"."""
    counts = Counter(value if isinstance(value, str) else _A_NUMBER for value in map(_published, rows))
    said = ", ".join(f"{many:,} {word}" for word, many in counts.most_common(_LISTED_WORDS))
    more = len(counts) - _LISTED_WORDS
    if more > 0:
        said += f", and {more:,} other words"
    return f"of {len(rows):,}: {said}"


def completed(since: str) -> str:
    """Report an earlier payment, at the ledger's time in UTC."""
    when = since[:16].replace("T", " ")
    return f"completed the release of {when} UTC, which was paid for then"


def outcome_of(outcome: Outcome) -> Json:
    paid = outcome.reservation
    return {
        "source": paid.source, "spent": amount(paid.spent), "budget": amount(paid.budget),
        "state": str(ReleaseState.DONE), "completed": outcome.completed, "tables": tables_of(outcome.tables),
    }  # fmt: skip


def tables_of(published: Sequence[Published]) -> list[Json]:
    """Return published tables for JSON."""
    tables = list[Json]()
    for table in published:
        if isinstance(table.rows, Rows):
            values: Json = {"sent": len(table.rows)}
        else:
            values = {"rows": list(map(dict, table.rows))}
        tables.append({
            "name": table.name, "scope": table.scope, "since": table.since, **values,
            "files": list(map(str, table.files)), "certificate": table.certificate.to_dict(),
        })  # fmt: skip
    return tables
