"""`app`: the page that asks about a table and publishes it, served to this machine alone."""

from __future__ import annotations

import socket
import webbrowser
from contextvars import Context
from pathlib import Path

import click

from takifugu.cli.starting import plugins_line, refuse_overwriting, said_in, written
from takifugu.core.errors import InputError, ReleaseError, within
from takifugu.core.sections import checked_path
from takifugu.releasing.draft.evidence import refuse_no_file
from takifugu.releasing.draft.questions import Answers
from takifugu.releasing.draft.text import Draft, relative

_HOST = "127.0.0.1"


def app(data: str, answers: tuple[str, ...], output: Path, force: bool) -> None:
    refuse_overwriting(output, force)
    with within("data"):
        checked_path(relative(Path(data), output))
    serve(data, output, force, said_in(answers))


def serve(data: str, output: Path, force: bool, said: Answers) -> None:
    """Serve the page about a table until Ctrl-C; it starts with what was said."""
    try:
        import uvicorn

        from takifugu.pages.app.guard import Guard
        from takifugu.pages.app.server import application
    except ImportError:
        raise InputError("the app is not installed", fix="pip install 'takifugu[app]'") from None
    from takifugu.releasing.proposal import Proposal

    refuse_no_file(data)

    def write(start: Draft, text: str, is_ours: bool) -> None:
        written(start, text, force or is_ours)

    proposal = Proposal(data, output, plugins_line(), said)
    with listening_here() as listening:
        port = listening.getsockname()[1]
        guard = Guard(port)
        config = uvicorn.Config(application(proposal, write, guard), log_level="error", lifespan="off", ws="none")
        address = f"http://{_HOST}:{port}/enter/{guard.token}"
        click.echo(f"{address}\nIt opens once, in a browser of this machine. Ctrl-C ends the app.")
        try:
            if not webbrowser.open(address):
                click.echo("There is no browser here: open this address with one.", err=True)
            # not in this command's context, which keeps a ledger open: the app outlasts what others do to it
            Context().run(uvicorn.Server(config).run, sockets=[listening])
        except KeyboardInterrupt:
            click.echo("The app has ended.", err=True)
        finally:
            proposal.close()


def listening_here() -> socket.socket:
    """Return a socket that only this machine reaches, at a port that is free."""
    listening = socket.socket()
    try:
        listening.bind((_HOST, 0))
        listening.listen()  # who is quick waits
    except OSError as error:
        listening.close()
        reason = (error.strerror or type(error).__name__).lower()
        what = f"no port of this machine can be used ({reason})"
        raise ReleaseError(what, fix="end other programs, and try again") from None
    return listening
