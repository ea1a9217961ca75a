"""The app as a program: a port that only this machine reaches, and a server until Ctrl-C."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextvars import Context

import uvicorn

from takifugu.core.errors import ReleaseError, reason
from takifugu.pages.app.guard import Guard
from takifugu.pages.app.server import Write, application
from takifugu.releasing.proposal import Proposal

_HOST = "127.0.0.1"


def serve(proposal: Proposal, write: Write, tell: Callable[[str], None]) -> None:
    """Serve the page about a proposal; `tell` gets its address. KeyboardInterrupt ends it."""
    with listening_here() as listening:
        port = listening.getsockname()[1]
        guard = Guard(port)
        app = application(proposal, write, guard, lambda: server.should_exit)
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off", ws="none"))
        tell(f"http://{_HOST}:{port}/enter/{guard.token}")
        # not in the context of a command, which keeps a ledger open: the app outlasts what others do to it
        Context().run(server.run, sockets=[listening])


def listening_here() -> socket.socket:
    """Return a socket that only this machine reaches, at a port that is free."""
    listening = socket.socket()
    try:
        listening.bind((_HOST, 0))
        listening.listen()  # who is quick waits
    except OSError as error:
        listening.close()
        what = f"no port of this machine can be used ({reason(error)})"
        raise ReleaseError(what, fix="end other programs, and try again") from None
    return listening
