"""The command line: one group, commands that import what they need only when they run."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import click

from takifugu._version import __version__
from takifugu.errors import (
    BudgetExceeded,
    CalibrationRefused,
    CompositionRefused,
    SpecError,
    TakifuguError,
    Unsupported,
)

DONE, REFUSED, BAD_INPUT, FAULT = 0, 1, 2, 3
_REFUSALS = (BudgetExceeded, CalibrationRefused, CompositionRefused, Unsupported)


class _Careful(click.Group):
    """Turns errors into lines on stderr and an exit code; never a traceback, which could show data."""

    def invoke(self, ctx: click.Context) -> Any:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")  # a terminal without █ must not stop a release half-way
        try:
            return super().invoke(ctx)
        except TakifuguError as error:
            lines = error.problems if isinstance(error, SpecError) else (str(error),)
            for line in lines:
                click.echo(f"takifugu: {line}", err=True)
            ctx.exit(REFUSED if isinstance(error, _REFUSALS) else BAD_INPUT)
        except (click.ClickException, click.exceptions.Exit, click.Abort, KeyboardInterrupt, BrokenPipeError):
            raise
        except Exception as error:
            click.echo(f"takifugu: {_fault(error)}", err=True)
            ctx.exit(FAULT)


def _fault(error: Exception) -> str:
    """Name the place of a fault of ours; its message is left out, because it could hold data."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = "" if trace is None else f" at {Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
    return f"a fault of Takifugu itself ({type(error).__name__}{where}); please report it. Nothing more was published"


@click.group(cls=_Careful, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80})
@click.version_option(__version__, prog_name="takifugu")
def main() -> None:
    """Publish statistics about correlated data and keep named things about it secret.

    A release file (TOML) says where the data is, what an adversary may believe, what is hidden and what is published.

    Exit codes: 0 done, 1 refused (budget, composition, no mechanism), 2 bad input, 3 a fault of Takifugu itself.
    """


_FILE = click.argument("file", type=click.Path(path_type=Path))
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON with stable keys instead of tables.")


@main.command()
@click.option("--folder", type=click.Path(path_type=Path), help="Keep the sample and what is published here.")
@_JSON
def demo(folder: Path | None, as_json: bool) -> None:
    """Run a release on a made-up sample."""
    import takifugu.cli.commands as commands

    commands.demo(folder, as_json)


@main.command()
@_FILE
@_JSON
def calibrate(file: Path, as_json: bool) -> None:
    """Show how much noise FILE needs.

    For each table: the mechanism that is taken, its scale and expected error, and what forced it. Publishes nothing.
    """
    import takifugu.cli.commands as commands

    commands.calibrate(file, as_json)


@main.command()
@_FILE
@_JSON
def compare(file: Path, as_json: bool) -> None:
    """Show all mechanisms side by side.

    For each table of FILE: the noise each mechanism would add, and why some do not apply. Publishes nothing.
    """
    import takifugu.cli.commands as commands

    commands.compare(file, as_json)


@main.command()
@_FILE
@click.option("--output", type=click.Path(path_type=Path), help="The folder to write into, instead of FILE's own.")
@click.option("--force", is_flag=True, help="Overwrite what was published there before.")
@_JSON
def release(file: Path, output: Path | None, force: bool, as_json: bool) -> None:
    """Publish what FILE says.

    Reserves the budget in the ledger, draws the noise, and writes tables and certificates, in this order.
    """
    import takifugu.cli.commands as commands

    commands.release(file, output, force, as_json)


@main.group()
def ledger() -> None:
    """Look into a ledger."""


@ledger.command()
@click.argument("ledger_file", metavar="LEDGER", type=click.Path(path_type=Path))
@_JSON
def show(ledger_file: Path, as_json: bool) -> None:
    """Show what each source has spent."""
    import takifugu.cli.commands as commands

    commands.ledger_show(ledger_file, as_json)


@main.command()
def schema() -> None:
    """Print the JSON Schema of a release file."""
    import takifugu.cli.commands as commands

    commands.schema()
