"""The server of the app: the page, and one answer each to what it asks. What is published is published by `release`."""

from __future__ import annotations

import asyncio
import hashlib
import html
import json
import threading
from collections.abc import Awaitable, Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from takifugu.core.errors import InputError, TakifuguError, standing
from takifugu.core.escaping import visible
from takifugu.core.plain import Json
from takifugu.pages.app.guard import HEADERS, NO_JSON, NOT_OFFERED, Guard, Refused
from takifugu.releasing.advice.changes import Change
from takifugu.releasing.certificates.files import REPORT, content_of
from takifugu.releasing.draft.text import Draft
from takifugu.releasing.proposal import Proposal, lines_of
from takifugu.releasing.publishing.folder import alone_in
from takifugu.releasing.publishing.run import release_file

#: Writes a draft with its schema and ledger, as `init` does; the last is whether a file of this app is replaced.
Write = Callable[[Draft, str, bool], object]
#: What the page loads, with the parts of each.
_PARTS = {
    "app.css": ("text/css", ("base.css", "app/style.css")),
    "app.js": ("text/javascript", ("explorer/engine.js", "explorer/words.js", "app/page.js")),
}
_MOST = 200
_Answers = tuple[dict[str, str], tuple[Change, ...]]


class Releasing:
    """The release of a proposal: what was seen is published, once, however often it is asked for."""

    def __init__(self, proposal: Proposal, write: Write) -> None:
        self._proposal, self._write, self._lock = proposal, write, threading.Lock()
        self._own: bytes | None = None
        self._done = dict[str, Json]()

    def foreseen(self, said: dict[str, str], changes: tuple[Change, ...]) -> Json:
        """Return what a release would spend, and the digest of the file that it is said of."""
        digest = _digest(self._proposal.text(said, changes))
        return {**self._proposal.foresee(said, changes), "digest": digest}

    def release(self, said: dict[str, str], changes: tuple[Change, ...], digest: str) -> Json:
        """Write the file that was seen, and publish it."""
        with self._lock:  # whoever clicks twice waits for the first answer
            if digest not in self._done:
                self._done |= {digest: self._released(said, changes, digest)}
            return self._done[digest]

    def _released(self, said: dict[str, str], changes: tuple[Change, ...], digest: str) -> Json:
        if self._done:
            raise InputError("this file was published", fix="start the app again for another one")
        output = self._proposal.output
        with alone_in(output.parent):  # of two apps about one table the second sees the ledger of the first
            text = self._proposal.text(said, changes)
            if _digest(text) != digest:
                raise InputError("the file is another one than you have seen", fix="look at it again")
            if self._own is not None and content_of(output) not in (None, self._own):
                what = f"{output.name} was changed after the app wrote it, and would be replaced"
                raise InputError(what, fix="publish it in a terminal, or move it away")
            self._write(self._proposal.start(said), text, self._own is not None)
            self._own = content_of(output)
        outcome = release_file(output, idempotency_key=digest)
        files = [path for table in outcome.tables for path in table.files]
        return {
            "file": str(output), "tables": [table.name for table in outcome.tables],
            "folder": str(files[0].parent), "reports": [str(path) for path in files if path.name.endswith(REPORT)],
        }  # fmt: skip


def application(
    proposal: Proposal, write: Write, guard: Guard, is_ending: Callable[[], bool] = lambda: False
) -> Starlette:
    """Return the app about a proposal, whose release `write` writes; where it `is_ending`, no search is waited for."""
    releasing, offered = Releasing(proposal, write), list[Json]()

    async def page(request: Request) -> Response:
        guard.check(request)
        name = html.escape(visible(Path(proposal.table).name))
        return HTMLResponse(_read("app/page.html").replace("{{table}}", name), headers=HEADERS)

    async def part(request: Request) -> Response:
        guard.check(request)
        if (name := request.path_params["name"]) not in _PARTS:
            raise Refused(404, "There is no such file.")
        kind, parts = _PARTS[name]
        return Response("\n".join(map(_read, parts)), headers=HEADERS, media_type=kind)

    async def enter(request: Request) -> Response:
        return guard.enter(request)

    def handler(answer: Callable[..., Json], *more: str) -> Callable[[Request], Awaitable[Response]]:
        async def answering(request: Request) -> Response:
            body = await guard.body(request)
            said, changes = _said(body, offered)
            texts = [body.get(key) for key in more]
            if not all(isinstance(text, str) for text in texts):
                raise Refused(400, NO_JSON)
            return JSONResponse(await run_in_threadpool(_answered, answer, said, changes, *texts), headers=HEADERS)

        return answering

    async def remedies(request: Request) -> Response:
        said, found = _said(await guard.body(request), offered), list[Json]()
        search = threading.Thread(target=lambda: found.append(_answered(proposal.remedies, *said)), daemon=True)
        search.start()
        while search.is_alive() and not is_ending():
            await asyncio.sleep(0.05)
        for remedy in found[0].get("remedies", ()) if found else ():
            offered.extend(json.loads(json.dumps(remedy["changes"])))
        return JSONResponse(found[0] if found else {"error": ["The search ended without an answer."]}, headers=HEADERS)

    def rows(said: dict[str, str], _: tuple[Change, ...]) -> Json:
        return proposal.rows(said)

    def refused(_: Request, error: Exception) -> Response:
        assert isinstance(error, Refused)
        return error.response

    routes = [
        Route("/enter/{token}", enter), Route("/", page), Route("/{name}", part),
        Route("/ask/remedies", remedies, methods=["POST"]),
        *(Route(f"/ask/{name}", handler(answer, *more), methods=["POST"]) for name, answer, *more in (
            ("state", proposal.state), ("rows", rows), ("foresee", releasing.foreseen),
            ("release", releasing.release, "digest"),
        )),
    ]  # fmt: skip
    return Starlette(routes=routes, exception_handlers={Refused: refused})


def _answered(answer: Callable[..., Json], *given: Any) -> Json:
    """Return an answer, or an error in the library's words."""
    try:
        return answer(*given)
    except TakifuguError as error:
        return {"error": [line for line in (*lines_of(error), visible(standing(error))) if line]}


def _said(body: dict[str, Any], offered: list[Json]) -> _Answers:
    """Return the answers and the changes of a body; Refused for what is neither, and for a change of no remedy."""
    said, changes = body.get("said"), body.get("changes")
    if not isinstance(said, dict) or not isinstance(changes, list) or max(len(said), len(changes)) > _MOST:
        raise Refused(400, NO_JSON)
    if not all(isinstance(text, str) for pair in said.items() for text in pair):
        raise Refused(400, NO_JSON)
    if not all(change in offered for change in changes):
        raise Refused(400, NOT_OFFERED)
    taken = [offered[offered.index(change)] for change in changes]  # 1 is equal to true, and is not what was offered
    return said, tuple(Change(tuple(change["where"]), change["value"]) for change in taken)


def _read(name: str) -> str:
    return files("takifugu.pages").joinpath(name).read_text("utf-8")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
