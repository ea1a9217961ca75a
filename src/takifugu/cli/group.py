"""The group that all commands belong to: its order, its exit codes, and errors as lines instead of tracebacks."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Any

import click

from takifugu.errors import (
    BudgetExceeded,
    CalibrationRefused,
    CompositionRefused,
    SpecError,
    TakifuguError,
    Unsupported,
)

DONE, REFUSED, BAD_INPUT, FAULT, STOPPED = 0, 1, 2, 3, 130
_REFUSALS = (BudgetExceeded, CalibrationRefused, CompositionRefused, Unsupported)


class InOrder(click.Group):
    """Lists its commands in the order in which they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


class Careful(InOrder):
    """Turns errors into lines on stderr and an exit code; never a traceback, which could show data."""

    def invoke(self, ctx: click.Context) -> Any:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")  # a terminal without █ must not stop a release half-way
        if os.environ.get("NO_COLOR"):
            ctx.color = False
        try:
            return super().invoke(ctx)
        except TakifuguError as error:
            lines = error.problems if isinstance(error, SpecError) else (str(error),)
            for line in lines:
                _complain(line)
            ctx.exit(REFUSED if isinstance(error, _REFUSALS) else BAD_INPUT)
        except KeyboardInterrupt:
            _complain("stopped; what the ledger had reserved counts as spent, and nothing more was published")
            ctx.exit(STOPPED)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except Exception as error:
            _complain(_fault(error))
            ctx.exit(FAULT)


def _complain(line: str) -> None:
    click.echo(f"{click.style('takifugu:', fg='red')} {line}", err=True)


def _fault(error: Exception) -> str:
    """Name the place of a fault of ours; its message is left out, because it could hold data."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = "" if trace is None else f" at {Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
    return f"a fault of Takifugu itself ({type(error).__name__}{where}); please report it. Nothing more was published"
