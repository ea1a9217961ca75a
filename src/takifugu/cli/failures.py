"""What went wrong as JSON, under `--json`: one document on the standard output, whatever happens."""

from __future__ import annotations

import json
from contextlib import suppress

import click

from takifugu.core.errors import ReleaseState, SpecError, TakifuguError, standing
from takifugu.core.escaping import visible
from takifugu.core.plain import Json

#: What a context of click knows of the run: all that was typed after takifugu, whether JSON was printed, and by which
#: command about which file.
TYPED, PRINTED, COMMAND, FILE = (f"takifugu.{name}" for name in ("typed", "printed", "command", "file"))
FORMAT = "takifugu-cli/1"


def print_failure(context: click.Context, error: BaseException, what: str, code: int) -> None:
    """Print a command's last error as JSON, once and if asked."""
    if "--json" not in context.meta[TYPED] or context.meta.get(PRINTED):
        return
    content = {
        "format": FORMAT,
        "command": context.meta.get(COMMAND, ""),
        "file": context.meta.get(FILE),
        "error": failure(error, what, code),
    }
    with suppress(OSError):  # nobody reads it: the outcome is the same
        click.echo(json.dumps(content, indent=2))


def state_of(error: BaseException) -> ReleaseState:
    """Return the release's state, as noted on the error."""
    state: ReleaseState = getattr(error, "state", ReleaseState.NOTHING)
    return state


def completed_before(error: BaseException) -> tuple[str, ...]:
    """Return the tables of an earlier call, as noted on the error."""
    tables: tuple[str, ...] = vars(error).get("completed", ())
    return tables


def failure(error: BaseException, what: str, code: int) -> Json:
    """Return an error as plain data for JSON."""
    kind = "Fault"
    if isinstance(error, TakifuguError):
        kind = type(error).__name__
    elif isinstance(error, click.ClickException):
        kind = "UsageError"
    elif isinstance(error, KeyboardInterrupt):
        kind = "Stopped"
    faults = list[Json]()
    if isinstance(error, SpecError):
        faults += [_parts(fault, "") for fault in error.faults]
    return {
        **_parts(error, what),
        "kind": kind,
        "exit_code": code,
        "state": str(state_of(error)),
        "standing": visible(standing(error)),
        "published": list(completed_before(error)),
        "faults": faults,
    }


def _parts(error: BaseException, what: str) -> dict[str, str]:
    if isinstance(error, SpecError):
        several = len(error.faults) > 1
        fix = "repair them: each says what to write" if several else "repair it: it says what to write"
        return {"what": "the release file is wrong", "rule": "", "fix": fix, "where": ""}
    if isinstance(error, TakifuguError):
        from takifugu.releasing.file.toml_words import in_toml

        parts = {"what": error.what, "rule": error.rule, "fix": error.fix, "where": error.place}
        return {name: visible(in_toml(text)) for name, text in parts.items()}
    if isinstance(error, click.UsageError):
        path = "takifugu" if error.ctx is None else error.ctx.command_path
        return {"what": error.format_message(), "rule": "", "fix": f"see `{path} --help`", "where": ""}
    return {"what": visible(what), "rule": "", "fix": "", "where": ""}
