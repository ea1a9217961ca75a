"""The group that all commands belong to: its order, its exit codes, and errors as lines instead of tracebacks."""

from __future__ import annotations

import atexit
import errno
import gc
import io
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from traceback import walk_tb
from typing import Any

import click

from takifugu.cli import terminal
from takifugu.cli.failures import COMMAND, FILE, TYPED, completed_before, print_failure, state_of
from takifugu.cli.old_words import command_now, option_now
from takifugu.cli.terminal import columns, is_plain, is_terminal
from takifugu.core.errors import (
    LEDGER_AS_IT_WAS,
    BudgetExceeded,
    CalibrationRefused,
    CompositionRefused,
    Fault,
    LedgerError,
    ReleaseState,
    SpecError,
    TakifuguError,
    Unsupported,
    reason,
    standing,
)
from takifugu.core.escaping import visible
from takifugu.core.lasting import lasting
from takifugu.core.registry import loaded
from takifugu.core.text.tables import WIDTH, filled, fitting
from takifugu.core.tracebacks import place_of

DONE, REFUSED, BAD_INPUT, FAULT, UNPUBLISHED, UNRECORDED, STOPPED = 0, 1, 2, 3, 4, 5, 130
_REFUSALS = (BudgetExceeded, CalibrationRefused, CompositionRefused, Unsupported)


#: Keys of a release file that are taken for options.
_KEYS = ("epsilon", "delta", "mechanism", "query", "budget", "ledger")
#: So many commands are what a newcomer needs first.
FIRST = 7


class _Path(click.Path):
    """A path as it is typed; one that is longer than any is no path, which looking for it would end with."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            os.stat(value)
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
                self.fail(f"{str(value)[:60]}... is longer than a path can be.", param, ctx)
        return super().convert(value, param, ctx)


#: The arguments and options that several commands have.
PATH = _Path(path_type=Path)
FILE_ARGUMENT = click.argument("file", type=PATH)
FILES_ARGUMENT = click.argument("files", metavar="FILE...", type=PATH, nargs=-1, required=True)
WINDOW_OPTION = click.option("--window", help="The window of regular tables, such as 2026-W07.")
SAME_OPTION = click.option(
    "--same-entries", default="", metavar="WHY", help="A source that is read otherwise has the same entries, and why."
)
OTHER_OPTION = click.option("--other-entries", is_flag=True, help="It has others, which is paid for.")
YES_OPTION = click.option("--yes", is_flag=True, help="Ask nothing; what would be asked is refused.")
JSON_OPTION = click.option("--json", "as_json", is_flag=True, help="Print JSON with stable keys instead of tables.")
LEDGER_ARGUMENT = click.argument("ledger", metavar="LEDGER")  # a path, or the address of a database


class Extended(click.Command):
    """A command of the function that `runs` names, which is loaded when it runs, and not for its help."""

    def __init__(self, *args: Any, runs: str, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.runs = runs

    def invoke(self, ctx: click.Context) -> object:
        ctx.meta[COMMAND] = ctx.command_path.partition(" ")[2]
        file = next((ctx.params[key] for key in ("file", "data", "files", "where") if key in ctx.params), None)
        if isinstance(file, tuple):  # a command about several files is about none of them
            file = file[0] if len(file) == 1 else None
        ctx.meta[FILE] = None if file is None else str(file)
        if "ledger" in ctx.params:
            from takifugu.accounting.ledger.events.stores import named

            ctx.meta[FILE] = named(ctx.params["ledger"])
        terminal.heed()
        with _telling(ctx), lasting():
            return ctx.invoke(loaded(self.runs), **{name: ctx.params[name] for name in ctx.params if name != "as_json"})


#: Commands about a ledger that print before they write; of all others whoever stops reading has read enough.
_PRINTS_FIRST = ("import-certificates",)


@contextmanager
def _telling(ctx: click.Context) -> Iterator[None]:
    """Say of a command about a ledger how far it came when it is stopped."""
    if "ledger" not in ctx.params:
        yield
        return
    has_begun, ended = False, None
    try:
        from takifugu.accounting.ledger.standing import telling

        with telling(ctx.params["ledger"], prints_last=ctx.info_name not in _PRINTS_FIRST):
            has_begun = True
            try:
                yield
            except click.exceptions.Exit as error:  # it came to its end, and has said how
                ended = error
    except (KeyboardInterrupt, SystemExit) as error:
        if not has_begun:
            vars(error).setdefault("standing", LEDGER_AS_IT_WAS)
        raise
    if ended is not None:
        raise ended


class WithKinds(Extended):
    """Lists the kinds of release file below its options."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from takifugu.releasing.file.kinds import drafted

        with formatter.section("Kinds"):
            formatter.write_dl(list(drafted().items()))


class InOrder(click.Group):
    """Lists its commands in the order in which they are used, and says of a word of before what to write now."""

    command_class = Extended

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        path = f"{ctx.command_path.partition(' ')[2]} {args[0]}".strip()
        if words := command_now(path, args[1:]):
            raise click.UsageError(words, ctx)
        return super().resolve_command(ctx, args)


class Careful(InOrder):
    """Turns errors into lines on stderr and an exit code; never a traceback, which could show data."""

    # the first commands are those of a first release
    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        names = self.list_commands(ctx)
        longest = max(map(len, names))
        for title, listed in (("First commands", names[:FIRST]), ("Other commands", names[FIRST:])):
            with formatter.section(title):
                room = formatter.width - longest - 6
                lines = [(f"{name:{longest}}", self.commands[name].get_short_help_str(room)) for name in listed]
                formatter.write_dl(lines)

    def main(self, *args: Any, **extra: Any) -> Any:
        try:
            with terminal.noting():
                return super().main(*args, **extra)
        except SystemExit as end:
            code = end.code
        except KeyboardInterrupt:
            code = STOPPED
        # A signal also comes before a command begins, and while it says how it ended.
        stopped = terminal.come()
        raise SystemExit(code if code == DONE or stopped is None else stopped)

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: object
    ) -> click.Context:
        typed = tuple(args)  # which are consumed
        try:
            narrow = min(columns(), WIDTH) - 2
            context = super().make_context(info_name, args, parent, **{"terminal_width": narrow, **extra})
        except click.UsageError as usage:
            error = guided(usage)
            context = error.ctx or click.Context(self)
            context.meta[TYPED] = typed
            print_failure(context, error, "", error.exit_code)
            raise _ended_by(error) from None
        except OSError as error:  # --help and --version print before any command begins
            code, _ = _exit_and_words(error)
            _give_up_broken_streams()
            raise click.exceptions.Exit(code) from None
        context.meta[TYPED] = typed
        return context

    def invoke(self, ctx: click.Context) -> object:
        gc.set_threshold(1_000_000)  # what is loaded stays, and most of what is read
        atexit.unregister(_leave_to_the_system)
        atexit.register(_leave_to_the_system)
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads that wait for a large matrix are never idle
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # nobody else looks at a release file
        _open_standard_streams()
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")  # a terminal that cannot show █ must not stop a release half-way
        if is_plain():
            ctx.color = False
        with fitting(columns()):
            try:
                with terminal.ended_by_signals():
                    return super().invoke(ctx)
            except click.ClickException as error:
                wrong = guided(error) if isinstance(error, click.UsageError) else error
                print_failure(ctx, wrong, wrong.format_message(), wrong.exit_code)
                raise _ended_by(wrong) from None
            except (click.exceptions.Exit, click.Abort):
                raise
            except BaseException as error:
                left = error
                if terminal.come() is not None:  # what it interrupts may have turned it into another error
                    left = KeyboardInterrupt()
                    vars(left).update(vars(error))
                if not isinstance(left, Exception | KeyboardInterrupt):
                    if words := standing(error):
                        complain(words)
                    raise  # whoever raised it ends the process
                code, message = _exit_and_words(left)
                if code != DONE:
                    print_failure(ctx, left, message, code)
        _give_up_broken_streams()
        raise click.exceptions.Exit(code)


def _ended_by(error: click.ClickException) -> click.exceptions.Exit:
    """Show an error of click, and return the exit that it ends with."""
    with suppress(OSError):  # nobody reads it: the outcome is the same
        error.show()
    _give_up_broken_streams()
    return click.exceptions.Exit(error.exit_code)


def _leave_to_the_system() -> None:
    """Skip the last search for unused objects."""
    gc.freeze()


def guided(error: click.UsageError) -> click.UsageError:
    """Return an error with the probable option, if close enough. Keys of a release file are named as such."""
    if not isinstance(error, click.NoSuchOption):
        return error
    from difflib import get_close_matches  # for mistakes alone

    name, options = error.option_name, list(error.possibilities or ())
    longer = [option for option in options if option.startswith(name)]
    meant = longer or get_close_matches(name, options, n=1, cutoff=0.75)
    words = None
    path = "" if error.ctx is None else error.ctx.command_path.partition(" ")[2]
    typed = () if error.ctx is None else error.ctx.meta.get(TYPED, ())
    if now := option_now(path, name, typed):
        return click.NoSuchOption(name, f"{error.message} {now}", [], error.ctx)
    if name.strip("-") in _KEYS:  # a ledger that is named is none that is new
        meant, words = [], f"{error.message} It is a key of the release file."
    return click.NoSuchOption(name, words, meant, error.ctx)


def complain(line: str, colour: str = "red") -> None:
    """Print an error or news on stderr, in one line for programs."""
    from takifugu.releasing.file.toml_words import in_toml

    lines = f"takifugu: {visible(in_toml(line))}".split("\n")
    text = " ".join(lines)
    if is_terminal(sys.stderr):
        text = "\n".join(map(filled, lines))
    terminal.redraw()
    with suppress(OSError):  # nobody reads it: the outcome is the same
        click.echo(text.replace("takifugu:", click.style("takifugu:", fg=colour), 1), err=True)


def refuse(reasons: Sequence[str], code: int = REFUSED) -> None:
    """Exit with a code where there are reasons for it, and give these."""
    for words in reasons:
        complain(words)
    if reasons:
        click.get_current_context().exit(code)


def code_of(error: BaseException) -> int:
    """Return the exit code of an error. The release's state decides first, then whose mistake it was."""
    state = state_of(error)
    if state is ReleaseState.DONE:  # or by another process, which published it elsewhere
        return UNPUBLISHED if isinstance(error, LedgerError) else DONE
    if isinstance(error, KeyboardInterrupt):
        return terminal.come() or STOPPED
    if isinstance(error, Fault) or not isinstance(error, TakifuguError | OSError | MemoryError):
        return FAULT
    if state is ReleaseState.UNRECORDED:
        return UNRECORDED
    if state is not ReleaseState.NOTHING or completed_before(error):
        return UNPUBLISHED
    return REFUSED if isinstance(error, _REFUSALS) else BAD_INPUT


def _exit_and_words(error: BaseException) -> tuple[int, str]:
    """Explain an error; return its exit code and words."""
    code, message = code_of(error), ""
    was_printing = any(frame.f_code is click.echo.__code__ for frame, _ in walk_tb(error.__traceback__))
    if isinstance(error, KeyboardInterrupt):
        complain(message := "stopped")
    elif isinstance(error, TakifuguError):
        lines = error.problems if isinstance(error, SpecError) else (error.message,)
        for line in lines:
            complain(line)
    elif isinstance(error, OSError) and was_printing:
        if error.errno == errno.EPIPE and not standing(error):  # whoever reads has read enough
            return DONE, message
        if error.errno != errno.EPIPE or code != DONE:
            complain(f"the output cannot be written ({reason(error)})")
    elif isinstance(error, MemoryError):
        complain(message := "there is not enough memory: give it more, or less data at once")
    else:
        code = DONE if code == DONE else FAULT
        complain(message := place_of(error))
    if words := standing(error):
        complain(words)
    return code, message


def _open_standard_streams() -> None:
    """Open closed standard streams (`>&-`), before a file takes their place."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number is this one
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115 - as Python has it where none was there
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115


def _give_up_broken_streams() -> None:
    """Throw away unprinted output, or Python changes the exit code."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
