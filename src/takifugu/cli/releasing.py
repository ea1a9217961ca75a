"""`release`: read, run, print."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, repeat
from pathlib import Path

import click

from takifugu.cli.advice import counting_what_is_left_out
from takifugu.cli.group import complain
from takifugu.cli.output import amount, noticed, print_json, wants_json, with_answers
from takifugu.cli.progress import watching
from takifugu.cli.terminal import only_seen
from takifugu.core.errors import ReleaseState
from takifugu.core.escaping import command, visible
from takifugu.core.plain import Json, Row
from takifugu.core.text.bars import bars, common_error, relative_error
from takifugu.core.text.tables import labelled, paragraph, width
from takifugu.core.tracebacks import place_of
from takifugu.releasing.advice.leaving_out import in_place_of_good
from takifugu.releasing.certificates.cells import POSSIBLE, READABLE, UPPER, Rows
from takifugu.releasing.certificates.files import PAGE, REPORT
from takifugu.releasing.certificates.wording import about
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning import plan
from takifugu.releasing.postprocess.readability import exact_word
from takifugu.releasing.postprocess.readable import in_words
from takifugu.releasing.publishing import run
from takifugu.releasing.publishing.choosing import Choice, folder_of
from takifugu.releasing.publishing.every_window import windows_files
from takifugu.releasing.publishing.progress import Progress
from takifugu.releasing.report.outcomes import Outcome, already
from takifugu.releasing.report.privacy import privacy_of
from takifugu.releasing.report.published import Published, accuracy

#: What the bars and marks of a table mean; the second where a mark is there.
WHERE = "▓░ where the exact {exact} lies"
NOT_ZERO, TOO_ROUGH = "~0 cannot be told from 0", "~ the error is larger than what matters"
SMALL = "±% the error of a small value, in percent of it"
IMPOSSIBLE = "impossible: no exact {exact} can be there"
#: How much is printed: rows of a table, and cells with words ("safe") that are not only counted.
_DRAWN_ROWS, _MOST_ROWS, _LISTED_WORDS = 8, 12, 12
#: What stands for all numbers where words are counted.
_A_NUMBER = "with an upper value"
#: The files of a table that are named, by the ends of their names.
_NAMED = (REPORT, PAGE)
_LABEL = 10


def publish(
    file: Path, output: Path | None, wanted: Choice, new_ledger: bool, allow_useless: bool,
    window: str | None, yes: bool,
) -> None:  # fmt: skip
    progress = Progress()
    with progress.telling():  # to the end: a message that nobody could read does not undo what was published
        # whoever interrupts does not want to publish
        with counting_what_is_left_out(file, window), watching(stops=False) as watch:
            spec = load(file, window=window)
            planned = run.planned_for(spec, folder_of(spec, output), wanted, new_ledger, allow_useless, watch)
        with watching(stops=False) as watch, noticed() as notices:
            watch("paying, drawing and writing", 0, 1)
            left_out = in_place_of_good(planned.file, only_seen())

            def pay(choice: Choice) -> Outcome:
                return run.publish(
                    planned, output, progress=progress, new_ledger=new_ledger, allow_useless=allow_useless,
                    wanted=choice,
                )

            outcome = with_answers(pay, wanted, yes)
        if wants_json():
            print_json({**outcome_of(outcome), "notices": notices})
        else:
            print_outcome(outcome, planned, left_out)


def print_outcome(outcome: Outcome, planned: plan.Plan, left_out: str | None = None) -> None:
    """Print what was published; `left_out` stands in the place of "good", if not what the report has there."""
    print_tables(outcome.new, left_out)
    if outcome.there:
        click.echo(paragraph(f"already published: {already(outcome, planned.file.path)}"))
    account = [("Budget", _budget(outcome, planned))]
    if outcome.completed is not None:
        when = outcome.completed[:16].replace("T", " ")  # the ledger's time, in UTC
        account.append(("Completed", f"completed the release of {when} UTC, which was paid for then"))
    click.echo(labelled([(f"{label:<{_LABEL - 2}}", words) for label, words in account]))
    if outcome.new:
        print_files(outcome.new)


def print_tables(tables: Sequence[Published], left_out: str | None = None) -> None:
    """Print tables one after the other, and how values were adjusted."""
    for table in tables:
        try:
            _print_table(table, left_out)
        # it is published all the same, and said to be; where nobody has paid, it fails
        except Exception as error:
            if isinstance(error, OSError) or table.certificate.rehearsal is not None:
                raise
            complain(f"{table.name} is published, and cannot be shown here: {place_of(error)}")
    for words in dict.fromkeys(chain.from_iterable(table.certificate.adjusting for table in tables)):
        click.echo(f"{paragraph(words)}\n")


def print_files(tables: Sequence[Published]) -> None:
    """Print where the files of tables are, and the command that opens a report."""
    for label, words in zip(chain(["Files"], repeat("")), _files(tables), strict=False):
        click.echo(visible(f"{label:<{_LABEL}}{words}"))  # a path is copied as it is
    click.echo(f"{'Next':<{_LABEL}}{command('report', tables[0].files[0].parent).strip('`')}")


def _budget(outcome: Outcome, planned: plan.Plan) -> str:
    """Say how much of the budget is spent, and for whom."""
    paid = outcome.reservation
    spent, budget = paid.spent.with_budget(paid.budget)
    scope = {table.certificate.scope for table in outcome.tables}
    whose = "for the whole source" if scope == {"all"} else f"for each {outcome.tables[0].certificate.person}"
    words = f"{spent} of {budget.removeprefix('epsilon ')} spent {whose} ({paid.source!r})"
    if planned.file.source.budget is None:
        words = f"{words}. No budget was declared in the file: it is what the first release cost, or was set since"
    return words


def _print_table(table: Published, left_out: str | None) -> None:
    """Print a table: its title, how accurate it is, its rows, and what is private."""
    c = table.certificate
    name = f"{table.name}: {c.title}" if c.title else table.name
    click.echo(click.style(visible(f"Published {name}"), bold=True))
    click.echo(f"{paragraph(about(c))}\n")
    verdict, *sentences = accuracy(table, left_out) or [""]
    if len(verdict) < _LABEL * 2 and sentences:  # a verdict alone stands before its error
        verdict = f"{verdict} {sentences.pop(0)}"
    for words in filter(None, [verdict, *sentences]):
        click.echo(paragraph(words))
    if isinstance(table.rows, Rows):
        click.echo(paragraph(f"{len(table.rows):,} randomised values, in {table.name}.csv"))
    else:
        click.echo()
        _print_rows(table, table.rows)
    if table.estimate_words:
        click.echo(paragraph(f"{table.estimate_words}."))
    click.echo("\nPrivacy")
    click.echo(labelled([(f"  {label}", words) for label, words in privacy_of(c).lines]))
    click.echo()


def _files(tables: Sequence[Published]) -> Iterator[str]:
    """Name the files of each table that people read, and count the others."""
    folder = tables[0].files[0].parent
    windows = dict.fromkeys(chain.from_iterable(windows_files(folder, table.certificate) for table in tables))
    for table in tables:
        named = [end for end in _NAMED if any(path.name == f"{table.name}{end}" for path in table.files)]
        more, path = len(table.files) - len(named) - 1, str(table.files[0])
        others = ", ".join(named) + (f" and {more} more" if more > 0 else "")
        if others and _LABEL + len(path) + len(others) + 2 <= width():
            yield f"{path}, {others}"
        else:
            yield from filter(None, [path, others])
    yield from map(str, windows)


def _print_rows(table: Published, rows: Sequence[Row]) -> None:
    """Print the first rows of a table as bars, unit by unit."""
    readable = [row for row in rows if row["high"] is not None]
    error, exact = common_error(readable), exact_word(table.certificate.query)
    longest = max((float(row["high"]) for row in readable), default=0.0)
    lowest = min((float(row["low"]) for row in readable), default=0.0)
    if len(rows) > _LISTED_WORDS and any(isinstance(_published(row), str) for row in rows):
        click.echo(paragraph(f"{_counted(rows)}; all are in {table.name}.csv"))
        return
    drawn = [dict(row) for row in rows[: _DRAWN_ROWS if len(rows) > _MOST_ROWS else _MOST_ROWS]]
    for row in drawn:
        if UPPER in row:
            row["value"] = in_words(row)
        is_rough = exact == "value" and row.get(READABLE) is False
        if is_rough and not float(row["low"]) < 0 < float(row["high"]):  # it is told from 0
            row["mark"] = "~"
    units = dict.fromkeys(row.get("unit") for row in drawn)
    if None not in units and len({row["cell"] for row in rows}) == 1:  # one value for each
        drawn, units = [{**row, "cell": row["unit"], "unit": None} for row in drawn], {None: None}
    for number, unit in enumerate(units):
        if unit is not None:
            click.echo(f"\n  {unit}" if number else f"  {unit}")
        of_unit = [row for row in drawn if row.get("unit") == unit]
        click.echo("\n".join(bars(of_unit, longest, lowest=lowest, error=error)))
    if len(rows) > len(drawn):
        click.echo(f"... ({len(rows) - len(drawn):,} more rows)")
    if readable:
        click.echo(paragraph("    ".join(_legend(drawn, exact, error is not None))))


def _legend(rows: Sequence[Row], exact: str, has_one_error: bool) -> Iterator[str]:
    """Yield what bars and marks mean, as far as they are there."""
    yield WHERE.format(exact=exact)
    rough = [row for row in rows if row.get(READABLE) is False]
    if any("mark" not in row for row in rough):
        yield NOT_ZERO
    if any("mark" in row for row in rough):
        yield TOO_ROUGH
    if has_one_error and any(map(relative_error, rows)):
        yield SMALL
    if any(row.get(POSSIBLE) is False for row in rows):
        yield IMPOSSIBLE.format(exact=exact)


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
